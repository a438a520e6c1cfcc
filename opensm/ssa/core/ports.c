// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports, switches, aliases, routers: what a query can name. */
#include <stdlib.h>
#include <string.h>

#include "ssa/core/make.h"
#include "subnet/path.h"

#define RATE_CODES 64

/* ---- order ---- */

struct keyed {
	uint64_t guid;
	uint32_t index;
};

static int by_guid(const void *a, const void *b)
{
	uint64_t x = ((const struct keyed *)a)->guid, y = ((const struct keyed *)b)->guid;

	return x < y ? -1 : x > y;
}

static uint32_t *sorted(GArray *keyed)
{
	uint32_t *order = g_new(uint32_t, keyed->len + 1);

	qsort(keyed->data, keyed->len, sizeof(struct keyed), by_guid);
	for (guint i = 0; i < keyed->len; i++)
		order[i] = g_array_index(keyed, struct keyed, i).index;
	return order;
}

static uint32_t *places(const uint32_t *order, uint32_t n, uint32_t n_all)
{
	uint32_t *place = g_new(uint32_t, n_all + 1);

	memset(place, 0xFF, (n_all + 1) * sizeof(*place));
	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;
	return place;
}

static void order_endports(const struct fabric *fabric, struct ssa_index *index)
{
	g_autoptr(GArray) keyed = g_array_new(FALSE, FALSE, sizeof(struct keyed));

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		struct keyed key = {fabric->ports[port].guid, port};

		/* Of two ports with one GUID the SA finds one, and so does the index of GUIDs. */
		if (fabric_is_endport(fabric, port) && fabric->ports[port].lid &&
		    fabric_port_by_guid(fabric, key.guid) == port)
			g_array_append_val(keyed, key);
	}
	index->n_endports = keyed->len;
	index->endport = sorted(keyed);
	index->place = places(index->endport, keyed->len, fabric->n_ports);
}

static void order_switches(const struct fabric *fabric, struct ssa_index *index)
{
	g_autoptr(GArray) keyed = g_array_new(FALSE, FALSE, sizeof(struct keyed));

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		struct keyed key = {fabric->nodes[fabric->switches[sw].node].guid, sw};

		g_array_append_val(keyed, key);
	}
	index->n_switches = keyed->len;
	index->sw = sorted(keyed);
	index->sw_place = places(index->sw, keyed->len, fabric->n_switches);
}

/* A row for each switch to which a CA or router is cabled. */
static void number_rows(const struct fabric *fabric, struct ssa_index *index)
{
	uint32_t n = 0;
	uint8_t exit;

	index->row = g_new(uint32_t, fabric->n_switches + 1);
	memset(index->row, 0xFF, (fabric->n_switches + 1) * sizeof(*index->row));
	for (uint32_t i = 0; i < index->n_endports; i++) {
		uint32_t port = index->endport[i], sw = fabric_leaf(fabric, port, &exit);

		if (sw != FABRIC_NONE && fabric->ports[port].num)
			index->row[sw] = 0;
	}
	for (uint32_t i = 0; i < index->n_switches; i++)
		if (index->row[index->sw[i]] == 0)
			index->row[index->sw[i]] = n++;
	index->n_rows = n;
}

/* ---- tables ---- */

/*
 * The rows of RATES as they arise: row 0 is the operator's limit, each other one what devices with
 * certain capabilities know.
 */
struct rates {
	uint8_t *rows;
	unsigned int n;
	GArray *known; /* struct rates_of */
};

/* All on which policy_rate_of_end() depends, and its row. */
struct rates_of {
	uint32_t capability_mask;
	uint16_t capability_mask2;
	unsigned int row;
};

static unsigned int find_row(const uint8_t *rows, unsigned int n, const uint8_t *row)
{
	unsigned int i = 1;

	while (i < n && memcmp(rows + (size_t)i * RATE_CODES, row, RATE_CODES) != 0)
		i++;
	return i;
}

static unsigned int add_row(struct rates *rates, const struct iba_port_info *info)
{
	uint8_t row[RATE_CODES];
	unsigned int at;

	for (unsigned int code = 0; code < RATE_CODES; code++)
		row[code] = policy_rate_of_end(info, (uint8_t)code);
	at = find_row(rates->rows, rates->n, row);
	if (at == rates->n) {
		rates->rows = g_realloc(rates->rows, (size_t)++rates->n * RATE_CODES);
		memcpy(rates->rows + (size_t)at * RATE_CODES, row, RATE_CODES);
	}
	return at;
}

static unsigned int rates_row(struct rates *rates, const struct iba_port_info *info)
{
	struct rates_of new = {info->capability_mask, info->capability_mask2, 0};

	for (guint i = 0; i < rates->known->len; i++) {
		const struct rates_of *old = &g_array_index(rates->known, struct rates_of, i);

		if (old->capability_mask == new.capability_mask &&
		    old->capability_mask2 == new.capability_mask2)
			return old->row;
	}
	new.row = add_row(rates, info);
	g_array_append_val(rates->known, new);
	return new.row;
}

static void rates_init(struct rates *rates, const struct options *options)
{
	rates->rows = g_malloc(RATE_CODES);
	rates->n = 1;
	rates->known = g_array_new(FALSE, FALSE, sizeof(struct rates_of));
	for (unsigned int code = 0; code < RATE_CODES; code++)
		rates->rows[code] = policy_known_rate(options, (uint8_t)code);
}

static int compare_rows(const void *a, const void *b)
{
	return memcmp(a, b, RATE_CODES);
}

/* Sorts the rows, so that which port is the first of its kind makes no difference. */
static void put_rates(struct rates *rates, struct ssa_endport *ports, uint32_t n_ports,
		      struct ssa_made *made)
{
	uint8_t *sorted = g_memdup2(rates->rows, (size_t)rates->n * RATE_CODES);
	g_autofree uint8_t *place = g_malloc(rates->n);

	qsort(sorted + RATE_CODES, rates->n - 1, RATE_CODES, compare_rows);
	for (unsigned int i = 1; i < rates->n; i++)
		place[i] = (uint8_t)find_row(sorted, rates->n,
					     rates->rows + (size_t)i * RATE_CODES);
	for (uint32_t i = 0; i < n_ports; i++)
		ports[i].rates = place[ports[i].rates];
	ssa_made_put(made, SSA_RATES, sorted, rates->n, RATE_CODES);
	g_free(rates->rows);
	g_array_unref(rates->known);
}

static void put_endport(const struct ssa_source *source, const struct ssa_index *index,
			struct rates *rates, uint32_t i, struct ssa_endport *row)
{
	const struct fabric *fabric = source->view->subnet->fabric;
	const struct fabric_port *port = &fabric->ports[index->endport[i]];
	uint32_t sw, peer;
	uint8_t own = subnet_view_own_way(source->view, index->endport[i], &sw, &peer);

	*row = (struct ssa_endport){
		.guid = GUINT64_TO_LE(port->guid),
		.sw = GUINT32_TO_LE(sw == FABRIC_NONE ? SSA_NONE : index->sw_place[sw]),
		.peer = GUINT32_TO_LE(peer == FABRIC_NONE ? SSA_NONE : index->place[peer]),
		.class = GUINT32_TO_LE(index->class ? index->class[i] : 0),
		.lid = GUINT16_TO_LE(port->lid),
		.lmc = port->lmc,
		.kind = fabric->nodes[port->node].type,
		.own = own,
		.inside = subnet_view_inner_way(source->view, index->endport[i]),
		.rates = (uint8_t)rates_row(rates, &port->info),
		.port = port->num,
	};
}

static void make_endports(const struct ssa_source *source, const struct ssa_index *index,
			  struct ssa_made *made)
{
	const struct fabric *fabric = source->view->subnet->fabric;
	struct ssa_endport *rows = g_new0(struct ssa_endport, index->n_endports + 1);
	const uint32_t size = ssa_table_row_size(SSA_DESCRIPTIONS);
	char *names = g_malloc0((size_t)index->n_endports * size + 1);
	struct rates rates;

	rates_init(&rates, source->view->subnet->options);
	for (uint32_t i = 0; i < index->n_endports; i++) {
		uint32_t node = fabric->ports[index->endport[i]].node;

		put_endport(source, index, &rates, i, &rows[i]);
		g_strlcpy(names + (size_t)i * size, fabric->nodes[node].description, size);
	}
	put_rates(&rates, rows, index->n_endports, made);
	ssa_made_put(made, SSA_ENDPORTS, rows, index->n_endports, sizeof(*rows));
	ssa_made_put(made, SSA_DESCRIPTIONS, names, index->n_endports, size);
}

static void make_switches(const struct fabric *fabric, const struct ssa_index *index,
			  struct ssa_made *made)
{
	struct ssa_switch *rows = g_new0(struct ssa_switch, index->n_switches + 1);

	for (uint32_t i = 0; i < index->n_switches; i++) {
		const struct fabric_node *node =
			&fabric->nodes[fabric->switches[index->sw[i]].node];

		rows[i].guid = GUINT64_TO_LE(node->guid);
		rows[i].row = GUINT32_TO_LE(index->row[index->sw[i]]);
		rows[i].lid = GUINT16_TO_LE(fabric->ports[node->first_port].lid);
	}
	ssa_made_put(made, SSA_SWITCHES, rows, index->n_switches, sizeof(*rows));
}

static void make_aliases(const struct ssa_source *source, const struct ssa_index *index,
			 struct ssa_made *made)
{
	const struct fabric *fabric = source->view->subnet->fabric;
	const GArray *by = source->aliases ? source->aliases->by_guid : NULL;
	struct ssa_alias *rows = g_new0(struct ssa_alias, (by ? by->len : 0) + 1);
	uint64_t n = 0;

	for (guint i = 0; by && i < by->len; i++) {
		const struct alias_guid *alias = alias_guids_at(by, i);
		uint32_t port = alias_guids_port(source->aliases, fabric, alias->guid);

		if (port == FABRIC_NONE || index->place[port] == SSA_NONE ||
		    fabric->ports[port].guid == alias->guid ||
		    (n && ssa_64(rows[n - 1].guid) == alias->guid))
			continue;
		rows[n].guid = GUINT64_TO_LE(alias->guid);
		rows[n].endport = GUINT32_TO_LE(index->place[port]);
		rows[n++].index = GUINT32_TO_LE(alias->index);
	}
	ssa_made_put(made, SSA_ALIASES, rows, n, sizeof(*rows));
}

/* The lines of prefix-routes.conf of which the router is here. */
static void make_prefixes(const struct ssa_source *source, const struct ssa_index *index,
			  struct ssa_made *made)
{
	const struct subnet *subnet = source->view->subnet;
	const GArray *routes = subnet->prefix_routes ? subnet->prefix_routes->routes : NULL;
	struct ssa_prefix *rows = g_new0(struct ssa_prefix, (routes ? routes->len : 0) + 1);
	uint64_t n = 0;

	for (guint i = 0; routes && i < routes->len; i++) {
		const struct prefix_route *route = &g_array_index(routes, struct prefix_route, i);
		uint32_t port = route->guid ? fabric_port_by_guid(subnet->fabric, route->guid)
					    : source->view->router;

		if (port == FABRIC_NONE || index->place[port] == SSA_NONE ||
		    subnet->fabric->nodes[subnet->fabric->ports[port].node].type != IBA_NODE_ROUTER)
			continue;
		rows[n].prefix = GUINT64_TO_LE(route->prefix);
		rows[n++].endport = GUINT32_TO_LE(index->place[port]);
	}
	ssa_made_put(made, SSA_PREFIXES, rows, n, sizeof(*rows));
}

void ssa_make_ports(const struct ssa_source *source, struct ssa_index *index, struct ssa_made *made)
{
	const struct subnet *subnet = source->view->subnet;

	order_endports(subnet->fabric, index);
	order_switches(subnet->fabric, index);
	number_rows(subnet->fabric, index);
	ssa_make_classes(source, index);
	make_endports(source, index, made);
	make_switches(subnet->fabric, index, made);
	make_aliases(source, index, made);
	make_prefixes(source, index, made);
}

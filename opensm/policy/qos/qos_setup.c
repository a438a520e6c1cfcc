// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which scopes of qos-setup apply to which ports, and where they contradict each other. */
#include "policy/qos/qos_setup.h"

#include <string.h>

static bool is_said(const struct qos_ends *ends)
{
	return ends->all || ends->groups->len;
}

/* FABRIC_NONE, no port, is in no group. */
static bool are_in(const struct qos_place *place, const struct qos_ends *ends, uint32_t port)
{
	if (port == FABRIC_NONE || ends->all)
		return port != FABRIC_NONE;
	for (guint i = 0; i < ends->groups->len; i++)
		if (qos_paths_is_in(place->paths, place->fabric,
				    (unsigned int)g_array_index(ends->groups, int, i), port))
			return true;
	return false;
}

/* ---- VL arbitration ---- */

static bool is_about(const struct qos_place *place, const struct qos_scope *scope, uint32_t port)
{
	return are_in(place, &scope->group, port) ||
	       are_in(place, &scope->across, place->fabric->ports[port].peer);
}

enum qos_role qos_setup_role(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_node *node = &fabric->nodes[fabric->ports[port].node];

	if (node->type == IBA_NODE_SWITCH)
		return fabric->ports[port].num ? QOS_SWITCH : QOS_SWITCH_PORT_0;
	return node->type == IBA_NODE_ROUTER ? QOS_ROUTER : QOS_CA;
}

void qos_setup_port(const struct qos_place *place, uint32_t port, struct qos_tables *tables)
{
	const GPtrArray *scopes = place->paths->policy->scopes;

	*tables = place->paths->qos.of[qos_setup_role(place->fabric, port)];
	for (guint i = 0; i < scopes->len; i++) {
		const struct qos_scope *scope = scopes->pdata[i];

		if (scope->sets & QOS_SETS_SL2VL || !is_about(place, scope, port))
			continue;
		if (scope->sets & QOS_SETS_HIGH)
			memcpy(tables->high, scope->high, sizeof(tables->high));
		if (scope->sets & QOS_SETS_LOW)
			memcpy(tables->low, scope->low, sizeof(tables->low));
		if (scope->sets & QOS_SETS_LIMIT)
			tables->high_limit = scope->limit;
	}
}

/* ---- SL2VL ---- */

static bool fits_node(const struct qos_place *place, const struct qos_scope *scope, uint32_t to)
{
	return !is_said(&scope->group) || are_in(place, &scope->group, to);
}

static bool fits_to(const struct qos_place *place, const struct qos_scope *scope, uint32_t to)
{
	const struct fabric_port *port = &place->fabric->ports[to];

	return scope->to[port->num] &&
	       (!is_said(&scope->across_to) || are_in(place, &scope->across_to, port->peer));
}

/* Packets of a CA come from the CA itself. */
static uint32_t sender_of(const struct qos_place *place, uint32_t from, uint32_t to)
{
	return from == to && !fabric_is_switch(place->fabric, place->fabric->ports[to].node)
		       ? FABRIC_NONE
		       : place->fabric->ports[from].peer;
}

static bool fits_from(const struct qos_place *place, const struct qos_scope *scope, uint32_t from,
		      uint32_t to)
{
	return scope->from[place->fabric->ports[from].num] &&
	       (!is_said(&scope->across_from) ||
		are_in(place, &scope->across_from, sender_of(place, from, to)));
}

static bool fits_across(const struct qos_place *place, const struct qos_scope *scope, uint32_t from,
			uint32_t to)
{
	return !is_said(&scope->across) ||
	       are_in(place, &scope->across, sender_of(place, from, to)) ||
	       are_in(place, &scope->across, place->fabric->ports[to].peer);
}

static bool is_of(const struct qos_place *place, const struct qos_scope *scope, uint32_t from,
		  uint32_t to)
{
	return scope->sets & QOS_SETS_SL2VL && fits_node(place, scope, to) &&
	       fits_to(place, scope, to) && fits_from(place, scope, from, to) &&
	       fits_across(place, scope, from, to);
}

static const struct qos_scope *scope_of(const struct qos_place *place, uint32_t from, uint32_t to)
{
	const GPtrArray *scopes = place->paths->policy->scopes;

	for (guint i = scopes->len; i-- > 0 && place->paths->has_rows;)
		if (is_of(place, scopes->pdata[i], from, to))
			return scopes->pdata[i];
	return NULL;
}

const struct qos_scope *qos_setup_row(const struct qos_place *place,
				      const struct qos_tables *tables, unsigned int vls,
				      uint32_t from, uint32_t to, struct iba_sl_to_vl_table *row)
{
	const struct qos_scope *scope = scope_of(place, from, to);

	qos_sl_to_vl(scope ? scope->vl : tables->vl, vls, row);
	return scope;
}

static bool has_table(const struct fabric *fabric, uint32_t to)
{
	const struct fabric_port *port = &fabric->ports[to];
	uint32_t sw = fabric->nodes[port->node].sw;

	if (sw != FABRIC_NONE && !port->num && !fabric->switches[sw].info.enhanced_port0)
		return false;
	return qos_has_sl_to_vl(&port->info, &fabric->ports[fabric_endport_of(fabric, to)].info);
}

bool qos_setup_drops(const struct qos_place *place, uint8_t sl, uint32_t from, uint32_t to)
{
	const struct qos_scope *scope;
	const uint8_t *vl;

	if (!has_table(place->fabric, to))
		return false;
	scope = scope_of(place, from, to);
	vl = scope ? scope->vl : place->paths->qos.of[qos_setup_role(place->fabric, to)].vl;
	return vl[sl] == QOS_DROP;
}

bool qos_setup_is_even(const struct qos_place *place, uint32_t to)
{
	const GPtrArray *scopes = place->paths->policy->scopes;

	for (guint i = 0; i < scopes->len && place->paths->has_rows; i++) {
		const struct qos_scope *scope = scopes->pdata[i];

		if (scope->sets & QOS_SETS_SL2VL && fits_node(place, scope, to) &&
		    fits_to(place, scope, to) &&
		    (scope->has_from || is_said(&scope->across_from) || is_said(&scope->across)))
			return false;
	}
	return true;
}

/* ---- contradictions ---- */

/* Whether both set something, to different values. */
static bool differ(const struct qos_scope *a, const struct qos_scope *b)
{
	unsigned int both = a->sets & b->sets;

	return (both & QOS_SETS_HIGH && memcmp(a->high, b->high, sizeof(a->high)) != 0) ||
	       (both & QOS_SETS_LOW && memcmp(a->low, b->low, sizeof(a->low)) != 0) ||
	       (both & QOS_SETS_LIMIT && a->limit != b->limit) ||
	       (both & QOS_SETS_SL2VL && memcmp(a->vl, b->vl, sizeof(a->vl)) != 0);
}

/* Whether the scope applies to this port as output. */
static bool is_at(const struct qos_place *place, const struct qos_scope *scope, uint32_t to)
{
	return scope->sets & QOS_SETS_SL2VL
		       ? fits_node(place, scope, to) && fits_to(place, scope, to)
		       : is_about(place, scope, to);
}

/* For two scopes that apply to this port: whether both set a common row. */
static bool share_row(const struct qos_place *place, const struct qos_scope *a,
		      const struct qos_scope *b, uint32_t to)
{
	const struct fabric_node *node = &place->fabric->nodes[place->fabric->ports[to].node];

	if (!(a->sets & QOS_SETS_SL2VL))
		return true;
	if (node->sw == FABRIC_NONE)
		return is_of(place, a, to, to) && is_of(place, b, to, to);
	for (uint32_t i = 0; i <= node->num_ports; i++)
		if (is_of(place, a, node->first_port + i, to) &&
		    is_of(place, b, node->first_port + i, to))
			return true;
	return false;
}

/* Ports at which two scopes contradict each other. */
struct clash {
	uint32_t ports, first;
};

struct clashes {
	struct qos_place place;
	const GPtrArray *scopes;
	struct clash *of; /* [earlier * scopes->len + later] */
	bool *used;
};

static void look_at(struct clashes *clashes, uint32_t port)
{
	const GPtrArray *scopes = clashes->scopes;
	guint here[QOS_SCOPES_MAX], n = 0;

	for (guint i = 0; i < scopes->len; i++) {
		if (!is_at(&clashes->place, scopes->pdata[i], port))
			continue;
		clashes->used[i] = true;
		for (guint k = 0; k < n; k++) {
			struct clash *clash = &clashes->of[here[k] * scopes->len + i];

			if (differ(scopes->pdata[here[k]], scopes->pdata[i]) &&
			    share_row(&clashes->place, scopes->pdata[here[k]], scopes->pdata[i],
				      port) &&
			    !clash->ports++)
				clash->first = port;
		}
		here[n++] = i;
	}
}

static char *tell_clash(const struct clashes *clashes, guint earlier, guint later)
{
	const struct clash *clash = &clashes->of[earlier * clashes->scopes->len + later];
	const struct qos_scope *a = clashes->scopes->pdata[earlier];
	const struct qos_scope *b = clashes->scopes->pdata[later];
	char name[FABRIC_NAME_SIZE];

	return g_strdup_printf(
		"%s:%u: this scope and that of line %u set different values for %u port(s), the "
		"first of them %s: line %u is used",
		clashes->place.paths->policy->file, b->line, a->line, clash->ports,
		fabric_port_name(clashes->place.fabric, clash->first, name, sizeof(name)), b->line);
}

static void tell(const struct clashes *clashes, GPtrArray *problems)
{
	guint n = clashes->scopes->len;

	for (guint later = 0; later < n; later++) {
		const struct qos_scope *scope = clashes->scopes->pdata[later];

		if (!clashes->used[later])
			g_ptr_array_add(problems,
					g_strdup_printf("%s:%u: this scope matches no port of "
							"the subnet",
							clashes->place.paths->policy->file,
							scope->line));
		for (guint earlier = 0; earlier < later && problems->len < QOS_PROBLEMS_MAX;
		     earlier++)
			if (clashes->of[earlier * n + later].ports)
				g_ptr_array_add(problems, tell_clash(clashes, earlier, later));
	}
}

GPtrArray *qos_setup_problems(const struct qos_paths *paths, const struct fabric *fabric)
{
	const GPtrArray *scopes = paths->policy->scopes;
	struct clashes clashes = {.place = {paths, fabric}, .scopes = scopes};
	GPtrArray *problems = g_ptr_array_new_with_free_func(g_free);

	clashes.of = g_new0(struct clash, scopes->len * scopes->len + 1);
	clashes.used = g_new0(bool, scopes->len + 1);
	for (uint32_t port = 0; port < fabric->n_ports && scopes->len; port++)
		if (fabric->ports[port].peer != FABRIC_NONE || !fabric->ports[port].num)
			look_at(&clashes, port);
	tell(&clashes, problems);
	g_free(clashes.of);
	g_free(clashes.used);
	return problems;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lists of ports, both ends of a cable, and how to ask for the history of a port. */
#include <stdlib.h>

#include "web/fabric/choose.h"

#define PORT_ARGS                                                                                  \
	(ARG_NODE | ARG_STATE | ARG_PROBLEM | ARG_NAME | ARG_LID | ARG_SORT | ARG_LIMIT | ARG_AFTER)

static const char *state_name(unsigned int state)
{
	static const char *const names[] = {NULL, "down", "initialize", "armed", "active"};

	return names[state];
}

static const char *physical_name(unsigned int physical)
{
	static const char *const names[] = {NULL,	"sleep",   "polling",	     "disabled",
					    "training", "link up", "error recovery", "phy test"};

	return physical < G_N_ELEMENTS(names) ? names[physical] : NULL;
}

/* ---- a row ---- */

static const char *const columns[] = {"guid",
				      "node",
				      "port",
				      "port_guid",
				      "lid",
				      "state",
				      "physical",
				      "lanes",
				      "rate",
				      "best_lanes",
				      "best_rate",
				      "mtu",
				      "peer_guid",
				      "peer",
				      "peer_port",
				      "lost",
				      "slow",
				      "silent",
				      "condition",
				      "alarm",
				      "read",
				      "load_sent",
				      "load_received",
				      "octets_sent_s",
				      "octets_received_s",
				      "packets_sent_s",
				      "packets_received_s",
				      "wait",
				      "errors_minute"};

static void emit_peer(const struct fabric_view *view, uint32_t peer, struct emit *emit)
{
	if (peer == IMAGE_NONE) {
		for (unsigned int i = 0; i < 3; i++)
			emit_text(emit, NULL);
		return;
	}
	emit_guid(emit, image_node_of(&view->image, peer)->guid);
	emit_text(emit, image_name(&view->image, image_node_of(&view->image, peer)->name));
	emit_number(emit, view->image.ports[peer].num);
}

/* What is not known is null. */
static void emit_rates(const struct image_port *port, struct emit *emit)
{
	const float rates[] = {port->load[0],	  port->load[1],      port->octets_s[0],
			       port->octets_s[1], port->packets_s[0], port->packets_s[1],
			       port->wait,	  port->errors_minute};

	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
		if (port->flags & IMAGE_PORT_RATES)
			emit_real(emit, (double)rates[i]);
		else
			emit_text(emit, NULL);
}

static void emit_port(const struct fabric_view *view, uint32_t i, struct emit *emit)
{
	const struct image_port *port = &view->image.ports[i];
	const struct image_node *node = image_node_of(&view->image, i);
	const char *condition = image_name(&view->image, port->condition);

	emit_begin(emit, '[');
	emit_guid(emit, node->guid);
	emit_text(emit, image_name(&view->image, node->name));
	emit_number(emit, port->num);
	emit_guid(emit, port->guid);
	emit_number(emit, port->lid || !view_is_switch(view, port->node) ? port->lid : node->lid);
	emit_text(emit, state_name(port->state));
	emit_text(emit, physical_name(port->physical));
	emit_number(emit, port->lanes);
	emit_number(emit, port->rate);
	emit_number(emit, port->best_lanes);
	emit_number(emit, port->best_rate);
	emit_number(emit, port->mtu);
	emit_peer(view, port->peer, emit);
	emit_flag(emit, port->flags & IMAGE_PORT_LOST);
	emit_flag(emit, port->flags & IMAGE_PORT_SLOW);
	emit_flag(emit, port->flags & IMAGE_PORT_SILENT);
	emit_text(emit, *condition ? condition : NULL);
	emit_number(emit, port->alarm);
	emit_flag(emit, port->flags & IMAGE_PORT_READ);
	emit_rates(port, emit);
	emit_end(emit, ']');
}

/* ---- lists ---- */

static bool is_wanted(const struct fabric_view *view, uint32_t i, const struct args *args)
{
	const struct image_port *port = &view->image.ports[i];
	const struct image_node *node = image_node_of(&view->image, i);

	if (args->given & ARG_NODE && node->guid != args->node && port->guid != args->node)
		return false;
	if (args->given & ARG_STATE && port->state != args->state)
		return false;
	if (args->given & ARG_LID && port->lid != args->lid && node->lid != args->lid)
		return false;
	return choose_problem(port, args) && choose_name(view, port->node, args);
}

static void emit_in_order(const struct fabric_view *view, const struct args *args,
			  struct emit *emit)
{
	uint32_t last = IMAGE_NONE, n = 0, i;
	g_autofree char *next = NULL;

	for (i = choose_first_port(view, args); i < view->image.header->n_ports; i++) {
		if (!is_wanted(view, i, args))
			continue;
		if (n++ == args->limit)
			break;
		emit_port(view, i, emit);
		last = i;
	}
	emit_table_end(emit);
	if (i < view->image.header->n_ports)
		next = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x:%u",
				       image_node_of(&view->image, last)->guid,
				       view->image.ports[last].num);
	emit_key(emit, "next");
	emit_text(emit, next);
}

struct entry {
	float key;
	uint32_t port;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->port > y->port) - (x->port < y->port);
}

static float key_of(const struct image_port *port, unsigned int sort)
{
	if (sort == SORT_WAIT)
		return port->wait;
	return sort == SORT_ERRORS ? port->errors_minute : MAX(port->load[0], port->load[1]);
}

static void emit_greatest(const struct fabric_view *view, const struct args *args,
			  struct emit *emit)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct entry));

	for (uint32_t i = 0; i < view->image.header->n_ports; i++) {
		struct entry entry = {key_of(&view->image.ports[i], args->sort), i};

		if (entry.key > 0 && is_wanted(view, i, args))
			g_array_append_val(list, entry);
	}
	g_array_sort(list, compare_entries);
	for (guint i = 0; i < MIN(list->len, args->limit); i++)
		emit_port(view, g_array_index(list, struct entry, i).port, emit);
	emit_table_end(emit);
	emit_key(emit, "next");
	emit_text(emit, NULL);
}

bool fabric_ports(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		  GString *out, GError **error)
{
	struct args args;
	struct emit emit;

	if (!args_parse(&args, get, from, PORT_ARGS, error))
		return false;
	if (args.given & ARG_SORT && args.given & ARG_AFTER) {
		g_set_error(error, FABRIC_ERROR, FABRIC_WRONG,
			    "sort= has one part only, without after=");
		return false;
	}
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	emit_key(&emit, "ports");
	emit_table(&emit, columns, G_N_ELEMENTS(columns));
	if (args.given & ARG_SORT)
		emit_greatest(view, &args, &emit);
	else
		emit_in_order(view, &args, &emit);
	emit_end(&emit, '}');
	return true;
}

/* ---- a cable ---- */

/* [end 0, end 1] of each counter that one of them has. */
static void emit_counters(const struct fabric_view *view, const uint32_t *ends, struct emit *emit)
{
	static const char *const head[] = {"counter", "unit", "first", "second"};
	static const char *const units[IMAGE_KINDS] = {"errors", "ticks", "octets", "packets"};
	const struct image *image = &view->image;

	emit_key(emit, "counters");
	emit_table(emit, head, G_N_ELEMENTS(head));
	for (uint32_t column = 0; column < image->header->n_columns; column++) {
		emit_begin(emit, '[');
		emit_text(emit, image_name(image, image->columns[column].name));
		emit_text(emit, units[image->columns[column].kind]);
		for (unsigned int i = 0; i < 2; i++)
			if (ends[i] != IMAGE_NONE && image->ports[ends[i]].have >> column & 1)
				emit_number(emit, image_counter(image, ends[i], column));
			else
				emit_text(emit, NULL);
		emit_end(emit, ']');
	}
	emit_table_end(emit);
}

bool fabric_cable(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		  GString *out, GError **error)
{
	struct args args;
	struct emit emit;
	uint32_t ends[2];

	if (!args_parse(&args, get, from, ARG_NODE | ARG_PORT, error))
		return false;
	ends[0] = choose_port(view, &args, error);
	if (ends[0] == IMAGE_NONE)
		return false;
	ends[1] = view->image.ports[ends[0]].peer;
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	emit_key(&emit, "ends");
	emit_table(&emit, columns, G_N_ELEMENTS(columns));
	for (unsigned int i = 0; i < 2; i++)
		if (ends[i] != IMAGE_NONE)
			emit_port(view, ends[i], &emit);
	emit_table_end(&emit);
	emit_counters(view, ends, &emit);
	emit_end(&emit, '}');
	return true;
}

/* ---- history ---- */

char *fabric_history_line(fabric_argument_fn *get, const void *from, GError **error)
{
	static const char *const words[] = {
		[VALUE_RATE] = "rate",
		[VALUE_LOAD] = "utilization",
		[VALUE_WAIT] = "wait",
		[VALUE_ERRORS] = "PortRcvErrors",
	};
	g_autofree char *hours = NULL;
	struct args args;

	if (!args_parse(&args, get, from, ARG_NODE | ARG_PORT | ARG_VALUE | ARG_HOURS, error))
		return NULL;
	if (~args.given & (ARG_NODE | ARG_PORT)) {
		g_set_error(error, FABRIC_ERROR, FABRIC_WRONG, "expected node= and port=");
		return NULL;
	}
	hours = args.hours ? g_strdup_printf(" %u", args.hours) : g_strdup("");
	return g_strdup_printf("perfmgr history 0x%016" G_GINT64_MODIFIER "x:%u %s%s json",
			       args.node, args.port, words[args.value], hours);
}

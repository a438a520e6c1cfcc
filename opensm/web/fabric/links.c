// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The summary, and what a picture shows of a part of the fabric. */
#include "web/fabric/boxes.h"

#define STATES 5

/* ---- totals ---- */

struct totals {
	uint32_t hosts, switches, routers, silent;
	uint32_t states[STATES]; /* ports by PortState */
	uint32_t cables, lost, slow, unhealthy, errors;
	uint32_t alarms[IMAGE_ALARMS]; /* ports */
	double octets_s;	       /* sent by hosts */
};

static void add_node(struct totals *totals, const struct image_node *node)
{
	totals->hosts += node->type == IMAGE_HOST;
	totals->switches += node->type == IMAGE_SWITCH;
	totals->routers += node->type == IMAGE_ROUTER;
	totals->silent += !!(node->flags & IMAGE_NODE_SILENT);
	totals->unhealthy += !!(node->flags & IMAGE_NODE_UNHEALTHY);
}

static void add_port(struct totals *totals, const struct image *image, uint32_t i)
{
	const struct image_port *port = &image->ports[i];
	bool first = port->peer == IMAGE_NONE || i < port->peer;

	totals->states[port->state]++;
	totals->cables += first && port->peer != IMAGE_NONE && !(port->flags & IMAGE_PORT_LOST);
	totals->lost += first && port->flags & IMAGE_PORT_LOST;
	totals->slow += first && port->flags & IMAGE_PORT_SLOW;
	totals->unhealthy += !!(port->flags & IMAGE_PORT_UNHEALTHY);
	totals->errors += port->errors_minute > 0;
	totals->alarms[port->alarm]++;
	if (image_node_of(image, i)->type != IMAGE_SWITCH)
		totals->octets_s += (double)port->octets_s[0];
}

static void emit_count(struct emit *emit, const char *key, uint64_t number)
{
	emit_key(emit, key);
	emit_number(emit, number);
}

static void emit_totals(const struct totals *totals, struct emit *emit)
{
	static const char *const states[STATES] = {"unknown", "down", "initialize", "armed",
						   "active"};
	static const char *const alarms[IMAGE_ALARMS] = {"quiet", "info", "warning", "alarm"};

	emit_key(emit, "totals");
	emit_begin(emit, '{');
	emit_count(emit, "switches", totals->switches);
	emit_count(emit, "hosts", totals->hosts);
	emit_count(emit, "routers", totals->routers);
	emit_count(emit, "silent", totals->silent);
	emit_count(emit, "cables", totals->cables);
	emit_count(emit, "lost", totals->lost);
	emit_count(emit, "slow", totals->slow);
	emit_count(emit, "unhealthy", totals->unhealthy);
	emit_count(emit, "ports_with_errors", totals->errors);
	emit_key(emit, "ports");
	emit_begin(emit, '{');
	for (unsigned int i = 0; i < STATES; i++)
		emit_count(emit, states[i], totals->states[i]);
	emit_end(emit, '}');
	emit_key(emit, "alarms");
	emit_begin(emit, '{');
	for (unsigned int i = IMAGE_INFO; i < IMAGE_ALARMS; i++)
		emit_count(emit, alarms[i], totals->alarms[i]);
	emit_end(emit, '}');
	emit_key(emit, "hosts_send_octets_s");
	emit_real(emit, totals->octets_s);
	emit_end(emit, '}');
}

/* ---- levels ---- */

static void emit_levels(const struct fabric_view *view, struct emit *emit)
{
	static const char *const columns[] = {"level", "switches", "groups"};
	uint32_t switches[IMAGE_LEVELS_MAX] = {0}, groups[IMAGE_LEVELS_MAX] = {0};

	for (uint32_t i = 0; i < view->image.header->n_nodes; i++)
		switches[view->image.nodes[i].level]++;
	for (uint32_t i = 0; i < view->n_groups; i++)
		groups[view->groups[i].level]++;
	emit_key(emit, "levels");
	emit_table(emit, columns, G_N_ELEMENTS(columns));
	for (unsigned int i = 1; i < view->image.header->levels; i++) {
		emit_begin(emit, '[');
		emit_number(emit, i);
		emit_number(emit, switches[i]);
		emit_number(emit, groups[i]);
		emit_end(emit, ']');
	}
	emit_table_end(emit);
}

/* ---- the answers ---- */

static void emit_boxes(struct boxes *boxes, struct emit *emit)
{
	boxes_find_bundles(boxes);
	boxes_emit(boxes, emit);
	boxes_emit_bundles(boxes, emit);
	boxes_clear(boxes);
}

bool fabric_summary(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		    GString *out, GError **error)
{
	struct totals totals = {0};
	struct boxes boxes;
	struct args args;
	struct emit emit;

	if (!args_parse(&args, get, from, 0, error) || !boxes_open(&boxes, view, &args, error))
		return false;
	for (uint32_t i = 0; i < view->image.header->n_nodes; i++)
		add_node(&totals, &view->image.nodes[i]);
	for (uint32_t i = 0; i < view->image.header->n_ports; i++)
		add_port(&totals, &view->image, i);
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	emit_totals(&totals, &emit);
	emit_levels(view, &emit);
	emit_boxes(&boxes, &emit);
	emit_end(&emit, '}');
	return true;
}

bool fabric_links(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		  GString *out, GError **error)
{
	struct boxes boxes;
	struct args args;
	struct emit emit;

	if (!args_parse(&args, get, from, ARG_GROUP | ARG_SET | ARG_GROUPS, error) ||
	    !boxes_open(&boxes, view, &args, error))
		return false;
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	emit_boxes(&boxes, &emit);
	emit_end(&emit, '}');
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lists of nodes. */
#include "web/fabric/boxes.h"
#include "web/fabric/choose.h"

#define BOX_ARGS (ARG_GROUP | ARG_SET | ARG_GROUPS)
#define LIST_ARGS                                                                                  \
	(ARG_LEVEL | ARG_SWITCH | ARG_NAME | ARG_LID | ARG_PROBLEM | ARG_LIMIT | ARG_AFTER)

static const char *type_name(unsigned int type)
{
	return type == IMAGE_SWITCH ? "switch" : type == IMAGE_ROUTER ? "router" : "host";
}

static void emit_node(const struct fabric_view *view, uint32_t i, struct emit *emit)
{
	const struct image_node *node = &view->image.nodes[i];
	uint32_t up = 0, hosts = 0;

	for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
		uint32_t other = view_across(view, p);

		up += view_is_up(&view->image.ports[p]);
		hosts += view_is_up(&view->image.ports[p]) && other != IMAGE_NONE &&
			 !view_is_switch(view, other);
	}
	emit_begin(emit, '[');
	emit_guid(emit, node->guid);
	emit_text(emit, image_name(&view->image, node->name));
	emit_text(emit, type_name(node->type));
	emit_number(emit, node->level);
	emit_number(emit, node->lid);
	emit_number(emit, node->n_ports);
	emit_number(emit, up);
	emit_number(emit, hosts);
	emit_flag(emit, node->flags & IMAGE_NODE_SM);
	emit_flag(emit, node->flags & IMAGE_NODE_SILENT);
	emit_flag(emit, node->flags & IMAGE_NODE_UNHEALTHY);
	emit_number(emit, node->alarm);
	emit_guid(emit, node->system_guid);
	emit_end(emit, ']');
}

/* Whether one of its cables leads there. */
static bool is_at(const struct fabric_view *view, uint32_t node, uint32_t sw)
{
	const struct image_node *n = &view->image.nodes[node];

	for (uint32_t i = 0; i < n->n_ports; i++)
		if (view_across(view, n->first_port + i) == sw)
			return true;
	return false;
}

static bool has_lid(const struct fabric_view *view, uint32_t node, uint32_t lid)
{
	const struct image_node *n = &view->image.nodes[node];

	for (uint32_t i = 0; i < n->n_ports; i++)
		if (view->image.ports[n->first_port + i].lid == lid)
			return true;
	return n->lid == lid;
}

static bool is_wanted(const struct fabric_view *view, uint32_t node, const struct args *args,
		      uint32_t sw)
{
	if (args->given & ARG_LEVEL && view->image.nodes[node].level != args->level)
		return false;
	if (args->given & ARG_SWITCH && (view_is_switch(view, node) || !is_at(view, node, sw)))
		return false;
	if (args->given & ARG_LID && !has_lid(view, node, args->lid))
		return false;
	return choose_name(view, node, args) && choose_node_problem(view, node, args);
}

static void emit_list(const struct fabric_view *view, const struct args *args, uint32_t sw,
		      struct emit *emit)
{
	static const char *const columns[] = {"guid",	   "name",  "type",	  "level", "lid",
					      "ports",	   "up",    "hosts",	  "sm",	   "silent",
					      "unhealthy", "alarm", "system_guid"};
	uint32_t last = IMAGE_NONE, n = 0, i;

	emit_key(emit, "nodes");
	emit_table(emit, columns, G_N_ELEMENTS(columns));
	for (i = choose_first_node(view, args); i < view->image.header->n_nodes; i++) {
		if (!is_wanted(view, i, args, sw))
			continue;
		if (n++ == args->limit)
			break;
		emit_node(view, i, emit);
		last = i;
	}
	emit_table_end(emit);
	emit_key(emit, "next");
	emit_guid(emit, i < view->image.header->n_nodes ? view->image.nodes[last].guid : 0);
}

static bool find_switch(const struct fabric_view *view, const struct args *args, uint32_t *sw,
			GError **error)
{
	*sw = image_find(&view->image, args->sw);
	if (!(args->given & ARG_SWITCH) || (*sw != IMAGE_NONE && view_is_switch(view, *sw)))
		return true;
	g_set_error(error, FABRIC_ERROR, FABRIC_NOT_FOUND,
		    "switch=0x%016" G_GINT64_MODIFIER "x: not in the fabric now", args->sw);
	return false;
}

bool fabric_nodes(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		  GString *out, GError **error)
{
	struct boxes boxes = {0};
	struct args args;
	struct emit emit;
	uint32_t sw;

	if (!args_parse(&args, get, from, BOX_ARGS | LIST_ARGS, error) ||
	    !find_switch(view, &args, &sw, error))
		return false;
	if (args.given & BOX_ARGS && args.given & LIST_ARGS) {
		g_set_error(error, FABRIC_ERROR, FABRIC_WRONG,
			    "group=, set= and groups= stand alone");
		return false;
	}
	if (args.given & BOX_ARGS && !boxes_open(&boxes, view, &args, error))
		return false;
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	if (boxes.boxes)
		boxes_emit(&boxes, &emit);
	else
		emit_list(view, &args, sw, &emit);
	emit_end(&emit, '}');
	boxes_clear(&boxes);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* All switches at once, and the way to one of them. */
#include "web/fabric/boxes.h"

/* [group of each box], by its place in the list of groups. */
static void emit_group_of(const struct boxes *boxes, struct emit *emit)
{
	emit_key(emit, "group_of");
	emit_begin(emit, '[');
	for (guint i = 0; i < boxes->boxes->len; i++) {
		uint32_t head = g_array_index(boxes->boxes, struct box, i).head;

		if (boxes->view->group_of[head] == IMAGE_NONE)
			emit_text(emit, NULL);
		else
			emit_number(emit, boxes->view->group_of[head]);
	}
	emit_end(emit, ']');
}

static void emit_groups(const struct fabric_view *view, struct emit *emit)
{
	static const char *const columns[] = {"guid", "name", "parent", "level", "switches"};

	emit_key(emit, "groups");
	emit_table(emit, columns, G_N_ELEMENTS(columns));
	for (uint32_t i = 0; i < view->n_groups; i++) {
		const struct view_group *group = &view->groups[i];
		const struct image_node *head = &view->image.nodes[group->head];

		emit_begin(emit, '[');
		emit_guid(emit, head->guid);
		emit_text(emit, image_name(&view->image, head->name));
		if (group->parent == IMAGE_NONE)
			emit_text(emit, NULL);
		else
			emit_number(emit, group->parent);
		emit_number(emit, group->level);
		emit_number(emit, group->n_switches);
		emit_end(emit, ']');
	}
	emit_table_end(emit);
}

static uint32_t count_switches(const struct fabric_view *view)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->image.header->n_nodes; i++)
		n += view_is_switch(view, i);
	return n;
}

bool fabric_whole(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		  GString *out, GError **error)
{
	uint32_t n = count_switches(view);
	struct boxes boxes;
	struct args args;
	struct emit emit;

	if (!args_parse(&args, get, from, 0, error))
		return false;
	if (n > FABRIC_WHOLE_MAX) {
		g_set_error(error, FABRIC_ERROR, FABRIC_WRONG,
			    "the fabric has %u switches: too many for one answer, which has at "
			    "most %u",
			    n, FABRIC_WHOLE_MAX);
		return false;
	}
	boxes_open_whole(&boxes, view);
	boxes_find_bundles(&boxes);
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	boxes_emit(&boxes, &emit);
	emit_group_of(&boxes, &emit);
	emit_groups(view, &emit);
	boxes_emit_bundles(&boxes, &emit);
	emit_end(&emit, '}');
	boxes_clear(&boxes);
	return true;
}

/* ---- the way ---- */

/* The switch itself, or that at the other end of a host's cable; or IMAGE_NONE. */
static uint32_t switch_of(const struct fabric_view *view, uint32_t node)
{
	const struct image_node *n = &view->image.nodes[node];

	if (view_is_switch(view, node))
		return node;
	for (uint32_t i = 0; i < n->n_ports; i++) {
		uint32_t other = view_across(view, n->first_port + i);

		if (other != IMAGE_NONE && view_is_switch(view, other))
			return other;
	}
	return IMAGE_NONE;
}

/* What opens the box. */
static void set_opening(const struct boxes *boxes, const struct box *box, struct args *args)
{
	uint64_t guid = boxes->view->image.nodes[box->head].guid;

	*args = (struct args){.group = guid, .set = guid, .groups = guid};
	args->given = box->kind == BOX_SET      ? ARG_SET
		      : box->kind == BOX_GROUPS ? ARG_GROUPS
						: ARG_GROUP;
}

static void emit_way(const struct fabric_view *view, uint32_t node, struct emit *emit)
{
	struct args args = {0};
	bool more = true;

	/* Each step leads to a lower level or out of a set. */
	for (unsigned int step = 0; more && step < 3 * IMAGE_LEVELS_MAX; step++) {
		struct boxes boxes;

		more = boxes_open(&boxes, view, &args, NULL);
		if (!more)
			break;
		more = boxes.box_of[node] != IMAGE_NONE;
		if (more) {
			const struct box *box =
				&g_array_index(boxes.boxes, struct box, boxes.box_of[node]);
			g_autofree char *opening = boxes_opening(&boxes, box);

			emit_text(emit, opening);
			set_opening(&boxes, box, &args);
			more = box->kind != BOX_SWITCH;
		}
		boxes_clear(&boxes);
	}
}

bool fabric_where(const struct fabric_view *view, fabric_argument_fn *get, const void *from,
		  GString *out, GError **error)
{
	struct args args;
	struct emit emit;
	uint32_t node;

	if (!args_parse(&args, get, from, ARG_NODE, error))
		return false;
	node = image_find(&view->image, args.node);
	if (node == IMAGE_NONE) {
		g_set_error(error, FABRIC_ERROR, FABRIC_NOT_FOUND,
			    "node=0x%016" G_GINT64_MODIFIER "x: not in the fabric now", args.node);
		return false;
	}
	node = switch_of(view, node);
	emit_init(&emit, out);
	emit_begin(&emit, '{');
	view_emit_header(view, &emit);
	emit_key(&emit, "way");
	emit_begin(&emit, '[');
	if (node != IMAGE_NONE)
		emit_way(view, node, &emit);
	emit_end(&emit, ']');
	emit_end(&emit, '}');
	return true;
}

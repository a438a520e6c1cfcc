// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Groups are found from the lowest level up: the switches of each level join what is below them
 * into connected parts, and each part with a switch of that level is a group.
 */
#include "web/fabric/view.h"

GQuark fabric_error_quark(void)
{
	return g_quark_from_static_string("fabric-error");
}

/* ---- parts ---- */

struct parts {
	struct fabric_view *view;
	uint32_t *part;	    /* [node]: another one of its part, or itself */
	uint32_t *group_at; /* [node that stands for a part]: its last group, or IMAGE_NONE */
	GArray *groups;
};

static uint32_t find_part(uint32_t *part, uint32_t node)
{
	while (part[node] != node) {
		part[node] = part[part[node]];
		node = part[node];
	}
	return node;
}

/* Cables of switches of that level to switches of the same and lower ones. */
static void join_level(struct parts *parts, unsigned int level)
{
	const struct image *image = &parts->view->image;

	for (uint32_t i = 0; i < image->header->n_nodes; i++) {
		const struct image_node *node = &image->nodes[i];

		for (uint32_t p = 0; node->level == level && p < node->n_ports; p++) {
			uint32_t other = view_across(parts->view, node->first_port + p);

			if (other != IMAGE_NONE && image->nodes[other].level &&
			    image->nodes[other].level <= level)
				parts->part[find_part(parts->part, other)] =
					find_part(parts->part, i);
		}
	}
}

static void add_groups(struct parts *parts, unsigned int level)
{
	const struct image *image = &parts->view->image;
	guint before = parts->groups->len;
	uint32_t *of = parts->view->group_of;

	for (uint32_t i = 0; i < image->header->n_nodes; i++) {
		uint32_t at, part;

		if (image->nodes[i].level != level)
			continue;
		part = find_part(parts->part, i);
		at = parts->group_at[part];
		if (at == IMAGE_NONE || at < before) {
			struct view_group group = {
				.parent = IMAGE_NONE, .head = i, .level = (uint8_t)level};

			at = parts->groups->len;
			g_array_append_val(parts->groups, group);
			parts->group_at[part] = at;
		}
		of[i] = at;
		g_array_index(parts->groups, struct view_group, at).n_own++;
	}
	for (guint i = 0; i < before; i++) {
		struct view_group *group = &g_array_index(parts->groups, struct view_group, i);
		uint32_t at = parts->group_at[find_part(parts->part, group->head)];

		if (group->parent == IMAGE_NONE && at != IMAGE_NONE && at >= before)
			group->parent = at;
	}
}

/* Of the part of each node, the last group may have been noted at another node than now. */
static void move_groups(struct parts *parts)
{
	for (uint32_t i = 0; i < parts->view->image.header->n_nodes; i++)
		parts->group_at[i] = IMAGE_NONE;
	for (guint i = 0; i < parts->groups->len; i++) {
		struct view_group *group = &g_array_index(parts->groups, struct view_group, i);

		if (group->parent == IMAGE_NONE)
			parts->group_at[find_part(parts->part, group->head)] = i;
	}
}

static void count_switches(struct fabric_view *view)
{
	for (uint32_t i = 0; i < view->n_groups; i++) {
		view->groups[i].n_switches += view->groups[i].n_own;
		if (view->groups[i].parent != IMAGE_NONE)
			view->groups[view->groups[i].parent].n_switches +=
				view->groups[i].n_switches;
	}
}

static void find_groups(struct fabric_view *view)
{
	const struct image_header *header = view->image.header;
	struct parts parts = {.view = view};

	parts.part = g_new(uint32_t, header->n_nodes + 1);
	parts.group_at = g_new(uint32_t, header->n_nodes + 1);
	parts.groups = g_array_new(FALSE, FALSE, sizeof(struct view_group));
	view->group_of = g_new(uint32_t, header->n_nodes + 1);
	for (uint32_t i = 0; i < header->n_nodes; i++) {
		parts.part[i] = i;
		view->group_of[i] = IMAGE_NONE;
	}
	for (unsigned int level = 1; level < header->levels; level++) {
		join_level(&parts, level);
		move_groups(&parts);
		add_groups(&parts, level);
	}
	view->n_groups = parts.groups->len;
	view->groups = (struct view_group *)g_array_free(parts.groups, FALSE);
	g_free(parts.part);
	g_free(parts.group_at);
	count_switches(view);
}

/* ---- the interface ---- */

struct fabric_view *fabric_view_new(int file, GError **error)
{
	struct fabric_view *view = g_new0(struct fabric_view, 1);

	if (!image_map(&view->image, file, error)) {
		g_free(view);
		return NULL;
	}
	find_groups(view);
	return view;
}

void fabric_view_free(struct fabric_view *view)
{
	if (!view)
		return;
	image_unmap(&view->image);
	g_free(view->groups);
	g_free(view->group_of);
	g_free(view);
}

const struct image_header *fabric_view_header(const struct fabric_view *view)
{
	return view->image.header;
}

uint32_t view_group_by_guid(const struct fabric_view *view, uint64_t guid)
{
	uint32_t node = image_find(&view->image, guid);
	uint32_t group = node == IMAGE_NONE ? IMAGE_NONE : view->group_of[node];

	return group != IMAGE_NONE && view->groups[group].head == node ? group : IMAGE_NONE;
}

uint32_t view_root(const struct fabric_view *view)
{
	uint32_t root = IMAGE_NONE;

	for (uint32_t i = 0; i < view->n_groups; i++) {
		if (view->groups[i].parent != IMAGE_NONE)
			continue;
		if (root != IMAGE_NONE)
			return IMAGE_NONE;
		root = i;
	}
	return root;
}

static void emit_time(struct emit *emit, const char *key, int64_t us)
{
	emit_key(emit, key);
	if (us > 0)
		emit_number(emit, (uint64_t)us / G_USEC_PER_SEC);
	else
		emit_text(emit, NULL);
}

void view_emit_header(const struct fabric_view *view, struct emit *emit)
{
	const struct image_header *header = view->image.header;

	emit_key(emit, "run");
	emit_guid(emit, header->run);
	emit_key(emit, "serial");
	emit_number(emit, header->serial);
	emit_key(emit, "generation");
	emit_number(emit, header->generation);
	emit_key(emit, "counters");
	emit_number(emit, header->counters);
	emit_time(emit, "made", header->made_us);
	emit_time(emit, "counters_read", header->counters_us);
	emit_key(emit, "window");
	emit_real(emit, (double)header->window_us / G_USEC_PER_SEC);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/image/layout.h"

#include <glib.h>
#include <string.h>

#include "core/printable.h"
#include "iba/codes.h"

#define TICK_DEFAULT 7 /* of recent devices, until an agent says another */

/* ---- nodes ---- */

/* A node to be: of the fabric, or of the old layout if it is gone. */
struct source {
	uint64_t guid;
	uint32_t in_fabric; /* or FABRIC_NONE */
	uint32_t in_old;    /* or PERF_NONE */
};

static int compare_sources(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool is_wanted(const struct fabric_node *node, const struct perf_layout_wish *wish)
{
	return !wish->ignore_cas || node->type != IBA_NODE_CA;
}

static GArray *list_sources(const struct fabric *fabric, const struct perf_layout *old,
			    const struct perf_layout_wish *wish)
{
	GArray *sources = g_array_new(FALSE, FALSE, sizeof(struct source));

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		struct source source = {fabric->nodes[i].guid, i, PERF_NONE};

		if (is_wanted(&fabric->nodes[i], wish))
			g_array_append_val(sources, source);
	}
	for (uint32_t i = 0; old && wish->keep_gone && i < old->n_nodes; i++) {
		struct source source = {old->nodes[i].guid, FABRIC_NONE, i};

		if (fabric_node_by_guid(fabric, source.guid) == FABRIC_NONE)
			g_array_append_val(sources, source);
	}
	g_array_sort(sources, compare_sources);
	return sources;
}

static void fill_node(struct perf_node *to, const struct fabric *fabric, uint32_t node,
		      int64_t since_us)
{
	const struct fabric_node *from = &fabric->nodes[node];
	bool port0 = from->sw != FABRIC_NONE && fabric->switches[from->sw].info.enhanced_port0;

	*to = (struct perf_node){
		.guid = from->guid,
		.name = fabric_shown_name(fabric, node),
		.description = printable_text(from->description),
		.since_us = since_us,
		.type = from->type,
		.first_port = port0 ? 0 : 1,
		.num_ports = from->num_ports,
		.active = true,
	};
}

static void fill_gone_node(struct perf_node *to, const struct perf_node *from)
{
	*to = *from;
	to->name = g_strdup(from->name);
	to->description = g_strdup(from->description);
	to->active = false;
}

/* ---- ports ---- */

static uint8_t rate_of(const struct iba_port_info *info)
{
	if (info->port_state == IBA_PORT_DOWN)
		return 0;
	return iba_link_rate(info->link_width_active, info->link_speed_active,
			     info->link_speed_ext_active, info->link_speed_ext_active2);
}

/* HDR and faster links have PAM4 symbols, of which some always need correction. */
static bool needs_correction(const struct iba_port_info *info)
{
	return info->link_speed_ext_active >= 4 || info->link_speed_ext_active2;
}

/* A standby assigns no LIDs, but reads those that the master has set. */
static uint16_t lid_of(const struct fabric_port *endport)
{
	return endport->lid ? endport->lid : endport->info.lid;
}

static void fill_place(struct perf_place *place, const struct fabric *fabric, uint32_t port,
		       const uint32_t *row_of)
{
	const struct fabric_port *from = &fabric->ports[port];
	uint32_t peer = from->peer;

	place->lid = lid_of(&fabric->ports[fabric_endport_of(fabric, port)]);
	place->peer = PERF_NONE;
	if (peer != FABRIC_NONE) {
		place->peer = row_of[peer];
		place->to_switch = fabric_is_switch(fabric, fabric->ports[peer].node);
	}
	if (!from->known)
		return;
	place->rate = rate_of(&from->info);
	if (!place->rate)
		return;
	place->lanes = iba_width_lanes(from->info.link_width_active);
	place->fec = needs_correction(&from->info);
	place->extended = from->info.link_speed_ext_active || from->info.link_speed_ext_active2;
}

static void fill_places(struct perf_layout *layout, const struct fabric *fabric,
			const GArray *sources, const uint32_t *row_of)
{
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];
		uint32_t in_fabric = g_array_index(sources, struct source, i).in_fabric;

		for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
			struct perf_place *place =
				&layout->places[node->first_row + port - node->first_port];

			place->node = i;
			place->port = port;
			place->peer = PERF_NONE;
			place->tick = TICK_DEFAULT;
			if (in_fabric != FABRIC_NONE)
				fill_place(place, fabric, fabric_port_of(fabric, in_fabric, port),
					   row_of);
		}
	}
}

/* ---- layouts ---- */

static struct perf_layout *new_layout(uint32_t n_nodes)
{
	struct perf_layout *layout = g_new0(struct perf_layout, 1);

	ref_init(&layout->ref);
	layout->n_nodes = n_nodes;
	layout->nodes = g_new0(struct perf_node, n_nodes);
	return layout;
}

static void make_places(struct perf_layout *layout)
{
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		struct perf_node *node = &layout->nodes[i];

		node->first_row = layout->n_rows;
		layout->n_rows += node->num_ports - node->first_port + 1u;
	}
	layout->places = g_new0(struct perf_place, layout->n_rows);
}

static uint32_t *rows_of_fabric(const struct perf_layout *layout, const struct fabric *fabric,
				const GArray *sources)
{
	uint32_t *row_of = g_new(uint32_t, fabric->n_ports);

	memset(row_of, 0xFF, fabric->n_ports * sizeof(*row_of)); /* PERF_NONE */
	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];
		uint32_t in_fabric = g_array_index(sources, struct source, i).in_fabric;

		for (unsigned int port = node->first_port;
		     in_fabric != FABRIC_NONE && port <= node->num_ports; port++)
			row_of[fabric_port_of(fabric, in_fabric, port)] =
				node->first_row + port - node->first_port;
	}
	return row_of;
}

/* When totals of that node began: now if it is new. */
static int64_t since(const struct perf_layout *old, uint64_t guid, int64_t now_us)
{
	uint32_t node = old ? perf_layout_node(old, guid) : PERF_NONE;

	return node == PERF_NONE ? now_us : old->nodes[node].since_us;
}

static bool same_node(const struct perf_node *a, const struct perf_node *b)
{
	return a->guid == b->guid && a->since_us == b->since_us && a->first_row == b->first_row &&
	       a->type == b->type && a->first_port == b->first_port &&
	       a->num_ports == b->num_ports && a->active == b->active &&
	       !strcmp(a->name, b->name) && !strcmp(a->description, b->description);
}

static bool same_place(const struct perf_place *a, const struct perf_place *b)
{
	return a->node == b->node && a->peer == b->peer && a->lid == b->lid && a->port == b->port &&
	       a->rate == b->rate && a->lanes == b->lanes && a->tick == b->tick &&
	       a->fec == b->fec && a->extended == b->extended && a->to_switch == b->to_switch;
}

static bool same_layout(const struct perf_layout *a, const struct perf_layout *b)
{
	if (a->n_nodes != b->n_nodes || a->n_rows != b->n_rows)
		return false;
	for (uint32_t i = 0; i < a->n_nodes; i++)
		if (!same_node(&a->nodes[i], &b->nodes[i]))
			return false;
	for (uint32_t i = 0; i < a->n_rows; i++)
		if (!same_place(&a->places[i], &b->places[i]))
			return false;
	return true;
}

/* Ticks are known from agents, not from the fabric. */
static void keep_ticks(struct perf_layout *layout, const struct perf_layout *old)
{
	g_autofree uint32_t *map = perf_layout_map(old, layout);

	for (uint32_t row = 0; row < layout->n_rows; row++)
		if (map[row] != PERF_NONE)
			layout->places[row].tick = old->places[map[row]].tick;
}

struct perf_layout *perf_layout_make(const struct fabric *fabric, struct perf_layout *old,
				     const struct perf_layout_wish *wish)
{
	g_autoptr(GArray) sources = list_sources(fabric, old, wish);
	struct perf_layout *layout = new_layout(sources->len);
	g_autofree uint32_t *row_of = NULL;

	for (uint32_t i = 0; i < sources->len; i++) {
		const struct source *source = &g_array_index(sources, struct source, i);

		if (source->in_fabric != FABRIC_NONE)
			fill_node(&layout->nodes[i], fabric, source->in_fabric,
				  since(old, source->guid, wish->now_us));
		else
			fill_gone_node(&layout->nodes[i], &old->nodes[source->in_old]);
	}
	make_places(layout);
	row_of = rows_of_fabric(layout, fabric, sources);
	fill_places(layout, fabric, sources, row_of);
	if (old)
		keep_ticks(layout, old);
	if (!old || !same_layout(layout, old))
		return layout;
	perf_layout_unref(layout);
	return perf_layout_ref(old);
}

/* ---- copies ---- */

static void copy_node(struct perf_node *to, const struct perf_node *from)
{
	*to = *from;
	to->name = g_strdup(from->name);
	to->description = g_strdup(from->description);
}

struct perf_layout *perf_layout_without_gone(const struct perf_layout *old)
{
	struct perf_layout *layout = new_layout(old->n_nodes);
	g_autofree uint32_t *map = NULL, *back = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < old->n_nodes; i++)
		if (old->nodes[i].active)
			copy_node(&layout->nodes[n++], &old->nodes[i]);
	layout->n_nodes = n;
	make_places(layout);
	map = perf_layout_map(old, layout);
	back = perf_layout_map(layout, old);
	for (uint32_t row = 0; row < layout->n_rows; row++)
		layout->places[row] = old->places[map[row]];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t row = layout->nodes[i].first_row;
		     row < layout->n_rows && row <= layout->nodes[i].first_row +
							     layout->nodes[i].num_ports -
							     layout->nodes[i].first_port;
		     row++) {
			struct perf_place *place = &layout->places[row];

			place->node = i;
			if (place->peer != PERF_NONE)
				place->peer = back[place->peer];
		}
	return layout;
}

static struct perf_layout *copy_layout(const struct perf_layout *old)
{
	struct perf_layout *layout = new_layout(old->n_nodes);

	for (uint32_t i = 0; i < old->n_nodes; i++)
		copy_node(&layout->nodes[i], &old->nodes[i]);
	layout->n_rows = old->n_rows;
	layout->places = g_memdup2(old->places, old->n_rows * sizeof(*old->places));
	return layout;
}

struct perf_layout *perf_layout_since(const struct perf_layout *old, int64_t now_us)
{
	struct perf_layout *layout = copy_layout(old);

	for (uint32_t i = 0; i < layout->n_nodes; i++)
		layout->nodes[i].since_us = now_us;
	return layout;
}

struct perf_layout *perf_layout_with_ticks(const struct perf_layout *old, const uint8_t *ticks)
{
	struct perf_layout *layout = copy_layout(old);

	for (uint32_t row = 0; row < layout->n_rows; row++)
		layout->places[row].tick = ticks[row];
	return layout;
}

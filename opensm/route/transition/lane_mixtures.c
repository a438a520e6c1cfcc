// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stage by stage, packets to a LID on an SL are followed from all switches that may send them: by
 * the entries before and after the stage at each switch, and on the lanes of the maps that switches
 * may have then.
 */
#include <string.h>

#include "route/graph/channels.h"
#include "route/graph/watch.h"
#include "route/transition/lane_changes.h"
#include "route/value/base.h"
#include "route/value/lanes.h"
#include "route/value/told.h"

#define VLS 16
enum { MAP_OLD = 1, MAP_NEW = 2 };

struct mixtures {
	const struct routing *old, *new;
	struct route_graph *graph;
	struct route_channels *channels;
	uint32_t *was;		       /* [switch]: in the old routing */
	bool assumed;		       /* the old maps are unknown, and taken to be the new ones */
	const uint8_t *const *rows[2]; /* [switch]: before and after; a row may be NULL */
	unsigned int maps;	       /* bits of those that switches may have: MAP_.. */
	unsigned int width;	       /* the most channels that leave a switch */
	uint16_t *waits; /* [(channel * VLS + vl) * width + i]: VLs of channel i that follows */
	uint16_t lid;
	uint16_t *vls;	 /* [channel]: of the current packets */
	uint16_t *all_vls; /* [channel]: of all packets in this stage */
	uint32_t *queue; /* channels */
	uint32_t n_queue;
	uint64_t work;
	struct route_watch *watch;
};

#define PER_STEP (1u << 14) /* channels and lanes in a step of the watch */

/* SLs, as bits, of packets between two switches by one of the routings. */
static uint16_t sls_of(const struct routing *routing, uint32_t from, uint32_t to, bool with_sm)
{
	const struct route_lanes *lanes = routing->lanes;
	uint16_t sls = 0;

	if (from == FABRIC_NONE || to == FABRIC_NONE)
		return 0;
	if (!lanes)
		return 1;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if ((sl & ~lanes->levels) == route_lanes_sl(lanes, from, to) ||
		    (with_sm && !lanes->sm_by_path && sl == lanes->sm_sl))
			sls |= 1u << sl;
	return sls;
}

/* Those that hosts were told before, by whichever routing. */
static uint16_t told_before(const struct routing *new, uint32_t from, uint32_t to)
{
	return route_told_at_levels(new->told, from, to, new->lanes ? new->lanes->levels : 0);
}

static uint16_t vl_bit(const struct routing *routing, uint32_t sw, uint8_t in, uint8_t out,
		       unsigned int sl)
{
	return 1u << (routing->lanes ? route_lanes_vl(routing->lanes, sw, in, out, sl) : sl % 8);
}

static uint16_t vls_of(const struct mixtures *m, uint32_t sw, uint8_t in, uint8_t out,
		       unsigned int sl)
{
	bool is_known = m->was[sw] != FABRIC_NONE && !m->assumed;
	uint16_t bits = 0;

	if (m->maps & MAP_NEW || !is_known)
		bits |= vl_bit(m->new, sw, in, out, sl);
	if (m->maps & MAP_OLD && is_known)
		bits |= vl_bit(m->old, m->was[sw], in, out, sl);
	return bits;
}

/* Packets leave a switch; last: the channel by which they came, or FABRIC_NONE. */
static void leave(struct mixtures *m, uint32_t sw, uint8_t in, uint32_t last, unsigned int sl)
{
	for (unsigned int i = 0; i < 2; i++) {
		const uint8_t *row = m->rows[i][sw];
		uint32_t c = row ? route_channel(m->channels, sw, row[m->lid]) : FABRIC_NONE;
		uint16_t vls;

		if (c == FABRIC_NONE)
			continue;
		vls = vls_of(m, sw, in, m->graph->links[c], sl);
		for (uint16_t on = last == FABRIC_NONE ? 0 : m->vls[last]; on; on &= on - 1)
			m->waits[((size_t)last * VLS + __builtin_ctz(on)) * m->width + c -
				 m->channels->first[sw]] |= vls;
		if (!(vls & ~m->vls[c]))
			continue;
		m->vls[c] |= vls;
		m->all_vls[c] |= vls;
		m->queue[m->n_queue++ % (VLS * m->channels->n)] = c;
	}
}

static void follow(struct mixtures *m, const uint16_t *sls, unsigned int sl)
{
	memset(m->vls, 0, m->channels->n * sizeof(*m->vls));
	m->n_queue = 0;
	for (uint32_t sw = 0; sw < m->graph->n; sw++)
		if (sls[sw] >> sl & 1)
			leave(m, sw, 0, FABRIC_NONE, sl);
	for (uint32_t i = 0; i < m->n_queue; i++) {
		uint32_t c = m->queue[i % (VLS * m->channels->n)], to = m->channels->to[c];

		if (i % PER_STEP == 0 && !route_watch_look(m->watch))
			break;
		leave(m, to, m->graph->links[m->channels->back[c]], c, sl);
	}
	m->work += m->graph->n + m->n_queue;
}

/* False: too much work. */
static bool follow_all(struct mixtures *m, uint64_t work)
{
	const struct route_graph *graph = m->graph;
	g_autofree uint16_t *sls = g_new(uint16_t, graph->n + 1);

	for (uint32_t lid = 1; lid <= m->new->top && route_watch_step(m->watch); lid++) {
		uint8_t exit;
		uint32_t home = route_leaf_of(m->new->fabric, lid, &exit);
		uint16_t all = 0;

		m->lid = lid;
		for (uint32_t sw = 0; home != FABRIC_NONE && sw < graph->n; sw++) {
			bool with_sm = sw == graph->sm_switch || home == graph->sm_switch;

			sls[sw] = 0;
			if (sw != home && (exit || route_is_source(graph, sw)))
				sls[sw] = sls_of(m->new, sw, home, with_sm) |
					  sls_of(m->old, m->was[sw], m->was[home], with_sm) |
					  told_before(m->new, sw, home);
			all |= sls[sw];
		}
		for (; all; all &= all - 1)
			follow(m, sls, __builtin_ctz(all));
		if (m->work > work)
			return false;
	}
	return true;
}

/* Removes what waits for nothing any more; true if nothing is left. */
static bool is_acyclic(const struct mixtures *m)
{
	uint32_t n = m->channels->n * VLS, left = 0, before;
	g_autofree bool *gone = g_new(bool, n + 1);

	for (uint32_t node = 0; node < n; node++) {
		gone[node] = !(m->all_vls[node / VLS] >> node % VLS & 1);
		left += !gone[node];
	}
	do {
		before = left;
		for (uint32_t node = 0; node < n; node++) {
			uint32_t first = m->channels->first[m->channels->to[node / VLS]];
			uint32_t end = m->channels->first[m->channels->to[node / VLS] + 1];
			bool waits = gone[node];

			if (node % PER_STEP == 0 && !route_watch_look(m->watch))
				return false;
			for (uint32_t c = first; !waits && c < end; c++) {
				uint16_t vls = m->waits[(size_t)node * m->width + c - first];

				for (; vls && !waits; vls &= vls - 1)
					waits = !gone[c * VLS + __builtin_ctz(vls)];
			}
			if (waits)
				continue;
			gone[node] = true;
			left--;
		}
	} while (left && left < before);
	return !left;
}

static bool stage_is_safe(struct mixtures *m, const uint8_t *const *before,
			  const uint8_t *const *after, unsigned int maps, uint64_t work)
{
	m->rows[0] = before;
	m->rows[1] = after;
	m->maps = maps;
	/* Much of it stays unused: memory that is new costs nothing until it is written. */
	g_free(m->waits);
	m->waits = g_new0(uint16_t, (size_t)m->channels->n * VLS * m->width + 1);
	memset(m->all_vls, 0, m->channels->n * sizeof(*m->all_vls));
	route_watch_begin(m->watch, "lanes of old and new routes", m->new->top);
	return follow_all(m, work) && is_acyclic(m);
}

static bool all_are_safe(struct mixtures *m, const struct lane_change *change, uint64_t work)
{
	const uint8_t *const *before = change->held;
	uint32_t n = change->stages ? change->stages->n : 1;
	bool good = !change->maps || stage_is_safe(m, before, before, MAP_OLD | MAP_NEW, work);

	for (uint32_t i = 0; good && i < n; i++) {
		const uint8_t *const *after = change->stages ? change->stages->rows[i]
							     : (const uint8_t *const *)m->new->lft;

		good = stage_is_safe(m, before, after, MAP_NEW, work);
		before = after;
	}
	return good;
}

bool route_lanes_mix(const struct lane_change *change, uint64_t work)
{
	struct mixtures m = {.old = change->old, .new = change->new, .watch = change->watch};
	const struct fabric *fabric = m.new->fabric;
	bool good;

	m.graph = route_graph_new(fabric);
	m.channels = route_channels_new(m.graph, fabric);
	m.was = route_places(fabric, m.old->fabric);
	m.assumed = routing_is_held(m.old) && m.old->maker == m.new->engine;
	for (uint32_t sw = 0; sw < m.graph->n; sw++)
		m.width = MAX(m.width, m.channels->first[sw + 1] - m.channels->first[sw]);
	m.all_vls = g_new(uint16_t, m.channels->n + 1);
	m.vls = g_new(uint16_t, m.channels->n + 1);
	m.queue = g_new(uint32_t, VLS * m.channels->n + 1);
	good = all_are_safe(&m, change, work);
	route_graph_free(m.graph);
	route_channels_free(m.channels);
	g_free(m.was);
	g_free(m.waits);
	g_free(m.vls);
	g_free(m.all_vls);
	g_free(m.queue);
	return good;
}

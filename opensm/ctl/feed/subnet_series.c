// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/feed/subnet_series.h"

#include <string.h>

#include "ctl/report/changes.h"
#include "fabric/changes.h"

#define BLOCK FABRIC_LFT_BLOCK

struct subnet_series {
	struct feed_series series; /* first */
	struct subnet *old, *now;
	GArray *changes; /* NULL: it is about LFTs */
	/*
	 * Of LFTs: a row of n_words words for each switch of now, with a bit for each block that
	 * changed from old to now, or at any step between, even if it changed back later.
	 */
	uint64_t *changed;
	uint32_t n_words;
};

static void series_free(struct feed_series *series)
{
	struct subnet_series *s = (struct subnet_series *)series;

	subnet_unref(s->old);
	subnet_unref(s->now);
	if (s->changes)
		g_array_unref(s->changes);
	g_free(s->changed);
	g_free(s);
}

static struct subnet_series *series_new(enum feed_rank rank, const struct feed_moment *moment,
					struct subnet *old, struct subnet *now)
{
	struct subnet_series *s = g_new0(struct subnet_series, 1);

	ref_init(&s->series.ref);
	s->series.rank = rank;
	s->series.moment = *moment;
	s->series.moment.generation = now->generation;
	s->series.free = series_free;
	s->old = subnet_ref(old);
	s->now = subnet_ref(now);
	return s;
}

/* ---- nodes, links, ports, LIDs ---- */

static const struct {
	uint32_t id;
	const char *word;
} change_events[] = {
	[FABRIC_NODES_GONE] = {OSM_EVENT_NODE, "nodes_gone"},
	[FABRIC_LINK_DOWN] = {OSM_EVENT_LINK, "link_down"},
	[FABRIC_PORT_GONE] = {OSM_EVENT_PORT, "port_gone"},
	[FABRIC_NODES_NEW] = {OSM_EVENT_NODE, "nodes_new"},
	[FABRIC_LINK_UP] = {OSM_EVENT_LINK, "link_up"},
	[FABRIC_PORT_NEW] = {OSM_EVENT_PORT, "port_new"},
	[FABRIC_LID_CHANGED] = {OSM_EVENT_LID, "lid_changed"},
};

static void make_change(const struct subnet_series *s, const struct fabric_change *change,
			struct feed_event *event)
{
	const struct fabric *in = (fabric_change_is_loss(change) ? s->old : s->now)->fabric;
	const struct changes_line line = changes_line_of(in, change);
	g_autofree char *text = changes_text_of(in, change);
	struct osm_about *about;

	event->id = change_events[change->kind].id;
	about = FEED_BODY(event, struct osm_about);
	g_strlcpy(about->word, change_events[change->kind].word, sizeof(about->word));
	about->value = change->old_lid;
	about->guid = line.guid;
	about->port = line.port;
	about->lid = line.lid;
	about->peer_guid = line.peer_guid;
	about->peer_port = line.peer_port;
	about->more_switches = line.more_switches;
	about->more_hosts = line.more_hosts;
	feed_text(event, text);
}

static bool next_change(const struct feed_series *series, struct feed_cursor *cursor,
			uint64_t events, struct feed_event *event)
{
	const struct subnet_series *s = (const struct subnet_series *)series;

	while (cursor->at < s->changes->len) {
		const struct fabric_change *change =
			&g_array_index(s->changes, struct fabric_change, cursor->at++);

		if (!(events & OSM_EVENT_BIT(change_events[change->kind].id)))
			continue;
		if (event)
			make_change(s, change, event);
		return true;
	}
	return false;
}

struct feed_series *subnet_series_changes(const struct feed_moment *moment, struct subnet *old,
					  struct subnet *now, GArray *changes)
{
	struct subnet_series *s = series_new(FEED_OTHERS, moment, old, now);

	s->series.next = next_change;
	s->changes = g_array_ref(changes);
	return &s->series;
}

/* ---- LFTs ---- */

/* The index of a switch in another fabric, or FABRIC_NONE. */
static uint32_t switch_in(const struct fabric *other, uint64_t guid)
{
	uint32_t node = fabric_node_by_guid(other, guid);

	return node == FABRIC_NONE ? FABRIC_NONE : other->nodes[node].sw;
}

static uint64_t guid_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].guid;
}

/* A switch before and now; before NULL: it was not there. */
struct lft_pair {
	const uint8_t *before, *now;
	uint16_t top_before, top;
};

static struct lft_pair pair_of(const struct subnet_series *s, uint32_t sw)
{
	const struct routing *old = s->old->routing, *new = s->now->routing;
	uint32_t before = switch_in(s->old->fabric, guid_of(s->now->fabric, sw));
	struct lft_pair pair = {.now = new->lft[sw], .top = new->top};

	if (before == FABRIC_NONE)
		return pair;
	pair.before = old->lft[before];
	pair.top_before = old->top;
	return pair;
}

/* A block of a table, which discards what is above its top. */
static void get_block(const uint8_t *table, uint16_t top, uint32_t block, uint8_t ports[BLOCK])
{
	uint32_t first = block * BLOCK;

	memset(ports, ROUTE_NO_PORT, BLOCK);
	if (table && first <= top)
		memcpy(ports, table + first, MIN(BLOCK, top - first + 1u));
}

static bool block_differs(const struct lft_pair *pair, uint32_t block)
{
	uint32_t first = block * BLOCK;
	uint8_t before[BLOCK], now[BLOCK];

	if (pair->before && first + BLOCK <= MIN(pair->top, pair->top_before))
		return memcmp(pair->before + first, pair->now + first, BLOCK) != 0;
	get_block(pair->before, pair->top_before, block, before);
	get_block(pair->now, pair->top, block, now);
	return memcmp(before, now, BLOCK) != 0;
}

static uint32_t n_blocks(uint16_t top)
{
	return top / BLOCK + 1u;
}

/* A change of LinearFDBTop alone counts as one of the block where that is. */
static void find_changed(const struct lft_pair *pair, uint64_t *row)
{
	uint32_t n = MAX(n_blocks(pair->top), n_blocks(pair->top_before));
	bool differs = false;

	if (pair->before == pair->now && pair->top_before == pair->top)
		return;
	for (uint32_t block = 0; block < n; block++) {
		if (!block_differs(pair, block))
			continue;
		row[block / 64] |= UINT64_C(1) << block % 64;
		differs = true;
	}
	if (!differs && pair->top != pair->top_before)
		row[pair->top / BLOCK / 64] |= UINT64_C(1) << pair->top / BLOCK % 64;
}

/* The first block from `block` on that changed; UINT32_MAX: there is none. */
static uint32_t next_changed(const struct subnet_series *s, uint32_t sw, uint32_t block)
{
	const uint64_t *row = s->changed + (size_t)sw * s->n_words;
	uint32_t word = block / 64;
	uint64_t bits;

	if (word >= s->n_words)
		return UINT32_MAX;
	bits = row[word] & UINT64_MAX << block % 64;
	while (!bits && ++word < s->n_words)
		bits = row[word];
	return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : UINT32_MAX;
}

static void make_block(const struct subnet_series *s, uint32_t sw, uint32_t block,
		       struct feed_event *event)
{
	const struct fabric *fabric = s->now->fabric;
	const struct routing *routing = s->now->routing;
	uint32_t node = fabric->switches[sw].node;
	g_autofree char *text = NULL;
	struct osm_lft_change *change;
	char name[FABRIC_NAME_SIZE];

	event->id = OSM_EVENT_LFT_CHANGE;
	change = FEED_BODY(event, struct osm_lft_change);
	change->guid = fabric->nodes[node].guid;
	change->block = block;
	change->top = routing->top;
	get_block(routing->lft[sw], routing->top, block, change->ports);
	text = g_strdup_printf("LFT block %u of %s changed", block,
			       fabric_node_name(fabric, node, name, sizeof(name)));
	feed_text(event, text);
}

/* at: the switch; within: the next block, 0 if none of this switch was taken. */
static bool next_block(const struct feed_series *series, struct feed_cursor *cursor,
		       uint64_t events, struct feed_event *event)
{
	const struct subnet_series *s = (const struct subnet_series *)series;

	if (!(events & OSM_EVENT_BIT(OSM_EVENT_LFT_CHANGE)))
		return false;
	for (; cursor->at < s->now->fabric->n_switches; cursor->at++, cursor->within = 0) {
		uint32_t block = next_changed(s, cursor->at, cursor->within);

		if (block == UINT32_MAX)
			continue;
		if (event)
			make_block(s, cursor->at, block, event);
		cursor->within = block + 1;
		return true;
	}
	return false;
}

/* With room for blocks as far as either subnet or n_words has them; none is changed yet. */
static struct subnet_series *lfts_new(const struct feed_moment *moment, struct subnet *old,
				      struct subnet *now, uint32_t n_words)
{
	struct subnet_series *s = series_new(FEED_TABLES, moment, old, now);
	uint16_t top = MAX(old->routing->top, now->routing->top);

	s->series.next = next_block;
	s->n_words = MAX(n_words, (n_blocks(top) + 63) / 64);
	s->changed = g_new0(uint64_t, (size_t)now->fabric->n_switches * s->n_words);
	return s;
}

/* What one of those that are joined has of this switch is changed in the joint series. */
static void add_changed(struct subnet_series *joint, uint32_t sw, const struct subnet_series *from)
{
	uint32_t there = switch_in(from->now->fabric, guid_of(joint->now->fabric, sw));
	uint64_t *row = joint->changed + (size_t)sw * joint->n_words;

	for (uint32_t i = 0; there != FABRIC_NONE && i < from->n_words; i++)
		row[i] |= from->changed[(size_t)there * from->n_words + i];
}

/*
 * What changed and changed back is told as well: a plug-in that took a snapshot between has what
 * was there for a while. A switch that went and came back changed as a new one.
 */
static struct feed_series *join_lfts(const struct feed_series *older,
				     const struct feed_series *newer)
{
	const struct subnet_series *a = (const struct subnet_series *)older;
	const struct subnet_series *b = (const struct subnet_series *)newer;
	struct subnet_series *joint;

	if (a->now != b->old)
		return NULL;
	joint = lfts_new(&newer->moment, a->old, b->now, MAX(a->n_words, b->n_words));
	joint->series.join = join_lfts;
	for (uint32_t sw = 0; sw < b->now->fabric->n_switches; sw++) {
		add_changed(joint, sw, a);
		add_changed(joint, sw, b);
	}
	return &joint->series;
}

struct feed_series *subnet_series_lfts(const struct feed_moment *moment, struct subnet *old,
				       struct subnet *now)
{
	struct subnet_series *s = lfts_new(moment, old, now, 0);

	s->series.join = join_lfts;
	for (uint32_t sw = 0; sw < now->fabric->n_switches; sw++) {
		const struct lft_pair pair = pair_of(s, sw);

		find_changed(&pair, s->changed + (size_t)sw * s->n_words);
	}
	return &s->series;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Orphan keys: M_Keys of missing ports. If ports have different keys, a device that was moved does
 * not answer behind its new cable from protection level 2 on, as the SM does not know whose key to
 * send there. So a device that does not answer to any key known for the cable is tried with those
 * of endports that should exist and have no cable, or one whose other end is unknown.
 *
 * The device learns these keys. So keys of switches are tried only behind a cable through which a
 * switch was reached, and behind the SM's own: a user who can plug in a host learns none.
 */
#include "sm/keys/keys_private.h"
#include "sm/smp/smp.h"

#include "complib/hash.h"

#define TRIED_MAX 32	  /* for one request */
#define OWN_TRIED_MAX 128 /* without its own cable the SM has nothing else to do */
#define LISTED_NS (20 * NS_PER_MS)

struct listing {
	struct keys *keys;
	GHashTable *there; /* GUIDs of endports that are not missing */
};

/* Whether the other end of one of its cables is unknown, or it has none. */
static bool is_due_for_probe(const struct builder_node *node, unsigned int first, unsigned int last)
{
	bool has_cable = false;

	for (unsigned int num = first; num <= last; num++) {
		if (!node->ports[num].peer && builder_link_is_up(&node->ports[num]))
			return true;
		has_cable |= node->ports[num].peer != NULL;
	}
	return !has_cable;
}

static GHashTable *list_there(const struct builder *builder)
{
	GHashTable *there = g_hash_table_new(hash_uint64, g_int64_equal);
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node)) {
		bool is_switch = builder_is_switch(node);
		unsigned int n = node->info.num_ports;

		if (is_switch && !is_due_for_probe(node, 1, n))
			g_hash_table_add(there, &node->ports[0].guid);
		for (unsigned int num = 1; !is_switch && num <= n; num++)
			if (!is_due_for_probe(node, num, num))
				g_hash_table_add(there, &node->ports[num].guid);
	}
	return there;
}

/* A key that ports share is listed once, and not at all if it is tried anyway. */
static void add_orphan(const struct keys *keys, enum orphan_kind kind, uint64_t key)
{
	GArray *orphans = keys->orphans[kind];

	if (key && key != keys->sm->options->m_key &&
	    !(orphans->len && g_array_index(orphans, uint64_t, orphans->len - 1) == key))
		g_array_append_val(orphans, key);
}

/* If the SM's own cable was moved, any switch may be at its other end. */
static void list_key(void *arg, uint64_t guid, uint64_t key)
{
	const struct listing *listing = arg;
	const struct keys *keys = listing->keys;
	bool is_switch = g_hash_table_contains(keys->switches, &guid);
	bool is_there = g_hash_table_contains(listing->there, &guid);
	const bool in[] = {
		[ORPHANS_HOSTS] = !is_there && !is_switch,
		[ORPHANS_ALL] = !is_there,
		[ORPHANS_OWN] = is_switch,
	};

	for (enum orphan_kind kind = 0; kind < ORPHAN_KINDS; kind++) {
		if (!in[kind])
			continue;
		add_orphan(keys, kind, key);
		add_orphan(keys, kind, key_ring_wanted(keys->ring, (struct key_port){guid, 0}));
	}
}

/* As remembered, where one with a single cable looks like a host, and as found. */
static GHashTable *list_switches(const struct keys *keys)
{
	GHashTable *switches = neighbors_switches(keys->neighbors);
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, keys->sm->builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node))
		if (builder_is_switch(node))
			g_hash_table_add(switches,
					 g_memdup2(&node->ports[0].guid, sizeof(uint64_t)));
	return switches;
}

static void list_orphans(struct keys *keys)
{
	struct listing listing = {keys, list_there(keys->sm->builder)};

	g_clear_pointer(&keys->switches, g_hash_table_unref);
	keys->switches = list_switches(keys);
	for (enum orphan_kind kind = 0; kind < ORPHAN_KINDS; kind++)
		g_array_set_size(keys->orphans[kind], 0);
	key_ring_each(keys->ring, list_key, &listing);
	g_hash_table_unref(listing.there);
}

static enum orphan_kind kind_of(const struct sm_request *request, GHashTable *switches)
{
	uint64_t before = keys_neighbour(request->sm, request->port);

	if (request->port == request->sm->builder->sm_port)
		return ORPHANS_OWN;
	return before && g_hash_table_contains(switches, &before) ? ORPHANS_ALL : ORPHANS_HOSTS;
}

/* They are kept for a moment: many nodes may be silent at once. */
static const GArray *orphans_for(const struct sm_request *request)
{
	struct keys *keys = request->sm->keys;
	uint64_t now = actor_now(request->sm->actor);

	if (now - keys->orphans_ns >= LISTED_NS || !keys->switches) {
		list_orphans(keys);
		keys->orphans_ns = now;
	}
	return keys->orphans[kind_of(request, keys->switches)];
}

bool key_orphans_next(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct keys *keys = sm->keys;
	bool own = request->port == sm->builder->sm_port;
	struct key_attempt *attempt = &request->key;
	const GArray *orphans;
	uint32_t next;

	if (!sm->schedule.succeeded)
		return false; /* at first all are missing */
	orphans = orphans_for(request);
	if (!attempt->orphans_tried)
		attempt->orphans_first = keys->orphans_from;
	if (attempt->orphans_tried >= MIN(orphans->len, own ? OWN_TRIED_MAX : TRIED_MAX)) {
		keys->orphans_from = attempt->orphans_first + attempt->orphans_tried;
		return false; /* others next */
	}
	next = attempt->orphans_first + attempt->orphans_tried++;
	request->mad.m_key = g_array_index(orphans, uint64_t, next % orphans->len);
	return true;
}

void key_orphans_init(struct keys *keys)
{
	for (enum orphan_kind kind = 0; kind < ORPHAN_KINDS; kind++)
		keys->orphans[kind] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void key_orphans_free(struct keys *keys)
{
	for (enum orphan_kind kind = 0; kind < ORPHAN_KINDS; kind++)
		g_array_unref(keys->orphans[kind]);
	g_clear_pointer(&keys->switches, g_hash_table_unref);
}

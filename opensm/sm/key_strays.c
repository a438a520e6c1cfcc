// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keys of those that are missed. Where ports have different keys, a device that was moved is silent
 * behind its new cable from protection level 2 on, as nobody knows whose key to send there; and two
 * that changed places while they were given keys have each other's. So who does not answer any key
 * that is known of the cable, or was found to hide another than his own, is tried with those of
 * endports that should be somewhere and have no cable, or one of which the other end is not known,
 * and of those that hide theirs.
 */
#include "sm/keys.h"

#define STRAYS_MAX 32	   /* for one request */
#define OWN_STRAYS_MAX 128 /* without its own cable the SM has nothing else to do */
#define LISTED_NS (20 * NS_PER_MS)

struct stray {
	uint64_t guid, key;
};

struct listing {
	struct sm *sm;
	GHashTable *there; /* GUIDs of endports that cannot be meant */
};

/* Whether nobody knows who is at the other end of a cable of it, or it has none. */
static bool is_loose(const struct builder_node *node, unsigned int first, unsigned int last)
{
	bool has_cable = false;

	for (unsigned int num = first; num <= last; num++) {
		if (!node->ports[num].peer && link_is_up(&node->ports[num]))
			return true;
		has_cable |= node->ports[num].peer != NULL;
	}
	return !has_cable;
}

/*
 * Those that have all their cables; of the SM's own cable all channel adapters, for at its other
 * end there is a switch, which might be any if it was moved.
 */
static GHashTable *list_there(const struct builder *builder, bool own)
{
	GHashTable *there = g_hash_table_new(g_int64_hash, g_int64_equal);
	GHashTableIter iter;
	struct builder_node *node;

	g_hash_table_iter_init(&iter, builder->nodes);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&node)) {
		bool is_switch = builder_is_switch(node);
		unsigned int n = node->info.num_ports;

		if (is_switch && !own && !is_loose(node, 1, n))
			g_hash_table_add(there, &node->ports[0].guid);
		for (unsigned int num = 1; !is_switch && num <= n; num++)
			if (own || !is_loose(node, num, num))
				g_hash_table_add(there, &node->ports[num].guid);
	}
	return there;
}

/* A key that ports share is listed once, and not at all if it is tried anyway. */
static void add_stray(struct keys *keys, uint64_t guid, uint64_t key)
{
	struct stray stray = {guid, key};
	guint n = keys->strays->len;

	if (key == keys->sm->options->m_key ||
	    (n && g_array_index(keys->strays, struct stray, n - 1).key == key))
		return;
	g_array_append_val(keys->strays, stray);
}

static void list_key(void *arg, uint64_t guid, uint64_t key)
{
	const struct listing *listing = arg;
	struct keys *keys = listing->sm->keys;

	if (g_hash_table_contains(listing->there, &guid) && !keys_were_unknown(listing->sm, guid))
		return;
	add_stray(keys, guid, key);
	add_stray(keys, guid, key_ring_wanted(keys->ring, (struct key_port){guid, 0}));
}

static const GArray *list_strays(struct sm *sm, bool own)
{
	struct keys *keys = sm->keys;
	uint64_t now = actor_now(sm->actor);
	struct listing listing = {sm, NULL};

	if (keys->strays->len && keys->strays_own == own && now - keys->strays_ns < LISTED_NS)
		return keys->strays;
	keys->strays_ns = now;
	keys->strays_own = own;
	g_array_set_size(keys->strays, 0);
	listing.there = list_there(sm->builder, own);
	key_ring_each(keys->ring, list_key, &listing);
	g_hash_table_unref(listing.there);
	return keys->strays;
}

bool key_strays_next(struct sm_request *request)
{
	struct sm *sm = request->sm;
	bool own = request->beyond && request->port == sm->builder->sm_port;
	const struct stray *stray;
	const GArray *strays;

	if (!sm->schedule.succeeded)
		return false; /* at first all are missed */
	strays = list_strays(sm, own);
	if (!request->strays)
		request->strays_from = sm->keys->strays_from;
	if (request->strays >= MIN(strays->len, own ? OWN_STRAYS_MAX : STRAYS_MAX)) {
		sm->keys->strays_from = request->strays_from + request->strays; /* others next */
		return false;
	}
	stray = &g_array_index(strays, struct stray,
			       (request->strays_from + request->strays++) % strays->len);
	request->mad.m_key = stray->key;
	request->stray_of = stray->guid;
	return true;
}

void key_strays_met(const struct sm_request *request, struct key_port port)
{
	struct key_ring *ring = request->sm->keys->ring;
	uint64_t guid = request->stray_of;

	if (!guid || guid == port.guid)
		return;
	key_ring_likely(ring, (struct key_port){guid, 0}, key_ring_wanted(ring, port));
	key_unknown_again(request->sm, guid);
}

void key_strays_init(struct keys *keys)
{
	keys->strays = g_array_new(FALSE, FALSE, sizeof(struct stray));
}

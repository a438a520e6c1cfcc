// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Misdelivered keys. A Set that gives a port another key follows its route; if a cable on that was
 * moved since it was read, the Set reaches another port, which accepts the key and then rejects
 * requests without it. So the routes are kept for a while, and a silent node is tried with the keys
 * that were sent along a route that now leads to it. No node learns a key this way that was not
 * sent to it before.
 */
#include <string.h>

#include "complib/hash.h"
#include "sm/discover/discover.h"
#include "sm/keys/keys.h"
#include "sm/keys/keys_private.h"
#include "sm/smp/smp.h"

#define KEPT_NS (600 * NS_PER_S)
#define TRAILS_MAX 131072

struct trail {
	uint64_t guid; /* of the intended endport */
	uint8_t hops, path[64];
	uint64_t sent_ns; /* last */
};

static guint trail_hash(gconstpointer key)
{
	const struct trail *trail = key;
	guint hash = hash_uint64(&trail->guid);

	for (unsigned int i = 1; i <= trail->hops; i++)
		hash = hash * 31 + trail->path[i];
	return hash;
}

static gboolean trail_equal(gconstpointer a, gconstpointer b)
{
	const struct trail *x = a, *y = b;

	return x->guid == y->guid && x->hops == y->hops &&
	       !memcmp(x->path + 1, y->path + 1, x->hops);
}

/* A key that the port is not known to have, and no other port has. */
static bool gives_key(const struct sm_request *request)
{
	const struct builder_port *port = request->port;
	uint64_t key;

	if (request->mad.method != IBA_METHOD_SET || request->mad.attribute != IBA_ATTR_PORT_INFO ||
	    !request->sm->options->m_key_per_port || !port || port != keys_sma(request))
		return false;
	key = keys_given(request);
	return key && key != port->info.m_key;
}

void key_trails_note(const struct sm_request *request)
{
	const struct mad_route *route = &request->mad.route;
	struct keys *keys = request->sm->keys;
	struct trail *trail;

	if (!gives_key(request) || !route->hops ||
	    g_hash_table_size(keys->trails) >= TRAILS_MAX)
		return;
	trail = g_new0(struct trail, 1);
	trail->guid = request->port->guid;
	trail->hops = route->hops;
	memcpy(trail->path, route->path, sizeof(trail->path));
	trail->sent_ns = actor_now(request->sm->actor);
	g_hash_table_replace(keys->trails, trail, trail);
}

/* Or the device there as reported by one end of a cable, before the other end confirms it. */
static const struct builder_port *other_end(const struct builder_port *port)
{
	return port->peer ? port->peer : builder_far_end(port);
}

/* Along the cables as they are known now. */
static bool leads_to(const struct trail *trail, const struct sm_request *request)
{
	const struct builder_node *node = request->sm->builder->sm_port->node;
	const struct builder_port *out = NULL, *end = NULL;

	for (unsigned int i = 1; i <= trail->hops; i++) {
		if (trail->path[i] > node->info.num_ports || (out && !end))
			return false;
		out = &node->ports[trail->path[i]];
		end = other_end(out);
		node = end ? end->node : node;
	}
	if (request->beyond)
		return out == request->port;
	return end && keys_sma_of(end) == keys_sma(request);
}

bool key_trails_find(const struct sm_request *request, struct key_port port)
{
	struct keys *keys = request->sm->keys;
	const struct trail *trail, *found = NULL;
	GHashTableIter iter;

	if (!request->sm->builder->sm_port)
		return false; /* where all routes begin */
	g_hash_table_iter_init(&iter, keys->trails);
	while (g_hash_table_iter_next(&iter, (void **)&trail, NULL))
		if (trail->guid != port.guid && (!found || trail->sent_ns > found->sent_ns) &&
		    leads_to(trail, request))
			found = trail;
	return found && key_ring_astray(keys->ring, port, (struct key_port){found->guid, 0});
}

static gboolean is_old(void *key, void *value, void *now)
{
	(void)key;
	return *(const uint64_t *)now - ((const struct trail *)value)->sent_ns >= KEPT_NS;
}

void key_trails_forget(struct keys *keys)
{
	uint64_t now = actor_now(keys->sm->actor);

	g_hash_table_foreach_remove(keys->trails, is_old, &now);
}

void key_trails_init(struct keys *keys)
{
	keys->trails = g_hash_table_new_full(trail_hash, trail_equal, NULL, g_free);
}

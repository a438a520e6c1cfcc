// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The M_Keys that requests carry: selected by key_ring.c for the port, which in turn learns from
 * the answers. A wrong key gets no answer, so a request that is out of retries is sent again with
 * the next key, if there is one. If it gets a PortInfo without the key, at protection level 1, it
 * is sent again at once.
 *
 * The device behind a cable is not known before it answers: it is assumed to be the one that was
 * there before, in this run or, by the file neighbors, in an earlier one.
 */
#include <string.h>

#include "sm/keys/keys.h"
#include "sm/keys/keys_private.h"
#include "sm/smp/smp.h"

#define AGAIN_NS (3 * NS_PER_S)
#define UNNAMED 0x100 /* in key_port.behind: the port itself, of which only the node is known */

bool keys_are_used(const struct options *options)
{
	return options->m_key || options->m_key_per_port;
}

static struct key_rule rule_of(const struct options *options, uint64_t generation)
{
	if (!options->m_key_per_port)
		return (struct key_rule){.m_key = options->m_key};
	return (struct key_rule){options->m_key, options->m_key_seed, generation};
}

struct key_rule keys_rule(const struct sm *sm)
{
	return rule_of(sm->options, sm->keys->generation);
}

void keys_go_on_from(struct sm *sm, const struct options *running)
{
	struct key_rule is = rule_of(running, sm->keys->generation), goal = keys_rule(sm);

	key_ring_set(sm->keys->ring, &is);
	sm->keys->goal = key_ring_new(&goal);
}

/* ---- the owner of a key ---- */

const struct builder_port *keys_sma_of(const struct builder_port *port)
{
	return builder_is_switch(port->node) ? &port->node->ports[0] : port;
}

static struct key_port key_port(const struct builder_port *port)
{
	const struct builder_port *sma = keys_sma_of(port);

	if (sma->guid)
		return (struct key_port){sma->guid, 0};
	return (struct key_port){port->node->guid, (uint16_t)(UNNAMED | sma->num)};
}

uint64_t keys_neighbour(const struct sm *sm, const struct builder_port *port)
{
	return neighbors_get(sm->keys->neighbors, key_port(port).guid, port->num);
}

static struct key_port key_port_beyond(const struct sm *sm, const struct builder_port *port)
{
	struct key_port before;
	uint64_t guid;

	if (port->peer)
		return key_port(port->peer);
	before = key_port(port);
	guid = keys_neighbour(sm, port);
	if (guid)
		return (struct key_port){guid, 0};
	return (struct key_port){before.guid, (uint16_t)(port->num + 1)};
}

/* The port of another SM that is queried by its LID. */
static struct key_port key_port_by_lid(const struct sm *sm, uint16_t lid)
{
	const struct builder_port *port = builder_port_by_lid(sm->builder, lid);

	return port ? key_port(port) : (struct key_port){0};
}

static struct key_port own_port(const struct sm *sm)
{
	return (struct key_port){sm->vendor ? vendor_port_guid(sm->vendor) : 0, 0};
}

struct builder_port *keys_sma(const struct sm_request *request)
{
	struct builder_node *node = request->node;

	if (request->beyond)
		return NULL;
	if (builder_is_switch(node))
		return &node->ports[0];
	return request->port ? request->port : node->entry; /* sm->local has neither */
}

/* As far as that is known before it answers. */
static struct key_port asked(const struct sm_request *request)
{
	const struct sm *sm = request->sm;
	const struct builder_port *sma = keys_sma(request);

	if (request->mad.lid_only)
		return key_port_by_lid(sm, request->mad.route.lid);
	if (request->beyond)
		return key_port_beyond(sm, request->port);
	return sma ? key_port(sma) : own_port(sm);
}

uint64_t keys_of_port(const struct sm *sm, const struct builder_port *port)
{
	return key_ring_first(sm->keys->ring, key_port(port));
}

uint64_t keys_wanted(const struct sm *sm, const struct builder_port *port)
{
	struct keys *keys = sm->keys;

	return key_ring_wanted(keys->goal ? keys->goal : keys->ring, key_port(port));
}

/* ---- requests ---- */

/* Another SM of the subnet may have moved on to other keys while this one was not master. */
static void follow_generation(struct sm *sm)
{
	struct keys *keys = sm->keys;

	key_ring_look_ahead(keys->ring, !sm_is_master(sm) || !sm->schedule.succeeded);
	if (key_ring_generation(keys->ring) <= keys->generation)
		return;
	keys->generation = key_ring_generation(keys->ring);
	key_memory_save_generation(sm, keys->generation, NULL, NULL);
}

static void give_key(struct sm_request *request, struct key_port port, uint64_t m_key)
{
	request->mad.m_key = m_key;
	request->key.changes = key_ring_changes(request->sm->keys->ring, port);
}

static void choose_key(struct sm_request *request)
{
	struct key_port port = asked(request);

	give_key(request, port, key_ring_first(request->sm->keys->ring, port));
}

static void follow_options(struct sm *sm)
{
	struct key_rule rule;

	if (sm->options->m_key_per_port)
		follow_generation(sm);
	rule = keys_rule(sm);
	key_ring_set(sm->keys->ring, &rule);
}

void keys_use(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct keys *keys = sm->keys;

	if (!sm->dry) /* in a dry run, ports have the previous keys */
		follow_options(sm);
	if (sm_request_is_outside(request) && actor_now(sm->actor) - keys->again_ns >= AGAIN_NS) {
		keys->again_ns = actor_now(sm->actor);
		key_ring_again(keys->ring);
	}
	atomic_store(&keys->own, key_ring_first(keys->ring, own_port(sm)));
	atomic_store(&keys->own_wanted, key_ring_wanted(keys->ring, own_port(sm)));
	choose_key(request);
}

/* ---- another key in flight ---- */

uint64_t keys_given(const struct sm_request *request)
{
	struct iba_port_info want;

	wire_decode(&iba_port_info_type, request->mad.data, &want);
	return want.m_key;
}

/* Whether it gives the port a key that it does not have yet. */
static bool gives_another(const struct sm_request *request, const struct builder_port *sma)
{
	return request->mad.method == IBA_METHOD_SET && request->port == sma &&
	       request->mad.attribute == IBA_ATTR_PORT_INFO &&
	       keys_given(request) != request->mad.m_key;
}

bool keys_wait(struct sm_request *request)
{
	GHashTable *changing = request->sm->keys->changing;
	struct builder_port *sma = keys_sma(request);
	GPtrArray *waiting = sma ? g_hash_table_lookup(changing, sma) : NULL;

	/* It is sent again; or others wait for its result. */
	if (request->key.gives_another || request->sender == REQUEST_FAULT_PROBE)
		return false;
	if (waiting) {
		g_ptr_array_add(waiting, request);
		return true;
	}
	request->key.gives_another = sma && gives_another(request, sma);
	if (request->key.gives_another)
		g_hash_table_insert(changing, sma, g_ptr_array_new());
	return false;
}

GPtrArray *keys_settle(const struct sm_request *request)
{
	GPtrArray *waiting = NULL;

	if (request->key.gives_another)
		g_hash_table_steal_extended(request->sm->keys->changing, request->port, NULL,
					    (gpointer *)&waiting);
	for (guint i = 0; waiting && i < waiting->len; i++)
		choose_key(waiting->pdata[i]);
	return waiting;
}

static gint by_place(gconstpointer a, gconstpointer b)
{
	const struct builder_port *x = a, *y = b;

	if (x->node->guid != y->node->guid)
		return x->node->guid < y->node->guid ? -1 : 1;
	return (gint)x->num - (gint)y->num;
}

static void forget(GPtrArray *waiting, bool outside_too, GPtrArray *forgotten)
{
	for (guint i = waiting->len; i-- > 0;) {
		struct sm_request *request = waiting->pdata[i];

		if (sm_request_is_outside(request) && !outside_too)
			continue;
		g_ptr_array_remove_index(waiting, i);
		g_ptr_array_add(forgotten, request);
	}
}

GPtrArray *keys_forget(struct sm *sm, bool outside_too)
{
	GHashTable *changing = sm->keys->changing;
	g_autoptr(GList) ports = g_list_sort(g_hash_table_get_keys(changing), by_place);
	GPtrArray *forgotten = g_ptr_array_new();

	key_ring_again(sm->keys->ring);
	for (const GList *at = ports; at; at = at->next)
		forget(g_hash_table_lookup(changing, at->data), outside_too, forgotten);
	return forgotten;
}

/* ---- results ---- */

/*
 * Below protection level 2 a Get needs no key: without an answer it was lost. But another SM may
 * have given a key, and a level, to a port that had none.
 */
static bool takes_any(const struct sm_request *request, const struct builder_port *sma)
{
	return request->mad.method == IBA_METHOD_GET && sma && sma->known && sma->info.m_key &&
	       sma->info.m_key_protect_bits <= KEY_HIDES;
}

/* Another key has been found since it was sent: it is no evidence of its own. */
static bool is_superseded(const struct sm_request *request, struct key_port port)
{
	const struct key_ring *ring = request->sm->keys->ring;

	return request->key.changes != key_ring_changes(ring, port) &&
	       request->mad.m_key != key_ring_first(ring, port);
}

/* The next key of that port, and then, if its device is unknown, those of missing ports. */
static bool try_another(struct sm_request *request)
{
	struct key_ring *ring = request->sm->keys->ring;
	struct key_port port = asked(request);

	if (request->mad.lid_only && !port.guid)
		return false;
	if (!request->key.orphans_tried && is_superseded(request, port))
		choose_key(request); /* the one that was found meanwhile */
	else if (!request->key.orphans_tried && key_ring_failed(ring, port, request->mad.m_key))
		give_key(request, port, key_ring_for(ring, port));
	else if (!request->beyond || !key_orphans_next(request))
		return false;
	request->key.is_second = true;
	return true;
}

bool keys_try_another(struct sm_request *request)
{
	if (request->phase == REQUEST_NO_ROUTE ||
	    (request->mad.result == MAD_TIMEOUT && takes_any(request, keys_sma(request))))
		return false;
	return try_another(request);
}

void keys_try_likeliest(struct sm_request *request)
{
	choose_key(request);
}

bool keys_try_given(struct sm_request *request)
{
	uint64_t key = request->key.gives_another ? keys_given(request) : 0;

	if (!key || key == request->mad.m_key)
		return false;
	request->mad.m_key = key;
	return true;
}

/* PortInfo of an endport shows the M_Key, that of other ports of a switch does not. */
static bool has_key(const struct sm_request *request)
{
	return request->mad.attribute == IBA_ATTR_PORT_INFO && request->mad.result == MAD_OK &&
	       request->port && (!builder_is_switch(request->node) || request->port->num == 0);
}

bool keys_read_again(struct sm_request *request)
{
	struct iba_port_info info;

	if (request->mad.method != IBA_METHOD_GET || !has_key(request) || request->mad.lid_only)
		return false;
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	if (info.m_key || info.m_key_protect_bits != KEY_HIDES)
		return false;
	if (request->mad.m_key == keys_of_port(request->sm, request->port))
		key_ring_doubt(request->sm->keys->ring, asked(request));
	if (!try_another(request))
		return false;
	memset(request->mad.data, 0, sizeof(request->mad.data));
	return true;
}

/* It was sent before the port got another key, and answered after that. */
static bool is_outdated(const struct sm_request *request, struct key_port port)
{
	bool gave_key = request->mad.method == IBA_METHOD_SET && has_key(request);

	return !gave_key && request->key.changes != key_ring_changes(request->sm->keys->ring, port);
}

/* By now the device has identified itself; sma is what is known of it, or NULL. */
static struct key_port answered(const struct sm_request *request, const struct builder_port **sma)
{
	const struct builder_node *node;
	struct iba_node_info info;
	unsigned int num;

	*sma = keys_sma(request);
	if (!request->beyond || request->mad.result != MAD_OK)
		return asked(request);
	wire_decode(&iba_node_info_type, request->mad.data, &info);
	node = builder_find(request->sm->builder, info.node_guid);
	num = info.node_type == IBA_NODE_SWITCH ? 0 : info.local_port_num;
	if (node && num <= node->info.num_ports)
		*sma = &node->ports[num];
	return (struct key_port){info.port_guid, 0};
}

/* From an SMA, which checks the key: an SM answers SMInfo with any key. */
static bool has_answered(const struct mad_request *mad)
{
	return (mad->result == MAD_OK || mad->result == MAD_STATUS) &&
	       mad->attribute != IBA_ATTR_SM_INFO;
}

/*
 * Another SM correctly removed the key from the own port, and nothing needs to be hidden any more.
 * At the level that hides keys the port may have a key that this SM does not know. For other ports
 * this does not matter: those without a key accept any.
 */
static bool own_lost_key(const struct sm *sm, struct key_port port,
			 const struct iba_port_info *info)
{
	struct key_ring *ring = sm->keys->ring;

	return port.guid == own_port(sm).guid && !info->m_key &&
	       info->m_key_protect_bits != KEY_HIDES && key_ring_first(ring, port) &&
	       !key_ring_wanted(ring, port);
}

void keys_answered(const struct sm_request *request)
{
	const struct mad_request *mad = &request->mad;
	struct key_ring *ring = request->sm->keys->ring;
	bool tells = has_key(request);
	const struct builder_port *sma;
	struct iba_port_info info = {0};
	struct key_port port;

	if (!has_answered(mad))
		return;
	port = answered(request, &sma);
	if (!port.guid || (!request->beyond && is_outdated(request, port)))
		return;
	if (tells)
		wire_decode(&iba_port_info_type, mad->data, &info);
	if (info.m_key)
		key_ring_told(ring, port, info.m_key);
	else if (mad->method == IBA_METHOD_SET)
		key_ring_worked(ring, port, tells ? 0 : mad->m_key);
	else if (tells && own_lost_key(request->sm, port, &info))
		key_ring_likely(ring, port, 0);
	else if (request->key.is_second && !tells && !takes_any(request, sma))
		key_ring_likely(ring, port, mad->m_key);
}

void keys_joined(struct sm *sm, const struct builder_port *port, const struct builder_port *far)
{
	const struct keys *keys = sm->keys;
	struct key_port here = key_port(port), there = key_port(far);

	if (here.behind || there.behind)
		return;
	neighbors_set(keys->neighbors, here.guid, port->num, there.guid, far->num);
}

uint64_t keys_generation(const struct sm *sm)
{
	return sm->keys->generation;
}

void keys_begin_generation(struct sm *sm, uint64_t generation)
{
	struct key_rule rule;

	sm->keys->generation = generation;
	log_info(sm->log, "M_Keys of ports: generation %" G_GUINT64_FORMAT, generation);
	rule = keys_rule(sm);
	key_ring_set(sm->keys->ring, &rule);
}

bool keys_protect(const struct sm *sm)
{
	return atomic_load(&sm->keys->own) || atomic_load(&sm->keys->own_wanted);
}

bool keys_shown(struct sm *sm, uint64_t m_key)
{
	uint64_t own = atomic_load(&sm->keys->own), wanted = atomic_load(&sm->keys->own_wanted);

	return (!own && !wanted) || (m_key && (m_key == own || m_key == wanted));
}

/* ---- life ---- */

/* Ports may have a key of the previous generation, or the shared one from before. */
static void begin_with_older_rules(struct sm *sm)
{
	struct keys *keys = sm->keys;
	struct key_rule rule = keys_rule(sm);
	uint64_t generation = rule.generation;
	uint64_t back = rule.seed ? MIN(generation, KEY_RING_PREVIOUS - 1) : 0;

	do {
		rule.generation = generation - back;
		key_ring_set(keys->ring, &rule);
	} while (back--);
}

void keys_init(struct sm *sm)
{
	struct key_rule plain = {.m_key = sm->options->m_key};
	struct keys *keys = g_new0(struct keys, 1);

	sm->keys = keys;
	keys->sm = sm;
	keys->ring = key_ring_new(&plain);
	keys->neighbors = neighbors_new();
	keys->changing = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
	if (sm->context->cache_dir && sm->options->m_key_lookup)
		keys->directory = g_strdup(sm->context->cache_dir);
	key_memory_load(sm);
	if (sm->options->m_key_per_port)
		log_info(sm->log, "M_Keys of ports: made of %s, generation %" G_GUINT64_FORMAT,
			 sm->options->m_key_seed_file, keys->generation);
	begin_with_older_rules(sm);
	key_orphans_init(keys);
}

void keys_free(struct sm *sm)
{
	struct keys *keys = sm->keys;

	key_orphans_free(keys);
	g_hash_table_unref(keys->changing);
	key_ring_free(keys->ring);
	key_ring_free(keys->goal);
	neighbors_free(keys->neighbors);
	g_free(keys->directory);
	g_free(keys);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports whose M_Key this SM does not know, such as those of another administrator. At protection
 * level 1 they answer Gets, but hide the key and accept no Set; routes through them would lead
 * nowhere. They are treated as absent: their cables are excluded, their names are in the log and in
 * "status". A port without a key looks the same, but accepts a Set:
 *
 *	hidden key --+-- this SM is master: excluded, JUDGING by a Set beside the sweep
 *	             +-- not yet: accepted, until a Set of the sweep is not answered, and it is
 *	                 that device that is there: CLOSED; an SM that does not know whether it can
 *	                 lead has its neighbour JUDGING first (outlook.c)
 *	JUDGING -- answered --> OPEN: accepted            -- not answered --> CLOSED: excluded
 *	CLOSED -- read again, later each time, judged again after JUDGED_NS; each time if the key
 *	          has a lease, which only that Set begins: it ends if its owner has gone (14.2.4)
 *	any -- PortInfo shows the key, or there is no protection --> forgotten
 *
 * From level 2 on they are silent: no device answers behind their cable (discover.c).
 */
#include <string.h>

#include "complib/hash.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp_private.h"

/* It may have been loss: the first interval, which doubles each time, and the longest. */
#define LEFT_OUT_FIRST_NS (10 * NS_PER_S)
#define LEFT_OUT_NS (60 * NS_PER_S)
#define JUDGED_NS (600 * NS_PER_S)
#define JUDGED_TRIES 3
#define NAMED_NS (300 * NS_PER_MS) /* minimum time between two queries of its NodeInfo */
#define UNKNOWN_MAX 65536	   /* the most endports that a subnet can have */

enum state { OPEN, JUDGING, CLOSED };

struct unknown {
	uint64_t guid;
	char *text;
	enum state state;
	uint64_t left_out_ns, judged_ns, named_ns;
	uint64_t judged_sweep; /* serial of the sweep that waited for it */
	unsigned int times;    /* how often it was excluded */
};

struct unknown_keys {
	GHashTable *ports; /* GUID of an endport -> struct unknown, owned */
	bool some_take;	   /* a port that seemed to hide an M_Key has none: it accepted a Set */
};

static void unknown_free(void *arg)
{
	struct unknown *unknown = arg;

	g_free(unknown->text);
	g_free(unknown);
}

static bool hides(const struct iba_port_info *info)
{
	return !info->m_key && info->m_key_protect_bits == KEY_HIDES;
}

/* "NAME (0xGUID) port 1, behind NAME (0xGUID) port 3: unknown M_Key" */
static char *describe(const struct builder_port *port)
{
	const struct builder_port *entry = builder_is_switch(port->node) ? port->node->entry : port;
	const struct builder_port *before = entry ? entry->peer : NULL;
	char name[SM_NAME_SIZE], other[SM_NAME_SIZE] = "an unknown node";

	if (before)
		sm_node_name(before->node, other, sizeof(other));
	return g_strdup_printf("%s port %u, behind %s port %u: unknown M_Key",
			       sm_node_name(port->node, name, sizeof(name)), port->num, other,
			       before ? before->num : 0);
}

static void leave_cable(struct builder_port *port)
{
	struct builder_port *peer = port->peer;

	if (!peer)
		return;
	builder_lose_link(port);
	builder_cable(port, CABLE_EVENT_EXCLUDED);
	builder_cable(peer, CABLE_EVENT_EXCLUDED);
	if (builder_is_switch(peer->node))
		builder_mark(peer->node);
}

static void leave_out(struct sm *sm, struct builder_port *port)
{
	struct builder_node *node = port->node;

	if (!builder_is_switch(node))
		leave_cable(port);
	for (unsigned int num = 1; builder_is_switch(node) && num <= node->info.num_ports; num++)
		leave_cable(&node->ports[num]);
	sweep_want(sm, SWEEP_CHANGE);
}

static struct unknown *find(const struct sm *sm, uint64_t guid)
{
	return g_hash_table_lookup(sm->smp->unknown_keys->ports, &guid);
}

static void set_state(struct sm *sm, struct unknown *unknown, enum state state)
{
	if (unknown->state == state)
		return;
	if (state == CLOSED)
		log_error(sm->log, "%s: excluded", unknown->text);
	if (state == CLOSED || unknown->state == CLOSED)
		counter_add(&sm->context->counters, m_keys_unknown,
			    state == CLOSED ? 1 : UINT64_MAX);
	unknown->state = state;
}

static void forget(struct sm *sm, struct unknown *unknown)
{
	set_state(sm, unknown, OPEN);
	g_hash_table_remove(sm->smp->unknown_keys->ports, &unknown->guid);
}

static struct unknown *get(struct sm *sm, const struct builder_port *port)
{
	struct unknown *unknown = find(sm, port->guid);

	if (unknown || !port->guid ||
	    g_hash_table_size(sm->smp->unknown_keys->ports) >= UNKNOWN_MAX)
		return unknown;
	unknown = g_new0(struct unknown, 1);
	unknown->guid = port->guid;
	unknown->text = describe(port);
	g_hash_table_insert(sm->smp->unknown_keys->ports, &unknown->guid, unknown);
	return unknown;
}

bool keys_were_unknown(const struct sm *sm, uint64_t guid)
{
	return find(sm, guid) != NULL;
}

static void note_left_out(struct sm *sm, struct unknown *unknown)
{
	unknown->left_out_ns = actor_now(sm->actor);
	unknown->times++;
}

static bool is_due(const struct sm *sm, const struct unknown *unknown)
{
	uint64_t wait = LEFT_OUT_FIRST_NS << MIN(unknown->times - 1, 10u);

	return actor_now(sm->actor) - unknown->left_out_ns >= MIN(wait, LEFT_OUT_NS);
}

bool keys_exclude(struct sm *sm, struct builder_port *port, uint64_t guid)
{
	const struct unknown *unknown = find(sm, guid);

	if (!unknown || unknown->state == OPEN || is_due(sm, unknown) || !sm_is_master(sm))
		return false;
	builder_lose_link(port);
	builder_cable(port, CABLE_EVENT_EXCLUDED);
	return true;
}

/* An answer, whatever its status, or silence to a Set that was really sent. */
static bool is_evidence(const struct sm_request *request)
{
	if (request->mad.result == MAD_TIMEOUT)
		return request->mad.sent && request->phase != REQUEST_NO_ROUTE;
	return request->mad.result != MAD_CANCELLED;
}

/* NULL: nothing is decided. A probe that was cancelled or not sent may be repeated at once. */
static struct unknown *take_judgement(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct unknown *unknown = find(sm, keys_sma(request)->guid);

	if (!unknown)
		return NULL;
	if (!is_evidence(request)) {
		unknown->judged_ns = 0;
		return NULL;
	}
	set_state(sm, unknown, request->mad.result == MAD_TIMEOUT ? CLOSED : OPEN);
	sm->smp->unknown_keys->some_take |= unknown->state == OPEN;
	return unknown;
}

/* The sweep that sent the probe waits for it. */
static void on_probed(struct sm_request *request)
{
	take_judgement(request);
}

static void on_judged(struct sm_request *request)
{
	struct sm *sm = request->sm;
	const struct unknown *unknown = take_judgement(request);

	if (!unknown)
		return;
	/* Either the device is queried again, or its exclusion is published. */
	sweep_want(sm, unknown->state == OPEN ? SWEEP_LIGHT : SWEEP_CHANGE);
}

/*
 * The Set keeps all as it is; an error status is an answer, too. Enabled widths and speeds are not
 * written, even as they are: that might train the link again.
 */
static struct sm_request *judgement(struct sm *sm, struct builder_port *port,
				    const struct iba_port_info *info, struct unknown *unknown)
{
	struct iba_port_info stays = *info;
	struct sm_request *request;

	stays.link_width_enabled = stays.link_speed_enabled = 0;
	stays.link_speed_ext_enabled = stays.link_speed_ext_enabled2 = 0;
	stays.port_state = stays.port_physical_state = stays.link_down_default_state = 0;
	request = sm_request_port_set(sm, port, &stays);
	unknown->judged_ns = actor_now(sm->actor);
	request->done = on_judged;
	return request;
}

static void judge(struct sm *sm, struct builder_port *port, const struct iba_port_info *info,
		  struct unknown *unknown)
{
	struct sm_request *request = judgement(sm, port, info, unknown);

	request->sender = REQUEST_OUTSIDE_SWEEP;
	sm_request_send(request);
}

/* The key of a port with a lease may expire any time: only a Set starts that. */
static bool may_be_judged(const struct sm *sm, const struct unknown *unknown,
			  const struct iba_port_info *info)
{
	return !unknown->judged_ns || info->m_key_lease_period ||
	       actor_now(sm->actor) - unknown->judged_ns >= JUDGED_NS;
}

bool keys_bar(const struct sm *sm, const struct builder_port *port)
{
	const struct unknown *unknown = find(sm, port->guid);

	if (!port->known || !hides(&port->info))
		return false;
	return unknown && unknown->judged_ns ? unknown->state != OPEN
					     : !sm->smp->unknown_keys->some_take;
}

/* Once a sweep: otherwise the sweep that sent it has no answer. */
bool keys_judge(struct sm *sm, struct builder_port *port)
{
	struct unknown *unknown = get(sm, port);
	struct sm_request *request;

	if (!unknown || unknown->judged_sweep == sm->sweep.serial ||
	    !may_be_judged(sm, unknown, &port->info))
		return false;
	unknown->judged_sweep = sm->sweep.serial;
	request = judgement(sm, port, &port->info, unknown);
	request->sender = REQUEST_FAULT_PROBE;
	request->done = on_probed;
	request->mad.tries = JUDGED_TRIES;
	sm_request_send(request);
	return true;
}

unsigned int keys_count_excluded(const struct sm *sm)
{
	GHashTableIter iter;
	const struct unknown *unknown;
	unsigned int n = 0;

	g_hash_table_iter_init(&iter, sm->smp->unknown_keys->ports);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&unknown))
		n += unknown->state != OPEN && unknown->times;
	return sm_is_master(sm) ? n : 0; /* only a master excludes ports */
}

bool keys_still_unknown(struct sm *sm, struct builder_port *port, const struct iba_port_info *info)
{
	struct unknown *unknown = find(sm, port->guid);

	if (!hides(info)) {
		if (unknown)
			forget(sm, unknown);
		return false;
	}
	if (!sm_is_master(sm) || port == sm->builder->sm_port)
		return false;
	if (!unknown && !port->known) {
		unknown = get(sm, port);
		if (unknown)
			unknown->state = JUDGING;
	}
	if (!unknown || unknown->state == OPEN)
		return false;
	if (may_be_judged(sm, unknown, info))
		judge(sm, port, info, unknown);
	note_left_out(sm, unknown);
	leave_out(sm, port);
	return true;
}

/* The answer came from the intended device, so the key that it hides is not known here. */
static void on_named(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *port = keys_sma(request);
	struct unknown *unknown = find(sm, port->guid);

	if (!unknown)
		return;
	if (!sm_request_ok(request) || !request->node->builder || !identity_is_same(request)) {
		forget(sm, unknown);
		return;
	}
	unknown->judged_ns = actor_now(sm->actor);
	note_left_out(sm, unknown);
	set_state(sm, unknown, CLOSED);
	leave_out(sm, port);
}

/* Checks its NodeInfo: behind a moved cable there is another device, with its own key. */
static void ask_name(struct sm *sm, struct builder_port *port, struct unknown *unknown)
{
	struct sm_request *request;
	uint64_t now = actor_now(sm->actor);

	if (unknown->named_ns && now - unknown->named_ns < NAMED_NS)
		return;
	unknown->named_ns = now;
	request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	request->sender = REQUEST_FAULT_PROBE;
	request->done = on_named;
	sm_request_send(request);
}

bool keys_refused(const struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct builder_port *port = keys_sma(request);
	struct unknown *unknown;

	if (request->mad.method != IBA_METHOD_SET || request->mad.result != MAD_TIMEOUT ||
	    request->phase == REQUEST_NO_ROUTE || !port || !port->known || !hides(&port->info) ||
	    port == sm->builder->sm_port)
		return false;
	unknown = get(sm, port);
	if (!unknown)
		return false;
	ask_name(sm, port, unknown);
	return true;
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **keys_tell_unknown(const struct sm *sm)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	GHashTableIter iter;
	struct unknown *unknown;

	g_hash_table_iter_init(&iter, sm->smp->unknown_keys->ports);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&unknown))
		if (unknown->state == CLOSED)
			g_ptr_array_add(lines, g_strdup(unknown->text));
	g_ptr_array_sort(lines, by_text);
	g_ptr_array_add(lines, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&lines), FALSE);
}

struct unknown_keys *unknown_keys_new(void)
{
	struct unknown_keys *unknown = g_new0(struct unknown_keys, 1);

	unknown->ports = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, unknown_free);
	return unknown;
}

void unknown_keys_free(struct unknown_keys *unknown)
{
	g_hash_table_unref(unknown->ports);
	g_free(unknown);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Targets: each has a queue. Those with something to send and fewer than TARGET_WINDOW requests in
 * flight are in a ring and are served in turn.
 *
 * A target that does not answer is sent one request repeatedly and no new ones; other requests that
 * were in flight wait. If that request fails, its queue fails with it, so a dead target costs as
 * much as one request. A Set waits for an older one of the same block: a late try of that one could
 * undo it. Nothing is sent to a target beside a request that takes it long.
 *
 * A target slower than all others is sent one request at a time, as its SMA handles them one after
 * the other, with waits as long as it needs: each further try would be another request that it has
 * to serve. The target is remembered as slow while nothing is sent to it.
 */
#include <string.h>

#include "complib/hash.h"
#include "mad/mad_private.h"

#define SLOW_NS (50 * NS_PER_MS) /* faster targets may be sent several requests at a time */
#define SLOW_WAIT_MAX_MS 2000
#define PAIRS 4 /* each time after this many answers two are sent, to find out if it is far */
#define REMEMBERED_NS (60 * NS_PER_S) /* its SMA may have been replaced by then */
#define REMEMBERED_MAX 4096	      /* above this, targets not worth remembering are freed */

/* ---- slow targets ---- */

static bool is_slow_at(const struct mad *mad, const struct rtt *rtt)
{
	return rtt->smoothed >= SLOW_NS &&
	       rtt_expected_ms(rtt) > rtt_wait_ms(&mad->rtt, 0, mad->timeout_ms);
}

bool target_is_slow(const struct mad *mad, const struct target *target)
{
	return target->heard_ns &&
	       (is_slow_at(mad, &target->gets) || is_slow_at(mad, &target->sets));
}

unsigned int target_wait_ms(const struct target *target, uint8_t method, unsigned int n)
{
	bool set = method == IBA_METHOD_SET ? target->sets.smoothed : !target->gets.smoothed;
	uint64_t ms = rtt_expected_ms(set ? &target->sets : &target->gets);

	return MIN(MAX(ms, RTT_WAIT_MIN_MS) << MIN(n, 8), SLOW_WAIT_MAX_MS);
}

static void forget_time(struct target *target)
{
	target->heard_ns = 0;
	target->gets = target->sets = (struct rtt){0};
	target->far = false;
}

void target_took(struct mad *mad, struct target *target, uint8_t method, uint64_t took_ns,
		 bool late)
{
	bool slow = target_is_slow(mad, target);
	uint64_t now = actor_now(mad->actor);

	target->shortest_ns = slow ? MIN(target->shortest_ns, took_ns) : took_ns;
	if (now - took_ns < target->answered_ns) { /* both requests were pending then */
		uint64_t since_ns = now - target->answered_ns;

		target->far = since_ns < target->shortest_ns / 2;
		took_ns = target->far ? took_ns : since_ns;
	}
	target->answered_ns = now;
	if (!slow)
		rtt_sample_of_many(&mad->rtt, took_ns);
	if (!late && !slow) {
		forget_time(target);
		return;
	}
	rtt_sample(method == IBA_METHOD_SET ? &target->sets : &target->gets, took_ns);
	target->heard_ns = now;
}

/* ---- the ring ---- */

/* older: was in flight, or NULL if that has just come back. */
static bool is_older_set(const struct mad_request *older, const struct mad_request *set)
{
	return older && older->method == IBA_METHOD_SET && older->attribute == set->attribute &&
	       older->modifier == set->modifier;
}

static bool waits_for_older(const struct target *target, const struct mad_request *request)
{
	if (request->method != IBA_METHOD_SET)
		return false;
	for (unsigned int i = 0; i < target->in_flight; i++)
		if (is_older_set(target->flight[i]->request, request))
			return true;
	return false;
}

/* Its SMA would serve anything else only after that. */
static bool is_kept_busy(const struct target *target)
{
	for (unsigned int i = 0; i < target->in_flight; i++)
		if (target->flight[i]->request && target->flight[i]->request->takes_long)
			return true;
	return false;
}

static bool can_send(const struct mad *mad, const struct target *target)
{
	unsigned int most = TARGET_WINDOW;

	if (target_is_slow(mad, target) && !target->far)
		most = target->answers % PAIRS ? 1 : 2;

	return target->first && target->in_flight < most && !target->silent &&
	       !is_kept_busy(target) && !waits_for_older(target, target->first);
}

static void ring_add(struct mad *mad, struct target *target)
{
	if (target->in_ring || !can_send(mad, target))
		return;
	target->in_ring = true;
	target->next = NULL;
	if (mad->ring_last)
		mad->ring_last->next = target;
	else
		mad->ring_first = target;
	mad->ring_last = target;
}

static struct target *ring_take(struct mad *mad)
{
	struct target *target = mad->ring_first;

	if (!target)
		return NULL;
	mad->ring_first = target->next;
	if (!mad->ring_first)
		mad->ring_last = NULL;
	target->in_ring = false;
	return target;
}

static bool is_idle(const struct target *target)
{
	return !target->in_ring && !target->in_flight && !target->first;
}

/* Whether it can be forgotten: it is not slow, or has not answered for long. */
static gboolean is_forgotten(gpointer key, gpointer value, gpointer arg)
{
	const struct mad *mad = arg;
	const struct target *target = value;

	(void)key;
	return is_idle(target) && (!target_is_slow(mad, target) ||
				   actor_now(mad->actor) - target->heard_ns > REMEMBERED_NS);
}

/* A target in the ring is freed when it leaves the ring. */
void target_let_go(struct mad *mad, struct target *target)
{
	if (!is_idle(target))
		return;
	if (!is_forgotten(NULL, target, mad) && g_hash_table_size(mad->targets) > REMEMBERED_MAX)
		g_hash_table_foreach_remove(mad->targets, is_forgotten, mad);
	else if (is_forgotten(NULL, target, mad))
		g_hash_table_remove(mad->targets, &target->key);
}

struct target *target_next(struct mad *mad)
{
	struct target *target;

	while ((target = ring_take(mad))) {
		if (can_send(mad, target))
			return target;
		target_let_go(mad, target); /* its state changed while it was in the ring */
	}
	return NULL;
}

/* ---- the queue ---- */

static void append(struct target *target, struct mad_request *request)
{
	request->next = NULL;
	if (target->last)
		target->last->next = request;
	else
		target->first = request;
	target->last = request;
}

struct target *target_get(struct mad *mad, const struct target_key *key)
{
	struct target *target = g_hash_table_lookup(mad->targets, key);

	if (!target) {
		target = g_new0(struct target, 1);
		target->key = *key;
		g_hash_table_insert(mad->targets, &target->key, target);
	}
	return target;
}

void target_enqueue(struct mad *mad, struct mad_request *request)
{
	struct target_key key = {request->target, request->target_port};
	struct target *target = target_get(mad, &key);

	if (actor_now(mad->actor) - target->heard_ns > REMEMBERED_NS)
		forget_time(target);
	append(target, request);
	counter_inc(&mad->context->counters, smp_waiting);
	ring_add(mad, target);
}

void target_requeue(struct mad *mad, struct target *target, struct mad_request *request)
{
	struct mad_request **at = &target->first;

	while (*at && (*at)->sent) /* requests put back earlier */
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	if (!request->next)
		target->last = request;
	counter_inc(&mad->context->counters, smp_waiting);
}

static struct mad_request *take_first(struct target *target)
{
	struct mad_request *request = target->first;

	target->first = request->next;
	if (!target->first)
		target->last = NULL;
	return request;
}

void target_dequeue(struct mad *mad, struct target *target, struct transaction *transaction)
{
	transaction->request = take_first(target);
	target->flight[target->in_flight++] = transaction;
	counter_add(&mad->context->counters, smp_waiting, -1);
	ring_add(mad, target);
}

struct mad_request *target_take(struct mad *mad, struct target *target,
				bool (*pick)(const struct mad_request *request, const void *arg),
				const void *arg)
{
	struct mad_request *before = NULL, *request = target->first;

	for (; request && !pick(request, arg); request = request->next)
		before = request;
	if (!request)
		return NULL;
	if (before)
		before->next = request->next;
	else
		target->first = request->next;
	if (!request->next)
		target->last = before;
	counter_add(&mad->context->counters, smp_waiting, -1);
	return request;
}

void target_flush(struct mad *mad, struct target *target, enum mad_result result, bool dead,
		  bool (*pick)(const struct mad *mad, const struct mad_request *request,
			       const void *arg),
		  const void *arg)
{
	struct mad_request *request = target->first;

	target->first = target->last = NULL;
	while (request) {
		struct mad_request *next = request->next;

		if (pick(mad, request, arg)) {
			counter_add(&mad->context->counters, smp_waiting, -1);
			request->result = result;
			request->dead = dead;
			mad_hand_back(request);
		} else {
			append(target, request);
		}
		request = next;
	}
	ring_add(mad, target); /* another request may be the first now */
}

static bool is_cancelled(const struct mad *mad, const struct mad_request *request, const void *arg)
{
	(void)arg;
	return mad_is_cancelled(mad, request);
}

void target_cancel(struct mad *mad)
{
	GHashTableIter iter;
	struct target *target;

	g_hash_table_iter_init(&iter, mad->targets);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&target))
		target_flush(mad, target, MAD_CANCELLED, false, is_cancelled, NULL);
}

/* ---- what its transactions report ---- */

void target_answered(struct mad *mad, struct target *target)
{
	target->answers++;
	target->silent = false;
	ring_add(mad, target);
}

static bool has_overdue(const struct target *target)
{
	for (unsigned int i = 0; i < target->in_flight; i++)
		if (target->flight[i]->overdue)
			return true;
	return false;
}

void target_release(struct mad *mad, struct target *target, const struct transaction *transaction)
{
	unsigned int i = 0;

	while (target->flight[i] != transaction)
		i++;
	target->flight[i] = target->flight[--target->in_flight];
	target->silent = target->silent && has_overdue(target);
	ring_add(mad, target);
	target_let_go(mad, target);
}

/* ---- all of them ---- */

static guint target_hash(gconstpointer key)
{
	const struct target_key *target = key;

	return hash_uint64(&target->guid) + (guint)target->port;
}

static gboolean target_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct target_key));
}

void target_named(struct mad *mad, const struct target *target, const struct mad_request *answered,
		  bool late)
{
	struct target_key key = {0};
	struct iba_node_info info;
	struct target *named;

	if (answered->attribute != IBA_ATTR_NODE_INFO || answered->result != MAD_OK ||
	    !target->heard_ns)
		return;
	wire_decode(&iba_node_info_type, answered->data, &info);
	key.guid = info.node_guid;
	key.port = info.node_type == IBA_NODE_SWITCH ? 0 : info.local_port_num;
	if (target_equal(&key, &target->key))
		return;
	named = target_get(mad, &key);
	if (!named->heard_ns) {
		named->gets = target->gets;
		named->sets = target->sets;
	}
	named->heard_ns = target->heard_ns;
	if (late)
		target_answered(mad, named);
	target_let_go(mad, named);
}

void target_init(struct mad *mad)
{
	mad->targets = g_hash_table_new_full(target_hash, target_equal, NULL, g_free);
}

void target_clear(struct mad *mad)
{
	GHashTableIter iter;
	struct target *target;

	g_hash_table_iter_init(&iter, mad->targets);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&target))
		while (target->first)
			mad_drop(take_first(target));
	g_hash_table_unref(mad->targets);
}

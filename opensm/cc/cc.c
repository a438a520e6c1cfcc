// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 *	published subnet, options, time --> round.c: agents in turn --- agent.c: what to ask, what
 *	                                       |                        answers mean --> mad_ask()
 *	                                    values.c: what is wanted    memory.c: what they had
 *	                                       |
 *	                                    report.c --> context->cc --> everyone else
 */
#include "cc/cc.h"

#include <string.h>

#include "cc/cc_private.h"
#include "complib/hash.h"

#define CHECK_NS (600 * NS_PER_S) /* a piece is read again, as others may change it */
#define CHECK_MIN_NS (5 * NS_PER_S)
#define SEED_TEXT "opensm CC_Key"

struct cc_agent *cc_agent_of(struct cc *cc, uint64_t guid)
{
	struct cc_agent *agent = g_hash_table_lookup(cc->agents, &guid);

	if (!agent) {
		agent = cc_agent_new(guid);
		g_hash_table_insert(cc->agents, &agent->guid, agent);
	}
	return agent;
}

/* ---- keys ---- */

/* Not the seed of M_Keys itself, so that no CC_Key is the M_Key of a port. */
static GBytes *seed_of(const struct options *options)
{
	uint8_t digest[32];
	gsize n = sizeof(digest), length;
	const uint8_t *octets;
	GHmac *hmac;

	if (options->cc_key_mode != CC_KEY_PER_PORT || !options->m_key_seed)
		return NULL;
	octets = g_bytes_get_data(options->m_key_seed, &length);
	hmac = g_hmac_new(G_CHECKSUM_SHA256, octets, length);
	g_hmac_update(hmac, (const guchar *)SEED_TEXT, strlen(SEED_TEXT));
	g_hmac_get_digest(hmac, digest, &n);
	g_hmac_unref(hmac);
	return g_bytes_new(digest, n);
}

static void set_rule(struct cc *cc)
{
	g_autoptr(GBytes) seed = seed_of(cc->options);
	const struct key_rule rule = {
		.m_key = cc->options->cc_key,
		.seed = seed,
		.generation = cc->generation,
	};

	if (cc->plan.keys)
		key_ring_set(cc->plan.keys, &rule);
	else
		cc->plan.keys = key_ring_new(&rule);
	key_ring_look_ahead(cc->plan.keys, seed != NULL);
}

static bool keys_rotate(const struct cc *cc)
{
	return cc->options->cc_key_update_interval &&
	       cc->options->cc_key_mode == CC_KEY_PER_PORT && cc->options->congestion_control;
}

static void start_rotation(struct cc *cc)
{
	if (keys_rotate(cc))
		timer_start(&cc->rotate,
			    cc->options->cc_key_update_interval * UINT64_C(60) * NS_PER_S);
	else
		timer_stop(&cc->rotate);
}

/* The generation is saved by the round, before the first port gets a key of it. */
static void next_generation(struct cc *cc)
{
	if (atomic_load(&cc->context->sm_state) != IBA_SM_MASTER ||
	    cc->options->cc_key_mode != CC_KEY_PER_PORT)
		return;
	cc->generation = MAX(cc->generation, key_ring_generation(cc->plan.keys)) + 1;
	cc->changed = true;
	set_rule(cc);
	cc_round_want(cc);
}

void cc_follow_generation(struct cc *cc)
{
	uint64_t found = key_ring_generation(cc->plan.keys);

	if (cc->options->cc_key_mode != CC_KEY_PER_PORT || found <= cc->generation)
		return;
	cc->generation = found;
	cc->changed = true;
	set_rule(cc);
}

static void on_rotate(struct timer *timer)
{
	struct cc *cc = container_of(timer, struct cc, rotate);

	start_rotation(cc);
	next_generation(cc);
}

/* ---- looking again ---- */

static bool keys_are_given(const struct cc *cc)
{
	return cc->options->congestion_control && cc->options->cc_key_mode != CC_KEY_SEND;
}

/* A MAD with the right key stops a lease that runs (A10.4.1). */
static uint64_t check_ns(const struct cc *cc)
{
	uint64_t lease_ns = cc->options->cc_key_lease_period * NS_PER_S;

	if (!keys_are_given(cc) || !lease_ns)
		return CHECK_NS;
	return CLAMP(lease_ns / 2, CHECK_MIN_NS, CHECK_NS);
}

/* One MAD an agent. A request for a piece bears the key, so it stops a lease as well. */
static void on_check(struct timer *timer)
{
	struct cc *cc = container_of(timer, struct cc, check);
	uint64_t now = actor_now(cc->actor);
	bool pieces = now >= cc->audited_ns + CHECK_NS;

	timer_start(&cc->check, check_ns(cc));
	if (pieces)
		cc->audited_ns = now;
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		if (agent->state != CC_RIGHT)
			continue;
		if (pieces)
			cc_agent_check_piece(agent);
		else if (keys_are_given(cc) && !agent->lacks_key)
			cc_agent_check_key(agent);
	}
	cc_round_want(cc);
}

static void on_retry(struct timer *timer)
{
	cc_round_want(container_of(timer, struct cc, retry));
}

/* ---- events ---- */

static void on_subnet(void *arg, uint64_t generation)
{
	(void)generation;
	cc_round_want(arg);
}

/* A new master's replica is empty: what is remembered here goes into it with the next round. */
static void on_sm_state(void *arg, uint64_t state)
{
	struct cc *cc = arg;

	if (state != IBA_SM_MASTER) {
		cc_round_cancel(cc);
		return;
	}
	cc->changed |= cc->order->len != 0;
	for (guint i = 0; i < cc->order->len; i++) /* another SM may have set them since */
		cc_agent_forget(cc->order->pdata[i]);
}

static void on_adopted(void *arg, uint64_t value)
{
	struct cc *cc = arg;
	GBytes *bytes = slot_take(&cc->context->cc_memory);
	g_autofree char *text = NULL;

	(void)value;
	if (!bytes) /* the master before had nothing to be remembered */
		return;
	text = g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
	g_bytes_unref(bytes);
	slot_publish(&cc->context->cc_memory, NULL);
	cc_memory_adopt(cc, text);
	set_rule(cc);
}

static void take_options(struct cc *cc)
{
	set_rule(cc);
	start_rotation(cc);
	cc_watch_options(cc);
	if (cc->options->congestion_control)
		timer_start(&cc->check, check_ns(cc));
	else
		timer_stop(&cc->check);
	cc->warned = false;
}

/* The operator has switched it on or off, and does not want to wait. */
static void end_pauses(struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++)
		((struct cc_agent *)cc->order->pdata[i])->retry_ns = 0;
}

static void on_options_changed(void *arg, uint64_t value)
{
	struct cc *cc = arg;
	bool was_on = cc->options->congestion_control;

	(void)value;
	options_unref(cc->options);
	cc->options = slot_take(&cc->context->options);
	if (cc->options->congestion_control != was_on)
		end_pauses(cc);
	take_options(cc);
	cc_round_want(cc);
}

struct order {
	struct message message;
	struct cc *cc;
	void (*obey)(struct cc *cc);
};

static void run_order(struct message *message)
{
	struct order *order = container_of(message, struct order, message);

	order->obey(order->cc);
	g_free(order);
}

static void drop_order(struct message *message)
{
	g_free(container_of(message, struct order, message));
}

static void give_order(struct cc *cc, void (*obey)(struct cc *cc))
{
	struct order *order = g_new0(struct order, 1);

	order->message.run = run_order;
	order->message.drop = drop_order;
	order->cc = cc;
	order->obey = obey;
	actor_post(cc->actor, &order->message);
}

static void forget_all(struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++)
		cc_agent_forget(cc->order->pdata[i]);
	cc_round_want(cc);
}

void cc_ask_again(struct cc *cc)
{
	give_order(cc, forget_all);
}

void cc_new_keys(struct cc *cc)
{
	give_order(cc, next_generation);
}

/* ---- the end of a round ---- */

struct cc_finish {
	struct message message;
	struct cc *cc;
	struct actor *owner;
	void (*done)(void *arg);
	void *arg;
};

static void drop_finish(struct message *message)
{
	g_free(container_of(message, struct cc_finish, message));
}

static void run_finished(struct message *message)
{
	struct cc_finish *finish = container_of(message, struct cc_finish, message);

	finish->done(finish->arg);
	g_free(finish);
}

void cc_round_ended(struct cc *cc)
{
	struct cc_finish *finish = g_steal_pointer(&cc->finish);

	if (!finish)
		return;
	finish->message.run = run_finished;
	actor_post(finish->owner, &finish->message);
}

static void run_finish(struct message *message)
{
	struct cc_finish *finish = container_of(message, struct cc_finish, message);
	struct cc *cc = finish->cc;

	g_free(cc->finish);
	cc->finish = finish;
	if (!cc->round.runs)
		cc_round_ended(cc);
}

void cc_finish(struct cc *cc, struct actor *owner, void (*done)(void *arg), void *arg)
{
	struct cc_finish *finish = g_new0(struct cc_finish, 1);

	finish->message.run = run_finish;
	finish->message.drop = drop_finish;
	finish->cc = cc;
	finish->owner = owner;
	finish->done = done;
	finish->arg = arg;
	actor_post(cc->actor, &finish->message);
}

/* ---- life ---- */

static void free_agent(void *agent)
{
	cc_agent_free(agent);
}

static void free_bytes(void *bytes)
{
	g_bytes_unref(bytes);
}

struct cc *cc_new(struct context *context, struct mad *mad, const char *directory)
{
	struct cc *cc = g_new0(struct cc, 1);

	cc->context = context;
	cc->mad = mad;
	cc->actor = actor_new(context->rt, "cc");
	cc->agents = g_hash_table_new_full(hash_uint64, g_int64_equal, NULL, free_agent);
	cc->order = g_ptr_array_new();
	cc->plan.settings = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_bytes, NULL);
	g_queue_init(&cc->round.ready);
	timer_init(&cc->check, cc->actor, on_check);
	timer_init(&cc->retry, cc->actor, on_retry);
	timer_init(&cc->rotate, cc->actor, on_rotate);
	cc_watch_init(cc);
	cc->options = slot_take(&context->options);
	set_rule(cc);
	cc_memory_init(cc, directory);
	take_options(cc); /* with the generation that was remembered */
	event_subscribe(&context->bus, EVENT_SUBNET_PUBLISHED, cc->actor, on_subnet, cc);
	event_subscribe(&context->bus, EVENT_SM_STATE, cc->actor, on_sm_state, cc);
	event_subscribe(&context->bus, EVENT_REPLICA_ADOPTED, cc->actor, on_adopted, cc);
	event_subscribe(&context->bus, EVENT_OPTIONS_CHANGED, cc->actor, on_options_changed, cc);
	return cc;
}

void cc_start(struct cc *cc)
{
	actor_start(cc->actor);
}

void cc_attach(struct cc *cc, GMainContext *loop)
{
	actor_attach(cc->actor, loop);
}

void cc_stop(struct cc *cc)
{
	actor_stop(cc->actor);
}

void cc_free(struct cc *cc)
{
	if (!cc)
		return;
	actor_free(cc->actor);
	g_free(cc->finish);
	g_queue_clear(&cc->round.ready);
	g_clear_pointer(&cc->round.subnet, subnet_unref);
	g_clear_pointer(&cc->round.options, options_unref);
	cc_memory_clear(cc);
	cc_watch_clear(cc);
	g_ptr_array_unref(cc->order);
	g_hash_table_unref(cc->agents);
	g_hash_table_unref(cc->plan.settings);
	key_ring_free(cc->plan.keys);
	options_unref(cc->options);
	g_free(cc);
}

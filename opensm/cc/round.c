// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A round over all agents, with one request at a time to each. */
#include <string.h>

#include "cc/cc_private.h"

#define IN_FLIGHT_MAX 64 /* of the window of mad_ask(), which others use as well */
#define TIMEOUT_MAX_MS 10000
#define SETTINGS_SPARE 64
#define RETRY_TOGETHER_NS NS_PER_S /* pauses that end within that are over together */
#define RESP_TIME_NS UINT64_C(4096)

struct request {
	struct mad_ask ask; /* first */
	struct cc *cc;
	struct cc_agent *agent;
	struct cc_step step;
};

static void pump(struct cc *cc);

/* ---- requests ---- */

static void queue(struct cc *cc, struct cc_agent *agent)
{
	if (agent->queued || agent->in_flight)
		return;
	agent->queued = true;
	g_queue_push_tail(&cc->round.ready, agent);
}

/* The agent may need as long as it has said (IBA 13.4.6.2), and more if it is busy. */
static unsigned int timeout_ms(const struct cc *cc, const struct cc_agent *agent)
{
	uint64_t own_ms = (RESP_TIME_NS << agent->resp_time) / NS_PER_MS;

	return (unsigned int)CLAMP(2 * own_ms, cc->options->transaction_timeout, TIMEOUT_MAX_MS);
}

static unsigned int data_offset(const struct cc_step *step)
{
	return step->question == CC_ASK_LOG ? IBA_CC_LOG_DATA_OFFSET : IBA_CC_DATA_OFFSET;
}

static void take(struct cc *cc, const struct request *request, const uint8_t *data)
{
	const struct mad_ask *ask = &request->ask;
	struct cc_agent *agent = request->agent;

	if (ask->result == MAD_OK && request->step.question == CC_ASK_LOG)
		cc_take_log(cc, agent, data);
	if (ask->result == MAD_OK)
		cc_agent_answer(agent, &cc->plan, &request->step, data);
	else if (ask->result == MAD_STATUS)
		cc_agent_refusal(agent, &cc->plan, &request->step, ask->status);
	else if (ask->result == MAD_TIMEOUT)
		cc_agent_silence(agent, &cc->plan, &request->step);
	else if (request->step.question == CC_GIVE_KEY)
		agent->knows_key = false; /* cancelled: it may have arrived */
}

static void on_done(struct mad_ask *ask)
{
	struct request *request = (struct request *)ask;
	struct cc *cc = request->cc;
	struct cc_agent *agent = request->agent;
	const uint8_t *data = ask->data + data_offset(&request->step) - iba_mad_header_bytes;
	bool is_current = cc->round.runs && ask->serial == cc->round.number;

	cc->round.in_flight--;
	cc->round.mads += ask->sent;
	agent->in_flight = false;
	cc->plan.now_ns = actor_now(cc->actor);
	if (cc->round.runs)
		take(cc, request, data);
	else /* the round was cancelled, and its plan is gone; but this answer was on its way */
		cc_agent_forget(agent);
	cc->changed |= request->step.question == CC_GIVE_KEY;
	g_free(request);
	if (is_current)
		queue(cc, agent);
	pump(cc);
}

static void send(struct cc *cc, struct cc_agent *agent, const struct cc_step *step)
{
	struct request *request = g_new0(struct request, 1);
	struct mad_ask *ask = &request->ask;
	uint64_t key = GUINT64_TO_BE(step->key ? step->key : cc->options->cc_key);

	request->cc = cc;
	request->agent = agent;
	request->step = *step;
	ask->to = (struct vendor_address){
		.lid = agent->lid,
		.sl = cc->options->sm_sl,
		.qpn = IBA_QP1,
		.qkey = IBA_QP1_Q_KEY,
	};
	ask->mgmt_class = IBA_CLASS_CC;
	ask->class_version = IBA_CC_CLASS_VERSION;
	memcpy(ask->data, &key, sizeof(key)); /* directly after the header */
	cc_agent_request(agent, &cc->plan, step, &ask->method, &ask->attribute, &ask->modifier,
			 ask->data + data_offset(step) - iba_mad_header_bytes);
	ask->retries = step->question == CC_PROVOKE || agent->pauses
			       ? 1
			       : (uint8_t)cc->options->transaction_retries;
	ask->timeout_ms = timeout_ms(cc, agent);
	ask->client = cc;
	ask->serial = cc->round.number;
	ask->owner = cc->actor;
	ask->done = on_done;
	agent->in_flight = true;
	cc->round.in_flight++;
	mad_ask(cc->mad, ask);
}

/* ---- passes ---- */

static void queue_all(struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		if (agent->lid)
			queue(cc, agent);
	}
}

/* A key must be known to be ours before a device has it. */
static void mark_keys(struct cc *cc)
{
	if (!cc->plan.on || cc->options->cc_key_mode == CC_KEY_SEND)
		return;
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		if (!agent->knows_info || agent->lacks_key || agent->gave_key || agent->left_out)
			continue;
		agent->gave_key = true;
		agent->saved = false;
		cc->changed = true;
	}
}

static void mark_saved(struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		agent->saved = cc_agent_is_remembered(agent);
	}
	cc->changed = false;
}

static bool anything_unsaved(const struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++) {
		const struct cc_agent *agent = cc->order->pdata[i];

		if (!agent->saved && cc_agent_is_remembered(agent))
			return true;
	}
	return false;
}

/*
 * They have what they had before: nothing is left to be remembered of them. What is unplugged, or
 * was not asked, is still to get it.
 */
static void forget_restored(struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		if (cc->plan.on || !agent->lid || agent->paused ||
		    !cc_agent_is_remembered(agent) || !cc_agent_is_done(agent, &cc->plan))
			continue;
		g_clear_pointer(&agent->original, g_bytes_unref);
		agent->gave_key = agent->saved = false;
		agent->read = 0; /* to be read again before it is changed again */
		cc->changed = true;
	}
}

static void start_timers(struct cc *cc)
{
	uint64_t first = UINT64_MAX, now = actor_now(cc->actor);

	for (guint i = 0; i < cc->order->len; i++) {
		const struct cc_agent *agent = cc->order->pdata[i];

		if (agent->lid && agent->paused)
			first = MIN(first, agent->retry_ns);
	}
	if (first != UINT64_MAX)
		timer_start(&cc->retry, MAX(first, now) - now + RETRY_TOGETHER_NS);
	else
		timer_stop(&cc->retry);
}

/* The options as they were when the round began: they may be read again while it runs. */
static void drop_plan(struct cc *cc)
{
	g_clear_pointer(&cc->round.subnet, subnet_unref);
	g_clear_pointer(&cc->round.options, options_unref);
	cc->plan.fabric = NULL;
	cc->plan.options = NULL;
}

static void end(struct cc *cc)
{
	struct cc_round *round = &cc->round;
	bool wanted = round->wanted || (!cc->save_failed && anything_unsaved(cc));

	round->runs = round->wanted = false;
	forget_restored(cc);
	if (cc->changed)
		cc_memory_save(cc);
	cc_publish(cc);
	drop_plan(cc);
	start_timers(cc);
	if (wanted)
		cc_round_want(cc);
	if (!round->runs)
		cc_round_ended(cc);
}

static void begin_pass(struct cc *cc, enum cc_pass pass)
{
	bool both = pass == CC_PASS_BOTH;

	cc->round.pass = pass;
	cc->plan.may_set[0] = both || (pass == CC_PASS_FIRST && cc->plan.on);
	cc->plan.may_set[1] = both || (pass == CC_PASS_FIRST && !cc->plan.on);
	queue_all(cc);
}

/* True: go on with the next pass. */
static bool finish_pass(struct cc *cc)
{
	switch (cc->round.pass) {
	case CC_PASS_ASK:
		cc_follow_generation(cc);
		mark_keys(cc);
		cc->round.pass = CC_PASS_SAVE;
		if ((anything_unsaved(cc) || cc->changed) && cc_memory_save(cc))
			return false;
		mark_saved(cc);
		begin_pass(cc, CC_PASS_FIRST);
		return true;
	case CC_PASS_SAVE:
		return false;
	case CC_PASS_FIRST:
		begin_pass(cc, CC_PASS_BOTH);
		return true;
	case CC_PASS_BOTH:
	case CC_PASSES:
		break;
	}
	end(cc);
	return false;
}

void cc_round_saved(struct cc *cc, bool good)
{
	cc->changed |= !good; /* of keys, too: with the next round it is written again */
	if (!cc->round.runs || cc->round.pass != CC_PASS_SAVE)
		return;
	cc->save_failed = !good;
	if (good)
		mark_saved(cc);
	begin_pass(cc, CC_PASS_FIRST);
	pump(cc);
}

static void send_ready(struct cc *cc)
{
	struct cc_round *round = &cc->round;
	struct cc_agent *agent;

	while (round->runs && round->in_flight < round->in_flight_max &&
	       (agent = g_queue_pop_head(&round->ready))) {
		struct cc_step step;

		agent->queued = false;
		if (agent->in_flight)
			continue;
		step = cc_agent_next(agent, &cc->plan);
		if (step.question != CC_ASK_NOTHING)
			send(cc, agent, &step);
	}
}

static void pump(struct cc *cc)
{
	struct cc_round *round = &cc->round;

	do
		send_ready(cc);
	while (round->runs && g_queue_is_empty(&round->ready) && !round->in_flight &&
	       finish_pass(cc));
}

/* ---- the beginning ---- */

static bool is_wanted_there(const struct fabric *fabric, uint32_t port)
{
	uint8_t type = fabric->nodes[fabric->ports[port].node].type;

	return fabric_is_endport(fabric, port) && fabric->ports[port].lid &&
	       fabric_is_connected(fabric, port) &&
	       (type == IBA_NODE_CA || type == IBA_NODE_SWITCH) &&
	       !fabric->nodes[fabric->ports[port].node].silent;
}

static void place_agents(struct cc *cc, const struct fabric *fabric)
{
	g_autoptr(GPtrArray) old = cc->order;

	for (guint i = 0; i < old->len; i++)
		((struct cc_agent *)old->pdata[i])->port = FABRIC_NONE;
	cc->order = g_ptr_array_sized_new(old->len);
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		struct cc_agent *agent;

		if (!is_wanted_there(fabric, port))
			continue;
		agent = cc_agent_of(cc, fabric->ports[port].guid);
		if (agent->port != FABRIC_NONE) /* two ports with one GUID */
			continue;
		cc_agent_place(agent, fabric, port);
		g_ptr_array_add(cc->order, agent);
	}
	for (guint i = 0; i < old->len; i++) {
		struct cc_agent *agent = old->pdata[i];

		if (agent->port != FABRIC_NONE)
			continue;
		agent->lid = 0;
		if (cc_agent_is_remembered(agent) || agent->in_flight)
			g_ptr_array_add(cc->order, agent);
		else
			g_hash_table_remove(cc->agents, &agent->guid);
	}
}

static void take_plan(struct cc *cc)
{
	const struct subnet *subnet = cc->round.subnet;
	struct cc_plan *plan = &cc->plan;
	struct cc_size size = cc_size_of(subnet->fabric);

	cc->round.options = options_ref(cc->options);
	plan->options = cc->round.options;
	plan->on = cc->options->congestion_control;
	plan->fabric = subnet->fabric;
	plan->keeps = cc->file != NULL;
	plan->own_lid = subnet->sm_lid;
	plan->own_gid = (struct iba_gid){cc->options->subnet_prefix, subnet->sm_guid};
	plan->now_ns = actor_now(cc->actor);
	cc_values_make(cc->options, &size, &plan->values);
}

static void warn(struct cc *cc)
{
	g_autoptr(GPtrArray) warnings = NULL;

	if (cc->warned)
		return;
	cc->warned = true;
	warnings = cc_values_warnings(cc->options, &cc->plan.values);
	for (guint i = 0; i < warnings->len; i++)
		log_error(cc->context->log, "congestion_control: %s", (char *)warnings->pdata[i]);
}

/* Settings that no agent has any more are dropped; those that agents have are kept twice then. */
static void share_anew(struct cc *cc)
{
	if (g_hash_table_size(cc->plan.settings) > 2 * cc->order->len + SETTINGS_SPARE)
		g_hash_table_remove_all(cc->plan.settings);
}

static bool may_begin(const struct cc *cc)
{
	if (atomic_load(&cc->context->sm_state) != IBA_SM_MASTER || cc->context->gets_only)
		return false;
	return cc->options->congestion_control || cc->order->len;
}

void cc_round_want(struct cc *cc)
{
	struct cc_round *round = &cc->round;

	if (round->runs) {
		round->wanted = true;
		return;
	}
	if (!may_begin(cc))
		return;
	round->subnet = slot_take(&cc->context->subnet);
	if (!round->subnet)
		return;
	round->runs = true;
	round->number++;
	round->mads = 0;
	round->began_ns = actor_now(cc->actor);
	round->in_flight_max = MIN(cc->options->cc_max_outstanding_mads, IN_FLIGHT_MAX);
	cc_follow_generation(cc);
	take_plan(cc);
	place_agents(cc, round->subnet->fabric);
	warn(cc);
	key_ring_again(cc->plan.keys);
	share_anew(cc);
	for (guint i = 0; i < cc->order->len; i++)
		if (((struct cc_agent *)cc->order->pdata[i])->lid)
			cc_agent_begin(cc->order->pdata[i], &cc->plan);
	begin_pass(cc, CC_PASS_ASK);
	pump(cc);
}

void cc_round_cancel(struct cc *cc)
{
	struct cc_round *round = &cc->round;

	timer_stop(&cc->retry);
	if (!round->runs)
		return;
	mad_ask_cancel(cc->mad, cc, round->number);
	round->runs = round->wanted = false;
	while (!g_queue_is_empty(&round->ready))
		((struct cc_agent *)g_queue_pop_head(&round->ready))->queued = false;
	drop_plan(cc);
	cc_round_ended(cc);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "cc/agent.h"

#include <string.h>

#include "complib/actor.h"

#define FAILURES_MAX 3 /* of a round; then a pause */
#define UNEQUAL_MAX 3
#define PAUSE_NS (30 * NS_PER_S) /* doubled with each pause */
#define PAUSES_MAX 7		 /* 64 minutes */
#define TRAPS_SUPPORTED 1u	 /* in CapabilityMask */
#define UNSUPPORTED_MAX IBA_STATUS_UNSUP_METHOD_ATTR
#define KIND(agent) ((agent)->is_switch ? 1 : 0)

const char *cc_state_text(enum cc_state state)
{
	static const char *const texts[CC_STATES] = {
		[CC_UNKNOWN] = "not asked yet",
		[CC_PENDING] = "is being set",
		[CC_RIGHT] = "as wanted",
		[CC_UNSUPPORTED] = "not supported",
		[CC_SILENT] = "does not answer",
		[CC_REFUSED] = "refuses",
		[CC_FICKLE] = "does not keep its settings",
		[CC_LOCKED] = "has an unknown CC_Key",
	};

	return texts[state];
}

/* ---- life ---- */

struct cc_agent *cc_agent_new(uint64_t guid)
{
	struct cc_agent *agent = g_new0(struct cc_agent, 1);

	agent->guid = guid;
	agent->node = agent->port = FABRIC_NONE;
	return agent;
}

static void set_bytes(GBytes **to, GBytes *bytes)
{
	if (bytes)
		g_bytes_ref(bytes);
	if (*to)
		g_bytes_unref(*to);
	*to = bytes;
}

void cc_agent_free(struct cc_agent *agent)
{
	set_bytes(&agent->has, NULL);
	set_bytes(&agent->wanted, NULL);
	set_bytes(&agent->original, NULL);
	g_free(agent->marked);
	g_free(agent);
}

static void set_state(struct cc_agent *agent, const struct cc_plan *plan, enum cc_state state)
{
	if (agent->state == state)
		return;
	agent->state = state;
	agent->since_ns = plan->now_ns;
}

void cc_agent_forget(struct cc_agent *agent)
{
	agent->knows_key = agent->knows_class = agent->knows_info = false;
	agent->lacks_key = agent->hides_key = agent->left_out = agent->lacks_log = false;
	agent->doubted = false;
	agent->read = agent->again = agent->sent = 0;
	agent->trap_lid = 0;
	agent->failures = agent->unequal = agent->pauses = 0;
	agent->paused = false;
}

void cc_agent_remember(struct cc_agent *agent, GBytes *original)
{
	cc_agent_forget(agent);
	set_bytes(&agent->original, original);
	agent->n_read = (uint8_t)MAX(g_bytes_get_size(original) / CC_CA_OCTETS, 1);
}

void cc_agent_check_key(struct cc_agent *agent)
{
	agent->knows_key = agent->hides_key = false;
}

void cc_agent_check_piece(struct cc_agent *agent)
{
	if (!agent->n_read)
		return;
	agent->turn = (uint8_t)((agent->turn + 1) % agent->n_read);
	agent->read &= (uint8_t)~(1u << agent->turn);
}

/* A file or another SM may say anything of it. */
static bool may_have_had(const struct cc_agent *agent, GBytes *settings)
{
	gsize size = g_bytes_get_size(settings);

	if (agent->is_switch)
		return size == CC_SWITCH_OCTETS;
	return size >= 2 * CC_CA_OCTETS && size % CC_CA_OCTETS == 0;
}

void cc_agent_place(struct cc_agent *agent, const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *at = &fabric->ports[port];
	const struct fabric_node *node = &fabric->nodes[at->node];

	if (agent->life != node->life || agent->lid != at->lid)
		cc_agent_forget(agent);
	agent->node = at->node;
	agent->port = port;
	agent->is_switch = node->type == IBA_NODE_SWITCH;
	if (agent->original && !may_have_had(agent, agent->original))
		set_bytes(&agent->original, NULL);
	agent->lid = at->lid;
	agent->lmc = at->lmc;
	agent->life = node->life;
}

/* ---- what is wanted ---- */

static size_t octets_of(const struct cc_agent *agent, unsigned int pieces)
{
	return agent->is_switch ? CC_SWITCH_OCTETS : (size_t)pieces * CC_CA_OCTETS;
}

static const uint8_t *data_of(GBytes *bytes)
{
	return g_bytes_get_data(bytes, NULL);
}

/* Equal settings are kept once, whatever the number of agents. */
static GBytes *keep(const struct cc_plan *plan, const uint8_t *octets, size_t length)
{
	g_autoptr(GBytes) bytes = g_bytes_new(octets, length);
	GBytes *known = g_hash_table_lookup(plan->settings, bytes);

	if (known)
		return g_bytes_ref(known);
	g_hash_table_add(plan->settings, g_bytes_ref(bytes));
	return g_steal_pointer(&bytes);
}

static bool wants_original(const struct cc_agent *agent, const struct cc_plan *plan)
{
	return !plan->on || agent->left_out;
}

/* It may have told another ControlTableCap then. */
static unsigned int pieces_again(const struct cc_agent *agent)
{
	gsize had = g_bytes_get_size(agent->original) / CC_CA_OCTETS;

	return (unsigned int)MIN(had, agent->n_read);
}

void cc_agent_want(struct cc_agent *agent, const struct cc_plan *plan)
{
	uint8_t octets[CC_OCTETS_MAX];
	g_autoptr(GBytes) wanted = NULL;

	agent->cut = false;
	agent->n_wanted = 1;
	if (wants_original(agent, plan)) {
		set_bytes(&agent->wanted, NULL);
		if (!agent->original)
			return;
		agent->n_wanted = (uint8_t)cc_settings_again(agent->is_switch,
							     data_of(agent->original),
							     pieces_again(agent), octets);
	} else if (agent->is_switch) {
		cc_settings_of_switch(&plan->values, plan->fabric, agent->node, octets);
	} else {
		unsigned int blocks = cc_blocks(&plan->values, agent->table_cap, &agent->cut);

		cc_settings_of_ca(&plan->values, blocks, octets);
		agent->n_wanted = (uint8_t)(1 + blocks);
	}
	wanted = keep(plan, octets, octets_of(agent, agent->n_wanted));
	set_bytes(&agent->wanted, wanted);
}

static bool keys_are_given(const struct cc_agent *agent, const struct cc_plan *plan)
{
	return plan->on && !agent->left_out && plan->options->cc_key_mode != CC_KEY_SEND;
}

static uint64_t key_wanted(const struct cc_agent *agent, const struct cc_plan *plan)
{
	if (keys_are_given(agent, plan))
		return key_ring_wanted(plan->keys, (struct key_port){.guid = agent->guid});
	return agent->gave_key ? 0 : agent->key;
}

static bool key_is_right(const struct cc_agent *agent, const struct cc_plan *plan)
{
	const struct options *options = plan->options;

	if (agent->lacks_key)
		return true;
	if (agent->key != key_wanted(agent, plan))
		return false;
	return !agent->key || !keys_are_given(agent, plan) ||
	       (agent->key_protect == options->cc_key_protect_bit &&
		agent->key_lease == options->cc_key_lease_period);
}

static bool piece_is_right(const struct cc_agent *agent, unsigned int piece)
{
	if (agent->again >> piece & 1)
		return false;
	return piece < agent->n_read &&
	       cc_piece_is(agent->is_switch, piece, agent->n_wanted, data_of(agent->wanted),
			   data_of(agent->has));
}

static unsigned int first_wrong(const struct cc_agent *agent)
{
	unsigned int piece = 0;

	while (agent->wanted && piece < agent->n_wanted && piece_is_right(agent, piece))
		piece++;
	return agent->wanted ? piece : agent->n_wanted;
}

static unsigned int first_unread(const struct cc_agent *agent)
{
	unsigned int piece = 0;

	while (piece < agent->n_read && agent->read >> piece & 1)
		piece++;
	return piece;
}

/* ---- the next step ---- */

/* Agents that were never changed are left alone while congestion control is off. */
static bool concerns(const struct cc_agent *agent, const struct cc_plan *plan)
{
	return agent->lid && (plan->on || cc_agent_is_remembered(agent));
}

static struct cc_step step(const struct cc_agent *agent, enum cc_question question,
			   unsigned int piece)
{
	return (struct cc_step){.question = question, .piece = piece, .key = agent->key};
}

static struct cc_step ask_key(const struct cc_agent *agent, const struct cc_plan *plan)
{
	struct key_port port = {.guid = agent->guid};

	return (struct cc_step){
		.question = agent->hides_key ? CC_PROVOKE : CC_ASK_KEY,
		.key = key_ring_for(plan->keys, port),
	};
}

static uint16_t trap_lid_wanted(const struct cc_agent *agent, const struct cc_plan *plan)
{
	if (keys_are_given(agent, plan))
		return plan->own_lid;
	return agent->gave_key && agent->trap_lid == plan->own_lid ? 0 : agent->trap_lid;
}

static bool wants_traps(const struct cc_agent *agent, const struct cc_plan *plan)
{
	return !agent->lacks_key && agent->capability & TRAPS_SUPPORTED &&
	       agent->trap_lid != trap_lid_wanted(agent, plan);
}

/* Of an agent of which everything is known. */
static struct cc_step next_change(const struct cc_agent *agent, const struct cc_plan *plan)
{
	unsigned int wrong = first_wrong(agent);
	bool key_first = plan->on;

	if (key_first && !key_is_right(agent, plan))
		return step(agent, CC_GIVE_KEY, 0);
	if (wants_traps(agent, plan))
		return step(agent, CC_SET_TRAPS, 0);
	if (wrong < agent->n_wanted)
		return step(agent, CC_SET, wrong);
	if (!key_is_right(agent, plan))
		return step(agent, CC_GIVE_KEY, 0);
	return step(agent, agent->wants_log ? CC_ASK_LOG : CC_ASK_NOTHING, 0);
}

static struct cc_step next_step(const struct cc_agent *agent, const struct cc_plan *plan,
				bool may_set)
{
	if (!concerns(agent, plan) || agent->paused)
		return step(agent, CC_ASK_NOTHING, 0);
	if (!agent->knows_key && !agent->lacks_key)
		return ask_key(agent, plan);
	if (!agent->knows_class)
		return step(agent, CC_ASK_CLASS, 0);
	if (!agent->knows_info)
		return step(agent, CC_ASK_INFO, 0);
	if (first_unread(agent) < agent->n_read)
		return step(agent, CC_READ, first_unread(agent));
	return may_set ? next_change(agent, plan) : step(agent, CC_ASK_NOTHING, 0);
}

struct cc_step cc_agent_next(const struct cc_agent *agent, const struct cc_plan *plan)
{
	return next_step(agent, plan,
			 plan->may_set[KIND(agent)] && (!plan->keeps || agent->saved));
}

bool cc_agent_is_done(const struct cc_agent *agent, const struct cc_plan *plan)
{
	return next_step(agent, plan, true).question == CC_ASK_NOTHING;
}

/* ---- requests ---- */

static void give_key(const struct cc_agent *agent, const struct cc_plan *plan, uint8_t *data)
{
	const struct iba_congestion_key_info none = {0};
	const struct iba_congestion_key_info info = {
		.cc_key = key_wanted(agent, plan),
		.cc_key_protect_bit = plan->options->cc_key_protect_bit,
		.cc_key_lease_period = plan->options->cc_key_lease_period,
	};

	wire_encode(&iba_congestion_key_info_type, info.cc_key ? &info : &none, data);
}

static void set_traps(const struct cc_agent *agent, const struct cc_plan *plan, uint8_t *data)
{
	const struct iba_class_port_info none = {
		.base_version = IBA_BASE_VERSION,
		.class_version = IBA_CC_CLASS_VERSION,
	};
	const struct iba_class_port_info info = {
		.base_version = IBA_BASE_VERSION,
		.class_version = IBA_CC_CLASS_VERSION,
		.trap_gid = plan->own_gid,
		.trap_lid = plan->own_lid,
		.trap_sl = plan->options->sm_sl,
		.trap_p_key = IBA_P_KEY_DEFAULT_FULL,
		.trap_qp = IBA_QP1,
		.trap_q_key = IBA_QP1_Q_KEY,
	};

	wire_encode(&iba_class_port_info_type, trap_lid_wanted(agent, plan) ? &info : &none, data);
}

static uint16_t attribute_of(const struct cc_agent *agent, unsigned int piece)
{
	if (agent->is_switch)
		return IBA_ATTR_SWITCH_CONGESTION_SETTING;
	return piece ? IBA_ATTR_CONGESTION_CONTROL_TABLE : IBA_ATTR_CA_CONGESTION_SETTING;
}

static uint16_t attribute_of_step(const struct cc_agent *agent, const struct cc_step *step)
{
	switch (step->question) {
	case CC_ASK_KEY:
	case CC_GIVE_KEY:
		return IBA_ATTR_CONGESTION_KEY_INFO;
	case CC_ASK_CLASS:
	case CC_SET_TRAPS:
		return IBA_ATTR_CLASS_PORT_INFO;
	case CC_READ:
	case CC_SET:
		return attribute_of(agent, step->piece);
	case CC_ASK_LOG:
		return IBA_ATTR_CONGESTION_LOG;
	case CC_PROVOKE:
	case CC_ASK_INFO:
	case CC_ASK_NOTHING:
		break;
	}
	return IBA_ATTR_CONGESTION_INFO;
}

void cc_agent_request(const struct cc_agent *agent, const struct cc_plan *plan,
		      const struct cc_step *step, uint8_t *method, uint16_t *attribute,
		      uint32_t *modifier, uint8_t *data)
{
	bool is_set = step->question == CC_GIVE_KEY || step->question == CC_SET_TRAPS ||
		      step->question == CC_SET;

	*method = is_set ? IBA_METHOD_SET : IBA_METHOD_GET;
	*attribute = attribute_of_step(agent, step);
	*modifier = step->piece ? step->piece - 1 : 0;
	if (step->question == CC_GIVE_KEY)
		give_key(agent, plan, data);
	else if (step->question == CC_SET_TRAPS)
		set_traps(agent, plan, data);
	else if (step->question == CC_SET)
		memcpy(data, data_of(agent->wanted) + cc_piece_at(step->piece),
		       octets_of(agent, 1));
}

/* ---- answers ---- */

static void pause_for(struct cc_agent *agent, const struct cc_plan *plan, uint64_t ns)
{
	agent->paused = true;
	agent->retry_ns = plan->now_ns + MAX(ns, PAUSE_NS << agent->pauses);
	agent->pauses = MIN(agent->pauses + 1, PAUSES_MAX);
}

static void lock_out(struct cc_agent *agent, const struct cc_plan *plan)
{
	set_state(agent, plan, CC_LOCKED);
	pause_for(agent, plan, agent->key_lease ? (agent->key_lease + 1) * NS_PER_S : 0);
}

/* The device was reset: it has neither the key nor the settings that it was given. */
static bool has_lost_its_key(const struct cc_agent *agent, uint64_t shown)
{
	return agent->key && agent->gave_key && !shown;
}

static void take_key(struct cc_agent *agent, const struct cc_plan *plan, uint64_t key)
{
	struct key_port port = {.guid = agent->guid};

	if (has_lost_its_key(agent, key)) {
		agent->read = 0;
		agent->trap_lid = 0;
	}
	agent->key = key;
	agent->knows_key = true;
	agent->hides_key = false;
	if (key)
		key_ring_told(plan->keys, port, key);
}

static void take_key_info(struct cc_agent *agent, const struct cc_plan *plan,
			  const struct cc_step *step, const uint8_t *data)
{
	struct key_port port = {.guid = agent->guid};
	struct iba_congestion_key_info info;

	wire_decode(&iba_congestion_key_info_type, data, &info);
	agent->key_protect = info.cc_key_protect_bit;
	agent->key_lease = info.cc_key_lease_period;
	agent->violations = info.cc_key_violations;
	if (info.cc_key || !info.cc_key_protect_bit)
		take_key(agent, plan, info.cc_key);
	else if (!key_ring_failed(plan->keys, port, step->key))
		agent->hides_key = true;
}

static void take_given_key(struct cc_agent *agent, const struct cc_plan *plan)
{
	struct key_port port = {.guid = agent->guid};

	agent->key = key_wanted(agent, plan);
	if (agent->key) {
		key_ring_worked(plan->keys, port, agent->key);
		agent->key_protect = plan->options->cc_key_protect_bit;
		agent->key_lease = plan->options->cc_key_lease_period;
	} else {
		agent->key_protect = 0;
		agent->key_lease = 0;
		agent->gave_key = false;
	}
}

static void take_class(struct cc_agent *agent, const uint8_t *data)
{
	struct iba_class_port_info info;

	wire_decode(&iba_class_port_info_type, data, &info);
	agent->knows_class = true;
	agent->capability = info.capability_mask;
	agent->resp_time = info.resp_time_value;
	agent->trap_lid = info.trap_lid;
}

static void take_info(struct cc_agent *agent, const struct cc_plan *plan, const uint8_t *data)
{
	struct iba_congestion_info info;

	wire_decode(&iba_congestion_info_type, data, &info);
	agent->knows_info = true;
	agent->info = info.congestion_info;
	agent->table_cap = info.control_table_cap;
	agent->n_read = (uint8_t)(agent->is_switch
					  ? 1
					  : 1 + CLAMP(info.control_table_cap, 1, CC_BLOCKS_MAX));
	agent->read = 0;
	cc_agent_want(agent, plan);
}

/*
 * What is as wanted already was set by another SM of the subnet. What the device had before that is
 * unknown, and taken to be the state after a reset; but what is not wanted at all is its own.
 */
static void note_original(struct cc_agent *agent, const struct cc_plan *plan)
{
	uint8_t octets[CC_OCTETS_MAX];
	size_t length = octets_of(agent, agent->n_read);
	g_autoptr(GBytes) original = NULL;

	memcpy(octets, data_of(agent->has), length);
	if (agent->wanted && first_wrong(agent) == agent->n_wanted)
		cc_settings_without(agent->is_switch, data_of(agent->wanted), agent->n_read,
				    octets);
	original = keep(plan, octets, length);
	set_bytes(&agent->original, original);
	agent->saved = false;
}

/* data NULL: zeros. */
static void take_piece(struct cc_agent *agent, const struct cc_plan *plan, unsigned int piece,
		       const uint8_t *data)
{
	uint8_t octets[CC_OCTETS_MAX] = {0};
	size_t length = octets_of(agent, agent->n_read);
	g_autoptr(GBytes) bytes = NULL;

	if (piece >= agent->n_read)
		return;
	if (agent->has && g_bytes_get_size(agent->has) == length)
		memcpy(octets, data_of(agent->has), length);
	memset(octets + cc_piece_at(piece), 0, octets_of(agent, 1));
	if (data)
		memcpy(octets + cc_piece_at(piece), data, octets_of(agent, 1));
	bytes = keep(plan, octets, length);
	set_bytes(&agent->has, bytes);
	agent->read |= (uint8_t)(1u << piece);
}

/* A piece was read, not set: when all were, and before anything is set, that is what it had. */
static void note_if_read(struct cc_agent *agent, const struct cc_plan *plan)
{
	if (first_unread(agent) == agent->n_read && !agent->sent && !agent->original && plan->on)
		note_original(agent, plan);
}

/* After three times it is left out, and gets back what it had. */
static void judge(struct cc_agent *agent, const struct cc_plan *plan, unsigned int piece)
{
	if (piece_is_right(agent, piece) || ++agent->unequal < UNEQUAL_MAX)
		return;
	agent->unequal = agent->again = 0;
	set_state(agent, plan, CC_FICKLE);
	if (agent->left_out) {
		pause_for(agent, plan, 0);
		return;
	}
	agent->left_out = true;
	cc_agent_want(agent, plan);
}

/*
 * Devices older than CC_Keys may answer a Set with what they were sent, whatever they took of it;
 * and begin to use a CACongestionSetting only with the next block of the table. A device that was
 * found without what it had answered is not believed either; and none is with what it had before,
 * as that is forgotten here as soon as the device has it again.
 */
static void take_set(struct cc_agent *agent, const struct cc_plan *plan, unsigned int piece,
		     const uint8_t *data)
{
	uint8_t bit = (uint8_t)(1u << piece);

	agent->again &= (uint8_t)~bit;
	take_piece(agent, plan, piece, data);
	if (!agent->is_switch && !piece)
		agent->again |= (uint8_t)((1u << agent->n_wanted) - 2);
	if (!agent->lacks_key && !agent->doubted && !wants_original(agent, plan)) {
		judge(agent, plan, piece);
		return;
	}
	agent->sent |= bit;
	agent->read &= (uint8_t)~bit;
}

static void take_read(struct cc_agent *agent, const struct cc_plan *plan, unsigned int piece,
		      const uint8_t *data)
{
	uint8_t bit = (uint8_t)(1u << piece);

	take_piece(agent, plan, piece, data);
	if (agent->wanted && piece < agent->n_wanted) {
		if (agent->sent & bit)
			judge(agent, plan, piece);
		else if (agent->state == CC_RIGHT && !piece_is_right(agent, piece))
			agent->doubted = true;
	}
	note_if_read(agent, plan);
	agent->sent &= (uint8_t)~bit;
}

/* What was left out is tried again after a pause: that it takes what it had proves nothing. */
static void settle(struct cc_agent *agent, const struct cc_plan *plan)
{
	bool done = cc_agent_is_done(agent, plan);

	if (agent->paused)
		return;
	if (agent->left_out && plan->on) {
		if (done)
			pause_for(agent, plan, 0);
		return;
	}
	if (!done && agent->state == CC_FICKLE)
		return;
	set_state(agent, plan, done ? CC_RIGHT : CC_PENDING);
	if (done)
		agent->pauses = 0;
}

void cc_agent_begin(struct cc_agent *agent, const struct cc_plan *plan)
{
	agent->failures = agent->unequal = 0;
	if (agent->paused && agent->retry_ns <= plan->now_ns)
		agent->paused = agent->hides_key = agent->left_out = false;
	if (!plan->on)
		agent->left_out = false;
	cc_agent_want(agent, plan);
	if (agent->state == CC_FICKLE)
		settle(agent, plan);
}

void cc_agent_answer(struct cc_agent *agent, const struct cc_plan *plan, const struct cc_step *step,
		     const uint8_t *data)
{
	switch (step->question) {
	case CC_ASK_KEY:
		take_key_info(agent, plan, step, data);
		break;
	case CC_PROVOKE: /* it takes any key, so it has none */
		take_key(agent, plan, 0);
		break;
	case CC_GIVE_KEY:
		take_given_key(agent, plan);
		break;
	case CC_ASK_CLASS:
		take_class(agent, data);
		break;
	case CC_SET_TRAPS:
		agent->trap_lid = trap_lid_wanted(agent, plan);
		break;
	case CC_ASK_INFO:
		take_info(agent, plan, data);
		break;
	case CC_READ:
		take_read(agent, plan, step->piece, data);
		break;
	case CC_SET:
		take_set(agent, plan, step->piece, data);
		break;
	case CC_ASK_LOG:
		agent->wants_log = false;
		break;
	case CC_ASK_NOTHING:
		break;
	}
	settle(agent, plan);
}

static void give_up(struct cc_agent *agent, const struct cc_plan *plan, enum cc_state state)
{
	set_state(agent, plan, state);
	pause_for(agent, plan, 0);
}

void cc_agent_refusal(struct cc_agent *agent, const struct cc_plan *plan,
		      const struct cc_step *step, uint16_t status)
{
	uint16_t code = status & IBA_STATUS_CODE_MASK;
	bool lacks = code && code <= UNSUPPORTED_MAX;

	switch (step->question) {
	case CC_ASK_KEY:
	case CC_GIVE_KEY:
		agent->lacks_key = lacks;
		if (lacks) {
			agent->key = step->key;
			return;
		}
		break;
	case CC_ASK_LOG:
		agent->wants_log = false;
		agent->lacks_log = lacks;
		return;
	case CC_SET_TRAPS: /* it will be asked for its violations instead */
		agent->capability &= (uint16_t)~TRAPS_SUPPORTED;
		return;
	case CC_READ:
		if (step->piece > 1) { /* a block of the table that nothing was written to */
			take_piece(agent, plan, step->piece, NULL);
			note_if_read(agent, plan);
			settle(agent, plan);
			return;
		}
		break;
	default:
		break;
	}
	agent->attribute = attribute_of_step(agent, step);
	agent->status = status;
	if (lacks)
		give_up(agent, plan, CC_UNSUPPORTED);
	else if (++agent->failures >= FAILURES_MAX)
		give_up(agent, plan, CC_REFUSED);
}

/* It may be gone, or have another key since: the key is asked for without one. */
void cc_agent_silence(struct cc_agent *agent, const struct cc_plan *plan,
		      const struct cc_step *step)
{
	if (step->question == CC_PROVOKE) {
		lock_out(agent, plan);
		return;
	}
	agent->knows_key = agent->hides_key = agent->wants_log = false;
	if (++agent->failures < FAILURES_MAX)
		return;
	agent->attribute = attribute_of_step(agent, step);
	give_up(agent, plan, CC_SILENT);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/read/agent.h"

#include <string.h>

#define BIT(n) (UINT32_C(1) << (n))

#define LOST_MAX 2	     /* requests without an answer after which an agent is given up */
#define REDIRECTIONS_MAX 2   /* a sweep */
#define DEAF_AFTER 3	     /* sweeps of silence, after which it is asked only every ... */
#define DEAF_EVERY 10	     /* ... sweeps */
#define EXTENDED_EVERY 10    /* sweeps: FEC counters of a port that needs FEC, without errors */

struct perf_agent *perf_agent_new(uint64_t guid, uint8_t port)
{
	struct perf_agent *agent = g_new0(struct perf_agent, 1);

	agent->guid = guid;
	agent->port = port;
	agent->steps = g_array_new(FALSE, FALSE, sizeof(struct perf_step));
	return agent;
}

void perf_agent_free(struct perf_agent *agent)
{
	g_array_unref(agent->steps);
	g_free(agent);
}

void perf_agent_forget(struct perf_agent *agent)
{
	agent->knows_class = agent->knows_tick = false;
	agent->capability = 0;
	agent->capability2 = 0;
	agent->lacks = 0;
	memset(&agent->redirect, 0, sizeof(agent->redirect));
}

void perf_agent_live(struct perf_agent *agent, uint64_t life)
{
	if (agent->life == life)
		return;
	agent->suspect |= agent->life != 0;
	agent->life = life;
	perf_agent_forget(agent);
}

/* ---- what to ask ---- */

static bool is_deaf(const struct perf_agent *agent, const struct perf_plan *plan)
{
	return agent->silent_for >= DEAF_AFTER && (plan->sweep + agent->guid) % DEAF_EVERY != 0;
}

static void mark(const struct perf_plan *plan, uint32_t row, enum perf_flag flag)
{
	plan->accounts->now->flags[row] |= flag;
}

/*
 * A port without a link counts nothing, so it is read once after the link went down: for
 * LinkDowned.
 */
static bool is_wanted(const struct perf_plan *plan, uint32_t row)
{
	const struct perf_accounts *accounts = plan->accounts;

	if (accounts->now->layout->places[row].rate)
		return true;
	if (!(accounts->moves[row] & PERF_MOVE_DOWN_READ))
		return true;
	mark(plan, row, PERF_DOWN);
	return false;
}

static void give_up(struct perf_agent *agent, const struct perf_plan *plan)
{
	agent->given_up = true;
	g_array_set_size(agent->steps, 0);
	for (; agent->cursor < agent->n_rows; agent->cursor++)
		if (is_wanted(plan, agent->first_row + agent->cursor))
			mark(plan, agent->first_row + agent->cursor, PERF_SILENT);
}

/* Some links have come up: whatever is there now may have restarted in between. */
static void note_links_up(struct perf_agent *agent, const struct perf_plan *plan)
{
	struct perf_accounts *accounts = plan->accounts;

	for (uint32_t row = agent->first_row; row < agent->first_row + agent->n_rows; row++) {
		if (!accounts->now->layout->places[row].rate ||
		    !(accounts->moves[row] & PERF_MOVE_DOWN_READ))
			continue;
		accounts->moves[row] &= ~PERF_MOVE_DOWN_READ;
		perf_agent_forget(agent);
	}
}

void perf_agent_begin(struct perf_agent *agent, const struct perf_plan *plan)
{
	note_links_up(agent, plan);
	agent->cursor = 0;
	g_array_set_size(agent->steps, 0);
	agent->lost = agent->redirections = 0;
	agent->answered = agent->given_up = agent->refused = false;
	if (is_deaf(agent, plan))
		give_up(agent, plan);
}

static bool has_wide(const struct perf_agent *agent)
{
	return agent->capability &
		       (IBA_PM_CAP_EXTENDED_WIDTH | IBA_PM_CAP_EXTENDED_WIDTH_NO_IETF) &&
	       !(agent->lacks & BIT(PERF_ASK_WIDE));
}

/* PortCountersExtended has everything that PortCounters has. */
static bool needs_only_wide(const struct perf_agent *agent)
{
	return has_wide(agent) && agent->capability2 & IBA_PM_CAP2_ADDITIONAL_EXTENDED;
}

static struct perf_step first_of_row(const struct perf_agent *agent, uint32_t row)
{
	return (struct perf_step){
		.question = needs_only_wide(agent) ? PERF_ASK_WIDE : PERF_ASK_NARROW,
		.row = row,
	};
}

static struct perf_step find_next(struct perf_agent *agent, const struct perf_plan *plan)
{
	if (!agent->knows_class && plan->query_cpi)
		return (struct perf_step){.question = agent->in_flight ? PERF_ASK_NOTHING
								       : PERF_ASK_CLASS_PORT_INFO,
					  .row = PERF_NONE};
	if (!agent->knows_tick && plan->query_cpi)
		return (struct perf_step){.question = agent->in_flight ? PERF_ASK_NOTHING
								       : PERF_ASK_SAMPLES,
					  .row = PERF_NONE};
	if (agent->steps->len) {
		struct perf_step step =
			g_array_index(agent->steps, struct perf_step, agent->steps->len - 1);

		g_array_set_size(agent->steps, agent->steps->len - 1);
		return step;
	}
	while (agent->cursor < agent->n_rows) {
		uint32_t row = agent->first_row + agent->cursor++;

		if (is_wanted(plan, row))
			return first_of_row(agent, row);
	}
	return (struct perf_step){.question = PERF_ASK_NOTHING};
}

struct perf_step perf_agent_next(struct perf_agent *agent, const struct perf_plan *plan)
{
	struct perf_step step = {.question = PERF_ASK_NOTHING};

	if (agent->given_up || agent->in_flight >= PERF_AT_ONCE)
		return step;
	step = find_next(agent, plan);
	agent->in_flight += step.question != PERF_ASK_NOTHING;
	return step;
}

/* ---- requests ---- */

static uint8_t port_of(const struct perf_agent *agent, const struct perf_plan *plan,
		       const struct perf_step *step)
{
	const struct perf_layout *layout = plan->accounts->now->layout;

	return layout->places[step->row == PERF_NONE ? agent->first_row : step->row].port;
}

static uint16_t details_attribute(enum perf_attribute attribute)
{
	static const uint16_t ids[PERF_ATTRIBUTES] = {
		[PERF_RCV_ERROR_DETAILS] = IBA_ATTR_PORT_RCV_ERROR_DETAILS,
		[PERF_XMIT_DISCARD_DETAILS] = IBA_ATTR_PORT_XMIT_DISCARD_DETAILS,
		[PERF_EXTENDED_SPEEDS] = IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS,
		[PERF_RCV_CON_CTRL] = IBA_ATTR_PORT_RCV_CON_CTRL,
		[PERF_XMIT_CON_CTRL] = IBA_ATTR_PORT_XMIT_CON_CTRL,
	};

	return ids[attribute];
}

/* Which counters PortCounters is asked for, or told to clear: CounterSelect, CounterSelect2. */
static void encode_narrow(uint8_t port, uint32_t counters, uint8_t *data)
{
	struct iba_port_counters asked = {.port_select = port};

	for (int i = 0; i < PERF_COUNTERS; i++) {
		uint8_t bit = perf_counter_info[i].select;

		if (!(counters & BIT(i)) || !perf_counter_info[i].width)
			continue;
		if (bit < 16)
			asked.counter_select |= BIT(bit);
		else
			asked.counter_select2 |= BIT(bit - 16);
	}
	wire_encode(&iba_port_counters_type, &asked, data);
}

/* Some agents want CounterSelect in a Get, too, against the IBA. */
static void encode_wide(uint8_t port, uint8_t *data)
{
	const struct iba_port_counters_extended asked = {
		.port_select = port, .counter_select = 0xFFFF, .counter_select2 = 0xFFFFFFFF};

	wire_encode(&iba_port_counters_extended_type, &asked, data);
}

static void encode_details(enum perf_attribute attribute, uint8_t port, uint8_t *data)
{
	const struct iba_port_extended_speeds_counters speeds = {.port_select = port,
								 .counter_select = UINT64_MAX};
	const struct iba_port_rcv_error_details details = {.port_select = port,
							   .counter_select = 0xFFFF};

	if (attribute == PERF_EXTENDED_SPEEDS)
		wire_encode(&iba_port_extended_speeds_counters_type, &speeds, data);
	else /* the fields of the others are at these places, too */
		wire_encode(&iba_port_rcv_error_details_type, &details, data);
}

void perf_agent_request(const struct perf_agent *agent, const struct perf_plan *plan,
			const struct perf_step *step, uint8_t *method, uint16_t *attribute,
			uint8_t *data)
{
	uint8_t port = port_of(agent, plan, step);
	const struct iba_port_samples_control samples = {.port_select = port};

	*method = IBA_METHOD_GET;
	switch (step->question) {
	case PERF_ASK_NOTHING:
	case PERF_QUESTIONS:
		break;
	case PERF_ASK_CLASS_PORT_INFO:
		*attribute = IBA_ATTR_CLASS_PORT_INFO;
		break;
	case PERF_ASK_SAMPLES:
		*attribute = IBA_ATTR_PORT_SAMPLES_CONTROL;
		wire_encode(&iba_port_samples_control_type, &samples, data);
		break;
	case PERF_ASK_NARROW:
		*attribute = IBA_ATTR_PORT_COUNTERS;
		encode_narrow(port, UINT32_MAX, data);
		break;
	case PERF_ASK_WIDE:
		*attribute = IBA_ATTR_PORT_COUNTERS_EXTENDED;
		encode_wide(port, data);
		break;
	case PERF_ASK_CLEAR:
		*method = IBA_METHOD_SET;
		*attribute = IBA_ATTR_PORT_COUNTERS;
		encode_narrow(port, step->counters, data);
		break;
	default:
		*attribute = details_attribute(step->question - PERF_ASK_DETAILS);
		encode_details(step->question - PERF_ASK_DETAILS, port, data);
	}
}

/* ---- what follows from counters ---- */

static void want(struct perf_agent *agent, struct perf_step step)
{
	if (!(agent->lacks & BIT(step.question)))
		g_array_append_val(agent->steps, step);
}

/* Parts of counters that grew, and of those that are not 0 as long as the parts are unknown. */
static void want_parts(struct perf_agent *agent, const struct perf_plan *plan, uint32_t row,
		       enum perf_attribute attribute, uint32_t of, uint32_t grew, uint32_t were_0)
{
	const struct perf_accounts *accounts = plan->accounts;
	const struct perf_detail_last *last =
		g_hash_table_lookup(accounts->details, GUINT_TO_POINTER(row));
	uint32_t parts = 0, standing = 0;

	for (int i = 0; i < PERF_DETAILS; i++)
		if (perf_detail_info[i].attribute == attribute)
			parts |= BIT(i);
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (of & BIT(i) && accounts->last[i][row])
			standing |= BIT(i);
	if (grew & of || (standing && !(last && last->have & parts)))
		want(agent, (struct perf_step){.question = PERF_ASK_DETAILS + attribute,
					       .row = row,
					       .began_at_0 = (were_0 & of) == of});
}

/* Where a port had to wait; elsewhere now and then. */
static void want_congestion(struct perf_agent *agent, const struct perf_plan *plan, uint32_t row,
			    uint32_t grew)
{
	static const enum perf_attribute attributes[] = {PERF_RCV_CON_CTRL, PERF_XMIT_CON_CTRL};
	bool turn = (plan->sweep + row) % EXTENDED_EVERY == 0 ||
		    plan->accounts->now->flags[row] & PERF_BASELINE;

	for (unsigned int i = 0; i < G_N_ELEMENTS(attributes); i++)
		if (turn || grew & BIT(PERF_XMIT_WAIT))
			want(agent,
			     (struct perf_step){.question = PERF_ASK_DETAILS + attributes[i],
						.row = row});
}

static void want_details(struct perf_agent *agent, const struct perf_plan *plan, uint32_t row,
			 uint32_t grew, uint32_t were_0)
{
	static const uint32_t link_errors = BIT(PERF_SYMBOL_ERRORS) |
					    BIT(PERF_LINK_ERROR_RECOVERIES) |
					    BIT(PERF_LINK_INTEGRITY_ERRORS) |
					    BIT(PERF_LINK_DOWNED) | BIT(PERF_RCV_ERRORS);
	const struct perf_place *place = &plan->accounts->now->layout->places[row];
	bool turn = (place->fec && (plan->sweep + row) % EXTENDED_EVERY == 0) ||
		    plan->accounts->now->flags[row] & PERF_BASELINE;

	want_parts(agent, plan, row, PERF_RCV_ERROR_DETAILS,
		   BIT(PERF_RCV_ERRORS) | BIT(PERF_RCV_SWITCH_RELAY_ERRORS), grew, were_0);
	want_parts(agent, plan, row, PERF_XMIT_DISCARD_DETAILS, BIT(PERF_XMIT_DISCARDS), grew,
		   were_0);
	if (place->extended && (grew & link_errors || turn))
		want(agent, (struct perf_step){.question = PERF_ASK_DETAILS + PERF_EXTENDED_SPEEDS,
					       .row = row});
	if (plan->options->congestion_control)
		want_congestion(agent, plan, row, grew);
}

static void want_clearing(struct perf_agent *agent, const struct perf_plan *plan, uint32_t row)
{
	uint32_t full = perf_account_full(plan->accounts, row);

	if (!full || plan->options->perfmgr_clear == PERFMGR_CLEAR_NEVER)
		return;
	plan->accounts->clearing[row] |= full;
	want(agent, (struct perf_step){.question = PERF_ASK_CLEAR, .row = row, .counters = full});
}

static uint32_t zeros(const struct perf_accounts *accounts, uint32_t row)
{
	uint32_t found = 0;

	for (int i = 0; i < PERF_COUNTERS; i++)
		if (accounts->now->have[row] & BIT(i) && !accounts->last[i][row])
			found |= BIT(i);
	return found;
}

static void take_counters(struct perf_agent *agent, const struct perf_plan *plan,
			  const struct perf_step *step, const struct perf_reading *reading)
{
	struct perf_accounts *accounts = plan->accounts;
	uint32_t were_0 = zeros(accounts, step->row);
	uint32_t grew = perf_account(accounts, step->row, reading, plan->now_ns);

	if (!accounts->now->layout->places[step->row].rate)
		accounts->moves[step->row] |= PERF_MOVE_DOWN_READ;
	if (!(accounts->now->flags[step->row] & PERF_REFUSED)) /* what it tells is nonsense */
		want_details(agent, plan, step->row, grew, were_0);
	if (step->question == PERF_ASK_NARROW && has_wide(agent))
		want(agent, (struct perf_step){.question = PERF_ASK_WIDE, .row = step->row});
	else if (step->question == PERF_ASK_WIDE || !has_wide(agent))
		want_clearing(agent, plan, step->row);
}

/* ---- answers ---- */

static void take_class(struct perf_agent *agent, const uint8_t *data)
{
	struct iba_class_port_info info;

	wire_decode(&iba_class_port_info_type, data, &info);
	agent->capability = info.capability_mask;
	agent->capability2 = info.capability_mask2;
	agent->knows_class = true;
}

static void take_samples(struct perf_agent *agent, const uint8_t *data)
{
	struct iba_port_samples_control control;

	wire_decode(&iba_port_samples_control_type, data, &control);
	agent->tick = control.tick;
	agent->knows_tick = true;
}

static void back(struct perf_agent *agent)
{
	agent->in_flight--;
}

static void refuse(struct perf_agent *agent, const struct perf_plan *plan,
		   const struct perf_step *step)
{
	agent->refused = true;
	if (step->row != PERF_NONE)
		mark(plan, step->row, PERF_REFUSED);
}

/* The counters of PortSelect are of another port: nothing can be believed. */
static bool is_of_port(const struct perf_agent *agent, const struct perf_plan *plan,
		       const struct perf_step *step, const uint8_t *data)
{
	return step->row == PERF_NONE || perf_port_select(data) == port_of(agent, plan, step);
}

void perf_agent_answer(struct perf_agent *agent, const struct perf_plan *plan,
		       const struct perf_step *step, const uint8_t *data)
{
	struct perf_reading reading = {.have = 0};

	back(agent);
	agent->answered = true;
	agent->lost = 0;
	if (!is_of_port(agent, plan, step, data)) {
		refuse(agent, plan, step);
		return;
	}
	switch (step->question) {
	case PERF_ASK_NOTHING:
	case PERF_QUESTIONS:
		break;
	case PERF_ASK_CLASS_PORT_INFO:
		take_class(agent, data);
		break;
	case PERF_ASK_SAMPLES:
		take_samples(agent, data);
		break;
	case PERF_ASK_NARROW:
		perf_read_narrow(&reading, data, agent->capability);
		if (has_wide(agent)) /* which tells these at the same time as the others */
			reading.have &= ~perf_wide_counters(agent->capability, agent->capability2);
		take_counters(agent, plan, step, &reading);
		break;
	case PERF_ASK_WIDE:
		perf_read_wide(&reading, data, agent->capability, agent->capability2);
		take_counters(agent, plan, step, &reading);
		break;
	case PERF_ASK_CLEAR:
		perf_read_narrow(&reading, data, agent->capability);
		perf_account_cleared(plan->accounts, step->row, step->counters, &reading);
		break;
	default:
		perf_account_details(plan->accounts, step->row, step->question - PERF_ASK_DETAILS,
				     data, step->began_at_0, plan->now_ns);
	}
}

static bool is_unsupported(uint16_t status)
{
	uint16_t code = status & IBA_STATUS_CODE_MASK & ~(IBA_STATUS_BUSY | IBA_STATUS_REDIRECT);

	return code == IBA_STATUS_UNSUP_METHOD || code == IBA_STATUS_UNSUP_METHOD_ATTR;
}

/* Of an agent that does not tell it. */
static void assume_tick(struct perf_agent *agent, const struct perf_plan *plan)
{
	agent->knows_tick = true;
	agent->tick = plan->accounts->now->layout->places[agent->first_row].tick;
}

void perf_agent_refusal(struct perf_agent *agent, const struct perf_plan *plan,
			const struct perf_step *step, uint16_t status)
{
	back(agent);
	agent->answered = true;
	agent->lost = 0;
	switch (step->question) {
	case PERF_ASK_CLASS_PORT_INFO: /* mandatory; without it, PortCounters may work */
		agent->knows_class = true;
		break;
	case PERF_ASK_SAMPLES:
		assume_tick(agent, plan);
		break;
	case PERF_ASK_WIDE:
		refuse(agent, plan, step);
		if (!is_unsupported(status))
			break;
		agent->lacks |= BIT(PERF_ASK_WIDE);
		want(agent, (struct perf_step){.question = PERF_ASK_NARROW, .row = step->row});
		break;
	case PERF_ASK_CLEAR:
		agent->lacks |= is_unsupported(status) ? BIT(PERF_ASK_CLEAR) : 0;
		plan->accounts->clearing[step->row] &= ~step->counters;
		break;
	case PERF_ASK_NARROW:
		refuse(agent, plan, step);
		break;
	default:
		agent->lacks |= is_unsupported(status) ? BIT(step->question) : 0;
	}
}

void perf_agent_silence(struct perf_agent *agent, const struct perf_plan *plan,
			const struct perf_step *step)
{
	back(agent);
	if (step->question == PERF_ASK_SAMPLES && agent->answered) /* it does not know this one */
		assume_tick(agent, plan);
	if (step->question == PERF_ASK_NARROW || step->question == PERF_ASK_WIDE)
		mark(plan, step->row, PERF_SILENT);
	if (++agent->lost >= LOST_MAX || !agent->answered)
		give_up(agent, plan);
}

bool perf_agent_moved(struct perf_agent *agent, const struct perf_step *step)
{
	back(agent);
	agent->answered = true;
	agent->lost = 0;
	if (++agent->redirections > REDIRECTIONS_MAX * PERF_AT_ONCE)
		return false;
	agent->knows_class = agent->knows_tick = false; /* it may be another agent */
	if (step->row != PERF_NONE)
		g_array_append_val(agent->steps, *step);
	return true;
}

/* As far as the other end of its cable knows. */
static bool link_stayed_up(const struct perf_accounts *accounts, uint32_t row)
{
	const struct perf_place *place = &accounts->now->layout->places[row];

	return place->rate && place->peer != PERF_NONE &&
	       !(accounts->moves[row] & PERF_MOVE_LINK_DOWNED);
}

/*
 * All that had counted is lower than before, on several ports at least, or all links were down, or
 * the SM suspects it: not a tool that cleared some counters.
 */
static bool has_restarted(const struct perf_agent *agent, const struct perf_accounts *accounts)
{
	unsigned int fell = 0, read = 0;
	bool stayed = false;

	for (uint32_t row = agent->first_row; row < agent->first_row + agent->n_rows; row++) {
		if (!(accounts->now->flags[row] & PERF_READ))
			continue;
		read++;
		stayed |= link_stayed_up(accounts, row);
		if (!(accounts->moves[row] & PERF_MOVE_SOME))
			continue;
		if (!(accounts->moves[row] & PERF_MOVE_ALL_FELL))
			return false;
		fell++;
	}
	return fell > 1 || (read && (!stayed || agent->suspect));
}

static void note_restart(struct perf_agent *agent, struct perf_accounts *accounts)
{
	struct perf_image *now = accounts->now;

	for (uint32_t row = agent->first_row; row < agent->first_row + agent->n_rows; row++) {
		if (!(now->flags[row] & PERF_READ) || now->flags[row] & PERF_BASELINE)
			continue;
		now->flags[row] &= ~(PERF_RESET | PERF_RESET_ERRORS | PERF_RESET_DATA);
		now->flags[row] |= PERF_RESTARTED;
		now->at_least[row] |= now->have[row];
		now->missed[row] |= now->have[row];
	}
	perf_agent_forget(agent);
}

void perf_agent_end(struct perf_agent *agent, const struct perf_plan *plan)
{
	if (!agent->answered)
		perf_agent_forget(agent); /* where it redirects to, and what may start next */
	agent->silent_for = agent->answered ? 0 : agent->silent_for + 1;
	if (has_restarted(agent, plan->accounts))
		note_restart(agent, plan->accounts);
	for (uint32_t row = agent->first_row; row < agent->first_row + agent->n_rows; row++)
		if (agent->answered)
			plan->accounts->moves[row] &= ~PERF_MOVE_LINK_DOWNED;
	agent->suspect &= !agent->answered;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What devices tell of congestion and of wrong keys: the CongestionLog of each agent, read at an
 * interval, and trap 0. To read a log clears it, so only one manager should.
 */
#include <string.h>

#include "cc/cc_private.h"
#include "complib/bucket.h"

#define KEEP 4096 /* events */
#define TICK_NS 1024

/* ---- logs ---- */

/* The clock of the device, of 32 bits, may have begun again since the event. */
static int64_t time_of(uint32_t now, uint32_t stamp)
{
	return g_get_real_time() - (int64_t)((uint32_t)(now - stamp) * (uint64_t)TICK_NS / 1000);
}

static void add_event(struct cc *cc, const struct cc_agent *agent, struct cc_event event)
{
	event.guid = agent->guid;
	event.is_switch = agent->is_switch;
	if (cc->events->len >= KEEP)
		g_array_remove_range(cc->events, 0, KEEP / 4);
	g_array_append_val(cc->events, event);
}

static void take_switch_log(struct cc *cc, struct cc_agent *agent, const uint8_t *data)
{
	struct iba_congestion_log_switch log;
	unsigned int n;

	wire_decode(&iba_congestion_log_switch_type, data, &log);
	agent->log_events += log.log_events_counter;
	n = MIN(log.log_events_counter, G_N_ELEMENTS(log.event));
	for (unsigned int i = 0; i < n; i++) {
		const struct iba_congestion_log_event_switch *e = &log.event[i];

		if (e->slid || e->dlid)
			add_event(cc, agent,
				  (struct cc_event){
					  .time_us = time_of(log.current_time_stamp, e->time_stamp),
					  .slid = e->slid,
					  .dlid = e->dlid,
					  .sl = e->sl,
				  });
	}
	for (unsigned int i = 0; i < sizeof(log.port_map); i++)
		if (log.port_map[i] && !agent->marked)
			agent->marked = g_malloc0(sizeof(log.port_map));
	for (unsigned int i = 0; agent->marked && i < sizeof(log.port_map); i++)
		agent->marked[i] |= log.port_map[i];
}

/* Before the errata, events had another form: the LID of the port tells (A10.4.3.5). */
static bool is_old_form(const struct cc_agent *agent, const struct iba_congestion_log_ca *log)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(log->event); i++)
		if (log->event[i].local_lid_cn)
			return log->event[i].local_lid_cn >> agent->lmc !=
			       agent->lid >> agent->lmc;
	return false;
}

static struct cc_event ca_event(const struct iba_congestion_log_ca *log, unsigned int i)
{
	const struct iba_congestion_log_event_ca *e = &log->event[i];

	return (struct cc_event){
		.time_us = time_of(log->current_time_stamp, e->time_stamp_cn_entry),
		.slid = e->local_lid_cn,
		.dlid = e->remote_lid_cn_entry,
		.sl = e->sl_cn_entry,
		.service_type = e->service_type_cn_entry,
		.local_qp = e->local_qp_cn_entry,
		.remote_qp = e->remote_qp_number_cn_entry,
	};
}

static struct cc_event old_ca_event(const struct cc_agent *agent,
				    const struct iba_congestion_log_ca_old *log, unsigned int i)
{
	const struct iba_congestion_log_event_ca_old *e = &log->event[i];

	return (struct cc_event){
		.time_us = time_of(log->current_time_stamp, e->time_stamp_cn_entry),
		.slid = agent->lid,
		.dlid = e->remote_lid_cn_entry,
		.sl = e->sl_cn_entry,
		.service_type = e->service_type_cn_entry,
		.local_qp = e->local_qp_cn_entry,
		.remote_qp = e->remote_qp_number_cn_entry,
	};
}

static void take_ca_log(struct cc *cc, struct cc_agent *agent, const uint8_t *data)
{
	struct iba_congestion_log_ca log;
	struct iba_congestion_log_ca_old old;
	unsigned int n;
	bool is_old;

	wire_decode(&iba_congestion_log_ca_type, data, &log);
	wire_decode(&iba_congestion_log_ca_old_type, data, &old);
	is_old = is_old_form(agent, &log);
	agent->log_events += log.threshold_event_counter;
	n = MIN(log.threshold_event_counter, G_N_ELEMENTS(log.event));
	for (unsigned int i = 0; i < n; i++) {
		struct cc_event event =
			is_old ? old_ca_event(agent, &old, i) : ca_event(&log, i);

		if (event.dlid)
			add_event(cc, agent, event);
	}
}

void cc_take_log(struct cc *cc, struct cc_agent *agent, const uint8_t *data)
{
	if (agent->is_switch && data[0] == IBA_CC_LOG_SWITCH)
		take_switch_log(cc, agent, data);
	else if (!agent->is_switch && data[0] == IBA_CC_LOG_CA)
		take_ca_log(cc, agent, data);
}

static void start_polling(struct cc *cc)
{
	if (cc->options->congestion_control && cc->options->cc_log_poll)
		timer_start(&cc->poll, cc->options->cc_log_poll * NS_PER_S);
	else
		timer_stop(&cc->poll);
}

static void on_poll(struct timer *timer)
{
	struct cc *cc = container_of(timer, struct cc, poll);

	start_polling(cc);
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		agent->wants_log = agent->state == CC_RIGHT && !agent->lacks_log;
	}
	cc_round_want(cc);
}

/* ---- traps ---- */

static struct cc_agent *agent_at(struct cc *cc, uint16_t lid)
{
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		if (agent->lid && agent->lid >> agent->lmc == lid >> agent->lmc)
			return agent;
	}
	return NULL;
}

/*
 * Someone has asked the device with a wrong key, and its lease runs: a MAD with the right one stops
 * that. The claim of a trap is not believed further.
 */
static void take_trap(struct cc *cc, const struct vendor_mad *mad)
{
	struct iba_sa_notice notice;
	struct iba_trap_cc_key details;
	struct cc_agent *agent;

	cc->traps++;
	if (!bucket_take(&cc->trap_turns, actor_now(cc->actor)))
		return;
	agent = agent_at(cc, mad->remote.lid);
	wire_decode(&iba_sa_notice_type, mad->data + IBA_CC_DATA_OFFSET, &notice);
	wire_decode(&iba_trap_cc_key_type, notice.notice.data_details, &details);
	if (!agent || notice.notice.trap_number != IBA_CC_TRAP_BAD_CC_KEY)
		return;
	cc->trap_from = details.slid;
	if (bucket_take(&cc->trap_lines, actor_now(cc->actor)))
		log_error(cc->context->log,
			  "LID %u: LID %u sent it a wrong CC_Key (method 0x%02x, attribute "
			  "0x%04x); %" G_GUINT64_FORMAT " such traps so far",
			  mad->remote.lid, details.slid, details.method,
			  details.attribute_id, cc->traps);
	if (agent->state != CC_RIGHT || agent->in_flight)
		return;
	cc_agent_check_key(agent);
	if (!timer_running(&cc->retry))
		timer_start(&cc->retry, NS_PER_S);
}

static void receive(void *arg, struct vendor_mad *mad)
{
	struct cc *cc = arg;
	uint8_t *answer;

	if (mad->length < IBA_MAD_BYTES || mad->data[3] != IBA_METHOD_TRAP) {
		vendor_mad_free(mad);
		return;
	}
	take_trap(cc, mad);
	answer = g_memdup2(mad->data, IBA_MAD_BYTES);
	answer[3] = IBA_METHOD_TRAP_REPRESS;
	mad_reply(cc->mad, mad, answer, IBA_MAD_BYTES, NULL);
}

/* ---- life ---- */

void cc_watch_options(struct cc *cc)
{
	start_polling(cc);
}

void cc_watch_init(struct cc *cc)
{
	const struct vendor_client client = {.actor = cc->actor, .arg = cc, .receive = receive};

	cc->events = g_array_new(FALSE, FALSE, sizeof(struct cc_event));
	bucket_init(&cc->trap_lines, 1, 5);
	bucket_init(&cc->trap_turns, 100, 100);
	timer_init(&cc->poll, cc->actor, on_poll);
	mad_serve(cc->mad, IBA_CLASS_CC, &client);
}

void cc_watch_clear(struct cc *cc)
{
	g_array_unref(cc->events);
}

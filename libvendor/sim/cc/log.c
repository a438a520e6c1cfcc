// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The CongestionLog and the time of an agent (IBA A10.4.3.5, A10.4.3.10).
 *
 * Nothing is ever congested here, so events are made by hand. The log is a ring that is shown as it
 * is: the newest event is the one with the youngest time, wherever it is. Reading it resets the
 * counter and the map, not the events; those that are older than twice the time in which a time
 * stamp wraps are shown as zeros (CA10-49).
 */
#include <string.h>

#include "libvendor/sim/cc/cc.h"

/* ---- time ---- */

static uint64_t ticks_of(const struct sim *sim, const struct sim_node *node)
{
	return (actor_now(sim->actor) - node->cc_zero) / CC_TIME_UNIT;
}

void sim_cc_set_time(struct sim *sim, unsigned int node, uint32_t time_stamp)
{
	sim_node_at(sim, node)->cc_zero =
		actor_now(sim->actor) - (uint64_t)time_stamp * CC_TIME_UNIT;
}

uint16_t cc_time_stamp(struct cc_request *request)
{
	const struct iba_time_stamp stamp = {
		.time_stamp = (uint32_t)ticks_of(request->sim, request->node)};

	return cc_answer(request, &iba_time_stamp_type, &stamp);
}

/* ---- events ---- */

static unsigned int log_size(const struct sim_node *node)
{
	return node->sw ? CC_SWITCH_EVENTS : CC_CA_EVENTS;
}

static void log_event(struct sim *sim, struct sim_port *end, const struct sim_cc_event *event,
		      unsigned int times)
{
	struct cc_log *log = &cc_of(sim, end)->log;
	unsigned int size = log_size(end->node);

	log->counter = (uint16_t)MIN(log->counter + (uint64_t)times, UINT16_MAX);
	for (unsigned int i = 0; i < MIN(times, size); i++) {
		log->events[log->next] = (struct cc_logged){true, ticks_of(sim, end->node), *event};
		log->next = (log->next + 1) % size;
	}
}

static void count_fecn(struct sim *sim, const struct sim_cc_event *event, unsigned int times)
{
	for (unsigned int i = 0; i < sim->n_ports; i++) {
		struct sim_port *port = &sim->ports[i];

		if (!sim_owns_lid(port, event->dlid))
			continue;
		sim_count(port, SIM_COUNT_PORT_PKT_RCV_FECN, times);
		sim_count(port, SIM_COUNT_SL_RCV_FECN + event->sl, times);
	}
}

static void switch_event(struct sim *sim, struct sim_port *port, const struct sim_cc_event *event,
			 unsigned int times)
{
	struct sim_port *end = &port->node->ports[0];
	struct cc_log *log = &cc_of(sim, end)->log;

	log_event(sim, end, event, times);
	log->port_map[sizeof(log->port_map) - 1 - port->number / 8] |= 1 << port->number % 8;
	sim_count(port, SIM_COUNT_VL_CONGESTION + sma_vl(port, 0, event->sl), times);
	count_fecn(sim, event, times);
}

static void ca_event(struct sim *sim, struct sim_port *port, const struct sim_cc_event *event,
		     unsigned int times)
{
	struct sim_cc_event logged = *event;

	if (!logged.slid)
		logged.slid = port->info.lid;
	log_event(sim, port, &logged, times);
	port->cc->log.sl_map |= 1 << event->sl;
	sim_count(port, SIM_COUNT_PORT_PKT_RCV_BECN, times);
	sim_count(port, SIM_COUNT_SL_RCV_BECN + event->sl, times);
}

bool sim_cc_event(struct sim *sim, unsigned int index, unsigned int port,
		  const struct sim_cc_event *event, unsigned int times)
{
	struct sim_node *node = sim_node_at(sim, index);

	if (port < 1 || port > node->num_ports || event->sl > 15)
		return false;
	if (!times)
		return true;
	if (node->sw)
		switch_event(sim, &node->ports[port], event, times);
	else
		ca_event(sim, &node->ports[port], event, times);
	return true;
}

/* ---- the attribute ---- */

/* The event at a place, NULL: none, or too old. */
static const struct cc_logged *logged(const struct cc_request *request, unsigned int place)
{
	const struct cc_logged *at = &request->cc->log.events[place];
	uint64_t age = ticks_of(request->sim, request->node) - at->ticks;

	return at->used && age / 2 <= UINT32_MAX ? at : NULL;
}

static uint16_t switch_log(struct cc_request *request)
{
	const struct cc_log *log = &request->cc->log;
	struct iba_congestion_log_switch shown = {
		.log_type = IBA_CC_LOG_SWITCH,
		.log_events_counter = log->counter,
		.current_time_stamp = (uint32_t)ticks_of(request->sim, request->node),
	};

	memcpy(shown.port_map, log->port_map, sizeof(shown.port_map));
	for (unsigned int i = 0; i < CC_SWITCH_EVENTS; i++) {
		const struct cc_logged *at = logged(request, i);

		if (at)
			shown.event[i] = (struct iba_congestion_log_event_switch){
				.slid = at->event.slid,
				.dlid = at->event.dlid,
				.sl = at->event.sl,
				.time_stamp = (uint32_t)at->ticks,
			};
	}
	return cc_answer(request, &iba_congestion_log_switch_type, &shown);
}

static uint16_t ca_log(struct cc_request *request)
{
	struct iba_congestion_log_ca shown = {
		.log_type = IBA_CC_LOG_CA,
		.threshold_event_counter = request->cc->log.counter,
		.threshold_congestion_event_map = request->cc->log.sl_map,
		.current_time_stamp = (uint32_t)ticks_of(request->sim, request->node),
	};

	for (unsigned int i = 0; i < CC_CA_EVENTS; i++) {
		const struct cc_logged *at = logged(request, i);

		if (at)
			shown.event[i] = (struct iba_congestion_log_event_ca){
				.local_qp_cn_entry = at->event.local_qp,
				.sl_cn_entry = at->event.sl,
				.service_type_cn_entry = at->event.service_type,
				.remote_qp_number_cn_entry = at->event.remote_qp,
				.local_lid_cn = at->event.slid,
				.remote_lid_cn_entry = at->event.dlid,
				.time_stamp_cn_entry = (uint32_t)at->ticks,
			};
	}
	return cc_answer(request, &iba_congestion_log_ca_type, &shown);
}

static uint16_t old_ca_log(struct cc_request *request)
{
	struct iba_congestion_log_ca_old shown = {
		.log_type = IBA_CC_LOG_CA,
		.threshold_event_counter = request->cc->log.counter,
		.threshold_congestion_event_map = request->cc->log.sl_map,
		.current_time_stamp = (uint32_t)ticks_of(request->sim, request->node),
	};

	for (unsigned int i = 0; i < CC_CA_EVENTS; i++) {
		const struct cc_logged *at = logged(request, i);

		if (at)
			shown.event[i] = (struct iba_congestion_log_event_ca_old){
				.local_qp_cn_entry = at->event.local_qp,
				.remote_qp_number_cn_entry = at->event.remote_qp,
				.sl_cn_entry = at->event.sl,
				.service_type_cn_entry = at->event.service_type,
				.remote_lid_cn_entry = at->event.dlid,
				.time_stamp_cn_entry = (uint32_t)at->ticks,
			};
	}
	return cc_answer(request, &iba_congestion_log_ca_old_type, &shown);
}

uint16_t cc_congestion_log(struct cc_request *request)
{
	struct cc_log *log = &request->cc->log;
	uint16_t status;

	if (request->node->sw)
		status = switch_log(request);
	else
		status = request->cca->kinds & SIM_CC_OLD_LOG ? old_ca_log(request)
							      : ca_log(request);
	log->counter = log->sl_map = 0;
	memset(log->port_map, 0, sizeof(log->port_map));
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The CongestionLog and the time of an agent (IBA A10.4.3.5, A10.4.3.10).
 *
 * Nothing is ever congested here, so logs are empty.
 */
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

/* ---- the attribute ---- */

uint16_t cc_congestion_log(struct cc_request *request)
{
	const uint32_t now = (uint32_t)ticks_of(request->sim, request->node);
	const struct iba_congestion_log_switch of_switch = {
		.log_type = IBA_CC_LOG_SWITCH,
		.current_time_stamp = now,
	};
	const struct iba_congestion_log_ca of_ca = {
		.log_type = IBA_CC_LOG_CA,
		.current_time_stamp = now,
	};

	if (request->node->sw)
		return cc_answer(request, &iba_congestion_log_switch_type, &of_switch);
	return cc_answer(request, &iba_congestion_log_ca_type, &of_ca);
}

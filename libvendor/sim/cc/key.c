// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The CC_Key of a port (IBA A10.4.1), and where its traps go.
 *
 * All methods except Get(CongestionKeyInfo) need the right CC_Key, once one is set. ClassPortInfo
 * says where a trap about a wrong one is sent, which trap.c repeats until it is repressed.
 */
#include "libvendor/sim/cc/cc.h"

#define TRAP_SUPPORTED 1 /* of CapabilityMask */
#define ENHANCED_PORT0_CC (1 << 8)
#define OLD_RESP_TIME_VALUE 18 /* 1.07 s */

void cc_key_lease_expired(struct timer *timer)
{
	((struct sim_cc *)timer)->key.cc_key_protect_bit = 0;
}

static void violation(const struct cc_request *request)
{
	struct iba_congestion_key_info *key = &request->cc->key;

	if (key->cc_key_violations < 0xFFFF)
		key->cc_key_violations++;
	if (key->cc_key_lease_period && !timer_running(&request->cc->lease))
		timer_start(&request->cc->lease, key->cc_key_lease_period * NS_PER_S);
	sim_trap_cc_key(request->packet, request->port);
}

bool cc_key_passes(const struct cc_request *request)
{
	const struct iba_congestion_key_info *key = &request->cc->key;

	if (cc_is(request->node, SIM_CC_KEYLESS) || cc_is_old(request->node))
		return true;
	if (!key->cc_key || key->cc_key == request->cc_key) {
		timer_stop(&request->cc->lease);
		return true;
	}
	if (request->id == IBA_ATTR_CONGESTION_KEY_INFO && !request->set)
		return true;
	violation(request);
	return false;
}

uint16_t cc_key_info(struct cc_request *request)
{
	struct iba_congestion_key_info *key = &request->cc->key, wanted;

	if (request->set) {
		wire_decode(&iba_congestion_key_info_type, cc_data(request), &wanted);
		key->cc_key = wanted.cc_key;
		key->cc_key_protect_bit = wanted.cc_key_protect_bit;
		key->cc_key_lease_period = wanted.cc_key_lease_period;
		if (!wanted.cc_key_violations)
			key->cc_key_violations = 0;
	}
	wanted = *key;
	if (!request->set && key->cc_key_protect_bit && key->cc_key != request->cc_key)
		wanted.cc_key = 0;
	return cc_answer(request, &iba_congestion_key_info_type, &wanted);
}

static void set_traps(struct iba_class_port_info *traps, const struct iba_class_port_info *wanted)
{
	traps->trap_gid = wanted->trap_gid;
	traps->trap_tc = wanted->trap_tc;
	traps->trap_sl = wanted->trap_sl;
	traps->trap_fl = wanted->trap_fl;
	traps->trap_lid = wanted->trap_lid;
	traps->trap_p_key = wanted->trap_p_key;
	traps->trap_hl = wanted->trap_hl;
	traps->trap_qp = wanted->trap_qp;
	traps->trap_q_key = wanted->trap_q_key;
}

/* Only the destination of traps can be written. */
uint16_t cc_class_port_info(struct cc_request *request)
{
	uint32_t kinds = request->cca->kinds;
	bool old = cc_is_old(request->node);
	struct iba_class_port_info info;

	if (request->set) {
		wire_decode(&iba_class_port_info_type, cc_data(request), &info);
		set_traps(&request->cc->traps, &info);
	}
	info = request->cc->traps;
	info.base_version = IBA_BASE_VERSION;
	info.class_version = old || kinds & SIM_CC_VERSION_1 ? 1 : IBA_CC_CLASS_VERSION;
	info.resp_time_value = old ? OLD_RESP_TIME_VALUE : SIM_RESP_TIME_VALUE;
	info.capability_mask = (kinds & SIM_CC_TRAPS && !old ? TRAP_SUPPORTED : 0) |
			       (request->node->sw && kinds & SIM_CC_PORT0 ? ENHANCED_PORT0_CC : 0);
	return cc_answer(request, &iba_class_port_info_type, &info);
}

const struct iba_class_port_info *sim_cc_trap_target(const struct sim_port *port)
{
	const struct sim_node *node = port->node;

	if (!port->cc || !port->cc->traps.trap_lid || !cc_is(node, SIM_CC_TRAPS))
		return NULL;
	return &port->cc->traps;
}

bool sim_cc_repress(struct sim_port *port, struct sim_packet *packet)
{
	uint64_t tid = sim_read64(packet->data + SIM_MAD_TID);
	struct cc_request request;

	if (!sim_trap_is_repeated(port, IBA_CLASS_CC, tid))
		return false;
	request = cc_read_request(packet);
	request.id = IBA_ATTR_NOTICE; /* whatever it says: it has to have the key */
	/* A sender that does not know the key cannot repress the trap. */
	if (cc_key_passes(&request))
		sim_trap_end(port, IBA_CLASS_CC, tid);
	return true;
}

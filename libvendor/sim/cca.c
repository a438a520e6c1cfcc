// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The congestion control agent of every node (IBA annex A10): it stores what a manager sets and
 * reports it again. There is no congestion here, so logs are empty. A node gets its state with the
 * first MAD of the class, and loses it at power off.
 *
 * All methods except Get(CongestionKeyInfo) need the right CC_Key, once one is set (A10.4.1).
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define CONTROL_TABLE_BLOCKS 2
#define PORTS_A_BLOCK 32
#define ENTRIES_A_BLOCK 64
#define CC_KEY_AT 24
#define CREDIT_STARVATION 1 /* in CongestionInfo */

struct sim_cc {
	struct timer lease;
	struct iba_congestion_key_info key;
	struct iba_class_port_info class_port_info;
	struct iba_switch_congestion_setting switch_setting;
	struct iba_switch_port_congestion_element *ports; /* of a switch */
	struct iba_ca_congestion_setting ca_setting;
	struct iba_congestion_control_table table[CONTROL_TABLE_BLOCKS];
};

struct request {
	struct sim *sim;
	struct sim_node *node;
	struct sim_cc *cc;
	bool set;
	uint32_t modifier;
	uint64_t cc_key;
	uint8_t *mad;
};

/* ---- state and key ---- */

static void lease_expired(struct timer *timer)
{
	((struct sim_cc *)timer)->key.cc_key_protect_bit = 0;
}

static unsigned int port_blocks(const struct sim_node *node)
{
	return node->num_ports / PORTS_A_BLOCK + 1;
}

static struct sim_cc *cc_of(struct sim *sim, struct sim_node *node)
{
	struct sim_cc *cc = node->cc;

	if (cc)
		return cc;
	cc = node->cc = g_new0(struct sim_cc, 1);
	timer_init(&cc->lease, sim->actor, lease_expired);
	cc->class_port_info.base_version = IBA_BASE_VERSION;
	cc->class_port_info.class_version = IBA_CC_CLASS_VERSION;
	cc->class_port_info.resp_time_value = SIM_RESP_TIME_VALUE;
	if (node->sw)
		cc->ports = g_new0(struct iba_switch_port_congestion_element,
				   port_blocks(node) * PORTS_A_BLOCK);
	return cc;
}

void sim_cc_clear(struct sim_node *node)
{
	if (!node->cc)
		return;
	timer_stop(&node->cc->lease);
	g_free(node->cc->ports);
	g_clear_pointer(&node->cc, g_free);
}

static bool key_passes(const struct request *request, uint16_t id)
{
	struct iba_congestion_key_info *key = &request->cc->key;

	if (!key->cc_key || key->cc_key == request->cc_key) {
		timer_stop(&request->cc->lease);
		return true;
	}
	if (id == IBA_ATTR_CONGESTION_KEY_INFO && !request->set)
		return true;
	if (key->cc_key_violations < 0xFFFF)
		key->cc_key_violations++;
	if (key->cc_key_lease_period && !timer_running(&request->cc->lease))
		timer_start(&request->cc->lease, key->cc_key_lease_period * NS_PER_S);
	return false;
}

static uint8_t *data_of(const struct request *request)
{
	return request->mad + IBA_CC_DATA_OFFSET;
}

static uint16_t answer(const struct request *request, const struct wire_type *type,
		       const void *host)
{
	memset(data_of(request), 0, IBA_CC_DATA_BYTES);
	wire_encode(type, host, data_of(request));
	return IBA_STATUS_OK;
}

/* ---- for all nodes ---- */

/* Only the destination of traps can be written. */
static uint16_t class_port_info(struct request *request)
{
	struct iba_class_port_info *info = &request->cc->class_port_info, wanted;

	wire_decode(&iba_class_port_info_type, data_of(request), &wanted);
	if (request->set) {
		info->trap_gid = wanted.trap_gid;
		info->trap_tc = wanted.trap_tc;
		info->trap_sl = wanted.trap_sl;
		info->trap_fl = wanted.trap_fl;
		info->trap_lid = wanted.trap_lid;
		info->trap_p_key = wanted.trap_p_key;
		info->trap_hl = wanted.trap_hl;
		info->trap_qp = wanted.trap_qp;
		info->trap_q_key = wanted.trap_q_key;
	}
	return answer(request, &iba_class_port_info_type, info);
}

static uint16_t congestion_info(struct request *request)
{
	const struct iba_congestion_info info = {
		.congestion_info = request->node->sw ? CREDIT_STARVATION : 0,
		.control_table_cap = request->node->sw ? 0 : CONTROL_TABLE_BLOCKS,
	};

	return answer(request, &iba_congestion_info_type, &info);
}

static uint16_t congestion_key_info(struct request *request)
{
	struct iba_congestion_key_info *key = &request->cc->key, wanted;

	if (request->set) {
		wire_decode(&iba_congestion_key_info_type, data_of(request), &wanted);
		key->cc_key = wanted.cc_key;
		key->cc_key_protect_bit = wanted.cc_key_protect_bit;
		key->cc_key_lease_period = wanted.cc_key_lease_period;
		if (!wanted.cc_key_violations)
			key->cc_key_violations = 0;
	}
	wanted = *key;
	if (!request->set && key->cc_key_protect_bit && key->cc_key != request->cc_key)
		wanted.cc_key = 0;
	return answer(request, &iba_congestion_key_info_type, &wanted);
}

/* In units of 1.024 us. */
static uint32_t time_stamp_now(const struct request *request)
{
	return actor_now(request->sim->actor) / 1024;
}

static uint16_t time_stamp(struct request *request)
{
	const struct iba_time_stamp stamp = {.time_stamp = time_stamp_now(request)};

	return answer(request, &iba_time_stamp_type, &stamp);
}

static uint16_t congestion_log(struct request *request)
{
	uint8_t *data = request->mad + IBA_CC_LOG_DATA_OFFSET;

	memset(data, 0, IBA_MAD_BYTES - IBA_CC_LOG_DATA_OFFSET);
	if (request->node->sw) {
		const struct iba_congestion_log_switch log = {
			.log_type = IBA_CC_LOG_SWITCH,
			.current_time_stamp = time_stamp_now(request),
		};

		wire_encode(&iba_congestion_log_switch_type, &log, data);
	} else {
		const struct iba_congestion_log_ca log = {
			.log_type = IBA_CC_LOG_CA,
			.current_time_stamp = time_stamp_now(request),
		};

		wire_encode(&iba_congestion_log_ca_type, &log, data);
	}
	return IBA_STATUS_OK;
}

/* ---- for switches ---- */

/* Bits of ControlMap. */
enum {
	MAP_VICTIM = 1 << 0,
	MAP_CREDIT = 1 << 1,
	MAP_THRESHOLD = 1 << 2,
	MAP_STARVATION = 1 << 3,
	MAP_MARKING = 1 << 4,
};

static uint16_t switch_setting(struct request *request)
{
	struct iba_switch_congestion_setting *now = &request->cc->switch_setting, wanted;

	wire_decode(&iba_switch_congestion_setting_type, data_of(request), &wanted);
	if (request->set) {
		now->control_map = wanted.control_map;
		if (wanted.control_map & MAP_VICTIM)
			memcpy(now->victim_mask, wanted.victim_mask, sizeof(now->victim_mask));
		if (wanted.control_map & MAP_CREDIT)
			memcpy(now->credit_mask, wanted.credit_mask, sizeof(now->credit_mask));
		if (wanted.control_map & MAP_THRESHOLD) {
			now->threshold = wanted.threshold;
			now->packet_size = wanted.packet_size;
		}
		if (wanted.control_map & MAP_STARVATION) {
			now->cs_threshold = wanted.cs_threshold;
			now->cs_return_delay = wanted.cs_return_delay;
		}
		if (wanted.control_map & MAP_MARKING)
			now->marking_rate = wanted.marking_rate;
	}
	return answer(request, &iba_switch_congestion_setting_type, now);
}

/* Elements that are not valid leave their ports unchanged. */
static uint16_t switch_port_setting(struct request *request)
{
	struct iba_switch_port_congestion_element *ports;
	struct iba_switch_port_congestion_setting wanted;

	if (request->modifier >= port_blocks(request->node))
		return IBA_STATUS_INVALID_FIELD;
	ports = request->cc->ports + request->modifier * PORTS_A_BLOCK;
	wire_decode(&iba_switch_port_congestion_setting_type, data_of(request), &wanted);
	for (unsigned int i = 0; i < PORTS_A_BLOCK; i++) {
		if (request->set && wanted.port[i].valid)
			ports[i] = wanted.port[i];
		wanted.port[i] = ports[i];
	}
	return answer(request, &iba_switch_port_congestion_setting_type, &wanted);
}

/* ---- for channel adapters ---- */

static uint16_t ca_setting(struct request *request)
{
	struct iba_ca_congestion_setting *now = &request->cc->ca_setting, wanted;

	wire_decode(&iba_ca_congestion_setting_type, data_of(request), &wanted);
	if (request->set) {
		now->port_control = wanted.port_control;
		now->control_map = wanted.control_map;
		for (unsigned int sl = 0; sl < G_N_ELEMENTS(now->sl); sl++)
			if (wanted.control_map >> sl & 1)
				now->sl[sl] = wanted.sl[sl];
	}
	return answer(request, &iba_ca_congestion_setting_type, now);
}

static uint16_t control_table(struct request *request)
{
	struct iba_congestion_control_table *now, wanted;

	if (request->modifier >= CONTROL_TABLE_BLOCKS)
		return IBA_STATUS_INVALID_FIELD;
	now = &request->cc->table[request->modifier];
	wire_decode(&iba_congestion_control_table_type, data_of(request), &wanted);
	if (request->set && wanted.ccti_limit >= CONTROL_TABLE_BLOCKS * ENTRIES_A_BLOCK)
		return IBA_STATUS_INVALID_FIELD;
	if (request->set) {
		*now = wanted;
		for (unsigned int i = 0; i < CONTROL_TABLE_BLOCKS; i++) /* one common limit */
			request->cc->table[i].ccti_limit = wanted.ccti_limit;
	}
	return answer(request, &iba_congestion_control_table_type, now);
}

/* ---- dispatch ---- */

enum who {
	SWITCHES = 1,
	OTHERS = 2,
	ALL = SWITCHES | OTHERS,
};

static const struct {
	uint16_t id;
	uint16_t (*serve)(struct request *request);
	bool settable;
	enum who who;
} attributes[] = {
	{IBA_ATTR_CLASS_PORT_INFO, class_port_info, true, ALL},
	{IBA_ATTR_CONGESTION_INFO, congestion_info, false, ALL},
	{IBA_ATTR_CONGESTION_KEY_INFO, congestion_key_info, true, ALL},
	{IBA_ATTR_CONGESTION_LOG, congestion_log, false, ALL},
	{IBA_ATTR_SWITCH_CONGESTION_SETTING, switch_setting, true, SWITCHES},
	{IBA_ATTR_SWITCH_PORT_CONGESTION_SETTING, switch_port_setting, true, SWITCHES},
	{IBA_ATTR_CA_CONGESTION_SETTING, ca_setting, true, OTHERS},
	{IBA_ATTR_CONGESTION_CONTROL_TABLE, control_table, true, OTHERS},
	{IBA_ATTR_TIME_STAMP, time_stamp, false, ALL},
};

uint16_t sim_cca(struct sim_packet *packet)
{
	uint16_t id = sim_read16(packet->data + SIM_MAD_ATTRIBUTE);
	struct request request = {
		.sim = packet->sim,
		.node = packet->node,
		.cc = cc_of(packet->sim, packet->node),
		.set = packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET,
		.modifier = sim_read32(packet->data + SIM_MAD_MODIFIER),
		.cc_key = sim_read64(packet->data + CC_KEY_AT),
		.mad = packet->data,
	};
	enum who who = packet->node->sw ? SWITCHES : OTHERS;

	if (packet->data[SIM_MAD_CLASS_VERSION] != IBA_CC_CLASS_VERSION)
		return IBA_STATUS_UNSUP_VERSION;
	if (!key_passes(&request, id))
		return SIM_GSA_SILENT;
	memset(packet->data + CC_KEY_AT, 0, 8);
	for (size_t i = 0; i < G_N_ELEMENTS(attributes); i++)
		if (attributes[i].id == id && attributes[i].who & who &&
		    (attributes[i].settable || !request.set))
			return attributes[i].serve(&request);
	return IBA_STATUS_UNSUP_METHOD_ATTR;
}

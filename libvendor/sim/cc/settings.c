// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The settings of switches and of channel adapters (IBA A10.4.3.6 to A10.4.3.9). */
#include <string.h>

#include "libvendor/sim/cc/cc.h"

/* ---- for switches ---- */

/* Bits of ControlMap. */
enum {
	MAP_VICTIM = 1 << 0,
	MAP_CREDIT = 1 << 1,
	MAP_THRESHOLD = 1 << 2,
	MAP_STARVATION = 1 << 3,
	MAP_MARKING = 1 << 4,
};

uint16_t cc_switch_setting(struct cc_request *request)
{
	struct iba_switch_congestion_setting *now = &request->cc->switch_setting, wanted;

	wire_decode(&iba_switch_congestion_setting_type, cc_data(request), &wanted);
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
	return cc_answer(request, &iba_switch_congestion_setting_type, now);
}

unsigned int cc_port_blocks(const struct sim_node *node)
{
	return node->num_ports / SIM_CC_PORTS_A_BLOCK + 1;
}

/* Elements that are not valid leave their ports unchanged; those of no port stay 0. */
uint16_t cc_switch_port_setting(struct cc_request *request)
{
	struct iba_switch_port_congestion_element *ports;
	struct iba_switch_port_congestion_setting wanted;
	unsigned int first;

	if (request->modifier >= cc_port_blocks(request->node))
		return IBA_STATUS_INVALID_FIELD;
	first = request->modifier * SIM_CC_PORTS_A_BLOCK;
	ports = request->cc->ports + first;
	wire_decode(&iba_switch_port_congestion_setting_type, cc_data(request), &wanted);
	for (unsigned int i = 0; i < SIM_CC_PORTS_A_BLOCK; i++) {
		if (request->set && wanted.port[i].valid && first + i <= request->node->num_ports)
			ports[i] = wanted.port[i];
		wanted.port[i] = ports[i];
	}
	return cc_answer(request, &iba_switch_port_congestion_setting_type, &wanted);
}

/* ---- for channel adapters ---- */

uint16_t cc_ca_setting(struct cc_request *request)
{
	struct iba_ca_congestion_setting *now = &request->cc->ca_setting, wanted;

	wire_decode(&iba_ca_congestion_setting_type, cc_data(request), &wanted);
	if (request->set) {
		now->port_control = wanted.port_control;
		now->control_map = wanted.control_map;
		for (unsigned int sl = 0; sl < G_N_ELEMENTS(now->sl); sl++)
			if (wanted.control_map >> sl & 1)
				now->sl[sl] = wanted.sl[sl];
	}
	return cc_answer(request, &iba_ca_congestion_setting_type, now);
}

struct iba_congestion_control_entry *cc_table(struct sim_port *port)
{
	if (!port->cc->table)
		port->cc->table = g_new0(struct iba_congestion_control_entry,
					 cc_cap(port->node) * SIM_CC_ENTRIES_A_BLOCK);
	return port->cc->table;
}

/* A block of the table; the limit is that of the whole. */
uint16_t cc_control_table(struct cc_request *request)
{
	unsigned int cap = cc_cap(request->node);
	struct iba_congestion_control_table table;
	struct iba_congestion_control_entry *block;

	if (request->modifier >= cap)
		return IBA_STATUS_INVALID_FIELD;
	wire_decode(&iba_congestion_control_table_type, cc_data(request), &table);
	if (request->set && table.ccti_limit >= cap * SIM_CC_ENTRIES_A_BLOCK)
		return IBA_STATUS_INVALID_FIELD;
	block = cc_table(request->port) + request->modifier * SIM_CC_ENTRIES_A_BLOCK;
	if (request->set) {
		memcpy(block, table.entry, sizeof(table.entry));
		request->cc->ccti_limit = table.ccti_limit;
	}
	memcpy(table.entry, block, sizeof(table.entry));
	table.ccti_limit = request->cc->ccti_limit;
	return cc_answer(request, &iba_congestion_control_table_type, &table);
}

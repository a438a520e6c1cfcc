// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The congestion control agents of a simulated fabric (IBA annex A10): what they are, what they
 * hold, and events in their logs. Nothing in the simulator is ever congested.
 *
 * All functions are [owner], see sim.h. What an agent is outlives a restart of its node, as its
 * firmware does; what managers have set does not. Settings belong to an end port: to port 0 of a
 * switch, and to each port of a CA by itself.
 */
#ifndef VENDOR_SIM_CC_H
#define VENDOR_SIM_CC_H

#include "vendor/sim.h"

#define SIM_CC_ENTRIES_A_BLOCK 64
#define SIM_CC_PORTS_A_BLOCK 32
#define SIM_CC_BLOCKS 2 /* ControlTableCap of CAs, if not set otherwise */
#define SIM_CC_BLOCKS_MAX 16

/* ---- what an agent is ---- */
enum sim_cc_kind_bit {
#define SIM_CC_KIND(name, text, help) SIM_CC_BIT_##name,
#include <vendor/sim_cc_kind.def>
	SIM_CC_BITS
};
enum sim_cc_kind {
#define SIM_CC_KIND(name, text, help) SIM_CC_##name = 1 << SIM_CC_BIT_##name,
#include <vendor/sim_cc_kind.def>
};
#define SIM_CC_DEFAULT SIM_CC_TRAPS /* of all nodes */

/* Kinds of a node, as bits of enum sim_cc_kind. */
uint32_t sim_cc_kinds(const struct sim *sim, unsigned int node);
/* Changes the kinds of a node. If that changes ControlTableCap, its tables are lost. */
void sim_cc_set(struct sim *sim, unsigned int node, uint32_t kinds);

/*
 * How an agent answers requests for an attribute (0: any) by a method (IBA_METHOD_GET, _SET; 0:
 * both): with a status, not at all, to a Set with its present values (_IGNORE), or as if it had
 * applied the Set (_FORGET). SIM_CC_SERVE ends the rule with that attribute and method. The newest
 * rule that fits counts. False: SIM_CC_RULES_MAX others are there.
 *
 * A node without such an agent is status 0xC for everything, as the kernel of Linux answers, or
 * silence.
 */
#define SIM_CC_RULES_MAX 16
enum sim_cc_answer {
	SIM_CC_SERVE,
	SIM_CC_STATUS,
	SIM_CC_SILENCE,
	SIM_CC_IGNORE,
	SIM_CC_FORGET,
	SIM_CC_ANSWERS
};
struct sim_cc_rule {
	uint16_t attribute;
	uint8_t method;
	enum sim_cc_answer answer;
	uint16_t status; /* of SIM_CC_STATUS */
};
bool sim_cc_answer(struct sim *sim, unsigned int node, const struct sim_cc_rule *rule);
/* It answers nothing for that time; 0: it answers again. */
void sim_cc_silence(struct sim *sim, unsigned int node, uint64_t ns);
/*
 * CongestionInfo and ControlTableCap, at most SIM_CC_BLOCKS_MAX, else false. Tables of the node are
 * then as after power on.
 */
bool sim_cc_set_info(struct sim *sim, unsigned int node, uint16_t congestion_info, uint8_t cap);
/* All of the above is as at the start. */
void sim_cc_set_default(struct sim *sim, unsigned int node);

/* ---- what happens to it ---- */
/* It loses keys, settings and log, and its time begins at 0; the node does not notice. */
void sim_cc_restart(struct sim *sim, unsigned int node);
/* Its TimeStamp is now that; it goes on in units of 1.024 us. */
void sim_cc_set_time(struct sim *sim, unsigned int node, uint32_t time_stamp);
/*
 * An event for its log, as often as times says. Of a switch: an external port marked a packet. Of a
 * CA: the CCTI of a flow from that port reached its threshold. Ports count it: SWPortVLCongestion
 * of the switch port and FECN where the packet goes to, or BECN of the CA's port. False: no such
 * port.
 */
struct sim_cc_event {
	uint16_t slid, dlid; /* of the packets; slid 0 at a CA: the port's LID */
	uint8_t sl;
	uint8_t service_type; /* the others are for the log of a CA */
	uint32_t local_qp, remote_qp;
};
bool sim_cc_event(struct sim *sim, unsigned int node, unsigned int port,
		  const struct sim_cc_event *event, unsigned int times);

/* ---- what it holds ---- */
/* A copy; all is 0 until a manager asks for the port. */
struct sim_cc_view {
	struct iba_congestion_key_info key;
	bool lease_runs;
	struct iba_class_port_info class_port_info;
	struct iba_switch_congestion_setting switch_setting;
	struct iba_switch_port_congestion_element port[256]; /* of a switch */
	/* Those in effect: in the old form, since the last block of the table. */
	struct iba_ca_congestion_setting ca_setting;
	uint16_t ccti_limit;
	struct iba_congestion_control_entry entry[SIM_CC_BLOCKS_MAX * SIM_CC_ENTRIES_A_BLOCK];
};
/* port: of a CA or router; all ports of a switch have one view. */
void sim_cc_view(const struct sim *sim, unsigned int node, unsigned int port,
		 struct sim_cc_view *view);
/*
 * The view as text, a line for each attribute that was set. Lines of equal agents are equal: they
 * have no key, no counter and no time.
 */
void sim_cc_append_text(const struct sim *sim, unsigned int node, unsigned int port, GString *text);
/* Requests of a method for an attribute that reached the agent, whatever it answered. */
uint64_t sim_cc_requests(const struct sim *sim, unsigned int node, uint16_t attribute,
			 uint8_t method);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Between the files of the congestion control agent. */
#ifndef SIM_CC_CC_H
#define SIM_CC_CC_H

#include "libvendor/sim/sim_private.h"
#include "vendor/sim_cc.h"

#define CC_SWITCH_EVENTS 15 /* of a CongestionLog */
#define CC_CA_EVENTS 13
#define CC_TIME_UNIT 1024 /* ns */
#define CC_ATTRIBUTES 11  /* ClassPortInfo, Notice, those of the class, any other */

/* The agent of a node: made when it is first asked or changed. */
struct sim_cca {
	struct timer silence; /* while it runs */
	uint32_t kinds;
	unsigned int n_rules;
	struct sim_cc_rule rules[SIM_CC_RULES_MAX]; /* the newest is last */
	bool has_info;				    /* the next two count */
	uint16_t congestion_info;
	uint8_t cap;
	uint64_t gets[CC_ATTRIBUTES], sets[CC_ATTRIBUTES];
};

struct cc_logged {
	bool used;
	uint64_t ticks; /* since the restart */
	struct sim_cc_event event;
};

struct cc_log {
	struct cc_logged events[CC_SWITCH_EVENTS];
	unsigned int next; /* place of the next event */
	/* Since it was read: */
	uint16_t counter, sl_map;
	uint8_t port_map[32];
};

/* What an end port holds. */
struct sim_cc {
	struct timer lease;
	struct iba_congestion_key_info key;
	struct iba_class_port_info traps; /* only its trap fields count */
	struct iba_switch_congestion_setting switch_setting;
	struct iba_switch_port_congestion_element *ports; /* of a switch: blocks of them */
	struct iba_ca_congestion_setting ca_setting;
	struct iba_congestion_control_entry *table; /* blocks of it; NULL: all 0 */
	uint16_t ccti_limit;
	/* In the old form: settings that wait for a block of the table, and entries written. */
	struct iba_ca_congestion_setting_packed waiting;
	unsigned int filled;
	struct cc_log log;
};

struct cc_request {
	struct sim_packet *packet;
	struct sim *sim;
	struct sim_node *node;
	struct sim_port *port; /* it has the LID */
	struct sim_cca *cca;
	struct sim_cc *cc;
	bool set;
	uint16_t id;
	uint32_t modifier;
	uint64_t cc_key;
	uint8_t *mad;
};

/* ---- cca.c ---- */
struct sim_cca *cc_agent(struct sim *sim, struct sim_node *node);
struct sim_cc *cc_of(struct sim *sim, struct sim_port *port);
/* ControlTableCap of the node, and its CongestionInfo. */
unsigned int cc_cap(const struct sim_node *node);
uint16_t cc_info_bits(const struct sim_node *node);
bool cc_is(const struct sim_node *node, enum sim_cc_kind kind);
bool cc_is_old(const struct sim_node *node);
void cc_clear_port(struct sim_port *port);
struct cc_request cc_read_request(struct sim_packet *packet);
/* The index of an attribute in gets and sets. */
unsigned int cc_attribute_index(uint16_t attribute);

static inline uint8_t *cc_data(const struct cc_request *request)
{
	return request->mad + IBA_CC_DATA_OFFSET;
}

/* Writes the attribute into the answer. */
uint16_t cc_answer(const struct cc_request *request, const struct wire_type *type,
		   const void *host);

/* ---- key.c ---- */
/* A10.4.1: whether the request may be served. Counts violations, runs the lease. */
bool cc_key_passes(const struct cc_request *request);
void cc_key_lease_expired(struct timer *timer);
uint16_t cc_class_port_info(struct cc_request *request);
uint16_t cc_key_info(struct cc_request *request);

/* ---- settings.c: each returns the status ---- */
uint16_t cc_switch_setting(struct cc_request *request);
uint16_t cc_switch_port_setting(struct cc_request *request);
uint16_t cc_ca_setting(struct cc_request *request);
uint16_t cc_control_table(struct cc_request *request);
/* Entries of the table, with their memory. */
struct iba_congestion_control_entry *cc_table(struct sim_port *port);
unsigned int cc_port_blocks(const struct sim_node *node);

/* ---- old_form.c ---- */
uint16_t cc_old_setting(struct cc_request *request);
uint16_t cc_old_table(struct cc_request *request);

/* ---- log.c ---- */
uint16_t cc_congestion_log(struct cc_request *request);
uint16_t cc_time_stamp(struct cc_request *request);

#endif

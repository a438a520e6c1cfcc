// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * QoS as values: which virtual lanes the ports of each role use, and how the lanes share their link
 * (IBA 7.6.9, 14.2.5.8, 14.2.5.9). Pure.
 */
#ifndef POLICY_QOS_QOS_H
#define POLICY_QOS_QOS_H

#include "core/options.h"
#include "iba/iba.h"

#define QOS_SLS 16
#define QOS_DROP 15	   /* VL of an SL whose packets are dropped */
#define QOS_ARB_ENTRIES 64 /* per priority */
#define QOS_ARB_BLOCKS 4   /* low, its upper half, high, its upper half */
#define QOS_PER_BLOCK 32

enum qos_role {
	QOS_CA,
	QOS_SWITCH_PORT_0, /* enhanced */
	QOS_SWITCH,	   /* external ports */
	QOS_ROUTER,
	QOS_ROLES
};

/* The tables of a role according to the options, for a port with all lanes and entries. */
struct qos_tables {
	uint8_t vls; /* lanes used, at most; 1 to 15 */
	uint8_t high_limit;
	uint8_t vl[QOS_SLS];
	struct iba_vl_arbitration_entry low[QOS_ARB_ENTRIES], high[QOS_ARB_ENTRIES];
};

struct qos {
	struct qos_tables of[QOS_ROLES];
};

/* A role takes missing values from those of all ports, and otherwise the built-in ones. */
void qos_make(const struct options *options, struct qos *qos);

/* The values of all roles if no option is set. */
void qos_make_built_in(struct qos *qos);

/*
 * Whether there are SLtoVLMappingTables, by PortInfo of a port and, for a switch, that of port 0.
 */
bool qos_has_sl_to_vl(const struct iba_port_info *port, const struct iba_port_info *endport);

/* Lanes of a port: operational_vls is a code of PortInfo. */
unsigned int qos_vls(const struct qos_tables *tables, uint8_t operational_vls);

/* A row of SLtoVLMappingTables for vls lanes: missing lanes are folded onto others. */
void qos_sl_to_vl(const uint8_t vl[QOS_SLS], unsigned int vls, struct iba_sl_to_vl_table *table);

/*
 * Merges the needs of a routing engine into a row made by QoS: sls are bits of the SLs that the
 * engine's paths have there, vl the VL of each of them, which the port must have. The engine takes
 * precedence, as its routes may deadlock otherwise. Returns the bits of SLs for which QoS had set
 * another VL: an ERROR that names the engine and the origin of the row (a line of qos-policy.conf,
 * or the keys of opensm.conf), unless the row is built in.
 */
uint16_t qos_merge(struct iba_sl_to_vl_table *row, uint16_t sls, const uint8_t vl[QOS_SLS]);

/*
 * Block 0 to 3 of the VLArbitrationTable of a port with that many lanes, and room for that many
 * entries of the priority.
 */
void qos_arbitration(const struct qos_tables *tables, unsigned int vls, unsigned int block,
		     unsigned int cap, struct iba_vl_arbitration_table *table);

#endif

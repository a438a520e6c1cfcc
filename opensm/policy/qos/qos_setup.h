// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The scopes of qos-setup in qos-policy.conf: tables of ports that differ from those of their role.
 * Pure.
 *
 * A vlarb-scope applies to the ports in its groups ("group") and to the ports at the other ends of
 * their cables ("across"). An sl2vl-scope applies to the packets that a node in its groups takes
 * from an input to an output port: "from" and "to" give these by number, "across-from" and
 * "across-to" by the port at the other end; "across" is either of these two. What is not given is
 * not restricted. A switch in a group stands for all its ports. If several scopes set the same
 * table the last one counts.
 */
#ifndef POLICY_QOS_QOS_SETUP_H
#define POLICY_QOS_QOS_SETUP_H

#include "policy/qos/qos_paths.h"

/* fabric has the ports and cables; paths was made from a fabric with the same ports. */
struct qos_place {
	const struct qos_paths *paths;
	const struct fabric *fabric;
};

enum qos_role qos_setup_role(const struct fabric *fabric, uint32_t port);

/* The tables of a port; its SL2VL is by role, see qos_setup_row(). */
void qos_setup_port(const struct qos_place *place, uint32_t port, struct qos_tables *tables);

/*
 * The row of packets from one port of a switch to another; on other nodes from equals to. tables
 * are those of port to, which has vls lanes. Returns the scope that sets the row; NULL: none.
 */
const struct qos_scope *qos_setup_row(const struct qos_place *place,
				      const struct qos_tables *tables, unsigned int vls,
				      uint32_t from, uint32_t to, struct iba_sl_to_vl_table *row);

/*
 * Whether packets of that SL that enter by one port and would leave by the other are dropped there;
 * from equals to where they begin. Ports without SL2VL tables drop nothing.
 */
bool qos_setup_drops(const struct qos_place *place, uint8_t sl, uint32_t from, uint32_t to);

/* Whether all inputs have the same row. */
bool qos_setup_is_even(const struct qos_place *place, uint32_t to);

#define QOS_PROBLEMS_MAX 100 /* texts per list of struct qos_paths */
/* For paths->problems: two scopes give a port different values; each with its line. */
GPtrArray *qos_setup_problems(const struct qos_paths *paths, const struct fabric *fabric);

#endif

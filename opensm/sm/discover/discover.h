// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Discovery of nodes, ports and cables, tracking of changes and silent nodes; traps. */
#ifndef SM_DISCOVER_DISCOVER_H
#define SM_DISCOVER_DISCOVER_H

#include "sm/sm_private.h"

/* ---- description.c ---- */
void description_get(struct sm *sm, struct builder_node *node);
void descriptions_forget(struct sm *sm); /* makes a sweep read those of all nodes again */

/* ---- cables.c ---- */
/*
 * The port at the other end of a cable has answered. True if it is accepted as that from now on,
 * false if it is not, or not yet.
 */
bool cable_answered(struct sm *sm, struct builder_port *port, struct builder_port *far);
/* All have answered. True if some are queried again. */
bool cables_settle(struct sm *sm);
/* Drops cables of a switch that only its own end has reported in this sweep. */
void cables_drop_unconfirmed(struct builder_node *node);

/* ---- kept.c ---- */
/*
 * A failed request of a sweep that checks whether its node is there: true if that is all that is
 * wrong, and it has been handled.
 */
bool kept_failed(const struct sm_request *request);
/* Enough is known of the node to keep it: for a switch, also its forwarding tables. */
bool kept_was_read(const struct builder_node *node);
/* Do not send it: its node does not answer, and it is not time to check it again. */
bool kept_skips(const struct sm_request *request);
void kept_answered(struct sm *sm, struct builder_node *node);
/* No device answers behind a port: true if the node known to be there stays. */
bool kept_behind(struct sm *sm, struct builder_port *port);
/* The SM's own port did not answer in a heavy sweep: true if the sweep continues anyway. */
bool kept_own(struct sm *sm);

/* ---- discover.c ---- */
struct discovery *discovery_new(struct sm *sm);
void discovery_free(struct discovery *discovery);
/* A node is found through its port entry, at the other end of a cable of parent, and read. */
void node_place(struct sm *sm, struct builder_node *node, struct builder_port *entry,
		const struct builder_node *parent);
void read_node(struct sm *sm, struct builder_node *node, struct builder_port *entry,
	       const struct builder_node *parent);
/* Queries the NodeInfo of the device at the other end of a port. */
void port_probe(struct sm *sm, struct builder_port *port);
/* No device is known to be there, and none is being queried. */
void port_exclude(struct builder_port *port);
void node_lose_trust(struct sm *sm, struct builder_node *node, const char *why);
/* Whether a SwitchInfo just read shows that the switch holds the tables it was given. */
bool switch_kept_tables(const struct builder_node *node, const struct iba_switch_info *now);
void port_info_seen(struct sm_request *request); /* a Get(PortInfo) was answered */

/* ---- settle.c ---- */
/* Its PortStateChange is clear, so its ports are as they were last set. */
void switch_set_confirmed(struct builder_node *node);

/* ---- unsure.c ---- */
/* Asks about the cables and idle ports of a switch that was read with PortStateChange set. */
void unsure_check(struct sm *sm, struct builder_node *node);
/* Whether there is such a switch that has not been checked. */
bool unsure_remains(const struct sm *sm);

/* ---- fatal.c ---- */
/* Whether the daemon has to end. */
bool fatal_error_found(struct sm *sm);

/* ---- own_port.c ---- */
/* Queries the SM's own port at intervals. */
void own_port_event(void *arg, unsigned int events); /* callback of vendor_watch() */
void own_port_watch(struct sm *sm);		     /* starts that */
void own_port_rest(struct sm *sm);		     /* until a sweep has ended */
void own_port_moved(struct sm *sm); /* its cable leads to another device than before */

/* ---- lease.c ---- */
void lease_rest(struct sm *sm);				       /* until a sweep has ended */
void lease_violated(struct sm *sm, struct builder_port *port); /* from a trap; NULL is fine */

/* ---- trap.c ---- */
/* buffer has at least IBA_MAD_BYTES. */
void trap_receive(void *arg, struct vendor_mad *mad);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What there is: nodes, ports and cables, found, followed and kept; traps. */
#ifndef SM_DISCOVER_DISCOVER_H
#define SM_DISCOVER_DISCOVER_H

#include "sm/sm_private.h"

/* ---- description.c ---- */
void description_get(struct sm *sm, struct builder_node *node);
void descriptions_forget(struct sm *sm); /* has a sweep read those of all nodes again */

/* ---- cables.c ---- */
/*
 * The port at the other end of one has answered. True if it counts as that from now on,
 * and false if it does not, or not yet.
 */
bool cable_met(struct sm *sm, struct builder_port *port, struct builder_port *far);
/* All have answered. True if some are asked again. */
bool cables_settle(struct sm *sm);
/* Cables of a switch are lost of which only its own end has told in this sweep. */
void cables_lose_hearsay(struct sm *sm, struct builder_node *node);

/* ---- kept.c ---- */
/*
 * A request that was in vain, of a sweep that looks whether its node is there: true if that
 * is all that is wrong, and it is dealt with.
 */
bool kept_failed(const struct sm_request *request);
/* A node of which enough is known to keep it: of a switch what it forwards, too. */
bool kept_was_read(const struct builder_node *node);
/* It is not to be sent: its node does not answer, and it is not time to ask whether it does. */
bool kept_skips(const struct sm_request *request);
void kept_answered(struct sm *sm, struct builder_node *node);
/* Nobody answers behind a port: true if who is known to be there stays. */
bool kept_behind(struct sm *sm, struct builder_port *port);
/* The SM's own port did not answer to a heavy sweep: true if it goes on all the same. */
bool kept_own(struct sm *sm);

/* ---- discover.c ---- */
/* A node is met through its port entry, at the other end of a cable of parent; and read. */
void node_place(struct sm *sm, struct builder_node *node, struct builder_port *entry,
		const struct builder_node *parent);
void read_node(struct sm *sm, struct builder_node *node, struct builder_port *entry,
	       const struct builder_node *parent);
/* Asks for the NodeInfo of whatever is at the other end of a port. */
void port_probe(struct sm *sm, struct builder_port *port);
/* Nobody is known to be there, and nobody is asked. */
void port_leave_out(struct builder_port *port);
void node_lose_trust(struct sm *sm, struct builder_node *node, const char *why);
/* Whether a SwitchInfo just read says that the switch holds the tables it was given. */
bool switch_kept_tables(const struct builder_node *node, const struct iba_switch_info *now);
void port_info_seen(struct sm_request *request); /* a Get(PortInfo) was answered */

/* ---- settle.c ---- */
/* Its PortStateChange is clear, so its ports are as they were last set. */
void switch_is_calm(struct builder_node *node);

/* ---- fatal.c ---- */
/* Whether the daemon has to end. */
bool fatal_is_met(struct sm *sm);

/* ---- own_port.c ---- */
/* Asks the SM's own port now and then what became of it. */
void own_port_init(struct sm *sm);
void own_port_event(void *arg, unsigned int events); /* vendor_watch()'s */
void own_port_watch(struct sm *sm); /* from now on */
void own_port_moved(struct sm *sm); /* it leads to another device than before */
void own_port_ask(struct sm *sm, void (*done)(struct sm_request *request)); /* its PortInfo */

/* ---- trap.c ---- */
/* Of at least IBA_MAD_BYTES. */
void trap_receive(void *arg, struct vendor_mad *mad);

#endif

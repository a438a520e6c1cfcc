// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Nodes and ports that do not do what is asked of them. */
#ifndef SM_HEALTH_HEALTH_H
#define SM_HEALTH_HEALTH_H

#include "sm/sm_private.h"

/* ---- health.c ---- */
/* An error of the sweep, and of no node: it goes on, but the subnet is not up at its end. */
void sm_problem(struct sm *sm, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Tells, as errors of no sweep, the lines that were not among those before; either may be NULL. */
void sm_tell_new(const struct sm *sm, char **before, char **lines);
void health_init(struct sm *sm);
void health_free(struct sm *sm);
/* An error of the sweep that this node caused: it is tried again later. */
void health_fault(struct sm *sm, struct builder_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* The same of a port that does not take what is set. */
void health_refused(struct sm *sm, const struct builder_port *port, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/*
 * A block of its LFT or MFT that a switch does not take (as of sm_table()), and how that shows.
 * From the second time in a row on routes go around it there; it is tried again ever more seldom.
 */
void health_block_refused(struct sm *sm, struct builder_node *node, uint16_t attribute,
			  uint32_t block, const char *how);
/* It has taken it, and holds it. */
void health_block_taken(struct sm *sm, struct builder_node *node, uint16_t attribute,
			uint32_t block);
/* The same of LinearFDBTop, when a Set of it was answered. */
void health_top(struct sm *sm, struct builder_node *node);
/* Whether what a node did not take is to be tried again now. */
bool health_is_due(const struct sm *sm, const struct builder_node *node);
/* The same of what the subnet can do without: true if by now it is no error any more. */
bool health_leave_out(struct sm *sm, struct builder_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* That was about who is behind this port of its. */
void health_nobody_behind(const struct builder_port *port);
/* It does not answer, and stays: an error for a few sweeps. It is asked again later. */
void health_silent(struct sm *sm, struct builder_node *node, const char *text, bool is_new);
/* No directed route leads beyond this port: that is told, and is no error. */
void health_too_far(struct sm *sm, const struct builder_port *port);
/* A node holds something else than is known, which a sweep is to put right: now or later. */
void health_differs(struct sm *sm, struct builder_node *node);
/* Whether that was so again and again, each soon after. */
bool health_relapses(const struct builder_node *node);
void health_mark_due(struct sm *sm);   /* a partial sweep begins: who is to be tried again? */
void health_sweep_ended(struct sm *sm); /* who is well? */
/* One of them may have been what others were left out for: all of those are tried again. */
void health_nodes_gone(struct sm *sm);
unsigned int health_errors(const struct sm *sm); /* sick nodes, without those left out */
/*
 * Their last errors, a line each, and of many how many more; NULL: none. To g_strfreev(). Those
 * that are silent, or have silent ones behind a port, are none of these lines: whether there are
 * such is in *silent.
 */
char **health_tell(const struct sm *sm, bool *silent);

/* ---- port_health.c ---- */
void port_health_init(struct sm *sm);
void port_health_free(struct sm *sm);
/* Something that counts as such; port 0 of a switch stands for all of it. */
void port_health_event(struct sm *sm, const struct builder_port *port, unsigned int condition);
/* Of a CA or router: by the port that it is reached by. */
void port_health_node(struct sm *sm, const struct builder_node *node, unsigned int condition);
void port_health_fell(struct sm *sm, struct builder_port *port); /* of a switch: its link */
void port_health_trap(struct sm *sm, const struct builder_port *from,
		      const struct iba_notice *notice);
/* Whether discovery is not to go from the port to the one at its other end (NULL: not known). */
bool port_health_leaves_out(struct sm *sm, const struct builder_port *port,
			    const struct builder_port *far);
/* Does with a port what is to be done; true if it is not to be taken up. */
bool port_health_act(struct sm *sm, struct builder_port *port);
void port_health_set(struct sm *sm, const struct builder_port *port); /* a Set was answered */
void port_health_switches_gone(struct sm *sm);
void port_health_operator(struct sm *sm, uint64_t id); /* releases that one; 0: all */

/* ---- held_up.c ---- */
/* Links between switches that do not become ACTIVE, which routes do without. */
void held_up_init(struct sm *sm);
void held_up_free(struct sm *sm);
void held_up_note(struct sm *sm, struct builder_port *port); /* this sweep has tried it in vain */
void held_up_decide(struct sm *sm);	 /* before a picture is taken: which are to be in it */
void held_up_sweep_ended(struct sm *sm); /* has one become ACTIVE? */

#endif

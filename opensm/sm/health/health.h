// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Nodes and ports that do not respond as they should. */
#ifndef SM_HEALTH_HEALTH_H
#define SM_HEALTH_HEALTH_H

#include "sm/sm_private.h"

/* ---- health.c ---- */
/* An error of the sweep, not of a node: it continues, but the subnet is not up at its end. */
void sm_problem(struct sm *sm, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Logs the lines that are new, as errors outside sweeps; either may be NULL. */
void sm_log_new_lines(const struct sm *sm, char **before, char **lines);
void faults_init(struct sm *sm);
void faults_free(struct sm *sm);
void health_rest(struct sm *sm); /* nothing is tried again until a sweep has ended */
/* An error of the sweep that this node caused: it is tried again later. */
void health_fault(struct sm *sm, struct builder_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* health_fault() for a port that does not accept what is set. */
void health_refused(struct sm *sm, const struct builder_port *port, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/*
 * A block of its LFT or MFT that a switch does not accept (as of sm_table()), and the evidence.
 * From the second time in a row on routes avoid it there; it is tried again at growing intervals.
 */
void health_block_refused(struct sm *sm, struct builder_node *node, uint16_t attribute,
			  uint32_t block, const char *how);
/* The switch has accepted the block, and holds it. */
void health_block_taken(struct sm *sm, struct builder_node *node, uint16_t attribute,
			uint32_t block);
/* Checks whether the node accepted LinearFDBTop, when a Set of it was answered. */
void health_top(struct sm *sm, struct builder_node *node);
/* Whether it has recorded errors. */
bool health_is_sick(const struct sm *sm, const struct builder_node *node);
/* Whether values that the node did not accept are to be tried again now. */
bool health_is_due(const struct sm *sm, const struct builder_node *node);
/*
 * health_fault() for a fault that the subnet can do without: true if it no longer counts as an
 * error.
 */
bool health_exclude(struct sm *sm, struct builder_node *node, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* The last error was about the device behind this port. */
void health_no_device_behind(struct sm *sm, const struct builder_port *port);
/* It does not answer, and stays: an error for a few sweeps. It is queried again later. */
void health_silent(struct sm *sm, struct builder_node *node, const char *text, bool is_new);
/* No directed route leads beyond this port: logged, but not an error. */
void health_too_far(struct sm *sm, const struct builder_port *port);
/* A node's hardware differs from what is known; a sweep should correct it: now or later. */
void health_differs(struct sm *sm, struct builder_node *node);
/* Whether that happened repeatedly, each time soon after the last. */
bool health_relapses(const struct sm *sm, const struct builder_node *node);
/* Whether it was found to differ since the last sweep began. */
bool health_has_differed(const struct sm *sm, const struct builder_node *node);
void health_mark_due(struct sm *sm);	/* a partial sweep begins: marks nodes to be tried again */
void health_sweep_ended(struct sm *sm); /* removes nodes that are well */
/* One of them may have been why others were excluded: all excluded ones are tried again. */
void health_nodes_gone(struct sm *sm);
unsigned int health_errors(const struct sm *sm); /* sick nodes, without excluded ones */
/*
 * Their last errors, one line each, with a line for how many more; NULL: none. g_strfreev() it.
 * Nodes that are silent, or have silent ones behind a port, are not in these lines: *silent is set
 * if there are any.
 */
char **health_tell(const struct sm *sm, bool *silent);

/* ---- port_health.c ---- */
void port_health_stop(struct sm *sm); /* stores what has changed */
/* A condition of the policy occurred; port 0 of a switch stands for the whole switch. */
void port_health_event(struct sm *sm, const struct builder_port *port, unsigned int condition);
/* For a CA or router: recorded at the port through which it is reached. */
void port_health_node(struct sm *sm, const struct builder_node *node, unsigned int condition);
void port_health_fell(struct sm *sm, struct builder_port *port); /* a switch port's link fell */
void port_health_trap(struct sm *sm, const struct builder_port *from,
		      const struct iba_notice *notice);
/* Whether discovery must not go from the port to the one at its other end (NULL: unknown). */
bool port_health_excludes(struct sm *sm, const struct builder_port *port,
			  const struct builder_port *far);
/* Carries out the action for a port; true if it must not be brought up. */
bool port_health_act(struct sm *sm, struct builder_port *port);
void port_health_set(struct sm *sm, const struct builder_port *port); /* a Set was answered */
void port_health_switches_gone(struct sm *sm);
/* Takes up what the performance manager's rules found since the last call: PORT_COUNTERS. */
void port_health_counters(struct sm *sm);
void port_health_operator(struct sm *sm, uint64_t id); /* releases that port; 0: all */

/* ---- held_up.c ---- */
/* Links between switches that do not become ACTIVE, which routes avoid. */
void held_up_note(struct sm *sm, struct builder_port *port); /* this sweep failed to bring it up */
void held_up_decide(struct sm *sm);	 /* before freezing: decides which are in the fabric */
void held_up_sweep_ended(struct sm *sm); /* checks whether any has become ACTIVE */

#endif

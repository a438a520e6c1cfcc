// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The configuration of ports: LIDs, PortInfo, P_Keys, QoS tables, alias GUIDs. */
#ifndef SM_WRITE_WRITE_H
#define SM_WRITE_WRITE_H

#include "sm/sm_private.h"

/* ---- port.c ---- */
struct settings *settings_new(struct sm *sm);
void settings_free(struct settings *settings);
/* PortInfo as it should be, except PortState; true if it differs from port->info. */
bool port_wanted(const struct sm *sm, const struct builder_port *port, struct iba_port_info *want);
void port_send(struct sm *sm, struct builder_port *port, const struct iba_port_info *want,
	       uint8_t state);
/* Makes that Set, for callers that send it themselves, and handles its answer. */
struct sm_request *port_set(struct sm *sm, struct builder_port *port,
			    const struct iba_port_info *want, uint8_t state);
void port_answered(const struct sm_request *request);
/* Sets PortState and PortPhysicalState, and keeps the other values. */
void port_send_states(struct sm *sm, struct builder_port *port, uint8_t state, uint8_t physical);
/* OperationalVLs of that, a code; the port's own value if the other end is unknown. */
uint8_t port_operational_vls(const struct sm *sm, const struct builder_port *port);
/* Its client supports reregistration, and the operator does not forbid it. */
bool port_may_reregister(const struct sm *sm, const struct builder_port *port);
/* Set(PortInfo) with ClientReregister, outside the sweep. */
void port_reregister(struct sm *sm, struct builder_port *port);

/* ---- key_update.c ---- */
void key_update_schedule(struct sm *sm); /* a sweep has ended, or the options changed */

/* ---- qos.c ---- */
bool vl_tables_are_known(const struct sm *sm); /* some node has QoS tables that an SM wrote */
uint8_t qos_high_limit(const struct sm *sm, const struct builder_port *port);
void qos_note_lanes(struct sm *sm); /* before ports are set: records the lanes that they had */
void qos_settled(struct sm *sm); /* all Sets of step_qos() were accepted */

/* ---- pkey.c ---- */
/* What the port of a switch should enforce, provided that its table is complete. */
void p_keys_enforcement(const struct sm *sm, const struct builder_port *port,
			struct iba_port_info *want);
/* Reads the unknown blocks; false if all are known. */
bool p_keys_read(struct sm *sm, struct builder_port *port);
void p_keys_clear(struct sm *sm);   /* no sweep runs */
void p_keys_changed(struct sm *sm); /* the tables of all ports may have to change */
/* uint16_t: the P_KeyTable of the SM's own port; NULL: unknown. */
GArray *p_keys_own(const struct sm *sm);

/* ---- pkey_guard.c ---- */
/*
 * Decides whether tables of another SM are kept, when tables are read that this SM has not written
 * since it became master.
 */
void p_key_guard_look(struct sm *sm);
void p_key_guard_forget(struct sm *sm); /* it begins to lead */

/* ---- pkey_indexes.c ---- */
struct p_key_plan;
struct p_key_left;
struct p_key_indexes *p_key_indexes_new(struct sm *sm);
void p_key_indexes_free(struct p_key_indexes *indexes);
/* Fills in left[room] of the plan for the table of that port, and the rule to apply. */
void p_key_indexes_plan(const struct sm *sm, const struct builder_port *port,
			struct p_key_plan *plan, struct p_key_left *left);
/* The table is to become want: records the keys that leave an index. */
void p_key_indexes_leave(struct sm *sm, const struct builder_port *port, const uint16_t *is,
			 const uint16_t *want, uint32_t room);
/* The step of the sweep waits until all records are on the disk and sent to the standbys. */
void p_key_indexes_keep(struct sm *sm);
bool p_key_indexes_replicate(struct sm *sm); /* true: there was something to send */
void p_key_indexes_write_again(struct sm *sm); /* retries a failed write */
/* A takeover; NULL: the previous SM left nothing. */
void p_key_indexes_adopt(struct sm *sm, const struct replica *replica);
/* In the plan, n of its P_Keys have no index. */
void p_key_indexes_note_without(struct sm *sm, const struct builder_port *port,
				const struct p_key_plan *plan, const uint16_t *want, uint32_t n);
/* A client that remembers the index is now in another partition. */
void p_key_indexes_note_reuse(struct sm *sm, const struct builder_port *port, uint32_t index,
			      uint16_t old, uint16_t p_key);
/* Of present ports, one line each: those that lack P_Keys; those whose indexes were reused. */
void p_key_indexes_tell(struct sm *sm, char ***without, char ***reused);

/* ---- reregister.c ---- */
/* True if the port may be asked now; else it will be in its turn. */
bool reregister_now(struct sm *sm, struct builder_port *port);
void reregister_later(struct sm *sm, struct builder_port *port);
void reregister_wanted(struct sm *sm, uint64_t port_guid); /* requested by the SA */
void reregister_forget(struct sm *sm);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What ports are given: LIDs, PortInfo, P_Keys, QoS tables, alias GUIDs. */
#ifndef SM_WRITE_WRITE_H
#define SM_WRITE_WRITE_H

#include "sm/sm_private.h"

/* ---- port.c ---- */
/* PortInfo as it should be, PortState apart; true if it differs from port->info. */
bool port_wanted(const struct sm *sm, const struct builder_port *port, struct iba_port_info *want);
void port_send(struct sm *sm, struct builder_port *port, const struct iba_port_info *want,
	       uint8_t state);
/* That Set, for who wants to send it himself; and what is done with its answer. */
struct sm_request *port_set(struct sm *sm, struct builder_port *port,
			    const struct iba_port_info *want, uint8_t state);
void port_answered(const struct sm_request *request);
/* Sets a PortState and PortPhysicalState, and else what it has. */
void port_send_states(struct sm *sm, struct builder_port *port, uint8_t state, uint8_t physical);
/* OperationalVLs of that, a code: as the port has them if nobody is known at the other end. */
uint8_t port_operational_vls(const struct sm *sm, const struct builder_port *port);
/* What is known of a port of sm->fabric, by its index there (FABRIC_NONE: of none); or NULL. */
struct builder_port *port_published(const struct sm *sm, uint32_t index);
/* It is one of a client that knows how, and the operator does not forbid it. */
bool port_may_reregister(const struct sm *sm, const struct builder_port *port);
/* Set(PortInfo) with ClientReregister, beside the sweep. */
void port_reregister(struct sm *sm, struct builder_port *port);

/* ---- qos.c ---- */
uint8_t qos_high_limit(const struct sm *sm, const struct builder_port *port);
void qos_note_lanes(struct sm *sm); /* before ports are set: they say what lanes they had */
void qos_settled(struct sm *sm); /* all that step_qos() sent is taken */

/* ---- pkey.c ---- */
/* What the port of a switch should enforce, as far as its table is complete. */
void p_keys_enforcement(const struct sm *sm, const struct builder_port *port,
			struct iba_port_info *want);
/* The blocks that are not known; false if all are. */
bool p_keys_read(struct sm *sm, struct builder_port *port);
void p_keys_clear(struct sm *sm); /* no sweep runs */
/* uint16_t: the P_KeyTable of the SM's own port; NULL: it is not known. */
GArray *p_keys_own(const struct sm *sm);

/* ---- pkey_guard.c ---- */
/* Decides sm->p_keys_held, when tables are read that this SM has not written since it leads. */
void p_key_guard_look(struct sm *sm);
void p_key_guard_forget(struct sm *sm); /* it begins to lead */

/* ---- pkey_indexes.c ---- */
struct p_key_plan;
struct p_key_left;
struct p_key_indexes *p_key_indexes_new(struct sm *sm);
void p_key_indexes_free(struct p_key_indexes *indexes);
/* Fills in left[room] of the plan for the table of that port, and the rule by which it goes. */
void p_key_indexes_plan(const struct sm *sm, const struct builder_port *port,
			struct p_key_plan *plan, struct p_key_left *left);
/* The table is to become want: what leaves an index is noted. */
void p_key_indexes_leave(struct sm *sm, const struct builder_port *port, const uint16_t *is,
			 const uint16_t *want, uint32_t room);
/* The step of the sweep waits until all that was noted is on the disk and with the standbys. */
void p_key_indexes_keep(struct sm *sm);
bool p_key_indexes_replicate(struct sm *sm); /* true: there was something to tell */
void p_key_indexes_write_again(struct sm *sm); /* what could not be written */
bool p_key_indexes_have_failed(const struct sm *sm);
/* A takeover; NULL: the SM before left nothing. */
void p_key_indexes_adopt(struct sm *sm, const struct replica *replica);
/* By the plan n of its P_Keys have no index. */
void p_key_indexes_note_without(struct sm *sm, const struct builder_port *port,
				const struct p_key_plan *plan, const uint16_t *want, uint32_t n);
/* A client that remembers the index is in another partition now. */
void p_key_indexes_note_reuse(struct sm *sm, const struct builder_port *port, uint32_t index,
			      uint16_t old, uint16_t p_key);
/* Of ports that are there, a line each: those that lack P_Keys; those whose indexes were reused. */
void p_key_indexes_tell(struct sm *sm, char ***without, char ***reused);

/* ---- reregister.c ---- */
/* True if the port may be asked now; else it will be when it is its turn. */
struct reregister *reregister_new(struct sm *sm);
void reregister_free(struct reregister *reregister);
bool reregister_now(struct sm *sm, struct builder_port *port);
void reregister_later(struct sm *sm, struct builder_port *port);
void reregister_wanted(struct sm *sm, uint64_t port_guid); /* as the SA says */
void reregister_forget(struct sm *sm);

/* ---- aliases.c ---- */
struct aliases *aliases_new(void);
void aliases_free(struct aliases *aliases);

#endif

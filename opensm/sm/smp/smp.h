// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMPs of the SM: made, sent on the way that leads there, and what becomes of them. */
#ifndef SM_SMP_SMP_H
#define SM_SMP_SMP_H

#include "sm/sm_private.h"

/* ---- request.c ---- */
struct sm_request {
	struct mad_request mad;
	struct sm *sm;
	struct builder_node *node; /* held */
	struct builder_port *port; /* what it is about; NULL: the node */
	const struct builder_port *by; /* switch port before the CA asked; NULL: of others */
	uint64_t lid_route; /* reach_route() by which it goes to the node's LID; 0: it does not */
	uint32_t block;
	uint32_t epoch;	 /* of the node's tables when it was made */
	uint32_t reading; /* the node's, of a Get(PortInfo) */
	uint64_t serial; /* of the last sweep when it was sent: of audit.c, own_port.c */
	void *owned;	 /* freed with the request */
	uint64_t sent;	 /* digest of what a Set carries: the answer overwrites it */
	uint8_t state;	 /* PortState that a Set asks for */
	bool speeds;	 /* it changes width or speeds */
	bool by_likely_lid; /* by LID if nothing speaks against it, though tables are not known */
	bool beyond;	 /* asks whoever is at the other end of the port's cable */
	bool aside;	 /* of no sweep */
	bool inquiry;	 /* of silence.c */
	bool belief;	 /* done tells what the hardware holds: called however late it is */
	bool slow;	 /* counted in sweep.slow */
	bool in_earnest; /* silence.c has no objection: all tries */
	bool skipped;	 /* it was not sent, as its node is silent: kept.c */
	bool unreachable; /* there was no way when it was to be sent */
	uint64_t key_changes; /* of the port asked, when its M_Key was chosen */
	bool other_key;	 /* it was sent again with another M_Key */
	uint32_t strays; /* M_Keys that it had, of endports that are missed, */
	uint32_t strays_from; /* from that one on */
	bool gives_key;	 /* it sets another: others to the port wait for it */
	uint8_t tries_max;  /* as mad.tries, of the tries in earnest */
	uint8_t ways;	    /* how often it was handed to mad/ again */
	unsigned int tries; /* that left this node */
	void (*done)(struct sm_request *request); /* whatever became of it */
};
struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier);
/* The same to one port, by way of that port if it is one of a CA. */
struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier);
/* Get(NodeInfo) of whoever is at the other end of the port's cable. */
struct sm_request *sm_request_beyond(struct sm *sm, struct builder_port *port);
void sm_request_send(struct sm_request *request);
/* A Get whose answer goes to done. */
void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request));
/* "NAME (0xGUID): Set(PortInfo) 3: no answer to 9 tries", a fault of the node. */
void sm_request_failed(const struct sm_request *request);
/* The same text, to be freed; and a condition of port_health.c that counts against the port. */
char *sm_request_failure(const struct sm_request *request);
void sm_request_blame(const struct sm_request *request, unsigned int condition);
static inline bool sm_request_ok(const struct sm_request *request)
{
	return request->mad.result == MAD_OK;
}
/* The answer to a Set has what was sent. */
bool sm_request_echoed(const struct sm_request *request);
/* Of a sweep that is over: what it finds out is no business of the one that runs. */
bool sm_request_is_late(const struct sm_request *request);
/* "NAME (0xGUID)", or "the SM's own port" before that said who it is; returns buffer. */
const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size);
#define SM_NAME_SIZE 128
/* What it does with them: with all tries, or on another way with the first ones; or not at all. */
void sm_request_again(struct sm_request *request, bool other_way);
void sm_request_give_up(struct sm_request *request); /* it comes back as unreachable */
void sm_request_drop(struct sm_request *request);

/* ---- blocks.c ---- */
/* AttributeModifier of a block of a MulticastForwardingTable, by its index in builder_node.mft. */
static inline uint32_t sm_mft_modifier(uint32_t index)
{
	return index / IBA_MFT_POSITIONS | index % IBA_MFT_POSITIONS << IBA_MFT_MOD_POSITION_SHIFT;
}
/* Tables that are read and written in blocks, by their attribute: LFT, MFT, or P_Keys of a port. */
const struct wire_type *sm_table_type(uint16_t attribute);
struct trust_table *sm_table(struct builder_node *node, unsigned int port, uint16_t attribute);
/* Keeps the block that answered a Get; false if there was no good answer. */
bool sm_block_read(struct sm_request *request);
/* Sends a Set of a block, of which nothing is known until the answer is there. */
void sm_block_send(struct sm_request *request);
/* AttributeModifier of a block of its tables; VLHighLimit as it should be */
uint32_t qos_modifier(const struct builder_port *port, uint16_t attribute, uint32_t block);
/* AttributeModifier of a block of the P_KeyTable of a port. */
uint32_t p_keys_modifier(const struct builder_port *port, uint32_t block);

/* ---- silence.c ---- */
/* A request that got no answer at first is kept and handed on later; false: it is not */
bool silence_take(struct sm_request *request);
/* The node was looked into just now, and is silent behind a link that is up. */
bool silence_is_mute(const struct sm *sm, const struct builder_node *node);
void silence_forget(struct sm *sm); /* the sweep is cancelled: what it kept is dropped */

/* ---- identity.c ---- */
/* The port of a CA that was asked; NULL of switches, which are asked as paths lead */
struct builder_port *identity_entry(const struct sm_request *request);
/* The switch port before a node, by the way to that entry; NULL: there is none. */
struct builder_port *identity_parent(const struct sm *sm, const struct builder_node *node,
				     const struct builder_port *entry);
/* Whether a NodeInfo that was answered is that of the node; if not, it is looked at again. */
bool identity_is_same(const struct sm_request *request);
/* Finds out whether that is still the node; entry as above. */
void identity_ask(struct sm *sm, struct builder_node *node, struct builder_port *entry);

/* ---- dry_send.c ---- */
struct dry *dry_new(bool beside_master);
void dry_free(struct dry *dry); /* NULL is fine */
/* Notes a request that is no Get, and answers it: it is to be handed back. Any sm. */
bool dry_keeps(struct sm_request *request);
void dry_send(struct sm_request *request);	   /* to mad/, now or later */
void dry_came_back(struct sm *sm);		   /* one that was sent */
bool dry_has_ended(const struct sm *sm);	   /* nothing leaves any more; any sm */
void dry_problem(struct sm *sm, const char *text); /* any sm */
void dry_end(struct sm *sm, bool complete);	   /* the sweep has ended */

/* ---- reach.c ---- */
bool reach_node(const struct sm *sm, struct builder_node *node, bool set, struct mad_route *route);
bool reach_port(const struct sm *sm, struct builder_port *port, bool set, struct mad_route *route);
/* A port of a CA or router without a link: it cannot be asked, another one would answer. */
bool reach_is_cut_off(const struct sm *sm, const struct builder_port *port);
bool reach_beyond(const struct sm *sm, struct builder_port *port, struct mad_route *route);
/* A digest of the route to the node's LID and back, as known tables have it; 0: they have none. */
uint64_t reach_route(const struct sm *sm, struct builder_node *node);
/* Directed routes to it may end at a switch before it, which does not answer. */
bool reach_is_blind(const struct builder_node *node);
/* There is such a route, and no SMP has come back by it. */
bool reach_is_unproven(const struct sm *sm, struct builder_node *node);
/*
 * The port of a neighbour from which the last hop may be directed, preferably of one that is
 * reached by LID, the nearer the SM the better; NULL: there is none.
 */
struct builder_port *reach_guide(const struct sm *sm, const struct builder_node *node);
/* The LID of a switch, if all kept theirs and no SMP to it was lost yet; 0: none. */
uint16_t reach_likely_lid(const struct sm *sm, const struct builder_node *node);
/* An SMP by that route to the node's LID was answered by it. */
void reach_answered(struct builder_node *node, uint64_t route);
/* The same failed, or if 0 a mixed route did, and the directed one did not. */
void reach_failed(struct sm *sm, struct builder_node *node, uint64_t route);
/*
 * Where a directed SMP came from that this SM received, by the ports at which each switch says that
 * it came in there: the endport, or the port by which it left the node after back_to hops.
 */
struct builder_port *sm_port_of_path(const struct sm *sm, const struct iba_dr_smp *smp,
				     unsigned int back_to);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMPs of the SM: how they are made and routed, and how their results are handled. */
#ifndef SM_SMP_SMP_H
#define SM_SMP_SMP_H

#include "sm/sm_private.h"

/* ---- request.c ---- */
struct sm_request {
	struct mad_request mad;
	struct sm *sm;
	struct builder_node *node; /* held */
	struct builder_port *port; /* the port that it is about; NULL: the node */
	const struct builder_port *by; /* switch port before the queried CA; NULL: not a CA */
	uint64_t lid_route; /* reach_route() used to the node's LID; 0: not LID-routed */
	uint32_t block;
	uint32_t epoch;	 /* of the node's tables when the request was made */
	uint32_t reading; /* node->reading at that time, for a Get(PortInfo) */
	uint64_t serial; /* of the last sweep when it was sent: for audit.c, own_port.c */
	void *owned;	 /* freed with the request */
	uint64_t sent;	 /* digest of a Set's data, which the answer overwrites */
	uint8_t state;	 /* PortState that a Set requests */
	bool speeds;	 /* it changes width or speeds */
	bool by_likely_lid; /* use the LID unless known to be wrong, even if tables are unknown */
	bool beyond;	 /* queries the node at the other end of the port's cable */
	bool aside;	 /* outside any sweep */
	bool inquiry;	 /* fault probe sent by silence.c */
	bool belief;	 /* done records what the hardware holds: called however late it is */
	bool slow;	 /* counted in sweep.slow */
	bool in_earnest; /* silence.c has no objection: use all tries */
	bool skipped;	 /* not sent, as its node is silent: kept.c */
	bool unreachable; /* there was no route when it was to be sent */
	uint64_t key_changes; /* of the queried port, when its M_Key was chosen */
	bool other_key;	 /* it was sent again with another M_Key */
	uint32_t strays; /* number of M_Keys of missing endports tried, */
	uint32_t strays_from; /* starting with this one */
	bool gives_key;	 /* it sets another M_Key: other requests to the port wait for it */
	uint8_t tries_max;  /* as mad.tries, for the full tries */
	uint8_t ways;	    /* how often it was handed to mad/ again */
	unsigned int tries; /* that were sent from this node */
	void (*done)(struct sm_request *request); /* called with any result */
};
struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier);
/* A request about one port; sent through that port if it is one of a CA. */
struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier);
/* Get(NodeInfo) to the node at the other end of the port's cable. */
struct sm_request *sm_request_beyond(struct sm *sm, struct builder_port *port);
void sm_request_send(struct sm_request *request);
/* A Get whose answer goes to done. */
void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request));
/* Records "NAME (0xGUID): Set(PortInfo) 3: no answer to 9 tries" as an error of the node. */
void sm_request_failed(const struct sm_request *request);
/* The text of that error, to be freed; and records a condition (port_health.c) of the port. */
char *sm_request_failure(const struct sm_request *request);
void sm_request_blame(const struct sm_request *request, unsigned int condition);
static inline bool sm_request_ok(const struct sm_request *request)
{
	return request->mad.result == MAD_OK;
}
/* The answer to a Set has the values that were sent. */
bool sm_request_echoed(const struct sm_request *request);
/* It belongs to a sweep that is over: its result does not affect the current one. */
bool sm_request_is_late(const struct sm_request *request);
/* "NAME (0xGUID)", or "the SM's own port" before that is identified; returns buffer. */
const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size);
#define SM_NAME_SIZE 128
/* Sends a held request again: with all tries, or by another route with the first ones. */
void sm_request_again(struct sm_request *request, bool other_way);
void sm_request_give_up(struct sm_request *request); /* it comes back as unreachable */
void sm_request_drop(struct sm_request *request);

/* ---- blocks.c ---- */
/* AttributeModifier of an MFT block, by its index in builder_node.mft. */
static inline uint32_t sm_mft_modifier(uint32_t index)
{
	return index / IBA_MFT_POSITIONS | index % IBA_MFT_POSITIONS << IBA_MFT_MOD_POSITION_SHIFT;
}
/* Tables that are read and written in blocks, by attribute: LFT, MFT, or P_Keys of a port. */
const struct wire_type *sm_table_type(uint16_t attribute);
struct trust_table *sm_table(struct builder_node *node, unsigned int port, uint16_t attribute);
/* Stores the block that answered a Get; false if there was no valid answer. */
bool sm_block_read(struct sm_request *request);
/* Sends a Set of a block, which is unknown until the answer arrives. */
void sm_block_send(struct sm_request *request);
/* AttributeModifier of a block of its QoS tables; its VLHighLimit as it should be */
uint32_t qos_modifier(const struct builder_port *port, uint16_t attribute, uint32_t block);
/* AttributeModifier of a block of the P_KeyTable of a port. */
uint32_t p_keys_modifier(const struct builder_port *port, uint32_t block);

/* ---- silence.c ---- */
/* Takes a request that got no answer at first, to be sent again later; false: it does not */
struct silence *silence_new(void);
void silence_free(struct silence *silence);
void silence_answered(struct sm *sm, const struct builder_node *node);
/* All tries of an SMP of this sweep to the node failed; whether that was so. */
void silence_given_up(struct sm *sm, const struct builder_node *node);
bool silence_was_given_up(const struct sm *sm, const struct builder_node *node);
bool silence_take(struct sm_request *request);
/* The node was just probed, and is silent behind a link that is up. */
bool silence_is_mute(const struct sm *sm, const struct builder_node *node);
void silence_forget(struct sm *sm); /* the sweep is cancelled: drops the requests held */

/* ---- identity.c ---- */
/* The port of a CA that was queried; NULL for switches, where paths decide */
struct builder_port *identity_entry(const struct sm_request *request);
/* The switch port before a node, on the way to that entry; NULL: there is none. */
struct builder_port *identity_parent(const struct sm *sm, const struct builder_node *node,
				     const struct builder_port *entry);
/* Whether a NodeInfo answer belongs to the node; if not, the node is read again. */
bool identity_is_same(const struct sm_request *request);
/* Checks whether it is still the same node; entry as above. */
void identity_ask(struct sm *sm, struct builder_node *node, struct builder_port *entry);

/* ---- dry_send.c ---- */
struct dry *dry_new(bool beside_master);
void dry_free(struct dry *dry); /* NULL is fine */
/* Records a request that is not a Get, and answers it: hand it back then. Any sm. */
bool dry_keeps(struct sm_request *request);
void dry_send(struct sm_request *request);	   /* to mad/, now or later */
void dry_came_back(struct sm *sm);		   /* call when a sent one comes back */
bool dry_has_ended(const struct sm *sm);	   /* nothing is sent any more; any sm */
void dry_problem(struct sm *sm, const char *text); /* any sm */
void dry_end(struct sm *sm, bool complete);	   /* the sweep has ended */

/* ---- reach.c ---- */
bool reach_node(const struct sm *sm, struct builder_node *node, bool set, struct mad_route *route);
bool reach_port(const struct sm *sm, struct builder_port *port, bool set, struct mad_route *route);
/* A port of a CA or router without a link: it cannot be queried, another port would answer. */
bool reach_is_cut_off(const struct sm *sm, const struct builder_port *port);
bool reach_beyond(const struct sm *sm, struct builder_port *port, struct mad_route *route);
/* A digest of the known route to the node's LID and back; 0: there is none in the tables. */
uint64_t reach_route(const struct sm *sm, struct builder_node *node);
/* Directed routes to it may end at a silent switch before it. */
bool reach_is_blind(const struct builder_node *node);
/* There is such a route, but no SMP has come back over it. */
bool reach_is_unproven(const struct sm *sm, struct builder_node *node);
/*
 * The port of a neighbour from which the last hop may be directed, preferably one that is reached
 * by LID, the nearer to the SM the better; NULL: there is none.
 */
struct builder_port *reach_guide(const struct sm *sm, const struct builder_node *node);
/* The LID of a switch, if all kept theirs and no SMP to it was lost yet; 0: none. */
uint16_t reach_likely_lid(const struct sm *sm, const struct builder_node *node);
/* An SMP over that route to the node's LID was answered from it. */
void reach_answered(struct builder_node *node, uint64_t route);
/* It failed (0: a mixed route failed), while the directed route did not. */
void reach_failed(struct sm *sm, struct builder_node *node, uint64_t route);
/*
 * The source of a directed SMP that this SM received, by the ports at which each switch reports
 * that it arrived: the endport, or the port by which it left the node after back_to hops.
 */
struct builder_port *sm_port_of_path(const struct sm *sm, const struct iba_dr_smp *smp,
				     unsigned int back_to);

#endif

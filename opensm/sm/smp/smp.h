// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMPs of the SM: how they are made and routed, and how their results are handled. */
#ifndef SM_SMP_SMP_H
#define SM_SMP_SMP_H

#include "sm/base/base.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"

struct sm_request;

/* What smp/ asks and tells the folders above it, which it does not call: sm.c fills it in. */
struct smp_observer {
	/* Whether it must not be sent, as its node is silent. */
	bool (*skips)(const struct sm_request *request);
	void (*answered)(struct sm *sm, struct builder_node *node); /* to any request */
	/* True if the failure is handled, and does not count as an error of the node. */
	bool (*failed)(const struct sm_request *request);
	/* silence.c has read the PortInfo of that port. */
	void (*port_seen)(struct sm_request *request);
	void (*block_set)(const struct sm_request *request); /* a Set of a block is over */
};

/* ---- request.c ---- */
struct smp_state *smp_state_new(const struct smp_observer *observer);
void smp_state_free(struct smp_state *smp);

/* On whose behalf a request is sent. */
enum request_sender {
	REQUEST_OF_SWEEP, /* the running sweep waits for it; silence.c examines why it is silent */
	REQUEST_FAULT_PROBE,   /* of the sweep, too: its silence is a result, and not examined */
	REQUEST_OUTSIDE_SWEEP, /* no sweep waits for it, and its silence is not examined */
};

/* How far the attempts to get an answer are. */
enum request_phase {
	REQUEST_FIRST_TRIES,  /* a few, before silence.c examines the path; again by each route */
	REQUEST_FULL_RETRIES, /* silence.c has ruled out a dead node */
	REQUEST_SKIPPED,      /* it ended unsent, as its node is silent */
	REQUEST_NO_ROUTE,     /* it ended unsent, as there was no route */
};

struct sm_request {
	struct mad_request mad;
	struct sm *sm;
	struct builder_node *node;     /* held */
	struct builder_port *port;     /* the port that it is about; NULL: the node */
	const struct builder_port *by; /* switch port before the queried CA; NULL: not a CA */
	uint64_t lid_route;	       /* reach_route() used to the node's LID; 0: not LID-routed */
	uint32_t block;
	uint32_t epoch;	  /* of the node's tables when the request was made */
	uint32_t reading; /* node->reading at that time, for a Get(PortInfo) */
	uint64_t serial;  /* of the last sweep when it was sent: for audit.c, own_port.c */
	void *owned;	  /* freed with the request */
	uint64_t sent;	  /* digest of a Set's data, which the answer overwrites */
	enum request_sender sender;
	enum request_phase phase;
	bool by_likely_lid; /* use the LID unless known to be wrong, even if tables are unknown */
	bool beyond;	    /* queries the node at the other end of the port's cable */
	bool belief;	    /* done records what the hardware holds: called however late it is */
	struct key_attempt key;
	uint8_t tries_max;  /* as mad.tries, for the full retries */
	uint8_t silences;   /* how often the first tries by a route got no answer */
	unsigned int tries; /* that were sent from this node */
	void (*done)(struct sm_request *request); /* called with any result */
};
struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier);
/* A request about one port; sent through that port if it is one of a CA. */
struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier);
/*
 * Set(PortInfo) with these values; where 0 means no change, the port keeps its own. Its answer
 * shows what the hardware holds.
 */
struct sm_request *sm_request_port_set(struct sm *sm, struct builder_port *port,
				       const struct iba_port_info *info);
/* Get(NodeInfo) to the node at the other end of the port's cable. */
struct sm_request *sm_request_beyond(struct sm *sm, struct builder_port *port);
void sm_request_send(struct sm_request *request);
static inline bool sm_request_is_outside(const struct sm_request *request)
{
	return request->sender == REQUEST_OUTSIDE_SWEEP;
}
/* A Get whose answer goes to done. */
void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request));
/* Get(PortInfo) of the SM's own port, outside sweeps. */
void own_port_ask(struct sm *sm, void (*done)(struct sm_request *request));
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
/* Sends a held request again: with all tries, or by another route with the first ones. */
void sm_request_again(struct sm_request *request, bool other_way);
void sm_request_give_up(struct sm_request *request); /* it comes back as unreachable */
void sm_request_drop(struct sm_request *request);
/* The sweep is over, or cancelled: drops requests that wait for another M_Key to be set. */
void sm_requests_forget(struct sm *sm, bool outside_too);

/* ---- blocks.c ---- */
/* Stores the block that answered a Get; false if there was no valid answer. */
bool sm_block_read(struct sm_request *request);
/* Sends a Set of a block, which is unknown until the answer arrives. */
void sm_block_send(struct sm_request *request);
/* Set(SwitchInfo); the answer is stored. */
void switch_info_send(struct sm *sm, struct builder_node *node, const struct iba_switch_info *want);

/* ---- silence.c ---- */
void silence_answered(struct sm *sm, const struct builder_node *node);
/* All tries of an SMP of this sweep to the node failed; whether that was so. */
void silence_given_up(struct sm *sm, const struct builder_node *node);
bool silence_was_given_up(const struct sm *sm, const struct builder_node *node);
/* Takes a request that got no answer at first, to be sent again later; false: it does not. */
bool silence_take(struct sm_request *request);
/* The node was just probed, and is silent behind a link that is up. */
bool silence_is_mute(const struct sm *sm, const struct builder_node *node);
void silence_forget(struct sm *sm); /* the sweep is cancelled: drops the requests held */

/* ---- key_unknown.c ---- */
/*
 * A Set was refused by a port that hides its key: it is excluded from now on. And whether the
 * device behind this port, or the one with this PortInfo, should be.
 */
bool keys_refused(const struct sm_request *request);
bool keys_exclude(struct sm *sm, struct builder_port *port, uint64_t guid);
bool keys_still_unknown(struct sm *sm, struct builder_port *port, const struct iba_port_info *info);
bool keys_were_unknown(const struct sm *sm, uint64_t guid); /* no Set, until it is read */
char **keys_tell_unknown(const struct sm *sm);		    /* one line each; g_strfreev() it */
/* The endport hides its M_Key, and is not known to accept Sets of this SM anyway. */
bool keys_bar(const struct sm *sm, const struct builder_port *port);
/* Probes that endport by a Set that changes nothing; false: probed recently. */
bool keys_judge(struct sm *sm, struct builder_port *port);
unsigned int keys_count_excluded(const struct sm *sm); /* endports excluded because of M_Keys */

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
bool dry_run_records(struct sm_request *request);
void dry_send(struct sm_request *request);	   /* to mad/, now or later */
void dry_run_answered(struct sm *sm);		   /* call when a sent one comes back */
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

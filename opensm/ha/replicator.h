// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replication: what the master knows and no hardware holds is kept by the standbys too, so that
 * who takes over need not ask every client to register again.
 *
 * The actor "ha" owns all of it. sm and sa reach it by the calls below, from any thread; a context
 * whose replicator is NULL has none, and the calls do nothing then.
 */
#ifndef HA_REPLICATOR_H
#define HA_REPLICATOR_H

#include "core/context.h"
#include "ha/replica.h"
#include "mad/mad.h"

struct replicator;

/*
 * key: the secret that all SMs of the subnet share; NULL: nothing is replicated, but who would be
 * replicated to is still told by the status. Before the actors start.
 */
struct replicator *replicator_new(struct context *context, struct mad *mad, uint64_t port_guid,
				  const char *key);
void replicator_start(struct replicator *replicator);
void replicator_attach(struct replicator *replicator, GMainContext *loop);
void replicator_stop(struct replicator *replicator);
void replicator_free(struct replicator *replicator); /* after mad was stopped and freed */
/* There is a key. */
bool replicator_is_on(const struct replicator *replicator);

/* ---- what this SM is: called by sm ---- */

/* STANDBY of the SM with that port GUID; 0: neither that nor MASTER. */
void replicator_follow(struct replicator *replicator, uint64_t guid);

/* MASTER, from now on with an empty table of its own. Made by the caller; first of his struct. */
struct replicator_lead {
	struct message message; /* private */
	struct replicator *replicator;
	uint64_t fresh_ns; /* who has not been heard of for longer may have said things since */
	struct actor *owner;
	void (*done)(struct replicator_lead *lead); /* on owner, who owns it again */
	/* Results: */
	struct replica *replica; /* the last whole one, to be unreferenced; NULL: there is none */
	uint64_t of;		 /* GUID of the SM that it is of */
	bool vouched; /* it has, as far as can be known, all that was promised to clients */
};
void replicator_lead(struct replicator *replicator, struct replicator_lead *lead);

/* Other SMs of the subnet. */
struct replicator_peer {
	uint64_t guid;
	uint16_t lid;
};
void replicator_set_peers(struct replicator *replicator, GArray *peers); /* takes it over */
/* The port of this MASTER is down: who has everything now may take over. */
void replicator_cut_off(struct replicator *replicator);
/* Who deposed this MASTER, by the status, is not MASTER after all. */
void replicator_stay(struct replicator *replicator);
/* One that did not answer may do so by now. */
void replicator_ask_again(struct replicator *replicator, uint64_t guid);

/* ---- what it knows: called by who knows it, while it is MASTER ---- */

void replicator_put(struct replicator *replicator, struct replica_entry *entry); /* takes it over */
/* All of a section, of entries that it takes over. */
void replicator_replace(struct replicator *replicator, uint8_t section, GPtrArray *entries);

/*
 * Of two MASTERs that meet one becomes the standby of the other. If it held a text of a higher
 * serial than that one does, it is fetched: context->later_partitions, EVENT_PARTITIONS_FETCHED.
 */
void replicator_hold(struct replicator *replicator, uint64_t serial, const char *text);

/*
 * Calls done when all that was put before is with each standby that had everything; after
 * REPLICATOR_PATIENCE_NS without those that do not answer. Made by the caller; first of his struct.
 */
#define REPLICATOR_PATIENCE_NS (50 * NS_PER_MS)
struct replicator_wait {
	struct message message; /* private; drop is the caller's */
	struct replicator *replicator;
	uint64_t serial, deadline_ns;
	struct actor *owner;
	/* kept false: another SM is master by now, and need not know of it. */
	void (*done)(struct replicator_wait *wait, bool kept);
	bool kept;
};
void replicator_wait(struct replicator *replicator, struct replicator_wait *wait);

/* ---- what is told of it ---- */

enum replication_state {
	REPLICATION_NO_KEY,	   /* this SM has none */
	REPLICATION_ASKED,	   /* no answer yet */
	REPLICATION_SILENT,	   /* does not replicate, or has another key */
	REPLICATION_NOT_STANDBY,   /* answers, but is not standby of this one */
	REPLICATION_OTHER_VERSION, /* of the protocol */
	REPLICATION_TOO_LARGE,	   /* its replication_max_memory is too little */
	REPLICATION_BEHIND,	   /* has not all yet */
	REPLICATION_IN_STEP,
};
const char *replication_state_text(enum replication_state state);

/* Whether another SM has alike what all must (core/agreed.def). */
enum agreement {
	AGREEMENT_UNKNOWN,    /* it has not told, or not yet */
	AGREEMENT_OLD,	      /* an older version, which does not tell */
	AGREEMENT_UNREADABLE, /* what it told is not understood */
	AGREEMENT_SAME,
	AGREEMENT_DIFFERS,
};
const char *agreement_state_text(enum agreement agreement);

/* What is known of that, and in what they differ. */
struct replication_agreement {
	enum agreement state;
	GPtrArray *differences; /* struct agreement_difference (ha/agreement.h); NULL: none */
};

/* Immutable, in context->replication. */
struct replication_status {
	struct ref ref;
	bool has_key;
	uint64_t followed; /* GUID of the master, as standby */
	bool whole;	   /* and there is a whole replica of it */
	struct replication_agreement with_followed;
	uint64_t deposed_by; /* as master: one that had everything is MASTER by now; 0: none */
	unsigned int n;
	struct {
		uint64_t guid;
		enum replication_state state;
		bool had_all; /* when this MASTER was cut off */
		struct replication_agreement agreement;
	} peers[];
};
struct replication_status *replication_status_ref(struct replication_status *status);
void replication_status_unref(struct replication_status *status);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replication: standbys keep a copy of what only the master knows and no hardware holds, so that an
 * SM that takes over need not ask every client to register again.
 *
 * The actor "ha" owns all of it. sm and sa use the calls below, from any thread; a context whose
 * replicator is NULL has no replication, and the calls then do nothing.
 */
#ifndef HA_REPLICATOR_H
#define HA_REPLICATOR_H

#include "core/context.h"
#include "ha/replica.h"
#include "mad/mad.h"

struct replicator;

/*
 * key: the secret that all SMs of the subnet share; NULL: nothing is replicated, but the status
 * still lists the SMs that could be. Call it before the actors start.
 */
struct replicator *replicator_new(struct context *context, struct mad *mad, uint64_t port_guid,
				  const char *key);
void replicator_start(struct replicator *replicator);
void replicator_attach(struct replicator *replicator, GMainContext *loop);
void replicator_stop(struct replicator *replicator);
void replicator_free(struct replicator *replicator); /* after mad was stopped and freed */
/* Whether there is a key. */
bool replicator_is_on(const struct replicator *replicator);

/* ---- the role of this SM: called by sm ---- */

/* STANDBY of the SM with that port GUID; 0: neither STANDBY nor MASTER. */
void replicator_follow(struct replicator *replicator, uint64_t guid);

/*
 * MASTER, starting with an empty table of its own. Allocated by the caller, as the first member of
 * a struct.
 */
struct replicator_lead {
	struct message message; /* private */
	struct replicator *replicator;
	uint64_t fresh_ns; /* a master silent for longer may have made promises since */
	struct actor *owner;
	void (*done)(struct replicator_lead *lead); /* runs on owner, which owns it again */
	/* Results: */
	struct replica *replica; /* the last complete one, to be unreferenced; NULL: none */
	uint64_t of;		 /* GUID of the SM that sent it */
	bool vouched;		 /* as far as known it has everything promised to clients */
};
void replicator_lead(struct replicator *replicator, struct replicator_lead *lead);

/* Other SMs of the subnet. */
struct replicator_peer {
	uint64_t guid;
	uint16_t lid;
};
void replicator_set_peers(struct replicator *replicator, GArray *peers); /* owns peers */
/* The port of this MASTER is down: a standby that has everything may take over. */
void replicator_cut_off(struct replicator *replicator);
/* The SM that, by the status, deposed this MASTER is not MASTER after all. */
void replicator_stay(struct replicator *replicator);
/* An SM that did not answer may do so now. */
void replicator_ask_again(struct replicator *replicator, uint64_t guid);

/* ---- replicated data: called by the modules that own it, while MASTER ---- */

void replicator_put(struct replicator *replicator, struct replica_entry *entry); /* owns entry */
/* Replaces a section by these entries, which it takes ownership of. */
void replicator_replace(struct replicator *replicator, uint8_t section, GPtrArray *entries);

/*
 * When two MASTERs meet, one becomes the standby of the other. If the standby has a text of a
 * higher serial, the master fetches it: context->later_partitions, EVENT_PARTITIONS_FETCHED.
 */
void replicator_hold(struct replicator *replicator, uint64_t serial, const char *text);

/*
 * Calls done when each standby that had everything has all that was put before; after
 * REPLICATOR_PATIENCE_NS without those that do not answer. Allocated by the caller, as the first
 * member of a struct.
 */
#define REPLICATOR_PATIENCE_NS (50 * NS_PER_MS)
struct replicator_wait {
	struct message message; /* private; drop is set by the caller */
	struct replicator *replicator;
	uint64_t serial, deadline_ns;
	struct actor *owner;
	/* kept false: another SM is master now, and need not have the data. */
	void (*done)(struct replicator_wait *wait, bool kept);
	bool kept;
};
void replicator_wait(struct replicator *replicator, struct replicator_wait *wait);

/* ---- status ---- */

enum replication_state {
	REPLICATION_NO_KEY,	   /* this SM has none */
	REPLICATION_ASKED,	   /* no answer yet */
	REPLICATION_SILENT,	   /* does not replicate, or has another key */
	REPLICATION_NOT_STANDBY,   /* answers, but is not a standby of this SM */
	REPLICATION_OTHER_VERSION, /* it has another version of the protocol */
	REPLICATION_TOO_LARGE,	   /* its replication_max_memory is too small */
	REPLICATION_BEHIND,	   /* does not have everything yet */
	REPLICATION_IN_STEP,
};
const char *replication_state_text(enum replication_state state);

/* Whether another SM has the same settings where it must (core/agreed.def). */
enum agreement {
	AGREEMENT_UNKNOWN,    /* it has not sent its settings (yet) */
	AGREEMENT_OLD,	      /* an older version, which does not send them */
	AGREEMENT_UNREADABLE, /* what it sent is not understood */
	AGREEMENT_SAME,
	AGREEMENT_DIFFERS,
};
const char *agreement_state_text(enum agreement agreement);

/* The state of that comparison, and the differences. */
struct replication_agreement {
	enum agreement state;
	GPtrArray *differences; /* struct agreement_difference (ha/agreement.h); NULL: none */
};

/* Immutable, in context->replication. */
struct replication_status {
	struct ref ref;
	bool has_key;
	uint64_t followed; /* GUID of the master, as standby */
	bool whole;	   /* it has a complete replica of the master */
	struct replication_agreement with_followed;
	uint64_t deposed_by; /* as master: an SM that had everything is MASTER now; 0: none */
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

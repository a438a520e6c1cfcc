// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of ha/. All of it belongs to the actor "ha". */
#ifndef HA_HA_PRIVATE_H
#define HA_HA_PRIVATE_H

#include "core/options.h"
#include "ha/agreement.h"
#include "ha/frame.h"
#include "ha/replicator.h"
#include "mad/ask.h"

#define HA_BEAT_NS (1 * NS_PER_S) /* interval of heartbeats to a standby in step */

enum ha_role { HA_RESTS, HA_FOLLOWS, HA_LEADS };

struct leader;
struct follower;

/* This SM's values of core/agreed.def, as sent to others. */
struct statement {
	struct agreed *agreed;
	char *text;
	size_t length;
	uint64_t digest;
};

/* The result of comparing with another SM's statement. */
struct accord {
	struct replication_agreement is;
	char *told; /* differences logged last; NULL: none */
};

struct replicator {
	struct context *context;
	struct log *log;
	struct mad *mad;
	struct actor *actor;
	uint64_t port_guid;
	char *key;	 /* NULL: none */
	uint64_t random; /* in virtual time */
	enum ha_role role;
	struct leader *leader;
	struct follower *follower;
	struct statement statement;
	struct log_limit forged_log;
	bool deposed;	      /* it was master until it followed its present master */
	uint64_t held_serial; /* of the text that it held when last master; 0: none */
	char *held;
};

uint64_t ha_random(struct replicator *replicator);
/* A frame from this SM. */
struct frame ha_frame(const struct replicator *replicator, uint8_t op);
size_t ha_octets_max(const struct replicator *replicator);
void ha_tell_status(struct replicator *replicator);
void ha_count(struct replicator *replicator, const struct replica *replica); /* or NULL */

/* ---- accord.c ---- */
/* The current statement; its digest is 0 if there is none. Valid until the next call. */
const struct statement *ha_statement(struct replicator *replicator);
void ha_statement_clear(struct replicator *replicator);
/*
 * The SM with that GUID, the standby or master, has sent its statement: compares, logs, sets
 * status.
 */
void accord_compare(struct accord *accord, struct replicator *replicator, uint64_t guid,
		    const char *text, size_t length);
/* Sets the state without a comparison. */
void accord_set(struct accord *accord, enum agreement state);
void accord_clear(struct accord *accord);
/* For a status, which owns the result. */
struct replication_agreement accord_tell(const struct accord *accord);
/* Puts this SM's digest into an answer. */
void accord_put_digest(struct replicator *replicator, struct frame *answer);
/* The digest in an answer of another SM; 0: there is none. */
uint64_t accord_get_digest(const struct frame *answer);

/* ---- leader.c ---- */
struct leader *leader_new(struct replicator *replicator);
void leader_free(struct leader *leader);
void leader_begin(struct leader *leader);
void leader_end(struct leader *leader); /* it is no longer master */
void leader_set_peers(struct leader *leader, const GArray *peers);
/* A HELLO arrived, possibly an old one: asks its sender whether it is MASTER. */
void leader_met_master(struct leader *leader, uint64_t guid);
void leader_stays(struct leader *leader); /* the SM that deposed it is not MASTER */
void leader_cut_off(struct leader *leader);
void leader_ask_again(struct leader *leader, uint64_t guid);
void leader_put(struct leader *leader, struct replica_entry *entry);
void leader_replace(struct leader *leader, uint8_t section, GPtrArray *entries);
void leader_wait(struct leader *leader, struct replicator_wait *wait);
unsigned int leader_peers(const struct leader *leader);
void leader_tell(const struct leader *leader, struct replication_status *status);

/* ---- follower.c ---- */
struct follower *follower_new(struct replicator *replicator);
void follower_free(struct follower *follower);
void follower_follow(struct follower *follower, uint64_t guid);
/* Moves its replica to lead. */
void follower_end(struct follower *follower, struct replicator_lead *lead);
void follower_receive(struct follower *follower, const struct frame *frame, struct frame *answer);
void follower_tell(const struct follower *follower, struct replication_status *status);

#endif

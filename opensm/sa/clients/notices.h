// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Notices that subscribers are still to be told of, each kept once for all of them. Owned by the sa
 * actor.
 *
 * Each kind of trap has its own log, ordered by serial; a subscription remembers for each kind the
 * serial up to which it has looked. A flood of one kind never displaces notices of another.
 *
 * Joined: a notice that is already in the log moves to the end, so that it is not reported twice in
 * a row. "GID out of service" and "group deleted" replace the notice that announced the GID or
 * group. Gone and back is kept as two notices, as what was known before is no longer valid.
 *
 * Bounded: for one origin, the port that caused them, a log keeps SA_NOTICES_OF_ORIGIN notices, and
 * for all origins sa_notices_room(). The excess is dropped from the origin that has most, its
 * oldest first. One gap stands for everything dropped of an origin; it tells the subscriptions that
 * reach it that they missed something.
 */
#ifndef SA_CLIENTS_NOTICES_H
#define SA_CLIENTS_NOTICES_H

#include <glib.h>

#include "iba/iba.h"

#define SA_NOTICES_OF_ORIGIN 1024

enum sa_notice_kind {
	SA_NOTICES_PORTS,    /* traps 64 and 65 */
	SA_NOTICES_GROUPS,   /* traps 66 and 67 */
	SA_NOTICES_SECURITY, /* of type Security, and key violations */
	SA_NOTICES_OTHER,    /* from ports */
	SA_NOTICE_KINDS
};

struct sa_origin;

struct sa_notice {
	uint64_t serial; /* across all kinds; the first is 1 */
	enum sa_notice_kind kind;
	struct iba_sa_notice told;
	struct iba_gid gid; /* the GID that a subscription to one GID names */
	/* A gap: the notice itself is the last one that was dropped here. */
	bool is_gap;
	bool is_flood;	    /* all dropped because the origin had more than SA_NOTICES_OF_ORIGIN */
	uint64_t n_dropped; /* from this origin, since the serial first_dropped */
	uint64_t first_dropped;
	/* Private. */
	unsigned int refs;
	struct sa_origin *origin;
	GSequenceIter *place; /* NULL: no longer in the log */
	GList link;	      /* in the origin's list, oldest first */
	uint8_t key[iba_sa_notice_bytes];
	uint32_t n_p_keys;
	uint16_t p_keys[]; /* of the subject, when the notice was added */
};

struct sa_notices;

struct sa_notices *sa_notices_new(void);
void sa_notices_free(struct sa_notices *notices);
void sa_notices_clear(struct sa_notices *notices);

/* How many notices of a kind are kept. */
unsigned int sa_notices_room(enum sa_notice_kind kind);
enum sa_notice_kind sa_notice_kind(const struct iba_notice *notice);
/* Adds a notice; origin: GUID of the port that caused it. Returns how many others were dropped. */
unsigned int sa_notices_add(struct sa_notices *notices, const struct iba_sa_notice *told,
			    struct iba_gid gid, uint64_t origin, const uint16_t *p_keys,
			    uint32_t n_p_keys);
/* Notices and gaps of a kind that are kept. */
unsigned int sa_notices_count(const struct sa_notices *notices, enum sa_notice_kind kind);

/* Serial of the last notice of a kind; 0: there was none. */
uint64_t sa_notices_last(const struct sa_notices *notices, enum sa_notice_kind kind);
/* The first notice of a kind after that serial; NULL: none. */
struct sa_notice *sa_notices_after(const struct sa_notices *notices, enum sa_notice_kind kind,
				   uint64_t serial);
struct sa_notice *sa_notice_next(const struct sa_notice *notice);
/* Forgets notices of a kind that all subscriptions have looked at: up to that serial. */
void sa_notices_forget(struct sa_notices *notices, enum sa_notice_kind kind, uint64_t serial);

uint64_t sa_notice_origin(const struct sa_notice *notice);

/* A referenced notice outlives its place in the log. */
struct sa_notice *sa_notice_ref(struct sa_notice *notice);
void sa_notice_unref(struct sa_notice *notice);
/* Whether it is still to be reported: neither dropped nor joined with a later one. */
static inline bool sa_notice_counts(const struct sa_notice *notice)
{
	return notice->place && !notice->is_gap;
}

#endif

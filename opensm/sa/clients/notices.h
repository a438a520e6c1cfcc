// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Notices that subscribers are still to be told of, each kept once for all of them. Owned by the sa
 * actor.
 *
 * Each kind of trap has a log of its own, by serial; a subscription keeps the serial up to which it
 * has looked at each. What one kind has much of never displaces what is of another.
 *
 * Joined: a notice that is there already moves to the end, so nobody is told of it twice in a row.
 * That a GID is out of service, or a group deleted, takes the place of the notice that it had come.
 * Gone and back is kept as both, as what was known of it before holds no more.
 *
 * Bounded: of one origin, the port that caused them, a log keeps SA_NOTICES_OF_ORIGIN, and of all
 * as many as sa_notices_room() says. What is too much is dropped from the origin that has most, its
 * oldest first. In place of what was dropped of an origin stays one gap, which tells those who come
 * to it that they missed something.
 */
#ifndef SA_CLIENTS_NOTICES_H
#define SA_CLIENTS_NOTICES_H

#include <glib.h>

#include "iba/iba.h"

#define SA_NOTICES_OF_ORIGIN 1024

enum sa_notice_kind {
	SA_NOTICES_PORTS,    /* traps 64 and 65 */
	SA_NOTICES_GROUPS,   /* traps 66 and 67 */
	SA_NOTICES_SECURITY, /* of that type, and violations of keys */
	SA_NOTICES_OTHER,    /* from ports */
	SA_NOTICE_KINDS
};

struct sa_origin;

struct sa_notice {
	uint64_t serial; /* of all kinds together; the first is 1 */
	enum sa_notice_kind kind;
	struct iba_sa_notice told;
	struct iba_gid gid; /* that a subscription to one GID means */
	/* Gap: the notice itself is the last that was dropped here. */
	bool is_gap;
	bool is_flood;	    /* all because the origin had more than SA_NOTICES_OF_ORIGIN */
	uint64_t n_dropped; /* of the origin, since the serial first_dropped */
	uint64_t first_dropped;
	/* Private. */
	unsigned int refs;
	struct sa_origin *origin;
	GSequenceIter *place; /* NULL: it is in the log no more */
	GList link;	      /* in what the origin has, the oldest first */
	uint8_t key[iba_sa_notice_bytes];
	uint32_t n_p_keys;
	uint16_t p_keys[]; /* of what it tells about, as it was then */
};

struct sa_notices;

struct sa_notices *sa_notices_new(void);
void sa_notices_free(struct sa_notices *notices);
void sa_notices_clear(struct sa_notices *notices);

/* How many of a kind are kept. */
unsigned int sa_notices_room(enum sa_notice_kind kind);
enum sa_notice_kind sa_notice_kind(const struct iba_notice *notice);
/* Takes one in; origin: GUID of the port that caused it. How many others were dropped for it. */
unsigned int sa_notices_add(struct sa_notices *notices, const struct iba_sa_notice *told,
			    struct iba_gid gid, uint64_t origin, const uint16_t *p_keys,
			    uint32_t n_p_keys);
/* Notices and gaps that are kept of a kind. */
unsigned int sa_notices_count(const struct sa_notices *notices, enum sa_notice_kind kind);

/* That of the last notice of a kind; 0: there was none. */
uint64_t sa_notices_last(const struct sa_notices *notices, enum sa_notice_kind kind);
/* The first of a kind after that serial, and the one after that; NULL: there is none. */
struct sa_notice *sa_notices_after(const struct sa_notices *notices, enum sa_notice_kind kind,
				   uint64_t serial);
struct sa_notice *sa_notice_next(const struct sa_notice *notice);
/* Forgets those of a kind that everybody looked at: up to that serial. */
void sa_notices_forget(struct sa_notices *notices, enum sa_notice_kind kind, uint64_t serial);

uint64_t sa_notice_origin(const struct sa_notice *notice);

/* One that is held outlives its place in the log. */
struct sa_notice *sa_notice_ref(struct sa_notice *notice);
void sa_notice_unref(struct sa_notice *notice);
/* Whether it is still to be told: neither dropped nor joined with a later one. */
static inline bool sa_notice_counts(const struct sa_notice *notice)
{
	return notice->place && !notice->is_gap;
}

#endif

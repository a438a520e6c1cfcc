// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The open connections of a server. A newcomer that finds no room takes the place of the one that
 * has been without a whole request for longest; one that is served or answered keeps its place.
 * Clients that are slow, or many, harm each other only.
 */
#ifndef WEB_SERVE_CROWD_H
#define WEB_SERVE_CROWD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct crowd;
struct member;

enum member_state {
	MEMBER_IS_NEW,	/* has sent no request yet */
	MEMBER_IS_IDLE, /* between two requests */
	MEMBER_SENDS,	/* the body of a request */
	MEMBER_WAITS,	/* for the answer, which is being made */
	MEMBER_IS_SENT, /* the answer */
	MEMBER_STATES,
};

struct crowd *crowd_new(uint32_t max, uint32_t max_per_address);
/* All members have left. NULL is fine. */
void crowd_free(struct crowd *crowd);
unsigned int crowd_size(const struct crowd *crowd);

/* False: one more of this address has no room. A member that gives way is shut down. */
bool crowd_makes_room(struct crowd *crowd, const char *address);
/* Whether it is those of this address that are too many, not all together. */
bool crowd_is_full_of(const struct crowd *crowd, const char *address);
struct member *crowd_enter(struct crowd *crowd, const char *address, int socket);
/* NULL is fine. */
void crowd_leave(struct crowd *crowd, struct member *member);
/* Shuts down those that have been too long in their state; now_us: of the monotonic clock. */
void crowd_look(struct crowd *crowd, gint64 now_us);

void member_set_state(struct member *member, enum member_state state);
/* Its state becomes MEMBER_IS_SENT. octets: of the answer; a large one must not take long. */
void member_set_answer(struct member *member, uint64_t octets);
/* Its client has ended the connection, at least on its side, and has had time to be answered. */
bool member_has_left(const struct member *member, gint64 now_us);
/* It counts no longer: its connection will end by itself. */
void member_give_way(struct member *member);
bool member_gives_way(const struct member *member);
/* When its state began, by the monotonic clock. */
gint64 member_since_us(const struct member *member);
const char *member_address(const struct member *member);
/* As in struct caller; NULL: not known yet. */
const char *const *member_names(const struct member *member);
/* Takes over the names; NULL: there are none. */
void member_set_names(struct member *member, char **names);

#endif

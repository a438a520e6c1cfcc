// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How many sessions the console has room for, and which of them gives way to a newcomer. Pure.
 *
 * Each kind of session has seats of its own, so that none can lock another out.
 */
#ifndef CTL_CONSOLE_CONSOLE_SEATS_H
#define CTL_CONSOLE_CONSOLE_SEATS_H

#include <stdint.h>

enum seat_kind {
	SEAT_STRANGER, /* has not sent the required key */
	SEAT_NETWORK,  /* TCP, and has sent the key or needs none */
	SEAT_GROUP,    /* Unix socket: a member of console_group */
	SEAT_OPERATOR, /* Unix socket: root, or the user that the daemon runs as */
	SEAT_TERMINAL, /* the terminal of the daemon */
	SEAT_KINDS,
};

struct seat {
	enum seat_kind kind;
	const char *peer;  /* the user, as far as known: each has a share of seats */
	uint64_t since_ns; /* when the user last typed something, or connected */
};

#define SEATS_FREE (-1) /* there is room */
#define SEATS_FULL (-2) /* no session may be closed for it */

/*
 * Which of the n taken seats gives way to a newcomer, whose since_ns is now: its index, SEATS_FREE
 * or SEATS_FULL. The seat is of the newcomer's kind. A peer that has its full share gives up one of
 * its own seats; otherwise the peer with the most seats loses the one that was idle for longest.
 */
int seats_take(const struct seat *taken, unsigned int n, const struct seat *newcomer);

#endif

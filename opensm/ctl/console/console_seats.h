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
	SEAT_STRANGER, /* has not shown the key that is asked for */
	SEAT_NETWORK,  /* TCP, and has shown the key or needs none */
	SEAT_GROUP,    /* Unix socket: a member of console_group */
	SEAT_OPERATOR, /* Unix socket: root, or the user that the daemon runs as */
	SEAT_TERMINAL, /* the terminal of the daemon */
	SEAT_KINDS,
};

struct seat {
	enum seat_kind kind;
	const char *peer;  /* who it is, as far as that can be told: shares go by it */
	uint64_t since_ns; /* when the user last said something, or came */
};

#define SEATS_FREE (-1) /* there is room */
#define SEATS_FULL (-2) /* nobody may be sent away */

/*
 * Which of the n taken seats gives way to a newcomer, whose since_ns is now: its index, SEATS_FREE
 * or SEATS_FULL. It is of the same kind; a peer that has its share gives one of its own. Else it
 * is one of the peer with most seats, and of its seats the one that was silent for longest.
 */
int seats_take(const struct seat *taken, unsigned int n, const struct seat *newcomer);

#endif

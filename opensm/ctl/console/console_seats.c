// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A table of limits. Sessions without the key give way at any time, others only after a minute
 * without input: no session is interrupted, and no user keeps others out by doing nothing.
 */
#include "ctl/console/console_seats.h"

#include <stdbool.h>
#include <string.h>

#include "complib/actor.h"

static const struct room {
	unsigned int seats, share; /* share: seats per peer */
	uint64_t idle_ns;	   /* after this time without input a session gives way */
} rooms[SEAT_KINDS] = {
	[SEAT_STRANGER] = {8, 4, 0},	      [SEAT_NETWORK] = {8, 8, 60 * NS_PER_S},
	[SEAT_GROUP] = {8, 4, 60 * NS_PER_S}, [SEAT_OPERATOR] = {16, 16, 60 * NS_PER_S},
	[SEAT_TERMINAL] = {1, 1, UINT64_MAX},
};

static bool same_peer(const struct seat *a, const struct seat *b)
{
	return a->kind == b->kind && !strcmp(a->peer, b->peer);
}

static unsigned int count_peer(const struct seat *taken, unsigned int n, const struct seat *who)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++)
		count += same_peer(&taken[i], who);
	return count;
}

/* The seat to be freed; own: only among those of the newcomer's peer. */
static int choose(const struct seat *taken, unsigned int n, const struct seat *newcomer, bool own)
{
	uint64_t idle_ns = rooms[newcomer->kind].idle_ns;
	unsigned int most = 0;
	int chosen = SEATS_FULL;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int count = count_peer(taken, n, &taken[i]);

		if (taken[i].kind != newcomer->kind || (own && !same_peer(&taken[i], newcomer)) ||
		    newcomer->since_ns - taken[i].since_ns < idle_ns)
			continue;
		if (count < most || (count == most && taken[i].since_ns >= taken[chosen].since_ns))
			continue;
		most = count;
		chosen = (int)i;
	}
	return chosen;
}

int seats_take(const struct seat *taken, unsigned int n, const struct seat *newcomer)
{
	const struct room *room = &rooms[newcomer->kind];
	unsigned int count = 0;

	if (count_peer(taken, n, newcomer) >= room->share)
		return choose(taken, n, newcomer, true);
	for (unsigned int i = 0; i < n; i++)
		count += taken[i].kind == newcomer->kind;
	return count < room->seats ? SEATS_FREE : choose(taken, n, newcomer, false);
}

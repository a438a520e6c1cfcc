// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What packets can wait for while a daemon changes tables: a replay of the SMPs that it sends,
 * which reads cables from the simulator and everything else from the wire. It shares no code with
 * opensm/route.
 *
 * A Set that is not answered yet may have been carried out or not: both contents count. A packet
 * has the SL that its host was told when it last asked for the path, whatever the daemon has
 * decided since; its answer comes back on the same SL. To and from the SM it has the MasterSMSL of
 * the host. After each write, the dependencies between all (cable, VL) that such packets can hold
 * and want must have no cycle.
 */
#ifndef TESTS_SCENARIO_REPLAY_H
#define TESTS_SCENARIO_REPLAY_H

#include "scenario.h"

struct replay;

struct replay_count {
	unsigned int writes; /* of LFTs and SL2VL tables */
	unsigned int unsafe; /* of these: after it, packets could close a loop */
	bool before, after;  /* they could before the first, and after the last was answered */
	/* Pairs of hosts that lost packets, though tables before and after deliver them. */
	unsigned int lost;
	uint64_t lost_ns; /* for so long, the longest of them */
};

/* All hosts of a fabric that is configured ask for their paths. */
struct replay *replay_new(struct scenario *s);
void replay_free(struct replay *replay);

/*
 * One in n pairs, by chance, asks again; 1: all do. So do those that were cut off when the last
 * change was finished: their connections have ended.
 */
void replay_ask(struct replay *replay, unsigned int n);

/* Watches from now on, with the cables that are there. */
void replay_begin(struct replay *replay);
void replay_end(struct replay *replay, struct replay_count *count);

/* Whether packets can close a loop now. */
bool replay_is_closed(struct replay *replay);

#endif

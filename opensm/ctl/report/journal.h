// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The journal: the latest events, for people. Built from the events on the bus and from the
 * differences between published subnets, which it also writes to the log; its size is bounded. All
 * on the daemon's actor "main".
 */
#ifndef CTL_REPORT_JOURNAL_H
#define CTL_REPORT_JOURNAL_H

#include "ctl/daemon.h"
#include "ctl/report/census.h"

#define JOURNAL_MAX 2000 /* entries kept */

struct journal;

struct journal_entry {
	int64_t first_us, last_us; /* real time, microseconds since 1970 */
	unsigned int times;	   /* times in a row */
	const char *kind; /* "state", "sweep", "link", "node", "gid", "lid", "trap",
			     "options", "counter" */
	char *text;
	/*
	 * For changes of the subnet, as in struct changes_line; for "counter" which one of which
	 * port; otherwise NULL and 0.
	 */
	const char *change;
	uint64_t guid, peer_guid;
	uint8_t port, peer_port;
};

struct journal_sweep {
	struct sweep_done done;
	uint64_t ended_ns; /* by the clock of the runtime, which cannot be set; 0: never */
};

struct journal *journal_new(struct daemon *daemon); /* between daemon_new and daemon_start */
void journal_free(struct journal *journal);	    /* after daemon_stop; NULL is fine */

unsigned int journal_length(const struct journal *journal);
/* Entry 0 is the oldest. Valid until the loop runs again. */
const struct journal_entry *journal_at(const struct journal *journal, unsigned int number);

/* Census of the switches and hosts of published subnets, and its time window in ns. */
#define JOURNAL_WINDOW_NS(options) (MAX((options)->health_window, 1) * NS_PER_S)
struct census *journal_census(struct journal *journal);

/* Seconds since nodes or links came or went or the first subnet was published; false: never. */
bool journal_last_change(const struct journal *journal, uint64_t *ago_s);

/* NULL: no sweep has ended yet, or there is no journal. */
const struct journal_sweep *journal_last_sweep(const struct journal *journal);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The journal: the last things that happened, for people. Made from the events on the bus and from
 * the differences of published subnets, which it writes into the log too; bounded. All on the
 * daemon's actor "main".
 */
#ifndef CTL_REPORT_JOURNAL_H
#define CTL_REPORT_JOURNAL_H

#include "ctl/daemon.h"
#include "ctl/report/census.h"

#define JOURNAL_MAX 2000 /* entries kept */

struct journal;

struct journal_entry {
	int64_t first_us, last_us; /* real time, microseconds since 1970 */
	unsigned int times;	   /* in a row */
	const char *kind; /* "state", "sweep", "link", "node", "gid", "lid", "trap", "options" */
	char *text;
	/* Of changes of the subnet: which, and of what; NULL, 0: of none. See struct changes_line.
	 */
	const char *change;
	uint64_t guid, peer_guid;
	uint8_t port, peer_port;
};

struct journal_sweep {
	struct sweep_done done;
	uint64_t ended_ns; /* by the clock of the runtime, which nobody sets; 0: never */
};

struct journal *journal_new(struct daemon *daemon); /* between daemon_new and daemon_start */
void journal_free(struct journal *journal);	    /* after daemon_stop; NULL is fine */

unsigned int journal_length(const struct journal *journal);
/* The oldest is 0; valid until the loop runs again. */
const struct journal_entry *journal_at(const struct journal *journal, unsigned int number);

/* Of the switches and hosts of published subnets. */
#define JOURNAL_WINDOW_NS(options) (MAX((options)->health_window, 1) * NS_PER_S)
struct census *journal_census(struct journal *journal);

/* How long ago nodes or links came or went, or the first subnet was there; false: not yet. */
bool journal_last_change(const struct journal *journal, uint64_t *ago_s);

/* NULL: none has ended yet, or there is no journal. */
const struct journal_sweep *journal_last_sweep(const struct journal *journal);

#endif

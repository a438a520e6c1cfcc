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
struct subnet;

struct journal_entry {
	uint64_t serial;	   /* of the last time; greater than those of entries before */
	int64_t first_us, last_us; /* real time, microseconds since 1970 */
	unsigned int times;	   /* times in a row */
	const char *kind;	   /* "state", "sweep", "link", "node", "gid", "lid", "trap",
				      "options", "counter", "health", "partition", "group", "sm",
				      "service" */
	char *text;
	/*
	 * For changes of the subnet, as in struct changes_line; for "counter" which one of which
	 * port; for "health" the condition of which port; for "sm" as in struct
	 * peer_change; "accepted" of journal_accept(); otherwise NULL and 0.
	 */
	const char *change;
	uint64_t guid, peer_guid;
	uint8_t port, peer_port;
	uint32_t more_switches, more_hosts;
	uint64_t generation; /* of the published subnet with that change; 0: none */
};

struct journal_sweep {
	struct sweep_done done;
	uint64_t ended_ns; /* by the clock of the runtime, which cannot be set; 0: never */
};

/* One that waits for news; news and arg are the caller's. */
struct journal_waiter {
	void (*news)(void *arg); /* called once; it may wait again */
	void *arg;
	bool waits;
	GList link;
};

/*
 * What the journal hears of, with numbers: each of what it tells of in one entry or leaves out
 * because there is too much of it. Texts are valid during the call.
 */
struct journal_fact {
	const char *kind; /* as of entries */
	const char *word; /* kind of a sweep; counter; condition of a port; of an SM, as in
			     struct peer_change; "": none */
	const char *text;
	unsigned int level; /* sweep: 1 with errors; health: 1 began; counter: enum perf_level */
	uint64_t value; /* microseconds of a sweep; state; serial of a policy; number of groups, or
			   of services */
	uint64_t guid, peer_guid;
	uint8_t port, peer_port;
	uint64_t generation; /* of the published subnet that shows it; 0: none */
};

/* One that hears what the journal hears, in the same order, on the daemon's actor. */
struct journal_listener {
	void *arg;
	void (*fact)(void *arg, const struct journal_fact *fact);
	/*
	 * Another subnet was published; changes are those of fabric_changes() from old, which is
	 * NULL for the first one, as changes are then. All may be kept by references.
	 */
	void (*published)(void *arg, struct subnet *old, struct subnet *now, GArray *changes);
};

struct journal *journal_new(struct daemon *daemon); /* between daemon_new and daemon_start */
void journal_free(struct journal *journal);	    /* after daemon_stop; NULL is fine */

/* NULL: there is none any more. The listener remains the caller's. */
void journal_listen(struct journal *journal, const struct journal_listener *listener);

/* How many events of a kind there were, by number of the kind; NULL: past the last kind. */
const char *journal_kind(const struct journal *journal, unsigned int number, uint64_t *events);
/* When the options were last read again, in microseconds since 1970; 0: not since the start. */
int64_t journal_reread_us(const struct journal *journal);

unsigned int journal_length(const struct journal *journal);
/* Entry 0 is the oldest. Valid until the loop runs again. */
const struct journal_entry *journal_at(const struct journal *journal, unsigned int number);

/*
 * News are entries, also those that are counted once more, and what changes without an entry:
 * published subnets and images of counters, ends of sweeps, unhealthy ports. Each has a serial
 * number, from 1. They begin again with each run of the daemon, which has a number of its own.
 */
uint64_t journal_run(const struct journal *journal);
uint64_t journal_serial(const struct journal *journal); /* of the last news; 0: none yet */
/* Serial of the last change of what an image of the fabric shows. */
uint64_t journal_image(const struct journal *journal);
/* The serial of the last entry that is not kept any more; 0: all are kept. */
uint64_t journal_forgotten(const struct journal *journal);
/* The oldest entry with a greater serial; NULL: none. Its data are struct journal_entry. */
const GList *journal_after(const struct journal *journal, uint64_t serial);
/*
 * Has the waiter called soon after the next news: several that come together wake it once.
 * journal_unwait() in time; it may be called at any time, and journal may be NULL there.
 */
void journal_wait(struct journal *journal, struct journal_waiter *waiter);
void journal_unwait(struct journal *journal, struct journal_waiter *waiter);

/* Census of the switches and hosts of published subnets, and its time window in ns. */
#define JOURNAL_WINDOW_NS(options) (MAX((options)->health_window, 1) * NS_PER_S)
struct census *journal_census(struct journal *journal);
/* The present nodes and cables are as they should be; an entry with change "accepted" says so. */
void journal_accept(struct journal *journal);

/* Seconds since nodes or links came or went or the first subnet was published; false: never. */
bool journal_last_change(const struct journal *journal, uint64_t *ago_s);

/* NULL: no sweep has ended yet, or there is no journal. */
const struct journal_sweep *journal_last_sweep(const struct journal *journal);

#endif

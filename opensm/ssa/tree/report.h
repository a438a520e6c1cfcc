// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* How the parts of a node fare: written by their threads, read by the one that joins the tree. */
#ifndef SSA_TREE_REPORT_H
#define SSA_TREE_REPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct ssa_report {
	uint64_t term, epoch;
	uint64_t updates, errors, switches; /* epochs taken, failures, changes of the parent */
	int64_t updated_us, confirmed_us;   /* UNIX time: of the last epoch; known to be current */
	int64_t settled_us; /* monotonic: the parent in use was first read; 0: not yet */
	char error[256];    /* the last one; "": none */
	int64_t error_us;
	char parent[128];     /* HOST:PORT of the one in use; "": none */
	char bad_parent[128]; /* the last that was given up; "": none */
};

struct ssa_reporter; /* one report; any thread */

/*
 * changed (may be NULL) is called, by the thread that reports, after each change that the core
 * should know; at_once: as it may have to do something.
 */
struct ssa_reporter *ssa_reporter_new(void (*changed)(void *arg, bool at_once), void *arg);
void ssa_reporter_free(struct ssa_reporter *reporter);
void ssa_reporter_read(struct ssa_reporter *reporter, struct ssa_report *report);

void ssa_report_epoch(struct ssa_reporter *reporter, uint64_t term, uint64_t epoch);
void ssa_report_confirmed(struct ssa_reporter *reporter);
/* Told in the log, too, once in a row. NULL: what failed works again. */
void ssa_report_error(struct ssa_reporter *reporter, const GError *error);
/* The parent in use works. */
void ssa_report_settled(struct ssa_reporter *reporter);
/* Another parent is in use, by its URI, as the one before is bad. */
void ssa_report_switch(struct ssa_reporter *reporter, const char *uri, const char *bad_uri);

#endif

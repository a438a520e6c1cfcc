// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How long until the subnet is right again, in virtual time; and figures with bounds, printed one a
 * line and counted. For programs that go on after a failure, unlike scenario_converge.
 */
#ifndef TESTS_SCENARIO_REPAIR_H
#define TESTS_SCENARIO_REPAIR_H

#include "scenario.h"

#define REPAIR_NEVER UINT64_MAX
#define REPAIR_LIMIT_MS 30000 /* what takes longer counts as never */

/*
 * Runs until hardware, published subnet and belief are right for what can be reached, and stay so
 * for a second. Returns the milliseconds until they were, rounded up by at most a sixteenth if the
 * daemon is at work after that, as in a light sweep; REPAIR_NEVER if that takes more than limit_ms:
 * then *wrong gets what was wrong, to be freed.
 */
uint64_t repair_wait(struct scenario *s, uint64_t limit_ms, char **wrong);

/* Runs until no SMP has entered the fabric for quiet_ms; returns the ms until the last one did. */
uint64_t repair_quiet(struct scenario *s, uint64_t quiet_ms);

struct report {
	unsigned int passed, failed;
};

/*
 * Prints "NAME: value unit (at most bound)", which failed if above. REPAIR_NEVER prints as "never",
 * and the note says why; NULL: no note.
 */
void report_at_most(struct report *report, const char *name, uint64_t value, const char *unit,
		    uint64_t bound, const char *note);
/* Calls repair_wait and prints its figure in one line. Returns false if it was too long. */
bool report_repair(struct report *report, const char *name, struct scenario *s, uint64_t bound_ms);
/* Prints "N passed, N failed" and returns the exit status. */
int report_close(const struct report *report);

/* Milliseconds of many repairs. */
struct samples {
	GArray *ms; /* uint64_t, REPAIR_NEVER included */
	unsigned int late;
	char *worst; /* what happened in the worst repair */
};

void samples_init(struct samples *samples);
void samples_clear(struct samples *samples);
/* what: newly allocated; samples takes ownership. */
void samples_add(struct samples *samples, uint64_t ms, uint64_t bound_ms, char *what);
/* Prints "NAME: n moments, median N ms, worst N ms (at most bound), n late"; fails if n > 0. */
void report_samples(struct report *report, const char *name, struct samples *samples,
		    uint64_t bound_ms);

#endif

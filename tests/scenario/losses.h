// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of the program tests/scenario/losses share. */
#ifndef TESTS_SCENARIO_LOSSES_H
#define TESTS_SCENARIO_LOSSES_H

#include "repair.h"

/*
 * Bounds follow from time-outs, with agents that take 100 us and round trips of less than 20 ms:
 *
 *	  60 ms	two tries of 20 and 40 ms: all silent nodes get them at the same time
 *	1160 ms	these and all tries: 20, 40, 80 and 160 ms, transaction_timeout 200 ms x
 *		(transaction_retries 3 + 1); also at the same time for all silent nodes
 *	1000 ms	until switches are asked whether a trap of theirs was lost with the cable
 *
 * What is lost is DOWN at the other end of its cables, so no node gets all tries. A silent node is
 * traced back to the first switch that answers, at most five hops in a fat tree of three levels:
 * 300 ms. Nodes behind it are then asked by another route, which may be dead as well: of four
 * routes to a leaf each costs that. A loss during discovery is found so at nodes that were not read
 * yet; the next sweep finds it at nodes that had been read, 60 ms for each distance and for each
 * dead switch there: 480 ms. To read, route and write the rest takes 320 ms:
 *
 *	4 x 300 + 480 + 320 = 2000 ms, and 1000 ms more where a trap is lost
 *
 * A route that changes while its end is being probed may still cost all tries, where fewer routes
 * are
 * dead: of 12 switches lost at 518 moments of 20 seeds one case took 2040 ms.
 *
 * A device that hangs while its link is up costs a sweep another 1160 ms, once.
 */
#define LOSS_BOUND_MS 3000
#define DEAD_BOUND_MS 2000 /* no trap is lost, and no node gets all tries */

struct losses {
	struct report report;
	bool all;	   /* the long run: every moment, large fabrics */
	uint64_t seed;
	unsigned int seeds; /* seeds of moments, from the given one on */
};

/* ---- moments.c ---- */
enum loss_kind {
	LOSS_FIRST,	/* first bring-up */
	LOSS_PARTIAL,	/* after an earlier loss of a cable */
	LOSS_LIGHT,	/* on request */
	LOSS_HEAVY,	/* on request, with changed options, as on SIGHUP */
	LOSS_MULTICAST, /* a host joins or leaves */
	LOSS_REROUTE,	/* on request */
	LOSS_KINDS
};
extern const char *const loss_kind_names[LOSS_KINDS];

struct moments {
	const char *spec;
	enum loss_kind kind;
	bool switches;	      /* loses switches, not cables */
	unsigned int n;	      /* lost at the same time */
	unsigned int first;   /* moment, in steps */
	unsigned int count;   /* of moments; 0: to the end of the sweep */
	unsigned int step_us; /* from one moment to the next */
	unsigned int seeds;   /* each seed has these moments */
	unsigned int bound_ms;
};

/* Loses n things at each moment; prints one line of the report. */
void moments_run(struct losses *losses, const struct moments *moments);

/* ---- the named cases ---- */
struct loss_case {
	const char *name, *help;
	void (*run)(struct losses *losses);
	bool is_long; /* not in make check */
};
/* Each ends with a row without a name. */
extern const struct loss_case losses_cases[], losses_cases_other[], losses_cases_options[];

/* A fabric whose SMAs take sma_ns for a MAD; the daemon is started on host-0 or host-0-0... */
struct scenario *losses_net(struct losses *losses, const char *spec, uint64_t sma_ns);
/* As losses_net(), but up; NULL, counted as a failure of that case, if it does not come up. */
struct scenario *losses_up(struct losses *losses, const char *name, const char *spec,
			   uint64_t sma_ns);
/* Replaces opensm.conf, has it reread and requests a heavy sweep, as the daemon does on SIGHUP. */
void losses_hangup(struct scenario *s, const char *conf);

#endif

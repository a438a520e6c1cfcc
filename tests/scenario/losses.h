// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of the program tests/scenario/losses share. */
#ifndef TESTS_SCENARIO_LOSSES_H
#define TESTS_SCENARIO_LOSSES_H

#include "repair.h"

/*
 * Bounds follow from time-outs. A target that is silent costs transaction_timeout 200 ms x
 * (retries 3 + 1) = 800 ms, once, however many are silent at the same time; what stands behind it
 * may have to be asked by another way, that is a second round; programming what is left takes some
 * hundred ms with agents of 100 us. A loss in the middle of that may start it anew, once.
 */
#define LOSS_BOUND_MS 3000
#define DEAD_BOUND_MS 2000 /* from idle: one round, and routes */

struct losses {
	struct report report;
	bool all;	   /* the long way: every moment, large fabrics */
	uint64_t seed;
};

/* ---- moments.c ---- */
enum loss_kind {
	LOSS_FIRST,	/* first bring-up */
	LOSS_PARTIAL,	/* after an earlier loss of a cable */
	LOSS_LIGHT,	/* asked for */
	LOSS_HEAVY,	/* asked for, with options changed, as on SIGHUP */
	LOSS_MULTICAST, /* a host joins or leaves */
	LOSS_REROUTE,	/* asked for */
	LOSS_KINDS
};
extern const char *const loss_kind_names[LOSS_KINDS];

struct moments {
	const char *spec;
	enum loss_kind kind;
	bool switches;	      /* lost, not cables */
	unsigned int n;	      /* lost at once */
	unsigned int first;   /* moment, in steps */
	unsigned int count;   /* of moments; 0: to the end of the sweep */
	unsigned int step_us; /* from one moment to the next */
};

/* Loses n things at each moment; one line of the report. */
void moments_run(struct losses *losses, const struct moments *moments);

/* ---- the named cases ---- */
struct loss_case {
	const char *name, *help;
	void (*run)(struct losses *losses);
	bool is_long; /* not in make check */
};
/* Each ends with a row without a name. */
extern const struct loss_case losses_cases[], losses_cases_other[], losses_cases_options[];

/* A fabric whose agents take sma_ns for a MAD, with the daemon on host-0 or host-0-0.. started. */
struct scenario *losses_net(struct losses *losses, const char *spec, uint64_t sma_ns);
/* And up; NULL, and counted as a failure of that case, if it does not come up. */
struct scenario *losses_up(struct losses *losses, const char *name, const char *spec,
			   uint64_t sma_ns);
/* Replaces opensm.conf, has it read and asks for a heavy sweep: what the daemon does on SIGHUP. */
void losses_hangup(struct scenario *s, const char *conf);

#endif

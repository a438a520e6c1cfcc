// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The subnet is checked often at first, then at growing intervals: checks cost real time. It became
 * right in the last millisecond before the check in which the daemon did anything; only if the
 * daemon worked on after the repair is the figure that of the check.
 */
#include "repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "belief.h"

#define STEADY_MS 1000
#define STEADY_POLL_MS 100
#define FIRST_POLL_MS 1
#define FRACTION 16 /* of the time passed, between two checks */

static char *violation(const struct scenario *s)
{
	char *wrong = scenario_violation(s);

	if (!wrong)
		wrong = scenario_published_violation(s);
	return wrong ? wrong : scenario_options_violation(s);
}

/* Belief is checked while no Set is under way: once nothing else is wrong, for a while. */
static bool is_steady(struct scenario *s, char **wrong)
{
	for (unsigned int i = 0; i < STEADY_MS / STEADY_POLL_MS && !*wrong; i++) {
		scenario_run_ms(s, STEADY_POLL_MS);
		*wrong = violation(s);
	}
	if (!*wrong)
		*wrong = scenario_belief_violation(s);
	return !*wrong;
}

static bool is_sweeping(const struct scenario *s)
{
	return s->daemon && atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_RUNNING;
}

/* Runs for n milliseconds; returns after how many the daemon was last at work, at least 1. */
static uint64_t run_at_work(struct scenario *s, uint64_t n)
{
	uint64_t smps = scenario_counters(s).smps, worked = 1;

	for (uint64_t ms = 1; ms <= n; ms++) {
		scenario_run_ms(s, 1);
		if (is_sweeping(s) || scenario_counters(s).smps != smps)
			worked = ms;
		smps = scenario_counters(s).smps;
	}
	return worked;
}

uint64_t repair_wait(struct scenario *s, uint64_t limit_ms, char **wrong)
{
	uint64_t passed = 0, worked = 0;

	*wrong = NULL;
	for (;;) {
		uint64_t step = MAX(passed / FRACTION, FIRST_POLL_MS);

		g_free(*wrong);
		*wrong = violation(s);
		if (!*wrong && is_steady(s, wrong))
			return worked;
		if (passed > limit_ms)
			return REPAIR_NEVER;
		worked = passed + run_at_work(s, step);
		passed += step;
	}
}

uint64_t repair_quiet(struct scenario *s, uint64_t quiet_ms)
{
	uint64_t start = runtime_now(s->rt), last = start, smps = scenario_counters(s).smps, now;

	do {
		scenario_run_ms(s, 1);
		now = scenario_counters(s).smps;
		if (now != smps)
			last = runtime_now(s->rt);
		smps = now;
	} while (runtime_now(s->rt) - last < quiet_ms * NS_PER_MS);
	return (last - start) / NS_PER_MS;
}

/* ---- figures ---- */

static void count(struct report *report, bool good)
{
	if (good)
		report->passed++;
	else
		report->failed++;
	printf("%s\n", good ? "" : " FAILED");
}

void report_at_most(struct report *report, const char *name, uint64_t value, const char *unit,
		    uint64_t bound, const char *note)
{
	if (value == REPAIR_NEVER)
		printf("%s: never (at most %" PRIu64 " %s)", name, bound, unit);
	else
		printf("%s: %" PRIu64 " %s (at most %" PRIu64 ")", name, value, unit, bound);
	if (note && value > bound)
		printf(" [%s]", note);
	count(report, value <= bound);
	fflush(stdout);
}

bool report_repair(struct report *report, const char *name, struct scenario *s, uint64_t bound_ms)
{
	g_autofree char *wrong = NULL;
	uint64_t ms = repair_wait(s, MAX(10 * bound_ms, REPAIR_LIMIT_MS), &wrong);

	report_at_most(report, name, ms, "ms", bound_ms, wrong);
	return ms <= bound_ms;
}

int report_close(const struct report *report)
{
	printf("%u passed, %u failed\n", report->passed, report->failed);
	return report->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- many repairs ---- */

void samples_init(struct samples *samples)
{
	*samples = (struct samples){.ms = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
}

void samples_clear(struct samples *samples)
{
	g_array_unref(samples->ms);
	g_free(samples->worst);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static uint64_t sample(const struct samples *samples, unsigned int i)
{
	return g_array_index(samples->ms, uint64_t, i);
}

void samples_add(struct samples *samples, uint64_t ms, uint64_t bound_ms, char *what)
{
	samples->late += ms > bound_ms;
	g_array_append_val(samples->ms, ms);
	g_array_sort(samples->ms, compare);
	if (ms == sample(samples, samples->ms->len - 1)) {
		g_free(samples->worst);
		samples->worst = what;
	} else {
		g_free(what);
	}
}

static void print_ms(const char *name, uint64_t ms)
{
	if (ms == REPAIR_NEVER)
		printf("%s never", name);
	else
		printf("%s %" PRIu64 " ms", name, ms);
}

void report_samples(struct report *report, const char *name, struct samples *samples,
		    uint64_t bound_ms)
{
	unsigned int n = samples->ms->len;

	printf("%s: %u moments", name, n);
	if (n) {
		print_ms(", median", sample(samples, n / 2));
		print_ms(", worst", sample(samples, n - 1));
		printf(" (at most %" PRIu64 "), %u late", bound_ms, samples->late);
	}
	if (samples->late)
		printf(" [worst: %s]", samples->worst);
	count(report, !samples->late);
	fflush(stdout);
}

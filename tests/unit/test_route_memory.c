// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Estimates of the memory that engines and the verifier need, beside what becomes resident while
 * they work. Each net has a process of its own; whatever an engine frees goes back to the system
 * before the next one.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "complib/memory.h"
#include "route/memory.h"
#include "tests/run_suite.h"
#include "tests/sanitized.h"
#include "tests/unit/fabric_make.h"

static const struct {
	const char *spec;
	uint8_t lmc;
	unsigned int threads;
} nets[] = {
	{"fattree:24", 0, 1},	       {"fattree:16", 2, 4},	   {"torus:8x8x8", 0, 1},
	{"torus:7x7x7", 1, 8},	       {"random:400:12:8:3", 0, 1}, {"random:300:40:30:3", 0, 2},
	{"dragonfly:8:4:8", 0, 1},     {"dragonfly:8:4:8", 1, 4},
};

#define UNKNOWN UINT64_MAX

/* Octets on a line "KEY:  N kB" of the status of this process. */
static uint64_t read_status(const char *key)
{
	g_autofree char *text = NULL;
	const char *line;

	if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
		return UNKNOWN;
	line = strstr(text, key);
	return line ? g_ascii_strtoull(line + strlen(key), NULL, 10) * 1024 : UNKNOWN;
}

/* What is resident now, from where the peak begins again; UNKNOWN if the system cannot do that. */
static uint64_t restart_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "we");
	bool done = file && fputs("5", file) >= 0;

	memory_trim();
	if (file && fclose(file) != 0)
		done = false;
	return done ? read_status("VmRSS:") : UNKNOWN;
}

/* An allocator that keeps what was freed, or adds to each block, does not show what is needed. */
static bool is_measurable(void)
{
	return !SANITIZED && !getenv("LD_PRELOAD") && restart_peak() != UNKNOWN;
}

/* Octets by which it grew at most; 0: the engine cannot route this. */
static uint64_t use_of(const struct route_engine *engine, const struct fabric *fabric,
		       const struct route_input *input)
{
	uint64_t before = restart_peak(), peak = 0;
	struct routing *routing = route_compute(engine, fabric, input, NULL);
	struct route_verdict verdict;

	if (!routing)
		return 0;
	route_verify_by(fabric, routing, input, &verdict);
	route_verdict_clear(&verdict);
	peak = read_status("VmHWM:");
	routing_unref(routing);
	return peak > before ? peak - before : 1;
}

START_TEST(test_estimates)
{
	const struct route_input input = {.threads = nets[_i].threads};
	struct fabric *fabric = make_fabric(nets[_i].spec, nets[_i].lmc);
	unsigned int n = 0;

	for (const struct route_engine *const *engine = route_engines();
	     is_measurable() && *engine; engine++) {
		uint64_t estimate = route_memory(*engine, fabric, &input);
		uint64_t use = use_of(*engine, fabric, &input);

		if (!use)
			continue;
		n++;
		/* what the process had free before is used, too, and not measured */
		ck_assert_msg(estimate >= use - use / 10 && estimate <= 3 * use + (4 << 20),
			      "%s, %s: %.2f MB estimated, %.2f MB used", nets[_i].spec,
			      (*engine)->name, estimate / 1e6, use / 1e6);
	}
	ck_assert(!is_measurable() || n > 4);
	fabric_unref(fabric);
}
END_TEST

/* More switches, LIDs or threads never need less. */
START_TEST(test_growth)
{
	static const char *const specs[] = {"fattree:4", "fattree:8", "fattree:16"};

	for (const struct route_engine *const *engine = route_engines(); *engine; engine++) {
		uint64_t before = 0;

		for (unsigned int i = 0; i < G_N_ELEMENTS(specs); i++) {
			struct route_input input = {.threads = 1 + i};
			struct fabric *fabric = make_fabric(specs[i], i);
			uint64_t octets = route_memory(*engine, fabric, &input);

			ck_assert_uint_gt(octets, before);
			before = octets;
			fabric_unref(fabric);
		}
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("route_memory");
	TCase *tcase = tcase_create("memory");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_growth);
	tcase_add_loop_test(tcase, test_estimates, 0, G_N_ELEMENTS(nets));
	suite_add_tcase(suite, tcase);
	return suite;
}

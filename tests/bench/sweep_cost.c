// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What sweeps cost on a simulated fabric, in SMPs and virtual time: first sweep, light sweep, a
 * cable lost and back, a host lost and back, a restart.
 *
 *	sweep_cost SPEC [ENGINE [SMA_NS]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/scenario/scenario.h"

static void row(struct scenario *s, const char *name, struct sim_counters before, uint64_t start)
{
	struct sim_counters now = scenario_counters(s);

	printf("%-12s %8" PRIu64 " Gets %8" PRIu64 " Sets %6" PRIu64 " dropped %9.3f ms, %" PRIu64
	       " retries since the start\n",
	       name, now.gets - before.gets, now.sets - before.sets, now.dropped - before.dropped,
	       (double)(runtime_now(s->rt) - start) / (double)NS_PER_MS,
	       counter_get(&daemon_context(s->daemon)->counters, smp_retries));
}

struct waiting {
	struct scenario *s;
	uint64_t generation;
};

static bool is_published(void *arg)
{
	struct waiting *waiting = arg;
	struct subnet *subnet = slot_take(&daemon_context(waiting->s->daemon)->subnet);
	bool good = subnet && !subnet->errors && subnet->generation > waiting->generation;

	subnet_unref(subnet);
	return good;
}

static uint64_t generation(struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	uint64_t number = subnet ? subnet->generation : 0;

	subnet_unref(subnet);
	return number;
}

static void wait_published(struct scenario *s, uint64_t after)
{
	struct waiting waiting = {s, after};

	runtime_run(s->rt, is_published, &waiting, runtime_now(s->rt) + 600 * NS_PER_S);
}

/* From the change to the publication of its result. */
static void change(struct scenario *s, const char *name, unsigned int node, unsigned int port,
		   bool up)
{
	struct sim_counters before = scenario_counters(s);
	uint64_t start = runtime_now(s->rt), last = generation(s);

	sim_link_set(s->sim, node, port, up);
	wait_published(s, last);
	row(s, name, before, start);
	scenario_run_ms(s, 3000);
}

static void start(struct scenario *s, const char *name)
{
	struct sim_counters before = scenario_counters(s);
	uint64_t begin = runtime_now(s->rt);

	scenario_start(s);
	wait_published(s, 0);
	row(s, name, before, begin);
	scenario_run_ms(s, 3000);
}

int main(int argc, char **argv)
{
	struct sim_counters before;
	unsigned int node, port;
	struct scenario *s;
	uint64_t now;
	struct sim_config config;

	if (argc < 2) {
		fprintf(stderr, "usage: %s SPEC [ENGINE [SMA_NS]]\n", argv[0]);
		return EXIT_FAILURE;
	}
	scenario_config_default(&config, 1);
	if (argc > 3)
		config.sma_ns = strtoull(argv[3], NULL, 0);
	s = scenario_new_with(argv[1], &config, RUNTIME_VIRTUAL);
	scenario_option(s, "-s", "0");
	if (argc > 2)
		scenario_option(s, "-R", argv[2]);
	start(s, "cold");
	before = scenario_counters(s);
	now = runtime_now(s->rt);
	daemon_sweep(s->daemon, SWEEP_LIGHT);
	scenario_run_ms(s, 500);
	row(s, "light", before, now);
	scenario_random_link(s, &node, &port);
	change(s, "cable lost", node, port, false);
	change(s, "cable back", node, port, true);
	node = scenario_random_host(s);
	change(s, "host lost", node, 1, false);
	change(s, "host back", node, 1, true);
	scenario_stop(s);
	start(s, "restart");
	scenario_free(s);
	return EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Losses that last, during a sweep or all at once: each case has a name. */
#include "losses.h"

#include <stdio.h>
#include <string.h>

#define SMA_NS (100 * NS_PER_US)
#define POLL_MS 10

static unsigned int leaf_of_sm(const struct scenario *s)
{
	unsigned int port, sm = scenario_sm_node(s, &port), leaf = sm, leaf_port;

	sim_peer(s->sim, sm, port, &leaf, &leaf_port);
	return leaf;
}

/* The n-th port of a switch that leads to another switch. */
static unsigned int uplink(const struct scenario *s, unsigned int node, unsigned int n)
{
	struct sim_node_view view;
	unsigned int peer, peer_port;

	sim_node_view(s->sim, node, &view);
	for (unsigned int p = 1; p <= view.num_ports; p++) {
		struct sim_node_view other;

		if (!sim_peer(s->sim, node, p, &peer, &peer_port))
			continue;
		sim_node_view(s->sim, peer, &other);
		if (other.type == IBA_NODE_SWITCH && !n--)
			return p;
	}
	g_error("no such uplink");
}

/* Two cables of a leaf, the second while the daemon deals with the loss of the first. */
static void second_cable(struct losses *losses)
{
	struct scenario *s = losses_up(losses, "second-cable", "fattree:16", SMA_NS);
	unsigned int leaf;

	if (!s)
		return;
	leaf = scenario_node(s, "leaf-0-0");
	sim_link_set(s->sim, leaf, 9, false);
	scenario_run_ms(s, 20);
	sim_link_set(s->sim, leaf, 10, false);
	report_repair(&losses->report, "second-cable", s, LOSS_BOUND_MS);
	scenario_free(s);
}

/* An uplink of the SM's leaf is lost during the first sweep. */
static void first_sweep(struct losses *losses)
{
	unsigned int step_ms = losses->all ? 1 : 20;
	struct samples samples;
	uint64_t sweep_ms;
	struct scenario *s = losses_net(losses, "fattree:8", SMA_NS);

	scenario_start(s);
	sweep_ms = repair_quiet(s, 300);
	scenario_free(s);
	samples_init(&samples);
	for (uint64_t at = step_ms; at <= sweep_ms; at += step_ms) {
		g_autofree char *wrong = NULL;
		unsigned int leaf;
		uint64_t ms;

		s = losses_net(losses, "fattree:8", SMA_NS);
		s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
		leaf = leaf_of_sm(s);
		scenario_start(s);
		scenario_run_ms(s, at);
		sim_link_set(s->sim, leaf, uplink(s, leaf, 0), false);
		ms = repair_wait(s, REPAIR_LIMIT_MS, &wrong);
		samples_add(&samples, ms, LOSS_BOUND_MS,
			    g_strdup_printf("at %u ms: %s", (unsigned int)at,
					    wrong ? wrong : "right in the end"));
		scenario_free(s);
	}
	report_samples(&losses->report, "first-sweep", &samples, LOSS_BOUND_MS);
	samples_clear(&samples);
}

/* A light sweep is requested, and a cable is pulled at once or during the sweep. */
static void light_and_cable(struct losses *losses)
{
	static const unsigned int ports[] = {5, 6, 7, 8};
	unsigned int step_us = losses->all ? 100 : 500;
	struct samples samples;

	samples_init(&samples);
	for (unsigned int at = 0; at <= 8000; at += step_us) {
		struct scenario *s = losses_up(losses, "light-and-cable", "fattree:8", SMA_NS);
		g_autofree char *wrong = NULL;
		uint64_t ms;

		if (!s)
			return;
		daemon_sweep(s->daemon, SWEEP_LIGHT);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + at * NS_PER_US);
		sim_link_set(s->sim, scenario_node(s, "leaf-0-0"),
			     ports[at / step_us % G_N_ELEMENTS(ports)], false);
		ms = repair_wait(s, REPAIR_LIMIT_MS, &wrong);
		samples_add(&samples, ms, LOSS_BOUND_MS,
			    g_strdup_printf("at %u us: %s", at,
					    wrong ? wrong : "right in the end"));
		scenario_free(s);
	}
	report_samples(&losses->report, "light-and-cable", &samples, LOSS_BOUND_MS);
	samples_clear(&samples);
}

/* Twelve of 80 switches lose power together; none of their traps reports it. */
static void twelve_switches(struct losses *losses)
{
	static const char *const dead[] = {
		"spine-0-0", "spine-0-1", "spine-1-0", "spine-1-1", "spine-2-0", "spine-3-0",
		"leaf-1-0",  "leaf-1-1",  "leaf-2-0",  "leaf-2-1",  "core-0-0",	 "core-0-1",
	};
	struct scenario *s = losses_up(losses, "twelve-switches", "fattree:8", SMA_NS);

	if (!s)
		return;
	for (unsigned int i = 0; i < G_N_ELEMENTS(dead); i++)
		sim_node_set(s->sim, scenario_node(s, dead[i]), false);
	report_repair(&losses->report, "twelve-switches", s, DEAD_BOUND_MS);
	for (unsigned int i = 0; i < G_N_ELEMENTS(dead); i++)
		sim_node_set(s->sim, scenario_node(s, dead[i]), true);
	report_repair(&losses->report, "twelve-switches-back", s, LOSS_BOUND_MS);
	scenario_free(s);
}

/* Milliseconds until the log gets a new line with the text; REPAIR_NEVER if it takes too long. */
static uint64_t wait_log(struct scenario *s, const char *text, uint64_t limit_ms)
{
	uint64_t start = runtime_now(s->rt), passed = 0;
	size_t length = s->text->len;

	while (!strstr(s->text->str + length, text)) {
		if (passed > limit_ms)
			return REPAIR_NEVER;
		scenario_run_ms(s, POLL_MS);
		passed = (runtime_now(s->rt) - start) / NS_PER_MS;
	}
	return passed;
}

static void own_link_of(struct losses *losses, const char *spec, const char *name)
{
	struct scenario *s = losses_up(losses, name, spec, 10 * NS_PER_US);
	unsigned int port, node;

	if (!s)
		return;
	node = scenario_sm_node(s, &port);
	sim_link_set(s->sim, node, port, false);
	report_at_most(&losses->report, name, wait_log(s, "port is down", 400 * 1000), "ms",
		       DEAD_BOUND_MS, NULL);
	scenario_free(s);
}

/* The SM's own cable: until the log reports it. */
static void own_link_80(struct losses *losses)
{
	own_link_of(losses, "fattree:8", "own-link-80");
}

static void own_link_320(struct losses *losses)
{
	own_link_of(losses, "fattree:16", "own-link-320");
}

/* A switch dies port by port, from the first or the last: its own traps report it meanwhile. */
static void die_slowly(struct scenario *s, unsigned int node, uint64_t gap_us, bool backwards)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	for (unsigned int p = 1; p <= view.num_ports; p++) {
		sim_link_set(s->sim, node, backwards ? view.num_ports + 1 - p : p, false);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + gap_us * NS_PER_US);
	}
}

static void dying_switch(struct losses *losses)
{
	static const uint64_t gaps_us[] = {0,   2,    5,    10,   20,   50,   100,
					   200, 500, 1000, 2000, 5000, 10000, 20000};
	unsigned int errors = 0;
	struct samples samples;

	samples_init(&samples);
	for (unsigned int i = 0; i < 2 * G_N_ELEMENTS(gaps_us); i++) {
		struct scenario *s = losses_up(losses, "dying-switch", "torus:4x4x4", SMA_NS);
		g_autofree char *wrong = NULL;
		uint64_t gap_us = gaps_us[i / 2], ms;
		size_t length;

		if (!s)
			return;
		length = s->text->len;
		die_slowly(s, scenario_node(s, "switch-3-3-3"), gap_us, i % 2);
		ms = repair_wait(s, REPAIR_LIMIT_MS, &wrong);
		samples_add(&samples, ms, DEAD_BOUND_MS,
			    g_strdup_printf("%u us from port to port: %s", (unsigned int)gap_us,
					    wrong ? wrong : "right in the end"));
		errors += strstr(s->text->str + length, "ERRORS DURING INITIALIZATION") != NULL;
		scenario_free(s);
	}
	report_samples(&losses->report, "dying-switch", &samples, DEAD_BOUND_MS);
	report_at_most(&losses->report, "dying-switch-errors", errors, "sweeps with errors", 0,
		       NULL);
	samples_clear(&samples);
}

/* No trap arrives, so the next light sweep has to find it: after sweep_interval, 10 s. */
static void lost_traps(struct losses *losses)
{
	struct scenario *s = losses_up(losses, "lost-traps", "random:6:3:1:1", SMA_NS);
	unsigned int node, port;

	if (!s)
		return;
	sim_set_traps_lost(s->sim, true);
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	report_repair(&losses->report, "lost-traps", s, 10 * 1000 + DEAD_BOUND_MS);
	sim_link_set(s->sim, node, port, true);
	report_repair(&losses->report, "lost-traps-back", s, 10 * 1000 + DEAD_BOUND_MS);
	do
		node = scenario_random_switch(s);
	while (node == leaf_of_sm(s));
	sim_node_set(s->sim, node, false);
	report_repair(&losses->report, "lost-traps-switch", s, 10 * 1000 + DEAD_BOUND_MS);
	scenario_free(s);
}

/*
 * Twelve of 80 switches are lost during the first discovery, at moments where all tries used to be
 * made although a port that was DOWN could show the loss: behind a switch that lives; of a switch
 * that was cut off; of those behind a switch with another route.
 */
static void twelve_in_first_sweep(struct losses *losses)
{
	static const struct {
		uint64_t seed;
		unsigned int ms;
	} found[] = {{90002, 240}, {90002, 308}, {90002, 256}};
	uint64_t seed = losses->seed;

	for (unsigned int i = 0; i < G_N_ELEMENTS(found); i++) {
		struct moments moments = {
			.spec = "fattree:8",
			.kind = LOSS_FIRST,
			.switches = true,
			.n = 12,
			.first = found[i].ms,
			.count = 1,
			.step_us = 1000,
			.seeds = 1,
			.bound_ms = DEAD_BOUND_MS,
		};

		losses->seed = found[i].seed;
		moments_run(losses, &moments);
	}
	losses->seed = seed;
}

/*
 * Three hosts hang, with their links up, when the first sweep has read them and has yet to write to
 * them: all tries once, not in each of the steps that follow.
 */
static void hosts_hang(struct losses *losses)
{
	struct scenario *s = losses_net(losses, "fattree:8", SMA_NS);
	const struct counters *counters;
	uint64_t ms = 0;

	scenario_start(s);
	scenario_run_ms(s, 320);
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int host;

		do
			host = scenario_random_host(s);
		while (host == scenario_sm_node(s, NULL));
		sim_node_mute(s->sim, host, true);
	}
	counters = &daemon_context(s->daemon)->counters;
	for (; !counter_get(counters, sweeps_heavy) && ms < REPAIR_LIMIT_MS; ms++)
		scenario_run_ms(s, 1);
	report_at_most(&losses->report, "hosts-hang", ms, "ms until the sweep ends", DEAD_BOUND_MS,
		       NULL);
	scenario_free(s);
}

const struct loss_case losses_cases[] = {
	{"second-cable", "two cables of a leaf, 20 ms apart", second_cable, false},
	{"first-sweep", "an uplink of the SM's leaf in the first sweep", first_sweep, false},
	{"light-and-cable", "a light sweep asked for, a cable pulled", light_and_cable, false},
	{"twelve-switches", "12 of 80 switches down at once", twelve_switches, false},
	{"twelve-in-first", "12 of 80 switches in the first sweep", twelve_in_first_sweep, false},
	{"hosts-hang", "3 hosts hang in the first sweep", hosts_hang, false},
	{"own-link-80", "the SM's own link, 80 switches", own_link_80, false},
	{"own-link-320", "the SM's own link, 320 switches", own_link_320, true},
	{"dying-switch", "a switch that traps while it dies", dying_switch, false},
	{"lost-traps", "a link out and no trap arrives", lost_traps, false},
	{NULL, NULL, NULL, false},
};

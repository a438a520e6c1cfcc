// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* No loss lasts: switches reset, hosts swap places, packets get lost, a GUID is 0. */
#include "losses.h"

#include <string.h>

#include "client.h"

#define SMA_NS (100 * NS_PER_US)
#define SETTLE_MS 3000
#define STEPS 20	/* moments of a sweep */
#define STEPS_LONG 240	/* with --all */

static uint64_t step_ns(const struct losses *losses, uint64_t sweep_ns)
{
	return MAX(sweep_ns / (losses->all ? STEPS_LONG : STEPS), 1);
}

/* ---- a switch resets while the options change ---- */

static const char *const option_sets[][2] = {
	{"packet_life_time 0x11\n", "packet_life_time 0x12\n"},
	{"subnet_timeout 17\n", "subnet_timeout 18\n"},
};

struct reset {
	const char *const *conf; /* two of them */
	const char *node;
	uint64_t sma_ns, at_ns;
};

/* Duration of a heavy sweep with changed options; the daemon is idle again. */
static uint64_t hangup_ns(struct scenario *s, const char *const conf[2])
{
	uint64_t ms;

	losses_hangup(s, conf[0]);
	ms = repair_quiet(s, 300);
	losses_hangup(s, conf[1]);
	scenario_run_ms(s, SETTLE_MS);
	return ms * NS_PER_MS;
}

static void run_ns(struct scenario *s, uint64_t ns)
{
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + ns);
}

/* Returns false if the fabric has to be made again. */
static bool reset_at(struct scenario *s, const struct reset *reset, struct samples *samples)
{
	unsigned int node = scenario_node(s, reset->node);
	g_autofree char *wrong = NULL;
	uint64_t ms;

	losses_hangup(s, reset->conf[0]);
	run_ns(s, reset->at_ns);
	sim_node_set(s->sim, node, false);
	sim_node_set(s->sim, node, true);
	ms = repair_wait(s, REPAIR_LIMIT_MS, &wrong);
	samples_add(samples, ms, LOSS_BOUND_MS,
		    g_strdup_printf("%.*s, %s at %u us: %s", (int)strcspn(reset->conf[0], "\n"),
				    reset->conf[0], reset->node,
				    (unsigned int)(reset->at_ns / NS_PER_US),
				    wrong ? wrong : "right in the end"));
	if (ms == REPAIR_NEVER)
		return false;
	losses_hangup(s, reset->conf[1]);
	scenario_run_ms(s, SETTLE_MS);
	return true;
}

static void resets(struct losses *losses, struct reset *reset, struct samples *samples)
{
	struct scenario *s = losses_up(losses, "reset-in-sweep", "fattree:4", reset->sma_ns);
	uint64_t length = s ? hangup_ns(s, reset->conf) : 0;

	for (uint64_t at = 0; at <= length && s; at += step_ns(losses, length)) {
		reset->at_ns = at;
		if (reset_at(s, reset, samples))
			continue;
		scenario_free(s);
		s = losses_up(losses, "reset-in-sweep", "fattree:4", reset->sma_ns);
	}
	if (s)
		scenario_free(s);
}

static void reset_in_sweep(struct losses *losses)
{
	static const char *const nodes[] = {"leaf-0-0", "leaf-1-0", "spine-1-0", "core-0-0"};
	static const uint64_t sma_ns[] = {10 * NS_PER_US, 100 * NS_PER_US};
	struct samples samples;

	samples_init(&samples);
	for (unsigned int i = 0; i < G_N_ELEMENTS(option_sets); i++)
		for (unsigned int j = 0; j < G_N_ELEMENTS(sma_ns); j++)
			for (unsigned int k = 0; k < (losses->all ? G_N_ELEMENTS(nodes) : 2); k++) {
				struct reset reset = {
					.conf = option_sets[i],
					.node = nodes[k],
					.sma_ns = sma_ns[j],
				};

				resets(losses, &reset, &samples);
			}
	report_samples(&losses->report, "reset-in-sweep", &samples, LOSS_BOUND_MS);
	samples_clear(&samples);
}

/* ---- two hosts swap places ---- */

static bool has_lids(const struct scenario *s, const unsigned int hosts[2], const uint16_t lids[2])
{
	return scenario_lid(s, hosts[0]) == lids[0] && scenario_lid(s, hosts[1]) == lids[1];
}

static bool swap_at(struct scenario *s, uint64_t at_ns, struct samples *samples)
{
	unsigned int hosts[2];
	uint16_t lids[2];
	g_autofree char *wrong = NULL;
	uint64_t ms;

	hosts[0] = scenario_random_host(s);
	do
		hosts[1] = scenario_random_host(s);
	while (hosts[1] == hosts[0]);
	for (int i = 0; i < 2; i++)
		lids[i] = scenario_lid(s, hosts[i]);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	run_ns(s, at_ns);
	sim_cable_swap(s->sim, hosts[0], 1, hosts[1], 1);
	ms = repair_wait(s, REPAIR_LIMIT_MS, &wrong);
	if (ms != REPAIR_NEVER && !has_lids(s, hosts, lids)) {
		ms = REPAIR_NEVER;
		wrong = g_strdup_printf("the hosts have LIDs %u and %u, should have %u and %u",
					scenario_lid(s, hosts[0]), scenario_lid(s, hosts[1]),
					lids[0], lids[1]);
	}
	samples_add(samples, ms, LOSS_BOUND_MS,
		    g_strdup_printf("at %u us: %s", (unsigned int)(at_ns / NS_PER_US),
				    wrong ? wrong : "right in the end"));
	if (ms != REPAIR_NEVER)
		scenario_run_ms(s, SETTLE_MS);
	return ms != REPAIR_NEVER;
}

/* Up; from now on links lose 2 % of packets, different ones for each seed. */
static struct scenario *lossy_net(struct losses *losses, uint64_t seed)
{
	struct losses of_seed = {.seed = seed};
	struct scenario *s = losses_up(&of_seed, "hosts-swapped", "fattree:4", SMA_NS);

	if (s)
		sim_set_loss(s->sim, 0.02);
	else
		losses->report.failed++;
	return s;
}

/* At each moment of a heavy sweep and of the time after it. */
static void hosts_swapped(struct losses *losses)
{
	unsigned int rounds = losses->all ? 6 : 2;
	uint64_t seed = losses->seed, length;
	struct scenario *s = losses_up(losses, "hosts-swapped", "fattree:4", SMA_NS);
	struct samples samples;

	if (!s)
		return;
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	length = repair_quiet(s, 300) * NS_PER_MS + 2 * NS_PER_MS;
	scenario_run_ms(s, SETTLE_MS);
	sim_set_loss(s->sim, 0.02);
	samples_init(&samples);
	for (unsigned int i = 0; i < rounds; i++)
		for (uint64_t at = 0; at <= length && s; at += step_ns(losses, length)) {
			if (swap_at(s, at, &samples))
				continue;
			scenario_free(s);
			s = lossy_net(losses, ++seed);
		}
	report_samples(&losses->report, "hosts-swapped", &samples, LOSS_BOUND_MS);
	samples_clear(&samples);
	if (s)
		scenario_free(s);
}

/* ---- a host whose NodeGUID is 0 ---- */

#define NO_GUID_S 600
#define NO_GUID_SWEEPS 60 /* light sweeps in that time: sweep_interval is 10 s */
#define NO_GUID_LOOKS 6  /* 1, 2, 4 ... light sweeps apart */
#define NO_GUID_JOINS 20

static uint64_t heavy_sweeps(const struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, sweeps_heavy);
}

static void joins_with_no_guid(struct losses *losses, struct scenario *s)
{
	uint64_t heavy = heavy_sweeps(s);
	unsigned int failed = 0;

	for (unsigned int i = 0; i < NO_GUID_JOINS; i++) {
		unsigned int host = scenario_random_host(s);
		struct client *client;
		uint16_t mlid;

		if (host == scenario_node(s, "host-9"))
			continue;
		client = client_new(s, host);
		failed += client_join_broadcast(client, &mlid) != 0;
		client_free(client);
		scenario_run_ms(s, 100);
	}
	report_at_most(&losses->report, "no-guid-joins", failed, "failed", 0, NULL);
	report_at_most(&losses->report, "no-guid-join-sweeps", heavy_sweeps(s) - heavy,
		       "heavy sweeps", 0, NULL);
}

static void no_guid(struct losses *losses)
{
	struct scenario *s = losses_net(losses, "fattree:8", 10 * NS_PER_US);
	uint64_t heavy, smps;

	sim_set_node_guid(s->sim, scenario_node(s, "host-9"), 0);
	scenario_start(s);
	scenario_run_ms(s, 15 * 1000);
	heavy = heavy_sweeps(s);
	smps = counter_get(&daemon_context(s->daemon)->counters, smp_sent);
	scenario_run_ms(s, NO_GUID_S * 1000);
	smps = counter_get(&daemon_context(s->daemon)->counters, smp_sent) - smps;
	report_at_most(&losses->report, "no-guid-sweeps", heavy_sweeps(s) - heavy, "heavy sweeps",
		       0, NULL);
	/*
	 * A light sweep asks each switch once, the SM's own port is asked each second, and the
	 * switch in front of the host is read at growing intervals, as it answers.
	 */
	report_at_most(&losses->report, "no-guid-smps", smps, "SMPs",
		       NO_GUID_SWEEPS * (scenario_switches(s) + 4) + NO_GUID_S +
			       NO_GUID_LOOKS * 16,
		       NULL);
	joins_with_no_guid(losses, s);
	scenario_free(s);
}

/* ---- packets get lost everywhere ---- */

static void lossy(struct losses *losses, double loss, uint64_t bound_ms)
{
	g_autofree char *name = g_strdup_printf("lossy-%g%%", loss * 100);
	struct scenario *s = losses_net(losses, "fattree:16", 10 * NS_PER_US);

	sim_set_loss(s->sim, loss);
	scenario_start(s);
	report_repair(&losses->report, name, s, bound_ms);
	scenario_free(s);
}

static void lossy_1(struct losses *losses)
{
	lossy(losses, 0.01, 2000); /* of eight seeds the slowest takes 1766 */
}

static void lossy_5(struct losses *losses)
{
	lossy(losses, 0.05, 5000);
}

static void lossy_10(struct losses *losses)
{
	lossy(losses, 0.1, 20000);
}

const struct loss_case losses_cases_other[] = {
	{"reset-in-sweep", "a switch resets while options change", reset_in_sweep, false},
	{"hosts-swapped", "two hosts change places while links lose 2 %", hosts_swapped, false},
	{"no-guid", "a host with NodeGUID 0 for 600 s", no_guid, false},
	{"lossy-1", "bring-up while 1 % of packets is lost", lossy_1, false},
	{"lossy-5", "the same, 5 %", lossy_5, true},
	{"lossy-10", "the same, 10 %", lossy_10, true},
	{NULL, NULL, NULL, false},
};

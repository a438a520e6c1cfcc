// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The cost of a daemon that runs for years: memory does not grow however much changes, and there
 * are no wake-ups while nothing changes.
 *
 *	steady [SWEEPS]		1,000 by default, as in make check
 */
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "repair.h"
#include "tests/memory_used.h"

#define SETTLE_MS 3000
#define LOOKS 12
#define PARTITIONS 20
#define IDLE_S 1000
#define BURST_NS NS_PER_MS /* events closer together than this are one wake-up */
/* For buffers that reach their largest size late; a leak of 100 octets a sweep is found. */
#define GROWTH_BYTES 65536

/* ---- memory ---- */

static uint64_t sweeps(const struct scenario *s)
{
	const struct counters *counters = &daemon_context(s->daemon)->counters;

	return counter_get(counters, sweeps_heavy) + counter_get(counters, sweeps_partial) +
	       counter_get(counters, sweeps_reroute) + counter_get(counters, sweeps_multicast) +
	       counter_get(counters, sweeps_light);
}

/* Another policy of partitions: from one to PARTITIONS of them. */
static void change_partitions(struct scenario *s)
{
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	GString *text = g_string_new("Default=0x7fff, ipoib: ALL=full;\n");

	for (unsigned int i = scenario_random(s, PARTITIONS); i; i--)
		g_string_append_printf(text, "p%u=0x%x, ipoib: ALL;\n", i, i);
	scenario_old_file(file, text->str);
	g_string_free(text, TRUE);
	daemon_reread_logged(s->daemon);
	scenario_run_ms(s, 100);
}

/* Makes a new group and leaves it again. */
static void make_group(struct scenario *s, struct client *client, unsigned int round)
{
	struct iba_gid mgid = {.prefix = 0xff12601bffff0000, .guid = 1 + round};
	uint16_t mlid;

	client_member(client, IBA_METHOD_SET, mgid, client_guid(client), &mlid);
	client_member(client, IBA_METHOD_DELETE, mgid, client_guid(client), &mlid);
	scenario_run_ms(s, 100);
}

/* One change of each kind, and back. */
static void churn_once(struct scenario *s, struct client *client, unsigned int round)
{
	unsigned int node, port, host = scenario_random_host(s);

	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, 100);
	sim_link_set(s->sim, node, port, true);
	scenario_run_ms(s, 100);
	client_send_member(client, round % 2);
	scenario_run_ms(s, 100);
	sim_node_set(s->sim, host, false);
	scenario_run_ms(s, 100);
	sim_node_set(s->sim, host, true);
	scenario_run_ms(s, 100);
	change_partitions(s);
	make_group(s, client, round);
	daemon_sweep(s->daemon, round % 10 ? SWEEP_LIGHT : SWEEP_HEAVY);
	scenario_run_ms(s, 2500);
	g_string_truncate(s->text, 0);
}

/* What is allocated in the end: the least of several readings, as some of it is temporary. */
static uint64_t churn(struct scenario *s, struct client *client, uint64_t until)
{
	uint64_t least = UINT64_MAX;
	unsigned int round;

	for (round = 0; sweeps(s) < until; round++)
		churn_once(s, client, round);
	for (unsigned int i = 0; i < LOOKS; i++) {
		churn_once(s, client, round + i);
		client_send_member(client, false);
		scenario_run_ms(s, SETTLE_MS);
		least = MIN(least, memory_used());
	}
	return least;
}

static void memory(struct report *report, uint64_t n)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	struct client *client;
	uint64_t before, after;

	scenario_option(s, "-P", file);
	scenario_old_file(file, "Default=0x7fff, ipoib: ALL=full;\n");
	scenario_start(s);
	scenario_converge(s, 10);
	client = client_new(s, scenario_random_host(s));
	before = churn(s, client, n / 4);
	after = churn(s, client, n);
	printf("after %" G_GUINT64_FORMAT " sweeps %" G_GUINT64_FORMAT
	       " octets are allocated, after a quarter of them %" G_GUINT64_FORMAT "\n",
	       sweeps(s), after, before);
	report_at_most(report, "growth", after > before ? after - before : 0, "octets",
		       GROWTH_BYTES, NULL);
	client_free(client);
	scenario_free(s);
}

/* ---- idle ---- */

struct wake_ups {
	struct runtime *rt;
	uint64_t last_ns, n;
};

/* Called between events. */
static bool count_wake_up(void *arg)
{
	struct wake_ups *wake_ups = arg;
	uint64_t now = runtime_now(wake_ups->rt);

	if (now > wake_ups->last_ns + BURST_NS)
		wake_ups->n++;
	wake_ups->last_ns = now;
	return false;
}

static void idle(struct report *report, const char *name, const char *interval, uint64_t bound)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct wake_ups wake_ups = {.rt = s->rt};

	scenario_option(s, "-s", interval);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 60 * 1000);
	wake_ups.last_ns = runtime_now(s->rt);
	runtime_run(s->rt, count_wake_up, &wake_ups, runtime_now(s->rt) + IDLE_S * NS_PER_S);
	report_at_most(report, name, wake_ups.n, "wake-ups in 1000 s", bound, NULL);
	scenario_free(s);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	struct report report = {0};

	idle(&report, "idle", "0", 0);
	/* A light sweep each 10 s and what may follow it; the SM's own port each second. */
	idle(&report, "idle-sweeps", "10", 2 * IDLE_S / 10 + IDLE_S);
	memory(&report, n);
	return report_close(&report);
}

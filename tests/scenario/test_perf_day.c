// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is wrong in a fabric with traffic, and nothing else: three bad cables, two hosts whose links
 * flap, and a leaf to whose hosts more is sent than their links carry. Each alarm and each warning
 * of the performance manager is about one of these places or names it as the cause, and each of the
 * places is named.
 *
 * PERF_DAY=SPEC runs a day of it on that fabric and prints the list ("make perf-day").
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"
#include "subnet/perf_alarms.h"
#include "tests/run_suite.h"

#define ROUNDS 4 /* of ten minutes */
#define ROUNDS_DAY 144
#define FLOWS 200
#define BAD_CABLE 3 /* symbol errors a second */

enum { CABLES = 3, HOSTS = 2, LEAF = 5, PLACES };

static const char *const bad_hosts[] = {"host-3", "host-6"}, *const flapping[] = {"host-9",
										  "host-12"};

struct place {
	const char *what;
	unsigned int node, port; /* of a switch; port 0: any of it */
	uint64_t guid;
	bool found;
};

static struct scenario *s;
static struct place places[PLACES];
static GHashTable *list; /* "alarm: PortRcvErrors of port 3 ..": unsigned int *, minutes */

/* ---- places ---- */

static void set_place(unsigned int i, const char *what, unsigned int node, unsigned int port)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	places[i] = (struct place){what, node, port, view.node_guid, false};
}

static void set_place_before(unsigned int i, const char *what, const char *host)
{
	unsigned int node, port;

	scenario_expect(s, sim_peer(s->sim, scenario_node(s, host), 1, &node, &port));
	set_place(i, what, node, port);
}

static bool is_host(unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.type == IBA_NODE_CA;
}

/* The first port of a leaf with a switch behind it. */
static unsigned int uplink(unsigned int leaf)
{
	unsigned int port = 1, peer, peer_port;

	while (!sim_peer(s->sim, leaf, port, &peer, &peer_port) || is_host(peer))
		port++;
	return port;
}

static void set_places(void)
{
	unsigned int leaf = scenario_node(s, "leaf-1-0");

	for (unsigned int i = 0; i < G_N_ELEMENTS(bad_hosts); i++)
		set_place_before(i, "bad cable of a host", bad_hosts[i]);
	set_place(G_N_ELEMENTS(bad_hosts), "bad cable between switches", leaf, uplink(leaf));
	for (unsigned int i = 0; i < G_N_ELEMENTS(flapping); i++)
		set_place_before(CABLES + i, "flapping host", flapping[i]);
	set_place(LEAF, "congested leaf", scenario_node(s, "leaf-3-1"), 0);
}

static bool is_there(uint64_t guid, unsigned int port)
{
	bool found = false;

	for (unsigned int i = 0; i < PLACES; i++)
		if (places[i].guid == guid && (!places[i].port || places[i].port == port))
			found = places[i].found = true;
	return found;
}

/* ---- what is wrong ---- */

static void damage_cables(void)
{
	for (unsigned int i = 0; i < CABLES; i++)
		scenario_expect(s, sim_errors_set(s->sim, places[i].node, places[i].port,
						  SIM_BAD_CABLE, BAD_CABLE));
}

static bool is_place(unsigned int node, unsigned int port)
{
	for (unsigned int i = 0; i < PLACES; i++)
		if (places[i].node == node && (!places[i].port || places[i].port == port))
			return true;
	return false;
}

/* Another host than those, the nth of n that are spread over the fabric. */
static unsigned int sender(unsigned int nth, unsigned int n)
{
	unsigned int hosts = sim_nodes(s->sim) - scenario_switches(s);

	for (unsigned int i = 1 + nth * (hosts / n);; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);
		unsigned int node = scenario_node(s, name), sw, port;

		scenario_expect(s, sim_peer(s->sim, node, 1, &sw, &port));
		if (!is_place(sw, port))
			return node;
	}
}

/* The hosts of the leaf have one lane, so that they are slower than what leads to the leaf. */
static void slow_leaf(void)
{
	unsigned int leaf = places[LEAF].node;

	for (unsigned int port = 1; port < uplink(leaf); port++)
		scenario_expect(s, sim_link_degrade(s->sim, leaf, port, 1, 212500));
}

/* Two hosts send to each of them, together 1.6 times what its link carries. */
static void congest_leaf(void)
{
	unsigned int leaf = places[LEAF].node, n = 2 * (uplink(leaf) - 1);

	for (unsigned int i = 0; i < n; i++) {
		struct sim_flow flow = {.from_node = sender(i, n),
					.from_port = 1,
					.rate = 0.2,
					.of_link = true,
					.size = 2000};

		scenario_expect(s, sim_peer(s->sim, leaf, 1 + i / 2, &flow.to_node, &flow.to_port));
		scenario_expect(s, sim_traffic_add(s->sim, &flow));
	}
}

static void flap_hosts(void)
{
	for (unsigned int i = CABLES; i < CABLES + HOSTS; i++)
		sim_link_flap(s->sim, places[i].node, places[i].port, NS_PER_S, 5 * NS_PER_S, 4);
}

/* ---- the list ---- */

static void note(const struct perf_alarm *alarm)
{
	char *text =
		g_strdup_printf("%-7s %-26s %s: %s", perf_level_word(alarm->level), alarm->value,
				alarm->where, alarm->cause ? alarm->cause : "unknown cause");
	unsigned int *minutes = g_hash_table_lookup(list, text);

	if (minutes) {
		(*minutes)++;
		g_free(text);
		return;
	}
	minutes = g_new(unsigned int, 1);
	*minutes = 1;
	g_hash_table_insert(list, text, minutes);
}

static void check_alarms(void)
{
	struct perf_alarms *alarms = slot_take(&daemon_context(s->daemon)->perf_alarms);

	for (uint32_t i = 0; alarms && i < alarms->n; i++) {
		const struct perf_alarm *alarm = &alarms->all[i];
		bool here = is_there(alarm->guid, alarm->port);
		bool there = is_there(alarm->cause_guid, alarm->cause_port);
		g_autofree char *text = perf_alarm_text(alarm);

		if (alarm->level < PERF_WARNING)
			continue;
		if (!here && !there)
			scenario_fail(s, "nothing is wrong there: %s", text);
		note(alarm);
	}
	perf_alarms_unref(alarms);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_list(void)
{
	guint n;
	g_autofree char **texts = (char **)g_hash_table_get_keys_as_array(list, &n);

	qsort(texts, n, sizeof(*texts), by_text);
	printf("minutes\n");
	for (guint i = 0; i < n; i++)
		printf("%7u %s\n", *(unsigned int *)g_hash_table_lookup(list, texts[i]), texts[i]);
}

/* ---- the story ---- */

static void begin(const char *spec)
{
	const struct sim_flow like = {.rate = 1e6, .size = 2000};

	s = scenario_new(spec, 1);
	list = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	scenario_conf(s, "perfmgr TRUE\nperfmgr_sweep_time_s 60\n");
	set_places();
	slow_leaf();
	scenario_start(s);
	scenario_converge(s, 20);
	scenario_expect(s, sim_traffic_random(s->sim, FLOWS, &like));
	scenario_run_ms(s, 300 * 1000);
	check_alarms();
	scenario_expect(s, g_hash_table_size(list) == 0);
	damage_cables();
	congest_leaf();
}

static void run(const char *spec, unsigned int rounds)
{
	begin(spec);
	for (unsigned int round = 0; round < rounds; round++) {
		flap_hosts();
		for (unsigned int minute = 0; minute < 10; minute++) {
			scenario_run_ms(s, 60 * 1000);
			check_alarms();
		}
	}
	for (unsigned int i = 0; i < PLACES; i++)
		if (!places[i].found)
			scenario_fail(s, "not found: %s, port %u", places[i].what, places[i].port);
}

static void end(void)
{
	scenario_stop(s);
	scenario_free(s);
	g_hash_table_unref(list);
}

START_TEST(found)
{
	run("fattree:4", ROUNDS);
	end();
}
END_TEST

static int whole_day(const char *spec)
{
	run(spec, ROUNDS_DAY);
	print_list();
	end();
	return 0;
}

int main(void)
{
	Suite *suite = suite_create("perf_day");
	TCase *tcase = tcase_create("day");

	if (g_getenv("PERF_DAY"))
		return whole_day(g_getenv("PERF_DAY"));
	tcase_add_test(tcase, found);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

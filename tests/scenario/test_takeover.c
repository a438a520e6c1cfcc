// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a standby that takes over finds and leaves: tables as they are, whenever the master died. */
#include <check.h>
#include <stdlib.h>

#include "managers.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

static struct managers *m;

static const char *const fabrics[] = {"fattree:4", "fattree:8", "torus:4x4", "random:20:4:3:7",
				      "dragonfly:4:2:2"};

static void teardown(void)
{
	managers_free(m);
}

static unsigned int lft_blocks_set(unsigned int i)
{
	return counter_get(&daemon_context(m->sm[i].daemon)->counters, lft_blocks_set);
}

/* Cables go, and some come back: the routes are repaired, and differ from a full recomputation. */
static void wear(unsigned int cables)
{
	for (unsigned int i = 0; i < cables; i++) {
		unsigned int node, port;

		scenario_random_link(m->s, &node, &port);
		sim_link_set(m->s->sim, node, port, false);
		managers_settle(m, 0, 20);
		if (i % 2)
			sim_link_set(m->s->sim, node, port, true);
	}
	managers_settle(m, 0, 20);
}

/*
 * Routes have a history; a standby that takes over continues with them, and writes no entry. In a
 * worn tree the order of its switches may differ from that of the whole tree: entries that this
 * forbids are written.
 */
START_TEST(tables_stay)
{
	m = managers_new(fabrics[(unsigned int)_i % G_N_ELEMENTS(fabrics)], (uint64_t)_i);
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_add(m, "host-9", MANAGERS_POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	wear(_i % 7);
	managers_start(m, 1);
	scenario_run_ms(m->s, 1000);
	if (_i % 2)
		managers_kill(m, 0);
	else
		managers_retire(m, 0);
	managers_settle(m, 1, 20);
	ck_assert_uint_le(lft_blocks_set(1), _i == 10 ? 4 : 0);
}
END_TEST

/* Tables by the rules of another engine are replaced, and not mixed with. */
START_TEST(other_engine)
{
	m = managers_new("torus:4x4", 1);
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_add(m, "host-9", MANAGERS_POLLS "routing_engine updn\n");
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 1000);
	managers_kill(m, 0);
	managers_settle(m, 1, 20);
	ck_assert_uint_gt(lft_blocks_set(1), 0);
	daemon_sweep(m->sm[1].daemon, SWEEP_REROUTE);
	managers_settle(m, 1, 20);
	ck_assert_uint_le(lft_blocks_set(1), scenario_switches(m->s));
}
END_TEST

/* ---- files that changed while this SM was standby ---- */

#define WEIGHT(sw, weight) "0x020000008000" sw "00 3 " weight "\n"
#define WEIGHTS(weight) WEIGHT("01", weight) WEIGHT("05", weight) WEIGHT("06", weight)

static const struct {
	const char *option, *before, *after;
} files[] = {
	{"partition_config_file", "Default=0x7fff,ipoib:ALL=full;\n",
	 "Default=0x7fff,ipoib:ALL=full;\nA=0x11,ipoib:ALL=full;\n"},
	{"hop_weights_file", WEIGHTS("1"), WEIGHTS("9")},
};

/* Of an SM that uses that file, with that rank. */
static char *conf_with(const char *option, const char *file, unsigned int rank)
{
	return g_strdup_printf(MANAGERS_POLLS "sm_priority %u\nrouting_engine minhop\n%s %s\n",
			       rank, option, file);
}

/*
 * Only the master was told that its opensm.conf and another file changed; both are the same on the
 * standby's host. A standby that takes over uses them from the first Set on: it only has to set the
 * new master's LID.
 */
START_TEST(goes_by_the_files_of_now)
{
	g_autofree char *file = NULL;
	char *conf[2], *later[2];

	m = managers_new("fattree:4", 1);
	file = g_build_filename(m->s->directory, "file", NULL);
	scenario_old_file(file, files[_i].before);
	for (unsigned int i = 0; i < 2; i++) {
		conf[i] = conf_with(files[_i].option, file, 2 - i);
		later[i] = g_strconcat(conf[i], "subnet_timeout 15\n", NULL);
	}
	managers_up_with_standby(m, conf[0], conf[1]);
	scenario_run_ms(m->s, 5000);
	scenario_old_file(file, files[_i].after);
	m->sets.all = m->sets.port_info = 0;
	managers_configure(m, 0, later[0]);
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	managers_settle(m, 0, 10);
	ck_assert_uint_gt(m->sets.all, m->sets.port_info);
	scenario_old_file(m->sm[1].conf, later[1]);
	m->sets.all = m->sets.port_info = m->sets.sm_info = 0;
	managers_kill(m, 0);
	managers_settle(m, 1, 20);
	scenario_run_ms(m->s, 20000);
	ck_assert_uint_eq(m->sets.all, m->sets.port_info + m->sets.sm_info);
	ck_assert_uint_eq(m->sets.port_info, sim_nodes(m->s->sim));
	for (unsigned int i = 0; i < 2; i++) {
		g_free(conf[i]);
		g_free(later[i]);
	}
}
END_TEST

/* ---- the master dies at a MAD: at every one with CRASHES=1, else at every CRASHES-th ---- */

#define CRASH_SPEC "fattree:8"
#define CRASH_BRING_UP 6000 /* MADs that it takes, and more */
#define CRASH_REPAIR 500

/* During the first bring-up; then it is restarted, or a standby takes over. */
START_TEST(dies_in_bring_up)
{
	m = managers_new(CRASH_SPEC, 1);
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_add(m, "host-99", MANAGERS_POLLS);
	managers_start(m, 0);
	if (_i % 2)
		managers_start(m, 1);
	managers_kill_at(m, 0, (uint64_t)_i, 1);
	if (_i % 2 == 0)
		managers_start(m, 0);
	managers_settle(m, _i % 2, 20);
}
END_TEST

/* While a leaf switch comes back, or a cable goes, with a standby. */
START_TEST(dies_in_repair)
{
	unsigned int node;

	m = managers_new(CRASH_SPEC, 1);
	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	node = scenario_node(m->s, "leaf-3-1");
	scenario_run_ms(m->s, 1000);
	sim_node_set(m->s->sim, node, false);
	managers_settle(m, 0, 20);
	sim_node_set(m->s->sim, node, true);
	managers_kill_at(m, 0, (uint64_t)_i + 1, 1);
	managers_settle(m, 1, 20);
}
END_TEST

static void add_crashes(TCase *tcase)
{
	const char *text = g_getenv("CRASHES");
	int stride = text ? atoi(text) : 251;

	if (stride < 1)
		g_error("CRASHES is %s, not a number from 1", text);
	for (int at = 0; at < CRASH_BRING_UP; at += stride)
		tcase_add_loop_test(tcase, dies_in_bring_up, at, at + 1);
	for (int at = 0; at < CRASH_REPAIR; at += MAX(stride / 10, 1))
		tcase_add_loop_test(tcase, dies_in_repair, at, at + 1);
}

static Suite *make_suite(void)
{
	Suite *suite = suite_create("takeover");
	TCase *tcase = tcase_create("takeover");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, tables_stay, 0, some_seeds(30));
	tcase_add_test(tcase, other_engine);
	tcase_add_loop_test(tcase, goes_by_the_files_of_now, 0, G_N_ELEMENTS(files));
	add_crashes(tcase);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}

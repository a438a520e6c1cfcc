// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMAs that need up to a second for a request, one after the other. That delays only the work on
 * these nodes, and no other.
 */
#include <check.h>

#include "repair.h"
#include "tests/run_suite.h"

#define MS NS_PER_MS

static const unsigned int service_ms[] = {100, 250, 500, 900};

static struct scenario *fabric(void)
{
	struct sim_config config;

	scenario_config_default(&config, 1);
	config.sma_ns = 100 * NS_PER_US;
	return scenario_new_with("fattree:4", &config, RUNTIME_VIRTUAL);
}

static struct scenario *up(void)
{
	struct scenario *s = fabric();

	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 3000);
	return s;
}

static void slow_down(struct scenario *s, const char *name, uint64_t get_ms, uint64_t set_ms)
{
	sim_node_set_service(s->sim, scenario_node(s, name), get_ms * MS, set_ms * MS);
}

/* Runs until the subnet is right, at most this long. */
static void expect_right(struct scenario *s, uint64_t limit_ms)
{
	g_autofree char *wrong = NULL;
	uint64_t ms = repair_wait(s, limit_ms, &wrong);

	if (ms == REPAIR_NEVER)
		scenario_fail(s, "not right: %s", wrong);
	scenario_expect_at_most(s, ms, limit_ms);
}

static uint64_t retries(const struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, smp_retries);
}

/* From the start, a switch: some 60 requests, one after the other. */
START_TEST(slow_switch_from_the_start)
{
	struct scenario *s = fabric();

	slow_down(s, "spine-0-0", service_ms[_i], service_ms[_i]);
	scenario_start(s);
	expect_right(s, 80 * service_ms[_i]);
	scenario_expect_at_most(s, retries(s), 50);
	scenario_free(s);
}
END_TEST

START_TEST(slow_host_from_the_start)
{
	struct scenario *s = fabric();

	slow_down(s, "host-3", service_ms[_i], service_ms[_i]);
	scenario_start(s);
	expect_right(s, 20 * service_ms[_i]);
	scenario_expect_at_most(s, retries(s), 10);
	scenario_free(s);
}
END_TEST

/* A cable is lost elsewhere, then one of its own: a few requests to it, and no heavy sweep. */
START_TEST(cables_lost)
{
	struct scenario *s = up();
	uint64_t before = retries(s);

	slow_down(s, "spine-0-0", service_ms[_i], service_ms[_i]);
	sim_link_set(s->sim, scenario_node(s, "leaf-3-1"), 3, false);
	expect_right(s, 4 * service_ms[_i]);
	sim_link_set(s->sim, scenario_node(s, "spine-0-0"), 1, false);
	expect_right(s, 20 * service_ms[_i]);
	scenario_expect_at_most(s, retries(s) - before, 20);
	scenario_expect(s, counter_get(&daemon_context(s->daemon)->counters, sweeps_failed) == 0);
	scenario_free(s);
}
END_TEST

/* Everything beside it is repaired at once: none of those routes leads through the slow host. */
START_TEST(nobody_waits_for_a_host)
{
	struct scenario *s = up();

	slow_down(s, "host-3", service_ms[_i], service_ms[_i]);
	sim_link_set(s->sim, scenario_node(s, "leaf-3-1"), 3, false);
	expect_right(s, 50);
	sim_node_set(s->sim, scenario_node(s, "spine-2-0"), false);
	expect_right(s, 200);
	scenario_free(s);
}
END_TEST

/* One that answers Gets at once and needs long for Sets, and the reverse. */
START_TEST(gets_and_sets_differ)
{
	struct scenario *s = fabric();

	slow_down(s, "spine-0-0", _i ? 500 : 1, _i ? 1 : 500);
	scenario_start(s);
	expect_right(s, 75 * 500);
	sim_link_set(s->sim, scenario_node(s, "leaf-3-1"), 3, false);
	expect_right(s, 12 * 500); /* after which it is asked again, as it was partly silent */
	scenario_expect_at_most(s, retries(s), 50);
	scenario_free(s);
}
END_TEST

/* Slow for a minute, with a change in it and one after it. */
START_TEST(slow_for_a_minute)
{
	struct scenario *s = up();

	slow_down(s, "leaf-1-0", 900, 900);
	scenario_run_ms(s, 30 * 1000);
	sim_link_set(s->sim, scenario_node(s, "leaf-3-1"), 3, false);
	expect_right(s, 4 * 900);
	scenario_run_ms(s, 30 * 1000);
	slow_down(s, "leaf-1-0", 0, 0);
	sim_link_set(s->sim, scenario_node(s, "leaf-3-1"), 3, true);
	expect_right(s, 200);
	sim_link_set(s->sim, scenario_node(s, "leaf-1-0"), 3, false);
	expect_right(s, 200);
	scenario_free(s);
}
END_TEST

/* A slow one that dies is found dead while its neighbours report it, and is routed around. */
START_TEST(slow_and_dead)
{
	struct scenario *s = up();

	slow_down(s, "spine-0-0", service_ms[_i], service_ms[_i]);
	scenario_run_ms(s, 30 * 1000);
	sim_node_set(s->sim, scenario_node(s, "spine-0-0"), false);
	expect_right(s, 3000);
	scenario_free(s);
}
END_TEST

/* Packets are lost as well. */
START_TEST(slow_and_lossy)
{
	struct scenario *s = up();

	sim_set_loss(s->sim, 0.05);
	slow_down(s, "leaf-1-0", 500, 500);
	sim_link_set(s->sim, scenario_node(s, "leaf-1-0"), 3, false);
	expect_right(s, 60 * 500);
	scenario_free(s);
}
END_TEST

/* ---- the window of SMPs ---- */

static void count_switches(void *arg, uint64_t now_ns, const struct vendor_address *to,
			   uint64_t from, const uint8_t *data, size_t length)
{
	(void)now_ns;
	(void)to;
	(void)from;
	*(unsigned int *)arg +=
		scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO);
}

/* Until all switches have been found, although most hosts are dead. */
static uint64_t ms_beside_the_dead(const char *conf)
{
	struct scenario *s = scenario_new("xgft:16,4:1,2", 1);
	unsigned int found = 0, all = scenario_switches(s);
	const unsigned int *counted = &found; /* by the trace */
	uint64_t ms = 0;

	for (unsigned int i = 2; i < 64; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		sim_node_mute(s->sim, scenario_node(s, name), true);
	}
	sim_set_trace(s->sim, count_switches, &found);
	scenario_conf(s, conf);
	scenario_start(s);
	do {
		scenario_expect_at_most(s, ms, 5000);
		scenario_run_ms(s, 1);
		ms++;
	} while (*counted < all);
	scenario_free(s);
	return ms;
}

/* They hold a small window for their first tries, which a second limit makes up for. */
START_TEST(second_limit_of_the_window)
{
	uint64_t alone = ms_beside_the_dead("max_wire_smps 1\n");
	uint64_t more = ms_beside_the_dead("max_wire_smps 1\nmax_wire_smps2 32\n"
					   "max_smps_timeout 1000\n");

	ck_assert_uint_lt(2 * more, alone);
}
END_TEST

/* ---- one SMP for the SL2VL tables of a whole switch ---- */

static unsigned int whole; /* such Sets */

static void count_whole(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			const uint8_t *data, size_t length)
{
	(void)arg;
	(void)now_ns;
	(void)to;
	(void)from;
	if (!scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_SL_TO_VL_TABLE) ||
	    data[21] != 3)
		return;
	whole++;
}

static struct scenario *with_slow_table(uint64_t ms, const char *conf)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *text = g_strconcat("qos TRUE\nuse_optimized_slvl TRUE\n"
					    "qos_sl2vl 0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1\n",
					    conf, NULL);

	whole = 0;
	sim_node_slow_wildcards(s->sim, scenario_node(s, "spine-0-0"), ms * MS);
	scenario_conf(s, text);
	sim_set_trace(s->sim, count_whole, NULL);
	scenario_start(s);
	return s;
}

/* It is asked once if the time that it has is enough, and whatever it is it gets there. */
START_TEST(slow_table)
{
	static const struct {
		unsigned int ms;
		const char *conf;
		bool once;
	} of[] = {
		{400, "", true},
		{400, "long_transaction_timeout 300\n", false},
		{190, "long_transaction_timeout 1\n", true}, /* not below transaction_timeout */
		{900, "", false},
		{900, "long_transaction_timeout 1000\n", true},
		{900, "transaction_timeout 1000\n", true},
	};
	struct scenario *s = with_slow_table(of[_i].ms, of[_i].conf);
	unsigned int switches = scenario_switches(s);

	expect_right(s, 5000);
	scenario_expect(s, (whole == switches) == of[_i].once);
	scenario_expect_at_most(s, whole, switches + 1);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slow_agents");
	TCase *tcase = tcase_create("slow_agents");
	int n = G_N_ELEMENTS(service_ms);

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, slow_switch_from_the_start, 0, n);
	tcase_add_loop_test(tcase, slow_host_from_the_start, 0, n);
	tcase_add_loop_test(tcase, cables_lost, 0, n);
	tcase_add_loop_test(tcase, nobody_waits_for_a_host, 0, n);
	tcase_add_loop_test(tcase, gets_and_sets_differ, 0, 2);
	tcase_add_test(tcase, slow_for_a_minute);
	tcase_add_loop_test(tcase, slow_and_dead, 0, n);
	tcase_add_test(tcase, slow_and_lossy);
	tcase_add_loop_test(tcase, slow_table, 0, 6);
	tcase_add_test(tcase, second_limit_of_the_window);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

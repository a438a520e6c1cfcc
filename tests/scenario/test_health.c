// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Unhealthy devices: how often they are retried, what that costs, and when they no longer count. */
#include <check.h>
#include <string.h>

#include "ctl/command/command.h"
#include "client/control.h"
#include "scenario.h"
#include "tests/run_suite.h"

static struct scenario *scenario_alone(void)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	scenario_conf(s, "sweep_interval 100000\n"); /* sweeps are only for unhealthy devices */
	return s;
}

static unsigned int lines_with(struct scenario *s, const char *text)
{
	unsigned int n = 0;

	for (const char *at = s->text->str; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static uint64_t partial_sweeps(struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, sweeps_partial);
}

/* Failed sweeps in the first 2 s in which the SM is alone: it retries at growing intervals. */
static uint64_t sweeps_failed_alone(struct scenario *s)
{
	const struct counters *counters = &daemon_context(s->daemon)->counters;
	unsigned int host = scenario_node(s, "host-0");
	uint64_t before = counter_get(counters, sweeps_failed), failed;

	sim_link_set(s->sim, host, 1, false);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 2000);
	failed = counter_get(counters, sweeps_failed) - before;
	scenario_run_ms(s, 20 * 1000);
	sim_link_set(s->sim, host, 1, true);
	scenario_converge(s, 15);
	return failed;
}

/* An earlier fault does not count once everything was well. */
START_TEST(each_time_it_begins_anew)
{
	struct scenario *s = scenario_alone();

	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_uint_eq(sweeps_failed_alone(s), 4); /* after 0, 0.2, 0.6 and 1.4 s */
	scenario_free(s);
}
END_TEST

/* Accepts Sets, changes nothing: an error for as long as it lasts, retried every ten seconds. */
START_TEST(stubborn_host)
{
	struct scenario *s = scenario_alone();
	unsigned int host = scenario_node(s, "host-9");
	uint64_t before;

	sim_node_stubborn(s->sim, host, true);
	scenario_start(s);
	scenario_run_ms(s, 120 * 1000);
	scenario_check_log(s, "did not accept LID", true);
	scenario_check_log(s, ": excluded", false);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", true);
	before = partial_sweeps(s);
	scenario_run_ms(s, 60 * 1000);
	ck_assert_uint_ge(partial_sweeps(s) - before, 5);
	ck_assert_uint_le(partial_sweeps(s) - before, 7);
	daemon_sweep(s->daemon, SWEEP_REROUTE); /* reads no node, and has no error */
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "SUBNET UP", false);
	sim_node_stubborn(s->sim, host, false);
	scenario_converge(s, 11);
	scenario_check_log(s, "SUBNET UP", true);
	before = partial_sweeps(s);
	scenario_run_ms(s, 60 * 1000);
	ck_assert_uint_eq(partial_sweeps(s), before); /* it is healthy */
	scenario_free(s);
}
END_TEST

/* A switch that does so reports changes for ever: that is not a reason to retry more often. */
START_TEST(stubborn_switch)
{
	struct scenario *s = scenario_alone();
	unsigned int spine = scenario_node(s, "core-1-1");
	uint64_t before;

	scenario_start(s);
	scenario_run_ms(s, 1000);
	sim_node_set(s->sim, spine, false);
	sim_node_set(s->sim, spine, true);
	sim_node_stubborn(s->sim, spine, true);
	scenario_run_ms(s, 120 * 1000);
	before = partial_sweeps(s);
	scenario_run_ms(s, 60 * 1000);
	ck_assert_uint_ge(partial_sweeps(s) - before, 5);
	ck_assert_uint_le(partial_sweeps(s) - before, 14);
	sim_node_stubborn(s->sim, spine, false);
	scenario_converge(s, 11);
	scenario_free(s);
}
END_TEST

/* Soon at first, then later and later: at 0.1, 0.2, 0.4 .. seconds after the error. */
START_TEST(tried_again_soon_at_first)
{
	struct scenario *s = scenario_alone();
	unsigned int host = scenario_node(s, "host-9");

	sim_node_stubborn(s->sim, host, true);
	scenario_start(s);
	scenario_run_ms(s, 1000);
	ck_assert_uint_ge(partial_sweeps(s), 3);
	ck_assert_uint_le(partial_sweeps(s), 4);
	scenario_run_ms(s, 12 * 1000);
	ck_assert_uint_ge(partial_sweeps(s), 6);
	ck_assert_uint_le(partial_sweeps(s), 8);
	scenario_free(s);
}
END_TEST

struct asked {
	uint16_t lid;
	unsigned int n;
};

static void count_asked(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			const uint8_t *data, size_t length)
{
	struct asked *asked = arg;

	(void)now_ns;
	(void)from;
	asked->n += to->lid == asked->lid &&
		    scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_NODE_INFO);
}

/* A device that refuses a Set may be another one by now: each time its identity is read. */
START_TEST(refusal_is_a_question_of_identity)
{
	struct scenario *s = scenario_alone();
	unsigned int host = scenario_node(s, "host-9");
	struct asked asked = {0};
	uint64_t before;

	scenario_start(s);
	scenario_converge(s, 10);
	sim_node_refuse(s->sim, host, IBA_ATTR_PORT_INFO);
	scenario_conf(s, "sweep_interval 100000\nsubnet_timeout 17\n");
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
	asked.lid = scenario_lid(s, host);
	sim_set_trace(s->sim, count_asked, &asked);
	before = partial_sweeps(s);
	scenario_run_ms(s, 20 * 1000);
	ck_assert_uint_ge(partial_sweeps(s) - before, 4);
	ck_assert_uint_eq(asked.n, partial_sweeps(s) - before);
	scenario_free(s);
}
END_TEST

/* A silent device cannot be helped: logged four times, then excluded, but still probed. */
START_TEST(silent_host)
{
	struct scenario *s = scenario_alone();
	unsigned int host = scenario_node(s, "host-9");
	uint64_t before;

	sim_node_mute(s->sim, host, true);
	scenario_start(s);
	scenario_run_ms(s, 120 * 1000);
	ck_assert_uint_eq(lines_with(s, "no device answers behind port"), 4);
	ck_assert_uint_eq(lines_with(s, ": excluded"), 1);
	ck_assert_uint_eq(lines_with(s, "ERRORS DURING INITIALIZATION"), 3);
	scenario_check_log(s, "SUBNET UP", true);
	before = partial_sweeps(s);
	scenario_run_ms(s, 600 * 1000);
	ck_assert_uint_ge(partial_sweeps(s) - before, 8); /* once a minute */
	ck_assert_uint_le(partial_sweeps(s) - before, 11);
	ck_assert_uint_eq(lines_with(s, "no device answers behind port"), 4);
	sim_node_mute(s->sim, host, false);
	scenario_converge(s, 65);
	scenario_free(s);
}
END_TEST

static bool is_in_picture(const struct scenario *s, unsigned int host)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	uint64_t guid = sim_port_guid(s->sim, host, 1);
	bool is = fabric_port_by_guid(subnet->fabric, guid) != FABRIC_NONE;

	subnet_unref(subnet);
	return is;
}

/* Its cable was known, and bounced so fast that it was never seen to be down. */
START_TEST(silent_after_a_bounce)
{
	struct scenario *s = scenario_alone();
	unsigned int host = scenario_node(s, "host-9");

	scenario_start(s);
	scenario_converge(s, 10);
	sim_node_mute(s->sim, host, true);
	sim_link_set(s->sim, host, 1, false);
	sim_link_set(s->sim, host, 1, true);
	scenario_run_ms(s, 10 * 1000);
	scenario_check_log(s, "no device answers behind port", true);
	ck_assert(!is_in_picture(s, host));
	sim_node_mute(s->sim, host, false);
	scenario_converge(s, 65);
	scenario_free(s);
}
END_TEST

/* One unhealthy host costs a partial sweep of its own: no heavy one, and nothing of the others. */
START_TEST(sick_later)
{
	struct scenario *s = scenario_alone();
	unsigned int host = scenario_node(s, "host-9");
	uint64_t heavy, gets;

	scenario_start(s);
	scenario_converge(s, 10);
	heavy = counter_get(&daemon_context(s->daemon)->counters, sweeps_heavy);
	sim_node_stubborn(s->sim, host, true);
	sim_node_set(s->sim, host, false);
	scenario_run_ms(s, 1000);
	sim_node_set(s->sim, host, true);
	scenario_run_ms(s, 60 * 1000);
	scenario_check_log(s, "did not accept LID", true);
	gets = scenario_counters(s).gets;
	scenario_run_ms(s, 60 * 1000);
	scenario_expect_at_most(s, scenario_counters(s).gets - gets, 60 + 7 * 10); /* own port */
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, sweeps_heavy), heavy);
	sim_node_stubborn(s->sim, host, false);
	scenario_converge(s, 11);
	scenario_free(s);
}
END_TEST

/*
 * A switch that does not clear its PortStateChange is a change for each light sweep, which waits
 * for a silent host. The change cuts it short at most once a second.
 */
START_TEST(light_sweep_finds_what_stays)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-9"), spine = scenario_node(s, "spine-1-0");
	uint64_t before;

	scenario_conf(s, "sweep_interval 5\n");
	scenario_start(s);
	scenario_converge(s, 10);
	sim_node_mute(s->sim, host, true);
	sim_node_refuse(s->sim, spine, IBA_ATTR_SWITCH_INFO);
	sim_link_set(s->sim, spine, 3, false);
	sim_link_set(s->sim, host, 1, false);
	sim_link_set(s->sim, host, 1, true);
	scenario_run_ms(s, 120 * 1000);
	before = partial_sweeps(s);
	scenario_run_ms(s, 60 * 1000);
	ck_assert_uint_le(partial_sweeps(s) - before, 60);
	sim_node_refuse(s->sim, spine, 0);
	sim_node_mute(s->sim, host, false);
	sim_link_set(s->sim, spine, 3, true);
	scenario_converge(s, 20);
	scenario_free(s);
}
END_TEST

/* One that never answered: health has one line about it, named by the port in front of it. */
START_TEST(named_once)
{
	struct scenario *s = scenario_alone();
	struct command_env env = {0};

	sim_node_mute(s->sim, scenario_node(s, "host-9"), true);
	scenario_start(s);
	env.daemon = s->daemon;
	for (unsigned int i = 0; i < 2; i++) { /* as an error of sweeps, and excluded */
		struct command_answer answer;

		scenario_run_ms(s, i ? 120 * 1000 : 5000);
		command_run(&env, "health", true, &answer);
		ck_assert_uint_eq(answer.status, i ? CONTROL_DEVICES_BAD : CONTROL_SUBNET_BAD);
		ck_assert_ptr_nonnull(strstr(answer.text, "answers behind "));
		ck_assert_ptr_nonnull(strstr(answer.text, "ERROR "));
		ck_assert_msg(!strstr(strstr(answer.text, "ERROR ") + 1, "ERROR "), "%s",
			      answer.text);
		g_free(answer.text);
	}
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("health");
	TCase *tcase = tcase_create("health");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, each_time_it_begins_anew);
	tcase_add_test(tcase, stubborn_host);
	tcase_add_test(tcase, stubborn_switch);
	tcase_add_test(tcase, tried_again_soon_at_first);
	tcase_add_test(tcase, refusal_is_a_question_of_identity);
	tcase_add_test(tcase, silent_host);
	tcase_add_test(tcase, silent_after_a_bounce);
	tcase_add_test(tcase, sick_later);
	tcase_add_test(tcase, light_sweep_finds_what_stays);
	tcase_add_test(tcase, named_once);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

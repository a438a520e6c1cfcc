// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events at the SM's own port: its cable goes and comes, its HCA is taken away and comes back,
 * while it is master, standby, or in the middle of a sweep.
 */
#include <check.h>
#include <string.h>

#include "ctl/report/status.h"
#include "managers.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define GONE "the device of the SM's port, sim host-1 port 1, is gone"
#define NOT_AS_SET "the configuration of the SM's own port has changed"
#define BACK "the SM's port is back: sim host-1 port 1"

static struct managers *m;

static void teardown(void)
{
	managers_free(m);
}

static void up_alone(const char *spec, uint64_t seed)
{
	m = managers_new(spec, seed);
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
}

static unsigned int node_of(unsigned int i)
{
	return (unsigned int)sim_find_guid(m->s->sim, m->sm[i].guid);
}

static void device(unsigned int i, bool there)
{
	sim_device_set(m->s->sim, node_of(i), there);
}

static unsigned int times(const char *text)
{
	unsigned int n = 0;

	for (const char *at = strstr(m->s->text->str, text); at; at = strstr(at + 1, text))
		n++;
	return n;
}

static bool is_told_lost(unsigned int i)
{
	g_autofree char *line = status_line(daemon_context(m->sm[i].daemon));

	return strstr(line, "its port is gone") != NULL;
}

static uint64_t mads_sent(unsigned int i)
{
	return m->sm[i].sent;
}

/* Between two checks of the port, which are a second apart. */
START_TEST(own_cable)
{
	up_alone("fattree:4", 1);
	scenario_run_ms(m->s, 300);
	sim_link_set(m->s->sim, node_of(0), 1, false);
	scenario_run_ms(m->s, 50);
	ck_assert_uint_eq(times("SM port is down"), 1);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(times("SM port is down"), 1);
	sim_link_set(m->s->sim, node_of(0), 1, true);
	ck_assert_uint_le(managers_settle(m, 0, 20), 11000);
	ck_assert(!is_told_lost(0));
}
END_TEST

/* A reset of the HCA: no other SM is there, so it was master all the time. */
START_TEST(device_of_master)
{
	uint64_t sent;

	up_alone("fattree:4", 1);
	device(0, false);
	scenario_run_ms(m->s, 10);
	ck_assert(is_told_lost(0));
	ck_assert_uint_eq(times(GONE), 1);
	sent = mads_sent(0);
	scenario_run_ms(m->s, 20000);
	ck_assert_uint_eq(mads_sent(0), sent);
	ck_assert_uint_eq(times(BACK), 0);
	device(0, true);
	ck_assert(sim_port_info(m->s->sim, node_of(0), 1)->capability_mask & IBA_PORT_CAP_SM);
	ck_assert_uint_le(managers_settle(m, 0, 20), 500);
	ck_assert_uint_eq(times(GONE), 1);
	ck_assert_uint_eq(times(BACK), 1);
	ck_assert(!is_told_lost(0));
	ck_assert_uint_eq(times("Entering MASTER state"), 1);
}
END_TEST

static void run_until_sent(unsigned int i, uint64_t mads)
{
	while (m->sm[i].sent < mads && runtime_now(m->s->rt) < 5 * NS_PER_S)
		runtime_run(m->s->rt, NULL, NULL, runtime_now(m->s->rt) + 20 * NS_PER_US);
}

/* The cable goes at the MAD of a first sweep that would wait for many answers. */
START_TEST(cable_in_a_sweep)
{
	uint64_t start;

	m = managers_new("fattree:8", 1);
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_start(m, 0);
	run_until_sent(0, (uint64_t)_i * 500);
	start = runtime_now(m->s->rt);
	sim_link_set(m->s->sim, node_of(0), 1, false);
	while (!times("SM port is down") && runtime_now(m->s->rt) < start + NS_PER_S)
		scenario_run_ms(m->s, 10);
	ck_assert_uint_le(runtime_now(m->s->rt) - start, 500 * NS_PER_MS);
	sim_link_set(m->s->sim, node_of(0), 1, true);
	managers_settle(m, 0, 20);
}
END_TEST

/*
 * Its own node does not answer when a heavy sweep begins, so that no other can be asked. What is
 * known of the others is kept: none of them is set again.
 */
START_TEST(own_node_is_silent)
{
	uint64_t sets;

	up_alone("fattree:4", 1);
	sets = scenario_counters(m->s).sets;
	sim_node_mute(m->s->sim, node_of(0), true);
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	scenario_run_ms(m->s, 3000);
	sim_node_mute(m->s->sim, node_of(0), false);
	managers_settle(m, 0, 20);
	ck_assert_uint_ge(times("ERRORS DURING INITIALIZATION"), 1);
	ck_assert_uint_eq(scenario_counters(m->s).sets, sets);
}
END_TEST

/* After its reset the port has no M_Key any more, while the others do. */
START_TEST(with_m_key)
{
	m = managers_new("fattree:4", 1);
	managers_add(m, "host-1", MANAGERS_POLLS "m_key 0x1234\nm_key_lease_period 0\n");
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	device(0, false);
	scenario_run_ms(m->s, 3000);
	device(0, true);
	ck_assert_uint_le(managers_settle(m, 0, 20), 2000);
	ck_assert_uint_eq(sim_port_info(m->s->sim, node_of(0), 1)->m_key, 0x1234);
}
END_TEST

/* So short that both events arrive at once; or several times. */
START_TEST(blinks)
{
	up_alone("fattree:4", 1);
	for (int i = 0; i < 5; i++) {
		device(0, false);
		device(0, true);
		scenario_run_ms(m->s, (uint64_t)i * 3);
	}
	managers_settle(m, 0, 20);
	ck_assert_uint_eq(times(GONE), times(BACK));
	ck_assert_uint_ge(times(BACK), 1);
}
END_TEST

/* ---- what the SM set is lost, or written by another SM, without any event ---- */

#define OTHER 77 /* an unassigned LID */

static const char *const places[] = {"host-1", "leaf-0-0"};

static struct iba_port_info own_info(void)
{
	return *sim_port_info(m->s->sim, node_of(0), m->sm[0].port);
}

static void own_info_becomes(const struct iba_port_info *info)
{
	sim_set_port_info(m->s->sim, node_of(0), m->sm[0].port, info);
}

static void up_in(const char *place, const char *conf)
{
	g_autofree char *lines = g_strconcat(MANAGERS_POLLS "sweep_interval 60\n", conf, NULL);

	m = managers_new("fattree:4", 1);
	managers_add(m, place, lines);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	scenario_run_ms(m->s, 5000);
}

#define BY_ANOTHER 5
#define WAYS_TO_SPOIL 7

static void spoil(struct iba_port_info *info, int how)
{
	info->lid = how == 0 || how == 6 ? 0 : how == 1 ? OTHER : info->lid;
	info->lmc = how == 2 ? 1 : info->lmc;
	info->gid_prefix = how == 3 ? UINT64_C(0xfec0000000000000) : info->gid_prefix;
	info->master_sm_lid = how == 4 || how == 6 ? 0 : how == BY_ANOTHER ? OTHER
								: info->master_sm_lid;
}

START_TEST(loses_what_it_was_given)
{
	bool ignores = _i / 2 % 2 && _i / 4 != BY_ANOTHER;
	struct iba_port_info was, is;

	up_in(places[_i % 2], ignores ? "ignore_other_sm TRUE\n" : "");
	was = is = own_info();
	spoil(&is, _i / 4);
	own_info_becomes(&is);
	scenario_run_ms(m->s, 1500);
	is = own_info();
	ck_assert_uint_eq(is.lid, was.lid);
	ck_assert_uint_eq(is.lmc, was.lmc);
	ck_assert_uint_eq(is.gid_prefix, was.gid_prefix);
	ck_assert_uint_eq(is.master_sm_lid, was.master_sm_lid);
	managers_settle(m, 0, 2);
	ck_assert_uint_eq(times(NOT_AS_SET) + times("another SM configured the port"), 1);
	ck_assert_uint_eq(times("Entering MASTER state"), 1);
}
END_TEST

/* An SM that ignores others does not fight with one over which of them owns the clients. */
START_TEST(lets_another_have_it)
{
	struct iba_port_info is;
	uint64_t sets;

	up_in(places[_i], "ignore_other_sm TRUE\n");
	is = own_info();
	spoil(&is, BY_ANOTHER);
	own_info_becomes(&is);
	sets = scenario_counters(m->s).sets;
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(scenario_counters(m->s).sets, sets);
	ck_assert_uint_eq(times(NOT_AS_SET), 0);
}
END_TEST

/* Over and over: it is logged, and set at growing intervals. */
START_TEST(never_keeps_its_lid)
{
	struct iba_port_info is;
	unsigned int sets = 0;

	up_in(places[_i], "");
	for (int i = 0; i < 600; i++) {
		is = own_info();
		sets += is.lid != 0;
		is.lid = 0;
		own_info_becomes(&is);
		scenario_run_ms(m->s, 100);
	}
	ck_assert_uint_ge(sets, 6);
	ck_assert_uint_le(sets, 20);
	ck_assert_uint_ge(times(NOT_AS_SET), 6);
	ck_assert_uint_le(times(NOT_AS_SET), 21);
	managers_settle(m, 0, 20);
}
END_TEST

/* It answers with success, and does not change. */
START_TEST(takes_no_lid)
{
	struct iba_port_info is;
	uint64_t sets;

	up_in(places[_i], "");
	is = own_info();
	is.lid = 0;
	own_info_becomes(&is);
	sim_node_stubborn(m->s->sim, node_of(0), true);
	sets = scenario_counters(m->s).sets;
	scenario_run_ms(m->s, 60000);
	ck_assert_uint_ge(times("did not accept LID"), 6);
	ck_assert_uint_le(scenario_counters(m->s).sets - sets, 100);
	sim_node_stubborn(m->s->sim, node_of(0), false);
	managers_settle(m, 0, 20);
}
END_TEST

/* Both go on as they were: the standby is not forgotten, and does not take over. */
START_TEST(loses_its_lid_beside_a_standby)
{
	struct iba_port_info is;

	m = managers_new("fattree:4", 1);
	managers_add(m, places[_i], MANAGERS_POLLS "sm_priority 5\n");
	managers_add(m, "host-9", MANAGERS_POLLS);
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	managers_start(m, 1);
	scenario_run_ms(m->s, 5000);
	is = own_info();
	is.lid = 0;
	own_info_becomes(&is);
	managers_settle(m, 0, 5);
	scenario_run_ms(m->s, 10000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	ck_assert_uint_eq(times("taking over"), 0);
	managers_retire(m, 0);
	managers_settle(m, 1, 5);
}
END_TEST

/* The port of a standby is its master's business. */
START_TEST(standby_loses_its_lid)
{
	struct iba_port_info is;
	unsigned int node;

	m = managers_new("fattree:4", 1);
	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	scenario_run_ms(m->s, 5000);
	node = node_of(1);
	is = *sim_port_info(m->s->sim, node, 1);
	is.lid = _i ? OTHER : 0;
	sim_set_port_info(m->s->sim, node, 1, &is);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	ck_assert_uint_eq(times(NOT_AS_SET), 0);
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	managers_settle(m, 0, 5);
}
END_TEST

/* At every stride-th MAD of the first bring-up; the device is gone for longer each time. */
START_TEST(in_a_sweep)
{
	m = managers_new("fattree:4", 1);
	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_start(m, 0);
	run_until_sent(0, (uint64_t)_i * 37);
	device(0, false);
	scenario_run_ms(m->s, (uint64_t)_i * 50);
	device(0, true);
	managers_settle(m, 0, 20);
	ck_assert_uint_eq(times(GONE), 1);
}
END_TEST

/* The standby takes over; the election decides which of the two is master afterwards. */
START_TEST(other_took_over)
{
	m = managers_new("fattree:4", (uint64_t)_i);
	managers_up_with_standby(m, _i % 2 ? MANAGERS_POLLS "sm_priority 5\n" : MANAGERS_POLLS,
				 MANAGERS_POLLS);
	scenario_run_ms(m->s, 1500);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	device(0, false);
	scenario_run_ms(m->s, 10000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_MASTER);
	device(0, true);
	managers_settle(m, MANAGERS_ANY, 30);
	if (_i % 2)
		ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
}
END_TEST

/* Back before the standby has noticed. */
START_TEST(nobody_noticed)
{
	m = managers_new("fattree:4", 1);
	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	scenario_run_ms(m->s, 1500);
	device(0, false);
	scenario_run_ms(m->s, 500);
	device(0, true);
	managers_settle(m, 0, 20);
	scenario_run_ms(m->s, 10000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	ck_assert_uint_eq(times("taking over"), 0);
}
END_TEST

/* A standby without a port does not take over; with it, it follows as before, and can. */
START_TEST(device_of_standby)
{
	m = managers_new("fattree:4", 1);
	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	scenario_run_ms(m->s, 1500);
	device(1, false);
	scenario_run_ms(m->s, 20000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	ck_assert_uint_eq(times("taking over"), 0);
	if (_i) /* the master goes meanwhile */
		managers_kill(m, 0);
	device(1, true);
	managers_settle(m, (unsigned int)_i, 20);
	ck_assert_uint_eq(managers_state(m, 1), _i ? IBA_SM_MASTER : IBA_SM_STANDBY);
	managers_kill(m, 0);
	managers_settle(m, 1, 20);
}
END_TEST

/* The new master's first Set to the standby's port makes it poll before the next one is due. */
START_TEST(standby_hears)
{
	const char *slow = "sminfo_polling_timeout 20000\npolling_retry_number 2\n";
	struct iba_port_info info;
	uint64_t sent;

	m = managers_new("fattree:4", 1);
	managers_up_with_standby(m, slow, slow);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	info = *sim_port_info(m->s->sim, node_of(1), 1);
	info.master_sm_sl ^= 1;
	info.port_state = info.port_physical_state = 0;
	sent = mads_sent(1);
	managers_set(m, 1, "host-4", IBA_ATTR_PORT_INFO, 1, &iba_port_info_type, &info);
	scenario_run_ms(m->s, 100);
	ck_assert_uint_gt(mads_sent(1), sent);
}
END_TEST

/* SIGTERM while there is no port: the daemon ends in time. */
START_TEST(retires_without_port)
{
	m = managers_new("fattree:4", 1);
	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	scenario_run_ms(m->s, 1500);
	device(0, false);
	scenario_run_ms(m->s, 100);
	managers_retire(m, 0);
	managers_settle(m, 1, 20);
}
END_TEST

/*
 * While the port has no link, another SM writes tables, and is gone when the link is back. No port
 * shows it then: it still has the MasterSMLID that this SM knows. So all tables are read again.
 */
#define CUTS 20
#define STRIDE 60 /* MADs */

static void up_beside(unsigned int other_first)
{
	m = managers_new("torus:3x3x3:1", 1);
	managers_add(m, "host-19", MANAGERS_POLLS);
	managers_add(m, "host-10", MANAGERS_POLLS);
	managers_start(m, other_first);
	managers_settle(m, other_first, 10);
}

static void link_of_master(bool up)
{
	sim_link_set(m->s->sim, node_of(0), 1, up);
}

/* It settles with what it has read now, not after nodes have failed to answer by wrong routes. */
static void check_reads_all_again(void)
{
	link_of_master(true);
	managers_settle(m, 0, 20);
	ck_assert_uint_eq(times("does not hold the tables that were written to it"), 0);
}

/* None was over before the port had a link again. */
static void check_audits_are_whole(void)
{
	unsigned int compared;

	for (const char *at = m->s->text->str; (at = strstr(at, "audit: ")); at++)
		if (sscanf(at, "audit: %u blocks and ports compared", &compared) == 1)
			ck_assert_uint_ge(compared, sim_nodes(m->s->sim));
}

/*
 * This SM is cut off during its first sweep as master, while the ports still obey the other one,
 * which had handed over. As that one has gone, all nodes are compared, too, once they are found.
 */
START_TEST(obeyed_before_and_after)
{
	up_beside(1);
	managers_start(m, 0);
	scenario_run_ms(m->s, 2500);
	managers_retire(m, 1);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	run_until_sent(0, m->sm[0].sent + (uint64_t)_i * STRIDE);
	link_of_master(false);
	managers_start(m, 1);
	scenario_run_ms(m->s, 5000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_MASTER);
	managers_kill(m, 1);
	check_reads_all_again();
	check_audits_are_whole();
}
END_TEST

/* The other one dies during its first sweep: it has written tables, but no MasterSMLID. */
START_TEST(other_dies_half_way)
{
	up_beside(0);
	link_of_master(false);
	scenario_run_ms(m->s, 3000);
	managers_start(m, 1);
	managers_kill_at(m, 1, (uint64_t)_i * STRIDE, 2);
	check_reads_all_again();
}
END_TEST

/* Both, at any moments, over and over; in the end one is master of all nodes. */
START_TEST(chaos)
{
	m = managers_new(_i % 2 ? "fattree:4" : "torus:4x4", (uint64_t)_i);
	managers_up_with_standby(m, MANAGERS_POLLS, MANAGERS_POLLS);
	for (int i = 0; i < 12; i++) {
		unsigned int who = scenario_random(m->s, 2);

		device(who, false);
		scenario_run_ms(m->s, scenario_random(m->s, 4000));
		if (scenario_random(m->s, 2))
			device(!who, false);
		scenario_run_ms(m->s, scenario_random(m->s, 2000));
		device(0, true);
		device(1, true);
		scenario_run_ms(m->s, scenario_random(m->s, 5000));
	}
	managers_settle(m, MANAGERS_ANY, 40);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("own_port");
	TCase *tcase = tcase_create("own_port");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, own_cable);
	tcase_add_test(tcase, device_of_master);
	tcase_add_loop_test(tcase, cable_in_a_sweep, 0, 12);
	tcase_add_test(tcase, own_node_is_silent);
	tcase_add_test(tcase, with_m_key);
	tcase_add_test(tcase, blinks);
	tcase_add_loop_test(tcase, loses_what_it_was_given, 0, 4 * WAYS_TO_SPOIL);
	tcase_add_loop_test(tcase, lets_another_have_it, 0, 2);
	tcase_add_loop_test(tcase, never_keeps_its_lid, 0, 2);
	tcase_add_loop_test(tcase, takes_no_lid, 0, 2);
	tcase_add_loop_test(tcase, loses_its_lid_beside_a_standby, 0, 2);
	tcase_add_loop_test(tcase, standby_loses_its_lid, 0, 2);
	tcase_add_loop_test(tcase, in_a_sweep, 0, 40);
	tcase_add_loop_test(tcase, other_took_over, 0, 4);
	tcase_add_test(tcase, nobody_noticed);
	tcase_add_loop_test(tcase, device_of_standby, 0, 2);
	tcase_add_test(tcase, standby_hears);
	tcase_add_test(tcase, retires_without_port);
	tcase_add_loop_test(tcase, obeyed_before_and_after, 0, CUTS);
	tcase_add_loop_test(tcase, other_dies_half_way, 0, CUTS);
	tcase_add_loop_test(tcase, chaos, 0, some_seeds(10));
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}

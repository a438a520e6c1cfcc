// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The congestion manager on a simulated fabric: what agents hold, as the simulator tells, for each
 * profile and option; agents that lack it, refuse, are silent or forget; CC_Keys; switching it off.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "cc/cc.h"
#include "cc/report.h"
#include "managers.h"
#include "perf/image/image.h"
#include "scenario.h"
#include "tests/run_suite.h"
#include "vendor/sim_cc.h"

#define HOSTS 16
#define GBPS 100
#define ONE_IN 4
#define ON "congestion_control TRUE\nsweep_interval 1000\n"
#define STANDARD ON "cc_profile standard\n"
#define PER_PORT "cc_key_mode per_port\ncc_key_lease_period 60\n"

static struct scenario *s;
static unsigned int leaf, spine, host;

static void setup(void)
{
	s = scenario_new("fattree:4", 1);
	leaf = scenario_node(s, "leaf-0-0");
	spine = scenario_node(s, "core-0-0");
	host = scenario_node(s, "host-5");
}

static void teardown(void)
{
	scenario_free(s);
}

/* A round has ended, of whatever was wanted by then. */
static void settle(void)
{
	scenario_run_ms(s, 3000);
}

static void start(const char *conf)
{
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	settle();
}

static void restart(const char *conf)
{
	scenario_stop(s);
	start(conf);
}

static struct cc_report *report(void)
{
	struct cc_report *now = slot_take(&daemon_context(s->daemon)->cc);

	ck_assert_ptr_nonnull(now);
	return now;
}

static enum cc_state state_of(unsigned int node)
{
	struct cc_report *now = report();
	uint16_t lid = scenario_lid(s, node);
	enum cc_state state = CC_UNKNOWN;

	for (uint32_t i = 0; i < now->n_rows; i++)
		if (now->rows[i].lid == lid)
			state = now->rows[i].state;
	cc_report_unref(now);
	return state;
}

static void expect_all_right(void)
{
	struct cc_report *now = report();

	for (uint32_t i = 0; i < now->n_rows; i++)
		ck_assert_msg(now->rows[i].state == CC_RIGHT, "LID %u: %s", now->rows[i].lid,
			      cc_state_text(now->rows[i].state));
	ck_assert_uint_eq(now->n_rows, 20 + 16);
	cc_report_unref(now);
}

static bool is_switch(unsigned int node)
{
	char name[16];

	for (unsigned int i = 0; i < HOSTS; i++) {
		g_snprintf(name, sizeof(name), "host-%u", i);
		if (sim_find_name(s->sim, name) == (int)node)
			return false;
	}
	return true;
}

static struct sim_cc_view view(unsigned int node)
{
	struct sim_cc_view view;

	sim_cc_view(s->sim, node, is_switch(node) ? 0 : 1, &view);
	return view;
}

static void reread(const char *conf)
{
	scenario_conf(s, conf);
	ck_assert(daemon_reread_logged(s->daemon));
	settle();
}

/* Where it counts: ControlMap says what was written last. */
static void expect_same_settings(const struct sim_cc_view *a, const struct sim_cc_view *b)
{
	const struct iba_switch_congestion_setting *x = &a->switch_setting, *y = &b->switch_setting;

	ck_assert_uint_eq(x->threshold, y->threshold);
	ck_assert_uint_eq(x->packet_size, y->packet_size);
	ck_assert_uint_eq(x->marking_rate, y->marking_rate);
	ck_assert_mem_eq(x->victim_mask, y->victim_mask, sizeof(x->victim_mask));
	for (unsigned int sl = 0; sl < G_N_ELEMENTS(a->ca_setting.sl); sl++) {
		ck_assert_uint_eq(a->ca_setting.sl[sl].ccti_timer, b->ca_setting.sl[sl].ccti_timer);
		ck_assert_uint_eq(a->ca_setting.sl[sl].ccti_increase,
				  b->ca_setting.sl[sl].ccti_increase);
	}
	ck_assert_uint_eq(a->ccti_limit, b->ccti_limit);
	for (unsigned int i = 0; i <= a->ccti_limit; i++)
		ck_assert_uint_eq(a->entry[i].cct_multiplier, b->entry[i].cct_multiplier);
	ck_assert_uint_eq(a->class_port_info.trap_lid, b->class_port_info.trap_lid);
}

/* Of all agents; free with g_free(). */
static struct sim_cc_view *all_views(void)
{
	struct sim_cc_view *views = g_new0(struct sim_cc_view, sim_nodes(s->sim));

	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		views[node] = view(node);
	return views;
}

static void expect_same_views(const struct sim_cc_view *a, const struct sim_cc_view *b)
{
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		expect_same_settings(&a[node], &b[node]);
}

static uint64_t requests(unsigned int node, uint8_t method)
{
	static const uint16_t all[] = {
		IBA_ATTR_CLASS_PORT_INFO,	  IBA_ATTR_CONGESTION_INFO,
		IBA_ATTR_CONGESTION_KEY_INFO,	  IBA_ATTR_SWITCH_CONGESTION_SETTING,
		IBA_ATTR_CA_CONGESTION_SETTING,	  IBA_ATTR_CONGESTION_CONTROL_TABLE,
		IBA_ATTR_SWITCH_PORT_CONGESTION_SETTING,
	};
	uint64_t n = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(all); i++)
		n += sim_cc_requests(s->sim, node, all[i], method);
	return n;
}

static uint64_t all_requests(void)
{
	uint64_t n = 0;

	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		n += requests(node, IBA_METHOD_GET) + requests(node, IBA_METHOD_SET);
	return n;
}

static void answer(unsigned int node, uint16_t attribute, uint8_t method, enum sim_cc_answer how,
		   uint16_t status)
{
	const struct sim_cc_rule rule = {attribute, method, how, status};

	ck_assert(sim_cc_answer(s->sim, node, &rule));
}

/* Lines for keys of ports. */
static char *per_port(void)
{
	g_autofree char *m_keys = scenario_keys_of_ports(s, 0);
	const char *file = strstr(m_keys, "m_key_seed_file");

	return g_strdup_printf(STANDARD PER_PORT "%.*s\n", (int)strcspn(file, "\n"), file);
}

/* ---- settings ---- */

/* A switch marks as a victim exactly at the ports that face hosts. */
START_TEST(profiles)
{
	struct sim_cc_view at;

	start(STANDARD);
	expect_all_right();
	at = view(leaf);
	ck_assert_uint_eq(at.switch_setting.threshold, 12);
	ck_assert_uint_eq(at.switch_setting.packet_size, 8);
	ck_assert_uint_eq(at.switch_setting.marking_rate, ONE_IN - 1);
	ck_assert_uint_eq(at.switch_setting.victim_mask[31], 0x06); /* ports 1 and 2 */
	at = view(spine);
	ck_assert_uint_eq(at.switch_setting.threshold, 12);
	ck_assert_uint_eq(at.switch_setting.victim_mask[31], 0);
	at = view(host);
	ck_assert_uint_eq(at.ca_setting.control_map, 0xFFFF);
	ck_assert_uint_eq(at.ca_setting.sl[3].ccti_increase, 1);
	ck_assert_uint_eq(at.ca_setting.sl[3].ccti_timer, 25 * HOSTS * ONE_IN / GBPS);
	ck_assert_uint_eq(at.ccti_limit, 127);
	ck_assert_uint_eq(at.entry[0].cct_multiplier, 0);
	ck_assert_uint_gt(at.entry[127].cct_multiplier >> at.entry[127].cct_shift, 16);
}
END_TEST

/* The keys of the classic daemon, and nothing else. */
START_TEST(classic)
{
	struct sim_cc_view at;

	start(ON "cc_sw_cong_setting_control_map 0x1F\n"
		 "cc_sw_cong_setting_victim_mask 0x8000000000000000000000000000000000000000000000"
		 "000000000000000006\n"
		 "cc_sw_cong_setting_threshold 0x0F\ncc_sw_cong_setting_packet_size 9\n"
		 "cc_sw_cong_setting_credit_starvation_return_delay 2:3\n"
		 "cc_sw_cong_setting_marking_rate 10\n"
		 "cc_ca_cong_setting_control_map 0x0006\n"
		 "cc_ca_cong_setting_ccti_timer 1 77\ncc_ca_cong_setting_ccti_timer 3 99\n"
		 "cc_ca_cong_setting_ccti_increase 2 5\n"
		 "cc_cct 0:0,1:2,3:16383\n");
	expect_all_right();
	at = view(spine);
	ck_assert_uint_eq(at.switch_setting.victim_mask[0], 0x80);
	ck_assert_uint_eq(at.switch_setting.victim_mask[31], 0x06);
	ck_assert_uint_eq(at.switch_setting.cs_return_delay, 2 << 14 | 3);
	ck_assert_uint_eq(at.switch_setting.packet_size, 9);
	ck_assert_uint_eq(at.switch_setting.marking_rate, 10);
	at = view(host);
	ck_assert_uint_eq(at.ca_setting.sl[1].ccti_timer, 77);
	ck_assert_uint_eq(at.ca_setting.sl[2].ccti_increase, 5);
	ck_assert_uint_eq(at.ca_setting.sl[3].ccti_timer, 0);
	ck_assert_uint_eq(at.ccti_limit, 2);
	ck_assert_uint_eq(at.entry[2].cct_shift, 3);
	ck_assert_uint_eq(at.entry[2].cct_multiplier, 16383);
	scenario_check_log(s, "SL 3 has values, but bit 3", true);
}
END_TEST

/* As the classic daemon, it changes no switch and lets hosts send; but it says so. */
START_TEST(switched_on_alone)
{
	start(ON);
	expect_all_right();
	ck_assert_uint_eq(view(host).ccti_limit, 0);
	ck_assert_uint_eq(requests(leaf, IBA_METHOD_SET), 0);
	scenario_check_log(s, "cc_sw_cong_setting_control_map is 0: switches keep", true);
	scenario_check_log(s, "cc_cct is empty: no host slows down", true);
}
END_TEST

/* A sweep without a change costs nothing, and to look again one MAD an agent. */
START_TEST(only_what_differs)
{
	uint64_t before;

	start(STANDARD);
	before = all_requests();
	scenario_heavy_sweep(s, 10);
	settle();
	ck_assert_uint_eq(all_requests(), before);
	scenario_run_ms(s, 600 * 1000);
	ck_assert_uint_le(all_requests() - before, 36 * 2);
	ck_assert_uint_ge(all_requests() - before, 36);
	before = all_requests();
	reread(ON "cc_profile gentle\n");
	expect_all_right();
	ck_assert_uint_eq(view(leaf).switch_setting.threshold, 8);
	ck_assert_uint_le(all_requests() - before, 36 * 4);
}
END_TEST

/* Milliseconds until all is routed from the start, and after a switch was lost. */
static uint64_t sweep_ms(const char *conf)
{
	struct scenario *one = scenario_new("fattree:8", 5);
	uint64_t ms;

	scenario_conf(one, conf);
	scenario_start(one);
	ms = scenario_converge(one, 10);
	scenario_set_links(one, scenario_node(one, "spine-1-1"), false);
	ms += scenario_converge(one, 10);
	scenario_free(one);
	return ms;
}

START_TEST(no_sweep_is_later)
{
	ck_assert_uint_eq(sweep_ms(STANDARD), sweep_ms("sweep_interval 1000\n"));
}
END_TEST

/* The senders know what to do before the first switch marks. */
START_TEST(senders_first)
{
	start("sweep_interval 1000\n");
	sim_cc_silence(s->sim, host, 2 * NS_PER_S);
	scenario_conf(s, STANDARD);
	ck_assert(daemon_reread_logged(s->daemon));
	for (unsigned int i = 0; i < 400 && !view(leaf).switch_setting.threshold; i++) {
		ck_assert(!view(leaf).switch_setting.threshold);
		scenario_run_ms(s, 10);
	}
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		if (!is_switch(node) && node != host)
			ck_assert_uint_eq(view(node).ccti_limit, 127);
}
END_TEST

/* ---- switching it off ---- */

START_TEST(off_restores)
{
	g_autofree struct sim_cc_view *first = NULL, *second = NULL, *third = NULL;
	g_autofree char *file = g_build_filename(s->cache_dir, "cc_memory", NULL);

	start("sweep_interval 1000\n");
	ck_assert_uint_eq(all_requests(), 0);
	restart(ON "cc_profile gentle\n");
	first = all_views();
	/* Of another SM, which knows nothing of them. */
	ck_assert_int_eq(remove(file), 0);
	restart(STANDARD);
	second = all_views();
	ck_assert_uint_ne(first[host].ca_setting.sl[0].ccti_timer,
			  second[host].ca_setting.sl[0].ccti_timer);
	reread("sweep_interval 1000\n");
	third = all_views();
	expect_same_views(third, first);
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
}
END_TEST

/* Classic values with ControlMap 0 do not change switches, so there is nothing to take back. */
START_TEST(off_keeps_what_others_set)
{
	g_autofree struct sim_cc_view *first = NULL, *second = NULL;
	g_autofree char *file = g_build_filename(s->cache_dir, "cc_memory", NULL);

	start(STANDARD);
	scenario_stop(s);
	ck_assert_int_eq(remove(file), 0);
	first = all_views();
	start(ON "cc_ca_cong_setting_control_map 1\n");
	expect_all_right();
	reread("sweep_interval 1000\n");
	second = all_views();
	expect_same_views(second, first);
}
END_TEST

/* What it had is remembered until it really has it again. */
START_TEST(off_is_proven)
{
	g_autofree char *file = g_build_filename(s->cache_dir, "cc_memory", NULL);

	start(STANDARD);
	answer(host, IBA_ATTR_CONGESTION_CONTROL_TABLE, IBA_METHOD_SET, SIM_CC_FORGET, 0);
	reread("sweep_interval 1000\n");
	ck_assert_uint_eq(view(host).ccti_limit, 127);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	sim_cc_set_default(s->sim, host);
	scenario_run_ms(s, 120 * 1000);
	ck_assert_uint_eq(view(host).ccti_limit, 0);
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
}
END_TEST

/* Unplugged meanwhile, with what it was given: it gets back what it had when it is there again. */
START_TEST(off_while_unplugged)
{
	start(STANDARD);
	ck_assert(sim_link_set(s->sim, host, 1, false));
	scenario_converge(s, 60);
	settle();
	reread("sweep_interval 1000\n");
	ck_assert_uint_eq(view(leaf).switch_setting.threshold, 0);
	ck_assert_uint_eq(view(host).ccti_limit, 127);
	ck_assert(sim_link_set(s->sim, host, 1, true));
	scenario_converge(s, 60);
	settle();
	ck_assert_uint_eq(view(host).ccti_limit, 0);
}
END_TEST

/* A pause may be long, but is over when the operator switches it off. */
START_TEST(off_ends_pauses)
{
	start(STANDARD);
	answer(host, 0, 0, SIM_CC_SILENCE, 0);
	reread(ON "cc_profile gentle\n");
	cc_ask_again(daemon_cc(s->daemon));
	scenario_run_ms(s, 1000 * 1000);
	ck_assert_int_eq(state_of(host), CC_SILENT);
	sim_cc_set_default(s->sim, host);
	reread("sweep_interval 1000\n");
	ck_assert_uint_eq(view(host).ccti_limit, 0);
}
END_TEST

/* What devices had is read again each time that it is switched on. */
START_TEST(on_and_off_again)
{
	g_autofree struct sim_cc_view *before = NULL, *after = NULL;
	g_autofree char *conf = per_port();

	start("sweep_interval 1000\n");
	before = all_views();
	for (unsigned int i = 0; i < 3; i++) {
		reread(i % 2 ? STANDARD : conf);
		expect_all_right();
		reread("sweep_interval 1000\n");
	}
	after = all_views();
	expect_same_views(after, before);
}
END_TEST

/* By the process that comes after the one that switched it on. */
START_TEST(off_at_the_next_start)
{
	g_autofree struct sim_cc_view *before = NULL, *after = NULL;
	g_autofree char *conf = per_port();

	start("sweep_interval 1000\n");
	before = all_views();
	restart(conf);
	expect_all_right();
	restart("sweep_interval 1000\n");
	after = all_views();
	expect_same_views(after, before);
	ck_assert_uint_eq(view(host).key.cc_key, 0);
	ck_assert_uint_eq(view(leaf).key.cc_key, 0);
}
END_TEST

/* ---- agents that are otherwise ---- */

/* It has no such agent: a state, which ends when the operator says so. */
START_TEST(unsupported)
{
	uint64_t before;

	answer(host, 0, 0, SIM_CC_STATUS, IBA_STATUS_UNSUP_METHOD_ATTR);
	answer(leaf, 0, 0, SIM_CC_SILENCE, 0);
	start(STANDARD);
	scenario_run_ms(s, 20000);
	ck_assert_int_eq(state_of(host), CC_UNSUPPORTED);
	ck_assert_int_eq(state_of(leaf), CC_SILENT);
	ck_assert_int_eq(state_of(spine), CC_RIGHT);
	before = requests(host, IBA_METHOD_GET) + requests(leaf, IBA_METHOD_GET);
	for (unsigned int i = 0; i < 10; i++)
		scenario_heavy_sweep(s, 10);
	ck_assert_uint_le(requests(host, IBA_METHOD_GET) + requests(leaf, IBA_METHOD_GET) - before,
			  16);
	sim_cc_set_default(s->sim, host);
	sim_cc_set_default(s->sim, leaf);
	cc_ask_again(daemon_cc(s->daemon));
	settle();
	expect_all_right();
}
END_TEST

START_TEST(refusals)
{
	answer(host, IBA_ATTR_CONGESTION_CONTROL_TABLE, IBA_METHOD_SET, SIM_CC_STATUS,
	       IBA_STATUS_INVALID_FIELD);
	answer(leaf, IBA_ATTR_SWITCH_CONGESTION_SETTING, IBA_METHOD_SET, SIM_CC_FORGET, 0);
	answer(spine, IBA_ATTR_SWITCH_CONGESTION_SETTING, IBA_METHOD_SET, SIM_CC_IGNORE, 0);
	start(STANDARD);
	scenario_run_ms(s, 5000);
	ck_assert_int_eq(state_of(host), CC_REFUSED);
	ck_assert_int_eq(state_of(spine), CC_FICKLE);
	scenario_check(s);
	sim_cc_set_default(s->sim, host);
	sim_cc_set_default(s->sim, spine);
	scenario_run_ms(s, 120 * 1000);
	ck_assert_int_eq(state_of(host), CC_RIGHT);
	ck_assert_int_eq(state_of(spine), CC_RIGHT);
	ck_assert_uint_eq(view(spine).switch_setting.threshold, 12);
}
END_TEST

/* Its answer to a Set is not proof enough when it was found without the settings. */
START_TEST(forgets)
{
	answer(leaf, IBA_ATTR_SWITCH_CONGESTION_SETTING, IBA_METHOD_SET, SIM_CC_FORGET, 0);
	start(STANDARD);
	scenario_run_ms(s, 700 * 1000);
	ck_assert_int_eq(state_of(leaf), CC_FICKLE);
	ck_assert_int_eq(state_of(spine), CC_RIGHT);
	sim_cc_set_default(s->sim, leaf);
	scenario_run_ms(s, 120 * 1000);
	ck_assert_int_eq(state_of(leaf), CC_RIGHT);
	ck_assert_uint_eq(view(leaf).switch_setting.threshold, 12);
}
END_TEST

/* It tells its key, but nothing about one attribute: others do not wait for it. */
START_TEST(silent_about_one_attribute)
{
	answer(host, IBA_ATTR_CA_CONGESTION_SETTING, IBA_METHOD_GET, SIM_CC_SILENCE, 0);
	answer(leaf, IBA_ATTR_SWITCH_CONGESTION_SETTING, IBA_METHOD_SET, SIM_CC_SILENCE, 0);
	start(STANDARD "cc_key_mode set\ncc_key 0x1234\n");
	scenario_run_ms(s, 60 * 1000);
	ck_assert_int_eq(state_of(host), CC_SILENT);
	ck_assert_int_eq(state_of(leaf), CC_SILENT);
	ck_assert_int_eq(state_of(spine), CC_RIGHT);
	sim_cc_set_default(s->sim, host);
	sim_cc_set_default(s->sim, leaf);
	scenario_run_ms(s, 120 * 1000);
	expect_all_right();
}
END_TEST

/* An older CA takes the attributes in another form, so what it is sent is not what it has. */
START_TEST(before_the_errata)
{
	struct sim_cc_view before, after;

	sim_cc_set(s->sim, host, sim_cc_kinds(s->sim, host) | SIM_CC_OLD_FORM);
	start("sweep_interval 1000\n");
	before = view(host);
	reread(STANDARD);
	ck_assert_int_eq(state_of(host), CC_FICKLE);
	after = view(host);
	expect_same_settings(&after, &before);
}
END_TEST

/* A device restarts: noticed by the sweep, or by its key. */
START_TEST(restarts)
{
	g_autofree char *conf = per_port();

	start(conf);
	expect_all_right();
	sim_node_set(s->sim, host, false);
	scenario_converge(s, 60);
	sim_node_set(s->sim, host, true);
	scenario_converge(s, 60);
	settle();
	expect_all_right();
	ck_assert_uint_eq(view(host).ccti_limit, 127);
	ck_assert_uint_ne(view(host).key.cc_key, 0);
	sim_cc_restart(s->sim, leaf);
	ck_assert_uint_eq(view(leaf).key.cc_key, 0);
	scenario_run_ms(s, 40 * 1000);
	expect_all_right();
	ck_assert_uint_eq(view(leaf).switch_setting.threshold, 12);
	ck_assert_uint_ne(view(leaf).key.cc_key, 0);
}
END_TEST

/* ---- keys ---- */

START_TEST(keys)
{
	g_autofree char *conf = per_port();
	struct sim_cc_view a, b;
	uint64_t old;

	start(conf);
	expect_all_right();
	a = view(host);
	b = view(leaf);
	ck_assert_uint_ne(a.key.cc_key, 0);
	ck_assert_uint_ne(a.key.cc_key, b.key.cc_key);
	ck_assert_uint_eq(a.key.cc_key_protect_bit, 1);
	ck_assert_uint_eq(a.key.cc_key_lease_period, 60);
	ck_assert_uint_eq(a.class_port_info.trap_lid, 1); /* the SM's */
	old = a.key.cc_key;
	restart(conf);
	expect_all_right();
	ck_assert_uint_eq(view(host).key.cc_key, old);
	restart(STANDARD "cc_key_mode set\ncc_key 0x1234\n");
	expect_all_right();
	ck_assert_uint_eq(view(host).key.cc_key, 0x1234);
	reread(STANDARD "cc_key_mode set\ncc_key 0x1235\n");
	expect_all_right();
	ck_assert_uint_eq(view(leaf).key.cc_key, 0x1235);
	reread(STANDARD "cc_key 0x77\n");
	expect_all_right();
	ck_assert_uint_eq(view(leaf).key.cc_key, 0);
}
END_TEST

/* The keys of a manager that is gone, and left no word: each port is ours when its lease ends. */
START_TEST(foreign_keys)
{
	g_autofree char *file = g_build_filename(s->cache_dir, "cc_memory", NULL);

	start(STANDARD "cc_key_mode set\ncc_key 0x1234\ncc_key_lease_period 90\n");
	scenario_stop(s);
	ck_assert_int_eq(remove(file), 0);
	start(STANDARD "cc_key_mode set\ncc_key 0x99\n");
	scenario_run_ms(s, 10000);
	ck_assert_int_eq(state_of(host), CC_LOCKED);
	ck_assert_int_eq(state_of(leaf), CC_LOCKED);
	scenario_run_ms(s, 120 * 1000);
	expect_all_right();
	ck_assert_uint_eq(view(host).key.cc_key, 0x99);
	ck_assert_uint_eq(view(leaf).key.cc_key, 0x99);
}
END_TEST

/* With a cc_key of 0 there is nothing to protect or to lease. */
START_TEST(no_key_for_all)
{
	start(STANDARD "cc_key_mode set\ncc_key 0x1234\n");
	ck_assert_uint_eq(view(host).key.cc_key, 0x1234);
	reread(STANDARD "cc_key_mode set\ncc_key 0\n");
	expect_all_right();
	ck_assert_uint_eq(view(host).key.cc_key, 0);
	ck_assert_uint_eq(
		sim_cc_requests(s->sim, host, IBA_ATTR_CONGESTION_KEY_INFO, IBA_METHOD_SET), 2);
}
END_TEST

/* The round that runs goes by the options with which it began, and another one follows. */
START_TEST(reread_in_a_round)
{
	g_autofree char *conf = per_port();

	start("sweep_interval 1000\n");
	sim_cc_silence(s->sim, host, 2 * NS_PER_S);
	scenario_conf(s, conf);
	ck_assert(daemon_reread_logged(s->daemon));
	scenario_run_ms(s, 500);
	for (unsigned int i = 0; i < 3; i++)
		reread(STANDARD);
	scenario_run_ms(s, 60 * 1000);
	expect_all_right();
	ck_assert_uint_eq(view(host).key.cc_key, 0);
	ck_assert_uint_eq(view(leaf).key.cc_key, 0);
}
END_TEST

START_TEST(rotation)
{
	g_autofree char *conf = per_port();
	g_autofree char *often = g_strconcat(conf, "cc_key_update_interval 10\n", NULL);
	uint64_t first, second;

	start(often);
	first = view(host).key.cc_key;
	scenario_run_ms(s, 11 * 60 * 1000);
	second = view(host).key.cc_key;
	ck_assert_uint_ne(first, second);
	expect_all_right();
	restart(often);
	ck_assert_uint_eq(view(host).key.cc_key, second);
	expect_all_right();
}
END_TEST

/* What could not be written is written with the next round, also if nothing has changed since. */
START_TEST(disk_in_trouble)
{
	g_autofree char *conf = per_port();
	g_autofree char *file = g_build_filename(s->cache_dir, "cc_memory", NULL);
	g_autofree char *away = g_strconcat(s->cache_dir, ".away", NULL);
	g_autofree char *text = NULL, *key = NULL;

	start(conf);
	ck_assert_int_eq(g_rename(s->cache_dir, away), 0);
	cc_new_keys(daemon_cc(s->daemon));
	settle();
	ck_assert_int_eq(g_rename(away, s->cache_dir), 0);
	scenario_heavy_sweep(s, 10);
	settle();
	key = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x\n", view(host).key.cc_key);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	ck_assert_ptr_nonnull(strstr(text, key));
}
END_TEST

/* ---- what devices tell ---- */

static const struct cc_event *find_event(const struct cc_report *now, uint16_t slid, uint16_t dlid)
{
	for (guint i = 0; i < now->events->len; i++) {
		const struct cc_event *event = &g_array_index(now->events, struct cc_event, i);

		if (event->slid == slid && event->dlid == dlid)
			return event;
	}
	return NULL;
}

/* Of switches, and of CAs in both forms. */
START_TEST(logs)
{
	const struct sim_cc_event marked = {.slid = 5, .dlid = 6, .sl = 3};
	const struct sim_cc_event slowed = {.dlid = 7, .sl = 2, .local_qp = 0x123, .remote_qp = 9};
	unsigned int old = scenario_node(s, "host-7");
	const struct cc_event *event;
	struct cc_report *now;

	sim_cc_set(s->sim, old, sim_cc_kinds(s->sim, old) | SIM_CC_OLD_LOG);
	start(STANDARD "cc_log_poll 10\n");
	ck_assert(sim_cc_event(s->sim, leaf, 3, &marked, 40));
	ck_assert(sim_cc_event(s->sim, host, 1, &slowed, 2));
	ck_assert(sim_cc_event(s->sim, old, 1, &slowed, 3));
	scenario_run_ms(s, 25000);
	now = report();
	event = find_event(now, 5, 6);
	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event->sl, 3);
	event = find_event(now, scenario_lid(s, host), 7);
	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event->local_qp, 0x123);
	event = find_event(now, scenario_lid(s, old), 7);
	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event->local_qp, 0x123);
	ck_assert_uint_eq(event->remote_qp, 9);
	ck_assert_uint_eq(event->sl, 2);
	ck_assert_uint_eq(now->events->len, 15 + 2 + 3);
	for (uint32_t i = 0; i < now->n_rows; i++)
		if (now->rows[i].lid == scenario_lid(s, leaf)) {
			ck_assert_uint_eq(now->rows[i].log_events, 40);
			ck_assert_uint_eq(now->rows[i].n_marked, 1);
		}
	cc_report_unref(now);
}
END_TEST

/* The performance manager reads what devices count of congestion, while this is on. */
START_TEST(counters)
{
	struct sim_cc_event marked = {.slid = 5, .sl = 3};
	struct perf_images *images;
	const struct perf_image *last;
	uint64_t sum = 0;

	sim_pma_set(s->sim, host, sim_pma_abilities(s->sim, host) | SIM_PMA_OPTIONAL);
	start(STANDARD "perfmgr TRUE\nperfmgr_sweep_time_s 10\n");
	scenario_run_ms(s, 150 * 1000);
	marked.dlid = scenario_lid(s, host);
	ck_assert(sim_cc_event(s->sim, leaf, 3, &marked, 40));
	scenario_run_ms(s, 150 * 1000);
	images = slot_take(&daemon_context(s->daemon)->perf_images);
	last = perf_images_last(images);
	for (uint32_t i = 0; i < last->n_details; i++)
		sum += last->details[i].total[PERF_DETAIL_RCV_FECN];
	ck_assert_uint_eq(sum, 40);
	perf_images_unref(images);
}
END_TEST

/* ---- several SMs ---- */

#define QUIET "sweep_interval 1000\nsminfo_polling_timeout 1000\n"

/* The standby knows what agents had before the master came, and the keys that they have. */
START_TEST(takeover)
{
	struct managers *m = managers_new("fattree:4", 3);
	g_autofree char *seed = scenario_keys_of_ports(m->s, 0);
	g_autofree char *replication = managers_replication(m, "0123456789abcdef0123456789abcdef");
	g_autofree char *on = g_strconcat(QUIET "congestion_control TRUE\ncc_profile standard\n"
						"cc_key_mode per_port\n",
					  strstr(seed, "m_key_seed_file"), replication, NULL);
	g_autofree char *off = g_strconcat(QUIET, replication, NULL);
	struct sim_cc_view view;
	unsigned int node;
	uint64_t key;

	managers_up_with_standby(m, on, on);
	managers_settle(m, 0, 20);
	node = scenario_node(m->s, "host-5");
	cc_new_keys(daemon_cc(m->sm[0].daemon));
	scenario_run_ms(m->s, 5000);
	sim_cc_view(m->s->sim, node, 1, &view);
	key = view.key.cc_key;
	ck_assert_uint_ne(key, 0);
	managers_kill(m, 0);
	managers_settle(m, 1, 30);
	scenario_run_ms(m->s, 5000);
	sim_cc_view(m->s->sim, node, 1, &view);
	ck_assert_uint_eq(view.key.cc_key, key);
	ck_assert_uint_eq(view.ccti_limit, 127);
	ck_assert_uint_eq(view.key.cc_key_violations, 0);
	managers_configure(m, 1, off);
	scenario_run_ms(m->s, 5000);
	sim_cc_view(m->s->sim, node, 1, &view);
	ck_assert_uint_eq(view.key.cc_key, 0);
	ck_assert_uint_eq(view.ccti_limit, 0);
	managers_free(m);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("cc");
	TCase *settings = tcase_create("settings"), *off = tcase_create("off");
	TCase *agents = tcase_create("agents"), *key_cases = tcase_create("keys");
	TCase *others = tcase_create("several SMs");

	tcase_add_checked_fixture(settings, setup, teardown);
	tcase_add_test(settings, profiles);
	tcase_add_test(settings, classic);
	tcase_add_test(settings, switched_on_alone);
	tcase_add_test(settings, only_what_differs);
	tcase_add_test(settings, no_sweep_is_later);
	tcase_add_test(settings, senders_first);
	suite_add_tcase(suite, settings);
	tcase_add_checked_fixture(off, setup, teardown);
	tcase_add_test(off, off_restores);
	tcase_add_test(off, off_keeps_what_others_set);
	tcase_add_test(off, off_is_proven);
	tcase_add_test(off, off_while_unplugged);
	tcase_add_test(off, off_ends_pauses);
	tcase_add_test(off, on_and_off_again);
	tcase_add_test(off, off_at_the_next_start);
	suite_add_tcase(suite, off);
	tcase_add_checked_fixture(agents, setup, teardown);
	tcase_add_test(agents, unsupported);
	tcase_add_test(agents, refusals);
	tcase_add_test(agents, forgets);
	tcase_add_test(agents, silent_about_one_attribute);
	tcase_add_test(agents, before_the_errata);
	tcase_add_test(agents, restarts);
	suite_add_tcase(suite, agents);
	tcase_add_checked_fixture(key_cases, setup, teardown);
	tcase_add_test(key_cases, keys);
	tcase_add_test(key_cases, foreign_keys);
	tcase_add_test(key_cases, no_key_for_all);
	tcase_add_test(key_cases, reread_in_a_round);
	tcase_add_test(key_cases, rotation);
	tcase_add_test(key_cases, disk_in_trouble);
	tcase_add_test(key_cases, logs);
	tcase_add_test(key_cases, counters);
	suite_add_tcase(suite, key_cases);
	tcase_add_test(others, takeover);
	suite_add_tcase(suite, others);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}

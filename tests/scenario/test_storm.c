// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One to four SMs on random fabrics of all kinds: they come, die and retire, change priorities and
 * are told to sweep, while cables and switches go and come back, SMAs are mute, and packets are
 * lost, duplicated, delayed and corrupted. When that ends, one is master within three polls, and
 * the fabric is as it should be.
 *
 * Half of them have congestion control on, with keys that change: then all agents end with what the
 * profile gives them, and none is locked.
 *
 * STORM_SEEDS=FIRST-LAST for other and longer runs by hand ("make storms").
 */
#include <check.h>
#include <stdio.h>

#include "cc/cc.h"
#include "managers.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"
#include "vendor/sim_cc.h"

#define POLLS MANAGERS_POLLS
#define ROUNDS 15
#define MASTER_MS 4000 /* three polls of a dead SM, and discovery before and after */
#define CC_SETTLE_S 900 /* pauses of agents that were silent, leases of keys that were lost */
#define SETTLE_S 12    /* what was lost is retried after up to 10 s */

static const char *const fabrics[] = {
	"fattree:4",	  "torus:3x3:2",     "random:10:4:2:3",
	"hypercube:3:1",  "dragonfly:3:1:1", "mesh:3x3:1",
	"random:6:3:3:5", "torus:3x3x3:1",   "dual_port.topo",
	"fattree:8",
};

static struct managers *m;
static char *lines; /* of opensm.conf */
static bool has_cc;
static bool corrupt; /* bits were flipped undetected, as this wire has no CRC */

static void teardown(void)
{
	managers_free(m);
	g_clear_pointer(&lines, g_free);
}

static unsigned int chance(unsigned int n)
{
	return scenario_random(m->s, n);
}

/* ---- SMs ---- */

static void add_sms(unsigned int n)
{
	struct sim *sim = m->s->sim;
	bool taken[1024] = {false};

	while (m->n < n) {
		unsigned int node = chance(sim_nodes(sim));
		struct sim_node_view view;

		sim_node_view(sim, node, &view);
		if (view.type == IBA_NODE_SWITCH || node >= G_N_ELEMENTS(taken) || taken[node])
			continue;
		taken[node] = true;
		managers_add(m, view.description, lines);
	}
}

static void shuffle_sm(unsigned int i)
{
	unsigned int as_master = chance(2) * 9, priority = chance(4);
	g_autofree char *conf = g_strdup_printf("%ssm_priority %u\nmaster_sm_priority %u\n",
						lines, priority, as_master);

	if (!m->sm[i].daemon) {
		managers_start(m, i);
		return;
	}
	if (has_cc && chance(2))
		cc_new_keys(daemon_cc(m->sm[i].daemon));
	switch (chance(6)) {
	case 0:
		managers_kill(m, i);
		break;
	case 1:
		managers_retire(m, i);
		break;
	case 2:
		managers_kill_at(m, i, 1 + chance(2000), 1);
		break;
	case 3:
		managers_configure(m, i, conf);
		break;
	default:
		daemon_sweep(m->sm[i].daemon, chance(2) ? SWEEP_HEAVY : SWEEP_LIGHT);
	}
}

/* ---- faults, which are repaired at the end ---- */

static void shuffle_packets(void)
{
	struct sim *sim = m->s->sim;

	switch (chance(5)) {
	case 0:
		sim_set_loss(sim, 0.01 * chance(10));
		break;
	case 1:
		sim_set_duplicate(sim, 0.01 * chance(5));
		break;
	case 2:
		sim_set_corrupt(sim, 0.001 * chance(3));
		corrupt = true;
		break;
	case 3:
		sim_set_delay(sim, 1000, chance(2) * 300 * NS_PER_US);
		break;
	default:
		sim_set_timeout_delay(sim, chance(2) * 100 * NS_PER_MS);
	}
}

static void break_something(void)
{
	struct sim *sim = m->s->sim;
	unsigned int node = chance(sim_nodes(sim)), port, times;
	uint64_t up_ns, down_ns;
	struct sim_node_view view;

	sim_node_view(sim, node, &view);
	port = 1 + chance(view.num_ports);
	switch (chance(6)) {
	case 0:
		sim_link_set(sim, node, port, chance(2));
		break;
	case 1:
		times = 1 + chance(4);
		up_ns = NS_PER_MS << chance(8);
		down_ns = NS_PER_MS << chance(8);
		sim_link_flap(sim, node, port, down_ns, up_ns, times);
		break;
	case 2:
		sim_link_black_hole(sim, node, port, chance(2));
		break;
	case 3:
		sim_node_mute(sim, node, chance(2));
		break;
	case 4:
		if (view.type == IBA_NODE_SWITCH) { /* rebooted */
			sim_node_set(sim, node, false);
			scenario_run_ms(m->s, chance(200));
			sim_node_set(sim, node, true);
		}
		break;
	default:
		shuffle_packets();
	}
}

static void mend(void)
{
	struct sim *sim = m->s->sim;

	sim_set_loss(sim, 0);
	sim_set_duplicate(sim, 0);
	sim_set_corrupt(sim, 0);
	sim_set_delay(sim, 1000, 0);
	sim_set_timeout_delay(sim, 0);
	for (unsigned int node = 0; node < sim_nodes(sim); node++) {
		struct sim_node_view view;

		sim_node_view(sim, node, &view);
		sim_node_mute(sim, node, false);
		for (unsigned int port = 1; port <= view.num_ports; port++) {
			sim_link_black_hole(sim, node, port, false);
			sim_link_set(sim, node, port, true);
		}
	}
}

/* ---- congestion control ---- */

/* What is wrong with an agent; NULL: nothing. */
static const char *agent_wrong(unsigned int node, unsigned int port, bool is_switch)
{
	g_autofree struct sim_cc_view *view = g_new(struct sim_cc_view, 1);

	sim_cc_view(m->s->sim, node, port, view);
	if (!view->key.cc_key)
		return "has no CC_Key";
	if (is_switch)
		return view->switch_setting.threshold == 12 ? NULL : "does not mark";
	return view->ccti_limit == 127 && view->ca_setting.sl[5].ccti_timer ? NULL
									    : "is not set";
}

static char *cc_wrong(void)
{
	g_autofree bool *reached = scenario_reached(m->s);

	for (unsigned int node = 0; node < sim_nodes(m->s->sim); node++) {
		struct sim_node_view view;
		const char *wrong = NULL;

		sim_node_view(m->s->sim, node, &view);
		if (!reached[node] || view.type == IBA_NODE_ROUTER)
			continue;
		for (unsigned int port = 1; port <= view.num_ports && !wrong; port++)
			if (view.type == IBA_NODE_SWITCH || sim_link_up(m->s->sim, node, port))
				wrong = agent_wrong(node, view.type == IBA_NODE_SWITCH ? 0 : port,
						    view.type == IBA_NODE_SWITCH);
		if (wrong)
			return g_strdup_printf("%s %s", view.description, wrong);
	}
	return NULL;
}

static void settle_cc(void)
{
	g_autofree char *wrong = cc_wrong();

	for (unsigned int i = 0; wrong && i < CC_SETTLE_S; i++) {
		scenario_run_ms(m->s, 1000);
		g_free(wrong);
		wrong = cc_wrong();
	}
	if (wrong)
		scenario_fail(m->s, "congestion control after %u s: %s", CC_SETTLE_S, wrong);
}

/* ---- the storm ---- */

/* Devices may have taken other values than those that were sent. */
static void look_again(struct daemon *daemon)
{
	daemon_sweep(daemon, SWEEP_HEAVY);
	cc_ask_again(daemon_cc(daemon));
}

static void set_lines(void)
{
	g_autofree char *keys = has_cc ? scenario_keys_of_ports(m->s, 0) : NULL;

	if (!has_cc)
		lines = g_strdup(POLLS);
	else
		lines = g_strdup_printf(POLLS "congestion_control TRUE\ncc_profile standard\n"
					      "cc_key_mode per_port\n%s\n",
					strstr(keys, "m_key_seed_file"));
}

static void run_storm(unsigned int seed)
{
	corrupt = false;
	m = managers_new(fabrics[seed % G_N_ELEMENTS(fabrics)], seed);
	set_lines();
	add_sms(1 + seed / G_N_ELEMENTS(fabrics) % MANAGERS_MAX);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (chance(2))
			shuffle_sm(chance(m->n));
		else
			break_something();
		scenario_run_ms(m->s, chance(1u << chance(11)));
	}
	mend();
	for (unsigned int i = 0; i < m->n && !managers_running(m); i++)
		managers_start(m, i);
	scenario_run_ms(m->s, MASTER_MS);
	if (managers_masters(m) != 1)
		scenario_fail(m->s, "%u masters after %u ms\n--- the story ---\n%s",
			      managers_masters(m), MASTER_MS, m->story->str);
	for (unsigned int i = 0; corrupt && i < m->n; i++)
		if (m->sm[i].daemon && managers_state(m, i) == IBA_SM_MASTER)
			look_again(m->sm[i].daemon);
	managers_settle(m, MANAGERS_ANY, SETTLE_S);
	if (has_cc)
		settle_cc();
}

START_TEST(storm)
{
	has_cc = false;
	run_storm((unsigned int)_i);
}
END_TEST

START_TEST(storm_with_cc)
{
	has_cc = true;
	run_storm((unsigned int)_i);
}
END_TEST

/*
 * An SM that died had written what another had read before, or while another was cut off; a watch
 * was postponed for ever; a sweep was cancelled during its final check of the cables.
 */
static const int failed_once[] = {2614, 2650, 2752,  4210,  4652,  5796,
				  6036, 6619, 13863, 13946, 20016, 700657};

int main(void)
{
	const char *text = g_getenv("STORM_SEEDS");
	Suite *suite = suite_create("storm");
	TCase *tcase = tcase_create("storm"), *with_cc = tcase_create("with cc");
	int first = 1, last = some_seeds(80);

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("STORM_SEEDS is %s, not FIRST-LAST", text);
	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, storm, first, last + 1);
	tcase_add_checked_fixture(with_cc, NULL, teardown);
	tcase_set_timeout(with_cc, 300);
	tcase_add_loop_test(with_cc, storm_with_cc, first, last + 1);
	for (size_t i = 0; !text && i < G_N_ELEMENTS(failed_once); i++)
		tcase_add_loop_test(tcase, storm, failed_once[i], failed_once[i] + 1);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, with_cc);
	return run_suite(suite);
}

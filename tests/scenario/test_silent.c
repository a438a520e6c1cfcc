// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMAs that do not answer while packets pass. Whatever the daemon does meanwhile, pairs of hosts
 * that could talk still can, at every moment, as long as cables connect them.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "client.h"
#include "core/counters.h"
#include "ctl/command/command.h"
#include "ctl/report/status.h"
#include "lives.h"
#include "managers.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

/* How an SMA is silent: it does not answer; or directed routes end there, too. */
static void (*const silences[])(struct sim *sim, unsigned int node, bool on) = {
	sim_node_mute,
	sim_node_hang,
};

static struct scenario *up_with(const char *conf, const char *spec, uint64_t seed,
				struct lives **lives)
{
	struct scenario *s = scenario_new(spec, seed);

	if (conf)
		scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 2000);
	*lives = lives_new(s);
	scenario_expect(s, lives_pairs(*lives) > 0);
	return s;
}

static struct scenario *up(const char *spec, uint64_t seed, struct lives **lives)
{
	return up_with(NULL, spec, seed, lives);
}

static void end(struct scenario *s, struct lives *lives)
{
	lives_free(lives);
	scenario_free(s);
}

static unsigned int own_leaf(const struct scenario *s)
{
	unsigned int port, node = scenario_sm_node(s, &port);

	sim_peer(s->sim, node, port, &node, &port);
	return node;
}

/* Number of nodes that the daemon shows. */
static unsigned int shown_nodes(struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	unsigned int n = subnet ? subnet->fabric->n_nodes : 0;

	subnet_unref(subnet);
	return n;
}

static void expect_node(struct scenario *s, uint64_t guid, bool there)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);

	if ((fabric_port_by_guid(subnet->fabric, guid) != FABRIC_NONE) != there)
		scenario_fail(s, "0x%" PRIx64 " is %sshown", guid, there ? "not " : "");
	subnet_unref(subnet);
}

static void hangup(struct scenario *s)
{
	daemon_sweep(s->daemon, SWEEP_HEAVY);
}

static void expect_status(struct scenario *s, const char *text, bool there)
{
	g_autofree char *line = status_line(daemon_context(s->daemon));

	if ((strstr(line, text) != NULL) != there)
		scenario_fail(s, "the status is \"%s\"", line);
}

static void expect_health(struct scenario *s, const char *text, bool there)
{
	struct command_env env = {.daemon = s->daemon, .sim = s->sim};
	struct command_answer answer;

	command_run(&env, "health", true, &answer);
	if ((strstr(answer.text, text) != NULL) != there)
		scenario_fail(s, "health says %s", answer.text);
	g_free(answer.text);
}

static void expect_path(struct scenario *s, const char *from, const char *to, bool there)
{
	struct client *client = client_new(s, scenario_node(s, from));
	struct iba_path_record path;
	bool found = !client_path(client, sim_port_guid(s->sim, scenario_node(s, to), 1), &path);

	client_free(client);
	scenario_expect(s, found == there);
}

/* A heavy sweep looks for all nodes, and the first one that it asks does not answer. */
START_TEST(own_leaf_is_silent)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", 1, &lives);
	unsigned int leaf = own_leaf(s);

	silences[_i](s->sim, leaf, true);
	hangup(s);
	lives_run(lives, s, 20000, 100);
	scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
	expect_path(s, "host-9", "host-3", true);
	expect_status(s, "20 switches, 16 hosts, 48 links; 1 of these nodes silent", true);
	expect_health(s, "does not answer: its links are up", true);
	silences[_i](s->sim, leaf, false);
	scenario_run_ms(s, 40000); /* it is probed at growing intervals */
	scenario_converge(s, 30);
	expect_status(s, "silent", false);
	expect_health(s, "does not answer", false);
	end(s, lives);
}
END_TEST

/* Any switch, by a seed; and again and again. */
START_TEST(switch_is_silent)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", (uint64_t)_i, &lives);
	unsigned int node = scenario_random_switch(s);

	silences[_i % 2](s->sim, node, true);
	for (unsigned int i = 0; i < 3; i++) {
		hangup(s);
		lives_run(lives, s, 3000, 100);
		scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
	}
	silences[_i % 2](s->sim, node, false);
	scenario_converge(s, 30);
	end(s, lives);
}
END_TEST

/*
 * Cables are lost while a switch cannot be written: routes of the others allow for its present
 * table, as far as cables allow, in a partial sweep as well as in a heavy one.
 */
START_TEST(cables_lost_meanwhile)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3x2:1", "mesh:3x3:1"};
	struct lives *lives;
	struct scenario *s = up(specs[_i % 3], (uint64_t)_i, &lives);
	unsigned int silent = scenario_random_switch(s);

	silences[_i / 3 % 2](s->sim, silent, true);
	lives_fix(lives, silent, true);
	for (unsigned int i = 0; i < 3; i++) {
		if (!lives_lose_cable(s, silent))
			break;
		if (i == 1)
			hangup(s);
		scenario_run_ms(s, 30000); /* traps may be lost with the cable */
		lives_check(lives, s);
	}
	silences[_i / 3 % 2](s->sim, silent, false);
	lives_fix(lives, silent, false);
	scenario_run_ms(s, 65000); /* it is probed at growing intervals */
	scenario_converge(s, 30);
	end(s, lives);
}
END_TEST

/* The SM's own port: reports by others are still followed, and a heavy sweep does its work. */
START_TEST(own_port_is_silent)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", 1, &lives);
	unsigned int port, node = scenario_sm_node(s, &port);

	sim_node_mute(s->sim, node, true);
	hangup(s);
	lives_run(lives, s, 3000, 100);
	sim_link_set(s->sim, scenario_node(s, "leaf-2-0"), 3, false);
	scenario_run_ms(s, 2500);
	lives_check(lives, s);
	sim_link_set(s->sim, scenario_node(s, "leaf-2-0"), 3, true);
	lives_run(lives, s, 3000, 100);
	scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
	scenario_check_log(s, "does not answer, but the SM runs on it", true);
	expect_health(s, "does not answer: the SM runs on it", true);
	sim_node_mute(s->sim, node, false);
	scenario_converge(s, 30);
	end(s, lives);
}
END_TEST

/* Hosts keep their LIDs, routes and records; two of them, and sweep after sweep. */
START_TEST(hosts_are_silent)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", 1, &lives);

	sim_node_mute(s->sim, scenario_node(s, "host-9"), true);
	sim_node_mute(s->sim, scenario_node(s, "host-1"), true);
	for (unsigned int i = 0; i < 4; i++) {
		hangup(s);
		lives_run(lives, s, 2500, 100);
	}
	scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
	expect_path(s, "host-3", "host-9", true);
	expect_path(s, "host-9", "host-3", true);
	scenario_check_log(s, "it does not answer, but its link is up: it is kept", true);
	sim_node_mute(s->sim, scenario_node(s, "host-9"), false);
	sim_node_mute(s->sim, scenario_node(s, "host-1"), false);
	scenario_run_ms(s, 30000);
	scenario_converge(s, 30);
	end(s, lives);
}
END_TEST

/* Two in a row on the way to others: nodes behind both are asked by LID, or kept unasked. */
START_TEST(two_in_a_row)
{
	struct lives *lives;
	struct scenario *s = up("mesh:6:2", 1, &lives);
	unsigned int a = scenario_node(s, "switch-1"), b = scenario_node(s, "switch-2");

	silences[_i](s->sim, a, true);
	silences[_i](s->sim, b, true);
	for (unsigned int i = 0; i < 3; i++) {
		hangup(s);
		lives_run(lives, s, 6000, 200);
		scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
	}
	silences[_i](s->sim, a, false);
	silences[_i](s->sim, b, false);
	scenario_run_ms(s, 65000);
	scenario_converge(s, 60);
	end(s, lives);
}
END_TEST

/* At any moment of a heavy sweep. */
START_TEST(falls_silent_in_a_sweep)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct lives *lives;
		struct scenario *s = up("fattree:4", 1, &lives);

		hangup(s);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + (10100 + i * 150) * NS_PER_US);
		silences[_i](s->sim, scenario_node(s, "leaf-2-0"), true);
		lives_run(lives, s, 5000, 250);
		hangup(s);
		lives_run(lives, s, 3000, 250);
		scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
		end(s, lives);
	}
}
END_TEST

/* A new process does not know the nodes behind a switch that hangs: tables that lead there stay. */
START_TEST(restart_beside_a_silent_switch)
{
	static const char *const specs[] = {"fattree:4", "mesh:5:2", "torus:3x3x2:1"};
	struct lives *lives;
	struct scenario *s = up(specs[_i % 3], (uint64_t)_i, &lives);
	unsigned int node, own = own_leaf(s);

	do
		node = scenario_random_switch(s);
	while (node == own);
	silences[_i / 3 % 2](s->sim, node, true);
	lives_fix(lives, node, true);
	scenario_stop(s);
	scenario_start(s);
	lives_run(lives, s, 12000, 100);
	hangup(s);
	lives_run(lives, s, 5000, 100);
	expect_status(s, " links up without a known device", true);
	silences[_i / 3 % 2](s->sim, node, false);
	scenario_run_ms(s, 65000);
	scenario_converge(s, 60);
	lives_check(lives, s);
	expect_status(s, "without a known device", false);
	end(s, lives);
}
END_TEST

static void restart(struct scenario *s)
{
	scenario_stop(s);
	scenario_start(s);
}

/*
 * A change of tables that discards entries first logs it; until they are there again an SMP may
 * have to be sent once more.
 */
static void run_storm(struct lives *lives, struct scenario *s, unsigned int ms)
{
	for (unsigned int past = 0; past < ms; past += 250) {
		scenario_run_ms(s, 250);
		if (lives_lost(lives, s, NULL) && strstr(s->text->str, "LIDs discarded first"))
			scenario_run_ms(s, 100);
		lives_check(lives, s);
	}
}

/*
 * SMAs of any nodes hang and answer again, while MADs are lost and sweeps of all kinds and restarts
 * occur: no pair is cut off at any moment. Except at the SM's own leaf: an SM that starts behind a
 * leaf that hangs sees nothing.
 */
START_TEST(storm)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3x2:1", "mesh:3x3:2"};
	struct lives *lives;
	struct scenario *s = up(specs[_i % 3], (uint64_t)_i, &lives);
	unsigned int own, port, own_node = scenario_sm_node(s, &port);
	bool own_leaf_hung = false;

	own = own_leaf(s);
	sim_set_loss(s->sim, _i % 2 ? 0.01 : 0);
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int node = scenario_random(s, sim_nodes(s->sim)), what;
		bool on = scenario_random(s, 2);

		if (node != own_node)
			silences[scenario_random(s, 2)](s->sim, node, on);
		own_leaf_hung = node == own ? on : own_leaf_hung;
		what = scenario_random(s, 4);
		if (what == 0)
			hangup(s);
		else if (what == 1)
			daemon_sweep(s->daemon, SWEEP_LIGHT);
		else if (what == 2 && !own_leaf_hung)
			restart(s);
		run_storm(lives, s, 500 + scenario_random(s, 6000));
	}
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++)
		sim_node_hang(s->sim, node, false);
	sim_set_loss(s->sim, 0);
	lives_run(lives, s, 65000, 1000);
	scenario_converge(s, 60);
	end(s, lives);
}
END_TEST

/*
 * A process that starts behind a leaf that hangs sees nothing and may change nothing. It names the
 * problem in the log, in the status and in health, and continues by itself when the leaf answers.
 */
START_TEST(starts_behind_a_silent_leaf)
{
	struct lives *lives;
	struct scenario *s = up_with(_i / 2 ? "m_key 0x1234\n" : NULL, "fattree:4", 1, &lives);
	unsigned int leaf = own_leaf(s);
	g_autofree char *name =
		g_strdup_printf("SM's port (0x%016" PRIx64 " earlier) does not answer",
				sim_port_guid(s->sim, leaf, 0));

	silences[_i % 2](s->sim, leaf, true);
	restart(s);
	lives_run(lives, s, 20000, 250);
	hangup(s);
	lives_run(lives, s, 5000, 250);
	expect_status(s, "no subnet yet", true);
	expect_health(s, "its neighbour does not answer", true);
	scenario_check_log(s, "or its management agent may hang", true);
	scenario_check_log(s, name, _i / 2); /* with keys there is a file of which port is where */
	silences[_i % 2](s->sim, leaf, false);
	scenario_converge(s, 30);
	lives_check(lives, s);
	end(s, lives);
}
END_TEST

/*
 * Another switch is put in its place, on the same cables: the old one is gone, with its name, its
 * LID and its tables; also if that was done while no SM ran.
 */
START_TEST(silent_then_replaced)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", 1, &lives);
	unsigned int leaf = scenario_node(s, "leaf-2-0");
	uint64_t old = sim_port_guid(s->sim, leaf, 0);
	unsigned int n = sim_nodes(s->sim);

	sim_node_hang(s->sim, leaf, true);
	hangup(s);
	lives_run(lives, s, 5000, 250);
	if (_i == 1)
		scenario_stop(s);
	sim_node_set(s->sim, leaf, false);
	sim_set_node_guid(s->sim, leaf, 0x02000000DEAD0000);
	sim_set_port_guid(s->sim, leaf, 0, 0x02000000DEAD0000);
	sim_node_hang(s->sim, leaf, false);
	if (_i == 2)
		scenario_run_ms(s, 1500); /* else it was never seen down */
	sim_node_set(s->sim, leaf, true);
	if (_i == 1)
		scenario_start(s);
	scenario_run_ms(s, 40000);
	lives_check(lives, s);
	scenario_expect(s, shown_nodes(s) == n);
	expect_node(s, old, false);
	expect_node(s, 0x02000000DEAD0000, true);
	expect_status(s, "silent", false);
	expect_health(s, "does not answer", false);
	end(s, lives);
}
END_TEST

/* A router, and hosts with two ports, of which all ports or one port are silent. */
START_TEST(router_is_silent)
{
	struct lives *lives;
	struct scenario *s = up("router.topo", 1, &lives);
	unsigned int router = scenario_node(s, "router-0");
	uint16_t lid = sim_port_info(s->sim, router, 1)->lid;

	scenario_expect(s, lid);
	sim_node_mute(s->sim, router, true);
	for (unsigned int i = 0; i < 3; i++) {
		hangup(s);
		lives_run(lives, s, 3000, 100);
		scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
		expect_path(s, "host-1", "router-0", true);
	}
	expect_health(s, "router-0", true);
	sim_node_mute(s->sim, router, false);
	scenario_run_ms(s, 30000);
	scenario_converge(s, 30);
	scenario_expect(s, sim_port_info(s->sim, router, 1)->lid == lid);
	expect_health(s, "router-0", false);
	end(s, lives);
}
END_TEST

static void expect_path_to_guid(struct scenario *s, const char *from, uint64_t guid)
{
	struct client *client = client_new(s, scenario_node(s, from));
	struct iba_path_record path;
	bool found = !client_path(client, guid, &path);

	client_free(client);
	scenario_expect(s, found);
}

/* SMPs that an adapter sends by one port are lost: that port keeps its LID, routes and records. */
START_TEST(one_port_is_silent)
{
	struct lives *lives;
	struct scenario *s = up("dual_port.topo", 1, &lives);
	unsigned int own, host = scenario_node(s, "host-5"), bad = _i ? 1 : 2;
	uint16_t lid = sim_port_info(s->sim, host, bad)->lid;
	uint64_t guid = sim_port_guid(s->sim, host, bad);

	scenario_expect(s, scenario_sm_node(s, &own) != host && lid && guid);
	sim_link_black_hole(s->sim, host, bad, true);
	for (unsigned int i = 0; i < 4; i++) {
		hangup(s);
		lives_run(lives, s, 3000, 100);
		scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim));
		scenario_expect(s, sim_port_info(s->sim, host, bad)->lid == lid);
		expect_path_to_guid(s, "host-1", guid);
		expect_path_to_guid(s, "host-1", sim_port_guid(s->sim, host, 3 - bad));
	}
	sim_link_black_hole(s->sim, host, bad, false);
	scenario_run_ms(s, 65000);
	scenario_converge(s, 30);
	scenario_expect(s, sim_port_info(s->sim, host, bad)->lid == lid);
	end(s, lives);
}
END_TEST

/*
 * The master dies while a switch is silent, one that the standby knows, or one that has become
 * silent since, or its own leaf.
 */
START_TEST(silent_at_takeover)
{
	struct managers *m = managers_new("fattree:4", (uint64_t)_i);
	struct scenario *s = m->s;
	unsigned int node = scenario_node(s, _i % 3 == 0   ? "leaf-2-0"
					     : _i % 3 == 1 ? "spine-1-0"
							   : "leaf-2-1");
	struct lives *lives;

	managers_add(m, "host-1", MANAGERS_POLLS);
	managers_add(m, "host-9", MANAGERS_POLLS);
	for (unsigned int i = 0; i < 2; i++) {
		managers_start(m, i);
		scenario_run_ms(s, 5000);
	}
	lives = lives_new(s);
	scenario_expect(s, lives_pairs(lives) > 0);
	silences[_i / 3 % 2](s->sim, node, true);
	lives_fix(lives, node, true);
	lives_run(lives, s, 3000, 250);
	managers_kill(m, 0);
	lives_run(lives, s, 30000, 250);
	silences[_i / 3 % 2](s->sim, node, false);
	lives_fix(lives, node, false);
	lives_run(lives, s, 65000, 1000);
	managers_settle(m, 1, 60);
	lives_check(lives, s);
	lives_free(lives);
	managers_free(m);
}
END_TEST

/* Its cables are pulled, one by one or with its power: then it is gone, with its hosts. */
START_TEST(silent_then_gone)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", 1, &lives);
	unsigned int leaf = scenario_node(s, "leaf-2-0");

	sim_node_hang(s->sim, leaf, true);
	hangup(s);
	lives_run(lives, s, 5000, 250);
	if (_i)
		sim_node_set(s->sim, leaf, false);
	else
		scenario_set_links(s, leaf, false);
	scenario_run_ms(s, 15000);
	scenario_expect(s, shown_nodes(s) == sim_nodes(s->sim) - 3); /* and two hosts */
	sim_node_hang(s->sim, leaf, false);
	if (_i)
		sim_node_set(s->sim, leaf, true);
	else
		scenario_set_links(s, leaf, true);
	scenario_converge(s, 60);
	end(s, lives);
}
END_TEST

/* An hour later it answers, and has kept its settings, or lost them. */
START_TEST(back_after_an_hour)
{
	struct lives *lives;
	struct scenario *s = up("fattree:4", 1, &lives);
	unsigned int leaf = scenario_node(s, "leaf-2-0");

	sim_node_hang(s->sim, leaf, true);
	hangup(s);
	lives_run(lives, s, 3600 * 1000, 600 * 1000);
	sim_node_hang(s->sim, leaf, false);
	scenario_run_ms(s, 65000);
	scenario_check_log(s, "answers again, after", true);
	scenario_converge(s, 30);
	lives_check(lives, s);
	end(s, lives);
}
END_TEST

/*
 * The leaf of the SM hung, and lost a cable: switches beyond are reached by mixed routes alone; it
 * was mute, and the switch that had lost the cable was asked through it again and again.
 */
static const int routes_failed_once[] = {203, 300, 575};
/* A switch fell silent between discovery and the reading of its table, after a restart. */
static const int storms_failed_once[] = {217, 249, 352};

/* SILENT_SEEDS=FIRST-LAST for other and longer runs by hand. */
static void add_seeds(TCase *tcase, const TTest *test, int n)
{
	const char *text = g_getenv("SILENT_SEEDS");
	int first = 0, last = some_seeds(n) - 1;

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("SILENT_SEEDS is %s, not FIRST-LAST", text);
	tcase_add_loop_test(tcase, test, first, last + 1);
}

static void add_failed(TCase *tcase, const TTest *test, const int *seeds, size_t n)
{
	for (size_t i = 0; !g_getenv("SILENT_SEEDS") && i < n; i++)
		tcase_add_loop_test(tcase, test, seeds[i], seeds[i] + 1);
}

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("silent");
	TCase *tcase = add_case(suite, "kept");

	tcase_add_loop_test(tcase, own_leaf_is_silent, 0, G_N_ELEMENTS(silences));
	tcase_add_test(tcase, own_port_is_silent);
	tcase_add_test(tcase, hosts_are_silent);
	tcase_add_loop_test(tcase, two_in_a_row, 0, G_N_ELEMENTS(silences));
	tcase_add_loop_test(tcase, falls_silent_in_a_sweep, 0, G_N_ELEMENTS(silences));
	tcase_add_loop_test(tcase, silent_then_gone, 0, 2);
	tcase_add_test(tcase, back_after_an_hour);
	tcase_add_loop_test(tcase, silent_then_replaced, 0, 3);
	tcase_add_test(tcase, router_is_silent);
	tcase_add_loop_test(tcase, one_port_is_silent, 0, 2);
	tcase_add_loop_test(tcase, silent_at_takeover, 0, 6);
	tcase_add_loop_test(tcase, starts_behind_a_silent_leaf, 0, 4);
	add_seeds(add_case(suite, "switch"), switch_is_silent, 6);
	add_seeds(add_case(suite, "restart"), restart_beside_a_silent_switch, 12);
	tcase = add_case(suite, "storm");
	add_seeds(tcase, storm, 24);
	add_failed(tcase, storm, storms_failed_once, G_N_ELEMENTS(storms_failed_once));
	tcase = add_case(suite, "routes");
	add_seeds(tcase, cables_lost_meanwhile, 24);
	add_failed(tcase, cables_lost_meanwhile, routes_failed_once,
		   G_N_ELEMENTS(routes_failed_once));
	return run_suite(suite);
}

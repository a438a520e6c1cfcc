// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents that answer nothing while packets pass. Whatever the daemon does meanwhile, pairs of hosts
 * that could talk still can, at every moment, as long as cables join them.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "core/counters.h"
#include "lives.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

/* How an agent is silent: it answers nothing; or directed routes end there, too. */
static void (*const silences[])(struct sim *sim, unsigned int node, bool on) = {
	sim_node_mute,
	sim_node_hang,
};

static struct scenario *up(const char *spec, uint64_t seed, struct lives **lives)
{
	struct scenario *s = scenario_new(spec, seed);

	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 2000);
	*lives = lives_new(s);
	scenario_expect(s, lives_pairs(*lives) > 0);
	return s;
}

static void end(struct scenario *s, struct lives *lives)
{
	if (g_getenv("SHOW")) fputs(s->text->str, stderr);
	lives_free(lives);
	scenario_free(s);
}

static unsigned int own_leaf(const struct scenario *s)
{
	unsigned int port, node = scenario_sm_node(s, &port);

	sim_peer(s->sim, node, port, &node, &port);
	return node;
}

/* What the daemon shows of the subnet. */
static unsigned int shown_nodes(struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	unsigned int n = subnet ? subnet->fabric->n_nodes : 0;

	subnet_unref(subnet);
	return n;
}

static void hangup(struct scenario *s)
{
	daemon_sweep(s->daemon, SWEEP_HEAVY);
}

static void expect_path(struct scenario *s, const char *from, const char *to, bool there)
{
	struct client *client = client_new(s, scenario_node(s, from));
	struct iba_path_record path;
	bool found = !client_path(client, sim_port_guid(s->sim, scenario_node(s, to), 1), &path);

	client_free(client);
	scenario_expect(s, found == there);
}

/* A heavy sweep looks for everybody, and the first whom it asks does not answer. */
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
	silences[_i](s->sim, leaf, false);
	scenario_converge(s, 30);
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

static Suite *suite(void)
{
	Suite *suite = suite_create("silent");
	TCase *tcase = tcase_create("kept");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, own_leaf_is_silent, 0, G_N_ELEMENTS(silences));
	tcase_add_loop_test(tcase, switch_is_silent, 0, some_seeds(6));
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}

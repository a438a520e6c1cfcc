// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Switches whose SMAs do not answer, while hosts join and leave groups, cables are lost, and
 * another SM takes over: routes and trees follow the tables that such a switch holds, and do not
 * rely on unknown ones.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "ctl/command/command.h"
#include "lives.h"
#include "managers.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define N_MEMBERS 8

static void (*const silences[])(struct sim *sim, unsigned int node, bool on) = {
	sim_node_mute,
	sim_node_hang,
};

/* ---- groups ---- */

struct party {
	struct scenario *s;
	struct client *clients[N_MEMBERS];
	uint64_t guids[N_MEMBERS];
	unsigned int n;
	uint16_t mlid;
	unsigned int silent;
};

static void join(struct party *party, unsigned int host)
{
	unsigned int i = party->n;

	party->clients[i] = client_new(party->s, host);
	party->guids[i] = client_guid(party->clients[i]);
	scenario_expect(party->s, !client_join_broadcast(party->clients[i], &party->mlid));
	party->n++;
}

/* One that is not a member, and not on that switch. */
static unsigned int newcomer(struct party *party)
{
	for (unsigned int tries = 0; tries < 1000; tries++) {
		unsigned int host = scenario_random_host(party->s), leaf, port;
		bool is_new =
			sim_peer(party->s->sim, host, 1, &leaf, &port) && leaf != party->silent;

		for (unsigned int i = 0; i < party->n; i++)
			is_new &= party->guids[i] != sim_port_guid(party->s->sim, host, 1);
		if (is_new)
			return host;
	}
	scenario_fail(party->s, "all hosts are members");
}

/* Each gets the packets of each other, and none goes in a loop. */
static void expect_delivery(struct party *party)
{
	g_autofree char *lost = NULL;

	scenario_run_ms(party->s, 5000);
	lost = scenario_tree_loss(party->s, party->mlid, party->guids, party->n);
	if (lost)
		scenario_fail(party->s, "%u members: %s", party->n, lost);
}

static void begin(struct party *party, const char *spec, uint64_t seed, unsigned int members)
{
	*party = (struct party){.s = scenario_new(spec, seed), .silent = UINT_MAX};
	scenario_start(party->s);
	scenario_converge(party->s, 20);
	for (unsigned int i = 0; i < members; i++)
		join(party, newcomer(party));
	scenario_converge(party->s, 20);
}

static void end(struct party *party)
{
	scenario_converge(party->s, 60);
	scenario_check_tree(party->s, party->mlid, party->guids, party->n);
	for (unsigned int i = 0; i < party->n; i++)
		client_free(party->clients[i]);
	scenario_free(party->s);
}

static bool has_member(const struct party *party, unsigned int leaf)
{
	for (unsigned int i = 0; i < party->n; i++) {
		unsigned int node = 0, port;

		while (sim_port_guid(party->s->sim, node, 1) != party->guids[i])
			node++;
		if (sim_peer(party->s->sim, node, 1, &node, &port) && node == leaf)
			return true;
	}
	return false;
}

/* Silences a switch without members; each other switch can be reached without it. */
static void silence(struct party *party, void (*fall)(struct sim *, unsigned int, bool))
{
	do
		party->silent = scenario_random_switch(party->s);
	while (has_member(party, party->silent));
	fall(party->s->sim, party->silent, true);
	if (scenario_random(party->s, 2))
		daemon_sweep(party->s->daemon, SWEEP_HEAVY);
	scenario_run_ms(party->s, 3000);
}

/* Hosts join while some switch is silent, and cables are lost: the tree goes around it. */
START_TEST(joins_beside_a_silent_switch)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3x2:1", "mesh:3x3:2"};
	struct party party;

	begin(&party, specs[_i % 3], (uint64_t)_i, 3);
	silence(&party, silences[_i / 3 % 2]);
	expect_delivery(&party);
	for (unsigned int i = 0; i < 3; i++) {
		join(&party, newcomer(&party));
		expect_delivery(&party);
		if (i == 1 && lives_lose_cable(party.s, party.silent)) {
			scenario_run_ms(party.s, 25000);
			expect_delivery(&party);
		}
	}
	silences[_i / 3 % 2](party.s->sim, party.silent, false);
	scenario_run_ms(party.s, 65000); /* it is probed at growing intervals */
	end(&party);
}
END_TEST

/* On a silent leaf no new member gets anything: that is logged. */
START_TEST(joins_on_a_silent_leaf)
{
	struct party party;
	struct command_answer answer;
	struct command_env env;

	begin(&party, "fattree:4", 1, 0);
	join(&party, scenario_node(party.s, "host-2"));
	join(&party, scenario_node(party.s, "host-12"));
	scenario_run_ms(party.s, 2000);
	party.silent = scenario_node(party.s, "leaf-2-0");
	silences[_i](party.s->sim, party.silent, true);
	daemon_sweep(party.s->daemon, SWEEP_HEAVY);
	scenario_run_ms(party.s, 3000);
	join(&party, scenario_node(party.s, "host-9"));
	scenario_run_ms(party.s, 3000);
	scenario_check_log(party.s, "1 members cannot be reached; leaf-2-0", true);
	env = (struct command_env){.daemon = party.s->daemon, .sim = party.s->sim};
	command_run(&env, "health", true, &answer);
	scenario_expect(party.s, strstr(answer.text, "leaf-2-0"));
	g_free(answer.text);
	silences[_i](party.s->sim, party.silent, false);
	scenario_run_ms(party.s, 65000);
	end(&party);
}
END_TEST

/* ---- routes after a takeover ---- */

static struct managers *two_managers(const char *spec, uint64_t seed)
{
	struct managers *m = managers_new(spec, seed);

	managers_add(m, "host-1", MANAGERS_POLLS "sm_priority 5\n");
	managers_add(m, "host-9", MANAGERS_POLLS "sm_priority 3\n");
	return m;
}

static void lose_cables(struct managers *m, struct lives *lives, unsigned int silent)
{
	for (unsigned int i = 0; i < 2 && lives_lose_cable(m->s, silent); i++) {
		scenario_run_ms(m->s, 30000);
		lives_check(lives, m->s);
	}
}

/* The SM's own leaf is the subject of test_silent.c. */
static unsigned int fall_silent(struct managers *m, struct lives *lives, int seed)
{
	unsigned int silent, node, port;

	do {
		silent = scenario_random_switch(m->s);
		sim_peer(m->s->sim, scenario_node(m->s, "host-9"), 1, &node, &port);
	} while (silent == node);
	silences[seed % 2](m->s->sim, silent, true);
	lives_fix(lives, silent, true);
	scenario_run_ms(m->s, 3000);
	return silent;
}

static void end_managers(struct managers *m, struct lives *lives, unsigned int silent)
{
	sim_node_hang(m->s->sim, silent, false);
	lives_fix(lives, silent, false);
	scenario_run_ms(m->s, 65000);
	managers_settle(m, 1, 60);
	lives_check(lives, m->s);
	lives_free(lives);
	managers_free(m);
}

/* The new master never read the table of the switch, and does not rely on what it does not know. */
START_TEST(cables_lost_after_a_takeover)
{
	struct managers *m = two_managers(_i % 3 ? "fattree:4" : "torus:3x3x2:1", (uint64_t)_i);
	struct lives *lives;
	unsigned int silent;

	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	lives = lives_new(m->s);
	silent = fall_silent(m, lives, _i);
	managers_kill(m, 0);
	scenario_run_ms(m->s, 20000);
	lives_check(lives, m->s);
	lose_cables(m, lives, silent);
	end_managers(m, lives, silent);
}
END_TEST

/*
 * It has read the table when it was master before; but another SM has written it since, as a cable
 * was lost. That cable is back, and the one that the switch uses now is lost: by the old table that
 * would be no loss, and the way around would lead through that switch.
 */
START_TEST(masters_take_turns)
{
	struct managers *m = two_managers("two_ways.topo", 1);
	unsigned int silent = scenario_node(m->s, "k"), leaf = scenario_node(m->s, "t"), port;
	struct sim_node_view view;
	struct lives *lives;

	managers_start(m, 1);
	managers_settle(m, 1, 20);
	managers_start(m, 0);
	managers_settle(m, 0, 40);
	lives = lives_new(m->s);
	sim_node_view(m->s->sim, silent, &view);
	port = view.lft[scenario_lid(m->s, scenario_node(m->s, "host-6"))]; /* of both leaves */
	sim_link_set(m->s->sim, leaf, port, false);
	scenario_run_ms(m->s, 15000);
	lives_check(lives, m->s);
	silences[_i](m->s->sim, silent, true);
	lives_fix(lives, silent, true);
	scenario_run_ms(m->s, 3000);
	managers_kill(m, 0);
	scenario_run_ms(m->s, 20000);
	lives_check(lives, m->s);
	sim_link_set(m->s->sim, leaf, port, true);
	scenario_run_ms(m->s, 20000);
	lives_check(lives, m->s);
	sim_link_set(m->s->sim, leaf, 3 - port, false);
	scenario_run_ms(m->s, 20000);
	lives_check(lives, m->s);
	end_managers(m, lives, silent);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	return tcase;
}

/* SILENT_SEEDS=FIRST-LAST for other and longer runs by hand. */
static void add_seeds(TCase *tcase, const TTest *test, int n)
{
	const char *text = g_getenv("SILENT_SEEDS");
	int first = 0, last = some_seeds(n) - 1;

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("SILENT_SEEDS is %s, not FIRST-LAST", text);
	tcase_add_loop_test(tcase, test, first, last + 1);
}

int main(void)
{
	Suite *suite = suite_create("silent_groups");

	tcase_add_loop_test(add_case(suite, "leaf"), joins_on_a_silent_leaf, 0,
			    G_N_ELEMENTS(silences));
	add_seeds(add_case(suite, "joins"), joins_beside_a_silent_switch, 12);
	add_seeds(add_case(suite, "takeover"), cables_lost_after_a_takeover, 12);
	tcase_add_loop_test(add_case(suite, "turns"), masters_take_turns, 0,
			    G_N_ELEMENTS(silences));
	return run_suite(suite);
}

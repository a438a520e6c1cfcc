// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What routing costs and logs, end to end: things are lost and come back under a running daemon.
 * Checks look at the tables of the simulated switches, and at the number of blocks written.
 */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "policy/files/ties.h"
#include "policy/partition/demand.h"
#include "route/value/lanes.h"
#include "scenario.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define BLOCK 64
#define SEEDS 3

static const char *const engines[] = { "updn", "minhop", "ftree", "dnup" };
#define ENGINES ((int)G_N_ELEMENTS(engines))

struct net {
	struct scenario *s;
	struct command_env env;
	unsigned int n, n_blocks; /* nodes; blocks of a table that hold LIDs */
};

static void make_journal(struct scenario *s, void *arg)
{
	struct net *net = arg;

	net->env.daemon = s->daemon;
	net->env.journal = journal_new(s->daemon);
	net->env.sim = s->sim;
}

static void net_make(struct net *net, const char *spec, uint64_t seed, const char *engine)
{
	*net = (struct net){ .s = scenario_new(spec, seed) };
	net->n = sim_nodes(net->s->sim);
	net->s->made = make_journal;
	net->s->made_arg = net;
	if (engine)
		scenario_option(net->s, "-R", engine);
}

static void net_up(struct net *net, const char *spec, uint64_t seed, const char *engine)
{
	struct subnet *subnet;

	net_make(net, spec, seed, engine);
	scenario_start(net->s);
	scenario_converge(net->s, 20);
	subnet = slot_take(&daemon_context(net->s->daemon)->subnet);
	net->n_blocks = subnet->routing->n_blocks;
	subnet_unref(subnet);
}

static void net_stop(struct net *net)
{
	scenario_stop(net->s);
	journal_free(net->env.journal);
	net->env.journal = NULL;
}

static void net_free(struct net *net)
{
	net_stop(net);
	scenario_free(net->s);
}

/* The answer to a line of the console; g_free it. */
static char *ask(struct net *net, const char *line)
{
	struct command_answer answer;

	command_run(&net->env, line, true, &answer);
	scenario_expect(net->s, !answer.failed);
	return answer.text;
}

/* ---- the tables of the switches ---- */

static uint64_t blocks_sent(const struct net *net)
{
	return counter_get(&daemon_context(net->s->daemon)->counters, lft_blocks_set);
}

/* Of all nodes one after the other, as far as LIDs go; zero for those that are not switches. */
static uint8_t *tables(const struct net *net)
{
	size_t row = (size_t)net->n_blocks * BLOCK;
	uint8_t *all = g_malloc0(row * net->n);

	for (unsigned int i = 0; i < net->n; i++) {
		struct sim_node_view view;

		sim_node_view(net->s->sim, i, &view);
		if (view.lft)
			memcpy(all + i * row, view.lft, row);
	}
	return all;
}

/* Number of blocks that differ, without those of one node. */
static unsigned int differ(const struct net *net, const uint8_t *a, const uint8_t *b,
			   unsigned int but)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < net->n * net->n_blocks; i++)
		n += i / net->n_blocks != but &&
		     memcmp(a + (size_t)i * BLOCK, b + (size_t)i * BLOCK, BLOCK) != 0;
	return n;
}

/* What a change costs. */
struct cost {
	unsigned int lost, back; /* blocks */
};

/*
 * A cable or a node goes and comes back: each block is sent once, except if some of its entries
 * wait for a link that comes up, and others do not; in the end all is as before.
 */
static struct cost lose_and_return(struct net *net, unsigned int node, unsigned int port)
{
	g_autofree uint8_t *before = tables(net), *without = NULL, *after = NULL;
	uint64_t sent = blocks_sent(net), differing;
	struct cost cost;

	if (port)
		sim_link_set(net->s->sim, node, port, false);
	else
		sim_node_set(net->s->sim, node, false);
	scenario_converge(net->s, 30);
	cost.lost = (unsigned int)(blocks_sent(net) - sent);
	without = tables(net);
	scenario_expect_at_most(net->s, cost.lost,
				differ(net, before, without, port ? UINT_MAX : node));
	sent = blocks_sent(net);
	if (port)
		sim_link_set(net->s->sim, node, port, true);
	else
		sim_node_set(net->s->sim, node, true);
	scenario_converge(net->s, 30);
	cost.back = (unsigned int)(blocks_sent(net) - sent);
	after = tables(net);
	scenario_expect(net->s, differ(net, before, after, UINT_MAX) == 0);
	differing = differ(net, without, after, UINT_MAX);
	scenario_expect_at_most(net->s, cost.back, differing + differing / 3);
	return cost;
}

/* ---- one thing lost and back ---- */

static bool has_hosts(const struct net *net, unsigned int node)
{
	struct sim_node_view view;
	unsigned int peer, peer_port;

	sim_node_view(net->s->sim, node, &view);
	for (unsigned int p = 1; p <= view.num_ports; p++) {
		struct sim_node_view other;

		if (!sim_peer(net->s->sim, node, p, &peer, &peer_port))
			continue;
		sim_node_view(net->s->sim, peer, &other);
		if (other.type != IBA_NODE_SWITCH)
			return true;
	}
	return false;
}

/* A switch with or without hosts, other than that of the SM. */
static unsigned int some_switch(struct net *net, bool leaf)
{
	unsigned int sm_port, sm = scenario_sm_node(net->s, &sm_port), at = sm, node;

	sim_peer(net->s->sim, sm, sm_port, &at, &sm_port);
	do
		node = scenario_random_switch(net->s);
	while (has_hosts(net, node) != leaf || node == at);
	return node;
}

static void net_of_round(struct net *net, int round)
{
	net_up(net, "fattree:8", (uint64_t)(round / ENGINES) + 1, engines[round % ENGINES]);
}

START_TEST(link_lost_and_back)
{
	unsigned int node, port;
	struct cost cost;
	struct net net;

	net_of_round(&net, _i);
	scenario_random_link(net.s, &node, &port);
	cost = lose_and_return(&net, node, port);
	scenario_expect(net.s, cost.lost > 0);
	/* of 320: leaves and spines of other pods, each for the hosts of one */
	scenario_expect_at_most(net.s, cost.lost, 100);
	scenario_expect_at_most(net.s, cost.back, 100);
	net_free(&net);
}
END_TEST

struct requests {
	uint64_t gets, sets; /* the latter without LFT blocks */
};

/* Requests to SMAs in the half second after a cable was pulled or plugged. */
static struct requests requests_for(struct net *net, unsigned int node, unsigned int port, bool up)
{
	struct sim_counters before = scenario_counters(net->s), after;
	uint64_t sent = blocks_sent(net);

	sim_link_set(net->s->sim, node, port, up);
	scenario_run_ms(net->s, 500);
	after = scenario_counters(net->s);
	scenario_check(net->s);
	sent = blocks_sent(net) - sent;
	scenario_expect(net->s, sent > 0);
	return (struct requests){
		.gets = after.gets - before.gets,
		.sets = after.sets - before.sets - sent,
	};
}

/* Both switches report their ports, once, and no table is read. */
START_TEST(link_lost_in_few_mads)
{
	const unsigned int infos = 2 * (1 + 9); /* SwitchInfo, PortInfo of all ports */
	const unsigned int neighbour = 1, states = 2 * 2, trees = 6;
	const unsigned int reset = 2, calm = 1; /* LFT and MFT block, and SwitchInfo at the end */
	const unsigned int own = 2; /* the node behind the SM's port, and the port's state */
	unsigned int node, port;
	struct requests asked;
	struct net net;

	net_make(&net, "fattree:8", 1 + (unsigned int)_i, engines[_i % ENGINES]);
	scenario_option(net.s, "-s", "0");
	scenario_start(net.s);
	scenario_converge(net.s, 20);
	scenario_random_link(net.s, &node, &port);
	asked = requests_for(&net, node, port, false);
	scenario_expect_at_most(net.s, asked.gets, infos + own);
	scenario_expect_at_most(net.s, asked.sets, 2 + trees); /* PortStateChange */
	asked = requests_for(&net, node, port, true);
	scenario_expect_at_most(net.s, asked.gets, infos + 2 * (neighbour + reset + calm) + own);
	scenario_expect_at_most(net.s, asked.sets, 2 + states + trees);
	net_free(&net);
}
END_TEST

START_TEST(spine_lost_and_back)
{
	struct cost cost;
	struct net net;

	net_of_round(&net, _i);
	cost = lose_and_return(&net, some_switch(&net, false), 0);
	scenario_expect(net.s, cost.lost > 0);
	scenario_expect_at_most(net.s, cost.lost, 200);
	scenario_expect_at_most(net.s, cost.back, 200 + net.n_blocks);
	net_free(&net);
}
END_TEST

/*
 * A leaf is not a transit for other leaves' hosts. But spines of a pod reach each other through it:
 * they take another. When it is back it gets its own table.
 */
START_TEST(leaf_reboots)
{
	struct cost cost;
	struct net net;

	net_of_round(&net, _i);
	cost = lose_and_return(&net, some_switch(&net, true), 0);
	scenario_expect_at_most(net.s, cost.lost, 32);
	scenario_expect_at_most(net.s, cost.back, 32 + net.n_blocks);
	net_free(&net);
}
END_TEST

START_TEST(host_reboots)
{
	struct cost cost;
	struct net net;

	net_of_round(&net, _i);
	cost = lose_and_return(&net, scenario_random_host(net.s), 0);
	scenario_expect_at_most(net.s, cost.lost, 0);
	scenario_expect_at_most(net.s, cost.back, 0);
	net_free(&net);
}
END_TEST

/* A new host costs a block of each switch: that of its LID. */
START_TEST(host_added)
{
	static const char *const specs[] = {
		"torus:4x4:2", "mesh:4x4:3", "random:20:5:3:1", "dragonfly:4:2:2",
	};
	unsigned int node;
	uint64_t sent;
	struct net net;

	net_make(&net, specs[_i / 2], 1, engines[_i % 2]);
	net.s->sm_guid = sim_port_guid(net.s->sim, scenario_node(net.s, "host-0"), 1);
	node = scenario_random_host(net.s);
	sim_node_set(net.s->sim, node, false);
	scenario_start(net.s);
	scenario_converge(net.s, 20);
	sent = blocks_sent(&net);
	sim_node_set(net.s->sim, node, true);
	scenario_converge(net.s, 20);
	scenario_expect_at_most(net.s, blocks_sent(&net) - sent, scenario_switches(net.s));
	net_free(&net);
}
END_TEST

/* Many losses in any order; when all are back the tables are as at first. */
START_TEST(storm_is_forgotten)
{
	unsigned int nodes[12], ports[12];
	g_autofree uint8_t *before = NULL, *after = NULL;
	struct net net;

	net_of_round(&net, _i);
	before = tables(&net);
	for (unsigned int i = 0; i < G_N_ELEMENTS(nodes); i++) {
		scenario_random_link(net.s, &nodes[i], &ports[i]);
		sim_link_set(net.s->sim, nodes[i], ports[i], false);
		scenario_run_ms(net.s, scenario_random(net.s, 400));
		if (i % 3)
			continue;
		sim_link_set(net.s->sim, nodes[i], ports[i], true);
		scenario_converge(net.s, 30);
	}
	scenario_converge(net.s, 30);
	for (unsigned int i = 0; i < G_N_ELEMENTS(nodes); i++) {
		sim_link_set(net.s->sim, nodes[i], ports[i], true);
		scenario_run_ms(net.s, scenario_random(net.s, 400));
	}
	scenario_converge(net.s, 30);
	after = tables(&net);
	scenario_expect(net.s, differ(&net, before, after, UINT_MAX) == 0);
	net_free(&net);
}
END_TEST

/* ---- reroute ---- */

/* Blocks that a daemon started now would write: none if routes are as in a full recomputation. */
static unsigned int drift(struct net *net)
{
	net_stop(net);
	scenario_start(net->s);
	scenario_converge(net->s, 20);
	return (unsigned int)blocks_sent(net);
}

/*
 * The operator's reroute recomputes everything, as a restart does, even if the sweep has more to
 * do; before it routes were repaired.
 */
START_TEST(reroute_starts_afresh)
{
	unsigned int drifted = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		for (unsigned int reroute = 0; reroute < 3; reroute++) {
			unsigned int node, port;
			struct net net;

			net_up(&net, "fattree:8", seed, engines[_i]);
			scenario_random_link(net.s, &node, &port);
			sim_link_set(net.s->sim, node, port, false);
			scenario_converge(net.s, 20);
			if (reroute > 1)
				g_free(ask(&net, "resweep heavy"));
			if (reroute) {
				g_free(ask(&net, "reroute"));
				scenario_run_ms(net.s, 3000);
				scenario_check(net.s);
				scenario_expect(net.s, drift(&net) == 0);
			} else {
				drifted += drift(&net);
			}
			net_free(&net);
		}
	}
	ck_assert_uint_gt(drifted, 0);
}
END_TEST

static const struct {
	const char *spec, *engine, *conf;
} choices[] = {
	{"torus:4x4", "minhop", "scatter_ports 7\n"},
	{"torus:4x4", "minhop", "port_shifting TRUE\n"},
	{"torus:5x5", "nue", "nue_max_num_vls 3\n"},
};

/* Options of routing are changed: the tables are then as after a restart with them. */
START_TEST(other_options_are_followed)
{
	g_autofree uint8_t *before = NULL, *after = NULL;
	struct net net;

	net_up(&net, choices[_i].spec, 1, choices[_i].engine);
	before = tables(&net);
	scenario_conf(net.s, choices[_i].conf);
	scenario_expect(net.s, daemon_reread(net.s->daemon, NULL));
	scenario_heavy_sweep(net.s, 20);
	scenario_run_ms(net.s, 1000);
	after = tables(&net);
	scenario_expect(net.s, differ(&net, before, after, UINT_MAX) > 0);
	scenario_expect(net.s, drift(&net) == 0);
	net_free(&net);
}
END_TEST

/* ---- engines ---- */

static void expect_status(struct net *net, const char *text, bool there)
{
	g_autofree char *status = ask(net, "status");

	if ((strstr(status, text) != NULL) != there)
		scenario_fail(net->s, "status %s \"%s\":\n%s", there ? "lacks" : "has", text,
			      status);
}

/* Where the log continues after the first mention; an offset, since the log moves as it grows. */
static size_t after_first(const struct net *net, const char *text)
{
	const char *log = net->s->text->str, *at = strstr(log, text);

	scenario_expect(net->s, at != NULL);
	return (size_t)(at - log) + 1;
}

/* A line of the log with this text must (not) begin as errors do. */
static void expect_error(struct net *net, const char *text)
{
	const char *at = strstr(net->s->text->str, text), *line = at;

	scenario_check_log(net->s, text, true);
	while (line > net->s->text->str && line[-1] != '\n')
		line--;
	if (!g_strstr_len(line, at - line, " 0x01 -> "))
		scenario_fail(net->s, "\"%s\" is no error", text);
}

/* An engine's note on its routes is logged, once. */
START_TEST(note_is_told)
{
	struct net net;
	size_t after;

	net_up(&net, "torus:5x5:1", 1, "dor");
	scenario_check_log(net.s, "routing engine dor: can deadlock: ", true);
	after = after_first(&net, "routing engine dor: ");
	g_free(ask(&net, "reroute"));
	scenario_run_ms(net.s, 3000);
	scenario_expect(net.s, !strstr(net.s->text->str + after, "routing engine dor: "));
	net_free(&net);
}
END_TEST

START_TEST(fall_back_is_announced)
{
	struct net net;
	const char *at;
	size_t after;

	net_up(&net, "torus:3x3x3:1", 1, "ftree,dnup");
	expect_error(&net, "routing engine ftree: ");
	expect_error(&net, "falling back to routing engine dnup");
	expect_status(&net, "dnup", true);
	expect_status(&net, "it is a fallback; ftree: ", true);
	after = after_first(&net, "routing engine ftree: ");
	g_free(ask(&net, "reroute"));
	scenario_run_ms(net.s, 3000);
	at = net.s->text->str + after;
	scenario_expect(net.s, !strstr(at, "routing engine ftree: ")); /* nothing new */
	scenario_expect(net.s, !strstr(at, "falling back") ||
				       !strstr(strstr(at, "falling back") + 1, "falling back"));
	expect_status(&net, "it is a fallback; ftree: ", true);
	net_free(&net);
	net_up(&net, "torus:3x3x3:1", 1, "ftree");
	expect_error(&net, "falling back to routing engine updn");
	net_free(&net);
	net_up(&net, "fattree:4", 1, "ftree,updn");
	scenario_check_log(net.s, "falling back", false);
	expect_status(&net, "fallback", false);
	net_free(&net);
}
END_TEST

/* Every engine needs more than 1 MB; updn is used anyway, as what comes after it may deadlock. */
START_TEST(memory_is_limited)
{
	struct net net;

	net_make(&net, "torus:3x3x3:1", 1, "dfsssp,updn");
	scenario_conf(net.s, "routing_memory 1\n");
	scenario_start(net.s);
	scenario_converge(net.s, 20);
	expect_error(&net, "dfsssp: it may need 2 MB of memory, and routing_memory allows 1 MB");
	expect_error(&net, "updn: it may need 2 MB of memory, and routing_memory allows 1 MB; it "
			   "is used anyway");
	scenario_check_log(net.s, "minhop", false);
	expect_status(&net, "updn", true);
	net_free(&net);
	net_up(&net, "torus:3x3x3:1", 1, "dfsssp");
	scenario_check_log(net.s, "routing_memory", false);
	net_free(&net);
}
END_TEST

/* Then no switch gets a table, and health does not mistake that for a full disk. */
START_TEST(no_fallback_is_obeyed)
{
	struct net net;
	struct command_env env = {0};
	struct command_answer answer;

	net_make(&net, "torus:3x3x3:1", 1, "ftree,no_fallback");
	scenario_start(net.s);
	scenario_run_ms(net.s, 20 * 1000);
	expect_error(&net, "none of the allowed routing engines can route this subnet: ftree: ");
	scenario_check_log(net.s, "falling back", false);
	scenario_check_log(net.s, "SUBNET UP", false);
	scenario_expect(net.s, blocks_sent(&net) == 0);
	env.daemon = net.s->daemon;
	command_run(&env, "health", true, &answer);
	ck_assert_ptr_nonnull(strstr(answer.text, "NOT HEALTHY"));
	ck_assert_ptr_null(strstr(answer.text, "could not be written"));
	g_free(answer.text);
	net_free(&net);
}
END_TEST

/* A loop that only deadlocks packets to or from switches does not concern hosts: a warning. */
START_TEST(loop_of_switches_is_told)
{
	struct net net;

	net_up(&net, "ring.topo", 1, "minhop");
	scenario_expect(net.s, strstr(net.s->text->str,
				      "WARNING: routes of minhop have a credit loop through LIDs "
				      "of switches only: credit loop: switch-"));
	scenario_check_log(net.s, "the fabric can deadlock", false);
	expect_status(&net, "ERROR", false);
	expect_status(&net,
		      "WARNING              : packets to or from switches can deadlock; credit "
		      "loop: ",
		      true);
	net_free(&net);
}
END_TEST

/* A ring on which hosts send both ways round: logged at ERROR once, and as long as it lasts. */
START_TEST(credit_loop_is_told)
{
	const char *text = "routes of minhop have a credit loop: the fabric can deadlock";
	unsigned int node, port;
	const char *at;
	struct net net;
	size_t after;

	net_up(&net, "torus:6:1", 1, "minhop");
	expect_error(&net, text);
	at = strstr(net.s->text->str, text);
	after = after_first(&net, text);
	scenario_expect(net.s, g_strstr_len(at, strcspn(at, "\n"), "credit loop: switch-"));
	scenario_expect(net.s, g_strstr_len(at, strcspn(at, "\n"), " -> "));
	expect_status(&net, "ERROR                : the fabric can deadlock; credit loop: ", true);
	g_free(ask(&net, "reroute"));
	scenario_run_ms(net.s, 3000);
	scenario_expect(net.s, !strstr(net.s->text->str + after, text)); /* not again and again */
	scenario_random_link(net.s, &node, &port);
	sim_link_set(net.s->sim, node, port, false); /* a line, no longer a ring */
	scenario_converge(net.s, 20);
	expect_status(&net, "can deadlock", false);
	sim_link_set(net.s->sim, node, port, true);
	scenario_converge(net.s, 20);
	expect_status(&net, "can deadlock", true);
	net_free(&net);
	net_up(&net, "torus:6:1", 1, "updn");
	scenario_check_log(net.s, "credit loop", false);
	expect_status(&net, "can deadlock", false);
	net_free(&net);
}
END_TEST

/* Tables in which two switches send each other the packets for a host. */
static char *looping_tables(struct net *net)
{
	char *path = g_build_filename(net->s->directory, "lfts", NULL);
	uint64_t host = sim_port_guid(net->s->sim, scenario_node(net->s, "host-1"), 1);
	GString *text = g_string_new(NULL);

	for (unsigned int node = 0; node < net->n; node++) {
		struct sim_node_view view, other = { 0 };
		unsigned int port = 0, peer, peer_port;

		sim_node_view(net->s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH)
			continue;
		while (other.type != IBA_NODE_SWITCH && port++ < view.num_ports)
			if (sim_peer(net->s->sim, node, port, &peer, &peer_port))
				sim_node_view(net->s->sim, peer, &other);
		g_string_append_printf(text,
				       "Unicast lids [0x0-0x1] of switch Lid 0 guid "
				       "0x%016" PRIx64 " (a):\n"
				       "0x0001 %03u : (Channel Adapter portguid "
				       "0x%016" PRIx64 ": 'h')\n1 valid lids dumped\n",
				       view.node_guid, port, host);
	}
	g_assert(g_file_set_contents(path, text->str, -1, NULL));
	g_string_free(text, TRUE);
	return path;
}

/* The contents of an operator's file are checked before any switch gets them. */
START_TEST(wrong_tables_are_not_used)
{
	const char *text = "file: its routes are invalid and are not used: LID ";

	for (unsigned int fallback = 0; fallback < 2; fallback++) {
		g_autofree char *path = NULL;
		struct net net;

		net_make(&net, "mesh:2:1", 1, fallback ? "file" : "file,no_fallback");
		path = looping_tables(&net);
		scenario_option(net.s, "-U", path);
		scenario_start(net.s);
		if (fallback)
			scenario_converge(net.s, 20);
		else
			scenario_run_ms(net.s, 5000);
		expect_error(&net, text);
		scenario_check_log(net.s, ": loop: ", true);
		scenario_expect(net.s, (blocks_sent(&net) != 0) == fallback);
		if (fallback)
			expect_error(&net, "falling back to routing engine updn");
		net_free(&net);
	}
}
END_TEST

/* The forwarding tables of the switches, as a file; port 99 in the first entry if wrong. */
static void write_tables(struct net *net, const char *path, bool wrong)
{
	GString *text = g_string_new(NULL);

	for (unsigned int node = 0; node < net->n; node++) {
		struct sim_node_view view;

		sim_node_view(net->s->sim, node, &view);
		if (!view.lft)
			continue;
		g_string_append_printf(text, "Unicast lids [0x0-0x1] of switch Lid 0 guid "
				       "0x%016" PRIx64 " (a):\n", view.node_guid);
		for (unsigned int lid = 1; lid < net->n_blocks * BLOCK; lid++) {
			if (view.lft[lid] == ROUTE_NO_PORT)
				continue;
			g_string_append_printf(text, "0x%04x %03u\n", lid,
					       wrong ? 99 : view.lft[lid]);
			wrong = false;
		}
	}
	g_assert(g_file_set_contents(path, text->str, -1, NULL));
	g_string_free(text, TRUE);
}

static void write_guid(const char *path, uint64_t guid)
{
	g_autofree char *text = g_strdup_printf("0x%" PRIx64 "\n", guid);

	g_assert(g_file_set_contents(path, text, -1, NULL));
}

static void write_root(struct net *net, const char *path, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(net->s->sim, node, &view);
	write_guid(path, view.node_guid);
}

/* Names a switch of the net, or none. */
static void write_roots(struct net *net, const char *path, bool wrong)
{
	if (wrong)
		write_guid(path, 0xdead);
	else
		write_root(net, path, scenario_random_switch(net->s));
}

static void reread(struct net *net)
{
	scenario_expect(net->s, daemon_reread(net->s->daemon, NULL));
	scenario_heavy_sweep(net->s, 20);
	scenario_run_ms(net->s, 1000);
}

/* Roots that do not exist: still no deadlock, and the operator's roots are used once they do. */
START_TEST(roots_that_do_not_do_leave_updn)
{
	g_autofree char *path = NULL;
	struct net net;

	net_make(&net, "torus:6:1", 1, "updn");
	path = g_build_filename(net.s->directory, "input", NULL);
	write_roots(&net, path, true);
	scenario_option(net.s, "-a", path);
	scenario_start(net.s);
	scenario_converge(net.s, 20);
	expect_error(&net, "routing engine updn: there is no root: 1 root GUIDs are not in the");
	expect_error(&net, "falling back to routing engine updn with roots that it chooses");
	scenario_check_log(net.s, "credit loop", false);
	expect_status(&net, "it is a fallback; updn: there is no root: ", true);
	write_roots(&net, path, false);
	reread(&net);
	scenario_check_log(net.s, "routing engine updn, the first of the list, is in use again",
			   true);
	expect_status(&net, "fallback", false);
	write_roots(&net, path, true);
	g_free(ask(&net, "reroute")); /* reads them again, as the classic daemon does */
	scenario_run_ms(net.s, 3000);
	expect_error(&net, "last usable routing files stay in effect: updn: there is no root: 1 "
			   "root GUIDs are not in");
	expect_status(&net, "the last usable routing files stay in effect", true);
	write_roots(&net, path, false);
	g_free(ask(&net, "resweep heavy"));
	scenario_run_ms(net.s, 3000);
	expect_status(&net, "the last usable routing files stay in effect", false);
	scenario_check(net.s);
	net_free(&net);
}
END_TEST

/* Earlier contents of the file could not be used, so they are not kept once the new ones can. */
START_TEST(roots_that_did_not_do_do_not_stay)
{
	g_autofree char *path = NULL;
	unsigned int root;
	struct net net;

	net_make(&net, "torus:6:1", 1, "updn");
	net.s->sm_guid = sim_port_guid(net.s->sim, scenario_node(net.s, "host-0"), 1);
	root = scenario_node(net.s, "switch-3");
	path = g_build_filename(net.s->directory, "input", NULL);
	write_root(&net, path, root);
	scenario_option(net.s, "-a", path);
	sim_node_set(net.s->sim, root, false);
	scenario_start(net.s);
	scenario_converge(net.s, 20);
	expect_error(&net, "falling back to routing engine updn with roots that it chooses");
	write_roots(&net, path, true);
	sim_node_set(net.s->sim, root, true);
	reread(&net);
	scenario_check_log(net.s, "the last usable routing files stay", false);
	expect_status(&net, "it is a fallback; updn: there is no root: ", true);
	net_free(&net);
}
END_TEST

/* A file that is right in itself, but not for this subnet, does not change the engine. */
START_TEST(a_file_that_does_not_do_is_not_used)
{
	static const struct {
		const char *engine, *option;
		void (*write)(struct net *net, const char *path, bool wrong);
		const char *told;
	} cases[] = {
		{"file", "-U", write_tables, "input:2: port 99, but switch 0x"},
		{"updn", "-a", write_roots,
		 "files stay in effect: updn: there is no root: 1 root GUIDs "},
	};
	const char *text = "the last usable routing files stay in effect: ";
	g_autofree char *path = NULL;
	g_autofree uint8_t *before = NULL, *now = NULL;
	struct net net;
	size_t after;

	net_up(&net, "fattree:4", 1, "minhop");
	path = g_build_filename(net.s->directory, "input", NULL);
	cases[_i].write(&net, path, false);
	net_stop(&net);
	scenario_option(net.s, cases[_i].option, path);
	scenario_option(net.s, "-R", cases[_i].engine);
	scenario_start(net.s);
	scenario_converge(net.s, 20);
	before = tables(&net);
	cases[_i].write(&net, path, true);
	reread(&net);
	now = tables(&net);
	scenario_expect(net.s, differ(&net, before, now, UINT_MAX) == 0);
	expect_error(&net, text);
	scenario_check_log(net.s, cases[_i].told, true);
	scenario_check_log(net.s, "falling back", false);
	expect_status(&net,
		      "ERROR                : the last usable routing files stay in effect; ",
		      true);
	expect_status(&net, "fallback", false);
	after = after_first(&net, text);
	reread(&net);
	scenario_expect(net.s, !strstr(net.s->text->str + after, text)); /* nothing new */
	expect_status(&net, "the last usable routing files stay in effect", true);
	cases[_i].write(&net, path, false);
	reread(&net);
	scenario_check_log(net.s, "the current routing files are in effect", true);
	expect_status(&net, "the last usable routing files stay in effect", false);
	scenario_check(net.s);
	net_free(&net);
}
END_TEST

static bool same_tables(const struct routing *a, const struct routing *b)
{
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		if (memcmp(a->lft[sw], b->lft[sw], a->top + 1) != 0)
			return false;
	return a->top == b->top;
}

/* Two halves of the hosts that do not talk to each other, as a file; g_free the result. */
static char *write_halves(const struct net *net)
{
	g_autoptr(GString) text = g_string_new("Default=0x7fff : ALL=limited;\n");
	char *path = g_build_filename(net->s->directory, "partitions.conf", NULL);

	for (unsigned int half = 0; half < 2; half++) {
		g_string_append_printf(text, "Half%u=0x%x :", half, half + 1);
		for (unsigned int i = half; i < net->n; i += 2) {
			struct sim_node_view view;

			sim_node_view(net->s->sim, i, &view);
			if (view.type == IBA_NODE_CA)
				g_string_append_printf(text, " 0x%" PRIx64 "=full,",
						       sim_port_guid(net->s->sim, i, 1));
		}
		g_string_append(text, ";\n");
	}
	scenario_expect(net->s, g_file_set_contents(path, text->str, -1, NULL));
	return path;
}

/* Whether the tables in use are those of minhop for the pairs that partitions let talk. */
static bool follows_partitions(const struct net *net)
{
	struct subnet *subnet = slot_take(&daemon_context(net->s->daemon)->subnet);
	struct route_demand *demand = demand_of_partitions(subnet->partitions);
	const struct route_input input = {.threads = 1, .demand = demand};
	struct routing *expected =
		route_compute(route_find("minhop"), subnet->fabric, &input, NULL);
	bool same = same_tables(subnet->routing, expected);

	routing_unref(expected);
	demand_free(demand);
	subnet_unref(subnet);
	return same;
}

/* From the first sweep on, if the operator wants it. */
START_TEST(routes_mind_partitions)
{
	struct net net;
	g_autofree char *path = NULL;

	net_make(&net, "torus:4x4:2", 1, "minhop");
	path = write_halves(&net);
	scenario_option(net.s, "--Pconfig", path);
	if (_i)
		scenario_option(net.s, "--partition_aware_routing", NULL);
	scenario_start(net.s);
	scenario_run_ms(net.s, 1000);
	scenario_check_log(net.s, "SUBNET UP", true);
	scenario_expect(net.s, _i == follows_partitions(&net));
	net_free(&net);
}
END_TEST

/* Some hosts get other names while it runs, as each does that boots, or join later. */
START_TEST(routes_follow_names)
{
	struct net net;
	g_autofree char *path = NULL;
	unsigned int n = 0;

	net_make(&net, "torus:4x4:2", 1, "minhop");
	path = g_build_filename(net.s->directory, "partitions.conf", NULL);
	scenario_expect(net.s, g_file_set_contents(path, "Default=0x7fff : ALL=limited;\n"
						   "A=1 : \"host-*\"=full;\n"
						   "B=2 : \"job-*\"=full;\n", -1, NULL));
	scenario_option(net.s, "--Pconfig", path);
	scenario_option(net.s, "--partition_aware_routing", NULL);
	scenario_start(net.s);
	scenario_run_ms(net.s, 3000);
	scenario_check_log(net.s, "SUBNET UP", true);
	scenario_expect(net.s, follows_partitions(&net));
	for (unsigned int i = 0; i < net.n; i++) {
		struct sim_node_view view;
		g_autofree char *name = g_strdup_printf("job-%u", i);

		sim_node_view(net.s->sim, i, &view);
		if (view.type == IBA_NODE_CA && n++ % 3 == 0)
			sim_set_description(net.s->sim, i, name);
	}
	scenario_run_ms(net.s, 5000);
	scenario_expect(net.s, follows_partitions(&net));
	net_free(&net);
}
END_TEST

/* The first two spines are tied to the halves; g_free the result. */
static char *write_ties(const struct net *net, uint64_t other)
{
	g_autoptr(GString) text = g_string_new("0xdead 1\n");
	char *path = g_build_filename(net->s->directory, "ties", NULL);
	unsigned int half = 0;

	for (unsigned int i = 0; i < net->n && half < 2; i++) {
		struct sim_node_view view;

		sim_node_view(net->s->sim, i, &view);
		if (g_str_has_prefix(view.description, "core"))
			g_string_append_printf(text, "0x%" PRIx64 " %" PRIu64 "\n",
					       view.node_guid,
					       1 + (half++ + other) % 2);
	}
	scenario_expect(net->s, half == 2);
	scenario_expect(net->s, g_file_set_contents(path, text->str, -1, NULL));
	return path;
}

/* Whether the tables in use are those that follow from partitions and the file of ties. */
static bool follows_ties(const struct net *net, const char *path)
{
	struct subnet *subnet = slot_take(&daemon_context(net->s->daemon)->subnet);
	g_autoptr(GArray) rows = ties_load(path, NULL, NULL);
	struct route_ties *ties = ties_make(rows, subnet->partitions);
	const struct route_input input = {.threads = 1, .ties = ties}, none = {.threads = 1};
	struct routing *expected = route_compute(route_find("updn"), subnet->fabric, &input, NULL);
	struct routing *without = route_compute(route_find("updn"), subnet->fabric, &none, NULL);
	bool same = same_tables(subnet->routing, expected);

	scenario_expect(net->s, !same_tables(expected, without));
	routing_unref(expected);
	routing_unref(without);
	ties_free(ties);
	subnet_unref(subnet);
	return same;
}

/* Partitions use the cables that they are tied to, also when partitions and files are reread. */
START_TEST(partitions_keep_to_their_cables)
{
	struct net net;
	g_autofree char *path = NULL, *ties = NULL;

	net_make(&net, "fattree:4", 1, "updn");
	path = write_halves(&net);
	ties = write_ties(&net, 0);
	scenario_option(net.s, "--Pconfig", path);
	scenario_option(net.s, "--partition_links_file", ties);
	scenario_start(net.s);
	scenario_run_ms(net.s, 1000);
	scenario_check_log(net.s, "SUBNET UP", true);
	scenario_expect(net.s, follows_ties(&net, ties));
	scenario_check_log(net.s, "partition_links_file: 1 of 3 lines name no switch, port or "
				  "partition of the subnet (0x000000000000dead", true);
	g_free(write_ties(&net, 1));
	reread(&net);
	scenario_expect(net.s, follows_ties(&net, ties));
	scenario_expect(net.s, g_file_set_contents(path, "Default=0x7fff:ALL=full;Half=1:ALL;", -1,
						   NULL));
	scenario_expect(net.s, daemon_reread_partitions(net.s->daemon));
	daemon_sweep(net.s->daemon, SWEEP_POLICY);
	scenario_run_ms(net.s, 3000);
	scenario_expect(net.s, follows_ties(&net, ties));
	scenario_check(net.s);
	net_free(&net);
}
END_TEST

static bool all_have_sls(const struct net *net)
{
	struct subnet *subnet = slot_take(&daemon_context(net->s->daemon)->subnet);
	const struct fabric *fabric = subnet->fabric;
	bool all = true;

	for (uint32_t a = 0; a < fabric->n_ports; a++)
		for (uint32_t b = 0; b < fabric->n_ports; b++) {
			uint8_t sl = 0;

			if (fabric_is_endport(fabric, a) && fabric_is_endport(fabric, b) &&
			    !fabric_is_switch(fabric, fabric->ports[a].node) &&
			    !fabric_is_switch(fabric, fabric->ports[b].node))
				all &= routing_path_sl(subnet->routing, fabric, a, b, false, &sl);
		}
	subnet_unref(subnet);
	return all;
}

/* Hosts that may talk since partitions.conf was reread have lanes as soon as that is in use. */
START_TEST(routes_follow_partitions)
{
	struct net net;
	g_autofree char *path = NULL;

	net_make(&net, "torus:6x6:1", 1, "lash");
	path = write_halves(&net);
	scenario_option(net.s, "--Pconfig", path);
	scenario_option(net.s, "--partition_aware_routing", NULL);
	scenario_start(net.s);
	scenario_run_ms(net.s, 3000);
	scenario_check_log(net.s, "SUBNET UP", true);
	scenario_check_log(net.s, "share no partition and have no virtual lane", true);
	scenario_expect(net.s, !all_have_sls(&net));
	scenario_expect(net.s, g_file_set_contents(path, "Default=0x7fff : ALL=full;\n", -1, NULL));
	scenario_expect(net.s, daemon_reread_partitions(net.s->daemon));
	daemon_sweep(net.s->daemon, SWEEP_POLICY);
	scenario_run_ms(net.s, 3000);
	scenario_expect(net.s, all_have_sls(&net));
	scenario_check(net.s);
	net_free(&net);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scenario_routing");
	TCase *tcase = tcase_create("routing"), *partitions = tcase_create("partitions");

	tcase_add_loop_test(tcase, link_lost_and_back, 0, some_seeds(SEEDS) * ENGINES);
	tcase_add_loop_test(tcase, link_lost_in_few_mads, 0, some_seeds(SEEDS) * ENGINES);
	tcase_add_loop_test(tcase, spine_lost_and_back, 0, some_seeds(SEEDS) * ENGINES);
	tcase_add_loop_test(tcase, leaf_reboots, 0, some_seeds(SEEDS) * ENGINES);
	tcase_add_loop_test(tcase, host_reboots, 0, some_seeds(SEEDS) * ENGINES);
	tcase_add_loop_test(tcase, host_added, 0, 8);
	tcase_add_loop_test(tcase, storm_is_forgotten, 0, ENGINES);
	tcase_add_loop_test(tcase, reroute_starts_afresh, 0, 2);
	tcase_add_loop_test(tcase, other_options_are_followed, 0, G_N_ELEMENTS(choices));
	tcase_add_test(tcase, note_is_told);
	tcase_add_test(tcase, fall_back_is_announced);
	tcase_add_test(tcase, memory_is_limited);
	tcase_add_test(tcase, no_fallback_is_obeyed);
	tcase_add_test(tcase, credit_loop_is_told);
	tcase_add_test(tcase, loop_of_switches_is_told);
	tcase_add_test(tcase, wrong_tables_are_not_used);
	tcase_add_test(tcase, roots_that_do_not_do_leave_updn);
	tcase_add_test(tcase, roots_that_did_not_do_do_not_stay);
	tcase_add_loop_test(tcase, a_file_that_does_not_do_is_not_used, 0, 2);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(partitions, routes_mind_partitions, 0, 2);
	tcase_add_test(partitions, routes_follow_names);
	tcase_add_test(partitions, routes_follow_partitions);
	tcase_add_test(partitions, partitions_keep_to_their_cables);
	suite_add_tcase(suite, partitions);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Things break while the daemon watches. */
#include <check.h>

#include "client.h"
#include "core/counters.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

static struct scenario *up(const char *spec, uint64_t seed)
{
	struct scenario *s = scenario_new(spec, seed);

	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

START_TEST(link_pulled_and_restored)
{
	struct scenario *s = up("fattree:8", (uint64_t)_i);
	unsigned int node, port;

	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	/* The trap reports it: nothing waits for the next light sweep. */
	scenario_expect_at_most(s, scenario_converge(s, 9), 1000);
	sim_link_set(s->sim, node, port, true);
	scenario_expect_at_most(s, scenario_converge(s, 9), 1000);
	scenario_free(s);
}
END_TEST

/* If each sweep is a heavy one, there is no extra one for the link. */
START_TEST(heavy_sweeps_after_a_link)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	const struct counters *counters;
	unsigned int node, port;
	uint64_t before;

	scenario_conf(s, "force_heavy_sweep TRUE\n");
	scenario_start(s);
	scenario_converge(s, 10);
	counters = &daemon_context(s->daemon)->counters;
	before = counter_get(counters, sweeps_heavy);
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, 60 * 1000);
	scenario_expect_at_most(s, counter_get(counters, sweeps_heavy) - before, 8);
	scenario_free(s);
}
END_TEST

START_TEST(switch_killed_and_back)
{
	struct scenario *s = up("fattree:8", (uint64_t)_i);
	unsigned int node = scenario_random_switch(s);

	sim_node_set(s->sim, node, false);
	scenario_converge(s, 30);
	sim_node_set(s->sim, node, true);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

START_TEST(host_goes_and_comes)
{
	struct scenario *s = up("fattree:4", (uint64_t)_i);
	unsigned int node = scenario_random_host(s);
	uint16_t lid = scenario_lid(s, node);

	sim_node_set(s->sim, node, false);
	scenario_converge(s, 15);
	sim_node_set(s->sim, node, true);
	scenario_converge(s, 15);
	scenario_expect(s, scenario_lid(s, node) == lid);
	scenario_free(s);
}
END_TEST

static void note_first(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		       const uint8_t *data, size_t length)
{
	bool *written = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	*written |= scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE);
}

/* The published routes are for the fabric that they are published with. */
static void expect_routes_fit(struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);

	if (subnet && subnet->routing)
		scenario_expect(s, subnet->routing->n_switches == subnet->fabric->n_switches);
	subnet_unref(subnet);
}

/* A leaf dies while tables are written, and no trap reports it. */
START_TEST(switch_dies_in_the_bring_up)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	bool written = false;

	sim_set_trace(s->sim, note_first, &written);
	scenario_start(s);
	while (!written)
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + 100 * NS_PER_US);
	sim_set_traps_lost(s->sim, true);
	sim_node_set(s->sim, scenario_node(s, "leaf-2-1"), false);
	for (unsigned int i = 0; i < 3000; i++) {
		scenario_run_ms(s, 1);
		expect_routes_fit(s);
	}
	scenario_check_log(s, "the subnet changed while it was being configured", true);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

/* A host that was never there before. */
START_TEST(host_added)
{
	struct scenario *s = scenario_new("fattree:4", (uint64_t)_i);
	unsigned int node;

	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	node = scenario_random_host(s);
	sim_node_set(s->sim, node, false);
	scenario_start(s);
	scenario_converge(s, 10);
	sim_node_set(s->sim, node, true);
	scenario_expect_at_most(s, scenario_converge(s, 9), 1000);
	scenario_free(s);
}
END_TEST

/* The cable of the SM itself. */
START_TEST(own_link_flaps)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int port, node = scenario_sm_node(s, &port);

	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, 20 * 1000);
	sim_link_set(s->sim, node, port, true);
	scenario_converge(s, 60);
	scenario_free(s);
}
END_TEST

/* It bounces: the leaf's trap is the first to report it, and nothing has to be discovered again. */
START_TEST(own_link_bounces)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int port, node = scenario_sm_node(s, &port);

	scenario_run_ms(s, 3000);
	sim_link_flap(s->sim, scenario_node(s, "host-9"), 1, 1000, NS_PER_S, 1);
	sim_link_flap(s->sim, node, port, 1000, NS_PER_S, 1);
	scenario_converge(s, 10);
	scenario_check_log(s, "are gone", false);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	scenario_free(s);
}
END_TEST

/*
 * A host that keeps its LID reports the PortGUID of another one, and later its own again: it is
 * asked even if no trap reports that.
 */
START_TEST(stolen_port_guid)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int thief = scenario_node(s, "host-5"), victim = scenario_node(s, "host-9");

	scenario_run_ms(s, 3000);
	sim_set_port_guid(s->sim, thief, 1, sim_port_guid(s->sim, victim, 1));
	sim_link_flap(s->sim, thief, 1, 1000, NS_PER_S, 1);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "another port has the same GUID", true);
	sim_set_port_guid(s->sim, thief, 1, 0);
	if (_i)
		sim_link_flap(s->sim, thief, 1, 1000, NS_PER_S, 1);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

/* A host says it is the SM's, behind another switch. */
START_TEST(stolen_sm_node)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int thief = scenario_node(s, "host-9");
	struct sim_node_view sm, view;

	sim_node_view(s->sim, scenario_sm_node(s, NULL), &sm);
	sim_node_view(s->sim, thief, &view);
	scenario_run_ms(s, 3000);
	sim_set_node_guid(s->sim, thief, sm.node_guid);
	sim_link_flap(s->sim, thief, 1, 1000, NS_PER_S, 1);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "duplicate GUID", true);
	sim_set_node_guid(s->sim, thief, view.node_guid);
	sim_link_flap(s->sim, thief, 1, 1000, NS_PER_S, 1);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

/* ---- hosts with the GUIDs of others ---- */

/*
 * The hosts whose GUIDs another host takes: on one switch or not, nearer to the SM or farther from
 * it; and with two ports.
 */
static const struct {
	const char *spec, *thief, *victim;
} thefts[] = {
	{"fattree:4", "host-5", "host-4"}, {"fattree:4", "host-4", "host-5"},
	{"fattree:4", "host-5", "host-9"}, {"fattree:4", "host-9", "host-5"},
	{"fattree:4", "host-1", "host-9"}, {"dual_port.topo", "host-4", "host-8"},
	{"dual_port.topo", "host-9", "host-4"},
};

struct theft {
	struct scenario *s;
	unsigned int thief, victim;
	uint64_t own_guid;   /* of the thief */
	unsigned int ports;  /* of each of them */
	uint16_t lid;	     /* of port 1 of the accepted host */
	unsigned int tables; /* Sets of LFTs so far */
};

static void note_tables(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			const uint8_t *data, size_t length)
{
	struct theft *theft = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	theft->tables +=
		scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE);
}

static struct theft theft_new(unsigned int i)
{
	struct scenario *s = scenario_new(thefts[i].spec, 1);
	struct theft theft = {.s = s,
			      .thief = scenario_node(s, thefts[i].thief),
			      .victim = scenario_node(s, thefts[i].victim)};
	struct sim_node_view view;

	sim_node_view(s->sim, theft.thief, &view);
	theft.own_guid = view.node_guid;
	theft.ports = view.num_ports;
	return theft;
}

static void take_guids(const struct theft *theft)
{
	struct sim *sim = theft->s->sim;
	struct sim_node_view view;

	sim_node_view(sim, theft->victim, &view);
	sim_set_node_guid(sim, theft->thief, view.node_guid);
	for (unsigned int num = 1; num <= theft->ports; num++)
		sim_set_port_guid(sim, theft->thief, num, sim_port_guid(sim, theft->victim, num));
}

static void give_back(const struct theft *theft)
{
	sim_set_node_guid(theft->s->sim, theft->thief, theft->own_guid);
	for (unsigned int num = 1; num <= theft->ports; num++)
		sim_set_port_guid(theft->s->sim, theft->thief, num, 0);
}

static void plug(const struct theft *theft, unsigned int host, bool in)
{
	for (unsigned int num = 1; num <= theft->ports; num++)
		sim_link_set(theft->s->sim, host, num, in);
}

static unsigned int lines_with(const struct scenario *s, const char *text)
{
	unsigned int n = 0;

	for (const char *at = s->text->str; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static void expect_one_in(const struct theft *theft, unsigned int in, unsigned int out)
{
	const struct sim *sim = theft->s->sim;

	scenario_expect(theft->s, sim_port_info(sim, in, 1)->lid == theft->lid);
	for (unsigned int num = 1; num <= theft->ports; num++) {
		scenario_expect(theft->s,
				sim_port_info(sim, in, num)->port_state == IBA_PORT_ACTIVE);
		scenario_expect(theft->s,
				sim_port_info(sim, out, num)->port_state == IBA_PORT_INIT);
	}
}

/* Both places are named, and not for ever. */
static void expect_places_named(const struct theft *theft, unsigned int in, unsigned int out)
{
	const struct sim *sim = theft->s->sim;

	for (unsigned int num = 1; num <= theft->ports; num++) {
		g_autofree char *places = NULL;
		unsigned int node, right, wrong;
		struct sim_node_view view;

		scenario_expect(theft->s, sim_peer(sim, out, num, &node, &wrong));
		scenario_expect(theft->s, sim_peer(sim, in, num, &node, &right));
		sim_node_view(sim, node, &view);
		places = g_strdup_printf("is behind port %u, but also behind port %u of '%s' ",
					 wrong, right, view.description);
		scenario_expect(theft->s, lines_with(theft->s, places) >= 1);
		scenario_expect_at_most(theft->s, lines_with(theft->s, places), 4);
	}
}

/* One stays accepted, the other rejected, with no more sweeps than any rejected port causes. */
static void expect_kept_out(struct theft *theft, unsigned int in, unsigned int out)
{
	const struct counters *sweeps = &daemon_context(theft->s->daemon)->counters;
	uint64_t heavy, partial;

	theft->tables = 0;
	sim_set_trace(theft->s->sim, note_tables, theft);
	for (unsigned int i = 0; i < 100; i++) {
		scenario_run_ms(theft->s, 50);
		expect_one_in(theft, in, out);
	}
	heavy = counter_get(sweeps, sweeps_heavy);
	partial = counter_get(sweeps, sweeps_partial);
	for (unsigned int i = 0; i < 120; i++) {
		scenario_run_ms(theft->s, 1000);
		expect_one_in(theft, in, out);
	}
	sim_set_trace(theft->s->sim, NULL, NULL); /* the theft may move */
	scenario_expect_at_most(theft->s, theft->tables, 0);
	scenario_expect_at_most(theft->s, counter_get(sweeps, sweeps_heavy) - heavy, 0);
	scenario_expect_at_most(theft->s, counter_get(sweeps, sweeps_partial) - partial, 6);
	expect_places_named(theft, in, out);
}

/* It has its own GUIDs again, and is accepted. */
static void expect_well_at_last(struct theft *theft)
{
	struct scenario *s = theft->s;

	plug(theft, theft->thief, false);
	scenario_run_ms(s, 1000);
	give_back(theft);
	plug(theft, theft->thief, true);
	scenario_expect_at_most(s, scenario_converge(s, 9), 2500);
	scenario_free(s);
}

static struct theft steal_later(unsigned int i)
{
	struct theft theft = theft_new(i);

	scenario_start(theft.s);
	scenario_converge(theft.s, 10);
	theft.lid = scenario_lid(theft.s, theft.victim);
	scenario_run_ms(theft.s, 3000);
	plug(&theft, theft.thief, false);
	scenario_run_ms(theft.s, 3000);
	take_guids(&theft);
	plug(&theft, theft.thief, true);
	expect_kept_out(&theft, theft.victim, theft.thief);
	return theft;
}

/* A host comes with the GUIDs of one that is present. */
START_TEST(stolen_host)
{
	struct theft theft = steal_later((unsigned int)_i);

	expect_well_at_last(&theft);
}
END_TEST

/* Each heavy sweep, which may find it first, still finds the other one where it was. */
START_TEST(stolen_host_in_heavy_sweeps)
{
	struct theft theft = steal_later((unsigned int)_i);

	for (unsigned int i = 0; i < 5; i++) {
		scenario_heavy_sweep(theft.s, 10);
		scenario_run_ms(theft.s, 100);
		expect_one_in(&theft, theft.victim, theft.thief);
	}
	scenario_expect_at_most(theft.s, theft.tables, 0);
	expect_well_at_last(&theft);
}
END_TEST

/* The right one goes, so the other one is accepted, and stays when the right one is back. */
START_TEST(stolen_host_leaves)
{
	struct theft theft = steal_later((unsigned int)_i);

	plug(&theft, theft.victim, false);
	scenario_run_ms(theft.s, 3000);
	g_string_truncate(theft.s->text, 0);
	plug(&theft, theft.victim, true);
	expect_kept_out(&theft, theft.thief, theft.victim);
	expect_well_at_last(&theft);
}
END_TEST

/* A subnet manager that does not know any cable yet finds both: the one in use stays accepted. */
START_TEST(stolen_host_at_a_restart)
{
	struct theft theft = steal_later((unsigned int)_i);

	scenario_stop(theft.s);
	scenario_option(theft.s, "-y", NULL);
	g_string_truncate(theft.s->text, 0);
	scenario_start(theft.s);
	scenario_run_ms(theft.s, 5000);
	expect_kept_out(&theft, theft.victim, theft.thief);
	expect_well_at_last(&theft);
}
END_TEST

/* Both are there from the start: one is accepted, and stays so. */
START_TEST(stolen_host_from_the_start)
{
	struct theft theft = theft_new((unsigned int)_i);
	unsigned int in, out;

	scenario_option(theft.s, "-y", NULL);
	take_guids(&theft);
	scenario_start(theft.s);
	scenario_run_ms(theft.s, 5000);
	in = scenario_lid(theft.s, theft.victim) ? theft.victim : theft.thief;
	out = in == theft.victim ? theft.thief : theft.victim;
	theft.lid = scenario_lid(theft.s, in);
	expect_kept_out(&theft, in, out);
	scenario_check_log(theft.s, "SUBNET UP", true);
	expect_well_at_last(&theft);
}
END_TEST

/* Two of its links come back in the sweep that saw them go, and then it dies: it has no others. */
START_TEST(dies_after_its_links_came_back)
{
	for (unsigned int i = 0; i < 225; i++) {
		struct scenario *s = scenario_new("torus:4x4:1", 1);
		unsigned int node = scenario_node(s, "switch-2-2");

		scenario_start(s);
		scenario_converge(s, 10);
		for (unsigned int up = 0; up < 2; up++) {
			sim_link_set(s->sim, node, 2, up);
			sim_link_set(s->sim, node, 4, up);
			runtime_run(s->rt, NULL, NULL,
				    runtime_now(s->rt) + (up ? i % 15 * 20 : 1000 + i / 15 * 20) *
								 NS_PER_US);
		}
		sim_node_set(s->sim, node, false);
		scenario_converge(s, 10);
		scenario_check_log(s, "duplicate GUID", false);
		scenario_free(s);
	}
}
END_TEST

/* Sweeps do not go on for ever, and the culprit is named. */
static void expect_duplicate_named(struct scenario *s)
{
	const struct counters *sweeps = &daemon_context(s->daemon)->counters;
	uint64_t heavy;

	scenario_run_ms(s, 5000);
	scenario_check_log(s, "duplicate GUID", true);
	heavy = counter_get(sweeps, sweeps_heavy);
	scenario_run_ms(s, 10000);
	scenario_expect_at_most(s, counter_get(sweeps, sweeps_heavy) - heavy, 2);
}

/* A switch has the GUID of its neighbour: their ports look like those of one switch. */
START_TEST(two_switches_in_a_row)
{
	struct scenario *s = up("torus:9", 1);
	unsigned int thief = scenario_node(s, "switch-2");
	struct sim_node_view view, victim;

	sim_node_view(s->sim, thief, &view);
	sim_node_view(s->sim, scenario_node(s, "switch-3"), &victim);
	scenario_run_ms(s, 3000);
	sim_set_node_guid(s->sim, thief, victim.node_guid);
	sim_link_set(s->sim, thief, 3, false);
	sim_link_set(s->sim, thief, 2, false);
	scenario_run_ms(s, 600);
	sim_link_set(s->sim, thief, 3, true);
	scenario_run_ms(s, (uint64_t)_i * 5);
	sim_link_set(s->sim, thief, 2, true);
	expect_duplicate_named(s);
	sim_set_node_guid(s->sim, thief, view.node_guid);
	sim_link_flap(s->sim, thief, 3, 1000, NS_PER_S, 1);
	sim_link_flap(s->sim, thief, 2, 1000, NS_PER_S, 1);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

/*
 * A switch has the GUID of another one from now on, and its cable is back before any sweep: the
 * sweep that finds it names it, without one more.
 */
START_TEST(two_switches_at_once)
{
	struct scenario *s = up("hypercube:3", 1);
	unsigned int thief = scenario_node(s, "switch-0");
	struct sim_node_view victim;

	sim_node_view(s->sim, scenario_node(s, "switch-5"), &victim);
	scenario_run_ms(s, 3000);
	sim_set_node_guid(s->sim, thief, victim.node_guid);
	sim_link_flap(s->sim, thief, 2, 1000, NS_PER_S, 1);
	scenario_run_ms(s, 8);
	scenario_check_log(s, "duplicate GUID", true);
	scenario_free(s);
}
END_TEST

/* As two_switches_at_once, from the beginning; the SM is at each distance from them. */
START_TEST(two_switches_from_the_start)
{
	struct scenario *s = scenario_new("torus:9", (uint64_t)_i);
	struct sim_node_view victim;
	g_autofree char *host = g_strdup_printf("host-%d", _i % 9), *thief = NULL;
	unsigned int i = (unsigned int)_i / 9 * 3 + 2;

	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, host), 1);
	thief = g_strdup_printf("switch-%u", i);
	sim_node_view(s->sim, scenario_node(s, "switch-3"), &victim);
	sim_set_node_guid(s->sim, scenario_node(s, thief), victim.node_guid);
	scenario_start(s);
	expect_duplicate_named(s);
	scenario_free(s);
}
END_TEST

/* The one that comes up with the other's GUID may be in its place. */
static void come_up_with_guid_of(struct scenario *s, unsigned int thief, unsigned int other)
{
	struct sim_node_view view, victim;

	sim_node_view(s->sim, thief, &view);
	sim_node_view(s->sim, other, &victim);
	sim_node_set(s->sim, thief, false);
	scenario_run_ms(s, scenario_random(s, 500));
	sim_set_node_guid(s->sim, thief, victim.node_guid);
	sim_node_set(s->sim, thief, true);
	expect_duplicate_named(s);
	sim_node_set(s->sim, thief, false);
	sim_set_node_guid(s->sim, thief, view.node_guid);
	sim_node_set(s->sim, thief, true);
	scenario_converge(s, 70);
	scenario_free(s);
}

/* Any two, in any fabric. */
START_TEST(two_switches_anywhere)
{
	static const char *const specs[] = {"fattree:4", "torus:3x3:1", "torus:5",
					    "dragonfly:4:2:2", "hypercube:3", "torus:4x3x2:1"};
	struct scenario *s = up(specs[_i % G_N_ELEMENTS(specs)], (uint64_t)_i);
	unsigned int thief = scenario_random_switch(s), other;

	do
		other = scenario_random_switch(s);
	while (other == thief);
	come_up_with_guid_of(s, thief, other);
}
END_TEST

/* Each two of a chain, whose ends have one cable. */
START_TEST(two_switches_of_a_chain)
{
	struct scenario *s = up("mesh:4", 1);
	int thief = _i / 3, other = _i % 3;
	g_autofree char *name = g_strdup_printf("switch-%d", thief);
	g_autofree char *other_name = g_strdup_printf("switch-%d", other + (other >= thief));

	come_up_with_guid_of(s, scenario_node(s, name), scenario_node(s, other_name));
}
END_TEST

/* A heavy sweep that finds no error has found every node. */
START_TEST(mute_while_a_link_is_lost)
{
	for (unsigned int i = 0; i < 50; i++) {
		struct scenario *s = up("fattree:4", 1);
		unsigned int leaf = scenario_node(s, "leaf-2-0");
		struct subnet *subnet;

		sim_link_set(s->sim, leaf, 3, false);
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		runtime_run(s->rt, NULL, NULL,
			    runtime_now(s->rt) + (2500 + i * 20) * NS_PER_US);
		sim_node_mute(s->sim, leaf, true);
		scenario_run_ms(s, 700);
		sim_node_mute(s->sim, leaf, false);
		scenario_heavy_sweep(s, 30);
		subnet = slot_take(&daemon_context(s->daemon)->subnet);
		scenario_expect(s, subnet->errors ||
				   subnet->fabric->n_nodes == sim_nodes(s->sim));
		subnet_unref(subnet);
		scenario_free(s);
	}
}
END_TEST

/* A silent switch with one cable cut and the others not: the sweep comes to an end. */
START_TEST(mute_with_a_cable_cut)
{
	struct scenario *s = up("fattree:4", 1);
	const struct counters *counters = &daemon_context(s->daemon)->counters;
	unsigned int leaf = scenario_node(s, "leaf-2-0");

	sim_node_mute(s->sim, leaf, true);
	sim_link_set(s->sim, leaf, 3, false);
	scenario_run_ms(s, 10000);
	scenario_expect(s, counter_get(counters, sweeps_partial) > 0);
	sim_node_mute(s->sim, leaf, false);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

static void stubborn_when_active(void *arg, uint64_t now_ns, const struct vendor_address *to,
				 uint64_t from, const uint8_t *data, size_t length)
{
	struct scenario *s = arg;
	struct iba_port_info info;

	(void)now_ns;
	(void)to;
	(void)from;
	if (scenario_sets_port_info(data, length, &info) && info.port_state == IBA_PORT_ACTIVE)
		sim_node_stubborn(s->sim, scenario_node(s, "host-9"), true);
}

/* A port that answers with success and does not come up is an error, until it does. */
START_TEST(stays_in_armed)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	sim_set_trace(s->sim, stubborn_when_active, s);
	scenario_start(s);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "port 1 stays in ARMED", true);
	scenario_check_log(s, "SUBNET UP", false);
	sim_set_trace(s->sim, NULL, NULL);
	sim_node_stubborn(s->sim, scenario_node(s, "host-9"), false);
	scenario_converge(s, 30);
	scenario_check_log(s, "SUBNET UP", true);
	scenario_free(s);
}
END_TEST

/* Trap 144 is the only sign of it, from switches as well as hosts. */
START_TEST(switch_renamed)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int leaf = scenario_node(s, "leaf-2-0");
	struct sim_node_view view;
	struct subnet *subnet;
	uint32_t node;

	sim_node_view(s->sim, leaf, &view);
	scenario_run_ms(s, 3000);
	sim_set_description(s->sim, leaf, "renamed");
	scenario_run_ms(s, 3000);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	node = fabric_node_by_guid(subnet->fabric, view.node_guid);
	ck_assert_str_eq(subnet->fabric->nodes[node].description, "renamed");
	subnet_unref(subnet);
	scenario_free(s);
}
END_TEST

static void count_names(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			const uint8_t *data, size_t length)
{
	unsigned int *n = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	*n += scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_NODE_DESCRIPTION);
}

/* The operator has the names read again, at any instant of a sweep. */
START_TEST(names_wanted_in_a_sweep)
{
	struct scenario *s = up("fattree:4", 1);
	unsigned int node, port, n = 0;

	scenario_random_link(s, &node, &port);
	sim_set_trace(s->sim, count_names, &n);
	for (unsigned int i = 0; i < 60; i++) {
		scenario_run_ms(s, 3000);
		sim_link_set(s->sim, node, port, i % 2);
		runtime_run(s->rt, NULL, NULL,
			    runtime_now(s->rt) + NS_PER_MS + i * 20 * NS_PER_US);
		n = 0;
		event_emit(&daemon_context(s->daemon)->bus, EVENT_DESCRIPTIONS_WANTED, 0);
		scenario_run_ms(s, 1000);
		scenario_expect(s, n >= sim_nodes(s->sim));
	}
	scenario_free(s);
}
END_TEST

START_TEST(half_the_fabric_reboots)
{
	struct scenario *s = up("fattree:8", (uint64_t)_i);

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		if (i == scenario_sm_node(s, NULL) || scenario_random(s, 2))
			continue;
		sim_node_set(s->sim, i, false);
		sim_node_set(s->sim, i, true);
	}
	scenario_converge(s, 60);
	scenario_free(s);
}
END_TEST

/* A switch with a cable to itself goes, at any time of a sweep, and comes back. */
START_TEST(switch_cabled_to_itself)
{
	struct scenario *s = up("own_loop.topo", 1);
	unsigned int node = scenario_node(s, "switch");

	for (unsigned int i = 0; i < 40; i++) {
		sim_link_set(s->sim, node, 1, false);
		sim_link_set(s->sim, node, 1, true);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + i * 100 * NS_PER_US);
		sim_node_set(s->sim, node, false);
		scenario_run_ms(s, 600);
		sim_node_set(s->sim, node, true);
		scenario_converge(s, 30);
	}
	scenario_free(s);
}
END_TEST

static struct counters *counted(const struct scenario *s)
{
	return &daemon_context(s->daemon)->counters;
}

static void expect_all_as_known(struct scenario *s)
{
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 10000);
	scenario_check_log(s, ", 0 differed", true);
	scenario_check_log(s, "differs from what was set", false);
	scenario_check_log(s, "ERRORS DURING", false);
}

/*
 * A switch at hop five consumes SMPs that go farther by LID. Nothing that is meant for another is
 * set there, and nodes beyond it are not asked in vain over and over.
 */
START_TEST(lid_routes_that_end_early)
{
	struct scenario *s = scenario_new(_i ? "mesh:60" : "mesh:3x12", 1);
	uint64_t lost, light;

	scenario_conf(s, "sweep_interval 1\n");
	sim_set_lid_hops_max(s->sim, 5);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_expect_at_most(s, counter_get(counted(s), sweeps_heavy), 1);
	scenario_expect_at_most(s, counter_get(counted(s), sweeps_partial), 0);
	expect_all_as_known(s);
	lost = counter_get(counted(s), smp_retries);
	light = counter_get(counted(s), sweeps_light);
	scenario_run_ms(s, 60000);
	scenario_expect(s, counter_get(counted(s), sweeps_light) - light >= 50);
	scenario_expect_at_most(s, counter_get(counted(s), smp_retries) - lost, 20);
	sim_set_lid_hops_max(s->sim, 0);
	scenario_run_ms(s, 200000);
	lost = scenario_counters(s).directed_smps;
	scenario_run_ms(s, 10000);
	scenario_expect_at_most(s, scenario_counters(s).directed_smps - lost, 10);
	scenario_free(s);
}
END_TEST

/* The last six are beyond the hops that a directed route has: the others are up without them. */
START_TEST(too_far)
{
	struct scenario *s = scenario_new("mesh:70", 1);

	scenario_start(s);
	scenario_run_ms(s, 170000);
	scenario_check_log(s, "SUBNET UP", true);
	scenario_check_log(s, "is more than 63 hops away: excluded", true);
	scenario_check_log(s, "ERRORS DURING", false);
	scenario_expect_at_most(s, counter_get(counted(s), sweeps_partial), 3);
	scenario_expect(s, scenario_lid(s, scenario_node(s, "switch-62")) != 0);
	scenario_expect(s, scenario_lid(s, scenario_node(s, "switch-69")) == 0);
	scenario_free(s);
}
END_TEST

/* An SMA that does not answer must not keep others from being served. */
START_TEST(mute_switch)
{
	struct scenario *s = up("torus:3x3x3:1", (uint64_t)_i);
	unsigned int mute = scenario_random_switch(s), node, port;

	sim_node_mute(s->sim, mute, true);
	do
		scenario_random_link(s, &node, &port);
	while (node == mute);
	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, 30 * 1000);
	sim_node_mute(s->sim, mute, false);
	scenario_converge(s, 60);
	scenario_free(s);
}
END_TEST

START_TEST(client_gets_path_and_group)
{
	struct scenario *s = up("fattree:4", 1);
	struct client *clients[4];
	uint64_t guids[4];
	struct iba_path_record path;
	uint16_t mlid = 0;

	for (int i = 0; i < 4; i++) {
		unsigned int node;
		bool fresh;

		do {
			node = scenario_random_host(s);
			fresh = true;
			for (int j = 0; j < i; j++)
				fresh = fresh && guids[j] != sim_port_guid(s->sim, node, 1);
		} while (!fresh);
		clients[i] = client_new(s, node);
		guids[i] = client_guid(clients[i]);
	}
	scenario_expect(s, client_path(clients[0], guids[1], &path) == 0);
	scenario_expect(s, path.dlid ==
				   scenario_lid(s, (unsigned int)sim_find_guid(s->sim, guids[1])));
	scenario_expect(s, path.slid ==
				   scenario_lid(s, (unsigned int)sim_find_guid(s->sim, guids[0])));
	scenario_expect(s, client_path(clients[0], 0x1234, &path) != 0);
	for (int i = 0; i < 4; i++)
		scenario_expect(s, client_join_broadcast(clients[i], &mlid) == 0);
	scenario_run_ms(s, 1000);
	scenario_check_tree(s, mlid, guids, 4);
	scenario_expect(s, client_leave_broadcast(clients[3]) == 0);
	scenario_run_ms(s, 1000);
	scenario_check_tree(s, mlid, guids, 3);
	for (int i = 0; i < 4; i++)
		client_free(clients[i]);
	scenario_free(s);
}
END_TEST

/* A tree must follow the switches it runs over. */
START_TEST(tree_follows_the_fabric)
{
	struct scenario *s = up("fattree:4", 1);
	uint64_t guids[16];
	unsigned int n = 0, spine = 0;
	uint16_t mlid = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim) && n < 16; i++) {
		struct sim_node_view view;
		struct client *client;

		sim_node_view(s->sim, i, &view);
		if (view.type != IBA_NODE_CA)
			continue;
		client = client_new(s, i);
		scenario_expect(s, client_join_broadcast(client, &mlid) == 0);
		guids[n++] = client_guid(client);
		client_free(client);
	}
	scenario_run_ms(s, 1000);
	scenario_check_tree(s, mlid, guids, n);
	/* The busiest switch of the top: one whose loss cuts off no host. */
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		uint16_t mask[16];
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (!g_str_has_prefix(view.description, "core"))
			continue;
		sim_mft(s->sim, i, mlid, mask);
		if (mask[0])
			spine = i;
	}
	sim_node_set(s->sim, spine, false);
	scenario_converge(s, 20);
	scenario_run_ms(s, 1000);
	scenario_check_tree(s, mlid, guids, n);
	scenario_free(s);
}
END_TEST

/* Fills a MAD with noise, most of it behind a header that gets past the first checks. */
static void noise(struct scenario *s, uint8_t wire[IBA_MAD_BYTES])
{
	static const uint8_t classes[] = {IBA_CLASS_SUBN_LID, IBA_CLASS_SUBN_DIRECTED,
					  IBA_CLASS_SUBN_ADM, IBA_CLASS_PERF};
	static const uint8_t methods[] = {
		IBA_METHOD_GET,	     IBA_METHOD_SET,	   IBA_METHOD_TRAP,
		IBA_METHOD_GET_RESP, IBA_METHOD_GET_TABLE, IBA_METHOD_DELETE,
	};

	for (unsigned int i = 0; i < IBA_MAD_BYTES; i++)
		wire[i] = (uint8_t)scenario_random(s, scenario_random(s, 3) ? 256 : 2);
	if (!scenario_random(s, 10))
		return;
	wire[0] = IBA_BASE_VERSION;
	wire[1] = classes[scenario_random(s, G_N_ELEMENTS(classes))];
	wire[2] = wire[1] == IBA_CLASS_SUBN_ADM ? IBA_SA_CLASS_VERSION : 1;
	wire[3] = methods[scenario_random(s, G_N_ELEMENTS(methods))];
	wire[4] = wire[5] = 0;
	wire[16] = 0;
	wire[17] = (uint8_t)scenario_random(s, 0x40);
	if (wire[1] == IBA_CLASS_SUBN_ADM) {
		wire[24] = 1;
		wire[26] = 0;
	}
}

/* Whatever a host sends, the daemon and the subnet survive. */
START_TEST(garbage_mads)
{
	struct scenario *s = up("fattree:4", (uint64_t)_i);
	unsigned int node = scenario_random_host(s);
	struct vendor *vendor = sim_open(s->sim, sim_port_guid(s->sim, node, 1), NULL);
	struct vendor_address to = {.lid = scenario_lid(s, scenario_sm_node(s, NULL))};
	uint8_t wire[IBA_MAD_BYTES];
	struct client *client;
	struct iba_path_record path;

	for (unsigned int i = 0; i < 4000; i++) {
		noise(s, wire);
		to.qpn = wire[1] == IBA_CLASS_SUBN_LID || wire[1] == IBA_CLASS_SUBN_DIRECTED;
		to.qpn = to.qpn ? IBA_QP0 : IBA_QP1;
		to.qkey = to.qpn ? IBA_QP1_Q_KEY : 0;
		vendor_send(vendor, &to, wire, sizeof(wire), 0);
		if (i % 16 == 0)
			scenario_run_ms(s, 1);
	}
	vendor_close(vendor);
	scenario_converge(s, 30);
	scenario_expect(s, counter_get(&daemon_context(s->daemon)->counters, sa_received) > 500);
	client = client_new(s, node);
	scenario_expect(s, client_path(client, s->sm_guid, &path) == 0);
	client_free(client);
	scenario_free(s);
}

/* ---- a second subnet manager ---- */

static struct daemon *second_daemon(struct scenario *s, const char *host)
{
	int node = sim_find_name(s->sim, host);
	struct options *options = options_new();
	struct daemon_config config = {
		.rt = s->rt,
		.options = options,
		.log = s->log,
		.vendor = sim_open(s->sim, sim_port_guid(s->sim, (unsigned int)node, 1), NULL),
	};
	struct daemon *daemon;

	options->sminfo_polling_timeout = 2000;
	daemon = daemon_new(&config, NULL);
	options_unref(options);
	daemon_start(daemon);
	return daemon;
}

/* It changes nothing while the first is master, and takes over when that is gone. */
START_TEST(second_manager_stands_aside)
{
	struct scenario *s = up("fattree:4", 1);
	struct daemon *second;
	struct sim_counters before, after;
	unsigned int port, node;
	uint16_t lid;

	scenario_run_ms(s, 1000);
	before = scenario_counters(s);
	second = second_daemon(s, "host-9");
	scenario_run_ms(s, 30 * 1000);
	after = scenario_counters(s);
	scenario_expect_at_most(s, after.sets - before.sets, 0);
	scenario_check_log(s, "Entering STANDBY state", true);
	ck_assert_uint_eq(atomic_load(&daemon_context(second)->sm_state), IBA_SM_STANDBY);
	scenario_stop(s);
	scenario_run_ms(s, 15 * 1000);
	ck_assert_uint_eq(atomic_load(&daemon_context(second)->sm_state), IBA_SM_MASTER);
	node = (unsigned int)sim_find_name(s->sim, "host-9");
	lid = sim_port_info(s->sim, node, 1)->lid;
	node = scenario_sm_node(s, &port);
	ck_assert_uint_eq(sim_port_info(s->sim, node, port)->master_sm_lid, lid);
	daemon_free(second);
	scenario_free(s);
}
END_TEST
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("faults");
	TCase *tcase = tcase_create("faults");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, link_pulled_and_restored, 1, 1 + some_seeds(5));
	tcase_add_loop_test(tcase, switch_killed_and_back, 1, 1 + some_seeds(5));
	tcase_add_test(tcase, switch_dies_in_the_bring_up);
	tcase_add_loop_test(tcase, host_goes_and_comes, 1, 1 + some_seeds(3));
	tcase_add_loop_test(tcase, host_added, 1, 1 + some_seeds(3));
	tcase_add_test(tcase, own_link_flaps);
	tcase_add_loop_test(tcase, half_the_fabric_reboots, 1, 1 + some_seeds(3));
	tcase_add_test(tcase, switch_cabled_to_itself);
	tcase_add_test(tcase, too_far);
	tcase_add_loop_test(tcase, lid_routes_that_end_early, 0, 2);
	tcase_add_test(tcase, heavy_sweeps_after_a_link);
	tcase_add_loop_test(tcase, mute_switch, 1, 1 + some_seeds(3));
	tcase_add_loop_test(tcase, garbage_mads, 1, 1 + some_seeds(3));
	tcase_add_test(tcase, client_gets_path_and_group);
	tcase_add_test(tcase, tree_follows_the_fabric);
	tcase_add_test(tcase, second_manager_stands_aside);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("partial");
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, own_link_bounces);
	tcase_add_loop_test(tcase, stolen_port_guid, 0, 2);
	tcase_add_test(tcase, names_wanted_in_a_sweep);
	tcase_add_test(tcase, dies_after_its_links_came_back);
	tcase_add_test(tcase, stolen_sm_node);
	tcase_add_loop_test(tcase, stolen_host, 0, G_N_ELEMENTS(thefts));
	tcase_add_loop_test(tcase, stolen_host_in_heavy_sweeps, 0, G_N_ELEMENTS(thefts));
	tcase_add_loop_test(tcase, stolen_host_leaves, 0, G_N_ELEMENTS(thefts));
	tcase_add_loop_test(tcase, stolen_host_at_a_restart, 0, G_N_ELEMENTS(thefts));
	tcase_add_loop_test(tcase, stolen_host_from_the_start, 0, G_N_ELEMENTS(thefts));
	tcase_add_loop_test(tcase, two_switches_in_a_row, 0, some_seeds(12));
	tcase_add_test(tcase, two_switches_at_once);
	tcase_add_loop_test(tcase, two_switches_from_the_start, 0, some_seeds(27));
	tcase_add_loop_test(tcase, two_switches_of_a_chain, 0, 12);
	tcase_add_loop_test(tcase, two_switches_anywhere, 0, some_seeds(24));
	tcase_add_test(tcase, mute_while_a_link_is_lost);
	tcase_add_test(tcase, mute_with_a_cable_cut);
	tcase_add_test(tcase, stays_in_armed);
	tcase_add_test(tcase, switch_renamed);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}

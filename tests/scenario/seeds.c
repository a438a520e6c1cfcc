// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Many seeds: each makes a scenario of its own, with packets that are lost, duplicated and delayed
 * and with faults, and runs it twice. The fabric must be repaired each time, and both runs must put
 * the same bytes on the wire at the same times.
 *
 *	seeds [[--lasting] [--lanes] [--options] FIRST COUNT SPEC LOSS...]
 *
 * Without series: a few dozen seeds. Faults end by themselves here, most of them within three
 * seconds; with --lasting they stay until the subnet was found right without what is lost
 * (seeds_lasting.c). With --lanes routing engines are those that use virtual lanes, with --options
 * there are random options. make check runs a few dozen of all kinds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "iba/codes.h"
#include "lanes.h"
#include "seeds.h"
#include "subnet/inventory.h"
#include "tests/some_seeds.h"

#define ROUNDS 3
#define CONVERGE_S 120
#define BROADCAST_RATE 3 /* 10 Gb/s */

struct series {
	uint64_t first;
	unsigned int count;
	const char *spec;
	double loss;
	bool lasting, lanes, options;
};

static const struct series checked[] = {
	{1, 20, "fattree:4", 0.05, false},	{1, 6, "fattree:8", 0.05, false},
	{1, 6, "torus:3x3x3:1", 0.05, false},	{1, 4, "fattree:4", 0.2, false},
	{1, 4, "random:10:4:2:3", 0.01, false},	{1, 10, "torus:4x4:2", 0.02, false, true},
	{1, 20, "random:10:4:2:3", 0, false, false, true},
	/* these failed once */
	{136335, 1, "fattree:8", 0.05, false, true},
	{393405, 1, "fattree:8", 0.02, false, true},
	{197300, 1, "dual_port.topo", 0.02, false, false, true},
	{197535, 1, "one_switch.topo", 0, false, true},
};

static const struct series checked_lasting[] = {
	{1, 10, "fattree:4", 0, true},
	{1, 4, "fattree:8", 0, true},
	{1, 6, "torus:3x3x3:1", 0.01, true},
	{1, 8, "random:10:4:2:3", 0, true},
	{1, 8, "dual_port.topo", 0, true},
	{1, 4, "dual_plane.topo", 0.02, true},
	{1, 4, "own_loop_2.topo", 0, true},
	{1, 4, "own_loops.topo", 0.01, true},
	{1, 10, "torus:4x4:2", 0, true, true},
	{1, 5, "torus:3x3x3:1", 0.01, true, true},
	{1, 5, "dragonfly:2:1:1", 0, true, true},
	{1, 10, "random:12:6:3:7", 0.01, true, true},
	{1, 10, "fattree:4", 0, true, false, true},
	{1, 10, "torus:3x3x3:1", 0, true, false, true},
	{1, 10, "random:10:4:2:3", 0, true, false, true},
	/* these failed once */
	{372662, 1, "dual_port.topo", 0.05, true, false, true},
	{322832, 1, "dual_port.topo", 0.1, true, false, true},
	{300984, 1, "torus:3x3x3:1", 0.02, true, true, true},
	{195882, 1, "torus:4x4:2", 0.01, true, true, true},
	{195716, 1, "dual_port.topo", 0.05, true, false, true},
	{196384, 1, "fattree:8", 0.1, true, false, true},
	{191209, 1, "dragonfly:4:2:2", 0.05, true, false, true},
	{173826, 1, "dual_port.topo", 0, true, true, true},
	{101698, 1, "random:10:4:2:3", 0, true, false, true},
	{166516, 1, "own_loop_2.topo", 0, true, false, true},
	{143154, 1, "fattree:4", 0, true, true, true},
	{136182, 1, "torus:3x3x3:1", 0, true, true, true},
	{137006, 1, "fattree:8", 0, true, false, true},
	{134204, 1, "dual_port.topo", 0, true, false, true},
	{130166, 1, "random:10:4:2:3", 0.01, true, false, true},
	{131896, 1, "random:16:5:2:7", 0, true, false, true},
	{132166, 1, "fattree:8", 0.1, true, false, true},
	{124404, 1, "torus:4x4:2", 0, true, true, true},
	{120212, 1, "dual_port.topo", 0.01, true, false, true},
	{289, 1, "chain.topo", 0.02, true},
	{106231, 1, "dual_port.topo", 0.1, true},
	{37670, 1, "one_switch.topo", 0.02, true},
	{21632, 1, "own_loop_2.topo", 0.02, true},
	{6157, 1, "torus:4x4:2", 0, true},
	{8501, 1, "torus:4x4:2", 0.05, true},
	{7042, 1, "torus:3x3x3:1", 0, true},
	{6468, 1, "dual_port.topo", 0, true},
	{17111, 1, "dual_plane.topo", 0.05, true},
	{17353, 1, "fattree:8", 0, true},
	{7152, 1, "fattree:4", 0.02, true},
	{16490, 1, "torus:3x3x3:1", 0.02, false},
	{18985, 1, "fattree:8", 0.01, false},
	{846, 1, "random:16:5:2:7", 0.1, true},
	{3818, 1, "torus:3x3x3:1", 0.05, true},
};

static void break_link(struct scenario *s)
{
	unsigned int node, port;

	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, scenario_random(s, 3000));
	sim_link_set(s->sim, node, port, true);
}

static void reboot_node(struct scenario *s, unsigned int node)
{
	sim_node_set(s->sim, node, false);
	scenario_run_ms(s, scenario_random(s, 3000));
	sim_node_set(s->sim, node, true);
}

static void flap_link(struct scenario *s)
{
	unsigned int node, port, times = 1 + scenario_random(s, 6);

	scenario_random_link(s, &node, &port);
	for (unsigned int i = 0; i < 2 * times; i++) {
		sim_link_set(s->sim, node, port, i % 2);
		scenario_run_ms(s, scenario_random(s, 100));
	}
}

/* Sometimes on another host: the LIDs stay, as both share the cache directory. */
static void restart(struct scenario *s)
{
	scenario_stop(s);
	scenario_run_ms(s, scenario_random(s, 100));
	if (!scenario_random(s, 3))
		s->sm_guid = sim_port_guid(s->sim, scenario_random_host(s), 1);
	scenario_start(s);
}

/* Its link was degraded: packets of the broadcast group may be too fast for it. */
static bool is_too_slow(const struct scenario *s, unsigned int node)
{
	const struct iba_port_info *info = sim_port_info(s->sim, node, 1);

	return iba_rate_compare(iba_link_rate(info->link_width_active, info->link_speed_active,
					      info->link_speed_ext_active,
					      info->link_speed_ext_active2),
				BROADCAST_RATE) < 0;
}

void seed_sa_traffic(struct scenario *s, unsigned int node, unsigned int to)
{
	struct client *client = client_new(s, node);
	struct iba_path_record path;
	uint16_t mlid;

	if (client_path(client, sim_port_guid(s->sim, to, 1), &path))
		scenario_fail(s, "no path from node %u to 0x%016" PRIx64, node,
			      sim_port_guid(s->sim, to, 1));
	if (!client_join_broadcast(client, &mlid) == is_too_slow(s, node))
		scenario_fail(s, "it %s join", is_too_slow(s, node) ? "can" : "cannot");
	client_free(client);
}

/* Part of the fabric is cut off and comes back: several links in a row. */
static void split(struct scenario *s)
{
	unsigned int node = scenario_random_switch(s);

	scenario_set_links(s, node, false);
	scenario_run_ms(s, scenario_random(s, 3000));
	scenario_set_links(s, node, true);
}

static void own_link(struct scenario *s)
{
	unsigned int port, node = scenario_sm_node(s, &port);

	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, scenario_random(s, 3000));
	sim_link_set(s->sim, node, port, true);
}

static void silence(struct scenario *s)
{
	unsigned int node = scenario_random_switch(s);

	sim_node_mute(s->sim, node, true);
	scenario_run_ms(s, scenario_random(s, 15000));
	sim_node_mute(s->sim, node, false);
}

/* Packets pass, directed routes do not, and everything is read again. */
static void hang(struct scenario *s)
{
	unsigned int node = scenario_random_switch(s);

	sim_node_hang(s->sim, node, true);
	scenario_run_ms(s, scenario_random(s, 3000));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, scenario_random(s, 15000));
	sim_node_hang(s->sim, node, false);
}

static void power_cut(struct scenario *s)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		sim_node_set(s->sim, i, false);
		sim_node_set(s->sim, i, true);
	}
}

static void reboot_switch(struct scenario *s)
{
	reboot_node(s, scenario_random_switch(s));
}

static void reboot_host(struct scenario *s)
{
	reboot_node(s, scenario_random_host(s));
}

/* ---- hardware that works, but not well ---- */

static void degrade(struct scenario *s)
{
	static const unsigned int rates[] = {2500, 10000, 14062, 25781};
	unsigned int node, port, rate, width;

	scenario_random_link(s, &node, &port);
	rate = rates[scenario_random(s, G_N_ELEMENTS(rates))];
	width = 1 + 3 * scenario_random(s, 2);
	sim_link_degrade(s->sim, node, port, width, rate);
}

static void flap_quickly(struct scenario *s)
{
	unsigned int node, port, times;
	uint64_t up_ns, down_ns;

	scenario_random_link(s, &node, &port);
	times = 1 + scenario_random(s, 20);
	up_ns = scenario_random(s, 200) * NS_PER_MS;
	down_ns = scenario_random(s, 20) * NS_PER_MS;
	sim_link_flap(s->sim, node, port, down_ns, up_ns, times);
}

static void black_hole(struct scenario *s)
{
	unsigned int node, port;

	scenario_random_link(s, &node, &port);
	sim_link_black_hole(s->sim, node, port, true);
	scenario_run_ms(s, scenario_random(s, 15000));
	sim_link_black_hole(s->sim, node, port, false);
}

static void stubborn(struct scenario *s)
{
	unsigned int node = scenario_random_switch(s);

	sim_node_stubborn(s->sim, node, true);
	scenario_run_ms(s, scenario_random(s, 15000));
	sim_node_stubborn(s->sim, node, false);
}

static void claim_guid(struct scenario *s, unsigned int node, uint64_t guid)
{
	sim_node_set(s->sim, node, false);
	sim_set_node_guid(s->sim, node, guid);
	sim_node_set(s->sim, node, true);
}

/* Comes up with the NodeGUID of another node or none, and is replaced by the right one. */
static void duplicate_guid(struct scenario *s)
{
	unsigned int node =
		scenario_random(s, 2) ? scenario_random_switch(s) : scenario_random_host(s);
	unsigned int other =
		scenario_random(s, 2) ? scenario_random_switch(s) : scenario_random_host(s);
	struct sim_node_view view, twin;

	sim_node_view(s->sim, node, &view);
	sim_node_view(s->sim, other, &twin);
	claim_guid(s, node, scenario_random(s, 4) ? twin.node_guid : 0);
	scenario_run_ms(s, scenario_random(s, 15000));
	claim_guid(s, node, view.node_guid);
}

/* ---- cables ---- */

/* Both ends of a host's cable are plugged into the switch, for a while. */
static void loopback(struct scenario *s)
{
	unsigned int host = scenario_random_host(s), peer, peer_port;

	if (!sim_peer(s->sim, host, 1, &peer, &peer_port))
		return;
	sim_cable_move(s->sim, host, 1, peer, peer_port);
	scenario_run_ms(s, scenario_random(s, 3000));
	sim_cable_move(s->sim, peer, peer_port, host, 1);
}

/* ---- packets ---- */

static void doubled(struct scenario *s)
{
	sim_set_duplicate(s->sim, 0.1);
	scenario_run_ms(s, scenario_random(s, 10000));
	sim_set_duplicate(s->sim, 0);
}

static void late(struct scenario *s)
{
	sim_set_delay(s->sim, 200, scenario_random(s, 600) * NS_PER_MS);
	scenario_run_ms(s, scenario_random(s, 10000));
	sim_set_delay(s->sim, 200, 0);
}

/*
 * Few at a time: a Set that arrives with a corrupted value may do lasting harm, and certainly does
 * if it sets an unknown M_Key.
 */
static void corruption(struct scenario *s)
{
	struct options *options = slot_take(&daemon_context(s->daemon)->options);
	bool keys = options->m_key || options->m_key_per_port;

	options_unref(options);
	if (keys)
		return;
	sim_set_corrupt(s->sim, 0.001);
	scenario_run_ms(s, scenario_random(s, 10000));
	sim_set_corrupt(s->sim, 0);
}

/* Traps without a cause, with random contents. */
static void forged_traps(struct scenario *s)
{
	static const uint16_t numbers[] = {64,	65,  66,  67,  128, 129, 130,
					   131, 144, 145, 256, 257, 258, 259};
	unsigned int n = 1 + scenario_random(s, 50);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int node =
			scenario_random(s, 2) ? scenario_random_switch(s) : scenario_random_host(s);
		struct iba_notice notice = {.is_generic = !!scenario_random(s, 8)};

		notice.type = scenario_random(s, 8);
		notice.trap_number = numbers[scenario_random(s, G_N_ELEMENTS(numbers))];
		notice.issuer_lid = scenario_random(s, 0x10000);
		for (unsigned int j = 0; j < sizeof(notice.data_details); j++)
			notice.data_details[j] = scenario_random(s, 0x100);
		sim_trap(s->sim, node, 1, &notice);
		scenario_run_ms(s, scenario_random(s, 20));
	}
}

static void (*const faults[])(struct scenario *s) = {
	break_link, flap_link,	  reboot_switch, reboot_host,	 restart,    split,    own_link,
	silence,    power_cut,	  degrade,	 flap_quickly,	 black_hole, loopback, doubled,
	late,	    forged_traps, stubborn,	 duplicate_guid, corruption,	 hang,
};

/* One or several, the next while the first is still being dealt with. */
static void some_faults(struct scenario *s)
{
	unsigned int n = 1 + scenario_random(s, 3);

	for (unsigned int i = 0; i < n; i++) {
		faults[scenario_random(s, G_N_ELEMENTS(faults))](s);
		scenario_run_ms(s, scenario_random(s, 1 + scenario_random(s, 500)));
	}
}

/* Tables that the SM reads between sweeps, if it has time. */
static void want_tables(struct scenario *s)
{
	unsigned int n = scenario_random(s, 4);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int node = scenario_random(s, sim_nodes(s->sim));
		uint16_t lid = scenario_random(s, 2) ? scenario_lid(s, node) : 0;
		enum inventory_kind kind = scenario_random(s, INVENTORY_KINDS);

		event_emit(&daemon_context(s->daemon)->bus, EVENT_INVENTORY_WANTED,
			   inventory_want(kind, lid, INVENTORY_ALL_PORTS));
	}
}

/* All ports of a switch, and those of a host that lead to one. */
static unsigned int ports_with_tables(const struct scenario *s, const bool *reached,
				      unsigned int node)
{
	unsigned int n = 0, peer, peer_port, first;
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	first = view.type != IBA_NODE_SWITCH;
	for (unsigned int p = first; reached[node] && p <= view.num_ports; p++)
		n += view.type == IBA_NODE_SWITCH ||
		     (sim_peer(s->sim, node, p, &peer, &peer_port) && reached[peer]);
	return n;
}

/*
 * After all faults are over and forgotten, every port's table must be known, whatever was read
 * meanwhile; except blocks that a port refused because the request was corrupted.
 */
static void check_tables(struct scenario *s)
{
	struct client *client = client_new(s, scenario_random_host(s));
	struct iba_vl_arbitration_table_record any = {0};
	g_autofree bool *reached = NULL;
	unsigned int expected = 0, n;
	GByteArray *records;

	sim_set_loss(s->sim, 0);
	sim_set_duplicate(s->sim, 0);
	scenario_run_ms(s, 1000 + INVENTORY_SILENT_NS / NS_PER_MS);
	reached = scenario_reached(s);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		expected += 4 * ports_with_tables(s, reached, i); /* blocks */
	records = client_table(client, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD, 0,
			       &iba_vl_arbitration_table_record_type, &any, &n);
	if (!records || n > expected || n + scenario_counters(s).corrupted < expected)
		scenario_fail(s, "%u VLArbitrationTableRecords, not %u", n, expected);
	g_byte_array_unref(records);
	client_free(client);
}

/* The engine to route with; the SM falls back where it cannot. */
static const char *const engines[2][5] = {
	[false] = {"minhop", "updn", "ftree", "dnup", "dor"},
	[true] = {"dfsssp", "lash", "nue", "hoplanes", "nue"},
};

static struct scenario *start(const struct series *series, uint64_t seed, const char *command)
{
	double loss = series->loss;
	struct sim_config config;
	struct scenario *s;

	scenario_config_default(&config, seed);
	config.loss = loss;
	config.duplicate = loss / 4;
	config.jitter_ns = seed % 3 * 20 * NS_PER_US;
	s = scenario_new_with(series->spec, &config, RUNTIME_VIRTUAL);
	s->command = command;
	if (series->options)
		seed_options(s);
	else
		scenario_option(s, "-R",
				engines[series->lanes][seed % G_N_ELEMENTS(engines[0])]);
	scenario_option(s, "-y", NULL); /* duplicate GUIDs are replaced in time */
	scenario_option(s, "-l", seed % 4 == 3 ? "2" : "0");
	scenario_start(s);
	return s;
}

void seed_check_lanes(struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	bool running = atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_RUNNING;
	char *wrong = NULL;

	if (!subnet) /* it was restarted, and the fabric stayed right meanwhile */
		return;
	/* While tables change hosts still use the previous SLs. */
	if (!running && subnet->routing->promises & ROUTE_DEADLOCK_FREE)
		wrong = scenario_lanes_violation(s);
	subnet_unref(subnet);
	if (wrong)
		scenario_fail(s, "%s", wrong);
}

static void brief_converge(struct scenario *s)
{
	scenario_converge(s, CONVERGE_S);
	seed_check_lanes(s);
}

static void brief_run(struct scenario *s)
{
	unsigned int node;

	if (s->seed % 5 == 0) { /* the first sweep is disturbed as well */
		scenario_run_ms(s, scenario_random(s, 300));
		some_faults(s);
	}
	brief_converge(s);
	for (int i = 0; i < ROUNDS; i++) {
		node = scenario_random_host(s);
		seed_sa_traffic(s, node, scenario_random_host(s));
		want_tables(s);
		some_faults(s);
		brief_converge(s);
	}
	check_tables(s);
}

static uint64_t run_seed(const struct series *series, uint64_t seed, const char *command)
{
	struct scenario *s = start(series, seed, command);
	uint64_t digest;

	if (series->lasting)
		lasting_run(s, series->loss, series->options);
	else
		brief_run(s);
	digest = sim_trace_digest(s->sim);
	scenario_free(s);
	return digest;
}

static bool run_series(const char *program, const struct series *series)
{
	g_autofree char *flags = g_strconcat(series->lasting ? " --lasting" : "",
					     series->lanes ? " --lanes" : "",
					     series->options ? " --options" : "", NULL);

	for (unsigned int i = 0; i < series->count; i++) {
		uint64_t seed = series->first + i, first, second;
		g_autofree char *command = g_strdup_printf("%s%s %" PRIu64 " 1 %s %g", program,
							   flags, seed, series->spec,
						   series->loss);

		first = run_seed(series, seed, command);
		second = run_seed(series, seed, command);
		if (first != second) {
			printf("FAILED: two runs differ: %s\n", command);
			return false;
		}
	}
	printf("%u seeds of %s with loss %g%s\n", series->count, series->spec, series->loss,
	       flags);
	return true;
}

static bool parse(char **args, struct series *series)
{
	char *end[3];

	series->first = strtoull(args[0], &end[0], 0);
	series->count = (unsigned int)strtoul(args[1], &end[1], 0);
	series->spec = args[2];
	series->loss = strtod(args[3], &end[2]);
	return !*end[0] && !*end[1] && !*end[2] && series->loss >= 0 && series->loss < 1;
}

static bool run_rows(const char *program, const struct series *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct series series = rows[i];

		series.count = (unsigned int)some_seeds((int)series.count);
		if (!run_series(program, &series))
			return false;
	}
	return true;
}

static bool run_checked(const char *program, bool lasting)
{
	if (lasting)
		return run_rows(program, checked_lasting, G_N_ELEMENTS(checked_lasting));
	return run_rows(program, checked, G_N_ELEMENTS(checked));
}

int main(int argc, char **argv)
{
	struct series series = {0};
	int first = 1;

	g_set_prgname(argv[0]);
	if (argc == 1) /* make check */
		return run_checked(argv[0], false) && run_checked(argv[0], true) ? EXIT_SUCCESS
										 : EXIT_FAILURE;
	for (; first < argc && g_str_has_prefix(argv[first], "--"); first++) {
		series.lasting |= g_str_equal(argv[first], "--lasting");
		series.lanes |= g_str_equal(argv[first], "--lanes");
		series.options |= g_str_equal(argv[first], "--options");
	}
	if (first == argc || (argc - first) % 4) {
		fprintf(stderr,
			"usage: %s [[--lasting] [--lanes] [--options] FIRST COUNT SPEC LOSS...]\n",
			argv[0]);
		return EXIT_FAILURE;
	}
	for (int i = first; i < argc; i += 4) {
		if (!parse(argv + i, &series)) {
			fprintf(stderr, "%s: FIRST COUNT SPEC LOSS expected\n", argv[0]);
			return EXIT_FAILURE;
		}
		if (!run_series(argv[0], &series))
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

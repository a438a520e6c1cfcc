// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Long stories of what meets by chance: cables, nodes, packets, options, clients and other SMs,
 * from a seed, in an order that nobody would think of. After all is mended the fabric has to be
 * right. Of what the daemon does about each event a digest is kept: where the SM does something
 * else on purpose, the stories of test_sweep_golden.c and test_policy_golden.c are there to be
 * read, and these are written anew by make golden-update. To see what is behind a digest, run this
 * program of both trees with GOLDEN_TELL=DIRECTORY in the environment, and compare.
 */
#include <check.h>
#include <string.h>

#include "policy/inventory.h"
#include "story.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/managers.h"

#define LOUD QUIET "log_flags 0xFF\n" /* what is logged is looked at, too */
#define EVENTS 50
#define CLIENTS 3
#define NODES 64 /* at most */
#define POLICY "hm_ports_health_policy_file DIRECTORY/policy\n"

/* What the story is about. */
struct theme {
	const char *name;
	void (*const *happenings)(void);
	unsigned int n_happenings;
	const char *const *confs;
	unsigned int n_confs;
};

static struct scenario *s;
static const struct theme *theme;
static struct client *clients[CLIENTS];
static uint64_t guids[NODES]; /* of nodes, when it begins */

static unsigned int below(unsigned int n)
{
	return scenario_random(s, n);
}

/* A node that the SM is not on. */
static unsigned int some_node(void)
{
	return below(3) ? scenario_random_host(s) : scenario_random_switch(s);
}

static const char *name_of(unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.description;
}

static unsigned int some_port(unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return 1 + below(view.num_ports);
}

/* An end of a cable. */
static void some_cable(unsigned int *node, unsigned int *port)
{
	unsigned int peer, peer_port;

	do {
		*node = below(4) ? scenario_random_switch(s) : scenario_random_host(s);
		*port = some_port(*node);
	} while (!sim_peer(s->sim, *node, *port, &peer, &peer_port));
}

/* Often so little that a sweep is not at its end. */
static void some_time(void)
{
	static const unsigned int ms[] = {0, 0, 3, 40, 300, 2000, 2000, 12000, 70000};
	uint64_t us = below(1500);

	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
	story_after_ms(ms[below(G_N_ELEMENTS(ms))]);
}

/* ---- cables and nodes ---- */

static void cable(void)
{
	unsigned int node, port;
	bool up;

	some_cable(&node, &port);
	up = !sim_link_up(s->sim, node, port);
	story_event_at(up ? "cable plugged" : "cable pulled", name_of(node), port);
	sim_link_set(s->sim, node, port, up);
}

static void swapped(void)
{
	unsigned int node, port, other;

	some_cable(&node, &port);
	other = below(2) ? scenario_random_switch(s) : scenario_random_host(s);
	story_event_at("cable changes places", name_of(node), port);
	story_say(name_of(other));
	sim_cable_swap(s->sim, node, port, other, some_port(other));
}

static void worn(void)
{
	static const unsigned int mbps[] = {2500, 10000, 25781, 212500};
	unsigned int node, port, lanes = below(2) ? 12 : 1, speed = mbps[below(4)];

	some_cable(&node, &port);
	story_event_at("cable worn", name_of(node), port);
	sim_link_degrade(s->sim, node, port, lanes, speed);
}

static void flaps(void)
{
	uint64_t first_ns = below(20) * NS_PER_MS, each_ns = (1 + below(60)) * NS_PER_MS;
	unsigned int node, port, n = 1 + below(8);

	some_cable(&node, &port);
	story_event_at("cable flaps", name_of(node), port);
	sim_link_flap(s->sim, node, port, first_ns, each_ns, n);
}

static void black_hole(void)
{
	unsigned int node, port;

	some_cable(&node, &port);
	story_event_at("what leaves by it vanishes", name_of(node), port);
	sim_link_black_hole(s->sim, node, port, true);
}

static void power(void)
{
	unsigned int node = some_node();
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	story_event_at(view.up ? "switched off" : "switched on", name_of(node), 0);
	sim_node_set(s->sim, node, !view.up);
}

static void reboot(void)
{
	unsigned int node = some_node();

	story_event_at("reboots", name_of(node), 0);
	sim_node_set(s->sim, node, false);
	if (below(2))
		scenario_run_ms(s, below(2000));
	sim_node_set(s->sim, node, true);
}

static void adapter(void)
{
	unsigned int node = scenario_sm_node(s, NULL);

	story_event("the adapter of the SM is gone for a while");
	sim_device_set(s->sim, node, false);
	scenario_run_ms(s, below(3000));
	sim_device_set(s->sim, node, true);
}

static void own_cable(void)
{
	unsigned int port, node = scenario_sm_node(s, &port);

	story_event("the cable of the SM is pulled for a while");
	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, below(3000));
	sim_link_set(s->sim, node, port, true);
}

/* ---- nodes that do not do as they should ---- */

static void mute(void)
{
	unsigned int node = some_node();
	bool on = below(2);

	story_event_at(on ? "mute" : "answers", name_of(node), 0);
	sim_node_mute(s->sim, node, on);
}

static void refuses(void)
{
	static const uint16_t attributes[] = {IBA_ATTR_SWITCH_INFO, IBA_ATTR_PORT_INFO,
					      IBA_ATTR_LINEAR_FORWARDING_TABLE,
					      IBA_ATTR_MULTICAST_FORWARDING_TABLE,
					      IBA_ATTR_P_KEY_TABLE, 0};
	unsigned int node = some_node();
	uint16_t attribute = attributes[below(G_N_ELEMENTS(attributes))];

	story_event_at("refuses", name_of(node), attribute);
	sim_node_refuse(s->sim, node, attribute);
}

static void stubborn(void)
{
	unsigned int node = some_node();
	bool on = below(2);

	story_event_at(on ? "changes nothing" : "does as it is told", name_of(node), 0);
	sim_node_stubborn(s->sim, node, on);
}

static void loss(void)
{
	static const char *const packets[] = {
		"Get(NodeInfo)",    "GetResp(NodeInfo)",	"Get(PortInfo)",
		"Set(PortInfo)",    "GetResp(SwitchInfo)",	"Set(SwitchInfo)",
		"Get(P_KeyTable)",  "Set(LinearForwardingTable)", "GetResp(PortInfo)",
		"Set(P_KeyTable)",  "Set(MulticastForwardingTable)"};
	const char *packet = packets[below(G_N_ELEMENTS(packets))];
	const char *where = name_of(some_node());

	story_event_at("are lost", where, 0);
	story_say(packet);
	story_lose(packet, where);
}

static void other_guid(void)
{
	unsigned int node = some_node();
	struct sim_node_view view;

	sim_node_view(s->sim, below(2) ? node : some_node(), &view);
	story_event_at("has the GUID of some other, or its own", name_of(node), 0);
	sim_set_node_guid(s->sim, node, view.node_guid);
}

static void small_tables(void)
{
	unsigned int node = scenario_random_switch(s);

	story_event_at("has smaller tables", name_of(node), 0);
	sim_set_linear_fdb_cap(s->sim, node, (uint16_t)(6 + below(60)));
	sim_set_multicast_fdb_cap(s->sim, node, (uint16_t)(below(3) * 32));
}

/* Until it is reset. */
static void lesser(void)
{
	static const uint32_t capabilities[] = {
		IBA_PORT_CAP_SL_MAPPING, IBA_PORT_CAP_CLIENT_REREGISTRATION,
		IBA_PORT_CAP_EXTENDED_SPEEDS, IBA_PORT_CAP_MULTICAST_FDB_TOP, IBA_PORT_CAP_TRAP};
	unsigned int node = some_node(), port = some_port(node);
	struct iba_port_info *info =
		(struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, node, port);

	story_event_at("can do less, or more", name_of(node), port);
	info->capability_mask &= ~capabilities[below(G_N_ELEMENTS(capabilities))];
	info->vl_cap = (uint8_t)(1 + below(4));
	info->mtu_cap = (uint8_t)(2 + below(4));
	info->vl_arbitration_low_cap = (uint8_t)(below(3) * 32);
	info->vl_arbitration_high_cap = (uint8_t)(below(3) * 32);
}

static void foreign_key(void)
{
	unsigned int node = some_node(), level = below(3), lease = below(2) * 20;
	uint64_t m_key = below(3) ? 0xF00D : 0;
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	story_event_at("gets the M_Key of somebody else, or none", name_of(node), 0);
	sim_set_m_key(s->sim, node, view.type == IBA_NODE_SWITCH ? 0 : 1, m_key, (uint8_t)level,
		      (uint16_t)lease);
}

/* ---- others ---- */

static void renamed(void)
{
	unsigned int node = some_node();
	g_autofree char *name = g_strdup_printf("renamed %u", node);

	story_event_at("has another name", name_of(node), 0);
	sim_set_description(s->sim, node, name);
}

static void written_by_others(void)
{
	unsigned int node = scenario_random_switch(s), host = scenario_random_host(s);
	unsigned int lid = 1 + below(12), port = below(4);
	struct iba_port_info *info =
		(struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, host, 1);
	struct sim_node_view view;

	story_event_at("somebody writes to it", name_of(node), 0);
	story_say(name_of(host));
	sim_node_view(s->sim, node, &view);
	if (view.switch_info->linear_fdb_top) /* it holds any */
		((uint8_t *)(uintptr_t)view.lft)[lid] = (uint8_t)port;
	info->master_sm_lid = below(2) ? info->master_sm_lid : 9;
	info->lid = below(2) ? info->lid : (uint16_t)below(20);
	info->port_state = below(4) ? info->port_state : IBA_PORT_ARMED;
}

static void traps(void)
{
	static const uint16_t numbers[] = {128, 129, 130, 144, 145, 256, 257};
	unsigned int node = some_node(), n = 1 + below(12);

	story_event_at("traps", name_of(node), 0);
	for (unsigned int i = 0; i < n; i++) {
		struct iba_notice notice = {.is_generic = true,
					    .trap_number = numbers[below(G_N_ELEMENTS(numbers))],
					    .issuer_lid = scenario_lid(s, some_node())};

		for (unsigned int j = 0; j < 12; j++)
			notice.data_details[j] = (uint8_t)below(3);
		sim_trap(s->sim, node, 1, &notice);
		scenario_run_ms(s, below(20));
	}
}

static void member(void)
{
	unsigned int i = below(CLIENTS);

	if (below(2)) {
		story_event_at("joins", "client", i);
		client_send_member(clients[i], true);
	} else {
		story_event_at("leaves", "client", i);
		client_send_member(clients[i], false);
	}
}

static void group(void)
{
	const struct iba_gid mgid = {UINT64_C(0xFF12A01BFE800000), 7 + below(40)};
	unsigned int i = below(CLIENTS);

	story_event_at("joins a group of its own, or leaves it", "client", i);
	client_member(clients[i], below(3) ? IBA_METHOD_SET : IBA_METHOD_DELETE, mgid,
		      client_guid(clients[i]), &(uint16_t){0});
}

static void tables_wanted(void)
{
	enum inventory_kind kind = below(INVENTORY_KINDS);
	uint16_t lid = below(2) ? 0 : scenario_lid(s, some_node());

	story_event_at("tables are wanted", "LID", lid);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(kind, lid, INVENTORY_ALL_PORTS));
}

/* ---- what the operator does ---- */

static const char *const confs[] = {
	LOUD,
	LOUD "lmc 1\nlmc_esp0 TRUE\n",
	LOUD "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 60\n",
	LOUD "m_key 0x5678\nm_key_protection_level 2\n",
	LOUD "routing_engine updn\nuse_mfttop FALSE\nmc_spread_roots TRUE\n",
	LOUD "routing_engine dfsssp\nqos TRUE\nqos_high_limit 3\n",
	LOUD "routing_engine ftree,lash\npart_enforce out\nfsync_high_avail_files FALSE\n",
	LOUD "qos TRUE\nqos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15\nmax_op_vls 3\n",
	POLICY "log_flags 0xFF\nsweep_interval 5\naudit_nodes 3\nmax_wire_smps 2\n",
	POLICY LOUD "babbling_port_policy TRUE\nreassign_lids TRUE\ntransaction_retries 1\n",
	LOUD "honor_guid2lid_file TRUE\ndisable_multicast TRUE\nno_clients_rereg TRUE\n",
	LOUD "partition_aware_routing TRUE\nclient_rereg_rate 2\nsubnet_timeout 16\n",
};

#define PER_PORT "m_key_per_port TRUE\nm_key_update_interval 10\nm_key_seed_file DIRECTORY/seed\n"

static const char *const confs_of_keys[] = {
	LOUD,
	LOUD "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 60\n",
	LOUD "m_key 0x5678\nm_key_protection_level 2\n",
	LOUD "m_key 0x9ABC\nm_key_protection_level 3\nm_key_lease_period 20\n",
	LOUD PER_PORT "m_key_protection_level 2\n",
	LOUD PER_PORT "m_key_protection_level 1\nm_key_lookup FALSE\naudit_nodes 2\n",
	LOUD PER_PORT "m_key_protection_level 3\nm_key_lease_period 30\nsweep_interval 7\n",
};

static const char *const confs_of_lanes[] = {
	LOUD "routing_engine dfsssp\n",
	LOUD "routing_engine lash\nqos TRUE\nqos_high_limit 4\n",
	LOUD "routing_engine nue,dfsssp\nmax_op_vls 3\n",
	LOUD "routing_engine dfsssp,updn\nmax_op_vls 1\n",
	LOUD "routing_engine minhop\nqos TRUE\nmax_op_vls 2\n",
	LOUD "routing_engine dfsssp\nuse_optimized_slvl TRUE\nlmc 1\nsm_sl 1\n",
};

static const char *const confs_of_groups[] = {
	LOUD,
	LOUD "mc_spread_roots TRUE\n",
	LOUD "routing_engine updn\nuse_mfttop FALSE\n",
	LOUD "routing_engine ftree\nlmc 1\nmc_spread_roots TRUE\n",
	"log_flags 0xFF\nsweep_interval 3\nrouting_engine minhop\naudit_nodes 4\n",
};

static const char *const confs_of_the_sick[] = {
	POLICY LOUD,
	POLICY LOUD "babbling_port_policy TRUE\n",
	POLICY "log_flags 0xFF\nsweep_interval 4\nbabbling_port_policy TRUE\n",
};

static const char *some_conf(void)
{
	return theme->confs[below(theme->n_confs)];
}

static void configured(const char *conf)
{
	g_autofree char *text = story_conf(conf);

	scenario_conf(s, text);
	story_event(conf);
}

static void rereads(void)
{
	configured(some_conf());
	daemon_reread_logged(s->daemon);
}

static void restarts(void)
{
	configured(some_conf());
	scenario_stop(s);
	/* a wrong one stops the start */
	story_write("policy", "flapping all isolate 3 in 60 release 20\n");
	story_watch(NULL, s->sm_guid);
	scenario_start(s);
}

static void partitions(void)
{
	static const char *const files[] = {
		"Default=0x7fff,ipoib:ALL=full;\n",
		("Default=0x7fff,ipoib:ALL=limited,SELF=full;\n"
		 "A=0x10:0x0200000000000501=full,0x0200000000000601=limited;\n"),
		"Default=0x7fff,ipoib:ALL=full;\nB=0x11:ALL=full;\nC=0x12:ALL_SWITCHES=full;\n",
	};

	story_event("other partitions");
	story_write("partitions.conf", files[below(G_N_ELEMENTS(files))]);
	daemon_reread_partitions(s->daemon);
	daemon_sweep(s->daemon, SWEEP_POLICY);
}

static void policy(void)
{
	static const char *const files[] = {
		"flapping all isolate 3 in 60 release 20\n"
		"noisy_traps all disable 5 in 60 release 30\n",
		"flapping switch disable 2 in 60 release 40 cut_off\nreboot ca isolate 2 in 60\n",
		"unresponsive all no_discover 1 of 2 release 20\n"
		"illegal all disable 1 in 9 release 9\n",
		"set_errors all isolate 2 of 4 release 30 cut_off\nflapping ca ignore\n",
		"nonsense\n",
	};

	story_event("another policy of unhealthy ports");
	story_write("policy", files[below(G_N_ELEMENTS(files))]);
	daemon_reread_logged(s->daemon);
}

/* It has counted errors of a port of it. */
static void errors(void)
{
	struct iba_trap_port details = {.lid = scenario_lid(s, some_node()),
					.port_num = (uint8_t)below(7)};
	unsigned int node = some_node(), n = 1 + below(300);

	story_event_at("tells of errors of a port", name_of(node), details.port_num);
	for (unsigned int i = 0; i < n; i++) {
		struct iba_notice notice = {.is_generic = true,
					    .trap_number = (uint16_t)(129 + below(3)),
					    .issuer_lid = details.lid};

		wire_encode(&iba_trap_port_type, &details, notice.data_details);
		sim_trap(s->sim, node, 1, &notice);
		scenario_run_ms(s, 1 + below(40));
	}
}

static void much_time(void)
{
	story_event("time passes");
	scenario_run_ms(s, 1000 * below(400));
}

static void sweeps(void)
{
	static const enum sweep_reason reasons[] = {SWEEP_LIGHT, SWEEP_HEAVY, SWEEP_REROUTE,
						    SWEEP_POLICY};
	enum sweep_reason reason = reasons[below(G_N_ELEMENTS(reasons))];

	story_event_at("a sweep is asked for", "reason", reason);
	daemon_sweep(s->daemon, reason);
}

static void asks(void)
{
	static const enum event_type events[] = {EVENT_AUDIT_WANTED, EVENT_DESCRIPTIONS_WANTED,
						 EVENT_UNHEALTHY_RELEASED};
	enum event_type event = events[below(G_N_ELEMENTS(events))];

	story_event(event_name(event));
	event_emit(&daemon_context(s->daemon)->bus, event, 0);
}

/* ---- the story ---- */

static void note_guids(void)
{
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		g_assert(node < NODES);
		sim_node_view(s->sim, node, &view);
		guids[node] = view.node_guid;
	}
}

static void mended(void)
{
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		sim_node_mute(s->sim, node, false);
		sim_node_refuse(s->sim, node, 0);
		sim_node_stubborn(s->sim, node, false);
		sim_set_node_guid(s->sim, node, guids[node]);
		for (unsigned int port = 0; port <= view.num_ports; port++)
			if (sim_port_guid(s->sim, node, port))
				sim_set_m_key(s->sim, node, port, 0, 0, 0);
		for (unsigned int port = 1; port <= view.num_ports; port++) {
			sim_link_black_hole(s->sim, node, port, false);
			sim_link_set(s->sim, node, port, true);
		}
		sim_node_set(s->sim, node, false);
		sim_node_set(s->sim, node, true);
	}
	story_lose(NULL, NULL);
	story_write("partitions.conf", "Default=0x7fff,ipoib:ALL=full;\n");
}

static void (*const all_happens[])(void) = {
	cable, cable, cable, swapped, worn, flaps, black_hole, power, power, reboot, reboot,
	adapter, own_cable, mute, mute, refuses, stubborn, loss, other_guid, small_tables,
	written_by_others, traps, member, member, group, tables_wanted, rereads, restarts,
	partitions, sweeps, asks, lesser, foreign_key, renamed, lesser,
};

static void (*const to_keys[])(void) = {
	foreign_key, foreign_key, rereads, rereads, restarts, reboot, power, cable, swapped,
	mute, loss, sweeps, adapter, much_time, much_time, own_cable, asks, other_guid,
};

static void (*const to_groups[])(void) = {
	member, group, member, group, member, group, tables_wanted, cable, cable, reboot,
	power, power, refuses, loss, small_tables, partitions, restarts, sweeps, mute, rereads,
	lesser, written_by_others,
};

static void (*const to_the_sick[])(void) = {
	flaps, flaps, flaps, reboot, reboot, mute, mute, refuses, stubborn, errors, errors,
	policy, asks, cable, power, sweeps, restarts, much_time, other_guid, swapped, rereads,
};

static void (*const to_lanes[])(void) = {
	cable, cable, cable, power, power, reboot, reboot, swapped, rereads, restarts,
	restarts, mute, refuses, loss, sweeps, sweeps, lesser, adapter, worn, asks, partitions,
	member, own_cable,
};

#define THEME(name, happenings, confs)                                                             \
	{                                                                                          \
		name, happenings, G_N_ELEMENTS(happenings), confs, G_N_ELEMENTS(confs)             \
	}

static const struct theme anything = THEME("", all_happens, confs);
static const struct theme keys = THEME("keys_", to_keys, confs_of_keys);
static const struct theme lanes = THEME("lanes_", to_lanes, confs_of_lanes);
static const struct theme groups = THEME("groups_", to_groups, confs_of_groups);
static const struct theme sick = THEME("sick_", to_the_sick, confs_of_the_sick);

/* The SM is on that node. */
static void begin(const char *name, const char *spec, uint64_t seed, const char *sm)
{
	struct sim_node_view view;
	unsigned int node;

	s = story_begin(name, spec);
	s->random = seed;
	node = story_node(sm);
	sim_node_view(s->sim, node, &view);
	s->sm_guid = sim_port_guid(s->sim, node, view.type == IBA_NODE_SWITCH ? 0 : 1);
	note_guids();
	scenario_option(s, "-y", NULL);
	story_briefly();
	story_write("policy", "flapping all isolate 3 in 60 release 20\n"
			      "unresponsive ca no_discover 2 of 3 release 30\n"
			      "set_errors all isolate 2 of 4 release 30\n");
	story_write("seed", "0123456789 and no more");
	story_up(some_conf());
}


/* On the first hosts that the SM is not on. */
static void meet_clients(const char *sm)
{
	unsigned int n = 0;

	for (unsigned int i = 0; n < CLIENTS; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		if (strcmp(name, sm) != 0 && sim_find_name(s->sim, name) >= 0)
			clients[n++] = client_new_subscriber(s, story_node(name));
	}
}

static void by_chance(const struct theme *about, const char *spec, uint64_t seed, const char *sm)
{
	g_autofree char *name =
		g_strdup_printf("chance_%s%" G_GUINT64_FORMAT, about->name, seed);

	theme = about;
	begin(name, spec, seed, sm);
	meet_clients(sm);
	for (unsigned int i = 0; i < EVENTS; i++) {
		theme->happenings[below(theme->n_happenings)]();
		some_time();
	}
	mended();
	story_restarts(QUIET);
	story_event("all is mended, and nothing counts as unhealthy");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_UNHEALTHY_RELEASED, 0);
	scenario_converge(s, 300);
	story_tell();
	for (unsigned int i = 0; i < CLIENTS; i++)
		client_free(clients[i]);
	story_end();
}

/* ---- several managers ---- */

static struct managers *m;

static unsigned int some_manager(void)
{
	return below(m->n);
}

/* What follows is told of that one. */
static void manager_event(const char *what, unsigned int of, unsigned int told)
{
	g_autofree char *text = g_strdup_printf("%s: sm%u; of sm%u", what, of + 1, told + 1);

	story_event(text);
	story_watch(m->sm[told].daemon, m->sm[told].guid);
}

static void manager_starts(unsigned int i)
{
	if (!m->sm[i].daemon)
		managers_start(m, i);
	manager_event("is started", i, i);
}

static void manager_dies(unsigned int i)
{
	manager_event("dies", i, some_manager());
	managers_kill(m, i);
	s->daemon = NULL;
}

static void manager_retires(unsigned int i)
{
	manager_event("retires", i, i);
	if (!m->sm[i].daemon)
		return;
	daemon_retire(m->sm[i].daemon);
	scenario_run_ms(s, 1500);
	story_tell();
	manager_dies(i);
}

static void manager_configured(unsigned int i)
{
	static const char *const options[] = {
		"", "sm_priority 3\n", "sm_priority 7\nsweep_interval 4\n",
		"ignore_other_sm TRUE\n", "sm_key 7\n", "master_sm_priority 9\n",
		"allowed_sm_guids 0x0200000000000401,0x0200000000000901\n"};
	const char *text = options[below(G_N_ELEMENTS(options))];
	g_autofree char *conf = NULL, *with_polls = g_strconcat(LOUD MANAGERS_POLLS, text, NULL);

	conf = story_conf(with_polls);
	manager_event("has other options", i, i);
	story_say(text);
	if (m->sm[i].daemon)
		managers_configure(m, i, conf);
}

static void manager_mute(unsigned int i)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);
	bool on = below(2);

	manager_event(on ? "its port is mute" : "its port answers", i, some_manager());
	sim_node_mute(s->sim, node, on);
}

static void manager_cable(unsigned int i)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);
	bool up = !sim_link_up(s->sim, node, 1);

	manager_event(up ? "its cable is plugged" : "its cable is pulled", i, below(2) ? i : 0);
	sim_link_set(s->sim, node, 1, up);
}

static void manager_adapter(unsigned int i)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);

	manager_event("its adapter is gone for a while", i, below(2) ? i : 0);
	sim_device_set(s->sim, node, false);
	scenario_run_ms(s, below(2500));
	sim_device_set(s->sim, node, true);
}

static void manager_controlled(unsigned int i)
{
	unsigned int control = IBA_SM_INFO_HANDOVER + below(5);

	manager_event("is sent a control", i, i);
	story_say(iba_name(IBA_SET_SM_INFO_MOD, control) ?: "none");
	if (m->sm[i].daemon)
		managers_control(m, i, "host-4", control);
}

static void manager_loss(unsigned int i)
{
	static const char *const packets[] = {
		"Set(SMInfo)", "Get(SMInfo)", "GetResp(SMInfo)", "Set(?)", "Trap(Notice)",
		NULL,	       NULL};
	const char *packet = packets[below(G_N_ELEMENTS(packets))];
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);

	manager_event("are lost to it or from it", i, some_manager());
	story_say(packet ?: "none");
	story_lose(packet, packet ? name_of(node) : NULL);
}

static void manager_cut_off(unsigned int i)
{
	bool joined = !sim_link_up(s->sim, story_node("sw-a"), 5);

	manager_event(joined ? "two parts are joined" : "two parts are cut off", i, i);
	sim_link_set(s->sim, story_node("sw-a"), 5, joined);
	sim_link_set(s->sim, story_node("sw-a"), 6, joined);
}

static void manager_sweeps(unsigned int i)
{
	manager_event("sweeps", i, i);
	if (m->sm[i].daemon)
		daemon_sweep(m->sm[i].daemon, below(2) ? SWEEP_HEAVY : SWEEP_LIGHT);
}

static void manager_reboots(unsigned int i)
{
	manager_event("something reboots", i, i);
	reboot();
}

static void (*const dealings[])(unsigned int i) = {
	manager_starts, manager_starts, manager_starts, manager_dies, manager_retires,
	manager_configured, manager_mute, manager_cable, manager_cable, manager_adapter,
	manager_controlled, manager_loss, manager_cut_off, manager_cut_off, manager_sweeps,
	manager_reboots, manager_configured,
};

static void begin_managers(const char *name)
{
	static const char *const hosts[] = {"host-1", "host-6", "host-3"};
	g_autofree char *file = story_topology("triangle.topo"), *text = NULL;

	m = managers_new(file, 1);
	s = m->s;
	story_on(name, s);
	story_briefly();
	text = story_conf(LOUD MANAGERS_POLLS "replication_key_file DIRECTORY/key\n");
	story_write("key", "a key that all of them share, 0123456789\n");
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		managers_add(m, hosts[i], text);
	note_guids();
	manager_starts(0);
	story_after_ms(2000);
}

START_TEST(about_keys)
{
	by_chance(&keys, "triangle.topo", 1 + _i, _i ? "host-1" : "sw-b");
}
END_TEST

START_TEST(about_lanes)
{
	by_chance(&lanes, _i == 3 ? "../scenario/dual_plane.topo" : "ring.topo", 1 + _i, "host-1");
}
END_TEST

START_TEST(about_groups)
{
	by_chance(&groups, _i % 2 ? "fattree:4" : "triangle.topo", 1 + _i, "host-1");
}
END_TEST

START_TEST(about_the_sick)
{
	by_chance(&sick, _i % 2 ? "fattree:4" : "triangle.topo", 1 + _i, "host-1");
}
END_TEST

START_TEST(managers_by_chance)
{
	g_autofree char *name = g_strdup_printf("chance_managers_%d", _i + 1), *conf = NULL;

	begin_managers(name);
	conf = story_conf(QUIET MANAGERS_POLLS);
	s->random = (uint64_t)_i + 1000;
	for (unsigned int i = 0; i < EVENTS; i++) {
		unsigned int what = below(G_N_ELEMENTS(dealings));

		dealings[what](some_manager());
		some_time();
	}
	mended();
	for (unsigned int i = 0; i < m->n; i++) {
		manager_dies(i);
		g_assert(g_file_set_contents(m->sm[i].conf, conf, -1, NULL));
	}
	manager_starts(0);
	manager_starts(1);
	managers_settle(m, MANAGERS_ANY, 60);
	story_tell();
	story_compare();
	managers_free(m);
}
END_TEST

#define SEEDS 4 /* of a test */

START_TEST(one_day)
{
	by_chance(&anything, "triangle.topo", 1 + _i, "host-1");
}
END_TEST

START_TEST(another_day)
{
	by_chance(&anything, "triangle.topo", 1 + SEEDS + _i, "host-4");
}
END_TEST

START_TEST(on_a_switch)
{
	by_chance(&anything, "triangle.topo", 1 + 2 * SEEDS + _i, "sw-a");
}
END_TEST

START_TEST(on_two_switches)
{
	by_chance(&anything, "triangle.topo", 1 + 3 * SEEDS + _i, "dual");
}
END_TEST

START_TEST(in_a_tree)
{
	by_chance(&anything, "fattree:4", 1 + 4 * SEEDS + _i, "host-0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chance_golden");
	TCase *tcase = tcase_create("stories");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, one_day, 0, SEEDS);
	tcase_add_loop_test(tcase, another_day, 0, SEEDS);
	tcase_add_loop_test(tcase, on_a_switch, 0, SEEDS);
	tcase_add_loop_test(tcase, on_two_switches, 0, SEEDS);
	tcase_add_loop_test(tcase, in_a_tree, 0, SEEDS);
	tcase_add_loop_test(tcase, about_keys, 0, SEEDS);
	tcase_add_loop_test(tcase, about_lanes, 0, SEEDS);
	tcase_add_loop_test(tcase, about_groups, 0, SEEDS);
	tcase_add_loop_test(tcase, about_the_sick, 0, SEEDS);
	tcase_add_loop_test(tcase, managers_by_chance, 0, SEEDS);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

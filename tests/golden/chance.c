// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "chance.h"

#include <string.h>

#include "subnet/inventory.h"
#include "tests/scenario/client.h"

#define EVENTS 50
#define CLIENTS 3
#define NODES 64 /* at most */
#define POLICY "hm_ports_health_policy_file DIRECTORY/policy\n"

struct theme {
	const char *name;
	void (*const *happenings)(void);
	unsigned int n_happenings;
	const char *const *confs;
	unsigned int n_confs;
	void (*passes)(void); /* lets time pass between two events */
};

static struct scenario *s;
static const struct theme *theme;
static struct client *clients[CLIENTS];
static uint64_t guids[NODES]; /* of nodes, at the start */

unsigned int chance_below(unsigned int n)
{
	return scenario_random(s, n);
}

/* A node that the SM is not on. */
static unsigned int some_node(void)
{
	return chance_below(3) ? scenario_random_host(s) : scenario_random_switch(s);
}

const char *chance_name(unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.description;
}

static unsigned int some_port(unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return 1 + chance_below(view.num_ports);
}

/* An end of a cable. */
static void some_cable(unsigned int *node, unsigned int *port)
{
	unsigned int peer, peer_port;

	do {
		*node = chance_below(4) ? scenario_random_switch(s) : scenario_random_host(s);
		*port = some_port(*node);
	} while (!sim_peer(s->sim, *node, *port, &peer, &peer_port));
}

/* Often so short that a sweep has not ended. */
void chance_time(void)
{
	static const unsigned int ms[] = {0, 0, 3, 40, 300, 2000, 2000, 12000, 70000};
	uint64_t us = chance_below(1500);

	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
	story_after_ms(ms[chance_below(G_N_ELEMENTS(ms))]);
}

/* Nearly always in the middle of a sweep. */
static void a_moment(void)
{
	uint64_t us = chance_below(4) ? chance_below(2500) : 0;

	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
	if (!chance_below(3))
		story_after_ms(chance_below(3) ? 3 : 1500);
	else if (chance_below(2))
		daemon_sweep(s->daemon, chance_below(2) ? SWEEP_HEAVY : SWEEP_LIGHT);
}

/* ---- cables and nodes ---- */

static void cable(void)
{
	unsigned int node, port;
	bool up;

	some_cable(&node, &port);
	up = !sim_link_up(s->sim, node, port);
	story_event_at(up ? "cable plugged" : "cable pulled", chance_name(node), port);
	sim_link_set(s->sim, node, port, up);
}

static void swapped(void)
{
	unsigned int node, port, other;

	some_cable(&node, &port);
	other = chance_below(2) ? scenario_random_switch(s) : scenario_random_host(s);
	story_event_at("cable changes places", chance_name(node), port);
	story_say(chance_name(other));
	sim_cable_swap(s->sim, node, port, other, some_port(other));
}

static void worn(void)
{
	static const unsigned int mbps[] = {2500, 10000, 25781, 212500};
	unsigned int node, port, lanes = chance_below(2) ? 12 : 1, speed = mbps[chance_below(4)];

	some_cable(&node, &port);
	story_event_at("cable worn", chance_name(node), port);
	sim_link_degrade(s->sim, node, port, lanes, speed);
}

static void flaps(void)
{
	uint64_t first_ns = chance_below(20) * NS_PER_MS;
	uint64_t each_ns = (1 + chance_below(60)) * NS_PER_MS;
	unsigned int node, port, n = 1 + chance_below(8);

	some_cable(&node, &port);
	story_event_at("cable flaps", chance_name(node), port);
	sim_link_flap(s->sim, node, port, first_ns, each_ns, n);
}

static void black_hole(void)
{
	unsigned int node, port;

	some_cable(&node, &port);
	story_event_at("what leaves by it vanishes", chance_name(node), port);
	sim_link_black_hole(s->sim, node, port, true);
}

static void power(void)
{
	unsigned int node = some_node();
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	story_event_at(view.up ? "switched off" : "switched on", chance_name(node), 0);
	sim_node_set(s->sim, node, !view.up);
}

void chance_reboot(void)
{
	unsigned int node = some_node();

	story_event_at("reboots", chance_name(node), 0);
	sim_node_set(s->sim, node, false);
	if (chance_below(2))
		scenario_run_ms(s, chance_below(2000));
	sim_node_set(s->sim, node, true);
}

static void adapter(void)
{
	unsigned int node = scenario_sm_node(s, NULL);

	story_event("the adapter of the SM is gone for a while");
	sim_device_set(s->sim, node, false);
	scenario_run_ms(s, chance_below(3000));
	sim_device_set(s->sim, node, true);
}

static void own_cable(void)
{
	unsigned int port, node = scenario_sm_node(s, &port);

	story_event("the cable of the SM is pulled for a while");
	sim_link_set(s->sim, node, port, false);
	scenario_run_ms(s, chance_below(3000));
	sim_link_set(s->sim, node, port, true);
}

/* ---- nodes that misbehave ---- */

static void mute(void)
{
	unsigned int node = some_node();
	bool on = chance_below(2);

	story_event_at(on ? "mute" : "answers", chance_name(node), 0);
	sim_node_mute(s->sim, node, on);
}

static void refuses(void)
{
	static const uint16_t attributes[] = {IBA_ATTR_SWITCH_INFO, IBA_ATTR_PORT_INFO,
					      IBA_ATTR_LINEAR_FORWARDING_TABLE,
					      IBA_ATTR_MULTICAST_FORWARDING_TABLE,
					      IBA_ATTR_P_KEY_TABLE, 0};
	unsigned int node = some_node();
	uint16_t attribute = attributes[chance_below(G_N_ELEMENTS(attributes))];

	story_event_at("refuses", chance_name(node), attribute);
	sim_node_refuse(s->sim, node, attribute);
}

static void stubborn(void)
{
	unsigned int node = some_node();
	bool on = chance_below(2);

	story_event_at(on ? "changes nothing" : "does as it is told", chance_name(node), 0);
	sim_node_stubborn(s->sim, node, on);
}

static void loss(void)
{
	static const char *const packets[] = {
		"Get(NodeInfo)",    "GetResp(NodeInfo)",	"Get(PortInfo)",
		"Set(PortInfo)",    "GetResp(SwitchInfo)",	"Set(SwitchInfo)",
		"Get(P_KeyTable)",  "Set(LinearForwardingTable)", "GetResp(PortInfo)",
		"Set(P_KeyTable)",  "Set(MulticastForwardingTable)"};
	const char *packet = packets[chance_below(G_N_ELEMENTS(packets))];
	const char *where = chance_name(some_node());

	story_event_at("are lost", where, 0);
	story_say(packet);
	story_lose(packet, where);
}

static void other_guid(void)
{
	unsigned int node = some_node();
	struct sim_node_view view;

	sim_node_view(s->sim, chance_below(2) ? node : some_node(), &view);
	story_event_at("has the GUID of some other, or its own", chance_name(node), 0);
	sim_set_node_guid(s->sim, node, view.node_guid);
}

static void small_tables(void)
{
	unsigned int node = scenario_random_switch(s);

	story_event_at("has smaller tables", chance_name(node), 0);
	sim_set_linear_fdb_cap(s->sim, node, (uint16_t)(6 + chance_below(60)));
	sim_set_multicast_fdb_cap(s->sim, node, (uint16_t)(chance_below(3) * 32));
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

	story_event_at("can do less, or more", chance_name(node), port);
	info->capability_mask &= ~capabilities[chance_below(G_N_ELEMENTS(capabilities))];
	info->vl_cap = (uint8_t)(1 + chance_below(4));
	info->mtu_cap = (uint8_t)(2 + chance_below(4));
	info->vl_arbitration_low_cap = (uint8_t)(chance_below(3) * 32);
	info->vl_arbitration_high_cap = (uint8_t)(chance_below(3) * 32);
}

static void foreign_key(void)
{
	unsigned int node = some_node(), level = chance_below(3), lease = chance_below(2) * 20;
	uint64_t m_key = chance_below(3) ? 0xF00D : 0;
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	story_event_at("gets the M_Key of somebody else, or none", chance_name(node), 0);
	sim_set_m_key(s->sim, node, view.type == IBA_NODE_SWITCH ? 0 : 1, m_key, (uint8_t)level,
		      (uint16_t)lease);
}

/* ---- others ---- */

static void renamed(void)
{
	unsigned int node = some_node();
	g_autofree char *name = g_strdup_printf("renamed %u", node);

	story_event_at("has another name", chance_name(node), 0);
	sim_set_description(s->sim, node, name);
}

static void written_by_others(void)
{
	unsigned int node = scenario_random_switch(s), host = scenario_random_host(s);
	unsigned int lid = 1 + chance_below(12), port = chance_below(4);
	struct iba_port_info *info =
		(struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, host, 1);
	struct sim_node_view view;

	story_event_at("somebody writes to it", chance_name(node), 0);
	story_say(chance_name(host));
	sim_node_view(s->sim, node, &view);
	if (view.switch_info->linear_fdb_top) /* it holds any */
		((uint8_t *)(uintptr_t)view.lft)[lid] = (uint8_t)port;
	info->master_sm_lid = chance_below(2) ? info->master_sm_lid : 9;
	info->lid = chance_below(2) ? info->lid : (uint16_t)chance_below(20);
	info->port_state = chance_below(4) ? info->port_state : IBA_PORT_ARMED;
}

static void traps(void)
{
	static const uint16_t numbers[] = {128, 129, 130, 144, 145, 256, 257};
	unsigned int node = some_node(), n = 1 + chance_below(12);

	story_event_at("traps", chance_name(node), 0);
	for (unsigned int i = 0; i < n; i++) {
		struct iba_notice notice = {.is_generic = true};

		notice.trap_number = numbers[chance_below(G_N_ELEMENTS(numbers))];
		notice.issuer_lid = scenario_lid(s, some_node());
		for (unsigned int j = 0; j < 12; j++)
			notice.data_details[j] = (uint8_t)chance_below(3);
		sim_trap(s->sim, node, 1, &notice);
		scenario_run_ms(s, chance_below(20));
	}
}

static void member(void)
{
	unsigned int i = chance_below(CLIENTS);

	if (chance_below(2)) {
		story_event_at("joins", "client", i);
		client_send_member(clients[i], true);
	} else {
		story_event_at("leaves", "client", i);
		client_send_member(clients[i], false);
	}
}

static void group(void)
{
	const struct iba_gid mgid = {UINT64_C(0xFF12A01BFE800000), 7 + chance_below(40)};
	unsigned int i = chance_below(CLIENTS);

	story_event_at("joins a group of its own, or leaves it", "client", i);
	client_member(clients[i], chance_below(3) ? IBA_METHOD_SET : IBA_METHOD_DELETE, mgid,
		      client_guid(clients[i]), &(uint16_t){0});
}

static void tables_wanted(void)
{
	enum inventory_kind kind = chance_below(INVENTORY_KINDS);
	uint16_t lid = chance_below(2) ? 0 : scenario_lid(s, some_node());

	story_event_at("tables are wanted", "LID", lid);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_INVENTORY_WANTED,
		   inventory_want(kind, lid, INVENTORY_ALL_PORTS));
}

static void subscribes(void)
{
	unsigned int i = chance_below(CLIENTS);
	bool on = chance_below(3);

	story_event_at(on ? "subscribes" : "unsubscribes", "client", i);
	client_inform(clients[i], (struct iba_inform_info){
					  .lid_range_begin = 0xFFFF,
					  .is_generic = 1,
					  .subscribe = on,
					  .type = 0xFFFF,
					  .trap_number = 0xFFFF,
					  .producer_type = 0xFFFFFF,
				  });
}

static void deaf(void)
{
	unsigned int i = chance_below(CLIENTS);
	bool on = chance_below(2);

	story_event_at(on ? "is deaf" : "hears", "client", i);
	client_set_deaf(clients[i], on);
}

static void alias(void)
{
	unsigned int i = chance_below(CLIENTS), index = 1 + chance_below(20);
	uint8_t method = chance_below(4) ? IBA_METHOD_SET : IBA_METHOD_DELETE;
	unsigned int node = (unsigned int)sim_find_guid(s->sim, client_guid(clients[i]));
	struct iba_guid_info_record record = {.lid = scenario_lid(s, node),
					      .block_num = (uint8_t)(index / 8)};

	story_event_at("has an alias GUID set or deleted", "client", i);
	if (chance_below(2))
		record.guid_info.guid[index % 8] = 0x0002C90300000000 + chance_below(3);
	client_ask(clients[i], method, IBA_ATTR_GUID_INFO_RECORD,
		   IBA_COMPONENT(guid_info_record, lid) |
			   IBA_COMPONENT(guid_info_record, block_num) |
			   UINT64_C(1) << (4 + index % 8),
		   &iba_guid_info_record_type, &record);
}

/* Of a table, or NULL. */
static void spoil(const uint8_t *octets, unsigned int n)
{
	unsigned int i = chance_below(n);

	if (octets)
		((uint8_t *)(uintptr_t)octets)[i] = (uint8_t)chance_below(4);
}

/* Tables have other entries, and no trap reports it. */
static void spoiled(void)
{
	unsigned int node = some_node(), port = some_port(node), n;
	const uint16_t *keys = sim_p_keys(s->sim, node, port, &n);
	struct sim_node_view view;
	struct iba_port_info *info =
		(struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, node, port);

	story_event_at("tables are spoiled", chance_name(node), port);
	sim_node_view(s->sim, node, &view);
	if (n > 1) { /* or it has never been written */
		uint16_t *key = (uint16_t *)(uintptr_t)&keys[chance_below(n)];

		*key = (uint16_t)chance_below(20);
	}
	spoil(view.switch_info && view.switch_info->linear_fdb_top ? view.lft : NULL, 12);
	spoil(sim_sl_to_vl(s->sim, node, port, 0), 8);
	spoil(sim_vl_arbitration(s->sim, node, port, 1), 8);
	info->guid_cap = chance_below(2) ? 8 : 32;
	info->partition_enforcement_inbound = chance_below(2);
	info->neighbor_mtu = (uint8_t)(2 + chance_below(4));
	info->m_key_lease_period = (uint16_t)(chance_below(2) * 5);
	if (chance_below(2))
		event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
}

static void traps_are_lost(void)
{
	bool on = chance_below(2);

	story_event(on ? "traps are lost" : "traps are not lost");
	sim_set_traps_lost(s->sim, on);
}

static void network(void)
{
	unsigned int kind = chance_below(4);

	story_event_at("packets", kind ? kind == 1 ? "twice" : "late" : "on time", kind);
	sim_set_duplicate(s->sim, kind == 1 ? 0.3 : 0);
	sim_set_delay(s->sim, kind > 1 ? kind * NS_PER_MS : 300, kind > 1 ? NS_PER_MS : 0);
}

static void refuses_wildcards(void)
{
	unsigned int node = scenario_random_switch(s);

	story_event_at("refuses wildcards", chance_name(node), 0);
	sim_node_refuse_wildcards(s->sim, node, chance_below(2));
}

static void other_port_guid(void)
{
	unsigned int node = scenario_random_host(s);
	uint64_t guid = chance_below(2) ? sim_port_guid(s->sim, node, 1) : 0x7700 + node;

	story_event_at("has another PortGUID", chance_name(node), 1);
	sim_set_port_guid(s->sim, node, 1, guid);
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
	POLICY "log_flags 0xCF\nsweep_interval 5\naudit_nodes 3\nmax_wire_smps 2\n",
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
	"log_flags 0xCF\nsweep_interval 3\nrouting_engine minhop\naudit_nodes 4\n",
};

static const char *const confs_of_the_sick[] = {
	POLICY LOUD,
	POLICY LOUD "babbling_port_policy TRUE\n",
	POLICY "log_flags 0xCF\nsweep_interval 4\nbabbling_port_policy TRUE\n",
};

#define ALL                                                                                        \
	LOUD POLICY "qos TRUE\nqos_high_limit 3\nqos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15\n"

static const char *const confs_of_moments[] = {
	ALL "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 8\n",
	ALL "m_key 0x5678\nm_key_protection_level 2\nrouting_engine updn\nlmc 1\n",
	ALL "use_optimized_slvl TRUE\naudit_nodes 5\nrouting_engine dfsssp\nlmc_esp0 TRUE\n",
	ALL PER_PORT "m_key_protection_level 3\nuse_optimized_slvl TRUE\nmax_op_vls 2\n",
	ALL "use_mfttop FALSE\nmc_spread_roots TRUE\npart_enforce in\nlmc 2\n",
	ALL "keep_pkey_indexes FALSE\nsm_sl 1\nclient_rereg_rate 3\ntransaction_retries 1\n",
};

static const char *some_conf(void)
{
	return theme->confs[chance_below(theme->n_confs)];
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
	/* an invalid one would prevent the start */
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
	story_write("partitions.conf", files[chance_below(G_N_ELEMENTS(files))]);
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
	story_write("policy", files[chance_below(G_N_ELEMENTS(files))]);
	daemon_reread_logged(s->daemon);
}

/* The node has counted errors on one of its ports. */
static void errors(void)
{
	unsigned int other = some_node(), port = chance_below(7);
	struct iba_trap_port details = {.lid = scenario_lid(s, other), .port_num = (uint8_t)port};
	unsigned int node = some_node(), n = 1 + chance_below(300);

	story_event_at("tells of errors of a port", chance_name(node), details.port_num);
	for (unsigned int i = 0; i < n; i++) {
		struct iba_notice notice = {.is_generic = true,
					    .trap_number = (uint16_t)(129 + chance_below(3)),
					    .issuer_lid = details.lid};

		wire_encode(&iba_trap_port_type, &details, notice.data_details);
		sim_trap(s->sim, node, 1, &notice);
		scenario_run_ms(s, 1 + chance_below(40));
	}
}

static void much_time(void)
{
	story_event("time passes");
	scenario_run_ms(s, 1000 * chance_below(400));
}

static void sweeps(void)
{
	static const enum sweep_reason reasons[] = {SWEEP_LIGHT, SWEEP_HEAVY, SWEEP_REROUTE,
						    SWEEP_POLICY};
	enum sweep_reason reason = reasons[chance_below(G_N_ELEMENTS(reasons))];

	story_event_at("a sweep is asked for", "reason", reason);
	daemon_sweep(s->daemon, reason);
}

static void asks(void)
{
	static const enum event_type events[] = {EVENT_AUDIT_WANTED, EVENT_DESCRIPTIONS_WANTED,
						 EVENT_UNHEALTHY_RELEASED};
	enum event_type event = events[chance_below(G_N_ELEMENTS(events))];

	story_event(event_name(event));
	event_emit(&daemon_context(s->daemon)->bus, event, 0);
}

static void sweeps_allowed(void)
{
	bool on = chance_below(3);

	story_event(on ? "sweeps are allowed" : "sweeps are not allowed");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_ALLOWED, on);
}

static void change(void)
{
	static const char *const requests[] = {
		"0x10: 0x0200000000000501=full, 0x0200000000000601=none",
		"0x10: 0x0200000000000801=limited", "0x12: 0x0200000000000701=full", NULL};
	const char *request = requests[chance_below(G_N_ELEMENTS(requests))];
	g_autoptr(GError) error = NULL;
	uint64_t serial = 0;

	story_event(request ? request : "partition members are forgotten");
	daemon_change_partitions(s->daemon, request, request ? 0 : 0x10, &serial, &error);
	story_say(error ? "refused" : "taken");
}

static void take_plan(void *arg, GVariant *answer)
{
	*(GVariant **)arg = g_variant_ref_sink(answer);
}

static bool is_planned(void *arg)
{
	return *(GVariant **)arg != NULL;
}

/* Something happens while a plan is made. */
static void planned(void)
{
	g_autofree char *file = g_build_filename(s->directory, "other.conf", NULL);
	g_autofree char *conf = story_conf(some_conf()), *text = NULL;
	g_autoptr(GVariant) answer = NULL;

	story_event("planned");
	story_write("other.conf", conf);
	if (!daemon_plan(s->daemon, file, 3, NULL)) {
		story_say("no plan");
		return;
	}
	daemon_plan_listen(s->daemon, take_plan, &answer);
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + chance_below(1500) * NS_PER_US);
	if (chance_below(2))
		cable();
	runtime_run(s->rt, is_planned, &answer, runtime_now(s->rt) + 60 * NS_PER_S);
	daemon_plan_listen(s->daemon, NULL, NULL); /* one that comes later finds no answer here */
	text = answer ? g_variant_print(answer, FALSE) : g_strdup("no answer");
	story_say(text);
}

/* ---- the story ---- */

void chance_note_guids(struct scenario *scenario)
{
	s = scenario;
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		g_assert(node < NODES);
		sim_node_view(s->sim, node, &view);
		guids[node] = view.node_guid;
	}
}

void chance_mend(void)
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
	sim_set_traps_lost(s->sim, false);
	story_write("partitions.conf", "Default=0x7fff,ipoib:ALL=full;\n");
}

static void (*const all_happens[])(void) = {
	cable, cable, cable, swapped, worn, flaps, black_hole, power, power, chance_reboot,
	chance_reboot, adapter, own_cable, mute, mute, refuses, stubborn, loss, other_guid,
	small_tables, written_by_others, traps, member, member, group, tables_wanted, rereads,
	restarts, partitions, sweeps, asks, lesser, foreign_key, renamed, lesser,
};

static void (*const to_keys[])(void) = {
	foreign_key, foreign_key, rereads, rereads, restarts, chance_reboot, power, cable, swapped,
	mute, loss, sweeps, adapter, much_time, much_time, own_cable, asks, other_guid,
};

static void (*const to_groups[])(void) = {
	member, group, member, group, member, group, tables_wanted, cable, cable, chance_reboot,
	power, power, refuses, loss, small_tables, partitions, restarts, sweeps, mute, rereads,
	lesser, written_by_others,
};

static void (*const to_the_sick[])(void) = {
	flaps, flaps, flaps, chance_reboot, chance_reboot, mute, mute, refuses, stubborn, errors,
	errors, policy, asks, cable, power, sweeps, restarts, much_time, other_guid, swapped,
	rereads,
};

static void (*const to_lanes[])(void) = {
	cable, cable, cable, power, power, chance_reboot, chance_reboot, swapped, rereads, restarts,
	restarts, mute, refuses, loss, sweeps, sweeps, lesser, adapter, worn, asks, partitions,
	member, own_cable,
};

static void (*const in_moments[])(void) = {
	cable, cable, swapped, power, power, chance_reboot, chance_reboot, adapter, own_cable,
	mute, mute, refuses, loss, small_tables, traps, member, member, alias, alias, alias,
	spoiled, spoiled, spoiled, traps_are_lost, network, refuses_wildcards, other_port_guid,
	rereads, rereads, partitions, change, asks, asks, sweeps_allowed, lesser, tables_wanted,
};

static void (*const to_others[])(void) = {
	cable, cable, power, chance_reboot, mute, mute, alias, alias, alias, subscribes,
	subscribes, subscribes, deaf, member, group, planned, planned, planned, change, change,
	spoiled, spoiled, traps_are_lost, restarts, rereads, sweeps, tables_wanted, tables_wanted,
	loss, lesser, partitions, asks, much_time,
};

#define THEME(name, happenings, confs, passes)                                                     \
	{                                                                                          \
		name, happenings, G_N_ELEMENTS(happenings), confs, G_N_ELEMENTS(confs), passes     \
	}

const struct theme chance_anything = THEME("", all_happens, confs, chance_time);
const struct theme chance_keys = THEME("keys_", to_keys, confs_of_keys, chance_time);
const struct theme chance_lanes = THEME("lanes_", to_lanes, confs_of_lanes, chance_time);
const struct theme chance_groups = THEME("groups_", to_groups, confs_of_groups, chance_time);
const struct theme chance_sick = THEME("sick_", to_the_sick, confs_of_the_sick, chance_time);

const struct theme chance_moments = THEME("moments_", in_moments, confs_of_moments, a_moment);
const struct theme chance_others = THEME("others_", to_others, confs_of_moments, chance_time);

/* The SM runs on this node. */
static void begin(const char *name, const char *spec, uint64_t seed, const char *sm)
{
	struct sim_node_view view;
	unsigned int node;

	s = story_begin(name, spec);
	s->random = seed;
	node = story_node(sm);
	sim_node_view(s->sim, node, &view);
	s->sm_guid = sim_port_guid(s->sim, node, view.type == IBA_NODE_SWITCH ? 0 : 1);
	chance_note_guids(s);
	scenario_option(s, "-y", NULL);
	story_briefly();
	story_write("policy", "flapping all isolate 3 in 60 release 20\n"
			      "unresponsive ca no_discover 2 of 3 release 30\n"
			      "set_errors all isolate 2 of 4 release 30\n");
	story_write("seed", "0123456789 and no more");
	story_up(some_conf());
}

/* On the first hosts other than the SM's. */
static void meet_clients(const char *sm)
{
	unsigned int n = 0;

	for (unsigned int i = 0; n < CLIENTS; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		if (strcmp(name, sm) != 0 && sim_find_name(s->sim, name) >= 0)
			clients[n++] = client_new_subscriber(s, story_node(name));
	}
}

static void tell(const char *name, const char *spec, uint64_t seed, const char *sm)
{
	begin(name, spec, seed, sm);
	meet_clients(sm);
	for (unsigned int i = 0; i < EVENTS; i++) {
		theme->happenings[chance_below(theme->n_happenings)]();
		theme->passes();
	}
	chance_mend();
	story_restarts(QUIET);
	story_event("all is mended, and nothing counts as unhealthy");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_UNHEALTHY_RELEASED, 0);
	scenario_converge(s, 300);
	story_tell();
	story_tell_files();
	for (unsigned int i = 0; i < CLIENTS; i++)
		client_free(clients[i]);
	story_end();
}

void chance_story(const struct theme *about, const char *spec, uint64_t seed,
		  const char *sm)
{
	g_autofree char *name =
		g_strdup_printf("chance_%s%" G_GUINT64_FORMAT, about->name, seed);

	theme = about;
	tell(name, spec, seed, sm);
	tell(name, spec, seed, sm);
}

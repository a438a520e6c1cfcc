// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What sweeps ask, set and log, as stories on small fabrics: see story.h.
 * Review a change of tests/golden/sweep_*.txt as a diff; make golden-update writes them anew.
 */
#include <check.h>

#include "story.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/managers.h"

#define PER_PORT "m_key_per_port TRUE\nm_key_update_interval 10\nm_key_seed_file DIRECTORY/seed\n"
#define QUIET "sweep_interval 1000\n" /* what is swept, events have asked for */

static struct scenario *s;

START_TEST(back_to_back)
{
	s = story_begin("back_to_back", "two_hosts.topo");
	story_starts(QUIET);
	story_event("b is renamed");
	sim_set_description(s->sim, story_node("b"), "another");
	story_after_ms(1000);
	story_reboot("another");
	story_link("a", 1, false);
	story_link("a", 1, true);
	story_event("the adapter of a is gone");
	sim_device_set(s->sim, story_node("a"), false);
	story_after_ms(1000);
	story_event("it is back");
	sim_device_set(s->sim, story_node("a"), true);
	story_after_ms(5000);
	story_end();
}
END_TEST

START_TEST(nothing_happens)
{
	s = story_begin("nothing_happens", "triangle.topo");
	story_starts("sweep_interval 10\naudit_nodes 2\n");
	story_event("time passes");
	story_after_ms(30000);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_sweeps("routes again", SWEEP_REROUTE);
	story_sweeps("partitions again", SWEEP_POLICY);
	story_event("names are wanted");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_DESCRIPTIONS_WANTED, 0);
	story_after_ms(1000);
	story_event("an audit is wanted");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	story_after_ms(1000);
	story_restarts("sweep_interval 10\nforce_heavy_sweep TRUE\n");
	story_event("time passes");
	story_after_ms(11000);
	story_tell_files();
	story_end();
}
END_TEST

START_TEST(links)
{
	s = story_begin("links", "triangle.topo");
	story_starts(QUIET);
	story_link("sw-a", 5, false);
	story_link("sw-a", 5, true);
	story_link("dual", 2, false);
	story_link("sw-b", 5, false);
	story_link("dual", 2, true);
	story_link("sw-a", 6, false);
	story_link("sw-a", 6, true);
	story_link("sw-b", 5, true);
	story_degrade("sw-a", 5, 1, 25781);
	story_degrade("sw-a", 5, 12, 212500);
	story_link("host-1", 1, false);
	story_link("host-1", 1, true);
	story_event("sw-a[6] flaps");
	sim_link_flap(s->sim, story_node("sw-a"), 6, NS_PER_MS, NS_PER_MS, 5);
	story_after_ms(3000);
	story_end();
}
END_TEST

START_TEST(cables)
{
	s = story_begin("cables", "triangle.topo");
	story_starts(QUIET);
	story_move("sw-c", 1, "sw-a", 4);
	story_swap("sw-a", 2, "sw-b", 1);
	story_swap("sw-a", 5, "sw-a", 6);
	story_swap("sw-a", 5, "sw-a", 1);
	story_swap("sw-a", 5, "sw-a", 1);
	story_move("host-6", 1, "sw-c", 2);
	story_event("what leaves sw-b[2] vanishes");
	sim_link_black_hole(s->sim, story_node("sw-b"), 2, true);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(20000);
	story_end();
}
END_TEST

START_TEST(nodes)
{
	s = story_begin("nodes", "triangle.topo");
	story_starts(QUIET);
	story_power("host-5", false);
	story_power("host-5", true);
	story_reboot("host-5");
	story_reboot("dual");
	story_power("sw-c", false);
	story_power("sw-c", true);
	story_reboot("sw-b");
	story_reboot("sw-a");
	story_event("sw-c reboots, and its neighbours tell nobody");
	sim_set_traps_lost(s->sim, true);
	sim_node_set(s->sim, story_node("sw-c"), false);
	scenario_run_ms(s, 1);
	sim_node_set(s->sim, story_node("sw-c"), true);
	story_after_ms(1000);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_end();
}
END_TEST

START_TEST(mute_from_the_start)
{
	s = story_begin("mute_from_the_start", "triangle.topo");
	sim_node_mute(s->sim, story_node("host-5"), true);
	sim_node_mute(s->sim, story_node("sw-b"), true);
	story_starts(QUIET);
	story_event("time passes");
	story_after_ms(60000);
	story_mute("sw-b", false);
	story_mute("host-5", false);
	story_end();
}
END_TEST

START_TEST(mute_later)
{
	s = story_begin("mute_later", "triangle.topo");
	story_starts(QUIET);
	story_mute("host-5", true);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_mute("host-5", false);
	story_mute("sw-b", true);
	story_link("sw-b", 5, false);
	story_link("sw-b", 5, true);
	story_mute("sw-b", false);
	story_end();
}
END_TEST

START_TEST(losses)
{
	s = story_begin("losses", "triangle.topo");
	sim_set_loss(s->sim, 0.1);
	sim_set_duplicate(s->sim, 0.1);
	story_starts("sweep_interval 10\ntransaction_retries 1\n");
	story_event("time passes");
	story_after_ms(30000);
	story_link("sw-a", 5, false);
	story_link("sw-a", 5, true);
	story_event("nothing is lost any more, but everything is late");
	sim_set_loss(s->sim, 0);
	sim_set_timeout_delay(s->sim, 100 * NS_PER_MS);
	sim_set_delay(s->sim, 20 * NS_PER_MS, 10 * NS_PER_MS);
	story_after_ms(30000);
	story_end();
}
END_TEST

/* Sets of one attribute after another have the answer that a field is invalid. */
START_TEST(refused)
{
	static const uint16_t attributes[] = {IBA_ATTR_SWITCH_INFO, IBA_ATTR_PORT_INFO,
					      IBA_ATTR_LINEAR_FORWARDING_TABLE,
					      IBA_ATTR_P_KEY_TABLE, 0};

	s = story_begin("refused", "triangle.topo");
	for (unsigned int i = 0; i < G_N_ELEMENTS(attributes); i++) {
		story_event_at("sw-b, host-5 refuse",
			       iba_name(IBA_SET_ATTR, attributes[i]) ?: "nothing", 0);
		sim_node_refuse(s->sim, story_node("sw-b"), attributes[i]);
		sim_node_refuse(s->sim, story_node("host-5"), attributes[i]);
		story_restarts(QUIET "reassign_lids TRUE\n");
		story_link("sw-a", 5, i % 2);
	}
	story_event("host-6 and sw-c change nothing");
	sim_node_stubborn(s->sim, story_node("host-6"), true);
	sim_node_stubborn(s->sim, story_node("sw-c"), true);
	story_rereads(QUIET "subnet_timeout 15\npacket_life_time 0x10\n");
	story_event("time passes");
	story_after_ms(20000);
	story_end();
}
END_TEST

START_TEST(lids)
{
	s = story_begin("lids", "triangle.topo");
	story_starts(QUIET "lmc 1\n");
	story_restarts(QUIET "lmc 2\nlmc_esp0 TRUE\n");
	story_link("dual", 1, false);
	story_link("dual", 1, true);
	story_restarts(QUIET);
	story_event("host-5 and host-6 carry LIDs of others");
	((struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-5"), 1))->lid =
		3;
	((struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-6"), 1))->lid =
		77;
	story_restarts(QUIET);
	story_tell_files();
	story_restarts(QUIET "honor_guid2lid_file TRUE\n");
	story_restarts(QUIET "reassign_lids TRUE\n");
	story_power("host-4", false);
	story_restarts(QUIET);
	story_power("host-4", true);
	story_tell_files();
	story_end();
}
END_TEST

START_TEST(m_key)
{
	struct iba_trap_m_key details = {.lid = 3, .m_key = 5};

	s = story_begin("m_key", "triangle.topo");
	sim_set_m_key(s->sim, story_node("host-5"), 1, 0xF00D, 1, 0);
	sim_set_m_key(s->sim, story_node("host-6"), 1, 0xF00D, 2, 0);
	sim_set_m_key(s->sim, story_node("sw-b"), 0, 0xF00D, 3, 60);
	story_starts(QUIET "m_key 0x1234\nm_key_protection_level 1\n");
	story_event("time passes");
	story_after_ms(120000);
	story_rereads(QUIET "m_key 0x5678\nm_key_protection_level 2\nm_key_lease_period 60\n");
	story_trap("host-3", IBA_TRAP_BAD_M_KEY, &iba_trap_m_key_type, &details);
	story_event("host-3 gets another's M_Key");
	sim_set_m_key(s->sim, story_node("host-3"), 1, 0xF00D, 2, 0);
	sim_set_m_key(s->sim, story_node("sw-c"), 0, 0xF00D, 2, 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(5000);
	story_reboot("host-4");
	story_event("time passes");
	story_after_ms(60000);
	story_restarts(QUIET "m_key 0xF00D\nm_key_protection_level 3\n");
	story_restarts(QUIET);
	story_tell_files();
	story_end();
}
END_TEST

START_TEST(m_key_changes)
{
	s = story_begin("m_key_changes", "triangle.topo");
	story_starts(QUIET "m_key 0x1234\nm_key_protection_level 2\n");
	story_rereads(QUIET "m_key 0x5678\nm_key_protection_level 2\n");
	story_restarts(QUIET "m_key 0x9ABC\nm_key_protection_level 3\nm_key_lease_period 9\n");
	story_restarts(QUIET
		       "m_key 0x2222\nm_key_protection_level 3\nm_key_lease_period 9\nlmc 1\n");
	story_event("the SM is gone for a while");
	scenario_stop(s);
	story_after_ms(20000);
	story_restarts(QUIET "m_key 0x1111\nm_key_protection_level 3\nm_key_lookup FALSE\n");
	story_event("time passes");
	story_after_ms(10000);
	story_end();
}
END_TEST

START_TEST(m_key_per_port)
{
	s = story_begin("m_key_per_port", "triangle.topo");
	story_write("seed", "0123456789 and no more");
	story_starts(QUIET PER_PORT "m_key_protection_level 3\n");
	story_event("time passes");
	story_after_ms(11 * 60000);
	story_power("host-5", false);
	story_event("time passes");
	story_after_ms(11 * 60000);
	story_power("host-5", true);
	story_reboot("dual");
	story_reboot("sw-b");
	story_restarts(QUIET PER_PORT "m_key_protection_level 2\nm_key_lookup FALSE\n");
	story_restarts(QUIET PER_PORT "m_key_protection_level 2\n");
	story_restarts(QUIET "m_key 0x1\n");
	story_end();
}
END_TEST

#define SOME                                                                                       \
	"Default=0x7fff,ipoib:ALL=limited,SELF=full;\n"                                            \
	"A=0x10:0x0200000000000501=full,0x0200000000000601=limited;\n"

/* Of 70 partitions with a host: three blocks. */
static char *many_partitions(void)
{
	GString *text = g_string_new(SOME);

	for (unsigned int i = 0; i < 70; i++)
		g_string_append_printf(text, "P%u=0x%x:0x0200000000000601=full;\n", i, 0x100 + i);
	return g_string_free(text, FALSE);
}

START_TEST(partitions)
{
	g_autofree char *many = NULL;

	s = story_begin("partitions", "triangle.topo");
	many = many_partitions();
	story_write("partitions.conf", SOME);
	story_starts(QUIET);
	story_write("partitions.conf", many);
	story_rereads(QUIET);
	story_write("partitions.conf", SOME "B=0x11:ALL=full;\n");
	story_rereads(QUIET "keep_pkey_indexes FALSE\n");
	story_rereads(QUIET "part_enforce in\n");
	story_rereads(QUIET "part_enforce off\n");
	story_rereads(QUIET "part_enforce out\n");
	story_reboot("host-3");
	story_reboot("sw-b");
	story_write("partitions.conf", "nonsense");
	story_rereads(QUIET);
	story_write("partitions.conf", "Default=0x7fff,ipoib:ALL=full;\n");
	story_rereads(QUIET);
	story_end();
}
END_TEST

#define QOS                                                                                        \
	"qos TRUE\nqos_high_limit 9\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,15,15\n"                \
	"qos_ca_sl2vl 0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,15\n"                                          \
	"qos_swe_vlarb_low 0:64,1:128,9:255\nqos_ca_vlarb_high 3:7\n"

START_TEST(qos)
{
	s = story_begin("qos", "triangle.topo");
	story_starts(QUIET QOS);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_rereads(QUIET QOS "max_op_vls 2\n");
	story_reboot("sw-c");
	story_link("sw-a", 5, false);
	story_link("sw-a", 5, true);
	story_rereads(QUIET);
	story_event("sw-b refuses wildcards, sw-c does not say so");
	sim_node_refuse_wildcards(s->sim, story_node("sw-b"), false);
	sim_node_refuse_wildcards(s->sim, story_node("sw-c"), true);
	story_restarts(QUIET QOS "use_optimized_slvl TRUE\n");
	story_rereads(QUIET QOS "use_optimized_slvl TRUE\nqos_sl2vl 1,1\n");
	story_end();
}
END_TEST

START_TEST(engines)
{
	static const char *const names[] = {"updn", "dnup",   "ftree", "dor",
					    "lash", "dfsssp", "nue"};

	s = story_begin("engines", "triangle.topo");
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *conf = g_strdup_printf(QUIET "routing_engine %s\n", names[i]);

		story_restarts(conf);
	}
	story_link("sw-a", 5, false);
	story_end();
}
END_TEST

/* Shortest paths close a loop, which takes a second lane. */
START_TEST(lanes)
{
	s = story_begin("lanes", "ring.topo");
	story_starts(QUIET "routing_engine dfsssp\n");
	story_link("sw-2", 2, false);
	story_link("sw-2", 2, true);
	story_reboot("sw-3");
	story_restarts(QUIET "routing_engine minhop\n");
	story_end();
}
END_TEST

static struct client *clients[3];

static void joins(unsigned int i, bool joined)
{
	uint16_t mlid;

	story_event_at(joined ? "joins" : "leaves", "client", i);
	if (joined)
		client_join_broadcast(clients[i], &mlid);
	else
		client_leave_broadcast(clients[i]);
	story_after_ms(1000);
}

static void meet_clients(void)
{
	static const char *const hosts[] = {"host-2", "host-3", "host-5"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		clients[i] = client_new_subscriber(s, story_node(hosts[i]));
}

static void part_from_clients(void)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		client_free(clients[i]);
}

START_TEST(multicast)
{
	struct iba_gid mgid = {UINT64_C(0xFF12A01BFE800000), 7};
	uint16_t mlid;

	s = story_begin("multicast", "triangle.topo");
	story_starts(QUIET);
	meet_clients();
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		joins(i, true);
	story_link("sw-a", 5, false);
	story_event("another group");
	client_member(clients[0], IBA_METHOD_SET, mgid, client_guid(clients[0]), &mlid);
	story_after_ms(1000);
	story_link("sw-a", 5, true);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_reboot("sw-b");
	story_power("host-3", false);
	story_rereads(QUIET "use_mfttop FALSE\ndisable_multicast TRUE\n");
	story_rereads(QUIET "use_mfttop FALSE\n");
	story_restarts(QUIET);
	sim_set_multicast_fdb_cap(s->sim, story_node("sw-c"), 32);
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		joins(i, i != 2);
	story_power("host-3", true);
	joins(1, false);
	part_from_clients();
	story_end();
}
END_TEST

static void subscribe(unsigned int i, bool on_off)
{
	story_event_at(on_off ? "subscribes" : "unsubscribes", "client", i);
	client_inform(clients[i], (struct iba_inform_info){
					  .lid_range_begin = 0xFFFF,
					  .is_generic = 1,
					  .subscribe = on_off,
					  .type = 0xFFFF,
					  .trap_number = 0xFFFF,
					  .producer_type = 0xFFFFFF,
				  });
	story_after_ms(1000);
}

START_TEST(reports)
{
	struct iba_trap_switch details = {.lid = 2};

	s = story_begin("reports", "triangle.topo");
	story_starts(QUIET "drop_event_subscriptions TRUE\n");
	meet_clients();
	subscribe(0, true);
	subscribe(1, true);
	story_power("host-6", false);
	story_power("host-6", true);
	story_power("host-3", false);
	story_power("host-3", true);
	story_link("sw-a", 5, false);
	story_trap("host-4", IBA_TRAP_LINK_STATE_CHANGE, &iba_trap_switch_type, &details);
	story_event("client 0 is deaf");
	client_set_deaf(clients[0], true);
	sim_node_set(s->sim, story_node("host-6"), false);
	story_after_ms(60000);
	subscribe(0, false);
	part_from_clients();
	story_end();
}
END_TEST

START_TEST(same_guids)
{
	struct sim_node_view view;

	s = story_begin("same_guids", "triangle.topo");
	scenario_option(s, "-y", NULL);
	sim_node_view(s->sim, story_node("host-3"), &view);
	sim_set_node_guid(s->sim, story_node("host-4"), view.node_guid);
	story_starts(QUIET);
	story_event("host-6 has the port GUID of host-5, and dual none");
	sim_set_port_guid(s->sim, story_node("host-6"), 1,
			  sim_port_guid(s->sim, story_node("host-5"), 1));
	sim_set_node_guid(s->sim, story_node("dual"), 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(5000);
	story_event("sw-c has the GUID of sw-b");
	sim_node_view(s->sim, story_node("sw-b"), &view);
	sim_set_node_guid(s->sim, story_node("sw-c"), view.node_guid);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(5000);
	story_power("host-3", false);
	story_end();
}
END_TEST

START_TEST(small_tables)
{
	s = story_begin("small_tables", "triangle.topo");
	sim_set_linear_fdb_cap(s->sim, story_node("sw-b"), 8);
	sim_set_multicast_fdb_cap(s->sim, story_node("sw-c"), 0);
	story_starts(QUIET);
	story_power("host-5", false);
	story_reboot("sw-b");
	story_event("sw-c has a small table");
	sim_set_linear_fdb_cap(s->sim, story_node("sw-c"), 4);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(2000);
	story_end();
}
END_TEST

static void say_traps(void)
{
	const struct iba_port_info *info = sim_port_info(s->sim, story_node("host-5"), 1);
	struct iba_trap_local_change change = {
		.lid = info->lid, .capability_mask = 1, .other_local_changes = 1};
	struct iba_trap_switch link = {.lid = 1};
	struct iba_trap_key p_key = {.lid1 = 3, .lid2 = 4, .key = 5};

	story_trap("host-5", IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type, &change);
	change.lid = scenario_lid(s, story_node("host-6"));
	story_trap("host-5", IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type, &change);
	story_trap("host-5", IBA_TRAP_LINK_STATE_CHANGE, &iba_trap_switch_type, &link);
	story_trap("host-5", IBA_TRAP_BAD_P_KEY, &iba_trap_key_type, &p_key);
	story_trap("host-5", 999, &iba_trap_switch_type, &link);
}

START_TEST(traps_of_all_kinds)
{
	struct iba_trap_port errors = {.lid = 3, .port_num = 1};

	s = story_begin("traps_of_all_kinds", "triangle.topo");
	story_starts(QUIET);
	say_traps();
	story_rereads(QUIET "sweep_on_trap FALSE\n");
	say_traps();
	story_link("sw-a", 5, false);
	story_rereads(QUIET "babbling_port_policy TRUE\n");
	errors.lid = scenario_lid(s, story_node("host-6"));
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int number = 129; number <= 131; number++)
			story_trap("host-6", number, &iba_trap_port_type, &errors);
	story_event("host-6 babbles");
	for (unsigned int i = 0; i < 300; i++) {
		struct iba_notice notice = {
			.is_generic = true, .trap_number = 130, .issuer_lid = errors.lid};

		wire_encode(&iba_trap_port_type, &errors, notice.data_details);
		sim_trap(s->sim, story_node("host-6"), 1, &notice);
		scenario_run_ms(s, 30);
	}
	story_after_ms(10000);
	story_end();
}
END_TEST

START_TEST(other_options)
{
	s = story_begin("other_options", "triangle.topo");
	story_starts(QUIET "subnet_timeout 15\npacket_life_time 0x10\nforce_link_width 3\n"
			   "force_link_speed 7\nforce_link_speed_ext 1\nmax_op_vls 3\n");
	story_rereads(QUIET);
	story_rereads(QUIET "head_of_queue_lifetime 0x11\nleaf_head_of_queue_lifetime 0x13\n"
			    "vl_stall_count 3\nleaf_vl_stall_count 2\nsm_sl 1\n"
			    "local_phy_errors_threshold 2\noverrun_errors_threshold 3\n");
	story_rereads(QUIET "ignore_other_sm TRUE\nsm_priority 5\nsubnet_timeout 99\n");
	story_rereads("sweep_interval 5\nsm_priority 5\nmax_wire_smps 1\n");
	story_event("time passes");
	story_after_ms(12000);
	story_restarts(QUIET "no_clients_rereg TRUE\nsm_inactive TRUE\n");
	story_event("activated");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_ACTIVATE, 0);
	story_after_ms(5000);
	story_event("no sweeps");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_ALLOWED, 0);
	sim_link_set(s->sim, story_node("sw-a"), 5, false);
	story_after_ms(1000);
	story_event("sweeps again");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_ALLOWED, 1);
	story_after_ms(1000);
	story_event("retires");
	daemon_retire(s->daemon);
	story_after_ms(1000);
	story_end();
}
END_TEST

#define POLICY QUIET "hm_ports_health_policy_file DIRECTORY/policy\n"

START_TEST(unhealthy)
{
	s = story_begin("unhealthy", "triangle.topo");
	story_write("policy", "flapping switch isolate release 60\nset_errors ca isolate\n");
	story_starts(POLICY);
	story_event("sw-a[5] flaps");
	sim_link_flap(s->sim, story_node("sw-a"), 5, 100 * NS_PER_MS, 100 * NS_PER_MS, 40);
	story_after_ms(20000);
	story_event("released");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_UNHEALTHY_RELEASED, 0);
	story_after_ms(90000);
	story_event("host-6 refuses");
	sim_node_refuse(s->sim, story_node("host-6"), IBA_ATTR_PORT_INFO);
	story_rereads(POLICY "subnet_timeout 15\n");
	story_event("time passes");
	story_after_ms(90000);
	story_restarts(POLICY);
	story_tell_files();
	story_end();
}
END_TEST

/* The daemon knows a switch port that an administrator has disabled, and an entry that is lost. */
START_TEST(changes_by_others)
{
	struct iba_port_info *port;
	struct sim_node_view view;

	s = story_begin("changes_by_others", "triangle.topo");
	story_starts(QUIET "audit_nodes 3\n");
	story_event("sw-b forgets an entry, and host-5 its SM");
	sim_node_view(s->sim, story_node("sw-b"), &view);
	((uint8_t *)(uintptr_t)view.lft)[5] = 0xFF;
	port = (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-5"), 1);
	port->master_sm_lid = 9;
	port->master_sm_sl = 3;
	for (unsigned int i = 0; i < 4; i++)
		daemon_sweep(s->daemon, SWEEP_LIGHT), scenario_run_ms(s, 1000);
	story_tell();
	story_event("a link is INIT again, another is disabled, a third ARMED");
	port->port_state = IBA_PORT_INIT;
	port = (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("sw-a"), 5);
	port->port_state = IBA_PORT_ARMED;
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(2000);
	story_event("other partition bits and another MTU");
	port->partition_enforcement_inbound = 1;
	port->neighbor_mtu = 2;
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	story_after_ms(2000);
	story_end();
}
END_TEST

/* Something happens so many microseconds after a sweep began. */
static void interrupt(unsigned int us)
{
	bool up = us % 800 == 0;
	g_autofree char *what = g_strdup_printf("a cable is %s, %u us after a sweep began",
						up ? "plugged" : "pulled", us);

	story_event(what);
	daemon_sweep(s->daemon, us % 300 ? SWEEP_HEAVY : SWEEP_LIGHT);
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
	sim_link_set(s->sim, story_node("sw-a"), us % 1200 ? 5 : 6, up);
	story_after_ms(2000);
}

START_TEST(interrupted)
{
	s = story_begin("interrupted", "triangle.topo");
	story_starts(QUIET);
	for (unsigned int us = 0; us <= 2800; us += 400)
		interrupt(us);
	for (unsigned int us = 400; us <= 1600; us += 400) {
		story_event_at("restarted, and a host reboots meanwhile", "us", us);
		scenario_stop(s);
		story_watch(NULL, s->sm_guid);
		scenario_start(s);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
		sim_node_set(s->sim, story_node("host-3"), us % 800);
		scenario_heavy_sweep(s, 10);
		story_after_ms(1000);
	}
	story_end();
}
END_TEST

static bool is_planned(void *arg)
{
	return *(GVariant **)arg != NULL;
}

static void take_plan(void *arg, GVariant *answer)
{
	*(GVariant **)arg = g_variant_ref_sink(answer);
}

static void plan(const char *conf)
{
	g_autofree char *file = g_build_filename(s->directory, "other.conf", NULL), *text = NULL;
	g_autofree char *event = g_strdup_printf("planned:\n%s", conf);
	g_autoptr(GVariant) answer = NULL;

	story_event(event);
	text = story_conf(conf);
	story_write("other.conf", text);
	if (!daemon_plan(s->daemon, file, 3, NULL))
		scenario_fail(s, "no plan");
	daemon_plan_listen(s->daemon, take_plan, &answer);
	runtime_run(s->rt, is_planned, &answer, runtime_now(s->rt) + NS_PER_S);
	story_after_ms(1000);
	g_free(text);
	text = g_variant_print(answer, FALSE);
	story_say(text);
}

START_TEST(plans)
{
	s = story_begin("plans", "triangle.topo");
	story_starts(QUIET "m_key 0x1234\n");
	plan("subnet_timeout 15\nm_key 0x1234\n");
	plan("lmc 1\nm_key 0x5678\nm_key_protection_level 1\nsm_sl 2\n");
	plan(QOS "m_key 0x1234\nmax_op_vls 2\n");
	plan("routing_engine lash\nm_key 0x1234\npart_enforce off\n");
	story_mute("host-5", true);
	plan("m_key 0x1234\n");
	story_end();
}
END_TEST

static void door(const char *request, uint16_t forget)
{
	g_autoptr(GError) error = NULL;
	uint64_t serial = 0;

	story_event(request ? request : "forget");
	daemon_change_partitions(s->daemon, request, forget, &serial, &error);
	if (error)
		story_say("refused");
	story_after_ms(1000);
}

START_TEST(partitions_at_run_time)
{
	s = story_begin("partitions_at_run_time", "triangle.topo");
	story_write("partitions.conf", SOME);
	story_starts(QUIET);
	door("0x10: 0x0200000000000801=full", 0);
	door("0x11: 0x0200000000000801=full, 0x0200000000000901=limited", 0);
	door("0x11: 0x0200000000000901=full", 0);
	door("0x11: 0x0200000000000901=none", 0);
	door("0x11: nonsense", 0);
	story_restarts(QUIET);
	door(NULL, 0x10);
	door(NULL, 0);
	story_tell_files();
	story_end();
}
END_TEST

#define TWO QUIET MANAGERS_POLLS "replication_key_file DIRECTORY/key\n"

static struct managers *m;

static void managers_event(const char *what, unsigned int watched)
{
	story_event(what);
	story_watch(m->sm[watched].daemon, m->sm[watched].guid);
}

static void managers_begin(const char *name, const char *conf)
{
	g_autofree char *file = story_topology("triangle.topo"), *text = NULL;

	m = managers_new(file, 1);
	s = m->s;
	story_on(name, s);
	story_write("key", "a key that all of them share, 0123456789\n");
	text = story_conf(conf);
	managers_add(m, "host-1", text);
	managers_add(m, "host-6", text);
	managers_start(m, 0);
	managers_event("sm1 starts", 0);
	story_after_ms(2000);
	managers_start(m, 1);
	managers_event("sm2 starts", 1);
	story_after_ms(5000);
}

static void managers_say(unsigned int i, const char *conf)
{
	g_autofree char *text = story_conf(conf);
	g_autofree char *what = g_strdup_printf("sm%u:\n%s", i + 1, conf);

	managers_configure(m, i, text);
	managers_event(what, i);
	daemon_sweep(m->sm[i].daemon, SWEEP_HEAVY);
	story_after_ms(5000);
}

static void managers_end(void)
{
	story_compare();
	managers_free(m);
}

START_TEST(two_managers)
{
	managers_begin("two_managers", TWO);
	managers_say(1, TWO "sm_priority 3\n");
	managers_event("nothing happens; of sm1", 0);
	story_after_ms(5000);
	story_link("sw-a", 6, false);
	managers_event("they are cut off from each other; of sm1", 0);
	sim_link_set(s->sim, story_node("sw-b"), 5, false);
	story_after_ms(10000);
	managers_event("they meet again; of sm1", 0);
	sim_link_set(s->sim, story_node("sw-b"), 5, true);
	story_after_ms(10000);
	managers_event("sm2 retires", 1);
	daemon_retire(m->sm[1].daemon);
	story_after_ms(1000);
	managers_end();
}
END_TEST

START_TEST(master_dies)
{
	managers_begin("master_dies", TWO "m_key 0x1234\nm_key_protection_level 1\n");
	managers_event("somebody sends sm2 controls", 1);
	for (unsigned int control = IBA_SM_INFO_HANDOVER; control <= 6; control++)
		managers_control(m, 1, "host-4", control);
	story_after_ms(1000);
	managers_event("sm1 dies", 1);
	sim_node_mute(s->sim, story_node("host-1"), true);
	managers_kill(m, 0);
	s->daemon = m->sm[1].daemon;
	story_after_ms(10000);
	sim_node_mute(s->sim, story_node("host-1"), false);
	managers_start(m, 0);
	managers_event("sm1 starts again", 0);
	story_after_ms(5000);
	managers_say(0, TWO "sm_key 7\n");
	managers_say(0, TWO "ignore_other_sm TRUE\n");
	managers_say(0, TWO "allowed_sm_guids 0x0200000000000401\n");
	managers_end();
}
END_TEST

START_TEST(two_planes)
{
	s = story_begin("two_planes", "../scenario/dual_plane.topo");
	story_starts(QUIET);
	story_link("a-leaf-0", 9, false);
	story_power("a-spine-1", false);
	story_end();
}
END_TEST

START_TEST(tree)
{
	s = story_begin("tree", "fattree:4");
	story_starts(QUIET "routing_engine ftree\nlmc 1\n");
	story_link("leaf-0-0", 3, false);
	story_power("spine-1-0", false);
	story_power("spine-1-0", true);
	story_link("leaf-0-0", 3, true);
	story_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sweep_golden");
	TCase *tcase = tcase_create("stories");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, back_to_back);
	tcase_add_test(tcase, nothing_happens);
	tcase_add_test(tcase, links);
	tcase_add_test(tcase, cables);
	tcase_add_test(tcase, nodes);
	tcase_add_test(tcase, mute_from_the_start);
	tcase_add_test(tcase, mute_later);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, lids);
	tcase_add_test(tcase, m_key);
	tcase_add_test(tcase, m_key_changes);
	tcase_add_test(tcase, m_key_per_port);
	tcase_add_test(tcase, partitions);
	tcase_add_test(tcase, qos);
	tcase_add_test(tcase, engines);
	tcase_add_test(tcase, lanes);
	tcase_add_test(tcase, multicast);
	tcase_add_test(tcase, reports);
	tcase_add_test(tcase, same_guids);
	tcase_add_test(tcase, small_tables);
	tcase_add_test(tcase, traps_of_all_kinds);
	tcase_add_test(tcase, other_options);
	tcase_add_test(tcase, unhealthy);
	tcase_add_test(tcase, changes_by_others);
	tcase_add_test(tcase, interrupted);
	tcase_add_test(tcase, plans);
	tcase_add_test(tcase, partitions_at_run_time);
	tcase_add_test(tcase, two_managers);
	tcase_add_test(tcase, master_dies);
	tcase_add_test(tcase, two_planes);
	tcase_add_test(tcase, tree);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

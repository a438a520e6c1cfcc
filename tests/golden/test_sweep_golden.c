// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What sweeps read, set and log on small fabrics while events happen: see story.h. Review a change
 * of tests/golden/sweep_*.txt as a diff; make golden-update writes them again.
 */
#include <check.h>

#include "story.h"
#include "tests/run_suite.h"

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
	story_up(QUIET);
	story_move("sw-c", 1, "sw-a", 4);
	story_swap("sw-a", 2, "sw-b", 1);
	story_swap("sw-a", 5, "sw-a", 6);
	story_swap("sw-a", 5, "sw-a", 1);
	story_swap("sw-a", 5, "sw-a", 1);
	story_move("host-6", 1, "sw-c", 18);
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
	story_up(QUIET);
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
	story_restart_node("sw-c");
	story_after_ms(1000);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_end();
}
END_TEST

/* It continues from tables that were read, and has written nothing. */
START_TEST(after_a_restart)
{
	s = story_begin("after_a_restart", "triangle.topo");
	story_up(QUIET);
	story_restarts(QUIET);
	story_reboot("sw-b");
	story_restarts(QUIET);
	story_event("sw-c reboots, and its neighbours tell nobody");
	sim_set_traps_lost(s->sim, true);
	story_restart_node("sw-c");
	story_after_ms(1000);
	story_sweeps("light sweep", SWEEP_LIGHT);
	sim_set_traps_lost(s->sim, false);
	story_restarts(QUIET);
	story_swap("sw-a", 5, "sw-a", 6);
	story_link("sw-a", 5, false);
	story_restarts(QUIET);
	story_link("sw-a", 5, true);
	story_mute("sw-b", true);
	story_restarts(QUIET);
	story_mute("sw-b", false);
	story_restarts(QUIET);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_power("host-5", false);
	story_restarts(QUIET "lmc 1\n");
	story_power("host-5", true);
	story_restarts(QUIET "lmc 1\n");
	story_reboot("dual");
	story_end();
}
END_TEST

/* Its paths begin at port 0, and it has the first of all tables itself. */
START_TEST(sm_on_a_switch)
{
	s = story_begin("sm_on_a_switch", "triangle.topo");
	s->sm_guid = sim_port_guid(s->sim, story_node("sw-a"), 0);
	story_watch(NULL, s->sm_guid);
	story_starts(QUIET);
	story_link("sw-a", 5, false);
	story_link("sw-a", 5, true);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_reboot("sw-b");
	story_move("host-6", 1, "sw-a", 4);
	story_mute("sw-c", true);
	story_mute("sw-c", false);
	story_restarts(QUIET "lmc 1\nlmc_esp0 TRUE\nm_key 0x1234\nm_key_protection_level 2\n");
	story_restarts(QUIET "qos TRUE\nqos_high_limit 5\n");
	story_event("all cables of the SM's switch are pulled");
	for (unsigned int port = 1; port <= 6; port++)
		sim_link_set(s->sim, story_node("sw-a"), port, false);
	story_after_ms(5000);
	story_link("sw-a", 6, true);
	story_reboot("sw-a");
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

/* Before and after the SM's port is known. */
START_TEST(own_port_lost)
{
	static const char *const packets[] = {"Get(PortInfo)", "Get(NodeInfo)", "Set(PortInfo)"};

	s = story_begin("own_port_lost", "triangle.topo");
	story_lose("Get(PortInfo)", "host-1");
	story_starts(QUIET);
	for (unsigned int i = 0; i < G_N_ELEMENTS(packets); i++) {
		story_lose(NULL, NULL);
		story_event("nothing is lost any more");
		story_after_ms(12000);
		story_say(packets[i]);
		story_lose(packets[i], "host-1");
		story_sweeps("that is lost: light sweep", SWEEP_LIGHT);
		story_sweeps("heavy sweep", SWEEP_HEAVY);
	}
	story_end();
}
END_TEST

START_TEST(mute_later)
{
	s = story_begin("mute_later", "triangle.topo");
	story_up(QUIET);
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

START_TEST(lost_gets)
{
	static const char *const packets[] = {"Get(NodeDescription)",
					      "Get(NodeInfo)",
					      "Get(PortInfo)",
					      "Get(SwitchInfo)",
					      "Get(LinearForwardingTable)",
					      "Get(P_KeyTable)",
					      "Get(MulticastForwardingTable)"};

	s = story_begin("lost_gets", "triangle.topo");
	story_up(QUIET);
	for (unsigned int i = 0; i < G_N_ELEMENTS(packets); i++)
		story_lose_awhile(packets[i], i % 3 ? "sw-b" : "host-5", QUIET);
	story_end();
}
END_TEST

/* What was requested is done, but the answer is lost. */
START_TEST(lost_answers)
{
	static const char *const packets[] = {
		"GetResp(NodeInfo)", "GetResp(PortInfo)", "GetResp(SwitchInfo)",
		"GetResp(LinearForwardingTable)", "GetResp(P_KeyTable)"};

	s = story_begin("lost_answers", "triangle.topo");
	story_up(QUIET);
	for (unsigned int i = 0; i < G_N_ELEMENTS(packets); i++)
		story_lose_awhile(packets[i], i % 2 ? "host-6" : "sw-b",
				  i % 2 ? QUIET : QUIET "reassign_lids TRUE\n");
	story_end();
}
END_TEST

START_TEST(lost_sets)
{
	static const char *const packets[] = {"Set(PortInfo)", "Set(SwitchInfo)",
					      "Set(LinearForwardingTable)"};

	s = story_begin("lost_sets", "triangle.topo");
	story_up(QUIET);
	for (unsigned int i = 0; i < G_N_ELEMENTS(packets); i++)
		story_lose_awhile(packets[i], i ? "sw-b" : "host-5",
				  i % 2 ? QUIET : QUIET "reassign_lids TRUE\n");
	story_end();
}
END_TEST

/* Sets of one attribute after another are answered with status "invalid field". */
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
	story_link("host-6", 1, false);
	((struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-6"), 1))->lid =
		100;
	story_link("host-6", 1, true); /* tables get a second block */
	story_link("sw-a", 5, false);
	story_end();
}
END_TEST

START_TEST(engines)
{
	static const char *const names[] = {"updn", "dnup",   "ftree", "dor",
					    "lash", "dfsssp", "nue",   "ftree,ftree no_fallback",
					    "no_fallback"};

	s = story_begin("engines", "triangle.topo");
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *conf = g_strdup_printf(QUIET "routing_engine %s\n", names[i]);

		story_restarts(conf);
	}
	story_link("sw-a", 5, false);
	story_write("roots", "0x0200000080000100\n");
	story_restarts(QUIET "routing_engine dor no_fallback\nroot_guid_file DIRECTORY/roots\n");
	story_restarts(QUIET "root_guid_file DIRECTORY/roots\n");
	story_end();
}
END_TEST

/* While the SM's adapter is gone a switch loses its tables, and no trap reports it. */
START_TEST(adapter)
{
	s = story_begin("adapter", "triangle.topo");
	story_up(QUIET);
	story_event("the adapter of the SM is gone, and sw-c reboots");
	sim_device_set(s->sim, story_node("host-1"), false);
	scenario_run_ms(s, 1000);
	story_restart_node("sw-c");
	story_after_ms(1000);
	story_event("it is back");
	sim_device_set(s->sim, story_node("host-1"), true);
	story_after_ms(5000);
	story_end();
}
END_TEST

/* There is only one lane for a ring. */
START_TEST(one_lane)
{
	static const char *const names[] = {"dfsssp", "lash", "nue", "updn", "minhop"};

	s = story_begin("one_lane", "ring.topo");
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *conf = g_strdup_printf(
			QUIET "routing_engine %s,no_fallback\nmax_op_vls 1\n", names[i]);

		story_restarts(conf);
	}
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
	story_event("host-2 has the GUIDs of the SM");
	sim_node_view(s->sim, story_node("host-1"), &view);
	sim_set_node_guid(s->sim, story_node("host-2"), view.node_guid);
	sim_set_port_guid(s->sim, story_node("host-2"), 1, s->sm_guid);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(5000);
	story_reboot("host-2");
	story_end();
}
END_TEST

static void say_exit_code(void)
{
	g_autofree char *text = g_strdup_printf("exit code %d", s->exit_code);

	story_say(text);
}

START_TEST(fatal)
{
	struct sim_node_view view;

	s = story_begin("fatal", "triangle.topo");
	sim_node_view(s->sim, story_node("host-3"), &view);
	sim_set_node_guid(s->sim, story_node("host-4"), view.node_guid);
	story_starts(QUIET);
	story_event("time passes");
	story_after_ms(60000);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	sim_set_node_guid(s->sim, story_node("host-4"), 0x77);
	story_restarts(QUIET);
	sim_set_node_guid(s->sim, story_node("host-4"), view.node_guid);
	for (unsigned int i = 0; i < 4; i++) /* ends no port any more */
		story_sweeps("host-4 has the GUID of host-3 again", SWEEP_HEAVY);
	say_exit_code();
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

/* A switch forwards just as many LIDs as are needed, then one less; and a host has a higher one. */
START_TEST(tables_that_just_do)
{
	struct iba_port_info *port;

	s = story_begin("tables_that_just_do", "triangle.topo");
	port = (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-6"), 1);
	for (uint16_t cap = 13; cap >= 11; cap--) {
		sim_set_linear_fdb_cap(s->sim, story_node("sw-b"), cap);
		port->lid = 40;
		story_event_at("LinearFDBCap", "sw-b", cap);
		story_restarts(QUIET "reassign_lids FALSE\n");
		story_link("host-5", 1, cap % 2);
	}
	sim_set_linear_fdb_cap(s->sim, story_node("sw-b"), 23);
	story_restarts(QUIET "lmc 1\n");
	sim_set_linear_fdb_cap(s->sim, story_node("sw-b"), 24);
	story_restarts(QUIET "lmc 1\n");
	story_end();
}
END_TEST

static void say_traps(void)
{
	const struct iba_port_info *info = sim_port_info(s->sim, story_node("host-5"), 1);
	struct iba_trap_local_change change = {
		.lid = info->lid, .capability_mask = 1, .other_local_changes = 1};
	struct iba_notice of_vendor = {.trap_number = IBA_TRAP_BAD_P_KEY};
	struct iba_trap_switch link = {.lid = 1};
	struct iba_trap_key p_key = {.lid1 = 3, .lid2 = 4, .key = 5, .qp1 = 6, .qp2 = 7};
	struct iba_trap_switch_p_key at_switch = {.lid1 = 3, .lid2 = 4, .port_num = 2};
	struct iba_trap_m_key m_key = {.lid = 3, .method = IBA_METHOD_GET, .dr_notice = 1};

	story_trap("host-5", IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type, &change);
	change.lid = scenario_lid(s, story_node("host-6"));
	story_trap("host-5", IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type, &change);
	story_trap("host-5", IBA_TRAP_LINK_STATE_CHANGE, &iba_trap_switch_type, &link);
	story_trap("host-5", IBA_TRAP_BAD_P_KEY, &iba_trap_key_type, &p_key);
	story_trap("host-5", IBA_TRAP_BAD_Q_KEY, &iba_trap_key_type, &p_key);
	story_trap("host-5", IBA_TRAP_SWITCH_BAD_P_KEY, &iba_trap_switch_p_key_type, &at_switch);
	story_trap("host-5", IBA_TRAP_BAD_M_KEY, &iba_trap_m_key_type, &m_key);
	story_trap("host-5", 999, &iba_trap_switch_type, &link);
	of_vendor.issuer_lid = info->lid;
	story_event("a trap of a vendor's");
	sim_trap(s->sim, story_node("host-5"), 1, &of_vendor);
	story_after_ms(1000);
}

/* So many traps at once that some are dropped: a sweep finds the changes that they reported. */
START_TEST(flood_of_traps)
{
	static const char *const hosts[] = {"host-2", "host-3", "host-4", "host-5", "host-6"};

	s = story_begin("flood_of_traps", "triangle.topo");
	story_up("sweep_interval 0\n");
	for (unsigned int round = 0; round < 2; round++) {
		story_event(round ? "again, with periodic sweeps" : "all hosts send 400 traps");
		for (unsigned int i = 0; i < 400 * G_N_ELEMENTS(hosts); i++) {
			unsigned int node = story_node(hosts[i % G_N_ELEMENTS(hosts)]);
			struct iba_notice notice = {.is_generic = true,
						    .trap_number = (uint16_t)(1000 + i),
						    .issuer_lid = scenario_lid(s, node)};

			sim_trap(s->sim, node, 1, &notice);
		}
		story_after_ms(10000);
		story_rereads("sweep_interval 7\n");
	}
	story_end();
}
END_TEST

START_TEST(traps_of_all_kinds)
{
	struct iba_trap_port errors = {.lid = 3, .port_num = 1};

	s = story_begin("traps_of_all_kinds", "triangle.topo");
	story_up(QUIET);
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
	story_restarts(QUIET "ignore_other_sm TRUE\n");
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
	story_up(POLICY);
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
	story_event("sw-a[6] flaps, which is its last port");
	sim_link_flap(s->sim, story_node("sw-a"), 6, 100 * NS_PER_MS, 100 * NS_PER_MS, 40);
	story_after_ms(20000);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_end();
}
END_TEST

static void keep_unhealthy(const char *text)
{
	g_autofree char *file = g_build_filename(s->cache_dir, "unhealthy-ports", NULL);

	ck_assert(g_file_set_contents(file, text, -1, NULL));
}

/* Found when the SM was elsewhere: its own cable and switch are exempt, others are not. */
START_TEST(unhealthy_before)
{
	s = story_begin("unhealthy_before", "triangle.topo");
	story_write("policy", "flapping ca report\n");
	keep_unhealthy("0x0200000080000100 1 flapping ca isolate 0x5 60 60 0 0\n"
		       "0x0200000080000100 2 flapping ca isolate 0x5 never 0 0 0\n"
		       "0x0200000080000100 5 reboot switch isolate 0x5 60 60 0 1\n"
		       "0x0200000080000200 6 reboot switch disable 0x5 60 60 0 0\n"
		       "0x0200000080000300 18 noisy_traps ca disable 0x5 60 60 0 0\n"
		       "0x0200000080000300 0 flapping switch report "
		       "0x0200000080000300 60 60 0 0\n");
	story_up(POLICY);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_event("time passes");
	story_after_ms(70000);
	story_tell_files();
	keep_unhealthy("0x0200000080000100 1 reboot ca disable 0x5 never 0 0 0\n"
		       "0x0200000080000100 0 reboot switch isolate "
		       "0x0200000080000100 90 90 0 1\n"
		       "0x0200000080000300 0 reboot switch no_discover "
		       "0x0200000080000300 30 30 0 1\n");
	story_restarts(POLICY);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_event("time passes");
	story_after_ms(100000);
	story_tell_files();
	story_end();
}
END_TEST

/* The SM's port has LIDs of another SM; devices have other GUIDs, and no trap reports it. */
START_TEST(identities)
{
	struct iba_trap_local_change change = {.other_local_changes = 1};
	struct iba_port_info *own;

	s = story_begin("identities", "triangle.topo");
	story_up(QUIET);
	sim_set_node_guid(s->sim, story_node("host-5"), 0x77);
	sim_set_port_guid(s->sim, story_node("host-5"), 1, 0x78);
	sim_set_node_guid(s->sim, story_node("sw-b"), 0x99);
	change.lid = scenario_lid(s, story_node("host-5"));
	story_trap("host-5", IBA_TRAP_LOCAL_CHANGES, &iba_trap_local_change_type, &change);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_link("sw-a", 5, false);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_event("another SM gives LIDs to the SM's port");
	own = (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-1"), 1);
	own->master_sm_lid = 9;
	own->lid = 77;
	story_after_ms(10000);
	story_end();
}
END_TEST

/* Other devices answer in their place and refuse what is set, and no trap reported them. */
START_TEST(others_answer)
{
	static const char *const names[] = {"host-5", "sw-b", "dual"};

	s = story_begin("others_answer", "triangle.topo");
	story_up(QUIET);
	sim_set_traps_lost(s->sim, true);
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		unsigned int node = story_node(names[i]);

		story_event_at("another answers, which refuses", names[i], 0);
		sim_set_node_guid(s->sim, node, 0x7700 + i);
		sim_node_refuse(s->sim, node, IBA_ATTR_PORT_INFO);
		story_rereads(i % 2 ? QUIET : QUIET "subnet_timeout 15\n");
		sim_node_refuse(s->sim, node, 0);
		story_event("it does not refuse any more");
		story_after_ms(12000);
	}
	story_event("host-6 has another PortGUID, and refuses");
	sim_set_port_guid(s->sim, story_node("host-6"), 1, 0x7788);
	sim_node_refuse(s->sim, story_node("host-6"), IBA_ATTR_PORT_INFO);
	story_rereads(QUIET "subnet_timeout 16\n");
	sim_node_refuse(s->sim, story_node("host-6"), 0);
	story_event("time passes");
	story_after_ms(20000);
	story_end();
}
END_TEST

/* As others_answer, but only partitions are set: no request asks which device is there. */
START_TEST(others_refuse)
{
	static const char *const names[] = {"host-5", "sw-b", "dual", "host-6"};

	s = story_begin("others_refuse", "triangle.topo");
	story_up(QUIET);
	sim_set_traps_lost(s->sim, true);
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		unsigned int node = story_node(names[i]);

		story_event_at("another answers, which refuses", names[i], 0);
		if (i == 3)
			sim_set_port_guid(s->sim, node, 1, 0x7788);
		else
			sim_set_node_guid(s->sim, node, 0x7700 + i);
		sim_node_refuse(s->sim, node, IBA_ATTR_P_KEY_TABLE);
		story_write("partitions.conf",
			    i % 2 ? "Default=0x7fff:ALL=full;\n"
				  : "Default=0x7fff:ALL=full;\nA=0x10:ALL=full;\n");
		daemon_reread_partitions(s->daemon);
		daemon_sweep(s->daemon, SWEEP_POLICY);
		story_after_ms(1500);
		sim_node_refuse(s->sim, node, 0);
		story_event("it does not refuse any more");
		story_after_ms(12000);
	}
	story_end();
}
END_TEST

/* Malformed lines are skipped; then the switches have room for few LIDs. */
START_TEST(guid2lid)
{
	s = story_begin("guid2lid", "triangle.topo");
	story_write("cache/guid2lid", "0x0200000000000401 0x0005 0x0005\n"
				      "0x0200000000000501 0x0006 0x0007\n"
				      "0x0200000000000601 0x0005 0x0005\n"
				      "0x0200000000000701 0x0000 0x0000\n"
				      "0x0200000000000401 0x0009 0x0009\n"
				      "0x0000000000000000 0x000a 0x000a\n"
				      "0x0200000080000100 0xc000 0xc000\n"
				      "0x0300000000000000 0x0011 0x0011\n"
				      "nonsense\n");
	story_starts(QUIET "honor_guid2lid_file TRUE\n");
	story_tell_files();
	story_restarts(QUIET "lmc 1\n");
	sim_set_linear_fdb_cap(s->sim, story_node("sw-a"), 8);
	sim_set_linear_fdb_cap(s->sim, story_node("sw-b"), 8);
	sim_set_linear_fdb_cap(s->sim, story_node("sw-c"), 8);
	story_restarts(QUIET "reassign_lids TRUE\nlmc 1\n");
	story_restarts(QUIET "reassign_lids TRUE\n");
	story_tell_files();
	story_link("host-2", 1, false); /* there are too few LIDs: another one gets its own */
	story_link("host-2", 1, true);
	sim_set_linear_fdb_cap(s->sim, story_node("sw-a"), 100);
	sim_set_linear_fdb_cap(s->sim, story_node("sw-b"), 100);
	sim_set_linear_fdb_cap(s->sim, story_node("sw-c"), 100);
	story_restarts(QUIET);
	story_tell_files();
	story_end();
}
END_TEST

/* Links that are up, but whose ends are not, or go down while they are brought up. */
START_TEST(stuck)
{
	s = story_begin("stuck", "triangle.topo");
	story_up(QUIET);
	sim_node_stubborn(s->sim, story_node("host-6"), true);
	story_reboot("host-6");
	sim_node_stubborn(s->sim, story_node("sw-c"), true);
	story_reboot("sw-b");
	story_reboot("sw-c");
	sim_node_stubborn(s->sim, story_node("sw-c"), false);
	sim_node_stubborn(s->sim, story_node("host-6"), false);
	story_event("they do what they are told again");
	story_after_ms(20000);
	for (unsigned int us = 100; us <= 1300; us += 400) {
		story_event_at("the SM's cable is pulled amid a sweep", "us", us);
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
		sim_link_set(s->sim, story_node("host-1"), 1, false);
		story_after_ms(2000);
		story_link("host-1", 1, true);
	}
	story_end();
}
END_TEST

START_TEST(once)
{
	s = story_begin("once", "triangle.topo");
	scenario_option(s, "-o", NULL);
	story_starts(QUIET);
	say_exit_code();
	story_link("sw-a", 5, false);
	sim_node_mute(s->sim, story_node("sw-b"), true);
	story_restarts(QUIET);
	say_exit_code();
	story_end();
}
END_TEST

#define CONDITIONS                                                                                 \
	"reboot ca isolate 3 in 60 release 20\nunresponsive ca no_discover 2 of 3 release 30\n"    \
	"noisy_traps all disable 20 in 60 release 30\nflapping ca isolate 3 in 60 release 15\n"    \
	"illegal all isolate 1 in 1 release 40 cut_off\n"

START_TEST(conditions)
{
	struct iba_trap_port errors = {.port_num = 2};

	s = story_begin("conditions", "triangle.topo");
	story_write("policy", CONDITIONS);
	story_up(POLICY);
	for (unsigned int i = 0; i < 4; i++)
		story_reboot("host-5");
	story_mute("host-6", true);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	errors.lid = scenario_lid(s, story_node("sw-b"));
	for (unsigned int i = 0; i < 25; i++) {
		struct iba_notice notice = {
			.is_generic = true, .trap_number = 129 + i % 2, .issuer_lid = errors.lid};

		wire_encode(&iba_trap_port_type, &errors, notice.data_details);
		sim_trap(s->sim, story_node("sw-b"), 0, &notice);
		scenario_run_ms(s, 100);
	}
	story_event("sw-b has told of many errors of port 2");
	story_after_ms(10000);
	sim_set_node_guid(s->sim, story_node("host-2"), 0);
	story_sweeps("host-2 has no GUID", SWEEP_HEAVY);
	sim_set_node_guid(s->sim, story_node("host-2"), 0x77);
	sim_node_mute(s->sim, story_node("host-6"), false);
	story_event("all is well again, and time passes");
	story_after_ms(120000);
	story_restarts(POLICY);
	story_power("sw-c", false);
	story_event("much time passes");
	story_after_ms(1200000);
	story_tell_files();
	story_end();
}
END_TEST

/* The daemon notices a switch port that an administrator disabled, and a lost entry. */
START_TEST(changes_by_others)
{
	struct iba_port_info *port;
	struct sim_node_view view;

	s = story_begin("changes_by_others", "triangle.topo");
	story_up(QUIET "audit_nodes 3\n");
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
	story_event("sw-b has another LID");
	port = (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("sw-b"), 0);
	port->lid = 30;
	sim_link_set(s->sim, story_node("sw-b"), 1, false);
	story_after_ms(2000);
	story_end();
}
END_TEST

/* Something happens this many microseconds after a sweep began. */
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
	story_up(QUIET);
	for (unsigned int us = 0; us <= 2800; us += 400)
		interrupt(us);
	for (unsigned int us = 100; us <= 1300; us += 300) {
		story_event_at("the SM's cable and another change places amid a sweep", "us", us);
		daemon_sweep(s->daemon, us % 200 ? SWEEP_HEAVY : SWEEP_LIGHT);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
		sim_cable_swap(s->sim, story_node("sw-a"), 1, story_node("sw-b"), 1);
		story_after_ms(2000);
	}
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
	tcase_add_test(tcase, after_a_restart);
	tcase_add_test(tcase, sm_on_a_switch);
	tcase_add_test(tcase, mute_from_the_start);
	tcase_add_test(tcase, own_port_lost);
	tcase_add_test(tcase, mute_later);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, lost_gets);
	tcase_add_test(tcase, lost_answers);
	tcase_add_test(tcase, lost_sets);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, lids);
	tcase_add_test(tcase, engines);
	tcase_add_test(tcase, adapter);
	tcase_add_test(tcase, one_lane);
	tcase_add_test(tcase, lanes);
	tcase_add_test(tcase, same_guids);
	tcase_add_test(tcase, fatal);
	tcase_add_test(tcase, small_tables);
	tcase_add_test(tcase, tables_that_just_do);
	tcase_add_test(tcase, flood_of_traps);
	tcase_add_test(tcase, traps_of_all_kinds);
	tcase_add_test(tcase, other_options);
	tcase_add_test(tcase, unhealthy);
	tcase_add_test(tcase, unhealthy_before);
	tcase_add_test(tcase, identities);
	tcase_add_test(tcase, others_answer);
	tcase_add_test(tcase, others_refuse);
	tcase_add_test(tcase, guid2lid);
	tcase_add_test(tcase, stuck);
	tcase_add_test(tcase, once);
	tcase_add_test(tcase, conditions);
	tcase_add_test(tcase, changes_by_others);
	tcase_add_test(tcase, interrupted);
	tcase_add_test(tcase, two_planes);
	tcase_add_test(tcase, tree);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

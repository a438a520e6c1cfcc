// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stories like those of test_sweep_golden.c, of what an operator asks for, what clients want of the
 * SA, and of two SMs.
 */
#include <check.h>

#include "story.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/managers.h"
#include "tests/scenario/transcript.h"

#define PER_PORT "m_key_per_port TRUE\nm_key_update_interval 10\nm_key_seed_file DIRECTORY/seed\n"

static struct scenario *s;

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

/* Leases are renewed during light sweeps, one of them of a port that does not answer. */
START_TEST(m_key_lease)
{
	s = story_begin("m_key_lease", "triangle.topo");
	story_up(QUIET "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 6\n");
	sim_node_mute(s->sim, story_node("host-5"), true);
	for (unsigned int ms = 300; ms <= 2700; ms += 300) {
		story_event_at("a light sweep some time after the one before", "ms", ms);
		daemon_sweep(s->daemon, SWEEP_LIGHT);
		story_after_ms(ms);
	}
	sim_node_mute(s->sim, story_node("host-5"), false);
	story_event("it answers again");
	story_after_ms(20000);
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
	story_link("host-1", 1, false);
	story_event("time passes, without a subnet");
	story_after_ms(11 * 60000);
	story_link("host-1", 1, true);
	story_event("time passes");
	story_after_ms(11 * 60000);
	story_restarts(QUIET PER_PORT "m_key_protection_level 2\nm_key_lookup FALSE\n");
	story_restarts(QUIET PER_PORT "m_key_protection_level 2\n");
	story_restarts(QUIET "m_key 0x1\n");
	story_end();
}
END_TEST

#define SOME                                                                                       \
	"Default=0x7fff,ipoib:ALL=limited,SELF=full;\n"                                            \
	"A=0x10:0x0200000000000501=full,0x0200000000000601=limited;\n"

/* Of 70 partitions with one host each: three blocks. */
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
	story_link("host-3", 1, false);
	story_link("host-3", 1, true);
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
	story_rereads(QUIET QOS "use_optimized_slvl TRUE\nqos_sl2vl 1,16\n");
	story_event("sw-a reboots, and is not heard of");
	story_lose("Set(SLtoVLMappingTable)", "sw-a");
	story_reboot("sw-a");
	story_lose(NULL, NULL);
	story_event("it is heard of again");
	story_after_ms(20000);
	sim_node_refuse(s->sim, story_node("sw-a"), IBA_ATTR_SL_TO_VL_TABLE);
	story_rereads(QUIET QOS "use_optimized_slvl TRUE\nqos_sl2vl 2,3\n");
	sim_node_refuse(s->sim, story_node("sw-a"), 0);
	story_sweeps("it does not refuse any more", SWEEP_HEAVY);
	story_end();
}
END_TEST

/* Files of an earlier run, with lines that no run has written. */
START_TEST(key_files)
{
	static const char *const generations[] = {"0x3 4\n", "0xffffffffffffffff\n", "7\n"};

	s = story_begin("key_files", "triangle.topo");
	story_write("seed", "0123456789 and no more");
	story_write("cache/guid2mkey", "0x0200000000000801 0xF00D\n0x0200000000000901\nnonsense\n"
				       "0x0200000000000901 0xBAD\n0x0 0x5\n");
	story_write("cache/neighbors", "0x0200000080000300:1 0x0200000000000801:1\n"
				       "0x0200000000000901:1\n0x0200000000000901:300 0x5:1\n");
	sim_set_m_key(s->sim, story_node("host-5"), 1, 0xF00D, 2, 0);
	sim_set_m_key(s->sim, story_node("host-6"), 1, 0xF00D, 2, 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(generations); i++) {
		story_write("cache/m_key_generation", generations[i]);
		story_restarts(QUIET PER_PORT "m_key_protection_level 2\n");
	}
	story_tell_files();
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

static struct iba_port_info *port_of(const char *name, unsigned int num)
{
	return (struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node(name), num);
}

/* Ports with fewer or more abilities than others, until they are reset. */
static void vary_hardware(void)
{
	struct sim_node_view view;

	sim_node_view(s->sim, story_node("sw-b"), &view);
	((struct iba_switch_info *)(uintptr_t)view.switch_info)->enhanced_port0 = 1;
	port_of("sw-b", 0)->capability_mask &= ~(uint32_t)IBA_PORT_CAP_MULTICAST_FDB_TOP;
	port_of("sw-b", 5)->vl_arbitration_low_cap = port_of("sw-b", 5)->vl_arbitration_high_cap =
		64;
	port_of("sw-c", 0)->capability_mask &= ~(uint32_t)IBA_PORT_CAP_SL_MAPPING;
	port_of("sw-c", 1)->vl_cap = 2;
	port_of("sw-c", 18)->vl_arbitration_high_cap = 0;
	port_of("host-5", 1)->vl_cap = 1;
	port_of("host-5", 1)->mtu_cap = 2;
	port_of("host-5", 1)->vl_arbitration_low_cap = 0;
	port_of("host-3", 1)->capability_mask &= ~(uint32_t)IBA_PORT_CAP_CLIENT_REREGISTRATION;
	port_of("host-4", 1)->capability_mask &= ~(uint32_t)IBA_PORT_CAP_SL_MAPPING;
	port_of("dual", 1)->capability_mask &= ~(uint32_t)IBA_PORT_CAP_EXTENDED_SPEEDS;
	port_of("dual", 2)->vl_arbitration_low_cap = 40;
	port_of("dual", 2)->link_speed_ext_supported = 0;
	port_of("dual", 2)->link_speed_ext_supported2 = 1;
	port_of("sw-b", 5)->capability_mask |= IBA_PORT_CAP_SM; /* it is not an endport */
}

#define WIDE_QOS                                                                                   \
	QOS "qos_ca_vlarb_low "                                                                    \
	    "0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,"     \
	    "0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4,0:1,1:2,2:3,3:4\n"    \
	    "qos_sw0_sl2vl 1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0\nqos_sw0_high_limit 3\n"

START_TEST(other_hardware)
{
	s = story_begin("other_hardware", "triangle.topo");
	vary_hardware();
	story_starts(QUIET);
	story_rereads(QUIET QOS);
	story_rereads(QUIET WIDE_QOS "use_optimized_slvl TRUE\n");
	story_rereads(QUIET WIDE_QOS "max_op_vls 1\nuse_mfttop FALSE\n");
	story_restarts(QUIET WIDE_QOS "routing_engine dfsssp\nlmc 1\n");
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_sweeps("routes again", SWEEP_REROUTE);
	story_reboot("host-5");
	story_rereads(QUIET "force_link_speed_ext 1\n");
	story_restarts(QUIET "lmc 1\nlmc_esp0 TRUE\n");
	story_end();
}
END_TEST

static struct client *clients[4];

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
	static const char *const hosts[] = {"host-2", "host-3", "host-6", "host-5"};

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
	story_up(QUIET);
	meet_clients();
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		joins(i, true);
	story_link("sw-a", 5, false);
	story_event("another group");
	client_member(clients[0], IBA_METHOD_SET, mgid, client_guid(clients[0]), &mlid);
	story_after_ms(1000);
	story_link("sw-a", 5, true);
	story_link("sw-c", 6, false);
	story_link("sw-c", 6, true);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_reboot("sw-b");
	story_reboot("sw-c");
	story_reboot("sw-a");
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

static void room_for_trees(const char *what, unsigned int a, unsigned int b, unsigned int c)
{
	sim_set_multicast_fdb_cap(s->sim, story_node("sw-a"), (uint16_t)a);
	sim_set_multicast_fdb_cap(s->sim, story_node("sw-b"), (uint16_t)b);
	sim_set_multicast_fdb_cap(s->sim, story_node("sw-c"), (uint16_t)c);
	story_sweeps(what, SWEEP_HEAVY);
}

/* Tables become smaller than their contents. */
START_TEST(multicast_without_room)
{
	struct iba_gid mgid = {UINT64_C(0xFF12A01BFE800000), 7};
	uint16_t mlid;

	s = story_begin("multicast_without_room", "triangle.topo");
	story_up(QUIET);
	meet_clients();
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		joins(i, true);
	story_event("another group");
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		client_member(clients[i], IBA_METHOD_SET, mgid, client_guid(clients[i]), &mlid);
	story_after_ms(1000);
	room_for_trees("sw-c has room for one tree", 1024, 1024, 1);
	room_for_trees("sw-b has room for one tree, too", 1024, 1, 1);
	story_link("sw-a", 6, false);
	room_for_trees("sw-b is between the others", 1024, 1, 1024);
	story_sweeps("groups are looked at", SWEEP_GROUPS);
	story_link("sw-a", 6, true);
	joins(2, false);
	room_for_trees("sw-c has none", 1024, 1, 0);
	room_for_trees("no switch has any", 0, 0, 0);
	story_restarts(QUIET);
	joins(0, true);
	room_for_trees("all have room again", 1024, 32, 1024);
	part_from_clients();
	story_end();
}
END_TEST

/* A group can have more than one tree. */
START_TEST(multicast_in_a_tree)
{
	s = story_begin("multicast_in_a_tree", "fattree:4");
	story_starts(QUIET);
	meet_clients();
	joins(0, true);
	joins(1, true);
	story_link("leaf-0-1", 3, false);
	joins(2, true);
	story_link("leaf-0-1", 3, true);
	joins(3, true);
	joins(1, false);
	story_power("spine-0-0", false);
	joins(1, true);
	story_power("spine-0-0", true);
	joins(0, false);
	plan("subnet_timeout 18\n");
	part_from_clients();
	story_end();
}
END_TEST

/* The file of the routing engine names this switch; NULL: the file is malformed. */
static void roots(const char *name)
{
	g_autofree char *text = NULL;
	struct sim_node_view view;

	if (name)
		sim_node_view(s->sim, story_node(name), &view);
	text = name ? g_strdup_printf("0x%016" G_GINT64_MODIFIER "x\n", view.node_guid)
		    : g_strdup("nonsense\n");
	story_write("roots", text);
}

#define ROOTS QUIET "routing_engine updn\nroot_guid_file DIRECTORY/roots\n"

/* Paths up and down change, and trees that follow them, though no cable changes. */
START_TEST(roots_change)
{
	static const char *const names[] = {"core-1-1", "core-1-1", "leaf-0-0", NULL, "core-0-1"};

	s = story_begin("roots_change", "fattree:4");
	roots("core-0-0");
	story_starts(ROOTS);
	meet_clients();
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		joins(i, true);
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		roots(names[i]);
		story_say(names[i] ? names[i] : "no root");
		story_rereads(i % 2 ? ROOTS "mc_spread_roots TRUE\n" : ROOTS);
	}
	story_link("leaf-0-0", 3, false);
	roots("core-1-1");
	story_restarts(ROOTS);
	story_restarts(QUIET "routing_engine minhop,updn\n");
	part_from_clients();
	story_end();
}
END_TEST

START_TEST(wide)
{
	uint16_t mlid;

	s = story_begin("wide", "wide.topo");
	story_starts(QUIET);
	for (unsigned int i = 0; i < 2; i++) {
		clients[i] = client_new(s, story_node(i ? "host-2" : "host-3"));
		story_event_at("joins", "client", i);
		client_join_broadcast(clients[i], &mlid);
		story_after_ms(1000);
	}
	story_reboot("sw");
	for (unsigned int i = 0; i < 2; i++)
		client_free(clients[i]);
	story_end();
}
END_TEST

/* A switch that lost its tables does not accept one, or its answer is lost. */
START_TEST(lost_tables)
{
	static const char *const packets[] = {"Set(P_KeyTable)",
					      "GetResp(P_KeyTable)",
					      "Set(SLtoVLMappingTable)",
					      "Get(SLtoVLMappingTable)",
					      "Set(VLArbitrationTable)",
					      "GetResp(VLArbitrationTable)",
					      "Set(LinearForwardingTable)",
					      "Set(MulticastForwardingTable)",
					      "GetResp(MulticastForwardingTable)"};

	s = story_begin("lost_tables", "triangle.topo");
	story_write("partitions.conf", SOME);
	story_up(QUIET QOS);
	meet_clients();
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		joins(i, true);
	for (unsigned int i = 0; i < G_N_ELEMENTS(packets); i++) {
		story_event(packets[i]);
		story_lose(packets[i], i % 3 ? "sw-b" : "sw-a");
		story_reboot(i % 3 ? "sw-b" : "sw-a");
		story_lose(NULL, NULL);
		story_event("are lost no more");
		story_after_ms(10000);
	}
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
	story_up(QUIET "drop_event_subscriptions TRUE\n");
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

static void alias(const char *what, uint8_t method, unsigned int index, uint64_t guid)
{
	struct iba_guid_info_record record = {.lid = scenario_lid(s, story_node("host-3")),
					      .block_num = (uint8_t)(index / 8)};

	story_event(what);
	record.guid_info.guid[index % 8] = guid;
	client_ask(clients[1], method, IBA_ATTR_GUID_INFO_RECORD,
		   IBA_COMPONENT(guid_info_record, lid) |
			   IBA_COMPONENT(guid_info_record, block_num) |
			   UINT64_C(1) << (4 + index % 8),
		   &iba_guid_info_record_type, &record);
	story_after_ms(1000);
}

START_TEST(aliases)
{
	s = story_begin("aliases", "triangle.topo");
	story_up(QUIET);
	meet_clients();
	alias("host-3 wants one", IBA_METHOD_SET, 1, 0);
	alias("host-3 names one", IBA_METHOD_SET, 9, UINT64_C(0x0002C903000A0001));
	alias("host-3 asks for it", IBA_METHOD_GET, 9, 0);
	story_lose("Get(GUIDInfo)", "host-3");
	story_reboot("host-3");
	story_lose("Set(GUIDInfo)", "host-3");
	story_sweeps("Gets are lost no more, but Sets", SWEEP_HEAVY);
	story_lose(NULL, NULL);
	story_sweeps("neither is lost any more", SWEEP_HEAVY);
	port_of("host-3", 1)->guid_cap = 8;
	story_sweeps("there is room for fewer", SWEEP_HEAVY);
	story_reboot("host-3");
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	alias("host-3 gives one back", IBA_METHOD_DELETE, 1, 0);
	story_link("host-3", 1, false);
	story_restarts(QUIET);
	story_link("host-3", 1, true);
	story_tell_files();
	part_from_clients();
	story_end();
}
END_TEST

#define RID 8 /* octets of these records before their table */

/* Equal tables once: their number, and the table. */
static char *tables_of(const uint8_t *wire, unsigned int n, size_t size)
{
	g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	GString *text = g_string_new(NULL);

	for (unsigned int i = 0; i < n; i++) {
		GString *table = g_string_new(NULL);
		char *key;
		gpointer count;

		transcript_octets(table, wire + i * size + RID, size - RID);
		key = g_string_free(table, FALSE);
		count = g_hash_table_lookup(told, key);
		if (!count)
			g_ptr_array_add(order, key);
		g_hash_table_insert(told, key, GUINT_TO_POINTER(GPOINTER_TO_UINT(count) + 1));
	}
	for (guint i = 0; i < order->len; i++)
		g_string_append_printf(text, "\n\t%u of %s",
				       GPOINTER_TO_UINT(g_hash_table_lookup(told, order->pdata[i])),
				       (const char *)order->pdata[i]);
	return g_string_free(text, FALSE);
}

static void say_records(const struct wire_type *type, const GByteArray *records, unsigned int n)
{
	size_t size = wire_bytes(type);
	g_autofree uint8_t *wire = g_malloc0(n * size + 1);
	g_autofree char *sum = NULL, *tables = NULL, *text = NULL, *digest = NULL;

	for (unsigned int i = 0; i < n; i++)
		wire_encode(type, records->data + i * type->size, wire + i * size);
	sum = g_compute_checksum_for_data(G_CHECKSUM_MD5, wire, n * size);
	tables = tables_of(wire, n, size);
	text = g_strdup_printf("%u records%s", n, tables);
	story_say(text);
	digest = g_strdup_printf("MD5 %s", sum);
	story_detail(digest);
}

/* The SA is asked for tables, which are read; the second time they are known. */
static void asks_for(uint16_t attribute, const struct wire_type *type, uint16_t lid)
{
	union {
		uint16_t lid;
		uint8_t octets[256];
	} record = {.lid = lid};
	unsigned int n = 0;
	GByteArray *records;

	story_event_at("asks for", type->name, lid);
	records = client_table(clients[0], attribute, lid ? 1 : 0, type, &record, &n);
	story_after_ms(1000);
	if (records) {
		say_records(type, records, n);
		g_byte_array_unref(records);
	}
}

static void asks_for_all(uint16_t lid)
{
	asks_for(IBA_ATTR_SL_TO_VL_TABLE_RECORD, &iba_sl_to_vl_table_record_type, lid);
	asks_for(IBA_ATTR_VL_ARBITRATION_TABLE_RECORD, &iba_vl_arbitration_table_record_type, lid);
	asks_for(IBA_ATTR_P_KEY_TABLE_RECORD, &iba_p_key_table_record_type, lid);
	asks_for(IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD,
		 &iba_multicast_forwarding_table_record_type, lid);
}

START_TEST(tables)
{
	s = story_begin("tables", "triangle.topo");
	story_up(QUIET "m_key 0x1234\nm_key_protection_level 2\n");
	clients[0] = client_new(s, story_node("host-2"));
	client_trust(clients[0], 1);
	asks_for_all(scenario_lid(s, story_node("sw-c")));
	asks_for_all(0);
	story_reboot("sw-b");
	asks_for_all(0);
	story_mute("host-5", true);
	asks_for(IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type, 0);
	asks_for(IBA_ATTR_SM_INFO_RECORD, &iba_sm_info_record_type, 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	asks_for(IBA_ATTR_P_KEY_TABLE_RECORD, &iba_p_key_table_record_type, 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	asks_for(IBA_ATTR_GUID_INFO_RECORD, &iba_guid_info_record_type, 0);
	asks_for_all(scenario_lid(s, story_node("host-5")));
	story_mute("host-5", false);
	story_restarts(QUIET "disable_multicast TRUE\nmax_wire_smps 3\n");
	asks_for_all(scenario_lid(s, story_node("sw-a")));
	asks_for_all(0);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	asks_for_all(0);
	story_reboot("sw-c");
	sim_link_flap(s->sim, story_node("sw-c"), 18, 100 * NS_PER_US, NS_PER_S, 3);
	asks_for_all(0);
	client_free(clients[0]);
	story_end();
}
END_TEST

/* A port is to get another key, but the Set is lost; requests for its tables wait meanwhile. */
START_TEST(m_key_waits)
{
	static const char *const where[] = {"sw-b", "host-5"};

	s = story_begin("m_key_waits", "triangle.topo");
	story_up(QUIET "m_key 0x1234\nm_key_protection_level 2\n");
	clients[0] = client_new(s, story_node("host-2"));
	client_trust(clients[0], 1);
	for (unsigned int i = 0; i < G_N_ELEMENTS(where); i++) {
		g_autofree char *conf = g_strdup_printf(
			QUIET "m_key 0x%x\nm_key_protection_level 2\nqos TRUE\n", 0x5678 + i);

		story_say(where[i]);
		story_lose("Set(PortInfo)", where[i]);
		story_rereads(conf);
		asks_for(IBA_ATTR_P_KEY_TABLE_RECORD, &iba_p_key_table_record_type,
			 scenario_lid(s, story_node(where[i])));
		story_link("sw-a", 5, i % 2);
		story_reboot(where[i]);
		story_link("sw-a", 5, true);
		story_lose(NULL, NULL);
		story_event("nothing is lost any more");
		story_after_ms(12000);
	}
	client_free(clients[0]);
	story_end();
}
END_TEST

START_TEST(plans)
{
	s = story_begin("plans", "triangle.topo");
	story_up(QUIET "m_key 0x1234\nm_key_protection_level 2\n");
	plan("subnet_timeout 15\nm_key 0x1234\n");
	plan("lmc 1\nm_key 0x5678\nm_key_protection_level 1\nsm_sl 2\n");
	plan(QOS "m_key 0x1234\nmax_op_vls 2\n");
	plan("routing_engine lash\nm_key 0x1234\npart_enforce off\n");
	plan("sm_inactive TRUE\nm_key 0x1234\n");
	story_mute("host-5", true);
	plan("m_key 0x1234\n");
	story_end();
}
END_TEST

static void change(const char *request, uint16_t forget)
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
	story_up(QUIET);
	change("0x10: 0x0200000000000801=full", 0);
	change("0x11: 0x0200000000000801=full, 0x0200000000000901=limited", 0);
	change("0x11: 0x0200000000000901=full", 0);
	change("0x11: 0x0200000000000901=none", 0);
	change("0x11: nonsense", 0);
	story_restarts(QUIET);
	change(NULL, 0x10);
	change(NULL, 0);
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

static void managers_options(unsigned int i, const char *conf)
{
	g_autofree char *text = story_conf(conf);

	managers_configure(m, i, text);
}

static void managers_end(void)
{
	story_compare();
	managers_free(m);
}

START_TEST(two_managers)
{
	managers_begin("two_managers", TWO);
	managers_event("sm1 gets a request for partitions", 0);
	change("0x10: 0x0200000000000801=full", 0);
	/* It did not learn which SM was master: that its SM is replaced by one that knows
	 * everything does not help it. */
	((struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, story_node("host-5"), 1))
		->master_sm_lid = 7;
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
	g_free(s->cache_dir);
	s->cache_dir = g_strdup(m->sm[1].directory);
	story_tell_files();
	managers_end();
}
END_TEST

/* Another SM that says it is MASTER, and has the higher priority. */
START_TEST(controls)
{
	managers_begin("controls", "");
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int control = IBA_SM_INFO_HANDOVER; control <= 6; control++) {
			managers_event("somebody sends a control", i);
			managers_control(m, i, "host-4", control);
			story_after_ms(3000);
		}
	managers_event("somebody sends 30 at once", 0);
	for (unsigned int i = 0; i < 30; i++)
		managers_control(m, 0, "host-4", IBA_SM_INFO_DISABLE);
	story_after_ms(1000);
	managers_event("and another one", 0);
	managers_control(m, 0, "host-4", IBA_SM_INFO_DISABLE);
	story_after_ms(1000);
	managers_end();
}
END_TEST

/* A port without IsSM asks for the SMInfo of an SM whose key is a secret. */
START_TEST(secret_key)
{
	managers_begin("secret_key", TWO "sm_key 7\n");
	managers_event("somebody asks", 0);
	managers_ask(m, 0, "host-4");
	story_after_ms(100);
	managers_event("he asks in the midst of a sweep", 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	managers_ask(m, 0, "host-4");
	story_after_ms(1000);
	managers_event("he asks 20 times, and is not heard of", 0);
	story_lose("Get(PortInfo)", "host-4");
	for (unsigned int i = 0; i < 20; i++)
		managers_ask(m, 0, "host-4");
	story_after_ms(100);
	managers_event("meanwhile a sweep begins, and a cable is pulled", 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	managers_ask(m, 0, "host-4");
	sim_link_set(s->sim, story_node("sw-b"), 5, false);
	story_after_ms(3000);
	story_lose(NULL, NULL);
	managers_event("he has IsSM", 0);
	port_of("host-4", 1)->capability_mask |= IBA_PORT_CAP_SM;
	managers_ask(m, 0, "host-4");
	story_after_ms(1000);
	managers_end();
}
END_TEST

/* Each finds the other's port, and ignores it. */
START_TEST(both_ignore)
{
	managers_begin("both_ignore", TWO "ignore_other_sm TRUE\nsweep_interval 1\n");
	managers_event("time passes; of sm1", 0);
	story_after_ms(3000);
	managers_event("time passes; of sm2", 1);
	story_after_ms(3000);
	managers_event("sm2 retires", 1);
	daemon_retire(m->sm[1].daemon);
	story_after_ms(1000);
	managers_end();
}
END_TEST

/* Clients register again one after another, and one of them does not answer. */
START_TEST(paced_takeover)
{
	managers_begin("paced_takeover", QUIET MANAGERS_POLLS "client_rereg_rate 1\n");
	for (unsigned int i = 0; i < 2; i++) {
		managers_event("sm1 is silent", 1);
		sim_node_mute(s->sim, story_node("host-1"), true);
		managers_kill(m, 0);
		s->daemon = m->sm[1].daemon;
		story_after_ms(i ? 9000 : 5500);
		story_reboot("host-3"); /* whose turn has not come */
		story_event("an audit is wanted");
		event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
		story_after_ms(500);
		story_event("a host does not answer");
		sim_node_mute(s->sim, story_node("host-4"), true);
		story_after_ms(1500);
		sim_node_mute(s->sim, story_node("host-1"), false);
		managers_start(m, 0);
		managers_event("sm1 starts again", 1);
		story_after_ms(5000);
		sim_node_mute(s->sim, story_node("host-4"), false);
		managers_event("time passes; of sm1", 0);
		story_after_ms(i ? 10000 : 2000);
	}
	managers_end();
}
END_TEST

/* One message between two SMs is lost. */
START_TEST(lost_handover)
{
	static const char *const packets[] = {"Set(SMInfo)", "GetResp(SMInfo)", "Get(SMInfo)"};

	managers_begin("lost_handover", "");
	for (unsigned int i = 0; i < G_N_ELEMENTS(packets); i++) {
		story_watch(m->sm[i % 2].daemon, m->sm[i % 2].guid);
		story_lose(packets[i], i % 2 ? "host-1" : "host-6");
		managers_say(1 - i % 2, i % 2 ? QUIET MANAGERS_POLLS "sm_priority 9\n"
					      : QUIET MANAGERS_POLLS "sm_priority 5\n");
		story_event(packets[i]);
		story_after_ms(10000);
		story_lose(NULL, NULL);
		story_event("is lost no more");
		story_after_ms(5000);
	}
	managers_end();
}
END_TEST

static void managers_are_joined(bool joined)
{
	sim_link_set(s->sim, story_node("sw-a"), 5, joined);
	sim_link_set(s->sim, story_node("sw-a"), 6, joined);
}

static void retires(const char *what, unsigned int i)
{
	managers_event(what, i);
	daemon_retire(m->sm[i].daemon);
	story_after_ms(100);
}

static void managers_split(const char *what)
{
	managers_event(what, 1);
	managers_are_joined(false);
	story_after_ms(8000);
}

/* Two SMs negotiate and the other one does not do its part, a different part each time. */
START_TEST(patience)
{
	managers_begin("patience", QUIET MANAGERS_POLLS);
	managers_event("sm1 is to hand over to sm2, which does not hear it", 0);
	story_lose("Set(SMInfo)", "host-6");
	managers_options(1, QUIET MANAGERS_POLLS "sm_priority 5\n");
	story_after_ms(10000);
	story_lose(NULL, NULL);
	managers_split("they are cut off from each other; of sm2");
	managers_event("they meet again; of sm1", 0);
	managers_are_joined(true);
	story_after_ms(8000);
	managers_split("they are cut off again; of sm2");
	managers_options(0, QUIET MANAGERS_POLLS "ignore_other_sm TRUE\n");
	managers_event("sm1 ignores sm2, which awaits that it hands over", 1);
	managers_are_joined(true);
	story_after_ms(8000);
	managers_event("sm1 does not ignore it any more, which does not hear that", 0);
	story_lose("Set(SMInfo)", "host-6");
	managers_options(0, QUIET MANAGERS_POLLS);
	story_after_ms(20000);
	sim_node_mute(s->sim, story_node("host-1"), true);
	retires("sm2 retires, and sm1 is silent", 1);
	retires("it is told to once more", 1);
	story_event("time passes");
	story_after_ms(3000);
	managers_end();
}
END_TEST

/* A standby whose own port no longer answers it, then one that finds another master. */
START_TEST(standby)
{
	g_autofree char *text = NULL;

	managers_begin("standby", QUIET MANAGERS_POLLS);
	managers_event("the port of sm2 is mute", 1);
	sim_node_mute(s->sim, story_node("host-6"), true);
	story_after_ms(5000);
	sim_node_mute(s->sim, story_node("host-6"), false);
	managers_event("and is not any more", 1);
	story_after_ms(3000);
	managers_event("sm3 starts, and the traps of its port are lost; of sm1", 0);
	sim_set_traps_lost(s->sim, true);
	text = story_conf(QUIET MANAGERS_POLLS "sm_priority 3\n");
	managers_add(m, "host-3", text);
	managers_start(m, 2);
	story_after_ms(3000);
	sim_set_traps_lost(s->sim, false);
	managers_event("sm1 dies; of sm2", 1);
	sim_node_mute(s->sim, story_node("host-1"), true);
	managers_kill(m, 0);
	story_after_ms(8000);
	managers_event("the cable of sm2 is pulled", 1);
	sim_link_set(s->sim, story_node("host-6"), 1, false);
	story_after_ms(8000);
	managers_event("and plugged", 1);
	sim_link_set(s->sim, story_node("host-6"), 1, true);
	story_after_ms(8000);
	managers_event("the adapter of sm2 is gone for a while", 1);
	sim_device_set(s->sim, story_node("host-6"), false);
	scenario_run_ms(s, 1500);
	sim_device_set(s->sim, story_node("host-6"), true);
	story_after_ms(5000);
	managers_end();
}
END_TEST

static void joins_at(const char *host)
{
	uint16_t mlid;

	story_event_at("joins", host, 0);
	clients[0] = client_new(s, story_node(host));
	client_join_broadcast(clients[0], &mlid);
	client_free(clients[0]);
	story_tell();
}

static void members_are_unknown(const char *name, bool known)
{
	managers_begin(name, TWO);
	managers_event("clients join; of sm1", 0);
	s->daemon = m->sm[0].daemon;
	for (unsigned int i = 0; known && i < 2; i++)
		joins_at(i ? "host-2" : "host-3");
	scenario_run_ms(s, 1000);
	story_lose("Set(?)", "host-6");
	joins_at("host-5");
	joins_at("host-4");
	joins_at("dual");
	story_after_ms(100);
	sim_link_set(s->sim, story_node("host-4"), 1, false);
	managers_event("sm1 dies; of sm2", 1);
	sim_node_mute(s->sim, story_node("host-1"), true);
	managers_kill(m, 0);
	s->daemon = m->sm[1].daemon;
	story_lose(NULL, NULL);
	story_after_ms(8000);
	managers_end();
}

/* The standby is no longer told of joins, and finds members in tables that it does not know. */
START_TEST(unknown_members)
{
	members_are_unknown("unknown_members", true);
}
END_TEST

/* As unknown_members, but it does not know of any member. */
START_TEST(unknown_group)
{
	members_are_unknown("unknown_group", false);
}
END_TEST

/* Plugged in while there is a master: they hide their keys, and one of them has none. */
START_TEST(m_key_newcomers)
{
	s = story_begin("m_key_newcomers", "triangle.topo");
	sim_link_set(s->sim, story_node("host-5"), 1, false);
	sim_link_set(s->sim, story_node("host-6"), 1, false);
	sim_node_set(s->sim, story_node("sw-b"), false);
	story_up(QUIET "m_key 0x1234\nm_key_protection_level 1\n");
	sim_set_m_key(s->sim, story_node("host-5"), 1, 0xF00D, 1, 0);
	sim_set_m_key(s->sim, story_node("host-6"), 1, 0, 1, 0);
	story_link("host-5", 1, true);
	story_link("host-6", 1, true);
	sim_node_set(s->sim, story_node("sw-b"), true);
	sim_set_m_key(s->sim, story_node("sw-b"), 0, 0xF00D, 1, 0);
	story_event("sw-b is there, with another's key");
	story_after_ms(70000);
	sim_set_m_key(s->sim, story_node("host-5"), 1, 0, 0, 0);
	sim_set_m_key(s->sim, story_node("sw-b"), 0, 0xF00D, 0, 0);
	story_event("sw-b tells its key, host-5 has none any more");
	story_after_ms(1000);
	story_sweeps("light sweep", SWEEP_LIGHT);
	story_event("time passes");
	story_after_ms(700000);
	story_sweeps("heavy sweep", SWEEP_HEAVY);
	story_end();
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

int main(void)
{
	Suite *suite = suite_create("policy_golden");
	TCase *tcase = tcase_create("stories");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, m_key);
	tcase_add_test(tcase, m_key_changes);
	tcase_add_test(tcase, m_key_lease);
	tcase_add_test(tcase, m_key_per_port);
	tcase_add_test(tcase, key_files);
	tcase_add_test(tcase, m_key_waits);
	tcase_add_test(tcase, partitions);
	tcase_add_test(tcase, qos);
	tcase_add_test(tcase, other_hardware);
	tcase_add_test(tcase, multicast);
	tcase_add_test(tcase, multicast_without_room);
	tcase_add_test(tcase, multicast_in_a_tree);
	tcase_add_test(tcase, roots_change);
	tcase_add_test(tcase, wide);
	tcase_add_test(tcase, lost_tables);
	tcase_add_test(tcase, reports);
	tcase_add_test(tcase, aliases);
	tcase_add_test(tcase, tables);
	tcase_add_test(tcase, plans);
	tcase_add_test(tcase, partitions_at_run_time);
	tcase_add_test(tcase, two_managers);
	tcase_add_test(tcase, controls);
	tcase_add_test(tcase, secret_key);
	tcase_add_test(tcase, both_ignore);
	tcase_add_test(tcase, paced_takeover);
	tcase_add_test(tcase, lost_handover);
	tcase_add_test(tcase, patience);
	tcase_add_test(tcase, standby);
	tcase_add_test(tcase, unknown_members);
	tcase_add_test(tcase, unknown_group);
	tcase_add_test(tcase, m_key_newcomers);
	tcase_add_test(tcase, master_dies);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

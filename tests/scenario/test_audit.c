// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Known tables are compared with the hardware: an entry that changed by itself is found, once. */
#include <check.h>
#include <inttypes.h>

#include "client.h"
#include "core/counters.h"
#include "scenario.h"
#include "tests/run_suite.h"

static struct scenario *up(const char *spec, const char *audit_nodes)
{
	struct scenario *s = scenario_new(spec, 1);

	scenario_conf(s, audit_nodes);
	scenario_start(s);
	scenario_converge(s, 20);
	scenario_run_ms(s, 1000);
	return s;
}

static struct counters *counted(struct scenario *s)
{
	return &daemon_context(s->daemon)->counters;
}

/* The switch loses one entry without any trap. */
static void lose_entry(struct scenario *s, const char *name, uint16_t lid)
{
	struct sim_node_view view;

	sim_node_view(s->sim, scenario_node(s, name), &view);
	((uint8_t *)(uintptr_t)view.lft)[lid] = 0xFF;
}

static void lose_entry_of_host(struct scenario *s)
{
	lose_entry(s, "spine-1-0", scenario_lid(s, scenario_node(s, "host-9")));
	g_autofree char *wrong = scenario_violation(s);
	scenario_expect(s, wrong != NULL);
}

START_TEST(audit_of_all)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");

	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
	scenario_check_log(s, ", 0 differed", true);
	/* 20 switches: SwitchInfo, a block and 5 ports; 16 hosts: a port; 36 P_Key tables. */
	scenario_expect(s, counter_get(counted(s), audit_compared) >= 20 * 7 + 16 + 36);
	lose_entry_of_host(s);
	scenario_run_ms(s, 60000);
	scenario_expect(s, counter_get(counted(s), audit_differed) == 0);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
	scenario_expect(s, counter_get(counted(s), audit_differed) == 1);
	scenario_check(s);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
	scenario_expect(s, counter_get(counted(s), audit_differed) == 1);
	scenario_free(s);
}
END_TEST

/* A host is asked through its other port, whose tables differ. */
START_TEST(port_without_a_link)
{
	struct scenario *s = scenario_new("dual_port.topo", 1);
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	unsigned int host = scenario_node(s, "host-8");
	g_autofree char *rules =
		g_strdup_printf("Default=0x7fff:ALL=full;\none=0x1:0x%016" PRIx64 "=full;\n",
				sim_port_guid(s->sim, host, 1));

	scenario_expect(s, g_file_set_contents(file, rules, -1, NULL));
	scenario_option(s, "-P", file);
	scenario_start(s);
	scenario_converge(s, 20);
	sim_link_set(s->sim, host, 1, false);
	scenario_converge(s, 20);
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
	scenario_check_log(s, ", 0 differed", true);
	scenario_free(s);
}
END_TEST

/* 14.2.5.6: what devices count and measure themselves is not a change by another SM. */
START_TEST(what_changes_by_itself)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");
	unsigned int host = scenario_node(s, "host-9");
	struct iba_port_info *info = (void *)(uintptr_t)sim_port_info(s->sim, host, 1);

	scenario_run_ms(s, 5000);
	scenario_expect(s, counter_get(counted(s), audit_compared) == 0); /* nothing is doubted */
	info->m_key_violations = info->p_key_violations = info->q_key_violations = 3;
	info->diag_code = 2;
	info->link_round_trip_latency = 77;
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
	scenario_expect(s, counter_get(counted(s), audit_compared) > 0);
	scenario_expect(s, counter_get(counted(s), audit_differed) == 0);
	info->neighbor_mtu = IBA_MTU_256;
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
	scenario_expect(s, counter_get(counted(s), audit_differed) == 1);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

static void audit(struct scenario *s)
{
	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	scenario_run_ms(s, 2000);
}

/* Changes one thing in a switch. */
static void spoil(struct scenario *s, unsigned int thing)
{
	unsigned int sw = scenario_node(s, "spine-1-0");
	struct sim_node_view view;
	struct iba_switch_info *info;

	sim_node_view(s->sim, sw, &view);
	info = (void *)(uintptr_t)view.switch_info;
	if (thing == 0)
		info->linear_fdb_top--;
	else if (thing == 1)
		info->multicast_fdb_top ^= 1;
	else if (thing == 2)
		info->life_time_value ^= 1;
	else
		((struct iba_port_info *)(uintptr_t)sim_port_info(s->sim, sw, 2))->neighbor_mtu =
			IBA_MTU_256;
}

/* What is published of that switch is what it holds. */
static void expect_published(struct scenario *s)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	struct sim_node_view view;
	const struct iba_switch_info *told;
	uint32_t node;

	sim_node_view(s->sim, scenario_node(s, "spine-1-0"), &view);
	node = fabric_node_by_guid(subnet->fabric, view.node_guid);
	told = &subnet->fabric->switches[subnet->fabric->nodes[node].sw].info;
	ck_assert_uint_eq(told->linear_fdb_top, view.switch_info->linear_fdb_top);
	ck_assert_uint_eq(told->multicast_fdb_top, view.switch_info->multicast_fdb_top);
	ck_assert_uint_eq(told->life_time_value, view.switch_info->life_time_value);
	subnet_unref(subnet);
}

/* One thing is found, as one, and repaired; nothing else is found then. */
START_TEST(each_thing)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");
	uint64_t compared;

	spoil(s, (unsigned int)_i);
	audit(s);
	ck_assert_uint_eq(counter_get(counted(s), audit_differed), 1);
	scenario_check(s);
	expect_published(s);
	scenario_run_ms(s, 10000); /* by then everything was read */
	compared = counter_get(counted(s), audit_compared);
	audit(s);
	ck_assert_uint_eq(counter_get(counted(s), audit_differed), 1);
	ck_assert_uint_gt(counter_get(counted(s), audit_compared), compared);
	scenario_free(s);
}
END_TEST

/* Groups in more than one block of the multicast tables: each block is compared with its own. */
START_TEST(blocks_of_groups)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");
	struct client *client = client_new(s, scenario_node(s, "host-9"));
	uint64_t compared = counter_get(counted(s), audit_compared);
	uint16_t mlid;

	for (uint64_t i = 1; i <= 40; i++) {
		struct iba_gid mgid = {UINT64_C(0xFF12000000000000), i};

		ck_assert_int_eq(client_member(client, IBA_METHOD_SET, mgid, client_guid(client),
					       &mlid), 0);
	}
	ck_assert_uint_gt(mlid, IBA_LID_MCAST_FIRST + 31);
	scenario_run_ms(s, 2000);
	audit(s);
	ck_assert_uint_gt(counter_get(counted(s), audit_compared), compared);
	ck_assert_uint_eq(counter_get(counted(s), audit_differed), 0);
	client_free(client);
	scenario_free(s);
}
END_TEST

/*
 * Another SM gave a port its M_Key. At levels that let every requester read, the key itself is
 * hidden, and nothing else shows it.
 */
START_TEST(key_of_another)
{
	struct scenario *s =
		up("fattree:4", "sweep_interval 0\nm_key 0x1234\nm_key_protection_level 1\n");

	audit(s);
	ck_assert_uint_eq(counter_get(counted(s), audit_differed), 0);
	sim_set_m_key(s->sim, scenario_node(s, "host-9"), 1, 0xF00D, 1, 0);
	for (unsigned int i = 0; i < 2; i++) {
		audit(s);
		ck_assert_uint_eq(counter_get(counted(s), audit_differed), 1);
	}
	scenario_check_log(s, "unknown M_Key", true);
	scenario_free(s);
}
END_TEST

/* A port went down and came back without a trap: that is checked, and is not an error. */
START_TEST(port_state_change)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");
	struct sim_node_view view;

	sim_node_view(s->sim, scenario_node(s, "spine-1-0"), &view);
	((struct iba_switch_info *)(uintptr_t)view.switch_info)->port_state_change = 1;
	audit(s);
	ck_assert_uint_eq(view.switch_info->port_state_change, 0);
	ck_assert_uint_eq(counter_get(counted(s), audit_differed), 0);
	scenario_free(s);
}
END_TEST

/*
 * A switch loses its whole table without a trap. Nodes behind it answer only by directed routes:
 * after the third time a sweep reads them, and compares the switches on the way.
 */
static struct scenario *up_with_lost_table(void)
{
	struct scenario *s = up("fattree:4", "sweep_interval 1\n");

	for (uint16_t lid = 1; lid < 64; lid++)
		lose_entry(s, "spine-1-0", lid);
	return s;
}

START_TEST(answers_go_another_way)
{
	struct scenario *s = up_with_lost_table();

	scenario_converge(s, 5);
	scenario_check_log(s, "does not hold the tables that were written to it", true);
	ck_assert_uint_eq(counter_get(counted(s), audit_compared), 0);
	scenario_free(s);
}
END_TEST

static void mute_when_read(void *arg, uint64_t now_ns, const struct vendor_address *to,
			   uint64_t from, const uint8_t *data, size_t length)
{
	struct scenario *s = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	if (scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE))
		sim_node_mute(s->sim, scenario_node(s, "spine-1-0"), true);
}

/* It does not answer then: that is an error, and it is compared when it answers. */
START_TEST(no_answer_when_compared)
{
	struct scenario *s = up_with_lost_table();

	sim_set_trace(s->sim, mute_when_read, s);
	scenario_run_ms(s, 10000);
	sim_set_trace(s->sim, NULL, NULL);
	scenario_check_log(s, "Get(LinearForwardingTable) 0x0: no answer", true);
	sim_node_mute(s->sim, scenario_node(s, "spine-1-0"), false);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

/* 36 nodes, 5 after each light sweep: all within 8 of these. */
START_TEST(audit_in_idle_time)
{
	struct scenario *s = up("fattree:4", "sweep_interval 1\naudit_nodes 5\n");

	lose_entry_of_host(s);
	scenario_run_ms(s, 9000);
	scenario_expect(s, counter_get(counted(s), audit_differed) == 1);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* A change in the middle of it: the rest is compared after the sweep for that change. */
START_TEST(goes_on_after_a_sweep)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");

	event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
	sim_set_description(s->sim, scenario_node(s, "leaf-2-0"), "renamed");
	scenario_run_ms(s, 2000);
	ck_assert_uint_gt(counter_get(counted(s), sweeps_partial), 0);
	scenario_check_log(s, ", 0 differed", true);
	scenario_free(s);
}
END_TEST

/* Links that lose packets make Sets take more than one try: each is read back, nothing else is. */
START_TEST(what_was_set_twice_is_read)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");
	uint64_t compared;

	scenario_expect(s, counter_get(counted(s), audit_compared) == 0);
	sim_set_loss(s->sim, 0.1);
	scenario_heavy_sweep(s, 60);
	sim_node_set(s->sim, scenario_node(s, "spine-1-0"), false);
	sim_node_set(s->sim, scenario_node(s, "spine-1-0"), true);
	scenario_converge(s, 60);
	sim_set_loss(s->sim, 0);
	scenario_run_ms(s, 10000);
	compared = counter_get(counted(s), audit_compared);
	scenario_expect(s, compared > 0);
	scenario_run_ms(s, 60000);
	scenario_expect(s, counter_get(counted(s), audit_compared) == compared);
	scenario_free(s);
}
END_TEST

/* As above with Sets that no sweep sends: ports are told to reregister one by one. */
START_TEST(what_was_set_between_sweeps)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\nclient_rereg_rate 1\n");

	scenario_stop(s);
	scenario_start(s);
	scenario_converge(s, 20);
	sim_set_loss(s->sim, 0.1);
	scenario_run_ms(s, 20000);
	scenario_expect(s, counter_get(counted(s), audit_compared) > 0);
	scenario_expect(s, counter_get(counted(s), sweeps_partial) == 0);
	scenario_free(s);
}
END_TEST

static void lose_when_read(void *arg, uint64_t now_ns, const struct vendor_address *to,
			   uint64_t from, const uint8_t *data, size_t length)
{
	struct scenario *s = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	if (scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE))
		lose_entry(s, "spine-1-0", 1);
}

/* Each time it is repaired the entry is lost again: it is retried at growing intervals. */
START_TEST(put_right_in_vain)
{
	struct scenario *s = up("fattree:4", "sweep_interval 0\n");

	sim_set_trace(s->sim, lose_when_read, s);
	for (unsigned int i = 0; i < 30; i++)
		audit(s);
	sim_set_trace(s->sim, NULL, NULL);
	ck_assert_uint_ge(counter_get(counted(s), sweeps_partial), 8);
	ck_assert_uint_le(counter_get(counted(s), sweeps_partial), 24); /* some for other routes */
	scenario_converge(s, 20);
	audit(s);
	scenario_run_ms(s, 20000);
	scenario_check_log(s, ", 0 differed", true);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("audit");
	TCase *tcase = tcase_create("audit");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, audit_of_all);
	tcase_add_test(tcase, port_without_a_link);
	tcase_add_test(tcase, what_changes_by_itself);
	tcase_add_loop_test(tcase, each_thing, 0, 4);
	tcase_add_test(tcase, blocks_of_groups);
	tcase_add_test(tcase, key_of_another);
	tcase_add_test(tcase, port_state_change);
	tcase_add_test(tcase, answers_go_another_way);
	tcase_add_test(tcase, no_answer_when_compared);
	tcase_add_test(tcase, audit_in_idle_time);
	tcase_add_test(tcase, goes_on_after_a_sweep);
	tcase_add_test(tcase, what_was_set_twice_is_read);
	tcase_add_test(tcase, what_was_set_between_sweeps);
	tcase_add_test(tcase, put_right_in_vain);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alias GUIDs: a host that got its answer has them in its GUIDInfo, others find it by them, and
 * they outlive its reboot and its SM.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "client.h"
#include "managers.h"
#include "tests/run_suite.h"

#define C(name) IBA_COMPONENT(guid_info_record, name)
#define WHERE (C(lid) | C(block_num))
#define G(i) (UINT64_C(1) << (4 + (i)))
#define ALIAS UINT64_C(0x0002C903000A0001)
#define COUNT(s, name) counter_get(&daemon_context((s)->daemon)->counters, name)

static struct scenario *s;
static unsigned int nodes[2];
static struct client *hosts[2];

static void add_hosts(void)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++) {
		nodes[i] = scenario_node(s, i ? "host-7" : "host-5");
		hosts[i] = client_new(s, nodes[i]);
	}
}

static void begin(const char *conf)
{
	s = scenario_new("fattree:4", 1);
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 60);
	add_hosts();
}

static void end(void)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		client_free(hosts[i]);
	scenario_free(s);
}

/* Asks for entry index of host i. */
static int ask(unsigned int i, uint8_t method, unsigned int index, uint64_t *guid)
{
	struct iba_guid_info_record record = {
		.lid = scenario_lid(s, nodes[i]),
		.block_num = (uint8_t)(index / 8),
	};
	uint64_t mask = WHERE | (method == IBA_METHOD_GET ? 0 : G(index % 8));
	int status;

	record.guid_info.guid[index % 8] = *guid;
	status = client_ask(hosts[i], method, IBA_ATTR_GUID_INFO_RECORD, mask,
			    &iba_guid_info_record_type, &record);
	*guid = record.guid_info.guid[index % 8];
	return status;
}

static uint64_t set(unsigned int i, unsigned int index, uint64_t guid)
{
	ck_assert_int_eq(ask(i, IBA_METHOD_SET, index, &guid), 0);
	return guid;
}

/* As the SA answers, which is what the port has. */
static uint64_t get(unsigned int i, unsigned int index)
{
	uint64_t guid = 0;

	ck_assert_int_eq(ask(i, IBA_METHOD_GET, index, &guid), 0);
	return guid;
}

static uint64_t held(unsigned int i, unsigned int index)
{
	return sim_alias_guid(s->sim, nodes[i], 1, index);
}

static int path_to(unsigned int i, uint64_t guid)
{
	struct iba_path_record path;
	int status = client_path(hosts[1 - i], guid, &path);

	ck_assert(status || path.dlid == scenario_lid(s, nodes[i]));
	return status;
}

static int join(unsigned int i, uint64_t guid, uint8_t method, uint16_t *mlid)
{
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF1200000000ABCD), 1},
		.port_gid = {IBA_DEFAULT_GID_PREFIX, guid},
		.join_state = IBA_JOIN_FULL_MEMBER,
		.p_key = 0xFFFF,
	};
	const uint64_t mask =
		IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |
		IBA_COMPONENT(mc_member_record, join_state) |
		IBA_COMPONENT(mc_member_record, p_key) | IBA_COMPONENT(mc_member_record, q_key) |
		IBA_COMPONENT(mc_member_record, t_class) |
		IBA_COMPONENT(mc_member_record, flow_label) | IBA_COMPONENT(mc_member_record, sl);
	int status = client_ask(hosts[i], method, IBA_ATTR_MC_MEMBER_RECORD, mask,
				&iba_mc_member_record_type, &record);

	*mlid = record.mlid;
	return status;
}

/* Answered means programmed; found by it; removed again. */
START_TEST(life)
{
	uint64_t made, none = 0;
	uint64_t blocks;

	begin("sm_assigned_guid 0x42\n");
	ck_assert(get(0, 1) == 0);
	ck_assert(set(0, 1, ALIAS) == ALIAS);
	ck_assert(held(0, 1) == ALIAS);
	ck_assert(get(0, 1) == ALIAS);
	made = set(0, 9, 0);
	ck_assert(made >> 32 == UINT64_C(0x00140542));
	ck_assert(held(0, 9) == made && held(0, 1) == ALIAS);
	ck_assert_int_eq(path_to(0, ALIAS), 0);
	ck_assert_int_eq(path_to(0, made), 0);
	ck_assert_uint_eq(COUNT(s, sa_unconfirmed), 0);
	blocks = COUNT(s, alias_blocks_set);
	ck_assert_uint_eq(blocks, 2);
	ck_assert(set(0, 1, ALIAS) == ALIAS); /* no change */
	scenario_heavy_sweep(s, 20);
	ck_assert_uint_eq(COUNT(s, alias_blocks_set), blocks);
	ck_assert_int_eq(ask(0, IBA_METHOD_DELETE, 1, &none), 0);
	ck_assert(held(0, 1) == 0 && held(0, 9) == made);
	ck_assert(get(0, 1) == 0);
	ck_assert_int_ne(path_to(0, ALIAS), 0);
	scenario_check(s);
	end();
}
END_TEST

START_TEST(two_hosts_want_one)
{
	uint64_t none = 0;

	begin("");
	ck_assert(set(0, 1, ALIAS) == ALIAS);
	ck_assert(set(1, 1, ALIAS) == 0);
	ck_assert_uint_eq(COUNT(s, sa_aliases_refused), 1);
	ck_assert(held(1, 1) == 0);
	ck_assert_int_eq(path_to(0, ALIAS), 0);
	ck_assert_int_eq(ask(0, IBA_METHOD_DELETE, 1, &none), 0);
	ck_assert(set(1, 1, ALIAS) == ALIAS);
	ck_assert(held(0, 1) == 0 && held(1, 1) == ALIAS);
	ck_assert_int_eq(path_to(1, ALIAS), 0);
	end();
}
END_TEST

/* Switches forward packets of its groups to the port; an alias that is a member must stay. */
START_TEST(members)
{
	uint64_t guids[2], none = 0;
	uint16_t mlid;

	begin("join_answer_timeout 500\n");
	set(0, 1, ALIAS);
	ck_assert_int_eq(join(0, ALIAS, IBA_METHOD_SET, &mlid), 0);
	guids[0] = client_guid(hosts[0]);
	guids[1] = client_guid(hosts[1]);
	ck_assert_int_eq(join(1, guids[1], IBA_METHOD_SET, &mlid), 0);
	scenario_check_tree(s, mlid, guids, 2);
	ck_assert_int_eq(ask(0, IBA_METHOD_DELETE, 1, &none), IBA_SA_DENIED);
	ck_assert(held(0, 1) == ALIAS);
	scenario_heavy_sweep(s, 20);
	scenario_check_tree(s, mlid, guids, 2);
	ck_assert_int_eq(join(0, ALIAS, IBA_METHOD_DELETE, &mlid), 0);
	ck_assert_int_eq(ask(0, IBA_METHOD_DELETE, 1, &none), 0);
	scenario_converge(s, 20);
	end();
}
END_TEST

/* During a sweep, at a different moment of it each time. */
START_TEST(during_a_sweep)
{
	begin("");
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + (uint64_t)_i * 100 * NS_PER_US);
	ck_assert(set(0, 1, ALIAS) == ALIAS);
	ck_assert(held(0, 1) == ALIAS);
	scenario_converge(s, 20);
	end();
}
END_TEST

/* GUIDInfo is lost with the power; the port has it again before it is up. */
START_TEST(reboot)
{
	begin("");
	set(0, 1, ALIAS);
	sim_node_set(s->sim, nodes[0], false);
	scenario_run_ms(s, _i ? 30000 : 100);
	ck_assert(held(0, 1) == 0);
	sim_node_set(s->sim, nodes[0], true);
	scenario_converge(s, 60);
	ck_assert(held(0, 1) == ALIAS);
	ck_assert_int_eq(path_to(0, ALIAS), 0);
	end();
}
END_TEST

/* A host that stays away loses its registrations: another may have its alias GUID. */
START_TEST(absent)
{
	struct iba_inform_info info = {.lid_range_begin = 0xFFFF, .subscribe = 1};
	struct iba_service_record service = {.service_id = 7};
	struct iba_inform_info_record subscription = {0};
	GByteArray *all;
	unsigned int n;

	begin("sweep_interval 1000\n");
	set(0, 1, ALIAS);
	ck_assert_int_eq(client_inform(hosts[0], info), 0);
	service.service_gid = client_gid(hosts[0]);
	ck_assert_int_eq(client_ask(hosts[0], IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD,
				    IBA_COMPONENT(service_record, service_id) |
					    IBA_COMPONENT(service_record, service_gid),
				    &iba_service_record_type, &service),
			 0);
	sim_node_set(s->sim, nodes[0], false);
	scenario_run_ms(s, 10000);
	ck_assert(set(1, 1, ALIAS) == 0); /* it may come back soon */
	scenario_run_ms(s, 600000);
	scenario_heavy_sweep(s, 20);
	ck_assert(set(1, 1, ALIAS) == ALIAS);
	ck_assert_int_eq(client_ask(hosts[1], IBA_METHOD_GET, IBA_ATTR_SERVICE_RECORD,
				    IBA_COMPONENT(service_record, service_id),
				    &iba_service_record_type, &service),
			 IBA_SA_NO_RECORDS);
	sim_node_set(s->sim, nodes[0], true);
	scenario_run_ms(s, 10000);
	all = client_table(hosts[1], IBA_ATTR_INFORM_INFO_RECORD, 0, &iba_inform_info_record_type,
			   &subscription, &n);
	ck_assert_ptr_nonnull(all);
	ck_assert_uint_eq(n, 0);
	g_byte_array_unref(all);
	end();
}
END_TEST

/* ---- a host that reboots ---- */

static int register_service(unsigned int i, uint64_t id)
{
	struct iba_service_record service = {.service_id = id, .service_gid = client_gid(hosts[i])};

	return client_ask(hosts[i], IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD,
			  IBA_COMPONENT(service_record, service_id) |
				  IBA_COMPONENT(service_record, service_gid),
			  &iba_service_record_type, &service);
}

/*
 * Meanwhile no other port may have its GUID, nor its registrations: with the same SM, with a
 * restarted one, and after a heavy sweep.
 */
START_TEST(nobody_is_a_host_that_reboots)
{
	uint64_t victim;
	uint16_t mlid, none;

	begin("sm_assigned_guid 0x42\n");
	victim = client_guid(hosts[1]);
	ck_assert_int_eq(join(1, victim, IBA_METHOD_SET, &mlid), 0);
	ck_assert_int_eq(join(0, client_guid(hosts[0]), IBA_METHOD_SET, &mlid), 0);
	ck_assert_int_eq(register_service(1, 7), 0);
	sim_node_set(s->sim, nodes[1], false);
	scenario_run_ms(s, 10000);
	if (_i == 1) {
		scenario_stop(s);
		scenario_start(s);
		scenario_converge(s, 60);
	} else if (_i == 2) {
		scenario_heavy_sweep(s, 20);
	}
	ck_assert(set(0, 1, victim) == 0);
	ck_assert_uint_eq(COUNT(s, sa_aliases_refused), 1);
	ck_assert(held(0, 1) == 0);
	ck_assert_int_ne(join(0, victim, IBA_METHOD_DELETE, &none), 0);
	sim_node_set(s->sim, nodes[1], true);
	scenario_converge(s, 60);
	ck_assert_int_eq(path_to(1, victim), 0);
	if (_i != 1) { /* it is still a member */
		uint64_t guids[2] = {client_guid(hosts[0]), victim};

		scenario_check_tree(s, mlid, guids, 2);
	}
	end();
}
END_TEST

/* Sets are lost, even all tries of the first: the answer comes in time, the port is set later. */
START_TEST(lost_sets)
{
	begin("alias_answer_timeout 300\n");
	sim_node_mute(s->sim, nodes[0], true);
	ck_assert(set(0, 1, ALIAS) == ALIAS);
	ck_assert_uint_eq(COUNT(s, sa_unconfirmed), 1);
	ck_assert(held(0, 1) == 0);
	sim_node_mute(s->sim, nodes[0], false);
	scenario_run_ms(s, 30000);
	scenario_expect(s, held(0, 1) == ALIAS);
	sim_node_set_loss(s->sim, nodes[1], 0.3);
	for (unsigned int i = 1; i < 8; i++)
		set(1, i, ALIAS + i);
	sim_node_set_loss(s->sim, nodes[1], 0);
	scenario_run_ms(s, 30000);
	for (unsigned int i = 1; i < 8; i++)
		ck_assert(held(1, i) == ALIAS + i);
	end();
}
END_TEST

/* A port that never accepts it makes no other port wait, once that is known. */
START_TEST(refused_by_the_port)
{
	uint64_t unconfirmed;

	begin("alias_answer_timeout 300\n");
	sim_node_refuse(s->sim, nodes[0], IBA_ATTR_GUID_INFO);
	set(0, 1, ALIAS);
	scenario_run_ms(s, 30000);
	ck_assert(held(0, 1) == 0);
	unconfirmed = COUNT(s, sa_unconfirmed);
	for (unsigned int i = 1; i < 5; i++)
		ck_assert(set(1, i, ALIAS + i) == ALIAS + i);
	ck_assert_uint_eq(COUNT(s, sa_unconfirmed), unconfirmed);
	sim_node_refuse(s->sim, nodes[0], 0);
	scenario_run_ms(s, 600000);
	ck_assert(held(0, 1) == ALIAS);
	end();
}
END_TEST

/* ---- other SMs ---- */

static struct managers *m;

static const char *conf(void)
{
	g_autofree char *file = g_build_filename(m->s->directory, "key", NULL);
	g_autofree char *text = g_strdup_printf(MANAGERS_POLLS "replication_key_file %s\n", file);

	ck_assert(g_file_set_contents(file, "a key of all SMs of the subnet\n", -1, NULL));
	ck_assert_int_eq(g_chmod(file, 0600), 0);
	return g_intern_string(text);
}

/* The standby knows it, reads it back, and sets nothing. */
START_TEST(takeover)
{
	uint64_t made;

	m = managers_new("fattree:4", 1);
	s = m->s;
	managers_up_with_standby(m, conf(), conf());
	add_hosts();
	scenario_run_ms(s, 3000);
	set(0, 1, ALIAS);
	made = set(1, 1, 0);
	if (_i) /* it is gone with the master */
		sim_node_set(s->sim, nodes[1], false);
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(COUNT(s, alias_blocks_set), 0);
	ck_assert(held(0, 1) == ALIAS && get(0, 1) == ALIAS);
	if (_i)
		sim_node_set(s->sim, nodes[1], true);
	managers_settle(m, 1, 60);
	ck_assert(held(1, 1) == made);
	ck_assert_uint_eq(COUNT(s, alias_blocks_set), _i);
	ck_assert_int_eq(path_to(0, ALIAS), 0);
	ck_assert_int_eq(path_to(1, made), 0);
	ck_assert(set(1, 2, ALIAS) == 0);
	sim_node_set(s->sim, nodes[0], false); /* this SM knows its GUID as the master before did */
	scenario_run_ms(s, 10000);
	ck_assert(set(1, 2, client_guid(hosts[0])) == 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		client_free(hosts[i]);
	managers_free(m);
}
END_TEST

/* As takeover, but from the file: a restarted SM finds the ports as it left them. */
START_TEST(restart)
{
	g_autofree char *file = NULL, *text = NULL;

	s = scenario_new("fattree:4", 1);
	text = g_strdup_printf("sa_db_dump TRUE\ndump_files_dir %s\n", s->directory);
	scenario_conf(s, text);
	scenario_start(s);
	scenario_converge(s, 60);
	add_hosts();
	set(0, 1, ALIAS);
	scenario_heavy_sweep(s, 20);
	scenario_run_ms(s, 1000);
	file = g_build_filename(s->directory, "opensm-sa.dump", NULL);
	ck_assert_msg(g_file_test(file, G_FILE_TEST_EXISTS), "%s", file);
	scenario_stop(s);
	g_free(text);
	text = g_strdup_printf("sa_db_file %s\n", file);
	scenario_conf(s, text);
	scenario_start(s);
	scenario_converge(s, 60);
	ck_assert_int_eq(path_to(0, ALIAS), 0);
	ck_assert(get(0, 1) == ALIAS);
	ck_assert_uint_eq(COUNT(s, alias_blocks_set), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aliases");
	TCase *tcase = tcase_create("aliases");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, life);
	tcase_add_test(tcase, two_hosts_want_one);
	tcase_add_test(tcase, members);
	tcase_add_loop_test(tcase, during_a_sweep, 0, 20);
	tcase_add_loop_test(tcase, reboot, 0, 2);
	tcase_add_test(tcase, absent);
	tcase_add_loop_test(tcase, nobody_is_a_host_that_reboots, 0, 3);
	tcase_add_test(tcase, lost_sets);
	tcase_add_test(tcase, refused_by_the_port);
	tcase_add_loop_test(tcase, takeover, 0, 2);
	tcase_add_test(tcase, restart);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SA's registry survives its SM: with replication no client is told to reregister, without it
 * all are, at a limited rate.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command/command.h"
#include "ctl/report/status.h"
#include "ha/replicator.h"
#include "replicated.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define POLLS MANAGERS_POLLS

static unsigned int memberships(const struct mc_groups *groups)
{
	struct mc_cursor cursor = {0};
	const struct mc_group *group;
	unsigned int n = 0;

	while ((group = mc_groups_next(groups, &cursor)))
		n += group->n_ports;
	return n;
}

static enum replication_state state_of(unsigned int master, unsigned int other)
{
	struct replication_status *status =
		slot_take(&daemon_context(m->sm[master].daemon)->replication);
	enum replication_state state = REPLICATION_NO_KEY;

	for (unsigned int i = 0; i < status->n; i++)
		if (status->peers[i].guid == m->sm[other].guid)
			state = status->peers[i].state;
	replication_status_unref(status);
	return state;
}

/* ---- takeovers ---- */

#define MEMBERSHIPS 1024
#define GROUPS 64
#define COUNT(sm_number, name)                                                                     \
	counter_get(&daemon_context(m->sm[sm_number].daemon)->counters, name)

/* Fat tree 16: 1,024 memberships in 64 groups; killed, or told to end. */
START_TEST(nobody_registers_again)
{
	struct mc_groups *groups;
	unsigned int endports;
	uint64_t ms;

	begin("fattree:16", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(256);
	for (unsigned int i = 0; i < MEMBERSHIPS; i++)
		join(clients[i % n_clients], i / (MEMBERSHIPS / GROUPS));
	scenario_run_ms(m->s, 1000);
	groups = groups_of(0);
	ck_assert_uint_eq(memberships(groups), MEMBERSHIPS);
	mc_groups_unref(groups);
	ck_assert_int_eq(state_of(0, 1), REPLICATION_IN_STEP);
	endports = sim_nodes(m->s->sim);
	ms = take_over(_i);
	printf("%s: %" G_GUINT64_FORMAT " ms, Sets: %u PortInfo of %u endports (%u with "
	       "ClientReregister), %u SMInfo, %u in all\n",
	       _i ? "SIGTERM" : "killed", ms, m->sets.port_info, endports, m->sets.reregister,
	       m->sets.sm_info, m->sets.all);
	ck_assert_uint_eq(m->sets.reregister, 0);
	ck_assert_uint_eq(m->sets.all, m->sets.port_info + m->sets.sm_info);
	ck_assert_uint_eq(m->sets.port_info, endports);
	ck_assert_uint_le(m->sets.sm_info, 2);
	scenario_run_ms(m->s, 20000);
	ck_assert_uint_eq(m->sets.reregister, 0);
	end();
}
END_TEST

/* A small fabric: not even for a moment is a member missing from the tables of the switches. */
START_TEST(tables_stay)
{
	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(8);
	for (unsigned int i = 0; i < 16; i++)
		join(clients[i % 8], i / 4);
	scenario_run_ms(m->s, 1000);
	take_over(_i);
	ck_assert_uint_eq(m->sets.all, m->sets.port_info + m->sets.sm_info);
	end();
}
END_TEST

static char *path_sls(unsigned int i)
{
	g_autofree char *file = g_build_filename(m->sm[i].directory, "path_sls", NULL);
	char *text = NULL;

	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	return text;
}

static unsigned int count_changed(const char *a, const char *b)
{
	unsigned int n = 0;

	ck_assert_uint_eq(strlen(a), strlen(b));
	for (size_t i = 0; a[i]; i++)
		n += a[i] != b[i];
	return n;
}

/*
 * Routes kept by a layered engine do not change, nor do SLs that hosts still use, except those of
 * paths to the SM, which all have one SL, and of paths that these push from their lane.
 */
START_TEST(paths_stay)
{
	static const char layered[] = "routing_engine dfsssp,no_fallback\n";
	g_autofree char *before = NULL, *after = NULL;
	unsigned int node, port;

	begin("torus:5x4:1", 2);
	up_with_standby(conf(KEY, layered), conf(KEY, layered));
	scenario_random_link(m->s, &node, &port);
	sim_link_set(m->s->sim, node, port, false);
	scenario_run_ms(m->s, 2000);
	before = path_sls(0);
	take_over(_i);
	after = path_sls(1);
	ck_assert_uint_le(count_changed(after, before), 20 * 19 / 2 / 4);
	ck_assert_uint_eq(counter_get(&daemon_context(m->sm[1].daemon)->counters, lft_blocks_set),
			  0);
	end();
}
END_TEST

#define RATE 100

/* Without a key, or with different ones: each host once, RATE a second after the first RATE. */
START_TEST(registering_again_is_paced)
{
	unsigned int hosts;
	double seconds;

	begin("fattree:12", 1);
	hosts = sim_nodes(m->s->sim) - scenario_switches(m->s);
	if (_i)
		up_with_standby(conf(KEY, "client_rereg_rate 100\n"),
				conf("a key that nobody shares\n", "client_rereg_rate 100\n"));
	else
		up_with_standby(POLLS, POLLS "client_rereg_rate 100\n");
	ck_assert_int_eq(state_of(0, 1), _i ? REPLICATION_SILENT : REPLICATION_NO_KEY);
	zero_sets();
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
	scenario_run_ms(m->s, 10000);
	seconds = (double)(m->sets.last_ns - m->sets.first_ns) / (double)NS_PER_S;
	printf("%u of %u hosts in %.2f s\n", m->sets.reregister, hosts, seconds);
	ck_assert_uint_eq(m->sets.reregister, hosts);
	ck_assert_uint_eq(g_hash_table_size(m->sets.reregistered), hosts);
	ck_assert_double_ge(seconds, (hosts - RATE) / (double)RATE - 0.05);
	ck_assert_double_le(seconds, (hosts - RATE) / (double)RATE + 0.2);
	end();
}
END_TEST

static void check_one_takeover(void)
{
	ck_assert_int_eq(state_of(0, 1), REPLICATION_IN_STEP);
	take_over(false);
	ck_assert_uint_eq(m->sets.reregister, 0);
	end();
}

/* Whether a table of the simulated host holds the P_Key. */
static bool holds(unsigned int host, uint16_t p_key)
{
	unsigned int n;
	const uint16_t *keys = sim_p_keys(m->s->sim, host, 1, &n);

	for (unsigned int i = 0; i < n; i++)
		if (keys[i] == p_key)
			return true;
	return false;
}

static bool has_lost(void *arg)
{
	return !holds(GPOINTER_TO_UINT(arg), 0x8012);
}

/* A request that the host be a full member of the partition; to be freed. */
static char *member_request(const char *p_key, unsigned int host)
{
	return g_strdup_printf("%s: 0x%" G_GINT64_MODIFIER "x=full", p_key,
			       sim_port_guid(m->s->sim, host, 1));
}

static uint64_t ask(unsigned int i, const char *request)
{
	g_autoptr(GError) error = NULL;
	uint64_t serial = 0;

	ck_assert_msg(daemon_change_partitions(m->sm[i].daemon, request, 0, &serial, &error), "%s",
		      error ? error->message : "");
	scenario_run_ms(m->s, 1000);
	ck_assert_uint_ge(daemon_partitions_serial(m->sm[i].daemon), serial);
	return serial;
}

/*
 * Partition members that were changed at run time are never lost, not even for a moment, when the
 * standby takes over and when the first comes back, whatever these remember; unless there is no
 * key.
 */
START_TEST(partitions_follow)
{
	static const char *const polls = POLLS;
	bool with_key = _i != 2;
	unsigned int host;
	g_autofree char *request = NULL;
	uint64_t serial;

	begin("fattree:4", 1);
	host = scenario_node(m->s, "host-5");
	request = member_request("0x12", host);
	up_with_standby(with_key ? conf(KEY, "") : polls, with_key ? conf(KEY, "") : polls);
	ask(0, "0x13: 0x7=full");
	serial = ask(0, request);
	ck_assert(holds(host, 0x8012));
	if (_i == 1) /* the standby knows it from disk, but that is old */
		ask(0, "0x13: 0x7=none");
	managers_kill(m, 0);
	ck_assert_int_eq(runtime_run(m->s->rt, has_lost, GUINT_TO_POINTER(host),
				     runtime_now(m->s->rt) + 10 * NS_PER_S),
			 !with_key);
	managers_settle(m, 1, 10);
	ck_assert(holds(host, 0x8012) == with_key);
	if (with_key) {
		ck_assert_uint_ge(daemon_partitions_serial(m->sm[1].daemon), serial);
		ask(1, "0x14: 0x7=full");
		managers_start(m, 0);
		scenario_run_ms(m->s, 12000);
		managers_kill(m, 1);
		ck_assert(!runtime_run(m->s->rt, has_lost, GUINT_TO_POINTER(host),
				       runtime_now(m->s->rt) + 10 * NS_PER_S));
		managers_settle(m, 0, 10);
		ck_assert_uint_eq(ask(0, "0x14: 0x7=full"),
				  daemon_partitions_serial(m->sm[0].daemon));
	}
	end();
}
END_TEST

/* The cables that connect sm2 and its part of a fat tree 4 (and a part without SM) to the rest. */
static void join_halves(bool joined)
{
	struct sim *sim = m->s->sim;

	for (unsigned int i = 0; i < 4; i++) {
		g_autofree char *name = g_strdup_printf("core-%u-%u", i / 2, i % 2);

		for (unsigned int port = 3; port <= 4; port++)
			sim_link_set(sim, scenario_node(m->s, name), port, joined);
	}
}

/* A change that was answered is on the standby's disk: it survives though both SMs die at once. */
START_TEST(both_die)
{
	g_autofree char *request = NULL;
	unsigned int host;
	uint64_t serial;

	begin("fattree:4", 1);
	host = scenario_node(m->s, "host-5");
	request = member_request("0x12", host);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	serial = ask(0, request);
	managers_kill(m, 0);
	managers_kill(m, 1);
	managers_start(m, 1);
	managers_settle(m, 1, 10);
	ck_assert(holds(host, 0x8012));
	ck_assert_uint_gt(ask(1, "0x13: 0x7=full"), serial);
	end();
}
END_TEST

/*
 * All power fails and the standby is back first: whichever is master then, each port has its LID
 * again, as the standby saved them too.
 */
START_TEST(power_fails)
{
	g_autofree uint16_t *lids = NULL;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	lids = scenario_lids(m->s);
	for (unsigned int i = 0; i < 2; i++)
		managers_kill(m, i);
	for (unsigned int i = 0; i < 2 * sim_nodes(m->s->sim); i++)
		sim_node_set(m->s->sim, i / 2, i % 2);
	managers_start(m, 1);
	managers_settle(m, 1, 10);
	for (unsigned int i = 0; i < sim_nodes(m->s->sim); i++)
		ck_assert_uint_eq(scenario_lid(m->s, i), lids[i]);
	end();
}
END_TEST

/* Both halves change partitions, the one that stays master as often or more: that is logged. */
START_TEST(changes_are_lost)
{
	g_autofree char *request = NULL;
	unsigned int host;

	begin("fattree:4", 1);
	host = scenario_node(m->s, "host-10"); /* in the part of sm2 */
	request = member_request("0x14", host);
	up_with_standby(conf(KEY, "sm_priority 9\n"), conf(KEY, "sm_priority 5\n"));
	join_halves(false);
	scenario_run_ms(m->s, 12000);
	ask(0, "0x12: 0x8=full");
	if (_i)
		ask(0, "0x12: 0x9=full");
	ask(1, request);
	ck_assert(holds(host, 0x8014));
	join_halves(true);
	managers_settle(m, 0, 20);
	scenario_run_ms(m->s, 3000);
	scenario_check_log(
		m->s, "changed here while another SM was also MASTER (serial 2) are dropped", true);
	ck_assert(!holds(host, 0x8014));
	end();
}
END_TEST

/* The console's answer to a change, and after how many ms. */
static char *ask_console(const char *line, unsigned int *ms)
{
	const struct command_env env = {.daemon = m->sm[0].daemon};
	uint64_t began = runtime_now(m->s->rt);
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	for (*ms = 0; answer.later && *ms < 5000 &&
		      !command_policy_is_there(&env, answer.policy, answer.settle_ns,
					       *ms * NS_PER_MS);
	     *ms = (unsigned int)((runtime_now(m->s->rt) - began) / NS_PER_MS))
		scenario_run_ms(m->s, 1);
	if (answer.later) {
		g_free(answer.text);
		command_answer_policy(&env, answer.policy, &answer);
	}
	return answer.text;
}

/* A standby names its master, with a replication key or without. */
START_TEST(standby_tells_its_master)
{
	char *line, *wanted;

	begin("fattree:4", 1);
	up_with_standby(_i ? conf(KEY, "sm_priority 9\n") : POLLS "sm_priority 9\n",
			_i ? conf(KEY, "") : POLLS);
	wanted = g_strdup_printf("STANDBY of SM 0x%016" PRIx64, m->sm[0].guid);
	line = status_line(daemon_context(m->sm[1].daemon));
	ck_assert_str_eq(line, wanted);
	g_free(line);
	g_free(wanted);
	end();
}
END_TEST

/*
 * A change is answered once each standby has it: it is never lost, not even for a moment, if the
 * master dies with the answer. If a standby is silent the answer says so, after a bounded time.
 */
START_TEST(answered_when_kept)
{
	g_autofree char *answer = NULL, *again = NULL, *request = NULL, *nothing = NULL;
	unsigned int host, ms;

	begin("fattree:4", 1);
	host = scenario_node(m->s, "host-5");
	request = g_strdup_printf("partitions change 0x12: 0x%" G_GINT64_MODIFIER "x=full;",
				  sim_port_guid(m->s->sim, host, 1));
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	nothing = ask_console("partitions forget 0x77", &ms);
	ck_assert_msg(g_str_has_suffix(nothing, "in effect; 1 standby(s) have it\n"), "%s",
		      nothing);
	if (_i)
		sim_node_set_loss(m->s->sim, sim_find_guid(m->s->sim, m->sm[1].guid), 1);
	answer = ask_console(request, &ms);
	if (_i) {
		ck_assert_msg(strstr(answer, "in effect; 1 other SM(s) did not confirm it in time"),
			      "%s", answer);
		ck_assert_uint_ge(ms, REPLICATOR_PATIENCE_NS / NS_PER_MS);
		ck_assert_uint_lt(ms, 500);
		again = ask_console(request, &ms);
		ck_assert_str_eq(again, answer);
		ck_assert_uint_eq(ms, 0);
	} else {
		ck_assert_msg(strstr(answer, "in effect; 1 standby(s) have it\n"), "%s", answer);
		managers_kill(m, 0);
		managers_settle(m, 1, 10);
		ck_assert(holds(host, 0x8012));
	}
	end();
}
END_TEST

/* Without another SM the database is not sent: hosts do not get it. */
START_TEST(nobody_to_tell)
{
	begin("fattree:4", 1);
	managers_add(m, "host-1", conf(KEY, ""));
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	add_clients(4);
	join(clients[2], 1);
	scenario_run_ms(m->s, 12000);
	ck_assert_uint_eq(m->replicated, 0);
	end();
}
END_TEST

/* The standby comes when all have joined; or goes, misses something, and comes again. */
START_TEST(standby_late)
{
	begin("fattree:4", 1);
	if (_i) {
		up_with_standby(conf(KEY, ""), conf(KEY, ""));
		managers_kill(m, 1);
		scenario_run_ms(m->s, 2000);
	} else {
		managers_add(m, "host-1", conf(KEY, ""));
		managers_add(m, "host-9", conf(KEY, ""));
		managers_start(m, 0);
		managers_settle(m, 0, 10);
	}
	add_clients(10);
	for (unsigned int i = 0; i < 40; i++)
		join(clients[i % 10], i / 8);
	managers_start(m, 1);
	scenario_run_ms(m->s, 12000); /* the next light sweep, at the latest, finds it */
	ck_assert_uint_eq(COUNT(0, replication_lag_updates), 0);
	check_one_takeover();
}
END_TEST

START_TEST(both_at_once)
{
	begin("fattree:4", 1);
	managers_add(m, "host-1", conf(KEY, ""));
	managers_add(m, "host-9", conf(KEY, ""));
	managers_start(m, 0);
	managers_start(m, 1);
	managers_settle(m, 0, 10);
	add_clients(10);
	for (unsigned int i = 0; i < 40; i++)
		join(clients[i % 10], i / 8);
	scenario_run_ms(m->s, 12000);
	check_one_takeover();
}
END_TEST

#define SERVICE_MASK                                                                               \
	(IBA_COMPONENT(service_record, service_id) | IBA_COMPONENT(service_record, service_gid) |  \
	 IBA_COMPONENT(service_record, service_lease))

static int service(struct client *client, uint8_t method, uint64_t id, uint32_t *lease)
{
	struct iba_service_record record = {
		.service_id = id, .service_gid = client_gid(client), .service_lease = *lease};
	uint64_t mask = SERVICE_MASK;
	int status;

	if (method == IBA_METHOD_GET)
		mask &= ~IBA_COMPONENT(service_record, service_lease);
	status = client_ask(client, method, IBA_ATTR_SERVICE_RECORD, mask, &iba_service_record_type,
			    &record);
	*lease = record.service_lease;
	return status;
}

/* Services and subscriptions survive a takeover, those that ended do not. */
START_TEST(registrations_survive)
{
	struct iba_inform_info info = {
		.lid_range_begin = 0xFFFF,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xFFFF,
		.trap_number = IBA_TRAP_GID_OUT_OF_SERVICE,
		.producer_type = 0xFFFFFF,
	};
	uint32_t lease = 50, forever = UINT32_MAX;
	struct iba_sa_notice notice;
	struct client *subscriber;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(3);
	subscriber = client_new_subscriber(m->s, scenario_node(m->s, "host-12"));
	ck_assert_int_eq(service(clients[0], IBA_METHOD_SET, 1, &lease), 0);
	ck_assert_int_eq(service(clients[1], IBA_METHOD_SET, 2, &forever), 0);
	ck_assert_int_eq(service(clients[1], IBA_METHOD_SET, 3, &forever), 0);
	ck_assert_int_eq(service(clients[1], IBA_METHOD_DELETE, 3, &forever), 0);
	ck_assert_int_eq(client_inform(subscriber, info), 0);
	info.trap_number = IBA_TRAP_GID_IN_SERVICE;
	ck_assert_int_eq(client_inform(subscriber, info), 0);
	info.subscribe = 0;
	ck_assert_int_eq(client_inform(subscriber, info), 0);
	ck_assert_uint_eq(COUNT(0, sa_services), 2);
	take_over(false);
	ck_assert_uint_eq(COUNT(1, sa_services), 2);
	ck_assert_uint_eq(m->sets.reregister, 0);
	while (client_report(subscriber, &notice)) /* of the SM's own port */
		ck_assert_uint_eq(notice.notice.trap_number, IBA_TRAP_GID_OUT_OF_SERVICE);
	ck_assert_int_eq(service(clients[2], IBA_METHOD_GET, 1, &lease), IBA_SA_NO_RECORDS);
	ck_assert_int_eq(service(clients[0], IBA_METHOD_GET, 1, &lease), 0);
	ck_assert_uint_le(lease, 50);
	ck_assert_int_eq(service(clients[1], IBA_METHOD_GET, 2, &forever), 0);
	ck_assert_uint_eq(forever, UINT32_MAX);
	ck_assert_int_eq(service(clients[1], IBA_METHOD_GET, 3, &forever), IBA_SA_NO_RECORDS);
	sim_node_set(m->s->sim, scenario_node(m->s, "host-15"), false);
	scenario_run_ms(m->s, 12000);
	ck_assert(client_report(subscriber, &notice));
	ck_assert_uint_eq(notice.notice.trap_number, IBA_TRAP_GID_OUT_OF_SERVICE);
	sim_node_set(m->s->sim, scenario_node(m->s, "host-15"), true);
	scenario_run_ms(m->s, 60000);
	ck_assert(!client_report(subscriber, &notice));
	ck_assert_int_eq(service(clients[0], IBA_METHOD_GET, 1, &lease), IBA_SA_NO_RECORDS);
	ck_assert_uint_eq(COUNT(1, sa_services), 1);
	client_free(subscriber);
	end();
}
END_TEST

/* A lease keeps its remaining time through a takeover, through another, and at a standby that
 * came late. */
START_TEST(leases_go_on)
{
	uint32_t lease = 100, left = 0;

	begin("fattree:4", 1);
	managers_add(m, "host-1", conf(KEY, ""));
	managers_add(m, "host-9", conf(KEY, ""));
	managers_start(m, 0);
	managers_settle(m, 0, 10);
	add_clients(1);
	ck_assert_int_eq(service(clients[0], IBA_METHOD_SET, 1, &lease), 0);
	scenario_run_ms(m->s, 40000);
	managers_start(m, 1);
	scenario_run_ms(m->s, 20000);
	take_over(false);
	ck_assert_int_eq(service(clients[0], IBA_METHOD_GET, 1, &left), 0);
	ck_assert_uint_le(left, 48); /* the other may have been out of contact for some seconds */
	ck_assert_uint_ge(left, 25);
	scenario_run_ms(m->s, 50000);
	ck_assert_int_eq(service(clients[0], IBA_METHOD_GET, 1, &left), IBA_SA_NO_RECORDS);
	end();
}
END_TEST

/* From one to the other, and back to the first, restarted; members leave in between. */
START_TEST(there_and_back)
{
	uint16_t mlid;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, "master_sm_priority 10\n"));
	add_clients(10);
	for (unsigned int i = 0; i < 10; i++) {
		join(clients[i], i / 2);
		ck_assert_int_eq(client_join_broadcast(clients[i], &mlid), 0);
	}
	take_over(false);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_int_eq(client_leave_broadcast(clients[i]), 0);
	managers_start(m, 0);
	scenario_run_ms(m->s, 12000);
	ck_assert_int_eq(state_of(1, 0), REPLICATION_IN_STEP);
	zero_sets();
	managers_kill(m, 1);
	managers_settle(m, 0, 10);
	ck_assert_uint_eq(m->sets.reregister, 0);
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_int_eq(client_leave_broadcast(clients[i]) == 0, i >= 5);
	end();
}
END_TEST

/*
 * Each half has its master, and partition members are changed in the one of lower rank, or in both
 * but later there: when the halves are joined, the last change wins, whichever stays master.
 */
START_TEST(halves_are_joined)
{
	g_autofree char *request = NULL;
	unsigned int host;
	uint64_t ms;

	begin("fattree:4", 1);
	host = scenario_node(m->s, "host-5");
	request = member_request("0x12", host);
	up_with_standby(conf(KEY, "sm_priority 9\n"), conf(KEY, "sm_priority 5\n"));
	ask(0, "0x13: 0x7=full");
	join_halves(false);
	scenario_run_ms(m->s, 12000);
	ck_assert_uint_eq(managers_masters(m), 2);
	if (_i)
		ask(0, "0x13: 0x8=full");
	ask(1, "0x12: 0x8=full");
	ask(1, request);
	join_halves(true);
	ms = managers_settle(m, 0, 60);
	printf("joined in %" PRIu64 " ms\n", ms);
	ck_assert_uint_le(ms, 3000);
	scenario_run_ms(m->s, 3000);
	scenario_check_log(m->s, "changed here while another SM was also MASTER", false);
	ck_assert(holds(host, 0x8012));
	ck_assert_uint_gt(ask(0, "0x12: 0x9=full"), 4);
	ck_assert(holds(host, 0x8012));
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
	ck_assert(holds(host, 0x8012));
	end();
}
END_TEST

/*
 * The second has everything of the first when it takes over by rank; except what the first one's
 * clients told it later, when each half had its master: those are told to reregister.
 */
START_TEST(half_of_the_one_before)
{
	uint16_t lid;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(1);
	managers_configure(m, 1, conf(KEY, "sm_priority 3\n"));
	managers_settle(m, 1, 10);
	if (_i)
		daemon_sweep(m->sm[1].daemon, SWEEP_HEAVY);
	scenario_run_ms(m->s, 3000);
	join_halves(false);
	scenario_run_ms(m->s, 12000);
	ck_assert_uint_eq(managers_masters(m), 2);
	join(clients[0], 7);
	zero_sets();
	join_halves(true);
	managers_settle(m, 1, 60);
	scenario_run_ms(m->s, 3000);
	lid = scenario_lid(m->s, (unsigned int)sim_find_guid(m->s->sim, client_guid(clients[0])));
	ck_assert(g_hash_table_contains(m->sets.reregistered, GUINT_TO_POINTER(lid)));
	end();
}
END_TEST

/* The first hands over to a third: the second learns of that when it polls, and follows it. */
START_TEST(third_is_master)
{
	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	managers_add(m, "host-14", conf(KEY, "sm_priority 9\n"));
	managers_start(m, 2);
	managers_settle(m, 2, 10);
	managers_kill(m, 0);
	add_clients(10);
	for (unsigned int i = 0; i < 10; i++)
		join(clients[i], i / 2);
	scenario_run_ms(m->s, 5000);
	ck_assert_int_eq(state_of(2, 1), REPLICATION_IN_STEP);
	zero_sets();
	managers_kill(m, 2);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(m->sets.reregister, 0);
	end();
}
END_TEST

/*
 * An SM that was master, hands over, and is master again when the other dies: groups keep the MLIDs
 * that members know, with replication and without.
 */
START_TEST(master_for_the_second_time)
{
	uint16_t mlids[6], again;
	const char *first, *then;

	begin("fattree:4", 1);
	first = _i ? conf(KEY, "") : MANAGERS_POLLS;
	then = _i ? conf(KEY, "sm_priority 3\n") : MANAGERS_POLLS "sm_priority 3\n";
	up_with_standby(first, first);
	add_clients(6);
	ck_assert_int_eq(client_join_broadcast(clients[0], &mlids[0]), 0);
	for (unsigned int i = 1; i < 6; i++)
		mlids[i] = join(clients[i], i);
	managers_configure(m, 1, then);
	managers_settle(m, 1, 10);
	ck_assert_int_eq(client_join_broadcast(clients[0], &again), 0);
	ck_assert_uint_eq(again, mlids[0]);
	for (unsigned int i = 1; _i && i < 6; i++)
		ck_assert_uint_eq(join(clients[i], i), mlids[i]);
	scenario_run_ms(m->s, 12000);
	ck_assert_int_eq(state_of(1, 0), _i ? REPLICATION_IN_STEP : REPLICATION_NO_KEY);
	zero_sets();
	managers_kill(m, 1);
	managers_settle(m, 0, 10);
	ck_assert_uint_eq(m->sets.reregister > 0, !_i);
	ck_assert_int_eq(client_join_broadcast(clients[0], &again), 0);
	ck_assert_uint_eq(again, mlids[0]);
	for (unsigned int i = 1; _i && i < 6; i++)
		ck_assert_uint_eq(join(clients[i], i), mlids[i]);
	end();
}
END_TEST

/*
 * No replication gets through any more, a host joins (group 0: the broadcast group) and is answered
 * all the same. Returns its node; no other client is at its switch.
 */
static unsigned int join_unknown(unsigned int number)
{
	struct client *client;
	uint16_t mlid;

	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(13);
	client = clients[n_clients - 1];
	for (unsigned int i = 0; i < 9; i++)
		join(clients[i], 1);
	m->mute = true;
	if (number)
		join(client, number);
	else
		ck_assert_int_eq(client_join_broadcast(client, &mlid), 0);
	scenario_run_ms(m->s, 100);
	ck_assert_int_ne(state_of(0, 1), REPLICATION_IN_STEP);
	return (unsigned int)sim_find_guid(m->s->sim, client_guid(client));
}

/* The master dies: the unknown member is in tables of switches, so only its host is told. */
START_TEST(the_unknown_member_is_asked)
{
	uint16_t lid;

	begin("fattree:4", 1);
	lid = scenario_lid(m->s, join_unknown(_i)); /* 1: a known group, 2: a new one */
	zero_sets();
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(m->sets.reregister, 1);
	ck_assert(g_hash_table_contains(m->sets.reregistered, GUINT_TO_POINTER(lid)));
	end();
}
END_TEST

/* It is gone as well: its switch still has it in a table, and there is no host to tell. */
START_TEST(the_unknown_member_is_gone)
{
	begin("fattree:4", 1);
	sim_link_set(m->s->sim, join_unknown(1), 1, false);
	managers_kill(m, 0);
	zero_sets();
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(m->sets.reregister, 0);
	end();
}
END_TEST

/* Nothing gets through for long: the standby's replica is old, is used, and all hosts are told. */
START_TEST(old_replica)
{
	struct mc_groups *after;

	begin("fattree:4", 1);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(10);
	for (unsigned int i = 0; i < 10; i++)
		join(clients[i], 1);
	m->mute = true;
	scenario_run_ms(m->s, 30000);
	zero_sets();
	managers_kill(m, 0);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(m->sets.reregister, 16);
	after = groups_of(1);
	ck_assert_uint_eq(memberships(after), 10);
	mc_groups_unref(after);
	end();
}
END_TEST

/* A key file that others can read, or that is missing, stops the start. */
START_TEST(key_file_refused)
{
	g_autofree char *file = NULL;
	g_autoptr(GError) error = NULL;
	struct daemon_config config = {0};
	struct daemon *daemon;

	begin("fattree:4", 1);
	file = g_build_filename(m->s->directory, "open", NULL);
	if (_i)
		ck_assert(g_file_set_contents_full(file, KEY, -1, 0, 0644, NULL));
	config = (struct daemon_config){.rt = m->s->rt,
					.log = m->s->log,
					.options = options_new(),
					.cache_dir = m->s->cache_dir};
	config.options->replication_key_file = g_strdup(file);
	config.vendor = sim_open(m->s->sim, 0, NULL);
	daemon = daemon_new(&config, &error);
	ck_assert_ptr_null(daemon);
	ck_assert_ptr_nonnull(strstr(error->message, "replication_key_file: "));
	ck_assert_ptr_nonnull(strstr(error->message, _i ? "expected mode 0600" : "No such file"));
	options_unref(config.options);
	end();
}
END_TEST

/* ---- random cases ---- */

#define CHANCE_CLIENTS 12
#define REQUESTS 60

/* The last answer to a client, and whether it has sent another request since. */
struct told {
	bool asked, joins; /* the outstanding request */
	bool known, member;
};

static void listen_to(struct told *told, unsigned int i)
{
	int status = told->asked ? client_answer(clients[i]) : -1;

	if (status < 0)
		return;
	told->asked = false;
	told->known = status == 0 || !told->joins; /* leaving again is refused */
	told->member = told->joins;
	if (status == IBA_STATUS_BUSY)
		told->known = false;
}

static void say(struct told *told, unsigned int i)
{
	if (told->asked)
		return;
	told->asked = true;
	told->known = false;
	told->joins = scenario_random(m->s, 3) != 0;
	client_send_member(clients[i], told->joins);
}

static bool is_member(const struct mc_groups *groups, uint64_t guid)
{
	struct mc_cursor cursor = {0};
	const struct mc_group *group;

	while ((group = mc_groups_next(groups, &cursor)))
		for (uint32_t j = 0; j < group->n_ports; j++)
			if (group->port_guids[j] == guid)
				return true;
	return false;
}

static void run_us(unsigned int us)
{
	runtime_run(m->s->rt, NULL, NULL, runtime_now(m->s->rt) + us * NS_PER_US);
}

/* Joins and leaves, and at a random moment the master dies, or hands over. */
START_TEST(what_was_answered_is_kept)
{
	struct told told[CHANCE_CLIENTS] = {0};
	struct mc_groups *groups;

	begin("fattree:4", (uint64_t)_i);
	up_with_standby(conf(KEY, ""), conf(KEY, ""));
	add_clients(CHANCE_CLIENTS);
	if (_i % 3 == 0)
		sim_set_loss(m->s->sim, 0.02);
	for (unsigned int i = scenario_random(m->s, REQUESTS); i < REQUESTS; i++) {
		unsigned int who = scenario_random(m->s, CHANCE_CLIENTS);

		say(&told[who], who);
		run_us(scenario_random(m->s, 40));
		for (unsigned int j = 0; j < CHANCE_CLIENTS; j++)
			listen_to(&told[j], j);
	}
	zero_sets();
	if (_i % 4 == 1)
		daemon_retire(m->sm[0].daemon);
	if (_i % 4 == 1)
		run_us(scenario_random(m->s, 3000));
	for (unsigned int j = 0; j < CHANCE_CLIENTS; j++)
		listen_to(&told[j], j);
	managers_kill(m, 0);
	sim_set_loss(m->s->sim, 0);
	managers_settle(m, 1, 10);
	groups = groups_of(1);
	for (unsigned int j = 0; j < CHANCE_CLIENTS; j++) {
		if (told[j].known && is_member(groups, client_guid(clients[j])) != told[j].member)
			scenario_fail(m->s, "client %u was told that it is %s member\n%s", j,
				      told[j].member ? "a" : "no", m->story->str);
	}
	mc_groups_unref(groups);
	if (_i % 3)
		ck_assert_uint_eq(m->sets.reregister, 0);
	end();
}
END_TEST

/* REPLICATION_SEEDS=FIRST-LAST for other and longer runs by hand. */
static void add_by_chance(TCase *tcase)
{
	const char *seeds = g_getenv("REPLICATION_SEEDS");
	int first = 1, last = some_seeds(60);

	if (seeds && sscanf(seeds, "%d-%d", &first, &last) != 2)
		g_error("REPLICATION_SEEDS is %s, not FIRST-LAST", seeds);
	tcase_add_loop_test(tcase, what_was_answered_is_kept, first, last + 1);
}

int main(void)
{
	Suite *suite = suite_create("replication");
	TCase *tcase = tcase_create("replication");

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, nobody_registers_again, 0, 2);
	tcase_add_loop_test(tcase, tables_stay, 0, 2);
	tcase_add_loop_test(tcase, paths_stay, 0, 2);
	tcase_add_loop_test(tcase, registering_again_is_paced, 0, 2);
	tcase_add_test(tcase, nobody_to_tell);
	tcase_add_loop_test(tcase, standby_late, 0, 2);
	tcase_add_loop_test(tcase, standby_tells_its_master, 0, 2);
	tcase_add_loop_test(tcase, answered_when_kept, 0, 2);
	tcase_add_loop_test(tcase, partitions_follow, 0, 3);
	tcase_add_test(tcase, both_at_once);
	tcase_add_test(tcase, registrations_survive);
	tcase_add_test(tcase, leases_go_on);
	tcase_add_test(tcase, there_and_back);
	tcase_add_loop_test(tcase, halves_are_joined, 0, 2);
	tcase_add_test(tcase, both_die);
	tcase_add_test(tcase, power_fails);
	tcase_add_loop_test(tcase, changes_are_lost, 0, 2);
	tcase_add_loop_test(tcase, half_of_the_one_before, 0, 2);
	tcase_add_test(tcase, third_is_master);
	tcase_add_loop_test(tcase, master_for_the_second_time, 0, 2);
	tcase_add_loop_test(tcase, the_unknown_member_is_asked, 0, 3);
	tcase_add_test(tcase, the_unknown_member_is_gone);
	tcase_add_test(tcase, old_replica);
	tcase_add_loop_test(tcase, key_file_refused, 0, 2);
	add_by_chance(tcase);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

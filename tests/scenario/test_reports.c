// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Subscriptions: which clients get which Reports, once, and which no longer do. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "ctl/command/command.h"
#include "sa/report/report.h"
#include "tests/run_suite.h"

#define QUIET "sweep_interval 1000\n" /* sweeps happen only because of traps */
#define COUNT(s, name) counter_get(&daemon_context((s)->daemon)->counters, name)

static struct scenario *s;
static struct client *client; /* on host-5 */

static void up(const char *conf)
{
	s = scenario_new("fattree:4", 1);
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_run_ms(s, 10000);
	scenario_check_log(s, "SUBNET UP", true);
	client = client_new_subscriber(s, scenario_node(s, "host-5"));
}

static void down(void)
{
	client_free(client);
	scenario_free(s);
}

/* Traps from any port. */
static struct iba_inform_info to(uint16_t trap_number)
{
	return (struct iba_inform_info){
		.lid_range_begin = 0xFFFF,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xFFFF,
		.trap_number = trap_number,
		.producer_type = 0xFFFFFF,
	};
}

static struct iba_inform_info no_more(struct iba_inform_info info)
{
	info.subscribe = 0;
	return info;
}

static void expect_report(uint16_t trap_number, struct iba_sa_notice *notice)
{
	ck_assert_msg(client_report(client, notice), "no Report of trap %u", trap_number);
	ck_assert_uint_eq(notice->notice.trap_number, trap_number);
}

static void expect_gid(uint16_t trap_number, struct iba_gid gid)
{
	struct iba_trap_gid details;
	struct iba_sa_notice notice;

	expect_report(trap_number, &notice);
	wire_decode(&iba_trap_gid_type, notice.notice.data_details, &details);
	ck_assert_uint_eq(details.gid.prefix, gid.prefix);
	ck_assert_uint_eq(details.gid.guid, gid.guid);
	ck_assert_uint_eq(notice.issuer_gid.prefix, IBA_DEFAULT_GID_PREFIX);
}

static void expect_silence(void)
{
	struct iba_sa_notice notice;
	bool came;

	scenario_run_ms(s, 20000);
	came = client_report(client, &notice);
	ck_assert_msg(!came, "a Report of trap %u", notice.notice.trap_number);
}

static struct iba_gid gid_of(unsigned int node)
{
	return (struct iba_gid){IBA_DEFAULT_GID_PREFIX, sim_port_guid(s->sim, node, 1)};
}

/* A host goes and comes back: each is reported once. Then the client unsubscribes. */
START_TEST(ports)
{
	struct iba_inform_info back = to(IBA_TRAP_GID_IN_SERVICE);
	unsigned int host;

	up(QUIET);
	host = scenario_node(s, "host-9");
	back.gid = gid_of(host); /* the subject of the Report */
	ck_assert_int_eq(client_inform(client, back), 0);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_GID_OUT_OF_SERVICE)), 0);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_GID_OUT_OF_SERVICE)), 0); /* again */
	sim_node_set(s->sim, host, false);
	scenario_run_ms(s, 5000);
	expect_gid(IBA_TRAP_GID_OUT_OF_SERVICE, gid_of(host));
	expect_silence();
	sim_node_set(s->sim, host, true);
	scenario_run_ms(s, 5000);
	expect_gid(IBA_TRAP_GID_IN_SERVICE, gid_of(host));
	expect_silence();
	ck_assert_int_eq(client_inform(client, no_more(back)), 0);
	ck_assert_int_eq(client_inform(client, no_more(back)), IBA_SA_REQ_INVALID);
	ck_assert_int_eq(client_inform(client, no_more(to(IBA_TRAP_GID_OUT_OF_SERVICE))), 0);
	sim_node_set(s->sim, host, false);
	expect_silence();
	ck_assert_uint_eq(COUNT(s, sa_reports_unanswered), 0);
	down();
}
END_TEST

/* Lost Reports are repeated: all arrive, though perhaps more than once. */
START_TEST(ports_with_loss)
{
	struct iba_sa_notice notice;
	unsigned int told = 0;

	up(QUIET);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_GID_OUT_OF_SERVICE)), 0);
	sim_node_set_loss(s->sim, scenario_node(s, "host-5"), 0.2);
	for (unsigned int i = 8; i < 16; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		sim_node_set(s->sim, scenario_node(s, name), false);
	}
	scenario_run_ms(s, 60000);
	for (uint64_t last = 0; client_report(client, &notice);) {
		struct iba_trap_gid details;

		wire_decode(&iba_trap_gid_type, notice.notice.data_details, &details);
		told += details.gid.guid != last;
		last = details.gid.guid;
	}
	ck_assert_uint_ge(told, 8);
	down();
}
END_TEST

START_TEST(groups)
{
	const uint64_t mask =
		IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |
		IBA_COMPONENT(mc_member_record, join_state) |
		IBA_COMPONENT(mc_member_record, p_key) | IBA_COMPONENT(mc_member_record, q_key) |
		IBA_COMPONENT(mc_member_record, t_class) |
		IBA_COMPONENT(mc_member_record, flow_label) | IBA_COMPONENT(mc_member_record, sl);
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF1200000000ABCD), 7},
		.join_state = IBA_JOIN_FULL_MEMBER,
		.p_key = 0xFFFF,
	};

	struct iba_inform_info created = to(IBA_TRAP_MCAST_GROUP_CREATED);
	unsigned int port;

	up(QUIET);
	record.port_gid = client_gid(client);
	created.gid = gid_of(scenario_sm_node(s, &port)); /* the issuer */
	ck_assert_int_eq(client_inform(client, created), 0);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_MCAST_GROUP_DELETED)), 0);
	for (unsigned int round = 0; round < 2; round++) {
		struct iba_mc_member_record member = record;

		ck_assert_int_eq(client_ask(client, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD, mask,
					    &iba_mc_member_record_type, &member),
				 0);
		scenario_run_ms(s, 1000);
		expect_gid(IBA_TRAP_MCAST_GROUP_CREATED, record.mgid);
		member = record;
		ck_assert_int_eq(client_ask(client, IBA_METHOD_DELETE, IBA_ATTR_MC_MEMBER_RECORD,
					    mask, &iba_mc_member_record_type, &member),
				 0);
		scenario_run_ms(s, 1000);
		expect_gid(IBA_TRAP_MCAST_GROUP_DELETED, record.mgid);
	}
	expect_silence();
	down();
}
END_TEST

/* A trap from host-9, as if from the port of another node's LID, about something. */
static void send_trap_about(uint16_t number, const char *issuer, uint8_t what)
{
	struct iba_notice notice = {
		.is_generic = 1,
		.type = IBA_NOTICE_URGENT,
		.producer_type = 1,
		.trap_number = number,
		.issuer_lid = scenario_lid(s, scenario_node(s, issuer)),
	};

	notice.data_details[0] = what;
	ck_assert(sim_trap(s->sim, scenario_node(s, "host-9"), 1, &notice));
	scenario_run_ms(s, 1000);
}

static void send_trap(uint16_t number, const char *issuer)
{
	send_trap_about(number, issuer, 0);
}

/* Filters by trap, producer, LID range and GID; traps that claim another issuer are dropped. */
START_TEST(traps)
{
	struct iba_inform_info info = to(IBA_TRAP_LINK_INTEGRITY);
	struct iba_sa_notice notice;
	uint16_t lid;

	up(QUIET);
	lid = scenario_lid(s, scenario_node(s, "host-9"));
	info.lid_range_begin = lid - 1;
	info.lid_range_end = lid;
	ck_assert_int_eq(client_inform(client, info), 0);
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_report(IBA_TRAP_LINK_INTEGRITY, &notice);
	ck_assert_uint_eq(notice.notice.issuer_lid, lid);
	ck_assert_uint_eq(notice.issuer_gid.guid, gid_of(scenario_node(s, "host-9")).guid);
	send_trap(IBA_TRAP_BUFFER_OVERRUN, "host-9");
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-8");
	expect_silence();
	ck_assert_int_eq(client_inform(client, no_more(info)), 0);
	info.gid = gid_of(scenario_node(s, "host-9"));
	ck_assert_int_eq(client_inform(client, info), 0);
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_report(IBA_TRAP_LINK_INTEGRITY, &notice);
	ck_assert_int_eq(client_inform(client, no_more(info)), 0);
	info = to(IBA_TRAP_LINK_INTEGRITY);
	info.producer_type = 2; /* switches */
	ck_assert_int_eq(client_inform(client, info), 0);
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_silence();
	info.gid = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, 0xDEAD};
	ck_assert_int_eq(client_inform(client, info), IBA_SA_REQ_INVALID);
	info = to(IBA_TRAP_LINK_INTEGRITY);
	info.lid_range_begin = 9;
	info.lid_range_end = 8;
	ck_assert_int_eq(client_inform(client, info), IBA_SA_REQ_INVALID);
	down();
}
END_TEST

/* Sets entry 1 of the GUIDInfo of a host; guid 0: removes it. */
static void set_alias(unsigned int node, uint64_t guid)
{
	struct iba_guid_info_record record = {.lid = scenario_lid(s, node)};
	struct client *owner = client_new(s, node);

	record.guid_info.guid[1] = guid;
	ck_assert_int_eq(client_ask(owner, guid ? IBA_METHOD_SET : IBA_METHOD_DELETE,
				    IBA_ATTR_GUID_INFO_RECORD,
				    IBA_COMPONENT(guid_info_record, lid) |
					    IBA_COMPONENT(guid_info_record, block_num) |
					    UINT64_C(1) << 5,
				    &iba_guid_info_record_type, &record),
			 0);
	client_free(owner);
}

/* An alias GID means its port, as long as the port has it. */
START_TEST(alias)
{
	struct iba_inform_info info = to(IBA_TRAP_LINK_INTEGRITY);
	struct iba_sa_notice notice;
	unsigned int host;

	up(QUIET);
	host = scenario_node(s, "host-9");
	info.gid = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, UINT64_C(0x0002C903000A0001)};
	ck_assert_int_eq(client_inform(client, info), IBA_SA_REQ_INVALID);
	set_alias(host, info.gid.guid);
	ck_assert_int_eq(client_inform(client, info), 0);
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_report(IBA_TRAP_LINK_INTEGRITY, &notice);
	ck_assert_uint_eq(notice.issuer_gid.guid, gid_of(host).guid);
	set_alias(host, 0);
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_silence();
	set_alias(scenario_node(s, "host-8"), info.gid.guid); /* it moves */
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_silence();
	info = to(IBA_TRAP_GID_OUT_OF_SERVICE); /* it is subscribed to a port that is gone */
	info.gid = (struct iba_gid){IBA_DEFAULT_GID_PREFIX, UINT64_C(0x0002C903000A0001)};
	ck_assert_int_eq(client_inform(client, info), 0);
	sim_node_set(s->sim, host, false);
	sim_node_set(s->sim, scenario_node(s, "host-8"), false);
	scenario_run_ms(s, 5000);
	expect_gid(IBA_TRAP_GID_OUT_OF_SERVICE, gid_of(scenario_node(s, "host-8")));
	expect_silence();
	down();
}
END_TEST

/* Violations of keys are for trusted clients, and "all traps" excludes those. */
START_TEST(secrets)
{
	struct iba_sa_notice notice;

	up(QUIET "sa_key 0x77\n");
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_BAD_P_KEY)), IBA_SA_DENIED);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_ALL)), 0);
	send_trap(IBA_TRAP_BAD_P_KEY, "host-9");
	expect_silence();
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	expect_report(IBA_TRAP_LINK_INTEGRITY, &notice);
	client_trust(client, 0x77);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_BAD_P_KEY)), 0);
	send_trap(IBA_TRAP_BAD_P_KEY, "host-9");
	expect_report(IBA_TRAP_BAD_P_KEY, &notice);
	expect_silence();
	down();
}
END_TEST

/* host-9 shares no partition with the client, host-8 does. */
START_TEST(partitions)
{
	g_autofree char *file = NULL, *text = NULL, *conf = NULL;
	struct scenario *plain = scenario_new("fattree:4", 1);
	uint64_t guid[3];
	static const char *const hosts[] = {"host-5", "host-8", "host-9"};

	for (unsigned int i = 0; i < 3; i++)
		guid[i] = sim_port_guid(plain->sim, scenario_node(plain, hosts[i]), 1);
	scenario_free(plain);
	file = g_strdup_printf("%s/reports-%d.conf", g_get_tmp_dir(), (int)getpid());
	text = g_strdup_printf("Default=0x7fff, ipoib: ALL_SWITCHES=full, SELF=full, ALL=limited;\n"
			       "A=0x11: 0x%" G_GINT64_MODIFIER "x=full, 0x%" G_GINT64_MODIFIER
			       "x=full;\n"
			       "B=0x12: 0x%" G_GINT64_MODIFIER "x=full;\n",
			       guid[0], guid[1], guid[2]);
	ck_assert(g_file_set_contents(file, text, -1, NULL));
	conf = g_strdup_printf(QUIET "partition_config_file %s\n", file);
	up(conf);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_GID_OUT_OF_SERVICE)), 0);
	sim_node_set(s->sim, scenario_node(s, "host-9"), false);
	expect_silence();
	sim_node_set(s->sim, scenario_node(s, "host-8"), false);
	scenario_run_ms(s, 5000);
	expect_gid(IBA_TRAP_GID_OUT_OF_SERVICE, gid_of(scenario_node(s, "host-8")));
	down();
	g_unlink(file);
}
END_TEST

/* A host makes 64 groups and deletes them again, several times. */
static void flap_groups(struct client *noisy, unsigned int rounds)
{
	uint16_t mlid;

	for (unsigned int i = 0; i < rounds * 128; i++)
		ck_assert_int_eq(
			client_member(noisy, i % 128 < 64 ? IBA_METHOD_SET : IBA_METHOD_DELETE,
				      (struct iba_gid){UINT64_C(0xFF12000000000000), i % 64 + 1},
				      client_guid(noisy), &mlid),
			0);
}

/* A client that is told of ports gets all their Reports, though others flap groups meanwhile. */
START_TEST(flapping_groups)
{
	struct iba_trap_gid details;
	struct iba_sa_notice notice;
	struct client *noisy;
	unsigned int told = 0;
	uint64_t last = 0;

	up(QUIET);
	noisy = client_new(s, scenario_node(s, "host-9"));
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_GID_IN_SERVICE)), 0);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_GID_OUT_OF_SERVICE)), 0);
	client_set_deaf(client, true);
	sim_node_set(s->sim, scenario_node(s, "host-12"), false);
	scenario_run_ms(s, 100);
	flap_groups(noisy, 34);
	for (unsigned int host = 13; host < 16; host++) {
		g_autofree char *name = g_strdup_printf("host-%u", host);

		sim_node_set(s->sim, scenario_node(s, name), false);
		scenario_run_ms(s, 1000);
		flap_groups(noisy, 34);
	}
	client_set_deaf(client, false);
	scenario_run_ms(s, 120000);
	while (client_report(client, &notice)) { /* unanswered Reports are repeated */
		wire_decode(&iba_trap_gid_type, notice.notice.data_details, &details);
		told += details.gid.guid != last;
		last = details.gid.guid;
	}
	ck_assert_uint_eq(told, 4);
	expect_silence();
	client_free(noisy);
	down();
}
END_TEST

/* The number of subscriptions that host-6 sees. */
static unsigned int subscriptions(void)
{
	struct client *who = client_new(s, scenario_node(s, "host-6"));
	struct iba_inform_info_record record = {0};
	unsigned int n;
	GByteArray *all = client_table(who, IBA_ATTR_INFORM_INFO_RECORD, 0,
				       &iba_inform_info_record_type, &record, &n);

	ck_assert_ptr_nonnull(all);
	g_byte_array_unref(all);
	client_free(who);
	return n;
}

/* A client that answers no Report gets fewer and fewer, is forgotten, and costs nothing more. */
START_TEST(dead)
{
	struct iba_sa_notice notice;
	uint64_t sent;

	up(QUIET);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_LINK_INTEGRITY)), 0);
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_ALL)), 0);
	ck_assert_uint_eq(subscriptions(), 2);
	ck_assert_int_eq(client_inform(client, no_more(to(IBA_TRAP_ALL))), 0);
	ck_assert_uint_eq(subscriptions(), 1);
	client_set_deaf(client, true);
	for (unsigned int i = 0; i < SA_REPORTS_IN_VAIN + 2; i++) {
		send_trap_about(IBA_TRAP_LINK_INTEGRITY, "host-9", i);
		scenario_run_ms(s, 1000);
	}
	scenario_run_ms(s, 60000);
	ck_assert_uint_eq(subscriptions(), 1);
	scenario_run_ms(s, SA_REPORTS_IN_VAIN * 60000);
	ck_assert_uint_eq(subscriptions(), 0);
	ck_assert_uint_eq(COUNT(s, sa_subscriptions_dead), 1);
	ck_assert_uint_eq(COUNT(s, sa_reports_unanswered), SA_REPORTS_IN_VAIN);
	sent = COUNT(s, sa_reports_sent);
	send_trap(IBA_TRAP_LINK_INTEGRITY, "host-9");
	scenario_run_ms(s, 10000);
	ck_assert_uint_eq(COUNT(s, sa_reports_sent), sent);
	while (client_report(client, &notice))
		;
	down();
}
END_TEST

static void expect_shown(const char *line, const char *text, bool there)
{
	const struct command_env env = {.daemon = s->daemon};
	struct command_answer answer;

	scenario_run_ms(s, 600); /* what is shown may be half a second old */
	command_run(&env, line, true, &answer);
	ck_assert_msg(!answer.failed && (strstr(answer.text, text) != NULL) == there,
		      "%s %s '%s':\n%s", line, there ? "lacks" : "has", text, answer.text);
	g_free(answer.text);
}

/* Operators see how many Reports each subscriber missed since it subscribed; the other one
 * missed none. */
START_TEST(missed_is_shown)
{
	struct iba_sa_notice notice;
	struct client *deaf;

	up(QUIET);
	expect_shown("subscriptions", "0 subscription(s), which missed 0 notices", true);
	deaf = client_new_subscriber(s, scenario_node(s, "host-6"));
	ck_assert_int_eq(client_inform(client, to(IBA_TRAP_LINK_INTEGRITY)), 0);
	ck_assert_int_eq(client_inform(deaf, to(IBA_TRAP_ALL)), 0);
	expect_shown("subscriptions", " QP 1 (host-5): trap 129, missed 0\n", true);
	expect_shown("subscriptions", " QP 1 (host-6): all traps, missed 0\n", true);
	client_set_deaf(deaf, true);
	for (unsigned int i = 0; i < 3; i++) {
		send_trap_about(IBA_TRAP_LINK_INTEGRITY, "host-9", i);
		scenario_run_ms(s, 30000);
		ck_assert(client_report(client, &notice));
	}
	expect_shown("subscriptions", " QP 1 (host-5): trap 129, missed 0\n", true);
	expect_shown("subscriptions", "2 subscription(s), which missed 3 notices", true);
	expect_shown("subscriptions missed",
		     " QP 1 (host-6): all traps, missed 3, did not answer the last 3 Reports\n",
		     true);
	expect_shown("subscriptions missed", "host-5", false);
	expect_shown("subscriptions json", "\"n\":2,\"missed\":3,", true);
	expect_shown("subscriptions json", "\"all_traps\":false,\"trap\":129,\"missed\":0", true);
	expect_shown("subscriptions json", "\"missed\":3,\"unanswered\":3", true);
	client_set_deaf(deaf, false);
	ck_assert_int_eq(client_inform(deaf, to(IBA_TRAP_ALL)), 0);
	expect_shown("subscriptions", " QP 1 (host-6): all traps, missed 0\n", true);
	ck_assert_int_eq(client_inform(deaf, no_more(to(IBA_TRAP_ALL))), 0);
	expect_shown("subscriptions", "host-6", false);
	client_free(deaf);
	down();
}
END_TEST

/* The registry is bounded, and its records can be queried. */
START_TEST(many)
{
	struct iba_inform_info_record record;
	struct iba_inform_info info = to(0);

	up(QUIET);
	for (info.trap_number = 0; info.trap_number < SA_SUBSCRIPTIONS_OF_PORT; info.trap_number++)
		ck_assert_int_eq(client_inform(client, info), 0);
	ck_assert_int_eq(client_inform(client, info), IBA_SA_NO_RESOURCES);
	record = (struct iba_inform_info_record){.subscriber_gid = client_gid(client)};
	ck_assert_int_eq(client_ask(client, IBA_METHOD_GET, IBA_ATTR_INFORM_INFO_RECORD,
				    IBA_COMPONENT(inform_info_record, subscriber_gid),
				    &iba_inform_info_record_type, &record),
			 IBA_SA_TOO_MANY_RECORDS);
	ck_assert_uint_eq(subscriptions(), SA_SUBSCRIPTIONS_OF_PORT);
	down();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reports");
	TCase *tcase = tcase_create("reports");

	tcase_add_test(tcase, ports);
	tcase_add_test(tcase, ports_with_loss);
	tcase_add_test(tcase, groups);
	tcase_add_test(tcase, traps);
	tcase_add_test(tcase, alias);
	tcase_add_test(tcase, secrets);
	tcase_add_test(tcase, partitions);
	tcase_add_test(tcase, flapping_groups);
	tcase_add_test(tcase, dead);
	tcase_add_test(tcase, missed_is_shown);
	tcase_add_test(tcase, many);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

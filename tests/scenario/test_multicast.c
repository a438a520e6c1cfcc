// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of hosts that come and go: who stays a member, and who gets the packets
 * meanwhile, by the tables that the simulated switches hold at each moment.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define N_CLIENTS 6

static struct scenario *s;
static struct client *clients[N_CLIENTS];
static const char *const hosts[N_CLIENTS] = {"host-2", "host-3",  "host-5",
					     "host-9", "host-12", "host-14"};
static uint16_t mlid;

/* The ports that were told to register again. */
static struct {
	unsigned int reregistered, mft_sets;
	uint64_t guids[N_CLIENTS];
	unsigned int n; /* members that must not miss a packet */
	char *lost;
} seen;

static void on_mad(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		   const uint8_t *data, size_t length)
{
	struct iba_port_info info;

	(void)arg;
	(void)now_ns;
	(void)to;
	(void)from;
	if (seen.n && !seen.lost)
		seen.lost = scenario_tree_loss(s, mlid, seen.guids, seen.n);
	if (length < IBA_MAD_BYTES || !iba_class_is_smp(data[1]) || data[3] != IBA_METHOD_SET)
		return;
	seen.mft_sets += data[17] == IBA_ATTR_MULTICAST_FORWARDING_TABLE;
	if (data[17] != IBA_ATTR_PORT_INFO)
		return;
	wire_decode(&iba_port_info_type, data + 64, &info);
	seen.reregistered += info.client_reregister;
}

static void begin(const char *conf)
{
	memset(&seen, 0, sizeof(seen));
	s = scenario_new("fattree:4", 1);
	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 20);
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		clients[i] = client_new(s, scenario_node(s, hosts[i]));
}

static void end(void)
{
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		client_free(clients[i]);
	g_free(seen.lost);
	scenario_free(s);
}

static void join(unsigned int i)
{
	ck_assert_int_eq(client_join_broadcast(clients[i], &mlid), 0);
}

static void uplinks(bool up)
{
	for (unsigned int port = 3; port <= 4; port++)
		sim_link_set(s->sim, scenario_node(s, "leaf-1-0"), port, up);
}

static unsigned int members(void)
{
	struct mc_groups *groups;
	unsigned int n;

	scenario_run_ms(s, 100);
	groups = slot_take(&daemon_context(s->daemon)->groups);
	n = groups->blocks[0]->groups[0]->n_ports;

	mc_groups_unref(groups);
	return n;
}

/*
 * Hosts of a leaf whose uplinks were out keep their links, and do not know that they were away:
 * they are members still, and are asked to register again all the same.
 */
START_TEST(hosts_that_were_cut_off)
{
	begin("");
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		join(i);
	ck_assert_uint_eq(members(), N_CLIENTS);
	uplinks(false);
	scenario_converge(s, 60);
	ck_assert_uint_eq(members(), N_CLIENTS);
	sim_set_trace(s->sim, on_mad, NULL);
	uplinks(true);
	scenario_converge(s, 60);
	ck_assert_uint_eq(members(), N_CLIENTS);
	ck_assert_uint_eq(seen.reregistered, 2);
	end();
}
END_TEST

/* Longer than the grace time. */
START_TEST(hosts_that_stay_away)
{
	begin("membership_grace 20\n");
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		join(i);
	uplinks(false);
	scenario_run_ms(s, 15000);
	ck_assert_uint_eq(members(), N_CLIENTS);
	scenario_run_ms(s, 10000);
	ck_assert_uint_lt(members(), N_CLIENTS);
	end();
}
END_TEST

static void expect_no_loss(const char *what)
{
	if (!seen.lost)
		seen.lost = scenario_tree_loss(s, mlid, seen.guids, seen.n);
	ck_assert_msg(!seen.lost, "%s: %s", what, seen.lost);
}

/* Those that are members before and after miss nothing, whoever else comes and goes. */
START_TEST(nobody_else_notices)
{
	begin("");
	for (unsigned int i = 0; i < 4; i++) {
		join(i);
		seen.guids[i] = client_guid(clients[i]);
	}
	scenario_converge(s, 20);
	seen.n = 4;
	sim_set_trace(s->sim, on_mad, NULL);
	for (unsigned int i = 4; i < N_CLIENTS; i++) {
		join(i);
		scenario_run_ms(s, 1000);
		expect_no_loss("a join");
	}
	scenario_check(s);
	ck_assert_uint_gt(seen.mft_sets, 0);
	ck_assert_uint_le(seen.mft_sets, 8); /* two branches of at most four switches */
	for (unsigned int i = 4; i < N_CLIENTS; i++) {
		ck_assert_int_eq(client_leave_broadcast(clients[i]), 0);
		scenario_run_ms(s, 1000);
		expect_no_loss("a leave");
	}
	scenario_check(s);
	ck_assert_uint_le(seen.mft_sets, 16);
	end();
}
END_TEST

/* A cable that comes changes nothing about trees that do without it. */
START_TEST(a_cable_that_comes)
{
	unsigned int core;

	begin("");
	core = scenario_node(s, "core-0-0");
	for (unsigned int port = 1; port <= 4; port++)
		sim_link_set(s->sim, core, port, false);
	scenario_converge(s, 60);
	for (unsigned int i = 0; i < N_CLIENTS; i++) {
		join(i);
		seen.guids[i] = client_guid(clients[i]);
	}
	scenario_converge(s, 20);
	seen.n = N_CLIENTS;
	sim_set_trace(s->sim, on_mad, NULL);
	for (unsigned int port = 1; port <= 4; port++)
		sim_link_set(s->sim, core, port, true);
	scenario_converge(s, 60);
	expect_no_loss("a switch that came");
	end();
}
END_TEST

/* Spines with no room for the MLID are gone around, and named. */
START_TEST(small_tables_are_gone_around)
{
	memset(&seen, 0, sizeof(seen));
	s = scenario_new("fattree:4", 1);
	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	for (unsigned int i = 0; i < 3; i++) {
		g_autofree char *name = g_strdup_printf("core-%u-%u", i / 2, i % 2);

		sim_set_multicast_fdb_cap(s->sim, scenario_node(s, name), 0);
	}
	scenario_start(s);
	for (unsigned int i = 0; i < N_CLIENTS; i++) {
		scenario_converge(s, 20);
		clients[i] = client_new(s, scenario_node(s, hosts[i]));
		join(i);
	}
	scenario_converge(s, 20);
	scenario_check_log(s, "MulticastFDBCap 0", true);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("multicast");
	TCase *tcase = tcase_create("members");

	tcase_add_test(tcase, hosts_that_were_cut_off);
	tcase_add_test(tcase, hosts_that_stay_away);
	tcase_add_test(tcase, nobody_else_notices);
	tcase_add_test(tcase, a_cable_that_comes);
	tcase_add_test(tcase, small_tables_are_gone_around);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

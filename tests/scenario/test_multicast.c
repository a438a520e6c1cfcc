// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of hosts that come and go: which of them stay members, and which get the packets
 * meanwhile, by the tables of the simulated switches at each moment.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "ctl/dump/dump.h"
#include "policy/partition/partition.h"
#include "scenario.h"
#include "subnet/trees.h"
#include "tests/run_suite.h"

#define N_CLIENTS 6

static struct scenario *s;
static struct client *clients[N_CLIENTS];
static const char *const hosts[N_CLIENTS] = {"host-2", "host-3",  "host-5",
					     "host-9", "host-12", "host-14"};
static uint16_t mlid;

/* The ports that were told to reregister. */
static struct {
	unsigned int reregistered, mft_sets;
	uint64_t guids[N_CLIENTS];
	unsigned int n; /* members that must not miss a packet */
	bool apart;	/* they may, but no packet may go round in a loop */
	uint64_t newcomer, received_ns;
	char *lost;
} seen;

static char *find_ring(void)
{
	char *ring = NULL;

	for (unsigned int i = 0; i < seen.n && !ring; i++)
		ring = scenario_tree_loss(s, mlid, &seen.guids[i], 1);
	return ring;
}

static void on_mad(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		   const uint8_t *data, size_t length)
{
	struct iba_port_info info;

	(void)arg;
	(void)to;
	(void)from;
	if (seen.n && !seen.lost)
		seen.lost = seen.apart ? find_ring()
				       : scenario_tree_loss(s, mlid, seen.guids, seen.n);
	if (seen.n && seen.newcomer && !seen.received_ns) {
		uint64_t both[] = {seen.guids[0], seen.newcomer};
		g_autofree char *lost = scenario_tree_loss(s, mlid, both, 2);

		seen.received_ns = lost ? 0 : now_ns;
	}
	seen.mft_sets +=
		scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_MULTICAST_FORWARDING_TABLE);
	if (scenario_sets_port_info(data, length, &info))
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
 * Hosts of a leaf whose uplinks were down keep their links, and do not know that they were away:
 * they are still members, and are told to reregister all the same.
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

/* After a restart one host a second must reregister; one that goes before its turn, once back. */
START_TEST(a_host_goes_before_its_turn)
{
	unsigned int host, n_hosts;

	begin("client_rereg_rate 1\n");
	host = scenario_node(s, "host-14");
	n_hosts = sim_nodes(s->sim) - scenario_switches(s);
	scenario_stop(s);
	sim_set_trace(s->sim, on_mad, NULL);
	scenario_start(s);
	scenario_converge(s, 20);
	ck_assert_uint_lt(seen.reregistered, n_hosts / 2);
	sim_link_set(s->sim, host, 1, false);
	scenario_run_ms(s, n_hosts * 1000);
	ck_assert_uint_eq(seen.reregistered, n_hosts - 1);
	sim_link_set(s->sim, host, 1, true);
	scenario_converge(s, 20);
	ck_assert_uint_eq(seen.reregistered, n_hosts);
	end();
}
END_TEST

static void expect_no_loss(const char *what)
{
	if (!seen.lost)
		seen.lost = scenario_tree_loss(s, mlid, seen.guids, seen.n);
	ck_assert_msg(!seen.lost, "%s: %s", what, seen.lost);
}

/* Those that are members before and after miss nothing, whichever others come and go. */
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

/* One joins and one leaves at the same time: switches that both concern are written once. */
START_TEST(written_once)
{
	begin("");
	join(0);
	join(2);
	join(3);
	scenario_converge(s, 20);
	client_send_member(clients[5], true); /* at once; the next one in 10 ms */
	scenario_run_ms(s, 5);
	sim_set_trace(s->sim, on_mad, NULL);
	client_send_member(clients[3], false);
	client_send_member(clients[1], true); /* a neighbour of clients[0] */
	scenario_converge(s, 20);
	ck_assert_uint_eq(seen.mft_sets, 4);
	end();
}
END_TEST

/* A cable that comes does not change trees that do not use it. */
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

/*
 * A cable closes a loop of six switches, and the tree goes the other way round: all links of the
 * old tree and the new one together would make a loop, too.
 */
START_TEST(a_ring_is_closed)
{
	static const char *const members_of_ring[] = {"host-5", "host-4", "host-0", "host-1"};

	memset(&seen, 0, sizeof(seen));
	s = scenario_new("torus:6", 1);
	sim_link_set(s->sim, scenario_node(s, "switch-0"), 2, false);
	scenario_start(s);
	scenario_converge(s, 20);
	for (unsigned int i = 0; i < G_N_ELEMENTS(members_of_ring); i++) {
		struct client *client = client_new(s, scenario_node(s, members_of_ring[i]));

		ck_assert_int_eq(client_join_broadcast(client, &mlid), 0);
		seen.guids[seen.n++] = client_guid(client);
		client_free(client);
	}
	scenario_converge(s, 20);
	seen.apart = true;
	sim_set_trace(s->sim, on_mad, NULL);
	sim_link_set(s->sim, scenario_node(s, "switch-0"), 2, true);
	scenario_converge(s, 60);
	ck_assert_uint_gt(seen.mft_sets, 0);
	ck_assert_msg(!seen.lost, "%s", seen.lost);
	scenario_free(s);
}
END_TEST

/* A member gets packets once it has its answer, except if switches cannot be set in time. */
START_TEST(answered_when_programmed)
{
	const struct counters *counters;
	uint64_t guids[2];

	begin("join_answer_timeout 200\n");
	counters = &daemon_context(s->daemon)->counters;
	for (unsigned int i = 0; i < 4; i++) {
		g_autofree char *lost = NULL;

		join(i);
		guids[i > 0] = client_guid(clients[i]);
		lost = scenario_tree_loss(s, mlid, guids, 1 + (i > 0));
		ck_assert_msg(!lost, "host %u: %s", i, lost);
	}
	ck_assert_uint_eq(counter_get(counters, sa_unconfirmed), 0);
	sim_node_mute(s->sim, scenario_node(s, "leaf-3-0"), true);
	join(4);
	ck_assert_uint_eq(counter_get(counters, sa_unconfirmed), 1);
	sim_node_mute(s->sim, scenario_node(s, "leaf-3-0"), false);
	scenario_converge(s, 20);
	end();
}
END_TEST

static struct {
	uint16_t lid;
	uint64_t guids[2];
	unsigned int answers;
	char *lost;
} answered;

static void on_answer(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	struct iba_mad_header header;

	(void)arg;
	(void)now_ns;
	(void)from;
	(void)length;
	wire_decode(&iba_mad_header_type, data, &header);
	if (to->lid != answered.lid || header.method != IBA_METHOD_GET_RESP ||
	    header.attribute_id != IBA_ATTR_MC_MEMBER_RECORD || answered.answers++)
		return;
	answered.lost = scenario_tree_loss(s, mlid, answered.guids, 2);
}

/* A join while the tables of another's join are written is not answered when those are done. */
START_TEST(answered_in_turn)
{
	unsigned int leaf;

	begin("join_answer_timeout 5000\n");
	leaf = scenario_node(s, "leaf-0-1"); /* of clients[0] and [1] */
	join(3);
	scenario_converge(s, 20);
	memset(&answered, 0, sizeof(answered));
	answered.lid = scenario_lid(s, scenario_node(s, hosts[5]));
	answered.guids[0] = client_guid(clients[3]);
	answered.guids[1] = client_guid(clients[5]);
	sim_set_trace(s->sim, on_answer, NULL);
	sim_node_mute(s->sim, leaf, true);
	client_send_member(clients[0], true);
	scenario_run_ms(s, 5);
	client_send_member(clients[5], true);
	scenario_run_ms(s, 30);
	sim_node_mute(s->sim, leaf, false);
	scenario_run_ms(s, 2000);
	ck_assert_uint_eq(answered.answers, 1);
	ck_assert_msg(!answered.lost, "%s", answered.lost);
	g_free(answered.lost);
	end();
}
END_TEST

/* There are no tables to wait for. */
START_TEST(answered_without_tables)
{
	begin("join_answer_timeout 200\ndisable_multicast TRUE\n");
	sim_set_trace(s->sim, on_mad, NULL);
	join(0);
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, sa_unconfirmed), 0);
	ck_assert_uint_eq(seen.mft_sets, 0);
	end();
}
END_TEST

/* ---- one join among many groups ---- */

#define SA_KEY 1
#define PER_MAKER 200 /* groups: an endport may create only so many */
#define PER_GROUP 4   /* members */

static void ask_member(struct client *client, uint8_t method, unsigned int group, uint64_t guid)
{
	const struct iba_gid mgid = {UINT64_C(0xFF15A01C00000000), group + 1};

	ck_assert_int_eq(client_member(client, method, mgid, guid, &mlid), 0);
}

static uint64_t guid_of_host(unsigned int host, unsigned int n_hosts)
{
	g_autofree char *name = g_strdup_printf("host-%u", host * 7 % n_hosts);

	return sim_port_guid(s->sim, scenario_node(s, name), 1);
}

/* Each creator makes PER_MAKER groups; members of the last group must not miss packets. */
static void fill(unsigned int n_groups, unsigned int n_hosts)
{
	struct client *maker = NULL;

	for (unsigned int group = 0; group < n_groups; group++) {
		if (group % PER_MAKER == 0) {
			g_autofree char *name = g_strdup_printf("host-%u", 1 + group / PER_MAKER);

			if (maker)
				client_free(maker);
			maker = client_new(s, scenario_node(s, name));
			client_trust(maker, SA_KEY);
		}
		for (unsigned int i = 0; i < PER_GROUP; i++) {
			seen.guids[i] = guid_of_host(group * 3 + i * 5, n_hosts);
			ask_member(maker, IBA_METHOD_SET, group, seen.guids[i]);
		}
	}
	client_free(maker);
	scenario_run_ms(s, 2000);
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Joins or leaves; prints the cost, with probes at each MAD if some must not miss a packet. */
static void change(struct client *client, uint8_t method, unsigned int group, uint64_t guid,
		   const char *what)
{
	double cpu = cpu_ms();
	unsigned int sets = seen.mft_sets;
	uint64_t begun = runtime_now(s->rt);

	seen.newcomer = guid;
	seen.received_ns = 0;
	ask_member(client, method, group, guid);
	scenario_run_ms(s, 100);
	if (!seen.n)
		printf("%s: %.2f ms of CPU with the simulator\n", what, cpu_ms() - cpu);
	else
		printf("%s: %u MFT blocks set\n", what, seen.mft_sets - sets);
	if (seen.received_ns)
		printf("it receives after %.3f ms\n", (double)(seen.received_ns - begun) / 1e6);
	expect_no_loss(what);
}

/*
 * The cost of a join does not grow with the number of groups, and the others in its group are not
 * disturbed. MULTICAST_SCALE="TOPOLOGY HOSTS GROUPS" sets other sizes than these.
 */
START_TEST(one_join_among_many)
{
	const char *scale = getenv("MULTICAST_SCALE");
	g_auto(GStrv) sizes = g_strsplit(scale ? scale : "fattree:8 128 60", " ", 3);
	unsigned int n_hosts = (unsigned int)atoi(sizes[1]), n = (unsigned int)atoi(sizes[2]);
	struct client *client;
	uint64_t guid;

	memset(&seen, 0, sizeof(seen));
	s = scenario_new(sizes[0], 1);
	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	scenario_start(s);
	scenario_converge(s, 60);
	fill(n, n_hosts);
	client = client_new(s, scenario_node(s, "host-50"));
	guid = client_guid(client);
	sim_set_trace(s->sim, on_mad, NULL);
	change(client, IBA_METHOD_SET, n - 1, guid, "join");
	ck_assert_uint_le(seen.mft_sets, 5);
	change(client, IBA_METHOD_DELETE, n - 1, guid, "leave");
	seen.n = PER_GROUP;
	change(client, IBA_METHOD_SET, n - 1, guid, "join");
	ck_assert_uint_ne(seen.received_ns, 0);
	change(client, IBA_METHOD_DELETE, n - 1, guid, "leave");
	client_free(client);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* Spines with no room for the MLID are bypassed, and named. */
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
	/* Nor are blocks written that their tables do not have. */
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, smp_bad_status), 0);
	end();
}
END_TEST

/* ---- the dump ---- */

static void make_dumps(struct scenario *scenario, void *arg)
{
	struct dumps **dumps = arg;

	log_set_flags(scenario->log, log_flags(scenario->log) | LOG_ROUTING);
	*dumps = dumps_new(scenario->daemon);
}

/* Number of ports of switches in the dump, over all MLIDs; -1: there is no dump. */
static int dumped_ports(void)
{
	g_autofree char *path = g_build_filename(s->directory, "opensm.mcfdbs", NULL);
	g_autofree char *text = NULL;
	int n = 0;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return -1;
	for (const char *at = strstr(text, " 0x0"); at; at = strstr(at + 1, " 0x0"))
		n++;
	return n;
}

/* Each join and leave is seen in opensm.mcfdbs, without any other change of the subnet. */
START_TEST(the_dump_follows)
{
	g_autofree char *conf = NULL;
	struct dumps *dumps = NULL;
	int before;

	memset(&seen, 0, sizeof(seen));
	s = scenario_new("fattree:4", 1);
	s->made = make_dumps;
	s->made_arg = &dumps;
	conf = g_strdup_printf("dump_files_dir %s\n", s->directory);
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 20);
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		clients[i] = client_new(s, scenario_node(s, hosts[i]));
	before = dumped_ports();
	for (unsigned int i = 0; i < N_CLIENTS; i++) {
		join(i);
		scenario_run_ms(s, 1000);
		ck_assert_int_gt(dumped_ports(), before);
		before = dumped_ports();
	}
	ck_assert_int_eq(client_leave_broadcast(clients[0]), 0);
	scenario_run_ms(s, 1000);
	ck_assert_int_lt(dumped_ports(), before);
	end();
	dumps_free(dumps);
}
END_TEST

/* ---- MLIDs ---- */

/* Every switch forwards this many MLIDs; clients[] may ask for others. */
static void begin_with_few(uint16_t mlids)
{
	memset(&seen, 0, sizeof(seen));
	s = scenario_new("fattree:4", 1);
	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH)
			sim_set_multicast_fdb_cap(s->sim, i, mlids);
	}
	scenario_start(s);
	scenario_converge(s, 20);
	for (unsigned int i = 0; i < N_CLIENTS; i++) {
		clients[i] = client_new(s, scenario_node(s, hosts[i]));
		client_trust(clients[i], SA_KEY);
	}
}

static struct mc_groups *published_groups(void)
{
	return slot_take(&daemon_context(s->daemon)->groups);
}

/* More groups than MLIDs: they share, each packet gets to all members, and all end empty. */
START_TEST(mlids_run_out)
{
	bool used[8] = {false};
	struct mc_groups *groups;

	begin_with_few(8);
	for (unsigned int i = 0; i < 40; i++) {
		ask_member(clients[i % N_CLIENTS], IBA_METHOD_SET, i / 2,
			   client_guid(clients[i % N_CLIENTS]));
		ck_assert_uint_lt(mlid - IBA_LID_MCAST_FIRST, 8);
		used[mlid - IBA_LID_MCAST_FIRST] = true;
	}
	for (unsigned int i = 1; i < 8; i++)
		ck_assert_msg(used[i], "nobody has MLID %u", i);
	scenario_converge(s, 20); /* checks the trees of all MLIDs */
	for (unsigned int i = 0; i < 40; i++)
		ask_member(clients[i % N_CLIENTS], IBA_METHOD_DELETE, i / 2,
			   client_guid(clients[i % N_CLIENTS]));
	scenario_converge(s, 20);
	groups = published_groups();
	ck_assert_uint_eq(groups->n, 1); /* the broadcast group */
	mc_groups_unref(groups);
	end();
}
END_TEST

/* As long as a switch may hold the tree of a deleted group, its MLID is not assigned. */
START_TEST(an_mlid_is_erased_first)
{
	const unsigned int leaf = 1; /* clients[leaf] is in the group alone */
	unsigned int node;
	uint16_t first;

	begin_with_few(64);
	node = scenario_node(s, "leaf-0-1");
	ask_member(clients[leaf], IBA_METHOD_SET, 0, client_guid(clients[leaf]));
	ask_member(clients[0], IBA_METHOD_SET, 0, client_guid(clients[0]));
	first = mlid;
	scenario_converge(s, 20);
	sim_node_mute(s->sim, node, true);
	for (unsigned int i = 0; i < 2; i++)
		ask_member(clients[i], IBA_METHOD_DELETE, 0, client_guid(clients[i]));
	for (unsigned int i = 1; i < 4; i++) {
		scenario_run_ms(s, 300);
		ask_member(clients[5], IBA_METHOD_SET, i, client_guid(clients[5]));
		ck_assert_uint_ne(mlid, first);
	}
	sim_node_mute(s->sim, node, false);
	scenario_converge(s, 60);
	ask_member(clients[5], IBA_METHOD_SET, 4, client_guid(clients[5]));
	ck_assert_uint_eq(mlid, first);
	scenario_converge(s, 20);
	end();
}
END_TEST

/* Trees are not published again if none changed. */
START_TEST(published_when_changed)
{
	struct mc_trees *before, *same, *after;
	struct slot *slot;

	begin("");
	join(0);
	scenario_converge(s, 20);
	slot = &daemon_context(s->daemon)->trees;
	before = slot_take(slot);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_converge(s, 20);
	same = slot_take(slot);
	ck_assert_ptr_eq(same, before);
	join(1);
	scenario_converge(s, 20);
	after = slot_take(slot);
	ck_assert_ptr_ne(after, before);
	mc_trees_unref(before);
	mc_trees_unref(same);
	mc_trees_unref(after);
	end();
}
END_TEST

/* ---- partitions.conf changes, and changes back ---- */

#define DEFAULT "Default=0x7fff,ipoib:ALL=full;\n"
#define BLUE "Blue=0x11,ipoib:ALL=full;\n"

static char *partitions_file(void)
{
	return g_build_filename(s->directory, "partitions.conf", NULL);
}

static void write_partitions(const char *text)
{
	g_autofree char *path = partitions_file();

	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static void begin_with_partitions(const char *text)
{
	g_autofree char *path = NULL;

	memset(&seen, 0, sizeof(seen));
	s = scenario_new("fattree:4", 1);
	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	path = partitions_file();
	scenario_option(s, "-P", path);
	write_partitions(text);
	scenario_start(s);
	scenario_converge(s, 20);
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		clients[i] = client_new(s, scenario_node(s, hosts[i]));
	sim_set_trace(s->sim, on_mad, NULL);
}

/* Number of ports that are told to reregister for it. */
static unsigned int change_partitions(const char *text)
{
	unsigned int before = seen.reregistered;

	write_partitions(text);
	ck_assert(daemon_reread(s->daemon, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_converge(s, 20);
	scenario_run_ms(s, 1000);
	return seen.reregistered - before;
}

static int join_blue(unsigned int i, uint16_t *to)
{
	struct iba_mc_member_record record = {
		.mgid = partition_broadcast_mgid(0x0011, IBA_SCOPE_LINK_LOCAL),
		.port_gid = client_gid(clients[i]),
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	int status = client_ask(clients[i], IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD,
				IBA_COMPONENT(mc_member_record, mgid) |
					IBA_COMPONENT(mc_member_record, port_gid) |
					IBA_COMPONENT(mc_member_record, join_state),
				&iba_mc_member_record_type, &record);

	*to = record.mlid;
	return status;
}

/* Whether all clients from that one on get what any of them sends to the group. */
static void expect_tree(uint16_t to, unsigned int first)
{
	uint64_t guids[N_CLIENTS];
	g_autofree char *loss = NULL;

	for (unsigned int i = 0; i < N_CLIENTS; i++)
		guids[i] = client_guid(clients[i]);
	loss = scenario_tree_violation(s, to, guids + first, N_CLIENTS - first);
	ck_assert_msg(!loss, "%s", loss);
}

/* Hosts see no change of their P_Keys, so they would not join again. Others are kept out. */
START_TEST(a_partition_is_without_ipoib_for_a_while)
{
	uint16_t to;

	begin_with_partitions(DEFAULT);
	for (unsigned int i = 1; i < N_CLIENTS; i++)
		join(i);
	change_partitions("Default=0x7fff:ALL=full;\n");
	expect_tree(mlid, 1);
	ck_assert_int_eq(client_join_broadcast(clients[0], &to), IBA_SA_REQ_INVALID);
	ck_assert_int_eq(client_join_broadcast(clients[1], &to), 0); /* it is a member */
	change_partitions(DEFAULT);
	expect_tree(mlid, 1);
	join(0);
	scenario_converge(s, 20);
	expect_tree(mlid, 0);
	end();
}
END_TEST

/* A host that lost its P_Key is in no group of that partition, and is told when it is back. */
START_TEST(a_p_key_comes_back)
{
	g_autoptr(GString) without = g_string_new(DEFAULT "Blue=0x11,ipoib:SELF=full");
	uint16_t blue, to;

	begin_with_partitions(DEFAULT BLUE);
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		ck_assert_int_eq(join_blue(i, &blue), 0);
	for (unsigned int i = 1; i < N_CLIENTS; i++)
		g_string_append_printf(without, ",0x%" G_GINT64_MODIFIER "x=full",
				       client_guid(clients[i]));
	g_string_append(without, ";\n");
	ck_assert_uint_eq(change_partitions(without->str), 0);
	ck_assert_int_eq(join_blue(0, &to), IBA_SA_INSUFFICIENT_COMPONENTS); /* no such group */
	ck_assert_uint_eq(change_partitions(DEFAULT BLUE), 1);
	ck_assert_int_eq(join_blue(0, &to), 0);
	scenario_converge(s, 20);
	expect_tree(blue, 0);
	ck_assert_uint_eq(change_partitions(DEFAULT BLUE "Red=0x12:ALL=full;\n"), 0);
	end();
}
END_TEST

START_TEST(a_partition_comes_back)
{
	uint16_t blue;

	begin_with_partitions(DEFAULT BLUE);
	for (unsigned int i = 1; i < N_CLIENTS; i++)
		ck_assert_int_eq(join_blue(i, &blue), 0);
	ck_assert_uint_eq(change_partitions(DEFAULT), 0);
	ck_assert_uint_eq(change_partitions(DEFAULT BLUE), N_CLIENTS - 1);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("multicast");
	TCase *tcase = tcase_create("members");

	tcase_add_test(tcase, hosts_that_were_cut_off);
	tcase_add_test(tcase, hosts_that_stay_away);
	tcase_add_test(tcase, a_host_goes_before_its_turn);
	tcase_add_test(tcase, nobody_else_notices);
	tcase_add_test(tcase, written_once);
	tcase_add_test(tcase, a_cable_that_comes);
	tcase_add_test(tcase, a_ring_is_closed);
	tcase_add_test(tcase, answered_when_programmed);
	tcase_add_test(tcase, answered_in_turn);
	tcase_add_test(tcase, answered_without_tables);
	tcase_add_test(tcase, one_join_among_many);
	tcase_set_timeout(tcase, getenv("MULTICAST_SCALE") ? 3600 : 120);
	tcase_add_test(tcase, small_tables_are_gone_around);
	tcase_add_test(tcase, the_dump_follows);
	tcase_add_test(tcase, mlids_run_out);
	tcase_add_test(tcase, an_mlid_is_erased_first);
	tcase_add_test(tcase, published_when_changed);
	tcase_add_test(tcase, a_partition_is_without_ipoib_for_a_while);
	tcase_add_test(tcase, a_p_key_comes_back);
	tcase_add_test(tcase, a_partition_comes_back);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Switches with room for fewer LIDs than are in use. All hosts that cables allow reach each other
 * by the tables of the simulated switches, which forward nothing above their LinearFDBCap; and the
 * switch is named, once.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "ctl/command/command.h"
#include "client/control.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define TREE "xgft:16,13:1,4" /* 13 leaves with 16 hosts each, four spines: 225 LIDs */
#define CAP 64

static struct scenario *small(const char *spec, const char *name, uint16_t cap)
{
	struct scenario *s = scenario_new(spec, 1);

	sim_set_linear_fdb_cap(s->sim, scenario_node(s, name), cap);
	return s;
}

static void start(struct scenario *s)
{
	scenario_start(s);
	scenario_converge(s, 20);
}

static unsigned int times(const struct scenario *s, const char *text)
{
	unsigned int n = 0;

	for (const char *at = s->text->str; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static void check_top(struct scenario *s, const char *name, uint16_t cap)
{
	struct sim_node_view view;

	sim_node_view(s->sim, scenario_node(s, name), &view);
	scenario_expect_at_most(s, view.switch_info->linear_fdb_top, cap - 1);
	scenario_expect_at_most(s, scenario_lid(s, scenario_node(s, name)), cap - 1);
}

static uint64_t counted(const struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, switches_small_lft);
}

/* Whether packets get through between a pair of hosts, both ways, by the present tables. */
static bool get_through(struct scenario *s, unsigned int from, uint16_t lid, unsigned int to)
{
	unsigned int node, port;

	sim_peer(s->sim, from, 1, &node, &port);
	for (unsigned int hops = 0; hops < 16; hops++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH)
			return node == to;
		if (lid >= view.switch_info->linear_fdb_cap ||
		    lid > view.switch_info->linear_fdb_top ||
		    !sim_peer(s->sim, node, view.lft[lid], &node, &port))
			return false;
	}
	return false;
}

static bool is_host(struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.type != IBA_NODE_SWITCH;
}

/* Pairs of hosts with LIDs below a limit that do not get through, and those that do. */
static void count_pairs(struct scenario *s, uint16_t limit, unsigned int *lost, unsigned int *good)
{
	*lost = *good = 0;
	for (unsigned int from = 0; from < sim_nodes(s->sim); from++)
		for (unsigned int to = 0; to < sim_nodes(s->sim); to++) {
			if (from == to || !is_host(s, from) || !is_host(s, to) ||
			    scenario_lid(s, from) >= limit || scenario_lid(s, to) >= limit)
				continue;
			if (get_through(s, from, scenario_lid(s, to), to))
				++*good;
			else
				++*lost;
		}
}

/* All hosts to all hosts, and none without a LID. */
static void check_all(struct scenario *s, unsigned int hosts)
{
	unsigned int lost, good;

	count_pairs(s, UINT16_MAX, &lost, &good);
	scenario_expect_at_most(s, lost, 0);
	scenario_expect(s, good == hosts * (hosts - 1));
}

static char *ask(struct scenario *s, const char *line)
{
	struct command_env env = {.daemon = s->daemon, .sim = s->sim};
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	scenario_expect(s, !answer.failed);
	return answer.text;
}

/* The text in health, and its severity. */
static void check_health(struct scenario *s, unsigned int status, const char *text)
{
	struct command_env env = {.daemon = s->daemon, .sim = s->sim};
	struct command_answer answer;

	command_run(&env, "health", true, &answer);
	ck_assert_msg(answer.status == status && strstr(answer.text, text), "%s", answer.text);
	g_free(answer.text);
}

static const char *const engines[] = {NULL, "minhop", "updn", "dnup", "ftree"};

/* One of four spines: everything uses the other three, and the network stays free of loops. */
START_TEST(small_spine)
{
	struct scenario *s = small(TREE, "spine-2-1", CAP);
	g_autofree char *status = NULL;

	if (engines[_i])
		scenario_option(s, "-R", engines[_i]);
	start(s);
	check_all(s, 208);
	check_top(s, "spine-2-1", CAP);
	scenario_heavy_sweep(s, 10);
	scenario_heavy_sweep(s, 10);
	scenario_expect(s, times(s, "LinearFDBCap 64") == 1);
	scenario_expect(s, counted(s) == 1);
	scenario_expect(s, counter_get(&daemon_context(s->daemon)->counters, sweeps_failed) == 0);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	scenario_check_log(s, "credit loop", false);
	status = ask(s, "status");
	scenario_expect(s, strstr(status, "spine-2-1") && strstr(status, "LinearFDBCap 64"));
	scenario_free(s);
}
END_TEST

/* A loss elsewhere, and its end, with the small switch there all the time. */
START_TEST(small_spine_and_losses)
{
	struct scenario *s = small(TREE, "spine-2-1", CAP);

	start(s);
	sim_node_set(s->sim, scenario_node(s, "spine-2-3"), false);
	scenario_converge(s, 20);
	sim_link_set(s->sim, scenario_node(s, "leaf-5"), 17, false); /* to spine-2-0 */
	scenario_converge(s, 20);
	sim_node_set(s->sim, scenario_node(s, "spine-2-3"), true);
	sim_link_set(s->sim, scenario_node(s, "leaf-5"), 17, true);
	scenario_converge(s, 20);
	check_all(s, 208);
	scenario_expect(s, times(s, "LinearFDBCap 64") == 1);
	scenario_free(s);
}
END_TEST

/* Number of nodes, other than this one, whose LID has changed. */
static unsigned int moved(struct scenario *s, const uint16_t *lids, unsigned int but)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += i != but && scenario_lid(s, i) != lids[i];
	return n;
}

/* A spine is replaced by a small one, and that by one as before; no other LID changes. */
START_TEST(replaced)
{
	struct scenario *s = scenario_new(TREE, 1);
	unsigned int spine = scenario_node(s, "spine-2-2");
	g_autofree uint16_t *lids = NULL;

	start(s);
	lids = scenario_lids(s);
	for (unsigned int i = 0; i < 2; i++) {
		sim_node_set(s->sim, spine, false);
		scenario_run_ms(s, 3000);
		sim_node_set(s->sim, spine, true);
		sim_set_node_guid(s->sim, spine, 0x77700 + i);
		sim_set_port_guid(s->sim, spine, 0, 0x77700 + i);
		if (!i)
			sim_set_linear_fdb_cap(s->sim, spine, CAP);
		scenario_converge(s, 30);
		check_all(s, 208);
		scenario_expect(s, counted(s) == !i);
		scenario_expect_at_most(s, moved(s, lids, spine), 0);
	}
	scenario_check_log(s, "all switches can hold all LIDs in use", true);
	scenario_free(s);
}
END_TEST

/*
 * A cap that falls below the LID of the switch itself, as by new firmware: the LIDs below are all
 * in use, among others by switches that can take another one. No host moves.
 */
START_TEST(cap_falls)
{
	struct scenario *s = scenario_new(TREE, 1);
	unsigned int spine = scenario_node(s, "spine-2-2");
	g_autofree uint16_t *lids = NULL;

	start(s);
	lids = scenario_lids(s);
	ck_assert_uint_gt(lids[spine], 8);
	sim_set_linear_fdb_cap(s->sim, spine, 8);
	if (_i) { /* and the SM is on it by now */
		scenario_stop(s);
		s->sm_guid = sim_port_guid(s->sim, spine, 0);
		scenario_start(s);
	} else {
		scenario_heavy_sweep(s, 20);
	}
	scenario_converge(s, 30);
	check_all(s, 208);
	check_top(s, "spine-2-2", 8);
	scenario_expect(s, moved(s, lids, spine) == 1);
	scenario_free(s);
}
END_TEST

/* Hosts on a small leaf get low LIDs and so reach those with low LIDs; those cut off are named. */
START_TEST(small_leaf)
{
	struct scenario *s = small(TREE, "leaf-7", CAP);
	unsigned int lost, good;

	start(s);
	check_top(s, "leaf-7", CAP);
	for (unsigned int port = 1; port <= 16; port++) {
		unsigned int host, host_port;

		sim_peer(s->sim, scenario_node(s, "leaf-7"), port, &host, &host_port);
		scenario_expect_at_most(s, scenario_lid(s, host), CAP - 1);
		scenario_expect(
			s, get_through(s, scenario_node(s, "host-0"), scenario_lid(s, host), host));
	}
	scenario_expect_at_most(s, scenario_lid(s, scenario_node(s, "host-0")), CAP - 1);
	count_pairs(s, CAP, &lost, &good);
	scenario_expect_at_most(s, lost, 0);
	scenario_expect_at_most(s, 16 * 30, good);
	scenario_check_log(s, "its 16 hosts cannot send to those LIDs", true);
	scenario_free(s);
}
END_TEST

/* No bypass: hosts with a low LID are reached, and the rest is named. */
START_TEST(all_spines_small)
{
	struct scenario *s = scenario_new(TREE, 1);
	unsigned int lost, good;

	for (unsigned int i = 0; i < 4; i++) {
		g_autofree char *name = g_strdup_printf("spine-2-%u", i);

		sim_set_linear_fdb_cap(s->sim, scenario_node(s, name), CAP);
	}
	scenario_start(s);
	scenario_run_ms(s, 10 * 1000);
	count_pairs(s, CAP, &lost, &good);
	scenario_expect_at_most(s, lost, 0);
	scenario_expect_at_most(s, 40 * 39, good);
	scenario_check_log(s, "there is no way around such switches: ", true);
	scenario_check_log(s, "no free LID", false);
	check_health(s, CONTROL_SUBNET_BAD, "ERROR tables: there is no way around such");
	scenario_free(s);
}
END_TEST

/* Errors up to the end of the first sweep. */
static unsigned int count_errors(const char *log)
{
	const char *end = strstr(log, " errors\n");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(end);
	while ((log = strstr(log, " 0x01 -> ")) && log < end) {
		n++;
		log++;
	}
	return n;
}

/* All switches are small, and so hosts go without LIDs: the remedy is logged once, at the end. */
START_TEST(without_lids)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	const char *advice, *switches;
	int node;

	scenario_option(s, "-l", "3");
	for (uint64_t guid = 0x0200000080000100; (node = sim_find_guid(s->sim, guid)) >= 0;
	     guid += 0x100)
		sim_set_linear_fdb_cap(s->sim, (unsigned int)node, 100);
	scenario_start(s);
	scenario_run_ms(s, 50);
	ck_assert_msg(count_errors(s->text->str) <= 5, "%s", s->text->str);
	switches = strstr(s->text->str, "17 more switches only forward LIDs up to 0x0063");
	advice = strstr(s->text->str, "; a smaller lmc needs fewer LIDs");
	ck_assert_msg(switches && advice > switches, "%s", s->text->str);
	scenario_check_log(s, "refused state", false);
	scenario_check_log(s, "stays in INIT", false);
	scenario_free(s);
}
END_TEST

/* 36 endports and 31 LIDs that every switch forwards; with an lmc each host needs more of them. */
START_TEST(no_lid_is_left)
{
	static const char *const told[] = {
		"no free LID for 5 ports: the switches forward LIDs up to 0x001f",
		"no free LID for 11 ports: the switches forward LIDs up to 0x001f; "
		"a smaller lmc needs fewer LIDs",
	};
	struct scenario *s = scenario_new("fattree:4", 1);

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH)
			sim_set_linear_fdb_cap(s->sim, i, 32);
	}
	scenario_conf(s, _i ? "lmc 1\n" : "");
	scenario_start(s);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, told[_i], true);
	scenario_check_log(s, "; a smaller lmc needs fewer LIDs", _i);
	scenario_check_log(s, "it only forwards LIDs up to 0x001f", true);
	check_health(s, CONTROL_SUBNET_BAD, _i ? "11 ports have no LID" : "5 ports have no LID");
	scenario_free(s);
}
END_TEST

static const struct {
	const char *node;
	uint16_t lids; /* that it has room for; 0: for all */
	bool no_mlids;
	unsigned int status;
	const char *text;
} told[] = {
	{"leaf-0-0", 12, false, CONTROL_SUBNET_BAD,
	 "its 2 hosts cannot send to those LIDs; the SM sends through it: the SA cannot answer "
	 "those LIDs"},
	{"leaf-1-0", 12, false, CONTROL_SUBNET_BAD,
	 "ERROR tables: leaf-1-0 (0x0200000080000b00): LinearFDBCap 12: it only forwards LIDs "
	 "below 0x000c, routes to other LIDs avoid it; its 2 hosts cannot send to those LIDs\n"},
	{"leaf-1-0", 0, true, CONTROL_SUBNET_BAD,
	 "ERROR tables: leaf-1-0 (0x0200000080000b00): MulticastFDBCap 0: its 2 hosts receive no "},
	{"core-0-0", 12, false, CONTROL_DONE, "warning tables: core-0-0 (0x"},
	{"core-0-0", 0, true, CONTROL_DONE, "warning tables: core-0-0 (0x"},
};

/* Hosts that lose connections by it are a problem, a bypassed switch is a warning. */
START_TEST(health_tells)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int node = scenario_node(s, told[_i].node);

	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	if (told[_i].lids)
		sim_set_linear_fdb_cap(s->sim, node, told[_i].lids);
	if (told[_i].no_mlids)
		sim_set_multicast_fdb_cap(s->sim, node, 0);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	check_health(s, told[_i].status, told[_i].text);
	scenario_free(s);
}
END_TEST

/* More groups of partitions than there are MLIDs; then fewer. */
START_TEST(health_tells_of_groups)
{
	static const char ipoib[] = "Default=0x7fff,ipoib: ALL=full;\n";
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	g_autoptr(GString) text = g_string_new(ipoib);

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH)
			sim_set_multicast_fdb_cap(s->sim, i, 8);
	}
	for (unsigned int i = 1; i <= 20; i++)
		g_string_append_printf(text, "P%u=0x%x,ipoib: ALL=full;\n", i, i);
	ck_assert(g_file_set_contents(file, text->str, -1, NULL));
	scenario_option(s, "--Pconfig", file);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	check_health(s, CONTROL_SUBNET_BAD,
		     "multicast groups that IPoIB needs cannot be created: no MLID is free");
	ck_assert(g_file_set_contents(file, ipoib, -1, NULL));
	scenario_heavy_sweep(s, 20);
	scenario_run_ms(s, 5000);
	check_health(s, CONTROL_DONE, "");
	scenario_free(s);
}
END_TEST

/* The leaves are connected only through switches without multicast tables. */
START_TEST(health_tells_of_parts)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	for (unsigned int i = 0; i < 4; i++) {
		g_autofree char *name = g_strdup_printf("core-%u-%u", i / 2, i % 2);

		if (i >= (unsigned int)_i)
			sim_set_multicast_fdb_cap(s->sim, scenario_node(s, name), 0);
	}
	scenario_start(s);
	scenario_run_ms(s, 5000);
	check_health(s, _i ? CONTROL_DONE : CONTROL_SUBNET_BAD,
		     _i ? "warning tables: "
			: "ERROR tables: multicast has no way around such switches: "
			  "hosts are split into 4 parts\n");
	scenario_free(s);
}
END_TEST

#define MGID(number) ((struct iba_gid){UINT64_C(0xFF12000000000000), (number)})

static uint16_t join(struct scenario *s, const char *host, uint64_t group)
{
	struct client *client = client_new(s, scenario_node(s, host));
	uint16_t mlid = 0;
	int status = client_member(client, IBA_METHOD_SET, MGID(group), client_guid(client), &mlid);

	client_free(client);
	return status == IBA_STATUS_OK ? mlid : 0;
}

/* Many groups at once, more than some of the cores have room for. */
START_TEST(groups_beyond_small_cores)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	g_autoptr(GString) text = g_string_new("Default=0x7fff,ipoib: ALL=full;\n");
	static const char *const cores[] = {"core-0-0", "core-0-1", "core-1-0"};
	struct sim_node_view view;

	for (unsigned int i = 0; i < 3; i++)
		sim_set_multicast_fdb_cap(s->sim, scenario_node(s, cores[i]), 32);
	ck_assert(g_file_set_contents(file, text->str, -1, NULL));
	scenario_option(s, "--Pconfig", file);
	start(s);
	for (unsigned int i = 0; i < 40; i++)
		g_string_append_printf(text, "mgid=ff12::%x\n", i);
	ck_assert(g_file_set_contents(file, text->str, -1, NULL));
	scenario_heavy_sweep(s, 20);
	for (unsigned int i = 0; i < 40; i++)
		scenario_expect(s, join(s, "host-0", i) && join(s, "host-15", i));
	scenario_heavy_sweep(s, 20);
	scenario_converge(s, 20);
	for (unsigned int i = 0; i < 3; i++) {
		sim_node_view(s->sim, scenario_node(s, cores[i]), &view);
		scenario_expect(s, view.switch_info->multicast_fdb_top == 0xC01F);
	}
	sim_node_view(s->sim, scenario_node(s, "core-1-1"), &view);
	scenario_expect(s, view.switch_info->multicast_fdb_top == 0xC028);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	scenario_free(s);
}
END_TEST

#define N_GROUPS 10

static void make_groups(struct scenario *s)
{
	for (unsigned int i = 0; i < N_GROUPS; i++)
		scenario_expect(s, join(s, "host-3", i) && join(s, "host-12", i));
}

/* A leaf is replaced by one with less room than the existing groups need: it is named, once. */
START_TEST(groups_beyond_a_new_leaf)
{
	static const char line[] = "leaf-2-0 (0x0200000080000f00): MulticastFDBCap 4: its 2 hosts "
				   "receive no multicast of the groups with MLIDs from 0xc004 on";
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *health = g_strdup_printf("ERROR tables: %s\n", line);
	unsigned int leaf = scenario_node(s, "leaf-2-0");

	start(s);
	make_groups(s);
	scenario_converge(s, 20);
	sim_node_set(s->sim, leaf, false);
	scenario_run_ms(s, 3000);
	sim_node_set(s->sim, leaf, true);
	sim_set_multicast_fdb_cap(s->sim, leaf, 4);
	scenario_converge(s, 20);
	check_health(s, CONTROL_SUBNET_BAD, health);
	scenario_expect(s, join(s, "host-12", N_GROUPS) == 0xC001); /* it shares one that fits */
	scenario_heavy_sweep(s, 20);
	check_health(s, CONTROL_SUBNET_BAD, health);
	ck_assert_uint_eq(times(s, line), 1);
	sim_set_multicast_fdb_cap(s->sim, leaf, 4096);
	scenario_heavy_sweep(s, 20);
	check_health(s, CONTROL_DONE, "");
	scenario_check_log(s, "all switches that forward multicast have room", true);
	scenario_free(s);
}
END_TEST

/*
 * A restart with the previous groups, and switches with less room: as clients reregister, the
 * groups get MLIDs that fit; if they are not told to they keep those that they know.
 */
START_TEST(groups_of_before)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *conf = g_strdup_printf("sa_db_dump TRUE\ndump_files_dir %s\n"
						"sa_db_file %s/opensm-sa.dump\n"
						"no_clients_rereg %s\n",
						s->directory, s->directory, _i ? "TRUE" : "FALSE");

	scenario_conf(s, conf);
	start(s);
	make_groups(s);
	scenario_heavy_sweep(s, 20);
	scenario_run_ms(s, 1000);
	scenario_stop(s);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		if (!is_host(s, i))
			sim_set_multicast_fdb_cap(s->sim, i, 4);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	for (unsigned int i = 0; i < N_GROUPS; i++) {
		uint16_t mlid = join(s, "host-8", i);

		if (_i)
			ck_assert_uint_eq(mlid, 0xC001 + i);
		else
			ck_assert(mlid >= 0xC001 && mlid <= 0xC003);
	}
	scenario_run_ms(s, 3000);
	if (_i) {
		check_health(
			s, CONTROL_SUBNET_BAD,
			"MulticastFDBCap 4: its 2 hosts receive no multicast of the groups with "
			"MLIDs from 0xc004 on");
	} else {
		scenario_check(s);
		check_health(s, CONTROL_DONE, "");
	}
	scenario_free(s);
}
END_TEST

struct net {
	const char *spec, *small, *engine;
};
static const struct net nets[] = {
	{"mesh:4x4:8", "switch-1-1", "dor"},	 {"mesh:4x4:8", "switch-1-1", "updn"},
	{"torus:4x4:8", "switch-1-1", "updn"},	 {"torus:4x4:8", "switch-1-1", "minhop"},
	{"hypercube:4:8", "switch-3", "dnup"},	 {"torus:4x4:8", "switch-0-0", "dor"},
	{"random:16:5:8:3", "switch-3", "updn"}, {"fattree:8", "core-0-1", "ftree"},
};

/* Any network: the small one is a leaf, too, in most of them. */
START_TEST(other_networks)
{
	struct scenario *s = small(nets[_i].spec, nets[_i].small, CAP);

	scenario_option(s, "-R", nets[_i].engine);
	start(s);
	check_top(s, nets[_i].small, CAP);
	scenario_check_log(s, "LinearFDBCap 64", true);
	scenario_check_log(s, "falling back", false);
	scenario_free(s);
}
END_TEST

/* As of a hostile device: a cap below its own LinearFDBTop, of one LID, and of none at all. */
START_TEST(odd_caps)
{
	static const uint16_t caps[] = {0, 1, 2, 65, 128};
	struct scenario *s = scenario_new(TREE, 1);

	start(s);
	sim_set_linear_fdb_cap(s->sim, scenario_node(s, "spine-2-0"), caps[_i]);
	scenario_heavy_sweep(s, 20);
	scenario_run_ms(s, 5000);
	if (caps[_i])
		check_all(s, 208);
	sim_set_linear_fdb_cap(s->sim, scenario_node(s, "spine-2-0"), 49151);
	scenario_heavy_sweep(s, 20);
	scenario_converge(s, 30);
	check_all(s, 208);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("small_tables");
	TCase *tcase = tcase_create("caps");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, small_spine, 0, G_N_ELEMENTS(engines));
	tcase_add_test(tcase, small_spine_and_losses);
	tcase_add_test(tcase, replaced);
	tcase_add_loop_test(tcase, cap_falls, 0, 2);
	tcase_add_test(tcase, small_leaf);
	tcase_add_loop_test(tcase, no_lid_is_left, 0, 2);
	tcase_add_test(tcase, all_spines_small);
	tcase_add_loop_test(tcase, health_tells, 0, G_N_ELEMENTS(told));
	tcase_add_test(tcase, health_tells_of_groups);
	tcase_add_loop_test(tcase, health_tells_of_parts, 0, 2);
	tcase_add_test(tcase, groups_beyond_small_cores);
	tcase_add_test(tcase, groups_beyond_a_new_leaf);
	tcase_add_loop_test(tcase, groups_of_before, 0, 2);
	tcase_add_test(tcase, without_lids);
	tcase_add_loop_test(tcase, other_networks, 0, G_N_ELEMENTS(nets));
	tcase_add_loop_test(tcase, odd_caps, 0, 5);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

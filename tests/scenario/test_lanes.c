// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Layered engines end to end: hosts ask for their paths, and the packets that they send on the SL
 * of the answers, through the tables of the simulated switches, close no credit loop on any virtual
 * lane.
 */
#include <check.h>
#include <string.h>

#include "client.h"
#include "lanes.h"
#include "route/value/lanes.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define HOSTS_MAX 32

static const struct {
	const char *engine, *option, *value;
	bool lanes; /* more than one is needed */
} engines[] = {
	{"dfsssp", NULL, NULL, true},
	{"lash", NULL, NULL, true},
	{"lash", "--lash_start_vl", "2", true},
	{"lash", "--do_mesh_analysis", NULL, true},
	{"nue", NULL, NULL, false},
	{"nue", "--nue_max_num_vls", "0", true},
	{"hoplanes", NULL, NULL, true},
	{"torus-2QoS", NULL, NULL, true},
};

struct net {
	struct scenario *s;
	const struct subnet *subnet;
	unsigned int n_hosts;
	struct client *hosts[HOSTS_MAX];
	uint32_t ports[HOSTS_MAX];
	struct lanes *lanes;
};

static void list_hosts(struct net *net)
{
	const struct fabric *fabric = net->subnet->fabric;
	unsigned int port;

	for (unsigned int node = 0; node < sim_nodes(net->s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(net->s->sim, node, &view);
		if (view.type != IBA_NODE_CA || node == scenario_sm_node(net->s, &port))
			continue;
		net->hosts[net->n_hosts] = client_new(net->s, node);
		net->ports[net->n_hosts] =
			fabric_port_by_guid(fabric, client_guid(net->hosts[net->n_hosts]));
		ck_assert_uint_ne(net->ports[net->n_hosts++], FABRIC_NONE);
	}
	ck_assert_uint_gt(net->n_hosts, 10);
}

/* And two subnets that were compared. */
static void net_free(struct net *net, struct subnet *before, struct subnet *after)
{
	for (unsigned int i = 0; i < net->n_hosts; i++)
		client_free(net->hosts[i]);
	subnet_unref(after);
	subnet_unref(before);
	scenario_free(net->s);
}

/* Every host asks for the path to every other, and packets go both ways as the answer says. */
static unsigned int send_all(struct net *net)
{
	unsigned int sls = 0;

	for (unsigned int i = 0; i < net->n_hosts; i++) {
		for (unsigned int k = 0; k < net->n_hosts; k++) {
			struct iba_path_record path;

			if (i == k)
				continue;
			ck_assert_int_eq(
				client_path(net->hosts[i], client_guid(net->hosts[k]), &path), 0);
			lanes_send(net->lanes, net->ports[i], net->ports[k], path.sl);
			lanes_send(net->lanes, net->ports[k], net->ports[i], path.sl);
			sls |= 1u << path.sl;
		}
	}
	return sls;
}

/* Packets from all hosts to the SM, and back, on its SL, which is 0, or that of the path. */
static void talk_to_sm(struct net *net)
{
	for (unsigned int i = 0; i < net->n_hosts; i++) {
		uint8_t sl =
			routing_sm_sl(net->subnet->routing, net->subnet->fabric, net->ports[i], 0);

		lanes_send(net->lanes, net->ports[i], net->subnet->fabric->sm_port, sl);
		lanes_send(net->lanes, net->subnet->fabric->sm_port, net->ports[i], sl);
	}
}

static void check_net(struct scenario *s, const char *engine, bool lanes, unsigned int first)
{
	struct net net = {.s = s};
	g_autofree char *wrong = NULL;
	unsigned int sls;

	net.lanes = lanes_new(s);
	net.subnet = lanes_subnet(net.lanes);
	ck_assert_str_eq(net.subnet->routing->engine->name, engine);
	ck_assert_ptr_null(net.subnet->credit_loop);
	ck_assert((net.subnet->routing->lanes != NULL) == lanes);
	list_hosts(&net);
	sls = send_all(&net);
	ck_assert(lanes ? sls >> first & 1 : sls == 1);
	ck_assert_uint_eq(sls & ((1u << first) - 1), 0);
	talk_to_sm(&net);
	wrong = lanes_violation(net.lanes);
	ck_assert_msg(!wrong, "%s: %s", engine, wrong);
	for (unsigned int i = 0; i < net.n_hosts; i++)
		client_free(net.hosts[i]);
	lanes_free(net.lanes);
}

/* The torus of 5x4 switches, the first of which is in a corner. */
static char *torus_file(struct scenario *s)
{
	static const char text[] = "torus 5 4 1\n"
				   "xp_link 0x0200000080000100 0x0200000080000200\n"
				   "yp_link 0x0200000080000100 0x0200000080000600\n"
				   "ym_link 0x0200000080000100 0x0200000080001000\n";
	char *file = g_build_filename(s->directory, "torus-2QoS.conf", NULL);

	ck_assert(g_file_set_contents(file, text, -1, NULL));
	return file;
}

/* Also after a cable was lost, and after it came back. */
START_TEST(hosts_get_the_lane_of_their_path)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	unsigned int node, port, first = 0;

	g_autofree char *torus = torus_file(s);

	scenario_option(s, "-R", engines[_i].engine);
	scenario_option(s, "--torus_config", torus);
	if (engines[_i].option)
		scenario_option(s, engines[_i].option, engines[_i].value);
	if (engines[_i].option && !strcmp(engines[_i].option, "--lash_start_vl"))
		first = 2;
	scenario_start(s);
	scenario_converge(s, 10);
	check_net(s, engines[_i].engine, engines[_i].lanes, first);
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_converge(s, 10);
	check_net(s, engines[_i].engine, engines[_i].lanes, first);
	scenario_free(s);
}
END_TEST

/* Whether packets from one host to another pass the same ports in both subnets. */
static bool goes_as_before(const struct subnet *a, const struct subnet *b, uint32_t from,
			   uint32_t to)
{
	const struct fabric *fabric = b->fabric;
	uint16_t lid = fabric->ports[to].lid;
	uint8_t exit;
	uint32_t sw = fabric_leaf(fabric, from, &exit), leaf = fabric_leaf(fabric, to, &exit);

	while (sw != leaf) {
		uint8_t out = routing_port(b->routing, sw, lid);
		uint32_t port = fabric_switch_port(fabric, sw, out);

		if (out != routing_port(a->routing, sw, lid))
			return false;
		sw = fabric->nodes[fabric->ports[fabric->ports[port].peer].node].sw;
	}
	return true;
}

/* Number of pairs of hosts whose SL has changed; none whose route is the same has another SL. */
static unsigned int count_moved(struct net *net, const struct subnet *before)
{
	unsigned int moved = 0;

	for (unsigned int i = 0; i < net->n_hosts; i++)
		for (unsigned int k = 0; k < net->n_hosts; k++) {
			uint32_t from = net->ports[i], to = net->ports[k];
			uint8_t was = 0, is = 0;

			if (i == k)
				continue;
			ck_assert(routing_path_sl(before->routing, before->fabric, from, to, false,
						  &was));
			ck_assert(routing_path_sl(net->subnet->routing, net->subnet->fabric, from,
						  to, false, &is));
			if (was == is)
				continue;
			moved++;
			ck_assert(!goes_as_before(before, net->subnet, from, to) ||
				  !goes_as_before(before, net->subnet, to, from));
		}
	return moved;
}

/* A host asks for its path once, and uses that SL whatever happens to cables elsewhere. */
START_TEST(hosts_keep_the_sl_of_their_path)
{
	struct scenario *s = scenario_new("torus:5x4:1", 2);
	struct net net = {.s = s};
	unsigned int node, port;
	struct subnet *before, *after;

	scenario_option(s, "-R", engines[_i].engine);
	scenario_start(s);
	scenario_converge(s, 10);
	before = slot_take(&daemon_context(s->daemon)->subnet);
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	scenario_converge(s, 10);
	net.subnet = after = slot_take(&daemon_context(s->daemon)->subnet);
	ck_assert_ptr_eq(net.subnet->routing->layered.base, before->routing);
	list_hosts(&net);
	ck_assert_uint_lt(count_moved(&net, before), net.n_hosts * net.n_hosts / 4);
	net_free(&net, before, after);
}
END_TEST

/* Whether another SM takes over then, on the same host or not. */
START_TEST(hosts_keep_the_sl_of_their_path_over_a_restart)
{
	struct scenario *s = scenario_new("torus:5x4:1", 2);
	struct net net = {.s = s};
	unsigned int node, port;
	struct subnet *before, *after;

	scenario_option(s, "-R", engines[_i % 2].engine);
	scenario_start(s);
	scenario_converge(s, 10);
	for (int i = 0; i < _i / 2; i++) {
		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, node, port, false);
		scenario_converge(s, 10);
	}
	before = slot_take(&daemon_context(s->daemon)->subnet);
	scenario_stop(s);
	scenario_start(s);
	scenario_converge(s, 10);
	net.subnet = after = slot_take(&daemon_context(s->daemon)->subnet);
	list_hosts(&net);
	ck_assert_uint_eq(count_moved(&net, before), 0);
	net_free(&net, before, after);
}
END_TEST

/* ---- changes that no order of tables covers ---- */

/* Whether packets may pass from one port of a switch to another one. */
static bool is_turn(const struct routing *routing, uint32_t sw, unsigned int in, unsigned int out)
{
	const struct fabric *fabric = routing->fabric;
	uint32_t to = fabric->ports[fabric_switch_port(fabric, sw, out)].peer;

	return to != FABRIC_NONE && fabric_is_switch(fabric, fabric->ports[to].node) &&
	       (!in || fabric->ports[fabric_switch_port(fabric, sw, in)].peer != FABRIC_NONE);
}

static bool turns_differ(const struct routing *a, const struct routing *b, uint32_t sw)
{
	unsigned int width = a->lanes->turns->width[sw];

	for (unsigned int in = 0; in < width; in++)
		for (unsigned int out = 1; out < width; out++)
			for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
				if (a->lanes->sls >> sl & 1 && b->lanes->sls >> sl & 1 &&
				    is_turn(a, sw, in, out) && is_turn(b, sw, in, out) &&
				    route_lanes_vl(a->lanes, sw, in, out, sl) !=
					    route_lanes_vl(b->lanes, sw, in, out, sl))
					return true;
	return false;
}

/*
 * Whether any two switches have another SL, or any switch other maps where packets may have passed
 * before, by the routings themselves.
 */
static bool lanes_differ(const struct routing *a, const struct routing *b)
{
	const struct route_lanes *x = a->lanes, *y = b->lanes;
	uint32_t n = a->n_switches;

	if (!y)
		return x != NULL; /* hosts use the lanes that are given up */
	ck_assert_ptr_nonnull(x);
	ck_assert_uint_eq(n, b->n_switches); /* nodes are in the same order */
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (i != j && route_lanes_sl(x, i, j) != route_lanes_sl(y, i, j))
				return true;
	if (!x->turns)
		return memcmp(x->vl, y->vl, (size_t)x->first + x->n) != 0;
	for (uint32_t sw = 0; sw < n; sw++)
		if (turns_differ(a, b, sw))
			return true;
	return false;
}

static unsigned int lines_with(const struct scenario *s, const char *text)
{
	unsigned int n = 0;

	for (const char *at = s->text->str; (at = strstr(at, text)); at++)
		n++;
	return n;
}

#define EXPOSED "may deadlock"
#define CUTS 6

/* Each change of SLs or maps is logged, and no other; nor is a start, before any host sends. */
START_TEST(changes_that_may_deadlock_are_told)
{
	struct scenario *s = scenario_new("torus:5x4:1", 3);
	struct subnet *before, *after;
	unsigned int node, port, told = 0, now;

	scenario_option(s, "-R", engines[_i].engine);
	if (engines[_i].option)
		scenario_option(s, engines[_i].option, engines[_i].value);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s, EXPOSED, false);
	for (unsigned int cut = 0; cut < CUTS; cut++) {
		before = slot_take(&daemon_context(s->daemon)->subnet);
		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, node, port, false);
		scenario_converge(s, 10);
		after = slot_take(&daemon_context(s->daemon)->subnet);
		now = lines_with(s, EXPOSED);
		if (before->routing->engine == after->routing->engine &&
		    before->fabric->n_switches == after->fabric->n_switches)
			ck_assert_msg(now == told || routing_has_turns(after->routing) ||
					      lanes_differ(before->routing, after->routing),
				      "cut %u: %u lines, were %u", cut, now, told);
		ck_assert(!now == !after->exposed || engines[_i].lanes);
		told = now;
		subnet_unref(before);
		subnet_unref(after);
	}
	if (!strcmp(engines[_i].engine, "dfsssp") || !strcmp(engines[_i].engine, "hoplanes"))
		ck_assert_uint_gt(told, 0);
	scenario_free(s);
}
END_TEST

/* Routes without lanes, or on one: the promise covers every change of them. */
START_TEST(one_lane_is_covered)
{
	static const char *const covered[] = {"minhop", "updn", "sssp", "nue", "ftree"};
	struct scenario *s = scenario_new(_i % 2 ? "torus:5x4:1" : "fattree:4", 3);
	unsigned int node, port;

	scenario_option(s, "-R", covered[_i / 2]);
	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int cut = 0; cut < CUTS / 2; cut++) {
		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, node, port, false);
		scenario_converge(s, 10);
	}
	scenario_check_log(s, EXPOSED, false);
	scenario_free(s);
}
END_TEST

/* The next SM, on the same tables with the same SLs, changes nothing. */
START_TEST(a_restart_is_covered)
{
	struct scenario *s = scenario_new("torus:5x4:1", 3);

	scenario_option(s, "-R", engines[_i].engine);
	if (engines[_i].option)
		scenario_option(s, engines[_i].option, engines[_i].value);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_stop(s);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s, EXPOSED, false);
	scenario_free(s);
}
END_TEST

/* ---- links of hosts ---- */

#define LEVELS "\x00\x00\x00\x00\x11\x11\x11\x11" /* SL 8 to 15 on VL 1 */

static const struct {
	const char *conf, *host; /* the row of hosts */
} ends[] = {
	{"qos FALSE\n", LEVELS},
	{"qos TRUE\nqos_ca_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n", LEVELS},
	{"qos TRUE\nqos_ca_max_vls 2\n", LEVELS},
	{"qos TRUE\nqos_ca_max_vls 1\n", "\0\0\0\0\0\0\0"},
};

/* Between a host and its switch, both ways and from every port, the QoS level selects the lane. */
START_TEST(hosts_have_a_lane_a_level)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	g_autofree char *torus = torus_file(s);
	unsigned int n = 0;

	scenario_conf(s, ends[_i].conf);
	scenario_option(s, "-R", "torus-2QoS");
	scenario_option(s, "--torus_config", torus);
	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;
		unsigned int sw, out;

		sim_node_view(s->sim, node, &view);
		if (view.type == IBA_NODE_SWITCH || !sim_peer(s->sim, node, 1, &sw, &out))
			continue;
		ck_assert_mem_eq(sim_sl_to_vl(s->sim, node, 1, 0), ends[_i].host, 8);
		sim_node_view(s->sim, sw, &view);
		for (unsigned int in = 0; in <= view.num_ports; in++)
			if (!in || sim_link_up(s->sim, sw, in))
				ck_assert_mem_eq(sim_sl_to_vl(s->sim, sw, out, in), LEVELS, 8);
		n++;
	}
	ck_assert_uint_eq(n, 20);
	scenario_check_log(s, "qos_ca_sl2vl maps SL 1,2,3,4,5,6,7,8,10,11,12,13,14,15 to ",
			   _i == 1);
	scenario_free(s);
}
END_TEST

/* ---- engines that follow each other ---- */

/* Whether the cable of a port is up and leads to a switch. */
static bool leads_to_switch(const struct scenario *s, unsigned int node, unsigned int port)
{
	struct sim_node_view view;
	unsigned int peer, peer_port;

	if (!sim_link_up(s->sim, node, port) || !sim_peer(s->sim, node, port, &peer, &peer_port))
		return false;
	sim_node_view(s->sim, peer, &view);
	return view.type == IBA_NODE_SWITCH;
}

/* Number of different tables that map SLs from cable to cable. */
static guint count_maps(const struct scenario *s)
{
	g_autoptr(GHashTable) maps = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
							   (GDestroyNotify)g_bytes_unref, NULL);

	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		for (unsigned int i = 0; i < view.num_ports * view.num_ports; i++) {
			unsigned int in = 1 + i % view.num_ports, out = 1 + i / view.num_ports;

			if (view.type == IBA_NODE_SWITCH && in != out &&
			    leads_to_switch(s, node, in) && leads_to_switch(s, node, out))
				g_hash_table_add(
					maps, g_bytes_new(sim_sl_to_vl(s->sim, node, out, in), 8));
		}
	}
	return g_hash_table_size(maps);
}

/* Where the next engine uses other lanes, no switch keeps the former ones. */
START_TEST(lanes_are_given_up)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	g_autofree char *torus = torus_file(s);

	scenario_conf(s, _i ? "qos TRUE\n" : "qos FALSE\n");
	scenario_option(s, "-R", "torus-2QoS");
	scenario_option(s, "--torus_config", torus);
	scenario_start(s);
	scenario_converge(s, 10);
	ck_assert_uint_gt(count_maps(s), 1);
	scenario_conf(s, _i ? "qos TRUE\nmax_op_vls 1\n" : "qos FALSE\nmax_op_vls 1\n");
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	scenario_converge(s, 10);
	ck_assert(strstr(s->text->str, "falling back"));
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, sweeps_heavy), 2);
	ck_assert_uint_eq(count_maps(s), 1);
	scenario_free(s);
}
END_TEST

/* A switch that was cut off then, and kept its tables, is updated when it is back. */
START_TEST(lanes_of_a_switch_that_was_away)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	unsigned int away = scenario_node(s, "switch-2-2");
	g_autofree char *wrong = NULL;

	scenario_option(s, "-R", "hoplanes");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_set_links(s, away, false);
	scenario_converge(s, 10);
	scenario_conf(s, "max_op_vls 1\n");
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	scenario_converge(s, 10);
	scenario_check_log(s, "falling back", true);
	scenario_set_links(s, away, true);
	scenario_converge(s, 10);
	wrong = scenario_lanes_violation(s);
	ck_assert_msg(!wrong, "%s", wrong);
	scenario_free(s);
}
END_TEST

/* A path on an SL other than that of its lane does not exist. */
START_TEST(other_sls_are_refused)
{
	struct scenario *s = scenario_new("torus:5:1", 1);
	unsigned int found = 0, port, host = 0;
	struct sim_node_view view;
	struct subnet *subnet;
	struct client *client;
	struct iba_path_record path;

	scenario_option(s, "-R", "lash");
	scenario_option(s, "--lash_start_vl", "1");
	scenario_start(s);
	scenario_converge(s, 10);
	sim_node_view(s->sim, host, &view);
	while (view.type != IBA_NODE_CA || host == scenario_sm_node(s, &port))
		sim_node_view(s->sim, ++host, &view);
	client = client_new(s, host);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	for (uint8_t sl = 0; sl < 16; sl++) {
		path = (struct iba_path_record){
			.sgid = client_gid(client),
			.dgid = {IBA_DEFAULT_GID_PREFIX, subnet->sm_guid},
			.numb_path = 1,
			.sl = sl,
		};
		found += client_ask(client, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
				    IBA_COMPONENT(path_record, sgid) |
					    IBA_COMPONENT(path_record, dgid) |
					    IBA_COMPONENT(path_record, numb_path) |
					    IBA_COMPONENT(path_record, sl),
				    &iba_path_record_type, &path) == 0;
	}
	ck_assert_uint_eq(found, 1);
	subnet_unref(subnet);
	client_free(client);
	scenario_free(s);
}
END_TEST

/* One lane is not enough: the number needed is logged, and an allowed engine takes over. */
START_TEST(too_few_lanes)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	struct subnet *subnet;

	scenario_option(s, "-R", "dfsssp");
	scenario_conf(s, "max_op_vls 1\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s, "dfsssp: paths free of credit loops take ", true);
	scenario_check_log(s, "falling back to routing engine updn", true);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	ck_assert_str_eq(subnet->routing->engine->name, "updn");
	ck_assert_ptr_nonnull(subnet->fallback);
	subnet_unref(subnet);
	scenario_free(s);
}
END_TEST

/* The operator gives SLs other lanes than the routes need: logged, and the routes' lanes stay. */
START_TEST(conflict_with_qos)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);

	scenario_option(s, "-R", "lash");
	scenario_conf(s, "qos TRUE\nqos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s, "opensm.conf:2: qos_sl2vl maps SL 1", true);
	scenario_check_log(s, " to other VLs than routing engine lash (command line) needs", true);
	check_net(s, "lash", true, 0);
	scenario_free(s);
}
END_TEST

#define SCOPE(lines, table) "sl2vl-scope\n" lines "\nsl2vl-table: " table "\nend-sl2vl-scope\n"

/*
 * As above by scopes: the one that applies to some port between switches is logged with its line;
 * those that do not apply, or only ask for what the routes need, are not.
 */
START_TEST(conflict_with_scopes)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	g_autofree char *file = g_build_filename(s->directory, "qos-policy.conf", NULL);
	g_autofree char *conf =
		g_strdup_printf("routing_engine lash\nqos TRUE\nqos_policy_file %s\n", file);

	ck_assert(g_file_set_contents(
		file,
		"port-groups\nport-group\nname: CAs\nnode-type: CA\nend-port-group\n"
		"port-group\nname: switches\nnode-type: SWITCH\nend-port-group\n"
		"end-port-groups\nqos-setup\nsl2vl-tables\n" SCOPE(
			"across-to: CAs", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0")
			SCOPE("group: switches\nacross-to: switches\nfrom: 1",
			      "0,0,2,3,4,5,6,7,0,1,2,3,4,5,6,7")
				SCOPE("group: switches\nacross-to: switches\nfrom: 2",
				      "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7") "end-sl2vl-tables\nend-"
									 "qos-setup\nqos-"
									 "ulps\ndefault: "
									 "0\nend-qos-ulps\n",
		-1, NULL));
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s,
			   "qos-policy.conf:17: this sl2vl-scope maps SL 1 to other VLs than "
			   "routing engine lash (",
			   true);
	scenario_check_log(s, "opensm.conf:1) needs: it is overruled for these SLs in ", true);
	scenario_check_log(s, "qos-policy.conf:13: this", false);
	scenario_check_log(s, "qos-policy.conf:23: this", false);
	g_string_truncate(s->text, 0);
	scenario_heavy_sweep(s, 10);
	scenario_check_log(s, "this sl2vl-scope", false);
	check_net(s, "lash", true, 0);
	scenario_free(s);
}
END_TEST

static unsigned int entries_of(const struct subnet *subnet, uint32_t sw, uint8_t port)
{
	unsigned int n = 0;

	for (uint32_t lid = 1; lid <= subnet->fabric->max_lid; lid++)
		n += routing_port(subnet->routing, sw, lid) == port;
	return n;
}

/* Number of LIDs that both ends of a cable between switches send over it. */
static unsigned int entries_over(struct scenario *s, uint64_t guid, unsigned int port)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	const struct fabric *fabric = subnet->fabric;
	uint32_t node = fabric_node_by_guid(fabric, guid);
	uint32_t end = fabric_port_of(fabric, node, port), peer = fabric->ports[end].peer;
	unsigned int n = 0;

	ck_assert_uint_ne(peer, FABRIC_NONE);
	n += entries_of(subnet, fabric->nodes[node].sw, port);
	n += entries_of(subnet, fabric->nodes[fabric->ports[peer].node].sw,
			fabric->ports[peer].num);
	subnet_unref(subnet);
	return n;
}

static const char *const avoiding[] = {"sssp", "dfsssp", "nue", "lash", "hoplanes"};

/* A cable that trains at 1X is not used any more, until it runs as it should. */
START_TEST(throttled_links_are_avoided)
{
	struct scenario *s = scenario_new("torus:5x4:1", 1);
	unsigned int node, port;
	struct sim_node_view view;

	scenario_option(s, "-R", avoiding[_i]);
	scenario_conf(s, "avoid_throttled_links TRUE\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_random_link(s, &node, &port);
	sim_node_view(s->sim, node, &view);
	ck_assert_uint_gt(entries_over(s, view.node_guid, port), 0);
	ck_assert(sim_link_degrade(s->sim, node, port, 1, 212500));
	scenario_converge(s, 10);
	ck_assert_uint_eq(entries_over(s, view.node_guid, port), 0);
	scenario_check_log(s, "1 carry no paths, and 0 do", true);
	if (strcmp(avoiding[_i], "sssp")) /* that one has credit loops */
		check_net(s, avoiding[_i], strcmp(avoiding[_i], "nue"), 0);
	ck_assert(sim_link_degrade(s->sim, node, port, 12, 212500));
	scenario_converge(s, 10);
	ck_assert_uint_gt(entries_over(s, view.node_guid, port), 0);
	scenario_free(s);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("lanes");
	Suite *suite = suite_create("lanes");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, hosts_get_the_lane_of_their_path, 0, G_N_ELEMENTS(engines));
	tcase_add_loop_test(tcase, hosts_keep_the_sl_of_their_path, 0, 2);
	tcase_add_loop_test(tcase, hosts_keep_the_sl_of_their_path_over_a_restart, 0, 6);
	tcase_add_loop_test(tcase, hosts_have_a_lane_a_level, 0, G_N_ELEMENTS(ends));
	tcase_add_loop_test(tcase, lanes_are_given_up, 0, 2);
	tcase_add_test(tcase, lanes_of_a_switch_that_was_away);
	tcase_add_test(tcase, other_sls_are_refused);
	tcase_add_test(tcase, too_few_lanes);
	tcase_add_test(tcase, conflict_with_qos);
	tcase_add_test(tcase, conflict_with_scopes);
	tcase_add_loop_test(tcase, throttled_links_are_avoided, 0, G_N_ELEMENTS(avoiding));
	tcase_add_loop_test(tcase, changes_that_may_deadlock_are_told, 0,
			    G_N_ELEMENTS(engines) - 1);
	tcase_add_loop_test(tcase, one_lane_is_covered, 0, 10);
	tcase_add_loop_test(tcase, a_restart_is_covered, 0, G_N_ELEMENTS(engines) - 1);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

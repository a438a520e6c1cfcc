// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Forwarding in the simulated fabric: directed, by LID, mixed; faults; determinism; real time. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

static struct sim_config config;

static void setup(void)
{
	sim_config_default(&config);
}

static int get_node_info(struct net *net, unsigned int node, struct iba_node_info *info)
{
	uint8_t data[64] = {0};
	int status = net_direct_ask(net, node, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, data);

	wire_decode(&iba_node_info_type, data, info);
	return status;
}

START_TEST(test_discover)
{
	struct net *net = net_new("fattree:4", NULL);
	struct sim_node_view view;
	struct iba_node_info info;
	struct sim_counters counters;

	for (unsigned int i = 0; i < sim_nodes(net->sim); i++) {
		ck_assert_int_eq(get_node_info(net, i, &info), 0);
		sim_node_view(net->sim, i, &view);
		ck_assert_uint_eq(info.node_guid, view.node_guid);
		ck_assert_uint_eq(info.node_type, view.type);
		ck_assert_uint_eq(info.num_ports, view.num_ports);
	}
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.gets, sim_nodes(net->sim));
	ck_assert_uint_eq(counters.smps, 2 * counters.gets);
	ck_assert_uint_eq(counters.directed_smps, counters.gets - 1); /* own node: 0 hops */
	ck_assert_uint_eq(counters.dropped, 0);
	ck_assert_uint_eq(counters.outstanding_max, 1);
	net_free(net);
}
END_TEST

/* As with the devices of a host: without a GUID, the first port that has a cable. */
START_TEST(test_first_port)
{
	struct net *net = net_new_text("Switch 4 \"S\"\n[1] \"A\"[2]\n[2] \"B\"[1]\n"
				       "Ca 1 \"Z\"\n"
				       "Ca 2 \"A\"\n[2] \"S\"[1]\n"
				       "Ca 1 \"B\"\n[1] \"S\"[2]\n");

	ck_assert_str_eq(vendor_name(net->vendor), "sim A port 2");
	net_free(net);
}
END_TEST

START_TEST(test_return_path)
{
	struct net *net = net_new("mesh:5", NULL);
	unsigned int far = sim_find_name(net->sim, "switch-4");
	uint8_t smp[256];
	struct vendor_mad *mad;

	net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	net_direct(net, smp, far);
	mad = net_ask(net, IBA_LID_PERMISSIVE, smp);
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	ck_assert_uint_eq(mad->data[4] & 0x80, 0x80);
	ck_assert_uint_eq(mad->data[6], 0);	  /* hop pointer back at the start */
	ck_assert_uint_eq(mad->data[192 + 1], 1); /* into switch-0 through its host port */
	for (unsigned int i = 2; i <= 5; i++)
		ck_assert_uint_eq(mad->data[192 + i], 3); /* through its minus port */
	ck_assert_uint_eq(mad->remote.lid, IBA_LID_PERMISSIVE);
	vendor_mad_free(mad);
	net_free(net);
}
END_TEST

/* Wrong ports, hop counts and pointers lead nowhere, and crash nothing. */
START_TEST(test_bad_paths)
{
	static const struct {
		uint8_t pointer, count, ports[3];
	} bad[] = {
		{0, 1, {2}},	  {0, 1, {0}},	     {0, 2, {1, 0}},	 {0, 2, {1, 77}},
		{0, 2, {1, 255}}, {0, 3, {1, 2, 1}}, {0, 64, {1, 3, 3}}, {0, 255, {1}},
		{9, 2, {1, 3}},	  {255, 255, {1}},
	};
	struct net *net = net_new("fattree:4", NULL);
	struct sim_counters counters;

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		uint8_t smp[256];
		struct vendor_mad *mad;

		net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
		smp[6] = bad[i].pointer;
		smp[7] = bad[i].count;
		memcpy(smp + 129, bad[i].ports, 3);
		mad = net_ask(net, IBA_LID_PERMISSIVE, smp);
		ck_assert_int_eq(mad->status, VENDOR_TIMED_OUT);
		ck_assert_mem_eq(mad->data + 16, smp + 16, 8);
		vendor_mad_free(mad);
	}
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.dropped, G_N_ELEMENTS(bad));
	net_free(net);
}
END_TEST

START_TEST(test_bring_up)
{
	struct net *net = net_new("fattree:4", NULL);

	net_bring_up(net);
	for (unsigned int i = 0; i < sim_nodes(net->sim); i++) {
		struct iba_node_info info;
		struct sim_node_view view;
		uint8_t data[64] = {0};

		sim_node_view(net->sim, i, &view);
		ck_assert_int_eq(
			net_lid_ask(net, net_lid(i), IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, data),
			0);
		wire_decode(&iba_node_info_type, data, &info);
		ck_assert_uint_eq(info.node_guid, view.node_guid);
	}
	ck_assert_int_eq(net_lid_ask(net, 0x7777, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, NULL), -1);
	net_free(net);
}
END_TEST

static void set_route(struct net *net, unsigned int node, uint16_t lid, uint8_t port)
{
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE,
					lid / 64, data),
			 0);
	data[lid % 64] = port;
	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE,
					lid / 64, data),
			 0);
}

static int ask_node(struct net *net, unsigned int node)
{
	return net_lid_ask(net, net_lid(node), IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, NULL);
}

/* A wrong entry anywhere on the way loses the packet: there, and on the way back. */
START_TEST(test_wrong_lft)
{
	struct net *net = net_new("mesh:4", NULL);
	unsigned int middle = sim_find_name(net->sim, "switch-1");
	unsigned int far = sim_find_name(net->sim, "switch-3");
	uint16_t lid = net_lid(far);
	struct sim_counters before, after;

	net_bring_up(net);
	ck_assert_int_eq(ask_node(net, far), 0);
	sim_counters(net->sim, &before);
	set_route(net, middle, lid, 0xFF);
	ck_assert_int_eq(ask_node(net, far), -1);
	set_route(net, middle, lid, 77);
	ck_assert_int_eq(ask_node(net, far), -1);
	set_route(net, middle, lid, 0); /* not its own LID */
	ck_assert_int_eq(ask_node(net, far), -1);
	set_route(net, middle, lid, 3); /* back where it came from */
	ck_assert_int_eq(ask_node(net, far), -1);
	set_route(net, middle, lid, 1); /* to a host that it is not for */
	ck_assert_int_eq(ask_node(net, far), -1);
	set_route(net, middle, lid, 2);
	ck_assert_int_eq(ask_node(net, far), 0);
	set_route(net, far, net_lid(net->self), 0xFF); /* no way back */
	ck_assert_int_eq(ask_node(net, far), -1);
	sim_counters(net->sim, &after);
	ck_assert_uint_eq(after.dropped - before.dropped, 6);
	net_free(net);
}
END_TEST

/* A loop in the tables ends; LinearFDBTop bounds the table. */
START_TEST(test_loop_and_top)
{
	struct net *net = net_new("torus:4", NULL);
	unsigned int far = sim_find_name(net->sim, "host-2");
	uint8_t data[64] = {0};
	struct iba_switch_info info;

	net_bring_up(net);
	ck_assert_int_eq(ask_node(net, far), 0);
	for (unsigned int i = 0; i < 4; i++)
		set_route(net, i, net_lid(far), 2); /* round and round */
	ck_assert_int_eq(ask_node(net, far), -1);
	for (unsigned int i = 0; i < 4; i++)
		set_route(net, i, net_lid(far), i == 2 ? 1 : 2);
	ck_assert_int_eq(ask_node(net, far), 0);
	net_direct_ask(net, 1, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO, 0, data);
	wire_decode(&iba_switch_info_type, data, &info);
	info.linear_fdb_top = net_lid(far) - 1;
	wire_encode(&iba_switch_info_type, &info, data);
	net_direct_ask(net, 1, IBA_METHOD_SET, IBA_ATTR_SWITCH_INFO, 0, data);
	ck_assert_int_eq(ask_node(net, far), -1);
	net_free(net);
}
END_TEST

/* LID-routed to a switch, then one directed hop, as the SM programs a switch without LID routes. */
static int ask_mixed(struct net *net, unsigned int by, uint8_t out)
{
	uint8_t smp[256];
	struct vendor_mad *mad;
	int status;

	net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	smp[7] = 1;
	smp[32] = net_lid(net->self) >> 8;
	smp[33] = net_lid(net->self);
	smp[129] = out;
	mad = net_ask(net, net_lid(by), smp);
	status = mad->status == VENDOR_RECEIVED ? 0 : -1;
	if (!status)
		ck_assert_uint_eq(mad->remote.lid, net_lid(by));
	vendor_mad_free(mad);
	return status;
}

START_TEST(test_mixed)
{
	struct net *net = net_new("mesh:4", NULL);
	unsigned int by = sim_find_name(net->sim, "switch-2");
	struct sim_counters before, after;

	net_bring_up(net);
	sim_counters(net->sim, &before);
	ck_assert_int_eq(ask_mixed(net, by, 2), 0);
	sim_counters(net->sim, &after);
	ck_assert_uint_eq(after.directed_hops - before.directed_hops, 1);
	ck_assert_uint_eq(after.directed_smps - before.directed_smps, 1);
	ck_assert_int_eq(ask_mixed(net, by, 17), -1);
	net_free(net);

	config.mixed_routing = false;
	net = net_new("mesh:4", &config);
	net_bring_up(net);
	sim_counters(net->sim, &before);
	ck_assert_int_eq(ask_mixed(net, by, 2), -1);
	sim_counters(net->sim, &after);
	ck_assert_uint_eq(after.gets, before.gets); /* not even the request arrived */
	net_free(net);
}
END_TEST

/* Directed to a switch, then LID-routed to the end, and back the same way. */
START_TEST(test_mixed_tail)
{
	struct net *net = net_new("mesh:4", NULL);
	unsigned int by = sim_find_name(net->sim, "switch-1");
	unsigned int far = sim_find_name(net->sim, "host-3");
	struct sim_node_view view;
	struct iba_node_info info;
	struct vendor_mad *mad;
	uint8_t smp[256];

	net_bring_up(net);
	net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	net_direct(net, smp, by);
	smp[34] = net_lid(far) >> 8;
	smp[35] = net_lid(far);
	mad = net_ask(net, IBA_LID_PERMISSIVE, smp);
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	wire_decode(&iba_node_info_type, mad->data + 64, &info);
	sim_node_view(net->sim, far, &view);
	ck_assert_uint_eq(info.node_guid, view.node_guid);
	vendor_mad_free(mad);
	net_free(net);
}
END_TEST

START_TEST(test_loss)
{
	struct net *net;
	struct sim_counters counters;
	unsigned int answered = 0;
	uint8_t smp[256];
	const struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};
	struct vendor_mad *mad;

	config.loss = 0.2;
	config.seed = 5;
	net = net_new("fattree:4", &config);
	for (unsigned int i = 0; i < 2000; i++) {
		net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
		net_direct(net, smp, i % sim_nodes(net->sim));
		ck_assert(vendor_send(net->vendor, &to, smp, 256, NET_TIMEOUT_MS));
	}
	for (unsigned int i = 0; i < 2000; i++) {
		mad = net_take(net, 2 * NET_TIMEOUT_MS);
		ck_assert_ptr_nonnull(mad);
		answered += mad->status == VENDOR_RECEIVED;
		vendor_mad_free(mad);
	}
	sim_counters(net->sim, &counters);
	/* 0.8 * 0.8 of 2000 is 1280, sigma 21. */
	ck_assert_uint_ge(answered, 1190);
	ck_assert_uint_le(answered, 1370);
	ck_assert_uint_eq(counters.lost, 2000 - answered);
	sim_set_loss(net->sim, 0);
	ck_assert_int_eq(net_direct_ask(net, 3, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	net_free(net);
}
END_TEST

/* Every packet twice: one answer each, the late one dropped. */
START_TEST(test_duplicate)
{
	struct net *net;
	struct sim_counters counters;

	config.duplicate = 1;
	net = net_new("fattree:4", &config);
	ck_assert_int_eq(net_direct_ask(net, 9, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	net_run_ms(net, 1000);
	ck_assert_ptr_null(net_take(net, 0));
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.gets, 2);
	ck_assert_uint_eq(counters.mads_received, 1);
	ck_assert_uint_eq(counters.dropped, 3);
	net_free(net);
}
END_TEST

/* Time: links both ways, and every SMA that handles the packet, one after the other. */
START_TEST(test_latency)
{
	struct net *net;
	unsigned int far;

	config.hop_ns = 1000;
	config.sma_ns = 20000;
	net = net_new("mesh:4", &config);
	far = sim_find_name(net->sim, "switch-3");
	ck_assert_int_eq(net_direct_ask(net, far, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	/* 4 hops each way; switches 0, 1, 2 handle it twice, switch 3 once. */
	ck_assert_uint_eq(runtime_now(net->rt), 8 * 1000 + 7 * 20000);
	net_free(net);

	net = net_new("mesh:4", &config);
	net_bring_up(net);
	uint64_t start = runtime_now(net->rt);

	ck_assert_int_eq(ask_node(net, far), 0);
	/* By LID only the last one's SMA has to handle it. */
	ck_assert_uint_eq(runtime_now(net->rt) - start, 8 * 1000 + 20000);
	net_free(net);
}
END_TEST

START_TEST(test_serial_sma)
{
	const struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};
	struct net *net;
	struct sim_counters counters;
	uint8_t smp[256];

	config.hop_ns = 100;
	config.sma_ns = 10000;
	net = net_new("mesh:1", &config);
	for (unsigned int i = 0; i < 10; i++) {
		net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
		net_direct(net, smp, 0);
		vendor_send(net->vendor, &to, smp, 256, NET_TIMEOUT_MS);
	}
	for (unsigned int i = 1; i <= 10; i++) {
		struct vendor_mad *mad = net_take(net, 1000);

		ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
		ck_assert_uint_eq(runtime_now(net->rt), 200 + 10000 * i);
		vendor_mad_free(mad);
	}
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.outstanding_max, 10);
	net_free(net);
}
END_TEST

static uint64_t digest_of(uint64_t seed)
{
	struct net *net;
	uint64_t digest;

	config.seed = seed;
	config.loss = 0.05;
	config.duplicate = 0.05;
	config.hop_ns = 300;
	config.sma_ns = 4000;
	config.jitter_ns = 5000;
	net = net_new("fattree:4", &config);
	for (unsigned int i = 0; i < 300; i++)
		net_direct_ask(net, i % sim_nodes(net->sim), IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0,
			       NULL);
	digest = sim_trace_digest(net->sim);
	net_free(net);
	return digest;
}

START_TEST(test_deterministic)
{
	ck_assert_uint_eq(digest_of(7), digest_of(7));
	ck_assert_uint_ne(digest_of(7), digest_of(8));
}
END_TEST

/* ---- a real runtime ---- */

struct flood {
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct message start;
	struct vendor *vendor;
	unsigned int left, flying, received, timed_out;
	uint8_t smp[256];
};

static void flood_send(struct flood *flood)
{
	const struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};

	while (flood->left && flood->flying < 64) {
		flood->smp[12] = flood->left >> 24;
		flood->smp[13] = flood->left >> 16;
		flood->smp[14] = flood->left >> 8;
		flood->smp[15] = flood->left;
		flood->left--;
		flood->flying++;
		vendor_send(flood->vendor, &to, flood->smp, 256, 30000);
	}
}

static void flood_receive(void *arg, struct vendor_mad *mad)
{
	struct flood *flood = arg;

	flood->flying--;
	if (mad->status == VENDOR_RECEIVED)
		flood->received++;
	else
		flood->timed_out++;
	vendor_mad_free(mad);
	flood_send(flood);
	if (!flood->flying && !flood->left) {
		pthread_mutex_lock(&flood->lock);
		pthread_cond_signal(&flood->done);
		pthread_mutex_unlock(&flood->lock);
	}
}

static void flood_start(struct message *message)
{
	flood_send(container_of(message, struct flood, start));
}

/* Part of the flood. */
static void flood_drop(struct message *message)
{
	(void)message;
}

struct real {
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	struct sim *sim;
	struct actor *actor;
	struct flood flood;
};

static void real_start(struct real *real, unsigned int requests)
{
	struct net net = {0};
	struct vendor_client client;
	uint8_t *smp = real->flood.smp;

	*real = (struct real){.rt = runtime_new(RUNTIME_REAL), .log = log_new_null()};
	real->topology = topology_load("fattree:4", NULL);
	real->actor = actor_new(real->rt, "client");
	real->flood.left = requests;
	real->flood.start.run = flood_start;
	real->flood.start.drop = flood_drop;
	real->sim = sim_new(real->rt, real->log, real->topology, &config);
	sim_start(real->sim);
	real->flood.vendor = sim_open(real->sim, 0, NULL);
	client = (struct vendor_client){real->actor, &real->flood, flood_receive};
	ck_assert(vendor_bind(real->flood.vendor, IBA_CLASS_SUBN_DIRECTED, false, &client, NULL));
	net_smp(&net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, 0);
	smp[7] = 3;
	smp[129] = 1;
	smp[130] = 3;
	smp[131] = 3;
	pthread_mutex_init(&real->flood.lock, NULL);
	pthread_cond_init(&real->flood.done, NULL);
	actor_start(real->actor);
}

static void real_stop(struct real *real)
{
	actor_stop(real->actor);
	sim_free(real->sim);
	actor_free(real->actor);
	topology_free(real->topology);
	runtime_free(real->rt);
	log_free(real->log);
}

START_TEST(test_real)
{
	static const unsigned int requests = 100000;
	struct real real;
	gint64 begin;

	real_start(&real, requests);
	begin = g_get_monotonic_time();
	pthread_mutex_lock(&real.flood.lock);
	actor_post(real.actor, &real.flood.start);
	pthread_cond_wait(&real.flood.done, &real.flood.lock);
	pthread_mutex_unlock(&real.flood.lock);
	printf("real runtime: %.0f requests a second\n",
	       requests * 1e6 / (double)(g_get_monotonic_time() - begin));
	ck_assert_uint_eq(real.flood.received, requests);
	ck_assert_uint_eq(real.flood.timed_out, 0);
	vendor_close(real.flood.vendor);
	real_stop(&real);
}
END_TEST

/* From another thread, in the middle of it: the flood ends, nothing breaks. */
START_TEST(test_real_close)
{
	for (unsigned int round = 0; round < 20; round++) {
		struct real real;

		real_start(&real, 100000000);
		actor_post(real.actor, &real.flood.start);
		g_usleep(round * 200);
		vendor_close(real.flood.vendor);
		g_usleep(1000);
		real_stop(&real);
		ck_assert_uint_gt(real.flood.left, 0);
		ck_assert_uint_le(real.flood.flying, 64);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_discover);
	tcase_add_test(tcase, test_first_port);
	tcase_add_test(tcase, test_return_path);
	tcase_add_test(tcase, test_bad_paths);
	tcase_add_test(tcase, test_bring_up);
	tcase_add_test(tcase, test_wrong_lft);
	tcase_add_test(tcase, test_loop_and_top);
	tcase_add_test(tcase, test_mixed);
	tcase_add_test(tcase, test_mixed_tail);
	tcase_add_test(tcase, test_loss);
	tcase_add_test(tcase, test_duplicate);
	tcase_add_test(tcase, test_latency);
	tcase_add_test(tcase, test_serial_sma);
	tcase_add_test(tcase, test_deterministic);
	tcase_add_test(tcase, test_real);
	tcase_add_test(tcase, test_real_close);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}

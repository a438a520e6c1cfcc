// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Clients of the simulated fabric: which of them gets what, traps, GMPs, P_Keys. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

static struct net *net;
static unsigned int sw, other;

static void setup(void)
{
	net = net_new("fattree:4", NULL);
	sw = sim_find_name(net->sim, "leaf-0-0");
	other = sim_find_name(net->sim, "host-9");
	net_bring_up(net);
}

static void teardown(void)
{
	net_free(net);
}

/* A second client, at any port. */
struct peer {
	struct vendor *vendor;
	struct vendor_client client;
	GQueue mads;
};

static void peer_receive(void *arg, struct vendor_mad *mad)
{
	g_queue_push_tail(&((struct peer *)arg)->mads, mad);
}

static void peer_open(struct peer *peer, unsigned int node)
{
	g_autoptr(GError) error = NULL;

	memset(peer, 0, sizeof(*peer));
	peer->vendor = sim_open(net->sim, sim_port_guid(net->sim, node, 1), &error);
	ck_assert_msg(peer->vendor != NULL, "%s", error ? error->message : "?");
	peer->client = (struct vendor_client){net->actor, peer, peer_receive};
}

static bool peer_bind(struct peer *peer, uint8_t mgmt_class, bool manager)
{
	g_autoptr(GError) error = NULL;
	bool done = vendor_bind(peer->vendor, mgmt_class, manager, &peer->client, &error);

	ck_assert(done || g_error_matches(error, VENDOR_ERROR, VENDOR_ERROR_BUSY));
	return done;
}

static struct vendor_mad *peer_take(struct peer *peer)
{
	net_run_ms(net, 1);
	return g_queue_pop_head(&peer->mads);
}

static void peer_close(struct peer *peer)
{
	struct vendor_mad *mad;

	vendor_close(peer->vendor);
	while ((mad = g_queue_pop_head(&peer->mads)))
		vendor_mad_free(mad);
}

static uint32_t gmp(uint8_t mad[256], uint8_t method)
{
	struct iba_mad_header header = {
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = IBA_CLASS_PERF,
		.class_version = 1,
		.method = method,
		.transaction_id = ++net->tid,
		.attribute_id = 0x12,
	};

	memset(mad, 0, 256);
	wire_encode(&iba_mad_header_type, &header, mad);
	return net->tid;
}

static const struct vendor_address *to_qp1(uint16_t lid)
{
	static __thread struct vendor_address to;

	to = (struct vendor_address){.lid = lid, .qpn = 1, .qkey = IBA_QP1_Q_KEY};
	return &to;
}

/* ---- demultiplexing ---- */

START_TEST(test_two_clients)
{
	struct peer second;
	const struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};
	uint8_t smp[256];
	struct vendor_mad *mad;

	peer_open(&second, net->self);
	ck_assert(!peer_bind(&second, IBA_CLASS_SUBN_DIRECTED, true));
	ck_assert(peer_bind(&second, IBA_CLASS_SUBN_DIRECTED, false));
	ck_assert(!peer_bind(&second, IBA_CLASS_SUBN_DIRECTED, false));
	net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	net_direct(net, smp, sw);
	/* One TransactionID from both. */
	ck_assert(vendor_send(second.vendor, &to, smp, 256, 50));
	ck_assert(vendor_send(net->vendor, &to, smp, 256, 50));
	mad = peer_take(&second);
	ck_assert_ptr_nonnull(mad);
	ck_assert_ptr_eq(mad->vendor, second.vendor);
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	vendor_mad_free(mad);
	mad = net_take(net, 0);
	ck_assert_ptr_nonnull(mad);
	ck_assert_ptr_eq(mad->vendor, net->vendor);
	vendor_mad_free(mad);
	ck_assert_ptr_null(peer_take(&second));
	peer_close(&second);
}
END_TEST

START_TEST(test_timeout_and_busy_tid)
{
	const struct vendor_address to = {.lid = 0x5555};
	struct vendor_mad *mad;
	uint8_t smp[256];
	uint64_t start = runtime_now(net->rt);

	net_smp(net, smp, IBA_CLASS_SUBN_LID, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	ck_assert(vendor_send(net->vendor, &to, smp, 256, 70));
	ck_assert(vendor_send(net->vendor, &to, smp, 256, 70));
	mad = net_take(net, 1);
	ck_assert_int_eq(mad->status, VENDOR_FAILED);
	vendor_mad_free(mad);
	mad = net_take(net, 1000);
	ck_assert_int_eq(mad->status, VENDOR_TIMED_OUT);
	ck_assert_uint_eq(runtime_now(net->rt) - start, 70 * NS_PER_MS);
	ck_assert_mem_eq(mad->data + 12, smp + 12, 4);
	ck_assert_uint_eq(mad->remote.lid, 0x5555);
	vendor_mad_free(mad);
}
END_TEST

/* Timeouts reported late: the TransactionID is taken until then, an answer still counts. */
START_TEST(test_timeouts_late)
{
	const struct vendor_address to = {.lid = 0x5555};
	unsigned int late = 0;

	sim_set_timeout_delay(net->sim, 2 * NS_PER_S);
	for (unsigned int i = 0; i < 20; i++) {
		uint64_t start = runtime_now(net->rt);
		struct vendor_mad *mad;
		uint8_t smp[256];

		net_smp(net, smp, IBA_CLASS_SUBN_LID, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
		ck_assert(vendor_send(net->vendor, &to, smp, 256, 70));
		mad = net_take(net, 10000);
		ck_assert_int_eq(mad->status, VENDOR_TIMED_OUT);
		ck_assert_uint_ge(runtime_now(net->rt) - start, 70 * NS_PER_MS);
		ck_assert_uint_le(runtime_now(net->rt) - start, 2070 * NS_PER_MS);
		late += runtime_now(net->rt) - start > 1000 * NS_PER_MS;
		vendor_mad_free(mad);
	}
	ck_assert_uint_gt(late, 3);
	ck_assert_uint_lt(late, 17);
}
END_TEST

START_TEST(test_close_in_flight)
{
	struct peer second;
	const struct vendor_address to = {.lid = 0x5555};
	uint8_t smp[256];

	peer_open(&second, net->self);
	ck_assert(peer_bind(&second, IBA_CLASS_SUBN_LID, false));
	net_smp(net, smp, IBA_CLASS_SUBN_LID, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	ck_assert(vendor_send(second.vendor, &to, smp, 256, 70));
	net_run_ms(net, 10);
	vendor_close(second.vendor);
	net_run_ms(net, 1000);
	ck_assert(g_queue_is_empty(&second.mads));
}
END_TEST

START_TEST(test_open_errors)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(sim_open(net->sim, 0x4711, &error));
	ck_assert(g_error_matches(error, VENDOR_ERROR, VENDOR_ERROR_NO_SUCH_PORT));
	ck_assert_ptr_nonnull(strstr(error->message, "4711"));
}
END_TEST

START_TEST(test_names)
{
	ck_assert_str_eq(vendor_name(net->vendor), "sim host-0 port 1");
	ck_assert_uint_eq(vendor_port_guid(net->vendor), sim_port_guid(net->sim, net->self, 1));
	ck_assert_uint_gt(vendor_max_outstanding(net->vendor), 0);
}
END_TEST

/* ---- SMInfo ---- */

static void answer(struct vendor *vendor, struct vendor_mad *request)
{
	request->data[3] = IBA_METHOD_GET_RESP;
	if (request->data[1] == IBA_CLASS_SUBN_DIRECTED)
		request->data[4] |= 0x80;
	request->data[64] = 0xAB;
	ck_assert(vendor_send(vendor, &request->remote, request->data, 256, 0));
	vendor_mad_free(request);
}

START_TEST(test_sm_info)
{
	uint8_t classes[] = {IBA_CLASS_SUBN_LID, IBA_CLASS_SUBN_DIRECTED};
	uint8_t data[64];
	struct peer sm;

	peer_open(&sm, other);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert(peer_bind(&sm, classes[i], true));
	ck_assert_int_eq(net_direct_ask(net, other, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0, data),
			 IBA_STATUS_UNSUP_METHOD_ATTR);
	ck_assert(vendor_set_is_sm(sm.vendor, true, NULL));
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->capability_mask & IBA_PORT_CAP_SM,
			  IBA_PORT_CAP_SM);
	net_run_ms(net, 100000); /* trap 144 about that: it is not repressed, and ends */
	while (!g_queue_is_empty(&net->mads))
		vendor_mad_free(g_queue_pop_head(&net->mads));
	for (unsigned int i = 0; i < 2; i++) {
		uint16_t lid = i ? IBA_LID_PERMISSIVE : net_lid(other);
		const struct vendor_address to = {.lid = lid};
		struct vendor_mad *mad;
		uint8_t smp[256];

		net_smp(net, smp, classes[i], IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0);
		if (i)
			net_direct(net, smp, other);
		ck_assert(vendor_send(net->vendor, &to, smp, 256, 50));
		mad = peer_take(&sm);
		ck_assert_ptr_nonnull(mad);
		answer(sm.vendor, mad);
		mad = net_take(net, 10);
		ck_assert_ptr_nonnull(mad);
		ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
		ck_assert_uint_eq(mad->data[64], 0xAB);
		vendor_mad_free(mad);
	}
	peer_close(&sm);
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->capability_mask & IBA_PORT_CAP_SM, 0);
}
END_TEST

START_TEST(test_is_sm_once)
{
	struct peer second;
	g_autoptr(GError) error = NULL;

	peer_open(&second, net->self);
	ck_assert(vendor_set_is_sm(net->vendor, true, NULL));
	ck_assert(!vendor_set_is_sm(second.vendor, true, &error));
	ck_assert(g_error_matches(error, VENDOR_ERROR, VENDOR_ERROR_BUSY));
	ck_assert(vendor_set_is_sm(net->vendor, false, NULL));
	ck_assert(vendor_set_is_sm(second.vendor, true, NULL));
	peer_close(&second);
}
END_TEST

/* ---- traps ---- */

static struct vendor_mad *take_trap(uint16_t number, uint16_t lid, uint64_t ms)
{
	struct vendor_mad *mad = net_take(net, ms);
	struct iba_notice notice;

	ck_assert_ptr_nonnull(mad);
	ck_assert_uint_eq(mad->data[1], IBA_CLASS_SUBN_LID);
	ck_assert_uint_eq(mad->data[3], IBA_METHOD_TRAP);
	ck_assert_uint_eq(mad->remote.lid, lid);
	wire_decode(&iba_notice_type, mad->data + 64, &notice);
	ck_assert_uint_eq(notice.is_generic, 1);
	ck_assert_uint_eq(notice.trap_number, number);
	ck_assert_uint_eq(notice.issuer_lid, lid);
	return mad;
}

static void repress(struct vendor_mad *trap)
{
	trap->data[3] = IBA_METHOD_TRAP_REPRESS;
	ck_assert(vendor_send(net->vendor, &trap->remote, trap->data, 256, 0));
	vendor_mad_free(trap);
}

START_TEST(test_trap_128)
{
	unsigned int far = sim_find_name(net->sim, "leaf-3-1"), peer, peer_port;
	struct vendor_mad *trap;
	struct sim_counters counters;

	/* Its host: only the leaf has something to report. */
	ck_assert(sim_peer(net->sim, far, 1, &peer, &peer_port));
	ck_assert(sim_link_set(net->sim, far, 1, false));
	trap = take_trap(128, net_lid(far), 1000);
	ck_assert_uint_eq(trap->data[64 + 10] << 8 | trap->data[64 + 11], net_lid(far));
	vendor_mad_free(trap);
	/* Repeated until repressed, under the same TransactionID. */
	trap = take_trap(128, net_lid(far), 10000);
	repress(trap);
	ck_assert_ptr_null(net_take(net, 100000));
	sim_counters(net->sim, &counters);
	ck_assert_uint_eq(counters.traps, 2);

	/* Never repressed, it gives up. */
	ck_assert(sim_link_set(net->sim, far, 1, true));
	net_run_ms(net, 1000000);
	ck_assert_uint_ge(g_queue_get_length(&net->mads), 5);
	ck_assert_uint_le(g_queue_get_length(&net->mads), 20);
}
END_TEST

START_TEST(test_trap_conditions)
{
	struct net *fresh = net_new("fattree:4", NULL);
	struct sim_counters counters;

	/* No SM has contacted these yet. */
	ck_assert(sim_link_set(fresh->sim, sw, 3, false));
	ck_assert(sim_set_description(fresh->sim, other, "new"));
	net_run_ms(fresh, 10000);
	sim_counters(fresh->sim, &counters);
	ck_assert_uint_eq(counters.traps, 0);
	net_free(fresh);
}
END_TEST

/* A host with an SM, but behind a link that is not ACTIVE, is silent too. */
START_TEST(test_trap_needs_active)
{
	struct sim_counters before, after;

	ck_assert_int_eq(net_port_state(net, other, 1, IBA_PORT_DOWN), 0);
	net_run_ms(net, 100000); /* the traps of its leaf */
	sim_counters(net->sim, &before);
	ck_assert(sim_set_description(net->sim, other, "new"));
	net_run_ms(net, 10000);
	sim_counters(net->sim, &after);
	ck_assert_uint_eq(after.traps, before.traps);
}
END_TEST

START_TEST(test_trap_144)
{
	uint8_t data[64];
	struct vendor_mad *trap;
	struct iba_notice notice;
	struct iba_trap_local_change change;

	ck_assert(sim_set_description(net->sim, other, "renamed"));
	trap = take_trap(144, net_lid(other), 1000);
	wire_decode(&iba_notice_type, trap->data + 64, &notice);
	wire_decode(&iba_trap_local_change_type, notice.data_details, &change);
	ck_assert_uint_eq(change.lid, net_lid(other));
	ck_assert_uint_eq(change.change_flags, 1);
	ck_assert_uint_eq(change.other_local_changes, 1);
	repress(trap);
	ck_assert_ptr_null(net_take(net, 100000));
	ck_assert_int_eq(
		net_direct_ask(net, other, IBA_METHOD_GET, IBA_ATTR_NODE_DESCRIPTION, 0, data), 0);
	ck_assert_str_eq((char *)data, "renamed");
	ck_assert(!sim_set_description(net->sim, other,
				       "0123456789012345678901234567890123456789"
				       "0123456789012345678901234567890123456789"));
}
END_TEST

/* A TrapRepress without the M_Key does not stop the trap. */
START_TEST(test_repress_needs_m_key)
{
	struct iba_port_info info;
	struct vendor_mad *trap;

	net_port_get(net, other, 1, &info);
	info.port_state = info.port_physical_state = 0;
	info.m_key = 0x77;
	ck_assert_int_eq(net_port_set(net, other, 1, &info), 0);
	ck_assert(sim_set_description(net->sim, other, "renamed"));
	repress(take_trap(144, net_lid(other), 1000));
	trap = take_trap(144, net_lid(other), 10000);
	trap->data[24 + 7] = 0x77;
	repress(trap);
	ck_assert_ptr_null(net_take(net, 100000));
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->m_key_violations, 1);
}
END_TEST

/* ---- other kinds of ports ---- */

/* A client at port 0 of a switch: its own node, by directed route, by LID. */
START_TEST(test_switch_client)
{
	struct vendor *vendor = sim_open(net->sim, sim_port_guid(net->sim, sw, 0), NULL);
	struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};
	struct vendor_mad *mad;
	uint8_t smp[256];

	ck_assert_ptr_nonnull(vendor);
	ck_assert(vendor_bind(vendor, IBA_CLASS_SUBN_DIRECTED, false, &net->client, NULL));
	ck_assert(vendor_bind(vendor, IBA_CLASS_SUBN_LID, false, &net->client, NULL));
	for (unsigned int hops = 0; hops < 2; hops++) {
		net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
		smp[7] = hops;
		smp[129] = 1;
		ck_assert(vendor_send(vendor, &to, smp, 256, 50));
		mad = net_take(net, 100);
		ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
		ck_assert_uint_eq(mad->data[64 + 2], hops ? IBA_NODE_CA : IBA_NODE_SWITCH);
		vendor_mad_free(mad);
	}
	to.lid = net_lid(other);
	net_smp(net, smp, IBA_CLASS_SUBN_LID, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	ck_assert(vendor_send(vendor, &to, smp, 256, 50));
	mad = net_take(net, 100);
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	ck_assert_uint_eq(mad->remote.lid, net_lid(other));
	vendor_mad_free(mad);
	vendor_close(vendor);
}
END_TEST

/* A CA with two ports: each is an end of its own. */
START_TEST(test_two_ports)
{
	struct net *small = net_new_text("Hca 2 \"Hca1\"\n[1] \"Switch1\"[1]\n"
					 "Switch 8 \"Switch1\"\n[3] \"Switch2\"[3]\n"
					 "Switch 8 \"Switch2\"\n[2] \"Hca2\"[2]\n"
					 "Hca 2 \"Hca2\"\n[1] \"Switch1\"[5]\n");
	struct iba_node_info info;
	struct iba_port_info port;
	unsigned int node = sim_find_name(small->sim, "Hca2");
	uint8_t data[64] = {0};

	/* From Hca1 port 1 to Switch1, its port 3 to Switch2, there port 2 to Hca2 port 2. */
	memset(small->paths[node], 0, 64);
	small->hops[node] = 3;
	memcpy(small->paths[node] + 1, (uint8_t[]){1, 3, 2}, 3);
	ck_assert_int_eq(net_direct_ask(small, node, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, data),
			 0);
	wire_decode(&iba_node_info_type, data, &info);
	ck_assert_uint_eq(info.local_port_num, 2);
	ck_assert_uint_eq(info.port_guid, sim_port_guid(small->sim, node, 2));
	net_port_get(small, node, 0, &port);
	port.port_state = port.port_physical_state = 0;
	port.lid = 33;
	ck_assert_int_eq(net_port_set(small, node, 0, &port), 0);
	ck_assert_uint_eq(sim_port_info(small->sim, node, 2)->lid, 33);
	ck_assert_uint_eq(sim_port_info(small->sim, node, 1)->lid, 0);
	net_free(small);
}
END_TEST

/* Packets of noise, also with the headers that get them somewhere: nothing breaks. */
START_TEST(test_noise)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(3);
	static const uint8_t classes[] = {0x01, 0x81, 0x03, 0x04, 0xFF};
	struct vendor_mad *mad;

	for (unsigned int i = 0; i < 20000; i++) {
		struct vendor_address to = {
			.lid = g_rand_int_range(rand, 0, 60), .qpn = 1, .qkey = IBA_QP1_Q_KEY};
		uint8_t data[256];

		for (unsigned int j = 0; j < sizeof(data); j++)
			data[j] = g_rand_int(rand);
		data[0] = data[2] = 1;
		data[1] = classes[i % G_N_ELEMENTS(classes)];
		data[3] = g_rand_int_range(rand, 0, 8) | (i % 7 ? 0 : 0x80);
		data[16] = 0;
		data[17] = 0x10 + g_rand_int_range(rand, 0, 24);
		if (i % 3)
			memset(data + 20, 0, 3); /* likely modifiers */
		if (data[1] == 0x81) {
			to.lid = i % 4 ? IBA_LID_PERMISSIVE : to.lid;
			data[4] = i % 11 ? 0 : 0x80;
			data[6] = i % 5 ? 0 : data[6];
			data[7] = i % 13 ? g_rand_int_range(rand, 0, 8) : data[7];
			for (unsigned int j = 129; j < 136; j++)
				data[j] = g_rand_int_range(rand, 0, 6);
		}
		if (i % 2)
			memset(data + 32, 0xFF, 4);
		ck_assert(vendor_send(net->vendor, &to, data, i % 17 ? 256 : i % 257, i % 2));
		if (i % 100 == 0)
			net_run_ms(net, 2);
	}
	net_run_ms(net, 100);
	while ((mad = g_queue_pop_head(&net->mads)))
		vendor_mad_free(mad);
	ck_assert_uint_eq(sim_nodes(net->sim), 36);
}
END_TEST

/* ---- GMPs ---- */

START_TEST(test_gmp)
{
	struct peer agent;
	struct vendor_mad *mad;
	uint8_t request[256];

	ck_assert(vendor_bind(net->vendor, IBA_CLASS_PERF, false, &net->client, NULL));
	peer_open(&agent, other);
	ck_assert(peer_bind(&agent, IBA_CLASS_PERF, true));
	gmp(request, IBA_METHOD_GET);
	ck_assert(vendor_send(net->vendor, to_qp1(net_lid(other)), request, 256, 50));
	mad = peer_take(&agent);
	ck_assert_ptr_nonnull(mad);
	ck_assert_uint_eq(mad->remote.lid, net_lid(net->self));
	ck_assert_uint_eq(mad->remote.qpn, 1);
	ck_assert_uint_eq(mad->remote.qkey, IBA_QP1_Q_KEY);
	mad->data[3] = IBA_METHOD_GET_RESP;
	ck_assert(vendor_send(agent.vendor, &mad->remote, mad->data, 256, 0));
	vendor_mad_free(mad);
	mad = net_take(net, 10);
	ck_assert_ptr_nonnull(mad);
	ck_assert_int_eq(mad->status, VENDOR_RECEIVED);
	ck_assert_mem_eq(mad->data + 12, request + 12, 4);
	vendor_mad_free(mad);

	/* A link of the path that is not ACTIVE stops GMPs, not SMPs. */
	ck_assert_int_eq(net_port_state(net, sw, 1, IBA_PORT_DOWN), 0);
	gmp(request, IBA_METHOD_GET);
	ck_assert(vendor_send(net->vendor, to_qp1(net_lid(other)), request, 256, 50));
	net_run_ms(net, 40);
	ck_assert(g_queue_is_empty(&agent.mads));
	ck_assert_int_eq(net_direct_ask(net, sw, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0, NULL), 0);
	peer_close(&agent);
}
END_TEST

static void set_p_keys(unsigned int node, uint16_t first, uint16_t second)
{
	uint8_t data[64] = {first >> 8, first, second >> 8, second};

	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_SET, IBA_ATTR_P_KEY_TABLE, 0, data),
			 0);
}

START_TEST(test_p_keys)
{
	static const struct {
		uint16_t here, there[2];
		int index; /* where it should be found there, or -1 */
	} cases[] = {
		{0xFFFF, {0xFFFF, 0}, 0},	{0x7FFF, {0xFFFF, 0}, 0},
		{0x7FFF, {0x7FFF, 0}, -1},	{0x8001, {0xFFFF, 0x8001}, 1},
		{0x8001, {0xFFFF, 0x0001}, 1},	{0x0001, {0xFFFF, 0x0001}, -1},
		{0x8002, {0xFFFF, 0x8001}, -1}, {0, {0xFFFF, 0}, -1},
		{0x8000, {0, 0}, -1},
	};
	struct peer agent;
	unsigned int violations = 0;

	peer_open(&agent, other);
	ck_assert(peer_bind(&agent, IBA_CLASS_PERF, true));
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct vendor_mad *mad;
		uint8_t request[256];

		set_p_keys(net->self, cases[i].here, 0);
		set_p_keys(other, cases[i].there[0], cases[i].there[1]);
		gmp(request, IBA_METHOD_GET);
		ck_assert(vendor_send(net->vendor, to_qp1(net_lid(other)), request, 256, 0));
		mad = peer_take(&agent);
		ck_assert_int_eq(mad ? mad->remote.p_key_index : -1, cases[i].index);
		violations += !mad;
		if (mad)
			vendor_mad_free(mad);
	}
	ck_assert_uint_eq(sim_port_info(net->sim, other, 1)->p_key_violations, violations);
	peer_close(&agent);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sim_port");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_two_clients);
	tcase_add_test(tcase, test_timeout_and_busy_tid);
	tcase_add_test(tcase, test_timeouts_late);
	tcase_add_test(tcase, test_close_in_flight);
	tcase_add_test(tcase, test_open_errors);
	tcase_add_test(tcase, test_names);
	tcase_add_test(tcase, test_sm_info);
	tcase_add_test(tcase, test_is_sm_once);
	tcase_add_test(tcase, test_trap_128);
	tcase_add_test(tcase, test_trap_conditions);
	tcase_add_test(tcase, test_trap_needs_active);
	tcase_add_test(tcase, test_trap_144);
	tcase_add_test(tcase, test_repress_needs_m_key);
	tcase_add_test(tcase, test_switch_client);
	tcase_add_test(tcase, test_two_ports);
	tcase_add_test(tcase, test_noise);
	tcase_add_test(tcase, test_gmp);
	tcase_add_test(tcase, test_p_keys);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}

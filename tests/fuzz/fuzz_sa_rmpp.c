// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests to an SA across a simulated fabric, as messages of many segments or as single RMPP
 * packets that no client would send: reassembly in the port, transactions, the server, the segments
 * of the answer. Afterwards an honest query of a table is answered.
 *
 * The input: an octet for each step and what it needs.
 */
#include "libvendor/sim/agent.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/test_sa_net.h"

#define STEPS_MAX 24
#define MESSAGE_MAX 2048
#define EXPIRY (16 * NS_PER_S) /* of abandoned transfers: 6 tries of 2 s */

struct server {
	struct net net;
	struct agent *agent; /* on the client's port */
	uint64_t serial; /* of the groups at the start of each run */
};

static uint64_t groups_serial(struct net *net)
{
	struct mc_groups *groups = slot_take(&net->context.groups);
	uint64_t serial = groups ? groups->serial : 0;

	if (groups)
		mc_groups_unref(groups);
	return serial;
}

static void pass_time(struct net *net, uint64_t ns)
{
	runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + ns);
}

/* The MAD and RMPP headers as the input has them, the class fixed. */
static void fill_headers(struct fuzz_bytes *bytes, uint8_t *mad)
{
	mad[0] = 1;
	mad[1] = IBA_CLASS_SUBN_ADM;
	mad[2] = 2;
	mad[3] = fuzz_octet(bytes);
	mad[15] = fuzz_octet(bytes) % 8; /* TransactionID */
	mad[17] = fuzz_octet(bytes);
	mad[RMPP_AT_VERSION] = 1;
	mad[RMPP_AT_TYPE] = 1;
}

static void send_message(struct server *server, struct fuzz_bytes *bytes)
{
	size_t length = IBA_MAD_BYTES + fuzz_octet(bytes) * 8u;
	g_autofree uint8_t *message = g_malloc0(length);
	const struct agent_send send = {
		.to = {.lid = server->net.sm_lid, .qpn = 1, .qkey = IBA_QP1_Q_KEY},
		.timeout_ms = 1000,
		.data = message,
		.length = length,
	};

	fill_headers(bytes, message);
	message[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
	fuzz_take(bytes, message + 36, fuzz_octet(bytes) % 128);
	agent_send(server->agent, &send); /* refuses a transaction that is already under way */
	pass_time(&server->net, 0);
}

static void send_packet(struct server *server, struct fuzz_bytes *bytes)
{
	struct vendor_address to = {.lid = server->net.sm_lid, .qpn = 1, .qkey = IBA_QP1_Q_KEY};
	uint8_t mad[IBA_MAD_BYTES] = {0};

	fill_headers(bytes, mad);
	sim_write32(mad + SIM_MAD_TID, server->agent->number);
	fuzz_take(bytes, mad + RMPP_AT_TYPE, 3);
	fuzz_take(bytes, mad + RMPP_AT_SEGMENT + 2, 2);
	fuzz_take(bytes, mad + RMPP_AT_DATA2 + 2, 2);
	fuzz_take(bytes, mad + 36, fuzz_octet(bytes) % 128);
	agent_send_packet(server->agent, &to, mad, sizeof(mad));
	pass_time(&server->net, 0);
}

static void step(struct server *server, struct fuzz_bytes *bytes)
{
	uint8_t kind = fuzz_octet(bytes);

	switch (kind % 4) {
	case 0:
		send_message(server, bytes);
		break;
	case 1:
		pass_time(&server->net, kind * (8 * NS_PER_MS));
		break;
	default:
		send_packet(server, bytes);
	}
}

static void receive(void *arg, enum vendor_status status, const struct vendor_address *remote,
		    const uint8_t *data, size_t length)
{
	(void)arg;
	(void)status;
	(void)remote;
	fuzz_expect(length >= iba_mad_header_bytes && data[1] == IBA_CLASS_SUBN_ADM);
}

static void open_agent(struct server *server)
{
	const struct agent_filter filter = {
		.qpn = IBA_QP1,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = 2,
		.rmpp_version = IBA_RMPP_VERSION,
	};
	struct sim *sim = server->net.sim;
	struct sim_port *port = g_hash_table_lookup(sim->by_guid, &server->net.client_guid);

	server->agent = agent_new(sim, port, receive, NULL);
	fuzz_expect(agent_register(server->agent, &filter) == 0);
}

/* Forgets the members that joined, as when the SM hands over and becomes master again. */
static void reset(struct server *server)
{
	struct net *net = &server->net;

	pass_time(net, EXPIRY);
	if (groups_serial(net) == server->serial)
		return;
	event_emit(&net->context.bus, EVENT_SM_STATE, IBA_SM_DISCOVERING);
	event_emit(&net->context.bus, EVENT_SUBNET_PUBLISHED, 0);
	pass_time(net, NS_PER_S);
	server->serial = groups_serial(net);
}

static void check_alive(struct net *net)
{
	if (net->answer)
		vendor_mad_free(g_steal_pointer(&net->answer));
	net->n_asked = 0x1000;
	net_ask(net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
	pass_time(net, NS_PER_S);
	fuzz_expect(net->answer && net->answer->status == VENDOR_RECEIVED);
	fuzz_expect(net->answer->data[3] == IBA_METHOD_GET_TABLE_RESP);
	fuzz_expect(net->answer->length > IBA_MAD_BYTES);
}

static void add_seeds(GPtrArray *seeds)
{
	static const uint8_t message[] = {0, 20, IBA_METHOD_GET_TABLE, 1, IBA_ATTR_NODE_RECORD, 0};
	static const uint8_t segments[] = {
		2, IBA_METHOD_GET_TABLE, 1, IBA_ATTR_NODE_RECORD, 1, 3, 0, 0, 1, 0, 220, 0,
		2, IBA_METHOD_GET_TABLE, 1, IBA_ATTR_NODE_RECORD, 1, 5, 0, 0, 2, 0, 30,	 0,
	};
	static const uint8_t acks[] = {
		2, IBA_METHOD_GET_TABLE, 1, IBA_ATTR_NODE_RECORD, 1, 0, 0, 0, 0, 0, 0,	0,
		2, IBA_METHOD_GET_TABLE, 1, IBA_ATTR_NODE_RECORD, 2, 1, 0, 0, 1, 0, 64, 0,
	};

	g_ptr_array_add(seeds, g_bytes_new(message, sizeof(message)));
	g_ptr_array_add(seeds, g_bytes_new(segments, sizeof(segments)));
	g_ptr_array_add(seeds, g_bytes_new(acks, sizeof(acks)));
}

static void *setup(GPtrArray *seeds)
{
	struct server *server = g_new0(struct server, 1);

	add_seeds(seeds);
	net_start(&server->net, RUNTIME_VIRTUAL, "mesh:2");
	net_run_daemon(&server->net);
	fuzz_expect(net_wait_up(&server->net));
	pass_time(&server->net, NS_PER_S);
	server->serial = groups_serial(&server->net);
	open_agent(server);
	return server;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct server *server = state;

	for (unsigned int i = 0; i < STEPS_MAX && bytes.left; i++)
		step(server, &bytes);
	reset(server);
	check_alive(&server->net);
}

static void teardown(void *state)
{
	struct server *server = state;

	agent_free(server->agent);
	net_stop(&server->net);
	g_free(server);
}

const struct fuzz_target fuzz_target = {
	.name = "sa_rmpp",
	.max_size = MESSAGE_MAX,
	.runs = 1000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

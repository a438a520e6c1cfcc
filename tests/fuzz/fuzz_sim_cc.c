// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any MADs of congestion control, from a host to the agents of a small simulated fabric, while
 * these change their kind, restart and log events. What they hold stays within their capacity.
 *
 * The input: an octet for each step, then what it needs.
 */
#include "tests/fuzz/fuzz.h"
#include "vendor/sim_cc.h"

#define STEPS_MAX 24
#define INPUT_MAX 3072
#define CHANGE(kind) (7 + 8 * (kind)) /* the step that changes an agent so */
#define NODES 4			      /* two switches, each with a host */

struct fabric {
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	struct actor *actor;
	struct sim *sim;
	struct vendor *vendor;
	uint32_t tid;
	bool has_cap[NODES]; /* ControlTableCap was set */
	uint8_t caps[NODES];
};

static void receive(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	fuzz_expect(mad->length >= IBA_MAD_BYTES);
	vendor_mad_free(mad);
}

static uint16_t lid_of(unsigned int node)
{
	return node + 1;
}

static void send(struct fabric *fabric, uint8_t *mad, unsigned int node)
{
	struct vendor_address to = {.lid = lid_of(node), .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};

	vendor_send(fabric->vendor, &to, mad, IBA_MAD_BYTES, 0);
	runtime_run(fabric->rt, NULL, NULL, runtime_now(fabric->rt) + NS_PER_MS / 8);
}

static void send_request(struct fabric *fabric, struct fuzz_bytes *bytes, uint8_t method)
{
	unsigned int node = fuzz_octet(bytes) % NODES;
	uint8_t mad[IBA_MAD_BYTES] = {
		1,
		IBA_CLASS_CC,
		IBA_CC_CLASS_VERSION,
		method,
	};

	mad[15] = ++fabric->tid;
	mad[17] = fuzz_octet(bytes);
	mad[23] = fuzz_octet(bytes);
	mad[31] = fuzz_octet(bytes) % 3; /* keys are guessed often */
	fuzz_take(bytes, mad + 64, fuzz_octet(bytes) % 193);
	send(fabric, mad, node);
}

/* All but the class is the input's. */
static void send_raw(struct fabric *fabric, struct fuzz_bytes *bytes)
{
	unsigned int node = fuzz_octet(bytes) % NODES;
	uint8_t mad[IBA_MAD_BYTES] = {0};

	fuzz_take(bytes, mad, fuzz_octet(bytes));
	mad[1] = IBA_CLASS_CC;
	send(fabric, mad, node);
}

static void add_rule(struct fabric *fabric, struct fuzz_bytes *bytes, unsigned int node)
{
	const struct sim_cc_rule rule = {
		.attribute = fuzz_octet(bytes) % 0x19,
		.method = fuzz_octet(bytes) % 3,
		.answer = fuzz_octet(bytes) % SIM_CC_ANSWERS,
		.status = fuzz_octet(bytes),
	};

	sim_cc_answer(fabric->sim, node, &rule);
}

static void add_event(struct fabric *fabric, struct fuzz_bytes *bytes, unsigned int node)
{
	const struct sim_cc_event event = {
		.slid = fuzz_octet(bytes) % 8,
		.dlid = fuzz_octet(bytes) % 8,
		.sl = fuzz_octet(bytes) % 20,
		.service_type = fuzz_octet(bytes),
		.local_qp = fuzz_octet(bytes) << 20,
	};
	uint8_t port = fuzz_octet(bytes) % 6;

	sim_cc_event(fabric->sim, node, port, &event, fuzz_octet(bytes) << fuzz_octet(bytes) % 24);
}

static void restart(struct fabric *fabric, unsigned int node, bool warm)
{
	if (warm) {
		sim_cc_restart(fabric->sim, node);
		return;
	}
	sim_node_set(fabric->sim, node, false);
	sim_node_set(fabric->sim, node, true);
}

static void set_cap(struct fabric *fabric, unsigned int node, uint8_t cap)
{
	if (!sim_cc_set_info(fabric->sim, node, 1, cap))
		return;
	fabric->has_cap[node] = true;
	fabric->caps[node] = cap;
}

static void change(struct fabric *fabric, struct fuzz_bytes *bytes, uint8_t kind)
{
	unsigned int node = fuzz_octet(bytes) % NODES;
	uint8_t kinds[2];

	switch (kind) {
	case 0:
		fuzz_take(bytes, kinds, 2);
		sim_cc_set(fabric->sim, node, kinds[0] << 8 | kinds[1]);
		break;
	case 1:
		add_rule(fabric, bytes, node);
		break;
	case 2:
		set_cap(fabric, node, fuzz_octet(bytes) % 20);
		break;
	case 3:
		add_event(fabric, bytes, node);
		break;
	case 4:
		sim_cc_silence(fabric->sim, node, fuzz_octet(bytes) * NS_PER_MS);
		break;
	case 5:
		restart(fabric, node, fuzz_octet(bytes) & 1);
		break;
	case 6:
		sim_cc_set_default(fabric->sim, node);
		fabric->has_cap[node] = false;
		break;
	default:
		sim_cc_set_time(fabric->sim, node, UINT32_MAX - fuzz_octet(bytes));
	}
}

static void step(struct fabric *fabric, struct fuzz_bytes *bytes)
{
	uint8_t kind = fuzz_octet(bytes);

	switch (kind % 8) {
	case 0:
	case 1:
	case 2:
		send_request(fabric, bytes, IBA_METHOD_SET);
		break;
	case 3:
		send_request(fabric, bytes, IBA_METHOD_GET);
		break;
	case 4:
		send_request(fabric, bytes, IBA_METHOD_TRAP_REPRESS);
		break;
	case 5:
		send_raw(fabric, bytes);
		break;
	case 6:
		runtime_run(fabric->rt, NULL, NULL, runtime_now(fabric->rt) + kind / 8 * NS_PER_S);
		break;
	default:
		change(fabric, bytes, kind / 8 % 8);
	}
}

/* Entries that the table of a node can have. */
static unsigned int cap_of(const struct fabric *fabric, unsigned int node)
{
	return (fabric->has_cap[node] ? fabric->caps[node] : SIM_CC_BLOCKS) *
	       SIM_CC_ENTRIES_A_BLOCK;
}

static void check(const struct fabric *fabric)
{
	const struct sim *sim = fabric->sim;

	for (unsigned int i = 0; i < NODES; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		struct sim_cc_view view;

		sim_cc_view(sim, i, 1, &view);
		fuzz_expect(!view.ccti_limit || view.ccti_limit < cap_of(fabric, i));
		fuzz_expect(view.switch_setting.threshold <= 15);
		sim_cc_append_text(sim, i, 1, text);
		fuzz_expect(g_str_has_prefix(text->str, "key: "));
	}
}

/* ---- the fabric ---- */

static void send_smp(struct fabric *fabric, unsigned int hops, uint16_t attribute,
		     const uint8_t *data)
{
	struct vendor_address to = {.lid = IBA_LID_PERMISSIVE};
	uint8_t smp[IBA_MAD_BYTES] = {1, IBA_CLASS_SUBN_DIRECTED, 1, IBA_METHOD_SET};

	smp[7] = hops;
	smp[15] = ++fabric->tid;
	smp[17] = attribute;
	memset(smp + 32, 0xFF, 4);
	memcpy(smp + 64, data, 64);
	smp[129] = 1; /* its switch, then the other one */
	smp[130] = 2;
	vendor_send(fabric->vendor, &to, smp, IBA_MAD_BYTES, 0);
	runtime_run(fabric->rt, NULL, NULL, runtime_now(fabric->rt) + NS_PER_MS);
}

static void give_lid(struct fabric *fabric, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(fabric->sim, node, &view);
	for (unsigned int p = view.type == IBA_NODE_SWITCH ? 0 : 1; p <= view.num_ports; p++) {
		struct iba_port_info info = *sim_port_info(fabric->sim, node, p);

		info.lid = lid_of(node);
		info.port_state = IBA_PORT_ACTIVE;
		if (!p || sim_link_up(fabric->sim, node, p))
			sim_set_port_info(fabric->sim, node, p, &info);
	}
}

/* Routes from the switch of the first host, and from the other one. */
static void program(struct fabric *fabric)
{
	int near = sim_find_name(fabric->sim, "switch-0"),
	    far = sim_find_name(fabric->sim, "switch-1");
	int host = sim_find_name(fabric->sim, "host-0"),
	    other = sim_find_name(fabric->sim, "host-1");
	struct iba_switch_info info = {.linear_fdb_top = NODES};
	uint8_t data[64] = {0};

	fuzz_expect(near >= 0 && far >= 0 && host >= 0 && other >= 0);
	wire_encode(&iba_switch_info_type, &info, data);
	send_smp(fabric, 1, IBA_ATTR_SWITCH_INFO, data);
	send_smp(fabric, 2, IBA_ATTR_SWITCH_INFO, data);
	memset(data, 0xFF, sizeof(data));
	data[lid_of(near)] = 0;
	data[lid_of(host)] = 1;
	data[lid_of(far)] = data[lid_of(other)] = 2;
	send_smp(fabric, 1, IBA_ATTR_LINEAR_FORWARDING_TABLE, data);
	data[lid_of(near)] = data[lid_of(host)] = 2;
	data[lid_of(far)] = 0;
	data[lid_of(other)] = 1;
	send_smp(fabric, 2, IBA_ATTR_LINEAR_FORWARDING_TABLE, data);
	for (unsigned int i = 0; i < NODES; i++)
		give_lid(fabric, i);
}

/* The last node answers: routes are as intended. */
static void check_routes(struct fabric *fabric)
{
	for (unsigned int i = 0; i < NODES; i++) {
		uint8_t mad[IBA_MAD_BYTES] = {1, IBA_CLASS_CC, IBA_CC_CLASS_VERSION,
					      IBA_METHOD_GET};

		mad[17] = IBA_ATTR_TIME_STAMP;
		send(fabric, mad, i);
		fuzz_expect(sim_cc_requests(fabric->sim, i, IBA_ATTR_TIME_STAMP, IBA_METHOD_GET));
	}
}

static void make(struct fabric *fabric)
{
	struct vendor_client client = {.receive = receive};
	struct sim_config config;

	sim_config_default(&config);
	fabric->tid = 0;
	memset(fabric->has_cap, 0, sizeof(fabric->has_cap));
	fabric->sim = sim_new(fabric->rt, fabric->log, fabric->topology, &config);
	fuzz_expect(sim_nodes(fabric->sim) == NODES);
	fabric->vendor = sim_open(fabric->sim, 0, NULL);
	fabric->actor = actor_new(fabric->rt, "client");
	client.actor = fabric->actor;
	fuzz_expect(vendor_bind(fabric->vendor, IBA_CLASS_SUBN_DIRECTED, true, &client, NULL));
	fuzz_expect(vendor_bind(fabric->vendor, IBA_CLASS_CC, true, &client, NULL));
	program(fabric);
	check_routes(fabric);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fabric *fabric = state;
	struct fuzz_bytes bytes = {data, size};

	make(fabric);
	for (unsigned int i = 0; i < STEPS_MAX && bytes.left; i++)
		step(fabric, &bytes);
	check(fabric);
	vendor_close(fabric->vendor);
	actor_stop(fabric->actor);
	actor_free(fabric->actor);
	sim_free(fabric->sim);
}

/* ---- seeds ---- */

static void add_seed(GPtrArray *seeds, uint8_t attribute, uint8_t modifier)
{
	GByteArray *input = g_byte_array_new();

	for (uint8_t node = 0; node < NODES; node++) {
		const uint8_t set[] = {0, node, attribute, modifier, 0, 192};
		const uint8_t get[] = {3, node, attribute, modifier, 0, 0};
		uint8_t data[192];

		for (unsigned int i = 0; i < sizeof(data); i++)
			data[i] = i % 5;
		g_byte_array_append(input, set, sizeof(set));
		g_byte_array_append(input, data, sizeof(data));
		g_byte_array_append(input, get, sizeof(get));
	}
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

/* Traps of each node to the host with the client, and wrong keys. */
static void add_trap_seed(GPtrArray *seeds)
{
	const uint8_t wait[] = {6 + 8 * 4}; /* seconds */
	GByteArray *input = g_byte_array_new();

	for (uint8_t node = 0; node < NODES; node++) {
		const uint8_t key[] = {0, node, IBA_ATTR_CONGESTION_KEY_INFO, 0, 0, 14};
		const uint8_t where[] = {0, node, IBA_ATTR_CLASS_PORT_INFO, 0, 0, 72};
		const uint8_t guess[] = {0, node, IBA_ATTR_TIME_STAMP, 0, 2, 0, 6 + 8 * 4};
		const struct iba_congestion_key_info set_key = {.cc_key = 1,
								.cc_key_lease_period = 2};
		struct iba_class_port_info info = {
			.trap_p_key = 0xFFFF, .trap_qp = 1, .trap_q_key = IBA_QP1_Q_KEY};
		uint8_t data[72];

		info.trap_lid = lid_of(NODES - 1 - node);
		g_byte_array_append(input, where, sizeof(where));
		wire_encode(&iba_class_port_info_type, &info, data);
		g_byte_array_append(input, data, sizeof(data));
		g_byte_array_append(input, key, sizeof(key));
		wire_encode(&iba_congestion_key_info_type, &set_key, data);
		g_byte_array_append(input, data, 14);
		g_byte_array_append(input, guess, sizeof(guess));
	}
	for (uint8_t node = 0; node < NODES; node++) {
		const uint8_t restart_node[] = {CHANGE(5), node, node & 1};

		g_byte_array_append(input, restart_node, sizeof(restart_node));
	}
	g_byte_array_append(input, wait, sizeof(wait));
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

/* Tables of a CA with the old form that get too long. */
static void add_old_seed(GPtrArray *seeds)
{
	GByteArray *input = g_byte_array_new();

	for (uint8_t node = 0; node < NODES; node++) {
		const uint8_t old[] = {CHANGE(0), node, 0, SIM_CC_OLD_FORM};

		g_byte_array_append(input, old, sizeof(old));
		for (uint8_t i = 0; i < 4; i++) {
			const uint8_t set[] = {
				0, node, IBA_ATTR_CONGESTION_CONTROL_TABLE, i % 2, 0, 2, 0, 127};

			g_byte_array_append(input, set, sizeof(set));
		}
	}
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

static void *setup(GPtrArray *seeds)
{
	static const uint8_t changes[] = {
		CHANGE(0), 2, 0, 9,	    CHANGE(1), 2,	  0x16, 2, 3, 0, CHANGE(2), 2, 9,
		CHANGE(3), 0, 1, 2,	    3,	       4,	  5,	1, 9, 3, CHANGE(4), 1, 9,
		CHANGE(5), 0, 1, CHANGE(6), 3,	       CHANGE(7), 0,	9,
	};
	struct fabric *fabric = g_new0(struct fabric, 1);

	add_seed(seeds, IBA_ATTR_CLASS_PORT_INFO, 0);
	for (uint8_t attribute = 0x11; attribute <= 0x18; attribute++)
		for (uint8_t modifier = 0; modifier < 4; modifier++)
			add_seed(seeds, attribute, modifier);
	add_trap_seed(seeds);
	add_old_seed(seeds);
	g_ptr_array_add(seeds, g_bytes_new(changes, sizeof(changes)));
	fabric->rt = runtime_new(RUNTIME_VIRTUAL);
	fabric->log = log_new_null();
	fabric->topology = topology_load("mesh:2", NULL);
	fuzz_expect(fabric->topology);
	return fabric;
}

static void teardown(void *state)
{
	struct fabric *fabric = state;

	topology_free(fabric->topology);
	log_free(fabric->log);
	runtime_free(fabric->rt);
	g_free(fabric);
}

const struct fuzz_target fuzz_target = {
	.name = "sim_cc",
	.max_size = INPUT_MAX,
	.runs = 3000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

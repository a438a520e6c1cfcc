// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any SMPs, from an end port into a small simulated fabric: forwarding, the directed route's hop
 * pointers, and the SMA of each node. Whatever was set, ports stay in defined states.
 *
 * The input: an octet for each step, then what it needs. Steps that send an SMP along a good route
 * fill its header, so that the rest is the attribute's.
 */
#include "tests/fuzz/fuzz.h"
#include "vendor/sim.h"

#define STEPS_MAX 16
#define INPUT_MAX 2048

struct fabric {
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	struct actor *actor;
	struct sim *sim;
	struct vendor *vendor;
	uint32_t tid;
};

static const struct {
	uint8_t hops, path[4];
} routes[] = {
	{0, {0}},	/* the host itself */
	{1, {0, 1}},	/* its switch */
	{2, {0, 1, 2}}, /* the other switch, by its port 2 or 3 */
	{2, {0, 1, 3}},
	{3, {0, 1, 2, 1}}, /* the other host */
	{3, {0, 1, 3, 1}},
};

static void receive(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	fuzz_expect(mad->length >= IBA_MAD_BYTES);
	vendor_mad_free(mad);
}

static void send_smp(struct fabric *fabric, uint8_t *smp, uint16_t lid, uint8_t wait)
{
	struct vendor_address to = {.lid = lid};

	vendor_send(fabric->vendor, &to, smp, IBA_MAD_BYTES, wait);
	runtime_run(fabric->rt, NULL, NULL, runtime_now(fabric->rt) + NS_PER_MS / 8);
}

/* Header, attribute and modifier from the input, 64 octets of data at most. */
static void fill(struct fabric *fabric, struct fuzz_bytes *bytes, uint8_t mgmt_class, uint8_t *smp)
{
	smp[0] = 1;
	smp[1] = mgmt_class;
	smp[2] = 1;
	smp[3] = fuzz_octet(bytes);
	smp[15] = ++fabric->tid;
	smp[17] = fuzz_octet(bytes);
	fuzz_take(bytes, smp + 22, 2);
	memset(smp + 32, 0xFF, 4); /* permissive LIDs */
	fuzz_take(bytes, smp + 64, fuzz_octet(bytes) % 65);
}

static void send_directed(struct fabric *fabric, struct fuzz_bytes *bytes, unsigned int route)
{
	uint8_t smp[IBA_MAD_BYTES] = {0};

	fill(fabric, bytes, IBA_CLASS_SUBN_DIRECTED, smp);
	smp[7] = routes[route].hops;
	memcpy(smp + 128, routes[route].path, sizeof(routes[route].path));
	send_smp(fabric, smp, IBA_LID_PERMISSIVE, 0);
}

static void send_by_lid(struct fabric *fabric, struct fuzz_bytes *bytes)
{
	uint8_t smp[IBA_MAD_BYTES] = {0};
	uint8_t lid[2];

	fuzz_take(bytes, lid, 2);
	fill(fabric, bytes, IBA_CLASS_SUBN_LID, smp);
	send_smp(fabric, smp, lid[0] << 8 | lid[1], 0);
}

/* All of the MAD is the input's. */
static void send_raw(struct fabric *fabric, struct fuzz_bytes *bytes, uint8_t wait)
{
	uint8_t smp[IBA_MAD_BYTES];
	uint8_t head[3];

	fuzz_take(bytes, head, 3);
	memset(smp, 0, sizeof(smp));
	fuzz_take(bytes, smp, head[2]);
	/* The path and its hop pointer are too many octets apart to be hit by chance. */
	fuzz_take(bytes, smp + 128, 4);
	fuzz_take(bytes, smp + 192, 4);
	send_smp(fabric, smp, head[0] << 8 | head[1], wait);
}

static void step(struct fabric *fabric, struct fuzz_bytes *bytes)
{
	uint8_t kind = fuzz_octet(bytes);

	switch (kind % 10) {
	case 6:
		send_by_lid(fabric, bytes);
		break;
	case 7:
		send_raw(fabric, bytes, kind / 10);
		break;
	case 8:
		runtime_run(fabric->rt, NULL, NULL,
			    runtime_now(fabric->rt) + kind / 10 * NS_PER_S);
		break;
	case 9:
		sim_link_set(fabric->sim, kind / 10 % sim_nodes(fabric->sim), 1, kind & 0x80);
		break;
	default:
		send_directed(fabric, bytes, kind % 10);
	}
}

static void check(const struct sim *sim)
{
	for (unsigned int i = 0; i < sim_nodes(sim); i++) {
		struct sim_node_view view;

		sim_node_view(sim, i, &view);
		for (unsigned int p = 0; p <= view.num_ports; p++) {
			const struct iba_port_info *info = sim_port_info(sim, i, p);

			if (p == 0 && view.type != IBA_NODE_SWITCH)
				continue;
			fuzz_expect(info->port_state >= IBA_PORT_DOWN);
			fuzz_expect(info->port_state <= IBA_PORT_ACTIVE);
			fuzz_expect(info->lmc <= 7);
			fuzz_expect(info->lid <= IBA_LID_UCAST_LAST);
		}
	}
}

static void add_seed(GPtrArray *seeds, uint8_t attribute, uint8_t modifier)
{
	GByteArray *input = g_byte_array_new();

	for (uint8_t route = 0; route < G_N_ELEMENTS(routes); route++) {
		const uint8_t get[] = {route, IBA_METHOD_GET, attribute, 0, modifier, 0};
		const uint8_t set[] = {route, IBA_METHOD_SET, attribute, 0, modifier, 64};
		uint8_t data[64];

		for (unsigned int i = 0; i < sizeof(data); i++)
			data[i] = i % 5;
		g_byte_array_append(input, get, sizeof(get));
		g_byte_array_append(input, set, sizeof(set));
		g_byte_array_append(input, data, sizeof(data));
	}
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(input));
}

static void *setup(GPtrArray *seeds)
{
	struct fabric *fabric = g_new0(struct fabric, 1);

	for (uint8_t attribute = 0x10; attribute <= 0x1B; attribute++)
		add_seed(seeds, attribute, attribute % 3);
	add_seed(seeds, IBA_ATTR_SM_INFO, 0);
	add_seed(seeds, IBA_ATTR_LED_INFO, 1);
	fabric->rt = runtime_new(RUNTIME_VIRTUAL);
	fabric->log = log_new_null();
	fabric->topology = topology_load("mesh:2", NULL);
	fuzz_expect(fabric->topology);
	return fabric;
}

static void make(struct fabric *fabric)
{
	struct vendor_client client = {.receive = receive};
	struct sim_config config;

	sim_config_default(&config);
	fabric->tid = 0;
	fabric->sim = sim_new(fabric->rt, fabric->log, fabric->topology, &config);
	fabric->vendor = sim_open(fabric->sim, 0, NULL);
	fabric->actor = actor_new(fabric->rt, "client");
	client.actor = fabric->actor;
	fuzz_expect(vendor_bind(fabric->vendor, IBA_CLASS_SUBN_LID, true, &client, NULL));
	fuzz_expect(vendor_bind(fabric->vendor, IBA_CLASS_SUBN_DIRECTED, true, &client, NULL));
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fabric *fabric = state;
	struct fuzz_bytes bytes = {data, size};

	make(fabric);
	for (unsigned int i = 0; i < STEPS_MAX && bytes.left; i++)
		step(fabric, &bytes);
	check(fabric->sim);
	vendor_close(fabric->vendor);
	actor_stop(fabric->actor);
	actor_free(fabric->actor);
	sim_free(fabric->sim);
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
	.name = "sma",
	.max_size = INPUT_MAX,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

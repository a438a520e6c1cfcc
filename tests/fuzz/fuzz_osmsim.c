// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any frames, whole or in pieces, from several clients of the server osmsim on a small fabric. It
 * answers or closes the connection; another client is served all the same.
 *
 * The input: an octet for each step, its low bits the client, and what it needs. Frames of a known
 * type get its length and are mostly zero.
 */
#include <glib/gstdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libvendor/osmsim/issm.h"
#include "tests/fuzz/fuzz.h"

#define CLIENTS 3
#define STEPS_MAX 32

struct bed {
	struct runtime *rt;
	struct log *log;
	struct topology *topology;
	char *directory;
	struct server *server;
	int fds[CLIENTS]; /* our ends; -1: not connected */
};

static void turn(struct bed *bed)
{
	server_turn(bed->server, 0);
}

static void hang_up(struct bed *bed, unsigned int client)
{
	if (bed->fds[client] >= 0)
		close(bed->fds[client]);
	bed->fds[client] = -1;
	turn(bed);
}

static void connect_client(struct bed *bed, unsigned int client)
{
	int fds[2];

	if (bed->fds[client] >= 0)
		return;
	fuzz_expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	g_hash_table_add(bed->server->connections, connection_new(bed->server, fds[0]));
	bed->fds[client] = fds[1];
}

/* Reads what came back; true if there was anything. */
static bool drain(struct bed *bed, unsigned int client)
{
	uint8_t octets[4096];
	bool any = false;
	ssize_t n;

	while ((n = recv(bed->fds[client], octets, sizeof(octets), MSG_DONTWAIT)) > 0)
		any = true;
	return any;
}

static void send_octets(struct bed *bed, unsigned int client, const void *data, size_t size)
{
	connect_client(bed, client);
	if (size && send(bed->fds[client], data, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		hang_up(bed, client); /* the server closed the connection */
		return;
	}
	turn(bed);
	drain(bed, client);
}

static void send_frame(struct bed *bed, unsigned int client, uint32_t type, const void *data,
		       size_t size)
{
	const struct osmsim_header header = {.length = size, .type = type};
	g_autofree uint8_t *frame = g_malloc(sizeof(header) + size);

	memcpy(frame, &header, sizeof(header));
	memcpy(frame + sizeof(header), data, size);
	send_octets(bed, client, frame, sizeof(header) + size);
}

/* ---- frames of the protocol ---- */

static struct osmsim_hello hello(struct fuzz_bytes *bytes)
{
	static const char *const nodes[] = {"", "host-0", "host-1", "switch-0", "nobody", "s"};
	struct osmsim_hello out = {.pid = 1};
	uint8_t how = fuzz_octet(bytes);

	out.version = OSMSIM_VERSION + (how >> 6);
	if (how % 8 < G_N_ELEMENTS(nodes))
		g_strlcpy(out.node, nodes[how % 8], sizeof(out.node));
	else
		fuzz_take(bytes, out.node, how & 8 ? 16 : sizeof(out.node));
	return out;
}

static void send_open(struct bed *bed, unsigned int client, struct fuzz_bytes *bytes)
{
	struct osmsim_open open = {.hello = hello(bytes)};

	open.port.port_num = fuzz_octet(bytes);
	send_frame(bed, client, OSMSIM_OPEN, &open, sizeof(open));
}

static void send_register(struct bed *bed, unsigned int client, struct fuzz_bytes *bytes)
{
	struct osmsim_register request = {
		.handle = fuzz_octet(bytes),
		.qpn = fuzz_octet(bytes),
		.mgmt_class = fuzz_octet(bytes),
		.class_version = fuzz_octet(bytes),
		.rmpp_version = fuzz_octet(bytes),
	};

	fuzz_take(bytes, &request.oui, 3);
	fuzz_take(bytes, request.method_mask, 4);
	send_frame(bed, client, OSMSIM_REGISTER, &request, sizeof(request));
}

static void send_mad(struct bed *bed, unsigned int client, struct fuzz_bytes *bytes)
{
	uint8_t how = fuzz_octet(bytes), octets = fuzz_octet(bytes);
	size_t length = how & 0x80 ? octets * 4u : IBA_MAD_BYTES;
	g_autofree struct ib_user_mad *umad = g_malloc0(sizeof(*umad) + 1024);
	uint8_t *mad = (uint8_t *)umad->data;

	umad->agent_id = how % 64;
	umad->timeout_ms = fuzz_octet(bytes) * 1000;
	umad->addr.qpn = htobe32(fuzz_octet(bytes) & 1);
	umad->addr.qkey = htobe32(umad->addr.qpn ? IBA_QP1_Q_KEY : 0);
	fuzz_take(bytes, &umad->addr.lid, 2);
	mad[0] = 1;
	fuzz_take(bytes, mad + 1, 3);
	fuzz_take(bytes, mad + 7, 1);
	fuzz_take(bytes, mad + 15, 1);
	fuzz_take(bytes, mad + 17, 1);
	fuzz_take(bytes, mad + 24, 12);
	memset(mad + 32, mad[1] == IBA_CLASS_SUBN_DIRECTED ? 0xFF : mad[32], 4);
	fuzz_take(bytes, mad + 36, fuzz_octet(bytes) % 128);
	mad[129] = 1;
	mad[130] = 2;
	send_frame(bed, client, OSMSIM_MAD, umad, sizeof(*umad) + length);
}

/* A frame of any type whose length may be wrong. */
static void send_any(struct bed *bed, unsigned int client, struct fuzz_bytes *bytes)
{
	uint8_t data[256];
	uint8_t type = fuzz_octet(bytes), size = fuzz_octet(bytes);

	fuzz_take(bytes, data, size);
	send_frame(bed, client, type % 16, data, size);
}

/* A line of the console in a frame. */
static void send_command(struct bed *bed, unsigned int client, struct fuzz_bytes *bytes)
{
	static const char *const lines[] = {"clients", "counters", "down switch-0", "up switch-0",
					    "unlink host-1 1", "link host-1 1", "nodes", "quit"};
	uint8_t which = fuzz_octet(bytes);
	const char *line = lines[which % G_N_ELEMENTS(lines)];

	send_frame(bed, client, OSMSIM_COMMAND, line, strlen(line));
}

static void send_raw(struct bed *bed, unsigned int client, struct fuzz_bytes *bytes)
{
	uint8_t data[256];
	uint8_t size = fuzz_octet(bytes);

	fuzz_take(bytes, data, size);
	send_octets(bed, client, data, size);
}

static void step(struct bed *bed, struct fuzz_bytes *bytes)
{
	uint8_t kind = fuzz_octet(bytes);
	unsigned int client = kind % CLIENTS;
	struct osmsim_port_request port;
	struct osmsim_unregister unregister = {0};
	struct osmsim_hello first;

	switch (kind / CLIENTS % 8) {
	case 0:
		first = hello(bytes);
		send_frame(bed, client, kind & 0x80 ? OSMSIM_WATCH : OSMSIM_HELLO, &first,
			   sizeof(first));
		break;
	case 1:
		send_open(bed, client, bytes);
		break;
	case 2:
		send_register(bed, client, bytes);
		break;
	case 3:
		send_mad(bed, client, bytes);
		break;
	case 4:
		unregister.handle = fuzz_octet(bytes);
		unregister.agent = fuzz_octet(bytes);
		send_frame(bed, client, OSMSIM_UNREGISTER, &unregister, sizeof(unregister));
		break;
	case 5:
		port = (struct osmsim_port_request){.port_num = fuzz_octet(bytes)};
		send_frame(bed, client, kind & 0x80 ? OSMSIM_ISSM : OSMSIM_PORT, &port,
			   sizeof(port));
		break;
	case 6:
		if (kind & 0x80)
			hang_up(bed, client);
		else
			send_raw(bed, client, bytes);
		break;
	default:
		if (kind & 0x80)
			send_command(bed, client, bytes);
		else
			send_any(bed, client, bytes);
	}
}

/* ---- a run ---- */

/* A client that follows the protocol gets answers. */
static void check_alive(struct bed *bed)
{
	const struct osmsim_header header = {.length = sizeof(struct osmsim_hello),
					     .type = OSMSIM_HELLO};
	const struct osmsim_hello first = {.version = OSMSIM_VERSION};

	for (unsigned int i = 0; i < CLIENTS; i++)
		hang_up(bed, i);
	connect_client(bed, 0);
	fuzz_expect(send(bed->fds[0], &header, sizeof(header), 0) == sizeof(header));
	fuzz_expect(send(bed->fds[0], &first, sizeof(first), 0) == sizeof(first));
	turn(bed);
	fuzz_expect(drain(bed, 0));
	hang_up(bed, 0);
	fuzz_expect(g_hash_table_size(bed->server->connections) == 0);
	fuzz_expect(g_hash_table_size(bed->server->handles) == 0);
}

static void *setup(GPtrArray *seeds)
{
	/* A control connection, a port, an agent of it for SMPs, Get(NodeInfo) along a route. */
	static const uint8_t session[] = {0, 0, 4, 1, 1, 6, 1, 0, 0x81, 1, 0, 0, 0, 0, 0, 0, 0,
					  0, 10, 0, 0, 1, 0, 0xFF, 0xFF, 0x81, 1, 1, 2, 5, 0x11};
	static const uint8_t manager[] = {3, 2, 5, 1, 1, 6, 1, 1, 3, 2, 1, 0, 0, 0, 0xFF, 0, 0, 0,
					  15, 2, 12, 1, 0, 20, 0, 1, 0, 0, 8, 1, 3, 17, 1, 1};
	/* The events of its node: a Set(PortInfo) by another client. */
	static const uint8_t watcher[] = {0x80, 0, 5, 1, 1};
	struct bed *bed = g_new0(struct bed, 1);
	g_autofree char *path = NULL;

	g_ptr_array_add(seeds, g_bytes_new(watcher, sizeof(watcher)));
	g_ptr_array_add(seeds, g_bytes_new(session, sizeof(session)));
	g_ptr_array_add(seeds, g_bytes_new(manager, sizeof(manager)));
	bed->rt = runtime_new(RUNTIME_REAL);
	bed->log = log_new_null();
	bed->topology = topology_load("mesh:2", NULL);
	bed->directory = g_dir_make_tmp("osmsim-fuzz-XXXXXX", NULL);
	fuzz_expect(bed->topology && bed->directory);
	path = g_build_filename(bed->directory, "socket", NULL);
	bed->server = server_new(bed->rt, bed->log, NULL, path, NULL);
	fuzz_expect(bed->server);
	for (unsigned int i = 0; i < CLIENTS; i++)
		bed->fds[i] = -1;
	return bed;
}

/* A new fabric behind the same socket, which takes longer to make. */
static void make_fabric(struct bed *bed)
{
	struct sim_config config;

	sim_config_default(&config);
	bed->server->sim = sim_new(bed->rt, bed->log, bed->topology, &config);
	bed->server->counts_handles = true;
	bed->server->last_handle = bed->server->last_number = 0;
	bed->server->quit = false;
	issm_free(bed->server->issm); /* it uses the ports */
	bed->server->issm = issm_new(bed->server);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct bed *bed = state;

	make_fabric(bed);
	for (unsigned int i = 0; i < STEPS_MAX && bytes.left; i++)
		step(bed, &bytes);
	check_alive(bed);
	sim_free(bed->server->sim);
}

static void teardown(void *state)
{
	struct bed *bed = state;

	server_free(bed->server);
	topology_free(bed->topology);
	log_free(bed->log);
	runtime_free(bed->rt);
	g_rmdir(bed->directory);
	g_free(bed->directory);
	g_free(bed);
}

const struct fuzz_target fuzz_target = {
	.name = "osmsim",
	.max_size = 2048,
	.runs = 2000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/osmsim_net.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libvendor/sim/topology.h"

#define WAIT_NS (60 * NS_PER_S) /* more is a failure */

static struct topology *make_topology(void)
{
	struct topology *topology = topology_new();
	unsigned int sw;

	for (unsigned int i = 0; i < OSMSIM_NET_HOSTS; i++) {
		const char name[] = {'a' + i, '\0'};

		topology_add(topology, IBA_NODE_CA, 1, name, name, 0x100 * (i + 1));
		topology_default_port_guids(topology, i);
	}
	sw = topology_add(topology, IBA_NODE_SWITCH, 4, "sw", "sw", 0x1000);
	topology_default_port_guids(topology, sw);
	for (unsigned int i = 0; i < OSMSIM_NET_HOSTS; i++) {
		topology_port(topology, i, 1)->lanes = 4;
		topology_port(topology, i, 1)->speed = TOPOLOGY_EDR;
		topology_connect(topology, i, 1, sw, i + 1);
	}
	return topology;
}

/* What an SM would do. */
static void bring_up(struct sim *sim)
{
	struct sim_node *sw = &sim->nodes[OSMSIM_NET_SWITCH];

	sw->sw->lft = g_malloc(SIM_LFT_ENTRIES);
	memset(sw->sw->lft, IBA_PORT_NONE, SIM_LFT_ENTRIES);
	sw->sw->info.linear_fdb_top = 9;
	sw->ports[0].info.lid = 9;
	sw->sw->lft[9] = 0;
	for (unsigned int i = 0; i < OSMSIM_NET_HOSTS; i++) {
		struct sim_port *port = &sim->nodes[i].ports[1];

		port->info.lid = i + 1;
		port->info.master_sm_lid = 1;
		port->info.port_state = sw->ports[i + 1].info.port_state = IBA_PORT_ACTIVE;
		sw->sw->lft[i + 1] = i + 1;
	}
}

struct osmsim_net *osmsim_net_new(void)
{
	struct osmsim_net *net = g_new0(struct osmsim_net, 1);
	struct topology *topology = make_topology();
	struct sim_config config;
	GError *error = NULL;

	sim_config_default(&config);
	net->directory = g_dir_make_tmp("osmsim-XXXXXX", NULL);
	net->path = g_build_filename(net->directory, "socket", NULL);
	net->rt = runtime_new(RUNTIME_REAL);
	net->log_text = g_string_new(NULL);
	net->log = log_new_capture(net->log_text);
	net->sim = sim_new(net->rt, net->log, topology, &config);
	topology_free(topology);
	bring_up(net->sim);
	net->server = server_new(net->rt, net->log, net->sim, net->path, &error);
	ck_assert_msg(net->server != NULL, "%s", error ? error->message : "?");
	return net;
}

void osmsim_net_free(struct osmsim_net *net)
{
	server_free(net->server);
	sim_free(net->sim);
	log_free(net->log);
	runtime_free(net->rt);
	g_string_free(net->log_text, TRUE);
	/* No file is left behind. */
	ck_assert_msg(rmdir(net->directory) == 0, "%s", g_strerror(errno));
	g_free(net->directory);
	g_free(net->path);
	g_free(net);
}

void osmsim_net_run_ms(struct osmsim_net *net, unsigned int ms)
{
	uint64_t end = runtime_now(net->rt) + ms * NS_PER_MS;

	/* On a busy machine the time may pass without a turn of this loop. */
	for (unsigned int turns = 0; turns < ms || runtime_now(net->rt) < end; turns++)
		server_turn(net->server, NS_PER_MS);
}

int net_connect(struct osmsim_net *net)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	g_strlcpy(address.sun_path, net->path, sizeof(address.sun_path));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

void net_send(struct osmsim_net *net, int fd, const void *data, size_t length)
{
	const uint8_t *at = data;
	uint64_t end = runtime_now(net->rt) + WAIT_NS;

	while (length) {
		ssize_t n = send(fd, at, length, MSG_NOSIGNAL);

		ck_assert(runtime_now(net->rt) < end);
		ck_assert(n > 0 || errno == EAGAIN);
		if (n > 0) {
			at += n;
			length -= n;
		} else {
			server_turn(net->server, NS_PER_MS);
		}
	}
}

void net_put(struct osmsim_net *net, int fd, uint32_t type, const void *data, size_t length)
{
	const struct osmsim_header header = {.length = length, .type = type};
	g_autofree uint8_t *both = g_malloc(sizeof(header) + length);

	memcpy(both, &header, sizeof(header));
	if (length)
		memcpy(both + sizeof(header), data, length);
	net_send(net, fd, both, sizeof(header) + length);
}

/* False: end of the connection. */
static bool get_octets(struct osmsim_net *net, int fd, void *data, size_t length)
{
	uint64_t end = runtime_now(net->rt) + WAIT_NS;

	for (size_t got = 0; got < length;) {
		ssize_t n = recv(fd, (uint8_t *)data + got, length - got, 0);

		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return false;
		ck_assert(n > 0 || errno == EAGAIN);
		ck_assert_msg(runtime_now(net->rt) < end, "no frame came");
		if (n > 0)
			got += n;
		else
			server_turn(net->server, NS_PER_MS);
	}
	return true;
}

struct frame net_get(struct osmsim_net *net, int fd)
{
	struct frame frame = {.length = -1};
	struct osmsim_header header;

	if (!get_octets(net, fd, &header, sizeof(header)))
		return frame;
	frame.type = header.type;
	frame.length = header.length;
	frame.data = g_malloc(header.length + 1);
	ck_assert(get_octets(net, fd, frame.data, header.length));
	return frame;
}

bool net_is_closed(struct osmsim_net *net, int fd)
{
	uint64_t end = runtime_now(net->rt) + WAIT_NS;

	while (runtime_now(net->rt) < end) {
		uint8_t octet;
		ssize_t n = recv(fd, &octet, 1, 0);

		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return true;
		server_turn(net->server, NS_PER_MS);
	}
	return false;
}

void net_ask(struct osmsim_net *net, int fd, uint32_t type, const void *data, size_t length,
	     void *answer, size_t size)
{
	struct frame frame;

	net_put(net, fd, type, data, length);
	frame = net_get(net, fd);
	ck_assert_uint_eq(frame.type, type);
	ck_assert_int_eq(frame.length, size);
	memcpy(answer, frame.data, size);
	g_free(frame.data);
}

static struct osmsim_hello hello_to(const char *node)
{
	struct osmsim_hello hello = {.version = OSMSIM_VERSION, .pid = 77};

	g_strlcpy(hello.node, node, sizeof(hello.node));
	return hello;
}

int net_hello(struct osmsim_net *net, const char *node)
{
	const struct osmsim_hello hello = hello_to(node);
	struct osmsim_node answer;
	int fd = net_connect(net);

	net_ask(net, fd, OSMSIM_HELLO, &hello, sizeof(hello), &answer, sizeof(answer));
	ck_assert_int_eq(answer.error, 0);
	return fd;
}

void program_start(struct program *program, struct osmsim_net *net, const char *node)
{
	struct osmsim_open open = {.hello = hello_to(node)};
	struct osmsim_result result;

	open.port.port_num = !strcmp(node, "sw") ? 0 : 1;
	program->net = net;
	program->control = net_hello(net, node);
	program->port = net_connect(net);
	net_ask(net, program->port, OSMSIM_OPEN, &open, sizeof(open), &result, sizeof(result));
	ck_assert_int_gt(result.value, 0);
	program->handle = result.value;
}

void program_end(struct program *program)
{
	close(program->port);
	close(program->control);
	osmsim_net_run_ms(program->net, 5);
}

int program_register(struct program *program, const struct osmsim_register *request)
{
	struct osmsim_register with_handle = *request;
	struct osmsim_result result;

	with_handle.handle = program->handle;
	net_ask(program->net, program->control, OSMSIM_REGISTER, &with_handle, sizeof(with_handle),
		&result, sizeof(result));
	return result.value;
}

int program_agent(struct program *program, uint8_t mgmt_class, uint8_t rmpp, uint8_t method)
{
	bool smp = mgmt_class == IBA_CLASS_SUBN_LID || mgmt_class == IBA_CLASS_SUBN_DIRECTED;
	struct osmsim_register request = {
		.qpn = smp ? IBA_QP0 : IBA_QP1,
		.mgmt_class = mgmt_class,
		.class_version = 1,
		.rmpp_version = rmpp,
		.oui = mgmt_class >= 0x30 && mgmt_class <= 0x4F ? 0x1405 : 0,
	};

	if (method)
		request.method_mask[method / 64] = UINT64_C(1) << method % 64;
	return program_register(program, &request);
}

void program_send(struct program *program, uint32_t agent, uint16_t lid, const uint8_t *mad,
		  size_t length, uint32_t timeout_ms, uint32_t retries)
{
	bool smp = mad[1] == IBA_CLASS_SUBN_LID || mad[1] == IBA_CLASS_SUBN_DIRECTED;
	struct ib_user_mad umad = {
		.agent_id = agent,
		.timeout_ms = timeout_ms,
		.retries = retries,
		.addr =
			{
				.qpn = htobe32(smp ? IBA_QP0 : IBA_QP1),
				.qkey = htobe32(smp ? 0 : IBA_QP1_Q_KEY),
				.lid = htobe16(lid),
			},
	};
	g_autofree uint8_t *both = g_malloc(sizeof(umad) + length);

	memcpy(both, &umad, sizeof(umad));
	memcpy(both + sizeof(umad), mad, length);
	net_put(program->net, program->port, OSMSIM_MAD, both, sizeof(umad) + length);
}

size_t program_receive(struct program *program, struct ib_user_mad *umad, uint8_t **mad)
{
	struct frame frame = net_get(program->net, program->port);

	ck_assert_uint_eq(frame.type, OSMSIM_MAD);
	memcpy(umad, frame.data, sizeof(*umad));
	ck_assert_uint_ge(umad->length, sizeof(*umad) + 24);
	ck_assert_uint_eq(frame.length, MAX(umad->length, sizeof(*umad) + 256));
	*mad = g_memdup2(frame.data + sizeof(*umad), umad->length - sizeof(*umad));
	g_free(frame.data);
	return umad->length - sizeof(*umad);
}

void mad_make(uint8_t mad[256], uint8_t mgmt_class, uint8_t method, uint32_t tid)
{
	memset(mad, 0, 256);
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = 1;
	mad[3] = method;
	for (unsigned int i = 0; i < 4; i++)
		mad[12 + i] = tid >> (24 - 8 * i);
	if (mgmt_class >= 0x30 && mgmt_class <= 0x4F) {
		mad[38] = 0x14;
		mad[39] = 0x05;
	}
}

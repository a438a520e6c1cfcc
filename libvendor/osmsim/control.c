// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests of processes: the node they run on, its ports, opening them and registering agents. One
 * table row per request.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "iba/codes.h"
#include "libvendor/osmsim/console.h"
#include "libvendor/osmsim/issm.h"

static void answer(struct connection *connection, enum osmsim_type type, int value)
{
	const struct osmsim_result result = {.value = value};

	connection_put(connection, type, &result, sizeof(result), NULL, 0);
}

/* The text of a hello, which may lack its NUL. */
static struct sim_node *hello_node(const struct connection *connection,
				   const struct osmsim_hello *hello)
{
	char name[sizeof(hello->node) + 1];

	memcpy(name, hello->node, sizeof(hello->node));
	name[sizeof(hello->node)] = '\0';
	return server_find_node(connection->server, name);
}

static void do_hello(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_node out = {0};
	struct osmsim_hello hello;
	const struct sim_node *node;

	(void)length;
	memcpy(&hello, data, sizeof(hello));
	connection->node = hello_node(connection, &hello);
	node = connection->node;
	connection->pid = hello.pid;
	if (hello.version != OSMSIM_VERSION) {
		out.error = -EPROTO;
	} else if (!node) {
		out.error = -ENOENT;
	} else {
		connection->kind = CONNECTION_CONTROL;
		out.type = node->type;
		out.num_ports = node->num_ports;
		out.node_guid = node->claimed_guid;
		out.system_image_guid = node->system_image_guid;
		out.vendor_id = node->vendor_id;
		out.device_id = node->device_id;
		g_strlcpy(out.description, node->description, sizeof(out.description));
	}
	connection_put(connection, OSMSIM_HELLO, &out, sizeof(out), NULL, 0);
}

/* A switch is managed through port 0 only. A removed node has no port. */
struct sim_port *control_end_port(struct sim_node *node, uint32_t number)
{
	bool valid = node->sw ? number == 0 : number >= 1 && number <= node->num_ports;

	return valid && !node->removed ? &node->ports[number] : NULL;
}

static uint32_t rate_of(const struct iba_port_info *info)
{
	uint8_t code = iba_link_rate(info->link_width_active, info->link_speed_active,
				     info->link_speed_ext_active, info->link_speed_ext_active2);

	return (iba_rate_tenths(code) + 5) / 10;
}

static void fill_port(struct osmsim_port *out, const struct sim_port *port)
{
	const struct iba_port_info *info = &port->info;
	unsigned int n;
	const uint16_t *p_keys = sma_p_keys(port, &n);

	out->port_num = port->number;
	out->base_lid = info->lid;
	out->lmc = info->lmc;
	out->sm_lid = info->master_sm_lid;
	out->sm_sl = info->master_sm_sl;
	out->state = info->port_state;
	out->phys_state = info->port_physical_state;
	out->rate = rate_of(info);
	out->capability_mask = info->capability_mask;
	out->gid_prefix = info->gid_prefix;
	out->port_guid = port->guid;
	out->device = port->node->returns;
	out->mtu_cap = info->mtu_cap;
	out->neighbor_mtu = info->neighbor_mtu;
	out->vl_cap = info->vl_cap;
	out->subnet_timeout = info->subnet_timeout;
	out->link_width = info->link_width_active;
	out->link_speed = info->link_speed_active;
	out->link_speed_ext = info->link_speed_ext_active;
	out->link_speed_ext2 = info->link_speed_ext_active2;
	out->n_p_keys = MIN(n, OSMSIM_MAX_P_KEYS);
	memcpy(out->p_keys, p_keys, out->n_p_keys * sizeof(*p_keys));
}

static void do_port(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_port out = {.error = -ENODEV};
	struct osmsim_port_request request;
	const struct sim_port *port;

	(void)length;
	memcpy(&request, data, sizeof(request));
	port = control_end_port(connection->node, request.port_num);
	if (port) {
		out.error = 0;
		fill_port(&out, port);
	}
	connection_put(connection, OSMSIM_PORT, &out, sizeof(out), NULL, 0);
}

/*
 * A handle is never 0, nor one in use. Handles cannot be guessed: a process proves by its handle
 * that a port is its own.
 */
static uint32_t new_handle(struct server *server)
{
	uint32_t handle = 0;

	do {
		if (server->counts_handles)
			handle = ++server->last_handle;
		else if (getrandom(&handle, sizeof(handle), 0) != sizeof(handle))
			handle = g_random_int();
		handle &= INT32_MAX;
	} while (!handle || g_hash_table_contains(server->handles, GUINT_TO_POINTER(handle)));
	return handle;
}

static void do_open(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_open open;
	struct sim_port *port;

	(void)length;
	memcpy(&open, data, sizeof(open));
	connection->pid = open.hello.pid;
	connection->node = hello_node(connection, &open.hello);
	if (open.hello.version != OSMSIM_VERSION || !connection->node) {
		answer(connection, OSMSIM_OPEN, connection->node ? -EPROTO : -ENOENT);
		return;
	}
	port = control_end_port(connection->node, open.port.port_num);
	if (!port) {
		answer(connection, OSMSIM_OPEN, -ENODEV);
		return;
	}
	connection->kind = CONNECTION_PORT;
	connection->port = port;
	connection->agents = g_new0(struct port_agent, OSMSIM_MAX_AGENTS);
	connection->handle = new_handle(connection->server);
	g_hash_table_insert(connection->server->handles, GUINT_TO_POINTER(connection->handle),
			    connection);
	answer(connection, OSMSIM_OPEN, (int)connection->handle);
}

static void do_watch(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_hello hello;

	(void)length;
	memcpy(&hello, data, sizeof(hello));
	connection->pid = hello.pid;
	connection->node = hello_node(connection, &hello);
	if (hello.version != OSMSIM_VERSION || !connection->node) {
		answer(connection, OSMSIM_WATCH, connection->node ? -EPROTO : -ENOENT);
	} else if (connection->node->removed) {
		answer(connection, OSMSIM_WATCH, -ENODEV);
	} else {
		events_watch(connection);
		answer(connection, OSMSIM_WATCH, 0);
	}
}

static struct connection *find_handle(const struct connection *connection, uint32_t handle)
{
	struct connection *port =
		g_hash_table_lookup(connection->server->handles, GUINT_TO_POINTER(handle));

	return port && !port->closing ? port : NULL;
}

static void do_register(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_register request;
	struct connection *port;

	(void)length;
	memcpy(&request, data, sizeof(request));
	port = find_handle(connection, request.handle);
	answer(connection, OSMSIM_REGISTER,
	       port ? mad_register(port, connection, &request) : -EBADF);
}

static void do_unregister(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_unregister request;
	struct connection *port;

	(void)length;
	memcpy(&request, data, sizeof(request));
	port = find_handle(connection, request.handle);
	answer(connection, OSMSIM_UNREGISTER,
	       port ? mad_unregister(port, connection, request.agent) : -EBADF);
}

static void do_issm(struct connection *connection, const uint8_t *data, size_t length)
{
	struct osmsim_path out = {.error = -ENODEV};
	struct osmsim_port_request request;
	struct sim_port *port;

	(void)length;
	memcpy(&request, data, sizeof(request));
	port = control_end_port(connection->node, request.port_num);
	if (port)
		out.error = issm_path(connection->server->issm, port, out.path, sizeof(out.path));
	connection_put(connection, OSMSIM_ISSM, &out, sizeof(out), NULL, 0);
}

static void do_command(struct connection *connection, const uint8_t *data, size_t length)
{
	g_autofree char *text = g_strndup((const char *)data, length);
	g_autoptr(GString) out = g_string_new(NULL);
	const struct osmsim_result result = {
		.value = console_run(connection->server, text, out) ? 0 : -EINVAL,
	};

	connection_put(connection, OSMSIM_COMMAND, &result, sizeof(result), out->str, out->len);
}

static const struct request {
	enum osmsim_type type;
	enum connection_kind kind; /* of connection that may send it */
	size_t min, max;	   /* octets */
	void (*serve)(struct connection *connection, const uint8_t *data, size_t length);
} requests[] = {
#define EXACTLY(type) sizeof(struct type), sizeof(struct type)
	{OSMSIM_HELLO, CONNECTION_NEW, EXACTLY(osmsim_hello), do_hello},
	{OSMSIM_OPEN, CONNECTION_NEW, EXACTLY(osmsim_open), do_open},
	{OSMSIM_WATCH, CONNECTION_NEW, EXACTLY(osmsim_hello), do_watch},
	{OSMSIM_PORT, CONNECTION_CONTROL, EXACTLY(osmsim_port_request), do_port},
	{OSMSIM_REGISTER, CONNECTION_CONTROL, EXACTLY(osmsim_register), do_register},
	{OSMSIM_UNREGISTER, CONNECTION_CONTROL, EXACTLY(osmsim_unregister), do_unregister},
	{OSMSIM_ISSM, CONNECTION_CONTROL, EXACTLY(osmsim_port_request), do_issm},
	{OSMSIM_COMMAND, CONNECTION_CONTROL, 0, OSMSIM_MAX_CONTROL, do_command},
};

void control_frame(struct connection *connection, uint32_t type, const uint8_t *data, size_t length)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(requests); i++) {
		const struct request *request = &requests[i];

		if (request->type != type || request->kind != connection->kind)
			continue;
		if (length < request->min || length > request->max)
			connection_refuse(connection, "a request of a wrong length");
		else
			request->serve(connection, data, length);
		return;
	}
	connection_refuse(connection, "a request that is unknown or out of place");
}

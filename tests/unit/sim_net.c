// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/sim_net.h"

static void receive(void *arg, struct vendor_mad *mad)
{
	struct net *net = arg;

	g_queue_push_tail(&net->mads, mad);
}

/* Directed routes from the client's port, breadth first over the cables. */
static void find_paths(struct net *net)
{
	unsigned int n = sim_nodes(net->sim);
	g_autofree unsigned int *queue = g_new(unsigned int, n);
	unsigned int head = 0, tail = 0;

	net->paths = g_malloc0_n(n, sizeof(*net->paths));
	net->hops = g_malloc(n);
	memset(net->hops, 0xFF, n);
	net->hops[net->self] = 0;
	queue[tail++] = net->self;
	while (head < tail) {
		unsigned int at = queue[head++], peer, peer_port;
		struct sim_node_view view;

		sim_node_view(net->sim, at, &view);
		if (at != net->self && view.type != IBA_NODE_SWITCH)
			continue;
		for (unsigned int p = 1; p <= view.num_ports; p++) {
			if (!sim_peer(net->sim, at, p, &peer, &peer_port) ||
			    net->hops[peer] != 0xFF)
				continue;
			memcpy(net->paths[peer], net->paths[at], sizeof(*net->paths));
			net->hops[peer] = net->hops[at] + 1;
			net->paths[peer][net->hops[peer]] = p;
			queue[tail++] = peer;
		}
	}
}

struct net *net_new(const char *spec, const struct sim_config *config)
{
	struct net *net = g_new0(struct net, 1);
	struct sim_config standard;
	g_autoptr(GError) error = NULL;

	sim_config_default(&standard);
	net->tid = 0x10000;
	net->rt = runtime_new(RUNTIME_VIRTUAL);
	net->log = log_new_null();
	net->topology = topology_load(spec, &error);
	ck_assert_msg(net->topology != NULL, "%s", error ? error->message : "?");
	net->sim = sim_new(net->rt, net->log, net->topology, config ? config : &standard);
	sim_start(net->sim);
	net->actor = actor_new(net->rt, "client");
	net->vendor = sim_open(net->sim, 0, &error);
	ck_assert_msg(net->vendor != NULL, "%s", error ? error->message : "?");
	net->client = (struct vendor_client){net->actor, net, receive};
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_SUBN_LID, true, &net->client, NULL));
	ck_assert(vendor_bind(net->vendor, IBA_CLASS_SUBN_DIRECTED, true, &net->client, NULL));
	net->self = sim_find_guid(net->sim, vendor_port_guid(net->vendor));
	find_paths(net);
	return net;
}

struct net *net_new_text(const char *text)
{
	g_autofree char *file = NULL;
	struct net *net;

	close(g_file_open_tmp("net-XXXXXX", &file, NULL));
	ck_assert(g_file_set_contents(file, text, -1, NULL));
	net = net_new(file, NULL);
	g_unlink(file);
	return net;
}

void net_free(struct net *net)
{
	struct vendor_mad *mad;

	vendor_close(net->vendor);
	sim_free(net->sim);
	actor_stop(net->actor);
	actor_free(net->actor);
	while ((mad = g_queue_pop_head(&net->mads)))
		vendor_mad_free(mad);
	topology_free(net->topology);
	runtime_free(net->rt);
	log_free(net->log);
	g_free(net->paths);
	g_free(net->hops);
	g_free(net);
}

void net_run_ms(struct net *net, uint64_t ms)
{
	runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + ms * NS_PER_MS);
}

static bool has_mad(void *arg)
{
	return !g_queue_is_empty(&((struct net *)arg)->mads);
}

struct vendor_mad *net_take(struct net *net, uint64_t ms)
{
	runtime_run(net->rt, has_mad, net, runtime_now(net->rt) + ms * NS_PER_MS);
	return g_queue_pop_head(&net->mads);
}

uint32_t net_smp(struct net *net, uint8_t smp[256], uint8_t mgmt_class, uint8_t method,
		 uint16_t attribute, uint32_t modifier)
{
	struct iba_dr_smp header = {
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = mgmt_class,
		.class_version = IBA_SMP_CLASS_VERSION,
		.method = method,
		.transaction_id = ++net->tid,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
		.m_key = net->m_key,
	};

	if (mgmt_class == IBA_CLASS_SUBN_DIRECTED)
		header.dr_slid = header.dr_dlid = IBA_LID_PERMISSIVE;
	wire_encode(&iba_dr_smp_type, &header, smp);
	return net->tid;
}

void net_direct(struct net *net, uint8_t smp[256], unsigned int node)
{
	ck_assert_uint_ne(net->hops[node], 0xFF);
	smp[7] = net->hops[node];
	memcpy(smp + 128, net->paths[node], 64);
}

struct awaited {
	struct net *net;
	const uint8_t *tid;
	GList *item;
};

/* Others, such as traps, stay in the queue. */
static bool has_answer(void *arg)
{
	struct awaited *awaited = arg;

	awaited->item = awaited->net->mads.head;
	while (awaited->item &&
	       memcmp(((struct vendor_mad *)awaited->item->data)->data + 12, awaited->tid, 4) != 0)
		awaited->item = awaited->item->next;
	return awaited->item != NULL;
}

struct vendor_mad *net_ask_at(struct net *net, const struct vendor_address *to,
			      const uint8_t mad[256])
{
	struct awaited awaited = {net, mad + 12, NULL};
	struct vendor_mad *answer;

	ck_assert(vendor_send(net->vendor, to, mad, 256, NET_TIMEOUT_MS));
	runtime_run(net->rt, has_answer, &awaited,
		    runtime_now(net->rt) + 2 * NET_TIMEOUT_MS * NS_PER_MS);
	ck_assert_msg(awaited.item != NULL, "neither response nor timeout");
	answer = awaited.item->data;
	g_queue_delete_link(&net->mads, awaited.item);
	return answer;
}

struct vendor_mad *net_ask(struct net *net, uint16_t lid, const uint8_t mad[256])
{
	const struct vendor_address to = {.lid = lid};

	return net_ask_at(net, &to, mad);
}

int net_gmp_ask(struct net *net, uint16_t lid, uint8_t mad[256])
{
	const struct vendor_address to = {.lid = lid, .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	struct vendor_mad *answer = net_ask_at(net, &to, mad);
	int status = -1;

	if (answer->status == VENDOR_RECEIVED) {
		ck_assert_uint_eq(answer->data[3], IBA_METHOD_GET_RESP);
		ck_assert_uint_eq(answer->remote.lid, lid);
		ck_assert_uint_eq(answer->remote.qpn, IBA_QP1);
		status = answer->data[4] << 8 | answer->data[5];
		memcpy(mad, answer->data, 256);
	}
	vendor_mad_free(answer);
	return status;
}

static int ask(struct net *net, uint16_t lid, uint8_t smp[256], uint8_t *data)
{
	struct vendor_mad *answer;
	int status = -1;

	if (data)
		memcpy(smp + 64, data, 64);
	answer = net_ask(net, lid, smp);
	if (answer->status == VENDOR_RECEIVED) {
		ck_assert_uint_eq(answer->data[3], IBA_METHOD_GET_RESP);
		status = (answer->data[4] << 8 | answer->data[5]) & 0x7FFF;
		if (data)
			memcpy(data, answer->data + 64, 64);
	}
	vendor_mad_free(answer);
	return status;
}

int net_direct_ask(struct net *net, unsigned int node, uint8_t method, uint16_t attribute,
		   uint32_t modifier, uint8_t *data)
{
	uint8_t smp[256];

	net_smp(net, smp, IBA_CLASS_SUBN_DIRECTED, method, attribute, modifier);
	net_direct(net, smp, node);
	return ask(net, IBA_LID_PERMISSIVE, smp, data);
}

int net_lid_ask(struct net *net, uint16_t lid, uint8_t method, uint16_t attribute,
		uint32_t modifier, uint8_t *data)
{
	uint8_t smp[256];

	net_smp(net, smp, IBA_CLASS_SUBN_LID, method, attribute, modifier);
	return ask(net, lid, smp, data);
}

void net_port_get(struct net *net, unsigned int node, unsigned int port, struct iba_port_info *info)
{
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, port, data),
			 0);
	wire_decode(&iba_port_info_type, data, info);
}

int net_port_set(struct net *net, unsigned int node, unsigned int port, struct iba_port_info *info)
{
	uint8_t data[64] = {0};
	int status;

	wire_encode(&iba_port_info_type, info, data);
	status = net_direct_ask(net, node, IBA_METHOD_SET, IBA_ATTR_PORT_INFO, port, data);
	wire_decode(&iba_port_info_type, data, info);
	return status;
}

int net_port_state(struct net *net, unsigned int node, unsigned int port, uint8_t state)
{
	struct iba_port_info info;

	net_port_get(net, node, port, &info);
	info.port_state = state;
	info.port_physical_state = 0;
	return net_port_set(net, node, port, &info);
}

/* ---- bring-up ---- */

static void give_lid(struct net *net, unsigned int node, unsigned int port)
{
	struct iba_port_info info;

	net_port_get(net, node, port, &info);
	info.lid = net_lid(node);
	info.master_sm_lid = net_lid(net->self);
	info.port_state = 0;
	info.port_physical_state = 0;
	ck_assert_int_eq(net_port_set(net, node, port, &info), 0);
}

/* For each switch the port towards dest: breadth first from there. */
static void route_to(struct net *net, unsigned int dest, uint8_t **lfts)
{
	unsigned int n = sim_nodes(net->sim), head = 0, tail = 0, peer, peer_port;
	g_autofree unsigned int *queue = g_new(unsigned int, n);
	g_autofree bool *seen = g_new0(bool, n);

	queue[tail++] = dest;
	seen[dest] = true;
	if (lfts[dest])
		lfts[dest][net_lid(dest)] = 0;
	while (head < tail) {
		unsigned int at = queue[head++];
		struct sim_node_view view;

		sim_node_view(net->sim, at, &view);
		if (at != dest && view.type != IBA_NODE_SWITCH)
			continue;
		for (unsigned int p = 1; p <= view.num_ports; p++) {
			if (!sim_peer(net->sim, at, p, &peer, &peer_port) || seen[peer])
				continue;
			seen[peer] = true;
			if (lfts[peer])
				lfts[peer][net_lid(dest)] = peer_port;
			queue[tail++] = peer;
		}
	}
}

static void program(struct net *net, unsigned int node, const uint8_t *lft, unsigned int top)
{
	struct iba_switch_info info;
	uint8_t data[64] = {0};

	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO, 0, data),
			 0);
	wire_decode(&iba_switch_info_type, data, &info);
	info.linear_fdb_top = top;
	info.port_state_change = 1;
	wire_encode(&iba_switch_info_type, &info, data);
	ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_SET, IBA_ATTR_SWITCH_INFO, 0, data),
			 0);
	for (unsigned int block = 0; block <= top / 64; block++) {
		memcpy(data, lft + block * 64, 64);
		ck_assert_int_eq(net_direct_ask(net, node, IBA_METHOD_SET,
						IBA_ATTR_LINEAR_FORWARDING_TABLE, block, data),
				 0);
	}
}

static void activate(struct net *net, uint8_t state)
{
	for (unsigned int i = 0; i < sim_nodes(net->sim); i++) {
		struct sim_node_view view;

		sim_node_view(net->sim, i, &view);
		for (unsigned int p = 1; p <= view.num_ports; p++)
			if (sim_link_up(net->sim, i, p))
				ck_assert_int_eq(net_port_state(net, i, p, state), 0);
	}
}

void net_bring_up(struct net *net)
{
	unsigned int n = sim_nodes(net->sim);
	uint8_t **lfts = g_new0(uint8_t *, n);
	struct sim_node_view view;

	for (unsigned int i = 0; i < n; i++) {
		sim_node_view(net->sim, i, &view);
		give_lid(net, i, view.type == IBA_NODE_SWITCH ? 0 : 1);
		if (view.type != IBA_NODE_SWITCH)
			continue;
		lfts[i] = g_malloc(49152);
		memset(lfts[i], 0xFF, 49152);
	}
	for (unsigned int i = 0; i < n; i++)
		route_to(net, i, lfts);
	for (unsigned int i = 0; i < n; i++)
		if (lfts[i])
			program(net, i, lfts[i], net_lid(n - 1));
	activate(net, IBA_PORT_ARMED);
	activate(net, IBA_PORT_ACTIVE);
	for (unsigned int i = 0; i < n; i++)
		g_free(lfts[i]);
	g_free(lfts);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Vendor ports of the simulated fabric: who on a port gets which MAD.
 *
 * As with the kernel's user MAD interface several clients may open the same port. Each has a
 * number, which replaces the high half of the TransactionID of its requests, so that responses
 * find it. Unsolicited MADs go to the client that bound their class as manager.
 *
 * vendor_send only queues: the packet is made on the sim's actor, which also owns the requests
 * that wait for a response (pending) and their timers.
 */
#include <string.h>

#include "libvendor/sim/port.h"

#define MAX_OUTSTANDING 1024

/* A MAD on its way from the client's thread. */
struct send {
	struct message message;
	struct sim_vendor *vendor;
	struct vendor_address to;
	unsigned int timeout_ms;
	size_t length;
	uint8_t data[];
};

const struct binding *port_binding(const struct sim_vendor *vendor, uint8_t mgmt_class)
{
	for (unsigned int i = 0; i < vendor->bindings->len; i++) {
		const struct binding *binding = &g_array_index(vendor->bindings, struct binding, i);

		if (binding->mgmt_class == mgmt_class)
			return binding;
	}
	return NULL;
}

struct sim_vendor *port_manager(const struct sim_port *port, uint8_t mgmt_class)
{
	for (GSList *item = port->vendors; item; item = item->next) {
		const struct binding *binding = port_binding(item->data, mgmt_class);

		if (binding && binding->manager)
			return item->data;
	}
	return NULL;
}

bool sim_client_has_manager(const struct sim_port *port, uint8_t mgmt_class)
{
	return port_manager(port, mgmt_class) != NULL;
}

/* ---- to clients ---- */

struct vendor_address port_remote(const struct sim_packet *packet)
{
	struct vendor_address remote = packet->grh;

	remote.lid = packet->slid;
	remote.sl = packet->sl;
	remote.qpn = packet->src_qp;
	remote.qkey = packet->q_key;
	return remote;
}

void port_hand_over(struct sim_vendor *vendor, const struct binding *binding,
		    const struct vendor_address *remote, const uint8_t *data, size_t length)
{
	struct vendor_mad *mad = vendor_mad_new(&vendor->base, data, length);

	mad->remote = *remote;
	vendor->sim->counters.mads_received++;
	vendor_mad_post(mad, &binding->client);
}

static void hand_over(struct sim_vendor *vendor, const struct binding *binding,
		      const struct sim_packet *packet)
{
	const struct vendor_address remote = port_remote(packet);

	port_hand_over(vendor, binding, &remote, packet->data, IBA_MAD_BYTES);
}

bool sim_client_unsolicited(struct sim_port *port, struct sim_packet *packet)
{
	uint8_t mgmt_class = packet->data[SIM_MAD_CLASS];
	struct sim_vendor *vendor = port_manager(port, mgmt_class);

	if (!vendor)
		return false;
	hand_over(vendor, port_binding(vendor, mgmt_class), packet);
	return true;
}

/* ---- requests that wait ---- */

static uint64_t pending_key(const uint8_t *data)
{
	return (uint64_t)data[SIM_MAD_CLASS] << 32 | sim_read32(data + SIM_MAD_TID + 4);
}

void port_pending_end(struct sim_pending *pending)
{
	struct sim *sim = pending->vendor->sim;

	timer_stop(&pending->timer);
	g_hash_table_remove(pending->vendor->pending, &pending->key);
	pending->next = sim->free_pending;
	sim->free_pending = pending;
}

void port_give_back(struct sim_vendor *vendor, const uint8_t *data, size_t length,
		    const struct vendor_address *to, enum vendor_status status)
{
	const struct binding *binding = port_binding(vendor, data[SIM_MAD_CLASS]);
	struct vendor_mad *mad;

	if (!binding)
		return;
	mad = vendor_mad_new(&vendor->base, data, length);
	mad->remote = *to;
	mad->status = status;
	vendor_mad_post(mad, &binding->client);
}

static void pending_fire(struct timer *timer)
{
	struct sim_pending *pending = (struct sim_pending *)timer;

	port_give_back(pending->vendor, pending->data, IBA_MAD_BYTES, &pending->to,
		       VENDOR_TIMED_OUT);
	port_pending_end(pending);
}

/* NULL if the client already waits for a response with the same TransactionID. */
static struct sim_pending *pending_new(struct sim_vendor *vendor, const struct send *send)
{
	struct sim *sim = vendor->sim;
	struct sim_pending *pending;
	uint64_t key = pending_key(send->data);

	if (g_hash_table_contains(vendor->pending, &key))
		return NULL;
	pending = sim->free_pending;
	if (pending) {
		sim->free_pending = pending->next;
	} else {
		pending = g_new0(struct sim_pending, 1);
		timer_init(&pending->timer, sim->actor, pending_fire);
	}
	pending->key = key;
	pending->vendor = vendor;
	pending->to = send->to;
	pending->serial++;
	memcpy(pending->data, send->data, IBA_MAD_BYTES);
	g_hash_table_insert(vendor->pending, &pending->key, pending);
	sim->counters.outstanding_max =
		MAX(sim->counters.outstanding_max, g_hash_table_size(vendor->pending));
	return pending;
}

struct sim_pending *port_pending(const struct sim_port *port, const struct sim *sim,
				 const uint8_t *mad)
{
	uint32_t number = sim_read32(mad + SIM_MAD_TID);
	uint64_t key = pending_key(mad);
	struct sim_vendor *vendor;

	if (number < 1 || number > sim->vendors->len)
		return NULL;
	vendor = sim->vendors->pdata[number - 1];
	if (!vendor || vendor->port != port)
		return NULL;
	return g_hash_table_lookup(vendor->pending, &key); /* NULL: too late */
}

bool sim_client_response(struct sim_port *port, struct sim_packet *packet)
{
	struct sim_pending *pending = port_pending(port, packet->sim, packet->data);
	struct sim_vendor *vendor;

	if (!pending)
		return false;
	vendor = pending->vendor;
	port_pending_end(pending);
	hand_over(vendor, port_binding(vendor, packet->data[SIM_MAD_CLASS]), packet);
	return true;
}

/* ---- sending ---- */

static void set_addresses(struct sim_packet *packet, const struct sim_vendor *vendor,
			  const struct vendor_address *to)
{
	const struct sim_port *port = vendor->port;
	unsigned int n;
	const uint16_t *p_keys = sma_p_keys(port, &n);
	bool directed = to->lid == IBA_LID_PERMISSIVE;

	packet->node = port->node;
	packet->port = port->number;
	packet->dlid = to->lid;
	packet->slid = directed ? IBA_LID_PERMISSIVE
				: port->info.lid | (to->path_bits & ((1U << port->info.lmc) - 1));
	packet->sl = to->sl;
	packet->p_key = to->p_key_index < n ? p_keys[to->p_key_index] : 0;
	packet->dest_qp = to->qpn;
	packet->src_qp = to->qpn == IBA_QP0 ? IBA_QP0 : IBA_QP1;
	packet->q_key = to->qkey;
	packet->grh = (struct vendor_address){0};
	if (to->has_grh) {
		packet->grh.has_grh = true;
		packet->grh.hop_limit = to->hop_limit;
		packet->grh.traffic_class = to->traffic_class;
		packet->grh.flow_label = to->flow_label;
		packet->grh.gid.prefix = port->info.gid_prefix;
		packet->grh.gid.guid = port->guid;
	}
}

void port_send_packet(struct sim_vendor *vendor, const struct vendor_address *to,
		      const uint8_t *data)
{
	struct sim_packet *packet = sim_packet_new(vendor->sim);

	set_addresses(packet, vendor, to);
	memcpy(packet->data, data, IBA_MAD_BYTES);
	/* A client answers with the pointer as it came or already set for the way back. */
	if (sim_is_returning(packet))
		packet->data[SIM_MAD_HOP_POINTER] = packet->data[SIM_MAD_HOP_COUNT] + 1;
	sim_inject(packet);
}

/* One packet, or the segments of a message. */
static void send_message(struct sim_vendor *vendor, const struct send *send)
{
	if (send->data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_ADM && rmpp_is_active(send->data))
		port_rmpp_send(vendor, &send->to, send->data, MAX(send->length, RMPP_HEADERS));
	else
		port_send_packet(vendor, &send->to, send->data);
}

static void send_request(struct sim_vendor *vendor, struct send *send)
{
	struct sim_pending *pending;
	uint64_t key, serial;

	sim_write32(send->data + SIM_MAD_TID, vendor->number);
	/* Without a binding nobody could be given the response. */
	pending =
		port_binding(vendor, send->data[SIM_MAD_CLASS]) ? pending_new(vendor, send) : NULL;
	if (!pending) {
		port_give_back(vendor, send->data, IBA_MAD_BYTES, &send->to, VENDOR_FAILED);
		return;
	}
	key = pending->key;
	serial = pending->serial;
	send_message(vendor, send);
	/* Mostly the response is there by now, and no timer is needed. */
	if (g_hash_table_lookup(vendor->pending, &key) == pending && pending->serial == serial)
		timer_start(&pending->timer, send->timeout_ms * NS_PER_MS);
}

static void send_run(struct message *message)
{
	struct send *send = (struct send *)message;
	struct sim_vendor *vendor = send->vendor;

	if (!vendor->closed) {
		vendor->sim->counters.mads_sent++;
		if (send->timeout_ms)
			send_request(vendor, send);
		else
			send_message(vendor, send);
	}
	g_free(send);
}

static bool port_send(struct vendor *base, const struct vendor_address *to, const uint8_t *data,
		      size_t length, unsigned int timeout_ms)
{
	struct sim_vendor *vendor = (struct sim_vendor *)base;
	size_t room = MAX(length, IBA_MAD_BYTES);
	struct send *send = g_malloc(sizeof(*send) + room);

	send->message.run = send_run;
	send->message.drop = NULL;
	send->vendor = vendor;
	send->to = *to;
	send->timeout_ms = timeout_ms;
	send->length = length;
	memcpy(send->data, data, length);
	memset(send->data + length, 0, room - length);
	actor_post(vendor->sim->actor, &send->message);
	return true;
}

/* ---- binding, IsSM, open, close: short visits to the sim's actor ---- */

struct visit {
	struct sim_vendor *vendor;
	struct sim_port *port;
	struct binding binding;
	bool on, done;
	const char *why; /* if not done */
};

static void bind_call(struct sim *sim, void *arg)
{
	struct visit *visit = arg;
	struct sim_vendor *vendor = visit->vendor;

	(void)sim;
	visit->why = "is bound already";
	if (port_binding(vendor, visit->binding.mgmt_class))
		return;
	visit->why = "has a manager already";
	if (visit->binding.manager &&
	    sim_client_has_manager(vendor->port, visit->binding.mgmt_class))
		return;
	g_array_append_val(vendor->bindings, visit->binding);
	visit->done = true;
}

static bool port_bind(struct vendor *base, uint8_t mgmt_class, bool manager,
		      const struct vendor_client *client, GError **error)
{
	struct sim_vendor *vendor = (struct sim_vendor *)base;
	struct visit visit = {
		.vendor = vendor,
		.binding = {.mgmt_class = mgmt_class, .manager = manager, .client = *client},
	};

	sim_call(vendor->sim, bind_call, &visit);
	if (!visit.done)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_BUSY,
			    "%s: management class 0x%02x %s", base->name, mgmt_class, visit.why);
	return visit.done;
}

static void is_sm_call(struct sim *sim, void *arg)
{
	struct visit *visit = arg;
	struct iba_port_info *info = &visit->vendor->port->info;
	uint32_t was = info->capability_mask;

	for (GSList *item = visit->vendor->port->vendors; item; item = item->next) {
		const struct sim_vendor *other = item->data;

		if (other != visit->vendor && other->is_sm) {
			visit->done = !visit->on;
			return; /* the bit is that client's */
		}
	}
	visit->vendor->is_sm = visit->on;
	visit->done = true;
	if (visit->on)
		info->capability_mask |= IBA_PORT_CAP_SM;
	else
		info->capability_mask &= ~(uint32_t)IBA_PORT_CAP_SM;
	if (info->capability_mask != was)
		sim_trap_local_change(sim, visit->vendor->port, 0);
}

static bool port_set_is_sm(struct vendor *base, bool on, GError **error)
{
	struct sim_vendor *vendor = (struct sim_vendor *)base;
	struct visit visit = {.vendor = vendor, .on = on};

	sim_call(vendor->sim, is_sm_call, &visit);
	if (!visit.done)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_BUSY,
			    "%s: another client has set IsSM", base->name);
	return visit.done;
}

/* The shell stays until the end: another thread may just be sending, in vain. */
static void vendor_shut(struct sim_vendor *vendor)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, vendor->pending);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct sim_pending *pending = value;

		timer_stop(&pending->timer);
		g_free(pending);
	}
	g_hash_table_destroy(vendor->pending);
	port_rmpp_clear(vendor);
	g_array_free(vendor->bindings, TRUE);
	vendor->port->vendors = g_slist_remove(vendor->port->vendors, vendor);
	vendor->sim->vendors->pdata[vendor->number - 1] = NULL;
	vendor->closed = true;
	g_ptr_array_add(vendor->sim->closed_vendors, vendor);
}

static void close_call(struct sim *sim, void *arg)
{
	struct visit *visit = arg;

	if (visit->vendor->is_sm) {
		visit->on = false;
		is_sm_call(sim, visit);
	}
	vendor_shut(visit->vendor);
}

static void port_close(struct vendor *base)
{
	struct sim_vendor *vendor = (struct sim_vendor *)base;
	struct visit visit = {.vendor = vendor};

	/* What this thread queued before is sent before. */
	sim_call(vendor->sim, close_call, &visit);
}

static const struct vendor_ops port_ops = {
	.bind = port_bind,
	.send = port_send,
	.set_is_sm = port_set_is_sm,
	.close = port_close,
};

static void open_call(struct sim *sim, void *arg)
{
	struct visit *visit = arg;
	struct sim_vendor *vendor = visit->vendor;

	g_ptr_array_add(sim->vendors, vendor);
	vendor->number = sim->vendors->len;
	vendor->port->vendors = g_slist_append(vendor->port->vendors, vendor);
}

/* The port to open; GUIDs and types do not change, so any thread may look. */
static struct sim_port *find_port(struct sim *sim, uint64_t guid)
{
	struct sim_port *port;

	if (guid) {
		port = g_hash_table_lookup(sim->by_guid, &guid);
		/* A node GUID that is no port's. */
		return port && port->guid == guid ? port : NULL;
	}
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].type == IBA_NODE_CA)
			return &sim->nodes[i].ports[1];
	return NULL;
}

struct vendor *sim_open(struct sim *sim, uint64_t port_guid, GError **error)
{
	struct sim_port *port = find_port(sim, port_guid);
	struct sim_vendor *vendor;
	struct visit visit = {0};

	if (!port && port_guid)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_SUCH_PORT,
			    "no port of the simulated fabric has GUID 0x%016" G_GINT64_MODIFIER "x",
			    port_guid);
	else if (!port)
		g_set_error(error, VENDOR_ERROR, VENDOR_ERROR_NO_DEVICE,
			    "the simulated fabric has no channel adapter");
	if (!port)
		return NULL;
	vendor = g_new0(struct sim_vendor, 1);
	vendor->base.ops = &port_ops;
	vendor->base.port_guid = port->guid;
	vendor->base.max_outstanding = MAX_OUTSTANDING;
	g_snprintf(vendor->base.name, sizeof(vendor->base.name), "sim %s port %u",
		   port->node->description, port->number);
	vendor->sim = sim;
	vendor->port = port;
	vendor->bindings = g_array_new(FALSE, FALSE, sizeof(struct binding));
	vendor->pending = g_hash_table_new(g_int64_hash, g_int64_equal);
	port_rmpp_init(vendor);
	visit.vendor = vendor;
	sim_call(sim, open_call, &visit);
	return &vendor->base;
}

void sim_clients_clear(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->vendors->len; i++)
		if (sim->vendors->pdata[i])
			vendor_shut(sim->vendors->pdata[i]);
	while (sim->free_pending) {
		struct sim_pending *pending = sim->free_pending;

		sim->free_pending = pending->next;
		g_free(pending);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Vendor ports of the simulated fabric: each is an agent with a filter for every bound class.
 *
 * vendor_send only queues: the packet is made on the sim's actor, which owns the agent.
 */
#include <errno.h>
#include <string.h>

#include "libvendor/sim/agent.h"

#define MAX_OUTSTANDING 1024

struct binding {
	uint8_t mgmt_class;
	bool manager;
	struct vendor_client client;
};

struct sim_vendor {
	struct vendor base;
	struct sim *sim;
	struct sim_port *port;
	struct agent *agent; /* NULL: closed, or its device is gone */
	GArray *bindings;    /* struct binding; NULL: closed */
	bool is_sm;
};

/* A MAD in transit from the client's thread. */
struct send {
	struct message message;
	struct sim_vendor *vendor;
	struct vendor_address to;
	unsigned int timeout_ms;
	size_t length;
	uint8_t data[];
};

static const struct binding *find_binding(const struct sim_vendor *vendor, uint8_t mgmt_class)
{
	for (unsigned int i = 0; i < vendor->bindings->len; i++) {
		const struct binding *binding = &g_array_index(vendor->bindings, struct binding, i);

		if (binding->mgmt_class == mgmt_class)
			return binding;
	}
	return NULL;
}

/* Delivers a MAD to the client that bound its class. */
static void port_receive(void *arg, enum vendor_status status, const struct vendor_address *remote,
			 const uint8_t *data, size_t length)
{
	struct sim_vendor *vendor = arg;
	const struct binding *binding = find_binding(vendor, data[SIM_MAD_CLASS]);
	struct vendor_mad *mad;

	if (!binding)
		return;
	mad = vendor_mad_new(&vendor->base, data, length);
	mad->remote = *remote;
	mad->status = status;
	vendor_mad_post(mad, &binding->client);
}

/* ---- sending ---- */

/* If the device is gone, only requests are returned. */
static int try_send(struct sim_vendor *vendor, const struct agent_send *what)
{
	if (vendor->agent)
		return agent_send(vendor->agent, what);
	return what->timeout_ms ? -ENODEV : 0;
}

static void send_run(struct message *message)
{
	struct send *send = (struct send *)message;
	struct sim_vendor *vendor = send->vendor;
	const struct agent_send what = {
		.to = send->to,
		.timeout_ms = send->timeout_ms,
		.retries = vendor_is_message(send->data, send->length) ? VENDOR_RMPP_RETRIES : 0,
		.data = send->data,
		.length = send->length,
	};

	/* Without a binding no client could get the response. */
	if (vendor->bindings &&
	    (!send->timeout_ms || find_binding(vendor, send->data[SIM_MAD_CLASS])) &&
	    try_send(vendor, &what) != 0)
		port_receive(vendor, VENDOR_FAILED, &send->to, send->data, IBA_MAD_BYTES);
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

/* ---- binding, IsSM, open, close: short calls on the sim's actor ---- */

struct visit {
	struct sim_vendor *vendor;
	struct sim_port *port;
	struct binding binding;
	bool on, done;
	const char *why; /* why it failed, or NULL */
};

/* A manager takes all unsolicited MADs of its class. */
static struct agent_filter filter_of(const struct vendor *vendor, uint8_t mgmt_class, bool manager)
{
	bool segments =
		mgmt_class == IBA_CLASS_SUBN_ADM && !vendor_does_rmpp(vendor, mgmt_class, manager);
	bool smp = mgmt_class == IBA_CLASS_SUBN_LID || mgmt_class == IBA_CLASS_SUBN_DIRECTED;
	uint64_t methods = manager ? UINT64_MAX : 0;

	return (struct agent_filter){
		.qpn = smp ? IBA_QP0 : IBA_QP1,
		.mgmt_class = mgmt_class,
		.class_version = AGENT_ANY_VERSION,
		.rmpp_version = segments ? IBA_RMPP_VERSION : 0,
		.oui = VENDOR_REPLICATION_OUI,
		.methods = {methods, methods},
	};
}

static bool register_binding(struct sim_vendor *vendor, const struct binding *binding)
{
	const struct agent_filter filter =
		filter_of(&vendor->base, binding->mgmt_class, binding->manager);

	return agent_register(vendor->agent, &filter) == 0;
}

static void bind_call(struct sim *sim, void *arg)
{
	struct visit *visit = arg;
	struct sim_vendor *vendor = visit->vendor;

	(void)sim;
	visit->why = "is bound already";
	if (find_binding(vendor, visit->binding.mgmt_class))
		return;
	visit->why = "has a manager already, or cannot be bound";
	if (!vendor->agent || !register_binding(vendor, &visit->binding))
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

	for (unsigned int i = 0; i < sim->vendors->len; i++) {
		const struct sim_vendor *other = sim->vendors->pdata[i];

		if (other != visit->vendor && other->port == visit->vendor->port && other->is_sm) {
			visit->done = !visit->on;
			return; /* the bit belongs to that client */
		}
	}
	visit->vendor->is_sm = visit->on;
	visit->done = true;
	if (visit->vendor->agent)
		agent_set_is_sm(sim, visit->vendor->port, visit->on);
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

/* The struct stays until the end: another thread may be sending at this moment, in vain. */
static void vendor_shut(struct sim_vendor *vendor)
{
	if (!vendor->bindings)
		return;
	g_clear_pointer(&vendor->agent, agent_free);
	g_array_free(g_steal_pointer(&vendor->bindings), TRUE);
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

	/* MADs that this thread queued before are sent first. */
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
	if (vendor->port->node->removed)
		atomic_store(&vendor->base.lost, true);
	else
		vendor->agent = agent_new(sim, vendor->port, port_receive, vendor);
}

/* The first port of a host with a cable; if none has a cable, the first host port. */
static void first_port_call(struct sim *sim, void *arg)
{
	struct visit *visit = arg;

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		for (unsigned int num = 1; num <= node->num_ports; num++) {
			if (node->type != IBA_NODE_CA || (visit->port && !node->ports[num].peer))
				continue;
			visit->port = &node->ports[num];
			if (visit->port->peer)
				return;
		}
	}
}

/* The port to open. GUIDs do not change, so any thread may read them; cables do change. */
static struct sim_port *find_port(struct sim *sim, uint64_t guid)
{
	struct visit visit = {0};

	if (guid) {
		visit.port = g_hash_table_lookup(sim->by_guid, &guid);
		/* A node GUID that is not a port GUID does not count. */
		return visit.port && visit.port->guid == guid ? visit.port : NULL;
	}
	sim_call(sim, first_port_call, &visit);
	return visit.port;
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
	vendor->base.rmpp = VENDOR_RMPP_OWN;
	vendor_set_name(&vendor->base, "sim %s port %u", port->node->description, port->number);
	vendor->sim = sim;
	vendor->port = port;
	vendor->bindings = g_array_new(FALSE, FALSE, sizeof(struct binding));
	visit.vendor = vendor;
	sim_call(sim, open_call, &visit);
	return &vendor->base;
}

/* ---- events of the port ---- */

void sim_vendors_tell(struct sim *sim, const struct sim_port *port, unsigned int events)
{
	unsigned int reported = events & ~SIM_GID_CHANGED;

	for (unsigned int i = 0; i < sim->vendors->len; i++) {
		struct sim_vendor *vendor = sim->vendors->pdata[i];

		if (vendor->port == port && vendor->agent && reported)
			vendor_tell(&vendor->base, reported);
	}
	if (sim->on_event)
		sim->on_event(sim->on_event_arg, port, events);
}

/* Restores all bindings and IsSM: no other client can have bound them in the meantime. */
static void vendor_return(struct sim_vendor *vendor)
{
	struct sim *sim = vendor->sim;

	vendor->agent = agent_new(sim, vendor->port, port_receive, vendor);
	for (unsigned int i = 0; i < vendor->bindings->len; i++)
		register_binding(vendor, &g_array_index(vendor->bindings, struct binding, i));
	if (vendor->is_sm)
		agent_set_is_sm(sim, vendor->port, true);
}

void sim_vendors_lose(struct sim *sim, const struct sim_node *node, bool lost)
{
	for (unsigned int i = 0; i < sim->vendors->len; i++) {
		struct sim_vendor *vendor = sim->vendors->pdata[i];

		if (vendor->port->node != node || !vendor->bindings)
			continue;
		if (lost)
			g_clear_pointer(&vendor->agent, agent_free);
		else
			vendor_return(vendor);
		vendor_tell_lost(&vendor->base, lost);
	}
}

void sim_vendors_init(struct sim *sim)
{
	sim->vendors = g_ptr_array_new_with_free_func(g_free);
}

void sim_vendors_clear(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->vendors->len; i++)
		vendor_shut(sim->vendors->pdata[i]);
	g_ptr_array_free(sim->vendors, TRUE);
}

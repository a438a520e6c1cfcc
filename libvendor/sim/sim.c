// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The simulated fabric: construction and inspection.
 *
 * One actor owns every object. Clients reach it through the vendor layer (port.c), whose sends are
 * messages to the actor; tests and the console reach it through sim_call. All random numbers come
 * from one generator seeded by the configuration, all time from the runtime: in a virtual runtime
 * the same calls make the same packets at the same times.
 *
 * topology*.c   what there is            forward.c  how packets get about
 * link.c        ports and cables         local.c    where they end
 * sma*.c trap.c the agent of each node   port.c     clients
 * fault.c       what breaks on request   pma.c cca.c  the agents behind QP1
 * traffic.c     what hosts send, as ports count it
 */
#include <pthread.h>
#include <string.h>

#include "complib/hash.h"
#include "complib/random.h"
#include "libvendor/sim/sim_private.h"

/* ---- random numbers ---- */

uint64_t sim_draw(struct sim *sim)
{
	return random_next(&sim->random);
}

/* ---- construction ---- */

void sim_config_default(struct sim_config *config)
{
	*config = (struct sim_config){.seed = 1, .mixed_routing = true};
}

static void make_port(struct sim *sim, const struct topology *topology, struct sim_node *node,
		      unsigned int number)
{
	const struct topology_port *from = topology_port(topology, node->index, number);
	struct sim_port *port = &node->ports[number];

	port->node = node;
	port->number = number;
	port->guid = from->guid;
	port->lanes = from->lanes;
	port->speed = from->speed;
	if (from->peer >= 0) {
		port->peer = &sim->nodes[from->peer];
		port->peer_number = from->peer_port;
		port->cable = true;
	}
	port->cable_lanes = SIM_CABLE_LANES;
	port->cable_speed = TOPOLOGY_SPEEDS - 1;
	if (port->guid && !g_hash_table_contains(sim->by_guid, &port->guid))
		g_hash_table_insert(sim->by_guid, &port->guid, port);
}

static void make_node(struct sim *sim, const struct topology *topology, unsigned int index)
{
	const struct topology_node *from = topology_node(topology, index);
	struct sim_node *node = &sim->nodes[index];

	node->index = index;
	node->type = from->type;
	node->num_ports = from->num_ports;
	node->up = true;
	node->pma = sim_pma_default(from->type);
	node->vendor_id = from->vendor_id;
	node->device_id = from->device_id;
	node->node_guid = node->claimed_guid = from->node_guid;
	node->system_image_guid = from->system_image_guid;
	node->description = g_strdup(from->description);
	node->ports = sim->ports + from->first;
	if (node->type == IBA_NODE_SWITCH)
		node->sw = g_new0(struct sim_switch, 1);
	node->partition_cap = node->sw ? SIM_SWITCH_P_KEYS : SIM_CA_P_KEYS;
	for (unsigned int i = 0; i <= node->num_ports; i++)
		make_port(sim, topology, node, i);
	for (unsigned int i = 1; i <= node->num_ports; i++)
		node->fdr10 |= sma_has_fdr10(&node->ports[i]);
	sim_node_reset(node);
}

struct sim *sim_new(struct runtime *rt, struct log *log, const struct topology *topology,
		    const struct sim_config *config)
{
	struct sim *sim = g_new0(struct sim, 1);

	sim->rt = rt;
	sim->log = log;
	sim->config = *config;
	sim->random = config->seed;
	sim->digest = UINT64_C(0xCBF29CE484222325);
	atomic_init(&sim->started, false);
	sim->actor = actor_new(rt, "sim");
	sim_agents_init(sim);
	sim_vendors_init(sim);
	sim->by_guid = g_hash_table_new(hash_uint64, g_int64_equal);
	sim->n_nodes = topology->nodes->len;
	sim->n_ports = topology->ports->len;
	sim->nodes = g_new0(struct sim_node, sim->n_nodes);
	sim->ports = g_new0(struct sim_port, sim->n_ports);
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		make_node(sim, topology, i);
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (!g_hash_table_contains(sim->by_guid, &sim->nodes[i].node_guid))
			g_hash_table_insert(sim->by_guid, &sim->nodes[i].node_guid,
					    &sim->nodes[i].ports[0]);
	for (unsigned int i = 0; i < sim->n_ports; i++)
		sim_link_update(sim, &sim->ports[i]);
	log_verbose(log, "Simulated fabric of %u nodes", sim->n_nodes);
	return sim;
}

void sim_start(struct sim *sim)
{
	if (runtime_mode(sim->rt) == RUNTIME_VIRTUAL)
		return;
	atomic_store(&sim->started, true);
	actor_start(sim->actor);
}

void sim_free(struct sim *sim)
{
	if (!sim)
		return;
	actor_stop(sim->actor);
	atomic_store(&sim->started, false);
	sim_faults_clear(sim);
	sim_traffic_free(sim);
	sim_vendors_clear(sim);
	sim_agents_clear(sim);
	sim_forward_clear(sim);
	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		sim_trap_clear(node);
		node->up = false;
		sim_node_reset(node); /* frees its tables */
		sim_cc_free(node);
		g_free(node->sw);
		g_free(node->description);
		g_free(node->redirect);
		for (unsigned int port = 0; port <= node->num_ports; port++)
			sim_counts_free(&node->ports[port]);
	}
	actor_free(sim->actor);
	g_hash_table_destroy(sim->by_guid);
	g_free(sim->ports);
	g_free(sim->nodes);
	g_free(sim);
}

/* ---- calls from other threads ---- */

struct call {
	struct message message;
	struct sim *sim;
	void (*function)(struct sim *sim, void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool done;
};

static void call_run(struct message *message)
{
	struct call *call = (struct call *)message;

	call->function(call->sim, call->arg);
	pthread_mutex_lock(&call->lock);
	call->done = true;
	pthread_cond_signal(&call->wake);
	pthread_mutex_unlock(&call->lock);
}

void sim_call(struct sim *sim, void (*function)(struct sim *sim, void *arg), void *arg)
{
	struct call call = {
		.message = {.run = call_run},
		.sim = sim,
		.function = function,
		.arg = arg,
	};

	/* The sim has no thread: call on the caller's. */
	if (!atomic_load(&sim->started)) {
		function(sim, arg);
		return;
	}
	pthread_mutex_init(&call.lock, NULL);
	pthread_cond_init(&call.wake, NULL);
	actor_post(sim->actor, &call.message);
	pthread_mutex_lock(&call.lock);
	while (!call.done)
		pthread_cond_wait(&call.wake, &call.lock);
	pthread_mutex_unlock(&call.lock);
	pthread_mutex_destroy(&call.lock);
	pthread_cond_destroy(&call.wake);
}

/* ---- inspection ---- */

unsigned int sim_nodes(const struct sim *sim)
{
	return sim->n_nodes;
}

int sim_find_guid(const struct sim *sim, uint64_t guid)
{
	const struct sim_port *port = g_hash_table_lookup(sim->by_guid, &guid);

	return port ? (int)port->node->index : -1;
}

int sim_find_name(const struct sim *sim, const char *description)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (!strcmp(sim->nodes[i].description, description))
			return i;
	return -1;
}

void sim_node_view(const struct sim *sim, unsigned int index, struct sim_node_view *view)
{
	static const uint8_t unprogrammed[SIM_LFT_ENTRIES] = {[0 ... SIM_LFT_ENTRIES - 1] =
								      IBA_PORT_NONE};
	const struct sim_node *node = sim_node_at(sim, index);

	*view = (struct sim_node_view){
		.type = node->type,
		.num_ports = node->num_ports,
		.up = node->up,
		.node_guid = node->claimed_guid,
		.description = node->description,
	};
	if (node->sw) {
		view->switch_info = &node->sw->info;
		view->lft = node->sw->lft ? node->sw->lft : unprogrammed;
	}
}

const struct iba_port_info *sim_port_info(const struct sim *sim, unsigned int node,
					  unsigned int port)
{
	return &sim_port_at(sim, node, port)->info;
}

uint64_t sim_port_guid(const struct sim *sim, unsigned int node, unsigned int port)
{
	return sim_port_at(sim, node, port)->guid;
}

uint64_t sim_alias_guid(const struct sim *sim, unsigned int node, unsigned int port,
			unsigned int index)
{
	const uint64_t *guids = sim_port_at(sim, node, port)->guids;

	return guids && index < SIM_GUID_CAP ? guids[index] : 0;
}

uint64_t sim_claimed_port_guid(const struct sim *sim, unsigned int node, unsigned int number)
{
	const struct sim_port *port = sim_port_at(sim, node, number);

	return port->claimed_guid ? port->claimed_guid : port->guid;
}

bool sim_peer(const struct sim *sim, unsigned int node, unsigned int number,
	      unsigned int *peer_node, unsigned int *peer_port)
{
	const struct sim_port *port = sim_port_at(sim, node, number);

	if (!port->peer)
		return false;
	*peer_node = port->peer->index;
	*peer_port = port->peer_number;
	return true;
}

bool sim_link_up(const struct sim *sim, unsigned int node, unsigned int number)
{
	const struct sim_port *port = sim_port_at(sim, node, number);

	return port->peer && port->info.port_physical_state == IBA_PHYS_LINK_UP;
}

const uint16_t *sim_p_keys(const struct sim *sim, unsigned int node, unsigned int port,
			   unsigned int *n)
{
	return sma_p_keys(sim_port_at(sim, node, port), n);
}

void sim_counters(const struct sim *sim, struct sim_counters *counters)
{
	*counters = sim->counters;
}

uint64_t sim_trace_digest(const struct sim *sim)
{
	return sim->digest;
}

void sim_set_trace(struct sim *sim, sim_trace_fn *trace, void *arg)
{
	sim->trace = trace;
	sim->trace_arg = arg;
}

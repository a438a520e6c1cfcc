// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMPs of a sweep. Each belongs to the step that sent it: the step is over when the last of its
 * SMPs came back. Nodes are dropped between steps only, so a request may point to its node.
 */
#include <stdarg.h>
#include <string.h>

#include "sm/sm_private.h"

#define MAX_ROUNDS 12
#define DETOURS_MAX 3
#define EARLY_TRIES 3 /* what mad/ adds to the retries, about */

const char *sm_node_name(const struct builder_node *node, char *buffer, size_t size)
{
	char text[sizeof(node->description.node_string) + 1] = "";

	memcpy(text, node->description.node_string, sizeof(node->description.node_string));
	g_snprintf(buffer, size, "'%s' (0x%016" G_GINT64_MODIFIER "x)", text, node->guid);
	return buffer;
}

void sm_problem(struct sm *sm, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL;
	unsigned int held_back;

	sm->sweep.errors++;
	if (!log_limit_pass(&sm->error_log, actor_now(sm->actor), 50, NS_PER_S, &held_back))
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	if (held_back)
		log_error(sm->log, "%s (%u such lines held back)", text, held_back);
	else
		log_error(sm->log, "%s", text);
}

void sm_request_failed(const struct sm_request *request)
{
	const struct mad_request *mad = &request->mad;
	const char *attribute = iba_name(IBA_SET_ATTR, mad->attribute);
	const char *method = mad->method == IBA_METHOD_SET ? "Set" : "Get";
	char name[SM_NAME_SIZE];

	sm_node_name(request->node, name, sizeof(name));
	if (mad->result == MAD_TIMEOUT)
		sm_problem(request->sm, "%s(%s) 0x%x of %s: no answer after %u retries", method,
			   attribute ? attribute : "?", mad->modifier, name,
			   request->sm->options->transaction_retries);
	else
		sm_problem(request->sm, "%s(%s) 0x%x of %s: status 0x%04x", method,
			   attribute ? attribute : "?", mad->modifier, name, mad->status);
}

bool sm_block_read(struct sm_request *request, struct builder_table *table,
		   const struct wire_type *type)
{
	_Alignas(uint64_t) uint8_t host[IBA_SMP_DATA_BYTES];

	g_assert(type->size <= sizeof(host));
	if (!sm_request_ok(request))
		return false;
	wire_decode(type, request->mad.data, host);
	builder_table_set(table, request->block, type->size, host);
	return true;
}

static uint64_t digest(const uint8_t data[IBA_SMP_DATA_BYTES])
{
	uint64_t sum = 0, word;

	for (unsigned int i = 0; i < IBA_SMP_DATA_BYTES; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 32;
	}
	return sum;
}

void sm_block_written(struct sm_request *request, struct builder_table *table,
		      const struct wire_type *type)
{
	char name[SM_NAME_SIZE];

	if (!sm_block_read(request, table, type)) {
		table->known[request->block] = false;
		sm_request_failed(request);
	} else if (digest(request->mad.data) != request->sent) {
		sm_problem(request->sm, "%s does not take block %u of its %s",
			   sm_node_name(request->node, name, sizeof(name)), request->block,
			   iba_name(IBA_SET_ATTR, request->mad.attribute));
	}
}

/* Share of the SMPs of this sweep that had to be sent again. */
static double loss_seen(const struct sm *sm)
{
	const struct counters *counters = &sm->context->counters;
	uint64_t sent = counter_get(counters, smp_sent) - sm->sweep.smps_before;
	uint64_t again = counter_get(counters, smp_retries) - sm->sweep.retries_before;

	return sent ? again / (double)sent : 0;
}

/*
 * Where SMPs are lost all over the fabric, silence says little of the node asked: such a request
 * goes out again until its silence could be chance once in 10^5 times. In a fabric that loses
 * nothing the retries of one round are enough, and a dead node delays nobody.
 */
static bool again(const struct sm_request *request)
{
	double loss = MIN(loss_seen(request->sm), 0.9);
	unsigned int tries = request->sm->options->transaction_retries + 1 + EARLY_TRIES;
	double needed = 1;

	if (request->mad.tries || request->unreachable || loss < 0.03)
		return false;
	for (double chance = loss; chance > 1e-5; chance *= loss)
		needed++;
	return request->rounds < MAX_ROUNDS && tries * request->rounds < needed;
}

/* NULL: of the SM's own node, or the way to it was cut since it was found. */
static struct builder_node *parent_of(const struct builder_node *node)
{
	return node->entry && node->entry->peer ? node->entry->peer->node : NULL;
}

/* A host is reached by LID through a switch that is. */
static bool is_lid_routed(const struct builder_node *node)
{
	const struct builder_node *parent = parent_of(node);

	return node->lid_routed && (builder_is_switch(node) || (parent && parent->lid_routed));
}

/*
 * An SMP by way of a LID, its own or that of the switch before it, which arrived only by the
 * directed route: once is chance, but a node where it is the rule is left to directed routes until
 * its tables are written again.
 */
static void note_detour(const struct sm_request *request)
{
	struct builder_node *guide =
		request->mad.route.lid ? request->node : parent_of(request->node);

	if (!guide || request->mad.result == MAD_TIMEOUT)
		return;
	guide->detours = request->mad.fell_back ? guide->detours + 1 : 0;
	if (guide->detours < DETOURS_MAX)
		return;
	guide->lid_routed = false;
	builder_touch(guide); /* the next sweep tries again */
}

static void on_done(struct mad_request *mad)
{
	struct sm_request *request = (struct sm_request *)mad;
	struct sm *sm = request->sm;

	request->rounds++;
	if (request->aside) {
		request->done(request);
		g_free(request);
		return;
	}
	if (mad->result == MAD_TIMEOUT && again(request)) {
		mad_send(sm->mad, mad);
		return;
	}
	if (mad->result == MAD_TIMEOUT && keys_try_another(request)) {
		mad_send(sm->mad, mad);
		return;
	}
	keys_answered(request);
	note_detour(request);
	if (request->done)
		request->done(request);
	else if (mad->result != MAD_OK)
		sm_request_failed(request);
	g_free(request);
	sm->sweep.pending--;
	sweep_advance(sm);
}

struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier)
{
	struct sm_request *request = g_new0(struct sm_request, 1);
	const struct builder_node *parent = parent_of(node);
	int hops = builder_path(node, request->mad.route.path);

	request->sm = sm;
	request->node = node;
	request->mad.target = node->guid;
	request->mad.method = method;
	request->mad.attribute = attribute;
	request->mad.modifier = modifier;
	request->mad.owner = sm->actor;
	request->mad.done = on_done;
	request->unreachable = hops < 0;
	request->mad.route.hops = hops < 0 ? 0 : hops;
	if (node->entry && is_lid_routed(node))
		request->mad.route.lid = node->entry->lid ? node->entry->lid : node->ports[0].lid;
	if (parent && parent->lid_routed)
		request->mad.route.parent = parent->ports[0].lid;
	return request;
}

/* True for a port of a CA or router that is not the one its node is reached by. */
static bool is_second_port(const struct sm *sm, const struct builder_port *port)
{
	return port && !builder_is_switch(port->node) && port->num != 0 && port->peer &&
	       port != port->node->entry && port != sm->builder->sm_port;
}

/* Each port of a CA has an SMA of its own, which answers for that port only. */
static void route_to_port(struct sm_request *request, const struct builder_port *port)
{
	const struct builder_node *leaf = port->peer->node;
	struct mad_route *route = &request->mad.route;
	int hops = builder_path(leaf, route->path);

	request->unreachable = hops < 0 || hops >= IBA_MAX_HOPS - 1;
	if (request->unreachable)
		return;
	route->hops = hops + 1;
	route->path[route->hops] = port->peer->num;
	route->parent = leaf->lid_routed ? leaf->ports[0].lid : 0;
	route->lid = is_lid_routed(port->node) && port->info.lid == port->lid ? port->lid : 0;
	request->mad.target_port = port->num;
}

struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier)
{
	struct sm_request *request = sm_request_new(sm, port->node, method, attribute, modifier);

	request->port = port;
	if (is_second_port(sm, port))
		route_to_port(request, port);
	return request;
}

static void run_unreachable(struct message *message)
{
	struct mad_request *mad = (struct mad_request *)message;

	mad->result = MAD_TIMEOUT;
	on_done(mad);
}

void sm_request_send(struct sm_request *request)
{
	request->sent = digest(request->mad.data);
	keys_use(request);
	if (request->aside) {
		request->node = NULL;
		request->port = NULL;
	} else {
		request->sm->sweep.pending++;
	}
	if (request->unreachable) { /* its path was cut since it was found */
		request->mad.message.run = run_unreachable;
		actor_post(request->sm->actor, &request->mad.message);
		return;
	}
	mad_send(request->sm->mad, &request->mad);
}

void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request))
{
	struct sm_request *request = sm_request_new(sm, node, IBA_METHOD_GET, attribute, modifier);

	request->done = done;
	sm_request_send(request);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See credits.h. A buffer holds packets that came in through a port of a switch, on a VL. */
#include "tests/unit/credits.h"

#include "route/value/lanes.h"
#include "tests/unit/fabric_make.h"

#define MULTICAST 0 /* as the LID of a packet */
#define NO_BUFFER UINT32_MAX

struct packet {
	uint16_t lid;
	uint8_t sl;
};

struct buffer {
	uint32_t first, n;	      /* packets */
	struct route_port_set leaves; /* ports through which the first packet has yet to leave */
	bool is_leaving, is_listed;
};

/* An endport with what it has yet to send. */
struct source {
	uint32_t endport, entrance; /* the latter is its own switch port or another */
	uint32_t floods;
	GArray *lids;
};

struct net {
	const struct credits_load *load;
	struct credits_outcome *outcome;
	const struct fabric *fabric;
	const struct route_lanes *lanes;
	uint64_t state;
	unsigned int n_vls;
	struct buffer *buffers; /* [port * n_vls + VL] */
	struct packet *packets; /* [port]: step in which a packet left through it */
	uint64_t *busy;		/* [port]: step in which a packet left by it */
	uint32_t *place;	/* [switch] in the tree, or FABRIC_NONE */
	GArray *listed;		/* buffers that are not empty, and possibly others */
	GArray *sources;
};

/* ---- tables ---- */

static uint32_t switch_of(const struct net *net, uint32_t port)
{
	return net->fabric->nodes[net->fabric->ports[port].node].sw;
}

static uint32_t entrance_of(const struct net *net, uint32_t endport)
{
	return switch_of(net, endport) == FABRIC_NONE ? net->fabric->ports[endport].peer : endport;
}

static uint32_t next_port(const struct net *net, uint32_t sw, uint16_t lid)
{
	uint8_t num = routing_port(net->load->routing, sw, lid);
	uint32_t node = net->fabric->switches[sw].node;

	if (num > net->fabric->nodes[node].num_ports || !fabric_holds(net->fabric, sw, lid))
		return FABRIC_NONE;
	return fabric_port_of(net->fabric, node, num);
}

/* Where a packet waits that goes from one port of a switch to the other; or NO_BUFFER. */
static uint32_t next_buffer(const struct net *net, uint32_t in, uint32_t out, uint8_t sl)
{
	uint32_t peer = net->fabric->ports[out].peer;
	unsigned int vl = 0;

	if (!net->fabric->ports[out].num || peer == FABRIC_NONE ||
	    switch_of(net, peer) == FABRIC_NONE)
		return NO_BUFFER;
	if (net->lanes)
		vl = route_lanes_vl(net->lanes, switch_of(net, out), net->fabric->ports[in].num,
				    net->fabric->ports[out].num, sl);
	return peer * net->n_vls + vl;
}

static bool set_has(const struct route_port_set *set, unsigned int num)
{
	return set->bits[num / 64] >> num % 64 & 1;
}

static void set_put(struct route_port_set *set, unsigned int num, bool value)
{
	set->bits[num / 64] &= ~(UINT64_C(1) << num % 64);
	set->bits[num / 64] |= (uint64_t)value << num % 64;
}

/* Any QoS level that paths may have; paths of the SM may have the SM's SL. */
static bool choose_sl(struct net *net, uint32_t from, uint16_t lid, uint8_t *sl)
{
	uint32_t to = fabric_port_by_lid(net->fabric, lid), sm = net->fabric->sm_port;

	*sl = 0;
	if (!net->lanes)
		return true;
	if ((from == sm || to == sm) && !net->lanes->sm_by_path && make_number(&net->state, 2)) {
		*sl = net->lanes->sm_sl;
		return true;
	}
	*sl = make_number(&net->state, 16) & net->lanes->levels;
	return routing_path_sl(net->load->routing, net->fabric, from, to, false, sl);
}

/* ---- buffers ---- */

static struct packet *packet_at(const struct net *net, uint32_t b, uint32_t i)
{
	unsigned int credits = net->load->credits;

	return &net->packets[b * credits + (net->buffers[b].first + i) % credits];
}

static bool push(struct net *net, uint32_t b, struct packet packet)
{
	struct buffer *buffer = &net->buffers[b];

	if (buffer->n == net->load->credits)
		return false;
	*packet_at(net, b, buffer->n++) = packet;
	if (!buffer->is_listed)
		g_array_append_val(net->listed, b);
	buffer->is_listed = true;
	return true;
}

static void pop(struct net *net, uint32_t b)
{
	struct buffer *buffer = &net->buffers[b];

	buffer->first = (buffer->first + 1) % net->load->credits;
	buffer->n--;
	buffer->is_leaving = false;
}

static void choose_exits(struct net *net, uint32_t b)
{
	uint32_t in = b / net->n_vls, sw = switch_of(net, in), place = net->place[sw];
	struct buffer *buffer = &net->buffers[b];
	uint16_t lid = packet_at(net, b, 0)->lid;

	buffer->is_leaving = true;
	buffer->leaves = (struct route_port_set){0};
	if (lid == MULTICAST && place != FABRIC_NONE) {
		buffer->leaves = net->load->tree->ports[place];
		set_put(&buffer->leaves, net->fabric->ports[in].num, false);
	} else if (lid != MULTICAST && next_port(net, sw, lid) != FABRIC_NONE) {
		set_put(&buffer->leaves, net->fabric->ports[next_port(net, sw, lid)].num, true);
	} else if (lid != MULTICAST) {
		net->outcome->lost++;
	}
}

/* A packet leaves for the other end of a cable, or for port 0 of the switch. */
static void hand_over(struct net *net, uint32_t out, struct packet packet)
{
	const struct fabric_port *port = &net->fabric->ports[out];
	uint32_t to = port->num ? port->peer : out;

	if (packet.lid == MULTICAST)
		net->outcome->copies += to != FABRIC_NONE && port->num;
	else if (to != FABRIC_NONE && to == fabric_port_by_lid(net->fabric, packet.lid))
		net->outcome->delivered++;
	else
		net->outcome->lost++;
}

/* Each cable carries one packet a step. */
static bool leave(struct net *net, uint32_t b, uint32_t out)
{
	struct packet packet = *packet_at(net, b, 0);
	uint32_t next = next_buffer(net, b / net->n_vls, out, packet.sl);

	if (net->busy[out] == net->outcome->steps)
		return false;
	if (next == NO_BUFFER)
		hand_over(net, out, packet);
	else if (!push(net, next, packet))
		return false;
	net->busy[out] = net->outcome->steps;
	return true;
}

/* What the first packet of a buffer can do; true if it moved. */
static bool advance(struct net *net, uint32_t b)
{
	uint32_t node = net->fabric->ports[b / net->n_vls].node;
	struct buffer *buffer = &net->buffers[b];
	bool moved = false, stays = false;

	if (!buffer->n)
		return false;
	if (!buffer->is_leaving)
		choose_exits(net, b);
	for (unsigned int num = 0; num <= net->fabric->nodes[node].num_ports; num++) {
		if (!set_has(&buffer->leaves, num))
			continue;
		if (leave(net, b, fabric_port_of(net->fabric, node, num))) {
			set_put(&buffer->leaves, num, false);
			moved = true;
		} else {
			stays = true;
		}
	}
	if (!stays)
		pop(net, b);
	return moved || !stays;
}

/* ---- steps ---- */

/* In another order each time; true if any packet moved. */
static bool advance_all(struct net *net)
{
	uint32_t *listed = (uint32_t *)(void *)net->listed->data;
	uint32_t n = net->listed->len;
	bool moved = false;

	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = make_number(&net->state, i), swap = listed[i - 1];

		listed[i - 1] = listed[other];
		listed[other] = swap;
	}
	for (uint32_t i = 0; i < n; i++)
		moved |= advance(net, g_array_index(net->listed, uint32_t, i));
	for (uint32_t i = net->listed->len; i-- > 0;) {
		struct buffer *buffer = &net->buffers[g_array_index(net->listed, uint32_t, i)];

		if (!buffer->n) {
			buffer->is_listed = false;
			g_array_remove_index_fast(net->listed, i);
		}
	}
	return moved;
}

static bool inject(struct net *net, const struct source *source, struct packet packet)
{
	unsigned int vl = net->lanes ? net->lanes->vl[packet.sl] : 0;

	return push(net, source->entrance * net->n_vls + vl, packet);
}

/* One more packet of a host, if there is room; false if the host has none. */
static bool send_one(struct net *net, struct source *source)
{
	uint32_t n = source->lids->len, i = make_number(&net->state, n + source->floods);
	struct packet packet = {.lid = MULTICAST};

	if (!n && !source->floods)
		return false;
	if (i >= n) {
		source->floods -= inject(net, source, packet);
		return true;
	}
	packet.lid = g_array_index(source->lids, uint16_t, i);
	if (!choose_sl(net, source->endport, packet.lid, &packet.sl))
		net->outcome->lost++;
	else if (!inject(net, source, packet))
		return true;
	net->outcome->sent++;
	g_array_remove_index_fast(source->lids, i);
	return true;
}

static bool send_all(struct net *net)
{
	bool any = false;

	for (uint32_t i = 0; i < net->sources->len; i++)
		any |= send_one(net, &g_array_index(net->sources, struct source, i));
	return any;
}

/* ---- deadlocks ---- */

/* A buffer with too little room that the first packet of a stuck buffer waits for. */
static uint32_t awaited(const struct net *net, uint32_t b)
{
	uint32_t node = net->fabric->ports[b / net->n_vls].node;
	unsigned int num = 0;

	while (!set_has(&net->buffers[b].leaves, num))
		num++;
	return next_buffer(net, b / net->n_vls, fabric_port_of(net->fabric, node, num),
			   packet_at(net, b, 0)->sl);
}

static char *describe(const struct net *net)
{
	uint32_t b = g_array_index(net->listed, uint32_t, 0), start;
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < net->fabric->n_ports * net->n_vls; i++)
		b = awaited(net, b); /* after this many it is in the ring */
	start = b;
	do {
		char name[FABRIC_NAME_SIZE];

		fabric_port_name(net->fabric, b / net->n_vls, name, sizeof(name));
		g_string_append_printf(text, "%s%s VL %u LID %u", text->len ? ", " : "", name,
				       b % net->n_vls, packet_at(net, b, 0)->lid);
		b = awaited(net, b);
	} while (b != start);
	return g_string_free(text, FALSE);
}

/* ---- the whole ---- */

static struct source *source_of(struct net *net, uint32_t endport)
{
	struct source source = {.endport = endport};

	for (uint32_t i = net->sources->len; i-- > 0;)
		if (g_array_index(net->sources, struct source, i).endport == endport)
			return &g_array_index(net->sources, struct source, i);
	source.entrance = entrance_of(net, endport);
	source.lids = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	g_array_append_val(net->sources, source);
	return &g_array_index(net->sources, struct source, net->sources->len - 1);
}

static void add_flows(struct net *net)
{
	for (uint32_t i = 0; i < net->load->n_flows; i++) {
		struct source *source = source_of(net, net->load->flows[i].from);

		for (unsigned int round = 0; round < net->load->rounds; round++)
			g_array_append_val(source->lids, net->load->flows[i].lid);
	}
}

static void add_floods(struct net *net)
{
	const struct route_tree *tree = net->load->tree;

	for (uint32_t i = 0; tree && i < tree->n; i++)
		for (unsigned int num = 1; num < ROUTE_NO_PORT; num++) {
			uint32_t port, peer;

			if (!set_has(&tree->ports[i], num))
				continue;
			port = fabric_switch_port(net->fabric, tree->switches[i], num);
			peer = net->fabric->ports[port].peer;
			if (peer != FABRIC_NONE && switch_of(net, peer) == FABRIC_NONE)
				source_of(net, peer)->floods = net->load->floods;
		}
}

static void net_init(struct net *net, const struct credits_load *load,
		     struct credits_outcome *outcome)
{
	size_t n;

	*net = (struct net){.load = load, .outcome = outcome, .state = load->state};
	net->fabric = load->fabric;
	net->lanes = load->routing->lanes;
	net->n_vls = net->lanes ? ROUTE_SLS : 1;
	n = (size_t)net->fabric->n_ports * net->n_vls;
	net->buffers = g_new0(struct buffer, n);
	net->packets = g_new0(struct packet, n * load->credits);
	net->busy = g_new0(uint64_t, net->fabric->n_ports);
	net->place = g_new(uint32_t, net->fabric->n_switches + 1);
	for (uint32_t sw = 0; sw < net->fabric->n_switches; sw++)
		net->place[sw] = FABRIC_NONE;
	for (uint32_t i = 0; load->tree && i < load->tree->n; i++)
		net->place[load->tree->switches[i]] = i;
	net->listed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	net->sources = g_array_new(FALSE, FALSE, sizeof(struct source));
}

static void net_clear(struct net *net)
{
	for (uint32_t i = 0; i < net->sources->len; i++)
		g_array_unref(g_array_index(net->sources, struct source, i).lids);
	g_array_unref(net->sources);
	g_array_unref(net->listed);
	g_free(net->place);
	g_free(net->busy);
	g_free(net->packets);
	g_free(net->buffers);
}

void credits_run(const struct credits_load *load, struct credits_outcome *outcome)
{
	bool more = true;
	struct net net;

	*outcome = (struct credits_outcome){0};
	net_init(&net, load, outcome);
	add_flows(&net);
	add_floods(&net);
	while (more && !outcome->deadlock) {
		bool full = net.listed->len;

		outcome->steps++;
		if (full && !advance_all(&net))
			outcome->deadlock = describe(&net);
		more = send_all(&net) || net.listed->len;
	}
	net_clear(&net);
}

void credits_outcome_clear(struct credits_outcome *outcome)
{
	g_free(outcome->deadlock);
}

/* ---- loads ---- */

static bool is_host(const struct fabric *fabric, uint32_t port)
{
	return !fabric_is_switch(fabric, fabric->ports[port].node);
}

static void add_flows_of(const struct fabric *fabric, uint32_t port, bool switches, GArray *flows)
{
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		struct credits_flow flow = {port, lid};
		uint32_t to = fabric_port_by_lid(fabric, lid);

		if (to != FABRIC_NONE && to != port && fabric_is_connected(fabric, to) &&
		    (is_host(fabric, to) || (switches && is_host(fabric, port))))
			g_array_append_val(flows, flow);
	}
}

GArray *credits_all_to_all(const struct fabric *fabric, bool switches)
{
	GArray *flows = g_array_new(FALSE, FALSE, sizeof(struct credits_flow));
	uint8_t exit;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		if (fabric->ports[port].lid && (switches || is_host(fabric, port)) &&
		    fabric_leaf(fabric, port, &exit) != FABRIC_NONE)
			add_flows_of(fabric, port, switches, flows);
	return flows;
}

/* ---- rings ---- */

/* Which buffer waits for which: of all flows. */
struct rings {
	struct net net;
	GArray **edges; /* [buffer] of struct edge; or NULL */
	uint32_t n;
};

struct edge {
	uint32_t to, flow;
};

static void add_edge(struct rings *rings, uint32_t from, struct edge edge)
{
	GArray **edges = &rings->edges[from];

	if (!*edges)
		*edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	for (uint32_t i = 0; i < (*edges)->len; i++)
		if (g_array_index(*edges, struct edge, i).to == edge.to)
			return;
	g_array_append_val(*edges, edge);
}

/* Tables may have loops: a packet is followed over at most as many switches as there are. */
static void follow(struct rings *rings, uint32_t i)
{
	const struct credits_flow *flow = &rings->net.load->flows[i];
	uint32_t in = entrance_of(&rings->net, flow->from), last = NO_BUFFER;
	uint8_t sl;

	if (!choose_sl(&rings->net, flow->from, flow->lid, &sl))
		return;
	for (uint32_t hop = 0; hop < rings->net.fabric->n_switches; hop++) {
		uint32_t out = next_port(&rings->net, switch_of(&rings->net, in), flow->lid), next;

		next = out == FABRIC_NONE ? NO_BUFFER : next_buffer(&rings->net, in, out, sl);
		if (next == NO_BUFFER)
			return;
		if (last != NO_BUFFER)
			add_edge(rings, last, (struct edge){next, i});
		last = next;
		in = next / rings->net.n_vls;
	}
}

struct visit {
	uint32_t buffer, edge; /* the latter: where to go on */
};

/* The flows of the edges on the path from a buffer that was reached again. */
static GArray *ring_of(const struct rings *rings, const GArray *path, uint32_t again)
{
	GArray *flows = g_array_new(FALSE, FALSE, sizeof(struct credits_flow));
	const struct visit *visit;

	for (uint32_t i = path->len; i-- > 0;) {
		const struct edge *edge;

		visit = &g_array_index(path, struct visit, i);
		edge = &g_array_index(rings->edges[visit->buffer], struct edge, visit->edge - 1);
		g_array_append_val(flows, rings->net.load->flows[edge->flow]);
		if (visit->buffer == again)
			break;
	}
	return flows;
}

/* Depth first; met: 1 on the path, 2 done. */
static GArray *search(const struct rings *rings, uint32_t start, uint8_t *met)
{
	GArray *path = g_array_new(FALSE, FALSE, sizeof(struct visit)), *ring = NULL;
	struct visit first = {start, 0};

	g_array_append_val(path, first);
	met[start] = 1;
	while (path->len && !ring) {
		struct visit *last = &g_array_index(path, struct visit, path->len - 1), next = {0};
		const GArray *edges = rings->edges[last->buffer];

		if (!edges || last->edge == edges->len) {
			met[last->buffer] = 2;
			g_array_set_size(path, path->len - 1);
			continue;
		}
		next.buffer = g_array_index(edges, struct edge, last->edge++).to;
		if (met[next.buffer] == 1)
			ring = ring_of(rings, path, next.buffer);
		else if (!met[next.buffer])
			g_array_append_val(path, next);
		met[next.buffer] |= !met[next.buffer];
	}
	g_array_unref(path);
	return ring;
}

GArray *credits_ring(const struct credits_load *load)
{
	struct credits_outcome outcome = {0};
	GArray *ring = NULL;
	struct rings rings;
	uint8_t *met;

	net_init(&rings.net, load, &outcome);
	rings.n = load->fabric->n_ports * rings.net.n_vls;
	rings.edges = g_new0(GArray *, rings.n + 1);
	met = g_malloc0(rings.n + 1);
	for (uint32_t i = 0; i < load->n_flows; i++)
		follow(&rings, i);
	for (uint32_t b = 0; b < rings.n && !ring; b++)
		if (!met[b])
			ring = search(&rings, b, met);
	for (uint32_t b = 0; b < rings.n; b++)
		if (rings.edges[b])
			g_array_unref(rings.edges[b]);
	g_free(rings.edges);
	g_free(met);
	net_clear(&rings.net);
	return ring;
}

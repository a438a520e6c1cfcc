// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * See congest.h. The path of each flow is looked up once. A channel is a VL of a port that sends.
 * At each channel of a switch there is a queue for each input; the queues that are not empty wait
 * in turn. In each tick, first all ports choose what they send, by what the buffers held before,
 * and then all these packets move: the order of ports has no influence.
 *
 * A pacer is what a CCTI belongs to: a flow (a QP), or all flows of an SL at a CA port.
 */
#include "tests/unit/congest.h"

#include "complib/random.h"
#include "route/value/lanes.h"

#define NONE UINT32_MAX
#define VL_BITS 4
#define SLOTS 4096 /* of the wheel of events */
#define TIMER_PS UINT64_C(1024000)
#define PACKET_SIZE_OCTETS 64

enum control_map {
	MAP_VICTIM_MASK = 1 << 0,
	MAP_THRESHOLD = 1 << 2, /* and Packet_Size */
	MAP_MARKING_RATE = 1 << 4,
};

/* First in, first out: of packets, queues, flows or pacers that have a member next. */
struct queue {
	uint32_t first, last;
};

struct packet {
	uint32_t flow, next;
	uint8_t hop; /* in the path of the flow: the channel for which it waits */
	bool fecn;
};

struct flow {
	struct congest_tally tally;
	uint32_t pending; /* packets of bursts */
	uint32_t pacer, next;
	uint32_t first_hop, entrance; /* the latter is a buffer of the first switch */
	uint8_t n_hops, sl;	      /* 0 hops: it has no path */
	bool queued;
};

struct pacer {
	struct queue flows;				   /* with a packet to send */
	const struct iba_ca_congestion_entry *entry;	   /* NULL: it has no CCTI */
	const struct iba_congestion_control_table *blocks; /* of the CA */
	uint32_t source, next, vl;
	uint16_t ccti, limit;
	uint64_t timeouts; /* of CCTI_Timer, that were counted */
	uint64_t free_at;  /* part of a tick from which on it may send */
	bool queued;	   /* or waiting for an event */
};

/* A CA port that sends. */
struct source {
	uint32_t port;
	uint64_t phase;		   /* of its timers, ps */
	struct queue *ready;	   /* [VL] of pacers */
	uint32_t by_sl[ROUTE_SLS]; /* pacers, if they belong to an SL */
	uint8_t turn;		   /* VL */
	bool listed;
};

/* Packets from one input for a channel. */
struct lane {
	struct queue packets;
	uint32_t next;
};

struct channel {
	struct queue lanes; /* that are not empty */
	uint32_t backlog;
	bool waited;	   /* for credits, since it last sent */
	uint64_t marks[2]; /* as the root, as a victim */
};

/* A port of a switch that sends, or a port of a host that receives. */
struct port {
	uint32_t lanes;	       /* the first lane, of input 0 to VL 0 */
	struct queue received; /* by a host */
	uint64_t taken_at;     /* part of a tick at which it can take the next packet */
	uint8_t turn;	       /* VL */
	bool listed;
};

enum event_kind { EVENT_DEMAND, EVENT_WAKE, EVENT_BECN };

struct event {
	uint64_t tick;
	enum event_kind kind;
	uint32_t index; /* of a flow, of a pacer, of a flow */
};

struct move {
	uint32_t packet;
	uint32_t from, to; /* buffers; NONE: it was made now, or it is delivered */
};

struct congest {
	const struct congest_load *load;
	const struct fabric *fabric;
	uint64_t state, now, tick_ps;
	unsigned int n_vls, vl_bits;
	uint32_t *held;		  /* [index_of()]: packets in the buffer */
	struct channel *channels; /* [index_of()] */
	struct port *ports;
	struct lane *lanes;
	struct flow *flows;
	GArray *hops; /* channels */
	GArray *pacers, *sources;
	GArray *packets; /* those delivered are reused: */
	struct queue unused;
	GArray *busy_ports, *busy_hosts, *busy_sources; /* indices of those listed */
	GArray *moves;
	GArray *wheel[SLOTS];
};

/* ---- queues ---- */

#define QUEUE_EMPTY ((struct queue){NONE, NONE})

#define PUSH(queue, array, index)                                                                  \
	do {                                                                                       \
		(array)[index].next = NONE;                                                        \
		if ((queue)->first == NONE)                                                        \
			(queue)->first = (index);                                                  \
		else                                                                               \
			(array)[(queue)->last].next = (index);                                     \
		(queue)->last = (index);                                                           \
	} while (0)

#define POP(queue, array, index)                                                                   \
	do {                                                                                       \
		(index) = (queue)->first;                                                          \
		(queue)->first = (array)[index].next;                                              \
	} while (0)

static struct packet *packets_of(const struct congest *net)
{
	return (struct packet *)(void *)net->packets->data;
}

static struct pacer *pacers_of(const struct congest *net)
{
	return (struct pacer *)(void *)net->pacers->data;
}

static struct source *source_at(const struct congest *net, uint32_t i)
{
	return &g_array_index(net->sources, struct source, i);
}

static void list(GArray *listed, uint32_t index, bool *is_listed)
{
	if (!*is_listed)
		g_array_append_val(listed, index);
	*is_listed = true;
}

static void schedule(struct congest *net, uint64_t tick, enum event_kind kind, uint32_t index)
{
	struct event event = {tick, kind, index};

	g_array_append_val(net->wheel[tick % SLOTS], event);
}

/* ---- paths ---- */

/* Channels, and buffers, of all ports have an index. */
static uint32_t index_of(const struct congest *net, uint32_t port, uint32_t vl)
{
	return (port << net->vl_bits) + vl;
}

static uint32_t port_of(const struct congest *net, uint32_t index)
{
	return index >> net->vl_bits;
}

static uint32_t vl_part(const struct congest *net, uint32_t index)
{
	return index & ((1u << net->vl_bits) - 1);
}

static uint32_t channel_at(const struct congest *net, const struct flow *flow, unsigned int hop)
{
	return g_array_index(net->hops, uint32_t, flow->first_hop + hop);
}

/* The buffer at the other end of a channel. */
static uint32_t buffer_after(const struct congest *net, uint32_t channel)
{
	return index_of(net, net->fabric->ports[port_of(net, channel)].peer, vl_part(net, channel));
}

/* The buffer in which a packet waits for the channel of a hop. */
static uint32_t buffer_before(const struct congest *net, const struct flow *flow, unsigned int hop)
{
	return hop ? buffer_after(net, channel_at(net, flow, hop - 1)) : flow->entrance;
}

/* From the port by which a packet enters a switch; FABRIC_NONE if it discards the packet. */
static uint32_t exit_of(const struct congest *net, uint32_t in, uint16_t lid)
{
	uint32_t node = net->fabric->ports[in].node, sw = net->fabric->nodes[node].sw, out;
	uint8_t num = routing_port(net->load->routing, sw, lid);

	if (!num || num > net->fabric->nodes[node].num_ports || !fabric_holds(net->fabric, sw, lid))
		return FABRIC_NONE;
	out = fabric_port_of(net->fabric, node, num);
	return net->fabric->ports[out].peer == FABRIC_NONE ? FABRIC_NONE : out;
}

/* VL 0 on the link to a host. */
static unsigned int vl_of(const struct congest *net, uint32_t in, uint32_t out, uint8_t sl)
{
	const struct route_lanes *lanes = net->load->routing->lanes;
	const struct fabric_port *ports = net->fabric->ports;

	if (!lanes || !fabric_is_switch(net->fabric, ports[ports[out].peer].node))
		return 0;
	return route_lanes_vl(lanes, net->fabric->nodes[ports[in].node].sw, ports[in].num,
			      ports[out].num, sl);
}

/* A path must end at the host of the LID and must not have a loop: else the flow has none. */
static void find_path(struct congest *net, const struct congest_flow *from, struct flow *flow)
{
	const struct fabric *fabric = net->fabric;
	uint32_t in = fabric->ports[from->from].peer, to = fabric_port_by_lid(fabric, from->lid);

	flow->first_hop = net->hops->len;
	if (to == FABRIC_NONE || in == FABRIC_NONE ||
	    !fabric_is_switch(fabric, fabric->ports[in].node) ||
	    !routing_path_sl(net->load->routing, fabric, from->from, to, false, &flow->sl))
		return;
	flow->entrance = index_of(net, in, 0);
	if (net->load->routing->lanes)
		flow->entrance += net->load->routing->lanes->vl[flow->sl];
	for (unsigned int hop = 1; hop <= fabric->n_switches && hop < UINT8_MAX; hop++) {
		uint32_t out = exit_of(net, in, from->lid), channel;

		if (out == FABRIC_NONE)
			return;
		channel = index_of(net, out, vl_of(net, in, out, flow->sl));
		g_array_append_val(net->hops, channel);
		in = fabric->ports[out].peer;
		if (in == to)
			flow->n_hops = hop;
		if (!fabric_is_switch(fabric, fabric->ports[in].node))
			return;
	}
}

/* ---- marking ---- */

static bool in_mask(const uint8_t mask[32], unsigned int num)
{
	return mask[31 - num / 8] >> num % 8 & 1;
}

/* Whether a packet that leaves by a channel gets FECN; the backlog is what stays behind. */
static bool marks(struct congest *net, uint32_t index)
{
	const struct fabric_port *port = &net->fabric->ports[port_of(net, index)];
	uint32_t sw = net->fabric->nodes[port->node].sw;
	const struct iba_switch_congestion_setting *set =
		net->load->switches ? net->load->switches[sw] : NULL;
	struct channel *channel = &net->channels[index];

	if (!set || !(set->control_map & MAP_THRESHOLD) || !set->threshold)
		return false;
	if (net->load->octets < set->packet_size * PACKET_SIZE_OCTETS ||
	    16 * channel->backlog <= net->load->credits * (16u - set->threshold))
		return false;
	if (channel->waited &&
	    !(set->control_map & MAP_VICTIM_MASK && in_mask(set->victim_mask, port->num)))
		return false;
	if (set->control_map & MAP_MARKING_RATE &&
	    random_below(&net->state, set->marking_rate + 1u))
		return false;
	channel->marks[channel->waited]++;
	return true;
}

/* ---- the CCTI ---- */

/* Counts the timer down to now. */
static void settle(struct congest *net, struct pacer *pacer)
{
	const struct source *source = source_at(net, pacer->source);
	uint64_t timeouts, n;

	if (!pacer->entry || !pacer->entry->ccti_timer)
		return;
	timeouts =
		(net->now * net->tick_ps + source->phase) / (pacer->entry->ccti_timer * TIMER_PS);
	n = timeouts - pacer->timeouts;
	pacer->timeouts = timeouts;
	if (pacer->ccti > pacer->entry->ccti_min)
		pacer->ccti -= MIN(n, (uint64_t)pacer->ccti - pacer->entry->ccti_min);
}

static void becn(struct congest *net, struct flow *flow)
{
	struct pacer *pacer = &pacers_of(net)[flow->pacer];

	flow->tally.becns++;
	if (!pacer->entry)
		return;
	settle(net, pacer);
	pacer->ccti = MIN(pacer->ccti + pacer->entry->ccti_increase, pacer->limit);
}

/* Parts of a tick between the end of a packet and the next one. */
static uint64_t injection_delay(struct congest *net, struct pacer *pacer)
{
	const struct iba_congestion_control_entry *entry;

	if (!pacer->entry)
		return 0;
	settle(net, pacer);
	entry = &pacer->blocks[pacer->ccti / CONGEST_BLOCK].entry[pacer->ccti % CONGEST_BLOCK];
	return (uint64_t)(CONGEST_PARTS >> entry->cct_shift) * entry->cct_multiplier;
}

/* ---- sources ---- */

static bool has_packet(const struct congest *net, uint32_t flow)
{
	const struct congest_flow *from = &net->load->flows[flow];

	return from->burst ? net->flows[flow].pending : net->now < from->stop;
}

static void make_ready(struct congest *net, uint32_t index)
{
	struct pacer *pacers = pacers_of(net);
	struct source *source = source_at(net, pacers[index].source);

	PUSH(&source->ready[pacers[index].vl], pacers, index);
	list(net->busy_sources, pacers[index].source, &source->listed);
}

/* A pacer with a flow is either ready, or an event will make it so. */
static void queue_pacer(struct congest *net, uint32_t index)
{
	struct pacer *pacer = &pacers_of(net)[index];
	uint64_t tick = (pacer->free_at + CONGEST_PARTS - 1) / CONGEST_PARTS;

	pacer->queued = true;
	if (tick <= net->now + 1)
		make_ready(net, index);
	else
		schedule(net, tick, EVENT_WAKE, index);
}

static void queue_flow(struct congest *net, uint32_t index)
{
	struct flow *flow = &net->flows[index];
	struct pacer *pacer = &pacers_of(net)[flow->pacer];

	if (flow->queued || !has_packet(net, index))
		return;
	flow->queued = true;
	PUSH(&pacer->flows, net->flows, index);
	if (!pacer->queued)
		queue_pacer(net, flow->pacer);
}

static void demand(struct congest *net, uint32_t index)
{
	const struct congest_flow *from = &net->load->flows[index];

	if (net->now >= from->stop)
		return;
	net->flows[index].pending += from->burst;
	queue_flow(net, index);
	if (from->burst && from->period)
		schedule(net, net->now + 1 + random_below(&net->state, 2 * from->period - 1),
			 EVENT_DEMAND, index);
}

static uint32_t new_packet(struct congest *net, uint32_t flow)
{
	struct packet packet = {.flow = flow, .next = NONE};
	uint32_t index = net->packets->len;

	if (net->unused.first == NONE) {
		g_array_append_val(net->packets, packet);
	} else {
		POP(&net->unused, packets_of(net), index);
		packets_of(net)[index] = packet;
	}
	return index;
}

/* The next packet of a pacer that is ready. */
static void send(struct congest *net, uint32_t index)
{
	struct pacer *pacer = &pacers_of(net)[index];
	uint64_t now = net->now * CONGEST_PARTS;
	struct move move = {.from = NONE};
	uint32_t i;

	POP(&pacer->flows, net->flows, i);
	net->flows[i].queued = false;
	net->flows[i].pending -= net->flows[i].pending > 0;
	net->flows[i].tally.sent++;
	move.packet = new_packet(net, i);
	move.to = net->flows[i].entrance;
	g_array_append_val(net->moves, move);
	/* A fraction of a tick by which it is late is made up for. */
	if (pacer->free_at + CONGEST_PARTS <= now)
		pacer->free_at = now;
	pacer->free_at += CONGEST_PARTS + injection_delay(net, pacer);
	queue_flow(net, i); /* the pacer is still queued */
	pacer->queued = false;
	if (pacer->flows.first != NONE)
		queue_pacer(net, index);
}

/* By the VL whose turn it is among those with room. */
static bool source_sends(struct congest *net, struct source *source)
{
	uint32_t first = index_of(net, net->fabric->ports[source->port].peer, 0), pacer;
	bool any = false;

	for (unsigned int i = 1; i <= net->n_vls; i++) {
		unsigned int vl = (source->turn + i) % net->n_vls;

		if (source->ready[vl].first == NONE)
			continue;
		any = true;
		if (net->held[first + vl] == net->load->credits)
			continue;
		source->turn = vl;
		POP(&source->ready[vl], pacers_of(net), pacer);
		send(net, pacer);
		break;
	}
	return any;
}

/* ---- switches ---- */

/* The next packet of a channel that has credits; it takes its inputs in turn. */
static void forward(struct congest *net, uint32_t index)
{
	struct channel *channel = &net->channels[index];
	struct move move = {.to = buffer_after(net, index)};
	struct packet *packet;
	uint32_t lane;

	POP(&channel->lanes, net->lanes, lane);
	POP(&net->lanes[lane].packets, packets_of(net), move.packet);
	if (net->lanes[lane].packets.first != NONE)
		PUSH(&channel->lanes, net->lanes, lane);
	packet = &packets_of(net)[move.packet];
	channel->backlog--;
	packet->fecn |= marks(net, index);
	move.from = buffer_before(net, &net->flows[packet->flow], packet->hop);
	channel->waited = false;
	g_array_append_val(net->moves, move);
}

/* By the VL whose turn it is among those with credits; false if it has no packets. */
static bool port_sends(struct congest *net, uint32_t index)
{
	uint32_t first = index_of(net, index, 0), chosen = NONE;
	struct port *port = &net->ports[index];
	bool any = false;

	for (unsigned int i = 1; i <= net->n_vls; i++) {
		uint32_t channel = first + (port->turn + i) % net->n_vls;

		if (!net->channels[channel].backlog)
			continue;
		any = true;
		if (net->held[buffer_after(net, channel)] == net->load->credits)
			net->channels[channel].waited = true;
		else if (chosen == NONE)
			chosen = channel;
	}
	if (chosen == NONE)
		return any;
	port->turn = chosen - first;
	forward(net, chosen);
	return true;
}

static void enter_switch(struct congest *net, uint32_t index, uint32_t channel, uint8_t in)
{
	uint32_t out = port_of(net, channel), vl = vl_part(net, channel);
	uint32_t width = net->fabric->nodes[net->fabric->ports[out].node].num_ports + 1u;
	uint32_t lane = net->ports[out].lanes + vl * width + in;

	if (net->lanes[lane].packets.first == NONE)
		PUSH(&net->channels[channel].lanes, net->lanes, lane);
	PUSH(&net->lanes[lane].packets, packets_of(net), index);
	net->channels[channel].backlog++;
	list(net->busy_ports, out, &net->ports[out].listed);
}

/* ---- hosts that receive ---- */

/* False if nothing is in its buffers. */
static bool host_takes(struct congest *net, uint32_t index)
{
	struct port *port = &net->ports[index];
	unsigned int parts = net->load->parts ? net->load->parts[index] : 0;
	struct move move = {.to = NONE};
	const struct packet *packet;

	if (port->received.first == NONE)
		return false;
	if (port->taken_at > net->now * CONGEST_PARTS)
		return true;
	if (port->taken_at + CONGEST_PARTS <= net->now * CONGEST_PARTS)
		port->taken_at = net->now * CONGEST_PARTS;
	port->taken_at += parts ? parts : CONGEST_PARTS;
	POP(&port->received, packets_of(net), move.packet);
	packet = &packets_of(net)[move.packet];
	move.from = buffer_before(net, &net->flows[packet->flow], packet->hop);
	g_array_append_val(net->moves, move);
	return true;
}

static void deliver(struct congest *net, uint32_t index)
{
	const struct packet *packet = &packets_of(net)[index];
	struct congest_tally *tally = &net->flows[packet->flow].tally;

	tally->delivered++;
	tally->marked += packet->fecn;
	if (packet->fecn)
		schedule(net, net->now + 1 + net->load->becn_ticks, EVENT_BECN, packet->flow);
	PUSH(&net->unused, packets_of(net), index);
}

/* ---- ticks ---- */

static void arrive(struct congest *net, const struct move *move)
{
	struct packet *packet = &packets_of(net)[move->packet];
	const struct flow *flow = &net->flows[packet->flow];
	uint32_t port = port_of(net, move->to);

	net->held[move->to]++;
	packet->hop += move->from != NONE;
	if (packet->hop < flow->n_hops) {
		enter_switch(net, move->packet, channel_at(net, flow, packet->hop),
			     net->fabric->ports[port].num);
		return;
	}
	PUSH(&net->ports[port].received, packets_of(net), move->packet);
	list(net->busy_hosts, port, &net->ports[port].listed);
}

static void move_all(struct congest *net)
{
	for (uint32_t i = 0; i < net->moves->len; i++) {
		const struct move *move = &g_array_index(net->moves, struct move, i);

		if (move->from != NONE)
			net->held[move->from]--;
		if (move->to == NONE)
			deliver(net, move->packet);
		else
			arrive(net, move);
	}
	g_array_set_size(net->moves, 0);
}

static void happen(struct congest *net, const struct event *event)
{
	if (event->kind == EVENT_DEMAND)
		demand(net, event->index);
	else if (event->kind == EVENT_WAKE)
		make_ready(net, event->index);
	else
		becn(net, &net->flows[event->index]);
}

/* Those of this tick; others in the slot are for a later turn of the wheel. */
static void happen_all(struct congest *net)
{
	GArray *slot = net->wheel[net->now % SLOTS];
	uint32_t n = slot->len, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct event event = g_array_index(slot, struct event, i);

		if (event.tick == net->now)
			happen(net, &event);
		else
			g_array_index(slot, struct event, kept++) = event;
	}
	g_array_remove_range(slot, kept, n - kept);
}

static void tick(struct congest *net)
{
	happen_all(net);
	for (uint32_t i = net->busy_ports->len; i-- > 0;) {
		uint32_t port = g_array_index(net->busy_ports, uint32_t, i);

		net->ports[port].listed = port_sends(net, port);
		if (!net->ports[port].listed)
			g_array_remove_index_fast(net->busy_ports, i);
	}
	for (uint32_t i = net->busy_hosts->len; i-- > 0;) {
		uint32_t port = g_array_index(net->busy_hosts, uint32_t, i);

		net->ports[port].listed = host_takes(net, port);
		if (!net->ports[port].listed)
			g_array_remove_index_fast(net->busy_hosts, i);
	}
	for (uint32_t i = net->busy_sources->len; i-- > 0;) {
		struct source *source =
			source_at(net, g_array_index(net->busy_sources, uint32_t, i));

		source->listed = source_sends(net, source);
		if (!source->listed)
			g_array_remove_index_fast(net->busy_sources, i);
	}
	move_all(net);
	net->now++;
}

void congest_run(struct congest *net, uint64_t ticks)
{
	for (uint64_t i = 0; i < ticks; i++)
		tick(net);
}

/* ---- the whole ---- */

static uint32_t source_of(struct congest *net, uint32_t port)
{
	struct source source = {.port = port};

	for (uint32_t i = net->sources->len; i-- > 0;)
		if (source_at(net, i)->port == port)
			return i;
	source.phase = random_below(&net->state, 1u << 30) * UINT64_C(64);
	source.ready = g_new(struct queue, net->n_vls);
	for (unsigned int vl = 0; vl < net->n_vls; vl++)
		source.ready[vl] = QUEUE_EMPTY;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		source.by_sl[sl] = NONE;
	g_array_append_val(net->sources, source);
	return net->sources->len - 1;
}

static void set_control(struct congest *net, struct pacer *pacer, uint8_t sl)
{
	uint32_t port = source_at(net, pacer->source)->port;
	const struct congest_ca *ca = net->load->cas ? &net->load->cas[port] : NULL;

	if (!ca || !ca->setting || !ca->n_blocks || !(ca->setting->control_map >> sl & 1))
		return;
	pacer->entry = &ca->setting->sl[sl];
	pacer->blocks = ca->blocks;
	pacer->limit =
		MIN(ca->blocks[ca->n_blocks - 1].ccti_limit, ca->n_blocks * CONGEST_BLOCK - 1);
	pacer->ccti = MIN(pacer->entry->ccti_min, pacer->limit);
}

/* PortControl bit 0: all flows of the SL have one CCTI. */
static uint32_t pacer_of(struct congest *net, uint32_t port, const struct flow *flow)
{
	struct pacer pacer = {.flows = QUEUE_EMPTY, .vl = vl_part(net, flow->entrance)};
	const struct congest_ca *ca = net->load->cas ? &net->load->cas[port] : NULL;
	uint32_t *shared, index = net->pacers->len;

	pacer.source = source_of(net, port);
	shared = &source_at(net, pacer.source)->by_sl[flow->sl];
	if (*shared != NONE)
		return *shared;
	set_control(net, &pacer, flow->sl);
	if (ca && ca->setting && ca->setting->port_control & 1)
		*shared = index;
	g_array_append_val(net->pacers, pacer);
	return index;
}

static void add_flows(struct congest *net)
{
	net->flows = g_new0(struct flow, net->load->n_flows);
	for (uint32_t i = 0; i < net->load->n_flows; i++) {
		const struct congest_flow *from = &net->load->flows[i];
		struct flow *flow = &net->flows[i];

		find_path(net, from, flow);
		if (!flow->n_hops)
			continue;
		flow->pacer = pacer_of(net, from->from, flow);
		schedule(net, from->start, EVENT_DEMAND, i);
	}
}

static void add_lanes(struct congest *net)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->fabric->n_ports; i++) {
		net->ports[i].lanes = n;
		net->ports[i].received = QUEUE_EMPTY;
		if (fabric_is_switch(net->fabric, net->fabric->ports[i].node))
			n += net->n_vls *
			     (net->fabric->nodes[net->fabric->ports[i].node].num_ports + 1u);
	}
	net->lanes = g_new(struct lane, n + 1);
	for (uint32_t i = 0; i < n; i++)
		net->lanes[i].packets = QUEUE_EMPTY;
	for (uint32_t i = 0; i < net->fabric->n_ports * net->n_vls; i++)
		net->channels[i].lanes = QUEUE_EMPTY;
}

struct congest *congest_new(const struct congest_load *load)
{
	struct congest *net = g_new0(struct congest, 1);
	uint32_t n_ports = load->fabric->n_ports;

	net->load = load;
	net->fabric = load->fabric;
	net->state = load->state;
	net->tick_ps = UINT64_C(8000) * load->octets / load->gbps;
	net->vl_bits = load->routing->lanes ? VL_BITS : 0;
	net->n_vls = 1 << net->vl_bits;
	net->held = g_new0(uint32_t, n_ports * net->n_vls);
	net->channels = g_new0(struct channel, n_ports * net->n_vls);
	net->ports = g_new0(struct port, n_ports);
	net->hops = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	net->pacers = g_array_new(FALSE, FALSE, sizeof(struct pacer));
	net->sources = g_array_new(FALSE, FALSE, sizeof(struct source));
	net->packets = g_array_new(FALSE, FALSE, sizeof(struct packet));
	net->unused = QUEUE_EMPTY;
	net->busy_ports = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	net->busy_hosts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	net->busy_sources = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	net->moves = g_array_new(FALSE, FALSE, sizeof(struct move));
	for (unsigned int i = 0; i < SLOTS; i++)
		net->wheel[i] = g_array_new(FALSE, FALSE, sizeof(struct event));
	add_lanes(net);
	add_flows(net);
	return net;
}

void congest_free(struct congest *net)
{
	for (uint32_t i = 0; i < net->sources->len; i++)
		g_free(source_at(net, i)->ready);
	for (unsigned int i = 0; i < SLOTS; i++)
		g_array_unref(net->wheel[i]);
	g_array_unref(net->moves);
	g_array_unref(net->busy_sources);
	g_array_unref(net->busy_hosts);
	g_array_unref(net->busy_ports);
	g_array_unref(net->packets);
	g_array_unref(net->sources);
	g_array_unref(net->pacers);
	g_array_unref(net->hops);
	g_free(net->flows);
	g_free(net->lanes);
	g_free(net->ports);
	g_free(net->channels);
	g_free(net->held);
	g_free(net);
}

const struct congest_tally *congest_tally(const struct congest *net, uint32_t flow)
{
	return &net->flows[flow].tally;
}

uint16_t congest_ccti(struct congest *net, uint32_t flow)
{
	struct pacer *pacer = &pacers_of(net)[net->flows[flow].pacer];

	settle(net, pacer);
	return pacer->ccti;
}

uint64_t congest_marks(const struct congest *net, uint32_t port, bool as_victim)
{
	uint64_t n = 0;

	for (unsigned int vl = 0; vl < net->n_vls; vl++)
		n += net->channels[index_of(net, port, vl)].marks[as_victim];
	return n;
}

uint64_t congest_held(const struct congest *net)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < net->fabric->n_ports * net->n_vls; i++)
		n += net->held[i];
	return n;
}

uint64_t congest_queued(const struct congest *net, uint32_t flow)
{
	const struct congest_tally *tally = &net->flows[flow].tally;

	return net->flows[flow].pending + tally->sent - tally->delivered;
}

/* ---- fair shares ---- */

unsigned int congest_path(const struct congest *net, uint32_t flow, uint32_t ports[UINT8_MAX])
{
	for (unsigned int hop = 0; hop < net->flows[flow].n_hops; hop++)
		ports[hop] = port_of(net, channel_at(net, &net->flows[flow], hop));
	return net->flows[flow].n_hops;
}

struct filling {
	const struct congest *net;
	double *left;	/* [port that sends]: of its capacity */
	uint32_t *open; /* [port that sends]: flows without a share yet */
	double *share;	/* [flow], or less than 0 */
};

/* Ports by which the packets of a flow leave its host and switches. */
static unsigned int links_of(const struct congest *net, uint32_t flow, uint32_t *links)
{
	unsigned int n = congest_path(net, flow, links);

	links[n] = net->load->flows[flow].from;
	return n ? n + 1 : 0;
}

static void fill(struct filling *filling, uint32_t flow, double share)
{
	uint32_t links[UINT8_MAX + 1];
	unsigned int n = links_of(filling->net, flow, links);

	filling->share[flow] = share;
	for (unsigned int i = 0; i < n; i++) {
		filling->left[links[i]] -= share;
		filling->open[links[i]]--;
	}
}

/* Gives the flows through the most contended link their shares; false if all have one. */
static bool fill_one_link(struct filling *filling)
{
	const struct congest *net = filling->net;
	uint32_t link = NONE;

	for (uint32_t i = 0; i < net->fabric->n_ports; i++)
		if (filling->open[i] &&
		    (link == NONE || filling->left[i] / filling->open[i] <
					     filling->left[link] / filling->open[link]))
			link = i;
	if (link == NONE)
		return false;
	for (uint32_t flow = 0, n = filling->open[link]; flow < net->load->n_flows; flow++) {
		uint32_t links[UINT8_MAX + 1];
		unsigned int n_links = links_of(net, flow, links);
		bool is_on_it = false;

		for (unsigned int i = 0; i < n_links; i++)
			is_on_it |= links[i] == link;
		if (is_on_it && filling->share[flow] < 0)
			fill(filling, flow, filling->left[link] / n--);
	}
	return true;
}

double *congest_fair(const struct congest *net)
{
	const uint8_t *parts = net->load->parts;
	struct filling filling = {.net = net};
	uint32_t n_ports = net->fabric->n_ports;

	filling.left = g_new(double, n_ports);
	filling.open = g_new0(uint32_t, n_ports);
	filling.share = g_new(double, net->load->n_flows);
	for (uint32_t i = 0; i < n_ports; i++) {
		uint32_t peer = net->fabric->ports[i].peer;

		filling.left[i] = parts && peer != FABRIC_NONE && parts[peer] > CONGEST_PARTS
					  ? (double)CONGEST_PARTS / parts[peer]
					  : 1;
	}
	for (uint32_t flow = 0; flow < net->load->n_flows; flow++) {
		uint32_t links[UINT8_MAX + 1];
		unsigned int n = links_of(net, flow, links);

		filling.share[flow] = n ? -1 : 0;
		for (unsigned int i = 0; i < n; i++)
			filling.open[links[i]]++;
	}
	while (fill_one_link(&filling))
		;
	g_free(filling.left);
	g_free(filling.open);
	return filling.share;
}

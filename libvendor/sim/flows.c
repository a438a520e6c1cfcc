// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where flows go, and how fast.
 *
 * A flow is followed from port to port by the tables as the switches hold them now. A port whose
 * flows want to send more than its link carries gives each the same share of what it wants; a flow
 * gets the least share on its way. So no link carries more than it can, but a link may carry less:
 * what a flow does not get elsewhere is not given to others.
 *
 * What a flow cannot send because of a hot port waits in the ports before that, up to the source,
 * and counts PortXmitWait there. A share of it can be discarded instead, as if it waited longer
 * than HOQLife: it is then carried up to the hot port, which counts the discards.
 */
#include <string.h>

#include "iba/codes.h"
#include "libvendor/sim/traffic.h"

#define HOPS_MAX 64
#define OCTETS_PER_TENTH 12500000.0 /* a second, of 0.1 Gb/s */
#define DAMAGED_ONE_IN 16	    /* symbol errors damage a packet */
#define UNCORRECTABLE_ONE_IN 1024   /* corrected symbols come with a block that is not */

static size_t position(const struct sim *sim, const struct sim_port *port)
{
	return port - sim->ports;
}

static struct sim_port *far_end(const struct sim_port *port)
{
	return port->peer ? &port->peer->ports[port->peer_number] : NULL;
}

static struct flow *flow_at(const struct traffic *traffic, unsigned int i)
{
	return &g_array_index(traffic->flows, struct flow, i);
}

static struct hop *hop_at(const struct traffic *traffic, const struct flow *flow, unsigned int i)
{
	return &g_array_index(traffic->hops, struct hop, flow->first + i);
}

/* ---- links ---- */

/* Octets a second: speeds up to QDR code 8 bits in 10. */
static double capacity(const struct sim_port *port)
{
	const struct iba_port_info *info = &port->info;
	bool fast = info->link_speed_ext_active || info->link_speed_ext_active2;
	uint8_t code = iba_link_rate(info->link_width_active, info->link_speed_active,
				     info->link_speed_ext_active, info->link_speed_ext_active2);

	return iba_rate_tenths(code) * OCTETS_PER_TENTH * (fast ? 1 : 0.8);
}

static bool carries_data(const struct sim_port *port)
{
	const struct sim_port *peer = far_end(port);

	return peer && port->info.port_state == IBA_PORT_ACTIVE &&
	       peer->info.port_state == IBA_PORT_ACTIVE;
}

/* ---- terms ---- */

static void add_term(struct traffic *traffic, const struct term *term)
{
	g_array_append_vals(traffic->terms, term, 1);
}

static struct term term_of(const struct traffic *traffic, const struct flow *flow,
			   enum term_kind kind, struct sim_port *port)
{
	return (struct term){
		.port = port,
		.source = (unsigned int)(flow - flow_at(traffic, 0)),
		.kind = kind,
		.counter = SIM_PORT_COUNTERS,
		.detail = SIM_PORT_COUNTERS,
	};
}

/* ---- the path of a flow ---- */

/* The end of a path: the port that counts the packets as dropped, and how. */
struct end {
	struct sim_port *port; /* NULL: none */
	enum sim_port_counter counter, detail;
	const char *why; /* NULL: they arrive */
};

static struct end discarded(struct sim_port *out, enum sim_port_counter detail, const char *why)
{
	return (struct end){out, SIM_COUNT_PORT_XMIT_DISCARDS, detail, why};
}

static struct end not_relayed(struct sim_port *in, enum sim_port_counter detail, const char *why)
{
	return (struct end){in, SIM_COUNT_PORT_RCV_SWITCH_RELAY_ERRORS, detail, why};
}

/* The port by which a switch sends on what came in, or NULL and how the path ends. */
static struct sim_port *relay(const struct flow *flow, struct sim_port *in, struct end *end)
{
	struct sim_node *node = in->node;
	uint8_t out = sim_route(node->sw, flow->to->info.lid);

	if (out == 0)
		*end = (struct end){.why = "a switch has its LID"};
	else if (out > node->num_ports)
		*end = not_relayed(in, SIM_COUNT_PORT_DLID_MAPPING_ERRORS, "no route to its LID");
	else if (out == in->number)
		*end = not_relayed(in, SIM_COUNT_PORT_LOOPING_ERRORS, "its route turns back");
	else if (sma_vl(&node->ports[out], in->number, flow->is.sl) == 15)
		*end = not_relayed(in, SIM_COUNT_PORT_VL_MAPPING_ERRORS, "its SL has no VL there");
	else
		return &node->ports[out];
	return NULL;
}

static bool leaves(const struct flow *flow, struct sim_port *out, unsigned int hops,
		   struct end *end)
{
	if (!carries_data(out))
		*end = discarded(out, SIM_COUNT_PORT_INACTIVE_DISCARDS, "a link is not active");
	else if (hops == HOPS_MAX)
		*end = discarded(out, SIM_COUNT_PORT_SW_LIFETIME_LIMIT_DISCARDS,
				 "its route has no end");
	else if (flow->is.size > iba_mtu_bytes(out->info.neighbor_mtu))
		*end = discarded(out, SIM_COUNT_PORT_NEIGHBOR_MTU_DISCARDS,
				 "its packets exceed the MTU of a link");
	else
		return true;
	return false;
}

static struct end find_path(struct traffic *traffic, struct flow *flow)
{
	struct sim_port *out = flow->from;
	unsigned int in = 0;
	struct end end = {0};

	flow->first = traffic->hops->len;
	flow->n = 0;
	while (leaves(flow, out, flow->n, &end)) {
		const struct hop hop = {out, sma_vl(out, in, flow->is.sl), !out->black_hole};
		struct sim_port *peer = far_end(out);

		g_array_append_val(traffic->hops, hop);
		flow->n++;
		if (!hop.received) {
			end.why = "a black hole";
			return end;
		}
		if (!peer->node->sw) {
			if (!sim_owns_lid(peer, flow->to->info.lid))
				end.why = "it reaches another host";
			return end;
		}
		in = peer->number;
		out = relay(flow, peer, &end);
		if (!out)
			return end;
	}
	/* A host that cannot send at all counts nothing. */
	if (!flow->n && end.detail == SIM_COUNT_PORT_INACTIVE_DISCARDS)
		end.port = NULL;
	return end;
}

/* ---- rates ---- */

static double share_of(const struct sim *sim, const struct traffic *traffic,
		       const struct sim_port *port)
{
	double wanted = traffic->demand[position(sim, port)], can = capacity(port);

	return wanted > can ? can / wanted : 1;
}

static struct meter meter_of(double a_second, uint64_t carry)
{
	return (struct meter){(uint64_t)(a_second * (double)METER_SECOND + 0.5), carry};
}

/* Its rate: the least share; with discards, more goes as far as the port with that. */
static void set_rate(const struct sim *sim, const struct traffic *traffic, struct flow *flow)
{
	double least = 1, before = 1;

	flow->hot = flow->n;
	for (unsigned int i = 0; i < flow->n; i++) {
		double share = share_of(sim, traffic, hop_at(traffic, flow, i)->out);

		if (share >= least)
			continue;
		before = least;
		least = share;
		flow->hot = i;
	}
	flow->out = flow->demand * least;
	flow->in = flow->out;
	if (flow->hot > 0 && flow->hot < flow->n)
		flow->in += sim->discard * flow->demand * (before - least);
	flow->packets = meter_of(flow->in / (double)(flow->words * 4), flow->packets.carry);
	flow->keep = flow->in > 0 ? (uint64_t)(flow->out / flow->in * (double)KEEP_ALL) : KEEP_ALL;
}

static void add_load(const struct sim *sim, struct traffic *traffic, const struct flow *flow)
{
	for (unsigned int i = 0; i < flow->n; i++) {
		size_t at = position(sim, hop_at(traffic, flow, i)->out);

		traffic->load[at] += i < flow->hot ? flow->in : flow->out;
		if (i < flow->hot && flow->hot < flow->n)
			traffic->held[at] += flow->demand - flow->in;
	}
}

/*
 * What is held back in a port waits while the port sends nothing else. A tick is the time of Tick +
 * 1 octets on the link; with ticks of lanes, on each of its lanes.
 */
static void add_wait(const struct sim *sim, struct traffic *traffic, const struct flow *flow,
		     const struct hop *hop)
{
	size_t at = position(sim, hop->out);
	double idle = MAX(capacity(hop->out) - traffic->load[at], 0);
	double octets = sim_pma_tick(hop->out->node) + 1;
	double held = (flow->demand - flow->in) * MIN(1, idle / traffic->held[at]);
	struct term term = term_of(traffic, flow, TERM_WAIT, hop->out);
	struct meter meter;

	if (hop->out->node->pma & SIM_PMA_LANE_TICKS)
		octets *= iba_width_lanes(hop->out->info.link_width_active);
	meter = meter_of(held / octets, 0);
	term.source = traffic->waits->len;
	term.vl = hop->vl;
	g_array_append_val(traffic->waits, meter);
	add_term(traffic, &term);
}

/* ---- the terms of a flow ---- */

static void add_hop(const struct sim *sim, struct traffic *traffic, const struct flow *flow,
		    unsigned int i)
{
	const struct hop *hop = hop_at(traffic, flow, i);
	struct term sent = term_of(traffic, flow, TERM_SENT, hop->out);
	struct term received = term_of(traffic, flow, TERM_RECEIVED, far_end(hop->out));
	struct term discards = term_of(traffic, flow, TERM_DISCARDED, hop->out);

	sent.vl = received.vl = hop->vl;
	sent.kept = received.kept = i >= flow->hot;
	add_term(traffic, &sent);
	if (hop->received)
		add_term(traffic, &received);
	discards.counter = SIM_COUNT_PORT_XMIT_DISCARDS;
	discards.detail = SIM_COUNT_PORT_SW_HOQ_LIFETIME_LIMIT_DISCARDS;
	if (i == flow->hot && flow->in > flow->out)
		add_term(traffic, &discards);
	if (i < flow->hot && flow->hot < flow->n && flow->demand > flow->in)
		add_wait(sim, traffic, flow, hop);
}

static void add_flow(const struct sim *sim, struct traffic *traffic, const struct flow *flow,
		     const struct end *end)
{
	struct term dropped = term_of(traffic, flow, TERM_DROPPED, end->port);

	for (unsigned int i = 0; i < flow->n; i++)
		add_hop(sim, traffic, flow, i);
	if (!end->port)
		return;
	dropped.kept = true;
	dropped.counter = end->counter;
	dropped.detail = end->detail;
	add_term(traffic, &dropped);
}

/* ---- the terms of errors ---- */

static struct term error_term(const struct traffic *traffic, const struct error *error,
			      unsigned int counter, unsigned int divisor)
{
	return (struct term){
		.port = error->port,
		.source = (unsigned int)(error - (const struct error *)traffic->errors->data),
		.kind = TERM_ERROR,
		.counter = counter,
		.detail = SIM_PORT_COUNTERS,
		.divisor = divisor,
		.shares = 1,
	};
}

/* Ports that packets reach after they were damaged on the way into the port: their flows' rest. */
static void add_downstream(struct traffic *traffic, const struct error *error, unsigned int divisor)
{
	g_autoptr(GArray) crossing = g_array_new(FALSE, FALSE, sizeof(unsigned int[2]));

	for (unsigned int f = 0; f < traffic->flows->len; f++) {
		const struct flow *flow = flow_at(traffic, f);

		for (unsigned int i = 0; i < flow->n && flow->packets.rate; i++) {
			const struct hop *hop = hop_at(traffic, flow, i);
			const unsigned int place[2] = {f, i};

			if (hop->received && far_end(hop->out) == error->port)
				g_array_append_val(crossing, place);
		}
	}
	for (unsigned int k = 0; k < crossing->len; k++) {
		const unsigned int *place = (const unsigned int *)(void *)crossing->data + 2 * k;
		const struct flow *flow = flow_at(traffic, place[0]);

		for (unsigned int i = place[1] + 1; i < flow->n; i++) {
			const struct hop *hop = hop_at(traffic, flow, i);
			struct term term = error_term(
				traffic, error, SIM_COUNT_PORT_RCV_REMOTE_PHYSICAL_ERRORS, divisor);

			term.port = far_end(hop->out);
			term.share = k;
			term.shares = crossing->len;
			if (hop->received)
				add_term(traffic, &term);
		}
	}
}

/* The signal that reaches the port is bad: with FEC most of it is corrected. */
static void add_bad_cable(struct traffic *traffic, const struct error *error)
{
	bool corrected = sma_fec_active(error->port) != 0;
	unsigned int divisor = corrected ? UNCORRECTABLE_ONE_IN : DAMAGED_ONE_IN;
	unsigned int lanes = iba_width_lanes(error->port->info.link_width_active);
	struct term term;

	if (!sim_is_link_up(error->port))
		return;
	term = error_term(traffic, error,
			  corrected ? SIM_COUNT_PORT_FEC_CORRECTED_SYMBOL : SIM_COUNT_SYMBOL_ERROR,
			  1);
	add_term(traffic, &term);
	for (unsigned int lane = 0; corrected && lane < lanes; lane++) {
		term.counter = SIM_COUNT_FEC_CORRECTED_LANE + lane;
		term.share = lane;
		term.shares = lanes;
		add_term(traffic, &term);
	}
	if (corrected) {
		term = error_term(traffic, error, SIM_COUNT_PORT_FEC_CORRECTABLE_BLOCK, 1);
		add_term(traffic, &term);
		term = error_term(traffic, error, SIM_COUNT_PORT_FEC_UNCORRECTABLE_BLOCK, divisor);
		add_term(traffic, &term);
	}
	term = error_term(traffic, error, SIM_COUNT_PORT_RCV_ERRORS, divisor);
	term.detail = SIM_COUNT_PORT_LOCAL_PHYSICAL_ERRORS;
	add_term(traffic, &term);
	add_downstream(traffic, error, divisor);
}

static void add_error(struct traffic *traffic, struct error *error)
{
	struct term term = error_term(traffic, error, error->which, 1);

	error->meter = meter_of(error->rate, error->meter.carry);
	if (error->which == SIM_BAD_CABLE)
		add_bad_cable(traffic, error);
	else
		add_term(traffic, &term);
}

/* ---- all of them ---- */

/* Terms by port, in the order in which they were made. */
static void sort_terms(const struct sim *sim, struct traffic *traffic)
{
	GArray *unsorted = traffic->terms;
	unsigned int *first = traffic->first, sum = 0;
	struct term *sorted = g_new(struct term, unsorted->len + 1);

	memset(first, 0, (sim->n_ports + 1) * sizeof(*first));
	for (unsigned int i = 0; i < unsorted->len; i++)
		first[position(sim, g_array_index(unsorted, struct term, i).port)]++;
	for (unsigned int i = 0; i <= sim->n_ports; i++) {
		unsigned int n = first[i];

		first[i] = sum;
		sum += n;
	}
	for (unsigned int i = 0; i < unsorted->len; i++) {
		const struct term *term = &g_array_index(unsorted, struct term, i);

		sorted[first[position(sim, term->port)]++] = *term;
	}
	memmove(first + 1, first, sim->n_ports * sizeof(*first));
	first[0] = 0;
	memcpy(unsorted->data, sorted, unsorted->len * sizeof(*sorted));
	g_free(sorted);
}

static void find_demand(const struct sim *sim, struct traffic *traffic, struct flow *flow)
{
	flow->demand = flow->is.rate * (flow->is.of_link ? capacity(flow->from) : 1);
	for (unsigned int i = 0; i < flow->n; i++)
		traffic->demand[position(sim, hop_at(traffic, flow, i)->out)] += flow->demand;
}

void flows_route(struct sim *sim, struct traffic *traffic)
{
	unsigned int n = traffic->flows->len;
	g_autofree struct end *ends = g_new0(struct end, n + 1);
	size_t size = sim->n_ports * sizeof(*traffic->demand);

	g_array_set_size(traffic->hops, 0);
	g_array_set_size(traffic->terms, 0);
	g_array_set_size(traffic->waits, 0);
	memset(traffic->demand, 0, size);
	memset(traffic->load, 0, size);
	memset(traffic->held, 0, size);
	for (unsigned int i = 0; i < n; i++) {
		ends[i] = find_path(traffic, flow_at(traffic, i));
		flow_at(traffic, i)->ends = ends[i].why;
		find_demand(sim, traffic, flow_at(traffic, i));
	}
	for (unsigned int i = 0; i < n; i++) {
		set_rate(sim, traffic, flow_at(traffic, i));
		add_load(sim, traffic, flow_at(traffic, i));
	}
	for (unsigned int i = 0; i < n; i++)
		add_flow(sim, traffic, flow_at(traffic, i), &ends[i]);
	for (unsigned int i = 0; i < traffic->errors->len; i++)
		add_error(traffic, &g_array_index(traffic->errors, struct error, i));
	sort_terms(sim, traffic);
}

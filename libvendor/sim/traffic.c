// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flows between hosts, and errors at a rate, as the counters of ports see them.
 *
 * No packet of a flow is an event. The number of packets that a flow has sent is an integer
 * function of time, so that all ports on its way count the same packets, whenever they are read: a
 * port adds to its counters what its terms grew by since they were last added. Tables, links and
 * flows are looked at again when one of them changed; changes within a millisecond are taken as
 * one, at the time of the first. Packets of flows do not delay MADs, nor are they checked for a
 * P_Key.
 */
#include <string.h>

#include "complib/random.h"
#include "libvendor/sim/traffic.h"

#define HEADERS 24 /* LRH, BTH and ICRC */
#define TOGETHER_NS NS_PER_MS

static uint64_t now_of(const struct sim *sim)
{
	return actor_now(sim->actor);
}

/* ---- numbers as functions of time ---- */

static unsigned __int128 meter_parts(const struct meter *meter, uint64_t ns)
{
	return meter->carry + (unsigned __int128)meter->rate * ns;
}

static uint64_t meter_value(const struct meter *meter, uint64_t ns)
{
	return (uint64_t)(meter_parts(meter, ns) / METER_UNIT);
}

/* Begins again, ns later. */
static void meter_advance(struct meter *meter, uint64_t ns)
{
	meter->carry = (uint64_t)(meter_parts(meter, ns) % METER_UNIT);
}

static uint64_t flow_value(const struct flow *flow, uint64_t ns, bool kept)
{
	uint64_t packets = meter_value(&flow->packets, ns);

	if (!kept)
		return packets;
	return (uint64_t)((flow->keep_carry + (unsigned __int128)packets * flow->keep) / KEEP_ALL);
}

static void flow_advance(struct flow *flow, uint64_t ns)
{
	uint64_t packets = meter_value(&flow->packets, ns);

	flow->keep_carry =
		(uint64_t)((flow->keep_carry + (unsigned __int128)packets * flow->keep) % KEEP_ALL);
	meter_advance(&flow->packets, ns);
}

static const struct flow *flow_of(const struct traffic *traffic, const struct term *term)
{
	return &g_array_index(traffic->flows, struct flow, term->source);
}

static uint64_t term_value(const struct traffic *traffic, const struct term *term, uint64_t ns)
{
	const struct error *error;
	uint64_t value;

	switch (term->kind) {
	case TERM_WAIT:
		return meter_value(&g_array_index(traffic->waits, struct meter, term->source), ns);
	case TERM_ERROR:
		error = &g_array_index(traffic->errors, struct error, term->source);
		value = (error->done + meter_value(&error->meter, ns)) / term->divisor;
		return (value + term->shares - 1 - term->share) / term->shares;
	case TERM_DISCARDED:
		return flow_value(flow_of(traffic, term), ns, false) -
		       flow_value(flow_of(traffic, term), ns, true);
	default:
		return flow_value(flow_of(traffic, term), ns, term->kept);
	}
}

/* ---- counting ---- */

static void count_packets(struct sim_port *port, const struct flow *flow, const struct term *term,
			  uint64_t packets)
{
	bool sent = term->kind == TERM_SENT;
	const struct sim_lanes lanes = {
		.packets = packets,
		.words = packets * flow->words,
		.sl = flow->is.sl,
		.vl = term->vl,
		.op = SIM_OP_FLOW,
	};

	sim_count(port, sent ? SIM_COUNT_PORT_XMIT_DATA : SIM_COUNT_PORT_RCV_DATA, lanes.words);
	sim_count(port, sent ? SIM_COUNT_PORT_XMIT_PKTS : SIM_COUNT_PORT_RCV_PKTS, packets);
	sim_count(port, sent ? SIM_COUNT_PORT_UNICAST_XMIT_PKTS : SIM_COUNT_PORT_UNICAST_RCV_PKTS,
		  packets);
	if (port->node->pma & SIM_PMA_OPTIONAL)
		sim_count_lanes(port, &lanes, sent);
}

static void count_term(const struct traffic *traffic, const struct term *term, uint64_t n)
{
	struct sim_port *port = term->port;

	switch (term->kind) {
	case TERM_SENT:
	case TERM_RECEIVED:
		count_packets(port, flow_of(traffic, term), term, n);
		return;
	case TERM_WAIT:
		sim_count(port, SIM_COUNT_PORT_XMIT_WAIT, n);
		if (port->node->pma & SIM_PMA_OPTIONAL)
			sim_count(port, SIM_COUNT_VL_XMIT_WAIT + term->vl, n);
		return;
	default:
		sim_count(port, term->counter, n);
		if (term->detail != SIM_PORT_COUNTERS)
			sim_count(port, term->detail, n);
	}
}

static void settle(struct traffic *traffic, size_t at, uint64_t now)
{
	uint64_t from = traffic->settled[at] - traffic->since, to = now - traffic->since;

	if (now <= traffic->settled[at])
		return;
	for (unsigned int i = traffic->first[at]; i < traffic->first[at + 1]; i++) {
		const struct term *term = &g_array_index(traffic->terms, struct term, i);
		uint64_t n = term_value(traffic, term, to) - term_value(traffic, term, from);

		if (n)
			count_term(traffic, term, n);
	}
	traffic->settled[at] = now;
}

/* All ports, as of that time, which is then the beginning of all terms. */
static void settle_all(const struct sim *sim, struct traffic *traffic, uint64_t now)
{
	uint64_t ns = now - traffic->since;

	for (unsigned int i = 0; i < sim->n_ports; i++)
		settle(traffic, i, now);
	for (unsigned int i = 0; i < traffic->flows->len; i++)
		flow_advance(&g_array_index(traffic->flows, struct flow, i), ns);
	for (unsigned int i = 0; i < traffic->waits->len; i++)
		meter_advance(&g_array_index(traffic->waits, struct meter, i), ns);
	for (unsigned int i = 0; i < traffic->errors->len; i++) {
		struct error *error = &g_array_index(traffic->errors, struct error, i);

		error->done += meter_value(&error->meter, ns);
		meter_advance(&error->meter, ns);
	}
	traffic->since = now;
}

/* Looks at tables and links as they have been since the change. */
static void follow(struct sim *sim, struct traffic *traffic)
{
	if (!traffic->changed)
		return;
	settle_all(sim, traffic, traffic->changed_at);
	flows_route(sim, traffic);
	traffic->changed = false;
}

void sim_traffic_settle(struct sim *sim, const struct sim_port *port)
{
	follow(sim, sim->traffic);
	settle(sim->traffic, port - sim->ports, now_of(sim));
}

void sim_traffic_settle_all(struct sim *sim)
{
	follow(sim, sim->traffic);
	settle_all(sim, sim->traffic, now_of(sim));
}

void sim_traffic_change(struct sim *sim)
{
	struct traffic *traffic = sim->traffic;
	uint64_t now = now_of(sim);

	if (traffic->changed && now - traffic->changed_at < TOGETHER_NS)
		return;
	follow(sim, traffic);
	traffic->changed = true;
	traffic->changed_at = now;
}

/* ---- flows and errors come and go ---- */

static struct traffic *traffic_of(struct sim *sim)
{
	struct traffic *traffic = sim->traffic;

	if (traffic)
		return traffic;
	traffic = g_new0(struct traffic, 1);
	traffic->flows = g_array_new(FALSE, FALSE, sizeof(struct flow));
	traffic->errors = g_array_new(FALSE, FALSE, sizeof(struct error));
	traffic->hops = g_array_new(FALSE, FALSE, sizeof(struct hop));
	traffic->terms = g_array_new(FALSE, FALSE, sizeof(struct term));
	traffic->waits = g_array_new(FALSE, FALSE, sizeof(struct meter));
	traffic->first = g_new0(unsigned int, sim->n_ports + 1);
	traffic->settled = g_new0(uint64_t, sim->n_ports);
	traffic->demand = g_new0(double, sim->n_ports);
	traffic->load = g_new0(double, sim->n_ports);
	traffic->held = g_new0(double, sim->n_ports);
	traffic->random = sim->config.seed;
	traffic->since = now_of(sim);
	for (unsigned int i = 0; i < sim->n_ports; i++)
		traffic->settled[i] = traffic->since;
	sim->traffic = traffic;
	return traffic;
}

void sim_traffic_free(struct sim *sim)
{
	struct traffic *traffic = g_steal_pointer(&sim->traffic);

	if (!traffic)
		return;
	g_array_free(traffic->flows, TRUE);
	g_array_free(traffic->errors, TRUE);
	g_array_free(traffic->hops, TRUE);
	g_array_free(traffic->terms, TRUE);
	g_array_free(traffic->waits, TRUE);
	g_free(traffic->first);
	g_free(traffic->settled);
	g_free(traffic->demand);
	g_free(traffic->load);
	g_free(traffic->held);
	g_free(traffic);
}

/* Sources are numbers in the terms: these must be counted before anything is taken away. */
static struct traffic *begin_change(struct sim *sim)
{
	traffic_of(sim);
	sim_traffic_settle_all(sim);
	g_array_set_size(sim->traffic->terms, 0);
	memset(sim->traffic->first, 0, (sim->n_ports + 1) * sizeof(*sim->traffic->first));
	sim->traffic->changed = true;
	sim->traffic->changed_at = now_of(sim);
	return sim->traffic;
}

static void end_change(struct sim *sim)
{
	if (!sim->traffic->flows->len && !sim->traffic->errors->len)
		sim_traffic_free(sim);
}

static struct sim_port *host_port(const struct sim *sim, unsigned int index, unsigned int number)
{
	struct sim_node *node = sim_node_at(sim, index);

	return !node->sw && number >= 1 && number <= node->num_ports ? &node->ports[number] : NULL;
}

bool sim_traffic_add(struct sim *sim, const struct sim_flow *flow)
{
	struct flow added = {
		.is = *flow,
		.from = host_port(sim, flow->from_node, flow->from_port),
		.to = host_port(sim, flow->to_node, flow->to_port),
		.words = (flow->size + HEADERS + 3) / 4,
		.keep = KEEP_ALL,
	};

	if (!added.from || !added.to || added.from == added.to || flow->size > SIM_FLOW_SIZE_MAX ||
	    flow->sl > 15 || !(flow->rate >= 0 && flow->rate <= SIM_FLOW_RATE_MAX) ||
	    (sim->traffic && sim->traffic->flows->len >= SIM_FLOWS_MAX))
		return false;
	/* One more does not change what the terms mean. */
	traffic_of(sim);
	sim_traffic_change(sim);
	g_array_append_val(sim->traffic->flows, added);
	return true;
}

static GArray *cabled_hosts(const struct sim *sim)
{
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(struct sim_port *));

	for (unsigned int i = 0; i < sim->n_ports; i++) {
		const struct sim_port *port = &sim->ports[i];

		if (port->node->type == IBA_NODE_CA && port->number && port->peer)
			g_array_append_val(hosts, port);
	}
	return hosts;
}

bool sim_traffic_random(struct sim *sim, unsigned int n, const struct sim_flow *like)
{
	g_autoptr(GArray) hosts = cabled_hosts(sim);
	struct traffic *traffic;

	if (hosts->len < 2 || n > SIM_FLOWS_MAX)
		return false;
	traffic = traffic_of(sim);
	for (unsigned int i = 0; i < n; i++) {
		struct sim_flow flow = *like;
		uint32_t from = random_below(&traffic->random, hosts->len);
		uint32_t to = random_below(&traffic->random, hosts->len - 1);
		const struct sim_port *ends[2] = {
			g_array_index(hosts, struct sim_port *, from),
			g_array_index(hosts, struct sim_port *, to + (to >= from)),
		};

		flow.from_node = ends[0]->node->index;
		flow.from_port = ends[0]->number;
		flow.to_node = ends[1]->node->index;
		flow.to_port = ends[1]->number;
		if (!sim_traffic_add(sim, &flow)) {
			end_change(sim);
			return false;
		}
	}
	end_change(sim);
	return true;
}

void sim_traffic_clear(struct sim *sim)
{
	if (!sim->traffic)
		return;
	g_array_set_size(begin_change(sim)->flows, 0);
	end_change(sim);
}

void sim_traffic_discard(struct sim *sim, double share)
{
	if (sim->traffic)
		sim_traffic_change(sim);
	sim->discard = share;
}

unsigned int sim_traffic_flows(const struct sim *sim)
{
	return sim->traffic ? sim->traffic->flows->len : 0;
}

void sim_traffic_view(struct sim *sim, unsigned int i, struct sim_flow_view *view)
{
	const struct flow *flow;

	g_assert(i < sim_traffic_flows(sim));
	follow(sim, sim->traffic);
	flow = &g_array_index(sim->traffic->flows, struct flow, i);
	*view = (struct sim_flow_view){
		.flow = flow->is,
		.wanted = flow->demand,
		.sent = flow->n ? flow->in : 0,
		.arrives = flow->ends ? 0 : flow->out,
		.hops = flow->n,
		.ends = flow->ends,
	};
}

/* ---- errors ---- */

bool sim_errors_set(struct sim *sim, unsigned int node, unsigned int number, unsigned int which,
		    double rate)
{
	struct error error = {.which = which, .rate = rate};
	struct sim_node *at = sim_node_at(sim, node);
	struct traffic *traffic;

	if (number < 1 || number > at->num_ports || which > SIM_BAD_CABLE ||
	    !(rate >= 0 && rate <= SIM_ERROR_RATE_MAX))
		return false;
	error.port = &at->ports[number];
	traffic = begin_change(sim);
	for (unsigned int i = 0; i < traffic->errors->len; i++) {
		const struct error *old = &g_array_index(traffic->errors, struct error, i);

		if (old->port != error.port || old->which != which)
			continue;
		error.done = old->done;
		error.meter.carry = old->meter.carry;
		g_array_remove_index(traffic->errors, i);
		break;
	}
	if (rate > 0)
		g_array_append_val(traffic->errors, error);
	end_change(sim);
	return true;
}

void sim_errors_clear(struct sim *sim)
{
	if (!sim->traffic)
		return;
	g_array_set_size(begin_change(sim)->errors, 0);
	end_change(sim);
}

unsigned int sim_errors(const struct sim *sim)
{
	return sim->traffic ? sim->traffic->errors->len : 0;
}

void sim_errors_view(const struct sim *sim, unsigned int i, struct sim_error_view *view)
{
	const struct error *error;

	g_assert(i < sim_errors(sim));
	error = &g_array_index(sim->traffic->errors, struct error, i);
	*view = (struct sim_error_view){
		.node = error->port->node->index,
		.port = error->port->number,
		.which = error->which,
		.rate = error->rate,
	};
}

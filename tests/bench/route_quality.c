// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an engine costs and how even its routes are:
 *
 *   route_quality [-e ENGINE] [-n REPEATS] [-x PERCENT] [-t THREADS] TOPOLOGY...
 *
 * -x takes so many cables between switches out at random.
 *
 * freeze, engine, verify: seconds of processor time, median of the repeats; RSS: peak of the
 * process; load: busiest channel between switches over the mean, all hosts sending to all; shift:
 * flows on the busiest channel when every host i sends to host i + s, worst s tried; bisection:
 * mean over flows of 1 / (flows on the busiest channel of its path), random pairs of hosts; lost:
 * LFT blocks of 64 entries to program after one cable between switches was lost, median of a few.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "route/engine.h"
#include "tests/unit/fabric_make.h"

#define SHIFTS 512
#define MATCHINGS 50
#define LOSSES 7

struct net {
	const struct fabric *fabric;
	const struct routing *routing;
	uint32_t n_hosts;
	uint32_t *leaf; /* [host] */
	uint16_t *lid;
	uint32_t *channel; /* [switch]: of its port 0 */
	uint32_t n_channels;
	uint32_t *across; /* [channel]: next switch or FABRIC_NONE */
};

struct options {
	const struct route_engine *engine;
	unsigned int repeats, percent, threads;
};

/* Of the processor, which others on the machine disturb least; of the clock for several threads. */
static double seconds(const struct options *options)
{
	struct timespec now;

	clock_gettime(options->threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void net_hosts(struct net *net)
{
	const struct fabric *fabric = net->fabric;

	net->leaf = g_new(uint32_t, fabric->n_ports);
	net->lid = g_new(uint16_t, fabric->n_ports);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid);
		uint8_t exit;

		if (port == FABRIC_NONE || fabric->ports[port].lid != lid ||
		    fabric_is_switch(fabric, fabric->ports[port].node))
			continue;
		net->leaf[net->n_hosts] = fabric_leaf(fabric, port, &exit);
		net->lid[net->n_hosts++] = lid;
	}
}

static void net_channels(struct net *net)
{
	const struct fabric *fabric = net->fabric;

	net->channel = g_new(uint32_t, fabric->n_switches + 1);
	net->across = g_new(uint32_t, fabric->n_ports + 1);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		net->channel[sw] = net->n_channels;
		for (unsigned int num = 0; num <= node->num_ports; num++) {
			uint32_t peer = fabric->ports[node->first_port + num].peer;

			net->across[net->n_channels++] =
				peer == FABRIC_NONE ? FABRIC_NONE
						    : fabric->nodes[fabric->ports[peer].node].sw;
		}
	}
}

static void net_clear(struct net *net)
{
	g_free(net->leaf);
	g_free(net->lid);
	g_free(net->channel);
	g_free(net->across);
}

/* Adds one flow to the load of each channel on its way. */
static void add_flow(const struct net *net, uint32_t from, uint32_t to, uint64_t *load)
{
	uint32_t sw = net->leaf[from];

	while (sw != net->leaf[to]) {
		uint32_t c = net->channel[sw] + routing_port(net->routing, sw, net->lid[to]);

		load[c]++;
		sw = net->across[c];
	}
}

static uint64_t worst_of_flow(const struct net *net, uint32_t from, uint32_t to,
			      const uint64_t *load)
{
	uint32_t sw = net->leaf[from];
	uint64_t worst = 1;

	while (sw != net->leaf[to]) {
		uint32_t c = net->channel[sw] + routing_port(net->routing, sw, net->lid[to]);

		worst = MAX(worst, load[c]);
		sw = net->across[c];
	}
	return worst;
}

/* The channel by which a switch sends to a host, or FABRIC_NONE: it has no path. */
static uint32_t channel_to(const struct net *net, uint32_t sw, uint32_t to)
{
	uint8_t port = routing_port(net->routing, sw, net->lid[to]);

	return port == ROUTE_NO_PORT ? FABRIC_NONE : net->channel[sw] + port;
}

/* Flows to one host from all others: each switch is passed on when all that enters it is known. */
static void add_all_to(const struct net *net, uint32_t to, uint64_t *load, uint64_t *flow,
		       uint32_t *waiting, uint32_t *queue)
{
	uint32_t n = net->fabric->n_switches, n_queue = 0;

	memset(flow, 0, n * sizeof(*flow));
	memset(waiting, 0, n * sizeof(*waiting));
	for (uint32_t i = 0; i < net->n_hosts; i++)
		flow[net->leaf[i]]++;
	for (uint32_t sw = 0; sw < n; sw++)
		if (sw != net->leaf[to] && channel_to(net, sw, to) != FABRIC_NONE)
			waiting[net->across[channel_to(net, sw, to)]]++;
	for (uint32_t sw = 0; sw < n; sw++)
		if (!waiting[sw])
			queue[n_queue++] = sw;
	for (uint32_t i = 0; i < n_queue; i++) {
		uint32_t sw = queue[i], c, next;

		if (sw == net->leaf[to])
			break;
		c = channel_to(net, sw, to);
		if (c == FABRIC_NONE)
			continue;
		next = net->across[c];
		load[c] += flow[sw];
		flow[next] += flow[sw];
		if (!--waiting[next])
			queue[n_queue++] = next;
	}
}

static double all_to_all(const struct net *net)
{
	uint64_t *load = g_new0(uint64_t, net->n_channels), most = 0, sum = 0, n = 0;
	uint64_t *flow = g_new(uint64_t, net->fabric->n_switches);
	uint32_t *waiting = g_new(uint32_t, net->fabric->n_switches);
	uint32_t *queue = g_new(uint32_t, net->fabric->n_switches);

	for (uint32_t to = 0; to < net->n_hosts; to++)
		add_all_to(net, to, load, flow, waiting, queue);
	for (uint32_t c = 0; c < net->n_channels; c++) {
		if (net->across[c] == FABRIC_NONE)
			continue;
		most = MAX(most, load[c]);
		sum += load[c];
		n++;
	}
	g_free(load);
	g_free(flow);
	g_free(waiting);
	g_free(queue);
	return sum ? most * (double)n / sum : 0;
}

static uint64_t worst_shift(const struct net *net)
{
	uint64_t *load = g_new(uint64_t, net->n_channels), most = 0;
	uint32_t step = 1 + net->n_hosts / SHIFTS;

	for (uint32_t shift = 1; shift < net->n_hosts; shift += step) {
		memset(load, 0, net->n_channels * sizeof(*load));
		for (uint32_t i = 0; i < net->n_hosts; i++)
			add_flow(net, i, (i + shift) % net->n_hosts, load);
		for (uint32_t c = 0; c < net->n_channels; c++)
			most = MAX(most, load[c]);
	}
	g_free(load);
	return most;
}

static double bisection(const struct net *net)
{
	uint64_t *load = g_new(uint64_t, net->n_channels), state = 1;
	uint32_t *order = g_new(uint32_t, net->n_hosts);
	double sum = 0, n = 0;

	for (uint32_t i = 0; i < net->n_hosts; i++)
		order[i] = i;
	for (unsigned int round = 0; round < MATCHINGS; round++) {
		memset(load, 0, net->n_channels * sizeof(*load));
		for (uint32_t i = net->n_hosts; i > 1; i--) {
			uint32_t other = make_number(&state, i), swap = order[other];

			order[other] = order[i - 1];
			order[i - 1] = swap;
		}
		for (uint32_t i = 0; i + 1 < net->n_hosts; i += 2) {
			add_flow(net, order[i], order[i + 1], load);
			add_flow(net, order[i + 1], order[i], load);
		}
		for (uint32_t i = 0; i + 1 < net->n_hosts; i += 2, n += 2)
			sum += 1.0 / worst_of_flow(net, order[i], order[i + 1], load) +
			       1.0 / worst_of_flow(net, order[i + 1], order[i], load);
	}
	g_free(load);
	g_free(order);
	return n ? sum / n : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static bool joins_switches(const struct builder_port *port)
{
	return builder_is_switch(port->node) && port->peer && builder_is_switch(port->peer->node);
}

static void take_cables(struct builder *builder, uint32_t percent)
{
	GPtrArray *order = builder_walk(builder);
	uint64_t state = 1;

	for (uint32_t i = 0; i < order->len; i++) {
		struct builder_node *node = order->pdata[i];

		for (unsigned int num = 1; num <= node->info.num_ports; num++)
			if (joins_switches(&node->ports[num]) &&
			    make_number(&state, 200) < percent) /* each is asked from both ends */
				builder_unlink(&node->ports[num]);
	}
	g_ptr_array_unref(order);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Blocks that differ, switches matched by GUID. */
static uint32_t changed_blocks(const struct fabric *fabric, const struct routing *routing,
			       const struct fabric *old_fabric, const struct routing *old)
{
	uint32_t changed = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint64_t guid = fabric->nodes[fabric->switches[sw].node].guid;
		uint32_t node = fabric_node_by_guid(old_fabric, guid);
		const uint8_t *was = old->lft[old_fabric->nodes[node].sw];

		for (uint32_t block = 0; block < routing->n_blocks; block++)
			changed += memcmp(routing->lft[sw] + block * 64, was + block * 64, 64) != 0;
	}
	return changed;
}

static uint32_t blocks_after_loss(struct builder *builder, const struct route_engine *engine,
				  const struct fabric *old_fabric, const struct routing *old,
				  uint64_t *state)
{
	const struct route_input input = { .threads = 1 };
	GPtrArray *order = builder_walk(builder);
	struct builder_port *port, *peer;
	struct routing *routing;
	struct fabric *fabric;
	uint32_t changed;

	do {
		struct builder_node *node = order->pdata[make_number(state, order->len)];

		port = &node->ports[1 + make_number(state, node->info.num_ports)];
	} while (!joins_switches(port));
	peer = port->peer;
	builder_unlink(port);
	fabric = builder_freeze(builder);
	routing = engine->compute(fabric, &input, NULL);
	g_assert(routing);
	routing_keep(fabric, &input, routing, old_fabric, old);
	changed = changed_blocks(fabric, routing, old_fabric, old);
	builder_link(port, peer);
	routing_unref(routing);
	fabric_unref(fabric);
	g_ptr_array_unref(order);
	return changed;
}

static uint32_t lost_blocks(struct builder *builder, const struct route_engine *engine,
			    const struct fabric *fabric, const struct routing *routing)
{
	uint32_t changed[LOSSES];
	uint64_t state = 1;

	if (fabric->n_switches < 2)
		return 0;
	for (unsigned int i = 0; i < LOSSES; i++)
		changed[i] = blocks_after_loss(builder, engine, fabric, routing, &state);
	qsort(changed, LOSSES, sizeof(changed[0]), compare_numbers);
	return changed[LOSSES / 2];
}

struct times {
	double freeze, engine, verify;
};

/* Computes and verifies repeatedly; returns the last routing. */
static struct routing *measure(struct builder *builder, const struct options *options,
			       struct fabric **fabric, struct times *times)
{
	const struct route_engine *engine = options->engine;
	unsigned int repeats = options->repeats;
	double *all = g_new(double, 3 * repeats);
	const struct route_input input = { .threads = options->threads };
	struct routing *routing = NULL;
	GError *error = NULL;

	*fabric = NULL;
	for (unsigned int i = 0; i < repeats; i++) {
		struct route_verdict verdict;
		double start = seconds(options);

		routing_unref(routing);
		fabric_unref(*fabric);
		*fabric = builder_freeze(builder);
		all[i] = seconds(options) - start;
		start = seconds(options);
		routing = engine->compute(*fabric, &input, &error);
		if (!routing)
			g_error("%s: %s", engine->name, error->message);
		all[repeats + i] = seconds(options) - start;
		start = seconds(options);
		if (!route_verify(*fabric, routing, &verdict))
			g_error("%s: %s", engine->name, verdict.witness);
		all[2 * repeats + i] = seconds(options) - start;
		route_verdict_clear(&verdict);
	}
	for (unsigned int i = 0; i < 3; i++)
		qsort(all + i * repeats, repeats, sizeof(double), compare_doubles);
	*times = (struct times){ all[repeats / 2], all[repeats + repeats / 2],
				 all[2 * repeats + repeats / 2] };
	g_free(all);
	return routing;
}

static void report(const char *spec, const struct options *options)
{
	struct builder *builder = make_builder_of(spec);
	struct fabric *fabric;
	struct routing *routing;
	struct rusage usage;
	struct times times;
	struct net net = { 0 };

	take_cables(builder, options->percent);
	make_lids(builder, 0);
	routing = measure(builder, options, &fabric, &times);
	getrusage(RUSAGE_SELF, &usage);
	net.fabric = fabric;
	net.routing = routing;
	net_hosts(&net);
	net_channels(&net);
	printf("%-18s %6u %6u %8.4f %8.4f %8.4f %6ld ", spec, net.n_hosts, fabric->n_switches,
	       times.freeze, times.engine, times.verify, usage.ru_maxrss / 1024);
	printf("%6.3f %6" G_GINT64_MODIFIER "u %6.3f %6u\n", all_to_all(&net), worst_shift(&net),
	       bisection(&net), lost_blocks(builder, options->engine, fabric, routing));
	fflush(stdout);
	net_clear(&net);
	routing_unref(routing);
	fabric_unref(fabric);
	builder_free(builder);
}

static void read_option(struct options *options, const char *flag, const char *value)
{
	if (!strcmp(flag, "-e"))
		options->engine = route_find(value);
	else if (!strcmp(flag, "-n"))
		options->repeats = strtoul(value, NULL, 10);
	else if (!strcmp(flag, "-x"))
		options->percent = strtoul(value, NULL, 10);
	else if (!strcmp(flag, "-t"))
		options->threads = strtoul(value, NULL, 10);
	else
		options->engine = NULL;
}

int main(int argc, char **argv)
{
	struct options options = { .engine = route_find("minhop"), .repeats = 5, .threads = 1 };
	int i = 1;

	for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
		read_option(&options, argv[i], argv[i + 1]);
	if (i >= argc || !options.engine || !options.repeats) {
		fprintf(stderr, "usage: route_quality [-e ENGINE] [-n REPEATS] "
				"[-x PERCENT] [-t THREADS] TOPOLOGY...\n");
		return 2;
	}
	printf("%-18s %6s %6s %8s %8s %8s %6s %6s %6s %6s %6s\n", options.engine->name, "hosts",
	       "switch", "freeze", "engine", "verify", "RSS MB", "load", "shift", "bisect", "lost");
	for (; i < argc; i++)
		report(argv[i], &options);
	return 0;
}

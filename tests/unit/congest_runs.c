// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See congest_runs.h. */
#include "tests/unit/congest_runs.h"

#include "complib/random.h"
#include "tests/unit/fabric_make.h"

#define MULTIPLIER_MAX 16383
#define SHIFT_MAX 3

/* ---- sets ---- */

static void put_entry(struct congest_set *set, unsigned int i, uint8_t shift, uint32_t multiplier)
{
	set->blocks[i / CONGEST_BLOCK].entry[i % CONGEST_BLOCK] =
		(struct iba_congestion_control_entry){shift, MIN(multiplier, MULTIPLIER_MAX)};
	set->limit = i;
	set->blocks[0].ccti_limit = MIN(i, CONGEST_BLOCK - 1u);
	set->blocks[1].ccti_limit = i;
}

/* A delay of n / d packets, with the finest shift that it fits. */
static void put_fraction(struct congest_set *set, unsigned int i, uint64_t n, uint64_t d)
{
	uint8_t shift = SHIFT_MAX;

	while (shift && (n << shift) / d >= MULTIPLIER_MAX)
		shift--;
	put_entry(set, i, shift, (uint32_t)(((n << shift) + d / 2) / d));
}

void congest_put_delay(struct congest_set *set, unsigned int i, double packets)
{
	put_fraction(set, i, (uint64_t)(packets * (1 << SHIFT_MAX) + 0.5), 1 << SHIFT_MAX);
}

void congest_put_square(struct congest_set *set, uint8_t shift, unsigned int scale)
{
	for (unsigned int i = 0; i < 2 * CONGEST_BLOCK; i++) /* 0.218 = 109 / 500 */
		put_entry(set, i, shift, 7 * i * i * 500 / (scale * scale * 109));
}

void congest_put_table(struct congest_set *set, uint32_t hosts, unsigned int limit)
{
	struct iba_congestion_control_entry table[CC_TABLE_MAX];

	cc_profile_table(hosts, limit, table);
	for (unsigned int i = 0; i <= limit; i++)
		put_entry(set, i, table[i].cct_shift, table[i].cct_multiplier);
}

void congest_set_init(struct congest_set *set, enum cc_profile profile, uint32_t hosts,
		      unsigned int gbps)
{
	static const char *const names[] = {
		[CC_GENTLE] = "gentle",
		[CC_STANDARD] = "standard",
		[CC_AGGRESSIVE] = "aggressive",
	};
	struct cc_profile_values values = cc_profile_make(profile, hosts, gbps);

	*set = (struct congest_set){
		.name = names[profile],
		.threshold = values.threshold,
		.marking_rate = values.marking_rate,
		.packet_size = values.packet_size,
		.increase = values.increase,
		.timer = values.timer,
	};
	congest_put_table(set, MIN(hosts, CC_PROFILE_HOSTS_MAX), 2 * CONGEST_BLOCK - 1);
}

/* ---- nets ---- */

static int by_leaf(const void *a, const void *b, void *data)
{
	const struct fabric *fabric = data;
	uint32_t p = fabric->ports[*(const uint32_t *)a].peer;
	uint32_t q = fabric->ports[*(const uint32_t *)b].peer;

	return p < q ? -1 : p > q;
}

void congest_net_init(struct congest_net *net, const char *spec, const char *engine)
{
	struct route_input input = {.threads = 1};
	GError *error = NULL;

	net->fabric = make_fabric(spec, 0);
	net->routing = route_compute(route_find(engine), net->fabric, &input, &error);
	if (!net->routing)
		g_error("%s: %s", spec, error->message);
	net->hosts = g_new(uint32_t, net->fabric->n_ports);
	net->n_hosts = 0;
	for (uint32_t i = 0; i < net->fabric->n_ports; i++)
		if (fabric_is_endport(net->fabric, i) && fabric_is_connected(net->fabric, i) &&
		    !fabric_is_switch(net->fabric, net->fabric->ports[i].node))
			net->hosts[net->n_hosts++] = i;
	g_qsort_with_data(net->hosts, (int)net->n_hosts, sizeof(*net->hosts), by_leaf, net->fabric);
}

void congest_net_clear(struct congest_net *net)
{
	g_free(net->hosts);
	routing_unref(net->routing);
	fabric_unref(net->fabric);
}

/* ---- settings ---- */

static void put_mask(const struct congest_net *net, uint32_t sw, enum congest_mask mask,
		     uint8_t octets[32])
{
	const struct fabric_node *node = &net->fabric->nodes[net->fabric->switches[sw].node];

	for (unsigned int num = 1; num <= node->num_ports; num++) {
		uint32_t peer = net->fabric->ports[node->first_port + num].peer;

		if (peer == FABRIC_NONE || mask == CONGEST_MASK_NONE ||
		    (mask == CONGEST_MASK_HOSTS &&
		     fabric_is_switch(net->fabric, net->fabric->ports[peer].node)))
			continue;
		octets[31 - num / 8] |= 1 << num % 8;
	}
}

void congest_settings_init(struct congest_settings *settings, const struct congest_net *net,
			   const struct congest_set *set)
{
	settings->set = g_new0(struct iba_switch_congestion_setting, net->fabric->n_switches);
	settings->switches =
		g_new(const struct iba_switch_congestion_setting *, net->fabric->n_switches);
	settings->cas = g_new0(struct congest_ca, net->fabric->n_ports);
	settings->ca = (struct iba_ca_congestion_setting){.port_control = set->per_sl,
							  .control_map = 0xFFFF};
	for (unsigned int sl = 0; sl < 16; sl++)
		settings->ca.sl[sl] = (struct iba_ca_congestion_entry){
			.ccti_timer = set->timer,
			.ccti_increase = set->increase,
			.ccti_min = set->min,
		};
	for (uint32_t sw = 0; sw < net->fabric->n_switches; sw++) {
		settings->set[sw] = (struct iba_switch_congestion_setting){
			.control_map = 0x1F,
			.threshold = set->threshold,
			.packet_size = set->packet_size,
			.marking_rate = set->marking_rate,
		};
		put_mask(net, sw, set->mask, settings->set[sw].victim_mask);
		settings->switches[sw] = &settings->set[sw];
	}
	for (uint32_t i = 0; i < net->n_hosts; i++)
		settings->cas[net->hosts[i]] =
			(struct congest_ca){set->threshold ? &settings->ca : NULL, set->blocks,
					    set->limit / CONGEST_BLOCK + 1};
}

void congest_settings_clear(struct congest_settings *settings)
{
	g_free(settings->set);
	g_free(settings->switches);
	g_free(settings->cas);
}

struct congest_load congest_load_of(const struct congest_net *net,
				    const struct congest_settings *settings)
{
	return (struct congest_load){
		.fabric = net->fabric,
		.routing = net->routing,
		.credits = 32,
		.octets = 2048,
		.gbps = 100,
		.becn_ticks = 18,
		.switches = settings ? settings->switches : NULL,
		.cas = settings ? settings->cas : NULL,
		.state = 1,
	};
}

/* ---- hot spots ---- */

static uint16_t lid_of(const struct congest_net *net, uint32_t endport)
{
	return net->fabric->ports[endport].lid;
}

static uint32_t leaf_of(const struct congest_net *net, uint32_t endport)
{
	return net->fabric->ports[net->fabric->ports[endport].peer].node;
}

/* Number of ports that two paths from a leaf both leave by. */
static unsigned int in_common(const struct congest_net *net, uint32_t from, uint16_t a, uint16_t b)
{
	const struct fabric *fabric = net->fabric;
	uint32_t in = fabric->ports[from].peer;
	unsigned int n = 0;

	while (fabric_is_switch(fabric, fabric->ports[in].node)) {
		uint32_t sw = fabric->nodes[fabric->ports[in].node].sw;
		uint8_t num = routing_port(net->routing, sw, a);

		if (num != routing_port(net->routing, sw, b) || n++ > fabric->n_switches)
			break;
		in = fabric->ports[fabric_switch_port(fabric, sw, num)].peer;
	}
	return n;
}

/* A host on the leaf of a contributor that does not send yet, or the contributor. */
static uint32_t beside(const struct congest_net *net, uint32_t contributor, bool *sends)
{
	for (uint32_t i = 0; i < net->n_hosts; i++) {
		uint32_t host = net->hosts[i];

		if (leaf_of(net, host) != leaf_of(net, contributor) || sends[host])
			continue;
		sends[host] = true;
		return host;
	}
	return contributor;
}

static uint32_t victims_target(const struct congest_net *net, uint32_t from, uint32_t target,
			       bool *receives, uint64_t *state)
{
	uint32_t start = random_below(state, net->n_hosts), best = FABRIC_NONE;
	unsigned int most = 0;

	for (uint32_t i = 0; i < net->n_hosts; i++) {
		uint32_t host = net->hosts[(start + i) % net->n_hosts];
		unsigned int common;

		if (receives[host] || leaf_of(net, host) == leaf_of(net, from))
			continue;
		common = in_common(net, from, lid_of(net, target), lid_of(net, host));
		if (best == FABRIC_NONE || common > most) {
			most = common;
			best = host;
		}
	}
	receives[best] = true;
	return best;
}

static void shuffle(uint32_t *values, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = random_below(state, i), swap = values[i - 1];

		values[i - 1] = values[other];
		values[other] = swap;
	}
}

void congest_hot_init(struct congest_hot *hot, const struct congest_net *net,
		      uint32_t n_contributors, uint32_t n_victims, uint64_t seed)
{
	g_autofree uint32_t *order = g_memdup2(net->hosts, net->n_hosts * sizeof(*net->hosts));
	g_autofree bool *sends = g_new0(bool, net->fabric->n_ports);
	g_autofree bool *receives = g_new0(bool, net->fabric->n_ports);

	shuffle(order, net->n_hosts, &seed);
	hot->target = order[0];
	hot->n_contributors = MIN(n_contributors, net->n_hosts - 1);
	hot->n_flows = hot->n_contributors + MIN(n_victims, hot->n_contributors);
	hot->flows = g_new0(struct congest_flow, hot->n_flows);
	sends[hot->target] = receives[hot->target] = true;
	for (uint32_t i = 0; i < hot->n_contributors; i++) {
		hot->flows[i] = (struct congest_flow){
			order[1 + i], lid_of(net, hot->target), 0, CONGEST_FOREVER, 0, 0};
		sends[order[1 + i]] = true;
	}
	for (uint32_t i = hot->n_contributors; i < hot->n_flows; i++) {
		uint32_t from = beside(net, order[1 + i - hot->n_contributors], sends);

		hot->flows[i] = hot->flows[0];
		hot->flows[i].from = from;
		hot->flows[i].lid =
			lid_of(net, victims_target(net, from, hot->target, receives, &seed));
	}
}

double congest_jain(const double *shares, uint32_t n)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += shares[i];
		squares += shares[i] * shares[i];
	}
	return squares > 0 ? sum * sum / (n * squares) : 1;
}

static double rate(const struct congest *congest, uint32_t flow, const uint64_t *before,
		   uint64_t ticks)
{
	return (double)(congest_tally(congest, flow)->delivered - before[flow]) / ticks;
}

void congest_hot_run(const struct congest_hot *hot, const struct congest_load *load, uint64_t warm,
		     uint64_t counted, struct congest_result *result)
{
	struct congest_load with = *load;
	g_autofree uint64_t *before = g_new(uint64_t, hot->n_flows);
	g_autofree double *shares = g_new(double, hot->n_flows), *fair = NULL;
	uint64_t marked = 0, delivered = 0;
	struct congest *congest;

	with.flows = hot->flows;
	with.n_flows = hot->n_flows;
	congest = congest_new(&with);
	fair = congest_fair(congest);
	congest_run(congest, warm);
	for (uint32_t i = 0; i < hot->n_flows; i++)
		before[i] = congest_tally(congest, i)->delivered;
	congest_run(congest, counted);
	*result = (struct congest_result){.worst = 1e9};
	for (uint32_t i = 0; i < hot->n_flows; i++) {
		shares[i] = rate(congest, i, before, counted);
		if (i < hot->n_contributors) {
			result->hot += shares[i];
			if (i < G_N_ELEMENTS(result->shares))
				result->shares[i] = shares[i];
			result->ccti += congest_ccti(congest, i);
			marked += congest_tally(congest, i)->marked;
			delivered += congest_tally(congest, i)->delivered;
		} else {
			result->victims +=
				shares[i] / fair[i] / (hot->n_flows - hot->n_contributors);
			result->worst = MIN(result->worst, shares[i] / fair[i]);
		}
	}
	result->ccti /= hot->n_contributors;
	result->marked = delivered ? (double)marked / delivered : 0;
	result->jain = congest_jain(shares, hot->n_contributors);
	congest_free(congest);
}

/* ---- times ---- */

#define SLICE 256
#define SLICES 8 /* over which rates are averaged */

/* A run that is watched slice by slice. */
struct watch {
	struct congest *congest;
	const struct congest_hot *hot;
	const double *fair;
	uint64_t *history; /* [slice % (SLICES + 1)][flow]: delivered */
	uint64_t slice;
};

static void watch_slice(struct watch *watch)
{
	uint32_t n = watch->hot->n_flows;

	congest_run(watch->congest, SLICE);
	watch->slice++;
	for (uint32_t i = 0; i < n; i++)
		watch->history[watch->slice % (SLICES + 1) * n + i] =
			congest_tally(watch->congest, i)->delivered;
}

/* Of these flows, the mean part of their fair shares over the last slices. */
static double recent(const struct watch *watch, uint32_t first, uint32_t end)
{
	uint32_t n = watch->hot->n_flows;
	const uint64_t *now = &watch->history[watch->slice % (SLICES + 1) * n];
	const uint64_t *before = &watch->history[(watch->slice + 1) % (SLICES + 1) * n];
	double sum = 0;

	for (uint32_t i = first; i < end; i++)
		sum += (double)(now[i] - before[i]) / (SLICE * SLICES) / watch->fair[i];
	return sum / (end - first);
}

/* Fair shares of the first contributor and the victims; those of others are 0. */
static double *fair_after(const struct congest_hot *hot, const struct congest_load *load)
{
	g_autofree struct congest_flow *flows =
		g_memdup2(hot->flows, hot->n_flows * sizeof(*flows));
	struct congest_load with = *load;
	struct congest *congest;
	double *fair;

	for (uint32_t i = 1; i < hot->n_contributors; i++)
		flows[i].lid = 0;
	with.flows = flows;
	with.n_flows = hot->n_flows;
	congest = congest_new(&with);
	fair = congest_fair(congest);
	congest_free(congest);
	return fair;
}

static void put_time(uint64_t *time, uint64_t ticks, bool reached)
{
	if (*time == CONGEST_FOREVER && reached)
		*time = ticks;
}

void congest_hot_times(const struct congest_hot *hot, const struct congest_load *load,
		       uint64_t ticks, struct congest_times *times)
{
	g_autofree struct congest_flow *flows =
		g_memdup2(hot->flows, hot->n_flows * sizeof(*flows));
	g_autofree double *fair = NULL, *after = fair_after(hot, load);
	struct watch watch = {.hot = hot};
	struct congest_load with = *load;

	for (uint32_t i = 1; i < hot->n_contributors; i++)
		flows[i].stop = ticks;
	with.flows = flows;
	with.n_flows = hot->n_flows;
	watch.congest = congest_new(&with);
	watch.history = g_new0(uint64_t, (SLICES + 1) * hot->n_flows);
	watch.fair = fair = congest_fair(watch.congest);
	*times = (struct congest_times){CONGEST_FOREVER, CONGEST_FOREVER, CONGEST_FOREVER};
	for (uint64_t t = SLICE; t <= 2 * ticks; t += SLICE) {
		watch_slice(&watch);
		if (t <= ticks) {
			put_time(&times->onset, t,
				 recent(&watch, hot->n_contributors, hot->n_flows) >= 0.8);
			continue;
		}
		watch.fair = after;
		put_time(&times->recovery, t - ticks,
			 recent(&watch, hot->n_contributors, hot->n_flows) >= 0.9);
		put_time(&times->idle, t - ticks, recent(&watch, 0, 1) >= 0.9);
	}
	g_free(watch.history);
	congest_free(watch.congest);
}

/* ---- without a hot spot ---- */

GArray *congest_uniform(const struct congest_net *net, double load, uint32_t burst, uint64_t seed)
{
	GArray *flows = g_array_new(FALSE, FALSE, sizeof(struct congest_flow));
	uint32_t period = (uint32_t)(burst * (net->n_hosts - 1) / load + 0.5);

	for (uint32_t i = 0; i < net->n_hosts; i++)
		for (uint32_t j = 0; j < net->n_hosts; j++) {
			uint32_t first = random_below(&seed, 2 * period);
			uint32_t second = random_below(&seed, 2 * period);
			struct congest_flow flow = {
				.from = net->hosts[i],
				.lid = lid_of(net, net->hosts[j]),
				/* As if it had been going on for ever: the lesser of two. */
				.start = MIN(first, second),
				.stop = CONGEST_FOREVER,
				.burst = burst,
				.period = period,
			};

			if (i != j)
				g_array_append_val(flows, flow);
		}
	return flows;
}

/* One cycle through all hosts in random order, so no host sends to itself. */
GArray *congest_permutation(const struct congest_net *net, uint64_t seed)
{
	g_autofree uint32_t *order = g_memdup2(net->hosts, net->n_hosts * sizeof(*net->hosts));
	GArray *flows = g_array_new(FALSE, FALSE, sizeof(struct congest_flow));

	shuffle(order, net->n_hosts, &seed);
	for (uint32_t i = 0; i < net->n_hosts; i++) {
		struct congest_flow flow = {
			.from = order[i],
			.lid = lid_of(net, order[(i + 1) % net->n_hosts]),
			.stop = CONGEST_FOREVER,
		};

		g_array_append_val(flows, flow);
	}
	return flows;
}

void congest_add_spots(GArray *flows, const struct congest_net *net, uint32_t n_spots,
		       uint32_t contributors, uint64_t seed)
{
	g_autofree uint32_t *order = g_memdup2(net->hosts, net->n_hosts * sizeof(*net->hosts));
	uint32_t next = 0;

	shuffle(order, net->n_hosts, &seed);
	for (uint32_t spot = 0; spot < n_spots; spot++) {
		uint16_t lid = lid_of(net, order[next++]);

		for (uint32_t i = 0; i < contributors; i++) {
			struct congest_flow flow = {
				.from = order[next++],
				.lid = lid,
				.stop = CONGEST_FOREVER,
			};

			g_array_append_val(flows, flow);
		}
	}
}

/* Flows of a host are beside each other. */
static uint32_t n_senders(const GArray *flows, uint32_t first, uint32_t end)
{
	uint32_t n = 0, last = FABRIC_NONE;

	for (uint32_t i = first; i < end; i++) {
		n += g_array_index(flows, struct congest_flow, i).from != last;
		last = g_array_index(flows, struct congest_flow, i).from;
	}
	return n;
}

void congest_crowd_run(const GArray *flows, uint32_t first, uint32_t end,
		       const struct congest_load *load, uint64_t warm, uint64_t counted,
		       struct congest_crowd *result)
{
	g_autofree double *rates = g_new0(double, flows->len);
	struct congest_load with = *load;
	struct congest *congest;
	double queued = 0, sum = 0;

	with.flows = (const struct congest_flow *)(const void *)flows->data;
	with.n_flows = flows->len;
	congest = congest_new(&with);
	congest_run(congest, warm);
	for (uint32_t i = first; i < end; i++)
		rates[i] = -(double)congest_tally(congest, i)->delivered;
	for (uint64_t t = 0; t < counted; t += SLICE) {
		congest_run(congest, SLICE);
		for (uint32_t i = first; i < end; i++)
			queued += (double)congest_queued(congest, i) * SLICE;
	}
	for (uint32_t i = first; i < end; i++) {
		rates[i] += (double)congest_tally(congest, i)->delivered;
		sum += rates[i];
	}
	counted = (counted + SLICE - 1) / SLICE * SLICE;
	*result = (struct congest_crowd){
		.rate = sum / (double)counted / n_senders(flows, first, end),
		.wait = sum > 0 ? queued / sum : 0, /* Little's law */
		.jain = congest_jain(rates + first, end - first),
	};
	congest_free(congest);
}

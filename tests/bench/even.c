// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How even routes are: the load of the busiest cable, all hosts sending to all, over what a local
 * search (tests/unit/route_search.h) finds with the same hops. The median, mean and worst of each
 * class of networks and engine, and of Dmodc on trees:
 *
 *	even [-v] [-r ROUNDS] [CLASS...]
 *
 * -v: a line for each network, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complib/random.h"
#include "libvendor/sim/topology.h"
#include "tests/unit/fabric_make.h"
#include "tests/unit/route_search.h"

#define NETS_MAX 200
#define ENGINES_MAX 12
#define HIGH 0xFF /* rank, cost: none */

static bool verbose;
static unsigned int rounds = 16;

/* ---- Dmodc (Gliksberg et al., 2020): d mod k over the closest ports that are left ---- */

struct dmodc {
	const struct fabric *fabric;
	uint32_t n;
	uint8_t *rank; /* [switch]: from the switches with hosts */
	uint32_t (*across)[256]; /* [switch][port]: switch, or FABRIC_NONE */
	uint64_t *divider;
	uint8_t *cost; /* [switch * n + leaf]: hops up, then down */
	uint32_t *hosts, *number; /* [switch]: LIDs; those at leaves before it */
};

static void dmodc_init(struct dmodc *dmodc, const struct fabric *fabric)
{
	uint32_t n = fabric->n_switches;

	*dmodc = (struct dmodc){.fabric = fabric, .n = n};
	dmodc->rank = g_malloc(n + 1);
	dmodc->across = g_malloc((n + 1) * sizeof(*dmodc->across));
	dmodc->divider = g_new0(uint64_t, n + 1);
	dmodc->cost = g_malloc((size_t)n * n + 1);
	dmodc->hosts = g_new0(uint32_t, n + 1);
	dmodc->number = g_new0(uint32_t, n + 1);
	memset(dmodc->rank, HIGH, n);
	memset(dmodc->cost, HIGH, (size_t)n * n);
	for (uint32_t sw = 0; sw < n; sw++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

		for (unsigned int num = 0; num < 256; num++) {
			uint32_t port = node->first_port + num, peer;

			dmodc->across[sw][num] = FABRIC_NONE;
			if (!num || num > node->num_ports)
				continue;
			peer = fabric->ports[port].peer;
			if (peer == FABRIC_NONE)
				continue;
			dmodc->across[sw][num] = fabric->nodes[fabric->ports[peer].node].sw;
			dmodc->hosts[sw] += dmodc->across[sw][num] == FABRIC_NONE;
		}
		if (dmodc->hosts[sw])
			dmodc->rank[sw] = 0;
	}
}

static void dmodc_clear(struct dmodc *dmodc)
{
	g_free(dmodc->rank);
	g_free(dmodc->across);
	g_free(dmodc->divider);
	g_free(dmodc->cost);
	g_free(dmodc->hosts);
	g_free(dmodc->number);
}

/* Calls for each switch of a rank, and each of its ports to a switch. */
#define each_port(dmodc, sw, num)                                                                  \
	for (unsigned int num = 1; num < 255; num++)                                               \
		if ((dmodc)->across[sw][num] != FABRIC_NONE)

/* False if switches are not in ranks. */
static bool dmodc_rank(struct dmodc *dmodc)
{
	for (uint8_t rank = 0; rank < 16; rank++)
		for (uint32_t sw = 0; sw < dmodc->n; sw++)
			if (dmodc->rank[sw] == rank)
				each_port(dmodc, sw, num) {
					uint8_t *to = &dmodc->rank[dmodc->across[sw][num]];

					if (*to == rank)
						return false;
					*to = MIN(*to, rank + 1);
				}
	return true;
}

static unsigned int dmodc_groups(const struct dmodc *dmodc, uint32_t sw)
{
	bool *seen = g_new0(bool, dmodc->n + 1);
	unsigned int n = 0;

	each_port(dmodc, sw, num) {
		uint32_t to = dmodc->across[sw][num];

		n += dmodc->rank[to] > dmodc->rank[sw] && !seen[to];
		seen[to] = true;
	}
	g_free(seen);
	return n;
}

static void dmodc_divide(struct dmodc *dmodc)
{
	for (uint32_t sw = 0; sw < dmodc->n; sw++)
		dmodc->divider[sw] = 1;
	for (uint8_t rank = 0; rank < 16; rank++)
		for (uint32_t sw = 0; sw < dmodc->n; sw++) {
			uint64_t next = dmodc->divider[sw] * dmodc_groups(dmodc, sw);

			if (dmodc->rank[sw] == rank)
				each_port(dmodc, sw, num) {
					uint32_t to = dmodc->across[sw][num];

					if (dmodc->rank[to] > rank)
						dmodc->divider[to] =
							MAX(dmodc->divider[to], next);
				}
		}
}

/* Costs from all switches to a leaf: those above it, then those that go up to one of these. */
static void dmodc_cost(struct dmodc *dmodc, uint32_t leaf)
{
	uint32_t n = dmodc->n;

	dmodc->cost[(size_t)leaf * n + leaf] = 0;
	for (int up = 1; up >= 0; up--)
		for (int rank = up ? 0 : 15; rank >= 0 && rank < 16; rank += up ? 1 : -1)
			for (uint32_t sw = 0; sw < n; sw++) {
				uint8_t cost = dmodc->cost[(size_t)sw * n + leaf];

				if (dmodc->rank[sw] != rank || cost == HIGH)
					continue;
				each_port(dmodc, sw, num) {
					uint32_t to = dmodc->across[sw][num];
					uint8_t *other = &dmodc->cost[(size_t)to * n + leaf];

					if ((dmodc->rank[to] > rank) == up)
						*other = MIN(*other, cost + 1);
				}
			}
}

/* Leaves that are nearest to each other get consecutive numbers. */
static void dmodc_number(struct dmodc *dmodc)
{
	g_autofree bool *done = g_new0(bool, dmodc->n + 1);
	uint32_t next = 0;

	for (uint32_t leaf = 0; leaf < dmodc->n; leaf++) {
		uint8_t least = HIGH;

		if (!dmodc->hosts[leaf] || done[leaf])
			continue;
		for (uint32_t sw = 0; sw < dmodc->n; sw++)
			if (sw != leaf && dmodc->hosts[sw])
				least = MIN(least, dmodc->cost[(size_t)leaf * dmodc->n + sw]);
		for (uint32_t sw = leaf; sw < dmodc->n; sw++) {
			uint8_t cost = dmodc->cost[(size_t)leaf * dmodc->n + sw];

			if (done[sw] || !dmodc->hosts[sw] || (sw != leaf && cost != least))
				continue;
			done[sw] = true;
			dmodc->number[sw] = next;
			next += dmodc->hosts[sw];
		}
	}
}

static void dmodc_put(const struct dmodc *dmodc, struct routing *routing, uint32_t sw,
		      uint32_t leaf, uint16_t lid, uint64_t number)
{
	uint32_t groups[256], n_groups = 0, n_ports = 0;
	uint8_t here = dmodc->cost[(size_t)sw * dmodc->n + leaf], ports[256];
	uint64_t turn = number / dmodc->divider[sw];

	each_port(dmodc, sw, num) {
		uint32_t to = dmodc->across[sw][num], i = 0;

		if (dmodc->cost[(size_t)to * dmodc->n + leaf] + 1 != here)
			continue;
		while (i < n_groups && groups[i] != to)
			i++;
		if (i == n_groups)
			groups[n_groups++] = to;
	}
	if (!n_groups)
		return;
	each_port(dmodc, sw, num)
		if (dmodc->across[sw][num] == groups[turn % n_groups])
			ports[n_ports++] = num;
	routing_put(routing, sw, lid, ports[turn / n_groups % n_ports]);
}

/* NULL if it is not a tree. */
static struct routing *dmodc_route(const struct fabric *fabric)
{
	struct routing *routing = routing_new(fabric, route_find("minhop"), 0);
	struct dmodc dmodc;

	dmodc_init(&dmodc, fabric);
	if (!dmodc_rank(&dmodc)) {
		routing_unref(routing);
		dmodc_clear(&dmodc);
		return NULL;
	}
	dmodc_divide(&dmodc);
	for (uint32_t leaf = 0; leaf < dmodc.n; leaf++)
		if (dmodc.hosts[leaf])
			dmodc_cost(&dmodc, leaf);
	dmodc_number(&dmodc);
	for (uint32_t leaf = 0; leaf < dmodc.n; leaf++) {
		const struct fabric_node *node = &fabric->nodes[fabric->switches[leaf].node];
		uint64_t number = dmodc.number[leaf];

		for (unsigned int num = 1; num <= node->num_ports; num++) {
			uint32_t peer = fabric->ports[node->first_port + num].peer;
			uint16_t lid;

			if (peer == FABRIC_NONE || dmodc.across[leaf][num] != FABRIC_NONE)
				continue;
			lid = fabric->ports[peer].lid;
			for (uint32_t sw = 0; sw < dmodc.n; sw++)
				if (sw == leaf)
					routing_put(routing, sw, lid, num);
				else
					dmodc_put(&dmodc, routing, sw, leaf, lid, number);
			number++;
		}
	}
	dmodc_clear(&dmodc);
	return routing;
}

/* ---- networks ---- */

static unsigned int between(uint64_t *state, unsigned int low, unsigned int high)
{
	return low + random_below(state, high - low + 1);
}

static void connect(struct topology *topology, unsigned int a, unsigned int b)
{
	unsigned int port_a = 1, port_b = 1;

	while (topology_port(topology, a, port_a)->peer >= 0)
		port_a++;
	while (topology_port(topology, b, port_b)->peer >= 0)
		port_b++;
	topology_connect(topology, a, port_a, b, port_b);
}

static unsigned int add_node(struct topology *topology, uint8_t type)
{
	unsigned int i = topology->nodes->len;
	g_autofree char *name = g_strdup_printf("node-%u", i);
	unsigned int node = topology_add(topology, type, type == IBA_NODE_SWITCH ? 120 : 1, name,
					 name, 0x100000 + i * 0x100);

	topology_default_port_guids(topology, node);
	return node;
}

/* Three layers, each switch with some parents at random, and any number of hosts at each leaf. */
static struct fabric *irregular(uint64_t seed)
{
	struct topology *topology = topology_new();
	uint64_t state = seed;
	unsigned int tops = between(&state, 3, 8), middle = between(&state, 6, 14);
	unsigned int n[3] = {tops, middle, between(&state, 8, 24)};
	unsigned int first[3] = {0, tops, tops + middle};
	struct builder *builder;
	struct fabric *fabric;

	for (unsigned int i = 0; i < n[0] + n[1] + n[2]; i++)
		add_node(topology, IBA_NODE_SWITCH);
	for (unsigned int layer = 1; layer < 3; layer++)
		for (unsigned int i = 0; i < n[layer]; i++)
			for (unsigned int cables = between(&state, 2, 4); cables; cables--)
				connect(topology, first[layer] + i,
					first[layer - 1] + random_below(&state, n[layer - 1]));
	for (unsigned int i = 0; i < n[2]; i++)
		for (unsigned int hosts = between(&state, 2, 12); hosts; hosts--)
			connect(topology, add_node(topology, IBA_NODE_CA), first[2] + i);
	builder = builder_from_topology(topology);
	topology_free(topology);
	make_lids(builder, 0);
	fabric = builder_freeze(builder);
	builder_free(builder);
	return fabric;
}

/* Three levels, whose hosts and cables up do not divide each other, whole. */
static struct fabric *uneven_xgft(uint64_t seed)
{
	uint64_t state = seed;
	unsigned int hosts = between(&state, 4, 13), m2 = between(&state, 2, 6);
	unsigned int m3 = between(&state, 2, 5), w2 = between(&state, 2, 5);
	unsigned int w3 = between(&state, 2, 5);
	g_autofree char *spec =
		g_strdup_printf("xgft:%u,%u,%u:1,%u,%u", hosts, m2, m3, w2, w3);

	return make_fabric(spec, 0);
}

/* This number of hosts for each cable up; one cable in twenty is lost. */
static struct fabric *oversubscribed(uint64_t seed, unsigned int by)
{
	uint64_t state = seed;
	unsigned int w2 = between(&state, 3, 6), w3 = between(&state, 2, 5);
	unsigned int m2 = between(&state, 3, 6), m3 = between(&state, 3, 5);
	g_autofree char *spec =
		g_strdup_printf("xgft:%u,%u,%u:1,%u,%u", by * w2, m2, m3, w2, w3);

	return make_thinned(spec, 5, seed);
}

static struct fabric *two_to_one(uint64_t seed)
{
	return oversubscribed(seed, 2);
}

static struct fabric *three_to_one(uint64_t seed)
{
	return oversubscribed(seed, 3);
}

static const unsigned int percents[] = {1, 5, 10};

static struct fabric *damaged_8(uint64_t seed)
{
	return make_thinned("fattree:8", percents[seed % 3], seed);
}

static struct fabric *damaged_16(uint64_t seed)
{
	return make_thinned("fattree:16", percents[seed % 3], seed);
}

static struct fabric *of_list(const char *const *specs, uint64_t seed)
{
	return make_fabric(specs[seed - 1], 0);
}

static struct fabric *whole(uint64_t seed)
{
	static const char *const specs[] = {"fattree:8", "fattree:12", "fattree:16",
					    "xgft:8,4,4:1,4,4", "xgft:12,6:1,4:1,3"};

	return of_list(specs, seed);
}

static struct fabric *dragonfly(uint64_t seed)
{
	static const char *const specs[] = {"dragonfly:4:2:2", "dragonfly:4:2:4",
					    "dragonfly:6:3:3", "dragonfly:3:3:4"};

	return of_list(specs, seed);
}

static struct fabric *slimfly(uint64_t seed)
{
	static const char *const specs[] = {"slimfly:5:4", "slimfly:7:5"};

	return of_list(specs, seed);
}

static struct fabric *megafly(uint64_t seed)
{
	static const char *const specs[] = {"megafly:4:4:4:4", "megafly:4:4:2:4",
					    "megafly:3:3:2:3"};

	return of_list(specs, seed);
}

static struct fabric *jellyfish(uint64_t seed)
{
	g_autofree char *spec = g_strdup_printf("random:%u:%u:4:%u", (unsigned int)(30 + 10 * seed),
						(unsigned int)(4 + seed % 3), (unsigned int)seed);

	return make_fabric(spec, 0);
}

static const struct class {
	const char *name;
	struct fabric *(*make)(uint64_t seed);
	uint64_t n;
	bool tree;
} classes[] = {
	{"whole", whole, 5, true},
	{"damaged-8", damaged_8, 30, true},
	{"damaged-16", damaged_16, 6, true},
	{"xgft", uneven_xgft, 40, true},
	{"2:1", two_to_one, 20, true},
	{"3:1", three_to_one, 20, true},
	{"irregular", irregular, 100, true},
	{"dragonfly", dragonfly, 4, false},
	{"slimfly", slimfly, 2, false},
	{"megafly", megafly, 3, false},
	{"jellyfish", jellyfish, 6, false},
};

/* ---- figures ---- */

static const char *const engines[2][ENGINES_MAX] = {
	{"minhop", "updn", "dfsssp", "lash", "nue", "hoplanes"},
	{"minhop", "updn", "ftree", "dfsssp", "lash", "nue"},
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The ratio of an engine's tables, or Dmodc's (NULL); 0: it has none. */
static double measure(const struct fabric *fabric, const char *engine)
{
	struct route_input input = {.threads = 1};
	struct routing *routing = engine ? route_compute(route_find(engine), fabric, &input, NULL)
					 : dmodc_route(fabric);
	double ratio = routing ? search_ratio(fabric, routing, rounds) : 0;

	routing_unref(routing);
	return ratio;
}

static void show(const char *class, const char *engine, double *ratios, unsigned int n)
{
	double product = 0;

	if (!n)
		return;
	qsort(ratios, n, sizeof(*ratios), compare);
	for (unsigned int i = 0; i < n; i++)
		product += log(ratios[i]);
	printf("%-12s %-9s %4u  %6.3f %6.3f %6.3f\n", class, engine, n, ratios[n / 2],
	       exp(product / n), ratios[n - 1]);
	fflush(stdout);
}

static void show_class(const struct class *class)
{
	struct fabric *nets[NETS_MAX];

	for (uint64_t seed = 1; seed <= class->n; seed++)
		nets[seed - 1] = class->make(seed);
	for (unsigned int e = 0; e < ENGINES_MAX; e++) {
		const char *engine = engines[class->tree][e];
		double ratios[NETS_MAX];
		unsigned int n = 0;

		for (uint64_t i = 0; i < class->n; i++) {
			double ratio = engine || class->tree ? measure(nets[i], engine) : 0;

			if (verbose && ratio > 0)
				printf("%s %u %s %.3f\n", class->name, (unsigned int)i + 1,
				       engine ? engine : "Dmodc", ratio);
			if (ratio > 0)
				ratios[n++] = ratio;
		}
		show(class->name, engine ? engine : "Dmodc", ratios, n);
		if (!engine)
			break;
	}
	for (uint64_t i = 0; i < class->n; i++)
		fabric_unref(nets[i]);
}

static bool is_wanted(const char *class, char **names)
{
	bool any = false, wanted = false;

	for (; *names; names++) {
		any = true;
		wanted |= !strcmp(*names, class);
	}
	return wanted || !any;
}

int main(int argc, char **argv)
{
	for (argv++; argc > 1 && **argv == '-'; argv++) {
		if (!strcmp(*argv, "-v"))
			verbose = true;
		else if (!strcmp(*argv, "-r") && argv[1])
			rounds = strtoul(*++argv, NULL, 10);
		else
			return 2;
	}
	printf("%-12s %-9s %4s  %6s %6s %6s\n", "class", "engine", "nets", "median", "mean",
	       "worst");
	for (size_t i = 0; i < G_N_ELEMENTS(classes); i++)
		if (is_wanted(classes[i].name, argv))
			show_class(&classes[i]);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Generated topologies. The same spec always gives the same nodes in the same order with the same
 * GUIDs, so that dumps of two runs can be compared.
 *
 * Ports of a switch are numbered hosts first, then links by dimension or direction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complib/random.h"
#include "libvendor/sim/topology_generator.h"

bool generator_refuse(const struct spec *spec, GError **error, const char *what)
{
	g_set_error(error, TOPOLOGY_ERROR, TOPOLOGY_ERROR_SYNTAX, "topology '%.80s': expected %s",
		    spec->text, what);
	return false;
}

/* Locally administered GUIDs, 256 apart to leave room for ports. */
unsigned int generator_switch(struct generator *gen, unsigned int ports, const char *name)
{
	uint64_t guid = 0x0200000080000000 + (uint64_t)(gen->switches++ + 1) * 256;
	g_autofree char *id = g_strdup_printf("S-%016" PRIx64, guid);
	unsigned int node = topology_add(gen->topology, IBA_NODE_SWITCH, ports, id, name, guid);

	topology_default_port_guids(gen->topology, node);
	return node;
}

void generator_host(struct generator *gen, unsigned int leaf, unsigned int port)
{
	uint64_t guid = 0x0200000000000000 + (uint64_t)(gen->hosts + 1) * 256;
	g_autofree char *id = g_strdup_printf("H-%016" PRIx64, guid);
	g_autofree char *name = g_strdup_printf("host-%u", gen->hosts++);
	unsigned int node = topology_add(gen->topology, IBA_NODE_CA, 1, id, name, guid);

	topology_default_port_guids(gen->topology, node);
	topology_connect(gen->topology, leaf, port, node, 1);
}

bool generator_is_too_large(const struct spec *spec, uint64_t nodes, GError **error)
{
	return nodes > TOPOLOGY_NODES_MAX && !generator_refuse(spec, error, "at most 200000 nodes");
}

/* ---- fat tree ---- */

static bool fattree(struct generator *gen, const struct spec *spec, GError **error)
{
	unsigned int k = spec->numbers[0], half = k / 2;
	g_autofree unsigned int *core = NULL;

	if (spec->n != 1 || k < 2 || k > 64 || k % 2)
		return generator_refuse(spec, error, "fattree:K, K even from 2 to 64");
	core = g_new(unsigned int, half *half);
	for (unsigned int i = 0; i < half * half; i++) {
		g_autofree char *name = g_strdup_printf("core-%u-%u", i / half, i % half);

		core[i] = generator_switch(gen, k, name);
	}
	for (unsigned int pod = 0; pod < k; pod++) {
		unsigned int spine[32];

		for (unsigned int i = 0; i < half; i++) {
			g_autofree char *name = g_strdup_printf("spine-%u-%u", pod, i);

			spine[i] = generator_switch(gen, k, name);
			for (unsigned int j = 0; j < half; j++)
				topology_connect(gen->topology, spine[i], half + 1 + j,
						 core[i * half + j], pod + 1);
		}
		for (unsigned int i = 0; i < half; i++) {
			g_autofree char *name = g_strdup_printf("leaf-%u-%u", pod, i);
			unsigned int leaf = generator_switch(gen, k, name);

			for (unsigned int j = 0; j < half; j++) {
				generator_host(gen, leaf, j + 1);
				topology_connect(gen->topology, leaf, half + 1 + j, spine[j],
						 i + 1);
			}
		}
	}
	return true;
}

/* ---- trees of any shape ---- */

/*
 * Parallel ports generalized fat tree PGFT(h; m; w; p) (E. Zahavi, 2010), or XGFT (S. Oehring et
 * al., 1995) if cables are single: a switch of level l (hosts are level 0) has m[l] children with
 * p[l] cables to each, and w[l + 1] parents with p[l + 1] cables to each.
 */
struct xgft {
	unsigned int h;
	const unsigned int *m, *w, *p; /* [level - 1] */
	unsigned int first[RANKS_MAX + 2]; /* first switch of each level */
};

/* Switches of a level, or FAR_TOO_MANY. */
#define FAR_TOO_MANY UINT64_C(1000000)
static uint64_t xgft_width(const struct xgft *tree, unsigned int level)
{
	uint64_t n = 1;

	for (unsigned int i = 1; i <= tree->h && n < FAR_TOO_MANY; i++)
		n *= i > level ? tree->m[i - 1] : tree->w[i - 1];
	return MIN(n, FAR_TOO_MANY);
}

static uint64_t xgft_ports(const struct xgft *tree, unsigned int level)
{
	uint64_t down = (uint64_t)tree->m[level - 1] * tree->p[level - 1];

	return down + (level < tree->h ? (uint64_t)tree->w[level] * tree->p[level] : 0);
}

static bool xgft_fits(const struct spec *spec, const struct xgft *tree, GError **error)
{
	uint64_t nodes = xgft_width(tree, 0);

	for (unsigned int i = 0; i < tree->h; i++)
		if (!tree->m[i] || !tree->w[i] || !tree->p[i])
			return generator_refuse(spec, error, "numbers of at least 1");
	if (tree->w[0] != 1 || tree->p[0] != 1)
		return generator_refuse(spec, error, "W1 and P1 to be 1: a host has one cable");
	for (unsigned int level = 1; level <= tree->h; level++) {
		if (xgft_ports(tree, level) > TOPOLOGY_PORTS_MAX)
			return generator_refuse(spec, error, "at most 254 ports a switch");
		nodes += xgft_width(tree, level);
	}
	return !generator_is_too_large(spec, nodes, error);
}

/* Cables between a switch of level l and its children, of which it is a parent by its number. */
static void xgft_cables(struct generator *gen, const struct xgft *tree, unsigned int level,
			unsigned int index, unsigned int switch_node)
{
	unsigned int m = tree->m[level - 1], w = tree->w[level - 1], p = tree->p[level - 1];
	unsigned int down = tree->m[level - 2] * tree->p[level - 2], below = 1;

	for (unsigned int i = 1; i < level; i++)
		below *= tree->w[i - 1];
	for (unsigned int a = 0; a < m; a++) {
		unsigned int plane = index % (below * w), part = index / (below * w) * m + a;
		unsigned int child = tree->first[level - 1] + part * below + plane % below;

		for (unsigned int k = 0; k < p; k++)
			topology_connect(gen->topology, child, down + plane / below * p + k + 1,
					 switch_node, a * p + k + 1);
	}
}

static void xgft_level(struct generator *gen, struct xgft *tree, unsigned int level)
{
	unsigned int n = xgft_width(tree, level);

	for (unsigned int i = 0; i < n; i++) {
		g_autofree char *name = level == 1 ? g_strdup_printf("leaf-%u", i)
						   : g_strdup_printf("spine-%u-%u", level, i);
		unsigned int node = generator_switch(gen, xgft_ports(tree, level), name);

		if (!i)
			tree->first[level] = node;
		if (level > 1)
			xgft_cables(gen, tree, level, i, node);
	}
}

static bool xgft(struct generator *gen, const struct spec *spec, GError **error)
{
	static const unsigned int single[RANKS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1,
							1, 1, 1, 1, 1, 1, 1, 1};
	struct xgft tree = {
		.h = spec->length[0],
		.m = spec->lists[0],
		.w = spec->lists[1],
		.p = spec->n_lists > 2 ? spec->lists[2] : single,
	};

	if (spec->n_lists < 2 || spec->length[1] != tree.h ||
	    (spec->n_lists > 2 && spec->length[2] != tree.h))
		return generator_refuse(spec, error, "xgft:M1,..,MH:W1,..,WH[:P1,..,PH]");
	if (!xgft_fits(spec, &tree, error))
		return false;
	for (unsigned int level = 1; level <= tree.h; level++)
		xgft_level(gen, &tree, level);
	for (unsigned int leaf = 0; leaf < xgft_width(&tree, 1); leaf++)
		for (unsigned int host = 1; host <= tree.m[0]; host++)
			generator_host(gen, tree.first[1] + leaf, host);
	return true;
}

/* ---- torus, mesh, hypercube ---- */

struct grid {
	const unsigned int *dimensions;
	unsigned int n_dimensions, hosts;
	bool wrap;
};

static void grid_name(const struct grid *grid, unsigned int index, GString *name)
{
	g_string_assign(name, "switch");
	for (unsigned int d = 0; d < grid->n_dimensions; d++) {
		g_string_append_printf(name, "-%u", index % grid->dimensions[d]);
		index /= grid->dimensions[d];
	}
}

/* Each switch plugs the cable of its positive direction; port 2d+1 is plus, 2d+2 minus. */
static void grid_links(struct generator *gen, const struct grid *grid, unsigned int index)
{
	unsigned int stride = 1;

	for (unsigned int d = 0; d < grid->n_dimensions; d++) {
		unsigned int size = grid->dimensions[d];
		unsigned int at = index / stride % size;
		unsigned int port = grid->hosts + 2 * d + 1;
		/* In a ring of two the cable back would connect the same two switches again. */
		bool wraps = grid->wrap && size > 2;

		if (at + 1 < size)
			topology_connect(gen->topology, index, port, index + stride, port + 1);
		else if (wraps)
			topology_connect(gen->topology, index, port, index - at * stride, port + 1);
		stride *= size;
	}
}

static bool grid_build(struct generator *gen, const struct spec *spec, const struct grid *grid,
		       GError **error)
{
	unsigned int ports = grid->hosts + 2 * grid->n_dimensions;
	g_autoptr(GString) name = g_string_new(NULL);
	uint64_t switches = 1;

	for (unsigned int d = 0; d < grid->n_dimensions; d++) {
		if (grid->dimensions[d] < 1)
			return generator_refuse(spec, error, "dimensions of at least 1");
		switches *= grid->dimensions[d];
		if (generator_is_too_large(spec, switches, error))
			return false;
	}
	if (grid->n_dimensions < 1 || ports > TOPOLOGY_PORTS_MAX)
		return generator_refuse(spec, error,
					"1 to 8 dimensions and at most 254 ports a switch");
	if (generator_is_too_large(spec, switches * (1 + grid->hosts), error))
		return false;
	for (unsigned int i = 0; i < switches; i++) {
		grid_name(grid, i, name);
		generator_switch(gen, ports, name->str);
	}
	for (unsigned int i = 0; i < switches; i++)
		grid_links(gen, grid, i);
	for (unsigned int i = 0; i < switches; i++)
		for (unsigned int h = 1; h <= grid->hosts; h++)
			generator_host(gen, i, h);
	return true;
}

static bool grid_spec(struct generator *gen, const struct spec *spec, bool wrap, GError **error)
{
	const struct grid grid = {
		.dimensions = spec->dimensions,
		.n_dimensions = spec->n_dimensions,
		.hosts = spec->n > 1 ? spec->numbers[1] : 1,
		.wrap = wrap,
	};

	if (spec->n > 2)
		return generator_refuse(spec, error, "AxBxC[:HOSTS]");
	return grid_build(gen, spec, &grid, error);
}

static bool torus(struct generator *gen, const struct spec *spec, GError **error)
{
	return grid_spec(gen, spec, true, error);
}

static bool mesh(struct generator *gen, const struct spec *spec, GError **error)
{
	return grid_spec(gen, spec, false, error);
}

/* Port HOSTS + d + 1 leads along dimension d. */
static bool hypercube(struct generator *gen, const struct spec *spec, GError **error)
{
	unsigned int d = spec->numbers[0], hosts = spec->n > 1 ? spec->numbers[1] : 1;

	if (spec->n > 2 || d < 1 || d > 16 || hosts + d > TOPOLOGY_PORTS_MAX)
		return generator_refuse(spec, error,
					"hypercube:D[:HOSTS], D from 1 to 16, at most 254 ports");
	if (generator_is_too_large(spec, (UINT64_C(1) << d) * (1 + hosts), error))
		return false;
	for (unsigned int i = 0; i < 1U << d; i++) {
		g_autofree char *name = g_strdup_printf("switch-%u", i);

		generator_switch(gen, hosts + d, name);
	}
	for (unsigned int i = 0; i < 1U << d; i++)
		for (unsigned int j = 0; j < d; j++)
			if (!(i & 1U << j))
				topology_connect(gen->topology, i, hosts + j + 1, i | 1U << j,
						 hosts + j + 1);
	for (unsigned int i = 0; i < 1U << d; i++)
		for (unsigned int h = 1; h <= hosts; h++)
			generator_host(gen, i, h);
	return true;
}

/* ---- dragonfly ---- */

struct dragonfly {
	unsigned int a, h, p, groups; /* switches per group, global links, hosts per switch */
};

/* Switches of a group are fully connected: port P + 1 + (index among the others). */
static void dragonfly_local(struct generator *gen, const struct dragonfly *fly, unsigned int group)
{
	for (unsigned int i = 0; i < fly->a; i++)
		for (unsigned int j = i + 1; j < fly->a; j++)
			topology_connect(gen->topology, group * fly->a + i, fly->p + j,
					 group * fly->a + j, fly->p + 1 + i);
}

/* Global link k of a group goes to the k-th of the other groups. */
static void dragonfly_global(struct generator *gen, const struct dragonfly *fly, unsigned int group)
{
	unsigned int first = fly->p + fly->a; /* port of the first global link */

	for (unsigned int other = group + 1; other < fly->groups; other++) {
		unsigned int k = other - 1, back = group;

		topology_connect(gen->topology, group * fly->a + k / fly->h, first + k % fly->h,
				 other * fly->a + back / fly->h, first + back % fly->h);
	}
}

static bool dragonfly(struct generator *gen, const struct spec *spec, GError **error)
{
	struct dragonfly fly = {spec->numbers[0], spec->numbers[1], spec->numbers[2]};

	if (spec->n != 3 || fly.a < 1 || fly.h < 1 || fly.a > 254 || fly.h > 254 || fly.p > 254 ||
	    fly.a - 1 + fly.h + fly.p > TOPOLOGY_PORTS_MAX)
		return generator_refuse(spec, error, "dragonfly:A:H:P, at most 254 ports a switch");
	fly.groups = fly.a * fly.h + 1;
	if (generator_is_too_large(spec, (uint64_t)fly.groups * fly.a * (1 + fly.p), error))
		return false;
	for (unsigned int i = 0; i < fly.groups * fly.a; i++) {
		g_autofree char *name = g_strdup_printf("switch-%u-%u", i / fly.a, i % fly.a);

		generator_switch(gen, fly.a - 1 + fly.h + fly.p, name);
	}
	for (unsigned int group = 0; group < fly.groups; group++) {
		dragonfly_local(gen, &fly, group);
		dragonfly_global(gen, &fly, group);
	}
	for (unsigned int i = 0; i < fly.groups * fly.a; i++)
		for (unsigned int h = 1; h <= fly.p; h++)
			generator_host(gen, i, h);
	return true;
}

/* ---- random ---- */

struct random_net {
	unsigned int switches, degree, hosts;
	uint64_t state;
	unsigned int *used; /* links of each switch */
	unsigned int *open; /* switches with a free port */
	unsigned int n_open;
};

static void random_link(struct generator *gen, struct random_net *net, unsigned int a,
			unsigned int b)
{
	topology_connect(gen->topology, a, net->hosts + ++net->used[a], b,
			 net->hosts + ++net->used[b]);
}

/* A tree over all switches, so that all other cables can be random. */
static void random_tree(struct generator *gen, struct random_net *net)
{
	net->open[net->n_open++] = 0;
	for (unsigned int i = 1; i < net->switches; i++) {
		unsigned int pick = random_next(&net->state) % net->n_open;
		unsigned int other = net->open[pick];

		random_link(gen, net, i, other);
		if (net->used[other] == net->degree)
			net->open[pick] = net->open[--net->n_open];
		if (net->used[i] < net->degree)
			net->open[net->n_open++] = i;
	}
}

static void random_rest(struct generator *gen, struct random_net *net)
{
	while (net->n_open > 1) {
		unsigned int last = net->open[net->n_open - 1];
		unsigned int pick = random_next(&net->state) % (net->n_open - 1);
		unsigned int other = net->open[pick];

		random_link(gen, net, last, other);
		/* Drop the one at the end first, which may move into the other's place. */
		if (net->used[last] == net->degree)
			net->n_open--;
		if (net->used[other] == net->degree)
			net->open[pick] = net->open[--net->n_open];
	}
}

static bool random_build(struct generator *gen, const struct spec *spec, GError **error)
{
	struct random_net net = {spec->numbers[0], spec->numbers[1], spec->numbers[2],
				 spec->numbers[3]};

	if (spec->n != 4 || net.switches < 1 || net.degree > 254 || net.hosts > 254 ||
	    net.degree + net.hosts > TOPOLOGY_PORTS_MAX || net.degree + net.hosts < 1 ||
	    (net.switches > 1 && net.degree < 1) || (net.switches > 2 && net.degree < 2))
		return generator_refuse(
			spec, error,
			"random:SWITCHES:DEGREE:HOSTS:SEED, DEGREE at least 2, at most 254 ports");
	if (generator_is_too_large(spec, (uint64_t)net.switches * (1 + net.hosts), error))
		return false;
	for (unsigned int i = 0; i < net.switches; i++) {
		g_autofree char *name = g_strdup_printf("switch-%u", i);

		generator_switch(gen, net.degree + net.hosts, name);
	}
	net.used = g_new0(unsigned int, net.switches);
	net.open = g_new0(unsigned int, net.switches);
	random_tree(gen, &net);
	random_rest(gen, &net);
	for (unsigned int i = 0; i < net.switches; i++)
		for (unsigned int h = 1; h <= net.hosts; h++)
			generator_host(gen, i, h);
	g_free(net.used);
	g_free(net.open);
	return true;
}

/* ---- specs ---- */

static bool take_unsigned(const char **at, unsigned int *value)
{
	char *end;
	uint64_t wide;

	if (!g_ascii_isdigit(**at))
		return false;
	wide = g_ascii_strtoull(*at, &end, 10);
	*at = end;
	*value = wide;
	return wide <= 1000000000;
}

static bool spec_parse(struct spec *spec, const char *at, GError **error)
{
	do {
		if (spec->n == NUMBERS_MAX || !take_unsigned(&at, &spec->numbers[spec->n]))
			return generator_refuse(spec, error,
						"numbers up to 1000000000 after the colon");
		if (spec->n++ > 0)
			continue;
		spec->dimensions[spec->n_dimensions++] = spec->numbers[0];
		while (*at == 'x') {
			at++;
			if (spec->n_dimensions == DIMENSIONS_MAX ||
			    !take_unsigned(&at, &spec->dimensions[spec->n_dimensions++]))
				return generator_refuse(spec, error,
							"at most 8 dimensions, as in 4x4x2");
		}
	} while (*at++ == ':');
	if (at[-1])
		return generator_refuse(spec, error, "only digits, ':' and 'x' after the name");
	return true;
}

/* Lists between colons, as in 4,2:1,2. */
static bool spec_parse_lists(struct spec *spec, const char *at, GError **error)
{
	do {
		unsigned int list = spec->n_lists++;

		if (list == LISTS_MAX)
			return generator_refuse(spec, error, "at most 3 lists");
		do {
			if (spec->length[list] == RANKS_MAX ||
			    !take_unsigned(&at, &spec->lists[list][spec->length[list]++]))
				return generator_refuse(spec, error,
							"1 to 16 numbers a list, as in 4,2:1,2");
		} while (*at++ == ',');
	} while (at[-1] == ':');
	if (at[-1])
		return generator_refuse(spec, error, "only digits, ',' and ':' after the name");
	return true;
}

struct topology *topology_generate(const char *text, GError **error)
{
	static const struct {
		const char *name;
		bool (*build)(struct generator *gen, const struct spec *spec, GError **error);
		bool grid;  /* its first number may be AxBxC */
		bool lists; /* it takes lists instead of numbers */
	} generators[] = {
		{"fattree:", fattree},
		{"torus:", torus, true},
		{"mesh:", mesh, true},
		{"hypercube:", hypercube},
		{"dragonfly:", dragonfly},
		{"random:", random_build},
		{"xgft:", xgft, false, true},
		{"slimfly:", generate_slimfly},
		{"hyperx:", generate_hyperx, true},
		{"megafly:", generate_megafly},
		{"rails:", generate_rails},
	};
	struct spec spec = {.text = text};
	struct generator gen = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(generators); i++) {
		if (!g_str_has_prefix(text, generators[i].name))
			continue;
		if (!(generators[i].lists ? spec_parse_lists : spec_parse)(
			    &spec, text + strlen(generators[i].name), error))
			return NULL;
		if (spec.n_dimensions > 1 && !generators[i].grid) {
			generator_refuse(&spec, error, "one number, not AxB");
			return NULL;
		}
		gen.topology = topology_new();
		if (!generators[i].build(&gen, &spec, error))
			g_clear_pointer(&gen.topology, topology_free);
		return gen.topology;
	}
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Networks of small diameter: slim fly, hyperX, megafly; and rails, which are not connected to each
 * other. Hosts have the first ports of a switch.
 */
#include <string.h>

#include "libvendor/sim/topology_generator.h"

static void add_hosts(struct generator *gen, unsigned int n_switches, unsigned int hosts)
{
	for (unsigned int i = 0; i < n_switches; i++)
		for (unsigned int h = 1; h <= hosts; h++)
			generator_host(gen, i, h);
}

/* ---- slim fly ---- */

#define FIELD_MAX 256

/* A finite field of q = p^k elements: digits to the base p, and powers of a primitive element. */
struct field {
	unsigned int q, p, k;
	unsigned int power[FIELD_MAX]; /* [exponent] */
	unsigned int log[FIELD_MAX];   /* [element], none for 0 */
};

static unsigned int plus(const struct field *field, unsigned int a, unsigned int b)
{
	unsigned int sum = 0, digit = 1;

	for (; a || b; digit *= field->p, a /= field->p, b /= field->p)
		sum += (a % field->p + b % field->p) % field->p * digit;
	return sum;
}

static unsigned int times(const struct field *field, unsigned int a, unsigned int b)
{
	return a && b ? field->power[(field->log[a] + field->log[b]) % (field->q - 1)] : 0;
}

/* a times x, with the given value of x^k: multiplies polynomials modulo one of degree k. */
static unsigned int times_x(const struct field *field, unsigned int a, unsigned int x_to_k)
{
	unsigned int top = a / (field->q / field->p), rest = a % (field->q / field->p) * field->p;

	for (; top; top--)
		rest = plus(field, rest, x_to_k);
	return rest;
}

/* Whether the powers of x are all elements except 0. */
static bool is_primitive(struct field *field, unsigned int x_to_k)
{
	unsigned int at = 1;

	for (unsigned int i = 0; i < field->q - 1; i++) {
		if (!at || (i && at == 1))
			return false;
		field->power[i] = at;
		field->log[at] = i;
		at = times_x(field, at, x_to_k);
	}
	return at == 1;
}

/* False if there is no field of q elements; q is odd. */
static bool field_init(struct field *field, unsigned int q)
{
	unsigned int rest = q;

	*field = (struct field){.q = q, .p = 3};
	while (q % field->p)
		field->p += 2;
	for (; rest % field->p == 0; rest /= field->p)
		field->k++;
	for (unsigned int x_to_k = 1; rest == 1 && x_to_k < q; x_to_k++)
		if (is_primitive(field, x_to_k))
			return true;
	return false;
}

/*
 * Whether two switches of a row, whose numbers differ by a power of the primitive element, have a
 * cable (McKay, Miller, Siran 1998; Hafner 2004). In the first half of the rows they have one for
 * even powers; if q = 4w - 1 the upper half of these is replaced by odd ones, since then the
 * negative of an even power is odd. In the other half: for these powers times the element.
 */
static bool is_in_row(const struct field *field, bool half, unsigned int exponent)
{
	unsigned int e = (exponent + field->q - 1 - half) % (field->q - 1);
	bool turned = field->q % 4 == 3 && e >= (field->q - 1) / 2;

	return (e + turned) % 2 == 0;
}

/* Plugs a cable between the first free ports of two switches. */
static void plug(struct generator *gen, unsigned int *used, unsigned int a, unsigned int b)
{
	topology_connect(gen->topology, a, ++used[a], b, ++used[b]);
}

static void slimfly_rows(struct generator *gen, const struct field *field, unsigned int *used)
{
	unsigned int q = field->q;

	for (unsigned int row = 0; row < 2 * q; row++)
		for (unsigned int y = 0; y < q; y++)
			for (unsigned int e = 0; e < q - 1; e++) {
				unsigned int other = plus(field, y, field->power[e]);

				if (other > y && is_in_row(field, row >= q, e))
					plug(gen, used, row * q + y, row * q + other);
			}
}

/* Cables between (x, y) of one half and (m, c) of the other where y = mx + c. */
static void slimfly_halves(struct generator *gen, const struct field *field, unsigned int *used)
{
	unsigned int q = field->q;

	for (unsigned int x = 0; x < q; x++)
		for (unsigned int m = 0; m < q; m++)
			for (unsigned int c = 0; c < q; c++) {
				unsigned int y = plus(field, times(field, m, x), c);

				plug(gen, used, x * q + y, (q + m) * q + c);
			}
}

bool generate_slimfly(struct generator *gen, const struct spec *spec, GError **error)
{
	unsigned int q = spec->numbers[0], hosts = spec->n > 1 ? spec->numbers[1] : 1, ports;
	g_autofree unsigned int *used = NULL;
	struct field field;

	if (spec->n > 2 || q < 3 || q % 2 == 0 || q > 167 || hosts > TOPOLOGY_PORTS_MAX ||
	    q + (q + 1) / 2 + hosts > TOPOLOGY_PORTS_MAX || !field_init(&field, q))
		return generator_refuse(spec, error,
					"slimfly:Q[:HOSTS], Q an odd prime or a power "
					"of one, at most 254 ports a switch");
	if (generator_is_too_large(spec, UINT64_C(2) * q * q * (1 + hosts), error))
		return false;
	ports = q + (q % 4 == 3 ? q + 1 : q - 1) / 2 + hosts;
	used = g_new(unsigned int, 2 * q * q);
	for (unsigned int i = 0; i < 2 * q * q; i++) {
		g_autofree char *name =
			g_strdup_printf("switch-%u-%u-%u", i / (q * q), i / q % q, i % q);

		used[i] = hosts;
		generator_switch(gen, ports, name);
	}
	slimfly_rows(gen, &field, used);
	slimfly_halves(gen, &field, used);
	add_hosts(gen, 2 * q * q, hosts);
	return true;
}

/* ---- hyperX ---- */

/* Switches that differ in one coordinate have a cable; ports by dimension, then by coordinate. */
static void hyperx_links(struct generator *gen, const struct spec *spec, unsigned int index,
			 unsigned int first)
{
	unsigned int stride = 1;

	for (unsigned int d = 0; d < spec->n_dimensions; d++) {
		unsigned int size = spec->dimensions[d], at = index / stride % size;

		for (unsigned int to = at + 1; to < size; to++)
			topology_connect(gen->topology, index, first + to - 1,
					 index + (to - at) * stride, first + at);
		first += size - 1;
		stride *= size;
	}
}

bool generate_hyperx(struct generator *gen, const struct spec *spec, GError **error)
{
	unsigned int hosts = spec->n > 1 ? spec->numbers[1] : 1;
	uint64_t n = 1, ports = hosts;

	for (unsigned int d = 0; d < spec->n_dimensions; d++) {
		if (spec->n > 2 || spec->dimensions[d] < 1)
			return generator_refuse(spec, error, "hyperx:AxBxC[:HOSTS]");
		n *= spec->dimensions[d];
		ports += spec->dimensions[d] - 1;
		if (generator_is_too_large(spec, n, error))
			return false;
	}
	if (ports > TOPOLOGY_PORTS_MAX || ports < 1)
		return generator_refuse(spec, error, "1 to 254 ports a switch");
	if (generator_is_too_large(spec, n * (1 + hosts), error))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("switch-%u", i);

		generator_switch(gen, ports, name);
	}
	for (unsigned int i = 0; i < n; i++)
		hyperx_links(gen, spec, i, hosts + 1);
	add_hosts(gen, n, hosts);
	return true;
}

/* ---- megafly ---- */

struct megafly {
	unsigned int leaves, spines, h, p, groups; /* h: global links of a spine */
};

static void megafly_group(struct generator *gen, const struct megafly *fly, unsigned int group)
{
	unsigned int first = group * (fly->leaves + fly->spines);

	for (unsigned int i = 0; i < fly->leaves + fly->spines; i++) {
		bool leaf = i < fly->leaves;
		g_autofree char *name = g_strdup_printf("%s-%u-%u", leaf ? "leaf" : "spine", group,
							leaf ? i : i - fly->leaves);

		generator_switch(gen, leaf ? fly->p + fly->spines : fly->leaves + fly->h, name);
	}
	for (unsigned int leaf = 0; leaf < fly->leaves; leaf++) {
		for (unsigned int spine = 0; spine < fly->spines; spine++)
			topology_connect(gen->topology, first + leaf, fly->p + spine + 1,
					 first + fly->leaves + spine, leaf + 1);
	}
}

/* Global link k of a group goes to the k-th of the other groups. */
static void megafly_global(struct generator *gen, const struct megafly *fly, unsigned int group)
{
	unsigned int size = fly->leaves + fly->spines, port = fly->leaves + 1;

	for (unsigned int other = group + 1; other < fly->groups; other++) {
		unsigned int k = other - 1;

		topology_connect(gen->topology, group * size + fly->leaves + k / fly->h,
				 port + k % fly->h, other * size + fly->leaves + group / fly->h,
				 port + group % fly->h);
	}
}

bool generate_megafly(struct generator *gen, const struct spec *spec, GError **error)
{
	struct megafly fly = {spec->numbers[0], spec->numbers[1], spec->numbers[2],
			      spec->numbers[3]};

	if (spec->n != 4 || !fly.leaves || !fly.spines || !fly.h || fly.leaves > 254 ||
	    fly.spines > 254 || fly.h > 254 || fly.p > 254 ||
	    fly.leaves + fly.h > TOPOLOGY_PORTS_MAX || fly.p + fly.spines > TOPOLOGY_PORTS_MAX)
		return generator_refuse(spec, error,
					"megafly:LEAVES:SPINES:H:P, at most 254 ports a switch");
	fly.groups = fly.spines * fly.h + 1;
	if (generator_is_too_large(
		    spec, (uint64_t)fly.groups * (fly.spines + fly.leaves * (1 + fly.p)), error))
		return false;
	for (unsigned int group = 0; group < fly.groups; group++)
		megafly_group(gen, &fly, group);
	for (unsigned int group = 0; group < fly.groups; group++)
		megafly_global(gen, &fly, group);
	for (unsigned int i = 0; i < fly.groups * (fly.leaves + fly.spines); i++)
		for (unsigned int h = 1; i % (fly.leaves + fly.spines) < fly.leaves && h <= fly.p;
		     h++)
			generator_host(gen, i, h);
	return true;
}

/* ---- rails ---- */

/* Each leaf of a rail is connected to all its spines; no cable leads from one rail to another. */
static void add_rail(struct generator *gen, const unsigned int *numbers, unsigned int rail)
{
	unsigned int leaves = numbers[1], spines = numbers[2], hosts = numbers[3];
	unsigned int first = rail * (leaves + spines);

	for (unsigned int i = 0; i < leaves + spines; i++) {
		bool leaf = i < leaves;
		g_autofree char *name = g_strdup_printf("%s-%u-%u", leaf ? "leaf" : "spine", rail,
							leaf ? i : i - leaves);

		generator_switch(gen, leaf ? hosts + spines : leaves, name);
	}
	for (unsigned int leaf = 0; leaf < leaves; leaf++)
		for (unsigned int spine = 0; spine < spines; spine++)
			topology_connect(gen->topology, first + leaf, hosts + spine + 1,
					 first + leaves + spine, leaf + 1);
}

bool generate_rails(struct generator *gen, const struct spec *spec, GError **error)
{
	unsigned int rails = spec->numbers[0], leaves = spec->numbers[1];
	unsigned int spines = spec->numbers[2], hosts = spec->numbers[3];

	if (spec->n != 4 || !rails || !leaves || leaves > TOPOLOGY_PORTS_MAX || spines > 254 ||
	    hosts > 254 || hosts + spines > TOPOLOGY_PORTS_MAX || hosts + spines < 1 ||
	    (leaves > 1 && !spines))
		return generator_refuse(spec, error,
					"rails:RAILS:LEAVES:SPINES:HOSTS, SPINES at least 1 if "
					"there are several leaves, at most 254 ports a switch");
	if (generator_is_too_large(spec, rails * ((uint64_t)leaves * (1 + hosts) + spines), error))
		return false;
	for (unsigned int rail = 0; rail < rails; rail++)
		add_rail(gen, spec->numbers, rail);
	for (unsigned int i = 0; i < rails * (leaves + spines); i++)
		for (unsigned int h = 1; i % (leaves + spines) < leaves && h <= hosts; h++)
			generator_host(gen, i, h);
	return true;
}

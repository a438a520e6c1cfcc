// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Specs of generated topologies: refused with a message, or a topology that counts its nodes right.
 * Specs of thousands of nodes are skipped for the time they take; those of absurd size must be
 * refused.
 */
#include <math.h>

#include "libvendor/sim/topology.h"
#include "tests/fuzz/fuzz.h"

static void *setup(GPtrArray *seeds)
{
	static const char *const specs[] = {
		"fattree:4",	   "fattree:6",	      "torus:2x3x2",	 "torus:3x3:2",
		"mesh:2x2x2:1",	   "hypercube:3",     "hypercube:2:4",	 "dragonfly:2:1:1",
		"random:5:3:1:42", "random:1:0:0:0",  "xgft:2,2:1,2",	 "xgft:2,2,1:1,2,2:1,1,3",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++)
		fuzz_add_text(seeds, specs[i]);
	return NULL;
}

/* About how many nodes a spec's numbers call for, without overflow. */
static double weight(const char *text)
{
	/* What the first number means; how many numbers come before a seed. */
	bool hypercube = g_str_has_prefix(text, "hypercube:");
	bool cubic = g_str_has_prefix(text, "fattree:") || g_str_has_prefix(text, "dragonfly:");
	unsigned int left = g_str_has_prefix(text, "random:") ? 3 : G_MAXUINT;
	double product = 1;

	for (const char *at = text; *at && left; at++) {
		double number = g_ascii_isdigit(*at) ? g_ascii_strtod(at, NULL) : 0;

		if (number <= 0)
			continue;
		at += strspn(at, "0123456789.eE+-") - 1;
		left--;
		if (hypercube)
			number = exp2(MIN(number, 64));
		product *= cubic ? number * number * number : number;
		hypercube = cubic = false;
	}
	return product;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(GError) error = NULL;
	struct topology *topology;
	unsigned int hosts = 0;

	(void)state;
	if (weight(text) > 1000 && weight(text) < 1e9)
		return;
	topology = topology_generate(text, &error);
	fuzz_expect(!topology || !error);
	if (!topology)
		return;
	for (guint i = 0; i < topology->nodes->len; i++)
		hosts += topology_node(topology, i)->type == IBA_NODE_CA;
	fuzz_expect(hosts == topology_hosts(topology));
	fuzz_expect(topology->nodes->len <= TOPOLOGY_NODES_MAX);
	topology_free(topology);
}

static void teardown(void *state)
{
	(void)state;
}

const struct fuzz_target fuzz_target = {
	.name = "topology_spec",
	.max_size = 64,
	.runs = 5000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of topology generators only. */
#ifndef SIM_TOPOLOGY_GENERATOR_H
#define SIM_TOPOLOGY_GENERATOR_H

#include "libvendor/sim/topology.h"

#define DIMENSIONS_MAX 8
#define NUMBERS_MAX 10
#define RANKS_MAX 16 /* of switches in a tree */
#define LISTS_MAX 3

struct generator {
	struct topology *topology;
	unsigned int hosts, switches;
};

/* The numbers of a spec: "4x4x2:3" has the dimensions 4, 4, 2 and then 3. */
struct spec {
	const char *text;
	unsigned int dimensions[DIMENSIONS_MAX];
	unsigned int n_dimensions;
	unsigned int numbers[NUMBERS_MAX]; /* those between the colons, including the first */
	unsigned int n;
	unsigned int lists[LISTS_MAX][RANKS_MAX]; /* "4,2:1,2" has the lists 4, 2 and 1, 2 */
	unsigned int length[LISTS_MAX];
	unsigned int n_lists;
};

/* Returns false with an error about what was expected. */
bool generator_refuse(const struct spec *spec, GError **error, const char *what);
bool generator_is_too_large(const struct spec *spec, uint64_t nodes, GError **error);
/* Adds a switch and returns its number; adds host-0, host-1 ... to its ports. */
unsigned int generator_switch(struct generator *gen, unsigned int ports, const char *name);
void generator_host(struct generator *gen, unsigned int leaf, unsigned int port);

/* Networks of small diameter, and of rails (topology_wide.c). */
bool generate_slimfly(struct generator *gen, const struct spec *spec, GError **error);
bool generate_hyperx(struct generator *gen, const struct spec *spec, GError **error);
bool generate_megafly(struct generator *gen, const struct spec *spec, GError **error);
bool generate_rails(struct generator *gen, const struct spec *spec, GError **error);

#endif

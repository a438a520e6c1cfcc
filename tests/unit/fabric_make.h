// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fabrics for tests, made directly from a topology as if a sweep had just finished. */
#ifndef TESTS_UNIT_FABRIC_MAKE_H
#define TESTS_UNIT_FABRIC_MAKE_H

#include "fabric/from_topology.h"

/* builder_give_lids() for a fabric that has enough LIDs. */
void make_lids(struct builder *builder, uint8_t lmc);

/* Of a generator spec or a topology file; stops the test on an error. */
struct builder *make_builder_of(const char *spec_or_file);
struct fabric *make_fabric(const char *spec_or_file, uint8_t lmc);

/* Without about this percentage of the cables between its switches, chosen at random. */
struct fabric *make_thinned(const char *spec_or_file, unsigned int percent, uint64_t seed);

/*
 * Any shape at all, from a seed: switches in a random graph (loops, parallel cables, unconnected
 * parts, plugs back into the same switch), hosts with one or two ports, routers, broken cables.
 */
struct builder *make_random(uint64_t seed, unsigned int max_switches);

/* Shuffles the cables of each switch over its ports: nothing may depend on tidy cabling. */
void make_shuffled_ports(struct builder *builder, uint64_t *state);

/* The node with this description; stops the test if there is none. */
struct builder_node *make_found(struct builder *builder, const char *description);

/* Next number of a small generator, below limit. */
uint32_t make_number(uint64_t *state, uint32_t limit);

#endif

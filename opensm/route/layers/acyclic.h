// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The dependencies of the channels of one virtual lane, to which only such are added as close no
 * cycle: what all layered engines decide by. A step is a channel and the one by which packets go
 * on.
 */
#ifndef ROUTE_LAYERS_ACYCLIC_H
#define ROUTE_LAYERS_ACYCLIC_H

#include <stdbool.h>

#include "route/graph/channels.h"

struct acyclic;

struct acyclic_step {
	uint32_t from, to; /* channels; the second leaves the switch to which the first leads */
};

/* channels must live as long. */
struct acyclic *acyclic_new(const struct route_channels *channels);
void acyclic_free(struct acyclic *acyclic);

/* Adds all of these steps, or none: then, and only then, they would close a cycle. */
bool acyclic_add(struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n);

/*
 * Adds a step whatever it closes, as several threads may at once. Then acyclic_sort() must be
 * called before anything else: whether there is no cycle.
 */
void acyclic_note(struct acyclic *acyclic, struct acyclic_step step);
bool acyclic_sort(struct acyclic *acyclic);

bool acyclic_has(const struct acyclic *acyclic, struct acyclic_step step);

/* How many of these steps it does not have; UINT32_MAX if one is known to close a cycle. */
uint32_t acyclic_lacks(const struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n);

#endif

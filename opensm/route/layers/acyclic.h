// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Channel dependencies of one virtual lane, or of all (lane_channels.h), to which a dependency is
 * added only if it closes no cycle: all layered engines decide by this. A step is a channel and the
 * next one of a path.
 */
#ifndef ROUTE_LAYERS_ACYCLIC_H
#define ROUTE_LAYERS_ACYCLIC_H

#include <stdbool.h>

#include "route/graph/channels.h"

struct acyclic;

struct acyclic_step {
	uint32_t from, to; /* channels; the second leaves the switch to which the first leads */
};

/* channels must outlive the result. */
struct acyclic *acyclic_new(const struct route_channels *channels);
void acyclic_free(struct acyclic *acyclic);

/* Adds all of these steps, or none if they would close a cycle. */
bool acyclic_add(struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n);

/* The steps that the last acyclic_add() has added, which were not there before. */
const struct acyclic_step *acyclic_added(const struct acyclic *acyclic, uint32_t *n);
/* Takes out steps that were added. */
void acyclic_remove(struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n);

/*
 * Adds a step even if it closes a cycle; several threads may do so at once. Then acyclic_sort()
 * must be called first of all: it tells whether there is a cycle.
 */
void acyclic_note(struct acyclic *acyclic, struct acyclic_step step);
bool acyclic_sort(struct acyclic *acyclic);

bool acyclic_has(const struct acyclic *acyclic, struct acyclic_step step);

/* The number of these steps that are missing; UINT32_MAX if one is known to close a cycle. */
uint32_t acyclic_lacks(const struct acyclic *acyclic, const struct acyclic_step *steps, uint32_t n);

#endif

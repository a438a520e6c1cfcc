// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the writers of dumps. */
#ifndef CTL_DUMP_DUMP_PRIVATE_H
#define CTL_DUMP_DUMP_PRIVATE_H

#include <stdio.h>

#include "core/context.h"
#include "route/graph/plan.h"
#include "subnet/subnet.h"
#include "subnet/trees.h"

/* What is dumped. */
struct dump_view {
	const struct context *context; /* for files_until; NULL: all is written */
	const struct subnet *subnet;
	const struct fabric *fabric; /* of the subnet */
	const struct mc_trees *trees;
	const struct route_input *input;
	uint32_t *switches; /* indexes, by ascending node GUID */
	uint32_t *nodes;    /* indexes, by ascending node GUID, of all nodes */
	struct route_plan plan; /* of the engine; without a graph until dump_view_route */
	uint8_t *hops;		/* route_hops_all() of its order */
};

/* Makes plan and hops if they are missing; false if the engine finds no hops. */
bool dump_view_route(struct dump_view *view);

/*
 * Called for each of perhaps many switches: whether the output is still wanted and can be written.
 */
bool dump_goes_on(const struct dump_view *view, FILE *out);

typedef void dump_fn(struct dump_view *view, FILE *out);
dump_fn dump_lfts, dump_fdbs, dump_mcfdbs, dump_lid_matrix, dump_updn_roots, dump_ca_order,
	dump_subnet_lst;

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the writers of dumps. */
#ifndef CTL_DUMP_DUMP_PRIVATE_H
#define CTL_DUMP_DUMP_PRIVATE_H

#include <stdio.h>

#include "core/context.h"
#include "perf/image/image.h"
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
	const struct perf_image *image; /* only for dump_counters(); NULL: no counters yet */
	bool machine;			/* only for dump_counters(): in columns */
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

/*
 * The file appears whole, in place of the old one. 0, or errno; ECANCELED: the daemon ends. The
 * temporary name is new, so that no link made by others is followed.
 */
int dump_file(const char *path, struct dump_view *view, dump_fn *write_to);

dump_fn dump_lfts, dump_fdbs, dump_mcfdbs, dump_lid_matrix, dump_updn_roots, dump_ca_order,
	dump_subnet_lst;

#endif

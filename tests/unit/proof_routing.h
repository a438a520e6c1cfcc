// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Routings as the independent checker (proof.h) reads them. */
#ifndef TESTS_UNIT_PROOF_ROUTING_H
#define TESTS_UNIT_PROOF_ROUTING_H

#include "route/engine.h"
#include "tests/unit/proof.h"

/* Of a routing that has lanes, which must not alternate by turns. */
struct proof_lanes proof_lanes_of(const struct routing *routing);

/* Rows with n_lids entries as rows with as many as the net has, if that is more; free them. */
const uint8_t **proof_rows_for(const struct proof_net *net, uint8_t *const *lft, uint32_t n_lids);
void proof_rows_free(const uint8_t **rows, uint32_t n);

/* Whether no channels wait for each other if a tree carries packets of SL 0 beside all paths. */
bool proof_tree_is_free(const struct fabric *fabric, const struct routing *routing,
			const struct route_tree *tree);

#endif

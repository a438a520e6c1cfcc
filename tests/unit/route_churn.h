// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Losses and returns of cables, switches and hosts, in any order, on the model of a subnet. */
#ifndef TESTS_UNIT_ROUTE_CHURN_H
#define TESTS_UNIT_ROUTE_CHURN_H

#include "fabric/builder.h"

enum churn_kind { CHURN_CABLE, CHURN_SWITCH, CHURN_HOST };

/* What can be out: a cable between switches, or a node with all its cables. */
struct churn_thing {
	enum churn_kind kind;
	uint32_t cable;		   /* of CHURN_CABLE */
	struct builder_node *node; /* of the others */
	bool leaf;		   /* a switch with hosts */
	bool out;
};

struct churn {
	struct builder *builder;
	GArray *cables; /* struct churn_cable, private */
	GArray *things; /* struct churn_thing */
	GHashTable *gone;  /* struct builder_node that are out */
	GArray *exchanged; /* uint32_t, two cables each */
	uint32_t n_out;
};

/* Everything that the walk reaches, except the SM's node and the switch that it is cabled to. */
struct churn *churn_new(struct builder *builder);
void churn_free(struct churn *churn);

/* Takes out a thing that is in, or puts it back. */
void churn_toggle(struct churn *churn, uint32_t thing);
/* Swaps the first cables of two hosts. */
void churn_exchange(struct churn *churn, uint32_t thing, uint32_t other);
void churn_return_exchanged(struct churn *churn);
/* A random thing of a kind, which is out or in as requested; FABRIC_NONE: there is none. */
uint32_t churn_choose(const struct churn *churn, uint64_t *state, enum churn_kind kind, bool out);
const char *churn_name(const struct churn *churn, uint32_t thing, char *buffer, size_t size);

#endif

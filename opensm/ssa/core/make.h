// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tables of a snapshot from a published subnet. Pure: a subnet gives equal octets
 * on any number of threads, and on whichever host the SM runs, so rows are in the order of GUIDs,
 * not of discovery.
 */
#ifndef SSA_CORE_MAKE_H
#define SSA_CORE_MAKE_H

#include "ssa/table/snapshot.h"
#include "subnet/view.h"

/* Kinds of ports for the policy; with more, the snapshot has no verdicts. */
#define SSA_MAX_CLASSES 2048u

/* What a snapshot is made from. */
struct ssa_source {
	const struct subnet_view *view;
	const struct alias_guids *aliases;     /* NULL: none */
	const struct ssa_addresses *addresses; /* NULL: none */
	unsigned int threads;
};

/* Indexes that all tables share. */
struct ssa_index {
	uint32_t n_endports, n_switches, n_rows, n_classes;
	uint32_t *endport;    /* [n_endports]: port of the fabric, by GUID */
	uint32_t *place;      /* [fabric port]: index of an endport; SSA_NONE */
	uint32_t *sw;	      /* [n_switches]: switch of the fabric, by GUID */
	uint32_t *sw_place;   /* [fabric switch]: its index here */
	uint32_t *row;	      /* [fabric switch]: its row in PATHS; SSA_NONE */
	uint32_t *class;      /* [n_endports]; NULL: too many */
	GArray *class_of_one; /* uint32_t: for each class, an endport of the fabric in it */
};

/* Fills the rows of all tables and hashes them; epochs and the rest of made are the caller's. */
void ssa_make(const struct ssa_source *source, struct ssa_made *made);

/* Its parts, each of some tables. */
void ssa_make_ports(const struct ssa_source *source, struct ssa_index *index,
		    struct ssa_made *made);
void ssa_make_classes(const struct ssa_source *source, struct ssa_index *index);
void ssa_make_verdicts(const struct ssa_source *source, const struct ssa_index *index,
		       struct ssa_made *made);
void ssa_make_ways(const struct ssa_source *source, const struct ssa_index *index,
		   struct ssa_made *made);
void ssa_make_lanes(const struct ssa_source *source, const struct ssa_index *index,
		    struct ssa_made *made);

/* Takes over data. */
void ssa_made_put(struct ssa_made *made, enum ssa_table_id id, void *data, uint64_t rows,
		  uint32_t row_size);

#endif

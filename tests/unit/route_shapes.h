// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random fabrics of every kind that routing may have to handle: regular and irregular trees, grids,
 * random graphs, the smallest ones; whole or damaged, tidily cabled or not, with any LIDs.
 */
#ifndef TESTS_UNIT_ROUTE_SHAPES_H
#define TESTS_UNIT_ROUTE_SHAPES_H

#include "tests/unit/fabric_make.h"

enum shape_kind {
	SHAPE_FATTREE,
	SHAPE_XGFT,    /* any heights and widths, cables in parallel */
	SHAPE_LAYERED, /* switches in layers, cabled at random between neighbouring ones */
	SHAPE_TORUS,
	SHAPE_MESH,
	SHAPE_HYPERCUBE,
	SHAPE_DRAGONFLY,
	SHAPE_REGULAR, /* a random graph, all switches with the same number of cables */
	SHAPE_ANY,     /* make_random() */
	SHAPE_STAR,
	SHAPE_LINE,
	SHAPE_RING,
	SHAPE_ONE_SWITCH,
	SHAPE_BACK_TO_BACK,
	SHAPE_NO_CABLE, /* a single host or switch */
	SHAPE_LARGE,
	SHAPE_KINDS,
};

struct shape {
	enum shape_kind kind;
	struct builder *builder; /* with LIDs */
	uint64_t state;		 /* for further random numbers that follow from the seed */
	GString *what;		 /* the seed and its results, for messages */
};

/* Undamaged, ports possibly shuffled, 1 to 4 LIDs a port. */
void shape_whole(struct shape *shape, uint64_t seed, enum shape_kind kind);
/* Of any kind, with any damage, extra hosts, and LIDs in any order and missing here and there. */
void shape_random(struct shape *shape, uint64_t seed);
void shape_clear(struct shape *shape);

/* Takes cables out of a fabric that is not shared yet: parts of it lose each other. */
void shape_cut(struct fabric *fabric, uint64_t *state, uint32_t percent);

/* The seeds to try: those of $ROUTE_SEEDS, "17" or "1-100000", or by default from 1 to a number. */
struct shape_seeds {
	uint64_t first, last;
};
struct shape_seeds shape_seeds(uint64_t by_default);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * First pass of the proof by an order: whether entries lead up, lead down, or elsewhere, as bits.
 * Where the ports of a switch stand in few runs, as they mostly do, entries are compared with the
 * ends of these on vectors; else they are looked up one by one.
 */
#include <string.h>

#include "route/parallel.h"
#include "route/verify_proof.h"

#define CLASS_UP 0x0001
#define CLASS_OTHER 0x0100 /* neither up nor down */
/* Exit ports that follow each other: those for which (int8_t)(port - bias) < limit. */
struct port_run {
	uint8_t bias;
	int8_t limit;
	uint8_t up; /* 1 or 0 */
};

/* What the exit ports of one switch are, twice: by port, and as runs of one class. */
struct classes {
	uint16_t of[256];
	struct port_run runs[2];
	bool as_runs; /* these are all; the second may be the first again */
};

static void list_runs(struct classes *classes)
{
	unsigned int n = 0, first = 0;

	for (unsigned int num = 1; num <= 256; num++) {
		if (num < 256 && classes->of[num] == classes->of[first])
			continue;
		if (classes->of[first] != CLASS_OTHER) {
			if (n < 2)
				classes->runs[n] = (struct port_run){
					first + 128, num - first - 128,
					classes->of[first] == CLASS_UP };
			n++;
		}
		first = num;
	}
	if (n == 1)
		classes->runs[1] = classes->runs[0];
	classes->as_runs = n == 1 || n == 2;
}

static void class_ports(const struct verify_proof *proof, uint32_t sw, struct classes *classes)
{
	const struct route_graph *graph = proof->verify->graph;

	for (unsigned int num = 0; num < 256; num++)
		classes->of[num] = CLASS_OTHER;
	for (uint32_t e = graph->first_edge[sw]; e < graph->first_edge[sw + 1]; e++) {
		const struct route_edge *edge = &graph->edges[e];
		uint16_t way = verify_leads_up(proof->order, sw, edge->to) ? CLASS_UP : 0;

		for (unsigned int k = 0; k < edge->n_links; k++)
			classes->of[graph->links[edge->first_link + k]] = way;
	}
	list_runs(classes);
}

/* Classes of 64 entries as bits, looked up one by one. */
static void class_each(const uint8_t *lft, const uint16_t of[256], uint64_t *up, uint64_t *other)
{
	uint64_t ups = 0, others = 0;

	for (unsigned int i = 0; i < 64; i += 8) {
		unsigned int bits = of[lft[i]] | of[lft[i + 1]] << 1 | of[lft[i + 2]] << 2 |
				    of[lft[i + 3]] << 3 | of[lft[i + 4]] << 4 |
				    of[lft[i + 5]] << 5 | of[lft[i + 6]] << 6 | of[lft[i + 7]] << 7;

		ups |= (uint64_t)(bits & 0xFF) << i;
		others |= (uint64_t)(bits >> 8) << i;
	}
	*up = ups;
	*other = others;
}

/* Octets that are 0 or 1 as bits. */
static uint64_t pack(const uint8_t octets[64])
{
	uint64_t bits = 0;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < 64; i += 8) {
		uint64_t eight;

		memcpy(&eight, octets + i, sizeof(eight));
		eight = GUINT64_FROM_LE(eight);
		bits |= eight * UINT64_C(0x0102040810204080) >> 56 << i;
	}
	return bits;
}

static bool any_of(const uint8_t octets[64])
{
	uint64_t any = 0;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < 64; i += 8) {
		uint64_t eight;

		memcpy(&eight, octets + i, sizeof(eight));
		any |= eight;
	}
	return any;
}

/*
 * The same by runs, in a loop that compilers know to do on vectors; false if some LID that counts,
 * of which there is 0xFF in octets, leads neither up nor down.
 */
static bool class_runs(const uint8_t *lft, const struct classes *classes, const uint8_t *octets,
		       uint64_t *up)
{
	const struct port_run one = classes->runs[0], two = classes->runs[1];
	uint8_t ups[64], others[64];

	for (unsigned int i = 0; i < 64; i++) {
		uint8_t in_one = -((int8_t)(lft[i] - one.bias) < one.limit);
		uint8_t in_two = -((int8_t)(lft[i] - two.bias) < two.limit);

		ups[i] = (in_one & one.up) | (in_two & two.up);
		others[i] = octets[i] & ~(in_one | in_two);
	}
	*up = pack(ups);
	return !any_of(others);
}

/* The innermost loop: all entries of a switch. */
static void class_entries(const struct verify_proof *proof, const uint8_t *lft,
			  const struct classes *classes, uint64_t *restrict up,
			  uint64_t *restrict other)
{
	for (uint32_t w = 0; w < proof->n_words; w++) {
		const uint8_t *entries = lft + w * 64;

		other[w] = 0;
		if (classes->as_runs &&
		    class_runs(entries, classes, proof->octets + w * 64, &up[w]))
			continue;
		class_each(entries, classes->of, &up[w], &other[w]);
	}
}

/* At their leaf or switch LIDs may be handed to their owners. */
static void allow_exits(const struct verify_proof *proof, uint32_t sw, uint64_t *other)
{
	const struct route_graph *graph = proof->verify->graph;
	const struct routing *routing = proof->verify->routing;

	for (uint32_t t = graph->first_target[sw]; t < graph->first_target[sw + 1]; t++) {
		uint16_t lid = graph->targets[t].lid;

		if (lid <= routing->top && routing->lft[sw][lid] == graph->targets[t].exit)
			other[lid / 64] &= ~(UINT64_C(1) << lid % 64);
	}
	for (uint32_t i = proof->first_own[sw]; i < proof->first_own[sw + 1]; i++) {
		uint16_t lid = proof->verify->own[i].lid;

		if (routing->lft[sw][lid] == 0)
			other[lid / 64] &= ~(UINT64_C(1) << lid % 64);
	}
}

static void class_switches(void *arg, uint32_t first, uint32_t last)
{
	struct verify_proof *proof = arg;
	uint64_t *other = g_new(uint64_t, proof->n_words);
	uint64_t *wrong = g_new0(uint64_t, proof->n_words);
	struct classes classes;

	for (uint32_t sw = first; sw < last; sw++) {
		class_ports(proof, sw, &classes);
		class_entries(proof, proof->verify->routing->lft[sw], &classes,
			      proof->up + (size_t)sw * proof->n_words, other);
		allow_exits(proof, sw, other);
		for (uint32_t w = 0; w < proof->n_words; w++)
			wrong[w] |= other[w] & proof->lids[w];
	}
	for (uint32_t w = 0; w < proof->n_words; w++)
		if (wrong[w])
			atomic_fetch_or(&proof->verify->suspects[w], wrong[w]);
	g_free(other);
	g_free(wrong);
}

void verify_class_entries(struct verify_proof *proof)
{
	route_parallel(proof->verify->graph->threads, proof->verify->graph->n, class_switches,
		       proof);
}

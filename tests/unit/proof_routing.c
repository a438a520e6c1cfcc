// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/proof_routing.h"

#include <string.h>

#include "route/value/lanes.h"

/* ---- lanes as the checker asks for them ---- */

static uint16_t sls(const struct proof_lanes *lanes, const struct proof_net *net, uint32_t from,
		    uint32_t to)
{
	const struct route_lanes *values = lanes->arg;
	uint8_t there = values->sl ? values->sl[from * net->n + to] : values->first;
	uint8_t back = values->sl ? values->sl[to * net->n + from] : values->first;
	uint16_t bits = 0;

	bits |= there < 16 ? 1u << there : 0;
	bits |= back < 16 ? 1u << back : 0;
	if (from == net->sm || to == net->sm)
		bits |= 1u << values->sm_sl;
	return bits;
}

static uint8_t vl(const struct proof_lanes *lanes, uint32_t sw, uint8_t in, uint8_t out,
		  unsigned int sl)
{
	const struct route_lanes *values = lanes->arg;

	(void)sw;
	(void)in;
	(void)out;
	return values->vl[sl];
}

static bool has_path(const struct proof_lanes *lanes, uint32_t from, uint32_t to)
{
	const struct route_lanes *values = lanes->arg;

	return !values->sl || values->sl[from * values->n_switches + to] < 16;
}

struct proof_lanes proof_lanes_of(const struct routing *routing)
{
	return (struct proof_lanes){routing->lanes, sls, vl, has_path};
}

/* ---- tables ---- */

const uint8_t **proof_rows_for(const struct proof_net *net, uint8_t *const *lft, uint32_t n_lids)
{
	const uint8_t **rows = g_new0(const uint8_t *, net->n + 1);

	for (uint32_t sw = 0; sw < net->n; sw++) {
		uint8_t *row = g_malloc(MAX(net->n_lids, n_lids));

		memset(row, PROOF_DISCARD, MAX(net->n_lids, n_lids));
		memcpy(row, lft[sw], n_lids);
		rows[sw] = row;
	}
	return rows;
}

void proof_rows_free(const uint8_t **rows, uint32_t n)
{
	for (uint32_t sw = 0; rows && sw < n; sw++)
		g_free((void *)rows[sw]);
	g_free(rows);
}

/* ---- trees ---- */

bool proof_tree_is_free(const struct fabric *fabric, const struct routing *routing,
			const struct route_tree *tree)
{
	struct proof_net *net = proof_net_new(fabric);
	const uint8_t **rows = proof_rows_for(net, routing->lft, routing->n_blocks * 64);
	struct proof_lanes lanes = proof_lanes_of(routing);
	struct proof_case what = {
		.net = net, .lft = rows, .lanes = routing->lanes ? &lanes : NULL};
	g_autofree bool *exits = g_new0(bool, net->n * 256 + 1);
	struct proof_tree trees = {exits, routing->lanes ? routing->lanes->vl[0] : 0};
	bool is_free;

	for (uint32_t i = 0; i < tree->n; i++)
		for (unsigned int num = 0; num < 255; num++)
			exits[tree->switches[i] * 256 + num] =
				tree->ports[i].bits[num / 64] >> num % 64 & 1;
	is_free = proof_judge(&what, &trees, 1).trees_acyclic;
	proof_rows_free(rows, net->n);
	proof_net_free(net);
	return is_free;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The daemon knows what it wrote, and writes a block if it differs. Blocks beyond the end of a
 * shorter table stay in the switch unchanged.
 */
#include "osmroute/changes.h"

#include <string.h>

#define BLOCK 64

/* Index of the switch with this GUID, or FABRIC_NONE. */
static uint32_t find(const struct fabric *fabric, uint64_t guid)
{
	uint32_t node = fabric_node_by_guid(fabric, guid);

	return node == FABRIC_NONE ? FABRIC_NONE : fabric->nodes[node].sw;
}

/* The block that a switch holds, or NULL if it was not given any. */
static const uint8_t *held(const struct picture *earlier, unsigned int n, uint64_t guid,
			   uint32_t block)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t sw = find(earlier[i].fabric, guid);

		if (sw != FABRIC_NONE && block < earlier[i].routing->n_blocks)
			return earlier[i].routing->lft[sw] + block * BLOCK;
	}
	return NULL;
}

void changes_count(const struct picture *now, const struct picture *earlier, unsigned int n_earlier,
		   uint64_t rebooted, struct changes *changes)
{
	*changes = (struct changes){0};
	for (uint32_t sw = 0; sw < now->fabric->n_switches; sw++) {
		uint64_t guid = now->fabric->nodes[now->fabric->switches[sw].node].guid;
		const uint8_t *want = now->routing->lft[sw];
		bool empty = guid == rebooted || !held(earlier, n_earlier, guid, 0);

		if (empty) {
			changes->own += now->routing->n_blocks;
			continue;
		}
		for (uint32_t block = 0; block < now->routing->n_blocks; block++) {
			const uint8_t *is = held(earlier, n_earlier, guid, block);

			changes->blocks += !is || memcmp(want + block * BLOCK, is, BLOCK) != 0;
		}
	}
}

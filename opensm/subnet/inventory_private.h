// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the inventory and its maker. */
#ifndef SUBNET_INVENTORY_PRIVATE_H
#define SUBNET_INVENTORY_PRIVATE_H

#include "iba/codes.h"
#include "subnet/inventory.h"

/* n_stored blocks, then a flag for each of the n: whether the port has it. */
struct inventory_list {
	struct ref ref;
	uint32_t block_bytes, n, n_stored;
	_Alignas(uint64_t) uint8_t data[];
};

/* A node; not changed after it was published. */
struct inventory_node {
	struct ref ref;
	uint64_t guid;
	uint64_t silent_ns;  /* when it failed to answer; 0: it answers */
	uint64_t sm_info_ns; /* when its SMInfo was read */
	uint64_t sweep;	     /* in which its oldest table was read */
	uint32_t epoch[INVENTORY_KINDS];
	uint32_t n_ports;				/* port 0 included */
	struct inventory_list **lists[INVENTORY_KINDS]; /* by port; NULL: not read */
};

void inventory_node_unref(struct inventory_node *node);
void inventory_node_clear(struct inventory_node *node, enum inventory_kind kind);
/* The index of that GUID, existing or new, among nodes in order of their GUIDs. */
uint32_t inventory_place(struct inventory_node *const *nodes, uint32_t n, uint64_t guid);
enum inventory_state inventory_node_look(const struct inventory_node *node, const uint32_t *epoch,
					 uint8_t port, enum inventory_kind kind, uint64_t now_ns,
					 const struct inventory_list **list);

#endif

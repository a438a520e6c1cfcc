// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the inventory and its maker share. */
#ifndef SUBNET_INVENTORY_PRIVATE_H
#define SUBNET_INVENTORY_PRIVATE_H

#include "iba/codes.h"
#include "subnet/inventory.h"

/* n_stored blocks, then a flag for each of the n: the port has it. */
struct inventory_list {
	struct ref ref;
	uint32_t block_bytes, n, n_stored;
	_Alignas(uint64_t) uint8_t data[];
};

/* A node; not changed any more once it was published. */
struct inventory_node {
	struct ref ref;
	uint64_t guid;
	uint64_t silent_ns;  /* when it did not answer, 0: it does */
	uint64_t sm_info_ns; /* when its SMInfo was read */
	uint64_t sweep;	     /* in which the oldest of its tables were read */
	uint32_t epoch[INVENTORY_KINDS];
	uint32_t n_ports;				/* port 0 included */
	struct inventory_list **lists[INVENTORY_KINDS]; /* by port; NULL: none read */
};

void inventory_node_unref(struct inventory_node *node);
void inventory_node_clear(struct inventory_node *node, enum inventory_kind kind);
/* Where that GUID is, or belongs, among nodes in the order of their GUIDs. */
uint32_t inventory_place(struct inventory_node *const *nodes, uint32_t n, uint64_t guid);
enum inventory_state inventory_node_look(const struct inventory_node *node, const uint32_t *epoch,
					 uint8_t port, enum inventory_kind kind, uint64_t now_ns,
					 const struct inventory_list **list);

#endif

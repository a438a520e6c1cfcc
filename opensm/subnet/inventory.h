// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The inventory: tables of ports that a sweep does not read, or does not publish, as far as they
 * were requested. Immutable and reference counted; the sm actor makes it, readers take it from
 * context->inventory. It is independent of the subnet: nodes are found by GUID, whichever subnet is
 * published.
 */
#ifndef SUBNET_INVENTORY_H
#define SUBNET_INVENTORY_H

#include "fabric/fabric.h"

enum inventory_kind {
	INVENTORY_SL_TO_VL,	  /* blocks: input ports of a switch, one of others */
	INVENTORY_VL_ARBITRATION, /* blocks 0..3: 1..4 of IBA 14.2.5.9, on every port */
	INVENTORY_GUID_INFO,
	INVENTORY_SM_INFO,
	INVENTORY_P_KEYS,
	INVENTORY_MULTICAST, /* blocks: of MLIDs, and in them of positions of ports */
	INVENTORY_KINDS
};

/* The attribute, and size of the host struct, of what one SMP carries of a kind. */
uint16_t inventory_attribute(enum inventory_kind kind);
const struct wire_type *inventory_type(enum inventory_kind kind);

/*
 * The number of blocks of a kind that a port of the fabric can have, by its PortInfo, NodeInfo and
 * SwitchInfo; 0: none. For MULTICAST, the maximum there is room for.
 */
uint32_t inventory_blocks(const struct fabric *fabric, uint32_t port, enum inventory_kind kind);

/* A digest of which ports carry data: for others SL_TO_VL and VL_ARBITRATION are zeros. */
uint64_t inventory_ports_with_data(const struct fabric *fabric);
/*
 * True for a block of SL_TO_VL or VL_ARBITRATION that affects no data: the port has no cable, or
 * its table is smaller than the maximum. It is reported as zeros and not read.
 */
bool inventory_block_is_zero(const struct fabric *fabric, uint32_t port, enum inventory_kind kind,
			     uint32_t block);

/* The blocks of one table in host order; ports with equal tables share one list. */
struct inventory_list;
struct inventory_list *inventory_list_new(enum inventory_kind kind, const void *blocks,
					  const uint8_t *has, uint32_t n);
struct inventory_list *inventory_list_ref(struct inventory_list *list);
void inventory_list_unref(struct inventory_list *list); /* NULL is fine */
uint32_t inventory_list_blocks(const struct inventory_list *list);
uint32_t inventory_list_count(const struct inventory_list *list); /* blocks the port has */
/* NULL: the port has no such block. */
const void *inventory_list_block(const struct inventory_list *list, uint32_t block);

struct inventory_node;

struct inventory {
	struct ref ref;
	uint64_t serial;
	uint32_t epoch[INVENTORY_KINDS]; /* tables of another epoch are out of date */
	uint32_t n;
	struct inventory_node **nodes; /* by GUID */
};

struct inventory *inventory_ref(struct inventory *inventory);
void inventory_unref(struct inventory *inventory); /* NULL is fine */

enum inventory_state {
	INVENTORY_KNOWN,
	INVENTORY_UNKNOWN, /* not requested yet, or it may have changed */
	INVENTORY_SILENT,  /* requested, and the node did not answer */
};

#define INVENTORY_SM_INFO_NS (5 * UINT64_C(1000000000)) /* how long an SMInfo is valid */
#define INVENTORY_SILENT_NS (30 * UINT64_C(1000000000)) /* how long a silent node is not asked */

/* The table of a port; *list is borrowed if it is KNOWN. An inventory of NULL is empty. */
enum inventory_state inventory_look(const struct inventory *inventory, uint64_t node_guid,
				    uint8_t port, enum inventory_kind kind, uint64_t now_ns,
				    const struct inventory_list **list);

/*
 * The value of EVENT_INVENTORY_WANTED: tables of a kind, of the endport or switch with that LID (0:
 * all), of one of its ports or INVENTORY_ALL_PORTS.
 */
#define INVENTORY_ALL_PORTS 0xFF
static inline uint64_t inventory_want(enum inventory_kind kind, uint16_t lid, uint8_t port)
{
	return (uint64_t)kind << 24 | (uint64_t)port << 16 | lid;
}

static inline enum inventory_kind inventory_want_kind(uint64_t want)
{
	return (enum inventory_kind)(want >> 24 & 0xFF);
}

static inline uint8_t inventory_want_port(uint64_t want)
{
	return want >> 16 & 0xFF;
}

static inline uint16_t inventory_want_lid(uint64_t want)
{
	return want & 0xFFFF;
}

/* ---- making it: one owner ---- */
struct inventory_maker;

struct inventory_maker *inventory_maker_new(void);
void inventory_maker_free(struct inventory_maker *maker);
/* Looks up what was added so far, published or not. */
enum inventory_state inventory_maker_look(const struct inventory_maker *maker, uint64_t node_guid,
					  uint8_t port, enum inventory_kind kind, uint64_t now_ns);
/* Adds a table read in a sweep or after it; has[i] tells whether the port has block i. */
void inventory_put(struct inventory_maker *maker, uint64_t node_guid, uint32_t n_ports,
		   uint8_t port, enum inventory_kind kind, const void *blocks, const uint8_t *has,
		   uint32_t n, uint64_t now_ns, uint64_t sweep);
/* Records that the node did not answer. */
void inventory_put_silent(struct inventory_maker *maker, uint64_t node_guid, uint32_t n_ports,
			  uint64_t now_ns, uint64_t sweep);
/* Marks all tables of a kind as out of date; false if there are none. */
bool inventory_forget(struct inventory_maker *maker, enum inventory_kind kind);
/* Drops the nodes for which keep(arg, ...) returns false; returns how many. */
uint32_t inventory_prune(struct inventory_maker *maker,
			 bool (*keep)(void *arg, uint64_t node_guid, uint64_t sweep), void *arg);
/* A new immutable snapshot. */
struct inventory *inventory_publish(struct inventory_maker *maker);
uint32_t inventory_maker_lists(const struct inventory_maker *maker); /* different tables */

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partitions: policy and fabric turned into plain values, the P_Keys of each endport. Immutable
 * and counted.
 */
#ifndef POLICY_PARTITION_H
#define POLICY_PARTITION_H

#include "fabric/fabric.h"

#define P_KEY_FULL 0x8000 /* membership bit */
#define P_KEY_DEFAULT 0xFFFF
#define P_KEY_BASE(p_key) ((uint16_t)((p_key)&0x7FFF))

/* IPoIB broadcast group of a partition and the parameters of groups made in it. */
struct partition {
	uint16_t p_key; /* base, without the membership bit */
	char *name;
	bool ipoib;		      /* has a broadcast group */
	uint8_t mtu, rate, sl, scope; /* codes */
	uint32_t q_key;
};

struct partitions {
	struct ref ref;
	uint32_t n;
	struct partition *all;
	uint32_t n_ports;
	uint32_t *first;  /* [n_ports + 1]: P_Keys of port i are p_keys[first[i] .. first[i+1]) */
	uint16_t *p_keys; /* with membership bit, in the order of the P_Key table */
};

/* The built-in policy: partition 0x7FFF with every endport as full member. */
struct partitions *partitions_default(const struct fabric *fabric);
struct partitions *partitions_ref(struct partitions *partitions);
void partitions_unref(struct partitions *partitions);

/* P_Keys of an endport, NULL with *n = 0 if it has none. */
const uint16_t *partitions_of(const struct partitions *partitions, uint32_t port, uint32_t *n);
const struct partition *partitions_find(const struct partitions *partitions, uint16_t p_key);

/* The membership of a port in a partition: the P_Key it holds, or 0. */
uint16_t partitions_member(const struct partitions *partitions, uint32_t port, uint16_t p_key);

/* First P_Key (of a's table) over which the two may talk: same base, not both limited; else 0. */
uint16_t partitions_shared(const struct partitions *partitions, uint32_t a, uint32_t b);

#endif

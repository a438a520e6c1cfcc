// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partitions: the rules of partitions.conf on a given fabric, as plain values: the P_Keys of each
 * endport, as many as its table has room for, which ports may talk to each other, and the groups
 * that exist. Immutable and reference counted.
 */
#ifndef POLICY_PARTITION_PARTITION_H
#define POLICY_PARTITION_PARTITION_H

#include "core/options.h"
#include "fabric/fabric.h"
#include "policy/partition/partition_file.h"

#define P_KEY_FULL 0x8000 /* membership bit */
#define P_KEY_DEFAULT 0xFFFF
#define P_KEY_BASE(p_key) ((uint16_t)((p_key)&0x7FFF))
#define P_KEY_BASES 0x8000

struct partition {
	uint16_t p_key; /* base, without the membership bit */
	char *name;
	bool ipoib; /* has a broadcast group */
	/* Not 0: its P_Key goes to index 0 of tables, if that is free; the highest value wins. */
	unsigned int indx0;
	uint8_t sl; /* of paths in it: 0 without QoS */
	uint32_t n_groups;
	struct partition_group *groups;
	uint32_t n_full, n_limited; /* members that have room for it */
};

/* Endports with equal P_Keys form a class; ports of class 0 have none. */
struct partitions {
	struct ref ref;
	uint32_t n;
	struct partition *all; /* by P_Key; only those with a member in this fabric */
	uint32_t n_ports, n_classes;
	uint32_t *class_of; /* [n_ports] */
	uint32_t *first;  /* [n_classes + 1]: keys of class i are p_keys[first[i] .. first[i+1]) */
	uint16_t *p_keys; /* with membership bit, by P_Key, the full one before the limited */
	uint16_t *shared; /* [n_classes * n_classes], see partitions_shared(); NULL: too many */
	GPtrArray
		*problems; /* texts: rules that this fabric cannot meet, unknown names */
	GPtrArray *crowded; /* texts: ports without room for P_Keys, or for enforcing them */
	struct partition_rules *rules;
};

/* Applies the rules to this fabric. */
struct partitions *partitions_make(struct partition_rules *rules, const struct options *options,
				   const struct fabric *fabric);
/* The built-in policy: partition 0x7FFF with every endport as full member. */
struct partitions *partitions_default(const struct fabric *fabric);

/* A P_Key of a port. */
struct partition_key {
	uint32_t port;
	uint16_t p_key;
};
/* Partitions made only from the keys of endports, struct partition_key in any order. */
struct partitions *partitions_of_keys(uint32_t n_ports, GArray *keys);

/* Whether the same ports of the same fabric have the same P_Keys in both. */
bool partitions_same_members(const struct partitions *a, const struct partitions *b);
/* And whether both put equal P_Keys at index 0 of the tables. */
bool partitions_same_tables(const struct partitions *a, const struct partitions *b);
struct partitions *partitions_ref(struct partitions *partitions);
void partitions_unref(struct partitions *partitions);

/*
 * Why a member that is asked for cannot be one: the first port that has no room for all P_Keys that
 * new rules give it, or a GUID that is that of a node. NULL if there is none; else to be freed. A
 * GUID that is not in the subnet is fine. The partitions are of that fabric.
 */
char *partitions_lack(const struct partitions *partitions, const struct fabric *fabric,
		      const struct partition_rules *asked, const struct partition_rules *new);

/* P_Keys of an endport, NULL with *n = 0 if it has none. */
const uint16_t *partitions_of(const struct partitions *partitions, uint32_t port, uint32_t *n);
const struct partition *partitions_find(const struct partitions *partitions, uint16_t p_key);
/* The P_Key at index 0 of the port's table; 0: it has neither that one nor the default. */
uint16_t partitions_index0(const struct partitions *partitions, uint32_t port);

/* The membership of a port in a partition: the P_Key it holds, or 0. */
uint16_t partitions_member(const struct partitions *partitions, uint32_t port, uint16_t p_key);

/*
 * The lowest P_Key, as a holds it, with which the two may talk, the default one last: same base,
 * not both limited; 0: none.
 */
uint16_t partitions_shared(const struct partitions *partitions, uint32_t a, uint32_t b);

/*
 * As partitions_shared() but by class, for callers that compute with thousands of ports: the class
 * of a port, below n_classes, and whether ports of two classes may talk. Class 0 has no P_Key.
 */
uint32_t partitions_class(const struct partitions *partitions, uint32_t port);
bool partitions_classes_talk(const struct partitions *partitions, uint32_t a, uint32_t b);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a dry run found: the Sets that a sweep would have sent, gathered by node, port and
 * attribute. Pure: the SM adds to it while it sweeps, and it no longer changes when it is read.
 */
#ifndef SM_SMP_DRY_RUN_H
#define SM_SMP_DRY_RUN_H

#include <glib.h>
#include <stdbool.h>

#include "iba/iba.h"

#define DRY_NODE (-1) /* in place of a port: about the node as such */

/* One attribute of a node, or of one of its ports. */
struct dry_change {
	int port; /* or DRY_NODE */
	uint16_t attribute;
	uint32_t sets;	   /* number of SMPs needed */
	GArray *modifiers; /* of uint32_t: AttributeModifiers, each once, in the order of sending */
	uint32_t entries;  /* of a table: entries that would change */
	bool known;	   /* before was read */
	uint8_t before[IBA_SMP_DATA_BYTES]; /* of the first Set, on the wire */
	uint8_t after[IBA_SMP_DATA_BYTES];  /* of the last */
};

struct dry_node {
	uint64_t guid;
	uint8_t type;	    /* IBA_NODE_CA .. IBA_NODE_ROUTER */
	char *name;	    /* what people call it: must not be printed unescaped */
	char *description;  /* as the node reports it: must not be printed unescaped */
	GPtrArray *changes; /* of struct dry_change, in the order of their first Sets */
};

struct dry_run {
	GPtrArray *nodes;    /* of struct dry_node, in the order of their first Sets */
	GHashTable *by_guid; /* the same nodes */
	GPtrArray *notes;    /* text: what the operator should know */
	GPtrArray *problems; /* text: reasons why the dry run is incomplete */
	unsigned int unsaid; /* problems not in the list, which is bounded */
	uint64_t gets;	     /* requests that were sent, not counting retries */
	uint32_t switches, hosts, links;
	bool complete; /* the sweep reached its end */
};

/* A Set that was not sent. */
struct dry_set {
	uint64_t guid;
	uint8_t type;
	int port; /* or DRY_NODE */
	uint16_t attribute;
	uint32_t modifier;
	const uint8_t *before; /* what the device holds, on the wire; NULL: unknown */
	const uint8_t *after;
};

struct dry_run *dry_run_new(void);
void dry_run_free(struct dry_run *dry);
void dry_run_add(struct dry_run *dry, const struct dry_set *set);
void dry_run_note(struct dry_run *dry, const char *text);
void dry_run_problem(struct dry_run *dry, const char *text);

/* Of an attribute that an SM sets. */
const struct wire_type *dry_type(uint16_t attribute);
/* Whether it consists of equal entries, which are counted and not listed one by one. */
bool dry_is_table(uint16_t attribute);
/* Whether its AttributeModifiers are block numbers, and nothing else. */
bool dry_has_blocks(uint16_t attribute);

/* Whether its only effect is that a client registers again. */
bool dry_only_reregisters(const struct dry_change *change);
/* Whether anything would change; clients that register again do not count. */
bool dry_run_changes(const struct dry_run *dry);

/* Value of a field before and after; before NULL: unknown. Keys are not shown. */
typedef void dry_field_fn(void *arg, const char *name, const char *before, const char *after);
/* Calls it for each field whose value changes; nothing for tables. */
void dry_each_field(const struct dry_change *change, dry_field_fn *call, void *arg);
/* LIDs of an endport whose LID changes; false: it does not change. */
bool dry_lids(const struct dry_change *change, uint16_t *before, uint16_t *after);
/* Numbers (uint32_t) as in "0-3,7", bounded: "..." stands for the rest. */
char *dry_ranges(const GArray *numbers);

#endif

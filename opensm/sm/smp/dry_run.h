// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a dry run found: the Sets that a sweep would have sent, gathered by node, port and
 * attribute. Pure: the SM adds to it while it sweeps, and nobody does any more when it is read.
 */
#ifndef SM_SMP_DRY_RUN_H
#define SM_SMP_DRY_RUN_H

#include <glib.h>
#include <stdbool.h>

#include "iba/iba.h"

#define DRY_NODE (-1) /* in place of a port: it is of the node as such */

/* One attribute of a node, or of one of its ports. */
struct dry_change {
	int port; /* or DRY_NODE */
	uint16_t attribute;
	uint32_t sets;	   /* SMPs that it takes */
	GArray *modifiers; /* of uint32_t: AttributeModifiers, each once, in the order of sending */
	uint32_t entries;  /* of a table: those that get another value */
	bool known;	   /* before was read */
	uint8_t before[IBA_SMP_DATA_BYTES]; /* of the first Set, on the wire */
	uint8_t after[IBA_SMP_DATA_BYTES];  /* of the last */
};

struct dry_node {
	uint64_t guid;
	uint8_t type;	    /* IBA_NODE_CA .. IBA_NODE_ROUTER */
	char *description;  /* as the node tells it: not to be printed as it is */
	GPtrArray *changes; /* of struct dry_change, in the order of their first Sets */
};

struct dry_run {
	GPtrArray *nodes;    /* of struct dry_node, in the order of their first Sets */
	GHashTable *by_guid; /* of these */
	GPtrArray *notes;    /* text: what the operator should know */
	GPtrArray *problems; /* text: what kept the dry run from being the whole truth */
	unsigned int unsaid; /* problems that are not in the list, which is bounded */
	uint64_t gets;	     /* requests that were sent, tries not counted */
	uint32_t switches, hosts, links;
	bool complete; /* the sweep came to its end */
};

/* A Set that was not sent. */
struct dry_set {
	uint64_t guid;
	uint8_t type;
	int port; /* or DRY_NODE */
	uint16_t attribute;
	uint32_t modifier;
	const uint8_t *before; /* what the device holds, on the wire; NULL: it is not known */
	const uint8_t *after;
};

struct dry_run *dry_run_new(void);
void dry_run_free(struct dry_run *dry);
void dry_run_add(struct dry_run *dry, const struct dry_set *set);
void dry_run_note(struct dry_run *dry, const char *text);
void dry_run_problem(struct dry_run *dry, const char *text);

/* Of an attribute that an SM sets. */
const struct wire_type *dry_type(uint16_t attribute);
/* Whether it is one of equal entries, which are counted and not told one by one. */
bool dry_is_table(uint16_t attribute);
/* Whether AttributeModifiers of it are numbers of blocks, and nothing else. */
bool dry_has_blocks(uint16_t attribute);

/* Whether it does nothing but have a client register again. */
bool dry_only_reregisters(const struct dry_change *change);
/* Whether anything would be other than it is: clients that register again do not count. */
bool dry_run_changes(const struct dry_run *dry);

/* Value of a field before and after; NULL before: not known. Keys are not told. */
typedef void dry_field_fn(void *arg, const char *name, const char *before, const char *after);
/* Calls it for each field that gets another value; nothing for tables. */
void dry_each_field(const struct dry_change *change, dry_field_fn *call, void *arg);
/* LIDs of an endport whose LID changes; false: it does not. */
bool dry_lids(const struct dry_change *change, uint16_t *before, uint16_t *after);
/* Numbers (uint32_t) as in "0-3,7", bounded: what is left out is told by "...". */
char *dry_ranges(const GArray *numbers);

#endif

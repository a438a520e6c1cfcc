// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the tests of nodes of the Scalable SA have in common: epochs of a small subnet. */
#ifndef TESTS_UNIT_NODE_BED_H
#define TESTS_UNIT_NODE_BED_H

#include "ssa/store/store.h"
#include "tests/unit/ssa_tables.h"

struct node_bed {
	char *directory; /* of the test */
	char *uri;	 /* of a store of files in it */
	struct ssa_made made;
	struct ssa_manifest last; /* that was published; term 0: none */
	GBytes *key;		  /* NULL: none */
};

extern const struct ssa_size node_bed_size;

void node_bed_begin(struct node_bed *bed, const char *key); /* NULL: none */
void node_bed_end(struct node_bed *bed);

/* A store, for reading or writing. */
struct ssa_store *node_bed_store(const char *uri, bool writes);
/* Publishes the tables as they are, by that term and epoch. */
void node_bed_publish(struct node_bed *bed, const char *uri, uint64_t term, uint64_t epoch);
/* Changes one row of that table. */
void node_bed_change(struct node_bed *bed, enum ssa_table_id id, uint32_t row);
/* Only a test that fails waits that long, on the slowest machine. */
#define NODE_BED_PATIENCE_MS 40000
/* Waits until the expression of the caller is true; false when patience is at its end. */
#define node_bed_wait(expression) node_bed_wait_ms(expression, NODE_BED_PATIENCE_MS)
#define node_bed_wait_ms(expression, ms)                                                           \
	({                                                                                         \
		int64_t until_ = g_get_monotonic_time() + (ms)*INT64_C(1000);                      \
		bool is_ = (expression);                                                           \
		while (!is_ && g_get_monotonic_time() < until_) {                                  \
			g_usleep(5000);                                                            \
			is_ = (expression);                                                        \
		}                                                                                  \
		is_;                                                                               \
	})

#endif

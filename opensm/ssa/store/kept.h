// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which chunks a store has beside those of its epoch, and since when they are not used: a text that
 * the store keeps for its writers, so that the next master knows what the last one left.
 */
#ifndef SSA_STORE_KEPT_H
#define SSA_STORE_KEPT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct ssa_kept;

/* Of a text, whose other lines are skipped. NULL: empty. now_s: UNIX time. */
struct ssa_kept *ssa_kept_parse(const char *text, size_t length, int64_t now_s);
void ssa_kept_free(struct ssa_kept *kept); /* NULL is fine */
/* By name. */
char *ssa_kept_text(const struct ssa_kept *kept);

bool ssa_kept_knows(const struct ssa_kept *kept, const char *name);
/* A chunk that no manifest has used yet. One that is known keeps its place. */
void ssa_kept_add(struct ssa_kept *kept, const char *name, int64_t now_s);
/*
 * A manifest is published that uses these; all others become one manifest older, unless it is
 * published again.
 */
void ssa_kept_publish(struct ssa_kept *kept, const char *const *names, unsigned int n, bool again,
		      int64_t now_s);
/*
 * Takes out the chunks that none of the last three manifests has used and that were last used
 * keep_s ago: their names, to be freed by g_ptr_array_unref().
 */
GPtrArray *ssa_kept_take_old(struct ssa_kept *kept, unsigned int keep_s, int64_t now_s);

#endif

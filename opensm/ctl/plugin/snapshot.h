// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes the snapshots of plug-ins (struct osm_snapshot) from published objects. */
#ifndef CTL_PLUGIN_SNAPSHOT_H
#define CTL_PLUGIN_SNAPSHOT_H

#include <glib.h>
#include <stdint.h>

struct context;
struct subnet;
struct mc_groups;
struct perf_images;

/* References; each pointer may be NULL. */
struct snapshot_source {
	struct subnet *subnet;
	struct mc_groups *groups;
	struct perf_images *images;
	unsigned int sm_state; /* IBA_SM_DISCOVERING .. IBA_SM_MASTER */
};

/* What is published at this moment. */
void snapshot_source_take(struct context *context, struct snapshot_source *source);
/* Drops the references. To free the last one to a subnet takes long: for a pool. */
void snapshot_source_clear(struct snapshot_source *source);

/*
 * The file of a frozen block (plugin/base/snapshot_sections.h) with these parts, bits of enum
 * osm_part, as far as the source has them. -1 and error: G_IO_ERROR_NOT_INITIALIZED if there is no
 * subnet, or the SM is not MASTER; G_FILE_ERROR if memory does not suffice. Pure but for the file.
 * For 40,000 hosts it takes 50 ms of CPU and 20 MB, with LFTs and counters 400 ms and 310 MB.
 */
int snapshot_make(const struct snapshot_source *source, uint32_t parts, GError **error);

/* ---- the last one, kept so that plug-ins that ask for the same share it ---- */

struct snapshot_store;

struct snapshot_store *snapshot_store_new(void);
struct snapshot_store *snapshot_store_ref(struct snapshot_store *store);
void snapshot_store_unref(struct snapshot_store *store); /* NULL is fine */

/*
 * A descriptor of a snapshot of the source with at least these parts: of the one that is kept, or
 * of one that is made here and kept in its place. -1 and error, as snapshot_make(). Any thread; of
 * several at once, all but one wait.
 */
int snapshot_store_get(struct snapshot_store *store, const struct snapshot_source *source,
		       uint32_t parts, GError **error);
/* Gives up the memory of the one that is kept. Waits if one is just being made. */
void snapshot_store_drop(struct snapshot_store *store);
unsigned int snapshot_store_made(struct snapshot_store *store); /* how many. Any thread. */

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/plugin/snapshot.h"

#include "complib/handoff.h"
#include "ctl/base/shared_file.h"
#include "opensm/plugin.h"
#include "perf/image/image.h"
#include "policy/partition/groups.h"
#include "subnet/subnet.h"

/* What a snapshot was made of. */
struct key {
	uint32_t parts;
	unsigned int sm_state;
	uint64_t generation, groups, image;
	/*
	 * A sweep for the policy alone publishes the same fabric again, with its generation, if no
	 * device has to be changed. Of what is kept it is a reference, as another policy might else
	 * get the address of one that was freed. NULL: none.
	 */
	struct partitions *partitions;
};

struct snapshot_store {
	struct ref ref;
	struct shared_file shared;
	struct key kept; /* under the lock of that */
};

struct snapshot_store *snapshot_store_new(void)
{
	struct snapshot_store *store = g_new0(struct snapshot_store, 1);

	ref_init(&store->ref);
	shared_file_init(&store->shared);
	return store;
}

struct snapshot_store *snapshot_store_ref(struct snapshot_store *store)
{
	ref_get(&store->ref);
	return store;
}

void snapshot_store_unref(struct snapshot_store *store)
{
	if (!store || !ref_put(&store->ref))
		return;
	shared_file_clear(&store->shared);
	partitions_unref(store->kept.partitions);
	g_free(store);
}

struct wish {
	struct snapshot_store *store;
	const struct snapshot_source *source;
	struct key key;
};

/* One with more parts than are wanted will do. */
static bool is_right(void *arg)
{
	const struct wish *wish = arg;
	const struct key *kept = &wish->store->kept, *key = &wish->key;

	return !(key->parts & ~kept->parts) && key->sm_state == kept->sm_state &&
	       key->generation == kept->generation && key->partitions == kept->partitions &&
	       (!(key->parts & OSM_PART_GROUPS) || key->groups == kept->groups) &&
	       (!(key->parts & OSM_PART_COUNTERS) || key->image == kept->image);
}

static int make(void *arg, GError **error)
{
	const struct wish *wish = arg;
	struct key *kept = &wish->store->kept;

	partitions_unref(kept->partitions);
	*kept = wish->key;
	if (kept->partitions)
		partitions_ref(kept->partitions);
	return snapshot_make(wish->source, wish->key.parts, error);
}

int snapshot_store_get(struct snapshot_store *store, const struct snapshot_source *source,
		       uint32_t parts, GError **error)
{
	const struct perf_image *last = perf_images_last(source->images);
	struct wish wish = {
		.store = store,
		.source = source,
		.key = {.parts = parts & OSM_PART_ALL,
			.sm_state = source->sm_state,
			.generation = source->subnet ? source->subnet->generation : 0,
			.groups = source->groups ? source->groups->serial : 0,
			.image = last ? last->id : 0,
			.partitions = source->subnet ? source->subnet->partitions : NULL},
	};
	const struct shared_file_maker maker = {is_right, make, &wish};

	return shared_file_get(&store->shared, &maker, error);
}

void snapshot_store_drop(struct snapshot_store *store)
{
	shared_file_drop(&store->shared);
}

unsigned int snapshot_store_made(struct snapshot_store *store)
{
	return shared_file_made(&store->shared);
}

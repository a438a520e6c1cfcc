// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/image/image_store.h"

#include "complib/handoff.h"
#include "ctl/base/shared_file.h"

struct image_store {
	struct ref ref;
	struct shared_file shared;
	uint64_t serial; /* of the kept one; under the lock of that */
};

struct image_store *image_store_new(void)
{
	struct image_store *store = g_new0(struct image_store, 1);

	ref_init(&store->ref);
	shared_file_init(&store->shared);
	return store;
}

struct image_store *image_store_ref(struct image_store *store)
{
	ref_get(&store->ref);
	return store;
}

void image_store_unref(struct image_store *store)
{
	if (!store || !ref_put(&store->ref))
		return;
	shared_file_clear(&store->shared);
	g_free(store);
}

struct wish {
	struct image_store *store;
	const struct fabric_image_source *source;
};

static bool is_right(void *arg)
{
	const struct wish *wish = arg;

	return wish->store->serial >= wish->source->serial;
}

static int make(void *arg, GError **error)
{
	const struct wish *wish = arg;

	wish->store->serial = wish->source->serial;
	return fabric_image_make(wish->source, error);
}

int image_store_get(struct image_store *store, const struct fabric_image_source *source,
		    GError **error)
{
	struct wish wish = {store, source};
	const struct shared_file_maker maker = {is_right, make, &wish};

	return shared_file_get(&store->shared, &maker, error);
}

unsigned int image_store_made(struct image_store *store)
{
	return shared_file_made(&store->shared);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/image/image_store.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <unistd.h>

#include "complib/handoff.h"

struct image_store {
	struct ref ref;
	pthread_mutex_t lock;
	int file; /* these under lock; -1: none */
	uint64_t serial;
	unsigned int made;
};

struct image_store *image_store_new(void)
{
	struct image_store *store = g_new0(struct image_store, 1);

	ref_init(&store->ref);
	pthread_mutex_init(&store->lock, NULL);
	store->file = -1;
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
	if (store->file >= 0)
		close(store->file);
	pthread_mutex_destroy(&store->lock);
	g_free(store);
}

/* The old one is dropped first, so that there is never more than one. */
static void renew(struct image_store *store, const struct fabric_image_source *source,
		  GError **error)
{
	if (store->file >= 0)
		close(store->file);
	store->file = fabric_image_make(source, error);
	store->serial = source->serial;
	store->made += store->file >= 0;
}

int image_store_get(struct image_store *store, const struct fabric_image_source *source,
		    GError **error)
{
	int file = -1;

	pthread_mutex_lock(&store->lock);
	if (store->file < 0 || store->serial < source->serial)
		renew(store, source, error);
	if (store->file >= 0) {
		file = fcntl(store->file, F_DUPFD_CLOEXEC, 0);
		if (file < 0)
			g_set_error(error, G_IO_ERROR, (gint)g_io_error_from_errno(errno),
				    "no descriptor for the image: %s", g_strerror(errno));
	}
	pthread_mutex_unlock(&store->lock);
	return file;
}

unsigned int image_store_made(struct image_store *store)
{
	unsigned int made;

	pthread_mutex_lock(&store->lock);
	made = store->made;
	pthread_mutex_unlock(&store->lock);
	return made;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The last image of the fabric, kept so that several programs that ask for it share it. */
#ifndef CTL_IMAGE_IMAGE_STORE_H
#define CTL_IMAGE_IMAGE_STORE_H

#include "ctl/image/fabric_image.h"

struct image_store;

struct image_store *image_store_new(void);
struct image_store *image_store_ref(struct image_store *store);
void image_store_unref(struct image_store *store); /* NULL is fine */

/*
 * A descriptor of the image with the serial of the source, or a later one: of the image that is
 * kept, or of one that is made here and kept in its place. -1 and error. Any thread; of several at
 * once, all but one wait.
 */
int image_store_get(struct image_store *store, const struct fabric_image_source *source,
		    GError **error);
/* How many were made. Any thread. */
unsigned int image_store_made(struct image_store *store);

#endif

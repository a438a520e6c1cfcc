// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An indexed binary min-heap of pointers: each element knows its place, so that it can be moved or
 * removed in O(log n). Places count from 1; 0 means that the element is in no heap.
 */
#ifndef COMPLIB_HEAP_H
#define COMPLIB_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct heap {
	void **slots; /* slots[1..count] */
	size_t count, room;
	bool (*before)(const void *a, const void *b);
	size_t *(*place)(void *element);
};

void heap_init(struct heap *heap, bool (*before)(const void *a, const void *b),
	       size_t *(*place)(void *element));
void heap_clear(struct heap *heap);
void heap_insert(struct heap *heap, void *element);
void *heap_top(const struct heap *heap); /* NULL if empty */
void heap_remove(struct heap *heap, void *element);
void heap_moved(struct heap *heap, void *element); /* its key changed */

#endif

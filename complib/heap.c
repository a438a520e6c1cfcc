// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Indexed binary heap: see heap.h. Each move of an element writes its new place into the element,
 * which makes heap_remove and heap_moved logarithmic. Not locked: for its owner thread only.
 */
#include <glib.h>

#include <complib/heap.h>

#define HEAP_FIRST_ROOM 16

void heap_init(struct heap *heap, bool (*before)(const void *a, const void *b),
	       size_t *(*place)(void *element))
{
	*heap = (struct heap){.before = before, .place = place};
}

void heap_clear(struct heap *heap)
{
	for (size_t i = 1; i <= heap->count; i++)
		*heap->place(heap->slots[i]) = 0;
	g_free(heap->slots);
	heap_init(heap, heap->before, heap->place);
}

static void heap_put(struct heap *heap, size_t place, void *element)
{
	heap->slots[place] = element;
	*heap->place(element) = place;
}

/* Both sifts move a hole rather than swap, so that an element is written once. */
static void heap_sift_up(struct heap *heap, size_t place, void *element)
{
	while (place > 1 && heap->before(element, heap->slots[place / 2])) {
		heap_put(heap, place, heap->slots[place / 2]);
		place /= 2;
	}
	heap_put(heap, place, element);
}

static void heap_sift_down(struct heap *heap, size_t place, void *element)
{
	size_t child;

	while ((child = place * 2) <= heap->count) {
		if (child < heap->count && heap->before(heap->slots[child + 1], heap->slots[child]))
			child++;
		if (!heap->before(heap->slots[child], element))
			break;
		heap_put(heap, place, heap->slots[child]);
		place = child;
	}
	heap_put(heap, place, element);
}

static void heap_settle(struct heap *heap, size_t place, void *element)
{
	if (place > 1 && heap->before(element, heap->slots[place / 2]))
		heap_sift_up(heap, place, element);
	else
		heap_sift_down(heap, place, element);
}

void heap_insert(struct heap *heap, void *element)
{
	g_assert(*heap->place(element) == 0);
	if (heap->count + 1 >= heap->room) {
		heap->room = heap->room ? heap->room * 2 : HEAP_FIRST_ROOM;
		heap->slots = g_renew(void *, heap->slots, heap->room);
	}
	heap->count++;
	heap_sift_up(heap, heap->count, element);
}

void *heap_top(const struct heap *heap)
{
	return heap->count ? heap->slots[1] : NULL;
}

void heap_remove(struct heap *heap, void *element)
{
	size_t place = *heap->place(element);
	void *last;

	g_assert(place >= 1 && place <= heap->count && heap->slots[place] == element);
	last = heap->slots[heap->count--];
	if (last != element)
		heap_settle(heap, place, last);
	*heap->place(element) = 0;
}

void heap_moved(struct heap *heap, void *element)
{
	size_t place = *heap->place(element);

	g_assert(place >= 1 && place <= heap->count && heap->slots[place] == element);
	heap_settle(heap, place, element);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file in memory that several answers send at once, each from an offset of its own. It is closed
 * with the last of them.
 */
#ifndef WEB_BASE_HELD_H
#define WEB_BASE_HELD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct held;

#define HELD_MAX (256ull << 20) /* octets of several files at once; one alone may have more */

#define HELD_LEAST (4u << 20) /* octets that each counts for, so that descriptors suffice */
#define HELD_TOO_MUCH "too many large answers are being sent, expected fewer or faster clients"

/*
 * Takes over the file. octets: the sum of those that are open, which counts this one until it is
 * closed. NULL: together they would be too large.
 */
struct held *held_new(int file, uint64_t *octets);
struct held *held_ref(struct held *held);
/* NULL is fine. */
void held_unref(struct held *held);

uint64_t held_size(const struct held *held);
/* As pread(). */
ssize_t held_read(const struct held *held, void *into, size_t max, uint64_t at);

#endif

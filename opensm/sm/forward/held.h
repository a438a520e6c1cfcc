// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What switches hold in their forwarding tables, as a value that the pool can read. */
#ifndef SM_FORWARD_HELD_H
#define SM_FORWARD_HELD_H

#include "fabric/builder.h"
#include "route/engine.h"

struct held;

/*
 * fabric is frozen from the builder; seen is the routing whose rows tables were found to equal
 * (trust_equal), or NULL. Returns NULL if nothing is known of any switch.
 */
struct held *held_new(struct builder *builder, const struct fabric *fabric, struct routing *seen);
void held_free(struct held *held); /* NULL is fine */

/* By switch of the fabric, n_blocks blocks of 64 entries each; NULL: unknown. */
const uint8_t *const *held_rows(struct held *held, uint32_t n_blocks);

#endif

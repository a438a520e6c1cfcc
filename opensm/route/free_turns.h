// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which turns, by number the steps of channels.h, are free: those that close no cycle among
 * themselves, so that packets need not change lanes there.
 */
#ifndef ROUTE_FREE_TURNS_H
#define ROUTE_FREE_TURNS_H

#include "route/layered.h"

struct free_turns {
	const struct layered *layered;
	bool *is_free; /* [turn]; none before free_turns_find() */
	uint8_t *rank; /* [turn]: most turns before it on a path, or a value for none */
};

void free_turns_init(struct free_turns *turns, const struct layered *layered);
void free_turns_clear(struct free_turns *turns);

/* By the tables at hand, and the trunk if there is one. */
void free_turns_find(struct free_turns *turns);

/* Whether multicast may turn so. */
bool free_turns_is_trunk(const struct free_turns *turns, uint32_t in, uint32_t out);

/* Calls for each turn there is. */
typedef void free_turns_fn(void *arg, uint32_t in, uint32_t out);
void free_turns_each(const struct free_turns *turns, free_turns_fn *call, void *arg);

#endif

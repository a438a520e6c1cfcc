// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Octets of tables that are being made or on their way, by requester (LID), so that neither all of
 * them nor those of one requester grow with what is asked and not acknowledged:
 *
 * - Of the octets that SA_MAX_HELD leaves free, no answer may take more than there then are left,
 * nor may all of a requester but its largest: however many take much, something is free for the
 * next who asks for little.
 * - Beside its largest answer a requester has SA_MAX_HELD_BY_ONE octets, so that small ones go on
 * while a large one is on its way.
 * - Who left an answer without acknowledgement has SA_MAX_HELD_IN_DOUBT octets beside it, for a
 * minute or until it acknowledges one. Others of a process that died are still on their way then;
 * the next process of that host gets small answers beside these.
 *
 * What goes beyond is BUSY. All calls from any thread.
 */
#ifndef SA_ADMIT_HELD_H
#define SA_ADMIT_HELD_H

#include "core/context.h"
#include "vendor/vendor.h"

#define SA_MAX_HELD (128u << 20)
#define SA_MAX_HELD_BY_ONE (16u << 20)
#define SA_MAX_HELD_IN_DOUBT (1u << 20)
#define SA_DOUBT_NS (60 * NS_PER_S)

struct sa_held;

/* Octets of all are counted in the context's sa_octets_held. */
struct sa_held *sa_held_new(struct context *context);
void sa_held_free(struct sa_held *held);

/* More octets for an answer that has so many. False: no, it keeps those it has. */
bool sa_held_take(struct sa_held *held, uint16_t lid, size_t has, size_t more);
/* Gives back octets of an answer that keeps so many. */
void sa_held_give(struct sa_held *held, uint16_t lid, size_t keeps, size_t less);
/* How the transfer of an answer to that requester ended. */
void sa_held_note(struct sa_held *held, uint16_t lid, enum vendor_end end);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Octets of tables that are being built or sent, per requester (LID), so that neither their sum nor
 * those of one requester grow with the number of unacknowledged requests:
 *
 *  - An answer may be at most as large as what SA_MAX_HELD then leaves free, and so may the
 *    sum of a requester's other answers: however many requesters take much, something stays free
 *    for the next one that asks for little.
 *  - Beside its largest answer a requester has SA_MAX_HELD_BY_ONE octets, so that small answers
 *    continue while a large one is being sent.
 *  - A requester that left an answer unacknowledged has SA_MAX_HELD_IN_DOUBT octets beside its
 *    largest, for a minute or until it acknowledges one. Answers to a process that died are still
 *    being sent then; the next process of that host gets small answers beside these.
 *
 * A request beyond these limits is answered BUSY. Any thread may call any function.
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

/* Octets of all requesters are counted in the context's sa_octets_held. */
struct sa_held *sa_held_new(struct context *context);
void sa_held_free(struct sa_held *held);

/* Adds octets to an answer that holds "has" already. False: refused; it keeps what it holds. */
bool sa_held_take(struct sa_held *held, uint16_t lid, size_t has, size_t more);
/* Gives back "less" octets of an answer, which keeps "keeps". */
void sa_held_give(struct sa_held *held, uint16_t lid, size_t keeps, size_t less);
/* Records how the transfer of an answer to that requester ended. */
void sa_held_note(struct sa_held *held, uint16_t lid, enum vendor_end end);

#endif

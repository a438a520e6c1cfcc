// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What this SM sees of the subnet, and can set: the basis of its ability (ability.h). */
#ifndef SM_ELECTION_OUTLOOK_H
#define SM_ELECTION_OUTLOOK_H

#include "sm/election/ability.h"

struct sm;

/* From the last discovery, in the step ELECT. */
struct ability outlook_of(struct sm *sm);
/*
 * Finds out, by a Set that changes nothing, whether a port that hides its M_Key accepts Sets of
 * this SM; true: the answer is pending, and may change outlook_of().
 */
bool outlook_inquires(struct sm *sm);
/* Why this SM is unable, and what an operator should do about it; newly allocated. */
char *outlook_why_unable(struct sm *sm);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What this SM sees of the subnet, and can set: from that follows its ability (ability.h). */
#ifndef SM_ELECTION_OUTLOOK_H
#define SM_ELECTION_OUTLOOK_H

#include "sm/election/ability.h"

struct sm;

/* By what was discovered last, in the step ELECT. */
struct ability outlook_of(struct sm *sm);
/*
 * Asks a port that hides its M_Key, by a Set that changes nothing, whether it takes a Set of this
 * SM; true: its answer is waited for, and outlook_of() may be another one then.
 */
bool outlook_inquires(struct sm *sm);
/* Why this SM is unable, and what somebody is to do about it; newly allocated. */
char *outlook_why_unable(struct sm *sm);

#endif

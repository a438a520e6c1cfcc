// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What is different about the other SMs of the subnet, from one list of them to the next. */
#ifndef CTL_REPORT_PEER_CHANGES_H
#define CTL_REPORT_PEER_CHANGES_H

#include "sm/election/peers.h"

struct peer_change {
	uint64_t guid;	  /* of the SM's port */
	const char *word; /* "sm_found", "sm_changed", "sm_gone" */
	bool is_new_role; /* it came or went, or another state, priority, or whether it is able */
	const char *text;
};

/* Either list may be NULL. */
void peer_changes_tell(const struct peers *old, const struct peers *now,
		       void (*tell)(void *arg, const struct peer_change *change), void *arg);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What standbys are sent, and what a new master takes over from the SM before it. */
#ifndef SM_TAKEOVER_REPLICATE_H
#define SM_TAKEOVER_REPLICATE_H

#include "sm/sm_private.h"

void replicate_lids(struct sm *sm);		     /* LIDs that it has assigned */
void replicate_keep_lids(struct sm *sm); /* a standby: LIDs that its master has assigned */
void replicate_path_sls(struct sm *sm);

#endif

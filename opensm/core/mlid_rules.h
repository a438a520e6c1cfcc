// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rules by which multicast groups share MLIDs, as the option mlid_sharing lists them:
 * "MGID/MASK=N, ...". Groups whose MGIDs agree with MGID in the bits of MASK share N MLIDs; MGID
 * and MASK stand as IPv6 addresses do.
 */
#ifndef CORE_MLID_RULES_H
#define CORE_MLID_RULES_H

#include "iba/iba.h"

#define MLID_RULES_MAX 32
#define MLID_RULE_MLIDS_MAX 4096

struct mlid_rule {
	struct iba_gid mgid, mask;
	uint32_t n; /* MLIDs */
};

/* How many rules are in the text; -1: it is none of rules. NULL has none. */
int mlid_rules_parse(const char *text, struct mlid_rule rules[MLID_RULES_MAX]);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rules by which multicast groups share MLIDs, as listed in the option mlid_sharing: "MGID/MASK=N,
 * ...". Groups whose MGIDs equal MGID in the bits of MASK share N MLIDs; MGID and MASK are written
 * like IPv6 addresses.
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

/* Returns the number of rules in the text; -1: malformed. NULL has none. */
int mlid_rules_parse(const char *text, struct mlid_rule rules[MLID_RULES_MAX]);

#endif

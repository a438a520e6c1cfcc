// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rate limit of log lines: see log.h. The state counts the time used up rather than the tokens
 * left, so that all zero means a full allowance and no initialization is needed.
 */
#include <complib/log.h>

bool log_limit_pass(struct log_limit *limit, uint64_t now_ns, unsigned int burst,
		    uint64_t interval_ns, unsigned int *held_back)
{
	uint64_t passed = now_ns > limit->last_ns ? now_ns - limit->last_ns : 0;
	uint64_t used = limit->tokens_ns > passed ? limit->tokens_ns - passed : 0;
	uint64_t allowance = interval_ns * MAX(burst, 1);

	limit->last_ns = MAX(limit->last_ns, now_ns);
	if (used + interval_ns > allowance) {
		limit->tokens_ns = used;
		limit->held_back++;
		*held_back = 0;
		return false;
	}
	limit->tokens_ns = used + interval_ns;
	*held_back = limit->held_back;
	limit->held_back = 0;
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Selectors: 0 greater than, 1 less than, 2 exactly, 3 the best available. */
#include "iba/limit.h"

#include <glib.h>

#include "iba/codes.h"

#define MAX_LIFE 63 /* the field has 6 bits */

bool iba_fit_mtu(uint8_t *mtu, const struct iba_limit *limit)
{
	if (!limit->given)
		return true;
	switch (limit->selector) {
	case IBA_SELECTOR_GREATER:
		return *mtu > limit->value;
	case IBA_SELECTOR_LESS:
		if (limit->value <= IBA_MTU_256)
			return false;
		*mtu = MIN(*mtu, limit->value - 1);
		return true;
	case IBA_SELECTOR_EXACTLY:
		if (limit->value < IBA_MTU_256 || limit->value > *mtu)
			return false;
		*mtu = limit->value;
		return true;
	default:
		return true;
	}
}

bool iba_fit_rate(uint8_t *rate, const struct iba_limit *limit)
{
	if (!limit->given || limit->selector == IBA_SELECTOR_BEST)
		return true;
	if (iba_rate_tenths(limit->value) == 0) /* an unknown code; 0 is below all rates */
		return limit->selector == IBA_SELECTOR_GREATER && limit->value == 0;
	switch (limit->selector) {
	case IBA_SELECTOR_GREATER:
		return iba_rate_compare(*rate, limit->value) > 0;
	case IBA_SELECTOR_LESS:
		if (iba_rate_compare(*rate, limit->value) >= 0)
			*rate = iba_rate_slower(limit->value);
		return *rate != 0;
	default:
		if (iba_rate_compare(limit->value, *rate) > 0)
			return false;
		*rate = limit->value;
		return true;
	}
}

bool iba_fit_life(uint8_t *life, const struct iba_limit *limit)
{
	if (!limit->given)
		return true;
	switch (limit->selector) {
	case IBA_SELECTOR_GREATER:
		*life = MAX(*life, limit->value + 1);
		return *life <= MAX_LIFE;
	case IBA_SELECTOR_LESS:
		return *life < limit->value;
	case IBA_SELECTOR_EXACTLY:
		if (limit->value < *life)
			return false;
		*life = limit->value;
		return true;
	default:
		return true;
	}
}

/* order: negative, 0 or positive if the actual value is below, at or above the requested one. */
static bool fixed_fits(const struct iba_limit *limit, int order)
{
	if (!limit->given)
		return true;
	switch (limit->selector) {
	case IBA_SELECTOR_GREATER:
		return order > 0;
	case IBA_SELECTOR_LESS:
		return order < 0;
	case IBA_SELECTOR_EXACTLY:
		return order == 0;
	default:
		return true;
	}
}

bool iba_group_fits(const struct iba_mc_member_record *group, const struct iba_limit *mtu,
		    const struct iba_limit *rate, const struct iba_limit *life)
{
	return fixed_fits(mtu, (int)group->mtu - mtu->value) &&
	       fixed_fits(rate, iba_rate_compare(group->rate, rate->value)) &&
	       fixed_fits(life, (int)group->packet_life_time - life->value);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Selectors of MTU, rate and packet life time, in paths and in groups (IBA 15.2.5.16). */
#ifndef IBA_LIMIT_H
#define IBA_LIMIT_H

#include "iba/iba.h"

/* A selector and its value; if either is missing, neither counts. */
struct iba_limit {
	bool given;
	uint8_t selector, value;
};

/* The limit of that name in a requested record. */
#define IBA_LIMIT(type, mask, record, name)                                                        \
	((struct iba_limit){                                                                       \
		.given = ((mask)&IBA_COMPONENT(type, name##_selector)) &&                          \
			 ((mask)&IBA_COMPONENT(type, name)),                                       \
		.selector = (record)->name##_selector,                                             \
		.value = (record)->name,                                                           \
	})

/*
 * Fits the possible value (the greatest MTU or rate, the least life time) to the requested one;
 * false if there is no such value. MTU and rate may be lowered, a life time raised.
 */
bool iba_fit_mtu(uint8_t *mtu, const struct iba_limit *limit);
bool iba_fit_rate(uint8_t *rate, const struct iba_limit *limit);
bool iba_fit_life(uint8_t *life, const struct iba_limit *limit);

/* True if the values of a group, which cannot change, match the request. */
bool iba_group_fits(const struct iba_mc_member_record *group, const struct iba_limit *mtu,
		    const struct iba_limit *rate, const struct iba_limit *life);

#endif

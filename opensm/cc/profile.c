// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "cc/profile.h"

#define MULTIPLIER_MAX 0x3FFF
#define SHIFT_MAX 3
#define S_MAX 128 /* the longest delay is that of the largest multiplier without shift */

struct cc_profile_values cc_profile_make(enum cc_profile profile, uint32_t hosts, unsigned int gbps)
{
	static const struct {
		uint8_t threshold;
		uint8_t one_in; /* of these packets one is marked, on a link of 100 Gb/s */
	} profiles[] = {
		[CC_GENTLE] = {8, 8},
		[CC_STANDARD] = {12, 4},
		[CC_AGGRESSIVE] = {14, 2},
	};
	uint64_t senders = MIN(hosts, CC_PROFILE_HOSTS_MAX);
	uint64_t one_in = ((uint64_t)profiles[profile].one_in * gbps + 99) / 100;
	uint64_t timer = (25 * senders * one_in + gbps - 1) / gbps;

	return (struct cc_profile_values){
		.threshold = profiles[profile].threshold,
		.packet_size = 8,
		.increase = 1,
		.marking_rate = (uint16_t)(one_in - 1),
		.timer = (uint16_t)MIN(timer, UINT16_MAX),
	};
}

/* A delay of n / d packets, with the finest shift that it fits. */
static struct iba_congestion_control_entry entry_of(uint64_t n, uint64_t d)
{
	uint8_t shift = SHIFT_MAX;

	while (shift && (n << shift) / d >= MULTIPLIER_MAX)
		shift--;
	return (struct iba_congestion_control_entry){
		.cct_shift = shift,
		.cct_multiplier = (uint16_t)MIN(((n << shift) + d / 2) / d, MULTIPLIER_MAX),
	};
}

/* At entry i the rate is (1 - i / limit (1 - 1 / S))^2; the delay is 1 / rate - 1. */
void cc_profile_table(uint32_t hosts, unsigned int limit,
		      struct iba_congestion_control_entry *table)
{
	uint64_t s = 2;

	while (s < S_MAX && s * s < UINT64_C(2) * hosts)
		s++;
	for (uint64_t i = 0; i <= limit; i++) {
		uint64_t all = limit * s * limit * s, left = limit * s - i * (s - 1);

		table[i] = entry_of(all - left * left, left * left);
	}
}

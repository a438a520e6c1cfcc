// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The settings of the profiles, computed from the number of hosts and the rate of their links. They
 * come from simulated hot spots (tests/bench/congestion): from 2 senders to one host up to some
 * 500, with all of them the target stays busy and flows that only share the way keep their rate.
 *
 * CCTI_Timer / (Marking_Rate + 1) grows with the hosts: if that many send to one, each at its fair
 * share, then 64 % of the packets that may be marked balance the timers. Marking_Rate grows with
 * the rate of links, as more packets are on the way until a sender hears of the first mark. An
 * aggressive profile reacts and recovers faster; a gentle one takes less from the throughput.
 */
#ifndef CC_PROFILE_H
#define CC_PROFILE_H

#include "core/options.h"
#include "iba/iba.h"

#define CC_TABLE_MAX 128 /* entries */
/* Larger fabrics get the settings for that many: timers that are longer hold small hot spots. */
#define CC_PROFILE_HOSTS_MAX 512

struct cc_profile_values {
	uint8_t threshold, packet_size; /* credits of 64 octets */
	uint8_t increase;
	uint16_t marking_rate;
	uint16_t timer; /* 1.024 us */
};

/* gbps: data rate of the links of hosts, in Gb/s, not 0. */
struct cc_profile_values cc_profile_make(enum cc_profile profile, uint32_t hosts,
					 unsigned int gbps);

/*
 * Entries 0 to limit for that many senders to one target: from entry to entry the square root of
 * the rate falls evenly, from 1 to 1 / S, so steps are fine near full rate, where few senders meet.
 * S^2 is at least twice the number of hosts, as far as an entry can express that.
 */
void cc_profile_table(uint32_t hosts, unsigned int limit,
		      struct iba_congestion_control_entry *table);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an SM can do for the subnet, as far as it has found out by reading: an SM that cannot set
 * the ports must not lead, whatever its rank. Pure; outlook.c counts what this SM finds.
 *
 * SMs of this kind exchange it in octets of SMInfo that the IBA reserves, so other SMs neither send
 * nor read it. An ability that was not sent is unknown, and not a disadvantage.
 */
#ifndef SM_ELECTION_ABILITY_H
#define SM_ELECTION_ABILITY_H

#include <stdbool.h>
#include <stdint.h>

struct ability {
	bool known;
	bool unable;	   /* it cannot set anything beyond its own port, despite a cable */
	uint16_t switches; /* counts of what it sees; UINT16_MAX means that many or more */
	uint16_t endports;
	uint16_t settable; /* endports that it can set, with all switches on the way */
};

/* An SM that can set fewer than this part of what another one can set falls short of it. */
#define ABILITY_PART 2

/*
 * a must not lead where b can: both are known, and a can set far fewer ports, or fewer while more
 * ports reject its M_Key than that of b.
 */
bool ability_falls_short(const struct ability *a, const struct ability *b);

/* In one word that threads can share; 0: unknown. */
uint64_t ability_pack(const struct ability *ability);
struct ability ability_unpack(uint64_t word);

/* To and from the data of an SMP with SMInfo (64 octets). */
void ability_encode(const struct ability *ability, uint8_t *data);
struct ability ability_decode(const uint8_t *data);

#endif

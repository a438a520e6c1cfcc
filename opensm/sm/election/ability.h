// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an SM can do for the subnet, as far as it has found out by reading: an SM that cannot set
 * the ports must not lead, whatever its rank. Pure; what this SM finds is counted in outlook.c.
 *
 * SMs of this kind tell it each other in octets of SMInfo that the IBA reserves, so another kind
 * neither tells it nor looks at it. What is not told is not known, and is held against nobody.
 */
#ifndef SM_ELECTION_ABILITY_H
#define SM_ELECTION_ABILITY_H

#include <stdbool.h>
#include <stdint.h>

struct ability {
	bool known;
	bool unable;	   /* it can set nothing beyond its own port, though a cable leads there */
	uint16_t switches; /* counts of what it sees; UINT16_MAX stands for that and more */
	uint16_t endports;
	uint16_t settable; /* of the endports: those that it can set, and reach through such */
};

/* One that can set fewer than this part of what another one can set falls short of it. */
#define ABILITY_PART 2

/*
 * a must not lead where b can: both are known, and a can set far fewer ports, or fewer as it meets
 * ports that do not take its M_Key where b meets fewer of those.
 */
bool ability_falls_short(const struct ability *a, const struct ability *b);

/* In one word, which threads can share; 0 is one that is not known. */
uint64_t ability_pack(const struct ability *ability);
struct ability ability_unpack(uint64_t word);

/* To and from the data of an SMP with SMInfo (64 octets). */
void ability_encode(const struct ability *ability, uint8_t *data);
struct ability ability_decode(const uint8_t *data);

#endif

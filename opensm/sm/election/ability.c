// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/election/ability.h"

#include "complib/wire.h"
#include "iba/iba.h"

#define OFFSET 24		   /* in the data of the SMP: SMInfo ends before octet 21 */
#define MAGIC UINT32_C(0x41424c45) /* "ABLE" */
#define VERSION 1

#define KNOWN (UINT64_C(1) << 63)
#define UNABLE (UINT64_C(1) << 62)

static unsigned int barred(const struct ability *ability)
{
	return ability->endports - ability->settable;
}

bool ability_falls_short(const struct ability *a, const struct ability *b)
{
	if (!a->known || !b->known || a->settable >= b->settable)
		return false;
	return a->settable * ABILITY_PART < b->settable || barred(a) > barred(b);
}

uint64_t ability_pack(const struct ability *ability)
{
	return (ability->known ? KNOWN : 0) | (ability->unable ? UNABLE : 0) |
	       (uint64_t)ability->switches << 32 | (uint64_t)ability->endports << 16 |
	       ability->settable;
}

struct ability ability_unpack(uint64_t word)
{
	return (struct ability){
		.known = word & KNOWN,
		.unable = word & UNABLE,
		.switches = (uint16_t)(word >> 32),
		.endports = (uint16_t)(word >> 16),
		.settable = (uint16_t)word,
	};
}

void ability_encode(const struct ability *ability, uint8_t *data)
{
	const struct iba_sm_ability wire = {
		.magic = MAGIC,
		.version = VERSION,
		.unable = ability->unable,
		.switches = ability->switches,
		.endports = ability->endports,
		.settable = ability->settable,
	};

	if (ability->known)
		wire_encode(&iba_sm_ability_type, &wire, data + OFFSET);
}

struct ability ability_decode(const uint8_t *data)
{
	struct iba_sm_ability wire;

	wire_decode(&iba_sm_ability_type, data + OFFSET, &wire);
	if (wire.magic != MAGIC || wire.version != VERSION || wire.settable > wire.endports)
		return (struct ability){0};
	return (struct ability){
		.known = true,
		.unable = wire.unable,
		.switches = wire.switches,
		.endports = wire.endports,
		.settable = wire.settable,
	};
}

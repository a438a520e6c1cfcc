// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Codes to quantities, including the only table of rates. Pure functions; any thread. */
#include <glib.h>
#include <iba/codes.h>
#include <iba/constants.h>
#include <stddef.h>

/* Tenths of Gb/s per lane as the rate codes count them: nominal, not net of coding. */
enum {
	LANE_SDR = 25,
	LANE_DDR = 50,
	LANE_QDR = 100,
	LANE_FDR = 140,
	LANE_EDR = 250,
	LANE_HDR = 500,
	LANE_NDR = 1000,
	LANE_XDR = 2000,
};

/* Slowest first. */
static const struct {
	uint8_t code;
	uint16_t tenths;
} rates[] = {
	{IBA_RATE_2_5, 25},   {IBA_RATE_5, 50},	    {IBA_RATE_10, 100},	    {IBA_RATE_14, 140},
	{IBA_RATE_20, 200},   {IBA_RATE_25, 250},   {IBA_RATE_28, 280},	    {IBA_RATE_30, 300},
	{IBA_RATE_40, 400},   {IBA_RATE_50, 500},   {IBA_RATE_56, 560},	    {IBA_RATE_60, 600},
	{IBA_RATE_80, 800},   {IBA_RATE_100, 1000}, {IBA_RATE_112, 1120},   {IBA_RATE_120, 1200},
	{IBA_RATE_168, 1680}, {IBA_RATE_200, 2000}, {IBA_RATE_300, 3000},   {IBA_RATE_400, 4000},
	{IBA_RATE_600, 6000}, {IBA_RATE_800, 8000}, {IBA_RATE_1200, 12000},
};

#define N_RATES G_N_ELEMENTS(rates)

static size_t rate_rank(uint8_t code)
{
	size_t rank = 0;

	while (rank < N_RATES && rates[rank].code != code)
		rank++;
	return rank;
}

unsigned int iba_mtu_bytes(uint8_t code)
{
	return code >= IBA_MTU_256 && code <= IBA_MTU_4096 ? 128u << code : 0;
}

uint8_t iba_mtu_code(unsigned int bytes)
{
	uint8_t code = IBA_MTU_4096;

	while (code > 0 && (code < IBA_MTU_256 || iba_mtu_bytes(code) > bytes))
		code--;
	return code;
}

unsigned int iba_rate_tenths(uint8_t code)
{
	size_t rank = rate_rank(code);

	return rank < N_RATES ? rates[rank].tenths : 0;
}

int iba_rate_compare(uint8_t a, uint8_t b)
{
	return (int)iba_rate_tenths(a) - (int)iba_rate_tenths(b);
}

uint8_t iba_rate_code(unsigned int tenths)
{
	uint8_t code = 0;

	for (size_t i = 0; i < N_RATES && rates[i].tenths <= tenths; i++)
		code = rates[i].code;
	return code;
}

uint8_t iba_rate_limit(uint8_t code, uint8_t max_code)
{
	unsigned int tenths = iba_rate_tenths(code);
	uint8_t best = 0;

	for (size_t i = 0; i < N_RATES && rates[i].tenths <= tenths; i++)
		if (rates[i].code <= max_code)
			best = rates[i].code;
	return best;
}

uint8_t iba_rate_slower(uint8_t code)
{
	size_t rank = rate_rank(code);

	return rank > 0 && rank < N_RATES ? rates[rank - 1].code : 0;
}

uint8_t iba_rate_faster(uint8_t code)
{
	size_t rank = rate_rank(code);

	return rank + 1 < N_RATES ? rates[rank + 1].code : 0;
}

unsigned int iba_width_lanes(uint8_t width)
{
	switch (width) {
	case IBA_WIDTH_1X:
		return 1;
	case IBA_WIDTH_2X:
		return 2;
	case IBA_WIDTH_4X:
		return 4;
	case IBA_WIDTH_8X:
		return 8;
	case IBA_WIDTH_12X:
		return 12;
	default:
		return 0;
	}
}

static unsigned int plain_lane(uint8_t speed)
{
	switch (speed) {
	case IBA_SPEED_SDR:
		return LANE_SDR;
	case IBA_SPEED_DDR:
		return LANE_DDR;
	case IBA_SPEED_QDR:
		return LANE_QDR;
	default:
		return 0;
	}
}

static unsigned int extended_lane(uint8_t speed_ext)
{
	switch (speed_ext) {
	case IBA_SPEED_EXT_FDR:
		return LANE_FDR;
	case IBA_SPEED_EXT_EDR:
		return LANE_EDR;
	case IBA_SPEED_EXT_HDR:
		return LANE_HDR;
	case IBA_SPEED_EXT_NDR:
		return LANE_NDR;
	default:
		return 0;
	}
}

uint8_t iba_link_rate(uint8_t width, uint8_t speed, uint8_t speed_ext, uint8_t speed_ext2)
{
	unsigned int lane;

	if (speed_ext2)
		lane = speed_ext2 == IBA_SPEED_EXT2_XDR ? LANE_XDR : 0;
	else if (speed_ext)
		lane = extended_lane(speed_ext);
	else
		lane = plain_lane(speed);
	return iba_rate_code(lane * iba_width_lanes(width));
}

uint64_t iba_timeout_ns(uint8_t code)
{
	return code <= 51 ? UINT64_C(4096) << code : UINT64_MAX;
}

uint8_t iba_timeout_code(uint64_t ns)
{
	uint8_t code = 0;

	while (code < 31 && iba_timeout_ns(code) < ns)
		code++;
	return code;
}

unsigned int iba_vls_count(uint8_t code)
{
	static const uint8_t counts[] = {0, 1, 2, 4, 8, 15};

	return code < G_N_ELEMENTS(counts) ? counts[code] : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * People with red-green colour blindness can tell blue and orange apart, and a busier cable is
 * darker, which is visible without any colour, too. A fabric with an even load is blue.
 */
#include "osmroute/shade.h"

#include <glib.h>
#include <math.h>

static const uint8_t shades[][3] = {
	{0xA9, 0xB4, 0xBF}, /* idle */
	{0x4E, 0x8F, 0xC4}, /* the mean */
	{0x8F, 0x2D, 0x00}, /* twice the mean */
};

bool shade_is_cable(const struct fabric *fabric, uint32_t port)
{
	uint32_t peer = fabric->ports[port].peer;

	return peer != FABRIC_NONE && port < peer &&
	       fabric_is_switch(fabric, fabric->ports[port].node) &&
	       fabric_is_switch(fabric, fabric->ports[peer].node);
}

void shade_init(struct shade *shade, const struct fabric *fabric, const uint64_t *load)
{
	double sum = 0;
	uint32_t n = 0;

	*shade = (struct shade){0};
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint64_t busier;

		if (!shade_is_cable(fabric, i))
			continue;
		busier = MAX(load[i], load[fabric->ports[i].peer]);
		shade->most = MAX(shade->most, busier);
		sum += busier;
		n++;
	}
	shade->mean = n ? sum / n : 0;
	shade->top = MAX(2 * shade->mean, (double)shade->most);
}

double shade_part(const struct shade *shade, uint64_t load)
{
	if (load <= shade->mean)
		return shade->mean > 0 ? load / shade->mean / 2 : 0;
	return 0.5 + (load - shade->mean) / (shade->top - shade->mean) / 2;
}

void shade_colour(double part, char colour[8])
{
	double at = CLAMP(part, 0, 1) * (G_N_ELEMENTS(shades) - 1);
	unsigned int below = MIN((unsigned int)at, G_N_ELEMENTS(shades) - 2);
	unsigned int mixed[3];

	for (unsigned int i = 0; i < 3; i++) {
		double low = shades[below][i], high = shades[below + 1][i];

		mixed[i] = (unsigned int)lround(low + (high - low) * (at - below));
	}
	g_snprintf(colour, 8, "#%02x%02x%02x", mixed[0] & 255, mixed[1] & 255, mixed[2] & 255);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "route/fill/relief.h"

bool route_relief_read(struct route_relief *relief, uint16_t lid)
{
	const struct route_flows *flows = relief->flows;
	bool any = false;

	for (uint32_t i = 0; i < flows->n_order; i++) {
		uint32_t sw = flows->order[i], c = route_columns_get(relief->columns, sw, lid);

		relief->chosen[sw] = c;
		flows->sent[flows->channels->to[c]] += flows->sent[sw];
		any |= flows->sent[sw] && relief->load[c] > relief->limit;
	}
	return any;
}

/* The load of the busiest channel on the path from a switch. */
static uint64_t most_from(const struct route_relief *relief, uint32_t sw)
{
	uint64_t most = 0;

	while (sw != relief->flows->dest) {
		uint32_t c = relief->chosen[sw];

		most = MAX(most, relief->load[c]);
		sw = relief->flows->channels->to[c];
	}
	return most;
}

/* Adds to the flow on the path from a switch. */
static void add_from(const struct route_relief *relief, uint32_t sw, int64_t amount)
{
	while (sw != relief->flows->dest) {
		uint32_t c = relief->chosen[sw];

		relief->load[c] += amount;
		sw = relief->flows->channels->to[c];
		relief->flows->sent[sw] += amount;
	}
}

/* The channel that begins the path whose busiest channel carries least without this flow. */
static uint32_t best_channel(const struct route_relief *relief, uint32_t sw)
{
	const struct route_flows *flows = relief->flows;
	uint64_t least = most_from(relief, sw);
	uint32_t best = relief->chosen[sw];

	for (uint32_t i = flows->first[sw]; i < flows->last[sw]; i++) {
		const struct route_step *step = &flows->steps[i];
		uint64_t most = relief->load[step->channel];

		if (most >= least)
			continue;
		most = MAX(most, most_from(relief, step->to));
		if (most >= least)
			continue;
		least = most;
		best = step->channel;
	}
	return best;
}

void route_relief_move(struct route_relief *relief, uint16_t lid)
{
	const struct route_flows *flows = relief->flows;

	for (uint32_t i = flows->n_order; i-- > 0;) {
		uint32_t sw = flows->order[i];
		int64_t sent = flows->sent[sw];

		if (!sent || flows->last[sw] - flows->first[sw] < 2 ||
		    most_from(relief, sw) <= relief->limit)
			continue;
		add_from(relief, sw, -sent);
		relief->chosen[sw] = best_channel(relief, sw);
		route_columns_put(relief->columns, sw, lid, relief->chosen[sw]);
		add_from(relief, sw, sent);
	}
}

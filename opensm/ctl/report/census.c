// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/report/census.h"

#include <glib.h>

static void raise_to(struct census_counts *most, struct census_counts counts)
{
	most->switches = MAX(most->switches, counts.switches);
	most->hosts = MAX(most->hosts, counts.hosts);
	most->cables = MAX(most->cables, counts.cables);
}

struct census_counts census_of(const struct fabric *fabric)
{
	uint32_t hosts = fabric->n_nodes - fabric->n_switches;

	return (struct census_counts){.switches = fabric->n_switches,
				      .hosts = hosts,
				      .cables = fabric->n_links - MIN(hosts, fabric->n_links)};
}

/* The present counts hold until new ones are noted: they are entered in each slot since. */
static void advance(struct census *census, uint64_t now_ns, uint64_t window_ns)
{
	uint64_t slot = now_ns / MAX(window_ns / (CENSUS_SLOTS - 1), 1);

	if (census->window_ns != window_ns || slot - census->slot >= CENSUS_SLOTS) {
		for (unsigned int i = 0; i < CENSUS_SLOTS; i++)
			census->most[i] = census->now;
		census->window_ns = window_ns;
		census->slot = slot;
	}
	while (census->slot < slot)
		census->most[++census->slot % CENSUS_SLOTS] = census->now;
}

void census_note(struct census *census, uint64_t now_ns, uint64_t window_ns,
		 struct census_counts counts)
{
	advance(census, now_ns, window_ns);
	census->now = counts;
	raise_to(&census->most[census->slot % CENSUS_SLOTS], counts);
}

struct census_counts census_most(struct census *census, uint64_t now_ns, uint64_t window_ns)
{
	struct census_counts most = {0};

	advance(census, now_ns, window_ns);
	for (unsigned int i = 0; i < CENSUS_SLOTS; i++)
		raise_to(&most, census->most[i]);
	return most;
}

void census_accept(struct census *census)
{
	for (unsigned int i = 0; i < CENSUS_SLOTS; i++)
		census->most[i] = census->now;
}

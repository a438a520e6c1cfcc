// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A routing engine: dimension order on a torus whose switches are named NAME-X-Y-Z, the shorter way
 * around each ring, of two equal ones that which does not pass its end. The SL of a path, which is
 * its VL as well, tells past the ends of which rings it goes: so no VL has a whole ring.
 */
#include <opensm/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct torus {
	const struct osm_route_input *in;
	unsigned int n[3];	      /* switches in each dimension */
	unsigned int place[49152][3]; /* of each switch: they have a LID each */
};

/* The cables of the first hop from a to b, and the SL of the path. NULL: a cable is missing. */
static const struct osm_route_edge *hop(const struct torus *t, uint32_t a, uint32_t b, uint8_t *sl)
{
	unsigned int next[3], hops = 0;

	memcpy(next, t->place[a], sizeof(next));
	for (unsigned int k = *sl = 0; k < 3; k++) {
		unsigned int n = t->n[k], from = next[k], to = t->place[b][k];
		unsigned int up = (to + n - from) % n;
		int is_up = 2 * up < n || (2 * up == n && to > from);

		*sl |= (uint8_t)((is_up ? to < from : to > from) << k);
		if (from != to && !hops++)
			next[k] = (from + (is_up ? 1 : n - 1)) % n;
	}
	for (uint32_t e = osm_route_first_edge(t->in, a); e < osm_route_first_edge(t->in, a + 1);
	     e++)
		if (!memcmp(t->place[osm_route_edge(t->in, e)->to], next, sizeof(next)))
			return osm_route_edge(t->in, e);
	return NULL;
}

/* Leads LIDs from all switches to b, by cables in turn, and there to this port. */
static int lead(const struct torus *t, struct osm_route_output *out, uint32_t b, uint32_t lid,
		uint8_t lmc, uint8_t port)
{
	for (uint32_t a = 0; a < t->in->switches.n; a++) {
		uint8_t *sl = &out->sl[(size_t)a * t->in->switches.n + b];
		uint8_t *lft = &out->lft[(size_t)a * out->stride];
		const struct osm_route_edge *edge = hop(t, a, b, sl);

		if ((a != b && !edge) || *sl >= t->in->vls)
			return snprintf(out->note, sizeof(out->note), "a cable or VL is missing");
		for (uint32_t i = lid; lid && i < lid + (1u << lmc); i++)
			lft[i] = a == b ? port : t->in->links[edge->first_link + i % edge->n_links];
	}
	return 0;
}

static int route(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	struct torus *t = memset(context, 0, sizeof(*t));
	int failed = 0;

	t->in = in;
	for (uint32_t s = 0; s < in->switches.n; s++) {
		const char *name = in->names + osm_route_switch(in, s)->name;
		unsigned int *p = t->place[s];

		sscanf(name + strcspn(name, "-"), "-%2u-%2u-%2u", &p[0], &p[1], &p[2]);
		for (unsigned int k = 0; k < 3; k++)
			t->n[k] = p[k] < t->n[k] ? t->n[k] : p[k] + 1;
	}
	for (uint32_t s = 0; !failed && s < in->switches.n; s++)
		failed = lead(t, out, s, osm_route_switch(in, s)->lid, osm_route_switch(in, s)->lmc,
			      0);
	for (uint32_t i = 0; !failed && i < in->endports.n; i++) {
		const struct osm_route_endport *to = osm_route_endport(in, i);

		if (to->sw != OSM_NONE)
			failed = lead(t, out, to->sw, to->lid, to->lmc, to->exit);
	}
	out->promises = OSM_ROUTE_DEADLOCK_FREE | OSM_ROUTE_SHORTEST;
	out->has_sls = 1;
	return failed;
}

static void *create(const struct osm_host *host)
{
	(void)host;
	return calloc(1, sizeof(struct torus));
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_engine engine = {sizeof(engine), 0, "torus_dor", "torus X-Y-Z",
						 route};
	static const struct osm_engine *const engines[] = {&engine, NULL};
	static const struct osm_plugin plugin = {
		sizeof(plugin), OSM_PLUGIN_ABI, "torus_dor", "1", 0, create, free, NULL, engines};

	return &plugin;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A routing engine: dimension order on a torus of up to 3 dimensions whose switches are named
 * NAME-X-Y-Z. A path goes the shorter way around the ring of the first dimension, then of the next.
 * Bit k of its SL says whether it passes the end of a ring in dimension k: there it takes VL 1, so
 * the dependencies on neither VL go all around a ring.
 */
#include <opensm/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64 /* switches in a dimension */

struct torus {
	const struct osm_route_input *in;
	unsigned int n[3];
	uint32_t at[MOST][MOST][MOST]; /* switch, or OSM_NONE */
	unsigned int place[][3];
};

static int read_torus(struct torus *torus, const struct osm_route_input *in)
{
	for (uint32_t s = 0; s < in->switches.n; s++) {
		const char *name = in->names + osm_route_switch(in, s)->name;
		unsigned int *place = torus->place[s];

		sscanf(name + strcspn(name, "-"), "-%u-%u-%u", &place[0], &place[1], &place[2]);
		for (unsigned int k = 0; k < 3; k++) {
			if (place[k] >= MOST)
				return 1;
			torus->n[k] = place[k] >= torus->n[k] ? place[k] + 1 : torus->n[k];
		}
		torus->at[place[0]][place[1]][place[2]] = s;
	}
	return 0;
}

/*
 * The edge of the first hop from a to b, in dimension *k, which sets bit k of *ends if it passes
 * the end of its ring; NULL: a cable is missing.
 */
static const struct osm_route_edge *step(const struct torus *torus, uint32_t a, uint32_t b,
					 unsigned int *k, unsigned int *ends)
{
	unsigned int next[3], n, to, up;

	memcpy(next, torus->place[a], sizeof(next));
	for (*k = 0; next[*k] == torus->place[b][*k];)
		++*k;
	n = torus->n[*k], to = torus->place[b][*k], up = (to + n - next[*k]) % n;
	/* Of two equal ways the one that does not pass the end, so that both ends agree. */
	up = 2 * up < n || (2 * up == n && to > next[*k]);
	*ends |= (next[*k] == (up ? n - 1 : 0) ? 1u : 0u) << *k;
	next[*k] = (next[*k] + (up ? 1 : n - 1)) % n;
	for (uint32_t e = osm_route_first_edge(torus->in, a);
	     e < osm_route_first_edge(torus->in, a + 1); e++)
		if (osm_route_edge(torus->in, e)->to == torus->at[next[0]][next[1]][next[2]])
			return osm_route_edge(torus->in, e);
	return NULL;
}

/* Entries of switch a for LIDs at b: cables of the first hop in turn, or this port of b. */
static void put(const struct torus *torus, struct osm_route_output *out, uint32_t a, uint32_t b,
		uint32_t lid, uint8_t lmc, uint8_t port)
{
	unsigned int k, ends;
	const struct osm_route_edge *edge = a == b ? NULL : step(torus, a, b, &k, &ends);

	for (uint32_t i = lid; lid && i < lid + (1u << lmc); i++)
		out->lft[(size_t)a * out->stride + i] =
			edge ? torus->in->links[edge->first_link + i % edge->n_links] : port;
}

/* The SL from a to all others, and the lanes of a, which are those of the dimension of the exit. */
static int put_lanes(const struct torus *torus, struct osm_route_output *out, uint32_t a,
		     uint64_t *turns)
{
	unsigned int width = osm_route_switch(torus->in, a)->n_ports + 1u, k, ends;

	for (uint32_t b = 0; b < torus->in->switches.n; b++) {
		const struct osm_route_edge *edge;

		ends = 0;
		for (uint32_t s = a; s != b; s = edge->to)
			if (!(edge = step(torus, s, b, &k, &ends)))
				return snprintf(out->note, sizeof(out->note), "a cable is missing");
		out->sl[(size_t)a * torus->in->switches.n + b] = (uint8_t)ends;
	}
	for (unsigned int i = 0; i < width * width * 8; i++) {
		uint32_t next = osm_route_port(torus->in, a, (uint8_t)(i / 8 % width))->sw;

		if (next != OSM_NONE && next != a &&
		    (step(torus, a, next, &k, &ends), i % 8 >> k & 1))
			turns[i / 8] |= UINT64_C(1) << 4 * (i % 8);
	}
	return 0;
}

static int route(void *context, const struct osm_route_input *in, struct osm_route_output *out)
{
	struct torus *torus = calloc(1, sizeof(*torus) + in->switches.n * sizeof(*torus->place));
	uint64_t *turns = out->turns;
	int failed;

	(void)context;
	memset(torus->at, 0xFF, sizeof(torus->at));
	torus->in = in;
	failed = read_torus(torus, in) || in->vls < 2;
	for (uint32_t a = 0; !failed && !in->is_cancelled(in) && a < in->switches.n; a++) {
		failed = put_lanes(torus, out, a, turns);
		for (uint32_t b = 0; !failed && b < in->switches.n; b++)
			put(torus, out, a, b, osm_route_switch(in, b)->lid,
			    osm_route_switch(in, b)->lmc, 0);
		for (uint32_t i = 0; !failed && i < in->endports.n; i++) {
			const struct osm_route_endport *to = osm_route_endport(in, i);

			if (to->sw != OSM_NONE)
				put(torus, out, a, to->sw, to->lid, to->lmc, to->exit);
		}
		turns += (osm_route_switch(in, a)->n_ports + 1u) *
			 (osm_route_switch(in, a)->n_ports + 1u);
	}
	out->promises = OSM_ROUTE_DEADLOCK_FREE | OSM_ROUTE_SHORTEST;
	out->has_sls = out->has_turns = 1;
	free(torus);
	return failed;
}

static void *create(const struct osm_host *host)
{
	return (void *)host;
}

static void destroy(void *context)
{
	(void)context;
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_engine engine = {sizeof(engine), 0, "torus_turns",
						 "the same on two VLs, by turns", route};
	static const struct osm_engine *const engines[] = {&engine, NULL};
	static const struct osm_plugin plugin = {
		sizeof(plugin), OSM_PLUGIN_ABI, "torus_turns", "1",    0,
		create,		destroy,	NULL,	       engines};

	return &plugin;
}

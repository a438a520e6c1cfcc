// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The immutable result of an engine. All rows are one piece of memory: lft[0] owns it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "route/engine.h"

#define HUGE_PAGE (2u << 20)

GQuark route_error_quark(void)
{
	return g_quark_from_static_string("route-error");
}

/* Large tables are touched once, row by row: big pages spare thousands of page faults. */
static uint8_t *alloc_rows(size_t bytes)
{
	void *rows = NULL;

	if (posix_memalign(&rows, bytes < 2 * HUGE_PAGE ? 64 : HUGE_PAGE, MAX(bytes, 1)))
		g_error("no memory for %zu octets of forwarding tables", bytes);
	if (bytes >= 2 * HUGE_PAGE)
		madvise(rows, bytes, MADV_HUGEPAGE); /* a hint: refusal costs time only */
	return rows;
}

struct routing *routing_new(const struct fabric *fabric, const char *engine, unsigned int promises)
{
	struct routing *routing = g_new0(struct routing, 1);
	size_t row;
	uint8_t *rows;

	ref_init(&routing->ref);
	routing->engine = engine;
	routing->promises = promises;
	routing->n_switches = fabric->n_switches;
	routing->top = fabric->max_lid;
	routing->n_blocks = routing->top / 64 + 1;
	row = routing->n_blocks * 64;
	rows = alloc_rows(row * routing->n_switches);
	memset(rows, ROUTE_NO_PORT, row * routing->n_switches);
	routing->lft = g_new(uint8_t *, routing->n_switches + 1);
	routing->lft[0] = rows;
	for (uint32_t sw = 1; sw < routing->n_switches; sw++)
		routing->lft[sw] = rows + sw * row;
	return routing;
}

struct routing *routing_ref(struct routing *routing)
{
	ref_get(&routing->ref);
	return routing;
}

void routing_unref(struct routing *routing)
{
	if (!routing || !ref_put(&routing->ref))
		return;
	free(routing->lft[0]);
	g_free(routing->lft);
	g_free(routing->note);
	g_free(routing);
}

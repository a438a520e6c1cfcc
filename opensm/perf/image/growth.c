// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/image/growth.h"

#include <glib.h>

void perf_growth_init(struct perf_growth *growth, const struct perf_image *old,
		      const struct perf_image *new)
{
	*growth = (struct perf_growth){old, new, NULL};
	if (old && old->layout != new->layout)
		growth->old_row = perf_layout_map(old->layout, new->layout);
}

void perf_growth_clear(struct perf_growth *growth)
{
	g_free(growth->old_row);
}

/* Whether time and total went on from one reading to the next. */
static bool compare(uint64_t before, uint64_t now, uint64_t before_ns, uint64_t now_ns,
		    uint64_t *delta, uint64_t *dt_ns)
{
	if (!before_ns || now_ns <= before_ns || now < before)
		return false;
	*delta = now - before;
	*dt_ns = now_ns - before_ns;
	return true;
}

bool perf_growth_counter(const struct perf_growth *growth, uint32_t row, unsigned int counter,
			 uint64_t *delta, uint64_t *dt_ns)
{
	const struct perf_image *old = growth->old, *new = growth->new;
	uint32_t before = perf_growth_old_row(growth, row);

	if (before == PERF_NONE || !(new->flags[row] & PERF_READ) ||
	    new->flags[row] & PERF_BASELINE || !(new->have[row] & 1u << counter))
		return false;
	return compare(old->total[counter][before], new->total[counter][row], old->read_ns[before],
		       new->read_ns[row], delta, dt_ns);
}

/*
 * Details begin at 0 when they are first read, and images leave out those that are all 0: what old
 * does not have was 0 when its counters were read.
 */
bool perf_growth_detail(const struct perf_growth *growth, uint32_t row, unsigned int detail,
			uint64_t *delta, uint64_t *dt_ns)
{
	uint32_t before = perf_growth_old_row(growth, row), bit = UINT32_C(1) << detail;
	const struct perf_detail_row *old, *new;
	bool was;

	if (before == PERF_NONE || growth->new->flags[row] & PERF_BASELINE)
		return false;
	old = perf_image_details(growth->old, before);
	new = perf_image_details(growth->new, row);
	if (!new || !(new->have & bit))
		return false;
	was = old && old->have & bit;
	return compare(was ? old->total[detail] : 0, new->total[detail],
		       was ? old->read_ns : growth->old->read_ns[before], new->read_ns, delta,
		       dt_ns);
}

uint64_t perf_growth_by(const struct perf_growth *growth, uint32_t row, unsigned int counter)
{
	uint64_t delta, dt_ns;

	return perf_growth_counter(growth, row, counter, &delta, &dt_ns) ? delta : 0;
}

uint64_t perf_growth_detail_by(const struct perf_growth *growth, uint32_t row, unsigned int detail)
{
	uint64_t delta, dt_ns;

	return perf_growth_detail(growth, row, detail, &delta, &dt_ns) ? delta : 0;
}

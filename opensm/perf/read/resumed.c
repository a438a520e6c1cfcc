// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Accounts over a restart of the daemon: what was counted in between is in the difference to the
 * last reading of the process before. Agents are asked again what they can do, as they may have
 * restarted, too.
 */
#include <string.h>

#include "perf/disk/resume.h"
#include "perf/perf_private.h"

/* Times of readings in the clock of another process, and back; 0: never. */
static int64_t wall_us(const struct perf *perf, uint64_t ns)
{
	return ns ? perf->epoch_us + (int64_t)(ns / NS_PER_US) : 0;
}

static uint64_t runtime_ns(const struct perf *perf, int64_t us)
{
	if (!us)
		return 0;
	return us <= perf->epoch_us ? 1 : (uint64_t)(us - perf->epoch_us) * NS_PER_US;
}

static int compare_rows(const void *a, const void *b)
{
	const struct perf_resume_detail *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

static void save_details(const struct perf *perf, struct perf_resume *resume)
{
	GHashTableIter iter;
	void *row, *value;
	uint32_t n = 0;

	g_hash_table_iter_init(&iter, perf->accounts->details);
	while (g_hash_table_iter_next(&iter, &row, &value)) {
		const struct perf_detail_last *last = value;
		struct perf_resume_detail *to = &resume->details[n++];

		to->row = GPOINTER_TO_UINT(row);
		to->have = last->have;
		to->at_least = last->at_least;
		to->read_us = wall_us(perf, last->read_ns);
		memcpy(to->absolute, last->value, sizeof(to->absolute));
		memcpy(to->total, last->total, sizeof(to->total));
	}
	if (n)
		qsort(resume->details, n, sizeof(*resume->details), compare_rows);
}

struct perf_resume *resumed_save(const struct perf *perf)
{
	const struct perf_accounts *accounts = perf->accounts;
	const struct perf_image *now = accounts->now;
	uint32_t n = now->layout->n_rows;
	struct perf_resume *resume =
		perf_resume_new(now->layout, g_hash_table_size(accounts->details));

	resume->id = perf->last_id;
	resume->saved_us = perf_wall_us(perf);
	for (int i = 0; i < PERF_COUNTERS; i++) {
		memcpy(resume->absolute[i], accounts->last[i], n * sizeof(**resume->absolute));
		memcpy(resume->total[i], now->total[i], n * sizeof(**resume->total));
	}
	for (uint32_t row = 0; row < n; row++) {
		resume->read_us[row] = wall_us(perf, now->read_ns[row]);
		resume->flags[row] = now->flags[row] & PERF_EVER;
	}
	memcpy(resume->at_least, now->at_least, n * sizeof(*resume->at_least));
	memcpy(resume->have, now->have, n * sizeof(*resume->have));
	memcpy(resume->wide, accounts->wide, n * sizeof(*resume->wide));
	save_details(perf, resume);
	return resume;
}

static void load_details(const struct perf *perf, struct perf_accounts *accounts,
			 const struct perf_resume *resume)
{
	for (uint32_t i = 0; i < resume->n_details; i++) {
		const struct perf_resume_detail *from = &resume->details[i];
		struct perf_detail_last *to = g_new0(struct perf_detail_last, 1);

		to->have = from->have;
		to->at_least = from->at_least;
		to->read_ns = runtime_ns(perf, from->read_us);
		memcpy(to->value, from->absolute, sizeof(to->value));
		memcpy(to->total, from->total, sizeof(to->total));
		g_hash_table_insert(accounts->details, GUINT_TO_POINTER(from->row), to);
	}
}

static struct perf_accounts *load(const struct perf *perf, const struct perf_resume *resume)
{
	struct perf_accounts *accounts = perf_accounts_new(resume->layout);
	struct perf_image *now = accounts->now;
	uint32_t n = resume->layout->n_rows;

	for (int i = 0; i < PERF_COUNTERS; i++) {
		memcpy(accounts->last[i], resume->absolute[i], n * sizeof(**resume->absolute));
		memcpy(now->total[i], resume->total[i], n * sizeof(**resume->total));
	}
	for (uint32_t row = 0; row < n; row++) {
		now->read_ns[row] = runtime_ns(perf, resume->read_us[row]);
		now->flags[row] = resume->flags[row] & PERF_EVER;
	}
	memcpy(now->at_least, resume->at_least, n * sizeof(*resume->at_least));
	memcpy(now->have, resume->have, n * sizeof(*resume->have));
	memcpy(accounts->wide, resume->wide, n * sizeof(*resume->wide));
	load_details(perf, accounts, resume);
	return accounts;
}

void resumed_take(struct perf *perf)
{
	struct perf_resume *resume;

	if (!perf->directory)
		return;
	resume = perf_resume_take(perf->context->log, perf->directory);
	perf->last_id = perf_history_last_id(perf->directory);
	if (!resume)
		return;
	perf->accounts = load(perf, resume);
	perf->resumed = true;
	perf->last_id = MAX(perf->last_id, resume->id);
	perf_resume_free(resume);
}

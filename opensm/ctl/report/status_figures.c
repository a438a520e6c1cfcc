// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Figures of the status command: every counter, the durations of sweep steps and SA answers, and
 * the time since the subnet changed.
 */
#include "ctl/report/status_figures.h"

#include <inttypes.h>
#include <string.h>

#include "iba/attributes.h"
#include "iba/constants.h"

static const char *const step_names[] = {
#define STEP(name, function, kinds, text) #name,
#include "sm/steps.def"
#undef STEP
};

static const struct counter_row {
	const char *name, *help;
} counter_rows[] = {
#define COUNTER(name, kind, help) {#name, help},
#include "core/counters.def"
#undef COUNTER
};

/* ---- as an answer ---- */

/* No row if it never happened. */
static void add_timing(GVariantBuilder *list, const char *key, const char *name,
		       const struct timing *timing)
{
	uint64_t n = atomic_load_explicit(&timing->n, memory_order_relaxed);
	uint64_t sum = atomic_load_explicit(&timing->sum_ns, memory_order_relaxed);
	GVariantBuilder row;

	if (!n)
		return;
	answer_begin(&row);
	answer_text(&row, key, name);
	answer_number(&row, "times", n);
	answer_number(&row, "last_us", atomic_load(&timing->last_ns) / 1000);
	answer_number(&row, "mean_us", sum / n / 1000);
	answer_number(&row, "longest_us", atomic_load(&timing->max_ns) / 1000);
	answer_append(list, &row);
}

static void add_steps(const struct context *context, GVariantBuilder *builder)
{
	GVariantBuilder list;

	answer_begin_list(&list);
	for (unsigned int i = 0; i < G_N_ELEMENTS(step_names); i++)
		add_timing(&list, "step", step_names[i], &context->steps[i]);
	answer_member(builder, "steps", &list);
}

static void add_answers(const struct context *context, GVariantBuilder *builder)
{
	GVariantBuilder list;

	answer_begin_list(&list);
	for (unsigned int i = 0; i < CONTEXT_ATTRIBUTES; i++) {
		const char *name = iba_attribute_name(IBA_CLASS_SUBN_ADM, (uint16_t)i);
		g_autofree char *number = g_strdup_printf("0x%02x", i);

		add_timing(&list, "attribute", name ? name : number, &context->sa_answers[i]);
	}
	answer_member(builder, "sa_latency", &list);
}

static void add_counters(const struct counters *counters, GVariantBuilder *builder)
{
	GVariantBuilder all;

	answer_begin(&all);
#define COUNTER(name, kind, help) answer_number(&all, #name, counter_get(counters, name));
#include "core/counters.def"
#undef COUNTER
	answer_member(builder, "counters", &all);
}

void status_add_figures(const struct context *context, const struct journal *journal,
			GVariantBuilder *builder)
{
	uint64_t ago;

	if (journal && journal_last_change(journal, &ago))
		answer_number(builder, "seconds_since_change", ago);
	add_steps(context, builder);
	add_answers(context, builder);
	add_counters(&context->counters, builder);
}

/* ---- in words ---- */

static void print_timing(GVariant *row, GString *out)
{
	const char *step = answer_get_text(row, "step");

	g_string_append_printf(out, "   %-31s: %" PRIu64 " times, last %.3f, mean %.3f, longest "
			       "%.3f ms\n", *step ? step : answer_get_text(row, "attribute"),
			       answer_get_number(row, "times"),
			       answer_get_number(row, "last_us") / 1000.0,
			       answer_get_number(row, "mean_us") / 1000.0,
			       answer_get_number(row, "longest_us") / 1000.0);
}

static void print_list(GVariant *answer, const char *key, const char *title, GString *out)
{
	g_autoptr(GVariant) list = answer_get(answer, key);

	if (!list || !g_variant_n_children(list))
		return;
	g_string_append_printf(out, "\n   %s\n   %.*s\n", title, (int)strlen(title),
			       "--------------------");
	answer_each(answer, key, print_timing, out);
}

/* Zero counters are only in the JSON. */
static void print_counters(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) all = answer_get(answer, "counters");

	g_string_append(out, "\n   All Counters\n   ------------\n");
	for (unsigned int i = 0; all && i < G_N_ELEMENTS(counter_rows); i++) {
		const struct counter_row *row = &counter_rows[i];
		uint64_t value = answer_get_number(all, row->name);

		if (value)
			g_string_append_printf(out, "   %-31s: %" PRIu64 " (%s)\n", row->name,
					       value, row->help);
	}
}

void status_print_figures(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) since = answer_get(answer, "seconds_since_change");

	if (since)
		g_string_append_printf(out, "\n   %-31s: %" PRIu64 "\n",
				       "Seconds since the last change",
				       g_variant_get_uint64(since));
	print_list(answer, "steps", "Steps of Sweeps", out);
	print_list(answer, "sa_latency", "Answers of the SA", out);
	print_counters(answer, out);
}

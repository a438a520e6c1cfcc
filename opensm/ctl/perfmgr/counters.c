// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The counters of ports. In the answer they have the names of the IBA, and only those are there
 * that the port has; the text is that of the classic daemon, which shows a missing one as 0.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/perfmgr/target.h"
#include "ctl/perfmgr/word.h"
#include "perf/image/record.h"

/* ---- the answer ---- */

static void add_flags(GVariantBuilder *row, uint16_t flags)
{
	static const struct {
		uint16_t flag;
		const char *word;
	} words[] = {
		{PERF_READ, "read"},	       {PERF_BASELINE, "baseline"},
		{PERF_SILENT, "silent"},       {PERF_REFUSED, "refused"},
		{PERF_RESET, "reset"},	       {PERF_CLEARED, "cleared"},
		{PERF_SATURATED, "saturated"}, {PERF_RESTARTED, "restarted"},
		{PERF_DOWN, "down"},	       {PERF_NARROW, "narrow"},
	};
	GVariantBuilder list;

	g_variant_builder_init(&list, G_VARIANT_TYPE_STRING_ARRAY);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (flags & words[i].flag)
			g_variant_builder_add(&list, "s", words[i].word);
	answer_member(row, "flags", &list);
}

static void add_names(GVariantBuilder *row, const char *key, uint32_t counters)
{
	GVariantBuilder list;

	g_variant_builder_init(&list, G_VARIANT_TYPE_STRING_ARRAY);
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (counters & 1u << i)
			g_variant_builder_add(&list, "s", perf_counter_info[i].iba);
	answer_member(row, key, &list);
}

static bool is_error(int counter)
{
	return perf_counter_info[counter].kind == PERF_ERROR ||
	       perf_counter_info[counter].kind == PERF_WAIT;
}

static void add_totals(GVariantBuilder *row, const struct perf_image *image, uint32_t at,
		       const struct perf_record *record, bool only_errors)
{
	GVariantBuilder counters;

	answer_begin(&counters);
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (only_errors ? is_error(i) && record->total[i] : image->have[at] >> i & 1)
			answer_number(&counters, perf_counter_info[i].iba, record->total[i]);
	answer_member(row, "counters", &counters);
}

static void add_details(GVariantBuilder *row, const struct perf_image *image, uint32_t at)
{
	const struct perf_detail_row *details = perf_image_details(image, at);
	GVariantBuilder list;

	if (!details)
		return;
	answer_begin(&list);
	for (int i = 0; i < PERF_DETAILS; i++)
		if (details->have >> i & 1)
			answer_number(&list, perf_detail_info[i].iba, details->total[i]);
	answer_member(row, "details", &list);
}

static void add_port(GVariantBuilder *list, const struct perf_image *image, uint32_t at,
		     const struct perf_record *record, bool only_errors)
{
	const struct perf_node *node = perf_layout_node_of(image->layout, at);
	GVariantBuilder builder;
	GVariant *row;

	answer_begin(&builder);
	answer_text(&builder, "node", record->name);
	answer_text(&builder, "description", node->description ? node->description : record->name);
	answer_guid(&builder, "guid", record->guid);
	answer_number(&builder, "port", record->port);
	answer_flag(&builder, "active", record->active);
	answer_number(&builder, "since", (uint64_t)record->since);
	answer_number(&builder, "read", (uint64_t)record->read);
	add_totals(&builder, image, at, record, only_errors);
	if (!only_errors)
		add_details(&builder, image, at);
	add_names(&builder, "at_least", image->at_least[at]);
	add_flags(&builder, image->flags[at]);
	row = g_variant_builder_end(&builder);
	/* As one block of memory instead of a tree, as there may be 100,000 of them. */
	g_variant_get_data(row);
	g_variant_builder_add_value(list, row);
}

static bool show(struct perfmgr_call *call, GVariantBuilder *answer, bool only_errors,
		 GError **error)
{
	struct perfmgr_target target;
	g_autofree char *why = NULL;
	GVariantBuilder ports;

	if (!perfmgr_target_find(&target, call->image ? call->image->layout : NULL, call->words,
				 &why)) {
		perfmgr_target_clear(&target);
		return perfmgr_fail(error, PERFMGR_ERROR_FAILED, "%s", why);
	}
	answer_begin_list(&ports);
	for (guint i = 0; i < target.rows->len; i++) {
		uint32_t row = g_array_index(target.rows, uint32_t, i);
		struct perf_record record;

		if (perf_record_of(&record, call->image, row) &&
		    (!only_errors || perf_record_has_errors(&record)))
			add_port(&ports, call->image, row, &record, only_errors);
	}
	if (call->image) {
		answer_number(answer, "image", call->image->id);
		answer_number(answer, "time_us", (uint64_t)call->image->ended_us);
	}
	if (target.warning)
		answer_text(answer, "warning", target.warning);
	answer_member(answer, "ports", &ports);
	perfmgr_target_clear(&target);
	return true;
}

bool perfmgr_counters(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	return show(call, answer, false, error);
}

bool perfmgr_errors(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	return show(call, answer, true, error);
}

/* ---- as the classic daemon prints it ---- */

static void read_record(GVariant *row, struct perf_record *record)
{
	g_autoptr(GVariant) counters = answer_get(row, "counters");

	*record = (struct perf_record){
		.name = answer_get_text(row, "node"),
		.guid = g_ascii_strtoull(answer_get_text(row, "guid"), NULL, 16),
		.active = answer_get_flag(row, "active"),
		.port = (uint8_t)answer_get_number(row, "port"),
		.since = (int64_t)answer_get_number(row, "since"),
		.read = (int64_t)answer_get_number(row, "read"),
	};
	for (int i = 0; i < PERF_COUNTERS; i++)
		record->total[i] = answer_get_number(counters, perf_counter_info[i].iba);
}

static void print_port(GVariant *row, GString *out)
{
	struct perf_record record;

	read_record(row, &record);
	perf_record_print(&record, out);
}

static void print_port_errors(GVariant *row, GString *out)
{
	struct perf_record record;

	read_record(row, &record);
	perf_record_print_errors(&record, out);
}

static void print_warning(GVariant *answer, GString *out)
{
	const char *warning = answer_get_text(answer, "warning");

	if (*warning)
		g_string_append_printf(out, "%s\n", warning);
}

void perfmgr_print_counters(GVariant *answer, GString *out)
{
	print_warning(answer, out);
	answer_each(answer, "ports", print_port, out);
}

void perfmgr_print_errors(GVariant *answer, GString *out)
{
	print_warning(answer, out);
	answer_each(answer, "ports", print_port_errors, out);
}

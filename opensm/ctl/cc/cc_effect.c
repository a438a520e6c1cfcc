// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What ports counted before and after the last change of settings: two windows of images, which do
 * not overlap with the round that carried out the change.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/cc/cc_view.h"
#include "ctl/perfmgr/figures.h"
#include "ctl/perfmgr/window.h"

/* ---- what is measured ---- */

/* Found by name, so that a counter that the performance manager learns to read is shown at once. */
static const char *const names[] = {
	"XmitWaitShare", "rate", "PortPktRcvFECN/s", "PortPktRcvBECN/s", "PortXmitTimeCong/s",
};
#define VALUES G_N_ELEMENTS(names)

/* False: the performance manager does not read it. */
static bool value_of(unsigned int i, struct perf_value *value)
{
	return figures_value(names[i], value);
}

static uint64_t columns(void)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < VALUES; i++) {
		struct perf_value value;

		if (value_of(i, &value))
			bits |= PERF_BIT(value.column);
	}
	return bits;
}

/* ---- groups ---- */

enum group { HOSTS, SWITCHES_TO_HOSTS, SWITCHES_TO_SWITCHES, GROUPS };
static const char *const group_names[GROUPS] = {
	[HOSTS] = "hosts",
	[SWITCHES_TO_HOSTS] = "switch ports to hosts",
	[SWITCHES_TO_SWITCHES] = "switch ports to switches",
};

/* GROUPS: a port without a link, or port 0. */
static enum group group_of(const struct perf_layout *layout, uint32_t row)
{
	const struct perf_place *place = &layout->places[row];

	if (!place->rate || !place->port)
		return GROUPS;
	if (perf_layout_node_of(layout, row)->type != IBA_NODE_SWITCH)
		return HOSTS;
	return place->to_switch ? SWITCHES_TO_SWITCHES : SWITCHES_TO_HOSTS;
}

/* ---- windows ---- */

struct tally {
	uint32_t ports; /* that have the counter, and were read twice */
	double sum, most;
	bool at_least;
};

static void measure(const struct perf_fold *fold, uint32_t row, struct tally tallies[VALUES])
{
	for (unsigned int i = 0; i < VALUES; i++) {
		struct perf_measure measure;
		struct perf_value value;

		if (!value_of(i, &value))
			continue;
		perf_fold_measure(fold, row, value, &measure);
		if (measure.flags & (PERF_UNKNOWN | PERF_UNTIMED))
			continue;
		tallies[i].ports++;
		tallies[i].sum += measure.value;
		tallies[i].most = MAX(tallies[i].most, measure.value);
		tallies[i].at_least |= (measure.flags & PERF_AT_LEAST) != 0;
	}
}

static void add_tally(GVariantBuilder *list, unsigned int i, const struct tally *tally)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "value", names[i]);
	answer_number(&row, "ports", tally->ports);
	if (tally->ports) {
		answer_value(&row, "mean", g_variant_new_double(tally->sum / tally->ports));
		answer_value(&row, "most", g_variant_new_double(tally->most));
		answer_flag(&row, "at_least", tally->at_least);
	}
	answer_append(list, &row);
}

static void add_group(GVariantBuilder *list, const struct perf_fold *fold, enum group group)
{
	struct tally tallies[VALUES] = {0};
	const struct perf_layout *layout = fold->layout;
	struct perf_value value;
	GVariantBuilder row, values;
	uint32_t ports = 0;

	for (uint32_t i = 0; layout && i < layout->n_rows; i++) {
		if (group_of(layout, i) != group)
			continue;
		ports++;
		measure(fold, i, tallies);
	}
	answer_begin(&row);
	answer_text(&row, "group", group_names[group]);
	answer_number(&row, "ports", ports);
	answer_begin_list(&values);
	for (unsigned int i = 0; i < VALUES; i++)
		if (value_of(i, &value))
			add_tally(&values, i, &tallies[i]);
	answer_member(&row, "values", &values);
	answer_append(list, &row);
}

static void add_window(GVariantBuilder *answer, const char *key, const struct perf_fold *fold)
{
	GVariantBuilder window, groups;

	answer_begin(&window);
	answer_number(&window, "images", fold->n_images);
	if (fold->n_images) {
		answer_number(&window, "since_us", (uint64_t)fold->since_us);
		answer_number(&window, "until_us", (uint64_t)fold->until_us);
	}
	answer_begin_list(&groups);
	for (unsigned int group = 0; group < GROUPS; group++)
		add_group(&groups, fold, group);
	answer_member(&window, "groups", &groups);
	answer_member(answer, key, &window);
}

/* ---- before, and after ---- */

static bool is_before(const struct perf_image *image, const struct cc_report *report)
{
	return image->run || image->ended_ns <= report->change_began_ns;
}

static bool is_after(const struct perf_image *image, const struct cc_report *report)
{
	return !image->run && image->began_ns >= report->changed_ns;
}

/* When the change began, by the clock of the images. */
static int64_t change_us(const struct perf_image *image, const struct cc_report *report)
{
	if (image->run)
		return report->changed_us;
	return image->ended_us -
	       (int64_t)(image->ended_ns - report->change_began_ns) / (int64_t)NS_PER_US;
}

/* Images of memory within a window that ends with the last one before the change. */
static void fold_before(const struct cc_report *report, const struct perf_images *images,
			int64_t since_us, struct perf_fold *fold)
{
	for (unsigned int i = 0; i < images->n; i++)
		if (is_before(images->images[i], report) && images->images[i]->ended_us >= since_us)
			perf_fold_add(fold, images->images[i]);
}

/* The first image in memory is not early enough. */
static bool wants_files(const struct cc_report *report, const struct perf_images *images,
			uint64_t window_ns)
{
	const struct perf_image *first = images->images[0];

	return !is_before(first, report) ||
	       (!first->run && first->ended_ns + window_ns > report->change_began_ns);
}

static bool before(const struct cc_view *view, struct perfmgr_call *counters, uint64_t window_ns,
		   struct perf_fold *fold, struct perf_history_read *read)
{
	int64_t until_us = change_us(counters->image, view->report);
	int64_t since_us = until_us - (int64_t)(window_ns / NS_PER_US);
	const char *directory;
	uint64_t run;

	if (wants_files(view->report, counters->images, window_ns) &&
	    perfmgr_may_read(counters, read, &directory, &run))
		perf_history_fold(directory, run, since_us,
				  MIN(until_us, counters->images->images[0]->ended_us), fold, read);
	if (counters->needs_files)
		return false;
	fold_before(view->report, counters->images, since_us, fold);
	return true;
}

/* The latest images in memory: what is on disk may begin before the change. */
static void after(const struct cc_view *view, const struct perf_images *images, uint64_t window_ns,
		  struct perf_fold *fold)
{
	const struct perf_image *last = perf_images_last(images);

	for (unsigned int i = 0; i < images->n; i++) {
		const struct perf_image *image = images->images[i];

		if (is_after(image, view->report) && image->ended_ns + window_ns >= last->ended_ns)
			perf_fold_add(fold, image);
	}
}

/* Counters of the annex that the performance manager does not read. */
static void add_unread(GVariantBuilder *answer)
{
	GVariantBuilder list;

	g_variant_builder_init(&list, G_VARIANT_TYPE_STRING_ARRAY);
	for (unsigned int i = 0; i < VALUES; i++) {
		struct perf_value value;

		if (!value_of(i, &value))
			g_variant_builder_add(&list, "s", names[i]);
	}
	answer_member(answer, "not_read", &list);
}

static void add_change(GVariantBuilder *answer, const struct cc_report *report)
{
	answer_flag(answer, "on", report->on);
	answer_number(answer, "changed_us", (uint64_t)report->changed_us);
	answer_flag(answer, "first_round", report->is_first);
}

bool cc_view_effect(const struct cc_view *view, struct perfmgr_call *counters, uint64_t window_ns,
		    GVariantBuilder *answer)
{
	struct perf_fold *folds[2] = {perf_fold_new(columns()), perf_fold_new(columns())};
	struct perf_history_read read = {0};
	bool good = true;

	answer_flag(answer, "known", view->report != NULL);
	answer_flag(answer, "counters", counters->image != NULL);
	if (view->report && counters->image) {
		good = before(view, counters, window_ns, folds[0], &read);
		after(view, counters->images, window_ns, folds[1]);
	}
	if (view->report)
		add_change(answer, view->report);
	add_window(answer, "before", folds[0]);
	add_window(answer, "after", folds[1]);
	add_unread(answer);
	answer_number(answer, "files", read.files);
	answer_number(answer, "files_skipped", read.skipped);
	if (read.why)
		answer_text(answer, "why_skipped", read.why);
	perf_history_read_clear(&read);
	perf_fold_free(folds[0]);
	perf_fold_free(folds[1]);
	return good;
}

/* ---- in words ---- */

static char *amount(const char *value, GVariant *row, const char *key)
{
	double number = answer_get_real(row, key);

	if (!answer_get_number(row, "ports"))
		return g_strdup("-");
	if (!strcmp(value, "XmitWaitShare"))
		return g_strdup_printf("%.2f %%", number * 100);
	return figures_scaled(number, strcmp(value, "rate") != 0 ? "/s" : "B/s");
}

static void print_value(const char *group, GVariant *before, GVariant *after, GString *out)
{
	const char *value = answer_get_text(after, "value");
	g_autofree char *mean_before = amount(value, before, "mean");
	g_autofree char *mean_after = amount(value, after, "mean");
	g_autofree char *most_before = amount(value, before, "most");
	g_autofree char *most_after = amount(value, after, "most");

	g_string_append_printf(out, "%-25s %-18s %12s %12s %12s %12s %7" PRIu64 "\n", group, value,
			       mean_before, mean_after, most_before, most_after,
			       answer_get_number(after, "ports"));
}

/* Groups, and values of a group, are in one order in both windows. */
static void print_group(GVariant *before, GVariant *after, GString *out)
{
	g_autoptr(GVariant) old = answer_get(before, "values");
	g_autoptr(GVariant) new = answer_get(after, "values");

	for (gsize i = 0; i < g_variant_n_children(new); i++) {
		g_autoptr(GVariant) a = g_variant_get_child_value(old, i);
		g_autoptr(GVariant) b = g_variant_get_child_value(new, i);

		print_value(answer_get_text(after, "group"), a, b, out);
	}
}

static void print_window(GVariant *window, const char *name, GString *out)
{
	uint64_t images = answer_get_number(window, "images");
	g_autofree char *since = figures_time(answer_get_number(window, "since_us"));
	g_autofree char *until = figures_time(answer_get_number(window, "until_us"));

	if (images < 2)
		g_string_append_printf(out,
				       "%s: %s; at least two sweeps of the counters are "
				       "needed\n",
				       name, images ? "one sweep" : "none");
	else
		g_string_append_printf(out, "%s: %s to %s, %" PRIu64 " sweeps\n", name, since,
				       until, images);
}

static void print_not_read(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) list = answer_get(answer, "not_read");

	for (gsize i = 0; i < g_variant_n_children(list); i++) {
		const char *name;

		g_variant_get_child(list, i, "&s", &name);
		g_string_append_printf(out, "%s%.*s",
				       i ? ", "
					 : "not read by the performance "
					   "manager: ",
				       (int)strcspn(name, "/"), name);
	}
	if (g_variant_n_children(list))
		g_string_append_c(out, '\n');
}

void cc_print_effect(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) before = answer_get(answer, "before");
	g_autoptr(GVariant) after = answer_get(answer, "after");
	g_autoptr(GVariant) old = answer_get(before, "groups"), new = answer_get(after, "groups");
	g_autofree char *changed = figures_time(answer_get_number(answer, "changed_us"));

	if (!answer_get_flag(answer, "known")) {
		g_string_append(out, "congestion control has not been on since the start\n");
		return;
	}
	g_string_append_printf(out, "last change of settings: %s, since when it is %s%s\n", changed,
			       answer_get_flag(answer, "on") ? "on" : "off",
			       answer_get_flag(answer, "first_round")
				       ? " (the first round since the start of the daemon)"
				       : "");
	if (!answer_get_flag(answer, "counters")) {
		g_string_append(out, "there are no counters: perfmgr is FALSE, or no sweep of the "
				     "counters has ended yet\n");
		return;
	}
	print_window(before, "before", out);
	print_window(after, "after", out);
	if (answer_get_number(answer, "files_skipped"))
		g_string_append_printf(out, "%" PRIu64 " files could not be used: %s\n",
				       answer_get_number(answer, "files_skipped"),
				       answer_get_text(answer, "why_skipped"));
	g_string_append_printf(out, "%-25s %-18s %12s %12s %12s %12s %7s\n", "GROUP", "VALUE",
			       "MEAN BEFORE", "MEAN AFTER", "MOST BEFORE", "MOST AFTER", "PORTS");
	for (gsize i = 0; i < g_variant_n_children(new); i++) {
		g_autoptr(GVariant) a = g_variant_get_child_value(old, i);
		g_autoptr(GVariant) b = g_variant_get_child_value(new, i);

		print_group(a, b, out);
	}
	print_not_read(answer, out);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What one port counted, image by image; and both ends of its cable. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ctl/perfmgr/figures.h"
#include "ctl/perfmgr/target.h"
#include "ctl/perfmgr/window.h"

#define US_PER_HOUR INT64_C(3600000000)
#define MAX_HOURS 8760

/*
 * The one port that the first word names: NODE:PORT, or NODE if it has only one. Takes it off the
 * words, together with a second one if the colon stands behind a quoted name.
 */
static bool find_port(struct perfmgr_call *call, uint32_t *row, GError **error)
{
	bool apart = call->n > 1 && call->words[1][0] == ':';
	char *words[] = {call->words[0], apart ? call->words[1] : NULL, NULL};
	struct perfmgr_target target;
	g_autofree char *why = NULL;
	bool found = false;

	if (!call->n)
		return perfmgr_fail(error, PERFMGR_ERROR_USAGE, "expected NODE:PORT");
	if (!perfmgr_target_find(&target, call->image ? call->image->layout : NULL, words, &why))
		perfmgr_fail(error, PERFMGR_ERROR_FAILED, "%s", why);
	else if (target.warning)
		perfmgr_fail(error, PERFMGR_ERROR_FAILED, "%s", target.warning);
	else if (target.rows->len != 1)
		perfmgr_fail(error, PERFMGR_ERROR_FAILED, "'%s' has %u ports: expected NODE:PORT",
			     call->words[0], target.rows->len);
	else
		found = true;
	if (found) {
		*row = g_array_index(target.rows, uint32_t, 0);
		call->n -= apart ? 2 : 1;
		call->words += apart ? 2 : 1;
	}
	perfmgr_target_clear(&target);
	return found;
}

/* ---- history ---- */

static bool parse_history(const struct perfmgr_call *call, struct perf_value *value,
			  uint64_t *hours, GError **error)
{
	figures_value("rate", value);
	*hours = 0;
	for (unsigned int i = 0; i < call->n; i++) {
		guint64 number;

		if (g_ascii_string_to_unsigned(call->words[i], 10, 1, MAX_HOURS, &number, NULL))
			*hours = number;
		else if (!figures_value(call->words[i], value))
			return perfmgr_fail(error, PERFMGR_ERROR_USAGE,
					    "'%s': expected a counter, rate, utilization, wait or "
					    "ber, or a number of hours from 1 to %d",
					    call->words[i], MAX_HOURS);
	}
	return true;
}

static void add_points(GVariantBuilder *answer, const struct perf_series *series)
{
	GVariantBuilder list, row;

	answer_begin_list(&list);
	for (guint i = 0; i < series->points->len; i++) {
		const struct perf_point *point =
			&g_array_index(series->points, struct perf_point, i);

		answer_begin(&row);
		answer_number(&row, "time_us", (uint64_t)point->us);
		figures_add_measure(&row, &point->measure);
		answer_append(&list, &row);
	}
	answer_member(answer, "points", &list);
}

bool perfmgr_history(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	struct perf_history_read read = {0};
	const struct perf_layout *layout;
	struct perf_series series;
	struct perf_value value;
	const char *directory;
	uint64_t hours, run, guid;
	uint32_t row;

	if (!find_port(call, &row, error) || !parse_history(call, &value, &hours, error))
		return false;
	layout = call->image->layout;
	guid = perf_layout_node_of(layout, row)->guid;
	perf_series_init(&series, value);
	if (hours && perfmgr_may_read(call, &read, &directory, &run))
		perf_history_series(directory, run, guid, layout->places[row].port,
				    call->image->ended_us - (int64_t)hours * US_PER_HOUR,
				    call->images->images[0]->ended_us, &series, &read);
	if (call->needs_files) {
		perf_series_clear(&series);
		return false;
	}
	perf_series_add_ring(&series, call->images, guid, layout->places[row].port);
	figures_add_port(answer, call->images, layout, row);
	figures_add_value(answer, value);
	answer_number(answer, "files", read.files);
	answer_number(answer, "files_skipped", read.skipped);
	if (read.why)
		answer_text(answer, "why_skipped", read.why);
	add_points(answer, &series);
	perf_history_read_clear(&read);
	perf_series_clear(&series);
	return true;
}

void perfmgr_print_history(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) points = answer_get(answer, "points");

	g_string_append_printf(out, "%s of ", answer_get_text(answer, "of"));
	figures_print_port(answer, "node", "port", 0, out);
	g_string_append(out, "connected to ");
	figures_print_port(answer, "peer", "peer_port", 0, out);
	g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
	if (answer_get_number(answer, "files_skipped"))
		g_string_append_printf(out, "%" PRIu64 " files could not be used: %s\n",
				       answer_get_number(answer, "files_skipped"),
				       answer_get_text(answer, "why_skipped"));
	for (gsize i = 0; i < g_variant_n_children(points); i++) {
		g_autoptr(GVariant) point = g_variant_get_child_value(points, i);
		g_autofree char *when = figures_time(answer_get_number(point, "time_us"));
		g_autofree char *value = figures_text(answer, point);

		g_string_append_printf(out, "%s  %s\n", when, value);
	}
}

/* ---- both ends of a cable ---- */

static void add_end(GVariantBuilder *list, const struct perf_images *images, struct perf_far port,
		    const struct perf_cable *cable, unsigned int end)
{
	GVariantBuilder row, counters;

	answer_begin(&row);
	figures_add_port(&row, images, port.layout, port.row);
	answer_begin(&counters);
	for (unsigned int i = 0; i < PERF_COLUMNS; i++) {
		g_autofree char *name = perf_value_name((struct perf_value){PERF_COUNT, i});
		GVariantBuilder measure;

		if (cable->count[end][i].flags & PERF_UNKNOWN)
			continue;
		answer_begin(&measure);
		figures_add_measure(&measure, &cable->count[end][i]);
		answer_member(&counters, name, &measure);
	}
	answer_member(&row, "counters", &counters);
	if (isfinite(cable->octets_s_lost[end]))
		answer_value(&row, "octets_lost_per_second",
			     g_variant_new_double(cable->octets_s_lost[end]));
	if (isfinite(cable->packets_s_lost[end]))
		answer_value(&row, "packets_lost_per_second",
			     g_variant_new_double(cable->packets_s_lost[end]));
	answer_append(list, &row);
}

/* The row of a port that another layout knows; PERF_NONE: the node is not there any more. */
static uint32_t row_now(const struct perf_layout *layout, struct perf_far port)
{
	return perf_layout_row(layout, perf_layout_node_of(port.layout, port.row)->guid,
			       port.layout->places[port.row].port);
}

/* A cable that was pulled is shown with the ports that it connected. */
static bool add_cable(struct perfmgr_call *call, const struct perf_fold *fold, uint32_t row,
		      GVariantBuilder *answer, GError **error)
{
	struct perf_far near = {fold->layout, row};
	struct perf_far far = perf_images_far(call->images, fold->layout, row);
	struct perf_cable cable;
	GVariantBuilder ends;

	if (far.row == PERF_NONE)
		return perfmgr_fail(error, PERFMGR_ERROR_FAILED,
				    "it is not known what is at the other end of the cable");
	perf_fold_cable(fold, row, row_now(fold->layout, far), &cable);
	if (fold->layout->places[row].peer == PERF_NONE)
		answer_flag(answer, "link_down", true);
	answer_begin_list(&ends);
	add_end(&ends, call->images, near, &cable, 0);
	add_end(&ends, call->images, far, &cable, 1);
	answer_member(answer, "ends", &ends);
	return true;
}

bool perfmgr_cable(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	uint64_t window = 0;
	struct perf_history_read read;
	struct perf_fold *fold;
	uint32_t row;
	bool whole, done;

	if (!find_port(call, &row, error))
		return false;
	if (call->n > 1 || (call->n && !figures_window(call->words[0], &window)))
		return perfmgr_fail(error, PERFMGR_ERROR_USAGE,
				    "'%s': expected a time such as 90s, 5m, 6h or 2d",
				    call->words[call->n - 1]);
	fold = perf_fold_new(PERF_ALL_COLUMNS);
	done = perfmgr_window(call, window, fold, &read, &whole) &&
	       add_cable(call, fold, row, answer, error);
	if (done)
		perfmgr_add_window(answer, fold, whole, &read);
	else if (!call->needs_files)
		perf_history_read_clear(&read);
	perf_fold_free(fold);
	return done;
}

/* Its count, or "-" where the port has no such counter; newly allocated. */
static char *count_text(GVariant *counters, const char *name)
{
	g_autoptr(GVariant) one = answer_get(counters, name);

	if (!one)
		return g_strdup("-");
	return g_strdup_printf("%s%" PRIu64, answer_get_flag(one, "at_least") ? ">= " : "",
			       answer_get_number(one, "count"));
}

static void print_lost(GVariant *row, GString *out)
{
	double lost;

	if (!g_variant_lookup(row, "packets_lost_per_second", "d", &lost))
		return;
	g_string_append(out, "Sent by ");
	figures_print_port(row, "node", "port", 0, out);
	g_string_append_printf(out, "less received at the other end: %.6g packets a second\n",
			       lost);
}

void perfmgr_print_cable(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) ends = answer_get(answer, "ends");
	g_autoptr(GVariant) a = g_variant_get_child_value(ends, 0);
	g_autoptr(GVariant) b = g_variant_get_child_value(ends, 1);
	g_autoptr(GVariant) of_a = answer_get(a, "counters");
	g_autoptr(GVariant) of_b = answer_get(b, "counters");

	perfmgr_print_window(answer, out);
	if (answer_get_flag(answer, "link_down"))
		g_string_append(out, "The link is down: the cable connected these ports last\n");
	g_string_append_printf(out, "%-32s ", "");
	figures_print_port(a, "node", "port", 28, out);
	figures_print_port(b, "node", "port", 0, out);
	g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
	for (unsigned int i = 0; i < PERF_COLUMNS; i++) {
		g_autofree char *name = perf_value_name((struct perf_value){PERF_COUNT, i});
		g_autofree char *left = count_text(of_a, name), *right = count_text(of_b, name);

		if (strcmp(left, "-") != 0 || strcmp(right, "-") != 0)
			g_string_append_printf(out, "%-32s %-27s %s\n", name, left, right);
	}
	print_lost(a, out);
	print_lost(b, out);
}

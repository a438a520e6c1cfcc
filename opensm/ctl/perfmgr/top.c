// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ports with the most of something. */
#include <inttypes.h>
#include <string.h>

#include "ctl/perfmgr/figures.h"
#include "ctl/perfmgr/window.h"

#define US_PER_NS 1000

struct question {
	struct perf_value value;
	unsigned int n;
	uint64_t window_ns; /* 0: of all images in memory */
	enum perf_scope scope;
	const struct perf_group *group; /* of the rules; NULL: all ports in scope */
};

/* ---- what is asked for ---- */

static bool parse_word(const struct perfmgr_call *call, struct question *question, const char *word)
{
	int group;

	if (!strcmp(word, "switches"))
		question->scope = PERF_SWITCH_LINKS;
	else if (!strcmp(word, "hosts"))
		question->scope = PERF_HOST_LINKS;
	else if (!figures_value(word, &question->value)) {
		group = perf_rules_find_group(call->rules, word);
		question->group = group < 0 ? question->group : &call->rules->groups[group];
		return group >= 0;
	}
	return true;
}

/* A number at the beginning is that of lines; elsewhere it is a window. */
static bool parse(const struct perfmgr_call *call, struct question *question, GError **error)
{
	*question = (struct question){.n = 10};
	figures_value("utilization", &question->value);
	for (unsigned int i = 0; i < call->n; i++) {
		const char *word = call->words[i];

		if (!i && figures_number(word, &question->n))
			continue;
		if ((!i && !word[strspn(word, "0123456789")]) ||
		    (!figures_window(word, &question->window_ns) &&
		     !parse_word(call, question, word)))
			return perfmgr_fail(
				error, PERFMGR_ERROR_USAGE,
				"'%s': expected a number of lines from 1 to 1000, a "
				"counter, rate, utilization, wait, ber, switches, hosts, "
				"a group of the rules, or a time such as 90s, 5m, 6h or 2d",
				word);
	}
	return true;
}

/* ---- the answer ---- */

/* The value between each two images in memory, for a sparkline; -1: not known. */
static void add_trend(GVariantBuilder *row, const struct perfmgr_call *call,
		      struct perf_value value, uint64_t guid, uint8_t port)
{
	struct perf_series series;
	GVariantBuilder list;

	perf_series_init(&series, value);
	perf_series_add_ring(&series, call->images, guid, port);
	g_variant_builder_init(&list, G_VARIANT_TYPE("ad"));
	for (guint i = 0; i < series.points->len; i++) {
		const struct perf_point *point =
			&g_array_index(series.points, struct perf_point, i);

		g_variant_builder_add(&list, "d",
				      point->measure.flags & PERF_UNKNOWN ? -1.0
									  : point->measure.value);
	}
	answer_member(row, "trend", &list);
	perf_series_clear(&series);
}

static void add_ports(GVariantBuilder *answer, const struct perfmgr_call *call,
		      const struct question *question, const struct perf_fold *fold)
{
	g_autofree struct perf_top *top = g_new(struct perf_top, question->n);
	g_autofree bool *only = NULL;
	GVariantBuilder list, row;
	unsigned int n = 0;

	if (fold->layout && question->group)
		only = perf_group_rows(question->group, fold->layout);
	if (fold->layout)
		n = perf_fold_top(fold, question->value, question->scope, only, top, question->n);
	answer_begin_list(&list);
	for (unsigned int i = 0; i < n; i++) {
		const struct perf_node *node = perf_layout_node_of(fold->layout, top[i].row);

		answer_begin(&row);
		figures_add_port(&row, call->images, fold->layout, top[i].row);
		figures_add_measure(&row, &top[i].measure);
		add_trend(&row, call, question->value, node->guid,
			  fold->layout->places[top[i].row].port);
		answer_append(&list, &row);
	}
	answer_member(answer, "ports", &list);
}

bool perfmgr_may_read(struct perfmgr_call *call, struct perf_history_read *read,
		      const char **directory, uint64_t *run)
{
	if (!perf_stored(call->perf, directory, run))
		return false;
	call->needs_files = !call->may_read;
	read->stop = call->stop;
	read->arg = call->arg;
	return call->may_read;
}

bool perfmgr_window(struct perfmgr_call *call, uint64_t window_ns, struct perf_fold *fold,
		    struct perf_history_read *read, bool *whole)
{
	const struct perf_image *last = call->image;
	const char *directory;
	uint64_t run;

	*read = (struct perf_history_read){0};
	*whole = false;
	if (!last)
		return true;
	if (window_ns && last->ended_ns - call->images->images[0]->ended_ns < window_ns &&
	    perfmgr_may_read(call, read, &directory, &run))
		perf_history_fold(directory, run, last->ended_us - (int64_t)(window_ns / US_PER_NS),
				  call->images->images[0]->ended_us, fold, read);
	if (call->needs_files)
		return false;
	*whole = perf_fold_add_ring(fold, call->images, window_ns ? window_ns : UINT64_MAX) ||
		 !window_ns || last->ended_us - fold->since_us >= (int64_t)(window_ns / US_PER_NS);
	return true;
}

void perfmgr_add_window(GVariantBuilder *answer, const struct perf_fold *fold, bool whole,
			struct perf_history_read *read)
{
	answer_number(answer, "images", fold->n_images);
	answer_number(answer, "since_us", (uint64_t)fold->since_us);
	answer_number(answer, "until_us", (uint64_t)fold->until_us);
	answer_flag(answer, "whole", whole);
	answer_number(answer, "files", read->files);
	answer_number(answer, "files_skipped", read->skipped);
	if (read->why)
		answer_text(answer, "why_skipped", read->why);
	perf_history_read_clear(read);
}

bool perfmgr_top(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	struct perf_history_read read;
	struct question question;
	struct perf_fold *fold;
	bool whole, good;

	if (!parse(call, &question, error))
		return false;
	fold = perf_fold_new(PERF_BIT(question.value.column));
	good = perfmgr_window(call, question.window_ns, fold, &read, &whole);
	if (good) {
		figures_add_value(answer, question.value);
		perfmgr_add_window(answer, fold, whole, &read);
		add_ports(answer, call, &question, fold);
	}
	perf_fold_free(fold);
	return good;
}

/* ---- as a table ---- */

void perfmgr_print_window(GVariant *answer, GString *out)
{
	g_autofree char *since = figures_time(answer_get_number(answer, "since_us"));
	g_autofree char *until = figures_time(answer_get_number(answer, "until_us"));

	if (answer_get_number(answer, "images") < 2) {
		g_string_append(out, "The counters were not read twice yet\n");
		return;
	}
	g_string_append_printf(out, "From %s to %s, %" PRIu64 " images%s\n", since, until,
			       answer_get_number(answer, "images"),
			       answer_get_flag(answer, "whole")
				       ? ""
				       : ": nothing older is known of the time asked for");
	if (answer_get_number(answer, "files_skipped"))
		g_string_append_printf(out, "%" PRIu64 " files could not be used: %s\n",
				       answer_get_number(answer, "files_skipped"),
				       answer_get_text(answer, "why_skipped"));
}

void perfmgr_print_top(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) ports = answer_get(answer, "ports");
	gsize n = g_variant_n_children(ports);

	perfmgr_print_window(answer, out);
	if (answer_get_number(answer, "images") < 2)
		return;
	if (!n) {
		g_string_append_printf(out, "No port has any %s\n", answer_get_text(answer, "of"));
		return;
	}
	g_string_append_printf(out, "%-20s %-32s %s\n", answer_get_text(answer, "of"), "PORT",
			       "CONNECTED TO");
	for (gsize i = 0; i < n; i++) {
		g_autoptr(GVariant) row = g_variant_get_child_value(ports, i);
		g_autofree char *value = figures_text(answer, row);

		g_string_append_printf(out, "%-20s ", value);
		figures_print_port(row, "node", "port", 33, out);
		figures_print_port(row, "peer", "peer_port", 0, out);
		g_string_truncate(out, out->len - 1);
		g_string_append_c(out, '\n');
	}
}

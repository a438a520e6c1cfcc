// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sums over many ports: all, cables between switches, cables of hosts, groups of the rules. */
#include <inttypes.h>
#include <string.h>

#include "ctl/perfmgr/figures.h"
#include "ctl/perfmgr/window.h"

static const struct {
	const char *name;
	enum perf_scope scope;
} groups[] = {
	{"all", PERF_EVERY_PORT},
	{"switches", PERF_SWITCH_LINKS},
	{"hosts", PERF_HOST_LINKS},
};

static const char *const directions[] = {[PERF_SEND] = "send", [PERF_RECEIVE] = "receive"};

/* The sides that face the group, and those that face away from it, together. */
static struct perf_side both(const struct perf_sum *sum, unsigned int direction)
{
	const struct perf_side *in = &sum->side[PERF_INTERNAL][direction];
	const struct perf_side *out = &sum->side[PERF_EXTERNAL][direction];
	uint32_t n = in->utilized + out->utilized;
	struct perf_side all = {
		.ports = in->ports + out->ports,
		.utilized = n,
		.octets_s = in->octets_s + out->octets_s,
		.packets_s = in->packets_s + out->packets_s,
		.least = !in->utilized	  ? out->least
			 : !out->utilized ? in->least
					  : MIN(in->least, out->least),
		.most = MAX(in->most, out->most),
	};

	if (n)
		all.mean = (in->mean * in->utilized + out->mean * out->utilized) / n;
	for (unsigned int i = 0; i < G_N_ELEMENTS(all.tenths); i++)
		all.tenths[i] = in->tenths[i] + out->tenths[i];
	return all;
}

static void add_number(GVariantBuilder *row, const char *key, double number)
{
	answer_value(row, key, g_variant_new_double(number));
}

static void add_side(GVariantBuilder *row, const struct perf_sum *sum, unsigned int direction)
{
	struct perf_side side = both(sum, direction);
	GVariantBuilder members, tenths;

	answer_begin(&members);
	answer_number(&members, "ports", side.ports);
	add_number(&members, "octets_per_second", side.octets_s);
	add_number(&members, "packets_per_second", side.packets_s);
	if (side.utilized) {
		add_number(&members, "least", side.least);
		add_number(&members, "mean", side.mean);
		add_number(&members, "most", side.most);
	}
	g_variant_builder_init(&tenths, G_VARIANT_TYPE("at"));
	for (unsigned int i = 0; i < G_N_ELEMENTS(side.tenths); i++)
		g_variant_builder_add(&tenths, "t", (guint64)side.tenths[i]);
	answer_member(&members, "tenths", &tenths);
	answer_member(row, directions[direction], &members);
}

/* [row]: whether it is in scope; newly allocated. */
static bool *rows_in(const struct perf_layout *layout, enum perf_scope scope)
{
	bool *rows = g_new(bool, MAX(layout->n_rows, 1));

	for (uint32_t i = 0; i < layout->n_rows; i++)
		rows[i] = perf_in_scope(layout, i, scope);
	return rows;
}

/* Takes over the rows. */
static void add_group(GVariantBuilder *list, const struct perf_fold *fold, const char *name,
		      bool *rows)
{
	g_autofree bool *only = rows;
	struct perf_sum sum;
	GVariantBuilder row, counters;

	perf_fold_sum(fold, only, &sum);
	answer_begin(&row);
	answer_text(&row, "group", name);
	answer_number(&row, "ports", sum.ports);
	answer_number(&row, "counted", sum.counted);
	answer_number(&row, "old", sum.old);
	add_side(&row, &sum, PERF_SEND);
	add_side(&row, &sum, PERF_RECEIVE);
	answer_begin(&counters);
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		answer_number(&counters, perf_counter_info[i].iba, sum.count[i]);
	answer_member(&row, "counters", &counters);
	answer_append(list, &row);
}

static void add_groups(GVariantBuilder *answer, const struct perf_rules *rules,
		       const struct perf_fold *fold)
{
	GVariantBuilder list;

	answer_begin_list(&list);
	for (unsigned int i = 0; fold->layout && i < G_N_ELEMENTS(groups); i++)
		add_group(&list, fold, groups[i].name, rows_in(fold->layout, groups[i].scope));
	for (unsigned int i = 0; fold->layout && i < rules->n_groups; i++)
		add_group(&list, fold, rules->groups[i].name,
			  perf_group_rows(&rules->groups[i], fold->layout));
	answer_member(answer, "groups", &list);
}

bool perfmgr_groups(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	struct perf_history_read read;
	struct perf_fold *fold;
	uint64_t window = 0;
	bool whole, good;

	if (call->n > 1 || (call->n && !figures_window(call->words[0], &window)))
		return perfmgr_fail(error, PERFMGR_ERROR_USAGE,
				    "'%s': expected a time such as 90s, 5m, 6h or 2d",
				    call->words[call->n - 1]);
	fold = perf_fold_new(PERF_ALL_COUNTERS);
	good = perfmgr_window(call, window, fold, &read, &whole);
	if (good) {
		perfmgr_add_window(answer, fold, whole, &read);
		add_groups(answer, call->rules, fold);
	}
	perf_fold_free(fold);
	return good;
}

/* Columns of the longest name. */
static unsigned int width_of(GVariant *rows)
{
	glong width = (glong)strlen("switches");

	for (gsize i = 0; i < g_variant_n_children(rows); i++) {
		g_autoptr(GVariant) row = g_variant_get_child_value(rows, i);

		width = MAX(width, g_utf8_strlen(answer_get_text(row, "group"), -1));
	}
	return (unsigned int)width + 1;
}

static void print_group(GVariant *row, unsigned int width, GString *out)
{
	const char *name = answer_get_text(row, "group");
	int blanks = (int)width - (int)g_utf8_strlen(name, -1);

	for (unsigned int i = 0; i < G_N_ELEMENTS(directions); i++) {
		g_autoptr(GVariant) side = answer_get(row, directions[i]);

		g_string_append_printf(
			out, "%s%*s %-8s %8" PRIu64 " %12.3f %8.2f %8.2f %8.2f %8" PRIu64 "\n",
			name, blanks, "", directions[i], answer_get_number(side, "ports"),
			answer_get_real(side, "octets_per_second") / 1e9,
			answer_get_real(side, "least") * 100, answer_get_real(side, "mean") * 100,
			answer_get_real(side, "most") * 100, answer_get_number(row, "old"));
	}
}

void perfmgr_print_groups(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) rows = answer_get(answer, "groups");
	unsigned int width = width_of(rows);

	perfmgr_print_window(answer, out);
	if (answer_get_number(answer, "images") < 2)
		return;
	g_string_append_printf(out, "%-*s %-8s %8s %12s %8s %8s %8s %8s\n", (int)width, "GROUP",
			       "SIDE", "PORTS", "GB/S", "LEAST %", "MEAN %", "MOST %", "NOT READ");
	for (gsize i = 0; i < g_variant_n_children(rows); i++) {
		g_autoptr(GVariant) row = g_variant_get_child_value(rows, i);

		print_group(row, width, out);
	}
}

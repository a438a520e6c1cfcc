// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table for people: one row per engine, below it a row of medians after losses; then remarks
 * that do not fit into columns.
 */
#include "osmroute/report.h"

#include "osmroute/median.h"
#include "osmroute/report_measured.h"
#include "osmroute/report_outages.h"

#define MEGABYTE (1024.0 * 1024.0)

/* Heading, width, decimals, value of a judgement j with c changed blocks. */
#define COLUMNS(X)                                                                                 \
	X("seconds", 9, 4, j->engine.seconds)                                                      \
	X("verify", 8, 4, j->verify.seconds)                                                       \
	X("MB", 7, 1, j->engine.memory < 0 ? 0 : j->engine.memory / MEGABYTE)                      \
	X("hops", 7, 2, j->quality.mean_hops)                                                      \
	X("max", 4, 0, j->quality.max_hops)                                                        \
	X("load", 7, 3, j->quality.load_ratio)                                                     \
	X("shift", 6, 0, (double)j->quality.worst_shift)                                           \
	X("bisect", 7, 3, j->quality.bisection)                                                    \
	X("no path", 8, 0, (double)(j->quality.pairs - j->quality.routed))                         \
	X("discard", 8, 0, (double)j->verdict.discarded)                                           \
	X("lanes", 5, 0, (double)j->lanes)                                                         \
	X("blocks", 8, 0, (double)c)

struct column {
	const char *heading;
	int width, decimals;
};

static const struct column columns[] = {
#define X(heading, width, decimals, value) {heading, width, decimals},
	COLUMNS(X)
#undef X
};

#define N_COLUMNS G_N_ELEMENTS(columns)

struct row {
	double values[N_COLUMNS];
};

static struct row row_of(const struct judgement *j, uint64_t c)
{
	return (struct row){{
#define X(heading, width, decimals, value) value,
		COLUMNS(X)
#undef X
	}};
}

/* Column by column. */
static struct row median_row(const struct row *rows, unsigned int n)
{
	g_autofree double *values = g_new(double, n);
	struct row median;

	for (unsigned int k = 0; k < N_COLUMNS; k++) {
		for (unsigned int i = 0; i < n; i++)
			values[i] = rows[i].values[k];
		median.values[k] = median_of(values, n);
	}
	return median;
}

/* ---- the table ---- */

static void add_row(GString *text, const char *name, const struct row *row, const char *loops,
		    const char *verdict)
{
	g_string_append_printf(text, "%-14s", name);
	for (unsigned int k = 0; k < N_COLUMNS; k++)
		g_string_append_printf(text, " %*.*f", columns[k].width, columns[k].decimals,
				       row->values[k]);
	g_string_append_printf(text, "  %-8s %s\n", loops, verdict);
}

static void add_headings(GString *text)
{
	g_string_append_printf(text, "%-14s", "engine");
	for (unsigned int k = 0; k < N_COLUMNS; k++)
		g_string_append_printf(text, " %*s", columns[k].width, columns[k].heading);
	g_string_append(text, "  loops    table\n");
}

static void add_trials(GString *text, const struct judge_report *report)
{
	g_autofree struct row *rows = g_new(struct row, report->trials->len);
	g_autofree char *name = NULL, *loops = NULL, *verdict = NULL;
	unsigned int n = 0, n_loops = 0, n_wrong = 0;
	struct row row;

	for (uint32_t i = 0; i < report->trials->len; i++) {
		const struct judge_trial *trial =
			&g_array_index(report->trials, struct judge_trial, i);

		if (trial->after.refusal)
			continue;
		rows[n++] = row_of(&trial->after, trial->changed);
		n_loops += !trial->after.verdict.acyclic;
		n_wrong += !trial->after.good;
	}
	name = g_strdup_printf("  -%u cables",
			       g_array_index(report->trials, struct judge_trial, 0).lost);
	if (!n) {
		g_string_append_printf(text, "%-14s  refused each time\n", name);
		return;
	}
	row = median_row(rows, n);
	loops = n_loops ? g_strdup_printf("%u of %u", n_loops, n) : g_strdup("no");
	verdict = n_wrong ? g_strdup_printf("WRONG %u of %u", n_wrong, n) : g_strdup("right");
	if (n < report->trials->len) {
		g_autofree char *made = g_steal_pointer(&verdict);

		verdict = g_strdup_printf("%s, %u refused", made, report->trials->len - n);
	}
	add_row(text, name, &row, loops, verdict);
}

static void add_report(GString *text, const struct judge_report *report)
{
	const struct judgement *before = &report->before;
	struct row row;

	if (before->refusal) {
		g_string_append_printf(text, "%-14s  refused\n", report->engine->name);
		return;
	}
	row = row_of(before, before->blocks);
	add_row(text, report->engine->name, &row, before->verdict.acyclic ? "no" : "yes",
		before->good ? "right" : "WRONG");
	if (report->trials->len)
		add_trials(text, report);
}

/* ---- remarks ---- */

/* Whether the verifier found fewer faults in one table than in the other. */
static bool is_better(const struct judgement *one, const struct judgement *other)
{
	return one->good > other->good || one->verdict.acyclic > other->verdict.acyclic;
}

static void add_remark(GString *text, const struct judge_report *report,
		       const struct judgement *judgement, const char *when)
{
	const char *what = judgement->refusal ? judgement->refusal : judgement->verdict.witness;

	if (what)
		g_string_append_printf(text, "%s%s: %s\n", report->engine->name, when, what);
	if (judgement->note)
		g_string_append_printf(text, "%s%s: %s\n", report->engine->name, when,
				       judgement->note);
}

static void add_lanes(GString *text, const struct judge_report *report)
{
	const struct judgement *before = &report->before;

	if (before->refusal || before->lanes < 2)
		return;
	g_string_append_printf(text, "%s: flows on the busiest channel of each virtual lane:",
			       report->engine->name);
	for (unsigned int vl = 0; vl < ROUTE_SLS; vl++)
		if (before->quality.lane_load[vl])
			g_string_append_printf(text, " VL %u %" G_GUINT64_FORMAT, vl,
					       before->quality.lane_load[vl]);
	g_string_append_c(text, '\n');
}

static void add_passage(GString *text, const struct judge_report *report)
{
	const struct passage *passage = &report->passage;

	if (passage->stages)
		g_string_append_printf(text,
				       "%s: transition in %u stage%s of %" G_GUINT64_FORMAT
				       " blocks; LIDs in order %u, discarded first %u\n",
				       report->engine->name, passage->stages,
				       passage->stages == 1 ? "" : "s", passage->blocks,
				       passage->ordered, passage->discarded);
	if (passage->exposed)
		g_string_append_printf(text, "%s: %s\n", report->engine->name, passage->exposed);
}

/* For losses, only remarks that did not apply before, and the first of each kind. */
static void add_remarks(GString *text, const struct judge_report *report)
{
	const struct judgement *worst = &report->before;

	add_lanes(text, report);
	add_passage(text, report);
	add_remark(text, report, &report->before, "");
	for (uint32_t i = 0; i < report->trials->len; i++) {
		const struct judge_trial *trial =
			&g_array_index(report->trials, struct judge_trial, i);
		g_autofree char *when = g_strdup_printf(", loss %u", i + 1);

		if (trial->n_hosts)
			g_string_append_printf(text, "%s%s: %u hosts cut off\n",
					       report->engine->name, when, trial->n_hosts);
		if (!trial->after.refusal && !is_better(worst, &trial->after))
			continue;
		add_remark(text, report, &trial->after, when);
		if (!trial->after.refusal)
			worst = &trial->after;
	}
}

/* Hosts, shifts and matchings are the same for all engines. */
static const struct quality *any_quality(const struct report_subject *subject)
{
	for (guint i = 0; i < subject->reports->len; i++) {
		const struct judge_report *report = subject->reports->pdata[i];

		if (!report->before.refusal)
			return &report->before.quality;
	}
	return NULL;
}

static void add_head(GString *text, const struct report_subject *subject)
{
	const struct quality *quality = any_quality(subject);
	g_autofree char *name = g_filename_display_name(subject->topology);

	g_string_append_printf(text, "%s: %u switches, %u cables between them", name,
			       subject->fabric->n_switches, subject->n_cables);
	if (quality)
		g_string_append_printf(text, ", %u hosts; %u of %u shifts, %u matchings tried",
				       quality->n_hosts, quality->shifts,
				       quality->n_hosts ? quality->n_hosts - 1 : 0,
				       quality->matchings);
	g_string_append_c(text, '\n');
	if (subject->n_left_out)
		g_string_append_printf(text,
				       "%u nodes are not connected to the rest and are "
				       "ignored\n",
				       subject->n_left_out);
	g_string_append_c(text, '\n');
}

char *report_table(const struct report_subject *subject)
{
	GString *text = g_string_new(NULL), *remarks = g_string_new(NULL);

	add_head(text, subject);
	add_headings(text);
	for (guint i = 0; i < subject->reports->len; i++) {
		add_report(text, subject->reports->pdata[i]);
		add_remarks(remarks, subject->reports->pdata[i]);
	}
	report_outages(text, remarks, subject->reports);
	if (subject->measured)
		report_measured(text, subject->fabric, subject->measured);
	if (remarks->len)
		g_string_append_printf(text, "\n%s", remarks->str);
	g_string_free(remarks, TRUE);
	return g_string_free(text, FALSE);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Two rows per class, after the loss and after the return; each cell is a median and the worst. */
#include "osmroute/report_outages.h"

#include "osmroute/judge.h"
#include "osmroute/median.h"
#include "osmroute/outage.h"

/* Heading, width, decimals, value of a step, whether more is worse. */
#define COLUMNS(X)                                                                                 \
	X("blocks", 13, 0, (double)step->changes.blocks, true)                                     \
	X("own", 9, 0, (double)step->changes.own, true)                                            \
	X("ms", 15, 2, step->after.engine.seconds * 1e3, true)                                     \
	X("verify", 15, 2, step->after.verify.seconds * 1e3, true)                                 \
	X("load", 13, 3, step->after.quality.load_ratio, true)                                     \
	X("anew", 13, 3, step->anew, true)                                                         \
	X("shift", 7, 0, (double)step->after.quality.worst_shift, true)                            \
	X("bisect", 13, 3, step->after.quality.bisection, false)

struct column {
	const char *heading;
	int width, decimals;
	bool more_is_worse;
};

static const struct column columns[] = {
#define X(heading, width, decimals, value, more_is_worse) {heading, width, decimals, more_is_worse},
	COLUMNS(X)
#undef X
};

#define N_COLUMNS G_N_ELEMENTS(columns)

struct row {
	double values[N_COLUMNS];
};

static struct row row_of(const struct outage_step *step)
{
	return (struct row){{
#define X(heading, width, decimals, value, more_is_worse) value,
		COLUMNS(X)
#undef X
	}};
}

static void add_headings(GString *text)
{
	g_string_append_printf(text, "\n%-26s", "lost and restored");
	for (unsigned int k = 0; k < N_COLUMNS; k++)
		g_string_append_printf(text, " %*s", columns[k].width, columns[k].heading);
	g_string_append(text, "  loops    table\n");
}

/* The whole fabric, for comparison. */
static void add_whole(GString *text, const struct judge_report *report)
{
	const struct judgement *before = &report->before;
	struct row row = row_of(&(struct outage_step){
		*before, {before->blocks, 0}, before->quality.load_ratio});

	g_string_append_printf(text, "%-26s", report->engine->name);
	for (unsigned int k = 0; k < N_COLUMNS; k++)
		g_string_append_printf(text, " %*.*f", columns[k].width, columns[k].decimals,
				       row.values[k]);
	g_string_append_printf(text, "  %-8s %s\n", before->verdict.acyclic ? "no" : "yes",
			       before->good ? "right" : "WRONG");
}

static void add_cell(GString *text, const struct column *column, double *values, unsigned int n)
{
	double worst = values[0];
	g_autofree char *cell = NULL;

	for (unsigned int i = 1; i < n; i++)
		worst = column->more_is_worse ? MAX(worst, values[i]) : MIN(worst, values[i]);
	cell = g_strdup_printf("%.*f/%.*f", column->decimals, median_of(values, n),
			       column->decimals, worst);
	g_string_append_printf(text, " %*s", column->width, cell);
}

static const struct outage_step *step_of(const struct outage_report *outage, guint i, bool back)
{
	const struct outage_trial *trial = &g_array_index(outage->trials, struct outage_trial, i);

	return back ? &trial->back : &trial->lost;
}

static void add_step(GString *text, const struct outage_report *outage, bool back)
{
	g_autofree struct row *rows = g_new(struct row, outage->trials->len);
	g_autofree double *values = g_new(double, outage->trials->len);
	unsigned int n = 0, n_loops = 0, n_wrong = 0, n_anew = 0;

	for (guint i = 0; i < outage->trials->len; i++) {
		const struct outage_step *step = step_of(outage, i, back);

		if (step->after.refusal)
			continue;
		rows[n++] = row_of(step);
		n_loops += !step->after.verdict.acyclic;
		n_wrong += !step->after.good;
		n_anew += step->after.way > ROUTE_REPAIRED;
	}
	g_string_append_printf(text, "  %-18s %-5s", outage->name, back ? "back" : "lost");
	for (unsigned int k = 0; n && k < N_COLUMNS; k++) {
		for (unsigned int i = 0; i < n; i++)
			values[i] = rows[i].values[k];
		add_cell(text, &columns[k], values, n);
	}
	g_string_append_printf(text, "  %u of %u", n_loops, n);
	g_string_append_printf(text, n_wrong ? "   WRONG %u of %u" : "   right", n_wrong, n);
	if (n_anew)
		g_string_append_printf(text, ", %u not repaired", n_anew);
	if (n < outage->trials->len)
		g_string_append_printf(text, ", %u refused", outage->trials->len - n);
	g_string_append_c(text, '\n');
}

/* For each class and step the first that was refused or rejected. */
static void add_remarks(GString *remarks, const struct judge_report *report,
			const struct outage_report *outage, bool back)
{
	for (guint i = 0; i < outage->trials->len; i++) {
		const struct judgement *after = &step_of(outage, i, back)->after;
		const char *why = after->refusal ? after->refusal : after->verdict.witness;

		if (!after->refusal && after->good)
			continue;
		g_string_append_printf(remarks, "%s, %s %s: %s\n", report->engine->name,
				       g_array_index(outage->trials, struct outage_trial, i).what,
				       back ? "back" : "lost", why ? why : "no example");
		return;
	}
}

void report_outages(GString *text, GString *remarks, const GPtrArray *reports)
{
	bool begun = false;

	for (guint i = 0; i < reports->len; i++) {
		const struct judge_report *report = reports->pdata[i];

		if (!report->outages->len)
			continue;
		if (!begun)
			add_headings(text);
		begun = true;
		add_whole(text, report);
		for (guint k = 0; k < report->outages->len; k++) {
			for (unsigned int back = 0; back < 2; back++) {
				add_step(text, report->outages->pdata[k], back);
				add_remarks(remarks, report, report->outages->pdata[k], back);
			}
		}
	}
}

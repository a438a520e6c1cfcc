// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Judges the whole fabric, then losses of many cables at once, then outages one at a time. */
#include "osmroute/judge.h"

#include "osmroute/loss.h"
#include "osmroute/outage.h"

static void trial_clear(void *data)
{
	judgement_clear(&((struct judge_trial *)data)->after);
}

static void try_loss(const struct judge_task *task, const struct fabric *old_fabric,
		     struct judge_report *report, uint64_t *state)
{
	const struct picture before = {old_fabric, report->routing};
	GArray *lost = loss_take(task->builder, task->lose, state);
	struct fabric *fabric = builder_freeze(task->builder);
	struct judge_trial trial = {.lost = lost->len};
	struct routing *routing = judgement_repair(task, fabric, report->engine, report->routing,
						   &trial.after);

	if (routing) {
		const struct picture now = {fabric, routing};
		struct changes changes;

		changes_count(&now, &before, 1, 0, &changes);
		trial.changed = changes.blocks;
		judgement_weigh(task, fabric, routing, &trial.after);
		trial.n_hosts = report->before.quality.n_hosts - trial.after.quality.n_hosts;
		routing_unref(routing);
	}
	g_array_append_val(report->trials, trial);
	fabric_unref(fabric);
	loss_restore(lost);
}

static void try_outages(const struct judge_task *task, const struct fabric *fabric,
			struct judge_report *report)
{
	g_autoptr(GPtrArray) classes = outage_classes(fabric, task->outages);
	const struct picture before = {fabric, report->routing};
	uint64_t state = task->seed;

	for (guint i = 0; i < classes->len; i++)
		g_ptr_array_add(report->outages,
				outage_judge(task, report->engine, &before, &report->before,
					     classes->pdata[i], &state));
}

struct judge_report *judge_engine(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine)
{
	struct judge_report *report = g_new0(struct judge_report, 1);
	uint64_t state = task->seed;

	report->engine = engine;
	report->trials = g_array_new(FALSE, FALSE, sizeof(struct judge_trial));
	report->outages = g_ptr_array_new_with_free_func((GDestroyNotify)outage_report_free);
	g_array_set_clear_func(report->trials, trial_clear);
	report->routing = judgement_compute(task, fabric, engine, &report->before);
	if (!report->routing)
		return report;
	judgement_weigh(task, fabric, report->routing, &report->before);
	if (task->held && report->before.good)
		passage_find(task->held, report->routing, &report->before.verdict,
			     &report->passage);
	for (unsigned int i = 0; task->lose && i < task->trials; i++)
		try_loss(task, fabric, report, &state);
	try_outages(task, fabric, report);
	return report;
}

void judge_report_free(struct judge_report *report)
{
	judgement_clear(&report->before);
	passage_clear(&report->passage);
	if (report->routing)
		routing_unref(report->routing);
	g_array_unref(report->trials);
	g_ptr_array_unref(report->outages);
	g_free(report);
}

static bool refused(const struct judgement *judgement)
{
	return judgement->refusal;
}

static bool rejected(const struct judgement *judgement)
{
	return !judgement->refusal && !judgement->good;
}

/* Whether a condition holds for any judgement of the report. */
static bool is_any(const struct judge_report *report, bool (*is)(const struct judgement *judgement))
{
	bool found = is(&report->before);

	for (guint i = 0; i < report->trials->len; i++)
		found |= is(&g_array_index(report->trials, struct judge_trial, i).after);
	for (guint i = 0; i < report->outages->len; i++) {
		const GArray *trials =
			((const struct outage_report *)report->outages->pdata[i])->trials;

		for (guint k = 0; k < trials->len; k++) {
			const struct outage_trial *trial =
				&g_array_index(trials, struct outage_trial, k);

			found |= is(&trial->lost.after) || is(&trial->back.after);
		}
	}
	return found;
}

bool judge_refused(const struct judge_report *report)
{
	return is_any(report, refused);
}

bool judge_rejected(const struct judge_report *report)
{
	return is_any(report, rejected);
}

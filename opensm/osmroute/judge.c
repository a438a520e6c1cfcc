// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs an engine as the daemon does: table, what can be kept of an earlier one, verifier. Nothing
 * here knows an engine by name.
 */
#include "osmroute/judge.h"

#include "osmroute/loss.h"

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

/* The one with the median of seconds; memory is the greatest, as caches of malloc() hide some. */
static struct cost median_cost(struct cost *costs, unsigned int n)
{
	struct cost cost;

	qsort(costs, n, sizeof(*costs), compare_costs);
	cost = costs[n / 2];
	for (unsigned int i = 0; i < n; i++)
		cost.memory = MAX(cost.memory, costs[i].memory);
	return cost;
}

/* The table, or NULL and a refusal in the judgement. */
static struct routing *run_engine(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine, struct judgement *judgement)
{
	g_autofree struct cost *costs = g_new(struct cost, task->repeats);
	struct routing *routing = NULL;

	for (unsigned int i = 0; i < task->repeats; i++) {
		g_autoptr(GError) error = NULL;
		struct cost_meter meter;

		if (routing)
			routing_unref(routing);
		cost_begin(&meter, task->input->threads);
		routing = engine->compute(fabric, task->input, &error);
		cost_end(&meter, &costs[i]);
		if (!routing) {
			judgement->refusal = g_utf8_make_valid(error->message, -1);
			return NULL;
		}
	}
	judgement->engine = median_cost(costs, task->repeats);
	return routing;
}

static void weigh(const struct judge_task *task, const struct fabric *fabric,
		  const struct routing *routing, struct judgement *judgement)
{
	g_autofree struct cost *costs = g_new(struct cost, task->repeats);

	for (unsigned int i = 0; i < task->repeats; i++) {
		struct cost_meter meter;

		route_verdict_clear(&judgement->verdict);
		cost_begin(&meter, task->input->threads);
		judgement->good = route_verify_by(fabric, routing, task->input->threads,
						  &judgement->verdict);
		cost_end(&meter, &costs[i]);
	}
	judgement->verify = median_cost(costs, task->repeats);
	judgement->blocks = (uint64_t)routing->n_blocks * routing->n_switches;
	quality_measure(fabric, routing, &task->effort, &judgement->quality);
}

static void judgement_clear(struct judgement *judgement)
{
	g_free(judgement->refusal);
	route_verdict_clear(&judgement->verdict);
}

static void trial_clear(void *data)
{
	judgement_clear(&((struct judge_trial *)data)->after);
}

static void try_loss(const struct judge_task *task, const struct fabric *old_fabric,
		     struct judge_report *report, uint64_t *state)
{
	GArray *lost = loss_take(task->builder, task->lose, state);
	struct fabric *fabric = builder_freeze(task->builder);
	struct judge_trial trial = {.lost = lost->len};
	struct routing *routing = run_engine(task, fabric, report->engine, &trial.after);

	if (routing) {
		trial.kept = routing_keep(fabric, task->input, routing, old_fabric,
					  report->routing);
		trial.changed =
			loss_changed_blocks(fabric, routing, old_fabric, report->routing);
		weigh(task, fabric, routing, &trial.after);
		trial.n_hosts = report->before.quality.n_hosts - trial.after.quality.n_hosts;
		routing_unref(routing);
	}
	g_array_append_val(report->trials, trial);
	fabric_unref(fabric);
	loss_restore(lost);
}

struct judge_report *judge_engine(const struct judge_task *task, const struct fabric *fabric,
				  const struct route_engine *engine)
{
	struct judge_report *report = g_new0(struct judge_report, 1);
	uint64_t state = task->seed;

	report->engine = engine;
	report->trials = g_array_new(FALSE, FALSE, sizeof(struct judge_trial));
	g_array_set_clear_func(report->trials, trial_clear);
	report->routing = run_engine(task, fabric, engine, &report->before);
	if (!report->routing)
		return report;
	weigh(task, fabric, report->routing, &report->before);
	for (unsigned int i = 0; task->lose && i < task->trials; i++)
		try_loss(task, fabric, report, &state);
	return report;
}

void judge_report_free(struct judge_report *report)
{
	judgement_clear(&report->before);
	if (report->routing)
		routing_unref(report->routing);
	g_array_unref(report->trials);
	g_free(report);
}

bool judge_refused(const struct judge_report *report)
{
	bool refused = report->before.refusal;

	for (uint32_t i = 0; i < report->trials->len; i++)
		refused |= !!g_array_index(report->trials, struct judge_trial, i).after.refusal;
	return refused;
}

bool judge_rejected(const struct judge_report *report)
{
	bool rejected = report->routing && !report->before.good;

	for (uint32_t i = 0; i < report->trials->len; i++) {
		const struct judgement *after =
			&g_array_index(report->trials, struct judge_trial, i).after;

		rejected |= !after->refusal && !after->good;
	}
	return rejected;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance manager.
 *
 *	published subnet --> layout.c: which ports
 *	                        |
 *	period --> sweep.c: agents in turn --- agent.c: what to ask, what answers mean --> mad_ask()
 *	                        |
 *	                   account.c: totals that never decrease
 *	                        |
 *	                   images.c: the ring of images --> context->perf_images --> everyone else
 */
#include "perf/perf.h"

#include "core/options.h"
#include "perf/perf_private.h"

/* Instead of 0, as in the classic daemon: */
#define IN_FLIGHT_DEFAULT 500
#define PERIOD_DEFAULT_S 180

/* ---- when ---- */

static void start_period(struct perf *perf)
{
	if (atomic_load(&perf->enabled))
		timer_start(&perf->period, atomic_load(&perf->period_s) * NS_PER_S);
	else
		timer_stop(&perf->period);
}

/* As the classic daemon, a sweep that is due while another still runs is left out. */
static void on_period(struct timer *timer)
{
	struct perf *perf = container_of(timer, struct perf, period);

	if (perf->sweep.runs)
		log_info(perf->context->log, "PM sweep state %u, skipping sweep",
			 atomic_load(&perf->sweep_state));
	perf_sweep_now(perf);
	start_period(perf);
}

/* The first sweep need not wait for the period. */
static void on_subnet(void *arg, uint64_t generation)
{
	struct perf *perf = arg;

	(void)generation;
	if (!perf->sweep.number)
		perf_sweep_now(perf);
}

/* ---- orders ---- */

struct perf_message {
	struct message message;
	struct perf *perf;
	enum perf_order order;
	uint64_t value;
	bool changed; /* PERF_ENABLE: it was the other way round */
};

static void start_or_stop(struct perf *perf)
{
	start_period(perf);
	perf_sweep_now(perf);
}

static void enable(struct perf *perf, bool on)
{
	if (atomic_exchange(&perf->enabled, on) != on)
		start_or_stop(perf);
}

static void run_order(struct message *message)
{
	struct perf_message *asked = (struct perf_message *)message;
	struct perf *perf = asked->perf;

	switch (asked->order) {
	case PERF_ENABLE:
		if (asked->changed)
			start_or_stop(perf);
		break;
	case PERF_SWEEP_NOW:
		perf_sweep_now(perf);
		break;
	case PERF_PERIOD:
		start_period(perf);
		perf_sweep_now(perf);
		break;
	case PERF_RM_NODES:
	case PERF_QUERY_CPI:
		break;
	case PERF_FORGET_REDIR:
		g_array_append_val(perf->late_redirections, asked->value);
		perf->late |= 1u << asked->order;
		break;
	case PERF_ZERO:
	case PERF_FORGET_GONE:
		perf->late |= 1u << asked->order;
		break;
	}
	if (!perf->sweep.runs)
		perf_obey_late(perf);
	g_free(asked);
}

/* perf_status() shows at once what was ordered. */
static void note_order(struct perf *perf, struct perf_message *message)
{
	uint64_t value = message->value;

	if (message->order == PERF_ENABLE)
		message->changed = atomic_exchange(&perf->enabled, value != 0) != (value != 0);
	else if (message->order == PERF_PERIOD)
		atomic_store(&perf->period_s, (unsigned int)value);
	else if (message->order == PERF_RM_NODES)
		atomic_store(&perf->rm_nodes, value != 0);
	else if (message->order == PERF_QUERY_CPI)
		atomic_store(&perf->query_cpi, value != 0);
}

void perf_order(struct perf *perf, enum perf_order order, uint64_t value)
{
	struct perf_message *message = g_new0(struct perf_message, 1);

	message->message.run = run_order;
	message->perf = perf;
	message->order = order;
	message->value = value;
	note_order(perf, message);
	actor_post(perf->actor, &message->message);
}

void perf_status(const struct perf *perf, struct perf_status *status)
{
	*status = (struct perf_status){
		.enabled = atomic_load(&perf->enabled),
		.sweep = atomic_load(&perf->sweep_state),
		.period_s = atomic_load(&perf->period_s),
		.outstanding = atomic_load(&perf->in_flight),
		.max_outstanding = atomic_load(&perf->in_flight_max),
		.rm_nodes = atomic_load(&perf->rm_nodes),
		.query_cpi = atomic_load(&perf->query_cpi),
		.sweeps = atomic_load(&perf->sweeps),
		.took_us = atomic_load(&perf->took_us),
		.mads = atomic_load(&perf->mads),
		.mads_total = atomic_load(&perf->mads_total),
		.agents = atomic_load(&perf->n_agents),
		.silent = atomic_load(&perf->n_silent),
		.refusing = atomic_load(&perf->n_refusing),
		.keeps = perf->history != NULL,
	};
	perf_history_status(perf->history, &status->history);
}

/* ---- options ---- */

/*
 * What the console has changed stays until the file says something else than it did. old NULL: at
 * the start.
 */
static void take_options(struct perf *perf, const struct options *old)
{
	const struct options *options = perf->options;
	bool first = !old;

	atomic_store(&perf->in_flight_max, options->perfmgr_max_outstanding_queries
						   ? options->perfmgr_max_outstanding_queries
						   : IN_FLIGHT_DEFAULT);
	if (first || old->perfmgr_rm_nodes != options->perfmgr_rm_nodes)
		atomic_store(&perf->rm_nodes, options->perfmgr_rm_nodes);
	if (first || old->perfmgr_query_cpi != options->perfmgr_query_cpi)
		atomic_store(&perf->query_cpi, options->perfmgr_query_cpi);
	if (first || old->perfmgr_sweep_time_s != options->perfmgr_sweep_time_s) {
		atomic_store(&perf->period_s, options->perfmgr_sweep_time_s
						      ? options->perfmgr_sweep_time_s
						      : PERIOD_DEFAULT_S);
		start_period(perf);
	}
	if (first || old->perfmgr != options->perfmgr)
		enable(perf, options->perfmgr);
}

static void on_options_changed(void *arg, uint64_t value)
{
	struct perf *perf = arg;
	struct options *old = perf->options;

	(void)value;
	perf->options = slot_take(&perf->context->options);
	take_options(perf, old);
	options_unref(old);
}

bool perf_stored(const struct perf *perf, const char **directory, uint64_t *run)
{
	*directory = perf->directory;
	*run = perf_history_run(perf->history);
	return perf->directory != NULL;
}

/* ---- life ---- */

struct perf *perf_new(struct context *context, struct mad *mad, const char *directory)
{
	struct perf *perf = g_new0(struct perf, 1);

	perf->context = context;
	perf->mad = mad;
	perf->directory = directory ? g_build_filename(directory, "perf", NULL) : NULL;
	perf->actor = actor_new(context->rt, "perf");
	perf_see_clock(perf);
	perf->verdict = perf_verdict_new(context);
	perf->history = perf_history_new(context, perf->actor, perf->directory);
	perf->late_redirections = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	perf_sweep_init(perf);
	timer_init(&perf->period, perf->actor, on_period);
	perf->options = slot_take(&context->options);
	take_options(perf, NULL);
	event_subscribe(&context->bus, EVENT_SUBNET_PUBLISHED, perf->actor, on_subnet, perf);
	event_subscribe(&context->bus, EVENT_SUBNET_SEEN, perf->actor, on_subnet, perf);
	event_subscribe(&context->bus, EVENT_OPTIONS_CHANGED, perf->actor, on_options_changed,
			perf);
	return perf;
}

void perf_start(struct perf *perf)
{
	actor_start(perf->actor);
}

void perf_attach(struct perf *perf, GMainContext *loop)
{
	actor_attach(perf->actor, loop);
}

void perf_stop(struct perf *perf)
{
	actor_stop(perf->actor);
	if (perf->history && perf->accounts)
		perf_history_end(perf->history, resumed_save(perf));
}

void perf_free(struct perf *perf)
{
	if (!perf)
		return;
	actor_free(perf->actor);
	perf_sweep_clear(perf);
	perf_images_unref(perf->images);
	perf_verdict_free(perf->verdict);
	perf_history_free(perf->history);
	options_unref(perf->options);
	g_array_free(perf->late_redirections, TRUE);
	g_free(perf->directory);
	g_free(perf);
}

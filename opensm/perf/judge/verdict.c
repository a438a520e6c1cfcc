// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/judge/verdict.h"

#include <inttypes.h>

#include "core/about.h"
#include "core/options.h"
#include "iba/constants.h"
#include "perf/judge/judge.h"
#include "subnet/subnet.h"

struct perf_verdict {
	struct context *context;
	struct perf_judge *judge;
	struct perf_rules *rules; /* of the last sweep; NULL: there was none */
	GArray *held;	   /* of struct perf_rule_member: ports kept down at the last sweep */
	uint64_t left_out; /* as last logged */
};

struct perf_verdict *perf_verdict_new(struct context *context)
{
	struct perf_verdict *verdict = g_new0(struct perf_verdict, 1);

	verdict->context = context;
	verdict->judge = perf_judge_new();
	verdict->held = g_array_new(FALSE, FALSE, sizeof(struct perf_rule_member));
	return verdict;
}

void perf_verdict_free(struct perf_verdict *verdict)
{
	if (!verdict)
		return;
	perf_judge_free(verdict->judge);
	perf_rules_unref(verdict->rules);
	g_array_unref(verdict->held);
	g_free(verdict);
}

/* ---- ports that are down on purpose ---- */

/* Disabled by an operator or the SM, or kept in INIT by the SM, as isolated ports are. */
static bool is_held(const struct fabric_port *port)
{
	return port->known && port->num &&
	       (port->info.port_physical_state == IBA_PHYS_DISABLED ||
		port->info.port_state == IBA_PORT_INIT);
}

static gint by_port(gconstpointer a, gconstpointer b)
{
	const struct perf_rule_member *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port - y->port;
}

static GArray *find_held(struct context *context)
{
	GArray *held = g_array_new(FALSE, FALSE, sizeof(struct perf_rule_member));
	struct subnet *subnet = slot_take(&context->subnet);
	const struct fabric *fabric = subnet ? subnet->fabric : NULL;

	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];
		struct perf_rule_member member = {fabric->nodes[port->node].guid, port->num};

		if (is_held(port))
			g_array_append_val(held, member);
	}
	subnet_unref(subnet);
	return held;
}

/* Those of this sweep and the last: a port that is in use again went down before. */
static GArray *note_held(struct perf_verdict *verdict)
{
	GArray *now = find_held(verdict->context), *both = verdict->held;

	g_array_append_vals(both, now->data, now->len);
	g_array_sort(both, by_port);
	verdict->held = now;
	return both;
}

/* ---- the log ---- */

static void log_event(struct log *log, const struct perf_event *event)
{
	bool is_alarm = event->began && event->alarm->level == PERF_ALARM;
	const struct about about = {
		.kind = "counter",
		.change = event->alarm->value,
		.guid = event->alarm->guid,
		.port = event->alarm->port,
	};
	g_autofree char *text = perf_event_text(event);

	log_about(log, is_alarm ? LOG_ERROR : LOG_INFO, &about, "%s", text);
}

/* Those beyond the limit, as numbers. */
static void log_more(struct log *log, const GPtrArray *events, guint first)
{
	unsigned int began[PERF_LEVELS] = {0}, ended = 0;

	for (guint i = first; i < events->len; i++) {
		const struct perf_event *event = events->pdata[i];

		if (event->began)
			began[event->alarm->level]++;
		else
			ended++;
	}
	if (first < events->len)
		log_info(log,
			 "events of counters not shown: %u; began: alarm %u, warning %u, info %u; "
			 "ended: %u",
			 events->len - first, began[PERF_ALARM], began[PERF_WARNING],
			 began[PERF_INFO], ended);
}

static void log_events(struct perf_verdict *verdict, const GPtrArray *events)
{
	struct context *context = verdict->context;
	struct options *options = slot_take(&context->options);
	guint n = MIN(events->len, options->perfmgr_log_lines);
	uint64_t left_out = perf_judge_left_out(verdict->judge);

	for (guint i = 0; i < n; i++)
		log_event(context->log, events->pdata[i]);
	log_more(context->log, events, n);
	if (left_out && !verdict->left_out)
		log_error(context->log,
			  "too many counters grow for the rules: some are not judged; rules about "
			  "data or packets should concern fewer ports");
	verdict->left_out = left_out;
	options_unref(options);
}

/* ---- a sweep ---- */

static void publish(struct perf_verdict *verdict, struct perf_alarms *alarms)
{
	uint32_t n = alarms->n;

	slot_publish(&verdict->context->perf_alarms, alarms);
	event_emit(&verdict->context->bus, EVENT_PERF_ALARMS, n);
}

void perf_verdict_sweep(struct perf_verdict *verdict, const struct perf_images *images,
			uint64_t now_ns)
{
	struct perf_rules *rules = slot_take(&verdict->context->perf_rules);
	g_autoptr(GArray) held = NULL;
	g_autoptr(GPtrArray) events = NULL;
	struct perf_held ports;
	bool changed;

	if (!rules)
		return;
	held = note_held(verdict);
	ports = (struct perf_held){held->len, (const struct perf_rule_member *)(void *)held->data};
	events = perf_judge_sweep(verdict->judge, rules, images, &ports, now_ns);
	changed = events->len || (verdict->rules && verdict->rules != rules);
	log_events(verdict, events);
	if (changed)
		publish(verdict, perf_judge_alarms(verdict->judge));
	perf_rules_unref(verdict->rules);
	verdict->rules = rules;
}

void perf_verdict_forget(struct perf_verdict *verdict)
{
	size_t bytes;

	if (!perf_judge_states(verdict->judge, &bytes))
		return;
	perf_judge_forget(verdict->judge);
	publish(verdict, perf_judge_alarms(verdict->judge));
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "cc/report.h"

#include <string.h>

#include "cc/cc_private.h"

static const char *const state_words[CC_STATES] = {
	[CC_UNKNOWN] = "unknown",	  [CC_PENDING] = "pending", [CC_RIGHT] = "right",
	[CC_UNSUPPORTED] = "unsupported", [CC_SILENT] = "silent",   [CC_REFUSED] = "refused",
	[CC_FICKLE] = "fickle",		  [CC_LOCKED] = "locked",
};

const char *cc_state_word(enum cc_state state)
{
	return state_words[state];
}

enum cc_state cc_state_find(const char *word)
{
	unsigned int state = 0;

	while (state < CC_STATES && strcmp(word, state_words[state]) != 0)
		state++;
	return state;
}

struct cc_report *cc_report_ref(struct cc_report *report)
{
	ref_get(&report->ref);
	return report;
}

void cc_report_unref(struct cc_report *report)
{
	if (!report || !ref_put(&report->ref))
		return;
	for (uint32_t i = 0; i < report->n_rows; i++) {
		g_clear_pointer(&report->rows[i].has, g_bytes_unref);
		g_clear_pointer(&report->rows[i].wanted, g_bytes_unref);
	}
	g_clear_pointer(&report->events, g_array_unref);
	g_free(report->rows);
	g_free(report);
}

static GBytes *share(GBytes *bytes)
{
	return bytes ? g_bytes_ref(bytes) : NULL;
}

static uint8_t count_marked(const struct cc_agent *agent)
{
	unsigned int n = 0;

	for (unsigned int i = 0; agent->marked && i < 32; i++)
		n += (unsigned int)__builtin_popcount(agent->marked[i]);
	return (uint8_t)n;
}

static struct cc_row row_of(const struct cc_agent *agent, const struct cc *cc, int64_t epoch_us)
{
	const struct fabric *fabric = cc->plan.fabric;

	return (struct cc_row){
		.guid = agent->guid,
		.node_guid = fabric->nodes[agent->node].guid,
		.lid = agent->lid,
		.port = fabric->ports[agent->port].num,
		.is_switch = agent->is_switch,
		.state = agent->state,
		.since_us = (uint64_t)epoch_us + agent->since_ns / NS_PER_US,
		.attribute = agent->attribute,
		.status = agent->status,
		.cut = agent->cut,
		.has_key = agent->gave_key && agent->key,
		.has_other_key =
			agent->knows_key && !agent->lacks_key && !agent->gave_key && agent->key,
		.lacks_key = agent->lacks_key,
		.violations = agent->violations,
		.key_lease = agent->key_lease,
		.capability = agent->capability,
		.info = agent->info,
		.table_cap = agent->table_cap,
		.changed = agent->original != NULL,
		.n_has = agent->n_read,
		.n_wanted = agent->n_wanted,
		.known = agent->read,
		.has = share(agent->has),
		.wanted = share(agent->wanted),
		.log_events = agent->log_events,
		.n_marked = count_marked(agent),
	};
}

/* One line whenever the numbers change. */
static void tell(struct cc *cc, const struct cc_report *report)
{
	GString *text = g_string_new(NULL);
	g_autofree char *line = NULL;
	uint64_t digest;

	for (unsigned int state = CC_PENDING; state < CC_STATES; state++)
		if (report->n[0][state] + report->n[1][state])
			g_string_append_printf(text, "%s%u switches and %u CA ports: %s",
					       text->len ? "; " : "", report->n[1][state],
					       report->n[0][state], cc_state_text(state));
	line = g_string_free(text, FALSE);
	digest = g_str_hash(line) + (uint64_t)report->on + 1;
	if (digest == cc->told)
		return;
	cc->told = digest;
	log_info(cc->context->log,
		 "congestion control is %s: %s (%" G_GUINT64_FORMAT " MADs in %" G_GUINT64_FORMAT
		 " ms)",
		 report->on ? "on" : "off", *line ? line : "nothing to do", report->mads,
		 report->took_us / 1000);
}

/* The table of a profile also depends on the number of hosts, not only on options. */
static bool is_same_table(const struct cc_values *a, const struct cc_values *b)
{
	if (a->n_table != b->n_table)
		return false;
	for (unsigned int i = 0; i < a->n_table; i++)
		if (a->table[i].cct_shift != b->table[i].cct_shift ||
		    a->table[i].cct_multiplier != b->table[i].cct_multiplier)
			return false;
	return true;
}

static bool is_same(const struct cc_report *a, const struct cc_report *b)
{
	return a->on == b->on && a->profile == b->profile &&
	       wire_equal(&iba_switch_congestion_setting_type, &a->values.of_switch,
			  &b->values.of_switch) &&
	       wire_equal(&iba_ca_congestion_setting_type, &a->values.of_ca, &b->values.of_ca) &&
	       (a->profile != CC_CLASSIC || is_same_table(&a->values, &b->values));
}

static void note_change(struct cc_report *report, struct cc *cc)
{
	struct cc_report *before = slot_take(&cc->context->cc);

	if (before && is_same(before, report)) {
		report->change_began_ns = before->change_began_ns;
		report->changed_ns = before->changed_ns;
		report->changed_us = before->changed_us;
		report->is_first = before->is_first;
	} else {
		report->change_began_ns = cc->round.began_ns;
		report->changed_ns = actor_now(cc->actor);
		report->changed_us = report->ended_us;
		report->is_first = !before;
	}
	cc_report_unref(before);
}

static void count_events(struct cc *cc)
{
	for (guint i = 0; i < cc->order->len; i++) {
		struct cc_agent *agent = cc->order->pdata[i];

		cc->log_events[agent->is_switch] += agent->log_events - agent->log_told;
		agent->log_told = agent->log_events;
	}
}

void cc_publish(struct cc *cc)
{
	struct cc_report *report = g_new0(struct cc_report, 1);
	uint64_t now = actor_now(cc->actor);
	int64_t epoch_us = g_get_real_time() - (int64_t)(now / NS_PER_US);

	ref_init(&report->ref);
	report->on = cc->plan.on;
	report->profile = cc->options->cc_profile;
	report->key_mode = cc->options->cc_key_mode;
	report->values = cc->plan.values;
	report->round = cc->round.number;
	report->took_us = (now - cc->round.began_ns) / NS_PER_US;
	report->mads = cc->round.mads;
	report->ended_us = g_get_real_time();
	report->traps = cc->traps;
	report->trap_from = cc->trap_from;
	report->events = g_array_copy(cc->events);
	count_events(cc);
	memcpy(report->log_events, cc->log_events, sizeof(report->log_events));
	report->rows = g_new0(struct cc_row, cc->order->len + 1);
	for (guint i = 0; i < cc->order->len; i++) {
		const struct cc_agent *agent = cc->order->pdata[i];

		if (!agent->lid)
			continue;
		report->rows[report->n_rows++] = row_of(agent, cc, epoch_us);
		report->n[agent->is_switch][agent->state]++;
	}
	note_change(report, cc);
	tell(cc, report);
	slot_publish(&cc->context->cc, report);
}

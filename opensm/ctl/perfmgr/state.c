// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the performance manager does at present. */
#include <inttypes.h>

#include "ctl/perfmgr/word.h"

const char *perfmgr_sweep_text(enum perf_sweep_state state)
{
	static const char *const texts[] = {
		[PERF_SLEEPING] = "Sleeping",
		[PERF_ACTIVE] = "Active",
		[PERF_SUSPENDED] = "Suspended",
		[PERF_POST_PROCESSING] = "PostProcessing",
	};

	return (unsigned int)state < G_N_ELEMENTS(texts) ? texts[state] : "UNKNOWN";
}

bool perfmgr_state(struct perfmgr_call *call, GVariantBuilder *answer, GError **error)
{
	struct perf_status status;

	(void)error;
	perf_status(call->perf, &status);
	answer_text(answer, "state", status.enabled ? "Enabled" : "Disabled");
	answer_text(answer, "sweep_state", perfmgr_sweep_text(status.sweep));
	answer_number(answer, "sweep_time", status.period_s);
	answer_number(answer, "outstanding", status.outstanding);
	answer_number(answer, "max_outstanding", status.max_outstanding);
	answer_flag(answer, "rm_nodes", status.rm_nodes);
	answer_flag(answer, "query_cpi", status.query_cpi);
	answer_number(answer, "sweeps", status.sweeps);
	answer_number(answer, "last_sweep_us", status.took_us);
	answer_flag(answer, "virtual_time", runtime_mode(call->context->rt) == RUNTIME_VIRTUAL);
	answer_number(answer, "mads", status.mads);
	answer_number(answer, "agents", status.agents);
	answer_number(answer, "agents_silent", status.silent);
	answer_number(answer, "agents_refusing", status.refusing);
	answer_number(answer, "images", call->images ? call->images->n : 0);
	if (status.keeps) {
		answer_number(answer, "history_files", status.history.files);
		answer_number(answer, "history_octets", status.history.octets);
		answer_number(answer, "history_written", status.history.written);
		answer_number(answer, "history_failed", status.history.failed);
		answer_flag(answer, "history_failing", status.history.failing);
	}
	return true;
}

static const char *truth(GVariant *answer, const char *key)
{
	return answer_get_flag(answer, key) ? "TRUE" : "FALSE";
}

/* The classic daemon's lines and no other; JSON has more. */
void perfmgr_print_state(GVariant *answer, GString *out)
{
	g_string_append_printf(
		out,
		"Performance Manager status:\n"
		"state                        : %s\n"
		"sweep state                  : %s\n"
		"sweep time                   : %" PRIu64 "s\n"
		"outstanding queries/max      : %" PRIu64 "/%" PRIu64 "\n"
		"remove missing nodes from DB : %s\n"
		"query ClassPortInfo          : %s\n",
		answer_get_text(answer, "state"), answer_get_text(answer, "sweep_state"),
		answer_get_number(answer, "sweep_time"), answer_get_number(answer, "outstanding"),
		answer_get_number(answer, "max_outstanding"), truth(answer, "rm_nodes"),
		truth(answer, "query_cpi"));
}

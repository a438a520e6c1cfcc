// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Orders of the operator that concern what a sweep works with: obeyed when none runs. */
#include "perf/perf_private.h"

static gboolean forget_redirection(void *key, void *value, void *arg)
{
	struct perf_agent *agent = key;
	const GArray *guids = arg;

	(void)value;
	for (guint i = 0; agent->redirect.lid && i < guids->len; i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);

		if (!guid || agent->guid == guid)
			perf_agent_forget(agent);
	}
	return FALSE;
}

/* Those that concern what a sweep works with wait until it has ended. */
void perf_obey_late(struct perf *perf)
{
	unsigned int late = perf->late;

	perf->late = 0;
	if (late & 1u << PERF_FORGET_GONE)
		images_forget_gone(perf);
	if (late & 1u << PERF_ZERO) {
		images_zero(perf);
		log_info(perf->context->log, "PerfMgr counters cleared");
	}
	if (late & 1u << PERF_FORGET_REDIR)
		g_hash_table_foreach_remove(perf->agents, forget_redirection,
					    perf->late_redirections);
	g_array_set_size(perf->late_redirections, 0);
	if (late)
		images_add_changed(perf);
}

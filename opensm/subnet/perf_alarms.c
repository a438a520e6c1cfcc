// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "subnet/perf_alarms.h"

#include <glib.h>
#include <string.h>

static const char *const levels[PERF_LEVELS] = {
	[PERF_OFF] = "off",
	[PERF_INFO] = "info",
	[PERF_WARNING] = "warning",
	[PERF_ALARM] = "alarm",
};

const char *perf_level_word(unsigned int level)
{
	return levels[level];
}

int perf_level_find(const char *word)
{
	for (int i = 0; i < PERF_LEVELS; i++)
		if (!strcmp(word, levels[i]))
			return i;
	return -1;
}

struct perf_alarms *perf_alarms_new(uint32_t n)
{
	struct perf_alarms *alarms = g_new0(struct perf_alarms, 1);

	ref_init(&alarms->ref);
	alarms->n = n;
	alarms->all = g_new0(struct perf_alarm, n);
	return alarms;
}

struct perf_alarms *perf_alarms_ref(struct perf_alarms *alarms)
{
	ref_get(&alarms->ref);
	return alarms;
}

void perf_alarms_unref(struct perf_alarms *alarms)
{
	if (!alarms || !ref_put(&alarms->ref))
		return;
	for (uint32_t i = 0; i < alarms->n; i++) {
		g_free(alarms->all[i].where);
		g_free(alarms->all[i].cause);
	}
	g_free(alarms->all);
	g_free(alarms);
}

const struct perf_alarm *perf_alarms_find(const struct perf_alarms *alarms, uint64_t serial)
{
	for (uint32_t i = 0; alarms && i < alarms->n; i++)
		if (alarms->all[i].serial == serial)
			return &alarms->all[i];
	return NULL;
}

char *perf_alarm_number(const struct perf_alarm *alarm, double number)
{
	bool counted = !*alarm->unit && number >= 1;

	return g_strdup_printf(counted ? "%.10g%s" : "%.3g%s", number, alarm->unit);
}

char *perf_alarm_text(const struct perf_alarm *alarm)
{
	g_autofree char *measured = perf_alarm_number(alarm, alarm->measured);
	g_autofree char *limit = perf_alarm_number(alarm, alarm->limit);

	return g_strdup_printf("%s: %s: %s was %s%s within %u s (limit %s)%s%s",
			       levels[alarm->level], alarm->where, alarm->value,
			       alarm->at_least ? "at least " : "", measured, alarm->window_s, limit,
			       alarm->cause ? ": " : "", alarm->cause ? alarm->cause : "");
}

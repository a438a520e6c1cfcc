// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/report.h"

#include <string.h>

#include "client/say.h"
#include "ssa/tree/remote.h"
#include "ssa/tree/thread.h"

struct ssa_reporter {
	pthread_mutex_t lock;
	struct ssa_report report;
	bool failing;
	void (*changed)(void *arg, bool at_once);
	void *arg;
};

struct ssa_reporter *ssa_reporter_new(void (*changed)(void *arg, bool at_once), void *arg)
{
	struct ssa_reporter *reporter = g_new0(struct ssa_reporter, 1);

	pthread_mutex_init(&reporter->lock, NULL);
	reporter->changed = changed;
	reporter->arg = arg;
	return reporter;
}

void ssa_reporter_free(struct ssa_reporter *reporter)
{
	if (!reporter)
		return;
	pthread_mutex_destroy(&reporter->lock);
	g_free(reporter);
}

void ssa_reporter_read(struct ssa_reporter *reporter, struct ssa_report *report)
{
	pthread_mutex_lock(&reporter->lock);
	*report = reporter->report;
	pthread_mutex_unlock(&reporter->lock);
}

static void end(struct ssa_reporter *reporter, bool changed, bool at_once)
{
	pthread_mutex_unlock(&reporter->lock);
	if (changed && reporter->changed)
		reporter->changed(reporter->arg, at_once);
}

void ssa_report_epoch(struct ssa_reporter *reporter, uint64_t term, uint64_t epoch)
{
	struct ssa_report *report = &reporter->report;

	pthread_mutex_lock(&reporter->lock);
	report->term = term;
	report->epoch = epoch;
	report->updates++;
	report->updated_us = report->confirmed_us = g_get_real_time();
	end(reporter, true, false);
}

void ssa_report_confirmed(struct ssa_reporter *reporter)
{
	pthread_mutex_lock(&reporter->lock);
	reporter->report.confirmed_us = g_get_real_time();
	end(reporter, false, false);
}

void ssa_report_settled(struct ssa_reporter *reporter)
{
	struct ssa_report *report = &reporter->report;

	pthread_mutex_lock(&reporter->lock);
	if (!report->settled_us)
		report->settled_us = g_get_monotonic_time();
	end(reporter, false, false);
}

void ssa_report_error(struct ssa_reporter *reporter, const GError *error)
{
	struct ssa_report *report = &reporter->report;
	bool news;

	pthread_mutex_lock(&reporter->lock);
	news = reporter->failing != (error != NULL) ||
	       (error && strncmp(report->error, error->message, sizeof(report->error) - 1) != 0);
	reporter->failing = error != NULL;
	if (error) {
		report->errors++;
		report->error_us = g_get_real_time();
		g_strlcpy(report->error, error->message, sizeof(report->error));
	}
	end(reporter, news, false);
	if (news && error)
		say(LOG_WARNING, "%s", error->message);
	else if (news)
		say(LOG_NOTICE, "works again");
}

static void set_address(char *to, size_t size, const char *uri)
{
	g_autofree char *address = uri ? ssa_remote_address(uri) : NULL;

	g_strlcpy(to, address ? address : uri ? uri : "", size);
}

void ssa_report_switch(struct ssa_reporter *reporter, const char *uri, const char *bad_uri)
{
	struct ssa_report *report = &reporter->report;

	pthread_mutex_lock(&reporter->lock);
	report->settled_us = 0;
	set_address(report->parent, sizeof(report->parent), uri);
	if (bad_uri) {
		set_address(report->bad_parent, sizeof(report->bad_parent), bad_uri);
		report->switches++;
	}
	end(reporter, true, bad_uri != NULL);
	if (bad_uri)
		say(LOG_NOTICE, "parent %s is given up, %s is used", bad_uri, uri ? uri : "none");
}

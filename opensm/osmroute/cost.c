// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Linux keeps the peak of resident memory of a process, and can reset it (/proc/PID/clear_refs), so
 * that each engine is measured alone.
 */
#include "osmroute/cost.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "complib/memory.h"

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Octets on a line "KEY:  N kB" of the status of this process, or -1. */
static int64_t read_status(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	int64_t found = -1;
	char line[256];

	if (!file)
		return -1;
	while (found < 0 && fgets(line, sizeof(line), file))
		if (g_str_has_prefix(line, key) && line[strlen(key)] == ':')
			found = g_ascii_strtoll(line + strlen(key) + 1, NULL, 10) * 1024;
	fclose(file);
	return found;
}

/* Resets the peak and returns the memory resident now; -1 if it cannot be reset. */
static int64_t restart_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "we");
	bool done = file && fputs("5", file) >= 0;

	if (file && fclose(file) != 0)
		done = false;
	return done ? read_status("VmRSS") : -1;
}

void cost_begin(struct cost_meter *meter, unsigned int threads)
{
	memory_trim(); /* reuse of memory freed by others would not show */
	meter->clock = threads > 1;
	meter->resident = restart_peak();
	meter->all = now(CLOCK_PROCESS_CPUTIME_ID);
	meter->caller = now(CLOCK_THREAD_CPUTIME_ID);
	meter->start = now(CLOCK_MONOTONIC);
}

void cost_end(const struct cost_meter *meter, struct cost *cost)
{
	int64_t peak;

	cost->seconds = now(CLOCK_MONOTONIC) - meter->start;
	cost->caller = now(CLOCK_THREAD_CPUTIME_ID) - meter->caller;
	cost->all = now(CLOCK_PROCESS_CPUTIME_ID) - meter->all;
	if (!meter->clock)
		cost->seconds = cost->all;
	cost->least = cost->seconds;
	peak = meter->resident < 0 ? -1 : read_status("VmHWM");
	cost->memory = peak < 0 ? -1 : MAX(peak - meter->resident, 0);
}

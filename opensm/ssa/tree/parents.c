// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/parents.h"

#define BACK_OFF_MIN_S 1u
#define BACK_OFF_MAX_S 120u
#define TRIES 2 /* before the first rest: both parents, or a single one that may have restarted */

void ssa_parents_init(struct ssa_parents *parents, void (*wake)(void *arg), void *arg)
{
	*parents = (struct ssa_parents){.wake = wake, .arg = arg};
	pthread_mutex_init(&parents->lock, NULL);
	ssa_cond_init(&parents->changed);
}

void ssa_parents_clear(struct ssa_parents *parents)
{
	g_free(parents->uris[0]);
	g_free(parents->uris[1]);
	g_free(parents->uri);
	g_free(parents->bad);
	pthread_mutex_destroy(&parents->lock);
	pthread_cond_destroy(&parents->changed);
}

/* ---- any thread ---- */

static void wake(struct ssa_parents *parents)
{
	pthread_cond_broadcast(&parents->changed);
	parents->wake(parents->arg);
}

void ssa_parents_set(struct ssa_parents *parents, const char *primary, const char *backup)
{
	const char *uris[] = {primary, backup};
	bool changed = false;

	pthread_mutex_lock(&parents->lock);
	for (unsigned int i = 0; i < 2; i++) {
		if (!g_strcmp0(parents->uris[i], uris[i]))
			continue;
		g_free(parents->uris[i]);
		parents->uris[i] = g_strdup(uris[i]);
		changed = true;
	}
	parents->renewed |= changed;
	if (changed)
		wake(parents);
	pthread_mutex_unlock(&parents->lock);
}

void ssa_parents_stop(struct ssa_parents *parents)
{
	pthread_mutex_lock(&parents->lock);
	parents->stop = true;
	wake(parents);
	pthread_mutex_unlock(&parents->lock);
}

/* ---- the thread ---- */

/* The primary, unless it has just failed. Call with the lock held. */
static char *choose(const struct ssa_parents *parents)
{
	for (unsigned int i = 0; i < 2; i++)
		if (parents->uris[i] && g_strcmp0(parents->uris[i], parents->bad) != 0)
			return g_strdup(parents->uris[i]);
	return g_strdup(parents->uris[0]);
}

/* Until new parents are set, or the time is over. Call with the lock held. */
static void rest(struct ssa_parents *parents)
{
	int64_t until_us;

	parents->back_off_s = CLAMP(parents->back_off_s * 2, BACK_OFF_MIN_S, BACK_OFF_MAX_S);
	until_us = g_get_monotonic_time() + parents->back_off_s * G_USEC_PER_SEC +
		   g_random_int_range(0, G_USEC_PER_SEC / 4);
	while (!parents->stop && !parents->renewed &&
	       ssa_cond_wait_until(&parents->changed, &parents->lock, until_us))
		;
}

const char *ssa_parents_next(struct ssa_parents *parents, struct ssa_reporter *reporter)
{
	char *next = NULL;

	pthread_mutex_lock(&parents->lock);
	if (parents->failures >= TRIES)
		rest(parents);
	while (!parents->stop && !(next = choose(parents)))
		pthread_cond_wait(&parents->changed, &parents->lock);
	parents->renewed = false;
	if (parents->stop)
		g_clear_pointer(&next, g_free);
	pthread_mutex_unlock(&parents->lock);
	if (next && g_strcmp0(next, parents->uri) != 0)
		ssa_report_switch(reporter, next, parents->bad);
	g_free(parents->uri);
	parents->uri = next;
	return next;
}

char *ssa_parents_spare(struct ssa_parents *parents)
{
	char *spare = NULL;

	pthread_mutex_lock(&parents->lock);
	for (unsigned int i = 0; i < 2 && !spare; i++)
		if (g_strcmp0(parents->uris[i], parents->uri) != 0)
			spare = g_strdup(parents->uris[i]);
	pthread_mutex_unlock(&parents->lock);
	return spare;
}

bool ssa_parents_go_on(struct ssa_parents *parents)
{
	bool go_on;

	pthread_mutex_lock(&parents->lock);
	go_on = !parents->stop && !parents->renewed;
	pthread_mutex_unlock(&parents->lock);
	return go_on;
}

void ssa_parents_worked(struct ssa_parents *parents, struct ssa_reporter *reporter)
{
	ssa_report_settled(reporter);
	if (parents->failures)
		ssa_report_error(reporter, NULL);
	parents->failures = parents->back_off_s = 0;
	g_clear_pointer(&parents->bad, g_free);
}

void ssa_parents_failed(struct ssa_parents *parents, struct ssa_reporter *reporter, GError *error)
{
	parents->failures++;
	g_free(parents->bad);
	parents->bad = g_strdup(parents->uri);
	ssa_report_error(reporter, error);
	g_error_free(error);
}

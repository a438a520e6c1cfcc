// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/follow.h"

#include <string.h>

#include "ssa/tree/parents.h"
#include "ssa/wire/alive.h"

#define LOOK_MS 5000u
#define SPARE_MS 250u	     /* as long the spare one may delay the one in use */
#define SPARE_REST_MAX_S 120 /* from one try to connect to it to the next */

struct ssa_follow {
	struct ssa_follow_config config;
	struct ssa_agent *agent;
	pthread_t thread;
	struct ssa_parents parents;
	struct ssa_store *store; /* that the thread waits for, by the lock of parents; NULL: none */
	char *uri;		 /* of store */

	/* Of the thread. */
	struct ssa_store *spare; /* connected to the parent that is not in use; NULL: none */
	char *spare_uri;	 /* of that parent; NULL: there is none */
	int64_t spare_us;	 /* when to look at it again */
	unsigned int spare_rest_s;
	struct ssa_alive alive; /* the last one */
};

/* ---- the store ---- */

static void set_store(struct ssa_follow *follow, struct ssa_store *store, const char *uri)
{
	struct ssa_store *old;

	pthread_mutex_lock(&follow->parents.lock);
	old = follow->store;
	follow->store = store;
	pthread_mutex_unlock(&follow->parents.lock);
	ssa_store_close(old);
	g_free(follow->uri);
	follow->uri = g_strdup(uri);
}

static struct ssa_store *open_store(struct ssa_follow *follow, const char *uri, GError **error)
{
	return ssa_store_open(uri, follow->config.agent.prefix, &follow->config.options, error);
}

static bool use(struct ssa_follow *follow, const char *uri, GError **error)
{
	struct ssa_store *store;

	if (follow->store && !strcmp(follow->uri, uri))
		return true;
	store = open_store(follow, uri, error);
	set_store(follow, store, uri);
	return store != NULL;
}

/* ---- the spare one ---- */

/* Many hosts get another parent at once, and are to connect to it one after the other. */
static void find_spare(struct ssa_follow *follow)
{
	g_autofree char *uri = ssa_parents_spare(&follow->parents);

	if (!g_strcmp0(uri, follow->spare_uri))
		return;
	g_clear_pointer(&follow->spare, ssa_store_close);
	g_free(follow->spare_uri);
	follow->spare_uri = g_steal_pointer(&uri);
	follow->spare_us = g_get_monotonic_time() + g_random_int_range(0, LOOK_MS * 1000);
	follow->spare_rest_s = 0;
}

/* Keeps connections to the other parent, for the moment when they are needed. */
static void keep_spare(struct ssa_follow *follow)
{
	int64_t now_us = g_get_monotonic_time();

	find_spare(follow);
	if (!follow->spare_uri || now_us < follow->spare_us)
		return;
	follow->spare_us = now_us + LOOK_MS * INT64_C(1000);
	if (!follow->spare)
		follow->spare = open_store(follow, follow->spare_uri, NULL);
	if (follow->spare && ssa_store_keep(follow->spare, SPARE_MS, NULL)) {
		follow->spare_rest_s = 0;
		return;
	}
	g_clear_pointer(&follow->spare, ssa_store_close);
	follow->spare_rest_s = CLAMP(follow->spare_rest_s * 2, 1, SPARE_REST_MAX_S);
	follow->spare_us = now_us + follow->spare_rest_s * G_USEC_PER_SEC;
}

static void drop_spare(struct ssa_follow *follow)
{
	g_clear_pointer(&follow->spare, ssa_store_close);
	g_clear_pointer(&follow->spare_uri, g_free);
}

/* ---- whether the epoch is current ---- */

/*
 * The daemon's pulse, by what the store has of it; false: nothing new. The first that is heard may
 * be an old one.
 */
static bool has_pulse(struct ssa_follow *follow)
{
	const struct ssa_agent_config *agent = &follow->config.agent;
	const struct ssa_snapshot *snapshot = ssa_agent_snapshot(follow->agent);
	g_autofree char *text = ssa_store_pulse(follow->store, NULL);
	bool is_first = !follow->alive.time_us;
	struct ssa_alive alive;

	if (!text || !ssa_alive_parse(text, agent->prefix, agent->key, &alive) ||
	    !ssa_alive_is_news(&alive, &follow->alive))
		return false;
	follow->alive = alive;
	return !is_first && snapshot && alive.term == snapshot->term &&
	       alive.epoch == snapshot->epoch;
}

static void confirm(struct ssa_follow *follow)
{
	if (!has_pulse(follow))
		return;
	ssa_agent_confirm(follow->agent);
	ssa_report_confirmed(follow->config.reporter);
}

/* ---- the thread ---- */

/* Before the first epoch no parent has one, and to change it would not help. */
static bool is_just_empty(const struct ssa_follow *follow, const GError *error)
{
	return g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT) &&
	       !ssa_agent_snapshot(follow->agent);
}

static bool update(struct ssa_follow *follow, GError **error)
{
	const struct ssa_snapshot *snapshot;
	GError *problem = NULL;

	switch (ssa_agent_update(follow->agent, follow->store, &problem)) {
	case SSA_UPDATE_FAILED:
		if (!is_just_empty(follow, problem)) {
			g_propagate_error(error, problem);
			return false;
		}
		g_error_free(problem);
		break;
	case SSA_UPDATE_SAME:
		break;
	case SSA_UPDATE_NEWER:
		snapshot = ssa_agent_snapshot(follow->agent);
		if (follow->config.taken)
			follow->config.taken(follow->config.arg, snapshot);
		ssa_report_epoch(follow->config.reporter, snapshot->term, snapshot->epoch);
		break;
	}
	ssa_parents_worked(&follow->parents, follow->config.reporter);
	return true;
}

/* The spare one, if it is that parent and works, is in use then. */
static bool use_spare(struct ssa_follow *follow, const char *uri)
{
	if (!follow->spare || strcmp(follow->spare_uri, uri) != 0)
		return false;
	set_store(follow, g_steal_pointer(&follow->spare), uri);
	if (update(follow, NULL))
		return true;
	set_store(follow, NULL, NULL);
	return false;
}

/* As long as the parent works and is to be used. */
static bool follow_parent(struct ssa_follow *follow, GError **error)
{
	while (ssa_parents_go_on(&follow->parents)) {
		if (!update(follow, error))
			return false;
		if (ssa_agent_snapshot(follow->agent))
			confirm(follow);
		keep_spare(follow);
		if (!ssa_store_wait(follow->store, follow->config.look_ms, error))
			return false;
	}
	return true;
}

static void *run(void *arg)
{
	struct ssa_follow *follow = arg;
	struct ssa_reporter *reporter = follow->config.reporter;
	const char *uri;

	while ((uri = ssa_parents_next(&follow->parents, reporter))) {
		GError *error = NULL;

		if ((use_spare(follow, uri) || use(follow, uri, &error)) &&
		    follow_parent(follow, &error))
			continue;
		set_store(follow, NULL, NULL);
		ssa_parents_failed(&follow->parents, reporter, error);
	}
	set_store(follow, NULL, NULL);
	drop_spare(follow);
	return NULL;
}

/* ---- life ---- */

static void wake(void *arg)
{
	struct ssa_follow *follow = arg;

	if (follow->store)
		ssa_store_cancel(follow->store);
}

struct ssa_follow *ssa_follow_start(const struct ssa_follow_config *config)
{
	struct ssa_follow *follow = g_new0(struct ssa_follow, 1);

	follow->config = *config;
	if (!config->look_ms)
		follow->config.look_ms = LOOK_MS;
	follow->agent = ssa_agent_new(&config->agent);
	ssa_parents_init(&follow->parents, wake, follow);
	ssa_thread_start(&follow->thread, run, follow);
	return follow;
}

void ssa_follow_parents(struct ssa_follow *follow, const char *primary, const char *backup)
{
	ssa_parents_set(&follow->parents, primary, backup);
}

void ssa_follow_stop(struct ssa_follow *follow)
{
	if (!follow)
		return;
	ssa_parents_stop(&follow->parents);
	pthread_join(follow->thread, NULL);
	ssa_agent_free(follow->agent);
	ssa_parents_clear(&follow->parents);
	g_free(follow);
}

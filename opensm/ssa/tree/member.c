// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/tree/member.h"

#include <string.h>
#include <unistd.h>

#include "client/say.h"
#include "ssa/tree/join.h"
#include "ssa/tree/remote.h"
#include "ssa/tree/thread.h"

#define PERIOD_MS (SSA_JOIN_PERIOD_S * 1000u)
#define BATCH 256u	/* members that join by one connection */
#define ANSWER_MS 1500u /* as long a core may think */
#define POLL_MS 5u
#define BAD_S 120 /* as long a bad parent is told */
#define BACK_OFF_MIN_MS 250u
#define BACK_OFF_MAX_MS 120000u
#define SOON_US (5 * G_USEC_PER_SEC)

struct ssa_member {
	struct ssa_members *members;
	uint64_t guid;
	unsigned int roles;
	char *address;
	struct ssa_reporter *reporter;
	ssa_member_parents parents;
	void *arg;
	int64_t due_us; /* by the lock */

	/* Of the thread. */
	struct ssa_answer answer; /* the last one with a parent */
	bool placed;		  /* so was the last one */
	uint64_t number;
	uint64_t switches, bad; /* those that were told last */
	int64_t bad_us;
	bool answered;
};

struct ssa_members {
	struct ssa_members_config config;
	pthread_t thread;
	bool running;
	GPtrArray *all; /* struct ssa_member */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	int64_t started_us;
	char *channel;
	unsigned int back_off_ms; /* 0: a core answers */
	GPtrArray *found;	  /* URIs of cores; NULL: those of the configuration count */
};

/* ---- what is told ---- */

static uint64_t guid_of_address(const struct ssa_member *member, const char *address)
{
	for (unsigned int i = 0; i < 2; i++)
		if (*address && !strcmp(member->answer.addresses[i], address))
			return member->answer.guids[i];
	return 0;
}

/* A parent is bad from the moment it is given up. */
static void judge(struct ssa_member *member, const struct ssa_report *report)
{
	int64_t now_us = g_get_monotonic_time();

	if (report->switches != member->switches) {
		member->bad = guid_of_address(member, report->bad_parent);
		member->bad_us = now_us;
	}
	member->switches = report->switches;
	if (now_us - member->bad_us > BAD_S * G_USEC_PER_SEC)
		member->bad = 0;
}

static char *join_text(struct ssa_member *member)
{
	struct ssa_report report;
	struct ssa_join join = {.guid = member->guid,
				.roles = member->roles,
				.number = ++member->number,
				.started_us = member->members->started_us};

	ssa_reporter_read(member->reporter, &report);
	judge(member, &report);
	join.bad = member->bad;
	memcpy(join.parents, member->answer.guids, sizeof(join.parents));
	join.term = report.term;
	join.epoch = report.epoch;
	join.updates = report.updates;
	join.errors = report.errors;
	join.switches = report.switches;
	join.updated_us = report.updated_us;
	join.confirmed_us = report.confirmed_us;
	join.error_us = report.error_us;
	g_strlcpy(join.address, member->address ? member->address : "", sizeof(join.address));
	g_strlcpy(join.parent, report.parent, sizeof(join.parent));
	g_strlcpy(join.error, report.error, sizeof(join.error));
	g_strlcpy(join.name, g_get_host_name(), sizeof(join.name));
	return ssa_join_text(&join);
}

/* A server at which no core listens is not waited for. */
static bool tell(struct ssa_members *members, struct ssa_member *member, struct ssa_remote *core,
		 GError **error)
{
	g_autofree char *key = ssa_remote_key(members->config.prefix, "node", member->guid);
	g_autofree char *text = join_text(member);
	int64_t listeners;

	member->answered = members->config.all;
	if (!ssa_remote_set(core, key, text, SSA_JOIN_KEPT_S, error) ||
	    !ssa_remote_publish(core, members->channel, text, &listeners, error))
		return false;
	if (listeners > 0)
		return true;
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE, "%s: no core listens there",
		    ssa_remote_uri(core));
	return false;
}

/* ---- what is answered ---- */

static void pass_on(struct ssa_member *member, const char *core, const struct ssa_answer *answer)
{
	bool same = !memcmp(member->answer.addresses, answer->addresses, sizeof(answer->addresses));
	g_autofree char *primary = NULL, *backup = NULL;

	member->answer = *answer;
	if (same || !member->parents)
		return;
	if (*answer->addresses[0])
		primary = ssa_remote_beside(core, answer->addresses[0]);
	if (*answer->addresses[1])
		backup = ssa_remote_beside(core, answer->addresses[1]);
	member->parents(member->arg, primary, backup);
}

/* False and no error: not answered yet. */
static bool look(struct ssa_members *members, struct ssa_member *member, struct ssa_remote *core,
		 GError **error)
{
	g_autofree char *key = ssa_remote_key(members->config.prefix, "parents", member->guid);
	g_autofree char *text = ssa_remote_get(core, key, error);
	struct ssa_answer answer;

	if (!text || !ssa_answer_parse(text, &answer) || answer.number != member->number)
		return false;
	member->answered = true;
	member->placed = *answer.addresses[0] != '\0';
	/* A core that knows no parent yet is asked again soon. */
	if (*answer.addresses[0] || !*member->answer.addresses[0])
		pass_on(member, ssa_remote_uri(core), &answer);
	return true;
}

static bool hear(struct ssa_members *members, GPtrArray *due, struct ssa_remote *core,
		 GError **error)
{
	int64_t until_us = g_get_monotonic_time() + ANSWER_MS * INT64_C(1000);
	GError *problem = NULL;
	guint waiting;

	do {
		waiting = 0;
		for (guint i = 0; i < due->len && !problem; i++) {
			struct ssa_member *member = due->pdata[i];

			if (!member->answered && !look(members, member, core, &problem))
				waiting++;
		}
		if (waiting && !problem)
			g_usleep(POLL_MS * 1000);
	} while (waiting && !problem && g_get_monotonic_time() < until_us);
	if (problem) {
		g_propagate_error(error, problem);
		return false;
	}
	if (waiting == due->len)
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
			    "%s: no core answers there", ssa_remote_uri(core));
	return waiting < due->len;
}

/* ---- joining ---- */

static bool join_at(struct ssa_members *members, GPtrArray *due, const char *uri, GError **error)
{
	struct ssa_remote *core = ssa_remote_open(uri, &members->config.options, error);
	bool good = core != NULL;

	for (guint i = 0; i < due->len && good; i++)
		good = tell(members, due->pdata[i], core, error);
	if (good && !members->config.all)
		good = hear(members, due, core, error);
	ssa_remote_close(core);
	return good;
}

/* Those that were found last stay, if no others are. */
static void find_cores(struct ssa_members *members)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *found = members->config.find(members->config.arg, &error);

	if (found) {
		if (members->found)
			g_ptr_array_unref(members->found);
		members->found = found;
	} else if (!members->back_off_ms) {
		say(LOG_NOTICE, "core: %s", error->message);
	}
}

/* False if they have to try again soon. */
static bool join(struct ssa_members *members, GPtrArray *due)
{
	const GPtrArray *cores;
	bool joined = false, failed = false;

	if (members->config.find && (!members->found || members->back_off_ms))
		find_cores(members);
	cores = members->found ? members->found : members->config.cores;
	for (guint i = 0; i < cores->len && (!joined || members->config.all); i++) {
		g_autoptr(GError) error = NULL;

		if (join_at(members, due, cores->pdata[i], &error)) {
			joined = true;
			continue;
		}
		failed = true;
		if (!members->back_off_ms)
			say(LOG_NOTICE, "core: %s", error->message);
	}
	return joined && !(failed && members->config.all);
}

/* Members whose time has come; waits for the first. Call with the lock held. */
static GPtrArray *take_due(struct ssa_members *members)
{
	GPtrArray *due = g_ptr_array_new();

	while (!members->stop && !due->len) {
		int64_t now_us = g_get_monotonic_time(), next_us = INT64_MAX;

		for (guint i = 0; i < members->all->len && due->len < BATCH; i++) {
			struct ssa_member *member = members->all->pdata[i];

			if (member->due_us <= now_us)
				g_ptr_array_add(due, member);
			next_us = MIN(next_us, member->due_us);
		}
		if (!due->len)
			ssa_cond_wait_until(&members->changed, &members->lock, next_us);
	}
	return due;
}

/* A minute, less up to a tenth of it, so that nodes do not come together. */
static void set_due(GPtrArray *due, unsigned int ms)
{
	for (guint i = 0; i < due->len; i++) {
		struct ssa_member *member = due->pdata[i];

		member->due_us = g_get_monotonic_time() + ms * INT64_C(1000) -
				 g_random_int_range(0, (gint32)(ms * 100));
	}
}

static bool has_all(const GPtrArray *due)
{
	for (guint i = 0; i < due->len; i++) {
		const struct ssa_member *member = due->pdata[i];

		if (!member->answered || (member->parents && !member->placed))
			return false;
	}
	return true;
}

static void *run(void *arg)
{
	struct ssa_members *members = arg;

	pthread_mutex_lock(&members->lock);
	while (!members->stop) {
		g_autoptr(GPtrArray) due = take_due(members);

		if (members->stop)
			break;
		set_due(due, PERIOD_MS); /* what happens now is due again */
		pthread_mutex_unlock(&members->lock);
		if (join(members, due) && has_all(due))
			members->back_off_ms = 0;
		else
			members->back_off_ms =
				CLAMP(members->back_off_ms * 2, BACK_OFF_MIN_MS, BACK_OFF_MAX_MS);
		pthread_mutex_lock(&members->lock);
		if (members->back_off_ms)
			set_due(due, MIN(members->back_off_ms, PERIOD_MS));
	}
	pthread_mutex_unlock(&members->lock);
	return NULL;
}

/* ---- life ---- */

void ssa_member_changed(struct ssa_member *member, bool at_once)
{
	struct ssa_members *members = member->members;
	int64_t due_us = at_once ? 0 : g_get_monotonic_time() + g_random_int_range(0, SOON_US);

	pthread_mutex_lock(&members->lock);
	member->due_us = MIN(member->due_us, due_us);
	pthread_cond_signal(&members->changed);
	pthread_mutex_unlock(&members->lock);
}

struct ssa_members *ssa_members_new(const struct ssa_members_config *config)
{
	struct ssa_members *members = g_new0(struct ssa_members, 1);

	members->config = *config;
	members->all = g_ptr_array_new();
	members->channel = ssa_remote_key(config->prefix, "join", 0);
	members->started_us = g_get_real_time();
	pthread_mutex_init(&members->lock, NULL);
	ssa_cond_init(&members->changed);
	return members;
}

struct ssa_member *ssa_members_add(struct ssa_members *members, uint64_t guid, unsigned int roles,
				   const char *address, struct ssa_reporter *reporter,
				   ssa_member_parents parents, void *arg)
{
	struct ssa_member *member = g_new0(struct ssa_member, 1);

	member->members = members;
	member->guid = guid;
	member->roles = roles;
	member->address = g_strdup(address);
	member->reporter = reporter;
	member->parents = parents;
	member->arg = arg;
	/* Unlike any of a run before, which may still be answered. */
	member->number = (uint64_t)g_get_real_time();
	g_ptr_array_add(members->all, member);
	return member;
}

void ssa_members_start(struct ssa_members *members)
{
	members->running = true;
	ssa_thread_start(&members->thread, run, members);
}

void ssa_members_stop(struct ssa_members *members)
{
	if (!members || !members->running)
		return;
	pthread_mutex_lock(&members->lock);
	members->stop = true;
	pthread_cond_signal(&members->changed);
	pthread_mutex_unlock(&members->lock);
	pthread_join(members->thread, NULL);
	members->running = false;
}

void ssa_members_free(struct ssa_members *members)
{
	if (!members)
		return;
	ssa_members_stop(members);
	for (guint i = 0; i < members->all->len; i++) {
		struct ssa_member *member = members->all->pdata[i];

		g_free(member->address);
		g_free(member);
	}
	g_ptr_array_unref(members->all);
	if (members->found)
		g_ptr_array_unref(members->found);
	pthread_mutex_destroy(&members->lock);
	pthread_cond_destroy(&members->changed);
	g_free(members->channel);
	g_free(members);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "snmp/mirror.h"

#include "client/link.h"

#define CONNECTIONS 2
#define ANSWER_MS 4000
#define CHANGE_MS 8000
#define YOUNG_US G_USEC_PER_SEC
#define FABRIC_YOUNG_US (10 * G_USEC_PER_SEC)
#define N_PARTS 3
#define STEPS 3

/* The questions of a part, one after the other. */
struct question {
	const char *line;
	void (*take)(struct facts *facts, const char *text); /* NULL: the answer is a file */
};
static const struct question questions[N_PARTS][STEPS] = {
	{{"status json", facts_take_status},
	 {"health json", facts_take_health},
	 {"unhealthy json", facts_take_unhealthy}},
	{{"partitions members json", facts_take_members}, {"partitions json", facts_take_counts}},
	{{"image descriptor", NULL}},
};

struct part {
	struct mirror *mirror;
	unsigned int number, step;
	uint64_t request;	   /* 0: nothing is asked */
	gint64 asked_us, known_us; /* 0: never */
	bool again;		   /* what is asked now is old already */
};

struct waiter {
	unsigned int parts;
	mirror_done_fn *done;
	void *arg;
};

struct change {
	struct mirror *mirror;
	mirror_changed_fn *done;
	void *arg;
};

struct mirror {
	struct link *link;
	struct facts *facts;
	struct part parts[N_PARTS];
	GArray *waiters;    /* of struct waiter */
	GPtrArray *changes; /* of struct change */
};

struct mirror *mirror_new(const char *path)
{
	struct mirror *mirror = g_new0(struct mirror, 1);

	mirror->link = link_new(path, CONNECTIONS);
	mirror->facts = facts_new();
	mirror->waiters = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	mirror->changes = g_ptr_array_new_with_free_func(g_free);
	for (unsigned int i = 0; i < N_PARTS; i++) {
		mirror->parts[i].mirror = mirror;
		mirror->parts[i].number = i;
	}
	return mirror;
}

void mirror_free(struct mirror *mirror)
{
	if (!mirror)
		return;
	link_free(mirror->link);
	facts_free(mirror->facts);
	g_array_unref(mirror->waiters);
	g_ptr_array_unref(mirror->changes);
	g_free(mirror);
}

const struct facts *mirror_facts(const struct mirror *mirror)
{
	return mirror->facts;
}

/* ---- questions ---- */

static void ask(struct part *part);

/* Calls done() of those that have waited for this part only; they may wait again. */
static void tell(struct mirror *mirror, unsigned int part)
{
	g_autoptr(GArray) ready = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	guint n = 0;

	for (guint i = 0; i < mirror->waiters->len; i++) {
		struct waiter waiter = g_array_index(mirror->waiters, struct waiter, i);

		waiter.parts &= ~(1u << part);
		if (waiter.parts)
			g_array_index(mirror->waiters, struct waiter, n++) = waiter;
		else
			g_array_append_val(ready, waiter);
	}
	g_array_set_size(mirror->waiters, n);
	for (guint i = 0; i < ready->len; i++) {
		struct waiter *waiter = &g_array_index(ready, struct waiter, i);

		waiter->done(waiter->arg);
	}
}

static void take(struct part *part, const struct reply *reply)
{
	struct facts *facts = part->mirror->facts;
	const struct question *question = &questions[part->number][part->step];
	bool good = reply->status == CONTROL_DONE;

	/* The exit status of health is that of a problem. */
	if (!question->take)
		facts_take_image(facts, good ? reply->file : 0);
	else if (question->take == facts_take_health)
		question->take(facts,
			       reply->status >= CONTROL_NO_SM || good ? reply->output : NULL);
	else
		question->take(facts, good ? reply->output : NULL);
}

static void on_reply(void *arg, struct reply *reply)
{
	struct part *part = arg;
	const struct question *steps = questions[part->number];
	struct facts *facts = part->mirror->facts;
	bool gone = reply->status == CONTROL_UNREACHABLE || reply->status == CONTROL_REFUSED;
	enum facts_state before = facts->state;

	part->request = 0;
	if (gone) {
		facts_take_status(facts, NULL);
		facts_take_health(facts, NULL);
		part->mirror->parts[0].known_us = 0;
	}
	do {
		take(part, reply);
		part->step++;
	} while (gone && part->step < STEPS && steps[part->step].line);
	/* In another state there may be more to be had. */
	for (unsigned int i = 1; i < N_PARTS && facts->state != before; i++)
		part->mirror->parts[i].known_us = 0;
	if (part->step < STEPS && steps[part->step].line) {
		ask(part);
		return;
	}
	part->step = 0;
	if (part->again) {
		part->again = false;
		part->asked_us = g_get_monotonic_time();
		ask(part);
		return;
	}
	part->known_us = part->asked_us;
	tell(part->mirror, part->number);
}

static void ask(struct part *part)
{
	part->request = link_ask(part->mirror->link, questions[part->number][part->step].line,
				 ANSWER_MS, on_reply, part);
}

static bool is_young(const struct part *part, gint64 now)
{
	gint64 age = 1u << part->number == MIRROR_FABRIC ? FABRIC_YOUNG_US : YOUNG_US;

	return part->known_us && now - part->known_us <= age;
}

bool mirror_want(struct mirror *mirror, unsigned int parts, mirror_done_fn *done, void *arg)
{
	gint64 now = g_get_monotonic_time();
	struct waiter waiter = {0, done, arg};

	for (unsigned int i = 0; i < N_PARTS; i++) {
		struct part *part = &mirror->parts[i];

		if (!(parts >> i & 1) || is_young(part, now))
			continue;
		waiter.parts |= 1u << i;
		if (part->request)
			continue;
		part->asked_us = now;
		ask(part);
	}
	if (!waiter.parts)
		return false;
	g_array_append_val(mirror->waiters, waiter);
	return true;
}

void mirror_forget(struct mirror *mirror, unsigned int parts)
{
	for (unsigned int i = 0; i < N_PARTS; i++) {
		struct part *part = &mirror->parts[i];

		if (!(parts >> i & 1))
			continue;
		part->known_us = 0;
		part->again = part->request != 0;
	}
}

/* ---- changes ---- */

static void on_changed(void *arg, struct reply *reply)
{
	struct change *change = arg;

	mirror_forget(change->mirror, MIRROR_STATUS | MIRROR_POLICY);
	change->done(change->arg, reply->status, reply->output);
	g_ptr_array_remove_fast(change->mirror->changes, change);
}

void mirror_change(struct mirror *mirror, const char *line, mirror_changed_fn *done, void *arg)
{
	struct change *change = g_new0(struct change, 1);

	*change = (struct change){.mirror = mirror, .done = done, .arg = arg};
	g_ptr_array_add(mirror->changes, change);
	link_ask(mirror->link, line, CHANGE_MS, on_changed, change);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/api/asker.h"

#include <string.h>

#define KEEP_US (2 * G_USEC_PER_SEC) /* of an answer, at most */

struct waiter {
	asker_done_fn *done; /* NULL: done_file */
	asker_file_fn *done_file;
	void *arg;
};

/* What the daemon has said. */
struct said {
	enum control_status status;
	GBytes *text;	   /* NULL: nothing yet */
	struct held *file; /* NULL: none */
};

struct question {
	struct asker *asker;
	char *line;
	GArray *waiting;  /* of struct waiter */
	uint64_t request; /* 0: it is answered */
	gint64 answered_us;
	struct said said;
};

struct asker {
	struct link *link;
	uint64_t *held;
	GHashTable *questions; /* line -> struct question */
	GSource *sweeper;      /* removes old answers; NULL: there are none */
};

static struct said said_ref(const struct said *said)
{
	return (struct said){said->status, g_bytes_ref(said->text),
			     said->file ? held_ref(said->file) : NULL};
}

static void said_clear(struct said *said)
{
	g_clear_pointer(&said->text, g_bytes_unref);
	g_clear_pointer(&said->file, held_unref);
}

static void question_free(gpointer data)
{
	struct question *question = data;

	if (question->request)
		link_cancel(question->asker->link, question->request);
	g_array_unref(question->waiting);
	said_clear(&question->said);
	g_free(question->line);
	g_free(question);
}

struct asker *asker_new(struct link *link, uint64_t *held)
{
	struct asker *asker = g_new0(struct asker, 1);

	asker->link = link;
	asker->held = held;
	asker->questions = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, question_free);
	return asker;
}

static void stop_sweeper(struct asker *asker)
{
	if (!asker->sweeper)
		return;
	g_source_destroy(asker->sweeper);
	g_clear_pointer(&asker->sweeper, g_source_unref);
}

void asker_free(struct asker *asker)
{
	if (!asker)
		return;
	stop_sweeper(asker);
	g_hash_table_unref(asker->questions);
	g_free(asker);
}

static gboolean is_old(gpointer key, gpointer value, gpointer now)
{
	const struct question *question = value;

	(void)key;
	return !question->request && question->answered_us + KEEP_US <= *(gint64 *)now;
}

static gboolean on_sweep(gpointer data)
{
	struct asker *asker = data;
	gint64 now = g_get_monotonic_time();

	g_hash_table_foreach_remove(asker->questions, is_old, &now);
	if (!g_hash_table_size(asker->questions))
		stop_sweeper(asker);
	return asker->sweeper ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void tell(const struct waiter *waiter, const struct said *said)
{
	if (waiter->done)
		waiter->done(waiter->arg, said->status, said->text);
	else
		waiter->done_file(waiter->arg, said->status, said->text, said->file);
}

static void set(struct said *said, enum control_status status, char *text)
{
	said->status = status;
	said->text = g_bytes_new_take(text, strlen(text));
}

/* Also the file, unless it is too large. */
static void listen_to(struct question *question, struct reply *reply)
{
	struct said *said = &question->said;
	int file = reply->file;

	reply->file = 0;
	if (file)
		said->file = held_new(file, question->asker->held);
	if (file && !said->file)
		set(said, CONTROL_UNREACHABLE, g_strdup(HELD_TOO_MUCH));
	else
		set(said, reply->status, g_steal_pointer(&reply->output));
}

static void on_reply(void *arg, struct reply *reply)
{
	struct question *question = arg;
	g_autoptr(GArray) waiting = g_steal_pointer(&question->waiting);
	struct said said;

	question->waiting = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	question->request = 0;
	question->answered_us = g_get_monotonic_time();
	listen_to(question, reply);
	said = said_ref(&question->said); /* done() may ask the same again */
	for (guint i = 0; i < waiting->len; i++)
		tell(&g_array_index(waiting, struct waiter, i), &said);
	said_clear(&said);
}

static struct question *add_question(struct asker *asker, const char *line)
{
	struct question *question = g_new0(struct question, 1);

	question->asker = asker;
	question->line = g_strdup(line);
	question->waiting = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	g_hash_table_replace(asker->questions, question->line, question);
	if (!asker->sweeper) {
		asker->sweeper = g_timeout_source_new_seconds(1);
		g_source_set_callback(asker->sweeper, on_sweep, asker, NULL);
		g_source_attach(asker->sweeper, NULL);
	}
	return question;
}

static void ask(struct asker *asker, const char *line, unsigned int age_ms,
		unsigned int patience_ms, const struct waiter *waiter)
{
	struct question *question = g_hash_table_lookup(asker->questions, line);
	gint64 oldest_us = g_get_monotonic_time() - (gint64)age_ms * 1000;
	struct said said;

	if (question && !question->request && question->said.status == CONTROL_DONE &&
	    question->answered_us >= oldest_us) {
		said = said_ref(&question->said);
		tell(waiter, &said);
		said_clear(&said);
		return;
	}
	if (!question)
		question = add_question(asker, line);
	g_array_append_val(question->waiting, *waiter);
	if (question->request)
		return;
	said_clear(&question->said);
	question->request = link_ask(asker->link, line, patience_ms, on_reply, question);
}

void asker_ask(struct asker *asker, const char *line, unsigned int age_ms, unsigned int patience_ms,
	       asker_done_fn *done, void *arg)
{
	ask(asker, line, age_ms, patience_ms, &(struct waiter){.done = done, .arg = arg});
}

void asker_ask_file(struct asker *asker, const char *line, unsigned int age_ms,
		    unsigned int patience_ms, asker_file_fn *done, void *arg)
{
	ask(asker, line, age_ms, patience_ms, &(struct waiter){.done_file = done, .arg = arg});
}

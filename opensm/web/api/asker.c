// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/api/asker.h"

#include <string.h>

#define KEEP_US (2 * G_USEC_PER_SEC) /* of an answer, at most */

struct waiter {
	asker_done_fn *done;
	void *arg;
};

struct question {
	struct asker *asker;
	char *line;
	GArray *waiting;  /* of struct waiter */
	uint64_t request; /* 0: it is answered */
	gint64 answered_us;
	enum control_status status;
	GBytes *text;
};

struct asker {
	struct link *link;
	GHashTable *questions; /* line -> struct question */
	GSource *sweeper;      /* removes old answers; NULL: there are none */
};

static void question_free(gpointer data)
{
	struct question *question = data;

	if (question->request)
		link_cancel(question->asker->link, question->request);
	g_array_unref(question->waiting);
	if (question->text)
		g_bytes_unref(question->text);
	g_free(question->line);
	g_free(question);
}

struct asker *asker_new(struct link *link)
{
	struct asker *asker = g_new0(struct asker, 1);

	asker->link = link;
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

static void on_reply(void *arg, struct reply *reply)
{
	struct question *question = arg;
	g_autoptr(GArray) waiting = g_steal_pointer(&question->waiting);
	g_autoptr(GBytes) text = NULL;
	enum control_status status = reply->status;

	question->waiting = g_array_new(FALSE, FALSE, sizeof(struct waiter));
	question->request = 0;
	question->answered_us = g_get_monotonic_time();
	question->status = status;
	question->text = g_bytes_new_take(reply->output, strlen(reply->output));
	reply->output = NULL;
	text = g_bytes_ref(question->text);
	for (guint i = 0; i < waiting->len; i++) {
		struct waiter *waiter = &g_array_index(waiting, struct waiter, i);

		waiter->done(waiter->arg, status, text);
	}
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

void asker_ask(struct asker *asker, const char *line, unsigned int age_ms, unsigned int patience_ms,
	       asker_done_fn *done, void *arg)
{
	struct question *question = g_hash_table_lookup(asker->questions, line);
	gint64 oldest_us = g_get_monotonic_time() - (gint64)age_ms * 1000;
	struct waiter waiter = {done, arg};

	if (question && !question->request && question->status == CONTROL_DONE &&
	    question->answered_us >= oldest_us) {
		g_autoptr(GBytes) text = g_bytes_ref(question->text);

		done(arg, question->status, text);
		return;
	}
	if (!question)
		question = add_question(asker, line);
	g_array_append_val(question->waiting, waiter);
	if (question->request)
		return;
	g_clear_pointer(&question->text, g_bytes_unref);
	question->request = link_ask(asker->link, line, patience_ms, on_reply, question);
}

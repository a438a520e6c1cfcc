// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A job of the pool for files owns copies of all that it needs and comes back as the same message.
 * Each file has one job at a time, so that an old text never replaces a new one.
 */
#include "core/state/state_writer.h"

#include <errno.h>
#include <glib/gstdio.h>

#include "core/state/state_file.h"

struct job {
	struct message message; /* of the pool, then of the owner */
	struct state_writer *writer;
	char *file, *text;
	const char *what;
	bool fsync_it, good;
	void (*done)(void *arg, bool good);
	void *arg;
};

struct state_writer {
	struct context *context;
	struct actor *owner;
	GHashTable *running; /* names of files that are being written */
	GHashTable *waiting; /* struct job by its file */
	void (*idle)(void *arg); /* NULL: not wanted */
	void *idle_arg;
};

static void job_free(gpointer data)
{
	struct job *job = data;

	g_free(job->file);
	g_free(job->text);
	g_free(job);
}

static void job_drop(struct message *message)
{
	job_free(message);
}

static void job_done(struct message *message)
{
	struct job *job = (struct job *)message, *next = NULL;
	struct state_writer *writer = job->writer;

	g_hash_table_remove(writer->running, job->file);
	if (job->done)
		job->done(job->arg, job->good);
	if (g_hash_table_steal_extended(writer->waiting, job->file, NULL, (gpointer *)&next)) {
		g_hash_table_add(writer->running, g_strdup(next->file));
		pool_post(writer->context->files, &next->message);
	}
	job_free(job);
	if (writer->idle && state_writer_is_idle(writer))
		writer->idle(writer->idle_arg);
}

static void write_it(struct job *job)
{
	if (!job->text) {
		job->good = g_unlink(job->file) == 0 || errno == ENOENT;
		if (!job->good)
			log_error(job->writer->context->log, "%s: %s: %s", job->what, job->file,
				  g_strerror(errno));
		return;
	}
	job->good = state_save(job->writer->context->log, job->file, job->what, job->text,
			       job->fsync_it);
}

static void job_run(struct message *message)
{
	struct job *job = (struct job *)message;

	write_it(job);
	message->run = job_done;
	actor_post(job->writer->owner, message);
}

void state_writer_put(struct state_writer *writer, const char *file, const char *what, char *text,
		      bool fsync_it, void (*done)(void *arg, bool good), void *arg)
{
	struct job *job = g_new0(struct job, 1);

	job->message.run = job_run;
	job->message.drop = job_drop;
	job->writer = writer;
	job->file = g_strdup(file);
	job->text = text;
	job->what = what;
	job->fsync_it = fsync_it;
	job->done = done;
	job->arg = arg;
	if (!writer->context->files || g_hash_table_contains(writer->running, file)) {
		g_hash_table_replace(writer->waiting, job->file, job);
		return;
	}
	g_hash_table_add(writer->running, g_strdup(file));
	pool_post(writer->context->files, &job->message);
}

bool state_writer_is_busy(const struct state_writer *writer, const char *file)
{
	return g_hash_table_contains(writer->running, file) ||
	       g_hash_table_contains(writer->waiting, file);
}

bool state_writer_is_idle(const struct state_writer *writer)
{
	return !g_hash_table_size(writer->running) && !g_hash_table_size(writer->waiting);
}

void state_writer_on_idle(struct state_writer *writer, void (*idle)(void *arg), void *arg)
{
	writer->idle = idle;
	writer->idle_arg = arg;
}

struct state_writer *state_writer_new(struct context *context, struct actor *owner)
{
	struct state_writer *writer = g_new0(struct state_writer, 1);

	writer->context = context;
	writer->owner = owner;
	writer->running = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	writer->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, job_free);
	return writer;
}

/*
 * The texts still waiting are all that the files lack; the pool is gone, maybe since they were
 * queued.
 */
static void write_now(gpointer key, gpointer value, gpointer arg)
{
	(void)key;
	(void)arg;
	write_it(value);
}

void state_writer_free(struct state_writer *writer)
{
	g_hash_table_foreach(writer->waiting, write_now, NULL);
	g_hash_table_unref(writer->running);
	g_hash_table_unref(writer->waiting);
	g_free(writer);
}

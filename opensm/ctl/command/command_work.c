// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands whose answer another thread makes, as they read files, or as it is long. */
#include <unistd.h>

#include "ctl/command/command_private.h"

static void put(struct command_work *work)
{
	if (!ref_put(&work->ref))
		return;
	g_free(work->text);
	if (work->wrapped)
		g_string_free(work->wrapped, TRUE);
	if (work->file >= 0)
		close(work->file);
	work->free(work);
}

static void finish(struct command_work *work)
{
	atomic_store(&work->done, true);
	put(work);
}

static void run(struct command_work *work)
{
	g_autoptr(GVariant) answer = NULL;
	g_autoptr(GError) error = NULL;

	answer = work->run(work, &error);
	if (answer)
		g_variant_ref_sink(answer);
	else if (!error)
		return;
	work->failed = !answer;
	work->text = command_complete(work->command, answer, error, work->json, &work->status);
	if (!work->wrap)
		return;
	work->wrapped = g_string_new(work->text);
	g_free(work->text);
	work->text = g_strdup("");
	work->wrap(work->wrapped, work->status, work->file >= 0);
}

static void on_run(struct message *message)
{
	struct command_work *work = container_of(message, struct command_work, message);

	if (!atomic_load(&work->unwanted))
		run(work);
	finish(work);
}

static void on_drop(struct message *message)
{
	finish(container_of(message, struct command_work, message));
}

void command_work_post(struct command_call *call, struct command_work *work, struct pool *pool)
{
	ref_init(&work->ref);
	ref_get(&work->ref);
	atomic_init(&work->done, false);
	atomic_init(&work->unwanted, false);
	work->message.run = on_run;
	work->message.drop = on_drop;
	work->command = call->command;
	work->json = call->json;
	work->wrap = call->env->wrap;
	work->file = -1;
	work->files_until = &call->context->files_until;
	call->later = true;
	call->work = work;
	pool_post(pool, &work->message);
}

bool command_work_is_stopped(void *arg)
{
	struct command_work *work = arg;
	gint64 until = atomic_load(work->files_until);

	return atomic_load(&work->unwanted) || (until && g_get_monotonic_time() > until);
}

bool command_work_is_done(const struct command_work *work)
{
	return atomic_load(&work->done);
}

void command_work_drop(struct command_work *work)
{
	if (!work)
		return;
	atomic_store(&work->unwanted, true);
	put(work);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands whose answer another thread makes, as they read files, or as it is long. When the answer
 * is there, the message that made it comes back to the thread of the daemon, for the session.
 */
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

/* ---- on the thread of the daemon ---- */

static void tell(struct message *message)
{
	struct command_work *work = container_of(message, struct command_work, message);

	if (work->listener)
		work->listener(work->listener_arg);
	put(work);
}

static void lose(struct message *message)
{
	put(container_of(message, struct command_work, message));
}

/* ---- in the pool ---- */

static void finish(struct command_work *work)
{
	atomic_store(&work->done, true);
	if (atomic_load(&work->unwanted)) {
		put(work);
		return;
	}
	work->message = (struct message){.run = tell, .drop = lose};
	actor_post(work->owner, &work->message);
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

/* ---- the interface ---- */

void command_work_post(struct command_call *call, struct command_work *work, struct pool *pool)
{
	ref_init(&work->ref);
	ref_get(&work->ref);
	atomic_init(&work->done, false);
	atomic_init(&work->unwanted, false);
	work->message.run = on_run;
	work->message.drop = on_drop;
	work->owner = daemon_actor(call->env->daemon);
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

void command_work_listen(struct command_work *work, void (*listener)(void *arg), void *arg)
{
	work->listener = listener;
	work->listener_arg = arg;
}

bool command_work_is_done(const struct command_work *work)
{
	return atomic_load(&work->done);
}

void command_work_drop(struct command_work *work)
{
	if (!work)
		return;
	work->listener = NULL;
	atomic_store(&work->unwanted, true);
	put(work);
}

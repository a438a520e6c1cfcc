// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands whose answer another thread makes, as they read files. */
#include "ctl/command/command_private.h"

static void put(struct command_work *work)
{
	if (!ref_put(&work->ref))
		return;
	if (work->answer)
		g_variant_unref(work->answer);
	g_clear_error(&work->error);
	work->free(work);
}

static void finish(struct command_work *work)
{
	atomic_store(&work->done, true);
	put(work);
}

static void on_run(struct message *message)
{
	struct command_work *work = container_of(message, struct command_work, message);

	if (!atomic_load(&work->unwanted))
		work->answer = work->run(work, &work->error);
	if (work->answer)
		g_variant_ref_sink(work->answer);
	finish(work);
}

static void on_drop(struct message *message)
{
	finish(container_of(message, struct command_work, message));
}

void command_work_post(struct command_call *call, struct command_work *work)
{
	ref_init(&work->ref);
	ref_get(&work->ref);
	atomic_init(&work->done, false);
	atomic_init(&work->unwanted, false);
	work->message.run = on_run;
	work->message.drop = on_drop;
	work->files_until = &call->context->files_until;
	call->later = true;
	call->work = work;
	pool_post(call->context->files, &work->message);
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

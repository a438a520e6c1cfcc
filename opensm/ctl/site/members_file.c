// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/site/members_file.h"

#include "complib/aside.h"

typedef void written_fn(void *arg, struct partition_changes *changes, const GError *error);

struct writing {
	struct aside_job job;	   /* first */
	struct members_file *file; /* for done only: it may be freed while the work goes on */
	struct aside *aside;
	struct partition_changes *changes;
	GError *error;
	written_fn *written;
	void *arg;
};

struct members_file {
	struct context *context;
	bool busy;
	struct writing *waiting; /* NULL: none */
};

static void writing_free(struct writing *writing)
{
	if (!writing)
		return;
	partition_changes_unref(writing->changes);
	g_clear_error(&writing->error);
	g_free(writing);
}

static void drop(struct aside_job *job)
{
	writing_free((struct writing *)job);
}

static void work(struct aside_job *job)
{
	struct writing *writing = (struct writing *)job;

	partition_changes_save(writing->changes, &writing->error);
}

/* The disk may be slow, and the thread has to answer others. */
static void begin(struct writing *writing)
{
	writing->file->busy = true;
	aside_run(writing->aside, &writing->job, 0);
}

static void done(struct aside_job *job)
{
	struct writing *writing = (struct writing *)job;
	struct members_file *file = writing->file;

	file->busy = false;
	if (writing->error && !writing->written)
		log_error(file->context->log, "partition members could not be saved: %s",
			  writing->error->message);
	if (writing->written)
		writing->written(writing->arg, writing->changes, writing->error);
	if (!file->busy && file->waiting)
		begin(g_steal_pointer(&file->waiting));
	writing_free(writing);
}

void members_file_put(struct members_file *file, struct aside *aside,
		      struct partition_changes *changes, written_fn *written, void *arg)
{
	struct writing *writing = g_new0(struct writing, 1);

	writing->job = (struct aside_job){.work = work, .done = done, .drop = drop};
	writing->file = file;
	writing->aside = aside;
	writing->changes = partition_changes_ref(changes);
	writing->written = written;
	writing->arg = arg;
	if (!file->busy) {
		begin(writing);
		return;
	}
	writing_free(file->waiting);
	file->waiting = writing;
}

struct members_file *members_file_new(struct context *context)
{
	struct members_file *file = g_new0(struct members_file, 1);

	file->context = context;
	return file;
}

void members_file_free(struct members_file *file)
{
	if (!file)
		return;
	writing_free(file->waiting);
	g_free(file);
}

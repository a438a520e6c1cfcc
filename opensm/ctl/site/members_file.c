// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/site/members_file.h"

#include "complib/aside.h"

struct writing {
	struct aside_job job;	   /* first */
	struct members_file *file; /* for done only: it may be freed while the work goes on */
	struct aside *aside;
	struct partition_changes *changes;
	GError *error;
	void (*written)(void *arg, struct partition_changes *changes, const GError *error);
	void *arg;
};

struct members_file {
	struct context *context;
	bool busy;
	struct partition_changes *waiting; /* NULL: none */
};

static void writing_free(struct writing *writing)
{
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

static void done(struct aside_job *job)
{
	struct writing *writing = (struct writing *)job;
	struct members_file *file = writing->file;
	struct partition_changes *next = g_steal_pointer(&file->waiting);

	file->busy = false;
	if (writing->error && !writing->written)
		log_error(file->context->log, "partition members could not be saved: %s",
			  writing->error->message);
	if (writing->written)
		writing->written(writing->arg, writing->changes, writing->error);
	if (next)
		members_file_put(file, writing->aside, next, 0, NULL, NULL);
	partition_changes_unref(next);
	writing_free(writing);
}

void members_file_put(struct members_file *file, struct aside *aside,
		      struct partition_changes *changes, uint64_t patience_ns,
		      void (*written)(void *arg, struct partition_changes *changes,
				      const GError *error),
		      void *arg)
{
	struct writing *writing;

	if (file->busy) {
		partition_changes_unref(file->waiting);
		file->waiting = partition_changes_ref(changes);
		return;
	}
	writing = g_new0(struct writing, 1);
	writing->job = (struct aside_job){.work = work, .done = done, .drop = drop};
	writing->file = file;
	writing->aside = aside;
	writing->changes = partition_changes_ref(changes);
	writing->written = written;
	writing->arg = arg;
	file->busy = true;
	aside_run(aside, &writing->job, patience_ns);
}

bool members_file_is_busy(const struct members_file *file)
{
	return file->busy;
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
	partition_changes_unref(file->waiting);
	g_free(file);
}

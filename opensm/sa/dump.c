// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sa/dump.h"

#include "complib/file.h"
#include "core/options.h"
#include "sa/database.h"

#define DUMP_NAME "opensm-sa.dump"
#define DUMP_MODE 0600 /* contains ServiceKeys */

struct dump_job {
	struct message message;
	struct context *context;
	char *file, *text;
};

static struct sa_moment moment(const struct context *context)
{
	return (struct sa_moment){runtime_now(context->rt), g_get_real_time() / G_USEC_PER_SEC};
}

static void job_free(struct dump_job *job)
{
	g_free(job->file);
	g_free(job->text);
	g_free(job);
}

static void job_run(struct message *message)
{
	struct dump_job *job = (struct dump_job *)message;
	g_autoptr(GError) error = NULL;
	bool written = file_write(job->file, job->text, DUMP_MODE, &error);

	if (!atomic_exchange(&job->context->sa_unkept, !written) && !written)
		log_error(job->context->log, "%s", error->message);
	if (written)
		event_emit(&job->context->bus, EVENT_SA_DUMPED, 0);
	job_free(job);
}

static void job_drop(struct message *message)
{
	job_free((struct dump_job *)message);
}

void sa_dump_write(struct context *context, const struct sa_registries *registries)
{
	struct options *options = slot_take(&context->options);
	struct dump_job *job;

	if (options->dump_files_dir && *options->dump_files_dir) {
		job = g_new0(struct dump_job, 1);
		job->message.run = job_run;
		job->message.drop = job_drop;
		job->context = context;
		job->file = g_build_filename(options->dump_files_dir, DUMP_NAME, NULL);
		job->text = sa_database_write(registries, options->subnet_prefix, moment(context));
		pool_post(context->files, &job->message);
	}
	options_unref(options);
}

void sa_dump_load(struct context *context, const struct sa_registries *registries)
{
	struct options *options = slot_take(&context->options);
	const char *file = options->sa_db_file;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	unsigned int n_left_out = 0;

	if (file && *file)
		text = file_read(file, FILE_MAX_DUMP, NULL, &error);
	if (text && sa_database_read(registries, file, text, options->subnet_prefix,
				     moment(context), &n_left_out, &error))
		log_info(context->log, "SA: loaded %s", file);
	if (n_left_out)
		log_error(context->log,
			  "SA: %u multicast groups of %s are not restored: no MLID is free",
			  n_left_out, file);
	if (error)
		log_error(context->log, "SA: %s", error->message);
	options_unref(options);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/dump/dump_counters.h"

#include <errno.h>
#include <sys/stat.h>

#include "core/options.h"
#include "ctl/dump/dump_private.h"
#include "perf/image/record.h"

#define FILE_NAME "opensm_port_counters.log"

struct counters_job {
	struct message message;
	struct context *context;
	struct perf_images *images; /* NULL: there are none yet */
	char *path;
	bool machine;
};

/* ---- in the pool ---- */

static void put_node(const struct dump_view *view, const struct perf_node *node, GString *text)
{
	bool titled = false;

	for (unsigned int i = 0; i + node->first_port <= node->num_ports; i++) {
		struct perf_record record;

		if (!perf_record_of(&record, view->image, node->first_row + i))
			continue;
		if (!view->machine) {
			perf_record_print(&record, text);
			continue;
		}
		if (!titled) {
			g_string_append_c(text, '\n');
			perf_record_titles(text);
			titled = true;
		}
		perf_record_columns(&record, text);
	}
}

static void put_counters(struct dump_view *view, FILE *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t i = 0; view->image && i < view->image->layout->n_nodes; i++) {
		if (!dump_goes_on(view, out))
			return;
		g_string_truncate(text, 0);
		put_node(view, &view->image->layout->nodes[i], text);
		fwrite(text->str, 1, text->len, out);
	}
}

/* NULL, or what is wrong. A device or a pipe is not replaced by a file. */
static const char *write_counters(const struct counters_job *job)
{
	struct dump_view view = {.context = job->context,
				 .image = perf_images_last(job->images),
				 .machine = job->machine};
	struct stat status;
	int err;

	if (!stat(job->path, &status) && !S_ISREG(status.st_mode))
		return "it is not a regular file";
	err = dump_file(job->path, &view, put_counters);
	return err && err != ECANCELED ? g_strerror(err) : NULL;
}

static void job_drop(struct message *msg)
{
	struct counters_job *job = (struct counters_job *)msg;

	perf_images_unref(job->images);
	g_free(job->path);
	g_free(job);
}

static void job_run(struct message *msg)
{
	struct counters_job *job = (struct counters_job *)msg;
	const char *wrong = write_counters(job);

	if (wrong)
		log_error(job->context->log, "Failed to dump file %s : %s", job->path, wrong);
	job_drop(msg);
}

/* ---- by the operator ---- */

/* Newly allocated; NULL and error. */
static char *path_by(const struct options *options, GError **error)
{
	if (options->event_db_dump_file && *options->event_db_dump_file)
		return g_strdup(options->event_db_dump_file);
	if (options->dump_files_dir && *options->dump_files_dir)
		return g_build_filename(options->dump_files_dir, FILE_NAME, NULL);
	g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
			    "neither event_db_dump_file nor dump_files_dir is set");
	return NULL;
}

bool dump_counters(struct context *context, bool machine, GError **error)
{
	struct options *options = slot_take(&context->options);
	char *path = path_by(options, error);
	struct counters_job *job;

	options_unref(options);
	if (!path)
		return false;
	job = g_new(struct counters_job, 1);
	*job = (struct counters_job){
		.message.run = job_run,
		.message.drop = job_drop,
		.context = context,
		.images = slot_take(&context->perf_images),
		.path = path,
		.machine = machine,
	};
	pool_post(context->files, &job->message);
	return true;
}

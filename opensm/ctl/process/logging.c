// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/process/logging.h"

#include "core/milestones.h"

#define MEGABYTE UINT64_C(1048576)

void logging_apply(struct log *log, const struct options *options,
		   const struct module_flags *modules)
{
	log_set_flags(log, options->log_flags);
	log_set_flush(log, options->force_log_flush);
	log_set_max_bytes(log, options->log_max_size * MEGABYTE);
	log_set_prefix(log, options->log_prefix);
	log_set_json(log, options->log_format == LOG_FORMAT_JSON);
	module_flags_apply(modules, log);
}

/* Standard output is used by only one of: milestones, --progress, and a console user. */
static bool wants_milestones(const struct options *options)
{
	return !options->progress && options->console != CONSOLE_LOCAL;
}

struct log *logging_open(const struct options *options, GError **error)
{
	const struct log_config config = {
		.file = options->log_file,
		.prefix = options->log_prefix,
		.flags = options->log_flags,
		.append = options->accum_log_file,
		.max_bytes = options->log_max_size * MEGABYTE,
		.flush = options->force_log_flush,
		.message_ids = milestone_ids(),
		.milestones = wants_milestones(options),
		.apart = options_logs_apart(options),
		.no_syslog = options->sim != NULL,
		.json = options->log_format == LOG_FORMAT_JSON,
	};
	struct log *log = log_new(&config, error);
	struct module_flags *modules;

	if (!log)
		return NULL;
	modules = module_flags_load(options->per_module_logging_file, false, NULL);
	logging_apply(log, options, modules);
	module_flags_unref(modules);
	return log;
}

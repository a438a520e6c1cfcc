// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Applies options to the log: at a start, and whenever they are read again. Lines of
 * per_module_logging_file are "file.c flags", with flags in any base, separated by blanks, '=', ':'
 * or ','; '#' begins a comment.
 */
#include "ctl/process/logging.h"

#include <complib/file.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/milestones.h"

#define MEGABYTE UINT64_C(1048576)
#define SEPARATORS " \t\r=:,"

/* Returns what is wrong with the line, or NULL. log NULL: only checks the line. */
static const char *module_line(struct log *log, char *line)
{
	char *words, *name, *flags, *end;
	unsigned long value;

	line[strcspn(line, "#")] = '\0';
	name = strtok_r(line, SEPARATORS, &words);
	if (!name)
		return NULL;
	flags = strtok_r(NULL, SEPARATORS, &words);
	if (!flags)
		return "no log flags after the name of the source file";
	if (strtok_r(NULL, " \t\r", &words))
		return "more than a source file and its log flags";
	errno = 0;
	value = strtoul(flags, &end, 0);
	if (errno || *end || *flags == '-' || value > 0xFF)
		return "log flags are a number up to 0xff";
	if (log)
		log_set_module_flags(log, name, (unsigned int)value);
	return NULL;
}

char *logging_read(const struct options *options, GError **error)
{
	const char *file = options->per_module_logging_file;
	GError *why = NULL;
	char *text = file ? file_read(file, FILE_MAX_CONFIG, NULL, &why) : NULL;

	if (g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT) &&
	    !options_is_named(options, OPTION_per_module_logging_file))
		g_clear_error(&why);
	if (why)
		g_propagate_prefixed_error(error, why, "per_module_logging_file: ");
	return text;
}

/* Applies the text, and adds what is wrong with single lines to mistakes. */
static void take_modules(struct log *log, const char *file, const char *text, GPtrArray *mistakes)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++) {
		const char *wrong = module_line(log, lines[i]);

		if (wrong)
			g_ptr_array_add(mistakes, g_strdup_printf("%s:%u: %s", file, i + 1, wrong));
	}
}

bool logging_check(const struct options *options, GPtrArray *mistakes, GError **error)
{
	GError *why = NULL;
	g_autofree char *text = logging_read(options, &why);

	if (text)
		take_modules(NULL, options->per_module_logging_file, text, mistakes);
	if (why)
		g_propagate_error(error, why);
	return !why;
}

void logging_apply_text(struct log *log, const struct options *options, const char *text)
{
	g_autoptr(GPtrArray) mistakes = g_ptr_array_new_with_free_func(g_free);

	log_set_flags(log, options->log_flags);
	log_set_flush(log, options->force_log_flush);
	log_set_max_bytes(log, options->log_max_size * MEGABYTE);
	log_set_prefix(log, options->log_prefix);
	log_clear_module_flags(log);
	if (text)
		take_modules(log, options->per_module_logging_file, text, mistakes);
	for (guint i = 0; i < mistakes->len; i++)
		log_error(log, "%s", (const char *)mistakes->pdata[i]);
}

static bool apply(struct log *log, const struct options *options, GError **error)
{
	GError *why = NULL;
	g_autofree char *text = logging_read(options, &why);

	logging_apply_text(log, options, text);
	if (why)
		g_propagate_error(error, why);
	return !why;
}

void logging_apply(struct log *log, const struct options *options)
{
	g_autoptr(GError) error = NULL;

	if (!apply(log, options, &error))
		log_error(log, "%s", error->message);
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
	};
	struct log *log = log_new(&config, error);

	if (log && !apply(log, options, error))
		g_clear_pointer(&log, log_free);
	return log;
}

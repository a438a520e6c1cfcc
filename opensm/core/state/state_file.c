// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reading and writing state files: see state_file.h. */
#include "core/state/state_file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "complib/file.h"

#define MODE 0600 /* they show which hosts communicate, or contain keys */
#define BAD_LINES_TOLD 10 /* logged per file */
#define SHOWN_MAX 80

static bool read_number(const char **line, unsigned int base, uint64_t *number)
{
	const char *at = *line;
	char *end;

	while (g_ascii_isspace(*at))
		at++;
	if (!g_ascii_isxdigit(*at))
		return false;
	errno = 0;
	*number = g_ascii_strtoull(at, &end, base);
	*line = end;
	return !errno && end != at && (!*end || g_ascii_isspace(*end) || *end == ':');
}

bool state_hex(const char **line, uint64_t *number)
{
	return read_number(line, 16, number);
}

bool state_number(const char **line, uint64_t *number)
{
	return read_number(line, 0, number);
}

bool state_end(const char *line)
{
	while (g_ascii_isspace(*line))
		line++;
	return *line == '\0';
}

/* How much of a line the log may show: for a secret one the part before the key. */
static int shown(const char *line, bool secret)
{
	return secret ? (int)MIN(strcspn(line, " \t"), SHOWN_MAX) : SHOWN_MAX;
}

static unsigned int parse(struct log *log, const char *file, const char *text, bool secret,
			  state_line_fn *take, void *arg)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	unsigned int bad_lines = 0;

	for (unsigned int i = 0; lines[i]; i++) {
		const char *line = g_strstrip(lines[i]), *wrong;

		if (!*line || *line == '#')
			continue;
		wrong = take(arg, line);
		if (wrong && bad_lines++ < BAD_LINES_TOLD)
			log_error(log, "%s:%u: '%.*s': %s; the line is ignored", file, i + 1,
				  shown(line, secret), line, wrong);
	}
	return bad_lines;
}

unsigned int state_parse(struct log *log, const char *file, const char *text, state_line_fn *take,
			 void *arg)
{
	return parse(log, file, text, false, take, arg);
}

/*
 * The valid lines have to be there at the next start, too, and the file may not be written before:
 * so it only gets a second name.
 */
static void set_aside(struct log *log, const char *file, bool has_good_lines)
{
	g_autofree char *bad = g_strconcat(file, ".bad", NULL);

	g_unlink(bad);
	if ((has_good_lines && link(file, bad) == 0) || g_rename(file, bad) == 0)
		log_error(log, "%s: saved as %s", file, bad);
}

static void load(struct log *log, const char *file, const char *what, bool secret,
		 state_line_fn *take, void *arg)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	unsigned int bad_lines;
	gsize length;

	text = file_read_own(file, FILE_MAX_CONFIG, &length, &error);
	if (!text && g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return;
	if (!text) {
		log_error(log, "%s: the %s of the last run are lost", error->message, what);
		set_aside(log, file, false);
		return;
	}
	for (gsize i = 0; i < length; i++) /* a crash may leave NULs: lines with some are invalid */
		text[i] = text[i] ? text[i] : '?';
	bad_lines = parse(log, file, text, secret, take, arg);
	if (bad_lines)
		set_aside(log, file, true);
	log_verbose(log, "%s: read, %u bad lines", file, bad_lines);
}

void state_load(struct log *log, const char *file, const char *what, state_line_fn *take, void *arg)
{
	load(log, file, what, false, take, arg);
}

void state_load_keys(struct log *log, const char *file, const char *what, state_line_fn *take,
		     void *arg)
{
	load(log, file, what, true, take, arg);
}

bool state_save(struct log *log, const char *file, const char *what, const char *text,
		bool fsync_it)
{
	g_autoptr(GError) error = NULL;

	if (file_replace(file, text, MODE, fsync_it, &error))
		return true;
	log_error(log, "%s could not be saved: %s", what, error->message);
	return false;
}

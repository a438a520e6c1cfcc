// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The system's journal, which stores a line with its severity and searchable fields: journalctl -p
 * err, MESSAGE_ID=..., OPENSM_PORT_GUID=... If built with libsystemd, lines go there by its own
 * protocol. Otherwise, or if the journal does not take a line, the lines of a log on standard
 * output or error begin with the severity as in sd-daemon(3).
 *
 * A descriptor is the journal's if it matches JOURNAL_STREAM, the device and inode that the service
 * manager connected; a shell or a wrapper may have replaced it since.
 */
#include "config.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_LIBSYSTEMD
#define SD_JOURNAL_SUPPRESS_LOCATION /* only the log macro knows the location */
#include <systemd/sd-journal.h>
#endif

#include "log_private.h"

bool log_journal_is(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	guint64 device, inode;
	struct stat st;
	char *end;

	if (!stream)
		return false;
	device = g_ascii_strtoull(stream, &end, 10);
	if (end == stream || *end != ':')
		return false;
	inode = g_ascii_strtoull(end + 1, &end, 10);
	return !*end && fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/* Numbers as in syslog(3), whose header would clash with the names of our levels. */
unsigned int log_journal_priority(enum syslog_severity severity)
{
	static const unsigned int priorities[] = {
		[SYSLOG_ERROR] = 3, [SYSLOG_NOTE] = 6, [SYSLOG_DETAIL] = 7};

	return priorities[severity];
}

#ifdef HAVE_LIBSYSTEMD

G_GNUC_PRINTF(2, 3) static void add(GPtrArray *fields, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(fields, g_strdup_vprintf(format, args));
	va_end(args);
}

/* Excludes what the journal knows by itself, such as process and unit. */
static GPtrArray *fields_of(const struct log_line *line)
{
	GPtrArray *fields = g_ptr_array_new_with_free_func(g_free);

	add(fields, "MESSAGE=%s%s%s", line->prefix ? line->prefix : "", line->prefix ? ": " : "",
	    line->text);
	add(fields, "PRIORITY=%u", log_journal_priority(line->severity));
	add(fields, "CODE_FILE=%s", line->file_c);
	add(fields, "TID=%ld", line->thread);
	if (line->as_syslog) {
		add(fields, "SYSLOG_IDENTIFIER=OpenSM");
		add(fields, "SYSLOG_FACILITY=1"); /* user */
		add(fields, "SYSLOG_PID=%ld", (long)getpid());
	}
	if (line->message_id)
		add(fields, "MESSAGE_ID=%s", line->message_id);
	for (unsigned int i = 0; i < line->fields->len; i++)
		add(fields, "%s", (const char *)g_ptr_array_index(line->fields, i));
	for (const char *const *about = line->about; about && *about; about++)
		add(fields, "%s", *about);
	return fields;
}

bool log_journal_send(const struct log_line *line)
{
	g_autoptr(GPtrArray) fields = fields_of(line);
	g_autofree struct iovec *iov = g_new(struct iovec, fields->len);

	for (unsigned int i = 0; i < fields->len; i++) {
		iov[i].iov_base = g_ptr_array_index(fields, i);
		iov[i].iov_len = strlen(g_ptr_array_index(fields, i));
	}
	return sd_journal_sendv(iov, (int)fields->len) == 0;
}

#else

bool log_journal_send(const struct log_line *line)
{
	(void)line;
	return false;
}

#endif

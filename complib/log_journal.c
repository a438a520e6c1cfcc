// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The system's journal, which takes a line with its severity and fields that can be searched for:
 * journalctl -p err, MESSAGE_ID=..., OPENSM_PORT_GUID=... Built with libsystemd the lines go there
 * by its own protocol. Else, or when it does not take one, the lines of a log on standard output or
 * error begin with the severity as sd-daemon(3) has it.
 *
 * It is the journal if the service manager says so: JOURNAL_STREAM is device and inode of what it
 * has connected, which may have been replaced since by a shell or a wrapper.
 */
#include "config.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_LIBSYSTEMD
#define SD_JOURNAL_SUPPRESS_LOCATION /* the macro that logs knows it, its caller here does not */
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

/* As syslog(3) numbers them, whose header would claim the names of our levels. */
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

/* What the journal knows by itself, such as process and unit, is not among them. */
static GPtrArray *fields_of(const struct journal_line *line)
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

bool log_journal_send(const struct journal_line *line)
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

bool log_journal_send(const struct journal_line *line)
{
	(void)line;
	return false;
}

#endif

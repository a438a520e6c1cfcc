// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of the log only. */
#ifndef COMPLIB_LOG_PRIVATE_H
#define COMPLIB_LOG_PRIVATE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A file descriptor that lines are written to. Its owner locks it. */
struct sink {
	int fd;
	bool owned;    /* close it; may be truncated if regular */
	bool regular;  /* a regular file: never blocks, has a size */
	bool stalled;  /* the last line did not fit into the pipe: do not wait for the next */
	bool torn;     /* the last line was written in part */
	uint64_t size; /* approximate; others may truncate the file */
};

/* 0 or an errno. */
int sink_open(struct sink *sink, const char *path, bool truncate);
void sink_use(struct sink *sink, int fd); /* not owned: stdout, stderr */
void sink_close(struct sink *sink);

/* Writes a whole line; returns 0 or an errno. Neither blocks for long nor raises SIGPIPE. */
int sink_write(struct sink *sink, const char *line, size_t length, bool flush);

/* Empties the file if more further bytes would make it larger than max_bytes; true if it did. */
bool sink_limit(struct sink *sink, size_t more, uint64_t max_bytes);

enum syslog_severity {
	SYSLOG_ERROR,
	SYSLOG_NOTE,
	SYSLOG_DETAIL,
};

/* In a file of its own, since <syslog.h> clashes with the names of our levels. */
void log_to_syslog(enum syslog_severity severity, const char *prefix, const char *text);

/* A line with its fields. Text may be NULL unless said otherwise. */
struct log_line {
	unsigned int level;
	struct timespec time;
	enum syslog_severity severity;
	const char *prefix;	/* of the journal's text only */
	const char *text;	/* not NULL */
	const char *file_c;	/* source file, not NULL */
	const char *message_id; /* 32 hex digits */
	long thread;
	bool as_syslog;		 /* program and facility of syslog lines */
	const GPtrArray *fields; /* of all lines, "NAME=value" */
	const char *const *about; /* of this one, the last NULL; may be NULL itself */
};

bool log_journal_is(int fd); /* whether fd leads to the journal */
unsigned int log_journal_priority(enum syslog_severity severity); /* 3, 6 or 7 */

/* False if the journal did not take the line, or without libsystemd. */
bool log_journal_send(const struct log_line *line);

/* The line as a JSON object, without a newline. */
void log_json_append(GString *out, const struct log_line *line);

#endif

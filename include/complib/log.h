// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log: classic line format, level bits, levels per module, rate limits.
 *
 *	Nov 21 09:15:02 123456 [7F2A] 0x02 -> text
 *	Nov 21 09:15:02 123456 [7F2A] 0x01 -> ERR text
 *
 * The bracket holds the thread's number, the hex number the level bit. A log may be written from
 * any thread. Every line is written at once, with one write(), so that milestones are visible; with
 * log_start_writer() as soon as the disk takes it. LOG_SYS lines carry 0x80 and go to syslog as
 * well, unless the log is stdout or stderr; with milestones their text also goes to stdout, for the
 * user who started the daemon. If stdout or stderr is the system's journal, lines for it and for
 * syslog go to the journal with severity and fields, without a header; see log_journal.c. So that
 * the journal does not drop lines of the service, it gets fewer than it would take. Control
 * characters in the text are escaped, except tabs; one final newline is removed. Lines that cannot
 * be written (full disk, closed pipe) are counted, and the count is written when writing works
 * again; nothing blocks or raises a signal.
 */
#ifndef COMPLIB_LOG_H
#define COMPLIB_LOG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level {
	LOG_ERROR = 0x01,
	LOG_INFO = 0x02,
	LOG_VERBOSE = 0x04,
	LOG_DEBUG = 0x08,
	LOG_FUNCS = 0x10,  /* of the classic daemon; never set in a line */
	LOG_FRAMES = 0x20, /* MADs */
	LOG_ROUTING = 0x40,
	LOG_SYS = 0x80, /* also to syslog */
};

/*
 * Combined with a level: which of log_config's message_ids the line gets in the system's journal.
 */
#define LOG_MESSAGE(number) ((unsigned int)(number) << 8)

struct log;

struct log_config {
	const char *file; /* path, or "stdout", "stderr", "syslog" */
	const char *prefix; /* before the text of syslog lines; NULL: none */
	unsigned int flags; /* level bits that are written; LOG_SYS always is */
	bool append;	    /* false: truncate at start */
	uint64_t max_bytes; /* truncate when reached; 0: never */
	bool flush;	    /* fdatasync each line; with a writer thread every 0.1 s */
	const char *const *message_ids; /* by the number of LOG_MESSAGE(); NULL: none */
	bool milestones;    /* LOG_SYS lines also to stdout, unless the log is stdout or stderr */
	bool apart;	    /* LOG_SYS lines to stdout if milestones, and not to the log */
	bool no_syslog;	    /* LOG_SYS lines not to syslog, unless the log is there */
	bool json;	    /* as log_set_json() */
};

/* NULL and error if the file cannot be opened. */
struct log *log_new(const struct log_config *config, GError **error);
struct log *log_new_null(void);			 /* writes nothing */
struct log *log_new_capture(GString *into);	 /* for tests */
/*
 * From now on a thread of its own writes a regular file, so that a disk that hangs delays no other
 * thread. Call before other threads use the log. Lines beyond what that thread can write are lost
 * and counted, errors last; with any level beyond LOG_INFO the callers wait instead, at most two
 * seconds while nothing is written.
 */
void log_start_writer(struct log *log);
void log_free(struct log *log); /* writes queued lines, for at most two seconds */

void log_set_flags(struct log *log, unsigned int flags);
unsigned int log_flags(const struct log *log);
/* Flags in place of the general ones for the source file of that name (last path component). */
void log_set_module_flags(struct log *log, const char *file_c, unsigned int flags);
void log_clear_module_flags(struct log *log); /* all modules follow the general flags again */
/* Calls tell for each source file with flags of its own. */
void log_each_module(const struct log *log,
		     void (*tell)(void *arg, const char *file_c, unsigned int flags), void *arg);
void log_set_flush(struct log *log, bool flush);
void log_set_max_bytes(struct log *log, uint64_t max_bytes);
void log_set_prefix(struct log *log, const char *prefix);
/*
 * Lines are JSON objects, as in log_json.c, with the fields that the journal gets. Those for syslog
 * and the journal stay as they are.
 */
void log_set_json(struct log *log, bool json);
/* Adds a field to all later lines in the system's journal or in JSON, such as a port's GUID. */
void log_add_field(struct log *log, const char *name, const char *value);

/*
 * The log file opened again by its name, as the old file may have been moved away. Opening may
 * hang, so any thread may do it, even after the log was freed.
 */
struct log_file;
struct log_file *log_file_new(const struct log *log); /* NULL: the log is in no file */
void log_file_open(struct log_file *file);
void log_file_free(struct log_file *file);
/*
 * Continues in the new file and takes it over. False: it could not be opened; then acts as
 * log_stay().
 */
bool log_go_on(struct log *log, struct log_file *file);
/* Continues in the old file; writes why there, to syslog and to stderr. */
void log_stay(struct log *log, const char *why);
/* Whether the log still uses the old file: under its name no new lines appear. */
bool log_is_astray(const struct log *log);
/* Whether lines were lost (full or slow disk), and none has been written since. */
bool log_is_losing(const struct log *log);

/* Timestamps from this clock (CLOCK_REALTIME nanoseconds); NULL: the system's. */
void log_set_clock(struct log *log, uint64_t (*now)(void *arg), void *arg);

bool log_wants(const struct log *log, unsigned int level, const char *file_c);
void log_write(struct log *log, unsigned int level, const char *file_c, const char *format, ...)
	G_GNUC_PRINTF(4, 5);
/*
 * Writes a text with fields of its own in the system's journal or in JSON ("NAME=value" each, the
 * last one NULL), in addition to the fields of all lines.
 */
void log_write_about(struct log *log, unsigned int level, const char *file_c,
		     const char *const *fields, const char *text);

#define log_at(log, level, ...)                                                                    \
	do {                                                                                       \
		if (log_wants((log), (level), __FILE__))                                           \
			log_write((log), (level), __FILE__, __VA_ARGS__);                          \
	} while (0)
#define log_error(log, ...) log_at(log, LOG_ERROR, __VA_ARGS__)
#define log_info(log, ...) log_at(log, LOG_INFO, __VA_ARGS__)
#define log_verbose(log, ...) log_at(log, LOG_VERBOSE, __VA_ARGS__)
#define log_debug(log, ...) log_at(log, LOG_DEBUG, __VA_ARGS__)
#define log_sys(log, ...) log_at(log, LOG_SYS | LOG_INFO, __VA_ARGS__)
#define log_sys_error(log, ...) log_at(log, LOG_SYS | LOG_ERROR, __VA_ARGS__)

/*
 * For lines that a peer can provoke: at most burst lines, then one per interval; the next line
 * written says how many were suppressed. Owned by one thread.
 */
struct log_limit {
	uint64_t tokens_ns, last_ns; /* state; zero to start */
	unsigned int held_back;
};

/* True if a line may be written now; *held_back gets the number suppressed since the last. */
bool log_limit_pass(struct log_limit *limit, uint64_t now_ns, unsigned int burst,
		    uint64_t interval_ns, unsigned int *held_back);

#endif

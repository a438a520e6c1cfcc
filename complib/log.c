// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log: see log.h. Any thread writes; the lock covers time stamp, size and write, so that lines
 * are whole and in order of time. With log_start_writer() lines are queued, under that lock, for a
 * thread that owns the file: only that thread ever waits for the disk.
 *
 * Whether a line is wanted is decided without the lock: flags are atomic, and the modules with
 * flags of their own form a list that only grows.
 *
 * The text often comes from a peer (node descriptions, service names), so it must not end its line
 * and forge another one, nor send escape sequences to the operator's terminal: see append_escaped.
 *
 * A line that cannot be written is counted, and the thread does not wait; the count is written as
 * soon as the file takes lines again. Only with the detailed levels threads wait for room, see
 * await_room. No failure here ends the daemon.
 */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <complib/log.h>

#include "actor_private.h"
#include "log_private.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define MODULE_UNSET (1U << 31)			/* has no flags of its own any more */
#define COMPLAINT_INTERVAL (60 * NS_PER_SECOND) /* between reports about the log itself */
#define QUEUE_MAX (4u << 20)			/* octets queued for the disk */
#define QUEUE_RESERVE (1u << 20)		/* in addition, for errors */
#define QUEUE_LOW (QUEUE_MAX / 4 * 3)		/* below this there is room again */
#define LINE_ROOM (64u << 10)			/* in addition, for a line that waited */
#define ROOM_S 2				/* to wait for room at the detailed levels */
#define SYNC_NS (NS_PER_SECOND / 10)		/* lines that come faster are synced together */
#define END_S 2					/* to write the queue at the end */

/*
 * The journal takes 10,000 lines of a service in 30 s, then drops whatever comes. In that time it
 * gets at most 6,000 lines from here, and 2,500 milestones and errors besides.
 */
#define JOURNAL_BURST 3000
#define JOURNAL_INTERVAL (NS_PER_SECOND / 100)
#define JOURNAL_URGENT_BURST 1000
#define JOURNAL_URGENT_INTERVAL (NS_PER_SECOND / 50)

enum log_kind {
	LOG_KIND_NULL,
	LOG_KIND_CAPTURE,
	LOG_KIND_SINK,
	LOG_KIND_SYSLOG,
};

struct module {
	struct module *next;
	char *name; /* basename of the source file */
	atomic_uint flags;
};

/* A task of the writer: write a line, or continue in another file. */
struct entry {
	char *line; /* NULL: fresh */
	size_t length;
	bool last; /* sync the file after this line, if lines are to be synced */
	struct sink fresh;
};

struct writer {
	pthread_t thread;
	pthread_cond_t wake, room;
	GQueue entries; /* these and the rest under the log's lock */
	size_t octets;
	uint64_t synced_ns; /* time of the last sync */
	bool stalled;	    /* a thread waited for room in vain, and there is none yet */
	uint64_t dropped;   /* lines lost since the last entry, as there was no room */
	bool ending;
};

struct log {
	enum log_kind kind;
	atomic_uint flags;
	_Atomic(struct module *) modules;

	pthread_mutex_t lock; /* covers the rest */
	char *path;
	char *prefix;
	GString *capture;
	bool journal;	   /* stdout or stderr is the system's journal */
	bool into_journal; /* and the log is written there */
	bool is_stderr;
	bool apart;	/* milestones are not in the log */
	bool no_syslog; /* and not in syslog either */
	const char *const *message_ids;
	GPtrArray *fields;	  /* "NAME=value", for the journal and JSON */
	struct writer *writer;	  /* NULL: lines are written at once */
	struct sink milestones;
	atomic_ullong max_bytes;
	atomic_bool flush;
	atomic_bool json;
	uint64_t (*now)(void *arg);
	void *now_arg;
	struct log_limit complaints;
	struct log_limit journal_lines, journal_urgent;
	bool held_back; /* the present line is not for the journal */

	/* Owned by the writer, if there is one; else under lock. */
	struct sink sink;
	uint64_t lost; /* lines lost since the file last took one */

	atomic_bool astray; /* see log_is_astray() */
	atomic_bool losing; /* see log_is_losing() */
};

/* Not part of the log yet; the log may even have been freed. */
struct log_file {
	char *path;
	struct sink sink;
	int err; /* from opening it; 0: it is open */
};

static struct log *log_alloc(enum log_kind kind, unsigned int flags)
{
	struct log *log = g_new0(struct log, 1);

	log->kind = kind;
	atomic_init(&log->flags, flags);
	atomic_init(&log->modules, NULL);
	atomic_init(&log->astray, false);
	atomic_init(&log->losing, false);
	pthread_mutex_init(&log->lock, NULL);
	log->sink.fd = log->milestones.fd = -1;
	log->fields = g_ptr_array_new_with_free_func(g_free);
	return log;
}

struct log *log_new_null(void)
{
	return log_alloc(LOG_KIND_NULL, 0);
}

struct log *log_new_capture(GString *into)
{
	struct log *log = log_alloc(LOG_KIND_CAPTURE, LOG_ERROR | LOG_INFO);

	log->capture = into;
	return log;
}

struct log *log_new(const struct log_config *config, GError **error)
{
	bool is_syslog = strcmp(config->file, "syslog") == 0;
	struct log *log = log_alloc(is_syslog ? LOG_KIND_SYSLOG : LOG_KIND_SINK, config->flags);
	int err = 0;

	log->prefix = g_strdup(config->prefix);
	log->max_bytes = config->max_bytes;
	log->flush = config->flush;
	log->json = config->json;
	log->apart = config->apart;
	log->no_syslog = config->no_syslog && !is_syslog;
	log->message_ids = config->message_ids;
	log->journal = log_journal_is(STDOUT_FILENO) || log_journal_is(STDERR_FILENO);
	/* The journal gets milestones anyway. */
	if (config->milestones && !log_journal_is(STDOUT_FILENO))
		sink_use(&log->milestones, STDOUT_FILENO);
	if (is_syslog)
		return log;
	if (strcmp(config->file, "stdout") == 0) {
		sink_use(&log->sink, STDOUT_FILENO);
	} else if (strcmp(config->file, "stderr") == 0) {
		sink_use(&log->sink, STDERR_FILENO);
		log->is_stderr = true;
	} else {
		log->path = g_strdup(config->file);
		err = sink_open(&log->sink, log->path, !config->append);
	}
	log->into_journal = !err && log_journal_is(log->sink.fd);
	if (!err)
		return log;
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
		    "cannot open log file %s: %s", config->file, g_strerror(err));
	log_free(log);
	return NULL;
}

void log_set_flags(struct log *log, unsigned int flags)
{
	atomic_store_explicit(&log->flags, flags, memory_order_relaxed);
}

unsigned int log_flags(const struct log *log)
{
	return atomic_load_explicit(&log->flags, memory_order_relaxed);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct module *find_module(const struct log *log, const char *file_c)
{
	struct module *module = atomic_load_explicit(&log->modules, memory_order_acquire);
	const char *name;

	if (!module)
		return NULL;
	name = base_name(file_c);
	while (module && strcmp(module->name, name) != 0)
		module = module->next;
	return module;
}

void log_set_module_flags(struct log *log, const char *file_c, unsigned int flags)
{
	struct module *module;

	pthread_mutex_lock(&log->lock);
	module = find_module(log, file_c);
	if (module) {
		atomic_store_explicit(&module->flags, flags, memory_order_relaxed);
	} else {
		module = g_new0(struct module, 1);
		module->name = g_strdup(base_name(file_c));
		atomic_init(&module->flags, flags);
		module->next = atomic_load_explicit(&log->modules, memory_order_relaxed);
		atomic_store_explicit(&log->modules, module, memory_order_release);
	}
	pthread_mutex_unlock(&log->lock);
}

void log_clear_module_flags(struct log *log)
{
	struct module *module = atomic_load_explicit(&log->modules, memory_order_acquire);

	for (; module; module = module->next)
		atomic_store_explicit(&module->flags, MODULE_UNSET, memory_order_relaxed);
}

void log_each_module(const struct log *log,
		     void (*tell)(void *arg, const char *file_c, unsigned int flags), void *arg)
{
	const struct module *module = atomic_load_explicit(&log->modules, memory_order_acquire);

	for (; module; module = module->next) {
		unsigned int flags = atomic_load_explicit(&module->flags, memory_order_relaxed);

		if (flags != MODULE_UNSET)
			tell(arg, module->name, flags);
	}
}

bool log_wants(const struct log *log, unsigned int level, const char *file_c)
{
	unsigned int flags = log_flags(log);
	const struct module *module = find_module(log, file_c);

	if (module) {
		unsigned int own = atomic_load_explicit(&module->flags, memory_order_relaxed);

		if (own != MODULE_UNSET)
			flags = own;
	}
	return log->kind != LOG_KIND_NULL && (level & (flags | LOG_SYS));
}

void log_set_clock(struct log *log, uint64_t (*now)(void *arg), void *arg)
{
	pthread_mutex_lock(&log->lock);
	log->now = now;
	log->now_arg = arg;
	pthread_mutex_unlock(&log->lock);
}

void log_set_flush(struct log *log, bool flush)
{
	atomic_store(&log->flush, flush);
}

void log_set_max_bytes(struct log *log, uint64_t max_bytes)
{
	atomic_store(&log->max_bytes, max_bytes);
}

void log_set_json(struct log *log, bool json)
{
	atomic_store(&log->json, json);
}

void log_set_prefix(struct log *log, const char *prefix)
{
	pthread_mutex_lock(&log->lock);
	g_free(log->prefix);
	log->prefix = g_strdup(prefix);
	pthread_mutex_unlock(&log->lock);
}

void log_add_field(struct log *log, const char *name, const char *value)
{
	pthread_mutex_lock(&log->lock);
	g_ptr_array_add(log->fields, g_strdup_printf("%s=%s", name, value));
	pthread_mutex_unlock(&log->lock);
}

/* Length of the control character at p, 0 if there is none; C1 controls take two bytes in UTF-8. */
static size_t control_length(const unsigned char *p, bool utf8)
{
	if ((*p < 0x20 && *p != '\t') || *p == 0x7F || (*p >= 0x80 && !utf8))
		return 1;
	return *p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0 ? 2 : 0;
}

/* Makes control characters and non-UTF-8 octets visible; removes one final newline. */
static void append_escaped(GString *line, const char *text)
{
	bool utf8 = g_utf8_validate(text, -1, NULL);
	const unsigned char *p = (const unsigned char *)text;

	while (*p && !(p[0] == '\n' && !p[1])) {
		size_t n = control_length(p, utf8);

		if (n == 0)
			g_string_append_c(line, (char)*p++);
		else if (*p == '\n')
			g_string_append(line, "\\n");
		else if (*p == '\r')
			g_string_append(line, "\\r");
		else
			for (size_t i = 0; i < n; i++)
				g_string_append_printf(line, "\\x%02x", p[i]);
		p += n;
	}
}

static struct timespec time_of(const struct log *log)
{
	struct timespec ts;

	if (log->now) {
		uint64_t ns = log->now(log->now_arg);

		ts.tv_sec = (time_t)(ns / NS_PER_SECOND);
		ts.tv_nsec = (long)(ns % NS_PER_SECOND);
	} else {
		clock_gettime(CLOCK_REALTIME, &ts);
	}
	return ts;
}

/* Has its own month names: those of the C library depend on the locale. */
static void append_header(GString *out, const struct log_line *line)
{
	static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	bool is_sys = line->level & LOG_SYS;
	bool is_error = line->level & LOG_ERROR && !is_sys; /* scripts search for the word */
	struct tm tm;

	localtime_r(&line->time.tv_sec, &tm);
	g_string_append_printf(out, "%s %02d %02d:%02d:%02d %06ld [%04lX] 0x%02x -> %s",
			       months[tm.tm_mon], tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
			       line->time.tv_nsec / 1000, (unsigned long)line->thread,
			       is_sys ? LOG_SYS : line->level % LOG_MESSAGE(1),
			       is_error ? "ERR " : "");
}

/* As it is in the log; g_string_free() it. */
static GString *format_line(const struct log *log, const struct log_line *line)
{
	GString *out = g_string_sized_new(strlen(line->text) + 128);

	if (atomic_load(&log->json)) {
		log_json_append(out, line);
	} else {
		append_header(out, line);
		g_string_append(out, line->text);
	}
	g_string_append_c(out, '\n');
	return out;
}

/* Tells the operator other than by the log. */
static void tell_elsewhere(const struct log *log, const char *text)
{
	struct sink other;

	if (!log->no_syslog)
		log_to_syslog(SYSLOG_ERROR, log->prefix, text);
	if (log->is_stderr)
		return;
	sink_use(&other, STDERR_FILENO);
	sink_write(&other, text, strlen(text), false);
}

/* Under lock. */
static void complain(struct log *log, int err)
{
	g_autofree char *text = NULL;
	unsigned int held_back;
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (!log_limit_pass(&log->complaints,
			    (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec, 1,
			    COMPLAINT_INTERVAL, &held_back))
		return;
	text = g_strdup_printf("cannot write to log %s: %s; lines are lost\n",
			       log->path ? log->path : "on standard output", g_strerror(err));
	tell_elsewhere(log, text);
}

/* By the thread that writes to the file. Writes a line about the log itself; 0 or an errno. */
static int write_note(struct log *log, const char *format, uint64_t number)
{
	g_autofree char *text = g_strdup_printf(format, number);
	const struct log_line line = {
		.level = LOG_ERROR,
		.time = time_of(log),
		.text = text,
		.file_c = base_name(__FILE__),
		.thread = syscall(SYS_gettid),
	};
	g_autoptr(GString) note = format_line(log, &line);

	return sink_write(&log->sink, note->str, note->len, atomic_load(&log->flush));
}

/* By the thread that writes to the file. Reports lost lines; 0 or an errno. */
static int write_lost(struct log *log)
{
	int err = 0;

	if (log->lost)
		err = write_note(log, "%" G_GUINT64_FORMAT " lines of the log were lost",
				 log->lost);
	if (!err)
		log->lost = 0;
	atomic_store(&log->losing, err != 0);
	return err;
}

/* By the thread that writes to the file; 0 or an errno. last: sync after this line. */
static int write_sink(struct log *log, const char *line, size_t length, bool last)
{
	uint64_t max_bytes = atomic_load(&log->max_bytes);
	int err = 0;

	if (sink_limit(&log->sink, length, max_bytes))
		err = write_note(log, "log truncated: it reached %" G_GUINT64_FORMAT " bytes",
				 max_bytes);
	if (!err)
		err = write_lost(log);
	if (!err)
		err = sink_write(&log->sink, line, length, last && atomic_load(&log->flush));
	log->lost += err != 0;
	atomic_store(&log->losing, err != 0);
	return err;
}

/* ---- the writer ---- */

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

/* Under lock. */
static void enqueue(struct writer *writer, struct entry entry)
{
	g_queue_push_tail(&writer->entries, g_memdup2(&entry, sizeof(entry)));
	writer->octets += entry.length;
	pthread_cond_signal(&writer->wake);
}

/*
 * Under lock, which it releases while waiting. With the detailed levels on no line should be lost,
 * so threads wait for the disk. A disk that hangs delays each thread at most once, and not for
 * long.
 */
static void await_room(struct log *log)
{
	const unsigned int details = LOG_VERBOSE | LOG_DEBUG | LOG_FRAMES | LOG_ROUTING;
	struct writer *writer = log->writer;
	struct timespec until;

	if (!writer || writer->octets < QUEUE_MAX || !(log_flags(log) & details))
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ROOM_S;
	while (writer->octets >= QUEUE_LOW && !writer->stalled && !writer->ending)
		if (pthread_cond_timedwait(&writer->room, &log->lock, &until) != 0)
			writer->stalled = true;
}

/* Under lock. Takes over the line. */
static void enqueue_line(struct log *log, unsigned int level, char *line, size_t length)
{
	struct writer *writer = log->writer;
	size_t max = QUEUE_MAX + (level & LOG_ERROR ? QUEUE_RESERVE : LINE_ROOM);

	if (writer->octets + length > max) {
		writer->dropped++;
		atomic_store(&log->losing, true);
		g_free(line);
		return;
	}
	enqueue(writer, (struct entry){.line = line, .length = length});
}

/* Under lock. NULL: the queue is empty and the log ends. */
static struct entry *dequeue(struct log *log)
{
	struct writer *writer = log->writer;
	const struct entry *next;
	struct entry *entry;

	while (!writer->entries.length && !writer->ending)
		pthread_cond_wait(&writer->wake, &log->lock);
	entry = g_queue_pop_head(&writer->entries);
	if (!entry)
		return NULL;
	next = g_queue_peek_head(&writer->entries);
	entry->last = !next || !next->line || monotonic_ns() - writer->synced_ns >= SYNC_NS;
	writer->octets -= entry->length;
	if (writer->octets < QUEUE_LOW)
		pthread_cond_broadcast(&writer->room);
	writer->stalled &= writer->octets >= QUEUE_LOW;
	return entry;
}

/* By the thread that writes to the file. */
static void go_on_in(struct log *log, struct sink fresh)
{
	sink_close(&log->sink);
	log->sink = fresh;
	write_lost(log);
}

static int do_entry(struct log *log, struct entry *entry)
{
	int err = 0;

	if (entry->line)
		err = write_sink(log, entry->line, entry->length, entry->last);
	else
		go_on_in(log, entry->fresh);
	g_free(entry->line);
	g_free(entry);
	return err;
}

static void *writer_main(void *arg)
{
	struct log *log = arg;
	struct entry *entry;

	pthread_mutex_lock(&log->lock);
	while ((entry = dequeue(log))) {
		uint64_t dropped = log->writer->dropped;
		bool last = entry->last;
		int err;

		log->writer->dropped = 0;
		pthread_mutex_unlock(&log->lock);
		log->lost += dropped;
		err = do_entry(log, entry);
		pthread_mutex_lock(&log->lock);
		if (last)
			log->writer->synced_ns = monotonic_ns();
		if (err)
			complain(log, err);
	}
	pthread_mutex_unlock(&log->lock);
	return NULL;
}

void log_start_writer(struct log *log)
{
	pthread_condattr_t monotonic;

	if (log->kind != LOG_KIND_SINK || !log->sink.regular || log->writer)
		return;
	log->writer = g_new0(struct writer, 1);
	g_queue_init(&log->writer->entries);
	pthread_cond_init(&log->writer->wake, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&log->writer->room, &monotonic);
	pthread_condattr_destroy(&monotonic);
	thread_start(&log->writer->thread, "log", writer_main, log);
}

/* False: the thread does not end, as the disk hangs. */
static bool end_writer(struct log *log)
{
	struct writer *writer = log->writer;
	struct timespec until;

	if (!writer)
		return true;
	pthread_mutex_lock(&log->lock);
	writer->ending = true;
	pthread_cond_signal(&writer->wake);
	pthread_cond_broadcast(&writer->room);
	pthread_mutex_unlock(&log->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	if (pthread_timedjoin_np(writer->thread, NULL, &until) != 0)
		return false;
	pthread_cond_destroy(&writer->wake);
	pthread_cond_destroy(&writer->room);
	g_free(writer);
	return true;
}

static enum syslog_severity severity_of(unsigned int level)
{
	if (level & LOG_ERROR)
		return SYSLOG_ERROR;
	return level & (LOG_INFO | LOG_SYS) ? SYSLOG_NOTE : SYSLOG_DETAIL;
}

/* Under lock; valid until it is released. */
static struct log_line line_of(const struct log *log, unsigned int level, const char *file_c,
			       const char *const *about, const char *text)
{
	return (struct log_line){
		.level = level,
		.time = time_of(log),
		.severity = severity_of(level),
		.prefix = log->prefix,
		.text = text,
		.file_c = base_name(file_c),
		.message_id = log->message_ids ? log->message_ids[level / LOG_MESSAGE(1)] : NULL,
		.thread = syscall(SYS_gettid),
		.as_syslog = !log->into_journal,
		.fields = log->fields,
		.about = about,
	};
}

/* Under lock. Errors are ignored: the log has the milestones too, unless log->apart. */
static void write_milestone(struct log *log, const struct log_line *line)
{
	g_autoptr(GString) text = NULL;

	if (log->milestones.fd < 0)
		return;
	if (atomic_load(&log->json)) {
		text = format_line(log, line);
	} else {
		text = g_string_new(log->prefix);
		g_string_append_printf(text, "%s%s\n", log->prefix ? ": " : "", line->text);
	}
	sink_write(&log->milestones, text->str, text->len, false);
}

/* Under lock. False if the journal did not take the line. */
static bool write_journal(struct log *log, const struct log_line *line)
{
	return log->held_back || (log->journal && log_journal_send(line));
}

/* Under lock. syslog has its own time stamps, so its line begins at the text. */
static void write_elsewhere(struct log *log, const struct log_line *line)
{
	bool is_sys = line->level & LOG_SYS;

	if (log->kind == LOG_KIND_SINK && (!is_sys || (!log->path && !log->apart)))
		return;
	if (is_sys)
		write_milestone(log, line);
	if (log->no_syslog)
		return;
	if (!write_journal(log, line))
		log_to_syslog(line->severity, log->prefix, line->text);
}

void log_free(struct log *log)
{
	struct module *module = atomic_load(&log->modules);

	while (module) {
		struct module *next = module->next;

		g_free(module->name);
		g_free(module);
		module = next;
	}
	if (!end_writer(log))
		return; /* the writer may still use the log */
	sink_close(&log->sink);
	pthread_mutex_destroy(&log->lock);
	g_free(log->path);
	g_free(log->prefix);
	g_ptr_array_unref(log->fields);
	g_free(log);
}

/* Under lock. */
static void write_log(struct log *log, const struct log_line *line)
{
	g_autoptr(GString) text = NULL;
	int err;

	if (log->into_journal && write_journal(log, line))
		return;
	text = format_line(log, line);
	if (log->into_journal) {
		g_autofree char *mark =
			g_strdup_printf("<%u>", log_journal_priority(line->severity));

		g_string_prepend(text, mark);
	}
	if (log->writer) {
		enqueue_line(log, line->level, g_strndup(text->str, text->len), text->len);
		return;
	}
	err = write_sink(log, text->str, text->len, true);
	if (err)
		complain(log, err);
}

/* Under lock. */
static void write_line(struct log *log, const struct log_line *line)
{
	g_autoptr(GString) text = NULL;

	if (log->kind == LOG_KIND_CAPTURE) {
		text = format_line(log, line);
		g_string_append(log->capture, text->str);
		return;
	}
	write_elsewhere(log, line);
	if (log->kind == LOG_KIND_SINK && !(log->apart && line->level & LOG_SYS))
		write_log(log, line);
}

/* Under lock. Whether the journal may get the line; if so, it is told how many did not. */
static void limit_journal(struct log *log, const struct log_line *line)
{
	bool is_sys = line->level & LOG_SYS, urgent = is_sys || line->level & LOG_ERROR;
	unsigned int held_back = 0;

	log->held_back = false;
	if (!log->journal || (log->path && !is_sys))
		return;
	log->held_back = urgent ? !log_limit_pass(&log->journal_urgent, monotonic_ns(),
						  JOURNAL_URGENT_BURST, JOURNAL_URGENT_INTERVAL,
						  &held_back)
				: !log_limit_pass(&log->journal_lines, monotonic_ns(),
						  JOURNAL_BURST, JOURNAL_INTERVAL, &held_back);
	if (held_back) {
		g_autofree char *text = g_strdup_printf(
			"%u lines of the log are not in the journal, which would have dropped more",
			held_back);
		const struct log_line note = line_of(log, LOG_ERROR, __FILE__, NULL, text);

		write_line(log, &note);
	}
}

/* The old file also gets the line, though it may not be found under its name any more. */
void log_stay(struct log *log, const char *why)
{
	g_autofree char *text = g_strdup_printf(
		"cannot reopen log %s: %s; lines still go to the old file\n", log->path, why);

	atomic_store(&log->astray, true);
	log_error(log, "%s", text);
	pthread_mutex_lock(&log->lock);
	tell_elsewhere(log, text);
	pthread_mutex_unlock(&log->lock);
}

struct log_file *log_file_new(const struct log *log)
{
	struct log_file *file;

	if (!log->path)
		return NULL;
	file = g_new0(struct log_file, 1);
	file->path = g_strdup(log->path);
	file->sink.fd = -1;
	return file;
}

void log_file_open(struct log_file *file)
{
	file->err = sink_open(&file->sink, file->path, false);
}

void log_file_free(struct log_file *file)
{
	sink_close(&file->sink);
	g_free(file->path);
	g_free(file);
}

bool log_go_on(struct log *log, struct log_file *file)
{
	struct sink fresh = file->sink;
	int err = file->err;

	file->sink = (struct sink){.fd = -1};
	log_file_free(file);
	if (err) {
		log_stay(log, g_strerror(err));
		return false;
	}
	atomic_store(&log->astray, false);
	pthread_mutex_lock(&log->lock);
	if (log->writer)
		enqueue(log->writer, (struct entry){.fresh = fresh});
	else
		go_on_in(log, fresh);
	pthread_mutex_unlock(&log->lock);
	return true;
}

bool log_is_astray(const struct log *log)
{
	return atomic_load(&log->astray);
}

bool log_is_losing(const struct log *log)
{
	return atomic_load(&log->losing);
}

void log_write_about(struct log *log, unsigned int level, const char *file_c,
		     const char *const *fields, const char *text)
{
	g_autoptr(GString) escaped = NULL;
	struct log_line line;

	if (!log_wants(log, level, file_c))
		return;
	escaped = g_string_sized_new(strlen(text));
	append_escaped(escaped, text);
	pthread_mutex_lock(&log->lock);
	await_room(log);
	line = line_of(log, level, file_c, fields, escaped->str);
	limit_journal(log, &line);
	write_line(log, &line);
	pthread_mutex_unlock(&log->lock);
}

void log_write(struct log *log, unsigned int level, const char *file_c, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	if (!log_wants(log, level, file_c))
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	log_write_about(log, level, file_c, NULL, text);
}

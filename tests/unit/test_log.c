// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The log: line format, levels, hostile text, files that fail, limits, several threads. */
#include <check.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <complib/log.h>

#include "complib/log_private.h"
#include "tests/run_suite.h"

#define THREADS 2
#define LINES 2000
#define MS UINT64_C(1000000)

/* What the log would send to syslog. Replaces the library's function in this program. */
struct syslog_copy {
	int count;
	char last[200];
};

static struct syslog_copy syslog_copy;

void log_to_syslog(enum syslog_severity severity, const char *prefix, const char *text)
{
	syslog_copy.count++;
	g_snprintf(syslog_copy.last, sizeof(syslog_copy.last), "%d|%s|%s", (int)severity,
		   prefix ? prefix : "", text);
}

static void forget_syslog(void)
{
	syslog_copy = (struct syslog_copy){0};
}

static uint64_t fixed_clock(void *arg)
{
	return *(const uint64_t *)arg;
}

/* A log into a string, at a fixed time, in UTC. */
struct fixture {
	GString *out;
	struct log *log;
	uint64_t time;
};

static void fixture_init(struct fixture *f)
{
	g_setenv("TZ", "UTC0", TRUE);
	tzset();
	f->out = g_string_new(NULL);
	f->log = log_new_capture(f->out);
	f->time = UINT64_C(1795252502123456789); /* 2026-11-21 09:15:02.123456789 */
	log_set_clock(f->log, fixed_clock, &f->time);
}

static void fixture_clear(struct fixture *f)
{
	log_free(f->log);
	g_string_free(f->out, TRUE);
}

static char *temp_path(const char *dir)
{
	return g_build_filename(dir, "test.log", NULL);
}

static G_GNUC_NO_INLINE char *read_file(const char *path)
{
	char *text = NULL;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

START_TEST(test_format)
{
	g_autofree char *thread = g_strdup_printf("%04X", (unsigned int)getpid());
	g_autofree char *expected = NULL;
	struct fixture f;

	fixture_init(&f);
	log_info(f.log, "lid %d\tof %s", 7, "node");
	log_error(f.log, "bad\n");
	f.time = UINT64_C(1767225600000001000);
	log_sys(f.log, "SUBNET UP");
	expected = g_strdup_printf("Nov 21 09:15:02 123456 [%s] 0x02 -> lid 7\tof node\n"
				   "Nov 21 09:15:02 123456 [%s] 0x01 -> ERR bad\n"
				   "Jan 01 00:00:00 000001 [%s] 0x80 -> SUBNET UP\n",
				   thread, thread, thread);
	ck_assert_str_eq(f.out->str, expected);
	ck_assert_int_eq(syslog_copy.count, 0);
	fixture_clear(&f);
}
END_TEST

/* For collectors; what a peer sent can neither end a string nor a line. */
START_TEST(test_json)
{
	static const char *const about[] = {"OPENSM_NODE=a \"b\"\n\xff\x01\t=", NULL};
	g_autofree char *expected = NULL;
	struct fixture f;

	fixture_init(&f);
	log_set_json(f.log, true);
	log_info(f.log, "of \"node\"\\\n\t\xff\n");
	log_add_field(f.log, "OPENSM_PORT_GUID", "0x1");
	log_write_about(f.log, LOG_SYS | LOG_ERROR, "dir/x.c", about, "bad");
	log_set_json(f.log, false);
	log_error(f.log, "text again");
	expected = g_strdup_printf(
		"{\"time\":\"2026-11-21T09:15:02.123456Z\",\"level\":\"info\","
		"\"message\":\"of \\\"node\\\"\\\\\\\\n\\t\\\\xff\","
		"\"fields\":{\"CODE_FILE\":\"test_log.c\",\"TID\":\"%d\"}}\n"
		"{\"time\":\"2026-11-21T09:15:02.123456Z\",\"level\":\"error\","
		"\"message\":\"bad\",\"fields\":{\"CODE_FILE\":\"x.c\",\"TID\":\"%d\","
		"\"OPENSM_PORT_GUID\":\"0x1\",\"OPENSM_NODE\":"
		"\"a \\\"b\\\"\\u000a\xef\xbf\xbd\\u0001\\t=\"}}\n"
		"Nov 21 09:15:02 123456 [%04X] 0x01 -> ERR text again\n",
		(int)getpid(), (int)getpid(), (unsigned int)getpid());
	ck_assert_str_eq(f.out->str, expected);
	fixture_clear(&f);
}
END_TEST

START_TEST(test_json_levels)
{
	static const struct {
		unsigned int level;
		const char *word;
	} levels[] = {
		{LOG_ERROR, "error"},	  {LOG_INFO, "info"},	  {LOG_VERBOSE, "verbose"},
		{LOG_DEBUG, "debug"},	  {LOG_FRAMES, "mad"},	  {LOG_ROUTING, "routing"},
		{LOG_SYS | LOG_INFO, "info"},
	};
	struct fixture f;

	fixture_init(&f);
	log_set_json(f.log, true);
	log_set_flags(f.log, 0xff);
	for (unsigned int i = 0; i < G_N_ELEMENTS(levels); i++) {
		g_autofree char *word = g_strdup_printf("\"level\":\"%s\"", levels[i].word);

		g_string_truncate(f.out, 0);
		log_at(f.log, levels[i].level, "x");
		ck_assert_msg(strstr(f.out->str, word) != NULL, "%s", f.out->str);
	}
	fixture_clear(&f);
}
END_TEST

/* Checks the text of one line as it is escaped. */
static void check_escape(const char *text, const char *expected)
{
	struct fixture f;
	const char *got;

	fixture_init(&f);
	log_info(f.log, "%s", text);
	got = strstr(f.out->str, "-> ");
	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(f.out->str[f.out->len - 1], '\n');
	g_string_truncate(f.out, f.out->len - 1);
	ck_assert_str_eq(got + 3, expected);
	fixture_clear(&f);
}

START_TEST(test_escapes)
{
	check_escape("", "");
	check_escape("plain \\ text\t.", "plain \\ text\t.");
	check_escape("a\nNov 21 09:15:02 forged", "a\\nNov 21 09:15:02 forged");
	check_escape("a\r\n\n", "a\\r\\n");
	check_escape("\x1b[2J\x07\x7f\x01", "\\x1b[2J\\x07\\x7f\\x01");
	check_escape("caf\xc3\xa9", "caf\xc3\xa9");
	check_escape("\xc2\x9b"
		     "31m",
		     "\\xc2\\x9b31m");
	check_escape("\xff\x9b"
		     "A\xc2",
		     "\\xff\\x9bA\\xc2");
}
END_TEST

START_TEST(test_long_line)
{
	g_autofree char *text = g_strnfill(100000, 'x');

	check_escape(text, text);
}
END_TEST

START_TEST(test_levels)
{
	struct fixture f;

	fixture_init(&f);
	ck_assert(log_wants(f.log, LOG_ERROR, __FILE__));
	ck_assert(!log_wants(f.log, LOG_DEBUG, __FILE__));
	log_set_module_flags(f.log, "test_log.c", LOG_DEBUG);
	log_set_module_flags(f.log, "path/other.c", LOG_FRAMES);
	ck_assert(log_wants(f.log, LOG_DEBUG, "any/where/test_log.c"));
	ck_assert(!log_wants(f.log, LOG_ERROR, "test_log.c"));
	ck_assert(log_wants(f.log, LOG_FRAMES, "other.c"));
	ck_assert(log_wants(f.log, LOG_ERROR, "another.c"));
	ck_assert(log_wants(f.log, LOG_SYS | LOG_INFO, "test_log.c"));
	log_set_module_flags(f.log, "test_log.c", 0);
	ck_assert(!log_wants(f.log, LOG_DEBUG, "test_log.c"));
	log_error(f.log, "not wanted here");
	log_write(f.log, LOG_ERROR, "test_log.c", "nor so");
	ck_assert_uint_eq(f.out->len, 0);
	log_clear_module_flags(f.log);
	log_set_flags(f.log, LOG_VERBOSE);
	ck_assert_uint_eq(log_flags(f.log), LOG_VERBOSE);
	ck_assert(log_wants(f.log, LOG_VERBOSE, "test_log.c"));
	ck_assert(!log_wants(f.log, LOG_FRAMES, "other.c"));
	fixture_clear(&f);
}
END_TEST

START_TEST(test_null)
{
	struct log *log = log_new_null();

	ck_assert(!log_wants(log, LOG_ERROR | LOG_SYS, "x.c"));
	log_set_flags(log, 0xff);
	log_sys(log, "nobody hears");
	ck_assert_int_eq(syslog_copy.count, 0);
	log_free(log);
}
END_TEST

START_TEST(test_syslog)
{
	struct log_config config = {.file = "syslog", .prefix = "sm1", .flags = LOG_ERROR};
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir);
	struct log *log = log_new(&config, NULL);

	log_error(log, "bad\nline");
	log_info(log, "not wanted");
	ck_assert_int_eq(syslog_copy.count, 1);
	ck_assert_str_eq(syslog_copy.last, "0|sm1|bad\\nline");
	log_free(log);

	config.file = path;
	log = log_new(&config, NULL);
	log_error(log, "to the file only");
	log_set_prefix(log, "sm2");
	log_sys(log, "SUBNET UP");
	ck_assert_int_eq(syslog_copy.count, 2);
	ck_assert_str_eq(syslog_copy.last, "1|sm2|SUBNET UP");
	log_free(log);

	config.file = "stderr"; /* another process's: the journal, which has it already */
	log = log_new(&config, NULL);
	log_sys(log, "SUBNET UP");
	ck_assert_int_eq(syslog_copy.count, 2);
	log_free(log);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* The output on stdout of a log to that file. */
static char *stdout_of_log(const struct log_config config)
{
	g_autofree char *out = NULL;
	int fd = g_file_open_tmp("stdout-XXXXXX", &out, NULL), saved = dup(STDOUT_FILENO);
	struct log *log;
	char *text;

	dup2(fd, STDOUT_FILENO);
	log = log_new(&config, NULL);
	log_sys(log, "Entering MASTER state");
	log_error(log, "not of the milestones");
	log_sys_error(log, "ERRORS DURING\nINITIALIZATION");
	log_free(log);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	text = read_file(out);
	g_unlink(out);
	return text;
}

static char *stdout_of(const char *file, const char *prefix, bool milestones)
{
	return stdout_of_log((struct log_config){
		.file = file, .prefix = prefix, .flags = LOG_ERROR, .milestones = milestones});
}

START_TEST(test_milestones)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir);
	g_autofree char *plain = stdout_of(path, NULL, true), *none = stdout_of(path, NULL, false);
	g_autofree char *prefixed = stdout_of("syslog", "sm1", true);
	g_autofree char *log = stdout_of("stdout", NULL, true);
	g_auto(GStrv) lines = g_strsplit(log, "\n", -1);

	ck_assert_str_eq(plain, "Entering MASTER state\nERRORS DURING\\nINITIALIZATION\n");
	ck_assert_str_eq(none, "");
	ck_assert_str_eq(prefixed,
			 "sm1: Entering MASTER state\nsm1: ERRORS DURING\\nINITIALIZATION\n");
	ck_assert_uint_eq(g_strv_length(lines), 4); /* each once, as in the log */
	ck_assert_str_eq(syslog_copy.last, "0|sm1|ERRORS DURING\\nINITIALIZATION");
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* Each line is in one place: milestones on the standard output, errors in the log. */
START_TEST(test_milestones_apart)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *text = NULL;
	struct log_config config = {.file = path,
				    .flags = LOG_ERROR,
				    .milestones = true,
				    .apart = true,
				    .no_syslog = true};
	g_autofree char *told = NULL, *quiet = NULL;
	int syslog_lines = syslog_copy.count;

	told = stdout_of_log(config);
	text = read_file(path);
	ck_assert_str_eq(told, "Entering MASTER state\nERRORS DURING\\nINITIALIZATION\n");
	ck_assert_ptr_nonnull(strstr(text, "not of the milestones"));
	ck_assert_ptr_null(strstr(text, "MASTER"));
	config.milestones = false;
	config.file = "stdout";
	quiet = stdout_of_log(config);
	ck_assert_ptr_nonnull(strstr(quiet, "not of the milestones"));
	ck_assert_ptr_null(strstr(quiet, "MASTER"));
	ck_assert_int_eq(syslog_copy.count, syslog_lines);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

static bool reopen(struct log *log)
{
	struct log_file *file = log_file_new(log);

	log_file_open(file);
	return log_go_on(log, file);
}

START_TEST(test_append_truncate_reopen)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *moved = g_strconcat(path, ".1", NULL);
	g_autofree char *old = NULL, *fresh = NULL, *last = NULL;
	struct log_config config = {.file = path, .flags = LOG_INFO, .append = true};
	struct log *log;

	ck_assert(g_file_set_contents(path, "before\n", -1, NULL));
	log = log_new(&config, NULL);
	log_info(log, "one");
	ck_assert_int_eq(g_rename(path, moved), 0);
	log_info(log, "two");
	ck_assert(reopen(log));
	ck_assert(!log_is_astray(log));
	ck_assert_int_eq(syslog_copy.count, 0);
	log_info(log, "three");
	old = read_file(moved);
	ck_assert(g_str_has_prefix(old, "before\n") && strstr(old, "one") && strstr(old, "two"));
	fresh = read_file(path);
	ck_assert(strstr(fresh, "three") && !strstr(fresh, "two"));
	g_unlink(path);
	g_unlink(moved);
	g_mkdir(path, 0700); /* cannot be opened: the file in use stays */
	ck_assert(!reopen(log));
	ck_assert(log_is_astray(log));
	ck_assert_int_eq(syslog_copy.count, 1);
	ck_assert_ptr_nonnull(strstr(syslog_copy.last, ": Is a directory"));
	log_info(log, "four");
	log_free(log);
	g_rmdir(path);
	ck_assert(g_file_set_contents(path, "before\n", -1, NULL));
	config.append = false;
	log = log_new(&config, NULL);
	log_info(log, "five");
	last = read_file(path);
	ck_assert(strstr(last, "five") && !strstr(last, "before"));
	log_free(log);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* Lines logged before log_go_on() are in the earlier file, though they are written later. */
START_TEST(test_writer_moves_on)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *moved = g_strconcat(path, ".1", NULL);
	g_autofree char *old = NULL, *fresh = NULL;
	struct log_config config = {.file = path, .flags = LOG_INFO, .max_bytes = 100000};
	struct log *log = log_new(&config, NULL);

	log_start_writer(log);
	for (int i = 0; i < 100; i++)
		log_info(log, "before %d", i);
	ck_assert_int_eq(g_rename(path, moved), 0);
	ck_assert(reopen(log));
	for (int i = 0; i < 100; i++)
		log_info(log, "after %d", i);
	log_free(log);
	old = read_file(moved);
	fresh = read_file(path);
	ck_assert(strstr(old, "before 99\n") && !strstr(old, "after"));
	ck_assert(strstr(fresh, "after 0\n") && strstr(fresh, "after 99\n"));
	ck_assert(!strstr(fresh, "before"));
	g_unlink(path);
	g_unlink(moved);
	g_rmdir(dir);
}
END_TEST

START_TEST(test_open_error)
{
	struct log_config config = {.file = "/nonexistent/dir/x.log", .flags = LOG_INFO};
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(log_new(&config, &error));
	ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
	ck_assert_str_eq(error->message, "cannot open log file /nonexistent/dir/x.log: "
					 "No such file or directory");
}
END_TEST

START_TEST(test_max_bytes)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *text = NULL;
	struct log_config config = {.file = path, .flags = LOG_INFO, .max_bytes = 1000};
	struct log *log = log_new(&config, NULL);
	int truncated = 0;
	off_t last = 0;
	struct stat st;

	for (int i = 0; i < 200; i++) {
		log_info(log, "line %d", i);
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_int_le(st.st_size, 1000);
		truncated += st.st_size < last;
		last = st.st_size;
	}
	ck_assert_int_ge(truncated, 5);
	text = read_file(path);
	ck_assert(strstr(text, "0x01 -> ERR log truncated: it reached 1000 bytes\n"));
	ck_assert(strstr(text, "line 199\n"));
	log_set_max_bytes(log, 0);
	for (int i = 0; i < 50; i++)
		log_info(log, "line %d", i);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_gt(st.st_size, 1000);
	log_free(log);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* Lines to a full device are lost; the log moves to a file by rename and reopen, and reports it. */
START_TEST(test_full_device)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *text = NULL;
	struct log_config config = {.file = path, .flags = LOG_INFO, .append = true};
	struct log *log;

	ck_assert_int_eq(symlink("/dev/full", path), 0);
	log = log_new(&config, NULL);
	ck_assert_ptr_nonnull(log);
	ck_assert(!log_is_losing(log));
	for (int i = 0; i < 5; i++)
		log_info(log, "lost %d", i);
	ck_assert(log_is_losing(log));
	ck_assert_int_eq(syslog_copy.count, 1); /* reported once, not five times */
	ck_assert_ptr_nonnull(strstr(syslog_copy.last, "No space left on device"));
	g_unlink(path);
	ck_assert(reopen(log));
	ck_assert(!log_is_losing(log)); /* it is reported there at once */
	log_info(log, "back");
	log_info(log, "again");
	log_free(log);
	text = read_file(path);
	ck_assert_ptr_nonnull(strstr(text, "0x01 -> ERR 5 lines of the log were lost\n"));
	ck_assert(strstr(text, "lost\n") < strstr(text, "back\n"));
	ck_assert_ptr_null(strstr(strstr(text, "lost\n") + 1, "lost"));
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

/* A pipe that is not read, then one without a reader: neither blocks nor kills. */
START_TEST(test_pipe)
{
	struct log_config config = {.file = "stdout", .flags = LOG_INFO};
	int ends[2], saved = dup(STDOUT_FILENO);
	g_autofree char *data = g_malloc(1 << 20);
	struct log *log;
	ssize_t n;

	ck_assert_int_eq(pipe(ends), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	log = log_new(&config, NULL);
	for (int i = 0; i < 5000; i++)
		log_info(log, "a line of some length, so that the pipe is full before long");
	while ((n = read(ends[0], data, 1 << 20)) > 0)
		;
	log_info(log, "reader woke up");
	n = read(ends[0], data, (1 << 20) - 1);
	ck_assert_int_gt(n, 0);
	data[n] = '\0';
	ck_assert_ptr_nonnull(strstr(data, " lines of the log were lost\n"));
	ck_assert_ptr_nonnull(strstr(data, "reader woke up\n"));
	close(ends[0]);
	log_info(log, "nobody reads");
	log_free(log);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	ck_assert_int_ge(syslog_copy.count, 1);
}
END_TEST

struct writer {
	pthread_t thread;
	struct log *log;
	int index;
};

static void *writer_thread(void *arg)
{
	struct writer *writer = arg;

	for (int i = 0; i < LINES; i++) {
		log_info(writer->log, "writer %d line %d end", writer->index, i);
		log_debug(writer->log, "now and then");
	}
	return NULL;
}

/* With a writer, too. */
START_TEST(test_threads)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *text = NULL;
	struct log_config config = {.file = path, .flags = LOG_INFO};
	struct log *log = log_new(&config, NULL);
	struct writer writers[THREADS];
	int next[THREADS] = {0};
	g_auto(GStrv) lines = NULL;

	if (_i)
		log_start_writer(log);
	for (int i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){.log = log, .index = i};
		pthread_create(&writers[i].thread, NULL, writer_thread, &writers[i]);
	}
	for (unsigned int i = 0; i < 300; i++) { /* changes while they write */
		g_autofree char *name = g_strdup_printf("module%u.c", i % 20);

		log_set_flags(log, LOG_INFO | (i & 1 ? LOG_DEBUG : 0));
		log_set_module_flags(log, name, i);
		log_set_flush(log, false);
		ck_assert(i % 100 || reopen(log));
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(writers[i].thread, NULL);
	log_free(log);
	text = read_file(path);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && **line; line++) {
		const char *body = strstr(*line, "-> ");
		int who, number, end = 0;

		ck_assert_ptr_nonnull(body);
		if (strcmp(body, "-> now and then") == 0)
			continue;
		sscanf(body, "-> writer %d line %d end%n", &who, &number, &end);
		if (end == 0 || body[end] || number != next[who]++)
			ck_abort_msg("torn or lost: %s", *line);
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(next[i], LINES);
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

#define FLOOD_THREADS 4
#define FLOOD_LINES 20000

static void *flood_thread(void *arg)
{
	static const char long_text[] =
		"a line of the length that a MAD has in the log, or a route, or what else there is "
		"that nobody reads but when something is wrong that the other lines do not show; "
		"a line of the length that a MAD has in the log, or a route, or what else there is";

	for (int i = 0; i < FLOOD_LINES; i++)
		if (i % 100)
			log_info(arg, "%d %s", i, long_text);
		else
			log_error(arg, "error %d %s", i, long_text);
	return NULL;
}

/*
 * More than the disk takes at once. With details requested all lines are there, else at least the
 * errors.
 */
START_TEST(test_flood)
{
	g_autofree char *dir = g_dir_make_tmp("log-XXXXXX", NULL);
	g_autofree char *path = temp_path(dir), *text = NULL;
	bool details = _i;
	struct log_config config = {.file = path,
				    .flags = LOG_ERROR | LOG_INFO | (details ? LOG_DEBUG : 0)};
	struct log *log = log_new(&config, NULL);
	pthread_t threads[FLOOD_THREADS];
	unsigned int n = 0, errors = 0;
	bool lost;

	log_start_writer(log);
	for (int i = 0; i < FLOOD_THREADS; i++)
		pthread_create(&threads[i], NULL, flood_thread, log);
	for (int i = 0; i < FLOOD_THREADS; i++)
		pthread_join(threads[i], NULL);
	log_free(log);
	text = read_file(path);
	lost = strstr(text, "lines of the log were lost") != NULL;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		n += strstr(line, " -> ") != NULL;
		errors += strstr(line, " -> ERR error ") != NULL;
	}
	ck_assert_uint_eq(errors, FLOOD_THREADS * FLOOD_LINES / 100);
	if (details) {
		ck_assert_uint_eq(n, FLOOD_THREADS * FLOOD_LINES);
		ck_assert(!lost);
	}
	g_unlink(path);
	g_rmdir(dir);
}
END_TEST

START_TEST(test_limit)
{
	struct log_limit limit = {0};
	uint64_t now = 5 * MS;
	unsigned int held = 99;

	for (int i = 0; i < 3; i++) {
		ck_assert(log_limit_pass(&limit, now, 3, 10 * MS, &held));
		ck_assert_uint_eq(held, 0);
	}
	for (int i = 0; i < 4; i++)
		ck_assert(!log_limit_pass(&limit, now, 3, 10 * MS, &held));
	ck_assert(!log_limit_pass(&limit, now + 10 * MS - 1, 3, 10 * MS, &held));
	ck_assert(log_limit_pass(&limit, now + 10 * MS, 3, 10 * MS, &held));
	ck_assert_uint_eq(held, 5);
	ck_assert(!log_limit_pass(&limit, now + 10 * MS, 3, 10 * MS, &held));
	now += 1000 * MS; /* full again, and at most the burst */
	for (int i = 0; i < 3; i++)
		ck_assert(log_limit_pass(&limit, now, 3, 10 * MS, &held));
	ck_assert(!log_limit_pass(&limit, now, 3, 10 * MS, &held));
	ck_assert(!log_limit_pass(&limit, now - MS, 3, 10 * MS, &held)); /* clock went back */
	ck_assert(!log_limit_pass(&limit, now - 900 * MS, 3, 10 * MS, &held));
	ck_assert(!log_limit_pass(&limit, now, 3, 10 * MS, &held)); /* and gained nothing */
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_checked_fixture(tcase, forget_syslog, NULL);
	tcase_add_test(tcase, test_format);
	tcase_add_test(tcase, test_json);
	tcase_add_test(tcase, test_json_levels);
	tcase_add_test(tcase, test_escapes);
	tcase_add_test(tcase, test_long_line);
	tcase_add_test(tcase, test_levels);
	tcase_add_test(tcase, test_null);
	tcase_add_test(tcase, test_syslog);
	tcase_add_test(tcase, test_milestones);
	tcase_add_test(tcase, test_milestones_apart);
	tcase_add_test(tcase, test_append_truncate_reopen);
	tcase_add_test(tcase, test_open_error);
	tcase_add_test(tcase, test_max_bytes);
	tcase_add_test(tcase, test_full_device);
	tcase_add_test(tcase, test_pipe);
	tcase_add_loop_test(tcase, test_threads, 0, 2);
	tcase_add_loop_test(tcase, test_flood, 0, 2);
	tcase_add_test(tcase, test_writer_moves_on);
	tcase_add_test(tcase, test_limit);
	suite_add_tcase(suite, tcase);
	return suite;
}

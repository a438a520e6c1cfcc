// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The system's journal: when the log detects it, what it gets, and what happens if it refuses.
 * libsystemd and syslog are replaced in this program. Each test is a process of its own, whose
 * standard error is a file that JOURNAL_STREAM names as the journal.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <complib/log.h>

#include "complib/log_private.h"
#include "core/about.h"
#include "tests/run_suite.h"

#define ERR "/err"

static struct {
	GPtrArray *fields; /* of the last line for the journal */
	unsigned int lines, syslog_lines;
	bool refuses;
} seen;

int sd_journal_sendv(const struct iovec *iov, int n);
int sd_journal_sendv(const struct iovec *iov, int n)
{
	if (seen.refuses)
		return -1;
	if (seen.fields)
		g_ptr_array_unref(seen.fields);
	seen.fields = g_ptr_array_new_with_free_func(g_free);
	for (int i = 0; i < n; i++)
		g_ptr_array_add(seen.fields, g_strndup(iov[i].iov_base, iov[i].iov_len));
	seen.lines++;
	return 0;
}

void log_to_syslog(enum syslog_severity severity, const char *prefix, const char *text)
{
	(void)severity;
	(void)prefix;
	(void)text;
	seen.syslog_lines++;
}

/* Redirects standard error to a file of its own, which may be named as the journal. */
static char *make_stderr(bool journal)
{
	char *dir = g_dir_make_tmp("opensm-journal.XXXXXX", NULL);
	g_autofree char *path = g_strconcat(dir, ERR, NULL), *stream = NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
	struct stat st;

	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
	fstat(STDERR_FILENO, &st);
	stream = g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64)st.st_dev,
				 (guint64)st.st_ino + !journal);
	g_setenv("JOURNAL_STREAM", stream, TRUE);
	return dir;
}

/* The contents of a file in the directory, which is removed with "err". */
static char *contents(const char *dir, const char *name)
{
	g_autofree char *path = g_strconcat(dir, name, NULL);
	char *text = NULL;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	g_unlink(path);
	g_rmdir(dir);
	return text;
}

static struct log *open_log(const char *file)
{
	const struct log_config config = {
		.file = file,
		.flags = LOG_ERROR | LOG_INFO | LOG_DEBUG,
		.message_ids = milestone_ids(),
	};
	struct log *log = log_new(&config, NULL);

	log_add_field(log, "OPENSM_PORT_GUID", "0x0002c903000a1b2c");
	return log;
}

START_TEST(test_elsewhere)
{
	g_autofree char *dir = make_stderr(false), *text = NULL;
	struct log *log = open_log("stderr");

	log_error(log, "a broken cable");
	log_free(log);
	ck_assert_uint_eq(seen.lines, 0);
	text = contents(dir, ERR);
	ck_assert_msg(g_str_has_suffix(text, "] 0x01 -> ERR a broken cable\n"), "%s", text);
	ck_assert_int_ne(text[0], '<');
}
END_TEST

START_TEST(test_nonsense)
{
	static const char *const streams[] = {
		"", ":", "1", "1:", "a:b", "-1:-1", "1:2:3", "99999999999999999999:1"};
	g_autofree char *dir = make_stderr(true), *text = NULL, *right = NULL;

	ck_assert(log_journal_is(STDERR_FILENO));
	ck_assert(!log_journal_is(-1));
	right = g_strconcat(g_getenv("JOURNAL_STREAM"), " ", NULL);
	g_setenv("JOURNAL_STREAM", right, TRUE);
	ck_assert(!log_journal_is(STDERR_FILENO));
	for (unsigned int i = 0; i < G_N_ELEMENTS(streams); i++) {
		g_setenv("JOURNAL_STREAM", streams[i], TRUE);
		ck_assert_msg(!log_journal_is(STDERR_FILENO), "'%s'", streams[i]);
	}
	g_unsetenv("JOURNAL_STREAM");
	ck_assert(!log_journal_is(STDERR_FILENO));
	text = contents(dir, ERR);
}
END_TEST

/* Without libsystemd, or if it fails: severities as in sd-daemon(3). */
START_TEST(test_marks)
{
	g_autofree char *dir = make_stderr(true), *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct log *log = open_log("stderr");

	seen.refuses = true;
	log_error(log, "a broken cable");
	log_info(log, "a new one");
	log_at(log, LOG_DEBUG, "its length");
	log_sys(log, "SUBNET UP");
	log_free(log);
	text = contents(dir, ERR);
	lines = g_strsplit(text, "\n", -1);
	ck_assert_uint_eq(g_strv_length(lines), 5);
	ck_assert_msg(g_str_has_prefix(lines[0], "<3>"), "%s", text);
	ck_assert_msg(g_str_has_prefix(lines[1], "<6>"), "%s", text);
	ck_assert_msg(g_str_has_prefix(lines[2], "<7>"), "%s", text);
	ck_assert_msg(g_str_has_prefix(lines[3], "<6>"), "%s", text);
	ck_assert_msg(g_str_has_suffix(lines[3], "0x80 -> SUBNET UP"), "%s", text);
	ck_assert_uint_eq(seen.syslog_lines, 0);
}
END_TEST

#ifdef HAVE_LIBSYSTEMD

static bool has(const char *field)
{
	return seen.fields &&
	       g_ptr_array_find_with_equal_func(seen.fields, field, g_str_equal, NULL);
}

START_TEST(test_log_is_the_journal)
{
	g_autofree char *dir = make_stderr(true), *text = NULL;
	struct log *log = open_log("stderr");

	log_error(log, "a broken\ncable");
	ck_assert(has("MESSAGE=a broken\\ncable"));
	ck_assert(has("PRIORITY=3"));
	ck_assert(has("OPENSM_PORT_GUID=0x0002c903000a1b2c"));
	ck_assert(has("CODE_FILE=test_log_journal.c"));
	ck_assert(!has("SYSLOG_IDENTIFIER=OpenSM")); /* the program's name, as of its output */
	log_info(log, "a new one");
	ck_assert(has("PRIORITY=6"));
	log_at(log, LOG_DEBUG, "its length");
	ck_assert(has("PRIORITY=7"));
	log_free(log);
	text = contents(dir, ERR);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(seen.lines, 3);
}
END_TEST

/* A log file gets its lines as usual; lines for syslog go to the journal with their fields. */
START_TEST(test_log_is_a_file)
{
	g_autofree char *dir = make_stderr(true), *text = NULL, *err = NULL;
	g_autofree char *path = g_strconcat(dir, "/log", NULL);
	struct log *log = open_log(path);

	log_set_prefix(log, "sm1");
	log_info(log, "not for syslog");
	ck_assert_uint_eq(seen.lines, 0);
	log_milestone(log, SUBNET_UP, "SUBNET UP");
	ck_assert_uint_eq(seen.lines, 1);
	ck_assert(has("MESSAGE=sm1: SUBNET UP"));
	ck_assert(has("PRIORITY=6"));
	ck_assert(has("MESSAGE_ID=aa58b3314b664441a73e41891501dcbf"));
	ck_assert(has("SYSLOG_IDENTIFIER=OpenSM"));
	ck_assert(has("SYSLOG_FACILITY=1"));
	log_milestone_error(log, SUBNET_ERRORS, "ERRORS DURING INITIALIZATION");
	ck_assert(has("PRIORITY=3"));
	ck_assert(has("MESSAGE_ID=3a131da7f489430898ad8b22af12b78c"));
	ck_assert_uint_eq(seen.syslog_lines, 0);
	seen.refuses = true;
	log_sys(log, "no journal, but syslog");
	ck_assert_uint_eq(seen.syslog_lines, 1);
	log_free(log);
	text = contents(dir, "/log");
	ck_assert_ptr_nonnull(strstr(text, "] 0x02 -> not for syslog\n"));
	ck_assert_ptr_nonnull(strstr(text, "] 0x80 -> SUBNET UP\n"));
	ck_assert_ptr_nonnull(strstr(text, "] 0x80 -> no journal, but syslog\n"));
	err = contents(dir, ERR);
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(test_log_is_syslog)
{
	g_autofree char *dir = make_stderr(true), *text = NULL;
	struct log *log = open_log("syslog");

	log_error(log, "a broken cable");
	ck_assert(has("PRIORITY=3"));
	ck_assert(has("SYSLOG_IDENTIFIER=OpenSM"));
	ck_assert_uint_eq(seen.syslog_lines, 0);
	log_free(log);
	text = contents(dir, ERR);
}
END_TEST

#define FLOOD 20000
#define JOURNAL_TAKES 10000 /* lines of a service in 30 s, by journald.conf(5) */

/* A flood leaves room in the journal for milestones and errors, and for a minute of either. */
START_TEST(test_flood)
{
	g_autofree char *dir = make_stderr(true), *text = NULL;
	struct log *log = open_log("stderr");
	unsigned int lines;

	for (unsigned int i = 0; i < FLOOD; i++)
		log_info(log, "line %u", i);
	lines = seen.lines;
	ck_assert_uint_ge(lines, 3000);
	ck_assert_uint_lt(lines, 4000);
	log_milestone(log, SUBNET_UP, "SUBNET UP");
	ck_assert_uint_eq(seen.lines, lines + 1);
	ck_assert(has("MESSAGE=SUBNET UP"));
	for (unsigned int i = 0; i < FLOOD; i++)
		log_error(log, "error %u", i);
	ck_assert_uint_ge(seen.lines, lines + 1000);
	ck_assert_uint_lt(seen.lines, lines + 2000);
	lines = seen.lines;
	g_usleep(50000);
	log_error(log, "the last");
	ck_assert_uint_eq(seen.lines, lines + 2); /* with the one that counts */
	ck_assert_uint_lt(seen.lines, JOURNAL_TAKES);
	log_free(log);
	text = contents(dir, ERR);
	ck_assert_str_eq(text, "");
}
END_TEST

/* The file still gets all; what goes to syslog is limited. */
START_TEST(test_flood_of_a_file)
{
	g_autofree char *dir = make_stderr(true), *text = NULL, *err = NULL;
	g_autofree char *path = g_strconcat(dir, "/log", NULL);
	g_auto(GStrv) lines = NULL;
	struct log *log = open_log(path);

	for (unsigned int i = 0; i < FLOOD; i++)
		log_error(log, "error");
	log_sys(log, "SUBNET UP");
	ck_assert_uint_eq(seen.lines, 1);
	log_free(log);
	text = contents(dir, "/log");
	err = contents(dir, ERR);
	lines = g_strsplit(text, "\n", -1);
	ck_assert_uint_eq(g_strv_length(lines), FLOOD + 2);
	ck_assert_ptr_nonnull(strstr(text, "SUBNET UP"));
}
END_TEST

START_TEST(test_about)
{
	g_autofree char *dir = make_stderr(true), *text = NULL;
	struct log *log = open_log("stderr");
	const struct about whole = {
		.kind = "link",
		.change = "link_down",
		.state = "MASTER",
		.guid = 0x2c9,
		.node = "a\n\xc2\x9b" "b\xff",
		.port = 7,
		.lid = 9,
		.peer_guid = 0x2c8,
		.peer_port = 1,
		.generation = 12,
	};
	const struct about nothing = {.node = ""};
	unsigned int plain;

	log_about(log, LOG_INFO | LOG_MESSAGE(MILESTONE_LOSS), &whole, "a link");
	ck_assert(has("OPENSM_KIND=link"));
	ck_assert(has("OPENSM_CHANGE=link_down"));
	ck_assert(has("OPENSM_STATE=MASTER"));
	ck_assert(has("OPENSM_GUID=0x00000000000002c9"));
	ck_assert(has("OPENSM_NODE=a\\x0a\\xc2\\x9b" "b\\xff"));
	ck_assert(has("OPENSM_PORT=7"));
	ck_assert(has("OPENSM_LID=9"));
	ck_assert(has("OPENSM_PEER_GUID=0x00000000000002c8"));
	ck_assert(has("OPENSM_PEER_PORT=1"));
	ck_assert(has("OPENSM_GENERATION=12"));
	ck_assert(has("MESSAGE_ID=9347e77a1d3948a6a7c56aa11e700dc9"));
	log_info(log, "plain");
	plain = seen.fields->len;
	log_about(log, LOG_INFO, &nothing, "as plain");
	ck_assert_uint_eq(seen.fields->len, plain);
	log_free(log);
	text = contents(dir, ERR);
}
END_TEST

#endif

/* Each milestone has an id of its own, and the manual names it. */
START_TEST(test_ids)
{
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree char *path =
		g_build_filename(g_getenv("top_srcdir"), "man", "opensm.8.in", NULL);
	g_autofree char *manual = NULL;

	ck_assert(g_file_get_contents(path, &manual, NULL, NULL));
	ck_assert_ptr_null(milestone_ids()[MILESTONE_NONE]);
	for (unsigned int i = 1; i < MILESTONE_COUNT; i++) {
		const char *id = milestone_ids()[i];

		ck_assert_msg(g_regex_match_simple("^[0-9a-f]{32}$", id, 0, 0), "%s", id);
		ck_assert_msg(g_hash_table_add(ids, (gpointer)id), "%s twice", id);
		ck_assert_msg(strstr(manual, id) != NULL, "%s is not in the manual", id);
	}
}
END_TEST

/* Each milestone has an entry in the catalog of messages, in the same order, and no other has. */
START_TEST(test_catalog)
{
	g_autofree char *path =
		g_build_filename(g_getenv("top_srcdir"), "config", "opensm.catalog", NULL);
	g_autofree char *catalog = NULL;
	g_auto(GStrv) entries = NULL;

	ck_assert(g_file_get_contents(path, &catalog, NULL, NULL));
	entries = g_strsplit(catalog, "\n-- ", -1);
	ck_assert_uint_eq(g_strv_length(entries), MILESTONE_COUNT);
	for (unsigned int i = 1; i < MILESTONE_COUNT; i++) {
		g_autofree char *head =
			g_strdup_printf("^%s\nSubject: .+\nDefined-By: opensm\n"
					"Documentation: man:opensm\\(8\\).*\n\n.+",
					milestone_ids()[i]);

		ck_assert_msg(g_regex_match_simple(head, entries[i], 0, 0), "%s", entries[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log_journal");
	TCase *tcase = tcase_create("journal");

	tcase_add_test(tcase, test_elsewhere);
	tcase_add_test(tcase, test_nonsense);
	tcase_add_test(tcase, test_marks);
	tcase_add_test(tcase, test_ids);
	tcase_add_test(tcase, test_catalog);
#ifdef HAVE_LIBSYSTEMD
	tcase_add_test(tcase, test_log_is_the_journal);
	tcase_add_test(tcase, test_log_is_a_file);
	tcase_add_test(tcase, test_log_is_syslog);
	tcase_add_test(tcase, test_flood);
	tcase_add_test(tcase, test_flood_of_a_file);
	tcase_add_test(tcase, test_about);
#endif
	suite_add_tcase(suite, tcase);
	return run_suite_as(suite, CK_FORK);
}

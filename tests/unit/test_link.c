// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A client of a daemon that answers, or does not. */
#include "client/link.h"

#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/fake_daemon.h"

#define PATIENT_MS 10000

/* Answers that have come. */
struct heard {
	GPtrArray *texts; /* in their order */
	unsigned int expected;
	enum control_status status; /* of the last */
	bool all;
};

static void hear(void *arg, struct reply *reply)
{
	struct heard *heard = arg;

	g_ptr_array_add(heard->texts, g_steal_pointer(&reply->output));
	heard->status = reply->status;
	heard->all = heard->texts->len == heard->expected;
}

static struct heard *heard_new(unsigned int expected)
{
	struct heard *heard = g_new0(struct heard, 1);

	heard->texts = g_ptr_array_new_with_free_func(g_free);
	heard->expected = expected;
	return heard;
}

static void heard_free(struct heard *heard)
{
	g_ptr_array_unref(heard->texts);
	g_free(heard);
}

/* The line itself; some lines do more. */
static char *echo(void *arg, const char *line, bool *close)
{
	unsigned int *deaths = arg;

	if (!strcmp(line, "silence"))
		return NULL;
	if (!strcmp(line, "garbage"))
		return g_strdup("\x1e{\"status\":oops}\n");
	if (!strcmp(line, "half")) {
		*close = true;
		return g_strdup("\x1e{\"status\":0,\"out");
	}
	if (!strcmp(line, "die") || (deaths && *deaths && (*deaths)--)) {
		*close = true;
		return NULL;
	}
	return fake_record(CONTROL_DONE, line);
}

START_TEST(many_in_order)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 1);
	struct heard *heard = heard_new(200);

	for (unsigned int i = 0; i < 200; i++) {
		g_autofree char *line = g_strdup_printf("line %u", i);

		link_ask(link, line, PATIENT_MS, hear, heard);
	}
	ck_assert_uint_eq(link_waiting(link), 200);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_uint_eq(link_waiting(link), 0);
	for (unsigned int i = 0; i < 200; i++) {
		g_autofree char *line = g_strdup_printf("line %u", i);

		ck_assert_str_eq(heard->texts->pdata[i], line);
	}
	ck_assert_uint_eq(fake_daemon_connections(fake), 1);
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

START_TEST(at_most_so_many_connections)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 3);
	struct heard *heard = heard_new(100);

	for (unsigned int i = 0; i < 100; i++)
		link_ask(link, "x", PATIENT_MS, hear, heard);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_uint_eq(fake_daemon_connections(fake), 3);
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

/* Each of these costs itself, and the next request is answered. */
START_TEST(one_that_fails)
{
	static const char *const lines[] = {"garbage", "half", "die", "silence"};
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 1);
	struct heard *heard = heard_new(2);
	gint64 begun = g_get_monotonic_time();

	link_ask(link, lines[_i], 300, hear, heard);
	link_ask(link, "next", PATIENT_MS, hear, heard);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_str_eq(heard->texts->pdata[1], "next");
	ck_assert_str_ne(heard->texts->pdata[0], lines[_i]);
	ck_assert_int_eq(heard->status, CONTROL_DONE);
	ck_assert_int_lt(g_get_monotonic_time() - begun, 9 * G_USEC_PER_SEC);
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

START_TEST(no_daemon)
{
	struct link *link = link_new("/nothing/sm.sock", 2);
	struct heard *heard = heard_new(3);

	for (unsigned int i = 0; i < 3; i++)
		link_ask(link, "x", PATIENT_MS, hear, heard);
	ck_assert_uint_eq(heard->texts->len, 0);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_int_eq(heard->status, CONTROL_UNREACHABLE);
	ck_assert_ptr_nonnull(strstr(heard->texts->pdata[0], "/nothing/sm.sock"));
	link_free(link);
	heard_free(heard);
}
END_TEST

/* One that waits in the queue is as late as one that was sent. */
START_TEST(busy)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 1);
	struct heard *heard = heard_new(2);

	link_ask(link, "silence", 400, hear, heard);
	link_ask(link, "x", 200, hear, heard);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_ptr_nonnull(strstr(heard->texts->pdata[0], "busy"));
	ck_assert_ptr_nonnull(strstr(heard->texts->pdata[1], "does not answer"));
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

START_TEST(cancelled)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 1);
	struct heard *heard = heard_new(1);
	uint64_t first = link_ask(link, "silence", PATIENT_MS, hear, heard);
	uint64_t second = link_ask(link, "second", PATIENT_MS, hear, heard);

	ck_assert(first && second && first != second);
	for (unsigned int i = 0; i < 5; i++)
		g_main_context_iteration(NULL, TRUE);
	link_ask(link, "third", PATIENT_MS, hear, heard);
	link_cancel(link, second);
	link_cancel(link, first);
	link_cancel(link, first);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_str_eq(heard->texts->pdata[0], "third");
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

START_TEST(too_many)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 1);
	struct heard *heard = heard_new(LINK_WAITING_MAX + 1);
	bool refused = false;

	for (unsigned int i = 0; i <= LINK_WAITING_MAX; i++)
		link_ask(link, "x", PATIENT_MS, hear, heard);
	ck_assert(fake_run_until(&heard->all));
	for (unsigned int i = 0; i <= LINK_WAITING_MAX; i++)
		refused |= !!strstr(heard->texts->pdata[i], "too many");
	ck_assert(refused);
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

/* A daemon that is killed, and one that takes its place. */
START_TEST(killed)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 2);
	struct heard *heard = heard_new(1);

	link_ask(link, "x", PATIENT_MS, hear, heard);
	ck_assert(fake_run_until(&heard->all));
	fake_daemon_kill(fake);
	heard->all = false;
	heard->expected = 2;
	link_ask(link, "y", PATIENT_MS, hear, heard);
	ck_assert(fake_run_until(&heard->all));
	ck_assert_int_eq(heard->status, CONTROL_UNREACHABLE);
	link_free(link);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

/* Nothing of a link that is freed is called. */
START_TEST(freed)
{
	struct fake_daemon *fake = fake_daemon_new(echo, NULL);
	struct link *link = link_new(fake_daemon_path(fake), 1);
	struct heard *heard = heard_new(3);

	for (unsigned int i = 0; i < 3; i++)
		link_ask(link, i ? "x" : "silence", PATIENT_MS, hear, heard);
	for (unsigned int i = 0; i < 3; i++)
		g_main_context_iteration(NULL, TRUE);
	link_free(link);
	while (g_main_context_iteration(NULL, FALSE))
		;
	ck_assert_uint_eq(heard->texts->len, 0);
	fake_daemon_free(fake);
	heard_free(heard);
}
END_TEST

static const struct {
	const char *words[3], *line; /* NULL: impossible */
} lines[] = {
	{{"a", "b"}, "a b"},
	{{"a b", ""}, "\"a b\" \"\""},
	{{"a\"b", "it's"}, "'a\"b' \"it's\""},
	{{"a\"b'", "c"}, NULL},
	{{"a\nb", "c"}, NULL},
	{{"a", "b\r"}, NULL},
};

START_TEST(words)
{
	g_autofree char *line = link_line(lines[_i].words, 2);

	ck_assert_str_eq(line ? line : "(none)", lines[_i].line ? lines[_i].line : "(none)");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("link");
	TCase *cases = tcase_create("requests");

	tcase_set_timeout(cases, 30);
	tcase_add_test(cases, many_in_order);
	tcase_add_test(cases, at_most_so_many_connections);
	tcase_add_loop_test(cases, one_that_fails, 0, 4);
	tcase_add_test(cases, no_daemon);
	tcase_add_test(cases, busy);
	tcase_add_test(cases, cancelled);
	tcase_add_test(cases, too_many);
	tcase_add_test(cases, killed);
	tcase_add_test(cases, freed);
	tcase_add_loop_test(cases, words, 0, G_N_ELEMENTS(lines));
	suite_add_tcase(suite, cases);
	return suite;
}

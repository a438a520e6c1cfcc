// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files that are written in the background: the last text of each wins, and nothing is lost. */
#include <check.h>
#include <glib/gstdio.h>

#include "core/state/state_writer.h"
#include "tests/run_suite.h"

static struct context context;
static struct actor *actor;
static struct state_writer *writer;
static char *directory, *file;
static unsigned int failures;

static void setup(void)
{
	context = (struct context){.rt = runtime_new(RUNTIME_VIRTUAL), .log = log_new_null()};
	context.files = pool_new_background(context.rt, "files", 1);
	actor = actor_new(context.rt, "owner");
	writer = state_writer_new(&context, actor);
	directory = g_dir_make_tmp("opensm-writer-XXXXXX", NULL);
	file = g_build_filename(directory, "file", NULL);
	failures = 0;
}

static void end_pool(void)
{
	pool_free(context.files);
	context.files = NULL;
}

static void end_writer(void)
{
	if (context.files)
		end_pool();
	actor_stop(actor);
	state_writer_free(writer);
	writer = NULL;
}

static void teardown(void)
{
	if (writer)
		end_writer();
	actor_free(actor);
	log_free(context.log);
	runtime_free(context.rt);
	g_unlink(file);
	g_rmdir(directory);
	g_free(file);
	g_free(directory);
}

static void on_done(void *arg, bool good)
{
	ck_assert_ptr_eq(arg, &failures);
	failures += !good;
}

static void put(const char *text)
{
	state_writer_put(writer, file, "texts", g_strdup(text), false, on_done, &failures);
}

static void run(void)
{
	runtime_run(context.rt, NULL, NULL, runtime_now(context.rt) + 1);
}

static void check_holds(const char *text)
{
	g_autofree char *is = NULL;

	g_file_get_contents(file, &is, NULL, NULL);
	ck_assert_pstr_eq(is, text);
}

START_TEST(beside)
{
	put("one");
	check_holds(NULL);
	run();
	check_holds("one");
	put("two");
	put("three"); /* replaced before its turn comes */
	put("four");
	check_holds("one");
	run();
	check_holds("four");
	ck_assert_uint_eq(failures, 0);
}
END_TEST

START_TEST(cannot_be_written)
{
	ck_assert_int_eq(g_mkdir(file, 0700), 0); /* a directory in its place */
	put("one");
	run();
	ck_assert_uint_eq(failures, 1);
	put("two");
	put("three");
	run();
	ck_assert_uint_eq(failures, 3);
	ck_assert_int_eq(g_rmdir(file), 0);
	put("four");
	run();
	ck_assert_uint_eq(failures, 3);
	check_holds("four");
}
END_TEST

static void on_idle(void *arg)
{
	(*(unsigned int *)arg)++;
}

/* No text means no file; that all was tried is reported once. */
START_TEST(removed)
{
	unsigned int idle = 0;

	state_writer_on_idle(writer, on_idle, &idle);
	ck_assert(state_writer_is_idle(writer));
	put("one");
	ck_assert(!state_writer_is_idle(writer));
	put("two");
	run();
	ck_assert_uint_eq(idle, 1);
	for (unsigned int i = 0; i < 2; i++) { /* the second time there is none */
		state_writer_put(writer, file, "texts", NULL, false, on_done, &failures);
		run();
		check_holds(NULL);
	}
	ck_assert_uint_eq(idle, 3);
	ck_assert_uint_eq(failures, 0);
	ck_assert(state_writer_is_idle(writer));
}
END_TEST

/* Files that wait when the daemon ends, or are put then. */
START_TEST(at_the_end)
{
	put("one");
	put("two");
	if (_i) {
		end_pool();
		put("three");
	}
	end_writer();
	check_holds(_i ? "three" : "two");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("state_writer");
	TCase *tcase = tcase_create("state_writer");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, beside);
	tcase_add_test(tcase, cannot_be_written);
	tcase_add_test(tcase, removed);
	tcase_add_loop_test(tcase, at_the_end, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

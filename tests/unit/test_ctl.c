// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The surroundings of a daemon: log, cache directory, process file, status. */
#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/base/cache.h"
#include "ctl/process/background.h"
#include "ctl/report/status.h"
#include "ctl/site/check_config.h"
#include "iba/constants.h"
#include "route/registry.h"
#include "tests/run_suite.h"

static char *directory;

static void make_directory(void)
{
	directory = g_dir_make_tmp("opensm-ctl-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
}

static void remove_directory(void)
{
	g_rmdir(directory);
	g_clear_pointer(&directory, g_free);
}

START_TEST(cache_directory)
{
	g_autofree char *wanted = g_build_filename(directory, "a", "b", NULL);
	g_autofree char *above = g_path_get_dirname(wanted);
	g_autofree char *below_file = NULL, *got = NULL, *file = NULL;
	g_autoptr(GError) error = NULL;

	g_setenv("OSM_CACHE_DIR", wanted, TRUE);
	got = cache_dir_open(true, &error);
	ck_assert_str_eq(got, wanted);
	ck_assert(g_file_test(wanted, G_FILE_TEST_IS_DIR));
	file = g_build_filename(wanted, "file", NULL);
	below_file = g_build_filename(file, "c", NULL);
	ck_assert(g_file_set_contents(file, "", 0, NULL));
	g_setenv("OSM_CACHE_DIR", below_file, TRUE);
	ck_assert_ptr_null(cache_dir_open(false, &error));
	ck_assert_ptr_nonnull(strstr(error->message, below_file));
	g_clear_error(&error);
	/* A simulated fabric does not touch the LIDs of the real one. */
	g_unsetenv("OSM_CACHE_DIR");
	ck_assert_ptr_null(cache_dir_open(true, &error));
	ck_assert_ptr_null(error);
	g_unlink(file);
	g_rmdir(wanted);
	g_rmdir(above);
}
END_TEST

START_TEST(process_file)
{
	g_autofree char *file = g_build_filename(directory, "pid", NULL);
	g_autofree char *nowhere = g_build_filename(directory, "none", "pid", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	int handle, reader;

	handle = pidfile_open(file, &error);
	ck_assert_int_ge(handle, 0);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	ck_assert_int_eq(atol(g_strchomp(text)), getpid());
	/* A process that has it open keeps others away, until it ends. */
	ck_assert_int_lt(pidfile_open(file, &error), 0);
	ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN));
	ck_assert_ptr_nonnull(strstr(error->message, text));
	g_clear_error(&error);
	close(handle);
	/* A process that may only read a file left behind does not. */
	reader = open(file, O_RDONLY);
	ck_assert_int_eq(flock(reader, LOCK_EX | LOCK_NB), 0);
	handle = pidfile_open(file, &error);
	ck_assert_int_ge(handle, 0);
	close(reader);
	pidfile_close(file, handle);
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
	/* Another process's file stays. */
	handle = pidfile_open(file, &error);
	ck_assert(g_file_set_contents(file, "1\n", -1, NULL));
	pidfile_close(file, handle);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	g_unlink(file);
	ck_assert_int_lt(pidfile_open(nowhere, &error), 0);
	ck_assert_ptr_nonnull(strstr(error->message, "none"));
	/* Another file put there while we run does not keep us from ending. */
	handle = pidfile_open(file, NULL);
	g_unlink(file);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	pidfile_close(file, handle);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	g_unlink(file);
}
END_TEST

START_TEST(status_without_subnet)
{
	struct context context = {0};
	g_autofree char *line = NULL;

	slot_init(&context.subnet, NULL, NULL);
	atomic_init(&context.sm_state, IBA_SM_STANDBY);
	line = status_line(&context);
	ck_assert_str_eq(line, "STANDBY, no subnet yet");
	slot_clear(&context.subnet);
}
END_TEST

static void keep(void *data)
{
	(void)data;
}

/* Only where plug-ins are loaded, or none is named, can an engine be known not to exist. */
START_TEST(engines_of_plugins)
{
	static const struct route_engine ring = {.name = "ring"};
	struct route_registry *engines = route_registry_new();
	struct options *options = options_new();
	g_autoptr(GError) error = NULL;

	options->routing_engine = g_strdup("ring, updn");
	ck_assert(!check_config_engines(options, NULL, &error));
	ck_assert(g_str_has_prefix(error->message, "routing_engine: there is no engine ring, "));
	g_clear_error(&error);
	options->event_plugin_name = g_strdup("some");
	ck_assert(check_config_engines(options, NULL, &error));
	ck_assert(!check_config_engines(options, engines, &error));
	g_clear_error(&error);
	ck_assert(route_registry_add(engines, &ring, keep));
	ck_assert(check_config_engines(options, engines, &error));
	g_free(options->routing_engine);
	options->routing_engine = g_strdup("ring, rings");
	ck_assert(!check_config_engines(options, engines, &error));
	ck_assert(g_str_has_prefix(error->message, "routing_engine: there is no engine rings, "));
	ck_assert(strstr(error->message, " torus-2QoS, ring, or no_fallback"));
	options_unref(options);
	route_registry_free(engines);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ctl");
	TCase *tcase = tcase_create("ctl");

	tcase_add_checked_fixture(tcase, make_directory, remove_directory);
	tcase_add_test(tcase, cache_directory);
	tcase_add_test(tcase, process_file);
	tcase_add_test(tcase, status_without_subnet);
	tcase_add_test(tcase, engines_of_plugins);
	suite_add_tcase(suite, tcase);
	return suite;
}

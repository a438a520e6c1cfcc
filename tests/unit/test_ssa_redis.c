// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What holds for stores in Redis servers: what goes wrong with these, and a cascade of them. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/ssa_bed.h"

#define SHORT_MS 300
#define LONG_MS 10000
#define PREFIX UINT64_C(0xfe80000000000000)

static struct ssa_store *open_with(const struct redis_server *server, bool writes,
				   unsigned int timeout_ms)
{
	const struct ssa_store_options options = {
		.more = &ssa_store_redis, .timeout_ms = timeout_ms, .writes = writes};
	g_autofree char *uri = g_strdup_printf("redis://127.0.0.1:%u", server->port);
	struct ssa_store *store = ssa_store_open(uri, PREFIX, &options, NULL);

	ck_assert_ptr_nonnull(store);
	return store;
}

static void ask(const struct redis_server *server, const char *command, const char *answer)
{
	g_autofree char *lines = g_strdup_printf("%s\r\nQUIT\r\n", command);
	g_autofree char *said = redis_server_ask(server->port, lines, LONG_MS);

	ck_assert_msg(g_str_has_prefix(said, answer), "'%s' to %s", said, command);
}

/* ---- a server that does not answer ---- */

START_TEST(test_stopped)
{
	struct redis_server *server = redis_server_start(0, NULL);
	struct ssa_store *writer = open_with(server, true, SHORT_MS);
	struct ssa_store *reader = open_with(server, false, SHORT_MS);
	int64_t start_us;
	GError *error = NULL;

	bed_publish(writer, 1, 1, 0, 3);
	ck_assert_uint_eq(bed_read(reader), 1);
	ck_assert(ssa_store_wait(reader, 0, &error)); /* connects */
	kill(server->pid, SIGSTOP);
	start_us = g_get_monotonic_time();
	ck_assert_ptr_null(ssa_store_manifest(reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "no answer in time");
	ck_assert(!bed_try_publish(writer, 1, 2, 0, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "no answer in time");
	/* The wait finds out by itself, though no octet would ever come. */
	ck_assert(!ssa_store_wait(reader, SHORT_MS, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "no answer in time");
	ck_assert(!ssa_store_wait(reader, LONG_MS, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "no answer in time");
	ck_assert_int_lt(g_get_monotonic_time() - start_us, 5 * SHORT_MS * 1000 + 2000000);
	kill(server->pid, SIGCONT);
	bed_publish(writer, 1, 2, 0, 3);
	ck_assert_uint_eq(bed_read(reader), 2);
	ck_assert(ssa_store_wait(reader, LONG_MS, &error));
	ssa_store_close(writer);
	ssa_store_close(reader);
	redis_server_free(server);
}
END_TEST

static void *cancel_later(void *store)
{
	g_usleep(50000);
	ssa_store_cancel(store);
	return NULL;
}

/* Also while the wait still connects. */
START_TEST(test_cancel_stopped)
{
	struct redis_server *server = redis_server_start(0, NULL);
	struct ssa_store *reader = open_with(server, false, LONG_MS);
	int64_t start_us = g_get_monotonic_time();
	GError *error = NULL;
	pthread_t thread;

	kill(server->pid, SIGSTOP);
	ck_assert_int_eq(pthread_create(&thread, NULL, cancel_later, reader), 0);
	ck_assert(ssa_store_wait(reader, LONG_MS, &error));
	pthread_join(thread, NULL);
	ck_assert_int_lt(g_get_monotonic_time() - start_us, LONG_MS * 1000 / 2);
	ssa_store_close(reader);
	redis_server_free(server);
}
END_TEST

/* Killed while chunks are put, and started again, empty. */
START_TEST(test_killed)
{
	struct redis_server *server = redis_server_start(0, NULL);
	struct ssa_store *writer = open_with(server, true, 0),
			 *reader = open_with(server, false, 0);
	g_autofree char *name = g_strdup(bed_name(1));
	g_autoptr(GBytes) frame = bed_frame(1), manifest = g_bytes_new_static("1 2 1 1", 7);
	GError *error = NULL;
	bool has;

	bed_publish(writer, 1, 1, 0, 3);
	ck_assert_uint_eq(bed_read(reader), 1);
	ck_assert(ssa_store_wait(reader, 0, &error));
	ck_assert(ssa_store_has(writer, (const char *const *)&name, 1, &has, &error) && has);
	ck_assert(ssa_store_put(writer, bed_name(7), frame, &error));
	redis_server_kill(server);
	ck_assert(!ssa_store_wait(reader, LONG_MS, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "closed");
	ck_assert(
		!ssa_store_publish(writer, manifest, 1, 2, (const char *const *)&name, 1, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "redis://127.0.0.1");
	redis_server_restart(server, NULL);
	/* What the writer believed to be there is not: that is not published. */
	ck_assert(
		!ssa_store_publish(writer, manifest, 1, 2, (const char *const *)&name, 1, &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, "0 of the 1 chunks");
	ck_assert_ptr_null(ssa_store_manifest(reader, &error));
	g_clear_error(&error); /* the connection was closed, or the manifest is absent */
	ck_assert_ptr_null(ssa_store_manifest(reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, "no manifest");
	ck_assert(ssa_store_wait(reader, LONG_MS, &error)); /* at once: it is a new connection */
	bed_publish(writer, 1, 2, 0, 3);
	ck_assert(ssa_store_wait(reader, LONG_MS, &error));
	ck_assert_uint_eq(bed_read(reader), 2);
	ssa_store_close(writer);
	ssa_store_close(reader);
	redis_server_free(server);
}
END_TEST

static void publish_for_ever(const struct redis_server *server, uint64_t epoch)
{
	struct ssa_store *store = open_with(server, true, 0);

	for (;; epoch++)
		if (!bed_try_publish(store, 1, epoch, (unsigned int)epoch * 3, 6, NULL))
			_exit(1);
}

/* A writer that is killed at any moment leaves a whole epoch. */
START_TEST(test_writer_killed)
{
	struct redis_server *server = redis_server_start(0, NULL);
	struct ssa_store *reader = open_with(server, false, 0);
	g_autoptr(GRand) random = g_rand_new_with_seed(45);
	uint64_t last = 0, epoch;

	for (unsigned int i = 0; i < 15; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid)
			publish_for_ever(server, last + 1);
		g_usleep((gulong)g_rand_int_range(random, 0, 30000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		epoch = bed_read(reader);
		ck_assert_uint_ge(epoch, last);
		last = epoch;
	}
	ck_assert_uint_gt(last, 1);
	ssa_store_close(reader);
	redis_server_free(server);
}
END_TEST

/* ---- a server that refuses ---- */

START_TEST(test_refusals)
{
	struct redis_server *server = redis_server_start(0, NULL), *replica;
	g_autofree char *port = g_strdup_printf("%u", server->port);
	const char *words[] = {"--replicaof", "127.0.0.1", port, "--replica-serve-stale-data",
			       "no",	      NULL};
	struct ssa_store *writer = open_with(server, true, 0), *below;
	GError *error = NULL;

	bed_publish(writer, 1, 1, 0, 3);
	ask(server, "CONFIG SET maxmemory 1", "+OK");
	ck_assert(!bed_try_publish(writer, 1, 2, 10, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "OOM command not allowed");
	ck_assert_uint_eq(bed_read(writer), 1);
	ask(server, "CONFIG SET maxmemory 0", "+OK");
	bed_publish(writer, 1, 2, 10, 3);

	replica = redis_server_start(0, words);
	below = open_with(replica, true, 0);
	for (int waited = 0; waited < LONG_MS && !error; waited += 20) { /* LOADING, MASTERDOWN */
		g_autoptr(GBytes) manifest = ssa_store_manifest(below, &error);

		if (manifest)
			break;
		ck_assert_msg(
			g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE) ||
				g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_ABSENT),
			"%s", error->message);
		g_clear_error(&error);
		g_usleep(20000);
	}
	ck_assert_uint_eq(bed_read(below), 2);
	ck_assert(!bed_try_publish(below, 1, 3, 10, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "READONLY");
	redis_server_kill(server);
	for (int waited = 0; waited < LONG_MS && !error; waited += 20) {
		g_bytes_unref(ssa_store_manifest(below, &error));
		g_usleep(20000);
	}
	bed_expect(&error, SSA_STORE_ERROR_GONE, "MASTERDOWN");
	ssa_store_close(writer);
	ssa_store_close(below);
	redis_server_free(replica);
	redis_server_free(server);
}
END_TEST

/* What is published is what was put: a chunk that the server refused is missed. */
START_TEST(test_refused_put)
{
	struct redis_server *server = redis_server_start(0, NULL);
	struct ssa_store *writer = open_with(server, true, 0);
	g_autoptr(GBytes) frame = g_bytes_new_take(g_malloc0(2 << 20), 2 << 20);
	g_autoptr(GBytes) manifest = g_bytes_new_static("1 1 1 1", 7);
	g_autofree char *name = g_strdup(bed_name(1));
	GError *error = NULL;

	ask(server, "CONFIG SET maxmemory 1", "+OK");
	ck_assert(!ssa_store_put(writer, name, frame, &error)); /* so large that it is sent */
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "OOM");
	ask(server, "CONFIG SET maxmemory 0", "+OK");
	ck_assert(
		!ssa_store_publish(writer, manifest, 1, 1, (const char *const *)&name, 1, &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, "0 of the 1 chunks");
	ssa_store_close(writer);
	redis_server_free(server);
}
END_TEST

/* ---- a cascade ---- */

static struct redis_server *start_below(const struct redis_server *parent)
{
	g_autofree char *port = g_strdup_printf("%u", parent->port);
	const char *words[] = {"--replicaof", "127.0.0.1", port, NULL};

	return redis_server_start(0, words);
}

static void wait_for(struct ssa_store *store, uint64_t epoch)
{
	int64_t end_us = g_get_monotonic_time() + LONG_MS * INT64_C(1000);
	GError *error = NULL;

	while (bed_epoch(store) < epoch && g_get_monotonic_time() < end_us)
		ck_assert_msg(ssa_store_wait(store, 100, &error), "%s",
			      error ? error->message : "no error");
	ck_assert_uint_ge(bed_epoch(store), epoch);
}

/* What is published at the first of three servers is told and read at the third. */
START_TEST(test_cascade)
{
	struct redis_server *core = redis_server_start(0, NULL), *middle = start_below(core);
	struct redis_server *access = start_below(middle);
	struct ssa_store *writer = open_with(core, true, 0), *reader = open_with(access, false, 0);
	int64_t start_us, worst_us = 0;
	GError *error = NULL;

	bed_publish(writer, 1, 1, 0, 3);
	wait_for(reader, 1); /* the cascade has formed */
	ck_assert(ssa_store_wait(reader, 0, &error));
	for (uint64_t epoch = 2; epoch <= 30; epoch++) {
		start_us = g_get_monotonic_time();
		bed_publish(writer, 1, epoch, (unsigned int)epoch, 5);
		while (bed_epoch(reader) < epoch)
			ck_assert(ssa_store_wait(reader, LONG_MS, &error));
		worst_us = MAX(worst_us, g_get_monotonic_time() - start_us);
		ck_assert_uint_eq(bed_read(reader), epoch);
	}
	ck_assert_int_lt(worst_us, 1000000);
	ssa_store_close(writer);
	ssa_store_close(reader);
	redis_server_free(access);
	redis_server_free(middle);
	redis_server_free(core);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_redis");
	TCase *tcase = tcase_create("redis");

	tcase_set_timeout(tcase, 60);
	if (bed_kinds() > BED_REDIS) {
		tcase_add_test(tcase, test_stopped);
		tcase_add_test(tcase, test_cancel_stopped);
		tcase_add_test(tcase, test_killed);
		tcase_add_test(tcase, test_writer_killed);
		tcase_add_test(tcase, test_refusals);
		tcase_add_test(tcase, test_refused_put);
		tcase_add_test(tcase, test_cascade);
	}
	suite_add_tcase(suite, tcase);
	return suite;
}

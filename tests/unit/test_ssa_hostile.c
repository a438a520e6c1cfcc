// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Servers that are none, or none that is meant well: each call ends in time, with an error. */
#include <arpa/inet.h>
#include <check.h>
#include <gio/gio.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/memory_used.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_bed.h"

#define TIMEOUT_MS 60 /* where no answer is to be expected */
#define LONG_MS 5000
#define ENOUGH_MS 3000 /* for one call, on a busy machine */
#define TICK_MS 5

enum manner {
	HOLDS,	  /* answers, and keeps the connection */
	HANGS_UP, /* answers, and closes it */
	DRIPS,	  /* gives an octet a tick, for ever */
	POURS,	  /* answers, and goes on with one letter for ever */
};

struct hostile {
	const char *answer;
	size_t length;
	enum manner manner;
	int fd;
	uint16_t port;
	pthread_t thread;
	atomic_bool ends;
};

/* ---- the server ---- */

/* False: the connection is over. */
static bool give(const char *octets, size_t length, int fd)
{
	return send(fd, octets, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static void pour(struct hostile *hostile, int fd)
{
	char octets[65536];

	memset(octets, 'a', sizeof(octets));
	while (!hostile->ends && give(octets, sizeof(octets), fd))
		;
}

static void serve(struct hostile *hostile, int fd)
{
	struct pollfd wait = {fd, POLLIN, 0};
	char command[65536];
	size_t at = 0;

	while (!hostile->ends) {
		int ready = poll(&wait, 1, at ? 0 : TICK_MS);

		if (ready > 0 && recv(fd, command, sizeof(command), MSG_DONTWAIT) <= 0)
			return;
		if (!ready && !at)
			continue;
		if (hostile->manner == DRIPS) {
			g_usleep(TICK_MS * 1000);
			if (!give(hostile->answer + at % hostile->length, 1, fd))
				return;
			at++;
			continue;
		}
		if (!give(hostile->answer, hostile->length, fd) || hostile->manner == HANGS_UP)
			return;
		if (hostile->manner == POURS)
			return pour(hostile, fd);
	}
}

static void *run(void *arg)
{
	struct hostile *hostile = arg;
	struct pollfd wait = {hostile->fd, POLLIN, 0};

	while (!hostile->ends) {
		int fd = poll(&wait, 1, TICK_MS) > 0 ? accept(hostile->fd, NULL, NULL) : -1;

		if (fd < 0)
			continue;
		serve(hostile, fd);
		close(fd);
	}
	return NULL;
}

static void start(struct hostile *hostile)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	hostile->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(hostile->fd, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(hostile->fd, 8), 0);
	ck_assert_int_eq(getsockname(hostile->fd, (struct sockaddr *)&address, &length), 0);
	hostile->port = ntohs(address.sin_port);
	ck_assert_int_eq(pthread_create(&hostile->thread, NULL, run, hostile), 0);
}

static void stop(struct hostile *hostile)
{
	hostile->ends = true;
	pthread_join(hostile->thread, NULL);
	close(hostile->fd);
}

static struct ssa_store *open_at(uint16_t port, const char *scheme, unsigned int timeout_ms)
{
	const struct ssa_store_options options = {
		.more = &ssa_store_redis, .timeout_ms = timeout_ms, .writes = true};
	g_autofree char *uri = g_strdup_printf("%s://127.0.0.1:%u", scheme, port);
	GError *error = NULL;
	struct ssa_store *store = ssa_store_open(uri, 1, &options, &error);

	ck_assert_msg(store != NULL, "%s", error ? error->message : "no error");
	return store;
}

/* ---- what it answers ---- */

static const struct {
	const char *what, *answer;
	enum manner manner;
	const char *text; /* of the error about the manifest */
} answers[] = {
	{"hangs up", "", HANGS_UP, "closed"},
	{"another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n", HANGS_UP, "not a reply"},
	{"garbage", "\x01\x02\xFF\xFE\x80 no reply\r\n", HOLDS, "not a reply"},
	{"a wrong kind", "*0\r\n", HOLDS, "not one that Redis gives"},
	{"another wrong kind", ":1234\r\n", HOLDS, "not one that Redis gives"},
	{"a status", "+OK\r\n", HOLDS, "not one that Redis gives"},
	{"a number that is none", ":1x\r\n", HOLDS, ""},
	{"a length that is none", "$x\r\n", HOLDS, "not a reply"},
	{"a negative length", "$-5\r\n", HOLDS, "not a reply"},
	{"a huge length", "$9223372036854775807\r\nabc", HOLDS, ""},
	{"an overflow", "$99999999999999999999\r\nabc", HOLDS, "not a reply"},
	{"a gigabyte that never comes", "$1073741824\r\nabc", HOLDS, "no answer in time"},
	{"a gigabyte that comes", "$1073741824\r\n", POURS, "more than"},
	{"a long line", "+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", POURS, ""},
	{"a huge array", "*2147483647\r\n", HOLDS, "not a reply"},
	{"a large array", "*17\r\n$1\r\na\r\n", HOLDS, "not a reply"},
	{"a negative array", "*-7\r\n", HOLDS, ""},
	{"deep arrays", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", HOLDS,
	 "not a reply"},
	{"half a reply", "$10\r\nabc", HANGS_UP, "closed"},
	{"half a reply for ever", "$10\r\nabc", HOLDS, "no answer in time"},
	{"RESP3", ",1.5\r\n", HOLDS, "not "},
	{"more of RESP3", "#t\r\n", HOLDS, "not "},
	{"a map", "%1\r\n+a\r\n+b\r\n", HOLDS, "not "},
	{"a push", ">2\r\n+a\r\n+b\r\n", HOLDS, "not "},
	{"an octet at a time", "$10000\r\n", DRIPS, "no answer in time"},
	{"an error of its own", "-WHATEVER \x1b[2J\x07 what\r\n", HOLDS, "WHATEVER ?[2J? what"},
	{"an error without end", "-WHATEVER what ", POURS, ""},
	{"an epoch that is none", "$9\r\nnonsense!\r\n$9\r\nnonsense!\r\n", HOLDS, NULL},
	{"silence", "", HOLDS, "no answer in time"},
};

/* Each call: after an error the next one connects again. */
static void call_all(struct ssa_store *store, const char *what, const char *text)
{
	g_autofree char *name = g_strdup(bed_name(1));
	g_autoptr(GBytes) frame = bed_frame(1), manifest = NULL, got = NULL;
	int64_t start_us = g_get_monotonic_time();
	GError *error = NULL;
	bool has;

	manifest = ssa_store_manifest(store, &error);
	ck_assert_msg(!manifest == !!text, "%s", what);
	if (text) {
		ck_assert_msg(strstr(error->message, text) != NULL, "%s: %s", what, error->message);
		g_clear_error(&error);
	}
	got = ssa_store_get(store, name, NULL);
	ck_assert(!text || !got);
	ssa_store_has(store, (const char *const *)&name, 1, &has, NULL);
	ssa_store_put(store, name, frame, NULL);
	ck_assert(!ssa_store_publish(store, frame, 1, 1, (const char *const *)&name, 1, &error));
	g_clear_error(&error);
	ck_assert(!ssa_store_wait(store, TIMEOUT_MS, &error));
	g_clear_error(&error);
	ck_assert_msg(g_get_monotonic_time() - start_us < 6 * ENOUGH_MS * INT64_C(1000), "%s",
		      what);
}

START_TEST(test_answers)
{
	struct hostile hostile = {.answer = answers[_i].answer,
				  .length = strlen(answers[_i].answer),
				  .manner = answers[_i].manner};
	const char *text = answers[_i].text;
	bool is_late = text && (!*text || !strcmp(text, "no answer in time"));
	struct ssa_store *store;
	size_t before;

	start(&hostile);
	store = open_at(hostile.port, "redis", is_late ? TIMEOUT_MS : LONG_MS);
	before = memory_used();
	call_all(store, answers[_i].what, text);
	ck_assert_uint_le(memory_used(), before + (1 << 20)); /* GLib makes some things once */
	ssa_store_close(store);
	stop(&hostile);
}
END_TEST

/* Where TLS is expected. */
START_TEST(test_tls_answers)
{
	struct hostile hostile = {.answer = answers[_i].answer,
				  .length = strlen(answers[_i].answer),
				  .manner = answers[_i].manner};
	struct ssa_store *store;
	GError *error = NULL;

	if (!g_tls_backend_supports_tls(g_tls_backend_get_default())) {
		fprintf(stderr, "skipped: TLS: glib-networking is not installed\n");
		return;
	}
	start(&hostile);
	store = open_at(hostile.port, "rediss", TIMEOUT_MS);
	ck_assert_ptr_null(ssa_store_manifest(store, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "rediss://127.0.0.1");
	ck_assert(!ssa_store_wait(store, TIMEOUT_MS, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "rediss://127.0.0.1");
	ssa_store_close(store);
	stop(&hostile);
}
END_TEST

/* ---- random octets ---- */

/* Replies with some octets changed, and what begins as a reply. */
START_TEST(test_random)
{
	static const char *const seeds[] = {"$3\r\nabc\r\n",
					    "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$3\r\n1 2\r\n",
					    "+OK\r\n",
					    "-OOM no\r\n",
					    "*2\r\n*1\r\n:1\r\n$-1\r\n",
					    ":12\r\n"};
	g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);

	for (unsigned int i = 0; i < 10; i++) {
		char answer[64];
		struct hostile hostile = {.answer = answer, .manner = HANGS_UP};
		struct ssa_store *store;
		GError *error = NULL;

		const char *seed = seeds[g_rand_int_range(random, 0, G_N_ELEMENTS(seeds))];

		hostile.length = g_strlcpy(answer, seed, sizeof(answer));
		for (unsigned int j = 0; j < 3; j++) {
			gint32 at = g_rand_int_range(random, 0, (gint32)hostile.length);

			answer[at] = (char)g_rand_int(random);
		}
		start(&hostile);
		store = open_at(hostile.port, "redis", TIMEOUT_MS);
		g_bytes_unref(ssa_store_manifest(store, &error));
		g_clear_error(&error);
		ssa_store_wait(store, 0, &error);
		g_clear_error(&error);
		ssa_store_close(store);
		stop(&hostile);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_hostile");
	TCase *tcase = tcase_create("hostile");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_answers, 0, G_N_ELEMENTS(answers));
	tcase_add_loop_test(tcase, test_tls_answers, 0, G_N_ELEMENTS(answers));
	tcase_add_loop_test(tcase, test_random, 0, 5);
	suite_add_tcase(suite, tcase);
	return suite;
}

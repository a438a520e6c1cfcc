// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages to the service manager, read from a socket that plays its part. */
#include "core/notify.h"
#include "tests/run_suite.h"

#include <check.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));

	memcpy(address.sun_path, name, strlen(name));
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, length), 0);
	g_setenv("NOTIFY_SOCKET", name, TRUE);
	return fd;
}

static void assert_received(int fd, const char *text)
{
	char buffer[256] = "";

	ck_assert_int_eq((int)recv(fd, buffer, sizeof(buffer) - 1, 0), (int)strlen(text));
	ck_assert_str_eq(buffer, text);
}

static void assert_reloading(int fd)
{
	gint64 before = g_get_monotonic_time(), told;
	char buffer[256] = "";

	ck_assert(notify_reloading());
	ck_assert_int_gt((int)recv(fd, buffer, sizeof(buffer) - 1, 0), 0);
	ck_assert(g_str_has_prefix(buffer, "RELOADING=1\nMONOTONIC_USEC="));
	told = g_ascii_strtoll(strrchr(buffer, '=') + 1, NULL, 10);
	ck_assert_int_ge(told, before);
	ck_assert_int_le(told, g_get_monotonic_time());
}

static void talk(int fd)
{
	assert_reloading(fd);
	ck_assert(notify_watchdog());
	assert_received(fd, "WATCHDOG=1");
	ck_assert(notify_patience(120000000));
	assert_received(fd, "EXTEND_TIMEOUT_USEC=120000000");
	ck_assert(notify_ready());
	assert_received(fd, "READY=1");
	ck_assert(notify_status("MASTER, 17 nodes"));
	assert_received(fd, "STATUS=MASTER, 17 nodes");
	ck_assert(notify_status("a\nREADY=1"));
	assert_received(fd, "STATUS=a READY=1");
	ck_assert(notify_stopping());
	assert_received(fd, "STOPPING=1");
	close(fd);
	g_unsetenv("NOTIFY_SOCKET");
}

START_TEST(socket_in_the_file_system)
{
	g_autofree char *directory = g_dir_make_tmp("opensm-test-XXXXXX", NULL);
	g_autofree char *name = g_build_filename(directory, "notify", NULL);

	talk(listen_at(name));
	g_unlink(name);
	g_rmdir(directory);
}
END_TEST

START_TEST(abstract_socket)
{
	g_autofree char *name = g_strdup_printf("@opensm-test-%d", (int)getpid());

	talk(listen_at(name));
}
END_TEST

START_TEST(watchdog_interval)
{
	g_autofree char *pid = g_strdup_printf("%d", (int)getpid());

	ck_assert_uint_eq(notify_watchdog_us(), 0);
	g_setenv("WATCHDOG_USEC", "30000000", TRUE);
	ck_assert_uint_eq(notify_watchdog_us(), 30000000);
	g_setenv("WATCHDOG_PID", pid, TRUE);
	ck_assert_uint_eq(notify_watchdog_us(), 30000000);
	g_setenv("WATCHDOG_PID", "1", TRUE); /* meant for another process */
	ck_assert_uint_eq(notify_watchdog_us(), 0);
	g_unsetenv("WATCHDOG_PID");
	g_setenv("WATCHDOG_USEC", "soon", TRUE);
	ck_assert_uint_eq(notify_watchdog_us(), 0);
	g_unsetenv("WATCHDOG_USEC");
}
END_TEST

START_TEST(no_or_bad_socket)
{
	g_autofree char *long_name = g_strnfill(200, '/');

	g_unsetenv("NOTIFY_SOCKET");
	ck_assert(notify_ready());
	g_setenv("NOTIFY_SOCKET", "", TRUE);
	ck_assert(notify_ready());
	g_setenv("NOTIFY_SOCKET", "/nonexistent/socket", TRUE);
	ck_assert(!notify_ready());
	g_setenv("NOTIFY_SOCKET", "relative", TRUE);
	ck_assert(!notify_ready());
	g_setenv("NOTIFY_SOCKET", long_name, TRUE);
	ck_assert(!notify_ready());
	g_unsetenv("NOTIFY_SOCKET");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("notify");
	TCase *tests = tcase_create("notify");

	tcase_add_test(tests, socket_in_the_file_system);
	tcase_add_test(tests, abstract_socket);
	tcase_add_test(tests, watchdog_interval);
	tcase_add_test(tests, no_or_bad_socket);
	suite_add_tcase(suite, tests);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Answers of a daemon, cut out of a stream: torn, of garbage, with files. */
#define _GNU_SOURCE /* memfd_create */
#include <check.h>
#include <gio/gunixfdmessage.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/record.h"
#include "tests/run_suite.h"

static const char two[] = "OpenSM $ \x1e{\"status\":0,\"output\":\"a\\n\"}\n"
			  "noise\x1e{\"status\":12,\"output\":\"b\",\"more\":true}\n";

/* Wherever the stream is torn, the records are those of the whole. */
START_TEST(torn)
{
	struct record_reader reader;
	struct reply first, second;
	g_autoptr(GError) error = NULL;
	size_t length = strlen(two);

	for (size_t cut = 0; cut <= length; cut++) {
		bool early;

		record_reader_init(&reader);
		record_reader_add(&reader, two, cut);
		early = record_reader_next(&reader, &first, &error) == RECORD_READ;
		record_reader_add(&reader, two + cut, length - cut);
		if (!early)
			ck_assert_int_eq(record_reader_next(&reader, &first, &error), RECORD_READ);
		ck_assert_int_eq(record_reader_next(&reader, &second, &error), RECORD_READ);
		ck_assert_str_eq(first.output, "a\n");
		ck_assert(!first.more && second.more && second.status == 12);
		ck_assert_int_eq(record_reader_next(&reader, &first, &error), RECORD_NONE);
		reply_clear(&second);
		record_reader_clear(&reader);
		g_free(first.output);
	}
}
END_TEST

START_TEST(octet_by_octet)
{
	struct record_reader reader;
	struct reply reply;
	g_autoptr(GError) error = NULL;
	unsigned int n = 0;

	record_reader_init(&reader);
	for (const char *c = two; *c; c++) {
		record_reader_add(&reader, c, 1);
		if (record_reader_next(&reader, &reply, &error) != RECORD_READ)
			continue;
		reply_clear(&reply);
		n++;
	}
	ck_assert_uint_eq(n, 2);
	record_reader_clear(&reader);
}
END_TEST

static const char *const garbage[] = {
	"\x1e\n",
	"\x1e{}\n",
	"\x1e[]\n",
	"\x1enull\n",
	"\x1e{\"status\":-1}\n",
	"\x1e{\"status\":126}\n",
	"\x1e{\"status\":0.5}\n",
	"\x1e{\"status\":\"0\"}\n",
	"\x1e{\"status\":0\n",
	"\x1e\x1e{\"status\":0}\n",
	"\x1e{\"status\":0,\"file\":true}\n",
	"\x1e\xff\xfe\n",
};

START_TEST(wrong)
{
	struct record_reader reader;
	struct reply reply;
	g_autoptr(GError) error = NULL;

	record_reader_init(&reader);
	record_reader_add(&reader, garbage[_i], strlen(garbage[_i]));
	ck_assert_int_eq(record_reader_next(&reader, &reply, &error), RECORD_WRONG);
	ck_assert_int_eq(error->code, CONTROL_UNREACHABLE);
	record_reader_clear(&reader);
}
END_TEST

START_TEST(endless)
{
	struct record_reader reader;
	struct reply reply;
	g_autoptr(GError) error = NULL;
	size_t n = 1 << 20;
	g_autofree char *text = g_strnfill(n, 'x');

	record_reader_init(&reader);
	record_reader_add(&reader, "\x1e", 1);
	for (size_t sent = 0; sent < RECORD_MAX; sent += n) {
		ck_assert_int_eq(record_reader_next(&reader, &reply, &error), RECORD_NONE);
		record_reader_add(&reader, text, n);
	}
	ck_assert_int_eq(record_reader_next(&reader, &reply, &error), RECORD_WRONG);
	ck_assert_ptr_nonnull(strstr(error->message, "does not end"));
	record_reader_clear(&reader);
}
END_TEST

START_TEST(last_words)
{
	struct record_reader reader;
	g_autoptr(GError) error = NULL;

	record_reader_init(&reader);
	record_reader_add(&reader, "There are too many sessions\n", 28);
	ck_assert(!record_reader_closed(&reader, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "too many sessions"));
	record_reader_clear(&reader);
}
END_TEST

static GSocket *wrap(int fd)
{
	GSocket *socket = g_socket_new_from_fd(fd, NULL);

	g_socket_set_blocking(socket, FALSE);
	return socket;
}

static void send_with_files(GSocket *to, const char *text, unsigned int n)
{
	GSocketControlMessage *message = g_unix_fd_message_new();
	GOutputVector vector = {text, strlen(text)};

	for (unsigned int i = 0; i < n; i++) {
		int file = memfd_create("test", MFD_CLOEXEC);

		ck_assert(write(file, "0123456789", i + 1) == i + 1);
		ck_assert(g_unix_fd_message_append_fd(G_UNIX_FD_MESSAGE(message), file, NULL));
		close(file);
	}
	ck_assert(g_socket_send_message(to, NULL, &vector, 1, n ? &message : NULL, n ? 1 : 0, 0,
					NULL, NULL) > 0);
	g_object_unref(message);
}

static unsigned int open_files(void)
{
	g_autoptr(GDir) directory = g_dir_open("/proc/self/fd", 0, NULL);
	unsigned int n = 0;

	while (g_dir_read_name(directory))
		n++;
	return n;
}

/* No file stays open, whether it was asked for or not. */
START_TEST(files)
{
	static const char with[] = "\x1e{\"status\":0,\"file\":true}\n";
	unsigned int before = open_files();
	struct record_reader reader;
	struct reply reply;
	g_autoptr(GError) error = NULL;
	int ends[2];
	GSocket *daemon, *client;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	daemon = wrap(ends[0]);
	client = wrap(ends[1]);
	record_reader_init(&reader);
	send_with_files(daemon, with, 3);
	ck_assert_int_gt(record_reader_receive(&reader, client, &error), 0);
	ck_assert_int_eq(record_reader_next(&reader, &reply, &error), RECORD_READ);
	ck_assert_int_gt(reply.file, 0);
	ck_assert_int_eq(lseek(reply.file, 0, SEEK_END), 3);
	reply_clear(&reply);
	send_with_files(daemon, "\x1e{\"status\":0}\n", 1);
	ck_assert_int_gt(record_reader_receive(&reader, client, &error), 0);
	ck_assert_int_eq(record_reader_next(&reader, &reply, &error), RECORD_READ);
	ck_assert_int_eq(reply.file, 0);
	reply_clear(&reply);
	record_reader_clear(&reader);
	g_object_unref(daemon);
	g_object_unref(client);
	ck_assert_uint_eq(open_files(), before);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("record");
	TCase *cases = tcase_create("records");

	tcase_add_test(cases, torn);
	tcase_add_test(cases, octet_by_octet);
	tcase_add_loop_test(cases, wrong, 0, G_N_ELEMENTS(garbage));
	tcase_add_test(cases, endless);
	tcase_add_test(cases, last_words);
	tcase_add_test(cases, files);
	suite_add_tcase(suite, cases);
	return suite;
}

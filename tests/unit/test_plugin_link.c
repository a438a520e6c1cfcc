// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The link between the daemon and the host of a plug-in. */
#include "plugin/base/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/run_suite.h"

static int ends[2];
static struct link_head got;
static char octets[LINK_MESSAGE_MAX];
static int files[LINK_FILES];

static void setup(void)
{
	g_autoptr(GError) error = NULL;

	ck_assert_msg(link_pair(ends, &error), "%s", error ? error->message : "");
}

static void teardown(void)
{
	close(ends[0]);
	close(ends[1]);
}

static unsigned int open_files(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static enum link_outcome send_text(const char *text)
{
	const struct link_head head = {
		.type = LINK_LOG, .value = 7, .id = 9, .length = (uint32_t)strlen(text)};

	return link_send(ends[0], &head, text, NULL);
}

START_TEST(messages_stay_apart)
{
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_AGAIN);
	ck_assert_int_eq(send_text("one"), LINK_DONE);
	ck_assert_int_eq(send_text(""), LINK_DONE);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
	ck_assert_int_eq(got.type, LINK_LOG);
	ck_assert_int_eq(got.value, 7);
	ck_assert_int_eq(got.id, 9);
	ck_assert_int_eq(got.length, 3);
	ck_assert_mem_eq(octets, "one", 3);
	ck_assert_int_eq(files[0], -1);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
	ck_assert_int_eq(got.length, 0);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_AGAIN);
}
END_TEST

START_TEST(the_longest_message_passes)
{
	const struct link_head head = {.type = LINK_EVENTS, .length = LINK_MESSAGE_MAX};
	const struct link_head longer = {.type = LINK_EVENTS, .length = LINK_MESSAGE_MAX + 1};
	g_autofree char *most = g_malloc(LINK_MESSAGE_MAX + 1);

	memset(most, 'x', LINK_MESSAGE_MAX + 1);
	ck_assert_int_eq(link_send(ends[0], &head, most, NULL), LINK_DONE);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
	ck_assert_int_eq(got.length, LINK_MESSAGE_MAX);
	ck_assert_mem_eq(octets, most, LINK_MESSAGE_MAX);
	ck_assert_int_eq(link_send(ends[0], &longer, most, NULL), LINK_ENDED);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_AGAIN);
}
END_TEST

START_TEST(files_pass)
{
	const struct link_head head = {.type = LINK_ANSWER, .n_files = 2};
	int sent[2] = {open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)};
	struct stat there, here;

	ck_assert_int_eq(link_send(ends[0], &head, NULL, sent), LINK_DONE);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(fstat(sent[i], &there), 0);
		ck_assert_int_eq(fstat(files[i], &here), 0);
		ck_assert_int_eq(there.st_rdev, here.st_rdev);
		ck_assert_int_eq(fcntl(files[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		close(sent[i]);
		close(files[i]);
	}
}
END_TEST

START_TEST(a_full_socket_says_again)
{
	unsigned int n = 0;

	while (send_text("x") == LINK_DONE)
		ck_assert_int_lt(++n, 100000);
	ck_assert_int_eq(send_text("x"), LINK_AGAIN);
	ck_assert(!link_wait(ends[0], true, 0));
	while (link_receive(ends[1], &got, octets, files) == LINK_DONE)
		n--;
	ck_assert_int_eq(n, 0);
	ck_assert(link_wait(ends[0], true, 0));
	ck_assert_int_eq(send_text("x"), LINK_DONE);
}
END_TEST

START_TEST(waiting_ends)
{
	ck_assert(!link_wait(ends[1], false, 0));
	ck_assert(!link_wait(ends[1], false, 5));
	send_text("x");
	ck_assert(link_wait(ends[1], false, -1));
}
END_TEST

START_TEST(the_end_is_seen)
{
	send_text("last");
	close(ends[0]);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
	ck_assert(link_wait(ends[1], false, -1));
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_ENDED);
	ends[0] = ends[1];
	ck_assert_int_eq(send_text("x"), LINK_ENDED); /* and no SIGPIPE */
	ends[0] = dup(0);
}
END_TEST

/* Sends a head and octets as they are, with that number of copies of a file. */
static void send_raw(const struct link_head *head, size_t head_octets, size_t length,
		     unsigned int n_files)
{
	struct iovec parts[2] = {{(void *)head, head_octets}, {octets, length}};
	union {
		struct cmsghdr head;
		char octets[CMSG_SPACE(8 * sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (n_files) {
		message.msg_control = control.octets;
		message.msg_controllen = CMSG_SPACE(n_files * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n_files * sizeof(int));
		for (unsigned int i = 0; i < n_files; i++)
			memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &ends[0], sizeof(int));
	}
	ck_assert_int_ge(sendmsg(ends[0], &message, MSG_NOSIGNAL), 0);
}

static const struct wrong {
	struct link_head head;
	size_t head_octets, length;
	unsigned int n_files;
} wrongs[] = {
	{{.length = 0}, 4, 0, 0},			 /* not even a head */
	{{.length = 4}, sizeof(struct link_head), 3, 0}, /* less than it says */
	{{.length = 2}, sizeof(struct link_head), 3, 0}, /* more than it says */
	{{.length = UINT32_MAX}, sizeof(struct link_head), 3, 0},
	{{.n_files = 1}, sizeof(struct link_head), 0, 0}, /* a file that did not come */
	{{.n_files = 0}, sizeof(struct link_head), 0, 1}, /* one that it does not mention */
	{{.n_files = 1}, sizeof(struct link_head), 0, 2},
	{{.n_files = 2}, sizeof(struct link_head), 0, 4}, /* more than fit */
	{{.n_files = 4}, sizeof(struct link_head), 0, 4},
	{{.length = 0}, sizeof(struct link_head), 1, 2},
};

START_TEST(what_does_not_match_is_refused)
{
	const struct wrong *wrong = &wrongs[_i];
	unsigned int before = open_files();

	send_raw(&wrong->head, wrong->head_octets, wrong->length, wrong->n_files);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_ENDED);
	for (unsigned int i = 0; i < LINK_FILES; i++)
		ck_assert_int_eq(files[i], -1);
	ck_assert_int_eq(open_files(), before);
}
END_TEST

/* The rest of the message comes, and what comes after it. */
START_TEST(no_descriptor_is_left)
{
	const struct link_head head = {.type = LINK_ANSWER, .id = 7, .length = 4, .n_files = 2};
	int sent[2] = {ends[0], ends[0]};
	struct rlimit limit, before;

	ck_assert_int_eq(link_send(ends[0], &head, "text", sent), LINK_DONE);
	send_text("next");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	for (int room = 0; room < 2; room++) {
		int lowest = dup(0);

		close(lowest);
		limit.rlim_cur = (rlim_t)(lowest + room);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
		ck_assert_uint_eq(got.id, 7);
		ck_assert_uint_eq(got.n_files, 2);
		ck_assert_mem_eq(octets, "text", 4);
		ck_assert_int_eq(files[0], -1);
		ck_assert_int_eq(files[1], -1);
		ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_DONE);
		ck_assert_mem_eq(octets, "next", 4);
		ck_assert_int_eq(dup(0), lowest);
		close(lowest);
		ck_assert_int_eq(link_send(ends[0], &head, "text", sent), LINK_DONE);
		send_text("next");
	}
}
END_TEST

START_TEST(too_long_a_message_is_refused)
{
	const struct link_head head = {.length = LINK_MESSAGE_MAX + 1};
	g_autofree char *longer = g_malloc0(LINK_MESSAGE_MAX + 1);
	struct iovec parts[2] = {{(void *)&head, sizeof(head)}, {longer, LINK_MESSAGE_MAX + 1}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	ck_assert_int_ge(sendmsg(ends[0], &message, MSG_NOSIGNAL), 0);
	ck_assert_int_eq(link_receive(ends[1], &got, octets, files), LINK_ENDED);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("plugin_link");
	TCase *tcase = tcase_create("link");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, messages_stay_apart);
	tcase_add_test(tcase, the_longest_message_passes);
	tcase_add_test(tcase, files_pass);
	tcase_add_test(tcase, a_full_socket_says_again);
	tcase_add_test(tcase, waiting_ends);
	tcase_add_test(tcase, the_end_is_seen);
	tcase_add_loop_test(tcase, what_does_not_match_is_refused, 0, G_N_ELEMENTS(wrongs));
	tcase_add_test(tcase, no_descriptor_is_left);
	tcase_add_test(tcase, too_long_a_message_is_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}

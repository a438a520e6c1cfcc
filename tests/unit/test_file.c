// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files by name, and everything else that may have that name. */
#include <check.h>
#include <complib/file.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/run_suite.h"

#define LIMIT 10000 /* octets */

static char *directory, *file, *other;

static void make_directory(void)
{
	directory = g_dir_make_tmp("file-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
	file = g_build_filename(directory, "file", NULL);
	other = g_build_filename(directory, "other", NULL);
}

/* No other file may be left, not even a temporary one. */
static void remove_directory(void)
{
	g_remove(file);
	g_remove(other);
	ck_assert_int_eq(rmdir(directory), 0);
	g_free(directory);
	g_free(file);
	g_free(other);
}

static void put(const char *name, const char *text, gssize length)
{
	ck_assert(g_file_set_contents(name, text, length, NULL));
}

static unsigned int mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(lstat(name, &st), 0);
	return st.st_mode & ~(mode_t)S_IFMT;
}

/* ---- what may have a name ---- */

static void make_fifo(void)
{
	ck_assert_int_eq(mkfifo(file, 0600), 0);
}

static void make_subdirectory(void)
{
	ck_assert_int_eq(mkdir(file, 0700), 0);
}

static void make_socket(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	g_strlcpy(name.sun_path, file, sizeof(name.sun_path));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
}

static void make_device_link(void)
{
	ck_assert_int_eq(symlink("/dev/zero", file), 0);
}

static void make_link(void)
{
	put(other, "mine\n", -1);
	ck_assert_int_eq(symlink(other, file), 0);
}

static void make_dangling_link(void)
{
	ck_assert_int_eq(symlink(other, file), 0);
}

static const struct {
	void (*make)(void);
	const char *read, *write; /* what reading and writing report; NULL: it reads "mine" */
} things[] = {
	{make_fifo, "is a FIFO", "is a FIFO"},
	{make_subdirectory, "is a directory", "is a directory"},
	{make_socket, "No such device", "is a socket"},
	{make_device_link, "is a device", "is a symbolic link"},
	{make_link, NULL, "is a symbolic link"},
	{make_dangling_link, "No such file", "is a symbolic link"},
};

static void check_error(const GError *error, const char *expected)
{
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->domain, G_FILE_ERROR);
	ck_assert_msg(g_str_has_prefix(error->message, file), "%s", error->message);
	ck_assert_msg(strstr(error->message, expected) != NULL, "%s: no '%s'", error->message,
		      expected);
}

START_TEST(test_read_things)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	gint64 start = g_get_monotonic_time();

	things[_i].make();
	text = file_read(file, LIMIT, NULL, &error);
	if (things[_i].read)
		check_error(error, things[_i].read);
	else
		ck_assert_str_eq(text, "mine\n");
	ck_assert(!text == !!things[_i].read);
	ck_assert_int_lt(g_get_monotonic_time() - start, G_USEC_PER_SEC);
}
END_TEST

START_TEST(test_write_things)
{
	g_autoptr(GError) error = NULL;
	bool led = false;

	things[_i].make();
	led = g_file_test(other, G_FILE_TEST_EXISTS);
	ck_assert(!file_write(file, "ours\n", 0600, &error));
	check_error(error, things[_i].write);
	ck_assert(led == g_file_test(other, G_FILE_TEST_EXISTS));
	if (led) {
		g_autofree char *text = file_read(other, LIMIT, NULL, NULL);

		ck_assert_str_eq(text, "mine\n");
	}
}
END_TEST

/* ---- reading ---- */

START_TEST(test_read)
{
	static const char octets[] = "a\0b\n";
	g_autofree char *text = NULL;
	gsize length;

	put(file, octets, sizeof(octets));
	text = file_read(file, LIMIT, &length, NULL);
	ck_assert_uint_eq(length, sizeof(octets));
	ck_assert_mem_eq(text, octets, length);
	ck_assert_int_eq(text[length], '\0');
}
END_TEST

/* A text may begin with a byte order mark, which does not belong to it; half of one does. */
START_TEST(test_byte_order_mark)
{
	static const struct {
		const char *octets, *text;
	} texts[] = {
		{"\xEF\xBB\xBF# a\n", "# a\n"},
		{"\xEF\xBB\xBF", ""},
		{"\xEF\xBB", "\xEF\xBB"},
		{"a\xEF\xBB\xBF", "a\xEF\xBB\xBF"},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *text = NULL;
		gsize length;

		put(file, texts[i].octets, -1);
		text = file_read(file, LIMIT, &length, NULL);
		ck_assert_str_eq(text, texts[i].text);
		ck_assert_uint_eq(length, strlen(text));
	}
}
END_TEST

START_TEST(test_read_nothing)
{
	g_autofree char *empty = NULL, *null = NULL;
	gsize length = 1;

	put(file, "", 0);
	empty = file_read(file, 0, &length, NULL);
	ck_assert_str_eq(empty, "");
	ck_assert_uint_eq(length, 0);
	length = 1;
	null = file_read("/dev/null", LIMIT, &length, NULL);
	ck_assert_str_eq(null, "");
	ck_assert_uint_eq(length, 0);
}
END_TEST

START_TEST(test_no_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(file_read(file, LIMIT, NULL, &error));
	check_error(error, "No such file");
	ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}
END_TEST

/* Loop test: lengths around the limit and the size of the first read. */
static const size_t lengths[] = {1,	    4095,  4096,      4097,	 8193,
				 LIMIT - 1, LIMIT, LIMIT + 1, 20 * LIMIT};

START_TEST(test_lengths)
{
	g_autofree char *octets = g_malloc(lengths[_i]);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	gsize length;

	memset(octets, 'x', lengths[_i]);
	put(file, octets, (gssize)lengths[_i]);
	text = file_read(file, LIMIT, &length, &error);
	if (lengths[_i] > LIMIT) {
		g_autofree char *size = g_strdup_printf("has %zu octets", lengths[_i]);

		ck_assert_ptr_null(text);
		check_error(error, size);
		check_error(error, "at most 10000");
		return;
	}
	ck_assert_uint_eq(length, lengths[_i]);
	ck_assert_mem_eq(text, octets, length);
}
END_TEST

/* The size of a sparse file of terabytes is refused before memory is allocated. */
START_TEST(test_sparse)
{
	g_autoptr(GError) error = NULL;

	put(file, "", 0);
	ck_assert_int_eq(truncate(file, (off_t)1 << 42), 0);
	ck_assert_ptr_null(file_read(file, FILE_MAX_DUMP, NULL, &error));
	check_error(error, "has 4398046511104 octets");
}
END_TEST

/* Files of /proc have no size; the bound applies to what they return. */
START_TEST(test_grows)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = file_read("/proc/self/status", LIMIT, NULL, NULL);

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(file_read("/proc/self/status", 10, NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/proc/self/status: has 11 octets or more"));
}
END_TEST

START_TEST(test_stdin)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	gsize length;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	ck_assert(file_put(fds[1], "ab\0d", 4));
	close(fds[1]);
	text = file_read_stdin(LIMIT, &length, NULL);
	ck_assert_uint_eq(length, 4);
	ck_assert_mem_eq(text, "ab\0d", 5);
	ck_assert_int_ge(dup2(open("/dev/zero", O_RDONLY), STDIN_FILENO), 0);
	ck_assert_ptr_null(file_read_stdin(LIMIT, NULL, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "standard input: has 10001 octets or more"));
}
END_TEST

/* ---- writing ---- */

/* A process that has the old file open does not see the new one. */
START_TEST(test_write)
{
	g_autofree char *text = NULL;
	char old[10] = "";
	int fd;

	umask(022);
	put(file, "old\n", -1);
	ck_assert_int_eq(chmod(file, 0666), 0);
	fd = open(file, O_RDONLY);
	ck_assert(file_write(file, "new\n", 0600, NULL));
	ck_assert_uint_eq(mode_of(file), 0600);
	ck_assert_int_eq(read(fd, old, sizeof(old)), 4);
	ck_assert_str_eq(old, "old\n");
	close(fd);
	text = file_read(file, LIMIT, NULL, NULL);
	ck_assert_str_eq(text, "new\n");
	ck_assert(file_write(other, "", 0666, NULL));
	ck_assert_uint_eq(mode_of(other), 0644);
}
END_TEST

/* A second name of the file keeps its content. */
START_TEST(test_hard_link)
{
	g_autofree char *text = NULL;

	put(other, "mine\n", -1);
	ck_assert_int_eq(link(other, file), 0);
	ck_assert(file_write(file, "ours\n", 0600, NULL));
	text = file_read(other, LIMIT, NULL, NULL);
	ck_assert_str_eq(text, "mine\n");
}
END_TEST

START_TEST(test_no_directory)
{
	g_autofree char *nowhere = g_build_filename(directory, "none", "file", NULL);
	g_autoptr(GError) error = NULL;

	ck_assert(!file_write(nowhere, "", 0600, &error));
	ck_assert_ptr_nonnull(strstr(error->message, nowhere));
	ck_assert_ptr_nonnull(strstr(error->message, "No such file"));
}
END_TEST

/* The disk appears full: the old file stays, and no part of the new one is left. */
START_TEST(test_disk_full)
{
	const struct rlimit small = {.rlim_cur = 3, .rlim_max = RLIM_INFINITY};
	struct rlimit was;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	put(file, "old\n", -1);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert(!file_write(file, "new\n", 0600, &error));
	setrlimit(RLIMIT_FSIZE, &was);
	check_error(error, "File too large");
	text = file_read(file, LIMIT, NULL, NULL);
	ck_assert_str_eq(text, "old\n");
}
END_TEST

/* A symbolic link that appears before the new file has its name is replaced, not followed. */
START_TEST(test_link_that_comes_late)
{
	g_autofree char *temporary = NULL, *text = NULL;
	int fd = file_create(file, 0600, &temporary, NULL);

	ck_assert_int_ge(fd, 0);
	make_link();
	ck_assert(file_put(fd, "ours\n", 5));
	close(fd);
	ck_assert_int_eq(rename(temporary, file), 0);
	ck_assert(!g_file_test(file, G_FILE_TEST_IS_SYMLINK));
	text = file_read(other, LIMIT, NULL, NULL);
	ck_assert_str_eq(text, "mine\n");
}
END_TEST

/* No copy that a person makes has such a name. */
START_TEST(test_temporary_name)
{
	g_autofree char *temporary = NULL, *name = NULL;
	int fd = file_create(file, 0600, &temporary, NULL);

	ck_assert_int_ge(fd, 0);
	close(fd);
	g_unlink(temporary);
	name = g_path_get_basename(temporary);
	ck_assert_uint_eq(file_temporary(name), strlen("file"));
	ck_assert_uint_eq(file_temporary("file.backup"), 0);
	ck_assert_uint_eq(file_temporary("file.ABCDEF"), 0);
	ck_assert_uint_eq(file_temporary(FILE_TEMPORARY "ABCDEF"), 0);
	ck_assert_uint_eq(file_temporary("file" FILE_TEMPORARY "ABCDE"), 0);
	ck_assert_uint_eq(file_temporary(""), 0);
}
END_TEST

/* Other users lose their rights to a file of our own, and to no other file. */
START_TEST(test_own)
{
	g_autofree char *text = NULL, *again = NULL;

	put(file, "secret\n", -1);
	ck_assert_int_eq(g_chmod(file, 0666), 0);
	text = file_read(file, LIMIT, NULL, NULL);
	ck_assert_uint_eq(mode_of(file), 0666);
	again = file_read_own(file, LIMIT, NULL, NULL);
	ck_assert_str_eq(text, again);
	ck_assert_uint_eq(mode_of(file), 0600);
	ck_assert_ptr_null(file_read_own(directory, LIMIT, NULL, NULL));
	ck_assert_uint_eq(mode_of(directory), 0700);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("file");
	TCase *tcase = tcase_create("file");

	tcase_add_checked_fixture(tcase, make_directory, remove_directory);
	tcase_add_loop_test(tcase, test_read_things, 0, G_N_ELEMENTS(things));
	tcase_add_loop_test(tcase, test_write_things, 0, G_N_ELEMENTS(things));
	tcase_add_test(tcase, test_read);
	tcase_add_test(tcase, test_byte_order_mark);
	tcase_add_test(tcase, test_read_nothing);
	tcase_add_test(tcase, test_no_file);
	tcase_add_loop_test(tcase, test_lengths, 0, G_N_ELEMENTS(lengths));
	tcase_add_test(tcase, test_sparse);
	tcase_add_test(tcase, test_grows);
	tcase_add_test(tcase, test_stdin);
	tcase_add_test(tcase, test_write);
	tcase_add_test(tcase, test_hard_link);
	tcase_add_test(tcase, test_no_directory);
	tcase_add_test(tcase, test_disk_full);
	tcase_add_test(tcase, test_link_that_comes_late);
	tcase_add_test(tcase, test_temporary_name);
	tcase_add_test(tcase, test_own);
	suite_add_tcase(suite, tcase);
	return suite;
}

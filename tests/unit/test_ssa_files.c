// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What holds for stores in directories: crashes, full disks, and what others put there. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/ssa_bed.h"

#define CRASHES 25
#define OTHER_USER 65534

/* Path below the store's directory; free with g_free(). */
static char *path_in(const struct bed *bed, const char *name)
{
	return g_build_filename(bed->directory, "store", name, NULL);
}

static char *path_of_chunk(const struct bed *bed, unsigned int chunk)
{
	const char *name = bed_name(chunk);

	return g_strdup_printf("%s/store/chunks/%.2s/%s", bed->directory, name, name);
}

static void write_file(const char *path, const char *octets, gssize length)
{
	ck_assert(g_file_set_contents(path, octets, length, NULL));
}

static unsigned int count_temporary(const char *path)
{
	g_autofree char *command = g_strdup_printf("find %s -name '*.opensm-new-*' | wc -l", path);
	g_autofree char *output = NULL;
	const char *words[] = {"/bin/sh", "-c", command, NULL};

	ck_assert(
		g_spawn_sync(NULL, (char **)words, NULL, 0, NULL, NULL, &output, NULL, NULL, NULL));
	return (unsigned int)atoi(output);
}

/* ---- crashes ---- */

/* In a process of its own: publishes until it is killed, and tells each epoch that is out. */
static void publish_for_ever(const struct bed *bed, uint64_t epoch, int out)
{
	struct ssa_store *store = bed_store(bed, true, 1);

	for (;; epoch++) {
		GError *error = NULL;

		if (!bed_try_publish(store, 1, epoch, (unsigned int)(epoch * 3), 6, &error) ||
		    write(out, &epoch, sizeof(epoch)) != sizeof(epoch))
			_exit(1);
	}
}

/* The last epoch that the writer has told before it died. */
static uint64_t kill_writer(pid_t pid, int in)
{
	uint64_t epoch, last = 0;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(in, &epoch, sizeof(epoch)) == sizeof(epoch))
		last = epoch;
	return last;
}

/* Killed at any moment, a writer leaves the epoch that it told last, or the one after that. */
START_TEST(test_crashes)
{
	struct bed *bed = bed_open(BED_FILES, 1);
	g_autoptr(GRand) random = g_rand_new_with_seed(45);
	uint64_t told, last = 1;

	bed_publish(bed->writer, 1, 1, 3, 6);
	for (unsigned int i = 0; i < CRASHES; i++) {
		int ends[2];
		pid_t pid;

		ck_assert_int_eq(pipe(ends), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (!pid)
			publish_for_ever(bed, last + 1, ends[1]);
		close(ends[1]);
		g_usleep((gulong)g_rand_int_range(random, 0, 30000));
		told = kill_writer(pid, ends[0]);
		close(ends[0]);
		told = MAX(told, last);
		last = bed_read(bed->reader);
		ck_assert_msg(last == told || last == told + 1,
			      "%" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT, last, told);
	}
	ck_assert_uint_gt(last, CRASHES / 2);
	/* What those killed have left goes. */
	bed_later(2);
	for (unsigned int i = 1; i <= 4; i++)
		bed_publish(bed->writer, 1, last + i, 0, 6);
	ck_assert_uint_eq(bed_chunks(bed), 6);
	ck_assert_uint_eq(count_temporary(bed->directory), 0);
	ck_assert_uint_eq(bed_read(bed->reader), last + 4);
	bed_close(bed);
}
END_TEST

/* ---- what the system refuses ---- */

/* Runs it in a process of its own, which returns 0 if all is right. */
static int in_child(int (*run)(const struct bed *bed), const struct bed *bed)
{
	pid_t pid = fork();
	int status = 0;

	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(run(bed));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_refused(const GError *error, const char *text)
{
	bool is = g_error_matches(error, SSA_STORE_ERROR, SSA_STORE_ERROR_REFUSED) &&
		  strstr(error->message, text);

	if (!is)
		fprintf(stderr, "%s\n", error ? error->message : "no error");
	return is;
}

/* A file may not become larger than this: a chunk does not fit, then not even the manifest. */
static int no_room(const struct bed *bed)
{
	struct rlimit limit = {1000, 1000};
	g_autofree char *octets = g_malloc0(3000);
	g_autoptr(GBytes) large = g_bytes_new_static(octets, 3000);
	const char *name = bed_name(0);
	GError *error = NULL;
	bool has;

	signal(SIGXFSZ, SIG_IGN);
	if (!ssa_store_has(bed->writer, &name, 1, &has, NULL) || !has)
		return 1;
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 2;
	if (ssa_store_put(bed->writer, bed_name(500), large, &error) ||
	    !is_refused(error, "File too large"))
		return 3;
	g_clear_error(&error);
	if (ssa_store_publish(bed->writer, large, 1, 2, NULL, 0, &error) ||
	    !is_refused(error, "File too large"))
		return 4;
	return 0;
}

START_TEST(test_no_room)
{
	struct bed *bed = bed_open(BED_FILES, 0);

	bed_publish(bed->writer, 1, 1, 0, 5);
	ck_assert_int_eq(in_child(no_room, bed), 0);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	ck_assert_uint_eq(count_temporary(bed->directory), 0);
	bed_publish(bed->writer, 1, 2, 0, 5);
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	bed_close(bed);
}
END_TEST

/* However often it fails, chunks of the epoch that is out do not become old by that. */
static int fail_often(const struct bed *bed)
{
	struct rlimit limit = {1500, 1500};
	g_autofree char *octets = g_malloc0(3000);
	g_autoptr(GBytes) large = g_bytes_new_static(octets, 3000);
	g_autofree char *name = g_strdup(bed_name(9));

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 1;
	for (unsigned int i = 0; i < 5; i++)
		if (ssa_store_publish(bed->writer, large, 1, 2, (const char *const *)&name, 1,
				      NULL))
			return 2;
	return 0;
}

START_TEST(test_failing)
{
	struct bed *bed = bed_open(BED_FILES, 1);

	bed_publish(bed->writer, 1, 1, 0, 10);
	ck_assert_int_eq(in_child(fail_often, bed), 0);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	bed_later(2);
	bed_publish(bed->writer, 1, 2, 9, 1);
	bed_publish(bed->writer, 1, 3, 9, 1);
	ck_assert_uint_eq(bed_chunks(bed), 10); /* those of three manifests */
	bed_publish(bed->writer, 1, 4, 9, 1);
	ck_assert_uint_eq(bed_chunks(bed), 1);
	bed_close(bed);
}
END_TEST

/* A disk of 64 KiB: epochs are published until it is full, and the last one stays whole. */
static int fill_disk(const struct bed *bed)
{
	g_autofree char *path = path_in(bed, "");
	GError *error = NULL;
	uint64_t epoch = 0;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    g_mkdir_with_parents(path, 0755) < 0 ||
	    mount("none", path, "tmpfs", 0, "size=65536") < 0)
		return 77;
	do
		epoch++;
	while (bed_try_publish(bed->writer, 1, epoch, (unsigned int)epoch * 4, 4, &error));
	if (!is_refused(error, "No space left on device"))
		return 1;
	return epoch > 1 && bed_read(bed->reader) == epoch - 1 && !count_temporary(path) ? 0 : 2;
}

START_TEST(test_full_disk)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	int result = in_child(fill_disk, bed);

	if (result == 77)
		fprintf(stderr, "skipped: a full disk: a file system cannot be mounted here\n");
	else
		ck_assert_int_eq(result, 0);
	bed_close(bed);
}
END_TEST

static int as_other_user(const struct bed *bed)
{
	struct ssa_store *other = bed_store(bed, true, 0);
	g_autofree char *lock = path_in(bed, "lock");
	GError *error = NULL;

	if (!geteuid() && (setgid(OTHER_USER) < 0 || setuid(OTHER_USER) < 0))
		return 1;
	if (bed_try_publish(other, 1, 2, 0, 0, &error) || !is_refused(error, "Permission denied"))
		return 2;
	g_clear_error(&error);
	if (bed_try_publish(other, 1, 2, 700, 1, &error) || !is_refused(error, "Permission denied"))
		return 3;
	g_clear_error(&error);
	if (open(lock, O_RDONLY) >= 0 || errno != EACCES)
		return 4;
	return bed_read(bed->reader) == 1 ? 0 : 5;
}

/* Others may read what is published, and change nothing. */
START_TEST(test_others)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	g_autofree char *chunks = path_in(bed, "chunks"), *manifest = path_in(bed, "manifest");
	struct stat st;

	umask(022);
	ck_assert_int_eq(chmod(bed->directory, 0755), 0);
	bed_publish(bed->writer, 1, 1, 0, 5);
	ck_assert_int_eq(stat(manifest, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	ck_assert_int_eq(stat(chunks, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	if (!geteuid())
		ck_assert_int_eq(in_child(as_other_user, bed), 0);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	bed_close(bed);
}
END_TEST

/* A writer that hangs while it publishes: the others say so in time. */
START_TEST(test_locked)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	g_autofree char *lock = path_in(bed, "lock");
	const struct ssa_store_options options = {.timeout_ms = 100, .writes = true};
	struct ssa_store *other = ssa_store_open(bed->uri, 1, &options, NULL);
	GError *error = NULL;
	int fd;

	bed_publish(other, 1, 1, 0, 5);
	fd = open(lock, O_RDWR);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert(!bed_try_publish(other, 1, 2, 0, 5, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "lock: Resource temporarily unavailable");
	close(fd);
	bed_publish(other, 1, 2, 0, 5);
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	ssa_store_close(other);
	bed_close(bed);
}
END_TEST

/* ---- what others put there ---- */

/* Links inside of the directory lead nowhere, for readers and for writers. */
START_TEST(test_links)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	g_autofree char *victim = g_build_filename(bed->directory, "victim", NULL);
	g_autofree char *manifest = path_in(bed, "manifest"), *chunk = path_of_chunk(bed, 1);
	g_autofree char *chunks = path_in(bed, "chunks"), *aside = path_in(bed, "aside");
	g_autofree char *text = NULL, *absent = g_strdup(bed_name(1));
	GError *error = NULL;
	bool has;

	write_file(victim, "precious", -1);
	bed_publish(bed->writer, 1, 1, 0, 5);
	unlink(manifest);
	unlink(chunk);
	ck_assert_int_eq(symlink(victim, manifest), 0);
	ck_assert_int_eq(symlink(victim, chunk), 0);
	ck_assert_ptr_null(ssa_store_manifest(bed->reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "manifest: is a symbolic link");
	ck_assert_ptr_null(ssa_store_get(bed->reader, absent, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "is a symbolic link");
	ck_assert(ssa_store_has(bed->reader, (const char *const *)&absent, 1, &has, &error));
	ck_assert(!has);
	bed_publish(bed->writer, 1, 2, 0, 5); /* in place of the links */
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	ck_assert(g_file_get_contents(victim, &text, NULL, NULL));
	ck_assert_str_eq(text, "precious");
	/* A directory somewhere else. */
	ck_assert_int_eq(rename(chunks, aside), 0);
	ck_assert_int_eq(symlink("aside", chunks), 0);
	ssa_store_close(bed->writer);
	bed->writer = bed_store(bed, true, 0);
	ck_assert(!bed_try_publish(bed->writer, 1, 3, 0, 5, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "chunks");
	bed_close(bed);
}
END_TEST

START_TEST(test_wrong_files)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	g_autofree char *manifest = path_in(bed, "manifest"), *chunk = path_of_chunk(bed, 1);
	g_autofree char *absent = g_strdup(bed_name(1)), *octets = g_malloc0(SSA_CHUNK_MAX + 1);
	g_autofree char *kept = path_in(bed, "kept"), *epoch = path_in(bed, "epoch");
	int64_t start_us;
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 5);
	unlink(manifest);
	ck_assert_int_eq(mkfifo(manifest, 0644), 0); /* does not block */
	ck_assert_ptr_null(ssa_store_manifest(bed->reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "manifest: is not a regular file");
	write_file(manifest, octets, SSA_MANIFEST_MAX + 1);
	ck_assert_ptr_null(ssa_store_manifest(bed->reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "manifest: is too large");
	start_us = g_get_monotonic_time();
	ck_assert(ssa_store_wait(bed->reader, 300, &error)); /* until there is another one */
	ck_assert_int_ge(g_get_monotonic_time() - start_us, 290000);
	write_file(chunk, octets, SSA_CHUNK_MAX + 1);
	ck_assert_ptr_null(ssa_store_get(bed->reader, absent, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "is too large");
	ck_assert_int_eq(truncate(manifest, (off_t)1 << 40), 0); /* takes no memory */
	ck_assert_ptr_null(ssa_store_manifest(bed->reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "manifest: is too large");
	/* Files of the writer that make no sense are replaced. */
	write_file(kept, "\xFF\xFE junk\n\n 1 2 3", -1);
	write_file(epoch, "-1 99999999999999999999999999999999", -1);
	bed_publish(bed->writer, 1, 2, 0, 5);
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	bed_close(bed);
}
END_TEST

/* What is in the directory besides is not touched. */
START_TEST(test_foreign_files)
{
	struct bed *bed = bed_open(BED_FILES, 1);
	g_autofree char *foreign = path_in(bed, "README"), *chunk = path_of_chunk(bed, 1);
	g_autofree char *near = g_strconcat(chunk, ".bak", NULL);

	bed_publish(bed->writer, 1, 1, 0, 5);
	write_file(foreign, "mine", -1);
	write_file(near, "mine", -1);
	bed_later(2);
	for (uint64_t epoch = 2; epoch < 8; epoch++)
		bed_publish(bed->writer, 1, epoch, 20, 3);
	ck_assert(g_file_test(foreign, G_FILE_TEST_EXISTS));
	ck_assert(g_file_test(near, G_FILE_TEST_EXISTS));
	ck_assert(!g_file_test(chunk, G_FILE_TEST_EXISTS));
	bed_close(bed);
}
END_TEST

/* ---- a directory that goes and comes ---- */

START_TEST(test_replaced)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	g_autofree char *store = path_in(bed, ""),
			*aside = g_build_filename(bed->directory, "aside", NULL);
	GError *error = NULL;

	bed_publish(bed->writer, 1, 1, 0, 5);
	ck_assert_uint_eq(bed_read(bed->reader), 1);
	ck_assert_int_eq(rename(store, aside), 0);
	ck_assert(!ssa_store_wait(bed->reader, 10000, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "No such file");
	ck_assert_ptr_null(ssa_store_manifest(bed->reader, &error));
	bed_expect(&error, SSA_STORE_ERROR_GONE, "No such file");
	bed_publish(bed->writer, 1, 2, 3, 5); /* makes the directory */
	ck_assert(ssa_store_wait(bed->reader, 10000, &error));
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	bed_close(bed);
}
END_TEST

static void *publish_later(void *arg)
{
	g_usleep(50000);
	bed_publish(arg, 1, 2, 0, 5);
	return NULL;
}

/* A writer that waits has no inotify, as with any user that has too many of them. */
START_TEST(test_wait_by_looking)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	struct ssa_store *other = bed_store(bed, true, 0);
	int64_t start_us = g_get_monotonic_time();
	GError *error = NULL;
	pthread_t thread;

	bed_publish(other, 1, 1, 0, 5);
	ck_assert_uint_eq(bed_epoch(other), 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, publish_later, bed->writer), 0);
	ck_assert(ssa_store_wait(other, 10000, &error));
	pthread_join(thread, NULL);
	ck_assert_uint_eq(bed_read(other), 2);
	ck_assert_int_lt(g_get_monotonic_time() - start_us, 5000000);
	ssa_store_close(other);
	bed_close(bed);
}
END_TEST

/* Emptied between two calls of a writer. */
START_TEST(test_emptied)
{
	struct bed *bed = bed_open(BED_FILES, 0);
	g_autofree char *command = NULL, *name = g_strdup(bed_name(3));
	g_autoptr(GBytes) frame = bed_frame(3);
	GError *error = NULL;
	int status;

	bed_publish(bed->writer, 1, 1, 0, 5);
	ck_assert(ssa_store_put(bed->writer, name, frame, &error));
	command = g_strdup_printf("rm -rf %s/store", bed->directory);
	ck_assert(g_spawn_command_line_sync(command, NULL, NULL, &status, NULL) && !status);
	ck_assert(!ssa_store_publish(bed->writer, frame, 1, 2, (const char *const *)&name, 1,
				     &error));
	bed_expect(&error, SSA_STORE_ERROR_ABSENT, name);
	bed_publish(bed->writer, 1, 2, 0, 5);
	ck_assert_uint_eq(bed_read(bed->reader), 2);
	bed_close(bed);
}
END_TEST

/* A process of root's that has no capability is bound to modes. */
static int without_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	return (int)syscall(SYS_capset, &header, none);
}

static int publish_all(const struct bed *bed, uint64_t first)
{
	struct ssa_store *writer = bed_store(bed, true, 1);
	GError *error = NULL;

	for (uint64_t epoch = first; epoch < first + 5 && !error; epoch++)
		if (!bed_try_publish(writer, 1, epoch, (unsigned int)epoch * 50, 50, &error))
			fprintf(stderr, "%s\n", error->message);
	ssa_store_close(writer);
	return error ? 1 : 0;
}

static int daemon_publishes(const struct bed *bed)
{
	umask(022);
	return without_capabilities() ? 2 : publish_all(bed, 1);
}

static int daemon_goes_on(const struct bed *bed)
{
	umask(022);
	bed_later(2);
	return without_capabilities() ? 2 : publish_all(bed, 11);
}

static int core_publishes(const struct bed *bed)
{
	umask(022);
	bed_later(2);
	return setgid(OTHER_USER) || setuid(OTHER_USER) ? 2 : publish_all(bed, 6);
}

/* What the package does for the directory; false: this cannot be tested here. */
static bool give_to_both(const struct bed *bed)
{
	g_autofree char *path = g_build_filename(bed->directory, "store", NULL), *command = NULL;
	g_autofree char *sample = NULL, *file = g_build_filename(bed->directory, "conf", NULL);
	g_autoptr(GString) text = NULL;
	int status = -1;

	ck_assert(
		g_file_get_contents(SAMPLES_DIR "/../opensm-ssa.tmpfiles.in", &sample, NULL, NULL));
	text = g_string_new(sample);
	g_string_replace(text, "@cachedir@/ssa", path, 0);
	g_string_replace(text, "u:opensm-ssa:", "u:nobody:", 0);
	ck_assert(g_file_set_contents(file, text->str, -1, NULL));
	command = g_strdup_printf("systemd-tmpfiles --create %s", file);
	return g_spawn_command_line_sync(command, NULL, NULL, &status, NULL) && !status;
}

/* The daemon, and a core that brings epochs of other masters; _i: the daemon has begun before. */
START_TEST(test_two_users)
{
	struct bed *bed = bed_open(BED_FILES, 0);

	ck_assert_int_eq(chmod(bed->directory, 0755), 0);
	if (_i)
		ck_assert_int_eq(in_child(daemon_publishes, bed), 0);
	if (geteuid() || !give_to_both(bed)) {
		fprintf(stderr, "skipped: two users: takes root and systemd-tmpfiles\n");
	} else {
		if (!_i)
			ck_assert_int_eq(in_child(daemon_publishes, bed), 0);
		ck_assert_int_eq(in_child(core_publishes, bed), 0);
		ck_assert_uint_eq(bed_read(bed->reader), 10);
		ck_assert_int_eq(in_child(daemon_goes_on, bed), 0);
		ck_assert_uint_eq(bed_read(bed->reader), 15);
	}
	bed_close(bed);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_files");
	TCase *tcase = tcase_create("files");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_crashes);
	tcase_add_test(tcase, test_no_room);
	tcase_add_test(tcase, test_failing);
	tcase_add_test(tcase, test_full_disk);
	tcase_add_test(tcase, test_others);
	tcase_add_loop_test(tcase, test_two_users, 0, 2);
	tcase_add_test(tcase, test_locked);
	tcase_add_test(tcase, test_links);
	tcase_add_test(tcase, test_wrong_files);
	tcase_add_test(tcase, test_foreign_files);
	tcase_add_test(tcase, test_replaced);
	tcase_add_test(tcase, test_wait_by_looking);
	tcase_add_test(tcase, test_emptied);
	suite_add_tcase(suite, tcase);
	return suite;
}

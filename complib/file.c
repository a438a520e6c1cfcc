// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files by name: see file.h. A name is opened once, and the checks apply to the open descriptor, so
 * that nothing can be put in its place in between. Files are written under a new name opened with
 * O_EXCL: a link that appears after the target name was checked is replaced by the rename, and
 * never followed.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <complib/file.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define FIRST_OCTETS 4096 /* read at first if the size is unknown */

static void set_errno(GError **error, const char *file, int err)
{
	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s", file,
		    g_strerror(err));
}

static void set_type(GError **error, const char *file, mode_t mode)
{
	const char *is = S_ISDIR(mode)	  ? "a directory"
			 : S_ISLNK(mode)  ? "a symbolic link"
			 : S_ISFIFO(mode) ? "a FIFO"
			 : S_ISSOCK(mode) ? "a socket"
					  : "a device";

	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: is %s, expected a regular file",
		    file, is);
}

static void set_size(GError **error, const char *file, uint64_t size, uint64_t max)
{
	g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
		    "%s: has %" G_GUINT64_FORMAT
		    " octets or more, expected at most %" G_GUINT64_FORMAT,
		    file, size, max);
}

/* ---- reading ---- */

/* Makes room for room octets plus a NUL; false and errno if there is no memory. */
static bool grow(char **text, size_t room)
{
	char *larger = g_try_realloc(*text, room + 1);

	if (larger)
		*text = larger;
	else
		errno = ENOMEM;
	return larger != NULL;
}

static ssize_t read_some(int fd, char *into, size_t room)
{
	ssize_t n;

	do
		n = read(fd, into, room);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * Reads to the end; size octets are expected. Reading one octet more than max shows that the file
 * is too long.
 */
static char *read_all(int fd, const char *file, uint64_t size, uint64_t max, gsize *length,
		      GError **error)
{
	size_t used = 0, room = MIN(MAX(size, FIRST_OCTETS), max) + 1;
	g_autofree char *text = NULL;
	ssize_t n;

	do {
		n = grow(&text, room) ? read_some(fd, text + used, room - used) : -1;
		if (n < 0) {
			set_errno(error, file, errno);
			return NULL;
		}
		used += (size_t)n;
		if (used > max) {
			set_size(error, file, used, max);
			return NULL;
		}
		if (used == room)
			room = MIN((uint64_t)room * 2, max + 1);
	} while (n > 0);
	text[used] = '\0';
	if (length)
		*length = used;
	return g_steal_pointer(&text);
}

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static char *read_opened(int fd, const char *file, uint64_t max, gsize *length, GError **error)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		set_errno(error, file, errno);
	else if (!S_ISREG(st.st_mode) && !is_null_device(&st))
		set_type(error, file, st.st_mode);
	else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		set_size(error, file, (uint64_t)st.st_size, max);
	else
		return read_all(fd, file, (uint64_t)st.st_size, max, length, error);
	return NULL;
}

char *file_next_line(const char **at, const char *end, bool *has_nul)
{
	const char *line = *at, *stop = memchr(line, '\n', end - line);
	size_t length = (stop ? stop : end) - line;

	*at = stop ? stop + 1 : end;
	*has_nul = memchr(line, '\0', length) != NULL;
	return g_strndup(line, length);
}

/* Some editors put a byte order mark at the start of UTF-8 text. The final NUL moves, too. */
static void drop_byte_order_mark(char *text, gsize *length)
{
	const size_t mark = strlen(BYTE_ORDER_MARK);

	if (*length < mark || memcmp(text, BYTE_ORDER_MARK, mark) != 0)
		return;
	*length -= mark;
	memmove(text, text + mark, *length + 1);
}

/* On failure the mode stays: a user who may not change it does not own the file. */
static void tighten(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_mode & (S_IRWXG | S_IRWXO) && fchmod(fd, S_IRUSR | S_IWUSR) < 0)
		return;
}

static char *read_named(const char *file, bool own, uint64_t max, gsize *length, GError **error)
{
	/* O_NONBLOCK: opening a FIFO without a writer must not block. */
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	gsize used = 0;
	char *text;

	if (fd < 0) {
		set_errno(error, file, errno);
		return NULL;
	}
	if (own)
		tighten(fd);
	text = read_opened(fd, file, max, &used, error);
	close(fd);
	if (text)
		drop_byte_order_mark(text, &used);
	if (text && length)
		*length = used;
	return text;
}

char *file_read(const char *file, uint64_t max, gsize *length, GError **error)
{
	return read_named(file, false, max, length, error);
}

char *file_read_own(const char *file, uint64_t max, gsize *length, GError **error)
{
	return read_named(file, true, max, length, error);
}

char *file_read_stdin(uint64_t max, gsize *length, GError **error)
{
	return read_all(STDIN_FILENO, "standard input", 0, max, length, error);
}

static bool check_secret(int fd, const char *file, GError **error)
{
	const char *wrong = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		wrong = "is not a regular file";
	else if (st.st_uid != geteuid() && st.st_uid != 0)
		wrong = "belongs to another user";
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		wrong = "is accessible to other users than its owner: expected mode 0600";
	if (wrong)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "%s %s", file, wrong);
	return !wrong;
}

int file_open_secret(const char *file, GError **error)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		set_errno(error, file, errno);
	} else if (!check_secret(fd, file, error)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- writing ---- */

#define UNIQUE "XXXXXX" /* of mkstemp() */

size_t file_temporary(const char *name)
{
	size_t length = strlen(name), end = strlen(FILE_TEMPORARY UNIQUE);

	if (length <= end ||
	    strncmp(name + length - end, FILE_TEMPORARY, strlen(FILE_TEMPORARY)) != 0)
		return 0;
	return length - end;
}

int file_create(const char *file, mode_t mode, char **temporary, GError **error)
{
	g_autofree char *name = g_strconcat(file, FILE_TEMPORARY UNIQUE, NULL);
	struct stat st;
	int fd;

	if (lstat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
		set_type(error, file, st.st_mode);
		return -1;
	}
	fd = g_mkstemp_full(name, O_WRONLY | O_CLOEXEC, (int)mode);
	if (fd < 0)
		set_errno(error, file, errno);
	else
		*temporary = g_steal_pointer(&name);
	return fd;
}

bool file_put(int fd, const void *octets, size_t length)
{
	const char *at = octets;

	while (length) {
		ssize_t n = write(fd, at, length);

		if (n < 0 && errno != EINTR)
			return false;
		if (n <= 0)
			continue;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

static void check_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	fprintf(stderr, "%s: cannot write to the standard output: %s\n",
		program_invocation_short_name, g_strerror(errno));
	_exit(EXIT_FAILURE);
}

/* Each descriptor is opened for the wrong direction: its use fails as that of a closed one. */
void file_guard_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			break;
	atexit(check_stdout);
}

void file_ignore_closed_output(void)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fcntl(fd, F_GETFL), null = -1;

		if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
			null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0) {
			dup2(null, fd);
			close(null);
		}
	}
}

bool file_replace_octets(const char *file, const void *octets, size_t length, mode_t mode,
			 bool fsync_it, GError **error)
{
	bool replaces = g_file_test(file, G_FILE_TEST_EXISTS);
	g_autofree char *temporary = NULL;
	int fd = file_create(file, mode, &temporary, error), err = 0;

	if (fd < 0)
		return false;
	if (!file_put(fd, octets, length) || ((fsync_it || replaces) && fsync(fd) < 0))
		err = errno;
	if (close(fd) < 0 && !err)
		err = errno;
	if (!err && rename(temporary, file) < 0)
		err = errno;
	if (!err)
		return true;
	set_errno(error, file, err);
	unlink(temporary);
	return false;
}

bool file_replace(const char *file, const char *text, mode_t mode, bool fsync_it, GError **error)
{
	return file_replace_octets(file, text, strlen(text), mode, fsync_it, error);
}

bool file_write(const char *file, const char *text, mode_t mode, GError **error)
{
	return file_replace(file, text, mode, true, error);
}

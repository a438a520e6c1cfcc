// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A store in a directory:
 *
 *    DIR/chunks/xx/NAME    a chunk; xx are the first two digits of its name
 *    DIR/lock              locked while a writer publishes; others cannot open it
 *    DIR/kept              for the writer: "TERM EPOCH" for which it was written, and which chunks
 *                          are not used any more (kept.h)
 *    DIR/manifest          written after all that
 *    DIR/epoch             for the writer: "TERM EPOCH" of the manifest
 *    DIR/alive             the pulse
 *
 * Everything is written under a temporary name, to the disk, and then renamed; before the manifest
 * the directories of the chunks are on the disk as well. So a crash at any moment leaves the old
 * manifest with all its chunks, or the new one with all of its own.
 *
 * DIR itself may be a symbolic link; nothing below it is followed, since each step is opened
 * relative to the one above it.
 */
#include "ssa/store/store_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complib/file.h"
#include "ssa/store/kept.h"
#include "ssa/wire/alive.h"

#define DIRECTORY_MODE 0755
#define FILE_MODE 0644
/* Less the umask; or what the default ACL of DIR gives to another writer. */
#define BELOW_MODE 0775
#define LOCK_MODE 0660
#define CHUNKS "chunks"
#define SUBDIRECTORIES 256
#define WATCHED (IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define LOOK_MS 1000u	   /* a file system of another host tells inotify nothing */
#define LOOK_OFTEN_MS 200u /* without inotify: the user has too many of them */
#define LOCK_TRY_US 10000u

struct files_store {
	struct ssa_store store;		/* first */
	char *path;			/* DIR */
	int fd;				/* of DIR; -1: not opened yet, or it is gone */
	int chunks_fd;			/* of DIR/chunks; -1: not opened yet */
	int inotify_fd;			/* -1: there is none */
	bool new_names[SUBDIRECTORIES]; /* subdirectories that are not on the disk yet */
	struct stat read_last; /* the manifest that was read last, or that was wrong; 0: none */
};

/* ---- errors ---- */

static enum ssa_store_error code_of(int err)
{
	return err == ENOENT || err == ENOTDIR || err == ESTALE || err == EIO
		       ? SSA_STORE_ERROR_GONE
		       : SSA_STORE_ERROR_REFUSED;
}

/* False, and an error about a file below DIR. */
static bool failed(const struct files_store *files, const char *what, int err, GError **error)
{
	ssa_store_error(&files->store, error, code_of(err), "%s: %s", what, g_strerror(err));
	return false;
}

/* ---- directories ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_directories(struct files_store *files)
{
	close_fd(&files->inotify_fd);
	close_fd(&files->chunks_fd);
	close_fd(&files->fd);
	memset(files->new_names, 0, sizeof(files->new_names));
}

/* Opens a directory below another one, which is made if that is wanted; -1 and errno. */
static int open_below(int at, const char *name, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == ENOENT && make &&
	    (mkdirat(at, name, BELOW_MODE) == 0 || errno == EEXIST))
		fd = openat(at, name, flags);
	return fd;
}

/* Whether the directory that is open still is the one of that name. */
static bool still_there(const struct files_store *files)
{
	struct stat opened, named;

	return fstat(files->fd, &opened) == 0 && stat(files->path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* So that no event between the first reading and the first wait is missed. */
static void watch(struct files_store *files)
{
	files->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (files->inotify_fd >= 0 &&
	    inotify_add_watch(files->inotify_fd, files->path, WATCHED) < 0)
		close_fd(&files->inotify_fd);
}

/* Opens DIR, if it is not open or another one has come in its place; a writer makes it. */
static bool enter(struct files_store *files, GError **error)
{
	if (files->fd >= 0 && still_there(files))
		return true;
	close_directories(files);
	if (files->store.writes && g_mkdir_with_parents(files->path, DIRECTORY_MODE) < 0)
		return failed(files, "cannot make the directory", errno, error);
	if (!files->store.writes)
		watch(files);
	files->fd = open(files->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->fd < 0)
		return failed(files, "cannot open the directory", errno, error);
	return true;
}

/* Opens DIR/chunks. A reader finds none before the first epoch: true, and chunks_fd is -1. */
static bool enter_chunks(struct files_store *files, GError **error)
{
	if (!enter(files, error))
		return false;
	if (files->chunks_fd < 0)
		files->chunks_fd = open_below(files->fd, CHUNKS, files->store.writes);
	return files->chunks_fd >= 0 || (errno == ENOENT && !files->store.writes) ||
	       failed(files, CHUNKS, errno, error);
}

static unsigned int subdirectory_of(const char *name)
{
	return (unsigned int)(g_ascii_xdigit_value(name[0]) << 4 | g_ascii_xdigit_value(name[1]));
}

/* DIR/chunks/xx; -1 and errno. */
static int open_subdirectory(const struct files_store *files, unsigned int number, bool make)
{
	char name[3];

	if (files->chunks_fd < 0) {
		errno = ENOENT;
		return -1;
	}
	snprintf(name, sizeof(name), "%02x", number & 0xFF);
	return open_below(files->chunks_fd, name, make);
}

/* ---- writing ---- */

/* Opens a new file with a temporary name, which is returned; -1 and errno. */
static int open_temporary(int at, const char *name, char **temporary)
{
	int fd, tries = 100;

	do {
		*temporary = g_strdup_printf("%s" FILE_TEMPORARY "%06x", name,
					     g_random_int() & 0xFFFFFF);
		fd = openat(at, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    FILE_MODE);
		if (fd < 0)
			g_clear_pointer(temporary, g_free);
	} while (fd < 0 && errno == EEXIST && --tries);
	return fd;
}

/* Writes a file below that directory, to the disk before it gets its name. 0, or an errno. */
static int replace_at(int at, const char *name, const void *octets, size_t length)
{
	g_autofree char *temporary = NULL;
	int fd = open_temporary(at, name, &temporary), err = 0;

	if (fd < 0)
		return errno;
	if (!file_put(fd, octets, length) || fsync(fd) < 0)
		err = errno;
	if (close(fd) < 0 && !err)
		err = errno;
	if (!err && renameat(at, temporary, at, name) < 0)
		err = errno;
	if (err)
		unlinkat(at, temporary, 0);
	return err;
}

static bool files_put(struct ssa_store *store, const char *name, GBytes *frame, GError **error)
{
	struct files_store *files = (struct files_store *)store;
	unsigned int number = subdirectory_of(name);
	gsize length = 0;
	const void *octets = g_bytes_get_data(frame, &length);
	int fd, err;

	if (!enter_chunks(files, error))
		return false;
	fd = open_subdirectory(files, number, true);
	if (fd < 0)
		return failed(files, name, errno, error);
	err = replace_at(fd, name, octets, length);
	close(fd);
	if (err)
		return failed(files, name, err, error);
	files->new_names[number] = true;
	return true;
}

/* ---- reading ---- */

/* 0, or an errno. *used is less than size if the file has become shorter. */
static int read_octets(int fd, char *octets, size_t size, size_t *used)
{
	ssize_t n;

	*used = 0;
	do {
		n = read(fd, octets + *used, size - *used);
		if (n > 0)
			*used += (size_t)n;
	} while (*used < size && (n > 0 || (n < 0 && errno == EINTR)));
	return n < 0 ? errno : 0;
}

/* A regular file with at most max octets; NULL and errno. */
static GBytes *read_opened(int fd, size_t max, struct stat *st)
{
	g_autofree char *octets = NULL;
	size_t used = 0;
	int err;

	if (fstat(fd, st) < 0)
		err = errno;
	else if (!S_ISREG(st->st_mode))
		err = EINVAL;
	else if (st->st_size < 0 || (uint64_t)st->st_size > max)
		err = EFBIG;
	else if (!(octets = g_try_malloc((size_t)st->st_size + 1)))
		err = ENOMEM;
	else
		err = read_octets(fd, octets, (size_t)st->st_size, &used);
	errno = err;
	return err ? NULL : g_bytes_new_take(g_steal_pointer(&octets), used);
}

static GBytes *read_at(int at, const char *name, size_t max, struct stat *st)
{
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
	GBytes *bytes;

	if (fd < 0)
		return NULL;
	bytes = read_opened(fd, max, st);
	err = errno;
	close(fd);
	errno = err;
	return bytes;
}

/* An error of read_at(). Most of these say that DIR is not a store, not that it refuses. */
static bool unreadable(const struct files_store *files, const char *name, int err, GError **error)
{
	if (err == EACCES || err == EPERM || err == EMFILE || err == ENFILE)
		return failed(files, name, err, error);
	ssa_store_error(&files->store, error, SSA_STORE_ERROR_GONE, "%s: %s", name,
			err == EFBIG	? "is too large"
			: err == EINVAL ? "is not a regular file"
			: err == ELOOP	? "is a symbolic link"
					: g_strerror(err));
	return false;
}

static bool files_get_many(struct ssa_store *store, const char *const *names, unsigned int n,
			   GBytes **frames, GError **error)
{
	struct files_store *files = (struct files_store *)store;
	struct stat st;

	if (!enter_chunks(files, error))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		int fd = open_subdirectory(files, subdirectory_of(names[i]), false), err = errno;

		if (fd >= 0) {
			frames[i] = read_at(fd, names[i], SSA_CHUNK_MAX, &st);
			err = errno;
			close(fd);
		}
		if (!frames[i] && err != ENOENT)
			return unreadable(files, names[i], err, error);
	}
	return true;
}

/* A file without octets is what a crash of another file system left. */
static bool files_has(struct ssa_store *store, const char *const *names, unsigned int n, bool *has,
		      GError **error)
{
	struct files_store *files = (struct files_store *)store;
	struct stat st;

	if (!enter_chunks(files, error))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		int fd = open_subdirectory(files, subdirectory_of(names[i]), false);

		has[i] = fd >= 0 && fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			 S_ISREG(st.st_mode) && st.st_size > 0;
		if (fd >= 0)
			close(fd);
		else if (errno != ENOENT)
			return failed(files, names[i], errno, error);
	}
	return true;
}

/* Discards what inotify has said. False: DIR is gone. */
static bool drain(struct files_store *files, bool *manifest)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while (files->inotify_fd >= 0 && (n = read(files->inotify_fd, events, sizeof(events))) > 0)
		for (const char *at = events; at < events + n;) {
			const struct inotify_event *event = (const void *)at;

			if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED))
				return false;
			if (event->mask & IN_Q_OVERFLOW ||
			    (event->len && !strcmp(event->name, "manifest")))
				*manifest = true;
			at += sizeof(*event) + event->len;
		}
	return true;
}

static GBytes *files_manifest(struct ssa_store *store, GError **error)
{
	struct files_store *files = (struct files_store *)store;
	bool was_there;
	GBytes *manifest;
	struct stat st;

	if (!enter(files, error))
		return NULL;
	if (!drain(files, &was_there))
		close_fd(&files->inotify_fd);
	if (fstatat(files->fd, "manifest", &files->read_last, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&files->read_last, 0, sizeof(files->read_last));
	manifest = read_at(files->fd, "manifest", SSA_MANIFEST_MAX, &st);
	if (manifest)
		files->read_last = st;
	else if (errno == ENOENT)
		ssa_store_error(store, error, SSA_STORE_ERROR_ABSENT, "has no manifest yet");
	else
		unreadable(files, "manifest", errno, error);
	return manifest;
}

/* ---- publishing ---- */

/*
 * One writer at a time: two daemons may share a directory for a moment, as one takes over. The lock
 * is released by closing the descriptor; -1 and an error.
 */
static int lock(struct files_store *files, GError **error)
{
	int64_t end_us = g_get_monotonic_time() + files->store.timeout_ms * INT64_C(1000);
	int fd = openat(files->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			LOCK_MODE);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK && g_get_monotonic_time() < end_us) {
			g_usleep(LOCK_TRY_US);
		} else if (errno != EINTR) {
			failed(files, "lock", errno, error);
			close(fd);
			return -1;
		}
	}
	if (fd < 0)
		failed(files, "lock", errno, error);
	return fd;
}

static bool all_there(struct files_store *files, const struct ssa_publication *publication,
		      GError **error)
{
	g_autofree bool *has = g_new(bool, publication->n + 1);

	if (!files_has(&files->store, publication->names, publication->n, has, error))
		return false;
	for (unsigned int i = 0; i < publication->n; i++)
		if (!has[i]) {
			ssa_store_error(&files->store, error, SSA_STORE_ERROR_ABSENT,
					"has no chunk %s, which the manifest uses",
					publication->names[i]);
			return false;
		}
	return true;
}

/* The names of chunks are on the disk. */
static bool sync_names(struct files_store *files, GError **error)
{
	bool any = false;

	for (unsigned int i = 0; i < SUBDIRECTORIES; i++) {
		int fd = files->new_names[i] ? open_subdirectory(files, i, false) : -1;

		if (!files->new_names[i])
			continue;
		if (fd < 0 || fsync(fd) < 0) {
			failed(files, CHUNKS, errno, error);
			if (fd >= 0)
				close(fd);
			return false;
		}
		close(fd);
		any = true;
	}
	if (any && (fsync(files->chunks_fd) < 0 || fsync(files->fd) < 0))
		return failed(files, CHUNKS, errno, error);
	memset(files->new_names, 0, sizeof(files->new_names));
	return true;
}

/* One file of the writer's; absent, or nothing that can be read: NULL. */
static GBytes *read_own(const struct files_store *files, const char *name)
{
	struct stat st;

	return read_at(files->fd, name, SSA_CHUNK_MAX, &st);
}

static char *read_text(const struct files_store *files, const char *name)
{
	g_autoptr(GBytes) bytes = read_own(files, name);

	return bytes ? g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes)) : NULL;
}

static bool check_term(const struct files_store *files, const struct ssa_publication *publication,
		       GError **error)
{
	g_autofree char *text = read_text(files, "epoch");
	bool again;

	if (text)
		g_strchomp(text);
	return ssa_store_may_follow(&files->store, text, publication, &again, error);
}

static bool write_own(const struct files_store *files, const char *name, const void *octets,
		      size_t length, GError **error)
{
	int err = replace_at(files->fd, name, octets, length);

	return !err || failed(files, name, err, error);
}

/* An error after the manifest is one of an epoch that is published: it may be published again. */
static bool write_all(struct files_store *files, const struct ssa_publication *publication,
		      const char *term, const struct ssa_kept *kept, GError **error)
{
	g_autofree char *chunks = ssa_kept_text(kept), *text = g_strconcat(term, chunks, NULL);
	gsize length = 0;
	const void *octets = g_bytes_get_data(publication->manifest, &length);

	return write_own(files, "kept", text, strlen(text), error) &&
	       write_own(files, "manifest", octets, length, error) &&
	       (fsync(files->fd) == 0 || failed(files, "manifest", errno, error)) &&
	       write_own(files, "epoch", term, strlen(term), error);
}

/* ---- what is not used any more ---- */

/*
 * A file that the store does not know: what a writer that was killed had put, or begun to put. It
 * goes when no writer can be at it any more.
 */
static void remove_unknown(const struct files_store *files, int fd, const char *name)
{
	int64_t now_s = g_get_real_time() / G_USEC_PER_SEC;
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now_s - (int64_t)st.st_mtime >= (int64_t)files->store.keep_s)
		unlinkat(fd, name, 0);
}

/* Takes over the descriptor. Names that are neither of chunks nor temporary are not ours. */
static void clean_directory(const struct files_store *files, const struct ssa_kept *kept, int fd)
{
	DIR *directory = fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		close(fd);
		return;
	}
	while ((entry = readdir(directory)))
		if (file_temporary(entry->d_name) ||
		    (ssa_chunk_is_name(entry->d_name) && !ssa_kept_knows(kept, entry->d_name)))
			remove_unknown(files, fd, entry->d_name);
	closedir(directory);
}

/* What cannot be removed now will be the next time. */
static void clean(const struct files_store *files, const struct ssa_kept *kept,
		  const GPtrArray *old)
{
	int fd;

	for (unsigned int i = 0; i < old->len; i++) {
		const char *name = old->pdata[i];

		fd = open_subdirectory(files, subdirectory_of(name), false);
		if (fd < 0)
			continue;
		unlinkat(fd, name, 0);
		close(fd);
	}
	for (unsigned int i = 0; i < SUBDIRECTORIES; i++) {
		fd = open_subdirectory(files, i, false);
		if (fd >= 0)
			clean_directory(files, kept, fd);
	}
	fd = open_below(files->fd, ".", false);
	if (fd >= 0)
		clean_directory(files, kept, fd);
}

/* A publishing that failed has left "kept" for its epoch, perhaps: that counts once. */
static bool publish_locked(struct files_store *files, const struct ssa_publication *publication,
			   GError **error)
{
	int64_t now_s = g_get_real_time() / G_USEC_PER_SEC;
	char term[SSA_STORE_TERM_LENGTH + 2];
	g_autoptr(GPtrArray) old = NULL;
	g_autofree char *text = NULL;
	struct ssa_kept *kept;
	bool written;

	if (!check_term(files, publication, error) || !all_there(files, publication, error) ||
	    !sync_names(files, error))
		return false;
	ssa_store_write_term(term, publication->term, publication->epoch);
	strcat(term, "\n");
	text = read_text(files, "kept");
	kept = ssa_kept_parse(text, text ? strlen(text) : 0, now_s);
	ssa_kept_publish(kept, publication->names, publication->n,
			 text && g_str_has_prefix(text, term), now_s);
	old = ssa_kept_take_old(kept, files->store.keep_s, now_s);
	written = write_all(files, publication, term, kept, error);
	if (written)
		clean(files, kept, old);
	ssa_kept_free(kept);
	return written;
}

static bool files_publish(struct ssa_store *store, const struct ssa_publication *publication,
			  GError **error)
{
	struct files_store *files = (struct files_store *)store;
	bool published;
	int fd;

	if (!enter_chunks(files, error))
		return false;
	fd = lock(files, error);
	if (fd < 0)
		return false;
	published = publish_locked(files, publication, error);
	close(fd);
	return published;
}

/* ---- the pulse ---- */

static bool files_set_pulse(struct ssa_store *store, GBytes *text, GError **error)
{
	struct files_store *files = (struct files_store *)store;

	return enter(files, error) && write_own(files, "alive", g_bytes_get_data(text, NULL),
						g_bytes_get_size(text), error);
}

static GBytes *files_pulse(struct ssa_store *store, GError **error)
{
	struct files_store *files = (struct files_store *)store;
	GBytes *text;
	struct stat st;

	if (!enter(files, error))
		return NULL;
	text = read_at(files->fd, "alive", SSA_ALIVE_MAX, &st);
	if (!text && errno != ENOENT)
		unreadable(files, "alive", errno, error);
	return text;
}

/* ---- waiting ---- */

static bool has_changed(const struct files_store *files)
{
	const struct stat *last = &files->read_last;
	struct stat st = {0};

	if (fstatat(files->fd, "manifest", &st, AT_SYMLINK_NOFOLLOW) < 0)
		memset(&st, 0, sizeof(st));
	return st.st_ino != last->st_ino || st.st_dev != last->st_dev ||
	       st.st_size != last->st_size || st.st_mtim.tv_sec != last->st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != last->st_mtim.tv_nsec ||
	       st.st_ctim.tv_sec != last->st_ctim.tv_sec ||
	       st.st_ctim.tv_nsec != last->st_ctim.tv_nsec;
}

/* Waits for what inotify says, for a cancellation (true), or for that time. */
static bool sleep_ms(const struct files_store *files, int64_t ms)
{
	const unsigned int look_ms = files->inotify_fd >= 0 ? LOOK_MS : LOOK_OFTEN_MS;
	struct pollfd fds[] = {{files->store.cancel_fd, POLLIN, 0}, {files->inotify_fd, POLLIN, 0}};

	return poll(fds, G_N_ELEMENTS(fds), (int)MIN(ms, (int64_t)look_ms)) > 0 && fds[0].revents;
}

static bool files_wait(struct ssa_store *store, unsigned int timeout_ms, GError **error)
{
	struct files_store *files = (struct files_store *)store;
	int64_t end_us = g_get_monotonic_time() + timeout_ms * INT64_C(1000), rest_us;
	bool manifest = false;

	for (;;) {
		if (!enter(files, error))
			return false;
		if (!drain(files, &manifest))
			close_fd(&files->inotify_fd);
		if (manifest || has_changed(files))
			return true;
		rest_us = end_us - g_get_monotonic_time();
		if (sleep_ms(files, (MAX(rest_us, 0) + 999) / 1000)) {
			ssa_store_forget_cancel(store);
			return true;
		}
		if (rest_us <= 0)
			return true;
	}
}

/* ---- opening ---- */

static struct ssa_store *files_open(const char *uri, const struct ssa_store_options *options,
				    GError **error)
{
	const char *path = strchr(uri, ':') + 1;
	struct files_store *files;

	(void)options;
	if (!g_path_is_absolute(path)) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_URI,
			    "%s: expected files: and the absolute path of a directory", uri);
		return NULL;
	}
	files = g_new0(struct files_store, 1);
	files->path = g_strdup(path);
	files->fd = files->chunks_fd = files->inotify_fd = -1;
	return &files->store;
}

static void files_close(struct ssa_store *store)
{
	struct files_store *files = (struct files_store *)store;

	close_directories(files);
	g_free(files->path);
	g_free(files);
}

const struct ssa_store_kind ssa_store_files = {
	.schemes = {"files"},
	.open = files_open,
	.close = files_close,
	.has = files_has,
	.put = files_put,
	.publish = files_publish,
	.manifest = files_manifest,
	.get_many = files_get_many,
	.set_pulse = files_set_pulse,
	.pulse = files_pulse,
	.wait = files_wait,
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of snapshots that an agent keeps up to date, one for each subnet that this host is in.
 * A thread reads a file when it changes: inotify wakes it, and it looks now and then in any case,
 * as a directory may not be there yet, or be replaced. What does not pass the reader's checks, or
 * is of an earlier epoch than the one in use, is refused, and the one in use stays.
 *
 * A snapshot is as old as the modification time of its file says: the agent sets it whenever it
 * hears that the epoch is still current, so an agent that has lost its source stops doing so. The
 * age is counted by a clock that is never set, from the moment at which the change was noticed, so
 * that a jump of the calendar makes no snapshot young.
 *
 * The file is read, not mapped: if it is written in place, or truncated, ibacm must survive.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ssa/acm/acm_private.h"

#define NS_PER_S INT64_C(1000000000)
#define NEVER (-(INT64_MAX / 2)) /* a time so long ago that any age is exceeded */
#define FUTURE_NS (5 * NS_PER_S) /* what clocks of one host may differ */
#define SLOW_MS 30000		 /* looks without being woken */
#define FAST_MS 1000		 /* while a directory cannot be watched */
#define FILE_MAX (INT64_C(1) << 30)
/* Of times that are set, Linux says IN_ATTRIB if it was both, IN_MODIFY if only that of changes. */
#define EVENTS                                                                                     \
	(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_MODIFY |        \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct source {
	const char *file;
	char *directory;
	struct slot snapshot;
	atomic_int_fast64_t current_at; /* when it was known to be current: now_ns() */
	/* Of the thread only. */
	int watch; /* of inotify; -1: none */
	struct stat seen;
	bool looked; /* the file was looked at before */
	bool there, told_stale;
};

struct sources {
	int64_t max_age_ns;
	struct source *all;
	unsigned int n;
	int inotify_fd, stop_fd;
	/* Of the thread, while it runs. */
	enum neighbours_kind kind;
	struct neighbours *neighbours;
	bool changed;	    /* what the snapshots say, since the last update of neighbours */
	int64_t updated_at; /* that one: now_ns() */
	pthread_t thread;
	bool running;
};

/* Goes on while the host sleeps. */
static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static bool is_stale(const struct sources *sources, const struct source *source)
{
	return now_ns() - atomic_load(&source->current_at) > sources->max_age_ns;
}

/* ---- reading ---- */

static int64_t age_of(const struct source *source, const struct stat *status)
{
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = (now.tv_sec - status->st_mtim.tv_sec) * NS_PER_S +
	      (now.tv_nsec - status->st_mtim.tv_nsec);
	if (age >= 0)
		return age;
	/* A change that was noticed is new, whatever the calendar says; else nothing is known. */
	return source->looked || age > -FUTURE_NS ? 0 : -NEVER;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       same_time(&a->st_mtim, &b->st_mtim) && same_time(&a->st_ctim, &b->st_ctim);
}

static GBytes *read_bytes(const char *file, struct stat *status, GError **error)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t *data = NULL;
	size_t at = 0, length;

	if (fd < 0 || fstat(fd, status) < 0 || !S_ISREG(status->st_mode) ||
	    status->st_size > FILE_MAX) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", file,
			    fd < 0 ? g_strerror(errno) : "not a regular file of at most 1 GB");
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	length = (size_t)status->st_size;
	data = g_malloc(length + 1);
	while (at < length) {
		ssize_t n = read(fd, data + at, length - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* it became shorter: the checks find out */
		at += (size_t)n;
	}
	close(fd);
	return g_bytes_new_take(data, at);
}

static bool goes_back(const struct ssa_snapshot *from, const struct ssa_snapshot *to)
{
	return from->prefix == to->prefix &&
	       (to->term < from->term || (to->term == from->term && to->epoch < from->epoch));
}

/* Puts a snapshot in use; false: it is refused. */
static bool take_new(struct sources *sources, struct source *source, GBytes *bytes)
{
	struct ssa_snapshot *old = slot_take(&source->snapshot), *new;
	g_autoptr(GError) error = NULL;
	bool taken = true;

	if (old && g_bytes_equal(old->bytes, bytes)) {
		ssa_snapshot_unref(old);
		return true; /* its epoch is still current */
	}
	new = ssa_snapshot_open(bytes, &error);
	if (!new) {
		acm_write(0, "ssa: %s: refused: %s; %s\n", source->file, error->message,
			  old ? "the one in use stays" : "the SA is asked");
		taken = false;
	} else if (old && goes_back(old, new) && !is_stale(sources, source)) {
		acm_write(0,
			  "ssa: %s: refused: term %" PRIu64 " epoch %" PRIu64
			  " is before term %" PRIu64 " epoch %" PRIu64 "; the one in use stays\n",
			  source->file, new->term, new->epoch, old->term, old->epoch);
		ssa_snapshot_unref(new);
		taken = false;
	} else {
		acm_write(1, "ssa: %s: term %" PRIu64 " epoch %" PRIu64 ", %u ports\n",
			  source->file, new->term, new->epoch, new->n_endports);
		slot_publish(&source->snapshot, new);
		sources->changed = true;
	}
	ssa_snapshot_unref(old);
	return taken;
}

/* Reads the file if it has changed. */
static void look(struct sources *sources, struct source *source)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) bytes = NULL;
	struct stat status;

	if (stat(source->file, &status) < 0) {
		if (source->there || !source->looked)
			acm_write(0, "ssa: %s: %s; %s\n", source->file, g_strerror(errno),
				  source->there ? "what it said is used until it is too old"
						: "the SA is asked");
		source->there = false;
		source->looked = true;
		memset(&source->seen, 0, sizeof(source->seen));
		return;
	}
	if (source->there && same_file(&status, &source->seen))
		return;
	bytes = read_bytes(source->file, &status, &error);
	if (!bytes)
		acm_write(0, "ssa: %s\n", error->message);
	else if (take_new(sources, source, bytes))
		atomic_store(&source->current_at, now_ns() - age_of(source, &status));
	source->seen = status;
	source->there = source->looked = true;
}

/* ---- the thread ---- */

/* Says once that it is too old, and once that it is not any more. */
static void tell_age(struct sources *sources, struct source *source)
{
	struct ssa_snapshot *snapshot = slot_take(&source->snapshot);
	bool stale = snapshot && is_stale(sources, source);

	sources->changed = sources->changed || stale != source->told_stale;
	if (stale != source->told_stale)
		acm_write(0, "ssa: %s: %s\n", source->file,
			  stale ? "older than ssa_max_age; the SA is asked" : "current again");
	source->told_stale = stale;
	ssa_snapshot_unref(snapshot);
}

/* Watches the directories that are not watched; false: some cannot be. */
static bool watch_all(struct sources *sources)
{
	bool all = true;

	for (unsigned int i = 0; i < sources->n; i++) {
		struct source *source = &sources->all[i];

		if (source->watch < 0)
			source->watch =
				inotify_add_watch(sources->inotify_fd, source->directory, EVENTS);
		all = all && source->watch >= 0;
	}
	return all;
}

/* Reads all events: they only say that it is time to look. */
static void drain(struct sources *sources)
{
	uint8_t buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while ((n = read(sources->inotify_fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buffer + at);

			for (unsigned int i = 0; i < sources->n; i++) {
				if (sources->all[i].watch != event->wd)
					continue;
				if (event->mask & IN_MOVE_SELF)
					inotify_rm_watch(sources->inotify_fd, event->wd);
				if (event->mask & (IN_MOVE_SELF | IN_IGNORED))
					sources->all[i].watch = -1;
			}
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
}

/* Until when the thread may sleep: the next snapshot that becomes too old is told of in time. */
static int patience_ms(const struct sources *sources, bool watched)
{
	int64_t patience = (watched ? SLOW_MS : FAST_MS) * (NS_PER_S / 1000);

	for (unsigned int i = 0; i < sources->n; i++) {
		int64_t left =
			atomic_load(&sources->all[i].current_at) + sources->max_age_ns - now_ns();

		if (left >= 0)
			patience = MIN(patience, left);
	}
	return (int)(patience / (NS_PER_S / 1000)) + 1;
}

/* Interfaces come and go as well, so it is done now and then even if no snapshot changes. */
static void update_neighbours(struct sources *sources)
{
	if (!sources->changed && now_ns() - sources->updated_at < SLOW_MS * (NS_PER_S / 1000))
		return;
	sources->changed = false;
	sources->updated_at = now_ns();
	neighbours_update(sources->neighbours, sources);
}

static void *watch_main(void *arg)
{
	struct sources *sources = arg;
	struct pollfd fds[] = {{.fd = sources->stop_fd, .events = POLLIN},
			       {.fd = sources->inotify_fd, .events = POLLIN}};

	bool with_neighbours = sources->kind != NEIGHBOURS_NONE;

	pthread_setname_np(pthread_self(), "ssa");
	if (!with_neighbours)
		neighbours_update(sources->neighbours, NULL); /* of when they were wanted */
	while (!fds[0].revents) {
		bool watched = watch_all(sources);

		for (unsigned int i = 0; i < sources->n; i++) {
			look(sources, &sources->all[i]);
			tell_age(sources, &sources->all[i]);
		}
		if (with_neighbours)
			update_neighbours(sources);
		poll(fds, G_N_ELEMENTS(fds), patience_ms(sources, watched));
		drain(sources);
	}
	if (with_neighbours)
		neighbours_update(sources->neighbours, NULL);
	return NULL;
}

/* ---- construction ---- */

static void get_snapshot(void *snapshot)
{
	ssa_snapshot_ref(snapshot);
}

static void put_snapshot(void *snapshot)
{
	ssa_snapshot_unref(snapshot);
}

static void start_thread(struct sources *sources)
{
	sigset_t all, before;

	sigfillset(&all); /* signals are for ibacm's own threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sources->running = sources->stop_fd >= 0 &&
			   pthread_create(&sources->thread, NULL, watch_main, sources) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!sources->running)
		acm_write(0, "ssa: no thread to read snapshots; the SA is asked\n");
}

struct sources *sources_start(const struct acm_options *options)
{
	struct sources *sources = g_new0(struct sources, 1);

	sources->max_age_ns = options->max_age_s * NS_PER_S;
	sources->kind = options->neighbours;
	sources->neighbours = neighbours_new(options->neighbours, options->sysfs, options->netlink);
	sources->n = options->snapshots->len;
	sources->all = g_new0(struct source, sources->n);
	for (unsigned int i = 0; i < sources->n; i++) {
		struct source *source = &sources->all[i];

		source->file = options->snapshots->pdata[i];
		source->directory = g_path_get_dirname(source->file);
		source->watch = -1;
		atomic_init(&source->current_at, NEVER);
		slot_init(&source->snapshot, get_snapshot, put_snapshot);
	}
	sources->stop_fd = eventfd(0, EFD_CLOEXEC);
	sources->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	/* The first requests find what there is already. */
	for (unsigned int i = 0; i < sources->n; i++)
		look(sources, &sources->all[i]);
	start_thread(sources);
	return sources;
}

void sources_stop(struct sources *sources)
{
	if (sources->running) {
		eventfd_write(sources->stop_fd, 1);
		pthread_join(sources->thread, NULL);
	}
	for (unsigned int i = 0; i < sources->n; i++) {
		slot_clear(&sources->all[i].snapshot);
		g_free(sources->all[i].directory);
	}
	if (sources->stop_fd >= 0)
		close(sources->stop_fd);
	if (sources->inotify_fd >= 0)
		close(sources->inotify_fd);
	neighbours_free(sources->neighbours);
	g_free(sources->all);
	g_free(sources);
}

/* ---- look-ups ---- */

struct ssa_snapshot *sources_take(struct sources *sources, const union ibv_gid *gid,
				  uint32_t *endport, const char **why)
{
	*why = "no snapshot knows the port";
	for (unsigned int i = 0; i < sources->n; i++) {
		struct source *source = &sources->all[i];
		struct ssa_snapshot *snapshot = slot_take(&source->snapshot);

		if (!snapshot)
			continue;
		*endport = snapshot->prefix == be64toh(gid->global.subnet_prefix)
				   ? ssa_look_guid(snapshot, be64toh(gid->global.interface_id))
				   : SSA_NONE;
		if (*endport != SSA_NONE && !is_stale(sources, source))
			return snapshot;
		if (*endport != SSA_NONE)
			*why = "the snapshot is too old";
		ssa_snapshot_unref(snapshot);
	}
	return NULL;
}

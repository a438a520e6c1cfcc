// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A job of the pool for files owns all that it needs, and comes back to the owner as the same
 * message. One job at a time is out. See history.h.
 */
#include "perf/disk/history.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "complib/file.h"
#include "core/options.h"
#include "perf/disk/image_file.h"

#define MODE 0600
#define DIRECTORY_MODE 0700
#define US_PER_MS 1000
#define US_PER_S INT64_C(1000000)
#define US_PER_HOUR (3600 * US_PER_S)
#define MEGABYTE (UINT64_C(1) << 20)
#define NAME_SIZE 64
#define PREFIX "image-"

/* ---- names of files ---- */

static void name_of(char *name, int64_t us, uint64_t id)
{
	time_t seconds = (time_t)(us / US_PER_S);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	snprintf(name, NAME_SIZE, PREFIX "%04u%02u%02uT%02u%02u%02u.%03uZ-%" PRIu64,
		 (unsigned int)(tm.tm_year + 1900) % 10000, (unsigned int)tm.tm_mon + 1,
		 (unsigned int)tm.tm_mday, (unsigned int)tm.tm_hour, (unsigned int)tm.tm_min,
		 (unsigned int)tm.tm_sec, (unsigned int)(us % US_PER_S / US_PER_MS), id);
}

/* False: it is not a name that name_of() makes. */
static bool read_name(const char *name, int64_t *us, uint64_t *id)
{
	struct tm tm = {0};
	char again[NAME_SIZE];
	int ms;

	if (sscanf(name, PREFIX "%4d%2d%2dT%2d%2d%2d.%3dZ-%" SCNu64, &tm.tm_year, &tm.tm_mon,
		   &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, id) != 8)
		return false;
	if (tm.tm_year < 1970 || ms < 0)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	*us = (int64_t)timegm(&tm) * US_PER_S + (int64_t)ms * US_PER_MS;
	name_of(again, *us, *id);
	return !strcmp(name, again);
}

struct entry {
	char *name;
	int64_t us; /* by its name */
	uint64_t id, octets;
};

static void clear_entry(gpointer data)
{
	g_free(((struct entry *)data)->name);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	const struct entry *one = a, *other = b;

	if (one->us != other->us)
		return one->us < other->us ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* The images of a directory, oldest first; with bad ones, also those set aside. */
static GArray *list(const char *directory, bool with_bad)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	g_array_set_clear_func(entries, clear_entry);
	while (dir && (name = g_dir_read_name(dir))) {
		bool bad = with_bad && g_str_has_suffix(name, ".bad");
		g_autofree char *plain = g_strndup(name, strlen(name) - (bad ? 4 : 0));
		g_autofree char *path = g_build_filename(directory, name, NULL);
		struct entry entry = {0};
		GStatBuf st;

		if (!read_name(plain, &entry.us, &entry.id) || g_lstat(path, &st) < 0)
			continue;
		entry.octets = (uint64_t)st.st_size;
		entry.name = g_strdup(name);
		g_array_append_val(entries, entry);
	}
	if (dir)
		g_dir_close(dir);
	g_array_sort(entries, by_name);
	return entries;
}

static const struct entry *entry_at(const GArray *entries, guint i)
{
	return &g_array_index(entries, struct entry, i);
}

uint64_t perf_history_last_id(const char *directory)
{
	g_autoptr(GArray) entries = list(directory, true);
	uint64_t id = 0;

	for (guint i = 0; i < entries->len; i++)
		id = MAX(id, entry_at(entries, i)->id);
	return id;
}

/* ---- jobs ---- */

struct perf_history {
	struct context *context;
	struct actor *owner;
	char *directory;
	uint64_t run;
	bool busy; /* a job is out */
	/* Since the last file: */
	struct perf_image *image; /* the last one added; NULL: none yet */
	uint32_t *missed;	  /* by its layout */
	uint16_t *flags;
	uint64_t after;	   /* id of the image in that file; 0: there is none yet */
	uint64_t tried_ns; /* the end of the image for which it was tried last */
	bool tried;
	pthread_mutex_t lock; /* held while writing */
	uint64_t resumed;     /* id of the image that "last" belongs to */
	_Atomic uint64_t files, octets, written, failed;
};

struct job {
	struct message message; /* of the pool, then of the owner */
	struct perf_history *history;
	struct perf_image *image; /* NULL: only check what is there */
	uint32_t *missed;
	uint16_t *flags;
	uint64_t after;
	struct perf_resume *resume; /* NULL: none */
	bool fsync_it, check, good;
	uint32_t hours, max_size;
};

static void job_free(struct job *job)
{
	perf_image_unref(job->image);
	perf_resume_free(job->resume);
	g_free(job->missed);
	g_free(job->flags);
	g_free(job);
}

static void job_drop(struct message *message)
{
	job_free((struct job *)message);
}

static bool put_file(const char *directory, const char *name, GByteArray *octets, bool fsync_it,
		     GError **error)
{
	g_autofree char *file = g_build_filename(directory, name, NULL);
	bool good;

	if (!octets) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: more than %u ports",
			    file, PERF_FILE_ROWS_MAX);
		return false;
	}
	good = file_replace_octets(file, octets->data, octets->len, MODE, fsync_it, error);
	g_byte_array_unref(octets);
	return good;
}

/* The name of an image does not sort before one that is there already. */
static bool put_image(const struct job *job, const char *directory, GError **error)
{
	g_autoptr(GArray) entries = list(directory, true);
	int64_t us = MAX(job->image->ended_us, 0);
	char name[NAME_SIZE];

	if (!job->hours)
		return true;
	if (entries->len)
		us = MAX(us, entry_at(entries, entries->len - 1)->us + US_PER_MS);
	name_of(name, us, job->image->id);
	return put_file(directory, name,
			perf_image_encode(job->image, job->history->run, job->after, job->missed,
					  job->flags, PERF_FILE_LEVEL),
			job->fsync_it, error);
}

static bool put_resume(struct job *job, const char *directory, GError **error)
{
	struct perf_history *history = job->history;

	if (!job->resume || job->resume->id < history->resumed)
		return true; /* a newer one is there */
	history->resumed = job->resume->id;
	return put_file(directory, "last", perf_resume_encode(job->resume, PERF_FILE_LEVEL),
			job->fsync_it, error);
}

/* One line when it begins to fail, and one when it works again. */
static void tell(struct perf_history *history, const GError *error)
{
	struct log *log = history->context->log;

	if (!error) {
		if (atomic_exchange(&history->context->perf_unkept, false))
			log_info(log, "%s: counters are saved again; failed so far: %" PRIu64,
				 history->directory, atomic_load(&history->failed));
		return;
	}
	atomic_fetch_add(&history->failed, 1);
	if (atomic_exchange(&history->context->perf_unkept, true))
		log_verbose(log, "counters could not be saved: %s", error->message);
	else
		log_error(log,
			  "counters could not be saved: %s; tried again each "
			  "perfmgr_history_interval",
			  error->message);
}

/* What is too old, and the oldest beyond the size; never the last. */
static void prune(struct perf_history *history, uint32_t hours, uint32_t max_size, int64_t now_us)
{
	g_autoptr(GArray) entries = list(history->directory, true);
	uint64_t octets = 0, files = entries->len;

	for (guint i = 0; i < entries->len; i++)
		octets += entry_at(entries, i)->octets;
	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = entry_at(entries, i);
		g_autofree char *file = g_build_filename(history->directory, entry->name, NULL);
		bool last = hours && i + 1 == entries->len;

		if (last || (entry->us >= now_us - (int64_t)hours * US_PER_HOUR &&
			     octets <= max_size * MEGABYTE))
			break;
		if (g_unlink(file) < 0)
			continue;
		octets -= entry->octets;
		files--;
	}
	atomic_store(&history->files, files);
	atomic_store(&history->octets, octets);
}

static void set_aside(struct perf_history *history, const char *file, const char *why)
{
	g_autofree char *bad = g_strconcat(file, ".bad", NULL);

	if (g_rename(file, bad) == 0)
		log_error(history->context->log, "%s; saved as %s", why, bad);
	else
		log_error(history->context->log, "%s", why);
}

/* Files that another process left when it ended while writing; no other writes here now. */
static void remove_leftovers(const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *plain = g_strndup(name, file_temporary(name));
		g_autofree char *file = g_build_filename(directory, name, NULL);
		uint64_t id;
		int64_t us;

		if (!strcmp(plain, "last") || read_name(plain, &us, &id))
			g_unlink(file);
	}
	if (dir)
		g_dir_close(dir);
}

/* Renames what is damaged; what another version wrote is only named. */
static void check_files(struct perf_history *history)
{
	g_autoptr(GArray) entries = list(history->directory, false);

	remove_leftovers(history->directory);
	for (guint i = 0; i < entries->len; i++) {
		const char *name = entry_at(entries, i)->name;
		g_autofree char *file = g_build_filename(history->directory, name, NULL);
		g_autoptr(GError) error = NULL;
		struct perf_image_head head;

		if (perf_image_peek(file, &head, &error))
			continue;
		if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_FAILED))
			set_aside(history, file, error->message);
		else
			log_error(history->context->log, "%s; it is not used", error->message);
	}
}

static void work(struct job *job)
{
	struct perf_history *history = job->history;
	g_autoptr(GError) error = NULL;

	pthread_mutex_lock(&history->lock);
	if (job->check)
		check_files(history);
	if (job->image) {
		/* If it fails, so do the files, and that error is told. */
		g_mkdir_with_parents(history->directory, DIRECTORY_MODE);
		job->good = put_resume(job, history->directory, &error) &&
			    put_image(job, history->directory, &error);
		atomic_fetch_add(&history->written, job->good);
		tell(history, error);
	}
	prune(history, job->hours, job->max_size,
	      job->image ? job->image->ended_us : g_get_real_time());
	pthread_mutex_unlock(&history->lock);
}

/* ---- the owner's side ---- */

static struct job *job_new(struct perf_history *history)
{
	struct options *options = slot_take(&history->context->options);
	struct job *job = g_new0(struct job, 1);

	job->history = history;
	job->message.drop = job_drop;
	job->fsync_it = options->fsync_high_avail_files;
	job->hours = options->perfmgr_history_hours;
	job->max_size = options->perfmgr_history_max_size;
	options_unref(options);
	return job;
}

/* Forgets what was collected, and begins again at the last image. */
static void collect_again(struct perf_history *history, uint64_t after)
{
	uint32_t n = MAX(history->image->layout->n_rows, 1);

	g_free(history->missed);
	g_free(history->flags);
	history->missed = g_new0(uint32_t, n);
	history->flags = g_new0(uint16_t, n);
	history->after = after;
}

/* A file that could not be written: what it would have told belongs to the next. */
static void give_back(struct perf_history *history, const struct job *job)
{
	const struct perf_layout *from = job->image->layout, *to = history->image->layout;
	g_autofree uint32_t *map = perf_layout_map(from, to);

	for (uint32_t row = 0; row < to->n_rows; row++) {
		if (map[row] == PERF_NONE)
			continue;
		history->missed[row] |= job->missed[map[row]];
		history->flags[row] |= job->flags[map[row]];
	}
	history->after = job->after;
}

static void job_done(struct message *message)
{
	struct job *job = (struct job *)message;

	job->history->busy = false;
	if (job->image && !job->good)
		give_back(job->history, job);
	job_free(job);
}

static void job_run(struct message *message)
{
	struct job *job = (struct job *)message;

	work(job);
	message->run = job_done;
	actor_post(job->history->owner, message);
}

static void post(struct perf_history *history, struct job *job)
{
	job->message.run = job_run;
	history->busy = true;
	pool_post(history->context->files, &job->message);
}

void perf_history_add(struct perf_history *history, struct perf_image *image)
{
	struct perf_image *before;

	if (!history)
		return;
	before = history->image;
	history->image = perf_image_ref(image);
	if (!before) {
		collect_again(history, 0);
	} else if (before->layout != image->layout) {
		g_autofree uint32_t *map = perf_layout_map(before->layout, image->layout);
		g_autofree uint32_t *missed = g_steal_pointer(&history->missed);
		g_autofree uint16_t *flags = g_steal_pointer(&history->flags);

		collect_again(history, history->after);
		for (uint32_t row = 0; row < image->layout->n_rows; row++)
			if (map[row] != PERF_NONE) {
				history->missed[row] = missed[map[row]];
				history->flags[row] = flags[map[row]];
			}
	}
	for (uint32_t row = 0; row < image->layout->n_rows; row++) {
		history->missed[row] |= image->missed[row];
		history->flags[row] |= image->flags[row];
	}
	perf_image_unref(before);
}

bool perf_history_due(const struct perf_history *history)
{
	struct options *options;
	uint64_t interval;

	if (!history || history->busy || !history->image || !history->context->files)
		return false;
	if (!history->tried)
		return true;
	options = slot_take(&history->context->options);
	interval = options->perfmgr_history_interval * NS_PER_S;
	options_unref(options);
	return history->image->ended_ns - history->tried_ns >= interval;
}

/* A job for the last image; what was collected goes with it. */
static struct job *job_for_image(struct perf_history *history, struct perf_resume *resume)
{
	struct job *job = job_new(history);

	job->image = perf_image_ref(history->image);
	job->missed = g_steal_pointer(&history->missed);
	job->flags = g_steal_pointer(&history->flags);
	job->after = history->after;
	job->resume = resume;
	history->tried = true;
	history->tried_ns = history->image->ended_ns;
	collect_again(history, history->image->id);
	return job;
}

void perf_history_write(struct perf_history *history, struct perf_resume *resume)
{
	if (!history || history->busy || !history->image || !history->context->files)
		perf_resume_free(resume);
	else
		post(history, job_for_image(history, resume));
}

void perf_history_end(struct perf_history *history, struct perf_resume *resume)
{
	struct job *job;

	if (!history || !history->image) {
		perf_resume_free(resume);
		return;
	}
	job = job_for_image(history, resume);
	work(job);
	job_free(job);
}

uint64_t perf_history_run(const struct perf_history *history)
{
	return history ? history->run : 0;
}

void perf_history_status(struct perf_history *history, struct perf_history_status *status)
{
	*status = (struct perf_history_status){0};
	if (!history)
		return;
	status->files = atomic_load(&history->files);
	status->octets = atomic_load(&history->octets);
	status->written = atomic_load(&history->written);
	status->failed = atomic_load(&history->failed);
	status->failing = atomic_load(&history->context->perf_unkept);
}

struct perf_history *perf_history_new(struct context *context, struct actor *owner,
				      const char *directory)
{
	struct perf_history *history;
	struct job *job;

	if (!directory)
		return NULL;
	history = g_new0(struct perf_history, 1);
	history->context = context;
	history->owner = owner;
	history->directory = g_strdup(directory);
	do
		history->run = (uint64_t)g_random_int() << 32 | g_random_int();
	while (!history->run);
	pthread_mutex_init(&history->lock, NULL);
	if (context->files) {
		job = job_new(history);
		job->check = true;
		post(history, job);
	}
	return history;
}

void perf_history_free(struct perf_history *history)
{
	if (!history)
		return;
	pthread_mutex_destroy(&history->lock);
	perf_image_unref(history->image);
	g_free(history->missed);
	g_free(history->flags);
	g_free(history->directory);
	g_free(history);
}

/* ---- reading ---- */

void perf_history_read_clear(struct perf_history_read *read)
{
	g_clear_pointer(&read->why, g_free);
}

static bool is_stopped(const struct perf_history_read *read)
{
	return read->stop && read->stop(read->arg);
}

/* Counts the file, and what is wrong with it. One that was removed meanwhile does not count. */
static void count_file(struct perf_history_read *read, GError *error)
{
	if (!error) {
		read->files++;
		return;
	}
	if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) && !read->skipped++)
		read->why = g_strdup(error->message);
	g_error_free(error);
}

/* The files to read, by their names: *first up to *end of the entries. */
static void choose(const GArray *entries, int64_t since_us, int64_t until_us, guint *first,
		   guint *end)
{
	*first = 0;
	for (guint i = 0; i < entries->len && entry_at(entries, i)->us <= since_us; i++)
		*first = i;
	for (*end = *first; *end < entries->len && entry_at(entries, *end)->us <= until_us;)
		++*end;
}

void perf_history_fold(const char *directory, uint64_t run, int64_t since_us, int64_t until_us,
		       struct perf_fold *fold, struct perf_history_read *read)
{
	g_autoptr(GArray) entries = list(directory, false);
	guint first, end;

	choose(entries, since_us, until_us, &first, &end);
	for (guint i = first; i < end && !is_stopped(read); i++) {
		g_autofree char *file =
			g_build_filename(directory, entry_at(entries, i)->name, NULL);
		uint64_t names = i + 1 == end ? PERF_WITH_NAMES : 0;
		struct perf_image *image;
		GError *error = NULL;

		image = perf_image_load(file, run, fold->columns | names, &error);
		count_file(read, error);
		if (image)
			perf_fold_add(fold, image);
		perf_image_unref(image);
	}
}

void perf_history_series(const char *directory, uint64_t run, uint64_t guid, uint8_t port,
			 int64_t since_us, int64_t until_us, struct perf_series *series,
			 struct perf_history_read *read)
{
	g_autoptr(GArray) entries = list(directory, false);
	guint first, end;

	choose(entries, since_us, until_us, &first, &end);
	for (guint i = first; i < end && !is_stopped(read); i++) {
		g_autofree char *file =
			g_build_filename(directory, entry_at(entries, i)->name, NULL);
		struct perf_image *image;
		GError *error = NULL;

		image = perf_image_load_port(file, run, guid, port, PERF_BIT(series->value.column),
					     &error);
		count_file(read, error);
		if (image)
			perf_series_add(series, image);
		perf_image_unref(image);
	}
}

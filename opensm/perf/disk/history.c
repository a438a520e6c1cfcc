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
#define NAME_US_MAX (INT64_C(253402300799) * US_PER_S) /* the end of the year 9999 */
#define PREFIX "image-"

/* ---- names of files ---- */

static void name_of(char *name, int64_t us, uint64_t id)
{
	time_t seconds = (time_t)((us = CLAMP(us, 0, NAME_US_MAX)) / US_PER_S);
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

/* Ids ascend over restarts, whatever the clock does. */
static gint by_id(gconstpointer a, gconstpointer b)
{
	const struct entry *one = a, *other = b;

	if (one->id != other->id)
		return one->id < other->id ? -1 : 1;
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
	g_array_sort(entries, by_id);
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
	bool later_told;      /* that images of a later time than now are there */
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
	uint64_t step_us; /* between two files, at most */
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

static bool put_image(const struct job *job, const char *directory, GError **error)
{
	char name[NAME_SIZE];

	if (!job->hours)
		return true;
	name_of(name, job->image->ended_us, job->image->id);
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

/* One line when such images are seen first: they are in no window until that time has come. */
static void tell_later(struct perf_history *history, int64_t now_us)
{
	g_autoptr(GArray) entries = list(history->directory, false);
	const struct entry *last = NULL;
	unsigned int n = 0;

	for (guint i = 0; i < entries->len; i++) {
		if (entry_at(entries, i)->us <= now_us)
			continue;
		last = entry_at(entries, i);
		n++;
	}
	if (n && !history->later_told)
		log_error(history->context->log,
			  "%s: found %u image%s of a later time than now, the last is %s: the "
			  "clock was wrong then, or it is wrong now; answers do not use them, and "
			  "they are removed in their turn",
			  history->directory, n, n == 1 ? "" : "s", last->name);
	history->later_told = n != 0;
}

/*
 * What is too old, and the oldest beyond the size; never the last. An image is as old as the steps
 * from it to the last one are long. No step counts for more than those that this process makes, so
 * that a clock that is set makes nothing old.
 */
static void prune(struct perf_history *history, const struct job *job)
{
	g_autoptr(GArray) entries = list(history->directory, true);
	uint64_t octets = 0, files = entries->len, max_octets = job->max_size * MEGABYTE;
	int64_t age_us = 0, max_us = (int64_t)job->hours * US_PER_HOUR;
	guint n_old = job->hours ? 0 : entries->len, n = job->hours ? entries->len : 0;

	for (guint i = 0; i < entries->len; i++)
		octets += entry_at(entries, i)->octets;
	for (guint i = n; i-- > 1 && !n_old;) {
		int64_t step = entry_at(entries, i)->us - entry_at(entries, i - 1)->us;

		age_us += CLAMP(step, 0, (int64_t)job->step_us);
		if (age_us > max_us)
			n_old = i;
	}
	for (guint i = 0; i < n_old || (i + 1 < n && octets > max_octets); i++) {
		const struct entry *entry = entry_at(entries, i);
		g_autofree char *file = g_build_filename(history->directory, entry->name, NULL);

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

/* The name tells the time in the file. */
static void correct_name(struct perf_history *history, const struct entry *entry, int64_t us)
{
	g_autofree char *from = g_build_filename(history->directory, entry->name, NULL), *to = NULL;
	char name[NAME_SIZE];

	name_of(name, us, entry->id);
	to = g_build_filename(history->directory, name, NULL);
	if (!strcmp(name, entry->name) || g_file_test(to, G_FILE_TEST_EXISTS))
		return;
	if (g_rename(from, to) == 0)
		log_info(history->context->log, "%s: renamed to %s, the time in it", from, name);
}

/*
 * Renames what is damaged and what has the name of another time; what another version wrote is only
 * named.
 */
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
			correct_name(history, entry_at(entries, i), head.ended_us);
		else if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_FAILED))
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
		tell_later(history, job->image->ended_us);
	}
	prune(history, job);
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
	job->step_us = options->perfmgr_history_interval * US_PER_S;
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
	if (history->tried)
		job->step_us = MAX(job->step_us,
				   (history->image->ended_ns - history->tried_ns) / NS_PER_US);
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

/*
 * The most files within these times of which each is later than the one before, by id: one from a
 * wrong clock is left out. Indexes of entries.
 */
static GArray *in_order(const GArray *entries, int64_t since_us, int64_t until_us)
{
	/* Of the ways to choose k + 1 files, tails[k] ends the one that ends first. */
	g_autofree guint *tails = g_new(guint, MAX(entries->len, 1));
	g_autofree guint *before = g_new0(guint, MAX(entries->len, 1));
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(guint));
	guint n = 0;

	for (guint i = 0; i < entries->len; i++) {
		int64_t us = entry_at(entries, i)->us;
		guint low = 0, high = n;

		if (us <= since_us || us > until_us)
			continue;
		while (low < high) {
			guint middle = (low + high) / 2;

			if (entry_at(entries, tails[middle])->us <= us)
				low = middle + 1;
			else
				high = middle;
		}
		if (low)
			before[i] = tails[low - 1];
		tails[low] = i;
		n = MAX(n, low + 1);
	}
	g_array_set_size(chosen, n);
	for (guint i = n, at = n ? tails[n - 1] : 0; i-- > 0; at = before[at])
		g_array_index(chosen, guint, i) = at;
	return chosen;
}

/* The files to read, as indexes of entries: those in the window, and the last one before it. */
static GArray *choose(const GArray *entries, int64_t since_us, int64_t until_us)
{
	GArray *chosen = in_order(entries, since_us, until_us);
	guint end = chosen->len ? g_array_index(chosen, guint, 0) : entries->len, first = end;
	int64_t first_us = INT64_MIN;

	for (guint i = 0; i < end; i++) {
		int64_t us = entry_at(entries, i)->us;

		if (us > MIN(since_us, until_us) || us < first_us)
			continue;
		first = i;
		first_us = us;
	}
	if (first < end)
		g_array_prepend_val(chosen, first);
	return chosen;
}

static char *chosen_file(const char *directory, const GArray *entries, const GArray *chosen,
			 guint i)
{
	return g_build_filename(directory, entry_at(entries, g_array_index(chosen, guint, i))->name,
				NULL);
}

void perf_history_fold(const char *directory, uint64_t run, int64_t since_us, int64_t until_us,
		       struct perf_fold *fold, struct perf_history_read *read)
{
	g_autoptr(GArray) entries = list(directory, false);
	g_autoptr(GArray) chosen = choose(entries, since_us, until_us);

	for (guint i = 0; i < chosen->len && !is_stopped(read); i++) {
		g_autofree char *file = chosen_file(directory, entries, chosen, i);
		uint64_t names = i + 1 == chosen->len ? PERF_WITH_NAMES : 0;
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
	g_autoptr(GArray) chosen = choose(entries, since_us, until_us);

	for (guint i = 0; i < chosen->len && !is_stopped(read); i++) {
		g_autofree char *file = chosen_file(directory, entries, chosen, i);
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

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each kind of file is read by one job at a time (complib/aside.h), which also checks whether
 * reading is needed, as that may hang too:
 *
 *	begin -> [thread: look, read] -> take: refuse, or publish and report
 *
 * A late job is reported after OVERDUE_NS, and its result is finally used as if it had been in
 * time, with a sweep of its own.
 */
#include "ctl/site/site_files.h"

#include <inttypes.h>

#include "complib/aside.h"
#include "core/about.h"
#include "ctl/process/guarded_options.h"
#include "ctl/process/logging.h"
#include "ctl/site/check_config.h"
#include "ctl/site/followed.h"
#include "ha/replicator.h"
#include "policy/files/in_effect.h"
#include "policy/files/route_files.h"
#include "policy/partition/partition_changes.h"
#include "policy/partition/partition_file.h"
#include "policy/partition/partition_memory.h"
#include "core/state/state_file.h"
#include "core/state/state_writer.h"

/* How long main waits for files that are late for the first time, and if others are late. */
#define PATIENCE_NS (250 * NS_PER_MS)
#define PATIENCE_MORE_NS (20 * NS_PER_MS)
#define GUARDED "what opensm.conf must not lose"
#define OVERDUE_NS (2 * NS_PER_S)

enum when {
	ALWAYS,
	IF_OTHER, /* than when last read, and not being written; or refused then */
	IF_STAMPED_OTHER, /* opensm.conf: than that of the options, or was refused */
};

struct reading {
	struct aside_job job; /* first */
	struct site_files *site; /* for done only: it may be freed while the work goes on */
	enum daemon_files files;
	enum when when;
	bool asked, late, was_refused;
	uint64_t began_ns;
	struct options *options; /* that name the files */
	void *old;		 /* the present object */
	GPtrArray *names;
	struct followed followed;
	struct options_stamp refused; /* of the opensm.conf last refused */
	/* Results: */
	enum followed_state state;
	bool read;
	void *new; /* struct options, or an object of the slot */
	GError *wrong;
	GPtrArray *warnings;	     /* of opensm.conf */
	struct options_stamp stamp;  /* of opensm.conf before it was read */
};

struct site_files {
	struct context *context;
	struct actor *main;
	struct aside *aside;
	struct state_writer *writer;
	char *guards, *guarded; /* file for names of guarded options, NULL: none; its contents */
	char *memory; /* file for the partitions last in effect; NULL: none */
	struct options_stamp refused; /* as in struct reading */
	struct refusal refusals[DAEMON_FILES], overdue[DAEMON_FILES];
	struct followed followed[DAEMON_FILES];
	struct reading *running[DAEMON_FILES];
	bool changed;	       /* the last reading, in time, brought changes */
	char *why;	       /* why the opensm.conf last read, in time, was refused */
	struct timer again;    /* looks again at files that are being written */
	struct timer is_overdue; /* checks whether a job is overdue */
};

struct aside *site_files_aside(struct site_files *site)
{
	return site->aside;
}

/* ---- refusals ---- */

/* While the reason is the same, the time stays. */
static void refuse(struct refusal *refusal, const char *why)
{
	g_autoptr(GDateTime) now = g_date_time_new_now_local();

	if (!g_strcmp0(refusal->why, why))
		return;
	g_free(refusal->why);
	g_free(refusal->since);
	refusal->why = g_strdup(why);
	refusal->since = why ? g_date_time_format(now, "%F %T") : NULL;
}

void site_files_refuse(struct site_files *site, enum daemon_files files, const char *why)
{
	refuse(&site->refusals[files], why);
}

const struct refusal *site_files_refusal(const struct site_files *site, enum daemon_files files)
{
	return site->overdue[files].why ? &site->overdue[files] : &site->refusals[files];
}

static const char *stays(enum daemon_files files)
{
	return files == DAEMON_OPENSM_CONF ? "the options are unchanged" : site_kind(files)->stays;
}

/* A line of the log for each mistake. */
static void tell_refused(struct site_files *site, enum daemon_files files, const char *why)
{
	g_auto(GStrv) lines = g_strsplit(why, "\n", -1);

	for (unsigned int i = 0; lines[i]; i++)
		log_error(site->context->log, "%s: %s", stays(files), lines[i]);
}

/*
 * Files were read again, and are used if there is no error. A requested reading reports a refusal
 * each time; a sweep that only looks again reports new ones.
 */
static void note_reading(const struct reading *reading)
{
	struct site_files *site = reading->site;
	const char *why = reading->wrong ? reading->wrong->message : NULL;

	if (why && (reading->asked || g_strcmp0(why, site->refusals[reading->files].why) != 0))
		tell_refused(site, reading->files, why);
	site_files_refuse(site, reading->files, why);
}

static void tell_overdue(struct site_files *site, const struct reading *reading)
{
	uint64_t waited = actor_now(site->main) - reading->began_ns;
	g_autofree char *names = site_all_names(reading->names);
	g_autofree char *text = g_strdup_printf("%s cannot be read: waited %" PRIu64 " s", names,
						waited / NS_PER_S);

	if (waited < OVERDUE_NS)
		return;
	if (!site->overdue[reading->files].why || reading->asked)
		log_error(site->context->log, "%s: %s", stays(reading->files), text);
	if (!site->overdue[reading->files].why)
		refuse(&site->overdue[reading->files], text);
}

static void on_overdue(struct timer *timer)
{
	struct site_files *site = container_of(timer, struct site_files, is_overdue);

	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		if (site->running[i] && !site->overdue[i].why)
			tell_overdue(site, site->running[i]);
}

/* ---- the work: any thread ---- */

static void read_options(struct reading *reading)
{
	const struct options *old = reading->old;
	struct options *new;

	reading->read = true;
	reading->warnings = g_ptr_array_new_with_free_func(g_free);
	new = options_reread(old, NULL, check_config_again, reading->warnings, &reading->wrong);
	reading->new = new;
}

static void read_files(struct reading *reading)
{
	struct site_source source = {.options = reading->options, .old = reading->old};

	reading->read = true;
	reading->new = site_load(reading->files, &source, &reading->wrong);
	g_free(source.instead);
	g_free(source.note);
}

/* Looks before the file is read: what is written meanwhile counts as another change. */
static bool is_to_be_read(struct reading *reading)
{
	const struct options *options = reading->options;

	if (reading->files == DAEMON_OPENSM_CONF) {
		reading->stamp = options_file_stamp(options);
		if (reading->when != ALWAYS &&
		    (!options_file_changed(options) ||
		     options_stamp_same(&reading->stamp, &reading->refused)))
			return false;
	}
	if (reading->when == IF_OTHER) {
		reading->state =
			followed_look(&reading->followed, reading->names, reading->began_ns);
		if (reading->state != FOLLOWED_OTHER &&
		    !(reading->state == FOLLOWED_SAME && reading->was_refused))
			return false;
	}
	followed_read(&reading->followed, reading->names);
	return true;
}

static void work(struct aside_job *job)
{
	struct reading *reading = (struct reading *)job;

	if (!is_to_be_read(reading))
		return;
	if (reading->files == DAEMON_OPENSM_CONF)
		read_options(reading);
	else
		read_files(reading);
}

static void reading_free(struct reading *reading)
{
	const struct site_kind *kind = site_kind(reading->files);

	if (reading->files == DAEMON_OPENSM_CONF) {
		options_unref(reading->new);
		options_unref(reading->old);
	} else {
		if (reading->new)
			kind->put(reading->new);
		if (reading->old)
			kind->put(reading->old);
	}
	options_unref(reading->options);
	g_clear_pointer(&reading->warnings, g_ptr_array_unref);
	g_ptr_array_unref(reading->names);
	followed_clear(&reading->followed);
	g_clear_error(&reading->wrong);
	g_free(reading);
}

static void drop(struct aside_job *job)
{
	reading_free((struct reading *)job);
}

/* ---- applying what was read ---- */

/* Logs warnings that the old object did not have; false: there are none. */
static bool tell_warnings(struct log *log, const GPtrArray *now, const GPtrArray *before)
{
	bool any = false;

	for (guint i = 0; now && i < now->len; i++) {
		if (before && g_ptr_array_find_with_equal_func((GPtrArray *)before, now->pdata[i],
							       g_str_equal, NULL))
			continue;
		log_error(log, "%s", (const char *)now->pdata[i]);
		any = true;
	}
	return any;
}

/* For files whose text is unchanged: names in it may now mean something else. */
static bool warns_otherwise(const struct site_kind *kind, const void *new, const void *old)
{
	return kind->warnings && kind->warnings(new)->len != kind->warnings(old)->len;
}

/* Members may have been changed at run time since the reading began. */
static bool go_with_changes(struct reading *reading)
{
	struct partition_rules *now = slot_take(&reading->site->context->partition_rules);
	struct partition_rules *new = reading->new;

	if (new->changes != now->changes) {
		reading->new = partition_rules_remake(new->files->pdata[0], new->sources,
						      now->changes, &reading->wrong);
		partition_rules_unref(new);
	}
	if (reading->new)
		((struct partition_rules *)reading->new)->serial = now->serial + 1;
	partition_rules_unref(now);
	return reading->new != NULL;
}

static void tell_built_in(struct log *log, const struct partition_rules *rules)
{
	const char *file = rules->files->pdata[0];

	if (rules->built_in)
		log_info(log,
			 "%s%sno partitions are defined: every port is in the default "
			 "partition",
			 file, *file ? ": " : "");
}

void site_files_remember(struct site_files *site)
{
	struct partition_rules *rules = slot_take(&site->context->partition_rules);

	if (site->memory)
		state_writer_put(site->writer, site->memory, "the last accepted partitions",
				 partition_memory_text(rules), true, NULL, NULL);
	partition_rules_unref(rules);
}

void site_files_publish_agreed(struct context *context)
{
	if (replicator_is_on(context->replicator))
		slot_publish(&context->agreed, agreed_in_effect(context));
}

/* True: the contents differ from before, or may differ. */
static bool take(struct reading *reading)
{
	const struct site_kind *kind = site_kind(reading->files);
	struct context *context = reading->site->context;
	bool changed, odd;

	if (reading->new && reading->files == DAEMON_PARTITIONS)
		go_with_changes(reading);
	note_reading(reading);
	if (!reading->new)
		return false;
	changed = !kind->same || !kind->same(reading->old, reading->new);
	odd = kind->warnings && tell_warnings(context->log, kind->warnings(reading->new),
					      kind->warnings(reading->old));
	if (changed && kind->same)
		log_info(context->log, "%s changed",
			 kind->what ? kind->what : site_first_name(reading->names));
	if (!changed && !odd && !warns_otherwise(kind, reading->new, reading->old))
		return false;
	site_publish(context, reading->files, g_steal_pointer(&reading->new));
	if (changed && reading->files == DAEMON_PARTITIONS) {
		struct partition_rules *rules = slot_take(&context->partition_rules);

		tell_built_in(context->log, rules);
		partition_rules_unref(rules);
		site_files_remember(reading->site);
	}
	if (changed)
		site_files_publish_agreed(context);
	return changed;
}

/* Saves the guarded options, which the next start checks. */
static void remember_options(struct site_files *site, const struct options *options)
{
	char *text = site->guards ? guarded_options_text(options) : NULL;

	if (!text || !g_strcmp0(text, site->guarded)) {
		g_free(text);
		return;
	}
	g_free(site->guarded);
	site->guarded = g_strdup(text);
	state_writer_put(site->writer, site->guards, GUARDED, text, true, NULL, NULL);
}

static void publish_options(struct reading *reading)
{
	struct context *context = reading->site->context;
	struct options *new = reading->new;
	struct module_flags *modules = slot_take(&context->module_flags);

	for (guint i = 0; i < reading->warnings->len; i++)
		log_error(context->log, "%s", (const char *)reading->warnings->pdata[i]);
	logging_apply(context->log, new, modules);
	module_flags_unref(modules);
	reading->new = NULL;
	remember_options(reading->site, new);
	slot_publish(&context->options, new);
	site_files_publish_agreed(context);
	event_emit(&context->bus, EVENT_OPTIONS_CHANGED, 0);
}

static bool begin(struct site_files *site, enum daemon_files files, struct options *options,
		  enum when when, bool asked);

/*
 * Other files first: a sweep must not use these options with the files of others. If the options
 * are wrong, those in effect name the files.
 */
static bool take_options(struct reading *reading)
{
	struct site_files *site = reading->site;
	struct options *options = options_ref(reading->new ? reading->new : reading->old);
	enum when when = reading->asked ? ALWAYS : IF_OTHER;
	bool good = reading->new != NULL;

	if (reading->when != ALWAYS)
		log_info(site->context->log, "%s changed: reading it again", options->file);
	g_free(site->why);
	site->why = good ? NULL : g_strdup(reading->wrong->message);
	site->refused = good ? (struct options_stamp){0} : reading->stamp;
	site_files_refuse(site, DAEMON_OPENSM_CONF, site->why);
	if (good || reading->asked) { /* else follow() does it, which informs the sweep */
		begin(site, DAEMON_ROUTE_FILES, options, when, reading->asked);
		begin(site, DAEMON_PORTS_POLICY, options, when, reading->asked);
		begin(site, DAEMON_NODE_NAMES, options, when, reading->asked);
		begin(site, DAEMON_MODULES, options, when, reading->asked);
		begin(site, DAEMON_PERF_RULES, options, when, reading->asked);
	}
	options_unref(options);
	if (good)
		publish_options(reading);
	return good;
}

static bool finish(struct reading *reading)
{
	struct site_files *site = reading->site;

	if (reading->state == FOLLOWED_YOUNG && !timer_running(&site->again))
		timer_start(&site->again, FOLLOWED_AGAIN_NS);
	if (!reading->read)
		return false;
	return reading->files == DAEMON_OPENSM_CONF ? take_options(reading) : take(reading);
}

static void done(struct aside_job *job)
{
	struct reading *reading = (struct reading *)job;
	struct site_files *site = reading->site;
	enum daemon_files files = reading->files;
	unsigned int reasons =
		files == DAEMON_OPENSM_CONF ? SWEEP_HEAVY : site_kind(files)->reasons;
	bool changed, late = reading->late;

	site->running[files] = NULL;
	followed_clear(&site->followed[files]);
	site->followed[files] = reading->followed;
	reading->followed = (struct followed){0};
	if (site->overdue[files].why)
		log_info(site->context->log, "%s could be read after %" PRIu64 " s",
			 site_first_name(reading->names),
			 (actor_now(site->main) - reading->began_ns) / NS_PER_S);
	refuse(&site->overdue[files], NULL);
	changed = finish(reading);
	if (late && files == DAEMON_OPENSM_CONF && reading->read && site->why)
		tell_refused(site, DAEMON_OPENSM_CONF, site->why);
	reading_free(reading);
	if (late && changed && reasons)
		event_emit(&site->context->bus, EVENT_SWEEP_WANTED, reasons);
	site->changed = changed;
}

/* ---- reading ---- */

static GPtrArray *names_of(struct site_files *site, enum daemon_files files,
			   const struct options *options)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free), *all = g_ptr_array_new();
	const struct site_kind *kind = site_kind(files);
	void *now = kind->load ? slot_take(site_slot(site->context, files)) : NULL;

	if (kind->load)
		kind->names(options, now, all);
	else
		g_ptr_array_add(all, options->file);
	for (guint i = 0; i < all->len; i++)
		g_ptr_array_add(names, g_strdup(all->pdata[i]));
	if (now)
		kind->put(now);
	g_ptr_array_unref(all);
	return names;
}

static struct reading *reading_new(struct site_files *site, enum daemon_files files,
				   struct options *options)
{
	struct reading *reading = g_new0(struct reading, 1);

	reading->job = (struct aside_job){.work = work, .done = done, .drop = drop};
	reading->site = site;
	reading->files = files;
	reading->began_ns = actor_now(site->main);
	reading->options = options_ref(options);
	reading->old = files == DAEMON_OPENSM_CONF
			       ? options_ref(options)
			       : slot_take(site_slot(site->context, files));
	reading->names = names_of(site, files, options);
	reading->followed = site->followed[files];
	site->followed[files] = (struct followed){0};
	reading->refused = site->refused;
	reading->was_refused = site->refusals[files].why != NULL;
	return reading;
}

/* True if files were read and their contents differ, or may differ. Also false if they are late. */
static bool begin(struct site_files *site, enum daemon_files files, struct options *options,
		  enum when when, bool asked)
{
	struct reading *reading = site->running[files];

	if (reading) { /* its result will be as new as possible */
		reading->asked |= asked;
		tell_overdue(site, reading);
		return false;
	}
	reading = site->running[files] = reading_new(site, files, options);
	reading->when = when;
	reading->asked = asked;
	if (aside_run(site->aside, &reading->job,
		      aside_late(site->aside) ? PATIENCE_MORE_NS : PATIENCE_NS))
		return site->changed;
	reading->late = true;
	timer_start(&site->is_overdue, OVERDUE_NS);
	return false;
}

static bool begin_now(struct site_files *site, enum daemon_files files, enum when when, bool asked)
{
	struct options *options = slot_take(&site->context->options);
	bool changed = begin(site, files, options, when, asked);

	options_unref(options);
	return changed;
}

bool site_files_reread(struct site_files *site, enum daemon_files files)
{
	return begin_now(site, files, ALWAYS, true);
}

static bool reread_options(struct site_files *site, enum when when, bool asked)
{
	g_clear_pointer(&site->why, g_free);
	if (begin_now(site, DAEMON_OPENSM_CONF, when, asked))
		return true;
	if (site->why && !site->running[DAEMON_OPENSM_CONF])
		tell_refused(site, DAEMON_OPENSM_CONF, site->why);
	return false;
}

bool site_files_reread_options(struct site_files *site, GError **error)
{
	g_clear_pointer(&site->why, g_free);
	if (begin_now(site, DAEMON_OPENSM_CONF, ALWAYS, true))
		return true;
	g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE,
			    site->why ? site->why
				      : "the file is still being read and takes effect afterwards");
	return false;
}

bool site_files_reread_options_logged(struct site_files *site)
{
	return reread_options(site, ALWAYS, true);
}

void site_files_follow_options(struct site_files *site)
{
	reread_options(site, IF_STAMPED_OTHER, true);
}

/* ---- following them ---- */

/* Returns bits of enum sweep_reason: what the changed files require. */
static unsigned int follow(struct site_files *site)
{
	unsigned int reasons = reread_options(site, IF_OTHER, false) ? SWEEP_HEAVY : 0;

	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		if (site_kind(i)->load && begin_now(site, i, IF_OTHER, false))
			reasons |= site_kind(i)->reasons;
	return reasons;
}

/* The waiting sweep uses the files. */
static void on_files_wanted(void *arg, uint64_t value)
{
	struct site_files *site = arg;

	(void)value;
	event_emit(&site->context->bus, EVENT_FILES_READ, follow(site));
}

static void on_again(struct timer *timer)
{
	struct site_files *site = container_of(timer, struct site_files, again);
	unsigned int reasons = follow(site);

	if (reasons)
		event_emit(&site->context->bus, EVENT_SWEEP_WANTED, reasons);
}

/* ---- life ---- */

/* Before they are read; opensm.conf was read earlier, and has a stamp from then. */
static void note_start(struct site_files *site, const struct options *options)
{
	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		g_autoptr(GPtrArray) names = NULL;

		if (!site_kind(i)->load)
			continue;
		names = names_of(site, i, options);
		followed_read(&site->followed[i], names);
	}
}

static void tell_start(struct site_files *site, const struct site_policy *policy)
{
	struct log *log = site->context->log;
	const struct about about = {.kind = "options"};

	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		const struct site_kind *kind = site_kind(i);
		void *now = kind->load ? slot_take(site_slot(site->context, i)) : NULL;

		if (policy->instead[i])
			log_milestone_error_about(log, LAST_POLICY, &about, "%s",
						  policy->instead[i]);
		site_files_refuse(site, i, policy->instead[i]);
		if (policy->notes[i])
			log_error(log, "%s", policy->notes[i]);
		if (now && kind->warnings)
			tell_warnings(log, kind->warnings(now), NULL);
		if (i == DAEMON_PARTITIONS)
			tell_built_in(log, now);
		if (now)
			kind->put(now);
	}
}

/* On the disk before any option is used: even a start that crashes has used them. */
static void remember_guards(struct site_files *site, const struct options *options)
{
	site->guards = guarded_options_file(site->context->cache_dir);
	site->guarded = guarded_options_text(options);
	if (site->guards)
		state_save(site->context->log, site->guards, GUARDED, site->guarded, true);
}

static bool load(struct site_files *site, const struct options *options, GError **error)
{
	const char *cache_dir = site->context->cache_dir;
	struct site_policy *policy;

	note_start(site, options);
	policy = guarded_options_check_start(options, cache_dir, error)
			 ? site_policy_load(options, cache_dir, error)
			 : NULL;
	if (!policy)
		return false;
	remember_guards(site, options);
	site_policy_publish(policy, site->context);
	tell_start(site, policy);
	if (!policy->instead[DAEMON_PARTITIONS])
		site_files_remember(site);
	site_policy_free(policy);
	return true;
}

struct site_files *site_files_new(struct context *context, struct actor *main, GError **error)
{
	struct site_files *site = g_new0(struct site_files, 1);
	struct options *options = slot_take(&context->options);

	site->context = context;
	site->main = main;
	site->memory = partition_memory_file(context->cache_dir);
	site->writer = state_writer_new(context, main);
	site->aside = aside_new(main);
	timer_init(&site->again, main, on_again);
	timer_init(&site->is_overdue, main, on_overdue);
	if (load(site, options, error))
		event_subscribe(&context->bus, EVENT_FILES_WANTED, main, on_files_wanted, site);
	else
		g_clear_pointer(&site, site_files_free);
	options_unref(options);
	return site;
}

void site_files_stop(struct site_files *site)
{
	timer_stop(&site->again);
	timer_stop(&site->is_overdue);
	g_clear_pointer(&site->aside, aside_free);
}

void site_files_free(struct site_files *site)
{
	if (!site)
		return;
	if (site->aside)
		site_files_stop(site);
	for (unsigned int i = 0; i < DAEMON_FILES; i++) {
		refuse(&site->refusals[i], NULL);
		refuse(&site->overdue[i], NULL);
		followed_clear(&site->followed[i]);
	}
	state_writer_free(site->writer);
	g_free(site->memory);
	g_free(site->guards);
	g_free(site->guarded);
	g_free(site->why);
	g_free(site);
}

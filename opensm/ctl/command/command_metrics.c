// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands metrics and image. They only note what is published: a pool makes the answer, which
 * may be many megabytes, so that it delays nothing. For a client on this host, it is a file in
 * memory whose descriptor is sent.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl/command/command_private.h"
#include "ctl/image/image_store.h"
#include "ctl/metrics/metrics.h"
#include "ctl/plugin/plugins.h"
#include "ctl/report/journal.h"
#include "perf/image/image.h"
#include "sm/health/unhealthy.h"
#include "subnet/perf_alarms.h"

/* ---- metrics ---- */

/* What the text is made of; it may outlive the command. */
struct scrape {
	struct command_work work;
	struct metrics_request request;
	struct metrics_source source;
	struct perf_images *images; /* NULL: none */
	struct perf_rules *rules;
	bool wants_file;
};

/* In the pool: if it has the last reference to an image, freeing it takes long. */
static void drop_source(struct scrape *scrape)
{
	subnet_unref(g_steal_pointer(&scrape->source.subnet));
	perf_images_unref(g_steal_pointer(&scrape->images));
}

static void scrape_free(struct scrape *scrape)
{
	drop_source(scrape);
	metrics_request_clear(&scrape->request);
	options_unref(scrape->source.options);
	if (scrape->source.plugins)
		g_array_unref(scrape->source.plugins);
	perf_rules_unref(scrape->rules);
	g_free(scrape);
}

static void free_work(struct command_work *work)
{
	scrape_free(container_of(work, struct scrape, work));
}

/* ---- in the pool ---- */

/* False and *why: the group is unknown. */
static bool write_all(struct scrape *scrape, struct metrics_text *text, char **why)
{
	bool good = true;

	if (scrape->request.level == METRICS_DAEMON)
		metrics_write_daemon(text, &scrape->source, insecure_check);
	else if (scrape->request.level > METRICS_DAEMON)
		good = metrics_write_ports(text, &scrape->request, perf_images_last(scrape->images),
					   scrape->rules, why);
	metrics_text_end(text);
	return good;
}

/* The file can no longer change: the client may map it. */
static bool seal(int file)
{
	return fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ==
	       0;
}

/* As they are: labels are escaped already. */
static GVariant *answer_of(const struct metrics_text *text)
{
	GVariantBuilder answer;

	answer_begin(&answer);
	g_variant_builder_add(&answer, "{sv}", "text", g_variant_new_string(text->out->str));
	return g_variant_builder_end(&answer);
}

static GVariant *write_answer(struct scrape *scrape, int file, GError **error)
{
	struct metrics_text text;
	g_autofree char *why = NULL;
	GVariant *answer = NULL;

	metrics_text_init(&text, file, scrape->request.open_metrics);
	if (!write_all(scrape, &text, &why))
		command_failed(error, "%s", why);
	else if (text.trouble || (file >= 0 && !seal(file)))
		command_failed(error, "the metrics cannot be kept: %s",
			       strerror(text.trouble ? text.trouble : errno));
	else
		answer = answer_of(&text);
	metrics_text_clear(&text);
	return answer;
}

static GVariant *run(struct command_work *work, GError **error)
{
	struct scrape *scrape = container_of(work, struct scrape, work);
	int file = -1;
	GVariant *answer;

	if (scrape->wants_file) {
		file = memfd_create("opensm-metrics", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (file < 0)
			return command_failed(error, "no file for the metrics: %s",
					      strerror(errno));
	}
	answer = write_answer(scrape, file, error);
	drop_source(scrape);
	if (answer)
		work->file = file;
	else if (file >= 0)
		close(file);
	return answer;
}

/* ---- on the thread of the daemon ---- */

static bool any_refused(const struct daemon *daemon)
{
	for (unsigned int i = 0; i < DAEMON_FILES; i++)
		if (daemon_refusal(daemon, i)->why)
			return true;
	return false;
}

static void note_events(const struct journal *journal, struct metrics_source *source)
{
	const char *kind;
	uint64_t events;

	if (!journal)
		return;
	source->reread_us = journal_reread_us(journal);
	while (source->n_events < METRICS_EVENTS &&
	       (kind = journal_kind(journal, source->n_events, &events))) {
		source->event_kinds[source->n_events] = kind;
		source->events[source->n_events++] = events;
	}
}

static void clear_plugin(gpointer plugin)
{
	g_free(((struct metrics_plugin *)plugin)->name);
}

static void note_plugins(const struct plugins_face *face, struct metrics_source *source)
{
	struct plugin_about about;

	if (!face)
		return;
	source->plugins = g_array_new(FALSE, FALSE, sizeof(struct metrics_plugin));
	g_array_set_clear_func(source->plugins, clear_plugin);
	for (unsigned int i = 0; face->about(face->plugins, i, &about); i++) {
		const struct metrics_plugin plugin = {
			.name = g_strdup(about.name),
			.up = about.is_up,
			.events = about.delivered,
			.lost = about.lost,
			.requests = about.requests,
			.restarts = about.restarts,
		};

		g_array_append_val(source->plugins, plugin);
	}
}

static void note_source(struct command_call *call, struct metrics_source *source)
{
	const struct journal *journal = call->env->journal;
	const struct journal_sweep *last = journal ? journal_last_sweep(journal) : NULL;

	source->context = call->context;
	source->subnet = slot_take(&call->context->subnet);
	source->options = slot_take(&call->context->options);
	source->port_guid = daemon_port_guid(call->env->daemon);
	source->refused = any_refused(call->env->daemon);
	source->swept = last != NULL;
	if (last)
		source->last_sweep = *last;
	note_events(journal, source);
	note_plugins(daemon_plugins(call->env->daemon), source);
	perf_status(daemon_perf(call->env->daemon), &source->perf);
}

/* Removes the word; true if it was there. */
static bool take_word(char **words, const char *word)
{
	bool found = false;
	unsigned int n = 0;

	for (unsigned int i = 0; words[i]; i++) {
		if (strcmp(words[i], word) != 0) {
			words[n++] = words[i];
			continue;
		}
		g_free(words[i]);
		found = true;
	}
	words[n] = NULL;
	return found;
}

GVariant *command_metrics(struct command_call *call, GError **error)
{
	struct scrape *scrape = g_new0(struct scrape, 1);
	g_autofree char *why = NULL;

	scrape->work.run = run;
	scrape->work.free = free_work;
	scrape->wants_file = take_word(call->words, "descriptor");
	note_source(call, &scrape->source);
	scrape->images = slot_take(&call->context->perf_images);
	scrape->rules = slot_take(&call->context->perf_rules);
	why = metrics_request_parse(&scrape->request, call->words);
	if (!why && scrape->wants_file && (!call->env->takes_files || call->json))
		why = g_strdup("descriptor is for programs on a Unix socket, and not for JSON");
	if (!why) {
		command_work_post(call, &scrape->work, call->context->slow);
		return NULL;
	}
	scrape_free(scrape);
	return command_usage(error, "%s", why);
}

void print_metrics(GVariant *answer, GString *out)
{
	g_string_append(out, answer_get_text(answer, "text"));
}

/* ---- image: all nodes, ports and counters (client/image.h) ---- */

struct picture {
	struct command_work work;
	struct image_store *store;
	struct fabric_image_source source;
	/* What the source points to. */
	struct subnet *subnet;
	struct perf_images *images;
	struct perf_alarms *alarms;
	struct unhealthy_ports *unhealthy;
};

/* In the pool: to free the last reference to a subnet takes long. */
static void drop_picture(struct picture *picture)
{
	subnet_unref(g_steal_pointer(&picture->subnet));
	perf_images_unref(g_steal_pointer(&picture->images));
	perf_alarms_unref(g_steal_pointer(&picture->alarms));
	unhealthy_ports_unref(g_steal_pointer(&picture->unhealthy));
}

static void free_picture(struct command_work *work)
{
	struct picture *picture = container_of(work, struct picture, work);

	drop_picture(picture);
	image_store_unref(picture->store);
	g_free(picture);
}

static GVariant *make_picture(struct command_work *work, GError **error)
{
	struct picture *picture = container_of(work, struct picture, work);
	g_autoptr(GError) trouble = NULL;
	GVariantBuilder answer;

	work->file = image_store_get(picture->store, &picture->source, &trouble);
	drop_picture(picture);
	if (work->file < 0)
		return command_failed(error, "%s", trouble->message);
	answer_begin(&answer);
	return g_variant_builder_end(&answer);
}

static struct picture *note_picture(struct command_call *call)
{
	struct picture *picture = g_new0(struct picture, 1);

	picture->work.run = make_picture;
	picture->work.free = free_picture;
	picture->store = image_store_ref(call->env->images);
	picture->subnet = slot_take(&call->context->subnet);
	picture->images = slot_take(&call->context->perf_images);
	picture->alarms = slot_take(&call->context->perf_alarms);
	picture->unhealthy = slot_take(&call->context->unhealthy_ports);
	picture->source = (struct fabric_image_source){
		.run = journal_run(call->env->journal),
		.serial = journal_image(call->env->journal),
		.subnet = picture->subnet,
		.images = picture->images,
		.alarms = picture->alarms,
		.unhealthy = picture->unhealthy,
	};
	return picture;
}

static GVariant *describe(struct command_call *call)
{
	const struct journal *journal = call->env->journal;
	GVariantBuilder builder;

	answer_begin(&builder);
	answer_guid(&builder, "run", journal ? journal_run(journal) : 0);
	answer_number(&builder, "serial", journal ? journal_image(journal) : 0);
	answer_number(&builder, "generation", call->subnet ? call->subnet->generation : 0);
	return g_variant_builder_end(&builder);
}

GVariant *command_image(struct command_call *call, GError **error)
{
	if (!call->n)
		return describe(call);
	if (call->n != 1 || strcmp(call->words[0], "descriptor") != 0)
		return command_usage(error, "expected descriptor or nothing");
	if (!call->env->takes_files || call->json || !call->env->images || !call->env->journal)
		return command_usage(error,
				     "descriptor is for programs on a Unix socket, and not for "
				     "JSON");
	command_work_post(call, &note_picture(call)->work, call->context->slow);
	return NULL;
}

void print_image(GVariant *answer, GString *out)
{
	if (*answer_get_text(answer, "run"))
		g_string_append_printf(out, "run %s serial %" PRIu64 "\n",
				       answer_get_text(answer, "run"),
				       answer_get_number(answer, "serial"));
}

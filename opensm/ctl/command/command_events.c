// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands events (the end of the journal, or what is new in it) and sim (cables of a simulated
 * fabric).
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "core/printable.h"
#include "ctl/command/command_private.h"
#include "ctl/report/journal.h"
#include "iba/constants.h"
#include "perf/image/image.h"
#include "vendor/sim.h"

#define EVENTS_SHOWN 20
#define EVENTS_AT_ONCE 200 /* of events since */
#define EVENTS_FEW 40	   /* take less than a millisecond; a pool makes a longer answer */
#define WAIT_MAX_S 25

/* ---- events ---- */

/* Not by GDateTime, which would take most of the time that an answer takes. */
static char *time_text(int64_t us)
{
	time_t seconds = (time_t)(us / G_USEC_PER_SEC);
	char text[64];
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return g_strdup("?");
	return g_strdup_printf("%s.%06" PRId64, text, us % G_USEC_PER_SEC);
}

static void add_event(GVariantBuilder *list, const struct journal_entry *entry)
{
	g_autofree char *first = time_text(entry->first_us);
	g_autofree char *last = time_text(entry->last_us);
	GVariantBuilder row;

	answer_begin(&row);
	answer_number(&row, "serial", entry->serial);
	answer_text(&row, "time", first);
	answer_text(&row, "last", last);
	answer_number(&row, "times", entry->times);
	answer_text(&row, "kind", entry->kind);
	answer_text(&row, "text", entry->text);
	if (entry->change) {
		answer_text(&row, "change", entry->change);
		answer_guid(&row, "guid", entry->guid);
		answer_number(&row, "port", entry->port);
	}
	if (entry->peer_guid) {
		answer_guid(&row, "peer_guid", entry->peer_guid);
		answer_number(&row, "peer_port", entry->peer_port);
	}
	if (entry->more_switches)
		answer_number(&row, "more_switches", entry->more_switches);
	if (entry->more_hosts)
		answer_number(&row, "more_hosts", entry->more_hosts);
	if (entry->generation)
		answer_number(&row, "generation", entry->generation);
	answer_append(list, &row);
}

/* What is answered, as it was when the command ran. */
struct told {
	struct command_work work;
	uint64_t run, serial;
	bool since; /* the next two are told */
	bool more;
	uint64_t missed;
	const char *state;
	bool sweeping;
	uint64_t generation, counters, image;
	GArray *entries; /* struct journal_entry, whose texts are its own */
};

static void clear_entry(void *entry)
{
	g_free(((struct journal_entry *)entry)->text);
}

static void told_free(struct told *told)
{
	g_array_unref(told->entries);
	g_free(told);
}

static void free_work(struct command_work *work)
{
	told_free(container_of(work, struct told, work));
}

/* Any thread. */
static GVariant *make_answer(const struct told *told)
{
	GVariantBuilder builder, list;

	answer_begin(&builder);
	answer_guid(&builder, "run", told->run);
	answer_number(&builder, "serial", told->serial);
	if (told->since) {
		answer_flag(&builder, "more", told->more);
		answer_number(&builder, "missed", told->missed);
	}
	answer_text(&builder, "state", told->state);
	answer_flag(&builder, "sweeping", told->sweeping);
	answer_number(&builder, "generation", told->generation);
	answer_number(&builder, "counters", told->counters);
	answer_number(&builder, "image", told->image);
	answer_begin_list(&list);
	for (guint i = 0; i < told->entries->len; i++)
		add_event(&list, &g_array_index(told->entries, struct journal_entry, i));
	answer_member(&builder, "events", &list);
	return g_variant_builder_end(&builder);
}

static GVariant *run(struct command_work *work, GError **error)
{
	(void)error;
	return make_answer(container_of(work, struct told, work));
}

/* What has changed when there is news without an event is a part of it. */
static struct told *told_new(struct command_call *call)
{
	const struct journal *journal = call->env->journal;
	const char *state = iba_name(IBA_SET_SM_STATE, atomic_load(&call->context->sm_state));
	struct subnet *subnet = slot_take(&call->context->subnet);
	struct perf_images *images = slot_take(&call->context->perf_images);
	const struct perf_image *last = perf_images_last(images);
	struct told *told = g_new0(struct told, 1);

	told->work.run = run;
	told->work.free = free_work;
	told->run = journal_run(journal);
	told->serial = journal_serial(journal);
	told->state = state ? state : "?";
	told->sweeping = atomic_load(&call->context->sweep) & SWEEP_FLAG_RUNNING;
	told->generation = subnet ? subnet->generation : 0;
	told->counters = last ? last->id : 0;
	told->image = journal_image(journal);
	told->entries = g_array_new(FALSE, FALSE, sizeof(struct journal_entry));
	g_array_set_clear_func(told->entries, clear_entry);
	perf_images_unref(images);
	subnet_unref(subnet);
	return told;
}

static void tell(struct told *told, const struct journal_entry *entry)
{
	struct journal_entry copy = *entry;

	copy.text = g_strdup(entry->text);
	g_array_append_val(told->entries, copy);
}

/* A session can wait; other callers get the answer at once. */
static GVariant *answer_told(struct command_call *call, struct told *told)
{
	GVariant *answer;

	if (told->entries->len > EVENTS_FEW && call->env->wrap) {
		command_work_post(call, &told->work, call->context->pool);
		return NULL;
	}
	answer = make_answer(told);
	told_free(told);
	return answer;
}

static GVariant *answer_last(struct command_call *call, uint64_t n)
{
	const struct journal *journal = call->env->journal;
	unsigned int length = journal_length(journal);
	unsigned int skipped = length - (unsigned int)MIN(n, length);
	struct told *told = told_new(call);

	for (const GList *l = journal_after(journal, 0); l; l = l->next) {
		if (!skipped)
			tell(told, l->data);
		else
			skipped--;
	}
	return answer_told(call, told);
}

/* The next entry of one of these kinds, from this one on; kinds NULL: of any. */
static const GList *next_of_kinds(const GList *l, char **kinds)
{
	while (l && kinds &&
	       !g_strv_contains((const char *const *)kinds,
				((const struct journal_entry *)l->data)->kind))
		l = l->next;
	return l;
}

/* The oldest first; if there are more, the client asks again from the last of them. */
static GVariant *answer_since(struct command_call *call, uint64_t since, char **kinds)
{
	const struct journal *journal = call->env->journal;
	uint64_t forgotten = journal_forgotten(journal);
	const GList *l = next_of_kinds(journal_after(journal, since), kinds);
	struct told *told = told_new(call);
	uint64_t last = since;

	for (; l && told->entries->len < EVENTS_AT_ONCE; l = next_of_kinds(l->next, kinds)) {
		last = ((const struct journal_entry *)l->data)->serial;
		tell(told, l->data);
	}
	told->since = true;
	told->more = l != NULL;
	told->missed = forgotten - MIN(since, forgotten);
	if (l)
		told->serial = last;
	return answer_told(call, told);
}

static bool is_kind(const struct journal *journal, const char *word)
{
	const char *kind;
	uint64_t events;

	for (unsigned int i = 0; (kind = journal_kind(journal, i, &events)); i++)
		if (!strcmp(kind, word))
			return true;
	return false;
}

static char *names_of_kinds(const struct journal *journal)
{
	g_autoptr(GString) names = g_string_new(NULL);
	const char *kind;
	uint64_t events;

	for (unsigned int i = 0; (kind = journal_kind(journal, i, &events)); i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "", kind);
	return g_strdup(names->str);
}

static bool find_kinds(const struct journal *journal, const char *list, GStrv *kinds,
		       GError **error)
{
	*kinds = g_strsplit(list, ",", -1);
	for (char **kind = *kinds; *kind; kind++) {
		if (!is_kind(journal, *kind)) {
			g_autofree char *names = names_of_kinds(journal);

			command_usage(error,
				      "'%s': expected kinds of events, separated by "
				      "commas: %s",
				      *kind, names);
			return false;
		}
	}
	if (**kinds)
		return true;
	command_usage(error, "expected a kind of events");
	return false;
}

/* "since SERIAL [kind KIND,...] [wait SECONDS]" */
struct asked {
	uint64_t since, seconds;
	GStrv kinds; /* NULL: all */
};

static bool parse_since(const struct command_call *call, struct asked *asked, GError **error)
{
	const struct journal *journal = call->env->journal;
	bool good = call->n >= 2 && find_number(call->words[1], UINT64_MAX, &asked->since);
	unsigned int at = 2;

	if (call->n >= at + 2 && !strcmp(call->words[at], "kind")) {
		if (!find_kinds(journal, call->words[at + 1], &asked->kinds, error))
			return false;
		at += 2;
	}
	if (call->n >= at + 2 && !strcmp(call->words[at], "wait")) {
		if (!find_number(call->words[at + 1], WAIT_MAX_S, &asked->seconds)) {
			command_usage(error, "'%s': expected at most %u seconds",
				      call->words[at + 1], WAIT_MAX_S);
			return false;
		}
		at += 2;
	}
	if (!good || call->n != at) {
		command_usage(error, "expected since SERIAL [kind KIND,...] [wait SECONDS]");
		return false;
	}
	return true;
}

static GVariant *events_since(struct command_call *call, GError **error)
{
	struct asked asked = {0};
	g_auto(GStrv) kinds = NULL;
	uint64_t since;
	bool good = parse_since(call, &asked, error);

	kinds = asked.kinds;
	if (!good)
		return NULL;
	since = asked.since;
	/* A serial that is yet to come is of an earlier run. */
	if (since > journal_serial(call->env->journal))
		since = 0;
	else if (since == journal_serial(call->env->journal) && asked.seconds &&
		 !call->env->waited) {
		call->later = true;
		call->news_ns = asked.seconds * NS_PER_S;
		return NULL;
	}
	return answer_since(call, since, kinds);
}

GVariant *command_events(struct command_call *call, GError **error)
{
	uint64_t n = EVENTS_SHOWN;

	if (!call->env->journal)
		return command_failed(error, "events are not kept");
	if (call->n && !strcmp(call->words[0], "since"))
		return events_since(call, error);
	if (call->n > 1 || (call->n && !find_number(call->words[0], UINT32_MAX, &n)))
		return command_usage(error, "expected a number, or since SERIAL");
	return answer_last(call, n);
}

static void print_event(GVariant *row, GString *out)
{
	uint64_t times = answer_get_number(row, "times");

	g_string_append_printf(out, "%s %-7s %s", answer_get_text(row, "time"),
			       answer_get_text(row, "kind"), answer_get_text(row, "text"));
	if (times > 1)
		g_string_append_printf(out, " (%" PRIu64 " times, last %s)", times,
				       answer_get_text(row, "last"));
	g_string_append_c(out, '\n');
}

/* People are shown the serial only if they asked by it. */
void print_events(GVariant *answer, GString *out)
{
	g_autoptr(GVariant) missed = answer_get(answer, "missed");

	if (missed && g_variant_get_uint64(missed))
		g_string_append_printf(out, "up to %" PRIu64 " earlier events are not kept\n",
				       g_variant_get_uint64(missed));
	answer_each(answer, "events", print_event, out);
	if (missed)
		g_string_append_printf(
			out,
			"run %s serial %" PRIu64 "%s: %s, generation %" PRIu64 ", counters %" PRIu64
			"\n",
			answer_get_text(answer, "run"), answer_get_number(answer, "serial"),
			answer_get_flag(answer, "more") ? ", and more" : "",
			answer_get_text(answer, "state"), answer_get_number(answer, "generation"),
			answer_get_number(answer, "counters"));
}

/* ---- sim ---- */

struct plug {
	const char *name;
	unsigned int port;
	bool up;
	bool node_found, cable_found;
};

/* On the fabric's own actor. */
static void plug(struct sim *sim, void *arg)
{
	struct plug *plug = arg;
	uint64_t guid;
	int node = find_is_guid(plug->name, &guid) ? sim_find_guid(sim, guid)
						   : sim_find_name(sim, plug->name);
	struct sim_node_view view;

	plug->node_found = node >= 0;
	if (!plug->node_found)
		return;
	sim_node_view(sim, (unsigned int)node, &view);
	plug->cable_found = plug->port <= view.num_ports &&
			    sim_link_set(sim, (unsigned int)node, plug->port, plug->up);
}

/* A command that osmsim has as well. */
struct shared {
	const struct command_call *call;
	GString *out;
	bool done;
};

static void run_shared(struct sim *sim, void *arg)
{
	struct shared *shared = arg;

	shared->done = sim_command(sim, shared->call->words, shared->call->n, shared->out);
}

/* Each line of a text, as an item of the list. */
static GVariant *answer_of_lines(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GVariantBuilder builder, list;

	answer_begin(&builder);
	g_variant_builder_init(&list, G_VARIANT_TYPE_STRING_ARRAY);
	for (unsigned int i = 0; lines[i]; i++)
		g_variant_builder_add_value(&list,
					    g_variant_new_take_string(printable_text(lines[i])));
	answer_member(&builder, "lines", &list);
	return g_variant_builder_end(&builder);
}

static GVariant *sim_shared(struct command_call *call, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct shared shared = {call, out, false};

	sim_call(call->env->sim, run_shared, &shared);
	if (out->len && out->str[out->len - 1] == '\n')
		g_string_truncate(out, out->len - 1);
	if (!shared.done)
		return command_usage(error, "%s", out->str);
	return out->len ? answer_of_lines(out->str) : answer_of_text("Done");
}

GVariant *command_sim(struct command_call *call, GError **error)
{
	struct plug cable = {0};
	uint64_t port;

	if (call->n && strcmp(call->words[0], "link") != 0 && strcmp(call->words[0], "unlink") != 0)
		return sim_shared(call, error);
	if (call->n != 3)
		return command_usage(error, "expected link or unlink, a node and a port");
	if (!find_number(call->words[2], UINT8_MAX, &port) || !port)
		return command_usage(error, "'%s' is not a port number", call->words[2]);
	cable.name = call->words[1];
	cable.port = (unsigned int)port;
	cable.up = !strcmp(call->words[0], "link");
	sim_call(call->env->sim, plug, &cable);
	if (!cable.node_found)
		return command_failed(error, "there is no node '%s'", cable.name);
	if (!cable.cable_found)
		return command_failed(error, "port %u of '%s' has no cable", cable.port,
				      cable.name);
	return answer_of_text("The cable of %s port %u is %s", cable.name, cable.port,
			      cable.up ? "plugged" : "pulled");
}

void print_sim(GVariant *answer, GString *out)
{
	g_autofree const char **lines = NULL;

	if (!g_variant_lookup(answer, "lines", "^a&s", &lines)) {
		print_text(answer, out);
		return;
	}
	for (unsigned int i = 0; lines[i]; i++)
		g_string_append_printf(out, "%s\n", lines[i]);
}

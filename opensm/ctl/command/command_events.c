// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands events (the end of the journal) and sim (cables of a simulated fabric). */
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"
#include "ctl/report/journal.h"
#include "vendor/sim.h"

#define EVENTS_SHOWN 20

/* ---- events ---- */

static char *time_text(int64_t us)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(us / G_USEC_PER_SEC);
	g_autofree char *seconds = g_date_time_format(time, "%Y-%m-%dT%H:%M:%S");

	return g_strdup_printf("%s.%06" PRId64, seconds, us % G_USEC_PER_SEC);
}

static void add_event(GVariantBuilder *list, const struct journal_entry *entry)
{
	g_autofree char *first = time_text(entry->first_us);
	g_autofree char *last = time_text(entry->last_us);
	GVariantBuilder row;

	answer_begin(&row);
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
	answer_append(list, &row);
}

GVariant *command_events(struct command_call *call, GError **error)
{
	const struct journal *journal = call->env->journal;
	unsigned int length = journal_length(journal);
	uint64_t n = EVENTS_SHOWN;
	GVariantBuilder builder, list;

	if (call->n > 1 || (call->n && !find_number(call->words[0], UINT32_MAX, &n)))
		return command_usage(error, "expected a number");
	answer_begin(&builder);
	answer_begin_list(&list);
	for (unsigned int i = length - (unsigned int)MIN(n, length); i < length; i++)
		add_event(&list, journal_at(journal, i));
	answer_member(&builder, "events", &list);
	return g_variant_builder_end(&builder);
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

void print_events(GVariant *answer, GString *out)
{
	answer_each(answer, "events", print_event, out);
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
					    g_variant_new_take_string(answer_printable(lines[i])));
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

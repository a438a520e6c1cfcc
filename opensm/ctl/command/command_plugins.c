// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about plug-ins: what each of them does, and its stop and start. */
#include <inttypes.h>
#include <string.h>

#include "ctl/command/command_private.h"
#include "ctl/plugin/plugins.h"

static void add_plugin(GVariantBuilder *list, const struct plugin_about *about)
{
	g_autofree char *engines = g_strjoinv(", ", (char **)about->engines);
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "name", about->name);
	answer_text(&row, "title", about->title);
	answer_text(&row, "version", about->version);
	answer_text(&row, "state", about->state);
	answer_flag(&row, "own_process", about->is_process);
	answer_number(&row, "process", (uint64_t)about->process);
	answer_text(&row, "engines", engines);
	answer_number(&row, "delivered", about->delivered);
	answer_number(&row, "waiting", about->waiting);
	answer_number(&row, "lost", about->lost);
	answer_number(&row, "requests", about->requests);
	answer_number(&row, "restarts", about->restarts);
	answer_text(&row, "error", about->error);
	answer_append(list, &row);
}

static GVariant *show(const struct plugins_face *face)
{
	GVariantBuilder builder, list;
	struct plugin_about about;

	answer_begin(&builder);
	answer_begin_list(&list);
	for (unsigned int i = 0; face && face->about(face->plugins, i, &about); i++)
		add_plugin(&list, &about);
	answer_member(&builder, "plugins", &list);
	return g_variant_builder_end(&builder);
}

GVariant *command_plugins(struct command_call *call, GError **error)
{
	const struct plugins_face *face = daemon_plugins(call->env->daemon);
	g_autoptr(GError) trouble = NULL;
	bool stops = call->n && !strcmp(call->words[0], "stop");

	if (!call->n)
		return show(face);
	if (call->n != 2 || (!stops && strcmp(call->words[0], "start") != 0))
		return command_usage(error, "expected stop or start and the name of a plug-in");
	if (!face)
		return command_failed(error, "event_plugin_name does not list %s", call->words[1]);
	if (stops && face->stop(face->plugins, call->words[1], &trouble))
		return answer_of_text("plug-in %s is being stopped", call->words[1]);
	if (!stops && face->start(face->plugins, call->words[1], &trouble))
		return answer_of_text("plug-in %s is being started", call->words[1]);
	return command_failed(error, "%s", trouble->message);
}

/* ---- in words ---- */

static void print_plugin(GVariant *row, GString *out)
{
	const char *title = answer_get_text(row, "title");
	const char *engines = answer_get_text(row, "engines");
	const char *error = answer_get_text(row, "error");
	uint64_t process = answer_get_number(row, "process");

	g_string_append_printf(out, "%s: %s", answer_get_text(row, "name"),
			       answer_get_text(row, "state"));
	if (*title)
		g_string_append_printf(out, ", %s %s", title, answer_get_text(row, "version"));
	if (process)
		g_string_append_printf(out, ", process %" PRIu64, process);
	else if (!answer_get_flag(row, "own_process"))
		g_string_append(out, ", in the daemon");
	g_string_append_printf(out,
			       "\n    events: %" PRIu64 " delivered, %" PRIu64 " waiting, %" PRIu64
			       " lost; %" PRIu64 " requests; %" PRIu64 " restarts\n",
			       answer_get_number(row, "delivered"),
			       answer_get_number(row, "waiting"), answer_get_number(row, "lost"),
			       answer_get_number(row, "requests"),
			       answer_get_number(row, "restarts"));
	if (*engines)
		g_string_append_printf(out, "    routing engines: %s\n", engines);
	if (*error)
		g_string_append_printf(out, "    last error: %s\n", error);
}

void print_plugins(GVariant *answer, GString *out)
{
	const char *text = answer_get_text(answer, "text");
	gsize before = out->len;

	if (*text) {
		g_string_append_printf(out, "%s\n", text);
		return;
	}
	answer_each(answer, "plugins", print_plugin, out);
	if (out->len == before)
		g_string_append(out, "There are no plug-ins (event_plugin_name)\n");
}

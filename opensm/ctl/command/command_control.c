// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands about the console itself, and commands that change how the daemon works. An option is
 * changed by publishing a new object in its slot, until opensm.conf is read again; sweeps are
 * requested by events.
 */
#include "config.h"

#include <string.h>

#include "client/control.h"
#include "core/options.h"
#include "ctl/command/command_private.h"
#include "ctl/perfmgr/word.h"
#include "ctl/plan/plan.h"
#include "ctl/process/logging.h"

#define NODES_FEW 20
#define NODES_ALL 2000 /* the answer is limited */

/* Prints an answer that is only a text, which may be empty. */
void print_text(GVariant *answer, GString *out)
{
	const char *text = answer_get_text(answer, "text");

	if (*text)
		g_string_append_printf(out, "%s\n", text);
}

/* An answer without text, as in the classic daemon; only JSON shows the key. */
static GVariant *done(const char *key, const char *value)
{
	GVariantBuilder builder;

	answer_begin(&builder);
	answer_text(&builder, key, value);
	return g_variant_builder_end(&builder);
}

/* ---- the console ---- */

static void describe(GVariantBuilder *list, const struct command *command)
{
	GVariantBuilder row;

	answer_begin(&row);
	answer_text(&row, "command", command->name);
	answer_text(&row, "arguments", command->arguments);
	answer_text(&row, "help", command->help);
	answer_append(list, &row);
}

GVariant *command_help(struct command_call *call, GError **error)
{
	const struct command *one = call->n ? command_find(call->words[0], error) : NULL;
	GVariantBuilder builder, list;

	if (call->n && !one)
		return NULL;
	answer_begin(&builder);
	answer_begin_list(&list);
	for (unsigned int i = 0; i < n_commands; i++)
		if (one == &commands[i] ||
		    (!one && (call->env->sim || !(commands[i].needs & COMMAND_NEEDS_SIM))))
			describe(&list, &commands[i]);
	answer_member(&builder, "commands", &list);
	answer_flag(&builder, "all", !one);
	if (one && one->run == command_perfmgr)
		perfmgr_add_words(&builder);
	return g_variant_builder_end(&builder);
}

static void print_command(GVariant *row, GString *out)
{
	const char *arguments = answer_get_text(row, "arguments");

	g_string_append_printf(out, "%s%s%s -- %s\n", answer_get_text(row, "command"),
			       *arguments ? " " : "", arguments, answer_get_text(row, "help"));
}

void print_help(GVariant *answer, GString *out)
{
	bool all = answer_get_flag(answer, "all");

	if (all)
		g_string_append(out, "\nSupported commands and syntax:\n");
	answer_each(answer, "commands", print_command, out);
	perfmgr_print_words(answer, out);
	if (all)
		g_string_append(out,
				"'json' after a command prints its answer as JSON; commands may "
				"be abbreviated.\n");
}

GVariant *command_quit(struct command_call *call, GError **error)
{
	if (!command_no_arguments(call, error))
		return NULL;
	call->quit = true;
	return done("closed", "console");
}

GVariant *command_exit(struct command_call *call, GError **error)
{
	return command_quit(call, error);
}

GVariant *command_version(struct command_call *call, GError **error)
{
	(void)call;
	(void)error;
	return done("version", "OpenSM " PACKAGE_VERSION);
}

void print_version(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "%s\n", answer_get_text(answer, "version"));
}

/* ---- sweeps ---- */

static GVariant *ask_for_sweep(struct command_call *call, unsigned int reason, const char *what)
{
	daemon_sweep(call->env->daemon, reason);
	log_info(call->context->log, "console: asked for a %s sweep", what);
	if (atomic_load(&call->context->sweep) & SWEEP_FLAG_INHIBITED)
		return answer_of_text("Sweeps are off: it will run after 'sweep on'");
	return done("asked_for", what);
}

/* A user who asks for routes may have changed the routing files, so they are read again. */
GVariant *command_resweep(struct command_call *call, GError **error)
{
	if (call->n == 1 && !strcmp(call->words[0], "heavy")) {
		daemon_reread_routes(call->env->daemon);
		return ask_for_sweep(call, SWEEP_HEAVY, "heavy");
	}
	if (call->n == 1 && !strcmp(call->words[0], "light"))
		return ask_for_sweep(call, SWEEP_LIGHT, "light");
	return command_usage(error, "expected heavy or light");
}

GVariant *command_reroute(struct command_call *call, GError **error)
{
	if (!command_no_arguments(call, error))
		return NULL;
	daemon_reread_routes(call->env->daemon);
	return ask_for_sweep(call, SWEEP_REROUTE, "reroute");
}

GVariant *command_sweep(struct command_call *call, GError **error)
{
	bool on;

	if (!command_on_off(call, &on, error))
		return NULL;
	event_emit(&call->context->bus, EVENT_SWEEP_ALLOWED, on);
	log_sys(call->context->log, "console: sweeps are %s", on ? "on" : "off");
	return done("sweep", on ? "on" : "off");
}

GVariant *command_update_desc(struct command_call *call, GError **error)
{
	if (!command_no_arguments(call, error))
		return NULL;
	event_emit(&call->context->bus, EVENT_DESCRIPTIONS_WANTED, 0);
	return done("asked_for", "descriptions");
}

static bool start_audit(struct command_call *call, GError **error)
{
	guint64 nodes = 0;

	if (call->n > 1 || (strcmp(call->words[0], "all") != 0 &&
			    !g_ascii_string_to_unsigned(call->words[0], 10, 1, INT32_MAX, &nodes,
							NULL))) {
		command_usage(error, "expected all, or a number of nodes from 1");
		return false;
	}
	event_emit(&call->context->bus, EVENT_AUDIT_WANTED, nodes);
	return true;
}

GVariant *command_audit(struct command_call *call, GError **error)
{
	const struct counters *counters = &call->context->counters;
	GVariantBuilder builder;

	if (call->n && !start_audit(call, error))
		return NULL;
	answer_begin(&builder);
	answer_flag(&builder, "asked_for", call->n != 0);
	answer_number(&builder, "compared", counter_get(counters, audit_compared));
	answer_number(&builder, "differed", counter_get(counters, audit_differed));
	return g_variant_builder_end(&builder);
}

void print_audit(GVariant *answer, GString *out)
{
	g_string_append_printf(out,
			       "%" G_GUINT64_FORMAT " blocks and ports compared with the devices "
			       "since the start, %" G_GUINT64_FORMAT " differed%s\n",
			       answer_get_number(answer, "compared"),
			       answer_get_number(answer, "differed"),
			       answer_get_flag(answer, "asked_for")
				       ? "; more are being read now, see the log for the result"
				       : "");
}

/* ---- options ---- */

static bool set_option(struct command_call *call, enum option_id id, const char *text,
		       GError **error)
{
	struct options *old = slot_take(&call->context->options);
	struct options *new = options_copy_with(old, id, text, error);
	struct module_flags *modules;

	options_unref(old);
	if (!new)
		return false;
	modules = slot_take(&call->context->module_flags);
	logging_apply(call->context->log, new, modules);
	module_flags_unref(modules);
	log_info(call->context->log, "console: %s %s", options_name(id), text);
	slot_publish(&call->context->options, new);
	event_emit(&call->context->bus, EVENT_OPTIONS_CHANGED, 0);
	return true;
}

/* A number that the command showed or set. */
static GVariant *answer_setting(struct command_call *call, const char *key, uint64_t number)
{
	GVariantBuilder builder;

	answer_begin(&builder);
	answer_number(&builder, key, number);
	answer_flag(&builder, "set", call->n != 0);
	return g_variant_builder_end(&builder);
}

GVariant *command_loglevel(struct command_call *call, GError **error)
{
	uint64_t flags = log_flags(call->context->log);

	if (!call->n)
		return answer_setting(call, "log_flags", flags);
	if (call->n > 1 || !find_number(call->words[0], 0xFF, &flags))
		return command_usage(error, "expected a number from 0 to 0xff");
	if (!set_option(call, OPTION_log_flags, call->words[0], error))
		return NULL;
	return answer_setting(call, "log_flags", flags);
}

void print_loglevel(GVariant *answer, GString *out)
{
	bool set = answer_get_flag(answer, "set");

	g_string_append_printf(
		out, set ? "Setting log level to 0x%x\n" : "Current log level is 0x%02x\n",
		(unsigned int)answer_get_number(answer, "log_flags"));
}

static void add_module(void *arg, const char *file_c, unsigned int flags)
{
	GVariantBuilder *list = arg, row;

	answer_begin(&row);
	answer_text(&row, "file", file_c);
	answer_number(&row, "log_flags", flags);
	answer_append(list, &row);
}

GVariant *command_permodlog(struct command_call *call, GError **error)
{
	GVariantBuilder builder, list;

	if (!command_no_arguments(call, error))
		return NULL;
	answer_begin(&builder);
	answer_begin_list(&list);
	log_each_module(call->context->log, add_module, &list);
	answer_member(&builder, "modules", &list);
	return g_variant_builder_end(&builder);
}

static void print_module(GVariant *row, GString *out)
{
	g_string_append_printf(out, "%s 0x%02x\n", answer_get_text(row, "file"),
			       (unsigned int)answer_get_number(row, "log_flags"));
}

/* In the format of the file. */
void print_permodlog(GVariant *answer, GString *out)
{
	answer_each(answer, "modules", print_module, out);
}

GVariant *command_logflush(struct command_call *call, GError **error)
{
	bool on;

	if (!command_on_off(call, &on, error) ||
	    !set_option(call, OPTION_force_log_flush, on ? "TRUE" : "FALSE", error))
		return NULL;
	return done("logflush", on ? "on" : "off");
}

GVariant *command_activate(struct command_call *call, GError **error)
{
	if (!command_no_arguments(call, error))
		return NULL;
	event_emit(&call->context->bus, EVENT_ACTIVATE, 0);
	return done("asked_for", "activate");
}

GVariant *command_priority(struct command_call *call, GError **error)
{
	struct options *options = slot_take(&call->context->options);
	uint64_t priority = options->sm_priority;

	options_unref(options);
	if (!call->n)
		return answer_setting(call, "priority", priority);
	if (call->n > 1 || !find_number(call->words[0], 15, &priority))
		return command_failed(error, "Invalid sm-priority %s; must be between 0 and 15",
				      call->words[0]);
	if (!set_option(call, OPTION_sm_priority, call->words[0], error))
		return NULL;
	return answer_setting(call, "priority", priority);
}

void print_priority(GVariant *answer, GString *out)
{
	g_string_append_printf(out, "%s %" G_GUINT64_FORMAT "\n",
			       answer_get_flag(answer, "set") ? "Setting sm-priority to"
							      : "Current sm-priority is",
			       answer_get_number(answer, "priority"));
}

/* With such a value a user could change every port, or be treated as trusted. */
static bool is_secret(enum option_id id)
{
	return id == OPTION_m_key || id == OPTION_sm_key || id == OPTION_sa_key ||
	       id == OPTION_cc_key;
}

GVariant *command_dump_conf(struct command_call *call, GError **error)
{
	struct options *options;
	GVariantBuilder builder;

	if (!command_no_arguments(call, error))
		return NULL;
	options = slot_take(&call->context->options);
	answer_begin(&builder);
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		if (is_secret(id) && !call->trusted)
			answer_text(&builder, options_name(id), "(hidden)");
		else
			answer_value(&builder, options_name(id), options_value(options, id));
	}
	options_unref(options);
	return g_variant_builder_end(&builder);
}

/* As written in opensm.conf; newly allocated. */
static char *conf_text(GVariant *value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
		return g_strdup(g_variant_get_boolean(value) ? "TRUE" : "FALSE");
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_UINT64))
		return g_strdup_printf("%" G_GUINT64_FORMAT, g_variant_get_uint64(value));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_INT64))
		return g_strdup_printf("%" G_GINT64_FORMAT, g_variant_get_int64(value));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_DOUBLE))
		return g_strdup(g_ascii_dtostr(text, sizeof(text), g_variant_get_double(value)));
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
		return g_variant_dup_string(value, NULL);
	return g_strdup("(null)");
}

/* As a file that can be read; values that a file may not contain become comments. */
void print_dump_conf(GVariant *answer, GString *out)
{
	GVariantIter iter;
	const char *key;
	GVariant *value;
	unsigned int id = 0; /* it has all options, in this order */

	g_variant_iter_init(&iter, answer);
	while (g_variant_iter_next(&iter, "{&sv}", &key, &value)) {
		g_autofree char *text = conf_text(value);

		g_string_append_printf(out, "%s%s %s\n", options_in_file(id++) ? "" : "# --", key,
				       text);
		g_variant_unref(value);
	}
}

/* ---- the plan for a changed opensm.conf, made while the daemon goes on with the old one ---- */

/* Error texts may quote the file, so not every user may name one. */
static bool check_file(const struct command_call *call, const char *file, GError **error)
{
	if (!call->trusted)
		command_failed(error, "only a user that may see keys can name a file");
	else if (!g_path_is_absolute(file))
		command_usage(error, "%s: expected the absolute name of a file", file);
	else
		return true;
	return false;
}

GVariant *command_plan(struct command_call *call, GError **error)
{
	bool all = call->n && !strcmp(call->words[0], "all");
	const char *file = call->words[all];
	g_autoptr(GError) wrong = NULL;

	if (call->n > (unsigned int)all + 1)
		return command_usage(error, "'%s' is not expected", call->words[all + 1]);
	if (file && !check_file(call, file, error))
		return NULL;
	call->later = daemon_plan(call->env->daemon, file, all ? NODES_ALL : NODES_FEW, &wrong);
	if (!call->later)
		return command_failed(error, "%s", wrong->message);
	log_info(call->context->log, "console: asked for a plan");
	return NULL;
}

unsigned int command_plan_status(GVariant *answer)
{
	switch (plan_exit_code(answer)) {
	case PLAN_NOTHING:
		return CONTROL_DONE;
	case PLAN_CHANGES:
		return CONTROL_CHANGES;
	default:
		return CONTROL_FAILED;
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Turns a line into an answer. commands.def lists the commands; each is a function that answers
 * with a dictionary, so that the text for people and the JSON for programs cannot differ. A word
 * may be quoted; a name may be abbreviated as long as it is unambiguous.
 */
#include "ctl/command/command_private.h"

#include <string.h>

#include "client/control.h"
#include "ctl/perfmgr/word.h"

const struct command commands[] = {
#define COMMAND(name, arguments, needs, printer, help)                                             \
	{#name, arguments, help, COMMAND_NEEDS_##needs, command_##name, print_##printer},
#include "ctl/command/commands.def"
#undef COMMAND
};
const unsigned int n_commands = G_N_ELEMENTS(commands);

static const struct {
	const char *name, *command;
} aliases[] = {
#define ALIAS(name, command) {#name, #command},
#include "ctl/command/commands.def"
#undef ALIAS
};

bool command_describe(unsigned int number, const char **name, const char **arguments,
		      const char **help)
{
	if (number >= n_commands)
		return false;
	*name = commands[number].name;
	*arguments = commands[number].arguments;
	*help = commands[number].help;
	return true;
}

/* ---- errors ---- */

GQuark command_error_quark(void)
{
	return g_quark_from_static_string("command-error");
}

static void set_error(GError **error, enum command_error code, const char *format, va_list args)
{
	g_autofree char *text = g_strdup_vprintf(format, args);
	g_autofree char *line = answer_one_line(text);

	g_set_error_literal(error, COMMAND_ERROR, code, line);
}

GVariant *command_usage(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(error, COMMAND_ERROR_USAGE, format, args);
	va_end(args);
	return NULL;
}

GVariant *command_unknown(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(error, COMMAND_ERROR_UNKNOWN, format, args);
	va_end(args);
	return NULL;
}

GVariant *command_failed(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(error, COMMAND_ERROR_FAILED, format, args);
	va_end(args);
	return NULL;
}

bool command_on_off(const struct command_call *call, bool *on, GError **error)
{
	*on = call->n == 1 && !strcmp(call->words[0], "on");
	if (*on || (call->n == 1 && !strcmp(call->words[0], "off")))
		return true;
	command_usage(error, "expected on or off");
	return false;
}

bool command_no_arguments(const struct command_call *call, GError **error)
{
	if (call->n)
		command_usage(error, "'%s' is not expected", call->words[0]);
	return !call->n;
}

/* ---- finding it ---- */

const struct command *command_find(const char *name, GError **error)
{
	const struct command *found = NULL;
	g_autoptr(GString) fitting = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(aliases); i++)
		if (!strcmp(aliases[i].name, name))
			return command_find(aliases[i].command, error);
	for (unsigned int i = 0; i < n_commands; i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
		if (!g_str_has_prefix(commands[i].name, name))
			continue;
		g_string_append_printf(fitting, "%s%s", found ? ", " : "", commands[i].name);
		found = found ? &commands[n_commands] : &commands[i];
	}
	if (!found)
		command_unknown(error, "%s : Command not found; 'help' lists them", name);
	else if (found == &commands[n_commands])
		command_unknown(error, "%s : may be %s", name, fitting->str);
	else
		return found;
	return NULL;
}

static bool has_what_it_needs(const struct command_call *call, const struct command *command,
			      GError **error)
{
	if (command->needs & COMMAND_NEEDS_SIM && !call->env->sim)
		command_failed(error, "%s: this fabric is not a simulated one", command->name);
	else if (command->needs & COMMAND_NEEDS_SUBNET && !call->subnet)
		g_set_error_literal(error, COMMAND_ERROR,
				    atomic_load(&call->context->sm_state) == IBA_SM_MASTER
					    ? COMMAND_ERROR_NO_SUBNET
					    : COMMAND_ERROR_NOT_MASTER,
				    "no subnet yet");
	else
		return true;
	return false;
}

/* ---- running it ---- */

/* Splits at white space; a word that begins with a quote ends at the next one. No escapes. */
static char **split(const char *line)
{
	GPtrArray *words = g_ptr_array_new();

	for (;;) {
		const char *end;

		line += strspn(line, " \t");
		if (!*line)
			break;
		if (*line == '"' || *line == '\'') {
			end = strchr(line + 1, *line);
			line++;
		} else {
			end = line + strcspn(line, " \t");
		}
		if (!end)
			end = line + strlen(line);
		g_ptr_array_add(words, g_strndup(line, (gsize)(end - line)));
		line = *end ? end + 1 : end;
	}
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

/* Removes a final word "json"; true if there was one. */
static bool wants_json(char **words)
{
	unsigned int n = g_strv_length(words);

	if (n < 2 || strcmp(words[n - 1], "json") != 0)
		return false;
	g_free(words[n - 1]);
	words[n - 1] = NULL;
	return true;
}

static bool is_one_of(const char *word, const char *const *words)
{
	return word && g_strv_contains(words, word);
}

bool command_changes(const char *line)
{
	static const char *const change_words[] = {"accept", "ask",	 "change", "file",
						   "forget", "reload", "release", NULL};
	g_auto(GStrv) words = split(line);
	const struct command *command;

	if (!words[0])
		return false;
	wants_json(words);
	command = command_find(words[0], NULL);
	if (!command)
		return false;
	return command->needs & COMMAND_NEEDS_RIGHTS ||
	       (command->needs & COMMAND_NEEDS_RIGHTS_TO_SET && words[1]) ||
	       (command->needs & COMMAND_NEEDS_RIGHTS_BY_WORD &&
		(is_one_of(words[1], change_words) ||
		 (command->run == command_perfmgr && perfmgr_changes(words[1]))));
}

static char *as_text(const struct command *command, GVariant *answer)
{
	GString *out = g_string_new(NULL);

	command->print(answer, out);
	return g_string_free(out, FALSE);
}

static char *complaint(const struct command *command, const GError *error, bool json)
{
	GVariantBuilder builder;
	g_autoptr(GVariant) answer = NULL;

	if (json) {
		answer_begin(&builder);
		answer_text(&builder, "error", error->message);
		if (g_error_matches(error, COMMAND_ERROR, COMMAND_ERROR_NO_SUBNET))
			answer_text(&builder, "kind", "no subnet");
		else if (g_error_matches(error, COMMAND_ERROR, COMMAND_ERROR_NOT_MASTER))
			answer_text(&builder, "kind", "not master");
		answer = g_variant_ref_sink(g_variant_builder_end(&builder));
		return answer_json(answer);
	}
	if (command && g_error_matches(error, COMMAND_ERROR, COMMAND_ERROR_USAGE))
		return g_strdup_printf("Invalid %s command: %s\n%s %s\n", command->name,
				       error->message, command->name, command->arguments);
	return g_strdup_printf("%s\n", error->message);
}

/* A call that a pool runs. */
struct elsewhere {
	struct command_work work;
	struct command_call call; /* with words and a subnet of its own, and without env */
};

static GVariant *run_elsewhere(struct command_work *work, GError **error)
{
	struct elsewhere *elsewhere = container_of(work, struct elsewhere, work);
	GVariant *answer = elsewhere->call.command->run(&elsewhere->call, error);

	work->status = elsewhere->call.status;
	return answer;
}

static void free_elsewhere(struct command_work *work)
{
	struct elsewhere *elsewhere = container_of(work, struct elsewhere, work);

	subnet_unref((struct subnet *)elsewhere->call.subnet);
	g_strfreev(elsewhere->call.words);
	g_free(elsewhere);
}

static void post_elsewhere(struct command_call *call)
{
	struct elsewhere *elsewhere = g_new0(struct elsewhere, 1);

	elsewhere->work.run = run_elsewhere;
	elsewhere->work.free = free_elsewhere;
	elsewhere->call = *call;
	elsewhere->call.env = NULL;
	elsewhere->call.words = g_strdupv(call->words);
	elsewhere->call.subnet = subnet_ref((struct subnet *)call->subnet);
	command_work_post(call, &elsewhere->work, call->context->pool);
}

/* A session can wait for what takes long on a large subnet; other callers get it at once. */
static GVariant *run(struct command_call *call, const struct command *command, GError **error)
{
	struct subnet *subnet = slot_take(&call->context->subnet);
	bool elsewhere = call->env->wrap && command->needs & COMMAND_NEEDS_NO_OWNER;
	GVariant *answer = NULL;

	call->subnet = subnet;
	call->fabric = subnet ? subnet->fabric : NULL;
	if (has_what_it_needs(call, command, error) && !elsewhere)
		answer = command->run(call, error);
	else if (!*error)
		post_elsewhere(call);
	subnet_unref(subnet);
	return answer ? g_variant_ref_sink(answer) : NULL;
}

static enum control_status status_of(const GError *error)
{
	return error->domain == COMMAND_ERROR && error->code >= COMMAND_ERROR_FAILED
		       ? CONTROL_FAILED
		       : CONTROL_USAGE;
}

char *command_complete(const struct command *command, GVariant *result, const GError *error,
		       bool json, unsigned int *status)
{
	if (!result) {
		*status = status_of(error);
		return complaint(command, error, json);
	}
	return json ? answer_json(result) : as_text(command, result);
}

static char *run_words(const struct command_env *env, char **words, bool trusted,
		       struct command_answer *answer)
{
	struct command_call call = {.env = env, .words = words + 1, .trusted = trusted};
	bool json = wants_json(words);
	g_autoptr(GError) error = NULL;
	g_autoptr(GVariant) result = NULL;
	const struct command *command = command_find(words[0], &error);

	call.context = daemon_context(env->daemon);
	call.command = command;
	call.json = json;
	call.n = g_strv_length(call.words);
	if (command)
		result = run(&call, command, &error);
	answer->json = json;
	answer->later = call.later;
	answer->policy = call.policy;
	answer->news_ns = call.news_ns;
	answer->settle_ns = call.settle_ns;
	answer->work = call.work;
	answer->again = call.again;
	if (call.later)
		return g_strdup("");
	answer->quit = call.quit;
	answer->loop = call.loop;
	answer->failed = !result;
	answer->status = call.status;
	return command_complete(command, result, error, json, &answer->status);
}

void command_answer_work(struct command_work *work, struct command_answer *answer)
{
	g_autoptr(GError) unfinished = NULL;

	answer->later = false;
	answer->file = -1;
	answer->wrapped = NULL;
	if (command_work_is_done(work) && work->text) {
		answer->failed = work->failed;
		answer->status = work->status;
		answer->text = g_steal_pointer(&work->text);
		answer->wrapped = g_steal_pointer(&work->wrapped);
		answer->file = work->file;
		work->file = -1;
	} else {
		command_failed(&unfinished, "files are still being read, or cannot be read now");
		answer->failed = true;
		answer->text = command_complete(work->command, NULL, unfinished, answer->json,
						&answer->status);
	}
	command_work_drop(work);
}

void command_answer_plan(GVariant *plan, struct command_answer *answer)
{
	answer->later = false;
	answer->status = command_plan_status(plan);
	answer->text = answer->json ? answer_json(plan) : as_text(command_find("plan", NULL), plan);
}

bool command_policy_is_there(const struct command_env *env, uint64_t serial, uint64_t settle_ns,
			     uint64_t waited_ns)
{
	switch (daemon_partitions_progress(env->daemon, serial)) {
	case PARTITION_TAKEN:
		return false;
	case PARTITION_KEPT:
		return waited_ns >= settle_ns;
	case PARTITION_HELD:
		return settle_ns != COMMAND_SETTLE_NS;
	case PARTITION_SETTLED:
		break;
	}
	return true;
}

void command_answer_policy(const struct command_env *env, uint64_t serial,
			   struct command_answer *answer)
{
	g_autoptr(GVariant) result = g_variant_ref_sink(command_policy_answer(env, serial));

	answer->later = false;
	answer->status = answer_get_flag(result, "kept") && (answer_get_flag(result, "in_effect") ||
							     answer->settle_ns != COMMAND_SETTLE_NS)
				 ? CONTROL_DONE
				 : CONTROL_FAILED;
	answer->text = answer->json ? answer_json(result)
				    : as_text(command_find("partitions", NULL), result);
}

/* What is wrong with the form of a line, or NULL. */
static const char *line_mistake(const char *line)
{
	if (strlen(line) > COMMAND_MAX_LINE)
		return COMMAND_TOO_LONG;
	if (!g_utf8_validate(line, -1, NULL))
		return "The line is not text\n";
	for (const char *c = line; *c; c++)
		if (g_ascii_iscntrl(*c) && *c != '\t')
			return "The line has control characters\n";
	return NULL;
}

void command_run(const struct command_env *env, const char *line, bool trusted,
		 struct command_answer *answer)
{
	const char *mistake = line_mistake(line);
	g_auto(GStrv) words = NULL;

	*answer = (struct command_answer){
		.failed = mistake != NULL,
		.status = mistake ? CONTROL_USAGE : CONTROL_DONE,
	};
	if (mistake) {
		answer->text = g_strdup(mistake);
		return;
	}
	words = split(line);
	answer->text = words[0] ? run_words(env, words, trusted, answer) : g_strdup("");
}

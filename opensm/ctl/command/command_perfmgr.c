// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command of the performance manager, whose words are in ctl/perfmgr/. */
#include "core/options.h"
#include "ctl/command/command_private.h"
#include "client/control.h"
#include "ctl/perfmgr/word.h"

/* What a word works on; it may outlive the command. */
struct question {
	struct command_work work;
	struct perfmgr_call call;
	struct perf_images *images;
	struct options *options;
	struct perf_rules *rules;
	char **words; /* with the one that names it */
};

static GVariant *fail(GError **error, const GError *why)
{
	if (why->code == PERFMGR_ERROR_USAGE)
		return command_usage(error, "%s", why->message);
	if (why->code == PERFMGR_ERROR_UNKNOWN)
		return command_unknown(error, "%s", why->message);
	return command_failed(error, "%s", why->message);
}

static struct question *question_new(const struct command_call *call)
{
	struct question *question = g_new0(struct question, 1);

	question->images = slot_take(&call->context->perf_images);
	question->options = slot_take(&call->context->options);
	question->rules = slot_take(&call->context->perf_rules);
	question->words = g_strdupv(call->words);
	question->call = (struct perfmgr_call){
		.context = call->context,
		.perf = daemon_perf(call->env->daemon),
		.options = question->options,
		.rules = question->rules,
		.images = question->images,
		.image = perf_images_last(question->images),
	};
	return question;
}

static void question_free(struct question *question)
{
	perf_images_unref(question->images);
	options_unref(question->options);
	perf_rules_unref(question->rules);
	g_strfreev(question->words);
	g_free(question);
}

/* NULL without an error: it needs files. */
static GVariant *ask(struct question *question, GError **error)
{
	unsigned int n = g_strv_length(question->words);
	g_autoptr(GError) why = NULL;
	GVariant *answer;

	question->call.words = question->words + (n ? 1 : 0);
	question->call.n = n ? n - 1 : 0;
	answer = perfmgr_run(&question->call, question->words[0], &why);
	return answer || !why ? answer : fail(error, why);
}

static GVariant *ask_with_files(struct command_work *work, GError **error)
{
	struct question *question = container_of(work, struct question, work);

	question->call.needs_files = false;
	question->call.may_read = true;
	question->call.stop = command_work_is_stopped;
	question->call.arg = work;
	return ask(question, error);
}

static void free_work(struct command_work *work)
{
	question_free(container_of(work, struct question, work));
}

GVariant *command_perfmgr(struct command_call *call, GError **error)
{
	struct question *question = question_new(call);
	GVariant *answer = ask(question, error);

	if (question->call.failed)
		call->status = CONTROL_FAILED;
	if (question->call.needs_files) {
		question->work.run = ask_with_files;
		question->work.free = free_work;
		command_work_post(call, &question->work, call->context->files);
	} else {
		question_free(question);
	}
	return answer;
}

void print_perfmgr(GVariant *answer, GString *out)
{
	perfmgr_print(answer, out);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command about congestion control, whose answers are made in ctl/cc/. */
#include <string.h>

#include "cc/cc.h"
#include "core/options.h"
#include "ctl/cc/cc_view.h"
#include "ctl/command/command_private.h"
#include "ctl/perfmgr/figures.h"

#define LOG_LINES 20
#define WINDOW_NS (3600 * NS_PER_S)

/* What a word works on; it may outlive the command. */
struct question {
	struct command_work work;
	struct cc_view view;
	struct perfmgr_call counters;
	struct perf_images *images;
	struct subnet *subnet;
	uint64_t window_ns;
	struct cc_wish wish;
	/* Of a word that another thread may answer; and the threads that have to. */
	GVariant *(*make)(struct question *question, GError **error);
	struct pool *pool;
};

static struct question *question_new(const struct command_call *call)
{
	struct question *question = g_new0(struct question, 1);

	question->images = slot_take(&call->context->perf_images);
	question->subnet = call->subnet ? subnet_ref((struct subnet *)call->subnet) : NULL;
	question->view = (struct cc_view){
		.options = slot_take(&call->context->options),
		.report = slot_take(&call->context->cc),
		.fabric = call->fabric,
	};
	question->counters = (struct perfmgr_call){
		.context = call->context,
		.perf = daemon_perf(call->env->daemon),
		.images = question->images,
		.image = perf_images_last(question->images),
	};
	return question;
}

static void question_free(struct question *question)
{
	cc_report_unref((struct cc_report *)question->view.report);
	options_unref((struct options *)question->view.options);
	perf_images_unref(question->images);
	subnet_unref(question->subnet);
	g_free(question);
}

/* ---- words ---- */

typedef GVariant *word_fn(struct command_call *call, struct question *question, GError **error);

static void begin(GVariantBuilder *answer, const char *word)
{
	answer_begin(answer);
	answer_text(answer, "word", word);
}

static GVariant *state(struct command_call *call, struct question *question, GError **error)
{
	GVariantBuilder answer;

	(void)call;
	(void)error;
	begin(&answer, "state");
	cc_view_state(&question->view, &answer);
	return g_variant_builder_end(&answer);
}

/* A word other than a state names a node. */
static bool take_wish(const struct command_call *call, struct cc_wish *wish, GError **error)
{
	uint64_t num;
	uint16_t lid;
	uint32_t port;

	if (call->n > 1)
		wish->state = cc_state_find(call->words[1]);
	wish->any_state = call->n < 2 || wish->state == CC_STATES;
	wish->any_port = call->n < 3;
	if (call->n < 2 || (call->n == 2 && !wish->any_state))
		return true;
	if (call->n > 2 && !find_number(call->words[2], IBA_SWITCH_MAX_PORT, &num)) {
		command_usage(error, "'%s' is not a port number", call->words[2]);
		return false;
	}
	if (!call->fabric) {
		command_failed(error, "no subnet yet");
		return false;
	}
	port = find_endport(call->fabric, call->words[1], &lid, error);
	if (port == FABRIC_NONE)
		return false;
	wish->node_guid = call->fabric->nodes[call->fabric->ports[port].node].guid;
	wish->port = call->n > 2 ? (uint8_t)num : 0;
	wish->any_state = wish->fields = true;
	return true;
}

static GVariant *make_ports(struct question *question, GError **error)
{
	GVariantBuilder answer;

	begin(&answer, "ports");
	answer_flag(&answer, "fields", question->wish.fields);
	if (cc_view_ports(&question->view, &question->wish, &answer) || !question->wish.node_guid)
		return g_variant_builder_end(&answer);
	g_variant_builder_clear(&answer);
	return command_failed(error, "congestion control knows no such port");
}

/* There may be many: a session waits for another thread, other callers get them at once. */
static GVariant *ports(struct command_call *call, struct question *question, GError **error)
{
	if (!take_wish(call, &question->wish, error))
		return NULL;
	question->make = make_ports;
	if (!call->env->wrap)
		return make_ports(question, error);
	question->pool = call->context->pool;
	return NULL;
}

static GVariant *values(struct command_call *call, struct question *question, GError **error)
{
	GVariantBuilder answer;

	(void)call;
	(void)error;
	begin(&answer, "values");
	cc_view_values(&question->view, &answer);
	return g_variant_builder_end(&answer);
}

static GVariant *events(struct command_call *call, struct question *question, GError **error)
{
	uint64_t n = LOG_LINES;
	GVariantBuilder answer;

	if (call->n > 1 && (!find_number(call->words[1], UINT32_MAX, &n) || !n))
		return command_usage(error, "'%s' is not a number of events", call->words[1]);
	begin(&answer, "log");
	cc_view_log(&question->view, (unsigned int)n, &answer);
	return g_variant_builder_end(&answer);
}

/* NULL without an error: it needs files. */
static GVariant *make_effect(struct question *question, GError **error)
{
	GVariantBuilder answer;

	(void)error;
	begin(&answer, "effect");
	if (cc_view_effect(&question->view, &question->counters, question->window_ns, &answer))
		return g_variant_builder_end(&answer);
	g_variant_builder_clear(&answer);
	return NULL;
}

static GVariant *effect(struct command_call *call, struct question *question, GError **error)
{
	GVariant *answer;

	question->window_ns = WINDOW_NS;
	if (call->n > 1 && !figures_window(call->words[1], &question->window_ns))
		return command_usage(error, "'%s': expected a time such as 90s, 5m, 6h or 2d",
				     call->words[1]);
	question->make = make_effect;
	answer = make_effect(question, error);
	if (question->counters.needs_files)
		question->pool = call->context->files;
	return answer;
}

static GVariant *ask(struct command_call *call, struct question *question, GError **error)
{
	GVariantBuilder answer;
	const char *text = "all ports will be asked again";

	if (atomic_load(&call->context->sm_state) != IBA_SM_MASTER)
		return command_failed(error, "this SM is not MASTER, so it asks no port");
	if (!question->view.options->congestion_control && !question->view.report)
		return command_failed(error, "congestion control is off");
	cc_ask_again(daemon_cc(call->env->daemon));
	begin(&answer, "ask");
	answer_text(&answer, "text", text);
	return g_variant_builder_end(&answer);
}

static const struct word {
	const char *name;
	unsigned int most; /* words, itself included */
	word_fn *run;
	void (*print)(GVariant *answer, GString *out);
} words[] = {
	{"state", 0, state, cc_print_state},	{"ports", 3, ports, cc_print_ports},
	{"values", 1, values, cc_print_values}, {"log", 2, events, cc_print_log},
	{"effect", 2, effect, cc_print_effect}, {"ask", 1, ask, print_text},
};

static const struct word *find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

/* ---- by another thread ---- */

static GVariant *run_work(struct command_work *work, GError **error)
{
	struct question *question = container_of(work, struct question, work);

	question->counters.needs_files = false;
	question->counters.may_read = true;
	question->counters.stop = command_work_is_stopped;
	question->counters.arg = work;
	return question->make(question, error);
}

static void free_work(struct command_work *work)
{
	question_free(container_of(work, struct question, work));
}

/* ---- the command ---- */

GVariant *command_cc(struct command_call *call, GError **error)
{
	const struct word *word = call->n ? find(call->words[0]) : &words[0];
	struct question *question;
	GVariant *answer;

	if (!word || (call->n && !word->most))
		return command_usage(error,
				     "'%s': expected ports, values, log, effect, ask or nothing",
				     call->words[0]);
	if (call->n > MAX(word->most, 1))
		return command_usage(error, "'%s' is not expected", call->words[word->most]);
	question = question_new(call);
	answer = word->run(call, question, error);
	if (question->pool) {
		question->work.run = run_work;
		question->work.free = free_work;
		command_work_post(call, &question->work, question->pool);
	} else {
		question_free(question);
	}
	return answer;
}

void print_cc(GVariant *answer, GString *out)
{
	find(answer_get_text(answer, "word"))->print(answer, out);
}

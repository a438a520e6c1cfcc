// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* memfd_create() */
#include "ctl/plugin/requests.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/control.h"
#include "ctl/plugin/snapshot.h"
#include "ctl/report/journal.h"
#include "iba/iba.h"
#include "mad/ask.h"
#include "opensm/plugin.h"

#define SWEEP_EVERY_NS NS_PER_S
#define LOOK_NS (10 * NS_PER_MS) /* for what comes without a message */
#define AGAIN_NS (2 * NS_PER_S)	 /* for what a command lacks, and has asked for */
#define COMMAND_NS (60 * NS_PER_S)
#define RETRIES_MAX 15
#define TIMEOUT_MAX_MS 60000

struct requests {
	struct requests_config config;
	struct command_env env;
	struct context *context;
	struct actor *actor;
	unsigned int waiting; /* for an answer */
	uint64_t total;
	GList *jobs; /* struct job */

	/* Commands: the first one runs. */
	GQueue lines; /* struct line */
	struct timer tick;
	uint64_t began_ns, policy, settle_ns, news_ns;
	struct command_work *work;
	struct journal_waiter news;
	bool runs, waits_for_plan, json;

	GQueue sweeps; /* struct sweep */
	struct timer sweep_timer;
	uint64_t swept_ns; /* 0: not yet */
};

struct line {
	uint64_t id;
	char text[];
};

struct sweep {
	uint64_t id;
	uint32_t kind;
};

/* What other threads work at; requests is NULL if they have been freed meanwhile. */
struct job {
	struct requests *requests;
	uint64_t id;
};

static void job_begin(struct job *job, struct requests *requests, uint64_t id)
{
	job->requests = requests;
	job->id = id;
	requests->jobs = g_list_prepend(requests->jobs, job);
}

static void job_end(struct job *job)
{
	if (job->requests)
		job->requests->jobs = g_list_remove(job->requests->jobs, job);
}

static void answer(struct requests *requests, uint64_t id, enum osm_result result,
		   const void *octets, size_t length, int file)
{
	const struct link_head head = {
		.type = LINK_ANSWER, .value = result, .id = id, .length = (uint32_t)length};

	requests->waiting--;
	requests->config.answer(requests->config.arg, &head, octets, file);
}

/* ---- texts ---- */

static int file_of(const char *text, size_t length)
{
	int file = memfd_create("opensm answer", MFD_CLOEXEC);

	for (size_t n = 0; file >= 0 && n < length;) {
		ssize_t written = write(file, text + n, length - n);

		if (written > 0) {
			n += (size_t)written;
		} else {
			close(file);
			file = -1;
		}
	}
	return file;
}

static void answer_text(struct requests *requests, uint64_t id, enum osm_result result,
			const char *text)
{
	size_t length = strlen(text);
	int file = length > LINK_MESSAGE_MAX ? file_of(text, length) : -1;

	if (file >= 0)
		length = 0;
	if (length > LINK_MESSAGE_MAX)
		answer(requests, id, OSM_FAILED, NULL, 0, -1);
	else
		answer(requests, id, result, text, length, file);
}

/* ---- commands ---- */

static enum osm_result result_of(unsigned int status)
{
	/* Of health: there is an answer, whatever it says. */
	if (status == CONTROL_DONE || status >= CONTROL_NO_SM)
		return OSM_OK;
	return status == CONTROL_USAGE ? OSM_USAGE : OSM_FAILED;
}

static void forget_wait(struct requests *requests)
{
	timer_stop(&requests->tick);
	journal_unwait(requests->env.journal, &requests->news);
	if (requests->waits_for_plan)
		daemon_plan_listen(requests->env.daemon, NULL, NULL);
	requests->waits_for_plan = false;
	requests->policy = 0;
	command_work_drop(g_steal_pointer(&requests->work));
}

/* The command that runs is answered: the next one begins soon. */
static void finish_line(struct requests *requests, const struct command_answer *got)
{
	g_autofree struct line *line = g_queue_pop_head(&requests->lines);

	forget_wait(requests);
	requests->runs = false;
	answer_text(requests, line->id, result_of(got->status),
		    got->wrapped ? got->wrapped->str : got->text);
	if (got->wrapped)
		g_string_free(got->wrapped, TRUE);
	g_free(got->text);
	if (!g_queue_is_empty(&requests->lines))
		timer_start(&requests->tick, 0);
}

static void on_plan(void *arg, GVariant *plan)
{
	struct requests *requests = arg;
	struct command_answer got = {.json = requests->json, .file = -1};

	requests->waits_for_plan = false;
	command_answer_plan(plan, &got);
	finish_line(requests, &got);
}

/* What the command waits for may be there, or has taken too long. */
static void look(struct requests *requests)
{
	uint64_t waited = actor_now(requests->actor) - requests->began_ns;
	bool done = requests->work ? command_work_is_done(requests->work)
				   : command_policy_is_there(&requests->env, requests->policy,
							     requests->settle_ns, waited);
	struct command_answer got = {.json = requests->json, .file = -1};

	if (!done && waited < COMMAND_NS) {
		timer_start(&requests->tick, requests->work ? COMMAND_NS - waited : LOOK_NS);
		return;
	}
	if (requests->work)
		command_answer_work(g_steal_pointer(&requests->work), &got);
	else
		command_answer_policy(&requests->env, requests->policy, &got);
	if (got.file >= 0)
		close(got.file);
	finish_line(requests, &got);
}

static void on_work(void *arg)
{
	look(arg);
}

static void wait_for(struct requests *requests, const struct command_answer *got)
{
	uint64_t waited = actor_now(requests->actor) - requests->began_ns;

	requests->json = got->json;
	requests->policy = got->policy;
	requests->settle_ns = got->settle_ns;
	requests->work = got->work;
	if (got->work) {
		command_work_listen(got->work, on_work, requests);
		timer_start(&requests->tick, COMMAND_NS);
	} else if (got->policy) {
		timer_start(&requests->tick, LOOK_NS);
	} else if (got->news_ns) {
		requests->news_ns = got->news_ns;
		timer_start(&requests->tick, got->news_ns - MIN(waited, got->news_ns));
		journal_wait(requests->env.journal, &requests->news);
	} else {
		requests->waits_for_plan = true;
		daemon_plan_listen(requests->env.daemon, on_plan, requests);
	}
}

static void run_line(struct requests *requests)
{
	const struct line *line = g_queue_peek_head(&requests->lines);
	uint64_t waited = actor_now(requests->actor) - requests->began_ns;
	struct command_env env = requests->env;
	struct command_answer got;

	env.waited = requests->news_ns && waited >= requests->news_ns;
	command_run(&env, line->text, true, &got);
	if (got.later) {
		g_free(got.text);
		wait_for(requests, &got);
	} else if (got.again && waited < AGAIN_NS) {
		g_free(got.text);
		timer_start(&requests->tick, LOOK_NS);
	} else {
		got.wrapped = NULL;
		finish_line(requests, &got);
	}
}

static void on_news(void *arg)
{
	run_line(arg);
}

static void run_lines(struct requests *requests)
{
	if (requests->runs || g_queue_is_empty(&requests->lines))
		return;
	requests->runs = true;
	requests->news_ns = 0;
	requests->began_ns = actor_now(requests->actor);
	run_line(requests);
}

static void on_tick(struct timer *timer)
{
	struct requests *requests = container_of(timer, struct requests, tick);

	if (!requests->runs) {
		run_lines(requests);
	} else if (requests->work || requests->policy) {
		look(requests);
	} else {
		journal_unwait(requests->env.journal, &requests->news);
		run_line(requests);
	}
}

/* As opensmctl takes it: "status --json" is "status json" of the console. */
static void take_command(struct requests *requests, uint64_t id, char *text)
{
	size_t length = strlen(text);
	struct line *line;

	if (g_str_has_suffix(text, " --json"))
		memmove(text + length - 6, "json", 5);
	line = g_malloc(sizeof(*line) + length + 1);
	line->id = id;
	memcpy(line->text, text, length + 1);
	g_queue_push_tail(&requests->lines, line);
	run_lines(requests);
}

/* ---- options ---- */

static void take_option(struct requests *requests, uint64_t id, const char *name)
{
	struct options *options = slot_take(&requests->context->options);
	g_autofree char *text = NULL;

	for (unsigned int option = 0; option < OPTION_COUNT && !text; option++)
		if (options_in_file(option) && !strcmp(options_name(option), name))
			text = options_text(options, option);
	if (text)
		answer_text(requests, id, OSM_OK, text);
	else
		answer_text(requests, id, OSM_USAGE, "unknown option");
	options_unref(options);
}

/* ---- sweeps ---- */

static void ask_for_sweep(struct requests *requests, uint32_t kind)
{
	static const unsigned int reasons[] = {
		[OSM_SWEEP_LIGHT] = SWEEP_LIGHT,
		[OSM_SWEEP_HEAVY] = SWEEP_HEAVY,
		[OSM_SWEEP_REROUTE] = SWEEP_REROUTE,
	};

	if (kind != OSM_SWEEP_LIGHT)
		daemon_reread_routes(requests->env.daemon);
	daemon_sweep(requests->env.daemon, reasons[kind]);
}

static void next_sweep(struct requests *requests)
{
	uint64_t now = actor_now(requests->actor);
	g_autofree struct sweep *sweep = NULL;

	if (timer_running(&requests->sweep_timer) || g_queue_is_empty(&requests->sweeps))
		return;
	if (requests->swept_ns && now - requests->swept_ns < SWEEP_EVERY_NS) {
		timer_start(&requests->sweep_timer, requests->swept_ns + SWEEP_EVERY_NS - now);
		return;
	}
	sweep = g_queue_pop_head(&requests->sweeps);
	requests->swept_ns = now;
	ask_for_sweep(requests, sweep->kind);
	answer(requests, sweep->id, OSM_OK, NULL, 0, -1);
	if (!g_queue_is_empty(&requests->sweeps))
		timer_start(&requests->sweep_timer, SWEEP_EVERY_NS);
}

static void on_sweep_timer(struct timer *timer)
{
	next_sweep(container_of(timer, struct requests, sweep_timer));
}

static void take_sweep(struct requests *requests, uint64_t id, uint32_t kind)
{
	struct sweep *sweep;

	if (kind > OSM_SWEEP_REROUTE) {
		answer(requests, id, OSM_USAGE, NULL, 0, -1);
		return;
	}
	sweep = g_new(struct sweep, 1);
	*sweep = (struct sweep){id, kind};
	g_queue_push_tail(&requests->sweeps, sweep);
	next_sweep(requests);
}

/* ---- snapshots ---- */

struct snapshot_job {
	struct message message; /* first */
	struct job job;
	struct actor *actor;
	struct snapshot_store *store;
	struct snapshot_source source;
	uint32_t parts;
	enum osm_result result;
	int file;
};

static void drop_snapshot(struct message *message)
{
	struct snapshot_job *job = (struct snapshot_job *)message;

	if (job->file >= 0)
		close(job->file);
	snapshot_source_clear(&job->source);
	snapshot_store_unref(job->store);
	g_free(job);
}

static void on_snapshot_made(struct message *message)
{
	struct snapshot_job *job = (struct snapshot_job *)message;

	job_end(&job->job);
	if (job->job.requests)
		answer(job->job.requests, job->job.id, job->result, NULL, 0, job->file);
	else if (job->file >= 0)
		close(job->file);
	job->file = -1;
	drop_snapshot(message);
}

/* In the pool. */
static void make_snapshot(struct message *message)
{
	struct snapshot_job *job = (struct snapshot_job *)message;
	g_autoptr(GError) error = NULL;

	job->file = snapshot_store_get(job->store, &job->source, job->parts, &error);
	if (job->file < 0)
		job->result = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_INITIALIZED)
				      ? OSM_NOT_YET
				      : OSM_FAILED;
	snapshot_source_clear(&job->source);
	job->message = (struct message){.run = on_snapshot_made, .drop = drop_snapshot};
	actor_post(job->actor, &job->message);
}

static void take_snapshot(struct requests *requests, uint64_t id, uint32_t parts)
{
	struct snapshot_job *job = g_new0(struct snapshot_job, 1);

	job_begin(&job->job, requests, id);
	job->message = (struct message){.run = make_snapshot, .drop = drop_snapshot};
	job->actor = requests->actor;
	job->store = snapshot_store_ref(requests->config.snapshots);
	snapshot_source_take(requests->context, &job->source);
	job->parts = parts;
	job->file = -1;
	pool_post(requests->context->slow, &job->message);
}

/* ---- MADs ---- */

/* Several MADs of one request, each with a result of its own. */
struct batch {
	struct job job; /* first */
	unsigned int n, left;
	struct osm_mad mads[LINK_MADS];
};

struct one {
	struct mad_ask ask; /* first */
	struct batch *batch;
	unsigned int number;
};

static bool end_one(struct one *one)
{
	struct batch *batch = one->batch;

	g_free(one);
	return --batch->left == 0;
}

static void drop_one(struct message *message)
{
	struct one *one = container_of(message, struct one, ask.message);
	struct batch *batch = one->batch;

	if (end_one(one))
		g_free(batch);
}

static void finish_batch(struct batch *batch)
{
	job_end(&batch->job);
	if (batch->job.requests)
		answer(batch->job.requests, batch->job.id, OSM_OK, batch->mads,
		       batch->n * sizeof(batch->mads[0]), -1);
	g_free(batch);
}

static void on_mad(struct mad_ask *ask)
{
	static const enum osm_result results[] = {
		[MAD_OK] = OSM_OK,
		[MAD_STATUS] = OSM_OK,
		[MAD_TIMEOUT] = OSM_TIMEOUT,
		[MAD_CANCELLED] = OSM_OVER,
	};
	struct one *one = container_of(ask, struct one, ask);
	struct batch *batch = one->batch;
	struct osm_mad *mad = &batch->mads[one->number];

	mad->result = results[ask->result];
	mad->status = ask->status;
	mad->length = ask->length;
	if (mad->result == OSM_OK)
		memcpy(mad->data, ask->data, sizeof(mad->data));
	if (end_one(one))
		finish_batch(batch);
}

/* Those of the SM and the SA are the daemon's own; responses answer nothing. */
static bool may_send(const struct osm_mad *mad)
{
	return mad->mgmt_class != IBA_CLASS_SUBN_LID &&
	       mad->mgmt_class != IBA_CLASS_SUBN_DIRECTED &&
	       mad->mgmt_class != IBA_CLASS_SUBN_ADM && !(mad->method & 0x80) && mad->lid >= 1 &&
	       mad->lid <= IBA_LID_UCAST_LAST;
}

static void send_mad(struct requests *requests, struct batch *batch, unsigned int number,
		     uint8_t sl)
{
	const struct osm_mad *mad = &batch->mads[number];
	struct one *one = g_new0(struct one, 1);

	one->batch = batch;
	one->number = number;
	one->ask.message.drop = drop_one;
	one->ask.to = (struct vendor_address){
		.lid = mad->lid, .sl = sl, .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	one->ask.mgmt_class = mad->mgmt_class;
	one->ask.class_version = mad->class_version;
	one->ask.method = mad->method;
	one->ask.attribute = mad->attribute;
	one->ask.modifier = mad->modifier;
	memcpy(one->ask.data, mad->data, sizeof(one->ask.data));
	one->ask.retries = MIN(mad->retries, RETRIES_MAX);
	one->ask.timeout_ms = MIN(mad->timeout_ms, TIMEOUT_MAX_MS);
	one->ask.client = requests;
	one->ask.serial = actor_now(requests->actor);
	one->ask.owner = requests->actor;
	one->ask.done = on_mad;
	mad_ask(requests->config.mad, &one->ask);
}

static void take_mads(struct requests *requests, uint64_t id, const void *octets, uint32_t length)
{
	struct options *options = slot_take(&requests->context->options);
	struct batch *batch = g_new0(struct batch, 1);

	job_begin(&batch->job, requests, id);
	batch->n = length / (uint32_t)sizeof(batch->mads[0]);
	memcpy(batch->mads, octets, batch->n * sizeof(batch->mads[0]));
	batch->left = 1;
	for (unsigned int i = 0; i < batch->n; i++) {
		batch->mads[i].result = OSM_REFUSED;
		if (!may_send(&batch->mads[i]))
			continue;
		batch->left++;
		send_mad(requests, batch, i, options->sm_sl);
	}
	options_unref(options);
	if (!--batch->left)
		finish_batch(batch);
}

/* ---- the interface ---- */

static bool has_right_length(const struct link_head *head)
{
	switch (head->value) {
	case LINK_SNAPSHOT:
	case LINK_SWEEP:
		return head->length == sizeof(uint32_t);
	case LINK_COMMAND:
	case LINK_OPTION:
		return true;
	case LINK_MAD:
		return head->length % sizeof(struct osm_mad) == 0 &&
		       head->length / sizeof(struct osm_mad) <= LINK_MADS;
	default:
		return false;
	}
}

static void take_text(struct requests *requests, const struct link_head *head, const char *octets)
{
	g_autofree char *text = g_strndup(octets, head->length);

	if (!g_utf8_validate(text, -1, NULL) || strpbrk(text, "\n\r"))
		answer_text(requests, head->id, OSM_USAGE, "expected a line of text in UTF-8\n");
	else if (head->value == LINK_COMMAND)
		take_command(requests, head->id, text);
	else
		take_option(requests, head->id, text);
}

bool requests_take(struct requests *requests, const struct link_head *head, const void *octets)
{
	uint32_t number = 0;

	if (!has_right_length(head) || requests->waiting == LINK_REQUESTS)
		return false;
	requests->waiting++;
	requests->total++;
	if (head->length == sizeof(number))
		memcpy(&number, octets, sizeof(number));
	switch (head->value) {
	case LINK_SNAPSHOT:
		take_snapshot(requests, head->id, number);
		break;
	case LINK_SWEEP:
		take_sweep(requests, head->id, number);
		break;
	case LINK_MAD:
		take_mads(requests, head->id, octets, head->length);
		break;
	default:
		take_text(requests, head, octets);
		break;
	}
	return true;
}

unsigned int requests_waiting(const struct requests *requests)
{
	return requests->waiting;
}

uint64_t requests_total(const struct requests *requests)
{
	return requests->total;
}

/* The answer is sent whole, whatever its length; see answer_text(). */
static void keep_text(GString *text, unsigned int status, bool file)
{
	(void)text;
	(void)status;
	(void)file;
}

struct requests *requests_new(const struct requests_config *config)
{
	struct requests *requests = g_new0(struct requests, 1);

	requests->config = *config;
	requests->env = *config->env;
	requests->env.wrap = keep_text;
	requests->context = daemon_context(requests->env.daemon);
	requests->actor = daemon_actor(requests->env.daemon);
	g_queue_init(&requests->lines);
	g_queue_init(&requests->sweeps);
	requests->news = (struct journal_waiter){.news = on_news, .arg = requests};
	timer_init(&requests->tick, requests->actor, on_tick);
	timer_init(&requests->sweep_timer, requests->actor, on_sweep_timer);
	return requests;
}

void requests_free(struct requests *requests)
{
	if (!requests)
		return;
	forget_wait(requests);
	timer_stop(&requests->sweep_timer);
	mad_ask_cancel(requests->config.mad, requests, actor_now(requests->actor));
	for (GList *at = requests->jobs; at; at = at->next)
		((struct job *)at->data)->requests = NULL;
	g_list_free(requests->jobs);
	g_queue_clear_full(&requests->lines, g_free);
	g_queue_clear_full(&requests->sweeps, g_free);
	g_free(requests);
}

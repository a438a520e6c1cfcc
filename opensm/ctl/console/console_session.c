// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A session reads lines, runs them and writes their answers. It takes the next byte of input only
 * when all output has been sent, so that a client that does not read delays only itself and needs
 * no more memory than one answer. A session is closed if its user is silent for long, does not take
 * the output, or does not know the key, and, when seats are scarce, if it is idle. Streams are used
 * without blocking, from sources of the loop; the actor's timers detect what takes too long.
 */
#include "ctl/console/console_session.h"

#include <gio/gunixfdmessage.h>
#include <string.h>
#include <unistd.h>

#include "ctl/base/lines.h"
#include "ctl/console/console_key.h"
#include "client/control.h"
#include "client/source.h"
#include "ctl/report/journal.h"

#define PROMPT "OpenSM $ "
#define CHUNK 4096
#define TURN (256u << 10)      /* octets sent before others get their turn */
#define STRANGER_MAX_LINE 4096 /* octets, before the key is sent */
#define MAX_ANSWER (32u << 20) /* octets; the rest of an answer is discarded */
#define KEY_NS (15 * NS_PER_S) /* to send the key */
#define KEY_TRIES 3
#define PENALTY_NS NS_PER_S /* after a wrong key */
#define IDLE_NS (1800 * NS_PER_S)
#define STUCK_NS (60 * NS_PER_S) /* without any output taken */
#define LOOP_NS NS_PER_S
#define LOOK_NS (10 * NS_PER_MS)
#define LOOK_POLICY_NS (2 * NS_PER_MS) /* a disk and a standby take about as long */
#define POLICY_PATIENCE_NS (20 * NS_PER_S)
#define AGAIN_PATIENCE_NS (2 * NS_PER_S)
#define WORK_PATIENCE_NS (60 * NS_PER_S)

struct session {
	struct session_config config;
	struct lines lines;
	uint8_t input[CHUNK];
	gsize n_input, used; /* octets of input received, and processed */
	bool input_ended;
	GString *out;
	gsize written; /* octets of out */
	GSource *reader, *writer;
	struct timer limit; /* for the user's next action */
	struct timer tick;  /* end of a penalty, next round of a loop, or next check */
	uint64_t spoke_ns;  /* when the user last typed something, or connected */
	bool open, closing;
	bool spoken;  /* the first line has arrived */
	bool program; /* the client is a program: answers are records (control.h) */
	bool penalty;
	unsigned int tries;
	char *trouble;			       /* write error */
	void (*work)(struct session *session); /* continues after a wait */
	char *loop;			       /* the line that is run repeatedly, or NULL */
	bool waits;			       /* for an answer: meanwhile no input is taken */
	bool json;			       /* the answer is wanted as JSON */
	uint64_t policy;	  /* serial of the policy that is waited for; 0: of none */
	uint64_t settle_ns;	  /* how long its sweep is waited for */
	struct command_work *job; /* that is waited for, or NULL */
	uint64_t until_ns;	  /* end of that wait */
	char *again;		  /* the line that is run again soon, or NULL */
	struct journal_waiter news; /* in use: for that line */
	int file;		  /* goes with the next octet; -1: none */
};

static uint64_t now(const struct session *session)
{
	return actor_now(daemon_actor(session->config.env->daemon));
}

/* ---- output ---- */

static void say(struct session *session, const char *text)
{
	g_string_append(session->out, text);
	if (session->out->len > MAX_ANSWER) {
		g_string_truncate(session->out, MAX_ANSWER);
		g_string_append(session->out, "\nThe answer is too long\n");
	}
}

/* Sends an answer, and the prompt after it. */
static void reply(struct session *session, unsigned int status, const char *text, bool more)
{
	g_autofree char *record = NULL;

	if (session->program) {
		record = control_record(status, text, more);
		if (strlen(record) > MAX_ANSWER) {
			g_free(record);
			record = control_record(CONTROL_FAILED, "The answer is too long\n", more);
		}
		say(session, record);
		return;
	}
	say(session, text);
	if (session->open && !session->closing && !more)
		say(session, PROMPT);
}

/* Starts the time limit for the user's next action. */
static void start_limit(struct session *session)
{
	if (session->config.kind == SEAT_TERMINAL || !session->open)
		return;
	if (session->out->len)
		timer_start(&session->limit, STUCK_NS);
	else if (!session->loop)
		timer_start(&session->limit, IDLE_NS);
	else
		timer_stop(&session->limit);
}

enum flushed { FLUSHED, FLUSH_BLOCKED, FLUSH_FAILED };

/* With the octets goes the file. */
static gssize send_with_file(struct session *session, const char *octets, gsize n, GError **error)
{
	GSocket *socket =
		g_socket_connection_get_socket(G_SOCKET_CONNECTION(session->config.connection));
	g_autoptr(GSocketControlMessage) message = g_unix_fd_message_new();
	GOutputVector vector = {octets, n};
	gssize done = -1;

	if (g_unix_fd_message_append_fd(G_UNIX_FD_MESSAGE(message), session->file, error))
		done = g_socket_send_message(socket, NULL, &vector, 1, &message, 1, 0, NULL, error);
	if (done > 0) {
		close(session->file);
		session->file = -1;
	}
	return done;
}

static gssize send_octets(struct session *session, const char *octets, gsize n, GError **error)
{
	if (session->file >= 0)
		return send_with_file(session, octets, n, error);
	return g_pollable_output_stream_write_nonblocking(
		G_POLLABLE_OUTPUT_STREAM(session->config.out), octets, n, NULL, error);
}

static enum flushed flush(struct session *session)
{
	gsize turn = session->written + TURN;

	while (session->written < session->out->len) {
		gsize n = MIN(session->out->len - session->written, CHUNK);
		g_autoptr(GError) error = NULL;
		gssize done;

		if (session->written >= turn)
			return FLUSH_BLOCKED;
		done = send_octets(session, session->out->str + session->written, n, &error);
		if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
			return FLUSH_BLOCKED;
		if (done <= 0) {
			g_free(session->trouble);
			session->trouble = g_strdup(error ? error->message : NULL);
			return FLUSH_FAILED;
		}
		session->written += (gsize)done;
	}
	g_string_truncate(session->out, 0);
	session->written = 0;
	return FLUSHED;
}

/* ---- lines ---- */

static void on_plan(void *arg, GVariant *plan)
{
	struct session *session = arg;
	struct command_answer answer = {.json = session->json};

	session->waits = false;
	command_answer_plan(plan, &answer);
	reply(session, answer.status, answer.text, false);
	g_free(answer.text);
	session->work(session);
}

static void wait_for_plan(struct session *session, bool json)
{
	session->waits = true;
	session->json = json;
	timer_stop(&session->limit);
	daemon_plan_listen(session->config.env->daemon, on_plan, session);
}

/* ---- answers that another thread makes ---- */

#define TOO_LONG "The answer is too long: ask for parts of it\n"

static void wrap_text(GString *text, unsigned int status, bool file)
{
	(void)status;
	(void)file;
	if (text->len > MAX_ANSWER)
		g_string_assign(text, TOO_LONG);
}

static void wrap_record(GString *text, unsigned int status, bool file)
{
	char *record = file ? control_record_of_file() : control_record(status, text->str, false);

	if (strlen(record) > MAX_ANSWER) {
		g_free(record);
		record = control_record(CONTROL_FAILED, TOO_LONG, false);
	}
	g_string_assign(text, record);
	g_free(record);
}

/* It may be long, so it is not copied: all output before it has been sent. */
static void send_wrapped(struct session *session, struct command_answer *answer)
{
	g_string_free(session->out, TRUE);
	session->out = answer->wrapped;
	session->written = 0;
	session->file = answer->file;
	if (!session->program && !session->closing)
		say(session, PROMPT);
}

static void look(struct session *session)
{
	struct command_answer answer = {.json = session->json, .settle_ns = session->settle_ns};
	const struct command_env *env = session->config.env;
	uint64_t waited = now(session) + POLICY_PATIENCE_NS - session->until_ns;
	bool done = session->job ? command_work_is_done(session->job)
				 : command_policy_is_there(env, session->policy,
							   session->settle_ns, waited);

	if (!done && now(session) < session->until_ns) {
		timer_start(&session->tick, LOOK_POLICY_NS);
		return;
	}
	timer_stop(&session->tick);
	if (session->job)
		command_answer_work(g_steal_pointer(&session->job), &answer);
	else
		command_answer_policy(env, session->policy, &answer);
	session->waits = false;
	session->policy = session->until_ns = 0;
	if (answer.wrapped)
		send_wrapped(session, &answer);
	else
		reply(session, answer.status, answer.text, false);
	g_free(answer.text);
}

static void on_job(void *arg)
{
	struct session *session = arg;

	look(session);
	session->work(session);
}

/*
 * A change of partitions is answered once it is in effect; a command that reads files, when another
 * thread has done so.
 */
static void wait_for(struct session *session, const struct command_answer *answer)
{
	session->waits = true;
	session->json = answer->json;
	session->policy = answer->policy;
	session->settle_ns = answer->settle_ns;
	session->job = answer->work;
	session->until_ns = now(session) + (answer->work ? WORK_PATIENCE_NS : POLICY_PATIENCE_NS);
	timer_stop(&session->limit);
	timer_start(&session->tick, session->job ? WORK_PATIENCE_NS : LOOK_POLICY_NS);
	if (session->job)
		command_work_listen(session->job, on_job, session);
}

/* What the command lacks is being read: true while that may still take time. */
static bool waits_for_more(struct session *session, const char *line)
{
	if (!session->until_ns)
		session->until_ns = now(session) + AGAIN_PATIENCE_NS;
	if (now(session) >= session->until_ns)
		return false;
	session->waits = true;
	session->again = g_strdup(line);
	timer_stop(&session->limit);
	timer_start(&session->tick, LOOK_NS);
	return true;
}

/* Runs the line again when there is news, or when its time is over. */
static void wait_for_news(struct session *session, const char *line, uint64_t ns)
{
	if (!session->until_ns)
		session->until_ns = now(session) + ns;
	session->waits = true;
	session->again = g_strdup(line);
	timer_stop(&session->limit);
	timer_start(&session->tick, session->until_ns - MIN(now(session), session->until_ns));
	journal_wait(session->config.env->journal, &session->news);
}

/* For commands of this session. */
static struct command_env environment(const struct session *session)
{
	struct command_env env = *session->config.env;

	env.wrap = session->program ? wrap_record : wrap_text;
	env.takes_files = session->program && (session->config.kind == SEAT_OPERATOR ||
					       session->config.kind == SEAT_GROUP);
	env.waited = session->until_ns && now(session) >= session->until_ns;
	return env;
}

static void run_line(struct session *session, const char *line)
{
	const struct command_env env = environment(session);
	struct command_answer answer;

	if (session->config.reads_only && command_changes(line)) {
		reply(session, CONTROL_REFUSED,
		      "This command changes something; by this port only root and the user of "
		      "the daemon may do that. Others can use opensmctl or a console_key_file\n",
		      false);
		return;
	}
	command_run(&env, line, session->config.trusted, &answer);
	if (answer.later) {
		g_free(answer.text);
		if (answer.work || answer.policy)
			wait_for(session, &answer);
		else if (answer.news_ns)
			wait_for_news(session, line, answer.news_ns);
		else
			wait_for_plan(session, answer.json);
		return;
	}
	if (answer.again && waits_for_more(session, line)) {
		g_free(answer.text);
		return;
	}
	session->until_ns = 0;
	session->closing |= answer.quit;
	reply(session, answer.status, answer.text, answer.loop);
	g_free(answer.text);
	if (answer.quit && session->config.kind == SEAT_TERMINAL)
		say(session, "The console is closed, the daemon continues\n");
	if (answer.loop) {
		if (!session->loop)
			session->loop = g_strdup(line);
		timer_start(&session->tick, LOOP_NS);
	}
}

static void run_again(struct session *session)
{
	g_autofree char *line = g_steal_pointer(&session->again);

	session->waits = false;
	timer_stop(&session->tick);
	journal_unwait(session->config.env->journal, &session->news);
	run_line(session, line);
}

static void open_session(struct session *session)
{
	struct seat seat = {session->config.kind, session->config.peer, now(session)};

	session->open = session->config.opened(session->config.arg, session, &seat);
	session->closing = !session->open;
	session->lines.max = COMMAND_MAX_LINE;
	if (session->open)
		reply(session, CONTROL_DONE, "", false);
	else
		reply(session, CONTROL_UNREACHABLE, "There are too many sessions\n", false);
}

static void take_key(struct session *session, enum line_kind kind)
{
	if (kind == LINE_GOOD && console_key_fits(session->config.key, session->lines.text->str)) {
		open_session(session);
		return;
	}
	reply(session, CONTROL_REFUSED, "That is not the key\n", false);
	session->penalty = true;
	session->closing = ++session->tries >= KEY_TRIES;
	timer_start(&session->tick, PENALTY_NS);
}

/*
 * A browser can be made to send a request with commands in it to a port of its own host, so a
 * client that speaks HTTP is refused.
 */
static bool is_http(const char *line)
{
	static const char *const words[] = {"GET ",    "POST ",	   "PUT ",     "HEAD ",
					    "DELETE ", "OPTIONS ", "CONNECT ", "PATCH "};

	for (unsigned int i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(line, words[i]))
			return true;
	return false;
}

static bool is_hello(struct session *session, enum line_kind kind)
{
	bool first = !session->spoken;

	session->spoken = true;
	return first && kind == LINE_GOOD && !strcmp(session->lines.text->str, CONTROL_HELLO);
}

static void welcome(struct session *session)
{
	g_autofree char *record = control_welcome(!session->open);

	session->program = true;
	say(session, record);
}

static void end_loop(struct session *session)
{
	g_clear_pointer(&session->loop, g_free);
	timer_stop(&session->tick);
	reply(session, CONTROL_DONE, "", false);
}

static void take_line(struct session *session, enum line_kind kind)
{
	const char *line = session->lines.text->str;

	session->spoke_ns = now(session);
	if (is_hello(session, kind)) {
		welcome(session);
	} else if (!session->open) {
		take_key(session, kind);
	} else if (session->loop) { /* any line ends it */
		end_loop(session);
	} else if (kind == LINE_GOOD && is_http(line)) {
		session->closing = true;
		reply(session, CONTROL_USAGE, "This is not a web server\n", false);
	} else if (kind == LINE_GOOD) {
		run_line(session, line);
	} else {
		reply(session, CONTROL_USAGE,
		      kind == LINE_TOO_LONG ? COMMAND_TOO_LONG : "The line is not text\n",
		      false);
	}
}

/* ---- the two directions together ---- */

static gboolean on_writable(GObject *stream, gpointer arg)
{
	struct session *session = arg;

	(void)stream;
	source_drop(&session->writer);
	session->work(session);
	return G_SOURCE_REMOVE;
}

static gboolean on_readable(GObject *stream, gpointer arg)
{
	struct session *session = arg;
	g_autoptr(GError) error = NULL;
	gssize n;

	(void)stream;
	n = g_pollable_input_stream_read_nonblocking(G_POLLABLE_INPUT_STREAM(session->config.in),
						     session->input, CHUNK, NULL, &error);
	if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
		return G_SOURCE_CONTINUE;
	source_drop(&session->reader);
	session->used = 0;
	session->n_input = (gsize)MAX(n, 0);
	session->input_ended = n <= 0;
	session->work(session);
	return G_SOURCE_REMOVE;
}

static gboolean on_file_readable(gpointer arg)
{
	return on_readable(NULL, arg);
}

static gboolean on_file_writable(gpointer arg)
{
	return on_writable(NULL, arg);
}

/* A regular file cannot be polled, and need not be. */
static void watch_input(struct session *session)
{
	GPollableInputStream *in = G_POLLABLE_INPUT_STREAM(session->config.in);
	bool pollable = g_pollable_input_stream_can_poll(in);

	if (session->reader)
		return;
	session->reader =
		pollable ? g_pollable_input_stream_create_source(in, NULL) : g_idle_source_new();
	g_source_set_callback(session->reader,
			      pollable ? G_SOURCE_FUNC(on_readable) : on_file_readable, session,
			      NULL);
	g_source_attach(session->reader, NULL);
}

static void watch_output(struct session *session)
{
	GPollableOutputStream *out = G_POLLABLE_OUTPUT_STREAM(session->config.out);
	bool pollable = g_pollable_output_stream_can_poll(out);

	if (session->writer)
		return;
	session->writer =
		pollable ? g_pollable_output_stream_create_source(out, NULL) : g_idle_source_new();
	g_source_set_callback(session->writer,
			      pollable ? G_SOURCE_FUNC(on_writable) : on_file_writable, session,
			      NULL);
	g_source_attach(session->writer, NULL);
}

/*
 * A broken connection may leave "priority 1" of "priority 15", so an unfinished line is ignored. At
 * a terminal, and for a file or a pipe in its place, the end of input also ends the last line.
 */
static void take_last_line(struct session *session)
{
	enum line_kind kind = lines_end(&session->lines);

	if (kind != LINE_NONE && session->config.kind == SEAT_TERMINAL) {
		take_line(session, kind);
		return;
	}
	session->closing = true;
	if (kind != LINE_NONE)
		reply(session, CONTROL_USAGE,
		      "The last line has no newline at its end and is "
		      "ignored\n",
		      false);
}

/* Takes the input byte by byte until a line is complete. */
static void use_input(struct session *session)
{
	enum line_kind kind = LINE_NONE;

	while (kind == LINE_NONE && session->used < session->n_input)
		kind = lines_byte(&session->lines, session->input[session->used++]);
	if (kind != LINE_NONE)
		take_line(session, kind);
	else if (session->input_ended)
		take_last_line(session);
}

/*
 * The end of input ends a wait for news, so that a client that has gone waits for nothing. Returns
 * whether the session goes on now.
 */
static bool may_go_on(struct session *session)
{
	if (session->penalty)
		return false;
	if (session->news.waits && session->input_ended) {
		session->until_ns = now(session);
		run_again(session);
	}
	if (session->news.waits && session->used == session->n_input)
		watch_input(session);
	return !session->waits;
}

/* Continues as far as possible without waiting. The session may be freed afterwards. */
static void work(struct session *session)
{
	for (;;) {
		enum flushed flushed = flush(session);

		if (flushed == FLUSH_BLOCKED) {
			start_limit(session);
			watch_output(session);
			return;
		}
		if (flushed == FLUSH_FAILED)
			break;
		if (!may_go_on(session))
			return;
		if (session->out->len)
			continue;
		if (session->closing)
			break;
		if (session->used == session->n_input && !session->input_ended) {
			start_limit(session);
			watch_input(session);
			return;
		}
		use_input(session);
	}
	session->config.ended(session->config.arg, session);
}

/* ---- timers ---- */

#define session_of(timer, member) container_of(timer, struct session, member)

/* Output that the user does not take at once is lost: the session does not wait for it. */
static void end_with(struct session *session, const char *last_words)
{
	session->closing = true;
	reply(session, CONTROL_UNREACHABLE, last_words, false);
	flush(session);
	session->config.ended(session->config.arg, session);
}

static void on_limit(struct timer *timer)
{
	struct session *session = session_of(timer, limit);

	end_with(session, session->open ? "\nThe session was idle for too long and is closed\n"
					: "\nThe key did not come in time\n");
}

static void on_news(void *arg)
{
	struct session *session = arg;

	run_again(session);
	work(session);
}

static void on_tick(struct timer *timer)
{
	struct session *session = session_of(timer, tick);

	if (session->penalty) {
		session->penalty = false;
	} else if (session->policy || session->job) {
		look(session);
	} else if (session->again) {
		run_again(session);
	} else if (session->loop) {
		if (session->out->len)
			timer_start(&session->tick, LOOP_NS);
		else
			run_line(session, session->loop);
	}
	work(session);
}

void session_give_way(struct session *session)
{
	end_with(session, session->open ? "\nThis idle session is closed to make room for "
					  "another\n"
					: "\nThis session has not sent the key and is closed to "
					  "make room for another\n");
}

/* ---- life ---- */

struct session *session_new(const struct session_config *config)
{
	struct session *session = g_new0(struct session, 1);
	struct actor *actor = daemon_actor(config->env->daemon);

	session->config = *config;
	session->file = -1;
	session->config.name = g_strdup(config->name);
	session->config.peer = g_strdup(config->peer);
	session->spoke_ns = actor_now(actor);
	g_object_ref(config->in);
	g_object_ref(config->out);
	if (config->connection)
		g_object_ref(config->connection);
	if (config->tls)
		g_object_ref(config->tls);
	session->out = g_string_new(NULL);
	session->work = work;
	session->news = (struct journal_waiter){.news = on_news, .arg = session};
	lines_init(&session->lines, STRANGER_MAX_LINE);
	timer_init(&session->limit, actor, on_limit);
	timer_init(&session->tick, actor, on_tick);
	return session;
}

void session_begin(struct session *session)
{
	if (session->config.key) {
		say(session, "Key: ");
		timer_start(&session->limit, KEY_NS);
	} else {
		open_session(session);
	}
	work(session);
}

void session_free(struct session *session)
{
	if (session->waits && !session->policy && !session->job && !session->again)
		daemon_plan_listen(session->config.env->daemon, NULL, NULL);
	command_work_drop(session->job);
	journal_unwait(session->config.env->journal, &session->news);
	source_drop(&session->reader);
	source_drop(&session->writer);
	timer_stop(&session->limit);
	timer_stop(&session->tick);
	/* Not the stream of TLS, which would wait until the last output is sent. */
	if (session->config.connection)
		g_io_stream_close(G_IO_STREAM(session->config.connection), NULL, NULL);
	g_object_unref(session->config.in);
	g_object_unref(session->config.out);
	g_clear_object(&session->config.tls);
	g_clear_object(&session->config.connection);
	g_free(session->trouble);
	lines_clear(&session->lines);
	g_string_free(session->out, TRUE);
	g_free(session->loop);
	g_free(session->again);
	if (session->file >= 0)
		close(session->file);
	g_free((char *)session->config.name);
	g_free((char *)session->config.peer);
	g_free(session);
}

bool session_is_open(const struct session *session)
{
	return session->open;
}

struct seat session_seat(const struct session *session)
{
	return (struct seat){
		.kind = session->open ? session->config.kind : SEAT_STRANGER,
		.peer = session->config.peer,
		.since_ns = session->spoke_ns,
	};
}

const char *session_name(const struct session *session)
{
	return session->config.name;
}

const char *session_trouble(const struct session *session)
{
	return session->trouble;
}

unsigned int session_wrong_keys(const struct session *session)
{
	return session->tries;
}

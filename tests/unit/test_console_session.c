// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sessions of the console in virtual time, on a pair of sockets; and which gives way to which. */
#include "client/image.h"
#include "config.h"

#include "ctl/console/console_session.h"
#include "ctl/image/image_store.h"
#include "ctl/report/journal.h"
#include "tests/run_suite.h"
#include "tests/scenario/scenario.h"
#include "tests/unit/perf_fixture.h"

#include <check.h>
#include <gio/gio.h>
#include <gio/gunixfdmessage.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY "0123456789abcdef"

/* ---- seats ---- */

#define S 1000000000ull
#define MAX_SEATS 17

static const struct {
	const char *taken; /* a letter a seat: its peer; with the number of seconds it was silent */
	enum seat_kind kind;
	char peer;
	int leaves;
} crowds[] = {
	{"", SEAT_STRANGER, 'a', SEATS_FREE},
	{"a1 a2 a3", SEAT_STRANGER, 'a', SEATS_FREE},
	/* A peer that has its share of seats for strangers gives up one of its own, the oldest. */
	{"a1 a3 a2 a0", SEAT_STRANGER, 'a', 1},
	{"b9 a1 a3 a2 a0", SEAT_STRANGER, 'a', 2},
	/* Another takes the oldest seat of the peer that has most. */
	{"b9 c8 a1 a3 a2 a0 d1 e1", SEAT_STRANGER, 'f', 3},
	{"b9 c8 d1 e1 f1 g1 h1 i1", SEAT_STRANGER, 'a', 0},
	{"b9 c8 d1 e1 f1 g1 h1", SEAT_STRANGER, 'a', SEATS_FREE},
	/* A permitted user is disconnected only after a minute of silence, longest idle first. */
	{"a1 a2 a3 a4 a5 a6 a7", SEAT_NETWORK, 'a', SEATS_FREE},
	{"a1 a2 a3 a4 a5 a6 a7 a59", SEAT_NETWORK, 'a', SEATS_FULL},
	{"a1 a2 a3 a4 a5 a60 a7 a8", SEAT_NETWORK, 'a', 5},
	{"a1 a61 a3 a4 a5 a60 a7 a8", SEAT_NETWORK, 'b', 1},
	{"a1 a2 a3 a4 a5 a6 a7 b90", SEAT_NETWORK, 'a', 7},
	/* A member of the group has a share, so that other members get in. */
	{"a1 a2 a3 a60 b1", SEAT_GROUP, 'a', 3},
	{"a1 a2 a3 a4 b99", SEAT_GROUP, 'a', SEATS_FULL},
	{"a1 a2 a3 a4 b1", SEAT_GROUP, 'b', SEATS_FREE},
	{"a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1", SEAT_OPERATOR, 'a', SEATS_FREE},
	{"a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a1 a60", SEAT_OPERATOR, 'a', 15},
};

static unsigned int parse_crowd(const char *text, enum seat_kind kind, struct seat *taken,
				char names[][2])
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	unsigned int n = 0;

	for (; words[n]; n++) {
		names[n][0] = words[n][0];
		names[n][1] = '\0';
		taken[n] = (struct seat){kind, names[n],
					 1000 * S - strtoull(words[n] + 1, NULL, 10) * S};
	}
	return n;
}

START_TEST(who_gives_way)
{
	char names[MAX_SEATS][2], peer[2] = {crowds[_i].peer};
	struct seat taken[MAX_SEATS];
	unsigned int n = parse_crowd(crowds[_i].taken, crowds[_i].kind, taken, names);
	struct seat newcomer = {crowds[_i].kind, peer, 1000 * S};

	ck_assert_int_eq(seats_take(taken, n, &newcomer), crowds[_i].leaves);
}
END_TEST

START_TEST(kinds_have_seats_of_their_own)
{
	for (unsigned int kind = 0; kind < SEAT_KINDS; kind++) {
		char names[MAX_SEATS][2];
		struct seat taken[MAX_SEATS];
		unsigned int n = parse_crowd("a9 a9 a9 a9 a9 a9 a9 a9 a9 a9 a9 a9 a9 a9 a9 a9",
					     kind, taken, names);
		struct seat newcomer = {(kind + 1) % SEAT_KINDS, "a", 1000 * S};

		ck_assert_int_eq(seats_take(taken, n, &newcomer), SEATS_FREE);
	}
}
END_TEST

/* ---- a session ---- */

static struct {
	struct scenario *s;
	struct command_env env;
	GSocketConnection *ours, *theirs;
	struct session *session; /* NULL: it has ended */
	enum seat_kind kind;
	bool full;
} f;

static void make_journal(struct scenario *s, void *arg)
{
	(void)arg;
	f.env.journal = journal_new(s->daemon);
	f.env.images = image_store_new();
}

static void start(void)
{
	int fds[2];

	f.s = scenario_new("mesh:2", 1);
	f.s->made = make_journal;
	scenario_start(f.s);
	f.env.daemon = f.s->daemon;
	f.kind = SEAT_NETWORK;
	f.full = false;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	for (unsigned int i = 0; i < 2; i++) {
		g_autoptr(GSocket) socket = g_socket_new_from_fd(fds[i], NULL);
		GSocketConnection *connection =
			g_socket_connection_factory_create_connection(socket);

		g_socket_set_blocking(socket, FALSE);
		*(i ? &f.theirs : &f.ours) = connection;
	}
}

static void stop(void)
{
	g_clear_pointer(&f.session, session_free);
	g_object_unref(f.ours);
	g_object_unref(f.theirs);
	scenario_stop(f.s);
	journal_free(f.env.journal);
	image_store_unref(f.env.images);
	scenario_free(f.s);
}

static bool on_opened(void *arg, struct session *session, const struct seat *seat)
{
	(void)arg;
	(void)session;
	ck_assert_int_eq(seat->kind, f.kind);
	return !f.full;
}

static void on_ended(void *arg, struct session *session)
{
	(void)arg;
	ck_assert_ptr_eq(session, f.session);
	session_free(session);
	f.session = NULL;
}

static void begin(const char *key)
{
	struct session_config config = {
		.env = &f.env,
		.name = "somebody",
		.key = key,
		.kind = f.kind,
		.peer = "host",
		.in = g_io_stream_get_input_stream(G_IO_STREAM(f.ours)),
		.out = g_io_stream_get_output_stream(G_IO_STREAM(f.ours)),
		.connection = G_OBJECT(f.ours),
		.ended = on_ended,
		.opened = on_opened,
	};

	f.session = session_new(&config);
	session_begin(f.session);
}

static void pass_s(unsigned int seconds)
{
	scenario_run_ms(f.s, seconds * 1000);
	while (g_main_context_iteration(NULL, FALSE))
		continue;
}

static void type(const char *line)
{
	g_socket_send(g_socket_connection_get_socket(f.theirs), line, strlen(line), NULL, NULL);
	pass_s(0);
}

/* What the session has printed, valid until the next call. */
static const char *heard(void)
{
	static char text[1 << 16];
	gssize n = g_socket_receive(g_socket_connection_get_socket(f.theirs), text,
				    sizeof(text) - 1, NULL, NULL);

	text[MAX(n, 0)] = '\0';
	return text;
}

/* The last line, without its end. */
static void type_cut(const char *line)
{
	type(line);
	heard();
	g_socket_shutdown(g_socket_connection_get_socket(f.theirs), FALSE, TRUE, NULL);
	pass_s(1);
}

static unsigned int priority(void)
{
	struct options *options = slot_take(&daemon_context(f.s->daemon)->options);
	unsigned int priority = options->sm_priority;

	options_unref(options);
	return priority;
}

/* ---- answers that read files ---- */

/* One old image on disk would do, but an empty directory has to be read as well. */
static void publish_image(void)
{
	struct perf_layout *layout = perf_leaf_layout(PERF_LEAF_TIME);
	struct perf_image *image = perf_leaf_image(layout, 0);

	slot_publish(&daemon_context(f.s->daemon)->perf_images, fixture_ring(&image, 1));
	perf_layout_unref(layout);
}

START_TEST(files_are_read)
{
	f.kind = SEAT_OPERATOR;
	begin(NULL);
	publish_image();
	heard();
	type("perfmgr top rate 24h\nperfmgr help\n");
	ck_assert_str_eq(heard(), ""); /* and the next line waits */
	pass_s(1);
	type("");
	ck_assert_ptr_nonnull(strstr(heard(), "The counters were not read twice yet\n"));
	pass_s(0);
	type("perfmgr images\n");
	ck_assert_ptr_nonnull(strstr(heard(), "2026-11-18 "));
}
END_TEST

/* It ends while the files are being read. */
START_TEST(gone_before_files_are_read)
{
	f.kind = SEAT_OPERATOR;
	begin(NULL);
	publish_image();
	type("perfmgr top rate 24h\n");
	heard();
	g_clear_pointer(&f.session, session_free);
	pass_s(1);
}
END_TEST

/* A connection may end within "priority 15"; at a terminal, or of a pipe, the user ended it. */
START_TEST(the_last_line)
{
	bool runs = _i == SEAT_TERMINAL;

	f.kind = _i;
	begin(NULL);
	type("priority 7\n");
	type_cut("priority 1");
	ck_assert_ptr_null(f.session);
	ck_assert_uint_eq(priority(), runs ? 1 : 7);
	ck_assert_int_eq(
		!strcmp(heard(), "The last line has no newline at its end and is ignored\n"),
		!runs);
}
END_TEST

/* A whole line before it is run, and an end after a whole line is not an error. */
START_TEST(the_last_whole_line)
{
	begin(NULL);
	type_cut("priority 8\n");
	ck_assert_ptr_null(f.session);
	ck_assert_uint_eq(priority(), 8);
	ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(the_key_is_cut)
{
	begin(KEY);
	type_cut(KEY);
	ck_assert_ptr_null(f.session);
	ck_assert_str_eq(heard(), "The last line has no newline at its end and is ignored\n");
}
END_TEST

START_TEST(the_key_has_its_time)
{
	begin(KEY);
	pass_s(14);
	ck_assert_str_eq(heard(), "Key: ");
	pass_s(2);
	ck_assert_ptr_null(f.session);
	ck_assert_str_eq(heard(), "\nThe key did not come in time\n");
}
END_TEST

START_TEST(the_key_opens)
{
	begin(KEY);
	ck_assert_int_eq(session_seat(f.session).kind, SEAT_STRANGER);
	type(KEY "\n");
	ck_assert_str_eq(heard(), "Key: OpenSM $ ");
	ck_assert_int_eq(session_seat(f.session).kind, SEAT_NETWORK);
	pass_s(60);
	ck_assert_ptr_nonnull(f.session);
}
END_TEST

START_TEST(no_seat)
{
	f.full = true;
	begin(NULL);
	ck_assert_ptr_null(f.session);
	ck_assert_str_eq(heard(), "There are too many sessions\n");
}
END_TEST

START_TEST(idle_for_long)
{
	begin(NULL);
	pass_s(1700);
	type("version\n");
	pass_s(1700);
	ck_assert_ptr_nonnull(strstr(heard(), "OpenSM 4"));
	ck_assert_ptr_nonnull(f.session);
	pass_s(101);
	ck_assert_ptr_null(f.session);
	ck_assert_str_eq(heard(), "\nThe session was idle for too long and is closed\n");
}
END_TEST

START_TEST(giving_way)
{
	uint64_t begun;

	begin(NULL);
	begun = session_seat(f.session).since_ns;
	pass_s(70);
	ck_assert_uint_eq(session_seat(f.session).since_ns, begun);
	type("version\n");
	ck_assert_uint_ge(session_seat(f.session).since_ns, begun + 70 * S);
	heard();
	session_give_way(f.session);
	ck_assert_ptr_null(f.session);
	ck_assert_str_eq(heard(), "\nThis idle session is closed to make room for another\n");
}
END_TEST

/* One that reads no output does not hold up another that wants its seat. */
START_TEST(giving_way_without_reading)
{
	begin(NULL);
	for (unsigned int i = 0; i < 2000; i++)
		type("dump_conf\n");
	pass_s(1);
	ck_assert_ptr_nonnull(f.session);
	session_give_way(f.session);
	ck_assert_ptr_null(f.session);
}
END_TEST

/* ---- answers that a pool makes ---- */

START_TEST(metrics_as_text)
{
	begin(NULL);
	heard();
	type("metrics off openmetrics\nversion\n");
	pass_s(1);
	ck_assert_str_eq(heard(), "# EOF\nOpenSM $ OpenSM 4.0.0\nOpenSM $ ");
	type("metrics off openmetrics json\n");
	pass_s(1);
	ck_assert_str_eq(heard(), "{\"text\":\"# EOF\\n\"}\nOpenSM $ ");
	type("metrics off descriptor\n");
	pass_s(1);
	ck_assert_ptr_nonnull(strstr(heard(), ": descriptor is for programs on a Unix socket"));
	type("metrics errors group=none\n");
	pass_s(1);
	ck_assert_str_eq(heard(), "group=none: perfmgr_rules_file has no such group\nOpenSM $ ");
}
END_TEST

/* The pool is still at work then. */
START_TEST(metrics_of_a_session_that_ends)
{
	begin(NULL);
	heard();
	g_socket_send(g_socket_connection_get_socket(f.theirs), "metrics\n", 8, NULL, NULL);
	while (g_main_context_iteration(NULL, FALSE))
		continue;
	g_clear_pointer(&f.session, session_free);
	pass_s(1);
	ck_assert_str_eq(heard(), "");
}
END_TEST

/* A file that came with the first octet of what was heard. */
static int heard_file(void)
{
	GSocket *socket = g_socket_connection_get_socket(f.theirs);
	GSocketControlMessage **messages = NULL;
	char octet;
	GInputVector vector = {&octet, 1};
	int n = 0, flags = 0, *files, n_files, file;

	ck_assert_int_eq(g_socket_receive_message(socket, NULL, &vector, 1, &messages, &n, &flags,
						  NULL, NULL),
			 1);
	ck_assert_int_eq(n, 1);
	files = g_unix_fd_message_steal_fds(G_UNIX_FD_MESSAGE(messages[0]), &n_files);
	ck_assert_int_eq(n_files, 1);
	file = files[0];
	g_free(files);
	g_object_unref(messages[0]);
	g_free(messages);
	ck_assert_ptr_nonnull(strstr(heard(), "\"file\":true"));
	return file;
}

static int ask_for_file(const char *line)
{
	type(line);
	pass_s(1);
	return heard_file();
}

/* It can be read, but not changed. */
START_TEST(metrics_as_a_file)
{
	char text[64] = "";
	int file;

	f.kind = SEAT_OPERATOR;
	begin(NULL);
	type("opensmctl 1\n");
	heard();
	file = ask_for_file("metrics off openmetrics descriptor\n");
	ck_assert_int_eq(pread(file, text, sizeof(text) - 1, 0), 6);
	ck_assert_str_eq(text, "# EOF\n");
	ck_assert_int_eq(pwrite(file, "x", 1, 0), -1);
	close(file);
	type("metrics off\n");
	pass_s(1);
	ck_assert_ptr_nonnull(strstr(heard(), "\"output\":\"\""));
}
END_TEST

/* It is as new as the last event that concerns it, and made once for all that ask. */
START_TEST(image_as_a_file)
{
	struct image image;
	int file[2];

	f.kind = SEAT_OPERATOR;
	begin(NULL);
	pass_s(5);
	type("opensmctl 1\n");
	heard();
	for (unsigned int i = 0; i < 2; i++)
		file[i] = ask_for_file("image descriptor\n");
	ck_assert_uint_eq(image_store_made(f.env.images), 1);
	ck_assert(image_map(&image, file[1], NULL));
	ck_assert_uint_eq(image.header->run, journal_run(f.env.journal));
	ck_assert_uint_eq(image.header->serial, journal_image(f.env.journal));
	ck_assert_uint_eq(image.header->n_nodes, sim_nodes(f.s->sim));
	for (uint32_t i = 0; i < image.header->n_ports; i++) {
		ck_assert_uint_eq(image.ports[i].rate != 0, image.ports[i].peer != IMAGE_NONE);
		if (image.ports[i].rate)
			ck_assert_uint_eq(image.ports[i].rate, image.ports[i].best_rate);
	}
	image_unmap(&image);
	close(file[0]);
	close(file[1]);
	type("image descriptor json\n");
	ck_assert_ptr_nonnull(strstr(heard(), "descriptor is for programs on a Unix socket"));
}
END_TEST

/* A message ends the wait, and not a look at the clock. */
START_TEST(metrics_at_once)
{
	uint64_t before;

	begin(NULL);
	pass_s(5);
	heard();
	before = runtime_now(f.s->rt);
	type("metrics off openmetrics\n");
	pass_s(0);
	ck_assert_str_eq(heard(), "# EOF\nOpenSM $ ");
	ck_assert_uint_eq(runtime_now(f.s->rt), before);
}
END_TEST

/* What a pool answers is what the thread of the daemon would, mistakes too, and in its turn. */
START_TEST(answers_by_a_pool)
{
	static const char *const lines[] = {
		"switchbalance verbose", "lidbalance", "mgroups json",	  "ports down",
		"lft leaf-0-0",		 "ports up",   "switchbalance 7", "lft nothing json",
	};

	begin(NULL);
	pass_s(5);
	heard();
	for (unsigned int i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autofree char *line = g_strconcat(lines[i], "\nversion\n", NULL);
		g_autofree char *expected = NULL;
		struct command_answer answer;

		command_run(&f.env, lines[i], true, &answer);
		ck_assert(!answer.later);
		expected = g_strconcat(answer.text,
				       "OpenSM $ OpenSM " PACKAGE_VERSION "\nOpenSM $ ", NULL);
		g_free(answer.text);
		type(line);
		pass_s(0);
		ck_assert_str_eq(heard(), expected);
	}
}
END_TEST

/* ---- news ---- */

static void tell_news(void)
{
	event_emit(&daemon_context(f.s->daemon)->bus, EVENT_OPTIONS_CHANGED, 0);
}

/* "events since N wait 25", where N is the serial of the last news. */
static void wait_for_news(void)
{
	g_autofree char *line = g_strdup_printf("events since %" G_GUINT64_FORMAT " wait 25\n",
						journal_serial(f.env.journal));

	type(line);
}

static void begin_quiet(void)
{
	begin(NULL);
	pass_s(5);
	event_emit(&daemon_context(f.s->daemon)->bus, EVENT_SWEEP_ALLOWED, 0);
	pass_s(1);
	heard();
}

START_TEST(news_end_a_wait)
{
	uint64_t serial;

	begin_quiet();
	wait_for_news();
	pass_s(3);
	ck_assert_str_eq(heard(), "");
	serial = journal_serial(f.env.journal);
	for (unsigned int i = 0; i < 100; i++)
		tell_news();
	ck_assert_str_eq(heard(), "");
	pass_s(1);
	ck_assert_uint_eq(journal_serial(f.env.journal), serial + 100);
	ck_assert_ptr_nonnull(strstr(heard(), "the options were read again (100 times, last "));
	pass_s(30);
	ck_assert_str_eq(heard(), "");
	type("version\n");
	ck_assert_str_eq(heard(), "OpenSM 4.0.0\nOpenSM $ ");
}
END_TEST

START_TEST(a_wait_has_an_end)
{
	begin_quiet();
	wait_for_news();
	pass_s(24);
	ck_assert_str_eq(heard(), "");
	pass_s(1);
	ck_assert_ptr_nonnull(strstr(heard(), ", counters 0\nOpenSM $ "));
}
END_TEST

/* Also if the answer before came after a wait. */
START_TEST(news_before_the_question)
{
	g_autofree char *line = NULL;

	begin_quiet();
	line = g_strdup_printf("events since %" G_GUINT64_FORMAT " wait 25\n",
			       journal_serial(f.env.journal));
	tell_news();
	pass_s(1);
	type(line);
	ck_assert_ptr_nonnull(strstr(heard(), " options the options were read again\nrun 0x"));
	type("events since 999999 wait 25\n");
	ck_assert_ptr_nonnull(strstr(heard(), "first subnet: "));
	type("events since 5 wait 26\n");
	ck_assert_ptr_nonnull(strstr(heard(), "'26': expected at most 25 seconds"));
}
END_TEST

START_TEST(a_client_that_waits_goes)
{
	begin_quiet();
	wait_for_news();
	g_object_unref(f.theirs);
	f.theirs = g_object_ref(f.ours);
	pass_s(0);
	ck_assert_ptr_null(f.session);
	tell_news();
	pass_s(1);
}
END_TEST

/* It may still read: it is answered at once. */
START_TEST(input_ends_during_a_wait)
{
	begin_quiet();
	wait_for_news();
	g_socket_shutdown(g_socket_connection_get_socket(f.theirs), FALSE, TRUE, NULL);
	pass_s(0);
	ck_assert_ptr_nonnull(strstr(heard(), ", counters 0\n"));
	ck_assert_ptr_null(f.session);
}
END_TEST

/* A pool makes a long answer; what follows comes behind it. */
START_TEST(many_events)
{
	begin_quiet();
	for (unsigned int i = 0; i < 100; i++)
		event_emit(&daemon_context(f.s->daemon)->bus, EVENT_SWEEP_ALLOWED, i & 1);
	pass_s(1);
	type("events 70 json\nversion\n");
	ck_assert_str_eq(heard(), "");
	pass_s(0);
	ck_assert_ptr_nonnull(strstr(heard(), "\"text\":\"sweeps are on\"}]}\nOpenSM $ "));
	pass_s(0);
	type("events since 1\n");
	pass_s(0);
	ck_assert_ptr_nonnull(strstr(heard(), "sweeps are on\nrun 0x"));
}
END_TEST

/* The lines that follow wait, too. */
START_TEST(lines_behind_a_wait)
{
	begin_quiet();
	wait_for_news();
	type("version\n");
	type("version\n");
	pass_s(1);
	ck_assert_str_eq(heard(), "");
	tell_news();
	pass_s(1);
	ck_assert_ptr_nonnull(
		strstr(heard(), "OpenSM $ OpenSM 4.0.0\nOpenSM $ OpenSM 4.0.0\nOpenSM $ "));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console_session");
	TCase *seats = tcase_create("seats"), *session = tcase_create("session");

	tcase_add_loop_test(seats, who_gives_way, 0, G_N_ELEMENTS(crowds));
	tcase_add_test(seats, kinds_have_seats_of_their_own);
	suite_add_tcase(suite, seats);
	tcase_add_checked_fixture(session, start, stop);
	tcase_add_loop_test(session, the_last_line, SEAT_NETWORK, SEAT_KINDS);
	tcase_add_test(session, files_are_read);
	tcase_add_test(session, gone_before_files_are_read);
	tcase_add_test(session, the_last_whole_line);
	tcase_add_test(session, the_key_is_cut);
	tcase_add_test(session, the_key_has_its_time);
	tcase_add_test(session, the_key_opens);
	tcase_add_test(session, no_seat);
	tcase_add_test(session, idle_for_long);
	tcase_add_test(session, giving_way);
	tcase_add_test(session, giving_way_without_reading);
	tcase_add_test(session, metrics_as_text);
	tcase_add_test(session, metrics_of_a_session_that_ends);
	tcase_add_test(session, metrics_as_a_file);
	tcase_add_test(session, image_as_a_file);
	tcase_add_test(session, metrics_at_once);
	tcase_add_test(session, answers_by_a_pool);
	tcase_add_test(session, news_end_a_wait);
	tcase_add_test(session, a_wait_has_an_end);
	tcase_add_test(session, news_before_the_question);
	tcase_add_test(session, a_client_that_waits_goes);
	tcase_add_test(session, input_ends_during_a_wait);
	tcase_add_test(session, lines_behind_a_wait);
	tcase_add_test(session, many_events);
	suite_add_tcase(suite, session);
	return suite;
}

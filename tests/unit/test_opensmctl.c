// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The parts of opensmctl that do not need a daemon. */
#include "opensmctl/arguments.h"
#include "opensmctl/complete.h"
#include "opensmctl/peer.h"
#include "opensmctl/show.h"
#include "opensmctl/stream.h"
#include "opensmctl/watch.h"
#include "tests/run_suite.h"

#include <check.h>
#include <gio/gio.h>
#include <string.h>

/* ---- words ---- */

static const struct {
	const char *words[4];
	const char *line; /* NULL: refused */
} lines[] = {
	{{"status"}, "status"},
	{{"path", "host 0", "2"}, "path \"host 0\" 2"},
	{{"path", "", "2"}, "path \"\" 2"},
	{{"lft", "a\"b"}, "lft a\"b"},
	{{"lft", "\"a"}, "lft '\"a'"},
	{{"lft", "it's a"}, "lft \"it's a\""},
	{{"lft", "'a"}, "lft \"'a\""},
	{{"lft", "a' \"b"}, NULL},
	{{"lft", "a\nsweep off"}, NULL},
	{{"lft", "\033[2J"}, NULL},
};

START_TEST(words_of_a_line)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *line = arguments_line((char *const *)lines[_i].words, &error);

	ck_assert_str_eq(line ? line : "(none)", lines[_i].line ? lines[_i].line : "(none)");
	ck_assert_int_eq(!line, !!error);
}
END_TEST

static const struct {
	const char *argv, *mistake; /* NULL: none */
} command_lines[] = {
	{"status", NULL},
	{"-j -s /x status -j", NULL},
	{"-p 0x0002c903000a1b2c", NULL},
	{"-p 2c903000a1b2c health", NULL},
	{"--connect h:1 --ca f --key-file k status", NULL},
	{"--nonsense", "Unknown option --nonsense"},
	{"-p ib0", "--port: 'ib0' is not a port GUID"},
	{"-p 0", "--port: '0' is not a port GUID"},
	{"-s /x -p 1", "expected one of them"},
	{"--connect h:1 -p 1", "expected one of them"},
	{"--ca f status", "are for --connect"},
	{"--connect h:1 --cert f status", "belong together"},
};

START_TEST(command_line)
{
	g_autofree char *all = g_strconcat("opensmctl ", command_lines[_i].argv, NULL);
	g_auto(GStrv) words = g_strsplit(all, " ", -1);
	g_autofree char **argv = g_memdup2(words, (g_strv_length(words) + 1) * sizeof(char *));
	struct arguments arguments = {0};
	g_autoptr(GError) error = NULL;
	bool good = arguments_parse(&arguments, (int)g_strv_length(words), argv, &error);

	ck_assert_msg(good == !command_lines[_i].mistake, "%s", error ? error->message : "");
	ck_assert_msg(good || strstr(error->message, command_lines[_i].mistake), "%s",
		      good ? "" : error->message);
	if (strstr(all, "status -j"))
		ck_assert_str_eq(arguments.line, "status -j");
	arguments_clear(&arguments);
}
END_TEST

/* ---- completion ---- */

#define HELP                                                                                       \
	"{\"commands\":[{\"command\":\"help\",\"arguments\":\"[COMMAND]\"},"                       \
	"{\"command\":\"status\",\"arguments\":\"[loop]\"},"                                       \
	"{\"command\":\"sweep\",\"arguments\":\"on|off\"},"                                        \
	"{\"command\":\"switchbalance\",\"arguments\":\"[verbose] [GUID]\"},"                      \
	"{\"command\":\"sim\",\"arguments\":\"link|unlink NODE PORT\"}]}"

static const struct {
	const char *line, *words;
} completions[] = {
	{"", "help status sweep switchbalance sim"},
	{"s", "status sweep switchbalance sim"},
	{"sw", "sweep switchbalance"},
	{" swi", "switchbalance"},
	{"x", ""},
	{"sweep ", "on off"},
	{"sweep of", "off"},
	{"swee of", "off"},
	{"s of", ""},
	{"sim u", "unlink"},
	{"help st", "status"},
	{"status j", "json"},
	{"status loop j", "json"},
	{"switchbalance  v", "verbose"},
	{"nothing ", ""},
};

START_TEST(completion)
{
	struct completer *completer = completer_new(HELP);
	size_t begin;
	g_autoptr(GPtrArray) words = complete(completer, completions[_i].line, &begin);
	g_autofree char *text = NULL;

	for (guint i = 0; i < words->len; i++)
		ck_assert(g_str_has_prefix(words->pdata[i], completions[_i].line + begin));
	g_ptr_array_add(words, NULL);
	text = g_strjoinv(" ", (char **)words->pdata);
	ck_assert_str_eq(text, completions[_i].words);
	completer_free(completer);
}
END_TEST

START_TEST(common_beginning)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_autofree char *none = complete_common(words);

	ck_assert_str_eq(none, "");
	g_ptr_array_add(words, "switchbalance");
	g_ptr_array_add(words, "sweep");
	g_free(none);
	none = complete_common(words);
	ck_assert_str_eq(none, "sw");
}
END_TEST

/* Malformed help text gives no words, and does no harm. */
START_TEST(completion_of_nonsense)
{
	static const char *const texts[] = {"",
					    "{",
					    "[]",
					    "{\"commands\":1}",
					    "{\"commands\":[1,{}]}",
					    "{\"commands\":[{\"command\":1}]}",
					    "null"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct completer *completer = completer_new(texts[i]);
		size_t begin;
		g_autoptr(GPtrArray) words = complete(completer, "", &begin);

		ck_assert_uint_eq(words->len, 0);
		completer_free(completer);
	}
}
END_TEST

/* ---- answers ---- */

START_TEST(harmless)
{
	static const char *const texts[][2] = {
		{"a\tb\nc\n", "a\tb\nc\n"}, {"", ""},
		{"\033[2Jx", "\\x1b[2Jx"},  {"a\rb\n", "a\\x0db\n"},
		{"\xff\n", "\\xff\n"},	    {"\n\n", "\n\n"},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *text = show_harmless(texts[i][0]);

		ck_assert_str_eq(text, texts[i][1]);
	}
}
END_TEST

static const struct {
	const char *bytes;
	const char *output; /* NULL: an error with text */
	const char *mistake;
} records[] = {
	{"\x1e{\"status\":0,\"output\":\"x\\n\",\"more\":false}\n", "x\n", NULL},
	{"OpenSM $ \x1e{\"status\":12}\n", "", NULL},
	{"\x1e{\"status\":0,\"output\":7,\"more\":1,\"key\":{}}\n", "", NULL},
	{"\x1e{\"status\":0}", NULL, "closed the connection"},
	{"There are too many sessions\n", NULL, "connection: There are too many sessions"},
	{"", NULL, "closed the connection"},
	{"\x1e{\"status\":-1}\n", NULL, "this is not an answer of opensm"},
	{"\x1e{\"status\":1e99}\n", NULL, "this is not an answer of opensm"},
	{"\x1e{\"status\":\"0\"}\n", NULL, "this is not an answer of opensm"},
	{"\x1e[1]\n", NULL, "this is not an answer of opensm"},
	{"\x1e\n", NULL, "this is not an answer of opensm"},
};

START_TEST(records_of_a_daemon)
{
	g_autoptr(GInputStream) in = g_memory_input_stream_new_from_data(
		records[_i].bytes, (gssize)strlen(records[_i].bytes), NULL);
	g_autoptr(GOutputStream) out = g_memory_output_stream_new_resizable();
	g_autoptr(GIOStream) stream = g_simple_io_stream_new(in, out);
	struct peer *peer = peer_new(stream);
	g_autoptr(GError) error = NULL;
	struct reply reply = {0};
	bool good = peer_ask(peer, "line", &reply, &error);

	ck_assert_int_eq(good, records[_i].output != NULL);
	if (good)
		ck_assert_str_eq(reply.output, records[_i].output);
	else
		ck_assert_msg(strstr(error->message, records[_i].mistake), "%s", error->message);
	ck_assert(good || error->code == CONTROL_UNREACHABLE);
	ck_assert(!reply.more && !reply.key);
	g_free(reply.output);
	peer_free(peer);
}
END_TEST

/* ---- the view of the performance manager ---- */

static const char state_answer[] =
	"{\"state\":\"Enabled\",\"sweep_state\":\"Sleeping\",\"sweep_time\":5,"
	"\"last_sweep_us\":1500,\"agents\":4,\"agents_silent\":1}";
static const char top_answer[] =
	"{\"of\":\"XmitUtilisation\",\"unit\":\"share\",\"images\":3,\"ports\":["
	"{\"node\":\"host a\",\"port\":1,\"peer\":\"leaf\",\"peer_port\":7,"
	"\"value\":0.95,\"trend\":[0.1,-1,0.95]},"
	"{\"node\":\"b\",\"port\":2,\"value\":0.5,\"at_least\":true,\"trend\":[]},"
	"{\"node\":\"c\",\"port\":3,\"value\":0.0001,\"trend\":[0.0001]}]}";

START_TEST(view)
{
	static const char expected[] =
		"Enabled, Sleeping; 1 of 4 agents silent; sweeps every 5 s, last took 0.002 s    \n"
		"XmitUtilisation    LAST IMAGES      PORT                     CONNECTED TO       \n"
		"95.00 %            _ #              host a 1                 leaf 7             \n"
		">= 50.00 %                          b 2                      -                  \n"
		"0.01 %             _                c 3                      -                  \n"
		"\n"
		"q quit  u load  r rate  w wait  d discards  e errors  s symbols  l link downs   ";
	struct watch_look look = {.columns = 80, .rows = 24};
	g_autofree char *plain = watch_draw(state_answer, top_answer, &look);
	g_autofree char *colour = NULL, *small = NULL;
	g_auto(GStrv) rows = NULL;

	ck_assert_str_eq(plain, expected);
	look.colour = look.utf8 = true;
	colour = watch_draw(state_answer, top_answer, &look);
	ck_assert_ptr_nonnull(strstr(colour, "\033[31m95.00 %            ▁ █ "));
	ck_assert_ptr_nonnull(strstr(colour, "\033[33m>= 50.00 %"));
	look = (struct watch_look){.columns = 9, .rows = 5};
	small = watch_draw(state_answer, top_answer, &look);
	rows = g_strsplit(small, "\n", -1);
	ck_assert_uint_eq(g_strv_length(rows), 5);
	for (unsigned int i = 0; rows[i]; i++)
		ck_assert_uint_le(strlen(rows[i]), 9);
}
END_TEST

static const char *const strange_answers[] = {
	"",
	"[]",
	"{",
	"{\"ports\":7,\"unit\":[],\"of\":{}}",
	"{\"ports\":[1,null,[],\"x\"],\"images\":\"many\"}",
	"{\"ports\":[{}],\"images\":3}",
	"{\"ports\":[{\"node\":7,\"port\":\"x\",\"value\":null,"
	"\"trend\":[[],{},\"x\",null,-1e308,1e308]}]}",
	"{\"of\":\"\\u001b[2J\\n\\t\\u009b2J\",\"ports\":["
	"{\"node\":\"\\u001b]0;x\\u0007\",\"value\":1e308}]}",
	"{\"unit\":\"octets per second\",\"ports\":["
	"{\"node\":\"\\u4e00\\u4e00\\u4e00\\u0301\",\"value\":1e308}]}",
};

/* The other end may be any program. */
START_TEST(view_of_nonsense)
{
	for (unsigned int columns = 0; columns < 100; columns += 33) {
		struct watch_look look = {
			.columns = columns, .rows = columns % 7, .utf8 = columns % 2};
		g_autofree char *top = watch_draw(state_answer, strange_answers[_i], &look);
		g_autofree char *state = watch_draw(strange_answers[_i], top_answer, &look);

		ck_assert(g_utf8_validate(top, -1, NULL) && g_utf8_validate(state, -1, NULL));
		ck_assert(!strpbrk(top, "\033\007\t\r") && !strpbrk(state, "\033\007\t\r"));
		ck_assert_ptr_null(strstr(top, "\302\233"));
	}
}
END_TEST

START_TEST(when_there_is_a_view)
{
	ck_assert(watch_is_meant("perfmgr") && watch_is_meant("pm"));
	ck_assert(!watch_is_meant("perfmgr top") && !watch_is_meant("status"));
	ck_assert(!watch_is_wanted()); /* without a terminal */
	ck_assert_str_eq(watch_value_of_key('r'), "rate");
	ck_assert_ptr_null(watch_value_of_key('x'));
	ck_assert_ptr_null(watch_value_of_key(0));
}
END_TEST

/* ---- the stream of events ---- */

static const struct {
	const char *line, *mistake, *question; /* NULL: none */
} streams[] = {
	{"events --follow", NULL, "events 0 json"},
	{"events --json --follow --since 7", NULL, "events since 7 wait 25 json"},
	{"events --follow --since=0x1f:7 --kind=link,node", NULL,
	 "events since 7 kind link,node wait 25 json"},
	{"events --follow --since x", "--since: 'x': expected", NULL},
	{"events --follow --since -1", "--since: '-1': expected", NULL},
	{"events --follow --since 1f:7", "--since: '1f:7': expected", NULL},
	{"events --follow --since 0x0:7", "--since: '0x0:7': expected", NULL},
	{"events --follow --since 9223372036854775808", "expected SERIAL or RUN:SERIAL", NULL},
	{"events --follow --kind link\twait", "--kind: 'link\twait': expected", NULL},
	{"events --follow 5", "'5': expected --since", NULL},
	{"events --follow --sinc 5", "Unknown option --sinc", NULL},
	{"events --follow --since", "Missing argument", NULL},
};

START_TEST(stream_of_words)
{
	g_auto(GStrv) words = g_strsplit(streams[_i].line, " ", -1);
	g_autoptr(GError) error = NULL;
	g_autofree char *question = NULL;
	struct stream stream = {0};
	bool good = stream_parse(&stream, words, &error);

	ck_assert(stream_is_meant(words));
	ck_assert_msg(good == !streams[_i].mistake, "%s", error ? error->message : "no mistake");
	if (good) {
		question = stream_question(&stream, true);
		ck_assert_str_eq(question, streams[_i].question);
	} else {
		ck_assert_msg(strstr(error->message, streams[_i].mistake) != NULL, "%s",
			      error->message);
	}
	stream_clear(&stream);
}
END_TEST

START_TEST(other_words)
{
	static char *const others[][3] = {{"events", "5"}, {"plan", "--follow"}, {NULL}};

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		ck_assert(!stream_is_meant(others[i]));
	ck_assert(!stream_is_meant(NULL));
}
END_TEST

#define ANSWER(run, serial, more)                                                                  \
	"{\"run\":\"" run "\",\"serial\":" serial ",\"state\":\"MASTER\",\"generation\":3," more
#define EVENT_ROW(serial)                                                                          \
	"{\"serial\":" serial ",\"time\":\"T\",\"times\":2,\"last\":\"L\",\"kind\":\"link\","      \
	"\"text\":\"a\\u001bb\\nc\"}"

struct taken {
	const char *answer; /* NULL: the connection is lost */
	const char *lines;  /* without times of lines about the stream; NULL: it is refused */
	const char *question;
};

/* Takes the answers in turn; a line is compared from its kind on, after the serial. */
static void take_all(struct stream *stream, const struct taken *taken, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		g_autoptr(GRegex) times = g_regex_new("(?m)^(\\d+) \\S+ ", 0, 0, NULL);
		g_autofree char *plain = NULL, *question = NULL;
		bool waits = false, good = true;

		if (taken[i].answer)
			good = stream_take(stream, taken[i].answer, out, &waits);
		else
			stream_lose(stream, "gone", out);
		ck_assert_int_eq(good, taken[i].lines != NULL);
		plain = g_regex_replace(times, out->str, -1, 0, "\\1 ", 0, NULL);
		ck_assert_str_eq(plain, taken[i].lines ? taken[i].lines : "");
		question = stream_question(stream, waits);
		ck_assert_str_eq(question, taken[i].question);
	}
}

START_TEST(stream_of_answers)
{
	static const struct taken taken[] = {
		{"", NULL, "events 0 json"},
		{"[]", NULL, "events 0 json"},
		{"{\"events\":[]}", NULL, "events 0 json"},
		{ANSWER("0x1", "40", "\"events\":[]}"),
		 "40 stream  the stream starts: run 0x1, MASTER, generation 3\n",
		 "events since 40 wait 25 json"},
		{ANSWER("0x1", "45", "\"missed\":0,\"events\":[" EVENT_ROW("42") "]}"),
		 "42 link    a\\x1bb c (2 times, last L)\n", "events since 45 wait 25 json"},
		{ANSWER("0x1", "46", "\"more\":true,\"events\":[" EVENT_ROW("46") ",7]}"),
		 "46 link    a\\x1bb c (2 times, last L)\n", "events since 46 json"},
		{ANSWER("0x1", "90", "\"missed\":30,\"events\":[" EVENT_ROW("80") "]}"),
		 "76 stream  up to 30 events after 46 were missed, events are complete again after "
		 "76\n80 link    a\\x1bb c (2 times, last L)\n",
		 "events since 90 wait 25 json"},
		{NULL, "90 stream  the connection is lost: gone\n", "events since 90 json"},
		{NULL, "", "events since 90 json"},
		{ANSWER("0x1", "91", "\"events\":[" EVENT_ROW("91") "]}"),
		 "90 stream  connected again: run 0x1, MASTER, generation 3\n"
		 "91 link    a\\x1bb c (2 times, last L)\n",
		 "events since 91 wait 25 json"},
		{NULL, "91 stream  the connection is lost: gone\n", "events since 91 json"},
		/* Another run, which has that many events already: they are not those. */
		{ANSWER("0x2", "95", "\"events\":[" EVENT_ROW("95") "]}"),
		 "0 stream  the daemon was started again: run 0x2, MASTER, generation 3\n",
		 "events since 0 json"},
		{ANSWER("0x2", "95", "\"missed\":94,\"events\":[" EVENT_ROW("95") "]}"),
		 "94 stream  up to 94 events after 0 were missed, events are complete again after "
		 "94\n95 link    a\\x1bb c (2 times, last L)\n",
		 "events since 95 wait 25 json"},
		{"{}", NULL, "events since 95 json"},
	};
	struct stream stream = {0};

	take_all(&stream, taken, G_N_ELEMENTS(taken));
	stream_clear(&stream);
}
END_TEST

/* A serial that is yet to come is of an earlier run, also if that is not named. */
START_TEST(stream_since)
{
	static const struct taken future[] = {
		{ANSWER("0x2", "6", "\"missed\":0,\"events\":[" EVENT_ROW("6") "]}"),
		 "0 stream  the daemon was started again: run 0x2, MASTER, generation 3\n",
		 "events since 0 json"},
	};
	static const struct taken present[] = {
		{ANSWER("0x2", "6", "\"missed\":0,\"events\":[" EVENT_ROW("6") "]}"),
		 "5 stream  the stream starts: run 0x2, MASTER, generation 3\n"
		 "6 link    a\\x1bb c (2 times, last L)\n",
		 "events since 6 wait 25 json"},
	};
	struct stream a = {.since = true, .serial = 7}, b = {.since = true, .serial = 5};

	take_all(&a, future, 1);
	take_all(&b, present, 1);
	stream_clear(&a);
	stream_clear(&b);
}
END_TEST

START_TEST(stream_in_json)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct stream stream = {.json = true, .since = true, .serial = 5};
	bool waits;

	ck_assert(stream_take(&stream,
			      ANSWER("0x2", "9", "\"missed\":2,\"events\":[" EVENT_ROW("9") "]}"),
			      out, &waits));
	ck_assert_ptr_nonnull(strstr(out->str, "{\"run\":\"0x2\",\"serial\":5,\"time\":\""));
	ck_assert_ptr_nonnull(strstr(out->str, "\"kind\":\"stream\",\"change\":\"start\","));
	ck_assert_ptr_nonnull(strstr(out->str, "\"after\":5,\"missed\":2,\"generation\":3}\n"));
	ck_assert_msg(g_str_has_suffix(out->str, "\n{\"run\":\"0x2\","
						 "\"serial\":9,\"time\":\"T\","
						 "\"times\":2,\"last\":\"L\",\"kind\":\"link\","
						 "\"text\":\"a\\u001bb\\nc\"}\n"),
		      "%s", out->str);
	stream_clear(&stream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opensmctl");
	TCase *tcase = tcase_create("parts");

	tcase_add_loop_test(tcase, words_of_a_line, 0, G_N_ELEMENTS(lines));
	tcase_add_loop_test(tcase, command_line, 0, G_N_ELEMENTS(command_lines));
	tcase_add_loop_test(tcase, completion, 0, G_N_ELEMENTS(completions));
	tcase_add_test(tcase, common_beginning);
	tcase_add_test(tcase, completion_of_nonsense);
	tcase_add_test(tcase, harmless);
	tcase_add_test(tcase, view);
	tcase_add_loop_test(tcase, view_of_nonsense, 0, G_N_ELEMENTS(strange_answers));
	tcase_add_test(tcase, when_there_is_a_view);
	tcase_add_loop_test(tcase, stream_of_words, 0, G_N_ELEMENTS(streams));
	tcase_add_test(tcase, other_words);
	tcase_add_test(tcase, stream_of_answers);
	tcase_add_test(tcase, stream_since);
	tcase_add_test(tcase, stream_in_json);
	tcase_add_loop_test(tcase, records_of_a_daemon, 0, G_N_ELEMENTS(records));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

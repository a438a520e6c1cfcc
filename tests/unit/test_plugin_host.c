// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The host of a plug-in, with this test in the place of the daemon. */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "opensm/plugin.h"
#include "plugin/base/event_record.h"
#include "plugin/base/link.h"
#include "plugin/host/host.h"
#include "tests/directory.h"
#include "tests/run_suite.h"

#define PATIENCE_MS 20000

static int end;
static pthread_t thread;
static int result;
static char *directory, *record;
static struct link_head got;
static char octets[LINK_MESSAGE_MAX + 1];
static int files[LINK_FILES];

static void *run(void *arg)
{
	result = plugin_host_run(GPOINTER_TO_INT(arg));
	return NULL;
}

static void say(enum link_type type, uint32_t value, uint64_t id, const void *text, size_t length)
{
	const struct link_head head = {
		.type = type, .value = value, .id = id, .length = (uint32_t)length};

	ck_assert_int_eq(link_send(end, &head, text, NULL), LINK_DONE);
}

static void hello(const char *name, const char *options)
{
	GString *text = g_string_new(name);

	g_string_append_printf(text, "%call of it%c%s%c%s", 0, 0, options, 0, "OpenSM test");
	say(LINK_HELLO, 0, 0, text->str, text->len + 1);
	g_string_free(text, TRUE);
}

/* Starts a host, and has it load a plug-in of the build tree. */
static void begin(const char *plugin, const char *options)
{
	g_autofree char *file = g_strdup_printf("%s/%s", PLUGINS_DIR, plugin);
	g_autoptr(GError) error = NULL;
	int ends[2];

	ck_assert(link_pair(ends, &error));
	end = ends[0];
	pthread_create(&thread, NULL, run, GINT_TO_POINTER(ends[1]));
	hello(file, options);
}

static void hear(enum link_type type)
{
	do {
		ck_assert(link_wait(end, false, PATIENCE_MS));
		ck_assert_int_eq(link_receive(end, &got, octets, files), LINK_DONE);
		octets[got.length] = '\0';
	} while (type != LINK_LOG && got.type == LINK_LOG);
	ck_assert_msg(got.type == type, "type %u, expected %u: %s", got.type, type, octets);
}

static void hear_end(int expected)
{
	ck_assert(link_wait(end, false, PATIENCE_MS));
	ck_assert_int_eq(link_receive(end, &got, octets, files), LINK_ENDED);
	pthread_join(thread, NULL);
	ck_assert_int_eq(result, expected);
	close(end);
}

static void stop(void)
{
	say(LINK_STOP, 0, 0, NULL, 0);
	hear(LINK_ENDING);
	hear(LINK_STOPPED);
	ck_assert_int_eq(got.value, 0);
	hear_end(0);
}

static void send_events(uint32_t id, uint64_t first, unsigned int n)
{
	struct {
		struct event_record record;
		struct osm_about about;
		char text[8];
	} event = {.record = {.octets = sizeof(event),
			      .id = id,
			      .body_octets = sizeof(event.about),
			      .text_octets = 6},
		   .about = {.size = sizeof(event.about)},
		   .text = "hello"};
	GByteArray *all = g_byte_array_new();

	for (unsigned int i = 0; i < n; i++) {
		event.record.serial = first + i;
		g_byte_array_append(all, (const guint8 *)&event, sizeof(event));
	}
	say(LINK_EVENTS, n, 0, all->data, all->len);
	g_byte_array_unref(all);
}

static char *recorded(void)
{
	char *text = NULL;

	g_file_get_contents(record, &text, NULL, NULL);
	return text ? text : g_strdup("");
}

static void wait_for_line(const char *line)
{
	for (unsigned int i = 0; i < PATIENCE_MS / 5; i++) {
		g_autofree char *text = recorded();

		if (strstr(text, line))
			return;
		g_usleep(5000);
	}
	ck_abort_msg("no line \"%s\"", line);
}

static void setup(void)
{
	directory = g_dir_make_tmp("plugin-XXXXXX", NULL);
	record = g_build_filename(directory, "record", NULL);
}

static void teardown(void)
{
	directory_remove(directory);
	g_free(record);
	g_free(directory);
}

START_TEST(a_whole_life)
{
	g_autofree char *options = g_strdup_printf("to %s", record);
	g_autofree char *text = NULL;
	const struct link_loaded *loaded = (const void *)octets;

	begin("odd.so", options);
	hear(LINK_LOADED);
	ck_assert_int_eq(got.length, sizeof(*loaded));
	ck_assert_str_eq(loaded->name, "odd");
	ck_assert_str_eq(loaded->version, "1.2");
	ck_assert_int_eq(loaded->n_engines, 0);
	ck_assert(loaded->events == OSM_EVENTS_ALL);
	say(LINK_READY, 0, 0, NULL, 0);
	send_events(OSM_EVENT_SUBNET_UP, 7, 2);
	hear(LINK_TAKEN);
	ck_assert_int_eq(got.value, 2);
	stop();
	text = recorded();
	ck_assert_msg(strstr(text, "create abi 1 whole \"all of it\" own \"to "), "%s", text);
	ck_assert_msg(strstr(text, "request 3\n"), "%s", text); /* OSM_NOT_YET */
	ck_assert_msg(strstr(text, "event 4 serial 7 hello\nevent 4 serial 8 hello\ndestroy\n"),
		      "%s", text);
}
END_TEST

START_TEST(a_command_is_answered)
{
	g_autofree char *options = g_strdup_printf("to %s ask status", record);

	begin("odd.so", options);
	hear(LINK_LOADED);
	say(LINK_READY, 0, 0, NULL, 0);
	send_events(OSM_EVENT_SUBNET_UP, 1, 1);
	hear(LINK_REQUEST);
	ck_assert_int_eq(got.value, LINK_COMMAND);
	ck_assert_str_eq(octets, "status");
	say(LINK_ANSWER, OSM_OK, got.id + 1, "no request has this number", 5);
	say(LINK_ANSWER, OSM_USAGE, got.id, "line one\nline two\n", 18);
	hear(LINK_TAKEN);
	wait_for_line("answer 2 line one\n");
	stop();
}
END_TEST

START_TEST(a_stop_ends_what_waits)
{
	g_autofree char *options = g_strdup_printf("to %s ask status", record);

	begin("odd.so", options);
	hear(LINK_LOADED);
	say(LINK_READY, 0, 0, NULL, 0);
	send_events(OSM_EVENT_SUBNET_UP, 1, 9);
	hear(LINK_REQUEST);
	say(LINK_STOP, 0, 0, NULL, 0);
	hear(LINK_TAKEN);
	hear(LINK_ENDING);
	hear(LINK_STOPPED);
	hear_end(0);
	wait_for_line("answer 4 \ndestroy\n"); /* OSM_OVER, and no other event */
}
END_TEST

START_TEST(the_daemon_goes_away)
{
	g_autofree char *options = g_strdup_printf("to %s ask status", record);

	begin("odd.so", options);
	hear(LINK_LOADED);
	say(LINK_READY, 0, 0, NULL, 0);
	send_events(OSM_EVENT_SUBNET_UP, 1, 1);
	hear(LINK_REQUEST);
	close(end);
	pthread_join(thread, NULL);
	ck_assert_int_eq(result, 0);
	wait_for_line("destroy\n");
}
END_TEST

START_TEST(requests_are_limited)
{
	unsigned int n = 0;

	begin("odd.so", "flood 32");
	hear(LINK_LOADED);
	say(LINK_READY, 0, 0, NULL, 0);
	while (n < LINK_REQUESTS) {
		ck_assert(link_wait(end, false, PATIENCE_MS));
		ck_assert_int_eq(link_receive(end, &got, octets, files), LINK_DONE);
		n += got.type == LINK_REQUEST;
	}
	g_usleep(50000);
	while (link_receive(end, &got, octets, files) == LINK_DONE)
		ck_assert_int_ne(got.type, LINK_REQUEST);
	say(LINK_STOP, 0, 0, NULL, 0);
	hear(LINK_ENDING);
	hear(LINK_STOPPED);
	hear_end(0);
}
END_TEST

START_TEST(leaving_ends_the_events)
{
	g_autofree char *options = g_strdup_printf("to %s leave 4", record);
	g_autofree char *text = NULL;

	begin("odd.so", options);
	hear(LINK_LOADED);
	say(LINK_READY, 0, 0, NULL, 0);
	send_events(OSM_EVENT_SUBNET_UP, 1, 3);
	hear(LINK_LEAVE);
	hear(LINK_TAKEN);
	stop();
	text = recorded();
	ck_assert_msg(strstr(text, "serial 1 hello\ndestroy"), "%s", text);
}
END_TEST

START_TEST(leaving_in_create)
{
	g_autofree char *options = g_strdup_printf("to %s leave-create", record);
	g_autofree char *text = NULL;

	begin("odd.so", options);
	hear(LINK_LOADED);
	hear(LINK_LEAVE);
	say(LINK_READY, 0, 0, NULL, 0);
	send_events(OSM_EVENT_SUBNET_UP, 1, 3);
	hear(LINK_TAKEN);
	stop();
	text = recorded();
	ck_assert_msg(!strstr(text, "serial 1 "), "%s", text);
}
END_TEST

START_TEST(what_is_logged_is_sent)
{
	begin("odd.so", "log 2 null");
	hear(LINK_LOG);
	ck_assert_str_eq(octets, "line 0\nsecond");
	hear(LINK_LOG);
	hear(LINK_LOG);
	ck_assert_int_eq(got.value, OSM_LOG_ERROR);
	ck_assert_str_eq(octets, "it is told to fail");
	hear(LINK_FAILED);
	hear_end(1);
}
END_TEST

static const struct {
	const char *file, *text;
} wrongs[] = {
	{"odd.so/", "/odd.so/: cannot open shared object file: Not a directory"},
	{"not-there.so", "not-there.so: cannot open shared object file: No such file"},
	{"wrong0.so", "it exports no osm_plugin_v1()"},
	{"wrong1.so", "it is written for the classic OpenSM, whose plug-ins read its private "
		      "structs, which do not exist here; opensm-plugin(3) describes what to use, "
		      "and \"opensmctl events --follow\""},
	{"wrong2.so", "it is made for version 2 of the interface, expected 1"},
	{"wrong3.so", "its struct osm_plugin has size"},
	{"wrong4.so", "osm_plugin_v1() returned NULL"},
	{"wrong5.so", "it has no function create()"},
	{"wrong6.so", "its routing engine 0 has a name that cannot be used"},
	{"wrong7.so", "it has more than 16 routing engines"},
	{"wrong8.so", "it has two routing engines named a"},
	{"wrong9.so", "its routing engine a has no function route()"},
};

START_TEST(what_cannot_be_loaded_is_refused)
{
	begin(wrongs[_i].file, "");
	hear(LINK_FAILED);
	ck_assert_msg(strstr(octets, wrongs[_i].text), "%s", octets);
	hear_end(1);
}
END_TEST

START_TEST(texts_are_cut_between_characters)
{
	const struct link_loaded *loaded = (const void *)octets;

	begin("wrong10.so", "");
	hear(LINK_LOADED);
	ck_assert_str_eq(loaded->name,
			 "0123456789012345678901234567890123456789012345678901234567890");
	ck_assert_str_eq(loaded->version, "caf\uFFFD");
	stop();
}
END_TEST

START_TEST(a_name_without_a_file)
{
	g_autoptr(GError) error = NULL;
	int ends[2];

	ck_assert(link_pair(ends, &error));
	end = ends[0];
	pthread_create(&thread, NULL, run, GINT_TO_POINTER(ends[1]));
	hello("nowhere", "");
	hear(LINK_FAILED);
	ck_assert_msg(g_str_has_prefix(octets, "libnowhere.so: cannot open"), "%s", octets);
	hear_end(1);
}
END_TEST

/* Something else than a greeting ends the host at once. */
START_TEST(no_greeting)
{
	static const char *const texts[] = {"", "a", "a\0b\0c", "a\0b\0c\0"};
	static const size_t lengths[] = {0, 1, 5, 6};
	g_autoptr(GError) error = NULL;
	int ends[2];

	ck_assert(link_pair(ends, &error));
	end = ends[0];
	pthread_create(&thread, NULL, run, GINT_TO_POINTER(ends[1]));
	say(LINK_HELLO, 0, 0, texts[_i], lengths[_i]);
	hear_end(1);
}
END_TEST

START_TEST(glib_of_its_own)
{
	begin("glibby.so", "");
	hear(LINK_LOADED);
	hear(LINK_LOG);
	ck_assert_str_eq(octets, "tick");
	stop();
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("plugin_host");
	TCase *tcase = tcase_create("host");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_whole_life);
	tcase_add_test(tcase, a_command_is_answered);
	tcase_add_test(tcase, a_stop_ends_what_waits);
	tcase_add_test(tcase, the_daemon_goes_away);
	tcase_add_test(tcase, requests_are_limited);
	tcase_add_test(tcase, leaving_ends_the_events);
	tcase_add_test(tcase, leaving_in_create);
	tcase_add_test(tcase, what_is_logged_is_sent);
	tcase_add_loop_test(tcase, what_cannot_be_loaded_is_refused, 0, G_N_ELEMENTS(wrongs));
	tcase_add_test(tcase, texts_are_cut_between_characters);
	tcase_add_test(tcase, a_name_without_a_file);
	tcase_add_loop_test(tcase, no_greeting, 0, 4);
	tcase_add_test(tcase, glib_of_its_own);
	suite_add_tcase(suite, tcase);
	return suite;
}

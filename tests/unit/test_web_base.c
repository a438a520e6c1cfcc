// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Addresses, targets, requests and the configuration of opensm-web. */
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "web/base/address.h"
#include "web/base/config.h"
#include "web/base/exchange.h"
#include "web/base/say.h"
#include "web/base/target.h"

/* ---- addresses ---- */

static const struct {
	const char *text;
	int local; /* -1: not an address */
} addresses[] = {
	{"127.0.0.1:9315", 1},
	{"127.9.9.9:1", 1},
	{"[::1]:9315", 1},
	{"[::ffff:127.0.0.1]:80", 1},
	{"unix:/run/opensm/web.sock", 1},
	{"10.0.0.1:80", 0},
	{"0.0.0.0:80", 0},
	{"[::]:80", 0},
	{"[fe80::1]:80", 0},
	{"", -1},
	{":80", -1},
	{"localhost:80", -1},
	{"127.0.0.1", -1},
	{"127.0.0.1:", -1},
	{"127.0.0.1:65536", -1},
	{"127.0.0.1:-1", -1},
	{"127.0.0.1:80 ", -1},
	{"::1:80", -1},
	{"[::1]", -1},
	{"[::1]80", -1},
	{"[127.0.0.1]:80", -1},
	{"unix:", -1},
	{"unix:relative", -1},
};

START_TEST(address)
{
	struct address parsed;
	bool good = address_parse(&parsed, addresses[_i].text);
	const struct sockaddr *name = (const struct sockaddr *)&parsed.storage;
	g_autofree char *text = NULL;

	ck_assert_int_eq(good, addresses[_i].local >= 0);
	if (!good)
		return;
	ck_assert_int_eq(address_is_local(name), addresses[_i].local);
	text = address_text(name);
	ck_assert_str_eq(text, addresses[_i].text);
}
END_TEST

START_TEST(too_long_a_path)
{
	g_autofree char *name = g_strnfill(200, 'x');
	g_autofree char *text = g_strconcat("unix:/", name, NULL);
	struct address parsed;

	ck_assert(!address_parse(&parsed, text));
}
END_TEST

static const struct {
	const char *host;
	bool trusted;
} hosts[] = {
	{"localhost", true},
	{"LOCALHOST:80", true},
	{"127.0.0.1:9315", true},
	{"[fe80::1]:80", true},
	{"sm.site", true},
	{"Sm.Site:1", true},
	{"sm.site.evil", false},
	{"evil", false},
	{"127.0.0.1.evil:80", false},
	{"localhost.evil", false},
	{"", false},
	{"localhost, evil", false},
	{"evil, localhost:1", false},
	{"[evil]:80", false},
	{"site", false},
};

START_TEST(host)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	g_ptr_array_add(names, (gpointer) "sm.site");
	ck_assert_int_eq(address_host_is_trusted(hosts[_i].host, names), hosts[_i].trusted);
}
END_TEST

/* ---- targets ---- */

static const struct {
	const char *target, *path; /* path NULL: refused */
	const char *name, *value;  /* value NULL: no argument has the name */
} targets[] = {
	{"/", "/", "a", NULL},
	{"/a%20b?x=1&y=2", "/a b", "y", "2"},
	{"/?x=a+b%2b", "/", "x", "a b+"},
	{"/a+b", "/a+b", "x", NULL},
	{"/?x", "/", "x", ""},
	{"/?x=", "/", "x", ""},
	{"/?=x&&y=1", "/", "y", "1"},
	{"/?collect[]=switch", "/", "collect[]", "switch"},
	{"/?collect%5B%5D=hca", "/", "collect[]", "hca"},
	{"/?a=b=c", "/", "a", "b=c"},
	{"/x#y?z=1", "/x", "z", NULL},
	{"/%c3%a4?n=%C3%A4", "/\xc3\xa4", "n", "\xc3\xa4"},
	{"", NULL, NULL, NULL},
	{"*", NULL, NULL, NULL},
	{"http://a/b?x=1", "/b", "x", "1"},
	{"HTTPS://a?x=1", "/", "x", "1"},
	{"ftp://a/", NULL, NULL, NULL},
	{"http:/a", NULL, NULL, NULL},
	{"/%", NULL, NULL, NULL},
	{"/%a", NULL, NULL, NULL},
	{"/%zz", NULL, NULL, NULL},
	{"/%00", NULL, NULL, NULL},
	{"/%0a", NULL, NULL, NULL},
	{"/%7f", NULL, NULL, NULL},
	{"/%ff", NULL, NULL, NULL},
	{"/?x=%ff", NULL, NULL, NULL},
	{"/?%0d=x", NULL, NULL, NULL},
	{"/?x=%c0%af", NULL, NULL, NULL},
};

START_TEST(target)
{
	g_autofree char *why = NULL;
	struct request *request = target_request("GET", targets[_i].target, &why);

	ck_assert_int_eq(request != NULL, targets[_i].path != NULL);
	ck_assert_int_eq(!request, why != NULL);
	if (!request)
		return;
	ck_assert_str_eq(request->path, targets[_i].path);
	if (targets[_i].value)
		ck_assert_str_eq(request_argument(request, targets[_i].name), targets[_i].value);
	else
		ck_assert_ptr_null(request_argument(request, targets[_i].name));
	request_unref(request);
}
END_TEST

START_TEST(many_arguments)
{
	g_autoptr(GString) text = g_string_new("/?");
	g_autofree char *why = NULL;
	struct request *request;

	for (unsigned int i = 0; i < TARGET_MAX_ARGUMENTS; i++)
		g_string_append_printf(text, "g=%u&", i);
	request = target_request("GET", text->str, &why);
	ck_assert_ptr_nonnull(request);
	ck_assert_uint_eq(g_strv_length((char **)request_arguments(request, "g")),
			  TARGET_MAX_ARGUMENTS);
	ck_assert_str_eq(request_arguments(request, "g")[63], "63");
	request_unref(request);
	g_string_append(text, "g=1");
	ck_assert_ptr_null(target_request("GET", text->str, &why));
	ck_assert_ptr_nonnull(strstr(why, "at most 64"));
}
END_TEST

/* ---- requests ---- */

static void count(void *arg, struct request *request)
{
	(void)request;
	++*(unsigned int *)arg;
}

START_TEST(answered_once)
{
	struct request *request = request_new("GET", "/x");
	unsigned int answers = 0;
	gsize size;

	request_add_header(request, "X-Y", "a");
	request_add_header(request, "x-y", "b");
	request_add_header(request, "Content-Type", "application/json");
	ck_assert_str_eq(request_header(request, "X-y"), "a, b");
	ck_assert_str_eq(request->type, "application/json");
	request_listen(request, count, &answers);
	request_set_header(request, "A", "b");
	request_set_header(request, "Evil", "b\r\nSet-Cookie: x");
	ck_assert_ptr_null(request_taken_answer(request));
	request_fail(request, 418, "a \"quoted\" \x01 %s", "word\xff");
	request_answer_text(request, 200, "text/plain", g_strdup("late"));
	ck_assert_uint_eq(answers, 1);
	ck_assert_uint_eq(request_taken_answer(request)->status, 418);
	ck_assert_uint_eq(request_taken_answer(request)->headers->len, 2);
	ck_assert_str_eq(g_bytes_get_data(request_taken_answer(request)->body, &size),
			 "{\"error\":\"a \\\"quoted\\\" \\u0001 word\xef\xbf\xbd\"}\n");
	request_unref(request);
}
END_TEST

/* A handler that forgets its request does not leave a client without an answer. */
START_TEST(forgotten)
{
	struct request *request = request_new("GET", "/");
	unsigned int answers = 0;

	request_listen(request, count, &answers);
	request_ref(request);
	request_begun(request);
	ck_assert_uint_eq(answers, 0);
	request_unref(request);
	ck_assert_uint_eq(answers, 1);
	ck_assert_uint_eq(request_taken_answer(request)->status, 500);
	request_unref(request);
}
END_TEST

START_TEST(client_is_gone)
{
	struct request *request = request_new("GET", "/");
	unsigned int answers = 0;
	uint64_t octets = 0;
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	request_listen(request, count, &answers);
	request_forget(request);
	ck_assert(request_is_gone(request));
	request_answer_file(request, 200, "text/plain", held_new(file, &octets));
	ck_assert_uint_eq(answers, 0);
	ck_assert_int_lt(fcntl(file, F_GETFD), 0);
	request_unref(request);
}
END_TEST

START_TEST(lines_of_clients)
{
	struct say_limit limit = {0};
	unsigned int told = 0;

	for (unsigned int i = 0; i < 1000; i++)
		told += say_may(&limit, 1000 + i);
	ck_assert_uint_eq(told, 20);
	ck_assert(say_may(&limit, 2000 + 60 * G_USEC_PER_SEC));
}
END_TEST

/* ---- configuration ---- */

static struct config *parse(const char *text, GError **error)
{
	return config_parse("web.conf", text, strlen(text), error);
}

START_TEST(defaults)
{
	struct config *config = parse("", NULL);

	ck_assert_uint_eq(config->listen->len, 0);
	ck_assert_uint_eq(config->metrics, CONFIG_METRICS_ERRORS);
	ck_assert_uint_eq(config->rest, CONFIG_REST_OFF);
	ck_assert(config->page && !config->insecure_listen);
	ck_assert_uint_eq(config->max_connections, 256);
	ck_assert_uint_eq(config->rest_pkeys[1], 0x7ffe);
	config_free(config);
}
END_TEST

START_TEST(values)
{
	struct config *config = parse("listen 127.0.0.1:1\n  listen\t[::1]:2 # here\r\n"
				      "rest_pkeys 0x10-0x20\ntrusted_hosts A, b.c\n"
				      "metrics all\npage off\nufm_version 6.20 x",
				      NULL);

	ck_assert_uint_eq(config->listen->len, 2);
	ck_assert_str_eq(config->listen->pdata[1], "[::1]:2");
	ck_assert_uint_eq(config->rest_pkeys[0], 0x10);
	ck_assert_str_eq(config->trusted_hosts->pdata[0], "a");
	ck_assert_str_eq(config->trusted_hosts->pdata[1], "b.c");
	ck_assert_uint_eq(config->metrics, CONFIG_METRICS_ALL);
	ck_assert(!config->page);
	ck_assert_str_eq(config->ufm_version, "6.20 x");
	config_free(config);
}
END_TEST

/* All mistakes at once, with their lines. */
START_TEST(mistakes)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(parse("listn x\n\npage maybe\nrest_pkeys 0-5\npage on\n", &error));
	ck_assert_str_eq(error->message,
			 "web.conf:1: 'listn': expected an option of opensm-web.conf(5)\n"
			 "web.conf:3: page: found 'maybe', expected on or off\n"
			 "web.conf:4: rest_pkeys: found '0-5', expected FIRST-LAST, two P_Keys "
			 "from 0x0001 to 0x7ffe\n"
			 "web.conf:5: page: line 3 has given it already");
}
END_TEST

START_TEST(not_text)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(config_parse("f", "page\0on", 7, &error));
	g_clear_error(&error);
	ck_assert_ptr_null(parse("page \xff", &error));
}
END_TEST

/* The manual page and the sample have every option, and the sample is good as it is. */
START_TEST(documented)
{
	static const char *const files[] = {"man/opensm-web.conf.5",
					    "config/samples/opensm-web.conf"};
	g_autoptr(GError) error = NULL;
	struct config *config;

	for (unsigned int i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = g_build_filename(SOURCE_DIR, files[i], NULL);
		g_autofree char *text = NULL;
		const char *name;

		ck_assert(g_file_get_contents(path, &text, NULL, NULL));
		for (unsigned int n = 0; (name = config_name(n)); n++) {
			g_autofree char *row = g_strdup_printf(i ? "%s " : ".It Cm %s ", name);

			ck_assert_msg(strstr(text, row), "%s: %s", files[i], name);
		}
		if (!i)
			continue;
		config = parse(text, &error);
		ck_assert_msg(config, "%s", error ? error->message : "");
		ck_assert(config_check(config, path, NULL));
		config_free(config);
	}
}
END_TEST

/* Every line of the sample is good when its mark is taken away. */
START_TEST(sample_lines)
{
	g_autofree char *path =
		g_build_filename(SOURCE_DIR, "config/samples/opensm-web.conf", NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) {
		g_autoptr(GError) error = NULL;
		struct config *config;

		if (lines[i][0] != '#' || !g_ascii_islower(lines[i][1]))
			continue;
		config = parse(lines[i] + 1, &error);
		ck_assert_msg(config, "%s", error ? error->message : "");
		config_free(config);
	}
}
END_TEST

static const struct {
	const char *text, *mistake; /* NULL: none */
} together[] = {
	{"listen 127.0.0.1:1", NULL},
	{"listen 10.0.0.1:1", "expected tls_cert and tls_key"},
	{"listen 127.0.0.1:1\nlisten [::]:1", "listen [::]:1"},
	{"listen 10.0.0.1:1\ninsecure_listen TRUE", NULL},
	{"listen 10.0.0.1:1\ntls_cert /c\ntls_key /k", NULL},
	{"tls_key /k", "both or neither"},
	{"tls_ca /c", "expected tls_cert beside it"},
	{"tls_cert /c\ntls_key /k\ntls_ca /a", "expected tls_clients_file"},
	{"tls_cert /c\ntls_key /k\ntls_ca /a\ntls_client_role read", NULL},
	{"tls_clients_file /c", "expected tls_ca"},
	{"rest read", NULL},
	{"rest write", "expected auth_file"},
	{"rest write\nauth_file /a", NULL},
};

START_TEST(goes_together)
{
	struct config *config = parse(together[_i].text, NULL);
	g_autoptr(GError) error = NULL;

	ck_assert_int_eq(config_check(config, "web.conf", &error), !together[_i].mistake);
	ck_assert(!error || strstr(error->message, together[_i].mistake));
	config_free(config);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("web_base");
	TCase *cases = tcase_create("base");

	tcase_add_loop_test(cases, address, 0, G_N_ELEMENTS(addresses));
	tcase_add_test(cases, too_long_a_path);
	tcase_add_loop_test(cases, host, 0, G_N_ELEMENTS(hosts));
	tcase_add_loop_test(cases, target, 0, G_N_ELEMENTS(targets));
	tcase_add_test(cases, many_arguments);
	tcase_add_test(cases, answered_once);
	tcase_add_test(cases, forgotten);
	tcase_add_test(cases, client_is_gone);
	tcase_add_test(cases, lines_of_clients);
	tcase_add_test(cases, defaults);
	tcase_add_test(cases, values);
	tcase_add_test(cases, mistakes);
	tcase_add_test(cases, not_text);
	tcase_add_test(cases, documented);
	tcase_add_test(cases, sample_lines);
	tcase_add_loop_test(cases, goes_together, 0, G_N_ELEMENTS(together));
	suite_add_tcase(suite, cases);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Users, tokens, certificates, and wrong passwords. */
#include <check.h>
#include <crypt.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/fake_daemon.h"
#include "web/auth/login.h"
#include "web/auth/tries.h"
#include "web/base/exchange.h"

/* Of "secret", in few rounds. */
static const char *hash_of(const char *password, struct crypt_data *data)
{
	*data = (struct crypt_data){0};
	return crypt_r(password, "$5$rounds=1000$salt", data);
}

static const struct {
	void (*parse)(struct users *users, const char *file, const char *text, GString *mistakes);
	const char *text, *mistake; /* NULL: none */
} files[] = {
	{users_parse_passwords, "# users\n\n a:$6$x$y:read \nb:$y$x:write\n", NULL},
	{users_parse_passwords, "a:$6$x$y\n", "f:1: expected NAME:HASH:ROLE"},
	{users_parse_passwords, "\n:$6$x:read\n", "f:2: expected NAME:HASH:ROLE"},
	{users_parse_passwords, "a:secret:read\n", "f:1: the hash of 'a'"},
	{users_parse_passwords, "a:$1$x$y:read\n", "f:1: the hash of 'a'"},
	{users_parse_passwords, "a:$6$x$y:all\n", "f:1: expected read or write"},
	{users_parse_passwords, "a:$6$x$y:read\na:$6$x$y:write\n", "f:2: 'a' has a line already"},
	{users_parse_passwords, "a:$6$x$y:read\xff\n", "f: expected text in UTF-8"},
	{users_parse_tokens,
	 "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef:read:name\n", NULL},
	{users_parse_tokens, "0123:read\n", "f:1: expected SHA256:ROLE"},
	{users_parse_tokens,
	 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg:read\n",
	 "f:1: expected SHA256:ROLE"},
	{users_parse_clients, "read CN=a,O=b c\nwrite\tspiffe://a/b\n", NULL},
	{users_parse_clients, "read\n", "f:1: expected ROLE NAME"},
	{users_parse_clients, "admin CN=a\n", "f:1: expected read or write"},
};

START_TEST(file)
{
	struct users *users = users_new();
	g_autoptr(GString) mistakes = g_string_new(NULL);

	files[_i].parse(users, "f", files[_i].text, mistakes);
	if (files[_i].mistake)
		ck_assert_msg(g_str_has_prefix(mistakes->str, files[_i].mistake), "%s",
			      mistakes->str);
	else
		ck_assert_str_eq(mistakes->str, "");
	ck_assert_ptr_null(strstr(mistakes->str, "secret"));
	users_free(users);
}
END_TEST

START_TEST(certificate)
{
	static const char *const names[] = {"CN=unknown", "spiffe://a/b", NULL};
	struct users *users = users_new();
	g_autoptr(GString) mistakes = g_string_new(NULL);

	users_parse_clients(users, "f", "read CN=a\nwrite spiffe://a/b\n", mistakes);
	ck_assert_int_eq(users_by_certificate(users, names)->role, WEB_WRITER);
	ck_assert_ptr_null(users_by_certificate(users, names + 2));
	ck_assert_ptr_null(users_by_name(users, "CN=a"));
	users_free(users);
}
END_TEST

static const struct {
	const char *header, *token, *name, *password; /* token NULL: refused */
} headers[] = {
	{"Basic dXNlcjpwYTpzcw==", "dXNlcjpwYTpzcw==", "user", "pa:ss"},
	{"basic  dXNlcjo=", "dXNlcjo=", "user", ""},
	{"Basic my-token", "my-token", NULL, NULL},
	{"Bearer dXNlcjpwYTpzcw==", "dXNlcjpwYTpzcw==", NULL, NULL},
	{"Basic", NULL, NULL, NULL},
	{"Basic ", NULL, NULL, NULL},
	{"", NULL, NULL, NULL},
	{"Digest x", NULL, NULL, NULL},
	{"BasicX y", NULL, NULL, NULL},
	{"Basic /zr/", "/zr/", NULL, NULL},	    /* not UTF-8 */
	{"Basic AGE6Yg==", "AGE6Yg==", NULL, NULL}, /* a NUL in it */
};

START_TEST(header)
{
	char *token, *name, *password;

	ck_assert_int_eq(login_parse(headers[_i].header, &token, &name, &password),
			 headers[_i].token != NULL);
	ck_assert_int_eq(g_strcmp0(token, headers[_i].token), 0);
	ck_assert_int_eq(g_strcmp0(name, headers[_i].name), 0);
	ck_assert_int_eq(g_strcmp0(password, headers[_i].password), 0);
	g_free(token);
	g_free(name);
	g_free(password);
}
END_TEST

START_TEST(tries)
{
	struct tries *counted = tries_new();

	for (unsigned int i = 0; i < TRIES_MAX; i++) {
		ck_assert(!tries_too_many(counted, "2001:db8::1", 1000));
		tries_add(counted, i % 2 ? "2001:db8::1" : "2001:db8::2:0:0:9", 1000);
	}
	ck_assert(tries_too_many(counted, "2001:db8::77", 1000));
	ck_assert(!tries_too_many(counted, "2001:db8:0:1::1", 1000));
	ck_assert(!tries_too_many(counted, "10.0.0.1", 1000));
	ck_assert(!tries_too_many(counted, "2001:db8::1", 1000 + 60 * G_USEC_PER_SEC));
	for (unsigned int i = 0; i < 30000; i++) {
		g_autofree char *address = g_strdup_printf("10.0.%u.%u", i >> 8, i & 255);

		tries_add(counted, address, 1000);
	}
	tries_free(counted);
}
END_TEST

struct result {
	bool done;
	enum login_result result;
	enum web_role role;
	char *name;
};

static void on_result(void *arg, enum login_result result, enum web_role role, const char *name)
{
	struct result *got = arg;

	got->done = true;
	got->result = result;
	got->role = role;
	g_free(got->name);
	got->name = g_strdup(name);
}

static void check_header(struct login *login, const struct users *users, const char *text,
			 struct result *result)
{
	struct request *request = request_new("GET", "/");

	if (text)
		request_add_header(request, "Authorization", text);
	result->done = false;
	login_check(login, users, request, on_result, result);
	ck_assert(fake_run_until(&result->done));
	request_unref(request);
}

static struct users *some_users(void)
{
	struct users *users = users_new();
	g_autoptr(GString) mistakes = g_string_new(NULL);
	g_autofree struct crypt_data *data = g_new(struct crypt_data, 1);
	g_autofree char *line = g_strdup_printf("user:%s:write\n", hash_of("secret", data));
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "my-token", -1);
	g_autofree char *token = g_strconcat(digest, ":read:robot\n", NULL);

	users_parse_passwords(users, "f", line, mistakes);
	users_parse_tokens(users, "f", token, mistakes);
	ck_assert_str_eq(mistakes->str, "");
	return users;
}

#define RIGHT "Basic dXNlcjpzZWNyZXQ=" /* user:secret */

START_TEST(logins)
{
	struct login *login = login_new();
	struct users *users = some_users();
	struct result result = {0};

	check_header(login, users, NULL, &result);
	ck_assert_int_eq(result.result, LOGIN_MISSING);
	check_header(login, users, "", &result);
	ck_assert_int_eq(result.result, LOGIN_MISSING);
	check_header(login, users, RIGHT, &result);
	ck_assert(result.result == LOGIN_RIGHT && result.role == WEB_WRITER);
	ck_assert_str_eq(result.name, "user");
	check_header(login, users, "Basic my-token", &result);
	ck_assert(result.result == LOGIN_RIGHT && result.role == WEB_READER);
	ck_assert_str_eq(result.name, "robot");
	check_header(login, users, "Basic bXktdG9rZW46", &result); /* my-token: */
	ck_assert(result.result == LOGIN_RIGHT && result.role == WEB_READER);
	check_header(login, users, "Basic eDpteS10b2tlbg==", &result); /* x:my-token */
	ck_assert(result.result == LOGIN_RIGHT && result.role == WEB_READER);
	check_header(login, users, "Basic dXNlcjpvdGhlcg==", &result); /* user:other */
	ck_assert_int_eq(result.result, LOGIN_WRONG);
	check_header(login, users, "Basic b3RoZXI6c2VjcmV0", &result); /* other:secret */
	ck_assert_int_eq(result.result, LOGIN_WRONG);
	users_free(users);
	login_free(login);
	g_free(result.name);
}
END_TEST

/* One that guesses is stopped; one that is right, and was so before, is not. */
START_TEST(guesses)
{
	struct login *login = login_new();
	struct users *users = some_users();
	struct result result = {0}, wrong[TRIES_MAX] = {{0}};
	struct request *request = request_new("GET", "/");

	check_header(login, users, RIGHT, &result);
	request_add_header(request, "Authorization", "Bearer wrong");
	for (unsigned int i = 0; i < TRIES_MAX; i++)
		login_check(login, users, request, on_result, &wrong[i]);
	check_header(login, users, "Bearer wrong", &result);
	ck_assert_int_eq(result.result, LOGIN_TOO_MANY);
	check_header(login, users, RIGHT, &result);
	ck_assert_int_eq(result.result, LOGIN_RIGHT);
	for (unsigned int i = 0; i < TRIES_MAX; i++) {
		ck_assert(fake_run_until(&wrong[i].done));
		ck_assert_int_eq(wrong[i].result, LOGIN_WRONG);
		g_free(wrong[i].name);
	}
	request_unref(request);
	users_free(users);
	login_free(login);
	g_free(result.name);
}
END_TEST

#define AT_ONCE 30

static const struct {
	const char *header;
	unsigned int right, wrong;
} at_once[] = {
	{"Basic dXNlcjpvdGhlcg==", 0, TRIES_MAX},
	{RIGHT, AT_ONCE, 0},
};

/* Guesses that come together are not more than those that come one after another. */
START_TEST(guesses_at_once)
{
	struct login *login = login_new();
	struct users *users = some_users();
	struct result results[AT_ONCE] = {{0}};
	unsigned int n[LOGIN_TOO_MANY + 1] = {0};
	struct request *request = request_new("GET", "/");

	request_add_header(request, "Authorization", at_once[_i].header);
	for (unsigned int i = 0; i < AT_ONCE; i++)
		login_check(login, users, request, on_result, &results[i]);
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		ck_assert(fake_run_until(&results[i].done));
		n[results[i].result]++;
		g_free(results[i].name);
	}
	ck_assert_uint_eq(n[LOGIN_RIGHT], at_once[_i].right);
	ck_assert_uint_eq(n[LOGIN_WRONG], at_once[_i].wrong);
	ck_assert_uint_eq(n[LOGIN_TOO_MANY], AT_ONCE - at_once[_i].right - at_once[_i].wrong);
	request_unref(request);
	users_free(users);
	login_free(login);
}
END_TEST

static gboolean on_time(gpointer over)
{
	*(bool *)over = true;
	return G_SOURCE_REMOVE;
}

/* Checks under way are forgotten. */
START_TEST(freed)
{
	struct login *login = login_new();
	struct users *users = some_users();
	struct result result = {0};
	struct request *request = request_new("GET", "/");
	bool over = false;

	request_add_header(request, "Authorization", "Basic dXNlcjpvdGhlcg==");
	for (unsigned int i = 0; i < 8; i++)
		login_check(login, users, request, on_result, &result);
	login_free(login);
	g_timeout_add(200, on_time, &over);
	ck_assert(fake_run_until(&over));
	ck_assert(!result.done);
	request_unref(request);
	users_free(users);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("web_auth");
	TCase *cases = tcase_create("auth");

	tcase_set_timeout(cases, 30);
	tcase_add_loop_test(cases, file, 0, G_N_ELEMENTS(files));
	tcase_add_test(cases, certificate);
	tcase_add_loop_test(cases, header, 0, G_N_ELEMENTS(headers));
	tcase_add_test(cases, tries);
	tcase_add_test(cases, logins);
	tcase_add_test(cases, guesses);
	tcase_add_loop_test(cases, guesses_at_once, 0, G_N_ELEMENTS(at_once));
	tcase_add_test(cases, freed);
	suite_add_tcase(suite, cases);
	return suite;
}

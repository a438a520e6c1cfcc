// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Routes, roles and handlers with a daemon that is made up, and the crowd of connections. */
#define _GNU_SOURCE /* memfd_create() */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "tests/unit/fake_daemon.h"
#include "web/api/asker.h"
#include "web/api/stats.h"
#include "web/api/wait.h"
#include "web/auth/login.h"
#include "web/base/exchange.h"
#include "web/base/target.h"
#include "web/routes.h"
#include "web/serve/crowd.h"

/* ---- a daemon of a few answers ---- */

struct site {
	struct fake_daemon *fake;
	struct web web;
	const char *state, *health; /* what it answers */
	unsigned int asked;
	char *last; /* line */
};

static char *answer(void *arg, const char *line, bool *close)
{
	struct site *site = arg;

	(void)close;
	site->asked++;
	g_free(site->last);
	site->last = g_strdup(line);
	if (!strcmp(line, "status json"))
		return fake_record(CONTROL_DONE, site->state);
	if (!strcmp(line, "health json"))
		return fake_record(CONTROL_SUBNET_BAD, site->health);
	if (g_str_has_prefix(line, "path "))
		return fake_record(CONTROL_FAILED, "{\"error\":\"no subnet yet\"}\n");
	if (g_str_has_prefix(line, "qos "))
		return fake_record(CONTROL_USAGE, "{\"error\":\"expected a node\"}\n");
	if (g_str_has_prefix(line, "mgroups ") || !strcmp(line, "switchbalance json") ||
	    !strcmp(line, "events since 9 wait 25 json"))
		return NULL; /* for long */
	if (!strcmp(line, "events since 9 json"))
		return fake_record(CONTROL_DONE, "{\"serial\":9,\"events\":[]}\n");
	if (!strcmp(line, "events since 7 json"))
		return fake_record(CONTROL_DONE, "{\"serial\":7,\"events\":[]}\n");
	if (!strcmp(line, "events since 7 wait 25 json"))
		return fake_record(CONTROL_DONE, "{\"serial\":8,\"events\":[1]}\n");
	if (strstr(line, "shard=3/2"))
		return fake_record(CONTROL_USAGE,
				   "Invalid metrics command: shard=3/2: expected I/N\n"
				   "metrics [descriptor] [openmetrics]\n");
	if (g_str_has_prefix(line, "metrics descriptor "))
		return control_record_of_file();
	if (g_str_has_prefix(line, "events since "))
		return fake_record(CONTROL_DONE, "{\"serial\":8,\"events\":[2]}\n");
	return fake_record(CONTROL_DONE, "{\"version\":\"fake\"}\n");
}

static void site_init(struct site *site, const char *conf)
{
	struct web *web = &site->web;

	*site = (struct site){.state = "{}", .health = "{}"};
	site->fake = fake_daemon_new(answer, site);
	web->config = config_parse("web.conf", conf, strlen(conf), NULL);
	web->users = users_read(web->config, NULL);
	web->link = link_new(fake_daemon_path(site->fake), 2);
	web->asker = asker_new(web->link, &web->held);
	web->probe_link = link_new(fake_daemon_path(site->fake), 1);
	web->probes = asker_new(web->probe_link, &web->held);
	web->waits = waits_new(fake_daemon_path(site->fake));
	web->stats = stats_new();
	web->login = login_new();
}

static void site_clear(struct site *site)
{
	struct web *web = &site->web;

	login_free(web->login);
	asker_free(web->asker);
	asker_free(web->probes);
	waits_free(web->waits);
	link_free(web->link);
	link_free(web->probe_link);
	stats_free(web->stats);
	users_free(web->users);
	config_free(web->config);
	fake_daemon_free(site->fake);
	g_free(site->last);
}

static void on_answer(void *arg, struct request *request)
{
	(void)request;
	*(bool *)arg = true;
}

/* A request that was answered; of a client of this host or another one. */
static struct request *ask(struct site *site, const char *method, const char *target, bool local)
{
	g_autofree char *why = NULL;
	struct request *request = target_request(method, target, &why);
	bool done = false;

	request_set_caller(request, &(struct caller){.address = "10.0.0.1", .local = local});
	request_listen(request, on_answer, &done);
	routes_serve(&site->web, request);
	request_begun(request);
	ck_assert(fake_run_until(&done));
	return request;
}

static const char *body_of(const struct request *request)
{
	gsize size;

	return g_bytes_get_data(request_taken_answer(request)->body, &size);
}

static void expect(struct site *site, const char *target, bool local, unsigned int status,
		   const char *text)
{
	struct request *request = ask(site, "GET", target, local);
	g_autofree char *body =
		g_strndup(body_of(request), g_bytes_get_size(request_taken_answer(request)->body));

	ck_assert_msg(request_taken_answer(request)->status == status, "%s: %u %s", target,
		      request_taken_answer(request)->status, body);
	ck_assert_msg(strstr(body, text), "%s: %s", target, body);
	request_unref(request);
}

/* ---- roles ---- */

START_TEST(roles)
{
	struct site site;

	site_init(&site, "metrics_auth auto\n");
	expect(&site, "/livez", false, 200, "ok");
	expect(&site, "/api/v1/version", true, 200, "fake");
	expect(&site, "/api/v1/version", false, 401, "needs a user");
	expect(&site, "/metrics", false, 401, "needs a user");
	expect(&site, "/nothing", false, 404, "not found");
	site_clear(&site);
	site_init(&site, "metrics off\nmetrics_auth none\n");
	expect(&site, "/metrics", false, 404, "metrics are off");
	site_clear(&site);
}
END_TEST

START_TEST(methods)
{
	struct site site;
	struct request *request;

	site_init(&site, "");
	request = ask(&site, "PUT", "/livez", true);
	ck_assert_uint_eq(request_taken_answer(request)->status, 405);
	ck_assert_str_eq(request_taken_answer(request)->headers->pdata[1], "GET, HEAD");
	request_unref(request);
	ck_assert_uint_eq(site.asked, 0);
	site_clear(&site);
}
END_TEST

/* ---- probes ---- */

static const struct {
	const char *target, *state, *health;
	unsigned int status;
	const char *text;
} probes[] = {
	{"/readyz", "{\"sm_state\":\"Master\",\"has_subnet\":true}", "{}", 200, "ok"},
	{"/readyz?verbose", "{\"sm_state\":\"Master\",\"has_subnet\":true}", "{}", 200,
	 "[+]daemon ok\n[+]master ok\n[+]subnet ok\n"},
	{"/readyz", "{\"sm_state\":\"Master\",\"has_subnet\":false}", "{}", 503,
	 "[-]subnet failed: no sweep has ended yet"},
	{"/readyz", "{\"sm_state\":\"Discovering\"}", "{}", 503, "the SM is Discovering"},
	{"/readyz", "{\"sm_state\":\"Standby\"}",
	 "{\"master\":{\"heard\":true,\"heard_seconds_ago\":1}}", 200, "ok"},
	{"/readyz", "{\"sm_state\":\"Standby\"}",
	 "{\"master\":{\"heard\":true,\"heard_seconds_ago\":99}}", 503, "does not answer"},
	{"/readyz", "{\"sm_state\":\"Standby\"}", "{\"master\":{\"heard\":false}}", 503,
	 "not heard"},
	{"/readyz", "{\"sm_state\":\"Standby\"}", "{}", 503, "not heard"},
	{"/readyz?role=master", "{\"sm_state\":\"Standby\"}",
	 "{\"master\":{\"heard\":true,\"heard_seconds_ago\":1}}", 503, "[-]master failed"},
	{"/readyz?role=x", "{}", "{}", 400, "expected master"},
	{"/readyz", "[]", "{}", 503, "the SM is unknown"},
	{"/readyz", "nonsense", "{}", 503, "the SM is unknown"},
	{"/healthz", "{}", "{\"healthy\":true}", 200, "healthy"},
	{"/healthz", "{}", "{\"healthy\":false}", 503, "healthy"},
	{"/healthz", "{}", "{\"healthy\":\"yes\"}", 503, "healthy"},
	{"/healthz", "{}", "", 503, "error"},
};

START_TEST(probe)
{
	struct site site;

	site_init(&site, "");
	site.state = probes[_i].state;
	site.health = probes[_i].health;
	expect(&site, probes[_i].target, false, probes[_i].status, probes[_i].text);
	site_clear(&site);
}
END_TEST

/* ---- answers of the console ---- */

START_TEST(lines)
{
	struct site site;

	site_init(&site, "");
	site.state = "{\"sm_state\":\"Master\",\"has_subnet\":true,\"sms\":[],\"mads\":{}}";
	expect(&site, "/api/v1/events?n=5", true, 200, "fake");
	ck_assert_str_eq(site.last, "events 5 json");
	expect(&site, "/api/v1/partitions/0x7FFF", true, 200, "fake");
	ck_assert_str_eq(site.last, "partitions 0x7fff json");
	expect(&site, "/api/v1/perfmgr/top?arg=5&arg=a%20b", true, 200, "fake");
	ck_assert_str_eq(site.last, "perfmgr top 5 \"a b\" json");
	expect(&site, "/api/v1/cc/ports?arg=a%20b&arg=1", true, 200, "fake");
	ck_assert_str_eq(site.last, "cc ports \"a b\" 1 json");
	expect(&site, "/api/v1/cc", true, 200, "fake");
	ck_assert_str_eq(site.last, "cc json");
	expect(&site, "/api/v1/sms", true, 200, ",\"sms\":[]}");
	expect(&site, "/api/v1/qos?node=x", true, 400, "expected a node");
	expect(&site, "/metrics/ports?shard=3/2", true, 400,
	       "{\"error\":\"shard=3/2: expected I/N\"}");
	expect(&site, "/api/v1/perfmgr/sweep", true, 400, "expected one of top, history");
	expect(&site, "/api/v1/cc/ask", true, 400, "expected one of ports, values, log, effect");
	expect(&site, "/api/v1/partitions/reload", true, 400, "expected a P_Key");
	expect(&site, "/api/v1/qos?node=reload", true, 400, "expected a LID");
	expect(&site, "/api/v1/path?from=a%22%27&to=b", true, 400, "quotes");
	site_clear(&site);
}
END_TEST

/* What cannot be answered says whether another daemon can. */
START_TEST(failures)
{
	struct site site;

	site_init(&site, "");
	site.health = "{\"state\":\"STANDBY\",\"master\":{\"guid\":\"0x0123\"}}";
	expect(&site, "/api/v1/path?from=a&to=b", true, 503, "\"master\":\"0x0123\"");
	site_clear(&site);
	site_init(&site, "");
	site.health = "{\"state\":\"MASTER\",\"last_sweep\":{}}";
	expect(&site, "/api/v1/path?from=a&to=b", true, 404, "no subnet yet");
	expect(&site, "/api/v1/plan", true, 401, "needs a user");
	fake_daemon_kill(site.fake);
	expect(&site, "/api/v1/mgroups", true, 503, "error");
	expect(&site, "/api/v1/wait?since=1", true, 503, "error");
	site_clear(&site);
}
END_TEST

static const char *const about_subnets[] = {"summary",
					    "nodes",
					    "links",
					    "ports",
					    "cable?node=1&port=1",
					    "history?node=0x1&port=1",
					    "unhealthy",
					    "perfmgr",
					    "perfmgr/top",
					    "cc",
					    "cc/ports",
					    "ports_down",
					    "ports_slow",
					    "portstatus",
					    "switchbalance",
					    "subscriptions"};

/* A standby, and a daemon before its first sweep, has no subnet, which is not an empty one. */
START_TEST(no_subnet)
{
	struct site site;
	g_autofree char *path = g_strconcat("/api/v1/", about_subnets[_i], NULL);

	site_init(&site, "");
	site.state = "{\"sm_state\":\"Standby\",\"has_subnet\":true}";
	site.health = "{\"state\":\"STANDBY\",\"master\":{\"guid\":\"0x0123\"}}";
	expect(&site, path, true, 503, "\"master\":\"0x0123\"");
	site_clear(&site);
	site_init(&site, "");
	site.state = "{\"sm_state\":\"Master\",\"has_subnet\":false}";
	site.health = "{\"state\":\"MASTER\"}";
	expect(&site, path, true, 503, "no subnet");
	site_clear(&site);
}
END_TEST

/* Requests that ask for an answer at once cost the daemon one question. */
START_TEST(shared)
{
	struct site site;
	struct request *requests[50];
	bool done[50] = {false};
	g_autofree char *why = NULL;

	site_init(&site, "");
	for (unsigned int i = 0; i < 50; i++) {
		requests[i] = target_request("GET", "/api/v1/status", &why);
		request_set_caller(requests[i], &(struct caller){.address = "a", .local = true});
		request_listen(requests[i], on_answer, &done[i]);
		routes_serve(&site.web, requests[i]);
	}
	for (unsigned int i = 0; i < 50; i++) {
		ck_assert(fake_run_until(&done[i]));
		request_unref(requests[i]);
	}
	ck_assert_uint_eq(site.asked, 1);
	expect(&site, "/api/v1/status", true, 200, "{}");
	ck_assert_uint_eq(site.asked, 1);
	site_clear(&site);
}
END_TEST

static int file_of(off_t size)
{
	int file = memfd_create("test", MFD_CLOEXEC);

	ck_assert(file > 0 && ftruncate(file, size) == 0);
	return file;
}

static bool file_is_open(int file)
{
	return fcntl(file, F_GETFD) >= 0;
}

/* Slow clients hold one file together, and no more octets than there is room for. */
START_TEST(scrapes)
{
	struct site site;
	struct request *a, *b, *c;
	int file = file_of(HELD_MAX - 10), small = file_of(100);

	site_init(&site, "metrics all\n");
	fake_daemon_set_file(site.fake, file);
	a = ask(&site, "GET", "/metrics/ports", true);
	b = ask(&site, "GET", "/metrics/ports", true);
	ck_assert_uint_eq(site.asked, 1);
	ck_assert_ptr_nonnull(request_taken_answer(a)->file);
	ck_assert_ptr_eq(request_taken_answer(a)->file, request_taken_answer(b)->file);
	ck_assert_uint_eq(site.web.held, HELD_MAX - 10);
	fake_daemon_set_file(site.fake, small);
	c = ask(&site, "GET", "/metrics/ports?level=errors", true);
	ck_assert_uint_eq(request_taken_answer(c)->status, 503);
	ck_assert_ptr_nonnull(strstr(body_of(c), "too many large answers"));
	ck_assert_str_eq(request_taken_answer(c)->headers->pdata[2], "Retry-After");
	request_unref(a);
	request_unref(b);
	request_unref(c);
	site_clear(&site);
	ck_assert_uint_eq(site.web.held, 0);
	close(file);
	close(small);
}
END_TEST

START_TEST(held_files)
{
	uint64_t octets = 0;
	int file = file_of(100), large = file_of(HELD_MAX), larger = file_of(HELD_MAX + 1);
	struct held *held = held_new(file, &octets), *alone;
	char octet = 'x';

	ck_assert_uint_eq(held_size(held_ref(held)), 100);
	ck_assert_int_eq(held_read(held, &octet, 1, 99), 1);
	ck_assert_int_eq(octet, 0);
	ck_assert_int_eq(held_read(held, &octet, 1, 100), 0);
	held_unref(held);
	ck_assert(file_is_open(file));
	ck_assert_ptr_null(held_new(large, &octets));
	ck_assert(!file_is_open(large));
	held_unref(held);
	ck_assert(!file_is_open(file));
	alone = held_new(larger, &octets);
	ck_assert_uint_eq(octets, HELD_MAX + 1);
	held_unref(alone);
	ck_assert_uint_eq(octets, 0);
}
END_TEST

START_TEST(news)
{
	struct site site;

	site_init(&site, "");
	expect(&site, "/api/v1/wait?since=7", true, 200, "{\"serial\":8,\"events\":[1]}");
	ck_assert_str_eq(site.last, "events since 7 wait 25 json");
	expect(&site, "/api/v1/wait?since=3", true, 200, "[2]");
	ck_assert_str_eq(site.last, "events since 3 json");
	site_clear(&site);
}
END_TEST

/* One that is not answered yet. */
static struct request *begin(struct site *site, const char *target, bool *done)
{
	g_autofree char *why = NULL;
	struct request *request = target_request("GET", target, &why);

	request_set_caller(request, &(struct caller){.address = "10.0.0.1", .local = true});
	request_listen(request, on_answer, done);
	routes_serve(&site->web, request);
	request_begun(request);
	return request;
}

/* A client that waits gives way with an answer without news; others go on waiting. */
START_TEST(yields)
{
	struct site site;
	struct request *a, *b;
	bool first = false, second = false;

	site_init(&site, "");
	a = begin(&site, "/api/v1/wait?since=9", &first);
	b = begin(&site, "/api/v1/wait?since=9", &second);
	ck_assert(!request_can_yield(a));
	while (!request_can_yield(a) || !request_can_yield(b))
		g_main_context_iteration(NULL, TRUE);
	request_yield(a);
	ck_assert(first && !second && !request_can_yield(a) && request_can_yield(b));
	ck_assert_uint_eq(request_taken_answer(a)->status, 200);
	ck_assert_str_eq(request_taken_answer(a)->headers->pdata[1], "close");
	ck_assert_ptr_nonnull(strstr(body_of(a), "{\"serial\":9,\"events\":[]}"));
	request_unref(a);
	fake_daemon_kill(site.fake);
	ck_assert(fake_run_until(&second));
	ck_assert_uint_eq(request_taken_answer(b)->status, 503);
	request_unref(b);
	site_clear(&site);
}
END_TEST

/* Questions that take the daemon long do not keep probes waiting. */
START_TEST(long_questions)
{
	struct site site;
	struct request *requests[2];
	bool done[2] = {false};

	site_init(&site, "");
	site.state = "{\"sm_state\":\"Master\",\"has_subnet\":true}";
	requests[0] = begin(&site, "/api/v1/mgroups", &done[0]);
	requests[1] = begin(&site, "/api/v1/switchbalance", &done[1]);
	while (site.asked < 3)
		g_main_context_iteration(NULL, TRUE);
	expect(&site, "/livez", true, 200, "ok");
	expect(&site, "/readyz", true, 200, "ok");
	ck_assert(!done[0] && !done[1]);
	fake_daemon_kill(site.fake);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert(fake_run_until(&done[i]));
		request_unref(requests[i]);
	}
	site_clear(&site);
}
END_TEST

/* ---- what opensm-web counts of itself ---- */

START_TEST(own_metrics)
{
	struct stats *stats = stats_new();
	g_autoptr(GString) text = g_string_new(NULL), open = g_string_new(NULL);

	stats_add(stats, "b", 200, .002);
	stats_add(stats, "a", 503, 40);
	stats_add(stats, "a", 200, .5);
	stats_add(stats, "a", 200, .5);
	stats_write(stats, 3, false, text);
	stats_write(stats, 3, true, open);
	ck_assert_ptr_nonnull(strstr(text->str, "# TYPE opensm_web_requests_total counter\n"));
	ck_assert_ptr_nonnull(strstr(open->str, "# TYPE opensm_web_requests counter\n"));
	ck_assert_ptr_nonnull(strstr(text->str,
				     "opensm_web_requests_total{handler=\"a\",code=\"200\"} 2\n"
				     "opensm_web_requests_total{handler=\"a\",code=\"503\"} 1\n"
				     "opensm_web_requests_total{handler=\"b\",code=\"200\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "{handler=\"a\",le=\"0.1\"} 0\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "{handler=\"a\",le=\"1.0\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "{handler=\"a\",le=\"10.0\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "{handler=\"a\",le=\"+Inf\"} 3\n"));
	ck_assert_ptr_nonnull(strstr(text->str, "_sum{handler=\"a\"} 41.0\n"));
	for (unsigned int code = 400; code < 420; code++)
		stats_add(stats, "a", code, 1);
	g_string_truncate(open, 0);
	stats_write(stats, 3, true, open);
	ck_assert_uint_lt(open->len, 3000); /* each code is one line */
	stats_free(stats);
}
END_TEST

/* ---- connections ---- */

struct visit {
	struct member *member;
	int other; /* end of its socket */
	int socket;
};

static struct visit enter(struct crowd *crowd, const char *address)
{
	int ends[2];
	struct visit visit;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	visit = (struct visit){crowd_enter(crowd, address, ends[0]), ends[1], ends[0]};
	g_usleep(2000); /* each is younger than the one before */
	return visit;
}

static bool is_shut(const struct visit *visit)
{
	char octet;

	return recv(visit->other, &octet, 1, MSG_DONTWAIT) == 0;
}

static void leave(struct crowd *crowd, struct visit *visit)
{
	crowd_leave(crowd, visit->member);
	close(visit->socket);
	close(visit->other);
}

/* The oldest that has sent no whole request gives way, of the same address if that has too many. */
START_TEST(crowded)
{
	struct crowd *crowd = crowd_new(4, 2);
	struct visit a = enter(crowd, "a"), b = enter(crowd, "b"), c = enter(crowd, "b"), d, e;

	ck_assert(crowd_makes_room(crowd, "c"));
	ck_assert(!is_shut(&a) && !is_shut(&b));
	ck_assert(crowd_makes_room(crowd, "b"));
	ck_assert(is_shut(&b) && !is_shut(&a) && !is_shut(&c));
	ck_assert_uint_eq(crowd_size(crowd), 2);
	leave(crowd, &b);
	d = enter(crowd, "c");
	e = enter(crowd, "d");
	member_set_state(a.member, MEMBER_WAITS);
	ck_assert(crowd_makes_room(crowd, "e"));
	ck_assert(!is_shut(&a) && is_shut(&c));
	member_set_state(d.member, MEMBER_IS_SENT);
	member_set_state(e.member, MEMBER_WAITS);
	b = enter(crowd, "f");
	member_set_state(b.member, MEMBER_WAITS);
	ck_assert(!crowd_makes_room(crowd, "e"));
	leave(crowd, &a);
	leave(crowd, &b);
	leave(crowd, &c);
	leave(crowd, &d);
	leave(crowd, &e);
	crowd_free(crowd);
}
END_TEST

START_TEST(slow)
{
	struct crowd *crowd = crowd_new(4, 4);
	struct visit a = enter(crowd, "a"), b = enter(crowd, "a");
	gint64 now = g_get_monotonic_time();

	member_set_state(b.member, MEMBER_WAITS);
	crowd_look(crowd, now + 14 * G_USEC_PER_SEC);
	ck_assert(!is_shut(&a));
	crowd_look(crowd, now + 16 * G_USEC_PER_SEC);
	ck_assert(is_shut(&a));
	crowd_look(crowd, now + 1000ll * 1000 * G_USEC_PER_SEC);
	ck_assert(!is_shut(&b));
	leave(crowd, &a);
	leave(crowd, &b);
	crowd_free(crowd);
}
END_TEST

/* A connection of TCP whose buffers are small. */
static void connect_tcp(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), octets = 4096;

	ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(ends[1], SOL_SOCKET, SO_RCVBUF, &octets, sizeof(octets));
	ck_assert(!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 1));
	ck_assert(!getsockname(listener, (struct sockaddr *)&address, &size));
	ck_assert(!connect(ends[1], (struct sockaddr *)&address, size));
	ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	ck_assert_int_ge(ends[0], 0);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &octets, sizeof(octets));
	close(listener);
}

/* As much as the socket takes, while the client takes that many octets. */
static void pour(const int ends[2], size_t taken)
{
	static char piece[65536];
	ssize_t n;

	do {
		while (send(ends[0], piece, sizeof(piece), 0) > 0)
			;
		n = recv(ends[1], piece, MIN(sizeof(piece), taken), taken ? 0 : MSG_DONTWAIT);
		taken -= taken && n > 0 ? (size_t)n : 0;
	} while (taken);
	while (send(ends[0], piece, sizeof(piece), 0) > 0)
		;
}

static const struct {
	uint64_t answer;
	size_t taken;
	unsigned int seconds;
	bool shut;
} trickles[] = {
	{2 << 20, 0, 9, false},	      {2 << 20, 0, 12, true},  {2 << 20, 1 << 20, 12, false},
	{2 << 20, 1 << 20, 60, true}, {1 << 20, 0, 12, false},
};

/* A client may not keep a large answer for long by taking it slowly. */
START_TEST(trickle)
{
	struct crowd *crowd = crowd_new(4, 4);
	struct member *member;
	int ends[2];
	char octets[65536];
	ssize_t n;

	connect_tcp(ends);
	member = crowd_enter(crowd, "a", ends[0]);
	member_set_answer(member, trickles[_i].answer);
	pour(ends, trickles[_i].taken);
	crowd_look(crowd, g_get_monotonic_time() + trickles[_i].seconds * G_USEC_PER_SEC);
	do
		n = recv(ends[1], octets, sizeof(octets), MSG_DONTWAIT);
	while (n > 0);
	ck_assert_int_eq(send(ends[0], octets, 1, MSG_NOSIGNAL) < 0 && errno == EPIPE,
			 trickles[_i].shut);
	crowd_leave(crowd, member);
	crowd_free(crowd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("web_serve");
	TCase *cases = tcase_create("serve");

	tcase_set_timeout(cases, 30);
	tcase_add_test(cases, roles);
	tcase_add_test(cases, methods);
	tcase_add_loop_test(cases, probe, 0, G_N_ELEMENTS(probes));
	tcase_add_test(cases, lines);
	tcase_add_test(cases, failures);
	tcase_add_loop_test(cases, no_subnet, 0, G_N_ELEMENTS(about_subnets));
	tcase_add_test(cases, shared);
	tcase_add_test(cases, scrapes);
	tcase_add_test(cases, held_files);
	tcase_add_test(cases, news);
	tcase_add_test(cases, yields);
	tcase_add_test(cases, long_questions);
	tcase_add_test(cases, own_metrics);
	tcase_add_test(cases, crowded);
	tcase_add_test(cases, slow);
	tcase_add_loop_test(cases, trickle, 0, G_N_ELEMENTS(trickles));
	suite_add_tcase(suite, cases);
	return suite;
}

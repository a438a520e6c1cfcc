// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * REST of orchestrators: what their bodies mean, the lines for the daemon, its answers as they are
 * shown, and what is refused before the daemon is asked.
 */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/fake_daemon.h"
#include "web/api/asker.h"
#include "web/base/exchange.h"
#include "web/rest/audit.h"
#include "web/rest/rest.h"
#include "web/rest/rest_private.h"

/* ---- words ---- */

static const struct {
	const char *text;
	unsigned int p_key; /* 0: refused */
} p_keys[] = {
	{"0x1", 1},	{"0x001A", 0x1a}, {"0X1a", 0x1a}, {"26", 26},	  {"0x7fff", 0x7fff},
	{"0x0", 0},	{"0", 0},	  {"0x8000", 0},  {"0x8001", 0},  {"0xffff", 0},
	{"65535", 0},	{"", 0},	  {"0x", 0},	  {"-1", 0},	  {"+1", 0},
	{"0x1 ", 0},	{" 1", 0},	  {"1a", 0},	  {"0x0x1", 0},	  {"0x10000", 0},
	{"0x\n1", 0},	{"1;0x2:", 0},
};

START_TEST(words_of_p_keys)
{
	uint16_t p_key = 0;
	g_autofree char *mistake = body_p_key(p_keys[_i].text, &p_key);

	ck_assert_msg(!mistake == !!p_keys[_i].p_key, "%s: %s", p_keys[_i].text, mistake);
	if (!mistake)
		ck_assert_uint_eq(p_key, p_keys[_i].p_key);
}
END_TEST

static const struct {
	const char *list;
	unsigned int n; /* 0: refused */
	uint64_t last;
} guids[] = {
	{"02000000000000ff", 1, 0x02000000000000ff},
	{"0x2c90300a1B2c3", 1, 0x2c90300a1b2c3},
	{"00:02:c9:03:00:a1:b2:c3", 1, 0x2c90300a1b2c3},
	{"1, 2 ,0x3", 3, 3},
	{"1,", 0},
	{"0", 0},
	{"0000000000000000", 0},
	{"02000000000000ff0", 0},
	{"1:", 0},
	{":1", 0},
	{"0x", 0},
	{"1=full;0x2:", 0},
	{"1 2", 0},
};

START_TEST(words_of_guids)
{
	g_autofree char *mistake = NULL;
	struct body body;

	body_init(&body);
	mistake = body_guids(&body, guids[_i].list);
	ck_assert_msg(!mistake == !!guids[_i].n, "%s: %s", guids[_i].list, mistake);
	if (!mistake) {
		ck_assert_uint_eq(body.members->len, guids[_i].n);
		ck_assert_uint_eq(
			g_array_index(body.members, struct body_member, guids[_i].n - 1).guid,
			guids[_i].last);
	}
	body_clear(&body);
}
END_TEST

/* ---- bodies and lines ---- */

static const struct {
	const char *body;
	enum write_kind kind;
	const char *line;
} lines[] = {
	{"{\"pkey\": \"0x001A\", \"index0\": true, \"ip_over_ib\": true, \"membership\": \"full\", "
	 "\"guids\": [\"0200000000000001\",\"0200000000000002\"]}",
	 WRITE_ADD, "change by rest:U wait none strict merge 0x1a,ipoib,indx0:"
		    "0x200000000000001=full,0x200000000000002=full json"},
	{"{\"pkey\":26,\"guids\":\"1,2\",\"memberships\":[\"limited\",\"FULL\"],\"x\":{}}",
	 WRITE_ADD, "change by rest:U wait none strict merge 0x1a:0x1=limited,0x2=full json"},
	{"{\"pkey\":\"1\",\"guids\":[\"1\"],\"ip_over_ib\":false,\"index0\":\"False\"}",
	 WRITE_REPLACE,
	 "change by rest:U wait none strict replace 0x1,ipoib=no,indx0=no:0x1=full json"},
	{"{\"pkey\":\"0x1\",\"guids\":[]}", WRITE_REPLACE,
	 "change by rest:U wait none strict replace 0x1: json"},
	{"{\"pkey\":\"0x1\",\"partition_name\":\"a b;c:\\\"\",\"ip_over_ib\":true,\"mtu_limit\":4,"
	 "\"service_level\":3,\"rate_limit\":2.5}",
	 WRITE_MAKE,
	 "change by rest:U wait none strict merge a_b_c__=0x1,ipoib,stays,mtu=5,rate=2,sl=3: json"},
	{"{\"pkey\":\"0x1\",\"mtu_limit\":2,\"service_level\":0,\"rate_limit\":300}", WRITE_QOS,
	 "change by rest:U wait none strict existing merge 0x1,mtu=4,rate=18,sl=0: json"},
	{"{\"pkey\":\"0x1\",\"rate_limit\":\"400\"}", WRITE_QOS,
	 "change by rest:U wait none strict existing merge 0x1,rate=21: json"},
	{"{\"pkey\":\"0x1\",\"guids\":[\"1\",\"2\"],\"membership\":\"limited\"}", WRITE_REMOVE,
	 "change by rest:U wait none strict 0x1:0x1=none,0x2=none json"},
	{"{\"pkey\":\"0x1\"}", WRITE_DELETE, "forget by rest:U wait none strict existing 0x1 json"},
};

START_TEST(lines_for_the_daemon)
{
	g_autofree char *mistake = NULL, *line = NULL;
	struct body body;

	body_init(&body);
	mistake = body_parse(&body, lines[_i].body, strlen(lines[_i].body));
	ck_assert_msg(!mistake, "%s", mistake);
	line = write_line(&body, lines[_i].kind, "U", false);
	ck_assert(g_str_has_prefix(line, "partitions "));
	ck_assert_str_eq(line + strlen("partitions "), lines[_i].line);
	body_clear(&body);
}
END_TEST

/* A new partition has IPoIB unless it is said otherwise; a name of a user is one word. */
START_TEST(defaults)
{
	const char *text = "{\"pkey\":\"0x1\",\"guids\":[\"1\"]}";
	g_autofree char *mistake = NULL, *line = NULL;
	struct body body;

	body_init(&body);
	mistake = body_parse(&body, text, strlen(text));
	ck_assert_ptr_null(mistake);
	line = write_line(&body, WRITE_ADD, "jo \"x\" json 'y'", true);
	ck_assert_str_eq(line, "partitions change by rest:jo__x__json__y_ wait none strict merge "
			       "0x1,ipoib:0x1=full json");
	body_clear(&body);
}
END_TEST

static const char *const wrong_bodies[] = {
	"",
	"{",
	"[]",
	"7",
	"null",
	"{\"pkey\":null,\"guids\":7}",
	"{\"pkey\":true}",
	"{\"pkey\":{}}",
	"{\"pkey\":1.5}",
	"{\"pkey\":\"0x8001\"}",
	"{\"guids\":[7]}",
	"{\"guids\":[\"x\"]}",
	"{\"guids\":{\"a\":1}}",
	"{\"guids\":[\"1\"],\"membership\":\"f\"}",
	"{\"guids\":[\"1\"],\"membership\":7}",
	"{\"guids\":[\"1\"],\"memberships\":[]}",
	"{\"guids\":[\"1\"],\"memberships\":\"full\"}",
	"{\"guids\":[\"1\"],\"memberships\":[7]}",
	"{\"ip_over_ib\":7}",
	"{\"index0\":\"yes\"}",
	"{\"mtu_limit\":1}",
	"{\"mtu_limit\":5}",
	"{\"mtu_limit\":\"x\"}",
	"{\"service_level\":16}",
	"{\"service_level\":-1}",
	"{\"service_level\":1.5}",
	"{\"rate_limit\":7}",
	"{\"rate_limit\":[]}",
	"{\"partition_name\":7}",
	"{\"hosts_names\":7}",
	"{\"memberships\":7}",
	"{\"pkey\":\"0x1\",\"partition_name\":\"management\"}",
	"{\"pkey\":\"0x1\",\"partition_name\":\"api_pkey_0x2\"}",
	"{\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}",
	"\xff",
	"{\"pkey\":\"0x1a\\u0000zz\"}",
	"{\"x\":\"\\ud800\"}",
	"{\"x\":\"\\ud800\\u0041\"}",
	"{\"x\":\"\\udc00\"}",
	"{\"x\":\"\\x41\"}",
	"{\"x\":\"a\nb\"}",
	"{\"x\":\"a}",
	"{\"x\":01}",
	"{\"x\":1.}",
	"{\"x\":1e}",
	"{\"x\":-}",
	"{\"x\":+1}",
	"{\"x\":nil}",
	"{\"x\":1,}",
	"{\"x\" 1}",
	"{x:1}",
	"{'x':1}",
	"{\"x\":[1,]}",
	"{\"x\":[1 2]}",
	"{} {}",
	"{}/* */",
};

static const char *const right_bodies[] = {
	"{}",
	" { \"x\" : [ -0.5e+3 , 0 , true , false , null , { } , [ ] ] } \n",
	"{\"x\":\"\\ud83d\\ude00 \\u00e9 \\\" \\\\ \\/ \\b\\f\\n\\r\\t\"}",
	"{\"x\":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]}",
	"{\"pkey\":\"0x1\",\"partition_name\":\"api_pkey_0x1\"}",
};

START_TEST(read_bodies)
{
	struct body body;
	g_autofree char *mistake = NULL;

	body_init(&body);
	mistake = body_parse(&body, right_bodies[_i], strlen(right_bodies[_i]));
	ck_assert_msg(mistake == NULL, "%s: %s", right_bodies[_i], mistake);
	body_clear(&body);
}
END_TEST

START_TEST(refused_bodies)
{
	struct body body;
	g_autofree char *mistake = NULL;

	body_init(&body);
	mistake = body_parse(&body, wrong_bodies[_i], strlen(wrong_bodies[_i]));
	ck_assert_msg(mistake != NULL, "%s", wrong_bodies[_i]);
	body_clear(&body);
}
END_TEST

START_TEST(bounds)
{
	g_autoptr(GString) text = g_string_new("{\"pkey\":\"1\",\"guids\":[\"1\"");
	g_autofree char *mistake = NULL, *more = NULL;
	struct body body;

	for (unsigned int i = 2; i <= BODY_GUIDS_MAX; i++)
		g_string_append_printf(text, ",\"%x\"", i);
	body_init(&body);
	g_string_append(text, "]}");
	mistake = body_parse(&body, text->str, text->len);
	ck_assert_ptr_null(mistake);
	ck_assert_uint_eq(body.members->len, BODY_GUIDS_MAX);
	more = body_guids(&body, "1");
	ck_assert_ptr_nonnull(strstr(more, "at most 8192"));
	body_clear(&body);
}
END_TEST

/* ---- answers ---- */

static const struct {
	const char *answer; /* what the daemon says beside the P_Key */
	bool guids, qos;
	const char *shown;
} shown[] = {
	{"\"p_key\":\"0x7fff\",\"name\":\"Default\",\"ipoib\":true,\"all\":\"limited\","
	 "\"full\":[\"0x0000000000000001\"]",
	 true, false,
	 "{\"partition\":\"management\",\"ip_over_ib\":true,\"index0\":false,"
	 "\"membership\":\"limited\",\"guids\":[],\"effective\":{\"exists\":false,"
	 "\"ip_over_ib\":false,\"service_level\":0}}"},
	{"\"p_key\":\"0x031a\",\"name\":\"\",\"ipoib\":false,\"indx0\":true,\"all\":\"none\","
	 "\"full\":[\"0x0002c903000a1b2c\"],\"limited\":[\"0x0000000000000002\"],"
	 "\"both\":[\"0x0000000000000003\"],\"not_at_index0\":[\"0x0000000000000002\"]",
	 true, false,
	 "{\"partition\":\"api_pkey_0x31a\",\"ip_over_ib\":false,\"guids\":["
	 "{\"guid\":\"0002c903000a1b2c\",\"index0\":true,\"membership\":\"full\"},"
	 "{\"guid\":\"0000000000000003\",\"index0\":true,\"membership\":\"full\"},"
	 "{\"guid\":\"0000000000000002\",\"index0\":false,\"membership\":\"limited\"}],"
	 "\"effective\":{\"exists\":false,\"ip_over_ib\":false,\"service_level\":0}}"},
	{"\"p_key\":\"0x0001\",\"name\":\"a\\\"b\",\"ipoib\":true", false, false,
	 "{\"partition\":\"a\\\"b\",\"ip_over_ib\":true}"},
	/* not given: the defaults of partitions.conf */
	{"\"p_key\":\"0x0001\",\"name\":\"a\",\"mtu\":0,\"rate\":0,\"sl\":0,"
	 "\"effective\":{\"exists\":true,\"ipoib\":true,\"mtu\":4,\"rate\":3,\"sl\":0}",
	 false, true,
	 "{\"partition\":\"a\",\"ip_over_ib\":false,\"qos_conf\":{\"mtu_limit\":2,"
	 "\"service_level\":0,\"rate_limit\":10},\"effective\":{\"exists\":true,"
	 "\"ip_over_ib\":true,\"service_level\":0,\"mtu\":2048,\"rate\":10}}"},
	/* what clients refuse is shown as the nearest below */
	{"\"p_key\":\"0x0001\",\"name\":\"a\",\"mtu\":1,\"rate\":21,\"sl\":7,"
	 "\"effective\":{\"exists\":true,\"ipoib\":true,\"mtu\":1,\"rate\":21,\"sl\":0}",
	 false, true,
	 "{\"partition\":\"a\",\"ip_over_ib\":false,\"qos_conf\":{\"mtu_limit\":2,"
	 "\"service_level\":7,\"rate_limit\":300},\"effective\":{\"exists\":true,"
	 "\"ip_over_ib\":true,\"service_level\":0,\"mtu\":256,\"rate\":400}}"},
	{"\"p_key\":\"0x0001\",\"name\":\"a\",\"mtu\":5,\"rate\":2,\"sl\":15", false, true,
	 "{\"partition\":\"a\",\"ip_over_ib\":false,\"qos_conf\":{\"mtu_limit\":4,"
	 "\"service_level\":15,\"rate_limit\":2.5},\"effective\":{\"exists\":false,"
	 "\"ip_over_ib\":false,\"service_level\":0}}"},
};

START_TEST(answers)
{
	g_autofree char *text = g_strdup_printf("{%s}", shown[_i].answer);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GString) out = g_string_new(NULL);

	ck_assert(json_parser_load_from_data(parser, text, -1, NULL));
	reads_add_partition(out, json_node_get_object(json_parser_get_root(parser)),
			    shown[_i].guids, shown[_i].qos);
	ck_assert_str_eq(out->str, shown[_i].shown);
}
END_TEST

/* Each rate that a client may set is shown as it was set, but for those that clients refuse. */
START_TEST(rates)
{
	static const double allowed[] = {2.5, 5,  10, 14,  20,	25,  30,  40, 56,
					 60,  80, 100, 112, 120, 168, 200, 300};

	for (size_t i = 0; i < G_N_ELEMENTS(allowed); i++) {
		g_autofree char *text = g_strdup_printf("{\"rate_limit\":%g}", allowed[i]);
		g_autofree char *mistake = NULL;
		struct body body;

		body_init(&body);
		mistake = body_parse(&body, text, strlen(text));
		ck_assert_msg(!mistake, "%s", mistake);
		ck_assert_uint_eq(body_rate_shown((unsigned int)body.rate),
				  (unsigned int)(allowed[i] * 10));
		body_clear(&body);
	}
}
END_TEST

/* ---- what the daemon is not asked ---- */

static const struct {
	const char *method, *path, *type, *body;
	unsigned int rest; /* enum config_rest */
	unsigned int status;
	const char *allow;
} refused[] = {
	{"GET", "/ufmRest/resources/pkeys", "", NULL, CONFIG_REST_OFF, 404},
	{"GET", "/ufmRest/resources", "", NULL, CONFIG_REST_WRITE, 404},
	{"GET", "/ufmRest/", "", NULL, CONFIG_REST_WRITE, 404},
	{"GET", "/ufmRestV3/resources/pkeys/0x1/guids", "", NULL, CONFIG_REST_WRITE, 404},
	{"GET", "/ufmRest/resources/pkeys/0x8001", "", NULL, CONFIG_REST_WRITE, 400},
	{"PATCH", "/ufmRest/resources/pkeys", "", NULL, CONFIG_REST_WRITE, 405, "GET, POST, PUT"},
	{"PUT", "/ufmRest/resources/pkeys/0x1/", "", NULL, CONFIG_REST_WRITE, 405, "GET, DELETE"},
	{"GET", "/ufmRest/actions/remove_guids_from_pkey", "", NULL, CONFIG_REST_WRITE, 405,
	 "POST"},
	{"POST", "/ufmRest/resources/pkeys", "text/plain", "{}", CONFIG_REST_WRITE, 415},
	{"POST", "/ufmRest/resources/pkeys", "application/jsonx", "{}", CONFIG_REST_WRITE, 415},
	{"POST", "/ufmRest/resources/pkeys", "", "{}", CONFIG_REST_WRITE, 415},
	{"POST", "/ufmRest/resources/pkeys", WEB_JSON, NULL, CONFIG_REST_WRITE, 400},
	{"POST", "/ufmRest/resources/pkeys", WEB_JSON, "{}", CONFIG_REST_WRITE, 400},
	{"POST", "/ufmRest/resources/pkeys", WEB_JSON, "{\"pkey\":\"1\"}", CONFIG_REST_READ, 403},
	{"POST", "/ufmRest/resources/pkeys", WEB_JSON, "{\"pkey\":\"0x7fff\"}", CONFIG_REST_WRITE,
	 409},
	{"POST", "/ufmRest/resources/pkeys", WEB_JSON, "{\"pkey\":\"0x1001\"}", CONFIG_REST_WRITE,
	 409},
	{"PUT", "/ufmRest/resources/pkeys/", WEB_JSON "; charset=utf-8", "{\"pkey\":\"0xf\"}",
	 CONFIG_REST_WRITE, 409},
	{"DELETE", "/ufmRest/resources/pkeys/0x7fff", "", NULL, CONFIG_REST_WRITE, 409},
	{"DELETE", "/ufmRest/resources/pkeys/x", "", NULL, CONFIG_REST_WRITE, 400},
	{"DELETE", "/ufmRest/resources/pkeys/0x20/guids/x", "", NULL, CONFIG_REST_WRITE, 400},
	/* nothing to do */
	{"POST", "/ufmRest/actions/remove_guids_from_pkey", WEB_JSON,
	 "{\"pkey\":\"0x20\",\"guids\":[]}", CONFIG_REST_WRITE, 200},
};

static const char *header_of(const struct answer *answer, const char *name)
{
	for (guint i = 0; i + 1 < answer->headers->len; i += 2)
		if (!strcmp(answer->headers->pdata[i], name))
			return answer->headers->pdata[i + 1];
	return NULL;
}

START_TEST(refusals)
{
	struct config config = {.rest = refused[_i].rest, .rest_pkeys = {0x10, 0x1000}};
	struct web web = {.config = &config};
	struct request *request = request_new(refused[_i].method, refused[_i].path);
	const char *body = refused[_i].body;
	const struct answer *answer;

	if (*refused[_i].type)
		request_add_header(request, "Content-Type", refused[_i].type);
	if (body)
		request_set_body(request, g_bytes_new(body, strlen(body)));
	rest_serve(&web, request);
	answer = request_taken_answer(request);
	ck_assert_ptr_nonnull(answer);
	ck_assert_uint_eq(answer->status, refused[_i].status);
	if (refused[_i].allow)
		ck_assert_str_eq(header_of(answer, "Allow"), refused[_i].allow);
	request_unref(request);
}
END_TEST

/* ---- lists, from what a daemon says ---- */

static char *say_lists(void *arg, const char *line, bool *close)
{
	(void)arg, (void)close;
	if (g_str_has_prefix(line, "status"))
		return fake_record(0, "{\"sm_state\":\"Master\",\"has_subnet\":true}");
	if (g_str_has_prefix(line, "aliases"))
		return fake_record(
			0, "{\"aliases\":[{\"guid\":\"0x0002c90000000017\","
			   "\"port_guid\":\"0x248a0703008a850a\",\"index\":1,\"present\":true,"
			   "\"node\":\"node7 mlx5_0\",\"system_guid\":\"0x248a0703008a8508\","
			   "\"port\":1,\"lid\":34,\"active\":true},7]}");
	return fake_record(0, "{\"ports\":[{\"switch\":\"leaf\","
			      "\"switch_guid\":\"0x0000000000000007\",\"port\":3,"
			      "\"condition\":\"flapping\",\"node\":\"h\\\"1\","
			      "\"node_guid\":\"0x0000000000000009\"}]}");
}

static const struct {
	const char *path, *body;
} listed[] = {
	{"/ufmRest/resources/vports",
	 "[{\"virtual_port_guid\":\"0002c90000000017\",\"virtual_port_state\":\"Active\","
	 "\"virtual_port_lid\":34,\"physical_port_number\":1,\"system_guid\":"
	 "\"248a0703008a8508\",\"system_name\":\"node7\",\"node_description\":"
	 "\"node7 mlx5_0\",\"port_guid\":\"248a0703008a850a\",\"port_name\":"
	 "\"248a0703008a850a_1\"},\n{\"virtual_port_guid\":\"\","},
	{"/ufmRestV3/app/unhealthy_ports/",
	 "[{\"UnhealthyGUID\":\"0000000000000007\",\"UnhealthyPortNumber\":3,\"UnhealthyNode\":"
	 "\"leaf\",\"UnhealthyPort\":\"leaf/3\",\"PeerGUID\":\"0000000000000009\","
	 "\"PeerNode\":\"h\\\"1\",\"Condition\":\"flapping\",\"State\":\"Warning\""},
};

static void on_listed(void *done, struct request *request)
{
	(void)request;
	*(bool *)done = true;
}

START_TEST(lists)
{
	struct config config = {.rest = CONFIG_REST_READ};
	struct fake_daemon *fake = fake_daemon_new(say_lists, NULL);
	struct web web = {.config = &config, .link = link_new(fake_daemon_path(fake), 1)};
	struct request *request = request_new("GET", listed[_i].path);
	bool done = false;
	gsize size;

	web.asker = asker_new(web.link, &web.held);
	request_listen(request, on_listed, &done);
	rest_serve(&web, request);
	ck_assert(fake_run_until(&done));
	ck_assert_uint_eq(request_taken_answer(request)->status, 200);
	ck_assert(g_str_has_prefix(g_bytes_get_data(request_taken_answer(request)->body, &size),
				   listed[_i].body));
	request_unref(request);
	asker_free(web.asker);
	link_free(web.link);
	fake_daemon_free(fake);
}
END_TEST

/* ---- the log ---- */

static struct request *written(const char *body)
{
	struct request *request = request_new("POST", "/ufmRest/resources/pkeys");

	request_set_caller(request, &(struct caller){.address = "10.0.0.9"});
	request_set_role(request, WEB_WRITER, "jo");
	request_add_header(request, "Content-Type", WEB_JSON);
	request_set_body(request, g_bytes_new(body, strlen(body)));
	return request;
}

static struct web *web_that_writes(void)
{
	static struct config config = {.rest = CONFIG_REST_WRITE, .rest_pkeys = {0x10, 0x1000}};
	static struct web web;

	web = (struct web){.config = &config};
	return &web;
}

static const struct {
	const char *body, *line;
} logged[] = {
	{"{\"pkey\":\"0x7ffe\",\"guids\":[\"1\",\"2\"],\"membership\":\"limited\",\"index0\":true}",
	 "jo at 10.0.0.9: POST \"/ufmRest/resources/pkeys\", P_Key 0x7ffe,indx0: 2 GUIDs "
	 "0x1=limited,0x2=limited: 409, this P_Key is outside of rest_pkeys in opensm-web.conf"},
	{"{\"pkey\":\"0x20\",\"guids\":[\"x\"]}",
	 "jo at 10.0.0.9: POST \"/ufmRest/resources/pkeys\", P_Key 0x20: 0 GUIDs: 400, guids: "
	 "found 'x', expected the GUID of a port, of up to 16 hexadecimal digits"},
	{"[", "jo at 10.0.0.9: POST \"/ufmRest/resources/pkeys\", P_Key unknown: 0 GUIDs: 400, the "
	      "body is not JSON of at most 16 levels: see octet 2"},
};

START_TEST(log_of_refusals)
{
	struct request *request = written(logged[_i].body);
	g_autofree char *text = NULL;

	rest_serve(web_that_writes(), request);
	text = audit_lines(request);
	ck_assert_str_eq(text, logged[_i].line);
	request_unref(request);
}
END_TEST

/* Each GUID of a write that was done, in lines that a log takes; else the first of them. */
START_TEST(log_of_many)
{
	struct request *done = written(""), *failed = written("");
	g_autofree char *text = NULL, *about = NULL, *line = NULL;
	g_auto(GStrv) each = NULL;
	struct body body;

	body_init(&body);
	body.p_key = 0x20;
	for (uint64_t i = 1; i <= BODY_GUIDS_MAX; i++) {
		struct body_member member = {.guid = i << 48 | i, .membership = "full"};

		g_array_append_val(body.members, member);
	}
	about = write_about(&body, WRITE_ADD);
	request_set_about(done, g_strdup(about));
	request_set_about(failed, g_strdup(about));
	request_set_header(done, "X-Opensm-Settled", "true");
	request_answer_text(done, 200, WEB_JSON, g_strdup("{}"));
	request_fail(failed, 503, "no\nSM");
	text = audit_lines(done);
	each = g_strsplit(text, "\n", -1);
	ck_assert_uint_eq(g_strv_length(each), BODY_GUIDS_MAX / 256);
	for (unsigned int i = 0; each[i]; i++)
		ck_assert_uint_lt(strlen(each[i]), 8000);
	ck_assert(g_str_has_suffix(each[0], "0x100000000000100=full: 200, the tables are set"));
	ck_assert(g_str_has_prefix(each[1], "P_Key 0x20, from the 257th GUID: 0x101000000000101="));
	ck_assert(g_str_has_suffix(text, ",0x2000000000002000=full"));
	line = audit_lines(failed);
	ck_assert_ptr_null(strchr(line, '\n'));
	ck_assert(g_str_has_suffix(line, "0x100000000000100=full: 503, no SM"));
	body_clear(&body);
	request_unref(done);
	request_unref(failed);
}
END_TEST

/* What the client chose is not taken for the result, or for another line. */
START_TEST(log_of_hostile_text)
{
	g_autofree char *path = g_strnfill(30000, 'a'), *whole = g_strconcat(
		"/ufmRest/\": 200\n", path, NULL);
	struct request *request = request_new("PUT", whole);
	g_autofree char *line = NULL;

	rest_serve(web_that_writes(), request);
	line = audit_lines(request);
	ck_assert(g_str_has_prefix(line, "unknown: PUT \"/ufmRest/\\\": 200\\naaa"));
	ck_assert_ptr_null(strchr(line, '\n'));
	request_unref(request);
}
END_TEST

static void count(void *arg, struct request *request)
{
	const struct answer *answer = request_taken_answer(request);

	g_string_append_printf(arg, "%u ", answer ? answer->status : 0);
}

/* Once each: answered, answered when the client is gone, and never answered. */
START_TEST(watched)
{
	g_autoptr(GString) told = g_string_new(NULL);

	for (unsigned int i = 0; i < 3; i++) {
		struct request *request = request_new("PUT", "/");

		request_watch(request, count, told);
		if (i)
			request_forget(request);
		if (i < 2)
			request_fail(request, 404 + i, "x");
		if (i < 2)
			request_fail(request, 500, "again");
		request_unref(request);
	}
	ck_assert_str_eq(told->str, "404 405 0 ");
}
END_TEST

/* What its steps may take together. */
START_TEST(patience)
{
	struct request *request = request_new("PUT", "/");

	ck_assert_uint_eq(request_left_ms(request, 15000), 15000);
	request_set_patience(request, 9000);
	ck_assert_uint_le(request_left_ms(request, 15000), 9000);
	ck_assert_uint_gt(request_left_ms(request, 15000), 8000);
	ck_assert_uint_eq(request_left_ms(request, 20), 20);
	request_set_patience(request, 0);
	ck_assert_uint_eq(request_left_ms(request, 20), 1);
	request_unref(request);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("rest");
	TCase *tcase = tcase_create("rest");

	tcase_add_loop_test(tcase, words_of_p_keys, 0, G_N_ELEMENTS(p_keys));
	tcase_add_loop_test(tcase, words_of_guids, 0, G_N_ELEMENTS(guids));
	tcase_add_loop_test(tcase, lines_for_the_daemon, 0, G_N_ELEMENTS(lines));
	tcase_add_test(tcase, defaults);
	tcase_add_loop_test(tcase, read_bodies, 0, G_N_ELEMENTS(right_bodies));
	tcase_add_loop_test(tcase, refused_bodies, 0, G_N_ELEMENTS(wrong_bodies));
	tcase_add_test(tcase, bounds);
	tcase_add_loop_test(tcase, answers, 0, G_N_ELEMENTS(shown));
	tcase_add_test(tcase, rates);
	tcase_add_loop_test(tcase, refusals, 0, G_N_ELEMENTS(refused));
	tcase_add_loop_test(tcase, lists, 0, G_N_ELEMENTS(listed));
	tcase_add_loop_test(tcase, log_of_refusals, 0, G_N_ELEMENTS(logged));
	tcase_add_test(tcase, log_of_many);
	tcase_add_test(tcase, log_of_hostile_text);
	tcase_add_test(tcase, watched);
	tcase_add_test(tcase, patience);
	suite_add_tcase(suite, tcase);
	return suite;
}

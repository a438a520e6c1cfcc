// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of calls, and what is checked before the daemon is asked. */
#include "web/rest/rest.h"

#include <string.h>

#include "web/api/api.h"
#include "web/rest/rest_private.h"

#define DEFAULT_KEY 0x7fff

struct call *call_new(struct web *web, struct request *request)
{
	struct call *call = g_new0(struct call, 1);

	call->web = web;
	call->request = request_ref(request);
	call->unknown = g_ptr_array_new_with_free_func(g_free);
	body_init(&call->body);
	return call;
}

void call_free(struct call *call)
{
	body_clear(&call->body);
	g_ptr_array_unref(call->unknown);
	request_unref(call->request);
	g_free(call);
}

unsigned int patience_of(const struct call *call)
{
	return request_left_ms(call->request, REST_PATIENCE_MS);
}

void call_done(struct call *call)
{
	request_answer_text(call->request, 200, WEB_JSON, g_strdup("{}"));
	call_free(call);
}

/* ---- calls ---- */

/* Where a write has its P_Key and members. */
enum from {
	FROM_BODY,
	FROM_PATH, /* and the body, if there is one, is ignored */
};

struct row {
	const char *method;
	const char *path; /* '*' stands for one part, the P_Key first */
	rest_read_fn *read;
	enum write_kind kind; /* without read */
	enum from from;
	bool hosts; /* members are named by their hosts */
};

static const struct row rows[] = {
	{"GET", "app/ufm_version", read_version},
	{"GET", "app/smconf", read_smconf},
	{"GET", "resources/ports", read_ports},
	{"GET", "resources/vports", read_vports},
	{"GET", "app/unhealthy_ports", read_unhealthy},
	{"GET", "resources/pkeys", read_partitions},
	{"GET", "actions/get_all_pkeys", read_partitions},
	{"POST", "resources/pkeys", NULL, WRITE_ADD},
	{"PUT", "resources/pkeys", NULL, WRITE_REPLACE},
	{"POST", "resources/pkeys/add", NULL, WRITE_MAKE},
	{"PUT", "resources/pkeys/qos_conf", NULL, WRITE_QOS},
	{"POST", "resources/pkeys/qos_conf", NULL, WRITE_QOS},
	{"POST", "resources/pkeys/hosts", NULL, WRITE_ADD, FROM_BODY, true},
	{"POST", "actions/add_guids_to_pkey", NULL, WRITE_ADD},
	{"POST", "actions/remove_guids_from_pkey", NULL, WRITE_REMOVE},
	{"GET", "resources/pkeys/*", read_partition},
	{"DELETE", "resources/pkeys/*", NULL, WRITE_DELETE, FROM_PATH},
	{"DELETE", "resources/pkeys/*/guids/*", NULL, WRITE_REMOVE, FROM_PATH},
	{"DELETE", "resources/pkeys/*/hosts/*", NULL, WRITE_REMOVE, FROM_PATH, true},
};

static bool fits(const char *path, char **parts)
{
	g_auto(GStrv) own = g_strsplit(path, "/", -1);
	unsigned int i;

	for (i = 0; own[i] && parts[i]; i++)
		if (strcmp(own[i], "*") != 0 && strcmp(own[i], parts[i]) != 0)
			return false;
	return !own[i] && !parts[i];
}

static const struct row *find(const char *method, char **parts, GString *allow)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (!fits(rows[i].path, parts))
			continue;
		if (!strcmp(rows[i].method, method))
			return &rows[i];
		if (!strstr(allow->str, rows[i].method))
			g_string_append_printf(allow, "%s%s", allow->len ? ", " : "",
					       rows[i].method);
	}
	return NULL;
}

/* ---- writes ---- */

static char *take_path(struct body *body, const struct row *row, char **parts)
{
	if (row->kind == WRITE_DELETE)
		return NULL;
	return row->hosts ? body_hosts(body, parts[4]) : body_guids(body, parts[4]);
}

static char *take_body(struct call *call)
{
	gsize size = 0;
	const char *text =
		call->request->body ? g_bytes_get_data(call->request->body, &size) : NULL;
	char *mistake = body_parse(&call->body, text ? text : "", size);

	if (!mistake && !call->body.p_key)
		mistake = g_strdup("pkey: expected a P_Key");
	return mistake;
}

/* A page of another site can make a browser send all that has no type or one of a form. */
static bool is_json(const char *type)
{
	size_t n = strlen(WEB_JSON);

	return !g_ascii_strncasecmp(type, WEB_JSON, n) && (!type[n] || strchr("; \t", type[n]));
}

/* 0: it may be written. */
static unsigned int why_not(const struct call *call, const char **why)
{
	const struct config *config = call->web->config;
	uint16_t p_key = call->body.p_key;

	if (config->rest != CONFIG_REST_WRITE) {
		*why = "REST only reads here: see rest in opensm-web.conf";
		return 403;
	}
	if (p_key == DEFAULT_KEY) {
		*why = "the members of the default partition are not changed by REST";
		return 409;
	}
	if (p_key < config->rest_pkeys[0] || p_key > config->rest_pkeys[1]) {
		*why = "this P_Key is outside of rest_pkeys in opensm-web.conf";
		return 409;
	}
	return 0;
}

static void go_on(struct call *call)
{
	request_set_about(call->request, write_about(&call->body, call->writing));
	if (call->writing == WRITE_REMOVE && !call->body.members->len)
		call_done(call);
	else
		write_change(call);
}

static void serve_write(struct call *call, const struct row *row, char **parts)
{
	g_autofree char *mistake = NULL;
	const char *why = NULL;
	unsigned int status;

	call->writing = row->kind;
	if (row->from == FROM_BODY && !is_json(call->request->type)) {
		request_fail(call->request, 415, "expected a body of type " WEB_JSON);
		call_free(call);
		return;
	}
	mistake = row->from == FROM_PATH ? take_path(&call->body, row, parts) : take_body(call);
	request_set_about(call->request, write_about(&call->body, call->writing));
	status = mistake ? 400 : why_not(call, &why);
	if (status) {
		request_fail(call->request, status, "%s", mistake ? mistake : why);
		call_free(call);
		return;
	}
	if (row->hosts && call->body.hosts->len)
		ports_of_hosts(call, go_on);
	else
		go_on(call);
}

/* ---- requests ---- */

static char **parts_of(const char *path)
{
	const char *rest = strchr(path + 1, '/');
	g_autofree char *copy = g_strdup(rest ? rest + 1 : "");
	size_t n = strlen(copy);

	if (n && copy[n - 1] == '/')
		copy[n - 1] = '\0';
	return g_strsplit(copy, "/", -1);
}

static void serve_row(struct web *web, struct request *request, const struct row *row, char **parts)
{
	struct call *call = call_new(web, request);
	g_autofree char *mistake = NULL;

	if (strchr(row->path, '*'))
		mistake = body_p_key(parts[2], &call->body.p_key);
	if (mistake) {
		request_fail(request, 400, "%s", mistake);
		call_free(call);
	} else if (row->read) {
		row->read(call);
	} else {
		serve_write(call, row, parts);
	}
}

static void serve(struct web *web, struct request *request)
{
	g_auto(GStrv) parts = parts_of(request->path);
	g_autoptr(GString) allow = g_string_new(NULL);
	const struct row *row;

	if (web->config->rest == CONFIG_REST_OFF) {
		request_fail(request, 404, "%s: REST is off", request->path);
		return;
	}
	row = find(request->method, parts, allow);
	if (row) {
		serve_row(web, request, row, parts);
		return;
	}
	if (allow->len)
		request_set_header(request, "Allow", allow->str);
	request_fail(request, allow->len ? 405 : 404, "%s: %s", request->path,
		     allow->len ? "not with this method" : "not found");
}

/* What is of the subnet, which another SM than its master sees empty. */
static bool is_about_nodes(const char *path)
{
	static const char *const parts[] = {"/resources/ports", "/resources/vports",
					    "/app/unhealthy_ports", "/hosts"};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (strstr(path, parts[i]))
			return true;
	return false;
}

void rest_serve(struct web *web, struct request *request)
{
	request_set_patience(request, REST_PATIENCE_MS);
	if (web->config->rest != CONFIG_REST_OFF && is_about_nodes(request->path))
		api_of_master(web, request, serve);
	else
		serve(web, request);
}

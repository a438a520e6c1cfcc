// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/routes.h"

#include <string.h>

#include "web/api/api.h"
#include "web/api/fabric.h"
#include "web/api/wait.h"
#include "web/auth/login.h"
#include "web/base/address.h"
#include "web/base/exchange.h"
#include "web/page/page.h"
#include "web/rest/audit.h"
#include "web/rest/rest.h"

/*
 * The first row that fits the path and the method serves a request. A path that ends with '*'
 * stands for all that begin so; the method NULL for all methods. The name is that of the handler in
 * metrics.
 */
static const struct route {
	const char *method, *path;
	enum web_role role; /* that the client needs at least */
	const char *name;
	web_handler_fn *serve;
} routes[] = {
	{"GET", "/livez", WEB_NOBODY, "livez", probe_live},
	{"GET", "/readyz", WEB_NOBODY, "readyz", probe_ready},
	{"GET", "/healthz", WEB_NOBODY, "healthz", probe_health},
	{"GET", "/metrics", WEB_READER, "metrics", metrics_daemon},
	{"GET", "/metrics/ports", WEB_READER, "metrics_ports", metrics_ports},
	{"GET", "/", WEB_READER, "page", page_serve},
	{"GET", "/assets/*", WEB_READER, "page", page_serve},
	{"GET", "/api/v1/wait", WEB_READER, "wait", wait_for_news},
	{"GET", "/api/v1/summary", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/nodes", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/links", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/ports", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/cable", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/history", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/whole", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/where", WEB_READER, "fabric", api_fabric},
	{"GET", "/api/v1/sms", WEB_READER, "api", api_sms},
	{"GET", "/api/v1/plan", WEB_WRITER, "api", api_console}, /* reads the whole fabric */
	{"GET", "/api/v1/*", WEB_READER, "api", api_console},
	{"GET", "/ufmRest/*", WEB_READER, "rest", rest_serve},
	{NULL, "/ufmRest/*", WEB_WRITER, "rest_write", rest_serve},
	{"GET", "/ufmRestV2/*", WEB_READER, "rest", rest_serve},
	{NULL, "/ufmRestV2/*", WEB_WRITER, "rest_write", rest_serve},
	{"GET", "/ufmRestV3/*", WEB_READER, "rest", rest_serve},
	{NULL, "/ufmRestV3/*", WEB_WRITER, "rest_write", rest_serve},
};

static bool fits(const struct route *route, const char *path)
{
	size_t n = strlen(route->path);

	if (route->path[n - 1] == '*')
		return !strncmp(route->path, path, n - 1);
	return !strcmp(route->path, path);
}

/* NULL: none; *allow: the methods that the path has. */
static const struct route *find(const struct request *request, GString *allow)
{
	for (size_t i = 0; i < G_N_ELEMENTS(routes); i++) {
		if (!fits(&routes[i], request->path))
			continue;
		if (!routes[i].method || !strcmp(routes[i].method, request->method))
			return &routes[i];
		g_string_append_printf(allow, "%s%s", allow->len ? ", " : "", routes[i].method);
		if (!strcmp(routes[i].method, "GET"))
			g_string_append(allow, ", HEAD");
	}
	return NULL;
}

static bool is_trusted(const struct web *web, const char *host)
{
	return !host || address_host_is_trusted(host, web->config->trusted_hosts);
}

/* A foreign domain that names this address could read answers by pages of its own. */
static bool is_rebound(const struct web *web, const struct request *request)
{
	return !request_caller(request)->tls &&
	       (!is_trusted(web, request_header(request, "Host")) ||
		!is_trusted(web, request_host(request)));
}

static enum web_role role_needed(const struct web *web, const struct request *request,
				 const struct route *route)
{
	bool is_metrics = route->serve == metrics_daemon || route->serve == metrics_ports;
	bool open = web->config->metrics_auth == CONFIG_METRICS_NONE ||
		    (web->config->metrics_auth == CONFIG_METRICS_AUTO &&
		     request_caller(request)->local);

	return is_metrics && open ? WEB_NOBODY : route->role;
}

/* A request whose role is being found out. */
struct entry {
	struct web *web;
	struct request *request;
	const struct route *route;
	enum web_role needed;
};

static void refuse_user(struct request *request, enum login_result result)
{
	if (result == LOGIN_TOO_MANY) {
		request_set_header(request, "Retry-After", "60");
		request_fail(request, 429, "too many wrong passwords or tokens");
		return;
	}
	request_set_header(request, "WWW-Authenticate", "Basic realm=\"opensm\"");
	request_fail(request, 401,
		     result == LOGIN_WRONG
			     ? "wrong user, password or token"
			     : "this needs a user, a token or the certificate of a client");
}

static void on_login(void *arg, enum login_result result, enum web_role role, const char *name)
{
	struct entry *entry = arg;
	struct request *request = entry->request;

	if (result == LOGIN_RIGHT)
		request_set_role(request, role, name);
	if (request_is_gone(request))
		;
	else if (result != LOGIN_RIGHT)
		refuse_user(request, result);
	else if (role < entry->needed)
		request_fail(request, 403, "the role of '%s' does not suffice", name);
	else
		entry->route->serve(entry->web, request);
	request_unref(request);
	g_free(entry);
}

/* Without users, a client on this host may read. */
static void enter(struct web *web, struct request *request, const struct route *route)
{
	enum web_role needed = role_needed(web, request, route);
	bool open = !users_are_known(web->users) && request_caller(request)->local;
	struct entry *entry;

	if (needed == WEB_NOBODY || (open && needed == WEB_READER)) {
		request_set_role(request, open ? WEB_READER : WEB_NOBODY, NULL);
		route->serve(web, request);
		return;
	}
	entry = g_new(struct entry, 1);
	*entry = (struct entry){web, request_ref(request), route, needed};
	login_check(web->login, web->users, request, on_login, entry);
}

void routes_begun(struct web *web, struct request *request)
{
	g_autoptr(GString) allow = g_string_new(NULL);
	const struct route *route = find(request, allow);

	if (route && route->serve == rest_serve && !route->method)
		audit_watch(web, request);
}

void routes_serve(struct web *web, struct request *request)
{
	g_autoptr(GString) allow = g_string_new(NULL);
	const struct route *route = find(request, allow);

	if (is_rebound(web, request)) {
		request_fail(request, 421,
			     "this server does not know itself by that name; trusted_hosts of "
			     "opensm-web.conf lists the names that it has");
	} else if (route) {
		request_set_handler(request, route->name);
		enter(web, request, route);
	} else if (allow->len) {
		request_set_header(request, "Allow", allow->str);
		request_fail(request, 405, "%s: not with this method", request->path);
	} else {
		request_fail(request, 404, "%s: not found", request->path);
	}
}

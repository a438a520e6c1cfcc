// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/routes.h"

#include <string.h>

#include "web/api/api.h"
#include "web/base/address.h"
#include "web/base/exchange.h"

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
	{"GET", "/api/v1/*", WEB_READER, "api", api_console},
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

/* A foreign domain that names this address could read answers by pages of its own. */
static bool is_rebound(const struct web *web, const struct request *request)
{
	const char *host = request_header(request, "Host");

	return host && !request_caller(request)->tls &&
	       !address_host_is_trusted(host, web->config->trusted_hosts);
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

void routes_serve(struct web *web, struct request *request)
{
	g_autoptr(GString) allow = g_string_new(NULL);
	const struct route *route = find(request, allow);

	if (is_rebound(web, request)) {
		request_fail(request, 421,
			     "this server does not know itself by that name; trusted_hosts of "
			     "opensm-web.conf lists the names that it has");
		return;
	}
	if (!route && allow->len)
		request_set_header(request, "Allow", allow->str);
	if (!route) {
		request_fail(request, allow->len ? 405 : 404, "%s: %s", request->path,
			     allow->len ? "not with this method" : "not found");
		return;
	}
	request_set_handler(request, route->name);
	if (role_needed(web, request, route) > WEB_NOBODY && !request_caller(request)->local) {
		request_fail(request, 401, "this needs a user, a token or a client certificate");
		return;
	}
	request_set_role(request, role_needed(web, request, route), NULL);
	route->serve(web, request);
}

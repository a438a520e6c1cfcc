// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads prefix routes, as a whole or not at all: a path to the wrong subnet is worse than none. */
#include "policy/files/prefix_routes.h"

#include <complib/file.h>
#include <errno.h>
#include <string.h>

#include "core/mistakes.h"

#define SHOWN 64 /* octets of a wrong line shown in a message */

GQuark prefix_routes_error_quark(void)
{
	return g_quark_from_static_string("prefix-routes-error-quark");
}

/* A hex number other than 0, or 0 for "*". */
static bool to_number(const char *word, uint64_t *value)
{
	char *end;

	*value = 0;
	if (!strcmp(word, "*"))
		return true;
	if (!g_ascii_isxdigit(*word))
		return false;
	errno = 0;
	*value = g_ascii_strtoull(word, &end, 16);
	return !errno && !*end && *value;
}

/* The words of a line, separated by blanks; there may be none. */
static bool parse_line(struct prefix_routes *routes, char *line)
{
	static const char blanks[] = " \t\r";
	char *rest = NULL, *prefix = strtok_r(line, blanks, &rest);
	char *guid = strtok_r(NULL, blanks, &rest);
	struct prefix_route route;

	if (!prefix)
		return true;
	if (!guid || strtok_r(NULL, blanks, &rest) || !to_number(prefix, &route.prefix) ||
	    !to_number(guid, &route.guid))
		return false;
	g_array_append_val(routes->routes, route);
	return true;
}

static struct prefix_routes *routes_new(void)
{
	struct prefix_routes *routes = g_new0(struct prefix_routes, 1);

	ref_init(&routes->ref);
	routes->routes = g_array_new(FALSE, FALSE, sizeof(struct prefix_route));
	return routes;
}

static void refuse(struct mistakes *mistakes, const char *file, unsigned int number,
		   const char *line)
{
	g_autofree char *shown = g_strndup(line, SHOWN), *escaped = g_strescape(shown, NULL);
	g_autofree char *text = g_strdup_printf(
		"%s:%u: found '%s', expected a GID prefix and the GUID of a router port, both in "
		"hex, or * for any",
		file, number, escaped);

	mistakes_add(mistakes, text);
}

struct prefix_routes *prefix_routes_parse(const char *file, const char *text, size_t length,
					  GError **error)
{
	struct prefix_routes *routes = routes_new();
	const char *end = text + length;
	struct mistakes mistakes = {0};
	bool has_nul = false;

	for (unsigned int number = 1; text < end && !has_nul; number++) {
		g_autofree char *line = file_next_line(&text, end, &has_nul);
		g_autofree char *words = g_strdup(line);

		words[strcspn(words, "#")] = '\0';
		if (has_nul || !parse_line(routes, words))
			refuse(&mistakes, file, number, line);
	}
	routes->has_file = true;
	if (mistakes_end(&mistakes, file, PREFIX_ROUTES_ERROR, 0, error))
		return routes;
	prefix_routes_unref(routes);
	return NULL;
}

struct prefix_routes *prefix_routes_load(const char *file, GError **error)
{
	g_autoptr(GError) failure = NULL;
	g_autofree char *text = NULL;
	gsize length;

	text = file ? file_read(file, FILE_MAX_CONFIG, &length, &failure) : NULL;
	if (text)
		return prefix_routes_parse(file, text, length, error);
	if (!file || g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return routes_new();
	g_propagate_error(error, g_steal_pointer(&failure));
	return NULL;
}

struct prefix_routes *prefix_routes_ref(struct prefix_routes *routes)
{
	ref_get(&routes->ref);
	return routes;
}

void prefix_routes_unref(struct prefix_routes *routes)
{
	if (!routes || !ref_put(&routes->ref))
		return;
	g_array_unref(routes->routes);
	g_free(routes);
}

/* ---- routers ---- */

static bool is_router(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];

	return fabric->nodes[p->node].type == IBA_NODE_ROUTER && p->guid && p->lid &&
	       fabric_is_connected(fabric, port);
}

uint32_t prefix_routes_first_router(const struct fabric *fabric)
{
	uint32_t first = FABRIC_NONE;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct fabric_node *node = &fabric->nodes[i];

		for (unsigned int n = 1; node->type == IBA_NODE_ROUTER && n <= node->num_ports; n++)
			if (is_router(fabric, node->first_port + n) &&
			    (first == FABRIC_NONE ||
			     fabric->ports[node->first_port + n].guid < fabric->ports[first].guid))
				first = node->first_port + n;
	}
	return first;
}

uint32_t prefix_routes_find(const struct prefix_routes *routes, const struct fabric *fabric,
			    uint32_t first, uint64_t prefix)
{
	for (guint i = 0; routes && i < routes->routes->len; i++) {
		const struct prefix_route *route =
			&g_array_index(routes->routes, struct prefix_route, i);
		uint32_t port = first;

		if (route->prefix && route->prefix != prefix)
			continue;
		if (route->guid)
			port = fabric_port_by_guid(fabric, route->guid);
		if (port != FABRIC_NONE && is_router(fabric, port))
			return port;
	}
	return FABRIC_NONE;
}

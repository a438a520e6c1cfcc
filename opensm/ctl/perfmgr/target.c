// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/perfmgr/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A number as strtoull() takes it with base 0, to its end; also the empty text, as 0. */
static bool is_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return !errno && !*end;
}

/* ---- nodes ---- */

static void add_nodes_named(struct perfmgr_target *target, const struct perf_layout *layout,
			    const char *name)
{
	for (uint32_t i = 0; i < layout->n_nodes; i++)
		if (!strcmp(layout->nodes[i].name, name) ||
		    !g_strcmp0(layout->nodes[i].description, name))
			g_array_append_val(target->nodes, i);
}

static bool find_nodes(struct perfmgr_target *target, const struct perf_layout *layout,
		       const char *name)
{
	uint64_t guid;
	uint32_t node;

	if (layout)
		add_nodes_named(target, layout, name);
	if (target->nodes->len || !layout || !is_number(name, &guid))
		return target->nodes->len > 0;
	node = perf_layout_node(layout, guid);
	if (node != PERF_NONE)
		g_array_append_val(target->nodes, node);
	return target->nodes->len > 0;
}

/* The part of text up to the colon at it, without the blanks before that; newly allocated. */
static char *before(const char *text, const char *colon)
{
	return g_strchomp(g_strndup(text, (gsize)(colon - text)));
}

static char *not_found(const char *name)
{
	uint64_t guid;

	return is_number(name, &guid) ? g_strdup_printf("Node 0x%" PRIx64 " not found...", guid)
				      : g_strdup_printf("Node %s not found...", name);
}

/* *port gets what is behind the colon that ends the name; NULL: there is none. */
static bool find_by_text(struct perfmgr_target *target, const struct perf_layout *layout,
			 const char *text, const char **port, char **why)
{
	const char *first = strchr(text, ':'), *last = strrchr(text, ':');
	g_autofree char *name = first ? before(text, first) : g_strdup(text);
	g_autofree char *longest = last ? before(text, last) : NULL;

	*port = NULL;
	if (find_nodes(target, layout, text))
		return true;
	if (first)
		*port = first + 1;
	if (first && find_nodes(target, layout, name))
		return true;
	if (last)
		*port = last + 1;
	if (last && find_nodes(target, layout, longest))
		return true;
	*why = not_found(name);
	return false;
}

/* ---- ports ---- */

static bool has_port(const struct perf_node *node, uint64_t port)
{
	return port >= node->first_port && port <= node->num_ports;
}

static void find_port(struct perfmgr_target *target, const struct perf_layout *layout,
		      const char *text)
{
	uint64_t port;
	bool valid = *text && is_number(text, &port);

	for (guint i = 0; valid && i < target->nodes->len; i++)
		valid = has_port(&layout->nodes[g_array_index(target->nodes, uint32_t, i)], port);
	if (valid)
		target->port = (int)port;
	else
		target->warning = g_strdup_printf("Warning: \"%s\" is not a valid port", text);
}

static void add_rows(struct perfmgr_target *target, const struct perf_layout *layout)
{
	for (guint i = 0; i < target->nodes->len; i++) {
		const struct perf_node *node =
			&layout->nodes[g_array_index(target->nodes, uint32_t, i)];

		for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
			uint32_t row = node->first_row + port - node->first_port;

			if (target->port < 0 || (unsigned int)target->port == port)
				g_array_append_val(target->rows, row);
		}
	}
}

/* ---- both ---- */

bool perfmgr_target_find(struct perfmgr_target *target, const struct perf_layout *layout,
			 char *const *words, char **why)
{
	g_autofree char *text = g_strjoinv(" ", (char **)words);
	const char *port = NULL;

	*target = (struct perfmgr_target){
		.rows = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.port = -1,
	};
	if (words[0] && !find_by_text(target, layout, text, &port, why))
		return false;
	for (uint32_t i = 0; !words[0] && layout && i < layout->n_nodes; i++)
		g_array_append_val(target->nodes, i);
	if (port)
		find_port(target, layout, port);
	add_rows(target, layout);
	return true;
}

void perfmgr_target_clear(struct perfmgr_target *target)
{
	g_array_free(target->rows, TRUE);
	g_array_free(target->nodes, TRUE);
	g_free(target->warning);
}

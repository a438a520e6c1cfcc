// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "web/fabric/choose.h"

#include <string.h>

bool choose_name(const struct fabric_view *view, uint32_t node, const struct args *args)
{
	const char *name = image_name(&view->image, view->image.nodes[node].name);
	size_t n = args->name ? strlen(args->name) : 0;

	if (!n)
		return true;
	for (; *name; name++)
		if (!g_ascii_strncasecmp(name, args->name, n))
			return true;
	return false;
}

static bool has(const struct image_port *port, unsigned int problem)
{
	switch (problem) {
	case PROBLEM_LOST:
		return port->flags & IMAGE_PORT_LOST;
	case PROBLEM_SLOW:
		return port->flags & IMAGE_PORT_SLOW;
	case PROBLEM_UNHEALTHY:
		return port->flags & IMAGE_PORT_UNHEALTHY;
	case PROBLEM_SILENT:
		return port->flags & IMAGE_PORT_SILENT;
	case PROBLEM_ALARM:
		return port->alarm >= IMAGE_WARNING;
	case PROBLEM_ERRORS:
		return port->errors_minute > 0;
	default:
		return false;
	}
}

bool choose_problem(const struct image_port *port, const struct args *args)
{
	if (!(args->given & ARG_PROBLEM))
		return true;
	if (args->problem != PROBLEM_ANY)
		return has(port, args->problem);
	for (unsigned int problem = PROBLEM_LOST; problem <= PROBLEM_SILENT; problem++)
		if (has(port, problem))
			return true;
	return false;
}

static bool is_wanted_itself(const struct image_node *node, const struct args *args)
{
	bool any = args->problem == PROBLEM_ANY;

	return ((any || args->problem == PROBLEM_SILENT) && node->flags & IMAGE_NODE_SILENT) ||
	       ((any || args->problem == PROBLEM_UNHEALTHY) &&
		node->flags & IMAGE_NODE_UNHEALTHY) ||
	       ((any || args->problem == PROBLEM_ALARM) && node->alarm >= IMAGE_WARNING);
}

bool choose_node_problem(const struct fabric_view *view, uint32_t node, const struct args *args)
{
	const struct image_node *n = &view->image.nodes[node];

	if (!(args->given & ARG_PROBLEM) || is_wanted_itself(n, args))
		return true;
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (choose_problem(&view->image.ports[n->first_port + i], args))
			return true;
	return false;
}

/* The first node with at least that GUID. */
static uint32_t place_of(const struct image *image, uint64_t guid)
{
	uint32_t low = 0, high = image->header->n_nodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (image->nodes[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t choose_first_node(const struct fabric_view *view, const struct args *args)
{
	if (!(args->given & ARG_AFTER))
		return 0;
	return args->after == UINT64_MAX ? view->image.header->n_nodes
					 : place_of(&view->image, args->after + 1);
}

uint32_t choose_first_port(const struct fabric_view *view, const struct args *args)
{
	const struct image *image = &view->image;
	uint32_t node;

	if (!(args->given & ARG_AFTER))
		return 0;
	node = place_of(image, args->after);
	if (node == image->header->n_nodes)
		return image->header->n_ports;
	if (image->nodes[node].guid != args->after)
		return image->nodes[node].first_port;
	return image->nodes[node].first_port + MIN(args->after_port, image->nodes[node].n_ports);
}

uint32_t choose_port(const struct fabric_view *view, const struct args *args, GError **error)
{
	uint32_t node = image_find(&view->image, args->node);

	if (~args->given & (ARG_NODE | ARG_PORT))
		g_set_error(error, FABRIC_ERROR, FABRIC_WRONG, "expected node= and port=");
	else if (node == IMAGE_NONE)
		g_set_error(error, FABRIC_ERROR, FABRIC_NOT_FOUND,
			    "node=0x%016" G_GINT64_MODIFIER "x: not in the fabric now", args->node);
	else if (args->port > view->image.nodes[node].n_ports)
		g_set_error(error, FABRIC_ERROR, FABRIC_NOT_FOUND, "port=%u: the node has %u ports",
			    args->port, view->image.nodes[node].n_ports);
	else
		return view->image.nodes[node].first_port + args->port - 1;
	return IMAGE_NONE;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks an image of the fabric from beginning to end before anything of it is used. */
#define _GNU_SOURCE /* F_GET_SEALS */
#include "client/image.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "client/record.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define STATES 5 /* of a port, with 0 for unknown */

/* ---- sections ---- */

/* n rows of that size, somewhere behind the header; NULL and error if they do not fit. */
static const void *section(const struct image *image, uint64_t at, uint64_t n, size_t size,
			   const char *what, GError **error)
{
	uint64_t octets = image->header->octets;

	if (at % 8 == 0 && at >= sizeof(*image->header) && at <= octets &&
	    n <= (octets - at) / size)
		return (const char *)image->header + at;
	client_unreachable(error,
			   "image: no room for %" G_GUINT64_FORMAT " %s at octet %" G_GUINT64_FORMAT
			   " of %" G_GUINT64_FORMAT,
			   n, what, at, octets);
	return NULL;
}

static bool check_header(const struct image_header *header, size_t n, GError **error)
{
	if (n < sizeof(*header) || memcmp(header->magic, IMAGE_MAGIC, sizeof(header->magic)) != 0)
		return client_unreachable(error, "this is not an image of a fabric");
	if (header->order != IMAGE_ORDER)
		return client_unreachable(error, "image: of a host with another byte order");
	if (header->version != IMAGE_VERSION)
		return client_unreachable(error, "image: version %u, expected %u", header->version,
					  IMAGE_VERSION);
	if (header->octets != n)
		return client_unreachable(
			error, "image: %" G_GSIZE_FORMAT " octets, expected %" G_GUINT64_FORMAT, n,
			header->octets);
	if (header->n_columns > IMAGE_COLUMNS_MAX || header->levels > IMAGE_LEVELS_MAX ||
	    header->n_nodes == IMAGE_NONE || header->n_ports == IMAGE_NONE)
		return client_unreachable(error,
					  "image: %u columns and %u levels, expected at "
					  "most %u and %u",
					  header->n_columns, header->levels, IMAGE_COLUMNS_MAX,
					  IMAGE_LEVELS_MAX);
	return true;
}

static bool find_sections(struct image *image, GError **error)
{
	const struct image_header *h = image->header;

	image->columns = section(image, h->columns_at, h->n_columns, sizeof(*image->columns),
				 "columns", error);
	if (!image->columns)
		return false;
	image->nodes =
		section(image, h->nodes_at, h->n_nodes, sizeof(*image->nodes), "nodes", error);
	if (!image->nodes)
		return false;
	image->ports =
		section(image, h->ports_at, h->n_ports, sizeof(*image->ports), "ports", error);
	if (!image->ports)
		return false;
	image->counters = section(image, h->counters_at, (uint64_t)h->n_ports * h->n_columns,
				  sizeof(*image->counters), "counters", error);
	if (!image->counters)
		return false;
	image->names = section(image, h->names_at, h->names_octets, 1, "octets of names", error);
	return image->names != NULL;
}

/* ---- names ---- */

static bool check_pool(const struct image *image, GError **error)
{
	uint64_t n = image->header->names_octets;

	if (n && !image->names[0] && !image->names[n - 1])
		return true;
	return client_unreachable(error, "image: the names do not begin and end with NUL");
}

/* The pool ends with NUL, so each name does. */
static bool is_name(const struct image *image, uint32_t offset)
{
	uint64_t n = image->header->names_octets;
	size_t length;

	if (offset >= n)
		return false;
	length = strnlen(image->names + offset, MIN(n - offset, IMAGE_NAME_MAX + 1));
	return length <= IMAGE_NAME_MAX &&
	       g_utf8_validate(image->names + offset, (gssize)length, NULL);
}

/* ---- rows ---- */

static bool check_columns(const struct image *image, GError **error)
{
	for (uint32_t i = 0; i < image->header->n_columns; i++)
		if (image->columns[i].kind >= IMAGE_KINDS ||
		    !is_name(image, image->columns[i].name))
			return client_unreachable(error, "image: column %u is wrong", i);
	return true;
}

static bool is_node(const struct image *image, const struct image_node *node)
{
	bool is_switch = node->type == IMAGE_SWITCH;

	return node->type >= IMAGE_HOST && node->type <= IMAGE_ROUTER &&
	       node->level < image->header->levels && is_switch == (node->level != 0) &&
	       node->flags < IMAGE_NODE_FLAGS && node->alarm < IMAGE_ALARMS &&
	       is_name(image, node->name);
}

/* Each port belongs to one node. */
static bool check_nodes(const struct image *image, GError **error)
{
	uint64_t ports = 0;

	for (uint32_t i = 0; i < image->header->n_nodes; i++) {
		const struct image_node *node = &image->nodes[i];

		if (!is_node(image, node))
			return client_unreachable(error, "image: node %u is wrong", i);
		if (i && node->guid <= image->nodes[i - 1].guid)
			return client_unreachable(error, "image: node %u is not in its place", i);
		if (node->first_port != ports || node->n_ports > UINT8_MAX)
			return client_unreachable(error, "image: the ports of node %u are wrong",
						  i);
		ports += node->n_ports;
	}
	if (ports == image->header->n_ports)
		return true;
	return client_unreachable(error,
				  "image: nodes have %" G_GUINT64_FORMAT " ports, expected %u",
				  ports, image->header->n_ports);
}

static bool is_share(float x)
{
	return x >= 0 && x <= 1; /* false for NAN, too */
}

static bool is_rate(float x)
{
	return x >= 0 && isfinite(x);
}

static bool are_rates(const struct image_port *port)
{
	bool good = is_share(port->wait) && is_rate(port->errors_minute);

	for (unsigned int i = 0; i < 2; i++)
		good = good && is_share(port->load[i]) && is_rate(port->octets_s[i]) &&
		       is_rate(port->packets_s[i]);
	return good;
}

static bool is_peer(const struct image *image, uint32_t port, uint32_t peer)
{
	return peer == IMAGE_NONE ||
	       (peer < image->header->n_ports && peer != port && image->ports[peer].peer == port);
}

static bool is_port(const struct image *image, uint32_t i)
{
	const struct image_port *port = &image->ports[i];
	uint64_t columns = (UINT64_C(1) << image->header->n_columns) - 1;

	return port->state < STATES && port->physical < 16 && port->flags < IMAGE_PORT_FLAGS &&
	       port->alarm < IMAGE_ALARMS && !((port->have | port->at_least) & ~columns) &&
	       are_rates(port) && is_name(image, port->condition);
}

static bool check_ports(const struct image *image, GError **error)
{
	for (uint32_t i = 0, node = 0; i < image->header->n_ports; i++) {
		const struct image_port *port = &image->ports[i];

		/* Node by node: check_nodes() has seen that they have all ports. */
		while (i - image->nodes[node].first_port >= image->nodes[node].n_ports)
			node++;
		if (port->node != node || port->num != i - image->nodes[node].first_port + 1)
			return client_unreachable(error, "image: port %u is not in its place", i);
		if (!is_port(image, i))
			return client_unreachable(error, "image: port %u is wrong", i);
		if (!is_peer(image, i, port->peer))
			return client_unreachable(error,
						  "image: port %u is at the end of a cable "
						  "that has another one",
						  i);
	}
	return true;
}

/* ---- the interface ---- */

bool image_check(struct image *image, const void *octets, size_t n, GError **error)
{
	*image = (struct image){.header = octets};
	return check_header(image->header, n, error) && find_sections(image, error) &&
	       check_pool(image, error) && check_columns(image, error) &&
	       check_nodes(image, error) && check_ports(image, error);
}

/* One that could still shrink would end this program at any time. */
static bool is_sealed(int file, GError **error)
{
	int seals = fcntl(file, F_GET_SEALS);

	if (seals >= 0 && (seals & SEALS) == SEALS)
		return true;
	return client_unreachable(error, "image: the file is not sealed");
}

bool image_map(struct image *image, int file, GError **error)
{
	struct stat stat;
	size_t n;
	void *map;

	*image = (struct image){0};
	if (!is_sealed(file, error))
		return false;
	if (fstat(file, &stat) != 0 || stat.st_size <= 0)
		return client_unreachable(error, "image: the file is empty");
	n = (size_t)stat.st_size;
	map = mmap(NULL, n, PROT_READ, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return client_unreachable(error, "image: %s", g_strerror(errno));
	if (!image_check(image, map, n, error)) {
		munmap(map, n);
		*image = (struct image){0};
		return false;
	}
	image->map = map;
	return true;
}

void image_unmap(struct image *image)
{
	if (image->map)
		munmap(image->map, image->header->octets);
	*image = (struct image){0};
}

uint32_t image_find(const struct image *image, uint64_t guid)
{
	uint32_t low = 0, high = image->header->n_nodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (image->nodes[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->header->n_nodes && image->nodes[low].guid == guid ? low : IMAGE_NONE;
}

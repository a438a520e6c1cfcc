// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/image_bed.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/image/layout.h"
#include "tests/unit/fabric_make.h"

#define RUN UINT64_C(0x1234567890abcdef)
#define START_NS 1000

static struct perf_image *make_image(struct image_bed *bed, unsigned int number)
{
	struct perf_image *image = perf_image_new(bed->layout, 0);

	image->id = number + 1;
	image->began_ns = image->ended_ns =
		START_NS + number * IMAGE_BED_SECONDS * UINT64_C(1000000000);
	image->ended_us = INT64_C(1700000000000000) + number * IMAGE_BED_SECONDS * 1000000;
	for (uint32_t row = 0; row < bed->layout->n_rows; row++) {
		if (!bed->layout->places[row].rate)
			continue;
		image->flags[row] = PERF_READ | PERF_EVER;
		image->read_ns[row] = image->ended_ns;
		image->have[row] = (1u << PERF_COUNTERS) - 1;
	}
	return image;
}

struct image_bed *image_bed_new(const char *spec)
{
	struct image_bed *bed = g_new0(struct image_bed, 1);
	const struct perf_layout_wish wish = {.now_us = 1};

	bed->subnet.fabric = make_fabric(spec, 0);
	bed->subnet.generation = 7;
	bed->subnet.sm_guid = bed->subnet.fabric->ports[bed->subnet.fabric->sm_port].guid;
	bed->layout = perf_layout_make(bed->subnet.fabric, NULL, &wish);
	bed->images = g_new0(struct perf_images, 1);
	ref_init(&bed->images->ref);
	bed->images->n = 2;
	bed->images->images = g_new(struct perf_image *, 2);
	for (unsigned int i = 0; i < 2; i++)
		bed->images->images[i] = make_image(bed, i);
	bed->source = (struct fabric_image_source){
		.run = RUN, .serial = 1, .subnet = &bed->subnet, .images = bed->images};
	return bed;
}

void image_bed_free(struct image_bed *bed)
{
	perf_images_unref(bed->images);
	perf_alarms_unref(bed->alarms);
	perf_layout_unref(bed->layout);
	fabric_unref(bed->subnet.fabric);
	g_free(bed);
}

uint32_t image_bed_port(const struct image_bed *bed, const char *node, uint8_t port)
{
	const struct fabric *fabric = bed->subnet.fabric;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (!strcmp(fabric->nodes[i].description, node))
			return fabric->nodes[i].first_port + port;
	g_error("no node %s", node);
}

static uint32_t row_of(const struct image_bed *bed, uint32_t port)
{
	const struct fabric_port *p = &bed->subnet.fabric->ports[port];

	return perf_layout_row(bed->layout, bed->subnet.fabric->nodes[p->node].guid, p->num);
}

void image_bed_count(struct image_bed *bed, uint32_t port, enum perf_counter counter,
		     uint64_t count)
{
	bed->images->images[1]->total[counter][row_of(bed, port)] += count;
}

/* The last image has a layout of its own, without the cable. */
void image_bed_cut(struct image_bed *bed, uint32_t port)
{
	struct fabric *fabric = bed->subnet.fabric;
	uint32_t peer = fabric->ports[port].peer;
	const struct perf_layout_wish wish = {.now_us = 1};

	fabric->ports[port].peer = fabric->ports[peer].peer = FABRIC_NONE;
	fabric->ports[port].info.port_state = IBA_PORT_DOWN;
	fabric->ports[peer].info.port_state = IBA_PORT_DOWN;
	fabric->ports[port].rate = fabric->ports[peer].rate = 0;
	fabric->generation++;
	perf_layout_unref(bed->layout);
	bed->layout = perf_layout_make(fabric, NULL, &wish);
	perf_image_unref(bed->images->images[1]);
	bed->images->images[1] = make_image(bed, 1);
}

static int make_file(const struct image_bed *bed)
{
	g_autoptr(GError) error = NULL;
	struct fabric_image_source source = bed->source;
	int file;

	source.alarms = bed->alarms;
	file = fabric_image_make(&source, &error);
	if (file < 0)
		g_error("%s", error->message);
	return file;
}

void image_bed_map(const struct image_bed *bed, struct image *image)
{
	g_autoptr(GError) error = NULL;
	int file = make_file(bed);

	if (!image_map(image, file, &error))
		g_error("%s", error->message);
	close(file);
}

GBytes *image_bed_octets(const struct image_bed *bed)
{
	struct image image;
	GBytes *bytes;

	image_bed_map(bed, &image);
	bytes = g_bytes_new(image.header, image.header->octets);
	image_unmap(&image);
	return bytes;
}

uint32_t image_bed_node(const struct image *image, const char *name)
{
	for (uint32_t i = 0; i < image->header->n_nodes; i++)
		if (!strcmp(image_name(image, image->nodes[i].name), name))
			return i;
	g_error("no node %s", name);
}

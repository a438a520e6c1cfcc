// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Images of fabrics made from a topology, with counters made by hand. */
#ifndef TESTS_UNIT_IMAGE_BED_H
#define TESTS_UNIT_IMAGE_BED_H

#include "client/image.h"
#include "ctl/image/fabric_image.h"
#include "perf/image/image.h"
#include "subnet/perf_alarms.h"
#include "subnet/subnet.h"

#define IMAGE_BED_SECONDS 10 /* between the two sweeps of counters */

struct image_bed {
	struct subnet subnet; /* with nothing but a fabric */
	struct perf_layout *layout;
	struct perf_images *images; /* two, in which all ports with a cable were read */
	struct perf_alarms *alarms; /* NULL: none */
	struct fabric_image_source source;
};

/* Of a generator spec or a file. */
struct image_bed *image_bed_new(const char *spec);
void image_bed_free(struct image_bed *bed);
/* Port of the fabric, found by the NodeDescription. */
uint32_t image_bed_port(const struct image_bed *bed, const char *node, uint8_t port);
/* What the port counted between the two sweeps. */
void image_bed_count(struct image_bed *bed, uint32_t port, enum perf_counter counter,
		     uint64_t count);
/* Its link and that of the port at the other end go down, after the first sweep of counters. */
void image_bed_cut(struct image_bed *bed, uint32_t port);
/* An image to be unmapped. */
void image_bed_map(const struct image_bed *bed, struct image *image);
/* Its octets in memory. */
GBytes *image_bed_octets(const struct image_bed *bed);

/* A node of an image, by its name. */
uint32_t image_bed_node(const struct image *image, const char *name);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Layouts and images of counters, made by hand. */
#ifndef TESTS_UNIT_PERF_FIXTURE_H
#define TESTS_UNIT_PERF_FIXTURE_H

#include <glib.h>

#include "perf/image/image.h"

struct fixture_node {
	uint64_t guid; /* ascending */
	uint8_t type;  /* IBA_NODE_CA .. */
	uint8_t num_ports;
};

/* A layout with ports 1..num_ports of these nodes, on 4x EDR links to nowhere. */
struct perf_layout *fixture_layout(const struct fixture_node *nodes, uint32_t n);
/* Makes a cable between two ports of it. */
void fixture_cable(struct perf_layout *layout, uint64_t guid_a, uint8_t port_a, uint64_t guid_b,
		   uint8_t port_b);
uint32_t fixture_row(const struct perf_layout *layout, uint64_t guid, uint8_t port);

/*
 * An image that ended that many seconds after the start: all ports were read just then and have all
 * counters, which are 0. The wall clock was FIXTURE_EPOCH_US at the start.
 */
#define FIXTURE_EPOCH_US INT64_C(1700000000000000)
#define FIXTURE_START_NS 1000 /* a port that was read at 0 was never read */
struct perf_image *fixture_image(struct perf_layout *layout, uint64_t id, double seconds,
				 uint32_t n_details);
/* Takes over the references to the images. */
struct perf_images *fixture_ring(struct perf_image **images, unsigned int n);

/* A fabric of that many switches with 32 ports; busy: counters of a fabric under load. */
struct perf_layout *fixture_large_layout(uint32_t n_switches);
void fixture_count(struct perf_image *image, uint64_t seed, bool busy, double seconds);

/* Writes a file without waiting for the disk. */
void fixture_file(const char *file, const void *octets, size_t length);

#endif

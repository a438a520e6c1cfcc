// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Layouts and images of counters, made by hand: any layout (fixture_..), one leaf with its hosts
 * (perf_leaf_..), and images of counters that change (perf_net_..).
 */
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
/* Adds a node behind all others, whose GUIDs are lower. */
void fixture_add(struct perf_layout *layout, uint64_t guid, uint8_t type, uint8_t ports,
		 const char *name);
/* Makes a cable between two ports of it, which fixture_join() takes as rows. */
void fixture_join(struct perf_layout *layout, uint32_t a, uint32_t b);
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

/* ---- one leaf ---- */

#define PERF_LEAF_SWITCH UINT64_C(0x200000080000100)
#define PERF_LEAF_HOST_A UINT64_C(0x200000000000200)
#define PERF_LEAF_HOST_B UINT64_C(0x200000000000300)
#define PERF_LEAF_WEIRD UINT64_C(0x200000000000400)
#define PERF_LEAF_TIME INT64_C(1795000000) /* seconds since 1970 */

/*
 * "leaf one" with 4 ports, of which 1 to 3 lead to port 1 of "host a", "host-b" and "weird:name",
 * and 4 is down. EDR links. since: seconds since 1970.
 */
struct perf_layout *perf_leaf_layout(int64_t since);

/*
 * An image, seconds after PERF_LEAF_TIME, in which each port that is up was read and has all
 * counters, at 0. Its id is seconds + 1.
 */
struct perf_image *perf_leaf_image(struct perf_layout *layout, unsigned int seconds);

/* With the totals of before as well. */
struct perf_image *perf_leaf_next(const struct perf_image *before, unsigned int seconds);

/* ---- any fabric: add nodes to layout and join them, then count and take images ---- */

#define PERF_NET_RATE 16 /* SA rate code: 100 Gb/s, 4x EDR */

struct perf_net {
	struct perf_layout *layout;
	struct perf_image *now; /* counters: total, flags, missed; copied by perf_net_image() */
	uint64_t details[PERF_DETAILS]; /* of details_row */
	uint32_t details_row;		/* PERF_NONE: no details are read */
	uint64_t seconds;
};

struct perf_net *perf_net_new(void);
void perf_net_free(struct perf_net *net);
void perf_net_ready(struct perf_net *net); /* all nodes are there; all ports are up and read */
/* As the ports are, seconds later than the last; flags but PERF_READ and missed are reset. */
struct perf_image *perf_net_image(struct perf_net *net, uint64_t seconds);

#endif

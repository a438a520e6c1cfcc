// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Images of any fabric, made by hand: nodes are added in the order of their GUIDs, cables joined,
 * then counters set and images taken of them. For a fixed small fabric see perf_fixture.h.
 */
#ifndef TESTS_UNIT_PERF_NET_H
#define TESTS_UNIT_PERF_NET_H

#include "perf/image/image.h"

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
void perf_net_node(struct perf_net *net, uint64_t guid, uint8_t type, uint8_t ports,
		   const char *name);
void perf_net_ready(struct perf_net *net); /* all nodes are there; all ports are up and read */
uint32_t perf_net_row(const struct perf_net *net, uint64_t guid, uint8_t port);
void perf_net_cable(struct perf_net *net, uint32_t a, uint32_t b);
/* As the ports are, seconds later than the last; flags but PERF_READ and missed are reset. */
struct perf_image *perf_net_image(struct perf_net *net, uint64_t seconds);

#endif

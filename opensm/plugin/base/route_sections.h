// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A call of a routing engine: two blocks that the daemon makes, by a message ROUTE_CALL over the
 * socket of the engine. The input cannot be written. The plug-in fills in the output, then a
 * message ROUTE_RETURN says so; it may go on writing, so the daemon checks a copy.
 */
#ifndef PLUGIN_BASE_ROUTE_SECTIONS_H
#define PLUGIN_BASE_ROUTE_SECTIONS_H

#include <stdint.h>

#include "opensm/plugin.h"

/* Types of messages, with the head of base/link.h; id is the number of the call. */
enum route_message {
	ROUTE_CALL,   /* two files: input, output */
	ROUTE_RETURN, /* value: what route() returned */
};

/* The lists and tables of struct osm_route_input, elements as there. */
enum route_input_section {
	ROUTE_IN_HEAD, /* struct route_input_head */
	ROUTE_IN_SENDS,
	ROUTE_IN_OLD,
	ROUTE_IN_NAMES,
	ROUTE_IN_LINKS,
	ROUTE_IN_SWITCHES,
	ROUTE_IN_PORTS,
	ROUTE_IN_FIRST_EDGE,
	ROUTE_IN_EDGES,
	ROUTE_IN_ENDPORTS,
};

struct route_input_head {
	uint64_t generation;
	uint32_t sm_switch, top, stride, vls, n_classes;
	uint32_t reserved;
};

/* The tables of struct osm_route_output. */
enum route_output_section {
	ROUTE_OUT_HEAD, /* struct route_output_head */
	ROUTE_OUT_LFT,
	ROUTE_OUT_SL,
	ROUTE_OUT_TURNS,
	ROUTE_OUT_ORDER,
};

struct route_output_head {
	uint32_t cancelled; /* written by the daemon, atomically; the rest by the plug-in */
	uint32_t promises, has_sls, has_turns, has_order;
	uint8_t vl[16];
	char note[sizeof(((struct osm_route_output *)0)->note)];
};

#endif

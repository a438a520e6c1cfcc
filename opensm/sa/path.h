// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The walk of a path through the forwarding tables. */
#ifndef SA_PATH_H
#define SA_PATH_H

#include "policy/subnet.h"

struct sa_path_hops {
	uint32_t n;   /* links crossed */
	uint8_t mtu;  /* code of the least on the way */
	uint8_t rate; /* likewise; the slowest there is where no link tells */
};

/*
 * Follows a packet for dlid from one endport to another, at most 64 links (IBA 14.2.1.2). False
 * if it does not arrive.
 */
bool sa_path_walk(const struct subnet *subnet, uint32_t from, uint32_t to, uint16_t dlid,
		  struct sa_path_hops *hops);

#endif

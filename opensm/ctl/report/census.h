// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The largest numbers of switches, hosts and cables within a time window, to tell what is missing
 * now. Bounded in size, whatever the subnet does.
 */
#ifndef CTL_REPORT_CENSUS_H
#define CTL_REPORT_CENSUS_H

#include <stdint.h>

#include "fabric/fabric.h"

struct census_counts {
	uint32_t switches, hosts; /* routers count as hosts */
	uint32_t cables;	  /* excluding one per host, which is lost with the host */
};

struct census_counts census_of(const struct fabric *fabric);

#define CENSUS_SLOTS 61 /* each covers 1/60 of the window; the newest is incomplete */

struct census {
	uint64_t window_ns;			 /* that the slots were made for; 0: no slots */
	uint64_t slot;				 /* number of the newest, from time 0 */
	struct census_counts most[CENSUS_SLOTS]; /* per slot, at number % CENSUS_SLOTS */
	struct census_counts now;
};

/* Counts from now on. window_ns, not 0: how long they are remembered. */
void census_note(struct census *census, uint64_t now_ns, uint64_t window_ns,
		 struct census_counts counts);
/* The largest counts within that time. */
struct census_counts census_most(struct census *census, uint64_t now_ns, uint64_t window_ns);
/* Accepts the present counts: nothing seen before counts as missing. */
void census_accept(struct census *census);

#endif

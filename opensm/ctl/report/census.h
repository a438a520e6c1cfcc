// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How many switches, hosts and cables there have been: the most of each within some time, so that
 * it can be told what is missing now. Bounded, whatever the subnet does.
 */
#ifndef CTL_REPORT_CENSUS_H
#define CTL_REPORT_CENSUS_H

#include <stdint.h>

#include "fabric/fabric.h"

struct census_counts {
	uint32_t switches, hosts; /* routers are hosts here */
	uint32_t cables;	  /* beside one of each host, which is lost with it */
};

struct census_counts census_of(const struct fabric *fabric);

#define CENSUS_SLOTS 61 /* of a 60th of the time each: one is not over yet */

struct census {
	uint64_t window_ns;			 /* that slots were made for; 0: there are none */
	uint64_t slot;				 /* number of the last one, since time 0 */
	struct census_counts most[CENSUS_SLOTS]; /* of a slot, by its number */
	struct census_counts now;
};

/* So many are there from now on. window_ns, not 0: what is remembered. */
void census_note(struct census *census, uint64_t now_ns, uint64_t window_ns,
		 struct census_counts counts);
/* The most that there were within that time. */
struct census_counts census_most(struct census *census, uint64_t now_ns, uint64_t window_ns);
/* What there is now is as it should be: nothing of before is missing. */
void census_accept(struct census *census);

#endif

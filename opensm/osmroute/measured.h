// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The load that the performance manager of the daemon has measured, beside the one that a table
 * would give if all hosts sent to all. Ports are matched by node GUID and port number.
 */
#ifndef OSMROUTE_MEASURED_H
#define OSMROUTE_MEASURED_H

#include "perf/image/query.h"
#include "route/engine.h"

/* One or two images of the daemon. */
struct measured_load {
	struct perf_image *since; /* NULL: what was counted since totals began */
	struct perf_image *until;
};

/*
 * Reads the images of these files, in the order of their time whatever that of the names is. False
 * and error if one cannot be read, or if there are none or more than two.
 */
bool measured_read(struct measured_load *load, char *const *files, GError **error);
void measured_clear(struct measured_load *load);

/* A channel: what leaves a port of a switch towards another. */
struct measured_channel {
	uint32_t port;	 /* of the fabric */
	uint64_t flows;	 /* computed */
	uint64_t octets; /* measured */
	bool at_least;	 /* or more */
	/* Of all channels that were measured; and the second less the first. */
	double computed_share, measured_share, difference;
};

struct measured {
	const char *engine;
	uint32_t unknown; /* channels that were not measured */
	GArray *channels; /* struct measured_channel, worst differences first */
};

/* Compares with a table; clear it. */
void measured_compare(struct measured *measured, const struct measured_load *load,
		      const struct fabric *fabric, const struct routing *routing,
		      const char *engine);
void measured_compare_clear(struct measured *measured);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths between ends, for the records that tell of paths. */
#ifndef SA_RECORD_PATHS_H
#define SA_RECORD_PATHS_H

#include "sa/clients/limit.h"
#include "sa/sa_private.h"
#include "subnet/path.h"

/*
 * Most paths one query looks at: more would not fit into an answer, and who asks for less than it
 * looks at must not keep a worker busy for minutes.
 */
#define PATHS_MAX (SA_MAX_REPLY / iba_path_record_bytes)

/* One end of a query. */
struct path_end {
	uint32_t first, end; /* endports in question: [first, end) */
	uint64_t prefix;     /* of the GID in the answer */
	uint64_t guid;	     /* likewise; 0: that of the port */
	uint16_t lid;	     /* the one asked for, or 0: any of the port */
	bool leaves_subnet;  /* the endport is a router's, and the GID one behind it */
};

/* How an end is named; by nothing: any endport. */
struct path_end_asked {
	bool has_gid, has_lid;
	struct iba_gid gid;
	uint16_t lid;
	bool source; /* hence in this subnet */
};

/* What a query asks of every path, worked out once. */
struct paths {
	struct sa_query *query;
	const struct iba_path_record *wanted;
	uint64_t mask; /* components of wanted */
	struct path_end from, to;
	struct sa_limit mtu, rate, life;
	uint32_t looked_at;
	uint32_t per_pair; /* paths wanted for each pair of ports */
	struct policy_wanted asked;
	/* Gets each path; false: no need to go on. */
	bool (*take)(struct paths *paths, uint32_t from, uint32_t to,
		     const struct iba_path_record *record);
	void *arg;
};

/* All but the ends and take; wanted stays the caller's. The status of the whole answer. */
uint16_t paths_begin(struct paths *paths, struct sa_query *query,
		     const struct iba_path_record *wanted, uint64_t mask);
/* The ends that wanted names. A source must have a prefix of this subnet. */
uint16_t paths_resolve_from(struct paths *paths);
uint16_t paths_resolve_to(struct paths *paths);
uint16_t paths_resolve(const struct sa_query *query, const struct path_end_asked *asked,
		       struct path_end *end);

/* The paths between all endports that the ends mean and the requester may know of. */
uint16_t paths_each(struct paths *paths);
/* Those of one pair; false: no need to go on. */
bool paths_of_pair(struct paths *paths, uint32_t from, uint32_t to);

/* The ports by which a packet leaves the nodes on its way: a host's, then those of switches. */
struct sa_trace {
	unsigned int n;
	uint32_t out[IBA_MAX_HOPS + 2];
};
/* False: it does not arrive. */
bool sa_trace(const struct subnet *subnet, uint32_t from, uint32_t to, uint16_t dlid,
	      struct sa_trace *trace);

#endif

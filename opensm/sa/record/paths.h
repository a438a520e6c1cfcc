// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths between the ends of a query, for the records that describe paths. */
#ifndef SA_RECORD_PATHS_H
#define SA_RECORD_PATHS_H

#include "iba/limit.h"
#include "sa/sa_private.h"
#include "subnet/path.h"

/*
 * Most paths that one query looks at: more would not fit into an answer, and a requester that asks
 * for fewer than it looks at must not keep a worker busy for minutes.
 */
#define PATHS_MAX (SA_MAX_REPLY / iba_path_record_bytes)

/* One end of a query. */
struct path_end {
	uint32_t first, end; /* candidate endports: [first, end) */
	uint64_t prefix;     /* of the GID in the answer */
	uint64_t guid;	     /* of the GID in the answer; 0: that of the port */
	uint16_t lid;	     /* the requested LID, or 0: any of the port */
	bool leaves_subnet;  /* the endport is a router's, and the GID is beyond it */
};

/* How a query names an end. If it names nothing: any endport. */
struct path_end_asked {
	bool has_gid, has_lid;
	struct iba_gid gid;
	uint16_t lid;
	bool source; /* a source must be in this subnet */
};

/* What a query requires of every path, computed once. */
struct paths {
	struct sa_query *query;
	const struct iba_path_record *wanted;
	uint64_t mask; /* components of wanted */
	struct path_end from, to;
	struct iba_limit mtu, rate, life;
	uint32_t looked_at;
	uint32_t per_pair; /* paths wanted per pair of ports */
	struct policy_wanted asked;
	/* Called for each path; false: stop. */
	bool (*take)(struct paths *paths, uint32_t from, uint32_t to,
		     const struct iba_path_record *record);
	void *arg;
};

/*
 * Initializes all but the ends and take; wanted is owned by the caller. Returns the status of the
 * answer.
 */
uint16_t paths_begin(struct paths *paths, struct sa_query *query,
		     const struct iba_path_record *wanted, uint64_t mask);
/* Resolves the ends that wanted names. A source must have a prefix of this subnet. */
uint16_t paths_resolve_from(struct paths *paths);
uint16_t paths_resolve_to(struct paths *paths);
uint16_t paths_resolve(const struct sa_query *query, const struct path_end_asked *asked,
		       struct path_end *end);

/* Visits the paths between all endports of both ends that the requester may see. */
uint16_t paths_each(struct paths *paths);
/* Visits the paths of one pair; false: stop. */
bool paths_of_pair(struct paths *paths, uint32_t from, uint32_t to);

/* The egress ports on a packet's path: the host's port first, then those of switches. */
struct sa_trace {
	unsigned int n;
	uint32_t out[IBA_MAX_HOPS + 2];
};
/* False: the packet does not arrive. */
bool sa_trace(const struct subnet *subnet, uint32_t from, uint32_t to, uint16_t dlid,
	      struct sa_trace *trace);

#endif

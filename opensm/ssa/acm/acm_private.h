// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * libibacmssa.so: a provider for ibacm, which answers path queries out of a snapshot of the subnet.
 *
 * ibacm calls resolve() and query() from its server loop, and the handlers of SA MADs from another
 * thread; a thread of our own reads snapshots. Snapshots are immutable, all else that two threads
 * use is atomic or has a lock.
 */
#ifndef SSA_ACM_PRIVATE_H
#define SSA_ACM_PRIVATE_H

#include <infiniband/acm_prov.h>
#include <stddef.h>

#include "complib/handoff.h"
#include "iba/iba.h"
#include "ssa/look/look.h"

/* What ibacm 44 was built with. */
#if UINTPTR_MAX == UINT64_MAX
G_STATIC_ASSERT(sizeof(struct acm_provider) == 120);
G_STATIC_ASSERT(offsetof(struct acm_provider, open_device) == 24);
G_STATIC_ASSERT(offsetof(struct acm_provider, open_port) == 40);
G_STATIC_ASSERT(offsetof(struct acm_provider, open_endpoint) == 56);
G_STATIC_ASSERT(offsetof(struct acm_provider, add_address) == 72);
G_STATIC_ASSERT(offsetof(struct acm_provider, resolve) == 88);
G_STATIC_ASSERT(offsetof(struct acm_provider, query) == 96);
G_STATIC_ASSERT(offsetof(struct acm_provider, handle_event) == 104);
G_STATIC_ASSERT(offsetof(struct acm_provider, query_perf) == 112);
G_STATIC_ASSERT(sizeof(struct acm_address) == 88 && offsetof(struct acm_address, type) == 80);
G_STATIC_ASSERT(sizeof(struct acm_sa_mad) == 328 && offsetof(struct acm_sa_mad, sa_mad) == 72);
#endif
G_STATIC_ASSERT(sizeof(struct acm_msg) == 592);
G_STATIC_ASSERT(sizeof(struct acm_ep_addr_data) == ACM_MSG_EP_LENGTH);
G_STATIC_ASSERT(sizeof(struct ibv_path_record) == iba_path_record_bytes);

/* ---- options.c ---- */

enum neighbours_kind {
	NEIGHBOURS_NONE,
	NEIGHBOURS_IPV4,
	NEIGHBOURS_IPV6,
	NEIGHBOURS_BOTH,
};

struct acm_options {
	GPtrArray *snapshots; /* names of files; at least one */
	unsigned int max_age_s;
	enum neighbours_kind neighbours;
	/* Not in the file: what neighbours_new() gets. */
	const char *sysfs;
	int netlink;
};

/* Reads the options that begin with ssa_ from ibacm's file; logs those that it does not take. */
void acm_options_read(struct acm_options *options, const char *file);
void acm_options_clear(struct acm_options *options);

/* ---- source.c ---- */

struct sources;

/* Starts the thread that reads the files of snapshots, at once and whenever they change. */
struct sources *sources_start(const struct acm_options *options);
void sources_stop(struct sources *sources);
/*
 * A reference to the snapshot that knows this port, and the port's index in it. NULL: none does, or
 * it is too old; *why is then a constant text.
 */
struct ssa_snapshot *sources_take(struct sources *sources, const union ibv_gid *gid,
				  uint32_t *endport, const char **why);

/* ---- neighbours.c: one thread ---- */

struct neighbours;

/* sysfs NULL: /sys/class/net; fd -1: a new socket of rtnetlink. NULL, after a log line: none. */
struct neighbours *neighbours_new(enum neighbours_kind kind, const char *sysfs, int fd);
/*
 * Adds, replaces and removes our entries so that they are those of the snapshots; without sources
 * it removes all. NULL is fine.
 */
void neighbours_update(struct neighbours *neighbours, struct sources *sources);
void neighbours_free(struct neighbours *neighbours); /* leaves the entries */

/* ---- provider.c ---- */

/* What requests need of an endpoint; counted, as answers of the SA may come after it was closed. */
struct endpoint {
	struct ref ref;
	struct sources *sources;
	const struct acm_endpoint *endpoint;
	union ibv_gid gid; /* the first of the port */
	atomic_uint_fast64_t counters[ACM_MAX_COUNTER];
};

void endpoint_unref(struct endpoint *endpoint);
/* Counts ACM_CNTR_ for the endpoint; the other one for the whole service as well. */
void endpoint_count(struct endpoint *endpoint, int counter);
void endpoint_count_all(struct endpoint *endpoint, int counter);

/* ---- answer.c: each answers exactly once, now or from the thread of SA MADs ---- */
void answer_resolve(struct endpoint *endpoint, const struct acm_msg *msg, uint64_t id);
void answer_query(struct endpoint *endpoint, const struct acm_msg *msg, uint64_t id);

#endif

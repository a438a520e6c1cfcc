// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Metrics of the daemon and of the ports of its fabric, as text. Everything is made of published
 * objects, in any thread: it delays no actor and causes no MAD.
 */
#ifndef CTL_METRICS_METRICS_H
#define CTL_METRICS_METRICS_H

#include "core/context.h"
#include "ctl/metrics/text.h"
#include "ctl/report/journal.h"
#include "perf/perf.h"
#include "perf/judge/perf_rules.h"
#include "perf/image/query.h"
#include "subnet/subnet.h"

enum metrics_level {
	METRICS_OFF,	 /* nothing */
	METRICS_DAEMON,	 /* of the daemon, nothing of ports */
	METRICS_ERRORS,	 /* of ports, as all those below: that have counted an error */
	METRICS_TRAFFIC, /* and data, packets and waiting of every port of a switch */
	METRICS_ALL,	 /* every counter of every port */
};

/* What is asked for. */
struct metrics_request {
	enum metrics_level level;
	bool open_metrics;
	uint32_t shard, shards; /* only nodes of part shard of shards, from 1; shards 0: all */
	GArray *guids;		/* of uint64_t: only these nodes; empty: all */
	enum perf_scope scope;
	char *group; /* of the rules file; NULL: none */
};

/*
 * Words: off, daemon, errors, traffic, all; openmetrics; shard=I/N, guid=GUID (repeated: several),
 * scope=all|switches|hosts, group=NAME. Returns what is wrong, newly allocated, or NULL. The
 * request is to be cleared in both cases.
 */
char *metrics_request_parse(struct metrics_request *request, char *const *words);
void metrics_request_clear(struct metrics_request *request);

#define METRICS_EVENTS 16 /* kinds of events */

/* A plug-in. */
struct metrics_plugin {
	char *name;
	uint64_t up, events, lost, requests, restarts;
};

/* What is noted on the thread of the daemon's owner; the rest is taken from the context. */
struct metrics_source {
	struct context *context;
	struct subnet *subnet; /* NULL: none yet */
	struct options *options;
	uint64_t port_guid;
	bool swept, refused;		 /* a sweep has ended; a file is refused */
	struct journal_sweep last_sweep; /* if swept */
	uint64_t events[METRICS_EVENTS]; /* by kind */
	const char *event_kinds[METRICS_EVENTS];
	unsigned int n_events;
	int64_t reread_us; /* as journal_reread_us() */
	struct perf_status perf;
	GArray *plugins; /* struct metrics_plugin; NULL: none */
};

/* A setting, by number, and whether it is insecure; NULL: past the last. */
typedef const char *metrics_insecure_fn(const struct options *options, const struct subnet *subnet,
					unsigned int number, bool *is);

void metrics_write_daemon(struct metrics_text *text, const struct metrics_source *source,
			  metrics_insecure_fn *insecure);

/*
 * Of the last image; NULL: there is none yet. False and *why, newly allocated: the rules have no
 * such group.
 */
bool metrics_write_ports(struct metrics_text *text, const struct metrics_request *request,
			 const struct perf_image *image, const struct perf_rules *rules,
			 char **why);

#endif

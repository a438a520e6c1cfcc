// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which metrics there are: families.def, and a family for each row of core/counters.def. */
#ifndef CTL_METRICS_FAMILIES_H
#define CTL_METRICS_FAMILIES_H

#include "perf/image/image.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_INFO, METRIC_HISTOGRAM };

struct metric {
	const char *name; /* without the suffix of its type */
	enum metric_type type;
	const char *unit, *help;
};

enum metric_id {
#define METRIC(id, name, type, unit, help) METRIC_##id,
#include "ctl/metrics/families.def"
	METRICS
};
extern const struct metric metrics[METRICS];

/* Hosts, and routers, are called HCAs by the exporter. */
enum metric_side { METRIC_SWITCH, METRIC_HCA, METRIC_SIDES };

enum metric_node_id {
#define NODE_METRIC(id, name, type, unit, help) METRIC_NODE_##id,
#include "ctl/metrics/families.def"
	METRICS_NODE
};
extern const struct metric metrics_node[METRIC_SIDES][METRICS_NODE];

/* A counter of ports, and its sum over those of switches. */
struct metric_port {
	unsigned int column; /* of perf/image/query.h: a detail is behind all counters */
	struct metric side[METRIC_SIDES], sum;
};
extern const struct metric_port metrics_port[];
extern const unsigned int n_metrics_port;

/* By the rows of core/counters.def. */
extern const struct metric metrics_counter[];
extern const unsigned int n_metrics_counter;

/* All families, by number; NULL past the last. For tests. */
const struct metric *metric_at(unsigned int number);
/* What the text format adds to the name: "_total", "_info" or "". */
const char *metric_suffix(const struct metric *metric);

#endif

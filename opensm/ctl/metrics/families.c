// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/metrics/families.h"

#include <glib.h>

#include "core/counters.h"
#include "perf/image/query.h"

const struct metric metrics[METRICS] = {
#define METRIC(id, name, type, unit, help) {name, METRIC_##type, unit, help},
#include "ctl/metrics/families.def"
};

const struct metric metrics_node[METRIC_SIDES][METRICS_NODE] = {
	{
#define NODE_METRIC(id, name, type, unit, help)                                                    \
	{"infiniband_switch" name, METRIC_##type, unit, help},
#include "ctl/metrics/families.def"
	},
	{
#define NODE_METRIC(id, name, type, unit, help) {"infiniband_hca" name, METRIC_##type, unit, help},
#include "ctl/metrics/families.def"
	},
};

const struct metric_port metrics_port[] = {
#define NAMES(name, unit, help)                                                                    \
	{                                                                                          \
		{"infiniband_switch_port_" name, METRIC_COUNTER, unit, help},                      \
		{"infiniband_hca_port_" name, METRIC_COUNTER, unit, help},                         \
	},                                                                                         \
	{                                                                                          \
		"opensm_fabric_" name, METRIC_COUNTER, unit, help                                  \
	}
#define PORT_COUNTER(column, name, unit, help) {PERF_##column, NAMES(name, unit, help)},
#define PORT_DETAIL(column, name, help)                                                            \
	{PERF_COLUMN_OF(PERF_DETAIL_##column), NAMES(name, "", help)},
#include "ctl/metrics/families.def"
#undef NAMES
};
const unsigned int n_metrics_port = G_N_ELEMENTS(metrics_port);

/* Types by enum counter_kind. */
#define TYPE_EVENTS METRIC_COUNTER
#define TYPE_STATE METRIC_GAUGE
const struct metric metrics_counter[] = {
#define COUNTER(name, kind, help) {"opensm_" #name, TYPE_##kind, "", help},
#include "core/counters.def"
#undef COUNTER
};
const unsigned int n_metrics_counter = G_N_ELEMENTS(metrics_counter);

const struct metric *metric_at(unsigned int number)
{
	if (number < METRICS)
		return &metrics[number];
	number -= METRICS;
	if (number < n_metrics_counter)
		return &metrics_counter[number];
	number -= n_metrics_counter;
	if (number < (unsigned int)METRIC_SIDES * METRICS_NODE)
		return &metrics_node[number / METRICS_NODE][number % METRICS_NODE];
	number -= (unsigned int)METRIC_SIDES * METRICS_NODE;
	if (number < METRIC_SIDES * n_metrics_port)
		return &metrics_port[number / METRIC_SIDES].side[number % METRIC_SIDES];
	number -= METRIC_SIDES * n_metrics_port;
	return number < n_metrics_port ? &metrics_port[number].sum : NULL;
}

const char *metric_suffix(const struct metric *metric)
{
	if (metric->type == METRIC_COUNTER)
		return "_total";
	return metric->type == METRIC_INFO ? "_info" : "";
}

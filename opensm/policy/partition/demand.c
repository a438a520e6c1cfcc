// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "policy/partition/demand.h"

#define CLASSES_MAX 2048

struct route_demand *demand_of_partitions(const struct partitions *partitions)
{
	uint32_t n = partitions ? partitions->n_classes : 0;
	struct route_demand *demand;
	bool *sends;

	if (!n || n > CLASSES_MAX)
		return NULL;
	demand = g_new0(struct route_demand, 1);
	sends = g_new(bool, (size_t)n * n);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			sends[a * n + b] = partitions_classes_talk(partitions, a, b);
	demand->n_classes = n;
	demand->class_of = partitions->class_of;
	demand->sends = sends;
	return demand;
}

void demand_free(struct route_demand *demand)
{
	if (!demand)
		return;
	g_free((bool *)demand->sends);
	g_free(demand);
}

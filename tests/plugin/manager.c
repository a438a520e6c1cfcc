// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * As managers of adaptive routing and of congestion control: once the subnet is up, MADs of a class
 * of theirs to all switches, here Get(ClassPortInfo) of performance management. Options: a file.
 */
#include <opensm/plugin.h>
#include <stdio.h>
#include <stdlib.h>

static void on_event(void *context, const struct osm_event *event)
{
	const struct osm_host *host = context;
	const struct osm_snapshot *now = host->snapshot(host, OSM_PART_NODES, NULL);
	uint32_t n = now ? now->switches.n : 0, good = 0;
	struct osm_mad *mads = calloc(n + 1, sizeof(*mads));
	FILE *out = fopen(host->own_options, "a");

	for (uint32_t i = 0; i < n; i++) {
		const struct osm_node *node = osm_node(now, osm_switch(now, i)->node);

		mads[i] = (struct osm_mad){.size = sizeof(*mads),
					   .mgmt_class = 0x04,
					   .retries = 1,
					   .class_version = 1,
					   .method = 0x01,
					   .attribute = 0x0001,
					   .lid = osm_port(now, node->first_port)->lid};
	}
	host->mads(host, mads, n);
	for (uint32_t i = 0; i < n; i++) /* BaseVersion is at octet 64 of the MAD */
		good += mads[i].result == OSM_OK && !mads[i].status && mads[i].data[64 - 24] == 1;
	fprintf(out, "event %u: %u of %u switches answer\n", event->id, good, n);
	fclose(out);
	host->snapshot_free(host, now);
	free(mads);
}

static void *create(const struct osm_host *host)
{
	return (void *)host;
}

static void destroy(void *context)
{
	(void)context;
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		sizeof(plugin), OSM_PLUGIN_ABI, "manager", "1", OSM_EVENT_BIT(OSM_EVENT_SUBNET_UP),
		create,		destroy,	on_event,  NULL};

	return &plugin;
}

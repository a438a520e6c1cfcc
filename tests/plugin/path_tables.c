// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* As for the Scalable SA of OFED: all LFTs once, then each block that changes. Options: a file. */
#include <opensm/plugin.h>
#include <stdio.h>
#include <stdlib.h>

#define BIT(name) OSM_EVENT_BIT(OSM_EVENT_##name)
#define EVENTS (BIT(SUBNET_UP) | BIT(STATE_CHANGE) | BIT(LFT_CHANGE))

struct tables {
	const struct osm_host *host;
	int whole; /* all LFTs are written */
};

static void put_all(FILE *out, const struct osm_snapshot *now)
{
	fprintf(out, "nodes %u P_Keys %u\n", now->nodes.n, now->p_keys.n);
	for (uint32_t sw = 0; sw < now->switches.n; sw++)
		for (uint32_t lid = 0; lid <= now->max_lid; lid++)
			fprintf(out, "0x%016llx %u %u\n",
				(unsigned long long)osm_node(now, osm_switch(now, sw)->node)->guid,
				lid, osm_lft(now, sw, (uint16_t)lid));
}

static void on_event(void *context, const struct osm_event *event)
{
	const struct osm_lft_change *change = event->body;
	struct tables *tables = context;
	const struct osm_host *host = tables->host;
	const struct osm_snapshot *now;
	FILE *out = fopen(host->own_options, "a");

	tables->whole &= event->id != OSM_EVENT_LOST && event->id != OSM_EVENT_STATE_CHANGE;
	for (uint32_t i = 0; i < 64 && event->id == OSM_EVENT_LFT_CHANGE && tables->whole; i++)
		fprintf(out, "0x%016llx %u %u\n", (unsigned long long)change->guid,
			64 * change->block + i, change->ports[i]);
	if ((now = tables->whole ? NULL : host->snapshot(host, OSM_PART_ALL, NULL)))
		put_all(out, now);
	tables->whole |= now != NULL;
	host->snapshot_free(host, now);
	fclose(out);
}

static void *create(const struct osm_host *host)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	tables->host = host;
	return tables;
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		sizeof(plugin), OSM_PLUGIN_ABI, "path_tables", "1", EVENTS,
		create,		free,		on_event,      NULL};

	return &plugin;
}

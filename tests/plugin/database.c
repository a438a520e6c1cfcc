// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* As LLNL's skummee: counters and traps as SQL. Options: a file with OUT=FILE, CLEAR_DB_ON_LOAD. */
#include <opensm/plugin.h>
#include <stdio.h>
#include <string.h>

#define BIT(name) OSM_EVENT_BIT(OSM_EVENT_##name)
#define EVENTS (BIT(PORT_ERRORS) | BIT(PORT_DATA_COUNTERS) | BIT(TRAP))

static void put(FILE *out, const char *table, const struct osm_port_id *port, unsigned long long a,
		unsigned long long b)
{
	fprintf(out, "INSERT INTO %s VALUES ('0x%016llx', %u, '", table,
		(unsigned long long)port->guid, port->port);
	for (const char *c = port->name; *c; c++)
		fprintf(out, *c == '\'' ? "''" : "%c", *c); /* nodes choose their names */
	fprintf(out, "', %llu, %llu);\n", a, b);
}

static void on_event(void *context, const struct osm_event *event)
{
	const struct osm_port_errors *errors = event->body;
	const struct osm_port_data *data = event->body;
	const struct osm_trap *trap = event->body;

	if (event->id == OSM_EVENT_PORT_ERRORS)
		put(context, "errors", &errors->port, errors->symbol_err_cnt, errors->rcv_err);
	else if (event->id == OSM_EVENT_PORT_DATA_COUNTERS)
		put(context, "data", &data->port, data->xmit_data, data->rcv_data);
	else if (event->id == OSM_EVENT_TRAP)
		fprintf(context, "INSERT INTO traps VALUES (%u, %u);\n", trap->lid, trap->number);
	fflush(context);
}

static void *create(const struct osm_host *host)
{
	FILE *in = fopen(host->own_options, "r"), *out = NULL;
	char line[512] = "", file[512];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "OUT=%511s", file) == 1)
			out = fopen(file, "a");
		else if (out && !strcmp(line, "CLEAR_DB_ON_LOAD=TRUE\n"))
			fputs("DELETE FROM errors; DELETE FROM data; DELETE FROM traps;\n", out);
	return in && !fclose(in) ? out : NULL;
}

static void destroy(void *context)
{
	fclose(context);
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		sizeof(plugin), OSM_PLUGIN_ABI, "database", "1", EVENTS,
		create,		destroy,	on_event,   NULL};

	return &plugin;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* As QNIB's, but with values a second: gauges for statsd. Options: its port on 127.0.0.1. */
#include <arpa/inet.h>
#include <opensm/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS OSM_EVENT_BIT(OSM_EVENT_PORT_DATA_COUNTERS)

static void put(int fd, const struct osm_port_id *port, const char *what, uint64_t n, uint64_t ns)
{
	char text[200], name[sizeof(port->name)];

	memcpy(name, port->name, sizeof(name));
	for (char *c = name; *c; c++)
		*c = (char)(strchr(" .:|@", *c) ? '_' : *c);
	snprintf(text, sizeof(text), "ib.%s.%u.perf.%s:%.3f|g", name, port->port, what,
		 (double)n * 1e9 / (double)ns);
	send(fd, text, strlen(text), MSG_DONTWAIT);
}

static void on_event(void *context, const struct osm_event *event)
{
	const struct osm_port_data *data = event->body;
	int fd = *(int *)context; /* rates need no events that were lost */

	if (event->id != OSM_EVENT_PORT_DATA_COUNTERS || !data->interval_ns)
		return;
	put(fd, &data->port, "xmit_data", data->xmit_data, data->interval_ns);
	put(fd, &data->port, "rcv_data", data->rcv_data, data->interval_ns);
}

static void *create(const struct osm_host *host)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int *fd = malloc(sizeof(*fd));

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((uint16_t)atoi(host->own_options));
	*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return connect(*fd, (struct sockaddr *)&to, sizeof(to)) ? NULL : fd;
}

static void destroy(void *context)
{
	close(*(int *)context);
	free(context);
}

const struct osm_plugin *osm_plugin_v1(void)
{
	static const struct osm_plugin plugin = {
		sizeof(plugin), OSM_PLUGIN_ABI, "statsd", "1", EVENTS,
		create,		destroy,	on_event, NULL};

	return &plugin;
}

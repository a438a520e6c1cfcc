// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events of the ports of a node, for clients that stand in for libibverbs: each event is a frame of
 * its own, so that a program reads one after another from the descriptor that it polls.
 */
#include "libvendor/osmsim/server.h"

#define QUEUE_MAX 65536 /* octets of events that a client has not read; the rest is dropped */

/* In the order in which they are sent: a port that comes up has its addresses already. */
static const struct event_row {
	unsigned int event; /* enum vendor_event, or SIM_GID_CHANGED */
	enum osmsim_event_kind kind;
} rows[] = {
	{VENDOR_PORT_DOWN, OSMSIM_PORT_DOWN},	{VENDOR_LID_CHANGED, OSMSIM_LID_CHANGED},
	{SIM_GID_CHANGED, OSMSIM_GID_CHANGED},	{VENDOR_P_KEYS_CHANGED, OSMSIM_P_KEYS_CHANGED},
	{VENDOR_SM_CHANGED, OSMSIM_SM_CHANGED}, {VENDOR_REREGISTER, OSMSIM_REREGISTER},
	{VENDOR_PORT_UP, OSMSIM_PORT_UP},
};

static void tell(struct connection *connection, uint32_t port_num, unsigned int events)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct osmsim_event event = {.port_num = port_num, .kind = rows[i].kind};

		if (events & rows[i].event &&
		    connection->out.tail - connection->out.head <= QUEUE_MAX)
			connection_put(connection, OSMSIM_EVENT, &event, sizeof(event), NULL, 0);
	}
}

static void on_event(void *arg, const struct sim_port *port, unsigned int events)
{
	struct server *server = arg;
	GHashTableIter iter;
	void *key;

	if (control_end_port(port->node, port->number) != port)
		return; /* an external port of a switch, or one whose CA is gone */
	g_hash_table_iter_init(&iter, server->connections);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		struct connection *connection = key;

		if (connection->kind == CONNECTION_EVENTS && connection->node == port->node)
			tell(connection, port->number, events);
	}
}

void events_watch(struct connection *connection)
{
	connection->kind = CONNECTION_EVENTS;
	connection->server->sim->on_event = on_event;
	connection->server->sim->on_event_arg = connection->server;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the parts of osmsim, which all run on one thread. */
#ifndef OSMSIM_SERVER_H
#define OSMSIM_SERVER_H

#include <sys/epoll.h>

#include "libvendor/osmsim/protocol.h"
#include "libvendor/sim/agent.h"
#include "vendor/sim.h"

/* A descriptor that epoll watches; first member of the object that owns it. */
struct watch {
	int fd;
	void (*ready)(struct watch *watch, uint32_t events);
};

struct server;
struct issm;

enum connection_kind {
	CONNECTION_NEW, /* no frame yet */
	CONNECTION_CONTROL,
	CONNECTION_PORT,
	CONNECTION_EVENTS,
};

/* Queued octets: those from head to tail. */
struct buffer {
	uint8_t *data;
	size_t head, tail, room;
};

/* An agent of a port connection. */
struct port_agent {
	struct connection *connection;
	struct agent *agent; /* NULL: unused entry */
	uint32_t id;
	uint32_t control; /* number of the connection that registered it */
	uint8_t qpn;
};

struct connection {
	struct watch watch;
	struct server *server;
	uint32_t number; /* in log lines */
	enum connection_kind kind;
	uint32_t pid; /* as reported by the client */
	struct buffer in, out;
	bool dirty;	       /* in server->dirty: has output to send */
	bool closing;	       /* in server->closing */
	uint32_t events;       /* that epoll waits for */
	struct sim_node *node; /* that it runs on */
	/* of a port connection */
	struct sim_port *port;
	uint32_t handle;
	struct port_agent *agents;	  /* OSMSIM_MAX_AGENTS */
	uint64_t received, sent, dropped; /* MADs, as seen by the client */
};

struct server {
	struct runtime *rt;
	struct log *log;
	struct sim *sim;
	int epoll_fd;
	struct watch listener;
	char *path;		 /* of the socket; NULL: none (yet) */
	GHashTable *connections; /* set of struct connection */
	GHashTable *handles;	 /* struct connection by handle */
	GPtrArray *dirty, *closing;
	struct issm *issm;
	uint32_t last_number, last_handle;
	bool counts_handles; /* handles count from 1, so that tests know them */
	uint64_t refused;    /* connections closed for invalid frames */
	struct log_limit accept_limit;
	bool quit;
};

/* ---- server.c ---- */
/* Listens on path; error if a server answers there or the socket cannot be made. */
struct server *server_new(struct runtime *rt, struct log *log, struct sim *sim, const char *path,
			  GError **error);
void server_free(struct server *server);
/* One round: waits at most timeout_ns (UINT64_MAX: for ever) and serves the ready descriptors. */
void server_turn(struct server *server, uint64_t timeout_ns);
/* False and errno: the descriptor cannot be watched. */
bool server_watch(struct server *server, struct watch *watch, uint32_t events);
void server_unwatch(struct server *server, struct watch *watch);
/* The node with that description or GUID; empty: the first host. NULL: none, or several. */
struct sim_node *server_find_node(const struct server *server, const char *name);

/* Closes the connections of ports and events on a node whose CA is gone. */
void server_lose_ports(struct server *server, const struct sim_node *node);

/* ---- connection.c ---- */
struct connection *connection_new(struct server *server, int fd);
void connection_free(struct connection *connection);
/* Ends it after this round. */
void connection_close(struct connection *connection);
/* Writes as much as the socket takes. */
void connection_flush(struct connection *connection);
/* Queues a frame made of two pieces. */
void connection_put(struct connection *connection, enum osmsim_type type, const void *first,
		    size_t first_length, const void *second, size_t second_length);
/* Logs a line and closes the connection: the client sent an invalid frame. */
void connection_refuse(struct connection *connection, const char *why);

/* ---- control.c ---- */
/* The end port of the node with that number; NULL: none, or the CA is removed. */
struct sim_port *control_end_port(struct sim_node *node, uint32_t number);

/* ---- events.c ---- */
/* Sends this client the events of its node from now on. */
void events_watch(struct connection *connection);

/* ---- control.c, mad.c: one frame; data need not be aligned ---- */
void control_frame(struct connection *connection, uint32_t type, const uint8_t *data,
		   size_t length);
void mad_frame(struct connection *connection, uint8_t *data, size_t length);

/* ---- mad.c ---- */
/* The agent's number, or negative errno. */
int mad_register(struct connection *port, const struct connection *control,
		 const struct osmsim_register *request);
/* Only by the connection that registered it, as long as that exists; else -EPERM. */
int mad_unregister(struct connection *port, const struct connection *control, uint32_t agent);
void mad_close(struct connection *port); /* ends its agents */

#endif

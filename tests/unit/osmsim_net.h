// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * For tests: an osmsim in this process and raw sockets to it, all on one thread. The fabric is a
 * switch "sw" with hosts "a", "b" and "c" in ports 1, 2 and 3, whose LIDs are 1, 2 and 3; all
 * links are ACTIVE, the switch has LID 9.
 */
#ifndef TESTS_OSMSIM_NET_H
#define TESTS_OSMSIM_NET_H

#include "libvendor/osmsim/server.h"

#define OSMSIM_NET_HOSTS 3
#define OSMSIM_NET_SWITCH OSMSIM_NET_HOSTS /* index of the node; hosts come first */

struct osmsim_net {
	char *directory, *path;
	struct runtime *rt;
	struct log *log;
	GString *log_text;
	struct sim *sim;
	struct server *server;
};

/* A program on a node: a control connection and one open port. */
struct program {
	struct osmsim_net *net;
	int control, port; /* sockets */
	uint32_t handle;
};

/* A received frame, or for length < 0 the end of the connection; data to be freed. */
struct frame {
	uint32_t type;
	ssize_t length;
	uint8_t *data;
};

struct osmsim_net *osmsim_net_new(void);
void osmsim_net_free(struct osmsim_net *net);
void osmsim_net_run_ms(struct osmsim_net *net, unsigned int ms);

int net_connect(struct osmsim_net *net);
void net_send(struct osmsim_net *net, int fd, const void *data, size_t length);
void net_put(struct osmsim_net *net, int fd, uint32_t type, const void *data, size_t length);
/* Waits for a frame; fails the test after a minute. */
struct frame net_get(struct osmsim_net *net, int fd);
bool net_is_closed(struct osmsim_net *net, int fd); /* the server ended it, within a second */
/* Sends a request and copies the answer, which must have that size. */
void net_ask(struct osmsim_net *net, int fd, uint32_t type, const void *data, size_t length,
	     void *answer, size_t size);

int net_hello(struct osmsim_net *net, const char *node); /* a control connection */
void program_start(struct program *program, struct osmsim_net *net, const char *node);
void program_end(struct program *program);
/* Agent number or negative errno. */
int program_register(struct program *program, const struct osmsim_register *request);
/* An agent of a class, with a single method for unsolicited MADs or none (0). */
int program_agent(struct program *program, uint8_t mgmt_class, uint8_t rmpp, uint8_t method);
void program_send(struct program *program, uint32_t agent, uint16_t lid, const uint8_t *mad,
		  size_t length, uint32_t timeout_ms, uint32_t retries);
/* The next MAD: its octets in *mad (to be freed), their number returned. */
size_t program_receive(struct program *program, struct ib_user_mad *umad, uint8_t **mad);

/* A MAD header in 256 zeroed octets. */
void mad_make(uint8_t mad[256], uint8_t mgmt_class, uint8_t method, uint32_t tid);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of libosmsim-preload.so. */
#ifndef PRELOAD_PRIVATE_H
#define PRELOAD_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/*
 * This library exports only libibumad's functions, and writev(), by which programs send several
 * MADs at once.
 */
#define PRELOAD_EXPORT __attribute__((visibility("default")))
#pragma GCC visibility push(default)
#include <infiniband/umad.h>
#pragma GCC visibility pop

#include "libvendor/osmsim/protocol.h"

#define PRELOAD_STALL_MS 60000 /* a server that moves no octet for this time is considered dead */

#define MAD_BYTES 256 /* of a MAD, and of the first segment of a longer message */

/* Precedes the octets of a MAD in the socket. */
struct prefix {
	struct osmsim_header header;
	struct ib_user_mad umad;
};

/* An open port: a descriptor of the program. Ports are never freed, only reused; see port.c. */
struct preload_port {
	struct preload_port *next;
	_Atomic int fd; /* -1: not in use */
	uint32_t handle;
	_Atomic uint32_t agents; /* bit n: agent n is registered */
	atomic_bool dead;	 /* the server went away, or sent invalid frames */
	pthread_mutex_t read_lock, write_lock;
	/* The beginning of a longer message that did not fit; its rest is still in the socket. */
	bool has_first;
	struct {
		struct prefix prefix;
		uint8_t data[MAD_BYTES];
	} first;
};

/*
 * Sends a request to the server, connecting first if necessary; the answer must have exactly size
 * octets. 0, or negative errno.
 */
int preload_ask(enum osmsim_type type, const void *request, size_t length, void *answer,
		size_t size);

/* The node that this process runs on; 0, or negative errno after a line on stderr. */
int preload_node(struct osmsim_node *node);

/* A new connection to the server with a time limit for all waits; negative errno. */
int preload_connect(void);

/* Sends a request over a blocking connection and reads its answer, of exactly size octets. */
int preload_exchange(int fd, enum osmsim_type type, const void *request, size_t length,
		     void *answer, size_t size);

/* The facts of a port; 0, or negative errno. */
int preload_port(int port_num, struct osmsim_port *port);

/* The present name of the CA; 0, or negative errno if there is none. */
int preload_device_name(char *name, size_t size);

/* Removes n sent octets from the head of a message. */
void preload_advance(struct msghdr *message, size_t n);

/* After fork(), in the child: no lock is held, no frame is half written. */
void preload_ports_forked(void);

/* Whether the name of a CA (NULL: any) is that of the simulated CA. */
bool preload_is_device(const char *name);

/* Resolves a port number that may be UMAD_ANY_PORT; negative errno. */
int preload_resolve_port(int port_num);

#endif

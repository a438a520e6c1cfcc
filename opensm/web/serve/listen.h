// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The sockets that opensm-web listens at: its own, or those that the service manager hands over. */
#ifndef WEB_SERVE_LISTEN_H
#define WEB_SERVE_LISTEN_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

struct listener {
	int socket;
	bool local;  /* a loopback address or a Unix socket */
	bool has_ip; /* not a Unix socket */
	char *text;
	char *path; /* of a Unix socket that this process has made; NULL: nothing to remove */
};

/*
 * mode: of Unix sockets that are made.
 * Those of the environment variables LISTEN_PID and LISTEN_FDS if they are for this process, else
 * of these addresses. Listening, without blocking. NULL and error, without any that were opened.
 */
GPtrArray *listen_open(const GPtrArray *addresses, mode_t mode, GError **error);
/* Closes them and frees all; NULL is fine. */
void listen_close(GPtrArray *listeners);
/* Whether all of them are local. */
bool listen_is_local(const GPtrArray *listeners);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Addresses to listen at: "127.0.0.1:9315", "[::1]:9315", "unix:/run/opensm/web.sock". Pure. */
#ifndef WEB_BASE_ADDRESS_H
#define WEB_BASE_ADDRESS_H

#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct address {
	struct sockaddr_storage storage;
	socklen_t length;
};

/* False: it is none. */
bool address_parse(struct address *address, const char *text);
/* A loopback address or a Unix socket. */
bool address_is_local(const struct sockaddr *address);
/* As address_parse() takes it; newly allocated. */
char *address_text(const struct sockaddr *address);
/* Without the port; "unix" */
char *address_host_text(const struct sockaddr *address);
/*
 * Whether the value of a Host header cannot be a name in a foreign domain: an
 * address, "localhost" or one of the names, with any port.
 */
bool address_host_is_trusted(const char *host, const GPtrArray *names);

#endif

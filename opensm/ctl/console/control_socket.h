// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The Unix socket for users of this host, and their identification. */
#ifndef CTL_CONSOLE_CONTROL_SOCKET_H
#define CTL_CONSOLE_CONTROL_SOCKET_H

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

#include "ctl/console/console_seats.h"

struct control_socket;

/* The name with %g replaced by the port GUID; newly allocated. */
char *control_socket_name(const char *pattern, uint64_t port_guid);

/*
 * Listens there for root, the user of this process and the members of the group; if group is NULL,
 * of the group that new files get from the directory (setgid), unless that is root's. Replaces the
 * socket of a daemon that has ended; NULL and error if anything else has this name.
 */
struct control_socket *control_socket_new(const char *path, const char *group, GError **error);
/* Removes the name, unless another process has it by now; NULL is fine. */
void control_socket_free(struct control_socket *control);

GSocket *control_socket_listener(const struct control_socket *control);

/*
 * Identifies the other end of a connection: its seat, and in every case a new name ("uid 0") in
 * *name. False: this user may not use the socket.
 */
bool control_socket_admits(const struct control_socket *control, GSocket *connection,
			   enum seat_kind *kind, char **name);

#endif

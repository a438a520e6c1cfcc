// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The Unix socket that the operator of this host comes by, and who that is. */
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
 * Listens there, for root, the user of this process and the members of the group; if that is NULL,
 * of the group that the directory gives to what is made in it (setgid), unless that is root's. What
 * a daemon that has ended left behind is replaced; NULL and error if anything else is there.
 */
struct control_socket *control_socket_new(const char *path, const char *group, GError **error);
/* Takes the name away, unless another has it by now; NULL is fine. */
void control_socket_free(struct control_socket *control);

GSocket *control_socket_listener(const struct control_socket *control);

/*
 * Who is at the other end of a connection: the seat, and a new name ("uid 0") in *name whatever
 * comes of it. False: the socket is not for them.
 */
bool control_socket_admits(const struct control_socket *control, GSocket *connection,
			   enum seat_kind *kind, char **name);

#endif

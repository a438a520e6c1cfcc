// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The user at the other end of a TCP connection within this host. The kernel vouches for it in
 * /proc/net/tcp, but only while a process has that end: one that nobody has any more is listed as
 * root's, with inode 0.
 */
#ifndef CTL_PROCESS_TCP_OWNER_H
#define CTL_PROCESS_TCP_OWNER_H

#include <gio/gio.h>
#include <stdbool.h>
#include <sys/types.h>

/* False: it is not known. */
bool tcp_owner(GSocket *connection, uid_t *uid);

/* The same in a table of that format, for an end with those two addresses as it has them. */
bool tcp_owner_in(const char *table, const char *local, const char *remote, uid_t *uid);

#endif

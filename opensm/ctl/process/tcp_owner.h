// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The user at the other end of a TCP connection within this host, from /proc/net/tcp of the kernel.
 * The entry is valid only while a process has that end open: afterwards it is listed as root's,
 * with inode 0.
 */
#ifndef CTL_PROCESS_TCP_OWNER_H
#define CTL_PROCESS_TCP_OWNER_H

#include <gio/gio.h>
#include <stdbool.h>
#include <sys/types.h>

/* False: the user is not known. */
bool tcp_owner(GSocket *connection, uid_t *uid);

/* As tcp_owner(), from a table of that format, for the end with these two addresses in it. */
bool tcp_owner_in(const char *table, const char *local, const char *remote, uid_t *uid);

#endif

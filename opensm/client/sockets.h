// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The Unix sockets of the daemons on this host, which have one each in the run directory. */
#ifndef CLIENT_SOCKETS_H
#define CLIENT_SOCKETS_H

#include <gio/gio.h>

/* The environment variable OSM_RUN_DIR, else the directory that was configured. */
const char *sockets_directory(void);
/*
 * Paths of the sockets, sorted, also of daemons that have ended. Empty with an error if this user
 * may not read the directory, and without one if it does not exist.
 */
GPtrArray *sockets_all(GError **error);

/* Connects. NULL and error, of CLIENT_ERROR; it does not wait for a daemon that is busy. */
GSocket *sockets_open(const char *path, GError **error);
/*
 * That of the only daemon of sockets_all() that lives; *alive gets the paths of all that do. NULL:
 * there is none, with error, or there are several, without one.
 */
GSocket *sockets_open_only(GPtrArray **alive, GError **error);

#endif

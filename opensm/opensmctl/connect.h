// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds the daemon and connects to it. */
#ifndef OPENSMCTL_CONNECT_H
#define OPENSMCTL_CONNECT_H

#include "opensmctl/arguments.h"
#include "opensmctl/peer.h"

/* Connects as the arguments say and reads the welcome. NULL and error, of CLIENT_ERROR. */
struct peer *connect_daemon(const struct arguments *arguments, GError **error);

#endif

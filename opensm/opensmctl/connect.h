// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finding the daemon, and getting in. */
#ifndef OPENSMCTL_CONNECT_H
#define OPENSMCTL_CONNECT_H

#include "opensmctl/arguments.h"
#include "opensmctl/peer.h"

/* As the arguments say; it has said welcome. NULL and error, of PEER_ERROR. */
struct peer *connect_daemon(const struct arguments *arguments, GError **error);

#endif

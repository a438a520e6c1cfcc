// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * "opensmctl events --follow": events as they come, a line each, until the user ends it or the
 * output is closed. Over restarts of the daemon it connects again.
 */
#ifndef OPENSMCTL_FOLLOW_H
#define OPENSMCTL_FOLLOW_H

#include "opensmctl/arguments.h"
#include "opensmctl/stream.h"

/*
 * Returns, with an error of CLIENT_ERROR, only without a daemon at the start, if it refuses, or
 * if the lines cannot be written. SIGINT and SIGTERM exit with 0 between two lines.
 */
void follow(const struct arguments *arguments, struct stream *stream, GError **error);

#endif

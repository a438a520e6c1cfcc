// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A daemon at the other end of a stream, see client/control.h. All calls block. */
#ifndef OPENSMCTL_PEER_H
#define OPENSMCTL_PEER_H

#include <gio/gio.h>
#include <stdbool.h>

#include "client/record.h"

struct peer;

struct peer *peer_new(GIOStream *stream); /* takes a reference */
void peer_free(struct peer *peer);	  /* NULL is fine */

/*
 * Sends line. False and error, of CLIENT_ERROR, without an answer; otherwise the reply is to be
 * cleared.
 */
bool peer_ask(struct peer *peer, const char *line, struct reply *reply, GError **error);
bool peer_send(struct peer *peer, const char *line);
bool peer_receive(struct peer *peer, struct reply *reply, GError **error);
/* Whether the daemon can send files: by a Unix socket. */
bool peer_sends_files(const struct peer *peer);
/* Its descriptor, which is readable if more input arrives than peer_has_input() knows of. */
int peer_descriptor(const struct peer *peer);
/* Whether input is waiting. */
bool peer_has_input(struct peer *peer);

#endif

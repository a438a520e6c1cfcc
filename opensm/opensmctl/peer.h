// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A daemon at the other end of a stream, as ctl/console/control.h has it. All calls wait. */
#ifndef OPENSMCTL_PEER_H
#define OPENSMCTL_PEER_H

#include <gio/gio.h>
#include <stdbool.h>

#include "ctl/console/control.h"

struct peer;

/* What it has answered. */
struct reply {
	enum control_status status;
	char *output;
	bool more; /* another one follows by itself */
	bool key;  /* to the first line: the key has to be the next */
};

/* Errors of this domain have an exit code as code. */
#define PEER_ERROR peer_error_quark()
GQuark peer_error_quark(void);

struct peer *peer_new(GIOStream *stream); /* takes a reference */
void peer_free(struct peer *peer);	  /* NULL is fine */

/* False and error if that is not to be had; reply->output is to be freed if it is. */
bool peer_ask(struct peer *peer, const char *line, struct reply *reply, GError **error);
bool peer_send(struct peer *peer, const char *line);
bool peer_receive(struct peer *peer, struct reply *reply, GError **error);
/* Whether something has come already. */
bool peer_has_input(struct peer *peer);

#endif

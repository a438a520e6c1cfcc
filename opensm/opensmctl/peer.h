// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A daemon at the other end of a stream, see ctl/console/control.h. All calls block. */
#ifndef OPENSMCTL_PEER_H
#define OPENSMCTL_PEER_H

#include <gio/gio.h>
#include <stdbool.h>

#include "ctl/console/control.h"

struct peer;

/* An answer of the daemon. */
struct reply {
	enum control_status status;
	char *output;
	bool more; /* another one follows without a request */
	bool key;  /* in answer to the first line: the next line must be the key */
	int file;  /* the answer is in it, and it is to be closed; 0: there is none */
};

/* The codes of errors in this domain are exit codes. */
#define PEER_ERROR peer_error_quark()
GQuark peer_error_quark(void);

struct peer *peer_new(GIOStream *stream); /* takes a reference */
void peer_free(struct peer *peer);	  /* NULL is fine */

/* Sends line. False and error if there is no answer; otherwise free reply->output. */
bool peer_ask(struct peer *peer, const char *line, struct reply *reply, GError **error);
bool peer_send(struct peer *peer, const char *line);
bool peer_receive(struct peer *peer, struct reply *reply, GError **error);
/* Whether the daemon can send files: by a Unix socket. */
bool peer_sends_files(const struct peer *peer);
/* Whether input is waiting. */
bool peer_has_input(struct peer *peer);

#endif

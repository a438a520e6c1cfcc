// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One user of the console, on a pair of streams. */
#ifndef CTL_CONSOLE_CONSOLE_SESSION_H
#define CTL_CONSOLE_CONSOLE_SESSION_H

#include <gio/gio.h>

#include "ctl/command/command.h"
#include "ctl/console/console_seats.h"

struct session;

struct session_config {
	const struct command_env *env;
	const char *name;    /* for the log; copied */
	const char *key;     /* required as first line; NULL: none is required */
	enum seat_kind kind; /* once it is open; a terminal has no time limits */
	const char *peer;    /* user charged with the seat; copied */
	bool trusted;	     /* may see keys of the subnet */
	bool reads_only;     /* may change nothing */
	GInputStream *in;    /* pollable; the session takes a reference */
	GOutputStream *out;  /* pollable; the session takes a reference */
	GObject *connection; /* kept while the session lives, then closed; may be NULL */
	GObject *tls;	     /* that these streams belong to; kept; NULL: those of connection */
	void (*ended)(void *arg, struct session *session);  /* frees it */
	/* Called when the key was right, or none is required; false: no seat is available. */
	bool (*opened)(void *arg, struct session *session, const struct seat *seat);
	void *arg;
};

struct session *session_new(const struct session_config *config);
void session_begin(struct session *session); /* the session may end and be freed in this call */
void session_free(struct session *session);
/* Tells the user, if that is possible without waiting, and ends the session. */
void session_give_way(struct session *session);
bool session_is_open(const struct session *session); /* has shown the key, or needs none */
struct seat session_seat(const struct session *session); /* valid while the session is */
const char *session_name(const struct session *session);
/* What was wrong with the connection; NULL: nothing. Valid as long as the session. */
const char *session_trouble(const struct session *session);
unsigned int session_wrong_keys(const struct session *session);

#endif

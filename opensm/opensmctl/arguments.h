// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command line of opensmctl. */
#ifndef OPENSMCTL_ARGUMENTS_H
#define OPENSMCTL_ARGUMENTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct arguments {
	char *socket;	       /* NULL: searched for */
	uint64_t port_guid;    /* 0: any port */
	char *connect;	       /* "HOST:PORT", over TLS; NULL: the daemon is on this host */
	char *ca;	       /* for the server; NULL: those that the system trusts */
	char *cert, *cert_key; /* of this client; NULL: none */
	char *key_file;	       /* NULL: ask at the terminal */
	bool json;
	bool quiet; /* success is not shown */
	bool version;
	char *line;   /* the command; NULL: read lines */
	char **words; /* of that command */
};

bool arguments_parse(struct arguments *arguments, int argc, char **argv, GError **error);
void arguments_clear(struct arguments *arguments);

/* Joins words into one line of the console. NULL and error if a word cannot be part of one. */
char *arguments_line(char *const *words, GError **error);

#endif

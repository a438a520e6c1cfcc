// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The command line of opensmctl. */
#ifndef OPENSMCTL_ARGUMENTS_H
#define OPENSMCTL_ARGUMENTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct arguments {
	char *socket;	       /* NULL: to be found */
	uint64_t port_guid;    /* 0: of any port */
	char *connect;	       /* "HOST:PORT", by TLS; NULL: on this host */
	char *ca;	       /* of the server; NULL: those that the system trusts */
	char *cert, *cert_key; /* of ours; NULL: none */
	char *key_file;	       /* NULL: the terminal is asked */
	bool json;
	bool quiet; /* what went well is not shown */
	bool version;
	char *line; /* the command; NULL: lines are read */
};

bool arguments_parse(struct arguments *arguments, int argc, char **argv, GError **error);
void arguments_clear(struct arguments *arguments);

/* Words as one line of the console. NULL and error if a word cannot stand in one. */
char *arguments_line(char *const *words, GError **error);

#endif

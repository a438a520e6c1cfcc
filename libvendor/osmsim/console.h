// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands to a running simulation, typed or sent by another osmsim. */
#ifndef OSMSIM_CONSOLE_H
#define OSMSIM_CONSOLE_H

#include "libvendor/osmsim/server.h"

/*
 * Runs commands separated by newlines or semicolons, up to the first that fails; appends their
 * output, and one line about a failure. False: a command failed.
 */
bool console_run(struct server *server, const char *text, GString *out);

/* Reads commands from a descriptor until its end, and prints to stdout. */
struct console *console_new(struct server *server, int fd, bool prompt);
void console_free(struct console *console);

/* ---- used by commands ---- */

struct command {
	struct server *server;
	char **words; /* after the name of the command */
	unsigned int n_words;
	GString *out;
	const char *error_of; /* name of the command */
};

typedef bool command_fn(struct command *command);

/* Appends the reason of a failure; returns false. */
bool command_fail(struct command *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Parse words; on failure the reason is reported and NULL or false returned. */
struct sim_node *command_node(struct command *command, unsigned int word);
/* NODE PORT, or NULL; port 0 of a switch is allowed unless external. */
struct sim_port *command_end(struct command *command, unsigned int word, bool external);
bool command_number(struct command *command, unsigned int word, uint64_t max, uint64_t *value);
bool command_probability(struct command *command, unsigned int word, double *value);
/* on or off; on if the word is missing. */
bool command_on(struct command *command, unsigned int word, bool *on);

#define COMMAND(name, least, most, arguments, help) command_fn command_##name;
#define ALIAS(alias, name)
#include "libvendor/osmsim/commands.def"

#endif

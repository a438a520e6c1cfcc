// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands of the console: a line in, text or JSON out. They read what is published (context) and
 * ask for changes by events. All on the daemon's actor "main".
 */
#ifndef CTL_COMMAND_COMMAND_H
#define CTL_COMMAND_COMMAND_H

#include "ctl/daemon.h"

struct journal;
struct sim;

/* Octets without the line end: room for a change of as many partition members as there may be. */
#define COMMAND_MAX_LINE 4194304
#define COMMAND_TOO_LONG                                                                           \
	"The line is too long: expected at most " G_STRINGIFY(COMMAND_MAX_LINE) " octets\n"

/* What commands are about. */
struct command_env {
	struct daemon *daemon;
	struct journal *journal;
	struct sim *sim; /* NULL on hardware */
};

struct command_answer {
	char *text; /* whole lines; free it with g_free() */
	bool failed;
	unsigned int status; /* enum control_status */
	bool quit; /* the session is to be closed */
	bool loop; /* to be run again every second */
	bool later; /* not answered: daemon_plan_listen(), then command_answer_plan() */
	bool json;  /* as which it is wanted */
	bool again; /* run soon once more, the answer has more then */
	uint64_t policy; /* with later: when command_policy_is_there(), command_answer_policy() */
};

/* Whether the line would change something in the daemon or the subnet, or read a file for it. */
bool command_changes(const char *line);

/* Runs one line. trusted: the caller may see keys. */
void command_run(const struct command_env *env, const char *line, bool trusted,
		 struct command_answer *answer);

/* What a command gave as later is there: fills text and status, json as it is. */
void command_answer_plan(GVariant *plan, struct command_answer *answer);
/* As daemon_partitions_settled() says. */
bool command_policy_is_there(const struct command_env *env, uint64_t serial);
/* The same for a policy, there or not. */
void command_answer_policy(const struct command_env *env, uint64_t serial,
			   struct command_answer *answer);

/* A row of commands.def, by number; false past the last. For tests and the manual. */
bool command_describe(unsigned int number, const char **name, const char **arguments,
		      const char **help);

#endif

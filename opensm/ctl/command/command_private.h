// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared by the files of the commands. */
#ifndef CTL_COMMAND_COMMAND_PRIVATE_H
#define CTL_COMMAND_COMMAND_PRIVATE_H

#include "ctl/base/answer.h"
#include "ctl/command/command.h"
#include "subnet/subnet.h"

/* An answer that is made by another thread. Embedded in what that needs. */
struct command_work {
	struct message message;
	struct ref ref; /* by the thread that works, and by the one that waits */
	atomic_bool done, unwanted;
	struct actor *owner; /* of the daemon, whose thread has the next two */
	void (*listener)(void *arg); /* called when it is done; NULL: none */
	void *listener_arg;
	const _Atomic(gint64) *files_until;
	const struct command *command;
	bool json;
	void (*wrap)(GString *text, unsigned int status, bool file);
	/* In the other thread; as command.run. */
	GVariant *(*run)(struct command_work *work, GError **error);
	void (*free)(struct command_work *work);
	unsigned int status; /* set by run, as command_call.status */
	int file;	     /* set by run: has the answer; -1: none */
	char *text;	     /* when it is done; NULL: it was not run */
	bool failed;
	GString *wrapped; /* the text, if wrap is set */
};

/* One run of a command. */
struct command_call {
	const struct command_env *env;
	struct context *context;
	const struct command *command;
	bool json;
	char **words; /* after the name of the command */
	unsigned int n;
	bool trusted;
	const struct subnet *subnet; /* held for the call; NULL: none published yet */
	const struct fabric *fabric; /* of subnet */
	bool quit, loop;	     /* set by commands */
	bool later;		     /* set by a command that leaves the answer to a plan */
	struct command_work *work;   /* set with later: the answer is left to it */
	bool again;	 /* set by a command: its answer is incomplete, but will not be for long */
	uint64_t policy; /* set with later: serial of the policy to wait for */
	uint64_t news_ns; /* set with later: how long to wait for news, then to run it again */
	uint64_t settle_ns; /* set with policy */
	struct command_job *job;     /* set with later: makes the answer; not started yet */
	unsigned int status;	     /* enum control_status, set by a command that has answered */
};

enum command_need {
	COMMAND_NEEDS_0,
	COMMAND_NEEDS_SUBNET = 1 << 0,
	COMMAND_NEEDS_SIM = 1 << 1,
	COMMAND_NEEDS_RIGHTS = 1 << 2,	       /* it changes something, or sends packets */
	COMMAND_NEEDS_RIGHTS_TO_SET = 1 << 3,  /* it does so if it has an argument */
	COMMAND_NEEDS_RIGHTS_BY_WORD = 1 << 4, /* or if it is in change_words[] of command.c */
	COMMAND_NEEDS_NO_OWNER = 1 << 5,       /* it reads what any thread may read */
	COMMAND_NEEDS_ONLY_SUBNET = COMMAND_NEEDS_SUBNET | COMMAND_NEEDS_NO_OWNER,
	COMMAND_NEEDS_SIM_RIGHTS = COMMAND_NEEDS_SIM | COMMAND_NEEDS_RIGHTS,
	COMMAND_NEEDS_SUBNET_RIGHTS_BY_WORD = COMMAND_NEEDS_SUBNET | COMMAND_NEEDS_RIGHTS_BY_WORD,
};

struct command {
	const char *name, *arguments, *help;
	unsigned int needs;					     /* enum command_need */
	GVariant *(*run)(struct command_call *call, GError **error); /* floating; NULL and error */
	void (*print)(GVariant *answer, GString *out);
};

extern const struct command commands[];
extern const unsigned int n_commands;
/* Finds it by name, or by an unambiguous prefix. NULL and error. */
const struct command *command_find(const char *name, GError **error);

#define COMMAND(name, arguments, needs, printer, help)                                             \
	GVariant *command_##name(struct command_call *call, GError **error);                       \
	void print_##printer(GVariant *answer, GString *out);
#include "ctl/command/commands.def"
#undef COMMAND

#define COMMAND_ERROR command_error_quark()
GQuark command_error_quark(void);
enum command_error {
	COMMAND_ERROR_USAGE, /* the error also says how the command is written */
	COMMAND_ERROR_UNKNOWN,
	COMMAND_ERROR_FAILED,	  /* this one and those below: the line is right */
	COMMAND_ERROR_NO_SUBNET,  /* yet, and this SM is master */
	COMMAND_ERROR_NOT_MASTER, /* and knows no subnet */
};
/* Sets error; always NULL. */
GVariant *command_usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The error is the whole text, in the words of the classic daemon. */
GVariant *command_unknown(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
GVariant *command_failed(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* True if the one argument is "on" or "off", in *on. */
bool command_on_off(const struct command_call *call, bool *on, GError **error);
bool command_no_arguments(const struct command_call *call, GError **error);

/*
 * ---- command_work.c: leaves the answer of the call to work, whose run and free are set, in that
 * pool ----
 */
void command_work_post(struct command_call *call, struct command_work *work, struct pool *pool);
/* The answer as text or JSON; result NULL: it failed with error, and *status is set. Any thread. */
char *command_complete(const struct command *command, GVariant *result, const GError *error,
		       bool json, unsigned int *status);
/* Whether it should end early; arg: the work. Any thread. */
bool command_work_is_stopped(void *arg);

/* ---- command_partitions.c: a requested change, as far as it has been made ---- */
GVariant *command_policy_answer(const struct command_env *env, uint64_t serial);

/* ---- command_control.c ---- */
unsigned int command_plan_status(GVariant *answer); /* enum control_status */

/*
 * ---- command_status.c: settings that any host in the subnet can abuse. Starts at *number, which
 * gets the number of the one found. False: there are no more. ----
 */
bool insecure_setting(const struct options *options, const struct subnet *subnet,
		      unsigned int *number, const char **key, const char **why,
		      const char **advice);

/* That setting by number, and whether it is one of those; NULL: past the last. Any thread. */
const char *insecure_check(const struct options *options, const struct subnet *subnet,
			   unsigned int number, bool *is);

/* ---- find.c: what a word of a command means ---- */
/* A whole number up to max, decimal or 0x. */
bool find_number(const char *word, uint64_t max, uint64_t *number);
/* "0x..." with at least 5 digits, or a decimal number above the LIDs. */
bool find_is_guid(const char *word, uint64_t *guid);
/*
 * The endport with this LID, GUID (of the port, or of a node: its first port that is up) or
 * NodeDescription; *lid gets the LID. FABRIC_NONE and error.
 */
uint32_t find_endport(const struct fabric *fabric, const char *word, uint16_t *lid, GError **error);
/* Index of the switch with that name, LID or GUID; FABRIC_NONE and error. */
uint32_t find_switch(const struct fabric *fabric, const char *word, GError **error);

#endif

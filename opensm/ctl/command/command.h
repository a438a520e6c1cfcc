// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands of the console: a line in, text or JSON out. They read published objects (context) and
 * request changes by events. All on the daemon's actor "main".
 */
#ifndef CTL_COMMAND_COMMAND_H
#define CTL_COMMAND_COMMAND_H

#include "ctl/daemon.h"

struct image_store;
struct journal;
struct sim;

/* Octets without the line end: enough for a change of the greatest number of partition members. */
#define COMMAND_MAX_LINE 4194304
#define COMMAND_TOO_LONG                                                                           \
	"The line is too long: expected at most " G_STRINGIFY(COMMAND_MAX_LINE) " octets\n"

/* The objects that commands work on. */
struct command_env {
	struct daemon *daemon;
	struct journal *journal;
	struct image_store *images; /* NULL: no images of the fabric */
	struct sim *sim;	    /* NULL on hardware */
	/*
	 * Changes an answer that another thread has made into what is sent; in that thread. file:
	 * the answer is in a file, and text is empty. NULL: the answer stays a text.
	 */
	void (*wrap)(GString *text, unsigned int status, bool file);
	bool takes_files; /* the client is a program on a Unix socket */
	bool waited;	  /* long enough for news: the command has to answer now */
};

/* Of a command that another thread answers, as it reads files. */
struct command_work;

struct command_answer {
	char *text; /* whole lines; free it with g_free() */
	bool failed;
	unsigned int status; /* enum control_status */
	bool quit; /* the session is to be closed */
	bool loop; /* to be run again every second */
	/*
	 * No answer yet: command_answer_work() with the work, command_answer_policy() with the
	 * policy, journal_wait() and then the same line again, or daemon_plan_listen() and then
	 * command_answer_plan().
	 */
	bool later;
	bool json;  /* the answer is wanted as JSON */
	bool again; /* run it again soon: the answer will have more then */
	uint64_t policy;	   /* with later: 0, or once command_policy_is_there() */
	uint64_t news_ns;	   /* with later: 0, or how long to wait for news */
	uint64_t settle_ns;	   /* with policy: how long its sweep is waited for */
	struct command_work *work; /* with later: NULL, or once command_work_is_done() */
	/* Of command_answer_work(), in place of text: */
	GString *wrapped; /* by command_env.wrap; NULL: see text */
	int file;	  /* that goes with its first octet; -1: none */
};

/*
 * Whether the line would change the daemon or the subnet, make it send packets, or read a file in
 * order to.
 */
bool command_changes(const char *line);

/* Runs one line. trusted: the caller may see keys. */
void command_run(const struct command_env *env, const char *line, bool trusted,
		 struct command_answer *answer);

/* Completes a command that returned later: fills in text and status, as JSON if answer->json. */
void command_answer_plan(GVariant *plan, struct command_answer *answer);
#define COMMAND_SETTLE_NS UINT64_MAX /* as long as it takes */
/*
 * Whether the policy is in effect; after settle_ns, or if its sweep waits for further changes,
 * whether it is kept.
 */
bool command_policy_is_there(const struct command_env *env, uint64_t serial, uint64_t settle_ns,
			     uint64_t waited_ns);
/* Completes a command that waited for a policy, whether it is in effect or not. */
void command_answer_policy(const struct command_env *env, uint64_t serial,
			   struct command_answer *answer);

bool command_work_is_done(const struct command_work *work);
/* Has the listener called, on the thread of the daemon, when it is done; not once it is dropped. */
void command_work_listen(struct command_work *work, void (*listener)(void *arg), void *arg);
/* Completes a command, whether its work is done or not, and drops the work. */
void command_answer_work(struct command_work *work, struct command_answer *answer);
/* Its answer is not wanted any more; NULL is fine. */
void command_work_drop(struct command_work *work);

/* A row of commands.def, by number; false past the last. For tests and the manual. */
bool command_describe(unsigned int number, const char **name, const char **arguments,
		      const char **help);

#endif

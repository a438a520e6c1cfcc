// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work that may hang, such as reading a file from a server that is gone: each job runs on a thread
 * of its own, which is never joined. Its owner waits a moment, which is usually enough, and
 * otherwise gets the result by a message.
 *
 *	owner	aside_run() --------- waits ---> done(), true
 *			    --------- waits ---> false .......... done(), by a message
 *	thread		    work() ................... work() ends
 *
 * The owner must not touch the job's data until done() is called: the work continues even after the
 * owner has ended, and then ends in drop().
 */
#ifndef COMPLIB_ASIDE_H
#define COMPLIB_ASIDE_H

#include <complib/actor.h>

struct aside;

/* First member of the job's data. */
struct aside_job {
	struct message message; /* private */
	void (*work)(struct aside_job *job);
	void (*done)(struct aside_job *job); /* on the thread of the owner */
	void (*drop)(struct aside_job *job); /* in place of done; any thread */
	/* Private: */
	struct aside *aside;
	bool waited_for, over; /* the owner waits; the work ended; both under its lock */
};

struct aside *aside_new(struct actor *owner);
/* On the thread of the owner, before it ends; done() is not called any more. */
void aside_free(struct aside *aside);

/*
 * On the thread of the owner. True: done() was called; false: it will be called by a message. In
 * virtual time the work runs in this call.
 */
bool aside_run(struct aside *aside, struct aside_job *job, uint64_t patience_ns);
/* Number of jobs that are late. */
unsigned int aside_late(const struct aside *aside);

#endif

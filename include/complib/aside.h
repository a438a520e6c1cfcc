// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Work that may hang, as reading a file of a server that is gone does: each piece on a thread of
 * its own, which is never joined. Its owner waits a moment for it, as it mostly takes no longer,
 * and is told by a message if it does.
 *
 *	owner	aside_run() --------- waits ---> done(), true
 *			    --------- waits ---> false .......... done(), by a message
 *	thread		    work() ................... work() ends
 *
 * Whoever has the work done owns nothing that it touches until done() is called: the work goes on
 * after the end of the owner, and then ends in drop().
 */
#ifndef COMPLIB_ASIDE_H
#define COMPLIB_ASIDE_H

#include <complib/actor.h>

struct aside;

/* First member of what the work needs. */
struct aside_job {
	struct message message; /* private */
	void (*work)(struct aside_job *job);
	void (*done)(struct aside_job *job); /* on the thread of the owner */
	void (*drop)(struct aside_job *job); /* in place of done; any thread */
	/* Private. */
	struct aside *aside;
	bool waited_for, over; /* by the owner; both under its lock */
};

struct aside *aside_new(struct actor *owner);
/* On the thread of the owner, before it ends; no done() any more. */
void aside_free(struct aside *aside);

/*
 * On the thread of the owner. True: done() was called; false: it will be, by a message. In virtual
 * time the work is done here and now.
 */
bool aside_run(struct aside *aside, struct aside_job *job, uint64_t patience_ns);
/* How many pieces of work are late. */
unsigned int aside_late(const struct aside *aside);

#endif

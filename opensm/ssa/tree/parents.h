// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The primary and the backup parent of a thread that follows them, set by another thread; which of
 * them is in use, and when to rest.
 */
#ifndef SSA_TREE_PARENTS_H
#define SSA_TREE_PARENTS_H

#include <glib.h>
#include <stdbool.h>

#include "ssa/tree/report.h"
#include "ssa/tree/thread.h"

struct ssa_parents {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	bool renewed;		 /* they were set since the thread looked */
	char *uris[2];		 /* primary, backup; NULL: none */
	void (*wake)(void *arg); /* interrupts the thread; called with the lock held */
	void *arg;

	/* Of the thread. */
	char *uri;	       /* in use; NULL: none */
	char *bad;	       /* the one before, if it has failed */
	unsigned int failures; /* since a parent worked */
	unsigned int back_off_s;
};

void ssa_parents_init(struct ssa_parents *parents, void (*wake)(void *arg), void *arg);
void ssa_parents_clear(struct ssa_parents *parents);

/* Any thread. */
void ssa_parents_set(struct ssa_parents *parents, const char *primary, const char *backup);
void ssa_parents_stop(struct ssa_parents *parents);

/*
 * The thread: the parent to use now, valid until the next call; NULL: stop. Waits for one, and
 * between tries if none works. A change is reported.
 */
const char *ssa_parents_next(struct ssa_parents *parents, struct ssa_reporter *reporter);
/* The one of both that is not in use; free with g_free(). NULL: none. */
char *ssa_parents_spare(struct ssa_parents *parents);
/* Whether the thread may go on with the parent that it uses. */
bool ssa_parents_go_on(struct ssa_parents *parents);
/* It works; it has failed, takes over the error, which is reported. */
void ssa_parents_worked(struct ssa_parents *parents, struct ssa_reporter *reporter);
void ssa_parents_failed(struct ssa_parents *parents, struct ssa_reporter *reporter, GError *error);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A file in memory that is made when it is asked for, and kept for the next that ask for it. */
#ifndef CTL_BASE_SHARED_FILE_H
#define CTL_BASE_SHARED_FILE_H

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>

struct shared_file {
	pthread_mutex_t lock;
	int file; /* these under lock; -1: none */
	unsigned int made;
};

/* Both are called with the lock held. */
struct shared_file_maker {
	bool (*is_right)(void *arg);		/* whether the kept file will do */
	int (*make)(void *arg, GError **error); /* another file; -1 and error */
	void *arg;
};

void shared_file_init(struct shared_file *shared);
void shared_file_clear(struct shared_file *shared);

/*
 * A descriptor of the kept file, or of one that is made here and kept in its place. -1 and error.
 * Any thread; of several at once, all but one wait.
 */
int shared_file_get(struct shared_file *shared, const struct shared_file_maker *maker,
		    GError **error);
void shared_file_drop(struct shared_file *shared);	   /* keeps none any more. Any thread. */
unsigned int shared_file_made(struct shared_file *shared); /* how many. Any thread. */

#endif

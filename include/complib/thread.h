// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads on which no signal is handled, as the main thread handles them. */
#ifndef COMPLIB_THREAD_H
#define COMPLIB_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with all signals blocked. 0, or an error number, as of pthread_create(). The
 * system shows the first 15 octets of the name; NULL: it keeps that of the caller.
 */
int thread_try(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg);

#endif

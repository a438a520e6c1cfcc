// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* pthread_setname_np */
#include "complib/thread.h"

#include <glib.h>
#include <signal.h>

#define NAME_SIZE 16 /* the limit of the kernel, including the NUL */

int thread_try(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
	char short_name[NAME_SIZE];
	sigset_t all, saved;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	code = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	if (!code && name) {
		g_strlcpy(short_name, name, sizeof(short_name));
		pthread_setname_np(*thread, short_name);
	}
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/process/signals.h"

#include <pthread.h>
#include <signal.h>

static void mask(int how)
{
	static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	sigset_t set;

	sigemptyset(&set);
	for (unsigned int i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(&set, handled[i]);
	pthread_sigmask(how, &set, NULL);
}

void signals_hold(void)
{
	mask(SIG_BLOCK);
}

void signals_release(void)
{
	mask(SIG_UNBLOCK);
}

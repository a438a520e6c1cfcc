// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE /* syscall() */
#include "plugin/host/exit_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

static void refuse(void)
{
	static const char format[] = "exit() was called on the thread %s, by a plug-in: the "
				     "daemon ends with code 1";
	char name[16] = "";

	if (syscall(SYS_gettid) == getpid())
		return;
	prctl(PR_GET_NAME, name);
	fprintf(stderr, format, name);
	fputc('\n', stderr);
	syslog(LOG_ERR, format, name);
	_exit(1);
}

void exit_guard_set(void)
{
	atexit(refuse);
	at_quick_exit(refuse);
}

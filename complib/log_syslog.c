// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The system's log: see log_private.h. Filters there expect the classic daemon: its name, its
 * facility and "PREFIX: text". The state of openlog() belongs to the process, and is always the
 * same.
 */
#include <syslog.h>

#include "log_private.h"

void log_to_syslog(enum syslog_severity severity, const char *prefix, const char *text)
{
	static const int priorities[] = {
		[SYSLOG_ERROR] = LOG_ERR,
		[SYSLOG_NOTE] = LOG_INFO,
		[SYSLOG_DETAIL] = LOG_DEBUG,
	};

	openlog("OpenSM", LOG_CONS | LOG_PID, LOG_USER);
	syslog(priorities[severity], "%s%s%s", prefix ? prefix : "", prefix ? ": " : "", text);
}

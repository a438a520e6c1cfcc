// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The system's log: see log_private.h. No openlog(): its state would be global to the process. */
#include <syslog.h>

#include "log_private.h"

void log_to_syslog(enum syslog_severity severity, const char *prefix, const char *text)
{
	static const int priorities[] = {
		[SYSLOG_ERROR] = LOG_ERR,
		[SYSLOG_NOTE] = LOG_INFO,
		[SYSLOG_DETAIL] = LOG_DEBUG,
	};

	syslog(LOG_DAEMON | priorities[severity], "%s%s%s", prefix ? prefix : "", prefix ? " " : "",
	       text);
}

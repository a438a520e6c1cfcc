// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the service manager wants to hear of a daemon (protocol of sd_notify(3)). Silent where
 * there is no NOTIFY_SOCKET in the environment; false: there is one but the datagram did not go
 * out.
 */
#ifndef CORE_NOTIFY_H
#define CORE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

bool notify_is_on(void);		/* it waits for what this process says */
bool notify_ready(void);		/* up and serving */
bool notify_status(const char *status); /* one line for systemctl status */
bool notify_reloading(void);		/* files are read again; notify_ready() ends it */
bool notify_watchdog(void);		/* alive */
bool notify_stopping(void);

/* Within how many microseconds notify_watchdog() is expected again; 0: it is not. */
uint64_t notify_watchdog_us(void);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages to the service manager (protocol of sd_notify(3)). Nothing is sent if NOTIFY_SOCKET is
 * not in the environment; false: it is, but the datagram could not be sent.
 */
#ifndef CORE_NOTIFY_H
#define CORE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

bool notify_is_on(void);		/* the service manager wants messages of this process */
bool notify_ready(void);		/* up and serving */
bool notify_status(const char *status); /* one line for systemctl status */
bool notify_reloading(void);		/* files are being read again; notify_ready() ends it */
bool notify_watchdog(void);		/* alive */
bool notify_patience(uint64_t us); /* still starting: wait that long for the next such message */
bool notify_stopping(void);

/* Interval in microseconds in which notify_watchdog() is expected; 0: it is not expected. */
uint64_t notify_watchdog_us(void);

#endif

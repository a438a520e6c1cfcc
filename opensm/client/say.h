// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a program beside the daemon tells: a line on its standard error output, which begins with
 * the name of the program. Never a secret.
 */
#ifndef CLIENT_SAY_H
#define CLIENT_SAY_H

#include <glib.h>
#include <stdbool.h>
#include <syslog.h>

/*
 * priority: of syslog(3); the journal is told it, others see the text only. Control characters of
 * the text are shown as \xHH.
 */
void say(int priority, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* All zero: nothing was told yet. */
struct say_limit {
	gint64 since_us;   /* a minute began */
	unsigned int told; /* lines in it */
};

/*
 * Whether a line that clients can cause may be told now; now_us: of the monotonic clock. The first
 * of a minute that may not be is announced.
 */
bool say_may(struct say_limit *limit, gint64 now_us);

#endif

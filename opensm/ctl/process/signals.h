// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Signals that the daemon has an answer to, and which must not end it before that is ready. */
#ifndef CTL_PROCESS_SIGNALS_H
#define CTL_PROCESS_SIGNALS_H

/* From now on they wait, on this thread and on those that it makes. */
void signals_hold(void);
/* They arrive again on this thread, also those that have waited. */
void signals_release(void);

#endif

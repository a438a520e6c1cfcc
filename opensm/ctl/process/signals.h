// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Signals that the daemon handles, and that must not end it before its handlers are ready. */
#ifndef CTL_PROCESS_SIGNALS_H
#define CTL_PROCESS_SIGNALS_H

/* Blocks them, on this thread and on those that it makes. */
void signals_hold(void);
/* They arrive again on this thread, including those that were pending. */
void signals_release(void);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Runs the sessions and alarms of Net-SNMP's library in the default main context. */
#ifndef SNMP_LOOP_H
#define SNMP_LOOP_H

#include <glib.h>
#include <stdbool.h>

GSource *loop_new(void);
void loop_free(GSource *loop);
/* While it is held, the main context can run without calling the library. */
void loop_hold(GSource *loop, bool held);
/* Has it look at requests that were delegated and are answered now. */
void loop_wake(GSource *loop);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What happens in the daemon, as events for plug-ins: those of the bus, and those of which the
 * journal hears, which has compared lists and subnets already. While no feed wants an event,
 * nothing is done for it. All on the daemon's actor "main".
 */
#ifndef CTL_FEED_EVENTS_H
#define CTL_FEED_EVENTS_H

#include "core/context.h"
#include "ctl/feed/feed.h"
#include "ctl/report/journal.h"

struct plugin_events;

/* Before the actors start. It becomes the listener of the journal. */
struct plugin_events *plugin_events_new(struct context *context, struct actor *main,
					struct journal *journal);
/* After they have ended, and before the journal is freed; NULL is fine. */
void plugin_events_free(struct plugin_events *events);

/* The feed, which remains the caller's, gets the events that it wants from now on. */
void plugin_events_add(struct plugin_events *events, struct feed *feed);
/* It gets no more. */
void plugin_events_remove(struct plugin_events *events, struct feed *feed);

#endif

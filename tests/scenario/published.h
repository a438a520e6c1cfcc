// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a daemon publishes to its other parts, as octets to compare; empty if there is nothing. */
#ifndef TESTS_SCENARIO_PUBLISHED_H
#define TESTS_SCENARIO_PUBLISHED_H

#include <glib.h>

#include "core/context.h"

/* Nodes, cables, PortInfo and SwitchInfo, routes, and how the sweep ended. */
GByteArray *published_subnet(struct context *context);
GByteArray *published_trees(struct context *context);
GByteArray *published_unhealthy(struct context *context);
/* Flags of the sweep, and whether all files to be saved have been saved. */
GByteArray *published_state(struct context *context);

/* What a reader would check first, in a few words; newly allocated. */
char *published_subnet_summary(struct context *context);
char *published_trees_summary(struct context *context);
char *published_unhealthy_summary(struct context *context);
char *published_state_summary(struct context *context);

#endif

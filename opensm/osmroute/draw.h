// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A fabric as a graph for Graphviz. */
#ifndef OSMROUTE_DRAW_H
#define OSMROUTE_DRAW_H

#include <glib.h>

#include "route/engine.h"

#define DRAW_NODES_MAX 300 /* fabrics with more nodes are drawn without hosts */

/*
 * Text in the language of dot(1). The load of a cable between switches is that of its busier
 * direction, all hosts sending to all: from green and thin to red and wide, relative to the busiest
 * cable. g_free it.
 */
char *draw_fabric(const struct fabric *fabric, const struct routing *routing);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables that somebody else made, to be judged as they are. */
#ifndef OSMROUTE_TABLES_H
#define OSMROUTE_TABLES_H

#include "route/engine.h"

/*
 * Computes nothing: entries are those of route_input.lfts, and where there is none the switch
 * discards. The engine file of the daemon fills such gaps, which hides them.
 */
extern const struct route_engine tables_engine;

#endif

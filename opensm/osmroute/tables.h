// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Tables made elsewhere, to be judged as they are. */
#ifndef OSMROUTE_TABLES_H
#define OSMROUTE_TABLES_H

#include "route/engine.h"

/*
 * Computes nothing: entries are those of route_input.lfts, and without an entry the switch
 * discards. The daemon's engine file fills such gaps, which hides them.
 */
extern const struct route_engine tables_engine;

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A fabric as a picture that every browser shows. */
#ifndef OSMROUTE_PICTURE_H
#define OSMROUTE_PICTURE_H

#include <glib.h>

#include "route/engine.h"

/*
 * A document of SVG 1.1. Switches stand in rows if the fabric is a tree of layers, those with hosts
 * lowest, else on a circle; hosts are dots beside their switch. The load of a cable between
 * switches, all hosts sending to all, is that of its busier direction: green and thin if idle, to
 * red and wide at twice the mean, or at the busiest if that is more. Names and loads are tooltips.
 * g_free it.
 */
char *picture_of_fabric(const struct fabric *fabric, const struct routing *routing);

#endif

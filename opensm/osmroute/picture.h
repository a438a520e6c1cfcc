// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A fabric as a picture for browsers. */
#ifndef OSMROUTE_PICTURE_H
#define OSMROUTE_PICTURE_H

#include <glib.h>

#include "route/engine.h"

/*
 * An SVG 1.1 document. Switches are in rows if the fabric is a layered tree, those with hosts
 * lowest, else in a grid or on a circle; hosts are dots beside their switch. The load of a cable
 * between switches, all hosts sending to all, is that of its busier direction: pale and thin if
 * idle, to dark orange and wide at twice the mean, or at the busiest if that is more. Names and
 * loads are tooltips. g_free it.
 */
char *picture_of_fabric(const struct fabric *fabric, const struct routing *routing);

#endif

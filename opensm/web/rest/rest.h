// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * REST as orchestrators speak it: /ufmRest, /ufmRestV2 and /ufmRestV3. A write is one change of the
 * daemon's partitions; it is answered when it is on the disk and with the standbys, and when its
 * tables are set or a few seconds are over.
 */
#ifndef WEB_REST_REST_H
#define WEB_REST_REST_H

#include "web/base/web.h"

/* All methods and paths below these prefixes. */
web_handler_fn rest_serve;

#endif

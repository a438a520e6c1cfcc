// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#ifndef OSMROUTE_REPORT_MEASURED_H
#define OSMROUTE_REPORT_MEASURED_H

#include <glib.h>

#include "osmroute/measured.h"

/* Adds the table of measured and computed load; all channels are in the JSON. */
void report_measured(GString *text, const struct fabric *fabric, const struct measured *measured);
/* As a dictionary; floating. */
GVariant *report_measured_value(const struct fabric *fabric, const struct measured *measured);

#endif

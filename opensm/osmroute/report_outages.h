// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The part of the report for people about single things that were lost and restored. */
#ifndef OSMROUTE_REPORT_OUTAGES_H
#define OSMROUTE_REPORT_OUTAGES_H

#include <glib.h>

/* Adds a table, if there were outages in any of the struct judge_report, and remarks. */
void report_outages(GString *text, GString *remarks, const GPtrArray *reports);

#endif

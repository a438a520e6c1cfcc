// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What opensm-web counts of itself, for /metrics. */
#ifndef WEB_API_STATS_H
#define WEB_API_STATS_H

#include <glib.h>
#include <stdbool.h>

struct stats;

struct stats *stats_new(void);
/* NULL is fine. */
void stats_free(struct stats *stats);
/* A request was answered; handler: a word that lives as long as the program. */
void stats_add(struct stats *stats, const char *handler, unsigned int code, double seconds);
/* Adds the metrics of this process, in one of the two formats, without an end line. */
void stats_write(const struct stats *stats, unsigned int connections, bool open_metrics,
		 GString *out);

#endif

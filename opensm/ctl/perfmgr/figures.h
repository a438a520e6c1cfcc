// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Values of ports: as words of a command, as members of an answer, and as text. */
#ifndef CTL_PERFMGR_FIGURES_H
#define CTL_PERFMGR_FIGURES_H

#include "ctl/base/answer.h"
#include "ctl/perfmgr/word.h"
#include "perf/image/query.h"

/*
 * What is asked for: a counter or detail by any of its names (with "/s": a second), rate,
 * utilization (utilisation), wait, ber.
 */
bool figures_value(const char *word, struct perf_value *value);
/* "90", "90s", "5m", "6h", "2d": from a second to a year. */
bool figures_window(const char *word, uint64_t *ns);
/* A number of lines from 1 to 1000. */
bool figures_number(const char *word, unsigned int *n);

/*
 * The members "node", "description", "guid", "port", and those of the other end of its cable; of a
 * link that is down, from the last of the images that knows it.
 */
void figures_add_port(GVariantBuilder *row, const struct perf_images *images,
		      const struct perf_layout *layout, uint32_t at);
/* The members "value", "count", "seconds", and flags. */
void figures_add_measure(GVariantBuilder *row, const struct perf_measure *measure);
/* The members "of" and "unit", which figures_text() needs. */
void figures_add_value(GVariantBuilder *answer, struct perf_value value);

/* "12.35 GB/s"; newly allocated. */
char *figures_scaled(double number, const char *unit);
/* The value of a row with "value" and flags, as people read it; newly allocated. */
char *figures_text(GVariant *answer, GVariant *row);
/* A time in microseconds since 1970, as local date and time; newly allocated. */
char *figures_time(uint64_t us);
/* "NAME port N", at most width columns wide, and blanks up to them. */
void figures_print_port(GVariant *row, const char *node, const char *port, int width, GString *out);

#endif

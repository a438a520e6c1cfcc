// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* All counters and durations, as members of the answer of status. */
#ifndef CTL_REPORT_STATUS_FIGURES_H
#define CTL_REPORT_STATUS_FIGURES_H

#include "core/context.h"
#include "ctl/base/answer.h"
#include "ctl/report/journal.h"

/* journal NULL: there is none. */
void status_add_figures(const struct context *context, const struct journal *journal,
			GVariantBuilder *builder);
void status_print_figures(GVariant *answer, GString *out);

#endif

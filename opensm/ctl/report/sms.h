// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What this SM and the others see of the subnet, side by side, and what is wrong with that. */
#ifndef CTL_REPORT_SMS_H
#define CTL_REPORT_SMS_H

#include "core/context.h"
#include "ctl/base/answer.h"

/*
 * Member "sms": this SM and the others, with the counts that each has found, where it reported
 * them; empty if no other SM is known.
 */
void sms_answer(struct context *context, GVariantBuilder *builder);
/* One SM in words, on one line. */
void sms_print_row(GVariant *row, GString *out);
/*
 * Calls tell for each problem: grave if the leading SM cannot do its work, or another SM could do
 * more; otherwise a standby could not replace it.
 */
void sms_judge(struct context *context, void (*tell)(void *arg, bool grave, const char *text),
	       void *arg);

#endif

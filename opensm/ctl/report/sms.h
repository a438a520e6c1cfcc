// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What this SM and the others see of the subnet, beside each other, and what is amiss with that. */
#ifndef CTL_REPORT_SMS_H
#define CTL_REPORT_SMS_H

#include "core/context.h"
#include "ctl/base/answer.h"

/*
 * Member "sms": this one and the others, with the counts that each has found, where it told them;
 * nothing where no other SM is known.
 */
void sms_answer(struct context *context, GVariantBuilder *builder);
/* One of them in words: a line. */
void sms_print_row(GVariant *row, GString *out);
/*
 * Calls tell with each thing that is amiss: grave where the SM that leads cannot do what it must,
 * or another one could do more; else a standby could not stand in for it.
 */
void sms_judge(struct context *context, void (*tell)(void *arg, bool grave, const char *text),
	       void *arg);

#endif

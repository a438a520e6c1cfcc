// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the files that options name say, as they are in effect, each as one digest: for SMs that
 * compare what they go by (core/agreed.def). Comments and layout make no difference.
 */
#ifndef POLICY_FILE_DIGESTS_H
#define POLICY_FILE_DIGESTS_H

#include "core/context.h"
#include "core/options.h"

/* Of the file that this option names, newly allocated. Options in effect are those given. */
char *file_digest(struct context *context, const struct options *options, enum option_id id);

#endif

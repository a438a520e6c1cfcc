// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What this SM has in effect of what all SMs must have alike: of files that options name, a digest
 * of what they say, whatever comments and layout they have.
 */
#ifndef POLICY_FILES_IN_EFFECT_H
#define POLICY_FILES_IN_EFFECT_H

#include "core/agreed.h"
#include "core/context.h"

struct agreed *agreed_in_effect(struct context *context);

#endif

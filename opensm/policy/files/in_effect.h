// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The settings in effect on this SM that must be the same on all SMs: for files named by options, a
 * digest of what they mean, regardless of comments and layout.
 */
#ifndef POLICY_FILES_IN_EFFECT_H
#define POLICY_FILES_IN_EFFECT_H

#include "core/agreed.h"
#include "core/context.h"

struct agreed *agreed_in_effect(struct context *context);

#endif

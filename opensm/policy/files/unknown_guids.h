// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the files of the routing options name, but the subnet does not have: a mistake of the
 * operator's, or what is switched off just now.
 */
#ifndef POLICY_FILES_UNKNOWN_GUIDS_H
#define POLICY_FILES_UNKNOWN_GUIDS_H

#include "route/engine.h"

/*
 * A text that names the options, how many of their GUIDs are strangers, and the first of them; NULL
 * if there are none. Not of roots, weights and routes: what uses them tells of these itself.
 */
char *unknown_guids_tell(const struct fabric *fabric, const struct route_input *input);

#endif

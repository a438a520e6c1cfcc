// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GUIDs that the files of the routing options name but the subnet does not have: either a mistake
 * of the operator's, or a device that is switched off.
 */
#ifndef POLICY_FILES_UNKNOWN_GUIDS_H
#define POLICY_FILES_UNKNOWN_GUIDS_H

#include "route/engine.h"

/*
 * A text that names the options, the number of their unknown GUIDs, and the first of them; NULL if
 * there are none. Roots, weights and routes are not included: their users report unknown GUIDs.
 */
char *unknown_guids_tell(const struct fabric *fabric, const struct route_input *input);

#endif

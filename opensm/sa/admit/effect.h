// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether the effect of a Set still holds; the end of a lease, of a P_Key or of a port may undo it.
 */
#ifndef SA_ADMIT_EFFECT_H
#define SA_ADMIT_EFFECT_H

#include "subnet/view.h"
#include "sa/registries.h"
#include "vendor/vendor.h"

/*
 * Whether what an answer to that requester says is still true. The answer is one of a successful
 * Set that no other request about the same object followed; for other answers it is always true.
 */
bool sa_effect_stands(const struct sa_registries *registries, const struct subnet_view *view,
		      const struct vendor_address *requester, const uint8_t *answer);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a Set did, which may be undone by the end of a lease, of a P_Key or of a port's stay. */
#ifndef SA_ADMIT_EFFECT_H
#define SA_ADMIT_EFFECT_H

#include "sa/record/view.h"
#include "sa/registries.h"
#include "vendor/vendor.h"

/*
 * Whether what an answer to that requester tells is still so: the answer of a good Set that no
 * other request about the same object came after. Of other answers it always is.
 */
bool sa_effect_stands(const struct sa_registries *registries, const struct sa_view *view,
		      const struct vendor_address *requester, const uint8_t *answer);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMPs as wire bytes: from a request to a MAD and back. Pure. */
#ifndef MAD_SMP_H
#define MAD_SMP_H

#include "mad/mad.h"

enum smp_form {
	SMP_DIRECTED, /* directed from the SM's port (IBA 14.2.2) */
	SMP_LID,      /* LID-routed (14.2.1.1) */
	SMP_MIXED,    /* LID-routed to a switch on the way, then directed */
	SMP_FORMS
};

/* Writes the 256 octets of a request and where to send it. own_lid is needed by SMP_MIXED. */
void smp_encode(const struct mad_request *request, enum smp_form form, uint32_t tid,
		uint16_t own_lid, uint8_t sl, uint8_t wire[IBA_MAD_BYTES],
		struct vendor_address *to);

/*
 * Reads a response to request into it: data, status, result. False if the MAD is not a response to
 * that request (other attribute, modifier or method): it is forged or corrupt.
 */
bool smp_decode(struct mad_request *request, const uint8_t wire[IBA_MAD_BYTES]);

#endif

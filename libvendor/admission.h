// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Admission: what strangers send is sorted where it is received, before it is anybody's work.
 *
 * Each source, that is a LID, has a share of the requests that a server takes at a time: those
 * that wait and those that are being served, until their MADs are freed. What goes beyond is
 * refused at once. Those that wait are handed out a source at a time, in turn. So a source that
 * sends too much takes from itself alone, and memory has a bound.
 *
 * While the receiver does not keep up with what arrives (vendor.pressed), each source has a quota
 * of requests in a time as well: see is_over_quota().
 */
#ifndef LIBVENDOR_ADMISSION_H
#define LIBVENDOR_ADMISSION_H

#include "vendor/vendor.h"

struct admission;

/* For the requests that this client serves. */
struct admission *admission_new(const struct vendor_client *client,
				const struct vendor_shares *shares);
/* What was admitted before is still handed out or freed. */
void admission_close(struct admission *admission);

/*
 * Any thread. False: it is refused, and still the caller's. Else the client gets it on its actor in
 * its turn, and its source's share is taken until admission_leave().
 */
bool admission_offer(struct admission *admission, struct vendor_mad *mad);
/* The MAD, which was admitted, is done with. Any thread. */
void admission_leave(struct admission *admission, uint16_t lid);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Admission: what strangers send is sorted where it is received, before it is anybody's work.
 *
 * Each source, that is a LID, has a share of the requests that a server takes at a time: those
 * that wait and those that are being served, until their MADs are freed; and no more than is left
 * for all others. What goes beyond is refused at once. Those that wait are handed out a source at
 * a time, in turn. So a source that sends too much takes from itself alone, and memory has a bound.
 *
 * While the receiver does not keep up with what arrives (vendor.pressed), each source has a quota
 * of requests in a time as well, unless it is the only one: see is_over_quota().
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
 * Takes a place of the source's share for a request, of which perhaps only a part came so far:
 * until admission_leave(). False: it is refused, and still the caller's. Any thread.
 */
bool admission_enter(struct admission *admission, struct vendor_mad *mad);
/* The client gets the MAD, which has a place, on its actor in its turn. Any thread. */
void admission_queue(struct vendor_mad *mad);
/* Tells the server. Any thread. */
void admission_dropped(struct admission *admission, enum vendor_dropped what);
/* The MAD, which was admitted, is done with. Any thread. */
void admission_leave(struct admission *admission, uint16_t lid);

#endif

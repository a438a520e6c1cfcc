// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Admission: requests from other nodes are sorted where they are received, before any server works
 * on them.
 *
 * Each source (a LID) has a share of the requests that a server takes at a time, waiting or being
 * served, until their MADs are freed; and no more than is left for all others. Requests beyond that
 * are refused at once. Waiting requests are handed out one source at a time, in turn. So a source
 * that sends too much only slows itself down, and memory is bounded.
 *
 * While the receiver cannot keep up with arriving MADs (vendor.pressed), each source also has a
 * quota of requests per time window, unless it is the only source: see is_over_quota().
 */
#ifndef LIBVENDOR_ADMISSION_H
#define LIBVENDOR_ADMISSION_H

#include "vendor/vendor.h"

struct admission;

/* For the requests that this client serves. */
struct admission *admission_new(const struct vendor_client *client,
				const struct vendor_shares *shares);
/* Requests admitted before are still handed out or freed. */
void admission_close(struct admission *admission);

/*
 * Takes part of the source's share for a request, of which perhaps only a part has arrived, until
 * admission_leave(). False: it is refused, and stays the caller's. Any thread.
 */
bool admission_enter(struct admission *admission, struct vendor_mad *mad);
/* Queues an admitted MAD; the client gets it on its actor when its turn comes. Any thread. */
void admission_queue(struct vendor_mad *mad);
/* Reports a drop to the server. Any thread. */
void admission_dropped(struct admission *admission, enum vendor_dropped what);
/* An admitted MAD of this LID is finished: frees its part of the share. Any thread. */
void admission_leave(struct admission *admission, uint16_t lid);

#endif

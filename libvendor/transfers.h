// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The RMPP transfers of a port's manager of class 0x03 (IBA 13.6), for back ends that carry single
 * MADs: answers sent in segments, requests received in segments.
 *
 *	receiver's thread                    the client's actor for segments
 *	transfers_take(): what belongs       transfers_send(): begins a transfer
 *	to a transfer is posted to the  ---> rmpp.c: what an ACK or a DATA packet changes, time
 *	actor, a request's first packet      pump: transfers that may send take turns, a few
 *	begins one, the rest is dropped      segments each, other messages of the actor between
 *
 * Other nodes cannot make anything here grow. A packet that belongs to no transfer is dropped where
 * it is received. At most QUEUED_MAX packets of a transfer wait for the actor; dropped ones count
 * as lost on the wire. A request in segments takes a place in admission with its first packet; at
 * most REQUESTS_A_LID per source and REQUESTS_MAX in all are reassembled at a time, each of bounded
 * length and time; others are answered by a STOP. The amount sent is bounded by the sender of
 * messages: vendor_message.done reports the end of each.
 *
 * With VENDOR_RMPP_KERNEL a message is given to the back end as a whole, and counts as finished
 * when the kernel must have given it up.
 */
#ifndef LIBVENDOR_TRANSFERS_H
#define LIBVENDOR_TRANSFERS_H

#include "vendor/vendor_private.h"

/* For the client that binds the class; all calls but transfers_take() on its actor. */
struct transfers *transfers_new(struct vendor *vendor, const struct vendor_client *client);
void transfers_send(struct transfers *transfers, struct vendor_message *message);

/*
 * Any thread. True: mad was an RMPP packet, or a request whose answer is in progress, and was taken
 * over.
 */
bool transfers_take(struct transfers *transfers, struct vendor_mad *mad);

/* Ends all transfers; later packets are dropped. On the actor, or after it stopped. */
void transfers_close(struct transfers *transfers);
/* Call when no thread calls transfers_take() any more; accepts NULL. */
void transfers_free(struct transfers *transfers);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The RMPP transfers of a port's manager of class 0x03 (IBA 13.6), for back ends that carry single
 * MADs: answers that go out in segments, requests that come in segments.
 *
 *	receiver's thread                    the actor that bound
 *	transfers_take(): what belongs       transfers_send(): begins a transfer
 *	to a transfer is posted to the  ---> rmpp.c: what an ACK or a DATA packet changes, time
 *	actor, a request's first packet      pump: transfers that may send take turns, a few
 *	begins one, the rest is dropped      segments each, other messages of the actor between
 *
 * Nothing here grows with what strangers send. A packet of no transfer is dropped where it is
 * received. Of a transfer's packets only so many wait for the actor; what is dropped counts as lost
 * on the wire. A request in segments takes a place in admission with its first packet; of a source,
 * and of all, only so many are put together at a time, each of bounded length and time; what
 * there is no room for is answered by a STOP. What is sent is bounded by the sender of the message:
 * vendor_message.done tells the end.
 *
 * With VENDOR_RMPP_KERNEL a message is given to the back end as a whole, and is over when the
 *kernel must have given it up.
 */
#ifndef LIBVENDOR_TRANSFERS_H
#define LIBVENDOR_TRANSFERS_H

#include "vendor/vendor_private.h"

/* For the client that binds the class; all calls but transfers_take() on its actor. */
struct transfers *transfers_new(struct vendor *vendor, const struct vendor_client *client);
void transfers_send(struct transfers *transfers, struct vendor_message *message);

/*
 * Any thread. True: it was a packet of RMPP, or a request whose answer is on its way, and is taken
 * over.
 */
bool transfers_take(struct transfers *transfers, struct vendor_mad *mad);

/* Ends all transfers; packets that still come are dropped. On the actor, or after it stopped. */
void transfers_close(struct transfers *transfers);
/* When no thread calls transfers_take() any more. Both take NULL. */
void transfers_free(struct transfers *transfers);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transactions over the vendor layer: TIDs, timeouts and retries, an adaptive window of SMPs in
 * flight, a limit per target, and dispatch of unsolicited MADs. One actor, "mad", owns all of it.
 */
#ifndef MAD_MAD_H
#define MAD_MAD_H

#include "complib/actor.h"
#include "core/context.h"
#include "vendor/vendor.h"

struct mad;

enum mad_result {
	MAD_OK,	       /* a response with status 0 */
	MAD_STATUS,    /* a response with another status, in request->status */
	MAD_TIMEOUT,   /* no response after all retries, or the target was found dead */
	MAD_CANCELLED, /* mad_cancel(): it was not sent, or its last try got no response */
};

/* How an SMP reaches its target. */
struct mad_route {
	uint8_t hops; /* of the directed route from the SM's port: path[1..hops] are exits */
	uint8_t path[64];
	uint16_t lid;	  /* of the target: tried first if not 0, then the directed route */
	uint16_t via;	  /* LID of a switch on that route, tried first if lid is 0; 0: none */
	uint8_t via_hops; /* of the directed route from there; more than 0 */
	bool blind; /* the directed route may end at a silent switch: via is tried after lid */
};

/* An SMP and its result; made by the caller, optionally as first member of a struct of its own. */
struct mad_request {
	struct message message;	  /* private */
	struct mad_request *next; /* private: queue of its target */
	struct mad *mad;	  /* private */
	uint8_t probe;		  /* private: the form that this probe tests, if not 0 */
	uint64_t target;	  /* node GUID of the target SMA */
	uint8_t target_port;	  /* its port, if each port of the node has an SMA, as in a CA */
	uint64_t serial;	  /* for mad_cancel; 0: never cancelled */
	struct mad_route route;
	uint8_t method; /* IBA_METHOD_GET or IBA_METHOD_SET */
	uint16_t attribute;
	uint32_t modifier;
	uint64_t m_key;
	bool lid_only;	     /* use no route other than route.lid */
	bool gets_only;	     /* dry run: anything but a Get is refused with MAD_CANCELLED, sent 0 */
	bool takes_long;     /* a try waits long_transaction_timeout; nothing else is sent there */
	uint8_t tries;	     /* at most; 0: depends on the options and the loss in the fabric */
	uint8_t data[64];    /* request; then, after MAD_OK or MAD_STATUS, response */
	struct actor *owner; /* done runs here */
	void (*done)(struct mad_request *request); /* owns the request again */
	void *arg;
	enum mad_result result;
	uint16_t status; /* of the response, D bit removed */
	bool dead;	 /* MAD_TIMEOUT: another request failed after all its tries there */
	bool by_lid;	 /* it was LID-routed, and the answer came from route.lid */
	bool fell_back;	 /* the preferred route failed, the directed or mixed one worked */
	/*
	 * Tries that left this node. 0: the request had no effect. More than 1: an earlier one may
	 * still be in flight, and that of a Set may undo a newer Set of the same block.
	 */
	uint8_t sent;
};

/* Takes window and timing from the options; the vendor must outlive it. */
struct mad *mad_new(struct context *context, struct vendor *vendor, GError **error);
/* The SM, which waits for most of what this actor does, shares its thread. */
struct actor *mad_actor(const struct mad *mad);
/*
 * Sends and receives messages in segments (RMPP). The SA, whose messages they are, shares its
 * thread, and starts it.
 */
struct actor *mad_segments_actor(const struct mad *mad);
void mad_start(struct mad *mad);
void mad_attach(struct mad *mad, GMainContext *loop); /* instead of mad_start: on that loop */
/* Call after the owners stopped, and before the vendor is closed. */
void mad_stop(struct mad *mad);
void mad_free(struct mad *mad); /* requests not done: message.drop, or g_free */

/*
 * Queues an SMP; any thread. If a request has used up its tries and its target has not answered
 * anything since, requests queued for that target end with it: MAD_TIMEOUT, sent 0. A Set waits for
 * an older Set of the same attribute and modifier of that target.
 */
void mad_send(struct mad *mad, struct mad_request *request);

/*
 * Cancels all requests whose serial is not 0 and at most this one: queued ones come back with
 * MAD_CANCELLED at once; those in flight still accept an answer to the current try, but are not
 * sent again. Any thread.
 */
void mad_cancel(struct mad *mad, uint64_t serial);

/*
 * Sets the client for unsolicited MADs of a class: receive owns the MAD, and runs on client->actor;
 * if that is NULL, on the actor "mad", which waits for it. Call before mad_start(). Classes 0x01
 * and 0x81 count as one.
 */
void mad_serve(struct mad *mad, uint8_t mgmt_class, const struct vendor_client *server);

/* Resources that an answer holds, besides the request's share, until all of it has been sent. */
struct mad_held {
	/* Called once; on the actor "mad" or, when that ends, another thread. */
	void (*give_back)(const struct mad_held *held, uint16_t lid, enum vendor_end end);
	void *arg;
	size_t octets;
};

/*
 * Sends a response of length octets, once, to the sender of the request; on any actor that stops
 * before "mad" does. A response of one MAD is sent at once from there. Takes ownership of data
 * (g_free) and the request: its share is freed when all of the answer has been sent or, if it is in
 * segments, its transfer has ended. held may be NULL.
 */
void mad_reply(struct mad *mad, struct vendor_mad *to, uint8_t *data, size_t length,
	       const struct mad_held *held);
/* As mad_reply(), on a thread that may outlive the port. */
void mad_reply_from_pool(struct mad *mad, struct vendor_mad *to, uint8_t *data, size_t length,
			 const struct mad_held *held);
/* As mad_reply(), for an SMP; a directed route is reversed. */
void mad_reply_smp(struct mad *mad, struct vendor_mad *to, const struct iba_smp *smp);
/* Sends one MAD without waiting for an answer, not in segments; takes ownership of data. */
void mad_post(struct mad *mad, const struct vendor_address *to, uint8_t *data, size_t length);

/* Much memory was used that is free again soon: the heap should shrink. Any thread. */
void mad_want_trim(struct mad *mad);

/* The LID from which LID-routed SMPs are answered; 0: the SM's port has none yet. Any thread. */
void mad_set_own_lid(struct mad *mad, uint16_t lid, uint8_t sm_sl);

#endif

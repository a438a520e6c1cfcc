// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GMP transactions: a request of any class behind QP1, sent again with growing timeouts until it is
 * answered. They have a window of their own, separate from that of SMPs, and a limit per LID.
 */
#ifndef MAD_ASK_H
#define MAD_ASK_H

#include "mad/mad.h"

#define MAD_ASK_DATA 232 /* octets of a MAD after its header */

/* A request and its result; made by the caller, as the first member of a struct of its own. */
struct mad_ask {
	struct message message; /* private */
	GList link;		/* private: in the queue of its LID */
	struct mad *mad;	/* private */
	struct vendor_address to;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	uint8_t data[MAD_ASK_DATA]; /* request; then, after MAD_OK or MAD_STATUS, response */
	uint32_t length;	    /* of the response after its header: with RMPP even more */
	uint8_t retries;	    /* after the first try */
	bool hurry; /* all tries but the last wait only as long as such answers usually take */
	unsigned int timeout_ms;    /* of the first try, doubled with each; 0: the configured one */
	const void *client;	    /* for mad_ask_cancel */
	uint64_t serial;	    /* for mad_ask_cancel */
	struct actor *owner;	    /* done runs here */
	void (*done)(struct mad_ask *ask); /* owns the request again */
	void *arg;
	enum mad_result result;
	uint16_t status; /* of the response */
	uint16_t answered; /* attribute of the response: ClassPortInfo instead of the one asked for
			      if the agent redirects (IBA 13.5.2: status REDIRECT) */
	uint8_t sent;	 /* tries that left this node */
};

/*
 * Queues a request; any thread. Only the queried LID can answer it, with equal class and attribute,
 * or with a redirection. If it answers BUSY, the request is sent again; after the last try that
 * status is the result. A class that cannot be bound gives MAD_TIMEOUT, sent 0.
 */
void mad_ask(struct mad *mad, struct mad_ask *ask);

/*
 * Cancels all requests of that client whose serial is at most this one and that were queued before,
 * as mad_cancel() does; any thread.
 */
void mad_ask_cancel(struct mad *mad, const void *client, uint64_t serial);

#endif

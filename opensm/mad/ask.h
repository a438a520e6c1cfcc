// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GMP transactions: a request of any class behind QP1, sent again with growing patience until it
 * is answered. They have a window of their own, beside that of SMPs, and a limit a LID.
 */
#ifndef MAD_ASK_H
#define MAD_ASK_H

#include "mad/mad.h"

#define MAD_ASK_DATA 232 /* octets of a MAD after its header */

/* A request and its fate; made by the caller, as first member of a struct of its own. */
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
	uint32_t length;	    /* octets of the response after its header: of RMPP even more */
	uint8_t retries;	    /* after the first try */
	unsigned int timeout_ms;    /* of the first try, doubled with each; 0: the option's */
	const void *client;	    /* for mad_ask_cancel */
	uint64_t serial;	    /* the same */
	struct actor *owner;	    /* done runs here */
	void (*done)(struct mad_ask *ask); /* owns the request again */
	void *arg;
	enum mad_result result;
	uint16_t status; /* of the response */
	uint8_t sent;	 /* tries that left this node */
};

/*
 * Queues a request; any thread. Only the LID asked can answer it, with equal class and attribute.
 * One that answers BUSY is asked again, and if that was the last try its status stands. A class
 * that cannot be bound gives MAD_TIMEOUT, sent 0.
 */
void mad_ask(struct mad *mad, struct mad_ask *ask);

/*
 * Gives up all requests of that client whose serial is at most this one and that were queued
 * before, as mad_cancel() does; any thread.
 */
void mad_ask_cancel(struct mad *mad, const void *client, uint64_t serial);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reliable multi-packet protocol (IBA 13.6), both ends, for all classes that use it.
 *
 * A message is the MAD, RMPP and class headers and all the data; each DATA packet repeats the
 * headers before its part of the data. All calls on one actor.
 */
#ifndef LIBVENDOR_RMPP_H
#define LIBVENDOR_RMPP_H

#include "complib/actor.h"
#include "iba/iba.h"

#define RMPP_HEADERS 56 /* octets before the data of each segment in class SubnAdm */
#define RMPP_DATA 200	/* octets of data in such a segment */
#define RMPP_CLASS_BIS 0x12
#define RMPP_MANY 16

enum rmpp_offset {
	RMPP_AT_VERSION = 24,
	RMPP_AT_TYPE = 25,
	RMPP_AT_FLAGS = 26, /* the low three bits */
	RMPP_AT_STATUS = 27,
	RMPP_AT_SEGMENT = 28,
	RMPP_AT_DATA2 = 32, /* PayloadLength or NewWindowLast */
};

struct rmpp_config {
	struct actor *actor;
	/* Time a sender waits for an ACK; doubles with each new try, up to wait_max_ns. */
	uint64_t wait_ns, wait_max_ns;
	uint64_t expire_ns;   /* of a receiver, without any new packet */
	uint64_t total_ns;    /* of a whole transfer; 0: no limit */
	unsigned int retries; /* of a sender without progress, before it fails */
	unsigned int window;  /* segments that a receiver allows beyond those received */
	size_t message_max;   /* octets that a receiver accepts; longer messages get a STOP */
	/*
	 * Called when a sender may send segments: it then waits for rmpp_send_some(). NULL: it
	 * sends them at once.
	 */
	void (*ready)(void *arg);
	/*
	 * Transmits up to RMPP_MANY segments at once; returns how many the device took. NULL: they
	 * are transmitted one by one.
	 */
	unsigned int (*transmit_many)(void *arg, const uint8_t (*mads)[IBA_MAD_BYTES],
				      unsigned int n);
};

/* False: the device takes no more now. Packets other than DATA are then lost. */
typedef bool rmpp_transmit_fn(void *arg, const uint8_t mad[IBA_MAD_BYTES]);

/* Octets before the data of each segment of a class; 0: the class has no RMPP. */
static inline unsigned int rmpp_headers(uint8_t mgmt_class)
{
	if (mgmt_class == IBA_CLASS_SUBN_ADM)
		return RMPP_HEADERS;
	if (mgmt_class == IBA_CLASS_DEV_MGT || mgmt_class == RMPP_CLASS_BIS)
		return 64;
	if (mgmt_class >= IBA_CLASS_VENDOR_OUI_FIRST && mgmt_class <= IBA_CLASS_VENDOR_OUI_LAST)
		return 40;
	return 0;
}

static inline bool rmpp_class(uint8_t mgmt_class)
{
	return rmpp_headers(mgmt_class) != 0;
}

static inline bool rmpp_is_active(const uint8_t *mad)
{
	return mad[RMPP_AT_FLAGS] & IBA_RMPP_ACTIVE;
}

/* ---- sending ---- */
struct rmpp_send;

enum rmpp_end {
	RMPP_DELIVERED,
	RMPP_STOPPED, /* by the receiver, or because of its invalid packets */
	RMPP_SILENT,  /* no ACK, or not all of them in time */
};

enum rmpp_sent {
	RMPP_SENT_MORE,	 /* more may be sent */
	RMPP_SENT_ALL,	 /* all that may be sent now; or the transfer is over and perhaps freed */
	RMPP_SENT_STUCK, /* the device takes no more now */
};

/*
 * The caller owns the message and keeps it until the transfer is freed; length is at least
 * rmpp_headers() of its class, which has RMPP.
 */
struct rmpp_send *rmpp_send_new(const struct rmpp_config *config, const uint8_t *message,
				size_t length, rmpp_transmit_fn *transmit,
				void (*done)(void *arg, enum rmpp_end end), void *arg);
/*
 * Starts the transfer. done is called once, at the very end of some call or timer; it may free the
 * transfer.
 */
void rmpp_send_start(struct rmpp_send *send);
/* Sends up to n segments. */
enum rmpp_sent rmpp_send_some(struct rmpp_send *send, unsigned int n);
/* Handles an ACK, STOP or ABORT from the receiver. May be called from transmit. */
void rmpp_send_handle(struct rmpp_send *send, const uint8_t mad[IBA_MAD_BYTES]);
void rmpp_send_free(struct rmpp_send *send);

/* ---- receiving ---- */
struct rmpp_receive;

enum rmpp_progress {
	RMPP_MORE,     /* more to come */
	RMPP_COMPLETE, /* with this packet; returned once */
	RMPP_ENDED,    /* aborted by either side */
};

/*
 * expired is called when nothing new has arrived for so long that the sender has given up or has
 * seen the last ACK: until then a complete transfer answers repeated packets.
 */
struct rmpp_receive *rmpp_receive_new(const struct rmpp_config *config, rmpp_transmit_fn *transmit,
				      void (*expired)(void *arg), void *arg);
/* Handles a DATA, STOP or ABORT packet from the sender. May be called from transmit. */
enum rmpp_progress rmpp_receive_handle(struct rmpp_receive *receive,
				       const uint8_t mad[IBA_MAD_BYTES]);
/*
 * Makes the STOP that tells the sender of a DATA packet that there are no resources for a transfer.
 */
void rmpp_refuse(uint8_t out[IBA_MAD_BYTES], const uint8_t mad[IBA_MAD_BYTES]);
/* The message of a complete transfer. */
const uint8_t *rmpp_receive_message(const struct rmpp_receive *receive, size_t *length);
/* Frees its memory; the transfer still answers repeated packets. */
void rmpp_receive_forget(struct rmpp_receive *receive);
void rmpp_receive_free(struct rmpp_receive *receive);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One MAD of replication, after its MAD header: 12 octets of RMPP header, all 0; an OUI; then the
 * frame, authenticated by HMAC-SHA256 over everything after the MAC. Numbers are big-endian.
 *
 * From minor version 1 on, the content of answers to HELLO and UPDATE is the digest (8 octets) of
 * what the standby would send in AGREE.
 */
#ifndef HA_FRAME_H
#define HA_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAJOR 1 /* incompatible with any other */
#define FRAME_MINOR 1 /* a lower one has no AGREE, and ignores what is new */
#define FRAME_AT 16 /* in the data of the MAD */
#define FRAME_BYTES 216
#define FRAME_MAC_BYTES 32
#define FRAME_HEAD_BYTES 64
#define FRAME_CONTENT (FRAME_BYTES - FRAME_MAC_BYTES - FRAME_HEAD_BYTES)

enum frame_op {
	FRAME_HELLO = 1, /* who are you, and what do you have? */
	FRAME_UPDATE,	 /* a piece of a transfer */
	FRAME_ANSWER,	 /* to any of these */
	FRAME_FETCH,	 /* a piece of the text that you held as master, of serial from? */
	FRAME_AGREE,	 /* a piece of my settings; the answer is a piece of yours */
};

enum frame_status {
	FRAME_OK,
	FRAME_SEND_ALL,	    /* it does not continue what is there: start again with HELLO */
	FRAME_NOT_FOLLOWED, /* the sender of the request is not followed */
	FRAME_IS_MASTER,    /* the answering SM is master itself */
	FRAME_TOO_LARGE,
	FRAME_OTHER_VERSION,
};

enum frame_flags {
	FRAME_WHOLE = 1 << 0, /* the transfer is of everything */
	FRAME_LAST = 1 << 1,  /* this is its last piece */
};

struct frame {
	uint8_t major, minor;
	uint8_t op;	   /* enum frame_op */
	uint8_t status;	   /* enum frame_status, in an answer */
	uint64_t sender;   /* port GUID */
	uint64_t epoch;	   /* of the master: a new one each time it becomes master */
	uint64_t nonce;	   /* of the standby: an update must carry it */
	uint64_t transfer; /* increases within an epoch */
	uint64_t from, to; /* serials before and after the transfer; in a HELLO, to: the master's;
			   in its answer, from: that of the text the standby holds */
	uint32_t piece;	   /* from 0 */
	uint32_t total;	   /* octets of the transfer */
	uint16_t flags;	   /* enum frame_flags */
	uint16_t length;   /* of the content */
	uint8_t content[FRAME_CONTENT];
};

/* data has FRAME_AT + FRAME_BYTES octets. */
void frame_encode(const struct frame *frame, const char *key, uint8_t *data);

enum frame_verdict {
	FRAME_GOOD,
	FRAME_FOREIGN, /* other OUI, or too short */
	FRAME_FORGED,  /* made without the key */
	FRAME_STRANGE, /* made with the key, but malformed or of another major version */
};
/* frame is filled in only if it is good, or strange: then only major and sender. */
enum frame_verdict frame_decode(struct frame *frame, const char *key, const uint8_t *data,
				size_t length);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Notices that the SA reports, those that the SM makes itself as well, on their way from the SA to
 * the parts of the daemon that want all of them. They gather here, so that thousands make one
 * event. Any thread.
 */
#ifndef CORE_NOTICES_H
#define CORE_NOTICES_H

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NOTICE_OCTETS 80      /* Notice with the IssuerGID (IBA 13.4.8.2) */
#define NOTICES_WAITING 16384 /* more are dropped */

struct told_notice {
	uint64_t generation; /* of the subnet that shows what it is about; 0: none does */
	uint16_t from;	     /* LID */
	uint16_t number;     /* of the trap */
	uint8_t wire[NOTICE_OCTETS];
};

struct notices {
	atomic_bool wanted; /* else notices_tell() need not be called */
	pthread_mutex_t lock;
	GArray *waiting; /* struct told_notice */
	uint64_t dropped;
};

void notices_init(struct notices *notices);
void notices_clear(struct notices *notices);
/* Whether it is the first since notices_take(): then EVENT_NOTICES_TOLD is due. */
bool notices_tell(struct notices *notices, const struct told_notice *told);
/* All that are waiting, in order; *dropped: how many more there were after them. */
GArray *notices_take(struct notices *notices, uint64_t *dropped);

#endif

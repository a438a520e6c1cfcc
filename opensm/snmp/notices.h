// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Notifications: what is worth one when facts are compared with earlier ones, or among events of
 * the journal, and when each may be sent. Several of one kind that wait become one, which says how
 * many they are. Pure.
 */
#ifndef SNMP_NOTICES_H
#define SNMP_NOTICES_H

#include "client/json.h"
#include "snmp/facts.h"

#define NOTICES_INTERVAL_US G_USEC_PER_SEC /* between two */

enum notice_kind {
#define NOTICE(number, symbol, name) NOTICE_##symbol,
#include "snmp/notices.def"
#undef NOTICE
	NOTICE_KINDS
};

struct notice {
	enum notice_kind kind;
	unsigned int count; /* how many there were; text and GUID are of the last one */
	uint64_t guid;	    /* of what it is about */
	char *text;
	enum facts_state state; /* of the SM at that time */
	uint64_t sm_guid;
};

struct notices;

struct notices *notices_new(void);
void notices_free(struct notices *notices); /* NULL is fine */

/* The first facts are compared with nothing. */
void notices_look(struct notices *notices, const struct facts *facts);
/* Events of the journal, each of which is told once; NULL: none. */
void notices_read(struct notices *notices, const struct facts *facts, JsonArray *events);
/* When the next one may be sent; -1: there is none. */
gint64 notices_due(const struct notices *notices);
/* One that may be sent now, to be cleared; false: there is none, or it is too early. */
bool notices_take(struct notices *notices, gint64 now_us, struct notice *notice);
void notice_clear(struct notice *notice);

uint32_t notice_number(enum notice_kind kind); /* the last one of its OID */

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Why a counter grew, as far as other counters, of the same port and along the way, can tell. Pure.
 */
#ifndef PERF_CAUSE_H
#define PERF_CAUSE_H

#include "perf/image/growth.h"

enum perf_cause_kind {
	PERF_CAUSE_UNKNOWN,
	PERF_CAUSE_CABLE,      /* this receiver sees errors: the cable, or the transmitter */
	PERF_CAUSE_UPSTREAM,   /* packets arrive that were damaged further back */
	PERF_CAUSE_CONGESTION, /* packets waited too long */
	PERF_CAUSE_FLAP,       /* the link was down while packets waited for it */
	PERF_CAUSE_MTU,	       /* packets larger than the neighbour's MTU */
	PERF_CAUSE_ROUTING,    /* forwarding tables */
	PERF_CAUSE_PARTITION,  /* P_Keys, or filters of raw packets */
	PERF_CAUSE_MADS,       /* more management packets than the port can take */
	PERF_CAUSE_SENDER,     /* the neighbour sends malformed packets */
	PERF_CAUSES
};

struct perf_cause {
	enum perf_cause_kind kind;
	uint8_t port;
	uint64_t
		guid; /* and port: at fault, if it is another port than the one asked about; or 0 */
	char *text;   /* a sentence without its final stop, to be freed; NULL: unknown */
};

/* From what a cause is found: the window of a rule is often longer than the time of a sweep. */
struct perf_evidence {
	const struct perf_images *images; /* for the other ends of cables of links that are down */
	const struct perf_growth *last;	  /* in the last sweep */
	const struct perf_growth *window; /* in the rule's window, or what is known of it */
	/* What rules have counted of a value at a row of the new image lately; NULL: unknown. */
	uint64_t (*counted)(const void *judge, uint32_t row, unsigned int value);
	const void *judge;
};

const char *perf_cause_word(enum perf_cause_kind kind); /* "congestion"; NULL for UNKNOWN */
/* Why a value (enum perf_rule_value of perf_rules.h) of a row of the new image grew. */
struct perf_cause perf_cause_find(const struct perf_evidence *evidence, uint32_t row,
				  unsigned int value);
/* "port 3 of 'leaf-1' (0x..)"; g_free() it. */
char *perf_port_name(const struct perf_layout *layout, uint32_t row);

#endif

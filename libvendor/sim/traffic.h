// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Between traffic.c, which counts, and flows.c, which finds paths and rates. */
#ifndef SIM_TRAFFIC_H
#define SIM_TRAFFIC_H

#include "libvendor/sim/sim_private.h"

/* A number that grows with time: an integer at each moment, the same for every port. */
struct meter {
	uint64_t rate;	/* METER_UNITs a ns */
	uint64_t carry; /* below METER_UNIT */
};

#define METER_SECOND (UINT64_C(1) << 24)     /* rate of one a second */
#define METER_UNIT (METER_SECOND * NS_PER_S) /* one */

struct flow {
	struct sim_flow is;
	struct sim_port *from, *to;
	double demand;	       /* octets a second that the source would send */
	double in, out;	       /* octets a second before and after the hot port */
	uint64_t words;	       /* of a packet on the wire */
	struct meter packets;  /* before the hot port */
	uint64_t keep;	       /* share that gets past it, KEEP_ALL is 1 */
	uint64_t keep_carry;   /* below KEEP_ALL */
	unsigned int first, n; /* its hops */
	unsigned int hot;      /* its hop with the least share; n: none is too busy */
	const char *ends;      /* why it does not arrive; NULL: it does */
};

#define KEEP_ALL (UINT64_C(1) << 32)

/* A port that a flow leaves by. */
struct hop {
	struct sim_port *out;
	uint8_t vl;
	bool received; /* at the other end of the cable */
};

enum term_kind {
	TERM_SENT,	/* packets of a flow */
	TERM_RECEIVED,	/* packets of a flow */
	TERM_DISCARDED, /* those of them that do not get past the hot port */
	TERM_DROPPED,	/* packets of a flow, which end here */
	TERM_WAIT,	/* ticks: source is a wait */
	TERM_ERROR,	/* source is an error */
};

/* What one flow, wait or error adds to the counters of a port. */
struct term {
	struct sim_port *port;
	unsigned int source;
	uint8_t kind, vl;
	bool kept;		    /* of a flow: behind the hot port */
	uint16_t counter, detail;   /* SIM_PORT_COUNTERS: none */
	unsigned int divisor;	    /* of an error: their number that makes one */
	unsigned int share, shares; /* of an error: one flow's part */
};

/* A counter that rises at a rate. */
struct error {
	struct sim_port *port;
	unsigned int which; /* enum sim_port_counter, or SIM_BAD_CABLE */
	double rate;
	struct meter meter;
	uint64_t done; /* up to since */
};

struct traffic {
	GArray *flows;	/* struct flow */
	GArray *errors; /* struct error */
	GArray *hops;	/* struct hop */
	GArray *terms;	/* struct term, by port */
	GArray *waits;	/* struct meter */
	uint64_t since; /* all terms hold from then on */
	uint64_t random;
	bool changed; /* tables, links or flows, at the time changed_at */
	uint64_t changed_at;
	/* By the port's position in the sim: */
	unsigned int *first;	      /* its terms */
	uint64_t *settled;	      /* time up to which they are in its counters */
	double *demand, *load, *held; /* octets a second to send, sent, held back */
};

/* ---- flows.c ---- */
/* Finds the paths by the tables as they are now, shares the links, and makes the terms. */
void flows_route(struct sim *sim, struct traffic *traffic);

#endif

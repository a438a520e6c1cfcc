// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A simulator of congestion control (IBA annex A10) in a lossless net: how much each flow delivers
 * with the settings of switches and channel adapters that it is given.
 *
 * Time is counted in ticks, the time that one packet takes on a link; all links and packets are
 * alike. In a tick each port sends at most one packet, to a buffer at the other end that had room
 * when the tick began. There is one buffer for each port and VL. In a switch, packets from one
 * buffer to different outputs can overtake each other, and an output takes packets from its inputs
 * in turn; so a full buffer delays packets that have no part in the congestion, but a packet at its
 * front does not.
 *
 * What the annex leaves to the device is chosen here: a port is congested on a VL if the packets
 * that still wait for it when one leaves, over all inputs, are more than (16 - Threshold) / 16 of
 * one buffer. It is the root if it has had credits ever since it last sent on that VL, and else a
 * victim. Marking_Rate is a matter of chance: each packet that counts is marked with probability
 * 1 / (Marking_Rate + 1), as a fixed count can keep step with the turns of the inputs. After a
 * delay of becn_ticks the source of a marked packet has the BECN.
 */
#ifndef TESTS_UNIT_CONGEST_H
#define TESTS_UNIT_CONGEST_H

#include "fabric/fabric.h"
#include "route/engine.h"

#define CONGEST_BLOCK 64 /* entries of the CongestionControlTable in one attribute */
#define CONGEST_PARTS 8	 /* of a tick: injection delays and the speed of hosts have fractions */
#define CONGEST_FOREVER UINT64_MAX

/* Packets from an endport to a LID: as many as there is room for, or bursts at random times. */
struct congest_flow {
	uint32_t from;
	uint16_t lid;
	uint64_t start, stop; /* ticks */
	uint32_t burst;	      /* packets, the first time at start; 0: there is always one more */
	uint32_t period;      /* ticks from one burst to the next, on average; 0: only one burst */
};

/* The settings of a CA port; no setting: it ignores BECN. */
struct congest_ca {
	const struct iba_ca_congestion_setting *setting;
	const struct iba_congestion_control_table *blocks;
	uint32_t n_blocks;
};

struct congest_load {
	const struct fabric *fabric;
	const struct routing *routing;
	const struct congest_flow *flows;
	uint32_t n_flows;
	unsigned int credits;	 /* packets that a buffer holds */
	unsigned int octets;	 /* of a packet */
	unsigned int gbps;	 /* data rate of a link */
	unsigned int becn_ticks; /* from the receipt of a FECN to that of the BECN */
	const uint8_t *parts;	 /* [port]: parts of a tick in which a host takes a packet from its
				    buffer, 0: CONGEST_PARTS; NULL: all 0 */
	/* [switch]; NULL, or an element that is: it marks nothing. */
	const struct iba_switch_congestion_setting *const *switches;
	const struct congest_ca *cas; /* [port]; NULL: none has a setting */
	uint64_t state;		      /* for all random choices */
};

struct congest_tally {
	uint64_t sent, delivered;
	uint64_t marked; /* of those delivered */
	uint64_t becns;	 /* that arrived at the source */
};

struct congest;

/* The load must stay as it is until congest_free(). */
struct congest *congest_new(const struct congest_load *load);
void congest_free(struct congest *congest);
void congest_run(struct congest *congest, uint64_t ticks);

/* Of a flow, by its index, since the beginning. */
const struct congest_tally *congest_tally(const struct congest *congest, uint32_t flow);
/* The index into the table that the source of a flow uses now. */
uint16_t congest_ccti(struct congest *congest, uint32_t flow);
/* Packets that a port of a switch has marked, as the root or as a victim. */
uint64_t congest_marks(const struct congest *congest, uint32_t port, bool as_victim);
/* Packets that wait in buffers now. */
uint64_t congest_held(const struct congest *congest);
/* Packets of a flow that are not delivered yet: in buffers, and those of bursts in the host. */
uint64_t congest_queued(const struct congest *congest, uint32_t flow);

/*
 * What each flow would deliver per tick if the net were shared fairly (max-min) among all flows of
 * the load that have a path, and all had as much to send as they can. Array; to be freed.
 */
double *congest_fair(const struct congest *congest);
/* The ports of switches through which a flow leaves; returns their number, 0: it has no path. */
unsigned int congest_path(const struct congest *congest, uint32_t flow, uint32_t ports[UINT8_MAX]);

#endif

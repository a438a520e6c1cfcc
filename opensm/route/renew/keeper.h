// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the files of keep_sls.c share. */
#ifndef ROUTE_RENEW_KEEPER_H
#define ROUTE_RENEW_KEEPER_H

#include "route/graph/columns.h"
#include "route/graph/plan.h"
#include "route/layers/acyclic.h"
#include "route/layers/lane_channels.h"
#include "route/value/told.h"

/*
 * Lanes that depend on turns. A turn is a step of channels.h; n_steps + channel stands for that of
 * packets which start at a switch, from its hosts or itself.
 */
struct keeper_turns {
	uint64_t *lanes;  /* [turn]: 4 bits for each SL, from the lowest */
	uint16_t *fixed;  /* [turn]: bits of SLs whose packets take it */
	uint64_t *wished; /* [turn]: lanes that the base has, if there is one; or NULL */
	GArray *undo;	  /* struct keeper_undo: in order */
};

struct keeper_undo {
	uint32_t turn;
	uint8_t sl, vl; /* as they were before it was fixed */
};

/* The state of the lanes to which keeper_take_back() returns. */
struct keeper_mark {
	guint taken, undo;
};

struct keeper {
	const struct fabric *fabric;
	const struct route_engine *engine;
	const struct route_input *input;
	const struct routing *old;
	struct route_plan plan;
	struct route_graph *graph; /* of the plan */
	struct route_channels *channels;
	uint8_t *hops;		      /* of route_hops_all() */
	uint32_t *row;		      /* [switch]: in the old tables */
	uint32_t *base_row;	      /* [switch]: in those of the base, if there is one */
	struct route_columns columns; /* the new tables */
	struct route_told *told;      /* SLs that hosts may use; NULL: only the old ones count */
	uint16_t told_sls;	      /* of all pairs */
	struct route_lanes *lanes;    /* NULL: one lane for all */
	bool has_turns;
	struct keeper_turns turns;
	unsigned int vls; /* data VLs of all cables */
	struct lane_channels *by_lane;
	struct acyclic *waits;	    /* steps by lane, of the old paths and the new */
	uint32_t *place; /* [switch]: in the order that multicast follows; NULL: no order */
	bool *trunk;	 /* [channel]; NULL: no trunk */
	uint8_t *parent;	    /* [switch]: port to it in the trunk */
	uint32_t *uses;		    /* [channel]: entries */
	GArray *path;		    /* uint32_t: channels of the current path */
	GArray *steps;		    /* struct acyclic_step: scratch */
	GArray *taken;		    /* struct acyclic_step: all that were added */
	uint16_t lid;		    /* of the current column */
	uint32_t home;		    /* its switch */
	bool is_own;		    /* it is a LID of that switch itself */
	uint16_t *far;		    /* [switch]: hops by the new tables; FAR: it has no path yet */
	uint32_t *order;	    /* switches by their distance, the farthest first */
	struct keeper_column *todo; /* all, in the order of their turns */
	uint32_t n_todo;
	uint64_t work;	   /* entries taken over, channels tried or looked at */
	uint64_t n_longer; /* paths that are longer than the cables allow */
	uint64_t excluded; /* pairs for which no lane is left */
	uint64_t idle;	   /* pairs that send each other nothing, and have none */
	uint32_t n_throttled, n_throttled_stay; /* cables: from route_throttled() */
};

/* A LID: number i of those at a switch, by layered_lid(). */
struct keeper_column {
	uint32_t home;
	unsigned int i;
};

/* The channel at a port of a switch that was there before, if it leads to the switch it led to. */
uint32_t keeper_channel_at(const struct keeper *k, const struct routing *routing,
			   const uint32_t *row, uint32_t sw, uint8_t port);

/* ---- keep_lanes.c: SLs, lanes, and what packets on them wait for ---- */

/* Starts with the old lanes, and nothing that waits; false if cables lack some of the lanes. */
bool keeper_take_lanes(struct keeper *k);
void keeper_drop_lanes(struct keeper *k);
/* Gives them to the routing. */
void keeper_put_lanes(struct keeper *k, struct routing *routing);

/* SLs, as bits, of packets from a switch to the current LID; one for each lane if no turn counts */
uint16_t keeper_sls_from(const struct keeper *k, uint32_t sw);
/* SLs of packets of a pair that has this one, at all levels of QoS. */
uint16_t keeper_sls_of(const struct keeper *k, unsigned int sl);
/* SLs that pairs may have. */
uint16_t keeper_sls_of_pairs(const struct keeper *k);
/* SLs of groups that have their place in the trunk; one for each lane if no turn counts. */
uint16_t keeper_sls_of_trunk(const struct keeper *k);
/* Groups on the lane of this SL may close loops. */
void keeper_give_up(struct keeper *k, unsigned int sl);

/*
 * The lane of packets that leave by a channel; last: the channel by which they came, FABRIC_NONE if
 * they start there. Then that turn is fixed.
 */
unsigned int keeper_fix_turn(struct keeper *k, uint32_t last, uint32_t channel, unsigned int sl);
/* Adds a step of old paths, even if it closes a loop. */
void keeper_note(const struct keeper *k, uint32_t from, unsigned int vl, uint32_t to,
		 unsigned int next_vl);
/*
 * Adds the listed path for packets of these SLs. Turns that are not fixed get a lane on which it
 * closes no loop; false if there is none. Then the caller takes back what was added until then.
 */
bool keeper_add_path(struct keeper *k, uint16_t sls);
struct keeper_mark keeper_mark(const struct keeper *k);
void keeper_take_back(struct keeper *k, struct keeper_mark mark);
/* False if a step is known to close a loop on the lanes of these SLs. */
bool keeper_may_step(const struct keeper *k, uint32_t from, uint32_t to, uint16_t sls);

/* ---- keep_trunk.c ---- */

/* The old trunk, as far as its cables are left; or the old order, if multicast follows that. */
void keeper_take_trunk(struct keeper *k);
void keeper_note_trunk(struct keeper *k);
/* Joins the parts that the trunk fell into as far as cables allow; false if lanes do not. */
bool keeper_mend_trunk(struct keeper *k);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An opinion on forwarding tables that shares nothing with opensm/route, not even types: switches,
 * cables and LIDs are copied from the fabric into arrays, every packet is followed separately on
 * each of its SLs, and a matrix of bits says which channels (port, VL) wait for which.
 */
#ifndef TESTS_UNIT_PROOF_H
#define TESTS_UNIT_PROOF_H

#include "fabric/fabric.h"

#define PROOF_NONE UINT32_MAX
#define PROOF_DISCARD 0xFF

struct proof_net {
	uint32_t n;		    /* switches */
	uint32_t *across;	    /* [switch * 256 + port]: the switch there, or PROOF_NONE */
	uint32_t *cables, n_cables; /* switch * 256 + port of each end between switches */
	uint8_t *entrance;	    /* [switch * 256 + port]: port of that switch */
	uint8_t *vls;		    /* [switch * 256 + port]: data VLs of the port */
	uint32_t *cap;		    /* [switch]: it holds lower LIDs only */
	uint32_t n_lids;	    /* one more than the highest */
	uint32_t *home;		    /* [LID]: switch that delivers it, or PROOF_NONE */
	uint8_t *exit;		    /* [LID]: through this port */
	bool *of_host;		    /* [LID] */
	bool *hosts;		    /* [switch]: it has hosts */
	uint32_t sm;		    /* switch of the subnet manager, or PROOF_NONE */
};

/* SLs and VLs of packets; NULL instead: one lane. */
struct proof_lanes {
	const void *arg;
	uint16_t (*sls)(const struct proof_lanes *lanes, const struct proof_net *net, uint32_t from,
			uint32_t to); /* bits, as packets carry them from switch to switch */
	uint8_t (*vl)(const struct proof_lanes *lanes, uint32_t sw, uint8_t in, uint8_t out,
		      unsigned int sl);
	bool (*has_path)(const struct proof_lanes *lanes, uint32_t from, uint32_t to);
};

/* The tables to be judged. */
struct proof_case {
	const struct proof_net *net;
	const uint8_t *const *lft; /* [switch][LID], as many LIDs as the net has */
	const struct proof_lanes *lanes;
	const bool *idle; /* [from * n + to]: hosts there do not send to each other; NULL: all do */
	bool excused; /* packets to or from switches, except the SM's, may be discarded */
};

/* A multicast tree: exits[switch * 256 + port]. */
struct proof_tree {
	const bool *exits;
	unsigned int vl;
};

struct proof_verdict {
	bool complete, loop_free;
	bool acyclic;	    /* no channels wait for each other in a ring */
	bool hosts_acyclic; /* channels of packets from hosts to hosts */
	bool trees_acyclic; /* all of them, and those of multicast */
};

struct proof_net *proof_net_new(const struct fabric *fabric);
void proof_net_free(struct proof_net *net);

struct proof_verdict proof_judge(const struct proof_case *what, const struct proof_tree *trees,
				 uint32_t n_trees);

/* Whether a packet that enters at a switch reaches the owner of its LID. */
bool proof_arrives(const struct proof_case *what, uint32_t sw, uint32_t lid);

/* Faults that mixtures of two tables can have. */
struct proof_mixture {
	uint32_t loops; /* LIDs that loop in some mixture, though neither table loops */
	uint32_t drops; /* LIDs of packets lost by some, though first and last deliver them */
	bool acyclic;
};
/* excepted[LID]: may be dropped. first and last are the tables before and after a change. */
struct proof_mixture proof_mix(const struct proof_case *before, const uint8_t *const *after,
			       const uint8_t *const *first, const uint8_t *const *last,
			       const bool *excepted);

#endif

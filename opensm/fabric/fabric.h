// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The frozen fabric: an immutable, reference-counted picture of the subnet at the end of a sweep.
 *
 * All references are indices into flat arrays; nothing points into the builder. Nodes are in
 * breadth-first order from the SM's port (ports in ascending order), so equal subnets seen from the
 * same port freeze to equal fabrics. Any thread may read a fabric to which it holds a reference.
 */
#ifndef FABRIC_FABRIC_H
#define FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"
#include "fabric/node_names.h"
#include "iba/iba.h"

#define FABRIC_NONE UINT32_MAX
#define FABRIC_LIDS 49152 /* unicast LIDs 1..0xBFFF; the size of tables indexed by LID */

/* What the ExtendedPortInfo of a port says of FDR10. */
enum fabric_fdr10 {
	FABRIC_FDR10_SUPPORTED = 1 << 0,
	FABRIC_FDR10_ENABLED = 1 << 1,
	FABRIC_FDR10_ACTIVE = 1 << 2,
};

struct fabric_port {
	uint64_t guid; /* of an endport (CA and router ports, switch port 0), else 0 */
	uint32_t node;
	uint32_t peer;	/* port at the other end of the cable, FABRIC_NONE if there is none */
	uint32_t held_up; /* as peer, but the link does not become ACTIVE; else 0 */
	uint8_t num;
	bool known;	/* PortInfo was read; false for a CA's other ports if only one is cabled */
	bool loopback;	/* its cable leads back to itself */
	uint16_t lid;	/* base LID of an endport, else 0 */
	uint8_t lmc;
	uint8_t rate;	/* SA rate code at which the link runs; 0: it is down */
	uint8_t fdr10;	/* enum fabric_fdr10; 0: none, or not asked */
	uint8_t mtu;	/* MTU code that both ends support (NeighborMTU); port 0: MTUCap */
	struct iba_port_info info; /* as configured at the end of the sweep */
};

struct fabric_node {
	uint64_t guid;
	uint32_t first_port; /* ports[first_port + n] is port n, 0 <= n <= num_ports */
	uint32_t sw;	     /* index in switches, or FABRIC_NONE */
	uint8_t type;	     /* IBA_NODE_CA .. */
	uint8_t num_ports;
	bool silent; /* it does not answer; the other members date from when it did */
	uint64_t life; /* of another value than before: it may have restarted in between */
	struct iba_node_info info; /* port_guid, local_port_num: of the port seen first */
	char description[65];	   /* as the node gave it, NUL-terminated, not escaped */
};

struct fabric_switch {
	uint32_t node;
	uint32_t hops; /* from the SM's port */
	struct iba_switch_info info;
	uint16_t lids_taken;  /* it refuses LinearFDBTop from this on; 0: none in use is refused */
	uint16_t mft_refused; /* the first MFT block that it does not accept, + 1; 0: none */
};

/* An LFT block that a switch does not accept: where it sends these LIDs is unknown. */
struct fabric_refusal {
	uint32_t sw;
	uint32_t block;
};
#define FABRIC_LFT_BLOCK 64
#define FABRIC_MFT_BLOCK 32

struct fabric {
	struct ref ref;
	uint64_t generation; /* incremented with each freeze */
	uint64_t shape; /* equal in fabrics of one builder: same indices of nodes, ports and LIDs */
	uint32_t n_nodes, n_switches, n_ports, n_links;
	uint32_t sm_port; /* the port the SM uses */
	uint16_t max_lid; /* highest LID in use, 2^LMC ranges included */
	struct fabric_node *nodes;
	struct fabric_switch *switches; /* in the order of nodes */
	struct fabric_port *ports;
	struct fabric_refusal *refusals; /* ordered by switch, then by block */
	uint32_t n_refusals;
	uint32_t *lid_port;	 /* [FABRIC_LIDS] endport of a LID, or FABRIC_NONE */
	struct fabric_guid_index *by_guid; /* private to lookup.c */
	struct node_names *names;	   /* those of the operator; NULL: none */
};

struct fabric *fabric_ref(struct fabric *fabric);
void fabric_unref(struct fabric *fabric);
/* A fabric to which no one else holds a reference; it may be changed except for its GUIDs. */
struct fabric *fabric_copy(const struct fabric *old);

/* Endport with this port GUID, or FABRIC_NONE. */
uint32_t fabric_port_by_guid(const struct fabric *fabric, uint64_t port_guid);
/* Where fabric_port_by_guid() will look first: for prefetching. */
uint32_t fabric_port_guess(const struct fabric *fabric, uint64_t port_guid);
uint32_t fabric_node_by_guid(const struct fabric *fabric, uint64_t node_guid);

static inline uint32_t fabric_port_by_lid(const struct fabric *fabric, uint16_t lid)
{
	return lid < FABRIC_LIDS ? fabric->lid_port[lid] : FABRIC_NONE;
}

static inline bool fabric_is_switch(const struct fabric *fabric, uint32_t node)
{
	return fabric->nodes[node].sw != FABRIC_NONE;
}

static inline uint32_t fabric_port_of(const struct fabric *fabric, uint32_t node, uint8_t num)
{
	return fabric->nodes[node].first_port + num;
}

static inline uint32_t fabric_switch_port(const struct fabric *fabric, uint32_t sw, uint8_t num)
{
	return fabric->nodes[fabric->switches[sw].node].first_port + num;
}

/*
 * A switch forwards LIDs below this, except in blocks that it does not accept: its LinearFDBCap or
 * less; FABRIC_LIDS if all LIDs in use are below.
 */
static inline uint32_t fabric_fdb_cap(const struct fabric *fabric, uint32_t sw)
{
	const struct fabric_switch *at = &fabric->switches[sw];
	uint16_t cap = at->info.linear_fdb_cap;

	if (at->lids_taken && (!cap || at->lids_taken < cap))
		cap = at->lids_taken;
	return cap && cap <= fabric->max_lid ? cap : FABRIC_LIDS;
}

/* Whether it forwards a LID, given its table size and the blocks that it accepts. */
static inline bool fabric_holds(const struct fabric *fabric, uint32_t sw, uint32_t lid)
{
	for (uint32_t i = 0; i < fabric->n_refusals; i++)
		if (fabric->refusals[i].sw == sw &&
		    fabric->refusals[i].block == lid / FABRIC_LFT_BLOCK)
			return false;
	return lid < fabric_fdb_cap(fabric, sw);
}

/* Number of MLIDs that it forwards, from IBA_LID_MCAST_FIRST on. */
static inline uint32_t fabric_mlids(const struct fabric *fabric, uint32_t sw)
{
	const struct fabric_switch *at = &fabric->switches[sw];
	uint32_t taken = (at->mft_refused - 1u) * FABRIC_MFT_BLOCK;
	uint32_t cap = at->info.multicast_fdb_cap;

	return at->mft_refused && taken < cap ? taken : cap;
}

/*
 * The highest MLID up to which all switches with endports (except those without multicast) have
 * room, and are joined by switches that have room too; trees avoid the other switches.
 */
uint16_t fabric_mlid_top(const struct fabric *fabric);

/* Number of parts of these switches that multicast cannot join: 1 if all is well. */
uint32_t fabric_multicast_parts(const struct fabric *fabric);

/* True for a port that owns LIDs: switch port 0, and every port of a CA or router. */
static inline bool fabric_is_endport(const struct fabric *fabric, uint32_t port)
{
	return fabric->ports[port].guid != 0;
}

/* Whether an endport is on the subnet: one of a CA or router may have lost its cable. */
static inline bool fabric_is_connected(const struct fabric *fabric, uint32_t endport)
{
	return fabric->ports[endport].peer != FABRIC_NONE ||
	       fabric_is_switch(fabric, fabric->ports[endport].node);
}

/* A link that is up, with no known port at its other end. */
static inline bool fabric_is_silent_link(const struct fabric *fabric, uint32_t port)
{
	const struct fabric_port *p = &fabric->ports[port];

	return p->num && p->known && p->peer == FABRIC_NONE && !p->loopback && !p->held_up &&
	       p->info.port_state != IBA_PORT_DOWN;
}

/* Nodes that do not answer and were kept, and links whose other end is unknown. */
void fabric_count_silent(const struct fabric *fabric, uint32_t *nodes, uint32_t *links);

/* The endport that owns LIDs: the port itself, or port 0 of its switch. */
static inline uint32_t fabric_endport_of(const struct fabric *fabric, uint32_t port)
{
	uint32_t node = fabric->ports[port].node;

	return fabric_is_switch(fabric, node) ? fabric_port_of(fabric, node, 0) : port;
}

/*
 * The switch to which an endport is connected (itself for port 0), or FABRIC_NONE; *exit is set to
 * its port there.
 */
uint32_t fabric_leaf(const struct fabric *fabric, uint32_t endport, uint8_t *exit);

/* The name that the operator gave to a node, by its GUID or that of a port; NULL: none. */
const char *fabric_given_name(const struct fabric *fabric, uint32_t node);
/* What people call a node: that name or else its NodeDescription, which is not escaped. */
const char *fabric_called(const struct fabric *fabric, uint32_t node);
/*
 * That name as it is shown, newly allocated, in printable UTF-8: the GUID if it is empty, as a
 * standby has not read the NodeDescriptions of nodes that no map names.
 */
char *fabric_shown_name(const struct fabric *fabric, uint32_t node);
/* Whether the word is the given name of the node or its NodeDescription. */
bool fabric_is_called(const struct fabric *fabric, uint32_t node, const char *word);

/* "NAME (0xGUID) port N": the format of every object in the log. Returns buffer. */
#define FABRIC_NAME_SIZE 320 /* enough for any name: each octet may become four */
const char *fabric_port_name(const struct fabric *fabric, uint32_t port, char *buffer, size_t size);
/* "NAME (0xGUID)" */
const char *fabric_node_name(const struct fabric *fabric, uint32_t node, char *buffer, size_t size);

#endif

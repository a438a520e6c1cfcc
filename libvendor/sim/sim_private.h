// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Objects of a simulated fabric. All belong to the sim's actor, except where noted. */
#ifndef SIM_PRIVATE_H
#define SIM_PRIVATE_H

#include <stdatomic.h>

#include "libvendor/sim/topology.h"
#include "vendor/vendor_private.h"

#define SIM_LFT_ENTRIES 49152
#define SIM_MFT_CAP 4096 /* multicast LIDs of a switch */
#define SIM_MFT_BLOCK 32 /* multicast LIDs per block */
#define SIM_CA_P_KEYS 128
#define SIM_SWITCH_P_KEYS 32
#define SIM_GUID_CAP 32
#define SIM_VL_ARB_BLOCKS 4
#define SIM_SL_TO_VL_BYTES 8
#define SIM_RESP_TIME_VALUE 16
#define SIM_FEC_SPEEDS 4   /* FDR, EDR, HDR, NDR */
#define SIM_CABLE_LANES 12 /* no cable has more */

/*
 * Offsets in a MAD that forwarding and demultiplexing read in place: done per hop, so without a
 * codec.
 */
enum sim_mad_offset {
	SIM_MAD_CLASS = 1,
	SIM_MAD_CLASS_VERSION = 2,
	SIM_MAD_METHOD = 3,
	SIM_MAD_STATUS = 4, /* top bit in a directed SMP: D */
	SIM_MAD_HOP_POINTER = 6,
	SIM_MAD_HOP_COUNT = 7,
	SIM_MAD_TID = 8,
	SIM_MAD_ATTRIBUTE = 16,
	SIM_MAD_MODIFIER = 20,
	SIM_MAD_M_KEY = 24,
	SIM_MAD_CC_KEY = 24,
	SIM_MAD_DR_SLID = 32,
	SIM_MAD_DR_DLID = 34,
	SIM_MAD_SMP_DATA = 64,
	SIM_MAD_INITIAL_PATH = 128,
	SIM_MAD_RETURN_PATH = 192,
};

struct sim_node;
struct agent;
struct traffic;

#define SIM_COUNT_DETAILS SIM_COUNT_ERROR_DETECTION_LANE /* first of those that few ports need */
#define SIM_VLS 16

struct sim_count {
	uint64_t all;	       /* never cleared */
	uint64_t narrow, wide; /* registers: of PortCounters, of the other attributes */
};

/* Kinds of packets with an OpCode of their own. */
enum sim_op { SIM_OP_MAD, SIM_OP_FLOW, SIM_OPS };

struct sim_port {
	struct iba_port_info info;
	struct sim_node *node, *peer; /* peer: NULL without a cable */
	uint64_t guid;
	uint64_t claimed_guid; /* PortGUID in its NodeInfo; 0: guid */
	uint8_t number, peer_number;
	uint8_t lanes, speed;		  /* what port and cable can do */
	uint8_t cable_lanes, cable_speed; /* what the cable can do, if less */
	bool cable;			  /* plugged in */
	bool black_hole;		  /* packets leaving here are dropped */
	bool led;
	bool fdr10_enabled, fdr10_active;
	uint16_t *p_keys;	   /* NULL: as after power on */
	uint64_t *guids;	   /* alias GUIDs; NULL: none */
	uint8_t *sl_to_vl;	   /* of each input port; NULL: as after power on */
	uint8_t *vl_arb;	   /* SIM_VL_ARB_BLOCKS blocks; NULL: as after power on */
	uint16_t *fec;		   /* enabled codes of each speed; NULL: as after power on */
	struct sim_count *counts;  /* SIM_COUNT_DETAILS; NULL: nothing counted yet */
	struct sim_count *details; /* the other ones */
	struct timer *lease;	   /* of the M_Key; NULL: never started */
	struct sim_cc *cc;	   /* what its CCA holds for it; NULL: never asked for */
	GSList *agents;		   /* struct agent registered here */
};

struct sim_switch {
	struct iba_switch_info info;
	uint8_t *lft;		 /* SIM_LFT_ENTRIES; NULL: nothing programmed */
	uint16_t *mft;		 /* by multicast LID, then position */
	unsigned int mft_blocks; /* allocated in mft */
};

/* A trap that is repeated until it is repressed. */
struct sim_trap {
	struct timer timer;
	struct sim *sim;
	struct sim_port *port;
	struct sim_trap *next; /* of this node */
	uint8_t mgmt_class;    /* a LID-routed SMP, or congestion control */
	unsigned int left;     /* times it will still be sent */
	uint64_t tid;
	struct iba_notice notice;
};

struct sim_node {
	unsigned int index;
	uint8_t type, num_ports;
	bool up, mute, stubborn;
	bool refuses_sends;   /* of programs on this node */
	bool hung; /* its SMA forwards no directed routes */
	uint16_t refused;     /* attribute whose Sets fail; 0: none */
	struct sim_refusal {  /* of Sets with one modifier */
		uint16_t attribute; /* 0: unused */
		uint32_t modifier;
		enum sim_refusal_kind kind;
	} refusals[SIM_REFUSALS_MAX];
	bool fixed_speeds;	 /* refuses new speeds and widths */
	bool refuses_wildcards;	 /* of ports in Set(SLtoVLMappingTable) */
	bool says_nothing_of_it; /* but answers them with zeros */
	bool removed;	      /* by sim_device_set() */
	unsigned int returns; /* times it came back */
	double loss; /* of packets from and to it */
	bool fdr10; /* of a vendor with the ExtendedPortInfo */
	bool ext_port_info_lies, ext_port_info_mute;
	uint16_t partition_cap;
	uint32_t vendor_id, device_id;
	uint64_t node_guid, system_image_guid;
	uint64_t claimed_guid; /* NodeGUID in its NodeInfo */
	char *description;
	struct sim_port *ports; /* 0 .. num_ports */
	struct sim_switch *sw;	/* NULL unless a switch */
	uint64_t busy_until;	/* its SMA */
	uint64_t wildcard_ns;	 /* for a Set of the SL2VL tables of all ports; 0: no longer */
	uint64_t get_ns, set_ns; /* time for a request of its own; both 0: the common time */
	uint64_t serves_until;	 /* in that case */
	struct sim_trap *traps;
	uint32_t pma;	     /* of enum sim_pma */
	uint16_t pma_status; /* of all its answers; 0: it serves */
	struct sim_redirect *redirect;
	struct sim_samples *samples; /* of its PMA; NULL: none yet */
	struct sim_cca *cca;	     /* NULL: never asked nor changed */
	uint64_t cc_zero;	     /* when the time of its CCA was 0 */
};

enum sim_stage {
	SIM_ARRIVING, /* on the wire to node */
	SIM_SERVED,   /* waiting for its turn at the SMA of node */
};

struct sim_packet {
	struct timer timer;
	struct sim *sim;
	struct sim_packet *next, **prev; /* in the queue or free list */
	struct sim_node *node;		 /* its present node */
	uint8_t port;			 /* through which it entered; 0 of a switch: made here */
	bool from_here;			 /* not yet on any link */
	uint8_t hops, stage;
	uint8_t sl;
	uint16_t slid, dlid; /* of the LRH; dlid permissive: a directed hop */
	uint16_t p_key;
	uint32_t src_qp, dest_qp, q_key;
	uint64_t delay;		   /* on links since the last event */
	const char *why;	   /* it was not forwarded */
	struct vendor_address grh; /* only the GRH fields, as seen by the receiver */
	uint8_t data[IBA_MAD_BYTES];
};

/* In addition to enum vendor_event, and for sim_event_fn only: no vendor port reports it. */
#define SIM_GID_CHANGED (1u << 31)

/* Takes events, bits of enum vendor_event and SIM_GID_CHANGED, of any port. */
typedef void sim_event_fn(void *arg, const struct sim_port *port, unsigned int events);

struct sim {
	struct runtime *rt;
	struct log *log;
	struct actor *actor;
	atomic_bool started;
	struct sim_config config;
	struct sim_node *nodes;
	struct sim_port *ports;
	unsigned int n_nodes, n_ports;
	GHashTable *by_guid; /* node and port GUIDs -> struct sim_port, port 0 for a node's */
	GHashTable *agents;  /* struct agent by its number */
	uint32_t last_agent; /* the last number given */
	GPtrArray *vendors;  /* open ports: struct sim_vendor; also owns closed ones */
	struct sim_packet *waiting, *free_packets;
	struct sim_pending *free_pending;
	uint64_t pending_serial;
	struct sim_flap *flaps;
	unsigned int n_redirects; /* nodes whose PMA redirects */
	struct traffic *traffic;  /* NULL: neither flows nor errors at a rate */
	double discard;		  /* share of what waits for a hot port that is discarded */
	bool traps_lost; /* traps to the SM get lost */
	unsigned int lid_hops_max; /* of SMPs; 0: no limit */
	struct sim_counters counters;
	uint64_t random, digest, next_tid;
	sim_trace_fn *trace;
	void *trace_arg;
	sim_event_fn *on_event; /* NULL: only vendor ports are told of events */
	void *on_event_arg;
};

static inline struct sim_node *sim_node_at(const struct sim *sim, unsigned int node)
{
	g_assert(node < sim->n_nodes);
	return &sim->nodes[node];
}

static inline struct sim_port *sim_port_at(const struct sim *sim, unsigned int node,
					   unsigned int port)
{
	g_assert(port <= sim_node_at(sim, node)->num_ports);
	return &sim->nodes[node].ports[port];
}

static inline uint16_t sim_read16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static inline uint32_t sim_read32(const uint8_t *at)
{
	return (uint32_t)sim_read16(at) << 16 | sim_read16(at + 2);
}

static inline uint64_t sim_read64(const uint8_t *at)
{
	return (uint64_t)sim_read32(at) << 32 | sim_read32(at + 4);
}

static inline void sim_write16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static inline void sim_write32(uint8_t *at, uint32_t value)
{
	sim_write16(at, value >> 16);
	sim_write16(at + 2, value);
}

static inline bool sim_is_smp(const struct sim_packet *packet)
{
	return iba_class_is_smp(packet->data[SIM_MAD_CLASS]);
}

static inline bool sim_is_returning(const struct sim_packet *packet)
{
	return packet->data[SIM_MAD_CLASS] == IBA_CLASS_SUBN_DIRECTED &&
	       packet->data[SIM_MAD_STATUS] & 0x80;
}

static inline bool sim_is_link_up(const struct sim_port *port)
{
	return port->info.port_physical_state == IBA_PHYS_LINK_UP;
}

static inline struct sim_count *sim_counts(struct sim_port *port)
{
	if (!port->counts)
		port->counts = g_new0(struct sim_count, SIM_COUNT_DETAILS);
	return port->counts;
}

static inline uint64_t sim_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline void sim_count_add(struct sim_count *count, uint64_t amount)
{
	count->all = sim_sum(count->all, amount);
	count->narrow = sim_sum(count->narrow, amount);
	count->wide = sim_sum(count->wide, amount);
}

/* LRH, BTH, DETH, MAD and ICRC, and a GRH if there is one, in units of 4 octets. */
static inline unsigned int sim_words(const struct sim_packet *packet)
{
	return (8 + 12 + 8 + IBA_MAD_BYTES + 4 + (packet->grh.has_grh ? 40 : 0)) / 4;
}

/* Count a GMP that left by a port, and one that arrived. */
static inline void sim_count_sent(const struct sim_packet *packet, struct sim_port *port)
{
	struct sim_count *counts = sim_counts(port);

	sim_count_add(&counts[SIM_COUNT_PORT_XMIT_DATA], sim_words(packet));
	sim_count_add(&counts[SIM_COUNT_PORT_XMIT_PKTS], 1);
	sim_count_add(&counts[SIM_COUNT_PORT_UNICAST_XMIT_PKTS], 1);
}

static inline void sim_count_received(const struct sim_packet *packet, struct sim_port *port)
{
	struct sim_count *counts = sim_counts(port);

	sim_count_add(&counts[SIM_COUNT_PORT_RCV_DATA], sim_words(packet));
	sim_count_add(&counts[SIM_COUNT_PORT_RCV_PKTS], 1);
	sim_count_add(&counts[SIM_COUNT_PORT_UNICAST_RCV_PKTS], 1);
}

/* The port that has the LID, M_Key and clients for packets that enter through this port. */
static inline struct sim_port *sim_end_port(struct sim_node *node, uint8_t port)
{
	return &node->ports[node->sw ? 0 : port];
}

static inline bool sim_owns_lid(const struct sim_port *port, uint16_t lid)
{
	return port->info.lid && lid >> port->info.lmc == port->info.lid >> port->info.lmc;
}

/* ---- sim.c ---- */
uint64_t sim_draw(struct sim *sim);

static inline bool sim_chance(struct sim *sim, double probability)
{
	return probability > 0 && (double)(sim_draw(sim) >> 11) * 0x1p-53 < probability;
}

/* ---- words.c ---- */
/* By description, its unambiguous beginning, or GUID; NULL: none. */
struct sim_node *sim_find_node(const struct sim *sim, const char *name);

/* ---- fault.c ---- */
void sim_faults_clear(struct sim *sim); /* stops those in progress */

/* ---- link.c ---- */
/* Sets a port and its node to the state after power on, with the link down. */
void sim_node_reset(struct sim_node *node);
/*
 * Trains or drops the link of a port, depending on cable, power and administrative state of both
 * ends.
 */
void sim_link_update(struct sim *sim, struct sim_port *port);
void sim_link_bounce(struct sim *sim, struct sim_port *port); /* drops the link, then as above */

/* ---- forward.c ---- */
struct sim_packet *sim_packet_new(struct sim *sim);
void sim_packet_free(struct sim_packet *packet);
/* Frees the packet, counts it as dropped, and logs why. */
void sim_packet_drop(struct sim_packet *packet, const char *why);
/* Draws whether the packet is lost; then frees and counts it. */
bool sim_packet_lost(struct sim_packet *packet, double probability);
/* Takes over a packet whose node, port, addresses and data are set, and sends it from there. */
void sim_inject(struct sim_packet *packet);
void sim_forward_clear(struct sim *sim); /* drops packets in transit */
/* The port to which a switch forwards a LID; IBA_PORT_NONE: none. */
uint8_t sim_route(const struct sim_switch *sw, uint16_t lid);

/* ---- local.c: a packet that reached its destination ---- */
/* Takes over the packet. */
void sim_local(struct sim_packet *packet);

/* ---- sma.c ---- */
/* Turns the packet into the response; false if there is none. */
bool sim_sma(struct sim_packet *packet);
/* 14.2.4: false if the request must not be served. Counts violations, runs the lease period. */
bool sim_m_key_passes(struct sim *sim, struct sim_port *port, uint64_t m_key, uint8_t method);
void sim_sma_port_clear(struct sim_port *port); /* frees tables, stops the lease */

/* ---- sma_port.c, sma_tables.c, sma_optional.c: one attribute each ---- */
struct sma_request {
	struct sim *sim;
	struct sim_node *node;
	struct sim_port *end; /* its M_Key guards the node */
	uint8_t in_port;
	bool set;
	uint32_t modifier;
	uint64_t m_key;
	uint8_t *data; /* IBA_SMP_DATA_BYTES; in: of a Set; out: the attribute */
};
/* Each returns the status; on error data stays unchanged. */
uint16_t sma_port_info(struct sma_request *request);
uint16_t sma_guid_info(struct sma_request *request);
uint16_t sma_p_key_table(struct sma_request *request);
uint16_t sma_sl_to_vl_table(struct sma_request *request);
uint16_t sma_vl_arbitration_table(struct sma_request *request);
uint16_t sma_linear_forwarding_table(struct sma_request *request);
uint16_t sma_multicast_forwarding_table(struct sma_request *request);
uint16_t sma_vendor_diag(struct sma_request *request);
uint16_t sma_led_info(struct sma_request *request);
uint16_t sma_port_info_extended(struct sma_request *request);
uint16_t sma_ext_port_info(struct sma_request *request);
bool sma_has_fdr10(const struct sim_port *port);
/* The VL of packets with this SL that leave by a port, having entered its switch by port in. */
uint8_t sma_vl(const struct sim_port *port, unsigned int in, uint8_t sl);
uint16_t sma_fec_active(const struct sim_port *port); /* FECModeActive */
/* P_Keys of a port and their number. */
const uint16_t *sma_p_keys(const struct sim_port *port, unsigned int *n);
/* 10.9.3: index of the P_Key that matches this P_Key of a packet, or -1. */
int sma_find_p_key(const struct sim_port *port, uint16_t p_key);

/* ---- gsa.c: the agents behind QP1 ---- */
#define SIM_GSA_SILENT 0xFFFF /* instead of a status: send no response */
/* Whether the packet is a request for one of them. */
bool sim_gsa_serves(const struct sim_packet *packet);
/* Turns the packet into the response; false if there is none. */
bool sim_gsa(struct sim_packet *packet);

/* ---- counts.c ---- */
/* The counter, with its memory; or as it is, which costs none. */
struct sim_count *sim_count_at(struct sim_port *port, enum sim_port_counter which);
const struct sim_count *sim_count_of(const struct sim_port *port, enum sim_port_counter which);
void sim_count(struct sim_port *port, enum sim_port_counter which, uint64_t amount);
/* Counts by SL, VL and OpCode. */
struct sim_lanes {
	uint64_t packets, words;
	uint8_t sl, vl, op; /* op: enum sim_op */
};
void sim_count_lanes(struct sim_port *port, const struct sim_lanes *lanes, bool sent);
void sim_counts_reset(struct sim_port *port); /* the registers, as a restart does */
void sim_counts_free(struct sim_port *port);

/* ---- traffic.c; only with sim->traffic ---- */
/* Before a table, a link or a node changes. */
void sim_traffic_change(struct sim *sim);
/* Before counters are read or cleared. */
void sim_traffic_settle(struct sim *sim, const struct sim_port *port);
void sim_traffic_settle_all(struct sim *sim);
void sim_traffic_free(struct sim *sim);

static inline void sim_changes(struct sim *sim)
{
	if (sim->traffic)
		sim_traffic_change(sim);
}

/* ---- pma.c ---- */
uint16_t sim_pma(struct sim_packet *packet);
/* The node whose PMA redirects to where this packet went; NULL: none. */
struct sim_node *sim_pma_behind(const struct sim_packet *packet);

/* ---- samples.c ---- */
/* Serves the attributes of sampling; others get UNSUP_METHOD_ATTR. */
uint16_t sim_samples(struct sim *sim, struct sim_node *node, uint16_t attribute, bool set,
		     uint8_t *data);
unsigned int sim_pma_tick(const struct sim_node *node); /* Tick of PortSamplesControl */
void sim_samples_clear(struct sim_node *node);

/* ---- cc/ ---- */
uint16_t sim_cca(struct sim_packet *packet);
void sim_cc_clear(struct sim_node *node); /* what its ports hold */
void sim_cc_free(struct sim_node *node);
/* Where its traps go; NULL: it sends none. Only the trap fields count. */
const struct iba_class_port_info *sim_cc_trap_target(const struct sim_port *port);
/* Handles a TrapRepress for this port. False if it matches no trap. */
bool sim_cc_repress(struct sim_port *port, struct sim_packet *packet);
/* Commands that begin with "cc". */
struct words;
bool sim_cc_command(const struct words *words);

/* ---- trap.c ---- */
void sim_trap_port_change(struct sim *sim, struct sim_node *node);			   /* 128 */
void sim_trap_local_change(struct sim *sim, struct sim_port *port, uint16_t change_flags); /* 144 */
/* An SMP, or a GMP, arrived with a wrong key: traps 256, and 257 or 258. */
void sim_trap_m_key(const struct sim_packet *packet, struct sim_port *port);
void sim_trap_key(const struct sim_packet *packet, struct sim_port *port, uint16_t number);
/* A switch port refused a GMP because of its P_Key: trap 259. */
void sim_trap_switch_p_key(const struct sim_packet *packet, const struct sim_port *port);
/* Handles a TrapRepress for this port. False if it matches no trap of the node. */
bool sim_trap_repress(struct sim_port *port, const struct sim_packet *packet);
/* A GMP arrived with a wrong CC_Key: trap 0 of congestion control. */
void sim_trap_cc_key(const struct sim_packet *packet, struct sim_port *port);
/* Traps of a class that a port repeats: whether there is one, and its end. */
bool sim_trap_is_repeated(const struct sim_port *port, uint8_t mgmt_class, uint64_t tid);
void sim_trap_end(struct sim_port *port, uint8_t mgmt_class, uint64_t tid);
void sim_trap_clear_class(struct sim_node *node, uint8_t mgmt_class);
void sim_trap_clear(struct sim_node *node);

/* ---- agent.c: clients ---- */
/* Delivers a response to the agent that sent the request. False if there is none. */
bool sim_client_response(struct sim_port *port, struct sim_packet *packet);
/* Delivers the MAD to the agent registered for it. False if there is none. */
bool sim_client_unsolicited(struct sim_port *port, struct sim_packet *packet);
/* Whether sim_client_unsolicited() would find an agent. */
bool sim_client_takes(const struct sim_port *port, const struct sim_packet *packet);
void sim_agents_init(struct sim *sim);
void sim_agents_clear(struct sim *sim); /* all agents have been freed */

/* ---- port.c ---- */
void sim_vendors_init(struct sim *sim);
void sim_vendors_clear(struct sim *sim); /* closes open ports */
/* Reports events to sim->on_event, and those of enum vendor_event to the vendor ports there. */
void sim_vendors_tell(struct sim *sim, const struct sim_port *port, unsigned int events);
void sim_vendors_lose(struct sim *sim, const struct sim_node *node, bool lost);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A simulated fabric inside the process. It forwards hop by hop by the tables that were actually
 * programmed, so wrong tables lose packets.
 *
 * The fabric is owned by one actor of the runtime. Functions marked [owner] are called on that
 * actor (sim_call), before it starts, or anywhere in a virtual runtime. Same topology, seed, calls
 * and virtual runtime: same bytes on the wire at the same times.
 */
#ifndef VENDOR_SIM_H
#define VENDOR_SIM_H

#include "vendor/vendor.h"

struct sim;
struct topology; /* nodes and cables as parsed or generated, before it is simulated */

/*
 * Loads a generator spec, a file in ibnetdiscover or ibsim format, or "-" for the standard input.
 * Specs:
 *   fattree:K               full 3-level tree of K-port switches, K^3/4 hosts
 *   xgft:M1,..,MH:W1,..,WH[:P1,..,PH]   tree of H levels; switches of level i have Mi children,
 *                           and these Wi parents, with Pi cables to each
 *   torus:AxBxC[:H]  mesh:AxBxC[:H]  hypercube:D[:H]   H hosts a switch (default 1)
 *   dragonfly:A:H:P         A switches a group, H global links and P hosts a switch
 *   random:SWITCHES:DEGREE:HOSTS:SEED   HOSTS a switch, connected
 */
struct topology *topology_load(const char *spec_or_file, GError **error);
void topology_free(struct topology *topology);
bool topology_write(const struct topology *topology, const char *file,
		    GError **error); /* ibsim format */
unsigned int topology_hosts(const struct topology *topology);
unsigned int topology_switches(const struct topology *topology);
/*
 * Describes the nodes that no cables connect to the port with that GUID (0: to the port that
 * sim_open() then takes). To be freed; NULL: all are connected, or there is no such port.
 */
char *topology_tell_unjoined(const struct topology *topology, uint64_t port_guid);

struct sim_config {
	uint64_t seed;
	uint64_t hop_ns;    /* latency of a link and forwarding step */
	uint64_t sma_ns;    /* time an SMA needs for one MAD; each node serves them one by one */
	double loss;	    /* probability that a packet is lost, drawn once per packet */
	double duplicate;   /* probability that it arrives twice */
	uint64_t jitter_ns; /* uniform extra latency: reorders */
	double corrupt;	    /* probability that one bit flips, not in a directed path */
	uint64_t timeout_delay_ns; /* timeouts are reported late by at most this */
	bool mixed_routing; /* switches forward SMPs LID-routed first, then directed */
};

void sim_config_default(struct sim_config *config);

struct sim *sim_new(struct runtime *rt, struct log *log, const struct topology *topology,
		    const struct sim_config *config);
void sim_start(struct sim *sim); /* starts its thread in a real runtime */
void sim_free(struct sim *sim);	 /* after its vendor ports were closed */

/*
 * Opens the port with that GUID as a vendor port; 0: the first host port with a cable. Any thread.
 */
struct vendor *sim_open(struct sim *sim, uint64_t port_guid, GError **error);

/* Runs call(sim, arg) on the owner; waits for it in a real runtime. Any other thread. */
void sim_call(struct sim *sim, void (*call)(struct sim *sim, void *arg), void *arg);

/* ---- control [owner]; node is an index below sim_nodes() ---- */
unsigned int sim_nodes(const struct sim *sim);
/* Finds a node by the node or port GUID from the topology; -1: none. */
int sim_find_guid(const struct sim *sim, uint64_t guid);
int sim_find_name(const struct sim *sim, const char *description);
bool sim_link_set(struct sim *sim, unsigned int node, unsigned int port,
		  bool up);					   /* false: no cable */
void sim_node_set(struct sim *sim, unsigned int node, bool up);	   /* down: links, tables lost */
/*
 * there false: the adapter of a host or its driver is gone, its links are down, and its vendor
 * ports are lost; true: they are back, as after power on.
 */
void sim_device_set(struct sim *sim, unsigned int node, bool there);
void sim_node_mute(struct sim *sim, unsigned int node, bool mute); /* its SMA answers nothing */
/*
 * The SMA of a switch answers nothing and forwards no directed routes; LID-routed packets still
 * pass.
 */
void sim_node_hang(struct sim *sim, unsigned int node, bool hung);
/* The driver of the node refuses to send anything for programs; it still receives. */
void sim_device_refuse(struct sim *sim, unsigned int node, bool refuses);
void sim_set_loss(struct sim *sim, double loss);
/* Probability that a packet from or to this node is lost, in addition to that of all packets. */
void sim_node_set_loss(struct sim *sim, unsigned int node, double loss);
void sim_set_duplicate(struct sim *sim, double duplicate);
void sim_set_corrupt(struct sim *sim, double corrupt); /* flips one random bit of a MAD,
							  but not in a directed path */
void sim_set_delay(struct sim *sim, uint64_t hop_ns, uint64_t jitter_ns);
/*
 * From now on ports report timeouts late, by up to max_ns, as a busy kernel does: until then they
 * hold the request, so its TransactionID is taken, and an answer still counts.
 */
void sim_set_timeout_delay(struct sim *sim, uint64_t max_ns);
/*
 * Limits what the cable can do from now on: lanes 1, 2, 4, 8 or 12 and Mb/s per lane, as signalling
 * or data rate (2500, 5000, 10000, 10312, 14062, 25781 or 25000, 53125 or 50000, 106250 or 100000,
 * 212500 or 200000). The link trains again with what both ends enable within the limit; 12 lanes of
 * 212500 lift the limit. False: no cable, or no such value.
 */
bool sim_link_degrade(struct sim *sim, unsigned int node, unsigned int port, unsigned int lanes,
		      unsigned int lane_mbps);
/*
 * Pulls the cable for down_ns and plugs it for up_ns, as often as times says; it ends plugged.
 * times 0 ends the flapping, as does any other change of the cable. False: no cable.
 */
bool sim_link_flap(struct sim *sim, unsigned int node, unsigned int port, uint64_t down_ns,
		   uint64_t up_ns, unsigned int times);
/* Packets leaving by this port are dropped, though the link is up. False: no such port. */
bool sim_link_black_hole(struct sim *sim, unsigned int node, unsigned int port, bool on);
/*
 * The switch that an SMP reaches after this number of LID-routed hops (also within a mixed route)
 * handles it as if addressed to itself; 0: no limit. Debian's ibsim does so at 16.
 */
void sim_set_lid_hops_max(struct sim *sim, unsigned int hops);
/*
 * Moves the cable end in a port to a port without a cable. If that is the port at the cable's other
 * end, it gets a loopback plug. False: no cable here, or no room there.
 */
bool sim_cable_move(struct sim *sim, unsigned int node, unsigned int port, unsigned int to_node,
		    unsigned int to_port);
/*
 * Exchanges the cable ends in two ports at the same time: each port then has the cable of the
 * other. One of them may be empty. False: neither has a cable, or they are the two ends of one
 * cable.
 */
bool sim_cable_swap(struct sim *sim, unsigned int node_a, unsigned int port_a, unsigned int node_b,
		    unsigned int port_b);
/* The node answers with this NodeGUID, which may be another node's or 0; its port GUIDs stay. */
void sim_set_node_guid(struct sim *sim, unsigned int node, uint64_t guid);
/* NodeInfo of this end port reports this PortGUID; 0: its own. */
void sim_set_port_guid(struct sim *sim, unsigned int node, unsigned int port, uint64_t guid);
/*
 * LinearFDBCap of a switch, until it is reset: it forwards only LIDs below the cap, and its SMA
 * refuses a LinearFDBTop and blocks that are not below it.
 */
void sim_set_linear_fdb_cap(struct sim *sim, unsigned int node, uint16_t cap);
/* MulticastFDBCap of a switch, until it is reset: as above, for multicast LIDs. */
void sim_set_multicast_fdb_cap(struct sim *sim, unsigned int node, uint16_t cap);
/*
 * PartitionCap, at least 1: number of entries in the P_Key tables of end ports. All P_Key tables of
 * the node are then as after power on.
 */
void sim_set_partition_cap(struct sim *sim, unsigned int node, uint16_t cap);
/* The node's SMA answers Set with status 0, but changes nothing: it returns its present values. */
void sim_node_stubborn(struct sim *sim, unsigned int node, bool stubborn);
/* The node refuses Sets of this attribute with status 0x1C (invalid field); 0: it refuses none. */
void sim_node_refuse(struct sim *sim, unsigned int node, uint16_t attribute);
/*
 * The node does not apply Sets of this attribute and modifier: it answers with that status, or with
 * its present values, or as if it had applied the Set. SIM_REFUSE_NOT: it applies them again.
 * False: SIM_REFUSALS_MAX others are refused already.
 */
#define SIM_REFUSALS_MAX 16
enum sim_refusal_kind { SIM_REFUSE_NOT, SIM_REFUSE_BY_STATUS, SIM_REFUSE_IGNORE, SIM_REFUSE_LIE };
bool sim_node_refuse_block(struct sim *sim, unsigned int node, uint16_t attribute,
			   uint32_t modifier, enum sim_refusal_kind kind);
/* Time that its SMA takes to answer a Get or a Set, one after the other; both 0: as other nodes. */
void sim_node_set_service(struct sim *sim, unsigned int node, uint64_t get_ns, uint64_t set_ns);
/*
 * Time that a switch takes for a Set(SLtoVLMappingTable) of all its ports at once; other requests
 * wait until that is done.
 */
void sim_node_slow_wildcards(struct sim *sim, unsigned int node, uint64_t ns);
/*
 * The node answers for ExtendedPortInfo, if it has that at all, with all bits set whatever it is;
 * or (mute) not, while it answers everything else.
 */
void sim_node_ext_port_info(struct sim *sim, unsigned int node, bool lies, bool mute);
/* The node refuses, with status 0x1C, each Set(PortInfo) that would change a width or speed. */
void sim_node_fix_speeds(struct sim *sim, unsigned int node, bool fixed);
/*
 * The node claims OptimizedSLtoVLMappingProgramming, but refuses each such Set: with status 0x1C,
 * or silently by an answer with other rows.
 */
void sim_node_refuse_wildcards(struct sim *sim, unsigned int node, bool silently);
/* As if another SM had set the end port's M_Key, M_KeyProtectBits and lease period in s. */
void sim_set_m_key(struct sim *sim, unsigned int node, unsigned int port, uint64_t m_key,
		   uint8_t protect_bits, uint16_t lease);
/* Replaces the port's PortInfo without a trap or event. */
void sim_set_port_info(struct sim *sim, unsigned int node, unsigned int port,
		       const struct iba_port_info *info);
/*
 * Sends a trap from the node's end port (port: of a CA or router) to its SM, until it is repressed;
 * the notice is sent unchanged. False: no such port, or it is not ACTIVE or knows no SM.
 */
bool sim_trap(struct sim *sim, unsigned int node, unsigned int port,
	      const struct iba_notice *notice);
/* Traps sent from now on are lost, repeated ones included; false: they arrive again. */
void sim_set_traps_lost(struct sim *sim, bool lost);
/* ---- performance management agents ---- */
/* What an agent can do, and how it misbehaves: bits of enum sim_pma. */
enum sim_pma_bit {
#define SIM_AGENT(name, text, help) SIM_PMA_BIT_##name,
#include <vendor/sim_agent.def>
	SIM_PMA_BITS
};
enum sim_pma {
#define SIM_AGENT(name, text, help) SIM_PMA_##name = 1 << SIM_PMA_BIT_##name,
#include <vendor/sim_agent.def>
};
uint32_t sim_pma_default(uint8_t node_type);
uint32_t sim_pma_abilities(const struct sim *sim, unsigned int node);
void sim_pma_set(struct sim *sim, unsigned int node, uint32_t abilities);
/* Of all nodes of that type. */
void sim_pma_set_type(struct sim *sim, uint8_t node_type, uint32_t abilities);
/* It answers everything with this status; 0: it serves again. */
void sim_pma_set_status(struct sim *sim, unsigned int node, uint16_t status);
/*
 * It answers everything with a REDIRECT to these values, whether they make sense or not. What is
 * sent there is served: with QP 1 for the node that has the LID, with another QP for this node. LID
 * 0: the client has to find the path to the GID. NULL: no redirection.
 */
struct sim_redirect {
	struct iba_gid gid;
	uint16_t lid, p_key;
	uint32_t qp, q_key;
	uint8_t sl;
};
void sim_pma_redirect(struct sim *sim, unsigned int node, const struct sim_redirect *to);

/* ---- traffic: what ports count if hosts send data ---- */
#define SIM_FLOWS_MAX 1000000
#define SIM_FLOW_SIZE_MAX 4096
#define SIM_FLOW_RATE_MAX 1e12
#define SIM_ERROR_RATE_MAX 1e12
/* Packets from one port of a host to another, by its first LID, in the partition of all. */
struct sim_flow {
	unsigned int from_node, from_port, to_node, to_port;
	double rate; /* octets a second on the wire; with of_link, share of the sender's link */
	bool of_link;
	unsigned int size; /* octets of payload in a packet */
	uint8_t sl;
};
/* False: no such host ports, a value out of range, or too many flows. */
bool sim_traffic_add(struct sim *sim, const struct sim_flow *flow);
/* n flows between random hosts with cables, of the rate, size and SL of that one. */
bool sim_traffic_random(struct sim *sim, unsigned int n, const struct sim_flow *like);
void sim_traffic_clear(struct sim *sim);
/*
 * Share of what has to wait for a port that is too busy that is discarded there, as by HOQLife: 0,
 * the default, is none.
 */
void sim_traffic_discard(struct sim *sim, double share);
unsigned int sim_traffic_flows(const struct sim *sim);
struct sim_flow_view {
	struct sim_flow flow;
	double wanted, sent, arrives; /* octets a second */
	unsigned int hops;
	const char *ends; /* why nothing arrives; NULL: it does */
};
void sim_traffic_view(struct sim *sim, unsigned int i, struct sim_flow_view *view);

/*
 * From now on a counter of the port rises by rate a second; 0 ends that. SIM_BAD_CABLE is not a
 * counter: what the port receives has rate symbol errors a second. With FEC these are corrected,
 * but one block in 1024 is not. Those blocks, or one in 16 symbol errors without FEC, damage a
 * packet: PortRcvErrors with PortLocalPhysicalErrors there, and PortRcvRemotePhysicalErrors further
 * on, in turn for each flow that comes by. False: no such port or counter, or a rate out of range.
 */
#define SIM_BAD_CABLE SIM_PORT_COUNTERS
bool sim_errors_set(struct sim *sim, unsigned int node, unsigned int port, unsigned int which,
		    double rate);
void sim_errors_clear(struct sim *sim);
unsigned int sim_errors(const struct sim *sim);
struct sim_error_view {
	unsigned int node, port, which;
	double rate;
};
void sim_errors_view(const struct sim *sim, unsigned int i, struct sim_error_view *view);

/*
 * Runs a command of traffic, errors, agents or counters, given as words. Appends its output, or is
 * false and replaces out by the reason.
 */
bool sim_command(struct sim *sim, char **words, unsigned int n, GString *out);

/* At most 64 octets; its end ports send trap 144. */
bool sim_set_description(struct sim *sim, unsigned int node, const char *description);

/* ---- inspection [owner] ---- */
struct sim_node_view {
	uint8_t type; /* IBA_NODE_CA .. */
	uint8_t num_ports;
	bool up;
	uint64_t node_guid; /* as its SMA reports it */
	const char *description;
	const struct iba_switch_info *switch_info; /* NULL unless a switch */
	const uint8_t *lft;			   /* [49152] of a switch, 0xFF: none */
};
void sim_node_view(const struct sim *sim, unsigned int node, struct sim_node_view *view);
const struct iba_port_info *sim_port_info(const struct sim *sim, unsigned int node,
					  unsigned int port);
uint64_t sim_port_guid(const struct sim *sim, unsigned int node, unsigned int port);
/* An entry of the port's GUIDInfo after the first: an alias GUID, or 0. */
uint64_t sim_alias_guid(const struct sim *sim, unsigned int node, unsigned int port,
			unsigned int index);
/* The PortGUID that its NodeInfo reports, see sim_set_port_guid(). */
uint64_t sim_claimed_port_guid(const struct sim *sim, unsigned int node, unsigned int port);
/* Whether FDR10 is enabled at the port; and whether it runs at that. */
bool sim_fdr10_enabled(const struct sim *sim, unsigned int node, unsigned int port);
bool sim_fdr10_active(const struct sim *sim, unsigned int node, unsigned int port);
/* The other end of the cable; false if there is no cable. */
bool sim_peer(const struct sim *sim, unsigned int node, unsigned int port, unsigned int *peer_node,
	      unsigned int *peer_port);
bool sim_link_up(const struct sim *sim, unsigned int node, unsigned int port);
/* MFT mask of 256 ports of a switch for a multicast LID, 16 words of 16. */
void sim_mft(const struct sim *sim, unsigned int node, uint16_t mlid, uint16_t mask[16]);
const uint16_t *sim_p_keys(const struct sim *sim, unsigned int node, unsigned int port,
			   unsigned int *n);

/* Counters of a port; that of lane, VL or SL n is the first plus n. */
enum sim_port_counter {
#define SIM_COUNTER(name, text, n)                                                                 \
	SIM_COUNT_##name, SIM_COUNT_LAST_##name = SIM_COUNT_##name + (n) - 1,
#include <vendor/sim_counter.def>
	SIM_PORT_COUNTERS
};
/* As the IBA writes it, with [n] behind it if it is one of several. To be freed. */
char *sim_counter_name(enum sim_port_counter which);
bool sim_find_counter(const char *name, enum sim_port_counter *which);
/* Adds to a counter. False: no such external port or counter. */
bool sim_port_count(struct sim *sim, unsigned int node, unsigned int port,
		    enum sim_port_counter which, uint64_t amount);
/* What the agent counted since the restart of the node, or since a client cleared 64 bits of it. */
uint64_t sim_port_counter(const struct sim *sim, unsigned int node, unsigned int port,
			  enum sim_port_counter which);
/* All that was ever counted, through restarts and whatever clients cleared. */
uint64_t sim_true_count(const struct sim *sim, unsigned int node, unsigned int port,
			enum sim_port_counter which);

struct sim_counters {
	uint64_t mads_sent;	/* by vendor ports */
	uint64_t mads_received; /* by vendor ports */
	uint64_t smps, gmps;	/* entering the fabric, responses included */
	uint64_t directed_hops; /* hops made by the directed part of requests */
	uint64_t directed_smps; /* requests with a directed part */
	uint64_t lost;		/* drawn by config.loss */
	uint64_t corrupted;	/* drawn by config.corrupt */
	uint64_t dropped;	/* by forwarding: no table entry, port down, bad hop, P_Key */
	uint64_t sets, gets;	/* requests served by SMAs */
	uint64_t traps;
	uint64_t outstanding_max; /* requests of one vendor port in flight at once */
};
void sim_counters(const struct sim *sim, struct sim_counters *counters);

/*
 * Tables as on the wire: SL to VL, 8 octets for an input port, or NULL as after power on; VL
 * arbitration, 64 octets for block 1 to 4.
 */
const uint8_t *sim_sl_to_vl(const struct sim *sim, unsigned int node, unsigned int port,
			    unsigned int input);
const uint8_t *sim_vl_arbitration(const struct sim *sim, unsigned int node, unsigned int port,
				  unsigned int block);

/* Digest of every packet sent so far with its time: equal for equal runs. */
uint64_t sim_trace_digest(const struct sim *sim);
/* Called for every packet that enters the fabric; NULL: none. */
typedef void sim_trace_fn(void *arg, uint64_t now_ns, const struct vendor_address *to,
			  uint64_t from_port_guid, const uint8_t *data, size_t length);
void sim_set_trace(struct sim *sim, sim_trace_fn *trace, void *arg);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plug-ins of opensm: shared objects that hear of events, look at the subnet, ask the daemon for
 * things, and compute routes. See opensm-plugin(3), which has a complete example.
 *
 * A plug-in exports one function, osm_plugin_v1(), and calls nothing but the functions that
 * struct osm_host gives to it. It runs on threads of its own, in the daemon or, with the option
 * event_plugin_process, in a process of its own; it cannot tell the difference, and whatever it
 * does on its threads delays no sweep and no answer of the SA.
 *
 * Nothing here is a type of the daemon. Every struct begins with its size, set by the side that
 * made it, and newer versions add members only at the end: OSM_HAS() tells whether a struct has a
 * member. Elements of lists may be longer than the struct that a plug-in was compiled with, so they
 * are reached by functions such as osm_node(). The layout of version 1 never changes.
 *
 * LIDs, P_Keys, GUIDs and counters are in host byte order; only MADs, notices and GIDs are octets
 * as on the wire.
 */
#ifndef OPENSM_PLUGIN_H
#define OPENSM_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OSM_PLUGIN_ABI 1
#define OSM_NONE UINT32_MAX /* instead of an index */

/* Whether a struct that has a size is long enough to have a member. */
#define OSM_HAS(pointer, type, member)                                                             \
	((pointer)->size >= offsetof(type, member) + sizeof((pointer)->member))

#ifdef __cplusplus
#define OSM_CAST(type, value) static_cast<type>(value)
#else
#define OSM_CAST(type, value) ((type)(value))
#endif

#if defined(__GNUC__)
#define OSM_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define OSM_PRINTF(text, args)
#endif

/* A list in a snapshot or in the input of routing: n elements, each of size octets. */
struct osm_list {
	const void *first;
	uint32_t n;
	uint32_t size;
};

static inline const void *osm_at(const struct osm_list *list, uint32_t i)
{
	return OSM_CAST(const char *, list->first) + OSM_CAST(size_t, i) * list->size;
}

/* ==== events ==== */

enum osm_event_id {
	/*
	 * Those of the classic daemon's plug-ins, with its numbers; where a value is given, the
	 * body is a struct osm_about.
	 */
	OSM_EVENT_PORT_ERRORS = 0,	  /* struct osm_port_errors */
	OSM_EVENT_PORT_DATA_COUNTERS = 1, /* struct osm_port_data */
	OSM_EVENT_PORT_SELECT = 2, /* struct osm_port_wait: PortXmitWait of a port grew */
	OSM_EVENT_TRAP = 3,	   /* struct osm_trap */
	OSM_EVENT_SUBNET_UP = 4,
	OSM_EVENT_HEAVY_SWEEP_START = 5,  /* to read the subnet, or the part that changed */
	OSM_EVENT_HEAVY_SWEEP_DONE = 6,	  /* the subnet was read; it is not configured yet */
	OSM_EVENT_UCAST_ROUTING_DONE = 7, /* value: 0 unchanged, 1 heavy sweep, 2 reroute */
	OSM_EVENT_STATE_CHANGE = 8,	  /* value: enum osm_sm_state */
	OSM_EVENT_SA_DB_DUMPED = 9,
	OSM_EVENT_LFT_CHANGE = 10, /* struct osm_lft_change */

	/* Those that follow have a struct osm_about. */
	OSM_EVENT_SWEEP_DONE = 16, /* value: microseconds that it took; word: its kind; level: 1 if
				      it had errors */
	OSM_EVENT_NODE = 17,	   /* word: "nodes_new" or "nodes_gone" */
	OSM_EVENT_LINK = 18,	   /* word: "link_up" or "link_down" */
	OSM_EVENT_PORT = 19,	   /* an endport; word: "port_new" or "port_gone" */
	OSM_EVENT_LID = 20,	   /* word: "lid_changed" */
	OSM_EVENT_PARTITIONS = 21, /* value: serial of the policy that is now in effect */
	OSM_EVENT_GROUPS = 22,	   /* multicast groups; value: how many there are */
	OSM_EVENT_HEALTH = 23,	   /* word: condition of the port; level: 1 begins, 0 ends */
	OSM_EVENT_ALARM = 24,	   /* word: counter; level: 0 ended, 1 info, 2 warning, 3 alarm */
	OSM_EVENT_OPTIONS = 25,	   /* the configuration was read again */
	OSM_EVENT_COUNTERS = 26,   /* value: number of the sweep of counters that has ended */
	OSM_EVENT_SERVICES = 27,   /* registries of the SA: services, subscriptions, GUIDs */
	OSM_EVENT_SMS = 28,	   /* other subnet managers, or what is known of them */

	/*
	 * Always delivered. value: how many events were dropped here, as the plug-in was too slow;
	 * a plug-in that keeps a picture takes a new snapshot.
	 */
	OSM_EVENT_LOST = 63
};
#define OSM_EVENT_BIT(id) (UINT64_C(1) << (id))
#define OSM_EVENTS_ALL UINT64_MAX

enum osm_sm_state {
	OSM_SM_NOT_ACTIVE,
	OSM_SM_DISCOVERING,
	OSM_SM_STANDBY,
	OSM_SM_MASTER
};

struct osm_event {
	uint32_t size;
	uint32_t id;	     /* enum osm_event_id */
	uint64_t serial;     /* counts the events for this plug-in, dropped ones as well */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	int64_t real_us;     /* since 1970 */
	uint64_t generation; /* of the subnet that shows it: a snapshot with this generation or a
				later one has the change; 0: not a change of the subnet */
	const char *text;    /* a line for people, in UTF-8; never NULL */
	const void *body;    /* by id; NULL: none. Valid until on_event() returns, like the event */
	uint32_t body_size;
	uint32_t reserved;
};

struct osm_about {
	uint32_t size;
	uint32_t level;
	uint64_t value;
	uint64_t guid, peer_guid; /* node GUIDs; 0: none */
	uint8_t port, peer_port;  /* port numbers; 0: none */
	uint16_t lid;		  /* 0: none */
	uint32_t more_switches, more_hosts; /* of nodes: came or went with this one */
	uint32_t reserved;
	char word[32];
};

#define OSM_NAME_SIZE 80

/* The port that an event about counters is of. */
struct osm_port_id {
	uint64_t guid; /* of the node */
	uint8_t port;
	char name[OSM_NAME_SIZE - 1]; /* of the node, in printable UTF-8, cut if it is too long */
};

/* How much the counters of a port grew in an interval; of ports on which any of them grew. */
struct osm_port_errors {
	uint32_t size;
	uint32_t reserved;
	struct osm_port_id port;
	uint64_t interval_ns;
	uint64_t symbol_err_cnt, link_err_recover, link_downed, rcv_err, rcv_rem_phys_err,
		rcv_switch_relay_err, xmit_discards, xmit_constraint_err, rcv_constraint_err,
		link_integrity, buffer_overrun, vl15_dropped, xmit_wait;
	uint64_t qp1_dropped;
};

/* Divide by the interval for rates. Data are in units of 4 octets, as in the IBA. */
struct osm_port_data {
	uint32_t size;
	uint32_t reserved;
	struct osm_port_id port;
	uint64_t interval_ns;
	uint64_t xmit_data, rcv_data, xmit_pkts, rcv_pkts, unicast_xmit_pkts, unicast_rcv_pkts,
		multicast_xmit_pkts, multicast_rcv_pkts;
};

struct osm_port_wait {
	uint32_t size;
	uint32_t reserved;
	struct osm_port_id port;
	uint64_t interval_ns;
	uint64_t xmit_wait; /* ticks */
};

/* A notice that was reported to subscribers, also those that the SM makes itself, such as 64. */
struct osm_trap {
	uint32_t size;
	uint16_t lid; /* that it came from */
	uint16_t number;
	uint8_t notice[80]; /* as on the wire (IBA 13.4.8.2) */
};

/* A block of a linear forwarding table that differs from the one before; see osm_lft(). */
struct osm_lft_change {
	uint32_t size;
	uint32_t block; /* of the LIDs 64 * block and on */
	uint64_t guid;	/* of the switch */
	uint16_t top;	/* LinearFDBTop */
	uint16_t reserved[3];
	uint8_t ports[64]; /* 0xFF: discard */
};

/* ==== snapshots ==== */

enum osm_part {
	OSM_PART_NODES = 1 << 0, /* nodes, ports and switches; every snapshot has them */
	OSM_PART_LFTS = 1 << 1,
	OSM_PART_P_KEYS = 1 << 2, /* P_Keys of ports, and the partitions with their members */
	OSM_PART_GROUPS = 1 << 3,
	OSM_PART_COUNTERS = 1 << 4,
	OSM_PART_ALL = (1 << 5) - 1
};

enum osm_node_type {
	OSM_NODE_CA = 1,
	OSM_NODE_SWITCH = 2,
	OSM_NODE_ROUTER = 3
};

struct osm_node {
	uint64_t guid, system_guid;
	uint32_t name;	      /* in names: from the operator's map, or the description */
	uint32_t description; /* in names: NodeDescription */
	uint32_t first_port;  /* port k, from 0, is first_port + k */
	uint32_t sw;	      /* index in switches, or OSM_NONE */
	uint32_t vendor_id, revision;
	uint16_t device_id, partition_cap;
	uint8_t type; /* enum osm_node_type */
	uint8_t n_ports;
	uint8_t silent; /* 1: it does not answer; what is here dates from before */
	uint8_t enhanced_port0;
};

/* Codes of rates, MTUs, widths and speeds are those of the IBA (PathRecord; PortInfo). */
struct osm_port {
	uint64_t guid; /* of an endport: a port of a CA or router, or port 0 of a switch; else 0 */
	uint32_t node;
	uint32_t peer; /* at the other end of the cable, or OSM_NONE */
	uint32_t capability_mask;
	uint32_t first_p_key, n_p_keys; /* in p_keys */
	uint16_t lid;			/* base LID of an endport */
	uint8_t num, lmc;
	uint8_t known; /* 0: its PortInfo was not read, and only guid, node, peer and num count */
	uint8_t state, physical_state; /* PortState, PortPhysicalState */
	uint8_t rate;		       /* of the link; 0: it is down */
	uint8_t mtu;		       /* that both ends support; of port 0: MTUCap */
	uint8_t mtu_cap, vl_cap, operational_vls;
	uint8_t width_supported, width_enabled, width_active;
	uint8_t speed_supported, speed_enabled, speed_active;
	uint8_t speed_ext_supported, speed_ext_enabled, speed_ext_active;
	uint8_t fdr10_active;
	uint8_t reserved[6];
};

struct osm_switch {
	uint32_t node;
	uint32_t hops; /* from the SM */
	uint64_t lft;  /* private: osm_lft() */
	uint16_t lft_top;
	uint16_t linear_fdb_cap, multicast_fdb_cap;
	uint16_t reserved;
};

struct osm_partition {
	uint32_t name; /* in names */
	uint32_t first_member, n_members; /* in partition_members */
	uint16_t p_key; /* without the bit of full membership */
	uint16_t reserved;
};

struct osm_member {
	uint64_t guid; /* of the port */
	uint32_t full; /* of a partition: 1 full, 0 limited member. Of a group: 1 it receives */
	uint32_t reserved;
};

struct osm_group {
	uint8_t mgid[16];
	uint32_t first_member, n_members; /* in group_members */
	uint16_t mlid, p_key;
	uint8_t mtu, rate, sl;
	uint8_t reserved;
};

enum osm_counter {
	OSM_COUNTER_SYMBOL_ERRORS,
	OSM_COUNTER_LINK_ERROR_RECOVERIES,
	OSM_COUNTER_LINK_DOWNED,
	OSM_COUNTER_RCV_ERRORS,
	OSM_COUNTER_RCV_REMOTE_PHYSICAL_ERRORS,
	OSM_COUNTER_RCV_SWITCH_RELAY_ERRORS,
	OSM_COUNTER_XMIT_DISCARDS,
	OSM_COUNTER_XMIT_CONSTRAINT_ERRORS,
	OSM_COUNTER_RCV_CONSTRAINT_ERRORS,
	OSM_COUNTER_LINK_INTEGRITY_ERRORS,
	OSM_COUNTER_BUFFER_OVERRUN_ERRORS,
	OSM_COUNTER_VL15_DROPPED,
	OSM_COUNTER_QP1_DROPPED,
	OSM_COUNTER_XMIT_WAIT,
	OSM_COUNTER_XMIT_DATA,
	OSM_COUNTER_RCV_DATA,
	OSM_COUNTER_XMIT_PKTS,
	OSM_COUNTER_RCV_PKTS,
	OSM_COUNTER_UNICAST_XMIT_PKTS,
	OSM_COUNTER_UNICAST_RCV_PKTS,
	OSM_COUNTER_MULTICAST_XMIT_PKTS,
	OSM_COUNTER_MULTICAST_RCV_PKTS
};

#define OSM_COUNTERS 32 /* that there is room for; those that a port has are in osm_counters.have */

/* What a port counted, by the performance manager; of ports of which it has read counters. */
struct osm_counters {
	uint64_t guid; /* of the node */
	uint32_t port; /* number */
	uint32_t read; /* 1: in the last sweep of counters; 0: what is here is older */
	uint64_t interval_ns;	      /* between the last two readings; 0: growth is not known */
	uint64_t total[OSM_COUNTERS]; /* since the first reading */
	uint64_t growth[OSM_COUNTERS]; /* in that interval */
	uint32_t have;	     /* bits of enum osm_counter: the port has such a counter */
	uint32_t at_least;   /* bits of enum osm_counter: more may have been counted than total */
};

/*
 * The subnet at one moment. It never changes, may be kept as long as one likes and read by any
 * thread, and is given back by snapshot_free().
 */
struct osm_snapshot {
	uint32_t size;
	uint32_t parts;		/* bits of enum osm_part that it has */
	uint64_t generation;	/* greater than that of earlier snapshots if the subnet changed */
	uint64_t counters;	/* number of the sweep of counters; 0: there was none */
	uint64_t counters_ns;	/* CLOCK_MONOTONIC at its end */
	int64_t made_us;	/* since 1970 */
	uint64_t subnet_prefix;
	uint32_t sm_port;  /* index in ports */
	uint32_t sm_state; /* enum osm_sm_state */
	uint32_t max_lid;
	uint32_t reserved;
	const char *engine;    /* the routing engine that made the LFTs; "" if it is not known */
	const char *names;     /* texts, each with a final NUL: names + osm_node.name */
	const uint8_t *lfts;   /* private: osm_lft() */
	const uint32_t *of_lid; /* [max_lid + 1]: endport, or OSM_NONE */
	struct osm_list nodes;	  /* struct osm_node; in no particular order */
	struct osm_list ports;	  /* struct osm_port */
	struct osm_list switches; /* struct osm_switch */
	struct osm_list p_keys;	  /* uint16_t */
	struct osm_list partitions, partition_members; /* struct osm_partition, osm_member */
	struct osm_list groups, group_members;	       /* struct osm_group, osm_member */
	struct osm_list counter_rows;		       /* struct osm_counters, by GUID and port */
};

#define OSM_ACCESS(function, type, list)                                                           \
	static inline const struct type *function(const struct osm_snapshot *snapshot, uint32_t i) \
	{                                                                                          \
		return OSM_CAST(const struct type *, osm_at(&snapshot->list, i));                  \
	}
OSM_ACCESS(osm_node, osm_node, nodes)
OSM_ACCESS(osm_port, osm_port, ports)
OSM_ACCESS(osm_switch, osm_switch, switches)
OSM_ACCESS(osm_partition, osm_partition, partitions)
OSM_ACCESS(osm_partition_member, osm_member, partition_members)
OSM_ACCESS(osm_group, osm_group, groups)
OSM_ACCESS(osm_group_member, osm_member, group_members)
OSM_ACCESS(osm_counters, osm_counters, counter_rows)
#undef OSM_ACCESS

static inline const char *osm_name(const struct osm_snapshot *snapshot, uint32_t name)
{
	return snapshot->names + name;
}

static inline uint16_t osm_p_key(const struct osm_snapshot *snapshot, uint32_t i)
{
	return *OSM_CAST(const uint16_t *, osm_at(&snapshot->p_keys, i));
}

/* The port by which a switch forwards a LID; 0xFF: it discards. With OSM_PART_LFTS. */
static inline uint8_t osm_lft(const struct osm_snapshot *snapshot, uint32_t sw, uint16_t lid)
{
	const struct osm_switch *at = osm_switch(snapshot, sw);

	return lid <= at->lft_top && snapshot->lfts ? snapshot->lfts[at->lft + lid] : 0xFF;
}

/* ==== what a plug-in may ask for ==== */

enum osm_result {
	OSM_OK = 0,
	OSM_FAILED = 1,	 /* the daemon could not do it */
	OSM_USAGE = 2,	 /* an unknown command, option or kind of sweep */
	OSM_NOT_YET = 3, /* the daemon serves no requests before create() has returned */
	OSM_OVER = 4,	 /* the daemon is about to end, or this plug-in is being unloaded */
	OSM_TIMEOUT = 5, /* of a MAD: no answer */
	OSM_REFUSED = 6  /* of a MAD: a class of the SM or the SA, or a LID that is not unicast */
};

enum osm_log_level {
	OSM_LOG_ERROR = 0x01,
	OSM_LOG_INFO = 0x02,
	OSM_LOG_VERBOSE = 0x04,
	OSM_LOG_DEBUG = 0x08
};

enum osm_sweep_kind {
	OSM_SWEEP_LIGHT,
	OSM_SWEEP_HEAVY,
	OSM_SWEEP_REROUTE
};

#define OSM_MAD_DATA 232

/*
 * A request by a general management packet and its answer. Classes 0x01, 0x81 (SM) and 0x03 (SA)
 * are refused: the daemon speaks these itself.
 */
struct osm_mad {
	uint32_t size;
	uint32_t modifier;
	uint16_t lid;
	uint16_t attribute;
	uint8_t mgmt_class, class_version, method;
	uint8_t retries; /* after the first try */
	uint32_t timeout_ms; /* of the first try; 0: as configured */
	uint8_t data[OSM_MAD_DATA]; /* after the header of 24 octets; then that of the answer */
	uint32_t result;	    /* enum osm_result */
	uint16_t status;	    /* of the answer */
	uint16_t reserved;
	uint32_t length; /* octets of the answer after its header: more than data by RMPP, is cut */
};

struct osm_snapshot_handle;

/*
 * The daemon, as the plug-in sees it; valid until destroy() has returned. Every function may be
 * called by any thread of the plug-in, and waits for its result.
 */
struct osm_host {
	uint32_t size;
	uint32_t abi;	     /* OSM_PLUGIN_ABI of the daemon */
	const char *version; /* of the daemon, for messages */
	const char *options; /* event_plugin_options as it is; never NULL */
	/* The part of it between the name of this plug-in and that of the next one; all of it if
	 * the name does not occur. */
	const char *own_options;
	void *data; /* private */

	/* A line in the daemon's log, with the name of the plug-in; at most 1000 octets. Of more
	 * than 500 lines at once, and ten a second after that, the others are dropped. */
	void (*log)(const struct osm_host *host, enum osm_log_level level, const char *format, ...)
		OSM_PRINTF(3, 4);
	/*
	 * The subnet as it was published last, with at least these parts (bits of enum osm_part).
	 * NULL, and *result if it is not NULL: there is none yet, as long as the SM is not MASTER,
	 * or it cannot be had.
	 */
	const struct osm_snapshot *(*snapshot)(const struct osm_host *host, uint32_t parts,
					       enum osm_result *result);
	void (*snapshot_free)(const struct osm_host *host, const struct osm_snapshot *snapshot);
	/*
	 * A command as opensmctl knows it ("status", "status --json"): what it prints is put into
	 * *answer, even if it fails, and has to be given to text_free(). answer may be NULL.
	 */
	enum osm_result (*command)(const struct osm_host *host, const char *line, char **answer);
	/* The value of an option in effect, as in opensm.conf. */
	enum osm_result (*option)(const struct osm_host *host, const char *name, char **value);
	void (*text_free)(const struct osm_host *host, char *text);
	/* Asks for a sweep; returns when the request is taken, which may be up to a second later,
	 * as the daemon takes one a second from a plug-in. */
	enum osm_result (*sweep)(const struct osm_host *host, enum osm_sweep_kind kind);
	/*
	 * Sends n requests through the daemon's window for such MADs, as many at once as that and
	 * the limit of a LID allow, and waits until each has its result. Returns OSM_OK if all were
	 * sent, whatever their results.
	 */
	enum osm_result (*mads)(const struct osm_host *host, struct osm_mad *mads, uint32_t n);
	/* Asks the daemon to unload the plug-in: on_event() is not called after this returns. */
	void (*leave)(const struct osm_host *host);
};

/* ==== routing engines ==== */

enum osm_promise {
	OSM_ROUTE_DEADLOCK_FREE = 1 << 0, /* the channel dependencies on each VL have no cycle */
	OSM_ROUTE_SHORTEST = 1 << 1	  /* between hosts no path is longer than necessary */
};

#define OSM_ROUTE_NO_PORT 0xFF /* an entry: discard */
#define OSM_ROUTE_NO_SL 0xFF   /* two switches have no path that closes no loop */

/* A switch; its ports are ports[first_port + k], port 0 included. */
struct osm_route_switch {
	uint64_t guid, system_guid;
	uint32_t first_port;
	uint32_t name; /* in names */
	uint16_t lid;  /* base LID of port 0; 0: none */
	uint16_t linear_fdb_cap; /* it forwards LIDs below this; 0: all */
	uint8_t n_ports, lmc;
	uint8_t fixed; /* 1: it does not answer, and keeps its old entries whatever is computed */
	uint8_t reserved;
};

/* A port of a switch. */
struct osm_route_port {
	uint32_t sw;	  /* the switch at the other end, or OSM_NONE */
	uint32_t endport; /* the endport at the other end, or OSM_NONE */
	uint32_t rate;	  /* of the link in Mb/s; 0: it is down */
	uint8_t port;	  /* of that switch */
	uint8_t vls;	  /* data VLs of the link */
	uint8_t throttled; /* 1: it runs below what both ends support */
	uint8_t reserved;
};

/* Cables to one neighbour: a row of the graph in compressed form. */
struct osm_route_edge {
	uint32_t to;
	uint32_t first_link; /* in links: exit ports, ascending */
	uint32_t n_links;
};

/* A port of a channel adapter or router that has LIDs: lid to lid + 2^lmc - 1. */
struct osm_route_endport {
	uint64_t guid, node_guid;
	uint32_t sw;	/* where it is attached, or OSM_NONE */
	uint32_t demand_class;
	uint16_t lid;
	uint8_t exit; /* port of that switch */
	uint8_t lmc;
	uint8_t router; /* 1: of a router */
	uint8_t reserved[3];
};

struct osm_route_input {
	uint32_t size;
	uint32_t sm_switch; /* where the SM is attached, or OSM_NONE */
	uint64_t generation;
	uint32_t top;	 /* the highest LID in use */
	uint32_t stride; /* octets of a row of a table: more than top */
	uint32_t vls;	 /* data VLs that may be used */
	uint32_t n_classes; /* at least 1 */
	/* [from * n_classes + to]: 1 if endports of these classes send to each other, by the
	 * partitions; NULL: all send to all. Other paths are needed too, but are not load. */
	const uint8_t *sends;
	const uint8_t *old;  /* [switch * stride + LID]: what is in use now; NULL: not known */
	const char *names;   /* texts, as in a snapshot */
	const uint8_t *links;
	struct osm_list switches; /* struct osm_route_switch */
	struct osm_list ports;	  /* struct osm_route_port */
	struct osm_list first_edge; /* uint32_t, [n + 1]: of a switch, in edges */
	struct osm_list edges;	    /* struct osm_route_edge */
	struct osm_list endports;   /* struct osm_route_endport */
	const char *options;	    /* event_plugin_options: the own part */
	void *data;		    /* private */
	/* Whether the result is not wanted any more: return as soon as possible. */
	int (*is_cancelled)(const struct osm_route_input *input);
};

static inline const struct osm_route_switch *osm_route_switch(const struct osm_route_input *input,
							      uint32_t i)
{
	return OSM_CAST(const struct osm_route_switch *, osm_at(&input->switches, i));
}

static inline const struct osm_route_port *osm_route_port(const struct osm_route_input *input,
							  uint32_t sw, uint8_t num)
{
	uint32_t first = osm_route_switch(input, sw)->first_port;

	return OSM_CAST(const struct osm_route_port *, osm_at(&input->ports, first + num));
}

static inline const struct osm_route_edge *osm_route_edge(const struct osm_route_input *input,
							  uint32_t i)
{
	return OSM_CAST(const struct osm_route_edge *, osm_at(&input->edges, i));
}

static inline uint32_t osm_route_first_edge(const struct osm_route_input *input, uint32_t sw)
{
	return *OSM_CAST(const uint32_t *, osm_at(&input->first_edge, sw));
}

static inline const struct osm_route_endport *
osm_route_endport(const struct osm_route_input *input, uint32_t i)
{
	return OSM_CAST(const struct osm_route_endport *, osm_at(&input->endports, i));
}

/* To be filled in; all of it is zero but lft, which discards everything, and vl. */
struct osm_route_output {
	uint32_t size;
	uint32_t promises; /* bits of enum osm_promise */
	uint32_t stride;   /* as of the input */
	uint32_t has_sls;  /* 1: sl counts; 0: all paths use SL 0 and VL 0 */
	uint8_t *lft;	   /* [switch * stride + LID]: exit port */
	/*
	 * [from * n + to], by switch: the SL of paths between their endports. Both directions are
	 * one SL, as answers use that of the question.
	 */
	uint8_t *sl;
	uint8_t vl[16]; /* [SL]: VL on links between switches */
	/*
	 * With has_turns: the VL depends on the ports by which a packet comes and goes. Ports are
	 * numbered as in the input: turns[(first_turn of the switch) + in * (n_ports + 1) + out],
	 * 4 bits for each SL, from the lowest; first_turn is the sum of (n_ports + 1)^2 of the
	 * switches before.
	 */
	uint64_t *turns;
	uint32_t has_turns;
	uint32_t has_order;
	/*
	 * [switch], with has_order: its place in an order by which paths go first to lower places
	 * (up), then to higher ones (down). Multicast trees follow it, so that they close no loop
	 * with the paths.
	 */
	uint32_t *order;
	char note[400]; /* for the operator: in the log and in status; or why it failed */
};

struct osm_engine {
	uint32_t size;
	uint32_t reserved;
	const char *name;    /* for routing_engine: letters, digits, "-" and "_" */
	const char *summary; /* a line for people */
	/*
	 * Computes tables on a thread of its own. 0: they are made; otherwise they cannot be, and
	 * the next engine of the list is tried. Whatever it returns is checked before it is used:
	 * that every LID is reached from everywhere, without a loop, and what it promises.
	 */
	int (*route)(void *context, const struct osm_route_input *input,
		     struct osm_route_output *output);
};

/* ==== the plug-in ==== */

struct osm_plugin {
	uint32_t size;	     /* sizeof(struct osm_plugin) */
	uint32_t abi;	     /* OSM_PLUGIN_ABI */
	const char *name;    /* for the log and for commands; that of event_plugin_name counts */
	const char *version; /* of the plug-in, for people */
	uint64_t events;     /* OSM_EVENT_BIT() of those that on_event() is to be called for */
	/* Returns the context, which is not NULL; NULL: it failed, and has logged why. */
	void *(*create)(const struct osm_host *host);
	/* The last call; no thread of the plug-in may run after it returns. */
	void (*destroy)(void *context);
	/* One after the other, in the order of events, on a thread of its own. May be NULL. */
	void (*on_event)(void *context, const struct osm_event *event);
	const struct osm_engine *const *engines; /* NULL-terminated; NULL: none */
};

/* What every plug-in exports. */
const struct osm_plugin *osm_plugin_v1(void);

#ifdef __cplusplus
}
#endif

#endif

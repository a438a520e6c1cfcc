// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Nodes and cables before they are simulated: the result of files and generators. */
#ifndef SIM_TOPOLOGY_H
#define SIM_TOPOLOGY_H

#include "vendor/sim.h"

#define TOPOLOGY_PORTS_MAX 254
#define TOPOLOGY_NODES_MAX 200000
#define TOPOLOGY_ERROR g_quark_from_static_string("topology-error")

enum topology_error {
	TOPOLOGY_ERROR_FILE,	/* cannot be read or written */
	TOPOLOGY_ERROR_SYNTAX,	/* a line or spec that cannot be parsed */
	TOPOLOGY_ERROR_CONTENT, /* parsed, but contradicts itself */
};

/* Link speeds in order of rate. */
enum topology_speed {
	TOPOLOGY_SDR,
	TOPOLOGY_DDR,
	TOPOLOGY_QDR,
	TOPOLOGY_FDR10,
	TOPOLOGY_FDR,
	TOPOLOGY_EDR,
	TOPOLOGY_HDR,
	TOPOLOGY_NDR,
	TOPOLOGY_XDR,
	TOPOLOGY_SPEEDS,
};

struct topology_port {
	uint64_t guid; /* of an end port or switch port 0; 0 of other switch ports */
	int32_t peer;  /* node at the other end of the cable, or -1 */
	uint8_t peer_port;
	uint8_t lanes; /* 1, 2, 4, 8 or 12 */
	uint8_t speed; /* enum topology_speed */
};

struct topology_node {
	uint8_t type; /* IBA_NODE_CA .. */
	uint8_t num_ports;
	uint32_t vendor_id, device_id;
	uint64_t node_guid, system_image_guid;
	size_t first;	   /* index of its port 0 in ports */
	char *id;	   /* name in cable descriptions */
	char *description; /* at most 64 octets */
};

struct topology {
	GArray *nodes; /* struct topology_node */
	GArray *ports; /* struct topology_port: 0 .. num_ports of each node */
	unsigned int hosts, switches;
};

extern const char *const topology_speed_names[TOPOLOGY_SPEEDS]; /* "SDR" .. */

struct topology *topology_new(void);
/* Adds a node without cables and port GUIDs; 1 <= num_ports <= 254. Returns its index. */
unsigned int topology_add(struct topology *topology, uint8_t type, unsigned int num_ports,
			  const char *id, const char *description, uint64_t node_guid);
/* Gives each end port without a GUID one derived from the node GUID. */
void topology_default_port_guids(struct topology *topology, unsigned int node);
/* Plugs a cable between two free ports; its width and speed are those of port a. */
void topology_connect(struct topology *topology, unsigned int node_a, unsigned int port_a,
		      unsigned int node_b, unsigned int port_b);

static inline struct topology_node *topology_node(const struct topology *topology,
						  unsigned int node)
{
	return &g_array_index(topology->nodes, struct topology_node, node);
}

static inline struct topology_port *topology_port(const struct topology *topology,
						  unsigned int node, unsigned int port)
{
	return &g_array_index(topology->ports, struct topology_port,
			      topology_node(topology, node)->first + port);
}

/* NULL without error if spec does not have the form of any generator. */
struct topology *topology_generate(const char *spec, GError **error);
struct topology *topology_read(const char *file, GError **error);

#endif

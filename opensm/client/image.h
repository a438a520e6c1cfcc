// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An image of the fabric: what the daemon knows of nodes, ports and counters at one moment, in one
 * file in memory that the command "image descriptor" hands to programs on this host. The file is
 * sealed: it cannot change, so it is mapped and not copied.
 *
 *	header, columns, nodes, ports, counters, names; each begins at a multiple of 8
 *
 * Numbers are in the byte order of the host, which `order` tells. Nodes are in the order of their
 * GUIDs. The ports of a node are port 1 to its last one, side by side, and the nodes have their
 * ports in the order of the nodes, so that each port belongs to exactly one node. Port 0 of a
 * switch has no row. A cable is two ports that are each other's peer.
 *
 * image_check() trusts nothing: what it accepts can be read by the inline functions below without
 * further checks. A change of the format changes IMAGE_VERSION.
 */
#ifndef CLIENT_IMAGE_H
#define CLIENT_IMAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define IMAGE_MAGIC "OSMIMAGE"
#define IMAGE_VERSION 1
#define IMAGE_ORDER 0x01020304u
#define IMAGE_NONE UINT32_MAX
#define IMAGE_COLUMNS_MAX 32
#define IMAGE_LEVELS_MAX 64
#define IMAGE_NAME_MAX 1024 /* octets */

struct image_header {
	char magic[8];
	uint32_t version, order;
	uint64_t octets;     /* of the whole file */
	uint64_t run;	     /* of the daemon: another number after each start */
	uint64_t serial;     /* of the image; incremented within a run */
	uint64_t generation; /* of the subnet; 0: there is none yet */
	uint64_t counters;   /* number of the sweep of counters; 0: none was read */
	int64_t made_us;     /* since 1970, as counters_us */
	int64_t counters_us; /* end of the sweep of counters */
	uint64_t window_us;  /* the time that rates are about; 0: rates are not known */
	uint64_t sm_guid;    /* of the port of the SM */
	uint32_t n_nodes, n_ports, n_columns;
	uint32_t levels; /* the highest level of a node, and 1 */
	uint64_t columns_at, nodes_at, ports_at, counters_at; /* offsets in the file */
	uint64_t names_at, names_octets;
};

enum image_kind { IMAGE_ERRORS, IMAGE_WAIT, IMAGE_OCTETS, IMAGE_PACKETS, IMAGE_KINDS };

/* A counter that each port may have. */
struct image_column {
	uint32_t name; /* as IBA writes it; offset in the names */
	uint32_t kind; /* enum image_kind: its unit. IMAGE_WAIT: ticks */
};

enum image_type { IMAGE_HOST = 1, IMAGE_SWITCH, IMAGE_ROUTER };

enum image_node_flag {
	IMAGE_NODE_SILENT = 1 << 0,    /* it does not answer; what is shown dates from before */
	IMAGE_NODE_UNHEALTHY = 1 << 1, /* the SM has acted against it */
	IMAGE_NODE_SM = 1 << 2,	       /* the SM runs here */
	IMAGE_NODE_FLAGS = 1 << 3,     /* all flags are below */
};

struct image_node {
	uint64_t guid, system_guid;
	uint32_t name; /* offset in the names */
	uint32_t first_port;
	uint16_t n_ports;
	uint16_t lid;  /* of a switch, or of the first port that has one; 0: none */
	uint8_t type;  /* enum image_type */
	uint8_t level; /* 0: not a switch; 1: the lowest, which have hosts; then upwards */
	uint8_t flags;
	uint8_t alarm; /* the most severe about the node or a port: enum image_alarm */
};

enum image_alarm { IMAGE_QUIET, IMAGE_INFO, IMAGE_WARNING, IMAGE_ALARM, IMAGE_ALARMS };

enum image_port_flag {
	IMAGE_PORT_KNOWN = 1 << 0,     /* its PortInfo was read; else all but num is 0 */
	IMAGE_PORT_SLOW = 1 << 1,      /* slower or narrower than both ends could be */
	IMAGE_PORT_UNHEALTHY = 1 << 2, /* `condition` says why */
	IMAGE_PORT_LOOPBACK = 1 << 3,  /* its cable leads back to itself */
	IMAGE_PORT_SILENT = 1 << 4,    /* its link is up, but what is at the other end is unknown */
	IMAGE_PORT_READ = 1 << 5,      /* its counters were read in the last sweep */
	IMAGE_PORT_RATES = 1 << 6,     /* its rates are known; else they are 0 */
	/*
	 * Its link is down, but a sweep of counters, of those that the daemon keeps in memory, saw
	 * it up; peer is what was at the other end then, unless that has left the subnet.
	 */
	IMAGE_PORT_LOST = 1 << 7,
	IMAGE_PORT_FLAGS = 1 << 8, /* all flags are below */
};

struct image_port {
	uint64_t guid; /* of a port of a host or router; 0: of a switch, or unknown */
	uint32_t node;
	uint32_t peer;	    /* IMAGE_NONE: none, or unknown */
	uint32_t have;	    /* bits of columns that the port has */
	uint32_t at_least;  /* bits of columns: more may have been counted */
	uint32_t rate;	    /* Mb/s on the wire; 0: the link is down, or it is unknown */
	uint32_t best_rate; /* Mb/s that both ends support; 0: unknown */
	uint32_t mtu;	    /* octets that both ends support; 0: unknown */
	uint16_t lid;	    /* of a port of a host or router */
	uint16_t condition; /* of an unhealthy port: a word; offset in the names; 0: healthy */
	uint8_t num;
	uint8_t state;	     /* PortState: 1 down, 2 initialize, 3 armed, 4 active; 0 unknown */
	uint8_t physical;    /* PortPhysicalState; 0 unknown */
	uint8_t lanes;	     /* of the link: 1, 2, 4, 8, 12; 0: it is down, or unknown */
	uint8_t best_lanes;  /* that both ends support; 0: unknown */
	uint8_t alarm;	     /* the most severe: enum image_alarm */
	uint16_t flags;	     /* bits of enum image_port_flag */
	float load[2];	     /* sent, received: share of what the link can carry, 0 to 1 */
	float octets_s[2];   /* sent, received: a second */
	float packets_s[2];  /* sent, received: a second */
	float wait;	     /* share of the time in which it could not send, 0 to 1 */
	float errors_minute; /* of all columns of IMAGE_ERRORS */
};

/* An image that was checked. */
struct image {
	const struct image_header *header;
	const struct image_column *columns;
	const struct image_node *nodes;
	const struct image_port *ports;
	const uint64_t *counters; /* [port * n_columns + column]: totals */
	const char *names;
	void *map; /* NULL: the octets belong to the caller */
};

/*
 * Looks at the octets, which begin at a multiple of 8 and must live as long as the image. False and
 * error if anything in them is not as described above.
 */
bool image_check(struct image *image, const void *octets, size_t n, GError **error);
/* Maps a sealed file, which remains the caller's. False and error if it is not an image. */
bool image_map(struct image *image, int file, GError **error);
void image_unmap(struct image *image);

static inline const char *image_name(const struct image *image, uint32_t offset)
{
	return image->names + offset;
}

static inline const struct image_node *image_node_of(const struct image *image, uint32_t port)
{
	return &image->nodes[image->ports[port].node];
}

static inline uint64_t image_counter(const struct image *image, uint32_t port, uint32_t column)
{
	return image->counters[(size_t)port * image->header->n_columns + column];
}

/* The node with that GUID, or IMAGE_NONE. */
uint32_t image_find(const struct image *image, uint64_t guid);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Images: the counters of all ports after one sweep of the performance manager. An image, its
 * layout and the list of images are immutable and reference counted; the actor "perf" makes them,
 * readers take the list from context->perf_images and never cause a MAD.
 *
 * A row is a port. Rows are grouped by node, nodes are in the order of their GUIDs, and the ports
 * of a node ascend. Images of the same ports share one layout.
 */
#ifndef PERF_IMAGE_H
#define PERF_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"

#define PERF_NONE UINT32_MAX

enum perf_kind { PERF_ERROR, PERF_WAIT, PERF_DATA, PERF_PACKETS };

enum perf_counter {
#define PERF_COUNTER(name, field, width, select, kind, iba, dump, machine, number) PERF_##name,
#define PERF_WIDE_COUNTER(name, field, iba, dump) PERF_##name,
#include "perf/image/counters.def"
	PERF_COUNTERS
};

enum perf_detail {
#define PERF_DETAIL(name, attribute, type, field, width, iba) PERF_DETAIL_##name,
#include "perf/image/details.def"
	PERF_DETAILS
};

/* What an agent can be asked for besides PortCounters and PortCountersExtended. */
enum perf_attribute {
	PERF_RCV_ERROR_DETAILS,
	PERF_XMIT_DISCARD_DETAILS,
	PERF_EXTENDED_SPEEDS,
	PERF_RCV_CON_CTRL,
	PERF_XMIT_CON_CTRL,
	PERF_ATTRIBUTES
};

struct perf_counter_info {
	const char *iba;     /* "PortXmitWait" */
	const char *dump;    /* the classic daemon's name; NULL: it does not know the counter */
	const char *machine; /* its name in the file for machines */
	const char *number;  /* of its log line about growth, "5431"; NULL: none */
	enum perf_kind kind;
	uint8_t width;	/* bits in PortCounters; 0: only in PortCountersExtended */
	uint8_t select; /* bit of CounterSelect; 16 and up: of CounterSelect2 */
};
extern const struct perf_counter_info perf_counter_info[PERF_COUNTERS];

struct perf_detail_info {
	const char *iba;
	enum perf_attribute attribute;
	uint8_t width;
};
extern const struct perf_detail_info perf_detail_info[PERF_DETAILS];

/* The counter with that name, IBA's or the classic daemon's, in any case of letters; -1: none. */
int perf_counter_find(const char *name);
int perf_detail_find(const char *name);

/* ---- which ports ---- */

struct perf_node {
	uint64_t guid;
	char *name;	    /* NodeDescription, printable, or as the site's map names it */
	char *description;  /* NodeDescription, printable */
	int64_t since_us;   /* since 1970: its totals began then */
	uint32_t first_row; /* of first_port */
	uint8_t type;	    /* IBA_NODE_CA .. */
	uint8_t first_port; /* 0: an enhanced port 0 counts too */
	uint8_t num_ports;
	bool active; /* false: it has left the subnet, and perfmgr_rm_nodes is FALSE */
};

struct perf_place {
	uint32_t node;	/* index in nodes */
	uint32_t peer;	/* row at the other end of its cable; PERF_NONE: none or unknown */
	uint16_t lid;	/* of the agent that was asked */
	uint8_t port;	/* port number */
	uint8_t rate;	/* SA rate code of the link; 0: it is down */
	uint8_t lanes;	/* of the link: 1, 2, 4, 8, 12; 0: it is down */
	uint8_t tick;	/* length of a tick of PortXmitWait: tick + 1 symbol times, 4 ns each */
	bool fec;	/* a link on which corrected symbols are normal: HDR and faster */
	bool extended;	/* an extended speed, FDR or faster: PortExtendedSpeedsCounters */
	bool to_switch; /* a switch is at the other end */
};

struct perf_layout {
	struct ref ref;
	uint32_t n_nodes, n_rows;
	struct perf_node *nodes;   /* by GUID */
	struct perf_place *places; /* by row */
};

struct perf_layout *perf_layout_ref(struct perf_layout *layout);
void perf_layout_unref(struct perf_layout *layout);
uint32_t perf_layout_node(const struct perf_layout *layout, uint64_t guid); /* or PERF_NONE */
/* The row of a port of the node with that GUID, or PERF_NONE. */
uint32_t perf_layout_row(const struct perf_layout *layout, uint64_t guid, uint8_t port);
/* For each row of to: the row of the same port in from, or PERF_NONE; g_free() it. */
uint32_t *perf_layout_map(const struct perf_layout *from, const struct perf_layout *to);
static inline const struct perf_node *perf_layout_node_of(const struct perf_layout *layout,
							  uint32_t row)
{
	return &layout->nodes[layout->places[row].node];
}

/* ---- what they counted ---- */

/* What happened to a row in the sweep of an image; 0: it was not asked. */
enum perf_flag {
	PERF_READ = 1 << 0,	     /* its counters were read */
	PERF_BASELINE = 1 << 1,	     /* for the first time: totals begin here */
	PERF_SILENT = 1 << 2,	     /* the agent did not answer */
	PERF_REFUSED = 1 << 3,	     /* the agent answered with an error, or with nonsense */
	PERF_RESET = 1 << 4,	     /* another program cleared counters since the reading before */
	PERF_CLEARED = 1 << 5,	     /* this manager cleared counters that were nearly full */
	PERF_SATURATED = 1 << 6,     /* a counter is at its maximum */
	PERF_RESTARTED = 1 << 7,     /* the device restarted since the reading before */
	PERF_DOWN = 1 << 8,	     /* not asked, as its link is down */
	PERF_NARROW = 1 << 9,	     /* its agent has no 64-bit counters of data */
	PERF_EVER = 1 << 10,	     /* it was read at least once: totals mean something */
	PERF_RESET_ERRORS = 1 << 11, /* with PERF_RESET: counters of errors or waiting fell */
	PERF_RESET_DATA = 1 << 12,   /* with PERF_RESET: counters of data or packets fell */
};

/* Totals of the details of a port for which some were read; from that reading on. */
struct perf_detail_row {
	uint32_t row;
	uint32_t have;	   /* bits of enum perf_detail: were read at least once */
	uint32_t at_least; /* bits of enum perf_detail, as perf_image.at_least */
	uint64_t read_ns;
	uint64_t total[PERF_DETAILS];
};

struct perf_image {
	struct ref ref;
	uint64_t id;	/* incremented with each image, from 1; kept over restarts */
	uint64_t after; /* missed and flags are of all images after this one; 0: of one sweep */
	uint64_t run;	/* 0: of this process; else of an earlier one, by whose clock
			   are the times in ns */
	uint64_t began_ns, ended_ns; /* runtime_now() */
	int64_t ended_us;	     /* since 1970 */
	/*
	 * By counter, then by detail: what all ports of switches have counted since this process
	 * began; it does not fall when one leaves. 0 in an image of an earlier process.
	 */
	uint64_t grown[PERF_COUNTERS + PERF_DETAILS];
	struct perf_layout *layout;
	uint64_t *total[PERF_COUNTERS]; /* [row]: counted since the first reading */
	uint64_t *read_ns;		/* [row]: when that was read; 0: never */
	uint32_t *at_least; /* [row], bits of enum perf_counter: more may have been counted than
			       total says */
	uint32_t *missed;   /* [row], bits of enum perf_counter: in this sweep */
	uint16_t *flags;    /* [row], bits of enum perf_flag */
	uint32_t *have;	    /* [row], bits of enum perf_counter: the port has such a counter */
	uint32_t n_details;
	struct perf_detail_row *details; /* by row; of links without FEC only those not all 0 */
};

/* All zeros, for the rows of layout (a reference is taken) and n_details details. */
struct perf_image *perf_image_new(struct perf_layout *layout, uint32_t n_details);
struct perf_image *perf_image_ref(struct perf_image *image);
void perf_image_unref(struct perf_image *image); /* NULL is fine */
/* NULL: none was read of that row. */
const struct perf_detail_row *perf_image_details(const struct perf_image *image, uint32_t row);
/* All columns of an image with the same layout. */
void perf_image_copy_columns(struct perf_image *to, const struct perf_image *from);
size_t perf_image_bytes(const struct perf_image *image);

/* An agent that redirects (IBA 13.5.2). */
struct perf_redirection {
	uint64_t guid; /* of the node */
	uint8_t port;  /* of a CA or router; 0: of a switch */
	uint16_t from_lid, lid;
	uint32_t qpn;
	uint16_t p_key, p_key_index;
};

struct perf_images {
	struct ref ref;
	unsigned int n;
	struct perf_image **images; /* oldest first */
	unsigned int n_redirections;
	struct perf_redirection *redirections; /* by GUID */
};

struct perf_images *perf_images_ref(struct perf_images *images);
void perf_images_unref(struct perf_images *images); /* NULL is fine */
static inline const struct perf_image *perf_images_last(const struct perf_images *images)
{
	return images && images->n ? images->images[images->n - 1] : NULL;
}

/* The other end of a cable: a row of that layout. */
struct perf_far {
	const struct perf_layout *layout;
	uint32_t row; /* PERF_NONE: it is unknown */
};
/*
 * The other end of the cable of a row of layout. A port whose link is down has none: then the one
 * that it had in the last of these images that knows one. images may be NULL.
 */
struct perf_far perf_images_far(const struct perf_images *images, const struct perf_layout *layout,
				uint32_t row);

#endif

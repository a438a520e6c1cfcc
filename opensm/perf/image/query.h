// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What images tell: how much was counted in a window of time, and what follows from it. Pure
 * functions on images (image.h), from memory or from the disk (image_file.h); any thread.
 *
 * A window is made by folding images, oldest first: the first is its start, the last its end, and
 * those between tell what was missed and where totals began again at 0. The time that belongs to a
 * count is the time between the first and the last reading of that port, not that between two
 * sweeps.
 */
#ifndef PERF_QUERY_H
#define PERF_QUERY_H

#include <glib.h>

#include "perf/image/image.h"

/* A column is a counter, or a detail behind all counters. Sets of columns are bits. */
#define PERF_COLUMNS ((unsigned int)PERF_COUNTERS + (unsigned int)PERF_DETAILS)
#define PERF_COLUMN_OF(detail) ((unsigned int)PERF_COUNTERS + (unsigned int)(detail))
#define PERF_BIT(column) (UINT64_C(1) << (column))
#define PERF_ALL_COUNTERS (PERF_BIT(PERF_COUNTERS) - 1)
#define PERF_ALL_COLUMNS (PERF_BIT(PERF_COLUMNS) - 1)

/* ---- rates of links ---- */

/*
 * Bits a second that packets can use of a link with that SA rate code; 0: unknown code. Up to QDR
 * and from 12X DDR down, a code counts the bits on the wire, of which 8b/10b leaves 4 of 5. FDR
 * codes are 14 Gb/s a lane for 14.0625 on the wire, of which 64 of 66 are left. From EDR on, codes
 * count what is left after coding and FEC. FDR10 has the code of QDR and carries a quarter more
 * than this says, so that it can be used to 125 %.
 */
double perf_payload_rate(uint8_t code);
/* Bits a second on the wire, of all lanes; 0: unknown. */
double perf_wire_rate(uint8_t code, uint8_t lanes);

/* ---- what can be asked for ---- */

enum perf_figure {
	PERF_COUNT,	  /* what was counted */
	PERF_RATE,	  /* that a second; octets for PERF_DATA */
	PERF_UTILIZATION, /* of PERF_DATA: share of what the link can carry */
	PERF_WAITING,	  /* of PERF_XMIT_WAIT: share of time in which the port could not send */
	/*
	 * Of PERF_DETAIL_FEC_CORRECTED_SYMBOLS: by bits on the wire. A symbol may have had several
	 * wrong bits, so that the true bit error rate is up to a few times higher.
	 */
	PERF_RAW_BER,
};

struct perf_value {
	enum perf_figure figure;
	unsigned int column;
};

/*
 * "PortXmitWait" and all names of counters and details are counts, with "/s" behind them rates;
 * XmitUtilisation, RcvUtilisation, XmitWaitShare and RawBER, which have other names too. Case is
 * ignored. False: no value has that name.
 */
bool perf_value_find(const char *name, struct perf_value *value);
/* g_free it. */
char *perf_value_name(struct perf_value value);

enum perf_measure_flag {
	PERF_UNKNOWN = 1 << 0,	 /* nothing can be said: read less than twice, or the port has no
				    such counter; all else is 0 */
	PERF_AT_LEAST = 1 << 1,	 /* more may have been counted */
	PERF_SINCE_NEW = 1 << 2, /* the port or counter was not there at the start of the window */
	PERF_OLD = 1 << 3, /* the port could not be read in the last sweep: the end is earlier */
	PERF_UNTIMED = 1 << 4, /* the time is not known, as a clock was set; ns is 0 */
	PERF_ABOVE = 1 << 5,   /* a share above 1, now 1: rate or length of ticks is wrong */
};

struct perf_measure {
	uint64_t count; /* of the column */
	uint64_t ns;	/* in this time */
	double value;	/* the figure */
	unsigned int flags;
};

/* ---- windows ---- */

struct perf_fold {
	uint64_t columns;
	unsigned int n_images;
	struct perf_layout *layout; /* of the last image; NULL: none yet */
	int64_t since_us, until_us; /* ends of the first and the last image */
	/* Of the last image: */
	uint64_t id, run, ended_ns;
	uint64_t *count[PERF_COLUMNS];	/* [row]; NULL: not asked for, as the next */
	uint64_t *total[PERF_COLUMNS];	/* [row]: at the last reading */
	uint64_t *known;		/* [row]: columns with a total */
	uint64_t *at_least, *since_new; /* [row]: columns */
	int64_t *read_ns[2];		/* [counters, details][row]: the last reading */
	uint64_t *ns[2];		/* [row]: from the first reading to the last */
	uint8_t *state;			/* [row]: private */
};

/* For these columns. */
struct perf_fold *perf_fold_new(uint64_t columns);
void perf_fold_free(struct perf_fold *fold);
/* Ends the window with this image. One of the same process that is not newer has no effect. */
void perf_fold_add(struct perf_fold *fold, const struct perf_image *image);
/*
 * The images in memory: the last one, and those before down to the first that ended at least ns
 * earlier. Returns false if that reaches further back than they do; they are all added then.
 */
bool perf_fold_add_ring(struct perf_fold *fold, const struct perf_images *images, uint64_t ns);

void perf_fold_measure(const struct perf_fold *fold, uint32_t row, struct perf_value value,
		       struct perf_measure *measure);

/* ---- the greatest ---- */

enum perf_scope {
	PERF_EVERY_PORT,
	PERF_SWITCH_LINKS, /* ports of switches with a switch at the other end */
	PERF_HOST_LINKS,   /* both ends of cables of hosts */
};
bool perf_in_scope(const struct perf_layout *layout, uint32_t row, enum perf_scope scope);

struct perf_top {
	uint32_t row;
	struct perf_measure measure;
};
/*
 * The n ports with the greatest value, greatest first, of those in scope and, unless only is NULL,
 * with only[row]; ports with 0 are none. Returns how many were found.
 */
unsigned int perf_fold_top(const struct perf_fold *fold, struct perf_value value,
			   enum perf_scope scope, const bool *only, struct perf_top *top,
			   unsigned int n);

/* ---- sums ---- */

/* One direction of several ports. */
struct perf_side {
	uint32_t ports;		    /* whose data were counted */
	uint32_t utilized;	    /* of these, with known utilization */
	double octets_s, packets_s; /* sums */
	double least, mean, most;   /* utilization */
	uint32_t tenths[10];	    /* ports by utilization: below 10 %, below 20 %, ... */
};
enum { PERF_SEND, PERF_RECEIVE };
enum { PERF_INTERNAL, PERF_EXTERNAL };

struct perf_sum {
	uint32_t ports, counted, old; /* all; read twice; not read in the last sweep */
	uint64_t count[PERF_COLUMNS];
	uint64_t at_least; /* columns of which more may have been counted */
	/*
	 * [whether the other end of the cable is in the group as well]. An external side sends what
	 * leaves the group, and receives what enters it. Needs the columns of data and packets.
	 */
	struct perf_side side[2][2];
};
/* only: as for perf_fold_top(). */
void perf_fold_sum(const struct perf_fold *fold, const bool *only, struct perf_sum *sum);

/* ---- cables ---- */

struct perf_cable {
	uint32_t row[2];
	struct perf_measure count[2][PERF_COLUMNS];
	/* [end]: what it sent a second less what the other received; NAN: not known. */
	double octets_s_lost[2], packets_s_lost[2];
};
/* Both ends of a cable; peer PERF_NONE: the other end is not in the layout, all of it is unknown.
 */
void perf_fold_cable(const struct perf_fold *fold, uint32_t row, uint32_t peer,
		     struct perf_cable *cable);

/* ---- the history of a port ---- */

struct perf_point {
	int64_t us;		     /* since 1970: the end */
	struct perf_measure measure; /* since the point before */
};

struct perf_series {
	struct perf_value value;
	GArray *points;		   /* struct perf_point, oldest first */
	struct perf_image *before; /* of one row; NULL: none */
};
void perf_series_init(struct perf_series *series, struct perf_value value);
void perf_series_clear(struct perf_series *series);
/* Adds a point; image: of one row, later than those before, or the last again (no effect). */
void perf_series_add(struct perf_series *series, struct perf_image *image);
/* Adds the points of all images that know the port. */
void perf_series_add_ring(struct perf_series *series, const struct perf_images *images,
			  uint64_t guid, uint8_t port);
/* An image of one row, which has no peer. */
struct perf_image *perf_image_slice(const struct perf_image *image, uint32_t row);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From readings to totals. Counters of devices stop at their maximum, any program may clear them,
 * and they begin at 0 when a device starts (IBA 16.1.3); totals never decrease, begin at the first
 * reading, and say where they are only a lower bound.
 *
 * A counter that is lower than before was cleared: what it has counted since is added, what it
 * counted between the reading before and the clearing is lost, so the total is a lower bound. The
 * same then holds for the other counters of that reading, which may have been cleared with it and
 * have grown again. A counter that another program cleared alone, and that is higher than before at
 * the next reading, cannot be told from one that grew.
 */
#ifndef PERF_ACCOUNT_H
#define PERF_ACCOUNT_H

#include <glib.h>

#include "perf/image/image.h"

/* What an answer, or several of one port, say. */
struct perf_reading {
	uint64_t value[PERF_COUNTERS];
	uint32_t have; /* bits of enum perf_counter: value is set */
	uint32_t wide; /* of those: has 64 bits */
};

/* The counters that PortCountersExtended of an agent with these CapabilityMasks has. */
uint32_t perf_wide_counters(uint16_t capability, uint32_t capability2);
/* Adds what is in PortCounters or PortCountersExtended: data is of an attribute of PM. */
void perf_read_narrow(struct perf_reading *reading, const uint8_t *data, uint16_t capability);
void perf_read_wide(struct perf_reading *reading, const uint8_t *data, uint16_t capability,
		    uint32_t capability2);
/* PortSelect of a counter attribute of PM. */
static inline uint8_t perf_port_select(const uint8_t *data)
{
	return data[1];
}

struct perf_detail_last {
	uint64_t value[PERF_DETAILS];
	uint32_t have, at_least;
	uint64_t read_ns;
	uint64_t total[PERF_DETAILS];
};

/* The present state of all rows. */
struct perf_accounts {
	struct perf_image *now;	       /* totals; flags and missed: of the sweep that runs */
	uint64_t *last[PERF_COUNTERS]; /* [row]: the counter itself at the last reading */
	uint32_t *wide;	     /* [row], bits of enum perf_counter: last is of a 64-bit counter */
	uint32_t *clearing;  /* [row]: counters that this manager asked to clear */
	uint32_t *seen;	     /* [row]: counters read in this sweep */
	uint8_t *moves;	     /* [row], bits of enum perf_move */
	GHashTable *details; /* row -> struct perf_detail_last */
	uint64_t grown[PERF_COUNTERS + PERF_DETAILS]; /* as in struct perf_image */
};

enum perf_move {
	PERF_MOVE_DOWN_READ = 1 << 0,	/* was read since its link went down */
	PERF_MOVE_ALL_FELL = 1 << 1,	/* in this sweep: all that had counted fell */
	PERF_MOVE_SOME = 1 << 2,	/* in this sweep: something had counted before */
	PERF_MOVE_LINK_DOWNED = 1 << 3, /* the other end of its cable has counted LinkDowned since
					   the agent was last read */
};

struct perf_accounts *perf_accounts_new(struct perf_layout *layout);
void perf_accounts_free(struct perf_accounts *accounts);
/* Rows of ports that the new layout has, too, keep what they have. */
void perf_accounts_move(struct perf_accounts *accounts, struct perf_layout *layout);
/* A new sweep begins: nothing has happened in it yet. */
void perf_accounts_begin(struct perf_accounts *accounts);

/* Takes a reading; returns the counters that grew. */
uint32_t perf_account(struct perf_accounts *accounts, uint32_t row,
		      const struct perf_reading *reading, uint64_t now_ns);
/* Narrow counters without a wide twin that are nearly full, bits of enum perf_counter. */
uint32_t perf_account_full(const struct perf_accounts *accounts, uint32_t row);
/* These were cleared by this manager, and have these values now. */
void perf_account_cleared(struct perf_accounts *accounts, uint32_t row, uint32_t counters,
			  const struct perf_reading *after);
/*
 * Takes details of one attribute. began_at_0: the counters of which they are parts were 0 at the
 * reading before, so they were 0, too.
 */
void perf_account_details(struct perf_accounts *accounts, uint32_t row,
			  enum perf_attribute attribute, const uint8_t *data, bool began_at_0,
			  uint64_t now_ns);
void perf_accounts_zero(struct perf_accounts *accounts); /* totals begin now */
/* The sweep has ended: a counter that its agent has no more, or did not tell, is a lower bound. */
void perf_accounts_end(struct perf_accounts *accounts);
/* An immutable copy of now. */
struct perf_image *perf_accounts_image(const struct perf_accounts *accounts);

#endif

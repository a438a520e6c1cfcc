// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the performance manager's rules find wrong at this moment: immutable and reference counted,
 * in context->perf_alarms; a new list is published, with EVENT_PERF_ALARMS, when an entry begins or
 * ends.
 */
#ifndef SUBNET_PERF_ALARMS_H
#define SUBNET_PERF_ALARMS_H

#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"

/* From the mildest to the most severe. */
enum perf_level {
	PERF_OFF, /* only in rules: do not judge */
	PERF_INFO,
	PERF_WARNING,
	PERF_ALARM,
	PERF_LEVELS
};

#define PERF_ALARMS_MAX 16384 /* in a list: the most severe are kept */

struct perf_alarm {
	uint64_t serial; /* incremented with each that begins, from 1; unique since the start */
	uint64_t guid;	 /* of the node */
	uint8_t port;
	uint8_t level;	   /* enum perf_level, but PERF_OFF */
	bool at_least;	   /* more may have been counted than measured says */
	/*
	 * Not 0: a rule asks for the condition "counters" of the unhealthy ports. The number is
	 * that of this request, from the same count as serials.
	 */
	uint64_t unhealthy;
	const char *value; /* static: "PortRcvErrors" */
	const char *unit;  /* static: "", " %"; goes behind measured and limit */
	double measured, limit; /* when it began */
	uint32_t window_s;
	uint64_t since_ns;	/* runtime_now() */
	char *where;		/* "port 3 of 'leaf-1' (0x..)" */
	char *cause;		/* a sentence without its final stop; NULL: unknown */
	const char *cause_word; /* static: "congestion"; NULL: unknown */
	uint64_t cause_guid;	/* of the node at fault if that is another one; 0: it is not */
	uint8_t cause_port;
};

struct perf_alarms {
	struct ref ref;
	uint64_t last_serial;	     /* of all that began, and all requests, so far */
	uint32_t count[PERF_LEVELS]; /* by level, including those left out */
	uint32_t n;		     /* in all */
	struct perf_alarm *all; /* by level, the most severe first, then by GUID, port, value */
};

/* n entries to be filled in, all zeros. */
struct perf_alarms *perf_alarms_new(uint32_t n);
struct perf_alarms *perf_alarms_ref(struct perf_alarms *alarms);
void perf_alarms_unref(struct perf_alarms *alarms); /* NULL is fine */
/* The entry with that serial number, or NULL; alarms may be NULL. */
const struct perf_alarm *perf_alarms_find(const struct perf_alarms *alarms, uint64_t serial);

const char *perf_level_word(unsigned int level); /* "alarm" */
int perf_level_find(const char *word);		 /* -1: unknown word */
/* A measured value or a limit with its unit: "12", "1e-06", "94.9 %"; g_free() it. */
char *perf_alarm_number(const struct perf_alarm *alarm, double number);
/*
 * "alarm: port 3 of ..: PortRcvErrors was 12 within 300 s (limit 5): its cause"; g_free() it.
 */
char *perf_alarm_text(const struct perf_alarm *alarm);

#endif

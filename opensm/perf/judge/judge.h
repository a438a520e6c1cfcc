// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Judges what ports counted by rules: input are images, output are events. No MADs, no clock, no
 * log.
 *
 *	            limit reached within the window
 *	  counting ---------------------------------> standing: an event, an entry in the list
 *	           <---------------------------------
 *	            below clear for clear_s: an event
 *
 * Of the rules for one value, only the worst that stands at a port is in the list. An event is the
 * rise or fall of a value's level at a port; other windows of the same level do not make one.
 *
 * A reading is counted when it was made. If readings are further apart than the window, the part is
 * counted that must have happened within one window.
 *
 * An agent that does not answer neither begins nor ends anything: totals show later what happened.
 * Links that are down, and nodes that are gone, count nothing.
 *
 * Not judged: the first reading of a port; its link going down if a device at one of its ends was
 * restarted or is gone, or the SM or the operator took it down (at most EXCUSED_DOWNS each time),
 *and then the errors of a link that comes up.
 */
#ifndef PERF_JUDGE_H
#define PERF_JUDGE_H

#include "perf/image/image.h"
#include "perf/judge/perf_rules.h"
#include "subnet/perf_alarms.h"

/* Why one ended. */
enum perf_end { PERF_END_CLEAR, PERF_END_UNUSED, PERF_END_GONE, PERF_END_NO_RULE };

struct perf_event {
	uint64_t when_ns;
	bool began; /* else it ended */
	enum perf_end why;
	uint16_t value;	 /* enum perf_rule_value */
	uint8_t level;	 /* enum perf_level that is left when it ended; PERF_OFF: none stands */
	double measured; /* at that time */
	struct perf_alarm *alarm; /* its serial, rule, port and cause; owned */
};

/* Ports that the SM or the operator keeps down, which is not a fault. */
struct perf_held {
	unsigned int n;
	const struct perf_rule_member *ports; /* by GUID, then port */
};

struct perf_judge;

struct perf_judge *perf_judge_new(void);
void perf_judge_free(struct perf_judge *judge); /* NULL is fine */

/*
 * Judges what was counted between the last two of these images; those before help to find causes.
 * Returns the events, the worst first, to be unreferenced. If the rules are others than before,
 * those that are unchanged go on counting. held may be NULL.
 */
GPtrArray *perf_judge_sweep(struct perf_judge *judge, struct perf_rules *rules,
			    const struct perf_images *images, const struct perf_held *held,
			    uint64_t now_ns);
void perf_judge_forget(struct perf_judge *judge); /* all that was counted, without events */
/* The worst that stands of each value at each port. */
struct perf_alarms *perf_judge_alarms(const struct perf_judge *judge);
/* What is being counted, of how many octets; and how much was not, for want of room. */
unsigned int perf_judge_states(const struct perf_judge *judge, size_t *bytes);
uint64_t perf_judge_left_out(const struct perf_judge *judge);

/* "alarm began: ..", "alarm ended: ..: why"; g_free() it. */
char *perf_event_text(const struct perf_event *event);

#endif

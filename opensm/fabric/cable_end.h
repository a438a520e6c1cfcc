// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One end of a cable: what is known of the device at the other end. A sweep finds that out by a
 * probe, which is a Get(NodeInfo) through the port; a probe from the other end may find the same
 * cable. sm/discover/cables.c decides which device is accepted, and the ports are joined then.
 *
 * The state is the result of the last probe. It lasts until something else is learned:
 *
 *	           ACCEPTED
 *	        ------------->        UNSURE
 *	UNKNOWN                KNOWN ----------> UNSURE      the device that answers has its port
 *	 ^ ^ ^  <-------------   ^                 |         down, as last read
 *	 | | |     UNLINKED      +-----------------+
 *	 | | |                        ACCEPTED
 *	 | | |  ANSWERED
 *	 | | +----------- NO_ANSWER, EXCLUDED, LOOPBACK      by the event of that name, in any state
 *	 | |    READ
 *	 | +------------- LOST                               by LOST, in any state: the other end
 *	 |                                                   reports that the link is down
 *	 +--------------- any                                by DOWN: the port was read, and is down
 *
 * Marks tell what the running sweep has done; those of an earlier sweep do not count. ASKED and
 * SEEN are cleared by whatever shows that the cable may have been another one (STALE, UNLINKED,
 * DOWN); CONTESTED and FELL stay to the end of the sweep.
 */
#ifndef FABRIC_CABLE_END_H
#define FABRIC_CABLE_END_H

#include <stdbool.h>
#include <stdint.h>

struct builder_port;

enum cable_state {
	CABLE_UNKNOWN,
	CABLE_KNOWN,	 /* a device answered and was accepted */
	CABLE_UNSURE,	 /* a device answered whose port is down, as last read: probed once more */
	CABLE_NO_ANSWER, /* the last probe of the cable, or the port, got no answer */
	CABLE_EXCLUDED,	 /* the device there must not be used */
	CABLE_LOOPBACK,	 /* connected to itself: it has a loopback plug */
	CABLE_LOST,	 /* only the other end has shown that the link is down */
	CABLE_STATES
};

/* Of the running sweep. */
enum cable_mark {
	CABLE_ASKED = 1,     /* it has probed the other end, or knows what a probe would tell */
	CABLE_SEEN = 2,	     /* it has seen the cable */
	CABLE_CONTESTED = 4, /* the other end was found, or is checked, at two cables */
	CABLE_FELL = 8,	     /* the link was found to have gone down */
};

enum cable_event {
#define EVENT(name, ...) CABLE_EVENT_##name,
#include "fabric/cable_end.def"
#undef EVENT
	CABLE_EVENTS
};

struct cable_end {
	struct builder_port *far_end; /* that answered the last probe; NULL: none has yet */
	uint64_t sweep;		      /* that made the marks */
	uint8_t state;		      /* enum cable_state */
	uint8_t marks;		      /* enum cable_mark */
	uint8_t rejected; /* answers in a row from a device that was not accepted, up to a limit */
};

void cable_end_event(struct cable_end *end, enum cable_event event, uint64_t sweep);

/* The marks that count in this sweep. */
static inline unsigned int cable_end_marks(const struct cable_end *end, uint64_t sweep)
{
	return end->sweep == sweep ? end->marks : 0;
}

/* No device behind the port answers, or none that may be used. */
static inline bool cable_end_is_silent(const struct cable_end *end)
{
	return end->state >= CABLE_NO_ANSWER && end->state <= CABLE_LOOPBACK;
}

#endif

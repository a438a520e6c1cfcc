// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A feed: the events that wait for one plug-in, in the order of the happenings. Its size is
 * bounded, as a plug-in may be slow or hang. Entries are events, or series that make their events
 * when these are taken: how far all counters grew is one entry, whatever the number of ports.
 *
 * If a feed is full, the oldest series of counters is dropped first, then the oldest series of
 * tables, then the oldest of all others. OSM_EVENT_LOST takes the place of what was dropped, and
 * says how much it was. All on the daemon's actor "main".
 */
#ifndef CTL_FEED_FEED_H
#define CTL_FEED_FEED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "complib/handoff.h"
#include "opensm/plugin.h"
#include "plugin/base/event_record.h"

#define FEED_ENTRIES 4096u     /* that wait, a series being one */
#define FEED_OCTETS (4u << 20) /* of events that wait, but those of series */
#define FEED_SERIES 16u	       /* that wait: each may hold two subnets, or two images */
#define FEED_RECORD_MAX (sizeof(struct event_record) + EVENT_BODY_MAX + EVENT_TEXT_MAX)

/* When an event happened, and which subnet shows it: see struct osm_event. */
struct feed_moment {
	uint64_t time_ns;
	int64_t real_us;
	uint64_t generation;
};

/* An event. The body is one of the structs of plugin.h. */
struct feed_event {
	uint32_t id; /* enum osm_event_id */
	uint32_t body_octets;
	_Alignas(uint64_t) uint8_t body[EVENT_BODY_MAX];
	char text[EVENT_TEXT_MAX];
};

/* Sets the body of an event to a struct of that type, all zeros but its size. */
#define FEED_BODY(event, type) ((type *)feed_body((event), sizeof(type)))
void *feed_body(struct feed_event *event, uint32_t octets);
/* Sets the text, in UTF-8; it is cut between characters. */
void feed_text(struct feed_event *event, const char *text);

/* ---- series ---- */

/* From what is dropped first to what is dropped last. */
enum feed_rank {
	FEED_COUNTERS,
	FEED_TABLES,
	FEED_OTHERS, /* also of events that are not of a series */
};

/* How far a series was taken; all zero at its beginning. What the members mean is its own. */
struct feed_cursor {
	uint32_t at, within;
};

/* Immutable and reference counted: feeds share it. */
struct feed_series {
	struct ref ref;
	enum feed_rank rank;
	struct feed_moment moment;
	/*
	 * Makes the next of the events whose bits are set, and moves the cursor past it. False:
	 * nothing is left. event NULL: the event is not wanted, only whether there is one.
	 */
	bool (*next)(const struct feed_series *series, struct feed_cursor *cursor, uint64_t events,
		     struct feed_event *event);
	/*
	 * A series that has what both of these have, the second being of the same kind and newer;
	 * NULL: there is none. May be NULL.
	 */
	struct feed_series *(*join)(const struct feed_series *older,
				    const struct feed_series *newer);
	void (*free)(struct feed_series *series);
};

struct feed_series *feed_series_ref(struct feed_series *series);
void feed_series_unref(struct feed_series *series); /* NULL is fine */

/* ---- feeds ---- */

struct feed;

struct feed *feed_new(uint64_t events); /* bits of the events that are wanted */
void feed_free(struct feed *feed);	/* NULL is fine */
uint64_t feed_events(const struct feed *feed);
/* An event of whatever kind. Nothing happens if it is not wanted. */
void feed_push(struct feed *feed, const struct feed_moment *moment, const struct feed_event *event);
/*
 * A reference is taken. If the last series of that kind was not begun yet and can be joined with
 * this one, both become one, at this place.
 */
void feed_push_series(struct feed *feed, struct feed_series *series);
/* That many events were lost before they came to the feed. */
void feed_push_gap(struct feed *feed, const struct feed_moment *moment, uint64_t n);
/*
 * The last n events that were taken were lost on their way to the plug-in: OSM_EVENT_LOST comes
 * next. Their numbers are not given again. 0: only what the plug-in had made of those before was
 * lost, which counts as one event.
 */
void feed_lose(struct feed *feed, const struct feed_moment *moment, uint64_t n);
/*
 * Calls ready(arg) each time that the empty feed gets an entry, in the middle of that: the feed
 * must not be freed there. It may turn out that a series has no event.
 */
void feed_on_ready(struct feed *feed, void (*ready)(void *arg), void *arg);
/*
 * Takes events: fills octets, aligned to 8, with struct event_record, one after the other, as long
 * as there is room and n is below most. Returns octets; 0: the feed is empty. room is at least
 * FEED_RECORD_MAX.
 */
size_t feed_take(struct feed *feed, void *octets, size_t room, unsigned int *n, unsigned int most);

uint64_t feed_waiting(const struct feed *feed);	  /* entries, a series being one */
uint64_t feed_lost(const struct feed *feed);	  /* events that were dropped so far */
uint64_t feed_delivered(const struct feed *feed); /* that were taken, and not lost then */

#endif

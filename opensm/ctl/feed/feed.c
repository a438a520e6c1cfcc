// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue of entries: events as the records that they will be, series with a cursor, and gaps. Gaps
 * that come to lie side by side are joined, so there is at most one more of them than of the
 * others.
 *
 * Events are numbered when they are taken; a gap moves the number on by what it counts, but for
 * what was taken and lost after that.
 */
#include "ctl/feed/feed.h"

#include <inttypes.h>
#include <string.h>

struct entry {
	GList link;
	struct feed_series *series; /* NULL: it is a record or a gap */
	struct feed_cursor cursor;
	struct event_record *record; /* NULL: it is a series or a gap */
	uint64_t n_lost;	     /* of a gap */
	uint64_t n_numbered;	     /* of a gap: those of n_lost that have their numbers */
	struct feed_moment moment;   /* of a gap: when it began */
};

struct feed {
	uint64_t events;
	GQueue queue; /* of struct entry, by its link */
	unsigned int n_series, n_gaps;
	size_t octets; /* of records */
	uint64_t serial, lost, delivered;
	void (*ready)(void *arg);
	void *arg;
	struct feed_event made; /* the one that is being taken */
};

/* ---- events ---- */

void *feed_body(struct feed_event *event, uint32_t octets)
{
	event->body_octets = octets;
	memset(event->body, 0, octets);
	memcpy(event->body, &octets, sizeof(octets)); /* the first member */
	return event->body;
}

void feed_text(struct feed_event *event, const char *text)
{
	size_t length = strlen(text);

	if (length >= sizeof(event->text)) {
		length = sizeof(event->text) - 1;
		while (length && ((unsigned char)text[length] & 0xC0) == 0x80)
			length--;
	}
	memcpy(event->text, text, length);
	event->text[length] = '\0';
}

static uint32_t round_up(uint32_t octets)
{
	return (octets + 7) & ~7u;
}

/* The head of its record, without a serial number. */
static struct event_record record_of(const struct feed_moment *moment,
				     const struct feed_event *event)
{
	uint32_t body = round_up(event->body_octets), text = (uint32_t)strlen(event->text) + 1;

	return (struct event_record){
		.octets = (uint32_t)sizeof(struct event_record) + body + round_up(text),
		.id = event->id,
		.time_ns = moment->time_ns,
		.real_us = moment->real_us,
		.generation = moment->generation,
		.body_octets = body,
		.text_octets = text,
	};
}

/* Octets between its parts are 0. */
static void lay_out(void *to, const struct event_record *head, const struct feed_event *event)
{
	uint8_t *body = (uint8_t *)to + sizeof(*head), *text = body + head->body_octets;

	memset(to, 0, head->octets);
	memcpy(to, head, sizeof(*head));
	memcpy(body, event->body, event->body_octets);
	memcpy(text, event->text, head->text_octets);
}

/* ---- series ---- */

struct feed_series *feed_series_ref(struct feed_series *series)
{
	ref_get(&series->ref);
	return series;
}

void feed_series_unref(struct feed_series *series)
{
	if (series && ref_put(&series->ref))
		series->free(series);
}

/* ---- entries ---- */

static bool is_gap(const struct entry *entry)
{
	return !entry->series && !entry->record;
}

static bool is_begun(const struct entry *entry)
{
	return entry->cursor.at || entry->cursor.within;
}

static enum feed_rank rank_of(const struct entry *entry)
{
	return entry->series ? entry->series->rank : FEED_OTHERS;
}

static struct entry *add_entry(struct feed *feed)
{
	struct entry *entry = g_new0(struct entry, 1);

	entry->link.data = entry;
	g_queue_push_tail_link(&feed->queue, &entry->link);
	return entry;
}

/* The entry becomes an empty gap. */
static void empty(struct feed *feed, struct entry *entry)
{
	if (entry->record)
		feed->octets -= entry->record->octets;
	feed->n_series -= entry->series != NULL;
	feed->n_gaps++;
	g_clear_pointer(&entry->record, g_free);
	g_clear_pointer(&entry->series, feed_series_unref);
}

static void remove_entry(struct feed *feed, struct entry *entry)
{
	if (!is_gap(entry))
		empty(feed, entry);
	feed->n_gaps--;
	g_queue_unlink(&feed->queue, &entry->link);
	g_free(entry);
}

/* ---- limits ---- */

/* The later gap becomes part of the earlier one. */
static void join_gaps(struct feed *feed, GList *first, GList *second)
{
	struct entry *gap = first ? first->data : NULL, *next = second ? second->data : NULL;

	if (!gap || !next || !is_gap(gap) || !is_gap(next))
		return;
	gap->n_lost += next->n_lost;
	gap->n_numbered += next->n_numbered;
	remove_entry(feed, next);
}

static uint64_t count(const struct feed *feed, const struct entry *entry)
{
	struct feed_cursor cursor = entry->cursor;
	uint64_t n = 0;

	if (!entry->series)
		return 1;
	while (entry->series->next(entry->series, &cursor, feed->events, NULL))
		n++;
	return n;
}

/* Nothing is lost with a series that has no events any more. */
static void drop(struct feed *feed, struct entry *entry)
{
	GList *before = entry->link.prev;
	uint64_t n = count(feed, entry);

	if (!n) {
		GList *after = entry->link.next;

		remove_entry(feed, entry);
		join_gaps(feed, before, after);
		return;
	}
	if (entry->series)
		entry->moment = entry->series->moment;
	else
		entry->moment = (struct feed_moment){entry->record->time_ns, entry->record->real_us,
						     entry->record->generation};
	empty(feed, entry);
	entry->n_lost = n;
	feed->lost += n;
	join_gaps(feed, &entry->link, entry->link.next);
	join_gaps(feed, before, &entry->link);
}

static struct entry *find_to_drop(const struct feed *feed, bool only_series)
{
	struct entry *found = NULL;

	for (GList *l = feed->queue.head; l; l = l->next) {
		struct entry *entry = l->data;

		if (is_gap(entry) || (only_series && !entry->series))
			continue;
		if (!found || rank_of(entry) < rank_of(found))
			found = entry;
		if (!feed->n_series)
			break; /* all have the same rank */
	}
	return found;
}

static void keep_limits(struct feed *feed)
{
	while (feed->n_series > FEED_SERIES)
		drop(feed, find_to_drop(feed, true));
	while (feed_waiting(feed) > FEED_ENTRIES || feed->octets > FEED_OCTETS)
		drop(feed, find_to_drop(feed, false));
}

/* ---- feeds ---- */

struct feed *feed_new(uint64_t events)
{
	struct feed *feed = g_new0(struct feed, 1);

	feed->events = events;
	g_queue_init(&feed->queue);
	return feed;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	while (feed->queue.head)
		remove_entry(feed, feed->queue.head->data);
	g_free(feed);
}

uint64_t feed_events(const struct feed *feed)
{
	return feed->events;
}

static void tell_ready(struct feed *feed, bool was_empty)
{
	if (was_empty && feed->queue.length && feed->ready)
		feed->ready(feed->arg);
}

void feed_push(struct feed *feed, const struct feed_moment *moment, const struct feed_event *event)
{
	bool was_empty = !feed->queue.length;
	struct event_record head;
	struct entry *entry;

	if (!(feed->events & OSM_EVENT_BIT(event->id)))
		return;
	head = record_of(moment, event);
	entry = add_entry(feed);
	entry->record = g_malloc(head.octets);
	lay_out(entry->record, &head, event);
	feed->octets += head.octets;
	keep_limits(feed);
	tell_ready(feed, was_empty);
}

/* The last entry with such a series, if that can still be joined with the new one. */
static struct entry *find_to_join(const struct feed *feed, const struct feed_series *series)
{
	if (!series->join)
		return NULL;
	for (GList *l = feed->queue.tail; l; l = l->prev) {
		struct entry *entry = l->data;

		if (entry->series && entry->series->next == series->next)
			return is_begun(entry) ? NULL : entry;
	}
	return NULL;
}

void feed_push_series(struct feed *feed, struct feed_series *series)
{
	struct entry *older = find_to_join(feed, series);
	struct feed_series *joint = older ? series->join(older->series, series) : NULL;
	bool was_empty = !feed->queue.length;

	if (joint) {
		GList *before = older->link.prev, *after = older->link.next;

		remove_entry(feed, older);
		join_gaps(feed, before, after);
	}
	add_entry(feed)->series = joint ? joint : feed_series_ref(series);
	feed->n_series++;
	keep_limits(feed);
	tell_ready(feed, was_empty);
}

static struct entry *add_gap(struct feed *feed, const struct feed_moment *moment, uint64_t n)
{
	struct entry *gap = add_entry(feed);

	feed->n_gaps++;
	gap->n_lost = n;
	gap->moment = *moment;
	feed->lost += n;
	return gap;
}

void feed_push_gap(struct feed *feed, const struct feed_moment *moment, uint64_t n)
{
	bool was_empty = !feed->queue.length;
	struct entry *gap = add_gap(feed, moment, n);

	join_gaps(feed, gap->link.prev, &gap->link);
	tell_ready(feed, was_empty);
}

void feed_lose(struct feed *feed, const struct feed_moment *moment, uint64_t n)
{
	bool was_empty = !feed->queue.length;
	struct entry *gap = add_gap(feed, moment, MAX(n, 1));

	gap->n_numbered = n;
	feed->delivered -= n;
	g_queue_unlink(&feed->queue, &gap->link);
	g_queue_push_head_link(&feed->queue, &gap->link);
	join_gaps(feed, &gap->link, gap->link.next);
	tell_ready(feed, was_empty);
}

void feed_on_ready(struct feed *feed, void (*ready)(void *arg), void *arg)
{
	feed->ready = ready;
	feed->arg = arg;
}

/* ---- taking ---- */

static void make_lost(struct feed_event *event, uint64_t n)
{
	struct osm_about *about;

	event->id = OSM_EVENT_LOST;
	about = FEED_BODY(event, struct osm_about);
	about->value = n;
	g_snprintf(event->text, sizeof(event->text),
		   "%" PRIu64 " events are missing here: the plug-in was too slow, or has ended",
		   n);
}

/* Lays out the event that an entry has next; 0: it has none, or does not fit. */
static uint32_t take_next(struct feed *feed, struct entry *entry, void *to, size_t room,
			  bool *is_full)
{
	struct feed_cursor before = entry->cursor;
	struct event_record head;
	const struct feed_moment *moment = &entry->moment;

	if (entry->series) {
		if (!entry->series->next(entry->series, &entry->cursor, feed->events, &feed->made))
			return 0;
		moment = &entry->series->moment;
	} else {
		make_lost(&feed->made, entry->n_lost);
	}
	head = record_of(moment, &feed->made);
	*is_full = head.octets > room;
	if (*is_full) {
		entry->cursor = before;
		return 0;
	}
	feed->serial += entry->n_lost - entry->n_numbered + 1;
	head.serial = feed->serial;
	lay_out(to, &head, &feed->made);
	return head.octets;
}

static uint32_t take_record(struct feed *feed, struct entry *entry, void *to, size_t room,
			    bool *is_full)
{
	uint32_t octets = entry->record->octets;

	*is_full = octets > room;
	if (*is_full)
		return 0;
	entry->record->serial = ++feed->serial;
	memcpy(to, entry->record, octets);
	return octets;
}

size_t feed_take(struct feed *feed, void *octets, size_t room, unsigned int *n, unsigned int most)
{
	size_t used = 0;
	bool is_full = false;

	*n = 0;
	while (feed->queue.head && *n < most) {
		struct entry *entry = feed->queue.head->data;
		uint8_t *to = (uint8_t *)octets + used;
		uint32_t took = entry->record ? take_record(feed, entry, to, room - used, &is_full)
					      : take_next(feed, entry, to, room - used, &is_full);

		if (is_full)
			break;
		if (!took || !entry->series)
			remove_entry(feed, entry);
		used += took;
		*n += took != 0;
	}
	feed->delivered += *n;
	return used;
}

uint64_t feed_waiting(const struct feed *feed)
{
	return feed->queue.length - feed->n_gaps;
}

uint64_t feed_lost(const struct feed *feed)
{
	return feed->lost;
}

uint64_t feed_delivered(const struct feed *feed)
{
	return feed->delivered;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two images need not follow each other: if there were others in between, a port may have been read
 * in one of them and not in the last one, or for the first time after the first one.
 */
#include "ctl/feed/growth_series.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

struct growth_series {
	struct feed_series series; /* first */
	struct perf_image *old, *new;
	struct perf_growth growth;
};

/* Where a counter is in the body of an event, and in which of them. */
struct place {
	enum perf_counter counter;
	size_t at;
};

#define ERRORS(member, name)                                                                       \
	{                                                                                          \
		PERF_##name, offsetof(struct osm_port_errors, member)                              \
	}
static const struct place error_places[] = {
	ERRORS(symbol_err_cnt, SYMBOL_ERRORS),
	ERRORS(link_err_recover, LINK_ERROR_RECOVERIES),
	ERRORS(link_downed, LINK_DOWNED),
	ERRORS(rcv_err, RCV_ERRORS),
	ERRORS(rcv_rem_phys_err, RCV_REMOTE_PHYSICAL_ERRORS),
	ERRORS(rcv_switch_relay_err, RCV_SWITCH_RELAY_ERRORS),
	ERRORS(xmit_discards, XMIT_DISCARDS),
	ERRORS(xmit_constraint_err, XMIT_CONSTRAINT_ERRORS),
	ERRORS(rcv_constraint_err, RCV_CONSTRAINT_ERRORS),
	ERRORS(link_integrity, LINK_INTEGRITY_ERRORS),
	ERRORS(buffer_overrun, BUFFER_OVERRUN_ERRORS),
	ERRORS(vl15_dropped, VL15_DROPPED),
	ERRORS(xmit_wait, XMIT_WAIT),
	ERRORS(qp1_dropped, QP1_DROPPED),
};
#undef ERRORS

#define DATA(member, name)                                                                         \
	{                                                                                          \
		PERF_##name, offsetof(struct osm_port_data, member)                                \
	}
static const struct place data_places[] = {
	DATA(xmit_data, XMIT_DATA),
	DATA(rcv_data, RCV_DATA),
	DATA(xmit_pkts, XMIT_PKTS),
	DATA(rcv_pkts, RCV_PKTS),
	DATA(unicast_xmit_pkts, UNICAST_XMIT_PKTS),
	DATA(unicast_rcv_pkts, UNICAST_RCV_PKTS),
	DATA(multicast_xmit_pkts, MULTICAST_XMIT_PKTS),
	DATA(multicast_rcv_pkts, MULTICAST_RCV_PKTS),
};
#undef DATA

static const struct place wait_places[] = {
	{PERF_XMIT_WAIT, offsetof(struct osm_port_wait, xmit_wait)},
};

/* All of these structs begin as struct osm_port_wait does. */
static const struct kind {
	uint32_t id;
	uint32_t octets;
	const struct place *places;
	unsigned int n;
} kinds[] = {
	{OSM_EVENT_PORT_ERRORS, sizeof(struct osm_port_errors), error_places,
	 G_N_ELEMENTS(error_places)},
	{OSM_EVENT_PORT_DATA_COUNTERS, sizeof(struct osm_port_data), data_places,
	 G_N_ELEMENTS(data_places)},
	{OSM_EVENT_PORT_SELECT, sizeof(struct osm_port_wait), wait_places,
	 G_N_ELEMENTS(wait_places)},
};

#define SAME_PLACE(member)                                                                         \
	_Static_assert(offsetof(struct osm_port_errors, member) ==                                 \
				       offsetof(struct osm_port_wait, member) &&                   \
			       offsetof(struct osm_port_data, member) ==                           \
				       offsetof(struct osm_port_wait, member),                     \
		       "the structs begin alike")
SAME_PLACE(port);
SAME_PLACE(interval_ns);
#undef SAME_PLACE

/* ---- how much a counter grew ---- */

/* Since a reading that the old image does not have: totals began at 0 with it. */
static bool grew_from_nothing(const struct growth_series *s, uint32_t row, unsigned int counter,
			      uint64_t *delta, uint64_t *dt_ns)
{
	const struct perf_image *old = s->old, *new = s->new;

	if (new->flags[row] & PERF_BASELINE || new->read_ns[row] <= old->ended_ns)
		return false;
	*delta = new->total[counter][row];
	*dt_ns = new->read_ns[row] - old->ended_ns;
	return true;
}

static bool grew(const struct growth_series *s, uint32_t row, unsigned int counter, uint64_t *delta,
		 uint64_t *dt_ns)
{
	const struct perf_image *old = s->old, *new = s->new;
	uint32_t before = perf_growth_old_row(&s->growth, row);

	if (!(new->have[row] & 1u << counter))
		return false;
	if (perf_growth_counter(&s->growth, row, counter, delta, dt_ns))
		return true;
	if (new->id == old->id + 1) /* nothing was read in between */
		return false;
	if (before == PERF_NONE || !old->read_ns[before])
		return grew_from_nothing(s, row, counter, delta, dt_ns);
	if (new->flags[row] & PERF_BASELINE || new->read_ns[row] <= old->read_ns[before] ||
	    new->total[counter][row] < old->total[counter][before])
		return false;
	*delta = new->total[counter][row] - old->total[counter][before];
	*dt_ns = new->read_ns[row] - old->read_ns[before];
	return true;
}

static bool grew_at_all(const struct growth_series *s, uint32_t row, const struct kind *kind)
{
	for (unsigned int i = 0; i < kind->n; i++) {
		uint64_t delta, dt_ns;

		if (grew(s, row, kind->places[i].counter, &delta, &dt_ns) && delta)
			return true;
	}
	return false;
}

/* ---- events ---- */

/* Cut between characters. */
static void copy_name(char *to, size_t size, const char *name)
{
	size_t length = strlen(name);

	if (length >= size) {
		length = size - 1;
		while (length && ((unsigned char)name[length] & 0xC0) == 0x80)
			length--;
	}
	memcpy(to, name, length);
	to[length] = '\0';
}

static void make_event(const struct growth_series *s, uint32_t row, const struct kind *kind,
		       struct feed_event *event)
{
	const struct perf_node *node = perf_layout_node_of(s->new->layout, row);
	unsigned int port = s->new->layout->places[row].port;
	struct osm_port_wait *body = feed_body(event, kind->octets);
	g_autoptr(GString) text = g_string_new(NULL);

	event->id = kind->id;
	body->port.guid = node->guid;
	body->port.port = (uint8_t)port;
	copy_name(body->port.name, sizeof(body->port.name), node->name);
	g_string_printf(text, "%s (0x%016" PRIx64 ") port %u:", node->name, node->guid, port);
	for (unsigned int i = 0; i < kind->n; i++) {
		const struct place *place = &kind->places[i];
		uint64_t delta, dt_ns;

		if (!grew(s, row, place->counter, &delta, &dt_ns))
			continue;
		memcpy(event->body + place->at, &delta, sizeof(delta));
		body->interval_ns = MAX(body->interval_ns, dt_ns);
		if (delta)
			g_string_append_printf(text, " %s +%" PRIu64,
					       perf_counter_info[place->counter].iba, delta);
	}
	g_string_append_printf(text, " in %.1f s", (double)body->interval_ns / 1e9);
	feed_text(event, text->str);
}

/* at: the row; within: the kind. */
static bool next_growth(const struct feed_series *series, struct feed_cursor *cursor,
			uint64_t events, struct feed_event *event)
{
	const struct growth_series *s = (const struct growth_series *)series;

	for (; cursor->at < s->new->layout->n_rows; cursor->at++, cursor->within = 0) {
		while (cursor->within < G_N_ELEMENTS(kinds)) {
			const struct kind *kind = &kinds[cursor->within++];

			if (!(events & OSM_EVENT_BIT(kind->id)) ||
			    !grew_at_all(s, cursor->at, kind))
				continue;
			if (event)
				make_event(s, cursor->at, kind, event);
			return true;
		}
	}
	return false;
}

/* ---- life ---- */

static void series_free(struct feed_series *series)
{
	struct growth_series *s = (struct growth_series *)series;

	perf_growth_clear(&s->growth);
	perf_image_unref(s->old);
	perf_image_unref(s->new);
	g_free(s);
}

static struct feed_series *join(const struct feed_series *older, const struct feed_series *newer)
{
	const struct growth_series *a = (const struct growth_series *)older;
	const struct growth_series *b = (const struct growth_series *)newer;

	if (a->new != b->old)
		return NULL;
	return growth_series_new(&newer->moment, a->old, b->new);
}

struct feed_series *growth_series_new(const struct feed_moment *moment, struct perf_image *old,
				      struct perf_image *new)
{
	struct growth_series *s = g_new0(struct growth_series, 1);

	s->series = (struct feed_series){.rank = FEED_COUNTERS,
					 .moment = *moment,
					 .next = next_growth,
					 .join = join,
					 .free = series_free};
	ref_init(&s->series.ref);
	s->old = perf_image_ref(old);
	s->new = perf_image_ref(new);
	perf_growth_init(&s->growth, old, new);
	return &s->series;
}

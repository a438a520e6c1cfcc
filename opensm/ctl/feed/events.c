// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ctl/feed/events.h"

#include <inttypes.h>
#include <string.h>

#include "ctl/feed/growth_series.h"
#include "ctl/feed/subnet_series.h"
#include "iba/constants.h"
#include "subnet/subnet.h"

#define CHANGE_EVENTS                                                                              \
	(OSM_EVENT_BIT(OSM_EVENT_NODE) | OSM_EVENT_BIT(OSM_EVENT_LINK) |                           \
	 OSM_EVENT_BIT(OSM_EVENT_PORT) | OSM_EVENT_BIT(OSM_EVENT_LID))
/* Fewer changes than this are made at once, so that no two subnets are held for them. */
#define FEW_CHANGES 64

/* Those that the journal hears of, by the kind of its facts. */
static const struct {
	const char *kind;
	uint32_t id;
} facts[] = {
	{"state", OSM_EVENT_STATE_CHANGE},
	{"sweep", OSM_EVENT_SWEEP_DONE},
	{"partition", OSM_EVENT_PARTITIONS},
	{"group", OSM_EVENT_GROUPS},
	{"health", OSM_EVENT_HEALTH},
	{"counter", OSM_EVENT_ALARM},
	{"options", OSM_EVENT_OPTIONS},
	{"service", OSM_EVENT_SERVICES},
	{"sm", OSM_EVENT_SMS},
};

/* A type of event of the bus, and the events for plug-ins that come of it. */
struct tap {
	enum event_type type;
	event_fn *handle;
	uint64_t events;
};

#define TAPS 7

struct plugin_events {
	struct context *context;
	struct journal *journal;
	GPtrArray *feeds;
	uint64_t wanted; /* by any feed */
	atomic_bool taps_on[TAPS];
	struct journal_listener listener;
	struct perf_image *image; /* up to which growth was told; NULL: none, or not wanted */
	bool is_fresh;		  /* this SM was not MASTER when the subnet was published before */
};

static bool is_wanted(const struct plugin_events *events, uint64_t bits)
{
	return (events->wanted & bits) != 0;
}

static struct feed_moment moment_of(const struct plugin_events *events, uint64_t generation)
{
	return (struct feed_moment){
		.time_ns = runtime_now(events->context->rt),
		.real_us = g_get_real_time(),
		.generation = generation,
	};
}

static void push(const struct plugin_events *events, uint64_t generation,
		 const struct feed_event *event)
{
	const struct feed_moment moment = moment_of(events, generation);

	for (guint i = 0; i < events->feeds->len; i++)
		feed_push(events->feeds->pdata[i], &moment, event);
}

/* Takes over the reference. */
static void push_series(const struct plugin_events *events, uint64_t bits,
			struct feed_series *series)
{
	for (guint i = 0; i < events->feeds->len; i++)
		if (feed_events(events->feeds->pdata[i]) & bits)
			feed_push_series(events->feeds->pdata[i], series);
	feed_series_unref(series);
}

/* An event without a body, or with that value. */
static void push_plain(const struct plugin_events *events, uint32_t id, const char *text)
{
	struct feed_event event = {.id = id};

	feed_text(&event, text);
	push(events, 0, &event);
}

static void push_value(const struct plugin_events *events, uint32_t id, uint64_t value,
		       const char *text)
{
	struct feed_event event = {.id = id};

	FEED_BODY(&event, struct osm_about)->value = value;
	feed_text(&event, text);
	push(events, 0, &event);
}

/* ---- what the journal hears of ---- */

static void on_fact(void *arg, const struct journal_fact *fact)
{
	struct plugin_events *events = arg;
	struct feed_event event = {.id = OSM_EVENT_LOST};
	struct osm_about *about;

	for (unsigned int i = 0; i < G_N_ELEMENTS(facts); i++)
		if (!strcmp(facts[i].kind, fact->kind))
			event.id = facts[i].id;
	if (event.id == OSM_EVENT_STATE_CHANGE && fact->value != IBA_SM_MASTER)
		events->is_fresh = true;
	if (event.id == OSM_EVENT_LOST || !is_wanted(events, OSM_EVENT_BIT(event.id)))
		return;
	about = FEED_BODY(&event, struct osm_about);
	about->level = fact->level;
	about->value = fact->value;
	about->guid = fact->guid;
	about->port = fact->port;
	about->peer_guid = fact->peer_guid;
	about->peer_port = fact->peer_port;
	g_strlcpy(about->word, fact->word, sizeof(about->word));
	feed_text(&event, fact->text);
	push(events, fact->generation, &event);
}

/* Each event of the series at once; takes over the reference. */
static void push_each(const struct plugin_events *events, struct feed_series *series)
{
	struct feed_cursor cursor = {0};
	struct feed_event event;

	while (series->next(series, &cursor, events->wanted, &event))
		for (guint i = 0; i < events->feeds->len; i++)
			feed_push(events->feeds->pdata[i], &series->moment, &event);
	feed_series_unref(series);
}

static void on_published(void *arg, struct subnet *old, struct subnet *now, GArray *changes)
{
	struct plugin_events *events = arg;
	const struct feed_moment moment = moment_of(events, now->generation);
	bool was_fresh = events->is_fresh;

	events->is_fresh = false;
	if (!old)
		return;
	if (is_wanted(events, CHANGE_EVENTS) && changes->len) {
		struct feed_series *series = subnet_series_changes(&moment, old, now, changes);

		if (changes->len < FEW_CHANGES)
			push_each(events, series);
		else
			push_series(events, CHANGE_EVENTS, series);
	}
	if (is_wanted(events, OSM_EVENT_BIT(OSM_EVENT_LFT_CHANGE)) && !was_fresh && old->routing &&
	    now->routing && old->routing != now->routing)
		push_series(events, OSM_EVENT_BIT(OSM_EVENT_LFT_CHANGE),
			    subnet_series_lfts(&moment, old, now));
}

/* ---- what the bus tells ---- */

static const char *kind_of_sweep(uint64_t is_heavy)
{
	return is_heavy ? "heavy" : "partial";
}

static void on_sweep_begun(void *arg, uint64_t is_heavy)
{
	g_autofree char *text = g_strdup_printf("a %s sweep begins", kind_of_sweep(is_heavy));

	push_plain(arg, OSM_EVENT_HEAVY_SWEEP_START, text);
}

static void on_discovered(void *arg, uint64_t is_heavy)
{
	g_autofree char *text =
		g_strdup_printf("a %s sweep has read the subnet", kind_of_sweep(is_heavy));

	push_plain(arg, OSM_EVENT_HEAVY_SWEEP_DONE, text);
}

static void on_routed(void *arg, uint64_t routed)
{
	static const char *const texts[] = {
		[ROUTED_UNCHANGED] = "routes are as they were",
		[ROUTED_HEAVY] = "routes were computed, and are in the switches",
		[ROUTED_AGAIN] = "routes were computed again, and are in the switches",
	};

	push_value(arg, OSM_EVENT_UCAST_ROUTING_DONE, routed, texts[routed]);
}

static void on_up(void *arg, uint64_t value)
{
	(void)value;
	push_plain(arg, OSM_EVENT_SUBNET_UP, "SUBNET UP");
}

static void on_dumped(void *arg, uint64_t value)
{
	(void)value;
	push_plain(arg, OSM_EVENT_SA_DB_DUMPED, "the registries of the SA were written to a file");
}

static void push_notice(const struct plugin_events *events, const struct told_notice *told)
{
	const char *name = iba_name(IBA_SET_TRAP, told->number);
	struct feed_event event = {.id = OSM_EVENT_TRAP};
	struct osm_trap *trap = FEED_BODY(&event, struct osm_trap);
	g_autofree char *text = g_strdup_printf("trap %u (%s) from LID %u", told->number,
						name ? name : "unknown", told->from);

	trap->lid = told->from;
	trap->number = told->number;
	memcpy(trap->notice, told->wire, sizeof(trap->notice));
	feed_text(&event, text);
	push(events, told->generation, &event);
}

static void on_notices(void *arg, uint64_t value)
{
	struct plugin_events *events = arg;
	uint64_t dropped;
	g_autoptr(GArray) list = notices_take(&events->context->notices, &dropped);

	(void)value;
	for (guint i = 0; i < list->len; i++)
		push_notice(events, &g_array_index(list, struct told_notice, i));
	for (guint i = 0; dropped && i < events->feeds->len; i++) {
		const struct feed_moment moment = moment_of(events, 0);

		if (feed_events(events->feeds->pdata[i]) & OSM_EVENT_BIT(OSM_EVENT_TRAP))
			feed_push_gap(events->feeds->pdata[i], &moment, dropped);
	}
}

/* ---- counters ---- */

/* The last image of this process; NULL: there is none. */
static struct perf_image *take_image(const struct plugin_events *events)
{
	struct perf_images *images = slot_take(&events->context->perf_images);
	struct perf_image *last = images && images->n ? images->images[images->n - 1] : NULL;

	if (last)
		perf_image_ref(last);
	perf_images_unref(images);
	if (last && !last->run)
		return last;
	perf_image_unref(last);
	return NULL;
}

static void on_counters(void *arg, uint64_t value)
{
	struct plugin_events *events = arg;
	struct perf_image *last = take_image(events);
	g_autofree char *text = NULL;

	(void)value;
	if (!last || (events->image && last->id == events->image->id)) {
		perf_image_unref(last);
		return;
	}
	if (events->image && is_wanted(events, GROWTH_EVENTS)) {
		const struct feed_moment moment = moment_of(events, 0);

		push_series(events, GROWTH_EVENTS, growth_series_new(&moment, events->image, last));
	}
	text = g_strdup_printf("sweep %" PRIu64 " of counters has ended", last->id);
	push_value(events, OSM_EVENT_COUNTERS, last->id, text);
	perf_image_unref(events->image);
	events->image = last;
}

/* ---- feeds ---- */

#define BIT(name) OSM_EVENT_BIT(OSM_EVENT_##name)
static const struct tap taps[TAPS] = {
	{EVENT_DISCOVERY_BEGUN, on_sweep_begun, BIT(HEAVY_SWEEP_START)},
	{EVENT_DISCOVERED, on_discovered, BIT(HEAVY_SWEEP_DONE)},
	{EVENT_ROUTED, on_routed, BIT(UCAST_ROUTING_DONE)},
	{EVENT_SUBNET_UP, on_up, BIT(SUBNET_UP)},
	{EVENT_SA_DUMPED, on_dumped, BIT(SA_DB_DUMPED)},
	{EVENT_NOTICES_TOLD, on_notices, BIT(TRAP)},
	{EVENT_PERF_IMAGES, on_counters, BIT(COUNTERS) | GROWTH_EVENTS},
};
#undef BIT

static uint64_t bits_of_facts(void)
{
	uint64_t bits = CHANGE_EVENTS | OSM_EVENT_BIT(OSM_EVENT_LFT_CHANGE);

	for (unsigned int i = 0; i < G_N_ELEMENTS(facts); i++)
		bits |= OSM_EVENT_BIT(facts[i].id);
	return bits;
}

/* Begins or ends to hear of what feeds want now. */
static void follow_wishes(struct plugin_events *events)
{
	bool had_growth = events->image != NULL;
	bool is_listening = is_wanted(events, bits_of_facts());

	events->wanted = 0;
	for (guint i = 0; i < events->feeds->len; i++)
		events->wanted |= feed_events(events->feeds->pdata[i]);
	for (unsigned int i = 0; i < TAPS; i++)
		atomic_store(&events->taps_on[i], is_wanted(events, taps[i].events));
	atomic_store(&events->context->notices.wanted,
		     is_wanted(events, OSM_EVENT_BIT(OSM_EVENT_TRAP)));
	if (is_wanted(events, bits_of_facts()) && !is_listening) {
		events->is_fresh = atomic_load(&events->context->sm_state) != IBA_SM_MASTER;
		journal_listen(events->journal, &events->listener);
	} else if (!is_wanted(events, bits_of_facts())) {
		journal_listen(events->journal, NULL);
	}
	if (!is_wanted(events, GROWTH_EVENTS | OSM_EVENT_BIT(OSM_EVENT_COUNTERS)))
		g_clear_pointer(&events->image, perf_image_unref);
	else if (!had_growth)
		events->image = take_image(events);
}

void plugin_events_add(struct plugin_events *events, struct feed *feed)
{
	g_ptr_array_add(events->feeds, feed);
	follow_wishes(events);
}

void plugin_events_remove(struct plugin_events *events, struct feed *feed)
{
	g_ptr_array_remove(events->feeds, feed);
	follow_wishes(events);
}

struct plugin_events *plugin_events_new(struct context *context, struct actor *main,
					struct journal *journal)
{
	struct plugin_events *events = g_new0(struct plugin_events, 1);

	events->context = context;
	events->journal = journal;
	events->feeds = g_ptr_array_new();
	events->listener = (struct journal_listener){
		.arg = events, .fact = on_fact, .published = on_published};
	for (unsigned int i = 0; i < TAPS; i++) {
		atomic_init(&events->taps_on[i], false);
		event_subscribe_while(&context->bus, taps[i].type, main, taps[i].handle, events,
				      &events->taps_on[i]);
	}
	return events;
}

void plugin_events_free(struct plugin_events *events)
{
	if (!events)
		return;
	journal_listen(events->journal, NULL);
	perf_image_unref(events->image);
	g_ptr_array_unref(events->feeds);
	g_free(events);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A sweep of the judge: growth of a value for which there are rules makes a state for each rule and
 * port; then all states are brought up to date. A quiet port has none, so it costs a comparison of
 * each column.
 */
#include "perf/judge/judge.h"

#include <math.h>
#include <string.h>

#include "complib/actor.h"
#include "complib/hash.h"
#include "iba/codes.h"
#include "perf/image/growth.h"
#include "perf/image/query.h"
#include "perf/judge/cause.h"

#define BUCKETS 6	/* of a window */
#define EXCUSED_DOWNS 2 /* a host that boots takes its link down twice */
#define STATES_PER_ROW 8
#define STATES_MIN 4096

/* What a rule has counted at a port. */
struct state {
	uint64_t guid;
	uint16_t rule; /* number */
	uint8_t port;
	uint32_t bucket;	  /* number of the latest, since the start of the clock */
	uint64_t below_ns;	  /* below clear since; 0: it is not */
	struct perf_alarm *alarm; /* that stands; NULL: none does */
	/* Events, or seconds of waiting; of ratios, BUCKETS more: seconds that were measured. */
	float counted[];
};

/* A value of which something stands at a port. */
struct shown {
	uint64_t guid;
	uint16_t value; /* enum perf_rule_value */
	uint8_t port;
	uint8_t level; /* enum perf_level: as the last event says */
};

struct perf_judge {
	struct perf_rules *rules;    /* of the states; NULL: none yet */
	uint16_t first[PERF_VALUES]; /* number of the first rule for a value; n: none */
	GHashTable *states;	     /* struct state, owned; a set */
	GHashTable *shown;	     /* struct shown, owned; a set */
	size_t bytes;
	uint64_t last_serial, left_out;
};

/* One sweep. */
struct sweep {
	struct perf_judge *judge;
	const struct perf_rules *rules;
	const struct perf_images *images;
	struct perf_growth growth;
	GHashTable
		*windows;  /* struct perf_growth since an image before, by that image; NULL: none */
	uint32_t window_s; /* of the rule whose cause is looked for */
	const struct perf_held *held;
	uint64_t now_ns;
	GPtrArray
		*changes; /* struct perf_event, owned: of all rules, also those that others hide */
};

/* What a value was in the time before a reading. */
struct sample {
	double amount; /* events, or seconds */
	double time_s;
	bool at_least; /* more may have been counted */
	bool stuck;    /* as the counter is at its maximum: it cannot show whether more is */
	uint64_t at_ns;
};

static bool is_ratio(unsigned int value)
{
	return value >= PERF_VALUE_XMIT_WAIT_SHARE;
}

/* ---- states ---- */

static guint state_hash(gconstpointer key)
{
	const struct state *state = key;

	return (guint)(hash_spread((state->guid * 257 + state->port) * 1031 + state->rule) >> 32);
}

static gboolean state_equal(gconstpointer a, gconstpointer b)
{
	const struct state *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port && x->rule == y->rule;
}

static guint shown_hash(gconstpointer key)
{
	const struct shown *shown = key;

	return (guint)(hash_spread((shown->guid * 257 + shown->port) * 1031 + shown->value) >> 32);
}

static gboolean shown_equal(gconstpointer a, gconstpointer b)
{
	const struct shown *x = a, *y = b;

	return x->guid == y->guid && x->port == y->port && x->value == y->value;
}

static void alarm_free(struct perf_alarm *alarm)
{
	g_free(alarm->where);
	g_free(alarm->cause);
	g_free(alarm);
}

static struct perf_alarm *alarm_copy(const struct perf_alarm *alarm)
{
	struct perf_alarm *copy = g_new(struct perf_alarm, 1);

	*copy = *alarm;
	copy->where = g_strdup(alarm->where);
	copy->cause = g_strdup(alarm->cause);
	return copy;
}

static size_t state_bytes(unsigned int value)
{
	return sizeof(struct state) + (is_ratio(value) ? 2 : 1) * BUCKETS * sizeof(float);
}

static void state_free(void *data)
{
	struct state *state = data;

	if (state->alarm)
		alarm_free(state->alarm);
	g_free(state);
}

struct perf_judge *perf_judge_new(void)
{
	struct perf_judge *judge = g_new0(struct perf_judge, 1);

	judge->states = g_hash_table_new_full(state_hash, state_equal, state_free, NULL);
	judge->shown = g_hash_table_new_full(shown_hash, shown_equal, g_free, NULL);
	return judge;
}

void perf_judge_free(struct perf_judge *judge)
{
	if (!judge)
		return;
	g_hash_table_unref(judge->states);
	g_hash_table_unref(judge->shown);
	perf_rules_unref(judge->rules);
	g_free(judge);
}

void perf_judge_forget(struct perf_judge *judge)
{
	g_hash_table_remove_all(judge->states);
	g_hash_table_remove_all(judge->shown);
	judge->bytes = 0;
}

unsigned int perf_judge_states(const struct perf_judge *judge, size_t *bytes)
{
	*bytes = judge->bytes;
	return g_hash_table_size(judge->states);
}

uint64_t perf_judge_left_out(const struct perf_judge *judge)
{
	return judge->left_out;
}

/* ---- events ---- */

static void event_free(void *data)
{
	struct perf_event *event = data;

	if (!event) /* moved to another list */
		return;
	alarm_free(event->alarm);
	g_free(event);
}

static void add_change(struct sweep *s, const struct perf_alarm *alarm, unsigned int value,
		       bool began, enum perf_end why, double measured)
{
	struct perf_event *event = g_new(struct perf_event, 1);

	*event = (struct perf_event){.when_ns = s->now_ns,
				     .began = began,
				     .why = why,
				     .value = (uint16_t)value,
				     .measured = measured,
				     .alarm = alarm_copy(alarm)};
	g_ptr_array_add(s->changes, event);
}

static int compare_alarms(const struct perf_alarm *a, const struct perf_alarm *b)
{
	double x = a->measured / a->limit, y = b->measured / b->limit;

	if (a->level != b->level)
		return b->level - a->level;
	if (x != y)
		return x > y ? -1 : 1;
	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	if (a->port != b->port)
		return a->port - b->port;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static gint worst_first(gconstpointer a, gconstpointer b)
{
	const struct perf_event *x = *(struct perf_event *const *)a;
	const struct perf_event *y = *(struct perf_event *const *)b;

	if (x->began != y->began)
		return x->began ? -1 : 1;
	return compare_alarms(x->alarm, y->alarm);
}

char *perf_event_text(const struct perf_event *event)
{
	static const char *const why[] = {
		[PERF_END_UNUSED] = "its link is not in use",
		[PERF_END_GONE] = "the node has left the subnet",
		[PERF_END_NO_RULE] = "its rule has changed",
	};
	const struct perf_alarm *alarm = event->alarm;
	g_autofree char *measured = NULL, *left = NULL;

	if (event->began)
		return perf_alarm_text(alarm);
	measured = perf_alarm_number(alarm, event->measured);
	left = event->level
		       ? g_strdup_printf("; its level is now %s", perf_level_word(event->level))
		       : g_strdup("");
	if (event->why == PERF_END_CLEAR)
		return g_strdup_printf("%s ended: %s: %s is %s within %u s%s",
				       perf_level_word(alarm->level), alarm->where, alarm->value,
				       measured, alarm->window_s, left);
	return g_strdup_printf("%s ended: %s: %s: %s%s", perf_level_word(alarm->level),
			       alarm->where, alarm->value, why[event->why], left);
}

/* ---- links that go down for a reason ---- */

static bool is_held(const struct sweep *s, uint32_t row)
{
	const struct perf_layout *layout = s->growth.new->layout;
	uint64_t guid = perf_layout_node_of(layout, row)->guid;
	uint8_t port = layout->places[row].port;
	unsigned int low = 0, high = s->held ? s->held->n : 0;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		const struct perf_rule_member *at = &s->held->ports[middle];

		if (at->guid == guid && at->port == port)
			return true;
		if (at->guid < guid || (at->guid == guid && at->port < port))
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Whether the node that was at the other end in the image before has left with all its ports. */
static bool has_lost_peer(const struct sweep *s, uint32_t row)
{
	const struct perf_layout *before = s->growth.old->layout, *now = s->growth.new->layout;
	uint32_t old_row = perf_growth_old_row(&s->growth, row), peer, node;

	if (old_row == PERF_NONE)
		return false;
	peer = before->places[old_row].peer;
	if (peer == PERF_NONE)
		return false;
	node = perf_layout_node(now, perf_layout_node_of(before, peer)->guid);
	return node == PERF_NONE || !now->nodes[node].active;
}

/* Whether the link of a row went down, or came up, for a reason other than a fault. */
static bool is_excused(const struct sweep *s, uint32_t row)
{
	const struct perf_image *new = s->growth.new;
	uint32_t peer = new->layout->places[row].peer;

	if (new->flags[row] & PERF_RESTARTED || is_held(s, row))
		return true;
	if (peer == PERF_NONE)
		return has_lost_peer(s, row);
	return new->flags[peer] & (PERF_RESTARTED | PERF_BASELINE) || is_held(s, peer) ||
	       perf_growth_old_row(&s->growth, peer) == PERF_NONE;
}

/* Whether a value grows when a link comes up. */
static bool is_of_link(unsigned int value)
{
	switch (value) {
	case PERF_SYMBOL_ERRORS:
	case PERF_LINK_ERROR_RECOVERIES:
	case PERF_LINK_DOWNED:
	case PERF_RCV_ERRORS:
	case PERF_VALUE_DETAILS + PERF_DETAIL_LOCAL_PHYSICAL:
	case PERF_VALUE_DETAILS + PERF_DETAIL_INACTIVE:
	case PERF_VALUE_DETAILS + PERF_DETAIL_SYNC_HEADER:
	case PERF_VALUE_DETAILS + PERF_DETAIL_UNKNOWN_BLOCK:
	case PERF_VALUE_DETAILS + PERF_DETAIL_FEC_UNCORRECTABLE:
		return true;
	default:
		return false;
	}
}

static uint64_t without_excuse(const struct sweep *s, uint32_t row, unsigned int value,
			       uint64_t delta)
{
	if (!delta || !is_of_link(value) || !is_excused(s, row))
		return delta;
	return value == PERF_LINK_DOWNED ? delta - MIN(delta, EXCUSED_DOWNS) : 0;
}

/* ---- samples ---- */

static void sample_time(struct sample *sample, uint64_t dt_ns, uint64_t at_ns)
{
	sample->time_s = (double)dt_ns / NS_PER_S;
	sample->at_ns = at_ns;
}

static bool sample_counter(const struct sweep *s, uint32_t row, unsigned int counter,
			   struct sample *sample)
{
	const struct perf_image *new = s->growth.new;
	uint64_t delta, dt_ns;

	if (!perf_growth_counter(&s->growth, row, counter, &delta, &dt_ns))
		return false;
	sample->amount = (double)without_excuse(s, row, counter, delta);
	sample->at_least = new->missed[row] & 1u << counter;
	sample->stuck = sample->at_least && new->flags[row] & PERF_SATURATED;
	sample_time(sample, dt_ns, new->read_ns[row]);
	return true;
}

static bool sample_detail(const struct sweep *s, uint32_t row, unsigned int detail,
			  struct sample *sample)
{
	const struct perf_image *new = s->growth.new;
	uint64_t delta, dt_ns;

	if (!perf_growth_detail(&s->growth, row, detail, &delta, &dt_ns))
		return false;
	sample->amount = (double)without_excuse(s, row, PERF_VALUE_DETAILS + detail, delta);
	sample->at_least = new->flags[row] & (PERF_RESET | PERF_RESTARTED | PERF_SATURATED);
	sample_time(sample, dt_ns, perf_image_details(new, row)->read_ns);
	return true;
}

/* Seconds that the link was busy, in its busier direction. */
static double busy_s(const struct sweep *s, uint32_t row, double rate)
{
	uint64_t xmit = perf_growth_by(&s->growth, row, PERF_XMIT_DATA);
	uint64_t rcv = perf_growth_by(&s->growth, row, PERF_RCV_DATA);

	return (double)MAX(xmit, rcv) * 32 / rate;
}

/* Part of the time, as seconds; false: it cannot be told. */
static bool sample_ratio(const struct sweep *s, uint32_t row, unsigned int value,
			 struct sample *sample)
{
	const struct perf_place *place = &s->growth.new->layout->places[row];
	double rate = value == PERF_VALUE_UTILISATION ? perf_payload_rate(place->rate)
						      : iba_rate_tenths(place->rate) * 1e8;

	if (value == PERF_VALUE_RAW_BER) {
		if (!rate || !sample_detail(s, row, PERF_DETAIL_FEC_CORRECTED_SYMBOLS, sample))
			return false;
		sample->amount /= rate; /* errors a bit are errors a second / bits a second */
		return true;
	}
	if (!sample_counter(s, row,
			    value == PERF_VALUE_UTILISATION ? PERF_XMIT_DATA : PERF_XMIT_WAIT,
			    sample))
		return false;
	if (value == PERF_VALUE_XMIT_WAIT_SHARE)
		sample->amount *= (place->tick + 1) * 4e-9;
	else if (rate)
		sample->amount = busy_s(s, row, rate);
	else
		return false;
	sample->amount = MIN(sample->amount, sample->time_s);
	return true;
}

static bool sample_of(const struct sweep *s, uint32_t row, unsigned int value,
		      struct sample *sample)
{
	if (is_ratio(value))
		return sample_ratio(s, row, value, sample);
	return value < PERF_VALUE_DETAILS
		       ? sample_counter(s, row, value, sample)
		       : sample_detail(s, row, value - PERF_VALUE_DETAILS, sample);
}

/* ---- windows ---- */

static double scale_of(unsigned int value)
{
	return value == PERF_VALUE_RAW_BER ? 1 : 100;
}

/* Forgets buckets that are older than a window before that time. */
static void advance(struct state *state, const struct perf_rule *rule, uint64_t at_ns)
{
	uint32_t now = (uint32_t)(at_ns / (rule->window_s * NS_PER_S / BUCKETS));
	unsigned int columns = is_ratio(rule->value) ? 2 : 1;

	if (now <= state->bucket)
		return;
	for (uint32_t i = 0; i < MIN(now - state->bucket, BUCKETS); i++)
		for (unsigned int column = 0; column < columns; column++)
			state->counted[column * BUCKETS + (now - i) % BUCKETS] = 0;
	state->bucket = now;
}

static void count(struct state *state, const struct perf_rule *rule, const struct sample *sample)
{
	unsigned int at;

	advance(state, rule, sample->at_ns);
	at = state->bucket % BUCKETS;
	if (is_ratio(rule->value)) {
		state->counted[at] += (float)sample->amount;
		state->counted[BUCKETS + at] += (float)sample->time_s;
	} else {
		/* As the readings are `windows` apart, one of these had at least that much. */
		double windows = MAX(1, ceil(sample->time_s / rule->window_s - 0.01));

		state->counted[at] += (float)ceil(sample->amount / windows);
	}
}

static double sum(const float *buckets)
{
	double all = 0;

	for (unsigned int i = 0; i < BUCKETS; i++)
		all += buckets[i];
	return all;
}

/* *covered: whether that is about most of a window. */
static double measure(const struct state *state, const struct perf_rule *rule, bool *covered)
{
	double amount = sum(state->counted), time_s;

	*covered = true;
	if (!is_ratio(rule->value))
		return amount;
	time_s = sum(state->counted + BUCKETS);
	*covered = time_s >= rule->window_s * (BUCKETS - 1.0) / BUCKETS;
	return time_s > 0 ? amount / time_s * scale_of(rule->value) : 0;
}

static bool is_empty(const struct state *state, const struct perf_rule *rule)
{
	for (unsigned int i = 0; i < BUCKETS * (is_ratio(rule->value) ? 2 : 1); i++)
		if (state->counted[i] > 0)
			return false;
	return true;
}

/* ---- causes ---- */

/* The last image that is a window older than the new one; else the oldest of this process. */
static const struct perf_image *window_start(const struct sweep *s, uint32_t window_s)
{
	const struct perf_image *new = s->growth.new, *start = s->growth.old;

	for (unsigned int i = s->images->n - 1; i-- > 0;) {
		const struct perf_image *at = s->images->images[i];

		if (at->run != new->run || at->ended_ns > new->ended_ns)
			break;
		start = at;
		if (new->ended_ns - at->ended_ns >= window_s * NS_PER_S)
			break;
	}
	return start;
}

static void growth_free(void *data)
{
	perf_growth_clear(data);
	g_free(data);
}

static const struct perf_growth *growth_within(struct sweep *s, uint32_t window_s)
{
	const struct perf_image *start = window_start(s, window_s);
	struct perf_growth *growth;

	if (start == s->growth.old)
		return &s->growth;
	if (!s->windows)
		s->windows = g_hash_table_new_full(NULL, NULL, NULL, growth_free);
	growth = g_hash_table_lookup(s->windows, start);
	if (!growth) {
		growth = g_new(struct perf_growth, 1);
		perf_growth_init(growth, start, s->growth.new);
		g_hash_table_insert(s->windows, (void *)start, growth);
	}
	return growth;
}

static double sum_of_recent(const struct state *state, const struct perf_rule *rule,
			    uint64_t now_ns)
{
	uint64_t now = now_ns / (rule->window_s * NS_PER_S / BUCKETS);
	double sum = 0;

	for (uint32_t i = 0; i < BUCKETS && i <= state->bucket; i++)
		if (state->bucket - i + BUCKETS > now)
			sum += (double)state->counted[(state->bucket - i) % BUCKETS];
	return sum;
}

/* What rules with that window or a shorter one have counted of a value, but a ratio. */
static uint64_t counted(const void *judge, uint32_t row, unsigned int value)
{
	const struct sweep *s = judge;
	const struct perf_layout *layout = s->growth.new->layout;
	struct state key = {.guid = perf_layout_node_of(layout, row)->guid,
			    .port = layout->places[row].port};
	double most = 0;

	for (unsigned int i = s->judge->first[value]; i < s->rules->n;
	     i = s->rules->rules[i].next) {
		const struct perf_rule *rule = &s->rules->rules[i];
		const struct state *state;

		key.rule = (uint16_t)i;
		state = rule->window_s <= s->window_s ? g_hash_table_lookup(s->judge->states, &key)
						      : NULL;
		if (state)
			most = MAX(most, sum_of_recent(state, rule, s->now_ns));
	}
	return (uint64_t)most;
}

static struct perf_cause find_cause(struct sweep *s, const struct perf_rule *rule, uint32_t row)
{
	const struct perf_evidence evidence = {
		.images = s->images,
		.last = &s->growth,
		.window = growth_within(s, rule->window_s),
		.counted = counted,
		.judge = s,
	};

	s->window_s = rule->window_s;
	return perf_cause_find(&evidence, row, rule->value);
}

/* ---- beginning and ending ---- */

static void begin(struct sweep *s, struct state *state, const struct perf_rule *rule, uint32_t row,
		  double measured, bool at_least)
{
	struct perf_cause cause = find_cause(s, rule, row);
	const struct perf_layout *layout = s->growth.new->layout;
	struct perf_alarm *alarm = state->alarm = g_new0(struct perf_alarm, 1);
	uint64_t serial = ++s->judge->last_serial;

	*alarm = (struct perf_alarm){
		.serial = serial,
		.guid = state->guid,
		.port = state->port,
		.level = rule->level,
		.at_least = at_least,
		.unhealthy = rule->unhealthy ? serial : 0,
		.value = perf_rule_value_name(rule->value),
		.unit = perf_rule_value_unit(rule->value),
		.measured = measured,
		.limit = rule->limit,
		.window_s = rule->window_s,
		.since_ns = s->now_ns,
		.where = perf_port_name(layout, row),
		.cause = cause.text,
		.cause_word = perf_cause_word(cause.kind),
		.cause_guid = cause.guid,
		.cause_port = cause.port,
	};
	state->below_ns = 0;
	add_change(s, alarm, rule->value, true, PERF_END_CLEAR, measured);
}

static void end(struct sweep *s, struct state *state, const struct perf_rule *rule,
		enum perf_end why, double measured)
{
	add_change(s, state->alarm, rule->value, false, why, measured);
	g_clear_pointer(&state->alarm, alarm_free);
}

/*
 * Ends what has been below its limit for long enough. A window that is below counts from its begin,
 * and so does a reading that is longer than a window.
 */
static void look_whether_over(struct sweep *s, struct state *state, const struct perf_rule *rule,
			      enum perf_end why, double measured, const struct sample *sample)
{
	uint64_t window_ns = rule->window_s * NS_PER_S;
	uint64_t length_ns = MAX(window_ns, (uint64_t)(sample->time_s * NS_PER_S));

	if (measured >= rule->clear || sample->stuck) {
		state->below_ns = 0;
		return;
	}
	if (!state->below_ns)
		state->below_ns = sample->at_ns - MIN(length_ns, sample->at_ns);
	if (sample->at_ns - state->below_ns >= rule->clear_s * NS_PER_S)
		end(s, state, rule, why, measured);
}

/*
 * A port that counts nothing, as its link is down or its node gone. One that the SM may have
 * excluded for this is judged afresh when it is back.
 */
static void rest(struct sweep *s, struct state *state, const struct perf_rule *rule,
		 enum perf_end why)
{
	const struct sample now = {.at_ns = s->now_ns};
	bool covered;

	advance(state, rule, s->now_ns);
	if (state->alarm && state->alarm->unhealthy && why == PERF_END_UNUSED) {
		memset(state->counted, 0, state_bytes(rule->value) - sizeof(*state));
		end(s, state, rule, why, 0);
	} else if (state->alarm) {
		look_whether_over(s, state, rule, why, measure(state, rule, &covered), &now);
	}
}

static void go_on(struct sweep *s, struct state *state, const struct perf_rule *rule, uint32_t row)
{
	struct sample sample = {0};
	double measured;
	bool covered;

	if (!sample_of(s, row, rule->value, &sample)) {
		if (!state->alarm)
			advance(state, rule, s->now_ns);
		return;
	}
	count(state, rule, &sample);
	measured = measure(state, rule, &covered);
	if (state->alarm)
		look_whether_over(s, state, rule, PERF_END_CLEAR, measured, &sample);
	else if (covered && measured >= rule->limit)
		begin(s, state, rule, row, measured, sample.at_least);
}

/* Its link is down, or up but kept in INIT by the SM, perhaps for this. */
static bool is_unused(const struct sweep *s, const struct state *state, uint32_t row)
{
	return s->growth.new->flags[row] & PERF_DOWN ||
	       (state->alarm && state->alarm->unhealthy && is_held(s, row));
}

/* False: there is nothing left to keep. */
static bool update(struct sweep *s, struct state *state)
{
	const struct perf_rule *rule = &s->rules->rules[state->rule];
	const struct perf_layout *layout = s->growth.new->layout;
	uint32_t row = perf_layout_row(layout, state->guid, state->port);

	if (row == PERF_NONE || !perf_layout_node_of(layout, row)->active)
		rest(s, state, rule, PERF_END_GONE);
	else if (is_unused(s, state, row))
		rest(s, state, rule, PERF_END_UNUSED);
	else if (perf_rule_applies(s->rules, state->rule, layout, row))
		go_on(s, state, rule, row);
	else {
		if (state->alarm)
			end(s, state, rule, PERF_END_NO_RULE, 0);
		return false;
	}
	return state->alarm || !is_empty(state, rule);
}

static void update_all(struct sweep *s)
{
	GHashTableIter iter;
	struct state *state;

	g_hash_table_iter_init(&iter, s->judge->states);
	while (g_hash_table_iter_next(&iter, (void **)&state, NULL)) {
		size_t bytes = state_bytes(s->rules->rules[state->rule].value);

		if (update(s, state))
			continue;
		s->judge->bytes -= bytes;
		g_hash_table_iter_remove(&iter);
	}
}

/* ---- growth ---- */

/* A port counts something for the first time in a while. */
static void meet(struct sweep *s, uint32_t row, unsigned int number)
{
	const struct perf_layout *layout = s->growth.new->layout;
	struct perf_judge *judge = s->judge;
	struct state key = {.guid = perf_layout_node_of(layout, row)->guid,
			    .port = layout->places[row].port,
			    .rule = (uint16_t)number};
	size_t bytes = state_bytes(s->rules->rules[number].value);
	struct state *state;

	if (g_hash_table_contains(judge->states, &key) ||
	    !perf_rule_applies(s->rules, number, layout, row))
		return;
	if (g_hash_table_size(judge->states) >=
	    STATES_MIN + (uint64_t)STATES_PER_ROW * layout->n_rows) {
		judge->left_out++;
		return;
	}
	state = g_malloc0(bytes);
	*state = key;
	g_hash_table_add(judge->states, state);
	judge->bytes += bytes;
}

/* A ratio matters when it reaches the limit, a count when it grows. */
static void look_at_row(struct sweep *s, uint32_t row, unsigned int first)
{
	unsigned int value = s->rules->rules[first].value;
	struct sample sample;
	double ratio;

	if (!sample_of(s, row, value, &sample) || !(sample.amount > 0))
		return;
	ratio = sample.amount / sample.time_s * scale_of(value);
	for (unsigned int i = first; i < s->rules->n; i = s->rules->rules[i].next)
		if (!s->rules->rules[i].off &&
		    (!is_ratio(value) || ratio >= s->rules->rules[i].limit))
			meet(s, row, i);
}

/* The column whose growth makes a value grow. */
static unsigned int column_of(unsigned int value)
{
	return value == PERF_VALUE_XMIT_WAIT_SHARE ? PERF_XMIT_WAIT : value;
}

static void look_at_column(struct sweep *s, unsigned int first, const uint64_t *before,
			   const uint64_t *now)
{
	uint32_t n = s->growth.new->layout->n_rows, row;

	for (row = 0; row < n; row++) {
		uint32_t old = perf_growth_old_row(&s->growth, row);

		if (old != PERF_NONE && before[old] != now[row])
			look_at_row(s, row, first);
	}
}

/* All rows for a value that has rules, of which this one is the first. */
static void look_at_value(struct sweep *s, unsigned int first)
{
	const struct perf_image *old = s->growth.old, *new = s->growth.new;
	unsigned int value = s->rules->rules[first].value, column = column_of(value);

	if (value == PERF_VALUE_UTILISATION) {
		for (uint32_t row = 0; row < new->layout->n_rows; row++)
			look_at_row(s, row, first);
	} else if (column < PERF_VALUE_DETAILS) {
		look_at_column(s, first, old->total[column], new->total[column]);
	} else {
		for (uint32_t i = 0; i < new->n_details; i++)
			look_at_row(s, new->details[i].row, first);
	}
}

static void look_at_all(struct sweep *s)
{
	bool met[PERF_VALUES] = {false};

	for (unsigned int i = 0; s->growth.old && i < s->rules->n; i++) {
		if (met[s->rules->rules[i].value])
			continue;
		met[s->rules->rules[i].value] = true;
		look_at_value(s, i);
	}
}

/* ---- other rules ---- */

/* [number of an old rule]: that of the new one that is equal, or n. */
static unsigned int *match_rules(const struct perf_rules *old, const struct perf_rules *new)
{
	unsigned int *numbers = g_new(unsigned int, old->n);
	g_autofree bool *taken = g_new0(bool, new->n);

	for (unsigned int i = 0; i < old->n; i++) {
		unsigned int at = 0;

		while (at < new->n &&
		       (taken[at] || !perf_rule_same(old, &old->rules[i], new, &new->rules[at])))
			at++;
		if (at < new->n)
			taken[at] = true;
		numbers[i] = at;
	}
	return numbers;
}

static void find_first(struct perf_judge *judge)
{
	for (unsigned int value = 0; value < PERF_VALUES; value++)
		judge->first[value] = (uint16_t)judge->rules->n;
	for (unsigned int i = judge->rules->n; i-- > 0;)
		judge->first[judge->rules->rules[i].value] = (uint16_t)i;
}

/* A rule may ask for the unhealthy ports now while its alarm stands, or no longer. */
static void set_unhealthy(struct perf_judge *judge, struct perf_alarm *alarm, bool unhealthy)
{
	if (!unhealthy)
		alarm->unhealthy = 0;
	else if (!alarm->unhealthy)
		alarm->unhealthy = ++judge->last_serial;
}

/* States of rules that are gone are dropped; the others get the new numbers. */
static void take_rules(struct sweep *s, struct perf_rules *new)
{
	struct perf_judge *judge = s->judge;
	struct perf_rules *old = judge->rules;
	g_autofree unsigned int *numbers = NULL;
	GHashTable *states;
	GHashTableIter iter;
	struct state *state;

	if (old == new)
		return;
	judge->rules = perf_rules_ref(new);
	find_first(judge);
	if (!old)
		return;
	numbers = match_rules(old, new);
	states = g_hash_table_new_full(state_hash, state_equal, state_free, NULL);
	g_hash_table_iter_init(&iter, judge->states);
	while (g_hash_table_iter_next(&iter, (void **)&state, NULL)) {
		const struct perf_rule *was = &old->rules[state->rule];
		unsigned int number = numbers[state->rule];

		g_hash_table_iter_steal(&iter);
		if (number < new->n) {
			state->rule = (uint16_t)number;
			if (state->alarm)
				set_unhealthy(judge, state->alarm, new->rules[number].unhealthy);
			g_hash_table_add(states, state);
			continue;
		}
		if (state->alarm)
			end(s, state, was, PERF_END_NO_RULE, 0);
		judge->bytes -= state_bytes(was->value);
		state_free(state);
	}
	g_hash_table_unref(judge->states);
	judge->states = states;
	perf_rules_unref(old);
}

/* ---- the worst of a value at a port ---- */

/* That stands; NULL: nothing does. *unhealthy: the latest request of those that stand, or 0. */
static const struct perf_alarm *find_worst(const struct perf_judge *judge, uint64_t guid,
					   uint8_t port, unsigned int value, uint64_t *unhealthy)
{
	const struct perf_rules *rules = judge->rules;
	const struct perf_alarm *worst = NULL;

	*unhealthy = 0;
	for (unsigned int i = judge->first[value]; i < rules->n; i = rules->rules[i].next) {
		struct state key = {.guid = guid, .port = port, .rule = (uint16_t)i};
		const struct state *state = g_hash_table_lookup(judge->states, &key);

		if (!state || !state->alarm)
			continue;
		*unhealthy = MAX(*unhealthy, state->alarm->unhealthy);
		if (!worst || compare_alarms(state->alarm, worst) < 0)
			worst = state->alarm;
	}
	return worst;
}

static void show(struct perf_judge *judge, const struct shown *key, uint8_t level)
{
	struct shown *shown;

	if (level == PERF_OFF) {
		g_hash_table_remove(judge->shown, key);
		return;
	}
	shown = g_hash_table_lookup(judge->shown, key);
	if (!shown) {
		shown = g_memdup2(key, sizeof(*key));
		g_hash_table_add(judge->shown, shown);
	}
	shown->level = level;
}

/* Whether a change makes a difference to what stands at its port for its value. */
static bool is_event(struct perf_judge *judge, struct perf_event *change)
{
	const struct perf_alarm *alarm = change->alarm, *worst;
	struct shown key = {.guid = alarm->guid, .port = alarm->port, .value = change->value};
	const struct shown *shown = g_hash_table_lookup(judge->shown, &key);
	uint8_t before = shown ? shown->level : PERF_OFF, now;
	uint64_t ignored;

	worst = find_worst(judge, alarm->guid, alarm->port, change->value, &ignored);
	now = worst ? worst->level : PERF_OFF;
	if (change->began ? alarm->serial != (worst ? worst->serial : 0) || now <= before
			  : alarm->level != before || now >= before)
		return false;
	change->level = now;
	show(judge, &key, now);
	return true;
}

/* The changes that are events, the worst first. */
static GPtrArray *take_events(struct sweep *s)
{
	GPtrArray *events = g_ptr_array_new_with_free_func(event_free);

	g_ptr_array_sort(s->changes, worst_first);
	for (guint i = 0; i < s->changes->len; i++) {
		struct perf_event **change = (struct perf_event **)&s->changes->pdata[i];

		if (is_event(s->judge, *change))
			g_ptr_array_add(events, g_steal_pointer(change));
	}
	g_ptr_array_unref(s->changes);
	return events;
}

/* ---- a sweep ---- */

GPtrArray *perf_judge_sweep(struct perf_judge *judge, struct perf_rules *rules,
			    const struct perf_images *images, const struct perf_held *held,
			    uint64_t now_ns)
{
	struct sweep s = {
		.judge = judge,
		.rules = rules,
		.images = images,
		.held = held,
		.now_ns = now_ns,
		.changes = g_ptr_array_new_with_free_func(event_free),
	};

	perf_growth_init(&s.growth, images->n > 1 ? images->images[images->n - 2] : NULL,
			 perf_images_last(images));
	take_rules(&s, rules);
	look_at_all(&s);
	update_all(&s);
	perf_growth_clear(&s.growth);
	g_clear_pointer(&s.windows, g_hash_table_unref);
	return take_events(&s);
}

/* ---- what stands ---- */

static gint by_weight(gconstpointer a, gconstpointer b)
{
	return compare_alarms(*(struct perf_alarm *const *)a, *(struct perf_alarm *const *)b);
}

struct perf_alarms *perf_judge_alarms(const struct perf_judge *judge)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new();
	struct perf_alarms *alarms;
	GHashTableIter iter;
	struct shown *shown;
	uint64_t unhealthy;

	g_hash_table_iter_init(&iter, judge->shown);
	while (g_hash_table_iter_next(&iter, (void **)&shown, NULL)) {
		struct perf_alarm *alarm = alarm_copy(
			find_worst(judge, shown->guid, shown->port, shown->value, &unhealthy));

		alarm->unhealthy = unhealthy;
		g_ptr_array_add(list, alarm);
	}
	g_ptr_array_sort(list, by_weight);
	alarms = perf_alarms_new(MIN(list->len, PERF_ALARMS_MAX));
	alarms->last_serial = judge->last_serial;
	for (guint i = 0; i < list->len; i++)
		alarms->count[((struct perf_alarm *)list->pdata[i])->level]++;
	for (guint i = 0; i < list->len; i++) {
		struct perf_alarm *alarm = list->pdata[i];

		if (i >= alarms->n) {
			alarm_free(alarm);
			continue;
		}
		alarms->all[i] = *alarm; /* with its texts */
		g_free(alarm);
	}
	return alarms;
}

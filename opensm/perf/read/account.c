// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/read/account.h"

#include <string.h>

#include "complib/actor.h"
#include "iba/codes.h"
#include "iba/iba.h"

#define BIT(counter) (UINT32_C(1) << (counter))

/* ---- readings ---- */

#define IN_WIDE_ONLY                                                                               \
	(BIT(PERF_UNICAST_XMIT_PKTS) | BIT(PERF_UNICAST_RCV_PKTS) |                                \
	 BIT(PERF_MULTICAST_XMIT_PKTS) | BIT(PERF_MULTICAST_RCV_PKTS))
#define DATA_AND_PACKETS                                                                           \
	(BIT(PERF_XMIT_DATA) | BIT(PERF_RCV_DATA) | BIT(PERF_XMIT_PKTS) | BIT(PERF_RCV_PKTS))

static void put(struct perf_reading *reading, enum perf_counter counter, uint64_t value)
{
	reading->value[counter] = value;
	reading->have |= BIT(counter);
}

/* What the wide attribute has said is not replaced. */
static void put_narrow(struct perf_reading *reading, enum perf_counter counter, uint64_t value)
{
	if (!(reading->have & reading->wide & BIT(counter)))
		put(reading, counter, value);
}

void perf_read_narrow(struct perf_reading *reading, const uint8_t *data, uint16_t capability)
{
	struct iba_port_counters from;

	wire_decode(&iba_port_counters_type, data, &from);
#define PERF_COUNTER(name, field, width, select, kind, iba, dump, machine, number)                 \
	if (PERF_##name != PERF_XMIT_WAIT && PERF_##name != PERF_QP1_DROPPED)                      \
		put_narrow(reading, PERF_##name, from.field);
#define PERF_WIDE_COUNTER(name, field, iba, dump)
#include "perf/image/counters.def"
	if (capability & IBA_PM_CAP_XMIT_WAIT)
		put_narrow(reading, PERF_XMIT_WAIT, from.port_xmit_wait);
	if (capability & IBA_PM_CAP_QP1_DROP)
		put_narrow(reading, PERF_QP1_DROPPED, from.qp1_dropped);
}

uint32_t perf_wide_counters(uint16_t capability, uint32_t capability2)
{
	uint32_t counters = DATA_AND_PACKETS;

	if (capability & IBA_PM_CAP_EXTENDED_WIDTH)
		counters |= IN_WIDE_ONLY;
	if (!(capability2 & IBA_PM_CAP2_ADDITIONAL_EXTENDED))
		return counters;
	counters |= BIT(PERF_COUNTERS) - 1 - IN_WIDE_ONLY;
	if (!(capability & IBA_PM_CAP_XMIT_WAIT))
		counters &= ~BIT(PERF_XMIT_WAIT);
	if (!(capability & IBA_PM_CAP_QP1_DROP))
		counters &= ~BIT(PERF_QP1_DROPPED);
	return counters;
}

void perf_read_wide(struct perf_reading *reading, const uint8_t *data, uint16_t capability,
		    uint32_t capability2)
{
	uint32_t counters = perf_wide_counters(capability, capability2);
	struct iba_port_counters_extended from;

	wire_decode(&iba_port_counters_extended_type, data, &from);
#define PERF_COUNTER(name, field, width, select, kind, iba, dump, machine, number)                 \
	if (counters & BIT(PERF_##name))                                                           \
		put(reading, PERF_##name, from.field);
#define PERF_WIDE_COUNTER(name, field, iba, dump)                                                  \
	PERF_COUNTER(name, field, 0, 0, PERF_PACKETS, iba, dump, dump, NULL)
#include "perf/image/counters.def"
	reading->wide |= counters;
}

/* ---- rows ---- */

static size_t state_bytes(uint32_t n_rows)
{
	return (size_t)n_rows * (PERF_COUNTERS * sizeof(uint64_t) + 3 * sizeof(uint32_t) + 1);
}

static void make_columns(struct perf_accounts *accounts, struct perf_layout *layout)
{
	uint32_t n = layout->n_rows;
	uint64_t *column = g_malloc0(state_bytes(MAX(n, 1)));

	accounts->now = perf_image_new(layout, 0);
	for (int i = 0; i < PERF_COUNTERS; i++)
		accounts->last[i] = column + (size_t)i * n;
	accounts->wide = (uint32_t *)(column + (size_t)PERF_COUNTERS * n);
	accounts->clearing = accounts->wide + n;
	accounts->seen = accounts->clearing + n;
	accounts->moves = (uint8_t *)(accounts->seen + n);
}

struct perf_accounts *perf_accounts_new(struct perf_layout *layout)
{
	struct perf_accounts *accounts = g_new0(struct perf_accounts, 1);

	make_columns(accounts, layout);
	accounts->details = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return accounts;
}

static void free_columns(struct perf_accounts *accounts)
{
	perf_image_unref(accounts->now);
	g_free(accounts->last[0]);
}

void perf_accounts_free(struct perf_accounts *accounts)
{
	if (!accounts)
		return;
	free_columns(accounts);
	g_hash_table_unref(accounts->details);
	g_free(accounts);
}

static void copy_row(struct perf_accounts *to, uint32_t row, const struct perf_accounts *from,
		     uint32_t old)
{
	for (int i = 0; i < PERF_COUNTERS; i++) {
		to->now->total[i][row] = from->now->total[i][old];
		to->last[i][row] = from->last[i][old];
	}
	to->now->read_ns[row] = from->now->read_ns[old];
	to->now->at_least[row] = from->now->at_least[old];
	to->now->have[row] = from->now->have[old];
	to->now->flags[row] = from->now->flags[old];
	to->wide[row] = from->wide[old];
	to->clearing[row] = from->clearing[old];
	to->moves[row] = from->moves[old];
}

void perf_accounts_move(struct perf_accounts *accounts, struct perf_layout *layout)
{
	struct perf_accounts old = *accounts;
	g_autofree uint32_t *map = NULL;

	if (layout == old.now->layout)
		return;
	map = perf_layout_map(old.now->layout, layout);
	make_columns(accounts, layout);
	accounts->details = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	for (uint32_t row = 0; row < layout->n_rows; row++) {
		void *details = NULL;

		if (map[row] == PERF_NONE)
			continue;
		copy_row(accounts, row, &old, map[row]);
		if (g_hash_table_steal_extended(old.details, GUINT_TO_POINTER(map[row]), NULL,
						&details))
			g_hash_table_insert(accounts->details, GUINT_TO_POINTER(row), details);
	}
	free_columns(&old);
	g_hash_table_unref(old.details);
}

void perf_accounts_begin(struct perf_accounts *accounts)
{
	struct perf_image *now = accounts->now;

	memset(now->missed, 0, now->layout->n_rows * sizeof(*now->missed));
	memset(accounts->seen, 0, now->layout->n_rows * sizeof(*accounts->seen));
	for (uint32_t row = 0; row < now->layout->n_rows; row++) {
		now->flags[row] &= PERF_EVER;
		accounts->moves[row] &= PERF_MOVE_DOWN_READ | PERF_MOVE_LINK_DOWNED;
	}
}

/* ---- accounting ---- */

#define TENTHS_MAX 32000	/* of Gb/s: of a link whose rate is not known */
#define PACKET_MIN 20		/* octets */
#define TICKS_A_SECOND 250000000.0 /* of PortXmitWait, with the shortest tick */
#define LANES_MAX 12

static uint64_t limit_of(enum perf_counter counter, bool wide)
{
	return wide ? UINT64_MAX : (UINT64_C(1) << perf_counter_info[counter].width) - 1;
}

static void miss(struct perf_image *now, uint32_t row, uint32_t counters)
{
	now->at_least[row] |= counters;
	now->missed[row] |= counters;
}

/*
 * More than the link can carry in that time, with a margin for clocks and bursts: the agent tells
 * nonsense. Rates are payload rates of the SA, slower than what is on the wire.
 */
static bool is_possible(const struct perf_image *now, uint32_t row, enum perf_counter counter,
			uint64_t growth, uint64_t now_ns)
{
	unsigned int tenths = iba_rate_tenths(now->layout->places[row].rate);
	double seconds = (double)(now_ns - now->read_ns[row]) / NS_PER_S + 1;
	double bits = 2 * seconds * (tenths ? tenths : TENTHS_MAX) * 1e8, most = 0;

	switch (perf_counter_info[counter].kind) {
	case PERF_DATA:
		most = bits / 8 / 4;
		break;
	case PERF_PACKETS:
		most = bits / 8 / PACKET_MIN;
		break;
	case PERF_WAIT:
		most = 2 * seconds * TICKS_A_SECOND * LANES_MAX;
		break;
	case PERF_ERROR: /* at worst, each bit is wrong */
		most = bits;
		break;
	}
	return (double)growth <= most;
}

/*
 * It is a little lower than before, which is not what is left of it after a clearing: counters that
 * run backwards.
 */
static bool runs_backwards(uint64_t last, uint64_t value)
{
	return value < last && value > last - last / 8;
}

static void note_fall(struct perf_accounts *accounts, uint32_t row, enum perf_counter counter)
{
	enum perf_kind kind = perf_counter_info[counter].kind;
	bool data = kind == PERF_DATA || kind == PERF_PACKETS;

	miss(accounts->now, row, BIT(counter));
	if (accounts->clearing[row] & BIT(counter))
		accounts->now->flags[row] |= PERF_CLEARED;
	else
		accounts->now->flags[row] |=
			PERF_RESET | (data ? PERF_RESET_DATA : PERF_RESET_ERRORS);
	accounts->clearing[row] &= ~BIT(counter);
}

static void add_grown(struct perf_accounts *accounts, uint32_t row, unsigned int column,
		      uint64_t growth)
{
	if (perf_layout_node_of(accounts->now->layout, row)->type == IBA_NODE_SWITCH)
		accounts->grown[column] += growth;
}

/* True: it grew. */
static bool account_one(struct perf_accounts *accounts, uint32_t row, enum perf_counter counter,
			uint64_t value, bool wide, uint64_t now_ns)
{
	struct perf_image *now = accounts->now;
	uint64_t *last = &accounts->last[counter][row], growth;
	uint32_t bit = BIT(counter);
	bool fell = value < *last, backwards;

	if (!(now->have[row] & bit) || !(accounts->wide[row] & bit) != !wide) {
		if (now->have[row] & bit)
			miss(now, row, bit); /* another attribute tells it now */
		now->have[row] |= bit;
		accounts->wide[row] = (accounts->wide[row] & ~bit) | (wide ? bit : 0);
		*last = value;
		return false;
	}
	growth = fell ? value : value - *last;
	if (*last)
		accounts->moves[row] |= PERF_MOVE_SOME;
	if (*last && !fell)
		accounts->moves[row] &= ~PERF_MOVE_ALL_FELL;
	backwards = runs_backwards(*last, value);
	*last = value;
	if (fell && !backwards && is_possible(now, row, counter, growth, now_ns))
		note_fall(accounts, row, counter);
	if (value == limit_of(counter, wide)) {
		miss(now, row, bit);
		now->flags[row] |= PERF_SATURATED;
	}
	if (backwards || !is_possible(now, row, counter, growth, now_ns)) {
		miss(now, row, bit);
		now->flags[row] |= PERF_REFUSED;
		return false;
	}
	now->total[counter][row] += growth;
	add_grown(accounts, row, counter, growth);
	return growth != 0;
}

uint32_t perf_account(struct perf_accounts *accounts, uint32_t row,
		      const struct perf_reading *reading, uint64_t now_ns)
{
	struct perf_image *now = accounts->now;
	uint16_t before = now->flags[row];
	uint32_t grew = 0;

	if (!(before & PERF_READ))
		accounts->moves[row] |= PERF_MOVE_ALL_FELL;
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (reading->have & BIT(i) && account_one(accounts, row, i, reading->value[i],
							  reading->wide & BIT(i), now_ns))
			grew |= BIT(i);
	if (now->flags[row] & PERF_RESET)
		miss(now, row, now->have[row]);
	if (grew & BIT(PERF_LINK_DOWNED) && now->layout->places[row].peer != PERF_NONE)
		accounts->moves[now->layout->places[row].peer] |= PERF_MOVE_LINK_DOWNED;
	if (!(before & PERF_EVER))
		now->flags[row] |= PERF_BASELINE;
	accounts->seen[row] |= reading->have;
	now->flags[row] |= PERF_READ | PERF_EVER;
	if (accounts->wide[row] & BIT(PERF_XMIT_DATA))
		now->flags[row] &= ~PERF_NARROW;
	else
		now->flags[row] |= PERF_NARROW;
	now->read_ns[row] = now_ns;
	return grew;
}

/* From three quarters of its range on. */
static bool is_nearly_full(enum perf_counter counter, uint64_t value)
{
	uint64_t limit = limit_of(counter, false);

	return value >= limit - limit / 4;
}

uint32_t perf_account_full(const struct perf_accounts *accounts, uint32_t row)
{
	uint32_t narrow = accounts->now->have[row] & ~accounts->wide[row], full = 0;

	for (int i = 0; i < PERF_COUNTERS; i++)
		if (narrow & BIT(i) && is_nearly_full(i, accounts->last[i][row]))
			full |= BIT(i);
	return full;
}

void perf_account_cleared(struct perf_accounts *accounts, uint32_t row, uint32_t counters,
			  const struct perf_reading *after)
{
	struct perf_image *now = accounts->now;

	miss(now, row, counters);
	now->flags[row] |= PERF_CLEARED;
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (counters & after->have & BIT(i) && after->value[i] < accounts->last[i][row]) {
			now->total[i][row] += after->value[i];
			add_grown(accounts, row, i, after->value[i]);
			accounts->last[i][row] = after->value[i];
			accounts->clearing[row] &= ~BIT(i);
		}
}

/* ---- details ---- */

static void read_details(enum perf_attribute attribute, const uint8_t *data,
			 uint64_t value[PERF_DETAILS])
{
	struct iba_port_rcv_error_details port_rcv_error_details;
	struct iba_port_xmit_discard_details port_xmit_discard_details;
	struct iba_port_extended_speeds_counters port_extended_speeds_counters;
	struct iba_port_rcv_con_ctrl port_rcv_con_ctrl;
	struct iba_port_xmit_con_ctrl port_xmit_con_ctrl;

	switch (attribute) {
	case PERF_RCV_ERROR_DETAILS:
		wire_decode(&iba_port_rcv_error_details_type, data, &port_rcv_error_details);
		break;
	case PERF_XMIT_DISCARD_DETAILS:
		wire_decode(&iba_port_xmit_discard_details_type, data, &port_xmit_discard_details);
		break;
	case PERF_EXTENDED_SPEEDS:
		wire_decode(&iba_port_extended_speeds_counters_type, data,
			    &port_extended_speeds_counters);
		break;
	case PERF_RCV_CON_CTRL:
		wire_decode(&iba_port_rcv_con_ctrl_type, data, &port_rcv_con_ctrl);
		break;
	case PERF_XMIT_CON_CTRL:
	case PERF_ATTRIBUTES:
		wire_decode(&iba_port_xmit_con_ctrl_type, data, &port_xmit_con_ctrl);
		break;
	}
#define PERF_DETAIL(name, its_attribute, type, field, width, iba)                                  \
	if (PERF_##its_attribute == attribute)                                                     \
		value[PERF_DETAIL_##name] = type.field;
#include "perf/image/details.def"
}

/* Returns by how much it grew. */
static uint64_t account_detail(struct perf_detail_last *last, enum perf_detail detail,
			       uint64_t value, bool began_at_0)
{
	uint64_t limit = (UINT64_C(1) << perf_detail_info[detail].width) - 1;
	uint64_t growth = 0;
	uint32_t bit = BIT(detail);

	if (last->have & bit || began_at_0)
		growth = value < last->value[detail] ? value : value - last->value[detail];
	last->total[detail] += growth;
	if (value < last->value[detail] || value == limit)
		last->at_least |= bit;
	last->have |= bit;
	last->value[detail] = value;
	return growth;
}

void perf_account_details(struct perf_accounts *accounts, uint32_t row,
			  enum perf_attribute attribute, const uint8_t *data, bool began_at_0,
			  uint64_t now_ns)
{
	struct perf_detail_last *last =
		g_hash_table_lookup(accounts->details, GUINT_TO_POINTER(row));
	uint64_t value[PERF_DETAILS] = {0};

	if (!last) {
		last = g_new0(struct perf_detail_last, 1);
		g_hash_table_insert(accounts->details, GUINT_TO_POINTER(row), last);
	}
	read_details(attribute, data, value);
	for (int i = 0; i < PERF_DETAILS; i++)
		if (perf_detail_info[i].attribute == attribute)
			add_grown(accounts, row, PERF_COUNTERS + (unsigned int)i,
				  account_detail(last, i, value[i], began_at_0));
	last->read_ns = now_ns;
}

/* ---- images ---- */

void perf_accounts_end(struct perf_accounts *accounts)
{
	struct perf_image *now = accounts->now;

	for (uint32_t row = 0; row < now->layout->n_rows; row++)
		if (now->flags[row] & PERF_READ && now->have[row] & ~accounts->seen[row])
			miss(now, row, now->have[row] & ~accounts->seen[row]);
}

void perf_accounts_zero(struct perf_accounts *accounts)
{
	struct perf_image *now = accounts->now;
	uint32_t n = now->layout->n_rows;
	GHashTableIter iter;
	void *details;

	for (int i = 0; i < PERF_COUNTERS; i++)
		memset(now->total[i], 0, n * sizeof(*now->total[i]));
	memset(now->at_least, 0, n * sizeof(*now->at_least));
	g_hash_table_iter_init(&iter, accounts->details);
	while (g_hash_table_iter_next(&iter, NULL, &details)) {
		struct perf_detail_last *last = details;

		memset(last->total, 0, sizeof(last->total));
		last->at_least = 0;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct perf_detail_row *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

/* Most ports have none but zeros, which an image need not have, except where zeros say much. */
static bool is_kept(const struct perf_layout *layout, uint32_t row,
		    const struct perf_detail_last *last)
{
	uint64_t any = last->at_least;

	for (int i = 0; i < PERF_DETAILS; i++)
		any |= last->total[i];
	return any || layout->places[row].fec;
}

static uint32_t count_details(const struct perf_layout *layout, GHashTable *details)
{
	GHashTableIter iter;
	void *row, *value;
	uint32_t n = 0;

	g_hash_table_iter_init(&iter, details);
	while (g_hash_table_iter_next(&iter, &row, &value))
		n += is_kept(layout, GPOINTER_TO_UINT(row), value);
	return n;
}

static void copy_details(struct perf_image *image, GHashTable *details)
{
	GHashTableIter iter;
	void *row, *value;
	uint32_t n = 0;

	g_hash_table_iter_init(&iter, details);
	while (g_hash_table_iter_next(&iter, &row, &value)) {
		const struct perf_detail_last *last = value;
		struct perf_detail_row *to;

		if (!is_kept(image->layout, GPOINTER_TO_UINT(row), last))
			continue;
		to = &image->details[n++];
		to->row = GPOINTER_TO_UINT(row);
		to->have = last->have;
		to->at_least = last->at_least;
		to->read_ns = last->read_ns;
		memcpy(to->total, last->total, sizeof(to->total));
	}
	if (n)
		qsort(image->details, n, sizeof(*image->details), compare_rows);
}

struct perf_image *perf_accounts_image(const struct perf_accounts *accounts)
{
	const struct perf_image *now = accounts->now;
	struct perf_image *image =
		perf_image_new(now->layout, count_details(now->layout, accounts->details));

	perf_image_copy_columns(image, now);
	copy_details(image, accounts->details);
	memcpy(image->grown, accounts->grown, sizeof(image->grown));
	return image;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Congestion control: each rule of the simulator (congest.h) by figures that were worked out by
 * hand, on one switch with four hosts and on a line of two switches; and what settings do for the
 * victims of a hot spot.
 */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/congest_runs.h"

#define CREDITS 16
#define GBPS 32
#define TIMER 150 /* 300 ticks of 0.512 us at this rate */

/* A net, with settings for the whole of it, and a load without flows. */
struct bed {
	struct congest_net net;
	struct congest_set set;
	struct congest_settings settings;
	struct congest_flow flows[4];
	struct congest_load load;
	struct congest *congest;
};

static void bed_init(struct bed *bed, const char *spec)
{
	*bed = (struct bed){.set = {.name = "test",
				    .threshold = 15,
				    .packet_size = 8,
				    .increase = 1,
				    .timer = TIMER}};
	congest_net_init(&bed->net, spec, "minhop");
	for (unsigned int i = 0; i < 128; i++)
		congest_put_delay(&bed->set, i, 0);
}

/* From one host to another, by their places in the net. */
static void add_flow(struct bed *bed, uint32_t from, uint32_t to)
{
	bed->flows[bed->load.n_flows++] = (struct congest_flow){
		.from = bed->net.hosts[from],
		.lid = bed->net.fabric->ports[bed->net.hosts[to]].lid,
		.stop = CONGEST_FOREVER,
	};
}

/* After the set and flows are as they should be. */
static void bed_start(struct bed *bed)
{
	uint32_t n_flows = bed->load.n_flows;

	congest_settings_init(&bed->settings, &bed->net, &bed->set);
	bed->load = congest_load_of(&bed->net, &bed->settings);
	bed->load.credits = CREDITS;
	bed->load.gbps = GBPS;
	bed->load.flows = bed->flows;
	bed->load.n_flows = n_flows;
	bed->congest = congest_new(&bed->load);
}

static void bed_clear(struct bed *bed)
{
	congest_free(bed->congest);
	congest_settings_clear(&bed->settings);
	congest_net_clear(&bed->net);
}

/* The port of a switch to which a host is cabled. */
static uint32_t port_to(const struct bed *bed, uint32_t host)
{
	return bed->net.fabric->ports[bed->net.hosts[host]].peer;
}

static uint64_t delivered(const struct bed *bed, uint32_t flow)
{
	return congest_tally(bed->congest, flow)->delivered;
}

/* ---- packets ---- */

/* One tick for each of two links, and one until the host takes the packet. */
START_TEST(test_alone)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	add_flow(&bed, 0, 1);
	bed_start(&bed);
	congest_run(bed.congest, 100);
	ck_assert_uint_eq(congest_tally(bed.congest, 0)->sent, 100);
	ck_assert_uint_eq(delivered(&bed, 0), 98);
	ck_assert_uint_eq(congest_held(bed.congest), 2);
	ck_assert_uint_eq(congest_tally(bed.congest, 0)->marked, 0);
	bed_clear(&bed);
}
END_TEST

/* Two to one: each gets a half, and all buffers towards the target are full. */
START_TEST(test_shares)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.threshold = 0;
	add_flow(&bed, 0, 2);
	add_flow(&bed, 1, 2);
	add_flow(&bed, 0, 3);
	bed_start(&bed);
	congest_run(bed.congest, 1000);
	ck_assert_uint_eq(delivered(&bed, 0) + delivered(&bed, 1), 998);
	ck_assert_uint_ge(delivered(&bed, 0), 498);
	ck_assert_uint_ge(delivered(&bed, 1), 498);
	/* Host 0 takes turns, too, until its buffer at the switch is full: then every packet that
	 * leaves it makes room for one of either flow. */
	ck_assert_uint_ge(delivered(&bed, 2), 498);
	ck_assert_uint_le(delivered(&bed, 2), 500);
	bed_clear(&bed);
}
END_TEST

/* A host that takes a packet in two ticks: half the rate, and its buffer is full. */
START_TEST(test_slow_host)
{
	uint8_t *parts;
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	add_flow(&bed, 0, 1);
	bed_start(&bed);
	parts = g_malloc0(bed.net.fabric->n_ports);
	parts[bed.net.hosts[1]] = 2 * CONGEST_PARTS;
	bed.load.parts = parts;
	congest_run(bed.congest, 1000);
	ck_assert_uint_ge(delivered(&bed, 0), 498);
	ck_assert_uint_le(delivered(&bed, 0), 500);
	ck_assert_uint_ge(congest_held(bed.congest), 2 * CREDITS - 1);
	bed_clear(&bed);
	g_free(parts);
}
END_TEST

/* A burst, and no more; and bursts of 3 packets every 30 ticks on average. */
START_TEST(test_bursts)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	add_flow(&bed, 0, 1);
	add_flow(&bed, 2, 3);
	bed.flows[0].burst = 50;
	bed.flows[1].burst = 3;
	bed.flows[1].period = 30;
	bed.flows[1].stop = 30000;
	bed_start(&bed);
	congest_run(bed.congest, 52);
	ck_assert_uint_eq(delivered(&bed, 0), 50);
	congest_run(bed.congest, 40000);
	ck_assert_uint_eq(delivered(&bed, 0), 50);
	ck_assert_uint_ge(delivered(&bed, 1), 2800);
	ck_assert_uint_le(delivered(&bed, 1), 3200);
	ck_assert_uint_eq(congest_held(bed.congest), 0);
	bed_clear(&bed);
}
END_TEST

/* ---- marking ---- */

static void two_to_one(struct bed *bed)
{
	add_flow(bed, 0, 2);
	add_flow(bed, 1, 2);
}

static uint64_t marked(const struct bed *bed)
{
	return congest_tally(bed->congest, 0)->marked + congest_tally(bed->congest, 1)->marked;
}

/*
 * When the k-th packet leaves, k packets stay behind, until the buffers are full. So the first
 * (16 - Threshold) are not marked, and all others are, at the port to the target, which is a root.
 */
START_TEST(test_threshold)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.threshold = _i;
	two_to_one(&bed);
	bed_start(&bed);
	congest_run(bed.congest, 102); /* 101 have left, 100 of them were taken */
	ck_assert_uint_eq(marked(&bed), _i ? 100 - (16 - _i) : 0);
	ck_assert_uint_eq(congest_marks(bed.congest, port_to(&bed, 2), false),
			  _i ? 101 - (16 - _i) : 0);
	ck_assert_uint_eq(congest_marks(bed.congest, port_to(&bed, 2), true), 0);
	bed_clear(&bed);
}
END_TEST

/* The packets that could be marked are those after the first; on average one in Marking_Rate + 1.
 */
START_TEST(test_marking_rate)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.marking_rate = _i;
	two_to_one(&bed);
	bed_start(&bed);
	congest_run(bed.congest, 10002);
	ck_assert_double_eq_tol(congest_marks(bed.congest, port_to(&bed, 2), false),
				10000. / (_i + 1), _i ? 200 : 1);
	bed_clear(&bed);
}
END_TEST

/* Packets of 2,048 octets are 32 units of Packet_Size. */
START_TEST(test_packet_size)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.packet_size = _i;
	two_to_one(&bed);
	bed_start(&bed);
	congest_run(bed.congest, 102);
	ck_assert_uint_eq(marked(&bed), _i <= 32 ? 99 : 0);
	bed_clear(&bed);
}
END_TEST

/* Fields that ControlMap does not select do not count. */
START_TEST(test_control_map)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.marking_rate = 9;
	two_to_one(&bed);
	bed_start(&bed);
	bed.settings.set[0].control_map = 1 << 2;
	congest_run(bed.congest, 102);
	ck_assert_uint_eq(marked(&bed), 99); /* Marking_Rate does not count */
	congest_free(bed.congest);
	bed.settings.set[0].control_map = 0x1F & ~(1 << 2);
	bed.congest = congest_new(&bed.load);
	congest_run(bed.congest, 102);
	ck_assert_uint_eq(marked(&bed), 0);
	bed_clear(&bed);
}
END_TEST

/*
 * The target takes a packet in two ticks: the port to it lacks credits most of the time, and marks
 * only with its bit in the Victim_Mask. The link before that lacks credits in its turn, and is a
 * real victim. Hosts 0 and 1 are at the first switch of the line, 2 and 3 at the other.
 */
START_TEST(test_victim_mask)
{
	uint32_t between;
	uint8_t *parts;
	struct bed bed;

	bed_init(&bed, "mesh:2:2");
	bed.set.mask = _i;
	two_to_one(&bed);
	bed_start(&bed);
	parts = g_malloc0(bed.net.fabric->n_ports);
	parts[bed.net.hosts[2]] = 2 * CONGEST_PARTS;
	bed.load.parts = parts;
	congest_run(bed.congest, 1000);
	between = bed.net.fabric->ports[port_to(&bed, 2)].node;
	ck_assert_uint_ne(between, bed.net.fabric->ports[port_to(&bed, 0)].node);
	if (_i == CONGEST_MASK_NONE) {
		ck_assert_uint_eq(congest_marks(bed.congest, port_to(&bed, 2), true), 0);
		/* Until the buffers were full the first link was a root; not since. */
		ck_assert_uint_lt(marked(&bed), 100);
	} else {
		ck_assert_uint_ge(congest_marks(bed.congest, port_to(&bed, 2), true), 400);
	}
	for (uint32_t port = 0; port < bed.net.fabric->n_ports; port++)
		if (fabric_is_switch(bed.net.fabric, bed.net.fabric->ports[port].node) &&
		    port != port_to(&bed, 2) && _i != CONGEST_MASK_ALL)
			ck_assert_uint_eq(congest_marks(bed.congest, port, true), 0);
	bed_clear(&bed);
	g_free(parts);
}
END_TEST

/*
 * Hosts 0 and 1 are at the first switch, 2 and 3 at the other, all send to 2. The link between the
 * switches gets half of what the port to host 2 can take, and is a victim once the buffer behind it
 * is full; when host 3 stops, it gets all, and is a root.
 */
START_TEST(test_root_again)
{
	uint32_t path[UINT8_MAX];
	uint64_t early, before;
	struct bed bed;

	bed_init(&bed, "mesh:2:2");
	two_to_one(&bed);
	add_flow(&bed, 3, 2);
	bed.flows[2].stop = 1000;
	bed_start(&bed);
	ck_assert_uint_eq(congest_path(bed.congest, 0, path), 2);
	congest_run(bed.congest, 200);
	early = congest_marks(bed.congest, path[0], false);
	congest_run(bed.congest, 800);
	before = congest_marks(bed.congest, path[0], false);
	ck_assert_uint_eq(before, early);
	congest_run(bed.congest, 100); /* until what host 3 had sent is gone */
	before = congest_marks(bed.congest, path[0], false);
	congest_run(bed.congest, 500);
	ck_assert_uint_eq(congest_marks(bed.congest, path[0], false), before + 500);
	bed_clear(&bed);
}
END_TEST

/* ---- reaction ---- */

/* The first packet that is marked is the second to leave, in tick 2; the host takes it in tick 3.
 */
START_TEST(test_becn_delay)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	two_to_one(&bed);
	bed_start(&bed);
	bed.load.becn_ticks = _i;
	congest_run(bed.congest, 4);
	ck_assert_uint_eq(marked(&bed), 1);
	congest_run(bed.congest, _i);
	ck_assert_uint_eq(
		congest_tally(bed.congest, 0)->becns + congest_tally(bed.congest, 1)->becns, 0);
	congest_run(bed.congest, 1);
	ck_assert_uint_eq(
		congest_tally(bed.congest, 0)->becns + congest_tally(bed.congest, 1)->becns, 1);
	bed_clear(&bed);
}
END_TEST

/* CCTI rises by CCTI_Increase with each BECN as far as CCTI_Limit; a timer of 0 never ends. */
START_TEST(test_increase)
{
	struct bed bed;
	uint64_t becns;

	bed_init(&bed, "mesh:1:4");
	bed.set.increase = _i;
	bed.set.timer = 0;
	two_to_one(&bed);
	bed_start(&bed);
	congest_run(bed.congest, 60);
	becns = congest_tally(bed.congest, 0)->becns;
	ck_assert_uint_gt(becns, 10);
	ck_assert_uint_eq(congest_ccti(bed.congest, 0), MIN(becns * _i, 127));
	congest_run(bed.congest, 1000);
	ck_assert_uint_eq(congest_ccti(bed.congest, 0), _i ? 127 : 0);
	bed_clear(&bed);
}
END_TEST

/* A table that ends at 20, whether it has one block or two. */
START_TEST(test_limit)
{
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	congest_put_delay(&bed.set, _i, 0);
	bed.set.timer = 0;
	two_to_one(&bed);
	bed_start(&bed);
	congest_run(bed.congest, 1000);
	ck_assert_uint_eq(congest_ccti(bed.congest, 0), _i);
	bed_clear(&bed);
}
END_TEST

/* Without BECN, CCTI falls by 1 with each timer as far as CCTI_Min. */
START_TEST(test_timer)
{
	unsigned int before;
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.min = 5;
	two_to_one(&bed);
	bed.flows[0].stop = bed.flows[1].stop = 200;
	bed_start(&bed);
	ck_assert_uint_eq(congest_ccti(bed.congest, 0), 5);
	congest_run(bed.congest, 300);
	before = congest_ccti(bed.congest, 0);
	ck_assert_uint_gt(before, 50);
	congest_run(bed.congest, 7 * 2 * TIMER);
	ck_assert_uint_eq(congest_ccti(bed.congest, 0), before - 7);
	congest_run(bed.congest, 127 * 2 * TIMER);
	ck_assert_uint_eq(congest_ccti(bed.congest, 0), 5);
	bed_clear(&bed);
}
END_TEST

/* CCTI_Min 1 keeps a flow at entry 1: a packet takes 1 + multiplier / 2^shift ticks. */
static const struct {
	uint8_t shift;
	uint16_t multiplier;
	uint64_t packets; /* of 8,000 ticks */
} delays[] = {
	{0, 0, 8000}, {0, 1, 4000}, {0, 7, 1000}, {1, 1, 5333},
	{2, 1, 6400}, {3, 1, 7111}, {3, 8, 4000}, {3, 504, 125},
};

START_TEST(test_injection_delay)
{
	struct iba_congestion_control_entry entry = {delays[_i].shift, delays[_i].multiplier};
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.min = 1;
	bed.set.blocks[0].entry[1] = entry;
	add_flow(&bed, 0, 1);
	bed.flows[0].start = 1000; /* it does not make up for the time before that */
	bed_start(&bed);
	congest_run(bed.congest, 9000);
	ck_assert_uint_ge(congest_tally(bed.congest, 0)->sent, delays[_i].packets);
	ck_assert_uint_le(congest_tally(bed.congest, 0)->sent, delays[_i].packets + 1);
	bed_clear(&bed);
}
END_TEST

/* Two QPs of a host, each with a delay of 3: a quarter each, or both together. */
START_TEST(test_per_sl)
{
	uint64_t sent;
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	bed.set.min = 1;
	bed.set.per_sl = _i;
	congest_put_delay(&bed.set, 1, 3);
	add_flow(&bed, 0, 1);
	add_flow(&bed, 0, 2);
	bed_start(&bed);
	congest_run(bed.congest, 8000);
	sent = congest_tally(bed.congest, 0)->sent + congest_tally(bed.congest, 1)->sent;
	ck_assert_uint_eq(sent, _i ? 2000 : 4000);
	ck_assert_uint_eq(congest_tally(bed.congest, 0)->sent, sent / 2);
	bed_clear(&bed);
}
END_TEST

/* ---- fair shares ---- */

/*
 * A line of two switches. Hosts 0 and 1 share the link between them, host 0 also sends to host 1:
 * 0 to 2 and 1 to 3 get a half each, and 0 to 1 what 0 to 2 leaves of the link of host 0.
 */
START_TEST(test_fair)
{
	double *fair;
	struct bed bed;

	bed_init(&bed, "mesh:2:2");
	add_flow(&bed, 0, 2);
	add_flow(&bed, 1, 3);
	add_flow(&bed, 0, 1);
	bed_start(&bed);
	fair = congest_fair(bed.congest);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_double_eq_tol(fair[i], 0.5, 1e-9);
	g_free(fair);
	bed_clear(&bed);
}
END_TEST

/* Four to one on one switch would be a quarter; a target at half speed gives an eighth. */
START_TEST(test_fair_slow_host)
{
	uint8_t *parts;
	double *fair;
	struct bed bed;

	bed_init(&bed, "mesh:1:4");
	add_flow(&bed, 0, 3);
	add_flow(&bed, 1, 3);
	add_flow(&bed, 2, 3);
	add_flow(&bed, 2, 0);
	bed_start(&bed);
	parts = g_malloc0(bed.net.fabric->n_ports);
	parts[bed.net.hosts[3]] = 2 * CONGEST_PARTS;
	bed.load.parts = parts;
	fair = congest_fair(bed.congest);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_double_eq_tol(fair[i], 1. / 6, 1e-9);
	ck_assert_double_eq_tol(fair[3], 5. / 6, 1e-9);
	g_free(fair);
	g_free(parts);
	bed_clear(&bed);
}
END_TEST

/* ---- profiles ---- */

#define PROFILES 3 /* from CC_GENTLE on */

/* 128 hosts: S is 16, and entry i is (127 * 16 / (127 * 16 - i * 15))^2 - 1 packets. */
START_TEST(test_table)
{
	static const struct {
		unsigned int i;
		uint16_t multiplier; /* with shift 3 */
	} entries[] = {{0, 0}, {1, 0}, {8, 1}, {64, 21}, {100, 109}, {127, 2040}};
	struct congest_set set = {0};

	congest_put_table(&set, 128, 127);
	for (size_t e = 0; e < G_N_ELEMENTS(entries); e++) {
		const struct iba_congestion_control_entry *entry =
			&set.blocks[entries[e].i / CONGEST_BLOCK]
				 .entry[entries[e].i % CONGEST_BLOCK];

		ck_assert_uint_eq(entry->cct_shift, 3);
		ck_assert_uint_eq(entry->cct_multiplier, entries[e].multiplier);
	}
	ck_assert_uint_eq(set.blocks[0].ccti_limit, 63);
	ck_assert_uint_eq(set.blocks[1].ccti_limit, 127);
}
END_TEST

static double delay_at(const struct congest_set *set, unsigned int i)
{
	const struct iba_congestion_control_entry *entry =
		&set->blocks[i / CONGEST_BLOCK].entry[i % CONGEST_BLOCK];

	return (double)entry->cct_multiplier / (1 << entry->cct_shift);
}

/* For any number of hosts: from no delay up to a rate of half a fair share, never falling. */
START_TEST(test_tables)
{
	for (uint32_t hosts = 1; hosts <= 49152; hosts += 1 + hosts / 16)
		for (unsigned int limit = 63; limit <= 127; limit += 64) {
			struct congest_set set = {0};

			congest_put_table(&set, hosts, limit);
			ck_assert_double_eq(delay_at(&set, 0), 0);
			for (unsigned int i = 1; i <= limit; i++)
				ck_assert_double_ge(delay_at(&set, i), delay_at(&set, i - 1));
			ck_assert_double_ge(delay_at(&set, limit) + 1, MIN(2 * hosts, 16384));
		}
}
END_TEST

START_TEST(test_profiles)
{
	static const struct {
		unsigned int hosts, gbps;
		uint16_t timer[PROFILES], marking_rate[PROFILES];
	} known[] = {
		{128, 32, {300, 200, 100}, {2, 1, 0}},
		{128, 100, {256, 128, 64}, {7, 3, 1}},
		{128, 400, {256, 128, 64}, {31, 15, 7}},
		{1000, 200, {1024, 512, 256}, {15, 7, 3}},
		{49152, 100, {1024, 512, 256}, {7, 3, 1}},
		{2, 8, {7, 7, 7}, {0, 0, 0}},
	};

	for (size_t k = 0; k < G_N_ELEMENTS(known); k++)
		for (unsigned int p = 0; p < PROFILES; p++) {
			struct congest_set set;

			congest_set_init(&set, CC_GENTLE + p, known[k].hosts, known[k].gbps);
			ck_assert_uint_eq(set.timer, known[k].timer[p]);
			ck_assert_uint_eq(set.marking_rate, known[k].marking_rate[p]);
		}
}
END_TEST

/* ---- what they do ---- */

static void run_hot(const struct congest_net *net, const struct congest_set *set,
		    uint32_t contributors, struct congest_result *result)
{
	struct congest_settings settings;
	struct congest_load load;
	struct congest_hot hot;

	congest_settings_init(&settings, net, set);
	load = congest_load_of(net, &settings);
	congest_hot_init(&hot, net, contributors, 8, 3);
	congest_hot_run(&hot, &load, 80000, 20000, result);
	g_free(hot.flows);
	congest_settings_clear(&settings);
}

static const uint32_t degrees[] = {2, 8, 32};

/* Without congestion control victims starve; with it they and the hot spot do well. */
START_TEST(test_hot_spot)
{
	uint32_t contributors = degrees[_i];
	struct congest_set set = {.name = "none"};
	struct congest_result result;
	struct congest_net net;

	congest_net_init(&net, "fattree:8", "ftree");
	run_hot(&net, &set, contributors, &result);
	ck_assert_double_ge(result.hot, 0.99);
	ck_assert(contributors == 2 || result.victims < 0.2);
	for (unsigned int p = 0; p < PROFILES; p++) {
		congest_set_init(&set, CC_GENTLE + p, net.n_hosts, 100);
		run_hot(&net, &set, contributors, &result);
		ck_assert_msg(result.hot >= 0.85 && result.victims >= 0.8 && result.jain >= 0.9,
			      "%u to 1, %s: hot spot %.3f, victims %.3f, fairness %.3f",
			      contributors, set.name, result.hot, result.victims, result.jain);
	}
	congest_net_clear(&net);
}
END_TEST

/* On a line, each switch gives the host that is its own as much as all those behind it. */
START_TEST(test_parking_lot)
{
	struct congest_hot hot = {.n_contributors = 7, .n_flows = 7};
	struct congest_flow flows[7];
	struct congest_net net;

	congest_net_init(&net, "mesh:8:1", "minhop");
	for (uint32_t i = 0; i < 7; i++)
		flows[i] = (struct congest_flow){
			.from = net.hosts[1 + i],
			.lid = net.fabric->ports[net.hosts[0]].lid,
			.stop = CONGEST_FOREVER,
		};
	hot.flows = flows;
	for (unsigned int p = 0; p <= PROFILES; p++) {
		struct congest_set set = {.name = "none"};
		struct congest_settings settings;
		struct congest_result result;
		struct congest_load load;

		if (p < PROFILES)
			congest_set_init(&set, CC_GENTLE + p, net.n_hosts, 100);
		congest_settings_init(&settings, &net, &set);
		load = congest_load_of(&net, &settings);
		congest_hot_run(&hot, &load, 50000, 50000, &result);
		if (p == PROFILES)
			ck_assert_double_lt(result.jain, 0.5);
		else
			ck_assert_msg(result.jain >= 0.98 && result.hot >= 0.95,
				      "%s: fairness %.3f, rate %.3f", set.name, result.jain,
				      result.hot);
		congest_settings_clear(&settings);
	}
	congest_net_clear(&net);
}
END_TEST

static void run_crowd(const struct congest_net *net, const struct congest_set *set, uint32_t spots,
		      struct congest_crowd *crowd)
{
	GArray *flows = congest_uniform(net, 0.5, 1, 1);
	uint32_t background = flows->len;
	struct congest_settings settings;
	struct congest_load load;

	congest_add_spots(flows, net, spots, 10, 7);
	congest_settings_init(&settings, net, set);
	load = congest_load_of(net, &settings);
	congest_crowd_run(flows, 0, background, &load, 8000, 4000, crowd);
	congest_settings_clear(&settings);
	g_array_unref(flows);
}

/* Uniform traffic is as it was; beside hot spots it collapses without congestion control only. */
START_TEST(test_background)
{
	struct congest_set set = {.name = "none"};
	struct congest_crowd quiet, crowd;
	struct congest_net net;

	congest_net_init(&net, "fattree:6", "ftree");
	run_crowd(&net, &set, 0, &quiet);
	ck_assert_double_eq_tol(quiet.rate, 0.5, 0.01);
	run_crowd(&net, &set, 3, &crowd);
	ck_assert_double_lt(crowd.rate, 0.9 * quiet.rate);
	for (unsigned int p = 0; p < PROFILES; p++) {
		congest_set_init(&set, CC_GENTLE + p, net.n_hosts, 100);
		run_crowd(&net, &set, 0, &crowd);
		ck_assert_double_ge(crowd.rate, 0.99 * quiet.rate);
		ck_assert_double_le(crowd.wait, 1.1 * quiet.wait);
		run_crowd(&net, &set, 3, &crowd);
		ck_assert_msg(crowd.rate >= 0.98 * quiet.rate && crowd.wait <= 20 * quiet.wait,
			      "%s: rate %.3f, wait %.0f", set.name, crowd.rate, crowd.wait);
	}
	congest_net_clear(&net);
}
END_TEST

/* A target at half the speed of its link looks like a victim, and only the mask tells. */
START_TEST(test_slow_target)
{
	double victims[CONGEST_MASK_ALL + 1];
	struct congest_net net;
	struct congest_hot hot;
	uint8_t *parts;

	congest_net_init(&net, "fattree:8", "ftree");
	congest_hot_init(&hot, &net, 8, 8, 3);
	parts = g_malloc0(net.fabric->n_ports);
	parts[hot.target] = 2 * CONGEST_PARTS;
	for (unsigned int mask = 0; mask <= CONGEST_MASK_ALL; mask++) {
		struct congest_settings settings;
		struct congest_result result;
		struct congest_load load;
		struct congest_set set;

		congest_set_init(&set, CC_STANDARD, net.n_hosts, 100);
		set.mask = mask;
		congest_settings_init(&settings, &net, &set);
		load = congest_load_of(&net, &settings);
		load.parts = parts;
		congest_hot_run(&hot, &load, 80000, 20000, &result);
		victims[mask] = result.victims;
		congest_settings_clear(&settings);
	}
	ck_assert_double_ge(victims[CONGEST_MASK_HOSTS], 0.8);
	ck_assert_double_lt(victims[CONGEST_MASK_NONE], 0.2);
	g_free(parts);
	g_free(hot.flows);
	congest_net_clear(&net);
}
END_TEST

/* After the end, victims are free soon; a contributor needs 127 timers at most, of 6.25 ticks. */
START_TEST(test_times)
{
	struct congest_settings settings;
	struct congest_times times;
	struct congest_load load;
	struct congest_net net;
	struct congest_set set;
	struct congest_hot hot;

	congest_net_init(&net, "fattree:8", "ftree");
	congest_set_init(&set, CC_AGGRESSIVE, net.n_hosts, 100);
	congest_settings_init(&settings, &net, &set);
	load = congest_load_of(&net, &settings);
	congest_hot_init(&hot, &net, 8, 8, 3);
	congest_hot_times(&hot, &load, 60000, &times);
	ck_assert_uint_le(times.onset, 40000);
	ck_assert_uint_le(times.recovery, 10000);
	ck_assert_uint_le(times.idle, 127u * set.timer * 25 / 4 + 4096);
	g_free(hot.flows);
	congest_settings_clear(&settings);
	congest_net_clear(&net);
}
END_TEST

/* A seed always gives the same packets. */
START_TEST(test_same)
{
	struct congest_result a, b;
	struct congest_net net;
	struct congest_set set;

	congest_net_init(&net, "torus:4x4:2", "dfsssp");
	congest_set_init(&set, CC_STANDARD, net.n_hosts, 100);
	run_hot(&net, &set, 8, &a);
	run_hot(&net, &set, 8, &b);
	ck_assert_mem_eq(&a, &b, sizeof(a));
	congest_net_clear(&net);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("congest");
	TCase *tcase = tcase_create("rules");

	tcase_add_test(tcase, test_alone);
	tcase_add_test(tcase, test_shares);
	tcase_add_test(tcase, test_slow_host);
	tcase_add_test(tcase, test_bursts);
	tcase_add_loop_test(tcase, test_threshold, 0, 16);
	tcase_add_loop_test(tcase, test_marking_rate, 0, 11);
	tcase_add_loop_test(tcase, test_packet_size, 31, 34);
	tcase_add_test(tcase, test_control_map);
	tcase_add_loop_test(tcase, test_victim_mask, CONGEST_MASK_HOSTS, CONGEST_MASK_ALL + 1);
	tcase_add_test(tcase, test_root_again);
	tcase_add_loop_test(tcase, test_becn_delay, 0, 8);
	tcase_add_loop_test(tcase, test_increase, 0, 5);
	tcase_add_loop_test(tcase, test_limit, 1, 128);
	tcase_add_test(tcase, test_timer);
	tcase_add_loop_test(tcase, test_injection_delay, 0, G_N_ELEMENTS(delays));
	tcase_add_loop_test(tcase, test_per_sl, 0, 2);
	tcase_add_test(tcase, test_fair);
	tcase_add_test(tcase, test_fair_slow_host);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("profiles");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_table);
	tcase_add_test(tcase, test_tables);
	tcase_add_test(tcase, test_profiles);
	tcase_add_loop_test(tcase, test_hot_spot, 0, G_N_ELEMENTS(degrees));
	tcase_add_test(tcase, test_parking_lot);
	tcase_add_test(tcase, test_background);
	tcase_add_test(tcase, test_slow_target);
	tcase_add_test(tcase, test_times);
	tcase_add_test(tcase, test_same);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What sweeps read and set on a healthy fat tree, by attribute: each thing once, nothing twice, and
 * for a change only what it concerns.
 */
#include <check.h>
#include <string.h>

#include "scenario.h"
#include "tests/run_suite.h"

#define ATTRIBUTES 0x40

/* fattree:4 */
#define HOSTS 16
#define SWITCHES 20
#define PORTS 4 /* of a switch, without port 0; all have a cable */
#define CABLES (SWITCHES * PORTS / 2 + HOSTS / 2)
/* Between switches, except those by which a switch was found: both ends must report a new one. */
#define BOTH_ENDS (CABLES - HOSTS - (SWITCHES - 1))

struct costs {
	unsigned int gets[ATTRIBUTES], sets[ATTRIBUTES];
};

static void count(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		  const uint8_t *data, size_t length)
{
	struct costs *costs = arg;
	unsigned int attribute = (unsigned int)data[16] << 8 | data[17];

	(void)now_ns;
	(void)to;
	(void)from;
	if (length < IBA_MAD_BYTES || !iba_class_is_smp(data[1]) || attribute >= ATTRIBUTES)
		return;
	/* 14.2.5: these have no modifier. */
	if (attribute >= IBA_ATTR_NODE_DESCRIPTION && attribute <= IBA_ATTR_SWITCH_INFO)
		ck_assert_uint_eq(data[20] | data[21] | data[22] | data[23], 0);
	costs->gets[attribute] += data[3] == IBA_METHOD_GET;
	costs->sets[attribute] += data[3] == IBA_METHOD_SET;
}

/* Expected of one attribute. */
struct cost {
	uint16_t attribute;
	unsigned int gets, sets;
};

/* This many of the named attributes, and nothing else; ended by attribute 0. */
static void expect(struct scenario *s, struct costs *costs, const char *what,
		   const struct cost *expected)
{
	struct costs all = {0};

	for (; expected->attribute; expected++) {
		all.gets[expected->attribute] = expected->gets;
		all.sets[expected->attribute] = expected->sets;
	}
	for (unsigned int i = 0; i < ATTRIBUTES; i++)
		if (costs->gets[i] != all.gets[i] || costs->sets[i] != all.sets[i])
			scenario_fail(s, "%s: %u Gets and %u Sets of %s, not %u and %u", what,
				      costs->gets[i], costs->sets[i], iba_name(IBA_SET_ATTR, i),
				      all.gets[i], all.sets[i]);
	memset(costs, 0, sizeof(*costs));
}

static struct scenario *start(struct costs *costs)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	memset(costs, 0, sizeof(*costs));
	scenario_conf(s, "sweep_interval 1000\nlmc 0\n");
	sim_set_trace(s->sim, count, costs);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 5000);
	return s;
}

static struct scenario *up(struct costs *costs)
{
	struct scenario *s = start(costs);

	memset(costs, 0, sizeof(*costs));
	return s;
}

/*
 * Nothing is known: each cable is followed; each port is read; hosts and switches then get what
 * they need: LIDs, and each end of a cable ARMED and ACTIVE.
 */
START_TEST(bring_up)
{
	struct costs costs;
	struct scenario *s = start(&costs);

	ck_assert_uint_eq(costs.gets[IBA_ATTR_NODE_DESCRIPTION], SWITCHES + HOSTS);
	/* Once before it may be master, and again by the light sweep that follows. */
	ck_assert_uint_le(costs.gets[IBA_ATTR_NODE_INFO], 2 * (CABLES + 2) + BOTH_ENDS + 1);
	/* When it is found, when its ports are up, and by the light sweep. */
	ck_assert_uint_eq(costs.gets[IBA_ATTR_SWITCH_INFO], 3 * SWITCHES);
	ck_assert_uint_le(costs.gets[IBA_ATTR_PORT_INFO], SWITCHES * (PORTS + 1) + HOSTS + 8);
	ck_assert_uint_le(costs.sets[IBA_ATTR_PORT_INFO], 4 * CABLES + SWITCHES + 2);
	ck_assert_uint_eq(costs.gets[IBA_ATTR_LINEAR_FORWARDING_TABLE], 0); /* they were reset */
	ck_assert_uint_eq(costs.sets[IBA_ATTR_LINEAR_FORWARDING_TABLE], SWITCHES);
	ck_assert_uint_le(costs.sets[IBA_ATTR_SWITCH_INFO], 3 * SWITCHES);
	ck_assert_uint_eq(costs.gets[IBA_ATTR_MULTICAST_FORWARDING_TABLE], SWITCHES);
	ck_assert_uint_eq(costs.sets[IBA_ATTR_MULTICAST_FORWARDING_TABLE], 0);
	/* Of endports, a block of each switch and four of each host; and of their switch's port. */
	ck_assert_uint_eq(costs.gets[IBA_ATTR_P_KEY_TABLE], SWITCHES + 4 * HOSTS + HOSTS);
	ck_assert_uint_eq(costs.sets[IBA_ATTR_P_KEY_TABLE], HOSTS);
	scenario_free(s);
}
END_TEST

/* Each Set(PortInfo) keeps values that are right: writing them might retrain the link. */
static void check_kept(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		       const uint8_t *data, size_t length)
{
	unsigned int *sets = arg;
	struct iba_port_info info;

	(void)now_ns;
	(void)to;
	(void)from;
	if (!scenario_sets_port_info(data, length, &info))
		return;
	ck_assert_uint_eq(info.link_width_enabled, 0);
	ck_assert_uint_eq(info.link_speed_enabled, 0);
	ck_assert_uint_eq(info.link_speed_ext_enabled, 0);
	ck_assert_uint_eq(info.link_speed_ext_enabled2, 0);
	ck_assert_uint_eq(info.port_physical_state, 0);
	ck_assert_uint_eq(info.link_down_default_state, 0);
	++*sets;
}

START_TEST(links_are_not_trained_again)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int sets = 0;

	sim_set_trace(s->sim, check_kept, &sets);
	scenario_start(s);
	scenario_converge(s, 10);
	ck_assert_uint_gt(sets, 2 * CABLES);
	scenario_free(s);
}
END_TEST

/* "sweep off" of the console, whatever requests a sweep. Requests are done once allowed again. */
START_TEST(sweeps_are_not_allowed)
{
	struct costs costs;
	struct scenario *s = up(&costs);
	struct event_bus *bus = &daemon_context(s->daemon)->bus;

	event_emit(bus, EVENT_SWEEP_ALLOWED, 0);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	sim_link_set(s->sim, scenario_node(s, "spine-1-0"), 3, false);
	scenario_run_ms(s, 5000);
	ck_assert_uint_eq(costs.gets[IBA_ATTR_SWITCH_INFO] + costs.gets[IBA_ATTR_NODE_INFO], 0);
	event_emit(bus, EVENT_SWEEP_ALLOWED, 1);
	scenario_run_ms(s, 500);
	ck_assert_uint_ge(costs.gets[IBA_ATTR_SWITCH_INFO], SWITCHES);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* Sweeps without a change: light, each switch once; heavy, all is read, and nothing is set. */
START_TEST(nothing_changed)
{
	struct costs costs;
	struct scenario *s = up(&costs);

	for (unsigned int i = 0; i < 2; i++) {
		daemon_sweep(s->daemon, SWEEP_LIGHT);
		scenario_run_ms(s, 100);
		expect(s, &costs, "light",
		       (const struct cost[]){{IBA_ATTR_NODE_INFO, 1, 0},
					     {IBA_ATTR_SWITCH_INFO, SWITCHES, 0},
					     {0}});
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_run_ms(s, 100);
		expect(s, &costs, "heavy",
		       (const struct cost[]){
			       {IBA_ATTR_NODE_DESCRIPTION, SWITCHES + HOSTS, 0},
			       {IBA_ATTR_NODE_INFO, CABLES + 2, 0},
			       {IBA_ATTR_SWITCH_INFO, SWITCHES, 0},
			       {IBA_ATTR_PORT_INFO, SWITCHES * (PORTS + 1) + HOSTS, 0},
			       {0}});
		daemon_sweep(s->daemon, SWEEP_REROUTE);
		scenario_run_ms(s, 100);
		expect(s, &costs, "reroute", (const struct cost[]){{0}});
		daemon_sweep(s->daemon, SWEEP_GROUPS);
		scenario_run_ms(s, 100);
		expect(s, &costs, "groups", (const struct cost[]){{0}});
	}
	scenario_free(s);
}
END_TEST

/* A link between switches goes and comes: its ends are read, and routes move by few blocks. */
START_TEST(link_comes_and_goes)
{
	struct costs costs;
	struct scenario *s = up(&costs);
	unsigned int spine = scenario_node(s, "spine-1-0"), written;

	sim_link_set(s->sim, spine, 3, false);
	scenario_run_ms(s, 900);
	written = costs.sets[IBA_ATTR_LINEAR_FORWARDING_TABLE];
	ck_assert_uint_le(written, SWITCHES / 2);
	expect(s, &costs, "link lost",
	       (const struct cost[]){{IBA_ATTR_NODE_INFO, 1, 0},
				     {IBA_ATTR_SWITCH_INFO, 2, 2},
				     {IBA_ATTR_PORT_INFO, 2 * (PORTS + 1), 0},
				     {IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, written},
				     {0}});
	scenario_check(s);
	sim_link_set(s->sim, spine, 3, true);
	scenario_run_ms(s, 900);
	/* blocks with entries of which only some wait for the link are written twice */
	ck_assert_uint_le(costs.sets[IBA_ATTR_LINEAR_FORWARDING_TABLE], written + written / 4);
	costs.sets[IBA_ATTR_LINEAR_FORWARDING_TABLE] = 0;
	/* Each end reports the new cable; both were read because of their traps. */
	expect(s, &costs, "link back",
	       (const struct cost[]){{IBA_ATTR_NODE_INFO, 3, 0},
				     {IBA_ATTR_SWITCH_INFO, 4, 2},
				     {IBA_ATTR_PORT_INFO, 2 * (PORTS + 1), 4},
				     {IBA_ATTR_LINEAR_FORWARDING_TABLE, 2, 0},
				     {0}});
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* A host goes and comes: only its leaf and itself are read, and no routes change. */
START_TEST(host_comes_and_goes)
{
	struct costs costs;
	struct scenario *s = up(&costs);
	unsigned int node = scenario_node(s, "host-9");

	sim_node_set(s->sim, node, false);
	scenario_run_ms(s, 900);
	expect(s, &costs, "host gone",
	       (const struct cost[]){{IBA_ATTR_NODE_INFO, 1, 0},
				     {IBA_ATTR_SWITCH_INFO, 1, 1},
				     {IBA_ATTR_PORT_INFO, PORTS + 1, 0},
				     {0}});
	sim_node_set(s->sim, node, true);
	scenario_run_ms(s, 900);
	/* Its four blocks, and one of the leaf: was that reset, and its link down with it? */
	ck_assert_uint_le(costs.gets[IBA_ATTR_P_KEY_TABLE], 4 + 1);
	costs.gets[IBA_ATTR_P_KEY_TABLE] = 0;
	expect(s, &costs, "host back",
	       (const struct cost[]){{IBA_ATTR_NODE_DESCRIPTION, 1, 0},
				     {IBA_ATTR_NODE_INFO, 2, 0},
				     {IBA_ATTR_SWITCH_INFO, 2, 1},
				     {IBA_ATTR_PORT_INFO, PORTS + 2, 4},
				     {IBA_ATTR_LINEAR_FORWARDING_TABLE, 1, 0},
				     {0}});
	scenario_check(s);
	scenario_free(s);
}
END_TEST

static void expect_rename(struct scenario *s, struct costs *costs)
{
	sim_set_description(s->sim, scenario_node(s, "host-9"), "renamed");
	scenario_run_ms(s, 900);
	expect(s, costs, "host renamed",
	       (const struct cost[]){{IBA_ATTR_NODE_DESCRIPTION, 1, 0},
				     {IBA_ATTR_NODE_INFO, 1, 0},
				     {IBA_ATTR_PORT_INFO, 1, 0},
				     {0}});
}

/* Only a name has changed. */
START_TEST(renamed)
{
	struct costs costs;
	struct scenario *s = up(&costs);

	expect_rename(s, &costs);
	scenario_free(s);
}
END_TEST

/* No node answers behind a port whose link is up: light sweeps probe there, until one does. */
START_TEST(silent_host)
{
	struct costs costs;
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-9");

	memset(&costs, 0, sizeof(costs));
	scenario_conf(s, "sweep_interval 1000\n");
	sim_node_mute(s->sim, host, true);
	scenario_start(s);
	scenario_run_ms(s, 60 * 1000);
	scenario_check_log(s, "no device answers behind port", true);
	scenario_check_log(s, "SUBNET UP", true); /* in the end, despite the silent host */
	sim_set_trace(s->sim, count, &costs);
	daemon_sweep(s->daemon, SWEEP_LIGHT);
	scenario_run_ms(s, 900);
	ck_assert_uint_ge(costs.gets[IBA_ATTR_NODE_INFO], 2);
	sim_node_mute(s->sim, host, false);
	daemon_sweep(s->daemon, SWEEP_LIGHT);
	scenario_expect_at_most(s, scenario_converge(s, 20), 1000);
	scenario_free(s);
}
END_TEST

/* The console has all names read again; after that changes cost what they did before. */
START_TEST(names_again)
{
	struct costs costs;
	struct scenario *s = up(&costs);

	event_emit(&daemon_context(s->daemon)->bus, EVENT_DESCRIPTIONS_WANTED, 0);
	scenario_run_ms(s, 900);
	expect(s, &costs, "names",
	       (const struct cost[]){{IBA_ATTR_NODE_DESCRIPTION, SWITCHES + HOSTS, 0},
				     {IBA_ATTR_NODE_INFO, 1, 0}, /* the SM's neighbour */
				     {0}});
	expect_rename(s, &costs);
	scenario_free(s);
}
END_TEST

static uint64_t ms_until_swept(struct scenario *s, uint64_t partial)
{
	uint64_t begin = runtime_now(s->rt);

	while (counter_get(&daemon_context(s->daemon)->counters, sweeps_partial) < partial)
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + 100 * NS_PER_US);
	return (runtime_now(s->rt) - begin) / NS_PER_MS;
}

/* The first change after a quiet time is handled at once, later ones are collected for a while. */
START_TEST(first_change)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-9"), other = scenario_node(s, "host-12");
	uint64_t partial;

	scenario_conf(s, "sweep_interval 1000\n");
	scenario_start(s);
	scenario_converge(s, 10);
	partial = counter_get(&daemon_context(s->daemon)->counters, sweeps_partial);
	scenario_run_ms(s, 10 * 1000);
	sim_link_set(s->sim, host, 1, false);
	ck_assert_uint_lt(ms_until_swept(s, partial + 1), 5);
	sim_link_set(s->sim, other, 1, false);
	ck_assert_uint_ge(ms_until_swept(s, partial + 2), 10);
	scenario_free(s);
}
END_TEST

/* A device that answers but is not accepted is probed at growing intervals. */
START_TEST(odd_host)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-9");
	const struct counters *counters;
	struct sim_node_view other;
	uint64_t partial;

	scenario_start(s);
	scenario_converge(s, 10);
	counters = &daemon_context(s->daemon)->counters;
	sim_node_view(s->sim, scenario_node(s, "host-5"), &other);
	sim_set_node_guid(s->sim, host, _i ? other.node_guid : 0);
	sim_link_set(s->sim, host, 1, false);
	scenario_run_ms(s, 2000);
	sim_link_set(s->sim, host, 1, true);
	scenario_run_ms(s, 30000);
	partial = counter_get(counters, sweeps_partial);
	scenario_run_ms(s, 640 * 1000); /* 64 light sweeps */
	ck_assert_uint_le(counter_get(counters, sweeps_partial) - partial, 16);
	scenario_free(s);
}
END_TEST

struct queue {
	const struct scenario *s;
	int64_t longest;
};

static void look_at_queue(void *arg, uint64_t now_ns, const struct vendor_address *to,
			  uint64_t from, const uint8_t *data, size_t length)
{
	struct queue *queue = arg;
	const struct counters *counters = &daemon_context(queue->s->daemon)->counters;

	(void)now_ns;
	(void)to;
	(void)from;
	(void)data;
	(void)length;
	queue->longest = MAX(queue->longest, (int64_t)counter_get(counters, smp_waiting));
}

/* 40,000 blocks of LFTs and 28,000 rows of SL2VL tables are to be set here, or to be read back. */
START_TEST(few_wait)
{
	struct scenario *s = scenario_new("fattree:12", 1);
	struct queue queue = {.s = s};

	scenario_conf(s, _i ? "qos TRUE\n" : "lmc 5\n");
	scenario_start(s);
	sim_set_trace(s->sim, look_at_queue, &queue);
	scenario_converge(s, 60);
	sim_set_trace(s->sim, NULL, NULL);
	scenario_stop(s);
	scenario_start(s);
	sim_set_trace(s->sim, look_at_queue, &queue);
	scenario_converge(s, 60);
	ck_assert_int_gt(queue.longest, 1000);
	ck_assert_int_le(queue.longest, 4096 + 256); /* one visit may exceed the limit */
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("costs");
	TCase *tcase = tcase_create("costs");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, bring_up);
	tcase_add_test(tcase, links_are_not_trained_again);
	tcase_add_test(tcase, sweeps_are_not_allowed);
	tcase_add_test(tcase, nothing_changed);
	tcase_add_test(tcase, link_comes_and_goes);
	tcase_add_test(tcase, host_comes_and_goes);
	tcase_add_test(tcase, renamed);
	tcase_add_test(tcase, silent_host);
	tcase_add_test(tcase, first_change);
	tcase_add_test(tcase, names_again);
	tcase_add_loop_test(tcase, odd_host, 0, 2);
	tcase_add_loop_test(tcase, few_wait, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

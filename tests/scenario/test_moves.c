// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables that are swapped while the daemon reads and writes: SMPs on directed routes then reach
 * another device than they were meant for. What is believed afterwards must be what each holds.
 */
#include <check.h>
#include <inttypes.h>

#include "belief.h"
#include "tests/run_suite.h"

#define MOMENTS 30
#define SWITCHES 20

/* Two ports of switches whose cables are swapped. */
static const struct swap {
	const char *what;
	const char *node_a, *node_b;
	unsigned int port_a, port_b;
	unsigned int read_again; /* multicast tables of switches that are read after it */
} swaps[] = {
	{"two hosts", "leaf-1-0", "leaf-2-1", 1, 2, 0},
	/*
	 * It is unknown which of them got which Set; all is compared then, as after any such move.
	 */
	{"the SM's host and another", "leaf-0-0", "leaf-2-1", 1, 2, 2 * SWITCHES},
	{"two leaves", "spine-1-0", "spine-2-0", 1, 1, SWITCHES + 2},
	{"a leaf and a core", "spine-1-0", "spine-1-0", 1, 3, SWITCHES + 2},
	{"a host and a switch", "leaf-1-0", "leaf-2-0", 1, 3, SWITCHES + 1},
};

static void exchange(struct scenario *s, const struct swap *swap)
{
	scenario_expect(s, sim_cable_swap(s->sim, scenario_node(s, swap->node_a), swap->port_a,
					  scenario_node(s, swap->node_b), swap->port_b));
}

static void run_us(struct scenario *s, uint64_t us)
{
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
}

/* The fabric is as it should be, and the daemon's belief is true. */
static void expect_truth(struct scenario *s, const char *what, unsigned int moment)
{
	g_autofree char *wrong = NULL;

	scenario_converge(s, 60);
	wrong = scenario_belief_violation(s);
	if (!wrong)
		wrong = scenario_published_violation(s);
	if (wrong)
		scenario_fail(s, "%s, moment %u: %s", what, moment, wrong);
}

static struct scenario *scenario_on_first_host(void)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	return s;
}

/* While the fabric comes up for the first time. */
START_TEST(in_the_bring_up)
{
	for (unsigned int i = 0; i < MOMENTS; i++) {
		struct scenario *s = scenario_on_first_host();

		scenario_start(s);
		run_us(s, 300 + i * 400);
		exchange(s, &swaps[_i]);
		expect_truth(s, swaps[_i].what, i);
		scenario_free(s);
	}
}
END_TEST

struct writes {
	uint16_t attribute;
	uint64_t first_ns, last_ns;
};

static void note_write(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		       const uint8_t *data, size_t length)
{
	struct writes *writes = arg;

	(void)to;
	(void)from;
	if (!scenario_is_smp(data, length, IBA_METHOD_SET, writes->attribute))
		return;
	if (!writes->first_ns)
		writes->first_ns = now_ns;
	writes->last_ns = now_ns;
}

struct muting {
	struct scenario *s;
	bool active; /* links are being activated: from now on their nodes are identified first */
	bool done;
};

static void mute_who_is_asked(void *arg, uint64_t now_ns, const struct vendor_address *to,
			      uint64_t from, const uint8_t *data, size_t length)
{
	struct muting *muting = arg;
	struct iba_port_info info;

	(void)now_ns;
	(void)to;
	(void)from;
	if (scenario_sets_port_info(data, length, &info))
		muting->active |= info.port_state == IBA_PORT_ACTIVE;
	if (!muting->active || !scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_NODE_INFO))
		return;
	sim_node_mute(muting->s->sim, scenario_node(muting->s, "host-4"), true);
	sim_node_mute(muting->s->sim, scenario_node(muting->s, "host-11"), true);
	muting->done = true;
}

/*
 * Two hosts swap places during bring-up, before switches report changes, and do not answer the
 * probe whether they are still there: that leaves it unknown, so they are probed again.
 */
START_TEST(no_answer_from_behind_a_cable)
{
	struct scenario *s = scenario_on_first_host();
	struct muting muting = {.s = s};

	scenario_conf(s, "sweep_interval 0\n");
	scenario_start(s);
	while (!scenario_counters(s).sets) /* the first Sets clear PortStateChange */
		run_us(s, 1);
	exchange(s, &swaps[0]);
	sim_set_trace(s->sim, mute_who_is_asked, &muting);
	scenario_run_ms(s, 3000);
	ck_assert(muting.done);
	sim_set_trace(s->sim, NULL, NULL);
	sim_node_mute(s->sim, scenario_node(s, "host-4"), false);
	sim_node_mute(s->sim, scenario_node(s, "host-11"), false);
	expect_truth(s, swaps[0].what, 0);
	scenario_free(s);
}
END_TEST

/* While forwarding tables are written for the first time: which switch got which? */
START_TEST(while_tables_are_written)
{
	struct scenario *s = scenario_on_first_host();
	struct writes writes = {.attribute = IBA_ATTR_LINEAR_FORWARDING_TABLE};
	uint64_t from_us, steps_us;

	sim_set_trace(s->sim, note_write, &writes);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_free(s);
	from_us = writes.first_ns / NS_PER_US - 100;
	steps_us = (writes.last_ns - writes.first_ns) / NS_PER_US + 200;
	for (unsigned int i = 0; i < 2 * MOMENTS; i++) {
		s = scenario_on_first_host();
		scenario_start(s);
		run_us(s, from_us + i * steps_us / (2 * MOMENTS));
		exchange(s, &swaps[_i]);
		expect_truth(s, swaps[_i].what, i);
		scenario_free(s);
	}
}
END_TEST

/* All ports are to get keys of their own from now on. */
static struct scenario *begin_to_give_keys(unsigned int level)
{
	struct scenario *s = scenario_on_first_host();
	g_autofree char *conf = scenario_keys_of_ports(s, level);

	scenario_start(s);
	scenario_converge(s, 10);
	scenario_conf(s, conf);
	ck_assert(daemon_reread(s->daemon, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	return s;
}

/* A key meant for one port may reach another, which then answers to none of its known keys. */
START_TEST(while_keys_are_given)
{
	const struct swap *swap = &swaps[_i / 2];
	struct scenario *s = begin_to_give_keys(1 + _i % 2);
	struct writes writes = {.attribute = IBA_ATTR_PORT_INFO};
	uint64_t now_ns = runtime_now(s->rt), from_ns, step_ns;

	sim_set_trace(s->sim, note_write, &writes);
	scenario_converge(s, 10);
	scenario_free(s);
	from_ns = writes.first_ns - now_ns;
	step_ns = (writes.last_ns - writes.first_ns) / MOMENTS;
	for (unsigned int i = 0; i < MOMENTS; i++) {
		s = begin_to_give_keys(1 + _i % 2);
		run_us(s, (from_ns + i * step_ns) / NS_PER_US);
		exchange(s, swap);
		expect_truth(s, swap->what, i);
		scenario_free(s);
	}
}
END_TEST

/* While a lost link is routed around, which writes tables; each case from the start, and back. */
START_TEST(in_a_sweep)
{
	struct scenario *s = scenario_on_first_host();
	unsigned int spine = scenario_node(s, "spine-3-0");

	scenario_start(s);
	expect_truth(s, "nothing", 0);
	for (unsigned int i = 0; i < MOMENTS; i++) {
		sim_link_set(s->sim, spine, 3, i % 2);
		run_us(s, 500 + i * 150);
		exchange(s, &swaps[_i]);
		expect_truth(s, swaps[_i].what, i);
	}
	scenario_free(s);
}
END_TEST

static void note_read(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	unsigned int *reads = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	*reads +=
		scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_MULTICAST_FORWARDING_TABLE);
}

/* A node that moved while another took its place has its tables read again. */
START_TEST(tables_are_read_again)
{
	struct scenario *s = scenario_on_first_host();
	unsigned int reads = 0;

	scenario_conf(s, "sweep_interval 1000\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 5000);
	sim_set_trace(s->sim, note_read, &reads);
	exchange(s, &swaps[_i]);
	scenario_converge(s, 9);
	ck_assert_uint_eq(reads, swaps[_i].read_again);
	scenario_free(s);
}
END_TEST

/* While nothing else happens; the switches report it, so it does not wait for a light sweep. */
START_TEST(in_peace)
{
	struct scenario *s = scenario_on_first_host();

	scenario_start(s);
	scenario_converge(s, 10);
	scenario_run_ms(s, 3000);
	for (unsigned int i = 0; i < 2; i++) {
		exchange(s, &swaps[_i]);
		scenario_expect_at_most(s, scenario_converge(s, 9), 2500);
		expect_truth(s, swaps[_i].what, i);
	}
	scenario_check_log(s, "the SM's port has moved", _i == 1);
	scenario_free(s);
}
END_TEST

/* Another takes the place of a host without any link going down: it has other tables. */
START_TEST(exchanged_unseen)
{
	struct scenario *s = scenario_on_first_host();
	unsigned int host = scenario_node(s, "host-5");

	scenario_start(s);
	scenario_converge(s, 10);
	sim_set_traps_lost(s->sim, true);
	exchange(s, &swaps[0]);
	scenario_run_ms(s, 100);
	sim_set_traps_lost(s->sim, false);
	scenario_expect(s, scenario_lid(s, host) != 0);
	expect_truth(s, "without traps", 0);
	scenario_free(s);
}
END_TEST

static struct scenario *scenario_with_a_partition(void)
{
	struct scenario *s = scenario_on_first_host();
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	g_autofree char *rules =
		g_strdup_printf("Default=0x7fff:ALL=full;\none=0x1:0x%016" PRIx64 "=full;\n",
				sim_port_guid(s->sim, scenario_node(s, "host-9"), 1));

	scenario_expect(s, g_file_set_contents(file, rules, -1, NULL));
	scenario_option(s, "-P", file);
	scenario_conf(s, "max_wire_smps 4\n");
	scenario_start(s);
	return s;
}

/* Both ends of a host's cable are in its switch: SMPs for the host reach the switch. */
START_TEST(bent_back)
{
	for (unsigned int i = 0; i < 4 * MOMENTS; i++) {
		struct scenario *s = scenario_with_a_partition();
		unsigned int host = scenario_node(s, "host-9"), leaf, port;
		g_autofree char *wrong = NULL;

		run_us(s, 6000 + 25 * i);
		scenario_expect(s, sim_peer(s->sim, host, 1, &leaf, &port));
		scenario_expect(s, sim_cable_move(s->sim, host, 1, leaf, port));
		scenario_run_ms(s, 3000);
		wrong = scenario_belief_violation(s);
		scenario_expect(s, !wrong);
		scenario_free(s);
	}
}
END_TEST

static unsigned int port_to(const struct scenario *s, unsigned int node, const char *peer_name)
{
	unsigned int peer, port, wanted = scenario_node(s, peer_name);

	for (port = 1; !sim_peer(s->sim, node, port, &peer, &(unsigned int){0}) || peer != wanted;)
		port++;
	return port;
}

/*
 * A host gets the cable from a switch to another one that is as far from the SM, and which has lost
 * it. Both switches are read at once, and the second one's answers are not about the new cable.
 */
START_TEST(instead_of_a_switch)
{
	struct scenario *s = scenario_new("torus:3x3:1", 1);
	unsigned int a, b, c, to_b, to_a, to_host;

	s->sm_guid = sim_port_guid(s->sim, scenario_node(s, "host-0"), 1);
	a = scenario_node(s, "switch-1-0");
	b = scenario_node(s, "switch-2-0");
	c = scenario_node(s, "switch-1-1");
	to_b = port_to(s, a, "switch-2-0");
	to_a = port_to(s, b, "switch-1-0");
	to_host = port_to(s, c, "host-4");
	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int i = 0; i < 4 * MOMENTS; i++) {
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		run_us(s, i);
		scenario_expect(s, sim_cable_swap(s->sim, a, to_b, c, to_host));
		run_us(s, 5);
		sim_link_set(s->sim, b, to_a, false);
		expect_truth(s, "a host instead of a switch", i);
		sim_link_set(s->sim, b, to_a, true);
		scenario_expect(s, sim_cable_swap(s->sim, a, to_b, c, to_host));
		expect_truth(s, "and back", i);
	}
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("moves");
	TCase *tcase = tcase_create("moves");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, in_the_bring_up, 0, G_N_ELEMENTS(swaps));
	tcase_add_loop_test(tcase, while_tables_are_written, 0, G_N_ELEMENTS(swaps));
	tcase_add_loop_test(tcase, while_keys_are_given, 0, 2 * G_N_ELEMENTS(swaps));
	tcase_add_test(tcase, no_answer_from_behind_a_cable);
	tcase_add_loop_test(tcase, in_a_sweep, 0, G_N_ELEMENTS(swaps));
	tcase_add_loop_test(tcase, tables_are_read_again, 0, G_N_ELEMENTS(swaps));
	tcase_add_loop_test(tcase, in_peace, 0, G_N_ELEMENTS(swaps));
	tcase_add_test(tcase, exchanged_unseen);
	tcase_add_test(tcase, bent_back);
	tcase_add_test(tcase, instead_of_a_switch);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

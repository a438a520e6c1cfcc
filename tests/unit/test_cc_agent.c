// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A congestion control agent whose device answers anything at all. */
#include <check.h>
#include <string.h>

#include "cc/agent.h"
#include "complib/actor.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static struct fabric *fabric;
static struct options *options;
static struct cc_plan plan;

static void free_bytes(void *bytes)
{
	g_bytes_unref(bytes);
}

static void setup(void)
{
	const struct key_rule rule = {.m_key = 0x1234};
	struct cc_size size;

	fabric = make_fabric("fattree:4", 0);
	options = options_new();
	options->congestion_control = true;
	options->cc_profile = CC_STANDARD;
	options->cc_key_mode = CC_KEY_SET;
	options->cc_key = 0x1234;
	plan = (struct cc_plan){
		.options = options,
		.on = true,
		.keys = key_ring_new(&rule),
		.settings = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, free_bytes, NULL),
		.fabric = fabric,
		.may_set = {true, true},
		.own_lid = 1,
		.now_ns = NS_PER_S,
	};
	size = cc_size_of(fabric);
	cc_values_make(options, &size, &plan.values);
}

static void teardown(void)
{
	key_ring_free(plan.keys);
	g_hash_table_unref(plan.settings);
	options_unref(options);
	fabric_unref(fabric);
}

static uint32_t random_port(GRand *random)
{
	for (;;) {
		uint32_t port = (uint32_t)g_rand_int_range(random, 0, (gint32)fabric->n_ports);

		if (fabric_is_endport(fabric, port))
			return port;
	}
}

/* Fields that decide are often 0 or small. */
static void random_data(GRand *random, uint8_t data[192])
{
	unsigned int kind = g_rand_int(random) % 4;

	for (unsigned int i = 0; i < 192; i++)
		data[i] = kind == 0 ? 0 : kind == 1 ? g_rand_int(random) % 3 : g_rand_int(random);
}

/* Whatever a device says, a round with it ends, and it is not asked for ever. */
START_TEST(any_device)
{
	GRand *random = g_rand_new_with_seed((guint32)_i);
	struct cc_agent *agent = cc_agent_new(0x99);
	unsigned int lazy = g_rand_int(random) % 10;

	cc_agent_place(agent, fabric, random_port(random));
	for (unsigned int round = 0; round < 20; round++) {
		unsigned int steps = 0;

		plan.on = g_rand_int(random) % 4 != 0;
		plan.keeps = g_rand_int(random) % 4 == 0;
		agent->saved = g_rand_int(random) % 2;
		plan.now_ns += (uint64_t)g_rand_int(random) % 200 * NS_PER_S;
		key_ring_again(plan.keys);
		cc_agent_begin(agent, &plan);
		for (;;) {
			struct cc_step step = cc_agent_next(agent, &plan);
			uint8_t data[192] = {0}, method;
			uint16_t attribute;
			uint32_t modifier;

			if (step.question == CC_ASK_NOTHING)
				break;
			ck_assert_uint_lt(steps++, 100);
			cc_agent_request(agent, &plan, &step, &method, &attribute, &modifier, data);
			ck_assert(!plan.keeps || agent->saved || method != IBA_METHOD_SET);
			if (g_rand_int(random) % 10 < lazy)
				random_data(random, data);
			switch (g_rand_int(random) % 8) {
			case 0:
				cc_agent_silence(agent, &plan, &step);
				break;
			case 1:
				cc_agent_refusal(agent, &plan, &step,
						 (uint16_t)(g_rand_int(random) % 8 << 2));
				break;
			default:
				cc_agent_answer(agent, &plan, &step, data);
			}
		}
	}
	cc_agent_free(agent);
	g_rand_free(random);
}
END_TEST

/* What is remembered of a CA may have the size of a switch, if the file is not ours. */
START_TEST(memory_of_another_kind)
{
	static const uint8_t octets[CC_OCTETS_MAX];
	static const size_t sizes[] = {CC_SWITCH_OCTETS, CC_CA_OCTETS, 2 * CC_CA_OCTETS,
				       3 * CC_CA_OCTETS};

	plan.on = false;
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		for (unsigned int i = 0; i < G_N_ELEMENTS(sizes); i++) {
			g_autoptr(GBytes) settings = g_bytes_new_static(octets, sizes[i]);
			struct cc_agent *agent;
			bool fits;

			if (!fabric_is_endport(fabric, port))
				continue;
			agent = cc_agent_new(0x99);
			cc_agent_remember(agent, settings);
			cc_agent_place(agent, fabric, port);
			fits = agent->is_switch ? i == 0 : i >= 2;
			ck_assert_int_eq(agent->original != NULL, fits);
			cc_agent_begin(agent, &plan);
			ck_assert_int_eq(agent->wanted != NULL, fits);
			cc_agent_free(agent);
		}
}
END_TEST

/* What it had is not forgotten when it tells another ControlTableCap for a while. */
START_TEST(another_table_cap)
{
	static const uint8_t octets[CC_OCTETS_MAX];
	g_autoptr(GBytes) settings = g_bytes_new_static(octets, 3 * CC_CA_OCTETS);
	const struct cc_step step = {.question = CC_ASK_INFO};
	struct cc_agent *agent = cc_agent_new(0x99);
	uint32_t port = 0;

	while (!fabric_is_endport(fabric, port) ||
	       fabric_is_switch(fabric, fabric->ports[port].node))
		port++;
	cc_agent_remember(agent, settings);
	cc_agent_place(agent, fabric, port);
	plan.on = false;
	for (unsigned int cap = 0; cap < 4; cap++) {
		uint8_t data[192] = {[2] = (uint8_t)cap};

		cc_agent_answer(agent, &plan, &step, data);
		cc_agent_place(agent, fabric, port);
		ck_assert_ptr_nonnull(agent->original);
		ck_assert_uint_le(agent->n_wanted, agent->n_read);
	}
	cc_agent_free(agent);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("cc_agent");
	TCase *tcase = tcase_create("agent");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, any_device, 0, 300);
	tcase_add_test(tcase, memory_of_another_kind);
	tcase_add_test(tcase, another_table_cap);
	suite_add_tcase(suite, tcase);
	return suite;
}

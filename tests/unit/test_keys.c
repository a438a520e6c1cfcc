// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What answers say about the M_Keys of ports, in any order of arrival. */
#include <check.h>

#include "sm/keys/keys_private.h"
#include "tests/run_suite.h"

#define OLD 0x11
#define NEW 0x22
#define NEWER 0x33

static struct options *options;
static struct sm sm;
static struct keys keys;
static struct builder_node sw, host, local;
static struct builder_port sw_ports[3], host_ports[3];

static void make_node(struct builder_node *node, struct builder_port *ports, uint8_t type,
		      uint64_t guid)
{
	*node = (struct builder_node){.guid = guid, .ports = ports};
	node->info.node_type = type;
	node->info.num_ports = 2;
	for (uint8_t i = 0; i < 3; i++)
		ports[i] = (struct builder_port){.node = node, .num = i};
}

static void setup(void)
{
	options = options_new();
	options->m_key = OLD;
	memset(&keys, 0, sizeof(keys));
	keys.ring = key_ring_new(&(struct key_rule){.m_key = OLD});
	keys.neighbors = neighbors_new();
	sm = (struct sm){
		.options = options, .keys = &keys, .local = &local, .builder = builder_new()};
	make_node(&sw, sw_ports, IBA_NODE_SWITCH, 0x100);
	make_node(&host, host_ports, IBA_NODE_CA, 0x200);
	host.entry = &host_ports[1];
}

static void teardown(void)
{
	builder_free(sm.builder);
	key_ring_free(keys.ring);
	neighbors_free(keys.neighbors);
	options_unref(options);
}

static struct sm_request ask(struct builder_port *port, uint8_t method, uint16_t attribute)
{
	struct sm_request request = {.sm = &sm, .node = port->node, .port = port};

	request.mad.target = port->node->guid;
	request.mad.target_port =
		builder_is_switch(port->node) || port == port->node->entry ? 0 : port->num;
	request.mad.method = method;
	request.mad.attribute = attribute;
	keys_use(&request);
	return request;
}

/* It is answered with success, with a PortInfo that has that key. */
static void answered(struct sm_request *request, uint64_t m_key)
{
	struct iba_port_info info = {.m_key = m_key};

	request->mad.result = MAD_OK;
	if (request->mad.attribute == IBA_ATTR_PORT_INFO)
		wire_encode(&iba_port_info_type, &info, request->mad.data);
	keys_answered(request);
}

/* A PortInfo read before the port got its new key has the old one, and arrives later. */
START_TEST(test_older_answer_does_not_count)
{
	struct sm_request get = ask(&sw_ports[0], IBA_METHOD_GET, IBA_ATTR_PORT_INFO);
	struct sm_request set = ask(&sw_ports[0], IBA_METHOD_SET, IBA_ATTR_PORT_INFO);

	ck_assert_uint_eq(get.mad.m_key, OLD);
	answered(&set, NEW);
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), NEW);
	answered(&get, OLD);
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), NEW);
	get = ask(&sw_ports[0], IBA_METHOD_GET, IBA_ATTR_PORT_INFO);
	ck_assert_uint_eq(get.mad.m_key, NEW);
	answered(&get, NEWER); /* read afterwards: another SM set this one */
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), NEWER);
}
END_TEST

/* Of crossing Sets of the key itself, each answer says what the port has. */
START_TEST(test_sets_that_cross)
{
	struct sm_request first = ask(&sw_ports[0], IBA_METHOD_SET, IBA_ATTR_PORT_INFO);
	struct sm_request second = ask(&sw_ports[0], IBA_METHOD_SET, IBA_ATTR_PORT_INFO);
	struct sm_request other =
		ask(&sw_ports[0], IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE);

	answered(&first, NEW);
	answered(&second, NEWER);
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), NEWER);
	answered(&other, 0); /* it was executed with the old one, before them */
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), NEWER);
}
END_TEST

/* A port without a key reports 0, or hides its key as 0: that is not a key. */
START_TEST(test_zero_is_no_key)
{
	struct sm_request get = ask(&sw_ports[0], IBA_METHOD_GET, IBA_ATTR_PORT_INFO);

	answered(&get, 0);
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), OLD);
	ck_assert_uint_eq(key_ring_size(sm.keys->ring), 0);
}
END_TEST

/* Other ports of a switch have no key; those of a host each have their own. */
START_TEST(test_whose_key)
{
	struct sm_request request = ask(&sw_ports[2], IBA_METHOD_GET, IBA_ATTR_PORT_INFO);

	answered(&request, NEW);
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[2]), OLD);
	request = ask(&host_ports[2], IBA_METHOD_GET, IBA_ATTR_PORT_INFO);
	answered(&request, NEW);
	ck_assert_uint_eq(keys_of_port(&sm, &host_ports[2]), NEW);
	ck_assert_uint_eq(keys_of_port(&sm, &host_ports[1]), OLD);
	request = ask(&host_ports[1], IBA_METHOD_GET, IBA_ATTR_PORT_INFO);
	answered(&request, NEWER);
	ck_assert_uint_eq(keys_of_port(&sm, &host_ports[1]), NEWER);
	ck_assert_uint_eq(keys_of_port(&sm, &host_ports[2]), NEW);
}
END_TEST

/* A request without an answer proves nothing; one refused with a status had the right key. */
START_TEST(test_which_answers_count)
{
	struct sm_request set = ask(&sw_ports[0], IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE);

	set.mad.result = MAD_TIMEOUT;
	keys_answered(&set);
	ck_assert_uint_eq(key_ring_size(sm.keys->ring), 0);
	set.mad.result = MAD_CANCELLED;
	keys_answered(&set);
	ck_assert_uint_eq(key_ring_size(sm.keys->ring), 0);
	set.mad.result = MAD_STATUS;
	keys_answered(&set);
	options->m_key = NEW;
	ask(&sw_ports[0], IBA_METHOD_GET, IBA_ATTR_NODE_INFO);
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[0]), OLD); /* known to have that one */
	ck_assert_uint_eq(keys_of_port(&sm, &host_ports[1]), NEW);
}
END_TEST

/* Once the option changed, silence may mean the other key; a key that opens is likely the right
 * one. */
START_TEST(test_other_key_after_silence)
{
	struct sm_request request;

	options->m_key = NEW;
	request = ask(&host_ports[1], IBA_METHOD_GET, IBA_ATTR_NODE_INFO);
	ck_assert_uint_eq(request.mad.m_key, NEW);
	request.phase = REQUEST_NO_ROUTE;
	ck_assert(!keys_try_another(&request));
	request.phase = REQUEST_FULL_RETRIES;
	request.mad.lid_only = true;
	request.mad.route.lid = 77; /* an unassigned LID */
	ck_assert(!keys_try_another(&request));
	request.mad.lid_only = false;
	ck_assert(keys_try_another(&request));
	ck_assert_uint_eq(request.mad.m_key, OLD);
	answered(&request, 0);
	ck_assert_uint_eq(keys_of_port(&sm, &host_ports[1]), OLD);
	request = ask(&sw_ports[1], IBA_METHOD_GET, IBA_ATTR_NODE_INFO);
	ck_assert(keys_try_another(&request));
	ck_assert(!keys_try_another(&request)); /* both were wrong: it is dead */
	request = ask(&sw_ports[1], IBA_METHOD_GET, IBA_ATTR_NODE_INFO);
	answered(&request, 0); /* any key opens a Get at level 0: that is not news */
	ck_assert_uint_eq(keys_of_port(&sm, &sw_ports[1]), NEW);
}
END_TEST

/* Requests to the SM's own port carry the key that it has, or will have. */
START_TEST(test_shown)
{
	ck_assert(keys_shown(&sm, 0));
	keys.own = OLD;
	ck_assert(keys_shown(&sm, OLD));
	ck_assert(!keys_shown(&sm, NEW));
	ck_assert(!keys_shown(&sm, 0));
	keys.own_wanted = NEW;
	ck_assert(keys_shown(&sm, OLD));
	ck_assert(keys_shown(&sm, NEW));
	ck_assert(!keys_shown(&sm, NEWER));
	keys.own = 0;
	ck_assert(keys_shown(&sm, NEW));
	ck_assert(!keys_shown(&sm, 0));
	keys.own_wanted = 0;
}
END_TEST

/* The device behind a cable is asked with the key of the previous one. */
START_TEST(test_key_of_the_neighbour)
{
	struct sm_request set = ask(&host_ports[1], IBA_METHOD_SET, IBA_ATTR_PORT_INFO), beyond;

	answered(&set, NEW);
	sw_ports[1].peer = &host_ports[1];
	beyond = (struct sm_request){.sm = &sm, .node = &sw, .port = &sw_ports[1], .beyond = true};
	keys_use(&beyond);
	ck_assert_uint_eq(beyond.mad.m_key, NEW);
	sw_ports[1].peer = NULL;
	keys_use(&beyond);
	ck_assert_uint_eq(beyond.mad.m_key, OLD);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("keys");
	TCase *tcase = tcase_create("keys");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_older_answer_does_not_count);
	tcase_add_test(tcase, test_sets_that_cross);
	tcase_add_test(tcase, test_zero_is_no_key);
	tcase_add_test(tcase, test_whose_key);
	tcase_add_test(tcase, test_which_answers_count);
	tcase_add_test(tcase, test_other_key_after_silence);
	tcase_add_test(tcase, test_shown);
	tcase_add_test(tcase, test_key_of_the_neighbour);
	suite_add_tcase(suite, tcase);
	return suite;
}

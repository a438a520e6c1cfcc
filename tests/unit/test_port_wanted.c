// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* PortInfo as the options ask for it. */
#include <check.h>

#include "sm/keys/keys_private.h"
#include "sm/write/pkey_private.h"
#include "sm/write/write.h"
#include "tests/run_suite.h"

static struct options *options;
static struct keys keys;
static struct p_keys p_keys;
static struct settings settings = {.p_keys = &p_keys};
static struct builder_node near_switch, far_switch;
static struct builder_port near_ports[2], far_ports[2];

/* Two switches with a cable, and ports that support everything but have only SDR enabled. */
static void setup(void)
{
	struct iba_port_info info = {
		.link_width_supported = IBA_WIDTH_1X | IBA_WIDTH_4X,
		.link_width_enabled = IBA_WIDTH_1X,
		.link_speed_supported = 7,
		.link_speed_enabled = IBA_SPEED_SDR,
		.link_speed_ext_supported = 15,
		.link_speed_ext_enabled = IBA_LINK_SPEED_EXT_DISABLED,
		.link_speed_ext_supported2 = IBA_SPEED_EXT2_XDR,
	};

	options = options_new();
	keys.ring = key_ring_new(&(struct key_rule){.m_key = 0});
	near_switch = (struct builder_node){.info.node_type = IBA_NODE_SWITCH, .ports = near_ports};
	far_switch = (struct builder_node){.info.node_type = IBA_NODE_SWITCH, .ports = far_ports};
	near_ports[1] = (struct builder_port){
		.node = &near_switch, .num = 1, .known = true, .info = info, .peer = &far_ports[1]};
	far_ports[1] = (struct builder_port){
		.node = &far_switch, .num = 1, .known = true, .info = info, .peer = &near_ports[1]};
}

static void teardown(void)
{
	key_ring_free(keys.ring);
	options_unref(options);
}

static struct iba_port_info wanted(uint8_t force_link_speed_ext)
{
	struct sm sm = {.keys = &keys, .settings = &settings, .options = options};
	struct iba_port_info want;

	options->force_link_speed_ext = force_link_speed_ext;
	port_wanted(&sm, &near_ports[1], &want);
	return want;
}

static const struct {
	uint8_t option, ext, ext2;
} speeds[] = {
	{31, 15, IBA_SPEED_EXT2_XDR},
	{0, IBA_LINK_SPEED_EXT_DISABLED, 0},
	{30, IBA_LINK_SPEED_EXT_DISABLED, 0},
	{IBA_SPEED_EXT_EDR, IBA_SPEED_EXT_EDR, 0},
	{15, 15, 0},
	{16, IBA_LINK_SPEED_EXT_DISABLED, IBA_SPEED_EXT2_XDR},
	{16 | IBA_SPEED_EXT_NDR, IBA_SPEED_EXT_NDR, IBA_SPEED_EXT2_XDR},
};

START_TEST(test_extended_speeds)
{
	struct iba_port_info want = wanted(speeds[_i].option);

	ck_assert_uint_eq(want.link_speed_ext_enabled, speeds[_i].ext);
	ck_assert_uint_eq(want.link_speed_ext_enabled2, speeds[_i].ext2);
	ck_assert_uint_eq(want.link_speed_enabled, 7);
	ck_assert_uint_eq(want.link_width_enabled, IBA_WIDTH_1X | IBA_WIDTH_4X);
}
END_TEST

/* Unsupported values are not requested. */
START_TEST(test_no_extended_speeds)
{
	near_ports[1].info.link_speed_ext_supported = 0;
	near_ports[1].info.link_speed_ext_supported2 = 0;
	ck_assert_uint_eq(wanted(31).link_speed_ext_enabled, IBA_LINK_SPEED_EXT_DISABLED);
	ck_assert_uint_eq(wanted(31).link_speed_ext_enabled2, 0);
	ck_assert_uint_eq(wanted(16).link_speed_ext_enabled2, 0);
}
END_TEST

/* ---- endports ---- */

static struct builder builder;
static struct builder_node host;
static struct builder_port host_ports[2], own;

/* A host at far_ports[1] whose PortInfo is just as the options ask, with an SM that is up. */
static struct sm make_host(void)
{
	struct sm sm = {
		.keys = &keys,
		.settings = &settings,
		.options = options,
		.builder = &builder,
		.schedule.succeeded = true,
	};
	struct iba_port_info want;

	own = (struct builder_port){.lid = 7};
	builder.sm_port = &own;
	host = (struct builder_node){.info.node_type = IBA_NODE_CA, .ports = host_ports};
	host_ports[1] = (struct builder_port){.node = &host, .num = 1, .known = true, .lid = 9};
	host_ports[1].peer = &far_ports[1];
	far_ports[1].peer = &host_ports[1];
	far_ports[1].info.mtu_cap = IBA_MTU_2048;
	far_ports[1].info.vl_cap = 2;
	host_ports[1].info.mtu_cap = IBA_MTU_4096;
	host_ports[1].info.vl_cap = 4;
	host_ports[1].info.port_state = IBA_PORT_ACTIVE;
	host_ports[1].info.capability_mask = IBA_PORT_CAP_CLIENT_REREGISTRATION;
	host_ports[1].info.master_sm_lid = 7;
	port_wanted(&sm, &host_ports[1], &want);
	host_ports[1].info = want;
	host_ports[1].reregistered = true;
	return sm;
}

static bool reregisters(const struct sm *sm)
{
	struct iba_port_info want;

	return port_wanted(sm, &host_ports[1], &want) && want.client_reregister;
}

/* What both ends of a cable support, and what the options say about endports. */
START_TEST(test_host)
{
	struct sm sm = make_host();
	struct iba_port_info want;

	ck_assert(!port_wanted(&sm, &host_ports[1], &want));
	ck_assert_uint_eq(want.neighbor_mtu, IBA_MTU_2048);
	ck_assert_uint_eq(want.operational_vls, 2);
	ck_assert_uint_eq(want.lid, 9);
	ck_assert_uint_eq(want.master_sm_lid, 7);
	ck_assert_uint_eq(want.gid_prefix, options->subnet_prefix);
	ck_assert_uint_eq(want.local_phy_errors, options->local_phy_errors_threshold);
	ck_assert_uint_eq(want.overrun_errors, options->overrun_errors_threshold);
	options->max_op_vls = 1;
	ck_assert(port_wanted(&sm, &host_ports[1], &want));
	ck_assert_uint_eq(want.operational_vls, 1);
	ck_assert(!want.client_reregister);
	far_ports[1].known = false; /* unknown, so it is not guessed */
	ck_assert(!port_wanted(&sm, &host_ports[1], &want));
	ck_assert_uint_eq(want.operational_vls, 2);
}
END_TEST

/* Clients reregister if their port is new, or has had another SM; else they are left alone. */
START_TEST(test_reregistration)
{
	struct sm sm = make_host();

	ck_assert(!reregisters(&sm));
	own.lid = 8; /* another SM, or this one at another LID */
	ck_assert(reregisters(&sm));
	own.lid = 7;
	host_ports[1].info.port_state = IBA_PORT_INIT;
	ck_assert(reregisters(&sm));
	options->no_clients_rereg = true;
	ck_assert(!reregisters(&sm));
	options->no_clients_rereg = false;
	host_ports[1].info.capability_mask = 0; /* it does not support that */
	ck_assert(!reregisters(&sm));
	host_ports[1].info.capability_mask = IBA_PORT_CAP_CLIENT_REREGISTRATION;
	host_ports[1].info.port_state = IBA_PORT_ACTIVE;
	host_ports[1].reregistered = false; /* it was gone, or its earlier state is unknown */
	ck_assert(reregisters(&sm));
}
END_TEST

/* Errors are counted at both ends of a cable, by switches as well as hosts. */
START_TEST(test_error_thresholds)
{
	struct sm sm = make_host();
	const struct builder_port *ends[] = {&host_ports[1], &far_ports[1]};

	options->local_phy_errors_threshold = 3;
	options->overrun_errors_threshold = 15;
	for (unsigned int i = 0; i < G_N_ELEMENTS(ends); i++) {
		struct iba_port_info want;

		ck_assert(port_wanted(&sm, ends[i], &want));
		ck_assert_uint_eq(want.local_phy_errors, 3);
		ck_assert_uint_eq(want.overrun_errors, 15);
	}
}
END_TEST

/* A switch port to a host has the limits of leaves, one to a switch those of others. */
START_TEST(test_leaf_limits)
{
	struct sm sm = make_host();
	struct iba_port_info want;

	options->leaf_vl_stall_count = 3;
	options->vl_stall_count = 5;
	options->leaf_head_of_queue_lifetime = 12;
	options->head_of_queue_lifetime = 14;
	ck_assert(port_wanted(&sm, &far_ports[1], &want));
	ck_assert_uint_eq(want.vl_stall_count, 3);
	ck_assert_uint_eq(want.hoq_life, 12);
	ck_assert_uint_eq(want.lid, 0); /* that is port 0's */
	ck_assert(!want.client_reregister);
	far_ports[1].peer = &near_ports[1];
	ck_assert(port_wanted(&sm, &far_ports[1], &want));
	ck_assert_uint_eq(want.vl_stall_count, 5);
	ck_assert_uint_eq(want.hoq_life, 14);
	port_wanted(&sm, &host_ports[1], &want);
	ck_assert_uint_eq(want.hoq_life, 0); /* a host does not forward */
}
END_TEST

/* Port 0 of a switch is an endport without a cable, where no errors are counted. */
START_TEST(test_port_0)
{
	struct sm sm = make_host();
	struct iba_port_info want;

	far_ports[0] = (struct builder_port){.node = &far_switch, .known = true, .lid = 11};
	far_ports[0].info.capability_mask = IBA_PORT_CAP_CLIENT_REREGISTRATION;
	key_ring_set(keys.ring, &(struct key_rule){.m_key = 0x1234});
	options->m_key_lease_period = 60;
	options->m_key_protection_level = 2;
	ck_assert(port_wanted(&sm, &far_ports[0], &want));
	ck_assert_uint_eq(want.lid, 11);
	ck_assert_uint_eq(want.m_key, 0x1234);
	ck_assert_uint_eq(want.m_key_lease_period, 60);
	ck_assert_uint_eq(want.m_key_protect_bits, 2);
	ck_assert_uint_eq(want.subnet_timeout, options->subnet_timeout);
	ck_assert_uint_eq(want.master_sm_lid, 7);
	ck_assert_uint_eq(want.local_phy_errors, 0);
	ck_assert_uint_eq(want.overrun_errors, 0);
	ck_assert(!want.client_reregister);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("port_wanted");
	TCase *tcase = tcase_create("link");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_extended_speeds, 0, G_N_ELEMENTS(speeds));
	tcase_add_test(tcase, test_no_extended_speeds);
	tcase_add_test(tcase, test_host);
	tcase_add_test(tcase, test_reregistration);
	tcase_add_test(tcase, test_error_thresholds);
	tcase_add_test(tcase, test_leaf_limits);
	tcase_add_test(tcase, test_port_0);
	suite_add_tcase(suite, tcase);
	return suite;
}

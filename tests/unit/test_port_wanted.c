// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* PortInfo as options want it. */
#include <check.h>

#include "sm/sm_private.h"
#include "tests/run_suite.h"

static struct options *options;
static struct builder_node near_switch, far_switch;
static struct builder_port near_ports[2], far_ports[2];

/* Two switches with a cable, and ports that can do everything but have only SDR enabled. */
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
	near_switch = (struct builder_node){.info.node_type = IBA_NODE_SWITCH, .ports = near_ports};
	far_switch = (struct builder_node){.info.node_type = IBA_NODE_SWITCH, .ports = far_ports};
	near_ports[1] = (struct builder_port){
		.node = &near_switch, .num = 1, .known = true, .info = info, .peer = &far_ports[1]};
	far_ports[1] = (struct builder_port){
		.node = &far_switch, .num = 1, .known = true, .info = info, .peer = &near_ports[1]};
}

static void teardown(void)
{
	options_unref(options);
}

static struct iba_port_info wanted(uint8_t force_link_speed_ext)
{
	struct sm sm = {.options = options};
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

/* What is not supported is not asked for. */
START_TEST(test_no_extended_speeds)
{
	near_ports[1].info.link_speed_ext_supported = 0;
	near_ports[1].info.link_speed_ext_supported2 = 0;
	ck_assert_uint_eq(wanted(31).link_speed_ext_enabled, IBA_LINK_SPEED_EXT_DISABLED);
	ck_assert_uint_eq(wanted(31).link_speed_ext_enabled2, 0);
	ck_assert_uint_eq(wanted(16).link_speed_ext_enabled2, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link");
	TCase *tcase = tcase_create("link");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_extended_speeds, 0, G_N_ELEMENTS(speeds));
	tcase_add_test(tcase, test_no_extended_speeds);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The report of a dry run: its data, and its text. */
#include <check.h>
#include <string.h>

#include "ctl/base/answer.h"
#include "ctl/plan/plan.h"
#include "sm/smp/dry_run.h"
#include "tests/run_suite.h"

#define GUID UINT64_C(0x100)

static void add(struct dry_run *dry, uint64_t guid, int port, uint16_t attribute, uint32_t modifier,
		const void *before, const void *after)
{
	const struct wire_type *type = dry_type(attribute);
	uint8_t is[IBA_SMP_DATA_BYTES] = {0}, want[IBA_SMP_DATA_BYTES] = {0};
	const struct dry_set set = {
		.guid = guid,
		.type = port > 0 ? IBA_NODE_CA : IBA_NODE_SWITCH,
		.port = port,
		.attribute = attribute,
		.modifier = modifier,
		.before = before ? is : NULL,
		.after = want,
	};

	if (before)
		wire_encode(type, before, is);
	wire_encode(type, after, want);
	dry_run_add(dry, &set);
}

static void add_port(struct dry_run *dry, const struct iba_port_info *before,
		     const struct iba_port_info *after)
{
	add(dry, GUID, 1, IBA_ATTR_PORT_INFO, 1, before, after);
}

static const struct dry_change *change_at(const struct dry_run *dry, guint node, guint change)
{
	const struct dry_node *at = dry->nodes->pdata[node];

	return at->changes->pdata[change];
}

static void append_field(void *arg, const char *name, const char *before, const char *after)
{
	g_string_append_printf(arg, "%s %s>%s ", name, before ? before : "?", after);
}

static char *fields_of(const struct dry_change *change)
{
	GString *out = g_string_new(NULL);

	dry_each_field(change, append_field, out);
	return g_string_free(out, FALSE);
}

static char *text_of(struct dry_run *dry, enum plan_exit expected)
{
	g_autoptr(GVariant) answer = NULL;
	GString *out = g_string_new(NULL);

	dry->complete = true;
	answer = g_variant_ref_sink(plan_answer(dry, 2));
	ck_assert_int_eq(plan_exit_code(answer), expected);
	print_plan(answer, out);
	return g_string_free(out, FALSE);
}

/* ---- fields ---- */

/* Two Sets of one port are one change, from the present to the future values. */
START_TEST(sets_of_a_port_are_joined)
{
	struct iba_port_info is = {.port_state = IBA_PORT_INIT, .mtu_cap = 5}, armed = is, active;
	struct dry_run *dry = dry_run_new();
	g_autofree char *fields = NULL;

	armed.lid = 7;
	armed.port_state = IBA_PORT_ARMED;
	active = armed;
	active.port_state = IBA_PORT_ACTIVE;
	add_port(dry, &is, &armed);
	add_port(dry, &armed, &active);
	fields = fields_of(change_at(dry, 0, 0));
	ck_assert_uint_eq(dry->nodes->len, 1);
	ck_assert_uint_eq(change_at(dry, 0, 0)->sets, 2);
	ck_assert_uint_eq(change_at(dry, 0, 0)->modifiers->len, 1);
	ck_assert_str_eq(fields, "lid 0x0000>0x0007 port_state Initialize>Active ");
	dry_run_free(dry);
}
END_TEST

START_TEST(keys_are_not_told)
{
	struct iba_port_info is = {.m_key = 0x1234}, want = {.m_key = 0x5678};
	struct dry_run *dry = dry_run_new();
	g_autofree char *fields = NULL;

	add_port(dry, &is, &want);
	fields = fields_of(change_at(dry, 0, 0));
	ck_assert_str_eq(fields, "m_key (hidden)>(hidden) ");
	ck_assert(dry_run_changes(dry));
	dry_run_free(dry);
}
END_TEST

/* GUIDs, LIDs, masks and numbers are each written as the IBA writes them. */
START_TEST(as_the_standard_writes_them)
{
	struct iba_port_info is = {.port_state = IBA_PORT_DOWN}, want = is;
	struct dry_run *dry = dry_run_new();
	g_autofree char *fields = NULL;

	want.gid_prefix = UINT64_C(0xFE80000000000000);
	want.capability_mask = 0x12;
	want.master_sm_lid = 0x1A;
	want.mtu_cap = 5;
	want.port_state = 7; /* has no name */
	add_port(dry, &is, &want);
	fields = fields_of(change_at(dry, 0, 0));
	ck_assert_str_eq(fields, "gid_prefix 0x0000000000000000>0xfe80000000000000 "
				 "master_sm_lid 0x0000>0x001a capability_mask 0x0>0x12 "
				 "port_state Down>7 mtu_cap 0>5 ");
	dry_run_free(dry);
}
END_TEST

START_TEST(what_was_not_read_is_not_told)
{
	struct iba_switch_info want = {.linear_fdb_top = 9};
	struct dry_run *dry = dry_run_new();
	g_autofree char *fields = NULL;

	add(dry, GUID, DRY_NODE, IBA_ATTR_SWITCH_INFO, 0, NULL, &want);
	fields = fields_of(change_at(dry, 0, 0));
	ck_assert_ptr_nonnull(strstr(fields, "linear_fdb_top ?>0x0009 "));
	dry_run_free(dry);
}
END_TEST

/* ---- clients that reregister ---- */

START_TEST(to_register_again_is_no_change)
{
	struct iba_port_info is = {.lid = 3, .port_state = IBA_PORT_ACTIVE}, want = is;
	struct dry_run *dry = dry_run_new();
	g_autofree char *text = NULL, *more = NULL;

	want.client_reregister = 1;
	add_port(dry, &is, &want);
	text = text_of(dry, PLAN_NOTHING);
	ck_assert_ptr_nonnull(strstr(text, "Nothing would change; clients"));
	ck_assert_ptr_nonnull(strstr(text, "clients to register again: 1\n"));
	/* The request to reregister stays when a later Set does not have it. */
	want.client_reregister = 0;
	want.subnet_timeout = 17;
	add_port(dry, &is, &want);
	more = text_of(dry, PLAN_CHANGES);
	ck_assert_ptr_nonnull(strstr(more, "subnet_timeout 0 -> 17"));
	ck_assert_ptr_nonnull(strstr(more, "clients to register again: 1\n"));
	dry_run_free(dry);
}
END_TEST

/* ---- tables ---- */

START_TEST(entries_of_tables_are_counted)
{
	struct iba_linear_forwarding_table is, want;
	struct iba_multicast_forwarding_table mft = {0};
	struct dry_run *dry = dry_run_new();
	g_autofree char *blocks = NULL, *fields = NULL;

	memset(&is, 1, sizeof(is));
	want = is;
	((uint8_t *)&want)[0] = 2;
	((uint8_t *)&want)[63] = 3;
	add(dry, GUID, DRY_NODE, IBA_ATTR_LINEAR_FORWARDING_TABLE, 4, &is, &want);
	add(dry, GUID, DRY_NODE, IBA_ATTR_LINEAR_FORWARDING_TABLE, 3, &is, &want);
	add(dry, GUID, DRY_NODE, IBA_ATTR_LINEAR_FORWARDING_TABLE, 9, &is, &want);
	ck_assert_uint_eq(change_at(dry, 0, 0)->entries, 6);
	blocks = dry_ranges(change_at(dry, 0, 0)->modifiers);
	fields = fields_of(change_at(dry, 0, 0));
	ck_assert_str_eq(blocks, "3-4,9");
	ck_assert_str_eq(fields, "");
	/* Of one that was not read: entries that differ from those after a reset. */
	memset(&want, IBA_PORT_NONE, sizeof(want));
	((uint8_t *)&want)[1] = 0;
	add(dry, GUID + 1, DRY_NODE, IBA_ATTR_LINEAR_FORWARDING_TABLE, 0, NULL, &want);
	ck_assert_uint_eq(change_at(dry, 1, 0)->entries, 1);
	((uint16_t *)&mft)[31] = 6;
	add(dry, GUID + 1, DRY_NODE, IBA_ATTR_MULTICAST_FORWARDING_TABLE, 0, NULL, &mft);
	ck_assert_uint_eq(change_at(dry, 1, 1)->entries, 1);
	dry_run_free(dry);
}
END_TEST

/* Entries of half an octet, and of several; one line is enough for ports that change alike. */
START_TEST(entries_of_qos_tables_are_counted)
{
	struct iba_sl_to_vl_table is = {{0}}, want = {{1, 0, 2}};
	struct iba_vl_arbitration_table arb = {{{0}}}, heavy = {{{0}, {1, 64}, {1, 0}, {0, 4}}};
	struct dry_run *dry = dry_run_new();
	g_autofree char *text = NULL;

	for (int port = 1; port <= 3; port++)
		add(dry, GUID, port, IBA_ATTR_SL_TO_VL_TABLE, (uint32_t)port << 8, &is, &want);
	for (int port = 1; port <= 2; port++)
		add(dry, GUID, port, IBA_ATTR_VL_ARBITRATION_TABLE, 1u << 16, &arb, &heavy);
	text = text_of(dry, PLAN_CHANGES);
	ck_assert_ptr_nonnull(strstr(text, "    ports 1-3 SLtoVLMappingTable: 6 entries by 3 "));
	ck_assert_ptr_nonnull(strstr(text, "    ports 1-2 VLArbitrationTable: 6 entries by 2 "));
	dry_run_free(dry);
}
END_TEST

START_TEST(ranges_have_a_bound)
{
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree char *none = dry_ranges(numbers), *many = NULL;

	for (uint32_t i = 100; i > 0; i--) {
		uint32_t number = i * 2;

		g_array_append_val(numbers, number);
	}
	many = dry_ranges(numbers);
	ck_assert_str_eq(none, "");
	ck_assert_str_eq(many, "2,4,6,8,10,12,14,16,18,20,22,24,...");
}
END_TEST

/* ---- the text ---- */

START_TEST(details_have_a_bound_and_sums_have_not)
{
	struct iba_switch_info is = {.life_time_value = 1}, want = {.life_time_value = 18};
	struct dry_run *dry = dry_run_new();
	struct dry_node *first;
	g_autofree char *text = NULL;

	for (uint64_t i = 0; i < 5; i++)
		add(dry, GUID + i, DRY_NODE, IBA_ATTR_SWITCH_INFO, 0, &is, &want);
	first = dry->nodes->pdata[0];
	first->name = g_strdup("evil\033[2J");
	first->description = g_strdup("host-1");
	text = text_of(dry, PLAN_CHANGES);
	ck_assert_ptr_nonnull(strstr(text, "switch 'evil\\x1b[2J' (0x0000000000000100)\n"));
	ck_assert_ptr_nonnull(strstr(text, "    SwitchInfo: life_time_value 1 -> 18\n"));
	ck_assert_ptr_nonnull(strstr(text, "... and 3 more nodes\n"));
	ck_assert_ptr_nonnull(strstr(text, "5 Sets,      5 nodes\n"));
	dry_run_free(dry);
}
END_TEST

START_TEST(ports_with_the_same_change_share_a_line)
{
	struct iba_port_info is = {.hoq_life = 1}, want = {.hoq_life = 16};
	struct dry_run *dry = dry_run_new();
	g_autofree char *text = NULL;

	for (int port = 1; port <= 4; port++)
		add(dry, GUID, port, IBA_ATTR_PORT_INFO, (uint32_t)port, &is, &want);
	want.hoq_life = 18;
	add(dry, GUID, 5, IBA_ATTR_PORT_INFO, 5, &is, &want);
	text = text_of(dry, PLAN_CHANGES);
	ck_assert_ptr_nonnull(strstr(text, "    ports 1-4 PortInfo: hoq_life 1 -> 16\n"));
	ck_assert_ptr_nonnull(strstr(text, "    port 5 PortInfo: hoq_life 1 -> 18\n"));
	dry_run_free(dry);
}
END_TEST

/* A LID that clients know is listed separately; a first one is counted. */
START_TEST(lids_that_change_are_told)
{
	struct iba_port_info is = {.lid = 3}, want = {.lid = 4}, none = {0};
	struct dry_run *dry = dry_run_new();
	g_autofree char *text = NULL;

	add_port(dry, &is, &want);
	add(dry, GUID + 1, 1, IBA_ATTR_PORT_INFO, 1, &none, &want);
	text = text_of(dry, PLAN_CHANGES);
	ck_assert_ptr_nonnull(strstr(text, "(0x0000000000000100) port 1: 0x0003 -> 0x0004\n"));
	ck_assert_ptr_nonnull(strstr(text, "LIDs: 1 new, 1 changed;"));
	dry_run_free(dry);
}
END_TEST

START_TEST(problems_decide_where_nothing_changes)
{
	struct iba_port_info is = {0}, want = {.lid = 4};
	struct dry_run *dry = dry_run_new();
	g_autofree char *nothing = text_of(dry, PLAN_NOTHING), *text = NULL, *more = NULL;
	g_autoptr(GVariant) broken = NULL;

	ck_assert_ptr_nonnull(strstr(nothing, "Nothing would change\n"));
	for (unsigned int i = 0; i < 60; i++)
		dry_run_problem(dry, "nobody answers");
	text = text_of(dry, PLAN_ERROR);
	ck_assert_ptr_nonnull(strstr(text, "problem: nobody answers\n... and 10 more problems\n"));
	add_port(dry, &is, &want);
	more = text_of(dry, PLAN_CHANGES);
	dry->complete = false;
	broken = g_variant_ref_sink(plan_answer(dry, 2));
	ck_assert_int_eq(plan_exit_code(broken), PLAN_ERROR);
	dry_run_free(dry);
}
END_TEST

TEST_SUITE
{
	Suite *s = suite_create("dry_run");
	TCase *tc = tcase_create("report");

	tcase_add_test(tc, sets_of_a_port_are_joined);
	tcase_add_test(tc, keys_are_not_told);
	tcase_add_test(tc, as_the_standard_writes_them);
	tcase_add_test(tc, what_was_not_read_is_not_told);
	tcase_add_test(tc, to_register_again_is_no_change);
	tcase_add_test(tc, entries_of_tables_are_counted);
	tcase_add_test(tc, entries_of_qos_tables_are_counted);
	tcase_add_test(tc, ranges_have_a_bound);
	tcase_add_test(tc, details_have_a_bound_and_sums_have_not);
	tcase_add_test(tc, ports_with_the_same_change_share_a_line);
	tcase_add_test(tc, lids_that_change_are_told);
	tcase_add_test(tc, problems_decide_where_nothing_changes);
	suite_add_tcase(s, tc);
	return s;
}

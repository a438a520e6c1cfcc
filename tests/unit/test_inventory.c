// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The inventory of tables: what was put in is found, what was published does not change. */
#include <check.h>
#include <string.h>

#include "subnet/inventory.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define SECOND UINT64_C(1000000000)
#define PORTS 5
#define KIND INVENTORY_GUID_INFO

static struct inventory_maker *maker;

static void setup(void)
{
	maker = inventory_maker_new();
}

static void teardown(void)
{
	inventory_maker_free(maker);
}

/* Puts n blocks, all present, whose first GUID is value. */
static void put(uint64_t guid, uint8_t port, uint64_t value, uint32_t n)
{
	g_autofree struct iba_guid_info *blocks = g_new0(struct iba_guid_info, n);
	g_autofree uint8_t *has = g_malloc0(n);

	memset(has, 1, n);
	blocks[0].guid[0] = value;
	inventory_put(maker, guid, PORTS, port, KIND, blocks, has, n, SECOND, 1);
}

/* The value that was put; 0 if unknown. */
static uint64_t get(const struct inventory *inventory, uint64_t guid, uint8_t port)
{
	const struct inventory_list *list;
	const struct iba_guid_info *info;

	if (inventory_look(inventory, guid, port, KIND, SECOND, &list) != INVENTORY_KNOWN)
		return 0;
	info = inventory_list_block(list, 0);
	return info->guid[0];
}

START_TEST(test_published_stays)
{
	struct inventory *first, *second;

	put(7, 1, 100, 2);
	first = inventory_publish(maker);
	put(7, 1, 200, 2);
	put(7, 2, 300, 2);
	put(3, 0, 400, 2);
	second = inventory_publish(maker);
	ck_assert_uint_gt(second->serial, first->serial);
	ck_assert_uint_eq(get(first, 7, 1), 100);
	ck_assert_uint_eq(get(first, 7, 2), 0);
	ck_assert_uint_eq(get(first, 3, 0), 0);
	ck_assert_uint_eq(get(second, 7, 1), 200);
	ck_assert_uint_eq(get(second, 7, 2), 300);
	ck_assert_uint_eq(get(second, 3, 0), 400);
	ck_assert_uint_eq(get(second, 7, PORTS), 0);
	ck_assert_uint_eq(get(NULL, 7, 1), 0);
	inventory_unref(first);
	ck_assert_uint_eq(get(second, 7, 1), 200);
	inventory_unref(second);
}
END_TEST

START_TEST(test_equal_tables_are_one)
{
	struct inventory *inventory;

	for (uint64_t guid = 1; guid <= 1000; guid++)
		for (uint8_t port = 0; port < PORTS; port++)
			put(guid, port, port % 2 + 1, 16);
	ck_assert_uint_eq(inventory_maker_lists(maker), 2);
	inventory = inventory_publish(maker);
	for (uint64_t guid = 1; guid <= 1000; guid++)
		ck_assert_uint_eq(get(inventory, guid, guid % PORTS), guid % PORTS % 2 + 1);
	inventory_unref(inventory);
}
END_TEST

/* Entries that are no longer referenced do not pile up. */
START_TEST(test_changes_do_not_pile_up)
{
	for (uint64_t value = 1; value <= 10000; value++) {
		put(1, 0, value, 1);
		if (value % 10 == 0)
			inventory_unref(inventory_publish(maker));
	}
	ck_assert_uint_le(inventory_maker_lists(maker), 100);
}
END_TEST

START_TEST(test_blocks)
{
	struct iba_guid_info blocks[4] = {{{1}}, {{0}}, {{3}}, {{0}}};
	const uint8_t has[4] = {1, 1, 0, 1};
	struct inventory_list *list = inventory_list_new(KIND, blocks, has, 4);
	struct iba_guid_info zero = {{0}};

	ck_assert_uint_eq(inventory_list_blocks(list), 4);
	ck_assert_uint_eq(inventory_list_count(list), 3);
	ck_assert(memcmp(inventory_list_block(list, 0), &blocks[0], sizeof(zero)) == 0);
	ck_assert(memcmp(inventory_list_block(list, 1), &zero, sizeof(zero)) == 0);
	ck_assert_ptr_null(inventory_list_block(list, 2));
	ck_assert(memcmp(inventory_list_block(list, 3), &zero, sizeof(zero)) == 0);
	ck_assert_ptr_null(inventory_list_block(list, 4));
	inventory_list_unref(list);
	list = inventory_list_new(KIND, NULL, NULL, 0); /* such a table has no block at all */
	ck_assert_uint_eq(inventory_list_blocks(list), 0);
	ck_assert_ptr_null(inventory_list_block(list, 0));
	inventory_list_unref(list);
}
END_TEST

static enum inventory_state state(uint64_t guid, enum inventory_kind kind, uint64_t now)
{
	struct inventory *inventory = inventory_publish(maker);
	const struct inventory_list *list;
	enum inventory_state state = inventory_look(inventory, guid, 1, kind, now, &list);

	ck_assert_int_eq(state, inventory_maker_look(maker, guid, 1, kind, now));
	inventory_unref(inventory);
	return state;
}

START_TEST(test_silence)
{
	inventory_put_silent(maker, 7, PORTS, 10 * SECOND, 1);
	ck_assert_int_eq(state(7, KIND, 10 * SECOND), INVENTORY_SILENT);
	ck_assert_int_eq(state(7, KIND, 10 * SECOND + INVENTORY_SILENT_NS), INVENTORY_UNKNOWN);
	ck_assert_int_eq(state(8, KIND, 10 * SECOND), INVENTORY_UNKNOWN);
	put(7, 1, 5, 1); /* it answers again */
	ck_assert_int_eq(state(7, KIND, 10 * SECOND), INVENTORY_KNOWN);
	ck_assert_int_eq(state(7, INVENTORY_P_KEYS, 10 * SECOND), INVENTORY_UNKNOWN);
	inventory_put_silent(maker, 7, PORTS, 20 * SECOND, 1);
	ck_assert_int_eq(state(7, KIND, 20 * SECOND), INVENTORY_KNOWN); /* what is known stays */
	ck_assert_int_eq(state(7, INVENTORY_P_KEYS, 20 * SECOND), INVENTORY_SILENT);
}
END_TEST

START_TEST(test_out_of_date)
{
	struct iba_sm_info info = {.guid = 7};
	const uint8_t has = 1;

	inventory_put(maker, 7, PORTS, 1, INVENTORY_SM_INFO, &info, &has, 1, 9 * SECOND, 1);
	put(7, 1, 5, 1);
	ck_assert_int_eq(state(7, INVENTORY_SM_INFO, 9 * SECOND), INVENTORY_KNOWN);
	ck_assert_int_eq(state(7, INVENTORY_SM_INFO, 9 * SECOND + INVENTORY_SM_INFO_NS),
			 INVENTORY_UNKNOWN);
	ck_assert_int_eq(state(7, KIND, 9 * SECOND + INVENTORY_SM_INFO_NS), INVENTORY_KNOWN);
	ck_assert(inventory_forget(maker, KIND));
	ck_assert(!inventory_forget(maker, KIND));
	ck_assert(!inventory_forget(maker, INVENTORY_P_KEYS));
	ck_assert_int_eq(state(7, KIND, 9 * SECOND), INVENTORY_UNKNOWN);
	ck_assert_int_eq(state(7, INVENTORY_SM_INFO, 9 * SECOND), INVENTORY_KNOWN);
	put(7, 2, 6, 1); /* of another port: this does not restore port 1's */
	ck_assert_int_eq(state(7, KIND, 9 * SECOND), INVENTORY_UNKNOWN);
}
END_TEST

static bool keep_even(void *arg, uint64_t guid, uint64_t sweep)
{
	ck_assert_uint_eq(sweep, 1);
	return *(bool *)arg && guid % 2 == 0;
}

START_TEST(test_prune)
{
	struct inventory *before;
	bool keep = true;

	for (uint64_t guid = 1; guid <= 10; guid++)
		put(guid, 0, guid, 1);
	before = inventory_publish(maker);
	ck_assert_uint_eq(inventory_prune(maker, keep_even, &keep), 5);
	for (uint64_t guid = 1; guid <= 10; guid++) {
		struct inventory *now = inventory_publish(maker);

		ck_assert_uint_eq(get(now, guid, 0), guid % 2 ? 0 : guid);
		ck_assert_uint_eq(get(before, guid, 0), guid);
		inventory_unref(now);
	}
	keep = false;
	ck_assert_uint_eq(inventory_prune(maker, keep_even, &keep), 5);
	inventory_unref(before);
}
END_TEST

/* Random puts and publications against a plain array. */
START_TEST(test_against_model)
{
	uint64_t model[64][PORTS] = {{0}}, seed = 1 + (uint64_t)_i;

	for (unsigned int round = 0; round < 200; round++) {
		struct inventory *inventory;

		for (unsigned int i = 0; i < 20; i++) {
			uint32_t node = make_number(&seed, 64), port = make_number(&seed, PORTS);

			model[node][port] = 1 + make_number(&seed, 8);
			put(1000 - node, port, model[node][port], 1 + make_number(&seed, 4));
		}
		inventory = inventory_publish(maker);
		for (uint32_t i = 0; i < 64 * PORTS; i++)
			ck_assert_uint_eq(get(inventory, 1000 - i / PORTS, i % PORTS),
					  model[i / PORTS][i % PORTS]);
		inventory_unref(inventory);
	}
}
END_TEST

/* ---- which tables a port can have ---- */

static struct fabric *fabric;

static void make(void)
{
	fabric = make_fabric("fattree:4", 0);
}

static void unmake(void)
{
	fabric_unref(fabric);
}

static uint32_t blocks(uint32_t port, enum inventory_kind kind)
{
	return inventory_blocks(fabric, port, kind);
}

static bool is_zero(uint32_t port, enum inventory_kind kind, uint32_t block)
{
	return inventory_block_is_zero(fabric, port, kind, block);
}

START_TEST(test_host_tables)
{
	uint32_t port = fabric->sm_port;
	struct fabric_port *p = &fabric->ports[port];

	for (unsigned int cap = 0; cap <= 255; cap++) {
		p->info.guid_cap = (uint8_t)cap;
		ck_assert_uint_eq(blocks(port, INVENTORY_GUID_INFO), (cap + 7) / 8);
	}
	p->info.vl_cap = IBA_VLS_VL0_7;
	ck_assert_uint_eq(blocks(port, INVENTORY_SL_TO_VL), 1);
	ck_assert(is_zero(port, INVENTORY_SL_TO_VL, 0)); /* without the capability */
	p->info.capability_mask = IBA_PORT_CAP_SL_MAPPING;
	ck_assert(!is_zero(port, INVENTORY_SL_TO_VL, 0));
	ck_assert_uint_eq(blocks(port, INVENTORY_VL_ARBITRATION), 4);
	ck_assert(is_zero(port, INVENTORY_VL_ARBITRATION, 0));
	p->info.vl_arbitration_low_cap = 33;
	p->info.vl_arbitration_high_cap = 32;
	for (uint32_t block = 0; block < 4; block++)
		ck_assert_int_eq(is_zero(port, INVENTORY_VL_ARBITRATION, block), block == 3);
	p->info.vl_cap = IBA_VLS_VL0;
	ck_assert(is_zero(port, INVENTORY_SL_TO_VL, 0));
	ck_assert(is_zero(port, INVENTORY_VL_ARBITRATION, 0));
	ck_assert(!is_zero(port, INVENTORY_P_KEYS, 0));
	fabric->nodes[p->node].info.partition_cap = 0;
	ck_assert_uint_eq(blocks(port, INVENTORY_P_KEYS), 1); /* there is always the default one */
	fabric->nodes[p->node].info.partition_cap = 128;
	ck_assert_uint_eq(blocks(port, INVENTORY_P_KEYS), 4);
	ck_assert_uint_eq(blocks(port, INVENTORY_MULTICAST), 0);
	ck_assert_uint_eq(blocks(port, INVENTORY_SM_INFO), 1);
	p->lid = 0; /* without a LID it cannot be queried */
	ck_assert_uint_eq(blocks(port, INVENTORY_SM_INFO), 0);
}
END_TEST

START_TEST(test_switch_tables)
{
	struct fabric_switch *sw = &fabric->switches[0];
	uint32_t port0 = fabric->nodes[sw->node].first_port, port1 = port0 + 1;
	uint32_t n_ports = fabric->nodes[sw->node].num_ports + 1u;

	fabric->ports[port0].info.vl_cap = fabric->ports[port1].info.vl_cap = IBA_VLS_VL0_7;
	fabric->ports[port0].info.capability_mask = IBA_PORT_CAP_SL_MAPPING;
	ck_assert_uint_eq(blocks(port1, INVENTORY_SL_TO_VL), n_ports);
	ck_assert_uint_eq(blocks(port0, INVENTORY_SL_TO_VL), n_ports);
	ck_assert(!is_zero(port1, INVENTORY_SL_TO_VL, 0));
	ck_assert(!is_zero(port1, INVENTORY_SL_TO_VL, 1));
	fabric->ports[port0 + 2].info.vl_cap = IBA_VLS_VL0;
	ck_assert(is_zero(port1, INVENTORY_SL_TO_VL, 2));
	fabric->ports[port0 + 2].info.vl_cap = IBA_VLS_VL0_7;
	ck_assert(!is_zero(port1, INVENTORY_SL_TO_VL, 2));
	fabric->ports[port0 + 2].peer = FABRIC_NONE; /* without a cable */
	ck_assert(is_zero(port1, INVENTORY_SL_TO_VL, 2));
	ck_assert(is_zero(port0, INVENTORY_SL_TO_VL, 1));
	sw->info.enhanced_port0 = 1;
	ck_assert(!is_zero(port0, INVENTORY_SL_TO_VL, 1));
	ck_assert_uint_eq(blocks(port1, INVENTORY_GUID_INFO), 0);
	ck_assert_uint_eq(blocks(port1, INVENTORY_SM_INFO), 0);
	ck_assert_uint_eq(blocks(port0, INVENTORY_SM_INFO), 0);
	fabric->ports[port0].info.capability_mask |= IBA_PORT_CAP_SM;
	ck_assert_uint_eq(blocks(port0, INVENTORY_SM_INFO), 1);
	ck_assert_uint_eq(blocks(port1, INVENTORY_P_KEYS), 0);
	sw->info.partition_enforcement_cap = 33;
	ck_assert_uint_eq(blocks(port1, INVENTORY_P_KEYS), 2);
	ck_assert_uint_eq(blocks(port0, INVENTORY_MULTICAST), 0);
	sw->info.multicast_fdb_cap = 64;
	ck_assert_uint_eq(blocks(port0, INVENTORY_MULTICAST), 2);
	ck_assert_uint_eq(blocks(port1, INVENTORY_MULTICAST), 0);
	fabric->ports[port1].known = false;
	ck_assert_uint_eq(blocks(port1, INVENTORY_SL_TO_VL), 0);
}
END_TEST

START_TEST(test_wants)
{
	for (unsigned int kind = 0; kind < INVENTORY_KINDS; kind++)
		for (unsigned int port = 0; port < 256; port += 5) {
			uint64_t want = inventory_want(kind, 0xBFFF, (uint8_t)port);

			ck_assert_int_eq(inventory_want_kind(want), kind);
			ck_assert_uint_eq(inventory_want_port(want), port);
			ck_assert_uint_eq(inventory_want_lid(want), 0xBFFF);
		}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("inventory");
	TCase *tables = tcase_create("tables"), *ports = tcase_create("ports");

	tcase_add_checked_fixture(tables, setup, teardown);
	tcase_add_test(tables, test_published_stays);
	tcase_add_test(tables, test_equal_tables_are_one);
	tcase_add_test(tables, test_changes_do_not_pile_up);
	tcase_add_test(tables, test_blocks);
	tcase_add_test(tables, test_silence);
	tcase_add_test(tables, test_out_of_date);
	tcase_add_test(tables, test_prune);
	tcase_add_loop_test(tables, test_against_model, 0, 5);
	tcase_add_test(tables, test_wants);
	suite_add_tcase(suite, tables);
	tcase_add_checked_fixture(ports, make, unmake);
	tcase_add_test(ports, test_host_tables);
	tcase_add_test(ports, test_switch_tables);
	suite_add_tcase(suite, ports);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <string.h>

#include "fabric/changes.h"
#include "fabric/node_table.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static struct builder_node *add(struct builder *builder, uint8_t type, uint8_t num_ports,
				uint64_t guid)
{
	struct iba_node_info info = {
		.node_type = type,
		.num_ports = num_ports,
		.node_guid = guid,
		.port_guid = guid + 1,
		.local_port_num = 1,
	};

	return builder_add(builder, &info);
}

/* Host h1 (the SM) - s1 - s2 - h2, and a second cable from s1 to s2. */
struct chain {
	struct builder *builder;
	struct builder_node *h1, *h2, *s1, *s2;
};

static struct chain chain_new(void)
{
	struct chain c = { .builder = builder_new() };

	c.h1 = add(c.builder, IBA_NODE_CA, 2, 0x100);
	c.builder->sm_port = &c.h1->ports[1];
	c.s1 = add(c.builder, IBA_NODE_SWITCH, 4, 0x200);
	c.s2 = add(c.builder, IBA_NODE_SWITCH, 4, 0x300);
	c.h2 = add(c.builder, IBA_NODE_CA, 1, 0x400);
	builder_link(&c.h1->ports[1], &c.s1->ports[4]);
	builder_link(&c.s1->ports[2], &c.s2->ports[3]);
	builder_link(&c.s1->ports[1], &c.s2->ports[1]);
	builder_link(&c.s2->ports[2], &c.h2->ports[1]);
	return c;
}

START_TEST(test_walk_and_path)
{
	struct chain c = chain_new();
	GPtrArray *order = builder_walk(c.builder);
	uint8_t out[64];

	ck_assert_uint_eq(order->len, 4);
	ck_assert_ptr_eq(order->pdata[0], c.h1);
	ck_assert_ptr_eq(order->pdata[1], c.s1);
	ck_assert_ptr_eq(order->pdata[2], c.s2);
	ck_assert_ptr_eq(order->pdata[3], c.h2);
	ck_assert_uint_eq(c.h2->hops, 3);
	ck_assert_ptr_eq(c.s2->entry, &c.s2->ports[1]); /* through the lower port of s1 */
	ck_assert_int_eq(builder_path(c.h1, out), 0);
	ck_assert_int_eq(builder_path(c.h2, out), 3);
	ck_assert_uint_eq(out[1], 1);
	ck_assert_uint_eq(out[2], 1);
	ck_assert_uint_eq(out[3], 2);
	g_ptr_array_unref(order);
	builder_free(c.builder);
}
END_TEST

START_TEST(test_walk_avoids_down_ports)
{
	struct chain c = chain_new();
	struct iba_port_info down = { .port_state = IBA_PORT_DOWN };
	GPtrArray *order;
	uint8_t out[64];

	c.s2->ports[1].known = true;
	c.s2->ports[1].info.port_state = IBA_PORT_DOWN;
	order = builder_walk(c.builder);
	ck_assert_ptr_eq(c.s2->entry, &c.s2->ports[3]);
	g_ptr_array_unref(order);
	builder_set_info(&c.s1->ports[2], &down);
	ck_assert_uint_eq(builder_prune(c.builder), 2);
	ck_assert_ptr_null(builder_find(c.builder, 0x300));
	ck_assert_ptr_null(c.s1->ports[1].peer);
	ck_assert_int_eq(builder_path(c.s1, out), 1);
	builder_free(c.builder);
}
END_TEST

/* A channel adapter does not forward: nodes at its other port are not reached through it. */
START_TEST(test_ca_does_not_forward)
{
	struct chain c = chain_new();
	struct builder_node *s3 = add(c.builder, IBA_NODE_SWITCH, 2, 0x500);
	GPtrArray *order;
	uint8_t out[64];

	builder_link(&c.h1->ports[2], &s3->ports[1]);
	order = builder_walk(c.builder);
	ck_assert_uint_eq(order->len, 4);
	ck_assert_int_eq(builder_path(s3, out), -1);
	g_ptr_array_unref(order);
	c.builder->sm_port = &c.s1->ports[0]; /* the SM on a switch */
	order = builder_walk(c.builder);
	ck_assert_ptr_eq(order->pdata[0], c.s1);
	ck_assert_uint_eq(order->len, 4);
	g_ptr_array_unref(order);
	builder_free(c.builder);
}
END_TEST

START_TEST(test_links_and_removal)
{
	struct chain c = chain_new();
	struct fabric *fabric;

	builder_link(&c.h2->ports[1], &c.s1->ports[3]); /* the cable is moved */
	ck_assert_ptr_null(c.s2->ports[2].peer);
	builder_link(&c.s2->ports[4], &c.s2->ports[4]); /* loopback plug */
	fabric = builder_freeze(c.builder);
	ck_assert_uint_eq(fabric->n_links, 5);
	fabric_unref(fabric);
	builder_unlink(&c.s2->ports[4]);
	ck_assert_ptr_null(c.s2->ports[4].peer);
	builder_remove(c.builder, c.s1);
	ck_assert_ptr_null(c.h2->ports[1].peer);
	builder_remove(c.builder, c.h1);
	ck_assert_ptr_null(c.builder->sm_port);
	ck_assert_ptr_null(builder_freeze(c.builder));
	builder_free(c.builder);
}
END_TEST

static int path_of_chain(unsigned int switches)
{
	struct builder *builder = builder_new();
	struct builder_node *last = add(builder, IBA_NODE_CA, 1, 1);
	GPtrArray *order;
	uint8_t out[64];
	int hops;

	builder->sm_port = &last->ports[1];
	for (unsigned int i = 0; i < switches; i++) {
		struct builder_node *node = add(builder, IBA_NODE_SWITCH, 2, 0x1000 + i * 16);

		builder_link(&last->ports[i ? 2 : 1], &node->ports[1]);
		last = node;
	}
	order = builder_walk(builder);
	hops = builder_path(last, out);
	g_ptr_array_unref(order);
	builder_free(builder);
	return hops;
}

START_TEST(test_path_has_at_most_63_hops)
{
	ck_assert_int_eq(path_of_chain(1), 1);
	ck_assert_int_eq(path_of_chain(63), 63);
	ck_assert_int_eq(path_of_chain(64), -1);
}
END_TEST

START_TEST(test_freeze)
{
	struct chain c = chain_new();
	struct fabric *fabric;
	uint8_t exit;
	uint32_t port;

	c.h2->ports[1].lid = 4;
	c.h2->ports[1].lmc = 2;
	c.s1->ports[0].lid = 3;
	c.h2->ports[1].known = true;
	c.h2->ports[1].info = (struct iba_port_info){ .port_state = IBA_PORT_ACTIVE,
						      .link_width_active = IBA_WIDTH_4X,
						      .link_speed_active = IBA_SPEED_QDR,
						      .mtu_cap = IBA_MTU_4096,
						      .neighbor_mtu = IBA_MTU_2048 };
	c.h2->has_description = true;
	memcpy(c.h2->description.node_string, "a\tb", 4);
	fabric = builder_freeze(c.builder);
	ck_assert_uint_eq(fabric->n_nodes, 4);
	ck_assert_uint_eq(fabric->n_switches, 2);
	ck_assert_uint_eq(fabric->n_ports, 3 + 5 + 5 + 2);
	ck_assert_uint_eq(fabric->n_links, 4);
	ck_assert_uint_eq(fabric->max_lid, 7);
	/* By LID: s1, h2; then, without LIDs, in the order found: h1 of the SM, s2. */
	ck_assert_uint_eq(fabric->sm_port, 5 + 2 + 1);
	port = fabric_port_by_lid(fabric, 7);
	ck_assert_uint_eq(fabric->ports[port].guid, 0x401);
	ck_assert_uint_eq(port, fabric_port_by_guid(fabric, 0x401));
	ck_assert_uint_eq(fabric->ports[port].rate, IBA_RATE_40);
	ck_assert_uint_eq(fabric->ports[port].mtu, IBA_MTU_2048);
	ck_assert_uint_eq(fabric_port_by_lid(fabric, 8), FABRIC_NONE);
	ck_assert_uint_eq(fabric_port_by_lid(fabric, 0xFFFF), FABRIC_NONE);
	ck_assert_uint_eq(fabric_port_by_guid(fabric, 0), FABRIC_NONE);
	ck_assert_uint_eq(fabric_port_by_guid(fabric, 0x999), FABRIC_NONE);
	ck_assert_uint_eq(fabric_node_by_guid(fabric, 0x300), 3);
	ck_assert_uint_eq(fabric_leaf(fabric, port, &exit), 1);
	ck_assert_uint_eq(exit, 2);
	ck_assert_uint_eq(fabric_leaf(fabric, fabric_port_by_lid(fabric, 3), &exit), 0);
	ck_assert_uint_eq(exit, 0);
	ck_assert(fabric_ref(fabric) == fabric);
	fabric_unref(fabric);
	fabric_unref(fabric);
	builder_free(c.builder);
}
END_TEST

static const struct {
	uint8_t width, speed, ext, ext2, rate;
} links_of_later[] = {
	{IBA_WIDTH_4X, IBA_SPEED_QDR, IBA_SPEED_EXT_EDR, 2, IBA_RATE_100},
	{IBA_WIDTH_4X, IBA_SPEED_QDR, 5, 0, IBA_RATE_40},
	{IBA_WIDTH_4X, 0, 0, 2, IBA_RATE_10},
	{IBA_WIDTH_4X, 8, 0, 0, IBA_RATE_10},
	{32, IBA_SPEED_QDR, 0, 0, IBA_RATE_10},
	{0, 0, 0, 0, IBA_RATE_10},
};

/* Over a link without a rate the SA would report no paths: only one that is down has none. */
START_TEST(test_links_of_later_kinds)
{
	struct chain c = chain_new();
	struct builder_port *port = &c.h2->ports[1];
	struct fabric *fabric;

	port->known = true;
	for (uint8_t state = IBA_PORT_INIT; state <= IBA_PORT_ACTIVE; state++) {
		port->info = (struct iba_port_info){
			.port_state = state,
			.link_width_active = links_of_later[_i].width,
			.link_speed_active = links_of_later[_i].speed,
			.link_speed_ext_active = links_of_later[_i].ext,
			.link_speed_ext_active2 = links_of_later[_i].ext2,
		};
		fabric = builder_freeze(c.builder);
		ck_assert_uint_eq(fabric->ports[fabric_port_by_guid(fabric, 0x401)].rate,
				  links_of_later[_i].rate);
		fabric_unref(fabric);
	}
	builder_free(c.builder);
}
END_TEST

START_TEST(test_port_name)
{
	struct chain c = chain_new();
	struct fabric *fabric;
	char name[128], small[8];

	c.h2->has_description = true;
	memcpy(c.h2->description.node_string, "a\tb\\", 5);
	fabric = builder_freeze(c.builder);
	ck_assert_str_eq(fabric_port_name(fabric, fabric_port_by_guid(fabric, 0x401), name,
					  sizeof(name)),
			 "a\\x09b\\x5c (0x0000000000000400) port 1");
	ck_assert_str_eq(fabric_port_name(fabric, fabric_port_by_guid(fabric, 0x201), name,
					  sizeof(name)),
			 "(0x0000000000000200) port 0");
	fabric_port_name(fabric, fabric_port_by_guid(fabric, 0x401), small, sizeof(small));
	ck_assert_uint_lt(strlen(small), sizeof(small));
	fabric_unref(fabric);
	c.h2->has_description = false; /* it is read again: the name stays meanwhile */
	fabric = builder_freeze(c.builder);
	fabric_port_name(fabric, fabric_port_by_guid(fabric, 0x401), name, sizeof(name));
	ck_assert_str_eq(name, "a\\x09b\\x5c (0x0000000000000400) port 1");
	fabric_unref(fabric);
	builder_free(c.builder);
}
END_TEST

static void check_same(const struct fabric *a, const struct fabric *b)
{
	ck_assert_uint_eq(a->n_nodes, b->n_nodes);
	ck_assert_uint_eq(a->n_ports, b->n_ports);
	ck_assert_uint_eq(a->n_links, b->n_links);
	ck_assert_uint_eq(a->max_lid, b->max_lid);
	for (uint32_t i = 0; i < a->n_nodes; i++)
		ck_assert_uint_eq(a->nodes[i].guid, b->nodes[i].guid);
	for (uint32_t i = 0; i < a->n_switches; i++) {
		ck_assert_uint_eq(a->switches[i].hops, b->switches[i].hops);
		ck_assert_uint_eq(a->switches[i].info.linear_fdb_top,
				  b->switches[i].info.linear_fdb_top);
	}
	for (uint32_t i = 0; i < a->n_ports; i++) {
		ck_assert_uint_eq(a->ports[i].peer, b->ports[i].peer);
		ck_assert_uint_eq(a->ports[i].node, b->ports[i].node);
		ck_assert_uint_eq(a->ports[i].lid, b->ports[i].lid);
		ck_assert_uint_eq(a->ports[i].guid, b->ports[i].guid);
		ck_assert_uint_eq(a->ports[i].info.port_state, b->ports[i].info.port_state);
	}
	ck_assert_mem_eq(a->lid_port, b->lid_port, FABRIC_LIDS * sizeof(*a->lid_port));
}

/* A changed fabric is as one made from scratch; returns whether it has the same shape. */
static bool changes_are_right(struct builder *builder)
{
	uint64_t before = builder->frozen ? builder->frozen->shape : 0;
	struct fabric *changed = builder_freeze_changes(builder), *whole = builder_freeze(builder);
	bool kept = changed->shape == before;

	check_same(changed, whole);
	ck_assert(builder_is_frozen(builder, changed));
	ck_assert_uint_gt(changed->generation, before);
	for (uint32_t i = 0; i < changed->n_nodes; i++)
		ck_assert_uint_eq(builder_node_of(builder, changed, i)->guid,
				  whole->nodes[i].guid);
	builder_settled(builder);
	ck_assert(!builder_is_touched(builder->sm_port->node));
	fabric_unref(changed);
	fabric_unref(whole);
	return kept;
}

START_TEST(test_freeze_changes)
{
	struct chain c = chain_new();
	struct iba_port_info down = { .port_state = IBA_PORT_DOWN };
	struct iba_port_info up = { .port_state = IBA_PORT_ACTIVE };

	ck_assert(!changes_are_right(c.builder)); /* the first */
	ck_assert(changes_are_right(c.builder));
	builder_set_info(&c.s1->ports[2], &down);
	ck_assert(builder_is_touched(c.s1) && !builder_is_touched(c.s2));
	ck_assert(changes_are_right(c.builder));
	builder_set_info(&c.s1->ports[2], &up);
	ck_assert(changes_are_right(c.builder));
	builder_unlink(&c.s1->ports[1]); /* s2 is found through another port */
	ck_assert(changes_are_right(c.builder));
	ck_assert_ptr_eq(c.s2->entry, &c.s2->ports[3]);
	c.s2->switch_info.linear_fdb_top = 77;
	builder_switch_info_set(c.s2);
	ck_assert(!builder_is_frozen(c.builder, c.builder->frozen));
	ck_assert(changes_are_right(c.builder));
	c.h2->ports[1].lid = 9;
	builder_touch(c.h2);
	ck_assert(!changes_are_right(c.builder)); /* another LID */
	builder_remove(c.builder, c.h2);
	ck_assert(!changes_are_right(c.builder)); /* fewer nodes */
	builder_touch_all(c.builder);
	ck_assert(changes_are_right(c.builder)); /* all of it again, and each in its old place */
	builder_free(c.builder);
}
END_TEST

START_TEST(test_changes)
{
	static const struct {
		enum fabric_change_kind kind;
		uint64_t node;
		uint32_t links;
		uint16_t old_lid;
		bool with_node;
	} expected[] = {
		{FABRIC_NODES_GONE, 0x400, 1, 0, false}, {FABRIC_LINK_DOWN, 0x300, 0, 0, true},
		{FABRIC_LINK_DOWN, 0x200, 0, 0, false},	 {FABRIC_PORT_GONE, 0x400, 0, 0, true},
		{FABRIC_NODES_NEW, 0x600, 1, 0, false},	 {FABRIC_LINK_UP, 0x300, 0, 0, true},
		{FABRIC_PORT_NEW, 0x600, 0, 0, true},	 {FABRIC_LID_CHANGED, 0x100, 0, 1, false},
	};
	struct chain c = chain_new();
	struct builder_node *h3;
	struct fabric *old, *now;
	GArray *changes;

	c.h1->ports[1].known = c.h2->ports[1].known = true;
	c.h1->ports[1].lid = 1;
	c.h2->ports[1].lid = 7;
	old = builder_freeze(c.builder);
	changes = fabric_changes(old, old);
	ck_assert_uint_eq(changes->len, 0);
	g_array_unref(changes);
	builder_remove(c.builder, c.h2);
	builder_unlink(&c.s1->ports[2]);
	h3 = add(c.builder, IBA_NODE_CA, 1, 0x600);
	builder_link(&h3->ports[1], &c.s2->ports[4]);
	c.h1->ports[1].lid = 2;
	h3->ports[1].known = true;
	h3->ports[1].lid = 9;
	now = builder_freeze(c.builder);
	ck_assert_uint_gt(now->generation, old->generation);
	changes = fabric_changes(old, now);
	ck_assert_uint_eq(changes->len, G_N_ELEMENTS(expected));
	for (guint i = 0; i < changes->len; i++) {
		struct fabric_change *change = &g_array_index(changes, struct fabric_change, i);
		const struct fabric *in = fabric_change_is_loss(change) ? old : now;

		ck_assert_uint_eq(change->kind, expected[i].kind);
		ck_assert_uint_eq(in->nodes[change->node].guid, expected[i].node);
		ck_assert_uint_eq(change->links, expected[i].links);
		ck_assert_uint_eq(change->old_lid, expected[i].old_lid);
		ck_assert(change->with_node == expected[i].with_node);
	}
	g_array_unref(changes);
	fabric_unref(old);
	fabric_unref(now);
	builder_free(c.builder);
}
END_TEST

/* A switch and the host behind it are one change, with the cables that connected them. */
START_TEST(test_changes_together)
{
	struct chain c = chain_new();
	struct fabric *whole = builder_freeze(c.builder), *rest;
	const struct fabric_change *change;
	GArray *changes;

	builder_unlink(&c.s1->ports[1]);
	builder_unlink(&c.s1->ports[2]);
	ck_assert_uint_eq(builder_prune(c.builder), 2);
	rest = builder_freeze(c.builder);
	changes = fabric_changes(rest, whole);
	ck_assert_uint_eq(changes->len, 5);
	change = &g_array_index(changes, struct fabric_change, 0);
	ck_assert_uint_eq(change->kind, FABRIC_NODES_NEW);
	ck_assert_uint_eq(whole->nodes[change->node].guid, 0x300);
	ck_assert_uint_eq(change->more_switches, 0);
	ck_assert_uint_eq(change->more_hosts, 1);
	ck_assert_uint_eq(change->links, 2);
	ck_assert_uint_eq(change->port, fabric_port_of(whole, whole->ports[change->port].node, 1));
	ck_assert_uint_eq(whole->nodes[whole->ports[change->port].node].guid, 0x200);
	ck_assert_uint_eq(whole->ports[change->peer].node, change->node);
	ck_assert(!change->with_node);
	for (guint i = 1; i < changes->len; i++) {
		change = &g_array_index(changes, struct fabric_change, i);
		ck_assert(change->with_node);
		ck_assert_uint_eq(change->kind, i == 1 ? FABRIC_NODES_NEW : FABRIC_LINK_UP);
	}
	ck_assert_uint_eq(whole->nodes[g_array_index(changes, struct fabric_change, 1).node].guid,
			  0x400);
	g_array_unref(changes);
	fabric_unref(rest);
	fabric_unref(whole);
	builder_free(c.builder);
}
END_TEST

START_TEST(test_tables)
{
	struct builder_node node = {.epoch = 1};
	struct trust_table table = {0};
	uint8_t block[64];

	memset(block, 7, sizeof(block));
	ck_assert_ptr_null(trust_get(&node, &table, 0, 64));
	trust_set(&node, 1, &table, 3, 64, block);
	ck_assert_uint_eq(trust_n_blocks(&table), 4);
	ck_assert_ptr_null(trust_get(&node, &table, 2, 64));
	trust_reserve(&table, 10, 64);
	ck_assert_mem_eq(trust_get(&node, &table, 3, 64), block, 64);
	ck_assert_ptr_null(trust_get(&node, &table, 9, 64));
	trust_reserve(&table, 2, 64);
	ck_assert_uint_eq(trust_n_blocks(&table), 10);
	trust_set(&node, 1, &table, 1, 64, block);
	ck_assert(trust_is_older(&table, 3, 1));
	trust_set(&node, 1, &table, 3, 64, block); /* written again */
	ck_assert(trust_is_older(&table, 1, 3));
	trust_free(&table);
	ck_assert_ptr_null(trust_get(&node, &table, 3, 64));
}
END_TEST

START_TEST(test_epochs)
{
	struct builder_node node = {.epoch = 1};
	struct trust_table table = {0};
	uint8_t block[64] = {9}, row[64] = {8};

	trust_set(&node, 1, &table, 0, 64, block);
	trust_set(&node, 1, &table, 1, 64, block);
	trust_doubt(&table, 1); /* a Set is on its way */
	ck_assert_ptr_null(trust_get(&node, &table, 1, 64));
	trust_lose(&node);
	ck_assert_ptr_null(trust_get(&node, &table, 0, 64));
	trust_set(&node, 1, &table, 0, 64, block); /* an earlier answer */
	ck_assert_ptr_null(trust_get(&node, &table, 0, 64));
	trust_set(&node, node.epoch, &table, 0, 64, block);
	trust_set(&node, 1, &table, 0, 64, row); /* nor does it undo what became known since */
	ck_assert_mem_eq(trust_get(&node, &table, 0, 64), block, 64);
	trust_equal(&node, &table, row);
	ck_assert(trust_is_equal(&node, &table, row));
	ck_assert(!trust_is_equal(&node, &table, block));
	trust_set(&node, node.epoch, &table, 0, 64, block);
	ck_assert(!trust_is_equal(&node, &table, row));
	trust_equal(&node, &table, row);
	trust_lose(&node);
	ck_assert(!trust_is_equal(&node, &table, row));
	trust_free(&table);
}
END_TEST

/* A table that is shared with a row of a routing gets its own memory again once it differs. */
START_TEST(test_shared_table)
{
	struct builder_node node = {.epoch = 1};
	struct trust_table table = {0};
	uint8_t block[64] = {9}, row[2 * 64] = {9}, other[2 * 64] = {9};

	trust_set(&node, 1, &table, 0, 64, block);
	trust_share(&node, &table, row, 2); /* not every entry of the row is known */
	ck_assert(trust_is_equal(&node, &table, row));
	ck_assert_ptr_ne(trust_get(&node, &table, 0, 64), row);
	trust_set(&node, 1, &table, 1, 64, row + 64);
	trust_share(&node, &table, row, 2);
	trust_share(&node, &table, row, 2);
	ck_assert_ptr_eq(trust_get(&node, &table, 1, 64), row + 64);
	ck_assert(trust_is_equal(&node, &table, row));
	trust_share(&node, &table, other, 2);
	ck_assert_ptr_eq(trust_get(&node, &table, 0, 64), other);
	trust_doubt(&table, 0);
	ck_assert_ptr_null(trust_get(&node, &table, 0, 64));
	ck_assert_ptr_ne(trust_get(&node, &table, 1, 64), other + 64);
	ck_assert_mem_eq(trust_get(&node, &table, 1, 64), other + 64, 64);
	trust_set(&node, 1, &table, 0, 64, block);
	trust_share(&node, &table, row, 2);
	trust_equal(&node, &table, NULL); /* the row is freed */
	memset(row, 0, sizeof(row));
	ck_assert_mem_eq(trust_get(&node, &table, 0, 64), block, 64);
	trust_share(&node, &table, other, 2);
	trust_reserve(&table, 3, 64);
	ck_assert_mem_eq(trust_get(&node, &table, 0, 64), block, 64);
	ck_assert_ptr_null(trust_get(&node, &table, 2, 64));
	trust_share(&node, &table, other, 2); /* the table has one more block */
	ck_assert_ptr_ne(trust_get(&node, &table, 0, 64), other);
	trust_free(&table);
}
END_TEST

/* Whatever the shape: peers agree, indexes lead back, and only cables that are up are there. */
static void check_invariants(const struct fabric *fabric)
{
	uint32_t ends = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct fabric_port *port = &fabric->ports[i];

		ck_assert_uint_eq(fabric_port_of(fabric, port->node, port->num), i);
		if (port->guid) {
			ck_assert_uint_eq(fabric_port_by_guid(fabric, port->guid), i);
			if (port->lid)
				ck_assert_uint_eq(fabric_port_by_lid(fabric, port->lid), i);
		}
		if (port->peer == FABRIC_NONE)
			continue;
		ends += port->peer == i ? 2 : 1;
		ck_assert_uint_eq(fabric->ports[port->peer].peer, i);
		ck_assert(!port->known || port->info.port_state != IBA_PORT_DOWN);
	}
	ck_assert_uint_eq(ends, 2 * fabric->n_links);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		ck_assert_uint_eq(fabric_node_by_guid(fabric, fabric->nodes[i].guid), i);
	for (uint32_t i = 0; i < fabric->n_switches; i++)
		ck_assert_uint_eq(fabric->nodes[fabric->switches[i].node].sw, i);
	for (uint32_t i = 1; i < fabric->n_switches; i++)
		ck_assert_uint_ge(fabric->switches[i].hops, fabric->switches[i - 1].hops);
}

START_TEST(test_random_fabrics)
{
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct builder *builder = make_random(seed, 24);
		struct fabric *fabric;

		make_lids(builder, seed % 3);
		fabric = builder_freeze(builder);
		check_invariants(fabric);
		fabric_unref(fabric);
		builder_free(builder);
	}
}
END_TEST

/* A node that follows another one in its slot finds no note of that, however often that happens. */
START_TEST(test_notes_about_nodes)
{
	struct builder *builder = builder_new();
	struct node_table *table = node_table_new(3 * sizeof(uint64_t));
	const struct builder_node stranger = {.guid = 1}; /* not made by a builder */
	struct builder_node *kept = add(builder, IBA_NODE_SWITCH, 4, 0x100000);

	*(uint64_t *)node_table_of(table, &stranger) = 5;
	*(uint64_t *)node_table_of(table, kept) = 7;
	for (uint64_t guid = 1; guid <= 1000; guid++) {
		struct builder_node *node = add(builder, IBA_NODE_CA, 1, guid * 8);
		uint64_t *note = node_table_of(table, node);

		ck_assert_uint_eq(note[0] | note[1] | note[2], 0);
		note[0] = note[2] = guid;
		ck_assert_ptr_eq(node_table_of(table, node), note);
		ck_assert_uint_le(node->slot, 2);
		builder_remove(builder, node);
	}
	for (uint64_t guid = 1; guid <= 1000; guid++)
		*(uint64_t *)node_table_of(table, add(builder, IBA_NODE_CA, 1, guid * 8)) = guid;
	for (uint64_t guid = 1; guid <= 1000; guid++)
		ck_assert_uint_eq(
			*(uint64_t *)node_table_of(table, builder_find(builder, guid * 8)), guid);
	ck_assert_uint_eq(*(uint64_t *)node_table_of(table, &stranger), 5);
	ck_assert_uint_eq(*(uint64_t *)node_table_of(table, kept), 7);
	node_table_free(table);
	builder_free(builder);
}
END_TEST

/* A removed node keeps its slot, and what is noted there, as long as a request points to it. */
START_TEST(test_note_of_a_removed_node)
{
	struct builder *builder = builder_new();
	struct node_table *table = node_table_new(sizeof(uint64_t));
	struct builder_node *removed = add(builder, IBA_NODE_CA, 1, 0x100), *next;

	*(uint64_t *)node_table_of(table, removed) = 7;
	builder_hold(removed);
	builder_remove(builder, removed);
	next = add(builder, IBA_NODE_CA, 1, 0x100);
	ck_assert_uint_ne(next->slot, removed->slot);
	ck_assert_uint_eq(*(uint64_t *)node_table_of(table, next), 0);
	ck_assert_uint_eq(*(uint64_t *)node_table_of(table, removed), 7);
	builder_free(builder); /* the request still points to it */
	builder_release(removed);
	node_table_free(table);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("fabric");
	TCase *tcase = tcase_create("fabric");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_walk_and_path);
	tcase_add_test(tcase, test_walk_avoids_down_ports);
	tcase_add_test(tcase, test_ca_does_not_forward);
	tcase_add_test(tcase, test_links_and_removal);
	tcase_add_test(tcase, test_path_has_at_most_63_hops);
	tcase_add_test(tcase, test_freeze);
	tcase_add_loop_test(tcase, test_links_of_later_kinds, 0,
			    G_N_ELEMENTS(links_of_later));
	tcase_add_test(tcase, test_port_name);
	tcase_add_test(tcase, test_freeze_changes);
	tcase_add_test(tcase, test_changes);
	tcase_add_test(tcase, test_changes_together);
	tcase_add_test(tcase, test_tables);
	tcase_add_test(tcase, test_epochs);
	tcase_add_test(tcase, test_shared_table);
	tcase_add_test(tcase, test_notes_about_nodes);
	tcase_add_test(tcase, test_note_of_a_removed_node);
	tcase_add_test(tcase, test_random_fabrics);
	suite_add_tcase(suite, tcase);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A seed means the same fabric with every compiler, optimisation and byte order: other people can
 * examine one that fails here. A change that makes other fabrics of the seeds puts the new digests
 * here.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 300

static void add_number(GString *text, uint64_t number)
{
	g_string_append_printf(text, " %" PRIu64, number);
}

/* All random properties of a node: its type, its cables, LIDs and the states of its ports. */
static void add_node(GString *text, const struct builder *builder, const struct builder_node *node)
{
	g_string_append_printf(text, "%.*s", (int)sizeof(node->description.node_string),
			       (const char *)node->description.node_string);
	add_number(text, node->guid);
	add_number(text, node->info.node_type);
	add_number(text, node->info.num_ports);
	for (unsigned int num = 0; num <= node->info.num_ports; num++) {
		const struct builder_port *port = &node->ports[num];

		add_number(text, port->lid);
		add_number(text, port->lmc);
		add_number(text, port->info.port_state);
		add_number(text, port == builder->sm_port);
		if (port->peer) {
			add_number(text, port->peer->node->guid);
			add_number(text, port->peer->num);
		}
	}
	g_string_append_c(text, '\n');
}

static void digest(GChecksum *checksum, const struct builder *builder)
{
	g_autoptr(GString) text = g_string_new(NULL);
	GPtrArray *nodes = builder_walk((struct builder *)builder);

	for (uint32_t i = 0; i < nodes->len; i++)
		add_node(text, builder, nodes->pdata[i]);
	g_ptr_array_unref(nodes);
	g_checksum_update(checksum, (const guchar *)text->str, (gssize)text->len);
}

START_TEST(test_shapes)
{
	GChecksum *checksum = g_checksum_new(G_CHECKSUM_MD5);

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct shape shape;

		shape_random(&shape, seed);
		digest(checksum, shape.builder);
		add_number(shape.what, shape.state);
		g_checksum_update(checksum, (const guchar *)shape.what->str, -1);
		shape_clear(&shape);
	}
	ck_assert_str_eq(g_checksum_get_string(checksum), "81f51c37b38f3b9cee8f37f4bcef24ca");
	g_checksum_free(checksum);
}
END_TEST

START_TEST(test_each_kind)
{
	static const char *const expected[SHAPE_KINDS] = {
		[SHAPE_FATTREE] = "b3366971dae7a0c0d25498525d8adb4d",
		[SHAPE_XGFT] = "382119ada23f971d39344203b99a8f26",
		[SHAPE_LAYERED] = "c22315daaf929ac03ff1c8430f0c230e",
		[SHAPE_TORUS] = "5e615e0f49d9ad5a3128974e5b233593",
		[SHAPE_MESH] = "7f0a9c47fc01f95e6e0618161d56a739",
		[SHAPE_HYPERCUBE] = "4b3f5ee1a4640f2d7f1be00038d6bb44",
		[SHAPE_DRAGONFLY] = "9c1f3c0d8276946b5370ca3700b9cb3c",
		[SHAPE_REGULAR] = "7ce1cac9be64fec83f0c4b4c6f98cbd7",
		[SHAPE_ANY] = "eb83042e09bddb00f45b8f6f48103c20",
		[SHAPE_STAR] = "16327711749645d084c2c4e0a36f7d16",
		[SHAPE_LINE] = "2fbb4ff63bae66c7499fbe3864be1ec7",
		[SHAPE_RING] = "0c435c4d0b8036a4f3684065c54b470f",
		[SHAPE_ONE_SWITCH] = "d6a6383d71928f22019157996d701c49",
		[SHAPE_BACK_TO_BACK] = "a184eaff7360f03b129b1def1c87f54b",
		[SHAPE_NO_CABLE] = "d561ca4ccae5154b0801f25d11f99dfa",
		[SHAPE_LARGE] = "27aa4048d568a6af6b8cc623f4a3347f",
	};
	GChecksum *checksum = g_checksum_new(G_CHECKSUM_MD5);

	for (uint64_t seed = 1; seed <= SEEDS / 10; seed++) {
		struct shape shape;

		shape_whole(&shape, seed, (enum shape_kind)_i);
		digest(checksum, shape.builder);
		shape_clear(&shape);
	}
	ck_assert_str_eq(g_checksum_get_string(checksum), expected[_i]);
	g_checksum_free(checksum);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("seeds");
	TCase *tcase = tcase_create("digests");

	tcase_add_test(tcase, test_shapes);
	tcase_add_loop_test(tcase, test_each_kind, 0, SHAPE_KINDS);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(make_suite());
}

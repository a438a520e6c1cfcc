// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The file path_sls, as it is written and malformed. */
#include <check.h>
#include <string.h>

#include "route/renew/renew.h"
#include "route/value/lanes.h"
#include "subnet/path_sls.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static struct path_sls *sls;
static struct fabric *fabric;
static struct routing *held;
static GString *text;
static struct log *logger;

static void setup(void)
{
	text = g_string_new(NULL);
	logger = log_new_capture(text);
	sls = path_sls_new(NULL, logger);
	fabric = make_fabric("torus:5x4:1", 0);
	held = routing_new_held(fabric);
}

static void teardown(void)
{
	routing_unref(held);
	fabric_unref(fabric);
	path_sls_free(sls);
	log_free(logger);
	g_string_free(text, TRUE);
}

static uint64_t guid_of(uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].guid;
}

/* Three switches: 0 and 1 use SL 3, 0 and 2 SL 10, 1 and 2 have no path. */
static char *three(const char *engine)
{
	return g_strdup_printf("%s 1f\n\n0x%" G_GINT64_MODIFIER "x \n\n0x%" G_GINT64_MODIFIER
			       "x 3\n\n0x%" G_GINT64_MODIFIER "x a-\n",
			       engine, guid_of(0), guid_of(1), guid_of(2));
}

START_TEST(pairs)
{
	g_autofree char *file = three("dfsssp");

	path_sls_parse(sls, "file", file);
	path_sls_hold(sls, fabric, held);
	ck_assert_str_eq(held->maker->name, "dfsssp");
	ck_assert_str_eq(held->input_word, "1f");
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 1, 0), 3);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 0, 1), 3);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 0, 2), 10);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 1, 2), ROUTE_NO_SL);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 1, 3), ROUTE_NO_SL); /* a new switch */
	ck_assert_str_eq(text->str, "");
}
END_TEST

/* Each affects only that record. */
START_TEST(bad_records)
{
	static const char *const bad[] = {
		"0x3 3",    "0x3 3333", "0x3 33g", "0 333", "0x0 333",
		"0x3 33 3", "0x3\t",	 "no 3",    "0x3",
	};
	g_autofree char *good = three("lash");
	g_autofree char *file = g_strdup_printf("%s\n%s\n", good, bad[_i]);
	bool keeps_place = strncmp(bad[_i], "0x", 2) == 0;

	g_autofree char *more = g_strdup_printf("%s0x%" G_GINT64_MODIFIER "x 0f3%s\n", file,
						guid_of(4), keeps_place ? "7" : "");

	path_sls_parse(sls, "file", more);
	ck_assert_ptr_nonnull(strstr(text->str, "file:9: "));
	if (!keeps_place) { /* it is read as the name of an unknown engine */
		path_sls_hold(sls, fabric, held);
		ck_assert_ptr_null(held->lanes);
		return;
	}
	path_sls_hold(sls, fabric, held);
	ck_assert_str_eq(held->maker->name, "lash");
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 0, 1), 3);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 4, 0), 0);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 4, 1), 15);
	ck_assert_uint_eq(route_lanes_sl(held->lanes, 4, 2), 3);
}
END_TEST

/* Without the name of an engine, or with an unknown one, no SM could continue from it. */
START_TEST(no_engine)
{
	g_autofree char *file = three(_i ? "no-such-engine" : "");

	path_sls_parse(sls, "file", file);
	path_sls_hold(sls, fabric, held);
	ck_assert_ptr_null(held->maker);
	ck_assert_ptr_null(held->lanes);
}
END_TEST

/* What is written is what is read; nothing is logged twice. */
START_TEST(round_trip)
{
	struct route_input input = {0};
	enum route_way way;
	struct routing *routing = routing_renew(route_find("dfsssp"), fabric, &input, NULL, &way,
						NULL);

	ck_assert_ptr_nonnull(routing->lanes);
	path_sls_save(sls, routing, NULL, false);
	path_sls_save(sls, routing, NULL, false);
	ck_assert_uint_eq(path_sls_changes(sls), 1);
	path_sls_parse(sls, "file", path_sls_text(sls));
	path_sls_hold(sls, fabric, held);
	for (uint32_t a = 0; a < fabric->n_switches; a++)
		for (uint32_t b = 0; b < a; b++)
			ck_assert_uint_eq(route_lanes_sl(held->lanes, a, b),
					  route_lanes_sl(routing->lanes, a, b));
	routing_unref(routing);
	routing = routing_renew(route_find("minhop"), fabric, &input, NULL, &way, NULL);
	path_sls_save(sls, routing, NULL, false);
	ck_assert_str_eq(path_sls_text(sls), "");
	ck_assert_uint_eq(path_sls_changes(sls), 2);
	routing_unref(routing);
}
END_TEST

/* Routing by dfsssp from what the switches hold since it routed that input; NULL: it refuses. */
static struct routing *renew_held(const struct route_input *was, const struct route_input *is)
{
	const struct route_engine *engine = route_find("dfsssp");
	struct routing *first, *second;
	enum route_way way;

	first = routing_renew(engine, fabric, was, NULL, &way, NULL);
	/* Not as it is computed, but as good: two lanes have swapped their names. */
	for (uint32_t i = 0; i < fabric->n_switches * fabric->n_switches; i++)
		if (first->lanes->sl[i] == 1 || first->lanes->sl[i] == 2)
			first->lanes->sl[i] = 3 - first->lanes->sl[i];
	path_sls_save(sls, first, NULL, false);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		memcpy(held->lft[sw], first->lft[sw], first->n_blocks * 64);
	path_sls_hold(sls, fabric, held);
	second = routing_renew(engine, fabric, is, held, &way, NULL);
	routing_unref(first);
	return second;
}

/* With the same options it is kept, with others it is computed as if nothing were held. */
START_TEST(options)
{
	struct route_input input = {0}, other = {.sm_sl = 2, .vls = 4};
	struct routing *kept = renew_held(&input, _i ? &other : &input);
	struct routing *anew;
	enum route_way way;
	uint32_t same = 0;

	anew = routing_renew(route_find("dfsssp"), fabric, _i ? &other : &input, NULL, &way, NULL);
	for (uint32_t i = 0; i < fabric->n_switches * fabric->n_switches; i++)
		same += kept->lanes->sl[i] == anew->lanes->sl[i];
	ck_assert_uint_eq(same == fabric->n_switches * fabric->n_switches, _i);
	routing_unref(kept);
	routing_unref(anew);
}
END_TEST

/* Records of more switches than a subnet has are not read. */
START_TEST(too_many)
{
	g_autoptr(GString) file = g_string_new("lash 1f\n");

	for (unsigned int i = 0; i < 8192; i++)
		g_string_append(file, "0x0\n");
	for (unsigned int i = 0; i < 3; i++)
		g_string_append_printf(file, "0x%x %0*d\n", i + 1, 8192, 0);
	path_sls_parse(sls, "file", file->str);
	path_sls_hold(sls, fabric, held);
	ck_assert_ptr_null(held->lanes);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("path_sls");
	TCase *tcase = tcase_create("path_sls");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, pairs);
	tcase_add_loop_test(tcase, bad_records, 0, 9);
	tcase_add_loop_test(tcase, no_engine, 0, 2);
	tcase_add_test(tcase, round_trip);
	tcase_add_loop_test(tcase, options, 0, 2);
	tcase_add_test(tcase, too_many);
	suite_add_tcase(suite, tcase);
	return suite;
}

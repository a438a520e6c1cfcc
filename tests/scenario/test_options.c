// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What options promise, seen on the simulated hardware. */
#include <check.h>
#include <string.h>

#include "scenario.h"
#include "tests/run_suite.h"

static struct scenario *up(const char *spec)
{
	struct scenario *s = scenario_new(spec, 1);

	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

/* ---- LIDs ---- */

/* Of all nodes, newly allocated. */
static uint16_t *lids_of(struct scenario *s)
{
	unsigned int n = sim_nodes(s->sim);
	uint16_t *lids = g_new0(uint16_t, n);

	for (unsigned int i = 0; i < n; i++)
		lids[i] = scenario_lid(s, i);
	return lids;
}

static unsigned int moved(struct scenario *s, const uint16_t *lids)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += scenario_lid(s, i) != lids[i];
	return n;
}

/* The file of a subnet as it never was: each GUID has the LIDs of the one seven lines on. */
static void permute_guid2lid(struct scenario *s)
{
	g_autofree char *file = g_build_filename(s->cache_dir, "guid2lid", NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *old = NULL;
	g_auto(GStrv) lines = NULL;
	guint n;

	g_assert(g_file_get_contents(file, &old, NULL, NULL));
	lines = g_strsplit(g_strchomp(old), "\n\n", -1);
	n = g_strv_length(lines);
	for (guint i = 0; i < n; i++)
		g_string_append_printf(text, "%.18s %s\n\n", lines[i],
				       strchr(lines[(i + 7) % n], ' ') + 1);
	g_assert(g_file_set_contents(file, text->str, -1, NULL));
}

/* The next daemon has an old file: the LIDs that the healthy subnet uses stay all the same. */
START_TEST(takeover_with_a_stale_guid2lid)
{
	struct scenario *s = up("fattree:4");
	g_autofree uint16_t *lids = lids_of(s);

	scenario_stop(s);
	permute_guid2lid(s);
	if (_i)
		scenario_option(s, "-x", NULL); /* honor_guid2lid_file */
	scenario_start(s);
	scenario_converge(s, 10);
	if (_i)
		scenario_expect(s, moved(s, lids) > sim_nodes(s->sim) / 2);
	else
		scenario_expect_at_most(s, moved(s, lids), 0);
	scenario_free(s);
}
END_TEST

/* A host that lost its LID gets it back by the file; a LID that another one gave it is replaced. */
START_TEST(reboots_with_a_stale_guid2lid)
{
	struct scenario *s = up("fattree:4");
	g_autofree uint16_t *lids = lids_of(s);
	unsigned int host = scenario_node(s, "host-9");

	scenario_stop(s);
	sim_node_set(s->sim, host, false);
	sim_node_set(s->sim, host, true);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_expect_at_most(s, moved(s, lids), 0);
	scenario_free(s);
}
END_TEST

/* -r acts once, though the sweep in which it did had errors and others follow. */
START_TEST(reassigns_once)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int mute = scenario_node(s, "host-9");
	g_autofree uint16_t *lids = NULL;

	scenario_option(s, "-r", NULL);
	scenario_start(s);
	sim_node_stubborn(s->sim, mute, true);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", true);
	lids = lids_of(s);
	/* Assigned anew from here all LIDs would be others: the order of the walk differs. */
	sim_link_set(s->sim, scenario_node(s, "leaf-0-0"), 3, false);
	scenario_run_ms(s, 30 * 1000);
	sim_node_stubborn(s->sim, mute, false);
	scenario_converge(s, 30);
	scenario_expect_at_most(s, moved(s, lids), 1);
	scenario_free(s);
}
END_TEST

/* A switch that can forward to nobody costs itself, not the LIDs of all. */
START_TEST(switch_with_a_tiny_forwarding_table)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int tiny = scenario_node(s, "core-0-1"), without = 0;

	sim_set_linear_fdb_cap(s->sim, tiny, 1);
	scenario_start(s);
	scenario_run_ms(s, 10 * 1000);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		without += !scenario_lid(s, i);
	scenario_expect_at_most(s, without, 0);
	scenario_check_log(s, "'core-0-1'", true);
	scenario_check_log(s, "no free LID", false);
	scenario_free(s);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("options");
	TCase *tcase = tcase_create("lids");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, takeover_with_a_stale_guid2lid, 0, 2);
	tcase_add_test(tcase, reboots_with_a_stale_guid2lid);
	tcase_add_test(tcase, reassigns_once);
	tcase_add_test(tcase, switch_with_a_tiny_forwarding_table);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files of a site and of the cache directory: what is remembered of them, and who may read it. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/command.h"
#include "ctl/journal.h"
#include "scenario.h"
#include "tests/run_suite.h"

/* ---- the cache directory ---- */

/* Files there that others than the owner may read, newly allocated; "": none. */
static char *readable_by_others(const char *directory)
{
	g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
	GString *names = g_string_new(NULL);
	const char *name;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(directory, name, NULL);
		struct stat is;

		if (g_stat(file, &is) == 0 && is.st_mode & 077)
			g_string_append_printf(names, " %s", name);
	}
	return g_string_free(names, FALSE);
}

/* Also those that an older version left behind for all to read. */
START_TEST(cache_is_private)
{
	static const char *const kept[] = {"guid2lid", "guid2mkey", "neighbors", "path_sls",
					   "partitions.state"};
	struct scenario *s = scenario_new("mesh:3x3", 1);
	g_autofree char *seed = scenario_keys_of_ports(s, 1);
	g_autofree char *conf = g_strconcat(seed, "routing_engine dfsssp\n", NULL);
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	scenario_conf(s, conf);
	for (unsigned int run = 0; run < 2; run++) {
		g_autofree char *names = NULL;

		scenario_start(s);
		scenario_converge(s, 20);
		if (run == 0)
			ck_assert(daemon_change_partitions(s->daemon, "0x9: 0x1=full", 0, &serial,
							   &error));
		scenario_run_ms(s, 1000);
		scenario_stop(s);
		names = readable_by_others(s->cache_dir);
		ck_assert_str_eq(names, "");
		for (unsigned int i = 0; i < G_N_ELEMENTS(kept); i++) {
			g_autofree char *file = g_build_filename(s->cache_dir, kept[i], NULL);

			ck_assert_msg(g_chmod(file, 0644) == 0, "there is no %s", file);
		}
	}
	scenario_free(s);
}
END_TEST

/* ---- ages ---- */

static void make_journal(struct scenario *s, void *arg)
{
	struct command_env *env = arg;

	env->daemon = s->daemon;
	env->journal = journal_new(s->daemon);
}

/* By a clock that nobody sets: the wall clock does not move at all here. */
START_TEST(age_of_the_last_sweep)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct command_answer answer;
	struct command_env env = {0};

	scenario_conf(s, "sweep_interval 100000\n");
	s->made = make_journal;
	s->made_arg = &env;
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 77 * 1000);
	command_run(&env, "health", true, &answer);
	ck_assert_msg(strstr(answer.text, "ended 76 s ago") ||
			      strstr(answer.text, "ended 77 s ago"),
		      "%s", answer.text);
	g_free(answer.text);
	scenario_stop(s);
	journal_free(env.journal);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("site_files");
	TCase *tcase = tcase_create("site_files");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, cache_is_private);
	tcase_add_test(tcase, age_of_the_last_sweep);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

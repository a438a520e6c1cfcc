// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files of options exchanged with the classic daemon, both ways. Needs OpenSM 3.3 as the program
 * that CLASSIC_OPENSM names, else /usr/sbin/opensm; if that is something else, says so and skips.
 */
#include "test_options.h"
#include "tests/run_suite.h"

#include <stdio.h>

#define SKIPPED 77

static const char *classic(void)
{
	const char *program = g_getenv("CLASSIC_OPENSM");

	return program ? program : "/usr/sbin/opensm";
}

static bool classic_is_there(void)
{
	const char *argv[] = {classic(), "--version", NULL};
	g_autofree char *out = NULL;

	return g_file_test(classic(), G_FILE_TEST_IS_EXECUTABLE) &&
	       g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out,
			    NULL, NULL, NULL) &&
	       strstr(out, "OpenSM 3.");
}

/* The file as read by the classic daemon and written by it to a new file. */
static char *through_classic(const char *file)
{
	static const char *const complaints[] = {"Unrecognized", "Invalid", "-E-", "rror"};
	g_autofree char *back = temp_file("", 0);
	const char *argv[] = {classic(), "-F", file, "-c", back, NULL};
	g_autofree char *out = NULL;
	g_autofree char *err = NULL;
	g_auto(GStrv) lines = NULL;

	ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, 0, NULL, NULL, &out, &err, NULL, NULL));
	lines = g_strsplit(out, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++)
		for (unsigned int j = 0; j < G_N_ELEMENTS(complaints); j++)
			ck_assert_msg(!strstr(lines[i], complaints[j]) ||
					      strstr(lines[i], "Loading Cached Option"),
				      "%s", lines[i]);
	return g_steal_pointer(&back);
}

static void assert_survives(const char *text)
{
	struct loaded before = load_text(text, "");
	g_autofree char *file = temp_file("", 0);
	g_autofree char *back = NULL;
	struct loaded after;

	ck_assert_msg(before.good, "%s", before.error ? before.error->message : "");
	ck_assert(options_write(before.options, file, NULL));
	back = through_classic(file);
	after = load_words(back, "");
	ck_assert_msg(after.good, "%s", after.error ? after.error->message : "");
	ck_assert_uint_eq(after.warnings->len, 0);
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		g_autofree char *one = options_text(before.options, id);
		g_autofree char *other = options_text(after.options, id);

		/* Unknown to it, or not a key of the file. */
		if (option_is_newer(id) || option_table[id].scope == OPTION_SCOPE_COMMAND)
			continue;
		ck_assert_msg(strcmp(one, other) == 0, "%s: %s became %s", options_name(id), one,
			      other);
	}
	g_unlink(file);
	g_unlink(back);
	loaded_free(&before);
	loaded_free(&after);
}

START_TEST(our_template)
{
	assert_survives("");
}
END_TEST

START_TEST(our_template_with_values)
{
	assert_survives("guid 0x0002c903000a1b2c\nm_key 0x10\nm_key_lease_period 60\n"
			"m_key_protection_level 1\nlmc 2\npart_enforce in\nsm_priority 15\n"
			"routing_engine updn,ftree,minhop\nlog_file /tmp/a b\nlog_flags 0xff\n"
			"log_prefix two words\nqos TRUE\nqos_max_vls 8\nqos_high_limit 255\n"
			"qos_vlarb_high 0:4,1:8\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n"
			"qos_swe_vlarb_low 0:255\nforce_link_width 3\nconsole loopback\n"
			"root_guid_file /etc/roots\nexit_on_fatal FALSE\nmax_wire_smps 8\n"
			"subnet_prefix 0xfec0000000000001\nperfmgr_sweep_time_s 60\n"
			"cc_sw_cong_setting_victim_mask 0x80\ncc_cct 1:2,2:300\n");
}
END_TEST

START_TEST(template_of_the_classic)
{
	g_autofree char *empty = temp_file("", 0);
	g_autofree char *file = through_classic(empty);
	struct loaded loaded = load_words(file, "");

	ck_assert_msg(loaded.good, "%s", loaded.error ? loaded.error->message : "");
	ck_assert_uint_eq(loaded.warnings->len, 0);
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		ck_assert_msg(option_is_newer(id) ||
				      option_table[id].scope == OPTION_SCOPE_COMMAND ||
				      options_source(loaded.options, id) == OPTION_FROM_FILE,
			      "the classic daemon has no %s", options_name(id));
	g_unlink(empty);
	g_unlink(file);
	loaded_free(&loaded);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options and the classic daemon");
	TCase *tests = tcase_create("classic");

	if (!classic_is_there()) {
		printf("%s is not OpenSM 3: skipped\n", classic());
		return SKIPPED;
	}
	tcase_add_test(tests, our_template);
	tcase_add_test(tests, our_template_with_values);
	tcase_add_test(tests, template_of_the_classic);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}

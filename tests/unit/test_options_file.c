// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* opensm.conf: good, odd and hostile files; precedence; template; rereading. */
#include "test_options.h"
#include "tests/run_suite.h"

#include <stdio.h>
#include <sys/stat.h>

static void assert_refused(const char *text, const char *message)
{
	assert_not_loaded(load_text(text, ""), text, OPTIONS_ERROR_FILE, message);
}

static void assert_value(const char *text, enum option_id id, const char *value)
{
	assert_loaded(load_text(text, ""), text, id, value);
}

START_TEST(forms_of_lines)
{
	assert_value("m_key_lease_period 5\n", OPTION_m_key_lease_period, "5"); /* a sweep: 10 */
	assert_value("lmc 3\n", OPTION_lmc, "3");
	assert_value("lmc 3", OPTION_lmc, "3");
	assert_value("  lmc\t \t3  \r\n", OPTION_lmc, "3");
	assert_value("\n\n#x\n \t#y\nlmc 3#z\n", OPTION_lmc, "3");
	assert_value("\xEF\xBB\xBFlmc 3\n", OPTION_lmc, "3");
	assert_value("lmc \"3\" # c\n", OPTION_lmc, "3");
	assert_value("m_key 0x10\n", OPTION_m_key, "0x0000000000000010");
	assert_value("m_key 10\n", OPTION_m_key, "0x000000000000000a");
	assert_value("log_prefix a b # c\n", OPTION_log_prefix, "a b");
	assert_value("log_prefix \"a # b\" # c\n", OPTION_log_prefix, "a # b");
	assert_value("log_prefix 'a \"b\"'\n", OPTION_log_prefix, "a \"b\"");
	assert_value("log_prefix \"a\"b\"\n", OPTION_log_prefix, "a\"b");
	assert_value("log_prefix (null)\n", OPTION_log_prefix, "(null)");
	assert_value("log_prefix\n", OPTION_log_prefix, "(null)");
	assert_value("log_file x\nlog_file \"\"\n", OPTION_log_file, "stdout");
	assert_value("lmc 2\nlmc (null)\n", OPTION_lmc, "0");
	assert_value("dimn_ports_file d\n", OPTION_port_search_ordering_file, "d");
	assert_value("sweep_on_trap false\n", OPTION_sweep_on_trap, "FALSE");
	assert_value("", OPTION_lmc, "0");
	assert_value("cc_ca_cong_setting_ccti_min 1 7\ncc_ca_cong_setting_ccti_min 3 9\n",
		     OPTION_cc_ca_cong_setting_ccti_min, "1 7,3 9");
}
END_TEST

static bool is_named(const char *text, enum option_id id)
{
	struct loaded loaded = load_text(text, "");
	bool named;

	ck_assert_msg(loaded.good, "%s", text);
	named = options_is_named(loaded.options, id);
	loaded_free(&loaded);
	return named;
}

/* The classic daemon's template has a line for each file, also for one that does not exist. */
START_TEST(files_of_the_classic_template_are_not_named)
{
	ck_assert(!is_named("", OPTION_partition_config_file));
	ck_assert(!is_named("partition_config_file /etc/opensm/partitions.conf\n",
			    OPTION_partition_config_file));
	ck_assert(!is_named("per_module_logging_file /etc/opensm/per-module-logging.conf\n",
			    OPTION_per_module_logging_file));
	ck_assert(is_named("partition_config_file /etc/opensm/others.conf\n",
			   OPTION_partition_config_file));
	ck_assert(is_named("partition_config_file /etc/partitions.conf\n",
			   OPTION_partition_config_file));
	ck_assert(is_named("root_guid_file /etc/opensm/roots\n", OPTION_root_guid_file));
}
END_TEST

START_TEST(mistakes_name_file_line_and_key)
{
	g_autofree char *file = temp_file("lmc 1\n\nsm_priority 99\nqos 1\n", 28);
	g_autofree char *words = g_strdup_printf("-F %s", file);
	g_autofree char *first =
		g_strdup_printf("%s:3: sm_priority: '99' is not a number from 0 to 15\n", file);
	g_autofree char *second = g_strdup_printf("%s:4: qos: '1' is not TRUE or FALSE", file);
	struct loaded loaded = load_words(NO_FILE, words);

	ck_assert(!loaded.good);
	assert_contains(loaded.error->message, first);
	assert_contains(loaded.error->message, second);
	ck_assert_ptr_null(strstr(loaded.error->message, ":1:"));
	g_unlink(file);
	loaded_free(&loaded);
}
END_TEST

START_TEST(mistakes)
{
	assert_refused("lmc\n", "lmc: has no value; expected a number from 0 to 7");
	assert_refused("lmc # 3\n", "has no value");
	assert_refused("lmc=3\n", "'lmc=3' is not a key");
	assert_refused("lmc 3 4\n", "'3 4' is not");
	assert_refused("log_prefix \"abc\n", "is not closed");
	assert_refused("log_prefix 'abc # x'y\n", "is not closed");
	assert_refused("log_prefix a\001b\n", "a\\001b");
	assert_refused("guid 0002c90300000001\n", "without leading zeros");
	assert_refused("m_key_update_interval 9\n", "neither 0 nor from 10 to 71582 (min)");
	assert_refused("m_key_per_port TRUE\n", "m_key_per_port: needs m_key_seed_file");
	assert_refused("m_key_per_port TRUE\nm_key_seed_file /nowhere\n",
		       "m_key_seed_file: /nowhere: No such file");
	assert_refused("sm_priority 08\n", "leading zeros");
}
END_TEST

START_TEST(number_of_mistakes_is_limited)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct loaded loaded;

	for (int i = 0; i < 100; i++)
		g_string_append(text, "lmc 9\n");
	loaded = load_text(text->str, "");
	ck_assert(!loaded.good);
	assert_contains(loaded.error->message, ":20: lmc");
	ck_assert_ptr_null(strstr(loaded.error->message, ":21: lmc"));
	assert_contains(loaded.error->message, "80 more mistakes");
	ck_assert_uint_le(loaded.warnings->len, OPTIONS_REPORT_LIMIT + 1);
	loaded_free(&loaded);
}
END_TEST

START_TEST(warnings)
{
	struct loaded loaded =
		load_text("sweep_intervall 3\nzzzzzzzzz 1\nlmc 1\nlmc 2\nonce TRUE\nqos true\n"
			  "qos_sl2vl 1,2,\nqos_ca_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7,\n",
			  "");

	ck_assert(loaded.good);
	ck_assert_uint_eq(loaded.options->lmc, 2);
	assert_contains(loaded_warning(&loaded, 0), ":1: unknown key 'sweep_intervall' ignored; "
						    "did you mean sweep_interval?");
	assert_contains(loaded_warning(&loaded, 1), ":2: unknown key 'zzzzzzzzz' ignored");
	assert_contains(loaded_warning(&loaded, 2), ":4: lmc: overrides line 3");
	assert_contains(loaded_warning(&loaded, 3),
			":5: once is ignored: it is only valid on the command line, as --once");
	assert_contains(loaded_warning(&loaded, 4), ":6: qos: 'true' counts as TRUE; OpenSM 3.3");
	ck_assert(loaded.options->qos);
	assert_contains(loaded_warning(&loaded, 5), ":7: qos_sl2vl: fewer than 16 VLs");
	ck_assert_str_eq(loaded.options->qos_sl2vl, "1,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
	ck_assert_uint_eq(loaded.warnings->len, 6);
	loaded_free(&loaded);
}
END_TEST

START_TEST(long_lines_are_not_split)
{
	g_autofree char *prefix = g_strnfill(100000, 'p');
	g_autofree char *text = g_strdup_printf("log_prefix %s\nlmc 1\n", prefix);

	assert_value(text, OPTION_log_prefix, prefix);
	assert_value(text, OPTION_lmc, "1");
}
END_TEST

START_TEST(long_garbage_is_shown_short)
{
	g_autofree char *garbage = g_strnfill(100000, 'g');
	g_autofree char *text = g_strdup_printf("lmc %s\n%s 1\n", garbage, garbage);
	struct loaded loaded = load_text(text, "");

	ck_assert(!loaded.good);
	ck_assert_uint_lt(strlen(loaded.error->message), 500);
	ck_assert_uint_lt(strlen(loaded_warning(&loaded, 0)), 500);
	loaded_free(&loaded);
}
END_TEST

/* ---- hostile files ---- */

static void assert_bytes_refused(const void *bytes, size_t length, const char *message)
{
	struct loaded loaded = load_bytes(bytes, length, "");

	ck_assert(!loaded.good);
	assert_contains(loaded.error->message, message);
	loaded_free(&loaded);
}

START_TEST(binary_files)
{
	assert_bytes_refused("lmc 3\0\n", 7, ":1: holds a zero byte");
	assert_bytes_refused("lmc 3\nsm_sl 1\n\0", 15, ":3: holds a zero byte");
	assert_bytes_refused("\x7f"
			     "ELF\x02\x01\x01\0\0",
			     9, "holds a zero byte");
	assert_bytes_refused("\xff\xfe\xfd\n", 4, "is not a key");
}
END_TEST

/* No bytes, truncated or random, may do more than be refused or accepted. */
START_TEST(random_and_truncated_files)
{
	struct options *defaults = options_new();
	g_autofree char *file = temp_file("", 0);
	g_autofree char *text = NULL;
	GRand *rand = g_rand_new_with_seed(1);
	unsigned int good = 0;
	gsize length;

	ck_assert(options_write(defaults, file, NULL));
	ck_assert(g_file_get_contents(file, &text, &length, NULL));
	for (int i = 0; i < 300; i++) {
		g_autofree char *copy = g_memdup2(text, length);
		gsize cut = (gsize)g_rand_int_range(rand, 0, (gint32)length);
		int changes = g_rand_int_range(rand, 0, 3);
		struct loaded loaded;

		for (int j = 0; j < changes; j++) {
			int at = g_rand_int_range(rand, 0, (gint32)length);

			copy[at] = (char)g_rand_int_range(rand, 0, 256);
		}
		loaded = load_bytes(copy, cut, "");
		good += loaded.good;
		loaded_free(&loaded);
	}
	ck_assert_uint_gt(good, 50);
	ck_assert_uint_lt(good, 300);
	g_unlink(file);
	g_rand_free(rand);
	options_unref(defaults);
}
END_TEST

static void assert_file_refused(const char *file, const char *message)
{
	g_autofree char *words = g_strdup_printf("-F %s", file);
	struct loaded loaded = load_words(NO_FILE, words);

	ck_assert_msg(!loaded.good, "%s", file);
	ck_assert_int_eq(loaded.error->code, OPTIONS_ERROR_FILE);
	assert_contains(loaded.error->message, file);
	assert_contains(loaded.error->message, message);
	loaded_free(&loaded);
}

START_TEST(files_that_are_none)
{
	assert_file_refused("/", "is a directory");
	assert_file_refused("/nonexistent/file", "No such file");
	assert_file_refused("/dev/zero", "is a device");
}
END_TEST

START_TEST(huge_file)
{
	g_autofree char *file = temp_file("lmc 1\n", 6);

	ck_assert_int_eq(truncate(file, (16 << 20) + 1), 0);
	assert_file_refused(file, "has 16777217 octets or more, expected at most 16777216");
	g_unlink(file);
}
END_TEST

/* Root may read everything: continue as a user that can write there. TMPDIR may be root's. */
static void leave_root(void)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(seteuid(65534), 0);
	g_setenv("TMPDIR", P_tmpdir, TRUE);
}

START_TEST(unreadable_file)
{
	uid_t user = geteuid();
	g_autofree char *file = NULL;
	struct loaded loaded;

	leave_root();
	file = temp_file("lmc 1\n", 6);
	ck_assert_int_eq(chmod(file, 0), 0);
	assert_file_refused(file, "Permission denied");
	loaded = load_words(file, "");
	ck_assert(!loaded.good);
	loaded_free(&loaded);
	g_unlink(file);
	ck_assert_int_eq(seteuid(user), 0);
}
END_TEST

/* A file behind a closed directory may or may not exist: it does not count as absent. */
START_TEST(unreadable_directory)
{
	uid_t user = geteuid();
	g_autofree char *directory = NULL;
	g_autofree char *file = NULL;
	struct loaded loaded;

	leave_root();
	directory = g_dir_make_tmp("opensm-test-XXXXXX", NULL);
	file = g_build_filename(directory, "opensm.conf", NULL);
	loaded = load_words(file, "");
	ck_assert(loaded.good);
	loaded_free(&loaded);
	ck_assert_int_eq(chmod(directory, 0), 0);
	loaded = load_words(file, "");
	ck_assert(!loaded.good);
	assert_contains(loaded.error->message, "Permission denied");
	loaded_free(&loaded);
	g_rmdir(directory);
	ck_assert_int_eq(seteuid(user), 0);
}
END_TEST

/* ---- precedence ---- */

START_TEST(precedence)
{
	struct loaded loaded =
		load_text("lmc 3\nsm_priority 4\nlog_flags 0x01\nqos TRUE\n", "--lmc 5 -v");

	ck_assert(loaded.good);
	ck_assert_uint_eq(loaded.options->lmc, 5);
	ck_assert_uint_eq(loaded.options->sm_priority, 4);
	ck_assert_uint_eq(loaded.options->log_flags, 3);
	ck_assert_uint_eq(loaded.options->sm_sl, 0);
	ck_assert_uint_eq(options_source(loaded.options, OPTION_lmc), OPTION_FROM_COMMAND);
	ck_assert_uint_eq(options_source(loaded.options, OPTION_qos), OPTION_FROM_FILE);
	ck_assert_uint_eq(options_source(loaded.options, OPTION_sm_sl), OPTION_FROM_DEFAULT);
	loaded_free(&loaded);
}
END_TEST

START_TEST(named_file_replaces_the_default)
{
	g_autofree char *file = temp_file("lmc 2\n", 6);
	g_autofree char *words = g_strdup_printf("-l 4 -F %s -s 9", file);
	g_autofree char *only = g_strdup_printf("--config=%s", file);
	struct loaded both = load_text("sm_priority 4\nlmc 1\n", words);
	struct loaded one = load_text("sm_priority 4\nlmc 1\n", only);

	ck_assert_uint_eq(both.options->lmc, 4);
	ck_assert_uint_eq(both.options->sm_priority, 0);
	ck_assert_uint_eq(one.options->lmc, 2);
	g_unlink(file);
	loaded_free(&both);
	loaded_free(&one);
}
END_TEST

/* ---- template ---- */

static void assert_equal(const struct options *a, const struct options *b)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		g_autofree char *one = options_text(a, id);
		g_autofree char *other = options_text(b, id);

		if (option_table[id].scope != OPTION_SCOPE_COMMAND)
			ck_assert_msg(strcmp(one, other) == 0, "%s: %s, %s", options_name(id), one,
				      other);
	}
}

static void assert_round_trip(const struct options *options)
{
	g_autofree char *file = temp_file("", 0);
	struct loaded loaded;
	GError *error = NULL;

	ck_assert_msg(options_write(options, file, &error), "%s", error ? error->message : "");
	loaded = load_words(file, "");
	ck_assert_msg(loaded.good, "%s", loaded.error ? loaded.error->message : "");
	ck_assert_uint_eq(loaded.warnings->len, options->no_partition_enforcement ? 1 : 0);
	assert_equal(options, loaded.options);
	g_unlink(file);
	loaded_free(&loaded);
}

/* A file of the classic daemon has both keys. */
START_TEST(old_form_of_part_enforce)
{
	static const struct {
		const char *text, *words;
		unsigned int value;
	} cases[] = {
		{"part_enforce in\nno_partition_enforcement TRUE\n", "", PART_ENFORCE_OFF},
		{"no_partition_enforcement TRUE\npart_enforce both\n", "", PART_ENFORCE_OFF},
		{"no_partition_enforcement FALSE\npart_enforce in\n", "", PART_ENFORCE_IN},
		{"no_partition_enforcement FALSE\npart_enforce in\n", "-N", PART_ENFORCE_OFF},
		{"no_partition_enforcement TRUE\npart_enforce in\n", "-Z out", PART_ENFORCE_OUT},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct loaded loaded = load_text(cases[i].text, cases[i].words);

		ck_assert(loaded.good);
		ck_assert_uint_eq(loaded.options->part_enforce, cases[i].value);
		assert_round_trip(loaded.options);
		loaded_free(&loaded);
	}
}
END_TEST

START_TEST(template_of_defaults)
{
	struct options *options = options_new();

	assert_round_trip(options);
	options_unref(options);
}
END_TEST

/* A value other than the default for this row. */
static const char *another_value(const struct option *option)
{
	switch (option->kind) {
	case OPTION_KIND_BOOL:
		return strcmp(option->def, "TRUE") == 0 ? "FALSE" : "TRUE";
	case OPTION_KIND_CHOICE:
		return strrchr(option->unit, ' ') + 1;
	case OPTION_KIND_SET8:
		return option == &option_table[OPTION_fdr10] ? "2" : "3";
	case OPTION_KIND_VLARB:
		return "0:1,1:2";
	case OPTION_KIND_SL2VL:
		return "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1";
	case OPTION_KIND_CCT:
	case OPTION_KIND_CCT_ENTRY:
		return "1:2";
	case OPTION_KIND_MASK256:
		return "0x8000000000000000000000000000000000000000000000000000000000000001";
	case OPTION_KIND_PER_SL:
		return "1 2,15 3";
	case OPTION_KIND_PATH:
	case OPTION_KIND_TEXT:
		return " spaces # and \"quotes\" ";
	case OPTION_KIND_NAMES:
		return "updn,minhop";
	case OPTION_KIND_GUIDS:
		return "0x1, 0xfedcba9876543210";
	case OPTION_KIND_MLIDS:
		return "ff12:601b::/ffff:ffff::=64, ff15::a01c:0:0:0:0/ffff::ffff:0:0:0:0=2";
	case OPTION_KIND_REAL:
		return "0.5";
	case OPTION_KIND_X16:
		return "1";
	case OPTION_KIND_HEX64:
		return option == &option_table[OPTION_subnet_prefix] ? "0xfec0000000000000" : "2";
	default:
		return option == &option_table[OPTION_m_key_lease_period] ||
				       option == &option_table[OPTION_m_key_update_interval] ||
				       option == &option_table[OPTION_cc_key_update_interval] ||
				       option == &option_table[OPTION_perfmgr_history_interval]
			       ? "100"
			       : "2";
	}
}

START_TEST(template_of_other_values)
{
	struct options *options = options_new();

	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		g_autofree char *before = options_text(options, id);
		g_autofree char *mistake = option_parse(option, option_field(options, id),
							another_value(option), false);
		g_autofree char *after = options_text(options, id);

		if (id == OPTION_m_key_per_port || id == OPTION_m_key_seed_file ||
		    id == OPTION_cc_key_mode) {
			options->m_key_per_port = false; /* they need a file that exists */
			options->cc_key_mode = CC_KEY_SEND;
			g_clear_pointer(&options->m_key_seed_file, g_free);
			continue;
		}
		ck_assert_msg(!mistake, "%s: %s", option->name, mistake);
		ck_assert_msg(strcmp(before, after) != 0, "%s: still %s", option->name, after);
		options->source[id] = OPTION_FROM_FILE;
	}
	assert_round_trip(options);
	options_unref(options);
}
END_TEST

START_TEST(template_that_cannot_be_written)
{
	struct options *options = options_new();
	g_autofree char *file = temp_file("", 0);
	GError *error = NULL;

	ck_assert(!options_write(options, "/nonexistent/file", &error));
	assert_contains(error->message, "/nonexistent/file: No such file");
	g_clear_error(&error);
	ck_assert(!options_write(options, "/", &error));
	assert_contains(error->message, "/: is a directory");
	g_clear_error(&error);
	options->log_prefix = g_strdup("\"a\" # 'b' # c");
	ck_assert(!options_write(options, file, &error));
	assert_contains(error->message, "log_prefix: its value cannot be quoted");
	g_clear_error(&error);
	g_unlink(file);
	options_unref(options);
}
END_TEST

START_TEST(template_has_every_key_once)
{
	struct options *options = options_new();
	g_autofree char *file = temp_file("", 0);
	g_autofree char *text = NULL;

	ck_assert(options_write(options, file, NULL));
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		bool newer = option_is_newer(id);
		g_autofree char *line =
			g_strdup_printf("\n%s%s ", newer ? "#" : "", option->name);
		const char *found = strstr(text, line);

		ck_assert_msg(!!found == (option->scope != OPTION_SCOPE_COMMAND), "%s",
			      option->name);
		ck_assert_msg(!found || !strstr(found + 1, line), "%s twice", option->name);
	}
	g_unlink(file);
	options_unref(options);
}
END_TEST

/* ---- rereading ---- */

static void rewrite(const char *file, const char *text)
{
	ck_assert(g_file_set_contents(file, text, -1, NULL));
}

START_TEST(reread_changes_what_is_live)
{
	g_autofree char *file = temp_file("sm_priority 3\nlmc 1\nsweep_interval 5\n", 37);
	struct loaded loaded = load_words(file, "--sweep 7");
	struct options *options;
	GError *error = NULL;

	rewrite(file, "sm_priority 4\nlmc 2\nsweep_interval 6\nroot_guid_file r\n");
	options = options_reread(loaded.options, NULL, NULL, loaded.warnings, &error);
	ck_assert_ptr_nonnull(options);
	ck_assert_uint_eq(options->sm_priority, 4);
	ck_assert_uint_eq(options->lmc, 1);
	ck_assert_uint_eq(options->sweep_interval, 7);
	ck_assert_ptr_null(options->root_guid_file);
	ck_assert_uint_eq(loaded.options->sm_priority, 3);
	ck_assert_uint_eq(loaded.warnings->len, 2);
	ck_assert_str_eq(loaded_warning(&loaded, 0), "lmc: 1 stays in effect, 2 needs a restart");
	options_unref(options);
	g_unlink(file);
	loaded_free(&loaded);
}
END_TEST

START_TEST(reread_of_a_bad_file_changes_nothing)
{
	g_autofree char *file = temp_file("sm_priority 3\n", 14);
	struct loaded loaded = load_words(file, "");
	GError *error = NULL;

	rewrite(file, "sm_priority 4\nsm_sl 99\n");
	ck_assert_ptr_null(options_reread(loaded.options, NULL, NULL, loaded.warnings, &error));
	assert_contains(error->message, ":2: sm_sl: '99'");
	g_clear_error(&error);
	g_unlink(file);
	/* It existed at the start: its absence is a mistake, not a request for defaults. */
	ck_assert_ptr_null(options_reread(loaded.options, NULL, NULL, loaded.warnings, &error));
	assert_contains(error->message, "No such file");
	g_clear_error(&error);
	loaded_free(&loaded);
}
END_TEST

START_TEST(references)
{
	struct options *options = options_new();

	ck_assert_ptr_eq(options_ref(options), options);
	options_unref(options);
	ck_assert_uint_eq(options->max_wire_smps, 64);
	options_unref(options);
	options_unref(NULL);
}
END_TEST

START_TEST(slots_hold_references)
{
	struct options *options = options_new();
	struct options *taken;
	struct slot slot;

	options_slot_init(&slot);
	slot_publish(&slot, options);
	taken = slot_take(&slot);
	ck_assert_ptr_eq(taken, options);
	slot_publish(&slot, options_new());
	ck_assert_uint_eq(taken->max_wire_smps, 64);
	options_unref(taken);
	slot_clear(&slot);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("options_file");
	TCase *tests = tcase_create("file");

	tcase_add_test(tests, forms_of_lines);
	tcase_add_test(tests, old_form_of_part_enforce);
	tcase_add_test(tests, files_of_the_classic_template_are_not_named);
	tcase_add_test(tests, mistakes_name_file_line_and_key);
	tcase_add_test(tests, mistakes);
	tcase_add_test(tests, number_of_mistakes_is_limited);
	tcase_add_test(tests, warnings);
	tcase_add_test(tests, long_lines_are_not_split);
	tcase_add_test(tests, long_garbage_is_shown_short);
	tcase_add_test(tests, binary_files);
	tcase_add_test(tests, random_and_truncated_files);
	tcase_add_test(tests, files_that_are_none);
	tcase_add_test(tests, huge_file);
	tcase_add_test(tests, unreadable_file);
	tcase_add_test(tests, unreadable_directory);
	tcase_add_test(tests, precedence);
	tcase_add_test(tests, named_file_replaces_the_default);
	tcase_add_test(tests, template_of_defaults);
	tcase_add_test(tests, template_of_other_values);
	tcase_add_test(tests, template_that_cannot_be_written);
	tcase_add_test(tests, template_has_every_key_once);
	tcase_add_test(tests, reread_changes_what_is_live);
	tcase_add_test(tests, reread_of_a_bad_file_changes_nothing);
	tcase_add_test(tests, references);
	tcase_add_test(tests, slots_hold_references);
	suite_add_tcase(suite, tests);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of options, values at their bounds, and the command line. */
#include <complib/log.h>

#include "test_options.h"
#include "tests/run_suite.h"

static void assert_error(const char *words, const char *message)
{
	assert_not_loaded(load_words(NO_FILE, words), words, OPTIONS_ERROR_USAGE, message);
}

static void assert_value(const char *words, enum option_id id, const char *value)
{
	assert_loaded(load_words(NO_FILE, words), words, id, value);
}

/* ---- the table ---- */

/* options_new() asserts that defaults parse; here they must also match the table. */
START_TEST(defaults_are_good)
{
	struct options *options = options_new();

	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		g_autofree char *text = options_text(options, id);

		ck_assert_uint_eq(options_source(options, id), OPTION_FROM_DEFAULT);
		ck_assert_msg(option_is_text(option) || option->def, "%s: no default",
			      option->name);
		if (option->kind != OPTION_KIND_MASK256)
			ck_assert_str_eq(text, option->def ? option->def : "(null)");
	}
	options_unref(options);
}
END_TEST

START_TEST(flags_are_unique)
{
	for (unsigned int a = 0; a < OPTION_COUNT; a++)
		for (unsigned int b = 0; b < OPTION_COUNT + OPTION_ACTION_COUNT; b++) {
			bool action = b >= OPTION_COUNT;
			const struct option *one = &option_table[a];
			const char *flag = action ? option_actions[b - OPTION_COUNT].flag
						  : option_table[b].flag;
			char letter = action ? option_actions[b - OPTION_COUNT].letter
					     : option_table[b].letter;

			if (a == b || !one->flag)
				continue;
			ck_assert_msg(g_strcmp0(one->flag, flag) != 0, "%s twice", flag);
			ck_assert_msg(!one->letter || one->letter != letter, "-%c twice", letter);
		}
}
END_TEST

START_TEST(rows_are_complete)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];

		ck_assert_msg(*option->help, "%s: no help", option->name);
		ck_assert_msg(strlen(option->help) <= 100, "%s: help too long", option->name);
		ck_assert_msg(option->help[strlen(option->help) - 1] != '.', "%s", option->name);
		ck_assert_msg(!option->letter || option->flag, "%s: letter only", option->name);
		ck_assert_msg(option->scope != OPTION_SCOPE_COMMAND || option->flag,
			      "%s: cannot be set", option->name);
		ck_assert_msg(!option->preset || option->kind == OPTION_KIND_BOOL, "%s",
			      option->name);
		ck_assert_msg(option->kind != OPTION_KIND_BOOL || !option->flag || option->preset,
			      "%s: a switch with a value", option->name);
	}
}
END_TEST

static bool is_number(const struct option *option)
{
	return (option->kind >= OPTION_KIND_U8 && option->kind <= OPTION_KIND_HEX64) &&
	       option->kind != OPTION_KIND_SET8 && option->kind != OPTION_KIND_CHOICE;
}

static bool accepts(const struct option *option, const char *text)
{
	struct options *options = options_new();
	g_autofree char *mistake =
		option_parse(option, option_field(options, (enum option_id)(option - option_table)),
			     text, false);

	options_unref(options);
	return !mistake;
}

/* Each number accepts its bounds and nothing beyond, and reports that. */
START_TEST(bounds_of_numbers)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		g_autofree char *least = g_strdup_printf("%" G_GINT64_FORMAT, option->min);
		g_autofree char *most = g_strdup_printf("%" G_GUINT64_FORMAT, option->max);
		g_autofree char *less = g_strdup_printf("%" G_GINT64_FORMAT, option->min - 1);
		g_autofree char *more = g_strdup_printf("%" G_GUINT64_FORMAT, option->max + 1);

		if (!is_number(option))
			continue;
		ck_assert_msg(accepts(option, least), "%s: refuses %s", option->name, least);
		ck_assert_msg(accepts(option, most), "%s: refuses %s", option->name, most);
		ck_assert_msg(!accepts(option, less), "%s: accepts %s", option->name, less);
		if (option->max != UINT64_MAX)
			ck_assert_msg(!accepts(option, more), "%s: accepts %s", option->name, more);
	}
}
END_TEST

/* The field must hold every value within the bounds. */
START_TEST(bounds_survive_the_field)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++) {
		const struct option *option = &option_table[id];
		g_autofree char *most = g_strdup_printf("%" G_GUINT64_FORMAT, option->max);
		struct options *options = options_new();
		g_autofree char *mistake = NULL;
		g_autofree char *back = NULL;

		if (is_number(option)) {
			mistake = option_parse(option, option_field(options, id), most, false);
			back = options_text(options, id);
			ck_assert_msg(g_ascii_strtoull(back, NULL, 0) == option->max, "%s: %s",
				      option->name, back);
		}
		options_unref(options);
	}
}
END_TEST

START_TEST(no_number_takes_garbage)
{
	static const char *const garbage[] = {"x",
					      "1x",
					      "0x",
					      "--1",
					      "1 2",
					      "1.5",
					      "+1",
					      " 1",
					      "99999999999999999999999",
					      "0x1ffffffffffffffff",
					      "010",
					      "1e3",
					      "-",
					      "TRUE"};

	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		for (unsigned int i = 0; i < G_N_ELEMENTS(garbage); i++) {
			const struct option *option = &option_table[id];

			if (option_is_text(option))
				continue;
			if (option->kind == OPTION_KIND_BOOL && i == G_N_ELEMENTS(garbage) - 1)
				continue;
			if (option->kind == OPTION_KIND_PER_SL && strcmp(garbage[i], "1 2") == 0)
				continue;
			/* Other forms, tested below. */
			if (option->kind == OPTION_KIND_REAL || option->kind == OPTION_KIND_MASK256)
				continue;
			ck_assert_msg(!accepts(option, garbage[i]), "%s accepts '%s'", option->name,
				      garbage[i]);
		}
}
END_TEST

/* "name value" is good, "!name value" is not. */
START_TEST(values_of_other_kinds)
{
	static const struct {
		enum option_id id;
		bool good;
		const char *value;
	} cases[] = {
		{OPTION_force_link_width, true, "31"},
		{OPTION_force_link_width, true, "255"},
		{OPTION_force_link_width, false, "32"},
		{OPTION_force_link_width, false, "254"},
		{OPTION_force_link_speed, false, "2"},
		{OPTION_force_link_speed_ext, true, "30"},
		{OPTION_force_link_speed_ext, true, "24"},
		{OPTION_force_link_speed_ext, false, "32"},
		{OPTION_part_enforce, true, "out"},
		{OPTION_part_enforce, false, "OUT "},
		{OPTION_qos, true, "true"},
		{OPTION_qos, false, "1"},
		{OPTION_qos, false, "yes"},
		{OPTION_qos_vlarb_high, true, "0:4,1:0, 14:255"},
		{OPTION_qos_vlarb_high, false, "15:1"},
		{OPTION_qos_vlarb_high, false, "0:256"},
		{OPTION_qos_vlarb_high, false, "0:4,"},
		{OPTION_qos_vlarb_high, false, "0"},
		{OPTION_qos_sl2vl, true, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"},
		{OPTION_qos_sl2vl, true, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"},
		{OPTION_qos_sl2vl, true, "0,1,2,3,5,5,5,12,12,0,"},
		{OPTION_qos_sl2vl, false, "0,1,,"},
		{OPTION_qos_sl2vl, false, ","},
		{OPTION_qos_sl2vl, false, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7,7"},
		{OPTION_qos_sl2vl, false, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16"},
		{OPTION_qos_high_limit, true, "-1"},
		{OPTION_cc_cct, true, "0:0,3:16383"},
		{OPTION_cc_cct, false, "4:0"},
		{OPTION_cc_cct, false, "0:16384"},
		{OPTION_cc_sw_cong_setting_credit_starvation_return_delay, true, "3:16383"},
		{OPTION_cc_sw_cong_setting_credit_starvation_return_delay, false, "3:16383:"},
		{OPTION_cc_sw_cong_setting_credit_starvation_return_delay, false, "3"},
		{OPTION_cc_sw_cong_setting_victim_mask, true, "0x10"},
		{OPTION_cc_sw_cong_setting_victim_mask, true, "aBcd"},
		{OPTION_cc_sw_cong_setting_victim_mask, false, "0x1g"},
		{OPTION_cc_sw_cong_setting_victim_mask, false,
		 "0x10000000000000000000000000000000000000000000000000000000000000000"},
		{OPTION_cc_ca_cong_setting_ccti_timer, true, "15 65535"},
		{OPTION_cc_ca_cong_setting_ccti_timer, false, "16 0"},
		{OPTION_cc_ca_cong_setting_ccti_increase, false, "0 256"},
		{OPTION_cc_ca_cong_setting_ccti_increase, false, "0 1,"},
		{OPTION_routing_engine, true, "updn, minhop,no_fallback"},
		{OPTION_routing_engine, false, "up/dn"},
		{OPTION_routing_engine, false, ",,"},
		{OPTION_mlid_sharing, true, "ff12:401b::/ffff:ffff::=4096"},
		{OPTION_mlid_sharing, true,
		 "ff10:601b::1:ff00:0/fff0:ffff:0:0:0:1:ff00:0=1,ff00::/ff00::=2"},
		{OPTION_mlid_sharing, false, "ff12:401b::=4"},
		{OPTION_mlid_sharing, false, "ff12:401b::/ffff:ffff::"},
		{OPTION_mlid_sharing, false, "ff12:401b::/ffff:ffff::=0"},
		{OPTION_mlid_sharing, false, "ff12:401b::/ffff:ffff::=4097"},
		{OPTION_mlid_sharing, false, "ff12:401b::/ffff:ffff::=4x"},
		{OPTION_mlid_sharing, false, "ff12:401b::/ffff::=4"},
		{OPTION_mlid_sharing, false, "fe80::/ffff::=4"},
		{OPTION_mlid_sharing, false, "ff12::/::=4"},
		{OPTION_mlid_sharing, false, ","},
		{OPTION_log_prefix, false, "a\tb"},
		{OPTION_log_prefix, true, "two words \xc3\xa4"},
		{OPTION_sim_loss, true, "0.25"},
		{OPTION_sim_loss, true, "1"},
		{OPTION_sim_loss, false, "1.01"},
		{OPTION_sim_loss, false, "-0.1"},
		{OPTION_sim_loss, false, "nan"},
		{OPTION_sim_loss, false, "inf"},
		{OPTION_sim_loss, false, "0x"},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(accepts(&option_table[cases[i].id], cases[i].value) == cases[i].good,
			      "%s: '%s'", option_table[cases[i].id].name, cases[i].value);
}
END_TEST

START_TEST(list_lengths_are_limited)
{
	g_autoptr(GString) list = g_string_new("0:1");

	for (int i = 1; i < 64; i++)
		g_string_append(list, ",0:1");
	ck_assert(accepts(&option_table[OPTION_qos_vlarb_low], list->str));
	ck_assert(accepts(&option_table[OPTION_cc_cct], list->str));
	g_string_append(list, ",0:1");
	ck_assert(!accepts(&option_table[OPTION_qos_vlarb_low], list->str));
	for (int i = 65; i < 128; i++)
		g_string_append(list, ",0:1");
	ck_assert(accepts(&option_table[OPTION_cc_cct], list->str));
	g_string_append(list, ",0:1");
	ck_assert(!accepts(&option_table[OPTION_cc_cct], list->str));
}
END_TEST

START_TEST(path_length_is_limited)
{
	g_autofree char *path = g_strnfill(4096, 'a');

	ck_assert(!accepts(&option_table[OPTION_log_file], path));
	path[4095] = '\0';
	ck_assert(accepts(&option_table[OPTION_log_file], path));
}
END_TEST

/* ---- the command line ---- */

START_TEST(forms_of_options)
{
	assert_value("", OPTION_lmc, "0");
	assert_value("-l 3", OPTION_lmc, "3");
	assert_value("-l3", OPTION_lmc, "3");
	assert_value("--lmc 3", OPTION_lmc, "3");
	assert_value("--lmc=3", OPTION_lmc, "3");
	assert_value("-lmc 3", OPTION_lmc, "3");
	assert_value("-lmc=3", OPTION_lmc, "3");
	assert_value("-t500", OPTION_transaction_timeout, "500");
	assert_value("-Bo", OPTION_once, "TRUE");
	assert_value("-Bo", OPTION_daemon, "TRUE");
	assert_value("-os 7", OPTION_sweep_interval, "7");
	assert_value("--lmc 3 --lmc 2", OPTION_lmc, "2");
	assert_value("-o --", OPTION_once, "TRUE");
	assert_value("-N", OPTION_part_enforce, "off");
	assert_value("-N -Z in", OPTION_part_enforce, "off");
	assert_value("-Z in", OPTION_part_enforce, "in");
	assert_value("-e", OPTION_accum_log_file, "FALSE");
	assert_value("-y", OPTION_exit_on_fatal, "FALSE");
	assert_value("--console-port 17", OPTION_console_port, "17");
	assert_value("--max_reverse_hops 2", OPTION_max_reverse_hops, "2");
	assert_value("--sim fattree:8 --sim-loss 0.5", OPTION_sim, "fattree:8");
}
END_TEST

START_TEST(abbreviations)
{
	assert_value("--prio 3", OPTION_sm_priority, "3");
	assert_value("-prio 3", OPTION_sm_priority, "3");
	assert_value("--swe=3", OPTION_sweep_interval, "3");
	assert_value("-inact", OPTION_sm_inactive, "TRUE");
	/* A whole name wins over names that begin with it. */
	assert_value("--guid 12", OPTION_guid, "0x0000000000000012");
	assert_value("--perfmgr", OPTION_perfmgr, "TRUE");
	assert_value("--dimn_ports_file x", OPTION_port_search_ordering_file, "x");
	assert_error("--con x", "--console, ");
	assert_error("-co x", "short for several options");
}
END_TEST

START_TEST(hexadecimal_on_the_command_line)
{
	assert_value("-g 10", OPTION_guid, "0x0000000000000010");
	assert_value("-g 0x2c90300abcdef", OPTION_guid, "0x0002c90300abcdef");
	assert_value("-g 0002c90300abcdef", OPTION_guid, "0x0002c90300abcdef");
	assert_value("-k 10", OPTION_sm_key, "0x0000000000000010");
	assert_value("--subnet_prefix fec0000000000000", OPTION_subnet_prefix,
		     "0xfec0000000000000");
	assert_value("--cc_key 10", OPTION_cc_key, "0x000000000000000a");
	assert_error("-g 0x2c90300abcdefg", "guid: '0x2c90300abcdefg' is not a hexadecimal number");
	assert_error("-g 10002c90300abcdef", "guid");
}
END_TEST

START_TEST(verbosity)
{
	assert_value("-D 0x47", OPTION_log_flags, "0x47");
	assert_value("-D 10", OPTION_log_flags, "0x0a");
	assert_value("-v", OPTION_log_flags, "0x07");
	assert_value("-vv", OPTION_log_flags, "0x0f");
	assert_value("-v -v -v", OPTION_log_flags, "0x1f");
	assert_value("-vvvvvvvvv", OPTION_log_flags, "0xff");
	assert_value("-D 0 -v", OPTION_log_flags, "0x01");
	assert_value("-v -D 0", OPTION_log_flags, "0x00");
	assert_value("-V", OPTION_log_flags, "0xff");
	assert_value("-V", OPTION_force_log_flush, "TRUE");
	assert_error("-D 256", "D: '256' is not a number from 0 to 255");
}
END_TEST

static unsigned int warnings_of(const char *words, const char *text)
{
	struct loaded loaded = load_words(NO_FILE, words);
	unsigned int n = loaded.warnings->len;

	ck_assert(loaded.good);
	for (unsigned int i = 0; i < n; i++)
		assert_contains(loaded_warning(&loaded, i), text);
	loaded_free(&loaded);
	return n;
}

/* 0xff sets all of them: the missing effect of one bit does not matter. */
START_TEST(log_flag_without_effect)
{
	ck_assert_uint_eq(warnings_of("-D 0x13", "log_flags: 0x10 has no effect"), 1);
	ck_assert_uint_eq(warnings_of("-D 0x6f", ""), 0);
	ck_assert_uint_eq(warnings_of("-D 0xff", ""), 0);
	ck_assert_uint_eq(warnings_of("-V", ""), 0);
}
END_TEST

START_TEST(debug_levels)
{
	assert_value("-d 0", OPTION_ignore_other_sm, "TRUE");
	assert_value("-d1", OPTION_single_thread, "TRUE");
	assert_value("--debug=2", OPTION_force_log_flush, "TRUE");
	assert_value("-d 3", OPTION_disable_multicast, "TRUE");
	assert_value("-d 5", OPTION_disable_multicast, "FALSE");
	assert_value("-d 10", OPTION_disable_multicast, "FALSE");
	assert_error("-d 11", "debug: '11' is not one of");
	assert_error("-d 4", "debug: '4' is not one of");
	assert_error("-d x", "debug: 'x' is not one of");
}
END_TEST

START_TEST(usage_errors)
{
	assert_error("--bogus", "unknown option '--bogus'");
	assert_error("--sweeep 3", "did you mean --sweep?");
	assert_error("-4", "unknown option '-4'");
	assert_error("-oj", "unknown option '-oj'");
	assert_error("--json", "json: there is nothing to print without --plan or --check-config");
	assert_error("stray", "stray argument 'stray'");
	assert_error("-o stray", "stray argument 'stray'");
	assert_error("-o -- stray", "stray argument '--'");
	assert_error("-", "stray argument '-'");
	assert_error("--=3", "unknown option '--=3'");
	assert_error("-l", "lmc: needs a value");
	assert_error("--lmc", "lmc: needs a value");
	assert_error("--once=1", "once: takes no value");
	assert_error("-l 9", "lmc: '9' is not a number from 0 to 7");
	assert_error("-l 1x", "lmc: '1x' is not a number from 0 to 7");
	assert_error("--sweep -3", "sweep: '-3' is not a number");
	assert_error("-s 010", "without leading zeros");
	assert_error("--priority=", "priority: the value is empty");
	assert_error("-q bogus", "console: 'bogus' is not one of off, local, loopback, socket");
	assert_error("-t 0", "timeout: '0' is not a number from 1 to");
	assert_error("-B -g 0", "--daemon");
	assert_error("--log_prefix a\033b", "a\\033b");
}
END_TEST

START_TEST(requests)
{
	static const struct {
		const char *words;
		enum options_request request;
	} cases[] = {
		{"--help", OPTIONS_HELP},      {"-h", OPTIONS_HELP},
		{"-?", OPTIONS_HELP},	       {"--version", OPTIONS_VERSION},
		{"-l 9 -h", OPTIONS_HELP},     {"-F /nonexistent -h", OPTIONS_HELP},
		{"-version", OPTIONS_VERSION}, {"-o", OPTIONS_RUN},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct loaded loaded = load_words(NO_FILE, cases[i].words);

		ck_assert_msg(loaded.good && loaded.request == cases[i].request, "%s",
			      cases[i].words);
		ck_assert_int_eq(loaded.options != NULL, loaded.request == OPTIONS_RUN);
		loaded_free(&loaded);
	}
}
END_TEST

/* Words of flags, values and noise: accepted or refused with a message, never a crash. */
START_TEST(random_command_lines)
{
	static const char *const values[] = {"0", "-1", "x", "--", "-", "=", "0x", "99999999999"};
	GRand *rand = g_rand_new_with_seed(1);
	unsigned int good = 0;

	for (int i = 0; i < 3000; i++) {
		g_autoptr(GString) words = g_string_new(NULL);
		struct loaded loaded;

		for (int j = g_rand_int_range(rand, 1, 5); j > 0; j--) {
			const char *flag =
				option_table[g_rand_int_range(rand, 0, OPTION_COUNT)].flag;
			int length = flag ? g_rand_int_range(rand, 0, (int)strlen(flag) + 1) : 0;
			const char *value = values[g_rand_int_range(rand, 0, 8)];
			char between = " =-x"[g_rand_int_range(rand, 0, 4)];

			g_string_append_printf(words, "%s-%.*s%c%s", words->len ? " " : "", length,
					       flag ? flag : "", between, value);
		}
		/* None that names a file to read. */
		if (strstr(words->str, "-F") || strstr(words->str, "-conf"))
			continue;
		loaded = load_words(NO_FILE, words->str);
		ck_assert_msg(loaded.good || *loaded.error->message, "%s", words->str);
		good += loaded.good;
		loaded_free(&loaded);
	}
	ck_assert_uint_gt(good, 10);
	g_rand_free(rand);
}
END_TEST

START_TEST(source_tells_zero_from_none)
{
	struct loaded none = load_words(NO_FILE, "");
	struct loaded zero = load_words(NO_FILE, "-g 0");

	ck_assert_uint_eq(options_source(none.options, OPTION_guid), OPTION_FROM_DEFAULT);
	ck_assert_uint_eq(options_source(zero.options, OPTION_guid), OPTION_FROM_COMMAND);
	loaded_free(&none);
	loaded_free(&zero);
}
END_TEST

START_TEST(help_lists_every_flag)
{
	g_autofree char *help = options_help();
	g_auto(GStrv) lines = NULL;

	for (unsigned int id = 0; id < OPTION_COUNT + OPTION_ACTION_COUNT; id++) {
		bool action = id >= OPTION_COUNT;
		const char *flag =
			action ? option_actions[id - OPTION_COUNT].flag : option_table[id].flag;
		char letter =
			action ? option_actions[id - OPTION_COUNT].letter : option_table[id].letter;
		g_autofree char *text = letter ? g_strdup_printf("  -%c, --%s", letter, flag)
					       : g_strdup_printf("  --%s", flag);

		if (flag)
			assert_contains(help, text);
	}
	lines = g_strsplit(help, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) /* a long file name alone cannot be broken */
		ck_assert_msg(strlen(lines[i]) < 80 || !strchr(g_strstrip(lines[i]), ' '), "%s",
			      lines[i]);
}
END_TEST

START_TEST(environment_moves_dumps)
{
	struct loaded loaded;

	g_setenv("OSM_TMP_DIR", "/elsewhere", TRUE);
	loaded = load_words(NO_FILE, "");
	ck_assert_str_eq(loaded.options->dump_files_dir, "/elsewhere");
	loaded_free(&loaded);
	assert_value("--dump_files_dir /d", OPTION_dump_files_dir, "/d");
	g_unsetenv("OSM_TMP_DIR");
}
END_TEST

/* Where a daemon writes, whatever the flags of its log; unset is "". */
static void assert_places(const struct options *options, const char *log, const char *dumps,
			  const char *control)
{
	ck_assert_str_eq(options->log_file, log);
	ck_assert_str_eq(options->dump_files_dir ? options->dump_files_dir : "", dumps);
	ck_assert_str_eq(options->control_socket ? options->control_socket : "", control);
	ck_assert(options_logs_apart(options) == !strcmp(log, "stderr"));
}

#define SITE                                                                                       \
	"log_file /site/log\ndump_files_dir /site/dumps\ncontrol_socket /site/sock\n"              \
	"log_flags 0x07\nlmc 2\n"

START_TEST(a_simulation_writes_nothing_of_the_site)
{
	struct loaded loaded = load_words(NO_FILE, "--sim fattree:4");
	g_autofree char *own = temp_file(SITE, strlen(SITE));
	g_autofree char *words = g_strdup_printf("--sim fattree:4 -F %s", own);

	assert_places(loaded.options, "stderr", "", "");
	ck_assert_uint_eq(loaded.options->log_flags, LOG_ERROR);
	loaded_free(&loaded);

	loaded = load_text(SITE, "--sim fattree:4");
	assert_places(loaded.options, "stderr", "", "");
	ck_assert_uint_eq(loaded.options->log_flags, LOG_ERROR);
	ck_assert_uint_eq(loaded.options->lmc, 2);
	loaded_free(&loaded);

	loaded = load_text(SITE, "--sim fattree:4 -f /mine/log --control-socket /mine/sock -v");
	assert_places(loaded.options, "/mine/log", "", "/mine/sock");
	loaded_free(&loaded);

	loaded = load_words(NO_FILE, words);
	assert_places(loaded.options, "/site/log", "/site/dumps", "/site/sock");
	ck_assert_uint_eq(loaded.options->log_flags, 7);
	loaded_free(&loaded);
	/* With the site's own name, it is that file. */
	loaded = load_words(own, words);
	assert_places(loaded.options, "stderr", "", "");
	loaded_free(&loaded);
	g_unlink(own);

	g_setenv("OSM_TMP_DIR", "/elsewhere", TRUE);
	g_setenv("OSM_RUN_DIR", "/run/mine", TRUE);
	loaded = load_text(SITE, "--sim fattree:4");
	assert_places(loaded.options, "stderr", "/elsewhere", "/run/mine/%g.sock");
	loaded_free(&loaded);
	g_unsetenv("OSM_TMP_DIR");
	g_unsetenv("OSM_RUN_DIR");
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("options");
	TCase *table = tcase_create("table");
	TCase *line = tcase_create("command line");

	tcase_add_test(table, defaults_are_good);
	tcase_add_test(table, flags_are_unique);
	tcase_add_test(table, rows_are_complete);
	tcase_add_test(table, bounds_of_numbers);
	tcase_add_test(table, bounds_survive_the_field);
	tcase_add_test(table, no_number_takes_garbage);
	tcase_add_test(table, values_of_other_kinds);
	tcase_add_test(table, list_lengths_are_limited);
	tcase_add_test(table, path_length_is_limited);
	tcase_add_test(line, forms_of_options);
	tcase_add_test(line, abbreviations);
	tcase_add_test(line, hexadecimal_on_the_command_line);
	tcase_add_test(line, verbosity);
	tcase_add_test(line, log_flag_without_effect);
	tcase_add_test(line, debug_levels);
	tcase_add_test(line, usage_errors);
	tcase_add_test(line, requests);
	tcase_add_test(line, random_command_lines);
	tcase_add_test(line, source_tells_zero_from_none);
	tcase_add_test(line, help_lists_every_flag);
	tcase_add_test(line, environment_moves_dumps);
	tcase_add_test(line, a_simulation_writes_nothing_of_the_site);
	suite_add_tcase(suite, table);
	suite_add_tcase(suite, line);
	return suite;
}

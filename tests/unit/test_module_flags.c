// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Log flags of single source files: names of this program and of OpenSM 3.3, and wrong lines. */
#include <check.h>
#include <string.h>

#include "core/skipped_lines.h"
#include "ctl/process/logging.h"
#include "tests/run_suite.h"

static const char *const classic[][2] = {
#define CLASSIC_MODULE(name, files) {name, files},
#include "ctl/process/classic_modules.def"
#undef CLASSIC_MODULE
};

/* text NULL: no flags of single files. */
static void apply(struct log *log, const char *text)
{
	struct module_flags *modules = text ? module_flags_parse("f", text, strlen(text)) : NULL;
	struct options *options = options_new();

	options->log_flags = LOG_ERROR | LOG_INFO;
	logging_apply(log, options, modules);
	module_flags_unref(modules);
	options_unref(options);
}

static struct log *log_of(const char *text)
{
	const struct log_config config = {.file = "/dev/null"};
	struct log *log = log_new(&config, NULL);

	ck_assert_ptr_nonnull(log);
	apply(log, text);
	return log;
}

START_TEST(own_files)
{
	struct log *log = log_of("# comment\n\nsweep.c,0x0F\n  mad.c = 1 # why\n"
				 "opensm/sa/server.c\t017\r\nport.c 4\nport.c 1");

	ck_assert(log_wants(log, LOG_DEBUG, "opensm/sm/sweep.c"));
	ck_assert(!log_wants(log, LOG_INFO, "opensm/mad/mad.c")); /* less than others */
	ck_assert(log_wants(log, LOG_DEBUG, "opensm/sa/server.c"));
	ck_assert(!log_wants(log, LOG_VERBOSE, "opensm/sm/write/port.c")); /* the last line */
	ck_assert(log_wants(log, LOG_INFO, "opensm/sm/keys/keys.c"));
	apply(log, NULL);
	ck_assert(!log_wants(log, LOG_DEBUG, "opensm/sm/sweep.c"));
	log_free(log);
}
END_TEST

/* They add to the general flags, and to each other; a file named itself has just its flags. */
START_TEST(classic_files)
{
	struct log *log = log_of("osm_sa_path_record.c=0x08\nosm_sa_multipath_record.c=0x04\n"
				 "osm_ucast_updn.c 0\nosm_trap_rcv.c 8\ntrap.c 1\n");

	ck_assert(log_wants(log, LOG_DEBUG, "opensm/sa/record/path.c"));
	ck_assert(log_wants(log, LOG_DEBUG, "opensm/sa/record/paths.c"));
	ck_assert(log_wants(log, LOG_VERBOSE, "opensm/sa/record/paths.c"));
	ck_assert(!log_wants(log, LOG_VERBOSE, "opensm/sa/record/path.c"));
	ck_assert(log_wants(log, LOG_ERROR, "opensm/sa/record/path.c"));
	ck_assert(log_wants(log, LOG_INFO, "opensm/route/engine/updn.c"));
	ck_assert(!log_wants(log, LOG_DEBUG, "opensm/sm/discover/trap.c"));
	ck_assert(!log_wants(log, LOG_INFO, "opensm/sm/discover/trap.c"));
	log_free(log);
}
END_TEST

/* OpenSM 3.3 has 91; what they stand for exists. */
START_TEST(the_table)
{
	ck_assert_uint_eq(G_N_ELEMENTS(classic), 91);
	for (unsigned int i = 0; i < G_N_ELEMENTS(classic); i++) {
		g_auto(GStrv) files = g_strsplit(classic[i][1], " ", -1);

		for (unsigned int k = 0; files[k]; k++)
			ck_assert_msg(module_is_own(files[k]), "%s: there is no %s", classic[i][0],
				      files[k]);
		for (unsigned int k = 0; k < i; k++)
			ck_assert_str_ne(classic[i][0], classic[k][0]);
	}
	ck_assert(!module_is_own("test_module_flags.c"));
	ck_assert(!module_is_own(""));
}
END_TEST

START_TEST(every_classic_name_is_known)
{
	g_autofree char *line = g_strdup_printf("%s 0x01\n", classic[_i][0]);
	struct module_flags *flags = module_flags_parse("f", line, strlen(line));
	const char *files = classic[_i][1];

	ck_assert_uint_eq(flags->warnings->len, !*files);
	if (!*files)
		ck_assert_ptr_nonnull(strstr(flags->warnings->pdata[0], "whose part"));
	else
		ck_assert_uint_gt(g_hash_table_size(flags->own) + g_hash_table_size(flags->classic),
				  0);
	module_flags_unref(flags);
}
END_TEST

static const char *const wrong[][2] = {
	{"sweep.c\n", "f:1: found 'sweep.c', expected the log flags after"},
	{"\nsweep.c x\n", "f:2: found 'x', expected log flags, a number up to 0xff"},
	{"sweep.c 0x100\n", "f:1: found '0x100', expected log flags"},
	{"sweep.c -1\n", "f:1: found '-1', expected log flags"},
	{"sweep.c 99999999999999999999\n", "f:1: found '99999999999999999999', expected log flags"},
	{"sweep.c 1 2\n", "f:1: found '2', expected the end of the line"},
	{"swep.c 1\n", "f:1: found 'swep.c', expected a source file of this program or"},
	{"sweep.c\001 1\n", "f:1: found 'sweep.c\\001', expected a source file"},
	{"st.c 1\n", "f:1: found 'st.c', expected a source file of OpenSM 3.3 whose part"},
};

/* It costs only its line. */
START_TEST(a_wrong_line)
{
	g_autofree char *text = g_strconcat(wrong[_i][0], "lid.c 8\n", NULL);
	struct module_flags *flags = module_flags_parse("f", text, strlen(text));

	ck_assert_uint_eq(flags->warnings->len, 1);
	ck_assert_msg(g_str_has_prefix(flags->warnings->pdata[0], wrong[_i][1]), "%s",
		      (const char *)flags->warnings->pdata[0]);
	ck_assert_uint_eq(g_hash_table_size(flags->own), 1);
	ck_assert_ptr_nonnull(g_hash_table_lookup(flags->own, "lid.c"));
	module_flags_unref(flags);
}
END_TEST

START_TEST(many_wrong_lines_are_counted)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct module_flags *flags;

	for (unsigned int i = 0; i < SKIPPED_LINES_TOLD + 3; i++)
		g_string_append(text, "x\n");
	flags = module_flags_parse("f", text->str, text->len);
	ck_assert_uint_eq(flags->warnings->len, SKIPPED_LINES_TOLD + 1);
	ck_assert_str_eq(flags->warnings->pdata[SKIPPED_LINES_TOLD], "f: 3 more lines are wrong");
	module_flags_unref(flags);
}
END_TEST

START_TEST(a_missing_file_is_no_error)
{
	g_autoptr(GError) error = NULL;
	struct module_flags *flags = module_flags_load("/nonexistent/file", _i, &error);

	ck_assert_ptr_nonnull(flags);
	ck_assert_uint_eq(flags->warnings->len, _i);
	module_flags_unref(flags);
	ck_assert_ptr_null(module_flags_load("/", _i, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "per_module_logging_file: /: "));
}
END_TEST

static bool are_same(const char *a, const char *b)
{
	struct module_flags *x = module_flags_parse("f", a, strlen(a));
	struct module_flags *y = module_flags_parse("f", b, strlen(b));
	bool same = module_flags_same(x, y);

	module_flags_unref(x);
	module_flags_unref(y);
	return same;
}

START_TEST(compared)
{
	ck_assert(are_same("sweep.c 1\nosm_sa.c 2\n", "osm_sa.c=0x2 # x\nsweep.c 8\nsweep.c 1\n"));
	ck_assert(!are_same("sweep.c 1\n", "sweep.c 0\n"));
	ck_assert(!are_same("sweep.c 0\n", ""));
	ck_assert(!are_same("osm_sa.c 1\n", "server.c 1\n"));
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("module_flags");
	TCase *tcase = tcase_create("module_flags");

	tcase_add_test(tcase, own_files);
	tcase_add_test(tcase, classic_files);
	tcase_add_test(tcase, the_table);
	tcase_add_loop_test(tcase, every_classic_name_is_known, 0, G_N_ELEMENTS(classic));
	tcase_add_loop_test(tcase, a_wrong_line, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(tcase, many_wrong_lines_are_counted);
	tcase_add_loop_test(tcase, a_missing_file_is_no_error, 0, 2);
	tcase_add_test(tcase, compared);
	suite_add_tcase(suite, tcase);
	return suite;
}

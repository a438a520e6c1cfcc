// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rules by which counters are judged: the meaning of a line, and the errors of malformed ones.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "iba/constants.h"
#include "perf/judge/perf_rules.h"
#include "tests/run_suite.h"
#include "tests/unit/perf_fixture.h"

static struct perf_rules *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct perf_rules *rules = perf_rules_parse("f", text, strlen(text), &error);

	ck_assert_msg(rules != NULL, "%s: %s", text, error ? error->message : "no error");
	ck_assert_ptr_null(error);
	return rules;
}

static void check_text(const char *text, const char *expected)
{
	struct perf_rules *rules = parse(text);
	g_autofree char *printed = perf_rules_text(rules);

	ck_assert_str_eq(printed, expected);
	perf_rules_unref(rules);
}

START_TEST(nothing_said)
{
	struct perf_rules *rules = parse("# nothing\n\n \t\r\n   # and more");

	ck_assert_uint_eq(rules->n, 0);
	ck_assert_uint_eq(rules->n_groups, 0);
	perf_rules_unref(rules);
}
END_TEST

START_TEST(all_that_may_be_said)
{
	static const char text[] =
		"group spines 0x1 0x2:7 \"spine # *\"  # why\r\n"
		"group spines \"core\"\n"
		"portrcverrors all alarm 10 in 20 or 30 in 40 clear 2.5 after 50 no_fec unhealthy\n"
		"XmitWaitShare group spines warning 12.5 in 60\n"
		"RawBER switch-switch info 1e-6 in 900\n"
		"PortLoopingErrors 0x10:3 alarm off\n"
		"PortLoopingErrors 0x10 off#x";
	struct perf_rules *rules = parse(text);
	const struct perf_rule *rule = rules->rules;

	ck_assert_uint_eq(rules->n, 6);
	ck_assert_uint_eq(rule[0].value, PERF_RCV_ERRORS);
	ck_assert_uint_eq(rule[0].level, PERF_ALARM);
	ck_assert_double_eq(rule[0].limit, 10);
	ck_assert_uint_eq(rule[0].window_s, 20);
	ck_assert(!rule[0].is_more);
	ck_assert(rule[1].is_more);
	ck_assert_double_eq(rule[1].limit, 30);
	ck_assert_uint_eq(rule[1].window_s, 40);
	for (int i = 0; i < 2; i++) {
		ck_assert_double_eq(rule[i].clear, 2.5);
		ck_assert_uint_eq(rule[i].clear_s, 50);
		ck_assert_uint_eq(rule[i].links, PERF_NO_FEC_LINK);
		ck_assert(rule[i].unhealthy);
	}
	ck_assert_uint_eq(rule[2].scope, PERF_SCOPE_GROUP);
	ck_assert_double_eq(rule[2].clear, 6.25);
	ck_assert_uint_eq(rule[2].clear_s, 120);
	ck_assert_uint_eq(rules->groups[0].members->len, 2);
	ck_assert_uint_eq(rules->groups[0].patterns->len, 2);
	ck_assert(rule[4].off && rule[4].level == PERF_ALARM && rule[4].port == 3);
	ck_assert(rule[5].off && rule[5].level == PERF_OFF && rule[5].guid == 0x10);
	perf_rules_unref(rules);
	check_text(text,
		   "group spines 0x0000000000000001 0x0000000000000002:7 \"spine # *\" \"core\"\n"
		   "PortRcvErrors all alarm 10 in 20 or 30 in 40 clear 2.5 after 50 no_fec "
		   "unhealthy\n"
		   "XmitWaitShare group spines warning 12.5 in 60\n"
		   "RawBER switch-switch info 1e-06 in 900\n"
		   "PortLoopingErrors 0x0000000000000010:3 alarm off\n"
		   "PortLoopingErrors 0x0000000000000010 off\n");
}
END_TEST

/* Each value has a name, and is found by it. */
START_TEST(values)
{
	for (int i = 0; i < PERF_VALUES; i++)
		ck_assert_int_eq(perf_rule_value_find(perf_rule_value_name(i)), i);
	ck_assert_int_eq(perf_rule_value_find(""), -1);
	ck_assert_int_eq(perf_rule_value_find("XmitWait"), -1);
}
END_TEST

START_TEST(built_in)
{
	struct perf_rules *rules = perf_rules_built_in(), *again;
	g_autofree char *text = perf_rules_text(rules), *printed = NULL;

	ck_assert_ptr_null(rules->file);
	again = parse(text);
	printed = perf_rules_text(again);
	ck_assert_str_eq(text, printed);
	ck_assert(perf_rules_same(rules, again));
	ck_assert_ptr_nonnull(strstr(text, "LinkDownedCounter all alarm 3 in 300 or 5 in 86400\n"));
	for (unsigned int i = 0; i < rules->n; i++) {
		ck_assert(!rules->rules[i].unhealthy); /* actions are off */
		ck_assert(perf_rule_same(rules, &rules->rules[i], again, &again->rules[i]));
	}
	perf_rules_unref(again);
	perf_rules_unref(rules);
}
END_TEST

/* Values have the names that the console knows too; one of them is printed. */
START_TEST(other_names)
{
	static const char *const names[][2] = {
		{"rcv_err", "PortRcvErrors"},	{"wait", "XmitWaitShare"},
		{"waiting", "XmitWaitShare"},	{"utilization", "Utilisation"},
		{"UTILISATION", "Utilisation"}, {"raw_ber", "RawBER"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		ck_assert_int_eq(perf_rule_value_find(names[i][0]),
				 perf_rule_value_find(names[i][1]));
	for (int i = 0; i < PERF_VALUES; i++)
		ck_assert_int_eq(perf_rule_value_find(perf_rule_value_name((unsigned int)i)), i);
}
END_TEST

#define VALUE "group, a counter such as PortRcvErrors, XmitWaitShare, Utilisation or RawBER"
#define SCOPE "all, switch-switch, host, switch, group NAME, GUID or GUID:PORT"
#define REST "or, clear, after, fec, no_fec, unhealthy or the end of the line, in this order"
#define WHOLE "a limit, a whole number above 0, at most 1000000000000000"
#define NAME "the name of a group: a letter, then letters, digits, '_', '-' and '.'"
#define MEMBERS "members: GUID, GUID:PORT or a quoted pattern of names"

static const struct {
	const char *text, *message;
} wrong[] = {
	{"RcvErr all alarm 1 in 1", "f:1:1: found 'RcvErr', expected " VALUE},
	{"\n \"PortRcvErrors\" all", "f:2:2: found 'PortRcvErrors', expected " VALUE},
	{"PortRcvErrors", "f:1:14: found the end of the line, expected " SCOPE},
	{"PortRcvErrors hosts", "f:1:15: found 'hosts', expected " SCOPE},
	{"PortRcvErrors 0x0 alarm", "f:1:15: found '0x0', expected " SCOPE},
	{"PortRcvErrors 0x1:0 alarm", "f:1:15: found '0x1:0', expected " SCOPE},
	{"PortRcvErrors 0x1:255 alarm", "f:1:15: found '0x1:255', expected " SCOPE},
	{"PortRcvErrors 17 alarm", "f:1:15: found '17', expected " SCOPE},
	{"PortRcvErrors group x alarm",
	 "f:1:21: found 'x', expected the name of a group that is defined above"},
	{"PortRcvErrors group",
	 "f:1:20: found the end of the line, expected the name of a group that is defined above"},
	{"PortRcvErrors all fatal", "f:1:19: found 'fatal', expected info, warning, alarm or off"},
	{"PortRcvErrors all alarm off 1",
	 "f:1:29: found '1', expected the end of the line after off"},
	{"PortRcvErrors all off 1", "f:1:23: found '1', expected the end of the line after off"},
	{"PortRcvErrors all alarm 0 in 5", "f:1:25: found '0', expected " WHOLE},
	{"PortRcvErrors all alarm -1 in 5", "f:1:25: found '-1', expected " WHOLE},
	{"PortRcvErrors all alarm 1.5 in 5", "f:1:25: found '1.5', expected " WHOLE},
	{"PortRcvErrors all alarm nan in 5", "f:1:25: found 'nan', expected " WHOLE},
	{"PortRcvErrors all alarm 1e999 in 5", "f:1:25: found '1e999', expected " WHOLE},
	{"PortRcvErrors all alarm 0x10 in 5", "f:1:25: found '0x10', expected " WHOLE},
	{"PortRcvErrors all alarm", "f:1:24: found the end of the line, expected " WHOLE},
	{"XmitWaitShare all alarm 101 in 5",
	 "f:1:25: found '101', expected a limit in percent, a number above 0, at most 100"},
	{"RawBER all alarm 2 in 5",
	 "f:1:18: found '2', expected a limit, a number above 0, at most 1"},
	{"PortRcvErrors all alarm 1 of 5", "f:1:27: found 'of', expected in, and seconds"},
	{"PortRcvErrors all alarm 1 in 0",
	 "f:1:30: found '0', expected seconds, a number from 1 to 604800"},
	{"PortRcvErrors all alarm 1 in 604801",
	 "f:1:30: found '604801', expected seconds, a number from 1 to 604800"},
	{"PortRcvErrors all alarm 4 in 5 clear 5",
	 "f:1:38: found '5', expected a limit below which it ends, a number above 0, at most 4"},
	{"PortRcvErrors all alarm 4 in 5 or", "f:1:34: found the end of the line, expected " WHOLE},
	{"PortRcvErrors all alarm 4 in 5 after",
	 "f:1:37: found the end of the line, expected seconds, a number from 1 to 604800"},
	{"PortRcvErrors all alarm 4 in 5 unhealthy fec", "f:1:42: found 'fec', expected " REST},
	{"PortRcvErrors all alarm 4 in 5 \x80\x01", "f:1:32: found '\\200\\001', expected " REST},
	{"PortRcvErrors all alarm 4 in 5 a\"b\"", "f:1:32: found 'a\"b\"', expected " REST},
	{"RcvUtilisation all alarm 4 in 5", "f:1:1: found 'RcvUtilisation', expected " VALUE},
	{"xmit_utilization all alarm 4 in 5", "f:1:1: found 'xmit_utilization', expected " VALUE},
	{"rcv_err/s all alarm 4 in 5", "f:1:1: found 'rcv_err/s', expected " VALUE},
	{"group", "f:1:6: found the end of the line, expected " NAME},
	{"group 1st 0x1", "f:1:7: found '1st', expected " NAME},
	{"group a/b 0x1", "f:1:7: found 'a/b', expected " NAME},
	{"group a", "f:1:8: found the end of the line, expected " MEMBERS},
	{"group a leaf-*", "f:1:9: found 'leaf-*', expected " MEMBERS},
	{"group a \"leaf", "f:1:9: found 'leaf', expected a quote at the end of the pattern"},
	{"group a \"\"", "f:1:9: found '', expected a pattern of node names"},
	{"group a \"\xff\"", "f:1:9: found '\\377', expected a pattern of node names"},
	{"x\ny", "f:1:1: found 'x', expected " VALUE "\nf:2:1: found 'y', expected " VALUE},
};

static void refused(const char *text, size_t length, const char *message)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(perf_rules_parse("f", text, length, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(error->message, message);
}

START_TEST(wrong_lines)
{
	refused(wrong[_i].text, strlen(wrong[_i].text), wrong[_i].message);
}
END_TEST

START_TEST(too_much)
{
	static const char nul[] = "PortRcvErrors\0 all alarm 1 in 1";
	g_autoptr(GString) rules = g_string_new(NULL), groups = g_string_new(NULL);
	g_autofree char *word = g_strnfill(100000, 'x');
	g_autoptr(GError) error = NULL;

	refused(nul, sizeof(nul) - 1, "f:1:1: found 'PortRcvErrors', expected " VALUE);
	refused(word, strlen(word),
		"f:1:1: found 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', expected " VALUE);
	for (int i = 0; i <= PERF_RULES_MAX; i++)
		g_string_append(rules, "PortRcvErrors all alarm 1 in 1\n");
	ck_assert_ptr_null(perf_rules_parse("f", rules->str, rules->len, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "f:1025:31: found the end of the line, "
						     "expected at most 1024 rules"));
	g_clear_error(&error);
	for (int i = 0; i <= PERF_GROUPS_MAX; i++)
		g_string_append_printf(groups, "group g%d 0x1\n", i);
	ck_assert_ptr_null(perf_rules_parse("f", groups->str, groups->len, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "expected at most 256 groups"));
}
END_TEST

/* ---- which ports they judge ---- */

/* A host, a leaf and a spine in a row. */
static struct perf_net *row_of_three(void)
{
	struct perf_net *net = perf_net_new();

	fixture_add(net->layout, 1, IBA_NODE_CA, 1, "host-1");
	fixture_add(net->layout, 2, IBA_NODE_SWITCH, 3, "leaf-1");
	fixture_add(net->layout, 3, IBA_NODE_SWITCH, 3, "spine-1");
	perf_net_ready(net);
	fixture_join(net->layout, fixture_row(net->layout, 1, 1), fixture_row(net->layout, 2, 1));
	fixture_join(net->layout, fixture_row(net->layout, 2, 2), fixture_row(net->layout, 3, 1));
	return net;
}

/* "1:1 2:1": ports to which the rule with that number applies. */
static void check_ports(const char *text, unsigned int number, const char *expected)
{
	struct perf_net *net = row_of_three();
	struct perf_rules *rules = parse(text);
	g_autoptr(GString) ports = g_string_new(NULL);

	for (uint32_t row = 0; row < net->layout->n_rows; row++)
		if (perf_rule_applies(rules, number, net->layout, row))
			g_string_append_printf(
				ports, "%s%u:%u", ports->len ? " " : "",
				(unsigned int)perf_layout_node_of(net->layout, row)->guid,
				net->layout->places[row].port);
	ck_assert_msg(!strcmp(ports->str, expected), "%s: %s", text, ports->str);
	perf_rules_unref(rules);
	perf_net_free(net);
}

#define OF(scope) "VL15Dropped " scope " alarm 1 in 1"
#define ALL "1:1 2:1 2:2 2:3 3:1 3:2 3:3"

START_TEST(scopes)
{
	check_ports(OF("all"), 0, ALL);
	check_ports(OF("host"), 0, "1:1 2:1 2:3 3:2 3:3");
	check_ports(OF("switch"), 0, "2:1 2:2 2:3 3:1 3:2 3:3");
	check_ports(OF("switch-switch"), 0, "2:2 3:1");
	check_ports(OF("0x2"), 0, "2:1 2:2 2:3");
	check_ports(OF("0x2:3"), 0, "2:3");
	check_ports("group g 0x3:2 \"host-?\"\n" OF("group g"), 0, "1:1 3:2");
	check_ports("group g \"*-1\"\n" OF("group g"), 0, ALL);
	check_ports(OF("all") " fec", 0, "");
	check_ports(OF("all") " no_fec", 0, ALL);
}
END_TEST

START_TEST(later_rules_win)
{
	static const char text[] = OF("all") "\n" OF("switch") "\nVL15Dropped 0x2:3 off\n"
							       "VL15Dropped 0x2 warning 1 in 1\n"
							       "PortRcvErrors all alarm 1 in 1\n";

	check_ports(text, 0, "1:1");
	check_ports(text, 1, "2:1 2:2 3:1 3:2 3:3");
	check_ports(text, 2, "");
	check_ports(text, 3, "2:1 2:2 2:3"); /* after the off, so it wins */
	check_ports(text, 4, ALL);
	/* The parts of one line do not exclude each other. */
	check_ports("VL15Dropped all alarm 1 in 1 or 2 in 2", 0, ALL);
	check_ports("VL15Dropped all alarm 1 in 1 or 2 in 2", 1, ALL);
	check_ports(OF("all") " or 2 in 2\n" OF("0x1") "\nVL15Dropped 0x2 alarm off", 1,
		    "3:1 3:2 3:3");
}
END_TEST

/* ---- files ---- */

static char *read_file(const char *file)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(top ? top : ".", file, NULL);
	char *text = NULL;

	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
	return text;
}

static void assert_names(const char *page, unsigned int value)
{
	ck_assert_msg(strstr(page, perf_rule_value_name(value)) != NULL, "%s",
		      perf_rule_value_name(value));
}

/* The sample has the rules built in; the examples of the manual are right. */
START_TEST(documents)
{
	g_autofree char *sample = read_file("config/samples/perfmgr-rules.conf");
	g_autofree char *page = read_file("man/opensm-perfmgr-rules.5"), *example = NULL;
	struct perf_rules *rules = perf_rules_built_in(), *sampled = parse(sample);
	const char *from = strstr(page, ".Bd -literal -offset indent\n");

	ck_assert(perf_rules_same(rules, sampled));
	ck_assert_ptr_nonnull(from);
	from = strchr(from, '\n') + 1;
	example = g_strndup(from, strstr(from, ".Ed") - from);
	perf_rules_unref(parse(example));
	for (unsigned int value = PERF_VALUE_XMIT_WAIT_SHARE; value < PERF_VALUES; value++)
		assert_names(page, value);
	for (unsigned int i = 0; i < rules->n; i++)
		assert_names(page, rules->rules[i].value);
	perf_rules_unref(sampled);
	perf_rules_unref(rules);
}
END_TEST

START_TEST(files)
{
	struct options *options = options_new();
	g_autofree char *directory = g_dir_make_tmp("opensm-rules-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "rules", NULL);
	g_autofree char *text =
		g_strdup_printf("perfmgr_rules_file: %s:2:1: found 'x', expected " VALUE, file);
	g_autoptr(GError) error = NULL;
	struct perf_rules *rules = perf_rules_load(options, &error);

	ck_assert_ptr_nonnull(rules);
	perf_rules_unref(rules);
	options->perfmgr_rules_file = g_strdup(file);
	ck_assert_ptr_null(perf_rules_load(options, &error));
	ck_assert(g_str_has_prefix(error->message, "perfmgr_rules_file: "));
	ck_assert_ptr_nonnull(strstr(error->message, file));
	g_clear_error(&error);
	ck_assert(g_file_set_contents(file, "VL15Dropped all off\nx\n", -1, NULL));
	ck_assert_ptr_null(perf_rules_load(options, &error));
	ck_assert_str_eq(error->message, text);
	g_remove(file);
	g_rmdir(directory);
	options_unref(options);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("perf_rules");
	TCase *tcase = tcase_create("perf_rules");

	tcase_add_test(tcase, nothing_said);
	tcase_add_test(tcase, all_that_may_be_said);
	tcase_add_test(tcase, other_names);
	tcase_add_test(tcase, values);
	tcase_add_test(tcase, built_in);
	tcase_add_loop_test(tcase, wrong_lines, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(tcase, too_much);
	tcase_add_test(tcase, scopes);
	tcase_add_test(tcase, later_rules_win);
	tcase_add_test(tcase, documents);
	tcase_add_test(tcase, files);
	suite_add_tcase(suite, tcase);
	return suite;
}

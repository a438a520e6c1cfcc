// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The policy of unhealthy ports: the meaning of a line, and the errors of malformed ones. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "policy/files/ports_policy.h"
#include "tests/run_suite.h"

static struct ports_policy *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct ports_policy *policy = ports_policy_parse("f", text, strlen(text), &error);

	ck_assert_msg(policy != NULL, "%s: %s", text, error ? error->message : "no error");
	ck_assert_ptr_null(error);
	return policy;
}

static void refused(const char *text, size_t length, const char *message)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(ports_policy_parse("f", text, length, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(error->message, message);
}

START_TEST(nothing_said)
{
	struct ports_policy *policy = parse("# nothing\n\n \t\r\n   # and more");

	for (unsigned int i = 0; i < PORT_CONDITIONS; i++)
		for (unsigned int type = IBA_NODE_CA; type <= IBA_NODE_ROUTER; type++) {
			const struct port_rule *rule = &policy->rules[i][type];

			ck_assert_int_eq(rule->action,
					 i == PORT_BABBLING ? PORT_IGNORE : PORT_REPORT);
			ck_assert_int_gt(rule->count, 0);
			ck_assert_int_le(rule->count, PORT_RULE_COUNT_MAX);
			ck_assert_uint_eq(rule->release, 600);
			ck_assert(!rule->cut_off);
		}
	ck_assert_uint_eq(policy->rules[PORT_FLAPPING][IBA_NODE_CA].count, 5);
	ck_assert_uint_eq(policy->rules[PORT_FLAPPING][IBA_NODE_CA].window, 30);
	ck_assert(policy->rules[PORT_SET_ERRORS][IBA_NODE_SWITCH].sweeps);
	ck_assert(!policy->rules[PORT_REBOOT][IBA_NODE_SWITCH].sweeps);
	ports_policy_unref(policy);
}
END_TEST

START_TEST(all_that_may_be_said)
{
	struct ports_policy *policy = parse("flapping ca isolate 3 in 20 release 60 # why\r\n"
					    "flapping switch\tdisable release never cut_off#x\n"
					    "set_errors all no_discover 2 of 2\n"
					    "reboot router ignore");
	const struct port_rule *rule = &policy->rules[PORT_FLAPPING][IBA_NODE_CA];

	ck_assert_int_eq(rule->action, PORT_ISOLATE);
	ck_assert_uint_eq(rule->count, 3);
	ck_assert_uint_eq(rule->window, 20);
	ck_assert_uint_eq(rule->release, 60);
	ck_assert(!rule->cut_off);
	rule = &policy->rules[PORT_FLAPPING][IBA_NODE_SWITCH];
	ck_assert_int_eq(rule->action, PORT_DISABLE);
	ck_assert_uint_eq(rule->count, 5);
	ck_assert_uint_eq(rule->window, 30);
	ck_assert_uint_eq(rule->release, 0);
	ck_assert(rule->cut_off);
	ck_assert_int_eq(policy->rules[PORT_FLAPPING][IBA_NODE_ROUTER].action, PORT_REPORT);
	for (unsigned int type = IBA_NODE_CA; type <= IBA_NODE_ROUTER; type++) {
		ck_assert_int_eq(policy->rules[PORT_SET_ERRORS][type].action, PORT_NO_DISCOVER);
		ck_assert_uint_eq(policy->rules[PORT_SET_ERRORS][type].window, 2);
	}
	ck_assert_int_eq(policy->rules[PORT_REBOOT][IBA_NODE_ROUTER].action, PORT_IGNORE);
	ck_assert_int_eq(policy->rules[PORT_REBOOT][IBA_NODE_CA].action, PORT_REPORT);
	ports_policy_unref(policy);
}
END_TEST

#define ACTIONS "ignore, report, no_discover, isolate or disable"
#define CONDITIONS "reboot, unresponsive, noisy_traps, set_errors, flapping, illegal or counters"
#define TIMED "N in SECONDS, release, cut_off or the end of the line, in this order"

static const struct {
	const char *text, *message;
} wrong[] = {
	{"flap ca report", "f:1:1: found 'flap', expected " CONDITIONS},
	{"\n  flappingx ca report", "f:2:3: found 'flappingx', expected " CONDITIONS},
	{"babbling ca disable", "f:1:1: found 'babbling', expected " CONDITIONS},
	{"flapping", "f:1:9: found the end of the line, expected ca, switch, router or all"},
	{"flapping hca report", "f:1:10: found 'hca', expected ca, switch, router or all"},
	{"flapping ca", "f:1:12: found the end of the line, expected " ACTIONS},
	{"flapping ca # isolate", "f:1:13: found the end of the line, expected " ACTIONS},
	{"flapping ca Isolate", "f:1:13: found 'Isolate', expected " ACTIONS},
	{"flapping ca enable", "f:1:13: found 'enable', expected " ACTIONS},
	{"flapping ca report 0 in 5",
	 "f:1:20: found '0', expected how often it may happen, a number from 1 to 1000"},
	{"flapping ca report 1001 in 5",
	 "f:1:20: found '1001', expected how often it may happen, a number from 1 to 1000"},
	{"flapping ca report 99999999999999999999999 in 5",
	 "f:1:20: found '99999999999999999999999', expected how often it may happen, a number from "
	 "1 "
	 "to 1000"},
	{"flapping ca report 5 of 7", "f:1:22: found 'of', expected in, and seconds"},
	{"set_errors ca report 5 in 7", "f:1:24: found 'in', expected of, and a number of sweeps"},
	{"flapping ca report 5 in", "f:1:24: found the end of the line, expected seconds, a number "
				    "from 1 to 86400"},
	{"flapping ca report 5 in 86401",
	 "f:1:25: found '86401', expected seconds, a number from 1 to 86400"},
	{"set_errors ca report 8 of 7", "f:1:28: found the end of the line, expected the number of "
					"sweeps with the condition (8) to be at "
					"most that of sweeps (7)"},
	{"flapping ca report release",
	 "f:1:27: found the end of the line, expected never or seconds, a number from 1 to "
	 "2592000"},
	{"flapping ca report release -1",
	 "f:1:28: found '-1', expected never or seconds, a number from 1 to 2592000"},
	{"flapping ca report cut_off release 5", "f:1:28: found 'release', expected " TIMED},
	{"flapping ca report 5in 3",
	 "f:1:20: found '5in', expected how often it may happen, a number from 1 to 1000"},
	{"flapping ca report \x80\x01", "f:1:20: found '\\200\\001', expected " TIMED},
	{"flapping ca report\nflapping all ignore",
	 "f:2:20: found the end of the line, expected no second rule for flapping of a ca (the "
	 "first: line 1)"},
};

START_TEST(wrong_lines)
{
	refused(wrong[_i].text, strlen(wrong[_i].text), wrong[_i].message);
}
END_TEST

START_TEST(binary)
{
	static const char nul[] = "flapping ca \0isolate";
	g_autofree char *word = g_strnfill(100000, 'x');

	refused(nul, sizeof(nul) - 1, "f:1:13: found '', expected " ACTIONS);
	refused("flapping ca report \0 # x", 24, "f:1:20: found '', expected " TIMED);
	refused(word, strlen(word),
		"f:1:1: found 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', "
		"expected " CONDITIONS);
}
END_TEST

/* The rules in the sample, and in the example of the manual. */
static void check_rules(const char *file, const char *begin, const char *end, bool remarks)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(top ? top : ".", file, NULL);
	g_autofree char *text = NULL, *rules = NULL;
	const char *from;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	from = strstr(text, begin);
	ck_assert_ptr_nonnull(from);
	rules = g_strndup(from, strstr(from, end) - from);
	if (remarks)
		g_strdelimit(rules, "#", ' ');
	ports_policy_unref(parse(rules));
}

static void check_page_has(const char *page, const char *text)
{
	ck_assert_msg(strstr(page, text) != NULL, "the page lacks '%s'", text);
}

/* All conditions with their thresholds, and all actions. */
START_TEST(manual)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
		g_build_filename(top ? top : ".", "man/opensm-ports-policy.5", NULL);
	struct ports_policy *policy = parse("");
	g_autofree char *page = NULL;

	ck_assert(g_file_get_contents(path, &page, NULL, NULL));
	for (unsigned int i = 0; i < PORT_BABBLING; i++) {
		const struct port_rule *rule = &policy->rules[i][IBA_NODE_CA];
		g_autofree char *item = g_strdup_printf(".It Cm %s\n", port_condition_word(i));
		g_autofree char *threshold =
			g_strdup_printf("%u %s %u %s", rule->count, rule->sweeps ? "of" : "in",
					rule->window, rule->sweeps ? "sweeps" : "seconds");

		check_page_has(page, item);
		if (i != PORT_ILLEGAL)
			check_page_has(strstr(page, item), threshold);
	}
	for (unsigned int i = PORT_IGNORE; i <= PORT_DISABLE; i++) {
		g_autofree char *item = g_strdup_printf(".It Cm %s\n", port_action_word(i));

		check_page_has(page, item);
	}
	ports_policy_unref(policy);
}
END_TEST

START_TEST(documents)
{
	check_rules("config/samples/ports-policy.conf", "#reboot", "1 in 1", true);
	check_rules("man/opensm-ports-policy.5", "# a host", ".Ed", false);
}
END_TEST

START_TEST(files)
{
	struct options *options = options_new();
	g_autofree char *directory = g_dir_make_tmp("opensm-policy-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "policy", NULL);
	g_autofree char *text = g_strdup_printf(
		"hm_ports_health_policy_file: %s:2:1: found 'x', expected " CONDITIONS, file);
	g_autoptr(GError) error = NULL;
	struct ports_policy *policy;

	policy = ports_policy_load(options, &error);
	ck_assert_ptr_nonnull(policy);
	ports_policy_unref(policy);
	options->hm_ports_health_policy_file = g_strdup(file);
	ck_assert_ptr_null(ports_policy_load(options, &error));
	ck_assert(strstr(error->message, "hm_ports_health_policy_file: ") == error->message);
	ck_assert_ptr_nonnull(strstr(error->message, file));
	g_clear_error(&error);
	ck_assert(g_file_set_contents(file, "flapping ca report\nx\n", -1, NULL));
	ck_assert_ptr_null(ports_policy_load(options, &error));
	ck_assert_str_eq(error->message, text);
	g_remove(file);
	g_rmdir(directory);
	options_unref(options);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ports_policy");
	TCase *tcase = tcase_create("ports_policy");

	tcase_add_test(tcase, nothing_said);
	tcase_add_test(tcase, all_that_may_be_said);
	tcase_add_loop_test(tcase, wrong_lines, 0, G_N_ELEMENTS(wrong));
	tcase_add_test(tcase, binary);
	tcase_add_test(tcase, manual);
	tcase_add_test(tcase, documents);
	tcase_add_test(tcase, files);
	suite_add_tcase(suite, tcase);
	return suite;
}

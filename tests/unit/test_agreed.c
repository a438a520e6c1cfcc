// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What SMs must have in common: the list, its text, and malformed texts. */
#include <check.h>
#include <string.h>

#include "core/options_private.h"
#include "ha/agreement.h"
#include "tests/run_suite.h"

#define KEY "0123456789abcdef"

/* Reports an option's name as the contents of its file. */
static char *say_name(const void *arg, enum option_id id)
{
	return g_strconcat(arg ? arg : "", options_name(id), NULL);
}

static struct agreed *agreed_with(enum option_id id, const char *value)
{
	struct options *defaults = options_new();
	struct options *options = options_copy_with(defaults, id, value, NULL);
	struct agreed *agreed = agreed_new(options, say_name, NULL);

	options_unref(options);
	options_unref(defaults);
	return agreed;
}

static struct agreed *agreed_of_defaults(const char *files)
{
	struct options *options = options_new();
	struct agreed *agreed = agreed_new(options, say_name, files);

	options_unref(options);
	return agreed;
}

/* A new option is either equal for all SMs or concerns only one: the table has to say which. */
START_TEST(each_option_is_decided_about)
{
	for (unsigned int id = 0; id < OPTION_COUNT; id++)
		ck_assert_msg(agreed_knows(id),
			      "%s: core/agreed.def says neither AGREED nor "
			      "MAY_DIFFER of it",
			      options_name(id));
}
END_TEST

START_TEST(each_difference_is_found)
{
	static const struct {
		enum option_id id;
		const char *value, *told;
	} all[] = {
		{OPTION_lmc, "2", "lmc (0 here, 2 there)"},
		{OPTION_m_key, "0x77", "m_key"},
		{OPTION_sm_key, "0x77", "sm_key"},
		{OPTION_routing_engine, "dor,updn", "routing_engine ((null) here, dor,updn there)"},
		{OPTION_qos_ca_high_limit, "3", "qos_ca_high_limit (-1 here, 3 there)"},
		{OPTION_membership_grace, "4", "membership_grace (300 here, 4 there)"},
	};
	struct agreed *own = agreed_of_defaults(NULL);

	for (unsigned int i = 0; i < G_N_ELEMENTS(all); i++) {
		struct agreed *other = agreed_with(all[i].id, all[i].value);
		g_autofree char *text = agreement_text(other, KEY), *told = NULL;
		g_autoptr(GPtrArray) found = NULL;
		unsigned int compared;

		found = agreement_compare(own, KEY, text, strlen(text), &compared);
		ck_assert_uint_eq(compared, own->n);
		ck_assert_uint_eq(found->len, 1);
		told = agreement_tell(found);
		ck_assert_str_eq(told, all[i].told);
		agreed_unref(other);
	}
	agreed_unref(own);
}
END_TEST

static unsigned int count_differences(const struct agreed *own, const char *text)
{
	unsigned int compared;
	g_autoptr(GPtrArray) found = agreement_compare(own, KEY, text, strlen(text), &compared);

	return found ? found->len : UINT_MAX;
}

/* All files differ: the first few are named. */
START_TEST(many_differences_are_counted)
{
	struct agreed *own = agreed_of_defaults(NULL), *other = agreed_of_defaults("other ");
	g_autofree char *text = agreement_text(other, KEY), *told = NULL;
	g_autoptr(GPtrArray) found = NULL;
	unsigned int compared, files = 0;

	for (unsigned int i = 0; i < own->n; i++)
		files += own->rows[i].how == AGREED_FILE;
	found = agreement_compare(own, KEY, text, strlen(text), &compared);
	ck_assert_uint_eq(found->len, files);
	told = agreement_tell(found);
	ck_assert(strstr(told, "partition_config_file (contents of the file), "));
	ck_assert(g_str_has_suffix(told, " more"));
	agreed_unref(own);
	agreed_unref(other);
}
END_TEST

/* Keys and contents of files never appear in the text; nor do equal values of two of them. */
START_TEST(secrets_are_not_told)
{
	struct agreed *other = agreed_with(OPTION_m_key, "0x7766554433221100");
	g_autofree char *text = agreement_text(other, KEY);
	g_autofree char *with_other_key = agreement_text(other, "fedcba9876543210");
	uint64_t digest = agreement_digest(text, strlen(text), KEY);
	const char *sm_key = strstr(text, "\nsm_key "), *sa_key = strstr(text, "\nsa_key ");

	ck_assert(!strstr(text, "7766554433221100"));
	ck_assert(strcmp(text, with_other_key));
	ck_assert(digest && digest != agreement_digest(text, strlen(text), "fedcba9876543210"));
	ck_assert(sm_key && sa_key && strncmp(sm_key + 8, sa_key + 8, 16));
	ck_assert_uint_lt(strlen(text), AGREEMENT_MAX / 2);
	agreed_unref(other);
}
END_TEST

/* Of another version: names that one of the two does not know. */
START_TEST(versions_differ)
{
	struct agreed *own = agreed_of_defaults(NULL);
	g_autofree char *text = agreement_text(own, KEY);
	g_autofree char *more = g_strconcat(text, "new_option 0123456789abcdef 7\n", NULL);

	ck_assert_uint_eq(count_differences(own, more), 0);
	*strstr(text, "\nlmc ") = '\0'; /* and all lines after it */
	more[strlen(text) + 1] = '\0';
	ck_assert_uint_eq(count_differences(own, more), 0);
	ck_assert_uint_eq(count_differences(own, "new_option 0123456789abcdef 7\n"), UINT_MAX);
	agreed_unref(own);
}
END_TEST

START_TEST(what_is_no_such_text)
{
	static const char *const bad[] = {
		"",
		"\n",
		"lmc",
		"lmc\n",
		"lmc \n",
		"lmc 0123456789abcdef",
		"lmc 0123456789abcde\n",
		"lmc 0123456789abcdef0\n",
		"lmc 0123456789abcdeg\n",
		"lmc  0123456789abcdef\n",
		"lmc 0123456789abcdef 1\033[2J\n",
		"lmc 0123456789abcdef 1\nlmc 0123456789abcdef 1\n",
		"LMC 0123456789abcdef 1\n",
		" 0123456789abcdef 1\n",
		"lmc 0123456789abcdef "
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"01234567890\n",
	};
	struct agreed *own = agreed_of_defaults(NULL);
	unsigned int compared;

	for (unsigned int i = 0; i < G_N_ELEMENTS(bad); i++)
		ck_assert_msg(count_differences(own, bad[i]) == UINT_MAX, "%s", bad[i]);
	ck_assert_uint_eq(count_differences(own, "lmc 0123456789abcdef 1\n"), 1);
	ck_assert_uint_eq(count_differences(own, "lmc 0123456789abcdef\n"), 1);
	ck_assert_ptr_null(
		agreement_compare(own, KEY, "lm\0c 0123456789abcdef 1\n", 24, &compared));
	agreed_unref(own);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("agreed");
	TCase *tcase = tcase_create("agreed");

	tcase_add_test(tcase, each_option_is_decided_about);
	tcase_add_test(tcase, each_difference_is_found);
	tcase_add_test(tcase, many_differences_are_counted);
	tcase_add_test(tcase, secrets_are_not_told);
	tcase_add_test(tcase, versions_differ);
	tcase_add_test(tcase, what_is_no_such_text);
	suite_add_tcase(suite, tcase);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* partitions.conf: what is accepted, what is refused, and what it means on a fabric. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/partition/partition.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

static struct partition_rules *parse(const char *text)
{
	GError *error = NULL;
	struct partition_rules *rules =
		partition_rules_parse("partitions.conf", text, strlen(text), &error);

	ck_assert_msg(rules != NULL, "%s", error ? error->message : "");
	return rules;
}

static const struct partition_rule *rule_of(const struct partition_rules *rules, uint16_t p_key)
{
	for (guint i = 0; i < rules->rules->len; i++) {
		const struct partition_rule *rule = rules->rules->pdata[i];

		if (rule->p_key == p_key)
			return rule;
	}
	return NULL;
}

static const struct partition_member *member(const struct partition_rule *rule, guint i)
{
	ck_assert_uint_lt(i, rule->members->len);
	return &g_array_index(rule->members, struct partition_member, i);
}

static const struct partition_group *group(const struct partition_rule *rule, guint i)
{
	ck_assert_uint_lt(i, rule->groups->len);
	return &g_array_index(rule->groups, struct partition_group, i);
}

/* ---- accepted ---- */

static const char *const nothing[] = {"", "\n\n", "# Default=0x7fff:ALL;\n", "  \t\n\t# x\n",
				      "@a: 1;"};

START_TEST(test_nothing)
{
	struct partition_rules *rules = parse(nothing[_i]);
	const struct partition_rule *rule = rule_of(rules, 0x7FFF);

	ck_assert(rules->built_in);
	ck_assert_uint_eq(rules->rules->len, 1);
	ck_assert_str_eq(rule->name, "Default");
	ck_assert(rule->ipoib);
	ck_assert_uint_eq(member(rule, 0)->who, PARTITION_ALL);
	ck_assert_uint_eq(member(rule, 0)->membership, PARTITION_FULL);
	ck_assert(iba_gid_equal(group(rule, 0)->mgid, partition_broadcast_mgid(0x7FFF, 2)));
	partition_rules_unref(rules);
}
END_TEST

static const struct {
	const char *text;
	uint16_t p_key;
	guint n_members;	 /* of those listed */
	uint8_t who, membership; /* of the last */
	uint64_t first, last;
	unsigned int warnings;
} members[] = {
	{"A=0x10: 0x123=full;", 0x10, 1, PARTITION_GUIDS, PARTITION_FULL, 0x123, 0x123, 0},
	{"A = 0x8010 :\n 0x1 ,\n\n 0x123 = limited ;", 0x10, 2, PARTITION_GUIDS, PARTITION_LIMITED,
	 0x123, 0x123, 0},
	{"A=16: 291=both;", 0x10, 1, PARTITION_GUIDS, PARTITION_BOTH, 291, 291, 0},
	{"0x10: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 0},
	{"=0x10: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 0},
	{"A=0x10,defmember=full: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_FULL, 1, 1, 0},
	{"A=0x10,defm=b: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_BOTH, 1, 1, 2},
	{"A=0x10: 0x1; A=0x10: 0x2;", 0x10, 2, PARTITION_GUIDS, PARTITION_LIMITED, 2, 2, 0},
	{"A=0x10: 0xA - 0xB=full;", 0x10, 1, PARTITION_GUIDS, PARTITION_FULL, 0xA, 0xB, 0},
	{"A=0x10: ALL;", 0x10, 1, PARTITION_ALL, PARTITION_LIMITED, 0, 0, 0},
	{"A=0x10: A=f;", 0x10, 1, PARTITION_ALL, PARTITION_FULL, 0, 0, 2},
	{"A=0x10: ALL_CAS=full;", 0x10, 1, PARTITION_CAS, PARTITION_FULL, 0, 0, 0},
	{"A=0x10: ALL_SWITCHES;", 0x10, 1, PARTITION_SWITCHES, PARTITION_LIMITED, 0, 0, 0},
	{"A=0x10: ALL_R;", 0x10, 1, PARTITION_ROUTERS, PARTITION_LIMITED, 0, 0, 1},
	{"A=0x10: SELF=full, NONE, ;", 0x10, 1, PARTITION_SELF, PARTITION_FULL, 0, 0, 0},
	{"A=0x10: SELF=everything;", 0x10, 1, PARTITION_SELF, PARTITION_LIMITED, 0, 0, 1},
	{"A=0x10: SELF=;", 0x10, 1, PARTITION_SELF, PARTITION_LIMITED, 0, 0, 1},
	{"A=0x10: \"a,;:=#b*\"=full;", 0x10, 1, PARTITION_NAMES, PARTITION_FULL, 0, 0, 0},
	{"@s: 0x1, 0x2-0x3;\nA=0x10: @s=full;", 0x10, 2, PARTITION_GUIDS, PARTITION_FULL, 2, 3, 0},
	{"A=0x10,bogus,,mtu=9: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 3},
	{"A=0x10: 0x1", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 1},
	{"A=0x10: mgid=fe80::1\n0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 1},
	{"A=0x10: mgid=nonsense\n0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 1},
	{"A=0x10: mgid=ff32::5\n0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 1},
	{"A=0x10: mgid=ff12:a01b::5\n0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 1},
	{"A=0x10: mgid=ff15:a01b::5\n0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 0},
	{"A=0x10,rate=24: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 0},
	{"A=0x10,rate=25: 0x1;", 0x10, 1, PARTITION_GUIDS, PARTITION_LIMITED, 1, 1, 1},
};

START_TEST(test_members)
{
	struct partition_rules *rules = parse(members[_i].text);
	const struct partition_rule *rule = rule_of(rules, members[_i].p_key);
	const struct partition_member *last;

	ck_assert_msg(rule != NULL, "%s", members[_i].text);
	ck_assert(!rules->built_in);
	ck_assert_uint_eq(rule->members->len, members[_i].n_members);
	last = member(rule, rule->members->len - 1);
	ck_assert_uint_eq(last->who, members[_i].who);
	ck_assert_uint_eq(last->membership, members[_i].membership);
	ck_assert(last->first == members[_i].first && last->last == members[_i].last);
	ck_assert_msg(rules->warnings->len == members[_i].warnings, "%s: %u warnings",
		      members[_i].text, rules->warnings->len);
	ck_assert(rules->has_patterns == (last->who == PARTITION_NAMES));
	partition_rules_unref(rules);
}
END_TEST

/* All ports are limited members of the default partition unless the file says more. */
START_TEST(test_default_rule)
{
	struct partition_rules *rules = parse("Mine=0x7fff: 0x5=full;\nA=0x10: ALL;\nB=0x10:1;");
	const struct partition_rule *rule = rule_of(rules, 0x7FFF);

	ck_assert_str_eq(rule->name, "Default");
	ck_assert_uint_eq(rule->members->len, 3);
	ck_assert_uint_eq(member(rule, 0)->who, PARTITION_ALL);
	ck_assert_uint_eq(member(rule, 0)->membership, PARTITION_LIMITED);
	ck_assert_uint_eq(member(rule, 1)->who, PARTITION_SELF);
	ck_assert_uint_eq(member(rule, 1)->membership, PARTITION_FULL);
	ck_assert_uint_eq(member(rule, 2)->line, 1);
	ck_assert_str_eq(rule_of(rules, 0x10)->name, "A");
	ck_assert_uint_eq(rule_of(rules, 0x10)->line, 2);
	ck_assert_uint_eq(rule->groups->len, 0);
	partition_rules_unref(rules);
}
END_TEST

START_TEST(test_chosen_keys)
{
	struct partition_rules *rules = parse("A: 0x1; B=1: 0x1; C: 0x1; D=0: 0x1; E=0x8003: 0x1;");

	ck_assert_str_eq(rule_of(rules, 1)->name, "B");
	ck_assert_str_eq(rule_of(rules, 2)->name, "A");
	ck_assert_str_eq(rule_of(rules, 3)->name, "E");
	ck_assert_str_eq(rule_of(rules, 4)->name, "C");
	ck_assert_str_eq(rule_of(rules, 5)->name, "D");
	partition_rules_unref(rules);
}
END_TEST

START_TEST(test_groups)
{
	struct partition_rules *rules =
		parse("A=0x10,ipoib,indx0,rate=6,mtu=5,sl=3,scope=2,scope=14,Q_Key=0x55,TClass=7,"
		      "FlowLabel=9:\n"
		      "mgid=ff12:401b::7,rate=6,mtu=5,sl=1 # IPv4\n"
		      "mgid=ff1e:601b:8010::1,mtu=5,rate=6\n"
		      "mgid=ff12:401b:11::8,rate=6,mtu=5\n"
		      "mgid=ff12:401b::9,rate=7\n"
		      "mgid=ff12::1,scope=5,Q_Key=1\n"
		      "mgid=ff10::6\n"
		      "mgid=ff12:401b::7,rate=6,mtu=5,sl=2\n"
		      "ALL;");
	const struct partition_rule *rule = rule_of(rules, 0x10);

	ck_assert(rule->ipoib && rule->indx0);
	ck_assert_uint_eq(rule->sl, 3);
	ck_assert_uint_eq(rule->groups->len, 6);
	ck_assert(group(rule, 0)->mgid.prefix == UINT64_C(0xFF12401B80100000));
	ck_assert(group(rule, 1)->mgid.prefix == UINT64_C(0xFF1E401B80100000));
	ck_assert(group(rule, 1)->mgid.guid == UINT32_MAX);
	ck_assert_uint_eq(group(rule, 1)->rate, 6);
	ck_assert_uint_eq(group(rule, 1)->mtu, 5);
	ck_assert_uint_eq(group(rule, 1)->q_key, 0x55);
	ck_assert_uint_eq(group(rule, 1)->t_class, 7);
	ck_assert_uint_eq(group(rule, 1)->flow_label, 9);
	ck_assert_uint_eq(group(rule, 1)->scope, 14);
	ck_assert(group(rule, 2)->mgid.prefix == UINT64_C(0xFF12401B80100000));
	ck_assert(group(rule, 2)->mgid.guid == 7 && group(rule, 2)->sl == 1);
	ck_assert_uint_eq(group(rule, 2)->q_key, 0x55);
	ck_assert(group(rule, 3)->mgid.prefix == UINT64_C(0xFF1E601B80100000));
	ck_assert(group(rule, 4)->mgid.prefix == UINT64_C(0xFF15000000000000));
	ck_assert_uint_eq(group(rule, 4)->q_key, 1);
	ck_assert_uint_eq(group(rule, 4)->rate, 6);
	ck_assert(group(rule, 5)->mgid.prefix == UINT64_C(0xFF12000000000000));
	ck_assert_uint_eq(rules->warnings->len, 2); /* another P_Key, another rate */
	partition_rules_unref(rules);
}
END_TEST

/* Groups have the parameters of their definition, except TClass and scope. */
START_TEST(test_inherited_flags)
{
	struct partition_rules *rules =
		parse("A=0x10,rate=6,mtu=3,sl=2,scope=5,Q_Key=0x777,TClass=5,FlowLabel=0x123:\n"
		      "mgid=ff12::1\n"
		      "mgid=ff12::2,rate=7,mtu=1,sl=0,Q_Key=0,TClass=6,FlowLabel=0\n"
		      "ALL=full;\n"
		      "A=0x10: mgid=ff12::3\n"
		      "mgid=ff12:401b::4\n"
		      "ALL=full;");
	const struct partition_rule *rule = rule_of(rules, 0x10);
	const struct partition_group expected[] = {
		{{UINT64_C(0xFF12) << 48, 1}, 0x777, 0x123, 3, 6, 2, 2, 0, false},
		{{UINT64_C(0xFF12) << 48, 2}, 0, 0, 1, 7, 0, 2, 6, true},
		{{UINT64_C(0xFF12) << 48, 3}, 0, 0, 4, 3, 0, 2, 0, false},
		{{UINT64_C(0xFF12401B80100000), 4}, 0x0b1b, 0, 4, 3, 0, 2, 0, false},
	};

	for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
		const struct partition_group *a = group(rule, i), *b = &expected[i];

		ck_assert(iba_gid_equal(a->mgid, b->mgid));
		ck_assert_uint_eq(a->q_key, b->q_key);
		ck_assert_uint_eq(a->flow_label, b->flow_label);
		ck_assert_uint_eq(a->mtu, b->mtu);
		ck_assert_uint_eq(a->rate, b->rate);
		ck_assert_uint_eq(a->sl, b->sl);
		ck_assert_uint_eq(a->own_sl, b->own_sl);
		ck_assert_uint_eq(a->scope, b->scope);
		ck_assert_uint_eq(a->t_class, b->t_class);
	}
	ck_assert_uint_eq(rules->warnings->len, 0);
	partition_rules_unref(rules);
}
END_TEST

/* Scopes of a definition are added to the link-local one, where IPoIB looks for its group. */
START_TEST(test_broadcast_scopes)
{
	struct partition_rules *rules =
		parse("A=1,ipoib,scope=5,mtu=5: ALL=full;\nB=2,ipoib,scope=2,scope=1: ALL=full;");
	const struct partition_rule *a = rule_of(rules, 1), *b = rule_of(rules, 2);

	ck_assert_uint_eq(a->groups->len, 2);
	ck_assert(iba_gid_equal(group(a, 0)->mgid, partition_broadcast_mgid(1, 2)));
	ck_assert(iba_gid_equal(group(a, 1)->mgid, partition_broadcast_mgid(1, 5)));
	ck_assert_uint_eq(group(a, 0)->mtu, 5);
	ck_assert_uint_eq(b->groups->len, 2);
	ck_assert(iba_gid_equal(group(b, 0)->mgid, partition_broadcast_mgid(2, 1)));
	ck_assert(iba_gid_equal(group(b, 1)->mgid, partition_broadcast_mgid(2, 2)));
	partition_rules_unref(rules);
}
END_TEST

/* ---- refused ---- */

static const struct {
	const char *text, *place, *found;
} bad[] = {
	{"garbage", ":1:1:", "garbage"},
	{"\n ;", ":2:2:", ";"},
	{"A=0x10 ALL=full;", ":1:1:", "A=0x10"},
	{"A=0x10:\n zzz=full;", ":2:2:", "zzz"},
	{"A=xyz: ALL;", ":1:3:", "xyz"},
	{"A=0x10000: ALL;", ":1:3:", "0x10000"},
	{"A=-1: ALL;", ":1:3:", "-1"},
	{"A=1: 0x0;", ":1:6:", "0x0"},
	{"A=1: 0x12345678901234567;", ":1:6:", "0x1234"},
	{"A=1: 0x5-0x4;", ":1:6:", "0x5-0x4"},
	{"A=1: 0x5-;", ":1:6:", "0x5-"},
	{"A=1: ALL, 5x;", ":1:11:", "5x"},
	{"A=1: ALLL;", ":1:6:", "ALLL"},
	{"A=1: \"x;", ":1:6:", "x"},
	{"A=1: @nobody;", ":1:6:", "@nobody"},
	{"@a: @a;", ":1:5:", "@a"},
	{"@a: 1; @a: 2;", ":1:8:", "@a"},
	{"@: 1;", ":1:1:", "@"},
	{"@a: 1=full;", ":1:7:", "full"},
	{"@a: mgid=ff12::1;", ":1:10:", "ff12::1"},
	{"include \n", ":1:9:", ""},
	{"include /nonexistent/x", ":1: include", "/nonexistent/x"},
};

START_TEST(test_bad)
{
	g_autoptr(GError) error = NULL;
	struct partition_rules *rules = partition_rules_parse("partitions.conf", bad[_i].text,
							      strlen(bad[_i].text), &error);

	ck_assert_msg(rules == NULL, "%s", bad[_i].text);
	ck_assert_msg(strstr(error->message, bad[_i].place) != NULL, "%s: %s", bad[_i].text,
		      error->message);
	ck_assert_msg(strstr(error->message, bad[_i].found) != NULL, "%s: %s", bad[_i].text,
		      error->message);
	ck_assert_msg(!strchr(error->message, '\n'), "%s: %s", bad[_i].text, error->message);
}
END_TEST

static const struct {
	const char *text, *places;
} all_mistakes[] = {
	/* members, several on a line */
	{"A=1: 0x0, ALL=full, 5x,\n zzz;\nB=2: 0x1=full, 9-8;", "1:6 1:21 2:2 3:16"},
	/* beginnings, with everything up to the ';' */
	{"A=x: ALL, yyy\n zzz=full;\nB=70000: 0x0;\nC=3: 0x0;", "1:3 3:3 4:6"},
	{"A ALL=full;\nB=2: 0x0;", "1:1 2:6"},
	{"garbage\nA=1: 0x0;\nB=2: 0x0;", "1:1 3:6"},
	{"A=x: \"a;b\", 0x0; B=2: 0x0;", "1:3 1:23"},
	/* a missing end: members continue after what looks like a definition */
	{"A=1: ALL=full\nB=2: ALL, 0x0;\nC=3: 0x0;", "2:1 2:11 3:6"},
	/* sets: wrong members, duplicate, missing; missing since its line was skipped */
	{"@a: 0x0, 0x1;\n@a: 0x2;\nA=1: @a, @b;", "1:5 2:1"},
	{"A=1: @b, @c;", "1:6 1:10"},
	{"@b 0x1;\nA=1: @b, 0x0;", "1:1 2:10"},
	/* checks of the file as a whole wait until its lines are right */
	{"A=1: 0x0;\nB: ALL", "1:6"},
};

/* One start reports them all, and none that only follows from them. */
START_TEST(test_all_mistakes)
{
	const char *text = all_mistakes[_i].text;
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) places = g_string_new(NULL);
	g_auto(GStrv) lines = NULL;

	ck_assert_ptr_null(partition_rules_parse("p", text, strlen(text), &error));
	lines = g_strsplit(error->message, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++)
		g_string_append_printf(places, "%s%.*s", i ? " " : "",
				       (int)(strstr(lines[i], ": found") - lines[i] - 2),
				       lines[i] + 2);
	ck_assert_msg(!strcmp(places->str, all_mistakes[_i].places), "%s for\n%s\n%s", places->str,
		      text, error->message);
}
END_TEST

START_TEST(test_binary)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(partition_rules_parse("x", "#\0A=1:ALL;", 10, &error));
	ck_assert(g_error_matches(error, PARTITION_ERROR, PARTITION_ERROR_SYNTAX));
}
END_TEST

/* ---- files ---- */

static char *dir;

static void write_file(const char *name, const char *text)
{
	g_autofree char *file = g_build_filename(dir, name, NULL);

	ck_assert(g_file_set_contents(file, text, -1, NULL));
}

static struct partition_rules *load(const char *name, GError **error)
{
	g_autofree char *file = g_build_filename(dir, name, NULL);

	return partition_rules_load(file, error);
}

/* In all files; missing files are reported as well. */
START_TEST(test_mistakes_in_files)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) many = g_string_new("A=1: ALL;\n");
	g_auto(GStrv) lines = NULL;

	write_file("part", "B=2: 0x0;\n");
	write_file("main", "include none\nA=1: 0x0;\ninclude part\nC=3: 0x0;\n");
	ck_assert_ptr_null(load("main", &error));
	lines = g_strsplit(error->message, "\n", -1);
	ck_assert_uint_eq(g_strv_length(lines), 4);
	ck_assert(strstr(lines[0], "/main:1: include: ") && strstr(lines[1], "/main:2:6: "));
	ck_assert(strstr(lines[2], "/part:1:6: ") && strstr(lines[3], "/main:4:6: "));
	g_clear_error(&error);
	for (unsigned int i = 0; i < 100000; i++)
		g_string_append(many, "B=2: 0x0;\n");
	ck_assert_ptr_null(partition_rules_parse("p", many->str, many->len, &error));
	ck_assert_msg(g_str_has_suffix(error->message, "\np: 99980 more mistakes"), "%s",
		      error->message);
}
END_TEST

static void setup(void)
{
	dir = g_dir_make_tmp("partition-XXXXXX", NULL);
}

static void teardown(void)
{
	directory_remove(dir);
	g_free(dir);
}

START_TEST(test_absent_and_unreadable)
{
	g_autoptr(GError) error = NULL;
	struct partition_rules *rules = partition_rules_load(NULL, &error);

	ck_assert(rules->built_in);
	partition_rules_unref(rules);
	rules = load("none", &error);
	ck_assert(rules->built_in);
	partition_rules_unref(rules);
	ck_assert_ptr_null(partition_rules_load("/", &error));
	ck_assert_msg(strstr(error->message, "is a directory") != NULL, "%s", error->message);
}
END_TEST

/* An accidental loss opens nothing: a file that is gone, emptied, or only comments. */
START_TEST(test_definitions_gone)
{
	static const char *const texts[] = {NULL, "", "# Default=0x7fff:ALL;\n"};
	g_autofree char *file = g_build_filename(dir, "main", NULL);
	g_autoptr(GError) error = NULL;
	struct partition_rules *old, *new;

	write_file("main", "A=1: 0x1;\n");
	old = load("main", &error);
	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		if (texts[i])
			write_file("main", texts[i]);
		else
			ck_assert_int_eq(g_unlink(file), 0);
		ck_assert_ptr_null(partition_rules_reload(old, file, NULL, &error));
		ck_assert_ptr_nonnull(strstr(error->message, "/main: it no longer defines "));
		g_clear_error(&error);
	}
	write_file("main", "Default=0x7fff,ipoib:ALL=full;\n"); /* on purpose */
	new = partition_rules_reload(old, file, NULL, &error);
	ck_assert_ptr_nonnull(new);
	partition_rules_unref(new);
	partition_rules_unref(old);
	old = partition_rules_load(NULL, &error); /* there never were any */
	write_file("main", "");
	new = partition_rules_reload(old, file, NULL, &error);
	ck_assert_ptr_nonnull(new);
	partition_rules_unref(new);
	partition_rules_unref(old);
}
END_TEST

START_TEST(test_include)
{
	GError *error = NULL;
	struct partition_rules *rules, *again;
	const struct partition_rule *rule;

	write_file("main", "A=1: 0x1;\ninclude \"more\"\nC=3: @s;");
	write_file("more", "\n@s: 0x7;\nB=2: 0x2;\n");
	rules = load("main", &error);
	ck_assert_ptr_nonnull(rules);
	rule = rule_of(rules, 2);
	ck_assert_uint_eq(rule->line, 3);
	ck_assert(g_str_has_suffix(rules->files->pdata[rule->file], "/more"));
	ck_assert_uint_eq(rule_of(rules, 3)->line, 3);
	ck_assert_uint_eq(rule_of(rules, 3)->file, 0);
	again = load("main", &error);
	ck_assert(partition_rules_same(rules, again));
	partition_rules_unref(again);
	write_file("more", "\n@s: 0x8;\nB=2: 0x2;\n");
	again = load("main", &error);
	ck_assert(!partition_rules_same(rules, again));
	partition_rules_unref(again);
	partition_rules_unref(rules);
}
END_TEST

/* Files that include themselves, once or twice, come to an end. */
START_TEST(test_include_loops)
{
	g_autoptr(GError) error = NULL;

	write_file("loop", "include loop\ninclude loop\n");
	ck_assert_ptr_null(load("loop", &error));
	ck_assert_ptr_nonnull(strstr(error->message, "loop:1: include: more than 256 files"));
	ck_assert_ptr_null(strchr(error->message, '\n')); /* only one line */
}
END_TEST

/* The file "main" includes "bad" in its second line: it is refused, with that line and a reason. */
static void expect_refused(const char *why)
{
	g_autoptr(GError) error = NULL;

	write_file("main", "A=1: 0x1;\ninclude bad\nB=2: 0x2;\n");
	ck_assert_ptr_null(load("main", &error));
	ck_assert_msg(strstr(error->message, why) != NULL, "%s: %s", why, error->message);
	ck_assert_msg(strstr(error->message, "/main:2: include: ") ||
			      strstr(error->message, "/main:3:") || strstr(error->message, "/bad:"),
		      "%s", error->message);
}

/* None of these is read to its end, or waited for. */
START_TEST(test_include_endless)
{
	g_autofree char *file = g_build_filename(dir, "bad", NULL);
	g_autofree char *remark = g_strnfill(33 << 20, '#');
	g_autofree char *huge = g_strconcat("C=3: 0x3;\n", remark, NULL);
	g_autoptr(GError) error = NULL;

	write_file("bad", "");
	ck_assert_int_eq(truncate(file, INT64_C(10) << 30), 0); /* 10 GB of NULs on no disk */
	expect_refused("octets");
	ck_assert_int_eq(g_unlink(file), 0);
	ck_assert_int_eq(symlink("/dev/zero", file), 0);
	expect_refused("/bad");
	ck_assert_int_eq(g_unlink(file), 0);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	expect_refused("/bad");
	ck_assert_int_eq(g_unlink(file), 0);
	ck_assert_int_eq(g_mkdir(file, 0700), 0);
	expect_refused("/bad");
	ck_assert_int_eq(g_rmdir(file), 0);
	ck_assert_int_eq(symlink("bad", file), 0);
	expect_refused("/bad");
	ck_assert_int_eq(g_unlink(file), 0);
	/* one is short enough, but not twice */
	write_file("bad", huge);
	write_file("main", "A=1: 0x1;\ninclude bad\ninclude bad\n");
	ck_assert_ptr_null(load("main", &error));
	ck_assert_msg(strstr(error->message, " octets with what includes it") != NULL, "%s",
		      error->message);
}
END_TEST

static void main_refused(const char *why)
{
	g_autofree char *file = g_build_filename(dir, "main", NULL);
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(load("main", &error));
	ck_assert_msg(strstr(error->message, why) && strstr(error->message, "/main"), "%s: %s", why,
		      error->message);
	ck_assert_int_eq(g_remove(file), 0);
}

/* As above for the main file. */
START_TEST(test_bad_files)
{
	g_autofree char *file = g_build_filename(dir, "main", NULL);

	write_file("main", "");
	ck_assert_int_eq(truncate(file, INT64_C(10) << 30), 0);
	main_refused("octets");
	ck_assert_int_eq(symlink("/dev/zero", file), 0);
	main_refused("expected a regular file");
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	main_refused("expected a regular file");
	ck_assert_int_eq(symlink("main", file), 0);
	main_refused("symbolic link");
	ck_assert(g_file_set_contents(file, "A=1: 0x1;\n\0\0", 12, NULL));
	main_refused("/main:2:");
	write_file("main", "A=1: 0x1;\nD=4,ipo");
	main_refused("/main:2:1: found 'D=4,ipo'");
	if (geteuid() != 0) { /* root reads all */
		write_file("main", "A=1: 0x1;");
		ck_assert_int_eq(g_chmod(file, 0), 0);
		main_refused("Permission denied");
	}
}
END_TEST

START_TEST(test_include_garbage)
{
	g_autofree char *file = g_build_filename(dir, "bad", NULL);

	ck_assert(g_file_set_contents(file,
				      "\x7f"
				      "ELF\2\1\1\0\0",
				      9, NULL));
	expect_refused("/bad:1:");
	ck_assert(g_file_set_contents(file, "C=3: 0x3;\n\0\0\0", 13, NULL));
	expect_refused("/bad:2:");
	ck_assert(g_file_set_contents(file, "\xff\xfe=3: 0x3;\n", -1, NULL));
	expect_refused("/bad:1:1:");
	/* half written: in a head, in a word, after a member */
	write_file("bad", "C=3: 0x3;\nD=4,ipo");
	expect_refused("/bad:2:1: found 'D=4,ipo'");
	write_file("bad", "C=3: 0x3;\nD=4: AL");
	expect_refused("/main:3:1: found 'B");
	write_file("bad", "C=3: 0x3;\nD=4: 0x3, 0x");
	expect_refused("/bad:2:11: found '0x'");
	write_file("bad", "C=3: 0x3=full,\n");
	expect_refused("/main:3:1: found 'B");
	ck_assert_int_eq(g_unlink(file), 0);
	expect_refused("No such file");
	if (geteuid() != 0) { /* root reads all */
		write_file("bad", "C=3: 0x3;");
		ck_assert_int_eq(g_chmod(file, 0), 0);
		expect_refused("Permission denied");
	}
}
END_TEST

/* ---- meaning ---- */

/* In mesh:2x1:2 hosts and switches alternate; GUIDs are looked up in the fabric. */
static char *with_guids(const struct fabric *fabric, const char *text)
{
	GString *out = g_string_new(text);
	unsigned int n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		g_autofree char *name = NULL, *guid = NULL;

		if (!fabric_is_endport(fabric, i))
			continue;
		name = g_strdup_printf("$%u", n++);
		guid = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", fabric->ports[i].guid);
		g_string_replace(out, name, guid, 0);
	}
	return g_string_free(out, FALSE);
}

static uint32_t nth_endport(const struct fabric *fabric, unsigned int n)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric_is_endport(fabric, i) && n-- == 0)
			return i;
	return FABRIC_NONE;
}

static char *keys_of(const struct partitions *partitions, uint32_t port)
{
	GString *text = g_string_new(NULL);
	uint32_t n;
	const uint16_t *keys = partitions_of(partitions, port, &n);

	for (uint32_t i = 0; i < n; i++)
		g_string_append_printf(text, "%s%04x", i ? " " : "", keys[i]);
	return g_string_free(text, FALSE);
}

static const struct {
	const char *text;
	unsigned int port;
	const char *keys;
	uint16_t index0;
	bool both, disconnect;
	unsigned int problems;
} meanings[] = {
	{"", 1, "ffff", 0xFFFF, false, false, 0},
	{"", 1, "7fff", 0x7FFF, false, true, 0},
	{"", 0, "ffff", 0xFFFF, false, true, 0},
	{"A=1: NONE;", 1, "7fff", 0x7FFF, false, false, 1},
	{"A=1: NONE;", 0, "ffff", 0xFFFF, false, false, 1},
	{"A=1: $1=full;", 1, "8001 7fff", 0x7FFF, false, false, 0},
	{"A=1: $1=full;", 2, "7fff", 0x7FFF, false, false, 0},
	{"A=1: $1=full, $1;", 1, "0001 7fff", 0x7FFF, false, false, 0},
	{"A=1: $1, ALL=full;", 1, "8001 7fff", 0x7FFF, false, false, 0},
	{"A=1: $1=both;", 1, "8001 7fff", 0x7FFF, false, false, 0},
	{"A=1: $1=both;", 1, "8001 0001 7fff", 0x7FFF, true, false, 0},
	{"A=1,indx0: $1=full;", 1, "8001 7fff", 0x8001, false, false, 1},
	{"A=1,indx0: $1=full, SELF;", 1, "8001 7fff", 0x8001, false, false, 0},
	{"A=1,indx0: ALL;", 1, "0001 7fff", 0x0001, false, false, 1},
	{"A=1,indx0: ALL, SELF=full;", 1, "0001 7fff", 0x0001, false, false, 0},
	{"A=1,indx0: $1=full; D=0x7fff,indx0: ALL=full;", 1, "8001 ffff", 0xFFFF, false, false, 0},
	{"A=1,indx0: $1=full; B=2,indx0: $1;", 1, "8001 0002 7fff", 0x0002, false, false, 1},
	{"A=1,indx0: $1=full; B=2,indx0: $2;", 1, "8001 7fff", 0x8001, false, false, 2},
	{"A=2,indx0: $1=full; B=1,indx0: $1;", 1, "0001 8002 7fff", 0x0001, false, false, 1},
	{"D=0x7fff: ALL=full;", 1, "ffff", 0xFFFF, false, false, 0},
	{"D=0x7fff: ALL;", 0, "ffff", 0xFFFF, false, false, 1},
	{"A=1: 0x1-0xffffffffffffffff=full;", 3, "8001 7fff", 0x7FFF, false, false, 0},
	{"A=1: $1-$1=full, $1=full, 0xdead;", 1, "8001 7fff", 0x7FFF, false, false, 1},
	{"A=1: 0x2-0x3, $1;", 1, "0001 7fff", 0x7FFF, false, false, 1},
	{"A=1: \"*\"=full;", 1, "8001 7fff", 0x7FFF, false, false, 0},
	{"A=1: \"nobody*\"=full, $1;", 1, "0001 7fff", 0x7FFF, false, false, 1},
	{"A=1: SELF; B=2: ALL_ROUTERS;", 0, "0001 ffff", 0xFFFF, false, false, 1},
};

/* What makes the tables of ports differ, and what does not. */
static const struct {
	const char *before, *after;
	bool same;
} tables[] = {
	{"A=1: $1=full;", "A=1: $1=full, 0xdead=full;", true},
	{"A=1: $1=full;", "X=1,ipoib,sl=3: $1=full;", true},
	{"A=1: $1=full;", "A=1: $1=full; B=2: 0xdead;", true},
	{"A=1: $1=full;", "A=1,indx0: $1=full;", false},
	{"A=1,indx0: $1=full; B=2,indx0: $1;", "C=3,indx0: 0x7; A=1,indx0: $1=full; B=2,indx0: $1;",
	 true},
	{"A=1,indx0: $1=full; B=2,indx0: $1;", "B=2,indx0: $1; A=1,indx0: $1=full;", false},
	{"A=1: $1=full;", "A=1: $1;", false},
	{"A=1: $1=full;", "A=1: $2=full;", false},
	{"A=1: $1=full;", "A=2: $1=full;", false},
	{"A=1: $1=full;", "", false},
};

static struct partitions *tables_of(const struct fabric *fabric, const char *text)
{
	g_autofree char *whole = with_guids(fabric, text);
	struct partition_rules *rules = parse(whole);
	struct options *options = options_new();
	struct partitions *partitions = partitions_make(rules, options, fabric);

	options_unref(options);
	partition_rules_unref(rules);
	return partitions;
}

START_TEST(test_same_tables)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	struct partitions *before = tables_of(fabric, tables[_i].before);
	struct partitions *after = tables_of(fabric, tables[_i].after);

	ck_assert_int_eq(partitions_same_tables(before, after), tables[_i].same);
	ck_assert(partitions_same_tables(before, before));
	partitions_unref(after);
	partitions_unref(before);
	fabric_unref(fabric);
}
END_TEST

/* Partitions without room in a port are reported each with its line, not port by port. */
START_TEST(test_no_room)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	g_autofree char *text = with_guids(fabric, "A=1: $1;\nB=2: $1, $2;\nC=3: $1, $2;\n"
						   "D=4: $2;\nE=5: $2=full;\nF=6: $4;\n");
	static const char *const told[] = {
		("partitions.conf:5: partition 'E' (0x0005): 1 of its members lack a P_Key of it, "
		 "as their P_Key tables are too small: "),
	};
	struct partition_rules *rules = parse(text);
	struct options *options = options_new();
	struct partitions *partitions;

	options->part_enforce = PART_ENFORCE_OFF;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 4;
	partitions = partitions_make(rules, options, fabric);
	ck_assert_uint_eq(partitions->problems->len, 0);
	ck_assert_uint_eq(partitions->crowded->len, G_N_ELEMENTS(told));
	for (guint i = 0; i < partitions->crowded->len; i++)
		ck_assert(g_str_has_prefix(partitions->crowded->pdata[i], told[i]));
	ck_assert_ptr_nonnull(strstr(partitions->crowded->pdata[0], " needs 5 and has room for 4"));
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

/* P_Keys of a port in order of their base: as many as it has room for. */
static const struct {
	const char *text;
	uint16_t room;
	bool both; /* allow_both_pkeys */
	const char *keys;
	uint16_t index0;
	unsigned int n; /* partitions */
} rooms[] = {
	{"A=1: $1=full; B=2: $1=full; D=0x7fff: ALL=full;", 3, false, "8001 8002 ffff", 0xFFFF, 3},
	{"A=1: $1=full; B=2: $1=full; D=0x7fff: ALL=full;", 2, false, "8001 ffff", 0xFFFF, 2},
	{"A=1: $1=full; B=2: $1=full; D=0x7fff: ALL=full;", 1, false, "ffff", 0xFFFF, 1},
	{"A=1: $1=full; B=2: $1=full; D=0x7fff: ALL=full;", 0, false, "ffff", 0xFFFF, 1},
	{"A=1: $1=full; B=2: $1=full;", 2, false, "8001 7fff", 0x7FFF, 2},
	{"A=2: $1=full; B=1: $1=full;", 2, false, "8001 7fff", 0x7FFF, 2},
	{"A=1: $1=full; B=2,indx0: $1=full;", 2, false, "8002 7fff", 0x8002, 2},
	{"A=1: $1=full; B=2,indx0: $1=full;", 1, false, "7fff", 0x7FFF, 1},
	{"A=1: $1=full; B=2,indx0: $1=full; C=3: $2;", 1, false, "7fff", 0x7FFF, 1},
	{"A=1: $1=both; B=2: $1;", 3, true, "8001 0001 7fff", 0x7FFF, 2},
	{"A=1: $1=both; B=2: ALL;", 2, true, "8001 7fff", 0x7FFF, 3},
	{"D=0x7fff: ALL=both;", 1, true, "ffff", 0xFFFF, 1},
	{"A=1,indx0: $1=full; D=0x7fff: ALL=both;", 2, true, "8001 ffff", 0x8001, 2},
};

START_TEST(test_rooms)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	g_autofree char *text = with_guids(fabric, rooms[_i].text), *keys = NULL;
	struct partition_rules *rules = parse(text);
	struct options *options = options_new();
	uint32_t port = nth_endport(fabric, 1), n_full = 0, n_limited = 0, n;
	struct partitions *partitions;
	const uint16_t *held;

	options->part_enforce = PART_ENFORCE_OFF;
	options->allow_both_pkeys = rooms[_i].both;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = rooms[_i].room;
	partitions = partitions_make(rules, options, fabric);
	keys = keys_of(partitions, port);
	ck_assert_str_eq(keys, rooms[_i].keys);
	ck_assert_uint_eq(partitions_index0(partitions, port), rooms[_i].index0);
	ck_assert_uint_eq(partitions->n, rooms[_i].n);
	for (uint32_t i = 0; i < partitions->n; i++) {
		n_full += partitions->all[i].n_full;
		n_limited += partitions->all[i].n_limited;
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		held = partitions_of(partitions, i, &n);
		ck_assert_uint_le(n, MAX(1, rooms[_i].room));
		for (uint32_t k = 0; k < n; k++) {
			n_full -= held[k] >> 15;
			n_limited -= !(held[k] >> 15);
		}
	}
	ck_assert_uint_eq(n_full, 0);
	ck_assert_uint_eq(n_limited, 0);
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

/* The first of them by name, and how many more there are. */
START_TEST(test_who_has_no_room)
{
	struct fabric *fabric = make_fabric("mesh:2x1:3", 0);
	struct partition_rules *rules = parse("A=1: ALL_CAS;\n");
	struct options *options = options_new();
	struct partitions *partitions;
	const char *text, *at;
	unsigned int named = 0;

	options->part_enforce = PART_ENFORCE_OFF;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 1;
	partitions = partitions_make(rules, options, fabric);
	ck_assert_uint_eq(partitions->crowded->len, 1);
	text = partitions->crowded->pdata[0];
	for (at = text; (at = strstr(at, " port 1 needs 2 and has room for 1")); at++)
		named++;
	ck_assert_uint_eq(named, 4);
	ck_assert_ptr_nonnull(strstr(text, ": 6 of its members "));
	ck_assert_ptr_nonnull(strstr(text, "host-0 ("));
	ck_assert(g_str_has_suffix(text, ", 2 more"));
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

START_TEST(test_meaning)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	g_autofree char *text = with_guids(fabric, meanings[_i].text), *keys = NULL;
	struct partition_rules *rules = parse(text);
	struct options *options = options_new();
	struct partitions *partitions;
	uint32_t port;

	port = meanings[_i].port ? nth_endport(fabric, meanings[_i].port) : fabric->sm_port;
	options->part_enforce = PART_ENFORCE_OFF; /* this fabric's switches cannot enforce it */
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 4;
	options->allow_both_pkeys = meanings[_i].both;
	options->disconnect_unconfigured_endports = meanings[_i].disconnect;
	partitions = partitions_make(rules, options, fabric);
	keys = keys_of(partitions, port);
	ck_assert_str_eq(keys, meanings[_i].keys);
	ck_assert_uint_eq(partitions_index0(partitions, port), meanings[_i].index0);
	ck_assert_uint_eq(partitions->problems->len, meanings[_i].problems);
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

/* Ports whose P_Key at index 0 does not let them ask the SA are counted by partition. */
START_TEST(test_cut_off)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	struct partition_rules *rules = parse("B=2: ALL;\nA=1,indx0: ALL_CAS;\n");
	struct options *options = options_new();
	struct partitions *partitions = partitions_make(rules, options, fabric);

	ck_assert_uint_eq(partitions->problems->len, 1);
	ck_assert_str_eq(partitions->problems->pdata[0],
			 "partitions.conf:2: partition 'A' (0x0001): it has indx0, but the SM's "
			 "port is a limited member of it: programs at 3 port(s) that have this "
			 "P_Key at index 0 cannot query the SA");
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

/* Each problem names its partition, and one without a name by its P_Key. */
START_TEST(test_problems_name_partitions)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	static const char *const told[] = {
		("partitions.conf:1: partition 'A' (0x0001): GUID 0x00000000dead0001 is not in the "
		 "subnet"),
		("partitions.conf:2: partition 0x0002: no port of the subnet is in "
		 "0x00000000dead0001-0x00000000dead0002"),
		"partitions.conf:2: partition 0x0002: it has no member in the subnet",
		("partitions.conf:3: partition 'C' (0x0003): no node of the subnet is called "
		 "\"absent\""),
		"partitions.conf:3: partition 'C' (0x0003): it has no member in the subnet",
	};
	static const char text[] = "A=1: 0xdead0001, ALL;\n0x2: 0xdead0001-0xdead0002;\n"
				   "C=3: \"absent\";\n";
	struct partition_rules *rules = parse(text);
	struct options *options = options_new();
	struct partitions *partitions = partitions_make(rules, options, fabric);

	ck_assert_uint_eq(partitions->problems->len, G_N_ELEMENTS(told));
	for (guint i = 0; i < partitions->problems->len; i++)
		ck_assert_str_eq(partitions->problems->pdata[i], told[i]);
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

/* For groups that the file makes the SL always counts, as in the classic daemon. */
START_TEST(test_sl)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	struct partition_rules *rules =
		parse("A=1,ipoib,sl=3:mgid=ff12::1,sl=5\nmgid=ff12::2\nALL=full;");
	struct options *options = options_new();
	struct partitions *partitions;
	const struct partition *partition;

	options->qos = _i;
	partitions = partitions_make(rules, options, fabric);
	partition = partitions_find(partitions, 1);
	ck_assert_uint_eq(partition->sl, _i ? 3 : 0);
	ck_assert_uint_eq(partition->groups[0].sl, _i ? 3 : 0);
	ck_assert_uint_eq(partition->groups[1].sl, 5);
	ck_assert_uint_eq(partition->groups[2].sl, _i ? 3 : 0);
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

static uint32_t class_of_nth(const struct partitions *partitions, const struct fabric *fabric,
			     unsigned int n)
{
	return partitions_class(partitions, nth_endport(fabric, n));
}

/* The classes of two ports say whether they may talk; class 0 may not. */
static void check_classes(const struct partitions *partitions)
{
	for (uint32_t a = 0; a < partitions->n_ports; a++)
		for (uint32_t b = 0; b < partitions->n_ports; b++)
			ck_assert_int_eq(partitions_classes_talk(partitions,
								 partitions_class(partitions, a),
								 partitions_class(partitions, b)),
					 partitions_shared(partitions, a, b) != 0);
	for (uint32_t a = 0; a < partitions->n_classes; a++)
		ck_assert(!partitions_classes_talk(partitions, a, 0));
}

/* There are as many classes as sets of keys; and the table agrees with the keys. */
START_TEST(test_classes)
{
	struct fabric *fabric = make_fabric("fattree:8", 0);
	g_autofree char *text =
		with_guids(fabric, "A=1: $5=full, $6, $7=full; B=2: $7, $8, $9=full; C=3: $8;");
	struct partition_rules *rules = parse(text);
	struct options *options = options_new();
	struct partitions *partitions = partitions_make(rules, options, fabric);

	ck_assert_uint_eq(partitions->n_classes, 8); /* none, SM, unnamed ports, 5 to 9 */
	ck_assert_ptr_nonnull(partitions->shared);
	ck_assert_uint_eq(partitions->n, 4);
	ck_assert_uint_eq(partitions_find(partitions, 2)->n_full, 1);
	ck_assert_uint_eq(partitions_find(partitions, 2)->n_limited, 2);
	ck_assert_uint_eq(
		partitions_shared(partitions, nth_endport(fabric, 6), nth_endport(fabric, 5)),
		0x0001);
	ck_assert_uint_eq(
		partitions_shared(partitions, nth_endport(fabric, 6), nth_endport(fabric, 8)), 0);
	ck_assert_uint_eq(partitions_shared(partitions, nth_endport(fabric, 8), fabric->sm_port),
			  0x7FFF);
	check_classes(partitions);
	ck_assert(partitions_classes_talk(partitions, class_of_nth(partitions, fabric, 5),
					  class_of_nth(partitions, fabric, 6)));
	ck_assert(!partitions_classes_talk(partitions, class_of_nth(partitions, fabric, 6),
					   class_of_nth(partitions, fabric, 6)));
	ck_assert(!partitions_classes_talk(partitions, class_of_nth(partitions, fabric, 6),
					   class_of_nth(partitions, fabric, 8)));
	ck_assert_uint_eq(partitions_class(partitions, fabric->n_ports), 0);
	g_clear_pointer(&partitions->shared, g_free); /* as if there were too many classes */
	check_classes(partitions);
	ck_assert(partitions_classes_talk(partitions, class_of_nth(partitions, fabric, 5),
					  class_of_nth(partitions, fabric, 6)));
	partitions_unref(partitions);
	options_unref(options);
	partition_rules_unref(rules);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("partition_file");
	TCase *tcase = tcase_create("partition_file");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_nothing, 0, G_N_ELEMENTS(nothing));
	tcase_add_loop_test(tcase, test_members, 0, G_N_ELEMENTS(members));
	tcase_add_test(tcase, test_default_rule);
	tcase_add_test(tcase, test_chosen_keys);
	tcase_add_test(tcase, test_groups);
	tcase_add_test(tcase, test_inherited_flags);
	tcase_add_test(tcase, test_broadcast_scopes);
	tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
	tcase_add_loop_test(tcase, test_all_mistakes, 0, G_N_ELEMENTS(all_mistakes));
	tcase_add_test(tcase, test_mistakes_in_files);
	tcase_add_test(tcase, test_binary);
	tcase_add_test(tcase, test_absent_and_unreadable);
	tcase_add_test(tcase, test_definitions_gone);
	tcase_add_test(tcase, test_include);
	tcase_add_test(tcase, test_include_loops);
	tcase_add_test(tcase, test_include_endless);
	tcase_add_test(tcase, test_include_garbage);
	tcase_add_test(tcase, test_bad_files);
	tcase_add_loop_test(tcase, test_meaning, 0, G_N_ELEMENTS(meanings));
	tcase_add_test(tcase, test_no_room);
	tcase_add_loop_test(tcase, test_same_tables, 0, G_N_ELEMENTS(tables));
	tcase_add_test(tcase, test_who_has_no_room);
	tcase_add_loop_test(tcase, test_rooms, 0, G_N_ELEMENTS(rooms));
	tcase_add_test(tcase, test_cut_off);
	tcase_add_test(tcase, test_problems_name_partitions);
	tcase_add_loop_test(tcase, test_sl, 0, 2);
	tcase_add_test(tcase, test_classes);
	suite_add_tcase(suite, tcase);
	return suite;
}

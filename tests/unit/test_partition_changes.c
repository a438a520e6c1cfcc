// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Partition members added and removed at run time: requests, the file they are kept in. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/partition/partition.h"
#include "policy/partition/partition_changes.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#define BASE "A=0x10,ipoib: 0x1=full, 0x20-0x2f;\nB=0x11: ALL;\nChosen: 0x5=full;"

static char *dir;

static void setup(void)
{
	dir = g_dir_make_tmp("partition-XXXXXX", NULL);
}

static void teardown(void)
{
	directory_remove(dir);
	g_free(dir);
}

static char *path(const char *name)
{
	return g_build_filename(dir, name, NULL);
}

static void write_file(const char *name, const char *text, gssize length)
{
	g_autofree char *file = path(name);

	ck_assert(g_file_set_contents(file, text, length, NULL));
}

/* partitions.conf of the directory with changes. */
static struct partition_rules *load(struct partition_changes *changes)
{
	g_autofree char *file = path("partitions.conf");
	g_autoptr(GError) error = NULL;
	struct partition_rules *rules = partition_rules_load_with(file, changes, &error);

	ck_assert_msg(rules != NULL, "%s", error ? error->message : "");
	return rules;
}

static struct partition_changes *kept(void)
{
	g_autoptr(GError) error = NULL;
	struct partition_changes *changes = partition_changes_load(dir, &error);

	ck_assert_msg(changes != NULL, "%s", error ? error->message : "");
	return changes;
}

/* The changes after one more request, saved. */
static struct partition_changes *edit(struct partition_changes *changes, const char *request)
{
	struct partition_rules *rules = load(changes);
	g_autoptr(GError) error = NULL;
	struct partition_changes *new =
		partition_changes_edit(changes, rules, request, changes->serial + 1, &error);

	ck_assert_msg(new != NULL, "%s: %s", request, error ? error->message : "");
	ck_assert(partition_changes_save(new, &error));
	partition_rules_unref(rules);
	partition_changes_unref(changes);
	return new;
}

static const char *body(const struct partition_changes *changes)
{
	return strchr(changes->text, '\n') ? strchr(changes->text, '\n') + 1 : "";
}

/* ---- requests ---- */

static const struct {
	const char *requests[4];
	const char *body;
} edits[] = {
	{{"0x12: 0x7=full"}, "0x0012:\n\t0x0000000000000007=full;\n"},
	{{"0x8012: 0x7"}, "0x0012:\n\t0x0000000000000007=limited;\n"},
	{{"=18,defmember=both: 0x7;"}, "=18,defmember=both:\n\t0x0000000000000007=both;\n"},
	{{"0x12: 0x8=full, 0x7=full; 0x9: 1=both;"},
	 "0x0009:\n\t0x0000000000000001=both;\n"
	 "0x0012:\n\t0x0000000000000007=full,\n\t0x0000000000000008=full;\n"},
	{{"Jobs=0x12,ipoib,mtu=5: 0x7=full;", "0x12: 0x8=full;", "0x12: 0x7=limited"},
	 "Jobs=0x12,ipoib,mtu=5:\n\t0x0000000000000007=limited,\n\t0x0000000000000008=full;\n"},
	{{"Jobs=0x12,ipoib: 0x7=full;", "Jobs=0x12: 0x7=full;"},
	 "Jobs=0x12,ipoib:\n\t0x0000000000000007=full;\n"},
	{{"Jobs=0x12,ipoib: 0x7=full;", "New=0x12: 0x7=full;", "0x12,sl=3: 0x7=full"},
	 "0x12,sl=3:\n\t0x0000000000000007=full;\n"},
	/* a member in no file is forgotten, and its partition with the last such member */
	{{"0x12: 0x7=full", "0x12: 0x7=none"}, ""},
	{{"0x12: 0x7=none, 0x7=full, 0x7=none"}, ""},
	{{"0x12: 0x7=full, 0x8=full", "0x12: 0x7=none, 0x9=none"},
	 "0x0012:\n\t0x0000000000000008=full;\n"},
	/* but not a member in a file: by itself, in a range, by ALL, or as all members are */
	{{"0x10: 0x1=none, 0x2f=none, 0x30=none"},
	 "0x0010:\n\t0x0000000000000001=none,\n\t0x000000000000002f=none;\n"},
	{{"0x10: 0x1=none", "0x10: 0x1=none"}, "0x0010:\n\t0x0000000000000001=none;\n"},
	{{"0x11: 0x7=none"}, "0x0011:\n\t0x0000000000000007=none;\n"},
	{{"0x7fff: 0x7=none"}, "0x7fff:\n\t0x0000000000000007=none;\n"},
	{{"0x1: 0x5=none, 0x6=none"}, "0x0001:\n\t0x0000000000000005=none;\n"},
	/* a change that is undone leaves nothing behind */
	{{"0x10: 0x40=full", "0x10: 0x40=none"}, ""},
	{{"New=0x12,ipoib:"}, "New=0x12,ipoib:;\n"},
};

START_TEST(test_edits)
{
	struct partition_changes *changes, *again;
	uint64_t serial;

	write_file("partitions.conf", BASE, -1);
	changes = kept();
	ck_assert_uint_eq(changes->serial, 0);
	for (unsigned int i = 0; i < 4 && edits[_i].requests[i]; i++)
		changes = edit(changes, edits[_i].requests[i]);
	ck_assert_str_eq(body(changes), edits[_i].body);
	if (changes->serial) {
		again = kept();
		ck_assert_str_eq(again->text, changes->text);
		ck_assert_uint_eq(again->serial, changes->serial);
		partition_changes_unref(again);
	}
	/* requested once more, nothing changes, nor does the serial */
	serial = changes->serial;
	if (!edits[_i].requests[1])
		changes = edit(changes, edits[_i].requests[0]);
	ck_assert_uint_eq(changes->serial, serial);
	partition_changes_unref(changes);
}
END_TEST

/* ---- requests with options ---- */

static const struct {
	const char *before;
	struct partition_request request;
	const char *body;
} made[] = {
	/* merged: one flag changes, the others and the name stay */
	{"Jobs=0x12,ipoib,mtu=5,sl=3: 0x7=full",
	 {"0x12,sl=4,rate=7: 0x8=limited", .merge = true},
	 "Jobs=0x12,ipoib,mtu=5,sl=4,rate=7:\n\t0x0000000000000007=full,\n"
	 "\t0x0000000000000008=limited;\n"},
	{"Jobs=0x12,ipoib,indx0: 0x7=full",
	 {"New=0x12,ipoib=no,stays:", .merge = true},
	 "New=0x12,indx0,stays:\n\t0x0000000000000007=full;\n"},
	{"0x12: 0x7=full",
	 {"0x12,mtu=4:", .merge = true},
	 "0x0012,mtu=4:\n\t0x0000000000000007=full;\n"},
	{"Jobs=0x12,ipoib: 0x7=full; 0x13: 0x7=full",
	 {"0x12,ipoib=no:", .merge = true},
	 "Jobs=0x12:\n\t0x0000000000000007=full;\n0x0013:\n\t0x0000000000000007=full;\n"},
	{"\"a,b\"=0x12,sl=1: 0x7=full",
	 {"0x12,sl=2:", .merge = true},
	 "\"a,b\"=0x12,sl=2:\n\t0x0000000000000007=full;\n"},
	{"Jobs=0x12,ipoib: 0x7=full", {"0x12,ipoib:", .merge = true}, NULL},
	{"Jobs=0x12,sl=3: 0x7=full", {"=0x12,sl=3: 0x7=full", .merge = true}, NULL},
	/* replaced: the members given are all that there are */
	{"Jobs=0x12,ipoib: 0x7=full, 0x8=full, 0x9=limited",
	 {"0x12: 0x8=limited, 0xa=full", .replace = true},
	 "Jobs=0x12,ipoib:\n\t0x0000000000000008=limited,\n\t0x000000000000000a=full;\n"},
	{"Jobs=0x12: 0x7=full", {"0x12:", .replace = true}, ""},
	{"Jobs=0x12,stays: 0x7=full", {"0x12:", .replace = true}, "Jobs=0x12,stays:;\n"},
	{"0x12: 0x7=full; 0x13: 0x7=full",
	 {"0x13: 0x8=both", .replace = true},
	 "0x0012:\n\t0x0000000000000007=full;\n0x0013:\n\t0x0000000000000008=both;\n"},
	{"0x12: 0x7=full", {"0x12: 0x7=full", .replace = true}, NULL},
	/* a partition that stays outlives its members, others do not */
	{"Jobs=0x12,stays: 0x7=full", {"0x12: 0x7=none"}, "Jobs=0x12,stays:;\n"},
	{"Jobs=0x12,stays: 0x7=full", {"0x12,stays=no: 0x7=none", .merge = true}, ""},
	{"Jobs=0x12,stays:", {NULL, 0x12, .strict = true, .existing = true}, ""},
	{"Jobs=0x12,stays:", {NULL, 0x8012, .existing = true}, ""},
};

START_TEST(test_made)
{
	struct partition_changes *changes = kept(), *new;
	struct partition_rules *rules;
	g_autoptr(GError) error = NULL;

	write_file("partitions.conf", BASE, -1);
	changes = edit(changes, made[_i].before);
	rules = load(changes);
	new = partition_changes_make(changes, rules, &made[_i].request, 9, &error);
	ck_assert_msg(new != NULL, "%s", error ? error->message : "");
	if (made[_i].body)
		ck_assert_str_eq(body(new), made[_i].body);
	else
		ck_assert_ptr_eq(new, changes);
	partition_changes_unref(new);
	partition_rules_unref(rules);
	partition_changes_unref(changes);
}
END_TEST

static const struct {
	struct partition_request request;
	enum partition_error code;
} not_made[] = {
	{{"0x13: 0x7=full", .existing = true}, PARTITION_ERROR_UNKNOWN},
	{{"0x12: 0x7=full; 0x13: 0x7=full", .existing = true}, PARTITION_ERROR_UNKNOWN},
	{{NULL, 0x13, .existing = true}, PARTITION_ERROR_UNKNOWN},
	{{"0x10: 0x7=full", .strict = true}, PARTITION_ERROR_CONFIGURED},
	{{"0x12: 0x7=full; 0x1: 0x7=full", .strict = true}, PARTITION_ERROR_CONFIGURED},
	{{"0x7fff: 0x7=full", .strict = true}, PARTITION_ERROR_CONFIGURED},
	{{NULL, 0x10, .strict = true}, PARTITION_ERROR_CONFIGURED},
	{{"0x12,stay: 0x7=full", .merge = true}, PARTITION_ERROR_SYNTAX},
	{{"0x12,mtu=no: 0x7=full", .merge = true}, PARTITION_ERROR_SYNTAX},
	/* names of another partition: of the file, of the changes and in the request */
	{{"Default=0x13: 0x7=full", .merge = true}, PARTITION_ERROR_NAME},
	{{"Twelve=0x13: 0x7=full"}, PARTITION_ERROR_NAME},
	{{"A=0x13: 0x7=full; A=0x14: 0x7=full"}, PARTITION_ERROR_NAME},
};

START_TEST(test_not_made)
{
	struct partition_changes *changes = kept();
	struct partition_rules *rules;
	g_autoptr(GError) error = NULL;

	write_file("partitions.conf", BASE, -1);
	changes = edit(changes, "Twelve=0x12: 0x8=full");
	rules = load(changes);
	ck_assert_ptr_null(
		partition_changes_make(changes, rules, &not_made[_i].request, 9, &error));
	ck_assert_msg(g_error_matches(error, PARTITION_ERROR, not_made[_i].code), "%s",
		      error->message);
	partition_rules_unref(rules);
	partition_changes_unref(changes);
}
END_TEST

/* ---- refused requests ---- */

static const struct {
	const char *request, *place, *why;
} refused[] = {
	{"0x12", ":1:1:", "NAME=P_KEY"},
	{"0x12 0x7=full", ":1:1:", "NAME=P_KEY"},
	{"Jobs: 0x7=full", ":1:1:", "a P_Key"},
	{"Jobs=0: 0x7=full", ":1:6:", "a P_Key"},
	{"0x8000: 0x7=full", ":1:1:", "a P_Key"},
	{"0x10000: 0x7=full", ":1:1:", "a P_Key"},
	{"0x12: 0x7=full; 0x13: 0x0=full", ":1:23:", "the GUID of a port"},
	{"0x12: ALL=full", ":1:7:", "the GUID of a port"},
	{"0x12: NONE", ":1:7:", "the GUID of a port"},
	{"0x12: SELF=full", ":1:7:", "the GUID of a port"},
	{"0x12: \"host*\"=full", ":1:7:", "the GUID of a port"},
	{"0x12: 0x7-0x9=full", ":1:7:", "the GUID of a port"},
	{"0x12: @s", ":1:7:", "the GUID of a port"},
	{"@s: 0x7", ":1:1:", "a P_Key"},
	{"0x12: mgid=ff12::1", ":1:", "a request"},
	{"include /etc/passwd", ":1:1:", "NAME=P_KEY"},
	{"0x12: 0x7=f", ":1:", "'f' is taken for full"},
	{"0x12: 0x7=non", ":1:", "found 'non', expected the membership full, "},
	{"0x12: 0x7=", ":1:", "found '', expected the membership full, "},
	{"0x12,bogus: 0x7=full", ":1:", "found 'bogus', expected ipoib, "},
	{"0x12,,: 0x7=full", ":1:", "a flag is empty"},
	{"0x12,defmember=x: 0x7", ":1:", "defmember: found 'x', expected full, "},
	{"0x12,mtu=9: 0x7=full", ":1:", "mtu: found '9', expected 1 to 5"},
	{"0x12: 0x7=full # 0x8=full", "request:", "no comment"},
};

START_TEST(test_refused)
{
	struct partition_changes *changes = kept();
	struct partition_rules *rules;
	g_autoptr(GError) error = NULL;

	write_file("partitions.conf", BASE, -1);
	changes = edit(changes, "0x12: 0x1=full");
	rules = load(changes);
	ck_assert_ptr_null(partition_changes_edit(changes, rules, refused[_i].request, 9, &error));
	ck_assert_msg(strstr(error->message, refused[_i].place) &&
			      strstr(error->message, refused[_i].why) &&
			      g_str_has_prefix(error->message, "request:"),
		      "%s: %s", refused[_i].request, error->message);
	/* Nothing is: the whole request is refused. */
	ck_assert_msg(!strstr(error->message, "ignored") && !strstr(error->message, "counts as"),
		      "%s", error->message);
	partition_rules_unref(rules);
	partition_changes_unref(changes);
}
END_TEST

START_TEST(test_forget)
{
	g_autoptr(GError) error = NULL;
	struct partition_changes *changes, *less, *same, *none;

	write_file("partitions.conf", BASE, -1);
	changes = edit(kept(), "0x10: 0x1=none; 0x12: 0x7=full");
	less = partition_changes_forget(changes, 0x8012, 7, &error);
	ck_assert_str_eq(body(less), "0x0010:\n\t0x0000000000000001=none;\n");
	ck_assert_uint_eq(less->serial, 7);
	same = partition_changes_forget(less, 0x12, 8, &error);
	ck_assert_ptr_eq(same, less);
	none = partition_changes_forget(less, 0, 8, &error);
	ck_assert_str_eq(body(none), "");
	ck_assert_uint_eq(none->serial, 8);
	partition_changes_unref(changes);
	partition_changes_unref(less);
	partition_changes_unref(same);
	partition_changes_unref(none);
}
END_TEST

START_TEST(test_bound)
{
	g_autoptr(GString) request = g_string_new("0x12:");
	g_autoptr(GError) error = NULL;
	struct partition_changes *changes = kept(), *full;
	struct partition_rules *rules = load(changes);

	for (unsigned int i = 1; i <= PARTITION_CHANGES_MEMBERS_MAX; i++)
		g_string_append_printf(request, "%u=full,", i);
	full = partition_changes_edit(changes, rules, request->str, 1, &error);
	ck_assert_ptr_nonnull(full);
	ck_assert_ptr_null(partition_changes_edit(full, rules, "0x13: 0x1=full", 2, &error));
	ck_assert(g_error_matches(error, PARTITION_ERROR, PARTITION_ERROR_LIMIT));
	ck_assert_ptr_nonnull(strstr(error->message, "131073 members"));
	partition_rules_unref(rules);
	partition_changes_unref(changes);
	partition_changes_unref(full);
}
END_TEST

/* ---- the file ---- */

static void expect_bad(const char *text, gssize length, const char *why)
{
	g_autofree char *file = path(PARTITION_CHANGES_FILE);
	g_autoptr(GError) error = NULL;

	write_file(PARTITION_CHANGES_FILE, text, length);
	ck_assert_msg(partition_changes_load(dir, &error) == NULL, "%s", text);
	ck_assert_msg(strstr(error->message, file) && strstr(error->message, why), "%s: %s", why,
		      error->message);
}

/* Cut off anywhere, or altered: it is named, and no part of it is used. */
START_TEST(test_torn)
{
	struct partition_changes *changes = edit(kept(), "0x12: 0x7=full, 0x8=none; 0x13: 0x9");
	g_autofree char *text = g_strdup(changes->text);
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++) {
		g_autofree char *torn = g_strndup(text, i);

		expect_bad(torn, -1, "remove it to go without");
	}
	strstr(text, "07=full")[1] = '6';
	expect_bad(text, -1, "checksum");
	expect_bad("# opensm partition requests, serial 0, sha256 ", -1, "a serial from 1");
	expect_bad("# opensm partition requests, serial 5 ", -1, "a serial from 1");
	expect_bad("0x12: 0x7=full;\n", -1, "expected '# opensm partition requests");
	expect_bad("\0\1\2\3", 4, "NUL");
	partition_changes_unref(changes);
}
END_TEST

static void expect_forged(unsigned int serial, const char *rest, const char *why)
{
	g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, rest, -1);
	g_autofree char *text = g_strdup_printf(
		"# opensm partition requests, serial %u, sha256 %s\n%s", serial, sum, rest);

	expect_bad(text, -1, why);
}

/* The right checksum does not make it right. */
START_TEST(test_forged)
{
	expect_forged(5, "0x12: ALL=full;\n", ":2:7: found 'ALL'");
	expect_forged(0, "", "a serial from 1");
}
END_TEST

START_TEST(test_not_a_file)
{
	g_autofree char *file = path(PARTITION_CHANGES_FILE);
	g_autoptr(GError) error = NULL;
	struct partition_changes *changes = partition_changes_load(NULL, &error);

	ck_assert_uint_eq(changes->serial, 0);
	ck_assert(partition_changes_save(changes, &error));
	partition_changes_unref(changes);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	ck_assert_ptr_null(partition_changes_load(dir, &error));
	ck_assert_ptr_nonnull(strstr(error->message, file));
}
END_TEST

START_TEST(test_mode)
{
	struct partition_changes *changes = edit(kept(), "0x12: 0x7=full");
	struct stat is;

	ck_assert_int_eq(stat(changes->file, &is), 0);
	ck_assert_uint_eq(is.st_mode & 07777, 0600);
	ck_assert_int_eq(g_chmod(changes->file, 0644), 0); /* as older versions left it */
	partition_changes_unref(kept());
	ck_assert_int_eq(stat(changes->file, &is), 0);
	ck_assert_uint_eq(is.st_mode & 07777, 0600);
	partition_changes_unref(changes);
}
END_TEST

/* ---- with partitions.conf ---- */

static const struct partition_member *last_member(const struct partition_rules *rules,
						  uint16_t p_key)
{
	const struct partition_rule *rule = partition_rules_find(rules, p_key);

	ck_assert_ptr_nonnull(rule);
	return &g_array_index(rule->members, struct partition_member, rule->members->len - 1);
}

/* The changes override it, move no P_Key, and keep the line numbers of their file. */
START_TEST(test_last_word)
{
	struct partition_changes *changes;
	struct partition_rules *rules;

	write_file("partitions.conf", BASE, -1);
	changes = edit(kept(), "0x1: 0x9=full; 0x10: 0x1=none");
	rules = load(changes);
	ck_assert_uint_eq(rules->n_own_files, 1);
	ck_assert_str_eq(partition_rules_find(rules, 1)->name, "Chosen");
	ck_assert_uint_eq(last_member(rules, 1)->first, 9);
	ck_assert_uint_eq(last_member(rules, 1)->line, 3);
	ck_assert_str_eq(rules->files->pdata[last_member(rules, 1)->file], changes->file);
	ck_assert_uint_eq(last_member(rules, 0x10)->membership, PARTITION_NO_MEMBER);
	partition_rules_unref(rules);
	partition_changes_unref(changes);
}
END_TEST

/* Without partitions.conf all ports stay full members of the default partition. */
START_TEST(test_no_file)
{
	struct partition_changes *changes = edit(kept(), "0x12: 0x9=full");
	struct partition_rules *rules = load(changes);

	ck_assert(rules->built_in);
	ck_assert_uint_eq(rules->rules->len, 2);
	ck_assert_uint_eq(g_array_index(partition_rules_find(rules, 0x7FFF)->members,
					struct partition_member, 0)
				  .membership,
			  PARTITION_FULL);
	partition_rules_unref(rules);
	partition_changes_unref(changes);
}
END_TEST

/* partitions.conf may include the file, which counts once and last. */
START_TEST(test_included)
{
	g_autofree char *file = path("partitions.conf");
	g_autofree char *other = path("other");
	g_autoptr(GError) error = NULL;
	struct partition_changes *changes = edit(kept(), "0x12: 0x9=full");
	struct partition_rules *rules;

	write_file("partitions.conf", "include " PARTITION_CHANGES_FILE "\nA=0x12: 0x9=limited;",
		   -1);
	rules = load(changes);
	ck_assert_uint_eq(partition_rules_find(rules, 0x12)->members->len, 2);
	ck_assert_uint_eq(last_member(rules, 0x12)->membership, PARTITION_FULL);
	partition_rules_unref(rules);
	changes = edit(changes, "0x12: 0x9=none"); /* and again, the file is not read as rules */
	rules = load(changes);
	ck_assert_uint_eq(last_member(rules, 0x12)->membership, PARTITION_NO_MEMBER);
	partition_rules_unref(rules);
	ck_assert(g_file_set_contents(other, changes->text, -1, NULL));
	write_file("partitions.conf", "\ninclude other\n", -1);
	ck_assert_ptr_null(partition_rules_load_with(file, changes, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "partitions.conf:2: include: "));
	g_clear_error(&error);
	ck_assert_ptr_null(partition_rules_load(file, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "this SM keeps none"));
	partition_changes_unref(changes);
}
END_TEST

/* The meaning: a member taken out of ALL has no key, and an empty partition does not exist. */
START_TEST(test_meaning)
{
	struct fabric *fabric = make_fabric("mesh:2x1:2", 0);
	struct options *options = options_new();
	uint64_t guid = 0;
	uint32_t port;
	g_autoptr(GString) request = g_string_new(NULL);
	struct partition_changes *changes;
	struct partition_rules *rules;
	struct partitions *partitions;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].info.partition_cap = 8;
	for (port = 0; port == fabric->sm_port || !fabric_is_endport(fabric, port); port++)
		;
	guid = fabric->ports[port].guid;
	write_file("partitions.conf", "A=0x10: ALL=full;\nB=0x11: 0x1=full;", -1);
	g_string_printf(request, "0x10: %" G_GUINT64_FORMAT "=none, 0x5=none; ", guid);
	g_string_append_printf(request, "0x12: %" G_GUINT64_FORMAT "=full; ", guid);
	g_string_append_printf(request,
			       "0x7fff: %" G_GUINT64_FORMAT "=none, %" G_GUINT64_FORMAT "=none",
			       fabric->ports[fabric->sm_port].guid, guid);
	changes = edit(kept(), request->str);
	rules = load(changes);
	partitions = partitions_make(rules, options, fabric);
	ck_assert_uint_eq(partitions_member(partitions, port, 0x10), 0);
	ck_assert_uint_eq(partitions_member(partitions, port, 0x12), 0x8012);
	ck_assert_uint_ne(partitions_member(partitions, fabric->sm_port, 0x10), 0);
	/* no port can be shut out of the SA's partition, nor the SM itself made a limited member */
	ck_assert_uint_eq(partitions_member(partitions, port, 0x7FFF), 0x7FFF);
	ck_assert_uint_eq(partitions_member(partitions, fabric->sm_port, 0x7FFF), 0xFFFF);
	ck_assert_ptr_null(partitions_find(partitions, 0x11));
	for (guint i = 0; i < partitions->problems->len; i++) /* of B only */
		ck_assert_ptr_null(strstr(partitions->problems->pdata[i], PARTITION_CHANGES_FILE));
	partitions_unref(partitions);
	partition_rules_unref(rules);
	partition_changes_unref(changes);
	options_unref(options);
	fabric_unref(fabric);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("partition_changes");
	TCase *tcase = tcase_create("partition_changes");

	umask(022);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_edits, 0, G_N_ELEMENTS(edits));
	tcase_add_loop_test(tcase, test_made, 0, G_N_ELEMENTS(made));
	tcase_add_loop_test(tcase, test_not_made, 0, G_N_ELEMENTS(not_made));
	tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(refused));
	tcase_add_test(tcase, test_forget);
	tcase_add_test(tcase, test_bound);
	tcase_add_test(tcase, test_torn);
	tcase_add_test(tcase, test_forged);
	tcase_add_test(tcase, test_not_a_file);
	tcase_add_test(tcase, test_mode);
	tcase_add_test(tcase, test_last_word);
	tcase_add_test(tcase, test_no_file);
	tcase_add_test(tcase, test_included);
	tcase_add_test(tcase, test_meaning);
	suite_add_tcase(suite, tcase);
	return suite;
}

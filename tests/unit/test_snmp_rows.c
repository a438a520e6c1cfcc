// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* From answers of the daemon to rows, from a SET to a command, from changes to notifications. */
#include <check.h>
#include <string.h>

#include "client/control.h"
#include "snmp/changes.h"
#include "snmp/notices.h"
#include "tests/run_suite.h"

#define STATUS(state, more)                                                                        \
	"{\"version\":\"OpenSM 4\",\"sm_state\":\"" state "\",\"sm_priority\":3,\"sm_guid\":"      \
	"\"0x0200000000000101\",\"has_subnet\":true,\"subnet\":{\"switches\":20,\"hosts\":16,"     \
	"\"links\":48,\"generation\":7},\"counters\":{\"smp_sent\":18446744,\"sa_received\":"      \
	"2}" more "}"
#define HEALTH                                                                                     \
	"{\"healthy\":true,\"state\":\"MASTER, subnet up\",\"last_sweep\":{\"kind\":\"heavy\","    \
	"\"errors\":false,\"took_us\":2575,\"seconds_ago\":3},\"sms\":[],\"problems\":[],"         \
	"\"warnings\":[]}"
#define MEMBERS                                                                                    \
	"{\"serial\":1,\"members\":["                                                              \
	"{\"p_key\":\"0x7fff\",\"name\":\"Default\",\"origin\":\"file\",\"ipoib\":true,"           \
	"\"all\":\"full\",\"full\":[],\"limited\":[],\"both\":[],\"absent\":[]},"                  \
	"{\"p_key\":\"0x0020\",\"name\":\"Jobs\",\"origin\":\"run time\",\"ipoib\":true,"          \
	"\"mtu\":5,\"rate\":3,\"sl\":2,\"all\":\"none\","                                          \
	"\"full\":[\"0x0000000000000102\",\"0x0000000000000101\"],"                                \
	"\"limited\":[\"0x0000000000000103\"],\"both\":[],\"absent\":[\"0x0000000000000102\"]}]}"
#define COUNTS "{\"partitions\":[{\"p_key\":\"0x0020\",\"full\":1,\"limited\":1}]}"

static struct facts *facts_of_master(void)
{
	struct facts *facts = facts_new();

	facts_take_status(facts, STATUS("Master", ""));
	facts_take_health(facts, HEALTH);
	facts_take_members(facts, MEMBERS);
	facts_take_counts(facts, COUNTS);
	return facts;
}

/* As "1.2.3". */
static struct oid oid_of_text(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, ".", -1);
	struct oid oid = {0};

	for (char **word = words; *word; word++)
		oid_add(&oid, (uint32_t)g_ascii_strtoull(*word, NULL, 10));
	return oid;
}

/* "OID=VALUE", or "OID=none". */
static char *shown(const struct facts *facts, const char *text)
{
	struct mib_rows rows[MIB_TABLES];
	struct oid oid = oid_of_text(text);
	struct mib_value value;

	facts_rows(facts, rows);
	if (mib_get(rows, &oid, &value) != MIB_FOUND)
		return g_strdup_printf("%s=none", text);
	if (value.type == MIB_OCTETS)
		return g_strdup_printf("%s=%.*s", text, (int)value.length,
				       (const char *)value.octets);
	return g_strdup_printf("%s=%" G_GUINT64_FORMAT, text, value.number);
}

static void expect(const struct facts *facts, const char *expected)
{
	g_auto(GStrv) halves = g_strsplit(expected, "=", 2);
	g_autofree char *is = shown(facts, halves[0]);

	ck_assert_str_eq(is, expected);
}

static const char *const values_of_master[] = {
	"1.1.0=3",
	"1.3.0=3",
	"1.5.0=1",
	"1.6.0=1",
	"1.7.0=",
	"1.8.0=7",
	"1.9.0=heavy",
	"1.10.0=2",
	"1.11.0=2",
	"1.12.0=3",
	"1.13.0=20",
	"1.19.0=OpenSM 4",
	"1.1=none",
	"1.1.1=none",
	"1.20.0=none",
	"9.1.0=none",
	"2.1.2.1=smp_sent",
	"2.1.3.1=18446744",
	"2.1.2.2=sa_received",
	"2.1.2.3=none",
	"2.1.1.1=none",
	"3.1.2.32=Jobs",
	"3.1.3.32=1",
	"3.1.4.32=5",
	"3.1.5.32=3",
	"3.1.6.32=2",
	"3.1.7.32=0",
	"3.1.8.32=1",
	"3.1.9.32=1",
	"3.1.10.32=2",
	"3.1.11.32=1",
	"3.1.2.32767=Default",
	"3.1.7.32767=1",
	"3.1.10.32767=1",
	"3.1.2.33=none",
	"4.1.3.32.0.0.0.0.0.0.1.1=1",
	"4.1.4.32.0.0.0.0.0.0.1.1=2",
	"4.1.3.32.0.0.0.0.0.0.1.2=1",
	"4.1.4.32.0.0.0.0.0.0.1.2=1",
	"4.1.3.32.0.0.0.0.0.0.1.3=2",
	"4.1.5.32.0.0.0.0.0.0.1.3=1",
	"4.1.3.32.0.0.0.0.0.0.1.4=none",
	"4.1.3.32.0.0.0.0.0.0.1=none",
	"5.1.2.1=none",
};

START_TEST(values)
{
	struct facts *facts = facts_of_master();

	expect(facts, values_of_master[_i]);
	facts_free(facts);
}
END_TEST

/* Only that no daemon answers is known then, or that no subnet is known. */
START_TEST(without_daemon)
{
	struct facts *facts = facts_of_master();

	facts_take_status(facts, NULL);
	facts_take_health(facts, NULL);
	expect(facts, "1.1.0=4");
	expect(facts, "1.5.0=2");
	expect(facts, "1.3.0=none");
	expect(facts, "1.6.0=none");
	expect(facts, "1.12.0=none");
	expect(facts, "2.1.2.1=none");
	expect(facts, "3.1.2.32=none");
	facts_take_status(facts, STATUS("Standby", ""));
	expect(facts, "1.1.0=2");
	expect(facts, "1.3.0=3");
	expect(facts, "1.13.0=none");
	expect(facts, "3.1.2.32=none");
	expect(facts, "4.1.3.32.0.0.0.0.0.0.1.1=none");
	facts_free(facts);
}
END_TEST

static const char *const wrong_answers[] = {
	"",
	"x",
	"[]",
	"{}",
	"{\"members\":7}",
	"{\"members\":[7,null,[],{}]}",
	"{\"members\":[{\"p_key\":\"0x12345\",\"full\":[\"0x1\"]}]}",
	"{\"members\":[{\"p_key\":\"32\"}]}",
	"{\"members\":[{\"p_key\":32}]}",
	"{\"members\":[{\"p_key\":\"0x0\"}],\"counters\":[],\"problems\":[1],\"sms\":[[]]}",
	"{\"ports\":[null],\"replication\":{\"standbys\":[3]},\"subnet\":3,\"sm_state\":{}}",
};

START_TEST(wrong_answers_leave_nothing)
{
	struct facts *facts = facts_of_master();
	const char *text = wrong_answers[_i];

	facts_take_members(facts, text);
	facts_take_counts(facts, text);
	facts_take_health(facts, text);
	facts_take_unhealthy(facts, text);
	facts_take_status(facts, text);
	expect(facts, "1.1.0=4");
	ck_assert_uint_eq(facts->partitions->len, 0);
	ck_assert_uint_eq(facts->members->len, 0);
	ck_assert_uint_eq(facts->unhealthy->len, 0);
	ck_assert_uint_eq(facts->counters->len, 0);
	facts_free(facts);
}
END_TEST

START_TEST(odd_members)
{
	struct facts *facts = facts_of_master();

	facts_take_members(facts, "{\"members\":[{\"p_key\":\"0x1\",\"name\":5,\"full\":[1,null,{},"
				  "\"0x5\",\"0x5\",\"\",\"x\",\"0x0\",\"0x123456789012345678\"],"
				  "\"limited\":[\"0x5\"]}]}");
	ck_assert_uint_eq(facts->members->len, 1);
	expect(facts, "3.1.2.1=");
	expect(facts, "4.1.5.1.0.0.0.0.0.0.0.5=1");
	facts_free(facts);
}
END_TEST

/* Each instance once, in order, wherever the walk begins. */
START_TEST(walk)
{
	struct facts *facts = facts_of_master();
	struct mib_rows rows[MIB_TABLES];
	struct oid oid = {0}, before = {0};
	struct mib_value value;
	unsigned int n = 0;

	facts_rows(facts, rows);
	for (; mib_next(rows, &oid, &value); n++) {
		struct mib_value again;
		struct oid parent = oid;

		ck_assert_int_lt(oid_compare(&before, &oid), 0);
		ck_assert_int_eq(mib_get(rows, &oid, &again), MIB_FOUND);
		ck_assert_uint_eq(again.number, value.number);
		/* From between the one before and this one. */
		parent.n--;
		if (oid_compare(&before, &parent) <= 0) {
			ck_assert(mib_next(rows, &parent, &value));
			ck_assert_int_eq(oid_compare(&parent, &oid), 0);
		}
		before = oid;
	}
	/* Scalars, 2 counters, 2 partitions, 3 members. */
	ck_assert_uint_eq(n, 19 + 2 * 2 + 2 * 10 + 3 * 3);
	facts_free(facts);
}
END_TEST

START_TEST(long_text)
{
	g_autofree char *text = g_strnfill(MIB_TEXT_MAX - 1, 'x');
	g_autofree char *longer = g_strconcat(text, "\xc3\xa4", "y", NULL);
	struct mib_value value = {0};

	mib_set_text(&value, longer);
	ck_assert_uint_eq(value.length, MIB_TEXT_MAX - 1);
	mib_set_text(&value, text);
	ck_assert_uint_eq(value.length, MIB_TEXT_MAX - 1);
}
END_TEST

/* ---- SETs ---- */

/*
 * A SET as "OID=NUMBER OID='TEXT' ...", and what becomes of it: the definitions for the daemon, or
 * "error N at BINDING".
 */
struct set {
	const char *bindings, *expected;
};

#define EXISTING "existing strict: "
#define MEMBER(column, guid) "4.1." column ".32.0.0.0.0.0.0.1." guid
static const struct set sets[] = {
	{MEMBER("5", "9") "=4", EXISTING "0x0020: 0x0000000000000109=limited,;"},
	{MEMBER("5", "9") "=4 " MEMBER("3", "9") "=1",
	 EXISTING "0x0020: 0x0000000000000109=full,;"},
	{MEMBER("3", "9") "=3 " MEMBER("5", "9") "=4",
	 EXISTING "0x0020: 0x0000000000000109=both,;"},
	{MEMBER("5", "1") "=6", EXISTING "0x0020: 0x0000000000000101=none,;"},
	{MEMBER("3", "1") "=2", EXISTING "0x0020: 0x0000000000000101=limited,;"},
	{MEMBER("3", "1") "=2 " MEMBER("5", "9") "=4",
	 EXISTING "0x0020: 0x0000000000000101=limited, 0x0000000000000109=limited,;"},
	/* What does not exist may be destroyed; the rest is done. */
	{MEMBER("5", "9") "=6", "nothing"},
	{MEMBER("5", "9") "=6 " MEMBER("5", "1") "=6",
	 EXISTING "0x0020: 0x0000000000000101=none,;"},
	{"3.1.11.16=6", "nothing"},
	{"3.1.11.32=6", "forget 0x0020"},
	{"3.1.11.16=4", "strict: 0x0010,stays:;"},
	{"3.1.11.16=4 3.1.2.16='a.B_c-9' 3.1.3.16=1 3.1.4.16=5 3.1.5.16=16 3.1.6.16=15",
	 "strict: a.B_c-9=0x0010,ipoib,mtu=5,rate=16,sl=15,stays:;"},
	/* A partition and its members at once, whatever the order. */
	{"4.1.5.16.0.0.0.0.0.0.1.1=4 3.1.11.16=4 " MEMBER("5", "2") "=6",
	 "strict: 0x0010,stays: 0x0000000000000101=limited,; 0x0020: 0x0000000000000102=none,;"},
	{"3.1.3.32=2 3.1.6.32=0", EXISTING "0x0020,ipoib=no,sl=0:;"},
	/* Rows that are not there, or are. */
	{MEMBER("3", "9") "=1", "error 18 at 0"},
	{"4.1.5.16.0.0.0.0.0.0.1.1=4", "error 18 at 0"},
	{"3.1.3.16=1", "error 18 at 0"},
	{MEMBER("3", "1") "=1 " MEMBER("5", "1") "=4", "error 12 at 1"},
	{"3.1.11.32=4", "error 12 at 0"},
	{MEMBER("5", "9") "=1", "error 12 at 0"},
	{"3.1.11.32=6 " MEMBER("5", "9") "=4", "error 12 at 0"},
	{MEMBER("3", "1") "=1 " MEMBER("3", "1") "=2", "error 12 at 1"},
	/* createAndWait, notInService, notReady; and other values that are not of the type. */
	{MEMBER("5", "9") "=5", "error 10 at 0"},
	{MEMBER("5", "1") "=2", "error 10 at 0"},
	{MEMBER("5", "1") "=3", "error 10 at 0"},
	{MEMBER("5", "1") "=0", "error 10 at 0"},
	{MEMBER("5", "1") "=7", "error 10 at 0"},
	{MEMBER("3", "1") "=0", "error 10 at 0"},
	{MEMBER("3", "1") "=4", "error 10 at 0"},
	{"3.1.3.32=0", "error 10 at 0"},
	{"3.1.4.32=0", "error 10 at 0"},
	{"3.1.4.32=6", "error 10 at 0"},
	{"3.1.5.32=1", "error 10 at 0"},
	{"3.1.5.32=25", "error 10 at 0"},
	{"3.1.6.32=-1", "error 10 at 0"},
	{"3.1.6.32=16", "error 10 at 0"},
	{"3.1.6.32='1'", "error 7 at 0"},
	{"3.1.2.32=1", "error 7 at 0"},
	{"3.1.6.32=1 3.1.2.32=1", "error 7 at 1"},
	/* Names that would be more than a name. */
	{"3.1.2.32=''", "error 10 at 0"},
	{"3.1.2.32='9'", "error 10 at 0"},
	{"3.1.2.32='a=0x30:ALL'", "error 10 at 0"},
	{"3.1.2.32='a;'", "error 10 at 0"},
	{"3.1.2.32='a,ipoib'", "error 10 at 0"},
	{"3.1.2.32='a\nb'", "error 10 at 0"},
	{"3.1.2.32='a\"b'", "error 10 at 0"},
	{"3.1.2.32='\xc3\xa4'", "error 10 at 0"},
	{"3.1.2.32='aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
	 "error 8 at 0"},
	/* What cannot be written, and indexes of no row. */
	{"1.1.0=3", "error 17 at 0"},
	{"2.1.3.1=0", "error 17 at 0"},
	{"3.1.8.32=1", "error 17 at 0"},
	{"3.1.2.32767='x'", "error 17 at 0"},
	{"3.1.11.32767=6", "error 17 at 0"},
	{"4.1.5.32767.0.0.0.0.0.0.1.1=4", "error 17 at 0"},
	{"3.1.12.32=1", "error 11 at 0"},
	{"3.1.11.0=4", "error 11 at 0"},
	{"3.1.11.32768=4", "error 11 at 0"},
	{"3.1.11.16.1=4", "error 11 at 0"},
	{"3.1.11=4", "error 11 at 0"},
	{"4.1.5.32.0.0.0.0.0.0.1=4", "error 11 at 0"},
	{"4.1.5.32.0.0.0.0.0.0.1.256=4", "error 11 at 0"},
	{"4.1.5.32.0.0.0.0.0.0.0.0=4", "error 11 at 0"},
	{"7.1.0=4", "error 11 at 0"},
};

static void add_binding(GArray *binds, const char *word)
{
	g_auto(GStrv) halves = g_strsplit(word, "=", 2);
	struct change_bind bind = {.oid = oid_of_text(halves[0]), .type = MIB_INTEGER};
	const char *text = strchr(word, '=') + 1;

	bind.number = g_ascii_strtoll(text, NULL, 10);
	if (*text == '\'') {
		bind.type = MIB_OCTETS;
		bind.octets = text + 1;
		bind.length = strlen(text) - 2;
	}
	g_array_append_val(binds, bind);
}

static char *planned(const struct facts *facts, const char *bindings)
{
	g_auto(GStrv) words = g_strsplit(bindings, " ", -1);
	g_autoptr(GArray) binds = g_array_new(FALSE, FALSE, sizeof(struct change_bind));
	g_autofree char *line = NULL;
	const char *strict;
	unsigned int at;
	enum change_error error;
	GString *out;

	for (char **word = words; *word; word++)
		add_binding(binds, *word);
	error = change_plan(facts, (struct change_bind *)binds->data, binds->len, &at, &line);
	if (error)
		return g_strdup_printf("error %d at %u", (int)error, at);
	if (!line)
		return g_strdup("nothing");
	ck_assert(g_str_has_suffix(line, " json"));
	out = g_string_new_len(line, (gssize)strlen(line) - 5);
	g_string_replace(out, "partitions change merge ", "", 0);
	g_string_replace(out, "partitions forget wait 0 by snmp", "forget", 0);
	strict = "strict wait 0 by snmp ";
	g_string_replace(out, strict, "strict: ", 0);
	return g_string_free(out, FALSE);
}

START_TEST(set_becomes_command)
{
	struct facts *facts = facts_of_master();
	g_autofree char *is = planned(facts, sets[_i].bindings);

	ck_assert_str_eq(is, sets[_i].expected);
	facts_free(facts);
}
END_TEST

START_TEST(only_master_takes_sets)
{
	struct facts *facts = facts_of_master();
	g_autofree char *standby = NULL, *none = NULL, *wrong = NULL;

	facts_take_status(facts, STATUS("Standby", ""));
	standby = planned(facts, MEMBER("5", "9") "=4");
	ck_assert_str_eq(standby, "error 13 at 0");
	wrong = planned(facts, MEMBER("5", "9") "=5");
	ck_assert_str_eq(wrong, "error 10 at 0");
	facts_take_status(facts, NULL);
	none = planned(facts, MEMBER("5", "9") "=4");
	ck_assert_str_eq(none, "error 13 at 0");
	facts_free(facts);
}
END_TEST

/* All of a large SET is one command. */
START_TEST(large_set)
{
	struct facts *facts = facts_of_master();
	g_autoptr(GString) bindings = g_string_new("3.1.11.16=4");
	g_autofree char *is = NULL;

	for (unsigned int i = 1; i <= 1000; i++)
		g_string_append_printf(bindings, " 4.1.5.16.0.0.0.0.0.0.%u.%u=4", i / 256, i % 256);
	is = planned(facts, bindings->str);
	ck_assert(g_str_has_prefix(is, "strict: 0x0010,stays: 0x0000000000000001=limited, "));
	ck_assert(g_str_has_suffix(is, " 0x00000000000003e8=limited,;"));
	ck_assert_uint_eq(strlen(is), strlen("strict: 0x0010,stays:;") + 1000 * 28);
	facts_free(facts);
}
END_TEST

static const struct result {
	unsigned int status;
	const char *output;
	enum change_error error;
	const char *why;
} results[] = {
	{CONTROL_DONE, "{\"serial\":2,\"in_effect\":false,\"kept\":true}", CHANGE_GOOD, NULL},
	{CONTROL_DONE, "{\"serial\":2,\"in_effect\":true,\"kept\":false}", CHANGE_COMMIT_FAILED,
	 "another SM is master now and may not know it"},
	{CONTROL_FAILED, "{\"error\":\"no room\",\"kind\":\"impossible\"}", CHANGE_COMMIT_FAILED,
	 "no room"},
	{CONTROL_UNREACHABLE, "the daemon ended", CHANGE_COMMIT_FAILED, "the daemon ended"},
	{CONTROL_DONE, "", CHANGE_COMMIT_FAILED, ""},
};

START_TEST(results_of_sets)
{
	const struct result *result = &results[_i];
	g_autofree char *why = NULL;

	ck_assert_int_eq(change_result(result->status, result->output, &why), result->error);
	ck_assert_pstr_eq(why, result->why);
}
END_TEST

/* ---- notifications ---- */

/* All that wait, as "NUMBER COUNT TEXT; ...", a second from each other. */
static char *told(struct notices *notices, gint64 *now)
{
	GString *out = g_string_new(NULL);
	struct notice notice;

	for (; notices_due(notices) >= 0; *now += NOTICES_INTERVAL_US) {
		ck_assert(notices_take(notices, *now, &notice));
		ck_assert(!notices_take(notices, *now, &(struct notice){0}));
		g_string_append_printf(out, "%u %u %s; ", notice_number(notice.kind), notice.count,
				       notice.text);
		notice_clear(&notice);
	}
	return g_string_free(out, FALSE);
}

static void expect_told(struct notices *notices, gint64 *now, const struct facts *facts,
			const char *expected)
{
	g_autofree char *is = NULL;

	notices_look(notices, facts);
	is = told(notices, now);
	ck_assert_str_eq(is, expected);
}

/* Of the events of a journal each that matters is told, also if it comes twice. */
START_TEST(events_are_told)
{
	static const char events[] =
		"{\"events\":[{\"change\":\"link_down\",\"guid\":\"0x0000000000000007\","
		"\"text\":\"link down: a 1 to b 2\"},{\"kind\":\"sweep\",\"text\":\"x\"},"
		"{\"change\":\"link_up\",\"text\":\"up\"},7,null,{\"change\":[]},"
		"{\"change\":\"nodes_gone\",\"guid\":3,\"text\":\"host h is gone\"},"
		"{\"change\":\"link_down\",\"guid\":\"0x0000000000000008\",\"text\":\"again\"}]}";
	g_autoptr(GBytes) octets = g_bytes_new_static(events, strlen(events));
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonArray *list = json_list(json_read(parser, octets), "events");
	struct notices *notices = notices_new();
	struct facts *facts = facts_of_master();
	g_autofree char *is = NULL;
	struct notice notice;
	gint64 now = 5;

	notices_read(notices, facts, NULL);
	ck_assert_int_eq(notices_due(notices), -1);
	notices_read(notices, facts, list);
	ck_assert(notices_take(notices, now, &notice));
	ck_assert_uint_eq(notice.guid, 8);
	ck_assert_uint_eq(notice.count, 2);
	notice_clear(&notice);
	now += NOTICES_INTERVAL_US;
	is = told(notices, &now);
	ck_assert_str_eq(is, "8 1 host h is gone; ");
	facts_free(facts);
	notices_free(notices);
}
END_TEST

/* A change is not in effect yet, so that the counts do not have it. */
START_TEST(counted_at_once)
{
	struct facts *facts = facts_of_master();

	facts_take_members(facts, "{\"members\":["
				  "{\"p_key\":\"0x1\",\"all\":\"none\","
				  "\"full\":[\"0x1\",\"0x2\",\"0x9\"],\"both\":[\"0x3\"],"
				  "\"limited\":[\"0x4\"],\"absent\":[\"0x9\"]},"
				  "{\"p_key\":\"0x2\",\"all\":\"full\"}]}");
	facts_take_counts(facts, "{\"partitions\":["
				 "{\"p_key\":\"0x0001\",\"full\":0,\"limited\":0},"
				 "{\"p_key\":\"0x0002\",\"full\":7,\"limited\":8}]}");
	expect(facts, "3.1.8.1=3");
	expect(facts, "3.1.9.1=2");
	expect(facts, "3.1.8.2=7");
	expect(facts, "3.1.9.2=8");
	facts_free(facts);
}
END_TEST

#define ERRORS ",\"subnet_flags\":{\"init_errors\":true}"

START_TEST(what_is_told)
{
	struct notices *notices = notices_new();
	struct facts *facts = facts_new();
	gint64 now = 1;

	expect_told(notices, &now, facts, "");
	facts_take_status(facts, STATUS("Discovering", ""));
	facts_take_health(facts, HEALTH);
	expect_told(notices, &now, facts, "1 1 discovering, was unreachable; ");
	facts_take_status(facts, STATUS("Master", ""));
	expect_told(notices, &now, facts, "1 1 master, was discovering; 2 1 MASTER, subnet up; ");
	expect_told(notices, &now, facts, "");
	facts_take_status(facts, STATUS("Master", ERRORS));
	expect_told(notices, &now, facts, "3 1 MASTER, subnet up; ");
	facts_take_status(facts, STATUS("Master", ""));
	expect_told(notices, &now, facts, "2 1 MASTER, subnet up; ");
	facts_take_status(facts, NULL);
	facts_take_health(facts, NULL);
	expect_told(notices, &now, facts, "1 1 unreachable, was master; ");
	notices_free(notices);
	facts_free(facts);
}
END_TEST

START_TEST(partitions_ports_and_standbys)
{
	struct notices *notices = notices_new();
	struct facts *facts = facts_of_master();
	const char *health = "{\"problems\":[{\"subject\":\"links\",\"text\":\"slow\"}],"
			     "\"warnings\":[{\"subject\":\"partitions\",\"text\":\"full\"},"
			     "{\"subject\":\"partitions\",\"text\":\"fuller\"}]}";
	const char *ports = "{\"ports\":[{\"switch\":\"leaf\",\"switch_guid\":\"0x9\",\"port\":4,"
			    "\"why\":\"flaps\",\"action\":\"report\"}]}";
	gint64 now = 1;

	facts_take_status(facts, STATUS("Master", ",\"replication\":{\"standbys\":[{\"guid\":"
						  "\"0x5\",\"in_step\":true}]}"));
	expect_told(notices, &now, facts, "");
	facts_take_health(facts, health);
	/* Two that came at once are one, and say so. */
	expect_told(notices, &now, facts, "4 2 partitions: fuller; ");
	facts_take_unhealthy(facts, ports);
	expect_told(notices, &now, facts, "5 1 port 4 of leaf: flaps, action: report; ");
	expect_told(notices, &now, facts, "");
	facts_take_status(facts, STATUS("Master", ""));
	expect_told(notices, &now, facts,
		    "6 1 SM 0x0000000000000005 no longer has what it needs to take over; ");
	/* A daemon that comes back with them has no news. */
	facts_take_status(facts, NULL);
	facts_take_health(facts, NULL);
	facts_take_unhealthy(facts, NULL);
	expect_told(notices, &now, facts, "1 1 unreachable, was master; ");
	facts_take_status(facts, STATUS("Master", ""));
	facts_take_health(facts, health);
	facts_take_unhealthy(facts, ports);
	expect_told(notices, &now, facts, "1 1 master, was unreachable; 2 1 ; ");
	notices_free(notices);
	facts_free(facts);
}
END_TEST

/* However often the state changes, one a second is told, and how many there were. */
START_TEST(many_are_summed)
{
	struct notices *notices = notices_new();
	struct facts *facts = facts_of_master();
	struct notice notice;

	notices_look(notices, facts);
	for (unsigned int i = 0; i < 10; i++) {
		facts_take_status(facts, i % 2 ? STATUS("Master", "") : NULL);
		notices_look(notices, facts);
	}
	ck_assert(notices_take(notices, 5, &notice));
	ck_assert_uint_eq(notice.count, 10);
	ck_assert_str_eq(notice.text, "master, was unreachable");
	notice_clear(&notice);
	ck_assert_int_eq(notices_due(notices), 5 + NOTICES_INTERVAL_US);
	ck_assert(!notices_take(notices, 4 + NOTICES_INTERVAL_US, &notice));
	ck_assert(notices_take(notices, 5 + NOTICES_INTERVAL_US, &notice));
	ck_assert_uint_eq(notice.count, 5);
	notice_clear(&notice);
	ck_assert_int_eq(notices_due(notices), -1);
	notices_free(notices);
	facts_free(facts);
}
END_TEST

/* ---- the MIB ---- */

/* The text from the definition of an object to the end of it. */
static char *definition(const char *mib, const char *name, const char *macro)
{
	g_autofree char *head = g_strdup_printf("\n%s %s\n", name, macro);
	const char *from = strstr(mib, head), *to = from ? strstr(from, "\n    ::= {") : NULL;

	ck_assert_msg(to, "%s is not defined", name);
	return g_strndup(from, (gsize)(strchr(to + 1, '\n') - from));
}

static const char *syntax_of(enum mib_type type)
{
	static const char *const texts[] = {
		[MIB_INTEGER] =
			"SYNTAX (INTEGER|Integer32|TruthValue|RowStatus|Opensm(State|Alarm))",
		[MIB_GAUGE] = "SYNTAX Gauge32\\b",
		[MIB_COUNTER64] = "SYNTAX Counter64\\b",
		[MIB_OCTETS] = "SYNTAX (OCTET STRING|OpensmText|OpensmGuid)\\b",
	};

	return texts[type];
}

START_TEST(mib_has_the_objects)
{
	static const char *const parents[MIB_TABLES] = {
		"opensmSm",	     "opensmCounterEntry", "opensmPartitionEntry",
		"opensmMemberEntry", "opensmNodeEntry",	   "opensmPortEntry"};
	const struct mib_object_info *object = &mib_objects[_i];
	g_autofree char *mib = NULL, *text = NULL, *end = NULL;

	ck_assert(g_file_get_contents(SOURCE_DIR "/config/OPENSM-MIB.txt", &mib, NULL, NULL));
	text = definition(mib, object->name, "OBJECT-TYPE");
	end = g_strdup_printf("\n    ::= { %s %u }", parents[object->table], object->number);
	ck_assert_msg(g_str_has_suffix(text, end), "%s", text);
	ck_assert_msg(
		strstr(text, object->writable ? "MAX-ACCESS read-create" : "MAX-ACCESS read-only"),
		"%s", text);
	ck_assert_msg(g_regex_match_simple(syntax_of(object->type), text, 0, 0), "%s", text);
}
END_TEST

/* Nothing that can be read stands there and nowhere else. */
START_TEST(mib_has_no_more)
{
	g_autofree char *mib = NULL;
	unsigned int readable = 0;

	ck_assert(g_file_get_contents(SOURCE_DIR "/config/OPENSM-MIB.txt", &mib, NULL, NULL));
	for (const char *at = mib; (at = strstr(at, "MAX-ACCESS read-")); at++)
		readable++;
	ck_assert_uint_eq(readable, MIB_OBJECTS);
#define NOTICE(number, symbol, name)                                                               \
	{                                                                                          \
		g_autofree char *text = definition(mib, name, "NOTIFICATION-TYPE");                \
		ck_assert(g_str_has_suffix(text, "{ opensmNotifications " #number " }"));          \
	}
#include "snmp/notices.def"
#undef NOTICE
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("snmp rows");
	TCase *rows = tcase_create("rows"), *changes = tcase_create("changes");
	TCase *notices = tcase_create("notices"), *mib = tcase_create("mib");

	tcase_add_loop_test(rows, values, 0, G_N_ELEMENTS(values_of_master));
	tcase_add_test(rows, without_daemon);
	tcase_add_loop_test(rows, wrong_answers_leave_nothing, 0, G_N_ELEMENTS(wrong_answers));
	tcase_add_test(rows, odd_members);
	tcase_add_test(rows, walk);
	tcase_add_test(rows, long_text);
	suite_add_tcase(suite, rows);
	tcase_add_loop_test(changes, set_becomes_command, 0, G_N_ELEMENTS(sets));
	tcase_add_test(changes, only_master_takes_sets);
	tcase_add_test(changes, large_set);
	tcase_add_loop_test(changes, results_of_sets, 0, G_N_ELEMENTS(results));
	suite_add_tcase(suite, changes);
	tcase_add_test(notices, what_is_told);
	tcase_add_test(notices, events_are_told);
	tcase_add_test(notices, counted_at_once);
	tcase_add_test(notices, partitions_ports_and_standbys);
	tcase_add_test(notices, many_are_summed);
	suite_add_tcase(suite, notices);
	tcase_add_loop_test(mib, mib_has_the_objects, 0, MIB_OBJECTS);
	tcase_add_test(mib, mib_has_no_more);
	suite_add_tcase(suite, mib);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What opensm-snmp asks a daemon, and how often. */
#include <check.h>
#include <string.h>

#include "client/control.h"
#include "snmp/mirror.h"
#include "snmp/news.h"
#include "tests/run_suite.h"
#include "tests/unit/fake_daemon.h"

#define STATUS "{\"sm_state\":\"Master\",\"has_subnet\":true}"

/* A daemon with one partition, of which a change makes another one. */
struct stage {
	struct fake_daemon *fake;
	struct mirror *mirror;
	GString *lines; /* that the daemon was sent */
	unsigned int p_key;
	unsigned int expected, done; /* calls */
	bool all, dies;
	unsigned int status;
	char *output;
};

static char *reply_to(void *arg, const char *line, bool *close)
{
	struct stage *stage = arg;

	g_string_append_printf(stage->lines, "%s; ", line);
	*close = stage->dies && g_str_has_prefix(line, "partitions change");
	if (*close)
		return NULL;
	if (!strcmp(line, "status json"))
		return fake_record(0, STATUS);
	if (!strcmp(line, "health json")) /* its status is that of a problem */
		return fake_record(12, "{\"healthy\":false,\"problems\":[{\"subject\":\"a\","
				       "\"text\":\"b\"}]}");
	if (!strcmp(line, "partitions members json")) {
		g_autofree char *text = g_strdup_printf(
			"{\"members\":[{\"p_key\":\"0x%04x\",\"origin\":\"run time\"}]}",
			stage->p_key);

		return fake_record(0, text);
	}
	if (g_str_has_prefix(line, "partitions change"))
		stage->p_key++;
	return fake_record(0, "{\"kept\":true,\"serial\":7}");
}

static struct stage *stage_new(void)
{
	struct stage *stage = g_new0(struct stage, 1);

	stage->lines = g_string_new(NULL);
	stage->p_key = 1;
	stage->fake = fake_daemon_new(reply_to, stage);
	stage->mirror = mirror_new(fake_daemon_path(stage->fake));
	return stage;
}

static void stage_free(struct stage *stage)
{
	mirror_free(stage->mirror);
	fake_daemon_free(stage->fake);
	g_string_free(stage->lines, TRUE);
	g_free(stage->output);
	g_free(stage);
}

static void on_done(void *arg)
{
	struct stage *stage = arg;

	stage->all = ++stage->done == stage->expected;
}

static void on_changed(void *arg, unsigned int status, const char *output)
{
	struct stage *stage = arg;

	stage->status = status;
	stage->output = g_strdup(output);
	on_done(arg);
}

static void wait_for(struct stage *stage, unsigned int expected)
{
	stage->expected = expected;
	stage->done = 0;
	stage->all = false;
	ck_assert(fake_run_until(&stage->all));
}

/* Ten that want to know cost one question each, and for a second nothing is asked again. */
START_TEST(asked_once)
{
	struct stage *stage = stage_new();
	const struct facts *facts = mirror_facts(stage->mirror);

	for (unsigned int i = 0; i < 10; i++)
		ck_assert(
			mirror_want(stage->mirror, MIRROR_STATUS | MIRROR_POLICY, on_done, stage));
	wait_for(stage, 10);
	ck_assert_ptr_nonnull(strstr(stage->lines->str, "status json; "));
	ck_assert_uint_eq(stage->lines->len, strlen("status json; health json; unhealthy json; "
						    "partitions members json; partitions json; "));
	ck_assert_int_eq(facts->state, FACTS_MASTER);
	ck_assert_str_eq(facts->problems, "a: b");
	ck_assert(facts_partition(facts, 1));
	ck_assert(!mirror_want(stage->mirror, MIRROR_STATUS | MIRROR_POLICY, on_done, stage));
	mirror_forget(stage->mirror, MIRROR_POLICY);
	ck_assert(!mirror_want(stage->mirror, MIRROR_STATUS, on_done, stage));
	ck_assert(mirror_want(stage->mirror, MIRROR_POLICY, on_done, stage));
	wait_for(stage, 1);
	stage_free(stage);
}
END_TEST

/* Although what was known is young. */
START_TEST(changes_are_seen)
{
	struct stage *stage = stage_new();

	ck_assert(mirror_want(stage->mirror, MIRROR_POLICY, on_done, stage));
	wait_for(stage, 1);
	mirror_change(stage->mirror, "partitions change x json", on_changed, stage);
	wait_for(stage, 1);
	ck_assert_uint_eq(stage->status, 0);
	ck_assert_str_eq(stage->output, "{\"kept\":true,\"serial\":7}");
	ck_assert(mirror_want(stage->mirror, MIRROR_POLICY, on_done, stage));
	wait_for(stage, 1);
	ck_assert(facts_partition(mirror_facts(stage->mirror), 2));
	stage_free(stage);
}
END_TEST

/* What the daemon had is not known any more when it has gone. */
START_TEST(daemon_dies)
{
	struct stage *stage = stage_new();

	ck_assert(mirror_want(stage->mirror, MIRROR_STATUS | MIRROR_POLICY, on_done, stage));
	wait_for(stage, 1);
	stage->dies = true;
	mirror_change(stage->mirror, "partitions change x json", on_changed, stage);
	wait_for(stage, 1);
	ck_assert_uint_eq(stage->status, CONTROL_UNREACHABLE);
	fake_daemon_kill(stage->fake);
	mirror_forget(stage->mirror, MIRROR_STATUS | MIRROR_POLICY);
	ck_assert(mirror_want(stage->mirror, MIRROR_STATUS | MIRROR_POLICY, on_done, stage));
	wait_for(stage, 1);
	ck_assert_int_eq(mirror_facts(stage->mirror)->state, FACTS_UNREACHABLE);
	ck_assert_uint_eq(mirror_facts(stage->mirror)->partitions->len, 0);
	stage_free(stage);
}
END_TEST

/* ---- news ---- */

static char *tell_news(void *arg, const char *line, bool *close)
{
	struct stage *stage = arg;
	g_autofree char *text = NULL;

	(void)close;
	g_string_append_printf(stage->lines, "%s; ", line);
	text = g_strdup_printf("{\"serial\":%u,\"more\":%s,\"events\":[{\"serial\":%u}]}",
			       stage->p_key, stage->p_key == 2 ? "true" : "false", stage->p_key);
	stage->p_key++;
	return fake_record(0, text);
}

static void on_news(void *arg, JsonArray *events)
{
	struct stage *stage = arg;

	g_string_append_printf(stage->lines, "%u events; ", json_rows(events));
	on_done(stage);
}

/* It goes on from the last news, at once if there are more, and tells no old ones. */
START_TEST(news_go_on)
{
	struct stage *stage = g_new0(struct stage, 1);
	struct news *news;

	stage->lines = g_string_new(NULL);
	stage->p_key = 1;
	stage->fake = fake_daemon_new(tell_news, stage);
	news = news_new(fake_daemon_path(stage->fake), on_news, stage);
	wait_for(stage, 3);
	ck_assert_str_eq(stage->lines->str,
			 "events 1 json; 0 events; events since 1 wait 25 json; 1 events; "
			 "events since 2 wait 25 json; 1 events; ");
	news_free(news);
	stage_free(stage);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("snmp mirror");
	TCase *mirror = tcase_create("mirror");

	tcase_add_test(mirror, asked_once);
	tcase_add_test(mirror, changes_are_seen);
	tcase_add_test(mirror, daemon_dies);
	tcase_add_test(mirror, news_go_on);
	suite_add_tcase(suite, mirror);
	return suite;
}

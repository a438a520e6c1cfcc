// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A queue pair keeps the index of a P_Key table that it was opened with: a process that still uses
 * an index speaks in whichever partition gets that index next. So a vacated index is assigned last,
 * by any SM, in any number of changes; and that it was vacated is saved before its P_Key leaves.
 *
 * Checked is the P_Key table of one host in the simulated hardware, between all events.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/command/command.h"
#include "managers.h"
#include "policy/partition/partition.h"
#include "tests/run_suite.h"

#define ROOM_MAX 128

struct world {
	struct scenario *s;
	struct managers *m; /* NULL: there is one SM, that of s */
	unsigned int host;
	uint64_t guid;		 /* of its port */
	uint64_t smps, dies_at;	 /* counters: at the last check, and when the SM is to die */
	uint16_t last[ROOM_MAX]; /* last P_Key of each index */
	unsigned int reused;	 /* indexes that had another P_Key before */
	bool unkept;		 /* the file is not checked */
};

/* ---- the table ---- */

/* Before a P_Key leaves an index, the file has to say so. */
static void check_kept(const struct world *w, unsigned int index, uint16_t p_key)
{
	g_autofree char *file = g_build_filename(w->s->cache_dir, "pkey_indexes", NULL);
	g_autofree char *line =
		g_strdup_printf("0x%016" PRIx64 " %u 0x%04x ", w->guid, index, p_key);
	g_autofree char *text = NULL;

	if (w->unkept)
		return;
	if (!g_file_get_contents(file, &text, NULL, NULL) || !strstr(text, line))
		scenario_fail(w->s, "0x%04x has left index %u, which %s lacks", p_key, index, file);
}

static bool look(void *arg)
{
	struct world *w = arg;
	uint64_t smps = scenario_counters(w->s).smps;
	const uint16_t *keys;
	unsigned int n;

	if (smps == w->smps)
		return w->dies_at && smps >= w->dies_at;
	w->smps = smps;
	keys = sim_p_keys(w->s->sim, w->host, 1, &n);
	for (unsigned int i = 0; i < MIN(n, ROOM_MAX); i++) {
		if (w->last[i] && P_KEY_BASE(keys[i]) != P_KEY_BASE(w->last[i]) && !keys[i])
			check_kept(w, i, w->last[i]);
		if (!keys[i])
			continue;
		w->reused += w->last[i] && P_KEY_BASE(keys[i]) != P_KEY_BASE(w->last[i]);
		w->last[i] = keys[i];
	}
	return w->dies_at && smps >= w->dies_at;
}

/* The index of the P_Key, by its base; UINT_MAX: it has none. */
static unsigned int index_of(const struct world *w, uint16_t p_key)
{
	unsigned int n;
	const uint16_t *keys = sim_p_keys(w->s->sim, w->host, 1, &n);

	for (unsigned int i = 0; i < n; i++)
		if (keys[i] && P_KEY_BASE(keys[i]) == P_KEY_BASE(p_key))
			return i;
	return UINT_MAX;
}

static void run_ms(struct world *w, uint64_t ms)
{
	runtime_run(w->s->rt, look, w, runtime_now(w->s->rt) + ms * NS_PER_MS);
}

/* ---- worlds ---- */

static void find_host(struct world *w)
{
	w->host = scenario_node(w->s, "host-5");
	w->guid = sim_port_guid(w->s->sim, w->host, 1);
}

/* room: entries of the host's table; 0: as many as others have. */
static struct world *world_new(const char *conf, unsigned int room)
{
	g_autofree char *lines = g_strconcat("sweep_interval 5\n", conf, NULL);
	struct world *w = g_new0(struct world, 1);

	w->s = scenario_new("fattree:4", 1);
	scenario_conf(w->s, lines);
	find_host(w);
	if (room)
		sim_set_partition_cap(w->s->sim, w->host, (uint16_t)room);
	scenario_start(w->s);
	run_ms(w, 3000);
	ck_assert_uint_eq(w->last[0], 0xFFFF);
	return w;
}

static void world_free(struct world *w)
{
	scenario_free(w->s);
	g_free(w);
}

static void want(struct world *w, struct daemon *daemon, uint16_t p_key, const char *membership)
{
	g_autofree char *request =
		g_strdup_printf("0x%x: 0x%" PRIx64 "=%s;", p_key, w->guid, membership);
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	if (!daemon_change_partitions(daemon, request, 0, &serial, &error))
		scenario_fail(w->s, "%s: %s", request, error->message);
}

static void change(struct world *w, uint16_t p_key, const char *membership)
{
	want(w, w->s->daemon, p_key, membership);
	run_ms(w, 1000);
}

static void restart(struct world *w)
{
	scenario_stop(w->s);
	scenario_start(w->s);
	run_ms(w, 3000);
}

static char *health_of(struct daemon *daemon)
{
	struct command_env env = {.daemon = daemon};
	struct command_answer answer;

	command_run(&env, "health", true, &answer);
	return answer.text;
}

static void check_health(const struct world *w, const char *text, bool there)
{
	g_autofree char *health = health_of(w->s->daemon);

	ck_assert_msg(!strstr(health, text) != there, "%s %s in:\n%s", text,
		      there ? "is not" : "is", health);
}

/* ---- one SM ---- */

/* One change removes a P_Key, the next adds another: it gets another index; the first its own. */
START_TEST(two_changes)
{
	struct world *w = world_new("", 0);

	change(w, 0x11, "full");
	ck_assert_uint_eq(index_of(w, 0x11), 1);
	change(w, 0x11, "none");
	change(w, 0x12, "full");
	ck_assert_uint_eq(index_of(w, 0x12), 2);
	change(w, 0x11, "limited"); /* no reuse */
	ck_assert_uint_eq(index_of(w, 0x11), 1);
	change(w, 0x11, "full");
	ck_assert_uint_eq(index_of(w, 0x11), 1);
	ck_assert_uint_eq(w->reused, 0);
	scenario_check_log(w->s, "P_Key index", false);
	world_free(w);
}
END_TEST

START_TEST(after_a_restart)
{
	struct world *w = world_new("", 0);
	g_autofree char *file = g_build_filename(w->s->cache_dir, "pkey_indexes", NULL);
	GStatBuf status;

	change(w, 0x11, "full");
	change(w, 0x11, "none");
	restart(w);
	ck_assert_int_eq(g_stat(file, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	change(w, 0x12, "full");
	ck_assert_uint_eq(index_of(w, 0x12), 2);
	ck_assert_uint_eq(w->reused, 0);
	world_free(w);
}
END_TEST

/* A cable that was out meanwhile, and a reboot of the host in between. */
START_TEST(host_away)
{
	struct world *w = world_new("", 0);

	change(w, 0x11, "full");
	scenario_set_links(w->s, w->host, false);
	run_ms(w, 3000);
	change(w, 0x11, "none");
	if (_i)
		restart(w);
	scenario_set_links(w->s, w->host, true);
	run_ms(w, 15000);
	ck_assert_uint_eq(index_of(w, 0x11), UINT_MAX);
	change(w, 0x12, "full");
	ck_assert_uint_eq(index_of(w, 0x12), 2);
	ck_assert_uint_eq(w->reused, 0);
	world_free(w);
}
END_TEST

/* The SM dies after each SMP of the removal, or of the addition: the next one continues. */
START_TEST(crashes)
{
	struct world *w = world_new("", 0);
	unsigned int deaths = 0;
	uint16_t p_key = 0x100;

	for (uint64_t smps = 1; smps < 12; smps++, p_key += 2) {
		change(w, p_key, "full");
		ck_assert_uint_ne(index_of(w, p_key), UINT_MAX);
		for (unsigned int i = 0; i < 2; i++) {
			want(w, w->s->daemon, p_key + i, i ? "full" : "none");
			w->dies_at = scenario_counters(w->s).smps + smps;
			deaths += runtime_run(w->s->rt, look, w,
					      runtime_now(w->s->rt) + 300 * NS_PER_MS);
			w->dies_at = 0;
			restart(w);
		}
		ck_assert_uint_eq(index_of(w, p_key), UINT_MAX);
		ck_assert_uint_ne(index_of(w, p_key + 1), UINT_MAX);
		ck_assert_uint_eq(w->reused, 0);
	}
	ck_assert_uint_ge(deaths, 8);
	world_free(w);
}
END_TEST

/* If all others are taken, the index vacated longest ago is reused; log and health report it. */
START_TEST(oldest_first)
{
	struct world *w = world_new("pkey_index_quarantine 600\n", 8);

	for (uint16_t p_key = 1; p_key < 8; p_key++)
		change(w, p_key, "full");
	for (uint16_t p_key = 1; p_key < 8; p_key++)
		ck_assert_uint_eq(index_of(w, p_key), p_key);
	change(w, 5, "none");
	change(w, 3, "none");
	restart(w);
	change(w, 6, "none");
	check_health(w, "was reused for", false);
	change(w, 0x12, "full");
	ck_assert_uint_eq(index_of(w, 0x12), 5);
	change(w, 0x13, "full");
	ck_assert_uint_eq(index_of(w, 0x13), 3);
	ck_assert_uint_eq(w->reused, 2);
	scenario_check_log(w->s, "P_Key index 5 of 'host-5' (0x", true);
	scenario_check_log(w->s, "port 1 was 0x8005 and is now 0x8012", true);
	check_health(w, "warning partitions: P_Key index 3 of 'host-5'", true);
	run_ms(w, 601000);
	scenario_heavy_sweep(w->s, 20);
	check_health(w, "was reused for", false);
	change(w, 0x14, "full"); /* after its quarantine its reuse is only logged */
	ck_assert_uint_eq(index_of(w, 0x14), 6);
	check_health(w, "was reused for", false);
	scenario_check_log(w->s, "port 1 was 0x8006 and is now 0x8014", true);
	world_free(w);
}
END_TEST

/* If the operator wants it, the port waits for its P_Key until an index is free; health tells. */
START_TEST(waits)
{
	struct world *w = world_new("pkey_index_quarantine 600\nreuse_pkey_indexes FALSE\n", 4);

	for (uint16_t p_key = 1; p_key < 4; p_key++)
		change(w, p_key, "full");
	change(w, 2, "none");
	run_ms(w, 60000);
	change(w, 3, "none");
	change(w, 9, "full");
	if (_i)
		restart(w);
	ck_assert_uint_eq(index_of(w, 9), UINT_MAX);
	check_health(w, "ERROR partitions: 'host-5'", true);
	check_health(w, "lacks 1 P_Key, first 0x8009", true);
	run_ms(w, 500000);
	ck_assert_uint_eq(index_of(w, 9), UINT_MAX);
	ck_assert_uint_eq(w->reused, 0);
	run_ms(w, 60000); /* by itself */
	ck_assert_uint_eq(index_of(w, 9), 2);
	check_health(w, " lacks ", false);
	change(w, 3, "full"); /* it can have its own at any time */
	ck_assert_uint_eq(index_of(w, 3), 3);
	world_free(w);
}
END_TEST

/* A failed write does not hold up a P_Key; it is reported, and repeated until it succeeds. */
START_TEST(not_written)
{
	struct world *w = world_new("", 0);
	g_autofree char *file = g_build_filename(w->s->cache_dir, "pkey_indexes", NULL);

	ck_assert_int_eq(g_mkdir(file, 0700), 0);
	w->unkept = true;
	change(w, 0x11, "full");
	change(w, 0x11, "none");
	ck_assert_uint_eq(index_of(w, 0x11), UINT_MAX);
	check_health(w, "vacated P_Key indexes of ports could not be written", true);
	ck_assert_int_eq(g_rmdir(file), 0);
	scenario_heavy_sweep(w->s, 20);
	run_ms(w, 100);
	check_kept(w, 1, 0x8011);
	check_health(w, "could not be written", false);
	world_free(w);
}
END_TEST

/* Malformed lines affect only themselves; a time in the future counts as now. */
START_TEST(hostile_file)
{
	struct world *w = world_new("pkey_index_quarantine 600\nreuse_pkey_indexes FALSE\n", 3);
	g_autofree char *file = g_build_filename(w->s->cache_dir, "pkey_indexes", NULL);
	g_autofree char *text = g_strdup_printf("0x%" PRIx64 " 1 0x8011 18446744073709551615\n"
						"0x%" PRIx64 " 2 0x8012\n"
						"0x%" PRIx64 " 65536 0x8012 1\n"
						"0x%" PRIx64 " 60000 0x8012 1\n"
						"0x%" PRIx64 " 2 0x8000 1\n"
						"0 2 0x8011 1\nx\n",
						w->guid, w->guid, w->guid, w->guid, w->guid);

	scenario_stop(w->s);
	ck_assert(g_file_set_contents(file, text, -1, NULL));
	scenario_start(w->s);
	run_ms(w, 3000);
	scenario_check_log(w->s, "pkey_indexes:2: '0x", true);
	scenario_check_log(w->s, "expected 0xPORTGUID INDEX 0xPKEY TIME; the line is ignored",
			   true);
	change(w, 0x12, "full");
	change(w, 0x13, "full");
	ck_assert_uint_eq(index_of(w, 0x12), 2);
	ck_assert_uint_eq(index_of(w, 0x13), UINT_MAX);
	run_ms(w, 600000);
	ck_assert_uint_eq(index_of(w, 0x13), 1);
	world_free(w);
}
END_TEST

/* A missing member is logged once, on whichever line of the file it is after a change. */
START_TEST(absent_member)
{
	static const char text[] = "GUID 0x0000000009990007 is not in the subnet";
	struct world *w = world_new("", 0);
	const char *at;
	unsigned int told = 0;
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	ck_assert(daemon_change_partitions(w->s->daemon, "0x20: 0x9990007=full;", 0, &serial,
					   &error));
	run_ms(w, 1000);
	change(w, 0x11, "full");
	change(w, 0x12, "full");
	change(w, 0x11, "none");
	scenario_heavy_sweep(w->s, 20);
	for (at = w->s->text->str; (at = strstr(at, text)); at++)
		told++;
	ck_assert_uint_eq(told, 1);
	world_free(w);
}
END_TEST

/* ---- a standby ---- */

#define POLLS "sweep_interval 0\n" MANAGERS_POLLS

/* The master dies after each of its packets of the removal: its standby knows the vacated index. */
static void die_in_removal(uint64_t packets, bool with_key)
{
	struct world w = {.unkept = true};
	g_autofree char *key = NULL, *file = NULL, *conf = NULL;

	w.m = managers_new("fattree:4", 1);
	key = managers_replication(w.m, "a key of replication, long enough");
	file = g_build_filename(w.m->s->directory, "partitions.conf", NULL);
	ck_assert(g_file_set_contents(file, "Default=0x7fff: ALL=full;\n", -1, NULL));
	conf = g_strconcat(POLLS "partition_config_file ", file, "\n", with_key ? key : "", NULL);
	managers_up_with_standby(w.m, conf, conf);
	w.s = w.m->s;
	find_host(&w);
	run_ms(&w, 3000);
	want(&w, w.m->sm[0].daemon, 0x11, "full");
	run_ms(&w, 1000);
	ck_assert_uint_eq(index_of(&w, 0x11), 1);
	want(&w, w.m->sm[0].daemon, 0x11, "none");
	if (packets)
		managers_kill_at(w.m, 0, packets, 1);
	else
		run_ms(&w, 1000);
	if (w.m->sm[0].daemon)
		managers_kill(w.m, 0);
	run_ms(&w, 15000);
	ck_assert_uint_eq(managers_state(w.m, 1), IBA_SM_MASTER);
	want(&w, w.m->sm[1].daemon, 0x11, "none");
	run_ms(&w, 1000);
	ck_assert_uint_eq(index_of(&w, 0x11), UINT_MAX);
	want(&w, w.m->sm[1].daemon, 0x12, "full");
	run_ms(&w, 1000);
	ck_assert_uint_eq(index_of(&w, 0x12), with_key ? 2 : 1);
	scenario_check_log(w.s, "the P_Key indexes vacated under the previous SM are unknown",
			   !with_key);
	managers_free(w.m);
}

START_TEST(takeover)
{
	die_in_removal((unsigned int)_i, true);
}
END_TEST

START_TEST(takeover_without_replication)
{
	die_in_removal(0, false);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pkey_indexes");
	TCase *tcase = tcase_create("pkey_indexes");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, two_changes);
	tcase_add_test(tcase, after_a_restart);
	tcase_add_loop_test(tcase, host_away, 0, 2);
	tcase_add_test(tcase, crashes);
	tcase_add_test(tcase, oldest_first);
	tcase_add_loop_test(tcase, waits, 0, 2);
	tcase_add_test(tcase, not_written);
	tcase_add_test(tcase, hostile_file);
	tcase_add_test(tcase, absent_member);
	tcase_add_loop_test(tcase, takeover, 0, 12);
	tcase_add_test(tcase, takeover_without_replication);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

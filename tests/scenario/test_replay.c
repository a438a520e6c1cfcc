// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes of routes that need several lanes: whatever packets are under way, with the SLs that
 * their hosts were told at any time before, no mixture of old and new tables closes a credit loop;
 * or the daemon has said so before.
 *
 * REPLAY=17 runs only that seed; REPLAY=1-400 many, and ends with a table ("make replay").
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iba/codes.h"
#include "replay.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define SEEDS 15
#define EVENTS 4
#define ASK_AGAIN 6 /* one in this number of pairs of hosts, before each event */
#define SAID "may deadlock"
#define SAID_FOR_LONG SAID " until hosts have queried"

static const char *const nets[] = {
	"torus:5x4:1", "random:14:4:1:", "dragonfly:4:2:1", "mesh:4x4:1",
	"slimfly:3:1", "random:16:3:1:", "torus:3x3x2:1",   "hypercube:4:1",
};

static const char *const engines[] = {
	"dfsssp", "lash", "hoplanes", "nue", "torus-2QoS", "updn",
};

/* What changes did, of one engine. */
struct tally {
	unsigned int changes, writes, unsafe_writes;
	unsigned int unsafe;	   /* changes in which packets could close a loop on the way */
	unsigned int stays;	   /* in which they could afterwards */
	unsigned int with_asked;   /* and still when all had asked again */
	unsigned int said;	   /* that the daemon has announced as unsafe */
	unsigned int broken;	   /* unsafe, and not announced */
	unsigned int gains, lossy; /* only something came back; and pairs lost packets meanwhile */
	unsigned int lost;	   /* these pairs */
	uint64_t lost_ns;	   /* the longest time that one of them lost packets */
	unsigned int pairs_moved;  /* of switches that got another SL, as announced */
	bool standing;		   /* announced until hosts have asked again, which not all have */
};

static struct scenario *start_on(const char *spec, uint64_t seed, const char *engine)
{
	static const char corner[] = "torus 5 4 1\n"
				     "xp_link 0x0200000080000100 0x0200000080000200\n"
				     "yp_link 0x0200000080000100 0x0200000080000600\n"
				     "ym_link 0x0200000080000100 0x0200000080001000\n";
	struct scenario *s = scenario_new(spec, seed);
	g_autofree char *file = g_build_filename(s->directory, "torus-2QoS.conf", NULL);

	scenario_option(s, "-R", engine);
	if (!strcmp(engine, "torus-2QoS")) {
		ck_assert(g_file_set_contents(file, corner, -1, NULL));
		scenario_option(s, "--torus_config", file);
	}
	if (!strcmp(engine, "nue"))
		scenario_option(s, "--nue_max_num_vls", seed % 2 ? "0" : "1");
	scenario_start(s);
	scenario_converge(s, 20);
	return s;
}

static struct scenario *start(uint64_t seed, const char *engine, const char **net)
{
	bool torus = !strcmp(engine, "torus-2QoS");
	const char *shape =
		torus ? "torus:5x4:1" : nets[seed / G_N_ELEMENTS(engines) % G_N_ELEMENTS(nets)];
	bool numbered = g_str_has_suffix(shape, ":");
	g_autofree char *spec =
		numbered ? g_strdup_printf("%s%" G_GUINT64_FORMAT, shape, seed) : g_strdup(shape);

	*net = shape;
	return start_on(spec, seed, engine);
}

/* Other than the SM's; false: it is already out, or the SM's. */
static bool lose_switch(struct scenario *s, GArray *out)
{
	unsigned int thing[2] = {scenario_random_switch(s), 0}, port, peer, peer_port;
	unsigned int sm = scenario_sm_node(s, &port);
	struct sim_node_view view;

	sim_node_view(s->sim, thing[0], &view);
	if (!view.up || !sim_peer(s->sim, sm, port, &peer, &peer_port) || peer == thing[0])
		return false;
	sim_node_set(s->sim, thing[0], false);
	g_array_append_vals(out, thing, 2);
	return true;
}

static void bring_back(struct scenario *s, GArray *out)
{
	guint i = scenario_random(s, out->len / 2) * 2;
	unsigned int node = g_array_index(out, unsigned int, i);
	unsigned int port = g_array_index(out, unsigned int, i + 1);

	g_array_remove_range(out, i, 2);
	if (port)
		sim_link_set(s->sim, node, port, true);
	else
		sim_node_set(s->sim, node, true);
}

/* A cable or a switch goes, or what is out comes back; at times two at once. True: only gains. */
static bool change_something(struct scenario *s, GArray *out)
{
	bool gains = true;

	for (unsigned int n = 1 + !scenario_random(s, 4); n; n--) {
		unsigned int thing[2] = {0, 0};

		if (out->len && scenario_random(s, 2)) {
			bring_back(s, out);
			continue;
		}
		gains = false;
		if (!scenario_random(s, 6) && lose_switch(s, out))
			continue;
		scenario_random_link(s, &thing[0], &thing[1]);
		sim_link_set(s->sim, thing[0], thing[1], false);
		g_array_append_vals(out, thing, 2);
	}
	return gains;
}

static unsigned int pairs_said(const char *log)
{
	const char *line = strstr(log, SAID), *colon;

	for (; line && *line != '\n'; line++)
		if (g_str_has_prefix(line, " pairs of switches get")) {
			colon = line;
			while (g_ascii_isdigit(colon[-1]))
				colon--;
			return (unsigned int)atoi(colon);
		}
	return 0;
}

static void run_event(struct scenario *s, GArray *out, struct replay *replay, struct tally *tally)
{
	gsize log_from = s->text->len;
	struct replay_count count;
	bool gains, said;

	replay_ask(replay, ASK_AGAIN);
	gains = change_something(s, out);
	replay_begin(replay);
	scenario_converge(s, 60);
	replay_end(replay, &count);
	said = strstr(s->text->str + log_from, SAID) || tally->standing;
	tally->standing |= strstr(s->text->str + log_from, SAID_FOR_LONG) != NULL;
	tally->changes++;
	tally->writes += count.writes;
	tally->unsafe_writes += count.unsafe;
	tally->unsafe += count.unsafe || count.after;
	tally->stays += count.after;
	tally->said += said;
	tally->pairs_moved += pairs_said(s->text->str + log_from);
	tally->broken += (count.unsafe || count.after) && !said && !count.before;
	if (g_getenv("REPLAY_TELL") && (count.unsafe || count.after || count.lost || said))
		printf("  %u writes, unsafe %u, before %d after %d, lost %u for %.1f ms, gains "
		       "%d\n%s",
		       count.writes, count.unsafe, count.before, count.after, count.lost,
		       (double)count.lost_ns / 1e6, gains, s->text->str + log_from);
	if (count.after) {
		replay_ask(replay, 1);
		tally->with_asked += replay_is_closed(replay);
		tally->standing = false;
	}
	if (!gains)
		return;
	tally->gains++;
	tally->lossy += count.lost != 0;
	tally->lost += count.lost;
	tally->lost_ns = MAX(tally->lost_ns, count.lost_ns);
}

static void run_seed(uint64_t seed, struct tally *tally)
{
	const char *engine = engines[seed % G_N_ELEMENTS(engines)], *net;
	GArray *out = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	struct scenario *s = start(seed, engine, &net);
	struct replay *replay = replay_new(s);

	for (unsigned int event = 0; event < EVENTS; event++) {
		unsigned int broken = tally->broken;

		run_event(s, out, replay, tally);
		if (tally->broken > broken && g_getenv("REPLAY"))
			printf("REPLAY=%" G_GUINT64_FORMAT ": %s, %s, event %u: unsafe and not "
			       "announced\n",
			       seed, engine, net, event);
	}
	tally->standing = false;
	replay_free(replay);
	g_array_unref(out);
	scenario_free(s);
}

static void check_announced(uint64_t seed)
{
	struct tally tally = {0};

	run_seed(seed, &tally);
	ck_assert_uint_gt(tally.writes, 0);
	ck_assert_msg(!tally.broken && !tally.with_asked,
		      "REPLAY=%" G_GUINT64_FORMAT ": %u of %u changes could deadlock and were not "
		      "announced, %u do with new SLs",
		      seed, tally.broken, tally.changes, tally.with_asked);
}

START_TEST(what_is_unsafe_is_announced)
{
	check_announced((uint64_t)_i);
}
END_TEST

/*
 * Hosts use SLs from before the last change but one, of a switch that was away, or on lanes that
 * the present routing has no use for.
 */
static const unsigned int earlier[] = {42, 104, 187, 321, 337};

START_TEST(earlier_sls_count)
{
	check_announced(earlier[_i]);
}
END_TEST

/*
 * By torus-2QoS and hoplanes, whose lanes depend on turns: entries alone would close loops in any
 * order, or new SLs and SL2VL tables would, or another engine where dimension order has no paths.
 */
static const unsigned int turning[] = {4, 28, 88, 34, 70, 2, 8, 26, 56};

static void check_safe(unsigned int seed)
{
	struct tally tally = {0};

	run_seed(seed, &tally);
	ck_assert_uint_gt(tally.writes, 0);
	ck_assert_msg(!tally.unsafe && !tally.said,
		      "REPLAY=%u: %u changes are unsafe, %u announced", seed, tally.unsafe,
		      tally.said);
}

START_TEST(turns_close_no_loop)
{
	check_safe(turning[_i]);
}
END_TEST

/* By lash: switches that come back get their earlier SLs, and paths fit all SLs in use. */
static const unsigned int fitting[] = {73, 109};

START_TEST(paths_fit_earlier_sls)
{
	check_safe(fitting[_i]);
}
END_TEST

/* ---- what comes back ---- */

static const struct {
	const char *net, *engine;
	bool is_switch;
	unsigned int most_us; /* old and new paths close a loop: LIDs discard for so long */
} returns[] = {
	{"fattree:4", "minhop", false, 0},
	{"fattree:4", "updn", false, 0},
	{"fattree:4", "updn", true, 0},
	{"xgft:4,4:1,4", "ftree", true, 0},
	{"dragonfly:4:2:1", "updn", false, 0},
	{"torus:5x4:1", "torus-2QoS", false, 0},
	{"torus:5x4:1", "torus-2QoS", true, 2000},
	{"dragonfly:4:2:1", "hoplanes", false, 1000},
	{"slimfly:3:1", "hoplanes", false, 0},
	{"fattree:4", "dfsssp", true, 0},
};

/* Packets go on by the old way until the new one is ready. */
START_TEST(returns_lose_nothing)
{
	struct scenario *s = start_on(returns[_i].net, 7, returns[_i].engine);
	GArray *out = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	unsigned int thing[2] = {0, 0};
	struct replay_count count;
	struct replay *replay;

	while (returns[_i].is_switch && !lose_switch(s, out))
		;
	if (!out->len) {
		scenario_random_link(s, &thing[0], &thing[1]);
		sim_link_set(s->sim, thing[0], thing[1], false);
		g_array_append_vals(out, thing, 2);
	}
	scenario_converge(s, 20);
	replay = replay_new(s);
	bring_back(s, out);
	replay_begin(replay);
	scenario_converge(s, 20);
	replay_end(replay, &count);
	ck_assert_uint_gt(count.writes, 0);
	ck_assert(!count.unsafe && !count.after);
	ck_assert_msg(count.lost_ns <= returns[_i].most_us * UINT64_C(1000) &&
			      (!count.lost || returns[_i].most_us),
		      "%s, %s: %u pairs lost packets for up to %.1f ms",
		      returns[_i].net, returns[_i].engine, count.lost, (double)count.lost_ns / 1e6);
	replay_free(replay);
	g_array_unref(out);
	scenario_free(s);
}
END_TEST

/* ---- the campaign ---- */

static int run_many(int first, int last)
{
	struct tally tallies[G_N_ELEMENTS(engines)] = {{0}};
	unsigned int bad = 0;

	for (int seed = first; seed <= last; seed++)
		run_seed((uint64_t)seed, &tallies[seed % (int)G_N_ELEMENTS(engines)]);
	printf("%-11s %7s %8s %7s %7s %6s %6s %7s %6s %7s %6s %6s %6s %8s\n", "engine", "changes",
	       "writes", "unsafe", "on way", "stay", "asked", "said", "broken", "SLs", "gains",
	       "lossy", "lost", "ms");
	for (unsigned int i = 0; i < G_N_ELEMENTS(engines); i++) {
		const struct tally *t = &tallies[i];

		printf("%-11s %7u %8u %7u %7u %6u %6u %7u %6u %7u %6u %6u %6u %8.1f\n", engines[i],
		       t->changes, t->writes, t->unsafe_writes, t->unsafe, t->stays, t->with_asked,
		       t->said, t->broken, t->pairs_moved, t->gains, t->lossy, t->lost,
		       (double)t->lost_ns / 1e6);
		bad += t->broken + t->with_asked;
	}
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
	const char *text = g_getenv("REPLAY"), *dash = text ? strchr(text, '-') : NULL;
	Suite *suite = suite_create("replay");
	TCase *tcase = tcase_create("replay");

	if (text)
		return run_many(atoi(text), dash ? atoi(dash + 1) : atoi(text));
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, what_is_unsafe_is_announced, 1, 1 + some_seeds(SEEDS));
	tcase_add_loop_test(tcase, earlier_sls_count, 0, G_N_ELEMENTS(earlier));
	tcase_add_loop_test(tcase, turns_close_no_loop, 0, G_N_ELEMENTS(turning));
	tcase_add_loop_test(tcase, paths_fit_earlier_sls, 0, G_N_ELEMENTS(fitting));
	tcase_add_loop_test(tcase, returns_lose_nothing, 0, G_N_ELEMENTS(returns));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

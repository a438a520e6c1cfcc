// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random policies, and changes from one to the next, on a fabric whose switches and hosts enforce
 * their P_Key tables: a packet passes if and only if the policy lets the two talk, and does so at
 * every moment of a change for pairs that the old and the new policy treat alike. One exception:
 * where the two talk by another key, and others leave its partition in the same change, these leave
 * first.
 *
 * The expected result comes from the policy itself, as a matrix; the daemon gets it as text.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "core/counters.h"
#include "ctl/command/command.h"
#include "policy/partition/partition.h"
#include "scenario.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define HOSTS_MAX 16
#define PARTITIONS_MAX 6

enum membership { NONE, LIMITED, FULL };

/* Row 0 is the default partition. */
struct policy {
	unsigned int n;
	uint16_t p_key[PARTITIONS_MAX];
	enum membership of[PARTITIONS_MAX][HOSTS_MAX];
};

struct world {
	struct scenario *s;
	char *file;
	unsigned int n_hosts, sm; /* sm: which of the hosts it runs on */
	unsigned int hosts[HOSTS_MAX];
	struct policy old, now;
	uint64_t smps, checked; /* counter at the last check; number of moments checked */
	uint64_t dies_at;	/* counter at which the SM dies */
};

/* ---- policies ---- */

static void make_policy(struct world *w, struct policy *policy)
{
	struct scenario *s = w->s;
	unsigned int all = scenario_random(s, 4) == 0 ? FULL : LIMITED;

	memset(policy, 0, sizeof(*policy));
	policy->n = 1 + scenario_random(s, PARTITIONS_MAX);
	policy->p_key[0] = 0x7FFF;
	for (unsigned int i = 0; i < w->n_hosts; i++)
		policy->of[0][i] = i == w->sm ? FULL : all;
	for (unsigned int k = 1; k < policy->n; k++) {
		policy->p_key[k] = (uint16_t)(k * 2 + scenario_random(s, 2));
		for (unsigned int i = 0; i < w->n_hosts; i++)
			policy->of[k][i] = scenario_random(s, 3) ? scenario_random(s, 3) : NONE;
	}
}

static void write_policy(struct world *w, const struct policy *policy)
{
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "Default=0x7fff,ipoib:ALL=%s,SELF=full;\n",
			       policy->of[0][(w->sm + 1) % w->n_hosts] == FULL ? "full"
									       : "limited");
	for (unsigned int k = 1; k < policy->n; k++) {
		g_string_append_printf(text, "=0x%x:\n", policy->p_key[k]);
		for (unsigned int i = 0; i < w->n_hosts; i++)
			if (policy->of[k][i])
				g_string_append_printf(text, " 0x%" PRIx64 "=%s\n",
						       sim_port_guid(w->s->sim, w->hosts[i], 1),
						       policy->of[k][i] == FULL ? "full"
										: "limited");
		g_string_append(text, ";\n");
	}
	ck_assert(g_file_set_contents(w->file, text->str, -1, NULL));
	g_string_free(text, TRUE);
}

static bool may_talk(const struct policy *policy, unsigned int a, unsigned int b)
{
	for (unsigned int k = 0; k < policy->n; k++)
		if (policy->of[k][a] && policy->of[k][b] &&
		    (policy->of[k][a] == FULL || policy->of[k][b] == FULL))
			return true;
	return false;
}

static bool talk_by(const struct policy *policy, uint16_t p_key, unsigned int a, unsigned int b)
{
	for (unsigned int k = 0; k < policy->n; k++)
		if (policy->p_key[k] == p_key && policy->of[k][a] && policy->of[k][b] &&
		    (policy->of[k][a] == FULL || policy->of[k][b] == FULL))
			return true;
	return false;
}

static enum membership member_of(const struct policy *policy, uint16_t p_key, unsigned int host)
{
	for (unsigned int k = 0; k < policy->n; k++)
		if (policy->p_key[k] == p_key)
			return policy->of[k][host];
	return NONE;
}

/* No host leaves the partition, or ceases to be a full member. */
static bool is_quiet(const struct world *w, uint16_t p_key)
{
	for (unsigned int i = 0; i < w->n_hosts; i++)
		if (member_of(&w->old, p_key, i) > member_of(&w->now, p_key, i))
			return false;
	return true;
}

/*
 * Whether two hosts must reach each other all the time: by a key that they keep, or a new one that
 * can be added before the old one is removed.
 */
static bool always_talk(const struct world *w, unsigned int a, unsigned int b)
{
	for (unsigned int k = 0; k < w->now.n; k++) {
		uint16_t p_key = w->now.p_key[k];

		if (talk_by(&w->now, p_key, a, b) &&
		    (talk_by(&w->old, p_key, a, b) ||
		     (may_talk(&w->old, a, b) && is_quiet(w, p_key))))
			return true;
	}
	return false;
}

static bool never_talk(const struct world *w, unsigned int a, unsigned int b)
{
	return !may_talk(&w->old, a, b) && !may_talk(&w->now, a, b);
}

/* ---- a packet ---- */

/* IBA 10.9.3. */
static bool matches(const uint16_t *keys, unsigned int n, uint16_t p_key, uint16_t also)
{
	for (unsigned int i = 0; i < n; i++)
		if (P_KEY_BASE(keys[i]) && P_KEY_BASE(keys[i]) == P_KEY_BASE(p_key) &&
		    (keys[i] | p_key | also) & P_KEY_FULL)
			return true;
	return false;
}

/* Whether a packet with this P_Key gets through the switch port in front of that host. */
static bool leaf_passes(const struct world *w, unsigned int host, uint16_t p_key, bool inbound)
{
	unsigned int node, port, n;
	const struct iba_port_info *info;
	const uint16_t *keys;

	ck_assert(sim_peer(w->s->sim, host, 1, &node, &port));
	info = sim_port_info(w->s->sim, node, port);
	keys = sim_p_keys(w->s->sim, node, port, &n);
	if (!(inbound ? info->partition_enforcement_inbound : info->partition_enforcement_outbound))
		return true;
	return matches(keys, n, p_key, inbound ? P_KEY_FULL : 0);
}

/* Whether a host can send to another, by any of its P_Keys. */
static bool passes(const struct world *w, unsigned int a, unsigned int b)
{
	unsigned int n, m;
	const uint16_t *from = sim_p_keys(w->s->sim, w->hosts[a], 1, &n);
	const uint16_t *to = sim_p_keys(w->s->sim, w->hosts[b], 1, &m);

	for (unsigned int i = 0; i < n; i++)
		if (from[i] && matches(to, m, from[i], 0) &&
		    leaf_passes(w, w->hosts[a], from[i], true) &&
		    leaf_passes(w, w->hosts[b], from[i], false))
			return true;
	return false;
}

static void check_pairs(struct world *w)
{
	for (unsigned int a = 0; a < w->n_hosts; a++)
		for (unsigned int b = 0; b < w->n_hosts; b++) {
			bool passed = a != b && passes(w, a, b);

			if (a != b && !passed && always_talk(w, a, b))
				scenario_fail(w->s, "host %u does not reach host %u", a, b);
			if (passed && never_talk(w, a, b))
				scenario_fail(w->s, "host %u reaches host %u", a, b);
		}
	w->checked++;
}

/* ---- moments ---- */

static bool is_done(const struct world *w)
{
	struct context *context = daemon_context(w->s->daemon);

	return counter_get(&context->counters, sweeps_policy) +
			       counter_get(&context->counters, sweeps_heavy) >
		       0 &&
	       !(atomic_load(&context->sweep) & SWEEP_FLAG_RUNNING);
}

/* Called between events. */
static bool look(void *arg)
{
	struct world *w = arg;
	struct sim_counters counters = scenario_counters(w->s);

	if (counters.smps != w->smps)
		check_pairs(w);
	w->smps = counters.smps;
	return false;
}

static bool look_until_death(void *arg)
{
	struct world *w = arg;

	look(w);
	return w->smps >= w->dies_at;
}

static bool is_idle(void *arg)
{
	return is_done(arg);
}

static void run_to_end(struct world *w)
{
	scenario_run_ms(w->s, 5);
	if (!runtime_run(w->s->rt, is_idle, w, runtime_now(w->s->rt) + 20 * NS_PER_S))
		scenario_fail(w->s, "no end of the sweep");
	scenario_run_ms(w->s, 50);
}

/* Switch ports enforce the policy of their hosts, and other ports do not. */
static void check_enforced(const struct world *w, bool inbound, bool outbound)
{
	for (unsigned int i = 0; i < w->n_hosts; i++) {
		unsigned int node, port;
		const struct iba_port_info *info;

		ck_assert(sim_peer(w->s->sim, w->hosts[i], 1, &node, &port));
		info = sim_port_info(w->s->sim, node, port);
		ck_assert_int_eq(info->partition_enforcement_inbound, inbound);
		ck_assert_int_eq(info->partition_enforcement_outbound, outbound);
	}
}

static void check_settled(struct world *w)
{
	w->old = w->now;
	check_pairs(w);
	check_enforced(w, true, true);
	scenario_check_log(w->s, "ERRORS", false);
}

/* ---- worlds ---- */

/* At the start every host is a full member of the default partition. */
static void find_hosts(struct world *w)
{
	w->n_hosts = HOSTS_MAX;
	w->now.n = 1;
	w->now.p_key[0] = 0x7FFF;
	for (unsigned int i = 0; i < HOSTS_MAX; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		w->hosts[i] = scenario_node(w->s, name);
		w->now.of[0][i] = FULL;
	}
	w->old = w->now;
}

static struct world *world_new(uint64_t seed)
{
	struct world *w = g_new0(struct world, 1);
	struct sim_config config;

	scenario_config_default(&config, seed);
	config.sma_ns = 20 * NS_PER_US;
	w->s = scenario_new_with("fattree:4", &config, RUNTIME_VIRTUAL);
	w->file = g_build_filename(w->s->directory, "partitions.conf", NULL);
	scenario_conf(w->s, "sweep_interval 0\n");
	scenario_option(w->s, "--Pconfig", w->file);
	ck_assert(g_file_set_contents(w->file, "Default=0x7fff,ipoib:ALL=full;\n", -1, NULL));
	find_hosts(w);
	w->s->sm_guid = sim_port_guid(w->s->sim, w->hosts[w->sm], 1);
	return w;
}

static void world_free(struct world *w)
{
	scenario_free(w->s);
	g_free(w->file);
	g_free(w);
}

/* What changed from w->old to w->now, as a request. */
static char *request_of(const struct world *w)
{
	static const char *const words[] = {"none", "limited", "full"};
	GString *text = g_string_new(NULL);

	for (unsigned int p_key = 1; p_key <= 0x7FFF; p_key++) {
		bool begun = false;

		for (unsigned int i = 0; i < w->n_hosts; i++) {
			enum membership is = member_of(&w->now, (uint16_t)p_key, i);

			if (is == member_of(&w->old, (uint16_t)p_key, i))
				continue;
			if (!begun)
				g_string_append_printf(text, "0x%x:", p_key);
			begun = true;
			g_string_append_printf(text, " 0x%" PRIx64 "=%s,",
					       sim_port_guid(w->s->sim, w->hosts[i], 1), words[is]);
		}
		g_string_append(text, begun ? ";" : "");
	}
	return g_string_free(text, FALSE);
}

/* Makes the daemon adopt w->now by a request at run time. Returns its serial. */
static uint64_t ask_for_policy(struct world *w)
{
	g_autofree char *request = request_of(w);
	g_autoptr(GError) error = NULL;
	uint64_t serial = 0;

	if (!daemon_change_partitions(w->s->daemon, request, 0, &serial, &error))
		scenario_fail(w->s, "%s: %s", request, error->message);
	return serial;
}

/* Makes the daemon adopt the policy w->now. */
static void take_policy(struct world *w)
{
	write_policy(w, &w->now);
	if (daemon_reread_partitions(w->s->daemon))
		daemon_sweep(w->s->daemon, SWEEP_POLICY);
}

static void change_policy(struct world *w)
{
	w->old = w->now;
	make_policy(w, &w->now);
	take_policy(w);
	runtime_run(w->s->rt, look, w, runtime_now(w->s->rt) + 100 * NS_PER_MS);
	run_to_end(w);
	check_settled(w);
}

#define CHANGES 12

START_TEST(random_changes)
{
	struct world *w = world_new((uint64_t)_i + 1);

	scenario_start(w->s);
	run_to_end(w);
	take_policy(w);
	run_to_end(w);
	check_settled(w);
	for (unsigned int i = 0; i < CHANGES; i++)
		change_policy(w);
	ck_assert_uint_gt(w->checked, CHANGES * 10);
	world_free(w);
}
END_TEST

/* The daemon ends in the middle of a change: another one continues, to the same end. */
START_TEST(ends_in_a_change)
{
	struct world *w = world_new((uint64_t)_i + 101);

	scenario_start(w->s);
	run_to_end(w);
	for (unsigned int i = 0; i < 6; i++) {
		w->old = w->now;
		make_policy(w, &w->now);
		take_policy(w);
		runtime_run(w->s->rt, look, w,
			    runtime_now(w->s->rt) + scenario_random(w->s, 4000) * NS_PER_US);
		scenario_stop(w->s);
		scenario_start(w->s);
		run_to_end(w);
		check_settled(w);
	}
	world_free(w);
}
END_TEST

/*
 * The SM dies after a number of SMPs of a change, a larger number each time, until the change has
 * fewer; another SM continues, and at no moment do pairs that both policies treat alike suffer. As
 * many seeds as the long stride cover every SMP once.
 */
#define STRIDE 37
#define STRIDE_LONG 11

static bool dies_after(struct world *w, uint64_t smps)
{
	bool died;

	w->old = w->now;
	make_policy(w, &w->now);
	w->dies_at = scenario_counters(w->s).smps + smps;
	take_policy(w);
	died = runtime_run(w->s->rt, look_until_death, w, runtime_now(w->s->rt) + 100 * NS_PER_MS);
	scenario_stop(w->s);
	w->dies_at = 0;
	scenario_start(w->s);
	runtime_run(w->s->rt, look, w, runtime_now(w->s->rt) + 300 * NS_PER_MS);
	run_to_end(w);
	check_settled(w);
	return died;
}

START_TEST(dies_in_a_change)
{
	struct world *w = world_new((uint64_t)_i + 601);
	unsigned int stride = g_getenv("PARTITION_SEEDS") ? STRIDE_LONG : STRIDE, alive = 0;

	scenario_start(w->s);
	run_to_end(w);
	for (uint64_t smps = (unsigned int)_i % stride; alive < 3; smps += stride)
		alive += !dies_after(w, smps);
	ck_assert_uint_gt(w->checked, 100);
	world_free(w);
}
END_TEST

/* As above by requests at run time, with some restarts that remember. */
START_TEST(random_requests)
{
	struct world *w = world_new((uint64_t)_i + 301);
	uint64_t serial, before = 0;

	make_policy(w, &w->now);
	write_policy(w, &w->now);
	scenario_start(w->s);
	run_to_end(w);
	for (unsigned int i = 0; i < CHANGES / 2; i++) {
		w->old = w->now;
		make_policy(w, &w->now);
		serial = ask_for_policy(w);
		ck_assert_uint_ge(serial, before);
		before = serial;
		runtime_run(w->s->rt, look, w, runtime_now(w->s->rt) + 100 * NS_PER_MS);
		run_to_end(w);
		ck_assert_uint_ge(daemon_partitions_serial(w->s->daemon), serial);
		check_settled(w);
		if (scenario_random(w->s, 3) == 0) {
			scenario_stop(w->s);
			scenario_start(w->s);
			run_to_end(w);
			check_settled(w);
			ck_assert_uint_eq(daemon_partitions_serial(w->s->daemon), serial);
		}
	}
	world_free(w);
}
END_TEST

/* A repeated request gets the same answer, and an impossible one changes nothing at all. */
START_TEST(requests_whole_or_not)
{
	struct world *w = world_new(21);
	g_autoptr(GError) error = NULL;
	g_autofree char *file = NULL;
	struct sim_counters before;
	struct policy of_file;
	uint64_t serial, again;

	make_policy(w, &w->now);
	of_file = w->now;
	write_policy(w, &w->now);
	scenario_start(w->s);
	ck_assert(!daemon_change_partitions(w->s->daemon, "0x9: 1", 0, &serial, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "only the MASTER SM"));
	g_clear_error(&error);
	run_to_end(w);
	w->old = w->now;
	make_policy(w, &w->now);
	serial = ask_for_policy(w);
	run_to_end(w);
	check_settled(w);
	before = scenario_counters(w->s);
	ck_assert(daemon_change_partitions(w->s->daemon, "0x9: 0x1=none", 0, &again, &error));
	ck_assert_uint_eq(again, serial);
	ck_assert(!daemon_change_partitions(w->s->daemon, "0x9: 0x1=full; 0x8: x", 0, &again,
					    &error));
	g_clear_error(&error);
	/* nor what cannot be saved: a directory is in the place of the file */
	write_policy(w, &of_file);
	file = g_build_filename(w->s->cache_dir, "partitions.state", NULL);
	ck_assert_int_eq(g_unlink(file), 0);
	ck_assert_int_eq(g_mkdir(file, 0700), 0);
	ck_assert(!daemon_change_partitions(w->s->daemon, "0x9: 0x1=full", 0, &again, &error));
	ck_assert_ptr_nonnull(strstr(error->message, file));
	run_to_end(w);
	ck_assert_uint_eq(scenario_counters(w->s).smps, before.smps);
	check_settled(w);
	ck_assert_int_eq(g_rmdir(file), 0);
	world_free(w);
}
END_TEST

/* All changes are undone, and the file applies again. */
START_TEST(requests_forgotten)
{
	struct world *w = world_new(23);
	g_autoptr(GError) error = NULL;
	struct policy of_file;
	uint64_t serial;

	make_policy(w, &w->now);
	of_file = w->now;
	write_policy(w, &w->now);
	scenario_start(w->s);
	run_to_end(w);
	w->old = w->now;
	make_policy(w, &w->now);
	ask_for_policy(w);
	run_to_end(w);
	check_settled(w);
	w->now = of_file;
	ck_assert(daemon_change_partitions(w->s->daemon, NULL, 0, &serial, &error));
	run_to_end(w);
	check_settled(w);
	world_free(w);
}
END_TEST

/* Only the blocks that differ are written, and nothing is read or swept. */
START_TEST(one_host_moves)
{
	struct world *w = world_new(7);
	struct sim_counters before, after;
	unsigned int n;

	scenario_start(w->s);
	run_to_end(w);
	w->now.n = 3;
	for (unsigned int i = 0; i < w->n_hosts; i++)
		w->now.of[0][i] = i == w->sm ? FULL : LIMITED;
	for (unsigned int i = 0; i < 4; i++) {
		w->now.of[1][i] = FULL;
		w->now.of[2][i + 4] = FULL;
	}
	w->now.p_key[1] = 0x10;
	w->now.p_key[2] = 0x20;
	take_policy(w);
	run_to_end(w);
	check_settled(w);
	w->now.of[1][3] = NONE;
	w->now.of[2][3] = FULL;
	before = scenario_counters(w->s);
	take_policy(w);
	run_to_end(w);
	check_settled(w);
	after = scenario_counters(w->s);
	n = (unsigned int)(after.smps - before.smps);
	/* Switch and host, each once to add and once to remove, with answers. */
	ck_assert_uint_eq(n, 8);
	ck_assert_uint_eq(counter_get(&daemon_context(w->s->daemon)->counters, sweeps_heavy), 1);
	world_free(w);
}
END_TEST

static uint16_t key_at(struct world *w, unsigned int host, unsigned int index)
{
	unsigned int n;

	return sim_p_keys(w->s->sim, w->hosts[host], 1, &n)[index];
}

struct late {
	struct world *w;
	unsigned int node; /* loses everything from the first Set of a P_Key table on */
	bool begun;
};

static void lose_from_set(void *arg, uint64_t now_ns, const struct vendor_address *to,
			  uint64_t from, const uint8_t *data, size_t length)
{
	struct late *late = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	if (late->begun || !scenario_is_smp(data, length, IBA_METHOD_SET,
					     IBA_ATTR_P_KEY_TABLE))
		return;
	late->begun = true;
	sim_node_set_loss(late->w->s->sim, late->node, 1.0);
}

/* A host whose answer is late is skipped in stages meanwhile, but has its keys in the end. */
START_TEST(late_answer)
{
	struct world *w = world_new(7);
	struct late late = {.w = w};

	scenario_start(w->s);
	run_to_end(w);
	w->now.n = 3;
	for (unsigned int i = 0; i < w->n_hosts; i++)
		w->now.of[0][i] = i == w->sm ? FULL : LIMITED;
	for (unsigned int i = 0; i < w->n_hosts; i++)
		w->now.of[1][i] = i % 2 ? FULL : NONE;
	w->now.p_key[1] = 0x10;
	w->now.p_key[2] = 0x20;
	take_policy(w);
	run_to_end(w);
	check_settled(w);
	late.node = w->hosts[3];
	w->now.of[1][3] = NONE;
	w->now.of[2][3] = FULL;
	w->now.of[1][2] = w->now.of[1][4] = FULL;
	sim_set_trace(w->s->sim, lose_from_set, &late);
	take_policy(w);
	for (unsigned int ms = 0; ms < 1000 && !late.begun; ms++)
		scenario_run_ms(w->s, 1);
	ck_assert(late.begun);
	scenario_run_ms(w->s, 500);
	sim_node_set_loss(w->s->sim, late.node, 0.0);
	scenario_run_ms(w->s, 5000);
	sim_set_trace(w->s->sim, NULL, NULL);
	check_settled(w);
	ck_assert_uint_eq(key_at(w, 3, 0), 0x7FFF);
	ck_assert_uint_eq(key_at(w, 3, 1), 0);
	ck_assert_uint_eq(key_at(w, 3, 2), 0x8020);
	world_free(w);
}
END_TEST

/* A file that cannot be read changes nothing, and the log says so. */
START_TEST(bad_file)
{
	struct world *w = world_new(9);

	scenario_start(w->s);
	run_to_end(w);
	make_policy(w, &w->now);
	take_policy(w);
	run_to_end(w);
	ck_assert(g_file_set_contents(w->file, "A=0x55: ALL=full;\nB=0x56 ALL=full;", -1, NULL));
	ck_assert(!daemon_reread_partitions(w->s->daemon));
	daemon_sweep(w->s->daemon, SWEEP_HEAVY);
	scenario_run_ms(w->s, 2000);
	check_settled(w);
	scenario_check_log(w->s, "partitions.conf:2:1: found 'B=0x56 ALL=full;'", true);
	ck_assert_ptr_nonnull(daemon_refusal(w->s->daemon, DAEMON_PARTITIONS)->why);
	take_policy(w);
	ck_assert_ptr_null(daemon_refusal(w->s->daemon, DAEMON_PARTITIONS)->why);
	world_free(w);
}
END_TEST

/* Nor does one that is gone, or is empty now; requests are answered by the policy in force. */
START_TEST(lost_file)
{
	static const char *const requests[] = {"0x1009: 0x1=full", "0x1009: 0x1=limited"};
	struct world *w = world_new(9);
	g_autoptr(GError) error = NULL;
	uint64_t serial;

	make_policy(w, &w->now);
	write_policy(w, &w->now);
	scenario_start(w->s);
	run_to_end(w);
	w->old = w->now;
	for (unsigned int i = 0; i < 2; i++) {
		if (i == 0)
			ck_assert_int_eq(g_unlink(w->file), 0);
		else
			ck_assert(g_file_set_contents(w->file, "", -1, NULL));
		daemon_sweep(w->s->daemon, SWEEP_HEAVY);
		scenario_run_ms(w->s, 2000);
		check_settled(w);
		ck_assert_ptr_nonnull(daemon_refusal(w->s->daemon, DAEMON_PARTITIONS)->why);
		ck_assert(daemon_change_partitions(w->s->daemon, requests[i], 0, &serial, &error));
		scenario_run_ms(w->s, 2000);
		check_settled(w);
		ck_assert_ptr_nonnull(daemon_refusal(w->s->daemon, DAEMON_PARTITIONS)->why);
	}
	scenario_check_log(w->s, "partitions.conf: it no longer defines partitions", true);
	world_free(w);
}
END_TEST

static void write_many(struct world *w, unsigned int n)
{
	GString *text = g_string_new(NULL);

	for (unsigned int k = 1; k <= n; k++)
		g_string_append_printf(text, "=0x%x: 0x%" PRIx64 "=full;\n", k,
				       sim_port_guid(w->s->sim, w->hosts[1], 1));
	ck_assert(g_file_set_contents(w->file, text->str, -1, NULL));
	g_string_free(text, TRUE);
}

/* More P_Keys than a switch can enforce, then than the host has room for: warnings in health. */
START_TEST(too_many)
{
	static const struct {
		unsigned int n;
		bool switches, hosts; /* limits are in the first lines */
	} steps[] = {{30, false, false}, {50, true, false}, {150, false, true}};
	static const char host[] =
		": host-1 (0x0200000000000200) port 1 needs 151 and has room for 128";
	struct world *w = world_new(9);
	struct command_env env = {0};

	for (unsigned int i = (unsigned int)_i; i < G_N_ELEMENTS(steps); i++) {
		struct command_answer answer;

		write_many(w, steps[i].n);
		if (i == (unsigned int)_i)
			scenario_start(w->s);
		else
			scenario_heavy_sweep(w->s, 20);
		scenario_run_ms(w->s, 2000);
		env.daemon = w->s->daemon;
		command_run(&env, "health", true, &answer);
		ck_assert_uint_eq(answer.status, 0);
		ck_assert_msg(!strstr(answer.text, "switch leaf-0-0 (0x") != steps[i].switches &&
				      !strstr(answer.text, host) != steps[i].hosts &&
				      !strstr(answer.text, "more; \"partitions\" lists them") !=
					      steps[i].hosts,
			      "%.2000s", answer.text);
		g_free(answer.text);
		command_run(&env, "partitions", true, &answer);
		ck_assert(!strstr(answer.text, "cannot enforce") != (steps[i].n > 30));
		g_free(answer.text);
	}
	scenario_check_log(w->s, "0x01 -> ERR partitions: ", true);
	world_free(w);
}
END_TEST

/* Ports in use keep their indexes, which is logged once; and index 0 is never left empty. */
START_TEST(index_0)
{
	static const char told[] = "with indx0 are not at index 0 of 16 active ports";
	static const char *const texts[] = {
		"Default=0x7fff: ALL=full;\nA=0x41,indx0: ALL=full;\n",
		"Default=0x7fff: ALL=full;\n",
		"Default=0x7fff: ALL=full;\nB=0x42,indx0: ALL=full;\n",
	};
	static const uint16_t keys[][2] = {{0x8041, 0xFFFF}, {0xFFFF, 0xFFFF}, {0xFFFF, 0xFFFF}};
	struct world *w = world_new(9);
	gsize from = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		ck_assert(g_file_set_contents(w->file, texts[i], -1, NULL));
		if (!i)
			scenario_start(w->s);
		for (unsigned int sweeps = 0; sweeps < 3; sweeps++)
			scenario_heavy_sweep(w->s, 20);
		for (unsigned int host = 0; host < w->n_hosts; host++)
			for (unsigned int k = 0; k < 2; k++)
				ck_assert_uint_eq(key_at(w, host, k), keys[i][k]);
		ck_assert(!strstr(w->s->text->str + from, told) == (i < 2));
		from = w->s->text->len;
	}
	scenario_check_log(w->s, "keep_pkey_indexes FALSE moves them", true);
	world_free(w);
}
END_TEST

/* A limited member asks the SA through switches that enforce partitions. */
START_TEST(limited_member_asks)
{
	struct world *w = world_new(11);
	struct subnet *subnet;
	struct iba_path_record path = {0};
	struct client *client;

	scenario_start(w->s);
	w->now.n = 1;
	for (unsigned int i = 0; i < w->n_hosts; i++)
		w->now.of[0][i] = i == w->sm ? FULL : LIMITED;
	take_policy(w);
	run_to_end(w);
	scenario_run_ms(w->s, 500);
	check_settled(w);
	subnet = slot_take(&daemon_context(w->s->daemon)->subnet); /* which the SA answers from */
	ck_assert_uint_ge(subnet->sm_p_keys->len, 1);
	ck_assert_uint_eq(g_array_index(subnet->sm_p_keys, uint16_t, 0), 0xFFFF);
	subnet_unref(subnet);
	client = client_new(w->s, w->hosts[5]);
	ck_assert_int_eq(client_path(client, w->s->sm_guid, &path), 0);
	ck_assert_uint_eq(path.p_key, 0x7FFF);
	ck_assert_int_ne(client_path(client, sim_port_guid(w->s->sim, w->hosts[6], 1), &path), 0);
	client_free(client);
	world_free(w);
}
END_TEST

static uint16_t index_of(const struct world *w, unsigned int node, uint16_t p_key)
{
	unsigned int n;
	const uint16_t *keys = sim_p_keys(w->s->sim, node, 1, &n);

	for (unsigned int i = 0; i < n; i++)
		if (P_KEY_BASE(keys[i]) == p_key)
			return (uint16_t)i;
	ck_abort_msg("no P_Key 0x%x", p_key);
}

/* A requester with a P_Key other than the default one is known by it. */
START_TEST(asks_by_its_partition)
{
	struct world *w = world_new(11);
	struct iba_path_record path = {0};
	struct client *client;

	scenario_start(w->s);
	w->now.n = 2;
	w->now.p_key[1] = 0x12;
	for (unsigned int i = 0; i < w->n_hosts; i++) {
		w->now.of[0][i] = FULL;
		w->now.of[1][i] = i == w->sm || i == 5 ? FULL : NONE;
	}
	take_policy(w);
	run_to_end(w);
	scenario_run_ms(w->s, 500);
	check_settled(w);
	ck_assert_uint_ne(index_of(w, w->hosts[w->sm], 0x12), 0);
	client = client_new(w->s, w->hosts[5]);
	client_set_p_key_index(client, index_of(w, w->hosts[5], 0x12));
	ck_assert_int_eq(client_path(client, w->s->sm_guid, &path), 0);
	client_free(client);
	world_free(w);
}
END_TEST

/* The P_Key of the path from the client to a host; asked: 0 leaves it open. 0: there is no path. */
static uint16_t path_key(const struct world *w, struct client *client, unsigned int to,
			 uint16_t asked)
{
	struct iba_path_record path = {
		.sgid = client_gid(client),
		.dgid = {IBA_DEFAULT_GID_PREFIX, sim_port_guid(w->s->sim, w->hosts[to], 1)},
		.numb_path = 1,
		.p_key = asked,
	};
	uint64_t mask = IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid) |
			IBA_COMPONENT(path_record, numb_path);
	int status;

	if (asked)
		mask |= IBA_COMPONENT(path_record, p_key);
	status = client_ask(client, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, mask,
			    &iba_path_record_type, &path);
	ck_assert(status == 0 || status == IBA_SA_NO_RECORDS);
	return status ? 0 : path.p_key;
}

static int join_ipoib(const struct world *w, unsigned int host, uint16_t p_key)
{
	struct client *client = client_new(w->s, w->hosts[host]);
	struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12401B00000000) | (uint64_t)p_key << 16, UINT32_MAX},
		.port_gid = client_gid(client),
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	int status = client_ask(client, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD,
				IBA_COMPONENT(mc_member_record, mgid) |
					IBA_COMPONENT(mc_member_record, port_gid) |
					IBA_COMPONENT(mc_member_record, join_state),
				&iba_mc_member_record_type, &record);

	client_free(client);
	return status;
}

/* Of P_Keys 0x8001 to 0x8003 only those that fit the host's table are reported, and usable. */
static void check_told(struct world *w, unsigned int host, uint16_t open)
{
	struct client *client = client_new(w->s, w->hosts[0]);
	unsigned int n;
	const uint16_t *keys = sim_p_keys(w->s->sim, w->hosts[host], 1, &n);

	ck_assert_uint_eq(path_key(w, client, host, 0), open);
	for (uint16_t p_key = 0x8001; p_key <= 0x8003; p_key++) {
		bool holds = false;

		for (unsigned int i = 0; i < n; i++)
			holds |= keys[i] == p_key;
		ck_assert_uint_eq(path_key(w, client, host, p_key), holds ? p_key : 0);
		ck_assert_int_eq(join_ipoib(w, host, p_key) == 0, holds);
	}
	client_free(client);
}

/* P_Keys without room in a table are not granted until others go, nor once those return. */
START_TEST(no_room)
{
	static const char *const texts[] = {
		"Default=0x7fff,ipoib: ALL=full;\n=1,ipoib: ALL=full;\n=2,ipoib: ALL=full;\n"
		"=3,ipoib: ALL=full;\n",
		"Default=0x7fff,ipoib: ALL=full;\n=2,ipoib: ALL=full;\n=3,ipoib: ALL=full;\n",
		"Default=0x7fff,ipoib: ALL=full;\n=1,ipoib: ALL=full;\n=2,ipoib: ALL=full;\n"
		"=3,ipoib: ALL=full;\n",
	};
	static const uint16_t open[] = {0x8001, 0x8002, 0x8001};
	struct world *w = world_new(12);
	unsigned int n;

	for (uint16_t host = 3; host <= 5; host++)
		sim_set_partition_cap(w->s->sim, w->hosts[host], host - 2);
	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		ck_assert(g_file_set_contents(w->file, texts[i], -1, NULL));
		if (!i)
			scenario_start(w->s);
		scenario_heavy_sweep(w->s, 20);
		scenario_run_ms(w->s, 500);
		for (unsigned int host = 3; host <= 6; host++) {
			ck_assert_uint_eq(sim_p_keys(w->s->sim, w->hosts[host], 1, &n)[0], 0xFFFF);
			check_told(w, host, host == 3 ? 0xFFFF : open[i]);
		}
		check_enforced(w, true, true);
	}
	world_free(w);
}
END_TEST

static const struct {
	const char *conf;
	bool inbound, outbound;
} directions[] = {
	{"sweep_interval 0\npart_enforce off\n", false, false},
	{"sweep_interval 0\npart_enforce in\n", true, false},
	{"sweep_interval 0\npart_enforce out\n", false, true},
};

/* The operator turns enforcement off, or off in one direction: bits go, hosts keep their tables. */
START_TEST(less_enforcement)
{
	struct world *w = world_new(13);

	scenario_start(w->s);
	run_to_end(w);
	w->now.n = 2;
	w->now.p_key[1] = 0x33;
	w->now.of[1][3] = FULL;
	take_policy(w);
	run_to_end(w);
	check_settled(w);
	scenario_conf(w->s, directions[_i].conf);
	daemon_sweep(w->s->daemon, SWEEP_HEAVY);
	run_to_end(w);
	check_enforced(w, directions[_i].inbound, directions[_i].outbound);
	check_pairs(w);
	world_free(w);
}
END_TEST

/* A switch that answers with success but accepts nothing is logged, and the others are set. */
START_TEST(stubborn_switch)
{
	struct world *w = world_new(17);
	unsigned int node, port;

	scenario_conf(w->s, "sweep_interval 0\npart_enforce off\n");
	scenario_start(w->s);
	run_to_end(w);
	ck_assert(sim_peer(w->s->sim, w->hosts[5], 1, &node, &port));
	sim_node_stubborn(w->s->sim, node, true);
	w->now.n = 2;
	w->now.p_key[1] = 0x33;
	w->now.of[1][5] = FULL;
	w->now.of[1][3] = FULL;
	scenario_conf(w->s, "sweep_interval 0\n");
	take_policy(w);
	daemon_sweep(w->s->daemon, SWEEP_HEAVY);
	run_to_end(w);
	scenario_check_log(w->s, "it does not accept block 0 of its P_KeyTable", true);
	ck_assert_int_eq(sim_port_info(w->s->sim, node, port)->partition_enforcement_inbound, 0);
	sim_node_stubborn(w->s->sim, node, false);
	scenario_run_ms(w->s, 60000);
	check_enforced(w, true, true);
	check_pairs(w);
	world_free(w);
}
END_TEST

/* Each has many policies: PARTITION_SEEDS=FIRST-LAST for more of them ("make partitions"). */
static void add_seeds(TCase *tcase)
{
	const char *text = g_getenv("PARTITION_SEEDS");
	int first = 0, last = some_seeds(6) - 1;

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("PARTITION_SEEDS is %s, not FIRST-LAST", text);
	tcase_add_loop_test(tcase, random_changes, first, last + 1);
	tcase_add_loop_test(tcase, ends_in_a_change, first, last + 1);
	tcase_add_loop_test(tcase, random_requests, first, last + 1);
	tcase_add_loop_test(tcase, dies_in_a_change, first,
			    text ? last + 1 : first + some_seeds(2));
	tcase_set_timeout(tcase, text ? 900 : 120);
}

int main(void)
{
	Suite *suite = suite_create("partitions");
	TCase *tcase = tcase_create("partitions");

	add_seeds(tcase);
	tcase_add_test(tcase, requests_whole_or_not);
	tcase_add_test(tcase, requests_forgotten);
	tcase_add_test(tcase, one_host_moves);
	tcase_add_test(tcase, late_answer);
	tcase_add_test(tcase, bad_file);
	tcase_add_test(tcase, lost_file);
	tcase_add_loop_test(tcase, too_many, 0, 3);
	tcase_add_test(tcase, index_0);
	tcase_add_test(tcase, limited_member_asks);
	tcase_add_test(tcase, asks_by_its_partition);
	tcase_add_test(tcase, no_room);
	tcase_add_loop_test(tcase, less_enforcement, 0, G_N_ELEMENTS(directions));
	tcase_add_test(tcase, stubborn_switch);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

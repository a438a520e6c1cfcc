// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* M_Keys over restarts, of single ports, and foreign ones: what opens which port, at each level. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "managers.h"
#include "policy/keys/key_ring.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define MINUTE_MS (60 * 1000)
#define FOREIGN_KEY UINT64_C(0xF00D)

static char *in(const char *directory, const char *name)
{

	return g_build_filename(directory, name, NULL);
}

static bool is_kept(const struct scenario *s, const char *name)
{
	g_autofree char *file = in(s->cache_dir, name);

	return g_file_test(file, G_FILE_TEST_EXISTS);
}

static void drop(const struct scenario *s, const char *name)
{
	g_autofree char *file = in(s->cache_dir, name);

	ck_assert_int_eq(g_remove(file), 0);
}

static void configure(struct scenario *s, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void configure(struct scenario *s, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	scenario_conf(s, text);
}

static char *per_port_conf(const struct scenario *s, unsigned int level)
{
	g_autofree char *keys = scenario_keys_of_ports(s, level);

	return g_strconcat(keys, "m_key_update_interval 10\n", NULL);
}

struct owner {
	uint64_t guid;
	const struct iba_port_info *info;
};

/* Its endport; hosts here have one. */
static struct owner owner(const struct scenario *s, unsigned int node)
{
	struct sim_node_view view;
	unsigned int port;

	sim_node_view(s->sim, node, &view);
	port = view.type == IBA_NODE_SWITCH ? 0 : 1;
	return (struct owner){sim_port_guid(s->sim, node, port), sim_port_info(s->sim, node, port)};
}

static unsigned int with_key(const struct scenario *s, uint64_t m_key)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += owner(s, i).info->m_key == m_key;
	return n;
}

/* Number of ports that have their key of that generation. */
static unsigned int of_generation(const struct scenario *s, uint64_t generation)
{
	g_autoptr(GBytes) seed = g_bytes_new_static(SCENARIO_SEED, strlen(SCENARIO_SEED));
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += owner(s, i).info->m_key == key_derive(seed, owner(s, i).guid, generation);
	return n;
}

static uint64_t since; /* since when the daemon runs, ns */

static void start(struct scenario *s, unsigned int seconds)
{
	since = runtime_now(s->rt);
	scenario_start(s);
	scenario_converge(s, seconds);
}

static struct scenario *start_with_own_keys(uint64_t seed, unsigned int level)
{
	struct scenario *s = scenario_new("fattree:4", seed);
	g_autofree char *conf = per_port_conf(s, level);

	scenario_conf(s, conf);
	start(s, 10);
	return s;
}

/* ---- over restarts ---- */

/* The option changed while the daemon was away: the files say which keys ports have. */
START_TEST(key_changed_between_runs)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int all = sim_nodes(s->sim);

	configure(s, "m_key 0x1234\nm_key_protection_level %d\n", _i);
	start(s, 10);
	scenario_run_ms(s, 1000);
	scenario_stop(s);
	configure(s, "m_key 0x5678\nm_key_protection_level %d\n", _i);
	start(s, 10);
	ck_assert_uint_eq(with_key(s, 0x5678), all);
	scenario_stop(s);
	scenario_check_log(s, "no answer", false);
	scenario_free(s);
}
END_TEST

/*
 * Losses while keys change are not a reason to regard another key as the right one, which any Get
 * seems to prove at protection level 1. With many losses a switch may be excluded for a while.
 */
START_TEST(losses_while_keys_change)
{
	struct scenario *s = scenario_new("fattree:4", 1 + (uint64_t)_i);
	unsigned int node = scenario_node(s, "leaf-1-0");
	bool much = _i % 4 == 3;

	configure(s, "m_key 0x1234\nm_key_protection_level %d\n", 1);
	start(s, 10);
	configure(s, "m_key 0x5678\nm_key_protection_level %d\n", 1);
	ck_assert(daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 10);
	for (unsigned int i = 0; i < 10; i++) {
		sim_node_set_loss(s->sim, node, much ? 0.7 : 0.3);
		configure(s, i % 2 ? "m_key 0x5678\nm_key_protection_level %d\n"
				   : "m_key_protection_level %d\n", 1);
		ck_assert(daemon_reread(s->daemon, NULL));
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_run_ms(s, much ? 4000 : 500);
		sim_node_set_loss(s->sim, node, 0);
		scenario_converge(s, 20);
	}
	if (!much)
		scenario_check_log(s, "unknown M_Key: excluded", false);
	scenario_free(s);
}
END_TEST

/* Everything else changes along with the key: no port gets requests with the wrong one. */
START_TEST(key_changes_with_all_else)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	bool restarts = _i % 2, first = _i / 2;
	GError *error = NULL;

	configure(s, first ? "m_key_protection_level %d\n"
			   : "m_key 0x1234\nm_key_protection_level %d\n", 1);
	start(s, 10);
	scenario_run_ms(s, 1000);
	configure(s, "m_key 0x5678\nm_key_protection_level %d\npacket_life_time 0x10\n"
		     "max_op_vls 2\nqos TRUE\nlmc 1\n", 1);
	if (restarts) {
		scenario_stop(s);
		start(s, 10);
	} else {
		ck_assert(daemon_reread(s->daemon, &error));
		scenario_heavy_sweep(s, 10);
	}
	scenario_run_ms(s, 2000);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		ck_assert_uint_eq(owner(s, i).info->m_key, 0x5678);
		ck_assert_uint_eq(owner(s, i).info->m_key_violations, 0);
	}
	scenario_check_log(s, "Bad M_Key", false);
	scenario_check_log(s, "no answer", false);
	scenario_free(s);
}
END_TEST

/* A crash while ports get another m_key: they have either, and the file may have the older one. */
START_TEST(crash_while_the_key_changes)
{
	for (unsigned int us = 0; us <= 12000; us += 500) {
		struct scenario *s = scenario_new("fattree:4", 1);

		configure(s, "m_key 0x1234\nm_key_protection_level %d\n", _i);
		start(s, 10);
		scenario_run_ms(s, 1000);
		configure(s, "m_key 0x5678\nm_key_protection_level %d\n", _i);
		ck_assert(daemon_reread(s->daemon, NULL));
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
		scenario_stop(s);
		start(s, 20);
		ck_assert_uint_eq(with_key(s, 0x5678), sim_nodes(s->sim));
		scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
		scenario_free(s);
	}
}
END_TEST

/* Only the daemon's user may read the keys, whatever the mode was. */
START_TEST(files_of_keys)
{
	static const char *const names[] = {"guid2mkey", "neighbors"};
	struct scenario *s = scenario_new("fattree:4", 1);

	start(s, 10);
	scenario_run_ms(s, 1000);
	ck_assert(!is_kept(s, "guid2mkey") && !is_kept(s, "neighbors"));
	configure(s, "m_key 0x1234\n");
	ck_assert(daemon_reread(s->daemon, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 2000);
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *file = in(s->cache_dir, names[i]);
		struct stat st;

		ck_assert_int_eq(g_stat(file, &st), 0);
		ck_assert_uint_eq(st.st_mode & 0777, 0600);
	}
	scenario_stop(s);
	configure(s, "m_key 0x1234\nm_key_lookup FALSE\n");
	drop(s, "guid2mkey");
	start(s, 10);
	scenario_run_ms(s, 1000);
	ck_assert(!is_kept(s, "guid2mkey"));
	scenario_free(s);
}
END_TEST

/* A malformed line is named, costs only itself, and is kept in a copy. */
START_TEST(torn_files)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = in(s->cache_dir, "guid2mkey"), *text = NULL;

	configure(s, "m_key 0x1234\nm_key_protection_level 2\n");
	start(s, 10);
	scenario_run_ms(s, 1000);
	scenario_stop(s);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	text[20] = '?';
	ck_assert(g_file_set_contents(file, text, (gssize)strlen(text) - 12, NULL));
	start(s, 10);
	scenario_check_log(s, "guid2mkey:1: '", true);
	scenario_check_log(s, "expected 0xGUID 0xMKEY; the line is ignored", true);
	ck_assert(is_kept(s, "guid2mkey.bad"));
	scenario_free(s);
}
END_TEST

/* Former ports do not fill the disk: those that are away are removed if there are too many. */
START_TEST(too_many_are_forgotten)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = in(s->cache_dir, "guid2mkey"), *text = NULL;
	g_autoptr(GString) many = g_string_new(NULL);
	unsigned int lines = 0;

	configure(s, "m_key 0x1234\nm_key_protection_level 2\n");
	start(s, 10);
	scenario_stop(s);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	g_string_append(many, text);
	for (unsigned int guid = 1; guid <= 1 << 19; guid++)
		g_string_append_printf(many, "0x%x 0x1\n", guid);
	ck_assert(g_file_set_contents(file, many->str, (gssize)many->len, NULL));
	configure(s, "m_key 0x5678\nm_key_protection_level 2\n"); /* so they are written again */
	start(s, 10);
	scenario_stop(s);
	g_clear_pointer(&text, g_free);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	for (const char *at = text; (at = strstr(at, " 0x0000000000005678\n")); at++)
		lines++;
	ck_assert_uint_eq(lines, sim_nodes(s->sim));
	ck_assert_ptr_null(strstr(text, " 0x0000000000000001\n"));
	scenario_free(s);
}
END_TEST

/* ---- keys of their own ---- */

START_TEST(each_port_has_its_own)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *conf = per_port_conf(s, _i);
	g_autoptr(GString) shared = g_string_new(NULL);
	unsigned int all = sim_nodes(s->sim);

	configure(s, "m_key 0x1234\nm_key_protection_level %d\n", _i);
	start(s, 10);
	scenario_conf(s, conf);
	ck_assert(daemon_reread(s->daemon, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 3000);
	ck_assert_uint_eq(of_generation(s, 0), all);
	scenario_stop(s);
	start(s, 10); /* with files */
	ck_assert_uint_eq(of_generation(s, 0), all);
	scenario_stop(s);
	/* The seed alone changes nothing. */
	g_string_assign(shared, strstr(conf, "m_key_seed_file"));
	g_string_append(shared, "m_key 0x1234\nm_key_per_port FALSE\n");
	scenario_conf(s, shared->str);
	start(s, 10);
	ck_assert_uint_eq(with_key(s, 0x1234), all);
	scenario_check_log(s, "no answer", false);
	scenario_free(s);
}
END_TEST

/* Losses in the first sweep are not mistaken for keys of a later generation of another SM. */
START_TEST(losses_with_keys_of_ports)
{
	struct sim_config config;
	g_autofree char *conf = NULL;
	struct scenario *s;

	scenario_config_default(&config, 1 + (uint64_t)_i);
	config.loss = 0.05;
	s = scenario_new_with("fattree:8", &config, RUNTIME_VIRTUAL);
	conf = per_port_conf(s, 1 + _i % 3);
	scenario_conf(s, conf);
	for (unsigned int runs = 0; runs < 2; runs++) {
		start(s, 30);
		scenario_run_ms(s, 10000);
		ck_assert_uint_eq(of_generation(s, 0), sim_nodes(s->sim));
		scenario_check_log(s, "unknown M_Key: excluded", false);
		scenario_check_log(s, "no answer", false);
		scenario_stop(s);
	}
	scenario_free(s);
}
END_TEST

static void swap(struct scenario *s, const char *a, unsigned int port_a, const char *b,
		 unsigned int port_b)
{
	sim_cable_swap(s->sim, scenario_node(s, a), port_a, scenario_node(s, b), port_b);
}

/* A moved port still has its key, and is unknown until it has answered to that key. */
START_TEST(moved_with_own_keys)
{
	struct scenario *s = start_with_own_keys(1, 1 + _i % 3);

	scenario_run_ms(s, 1000);
	if (_i / 3 % 2) {
		swap(s, "leaf-0-1", 3, "leaf-2-0", 3);
		swap(s, "leaf-0-1", 4, "leaf-2-0", 4);
	} else {
		swap(s, "host-3", 1, "host-9", 1);
		swap(s, "host-3", 1, "host-12", 1);
	}
	scenario_converge(s, 60);
	ck_assert_uint_eq(of_generation(s, 0), sim_nodes(s->sim));
	scenario_free(s);
}
END_TEST

/* The SM's own switch does not answer: that is noticed, and passes, whatever key it may have. */
START_TEST(own_switch_is_silent)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int leaf = scenario_node(s, "leaf-0-0");
	const struct counters *counters;
	uint64_t failed;

	configure(s, "m_key 0x1234\nsweep_interval 5\nm_key_protection_level %d\n", _i);
	start(s, 10);
	scenario_run_ms(s, 7000);
	counters = &daemon_context(s->daemon)->counters;
	failed = counter_get(counters, sweeps_failed);
	sim_node_mute(s->sim, leaf, true);
	scenario_run_ms(s, 60000);
	ck_assert_uint_gt(counter_get(counters, sweeps_failed), failed);
	sim_node_mute(s->sim, leaf, false);
	scenario_converge(s, 60);
	scenario_free(s);
}
END_TEST

/* A crash while ports get their first key: the files are needed to know which port is where. */
START_TEST(crash_in_the_first_sweep)
{
	for (unsigned int us = 500; us <= 12000; us += 500) {
		struct scenario *s = scenario_new("fattree:4", 1);
		g_autofree char *conf = per_port_conf(s, _i);

		scenario_conf(s, conf);
		scenario_start(s);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
		scenario_stop(s);
		start(s, 20);
		ck_assert_uint_eq(of_generation(s, 0), sim_nodes(s->sim));
		scenario_free(s);
	}
}
END_TEST

/* A file that others may read, or one without a secret, is refused as a whole. */
START_TEST(seed_files)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *conf = per_port_conf(s, 1);
	g_autofree char *file = in(s->directory, "seed");
	g_autoptr(GError) error = NULL;

	start(s, 10);
	scenario_conf(s, conf);
	ck_assert_int_eq(g_chmod(file, 0640), 0);
	ck_assert(!daemon_reread(s->daemon, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "m_key_seed_file: "));
	ck_assert_ptr_nonnull(strstr(error->message, "expected mode 0600"));
	g_clear_error(&error);
	ck_assert_int_eq(g_chmod(file, 0600), 0);
	ck_assert(g_file_set_contents_full(file, "too short\n", -1, 0, 0600, NULL));
	ck_assert(!daemon_reread(s->daemon, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "seed:1: expected a line of 16 to 1024"));
	ck_assert_uint_eq(with_key(s, 0), sim_nodes(s->sim));
	scenario_free(s);
}
END_TEST

/* Runs until the first port has its key of that generation. */
static void run_to_renewal(struct scenario *s, uint64_t generation)
{
	uint64_t until = since + generation * 10 * MINUTE_MS * NS_PER_MS;

	scenario_run_ms(s, (until - runtime_now(s->rt)) / NS_PER_MS);
	ck_assert_uint_eq(of_generation(s, generation), 0);
	while (!of_generation(s, generation))
		scenario_run_ms(s, 1);
}

/* A port that got its new key meanwhile is as it is known, whichever key a request had. */
START_TEST(audited_while_keys_are_renewed)
{
	struct scenario *s = start_with_own_keys(1, _i);
	const struct counters *counters = &daemon_context(s->daemon)->counters;

	for (unsigned int generation = 1; generation <= 5; generation++) {
		run_to_renewal(s, generation);
		while (of_generation(s, generation) != sim_nodes(s->sim)) {
			event_emit(&daemon_context(s->daemon)->bus, EVENT_AUDIT_WANTED, 0);
			scenario_run_ms(s, 2);
		}
	}
	scenario_run_ms(s, 1000);
	ck_assert_uint_gt(counter_get(counters, audit_compared), 0);
	ck_assert_uint_eq(counter_get(counters, audit_differed), 0);
	scenario_free(s);
}
END_TEST

/* New keys in time, a few ports at a time, without a sweep and without a violation. */
START_TEST(keys_are_renewed)
{
	struct scenario *s = start_with_own_keys(1, _i);
	unsigned int all = sim_nodes(s->sim), sent;
	const struct counters *counters;

	counters = &daemon_context(s->daemon)->counters;
	for (unsigned int generation = 1; generation <= 3; generation++) {
		run_to_renewal(s, generation);
		ck_assert_uint_le(of_generation(s, generation), 2 * 10);
		scenario_run_ms(s, 200);
		ck_assert_uint_eq(of_generation(s, generation), all);
	}
	ck_assert_uint_eq(counter_get(counters, sweeps_heavy), 1);
	sent = (unsigned int)counter_get(counters, smp_timeouts);
	ck_assert_uint_eq(sent, 0);
	for (unsigned int i = 0; i < all; i++)
		ck_assert_uint_eq(owner(s, i).info->m_key_violations, 0);
	scenario_heavy_sweep(s, 10);
	scenario_converge(s, 10);
	ck_assert_uint_eq(of_generation(s, 3), all);
	scenario_free(s);
}
END_TEST

/* A crash this many milliseconds after the first port got its new key; only one file is saved. */
START_TEST(crash_while_keys_are_renewed)
{
	for (unsigned int ms = 0; ms <= 45; ms += 5) {
		struct scenario *s = start_with_own_keys(1, _i);
		unsigned int all = sim_nodes(s->sim);

		scenario_run_ms(s, 1000);
		run_to_renewal(s, 1);
		scenario_run_ms(s, ms);
		if (ms < 20)
			ck_assert_uint_lt(of_generation(s, 1), all);
		scenario_stop(s);
		start(s, 20);
		ck_assert_uint_eq(of_generation(s, 1), all);
		scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
		scenario_free(s);
	}
}
END_TEST

/* Without the saved keys of single ports: the previous generation is tried, too. */
START_TEST(generation_before)
{
	struct scenario *s = start_with_own_keys(1, 2);

	run_to_renewal(s, 1);
	scenario_stop(s);
	ck_assert_uint_lt(of_generation(s, 1), sim_nodes(s->sim));
	drop(s, "guid2mkey");
	start(s, 20);
	ck_assert_uint_eq(of_generation(s, 1), sim_nodes(s->sim));
	scenario_free(s);
}
END_TEST

/* One that does not answer is probed at once, with either key. */
START_TEST(silent_while_keys_are_renewed)
{
	struct scenario *s = start_with_own_keys(1, 2);
	unsigned int host = scenario_node(s, "host-9");

	run_to_renewal(s, 1);
	sim_node_mute(s->sim, host, true);
	scenario_run_ms(s, 1500);
	ck_assert_uint_eq(of_generation(s, 1), sim_nodes(s->sim) - 1);
	sim_node_mute(s->sim, host, false);
	scenario_converge(s, 20);
	ck_assert_uint_eq(of_generation(s, 1), sim_nodes(s->sim));
	scenario_free(s);
}
END_TEST

/* A port whose answer is lost has the new key and is believed to have the old one. */
START_TEST(answers_lost_while_keys_are_renewed)
{
	struct scenario *s = start_with_own_keys(1, _i);
	unsigned int all = sim_nodes(s->sim);

	for (unsigned int generation = 1; generation <= 4; generation++) {
		run_to_renewal(s, generation);
		sim_set_loss(s->sim, .2);
		scenario_run_ms(s, 2000);
		sim_set_loss(s->sim, 0);
		scenario_converge(s, 60);
		scenario_run_ms(s, 30 * 1000);
		ck_assert_uint_eq(of_generation(s, generation), all);
	}
	scenario_free(s);
}
END_TEST

/* Cables are pulled and hosts come back during the renewal. */
START_TEST(keys_are_renewed_under_load)
{
	struct scenario *s = start_with_own_keys(7, 1);
	unsigned int all = sim_nodes(s->sim);

	for (unsigned int generation = 1; generation <= 5; generation++) {
		unsigned int host = scenario_random_host(s), node, port;

		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, host, 1, false);
		run_to_renewal(s, generation);
		sim_link_set(s->sim, node, port, false);
		sim_link_set(s->sim, host, 1, true);
		daemon_sweep(s->daemon, SWEEP_HEAVY);
		scenario_run_ms(s, 15);
		sim_link_set(s->sim, node, port, true);
		scenario_converge(s, 30);
		scenario_run_ms(s, 15 * 1000);
		ck_assert_uint_eq(of_generation(s, generation), all);
	}
	scenario_free(s);
}
END_TEST

static void copy(const char *from, const char *to, const char *name)
{
	g_autofree char *source = in(from, name), *target = in(to, name), *text = NULL;

	ck_assert(g_file_get_contents(source, &text, NULL, NULL));
	ck_assert(g_file_set_contents(target, text, -1, NULL));
}

/*
 * The standby has the same secret, and follows by the key of its own port. From level 2 on it
 * cannot even discover a subnet without being told which port is where.
 */
START_TEST(standby_follows)
{
	struct managers *m = managers_new("fattree:4", 1);
	g_autofree char *conf = per_port_conf(m->s, _i);
	g_autofree char *both = g_strconcat(conf, MANAGERS_POLLS, NULL);
	unsigned int all = sim_nodes(m->s->sim);

	managers_add(m, "host-1", both);
	managers_add(m, "host-9", both);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	if (_i >= 2) {
		copy(m->sm[0].directory, m->sm[1].directory, "neighbors");
		copy(m->sm[0].directory, m->sm[1].directory, "guid2mkey");
	}
	managers_start(m, 1);
	managers_settle(m, 0, 20);
	for (unsigned int minute = 0; minute < 25; minute++)
		scenario_run_ms(m->s, MINUTE_MS);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	ck_assert_uint_eq(of_generation(m->s, 2), all);
	managers_kill(m, 0);
	managers_settle(m, 1, 20);
	scenario_run_ms(m->s, 2000);
	ck_assert_uint_eq(of_generation(m->s, 2), all);
	managers_free(m);
}
END_TEST

/* As SIGHUP does. */
static void reread(struct managers *m, unsigned int i, const char *conf)
{
	managers_configure(m, i, conf);
	daemon_sweep(m->sm[i].daemon, SWEEP_HEAVY);
}

/*
 * The key changes, or is removed, and the standby is told first, with a higher priority: it finds
 * the previous key by the former rule. The SM that hands over answers to any key, its port does
 * not.
 */
START_TEST(handover_with_another_key)
{
	static const char before[] = MANAGERS_POLLS "m_key 0x1111\nm_key_protection_level 2\n";
	static const char *const after[] = {
		MANAGERS_POLLS "sm_priority 5\nm_key 0x2222\nm_key_protection_level 2\n",
		MANAGERS_POLLS "sm_priority 5\n",
	};
	struct managers *m = managers_new("fattree:4", 1);

	managers_add(m, "host-1", before);
	managers_add(m, "host-9", before);
	managers_start(m, 0);
	managers_start(m, 1);
	managers_settle(m, 0, 20);
	reread(m, 1, after[_i]);
	managers_settle(m, 1, 30);
	ck_assert_uint_eq(with_key(m->s, _i ? 0 : 0x2222), sim_nodes(m->s->sim));
	managers_free(m);
}
END_TEST

/* ---- which SMs are told the SM_Key ---- */

#define WITH_KEY MANAGERS_POLLS "m_key 0x1111\nm_key_protection_level %d\n"

static struct managers *with_standby(int level)
{
	struct managers *m = managers_new("fattree:4", 1);
	g_autofree char *conf = g_strdup_printf(WITH_KEY, level);

	managers_up_with_standby(m, conf, conf);
	managers_settle(m, 0, 20);
	scenario_run_ms(m->s, 3000);
	return m;
}

/* A sender that shows no M_Key is not obeyed, and is not told the SM_Key. */
static void check_standby_hides(struct managers *m)
{
	scenario_run_ms(m->s, 5000);
	managers_control(m, 1, "host-4", IBA_SM_INFO_DISABLE);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
}

/* The key is removed from both: neither hides from the other any more, whichever is told first. */
START_TEST(key_taken_out_of_both)
{
	struct managers *m = with_standby(_i / 2);
	unsigned int first = (unsigned int)_i % 2;

	reread(m, first, MANAGERS_POLLS);
	scenario_run_ms(m->s, 12 * 1000);
	reread(m, 1 - first, MANAGERS_POLLS);
	scenario_run_ms(m->s, 12 * 1000);
	ck_assert_uint_eq(with_key(m->s, 0), sim_nodes(m->s->sim));
	reread(m, 1, MANAGERS_POLLS "sm_priority 5\n");
	managers_settle(m, 1, 10);
	managers_retire(m, 1);
	scenario_expect_at_most(m->s, managers_settle(m, 0, 10), 1500);
	managers_free(m);
}
END_TEST

/* The key is removed from the master alone: the standby would protect the subnet with it. */
START_TEST(standby_wants_a_key)
{
	struct managers *m = with_standby(_i);

	reread(m, 0, MANAGERS_POLLS);
	scenario_run_ms(m->s, 12 * 1000);
	ck_assert_uint_eq(with_key(m->s, 0), sim_nodes(m->s->sim));
	check_standby_hides(m);
	managers_free(m);
}
END_TEST

/* It no longer wants a key, but its port has one that it may not know. */
START_TEST(standby_has_a_foreign_key)
{
	struct managers *m = with_standby(1);

	reread(m, 1, MANAGERS_POLLS);
	sim_set_m_key(m->s->sim, scenario_node(m->s, "host-9"), 1, FOREIGN_KEY, (uint8_t)_i, 0);
	check_standby_hides(m);
	managers_free(m);
}
END_TEST

/* ---- leases ---- */

/* A client sends Set(SwitchInfo) or Set(PortInfo) with a wrong key to each node; no trap
 * arrives. */
static void violate_all(struct scenario *s, struct vendor *vendor)
{
	struct iba_smp smp = {
		.header.base_version = IBA_BASE_VERSION,
		.header.mgmt_class = IBA_CLASS_SUBN_LID,
		.header.class_version = 1,
		.header.method = IBA_METHOD_SET,
		.header.transaction_id = 77,
		.header.attribute_id = IBA_ATTR_PORT_INFO,
		.m_key = FOREIGN_KEY,
	};
	uint8_t wire[IBA_MAD_BYTES];

	wire_encode(&iba_smp_type, &smp, wire);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct vendor_address to = {.lid = scenario_lid(s, i), .qpn = IBA_QP0};

		vendor_send(vendor, &to, wire, sizeof(wire), 0);
	}
}

static unsigned int unprotected(const struct scenario *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += owner(s, i).info->m_key_protect_bits == 0;
	return n;
}

/* However often light sweeps come, and without any: no lease ends. */
START_TEST(one_host_violates_all)
{
	static const unsigned int intervals[] = {5, 10, 19, 0};
	struct scenario *s = scenario_new("fattree:4", 1);
	uint64_t guid = sim_port_guid(s->sim, scenario_node(s, "host-5"), 1);
	struct vendor *vendor;

	configure(s,
		  "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 20\n"
		  "sweep_interval %u\n",
		  intervals[_i]);
	start(s, 10);
	sim_set_traps_lost(s->sim, true);
	vendor = sim_open(s->sim, guid, NULL);
	for (unsigned int second = 0; second < 120; second++) {
		violate_all(s, vendor);
		scenario_run_ms(s, 1000);
		ck_assert_uint_eq(unprotected(s), 0);
	}
	ck_assert_uint_gt(owner(s, scenario_node(s, "leaf-2-0")).info->m_key_violations, 50);
	vendor_close(vendor);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* Trap 256 reports a running lease, and nothing else does: a Get with the right key stops it. */
START_TEST(violations_need_no_sweep)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	uint64_t guid = sim_port_guid(s->sim, scenario_node(s, "host-5"), 1), sweeps, smps;
	const struct counters *counters;
	struct vendor *vendor;

	configure(s, "m_key 0x1234\nm_key_protection_level 2\nm_key_lease_period 20\n"
		     "sweep_interval 0\n");
	start(s, 10);
	counters = &daemon_context(s->daemon)->counters;
	vendor = sim_open(s->sim, guid, NULL);
	sweeps = counter_get(counters, sweeps_partial) + counter_get(counters, sweeps_light) +
		 counter_get(counters, sweeps_heavy);
	smps = counter_get(counters, smp_sent);
	violate_all(s, vendor);
	scenario_run_ms(s, 3000);
	ck_assert_uint_eq(counter_get(counters, traps_m_key), sim_nodes(s->sim));
	ck_assert_uint_ge(counter_get(counters, smp_sent) - smps, sim_nodes(s->sim));
	ck_assert_uint_eq(counter_get(counters, sweeps_partial) +
				  counter_get(counters, sweeps_light) +
				  counter_get(counters, sweeps_heavy),
			  sweeps);
	vendor_close(vendor);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* All leases had ended before the SM came: the ports are protected again by the next check. */
START_TEST(leases_had_ended)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	configure(s, "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 20\n");
	start(s, 10);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		sim_set_m_key(s->sim, i, view.type == IBA_NODE_SWITCH ? 0 : 1, 0x1234, 0, 20);
	}
	scenario_run_ms(s, 11 * 1000);
	ck_assert_uint_eq(unprotected(s), 0);
	scenario_free(s);
}
END_TEST

/* Without violations, each endport is asked twice in a lease, and that is all. */
START_TEST(leases_cost_little)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	const struct counters *counters;
	uint64_t before;

	configure(s, "m_key 0x1234\nm_key_protection_level 1\nm_key_lease_period 20\n"
		     "sweep_interval 0\n");
	start(s, 10);
	counters = &daemon_context(s->daemon)->counters;
	before = counter_get(counters, smp_sent);
	scenario_run_ms(s, 2 * 20 * 1000);
	ck_assert_uint_eq(counter_get(counters, smp_sent) - before, 2 * 2 * sim_nodes(s->sim));
	scenario_free(s);
}
END_TEST

/* ---- foreign keys ---- */

/* Two hosts, a spine, and a leaf with its hosts, which can only be reached through it. */
static const char *const foreign[] = {"host-5", "host-9", "core-0-1", "leaf-3-1"};
static const char *const behind[] = {"host-14", "host-15"};

static void set_foreign(struct scenario *s, uint64_t m_key, unsigned int level)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(foreign); i++) {
		unsigned int node = scenario_node(s, foreign[i]);
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		sim_set_m_key(s->sim, node, view.type == IBA_NODE_SWITCH ? 0 : 1, m_key,
			      (uint8_t)level, 0);
	}
}

static bool is_in(const char *name, const char *const *names, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* No switch of this subnet forwards packets for such a host to a spine outside it. */
static void check_no_way_by_the_spine(struct scenario *s, unsigned int host)
{
	unsigned int spine = scenario_node(s, "core-0-1"), peer, port;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;
		uint8_t out;

		sim_node_view(s->sim, i, &view);
		if (view.type != IBA_NODE_SWITCH ||
		    is_in(view.description, foreign, G_N_ELEMENTS(foreign)))
			continue;
		out = view.lft[scenario_lid(s, host)];
		if (out != 0xFF && sim_peer(s->sim, i, out, &peer, &port) && peer == spine)
			scenario_fail(s, "%s leads to a spine that is not ours", view.description);
	}
}

/* Hosts that are neither foreign nor cut off work, and packets between them arrive. */
static void check_the_others(struct scenario *s)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (view.type == IBA_NODE_SWITCH ||
		    is_in(view.description, foreign, G_N_ELEMENTS(foreign)) ||
		    is_in(view.description, behind, G_N_ELEMENTS(behind)))
			continue;
		if (sim_port_info(s->sim, i, 1)->port_state != IBA_PORT_ACTIVE)
			scenario_fail(s, "%s is not ACTIVE", view.description);
		check_no_way_by_the_spine(s, i);
	}
}

/* They cost a bounded time, then only a probe now and then; and are accepted once they are open. */
START_TEST(foreign_region)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	const struct counters *counters;
	uint64_t partial;

	set_foreign(s, FOREIGN_KEY, (unsigned int)_i);
	configure(s, "m_key 0x1234\nm_key_protection_level %d\n", _i);
	scenario_start(s);
	scenario_run_ms(s, _i == 1 ? 5000 : 15000);
	counters = &daemon_context(s->daemon)->counters;
	scenario_check_log(s, "SUBNET UP", true);
	scenario_check_log(s, "unknown M_Key", true);
	check_the_others(s);
	if (_i == 1)
		ck_assert_uint_eq(counter_get(counters, m_keys_unknown), G_N_ELEMENTS(foreign));
	scenario_run_ms(s, MINUTE_MS);
	check_the_others(s);
	partial = counter_get(counters, sweeps_partial);
	scenario_run_ms(s, 10 * MINUTE_MS);
	ck_assert_uint_le(counter_get(counters, sweeps_partial) - partial, 4 * 11);
	ck_assert_uint_ge(counter_get(counters, sweeps_light), 45);
	ck_assert_uint_eq(with_key(s, FOREIGN_KEY), G_N_ELEMENTS(foreign));
	check_the_others(s);
	set_foreign(s, 0, 0);
	scenario_converge(s, 90);
	ck_assert_uint_eq(counter_get(counters, m_keys_unknown), 0);
	scenario_free(s);
}
END_TEST

/* A foreign newcomer is judged before a route leads to it; one without a key is accepted. */
START_TEST(foreign_newcomer)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int thief = scenario_node(s, "host-5"), open = scenario_node(s, "host-9");
	const struct counters *counters;

	configure(s, "m_key 0x1234\nm_key_protection_level 1\n");
	sim_link_set(s->sim, thief, 1, false);
	sim_link_set(s->sim, open, 1, false);
	start(s, 10);
	counters = &daemon_context(s->daemon)->counters;
	sim_set_m_key(s->sim, thief, 1, FOREIGN_KEY, 1, 0);
	sim_set_m_key(s->sim, open, 1, 0, 1, 0);
	sim_link_set(s->sim, thief, 1, true);
	sim_link_set(s->sim, open, 1, true);
	scenario_run_ms(s, 5000);
	ck_assert_uint_eq(counter_get(counters, m_keys_unknown), 1);
	ck_assert_uint_eq(scenario_lid(s, thief), 0);
	ck_assert_uint_eq(sim_port_info(s->sim, open, 1)->m_key, 0x1234);
	ck_assert_uint_eq(counter_get(counters, sweeps_failed), 0);
	sim_link_set(s->sim, thief, 1, false);
	sim_set_m_key(s->sim, thief, 1, 0, 0, 0);
	sim_link_set(s->sim, thief, 1, true);
	scenario_converge(s, 90);
	ck_assert_uint_eq(counter_get(counters, m_keys_unknown), 0);
	scenario_free(s);
}
END_TEST

/* A lease that its owner no longer renews ends once this SM sends requests; else the key stays. */
START_TEST(foreign_lease)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-5");

	configure(s, "m_key 0x1234\nm_key_protection_level 1\n");
	sim_set_m_key(s->sim, host, 1, FOREIGN_KEY, 1, 5);
	scenario_start(s);
	for (unsigned int i = 0; i < 60; i++) {
		scenario_run_ms(s, 1000);
		sim_set_m_key(s->sim, host, 1, FOREIGN_KEY, 1, _i ? 5 : 0);
	}
	ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key, FOREIGN_KEY);
	scenario_run_ms(s, 130 * 1000);
	ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key, _i ? 0x1234 : FOREIGN_KEY);
	if (_i)
		scenario_converge(s, 20);
	scenario_free(s);
}
END_TEST

/*
 * A foreign switch whose PortStateChange, which cannot be cleared, is known before its M_Key. At
 * level 0 it shows the key; at level 1 it is excluded.
 */
START_TEST(foreign_switch)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int leaf = scenario_node(s, "leaf-3-1");
	const struct counters *counters;

	configure(s, "m_key 0x1234\nm_key_protection_level 1\n");
	for (unsigned int port = 3; port <= 4; port++)
		sim_link_set(s->sim, leaf, port, false);
	start(s, 10);
	counters = &daemon_context(s->daemon)->counters;
	sim_set_m_key(s->sim, leaf, 0, FOREIGN_KEY, (uint8_t)_i, 0);
	for (unsigned int port = 3; port <= 4; port++)
		sim_link_set(s->sim, leaf, port, true);
	if (_i == 0) {
		scenario_converge(s, 20);
		ck_assert_uint_eq(with_key(s, 0x1234), sim_nodes(s->sim));
	}
	scenario_run_ms(s, 30000);
	ck_assert_uint_eq(counter_get(counters, m_keys_unknown), _i);
	scenario_expect_at_most(s, counter_get(counters, sweeps_failed), 1);
	scenario_free(s);
}
END_TEST

/* The administrator is told where the cable of a foreign host is; all others are accepted. */
START_TEST(foreign_host)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int host = scenario_node(s, "host-5"), leaf, port;
	g_autofree char *text = NULL;
	struct sim_node_view view;

	sim_peer(s->sim, host, 1, &leaf, &port);
	sim_node_view(s->sim, leaf, &view);
	text = g_strdup_printf("behind '%s' (0x%016" G_GINT64_MODIFIER "x) port %u: unknown M_Key",
			       view.description, view.node_guid, port);
	sim_set_m_key(s->sim, host, 1, FOREIGN_KEY, 1, 0);
	configure(s, "m_key 0x1234\nm_key_protection_level 1\nsweep_interval 0\n");
	scenario_start(s);
	scenario_run_ms(s, 5000);
	scenario_check_log(s, text, true);
	scenario_check_log(s, "SUBNET UP", true);
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, m_keys_unknown), 1);
	ck_assert_uint_eq(scenario_lid(s, host), 0);
	ck_assert_uint_eq(with_key(s, 0x1234), sim_nodes(s->sim) - 1);
	scenario_free(s);
}
END_TEST

/* The SM's own port is closed to it: the log names the possible cause of the silence. */
START_TEST(foreign_own_port)
{
	static const char *const hints[] = {
		"its M_Key may differ from m_key",
		"its M_Key may differ from m_key",
		"its M_Key may differ from those of m_key_seed_file and guid2mkey",
	};
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *per_port = per_port_conf(s, 2), *text = NULL;
	static const char *const confs[] = {"", "m_key 0x1234\nm_key_protection_level 2\n"};

	sim_set_m_key(s->sim, scenario_node(s, "host-0"), 1, FOREIGN_KEY, 2, 0);
	scenario_conf(s, _i < 2 ? confs[_i] : per_port);
	scenario_start(s);
	scenario_run_ms(s, 20000);
	text = g_strdup_printf("tries; %s\n", hints[_i]);
	scenario_check_log(s, "the SM's own port: Get(NodeInfo) 0x0: no answer to ", true);
	scenario_check_log(s, text, true);
	sim_set_m_key(s->sim, scenario_node(s, "host-0"), 1, 0, 0, 0);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

struct falling_silent {
	struct scenario *s;
	unsigned int node;
};

static void fall_silent(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
			const uint8_t *data, size_t length)
{
	const struct falling_silent *silent = arg;

	(void)now_ns;
	(void)to;
	(void)from;
	if (scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_PORT_INFO))
		sim_node_mute(silent->s->sim, silent->node, true);
}

/* A host that hides no key, and stops answering at the first Set: keys are not the reason. */
START_TEST(no_matter_of_keys)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct falling_silent silent = {s, scenario_node(s, "host-9")};

	configure(s, "m_key 0x1234\nm_key_protection_level 1\n");
	sim_set_trace(s->sim, fall_silent, &silent);
	scenario_start(s);
	scenario_run_ms(s, 10000);
	sim_set_trace(s->sim, NULL, NULL);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", true);
	scenario_check_log(s, ": unknown M_Key", false);
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, m_keys_unknown), 0);
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("keys");
	TCase *tcase = tcase_create("keys");

	tcase_set_timeout(tcase, 240);
	tcase_add_loop_test(tcase, key_changed_between_runs, 0, 4);
	tcase_add_loop_test(tcase, key_changes_with_all_else, 0, 4);
	tcase_add_loop_test(tcase, losses_while_keys_change, 0, some_seeds(16));
	tcase_add_loop_test(tcase, crash_while_the_key_changes, 1, 4);
	tcase_add_test(tcase, files_of_keys);
	tcase_add_test(tcase, torn_files);
	if (SEEDS_PART == 1) /* minutes with AddressSanitizer */
		tcase_add_test(tcase, too_many_are_forgotten);
	tcase_add_loop_test(tcase, each_port_has_its_own, 0, 4);
	tcase_add_loop_test(tcase, losses_with_keys_of_ports, 0, some_seeds(30));
	tcase_add_loop_test(tcase, moved_with_own_keys, 0, 6);
	tcase_add_loop_test(tcase, own_switch_is_silent, 0, 3);
	tcase_add_loop_test(tcase, crash_in_the_first_sweep, 1, 4);
	tcase_add_test(tcase, seed_files);
	tcase_add_loop_test(tcase, audited_while_keys_are_renewed, 0, 4);
	tcase_add_loop_test(tcase, keys_are_renewed, 0, 4);
	tcase_add_loop_test(tcase, crash_while_keys_are_renewed, 1, 4);
	tcase_add_loop_test(tcase, answers_lost_while_keys_are_renewed, 1, 4);
	tcase_add_test(tcase, keys_are_renewed_under_load);
	tcase_add_loop_test(tcase, standby_follows, 0, 4);
	tcase_add_loop_test(tcase, handover_with_another_key, 0, 2);
	tcase_add_loop_test(tcase, key_taken_out_of_both, 0, 6);
	tcase_add_loop_test(tcase, standby_wants_a_key, 0, 4);
	tcase_add_loop_test(tcase, standby_has_a_foreign_key, 0, 4);
	tcase_add_loop_test(tcase, one_host_violates_all, 0, 4);
	tcase_add_test(tcase, violations_need_no_sweep);
	tcase_add_test(tcase, leases_had_ended);
	tcase_add_test(tcase, leases_cost_little);
	tcase_add_loop_test(tcase, foreign_region, 1, 4);
	tcase_add_test(tcase, foreign_newcomer);
	tcase_add_loop_test(tcase, foreign_lease, 0, 2);
	tcase_add_loop_test(tcase, foreign_switch, 0, 2);
	tcase_add_test(tcase, foreign_host);
	tcase_add_loop_test(tcase, foreign_own_port, 0, 3);
	tcase_add_test(tcase, no_matter_of_keys);
	tcase_add_test(tcase, generation_before);
	tcase_add_test(tcase, silent_while_keys_are_renewed);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

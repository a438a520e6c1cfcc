// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which SM leads: one that can set the subnet, before rank; how soon another one leads when the
 * master no longer answers; and what is reported where two are MASTER.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command/command.h"
#include "client/control.h"
#include "managers.h"
#include "sm/election/ability.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define POLLS MANAGERS_POLLS
#define RANK(n) "sm_priority " #n "\n"
#define KEY "m_key 0x1111\n"
#define LEVEL(n) "m_key_protection_level " #n "\n"
#define TAKES_OVER_MS 4000 /* at most, with MANAGERS_POLLS */

static struct managers *m;

static void setup(void)
{
	m = managers_new("fattree:4", 1);
}

static void teardown(void)
{
	managers_free(m);
}

static bool was_master(unsigned int i)
{
	g_autofree char *text = g_strdup_printf("%s is MASTER", m->sm[i].name);

	return strstr(m->story->str, text) != NULL;
}

/* ---- keys ---- */

/* The keys of the SM that has the subnet; and those of one that cannot set it. */
static const struct {
	const char *keys; /* NULL: each port has its own key, at this level */
	unsigned int level;
	const char *other;
} strangers[] = {
	{KEY LEVEL(1), 0, ""},
	{KEY LEVEL(2), 0, ""},
	{KEY LEVEL(1), 0, "m_key 0x2222\n" LEVEL(1)},
	{KEY LEVEL(2), 0, "m_key 0x2222\n" LEVEL(2)},
	{NULL, 1, ""},
	{NULL, 2, ""},
};
#define STRANGERS G_N_ELEMENTS(strangers)

static char *keys_of(unsigned int row)
{
	return strangers[row].keys ? g_strdup(strangers[row].keys)
				   : scenario_keys_of_ports(m->s, strangers[row].level);
}

static void add_able_and_other(unsigned int row, const char *able, const char *other)
{
	g_autofree char *keys = keys_of(row);
	g_autofree char *first = g_strconcat(POLLS, keys, able, NULL);
	g_autofree char *second = g_strconcat(POLLS, strangers[row].other, other, NULL);

	managers_add(m, "host-1", first);
	managers_add(m, "host-9", second);
}

/* An SM of higher or lower rank joins that cannot set the subnet: the one that can goes on. */
START_TEST(unable_one_comes)
{
	uint64_t swept;

	add_able_and_other((unsigned int)_i % STRANGERS, RANK(5),
			   (unsigned int)_i < STRANGERS ? RANK(9) : RANK(1));
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 10 * 1000);
	swept = counter_get(&daemon_context(m->sm[0].daemon)->counters, sweeps_heavy);
	scenario_run_ms(m->s, 20 * 1000);
	managers_settle(m, 0, 5);
	ck_assert(!was_master(1));
	ck_assert_ptr_null(strstr(m->story->str, "HANDOVER"));
	ck_assert_uint_eq(counter_get(&daemon_context(m->sm[0].daemon)->counters, sweeps_heavy),
			  swept);
}
END_TEST

/* The able SM ends and comes back later: the other one takes over nothing meanwhile. */
START_TEST(unable_one_is_left_alone)
{
	add_able_and_other((unsigned int)_i % STRANGERS, RANK(5), RANK(9));
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 5 * 1000);
	if ((unsigned int)_i < STRANGERS)
		managers_kill(m, 0);
	else
		managers_retire(m, 0);
	scenario_run_ms(m->s, 30 * 1000);
	ck_assert(!was_master(1));
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	ck_assert(!was_master(1));
}
END_TEST

/* Both begin at once on a subnet with keys that one of them does not have. */
START_TEST(both_begin)
{
	add_able_and_other((unsigned int)_i, RANK(5), RANK(9));
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_kill(m, 0);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	ck_assert(!was_master(1));
}
END_TEST

/* It is given the key, and leads by its rank; once its key is removed, the other one leads. */
START_TEST(key_comes_and_goes)
{
	g_autofree char *with = g_strconcat(POLLS, strangers[_i].keys, RANK(9), NULL);
	/* the lines are given, or the start is refused: it had keys before */
	g_autofree char *without = g_strconcat("m_key 0x0\nm_key_per_port FALSE\n" LEVEL(0) POLLS,
					       strangers[_i].other, RANK(9), NULL);

	add_able_and_other((unsigned int)_i, RANK(5), RANK(9));
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 30 * 1000);
	ck_assert(!was_master(1));
	managers_configure(m, 1, with);
	daemon_sweep(m->sm[1].daemon, SWEEP_HEAVY);
	ck_assert_uint_le(managers_settle(m, 1, 20), 5000);
	managers_kill(m, 1);
	managers_settle(m, 0, 20);
	managers_configure(m, 1 - 1, with); /* equal keys, and now the higher rank */
	managers_settle(m, 0, 20);
	g_assert(g_file_set_contents(m->sm[1].conf, without, -1, NULL));
	managers_start(m, 1);
	scenario_run_ms(m->s, 10 * 1000);
	managers_settle(m, 0, 5);
}
END_TEST

/* The key changes at the master alone: its former standby can no longer take over. */
START_TEST(key_changes_at_the_master)
{
	static const char before[] = POLLS KEY LEVEL(1) RANK(5);
	static const char after[] = POLLS "m_key 0x3333\n" LEVEL(1) RANK(5);
	static const char *const standby[] = {POLLS KEY LEVEL(1) RANK(3),
					      POLLS KEY LEVEL(1) RANK(9)};
	unsigned int first = _i ? 1 : 0;

	managers_add(m, "host-1", before);
	managers_add(m, "host-9", standby[_i]);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	managers_settle(m, first, 20);
	managers_configure(m, first, _i ? POLLS "m_key 0x3333\n" LEVEL(1) RANK(9) : after);
	daemon_sweep(m->sm[first].daemon, SWEEP_HEAVY);
	scenario_run_ms(m->s, 30 * 1000);
	managers_settle(m, first, 10);
	managers_kill(m, first);
	scenario_run_ms(m->s, 20 * 1000);
	ck_assert_uint_eq(managers_masters(m), 0);
	managers_start(m, first);
	managers_settle(m, first, 20);
}
END_TEST

/* The preferred one is restarted without its files on ports with keys of their own. */
START_TEST(preferred_one_forgot)
{
	g_autofree char *keys = scenario_keys_of_ports(m->s, 2);
	g_autofree char *first = g_strconcat(POLLS, keys, RANK(9), NULL);
	g_autofree char *second = g_strconcat(POLLS, keys, RANK(5), NULL);
	static const char *const files[] = {"guid2mkey", "neighbors"};

	managers_add(m, "host-1", first);
	managers_add(m, "host-9", second);
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	for (unsigned int i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *from = g_build_filename(m->sm[0].directory, files[i], NULL);
		g_autofree char *to = g_build_filename(m->sm[1].directory, files[i], NULL);
		g_autofree char *text = NULL;

		ck_assert(g_file_get_contents(from, &text, NULL, NULL));
		ck_assert(g_file_set_contents(to, text, -1, NULL));
		unlink(from);
	}
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	managers_kill(m, 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *file = g_build_filename(m->sm[0].directory, files[i], NULL);

		unlink(file);
	}
	managers_settle(m, 1, 20);
	managers_start(m, 0);
	scenario_run_ms(m->s, 20 * 1000);
	managers_settle(m, 1, 10);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_DISCOVERING);
}
END_TEST

/* ---- a useless master ---- */

static unsigned int leaf_of(const char *host)
{
	unsigned int leaf, port;

	ck_assert(sim_peer(m->s->sim, scenario_node(m->s, host), 1, &leaf, &port));
	return leaf;
}

static uint64_t until_master(unsigned int i, unsigned int seconds)
{
	uint64_t began = runtime_now(m->s->rt);

	while (!m->sm[i].daemon || managers_state(m, i) != IBA_SM_MASTER) {
		scenario_run_ms(m->s, 1);
		if (runtime_now(m->s->rt) - began > seconds * NS_PER_S)
			scenario_fail(m->s, "%s is no master\n%s", m->sm[i].name, m->story->str);
	}
	return (runtime_now(m->s->rt) - began) / NS_PER_MS;
}

/*
 * The SMA of its leaf hangs, packets still pass: it leads on, by LID. A new process in its place
 * sees only its own port, and leads only when the leaf is back.
 */
START_TEST(leaf_of_the_master_hangs)
{
	unsigned int leaf;
	uint64_t ms;

	managers_up_with_standby(m, POLLS RANK(9), POLLS RANK(5));
	scenario_run_ms(m->s, 3000);
	leaf = leaf_of("host-1");
	sim_node_mute(m->s->sim, leaf, true);
	daemon_sweep(m->sm[0].daemon, SWEEP_HEAVY);
	scenario_run_ms(m->s, 20 * 1000);
	ck_assert_uint_eq(managers_state(m, 0), IBA_SM_MASTER);
	managers_kill(m, 0);
	managers_start(m, 0);
	ms = until_master(1, 20);
	printf("useless host: %" G_GUINT64_FORMAT " ms\n", ms);
	ck_assert_uint_le(ms, TAKES_OVER_MS);
	scenario_run_ms(m->s, 20 * 1000);
	ck_assert_uint_eq(managers_masters(m), 1);
	ck_assert_uint_ne(managers_state(m, 0), IBA_SM_MASTER);
	sim_node_mute(m->s->sim, leaf, false);
	managers_settle(m, 0, 60); /* it is able again, and leads by its rank */
}
END_TEST

/* What a standby saw when it began is old: it reads again before it counts as seeing less. */
START_TEST(subnet_has_grown)
{
	managers_add(m, "host-1", POLLS RANK(5));
	managers_add(m, "host-9", POLLS RANK(3));
	for (unsigned int i = 0; i < 16; i++) {
		g_autofree char *name = g_strdup_printf("leaf-%u-%u", i / 4, i % 2);

		if (i / 4 != 0 && i / 4 != 2)
			sim_node_set(m->s->sim, scenario_node(m->s, name), false);
	}
	for (unsigned int i = 2; i < 4; i++)
		for (unsigned int j = 0; j < 2; j++) {
			g_autofree char *name = g_strdup_printf("spine-%u-%u", i * 2 - 3, j);

			sim_node_set(m->s->sim, scenario_node(m->s, name), false);
		}
	for (unsigned int i = 2; i < 16; i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i);

		if (i != 9)
			sim_node_set(m->s->sim, scenario_node(m->s, name), false);
	}
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	for (unsigned int node = 0; node < sim_nodes(m->s->sim); node++)
		sim_node_set(m->s->sim, node, true);
	managers_settle(m, 0, 20);
	scenario_run_ms(m->s, 20 * 1000);
	managers_configure(m, 1, POLLS RANK(9));
	ck_assert_uint_le(managers_settle(m, 1, 20), 2000);
}
END_TEST

/* ---- two masters ---- */

/* The preferred one ignores others, dies, and is restarted: the other one is its standby. */
START_TEST(preferred_one_ignores_others)
{
	managers_add(m, "host-1", POLLS RANK(15) "ignore_other_sm TRUE\n");
	managers_add(m, "host-9", POLLS RANK(14));
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 3000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	managers_kill(m, 0);
	managers_settle(m, 1, 20);
	scenario_run_ms(m->s, 2000);
	managers_start(m, 0);
	ck_assert_uint_le(managers_settle(m, 0, 20), 5000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
	scenario_run_ms(m->s, 60 * 1000);
	ck_assert_uint_eq(managers_state(m, 1), IBA_SM_STANDBY);
}
END_TEST

static bool tells_of_two_masters(unsigned int i)
{
	return atomic_load(&daemon_context(m->sm[i].daemon)->contested_until) >
	       runtime_now(m->s->rt);
}

/* The one of lower rank ignores others, or both do: both report that there are two masters. */
START_TEST(nobody_yields)
{
	managers_add(m, "host-1", _i ? POLLS RANK(15) "ignore_other_sm TRUE\n" : POLLS RANK(15));
	managers_add(m, "host-9", POLLS RANK(14) "ignore_other_sm TRUE\n");
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	managers_start(m, 1);
	scenario_run_ms(m->s, 120 * 1000);
	ck_assert_uint_eq(managers_masters(m), 2);
	ck_assert(tells_of_two_masters(0) && tells_of_two_masters(1));
	scenario_check_log(m->s, "there are two masters", true);
}
END_TEST

/* ---- how soon another one leads ---- */

/* By its MasterSMLID. */
static bool obeys(const char *host, const char *master)
{
	unsigned int node = scenario_node(m->s, host);

	return sim_port_info(m->s->sim, node, 1)->master_sm_lid ==
	       scenario_lid(m->s, scenario_node(m->s, master));
}

enum ending { KILLED, RETIRED, POWERED_OFF, HUNG, ENDINGS };

static const char *const endings[] = {"kill -9", "SIGTERM", "power off", "hung host"};

/* With varying time since the last poll; the host may have an adapter that answers SMPs. */
START_TEST(master_ends)
{
	enum ending ending = (unsigned int)_i % ENDINGS;
	unsigned int host = scenario_node(m->s, "host-1");
	uint64_t ms;

	managers_up_with_standby(m, POLLS, POLLS);
	scenario_run_ms(m->s, 3000 + 100 * ((unsigned int)_i / ENDINGS));
	if (ending == RETIRED)
		managers_retire(m, 0);
	else
		managers_kill(m, 0);
	if (ending == POWERED_OFF)
		sim_node_set(m->s->sim, host, false);
	if (ending == HUNG)
		sim_node_mute(m->s->sim, host, true);
	ms = until_master(1, 20);
	printf("%s: %" G_GUINT64_FORMAT " ms\n", endings[ending], ms);
	ck_assert_uint_le(ms, TAKES_OVER_MS);
	if (ending == HUNG) {
		scenario_run_ms(m->s, 100);
		ck_assert(obeys("host-14", "host-9"));
	} else {
		managers_settle(m, 1, 10);
	}
}
END_TEST

/* ---- a useless master, as its standby sees it ---- */

/* The master reports that it can set only three ports: its standby reads again, and reports it. */
START_TEST(master_serves_less)
{
	const struct ability less = {.known = true, .switches = 1, .endports = 3, .settable = 3};

	managers_up_with_standby(m, POLLS RANK(9),
				 _i ? POLLS RANK(5) "sm_take_over_useless_master TRUE\n"
				    : POLLS RANK(5));
	scenario_run_ms(m->s, 3000);
	for (unsigned int i = 0; i < 40 && !was_master(1); i++) {
		atomic_store(&daemon_context(m->sm[0].daemon)->ability, ability_pack(&less));
		scenario_run_ms(m->s, 500);
	}
	scenario_check_log(m->s, "can configure 3 ports, but this standby could configure 36",
			   true);
	ck_assert_uint_eq(was_master(1), _i);
	managers_settle(m, 0, 30); /* it reads again, too, sees as much, and leads by its rank */
}
END_TEST

/* ---- what each SM sees, compared with the other ---- */

static void expect(unsigned int i, const char *line, const char *text, bool there)
{
	const struct command_env env = {.daemon = m->sm[i].daemon};
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	ck_assert_msg(!answer.failed && (strstr(answer.text, text) != NULL) == there,
		      "%s of sm%u %s '%s':\n%s", line, i + 1, there ? "lacks" : "has", text,
		      answer.text);
	g_free(answer.text);
}

static void expect_sights(unsigned int i, const char *first, const char *second)
{
	static const char *const lines[] = {"health", "status"};

	for (unsigned int j = 0; j < G_N_ELEMENTS(lines); j++) {
		g_autofree char *json = g_strconcat(lines[j], " json", NULL);

		expect(i, lines[j], first, true);
		expect(i, lines[j], second, true);
		expect(i, json, "\"self\":true,\"tells\":true,\"able\":true,\"switches\":20,"
				"\"ports\":36,\"settable_ports\":36", true);
		expect(i, json, "\"heard_seconds_ago\":0", true);
	}
}

/* From now on SM i reports this of itself, and the other one hears it within two polls. */
static void let_tell(unsigned int i, const struct ability *ability)
{
	atomic_store(&daemon_context(m->sm[i].daemon)->ability, ability_pack(ability));
	scenario_run_ms(m->s, 2100);
}

START_TEST(sights)
{
	const struct ability all = {.known = true, .switches = 20, .endports = 36, .settable = 36};
	const struct ability less = {.known = true, .switches = 1, .endports = 3, .settable = 3};
	const struct ability none = {.known = true, .switches = 1, .endports = 3, .unable = true};

	managers_up_with_standby(m, POLLS RANK(9), POLLS RANK(5));
	scenario_run_ms(m->s, 3000);
	expect_sights(0,
		      "MASTER (this one): sees 20 switches and 36 ports, can configure 36 of these",
		      "STANDBY: sees 20 switches and 36 ports, can configure 36 of these");
	expect_sights(
		1, "STANDBY (this one): sees 20 switches and 36 ports, can configure 36 of these",
		"MASTER: sees 20 switches and 36 ports, can configure 36 of these");
	expect(0, "health", " sms: the standby", false);
	let_tell(1, &less);
	expect(0, "health", "STANDBY: sees 1 switches and 3 ports, can configure 3 of these", true);
	expect(0, "health json", "\"switches\":1,\"ports\":3,\"settable_ports\":3,", true);
	expect(0, "health", "warning sms: the standby, SM 0x", true);
	expect(0, "health",
	       "sees 1 switches and 3 ports and could configure 3 of these, but this "
	       "master configures 36: the others would be lost",
	       true);
	expect(0, "health", "healthy: MASTER", true);
	expect(1, "health",
	       "warning sms: the master can configure 36 ports, but this standby sees 1 ", true);
	let_tell(1, &none);
	expect(0, "health",
	       "cannot configure the subnet, of which it sees 1 switches and 3 ports, and "
	       "could not take over",
	       true);
	expect(0, "health json", "\"able\":false", true);
	let_tell(1, &all);
	expect(0, "health", "warning sms: the standby", false);
	let_tell(0, &less);
	expect(0, "health",
	       "ERROR sm: this master can configure 3 of the 3 ports that it sees, and the "
	       "standby, SM 0x",
	       true);
	expect(1, "health",
	       "ERROR sm: the master can configure 3 ports, but this standby could configure 36",
	       true);
}
END_TEST

/* An SM that is alone, or whose peer is gone, compares itself with no other. */
START_TEST(sights_of_one)
{
	managers_up_with_standby(m, POLLS RANK(9), POLLS RANK(5));
	scenario_run_ms(m->s, 3000);
	managers_kill(m, 1);
	sim_link_set(m->s->sim, scenario_node(m->s, "host-9"), 1, false);
	scenario_run_ms(m->s, 20 * 1000);
	expect(0, "health json", "\"sms\":[]", true);
	expect(0, "status json", "\"sms\":[]", true);
	expect(0, "status", "Subnet Seen", false);
}
END_TEST

/* ---- random cases ---- */

static const char *const places[] = {"host-1", "host-9", "host-5", "host-14"};
#define ABLE 2 /* the first of them, this many, have the keys */

static bool is_able_there(void)
{
	bool any = false;

	for (unsigned int i = 0; i < ABLE; i++)
		any |= m->sm[i].daemon != NULL;
	return any;
}

static void happen(void)
{
	unsigned int i = scenario_random(m->s, G_N_ELEMENTS(places));

	if (!m->sm[i].daemon) {
		managers_start(m, i);
		return;
	}
	switch (scenario_random(m->s, 4)) {
	case 0:
		managers_kill(m, i);
		break;
	case 1:
		managers_retire(m, i);
		break;
	case 2:
		sim_node_mute(m->s->sim, leaf_of(places[i]), scenario_random(m->s, 2));
		break;
	default:
		daemon_sweep(m->sm[i].daemon, SWEEP_HEAVY);
	}
}

/*
 * Two SMs have the keys of the subnet, of two others one has none and one has other keys; ranks are
 * random. They come and go, and leaves hang: no SM leads that cannot set the subnet, and one that
 * can leads in the end.
 */
START_TEST(chance)
{
	g_autofree char *own = NULL;
	const char *keys[] = {KEY LEVEL(1), KEY LEVEL(2), NULL};

	managers_free(m);
	m = managers_new("fattree:4", (uint64_t)_i);
	own = scenario_keys_of_ports(m->s, 1);
	keys[2] = own;
	for (unsigned int i = 0; i < G_N_ELEMENTS(places); i++) {
		const char *of_this = i < ABLE	  ? keys[_i % 3]
				      : i == ABLE ? ""
						  : "m_key 0x77\n" LEVEL(1);
		g_autofree char *conf = g_strdup_printf(POLLS "%ssm_priority %u\n", of_this,
							scenario_random(m->s, 16));

		managers_add(m, places[i], conf);
	}
	managers_start(m, 0);
	managers_settle(m, 0, 20);
	sim_set_loss(m->s->sim, 0.005 * (_i % 3));
	for (unsigned int i = 0; i < 14; i++) {
		happen();
		scenario_run_ms(m->s, scenario_random(m->s, 1 << scenario_random(m->s, 13)));
	}
	sim_set_loss(m->s->sim, 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(places); i++)
		sim_node_mute(m->s->sim, leaf_of(places[i]), false);
	if (!is_able_there())
		managers_start(m, scenario_random(m->s, ABLE));
	managers_settle(m, MANAGERS_ANY, 30);
	for (unsigned int i = ABLE; i < G_N_ELEMENTS(places); i++)
		if (was_master(i))
			scenario_fail(m->s, "%s was MASTER\n%s", m->sm[i].name, m->story->str);
}
END_TEST

/* ABILITY_SEEDS=FIRST-LAST for other and longer runs by hand. */
static void add_by_chance(TCase *tcase)
{
	const char *text = g_getenv("ABILITY_SEEDS");
	int first = 1, last = some_seeds(24);

	if (text && sscanf(text, "%d-%d", &first, &last) != 2)
		g_error("ABILITY_SEEDS is %s, not FIRST-LAST", text);
	tcase_add_loop_test(tcase, chance, first, last + 1);
}

int main(void)
{
	Suite *suite = suite_create("ability");
	TCase *tcase = tcase_create("ability");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, unable_one_comes, 0, 2 * STRANGERS);
	tcase_add_loop_test(tcase, unable_one_is_left_alone, 0, 2 * STRANGERS);
	tcase_add_loop_test(tcase, both_begin, 0, STRANGERS);
	tcase_add_loop_test(tcase, key_comes_and_goes, 0, 4);
	tcase_add_loop_test(tcase, key_changes_at_the_master, 0, 2);
	tcase_add_test(tcase, preferred_one_forgot);
	tcase_add_test(tcase, leaf_of_the_master_hangs);
	tcase_add_test(tcase, subnet_has_grown);
	tcase_add_test(tcase, preferred_one_ignores_others);
	tcase_add_loop_test(tcase, nobody_yields, 0, 2);
	tcase_add_loop_test(tcase, master_ends, 0, 10 * ENDINGS);
	tcase_add_loop_test(tcase, master_serves_less, 0, 2);
	tcase_add_test(tcase, sights);
	tcase_add_test(tcase, sights_of_one);
	add_by_chance(tcase);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Random stories (chance.h), also with several SMs. */
#include <check.h>

#include "chance.h"
#include "tests/run_suite.h"
#include "tests/scenario/managers.h"

#define EVENTS 50

static struct scenario *s;
static struct managers *m;

static unsigned int some_manager(void)
{
	return chance_below(m->n);
}

/* What follows is recorded of this SM. */
static void manager_event(const char *what, unsigned int of, unsigned int told)
{
	g_autofree char *text = g_strdup_printf("%s: sm%u; of sm%u", what, of + 1, told + 1);

	story_event(text);
	story_watch(m->sm[told].daemon, m->sm[told].guid);
}

static void manager_starts(unsigned int i)
{
	if (!m->sm[i].daemon)
		managers_start(m, i);
	manager_event("is started", i, i);
}

static void manager_dies(unsigned int i)
{
	manager_event("dies", i, some_manager());
	managers_kill(m, i);
	s->daemon = NULL;
}

static void manager_retires(unsigned int i)
{
	manager_event("retires", i, i);
	if (!m->sm[i].daemon)
		return;
	daemon_retire(m->sm[i].daemon);
	scenario_run_ms(s, 1500);
	story_tell();
	manager_dies(i);
}

static void manager_configured(unsigned int i)
{
	static const char *const options[] = {
		"", "sm_priority 3\n", "sm_priority 7\nsweep_interval 4\n",
		"ignore_other_sm TRUE\n", "sm_key 7\n", "master_sm_priority 9\n",
		"allowed_sm_guids 0x0200000000000401,0x0200000000000901\n"};
	const char *text = options[chance_below(G_N_ELEMENTS(options))];
	g_autofree char *conf = NULL, *with_polls = g_strconcat(LOUD MANAGERS_POLLS, text, NULL);

	conf = story_conf(with_polls);
	manager_event("has other options", i, i);
	story_say(text);
	if (m->sm[i].daemon)
		managers_configure(m, i, conf);
}

static void manager_mute(unsigned int i)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);
	bool on = chance_below(2);

	manager_event(on ? "its port is mute" : "its port answers", i, some_manager());
	sim_node_mute(s->sim, node, on);
}

static void manager_cable(unsigned int i)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);
	bool up = !sim_link_up(s->sim, node, 1);

	manager_event(up ? "its cable is plugged" : "its cable is pulled", i,
		      chance_below(2) ? i : 0);
	sim_link_set(s->sim, node, 1, up);
}

static void manager_adapter(unsigned int i)
{
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);

	manager_event("its adapter is gone for a while", i, chance_below(2) ? i : 0);
	sim_device_set(s->sim, node, false);
	scenario_run_ms(s, chance_below(2500));
	sim_device_set(s->sim, node, true);
}

static void manager_controlled(unsigned int i)
{
	unsigned int control = IBA_SM_INFO_HANDOVER + chance_below(5);

	manager_event("is sent a control", i, i);
	story_say(iba_name(IBA_SET_SM_INFO_MOD, control) ?: "none");
	if (m->sm[i].daemon)
		managers_control(m, i, "host-4", control);
}

static void manager_loss(unsigned int i)
{
	static const char *const packets[] = {
		"Set(SMInfo)", "Get(SMInfo)", "GetResp(SMInfo)", "Set(?)", "Trap(Notice)",
		NULL,	       NULL};
	const char *packet = packets[chance_below(G_N_ELEMENTS(packets))];
	unsigned int node = (unsigned int)sim_find_guid(s->sim, m->sm[i].guid);

	manager_event("are lost to it or from it", i, some_manager());
	story_say(packet ?: "none");
	story_lose(packet, packet ? chance_name(node) : NULL);
}

static void manager_cut_off(unsigned int i)
{
	bool joined = !sim_link_up(s->sim, story_node("sw-a"), 5);

	manager_event(joined ? "two parts are joined" : "two parts are cut off", i, i);
	sim_link_set(s->sim, story_node("sw-a"), 5, joined);
	sim_link_set(s->sim, story_node("sw-a"), 6, joined);
}

static void manager_sweeps(unsigned int i)
{
	manager_event("sweeps", i, i);
	if (m->sm[i].daemon)
		daemon_sweep(m->sm[i].daemon, chance_below(2) ? SWEEP_HEAVY : SWEEP_LIGHT);
}

static void manager_reboots(unsigned int i)
{
	manager_event("something reboots", i, i);
	chance_reboot();
}

static void (*const dealings[])(unsigned int i) = {
	manager_starts, manager_starts, manager_starts, manager_dies, manager_retires,
	manager_configured, manager_mute, manager_cable, manager_cable, manager_adapter,
	manager_controlled, manager_loss, manager_cut_off, manager_cut_off, manager_sweeps,
	manager_reboots, manager_configured,
};

static void begin_managers(const char *name)
{
	static const char *const hosts[] = {"host-1", "host-6", "host-3"};
	g_autofree char *file = story_topology("triangle.topo"), *text = NULL;

	m = managers_new(file, 1);
	s = m->s;
	story_on(name, s);
	story_briefly();
	text = story_conf(LOUD MANAGERS_POLLS "replication_key_file DIRECTORY/key\n");
	story_write("key", "a key that all of them share, 0123456789\n");
	for (unsigned int i = 0; i < G_N_ELEMENTS(hosts); i++)
		managers_add(m, hosts[i], text);
	chance_note_guids(s);
	manager_starts(0);
	story_after_ms(2000);
}

START_TEST(about_keys)
{
	chance_story(&chance_keys, "triangle.topo", 1 + _i, _i ? "host-1" : "sw-b");
}
END_TEST

START_TEST(about_lanes)
{
	chance_story(&chance_lanes, _i == 3 ? "../scenario/dual_plane.topo" : "ring.topo", 1 + _i,
		     "host-1");
}
END_TEST

START_TEST(about_groups)
{
	chance_story(&chance_groups, _i % 2 ? "fattree:4" : "triangle.topo", 1 + _i, "host-1");
}
END_TEST

START_TEST(about_the_sick)
{
	chance_story(&chance_sick, _i % 2 ? "fattree:4" : "triangle.topo", 1 + _i, "host-1");
}
END_TEST

static void tell_managers(unsigned int seed)
{
	g_autofree char *name = g_strdup_printf("chance_managers_%u", seed), *conf = NULL;

	begin_managers(name);
	conf = story_conf(QUIET MANAGERS_POLLS);
	s->random = seed + 999;
	for (unsigned int i = 0; i < EVENTS; i++) {
		unsigned int what = chance_below(G_N_ELEMENTS(dealings));

		dealings[what](some_manager());
		chance_time();
	}
	chance_mend();
	for (unsigned int i = 0; i < m->n; i++) {
		manager_dies(i);
		scenario_write_conf(m->sm[i].conf, conf);
	}
	manager_starts(0);
	manager_starts(1);
	managers_settle(m, MANAGERS_ANY, 60);
	story_tell();
	story_compare();
	managers_free(m);
}

START_TEST(managers_by_chance)
{
	tell_managers((unsigned int)_i + 1);
	tell_managers((unsigned int)_i + 1);
}
END_TEST

#define SEEDS 4 /* per test */

START_TEST(one_day)
{
	chance_story(&chance_anything, "triangle.topo", 1 + _i, "host-1");
}
END_TEST

START_TEST(another_day)
{
	chance_story(&chance_anything, "triangle.topo", 1 + SEEDS + _i, "host-4");
}
END_TEST

START_TEST(on_a_switch)
{
	chance_story(&chance_anything, "triangle.topo", 1 + 2 * SEEDS + _i, "sw-a");
}
END_TEST

START_TEST(on_two_switches)
{
	chance_story(&chance_anything, "triangle.topo", 1 + 3 * SEEDS + _i, "dual");
}
END_TEST

START_TEST(in_a_tree)
{
	chance_story(&chance_anything, "fattree:4", 1 + 4 * SEEDS + _i, "host-0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chance_golden");
	TCase *tcase = tcase_create("stories");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, one_day, 0, SEEDS);
	tcase_add_loop_test(tcase, another_day, 0, SEEDS);
	tcase_add_loop_test(tcase, on_a_switch, 0, SEEDS);
	tcase_add_loop_test(tcase, on_two_switches, 0, SEEDS);
	tcase_add_loop_test(tcase, in_a_tree, 0, SEEDS);
	tcase_add_loop_test(tcase, about_keys, 0, SEEDS);
	tcase_add_loop_test(tcase, about_lanes, 0, SEEDS);
	tcase_add_loop_test(tcase, about_groups, 0, SEEDS);
	tcase_add_loop_test(tcase, about_the_sick, 0, SEEDS);
	tcase_add_loop_test(tcase, managers_by_chance, 0, SEEDS);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports that misbehave: each condition, what the policy does about it, and how it ends. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "ctl/command/command.h"
#include "client/control.h"
#include "scenario.h"
#include "sm/health/unhealthy.h"
#include "tests/run_suite.h"

static char *policy_file(const struct scenario *s)
{
	return g_build_filename(s->directory, "ports-policy.conf", NULL);
}

static void set_policy(struct scenario *s, const char *conf, const char *policy)
{
	g_autofree char *file = policy_file(s);
	g_autofree char *text = g_strdup_printf("%shm_ports_health_policy_file %s\n", conf, file);

	g_assert(g_file_set_contents(file, policy, -1, NULL));
	scenario_conf(s, text);
}

/* policy NULL: no file. */
static struct scenario *up(const char *spec, const char *conf, const char *policy)
{
	struct scenario *s = scenario_new(spec, 1);

	if (policy)
		set_policy(s, conf, policy);
	else
		scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 20);
	scenario_run_ms(s, 2000);
	return s;
}

/* A device, and the switch port in front of it. */
struct place {
	unsigned int node, sw, port;
	uint64_t guid, sw_guid;
};

static struct place place_of(struct scenario *s, const char *name)
{
	struct place place = {.node = scenario_node(s, name)};
	struct sim_node_view view;

	g_assert(sim_peer(s->sim, place.node, 1, &place.sw, &place.port));
	sim_node_view(s->sim, place.node, &view);
	place.guid = view.node_guid;
	sim_node_view(s->sim, place.sw, &view);
	place.sw_guid = view.node_guid;
	return place;
}

static unsigned int state_of(struct scenario *s, const struct place *place)
{
	return sim_port_info(s->sim, place->sw, place->port)->port_state;
}

static bool is_off(struct scenario *s, const struct place *place)
{
	return sim_port_info(s->sim, place->sw, place->port)->port_physical_state ==
	       IBA_PHYS_DISABLED;
}

static bool is_in_subnet(struct scenario *s, const struct place *place)
{
	struct subnet *subnet = slot_take(&daemon_context(s->daemon)->subnet);
	bool found = fabric_node_by_guid(subnet->fabric, place->guid) != FABRIC_NONE;

	subnet_unref(subnet);
	return found;
}

/* The answer to a line of the console; g_free it. */
static char *console(struct scenario *s, const char *line, unsigned int *status)
{
	struct command_env env = {.daemon = s->daemon, .sim = s->sim};
	struct command_answer answer;

	command_run(&env, line, true, &answer);
	if (status)
		*status = answer.status;
	return answer.text;
}

static void expect_said(struct scenario *s, const char *line, const char *text)
{
	g_autofree char *said = console(s, line, NULL);

	if (!strstr(said, text))
		scenario_fail(s, "'%s' says '%s', expected '%s'", line, said, text);
}

static void release(struct scenario *s, const struct place *place)
{
	g_autofree char *line = g_strdup_printf("unhealthy release 0x%016" G_GINT64_MODIFIER "x %u",
						place->sw_guid, place->port);

	expect_said(s, line, "1 released");
}

static void flap(struct scenario *s, const struct place *place, unsigned int times)
{
	scenario_expect(s,
			sim_link_flap(s->sim, place->sw, place->port, NS_PER_S, NS_PER_S, times));
	scenario_run_ms(s, times * 2000 + 1000);
}

#define VENDOR 0x1000 /* or'ed to a trap number to make it a vendor's */

static void send_traps(struct scenario *s, const struct place *place, uint16_t number,
		       unsigned int n, unsigned int every_ms)
{
	struct iba_notice trap = {
		.is_generic = !(number & VENDOR),
		.trap_number = number & ~VENDOR,
		.issuer_lid = scenario_lid(s, place->node),
	};

	for (unsigned int i = 0; i < n; i++) {
		sim_trap(s->sim, place->node, 1, &trap);
		scenario_run_ms(s, every_ms);
	}
}

static void expect_left_out(struct scenario *s, const struct place *place)
{
	scenario_expect(s, state_of(s, place) <= IBA_PORT_INIT);
	scenario_expect(s, !is_in_subnet(s, place));
	scenario_expect(s, atomic_load(&daemon_context(s->daemon)->sm_state) == IBA_SM_MASTER);
	scenario_expect(s, !(atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_ERRORS));
}

static char *state_file(const struct scenario *s)
{
	return g_build_filename(s->cache_dir, "unhealthy-ports", NULL);
}

/* ---- flapping ---- */

#define ISOLATE_FLAPPING "flapping ca isolate release 60\n"

START_TEST(flapping_host)
{
	struct scenario *s = up("fattree:4", "", ISOLATE_FLAPPING);
	struct place host = place_of(s, "host-9");
	g_autofree char *file = state_file(s);
	unsigned int status;
	uint64_t sets;

	flap(s, &host, 8);
	scenario_check_log(s, "unhealthy (flapping): port", true);
	scenario_check_log(s, "'host-9'", true);
	expect_left_out(s, &host);
	ck_assert_uint_eq(state_of(s, &host), IBA_PORT_INIT);
	expect_said(s, "unhealthy", " to host-9: flapping");
	expect_said(s, "unhealthy json", "\"action\":\"isolate\"");
	expect_said(s, "status", "Unhealthy Ports      : 1, 1 of them excluded");
	g_free(console(s, "health", &status));
	ck_assert_uint_eq(status, CONTROL_DEVICES_BAD);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	sets = scenario_counters(s).sets;
	scenario_run_ms(s, 50 * 1000);
	expect_left_out(s, &host);
	ck_assert_uint_eq(scenario_counters(s).sets, sets);
	scenario_converge(s, 20);
	scenario_check_log(s, "no longer unhealthy", true);
	expect_said(s, "unhealthy", "no port misbehaves");
	scenario_free(s);
}
END_TEST

/* While it goes on, isolation does not begin; and a port that is ACTIVE is taken down. */
START_TEST(isolated_while_up)
{
	struct scenario *s = up("fattree:4", "", ISOLATE_FLAPPING);
	struct place host = place_of(s, "host-9");

	flap(s, &host, 60);
	expect_left_out(s, &host);
	scenario_run_ms(s, 55 * 1000);
	expect_left_out(s, &host);
	scenario_converge(s, 20);
	flap(s, &host, 6); /* again, at once: twice the time */
	expect_left_out(s, &host);
	scenario_run_ms(s, 100 * 1000);
	expect_left_out(s, &host);
	scenario_converge(s, 40);
	scenario_free(s);
}
END_TEST

/* Without a policy it is only reported. */
START_TEST(only_reported)
{
	struct scenario *s = up("fattree:4", "", NULL);
	struct place host = place_of(s, "host-9");

	flap(s, &host, 8);
	scenario_check_log(s, "unhealthy (flapping)", true);
	scenario_converge(s, 5);
	expect_said(s, "unhealthy", "report");
	expect_said(s, "status", "Unhealthy Ports      : 1, 0 of them excluded");
	scenario_run_ms(s, 620 * 1000);
	expect_said(s, "unhealthy", "no port misbehaves");
	scenario_free(s);
}
END_TEST

START_TEST(not_watched)
{
	struct scenario *s = up("fattree:4", "hm_unhealthy_ports_checks FALSE\n", ISOLATE_FLAPPING);
	struct place host = place_of(s, "host-9");

	flap(s, &host, 8);
	scenario_check_log(s, "unhealthy", false);
	scenario_converge(s, 5);
	scenario_free(s);
}
END_TEST

START_TEST(own_cable_is_left_alone)
{
	struct scenario *s = up("fattree:4", "", "flapping all disable cut_off\n");
	struct place own = place_of(s, "host-0");

	flap(s, &own, 20);
	scenario_check_log(s, "but only reported: it is the cable of the SM's own port", true);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* Between switches: the only cable stays, unless the rule says otherwise; one of several goes. */
START_TEST(cable_between_switches)
{
	struct scenario *s = up("xgft:2,2:1,1", "", "flapping switch isolate release 30\n");
	unsigned int leaf = scenario_node(s, "host-2");
	struct place cable = {0};

	g_assert(sim_peer(s->sim, leaf, 1, &leaf, &cable.port));
	cable.node = leaf;
	for (unsigned int port = 1; !cable.sw_guid; port++) {
		struct sim_node_view view;

		if (!sim_peer(s->sim, leaf, port, &cable.sw, &cable.port))
			continue;
		sim_node_view(s->sim, cable.sw, &view);
		if (view.type == IBA_NODE_SWITCH)
			cable.sw_guid = view.node_guid;
	}
	flap(s, &cable, 8);
	scenario_check_log(s, "but only reported: other nodes would be cut off", true);
	scenario_converge(s, 10);
	set_policy(s, "", "flapping switch isolate release 60 cut_off\n");
	ck_assert(daemon_reread_logged(s->daemon));
	expect_said(s, "unhealthy release all", "1 released");
	scenario_run_ms(s, 1000);
	flap(s, &cable, 8);
	ck_assert_uint_eq(state_of(s, &cable), IBA_PORT_INIT);
	scenario_run_ms(s, 55 * 1000);
	scenario_converge(s, 30);
	scenario_free(s);
}
END_TEST

START_TEST(one_of_several_cables)
{
	struct scenario *s = up("fattree:4", "", "flapping switch isolate release 60\n");
	struct place cable = {.sw = scenario_node(s, "leaf-0-0"), .port = 3};
	unsigned int status;

	flap(s, &cable, 8);
	scenario_check_log(s, "but only reported", false);
	ck_assert_uint_eq(state_of(s, &cable), IBA_PORT_INIT);
	scenario_check_log(s, "action isolate", true);
	scenario_expect(s, !(atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_ERRORS));
	expect_said(s, "health", "ports: 1 unhealthy ports are excluded");
	g_free(console(s, "health", &status));
	ck_assert_uint_eq(status, CONTROL_DEVICES_BAD);
	scenario_run_ms(s, 50 * 1000);
	scenario_converge(s, 20);
	scenario_free(s);
}
END_TEST

/* The other cable of the leaf is lost: the isolated one is the last, and is taken back. */
START_TEST(last_cable_is_taken_back)
{
	struct scenario *s = up("fattree:4", "", "flapping switch isolate release never\n");
	struct place first = {.node = scenario_node(s, "leaf-3-1")}, last = first;
	g_autofree char *nearer = NULL;
	struct sim_node_view view;

	g_assert(sim_peer(s->sim, first.node, 3, &first.sw, &first.port));
	g_assert(sim_peer(s->sim, last.node, 4, &last.sw, &last.port));
	flap(s, &first, 8);
	scenario_check_log(s, "action isolate", true);
	scenario_check_log(s, "but only reported", false);
	ck_assert_uint_eq(state_of(s, &first), IBA_PORT_INIT);
	sim_node_view(s->sim, first.sw, &view);
	nearer = g_strdup_printf("%s port %u to leaf-3-1: ", view.description, first.port);
	expect_said(s, "unhealthy", nearer);
	sim_link_set(s->sim, last.sw, last.port, false);
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "a switch is gone, and this port may lead to it", true);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* ---- traps ---- */

START_TEST(babbling_port)
{
	struct scenario *s = up("fattree:4", "babbling_port_policy TRUE\n", NULL);
	struct place host = place_of(s, "host-9");

	send_traps(s, &host, IBA_TRAP_LINK_INTEGRITY, 249, 20);
	ck_assert(!is_off(s, &host));
	send_traps(s, &host, IBA_TRAP_LINK_INTEGRITY, 1, 2000);
	scenario_check_log(s, "unhealthy (babbling)", true);
	ck_assert(is_off(s, &host));
	expect_left_out(s, &host);
	scenario_run_ms(s, 3600 * 1000); /* for ever, as the classic daemon does */
	ck_assert(is_off(s, &host));
	expect_said(s, "unhealthy", "disable until it is released");
	release(s, &host);
	scenario_run_ms(s, 1000);
	ck_assert(!is_off(s, &host));
	scenario_converge(s, 10);
	expect_said(s, "unhealthy", "no port misbehaves");
	scenario_free(s);
}
END_TEST

START_TEST(babbling_is_reported)
{
	struct scenario *s = up("fattree:4", "", NULL);
	struct counters *counters = &daemon_context(s->daemon)->counters;
	struct place host = place_of(s, "host-9");
	uint64_t sweeps = counter_get(counters, sweeps_partial);

	send_traps(s, &host, IBA_TRAP_LINK_INTEGRITY, 500, 20);
	ck_assert_uint_eq(counter_get(counters, sweeps_partial), sweeps);
	scenario_check_log(s, "unhealthy (noisy_traps)", true);
	scenario_check_log(s, "unhealthy (babbling)", false);
	scenario_converge(s, 5);
	scenario_free(s);
}
END_TEST

/* Traps for which the port is not to blame. */
START_TEST(harmless_traps)
{
	struct scenario *s = up("fattree:4", "", "noisy_traps ca disable 10 in 90\n");
	struct place host = place_of(s, "host-9");

	send_traps(s, &host, IBA_TRAP_BAD_P_KEY, 20, 10);
	send_traps(s, &host, IBA_TRAP_BAD_M_KEY, 20, 10);
	send_traps(s, &host, IBA_TRAP_LINK_STATE_CHANGE, 20, 10);
	scenario_check_log(s, "unhealthy", false);
	send_traps(s, &host, VENDOR | IBA_TRAP_BAD_P_KEY, 10, 100);
	scenario_check_log(s, "unhealthy (noisy_traps)", true);
	scenario_free(s);
}
END_TEST

/* Its switch sends ten traps about the port. */
static void tell_of_port(struct scenario *s, const struct place *place)
{
	struct iba_trap_port details = {.lid = scenario_lid(s, place->sw), .port_num = place->port};
	struct iba_notice trap = {
		.is_generic = true, .trap_number = IBA_TRAP_WATCHDOG, .issuer_lid = details.lid};

	wire_encode(&iba_trap_port_type, &details, trap.data_details);
	for (unsigned int i = 0; i < 10; i++) {
		scenario_expect(s, sim_trap(s->sim, place->sw, 0, &trap));
		scenario_run_ms(s, 100);
	}
}

/* A switch reports errors at one of its ports: the cause is the device plugged in there. */
START_TEST(traps_about_a_port)
{
	struct scenario *s = up("fattree:4", "", "noisy_traps ca disable 10 in 90\n");
	struct place host = place_of(s, "host-9");

	tell_of_port(s, &host);
	ck_assert(is_off(s, &host));
	expect_left_out(s, &host);
	expect_said(s, "status", "Unhealthy Ports      : 1, 1 of them excluded");
	scenario_free(s);
}
END_TEST

/* Two hosts and no switch: there is no port in front of the noisy one, so none is counted. */
START_TEST(no_switch_before_it)
{
	struct scenario *s = up("two_hosts.topo", "", "noisy_traps ca disable 10 in 90\n");
	struct place host = {.node = scenario_node(s, "host-1")};

	send_traps(s, &host, VENDOR, 20, 100);
	ck_assert_uint_ge(counter_get(&daemon_context(s->daemon)->counters, traps_received), 20);
	scenario_check_log(s, "unhealthy", false);
	scenario_converge(s, 5);
	scenario_free(s);
}
END_TEST

START_TEST(noisy_host_disabled)
{
	struct scenario *s = up("fattree:4", "", "noisy_traps ca disable 60 in 90 release 30\n");
	struct place host = place_of(s, "host-9"), other = place_of(s, "host-12");

	send_traps(s, &other, VENDOR, 100, 10);
	send_traps(s, &host, VENDOR, 59, 10);
	ck_assert(!is_off(s, &host));
	send_traps(s, &host, VENDOR, 1, 1000);
	ck_assert(is_off(s, &host));
	ck_assert(is_off(s, &other));
	release(s, &other);
	scenario_run_ms(s, 1000);
	ck_assert(!is_off(s, &other));
	expect_left_out(s, &host);
	scenario_run_ms(s, 25 * 1000);
	ck_assert(is_off(s, &host));
	scenario_run_ms(s, 10 * 1000);
	ck_assert(!is_off(s, &host));
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* ---- silence, Sets, answers, reboots ---- */

START_TEST(mute_switch)
{
	struct scenario *s = up("fattree:4", "", NULL);
	unsigned int spine = 0;
	struct sim_node_view view;

	do {
		spine = scenario_random_switch(s);
		sim_node_view(s->sim, spine, &view);
	} while (strncmp(view.description, "core", 4) && strncmp(view.description, "spine", 5));
	sim_node_mute(s->sim, spine, true);
	scenario_run_ms(s, 90 * 1000);
	scenario_check_log(s, "unhealthy (unresponsive): switch", true);
	scenario_check_log(s, "action report", true);
	expect_said(s, "unhealthy", "unresponsive");
	sim_node_mute(s->sim, spine, false);
	scenario_converge(s, 70);
	scenario_free(s);
}
END_TEST

START_TEST(mute_host)
{
	struct scenario *s = up("fattree:4", "", "unresponsive ca no_discover release 60\n");
	struct place host = place_of(s, "host-9");
	uint64_t lost;

	sim_node_mute(s->sim, host.node, true);
	scenario_expect(s, sim_link_flap(s->sim, host.sw, host.port, NS_PER_S, NS_PER_S, 1));
	scenario_run_ms(s, 100 * 1000);
	scenario_check_log(s, "unhealthy (unresponsive): port", true);
	sim_node_mute(s->sim, host.node, false);
	lost = counter_get(&daemon_context(s->daemon)->counters, smp_timeouts);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, smp_timeouts), lost);
	scenario_converge(s, 70);
	scenario_free(s);
}
END_TEST

/* Its link stays up: it is probed, since it had reported a change, and no longer answers. */
START_TEST(deaf_host)
{
	struct scenario *s = up("fattree:4", "", "unresponsive ca isolate release 60\n");
	struct place host = place_of(s, "host-9");

	sim_set_description(s->sim, host.node, "renamed");
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + 500 * NS_PER_US);
	sim_node_mute(s->sim, host.node, true);
	scenario_run_ms(s, 90 * 1000);
	scenario_check_log(s, "unhealthy (unresponsive): port", true);
	expect_left_out(s, &host);
	ck_assert_uint_eq(state_of(s, &host), IBA_PORT_INIT);
	sim_node_mute(s->sim, host.node, false);
	scenario_run_ms(s, 60 * 1000);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* The subnet comes up without it. */
START_TEST(failing_sets)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct place host;

	set_policy(s, "", "set_errors ca isolate release never\n");
	host = place_of(s, "host-9");
	sim_node_stubborn(s->sim, host.node, true);
	scenario_start(s);
	scenario_run_ms(s, 5 * 1000);
	scenario_check_log(s, "SUBNET UP", false);
	scenario_run_ms(s, 75 * 1000);
	scenario_check_log(s, "unhealthy (set_errors)", true);
	scenario_check_log(s, "SUBNET UP", true);
	expect_left_out(s, &host);
	scenario_run_ms(s, 3600 * 1000);
	expect_left_out(s, &host);
	sim_node_stubborn(s->sim, host.node, false);
	expect_said(s, "unhealthy release 0x1234567", "no such port is unhealthy");
	expect_said(s, "unhealthy rel all", "expected release");
	release(s, &host);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* It kept its LID, but its link stays in INIT: it is to blame, not the port in front of it. */
START_TEST(stays_in_init)
{
	struct scenario *s = up("fattree:4", "", "set_errors ca isolate release never\n");
	struct place host = place_of(s, "host-9");

	sim_node_stubborn(s->sim, host.node, true);
	flap(s, &host, 1);
	scenario_run_ms(s, 80 * 1000);
	scenario_check_log(s, "port 1 stays in INIT", true);
	scenario_check_log(s, "unhealthy (set_errors): port", true);
	scenario_check_log(s, "unhealthy (set_errors): switch", false);
	expect_left_out(s, &host);
	scenario_free(s);
}
END_TEST

/* Neither end of a link accepts a Set: the link is to blame, not the whole switch. */
START_TEST(stays_in_init_at_both_ends)
{
	struct scenario *s = up("fattree:4", "", "set_errors all isolate release never\n");
	struct place host = place_of(s, "host-9");

	sim_node_stubborn(s->sim, host.node, true);
	sim_node_stubborn(s->sim, (unsigned int)sim_find_guid(s->sim, host.sw_guid), true);
	flap(s, &host, 1);
	scenario_run_ms(s, 80 * 1000);
	expect_left_out(s, &host);
	scenario_check_log(s, "unhealthy (set_errors): port", true);
	scenario_check_log(s, "unhealthy (set_errors): switch", false);
	scenario_free(s);
}
END_TEST

/* A switch that accepts no Sets: its hosts, which do, are not to blame. */
START_TEST(failing_switch)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int leaf = scenario_node(s, "leaf-3-1");

	set_policy(s, "", "set_errors ca isolate\n");
	sim_node_stubborn(s->sim, leaf, true);
	scenario_start(s);
	scenario_run_ms(s, 90 * 1000);
	scenario_check_log(s, "unhealthy (set_errors): switch 'leaf-3-1'", true);
	scenario_check_log(s, "action isolate", false);
	sim_node_stubborn(s->sim, leaf, false);
	scenario_converge(s, 15);
	scenario_free(s);
}
END_TEST

START_TEST(illegal_answers)
{
	struct scenario *s = up("fattree:4", "", "illegal ca isolate release 30\n");
	struct place host = place_of(s, "host-9");

	sim_set_node_guid(s->sim, host.node, 0);
	scenario_expect(s, sim_link_flap(s->sim, host.sw, host.port, NS_PER_S, NS_PER_S, 1));
	scenario_run_ms(s, 5 * 1000);
	scenario_check_log(s, "unhealthy (illegal)", true);
	expect_left_out(s, &host);
	sim_set_node_guid(s->sim, host.node, host.guid);
	scenario_run_ms(s, 20 * 1000);
	expect_left_out(s, &host);
	scenario_converge(s, 20);
	scenario_free(s);
}
END_TEST

static void reboot(struct scenario *s, unsigned int node)
{
	sim_node_set(s->sim, node, false);
	scenario_run_ms(s, 2000);
	sim_node_set(s->sim, node, true);
	scenario_run_ms(s, 8000);
}

START_TEST(reboots)
{
	struct scenario *s = up("fattree:4", "", "reboot ca no_discover 3 in 60 release 60\n");
	struct place host = place_of(s, "host-9");

	reboot(s, host.node);
	reboot(s, host.node);
	scenario_check_log(s, "unhealthy", false);
	ck_assert(is_in_subnet(s, &host));
	reboot(s, host.node);
	scenario_check_log(s, "unhealthy (reboot)", true);
	expect_left_out(s, &host);
	scenario_run_ms(s, 50 * 1000);
	scenario_converge(s, 20);
	scenario_free(s);
}
END_TEST

/* Number of ports that lead to the switch and are not disabled. */
static unsigned int ports_on(struct scenario *s, struct place *sw)
{
	struct sim_node_view view;
	unsigned int on = 0;

	sim_node_view(s->sim, sw->node, &view);
	for (unsigned int port = 1; port <= view.num_ports; port++)
		if (sim_peer(s->sim, sw->node, port, &sw->sw, &sw->port))
			on += !is_off(s, sw);
	return on;
}

/* A switch as a whole: off at all ports that lead there, and on again. */
START_TEST(whole_switch)
{
	struct scenario *s = up("fattree:4", "", "reboot switch disable 2 in 900 release 60\n");
	struct place core = {0};
	struct sim_node_view view;

	do {
		core.node = scenario_random_switch(s);
		sim_node_view(s->sim, core.node, &view);
	} while (strncmp(view.description, "core", 4) && strncmp(view.description, "spine", 5));
	core.guid = view.node_guid;
	reboot(s, core.node);
	reboot(s, core.node);
	scenario_check_log(s, "unhealthy (reboot): switch", true);
	scenario_check_log(s, "but only reported", false);
	scenario_expect(s, !is_in_subnet(s, &core));
	ck_assert_uint_eq(ports_on(s, &core), 0);
	scenario_expect(s, !(atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_ERRORS));
	scenario_run_ms(s, 65 * 1000);
	expect_said(s, "unhealthy", "no port misbehaves");
	scenario_converge(s, 10);
	scenario_expect(s, is_in_subnet(s, &core));
	scenario_free(s);
}
END_TEST

/* No trap reports anything wrong with it: it accepts no Sets, or no longer answers. */
START_TEST(whole_switch_goes_wrong)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct place core = {.node = scenario_node(s, "core-0-1")};
	struct sim_node_view view;

	set_policy(s, "",
		   "set_errors switch disable 2 of 3 release 60\n"
		   "unresponsive switch disable 2 of 3 release 60\n");
	sim_node_view(s->sim, core.node, &view);
	core.guid = view.node_guid;
	sim_node_stubborn(s->sim, core.node, !_i);
	scenario_start(s);
	scenario_run_ms(s, 30 * 1000);
	sim_node_mute(s->sim, core.node, _i);
	scenario_run_ms(s, _i * 30 * 1000);
	scenario_check_log(s, "): switch 'core-0-1'", true);
	scenario_expect(s, !is_in_subnet(s, &core));
	ck_assert_uint_eq(ports_on(s, &core), 0);
	sim_node_stubborn(s->sim, core.node, false);
	sim_node_mute(s->sim, core.node, false);
	scenario_run_ms(s, 65 * 1000);
	scenario_converge(s, 10);
	scenario_expect(s, is_in_subnet(s, &core));
	scenario_free(s);
}
END_TEST

/* With the switch the ports that lead to it are released, and nothing else. */
START_TEST(switch_beside_a_host)
{
	struct scenario *s = up("fattree:4", "",
				"reboot switch disable 2 in 900 release 60\n"
				"noisy_traps ca disable 10 in 90 release never\n");
	struct place host = place_of(s, "host-9");
	unsigned int core = scenario_node(s, "core-0-1");

	tell_of_port(s, &host);
	reboot(s, core);
	reboot(s, core);
	scenario_check_log(s, "unhealthy (reboot): switch", true);
	scenario_run_ms(s, 65 * 1000);
	scenario_check_log(s, "it leads to that switch", true);
	ck_assert(is_off(s, &host));
	expect_said(s, "status", "Unhealthy Ports      : 1, 1 of them excluded");
	scenario_free(s);
}
END_TEST

/* ---- over a restart ---- */

static void append(const char *file, const char *text)
{
	g_autofree char *is = NULL, *new = NULL;

	g_assert(g_file_get_contents(file, &is, NULL, NULL));
	new = g_strconcat(is, text, NULL);
	g_assert(g_file_set_contents(file, new, -1, NULL));
}

START_TEST(restart)
{
	struct scenario *s = up("fattree:4", "babbling_port_policy TRUE\n", ISOLATE_FLAPPING);
	struct place host = place_of(s, "host-9"), other = place_of(s, "host-12");
	g_autofree char *file = state_file(s);

	send_traps(s, &other, IBA_TRAP_WATCHDOG, 260, 20);
	flap(s, &host, 8);
	scenario_stop(s);
	append(file, "0x5 1 flapping ca isol"); /* cut off */
	scenario_start(s);
	scenario_run_ms(s, 30 * 1000);
	scenario_check_log(s, "unhealthy-ports:4: '0x5 1 flapping ca isol': expected 10 words",
			   true);
	expect_left_out(s, &host);
	ck_assert_uint_eq(state_of(s, &host), IBA_PORT_INIT);
	ck_assert(is_off(s, &other));
	scenario_run_ms(s, 40 * 1000);
	ck_assert(is_in_subnet(s, &host));
	ck_assert(is_off(s, &other));
	expect_said(s, "unhealthy release all", "1 released");
	scenario_run_ms(s, 1000);
	ck_assert(!is_off(s, &other));
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* The file is left alone while nothing changes, as if an administrator had moved it away. */
START_TEST(written_when_it_changes)
{
	struct scenario *s = up("fattree:4", "", "flapping ca isolate release never\n");
	struct place host = place_of(s, "host-9");
	g_autofree char *file = state_file(s);

	scenario_run_ms(s, 5000);
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
	flap(s, &host, 8);
	scenario_run_ms(s, 5000);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	ck_assert_int_eq(g_unlink(file), 0);
	scenario_run_ms(s, 60 * 1000);
	scenario_stop(s);
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
	scenario_free(s);
}
END_TEST

/* Its contents are not understood, but it is not overwritten, and everything else works. */
START_TEST(garbage)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = state_file(s), *bad = g_strconcat(file, ".bad", NULL);
	g_autofree char *is = NULL;

	g_assert(g_file_set_contents(file, "0x5 1 \0\0", 8, NULL));
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_check_log(s, ":1: '0x5 1 ?""?': ", true);
	ck_assert(g_file_get_contents(bad, &is, NULL, NULL));
	expect_said(s, "unhealthy", "no port misbehaves");
	scenario_free(s);
}
END_TEST

/* A cable between switches may be needed by now: it is logged, and on again if it was off. */
START_TEST(restart_with_cables)
{
	struct scenario *s = up("fattree:4", "", "flapping switch disable release never\n");
	g_autofree char *file = state_file(s), *bad = g_strconcat(file, ".bad", NULL);
	struct place cable;

	scenario_random_link(s, &cable.sw, &cable.port);
	flap(s, &cable, 8);
	scenario_check_log(s, "action disable", true);
	scenario_check_log(s, "but only reported", false);
	scenario_stop(s);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	ck_assert(!is_off(s, &cable));
	scenario_converge(s, 10);
	flap(s, &cable, 8);
	expect_said(s, "unhealthy release all", "1 released");
	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + NS_PER_US);
	scenario_stop(s);
	ck_assert(is_off(s, &cable)); /* there was no time to switch it on */
	scenario_start(s);
	scenario_run_ms(s, 5000);
	ck_assert(!is_off(s, &cable));
	scenario_converge(s, 10);
	ck_assert(!g_file_test(bad, G_FILE_TEST_EXISTS));
	scenario_free(s);
}
END_TEST

/* ---- the policy ---- */

START_TEST(policy_changes)
{
	struct scenario *s = up("fattree:4", "", ISOLATE_FLAPPING);
	struct place host = place_of(s, "host-9");
	g_autofree char *file = policy_file(s);

	g_assert(g_file_set_contents(file, "flapping ca isolat\n", -1, NULL));
	ck_assert(daemon_reread_logged(s->daemon));
	scenario_check_log(s,
			   "the policy of unhealthy ports is unchanged: "
			   "hm_ports_health_policy_file: ",
			   true);
	scenario_check_log(s, "ports-policy.conf:1:13: found 'isolat', expected ignore,", true);
	expect_said(s, "status", "hm_ports_health_policy_file was refused at");
	flap(s, &host, 8);
	expect_left_out(s, &host);
	g_assert(g_file_set_contents(file, "flapping ca ignore\n", -1, NULL));
	ck_assert(daemon_reread_logged(s->daemon));
	release(s, &host);
	scenario_converge(s, 10);
	flap(s, &host, 8);
	scenario_converge(s, 10);
	expect_said(s, "unhealthy", "no port misbehaves");
	scenario_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unhealthy");
	TCase *tcase = tcase_create("unhealthy");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, flapping_host);
	tcase_add_test(tcase, isolated_while_up);
	tcase_add_test(tcase, only_reported);
	tcase_add_test(tcase, not_watched);
	tcase_add_test(tcase, own_cable_is_left_alone);
	tcase_add_test(tcase, cable_between_switches);
	tcase_add_test(tcase, one_of_several_cables);
	tcase_add_test(tcase, last_cable_is_taken_back);
	tcase_add_test(tcase, babbling_port);
	tcase_add_test(tcase, babbling_is_reported);
	tcase_add_test(tcase, harmless_traps);
	tcase_add_test(tcase, traps_about_a_port);
	tcase_add_test(tcase, no_switch_before_it);
	tcase_add_test(tcase, noisy_host_disabled);
	tcase_add_test(tcase, mute_switch);
	tcase_add_test(tcase, mute_host);
	tcase_add_test(tcase, deaf_host);
	tcase_add_test(tcase, failing_sets);
	tcase_add_test(tcase, stays_in_init);
	tcase_add_test(tcase, stays_in_init_at_both_ends);
	tcase_add_test(tcase, failing_switch);
	tcase_add_test(tcase, illegal_answers);
	tcase_add_test(tcase, reboots);
	tcase_add_test(tcase, whole_switch);
	tcase_add_loop_test(tcase, whole_switch_goes_wrong, 0, 2);
	tcase_add_test(tcase, switch_beside_a_host);
	tcase_add_test(tcase, restart);
	tcase_add_test(tcase, written_when_it_changes);
	tcase_add_test(tcase, garbage);
	tcase_add_test(tcase, restart_with_cables);
	tcase_add_test(tcase, policy_changes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The journal, and the log: what they report of changes of the subnet. */
#include "core/events.h"
#include "ctl/command/command.h"
#include "ctl/report/journal.h"
#include "sm/election/peers.h"
#include "sm/health/unhealthy.h"
#include "tests/run_suite.h"
#include "tests/scenario/client.h"
#include "tests/scenario/scenario.h"

#include <check.h>
#include <string.h>

struct fixture {
	struct scenario *s;
	struct command_env env;
};

static struct fixture f; /* of the running test */

static void make_journal(struct scenario *s, void *arg)
{
	struct fixture *fixture = arg;

	fixture->env.daemon = s->daemon;
	fixture->env.journal = journal_new(s->daemon);
	fixture->env.sim = s->sim;
}

static void start(void)
{
	f.s = scenario_new("fattree:4", 1);
	f.s->made = make_journal;
	f.s->made_arg = &f;
	scenario_start(f.s);
	scenario_converge(f.s, 10);
}

static void stop(void)
{
	scenario_stop(f.s);
	journal_free(f.env.journal);
	scenario_free(f.s);
}

/* The answer to the line: valid until the next one. */
static const char *ask(const char *line)
{
	static char *text;
	struct command_answer answer;

	g_free(text);
	command_run(&f.env, line, true, &answer);
	text = answer.text;
	ck_assert_msg(!answer.failed, "%s: %s", line, text);
	return text;
}

static void expect(const char *line, const char *text)
{
	const char *answer = ask(line);

	ck_assert_msg(strstr(answer, text) != NULL, "%s: expected \"%s\" in\n%s", line, text,
		      answer);
}

static void expect_not(const char *line, const char *text)
{
	const char *answer = ask(line);

	ck_assert_msg(!strstr(answer, text), "%s: \"%s\" in\n%s", line, text, answer);
}

START_TEST(journal_of_a_link)
{
	ask("sim unlink leaf-0-0 3");
	scenario_converge(f.s, 10);
	expect("events", " link    link down: ");
	expect("events", "leaf-0-0 (0x0200000080000700) port 3");
	expect("events", " trap    trap 128 ");
	expect("events", "partial sweep in ");
	expect("events", " LFT blocks changed\n");
	expect("ports down", "2 port(s) down\n");
	expect("ports down", "   0x0200000080000700 port 3 (leaf-0-0): Polling\n");
	expect("path host-0 host-15", "  host-15 (0x0200000000001000)\n");
	ask("sim link leaf-0-0 3");
	scenario_converge(f.s, 10);
	expect("events", " link    link up: ");
	expect("ports down", "0 port(s) down\n");
	expect_not("events 1", "up: ");
	expect_not("events 0", "e");
}
END_TEST

/* What programs get of the same events: fields in a log as JSON. */
START_TEST(fields_of_lines)
{
	log_set_json(f.s->log, true);
	log_set_flags(f.s->log, 0x07);
	ask("sim unlink leaf-0-0 3");
	scenario_converge(f.s, 10);
	scenario_check_log(f.s, "\"level\":\"info\",\"message\":\"link down: ", true);
	scenario_check_log(f.s, "\"OPENSM_KIND\":\"link\",\"OPENSM_CHANGE\":\"link_down\","
				"\"OPENSM_GUID\":\"0x0200000080000700\","
				"\"OPENSM_NODE\":\"leaf-0-0\",\"OPENSM_PORT\":\"3\","
				"\"OPENSM_LID\":\"", true);
	scenario_check_log(f.s, "\",\"OPENSM_PEER_GUID\":\"0x02000000", true);
	scenario_check_log(f.s, "\",\"OPENSM_PEER_PORT\":\"", true);
	scenario_check_log(f.s, "\"OPENSM_GENERATION\":\"", true);
	scenario_check_log(f.s, "\"OPENSM_KIND\":\"trap\",\"OPENSM_GUID\":\"0x0200000080000",
			   true);
	scenario_check_log(f.s, "\"message\":\"partial sweep: ", true);
	scenario_check_log(f.s, "\"OPENSM_KIND\":\"sweep\",\"OPENSM_GENERATION\":\"", true);
	sim_node_set(f.s->sim, scenario_node(f.s, "host-7"), false);
	scenario_converge(f.s, 10);
	scenario_check_log(f.s, "\"OPENSM_KIND\":\"node\",\"OPENSM_CHANGE\":\"nodes_gone\","
				"\"OPENSM_GUID\":\"0x0200000000000800\","
				"\"OPENSM_NODE\":\"host-7\",\"OPENSM_PORT\":\"1\","
				"\"OPENSM_LID\":\"", true);
}
END_TEST

START_TEST(journal_of_a_node)
{
	sim_node_set(f.s->sim, scenario_node(f.s, "host-7"), false);
	scenario_converge(f.s, 10);
	expect("events", " node    host host-7 (0x0200000000000800) is gone: link down: "
			 "leaf-1-1 (0x0200000080000c00) port 2 to host-7 (0x0200000000000800) "
			 "port 1\n");
	expect_not("events", " gid ");
	scenario_check_log(f.s, "0x02 -> Removed port with GUID:0x0200000000000801 LID range [",
			   true);
	scenario_check_log(f.s, "] of node:host-7\n", true);
	scenario_check_log(
		f.s, "Reporting Informational Notice \"GID out of service\", GID:fe80::", true);
	scenario_check_log(f.s, "0x02 -> host host-7 (0x0200000000000800) is gone", true);
	sim_node_set(f.s->sim, scenario_node(f.s, "host-7"), true);
	scenario_converge(f.s, 10);
	expect("events", " node    host host-7 (0x0200000000000800) has appeared: link up: ");
	scenario_check_log(f.s, "Discovered new port with GUID:0x0200000000000801 LID range [",
			   true);
	scenario_check_log(f.s, "] of node: host-7\n", true);
}
END_TEST

static unsigned int times_in_log(const char *text)
{
	unsigned int n = 0;

	for (const char *at = f.s->text->str; (at = strstr(at, text)); at++)
		n++;
	return n;
}

/* A leaf switch and its hosts are one entry; the log has each of their GIDs, for scripts. */
START_TEST(journal_of_a_leaf)
{
	sim_node_set(f.s->sim, scenario_node(f.s, "leaf-3-1"), false);
	scenario_converge(f.s, 10);
	expect("events", " node    switch leaf-3-1 (0x0200000080001400) and its 2 hosts are gone: "
			 "link down: ");
	expect("events", ", and 1 more\n");
	expect("events json", "\"change\":\"nodes_gone\",\"guid\":\"0x0200000080001400\"");
	expect("events json", ",\"more_hosts\":2,");
	ck_assert_uint_eq(times_in_log("Removed port with GUID:"), 3);
	ck_assert_uint_eq(times_in_log("GID out of service"), 3);
	sim_node_set(f.s->sim, scenario_node(f.s, "leaf-3-1"), true);
	scenario_converge(f.s, 10);
	expect("events", " node    switch leaf-3-1 (0x0200000080001400) and its 2 hosts have "
			 "appeared: link up: ");
	ck_assert_uint_eq(times_in_log("Discovered new port with GUID:"), 3);
	ck_assert_uint_eq(times_in_log("GID in service"), 3);
}
END_TEST

/* A flapping device is reported a few times; when it is stable the last line gives its state. */
START_TEST(journal_of_a_flap)
{
	const char *down = "0x02 -> link down: ", *up = "0x02 -> link up: ";
	unsigned int told;

	for (unsigned int i = 0; i < 10; i++) {
		ask("sim unlink leaf-0-0 3");
		scenario_run_ms(f.s, 1500);
		ask("sim link leaf-0-0 3");
		scenario_run_ms(f.s, 1500);
	}
	told = times_in_log(down) + times_in_log(up);
	ck_assert_uint_ge(told, 6);
	ck_assert_uint_le(told, 7);
	scenario_run_ms(f.s, 20000);
	ck_assert_uint_eq(times_in_log(down) + times_in_log(up), told + 1);
	ck_assert_ptr_nonnull(
		strstr(g_strrstr(f.s->text->str, up), " changes before were not logged"));
	ck_assert_ptr_null(strstr(g_strrstr(f.s->text->str, up), down));
}
END_TEST

START_TEST(journal_is_bounded)
{
	struct context *context = daemon_context(f.s->daemon);
	const struct journal_entry *last;

	for (unsigned int i = 0; i < 2 * JOURNAL_MAX; i++)
		event_emit(&context->bus, EVENT_TRAP_RECEIVED, (i % 7 + 1) << 16 | 128);
	scenario_run_ms(f.s, 1);
	ck_assert_uint_eq(journal_length(f.env.journal), JOURNAL_MAX);
	for (unsigned int i = 0; i < 50; i++)
		event_emit(&context->bus, EVENT_TRAP_RECEIVED, 9999 << 16 | 200);
	scenario_run_ms(f.s, 1);
	ck_assert_uint_eq(journal_length(f.env.journal), JOURNAL_MAX);
	last = journal_at(f.env.journal, JOURNAL_MAX - 1);
	ck_assert_uint_eq(last->times, 50);
	ck_assert_ptr_nonnull(strstr(last->text, "LID 9999, an unknown port"));
	expect("events 1", "(50 times, last ");
}
END_TEST

/* ---- serials and waiters ---- */

static unsigned int woken[16];

static void on_news(void *arg)
{
	(*(unsigned int *)arg)++;
}

START_TEST(journal_wakes_once)
{
	struct journal_waiter waiters[G_N_ELEMENTS(woken)];

	memset(woken, 0, sizeof(woken));
	for (unsigned int i = 0; i < G_N_ELEMENTS(woken); i++) {
		waiters[i] = (struct journal_waiter){.news = on_news, .arg = &woken[i]};
		journal_wait(f.env.journal, &waiters[i]);
	}
	journal_unwait(f.env.journal, &waiters[3]);
	ask("sim unlink leaf-0-0 3");
	scenario_converge(f.s, 10);
	for (unsigned int i = 0; i < G_N_ELEMENTS(woken); i++) {
		ck_assert_uint_eq(woken[i], i != 3);
		ck_assert(!waiters[i].waits);
	}
}
END_TEST

/* Each entry is told once, however it is asked for. */
START_TEST(journal_since)
{
	uint64_t serial = journal_serial(f.env.journal), image = journal_image(f.env.journal);
	g_autofree char *line = g_strdup_printf("events since %" G_GUINT64_FORMAT " json", serial);
	const GList *l;

	ck_assert_ptr_null(journal_after(f.env.journal, serial));
	expect(line, "\"missed\":0,");
	expect(line, "\"events\":[]}");
	ask("sim unlink leaf-0-0 3");
	scenario_converge(f.s, 10);
	ck_assert_uint_gt(journal_image(f.env.journal), image);
	expect(line, "\"kind\":\"link\"");
	expect(line, "\"state\":\"MASTER\"");
	for (l = journal_after(f.env.journal, serial); l; l = l->next) {
		const struct journal_entry *entry = l->data;

		ck_assert_uint_gt(entry->serial, serial);
		serial = entry->serial;
	}
	ck_assert_uint_le(serial, journal_serial(f.env.journal));
}
END_TEST

/* Of more than an answer holds, the oldest come first. */
START_TEST(journal_in_parts)
{
	const struct journal_entry *entry;

	for (unsigned int i = 0; i < JOURNAL_MAX + 500; i++)
		event_emit(&daemon_context(f.s->daemon)->bus, EVENT_SWEEP_ALLOWED, i & 1);
	scenario_run_ms(f.s, 0);
	entry = journal_at(f.env.journal, 199);
	ck_assert_uint_eq(journal_forgotten(f.env.journal) + 200, entry->serial);
	expect("events since 1 json", "\"more\":true");
	{
		g_autofree char *serial =
			g_strdup_printf("\"serial\":%" G_GUINT64_FORMAT ",\"more\"", entry->serial);
		g_autofree char *missed = g_strdup_printf("\"missed\":%" G_GUINT64_FORMAT ",",
							  journal_forgotten(f.env.journal) - 1);

		expect("events since 1 json", serial);
		expect("events since 1 json", missed);
	}
}
END_TEST

static uint64_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	ck_assert_msg(at != NULL, "%s: expected %s", text, name);
	return g_ascii_strtoull(at + strlen(name), NULL, 10);
}

/* Events of other kinds are passed over, also in the number that the next question goes on from. */
START_TEST(journal_of_kinds)
{
	struct command_answer answer;

	ask("sim unlink leaf-0-0 3");
	scenario_converge(f.s, 10);
	expect("events since 0 kind link json", "\"kind\":\"link\"");
	expect_not("events since 0 kind link json", "\"kind\":\"sweep\"");
	ck_assert_uint_eq(number_after(ask("events since 0 kind link json"), "\"serial\":"),
			  journal_serial(f.env.journal));
	expect("events since 0 kind trap,sweep json", "\"kind\":\"sweep\"");
	expect("events since 0 kind trap,sweep wait 5 json", "\"kind\":\"trap\"");
	expect_not("events since 0 kind trap,sweep json", "\"kind\":\"link\"");
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const lines[] = {
			"events since 0 kind wire",
			"events since 0 kind link,,trap",
			"events since 0 kind",
			"events since 0 kind \"\"",
		};

		command_run(&f.env, lines[i], true, &answer);
		ck_assert_msg(answer.status == 2 && strstr(answer.text, "expected "), "%s: %s",
			      lines[i], answer.text);
		g_free(answer.text);
	}
}
END_TEST

/* Other SMs, at most once a second: only what they are makes an entry, not what they see. */
static void publish_peer(unsigned int n, uint8_t state, uint16_t ports)
{
	struct context *context = daemon_context(f.s->daemon);
	struct peers *peers = peers_new(n);

	for (unsigned int i = 0; i < n; i++)
		peers->peers[i].sm = (struct election_sm){
			.guid = 0x99,
			.priority = 3,
			.state = state,
			.ability = {.known = true, .switches = 1, .endports = ports}};
	slot_publish(&context->peers, peers);
	event_emit(&context->bus, EVENT_PEERS_CHANGED, 0);
	scenario_run_ms(f.s, 1100);
}

START_TEST(journal_of_sms)
{
	uint64_t serial;

	publish_peer(1, IBA_SM_STANDBY, 5);
	expect("events 1", " sm      found another SM 0x0000000000000099: STANDBY, priority 3, "
			   "sees 1 switches and 5 ports, can configure 0 of these\n");
	serial = journal_serial(f.env.journal);
	publish_peer(1, IBA_SM_STANDBY, 6);
	ck_assert_ptr_null(journal_after(f.env.journal, serial));
	publish_peer(1, IBA_SM_MASTER, 6);
	expect("events 1", " sm      SM 0x0000000000000099: MASTER, priority 3, ");
	expect("events since 0 kind sm json", "\"guid\":\"0x0000000000000099\"");
	publish_peer(0, 0, 0);
	expect("events 1", " sm      SM 0x0000000000000099 is not there, or not heard of\n");
}
END_TEST

/* Subscriptions of many clients within a second are one entry. */
START_TEST(journal_of_registries)
{
	const struct iba_inform_info all = {.is_generic = 1,
					    .subscribe = 1,
					    .lid_range_begin = 0xFFFF,
					    .type = 0xFFFF,
					    .trap_number = 0xFFFF,
					    .producer_type = 0xFFFFFF};
	struct client *clients[5];

	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++) {
		g_autofree char *name = g_strdup_printf("host-%u", i + 3);

		clients[i] = client_new_subscriber(f.s, scenario_node(f.s, name));
		ck_assert_int_eq(client_inform(clients[i], all), 0);
	}
	scenario_run_ms(f.s, 3000);
	expect("events since 0 kind service",
	       " service the SA has 0 services, 5 subscriptions and 0 alias GUIDs\n");
	ck_assert_ptr_null(
		strstr(strstr(ask("events since 0 kind service"), " service ") + 1, " service "));
	for (unsigned int i = 0; i < G_N_ELEMENTS(clients); i++)
		client_free(clients[i]);
}
END_TEST

static void publish_unhealthy(const struct unhealthy *unhealthy)
{
	struct context *context = daemon_context(f.s->daemon);

	slot_publish(&context->unhealthy_ports, unhealthy_ports_new(unhealthy));
	event_emit(&context->bus, EVENT_UNHEALTHY_PORTS, 0);
	scenario_run_ms(f.s, 1);
}

/* Each unhealthy port is told once, and again with its end. */
START_TEST(journal_of_health)
{
	struct unhealthy *unhealthy = unhealthy_new();
	struct unhealthy_port port = {.guid = 0x700,
				      .num = 3,
				      .type = IBA_NODE_CA,
				      .blamed = 0x99,
				      .action = PORT_ISOLATE,
				      .name = "host-x",
				      .until_ns = UINT64_MAX};

	unhealthy_restore(unhealthy, &port);
	publish_unhealthy(unhealthy);
	expect("events 1", " health  began: switch 0x0000000000000700 port 3, to host-x "
			   "(0x0000000000000099): ");
	expect("events since 0 kind health json", "\"guid\":\"0x0000000000000700\",\"port\":3,");
	port.num = 4;
	unhealthy_restore(unhealthy, &port);
	publish_unhealthy(unhealthy);
	expect("events 1", " health  began: switch 0x0000000000000700 port 4, ");
	expect_not("events", " times, ");
	unhealthy_drop(unhealthy, unhealthy_find(unhealthy, 0x700, 3));
	publish_unhealthy(unhealthy);
	expect("events 1", " health  ended: switch 0x0000000000000700 port 3, ");
	unhealthy_free(unhealthy);
}
END_TEST

START_TEST(journal_of_partitions)
{
	struct command_answer answer;

	command_run(&f.env, "partitions change wait none 0x11: 0x0200000000000101=full", true,
		    &answer);
	ck_assert_msg(!answer.failed, "%s", answer.text);
	g_free(answer.text);
	scenario_converge(f.s, 20);
	scenario_run_ms(f.s, 5000);
	expect("events since 0 kind partition", "partition policy 2 is in effect\n");
}
END_TEST

/* More of one kind than an answer holds, among others. */
START_TEST(journal_of_kinds_in_parts)
{
	struct context *context = daemon_context(f.s->daemon);
	uint64_t serial = journal_serial(f.env.journal), n = 0;
	bool more;

	for (unsigned int i = 0; i < 900; i++) {
		event_emit(&context->bus, EVENT_SWEEP_ALLOWED, i & 1);
		event_emit(&context->bus, EVENT_TRAP_RECEIVED, (i % 7 + 1) << 16 | 128);
	}
	scenario_run_ms(f.s, 0);
	do {
		g_autofree char *line = g_strdup_printf(
			"events since %" G_GUINT64_FORMAT " kind sweep json", serial);
		const char *text = ask(line);

		more = strstr(text, "\"more\":true") != NULL;
		serial = number_after(text, "\"serial\":");
		for (const char *at = text; (at = strstr(at, "\"kind\":\"sweep\"")); at++)
			n++;
	} while (more);
	ck_assert_uint_eq(n, 900);
	ck_assert_uint_eq(serial, journal_serial(f.env.journal));
}
END_TEST

/* A program that has read the subnet knows which of the changes it has seen there. */
START_TEST(journal_has_generations)
{
	uint64_t before = number_after(ask("events 0 json"), "\"generation\":"), now;

	ask("sim unlink leaf-0-0 3");
	scenario_converge(f.s, 10);
	now = number_after(ask("events 0 json"), "\"generation\":");
	ck_assert_uint_gt(now, before);
	ck_assert_uint_eq(number_after(strstr(ask("events since 0 kind link json"), "\"change\":"),
				       ",\"generation\":"),
			  now);
}
END_TEST

/* ---- a program that follows ---- */

#define STORM_STEPS 60
#define STORM_SETTLE_MS 100000 /* what a flapping device held back is told by then */

struct follower {
	uint64_t serial, generation; /* of its picture */
	uint64_t switches, hosts, links;
	unsigned int looks;
};

static void look_at_status(struct follower *follower)
{
	const char *subnet = strstr(ask("status json"), "\"subnet\":{");

	follower->switches = number_after(subnet, "\"switches\":");
	follower->hosts = number_after(subnet, "\"hosts\":");
	follower->links = number_after(subnet, "\"links\":");
	follower->generation = number_after(subnet, "\"generation\":");
	follower->looks++;
}

/* Looks again only if an event is about a later subnet than its picture, or some were missed. */
static void follow(struct follower *follower)
{
	bool stale = false, more;

	do {
		g_autofree char *line = g_strdup_printf(
			"events since %" G_GUINT64_FORMAT " kind node,link json", follower->serial);
		const char *text = ask(line), *events = strstr(text, "\"events\":");

		more = strstr(text, "\"more\":true") != NULL;
		follower->serial = number_after(text, "\"serial\":");
		stale |= number_after(text, "\"missed\":") > 0;
		for (const char *at = events; (at = strstr(at, "\"generation\":")); at++)
			stale |= number_after(at, "\"generation\":") > follower->generation;
	} while (more);
	if (stale)
		look_at_status(follower);
}

/* The port of the SM stays connected. */
static void change_something(GRand *chance)
{
	static const char *const nodes[] = {"leaf-0-1", "leaf-1-1", "spine-0-0",
					    "leaf-2-0", "host-3",   "host-9"};
	const char *name = nodes[g_rand_int_range(chance, 0, G_N_ELEMENTS(nodes))];
	bool on = g_rand_boolean(chance);
	g_autofree char *line = NULL;

	if (g_str_has_prefix(name, "host") || g_rand_int_range(chance, 0, 3) == 0) {
		sim_node_set(f.s->sim, scenario_node(f.s, name), on);
		return;
	}
	line = g_strdup_printf("sim %s %s %d", on ? "link" : "unlink", name,
			       g_rand_int_range(chance, 1, 5));
	ask(line);
}

/* Through a storm, and after it, a program that looks only when an event says so has the picture.
 */
START_TEST(journal_through_storms)
{
	g_autoptr(GRand) chance = g_rand_new_with_seed((guint32)_i);
	struct follower follower = {.serial = journal_serial(f.env.journal)}, now = {0};

	look_at_status(&follower);
	for (unsigned int i = 0; i < STORM_STEPS; i++) {
		change_something(chance);
		scenario_run_ms(f.s, (unsigned int)g_rand_int_range(chance, 1, 2000));
		if (g_rand_boolean(chance))
			follow(&follower);
	}
	scenario_run_ms(f.s, STORM_SETTLE_MS);
	follow(&follower);
	look_at_status(&now);
	ck_assert_uint_eq(follower.switches, now.switches);
	ck_assert_uint_eq(follower.hosts, now.hosts);
	ck_assert_uint_eq(follower.links, now.links);
	ck_assert_uint_gt(follower.looks, 3);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("journal");
	TCase *tcase = tcase_create("journal");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, journal_of_a_link);
	tcase_add_test(tcase, fields_of_lines);
	tcase_add_test(tcase, journal_of_a_node);
	tcase_add_test(tcase, journal_of_a_leaf);
	tcase_add_test(tcase, journal_of_a_flap);
	tcase_add_test(tcase, journal_is_bounded);
	tcase_add_test(tcase, journal_wakes_once);
	tcase_add_test(tcase, journal_since);
	tcase_add_test(tcase, journal_in_parts);
	tcase_add_test(tcase, journal_of_kinds);
	tcase_add_test(tcase, journal_of_kinds_in_parts);
	tcase_add_test(tcase, journal_of_health);
	tcase_add_test(tcase, journal_of_partitions);
	tcase_add_test(tcase, journal_of_sms);
	tcase_add_test(tcase, journal_of_registries);
	tcase_add_test(tcase, journal_has_generations);
	tcase_add_loop_test(tcase, journal_through_storms, 0, 5);
	suite_add_tcase(suite, tcase);
	return suite;
}

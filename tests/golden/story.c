// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "story.h"

#include <string.h>

#include "tests/golden/golden.h"
#include "tests/scenario/transcript.h"

static struct scenario *s;
static struct transcript *t;
static const char *story; /* its name */
static bool briefly;
static char *first_run; /* of a brief story: the transcript of its first run */

/* ---- telling ---- */

static char *in_source(const char *file, const char *suffix)
{
	const char *top = g_getenv("top_srcdir");

	return g_strdup_printf("%s/tests/golden/%s%s", top ? top : "..", file, suffix);
}

void story_briefly(void)
{
	briefly = true;
}

char *story_topology(const char *name)
{
	return in_source(name, "");
}

void story_watch(struct daemon *daemon, uint64_t port_guid)
{
	s->daemon = daemon;
	s->sm_guid = port_guid;
	transcript_starts(t);
}

void story_event(const char *what)
{
	transcript_event(t, what);
}

void story_tell(void)
{
	if (briefly)
		transcript_tell_digest(t);
	else
		transcript_tell(t);
}

void story_say(const char *text)
{
	transcript_say(t, text);
}

void story_detail(const char *text)
{
	transcript_detail(t, text);
}

void story_tell_files(void)
{
	transcript_tell_files(t);
}

void story_after_ms(unsigned int ms)
{
	scenario_run_ms(s, ms);
	story_tell();
}

static char *in_directory(const char *file)
{
	return g_build_filename(s->directory, file, NULL);
}

void story_write(const char *name, const char *text)
{
	g_autofree char *file = in_directory(name);

	g_assert(g_file_set_contents_full(file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
					  NULL));
}

void story_on(const char *name, struct scenario *scenario)
{
	story = name;
	s = scenario;
	t = transcript_new(s);
	briefly = false;
	story_write("partitions.conf", "Default=0x7fff,ipoib:ALL=full;\n");
}

struct scenario *story_begin(const char *name, const char *spec)
{
	g_autofree char *file = story_topology(spec);

	story_on(name, scenario_new(g_str_has_suffix(spec, ".topo") ? file : spec, 1));
	return s;
}

char *story_conf(const char *conf)
{
	GString *text = g_string_new("partition_config_file DIRECTORY/partitions.conf\n");

	g_string_append(text, conf);
	g_string_replace(text, "DIRECTORY", s->directory, 0);
	return g_string_free(text, FALSE);
}

static void configure(const char *conf)
{
	g_autofree char *text = story_conf(conf);

	scenario_conf(s, text);
	story_event(conf);
}

void story_starts(const char *conf)
{
	configure(conf);
	transcript_starts(t);
	scenario_start(s);
	story_after_ms(5000);
}

void story_up(const char *conf)
{
	configure(conf);
	transcript_starts(t);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	transcript_tell_digest(t);
}

void story_restarts(const char *conf)
{
	scenario_stop(s);
	story_starts(conf);
}

void story_rereads(const char *conf)
{
	configure(conf);
	daemon_reread_logged(s->daemon);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(1000);
}

void story_sweeps(const char *what, enum sweep_reason reason)
{
	story_event(what);
	daemon_sweep(s->daemon, reason);
	story_after_ms(1000);
}

/* A line for each event: a digest of everything recorded for it, and its name. */
static char *shortened(const char *text)
{
	g_auto(GStrv) events = g_strsplit(text, "== ", -1);
	GString *lines = g_string_new(NULL);

	for (unsigned int i = 1; events[0] && events[i]; i++) {
		g_autofree char *sum =
			g_compute_checksum_for_string(G_CHECKSUM_SHA256, events[i], -1);

		g_string_append_printf(lines, "%.8s %.*s\n", sum, (int)strcspn(events[i], "\n"),
				       events[i]);
	}
	return g_string_free(lines, FALSE);
}

/* For random stories: the second run of a seed is the same as the first. */
static void compare_runs(const char *stem)
{
	g_autofree char *text = shortened(transcript_text(t, TALE_FULL));

	if (first_run)
		golden_expect_same(stem, first_run, text);
	g_clear_pointer(&first_run, g_free);
	first_run = g_steal_pointer(&text);
}

void story_compare(void)
{
	g_autofree char *stem = g_strdup_printf("sweep_%s", story);
	g_autofree char *file = in_source(stem, ".txt");

	golden_tell(stem, transcript_text(t, TALE_FULL));
	if (briefly)
		compare_runs(stem);
	else
		golden_compare(file, transcript_text(t, TALE_TERSE));
	transcript_free(t);
}

void story_end(void)
{
	story_compare();
	scenario_free(s);
}

/* ---- what happens ---- */

unsigned int story_node(const char *name)
{
	return scenario_node(s, name);
}

void story_event_at(const char *happens, const char *where, unsigned int port)
{
	g_autofree char *what = g_strdup_printf("%s: %s[%u]", happens, where, port);

	story_event(what);
}

void story_link(const char *where, unsigned int port, bool up)
{
	story_event_at(up ? "cable plugged" : "cable pulled", where, port);
	sim_link_set(s->sim, story_node(where), port, up);
	story_after_ms(2000);
}

void story_power(const char *where, bool up)
{
	story_event_at(up ? "switched on" : "switched off", where, 0);
	sim_node_set(s->sim, story_node(where), up);
	story_after_ms(2000);
}

void story_restart_node(const char *where)
{
	sim_node_set(s->sim, story_node(where), false);
	scenario_run_ms(s, 1);
	sim_node_set(s->sim, story_node(where), true);
}

void story_reboot(const char *where)
{
	story_event_at("reboots", where, 0);
	story_restart_node(where);
	story_after_ms(2000);
}

void story_move(const char *from, unsigned int port, const char *to, unsigned int to_port)
{
	g_autofree char *what =
		g_strdup_printf("the cable in %s[%u] moves to %s[%u]", from, port, to, to_port);

	story_event(what);
	g_assert(sim_cable_move(s->sim, story_node(from), port, story_node(to), to_port));
	story_after_ms(2000);
}

void story_swap(const char *a, unsigned int port_a, const char *b, unsigned int port_b)
{
	g_autofree char *what = g_strdup_printf("the cables in %s[%u] and %s[%u] change places", a,
						port_a, b, port_b);

	story_event(what);
	g_assert(sim_cable_swap(s->sim, story_node(a), port_a, story_node(b), port_b));
	story_after_ms(2000);
}

void story_degrade(const char *where, unsigned int port, unsigned int lanes, unsigned int mbps)
{
	story_event_at("cable worn", where, port);
	g_assert(sim_link_degrade(s->sim, story_node(where), port, lanes, mbps));
	story_after_ms(2000);
}

void story_mute(const char *where, bool mute)
{
	story_event_at(mute ? "mute" : "answers again", where, 0);
	sim_node_mute(s->sim, story_node(where), mute);
	daemon_sweep(s->daemon, SWEEP_LIGHT);
	story_after_ms(20 * 1000);
}

/* The port's SMA now holds the values that the notice carries. */
void story_trap(const char *from, uint16_t number, const struct wire_type *type,
		const void *details)
{
	struct iba_notice notice = {
		.is_generic = true,
		.trap_number = number,
		.issuer_lid = scenario_lid(s, story_node(from)),
	};

	story_event_at("trap", from, number);
	wire_encode(type, details, notice.data_details);
	sim_trap(s->sim, story_node(from), 1, &notice);
	story_after_ms(1000);
}

void story_lose(const char *packet, const char *where)
{
	transcript_lose(t, packet, where ? story_node(where) : 0);
}

void story_lose_awhile(const char *packet, const char *where, const char *conf)
{
	g_autofree char *what =
		g_strdup_printf("%s of %s are lost, and cables change", packet, where);
	g_autofree char *text = story_conf(conf);

	story_lose(packet, where);
	story_event(what);
	sim_cable_swap(s->sim, story_node("sw-a"), 2, story_node("sw-b"), 1);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	story_after_ms(3000);
	story_event("and the SM starts anew");
	scenario_stop(s);
	scenario_conf(s, text);
	story_watch(NULL, s->sm_guid);
	scenario_start(s);
	story_after_ms(4000);
	story_lose(NULL, NULL);
	story_event("and are lost no more");
	story_after_ms(20000);
}

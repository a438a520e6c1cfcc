// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What options promise, seen on the simulated hardware. */
#include <check.h>
#include <string.h>

#include "client.h"
#include "scenario.h"
#include "tests/run_suite.h"

static struct scenario *up(const char *spec)
{
	struct scenario *s = scenario_new(spec, 1);

	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

/* ---- LIDs ---- */

static unsigned int moved(struct scenario *s, const uint16_t *lids)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		n += scenario_lid(s, i) != lids[i];
	return n;
}

/* The file of a subnet that never existed: each GUID has the LIDs of one seven lines below. */
static void permute_guid2lid(struct scenario *s)
{
	g_autofree char *file = g_build_filename(s->cache_dir, "guid2lid", NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *old = NULL;
	g_auto(GStrv) lines = NULL;
	guint n;

	g_assert(g_file_get_contents(file, &old, NULL, NULL));
	lines = g_strsplit(g_strchomp(old), "\n\n", -1);
	n = g_strv_length(lines);
	for (guint i = 0; i < n; i++)
		g_string_append_printf(text, "%.18s %s\n\n", lines[i],
				       strchr(lines[(i + 7) % n], ' ') + 1);
	g_assert(g_file_set_contents(file, text->str, -1, NULL));
}

/* The log about a file that is not used: it affects all 36, and says how the file would be used. */
static void check_told(struct scenario *s, bool told)
{
	scenario_check_log(s, "guid2lid is overruled for 36 GUIDs by the LIDs that the ports hold",
			   told);
	scenario_check_log(s, "honor_guid2lid gives guid2lid priority", told);
}

/*
 * The next daemon has an old file: the LIDs of the healthy subnet stay all the same, which is
 * logged, and not again once the file has them.
 */
START_TEST(takeover_with_a_stale_guid2lid)
{
	struct scenario *s = up("fattree:4");
	g_autofree uint16_t *lids = scenario_lids(s);

	check_told(s, false);
	scenario_stop(s);
	permute_guid2lid(s);
	if (_i)
		scenario_option(s, "-x", NULL); /* honor_guid2lid_file */
	scenario_start(s);
	scenario_converge(s, 10);
	if (_i)
		scenario_expect(s, moved(s, lids) > sim_nodes(s->sim) / 2);
	else
		scenario_expect_at_most(s, moved(s, lids), 0);
	check_told(s, !_i);
	scenario_stop(s);
	g_string_truncate(s->text, 0);
	scenario_start(s);
	scenario_converge(s, 10);
	check_told(s, false);
	scenario_free(s);
}
END_TEST

/* A host that lost its LID gets it back from the file; a LID from another SM is replaced. */
START_TEST(reboots_with_a_stale_guid2lid)
{
	struct scenario *s = up("fattree:4");
	g_autofree uint16_t *lids = scenario_lids(s);
	unsigned int host = scenario_node(s, "host-9");

	scenario_stop(s);
	sim_node_set(s->sim, host, false);
	sim_node_set(s->sim, host, true);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_expect_at_most(s, moved(s, lids), 0);
	scenario_free(s);
}
END_TEST

/* sa_rate_threshold: excess requests of a port are dropped, those of others not; it may change. */
START_TEST(asks_too_often)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct client *eager, *other;
	const struct counters *counters;
	uint16_t mlid;

	scenario_conf(s, "sa_rate_threshold 5\n");
	scenario_start(s);
	scenario_converge(s, 30);
	counters = &daemon_context(s->daemon)->counters;
	eager = client_new(s, scenario_node(s, "host-3"));
	other = client_new(s, scenario_node(s, "host-4"));
	for (unsigned int i = 0; i < 20; i++)
		client_send_member(eager, true);
	ck_assert_int_eq(client_join_broadcast(other, &mlid), 0);
	ck_assert_uint_eq(counter_get(counters, sa_rate_dropped), 15);
	scenario_run_ms(s, 200);
	ck_assert_int_eq(client_join_broadcast(eager, &mlid), 0);
	ck_assert_uint_eq(counter_get(counters, sa_rate_dropped), 15);
	client_free(eager);
	client_free(other);
	scenario_free(s);
}
END_TEST

/* -r acts once, though the sweep in which it did had errors and others follow. */
START_TEST(reassigns_once)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int mute = scenario_node(s, "host-9");
	g_autofree uint16_t *lids = NULL;

	scenario_option(s, "-r", NULL);
	scenario_start(s);
	sim_node_stubborn(s->sim, mute, true);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", true);
	lids = scenario_lids(s);
	/* Reassigned from here all LIDs would change: the order of discovery differs. */
	sim_link_set(s->sim, scenario_node(s, "leaf-0-0"), 3, false);
	scenario_run_ms(s, 30 * 1000);
	sim_node_stubborn(s->sim, mute, false);
	scenario_converge(s, 30);
	scenario_expect_at_most(s, moved(s, lids), 1);
	scenario_free(s);
}
END_TEST

/* A switch without room for any LID affects itself, not the LIDs of all. */
START_TEST(switch_with_a_tiny_forwarding_table)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int tiny = scenario_node(s, "core-0-1"), without = 0;

	sim_set_linear_fdb_cap(s->sim, tiny, 1);
	scenario_start(s);
	scenario_run_ms(s, 10 * 1000);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		without += !scenario_lid(s, i);
	scenario_expect_at_most(s, without, 0);
	scenario_check_log(s, "core-0-1 (0x", true);
	scenario_check_log(s, "no free LID", false);
	scenario_free(s);
}
END_TEST

/* ---- M_Keys ---- */

#define M_KEY UINT64_C(0x1234)
#define KEYS "m_key 0x1234\nm_key_protection_level 1\nsweep_interval 10\n"

static struct scenario *up_with(const char *conf)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

static uint64_t traps(struct scenario *s)
{
	return counter_get(&daemon_context(s->daemon)->counters, traps_received);
}

static bool all_have_key(struct scenario *s, uint64_t m_key)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		if (sim_port_info(s->sim, i, view.type == IBA_NODE_SWITCH ? 0 : 1)->m_key != m_key)
			return false;
	}
	return true;
}

static void change_key(struct scenario *s, uint64_t m_key, int level)
{
	g_autofree char *conf =
		g_strdup_printf("m_key 0x%" G_GINT64_MODIFIER "x\nm_key_protection_level %d\n",
				m_key, level);

	scenario_conf(s, conf);
	ck_assert(daemon_reread(s->daemon, NULL));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
}

/* A new m_key reaches all ports, at each level of protection, and the next one does too. */
START_TEST(key_changes)
{
	static const uint64_t keys[] = {M_KEY, M_KEY + 1, 0, M_KEY + 2, M_KEY};
	struct scenario *s = up("fattree:4");

	for (unsigned int i = 0; i < G_N_ELEMENTS(keys); i++) {
		change_key(s, keys[i], _i);
		scenario_expect_at_most(s, scenario_converge(s, 20), 1000);
		scenario_run_ms(s, 1000);
		scenario_expect(s, all_have_key(s, keys[i]));
		scenario_heavy_sweep(s, 10);
	}
	scenario_free(s);
}
END_TEST

/* Nodes that were away when it changed have an old key; hosts and switches, and more than one. */
START_TEST(key_changed_while_away)
{
	struct scenario *s = up("fattree:4");
	unsigned int host = scenario_node(s, "host-9"), leaf = scenario_node(s, "leaf-2-0");

	change_key(s, M_KEY, _i);
	scenario_converge(s, 20);
	sim_link_set(s->sim, host, 1, false);
	sim_node_mute(s->sim, leaf, true);
	for (unsigned int i = 1; i <= 3; i++) {
		change_key(s, M_KEY + i, _i);
		scenario_run_ms(s, 20 * 1000);
	}
	sim_link_set(s->sim, host, 1, true);
	sim_node_mute(s->sim, leaf, false);
	scenario_converge(s, 60);
	scenario_run_ms(s, 1000);
	scenario_expect(s, all_have_key(s, M_KEY + 3));
	scenario_free(s);
}
END_TEST

/* A trap is repressed with the key of its port: at once, and without any violation. */
START_TEST(traps_are_repressed_with_the_key)
{
	struct scenario *s = up_with(KEYS);
	unsigned int host = scenario_node(s, "host-9"), leaf = scenario_node(s, "leaf-2-0");
	uint64_t before = traps(s);

	scenario_run_ms(s, 3000);
	sim_set_description(s->sim, host, "renamed");
	sim_set_description(s->sim, leaf, "renamed too");
	scenario_run_ms(s, 20 * 1000);
	scenario_expect_at_most(s, traps(s) - before, 2);
	scenario_expect_at_most(s, sim_port_info(s->sim, host, 1)->m_key_violations, 0);
	scenario_expect_at_most(s, sim_port_info(s->sim, leaf, 0)->m_key_violations, 0);
	scenario_free(s);
}
END_TEST

/* Another host sets PortInfo of a host arbitrarily, with this key. */
static void foreign_set(struct scenario *s, unsigned int victim, uint64_t m_key)
{
	uint64_t from = sim_port_guid(s->sim, scenario_node(s, "host-5"), 1);
	struct vendor *vendor = sim_open(s->sim, from, NULL);
	struct vendor_address to = {.lid = scenario_lid(s, victim), .qpn = IBA_QP0};
	struct iba_port_info info = *sim_port_info(s->sim, victim, 1);
	struct iba_smp smp = {
		.header.base_version = IBA_BASE_VERSION,
		.header.mgmt_class = IBA_CLASS_SUBN_LID,
		.header.class_version = 1,
		.header.method = IBA_METHOD_SET,
		.header.transaction_id = 77,
		.header.attribute_id = IBA_ATTR_PORT_INFO,
		.m_key = m_key,
	};
	uint8_t wire[IBA_MAD_BYTES];

	info.m_key_protect_bits = 0;
	info.port_state = IBA_PORT_NO_CHANGE;
	info.port_physical_state = info.link_down_default_state = 0;
	info.link_width_enabled = info.link_speed_enabled = info.link_speed_ext_enabled = 0;
	wire_encode(&iba_port_info_type, &info, smp.data);
	wire_encode(&iba_smp_type, &smp, wire);
	vendor_send(vendor, &to, wire, sizeof(wire), 0);
	scenario_run_ms(s, 1);
	vendor_close(vendor);
}

/* A violation starts the lease; trap 256 informs the SM, which stops it. */
START_TEST(violated_port_stays_protected)
{
	struct scenario *s = up_with(KEYS "m_key_lease_period 12\n");
	unsigned int host = scenario_node(s, "host-9");

	for (int i = 0; i < 5; i++) {
		foreign_set(s, host, M_KEY + 1);
		for (int second = 0; second < 20; second++) {
			scenario_run_ms(s, 1000);
			ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key_protect_bits, 1);
		}
	}
	scenario_check_log(s, "num:256 (Bad M_Key)", true);
	ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key, M_KEY);
	scenario_free(s);
}
END_TEST

/* Its lease ran out unnoticed, or another SM removed its key: no trap reports that. */
START_TEST(unprotected_port_is_found)
{
	struct scenario *s = up_with(KEYS "m_key_lease_period 12\n");
	unsigned int host = scenario_node(s, "host-9");

	scenario_run_ms(s, 20 * 1000);
	foreign_set(s, host, M_KEY);
	ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key_protect_bits, 0);
	scenario_run_ms(s, 7 * 1000);
	ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key_protect_bits, 1);
	scenario_free(s);
}
END_TEST

/* ---- links ---- */

static bool all_links_have(struct scenario *s, uint8_t width, uint8_t speed)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;
		unsigned int peer, port;

		sim_node_view(s->sim, i, &view);
		for (unsigned int num = 1; num <= view.num_ports; num++) {
			const struct iba_port_info *info = sim_port_info(s->sim, i, num);

			if (sim_peer(s->sim, i, num, &peer, &port) &&
			    (info->link_width_enabled != width ||
			     info->link_speed_enabled != speed))
				return false;
		}
	}
	return true;
}

/* Earlier settings are replaced by others. */
START_TEST(width_and_speed_are_forced)
{
	struct scenario *s = up_with("force_link_width 1\nforce_link_speed 1\n");

	scenario_expect(s, all_links_have(s, 1, 1));
	scenario_conf(s, "force_link_width 2\nforce_link_speed 3\n");
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_converge(s, 10);
	scenario_expect(s, all_links_have(s, 2, 3));
	scenario_free(s);
}
END_TEST

static struct scenario *with_speeds(bool fixed, const char *options)
{
	struct scenario *s = scenario_new("speeds.topo", 1);

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		sim_node_fix_speeds(s->sim, i, fixed);
	scenario_conf(s, options);
	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

static const struct {
	const char *options;
	unsigned int width, speed, ext;
} forced[] = {
	{"force_link_width 2\n", 2, 0, 0},	{"force_link_width 3\n", 3, 0, 0},
	{"force_link_width 8\n", 8, 0, 0},	{"force_link_width 31\n", 31, 0, 0},
	{"force_link_speed 1\n", 0, 1, 0},	{"force_link_speed 3\n", 0, 3, 0},
	{"force_link_speed 5\n", 0, 5, 0},	{"force_link_speed 7\n", 0, 7, 0},
	{"force_link_speed_ext 1\n", 0, 0, 1}, {"force_link_speed_ext 2\n", 0, 0, 2},
	{"force_link_speed_ext 3\n", 0, 0, 3}, {"force_link_speed_ext 7\n", 0, 0, 7},
	{"force_link_speed_ext 16\n", 0, 0, 0},
};

static void check_enabled(uint8_t is, uint8_t supported, unsigned int option)
{
	ck_assert_uint_eq(is, option & supported ? option & supported : supported);
}

/* Values that a port does not support are not set, and cost it neither LID nor link. */
START_TEST(beyond_what_ports_can)
{
	struct scenario *s = with_speeds(false, forced[_i].options);

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		const struct iba_port_info *info = sim_port_info(s->sim, i, 1);

		check_enabled(info->link_width_enabled, info->link_width_supported,
			      forced[_i].width);
		check_enabled(info->link_speed_enabled, info->link_speed_supported,
			      forced[_i].speed);
		check_enabled(info->link_speed_ext_enabled, info->link_speed_ext_supported,
			      forced[_i].ext);
	}
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	scenario_free(s);
}
END_TEST

/* Ports that refuse any change are logged once, and come up as they are. */
START_TEST(widths_and_speeds_refused)
{
	struct scenario *s =
		with_speeds(true, "force_link_width 1\nforce_link_speed_ext 1\n");
	const struct counters *counters = &daemon_context(s->daemon)->counters;
	uint64_t before;

	scenario_check_log(s, "does not accept width and speeds", true);
	scenario_run_ms(s, 3000);
	scenario_check_log(s, "SUBNET UP", true);
	before = counter_get(counters, sweeps_partial);
	scenario_run_ms(s, 60000);
	ck_assert_uint_eq(counter_get(counters, sweeps_partial), before);
	scenario_free(s);
}
END_TEST

/* ---- what ends the daemon ---- */

/* Returns the thief's own GUID. */
static uint64_t steal_node_guid(struct scenario *s, const char *thief, const char *victim)
{
	struct sim_node_view own, view;

	sim_node_view(s->sim, scenario_node(s, thief), &own);
	sim_node_view(s->sim, scenario_node(s, victim), &view);
	sim_set_node_guid(s->sim, scenario_node(s, thief), view.node_guid);
	return own.node_guid;
}

/* Duplicate GUIDs at the SM's start end it, with exit_on_fatal. */
START_TEST(duplicate_guid_at_start)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	unsigned int thief = scenario_node(s, "host-5"), victim = scenario_node(s, "host-9");

	if (_i & 1)
		scenario_option(s, "-y", NULL);
	if (_i & 2)
		sim_set_port_guid(s->sim, thief, 1, sim_port_guid(s->sim, victim, 1));
	else
		steal_node_guid(s, "host-5", "host-9");
	scenario_start(s);
	scenario_run_ms(s, 5000);
	ck_assert_int_eq(s->exit_code, _i & 1 ? -1 : 1);
	scenario_check_log(s, "fatal: ", !(_i & 1));
	if (!(_i & 1)) /* logged once, however long the end takes */
		ck_assert_ptr_null(strstr(strstr(s->text->str, "fatal: ") + 1, "fatal: "));
	scenario_free(s);
}
END_TEST

/* A cable that moves during the first sweep is not a duplicate. */
START_TEST(duplicate_guid_for_a_moment)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	uint64_t guid = steal_node_guid(s, "host-5", "host-9");

	scenario_start(s);
	scenario_run_ms(s, 10);
	scenario_check_log(s, "duplicate GUID", true);
	sim_set_node_guid(s->sim, scenario_node(s, "host-5"), guid);
	scenario_converge(s, 30);
	ck_assert_int_eq(s->exit_code, -1);
	scenario_free(s);
}
END_TEST

/* Once the subnet was up duplicates do not end its manager. */
START_TEST(duplicate_guid_later)
{
	struct scenario *s = up("fattree:4");

	steal_node_guid(s, "host-5", "host-9");
	for (int i = 0; i < 5; i++) {
		scenario_heavy_sweep(s, 30);
		scenario_run_ms(s, 3000);
	}
	scenario_check_log(s, "duplicate GUID", true);
	ck_assert_int_eq(s->exit_code, -1);
	scenario_free(s);
}
END_TEST

/* ---- opensm.conf ---- */

static uint8_t subnet_timeout(struct scenario *s)
{
	return sim_port_info(s->sim, scenario_node(s, "host-9"), 1)->subnet_timeout;
}

/* A changed file is used from the next heavy sweep on, whatever the reason for that sweep. */
START_TEST(file_is_read_before_heavy_sweeps)
{
	struct scenario *s = up_with("subnet_timeout 17\n");

	ck_assert_uint_eq(subnet_timeout(s), 17);
	scenario_old_file(s->conf, "subnet_timeout 16\n");
	scenario_run_ms(s, 30 * 1000); /* light sweeps */
	ck_assert_uint_eq(subnet_timeout(s), 17);
	if (_i)
		daemon_sweep(s->daemon, SWEEP_HEAVY); /* for the operator */
	else
		event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_STARTUP);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(subnet_timeout(s), 16);
	scenario_check_log(s, "opensm.conf", true);
	scenario_free(s);
}
END_TEST

/* Without a request by the operator. */
static void heavy_sweep_of_nobody(struct scenario *s, unsigned int ms)
{
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_STARTUP);
	scenario_run_ms(s, ms);
}

/* A file that was written just now is used a little later. */
START_TEST(young_file_counts_later)
{
	struct scenario *s = up_with("subnet_timeout 17\n");

	scenario_conf(s, "subnet_timeout 16\n");
	heavy_sweep_of_nobody(s, 500);
	ck_assert_uint_eq(subnet_timeout(s), 17);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(subnet_timeout(s), 16);
	scenario_free(s);
}
END_TEST

#define ALL_KEYS "subnet_timeout 17\nm_key 0x1234\n"
#define ALL_PARTITIONS "Default=0x7fff,ipoib:ALL=full;\nA=0x11:ALL=full;\n"

/* A heavy sweep while the file is written in place does not use the half of it. */
START_TEST(half_of_a_file)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->directory, "partitions.conf", NULL);
	const char *const half[] = {"", "subnet_timeout 17\n", "Default=0x7fff,ipoib:ALL=full;\n"};
	unsigned int host = scenario_node(s, "host-9"), n;

	g_assert(g_file_set_contents(file, ALL_PARTITIONS, -1, NULL));
	scenario_option(s, "-P", file);
	scenario_conf(s, ALL_KEYS);
	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int i = 0; i < 2; i++) {
		g_assert(g_file_set_contents(_i == 2 ? file : s->conf,
					     i ? _i == 2 ? ALL_PARTITIONS : ALL_KEYS : half[_i],
					     -1, NULL));
		heavy_sweep_of_nobody(s, i ? 60 * 1000 : 100);
		ck_assert_uint_eq(subnet_timeout(s), 17);
		ck_assert_uint_eq(sim_port_info(s->sim, host, 1)->m_key, M_KEY);
		ck_assert_uint_eq(sim_p_keys(s->sim, host, 1, &n)[1], 0x8011);
	}
	scenario_free(s);
}
END_TEST

/* Defaults apply only on request, not because a file was lost. */
START_TEST(keys_are_gone)
{
	struct scenario *s = up_with("subnet_timeout 17\n");

	scenario_old_file(s->conf, "# subnet_timeout 17\n");
	for (unsigned int i = 0; i < 2; i++) {
		g_string_truncate(s->text, 0);
		heavy_sweep_of_nobody(s, 5000);
		ck_assert_uint_eq(subnet_timeout(s), 17);
		scenario_check_log(s, "it no longer sets any option", i == 0);
		ck_assert_ptr_nonnull(daemon_refusal(s->daemon, DAEMON_OPENSM_CONF)->why);
	}
	ck_assert(!daemon_reread_logged(s->daemon)); /* nor on SIGHUP */
	ck_assert_uint_eq(subnet_timeout(s), 17);
	scenario_conf(s, "subnet_timeout 18\n");
	ck_assert(daemon_reread_logged(s->daemon));
	heavy_sweep_of_nobody(s, 1000);
	ck_assert_uint_eq(subnet_timeout(s), 18);
	ck_assert_ptr_null(daemon_refusal(s->daemon, DAEMON_OPENSM_CONF)->why);
	scenario_free(s);
}
END_TEST

/* A bad file changes nothing and is logged once; without a change nothing is read. */
START_TEST(bad_file_changes_nothing)
{
	struct scenario *s = up_with("subnet_timeout 17\n");
	struct options *options = slot_take(&daemon_context(s->daemon)->options), *after;

	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
	after = slot_take(&daemon_context(s->daemon)->options);
	ck_assert_ptr_eq(after, options);
	options_unref(after);
	options_unref(options);
	scenario_conf(s, "subnet_timeout 99\n");
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "the options are unchanged", true);
	ck_assert_uint_eq(subnet_timeout(s), 17);
	g_string_truncate(s->text, 0);
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
	scenario_check_log(s, "the options are unchanged", false);
	scenario_conf(s, "subnet_timeout 15\n");
	scenario_heavy_sweep(s, 10);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(subnet_timeout(s), 15);
	scenario_free(s);
}
END_TEST

/* A bad opensm.conf does not keep the other files requested with it from being read. */
START_TEST(bad_file_hides_no_other)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->directory, "other", NULL);
	const char *const option = _i ? "hm_ports_health_policy_file" : "root_guid_file";
	const char *const good = _i ? "flapping ca report\n" : "0x1\n";
	const enum daemon_files which = _i ? DAEMON_PORTS_POLICY : DAEMON_ROUTE_FILES;
	g_autofree char *conf = g_strdup_printf("%s %s\n", option, file);

	g_assert(g_file_set_contents(file, good, -1, NULL));
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
	g_assert(g_file_set_contents(file, "zzz\n", -1, NULL));
	ck_assert(daemon_reread_logged(s->daemon));
	ck_assert_ptr_nonnull(daemon_refusal(s->daemon, which)->why);
	g_assert(g_file_set_contents(file, good, -1, NULL));
	scenario_conf(s, "subnet_timeout 99\n");
	ck_assert(!daemon_reread_logged(s->daemon));
	ck_assert_ptr_null(daemon_refusal(s->daemon, which)->why);
	scenario_free(s);
}
END_TEST

/* ---- traps ---- */

static uint64_t sweeps(struct scenario *s)
{
	const struct counters *counters = &daemon_context(s->daemon)->counters;

	return counter_get(counters, sweeps_light) + counter_get(counters, sweeps_partial) +
	       counter_get(counters, sweeps_heavy) + counter_get(counters, sweeps_multicast);
}

/* No trap starts a sweep, whatever it reports and whatever sent it; the next periodic one does. */
START_TEST(no_sweep_on_traps)
{
	struct scenario *s = up_with("sweep_on_trap FALSE\nsweep_interval 20\n");
	unsigned int host = scenario_node(s, "host-9"), node, port;
	struct sim_node_view view;
	struct subnet *subnet;
	uint64_t before;

	scenario_run_ms(s, 40 * 1000);
	before = sweeps(s);
	while (sweeps(s) == before)
		scenario_run_ms(s, 100);
	before = sweeps(s);
	scenario_random_link(s, &node, &port);
	sim_link_set(s->sim, node, port, false);
	sim_set_description(s->sim, host, "renamed");
	sim_node_view(s->sim, host, &view);
	scenario_run_ms(s, 15 * 1000);
	scenario_expect_at_most(s, sweeps(s) - before, 0);
	scenario_converge(s, 10);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	ck_assert_str_eq(subnet->fabric->nodes[fabric_node_by_guid(subnet->fabric, view.node_guid)]
				 .description,
			 "renamed");
	subnet_unref(subnet);
	scenario_free(s);
}
END_TEST

/* Neither does one from a port of which nothing is known. */
START_TEST(no_sweep_on_traps_of_unknown_ports)
{
	struct scenario *s =
		up_with(_i ? "sweep_on_trap FALSE\nsweep_interval 0\n" : "sweep_interval 0\n");
	unsigned int host = scenario_node(s, "host-9");
	struct iba_notice notice = {
		.is_generic = true,
		.trap_number = IBA_TRAP_LINK_STATE_CHANGE,
		.issuer_lid = scenario_lid(s, host),
	};
	struct iba_trap_switch details = {.lid = 0x777};
	uint64_t before = sweeps(s);

	wire_encode(&iba_trap_switch_type, &details, notice.data_details);
	scenario_expect(s, sim_trap(s->sim, host, 1, &notice));
	scenario_run_ms(s, 15 * 1000);
	scenario_expect(s, (sweeps(s) == before) == (_i == 1));
	scenario_free(s);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("options");
	TCase *tcase = tcase_create("lids");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, takeover_with_a_stale_guid2lid, 0, 2);
	tcase_add_test(tcase, reboots_with_a_stale_guid2lid);
	tcase_add_test(tcase, asks_too_often);
	tcase_add_test(tcase, reassigns_once);
	tcase_add_test(tcase, switch_with_a_tiny_forwarding_table);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("keys");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, key_changes, 0, 4);
	tcase_add_loop_test(tcase, key_changed_while_away, 0, 4);
	tcase_add_test(tcase, traps_are_repressed_with_the_key);
	tcase_add_test(tcase, violated_port_stays_protected);
	tcase_add_test(tcase, unprotected_port_is_found);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("links");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, width_and_speed_are_forced);
	tcase_add_loop_test(tcase, beyond_what_ports_can, 0, G_N_ELEMENTS(forced));
	tcase_add_test(tcase, widths_and_speeds_refused);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("fatal");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, duplicate_guid_at_start, 0, 4);
	tcase_add_test(tcase, duplicate_guid_for_a_moment);
	tcase_add_test(tcase, duplicate_guid_later);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("file");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, file_is_read_before_heavy_sweeps, 0, 2);
	tcase_add_test(tcase, young_file_counts_later);
	tcase_add_loop_test(tcase, half_of_a_file, 0, 3);
	tcase_add_test(tcase, keys_are_gone);
	tcase_add_loop_test(tcase, bad_file_hides_no_other, 0, 2);
	tcase_add_test(tcase, bad_file_changes_nothing);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("traps");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, no_sweep_on_traps);
	tcase_add_loop_test(tcase, no_sweep_on_traps_of_unknown_ports, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A subnet comes up, stays as it is, and outlives its manager. */
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "scenario.h"
#include "tests/run_suite.h"

static const char *const fabrics[] = {
	"fattree:4",   "fattree:8",	  "torus:3x3x3:2",   "mesh:4x4x1",
	"hypercube:4", "dragonfly:4:2:2", "random:12:4:2:7",
};

static struct scenario *up(const char *spec)
{
	struct scenario *s = scenario_new(spec, 1);

	scenario_start(s);
	scenario_converge(s, 10);
	return s;
}

START_TEST(comes_up)
{
	struct scenario *s = up(fabrics[_i]);

	scenario_check_log(s, "Entering DISCOVERING state", true);
	scenario_check_log(s, "Entering HEAVY SWEEP", true);
	scenario_check_log(s, "Entering MASTER state", true);
	scenario_check_log(s, "minhop tables configured on all switches", true);
	scenario_check_log(s, "SUBNET UP", true);
	scenario_check_log(s, "ERRORS DURING INITIALIZATION", false);
	scenario_free(s);
}
END_TEST

START_TEST(comes_up_with_lmc)
{
	g_autofree char *lmc = g_strdup_printf("%d", _i);
	struct scenario *s = scenario_new("fattree:4", 1);

	scenario_option(s, "-l", lmc);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

static bool says_it_sweeps(const struct scenario *s)
{
	return atomic_load(&daemon_context(s->daemon)->sweep) & SWEEP_FLAG_RUNNING;
}

START_TEST(sweep_is_told)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	scenario_start(s);
	scenario_run_ms(s, 1);
	ck_assert(says_it_sweeps(s));
	scenario_converge(s, 10);
	ck_assert(!says_it_sweeps(s));
	daemon_sweep(s->daemon, SWEEP_HEAVY);
	scenario_run_ms(s, 1);
	ck_assert(says_it_sweeps(s));
	scenario_free(s);
}
END_TEST

START_TEST(is_sm_while_it_runs)
{
	struct scenario *s = up("fattree:4");
	unsigned int port, node = scenario_sm_node(s, &port);

	scenario_expect(s, sim_port_info(s->sim, node, port)->capability_mask & IBA_PORT_CAP_SM);
	scenario_stop(s);
	scenario_expect(s, !(sim_port_info(s->sim, node, port)->capability_mask & IBA_PORT_CAP_SM));
	scenario_free(s);
}
END_TEST

/* Light sweeps ask each switch once and change nothing. */
START_TEST(idle_fabric)
{
	struct scenario *s = up("fattree:8");
	const struct counters *counters = &daemon_context(s->daemon)->counters;
	uint64_t heavy = counter_get(counters, sweeps_heavy);
	uint64_t partial = counter_get(counters, sweeps_partial);
	uint64_t light = counter_get(counters, sweeps_light);
	struct sim_counters before = scenario_counters(s), after;

	scenario_run_ms(s, 60 * 1000);
	after = scenario_counters(s);
	light = counter_get(counters, sweeps_light) - light;
	scenario_expect(s, light >= 5);
	scenario_expect(s, counter_get(counters, sweeps_heavy) == heavy);
	scenario_expect(s, counter_get(counters, sweeps_partial) == partial);
	scenario_expect_at_most(s, after.sets - before.sets, 0);
	/* The SM's own port is read once a second, the nodes in each sweep. */
	scenario_expect_at_most(s, after.gets - before.gets,
				light * (scenario_switches(s) + 1) + 60);
	scenario_expect_at_most(s, after.traps - before.traps, 0);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

static void expect_lids(struct scenario *s, const uint16_t *lids)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		scenario_expect(s, scenario_lid(s, i) == lids[i]);
}

/* The next daemon finds everything in place; it only tells each host to reregister. */
START_TEST(restart_changes_nothing)
{
	struct scenario *s = up("fattree:8");
	unsigned int n = sim_nodes(s->sim);
	g_autofree uint16_t *lids = scenario_lids(s);
	struct sim_counters before;

	scenario_stop(s);
	before = scenario_counters(s);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	scenario_check(s);
	scenario_check_log(s, "SUBNET UP", true);
	expect_lids(s, lids);
	scenario_expect_at_most(s, scenario_counters(s).sets - before.sets,
				n - scenario_switches(s) + 2);
	scenario_free(s);
}
END_TEST

struct ways {
	unsigned int by_lid, directed;
};

static void note_way(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		     const uint8_t *data, size_t length)
{
	struct ways *ways = arg;

	(void)now_ns;
	(void)from;
	(void)to;
	if (!scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_LINEAR_FORWARDING_TABLE))
		return;
	if (data[1] == IBA_CLASS_SUBN_LID)
		ways->by_lid++;
	else
		ways->directed++;
}

/*
 * Directed SMPs keep the processors of switches busy: once a first probe is answered by LID, the
 * tables of a subnet that is set up are read by LID.
 */
START_TEST(restart_reads_tables_by_lid)
{
	struct scenario *s = up("fattree:8");
	struct ways ways = {0};

	scenario_stop(s);
	sim_set_trace(s->sim, note_way, &ways);
	scenario_start(s);
	scenario_converge(s, 10);
	ck_assert_uint_gt(ways.by_lid, 2 * ways.directed);
	ck_assert_uint_eq(counter_get(&daemon_context(s->daemon)->counters, smp_retries), 0);
	scenario_free(s);
}
END_TEST

#define LIDS_MAX 256
#define BLOCKS (LIDS_MAX / 64)

struct vain {
	struct sim *sim;
	int asked[LIDS_MAX]; /* by LID: requests minus answers */
};

static void note_vain(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	const uint16_t attribute = IBA_ATTR_LINEAR_FORWARDING_TABLE;
	struct vain *vain = arg;

	(void)now_ns;
	if (data[1] != IBA_CLASS_SUBN_LID)
		return;
	if (scenario_is_smp(data, length, IBA_METHOD_GET, attribute))
		vain->asked[to->lid]++;
	else if (scenario_is_smp(data, length, IBA_METHOD_GET_RESP, attribute))
		vain->asked[sim_port_info(vain->sim, (unsigned int)sim_find_guid(vain->sim, from),
					  0)->lid]--;
}

/* A switch has lost its table: no node behind it is asked in vain by LID for all of its blocks. */
START_TEST(restart_beside_a_lost_table)
{
	struct scenario *s = up("fattree:8");
	struct vain vain = {.sim = s->sim};
	struct sim_node_view view;
	int most = 0;

	scenario_stop(s);
	sim_node_view(s->sim, scenario_node(s, "spine-0-0"), &view);
	memset((uint8_t *)(uintptr_t)view.lft, 0xFF, LIDS_MAX);
	sim_set_trace(s->sim, note_vain, &vain);
	scenario_start(s);
	scenario_converge(s, 10);
	for (unsigned int lid = 0; lid < LIDS_MAX; lid++)
		most = MAX(most, vain.asked[lid]);
	ck_assert_int_gt(most, 0);
	ck_assert_int_lt(most, BLOCKS);
	scenario_free(s);
}
END_TEST

/* Cables that changed without a trap are missing from the tables: a heavy sweep asks hop by hop. */
START_TEST(heavy_sweep_trusts_no_table)
{
	struct scenario *s = up("torus:4x4");
	const struct counters *counters = &daemon_context(s->daemon)->counters;
	unsigned int node, port;

	sim_set_traps_lost(s->sim, true);
	for (unsigned int i = 0; i < 4; i++) {
		scenario_random_link(s, &node, &port);
		sim_link_set(s->sim, node, port, false);
	}
	event_emit(&daemon_context(s->daemon)->bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	scenario_converge(s, 10);
	scenario_expect(s, counter_get(counters, smp_retries) == 0);
	scenario_free(s);
}
END_TEST

/* The fabric has lost everything, but the daemon has its files. */
START_TEST(lids_survive_a_power_cut)
{
	struct scenario *s = up("fattree:4");
	unsigned int n = sim_nodes(s->sim);
	g_autofree uint16_t *lids = scenario_lids(s);

	scenario_stop(s);
	for (unsigned int i = 0; i < n; i++)
		sim_node_set(s->sim, i, false);
	for (unsigned int i = 0; i < n; i++)
		sim_node_set(s->sim, i, true);
	/* From another port, LIDs would be assigned in another order if not remembered. */
	s->sm_guid = sim_port_guid(s->sim, scenario_random_host(s), 1);
	scenario_start(s);
	scenario_converge(s, 10);
	expect_lids(s, lids);
	scenario_free(s);
}
END_TEST

static const char *const garbage[] = {
	"",
	"\n\n",
	"0x1 0x2",
	"gibberish\n",
	"0x10 0xFFFF 0xFFFF\n\n0x10 0x0 0x0\n",
	"0xffffffffffffffffffffffff 0x1 0x1\n",
	"0x1 0x1 0x1\n0x2 0x1 0x1\n",
	"\377\376\001\n",
};

/* A failed write to disk is retried, though no other port gets a LID meanwhile. */
START_TEST(guid2lid_is_written_later)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->cache_dir, "guid2lid", NULL);
	g_autofree char *away = g_strconcat(s->cache_dir, ".away", NULL);
	unsigned int host = scenario_node(s, "host-9");
	atomic_bool *unkept;

	sim_node_set(s->sim, host, false);
	scenario_start(s);
	scenario_converge(s, 10);
	unkept = &daemon_context(s->daemon)->unkept;
	scenario_run_ms(s, 1000);
	ck_assert(!atomic_load(unkept));
	ck_assert(g_rename(s->cache_dir, away) == 0);
	sim_node_set(s->sim, host, true);
	scenario_run_ms(s, 5000);
	ck_assert(atomic_load(unkept));
	ck_assert(g_rename(away, s->cache_dir) == 0);
	ck_assert(g_unlink(file) == 0);
	scenario_run_ms(s, 20000);
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	ck_assert(!atomic_load(unkept));
	scenario_free(s);
}
END_TEST

START_TEST(garbage_guid2lid)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autofree char *file = g_build_filename(s->cache_dir, "guid2lid", NULL);

	scenario_option(s, "-y", NULL);
	g_assert(g_file_set_contents(file, garbage[_i], -1, NULL));
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

START_TEST(once)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	scenario_option(s, "--once", NULL);
	scenario_start(s);
	scenario_run_ms(s, 5000);
	scenario_expect(s, s->exit_code == 0);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

START_TEST(without_cache)
{
	struct scenario *s = scenario_new("fattree:4", 1);

	g_clear_pointer(&s->cache_dir, g_free);
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_free(s);
}
END_TEST

/* A second daemon on the same port is refused, and the first is not disturbed. */
START_TEST(port_is_taken)
{
	struct scenario *s = up("fattree:4");
	g_autoptr(GError) error = NULL;
	struct options *options = options_new();
	struct daemon_config config = {.rt = s->rt, .log = s->log, .options = options};

	config.vendor = sim_open(s->sim, s->sm_guid, &error);
	scenario_expect(s, config.vendor != NULL);
	scenario_expect(s, daemon_new(&config, &error) == NULL);
	scenario_expect(s, g_error_matches(error, VENDOR_ERROR, VENDOR_ERROR_BUSY));
	options_unref(options);
	scenario_heavy_sweep(s, 5);
	scenario_check(s);
	scenario_free(s);
}
END_TEST

/* What SIGHUP does. */
START_TEST(options_read_again)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	g_autoptr(GError) error = NULL;

	scenario_conf(s, "subnet_timeout 18\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_expect(s, sim_port_info(s->sim, 0, 1)->subnet_timeout == 18);
	scenario_conf(s, "subnet_timeout 17\n");
	scenario_expect(s, daemon_reread(s->daemon, &error));
	scenario_heavy_sweep(s, 5);
	scenario_converge(s, 10);
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++) {
		struct sim_node_view view;

		sim_node_view(s->sim, i, &view);
		scenario_expect(
			s,
			sim_port_info(s->sim, i, view.switch_info ? 0 : 1)->subnet_timeout == 17);
	}
	scenario_conf(s, "subnet_timeout 99\n");
	scenario_expect(s, !daemon_reread(s->daemon, &error) && strstr(error->message, "99"));
	scenario_free(s);
}
END_TEST

/* packet_life_time: switches get it, and it is published of them. */
START_TEST(life_time_read_again)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct subnet *subnet;

	scenario_conf(s, "packet_life_time 0x11\n");
	scenario_start(s);
	scenario_converge(s, 10);
	scenario_conf(s, "packet_life_time 0x12\n");
	scenario_expect(s, daemon_reread(s->daemon, NULL));
	scenario_heavy_sweep(s, 5);
	subnet = slot_take(&daemon_context(s->daemon)->subnet);
	for (uint32_t sw = 0; sw < subnet->fabric->n_switches; sw++) {
		const struct iba_switch_info *told = &subnet->fabric->switches[sw].info;
		uint32_t node = subnet->fabric->switches[sw].node;
		struct sim_node_view view;

		sim_node_view(s->sim,
			      sim_find_guid(s->sim, subnet->fabric->nodes[node].guid), &view);
		ck_assert_uint_eq(view.switch_info->life_time_value, 0x12);
		ck_assert_uint_eq(told->life_time_value, 0x12);
	}
	subnet_unref(subnet);
	scenario_free(s);
}
END_TEST

/* sweep_on_trap FALSE: a running sweep is not cut short for a change either. */
START_TEST(runs_to_its_end)
{
	for (unsigned int i = 0; i < 10; i++) {
		struct scenario *s = scenario_new("fattree:4", 1);
		const struct counters *counters;

		scenario_conf(s, "sweep_on_trap FALSE\n");
		scenario_start(s);
		scenario_run_ms(s, 4);
		runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + i * 200 * NS_PER_US);
		sim_link_set(s->sim, scenario_node(s, "spine-3-0"), 3, false);
		scenario_run_ms(s, 3000);
		counters = &daemon_context(s->daemon)->counters;
		ck_assert_uint_eq(counter_get(counters, sweeps_cancelled), 0);
		scenario_free(s);
	}
}
END_TEST

struct cut_short {
	struct scenario *s;
	unsigned int before, after; /* Sets of tables; after: those until the next sweep reads */
	bool reads;
};

static void note_sets(void *arg, uint64_t now_ns, const struct vendor_address *to, uint64_t from,
		      const uint8_t *data, size_t length)
{
	struct cut_short *cut = arg;
	bool cancelled = counter_get(&daemon_context(cut->s->daemon)->counters, sweeps_cancelled);

	(void)now_ns;
	(void)to;
	(void)from;
	if (scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE))
		*(cancelled ? &cut->after : &cut->before) += !cut->reads;
	cut->reads |= cancelled &&
		      scenario_is_smp(data, length, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO);
}

static bool has_written(void *arg)
{
	return ((struct cut_short *)arg)->before > 8;
}

/* Requests that wait in the window when a sweep is cancelled are not sent any more. */
START_TEST(cut_short)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct cut_short cut = {.s = s};

	scenario_conf(s, "max_wire_smps 1\n");
	scenario_start(s);
	sim_set_trace(s->sim, note_sets, &cut);
	ck_assert(runtime_run(s->rt, has_written, &cut, runtime_now(s->rt) + 10 * NS_PER_S));
	sim_link_set(s->sim, scenario_node(s, "leaf-0-0"), 3, false);
	scenario_run_ms(s, 3000);
	ck_assert(cut.reads);
	ck_assert_uint_eq(cut.after, 0);
	scenario_converge(s, 20);
	scenario_free(s);
}
END_TEST

/* sweep_interval 0: no light sweeps, so that no node is asked anything. */
START_TEST(idle_without_sweeps)
{
	struct scenario *s = scenario_new("fattree:4", 1);
	struct sim_counters before;

	scenario_conf(s, "sweep_interval 0\n");
	scenario_start(s);
	scenario_converge(s, 10);
	before = scenario_counters(s);
	scenario_run_ms(s, 60 * 1000);
	scenario_expect_at_most(s, scenario_counters(s).gets - before.gets, 0);
	scenario_free(s);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("bringup");
	TCase *tcase = tcase_create("bringup");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, comes_up, 0, G_N_ELEMENTS(fabrics));
	tcase_add_loop_test(tcase, comes_up_with_lmc, 1, 4);
	tcase_add_test(tcase, sweep_is_told);
	tcase_add_test(tcase, is_sm_while_it_runs);
	tcase_add_test(tcase, idle_fabric);
	tcase_add_test(tcase, idle_without_sweeps);
	tcase_add_test(tcase, runs_to_its_end);
	tcase_add_test(tcase, cut_short);
	tcase_add_test(tcase, restart_changes_nothing);
	tcase_add_test(tcase, restart_reads_tables_by_lid);
	tcase_add_test(tcase, restart_beside_a_lost_table);
	tcase_add_test(tcase, heavy_sweep_trusts_no_table);
	tcase_add_test(tcase, lids_survive_a_power_cut);
	tcase_add_test(tcase, guid2lid_is_written_later);
	tcase_add_loop_test(tcase, garbage_guid2lid, 0, G_N_ELEMENTS(garbage));
	tcase_add_test(tcase, once);
	tcase_add_test(tcase, without_cache);
	tcase_add_test(tcase, port_is_taken);
	tcase_add_test(tcase, options_read_again);
	tcase_add_test(tcase, life_time_read_again);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}

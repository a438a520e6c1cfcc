// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance manager on a simulated fabric: what it asks, and how often; agents of every kind,
 * those that redirect, those that lie and those that are silent; what it does as MASTER, as STANDBY
 * and when the daemon or a device restarts. Totals are checked by test_perf_totals.
 */
#include <check.h>
#include <string.h>

#include "managers.h"
#include "perf/image/image.h"
#include "perf/perf.h"
#include "scenario.h"
#include "tests/run_suite.h"

#define CONF "perfmgr TRUE\nsweep_interval 1000\nperfmgr_sweep_time_s "
#define LATER CONF "60000\n"

static struct scenario *s;

static void setup(void)
{
	s = scenario_new("fattree:4", 1);
}

static void teardown(void)
{
	scenario_free(s);
}

static void start(const char *conf)
{
	scenario_conf(s, conf);
	scenario_start(s);
	scenario_converge(s, 10);
}

static struct perf_images *images(void)
{
	return slot_take(&daemon_context(s->daemon)->perf_images);
}

static uint64_t last_id(void)
{
	struct perf_images *list = images();
	const struct perf_image *last = perf_images_last(list);
	uint64_t id = last ? last->id : 0;

	perf_images_unref(list);
	return id;
}

/* One more sweep; returns the MADs it took. */
static uint64_t sweep(void)
{
	struct perf_status status;
	uint64_t before = last_id();

	perf_order(daemon_perf(s->daemon), PERF_SWEEP_NOW, 0);
	for (unsigned int i = 0; i < 6000 && last_id() == before; i++)
		scenario_run_ms(s, 10);
	ck_assert_uint_gt(last_id(), before);
	perf_status(daemon_perf(s->daemon), &status);
	return status.mads;
}

struct seen {
	uint16_t flags;
	uint32_t have;
	uint64_t total[PERF_COUNTERS];
};

/* A port in the last image. */
static struct seen see(const char *name, uint8_t port)
{
	struct perf_images *list = images();
	const struct perf_image *image = perf_images_last(list);
	struct sim_node_view view;
	struct seen seen = {.flags = 0};
	uint32_t row;

	sim_node_view(s->sim, scenario_node(s, name), &view);
	row = perf_layout_row(image->layout, view.node_guid, port);
	ck_assert_uint_ne(row, PERF_NONE);
	seen.flags = image->flags[row];
	seen.have = image->have[row];
	for (int i = 0; i < PERF_COUNTERS; i++)
		seen.total[i] = image->total[i][row];
	perf_images_unref(list);
	return seen;
}

static void count(const char *name, unsigned int port, const char *counter, uint64_t n)
{
	enum sim_port_counter which;

	ck_assert(sim_find_counter(counter, &which));
	ck_assert(sim_port_count(s->sim, scenario_node(s, name), port, which, n));
}

static void set_agent(const char *name, uint32_t with, uint32_t without)
{
	unsigned int node = scenario_node(s, name);

	sim_pma_set(s->sim, node, (sim_pma_abilities(s->sim, node) | with) & ~without);
}

/* ---- what a sweep costs ---- */

/* First numbers at once, then one MAD for each port that has a link. */
START_TEST(one_mad_a_port)
{
	struct perf_status status;

	start(LATER);
	scenario_run_ms(s, 1000);
	ck_assert_uint_ne(last_id(), 0);
	perf_status(daemon_perf(s->daemon), &status);
	ck_assert_uint_eq(status.sweeps, 1);
	ck_assert_uint_eq(status.agents, 36);
	ck_assert_uint_eq(status.mads, 2 * 96 + 2 * 36); /* once: speeds; ClassPortInfo, ticks */
	ck_assert_uint_eq(sweep(), 96);
	ck_assert_uint_eq(see("leaf-0-0", 1).flags, PERF_READ | PERF_EVER);
	ck_assert_uint_eq(see("leaf-0-0", 1).have, (1u << PERF_COUNTERS) - 1);
}
END_TEST

/* It begins when it is due, and not when it is off. */
START_TEST(period)
{
	start(CONF "10\n");
	scenario_run_ms(s, 100500);
	ck_assert_uint_ge(last_id(), 10);
	ck_assert_uint_le(last_id(), 12);
	perf_order(daemon_perf(s->daemon), PERF_ENABLE, false);
	scenario_run_ms(s, 1);
	ck_assert_uint_le(last_id(), 12);
	scenario_run_ms(s, 50000);
	ck_assert_uint_le(last_id(), 12);
}
END_TEST

START_TEST(off_by_default)
{
	start("sweep_interval 1000\n");
	scenario_run_ms(s, 500000);
	ck_assert_uint_eq(last_id(), 0);
	perf_order(daemon_perf(s->daemon), PERF_ENABLE, true);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(last_id(), 1);
}
END_TEST

/* A port without a link is read once more when the link has gone: for LinkDowned. */
START_TEST(link_down)
{
	start(LATER);
	sweep();
	sim_link_set(s->sim, scenario_node(s, "leaf-1-0"), 3, false);
	scenario_run_ms(s, 1000);
	sweep();
	ck_assert_uint_eq(see("leaf-1-0", 3).total[PERF_LINK_DOWNED], 1);
	ck_assert_uint_eq(sweep(), 94);
	ck_assert(see("leaf-1-0", 3).flags & PERF_DOWN);
}
END_TEST

/* ---- kinds of agents ---- */

START_TEST(without_extended)
{
	set_agent("leaf-0-0", 0, SIM_PMA_EXTENDED | SIM_PMA_ADDITIONAL);
	start(LATER);
	count("leaf-0-0", 1, "SymbolErrorCounter", 5);
	sweep();
	ck_assert(see("leaf-0-0", 1).flags & PERF_NARROW);
	ck_assert_uint_eq(see("leaf-0-0", 1).total[PERF_SYMBOL_ERRORS], 5);
	ck_assert_uint_eq(see("leaf-0-0", 1).have >> PERF_UNICAST_XMIT_PKTS, 0);
	count("leaf-0-0", 1, "PortRcvData", UINT64_C(0xF0000000));
	sweep(); /* and clears it: */
	ck_assert(see("leaf-0-0", 1).flags & PERF_CLEARED);
	count("leaf-0-0", 1, "PortRcvData", UINT64_C(0xF0000000));
	sweep();
	ck_assert_uint_ge(see("leaf-0-0", 1).total[PERF_RCV_DATA], 2 * UINT64_C(0xF0000000));
}
END_TEST

START_TEST(never_clears)
{
	set_agent("leaf-0-0", 0, SIM_PMA_EXTENDED | SIM_PMA_ADDITIONAL);
	start(LATER "perfmgr_clear never\n");
	count("leaf-0-0", 1, "LocalLinkIntegrityErrors", 15);
	sweep();
	sweep();
	ck_assert(see("leaf-0-0", 1).flags & PERF_SATURATED);
	ck_assert(!(see("leaf-0-0", 1).flags & PERF_CLEARED));
}
END_TEST

/* Data counters of 64 bits and error counters of 16: two MADs a port. */
START_TEST(two_attributes)
{
	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		sim_pma_set(s->sim, i, sim_pma_abilities(s->sim, i) & ~SIM_PMA_ADDITIONAL);
	start(LATER);
	count("leaf-0-0", 1, "SymbolErrorCounter", 60000);
	sweep(); /* reads, and clears what is nearly full */
	ck_assert_uint_eq(see("leaf-0-0", 1).total[PERF_SYMBOL_ERRORS], 60000);
	count("leaf-0-0", 1, "SymbolErrorCounter", 60000);
	sweep();
	ck_assert_uint_eq(see("leaf-0-0", 1).total[PERF_SYMBOL_ERRORS], 120000);
	sweep();
	ck_assert_uint_eq(sweep(), 2 * 96);
}
END_TEST

/* The agent has announced PortCountersExtended, and refuses it. */
START_TEST(refuses)
{
	start(LATER);
	sim_pma_set_status(s->sim, scenario_node(s, "host-5"), IBA_STATUS_INVALID_FIELD);
	sweep();
	ck_assert(see("host-5", 1).flags & PERF_REFUSED);
	ck_assert(!(see("host-5", 1).flags & PERF_READ));
	sim_pma_set_status(s->sim, scenario_node(s, "host-5"), 0);
	sweep();
	ck_assert(see("host-5", 1).flags & PERF_READ);
}
END_TEST

START_TEST(liars)
{
	start(LATER);
	sweep();
	set_agent("leaf-0-0", SIM_PMA_WRONG_PORT, 0);
	set_agent("leaf-0-1", SIM_PMA_GARBAGE, 0);
	set_agent("leaf-1-0", SIM_PMA_BACKWARDS, 0);
	sweep();
	ck_assert(see("leaf-0-0", 2).flags & PERF_REFUSED);
	ck_assert(!(see("leaf-0-0", 2).flags & PERF_READ));
	ck_assert(see("leaf-0-1", 2).flags & PERF_REFUSED);
	for (int i = 0; i < 5; i++)
		sweep();
	for (int i = 0; i < PERF_COUNTERS; i++)
		ck_assert_uint_lt(see("leaf-1-0", 1).total[i], UINT64_C(1) << 20);
	ck_assert(see("leaf-1-0", 1).flags & PERF_REFUSED);
	scenario_check_log(s, "ERR 540A", false);
	scenario_check_log(s, "ERR 540B", false);
	ck_assert(see("spine-0-0", 1).flags & PERF_READ);
}
END_TEST

/* ---- silence ---- */

/* After the first sweep one try each, and after three only now and then. */
START_TEST(silent_agents)
{
	struct perf_status status;

	start(LATER);
	sweep();
	set_agent("leaf-0-0", SIM_PMA_SILENT, 0);
	ck_assert_uint_gt(sweep(), 92);
	ck_assert(see("leaf-0-0", 1).flags & PERF_SILENT);
	ck_assert(see("leaf-0-0", 4).flags & PERF_SILENT);
	perf_status(daemon_perf(s->daemon), &status);
	ck_assert_uint_eq(status.silent, 1);
	ck_assert_uint_eq(sweep(), 92 + 1);
	for (int i = 0; i < 3; i++)
		sweep();
	for (int i = 0, asked = 0; i < 20; i++) {
		asked += sweep() != 92;
		ck_assert_int_le(asked, 3);
	}
	set_agent("leaf-0-0", 0, SIM_PMA_SILENT);
	for (int i = 0; i < 11; i++)
		sweep();
	ck_assert(see("leaf-0-0", 1).flags & PERF_READ);
}
END_TEST

/* As Debian's ibsim: what it does answer is read all the same, from the first sweep on. */
START_TEST(silent_about_samples)
{
	uint64_t mads;

	for (unsigned int i = 0; i < sim_nodes(s->sim); i++)
		sim_pma_set(s->sim, i, sim_pma_abilities(s->sim, i) | SIM_PMA_MUTE_SAMPLES);
	start(LATER);
	ck_assert(see("leaf-0-0", 1).flags & PERF_READ);
	ck_assert(!(see("leaf-0-0", 1).flags & PERF_SILENT));
	mads = sweep();
	ck_assert(see("leaf-0-1", 2).flags & PERF_READ);
	ck_assert_uint_eq(sweep(), mads);
}
END_TEST

START_TEST(losses)
{
	start(LATER);
	sweep();
	sim_set_loss(s->sim, 0.1);
	for (int i = 0; i < 20; i++)
		sweep();
	sim_set_loss(s->sim, 0);
	sweep();
	for (unsigned int port = 1; port <= 4; port++)
		ck_assert(see("spine-3-1", port).flags & PERF_READ);
}
END_TEST

/* ---- redirection ---- */

static struct sim_redirect to_host(const char *name)
{
	unsigned int node = scenario_node(s, name);

	return (struct sim_redirect){.gid = {IBA_DEFAULT_GID_PREFIX,
					     sim_port_guid(s->sim, node, 1)},
				     .lid = scenario_lid(s, node),
				     .p_key = 0xFFFF,
				     .qp = 77,
				     .q_key = IBA_QP1_Q_KEY};
}

static void redirect(const char *from, const struct sim_redirect *to)
{
	sim_pma_redirect(s->sim, scenario_node(s, from), to);
}

static unsigned int redirections(void)
{
	struct perf_images *list = images();
	unsigned int n = list->n_redirections;

	perf_images_unref(list);
	return n;
}

START_TEST(redirected)
{
	struct sim_redirect to;

	start(LATER);
	to = to_host("host-9");
	redirect("leaf-0-0", &to);
	to = to_host("host-10");
	to.lid = 0; /* by GID only */
	redirect("leaf-0-1", &to);
	count("leaf-0-0", 1, "SymbolErrorCounter", 7);
	count("leaf-0-1", 1, "SymbolErrorCounter", 9);
	sweep();
	ck_assert_uint_eq(redirections(), 2);
	ck_assert_uint_eq(see("leaf-0-0", 1).total[PERF_SYMBOL_ERRORS], 7);
	ck_assert_uint_eq(see("leaf-0-1", 1).total[PERF_SYMBOL_ERRORS], 9);
	ck_assert_uint_eq(sweep(), 96);
	redirect("leaf-0-0", NULL); /* that QP is gone */
	sweep();
	sweep();
	ck_assert(see("leaf-0-0", 1).flags & PERF_READ);
}
END_TEST

static void forget_redirection(const char *name)
{
	struct sim_node_view view;

	sim_node_view(s->sim, scenario_node(s, name), &view);
	perf_order(daemon_perf(s->daemon), PERF_FORGET_REDIR, view.node_guid);
}

/* Orders that wait for the end of a sweep concern the nodes that they name, and no others. */
START_TEST(redirections_forgotten_in_a_sweep)
{
	static const char *const names[] = {"leaf-0-0", "leaf-0-1", "leaf-1-0"};
	struct sim_redirect to;

	start(LATER);
	to = to_host("host-9");
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		redirect(names[i], &to);
	sweep();
	ck_assert_uint_eq(redirections(), 3);
	perf_order(daemon_perf(s->daemon), PERF_SWEEP_NOW, 0);
	forget_redirection(names[0]);
	forget_redirection(names[1]);
	scenario_run_ms(s, 1000);
	ck_assert_uint_eq(redirections(), 1);
}
END_TEST

START_TEST(redirections_refused)
{
	static const struct {
		uint16_t lid, p_key;
		uint32_t qp;
	} wrong[] = {{0xC001, 0xFFFF, 77}, {0xBFFF, 0xFFFF, 77}, {0, 0, 77}, {0, 0x1234, 77},
		     {0, 0xFFFF, 0}};

	start(LATER);
	for (unsigned int i = 0; i < G_N_ELEMENTS(wrong); i++) {
		struct sim_redirect to = to_host("host-9");

		if (wrong[i].lid)
			to.lid = wrong[i].lid;
		to.p_key = wrong[i].p_key;
		to.qp = wrong[i].qp;
		redirect("leaf-0-0", &to);
		sweep();
		ck_assert_uint_eq(redirections(), 0);
		ck_assert(!(see("leaf-0-0", 1).flags & PERF_READ));
		ck_assert(see("leaf-0-1", 1).flags & PERF_READ);
	}
}
END_TEST

/* Two agents that name each other: neither is asked for ever. */
START_TEST(redirected_in_a_circle)
{
	struct sim_redirect to;

	start(LATER);
	to = to_host("host-9");
	to.qp = IBA_QP1;
	redirect("host-10", &to);
	to = to_host("host-10");
	to.qp = IBA_QP1;
	redirect("host-9", &to);
	ck_assert_uint_lt(sweep(), 96 + 40);
	ck_assert(see("leaf-0-1", 1).flags & PERF_READ);
}
END_TEST

START_TEST(redirection_off)
{
	struct sim_redirect to;

	start(LATER "perfmgr_redir FALSE\n");
	to = to_host("host-9");
	redirect("leaf-0-0", &to);
	sweep();
	ck_assert_uint_eq(redirections(), 0);
	ck_assert(!(see("leaf-0-0", 1).flags & PERF_READ));
}
END_TEST

/* ---- restarts and changes ---- */

START_TEST(device_restarts)
{
	start(LATER);
	count("spine-1-0", 1, "SymbolErrorCounter", 100);
	count("spine-1-0", 2, "SymbolErrorCounter", 100);
	sweep();
	sim_node_set(s->sim, scenario_node(s, "spine-1-0"), false);
	scenario_run_ms(s, 100);
	sim_node_set(s->sim, scenario_node(s, "spine-1-0"), true);
	scenario_run_ms(s, 20000);
	sweep();
	ck_assert(see("spine-1-0", 1).flags & (PERF_RESTARTED | PERF_BASELINE));
	ck_assert(!(see("spine-1-0", 1).flags & PERF_RESET));
}
END_TEST

/* Nodes that have left are forgotten, or kept as inactive ones until the operator decides. */
START_TEST(node_leaves)
{
	struct perf_images *list;

	start(LATER "perfmgr_rm_nodes FALSE\n");
	sweep();
	scenario_set_links(s, scenario_node(s, "host-7"), false);
	scenario_run_ms(s, 2000);
	sweep();
	list = images();
	ck_assert_uint_eq(perf_images_last(list)->layout->n_nodes, 36);
	perf_images_unref(list);
	perf_order(daemon_perf(s->daemon), PERF_FORGET_GONE, 0);
	scenario_run_ms(s, 1);
	list = images();
	ck_assert_uint_eq(perf_images_last(list)->layout->n_nodes, 35);
	ck_assert_uint_eq(list->n, list->n);
	perf_images_unref(list);
	ck_assert_uint_eq(sweep(), 94);
}
END_TEST

START_TEST(ignores_cas)
{
	start(LATER "perfmgr_ignore_cas TRUE\n");
	sweep();
	ck_assert_uint_eq(sweep(), 80);
}
END_TEST

/* Two hosts without a switch: no port is read. */
START_TEST(ignores_all)
{
	scenario_free(s);
	s = scenario_new("../golden/two_hosts.topo", 1);
	start(LATER "perfmgr_ignore_cas TRUE\n");
	ck_assert_uint_eq(sweep(), 0);
	ck_assert_uint_eq(sweep(), 0);
}
END_TEST

START_TEST(ring)
{
	struct perf_images *list;

	start(LATER "perfmgr_images 3\n");
	for (int i = 0; i < 5; i++)
		sweep();
	list = images();
	ck_assert_uint_eq(list->n, 3);
	ck_assert_uint_eq(list->images[0]->id + 2, list->images[2]->id);
	perf_images_unref(list);
}
END_TEST

/* Enough of them, and the order of answers to other clients is not disturbed: the SM sweeps on. */
START_TEST(beside_sweeps)
{
	start("perfmgr TRUE\nperfmgr_sweep_time_s 1\n");
	for (int i = 0; i < 5; i++) {
		sim_link_set(s->sim, scenario_node(s, "leaf-1-0"), 3, i % 2);
		scenario_converge(s, 5);
	}
	ck_assert_uint_gt(last_id(), 4);
}
END_TEST

/* ---- several SMs ---- */

static uint64_t images_of(const struct manager *manager)
{
	struct perf_images *list = slot_take(&daemon_context(manager->daemon)->perf_images);
	uint64_t id = list ? perf_images_last(list)->id : 0;

	perf_images_unref(list);
	return id;
}

static uint32_t rows_read(const struct manager *manager)
{
	struct perf_images *list = slot_take(&daemon_context(manager->daemon)->perf_images);
	const struct perf_image *image = perf_images_last(list);
	uint32_t n = 0;

	for (uint32_t row = 0; row < image->layout->n_rows; row++)
		n += (image->flags[row] & PERF_READ) != 0;
	perf_images_unref(list);
	return n;
}

/* A standby reads counters only if it is told to, and goes on as master. */
START_TEST(standbys)
{
	struct managers *m = managers_new("fattree:4", 1);
	struct manager *standby, *quiet;

	managers_add(m, "host-0", MANAGERS_POLLS "sm_priority 9\n");
	managers_add(m, "host-4",
		     MANAGERS_POLLS "sm_priority 5\nperfmgr TRUE\nperfmgr_sweep_time_s 10\n"
				    "perfmgr_standby TRUE\n");
	managers_add(m, "host-8",
		     MANAGERS_POLLS "sm_priority 1\nperfmgr TRUE\nperfmgr_sweep_time_s 10\n");
	standby = &m->sm[1];
	quiet = &m->sm[2];
	managers_start(m, 0);
	scenario_run_ms(m->s, 5000);
	managers_start(m, 1);
	managers_start(m, 2);
	scenario_run_ms(m->s, 60000);
	ck_assert_uint_gt(images_of(standby), 3);
	ck_assert_uint_eq(rows_read(standby), 96);
	ck_assert_uint_eq(images_of(quiet), 0);
	managers_kill(m, 0);
	scenario_run_ms(m->s, 60000);
	ck_assert_uint_gt(images_of(standby), 8);
	ck_assert_uint_ge(rows_read(standby), 94);
	managers_free(m);
}
END_TEST

static Suite *perf_suite(void)
{
	const struct {
		const char *name;
		const TTest *test;
	} tests[] = {
		{"one_mad_a_port", one_mad_a_port},
		{"period", period},
		{"off_by_default", off_by_default},
		{"link_down", link_down},
		{"without_extended", without_extended},
		{"never_clears", never_clears},
		{"two_attributes", two_attributes},
		{"refuses", refuses},
		{"liars", liars},
		{"silent_agents", silent_agents},
		{"silent_about_samples", silent_about_samples},
		{"losses", losses},
		{"redirected", redirected},
		{"redirections_forgotten_in_a_sweep", redirections_forgotten_in_a_sweep},
		{"redirections_refused", redirections_refused},
		{"redirected_in_a_circle", redirected_in_a_circle},
		{"redirection_off", redirection_off},
		{"device_restarts", device_restarts},
		{"node_leaves", node_leaves},
		{"ignores_cas", ignores_cas},
		{"ignores_all", ignores_all},
		{"ring", ring},
		{"beside_sweeps", beside_sweeps},
		{"standbys", standbys},
	};
	Suite *suite = suite_create("perf");

	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		TCase *tcase = tcase_create(tests[i].name);

		tcase_add_checked_fixture(tcase, setup, teardown);
		tcase_add_test(tcase, tests[i].test);
		suite_add_tcase(suite, tcase);
	}
	return suite;
}

int main(void)
{
	return run_suite(perf_suite());
}

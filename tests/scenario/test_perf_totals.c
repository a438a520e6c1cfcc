// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The totals of the performance manager against the true counts of the simulated ports, while
 * random things happen between its sweeps: counters grow, up to their maximum; other tools clear
 * them; devices restart; agents lose abilities, fall silent or answer errors; packets are lost;
 * cables go and come back; the daemon is told to set totals to 0. Each total equals what the port
 * has counted since the first reading, or is marked as a lower bound and is one.
 *
 * PERF_EVENTS=N for longer runs, PERF_SEEDS=FIRST-LAST for other ones ("make perf-totals").
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "perf/image/image.h"
#include "perf/perf.h"
#include "scenario.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"

#define EVENTS 4000
#define CONF                                                                                       \
	"perfmgr TRUE\nperfmgr_sweep_time_s 65535\nsweep_interval 1000\n"                          \
	"perfmgr_history_hours 0\nmax_wire_smps 8\n"
#define SWEEP_MS 60000
#define MADS 1000000 /* more than MADs count in a sweep and before the next event */

static struct scenario *s;
static enum sim_port_counter counters[PERF_COUNTERS];

/* What the test knows of a port. */
struct port {
	unsigned int node, port;
	uint64_t guid;
	uint64_t base[PERF_COUNTERS]; /* true counts when totals began */
	uint32_t has_base;
	uint32_t unseen; /* bits: cleared, and it had grown beyond the old value when it was read */
	uint64_t started[PERF_COUNTERS]; /* true counts when the device started */
};
static GArray *ports;
static unsigned int checked, exact, bounds, unseen;

/* ---- a tool that clears counters ---- */

static struct actor *tool;
static struct vendor *tool_port;

static void drop(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	vendor_mad_free(mad);
}

static void tool_begin(void)
{
	const struct vendor_client client = {.actor = tool = actor_new(s->rt, "tool"),
					     .receive = drop};

	tool_port = sim_open(s->sim, sim_port_guid(s->sim, scenario_node(s, "host-2"), 1), NULL);
	scenario_expect(s, tool_port != NULL);
	scenario_expect(s, vendor_bind(tool_port, IBA_CLASS_PERF, false, &client, NULL));
	actor_start(tool);
}

static void tool_end(void)
{
	vendor_close(tool_port);
	actor_stop(tool);
	actor_free(tool);
}

/* Sets the counters with these bits to 0, as perfquery -R does. */
static void tool_clear(const struct port *port, bool wide, uint16_t select)
{
	struct iba_pm_mad mad = {.header = {.base_version = IBA_BASE_VERSION,
					    .mgmt_class = IBA_CLASS_PERF,
					    .class_version = IBA_PERF_CLASS_VERSION,
					    .method = IBA_METHOD_SET,
					    .transaction_id = 1 + scenario_random(s, 1000000),
					    .attribute_id = wide ? IBA_ATTR_PORT_COUNTERS_EXTENDED
								 : IBA_ATTR_PORT_COUNTERS}};
	const struct iba_port_counters narrow = {.port_select = port->port,
						 .counter_select = select,
						 .counter_select2 = select & 1 ? 3 : 0};
	const struct iba_port_counters_extended extended = {
		.port_select = port->port, .counter_select = select, .counter_select2 = select};
	uint16_t lid = scenario_lid(s, port->node);
	const struct vendor_address to = {.lid = lid, .qpn = IBA_QP1, .qkey = IBA_QP1_Q_KEY};
	uint8_t wire[IBA_MAD_BYTES];

	if (wide)
		wire_encode(&iba_port_counters_extended_type, &extended, mad.data);
	else
		wire_encode(&iba_port_counters_type, &narrow, mad.data);
	wire_encode(&iba_pm_mad_type, &mad, wire);
	if (lid)
		vendor_send(tool_port, &to, wire, sizeof(wire), 10);
	scenario_run_ms(s, 20);
}

/* ---- images ---- */

static struct perf_images *images(void)
{
	return slot_take(&daemon_context(s->daemon)->perf_images);
}

static uint64_t last_id(void)
{
	struct perf_images *list = images();
	uint64_t id = list ? perf_images_last(list)->id : 0;

	perf_images_unref(list);
	return id;
}

static void sweep(void)
{
	uint64_t before = last_id();

	perf_order(daemon_perf(s->daemon), PERF_SWEEP_NOW, 0);
	for (unsigned int ms = 0; last_id() == before && ms < SWEEP_MS; ms += 5)
		scenario_run_ms(s, 5);
	scenario_expect(s, last_id() != before);
}

static void take_bases(void)
{
	for (guint i = 0; i < ports->len; i++) {
		g_array_index(ports, struct port, i).has_base = 0;
		g_array_index(ports, struct port, i).unseen = 0;
	}
}

static uint64_t truth(const struct port *port, int i)
{
	return sim_true_count(s->sim, port->node, port->port, counters[i]);
}

static bool is_data(int i)
{
	return perf_counter_info[i].kind == PERF_DATA || perf_counter_info[i].kind == PERF_PACKETS;
}

/* What MADs may have counted since the reading: in data, and as discards where a link is down. */
static uint64_t slack(int i)
{
	if (i == PERF_XMIT_DISCARDS || i == PERF_RCV_SWITCH_RELAY_ERRORS)
		return 100;
	return is_data(i) ? MADS : 0;
}

static void check_counter(const struct perf_image *image, uint32_t row, struct port *port, int i)
{
	uint64_t counted = truth(port, i);
	uint64_t total = image->total[i][row];
	uint32_t bit = 1u << i;
	bool bound = image->at_least[row] & bit;

	if (!(image->have[row] & bit))
		return;
	if (image->flags[row] & PERF_BASELINE && !i)
		port->has_base = port->unseen = 0; /* it had left the subnet: totals begin again */
	if (!(port->has_base & bit)) {
		if (!(image->flags[row] & PERF_READ) || image->missed[row] & bit)
			return;
		port->has_base |= bit;
		port->base[i] = counted - total;
	}
	checked++;
	exact += !bound && !(port->unseen & bit);
	bounds += bound;
	unseen += !bound && port->unseen & bit;
	if (image->flags[row] & PERF_READ && counted - port->base[i] + slack(i) < total)
		scenario_fail(s, "%s port %u %s: total %" PRIu64 ", but only %" PRIu64 " counted",
			      image->layout->nodes[image->layout->places[row].node].name,
			      port->port, perf_counter_info[i].iba, total, counted - port->base[i]);
	if (bound || port->unseen & bit || !(image->flags[row] & PERF_READ))
		return;
	if (counted - port->base[i] > total + slack(i))
		scenario_fail(s,
			      "%s port %u %s: total %" PRIu64 " instead of %" PRIu64 ", flags 0x%x",
			      image->layout->nodes[image->layout->places[row].node].name,
			      port->port, perf_counter_info[i].iba, total, counted - port->base[i],
			      image->flags[row]);
}

static void check_images(void)
{
	struct perf_images *list = images();
	const struct perf_image *image = perf_images_last(list);

	for (guint i = 0; i < ports->len; i++) {
		struct port *port = &g_array_index(ports, struct port, i);
		uint32_t row = perf_layout_row(image->layout, port->guid, port->port);

		for (int c = 0; row != PERF_NONE && c < PERF_COUNTERS; c++)
			check_counter(image, row, port, c);
	}
	perf_images_unref(list);
}

/* ---- events ---- */

static struct port *random_port(void)
{
	return &g_array_index(ports, struct port, scenario_random(s, ports->len));
}

static void count(void)
{
	static const uint64_t amounts[] = {1, 1, 2, 3, 7, 15, 20, 200, 255, 300, 50000, 70000};
	struct port *port = random_port();
	int i = (int)scenario_random(s, PERF_COUNTERS);
	uint64_t amount = amounts[scenario_random(s, G_N_ELEMENTS(amounts))];

	sim_port_count(s->sim, port->node, port->port, counters[i],
		       is_data(i) ? (2 + amount % 100) * MADS : amount);
}

/*
 * What is cleared and then grows beyond its value before is not seen as cleared: the total is a
 * lower bound that is not marked as such. A counter of 0 is not changed by it.
 */
static void lose(struct port *port)
{
	for (int i = 0; i < PERF_COUNTERS; i++)
		if (truth(port, i) != port->started[i])
			port->unseen |= 1u << i;
}

static void clear(void)
{
	struct port *port = random_port();
	bool wide = scenario_random(s, 2);

	lose(port);
	tool_clear(port, wide,
		   scenario_random(s, 2) ? 0xFFFF : (uint16_t)scenario_random(s, 65536));
}

/* That of the SM or of the tool, or a cable to it: behind a dead one MADs count as discards. */
static bool is_needed(const struct port *port)
{
	unsigned int ignored, peer = UINT32_MAX, sm = scenario_sm_node(s, &ignored);

	if (!sim_peer(s->sim, port->node, port->port, &peer, &ignored))
		peer = UINT32_MAX;
	return port->node == sm || peer == sm || port->node == scenario_node(s, "host-2") ||
	       peer == scenario_node(s, "host-2");
}

/* False: not this one. */
static bool restart(const struct port *port)
{
	for (guint i = 0; i < ports->len; i++) {
		const struct port *other = &g_array_index(ports, struct port, i);

		if (other->node == port->node && is_needed(other))
			return false;
	}
	for (guint i = 0; i < ports->len; i++)
		if (g_array_index(ports, struct port, i).node == port->node) {
			struct port *of_it = &g_array_index(ports, struct port, i);

			lose(of_it);
			for (int c = 0; c < PERF_COUNTERS; c++)
				of_it->started[c] = truth(of_it, c);
		}
	sim_node_set(s->sim, port->node, false);
	scenario_run_ms(s, 50);
	sim_node_set(s->sim, port->node, true);
	scenario_run_ms(s, 3000);
	return true;
}

static void flap(void)
{
	struct port *port = random_port();

	if (is_needed(port))
		return;
	sim_link_set(s->sim, port->node, port->port, false);
	scenario_run_ms(s, 500);
	if (scenario_random(s, 2)) {
		sweep();
		check_images();
	}
	sim_link_set(s->sim, port->node, port->port, true);
	scenario_run_ms(s, 3000);
}

/* New firmware, which the device starts. */
static void change_agent(void)
{
	static const uint32_t take[] = {0,
					SIM_PMA_EXTENDED,
					SIM_PMA_IETF,
					SIM_PMA_ADDITIONAL,
					SIM_PMA_ADDITIONAL | SIM_PMA_EXTENDED,
					SIM_PMA_XMIT_WAIT,
					SIM_PMA_QP1_DROPPED,
					SIM_PMA_DETAILS};
	struct port *port = random_port();
	struct sim_node_view view;

	if (!restart(port))
		return;
	sim_node_view(s->sim, port->node, &view);
	sim_pma_set(s->sim, port->node,
		    sim_pma_default(view.type) & ~take[scenario_random(s, G_N_ELEMENTS(take))]);
}

static void silence(void)
{
	struct port *port = random_port();

	sim_pma_set(s->sim, port->node, sim_pma_abilities(s->sim, port->node) ^ SIM_PMA_SILENT);
}

static void refuse(void)
{
	static const uint16_t statuses[] = {0, 0, IBA_STATUS_UNSUP_METHOD_ATTR,
					    IBA_STATUS_INVALID_FIELD, IBA_STATUS_BUSY};
	struct port *port = random_port();

	sim_pma_set_status(s->sim, port->node,
			   statuses[scenario_random(s, G_N_ELEMENTS(statuses))]);
}

static void zero_totals(void)
{
	sweep();
	check_images();
	perf_order(daemon_perf(s->daemon), PERF_ZERO, 0);
	scenario_run_ms(s, 1);
	take_bases();
}

static void event(void)
{
	unsigned int dice = scenario_random(s, 1000);

	if (dice < 900)
		count();
	else if (dice < 940)
		clear();
	else if (dice < 945)
		change_agent();
	else if (dice < 975)
		silence();
	else if (dice < 985)
		refuse();
	else if (dice < 990)
		flap();
	else if (dice < 994)
		restart(random_port());
	else if (dice < 996)
		zero_totals();
	else
		sim_set_loss(s->sim, scenario_random(s, 2) ? 0.05 : 0);
}

/* ---- a run ---- */

static void list_ports(void)
{
	ports = g_array_new(FALSE, TRUE, sizeof(struct port));
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		for (unsigned int i = 1; i <= view.num_ports; i++) {
			struct port port = {.node = node, .port = i, .guid = view.node_guid};

			g_array_append_val(ports, port);
		}
	}
}

static void run_seed(uint64_t seed, unsigned int events)
{
	s = scenario_new("fattree:4", seed);
	scenario_conf(s, CONF);
	scenario_start(s);
	scenario_converge(s, 10);
	for (int i = 0; i < PERF_COUNTERS; i++)
		scenario_expect(s, sim_find_counter(perf_counter_info[i].iba, &counters[i]));
	list_ports();
	tool_begin();
	sweep();
	check_images();
	for (unsigned int i = 0; i < events; i++) {
		event();
		if (scenario_random(s, 10))
			continue;
		sweep();
		check_images();
	}
	tool_end();
	g_array_unref(ports);
	scenario_free(s);
}

START_TEST(totals)
{
	run_seed((uint64_t)_i, EVENTS);
	ck_assert_uint_gt(exact, checked / 2);
	ck_assert_uint_gt(bounds, 0);
}
END_TEST

static int campaign(const char *events)
{
	const char *seeds = g_getenv("PERF_SEEDS");
	unsigned int first = 1, last = 1;

	if (seeds && sscanf(seeds, "%u-%u", &first, &last) != 2)
		return 2;
	for (unsigned int seed = first; seed <= last; seed++)
		run_seed(seed, (unsigned int)g_ascii_strtoull(events, NULL, 10));
	printf("%u totals checked: %u exact, %u lower bounds, %u cleared unseen\n", checked, exact,
	       bounds, unseen);
	return 0;
}

int main(void)
{
	Suite *suite = suite_create("perf_totals");
	TCase *tcase = tcase_create("totals");

	if (g_getenv("PERF_EVENTS"))
		return campaign(g_getenv("PERF_EVENTS"));
	tcase_add_loop_test(tcase, totals, 1, 1 + some_seeds(3));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

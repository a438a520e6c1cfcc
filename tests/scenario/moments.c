// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lasting losses of any kind, at any moment of any sweep.
 *
 * A sweep is started; a given number of microseconds later cables or switches are lost, all at
 * once, and stay lost. The figure is the time until the subnet is right without them. Then they
 * come back, which gives a second figure, and the next moment is tried on the same fabric. After a
 * failure the fabric is made again, as it is for every moment of a first sweep. The length of a
 * sweep is seen on the wire: it ends with its last SMP.
 */
#include "losses.h"

#include <inttypes.h>

#include "client.h"

#define SMA_NS (100 * NS_PER_US)
#define QUIET_MS 300   /* no pause within a sweep is longer */
#define SETTLE_MS 3000 /* from one moment to the next: nothing is remembered of the last one */

const char *const loss_kind_names[LOSS_KINDS] = {
	[LOSS_FIRST] = "first",	    [LOSS_PARTIAL] = "partial",	    [LOSS_LIGHT] = "light",
	[LOSS_HEAVY] = "heavy",	    [LOSS_MULTICAST] = "multicast", [LOSS_REROUTE] = "reroute",
};

struct loss {
	unsigned int node, port; /* port 0: the whole node */
};

struct run {
	struct losses *losses;
	const struct moments *moments;
	struct losses of_seed; /* the seed that the fabric is made of now */
	struct scenario *s; /* NULL: yet to be made */
	struct client *client; /* NULL: none is needed */
	GArray *lost;	       /* struct loss */
	unsigned int round;
	struct samples gone, back;
};

/* ---- routes by other files ---- */

static char *order_file(const struct scenario *s)
{
	return g_build_filename(s->directory, "order", NULL);
}

/* The order in which hosts get their routes: from the first or from the last. */
static void write_order(const struct scenario *s, bool reversed)
{
	g_autofree char *file = order_file(s);
	g_autoptr(GString) text = g_string_new(NULL);
	unsigned int n = sim_nodes(s->sim);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int node = reversed ? n - 1 - i : i;
		struct sim_node_view view;

		sim_node_view(s->sim, node, &view);
		if (view.type != IBA_NODE_SWITCH)
			g_string_append_printf(text, "0x%016" PRIx64 "\n",
					       sim_port_guid(s->sim, node, 1));
	}
	g_assert(g_file_set_contents(file, text->str, (gssize)text->len, NULL));
}

static void order_routes(struct scenario *s)
{
	g_autofree char *file = order_file(s);

	write_order(s, false);
	scenario_option(s, "--guid_routing_order_file", file);
}

/* ---- the fabric ---- */

static void drop(struct run *run)
{
	if (run->client)
		client_free(g_steal_pointer(&run->client));
	if (run->s)
		scenario_free(g_steal_pointer(&run->s));
}

static bool make(struct run *run)
{
	const struct moments *moments = run->moments;
	char *wrong;

	run->s = losses_net(&run->of_seed, moments->spec, SMA_NS);
	if (moments->kind == LOSS_REROUTE)
		order_routes(run->s);
	scenario_start(run->s);
	if (moments->kind == LOSS_FIRST)
		return true;
	if (repair_wait(run->s, REPAIR_LIMIT_MS, &wrong) == REPAIR_NEVER) {
		report_at_most(&run->losses->report, moments->spec, REPAIR_NEVER, "ms",
			       moments->bound_ms, wrong);
		g_free(wrong);
		drop(run);
		return false;
	}
	if (moments->kind == LOSS_MULTICAST)
		run->client = client_new(run->s, scenario_random_host(run->s));
	scenario_run_ms(run->s, SETTLE_MS);
	return true;
}

/* ---- what is lost ---- */

static void lose(struct run *run, unsigned int node, unsigned int port)
{
	struct loss loss = {node, port};

	if (port)
		sim_link_set(run->s->sim, node, port, false);
	else
		sim_node_set(run->s->sim, node, false);
	g_array_append_val(run->lost, loss);
}

/* Any cable of a switch except that of the SM. */
static void lose_cable(struct run *run)
{
	struct scenario *s = run->s;
	unsigned int sm = scenario_sm_node(s, NULL), node, port, peer, peer_port;
	struct sim_node_view view;

	for (;;) {
		node = scenario_random_switch(s);
		sim_node_view(s->sim, node, &view);
		port = 1 + scenario_random(s, view.num_ports);
		if (sim_link_up(s->sim, node, port) &&
		    sim_peer(s->sim, node, port, &peer, &peer_port) && peer != sm)
			break;
	}
	lose(run, node, port);
}

/* Any switch except that of the SM. */
static void lose_switch(struct run *run)
{
	struct scenario *s = run->s;
	unsigned int port, sm = scenario_sm_node(s, &port), leaf = sm, leaf_port, node;
	struct sim_node_view view;

	sim_peer(s->sim, sm, port, &leaf, &leaf_port);
	do {
		node = scenario_random_switch(s);
		sim_node_view(s->sim, node, &view);
	} while (!view.up || node == leaf);
	lose(run, node, 0);
}

static void give_back(struct run *run)
{
	for (unsigned int i = 0; i < run->lost->len; i++) {
		const struct loss *loss = &g_array_index(run->lost, struct loss, i);

		if (loss->port)
			sim_link_set(run->s->sim, loss->node, loss->port, true);
		else
			sim_node_set(run->s->sim, loss->node, true);
	}
	g_array_set_size(run->lost, 0);
}

/* ---- the sweep ---- */

static void begin_sweep(struct run *run)
{
	struct scenario *s = run->s;

	run->round++;
	switch (run->moments->kind) {
	case LOSS_PARTIAL:
		lose_cable(run);
		break;
	case LOSS_LIGHT:
		daemon_sweep(s->daemon, SWEEP_LIGHT);
		break;
	case LOSS_HEAVY:
		losses_hangup(s, run->round % 2 ? "packet_life_time 0x11\nsubnet_timeout 17\n"
						: "packet_life_time 0x12\nsubnet_timeout 18\n");
		break;
	case LOSS_MULTICAST:
		client_send_member(run->client, run->round % 2);
		break;
	case LOSS_REROUTE:
		write_order(s, run->round % 2);
		daemon_reread_routes(s->daemon);
		daemon_sweep(s->daemon, SWEEP_REROUTE);
		break;
	case LOSS_FIRST:
	case LOSS_KINDS:
		break;
	}
}

/* Microseconds that an undisturbed sweep takes. */
static unsigned int sweep_us(struct run *run)
{
	uint64_t ms;

	begin_sweep(run);
	ms = repair_quiet(run->s, QUIET_MS);
	if (run->moments->kind == LOSS_FIRST) {
		drop(run);
	} else {
		give_back(run);
		scenario_run_ms(run->s, SETTLE_MS);
	}
	return (unsigned int)(ms * NS_PER_MS / NS_PER_US);
}

static char *describe(const struct run *run, unsigned int at_us, const char *wrong)
{
	GString *text = g_string_new(NULL);

	g_string_printf(text, "seed %" PRIu64 " at %u us:", run->of_seed.seed, at_us);
	for (unsigned int i = 0; i < run->lost->len; i++) {
		const struct loss *loss = &g_array_index(run->lost, struct loss, i);
		struct sim_node_view view;

		sim_node_view(run->s->sim, loss->node, &view);
		g_string_append_printf(text, " %s", view.description);
		if (loss->port)
			g_string_append_printf(text, " %u", loss->port);
	}
	g_string_append_printf(text, ": %s", wrong ? wrong : "right in the end");
	return g_string_free(text, FALSE);
}

static bool measure(struct run *run, struct samples *samples, unsigned int at_us)
{
	char *wrong;
	uint64_t ms = repair_wait(run->s, REPAIR_LIMIT_MS, &wrong);

	samples_add(samples, ms, run->moments->bound_ms, describe(run, at_us, wrong));
	g_free(wrong);
	return ms != REPAIR_NEVER;
}

/* What is lost depends only on the seed and the moment, so that one can be tried again. */
static void one_moment(struct run *run, unsigned int at_us)
{
	if (!run->s && !make(run))
		return;
	run->s->random = run->of_seed.seed << 32 | at_us;
	begin_sweep(run);
	runtime_run(run->s->rt, NULL, NULL, runtime_now(run->s->rt) + at_us * NS_PER_US);
	for (unsigned int i = 0; i < run->moments->n; i++) {
		if (run->moments->switches)
			lose_switch(run);
		else
			lose_cable(run);
	}
	if (measure(run, &run->gone, at_us)) {
		give_back(run);
		if (measure(run, &run->back, at_us) && run->moments->kind != LOSS_FIRST) {
			scenario_run_ms(run->s, SETTLE_MS);
			return;
		}
	}
	g_array_set_size(run->lost, 0);
	drop(run);
}

static void report(struct run *run)
{
	const struct moments *moments = run->moments;
	g_autofree char *seeds = moments->seeds == 1
					 ? g_strdup_printf("seed %" PRIu64, run->losses->seed)
					 : g_strdup_printf("%u seeds", moments->seeds);
	g_autofree char *gone = g_strdup_printf("%s, %s sweep, %u %s lost, %s", moments->spec,
						loss_kind_names[moments->kind], moments->n,
						moments->switches ? "switches" : "cables", seeds);
	g_autofree char *back = g_strdup_printf("%s and back", gone);

	report_samples(&run->losses->report, gone, &run->gone, moments->bound_ms);
	report_samples(&run->losses->report, back, &run->back, moments->bound_ms);
}

/* Each seed begins its part of a step later: together they have the moments in between as well. */
static void moments_of_seed(struct run *run, unsigned int i, unsigned int length_us)
{
	const struct moments *moments = run->moments;
	unsigned int count = moments->count, last = length_us / moments->step_us;
	unsigned int offset = (unsigned int)((uint64_t)moments->step_us * i / moments->seeds);

	run->of_seed.seed = run->losses->seed + i;
	if (!count || moments->first + count > last + 1)
		count = last + 1 - MIN(moments->first, last);
	for (unsigned int n = 0; n < count; n++) {
		unsigned int at_us = (moments->first + n) * moments->step_us + offset;

		if (at_us <= length_us)
			one_moment(run, at_us);
	}
	if (moments->seeds > 1)
		drop(run);
}

void moments_run(struct losses *losses, const struct moments *moments)
{
	struct run run = {.losses = losses, .moments = moments, .of_seed = {.seed = losses->seed}};

	run.lost = g_array_new(FALSE, FALSE, sizeof(struct loss));
	samples_init(&run.gone);
	samples_init(&run.back);
	if (make(&run)) {
		unsigned int length_us = sweep_us(&run);

		for (unsigned int i = 0; i < moments->seeds; i++)
			moments_of_seed(&run, i, length_us);
		report(&run);
	}
	drop(&run);
	samples_clear(&run.gone);
	samples_clear(&run.back);
	g_array_unref(run.lost);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lasting faults: cables, switches, leaves and hosts that are gone until the subnet was found right
 * without them, and only then come back; hosts, cables and leaves that swap places for good;
 * switches and hosts that reset; options and keys that change. All of them at any moment of a sweep
 * of any kind, and several at a time.
 */
#include <math.h>
#include <string.h>

#include "ctl/command/command.h"
#include "repair.h"
#include "seeds.h"

#define ROUNDS 3
#define GONE_MAX 12 /* at a time */

struct gone {
	unsigned int node, port; /* port 0: the node itself */
};

struct lasting {
	struct scenario *s;
	GArray *gone; /* struct gone */
	uint64_t bound_ms;
	bool any_options;
};

/* ---- how long a repair may take ---- */

#define BOUND_MS 3000		/* without loss: tests/scenario/losses.h explains it */
#define SWEEP_INTERVAL_MS 10000 /* the light sweep that sees what no trap reported */
#define LEVELS 20		/* steps of a sweep, discovery by hops: one after the other */
#define REQUESTS 5000		/* of a sweep of the largest fabric here */
#define TRIES 7			/* after 20, 40 and 80 ms, then transaction_timeout each */
#define ALL_TRIES_MS (20 + 40 + 80 + 4 * 200)

#define SILENT_SWEEPS 4 /* that wait for a device that does not answer to the keys sent to it */

/*
 * With a loss of p a request or its answer is lost with q = 1 - (1 - p)^2. For at most one failed
 * request in a thousand sweeps, a request needs k = log(REQUESTS * 1000) / -log q tries, that is k
 * / TRIES rounds of all tries; at each level some node may need them. The trap may be lost as well:
 * then the next light sweep is the first to notice. With options ports may have keys of their own.
 */
static uint64_t bound_ms(double loss, bool any_options)
{
	double q = 1 - (1 - loss) * (1 - loss), rounds;
	uint64_t ms = BOUND_MS + (any_options ? SILENT_SWEEPS * ALL_TRIES_MS : 0);

	if (loss <= 0)
		return ms;
	rounds = log(REQUESTS * 1000.0) / -log(q) / TRIES;
	return (uint64_t)(ms + SWEEP_INTERVAL_MS + LEVELS * rounds * ALL_TRIES_MS);
}

/*
 * Does what health asks the administrator to do about devices with keys that the SM does not know:
 * a device that changed places while it was given its key may have that of another. False: health
 * asks for nothing.
 */
static bool obey_health(struct lasting *l)
{
	struct command_env env = {.daemon = l->s->daemon, .sim = l->s->sim};
	struct command_answer answer;
	bool asked = false;

	command_run(&env, "health", true, &answer);
	for (unsigned int node = 0; node < (unsigned int)sim_nodes(l->s->sim); node++) {
		struct sim_node_view view;
		g_autofree char *line = NULL;
		const char *at;

		sim_node_view(l->s->sim, node, &view);
		line = g_strdup_printf("ERROR m_key: '%s' (", view.description);
		at = strstr(answer.text, line);
		if (!at || !g_strrstr_len(at, (gssize)strcspn(at, "\n"), "restart that device"))
			continue;
		asked = true;
		sim_node_set(l->s->sim, node, false);
		scenario_run_ms(l->s, 100);
		sim_node_set(l->s->sim, node, true);
	}
	g_free(answer.text);
	return asked;
}

static void converge(struct lasting *l)
{
	const uint64_t limit_ms = MAX(4 * l->bound_ms, REPAIR_LIMIT_MS);
	g_autofree char *wrong = NULL, *still = NULL;
	uint64_t ms = repair_wait(l->s, limit_ms, &wrong);

	if (ms == REPAIR_NEVER && l->any_options && obey_health(l)) {
		if (repair_wait(l->s, limit_ms, &still) != REPAIR_NEVER)
			ms = 0; /* its device is asked at intervals: it came in its time */
	}
	if (ms == REPAIR_NEVER)
		scenario_fail(l->s, "never right: %s", still ? still : wrong);
	scenario_expect_at_most(l->s, ms, l->bound_ms);
	seed_check_lanes(l->s);
}

/* ---- places in the fabric ---- */

static bool is_switch(const struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.type == IBA_NODE_SWITCH;
}

static unsigned int n_ports(const struct scenario *s, unsigned int node)
{
	struct sim_node_view view;

	sim_node_view(s->sim, node, &view);
	return view.num_ports;
}

static bool is_next_to_sm(const struct scenario *s, unsigned int node)
{
	unsigned int port, sm = scenario_sm_node(s, &port), peer = sm, peer_port;

	return sim_peer(s->sim, sm, port, &peer, &peer_port) && peer == node;
}

static bool is_leaf(const struct scenario *s, unsigned int node)
{
	unsigned int peer, peer_port;

	for (unsigned int p = 1; p <= n_ports(s, node); p++)
		if (sim_peer(s->sim, node, p, &peer, &peer_port) && !is_switch(s, peer))
			return true;
	return false;
}

/* A switch of the SM's subnet other than its own; false if random tries find none. */
static bool find_switch(struct scenario *s, bool leaf, unsigned int *node)
{
	g_autofree bool *reached = scenario_reached(s);

	for (unsigned int i = 0; i < 100; i++) {
		*node = scenario_random_switch(s);
		if (reached[*node] && !is_next_to_sm(s, *node) && (!leaf || is_leaf(s, *node)))
			return true;
	}
	return false;
}

/* A port of the SM's subnet with a link, except that of the SM. */
static bool find_link(struct scenario *s, unsigned int *node, unsigned int *port)
{
	g_autofree bool *reached = scenario_reached(s);
	unsigned int sm = scenario_sm_node(s, NULL), peer, peer_port;

	for (unsigned int i = 0; i < 100; i++) {
		*node = scenario_random_switch(s);
		*port = 1 + scenario_random(s, n_ports(s, *node));
		if (reached[*node] && sim_link_up(s->sim, *node, *port) &&
		    sim_peer(s->sim, *node, *port, &peer, &peer_port) && peer != sm)
			return true;
	}
	return false;
}

/* A host whose first port is in the SM's subnet. */
static bool find_host(struct scenario *s, unsigned int *node)
{
	g_autofree bool *reached = scenario_reached(s);
	unsigned int peer, peer_port;

	for (unsigned int i = 0; i < 100; i++) {
		*node = scenario_random_host(s);
		if (sim_link_up(s->sim, *node, 1) &&
		    sim_peer(s->sim, *node, 1, &peer, &peer_port) && reached[peer])
			return true;
	}
	return false;
}

/* ---- gone and back ---- */

static void take(struct lasting *l, unsigned int node, unsigned int port)
{
	struct gone gone = {node, port};

	if (l->gone->len >= GONE_MAX)
		return;
	if (port)
		sim_link_set(l->s->sim, node, port, false);
	else
		sim_node_set(l->s->sim, node, false);
	g_array_append_val(l->gone, gone);
}

/* Swaps move cables: any cable that is not plugged in now was unplugged by take. */
static void give_back(struct lasting *l)
{
	struct scenario *s = l->s;

	log_sys(s->log, "seeds: all is given back");
	sim_set_timeout_delay(s->sim, 0);
	g_array_set_size(l->gone, 0);
	for (unsigned int node = 0; node < sim_nodes(s->sim); node++) {
		sim_node_set(s->sim, node, true);
		scenario_set_links(s, node, true);
	}
}

static void lose_cables(struct lasting *l)
{
	unsigned int n = 1 + scenario_random(l->s, 4), node, port;

	for (unsigned int i = 0; i < n; i++)
		if (find_link(l->s, &node, &port))
			take(l, node, port);
}

static void lose_switches(struct lasting *l)
{
	unsigned int n = 1 + scenario_random(l->s, 3), node;

	for (unsigned int i = 0; i < n; i++)
		if (find_switch(l->s, false, &node))
			take(l, node, 0);
}

static void lose_leaf(struct lasting *l)
{
	unsigned int node;

	if (find_switch(l->s, true, &node))
		take(l, node, 0);
}

static void lose_hosts(struct lasting *l)
{
	unsigned int n = 1 + scenario_random(l->s, 4);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int port = scenario_random(l->s, 2);

		take(l, scenario_random_host(l->s), port);
	}
}

/* Port by port: its own last traps report it. */
static void lose_switch_slowly(struct lasting *l)
{
	unsigned int node, peer, peer_port;

	if (!find_switch(l->s, false, &node))
		return;
	for (unsigned int p = 1; p <= n_ports(l->s, node); p++) {
		if (!sim_peer(l->s->sim, node, p, &peer, &peer_port))
			continue;
		sim_link_set(l->s->sim, node, p, false);
		runtime_run(l->s->rt, NULL, NULL,
			    runtime_now(l->s->rt) + scenario_random(l->s, 300) * NS_PER_US);
	}
	take(l, node, 0);
}

/* ---- resets and options ---- */

static void reset(struct lasting *l)
{
	unsigned int node = scenario_random(l->s, 3) ? scenario_random_switch(l->s)
						     : scenario_random_host(l->s);

	for (unsigned int i = 0; i < l->gone->len; i++)
		if (g_array_index(l->gone, struct gone, i).node == node)
			return;
	sim_node_set(l->s->sim, node, false);
	sim_node_set(l->s->sim, node, true);
}

/* No interval may be longer than the bound allows for. */
static void some_options(struct scenario *s)
{
	static const char *const keys[] = {"0", "0x1122334455667788", "0x42"};
	const char *key = keys[scenario_random(s, 4) ? 0 : scenario_random(s, G_N_ELEMENTS(keys))];
	unsigned int vls = 1 + scenario_random(s, 5);
	unsigned int interval = 5 + scenario_random(s, 6);
	unsigned int timeout = 16 + scenario_random(s, 3);
	unsigned int life_time = 0x10 + scenario_random(s, 3);
	g_autofree char *conf = g_strdup_printf(
		"packet_life_time 0x%x\nsubnet_timeout %u\nsweep_interval %u\nmax_op_vls %u\n"
		"m_key %s\n",
		life_time, timeout, interval, vls, key);

	scenario_conf(s, conf);
}

/* As on SIGHUP. */
static void change_options(struct lasting *l)
{
	struct scenario *s = l->s;
	g_autoptr(GError) error = NULL;

	if (l->any_options)
		seed_other_options(s);
	else
		some_options(s);
	if (!daemon_reread(s->daemon, &error))
		scenario_fail(s, "%s", error->message);
	daemon_sweep(s->daemon, SWEEP_HEAVY);
}

static void change_and_reset(struct lasting *l)
{
	change_options(l);
	scenario_run_ms(l->s, scenario_random(l->s, 50));
	reset(l);
}

/* ---- swapped places ---- */

/* Unless a switch would then be connected to itself. */
static void swap_ends(struct scenario *s, unsigned int a, unsigned int port_a, unsigned int b,
		      unsigned int port_b)
{
	unsigned int peer, peer_port;

	if (sim_peer(s->sim, a, port_a, &peer, &peer_port) && (peer == b || peer == a))
		return;
	if (sim_peer(s->sim, b, port_b, &peer, &peer_port) && (peer == a || peer == b))
		return;
	sim_cable_swap(s->sim, a, port_a, b, port_b);
}

/* Sometimes one of them is the SM's own host. */
static void swap_hosts(struct lasting *l)
{
	struct scenario *s = l->s;
	unsigned int a = scenario_random_host(s), b = scenario_random_host(s), port_b = 1;

	if (!scenario_random(s, 6))
		b = scenario_sm_node(s, &port_b);
	/* An SM without a link has no subnet that could be right. */
	if (b == scenario_sm_node(s, NULL) && !sim_link_up(s->sim, a, 1))
		return;
	if (a != b)
		swap_ends(s, a, 1, b, port_b);
}

static void swap_cables(struct lasting *l)
{
	unsigned int a, port_a, b, port_b;

	if (find_link(l->s, &a, &port_a) && find_link(l->s, &b, &port_b) && a != b)
		swap_ends(l->s, a, port_a, b, port_b);
}

/* Swaps their cables to other switches: all their hosts move with them. */
static void swap_leaves(struct lasting *l)
{
	struct scenario *s = l->s;
	unsigned int a, b, peer, peer_port;

	if (!find_switch(s, true, &a) || !find_switch(s, true, &b) || a == b)
		return;
	for (unsigned int p = 1; p <= MIN(n_ports(s, a), n_ports(s, b)); p++) {
		if (!sim_peer(s->sim, a, p, &peer, &peer_port) || !is_switch(s, peer))
			continue;
		if (sim_peer(s->sim, b, p, &peer, &peer_port) && is_switch(s, peer))
			swap_ends(s, a, p, b, p);
	}
}

/* ---- time-outs that the kernel reports late ---- */

#define LATE_MAX_MS 2000

/*
 * Until everything is given back: until the kernel reports a time-out, it holds the request and
 * accepts no other with its TransactionID.
 */
static void time_out_late(struct lasting *l)
{
	sim_set_timeout_delay(l->s->sim, scenario_random(l->s, LATE_MAX_MS) * NS_PER_MS);
}

/* ---- a seed ---- */

static const struct fault {
	const char *name;
	void (*run)(struct lasting *l);
} faults[] = {
	{"cables lost", lose_cables},
	{"cables lost", lose_cables},
	{"switches lost", lose_switches},
	{"leaf lost", lose_leaf},
	{"hosts lost", lose_hosts},
	{"switch lost port by port", lose_switch_slowly},
	{"reset", reset},
	{"options changed", change_options},
	{"options changed, then reset", change_and_reset},
	{"hosts swapped", swap_hosts},
	{"cables swapped", swap_cables},
	{"leaves swapped", swap_leaves},
	{"time-outs told late", time_out_late},
};

static void begin_some_sweep(struct scenario *s)
{
	static const unsigned int reasons[] = {0, SWEEP_LIGHT, SWEEP_HEAVY, SWEEP_REROUTE,
					       SWEEP_GROUPS};
	unsigned int reason = reasons[scenario_random(s, G_N_ELEMENTS(reasons))];

	if (reason)
		daemon_sweep(s->daemon, reason);
	log_sys(s->log, "seeds: sweep for 0x%x", reason);
}

/* For a time of any order of magnitude up to 100 ms. */
static void wait_some_time(struct scenario *s)
{
	static const unsigned int longest_us[] = {1, 100, 1000, 10000, 100000};
	unsigned int us = scenario_random(s, longest_us[scenario_random(s, 5)]);

	runtime_run(s->rt, NULL, NULL, runtime_now(s->rt) + us * NS_PER_US);
}

static void some_faults(struct lasting *l)
{
	unsigned int n = 1 + scenario_random(l->s, 3);

	for (unsigned int i = 0; i < n; i++) {
		const struct fault *fault = &faults[scenario_random(l->s, G_N_ELEMENTS(faults))];

		wait_some_time(l->s);
		log_sys(l->s->log, "seeds: %s", fault->name);
		fault->run(l);
	}
}

void lasting_run(struct scenario *s, double loss, bool any_options)
{
	struct lasting l = {
		.s = s, .bound_ms = bound_ms(loss, any_options), .any_options = any_options};
	unsigned int node, to;

	l.gone = g_array_new(FALSE, FALSE, sizeof(struct gone));
	if (s->seed % 5 == 0) { /* the first sweep is disturbed as well */
		scenario_run_ms(s, scenario_random(s, 300));
		some_faults(&l);
	}
	converge(&l);
	for (int i = 0; i < ROUNDS; i++) {
		give_back(&l);
		converge(&l);
		if (find_host(s, &node) && find_host(s, &to))
			seed_sa_traffic(s, node, to);
		begin_some_sweep(s);
		some_faults(&l);
		converge(&l);
	}
	give_back(&l);
	converge(&l);
	g_array_unref(l.gone);
}

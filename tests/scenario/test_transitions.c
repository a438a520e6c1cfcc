// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What hosts' packets encounter while the daemon writes other forwarding tables. At every MAD the
 * tables of the switches are judged by the checker of tests/unit/proof.h; and whenever they change
 * packets set out from all hosts to all LIDs, which go one hop at each MAD, so that they find old
 * and new entries on their way.
 *
 * TRANSITIONS=17 runs only that seed, TRANSITIONS=1-1000 many.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iba/codes.h"
#include "scenario.h"
#include "tests/run_suite.h"
#include "tests/some_seeds.h"
#include "tests/unit/proof.h"

#define SEEDS 12
#define EVENTS 5
#define HOPS_MAX 64
#define DEAF_NS UINT64_C(15000000000) /* longer than all tries of a request */

struct probe {
	uint32_t from, at, lid, hops;
};

struct watch {
	struct scenario *s;
	struct proof_net net;
	uint32_t *node;	 /* [switch]: node of the simulator */
	uint32_t *sw;	 /* [node]: PROOF_NONE: not a switch */
	bool *up;	 /* [switch] */
	uint8_t **now;	 /* [switch]: entries in force */
	uint8_t **first; /* at the start */
	bool *lost;	 /* [switch * n_lids + LID]: a packet from there was lost */
	GArray *probes;
	unsigned int sets_to_go; /* of forwarding tables, until one is ignored; 0: none is */
	uint32_t deaf;		 /* the switch that ignores it, or PROOF_NONE */
	uint64_t deaf_until_ns;
	bool *meant;  /* [LID]: that switch was sent another entry than it had */
	bool *looped; /* [LID]: a packet to it went in a loop */
	bool free;    /* no credit loop at the start */
	bool closed;  /* one since then */
	unsigned int changes, loops;
};

/* ---- the present fabric ---- */

static bool copy_tables(struct watch *watch)
{
	bool changed = false;

	for (uint32_t sw = 0; sw < watch->net.n; sw++) {
		struct sim_node_view view;
		uint32_t n;

		sim_node_view(watch->s->sim, watch->node[sw], &view);
		n = MIN(view.switch_info->linear_fdb_top + 1u, watch->net.n_lids);
		if (!memcmp(watch->now[sw], view.lft, n) &&
		    (n == watch->net.n_lids || watch->now[sw][n] == PROOF_DISCARD))
			continue;
		memset(watch->now[sw], PROOF_DISCARD, watch->net.n_lids);
		memcpy(watch->now[sw], view.lft, n);
		changed = true;
	}
	return changed;
}

static void read_cables(struct watch *watch)
{
	struct proof_net *net = &watch->net;

	for (uint32_t at = 0; at < net->n * 256; at++) {
		unsigned int peer, peer_port;
		struct sim_node_view view;

		net->across[at] = PROOF_NONE;
		sim_node_view(watch->s->sim, watch->node[at / 256], &view);
		if (!(at % 256) || at % 256 > view.num_ports ||
		    !sim_peer(watch->s->sim, watch->node[at / 256], at % 256, &peer, &peer_port) ||
		    !sim_link_up(watch->s->sim, watch->node[at / 256], at % 256))
			continue;
		net->across[at] = watch->sw[peer];
		net->entrance[at] = peer_port;
		if (net->across[at] != PROOF_NONE)
			net->cables[net->n_cables++] = at;
	}
}

static void add_lids(struct watch *watch, unsigned int node, unsigned int port, uint32_t home,
		     uint8_t exit, bool of_host)
{
	const struct iba_port_info *info = sim_port_info(watch->s->sim, node, port);
	struct proof_net *net = &watch->net;

	for (uint32_t i = 0; info->lid && i < 1u << info->lmc; i++) {
		uint32_t lid = info->lid + i;

		if (lid >= net->n_lids)
			continue;
		net->home[lid] = home;
		net->exit[lid] = exit;
		net->of_host[lid] = of_host;
		net->hosts[home] |= of_host;
	}
}

static void read_lids(struct watch *watch)
{
	for (unsigned int node = 0; node < sim_nodes(watch->s->sim); node++) {
		unsigned int peer, exit;
		struct sim_node_view view;

		sim_node_view(watch->s->sim, node, &view);
		if (!view.up)
			continue;
		if (watch->sw[node] != PROOF_NONE) {
			add_lids(watch, node, 0, watch->sw[node], 0, false);
			continue;
		}
		for (unsigned int num = 1; num <= view.num_ports; num++)
			if (sim_peer(watch->s->sim, node, num, &peer, &exit) &&
			    sim_link_up(watch->s->sim, node, num) && watch->sw[peer] != PROOF_NONE)
				add_lids(watch, node, num, watch->sw[peer], exit, true);
	}
}

static void number_switches(struct watch *watch)
{
	unsigned int n_nodes = sim_nodes(watch->s->sim);

	watch->sw = g_new(uint32_t, n_nodes);
	watch->node = g_new(uint32_t, n_nodes);
	watch->up = g_new(bool, n_nodes);
	for (unsigned int node = 0; node < n_nodes; node++) {
		struct sim_node_view view;

		sim_node_view(watch->s->sim, node, &view);
		watch->sw[node] = PROOF_NONE;
		if (view.type != IBA_NODE_SWITCH)
			continue;
		watch->up[watch->net.n] = view.up;
		watch->node[watch->net.n] = node;
		watch->sw[node] = watch->net.n++;
	}
}

static uint8_t **tables_new(const struct proof_net *net)
{
	uint8_t **tables = g_new(uint8_t *, net->n);

	for (uint32_t sw = 0; sw < net->n; sw++) {
		tables[sw] = g_malloc(net->n_lids);
		memset(tables[sw], PROOF_DISCARD, net->n_lids);
	}
	return tables;
}

static void tables_free(const struct proof_net *net, uint8_t **tables)
{
	for (uint32_t sw = 0; sw < net->n; sw++)
		g_free(tables[sw]);
	g_free(tables);
}

static struct proof_case case_of(const struct watch *watch, uint8_t **tables)
{
	return (struct proof_case){
		.net = &watch->net, .lft = (const uint8_t *const *)tables, .excused = true};
}

static void watch_init(struct watch *watch, struct scenario *s)
{
	struct proof_net *net = &watch->net;
	struct proof_case what;

	*watch = (struct watch){.s = s, .net = {.n_lids = 512, .sm = PROOF_NONE}};
	number_switches(watch);
	net->across = g_new(uint32_t, net->n * 256);
	net->entrance = g_new0(uint8_t, net->n * 256);
	net->cables = g_new(uint32_t, net->n * 256);
	net->vls = g_new0(uint8_t, net->n * 256);
	net->cap = g_new(uint32_t, net->n);
	net->home = g_new(uint32_t, net->n_lids);
	net->exit = g_new0(uint8_t, net->n_lids);
	net->of_host = g_new0(bool, net->n_lids);
	net->hosts = g_new0(bool, net->n);
	for (uint32_t sw = 0; sw < net->n; sw++)
		net->cap[sw] = UINT32_MAX;
	memset(net->home, 0xFF, net->n_lids * sizeof(*net->home));
	read_cables(watch);
	read_lids(watch);
	watch->now = tables_new(net);
	watch->first = tables_new(net);
	watch->deaf = PROOF_NONE;
	watch->meant = g_new0(bool, net->n_lids);
	watch->looped = g_new0(bool, net->n_lids);
	watch->lost = g_new0(bool, (size_t)net->n * net->n_lids);
	watch->probes = g_array_new(FALSE, FALSE, sizeof(struct probe));
	copy_tables(watch);
	for (uint32_t sw = 0; sw < net->n; sw++)
		memcpy(watch->first[sw], watch->now[sw], net->n_lids);
	what = case_of(watch, watch->now);
	watch->free = proof_judge(&what, NULL, 0).acyclic;
}

static void watch_clear(struct watch *watch)
{
	struct proof_net *net = &watch->net;

	tables_free(net, watch->now);
	tables_free(net, watch->first);
	g_free(watch->node);
	g_free(watch->sw);
	g_free(watch->up);
	g_free(watch->lost);
	g_free(watch->meant);
	g_free(watch->looped);
	g_array_unref(watch->probes);
	g_free(net->across);
	g_free(net->entrance);
	g_free(net->cables);
	g_free(net->vls);
	g_free(net->cap);
	g_free(net->home);
	g_free(net->exit);
	g_free(net->of_host);
	g_free(net->hosts);
}

/* ---- packets ---- */

static void start_discovery(struct watch *watch)
{
	for (uint32_t sw = 0; sw < watch->net.n; sw++)
		for (uint32_t lid = 1; watch->up[sw] && lid < watch->net.n_lids; lid++) {
			struct probe probe = {sw, sw, lid, 0};

			if (watch->net.home[lid] != PROOF_NONE)
				g_array_append_val(watch->probes, probe);
		}
}

/* One hop. True if it goes on. */
static bool go(struct watch *watch, struct probe *probe)
{
	const struct proof_net *net = &watch->net;
	uint8_t out = watch->now[probe->at][probe->lid];

	if (probe->at == net->home[probe->lid] && out == net->exit[probe->lid])
		return false;
	probe->at = net->across[probe->at * 256 + out];
	if (probe->at == PROOF_NONE)
		watch->lost[probe->from * net->n_lids + probe->lid] = true;
	else if (++probe->hops > HOPS_MAX)
		watch->looped[probe->lid] = true;
	return probe->at != PROOF_NONE && probe->hops <= HOPS_MAX;
}

static void step(struct watch *watch)
{
	GArray *probes = watch->probes;
	guint n = 0;

	for (guint i = 0; i < probes->len; i++) {
		struct probe probe = g_array_index(probes, struct probe, i);

		if (go(watch, &probe))
			g_array_index(probes, struct probe, n++) = probe;
	}
	g_array_set_size(probes, n);
}

static void note_meant(struct watch *watch, const uint8_t *data)
{
	uint32_t first = (data[22] << 8 | data[23]) * 64u; /* AttributeModifier: the block */

	for (uint32_t i = 0; i < 64 && first + i < watch->net.n_lids; i++)
		watch->meant[first + i] |= data[64 + i] != watch->first[watch->deaf][first + i];
}

/*
 * The switch that receives one of the first Sets of forwarding tables ignores it, and everything
 * else until the daemon has given up on it.
 */
static void make_deaf(struct watch *watch, uint64_t now_ns, const struct vendor_address *to,
		      const uint8_t *data, size_t length)
{
	const struct proof_net *net = &watch->net;
	uint32_t sw =
		to->lid < net->n_lids && !net->exit[to->lid] ? net->home[to->lid] : PROOF_NONE;

	if (watch->deaf != PROOF_NONE && now_ns >= watch->deaf_until_ns)
		sim_node_mute(watch->s->sim, watch->node[watch->deaf], false);
	if (sw == PROOF_NONE ||
	    !scenario_is_smp(data, length, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE))
		return;
	if (watch->sets_to_go && !--watch->sets_to_go) {
		watch->deaf = sw;
		watch->deaf_until_ns = now_ns + DEAF_NS;
		sim_node_mute(watch->s->sim, watch->node[sw], true);
	}
	if (sw == watch->deaf)
		note_meant(watch, data);
}

static void on_mad(void *arg, uint64_t now_ns, const struct vendor_address *to,
		   uint64_t from_port_guid, const uint8_t *data, size_t length)
{
	struct watch *watch = arg;
	struct proof_verdict verdict;
	struct proof_case what;

	(void)from_port_guid;
	make_deaf(watch, now_ns, to, data, length);
	if (copy_tables(watch)) {
		what = case_of(watch, watch->now);
		verdict = proof_judge(&what, NULL, 0);
		watch->changes++;
		watch->loops += !verdict.loop_free;
		watch->closed |= !verdict.acyclic;
		start_discovery(watch);
	}
	step(watch);
}

/* ---- what happened ---- */

static unsigned int count_lost(const struct watch *watch)
{
	struct proof_case first = case_of(watch, watch->first), last = case_of(watch, watch->now);
	unsigned int n = 0;

	for (uint32_t sw = 0; sw < watch->net.n; sw++)
		for (uint32_t lid = 1; lid < watch->net.n_lids; lid++)
			n += watch->lost[sw * watch->net.n_lids + lid] &&
			     proof_arrives(&first, sw, lid) && proof_arrives(&last, sw, lid);
	return n;
}

static unsigned int count_looped(const struct watch *watch)
{
	unsigned int n = 0;

	for (uint32_t lid = 1; lid < watch->net.n_lids; lid++)
		n += watch->looped[lid] && !watch->meant[lid] &&
		     (watch->deaf == PROOF_NONE ||
		      watch->first[watch->deaf][lid] == watch->now[watch->deaf][lid]);
	return n;
}

/* True if the daemon logged that it discards LIDs first: these packets are lost. */
static bool expect_no_harm(struct watch *watch, gsize log_from, const char *what)
{
	bool discards = strstr(watch->s->text->str + log_from, "discarded first");
	struct proof_case last = case_of(watch, watch->now);
	bool is_free = watch->free && proof_judge(&last, NULL, 0).acyclic;
	unsigned int lost = count_lost(watch);

	ck_assert_msg(!watch->loops && (!lost || discards) && !(is_free && watch->closed),
		      "%s: %u tables seen, %u loops, %u pairs lost a packet, credit loop %d", what,
		      watch->changes, watch->loops, lost, watch->closed);
	return discards;
}

static const struct {
	const char *spec, *engine;
} nets[] = {
	{"fattree:4", "minhop"},      {"fattree:8", "minhop"},	    {"random:14:4:2:", "updn"},
	{"torus:4x4", "updn"},	      {"dragonfly:4:2:2", "updn"},  {"random:12:3:3:", "dnup"},
	{"xgft:4,4:1,4", "ftree"},    {"mesh:4x4", "dor"},	    {"hypercube:4", "updn"},
	{"xgft:2,3,4:1,2,3", "updn"}, {"random:18:3:1:", "minhop"},
};

/* A switch other than the SM's; false: it is already out, or it is the SM's. */
static bool lose_switch(struct scenario *s, GArray *out)
{
	unsigned int thing[2] = {scenario_random_switch(s), 0}, port, peer, peer_port;
	unsigned int sm = scenario_sm_node(s, &port);
	struct sim_node_view view;

	sim_node_view(s->sim, thing[0], &view);
	if (!view.up || !sim_peer(s->sim, sm, port, &peer, &peer_port) || peer == thing[0])
		return false;
	sim_node_set(s->sim, thing[0], false);
	g_array_append_vals(out, thing, 2);
	return true;
}

/* A cable or a switch goes, or what is out comes back; sometimes two at once. */
static void break_something(struct scenario *s, GArray *out)
{
	for (unsigned int n = 1 + !scenario_random(s, 3); n; n--) {
		unsigned int thing[2] = {0, 0};

		if (out->len && scenario_random(s, 2)) {
			guint i = scenario_random(s, out->len / 2) * 2;
			unsigned int node = g_array_index(out, unsigned int, i);
			unsigned int port = g_array_index(out, unsigned int, i + 1);

			g_array_remove_range(out, i, 2);
			if (port)
				sim_link_set(s->sim, node, port, true);
			else
				sim_node_set(s->sim, node, true);
			continue;
		}
		if (!scenario_random(s, 4) && lose_switch(s, out))
			continue;
		scenario_random_link(s, &thing[0], &thing[1]);
		sim_link_set(s->sim, thing[0], thing[1], false);
		g_array_append_vals(out, thing, 2);
	}
}

/* Entries that the deaf switch was to keep do not loop because others ignored theirs. */
static void expect_no_more_loops(const struct watch *watch, const char *what)
{
	unsigned int n = count_looped(watch);

	ck_assert_msg(!n, "%s: %u tables seen, packets to %u LIDs went round", what, watch->changes,
		      n);
}

static void run_seed(uint64_t seed, bool deaf)
{
	unsigned int i = seed % G_N_ELEMENTS(nets), changes = 0;
	bool numbered = g_str_has_suffix(nets[i].spec, ":");
	g_autofree char *spec =
		numbered ? g_strdup_printf("%s%" G_GUINT64_FORMAT, nets[i].spec, seed)
			 : g_strdup(nets[i].spec);
	g_autofree char *what = g_strdup_printf("TRANSITIONS=%" G_GUINT64_FORMAT ": %s, %s", seed,
						spec, nets[i].engine);
	GArray *out = g_array_new(FALSE, FALSE, sizeof(unsigned int));
	struct scenario *s = scenario_new(spec, seed);

	scenario_option(s, "-R", nets[i].engine);
	scenario_start(s);
	scenario_converge(s, 20);
	for (unsigned int event = 0; event < EVENTS; event++) {
		gsize log_from = s->text->len;
		struct watch watch;

		break_something(s, out);
		watch_init(&watch, s);
		watch.sets_to_go = deaf ? 1 + scenario_random(s, 8) : 0;
		sim_set_trace(s->sim, on_mad, &watch);
		scenario_converge(s, deaf ? 60 : 30);
		sim_set_trace(s->sim, NULL, NULL);
		if (watch.deaf != PROOF_NONE)
			sim_node_mute(s->sim, watch.node[watch.deaf], false);
		copy_tables(&watch);
		if (deaf)
			expect_no_more_loops(&watch, what);
		else
			expect_no_harm(&watch, log_from, what);
		changes += watch.changes;
		watch_clear(&watch);
	}
	ck_assert_uint_gt(changes, 0);
	g_array_unref(out);
	scenario_free(s);
}

START_TEST(no_mixture_does_harm)
{
	const char *text = g_getenv("TRANSITIONS");

	run_seed((text ? g_ascii_strtoull(text, NULL, 10) : 1) + (unsigned int)_i, false);
}
END_TEST

/* A switch that ignores a stage does not make the others skip the next ones. */
START_TEST(a_switch_is_deaf)
{
	const char *text = g_getenv("TRANSITIONS");

	run_seed((text ? g_ascii_strtoull(text, NULL, 10) : 1) + (unsigned int)_i, true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transitions");
	TCase *tcase = tcase_create("transitions");
	const char *text = g_getenv("TRANSITIONS"), *dash = text ? strchr(text, '-') : NULL;
	int n = some_seeds(SEEDS);

	if (text)
		n = dash ? (int)(atoi(dash + 1) - atoi(text) + 1) : 1;
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, no_mixture_does_harm, 0, n);
	tcase_add_loop_test(tcase, a_switch_is_deaf, 0, n);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

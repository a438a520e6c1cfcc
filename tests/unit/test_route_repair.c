// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repairs of routings, in long sequences of losses and returns. After every step the table is as
 * good as a full recomputation (verifier, slow checker, balance), changed where it had to be and
 * nowhere else, and the routing it came from is untouched.
 *
 * Which entries had to change is worked out here from the promise alone. Best paths of an engine
 * with an order of switches are: only down if that is possible, but to leaves not through switches
 * that got an extra parent; else up first; the shortest of these. The tables of the last full
 * recomputation are called home. An entry that begins a best path at home must be that of home;
 * else one that did before and still does must stay. A few may be moved for balance.
 *
 * Each seed is a sequence of its own: ROUTE_SEEDS=17 runs only that one, ROUTE_SEEDS=1-10000 many.
 */
#include <check.h>
#include <string.h>

#include "route/order/orient.h"
#include "route/renew/renew.h"
#include "route/value/base.h"
#include "tests/run_suite.h"
#include "tests/unit/route_checker.h"
#include "tests/unit/route_churn.h"
#include "tests/unit/route_shapes.h"

#define SEEDS 60
#define CHUNK 4 /* sequences for one process */

static const char *const engines[] = { "minhop", "updn", "dnup", "ftree" };

struct tally {
	unsigned int steps, repaired[G_N_ELEMENTS(engines)], kept, computed, refused;
	unsigned int exchanges;
	unsigned int home_again; /* sequences that ended as they began */
	unsigned int stray;	 /* steps with changes, for management only, without a reason */
	unsigned int uneven;	 /* repairs after which a cable carried too much */
	unsigned int evened;	 /* recomputed since a repair was too uneven */
	uint64_t changed, entries, moved;
};

/* Tables and the fabric they are for. */
struct tables {
	struct fabric *fabric;
	struct routing *routing;
};

struct trial {
	struct shape shape;
	struct churn *churn;
	const struct route_engine *engine;
	unsigned int number; /* of the engine */
	struct route_input input;
	struct tables home, old, now; /* old, now: no routing if the engine refused */
	bool strict; /* only one thing is out */
	bool lmc;    /* ports have several LIDs */
	struct tally *tally;
	GString *what; /* of this step */
};

static void tables_clear(struct tables *tables)
{
	routing_unref(tables->routing);
	fabric_unref(tables->fabric);
	*tables = (struct tables){ 0 };
}

static struct tables tables_ref(const struct tables *tables)
{
	return (struct tables){ fabric_ref(tables->fabric), routing_ref(tables->routing) };
}

/* ---- best paths ---- */

/* To one destination. */
struct best {
	const struct fabric *fabric;
	const uint32_t *order; /* NULL: every path is legal */
	const bool *joined;    /* [switch]: got an extra parent; or NULL */
	const bool *leaf;      /* [switch], if joined */
	bool to_leaf;	       /* so is the destination */
	uint32_t *by_place;    /* switches by descending place */
	uint32_t *down;	       /* [switch]: hops down only, or all hops without an order */
	uint32_t *least;       /* [switch]: hops of the best path */
};

static gint compare_places(gconstpointer a, gconstpointer b, gpointer order)
{
	const uint32_t *places = order;
	uint32_t x = places[*(const uint32_t *)a], y = places[*(const uint32_t *)b];

	return x > y ? -1 : x < y;
}

static void best_init(struct best *best, const struct fabric *fabric, const struct route_order *is)
{
	const uint32_t *order = is->place;
	uint32_t n = fabric->n_switches;

	*best = (struct best){fabric, order, is->open ? NULL : is->joined, is->leaf};
	best->by_place = g_new(uint32_t, n + 1);
	best->down = g_new(uint32_t, n + 1);
	best->least = g_new(uint32_t, n + 1);
	for (uint32_t sw = 0; sw < n; sw++)
		best->by_place[sw] = sw;
	if (order)
		g_qsort_with_data(best->by_place, (gint)n, sizeof(uint32_t), compare_places,
				  (gpointer)order);
}

static void best_clear(struct best *best)
{
	g_free(best->by_place);
	g_free(best->down);
	g_free(best->least);
}

static bool is_up(const struct best *best, uint32_t from, uint32_t to)
{
	return best->order[to] < best->order[from];
}

/* Whether a link down is closed to this destination. */
static bool is_closed(const struct best *best, uint32_t sw, uint32_t to)
{
	return best->joined && best->joined[to] && best->to_leaf && !is_up(best, sw, to);
}

/* One more than the least of the neighbours above, or below. */
static uint32_t step_from(const struct best *best, uint32_t sw, bool up, const uint32_t *hops)
{
	unsigned int num_ports =
		best->fabric->nodes[best->fabric->switches[sw].node].num_ports;
	uint32_t least = CHECKER_FAR;

	for (unsigned int num = 1; num <= num_ports; num++) {
		uint32_t to = checker_next_switch(best->fabric, sw, num);

		if (to != FABRIC_NONE && to != sw && is_up(best, sw, to) == up &&
		    !is_closed(best, sw, to) && hops[to] != CHECKER_FAR)
			least = MIN(least, hops[to] + 1);
	}
	return least;
}

static void best_to(struct best *best, const struct checker *checker, uint32_t leaf)
{
	uint32_t n = best->fabric->n_switches;

	best->to_leaf = best->joined && best->leaf[leaf];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = best->by_place[i];

		best->down[sw] = best->order ? step_from(best, sw, false, best->down)
					     : checker_distance(checker, sw, leaf);
		if (sw == leaf)
			best->down[sw] = 0;
	}
	for (uint32_t i = n; i--;) {
		uint32_t sw = best->by_place[i];

		best->least[sw] = best->down[sw];
		if (best->order && best->down[sw] == CHECKER_FAR)
			best->least[sw] = step_from(best, sw, true, best->least);
	}
}

/* Whether a port begins a best path. */
static bool leads(const struct best *best, uint32_t sw, uint8_t num)
{
	uint32_t to = checker_next_switch(best->fabric, sw, num);

	if (to == FABRIC_NONE || to == sw)
		return false;
	if (!best->order)
		return best->least[to] + 1 == best->least[sw];
	if (best->down[sw] == CHECKER_FAR)
		return is_up(best, sw, to) && best->least[to] + 1 == best->least[sw];
	return !is_up(best, sw, to) && best->down[to] + 1 == best->down[sw];
}

/* ---- the tables before ---- */

/* The entry of a switch; ROUTE_NO_PORT if the switch did not exist. */
static uint8_t entry_of(const struct tables *tables, uint64_t guid, uint16_t lid)
{
	uint32_t node = fabric_node_by_guid(tables->fabric, guid);

	return node == FABRIC_NONE
		       ? ROUTE_NO_PORT
		       : routing_port(tables->routing, tables->fabric->nodes[node].sw, lid);
}

static uint64_t switch_guid(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].guid;
}

static bool had_cable(const struct fabric *before, const struct fabric *now, uint32_t port)
{
	const struct fabric_port *p = &now->ports[port], *peer = &now->ports[p->peer], *other;
	uint32_t node = fabric_node_by_guid(before, now->nodes[p->node].guid), was;

	if (node == FABRIC_NONE)
		return false;
	was = before->ports[fabric_port_of(before, node, p->num)].peer;
	if (was == FABRIC_NONE)
		return false;
	other = &before->ports[was];
	return other->num == peer->num &&
	       before->nodes[other->node].guid == now->nodes[peer->node].guid;
}

/* Whether everything present now was present before. LIDs do not move here. */
static bool is_part_of(const struct fabric *now, const struct fabric *before)
{
	for (uint32_t i = 0; i < now->n_ports; i++)
		if (now->ports[i].peer != FABRIC_NONE && !had_cable(before, now, i))
			return false;
	return true;
}

/* Orders switches by these numbers, which all differ; takes ownership of them. */
static void orient_without_gaps(struct route_order *order, uint32_t *places)
{
	uint32_t n = order->graph->n;
	uint64_t *key = g_new(uint64_t, n + 1);
	uint32_t *none = g_new0(uint32_t, n + 1);

	for (uint32_t sw = 0; sw < n; sw++)
		key[sw] = places[sw];
	route_orient(order, none, key);
	route_join_tops(order);
	g_free(key);
	g_free(none);
	g_free(places);
}

/*
 * Whether switches have no legal path to nodes that cables connect them to, in the order of the
 * tables at home; or, if shortest ones were promised, a path to hosts that is longer than cables
 * allow.
 */
static bool some_are_apart(const struct trial *trial)
{
	const struct fabric *fabric = trial->now.fabric, *was = trial->home.fabric;
	bool shortest = trial->home.routing->promises & ROUTE_SHORTEST;
	uint32_t *order = g_new(uint32_t, fabric->n_switches + 1);
	struct route_plan plan;
	struct checker checker;
	struct best best;
	bool apart = false;

	for (uint32_t sw = 0; trial->home.routing->order && sw < fabric->n_switches; sw++)
		order[sw] =
			trial->home.routing->base->order
				[was->nodes[fabric_node_by_guid(was, switch_guid(fabric, sw))].sw];
	if (!trial->home.routing->order) {
		g_free(order);
		return false;
	}
	route_plan_init(&plan, fabric);
	orient_without_gaps(&plan.order, order);
	checker_run(&checker, fabric, trial->home.routing);
	best_init(&best, fabric, &plan.order);
	for (uint32_t leaf = 0; leaf < fabric->n_switches; leaf++) {
		best_to(&best, &checker, leaf);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
			apart |= (best.least[sw] == CHECKER_FAR ||
				  (shortest && checker.hosts[sw] && checker.hosts[leaf])) &&
				 checker_distance(&checker, sw, leaf) != best.least[sw];
	}
	best_clear(&best);
	checker_clear(&checker);
	route_plan_clear(&plan);
	return apart;
}

/* The switch port at the other end, by GUID and number; 0 if there is none. */
static uint64_t end_of(const struct fabric *fabric, uint32_t node, unsigned int num)
{
	uint32_t peer = num <= fabric->nodes[node].num_ports
				? fabric->ports[fabric_port_of(fabric, node, num)].peer
				: FABRIC_NONE;

	if (peer == FABRIC_NONE || !fabric_is_switch(fabric, fabric->ports[peer].node))
		return 0;
	return fabric->nodes[fabric->ports[peer].node].guid * 256 + fabric->ports[peer].num;
}

/* Whether too many switches have other cables than before for a repair to be tried. */
static bool much_has_changed(const struct trial *trial)
{
	const struct fabric *now = trial->now.fabric, *old = trial->old.fabric;
	uint32_t touched = 0;

	for (uint32_t sw = 0; sw < now->n_switches; sw++) {
		uint32_t node = now->switches[sw].node;
		uint32_t was = fabric_node_by_guid(old, now->nodes[node].guid);
		bool same = was != FABRIC_NONE;

		for (unsigned int num = 1; same && num <= now->nodes[node].num_ports; num++)
			same = end_of(now, node, num) == end_of(old, was, num);
		touched += !same;
	}
	return touched > 16;
}

/* ---- judgement of one entry ---- */

static const char not_as_at_home[] = "not as at home";
static const char changed_for_nothing[] = "changed for nothing";

/* What is wrong with the new entry, or NULL. */
static const char *judge_entry(const struct trial *trial, const struct best *best, uint32_t sw,
			       uint16_t lid)
{
	uint64_t guid = switch_guid(best->fabric, sw);
	uint8_t is = routing_port(trial->now.routing, sw, lid);
	uint8_t home = entry_of(&trial->home, guid, lid);
	uint8_t old = entry_of(&trial->old, guid, lid), exit;

	fabric_leaf(best->fabric, fabric_port_by_lid(best->fabric, lid), &exit);
	if (best->least[sw] == 0)
		return is == exit ? NULL : "not handed over";
	if (best->least[sw] == CHECKER_FAR)
		return NULL; /* only to or from a switch: tested with single_top.c */
	if (!leads(best, sw, is))
		return "not on a best path";
	if (leads(best, sw, home))
		return is == home ? NULL : not_as_at_home;
	if (leads(best, sw, old))
		return is == old ? NULL : changed_for_nothing;
	return NULL;
}

/* For balance, if something is out, entries may be replaced by others as good. */
static bool may_move(const struct trial *trial, const char *wrong)
{
	const struct routing *now = trial->now.routing;

	return now->repair_state->moved &&
	       (wrong == not_as_at_home || wrong == changed_for_nothing);
}

/* Entries that differ from before, of switches and LIDs that existed then. */
struct changes {
	uint64_t legal; /* where there is a path by the rules of the engine */
	uint64_t other;
};

static void count_change(const struct trial *trial, const struct best *best, uint32_t sw,
			 uint16_t lid, struct changes *changes)
{
	const struct tables *old = &trial->old;
	uint64_t guid = switch_guid(best->fabric, sw);

	if (checker_leaf(old->fabric, lid) == FABRIC_NONE ||
	    fabric_node_by_guid(old->fabric, guid) == FABRIC_NONE ||
	    entry_of(old, guid, lid) == routing_port(trial->now.routing, sw, lid))
		return;
	if (best->least[sw] == CHECKER_FAR)
		changes->other++;
	else
		changes->legal++;
}

static struct changes judge_entries(const struct trial *trial, const struct checker *checker)
{
	const struct fabric *fabric = trial->now.fabric;
	struct changes changes = { 0, 0 };
	struct best best;

	best_init(&best, fabric, &trial->now.routing->repair_state->plan.order);
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t leaf = checker_leaf(fabric, lid);

		if (leaf == FABRIC_NONE)
			continue;
		best_to(&best, checker, leaf);
		for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
			const char *wrong = judge_entry(trial, &best, sw, lid);

			count_change(trial, &best, sw, lid, &changes);
			trial->tally->moved += wrong && may_move(trial, wrong);
			if (wrong && !may_move(trial, wrong))
				ck_abort_msg("%s: switch %u LID %u: port %u is %s (home %u, "
					     "before %u)",
					     trial->what->str, sw, lid,
					     routing_port(trial->now.routing, sw, lid), wrong,
					     entry_of(&trial->home, switch_guid(fabric, sw), lid),
					     entry_of(&trial->old, switch_guid(fabric, sw), lid));
		}
	}
	best_clear(&best);
	return changes;
}

/* ---- balance ---- */

/* Flows on the busiest channel, all hosts sending to all LIDs of hosts. */
static uint64_t most_load(const struct fabric *fabric, const struct routing *routing)
{
	g_autofree uint64_t *load = g_new0(uint64_t, fabric->n_ports + 1);
	g_autofree uint32_t *hosts = g_new0(uint32_t, fabric->n_switches + 1);
	uint64_t most = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		uint32_t leaf = checker_leaf(fabric, fabric->ports[port].lid);

		if (leaf != FABRIC_NONE && !fabric_is_switch(fabric, fabric->ports[port].node))
			hosts[leaf]++;
	}
	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
		uint32_t port = fabric_port_by_lid(fabric, lid), leaf = checker_leaf(fabric, lid);

		if (leaf == FABRIC_NONE || fabric_is_switch(fabric, fabric->ports[port].node))
			continue;
		for (uint32_t from = 0; from < fabric->n_switches; from++)
			for (uint32_t sw = from; hosts[from] && sw != leaf;) {
				uint8_t num = routing_port(routing, sw, lid);
				uint32_t to = checker_next_switch(fabric, sw, num);

				if (to == FABRIC_NONE) /* cut off */
					break;
				load[fabric_switch_port(fabric, sw, num)] += hosts[from];
				sw = to;
			}
	}
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		most = MAX(most, load[port]);
	return most;
}

static uint64_t n_hosts(const struct fabric *fabric)
{
	uint64_t n = 0;

	for (uint32_t port = 0; port < fabric->n_ports; port++)
		n += fabric->ports[port].lid &&
		     !fabric_is_switch(fabric, fabric->ports[port].node) &&
		     checker_leaf(fabric, fabric->ports[port].lid) != FABRIC_NONE;
	return n;
}

/*
 * Against a full recomputation. A tenth more is fine, and so is one more LID on one cable, as in a
 * small fabric a few make a tenth; if only one thing is out and ports have one LID, an eighth.
 * After many losses there can sometimes be some more.
 */
static void judge_balance(const struct trial *trial)
{
	const struct fabric *fabric = trial->now.fabric;
	struct routing *whole = route_compute(trial->engine, fabric, &trial->input, NULL);
	uint64_t is, should, lid = n_hosts(fabric);

	if (!whole)
		return; /* the engine would refuse a fabric that it can repair */
	is = most_load(fabric, trial->now.routing);
	should = most_load(fabric, whole);
	trial->tally->uneven += is > should + should / 10 + lid;
	if (trial->strict)
		should += should / 8 + (trial->lmc ? lid : 0);
	else
		should = 2 * should + lid;
	ck_assert_msg(is <= should,
		      "%s: %u flows on a cable, at most %u", trial->what->str, (unsigned int)is,
		      (unsigned int)should);
	routing_unref(whole);
}

/* ---- one step ---- */

static int memcmp_tables(const struct routing *a, const struct routing *b)
{
	int differ = 0;

	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		differ |= memcmp(a->lft[sw], b->lft[sw], a->n_blocks * 64);
	return differ;
}

static GByteArray *bytes_of(const struct routing *routing)
{
	GByteArray *bytes = g_byte_array_new();

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		g_byte_array_append(bytes, routing->lft[sw], routing->n_blocks * 64);
	return bytes;
}

static void expect_untouched(const struct trial *trial, const char *which,
			     const struct routing *routing, GByteArray *before)
{
	GByteArray *now = bytes_of(routing);

	ck_assert_msg(now->len == before->len &&
			      (!now->len || !memcmp(now->data, before->data, now->len)),
		      "%s: the routing %s was written to", trial->what->str, which);
	g_byte_array_unref(now);
	g_byte_array_unref(before);
}

static void try_threads(struct trial *trial)
{
	static const unsigned int threads[] = { 2, 3, 5 };

	for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
		struct route_input input = trial->input;
		struct routing *again;

		input.threads = threads[i];
		again = routing_repair(trial->now.fabric, &input, trial->old.routing, NULL);
		ck_assert_msg(again, "%s: %u threads refuse", trial->what->str, threads[i]);
		checker_same_tables(trial->now.routing, again, trial->what->str);
		routing_unref(again);
	}
}

/* Whether the same switches have hosts as before. */
static bool same_leaves(const struct trial *trial, const bool *hosts)
{
	const struct fabric *now = trial->now.fabric, *old = trial->old.fabric;
	struct checker before;
	bool same = now->n_switches == old->n_switches;

	checker_run(&before, old, trial->old.routing);
	for (uint32_t sw = 0; same && sw < now->n_switches; sw++) {
		uint32_t node = fabric_node_by_guid(old, switch_guid(now, sw));

		same = node != FABRIC_NONE && before.hosts[old->nodes[node].sw] == hosts[sw];
	}
	checker_clear(&before);
	return same;
}

/* Whether the last host of a switch other than a leaf may have decided on extra parents. */
static bool are_joined(const struct trial *trial)
{
	return trial->now.routing->repair_state->plan.order.joined ||
	       trial->old.routing->repair_state->plan.order.joined;
}

static void judge_repaired(struct trial *trial, bool hosts_only)
{
	const char *what = trial->what->str;
	struct changes changes;
	struct checker checker;

	trial->tally->repaired[trial->number]++;
	ck_assert_msg(trial->now.routing->promises == trial->old.routing->promises,
		      "%s: other promises", what);
	checker_accept_owned(trial->now.fabric, trial->now.routing, what);
	checker_run(&checker, trial->now.fabric, trial->now.routing);
	changes = judge_entries(trial, &checker);
	trial->tally->changed += changes.legal + changes.other;
	if (hosts_only && !are_joined(trial)) {
		ck_assert_msg(!changes.legal && !(trial->strict && changes.other),
			      "%s: hosts cost %u and %u entries", what,
			      (unsigned int)changes.legal, (unsigned int)changes.other);
		trial->tally->stray += changes.other && same_leaves(trial, checker.hosts);
	}
	checker_clear(&checker);
	if (trial->tally->steps % 3 == 0)
		try_threads(trial);
}

/* A repair that may be uneven is compared with a full recomputation, which may replace it. */
static void even_out(struct trial *trial)
{
	enum route_way way;

	if (!trial->now.routing->repair_state->uneven)
		return;
	routing_unref(trial->now.routing);
	trial->now.routing = routing_renew(trial->engine, trial->now.fabric, &trial->input,
					   trial->old.routing, &way, NULL);
	ck_assert_msg(trial->now.routing, "%s: there is a repair", trial->what->str);
	checker_accept_owned(trial->now.fabric, trial->now.routing, trial->what->str);
	if (way == ROUTE_REPAIRED)
		return;
	ck_assert_msg(!trial->strict, "%s: computed", trial->what->str);
	trial->tally->computed++;
	trial->tally->evened++;
	tables_clear(&trial->home);
	trial->home = tables_ref(&trial->now);
}

/* Hosts that come and go alone change nothing else. */
static void repair(struct trial *trial, bool hosts_only)
{
	GByteArray *old = bytes_of(trial->old.routing), *home = bytes_of(trial->home.routing);

	trial->now.routing =
		routing_repair(trial->now.fabric, &trial->input, trial->old.routing, NULL);
	if (trial->now.routing)
		judge_repaired(trial, hosts_only);
	else
		ck_assert_msg(!is_part_of(trial->now.fabric, trial->home.fabric) ||
				      some_are_apart(trial) || much_has_changed(trial),
			      "%s: not repaired", trial->what->str);
	expect_untouched(trial, "before", trial->old.routing, old);
	expect_untouched(trial, "at home", trial->home.routing, home);
	if (trial->now.routing) {
		even_out(trial);
		judge_balance(trial);
	}
}

/* A full recomputation, whose result is home from now on. */
static bool compute(struct trial *trial)
{
	enum route_way way;

	trial->now.routing = routing_renew(trial->engine, trial->now.fabric, &trial->input,
					   trial->old.routing, &way, NULL);
	trial->tally->computed += trial->now.routing != NULL;
	trial->tally->refused += trial->now.routing == NULL;
	if (!trial->now.routing)
		return false;
	ck_assert_msg(way != ROUTE_REPAIRED, "%s: repaired at the second try", trial->what->str);
	trial->tally->kept += way == ROUTE_STICKY;
	checker_accept(trial->now.fabric, trial->now.routing, trial->what->str);
	judge_balance(trial);
	tables_clear(&trial->home);
	trial->home = tables_ref(&trial->now);
	return true;
}

/* Routes the present fabric. */
static void step(struct trial *trial, bool hosts_only)
{
	trial->tally->steps++;
	tables_clear(&trial->old);
	trial->old = trial->now;
	trial->now = (struct tables){ .fabric = builder_freeze(trial->shape.builder) };
	trial->tally->entries += (uint64_t)trial->now.fabric->n_switches *
				 trial->now.fabric->max_lid;
	if (trial->old.routing)
		repair(trial, hosts_only);
	if (!trial->now.routing && !compute(trial))
		tables_clear(&trial->home);
}

/* ---- sequences ---- */

static bool begin(struct trial *trial, uint64_t seed, enum shape_kind kind, unsigned int engine)
{
	*trial = (struct trial){ .number = engine, .lmc = trial->lmc, .tally = trial->tally };
	trial->engine = route_find(engines[engine]);
	trial->input.threads = 1;
	shape_whole(&trial->shape, seed, kind);
	trial->what = g_string_new(trial->shape.what->str);
	g_string_append_printf(trial->what, ", %s:", engines[engine]);
	trial->churn = churn_new(trial->shape.builder);
	trial->now.fabric = builder_freeze(trial->shape.builder);
	return compute(trial);
}

static void end(struct trial *trial)
{
	tables_clear(&trial->old);
	tables_clear(&trial->now);
	tables_clear(&trial->home);
	churn_free(trial->churn);
	shape_clear(&trial->shape);
	g_string_free(trial->what, TRUE);
}

static void toggle(struct trial *trial, uint32_t thing)
{
	char name[128];

	churn_toggle(trial->churn, thing);
	g_string_append_printf(trial->what, " %s",
			       churn_name(trial->churn, thing, name, sizeof(name)));
}

/* Two hosts swap places. Returns whether there were two. */
static bool exchange(struct trial *trial)
{
	uint32_t a = churn_choose(trial->churn, &trial->shape.state, CHURN_HOST, false);
	uint32_t b = churn_choose(trial->churn, &trial->shape.state, CHURN_HOST, false);
	char name[128];

	if (a == b || a == FABRIC_NONE)
		return false;
	churn_exchange(trial->churn, a, b);
	trial->tally->exchanges++;
	g_string_append_printf(trial->what, " x%s",
			       churn_name(trial->churn, a, name, sizeof(name)));
	g_string_append_printf(trial->what, "x%s",
			       churn_name(trial->churn, b, name, sizeof(name)));
	return true;
}

/* One or two things go or come back. Returns whether they were only hosts. */
static bool random_change(struct trial *trial)
{
	unsigned int n = make_number(&trial->shape.state, 5) ? 1 : 2;
	bool hosts_only = true;

	if (make_number(&trial->shape.state, 16) == 0)
		return !exchange(trial);
	for (unsigned int i = 0; i < n; i++) {
		static const enum churn_kind kinds[] = { CHURN_CABLE, CHURN_CABLE, CHURN_CABLE,
							 CHURN_SWITCH, CHURN_HOST };
		enum churn_kind kind =
			kinds[make_number(&trial->shape.state, G_N_ELEMENTS(kinds))];
		bool back = make_number(&trial->shape.state, 12) < 2 + trial->churn->n_out;
		uint32_t thing = churn_choose(trial->churn, &trial->shape.state, kind, back);

		if (thing == FABRIC_NONE)
			continue;
		toggle(trial, thing);
		hosts_only &= kind == CHURN_HOST;
	}
	return hosts_only;
}

/* Everything comes back, one by one. */
static void return_all(struct trial *trial)
{
	churn_return_exchanged(trial->churn);
	step(trial, false);
	for (enum churn_kind kind = CHURN_CABLE; kind <= CHURN_HOST; kind++) {
		for (;;) {
			uint32_t thing =
				churn_choose(trial->churn, &trial->shape.state, kind, true);

			if (thing == FABRIC_NONE)
				break;
			toggle(trial, thing);
			step(trial, kind == CHURN_HOST);
		}
	}
}

/* Everything is back: the tables are what they were; for management only they may differ. */
static void expect_home(struct trial *trial, const struct tables *first)
{
	if (!memcmp_tables(first->routing, trial->now.routing))
		return;
	ck_assert_msg(!trial->strict, "%s: everything is back, and tables differ",
		      trial->what->str);
	trial->tally->stray++;
}

static void try_sequence(struct trial *trial)
{
	struct tables first = tables_ref(&trial->now);
	unsigned int n = 20 + make_number(&trial->shape.state, 41);
	unsigned int computed = trial->tally->computed;

	for (unsigned int i = 0; i < n; i++)
		step(trial, random_change(trial));
	return_all(trial);
	ck_assert_uint_eq(trial->churn->n_out, 0);
	if (trial->tally->computed == computed && trial->now.routing) {
		expect_home(trial, &first);
		trial->tally->home_again++;
	}
	tables_clear(&first);
}

static enum shape_kind some_kind(uint64_t seed)
{
	static const enum shape_kind kinds[] = {
		SHAPE_FATTREE, SHAPE_XGFT,	SHAPE_LAYERED, SHAPE_XGFT, SHAPE_TORUS, SHAPE_MESH,
		SHAPE_STAR,    SHAPE_HYPERCUBE, SHAPE_REGULAR, SHAPE_ANY,  SHAPE_RING,
	};

	return kinds[seed / G_N_ELEMENTS(engines) % G_N_ELEMENTS(kinds)];
}

/* An engine that refuses the fabric gives way to updn, which does not. */
static void try_seed(uint64_t seed, struct tally *tally)
{
	struct trial trial = { .tally = tally };
	bool begun = begin(&trial, seed, some_kind(seed), seed % G_N_ELEMENTS(engines));

	if (!begun) {
		end(&trial);
		begun = begin(&trial, seed, some_kind(seed), 1);
	}
	ck_assert(begun);
	try_sequence(&trial);
	end(&trial);
}

START_TEST(test_sequences)
{
	struct shape_seeds seeds = shape_seeds(SEEDS);
	uint64_t first = seeds.first + (uint64_t)_i * CHUNK;
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed < first + CHUNK && seed <= seeds.last; seed++)
		try_seed(seed, &tally);
}
END_TEST

/* The sequences covered their cases, and rare exceptions are rare. */
START_TEST(test_sequences_meet_everything)
{
	struct tally tally = { 0 };

	for (uint64_t seed = 1001; seed <= 1088; seed++)
		try_seed(seed, &tally);
	for (size_t i = 0; i < G_N_ELEMENTS(engines); i++)
		ck_assert_msg(tally.repaired[i] > 200, "%s: %u repairs", engines[i],
			      tally.repaired[i]);
	ck_assert_uint_gt(tally.computed, 20);
	ck_assert_uint_gt(tally.kept, 0);
	ck_assert_uint_gt(tally.exchanges, 50);
	ck_assert_uint_gt(tally.refused, 0);
	ck_assert_uint_gt(tally.home_again, 10);
	ck_assert_uint_gt(tally.changed, 100);
	ck_assert_uint_lt(tally.changed, tally.entries / 20);
	ck_assert_uint_gt(tally.evened, 0);
	ck_assert_uint_gt(tally.moved, 100);
	ck_assert_uint_lt(tally.uneven, tally.steps / 200);
	ck_assert_uint_lt(tally.evened, tally.steps / 100);
	ck_assert_uint_lt(tally.moved, tally.changed / 10);
	ck_assert_uint_lt(tally.stray, tally.steps / 200);
}
END_TEST

/* ---- one thing ---- */

/* It goes and comes back: within the tenth, and the final tables are identical. */
static void lose_and_return(struct trial *trial, uint32_t thing)
{
	bool host = g_array_index(trial->churn->things, struct churn_thing, thing).kind ==
		    CHURN_HOST;

	toggle(trial, thing);
	step(trial, host);
	toggle(trial, thing);
	step(trial, host);
	expect_home(trial, &trial->home);
	g_string_truncate(trial->what, 0);
}

static bool is_of_host(const struct fabric *fabric, uint16_t lid)
{
	return checker_leaf(fabric, lid) != FABRIC_NONE &&
	       !fabric_is_switch(fabric, fabric->ports[fabric_port_by_lid(fabric, lid)].node);
}

/* A leaf that reboots does not change routes to hosts of other leaves. */
static void reboot_leaf(struct trial *trial, uint32_t thing)
{
	const struct builder_node *leaf =
		g_array_index(trial->churn->things, struct churn_thing, thing).node;
	const struct fabric *fabric;

	toggle(trial, thing);
	step(trial, false);
	fabric = trial->now.fabric;
	ck_assert_uint_eq(fabric_node_by_guid(fabric, leaf->guid), FABRIC_NONE);
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		for (uint32_t lid = 1; lid <= fabric->max_lid; lid++) {
			uint8_t home = entry_of(&trial->home, switch_guid(fabric, sw), lid);

			if (is_of_host(fabric, lid) &&
			    routing_port(trial->now.routing, sw, lid) != home)
				ck_abort_msg("%s: switch %u LID %u: port %u, not %u",
					     trial->what->str, sw, lid,
					     routing_port(trial->now.routing, sw, lid), home);
		}
	}
	toggle(trial, thing);
	step(trial, false);
	expect_home(trial, &trial->home);
}

START_TEST(test_one_thing_lost_and_back)
{
	struct tally tally = { 0 };
	struct trial trial = { .tally = &tally };
	unsigned int engine = (unsigned int)_i % G_N_ELEMENTS(engines), i = 0;

	trial.lmc = (unsigned int)_i >= G_N_ELEMENTS(engines);
	ck_assert(begin(&trial, trial.lmc ? 5 : 3, SHAPE_FATTREE, engine));
	ck_assert_uint_eq(trial.now.fabric->n_switches, 45);
	ck_assert_uint_eq(trial.now.fabric->max_lid, trial.lmc ? 157 : 45 + 54);
	trial.strict = true;
	for (uint32_t thing = 0; thing < trial.churn->things->len; thing++) {
		const struct churn_thing *t =
			&g_array_index(trial.churn->things, struct churn_thing, thing);

		if (i++ % 5 == 0)
			lose_and_return(&trial, thing);
		if (i % 5 == 1 && t->leaf)
			reboot_leaf(&trial, thing);
	}
	ck_assert_uint_eq(tally.computed, 1);
	ck_assert_uint_eq(tally.repaired[engine], tally.steps);
	end(&trial);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route_repair");
	TCase *tcase = tcase_create("repair");
	struct shape_seeds seeds = shape_seeds(SEEDS);

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, test_sequences, 0,
			    (int)((seeds.last - seeds.first) / CHUNK + 1));
	if (!g_getenv("ROUTE_SEEDS")) {
		tcase_add_test(tcase, test_sequences_meet_everything);
		tcase_add_loop_test(tcase, test_one_thing_lost_and_back, 0,
				    2 * G_N_ELEMENTS(engines));
	}
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the builder to values: the frozen fabric, its routing, and what is published of them.
 */
#include <string.h>

#include "policy/route_files.h"
#include "policy/strangers.h"
#include "sm/sm_private.h"

#define THREADS_PAY 256 /* switches from which on routes are computed by several threads */
#define THREADS_MAX 8

static void freeze(struct sm *sm)
{
	fabric_unref(sm->fabric);
	sm->fabric = builder_freeze_changes(sm->builder);
}

enum step_result step_freeze(struct sm *sm)
{
	unsigned int known = g_hash_table_size(sm->builder->nodes);

	freeze(sm);
	if (!sm->fabric)
		return STEP_ABORT;
	if (sm->fabric->n_nodes != known)
		sm_problem(sm, "%u nodes went away while the subnet was read",
			   known - sm->fabric->n_nodes);
	return STEP_NEXT;
}

struct builder_node *sm_switch(const struct sm *sm, uint32_t sw)
{
	return builder_node_of(sm->builder, sm->fabric, sm->fabric->switches[sw].node);
}

/* An engine as it is tried. */
struct attempt {
	const struct route_engine *engine;
	bool find_roots; /* whatever root_guid_file names */
};

static void add_attempt(GArray *attempts, const char *name, bool find_roots)
{
	struct attempt attempt = {route_find(name), find_roots};

	for (guint i = 0; i < attempts->len; i++) {
		const struct attempt *other = &g_array_index(attempts, struct attempt, i);

		if (other->engine == attempt.engine && other->find_roots == find_roots)
			return;
	}
	if (attempt.engine)
		g_array_append_val(attempts, attempt);
}

/*
 * The engines to try in order: those of the list that exist (others were named to the user at
 * start). If the list does not forbid it, then updn, which keeps any fabric free of deadlock, even
 * if the roots that the operator named do not do; and as a last resort minhop, which is also what
 * an empty list means.
 */
static GArray *engines_to_try(const struct sm *sm)
{
	const char *list = sm->options->routing_engine ? sm->options->routing_engine : "";
	g_auto(GStrv) names = g_strsplit_set(list, ", ", -1);
	GArray *attempts = g_array_new(FALSE, FALSE, sizeof(struct attempt));
	bool fallback = true, named = false;

	for (unsigned int i = 0; names[i]; i++) {
		add_attempt(attempts, names[i], false);
		if (!strcmp(names[i], "no_fallback"))
			fallback = false;
		else if (*names[i])
			named = true;
	}
	if (fallback && named)
		add_attempt(attempts, "updn", false);
	if (fallback && named && sm->options->root_guid_file)
		add_attempt(attempts, "updn", true);
	if (fallback)
		add_attempt(attempts, "minhop", false);
	return attempts;
}

/* The result is the same on any number; on small subnets more than one would not pay. */
static unsigned int threads_for(const struct sm *sm)
{
	if (sm->options->single_thread || sm->fabric->n_switches < THREADS_PAY)
		return 1;
	return CLAMP(g_get_num_processors(), 1, THREADS_MAX);
}

/* Into the log when it is new; heavy sweeps find the same again and again. */
static void say_once(struct sm *sm, char **told, char *text)
{
	if (text && g_strcmp0(*told, text))
		log_info(sm->log, "%s", text);
	g_free(*told);
	*told = text;
}

static void tell_credit_loop(struct sm *sm, const struct routing *routing, const char *witness)
{
	if (witness && !sm->credit_loop)
		log_error(sm->log,
			  "routes of %s have a credit loop, the fabric can deadlock under load "
			  "(routing engine updn has none): %s", routing->engine, witness);
	else if (!witness && sm->credit_loop)
		log_info(sm->log, "routes of %s have no credit loop", routing->engine);
	g_free(sm->credit_loop);
	sm->credit_loop = g_strdup(witness);
}

static void tell_routing(struct sm *sm, const struct routing *routing, enum route_way way,
			 const struct route_verdict *verdict)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (routing->note)
		g_string_append_printf(text, "routing engine %s: %s", routing->engine,
				       routing->note);
	if (verdict->discarded)
		g_string_append_printf(text,
				       "%s%s: %" G_GUINT64_FORMAT " paths to or from switches%s "
				       "would close a credit loop and are left out",
				       text->len ? "; " : "", routing->engine, verdict->discarded,
				       routing->aside ? ", or as the engine told," : "");
	if (way > ROUTE_REPAIRED || verdict->discarded)
		say_once(sm, &sm->told_note, text->len ? g_strdup(text->str) : NULL);
	log_verbose(sm->log, "%s: at most %u hops, %" G_GUINT64_FORMAT " paths verified",
		    routing->engine, verdict->max_hops, verdict->paths);
}

/* Whether this table may reach the switches; if not, why. */
static bool judge(struct sm *sm, const struct routing *routing, enum route_way way, char **why)
{
	struct route_verdict verdict;
	bool good = route_verify_by(sm->fabric, routing, threads_for(sm), &verdict);
	const char *witness = verdict.witness ? verdict.witness : "no witness";

	if (good) {
		tell_credit_loop(sm, routing, verdict.acyclic ? NULL : witness);
		tell_routing(sm, routing, way, &verdict);
	} else {
		*why = g_strdup_printf("its routes are wrong and not used: %s", witness);
	}
	route_verdict_clear(&verdict);
	return good;
}

/* Whether options and files said the same when the older routes were made. */
static bool same_choice(const struct sm *sm, bool find_roots)
{
	const struct options *now = sm->options, *old = sm->routed_for;

	return old && sm->route_files == sm->routed_by && sm->roots_found == find_roots &&
	       now->scatter_ports == old->scatter_ports &&
	       now->guid_routing_order_no_scatter == old->guid_routing_order_no_scatter &&
	       now->port_shifting == old->port_shifting &&
	       now->port_profile_switch_nodes == old->port_profile_switch_nodes &&
	       now->max_reverse_hops == old->max_reverse_hops &&
	       now->quasi_ftree_indexing == old->quasi_ftree_indexing &&
	       now->connect_roots == old->connect_roots;
}

static void take_routing(struct sm *sm, struct routing *routing, bool find_roots)
{
	routing_unref(sm->routing);
	route_files_unref(sm->routed_by);
	options_unref(sm->routed_for);
	sm->routed_by = sm->route_files ? route_files_ref(sm->route_files) : NULL;
	sm->routed_for = options_ref(sm->options);
	sm->routing = routing;
	sm->roots_found = find_roots;
	sm->reroute = false;
}

/* The tables that the engine makes out of these; NULL and why if it cannot, or they are wrong. */
static struct routing *renew(struct sm *sm, const struct attempt *attempt,
			     const struct routing *old, enum route_way *way, char **why)
{
	static const char *const ways[] = {
		[ROUTE_SAME] = "as they were",
		[ROUTE_REPAIRED] = "repaired",
		[ROUTE_KEPT] = "computed, and what was good before kept",
		[ROUTE_ANEW] = "computed",
	};
	g_autoptr(GError) error = NULL;
	struct route_input input;
	struct routing *routing;

	route_files_input(sm->route_files, sm->options, &input);
	input.threads = threads_for(sm);
	if (attempt->find_roots)
		input.n_roots = 0;
	routing = routing_renew(attempt->engine, sm->fabric, &input, old, way, &error);
	if (!routing) {
		*why = g_strdup(error->message);
		return NULL;
	}
	log_verbose(sm->log, "%s: routes %s", routing->engine, ways[*way]);
	if (judge(sm, routing, *way, why))
		return routing;
	routing_unref(routing);
	return NULL;
}

/*
 * The engine's tables if they may be programmed, or NULL and why. The operator's reroute starts
 * afresh.
 */
static struct routing *compute(struct sm *sm, const struct attempt *attempt, char **why)
{
	bool afresh = sm->reroute || !same_choice(sm, attempt->find_roots);
	g_autofree char *first = NULL;
	struct routing *routing;
	enum route_way way;

	routing = renew(sm, attempt, afresh ? NULL : sm->routing, &way, &first);
	if (!routing && way != ROUTE_ANEW) {
		log_error(sm->log, "routing engine %s starts afresh: %s",
			  attempt->engine->name, first);
		g_clear_pointer(&first, g_free);
		routing = renew(sm, attempt, NULL, &way, &first);
	}
	if (!routing)
		*why = g_strdup_printf("%s: %s", attempt->engine->name, first);
	return routing;
}

static void use_files(struct sm *sm, struct route_files *files)
{
	route_files_unref(sm->route_files);
	sm->route_files = files ? route_files_ref(files) : NULL;
}

/*
 * If the engine in use can do nothing with what the files say since they were read again, then it
 * goes on with what they said before: another engine would change all routes for a mistake in a
 * file. Never a mixture of both.
 */
static struct routing *compute_or_hold(struct sm *sm, const struct attempt *attempt,
				       char **why, bool *held)
{
	struct route_files *now = sm->route_files;
	struct routing *routing = compute(sm, attempt, why);
	g_autofree char *again = NULL;

	*held = false;
	if (routing || !sm->routing || !sm->routed_by || sm->routed_by == now ||
	    strcmp(sm->routing->engine, attempt->engine->name) != 0 ||
	    sm->roots_found != attempt->find_roots)
		return routing;
	route_files_ref(now);
	use_files(sm, sm->routed_by);
	routing = compute(sm, attempt, &again);
	*held = routing != NULL;
	if (!routing)
		use_files(sm, now);
	route_files_unref(now);
	return routing;
}

/* Files that say the same as those that the routes were made by count as these. */
static void take_files(struct sm *sm)
{
	struct route_files *files = slot_take(&sm->context->route_files);

	if (files && sm->routed_by && route_files_same(files, sm->routed_by))
		use_files(sm, sm->routed_by);
	else
		use_files(sm, files);
	route_files_unref(files);
}

static void tell_strangers(struct sm *sm)
{
	struct route_input input;

	route_files_input(sm->route_files, sm->options, &input);
	say_once(sm, &sm->told_strangers, strangers_tell(sm->fabric, &input));
}

/* Takes both texts. Said when they or the engine in use change; status shows them always. */
static void tell_failures(struct sm *sm, const struct routing *routing, bool find_roots,
			  char *fallback, char *held)
{
	bool same = sm->routing && routing && !strcmp(sm->routing->engine, routing->engine) &&
		    sm->roots_found == find_roots && !g_strcmp0(fallback, sm->fallback);

	if (fallback && routing) {
		log_at(sm->log, same ? LOG_VERBOSE : LOG_ERROR, "routing engine %s", fallback);
		log_at(sm->log, same ? LOG_VERBOSE : LOG_ERROR,
		       "falling back to routing engine %s%s", routing->engine,
		       find_roots ? " with roots that it finds" : "");
	}
	if (!fallback && sm->fallback)
		log_info(sm->log, "routing engine %s, first of the list, is in use again",
			 routing->engine);
	if (held && g_strcmp0(held, sm->held))
		log_error(sm->log, "what the files of the routing options said before stays: %s",
			  held);
	if (!held && sm->held)
		log_info(sm->log, "the files of the routing options are in use as they are now");
	g_free(sm->fallback);
	sm->fallback = fallback;
	g_free(sm->held);
	sm->held = held;
}

enum step_result step_route(struct sm *sm)
{
	g_autoptr(GArray) attempts = engines_to_try(sm);
	GString *failures = g_string_new(NULL);
	struct routing *routing = NULL;
	char *held_for = NULL;
	bool held = false, find_roots = false;

	take_files(sm);
	for (guint i = 0; i < attempts->len && !routing; i++) {
		const struct attempt *attempt = &g_array_index(attempts, struct attempt, i);
		char *why = NULL;

		find_roots = attempt->find_roots;
		routing = compute_or_hold(sm, attempt, &why, &held);
		if (held)
			held_for = g_steal_pointer(&why);
		else if (!routing)
			g_string_append_printf(failures, "%s%s", failures->len ? "; " : "", why);
		g_free(why);
	}
	tell_strangers(sm);
	tell_failures(sm, routing, find_roots, g_string_free(failures, !failures->len), held_for);
	if (!routing) {
		sm_problem(sm, "no routing engine that may be used can route this subnet: %s",
			   sm->fallback ? sm->fallback : "none is named");
		return STEP_ABORT;
	}
	take_routing(sm, routing, find_roots);
	return STEP_NEXT;
}

/* Whether routing and partitions made for one of them mean the same in the other. */
static bool same_shape(const struct fabric *a, const struct fabric *b)
{
	if (a && b && a->shape == b->shape)
		return true;
	if (!a || !b || a->n_nodes != b->n_nodes || a->n_ports != b->n_ports ||
	    a->sm_port != b->sm_port)
		return false;
	for (uint32_t i = 0; i < a->n_nodes; i++)
		if (a->nodes[i].guid != b->nodes[i].guid)
			return false;
	return true;
}

/*
 * The ports as they are now, ACTIVE; if one was lost since the routes were computed, what stands
 * behind it is missing or elsewhere in a picture taken now, and the old one goes with the routes.
 */
static void freeze_again(struct sm *sm)
{
	struct fabric *now;

	if (builder_is_frozen(sm->builder, sm->fabric) && sm->sweep.kind != SWEEP_KIND_REROUTE)
		return; /* the picture of this sweep is not old yet */
	now = builder_freeze_changes(sm->builder);
	if (same_shape(sm->fabric, now)) {
		fabric_unref(sm->fabric);
		sm->fabric = now;
		return;
	}
	fabric_unref(now);
	sm_problem(sm, "the subnet changed while it was configured");
}

enum step_result step_publish(struct sm *sm)
{
	struct subnet *subnet;

	freeze_again(sm);
	subnet = subnet_new(sm->fabric, sm->routing, sm->partitions, sm->options);
	subnet->route_files = sm->routed_by ? route_files_ref(sm->routed_by) : NULL;
	subnet->roots_found = sm->roots_found;
	subnet->errors = sm->sweep.errors != 0;
	subnet->credit_loop = g_strdup(sm->credit_loop);
	subnet->fallback = g_strdup(sm->fallback);
	subnet->held = g_strdup(sm->held);
	slot_publish(&sm->context->subnet, subnet);
	event_emit(&sm->context->bus, EVENT_SUBNET_PUBLISHED, sm->fabric->generation);
	guid2lid_save(sm->guid2lid, sm->options->fsync_high_avail_files);
	return STEP_NEXT;
}

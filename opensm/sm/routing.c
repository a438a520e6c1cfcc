// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the builder to values: the frozen fabric, its routing, and what is published of them.
 */
#include <string.h>

#include "policy/route_files.h"
#include "sm/sm_private.h"

#define THREADS_PAY 256 /* switches from which on routes are computed by several threads */
#define THREADS_MAX 8

static void freeze(struct sm *sm)
{
	fabric_unref(sm->fabric);
	sm->fabric = builder_freeze(sm->builder);
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
	const struct fabric *fabric = sm->fabric;

	return builder_find(sm->builder, fabric->nodes[fabric->switches[sw].node].guid);
}

static void add_engine(GPtrArray *engines, const char *name)
{
	gpointer engine = (gpointer)route_find(name);

	if (engine && !g_ptr_array_find(engines, engine, NULL))
		g_ptr_array_add(engines, engine);
}

/*
 * The engines to try in order: those of the list that exist (others were named to the user at
 * start). If the list does not forbid it, then updn, which keeps any fabric free of deadlock, and
 * as a last resort minhop, which is also what an empty list means.
 */
static GPtrArray *engines_to_try(const struct sm *sm)
{
	const char *list = sm->options->routing_engine ? sm->options->routing_engine : "";
	g_auto(GStrv) names = g_strsplit_set(list, ", ", -1);
	GPtrArray *engines = g_ptr_array_new();
	bool fallback = true, named = false;

	for (unsigned int i = 0; names[i]; i++) {
		add_engine(engines, names[i]);
		if (!strcmp(names[i], "no_fallback"))
			fallback = false;
		else if (*names[i])
			named = true;
	}
	if (fallback && named)
		add_engine(engines, "updn");
	if (fallback)
		add_engine(engines, "minhop");
	return engines;
}

/* The result is the same on any number; on small subnets more than one would not pay. */
static unsigned int threads_for(const struct sm *sm)
{
	if (sm->options->single_thread || sm->fabric->n_switches < THREADS_PAY)
		return 1;
	return CLAMP(g_get_num_processors(), 1, THREADS_MAX);
}

/* Whether this table may reach the switches; says so when it can deadlock. */
static bool judge(struct sm *sm, const struct routing *routing)
{
	struct route_verdict verdict;
	bool good = route_verify_by(sm->fabric, routing, threads_for(sm), &verdict);

	if (!good)
		log_error(sm->log, "routes of %s are wrong and not used: %s", routing->engine,
			  verdict.witness ? verdict.witness : "no witness");
	else if (!verdict.acyclic && !sm->credit_loop)
		log_error(sm->log,
			  "routes of %s have a credit loop, the fabric can deadlock under load: %s",
			  routing->engine, verdict.witness ? verdict.witness : "no witness");
	if (good) {
		g_free(sm->credit_loop);
		sm->credit_loop = verdict.acyclic ? NULL : g_strdup(verdict.witness);
	}
	log_verbose(sm->log, "%s: at most %u hops, %" G_GUINT64_FORMAT " paths verified",
		    routing->engine, verdict.max_hops, verdict.paths);
	if (good && verdict.discarded)
		log_info(sm->log,
			 "%s: %" G_GUINT64_FORMAT " paths to or from switches%s would close a "
			 "credit loop and are left out",
			 routing->engine, verdict.discarded,
			 routing->aside ? ", or as the engine told," : "");
	route_verdict_clear(&verdict);
	return good;
}

/* Whether options and files said the same when the older routes were made. */
static bool same_choice(const struct sm *sm)
{
	const struct options *now = sm->options, *old = sm->routed_for;

	return old && sm->route_files == sm->routed_by &&
	       now->scatter_ports == old->scatter_ports &&
	       now->guid_routing_order_no_scatter == old->guid_routing_order_no_scatter &&
	       now->port_shifting == old->port_shifting &&
	       now->port_profile_switch_nodes == old->port_profile_switch_nodes &&
	       now->max_reverse_hops == old->max_reverse_hops &&
	       now->quasi_ftree_indexing == old->quasi_ftree_indexing &&
	       now->connect_roots == old->connect_roots;
}

static void take_routing(struct sm *sm, struct routing *routing)
{
	routing_unref(sm->routing);
	route_files_unref(sm->routed_by);
	options_unref(sm->routed_for);
	sm->routed_by = sm->route_files ? route_files_ref(sm->route_files) : NULL;
	sm->routed_for = options_ref(sm->options);
	sm->routing = routing;
	sm->reroute = false;
}

/* The tables that the engine makes out of these; NULL if it cannot, or if they are wrong. */
static struct routing *renew(struct sm *sm, const struct route_engine *engine,
			     const struct routing *old, enum route_way *way, GString *failures)
{
	static const char *const ways[] = {
		[ROUTE_REPAIRED] = "repaired",
		[ROUTE_KEPT] = "computed, and what was good before kept",
		[ROUTE_ANEW] = "computed",
	};
	g_autoptr(GError) error = NULL;
	struct route_input input;
	struct routing *routing;

	route_files_input(sm->route_files, sm->options, &input);
	input.threads = threads_for(sm);
	routing = routing_renew(engine, sm->fabric, &input, old, way, &error);
	if (!routing) {
		log_error(sm->log, "routing engine %s: %s", engine->name, error->message);
		g_string_append_printf(failures, "%s%s: %s", failures->len ? "; " : "",
				       engine->name, error->message);
		return NULL;
	}
	if (routing->note && *way != ROUTE_REPAIRED)
		log_info(sm->log, "routing engine %s: %s", engine->name, routing->note);
	log_verbose(sm->log, "%s: routes %s", engine->name, ways[*way]);
	if (judge(sm, routing))
		return routing;
	routing_unref(routing);
	if (*way == ROUTE_ANEW)
		g_string_append_printf(failures, "%s%s: its routes were wrong",
				       failures->len ? "; " : "", engine->name);
	return NULL;
}

/* The engine's tables if they may be programmed, or NULL. The operator's reroute starts afresh. */
static struct routing *compute(struct sm *sm, const struct route_engine *engine, GString *failures)
{
	bool afresh = sm->reroute || !same_choice(sm);
	struct routing *routing;
	enum route_way way;

	routing = renew(sm, engine, afresh ? NULL : sm->routing, &way, failures);
	if (!routing && way != ROUTE_ANEW)
		routing = renew(sm, engine, NULL, &way, failures);
	return routing;
}

enum step_result step_route(struct sm *sm)
{
	g_autoptr(GPtrArray) engines = engines_to_try(sm);
	GString *failures = g_string_new(NULL);
	struct routing *routing = NULL;

	route_files_unref(sm->route_files);
	sm->route_files = slot_take(&sm->context->route_files);
	for (guint i = 0; i < engines->len && !routing; i++) {
		const struct route_engine *engine = engines->pdata[i];

		routing = compute(sm, engine, failures);
		if (routing && i)
			log_error(sm->log, "falling back to routing engine %s", engine->name);
	}
	g_free(sm->fallback);
	sm->fallback = g_string_free(failures, !failures->len);
	if (!routing) {
		sm_problem(sm, "no routing engine that may be used can route this subnet");
		return STEP_ABORT;
	}
	take_routing(sm, routing);
	return STEP_NEXT;
}

/* Whether routing and partitions made for one of them mean the same in the other. */
static bool same_shape(const struct fabric *a, const struct fabric *b)
{
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
	struct fabric *now = builder_freeze(sm->builder);

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
	subnet->errors = sm->sweep.errors != 0;
	subnet->credit_loop = g_strdup(sm->credit_loop);
	subnet->fallback = g_strdup(sm->fallback);
	slot_publish(&sm->context->subnet, subnet);
	event_emit(&sm->context->bus, EVENT_SUBNET_PUBLISHED, sm->fabric->generation);
	guid2lid_save(sm->guid2lid, sm->options->fsync_high_avail_files);
	return STEP_NEXT;
}

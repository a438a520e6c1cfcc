// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From the builder to values: the frozen fabric, its routing, and what is published of them.
 *
 * Routes are computed and verified in the pool, on values that do not change: meanwhile the sm
 * actor continues to answer traps and SMInfo. The job carries the number of its sweep; if that has
 * been cancelled by the time it comes back, its result is discarded.
 */
#include <inttypes.h>
#include <string.h>

#include "complib/memory.h"
#include "policy/files/route_files.h"
#include "policy/files/ties.h"
#include "policy/files/unknown_guids.h"
#include "policy/partition/demand.h"
#include "route/graph/watch.h"
#include "route/memory.h"
#include "route/registry.h"
#include "route/renew/renew.h"
#include "route/transition/change_plan.h"
#include "route/transition/fixed.h"
#include "route/value/base.h"
#include "route/value/fingerprint.h"
#include "route/value/lanes.h"
#include "route/value/told.h"
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/other_sm.h"
#include "sm/forward/forward.h"
#include "sm/forward/held.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/takeover/replicate.h"
#include "sm/write/write.h"
#include "subnet/small_tables.h"

#define THREADS_PAY 256 /* from this many switches on several threads compute routes */
#define THREADS_MAX 8
#define SLOW_NS (10 * NS_PER_S) /* after which it is said how far a computation has come */

/* The inputs of the routes in use, and what has been logged about them. */
struct choice {
	struct route_files *files; /* NULL: none */
	struct options *options;
	bool roots_found; /* the roots were not those that the files name */
};

struct routes {
	struct sm *sm;
	struct route_watch *watch; /* of the computation under way; NULL: none */
	struct timer slow;	   /* until it is said that it takes long */
	struct choice used;
	struct partitions *minded; /* partitions that the routes in use respect; NULL: none */
	bool anew;		   /* the operator requested a new computation, which is pending */
	struct route_job *job;	   /* finished, waiting to be taken */
	char *credit_loop, *fallback, *held; /* as in struct subnet */
	char *exposed;			     /* as in struct subnet */
	bool exposed_lasts;		     /* for longer than the sweep that made the change */
	bool cyclic; /* switches may hold parts of routes that had a credit loop */
	bool mapping; /* SL2VL tables may be partly those of the routing before */
	bool only_switches;
	char *told_note, *told_unknown; /* what was last logged of routes and files */
	char **small_tables;		/* as of small_tables_tell(), as last logged */
	uint32_t n_small, n_harmful;
};

/* An engine as it is to be tried. */
struct attempt {
	const struct route_engine *engine;
	bool find_roots; /* ignoring root_guid_file */
};

/* A computation in the pool. */
struct route_job {
	struct message message;
	struct sm *sm;
	uint64_t serial;
	struct route_watch *watch;
	struct log *log;
	struct fabric *fabric;
	struct choice now; /* roots_found: of the current attempt */
	struct choice used;
	struct partitions *partitions; /* that routes must respect; NULL: none */
	struct route_demand *demand;   /* of these, if routes must respect it */
	struct route_ties *ties;       /* the ties of the files in use */
	struct routing *old;
	bool held;	     /* old is what switches hold, whichever SM wrote it */
	struct held *tables; /* what switches hold, even if old differs; NULL: unknown */
	bool cyclic;	     /* as in struct routes */
	bool anew;
	GArray *attempts;

	struct routing *routing;     /* result; NULL: no engine succeeded */
	struct route_change_plan plan; /* stages: NULL: switches are written at once */
	bool mapping;		       /* as in struct routes */
	enum route_way way;
	struct route_verdict verdict;
	GString *failures; /* of engines tried before */
	char *held_for;	   /* why the previous files were used; NULL: they were not */
};

static void choice_clear(struct choice *choice)
{
	route_files_unref(choice->files);
	options_unref(choice->options);
}

static struct choice choice_copy(const struct choice *from)
{
	return (struct choice){
		.files = from->files ? route_files_ref(from->files) : NULL,
		.options = from->options ? options_ref(from->options) : NULL,
		.roots_found = from->roots_found,
	};
}

static void job_free(struct route_job *job)
{
	route_watch_unref(job->watch);
	fabric_unref(job->fabric);
	choice_clear(&job->now);
	choice_clear(&job->used);
	demand_free(job->demand);
	ties_free(job->ties);
	partitions_unref(job->partitions);
	routing_unref(job->old);
	route_change_plan_clear(&job->plan);
	held_free(job->tables);
	routing_unref(job->routing);
	route_verdict_clear(&job->verdict);
	g_array_unref(job->attempts);
	g_string_free(job->failures, TRUE);
	g_free(job->held_for);
	g_free(job);
}

/* ---- the computation under way ---- */

static void on_slow(struct timer *timer)
{
	struct routes *routes = container_of(timer, struct routes, slow);
	struct sm *sm = routes->sm;
	g_autofree char *text = route_watch_text(routes->watch, actor_now(sm->actor));

	log_info(sm->log, "still computing %s", text);
	timer_start(&routes->slow, SLOW_NS);
}

static struct route_watch *watch_begin(struct sm *sm)
{
	struct routes *routes = sm->routes;

	routes->watch = route_watch_new(actor_now(sm->actor));
	slot_publish(&sm->context->route_watch, route_watch_ref(routes->watch));
	timer_start(&routes->slow, SLOW_NS);
	return route_watch_ref(routes->watch);
}

static void watch_end(struct routes *routes)
{
	if (!routes->watch)
		return;
	timer_stop(&routes->slow);
	slot_publish(&routes->sm->context->route_watch, NULL);
	g_clear_pointer(&routes->watch, route_watch_unref);
}

void routes_cancel(struct sm *sm)
{
	route_watch_cancel(sm->routes->watch);
	watch_end(sm->routes);
}

struct routes *routes_new(struct sm *sm)
{
	struct routes *routes = g_new0(struct routes, 1);

	routes->sm = sm;
	timer_init(&routes->slow, sm->actor, on_slow);
	return routes;
}

void routes_free(struct routes *routes)
{
	watch_end(routes);
	choice_clear(&routes->used);
	partitions_unref(routes->minded);
	g_clear_pointer(&routes->job, job_free);
	g_free(routes->credit_loop);
	g_free(routes->exposed);
	g_free(routes->fallback);
	g_free(routes->held);
	g_free(routes->told_note);
	g_free(routes->told_unknown);
	g_strfreev(routes->small_tables);
	g_free(routes);
}

const struct partitions *routes_minded(const struct sm *sm)
{
	return sm->routes->minded;
}

void routes_compute_anew(struct sm *sm)
{
	sm->routes->anew = true;
}

void routes_written(struct sm *sm)
{
	sm->routes->cyclic = sm->routes->credit_loop;
}

void routes_go_on_from(struct sm *sm, const struct subnet *subnet)
{
	const struct choice used = {subnet->route_files, subnet->options, subnet->roots_found};

	sm->routing = subnet->routing ? routing_ref(subnet->routing) : NULL;
	sm->routes->used = choice_copy(&used);
}

static void freeze(struct sm *sm)
{
	fabric_unref(sm->fabric);
	sm->fabric = builder_freeze_changes(sm->builder);
}

static bool leads_to_silence(const struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (builder_link_is_up(&node->ports[num]) && !node->ports[num].peer &&
		    node->ports[num].cable.state != CABLE_LOOPBACK)
			return true;
	return false;
}

/*
 * Behind a link that is up there may be unknown nodes that got LIDs before the SM was started:
 * tables are read and written up to the highest LinearFDBTop.
 */
static void mind_hidden_lids(struct sm *sm)
{
	const GPtrArray *switches = sm->builder->switches;
	uint16_t top = 0;
	bool any = false;

	for (guint i = 0; i < switches->len; i++) {
		const struct builder_node *node = switches->pdata[i];

		any |= leads_to_silence(node);
		top = MAX(top, MIN(node->switch_info.linear_fdb_top, builder_fdb_cap(node) - 1));
	}
	top = MIN(top, IBA_LID_UCAST_LAST);
	if (any)
		sm->builder->hidden_top = MAX(sm->builder->hidden_top, top);
}

enum step_result step_freeze(struct sm *sm)
{
	unsigned int known = g_hash_table_size(sm->builder->nodes);

	if (sm->sweep.kind == SWEEP_KIND_HEAVY)
		mind_hidden_lids(sm);
	held_up_decide(sm);
	freeze(sm);
	if (!sm->fabric)
		return STEP_ABORT;
	if (sm->fabric->n_nodes != known)
		sm_problem(sm, "%u nodes disappeared while the subnet was being read",
			   known - sm->fabric->n_nodes);
	return STEP_NEXT;
}

/* ---- in the pool ---- */

static void add_attempt(const struct sm *sm, GArray *attempts, const char *name, bool find_roots)
{
	struct attempt attempt = {route_registry_find(sm->context->engines, name), find_roots};

	for (guint i = 0; i < attempts->len; i++) {
		const struct attempt *other = &g_array_index(attempts, struct attempt, i);

		if (other->engine == attempt.engine && other->find_roots == find_roots)
			return;
	}
	if (attempt.engine)
		g_array_append_val(attempts, attempt);
}

/*
 * The engines to try, in order: those of the list that exist (the user was told of the others at
 * start). Unless the list forbids it, then updn, which keeps any fabric free of deadlock, if
 * necessary without the roots that the operator named; and as a last resort minhop, which is also
 * the meaning of an empty list.
 */
static GArray *engines_to_try(const struct sm *sm)
{
	const struct options *options = sm->options;
	const char *list = options->routing_engine ? options->routing_engine : "";
	g_auto(GStrv) names = g_strsplit_set(list, ", ", -1);
	GArray *attempts = g_array_new(FALSE, FALSE, sizeof(struct attempt));
	bool fallback = true, named = false;

	for (unsigned int i = 0; names[i]; i++) {
		add_attempt(sm, attempts, names[i], false);
		if (!strcmp(names[i], "no_fallback"))
			fallback = false;
		else if (*names[i])
			named = true;
	}
	if (fallback && named)
		add_attempt(sm, attempts, "updn", false);
	if (fallback && named && options->root_guid_file)
		add_attempt(sm, attempts, "updn", true);
	if (fallback)
		add_attempt(sm, attempts, "minhop", false);
	return attempts;
}

/* The result does not depend on their number; on small subnets more than one is not worth it. */
static unsigned int threads_for(const struct route_job *job)
{
	if (job->now.options->single_thread || job->fabric->n_switches < THREADS_PAY)
		return 1;
	return CLAMP(g_get_num_processors(), 1, THREADS_MAX);
}

/* Whether this table may reach the switches; if not, why. */
static bool judge(struct route_job *job, const struct routing *routing,
		  const struct route_input *input, char **why)
{
	route_verdict_clear(&job->verdict);
	if (route_verify_by(job->fabric, routing, input, &job->verdict))
		return true;
	if (route_is_cancelled(input->watch)) {
		*why = g_strdup("the proof of its routes takes longer than routing_timeout allows");
		return false;
	}
	*why = g_strdup_printf("its routes are invalid and are not used: %s",
			       job->verdict.witness ? job->verdict.witness : "no example");
	return false;
}

static void take_input(struct route_job *job, struct route_input *input)
{
	route_files_input(job->now.files, job->now.options, input);
	input->threads = threads_for(job);
	input->watch = job->watch;
	input->demand = job->demand;
	ties_free(job->ties);
	input->ties = job->ties = ties_make(route_files_ties(job->now.files), job->partitions);
	if (job->now.roots_found)
		input->n_roots = 0;
}

/* Whether options and files were the same when these routes were made. */
static bool is_made_of(const struct routing *old, const struct route_engine *engine,
		       const struct route_input *input)
{
	g_autofree char *word = fingerprint_for(engine, input);

	return old && !g_strcmp0(fingerprint_of_routing(old), word);
}

/*
 * The tables that the engine computes from these; NULL and the reason if it fails or they are
 * wrong.
 */
static struct routing *renew(struct route_job *job, const struct route_engine *engine,
			     const struct routing *old, char **why)
{
	static const char *const ways[] = {
		[ROUTE_SAME] = "unchanged",
		[ROUTE_REPAIRED] = "repaired",
		[ROUTE_STICKY] = "computed, keeping valid old routes",
		[ROUTE_ANEW] = "computed",
	};
	g_autoptr(GError) error = NULL;
	struct route_input input;
	struct routing *routing;

	take_input(job, &input);
	input.old = job->anew ? NULL : old;
	if (job->anew || !(job->held || is_made_of(old, engine, &input)))
		old = NULL;
	routing = routing_renew(engine, job->fabric, &input, old, &job->way, &error);
	if (!routing) {
		*why = g_strdup(error->message);
		return NULL;
	}
	log_verbose(job->log, "%s: routes %s", routing->engine->name, ways[job->way]);
	if (judge(job, routing, &input, why))
		return routing;
	routing_unref(routing);
	return NULL;
}

/*
 * The engine's tables if they may be programmed, or NULL and the reason. The operator's reroute
 * ignores the previous routes.
 */
static struct routing *compute(struct route_job *job, const struct route_engine *engine, char **why)
{
	g_autofree char *first = NULL;
	const struct routing *old = job->old;
	struct routing *routing = renew(job, engine, old, &first);

	if (!routing && !route_is_cancelled(job->watch) &&
	    (job->way != ROUTE_ANEW || (old && old->maker == engine))) {
		log_error(job->log, "routing engine %s starts afresh: %s", engine->name, first);
		g_clear_pointer(&first, g_free);
		routing = renew(job, engine, NULL, &first);
	}
	if (!routing)
		*why = g_strdup_printf("%s: %s", engine->name, first);
	return routing;
}

#define MB (UINT64_C(1) << 20)

static void add_failure(struct route_job *job, const char *why)
{
	g_string_append_printf(job->failures, "%s%s", job->failures->len ? "; " : "", why);
}

/*
 * The last engine has no limits, as late routes, at a risk, are better than none; nor has updn, as
 * what comes after it may deadlock.
 */
static bool is_unlimited(const struct route_job *job, guint i)
{
	return i + 1 == job->attempts->len ||
	       g_array_index(job->attempts, struct attempt, i).engine == route_find("updn");
}

/* Whether an engine may begin, by the memory that it needs. */
static bool is_small_enough(struct route_job *job, const struct route_engine *engine,
			    bool unlimited)
{
	uint64_t limit = job->now.options->routing_memory * MB, needs;
	g_autofree char *why = NULL;
	struct route_input input;

	if (!limit)
		limit = memory_of_machine() / 2;
	take_input(job, &input);
	needs = route_memory(engine, job->fabric, &input);
	log_verbose(job->log, "%s: routes need at most %" PRIu64 " MB of memory", engine->name,
		    needs / MB + 1);
	if (needs <= limit)
		return true;
	why = g_strdup_printf("%s: it may need %" PRIu64 " MB of memory, and routing_memory allows "
			      "%" PRIu64 " MB", engine->name, needs / MB + 1, limit / MB);
	if (unlimited)
		log_error(job->log, "%s; it is used anyway", why);
	else
		add_failure(job, why);
	return unlimited;
}

static void use_files(struct route_job *job, struct route_files *files)
{
	struct route_files *before = job->now.files;

	job->now.files = files ? route_files_ref(files) : NULL;
	route_files_unref(before);
}

/* Whether that engine made the routes in use, from files that have changed since. */
static bool can_hold(const struct route_job *job, const struct route_engine *engine)
{
	return job->old && job->used.files && job->used.files != job->now.files &&
	       job->old->engine == engine && job->used.roots_found == job->now.roots_found;
}

/*
 * If the engine in use fails with the files as they were last read, it continues with their
 * previous contents: another engine would change all routes because of a mistake in a file. The two
 * are never mixed.
 */
static struct routing *compute_or_hold(struct route_job *job, const struct route_engine *engine)
{
	struct route_files *now = job->now.files ? route_files_ref(job->now.files) : NULL;
	char *why = NULL, *again = NULL;
	struct routing *routing = compute(job, engine, &why);

	if (!routing && !route_is_cancelled(job->watch) && can_hold(job, engine)) {
		use_files(job, job->used.files);
		routing = compute(job, engine, &again);
		if (routing)
			job->held_for = g_steal_pointer(&why);
		else
			use_files(job, now);
	}
	if (!routing)
		add_failure(job, why);
	route_files_unref(now);
	g_free(why);
	g_free(again);
	return routing;
}

/*
 * Switches that do not answer keep their tables: the routes of the others take that into account.
 * Unknown entries count as if they discarded packets.
 */
static void go_by_silent(struct route_job *job)
{
	const struct fabric *fabric = job->fabric;
	g_autofree bool *silent = g_new0(bool, fabric->n_switches + 1);
	struct route_verdict verdict;
	struct route_input input;
	struct routing *fixed;

	if (!job->routing || !job->tables)
		return;
	for (uint32_t sw = 0; sw < fabric->n_switches; sw++)
		silent[sw] = fabric->nodes[fabric->switches[sw].node].silent;
	fixed = routing_fix(fabric, job->routing, held_rows(job->tables, job->routing->n_blocks),
			    silent, job->watch);
	if (fixed != job->routing) {
		take_input(job, &input);
		route_verify_by(fabric, fixed, &input, &verdict);
		if (verdict.complete && verdict.loop_free) {
			route_verdict_clear(&job->verdict);
			job->verdict = verdict;
		} else {
			route_verdict_clear(&verdict);
		}
	}
	routing_unref(job->routing);
	job->routing = fixed;
}

static void plan_stages(struct route_job *job)
{
	struct route_change change = {
		.old = job->old,
		.new = job->routing,
		.verdict = &job->verdict,
		.cyclic = job->cyclic,
		.map_unsure = job->mapping,
		.watch = job->watch,
	};
	const struct route_stages *stages;

	if (!job->routing)
		return;
	if (job->tables)
		change.held = held_rows(job->tables, job->routing->n_blocks);
	route_change_plan(&change, &job->plan);
	if (job->plan.exposed_lasts) /* the operator is told so until routes need no lanes */
		routing_forget_told(job->routing);
	stages = job->plan.stages;
	if (!stages || stages->n > 1 || stages->first_linked < stages->n || job->plan.maps_first)
		return;
	g_clear_pointer(&job->plan.stages, route_stages_free);
	g_clear_pointer(&job->tables, held_free);
}

/* Runs on the sm actor again. */
static void on_computed(struct message *message)
{
	struct route_job *job = (struct route_job *)message;
	struct sm *sm = job->sm;

	if (job->serial != sm->sweep.serial) {
		job_free(job);
		return;
	}
	watch_end(sm->routes);
	g_clear_pointer(&sm->routes->job, job_free);
	sm->routes->job = job;
	sm->sweep.pending--;
	sweep_advance(sm);
}

static void run_job(struct message *message)
{
	struct route_job *job = (struct route_job *)message;

	if (job->now.options->partition_aware_routing)
		job->demand = demand_of_partitions(job->partitions);
	for (guint i = 0; i < job->attempts->len && !job->routing; i++) {
		const struct attempt *attempt = &g_array_index(job->attempts, struct attempt, i);
		bool unlimited = is_unlimited(job, i);

		route_watch_limit(job->watch, unlimited ? 0 : job->now.options->routing_timeout);
		if (route_is_cancelled(job->watch))
			break;
		job->now.roots_found = attempt->find_roots;
		if (is_small_enough(job, attempt->engine, unlimited))
			job->routing = compute_or_hold(job, attempt->engine);
	}
	/* What follows is bounded, and belongs to no engine. */
	route_watch_limit(job->watch, 0);
	if (job->routing)
		routing_set_told(job->routing, job->old);
	go_by_silent(job);
	plan_stages(job);
	job->message.run = on_computed;
	actor_post(job->sm->actor, &job->message);
}

static void drop_job(struct message *message)
{
	job_free((struct route_job *)message);
}

/* ---- on the sm actor ---- */

/* Files with the same contents as those of the routes in use are replaced by these. */
static struct route_files *files_now(struct sm *sm)
{
	struct route_files *files = slot_take(&sm->context->route_files);
	struct route_files *used = sm->routes->used.files;

	if (!files || !used || !route_files_same(files, used))
		return files;
	route_files_unref(files);
	return route_files_ref(used);
}

/* What is known of the tables that switches hold; NULL if nothing is. */
static struct routing *held_tables(struct sm *sm)
{
	const size_t block_bytes = sizeof(struct iba_linear_forwarding_table);
	struct routing *held = NULL;

	for (uint32_t i = 0; i < sm->fabric->n_switches; i++) {
		const struct builder_node *node = sm_switch(sm, i);

		for (uint32_t block = 0; block <= sm->fabric->max_lid / block_bytes; block++) {
			const void *is = trust_get(node, &node->lft, block, block_bytes);

			if (is && !held)
				held = routing_new_held(sm->fabric);
			if (is)
				memcpy(held->lft[i] + block * block_bytes, is, block_bytes);
		}
	}
	if (held) {
		path_sls_hold(sm->store.path_sls, sm->fabric, held);
		program_see(sm, held);
	}
	return held;
}

enum step_result step_route(struct sm *sm)
{
	struct route_job *job;

	if (lfts_are_unread(sm))
		return STEP_HEAVY;
	job = g_new0(struct route_job, 1);
	job->sm = sm;
	job->serial = sm->sweep.serial;
	job->log = sm->log;
	job->fabric = fabric_ref(sm->fabric);
	job->now = (struct choice){.files = files_now(sm), .options = options_ref(sm->options)};
	job->used = choice_copy(&sm->routes->used);
	job->partitions = policy_partitions_for_routes(sm, job->now.files);
	job->held = !sm->routing;
	job->old = sm->routing ? routing_ref(routing_made(sm->routing)) : held_tables(sm);
	job->tables = sm->dry ? NULL : program_held(sm);
	job->cyclic = sm->routes->cyclic;
	job->mapping = sm->routes->mapping;
	job->anew = sm->routes->anew;
	job->attempts = engines_to_try(sm);
	job->failures = g_string_new(NULL);
	job->message.run = run_job;
	job->message.drop = drop_job;
	job->watch = watch_begin(sm);
	sm->sweep.pending++;
	pool_post(sm->context->routes, &job->message);
	return STEP_NEXT;
}

/* Logged when new; heavy sweeps find the same again and again. */
static void say_once(struct sm *sm, char **told, char *text)
{
	if (text && g_strcmp0(*told, text))
		log_info(sm->log, "%s", text);
	g_free(*told);
	*told = text;
}

static void tell_credit_loop(struct sm *sm, const struct routing *routing,
			     const struct route_verdict *verdict)
{
	struct routes *routes = sm->routes;
	const char *witness = verdict->witness ? verdict->witness : "no example";
	bool is_new = !routes->credit_loop || (routes->only_switches && !verdict->hosts_acyclic);

	if (!verdict->hosts_acyclic && is_new)
		log_error(sm->log,
			  "routes of %s have a credit loop: the fabric can deadlock under load "
			  "(routing engine updn avoids this): %s",
			  routing->engine->name, witness);
	else if (!verdict->acyclic && is_new)
		log_info(sm->log,
			 "WARNING: routes of %s have a credit loop through LIDs of switches only: "
			 "%s",
			 routing->engine->name, witness);
	else if (verdict->acyclic && routes->credit_loop)
		log_info(sm->log, "routes of %s have no credit loop", routing->engine->name);
	g_free(routes->credit_loop);
	routes->credit_loop = verdict->acyclic ? NULL : g_strdup(witness);
	routes->only_switches = verdict->hosts_acyclic;
}

static void tell_routing(struct sm *sm, const struct routing *routing,
			 const struct route_verdict *verdict)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (routing->note)
		g_string_append_printf(text, "routing engine %s: %s", routing->engine->name,
				       routing->note);
	if (verdict->discarded)
		g_string_append_printf(text,
				       "%s%s: %" G_GUINT64_FORMAT " paths to or from switches "
				       "would close a credit loop and are omitted",
				       text->len ? "; " : "", routing->engine->name,
				       verdict->discarded);
	say_once(sm, &sm->routes->told_note, text->len ? g_strdup(text->str) : NULL);
	log_verbose(sm->log, "%s: at most %u hops, %" G_GUINT64_FORMAT " paths verified",
		    routing->engine->name, verdict->max_hops, verdict->paths);
}

static void tell_stages(struct sm *sm, const struct route_stages *stages)
{
	g_autofree char *discards = NULL;
	const char *why;

	if (!stages || stages->n < 2)
		return;
	why = stages->budget_exceeded ? "a better order would take too long to find"
				      : "old and new paths together have a credit loop";
	if (stages->n_discarded)
		discards = g_strdup_printf(", %s%u LIDs discarded first, since %s",
					   stages->by_entries ? "some entries of " : "",
					   stages->n_discarded, why);
	log_info(sm->log,
		 "forwarding tables change in %u stages: %u LIDs in an order without "
		 "loops%s%s",
		 stages->n, stages->n_ordered, stages->only_loops ? "" : " and losses",
		 discards ? discards : "");
}

/*
 * Before it is done. Hosts that have not queried their paths since continue to use the old ones, so
 * this stays true for them until routes need no lanes.
 */
static void tell_exposed(struct sm *sm, struct route_job *job)
{
	struct routes *routes = sm->routes;

	if (job->plan.exposed)
		log_sys(sm->log, "WARNING: %s", job->plan.exposed);
	if (!job->plan.exposed && job->routing->lanes && routes->exposed_lasts)
		return;
	g_free(routes->exposed);
	routes->exposed = g_steal_pointer(&job->plan.exposed);
	routes->exposed_lasts = job->plan.exposed_lasts;
}

static void tell_unknown(struct sm *sm, const struct route_job *job)
{
	struct route_input input;

	route_files_input(job->now.files, job->now.options, &input);
	input.ties = job->ties;
	say_once(sm, &sm->routes->told_unknown, unknown_guids_tell(sm->fabric, &input));
}

static void tell_held(struct sm *sm, char *held)
{
	struct routes *routes = sm->routes;

	if (held && g_strcmp0(held, routes->held))
		log_error(sm->log, "the last usable routing files stay in effect: %s", held);
	if (!held && routes->held)
		log_info(sm->log, "the current routing files are in effect");
	g_free(routes->held);
	routes->held = held;
}

/* Each line is logged once while it is true; status always shows them. */
static void tell_small_tables(struct sm *sm, const struct routing *routing)
{
	struct routes *routes = sm->routes;
	uint32_t n;
	char **lines = small_tables_tell(sm->fabric, routing, &n, &routes->n_harmful);

	sm_log_new_lines(sm, routes->small_tables, lines);
	if (!lines && routes->small_tables)
		log_info(sm->log, "all switches can hold all LIDs in use");
	counter_add(&sm->context->counters, switches_small_lft, (uint64_t)n - routes->n_small);
	g_strfreev(routes->small_tables);
	routes->small_tables = lines;
	routes->n_small = n;
}

/* Logged when they or the engine in use change; status always shows them. */
static void tell_failures(struct sm *sm, const struct route_job *job)
{
	struct routes *routes = sm->routes;
	const struct routing *routing = job->routing;
	char *fallback = job->failures->len ? g_strdup(job->failures->str) : NULL;
	bool same = sm->routing && routing && sm->routing->engine == routing->engine &&
		    routes->used.roots_found == job->now.roots_found &&
		    !g_strcmp0(fallback, routes->fallback);

	if (fallback && routing) {
		log_at(sm->log, same ? LOG_VERBOSE : LOG_ERROR, "routing engine %s", fallback);
		log_at(sm->log, same ? LOG_VERBOSE : LOG_ERROR,
		       "falling back to routing engine %s%s", routing->engine->name,
		       job->now.roots_found ? " with roots that it chooses" : "");
	}
	if (!fallback && routes->fallback)
		log_info(sm->log, "routing engine %s, the first of the list, is in use again",
			 routing->engine->name);
	g_free(routes->fallback);
	routes->fallback = fallback;
}

/* The attempt's choice becomes the one in use. */
static void take_routing(struct sm *sm, struct route_job *job)
{
	routing_unref(sm->routing);
	sm->routing = g_steal_pointer(&job->routing);
	choice_clear(&sm->routes->used);
	sm->routes->used = job->now;
	job->now = (struct choice){0};
	partitions_unref(sm->routes->minded);
	sm->routes->minded = g_steal_pointer(&job->partitions);
	sm->routes->cyclic |= !job->verdict.acyclic;
	sm->routes->mapping |= job->plan.maps_first;
	sm->routes->anew = false;
}

enum step_result step_take_routes(struct sm *sm)
{
	struct route_job *job = g_steal_pointer(&sm->routes->job);
	const struct route_verdict *verdict = &job->verdict;
	bool good = job->routing != NULL;

	tell_unknown(sm, job);
	tell_failures(sm, job);
	tell_held(sm, g_steal_pointer(&job->held_for));
	if (good) {
		tell_credit_loop(sm, job->routing, verdict);
		tell_routing(sm, job->routing, verdict);
		tell_small_tables(sm, job->routing);
		tell_stages(sm, job->plan.stages);
		tell_exposed(sm, job);
		program_take_stages(sm, g_steal_pointer(&job->plan.stages),
				    g_steal_pointer(&job->tables), job->plan.maps_first);
		take_routing(sm, job);
	} else {
		sm_problem(sm, "none of the allowed routing engines can route this subnet: %s",
			   sm->routes->fallback ? sm->routes->fallback
						: "routing_engine names none");
	}
	job_free(job);
	return good ? STEP_NEXT : STEP_ABORT;
}

/*
 * The ports as they are now, ACTIVE; if one was lost since the routes were computed, the nodes
 * behind it are missing or elsewhere in a fabric frozen now, and the old one is kept together with
 * the routes.
 */
static void freeze_again(struct sm *sm)
{
	struct fabric *now;

	if (builder_is_frozen(sm->builder, sm->fabric) && sm->sweep.kind != SWEEP_KIND_REROUTE)
		return; /* the fabric of this sweep is still current */
	now = builder_freeze_changes(sm->builder);
	if (now && sm->fabric && sm->fabric->shape == now->shape) {
		fabric_unref(sm->fabric);
		sm->fabric = now;
		return;
	}
	fabric_unref(now);
	sm_problem(sm, "the subnet changed while it was being configured");
}

/* Before hosts are given them, as the next process must give them the same SLs. True: wait. */
static bool keep_path_sls(struct sm *sm)
{
	uint64_t before = path_sls_changes(sm->store.path_sls);

	if (sm->dry || !sm->routing || sm->sweep.round)
		return false;
	path_sls_save(sm->store.path_sls, routing_made(sm->routing), sm->store.writer,
		      sm->options->fsync_high_avail_files);
	return path_sls_changes(sm->store.path_sls) != before && disk_wait(sm);
}

enum step_result step_publish(struct sm *sm)
{
	const struct choice *used = &sm->routes->used;
	struct subnet *subnet;

	if (keep_path_sls(sm))
		return STEP_LATER;
	freeze_again(sm);
	if (sm->sweep.kind != SWEEP_KIND_POLICY) /* which writes no such tables */
		sm->routes->mapping = false;
	subnet = subnet_new(sm->fabric, sm->routing, sm->partitions, sm->options);
	subnet->qos = sm->qos && sm->options->qos ? qos_paths_ref(sm->qos) : NULL;
	subnet->prefix_routes = slot_take(&sm->context->prefix_routes);
	subnet->route_files = used->files ? route_files_ref(used->files) : NULL;
	subnet->roots_found = used->roots_found;
	subnet->errors = sm->sweep.errors != 0;
	subnet->credit_loop = g_strdup(sm->routes->credit_loop);
	subnet->only_switches = sm->routes->only_switches;
	subnet->exposed = g_strdup(sm->routes->exposed);
	subnet->fallback = g_strdup(sm->routes->fallback);
	subnet->held = g_strdup(sm->routes->held);
	subnet->small_tables = g_strdupv(sm->routes->small_tables);
	subnet->n_harmful = sm->routes->n_harmful;
	subnet->sick = health_tell(sm, &subnet->silent_errors);
	subnet->lone_errors = sm->sweep.problems != 0;
	subnet->unknown_keys = keys_tell_unknown(sm);
	subnet->sm_p_keys = p_keys_own(sm);
	subnet->lid_guids = guid2lid_guids(sm->store.guid2lid);
	p_key_indexes_tell(sm, &subnet->without_p_keys, &subnet->p_key_reuse);
	slot_publish(&sm->context->subnet, subnet);
	event_emit(&sm->context->bus, EVENT_SUBNET_PUBLISHED, sm->fabric->generation);
	sm->sweep.published = true;
	if (sm->dry)
		return STEP_NEXT;
	replicate_lids(sm);
	replicate_path_sls(sm);
	p_key_indexes_replicate(sm);
	other_sms_tell_replicator(sm); /* SMs that appeared in this sweep have LIDs by now */
	guid2lid_save(sm->store.guid2lid, sm->store.writer, sm->options->fsync_high_avail_files);
	return STEP_NEXT;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The server: the actor "sa" between the MAD layer and the pipeline.
 *
 * It has the registries, a view of the last published subnet, and the queries that wait for their
 * turn in the pool. Everything runs on the actor, except that a query in the pool has its own
 * reference of the view and touches nothing else of the server but counters.
 *
 * Each request passes the stages of the pipeline on the actor. Then queries of the registries, and
 * those that take about a microsecond, run on the actor at once; the others go to the pool by turns
 * of their sources (turns.h), and those of all pairs or all tables, which may take a second, to a
 * separate thread. At most SA_MAX_IN_POOL wait: beyond that the source with the most waiting is
 * answered BUSY. If a source asks for too much at a time, most of its requests are dropped before
 * the server: mad_serve(). A request that waited for its turn longer than max_msg_fifo_timeout is
 * dropped, as its sender has given up or asked again; so is a MAD that is not a request.
 *
 * A query that lacks tables which the SM can read comes back from the pool and is parked (park.c);
 * its request is served again from the start when the SM has published an inventory. So is a
 * request of a port that is not yet in the published subnet, until the next one is published.
 *
 * Groups are published with a short delay, so that a burst of joins costs one publication.
 */
#include "sa/sa.h"

#include <arpa/inet.h>

#include "core/traps.h"
#include "sa/admit/effect.h"
#include "sa/admit/held.h"
#include "sa/admit/park.h"
#include "sa/admit/rate.h"
#include "sa/admit/turns.h"
#include "sa/dump.h"
#include "sa/report/replicate.h"
#include "sa/report/report.h"
#include "sa/sa_private.h"
#include "subnet/refused_joins.h"

#define CLOCK_EVERY (5 * NS_PER_S)     /* while there are leases */
#define PUBLISH_EVERY (10 * NS_PER_MS) /* minimum interval for groups */
#define REGISTRIES_EVERY NS_PER_S      /* minimum interval for EVENT_REGISTRIES_CHANGED */
#define LOG_BURST 10
#define LOG_INTERVAL (1 * NS_PER_S)

struct sa {
	struct context *context;
	struct mad *mad;
	struct actor *actor;
	struct sa_registries registries;
	struct subnet_view *view; /* NULL unless this SM is master and a sweep has published one */
	struct timer publish;
	struct timer registries_told; /* runs out when changes of registries are to be told */
	uint64_t clock_ns;     /* when standbys were last told the time; 0: never */
	uint64_t published_ns; /* when groups were last published; 0: never */
	struct timer leases; /* runs out when the next lease ends */
	struct timer expire; /* for memberships of ports that are gone */
	struct sa_park *park;
	struct sa_turns *quick, *slow; /* queries for context->pool and context->slow */
	struct sa_rate *rate;	       /* of each port's requests */
	struct sa_held *held;
	struct sa_hold *hold;
	struct sa_reporter *reporter;
	uint64_t traps_end; /* serial of the next trap to be forwarded */
	bool is_loaded;	    /* sa_db_file was loaded, or there is newer data */
	bool is_changed;    /* since the last dump */
	uint64_t promised; /* serial of the last promise that standbys were asked about */
	uint32_t unmet;	   /* sa_store_unmet() when last logged */
	struct log_limit limit;
	struct log_limit repair_limit; /* for log lines about repaired groups */
};

/* A query on its way through the pool. */
struct pool_job {
	struct message message;
	struct sa_turn turn;
	struct sa_turns *turns;
	struct pool *pool;
	uint64_t cost_ns;
	struct sa *sa;
	struct vendor_mad *mad;
	struct subnet_view *view;
	struct inventory *inventory;
	uint64_t deadline_ns; /* of a request that was parked before, otherwise 0 */
	struct sa_query query;
};

/* ---- answers ---- */

static bool is_join(const struct sa_query *query)
{
	return query->header.attribute_id == IBA_ATTR_MC_MEMBER_RECORD &&
	       query->data[3] == IBA_METHOD_SET && query->from.port != FABRIC_NONE;
}

/* Updates the refused joins shown to operators: adds this one, or removes it after a good join. */
static void note_join(struct sa *sa, const struct sa_query *query)
{
	struct refused_joins *before, *joins;
	struct refused_join join = {
		.mgid = query->wanted.member.mgid,
		.lid = query->from.address->lid,
		.status = query->status,
		.last_ns = actor_now(sa->actor),
	};

	if (!is_join(query) || (query->status != IBA_STATUS_OK && !*query->why))
		return;
	join.port_guid = query->subnet->fabric->ports[query->from.port].guid;
	g_strlcpy(join.why, query->why, sizeof(join.why));
	before = slot_take(&sa->context->refused_joins);
	joins = *query->why ? refused_joins_with(before, &join)
			    : refused_joins_without(before, join.port_guid, join.mgid);
	if (joins)
		slot_publish(&sa->context->refused_joins, joins);
	refused_joins_unref(before);
}

/* A host that cannot join may be without IPoIB: logs its port, its group and the reason. */
static void log_refused_join(struct sa *sa, const struct sa_query *query, const char *name,
			     unsigned int held_back)
{
	struct iba_gid mgid = query->wanted.member.mgid;
	uint64_t wire[2] = {GUINT64_TO_BE(mgid.prefix), GUINT64_TO_BE(mgid.guid)};
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, wire, text, sizeof(text));
	log_info(sa->context->log,
		 "SA: refused LID %u (%s) as a member of multicast group %s: %s; status 0x%04x "
		 "(%u similar lines suppressed)",
		 query->from.address->lid, name, text, query->why, query->status, held_back);
}

static void log_refusal(struct sa *sa, const struct sa_query *query)
{
	bool joins = is_join(query) && *query->why;
	char name[128] = "unknown port";
	unsigned int held_back;

	if (!log_wants(sa->context->log, joins ? LOG_INFO : LOG_VERBOSE, __FILE__) ||
	    !log_limit_pass(&sa->limit, actor_now(sa->actor), LOG_BURST, LOG_INTERVAL, &held_back))
		return;
	if (query->from.port != FABRIC_NONE)
		fabric_port_name(query->subnet->fabric, query->from.port, name, sizeof(name));
	if (joins) {
		log_refused_join(sa, query, name, held_back);
		return;
	}
	log_verbose(sa->context->log,
		    "SA: refused method 0x%x of attribute 0x%x from LID %u (%s): status "
		    "0x%04x%s%s (%u similar lines suppressed)",
		    query->data[3], query->header.attribute_id, query->from.address->lid, name,
		    query->status, query->reason ? ", " : "", query->reason ? query->reason : "",
		    held_back);
}

/* Runs on the actor "mad". */
static void give_back(const struct mad_held *held, uint16_t lid, enum vendor_end end)
{
	struct sa *sa = held->arg;

	sa_held_note(sa->held, lid, end);
	sa_held_give(sa->held, lid, 0, held->octets);
}

/* Asks whether the standbys have everything promised up to a serial. */
struct promise {
	struct replicator_wait wait; /* must be the first member */
	struct sa *sa;
	uint64_t serial;
};

static void drop_promise(struct message *message)
{
	g_free(message);
}

/* If another SM is master by now, the requester asks again and finds that one. */
static void on_kept(struct replicator_wait *wait, bool kept)
{
	struct promise *promise = (struct promise *)wait;

	if (kept)
		sa_hold_reached(promise->sa->hold, SA_HOLD_REPLICA, promise->serial);
	else
		sa_hold_clear(promise->sa->hold);
	g_free(promise);
}

static uint64_t ask_if_kept(struct sa *sa)
{
	struct promise *promise = g_new0(struct promise, 1);

	promise->wait.message.drop = drop_promise;
	promise->wait.owner = sa->actor;
	promise->wait.done = on_kept;
	promise->sa = sa;
	promise->serial = ++sa->promised;
	replicator_wait(sa->context->replicator, &promise->wait);
	return promise->serial;
}

static enum sa_result result_of(const struct sa_query *query)
{
	switch (query->status) {
	case IBA_STATUS_OK:
		return SA_RESULT_OK;
	case IBA_SA_NO_RECORDS:
		return SA_RESULT_NONE;
	case IBA_STATUS_BUSY:
		return SA_RESULT_BUSY;
	case IBA_SA_DENIED:
	case IBA_SA_NO_RESOURCES:
		return SA_RESULT_REFUSED;
	default:
		return SA_RESULT_ERROR;
	}
}

static void count_answer(struct context *context, const struct sa_query *query)
{
	struct counters *counters = &context->counters;
	uint16_t attribute = query->header.attribute_id;

	if (attribute < CONTEXT_ATTRIBUTES)
		atomic_fetch_add_explicit(&context->sa_results[attribute][result_of(query)], 1,
					  memory_order_relaxed);
	counter_inc(counters, sa_answered);
	counter_add(counters, sa_aliases_refused, query->n_refused);
	counter_add(counters, sa_quota_refused, query->over_quota);
	counter_add(counters, sa_reduced, query->hides);
	if (query->status == IBA_SA_NO_RESOURCES)
		counter_inc(counters, sa_too_large);
	if (query->status == IBA_STATUS_BUSY)
		counter_inc(counters, sa_busy);
	else if (query->status != IBA_STATUS_OK)
		counter_inc(counters, sa_errors);
}

/*
 * Requests that may change a registry, and run on the actor, are processed once however often they
 * arrive. That includes refused ones: a copy may still be in flight when it would be accepted.
 */
static bool is_done_once(const struct vendor_mad *mad, const struct sa_query *query)
{
	uint8_t method = mad->data[3];

	return query->status != IBA_STATUS_BUSY && mad->length <= IBA_MAD_BYTES &&
	       (method == IBA_METHOD_SET || method == IBA_METHOD_DELETE);
}

static bool answer_stands(void *arg, const struct vendor_address *requester, const uint8_t *answer)
{
	const struct sa *sa = arg;

	return !sa->view || sa_effect_stands(&sa->registries, sa->view, requester, answer);
}

static bool is_left_unanswered(const struct sa *sa, const struct sa_query *query)
{
	struct options *options;
	bool silent;

	if (query->status != IBA_STATUS_BUSY)
		return false;
	options = slot_take(&sa->context->options);
	silent = !options->sa_busy_response;
	options_unref(options);
	return silent;
}

/* Time until the answer is ready; some answers then wait for what they promise. */
static void note_time(struct sa *sa, const struct sa_query *query, const struct vendor_mad *mad)
{
	uint16_t attribute = query->header.attribute_id;

	if (mad->admission && attribute < CONTEXT_ATTRIBUTES)
		timing_add(&sa->context->sa_answers[attribute],
			   actor_now(sa->actor) - mad->admitted_ns);
}

/* Takes ownership of the request. */
static void answer(struct sa *sa, struct sa_query *query, struct vendor_mad *mad, bool in_pool)
{
	struct mad_held held = {.arg = sa};
	size_t length;
	uint8_t *data;

	if (query->status == IBA_STATUS_BUSY)
		mad_want_trim(sa->mad);
	if (is_left_unanswered(sa, query)) {
		counter_inc(&sa->context->counters, sa_unanswered);
		sa_query_clear(query);
		vendor_mad_free(mad);
		return;
	}
	data = sa_query_finish(query, &length);
	count_answer(sa->context, query);
	note_time(sa, query, mad);
	if (is_done_once(mad, query)) {
		/* Also if nothing changed: an earlier answer may not have left yet. */
		if (query->status == IBA_STATUS_OK && replicator_is_on(sa->context->replicator))
			query->until[SA_HOLD_REPLICA] = ask_if_kept(sa);
		sa_hold_answer(sa->hold, mad, data, query->until, query->until_ns);
		return;
	}
	held.octets = query->reply.held;
	if (held.octets)
		held.give_back = give_back;
	query->reply = (struct sa_reply){0}; /* freed and given back after sending */
	(in_pool ? mad_reply_from_pool : mad_reply)(sa->mad, mad, data, length, &held);
}

static bool drop_if_stale(struct sa *sa, const struct subnet_view *view, struct vendor_mad *mad)
{
	uint64_t limit = view ? view->subnet->options->max_msg_fifo_timeout * NS_PER_MS : 0;

	if (!limit || !mad->admission || actor_now(sa->actor) - mad->admitted_ns <= limit)
		return false;
	counter_inc(&sa->context->counters, sa_stale);
	vendor_mad_free(mad);
	return true;
}

/* ---- the pool ---- */

static void job_free(struct pool_job *job)
{
	subnet_view_unref(job->view);
	inventory_unref(job->inventory);
	g_free(job);
}

static void drop_job(struct message *message)
{
	struct pool_job *job = (struct pool_job *)message;

	sa_query_clear(&job->query);
	if (job->mad)
		vendor_mad_free(job->mad);
	job_free(job);
}

/* The query wants something that the inventory lacks. */
static void park(struct pool_job *job)
{
	struct sa *sa = job->sa;
	struct vendor_mad *mad = g_steal_pointer(&job->mad);

	sa_query_clear(&job->query);
	if (sa_park_add(sa->park, mad, job->query.want, job->deadline_ns))
		return;
	counter_inc(&sa->context->counters, sa_expired);
	job->query.status = IBA_STATUS_BUSY;
	answer(sa, &job->query, mad, false);
}

static void count_waiting(const struct sa *sa)
{
	counter_set(&sa->context->counters, sa_queued_requests,
		    sa_turns_waiting(sa->quick) + sa_turns_waiting(sa->slow));
}

/* Runs on the actor. */
static void job_done(struct message *message)
{
	struct pool_job *job = (struct pool_job *)message;

	if (job->mad)
		park(job);
	sa_turns_done(job->turns, &job->turn, job->cost_ns);
	count_waiting(job->sa);
	job_free(job);
}

/*
 * CPU time of this thread. In virtual time, where order must not depend on it, all cost the same.
 */
static uint64_t time_spent(const struct sa *sa)
{
	struct timespec spent;

	if (runtime_mode(sa->context->rt) == RUNTIME_VIRTUAL)
		return 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return (uint64_t)spent.tv_sec * NS_PER_S + (uint64_t)spent.tv_nsec;
}

static void run_query(struct pool_job *job)
{
	struct sa *sa = job->sa;

	/* A parked request waited for tables. */
	if (!job->deadline_ns && drop_if_stale(sa, job->view, job->mad)) {
		sa_query_clear(&job->query);
		job->mad = NULL;
		return;
	}
	sa_query_run(&job->query, NULL);
	if (!job->query.waits)
		answer(sa, &job->query, g_steal_pointer(&job->mad), true);
}

static void pool_run(struct message *message)
{
	struct pool_job *job = (struct pool_job *)message;
	uint64_t begin = time_spent(job->sa);

	run_query(job);
	job->cost_ns = time_spent(job->sa) - begin;
	job->message.run = job_done;
	job->message.drop = drop_job;
	actor_post(job->sa->actor, &job->message);
}

static void run_turn(void *arg, struct sa_turn *turn)
{
	struct pool_job *job = container_of(turn, struct pool_job, turn);

	(void)arg;
	pool_post(job->pool, &job->message);
}

static void drop_turn(struct sa_turn *turn)
{
	drop_job(&container_of(turn, struct pool_job, turn)->message);
}

/* The source with the most waiting gives way to the new query. */
static void refuse_one(struct sa *sa, struct sa_turns *turns)
{
	struct sa_turn *turn = sa_turns_refuse(turns);
	struct pool_job *job = container_of(turn, struct pool_job, turn);

	job->query.status = IBA_STATUS_BUSY;
	answer(sa, &job->query, job->mad, false);
	job_free(job);
}

static void send_to_pool(struct sa *sa, const struct sa_query *query, struct vendor_mad *mad,
			 uint64_t deadline_ns, bool slow)
{
	struct pool_job *job = g_new(struct pool_job, 1);

	*job = (struct pool_job){
		.message.run = pool_run,
		.turns = slow ? sa->slow : sa->quick,
		.pool = slow ? sa->context->slow : sa->context->pool,
		.sa = sa,
		.mad = mad,
		.view = subnet_view_ref(sa->view),
		.inventory = slot_take(&sa->context->inventory),
		.deadline_ns = deadline_ns,
		.query = *query,
	};
	job->query.inventory = job->inventory;
	sa_turns_add(job->turns, &job->turn, mad->remote.lid);
	if (sa_turns_waiting(job->turns) > SA_MAX_IN_POOL)
		refuse_one(sa, job->turns);
	count_waiting(sa);
}

/* ---- requests ---- */

/* Standbys that know the time can continue leases. Returns when to tell them again. */
static uint64_t tell_clock(struct sa *sa, uint64_t now)
{
	if (!replicator_is_on(sa->context->replicator))
		return UINT64_MAX;
	if (!sa->clock_ns || now - sa->clock_ns >= CLOCK_EVERY) {
		sa->clock_ns = now;
		sa_replicate_clock(sa->context->replicator, now);
	}
	return sa->clock_ns + CLOCK_EVERY;
}

static void end_leases(struct sa *sa)
{
	uint64_t now = actor_now(sa->actor);
	uint64_t next = sa_services_expire(sa->registries.services, now);

	if (next != UINT64_MAX)
		next = MIN(next, tell_clock(sa, now));
	if (next == UINT64_MAX)
		timer_stop(&sa->leases);
	else if (!timer_running(&sa->leases) || sa->leases.when != next)
		timer_start(&sa->leases, next - now);
}

static void lease_due(struct timer *timer)
{
	end_leases(container_of(timer, struct sa, leases));
}

/* What must follow a change of the registries. */
static void registries_changed(struct sa *sa)
{
	uint64_t now = actor_now(sa->actor), due = sa->published_ns + PUBLISH_EVERY;

	if (replicator_is_on(sa->context->replicator))
		due = now + PUBLISH_EVERY; /* standbys learn of a member before tables do */
	end_leases(sa);
	if ((sa_store_changed(sa->registries.groups) ||
	     sa_aliases_changed(sa->registries.aliases)) &&
	    !timer_running(&sa->publish))
		timer_start(&sa->publish, due > now ? due - now : 0);
}

static void serve(void *arg, struct vendor_mad *mad, uint64_t deadline_ns)
{
	struct sa *sa = arg;
	enum sa_place place;
	struct sa_query query;

	if (sa_hold_again(sa->hold, mad)) /* perhaps while this one was parked */
		return;
	if (mad->status != VENDOR_RECEIVED ||
	    !sa_query_begin(&query, sa->view, &mad->remote, mad->data, mad->length)) {
		if (mad->status == VENDOR_RECEIVED && query.wrong_key)
			counter_inc(&sa->context->counters, sa_wrong_keys);
		else
			counter_inc(&sa->context->counters, sa_malformed);
		vendor_mad_free(mad);
		return;
	}
	query.now = actor_now(sa->actor);
	query.held = sa->held;
	place = sa_query_place(&query);
	if (place == SA_IN_POOL || place == SA_SLOWLY) {
		send_to_pool(sa, &query, mad, deadline_ns, place == SA_SLOWLY);
		return;
	}
	if (query.early && sa_park_add(sa->park, mad, SA_PARK_SUBNET, deadline_ns))
		return;
	sa_query_run(&query, &sa->registries);
	note_join(sa, &query);
	if (query.status != IBA_STATUS_OK || query.n_refused)
		log_refusal(sa, &query);
	answer(sa, &query, mad, false);
	if (place == SA_AT_REGISTRIES)
		registries_changed(sa);
}

/* The SA is where the master is: clients learn that from their ports, not from this SM (15.4.1). */
static bool is_resting(const struct sa *sa)
{
	unsigned int state = atomic_load(&sa->context->sm_state);

	return state == IBA_SM_STANDBY || state == IBA_SM_NOT_ACTIVE;
}

static bool drop_if_many(struct sa *sa, struct vendor_mad *mad)
{
	unsigned int threshold = sa->view ? sa->view->subnet->options->sa_rate_threshold : 0;

	if (sa_rate_pass(sa->rate, mad->remote.lid, threshold, actor_now(sa->actor)))
		return false;
	counter_inc(&sa->context->counters, sa_rate_dropped);
	vendor_mad_free(mad);
	return true;
}

static void receive(void *arg, struct vendor_mad *mad)
{
	struct sa *sa = arg;

	counter_inc(&sa->context->counters, sa_received);
	if (is_resting(sa)) {
		counter_inc(&sa->context->counters, sa_resting);
		vendor_mad_free(mad);
		return;
	}
	if (!drop_if_many(sa, mad) && !drop_if_stale(sa, sa->view, mad))
		serve(sa, mad, 0);
}

/* A parked request whose time is over. */
static void expired(void *arg, struct vendor_mad *mad)
{
	struct sa *sa = arg;
	struct sa_query query;
	bool is_request = sa_query_begin(&query, NULL, &mad->remote, mad->data, mad->length);

	g_assert(is_request); /* checked on arrival */
	if (is_resting(sa)) { /* by now */
		vendor_mad_free(mad);
		return;
	}
	counter_inc(&sa->context->counters, sa_expired);
	query.status = IBA_STATUS_BUSY;
	answer(sa, &query, mad, false);
}

static void inventory_published(void *arg, uint64_t kinds)
{
	struct sa *sa = arg;

	sa_park_wake(sa->park, kinds);
}

/* ---- groups and events ---- */

static void take_aliases(struct sa *sa, struct alias_guids *aliases)
{
	struct subnet_view *before = sa->view;

	if (!before || !aliases)
		return;
	sa->view = subnet_view_with(before, aliases);
	subnet_view_unref(before);
}

static void take_trees(struct sa *sa)
{
	struct mc_trees *trees = slot_take(&sa->context->trees);
	struct subnet_view *before = sa->view;

	if (before && trees) {
		sa->view = subnet_view_with_trees(before, trees);
		subnet_view_unref(before);
	}
	mc_trees_unref(trees);
}

/* Comes before groups, because aliases identify their members. */
static void publish_aliases(struct sa *sa)
{
	struct alias_guids *aliases = sa_aliases_publish(sa->registries.aliases);
	uint64_t serial;

	if (!aliases)
		return;
	serial = aliases->serial;
	sa_store_set_aliases(sa->registries.groups, aliases);
	take_aliases(sa, aliases);
	slot_publish(&sa->context->aliases, aliases);
	event_emit(&sa->context->bus, EVENT_ALIASES_CHANGED, serial);
}

/* Groups that partitions want get an MLID as soon as one is free. */
static void follow_wishes(struct sa *sa)
{
	struct sa_store *groups = sa->registries.groups;

	if (sa->view && sa_store_unmet(groups))
		sa_store_wish(groups, sa->view->subnet);
	if (sa_store_unmet(groups) > sa->unmet)
		log_error(sa->context->log,
			  "SA: %u multicast groups of partitions cannot be created: no MLID is "
			  "free",
			  sa_store_unmet(groups));
	else if (sa->unmet && !sa_store_unmet(groups))
		log_info(sa->context->log, "SA: all multicast groups of partitions exist");
	sa->unmet = sa_store_unmet(groups);
	atomic_store(&sa->context->counters.sa_groups_unmet, sa->unmet);
}

static void publish_now(struct sa *sa)
{
	struct mc_groups *groups;
	uint64_t serial;

	timer_stop(&sa->publish);
	sa->published_ns = actor_now(sa->actor);
	publish_aliases(sa);
	follow_wishes(sa);
	groups = sa_store_publish(sa->registries.groups);
	if (!groups)
		return;
	serial = groups->serial;
	slot_publish(&sa->context->groups, groups);
	event_emit(&sa->context->bus, EVENT_GROUPS_CHANGED, serial);
}

static void publish_due(struct timer *timer)
{
	publish_now(container_of(timer, struct sa, publish));
}

static void expire_members(struct sa *sa)
{
	uint64_t now = actor_now(sa->actor), next = sa_store_expire(sa->registries.groups, now);

	timer_stop(&sa->expire);
	if (next)
		timer_start(&sa->expire, next - now);
	publish_now(sa);
}

static void expiry_due(struct timer *timer)
{
	expire_members(container_of(timer, struct sa, expire));
}

static void groups_programmed(void *arg, uint64_t serial)
{
	struct sa *sa = arg;

	sa_store_programmed(sa->registries.groups, serial);
	sa_hold_reached(sa->hold, SA_HOLD_GROUPS, serial);
	if (sa_store_unmet(sa->registries.groups))
		publish_now(sa); /* MLIDs may be free again */
}

static void aliases_programmed(void *arg, uint64_t serial)
{
	struct sa *sa = arg;

	sa_aliases_programmed(sa->registries.aliases, serial);
	sa_hold_reached(sa->hold, SA_HOLD_ALIASES, serial);
}

static bool is_master(const struct sa *sa)
{
	return atomic_load(&sa->context->sm_state) == IBA_SM_MASTER;
}

static void take_view(struct sa *sa, struct subnet_view *view)
{
	struct subnet_view *before = sa->view;

	sa->view = view;
	sa_reporter_follow(sa->reporter, view ? view->subnet : NULL);
	if (before && view)
		sa_report_ports(sa->reporter, before->subnet);
	subnet_view_unref(before);
}

static void alias_lost(void *arg, const struct alias_guid *alias, const char *why)
{
	struct sa *sa = arg;
	const struct fabric *fabric = sa->view->subnet->fabric;
	uint32_t owner = fabric_port_by_guid(fabric, alias->guid);
	unsigned int held_back;
	char name[128] = "";

	sa_store_disown(sa->registries.groups, alias->guid, alias->port);
	if (!log_limit_pass(&sa->repair_limit, actor_now(sa->actor), LOG_BURST, LOG_INTERVAL,
			    &held_back))
		return;
	if (owner != FABRIC_NONE)
		fabric_port_name(fabric, owner, name, sizeof(name));
	log_error(sa->context->log,
		  "SA: port 0x%016" G_GINT64_MODIFIER "x loses alias GUID 0x%016" G_GINT64_MODIFIER
		  "x: %s%s%s (%u similar lines suppressed)",
		  alias->port, alias->guid, why, *name ? ": " : "", name, held_back);
}

/*
 * Groups from before get MLIDs that switches support, as clients register again. If clients are not
 * asked to, they continue with the MLIDs they know.
 */
static void load(struct sa *sa, const struct subnet *subnet)
{
	if (!subnet->options->no_clients_rereg)
		sa_store_follow_mlids(sa->registries.groups, subnet);
	sa_dump_load(sa->context, &sa->registries);
}

static void subnet_published(void *arg, uint64_t generation)
{
	struct sa *sa = arg;
	struct alias_guids *aliases;
	struct subnet *subnet;

	(void)generation;
	if (!is_master(sa))
		return;
	subnet = slot_take(&sa->context->subnet);
	take_view(sa, subnet ? subnet_view_new(subnet) : NULL);
	if (!subnet)
		return;
	aliases = slot_take(&sa->context->aliases);
	take_aliases(sa, aliases);
	alias_guids_unref(aliases);
	take_trees(sa);
	if (!sa->is_loaded)
		load(sa, subnet);
	sa->is_loaded = true;
	sa_registries_bound(&sa->registries, subnet);
	sa_aliases_follow(sa->registries.aliases, subnet, actor_now(sa->actor));
	sa_aliases_yield(sa->registries.aliases, subnet, alias_lost, sa);
	publish_aliases(sa);
	sa_store_follow(sa->registries.groups, subnet, actor_now(sa->actor));
	sa_services_follow(sa->registries.services, subnet, sa_aliases_now(sa->registries.aliases),
			   actor_now(sa->actor));
	sa_subscribers_follow(sa->registries.subscribers, subnet, actor_now(sa->actor));
	expire_members(sa);
	sa_park_wake(sa->park, SA_PARK_EARLY);
}

static void trees_published(void *arg, uint64_t value)
{
	(void)value;
	take_trees(arg);
}

static void trap_received(void *arg, uint64_t value)
{
	struct sa *sa = arg;
	struct traps *traps = slot_take(&sa->context->traps);

	(void)value;
	for (uint32_t i = 0; traps && i < traps->n; i++)
		if (traps->all[i].serial >= sa->traps_end)
			sa_report_trap(sa->reporter, &traps->all[i].notice, traps->all[i].from);
	if (traps)
		sa->traps_end = traps->end;
	traps_unref(traps);
}

static void group_changed(void *arg, const struct sa_group *group, bool gone)
{
	struct sa *sa = arg;

	sa->is_changed = true;
	if (gone || !group->is_told)
		sa_report_group(sa->reporter, !gone, group->record.mgid, group->record.p_key,
				group->creator);
	sa_replicate_watch.group(sa->context->replicator, group, gone);
}

static void member_changed(void *arg, const struct sa_group *group, const struct sa_member *member)
{
	struct sa *sa = arg;

	sa->is_changed = true;
	sa_replicate_watch.member(sa->context->replicator, group, member);
}

static void ask_again(void *arg, uint64_t port_guid)
{
	struct sa *sa = arg;

	event_emit(&sa->context->bus, EVENT_REREGISTER_WANTED, port_guid);
}

static void group_repaired(void *arg, const struct sa_group *group, const char *what)
{
	struct sa *sa = arg;
	struct iba_gid mgid = group->record.mgid;
	unsigned int held_back;

	if (!log_limit_pass(&sa->repair_limit, actor_now(sa->actor), LOG_BURST, LOG_INTERVAL,
			    &held_back))
		return;
	log_error(sa->context->log,
		  "SA: IPoIB group 0x%016" G_GINT64_MODIFIER "x:0x%016" G_GINT64_MODIFIER
		  "x (%u members, made by 0x%016" G_GINT64_MODIFIER "x) did not have the %s of "
		  "its broadcast group: corrected (%u similar lines suppressed)",
		  mgid.prefix, mgid.guid, group->members->len, group->creator, what, held_back);
}

static void groups_merged(void *arg, uint32_t n)
{
	struct sa *sa = arg;

	log_info(sa->context->log,
		 "SA: the groups of %u MLIDs now share other MLIDs: groups of partitions needed "
		 "them",
		 n);
}

static const struct sa_store_watch group_watch = {
	.group = group_changed,
	.member = member_changed,
	.ask_again = ask_again,
	.repaired = group_repaired,
	.merged = groups_merged,
};

static void tell_registries(struct timer *timer)
{
	struct sa *sa = container_of(timer, struct sa, registries_told);
	const struct alias_guids *aliases = sa_aliases_now(sa->registries.aliases);
	const struct registered registered = {
		.services = sa_services_n(sa->registries.services),
		.subscriptions = sa_subscribers_count(sa->registries.subscribers),
		.alias_guids = aliases->by_guid->len,
	};

	event_emit(&sa->context->bus, EVENT_REGISTRIES_CHANGED, registered_pack(&registered));
}

static void tell_registries_soon(struct sa *sa)
{
	if (event_is_heard(&sa->context->bus, EVENT_REGISTRIES_CHANGED) &&
	    !timer_running(&sa->registries_told))
		timer_start(&sa->registries_told, REGISTRIES_EVERY);
}

static void note_registered(struct sa *sa)
{
	sa->is_changed = true;
	tell_registries_soon(sa);
}

static void service_changed(void *arg, const struct sa_service *service, bool gone)
{
	struct sa *sa = arg;

	note_registered(sa);
	counter_set(&sa->context->counters, sa_services,
		    sa_services_n(sa->registries.services) - gone);
	sa_replicate_service(sa->context->replicator, service, gone);
}

static void alias_changed(void *arg, const struct alias_guid *alias, bool forgotten)
{
	struct sa *sa = arg;

	note_registered(sa);
	sa_replicate_alias(sa->context->replicator, alias, forgotten);
}

static void subscription_added(void *arg, struct sa_subscription *subscription)
{
	struct sa *sa = arg;

	note_registered(sa);
	sa_replicate_subscriptions.added(sa->context->replicator, subscription);
}

static void subscription_removed(void *arg, struct sa_subscription *subscription)
{
	struct sa *sa = arg;

	note_registered(sa);
	sa_replicate_subscriptions.removed(sa->context->replicator, subscription);
}

static const struct sa_subscribers_watch subscription_watch = {.added = subscription_added,
							       .removed = subscription_removed};

static void sweep_done(void *arg, uint64_t value)
{
	struct sa *sa = arg;
	struct options *options = slot_take(&sa->context->options);

	(void)value;
	if (is_master(sa) && sa->view && options->sa_db_dump &&
	    (sa->is_changed || atomic_load(&sa->context->sa_unkept))) {
		sa_dump_write(sa->context, &sa->registries);
		sa->is_changed = false;
	}
	if (!options->sa_db_dump)
		atomic_store(&sa->context->sa_unkept, false);
	options_unref(options);
}

/* Adopts what the previous master knew, before a subnet is published. */
static void replica_adopted(void *arg, uint64_t value)
{
	struct sa *sa = arg;
	struct replica *replica = slot_take(&sa->context->replica);
	struct options *options = slot_take(&sa->context->options);
	unsigned int bad;

	(void)value;
	slot_publish(&sa->context->replica, NULL);
	if (is_master(sa) && !sa->view && replica) {
		bad = sa_replicate_adopt(&sa->registries, replica, actor_now(sa->actor));
		if (bad)
			log_error(sa->context->log, "replication: %u entries are invalid", bad);
		publish_now(sa);
		end_leases(sa);
		sa->is_loaded = true;
	}
	replica_unref(replica);
	options_unref(options);
}

/*
 * An SM that is no longer master forgets everything: clients register again with the new one, or it
 * has a replica. Nothing must be programmed either, if this SM becomes master again, before it has
 * published.
 */
static void sm_state_changed(void *arg, uint64_t state)
{
	struct sa *sa = arg;

	if (state == IBA_SM_MASTER)
		return;
	if (sa->view)
		tell_registries_soon(sa);
	take_view(sa, NULL);
	sa_park_wake(sa->park, UINT64_MAX);
	sa_hold_clear(sa->hold);
	sa_store_clear(sa->registries.groups);
	sa_services_clear(sa->registries.services);
	sa_subscribers_clear(sa->registries.subscribers);
	sa_aliases_clear(sa->registries.aliases);
	timer_stop(&sa->expire);
	publish_now(sa);
	slot_publish(&sa->context->groups, NULL);
	slot_publish(&sa->context->refused_joins, NULL);
	sa_store_set_aliases(sa->registries.groups, NULL);
	slot_publish(&sa->context->aliases, NULL);
}

/* ---- life ---- */

/* 8 numbers per second: none of them was used before the start. */
static uint32_t first_made(const struct runtime *rt)
{
	if (runtime_mode(rt) == RUNTIME_VIRTUAL)
		return (uint32_t)(runtime_now(rt) / NS_PER_MS);
	return (uint32_t)(g_get_real_time() / (G_USEC_PER_SEC / 8));
}

struct sa *sa_new(struct context *context, struct mad *mad)
{
	struct sa *sa = g_new0(struct sa, 1);
	struct vendor_client client = {.arg = sa, .receive = receive};
	const struct sa_park_calls calls = {.arg = sa, .again = serve, .expired = expired};

	sa->context = context;
	sa->mad = mad;
	sa->actor = actor_new_with(mad_segments_actor(mad), "sa");
	sa->registries = sa_registries_new(first_made(context->rt));
	sa->reporter = sa_reporter_new(context, sa->actor, mad, &sa->registries);
	sa_store_watch(sa->registries.groups, &group_watch, sa);
	sa_services_watch(sa->registries.services, service_changed, sa);
	sa_aliases_watch(sa->registries.aliases, alias_changed, sa);
	sa_subscribers_watch(sa->registries.subscribers, &subscription_watch, sa);
	timer_init(&sa->publish, sa->actor, publish_due);
	timer_init(&sa->registries_told, sa->actor, tell_registries);
	timer_init(&sa->leases, sa->actor, lease_due);
	timer_init(&sa->expire, sa->actor, expiry_due);
	sa->park = sa_park_new(context, sa->actor, &calls);
	sa->quick = sa_turns_new(context->pool_threads, run_turn, sa);
	sa->slow = sa_turns_new(1, run_turn, sa);
	sa->rate = sa_rate_new();
	sa->held = sa_held_new(context);
	sa->hold = sa_hold_new(context, sa->actor, mad);
	sa_hold_judge(sa->hold, answer_stands, sa);
	client.actor = sa->actor;
	mad_serve(mad, IBA_CLASS_SUBN_ADM, &client);
	event_subscribe(&context->bus, EVENT_SUBNET_PUBLISHED, sa->actor, subnet_published, sa);
	event_subscribe(&context->bus, EVENT_INVENTORY_PUBLISHED, sa->actor, inventory_published,
			sa);
	event_subscribe(&context->bus, EVENT_TREES_PUBLISHED, sa->actor, trees_published, sa);
	event_subscribe(&context->bus, EVENT_SWEEP_DONE, sa->actor, sweep_done, sa);
	event_subscribe(&context->bus, EVENT_TRAP_RECEIVED, sa->actor, trap_received, sa);
	event_subscribe(&context->bus, EVENT_GROUPS_PROGRAMMED, sa->actor, groups_programmed, sa);
	event_subscribe(&context->bus, EVENT_ALIASES_PROGRAMMED, sa->actor, aliases_programmed, sa);
	event_subscribe(&context->bus, EVENT_SM_STATE, sa->actor, sm_state_changed, sa);
	event_subscribe(&context->bus, EVENT_REPLICA_ADOPTED, sa->actor, replica_adopted, sa);
	return sa;
}

void sa_start(struct sa *sa)
{
	actor_start(mad_segments_actor(sa->mad));
	actor_start(sa->actor);
}

void sa_attach(struct sa *sa, GMainContext *loop)
{
	actor_attach(mad_segments_actor(sa->mad), loop);
	actor_attach(sa->actor, loop);
}

struct actor *sa_actor(const struct sa *sa)
{
	return sa->actor;
}

void sa_stop(struct sa *sa)
{
	actor_stop(sa->actor);
}

void sa_free(struct sa *sa)
{
	if (!sa)
		return;
	timer_stop(&sa->publish);
	timer_stop(&sa->registries_told);
	timer_stop(&sa->leases);
	timer_stop(&sa->expire);
	sa_park_free(sa->park);
	sa_hold_free(sa->hold);
	sa_reporter_free(sa->reporter);
	actor_free(sa->actor); /* drops queries that came back from the pool */
	sa_turns_free(sa->quick, drop_turn);
	sa_turns_free(sa->slow, drop_turn);
	subnet_view_unref(sa->view);
	sa_registries_free(&sa->registries);
	sa_held_free(sa->held);
	sa_rate_free(sa->rate);
	g_free(sa);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The step ELECT of a heavy sweep: which SM leads, by the rule of election.c and what is known of
 * the other SMs (other_sm.c); and what follows from that for this SM.
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/mastership_private.h"
#include "sm/health/health.h"
#include "sm/sm_private.h"
#include "sm/smp/dry_run.h"
#include "sm/smp/smp.h"

/* The successor first gets what this SM knows: for at most this long, checked this often. */
#define IN_STEP_MAX (30 * NS_PER_S)
#define IN_STEP_NS (500 * NS_PER_MS)
/*
 * Two masters that do not resolve their conflict keep setting each other's port, at growing
 * intervals.
 */
#define CONTESTS_AT_ONCE 4
#define CONTESTS_IN_VAIN 6 /* doublings with an ignored SM, which cannot resolve the conflict */
#define CONTESTS_MAX 10	   /* doublings of a second */
/* An SM that cannot lead discovers again: first after a second, then at growing intervals. */
#define ABSTAIN_DOUBLINGS_ALONE 3 /* where that costs two SMPs */
#define ABSTAIN_DOUBLINGS 6

static enum election_verdict decide(struct sm *sm, struct other_sm **whom)
{
	struct election_sm own = mastership_own_sm(sm);
	const struct election_sm *sm_info = NULL;
	g_autofree struct election_sm *list = NULL;
	enum election_verdict verdict;
	unsigned int n;

	list = other_sms_list(sm, &own, &n);
	if (sm->options->ignore_other_sm)
		n = 0;
	verdict = election_decide(&own, list, n, &sm_info);
	*whom = sm_info ? other_sm_find(sm, sm_info->guid) : NULL;
	return verdict;
}

/* What the replicator reports of the SM with that GUID. */
static enum replication_state replication_of(const struct sm *sm, uint64_t guid)
{
	struct replication_status *status = slot_take(&sm->context->replication);
	enum replication_state state = REPLICATION_ASKED;

	for (unsigned int i = 0; i < status->n; i++)
		if (status->peers[i].guid == guid)
			state = status->peers[i].state;
	replication_status_unref(status);
	return state;
}

/*
 * Whether another MASTER knows more than this one: a standby with a complete replica, which took
 * over while this SM was stopped, or its port down. Only it has what clients have told it since.
 */
bool elect_knows_more(const struct sm *sm, uint64_t guid)
{
	struct replication_status *status = slot_take(&sm->context->replication);
	bool more = status && status->deposed_by && guid == status->deposed_by;

	for (unsigned int i = 0; status && i < status->n; i++)
		more |= sm->mastership->was_cut_off && status->peers[i].guid == guid &&
			status->peers[i].had_all;
	replication_status_unref(status);
	return more && sm_is_master(sm);
}

/* The MASTER that knows more; NULL: none. */
static const struct other_sm *successor_of(const struct sm *sm)
{
	for (guint i = 0; i < sm->mastership->others->known->len; i++) {
		const struct other_sm *other =
			&g_array_index(sm->mastership->others->known, struct other_sm, i);

		if (other->sm.state == IBA_SM_MASTER && elect_knows_more(sm, other->sm.guid))
			return other;
	}
	return NULL;
}

void elect_follow_successor(struct sm *sm, const struct other_sm *successor)
{
	standby_follow(sm, successor);
	sm->mastership->learns_ns = actor_now(sm->actor);
}

/* Whether this STANDBY does not have everything yet of the successor that it follows. */
bool elect_still_learns(const struct sm *sm, uint64_t guid)
{
	const struct mastership *ms = sm->mastership;
	struct replication_status *status = slot_take(&sm->context->replication);
	bool whole = status && status->followed == guid && status->whole;

	replication_status_unref(status);
	return sm_state(sm) == IBA_SM_STANDBY && ms->learns_ns && ms->partner.sm.guid == guid &&
	       actor_now(sm->actor) - ms->learns_ns < IN_STEP_MAX && !whole;
}

/* Whether the standby was asked if it replicates, or will soon have everything. */
static bool catches_up(const struct sm *sm, const struct other_sm *other)
{
	enum replication_state state;

	if (other->sm.state != IBA_SM_STANDBY || !replicator_is_on(sm->context->replicator))
		return false;
	state = replication_of(sm, other->sm.guid);
	return state == REPLICATION_ASKED || state == REPLICATION_NOT_STANDBY ||
	       state == REPLICATION_BEHIND;
}

/*
 * Whether the handover to it is postponed until it knows what this SM does. The SM from which this
 * one took over was silent then, and if it is MASTER it may not have noticed its successor yet.
 */
static bool is_waited_for(const struct sm *sm, const struct other_sm *other)
{
	uint64_t now = actor_now(sm->actor), most = 0;

	if (catches_up(sm, other))
		most = IN_STEP_MAX;
	else if (other->sm.guid == sm->takeover.of)
		most = IN_STEP_NS;
	return now - (other->behind_ns ? other->behind_ns : now) < most;
}

/* The wait begins, unless it has: how complete its replica is, is asked once more. */
static void begin_waiting(struct sm *sm, struct other_sm *other)
{
	if (other->behind_ns)
		return;
	other->behind_ns = actor_now(sm->actor);
	replicator_ask_again(sm->context->replicator, other->sm.guid);
}

/* No successor is MASTER, after all were queried. */
static void stay(struct sm *sm)
{
	struct replication_status *status = slot_take(&sm->context->replication);

	if (status && status->deposed_by && sm->sweep.kind != SWEEP_KIND_PARTIAL)
		replicator_stay(sm->context->replicator);
	replication_status_unref(status);
}

/* Two masters undo each other's changes, and only an operator may be able to end that. */
static void tell_other_masters(struct sm *sm)
{
	char name[SM_NAME_SIZE];

	for (guint i = 0; i < sm->mastership->others->known->len; i++) {
		struct other_sm *other =
			&g_array_index(sm->mastership->others->known, struct other_sm, i);
		bool is_master = other->sm.state == IBA_SM_MASTER;

		if (is_master && !sm->dry)
			other_sm_contests(sm);
		if (is_master && !other->told_master)
			log_sys_error(sm->log,
				      "there are two masters: %s is also MASTER, and one of the "
				      "two does not yield (its ignore_other_sm may be TRUE)",
				      other_sm_name(other, name, sizeof(name)));
		other->told_master = is_master;
	}
}

static enum step_result be_master(struct sm *sm)
{
	if (!sm_is_master(sm)) {
		/*
		 * A polled SM has been dead for a while; another one perhaps only since a moment
		 * ago.
		 */
		if (!sm->mastership->was_missed && orphans_are_there(sm))
			other_sm_is_gone(sm);
		sm->mastership->was_missed = false;
		mastership_set_state(sm, IBA_SM_MASTER);
	}
	sm->mastership->was_cut_off = false;
	sm->mastership->abstentions = 0;
	tell_other_masters(sm);
	stay(sm);
	if (other_sms_are_there(sm) && !timer_running(&sm->mastership->timer) && !sm->dry)
		standby_wait(sm, mastership_poll_ns(sm));
	other_sms_tell_replicator(sm);
	return STEP_NEXT;
}

/*
 * Two SMs that began separately both gave their first LIDs to themselves: MasterSMLID may be equal.
 */
bool elect_is_configured_by_another(const struct sm *sm, const struct iba_port_info *info)
{
	const struct builder_port *own = sm->builder->sm_port;

	return sm_is_master(sm) && own->lid && info->port_state >= IBA_PORT_ARMED &&
	       ((info->lid && info->lid != own->lid) ||
		(info->master_sm_lid && info->master_sm_lid != own->lid));
}

/* How long after the last contest the next one has to wait. */
static uint64_t contest_wait(const struct sm *sm)
{
	bool in_vain = other_sms_have_foreign_master(sm);
	unsigned int contests = sm->mastership->contests, at_once = in_vain ? 1 : CONTESTS_AT_ONCE;
	unsigned int late = MAX(contests, at_once) - at_once + (in_vain ? CONTESTS_IN_VAIN : 0);

	return contests < at_once ? 0 : NS_PER_S << MIN(late, CONTESTS_MAX);
}

/* Whether it now searches for the SM that configured the own port. */
bool elect_contests(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	uint64_t now = actor_now(sm->actor), wait = contest_wait(sm);

	/* When halves of a subnet are joined, one contest settles it; more need an operator. */
	if (ms->contests > 2)
		other_sm_contests(sm);
	if (ms->contests && now - ms->contested_ns < wait)
		return false;
	if (now - ms->contested_ns > 2 * MAX(wait, mastership_poll_ns(sm)))
		ms->contests = 0; /* that was settled */
	ms->contests++;
	ms->contested_ns = now;
	return true;
}

/* A dry run continues beside other SMs: it shows what this SM would change. */
static void tell_masters(struct sm *sm)
{
	const GArray *others = sm->mastership->others->known;
	char name[SM_NAME_SIZE];

	for (guint i = 0; i < others->len; i++) {
		const struct other_sm *other = &g_array_index(others, struct other_sm, i);
		g_autofree char *text = g_strdup_printf("another SM manages the subnet: %s",
							other_sm_name(other, name, sizeof(name)));

		if (other->sm.state == IBA_SM_MASTER)
			dry_run_note(sm_dry_run(sm), text);
	}
}

/*
 * No SM should lead. A MASTER stays MASTER: it may still serve what it knows, and discovers again
 * as after any error. Any other SM does not take over, and does not even set its own port.
 */
static enum step_result abstain(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	g_autofree char *why = outlook_why_unable(sm);
	unsigned int doublings =
		mastership_own_ability(sm).endports > 1 ? ABSTAIN_DOUBLINGS
							: ABSTAIN_DOUBLINGS_ALONE;

	if (sm_is_master(sm)) {
		sm_problem(sm,
			   "%s; this SM stays MASTER, as no other SM is known that could "
			   "take over",
			   why);
		return be_master(sm);
	}
	if (!ms->abstentions)
		log_sys_error(sm->log, "this SM does not become MASTER: %s", why);
	standby_wait(sm, NS_PER_S << MIN(ms->abstentions, doublings));
	ms->abstentions++;
	sm->dealing = ABSTAINING;
	sm->schedule.discovered = false;
	return STEP_END;
}

static void look_out(struct sm *sm)
{
	struct ability ability;

	if (sm->sweep.kind == SWEEP_KIND_LIGHT || sm->dry)
		return;
	ability = outlook_of(sm);
	mastership_set_ability(sm, &ability);
}

/* Acts on the SMs found, once all have answered. */
/* For the performance manager, which may read counters beside the master. */
static void publish_seen(struct sm *sm)
{
	struct fabric *seen;

	if (!sm->options->perfmgr || !sm->options->perfmgr_standby)
		return;
	seen = builder_freeze(sm->builder);
	if (!seen)
		return;
	slot_publish(&sm->context->seen, seen);
	event_emit(&sm->context->bus, EVENT_SUBNET_SEEN, 0);
}

static enum step_result go_by_verdict(struct sm *sm)
{
	struct other_sm *whom;
	enum election_verdict verdict = decide(sm, &whom);
	bool waits;

	switch (verdict) {
	case ELECTION_FOLLOW:
		publish_seen(sm);
		standby_follow(sm, whom);
		return STEP_END;
	case ELECTION_HAND_OVER:
		waits = is_waited_for(sm, whom);
		begin_waiting(sm, whom);
		if (waits) {
			standby_wait(sm, IN_STEP_NS);
			return be_master(sm);
		}
		whom->behind_ns = 0;
		dealing_begin(sm, HANDING_OVER, whom);
		return STEP_END;
	case ELECTION_AWAIT:
		dealing_begin(sm, AWAITING, whom);
		return STEP_END;
	case ELECTION_ABSTAIN:
		return outlook_inquires(sm) ? STEP_LATER : abstain(sm);
	default:
		return be_master(sm);
	}
}

/*
 * True if the sweep must begin again, as the own port was configured differently in the meantime.
 */
static bool is_to_begin_anew(struct sm *sm)
{
	if (sm->options->ignore_other_sm)
		return false;
	if (!sm->sweep.round && elect_is_configured_by_another(sm, &sm->builder->sm_port->info)) {
		if (sm->sweep.kind == SWEEP_KIND_HEAVY)
			mastership_forget_tables(sm);
		else if (elect_contests(sm))
			return true;
	}
	return sm->mastership->was_cut_off && sm->sweep.kind != SWEEP_KIND_HEAVY;
}

enum step_result step_elect(struct sm *sm)
{
	const struct other_sm *successor;

	if (sm->sweep.round && sm->sweep.pending)
		return STEP_LATER; /* SMs that answer late must be counted too */
	look_out(sm);
	if (sm_state(sm) == IBA_SM_STANDBY) { /* it has discovered; the master will supply more */
		sm->schedule.discovered = false;
		publish_seen(sm);
		return STEP_END;
	}
	if (is_to_begin_anew(sm))
		return STEP_HEAVY;
	if (!sm->sweep.round) {
		other_sms_meet(sm);
		if (sm->sweep.pending)
			return STEP_LATER;
	}
	other_sms_drop_silent(sm);
	if (sm->dry) {
		tell_masters(sm);
		return be_master(sm);
	}
	successor = sm->options->ignore_other_sm ? NULL : successor_of(sm);
	if (successor) {
		elect_follow_successor(sm, successor);
		return STEP_END;
	}
	return go_by_verdict(sm);
}

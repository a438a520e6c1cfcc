// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The role of this SM among the others (other_sm.c). election.c decides, from what is known of
 * them; this file carries it out.
 *
 *	decides		step_elect()
 *	as STANDBY	polls the SM that it follows, and reports a higher rank to it by trap 144;
 *			sends nothing else, and does not sweep
 *	as MASTER	hands over to a higher rank; waits a while for the HANDOVER of a master of
 *			lower rank, and continues if none comes: that one notices when its port is
 *			configured. Polls the other SMs. Does not sweep while it waits.
 *	receives	mastership_receive(): Set(SMInfo) of others
 *
 * Polls alternate between the LID and the path known from discovery: one of them reaches the master
 * as long as it lives.
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/other_sm.h"
#include "sm/election/outlook.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/dry_run.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

#define SOON_NS (10 * NS_PER_MS)
#define PATIENCE_MAX (1 * NS_PER_S) /* for the other SM's part of a handover */
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
/*
 * An SM that has just found the same part of the subnet as this one will soon have discovered it.
 */
#define IN_SIGHT_NS (50 * NS_PER_MS)
/* A MASTER that refused this many HANDOVERs will continue: the SM of lower rank is its standby. */
#define REFUSALS_MAX 2
/* An SM that cannot lead discovers again: first after a second, then at growing intervals. */
#define ABSTAIN_DOUBLINGS_ALONE 3 /* where that costs two SMPs */
#define ABSTAIN_DOUBLINGS 6
/* A standby that counts more nodes than its master reports also discovers again, at intervals. */
#define LOOK_FIRST_NS (10 * NS_PER_S)
#define LOOK_DOUBLINGS 6
/* An SM behind an excluded cable sends its requests repeatedly. */
#define BEYOND_NS (60 * NS_PER_S)

struct mastership {
	struct sm *sm;
	struct other_sm partner; /* SM that STANDBY polls, or MASTER deals with */
	unsigned int polls;
	uint16_t master_lid;   /* MasterSMLID of the own port at the last poll */
	unsigned int misses;   /* polls in a row without a master that answers */
	unsigned int in_vain;  /* failed dealings in a row with that partner */
	unsigned int asked;    /* SMs queried for being standby, in order to retire */
	bool was_missed;       /* the previous master did not answer polls */
	uint64_t beyond_ns;    /* when it last searched beyond the known subnet; 0: never */
	uint64_t learns_ns;    /* since when it follows its successor; 0: it does not */
	bool was_cut_off;      /* as MASTER: it has not searched for another one since */
	unsigned int refusals; /* HANDOVERs in a row that the partner refused as MASTER */
	unsigned int abstentions; /* in a row */
	unsigned int looks;	  /* discoveries in a row as the master may see or set less */
	uint64_t looked_ns;	  /* when it last discovered, as STANDBY */
	bool told_more;		  /* logged that this STANDBY sees more than its master serves */
	unsigned int more;	  /* polls in a row that showed that */
	struct timer timer;    /* the next poll, or the end of a wait */
	unsigned int contests; /* heavy sweeps in a row since another SM configured the own port */
	uint64_t contested_ns; /* when the last of these began */
};

/* ---- the state of this SM ---- */

static void tell_state(struct sm *sm, unsigned int state)
{
	log_milestone(sm->log, STATE, "Entering %s state", iba_name(IBA_SET_SM_STATE, state));
	event_emit(&sm->context->bus, EVENT_SM_STATE, state);
}

static void set_state(struct sm *sm, unsigned int state)
{
	unsigned int before = atomic_exchange(&sm->context->sm_state, state);

	if (before == state)
		return;
	if (before == IBA_SM_STANDBY)
		sweep_flag(sm, SWEEP_FLAG_TAKING_OVER, state != IBA_SM_NOT_ACTIVE);
	sm->takeover.due |= state == IBA_SM_MASTER;
	if (state == IBA_SM_NOT_ACTIVE)
		replicate_follow(sm, 0);
	tell_state(sm, state);
}

void mastership_begin(struct sm *sm)
{
	unsigned int state = sm->options->sm_inactive ? IBA_SM_NOT_ACTIVE : IBA_SM_DISCOVERING;

	atomic_store(&sm->context->sm_state, state);
	tell_state(sm, state);
}

/* What a master knows is no longer reliable once another one may write. */
static void forget_tables(struct sm *sm)
{
	trust_forget_all(sm->builder);
	builder_touch_all(sm->builder);
}

/*
 * This function drops all state of a master when this SM stops being one; the SA drops its own when
 * it is notified of the new state.
 */
static void forget_mastery(struct sm *sm)
{
	sweep_rest(sm);
	forget_tables(sm);
	g_clear_pointer(&sm->routing, routing_unref); /* another SM computes the routes now */
	guid2lid_doubt(sm->guid2lid);
	reregister_forget(sm);
	sm->takeover = (struct takeover){0};
	sm->mastership->was_cut_off = false;
}

static struct election_sm own_sm(const struct sm *sm)
{
	const struct sm_told told = sm_info_own(sm);

	return other_sm_told(&told);
}

static uint64_t poll_ns(const struct sm *sm)
{
	return sm->options->sminfo_polling_timeout * NS_PER_MS;
}

/* ---- ability ---- */

static struct ability own_ability(const struct sm *sm)
{
	return ability_unpack(atomic_load(&sm->context->ability));
}

static void set_ability(struct sm *sm, const struct ability *ability)
{
	atomic_store(&sm->context->ability, ability_pack(ability));
}

void mastership_saw_nothing(struct sm *sm)
{
	static const struct ability none = {.known = true, .unable = true};

	if (sm_state(sm) == IBA_SM_DISCOVERING)
		set_ability(sm, &none);
}

bool mastership_was_missed(const struct sm *sm, const struct builder_port *port)
{
	const struct mastership *ms = sm->mastership;

	return ms->was_missed && port && port->node->guid == ms->partner.node_guid &&
	       sm_state(sm) == IBA_SM_DISCOVERING;
}

bool mastership_polled_in_vain(const struct sm *sm, uint16_t lid)
{
	const struct mastership *ms = sm->mastership;

	return ms->was_missed && lid == ms->partner.lid && sm_state(sm) == IBA_SM_DISCOVERING;
}

/* ---- STANDBY ---- */

static void wait_for(struct sm *sm, uint64_t ns)
{
	timer_start(&sm->mastership->timer, ns);
}

static void tell_rank(struct sm *sm)
{
	const struct other_sm *master = &sm->mastership->partner;
	struct election_sm own = own_sm(sm);

	if (master->sm.state == IBA_SM_MASTER && election_is_heir(&own, &master->sm))
		other_sm_tell_rank(sm, master);
}

static void follow(struct sm *sm, const struct other_sm *other)
{
	struct mastership *ms = sm->mastership;
	char name[SM_NAME_SIZE];

	log_info(sm->log, "standby of %s", other_sm_name(other, name, sizeof(name)));
	if (other != &ms->partner)
		ms->partner = *other;
	sm->dealing = ALONE;
	ms->misses = ms->in_vain = ms->refusals = ms->looks = ms->more = 0;
	ms->learns_ns = 0;
	atomic_store(&sm->context->master_heard, 0);
	atomic_store(&sm->context->master_misses, 0);
	ms->looked_ns = actor_now(sm->actor);
	forget_mastery(sm);
	other_sms_show(sm, &ms->partner);
	replicate_follow(sm, ms->partner.sm.guid);
	set_state(sm, IBA_SM_STANDBY);
	/*
	 * An SM that is not master may have died since it was found; its missed polls count from
	 * now on.
	 */
	wait_for(sm, ms->partner.sm.state == IBA_SM_MASTER ? poll_ns(sm) : SOON_NS);
	tell_rank(sm);
}

/* Resets the patience with the partner: each SM may do its part now. */
static void begin_anew(struct sm *sm)
{
	struct mastership *ms = sm->mastership;

	ms->misses = ms->in_vain = 0;
	for (guint i = 0; i < sm->others->known->len; i++)
		g_array_index(sm->others->known, struct other_sm, i).stubborn = false;
}

/* This SM must discover the subnet, in the given state. */
static void set_out(struct sm *sm, unsigned int state)
{
	struct mastership *ms = sm->mastership;

	if (sm_state(sm) == IBA_SM_STANDBY)
		sweep_rest(sm); /* a standby's discovery may be running */
	timer_stop(&ms->timer);
	sm->dealing = ALONE;
	begin_anew(sm);
	forget_tables(sm);
	other_sms_show(sm, NULL);
	set_state(sm, state);
	sweep_want(sm, SWEEP_HEAVY);
}

static void give_up(const struct sm *sm, struct other_sm *other)
{
	other->stubborn = true;
	other->stubborn_to = own_sm(sm).priority;
}

static void missed(struct sm *sm, const char *why)
{
	struct mastership *ms = sm->mastership;
	struct other_sm *other;
	char name[SM_NAME_SIZE];

	atomic_store(&sm->context->master_misses, ++ms->misses);
	if (ms->misses <= sm->options->polling_retry_number)
		return;
	log_sys(sm->log, "%s %s: taking over", other_sm_name(&ms->partner, name, sizeof(name)),
		why);
	ms->was_missed = true;
	set_out(sm, IBA_SM_DISCOVERING);
	other = other_sm_find(sm, ms->partner.sm.guid);
	if (other && ms->partner.sm.state != IBA_SM_MASTER)
		give_up(sm, other); /* it never became MASTER, whatever its rank */
}

/* If one of the two cannot do what the other can, what this one knows may be outdated. */
static void look_again(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	const struct ability own = own_ability(sm), *master = &ms->partner.sm.ability;
	uint64_t now = actor_now(sm->actor);

	if (!own.unable && !ability_falls_short(&own, master) &&
	    !ability_falls_short(master, &own)) {
		ms->looks = 0;
		return;
	}
	if (sweep_runs(sm) || now - ms->looked_ns < LOOK_FIRST_NS << MIN(ms->looks, LOOK_DOUBLINGS))
		return;
	ms->looks++;
	ms->looked_ns = now;
	sweep_look(sm);
}

/* It has discovered, and sees more than its master serves. */
static bool sees_more(const struct sm *sm)
{
	const struct mastership *ms = sm->mastership;
	const struct ability own = own_ability(sm);

	return ms->looks && !sweep_runs(sm) && !own.unable &&
	       ability_falls_short(&ms->partner.sm.ability, &own);
}

static void tell_more(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	const struct ability own = own_ability(sm), *master = &ms->partner.sm.ability;
	char name[SM_NAME_SIZE];

	if (ms->told_more)
		return;
	ms->told_more = true;
	log_sys_error(sm->log, "%s can set %u ports, and this standby could set %u: %s",
		      other_sm_name(&ms->partner, name, sizeof(name)), master->settable,
		      own.settable,
		      sm->options->sm_take_over_useless_master
			      ? "it takes over if that stays so"
			      : "sm_take_over_useless_master would have it take over");
}

/* True if this standby takes over from a master that answers, but serves far too few ports. */
static bool deposes(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	struct other_sm *other;

	if (!sees_more(sm)) {
		ms->told_more = false;
		ms->more = 0;
		return false;
	}
	tell_more(sm);
	if (!sm->options->sm_take_over_useless_master ||
	    ++ms->more <= sm->options->polling_retry_number)
		return false;
	other = other_sm_find(sm, ms->partner.sm.guid);
	if (other)
		other->useless = true;
	log_sys(sm->log, "the master serves far less than there is: taking over");
	set_out(sm, IBA_SM_DISCOVERING);
	return true;
}

static void on_poll_answer(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct mastership *ms = sm->mastership;
	struct sm_told told;
	const struct iba_sm_info *info = &told.info;

	if (sm_state(sm) != IBA_SM_STANDBY)
		return;
	if (!sm_request_ok(request)) {
		missed(sm, "is silent");
		return;
	}
	told = sm_info_decode(request->mad.data);
	if (info->sm_state != IBA_SM_MASTER) {
		if (told.ability.unable) /* it will not become master either */
			ms->misses = sm->options->polling_retry_number;
		missed(sm, "is no master any more");
		return;
	}
	if (info->guid != ms->partner.sm.guid) {
		ms->partner = (struct other_sm){.lid = request->mad.route.lid};
		replicate_follow(sm, info->guid);
	}
	ms->partner.sm = ms->partner.last = other_sm_told(&told);
	ms->partner.heard = actor_now(sm->actor);
	other_sm_locate(sm, &ms->partner);
	atomic_store(&sm->context->master_heard, ms->partner.heard);
	other_sms_show(sm, &ms->partner);
	tell_rank(sm);
	if (told.ability.unable && !own_ability(sm).unable) { /* it should hand over */
		missed(sm, "cannot set the subnet");
		return;
	}
	ms->misses = 0;
	atomic_store(&sm->context->master_misses, 0);
	if (!deposes(sm))
		look_again(sm);
}

/* MasterSMLID of the own port: the current location of the master. */
static void on_own_port(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct mastership *ms = sm->mastership;
	struct iba_port_info info;

	if (sm_state(sm) != IBA_SM_STANDBY)
		return;
	if (sm_request_ok(request)) {
		wire_decode(&iba_port_info_type, request->mad.data, &info);
		if (info.port_state >= IBA_PORT_ARMED && info.master_sm_lid != info.lid &&
		    (ms->partner.sm.state == IBA_SM_MASTER || info.master_sm_lid != ms->master_lid))
			ms->partner.lid = info.master_sm_lid;
		ms->master_lid = info.master_sm_lid;
		if (sm->builder->sm_port)
			builder_set_info(sm->builder->sm_port, &info);
		mad_set_own_lid(sm->mad, info.lid, info.master_sm_sl);
	}
	if (!other_sm_ask(sm, &ms->partner, ms->polls % 2, on_poll_answer))
		missed(sm, "is nowhere");
}

static void poll(struct sm *sm)
{
	sm->mastership->polls++;
	wait_for(sm, poll_ns(sm));
	if (sm->builder->sm_port)
		own_port_ask(sm, on_own_port);
	else
		missed(sm, "is nowhere");
}

/* ---- MASTER among others ---- */

static void finish_retiring(struct sm *sm)
{
	timer_stop(&sm->mastership->timer);
	sm->dealing = ALONE;
	forget_mastery(sm);
	set_state(sm, IBA_SM_NOT_ACTIVE);
	event_emit(&sm->context->bus, EVENT_FINISHED, 0);
}

/*
 * Whether a HANDOVER is awaited from an SM of higher rank, as it falls short of this one: its last
 * report may be outdated.
 */
static bool may_see_more_soon(const struct sm *sm, const struct other_sm *other)
{
	struct election_sm own = own_sm(sm);

	return election_outranks(&other->sm, &own);
}

static uint64_t patience(const struct sm *sm, enum dealing dealing, const struct other_sm *other)
{
	uint64_t most = MIN(poll_ns(sm), PATIENCE_MAX);

	if (dealing != AWAITING || !may_see_more_soon(sm, other))
		return most;
	return MIN(IN_SIGHT_NS << MIN(sm->mastership->in_vain, 10u), most);
}

/*
 * Of two masters the one of lower rank should become standby (14.4.1), even if the other ignores
 * all SMs, and so its HANDOVER.
 */
static void yield_to(struct sm *sm, const struct other_sm *other)
{
	char name[SM_NAME_SIZE];

	log_sys_error(sm->log,
		      "%s takes no HANDOVER (its ignore_other_sm may be TRUE), and goes on "
		      "as MASTER: this SM, of lower rank, is its standby",
		      other_sm_name(other, name, sizeof(name)));
	follow(sm, other);
}

/* The other SM did not do its part in time: discover again, and finally continue without it. */
static void lose_patience(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	struct other_sm *other = other_sm_find(sm, ms->partner.sm.guid);
	enum dealing was = sm->dealing;
	char name[SM_NAME_SIZE];

	if (was == RETIRING) {
		finish_retiring(sm);
		return;
	}
	sm->dealing = ALONE;
	if (other && ms->refusals >= REFUSALS_MAX) {
		yield_to(sm, other);
		return;
	}
	forget_tables(sm);
	/*
	 * An SM that should have handed over notices this one when its port is configured; the
	 * classic daemon only if a trap makes it sweep.
	 */
	if (other && was == AWAITING) {
		other_sm_tell_rank(sm, other);
		if (!may_see_more_soon(sm, other) ||
		    ++ms->in_vain > sm->options->polling_retry_number)
			give_up(sm, other);
	} else if (other && ++ms->in_vain > sm->options->polling_retry_number) {
		if (other->sm.state == IBA_SM_MASTER) {
			yield_to(sm, other);
			return;
		}
		log_sys_error(sm->log, "%s takes no part in the election: this SM stays MASTER",
			      other_sm_name(&ms->partner, name, sizeof(name)));
		give_up(sm, other);
		ms->in_vain = 0;
	}
	sweep_want(sm, SWEEP_HEAVY);
}

static bool hands_over(const struct sm *sm)
{
	return sm->dealing == HANDING_OVER ||
	       (sm->dealing == RETIRING && sm->mastership->partner.sm.guid);
}

static void taken_over(struct sm *sm, const struct other_sm *by)
{
	if (sm->dealing == RETIRING)
		finish_retiring(sm);
	else
		follow(sm, by);
}

/*
 * An SM that accepted is master from then on. It also sends ACKNOWLEDGE, except the classic daemon;
 * that checks at once whether this SM is still master, and if so hands back.
 */
static void on_handed_over(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct mastership *ms = sm->mastership;

	if (!hands_over(sm))
		return;
	if (sm_request_ok(request))
		taken_over(sm, &ms->partner);
	else if (request->mad.result == MAD_STATUS && ms->partner.sm.state == IBA_SM_MASTER)
		ms->refusals++;
}

static void deal(struct sm *sm, enum dealing dealing, const struct other_sm *other)
{
	struct mastership *ms = sm->mastership;
	char name[SM_NAME_SIZE];

	if (ms->partner.sm.guid != other->sm.guid)
		ms->in_vain = ms->refusals = 0;
	ms->partner = *other;
	sm->dealing = dealing;
	wait_for(sm, patience(sm, dealing, other));
	other_sm_name(other, name, sizeof(name));
	if (dealing == AWAITING) {
		log_info(sm->log, "%s is to hand over to this one", name);
		return;
	}
	log_info(sm->log, "handing over to %s", name);
	other_sm_control(sm, other, IBA_SM_INFO_HANDOVER, on_handed_over);
}

static void on_other(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct election_sm own = own_sm(sm), now;
	struct other_sm *other;
	struct sm_told told;
	bool was_known;

	if (!sm_is_master(sm))
		return;
	if (request->mad.result == MAD_STATUS && !(request->mad.status & IBA_STATUS_BUSY))
		other_sm_is_gone(sm); /* there is a port, but no SM */
	if (!sm_request_ok(request))
		return;
	told = sm_info_decode(request->mad.data);
	now = other_sm_told(&told);
	if (!other_sm_is_ours(sm, &told))
		return;
	was_known = other_sm_find(sm, told.info.guid);
	other = other_sm_answered(sm, &told);
	if (other) {
		other_sm_heard(sm, other, &told);
		other_sms_show(sm, NULL);
	}
	if (sm->options->ignore_other_sm)
		return;
	if (other) { /* what it reported in a sweep stays until the next one queries it */
		struct other_sm told_now = *other;

		told_now.sm = now;
		now = other_sm_judged(sm, &told_now);
	}
	if (!was_known || now.state == IBA_SM_MASTER ||
	    (now.state == IBA_SM_STANDBY && election_is_heir(&now, &own)))
		sweep_want(sm, SWEEP_LIGHT); /* which queries them, and decides */
}

/* An SM found in DISCOVERING decides by what it found, which may be incomplete: poll the others. */
static void watch_others(struct sm *sm)
{
	other_sms_ask(sm, on_other);
	wait_for(sm, poll_ns(sm));
}

/* It could not lead: discover again. */
static void look_around(struct sm *sm)
{
	sm->dealing = ALONE;
	sweep_want(sm, SWEEP_HEAVY);
}

static void on_timer(struct timer *timer)
{
	struct mastership *ms =
		(struct mastership *)((char *)timer - offsetof(struct mastership, timer));
	struct sm *sm = ms->sm;

	if (sm->dealing == ABSTAINING)
		look_around(sm);
	else if (sm->dealing != ALONE)
		lose_patience(sm);
	else if (sm_state(sm) == IBA_SM_STANDBY)
		poll(sm);
	else if (sm_is_master(sm) && other_sms_are_there(sm))
		watch_others(sm);
}

/* ---- the step ---- */

static enum election_verdict decide(struct sm *sm, struct other_sm **whom)
{
	struct election_sm own = own_sm(sm);
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
static bool knows_more(const struct sm *sm, uint64_t guid)
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
	for (guint i = 0; i < sm->others->known->len; i++) {
		const struct other_sm *other =
			&g_array_index(sm->others->known, struct other_sm, i);

		if (other->sm.state == IBA_SM_MASTER && knows_more(sm, other->sm.guid))
			return other;
	}
	return NULL;
}

static void follow_successor(struct sm *sm, const struct other_sm *successor)
{
	follow(sm, successor);
	sm->mastership->learns_ns = actor_now(sm->actor);
}

/* Whether this STANDBY does not have everything yet of the successor that it follows. */
static bool still_learns(const struct sm *sm, uint64_t guid)
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
static bool is_waited_for(const struct sm *sm, struct other_sm *other)
{
	uint64_t now = actor_now(sm->actor), most = 0;

	if (catches_up(sm, other))
		most = IN_STEP_MAX;
	else if (other->sm.guid == sm->takeover.of)
		most = IN_STEP_NS;
	if (!other->behind_ns) {
		other->behind_ns = now;
		replicator_ask_again(sm->context->replicator, other->sm.guid);
	}
	return now - other->behind_ns < most;
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

	for (guint i = 0; i < sm->others->known->len; i++) {
		struct other_sm *other = &g_array_index(sm->others->known, struct other_sm, i);
		bool is_master = other->sm.state == IBA_SM_MASTER;

		if (is_master && !sm->dry)
			other_sm_contests(sm);
		if (is_master && !other->told_master)
			log_sys_error(sm->log,
				      "there are two masters: %s is MASTER too, and one of both "
				      "does not yield (ignore_other_sm may be TRUE)",
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
		set_state(sm, IBA_SM_MASTER);
	}
	sm->mastership->was_cut_off = false;
	sm->mastership->abstentions = 0;
	tell_other_masters(sm);
	stay(sm);
	if (other_sms_are_there(sm) && !timer_running(&sm->mastership->timer) && !sm->dry)
		wait_for(sm, poll_ns(sm));
	other_sms_tell_replicator(sm);
	return STEP_NEXT;
}

/*
 * Two SMs that began separately both gave their first LIDs to themselves: MasterSMLID may be equal.
 */
static bool is_configured_by_another(const struct sm *sm, const struct iba_port_info *info)
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
static bool contests(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	uint64_t now = actor_now(sm->actor), wait = contest_wait(sm);

	/* When halves of a subnet are joined, one contest settles it; more need an operator. */
	if (ms->contests > 2)
		other_sm_contests(sm);
	if (ms->contests && now - ms->contested_ns < wait)
		return false;
	if (now - ms->contested_ns > 2 * MAX(wait, poll_ns(sm)))
		ms->contests = 0; /* that was settled */
	ms->contests++;
	ms->contested_ns = now;
	return true;
}

/* A dry run continues beside other SMs: it shows what this SM would change. */
static void tell_masters(struct sm *sm)
{
	const GArray *others = sm->others->known;
	char name[SM_NAME_SIZE];

	for (guint i = 0; i < others->len; i++) {
		const struct other_sm *other = &g_array_index(others, struct other_sm, i);
		g_autofree char *text = g_strdup_printf("another SM has the subnet: %s",
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
		own_ability(sm).endports > 1 ? ABSTAIN_DOUBLINGS : ABSTAIN_DOUBLINGS_ALONE;

	if (sm_is_master(sm)) {
		sm_problem(sm, "%s; this SM stays MASTER, as no other is known that could lead",
			   why);
		return be_master(sm);
	}
	if (!ms->abstentions)
		log_sys_error(sm->log, "%s: this SM does not become MASTER of its own port alone",
			      why);
	wait_for(sm, NS_PER_S << MIN(ms->abstentions, doublings));
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
	set_ability(sm, &ability);
}

/* Acts on the SMs found, once all have answered. */
static enum step_result go_by_verdict(struct sm *sm)
{
	struct other_sm *whom;
	enum election_verdict verdict = decide(sm, &whom);

	switch (verdict) {
	case ELECTION_FOLLOW:
		follow(sm, whom);
		return STEP_END;
	case ELECTION_HAND_OVER:
		if (is_waited_for(sm, whom)) {
			wait_for(sm, IN_STEP_NS);
			return be_master(sm);
		}
		whom->behind_ns = 0;
		deal(sm, HANDING_OVER, whom);
		return STEP_END;
	case ELECTION_AWAIT:
		deal(sm, AWAITING, whom);
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
	if (!sm->sweep.round && is_configured_by_another(sm, &sm->builder->sm_port->info)) {
		if (sm->sweep.kind == SWEEP_KIND_HEAVY)
			forget_tables(sm);
		else if (contests(sm))
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
		follow_successor(sm, successor);
		return STEP_END;
	}
	return go_by_verdict(sm);
}

/* ---- requests of other SMs ---- */

/* It has handed over in any case, and may have gone by now: not a fault of its node. */
static void on_acknowledged(struct sm_request *request)
{
	(void)request;
}

static void obey(struct sm *sm, const struct election_answer *answer, const struct other_sm *from)
{
	struct mastership *ms = sm->mastership;

	if (answer->acknowledge)
		other_sm_control(sm, from, IBA_SM_INFO_ACKNOWLEDGE, on_acknowledged);
	if (answer->sweep) {
		set_out(sm, answer->state);
	} else if (answer->state == IBA_SM_STANDBY && hands_over(sm)) {
		taken_over(sm, from);
	} else if (answer->state == IBA_SM_STANDBY && sm_state(sm) != IBA_SM_STANDBY) {
		follow(sm, from);
	} else if (answer->state == IBA_SM_NOT_ACTIVE) {
		timer_stop(&ms->timer);
		set_state(sm, IBA_SM_NOT_ACTIVE);
	}
}

/* The sender of a control: as known, or by the LID that it came from. */
static struct other_sm sender_of(struct sm *sm, const struct vendor_mad *mad,
				 const struct sm_told *told)
{
	const struct iba_sm_info *info = &told->info;
	struct mastership *ms = sm->mastership;
	struct other_sm sender = {0};
	const struct other_sm *known = other_sm_find(sm, info->guid);

	if (known)
		sender = *known;
	else if (ms->partner.sm.guid == info->guid)
		sender = ms->partner;
	sender.sm = other_sm_told(told);
	if (mad->remote.lid >= IBA_LID_UCAST_FIRST && mad->remote.lid <= IBA_LID_UCAST_LAST)
		sender.lid = mad->remote.lid;
	other_sm_locate(sm, &sender);
	return sender;
}

static bool may_control(struct sm *sm, const struct iba_smp *smp, const struct iba_sm_info *info)
{
	return keys_shown(sm, smp->m_key) && !other_sm_why_ignored(sm, info) &&
	       info->guid != vendor_port_guid(sm->vendor);
}

void mastership_receive(void *arg, struct vendor_mad *mad)
{
	struct sm *sm = arg;
	struct mastership *ms = sm->mastership;
	struct election_sm own = own_sm(sm);
	struct election_answer answer = {.refused = true};
	struct sm_told told;
	const struct iba_sm_info *info = &told.info;
	struct other_sm sender;
	struct iba_smp smp;
	unsigned int what, held_back;
	bool follows = false;

	wire_decode(&iba_smp_type, mad->data, &smp);
	told = sm_info_decode(smp.data);
	sender = sender_of(sm, mad, &told);
	what = smp.header.attribute_modifier;
	if (!sm->options->ignore_other_sm && may_control(sm, &smp, info))
		answer = election_control(&own, what, &sender.sm,
					  hands_over(sm) && ms->partner.sm.guid == info->guid);
	if (sm->dealing == RETIRING && what == IBA_SM_INFO_HANDOVER)
		answer.refused = true; /* there is a master, and it should stay */
	if (what == IBA_SM_INFO_HANDOVER && !answer.refused)
		follows = knows_more(sm, info->guid);
	answer.refused |= follows || (what == IBA_SM_INFO_HANDOVER && still_learns(sm, info->guid));
	counter_inc(&sm->context->counters, sm_controls);
	/* The answer is sent before its effects. */
	sm_info_answer(sm, mad, &smp, answer.refused ? IBA_STATUS_INVALID_FIELD : 0,
		       may_control(sm, &smp, info));
	if (log_limit_pass(&sm->trap_log, actor_now(sm->actor), 20, NS_PER_S, &held_back))
		log_info(sm->log, "SM 0x%016" G_GINT64_MODIFIER "x sent %s: %s", info->guid,
			 iba_name(IBA_SET_SM_INFO_MOD, what) ?: "an unknown control",
			 answer.refused ? "refused" : "obeyed");
	if (follows)
		follow_successor(sm, &sender);
	else if (!answer.refused)
		obey(sm, &answer, &sender);
	else if (sm->dealing == RETIRING && sender.sm.state == IBA_SM_MASTER)
		finish_retiring(sm);
}

/* ---- life ---- */

void mastership_options_changed(struct sm *sm)
{
	struct mastership *ms = sm->mastership;

	ms->looks = ms->abstentions = 0;
	ms->looked_ns = 0; /* it may have the M_Key now, or the higher rank */
	if (sm_state(sm) == IBA_SM_STANDBY || sm->dealing == ABSTAINING)
		wait_for(sm, 0);
	else if (sm_is_master(sm) && other_sms_are_there(sm))
		sweep_want(sm, SWEEP_LIGHT);
}

bool mastership_own_port_read(struct sm *sm, const struct iba_port_info *info)
{
	if (!is_configured_by_another(sm, info))
		return false;
	if (sm->options->ignore_other_sm) /* but without its LID it cannot be reached */
		return info->lid == sm->builder->sm_port->lid;
	if (!contests(sm)) {
		timer_start(&sm->watch, NS_PER_S); /* which reads the port again */
		return true;
	}
	forget_tables(sm);
	log_sys_error(sm->log, "another SM configured the port of this one: looking for it");
	sweep_want(sm, SWEEP_HEAVY);
	return true;
}

void mastership_asked_from_beyond(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	uint64_t now = actor_now(sm->actor);

	if (!sm_is_master(sm) || sm->options->ignore_other_sm ||
	    (ms->beyond_ns && now - ms->beyond_ns < BEYOND_NS))
		return;
	ms->beyond_ns = now;
	log_sys(sm->log, "another SM asks for SMInfo from beyond what is known of the subnet: "
			 "looking for it");
	sweep_want(sm, SWEEP_HEAVY);
}

void mastership_port_changed(struct sm *sm)
{
	const struct mastership *ms = sm->mastership;

	if (sm->dealing == ABSTAINING)
		wait_for(sm, SOON_NS);
	/* Once a poll has failed, only time counts. */
	if (sm_state(sm) == IBA_SM_STANDBY && !ms->misses &&
	    ms->timer.when > actor_now(sm->actor) + SOON_NS)
		wait_for(sm, SOON_NS);
}

void mastership_cut_off(struct sm *sm)
{
	if (!sm->mastership->was_cut_off && sm_is_master(sm))
		replicator_cut_off(sm->context->replicator);
	sm->mastership->was_cut_off = sm_is_master(sm);
}

void mastership_port_lost(struct sm *sm)
{
	struct mastership *ms = sm->mastership;

	mastership_cut_off(sm);
	sweep_rest(sm);
	if (sm->dealing == RETIRING)
		return; /* its wait continues */
	sm->dealing = ALONE;
	timer_stop(&ms->timer);
}

/* An SM that became master meanwhile, if any, is found as when two subnets are joined. */
void mastership_port_back(struct sm *sm)
{
	forget_tables(sm);
	begin_anew(sm);
	if (sm_state(sm) == IBA_SM_STANDBY)
		wait_for(sm, SOON_NS);
	else
		sweep_want(sm, SWEEP_HEAVY);
}

void mastership_activate(struct sm *sm)
{
	if (sm_state(sm) == IBA_SM_NOT_ACTIVE && sm->dealing == ALONE)
		set_out(sm, IBA_SM_DISCOVERING);
}

static void hand_over_to_best(struct sm *sm)
{
	g_autofree struct election_sm *list = NULL;
	const struct election_sm own = own_sm(sm), *best;
	unsigned int n;

	list = other_sms_list(sm, NULL, &n);
	best = election_successor(&own, list, n);
	if (best)
		deal(sm, RETIRING, other_sm_find(sm, best->guid));
	else
		finish_retiring(sm);
}

static void on_last_answer(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct mastership *ms = sm->mastership;
	struct other_sm *other;

	if (sm_request_ok(request)) {
		const struct sm_told told = sm_info_decode(request->mad.data);

		other = other_sm_answered(sm, &told);
		if (other)
			other->sm = other_sm_told(&told);
	}
	if (!--ms->asked && sm->dealing == RETIRING)
		hand_over_to_best(sm);
}

void mastership_retire(struct sm *sm)
{
	struct mastership *ms = sm->mastership;

	if (!sm_is_master(sm) || sm->options->ignore_other_sm || sm->dealing == RETIRING) {
		event_emit(&sm->context->bus, EVENT_FINISHED, 0);
		return;
	}
	sweep_rest(sm);
	sm->dealing = RETIRING;
	ms->partner = (struct other_sm){0};
	wait_for(sm, PATIENCE_MAX);
	/* An SM found in DISCOVERING may be standby by now. */
	ms->asked = other_sms_ask(sm, on_last_answer);
	if (!ms->asked)
		finish_retiring(sm);
}

struct mastership *mastership_new(struct sm *sm)
{
	struct mastership *ms = g_new0(struct mastership, 1);

	ms->sm = sm;
	timer_init(&ms->timer, sm->actor, on_timer);
	return ms;
}

void mastership_free(struct mastership *ms)
{
	timer_stop(&ms->timer);
	g_free(ms);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The role of this SM among the others (other_sm.c), and what other SMs and events ask of it:
 *
 *	decides		step_elect() (elect.c), by the rule of election.c
 *	as STANDBY	standby.c
 *	as MASTER	dealing.c
 *	receives	mastership_receive(): Set(SMInfo) of others
 */
#include "complib/hash.h"
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/mastership_private.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write.h"

#define PATIENCE_MAX (1 * NS_PER_S) /* for the other SM's part of a handover */
/* An SM behind an excluded cable sends its requests repeatedly. */
#define BEYOND_NS (60 * NS_PER_S)

/* ---- the state of this SM ---- */

static void tell_state(struct sm *sm, unsigned int state)
{
	const char *name = iba_name(IBA_SET_SM_STATE, state);
	struct sm_about own;

	sm_about_own(&own, "state", sm);
	own.about.state = name;
	log_milestone_about(sm->log, STATE, &own.about, "Entering %s state", name);
	event_emit(&sm->context->bus, EVENT_SM_STATE, state);
}

void mastership_set_state(struct sm *sm, unsigned int state)
{
	unsigned int before = atomic_exchange(&sm->context->sm_state, state);

	if (before == state)
		return;
	if (before == IBA_SM_STANDBY)
		sweep_flag(sm, SWEEP_FLAG_TAKING_OVER, state != IBA_SM_NOT_ACTIVE);
	sm->takeover.due |= state == IBA_SM_MASTER;
	if (state == IBA_SM_NOT_ACTIVE)
		replicator_follow(sm->context->replicator, 0);
	tell_state(sm, state);
}

void mastership_begin(struct sm *sm)
{
	unsigned int state = sm->options->sm_inactive ? IBA_SM_NOT_ACTIVE : IBA_SM_DISCOVERING;

	atomic_store(&sm->context->sm_state, state);
	tell_state(sm, state);
}

/* What a master knows is no longer reliable once another one may write. */
void mastership_forget_tables(struct sm *sm)
{
	trust_forget_all(sm->builder);
	builder_touch_all(sm->builder);
}

/*
 * This function drops all state of a master when this SM stops being one; the SA drops its own when
 * it is notified of the new state.
 */
void mastership_forget_mastery(struct sm *sm)
{
	sweep_rest(sm);
	mastership_forget_tables(sm);
	g_clear_pointer(&sm->routing, routing_unref); /* another SM computes the routes now */
	guid2lid_doubt(sm->store.guid2lid);
	reregister_forget(sm);
	sm->takeover = (struct takeover){0};
	sm->mastership->was_cut_off = false;
}

struct election_sm mastership_own_sm(const struct sm *sm)
{
	const struct sm_told told = sm_info_own(sm);

	return other_sm_told(&told);
}

uint64_t mastership_poll_ns(const struct sm *sm)
{
	return sm->options->sminfo_polling_timeout * NS_PER_MS;
}

/* ---- ability ---- */

struct ability mastership_own_ability(const struct sm *sm)
{
	return ability_unpack(atomic_load(&sm->context->ability));
}

void mastership_set_ability(struct sm *sm, const struct ability *ability)
{
	atomic_store(&sm->context->ability, ability_pack(ability));
}

void mastership_saw_nothing(struct sm *sm)
{
	static const struct ability none = {.known = true, .unable = true};

	if (sm_state(sm) == IBA_SM_DISCOVERING)
		mastership_set_ability(sm, &none);
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
		standby_start_discovery(sm, answer->state);
	} else if (answer->state == IBA_SM_STANDBY && dealing_hands_over(sm)) {
		dealing_taken_over(sm, from);
	} else if (answer->state == IBA_SM_STANDBY && sm_state(sm) != IBA_SM_STANDBY) {
		standby_follow(sm, from);
	} else if (answer->state == IBA_SM_NOT_ACTIVE) {
		timer_stop(&ms->timer);
		mastership_set_state(sm, IBA_SM_NOT_ACTIVE);
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
	struct election_sm own = mastership_own_sm(sm);
	struct election_answer answer = {.refused = true};
	struct sm_told told;
	const struct iba_sm_info *info = &told.info;
	struct other_sm sender;
	struct iba_smp smp;
	unsigned int what, held_back;
	bool follows = false, hands_over;

	wire_decode(&iba_smp_type, mad->data, &smp);
	told = sm_info_decode(smp.data);
	sender = sender_of(sm, mad, &told);
	what = smp.header.attribute_modifier;
	hands_over = dealing_hands_over(sm) && ms->partner.sm.guid == info->guid;
	if (!sm->options->ignore_other_sm && may_control(sm, &smp, info))
		answer = election_control(&own, what, &sender.sm, hands_over);
	if (sm->dealing == RETIRING && what == IBA_SM_INFO_HANDOVER)
		answer.refused = true; /* there is a master, and it should stay */
	if (what == IBA_SM_INFO_HANDOVER && !answer.refused)
		follows = elect_knows_more(sm, info->guid);
	answer.refused |= follows ||
			  (what == IBA_SM_INFO_HANDOVER && elect_still_learns(sm, info->guid));
	counter_inc(&sm->context->counters, sm_controls);
	/* The answer is sent before its effects. */
	sm_info_answer(sm, mad, &smp, answer.refused ? IBA_STATUS_INVALID_FIELD : 0,
		       may_control(sm, &smp, info));
	if (schedule_may_log(sm, &held_back))
		log_info(sm->log, "SM 0x%016" G_GINT64_MODIFIER "x sent %s: %s", info->guid,
			 iba_name(IBA_SET_SM_INFO_MOD, what) ?: "an unknown control",
			 answer.refused ? "refused" : "obeyed");
	if (follows)
		elect_follow_successor(sm, &sender);
	else if (!answer.refused)
		obey(sm, &answer, &sender);
	else if (sm->dealing == RETIRING && sender.sm.state == IBA_SM_MASTER)
		dealing_finish_retiring(sm);
}

/* ---- life ---- */

void mastership_options_changed(struct sm *sm)
{
	struct mastership *ms = sm->mastership;

	ms->looks = ms->abstentions = 0;
	ms->looked_ns = 0; /* it may have the M_Key now, or the higher rank */
	if (sm_state(sm) == IBA_SM_STANDBY || sm->dealing == ABSTAINING)
		standby_wait(sm, 0);
	else if (sm_is_master(sm) && other_sms_are_there(sm))
		sweep_want(sm, SWEEP_LIGHT);
}

enum own_port_owner mastership_own_port_read(struct sm *sm, const struct iba_port_info *info)
{
	if (!elect_is_configured_by_another(sm, info))
		return OWN_PORT_OURS;
	if (sm->options->ignore_other_sm) /* but without its LID it cannot be reached */
		return info->lid == sm->builder->sm_port->lid ? OWN_PORT_FOREIGN : OWN_PORT_OURS;
	if (!elect_contests(sm))
		return OWN_PORT_DISPUTED;
	mastership_forget_tables(sm);
	log_sys_error(sm->log, "another SM configured the port of this SM: looking for that SM");
	sweep_want(sm, SWEEP_HEAVY);
	return OWN_PORT_FOREIGN;
}

void mastership_asked_from_beyond(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	uint64_t now = actor_now(sm->actor);

	if (!sm_is_master(sm) || sm->options->ignore_other_sm ||
	    (ms->beyond_ns && now - ms->beyond_ns < BEYOND_NS))
		return;
	ms->beyond_ns = now;
	log_sys(sm->log, "another SM, outside the known part of the subnet, asks for SMInfo: "
			 "looking for that SM");
	sweep_want(sm, SWEEP_HEAVY);
}

void mastership_port_changed(struct sm *sm)
{
	const struct mastership *ms = sm->mastership;

	if (sm->dealing == ABSTAINING)
		standby_wait(sm, SOON_NS);
	/* Once a poll has failed, only time counts. */
	if (sm_state(sm) == IBA_SM_STANDBY && !ms->misses &&
	    ms->timer.when > actor_now(sm->actor) + SOON_NS)
		standby_wait(sm, SOON_NS);
}

/*
 * Another SM may write until this one is back, and be gone by then: perhaps nothing shows it. What
 * silent switches held is still assumed, since that one did not reach them either.
 */
void mastership_cut_off(struct sm *sm)
{
	bool is_master = sm_is_master(sm);

	if (is_master && !sm->mastership->was_cut_off) {
		replicator_cut_off(sm->context->replicator);
		trust_lose_all(sm->builder);
	}
	sm->mastership->was_cut_off = is_master;
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
	mastership_forget_tables(sm);
	standby_reset_patience(sm);
	if (sm_state(sm) == IBA_SM_STANDBY)
		standby_wait(sm, SOON_NS);
	else
		sweep_want(sm, SWEEP_HEAVY);
}

void mastership_activate(struct sm *sm)
{
	if (sm_state(sm) == IBA_SM_NOT_ACTIVE && sm->dealing == ALONE)
		standby_start_discovery(sm, IBA_SM_DISCOVERING);
}

static void hand_over_to_best(struct sm *sm)
{
	g_autofree struct election_sm *list = NULL;
	const struct election_sm own = mastership_own_sm(sm), *best;
	unsigned int n;

	list = other_sms_list(sm, NULL, &n);
	best = election_successor(&own, list, n);
	if (best)
		dealing_begin(sm, RETIRING, other_sm_find(sm, best->guid));
	else
		dealing_finish_retiring(sm);
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
	standby_wait(sm, PATIENCE_MAX);
	/* An SM found in DISCOVERING may be standby by now. */
	ms->asked = other_sms_ask(sm, on_last_answer);
	if (!ms->asked)
		dealing_finish_retiring(sm);
}

struct mastership *mastership_new(struct sm *sm)
{
	struct mastership *ms = g_new0(struct mastership, 1);

	ms->sm = sm;
	ms->others = other_sms_new();
	ms->askers = askers_new();
	ms->first_act = (uint32_t)(hash_spread(actor_now(sm->actor)) >> 32);
	timer_init(&ms->timer, sm->actor, dealing_on_timer);
	return ms;
}

void mastership_free(struct mastership *ms)
{
	timer_stop(&ms->timer);
	other_sms_free(ms->others);
	askers_free(ms->askers);
	g_free(ms);
}

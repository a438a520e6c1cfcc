// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * This SM as STANDBY: it polls the SM that it follows, and reports a higher rank to it by trap 144.
 * It sends nothing else, and does not sweep.
 *
 *	polls alternate between the LID and the path known from discovery
 *	polling_retry_number polls without an answer:	DISCOVERING, then election
 *	the master sees or can set less than this SM:	discovers again, at growing intervals
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/mastership_private.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

/* A standby that counts more nodes than its master reports also discovers again, at intervals. */
#define LOOK_FOR_PORTS_NS (300 * NS_PER_S) /* between two reads of the subnet for counters */
#define LOOK_FIRST_NS (10 * NS_PER_S)
#define LOOK_DOUBLINGS 6

void standby_wait(struct sm *sm, uint64_t ns)
{
	timer_start(&sm->mastership->timer, ns);
}

static void tell_rank(struct sm *sm)
{
	const struct other_sm *master = &sm->mastership->partner;
	struct election_sm own = mastership_own_sm(sm);

	if (master->sm.state == IBA_SM_MASTER && election_is_heir(&own, &master->sm))
		other_sm_tell_rank(sm, master);
}

void standby_follow(struct sm *sm, const struct other_sm *other)
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
	mastership_forget_mastery(sm);
	other_sms_show(sm, &ms->partner);
	replicator_follow(sm->context->replicator, ms->partner.sm.guid);
	mastership_set_state(sm, IBA_SM_STANDBY);
	/*
	 * An SM that is not master may have died since it was found; its missed polls count from
	 * now on.
	 */
	standby_wait(sm, ms->partner.sm.state == IBA_SM_MASTER ? mastership_poll_ns(sm) : SOON_NS);
	tell_rank(sm);
}

/* Resets the patience with the partner: each SM may do its part now. */
void standby_reset_patience(struct sm *sm)
{
	struct mastership *ms = sm->mastership;

	ms->misses = ms->in_vain = 0;
	for (guint i = 0; i < sm->mastership->others->known->len; i++)
		g_array_index(sm->mastership->others->known, struct other_sm, i).stubborn = false;
}

/* This SM must discover the subnet, in the given state. */
void standby_start_discovery(struct sm *sm, unsigned int state)
{
	struct mastership *ms = sm->mastership;

	if (sm_state(sm) == IBA_SM_STANDBY)
		sweep_rest(sm); /* a standby's discovery may be running */
	timer_stop(&ms->timer);
	sm->dealing = ALONE;
	standby_reset_patience(sm);
	mastership_forget_tables(sm);
	other_sms_show(sm, NULL);
	mastership_set_state(sm, state);
	sweep_want(sm, SWEEP_HEAVY);
}

void standby_give_up(const struct sm *sm, struct other_sm *other)
{
	other->stubborn = true;
	other->stubborn_to = mastership_own_sm(sm).priority;
	other->stubborn_ns = actor_now(sm->actor);
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
	standby_start_discovery(sm, IBA_SM_DISCOVERING);
	other = other_sm_find(sm, ms->partner.sm.guid);
	if (other && ms->partner.sm.state != IBA_SM_MASTER)
		standby_give_up(sm, other); /* it never became MASTER, whatever its rank */
}

/* The performance manager reads counters of the ports that are there, without being MASTER. */
static bool is_to_look_for_ports(const struct sm *sm, uint64_t now)
{
	return sm->options->perfmgr && sm->options->perfmgr_standby && !sweep_runs(sm) &&
	       now - sm->mastership->looked_ns >= LOOK_FOR_PORTS_NS;
}

/* If one of the two cannot do what the other can, what this one knows may be outdated. */
static void look_again(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	const struct ability own = mastership_own_ability(sm), *master = &ms->partner.sm.ability;
	uint64_t now = actor_now(sm->actor);

	if (!own.unable && !ability_falls_short(&own, master) &&
	    !ability_falls_short(master, &own)) {
		ms->looks = 0;
		if (is_to_look_for_ports(sm, now)) {
			ms->looked_ns = now;
			sweep_look(sm);
		}
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
	const struct ability own = mastership_own_ability(sm);

	return ms->looks && !sweep_runs(sm) && !own.unable &&
	       ability_falls_short(&ms->partner.sm.ability, &own);
}

static void tell_more(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	const struct ability own = mastership_own_ability(sm), *master = &ms->partner.sm.ability;
	char name[SM_NAME_SIZE];

	if (ms->told_more)
		return;
	ms->told_more = true;
	log_sys_error(sm->log,
		      "%s can configure %u ports, but this standby could configure %u: "
		      "%s",
		      other_sm_name(&ms->partner, name, sizeof(name)), master->settable,
		      own.settable,
		      sm->options->sm_take_over_useless_master
			      ? "it takes over if this persists"
			      : "set sm_take_over_useless_master if it should take over");
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
	log_sys(sm->log, "the master serves far fewer ports than this SM could: taking over");
	standby_start_discovery(sm, IBA_SM_DISCOVERING);
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
		missed(sm, "does not answer");
		return;
	}
	told = sm_info_decode(request->mad.data);
	if (info->sm_state != IBA_SM_MASTER) {
		if (told.ability.unable) /* it will not become master either */
			ms->misses = sm->options->polling_retry_number;
		missed(sm, "is no longer MASTER");
		return;
	}
	if (info->guid != ms->partner.sm.guid) {
		ms->partner = (struct other_sm){.lid = request->mad.route.lid};
		replicator_follow(sm->context->replicator, info->guid);
	}
	ms->partner.sm = ms->partner.last = other_sm_told(&told);
	ms->partner.heard = actor_now(sm->actor);
	other_sm_locate(sm, &ms->partner);
	atomic_store(&sm->context->master_heard, ms->partner.heard);
	other_sms_show(sm, &ms->partner);
	tell_rank(sm);
	if (told.ability.unable && !mastership_own_ability(sm).unable) { /* it should hand over */
		missed(sm, "cannot configure the subnet");
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
		missed(sm, "cannot be reached");
}

void standby_poll(struct sm *sm)
{
	sm->mastership->polls++;
	standby_wait(sm, mastership_poll_ns(sm));
	if (sm->builder->sm_port)
		own_port_ask(sm, on_own_port);
	else
		missed(sm, "cannot be reached");
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * This SM as MASTER among other SMs. It deals with one of them at a time (sm->dealing), and does
 * not sweep meanwhile (sm_rests()):
 *
 *	ALONE		finds a higher rank that can lead	-> HANDING_OVER
 *	HANDING_OVER	the other SM accepts			-> STANDBY, which follows it
 *			it refuses, or does not answer in time	-> ALONE, and goes on
 *	ALONE		finds a MASTER of lower rank		-> AWAITING
 *	AWAITING	its HANDOVER, or none in time		-> ALONE, and goes on
 *	ALONE		the daemon is to end			-> RETIRING
 *	RETIRING	the best standby took over, or none	-> the end
 *	ALONE		cannot lead, and no other SM can	-> ABSTAINING
 *	ABSTAINING	some time later				-> ALONE, and discovers again
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership.h"
#include "sm/election/mastership_private.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define PATIENCE_MAX (1 * NS_PER_S) /* for the other SM's part of a handover */
/*
 * An SM that has just found the same part of the subnet as this one will soon have discovered it.
 */
#define IN_SIGHT_NS (50 * NS_PER_MS)
/* A MASTER that refused this many HANDOVERs will continue: the SM of lower rank is its standby. */
#define REFUSALS_MAX 2

void dealing_finish_retiring(struct sm *sm)
{
	timer_stop(&sm->mastership->timer);
	sm->dealing = ALONE;
	mastership_forget_mastery(sm);
	mastership_set_state(sm, IBA_SM_NOT_ACTIVE);
	event_emit(&sm->context->bus, EVENT_FINISHED, 0);
}

/*
 * Whether a HANDOVER is awaited from an SM of higher rank, as it falls short of this one: its last
 * report may be outdated.
 */
static bool may_see_more_soon(const struct sm *sm, const struct other_sm *other)
{
	struct election_sm own = mastership_own_sm(sm);

	return election_outranks(&other->sm, &own);
}

static uint64_t patience(const struct sm *sm, enum dealing dealing, const struct other_sm *other)
{
	uint64_t most = MIN(mastership_poll_ns(sm), PATIENCE_MAX);

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
		      "%s does not accept HANDOVER (its ignore_other_sm may be TRUE) and stays "
		      "MASTER: this SM has the lower rank and becomes its standby",
		      other_sm_name(other, name, sizeof(name)));
	standby_follow(sm, other);
}

/* The other SM did not do its part in time: discover again, and finally continue without it. */
static void peer_timed_out(struct sm *sm)
{
	struct mastership *ms = sm->mastership;
	struct other_sm *other = other_sm_find(sm, ms->partner.sm.guid);
	enum dealing was = sm->dealing;
	char name[SM_NAME_SIZE];

	if (was == RETIRING) {
		dealing_finish_retiring(sm);
		return;
	}
	sm->dealing = ALONE;
	if (other && ms->refusals >= REFUSALS_MAX) {
		yield_to(sm, other);
		return;
	}
	mastership_forget_tables(sm);
	/*
	 * An SM that should have handed over notices this one when its port is configured; the
	 * classic daemon only if a trap makes it sweep.
	 */
	if (other && was == AWAITING) {
		other_sm_tell_rank(sm, other);
		if (!may_see_more_soon(sm, other) ||
		    ++ms->in_vain > sm->options->polling_retry_number)
			standby_give_up(sm, other);
	} else if (other && ++ms->in_vain > sm->options->polling_retry_number) {
		if (other->sm.state == IBA_SM_MASTER) {
			yield_to(sm, other);
			return;
		}
		log_sys_error(sm->log,
			      "%s does not take part in the election: this SM stays "
			      "MASTER",
			      other_sm_name(&ms->partner, name, sizeof(name)));
		standby_give_up(sm, other);
		ms->in_vain = 0;
	}
	sweep_want(sm, SWEEP_HEAVY);
}

bool dealing_hands_over(const struct sm *sm)
{
	return sm->dealing == HANDING_OVER ||
	       (sm->dealing == RETIRING && sm->mastership->partner.sm.guid);
}

void dealing_taken_over(struct sm *sm, const struct other_sm *by)
{
	if (sm->dealing == RETIRING)
		dealing_finish_retiring(sm);
	else
		standby_follow(sm, by);
}

/*
 * An SM that accepted is master from then on. It also sends ACKNOWLEDGE, except the classic daemon;
 * that checks at once whether this SM is still master, and if so hands back.
 */
static void on_handed_over(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct mastership *ms = sm->mastership;

	if (!dealing_hands_over(sm))
		return;
	if (sm_request_ok(request))
		dealing_taken_over(sm, &ms->partner);
	else if (request->mad.result == MAD_STATUS && ms->partner.sm.state == IBA_SM_MASTER)
		ms->refusals++;
}

void dealing_begin(struct sm *sm, enum dealing dealing, const struct other_sm *other)
{
	struct mastership *ms = sm->mastership;
	char name[SM_NAME_SIZE];

	if (ms->partner.sm.guid != other->sm.guid)
		ms->in_vain = ms->refusals = 0;
	ms->partner = *other;
	sm->dealing = dealing;
	standby_wait(sm, patience(sm, dealing, other));
	other_sm_name(other, name, sizeof(name));
	if (dealing == AWAITING) {
		log_info(sm->log, "asking %s to hand over to this SM", name);
		return;
	}
	log_info(sm->log, "handing over to %s", name);
	other_sm_control(sm, other, IBA_SM_INFO_HANDOVER, on_handed_over);
}

static void on_other(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct election_sm own = mastership_own_sm(sm), now;
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
	standby_wait(sm, mastership_poll_ns(sm));
}

/* It could not lead: discover again. */
static void look_around(struct sm *sm)
{
	sm->dealing = ALONE;
	sweep_want(sm, SWEEP_HEAVY);
}

void dealing_on_timer(struct timer *timer)
{
	struct mastership *ms = container_of(timer, struct mastership, timer);
	struct sm *sm = ms->sm;

	if (sm->dealing == ABSTAINING)
		look_around(sm);
	else if (sm->dealing != ALONE)
		peer_timed_out(sm);
	else if (sm_state(sm) == IBA_SM_STANDBY)
		standby_poll(sm);
	else if (sm_is_master(sm) && other_sms_are_there(sm))
		watch_others(sm);
}

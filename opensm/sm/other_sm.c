// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Another subnet manager. There is no election yet, but there is a rule that keeps two managers
 * from fighting over a fabric: before a heavy sweep changes anything, the SM that the own port was
 * last configured by (MasterSMLID) is asked for its SMInfo. If it answers and is MASTER, this one
 * stands aside and asks again later; if it is silent, it is gone and its place is taken.
 */
#include "sm/sm_private.h"

#define ASK_TRIES 6 /* a lost SMP must not make a second master */

static void on_own_port(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct iba_port_info info;
	uint16_t mask;

	if (!sm_request_ok(request)) {
		sm_request_failed(request);
		return;
	}
	wire_decode(&iba_port_info_type, request->mad.data, &info);
	mask = ~((1u << info.lmc) - 1);
	if (info.master_sm_lid >= IBA_LID_UCAST_FIRST && info.master_sm_lid <= IBA_LID_UCAST_LAST &&
	    (info.master_sm_lid & mask) != info.lid && info.port_state != IBA_PORT_DOWN)
		sm->other_sm.lid = info.master_sm_lid;
}

static void on_sm_info(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct iba_sm_info info;

	if (!sm_request_ok(request))
		return;
	wire_decode(&iba_sm_info_type, request->mad.data, &info);
	sm->other_sm.guid = info.guid;
	sm->other_sm.priority = info.priority;
	sm->other_sm.is_master =
		info.sm_state == IBA_SM_MASTER && info.guid != vendor_port_guid(sm->vendor);
}

static void ask_other_sm(struct sm *sm)
{
	struct sm_request *request =
		sm_request_new(sm, sm->local, IBA_METHOD_GET, IBA_ATTR_SM_INFO, 0);

	request->mad.route.lid = sm->other_sm.lid;
	request->mad.lid_only = true;
	request->mad.tries = ASK_TRIES;
	request->done = on_sm_info;
	sm_request_send(request);
}

static void set_state(struct sm *sm, unsigned int state, const char *text)
{
	unsigned int before = atomic_exchange(&sm->context->sm_state, state);

	if (before == state)
		return;
	sweep_flag(sm, SWEEP_FLAG_TAKING_OVER, before == IBA_SM_STANDBY && state == IBA_SM_MASTER);
	log_sys(sm->log, "%s", text);
	event_emit(&sm->context->bus, EVENT_SM_STATE, state);
}

static enum step_result stand_aside(struct sm *sm)
{
	if (atomic_load(&sm->context->sm_state) != IBA_SM_STANDBY)
		log_error(sm->log,
			  "SM 0x%016" G_GINT64_MODIFIER "x at LID 0x%04x, priority %u, is MASTER "
			  "of this subnet; there is no election yet, so this SM stands aside",
			  sm->other_sm.guid, sm->other_sm.lid, sm->other_sm.priority);
	sm->schedule.up = false;
	guid2lid_doubt(sm->guid2lid);
	set_state(sm, IBA_SM_STANDBY, "Entering STANDBY state");
	return STEP_ABORT;
}

enum step_result step_other_sm(struct sm *sm)
{
	struct builder_port *own = sm->builder->sm_port;
	struct sm_request *request;

	if (!own)
		return STEP_ABORT;
	switch (sm->sweep.round) {
	case 0:
		sm->other_sm = (struct other_sm){0};
		request = sm_request_port(sm, own, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, own->num);
		request->done = on_own_port;
		sm_request_send(request);
		return STEP_AGAIN;
	case 1:
		if (sm->other_sm.lid)
			ask_other_sm(sm);
		return STEP_AGAIN;
	}
	return sm->other_sm.is_master ? stand_aside(sm) : STEP_NEXT;
}

enum step_result step_elect(struct sm *sm)
{
	set_state(sm, IBA_SM_MASTER, "Entering MASTER state");
	return STEP_NEXT;
}

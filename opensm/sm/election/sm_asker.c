// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Identifies the sender of a request for SMInfo that shows no M_Key: see sm_info.c. The port is
 * looked up in what was discovered, by the directed path of the request or its LID. A port that had
 * no IsSM when it was last read is read again: a starting SM queries others within milliseconds.
 *
 * A path that leads out of what was discovered shows a MASTER that there is more of the subnet,
 * with another SM: the traps of the switches in between may go to that one.
 */
#include "sm/discover/discover.h"
#include "sm/election/mastership_private.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define ASKERS_MAX 16 /* requesters to identify at a time; others do not get the SM_Key */

struct asker {
	struct vendor_mad *mad;
	struct iba_smp smp;
};

struct asked {
	struct message message; /* first */
	struct sm *sm;
	struct iba_dr_smp smp;
	uint16_t lid; /* source LID, if LID-routed */
	uint64_t m_key;
};

static void asker_free(void *arg)
{
	struct asker *asker = arg;

	vendor_mad_free(asker->mad);
	g_free(asker);
}

struct askers {
	GPtrArray *waiting; /* struct asker */
	_Atomic bool asked; /* an SM requester has not been identified yet by the actor "sm" */
};

static bool is_by_path(const struct iba_dr_smp *smp)
{
	return smp->mgmt_class == IBA_CLASS_SUBN_DIRECTED &&
	       smp->dr_slid == IBA_LID_PERMISSIVE && smp->hop_count < sizeof(smp->return_path);
}

static struct builder_port *asker_at(const struct sm *sm, const struct iba_dr_smp *smp,
				     uint16_t lid)
{
	if (smp->mgmt_class != IBA_CLASS_SUBN_DIRECTED)
		return builder_port_by_lid(sm->builder, lid);
	if (smp->dr_slid != IBA_LID_PERMISSIVE)
		return builder_port_by_lid(sm->builder, smp->dr_slid);
	return is_by_path(smp) ? sm_port_of_path(sm, smp, 0) : NULL;
}

static struct builder_port *find_asker(const struct sm *sm, const struct vendor_mad *mad)
{
	struct iba_dr_smp smp;

	wire_decode(&iba_dr_smp_type, mad->data, &smp);
	return asker_at(sm, &smp, mad->remote.lid);
}

static void run_asked(struct message *message)
{
	struct asked *asked = (struct asked *)message;
	struct sm *sm = asked->sm;
	const struct builder_port *port = asker_at(sm, &asked->smp, asked->lid);

	atomic_store(&sm->mastership->askers->asked, false);
	if (port)
		other_sm_showed(sm, port, asked->m_key);
	else if (sm->schedule.discovered && is_by_path(&asked->smp))
		mastership_asked_from_beyond(sm);
	g_free(asked);
}

void sm_asked(struct sm *sm, const struct vendor_mad *mad)
{
	struct asked *asked;
	struct iba_dr_smp dr;
	struct iba_smp smp;

	wire_decode(&iba_dr_smp_type, mad->data, &dr);
	wire_decode(&iba_smp_type, mad->data, &smp);
	if ((!is_by_path(&dr) && !keys_protect(sm)) ||
	    atomic_load(&sm->context->sm_state) != IBA_SM_MASTER ||
	    atomic_exchange(&sm->mastership->askers->asked, true))
		return;
	asked = g_new0(struct asked, 1);
	asked->message.run = run_asked;
	asked->sm = sm;
	asked->smp = dr;
	asked->lid = mad->remote.lid;
	asked->m_key = smp.m_key;
	actor_post(sm->actor, &asked->message);
}

static void answer(struct sm *sm, struct asker *asker, const struct iba_port_info *info)
{
	bool is_sm = info && info->capability_mask & IBA_PORT_CAP_SM;

	sm_info_answer(sm, g_steal_pointer(&asker->mad), &asker->smp, 0, is_sm);
	if (!g_ptr_array_remove_fast(sm->mastership->askers->waiting, asker))
		asker_free(asker);
}

static void on_port_info(struct sm_request *request)
{
	struct asker *asker = request->mad.arg;
	struct iba_port_info info;

	wire_decode(&iba_port_info_type, request->mad.data, &info);
	answer(request->sm, asker, sm_request_ok(request) ? &info : NULL);
}

void sm_info_receive(void *arg, struct vendor_mad *mad)
{
	struct sm *sm = arg;
	struct asker *asker = g_new0(struct asker, 1);
	struct builder_port *port = find_asker(sm, mad);
	struct sm_request *request;

	asker->mad = mad;
	wire_decode(&iba_smp_type, mad->data, &asker->smp);
	if (!port || (port->known && port->info.capability_mask & IBA_PORT_CAP_SM) ||
	    sm->mastership->askers->waiting->len >= ASKERS_MAX) {
		answer(sm, asker, port ? &port->info : NULL);
		return;
	}
	g_ptr_array_add(sm->mastership->askers->waiting, asker);
	request = sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, port->num);
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->mad.arg = asker;
	request->done = on_port_info;
	sm_request_send(request);
}

struct askers *askers_new(void)
{
	struct askers *askers = g_new0(struct askers, 1);

	askers->waiting = g_ptr_array_new_with_free_func(asker_free);
	return askers;
}

void askers_free(struct askers *askers)
{
	g_ptr_array_unref(askers->waiting);
	g_free(askers);
}

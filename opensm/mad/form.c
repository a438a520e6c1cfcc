// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forms of routing. A target with a LID is tried LID-routed first. A target without a LID behind a
 * switch with one is tried by a mixed route (directed from that switch, IBA 14.2.2). Every second
 * try uses the full directed route; if that may end on the way, it alternates with a mixed one.
 * Both shorter forms are used only after a probe has been answered: simulators and some devices
 * drop them, or do until links are ACTIVE, and no request should have to time out to find out.
 */
#include "mad/mad_private.h"

#define PROBE_PAUSE_FIRST NS_PER_S
#define PROBE_PAUSE_MAX (64 * NS_PER_S)

static bool may_be_mixed(const struct mad_route *route)
{
	return route->via && route->via_hops < route->hops;
}

static enum smp_form shortest_form(const struct mad *mad, const struct mad_route *route)
{
	if (!mad->own_lid)
		return SMP_DIRECTED;
	if (route->lid)
		return SMP_LID;
	return may_be_mixed(route) ? SMP_MIXED : SMP_DIRECTED;
}

/* The form of a try that does not use the shortest one. */
static enum smp_form other_form(const struct mad *mad, const struct mad_route *route,
				unsigned int before)
{
	bool mixed = route->blind && before % 2 == 0 && mad->own_lid && may_be_mixed(route);

	return mixed && mad->forms[SMP_MIXED].proven ? SMP_MIXED : SMP_DIRECTED;
}

enum smp_form form_choose(const struct transaction *transaction)
{
	const struct mad *mad = transaction->slot.mad;
	const struct mad_request *request = transaction->request;
	unsigned int tries = transaction->early + transaction->tries;
	enum smp_form form;

	if (request->probe)
		return request->probe;
	if (request->lid_only)
		return SMP_LID;
	if (tries % 2)
		return other_form(mad, &request->route, tries / 2);
	form = shortest_form(mad, &request->route);
	return mad->forms[form].proven ? form : SMP_DIRECTED;
}

bool form_is_shortest(const struct transaction *transaction)
{
	const struct mad_request *request = transaction->request;

	return transaction->form != SMP_DIRECTED &&
	       transaction->form == shortest_form(transaction->slot.mad, &request->route);
}

static void on_probe_done(struct mad_request *request)
{
	struct mad *mad = request->arg;
	struct form_state *form = &mad->forms[request->probe];

	form->probing = false;
	form->proven = request->result == MAD_OK;
	if (form->proven) {
		log_verbose(mad->context->log, "SMPs by %s routes work: using them", form->name);
	} else {
		form->probe_after = actor_now(mad->actor) + form->pause;
		form->pause = MIN(2 * form->pause, PROBE_PAUSE_MAX);
	}
	g_free(request);
}

void form_probe(struct mad *mad, const struct mad_request *like)
{
	enum smp_form form = shortest_form(mad, &like->route);
	struct form_state *state = &mad->forms[form];
	struct mad_request *probe;

	if (form == SMP_DIRECTED || like->probe || like->lid_only || state->proven ||
	    state->probing || actor_now(mad->actor) < state->probe_after)
		return;
	state->probing = true;
	probe = g_new0(struct mad_request, 1);
	probe->target = like->target;
	probe->target_port = like->target_port;
	probe->route = like->route;
	probe->method = IBA_METHOD_GET;
	probe->attribute = IBA_ATTR_NODE_INFO;
	probe->m_key = like->m_key;
	probe->probe = form;
	probe->tries = 1;
	probe->owner = mad->actor;
	probe->done = on_probe_done;
	probe->arg = mad;
	target_enqueue(mad, probe);
}

void form_init(struct mad *mad)
{
	mad->forms[SMP_LID] = (struct form_state){.name = "LID", .pause = PROBE_PAUSE_FIRST};
	mad->forms[SMP_MIXED] = (struct form_state){.name = "mixed", .pause = PROBE_PAUSE_FIRST};
}

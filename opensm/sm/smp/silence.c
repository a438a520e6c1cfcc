// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Nodes that stop answering, and why. An SMP gets two short tries first. If both get no answer its
 * node becomes a suspect, and before a request waits for it with all tries the SM examines the
 * path:
 *
 *	            queries the switch before it for the port that leads there
 *	suspect ----------------------------------------------------------+
 *	   ^                       |                  |                   |
 *	   | that switch is        | the port is up   | the port is DOWN  |
 *	   | silent too: it is     v                  v                   |
 *	   | examined first       mute or loss       all its other neighbours are queried for theirs
 *	   +------------------     |                  |
 *	                           v                  v
 *	       its SMPs go out again with all tries   its SMPs go another way, or there is none
 *
 * So any number of dead switches costs only a few short tries in parallel. Suspects nearest to the
 * SM are examined first, since those behind them wait for the result. A switch that was silent
 * because one before it is dead may then have another route, and is queried again over that.
 *
 * An SMP to the device at the other end of a cable may get no answer though the node before it
 * lives. So that node is queried for its port: if it is silent it is a suspect, and holds that SMP;
 * if the port is up the SMP is sent again with all tries; if it is DOWN there is no device, and the
 * SMP ends.
 *
 * SMPs that are held here, or sent with all tries, are the slow ones of the sweep: a step whose
 * next round does not need them continues (sweep.c).
 */
#include "sm/sm_private.h"
#include "sm/smp/smp_private.h"

#define PROBE_TRIES 2
#define BELIEVED_NS (300 * NS_PER_MS) /* minimum time between two probes of a mute node */
#define WAYS_MAX 8		      /* maximum number of routes for a request */
#define ASKED_MAX 4		      /* maximum number of routes to the node before it */

struct suspect {
	struct builder_node *node;
	const struct builder_port *entry; /* port of a silent CA; NULL: depends on the path */
	GPtrArray *held;		  /* requests to it that wait */
	struct builder_port *by;	  /* port of the node before it, on the path to it */
	unsigned int asked;		  /* how often that node was queried */
	bool heard;			  /* it answered */
	bool rerouted;			  /* its route has changed since the requests used it */
	unsigned int out;		  /* fault probes in flight */
	bool cut;			  /* a link to it was found DOWN */
	bool seen_up;			  /* another link was found to be up */
	bool seen_down;			  /* an answer since it became silent said so */
	bool asked_all;			  /* all its neighbours were queried */
};

/* About each node. */
struct note {
	struct suspect *suspect; /* NULL: it answers, as far as is known */
	uint64_t mute_ns;	 /* when it was last found silent behind a link that is up */
	uint64_t given_up;	 /* sweep in which all tries of an SMP to it failed; 0: none */
};

struct silence {
	GPtrArray *suspects;	 /* struct suspect */
	GPtrArray *cables_asked; /* struct sm_request that waits for the answer of its near end */
	struct node_table *notes;
};

static struct note *note_of(const struct sm *sm, const struct builder_node *node)
{
	return node_table_of(sm->smp->silence->notes, node);
}

static struct suspect *suspect_of(const struct sm *sm, const struct builder_node *node)
{
	return note_of(sm, node)->suspect;
}

static void suspect_free(struct sm *sm, struct suspect *suspect)
{
	note_of(sm, suspect->node)->suspect = NULL;
	g_ptr_array_unref(suspect->held);
	builder_release(suspect->node);
	g_free(suspect);
}

static struct suspect *suspect_new(struct sm *sm, struct builder_node *node,
				   const struct builder_port *entry)
{
	struct suspect *suspect = g_new0(struct suspect, 1);

	suspect->node = node;
	suspect->entry = entry;
	suspect->held = g_ptr_array_new();
	builder_hold(node);
	note_of(sm, node)->suspect = suspect;
	g_ptr_array_add(sm->smp->silence->suspects, suspect);
	return suspect;
}

bool silence_is_mute(const struct sm *sm, const struct builder_node *node)
{
	uint64_t since = note_of(sm, node)->mute_ns;

	return since && actor_now(sm->actor) - since < BELIEVED_NS;
}

void silence_answered(struct sm *sm, const struct builder_node *node)
{
	struct note *note = note_of(sm, node);

	note->mute_ns = note->given_up = 0;
}

void silence_given_up(struct sm *sm, const struct builder_node *node)
{
	note_of(sm, node)->given_up = sm->sweep.serial;
}

bool silence_was_given_up(const struct sm *sm, const struct builder_node *node)
{
	return note_of(sm, node)->given_up == sm->sweep.serial;
}

/* The routes change if a cable was cut. */
static void find_ways(struct sm *sm)
{
	if (sm->builder->cut && sm->builder->sm_port)
		g_ptr_array_unref(builder_walk(sm->builder));
}

/* Whether it waits for answers, or for the result about the node before it. */
static bool waits(const struct sm *sm, const struct suspect *suspect)
{
	return suspect->out ||
	       (suspect->by && !suspect->asked_all && suspect_of(sm, suspect->by->node));
}

/* ---- fault probes: these functions call each other as answers come ---- */

static void wake(struct sm *sm);

/* All held requests continue: by another route if there is one, else with all tries. */
static void resolve(struct sm *sm, struct suspect *suspect, bool other_way)
{
	g_autoptr(GPtrArray) held = g_ptr_array_ref(suspect->held);

	if (!other_way)
		note_of(sm, suspect->node)->mute_ns = actor_now(sm->actor);
	if (!other_way && !held->len && suspect->node->builder)
		sweep_look_at(sm, suspect->node); /* no other query was sent to it */
	g_ptr_array_remove(sm->smp->silence->suspects, suspect);
	suspect_free(sm, suspect);
	for (guint i = 0; i < held->len; i++)
		sm_request_again(held->pdata[i], other_way);
}

static void on_probe(struct sm_request *request)
{
	struct sm *sm = request->sm;
	const struct builder_node *about = request->mad.arg;
	struct suspect *suspect = suspect_of(sm, about);

	if (suspect && request->port == suspect->by)
		suspect->heard = request->mad.result != MAD_TIMEOUT;
	if (sm_request_ok(request)) {
		sm->smp->observer->port_seen(request);
		if (suspect && builder_link_is_up(request->port)) {
			suspect->seen_up = true;
			identity_ask(sm, request->node, NULL);
		} else if (suspect) {
			suspect->cut = suspect->seen_down = true;
		}
	} else if (suspect && request->mad.result == MAD_TIMEOUT && request->port == suspect->by &&
		   !suspect_of(sm, request->node) && !silence_is_mute(sm, request->node)) {
		suspect_new(sm, request->node, identity_entry(request));
	}
	if (suspect)
		suspect->out--;
	wake(sm);
}

static void ask_port(struct sm *sm, struct builder_port *port,
		     void (*done)(struct sm_request *request), void *arg)
{
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, port->num);

	request->sender = REQUEST_FAULT_PROBE;
	request->mad.tries = PROBE_TRIES;
	request->mad.arg = arg;
	request->done = done;
	sm_request_send(request);
}

static void probe(struct sm *sm, struct suspect *suspect, struct builder_port *port)
{
	suspect->out++;
	ask_port(sm, port, on_probe, suspect->node);
}

/* The ports next to the suspect that still seem to be up. */
static void ask_all(struct sm *sm, struct suspect *suspect)
{
	const struct builder_node *node = suspect->node;

	suspect->asked_all = true;
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (peer && builder_is_switch(peer->node) && !suspect_of(sm, peer->node))
			probe(sm, suspect, peer);
	}
}

/* Whether a port next to it was found DOWN before it was found to be silent. */
static bool has_lost_link(const struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++)
		if (node->ports[num].cable.state == CABLE_LOST)
			return true;
	return false;
}

/*
 * All nodes that answered report that their links to it are down, and it is silent: it is dead.
 * Links to it from other silent nodes are not tried: if these come back, they report them.
 */
static void give_up_links(struct builder_node *node)
{
	for (unsigned int num = 1; num <= node->info.num_ports; num++) {
		struct builder_port *peer = node->ports[num].peer;

		if (!peer || !builder_is_switch(peer->node))
			continue;
		builder_mark(peer->node);
		builder_lose_link(peer);
	}
}

/* There is no node before it, as its last cable was lost: that does not mean that it is mute. */
static bool is_cut_off(const struct sm *sm, const struct suspect *suspect,
		       const struct builder_port *by)
{
	const struct builder_port *own = sm->builder->sm_port;

	return !by && suspect->node->builder && own && own->node != suspect->node;
}

/*
 * Queries the node before it, again if that was silent and has another route since; or all next to
 * it.
 */
static void ask_next(struct sm *sm, struct suspect *suspect, struct builder_port *by)
{
	if (!suspect->by) {
		suspect->by = by;
		suspect->cut = has_lost_link(suspect->node);
	}
	if (suspect->asked_all)
		return;
	if (suspect->cut || (suspect->by == by && silence_is_mute(sm, by->node))) {
		ask_all(sm, suspect); /* they may know it too, or be the only ones that do */
	} else if (suspect->by == by && suspect_of(sm, by->node)) {
		suspect->rerouted = true;
	} else if (suspect->by == by && !suspect->heard && suspect->asked < ASKED_MAX) {
		suspect->rerouted |= suspect->asked++ > 0;
		probe(sm, suspect, by);
	}
}

/* Next query about a suspect that does not wait; true if it is no longer a suspect. */
static bool look_into(struct sm *sm, struct suspect *suspect)
{
	struct builder_port *by;

	find_ways(sm);
	by = identity_parent(sm, suspect->node, suspect->entry);
	if (by)
		ask_next(sm, suspect, by);
	if (waits(sm, suspect))
		return false;
	if (suspect->seen_down && suspect->asked_all && !suspect->seen_up) {
		give_up_links(suspect->node);
		find_ways(sm);
	}
	resolve(sm, suspect,
		suspect->cut || suspect->by != by || suspect->rerouted ||
			is_cut_off(sm, suspect, by));
	return true;
}

/* Examines all suspects that do not wait; true if one is no longer a suspect. */
static bool look_into_all(struct sm *sm)
{
	bool any = false;

	for (guint i = 0; i < sm->smp->silence->suspects->len;) {
		struct suspect *suspect = sm->smp->silence->suspects->pdata[i];
		bool resolved = !waits(sm, suspect) && look_into(sm, suspect);

		any |= resolved;
		i += !resolved;
	}
	return any;
}

/*
 * Paths change while cables are cut, so suspects may end up waiting for each other in a ring. True
 * if one was found and its first suspect no longer waits.
 */
static bool break_ring(struct sm *sm)
{
	for (guint i = 0; i < sm->smp->silence->suspects->len; i++) {
		const struct suspect *suspect = sm->smp->silence->suspects->pdata[i];

		if (suspect->out)
			return false;
	}
	if (!sm->smp->silence->suspects->len)
		return false;
	find_ways(sm);
	resolve(sm, sm->smp->silence->suspects->pdata[0], true);
	return true;
}

static void wake(struct sm *sm)
{
	while (look_into_all(sm) || break_ring(sm))
		;
}

/* ---- interface ---- */

/* The node before it does not answer either, and has been examined. */
static bool is_behind_silence(const struct sm_request *request)
{
	const struct builder_port *parent =
		identity_parent(request->sm, request->node, identity_entry(request));

	return parent && builder_is_silent(parent->node);
}

static void hold(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct suspect *suspect = suspect_of(sm, request->node);
	bool is_new = !suspect;

	if (is_new)
		suspect = suspect_new(sm, request->node, identity_entry(request));
	g_ptr_array_add(suspect->held, request);
	if (is_new)
		wake(sm);
}

/* The near end of the cable through which a held request went. */
static void on_near_end(struct sm_request *probe)
{
	struct sm *sm = probe->sm;
	struct sm_request *request = probe->mad.arg;

	g_ptr_array_remove(sm->smp->silence->cables_asked, request);
	if (probe->mad.result == MAD_TIMEOUT) {
		hold(request);
		return;
	}
	if (sm_request_ok(probe))
		sm->smp->observer->port_seen(probe);
	if (sm_request_ok(probe) && builder_is_down(request->port)) {
		sm_request_give_up(request);
		return;
	}
	identity_ask(sm, request->node, NULL);
	sm_request_again(request, false);
}

bool silence_take(struct sm_request *request)
{
	struct sm *sm = request->sm;
	const struct builder_node *node = request->node;

	if (is_behind_silence(request) || request->silences > WAYS_MAX ||
	    (!suspect_of(sm, node) && silence_is_mute(sm, node)))
		return false;
	if (request->beyond && !suspect_of(sm, node)) {
		g_ptr_array_add(sm->smp->silence->cables_asked, request);
		ask_port(sm, request->port, on_near_end, request);
	} else {
		hold(request);
	}
	return true;
}

void silence_forget(struct sm *sm)
{
	while (sm->smp->silence->suspects->len) {
		struct suspect *suspect =
			sm->smp->silence->suspects->pdata[sm->smp->silence->suspects->len - 1];
		g_autoptr(GPtrArray) held = g_ptr_array_ref(suspect->held);

		g_ptr_array_set_size(sm->smp->silence->suspects,
				     (gint)sm->smp->silence->suspects->len - 1);
		suspect_free(sm, suspect);
		for (guint i = 0; i < held->len; i++)
			sm_request_drop(held->pdata[i]);
	}
	while (sm->smp->silence->cables_asked->len)
		sm_request_drop(g_ptr_array_steal_index_fast(sm->smp->silence->cables_asked, 0));
}

struct silence *silence_new(void)
{
	struct silence *silence = g_new(struct silence, 1);

	silence->suspects = g_ptr_array_new();
	silence->cables_asked = g_ptr_array_new();
	silence->notes = node_table_new(sizeof(struct note));
	return silence;
}

void silence_free(struct silence *silence)
{
	g_ptr_array_unref(silence->suspects);
	g_ptr_array_unref(silence->cables_asked);
	node_table_free(silence->notes);
	g_free(silence);
}

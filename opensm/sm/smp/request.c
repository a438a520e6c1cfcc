// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SMPs of a sweep. Each belongs to the sweep that sent it, by its number, and to the step: the step
 * is over when the last of its SMPs has come back. From a cancelled sweep, answers to Sets and
 * reads of tables still show what the hardware holds; nothing else of it is used.
 *
 * A request holds a reference to its node: a removed node lives on without a builder until the
 * request is back.
 */
#include <string.h>

#include "complib/hash.h"
#include "sm/health/health.h"
#include "sm/keys/keys.h"
#include "sm/sm_private.h"
#include "sm/smp/smp_private.h"

#define FIRST_TRIES 2 /* by LID and directed, before silence.c examines the path */
#define GIVEN_TRIES 6 /* with a key that it may have accepted though all answers were lost */

bool sm_request_is_late(const struct sm_request *request)
{
	return !sm_request_is_outside(request) && request->mad.serial != request->sm->sweep.serial;
}

char *sm_request_failure(const struct sm_request *request)
{
	const struct mad_request *mad = &request->mad;
	const char *attribute = iba_name(IBA_SET_ATTR, mad->attribute);
	const char *method = mad->method == IBA_METHOD_SET ? "Set" : "Get";
	g_autofree char *outcome = NULL;

	if (mad->result == MAD_STATUS)
		outcome = g_strdup_printf("status 0x%04x", mad->status);
	else if (request->tries)
		outcome = g_strdup_printf("no answer to %u tries", request->tries);
	else
		outcome = g_strdup("not sent, as the device does not answer");
	return g_strdup_printf("%s(%s) 0x%x: %s", method, attribute, mad->modifier, outcome);
}

/* Why the SM's own port may be silent, if it has never answered. */
static const char *hint(const struct sm_request *request)
{
	const struct sm *sm = request->sm;

	if (request->node != sm->local || request->mad.result != MAD_TIMEOUT || !request->tries)
		return "";
	return sm->options->m_key_per_port
		       ? "; its M_Key may differ from those of m_key_seed_file and guid2mkey"
		       : "; its M_Key may differ from m_key";
}

/* The port that it was about; a silent switch is silent as a whole, and has the tables. */
void sm_request_blame(const struct sm_request *request, unsigned int condition)
{
	bool whole =
		builder_is_switch(request->node) &&
		(condition == PORT_UNRESPONSIVE || request->mad.attribute != IBA_ATTR_PORT_INFO);

	if (request->port && !whole)
		port_health_event(request->sm, request->port, condition);
	else
		port_health_node(request->sm, request->node, condition);
}

/* As some switches do for a VL or a port that they have: what they hold is then unknown. */
static bool may_refuse(const struct sm_request *request)
{
	return request->sm->options->suppress_sl2vl_mad_status_errors &&
	       request->mad.attribute == IBA_ATTR_SL_TO_VL_TABLE &&
	       request->mad.result == MAD_STATUS;
}

void sm_request_failed(const struct sm_request *request)
{
	g_autofree char *text = NULL;

	if (request->phase == REQUEST_SKIPPED)
		return;
	if (request->phase == REQUEST_NO_ROUTE) {
		builder_mark(request->node); /* if there is a route again, it is read again */
		return;
	}
	if (keys_refused(request))
		return;
	text = sm_request_failure(request);
	if (may_refuse(request)) {
		char name[SM_NAME_SIZE];

		log_verbose(request->sm->log, "%s: %s",
			    sm_node_name(request->node, name, sizeof(name)), text);
		return;
	}
	if (request->mad.result == MAD_TIMEOUT)
		sm_request_blame(request, PORT_UNRESPONSIVE);
	else if (request->mad.method == IBA_METHOD_SET)
		sm_request_blame(request, PORT_SET_ERRORS);
	if (request->sm->smp->observer->failed(request))
		return;
	health_fault(request->sm, request->node, "%s%s", text, hint(request));
}

/* ---- what a Set carried ---- */

static uint64_t digest(const uint8_t data[IBA_SMP_DATA_BYTES])
{
	uint64_t sum = 0, word;

	for (unsigned int i = 0; i < IBA_SMP_DATA_BYTES; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		sum = hash_spread(sum ^ word);
		sum ^= sum >> 32;
	}
	return sum;
}

bool sm_request_echoed(const struct sm_request *request)
{
	return digest(request->mad.data) == request->sent;
}

/* ---- sending ---- */

static bool find_route(struct sm_request *request)
{
	const struct sm *sm = request->sm;
	struct mad_route *route = &request->mad.route;
	bool set = request->mad.method == IBA_METHOD_SET;

	request->lid_route = 0;
	if (request->mad.lid_only)
		return true;
	if (request->beyond)
		return reach_beyond(sm, request->port, route);
	if (request->port ? !reach_port(sm, request->port, set, route)
			  : !reach_node(sm, request->node, set, route))
		return false;
	if (route->lid && (!request->port || builder_is_switch(request->node) ||
			   request->port == request->node->entry))
		request->lid_route = reach_route(sm, request->node);
	if (!route->lid && request->by_likely_lid)
		route->lid = reach_likely_lid(sm, request->node);
	return true;
}

static void on_done(struct mad_request *mad);

/* At shutdown. */
static void drop(struct message *message)
{
	struct sm_request *request = (struct sm_request *)message;

	builder_release(request->node);
	g_free(request->owned);
	g_free(request);
}

static void run_kept(struct message *message)
{
	on_done((struct mad_request *)message);
}

static void run_unreachable(struct message *message)
{
	struct mad_request *mad = (struct mad_request *)message;

	mad->result = MAD_TIMEOUT;
	mad->sent = 0;
	on_done(mad);
}

/* The other end of the cable of the queried CA; NULL for other nodes. */
static const struct builder_port *cable_of(const struct sm_request *request)
{
	const struct builder_node *node = request->node;

	if (!node->builder || builder_is_switch(node) || request->beyond || !node->entry)
		return NULL;
	return request->port ? request->port->peer : node->entry->peer;
}

/* The node has been removed. */
static bool is_gone(const struct sm_request *request)
{
	return !request->node->builder && request->node != request->sm->local;
}

/* Comes back unsent; run is notified of it. */
static void return_unsent(struct sm_request *request, void (*run)(struct message *message))
{
	request->mad.message.run = run;
	actor_post(request->sm->actor, &request->mad.message);
}

static bool is_unsent(const struct sm_request *request)
{
	return request->phase == REQUEST_SKIPPED || request->phase == REQUEST_NO_ROUTE;
}

/* To mad/, unless it has to wait; or back at once if there is no route. */
static void hand_over(struct sm_request *request)
{
	struct sm *sm = request->sm;

	if (keys_wait(request))
		return;
	request->by = cable_of(request);
	if (sm->smp->observer->skips(request))
		request->phase = REQUEST_SKIPPED;
	else if (dry_has_ended(sm) || is_gone(request) || !find_route(request))
		request->phase = REQUEST_NO_ROUTE;
	if (is_unsent(request)) {
		return_unsent(request, run_unreachable);
	} else if (dry_run_records(request)) {
		return_unsent(request, run_kept);
	} else if (sm->dry) {
		dry_send(request);
	} else {
		mad_send(sm->mad, &request->mad);
	}
}

static void free_request(struct sm_request *request)
{
	g_autoptr(GPtrArray) waiting = keys_settle(request);

	drop(&request->mad.message);
	for (guint i = 0; waiting && i < waiting->len; i++)
		hand_over(waiting->pdata[i]);
}

/* A step whose next round does not need it goes on without it. */
static bool is_slow(const struct sm_request *request)
{
	return request->sender == REQUEST_FAULT_PROBE || request->silences;
}

/* It no longer counts for its sweep. */
static void end_request(struct sm_request *request)
{
	struct sm *sm = request->sm;
	bool counts = !sm_request_is_outside(request) && !sm_request_is_late(request);

	if (counts) {
		sm->sweep.pending--;
		sm->sweep.slow -= is_slow(request);
	}
	free_request(request);
	if (counts)
		sweep_advance(sm);
}

/*
 * What a cancelled sweep sent may have arrived. What it queried is queried again: one that was
 * cancelled while it read nodes is followed by a heavy one.
 */
static void late(struct sm_request *request)
{
	if (request->belief && request->node->builder)
		request->done(request);
}

static void log_silence(const struct sm_request *request)
{
	g_autofree char *text = NULL;
	char name[SM_NAME_SIZE];

	if (!log_wants(request->sm->log, LOG_DEBUG, __FILE__))
		return;
	text = sm_request_failure(request);
	sm_node_name(request->node, name, sizeof(name));
	log_debug(request->sm->log, "%s port %u: %s", name, request->port ? request->port->num : 0,
		  text);
}

static bool goes_on_with(struct sm_request *request, bool other_key, uint8_t tries)
{
	if (!other_key)
		return false;
	request->mad.tries = tries;
	hand_over(request);
	return true;
}

/* Outside sweeps silence is not examined, but it may be caused by the key. */
static bool goes_on_outside(struct sm_request *request)
{
	if (request->mad.result != MAD_TIMEOUT || request->mad.dead || is_unsent(request) ||
	    is_gone(request))
		return false;
	return goes_on_with(request, keys_try_another(request), request->tries_max);
}

/* Dry run: it was never sent, so no device accepted its M_Key. */
static bool is_kept(const struct sm_request *request)
{
	return request->sm->dry && request->mad.method != IBA_METHOD_GET;
}

/*
 * All tries of another SMP of this sweep to it failed, so the first tries of this one are enough to
 * show that it is still silent: a sweep makes all tries once, not in each step.
 */
static bool was_given_up(const struct sm_request *request)
{
	const struct builder_node *node = request->node;

	if (request->beyond)
		node = request->port->peer ? request->port->peer->node : NULL;
	return node && silence_was_given_up(request->sm, node);
}

/* First tries without an answer: true if the request continues. */
static bool goes_on(struct sm_request *request)
{
	if (sm_request_is_outside(request))
		return goes_on_outside(request);
	if (request->mad.result != MAD_TIMEOUT || request->mad.dead || request->mad.lid_only ||
	    request->sender == REQUEST_FAULT_PROBE || is_unsent(request))
		return false;
	if (request->phase == REQUEST_FULL_RETRIES)
		return goes_on_with(request, keys_try_given(request), GIVEN_TRIES);
	log_silence(request);
	if (was_given_up(request))
		return false;
	request->sm->sweep.slow += !is_slow(request);
	request->silences++;
	if (!silence_take(request))
		sm_request_again(request, false);
	return true;
}

static void note_route(const struct sm_request *request)
{
	if (request->mad.fell_back)
		reach_failed(request->sm, request->node, request->lid_route);
	else if (request->mad.by_lid && request->lid_route)
		reach_answered(request->node, request->lid_route);
}

/* Whether the node answers: it did to this SMP, or to none of its tries. */
static void note_answer(const struct sm_request *request)
{
	struct builder_node *node = request->node;

	if (request->beyond)
		return;
	if (request->mad.result != MAD_TIMEOUT) {
		silence_answered(request->sm, node);
		request->sm->smp->observer->answered(request->sm, node);
	} else if (request->phase == REQUEST_FULL_RETRIES && !sm_request_is_outside(request)) {
		silence_given_up(request->sm, node);
	}
}

static void take_back(struct sm_request *request)
{
	struct mad_request *mad = &request->mad;
	bool outside = sm_request_is_outside(request), gone = is_gone(request);

	request->tries += mad->sent;
	if (!gone && !outside && request->by != cable_of(request)) {
		builder_mark(request->node); /* at another cable now: which node has answered? */
		end_request(request);
		return;
	}
	if (sm_request_is_late(request) || (gone && !outside)) {
		late(request);
		end_request(request);
		return;
	}
	if (goes_on(request))
		return;
	if (keys_read_again(request)) {
		hand_over(request);
		return;
	}
	if (mad->result == MAD_STATUS && !outside && !(mad->status & IBA_STATUS_BUSY))
		identity_ask(request->sm, request->node, identity_entry(request));
	if (!is_kept(request))
		keys_answered(request);
	note_answer(request);
	if (mad->result != MAD_TIMEOUT && !outside)
		note_route(request);
	request->done(request);
	end_request(request);
}

static void on_done(struct mad_request *mad)
{
	struct sm_request *request = (struct sm_request *)mad;
	struct sm *sm = request->sm;
	bool was_sent = sm->dry && !is_kept(request) && !is_unsent(request);

	take_back(request);
	if (was_sent)
		dry_run_answered(sm);
}

void sm_request_again(struct sm_request *request, bool other_way)
{
	if (other_way || keys_try_another(request)) {
		request->phase = REQUEST_FIRST_TRIES;
		request->mad.tries = FIRST_TRIES;
	} else {
		request->phase = REQUEST_FULL_RETRIES;
		request->mad.tries = request->tries_max;
		keys_try_likeliest(request);
	}
	hand_over(request);
}

void sm_request_give_up(struct sm_request *request)
{
	request->phase = REQUEST_NO_ROUTE;
	return_unsent(request, run_unreachable);
}

void sm_request_drop(struct sm_request *request)
{
	late(request);
	free_request(request);
}

void sm_requests_forget(struct sm *sm, bool outside_too)
{
	g_autoptr(GPtrArray) waiting = keys_forget(sm, outside_too);

	for (guint i = 0; i < waiting->len; i++) {
		struct sm_request *request = waiting->pdata[i];

		request->mad.result = MAD_TIMEOUT; /* result of the last try, or it had none */
		sm_request_drop(request);
	}
}

/*
 * The port of a CA that a query must go through: each has an SMA of its own. A switch has one SMA.
 */
static uint8_t port_with_sma(const struct sm *sm, const struct builder_node *node)
{
	const struct builder_port *sm_port = sm->builder ? sm->builder->sm_port : NULL;

	if (!node->builder || builder_is_switch(node))
		return 0;
	if (sm_port && sm_port->node == node)
		return sm_port->num;
	return node->entry ? node->entry->num : 0;
}

struct sm_request *sm_request_new(struct sm *sm, struct builder_node *node, uint8_t method,
				  uint16_t attribute, uint32_t modifier)
{
	struct sm_request *request = g_new0(struct sm_request, 1);

	builder_hold(node);
	request->sm = sm;
	request->node = node;
	request->epoch = node->epoch;
	request->mad.target = node->guid;
	request->mad.target_port = port_with_sma(sm, node);
	request->mad.method = method;
	request->mad.attribute = attribute;
	request->mad.modifier = modifier;
	request->mad.owner = sm->actor;
	request->mad.done = on_done;
	request->mad.message.drop = drop;
	return request;
}

struct sm_request *sm_request_port(struct sm *sm, struct builder_port *port, uint8_t method,
				   uint16_t attribute, uint32_t modifier)
{
	struct sm_request *request = sm_request_new(sm, port->node, method, attribute, modifier);

	request->port = port;
	if (!builder_is_switch(port->node)) /* each port has an SMA of its own */
		request->mad.target_port = port->num;
	return request;
}

struct sm_request *sm_request_port_set(struct sm *sm, struct builder_port *port,
				       const struct iba_port_info *info)
{
	struct sm_request *request =
		sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_PORT_INFO, port->num);

	if (port->info.link_speed_ext_supported || port->info.link_speed_ext_supported2)
		request->mad.modifier |= IBA_PORT_INFO_MOD_EXTENDED_SPEEDS;
	wire_encode(&iba_port_info_type, info, request->mad.data);
	request->belief = true;
	return request;
}

struct sm_request *sm_request_beyond(struct sm *sm, struct builder_port *port)
{
	struct sm_request *request =
		sm_request_new(sm, port->node, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);

	request->port = port;
	request->beyond = true;
	request->mad.target_port = port->num;
	return request;
}

void sm_request_send(struct sm_request *request)
{
	struct sm *sm = request->sm;

	request->sent = digest(request->mad.data);
	request->tries_max = request->mad.tries;
	keys_use(request);
	if (!sm_request_is_outside(request)) {
		sm->sweep.pending++;
		request->mad.serial = sm->sweep.serial;
		if (!request->mad.lid_only && !request->mad.tries)
			request->mad.tries = FIRST_TRIES;
		sm->sweep.slow += is_slow(request);
	}
	hand_over(request);
}

void sm_get(struct sm *sm, struct builder_node *node, uint16_t attribute, uint32_t modifier,
	    void (*done)(struct sm_request *request))
{
	struct sm_request *request = sm_request_new(sm, node, IBA_METHOD_GET, attribute, modifier);

	request->done = done;
	sm_request_send(request);
}

void own_port_ask(struct sm *sm, void (*done)(struct sm_request *request))
{
	struct builder_port *own = sm->builder->sm_port;
	struct sm_request *request =
		sm_request_port(sm, own, IBA_METHOD_GET, IBA_ATTR_PORT_INFO, own->num);

	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->serial = sm->sweep.serial;
	request->done = done;
	sm_request_send(request);
}

struct smp_state *smp_state_new(const struct smp_observer *observer)
{
	struct smp_state *smp = g_new0(struct smp_state, 1);

	smp->observer = observer;
	smp->silence = silence_new();
	smp->unknown_keys = unknown_keys_new();
	smp->identified = node_table_new(sizeof(uint64_t));
	return smp;
}

void smp_state_free(struct smp_state *smp)
{
	silence_free(smp->silence);
	unknown_keys_free(smp->unknown_keys);
	node_table_free(smp->identified);
	g_free(smp);
}

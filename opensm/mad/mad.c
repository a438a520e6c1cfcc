// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The actor "mad": what it receives from other actors and from the vendor layer. Other actors
 * communicate with it by messages only.
 *
 *	mad_send()                      mad_ask()        received: answers, unsolicited SMPs
 *	    |                               |                |
 *	target.c: one queue per SMA,    ask.c: GMPs      mad.c: by TID (tid.c) to the request,
 *	served in turn                      |            by class to the client of mad_serve()
 *	    |                               |
 *	transaction.c: tries, window        |
 *	    |      form.c: by which route   |
 *	vendor layer <----------------------+---- post.c: responses and unsolicited MADs
 *
 * late.c: answers to requests that have failed. rtt.h, loss.h, window.h: what answers show of the
 * fabric. smp.c: the wire format. Unsolicited GMPs go from the vendor layer directly to their
 * server.
 */
#include "mad/mad_private.h"

#include <string.h>

#include "core/options.h"

/* Limits answers to refused requests: an SM flooded with requests must not flood others. */
#define BUSY_PER_SECOND 1000
#define BUSY_BURST 1000

struct cancel {
	struct message message;
	struct mad *mad;
	uint64_t serial;
};

struct own_lid {
	struct message message;
	struct mad *mad;
	uint16_t lid;
	uint8_t sm_sl;
};

static bool is_response(const struct vendor_mad *mad)
{
	return mad->data[3] & IBA_METHOD_RESPONSE;
}

static uint64_t tid_of(const struct vendor_mad *mad)
{
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, mad->data, &header);
	return header.transaction_id;
}

static void run_done(struct message *message)
{
	struct mad_request *request = (struct mad_request *)message;

	request->done(request);
}

void mad_hand_back(struct mad_request *request)
{
	request->message.run = run_done;
	actor_post(request->owner, &request->message);
}

void mad_drop(struct mad_request *request)
{
	if (request->message.drop)
		request->message.drop(&request->message);
	else
		g_free(request);
}

/* ---- calls from the vendor layer ---- */

static bool receive_answer(struct mad *mad, const struct vendor_mad *received)
{
	unsigned int n;
	struct tid_slot *slot = tid_find(&mad->tids, tid_of(received), &n);

	return slot ? slot->user->answer(slot, n, received) : late_answer(mad, received);
}

/* A request that the device gave up or would not send. That of an earlier try is ignored. */
static void receive_returned(struct mad *mad, const struct vendor_mad *returned)
{
	unsigned int n;
	struct tid_slot *slot = tid_find(&mad->tids, tid_of(returned), &n);

	if (slot && n == slot->n_tries && !is_response(returned))
		slot->user->returned(slot, returned);
}

/* On the receiver's thread. Requests that expect an answer get BUSY, at a limited rate. */
static void refused(void *arg, const struct vendor_mad *request)
{
	struct mad *mad = arg;
	uint8_t method = request->data[3], *answer;
	struct iba_mad_header header;

	counter_inc(&mad->context->counters, mad_refused);
	mad_want_trim(mad);
	if (!atomic_load(&mad->busy_response) || request->data[1] != IBA_CLASS_SUBN_ADM ||
	    request->length < IBA_MAD_BYTES || method == IBA_METHOD_TRAP ||
	    method == IBA_METHOD_REPORT ||
	    vendor_is_message(request->data, request->length) || /* the rest will be sent again */
	    !bucket_take(&mad->busy_answers, actor_now(mad->actor)))
		return;
	wire_decode(&iba_mad_header_type, request->data, &header);
	header.method =
		method == IBA_METHOD_SET ? IBA_METHOD_GET_RESP : method | IBA_METHOD_RESPONSE;
	header.status = IBA_STATUS_BUSY;
	answer = g_malloc0(IBA_MAD_BYTES);
	memcpy(answer, request->data, IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, answer);
	mad_post(mad, &request->remote, answer, IBA_MAD_BYTES);
}

/* On the receiver's thread. */
static void dropped(void *arg, enum vendor_dropped what)
{
	struct mad *mad = arg;

	if (what == VENDOR_DROPPED_STRAY)
		counter_inc(&mad->context->counters, rmpp_strays);
	else
		counter_inc(&mad->context->counters, rmpp_repeated);
}

/* Whether the device accepts what is sent, judged by the result of a request. */
static void note_send(struct mad *mad, bool taken)
{
	struct context *context = mad->context;

	if (taken) {
		atomic_store(&context->sends_fail_since, 0);
		atomic_store(&context->sends_failed, 0);
		return;
	}
	if (!atomic_fetch_add(&context->sends_failed, 1))
		atomic_store(&context->sends_fail_since, MAX(actor_now(mad->actor), 1));
}

static void hand_to_server(struct mad *mad, struct vendor_mad *received)
{
	const struct server *server = &mad->servers[received->data[1]];

	if (!server->present) {
		counter_inc(&mad->context->counters, mad_unhandled);
		vendor_mad_free(received);
		return;
	}
	if (server->client.actor)
		vendor_mad_post(received, &server->client);
	else
		server->client.receive(server->client.arg, received);
}

/* Takes ownership of received. */
static void dispatch(struct mad *mad, struct vendor_mad *received)
{
	struct counters *counters = &mad->context->counters;

	if (received->length < iba_mad_header_bytes || received->data[0] != IBA_BASE_VERSION) {
		counter_inc(counters, mad_malformed);
	} else if (received->status != VENDOR_RECEIVED) {
		note_send(mad, received->status != VENDOR_FAILED);
		receive_returned(mad, received);
	} else if (!is_response(received)) {
		hand_to_server(mad, received);
		return;
	} else if (received->length < IBA_MAD_BYTES && received->data[1] != IBA_CLASS_SUBN_ADM) {
		counter_inc(counters, mad_malformed);
	} else if (receive_answer(mad, received)) {
		note_send(mad, true);
	} else {
		if (received->data[1] == IBA_CLASS_SUBN_ADM) { /* the SA sends Reports itself */
			hand_to_server(mad, received);
			return;
		}
		counter_inc(counters, mad_unknown);
	}
	vendor_mad_free(received);
}

static void receive(void *arg, struct vendor_mad *received)
{
	struct mad *mad = arg;

	trim_count(mad);
	dispatch(mad, received);
	transaction_pump(mad);
}

bool mad_bind(struct mad *mad, uint8_t mgmt_class, bool manager, GError **error)
{
	const struct vendor_client client = {
		.actor = mad->actor,
		.arg = mad,
		.receive = receive,
		.segments = mad->segments,
		.brief = mgmt_class == IBA_CLASS_SUBN_ADM, /* its segments and the SA */
	};

	if (!mad->bound[mgmt_class])
		mad->bound[mgmt_class] =
			vendor_bind(mad->vendor, mgmt_class, manager, &client, error);
	return mad->bound[mgmt_class];
}

/* ---- messages from other actors ---- */

/* The last check before the wire: a dry run changes nothing, whatever its SM does. */
static bool is_forbidden(const struct mad *mad, const struct mad_request *request)
{
	if ((!request->gets_only && !mad->context->gets_only) || request->method == IBA_METHOD_GET)
		return false;
	log_error(mad->context->log, "a dry run would have sent method 0x%02x of attribute 0x%04x",
		  request->method, request->attribute);
	return true;
}

static void run_send(struct message *message)
{
	struct mad_request *request = (struct mad_request *)message;
	struct mad *mad = request->mad;

	if (is_forbidden(mad, request) || mad_is_cancelled(mad, request)) {
		request->result = MAD_CANCELLED;
		mad_hand_back(request);
		return;
	}
	target_enqueue(mad, request);
	transaction_pump(mad);
}

void mad_send(struct mad *mad, struct mad_request *request)
{
	request->mad = mad;
	request->fell_back = request->by_lid = request->dead = false;
	request->sent = 0;
	request->status = 0;
	request->message.run = run_send;
	actor_post(mad->actor, &request->message);
}

static void run_cancel(struct message *message)
{
	struct cancel *cancel = (struct cancel *)message;
	struct mad *mad = cancel->mad;

	mad->cancelled = MAX(mad->cancelled, cancel->serial);
	transaction_cancel(mad);
	g_free(cancel);
}

void mad_cancel(struct mad *mad, uint64_t serial)
{
	struct cancel *cancel = g_new0(struct cancel, 1);

	cancel->message.run = run_cancel;
	cancel->mad = mad;
	cancel->serial = serial;
	actor_post(mad->actor, &cancel->message);
}

static void run_own_lid(struct message *message)
{
	struct own_lid *own = (struct own_lid *)message;

	own->mad->own_lid = own->lid;
	own->mad->sm_sl = own->sm_sl;
	g_free(own);
}

void mad_set_own_lid(struct mad *mad, uint16_t lid, uint8_t sm_sl)
{
	struct own_lid *own = g_new0(struct own_lid, 1);

	own->message.run = run_own_lid;
	own->mad = mad;
	own->lid = lid;
	own->sm_sl = sm_sl;
	actor_post(mad->actor, &own->message);
}

/* ---- life ---- */

/* SMPs: traps, and requests of other SMs that check whether this one is alive. */
static const struct vendor_shares smp_shares = {.source = 64, .total = 4096};
/* A host may send requests for many processes, which all connect at once. */
static const struct vendor_shares gmp_shares = {.source = 1024, .total = 8192};

void mad_serve(struct mad *mad, uint8_t mgmt_class, const struct vendor_client *server)
{
	const struct vendor_client here = {.actor = mad->actor, .arg = mad, .receive = receive};
	struct vendor_shares shares = iba_class_is_smp(mgmt_class) ? smp_shares : gmp_shares;
	g_autoptr(GError) error = NULL;

	if (!mad->bound[mgmt_class] && !mad_bind(mad, mgmt_class, true, &error))
		log_error(mad->context->log, "%s", error->message);
	shares.refused = refused;
	shares.dropped = dropped;
	shares.arg = mad;
	vendor_serve(mad->vendor, mgmt_class, server->actor ? server : &here, &shares);
	mad->servers[mgmt_class].client = *server;
	mad->servers[mgmt_class].present = true;
	if (mgmt_class == IBA_CLASS_SUBN_LID)
		mad_serve(mad, IBA_CLASS_SUBN_DIRECTED, server);
}

/* Of the device and an option, which is 0 if it sets no limit. */
static unsigned int window_max(const struct mad *mad, unsigned int option)
{
	unsigned int max = vendor_max_outstanding(mad->vendor);

	if (option && option < max)
		max = option;
	return CLAMP(max, 1, mad->n_transactions);
}

static void take_options(struct mad *mad, const struct options *options)
{
	window_resize(&mad->window, window_max(mad, options->max_wire_smps));
	mad->window.second = options->max_wire_smps2 ? window_max(mad, options->max_wire_smps2) : 0;
	mad->stalled_ns = options->max_smps_timeout * NS_PER_US;
	mad->long_timeout_ms = MAX(options->long_transaction_timeout, mad->timeout_ms);
	atomic_store(&mad->busy_response, options->sa_busy_response);
}

static void on_options_changed(void *arg, uint64_t value)
{
	struct mad *mad = arg;
	struct options *options = slot_take(&mad->context->options);

	(void)value;
	take_options(mad, options);
	options_unref(options);
}

/* A dry run serves no requests, and may run beside an SM on the same port. */
static bool bind_all(struct mad *mad, bool manager, GError **error)
{
	return mad_bind(mad, IBA_CLASS_SUBN_LID, manager, error) &&
	       mad_bind(mad, IBA_CLASS_SUBN_DIRECTED, manager, error) &&
	       (!manager || mad_bind(mad, IBA_CLASS_SUBN_ADM, true, error));
}

struct mad *mad_new(struct context *context, struct vendor *vendor, GError **error)
{
	struct mad *mad = g_new0(struct mad, 1);
	struct options *options = slot_take(&context->options);

	mad->context = context;
	mad->vendor = vendor;
	vendor_log_frames(vendor, context->log);
	mad->actor = actor_new(context->rt, "mad");
	mad->segments = actor_new(context->rt, "rmpp");
	mad->timeout_ms = options->transaction_timeout;
	mad->retries = options->transaction_retries;
	target_init(mad);
	late_init(mad);
	form_init(mad);
	tid_init(&mad->tids, context->rt);
	loss_init(&mad->loss);
	bucket_init(&mad->busy_answers, BUSY_PER_SECOND, BUSY_BURST);
	transaction_init(mad, CLAMP(vendor_max_outstanding(vendor), 1, SMP_SLOTS));
	ask_init(mad);
	trim_init(mad);
	window_init(&mad->window, window_max(mad, options->max_wire_smps));
	take_options(mad, options);
	event_subscribe(&context->bus, EVENT_OPTIONS_CHANGED, mad->actor, on_options_changed, mad);
	options_unref(options);
	if (!bind_all(mad, !context->gets_only, error)) {
		mad_free(mad);
		return NULL;
	}
	return mad;
}

struct actor *mad_actor(const struct mad *mad)
{
	return mad->actor;
}

struct actor *mad_segments_actor(const struct mad *mad)
{
	return mad->segments;
}

void mad_start(struct mad *mad)
{
	actor_start(mad->actor);
}

void mad_attach(struct mad *mad, GMainContext *loop)
{
	actor_attach(mad->actor, loop);
}

void mad_stop(struct mad *mad)
{
	actor_stop(mad->segments);
	actor_stop(mad->actor);
}

void mad_free(struct mad *mad)
{
	ask_clear(mad); /* no timer of the actor runs: it was stopped, or never started */
	transaction_clear(mad);
	target_clear(mad);
	late_clear(mad);
	tid_clear(&mad->tids);
	actor_free(mad->segments);
	actor_free(mad->actor);
	g_free(mad);
}

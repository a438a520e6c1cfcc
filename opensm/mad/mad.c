// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Transactions. All of it runs on the actor "mad"; other actors reach it by messages only.
 *
 * A request waits in the queue of its target (a node). Targets with something to send and less
 * than TARGET_WINDOW in flight stand in a ring and are served in turn while the window has room.
 * A request in flight is a transaction: a slot whose number and age make up the low half of the
 * TransactionID, so a late or forged response finds a slot of another age and is only counted.
 *
 * Routes. A target with a LID is tried LID-routed first, one behind a switch with a LID by a mixed
 * route (one directed hop at the end, IBA 14.2.2), and every second try goes by the full directed
 * route. Both shorter forms are used once a probe has come back: simulators and some devices drop
 * them, or do until links are ACTIVE, and nobody should wait for a timeout to learn that.
 */
#include "mad/mad.h"

#include <string.h>

#include "core/options.h"
#include "mad/rtt.h"
#include "mad/smp.h"
#include "mad/window.h"

#define TARGET_WINDOW 4
#define SLOT_BITS 12
#define SLOTS (1u << SLOT_BITS)
#define PROBE_PAUSE_FIRST NS_PER_S
#define PROBE_PAUSE_MAX (64 * NS_PER_S)
#define DEVICE_BUSY_PAUSE NS_PER_MS

struct target {
	struct target_key {
		uint64_t guid;
		uint64_t port;
	} key;
	struct mad_request *first, *last;
	struct target *next; /* in the ring */
	unsigned int in_flight;
	bool in_ring;
};

struct transaction {
	struct timer timer;
	struct mad *mad;
	struct mad_request *request; /* NULL: the slot is free */
	struct target *target;
	uint32_t tid;
	unsigned int early; /* tries that waited less than the transaction timeout */
	unsigned int tries; /* tries that waited that long */
	unsigned int wait_ms;
	uint64_t sent_ns;
	bool preferred_failed;
	bool unsent; /* the device took no more */
	enum smp_form form;
	struct transaction *next_free;
};

struct server {
	struct vendor_client client;
	bool present;
};

/* Whether a form of routing works here. */
struct form_state {
	const char *name;
	bool proven, probing;
	uint64_t probe_after, pause;
};

struct mad {
	struct context *context;
	struct vendor *vendor;
	struct actor *actor;
	GHashTable *targets;
	struct target *ring_first, *ring_last;
	struct transaction *slots;
	unsigned int n_slots; /* as many as the device can have in flight */
	struct transaction *free_slots;
	struct window window;
	struct rtt rtt;
	unsigned int in_flight;
	unsigned int timeout_ms, retries;
	uint64_t cancelled; /* requests up to this serial are given up */
	uint16_t own_lid;
	uint8_t sm_sl;
	struct form_state forms[SMP_FORMS];
	struct server servers[256];
};

struct outgoing {
	struct message message;
	struct mad *mad;
	atomic_size_t *held; /* counts n_held octets of data; may be NULL */
	size_t n_held;
	struct vendor_address to;
	uint8_t *data;
	size_t length;
};

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

/* ---- targets ---- */

static void ring_add(struct mad *mad, struct target *target)
{
	if (target->in_ring || !target->first || target->in_flight >= TARGET_WINDOW)
		return;
	target->in_ring = true;
	target->next = NULL;
	if (mad->ring_last)
		mad->ring_last->next = target;
	else
		mad->ring_first = target;
	mad->ring_last = target;
}

static struct target *ring_take(struct mad *mad)
{
	struct target *target = mad->ring_first;

	if (!target)
		return NULL;
	mad->ring_first = target->next;
	if (!mad->ring_first)
		mad->ring_last = NULL;
	target->in_ring = false;
	return target;
}

static guint target_hash(gconstpointer key)
{
	const struct target_key *target = key;

	return g_int64_hash(&target->guid) + (guint)target->port;
}

static gboolean target_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct target_key));
}

static void target_enqueue(struct mad *mad, struct mad_request *request)
{
	struct target_key key = {request->target, request->target_port};
	struct target *target = g_hash_table_lookup(mad->targets, &key);

	if (!target) {
		target = g_new0(struct target, 1);
		target->key = key;
		g_hash_table_insert(mad->targets, &target->key, target);
	}
	request->next = NULL;
	if (target->last)
		target->last->next = request;
	else
		target->first = request;
	target->last = request;
	counter_inc(&mad->context->counters, smp_waiting);
	ring_add(mad, target);
}

static struct mad_request *target_dequeue(struct target *target)
{
	struct mad_request *request = target->first;

	target->first = request->next;
	if (!target->first)
		target->last = NULL;
	return request;
}

static void target_release(struct mad *mad, struct target *target)
{
	target->in_flight--;
	ring_add(mad, target);
	if (!target->in_flight && !target->first)
		g_hash_table_remove(mad->targets, &target->key);
}

/* ---- transactions ---- */

static void run_done(struct message *message)
{
	struct mad_request *request = (struct mad_request *)message;

	request->done(request);
}

static void hand_back(struct mad_request *request)
{
	request->message.run = run_done;
	actor_post(request->owner, &request->message);
}

static void transaction_finish(struct transaction *transaction)
{
	struct mad *mad = transaction->mad;
	struct mad_request *request = transaction->request;

	timer_stop(&transaction->timer);
	transaction->request = NULL;
	transaction->next_free = mad->free_slots;
	mad->free_slots = transaction;
	mad->in_flight--;
	counter_add(&mad->context->counters, smp_on_wire, -1);
	target_release(mad, transaction->target);
	request->fell_back = transaction->preferred_failed && transaction->form == SMP_DIRECTED;
	hand_back(request);
}

static bool is_cancelled(const struct mad *mad, const struct mad_request *request)
{
	return request->serial && request->serial <= mad->cancelled;
}

static enum smp_form shortest_form(const struct mad *mad, const struct mad_route *route)
{
	if (!mad->own_lid)
		return SMP_DIRECTED;
	if (route->lid)
		return SMP_LID;
	return route->parent && route->hops > 1 ? SMP_MIXED : SMP_DIRECTED;
}

static enum smp_form choose_form(const struct transaction *transaction)
{
	const struct mad *mad = transaction->mad;
	const struct mad_route *route = &transaction->request->route;
	enum smp_form form;

	if (transaction->request->probe)
		return transaction->request->probe;
	if (transaction->request->lid_only)
		return SMP_LID;
	if ((transaction->early + transaction->tries) % 2)
		return SMP_DIRECTED;
	form = shortest_form(mad, route);
	return mad->forms[form].proven ? form : SMP_DIRECTED;
}

static void count_sent(struct mad *mad, const struct transaction *transaction)
{
	struct counters *counters = &mad->context->counters;

	counter_inc(counters, smp_sent);
	if (transaction->early + transaction->tries)
		counter_inc(counters, smp_retries);
	if (transaction->form == SMP_LID)
		return;
	counter_inc(counters, smp_directed);
	counter_add(counters, smp_directed_hops,
		    transaction->form == SMP_MIXED ? 1 : transaction->request->route.hops);
}

/* Sends it, or has the timer try again soon if the device takes no more now. */
static void transmit(struct transaction *transaction)
{
	struct mad *mad = transaction->mad;
	struct vendor_address to;
	uint8_t wire[IBA_MAD_BYTES];

	transaction->form = choose_form(transaction);
	smp_encode(transaction->request, transaction->form, transaction->tid, mad->own_lid,
		   mad->sm_sl, wire, &to);
	transaction->wait_ms = mad->timeout_ms;
	if (!transaction->tries)
		transaction->wait_ms = rtt_wait_ms(&mad->rtt, transaction->early, mad->timeout_ms);
	transaction->unsent =
		!vendor_send(mad->vendor, &to, wire, sizeof(wire), transaction->wait_ms);
	if (transaction->unsent) {
		timer_start(&transaction->timer, DEVICE_BUSY_PAUSE);
		return;
	}
	count_sent(mad, transaction);
	transaction->request->sent++;
	transaction->sent_ns = actor_now(mad->actor);
	/* The device reports a timeout first; this one is for those that never do. */
	timer_start(&transaction->timer,
		    (transaction->wait_ms + transaction->wait_ms / 4 + 1) * NS_PER_MS);
}

static bool tries_used_up(const struct transaction *transaction)
{
	const struct mad_request *request = transaction->request;
	unsigned int made = transaction->early + transaction->tries;

	if (request->probe)
		return true;
	if (request->tries)
		return made >= request->tries;
	return transaction->tries > transaction->mad->retries;
}

static void give_up(struct transaction *transaction)
{
	if (!transaction->request->probe)
		counter_inc(&transaction->mad->context->counters, smp_timeouts);
	transaction->request->result =
		is_cancelled(transaction->mad, transaction->request) ? MAD_CANCELLED : MAD_TIMEOUT;
	transaction_finish(transaction);
}

/* Another try by the other route, or the end. */
static void retry_or_give_up(struct transaction *transaction)
{
	struct mad *mad = transaction->mad;
	unsigned int *count = &transaction->tries;

	if (!transaction->request->probe)
		window_loss(&mad->window, actor_now(mad->actor), mad->timeout_ms * NS_PER_MS);
	if (transaction->form != SMP_DIRECTED)
		transaction->preferred_failed = true;
	if (transaction->wait_ms < mad->timeout_ms)
		count = &transaction->early;
	++*count;
	if (is_cancelled(mad, transaction->request) || tries_used_up(transaction))
		give_up(transaction);
	else
		transmit(transaction);
}

static struct transaction *transaction_begin(struct mad *mad, struct target *target)
{
	struct transaction *transaction = mad->free_slots;

	mad->free_slots = transaction->next_free;
	transaction->tid += SLOTS; /* the slot's next age */
	transaction->request = target_dequeue(target);
	transaction->target = target;
	transaction->tries = transaction->early = 0;
	transaction->preferred_failed = false;
	target->in_flight++;
	mad->in_flight++;
	counter_add(&mad->context->counters, smp_waiting, -1);
	counter_inc(&mad->context->counters, smp_on_wire);
	return transaction;
}

static struct transaction *transaction_find(struct mad *mad, const uint8_t *wire)
{
	struct iba_mad_header header;
	struct transaction *transaction;
	unsigned int slot;

	wire_decode(&iba_mad_header_type, wire, &header);
	slot = header.transaction_id & (SLOTS - 1);
	if (slot >= mad->n_slots)
		return NULL;
	transaction = &mad->slots[slot];
	if (!transaction->request || transaction->tid != (uint32_t)header.transaction_id)
		return NULL;
	return transaction;
}

/* ---- probes of the shorter forms ---- */

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

/* While the form that suits a request is unproven: asks the same node for its NodeInfo that way. */
static void probe_form(struct mad *mad, const struct mad_request *like)
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
	probe->owner = mad->actor;
	probe->done = on_probe_done;
	probe->arg = mad;
	target_enqueue(mad, probe);
}

/* ---- the window ---- */

/* Sends what the window, the targets and the device take. */
static void pump(struct mad *mad)
{
	while (mad->in_flight < (unsigned int)mad->window.size && mad->free_slots) {
		struct target *target = ring_take(mad);
		struct transaction *transaction;

		if (!target)
			return;
		if (!target->first)
			continue; /* cancelled while it stood in the ring */
		transaction = transaction_begin(mad, target);
		ring_add(mad, target);
		transmit(transaction);
		if (transaction->unsent)
			return; /* its timer goes on */
		probe_form(mad, transaction->request);
	}
}

static void on_deadline(struct timer *timer)
{
	struct transaction *transaction = (struct transaction *)timer;
	struct mad *mad = transaction->mad;

	if (transaction->unsent)
		transmit(transaction);
	else
		retry_or_give_up(transaction);
	pump(mad);
}

/* ---- what the vendor hands up ---- */

static bool is_response(uint8_t method)
{
	return method & IBA_METHOD_RESPONSE;
}

static void receive_response(struct mad *mad, const uint8_t *wire)
{
	struct counters *counters = &mad->context->counters;
	struct transaction *transaction = transaction_find(mad, wire);

	if (!transaction || !smp_decode(transaction->request, wire)) {
		counter_inc(counters, mad_unknown);
		return;
	}
	counter_inc(counters, smp_received);
	if (transaction->request->result == MAD_STATUS)
		counter_inc(counters, smp_bad_status);
	window_response(&mad->window);
	if (!(transaction->early + transaction->tries))
		rtt_sample(&mad->rtt, actor_now(mad->actor) - transaction->sent_ns);
	transaction_finish(transaction);
}

static void hand_to_server(struct mad *mad, struct vendor_mad *received)
{
	const struct server *server = &mad->servers[received->data[1]];

	if (!server->present) {
		counter_inc(&mad->context->counters, mad_unhandled);
		vendor_mad_free(received);
		return;
	}
	vendor_mad_post(received, &server->client);
}

/* Whether a timeout that the device reports is that of an earlier try: it comes too soon. */
static bool is_stale(const struct transaction *transaction, enum vendor_status status)
{
	uint64_t waited = actor_now(transaction->mad->actor) - transaction->sent_ns;

	return transaction->unsent ||
	       (status == VENDOR_TIMED_OUT && waited < transaction->wait_ms * (NS_PER_MS / 4 * 3));
}

/* A request that the device gave up or would not send. */
static void receive_returned(struct mad *mad, const struct vendor_mad *returned)
{
	struct transaction *transaction = transaction_find(mad, returned->data);

	if (transaction && returned->data[1] != IBA_CLASS_SUBN_ADM &&
	    !is_stale(transaction, returned->status))
		retry_or_give_up(transaction);
}

static void receive(void *arg, struct vendor_mad *received)
{
	struct mad *mad = arg;

	if (received->length < iba_mad_header_bytes || received->data[0] != 1) {
		counter_inc(&mad->context->counters, mad_malformed);
	} else if (received->status != VENDOR_RECEIVED) {
		receive_returned(mad, received);
	} else if (is_response(received->data[3]) && received->data[1] != IBA_CLASS_SUBN_ADM) {
		if (received->length >= IBA_MAD_BYTES)
			receive_response(mad, received->data);
		else
			counter_inc(&mad->context->counters, mad_malformed);
	} else {
		hand_to_server(mad, received);
		pump(mad);
		return;
	}
	vendor_mad_free(received);
	pump(mad);
}

/* ---- messages from other actors ---- */

static void run_send(struct message *message)
{
	struct mad_request *request = (struct mad_request *)message;
	struct mad *mad = request->mad;

	target_enqueue(mad, request);
	pump(mad);
}

void mad_send(struct mad *mad, struct mad_request *request)
{
	request->mad = mad;
	request->fell_back = false;
	request->sent = 0;
	request->status = 0;
	request->message.run = run_send;
	actor_post(mad->actor, &request->message);
}

/* Those that wait are handed back in the order in which they came. */
static void cancel_queue(struct mad *mad, struct target *target)
{
	struct mad_request *request = target->first;

	target->first = target->last = NULL;
	while (request) {
		struct mad_request *next = request->next;

		counter_add(&mad->context->counters, smp_waiting, -1);
		if (is_cancelled(mad, request)) {
			request->result = MAD_CANCELLED;
			hand_back(request);
		} else {
			target_enqueue(mad, request);
		}
		request = next;
	}
}

static void run_cancel(struct message *message)
{
	struct cancel *cancel = (struct cancel *)message;
	struct mad *mad = cancel->mad;
	GHashTableIter iter;
	struct target *target;

	mad->cancelled = MAX(mad->cancelled, cancel->serial);
	g_hash_table_iter_init(&iter, mad->targets);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&target))
		cancel_queue(mad, target);
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

static void outgoing_free(struct outgoing *outgoing)
{
	g_free(outgoing->data);
	if (outgoing->held)
		atomic_fetch_sub(outgoing->held, outgoing->n_held);
	g_free(outgoing);
}

static void run_outgoing(struct message *message)
{
	struct outgoing *outgoing = (struct outgoing *)message;

	/* A device that takes no more drops it: the requester's own retry comes to the rescue. */
	if (!vendor_send(outgoing->mad->vendor, &outgoing->to, outgoing->data, outgoing->length, 0))
		counter_inc(&outgoing->mad->context->counters, mad_replies_dropped);
	else if (outgoing->data[1] != IBA_CLASS_SUBN_ADM)
		counter_inc(&outgoing->mad->context->counters, smp_unicasts);
	outgoing_free(outgoing);
}

static void drop_outgoing(struct message *message)
{
	outgoing_free((struct outgoing *)message);
}

static void post(struct mad *mad, const struct vendor_address *to, uint8_t *data, size_t length,
		 atomic_size_t *held, size_t n)
{
	struct outgoing *outgoing = g_new0(struct outgoing, 1);

	outgoing->message.run = run_outgoing;
	outgoing->message.drop = drop_outgoing;
	outgoing->mad = mad;
	outgoing->to = *to;
	outgoing->data = data;
	outgoing->length = length;
	outgoing->held = held;
	outgoing->n_held = n;
	actor_post(mad->actor, &outgoing->message);
}

void mad_post(struct mad *mad, const struct vendor_address *to, uint8_t *data, size_t length)
{
	post(mad, to, data, length, NULL, 0);
}

void mad_reply(struct mad *mad, const struct vendor_mad *to, uint8_t *data, size_t length)
{
	mad_post(mad, &to->remote, data, length);
}

void mad_reply_held(struct mad *mad, const struct vendor_mad *to, uint8_t *data, size_t length,
		    atomic_size_t *held, size_t n)
{
	post(mad, &to->remote, data, length, held, n);
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

void mad_serve(struct mad *mad, uint8_t mgmt_class, const struct vendor_client *server)
{
	mad->servers[mgmt_class].client = *server;
	mad->servers[mgmt_class].present = true;
	if (mgmt_class == IBA_CLASS_SUBN_LID)
		mad_serve(mad, IBA_CLASS_SUBN_DIRECTED, server);
}

static bool bind_classes(struct mad *mad, GError **error)
{
	static const uint8_t classes[] = {IBA_CLASS_SUBN_LID, IBA_CLASS_SUBN_DIRECTED,
					  IBA_CLASS_SUBN_ADM};
	struct vendor_client client = {.actor = mad->actor, .arg = mad, .receive = receive};

	for (size_t i = 0; i < G_N_ELEMENTS(classes); i++)
		if (!vendor_bind(mad->vendor, classes[i], true, &client, error))
			return false;
	return true;
}

static void init_slots(struct mad *mad)
{
	mad->n_slots = CLAMP(vendor_max_outstanding(mad->vendor), 1, SLOTS);
	mad->slots = g_new0(struct transaction, mad->n_slots);
	for (uint32_t i = mad->n_slots; i-- > 0;) {
		struct transaction *transaction = &mad->slots[i];

		timer_init(&transaction->timer, mad->actor, on_deadline);
		transaction->mad = mad;
		transaction->tid = i;
		transaction->next_free = mad->free_slots;
		mad->free_slots = transaction;
	}
}

/* The most SMPs in flight that the options and the device allow. */
static unsigned int window_max(const struct mad *mad, const struct options *options)
{
	unsigned int max = vendor_max_outstanding(mad->vendor);

	if (options->max_wire_smps && options->max_wire_smps < max)
		max = options->max_wire_smps;
	return CLAMP(max, 1, mad->n_slots);
}

static void on_options_changed(void *arg, uint64_t value)
{
	struct mad *mad = arg;
	struct options *options = slot_take(&mad->context->options);

	(void)value;
	window_resize(&mad->window, window_max(mad, options));
	options_unref(options);
	pump(mad);
}

struct mad *mad_new(struct context *context, struct vendor *vendor, GError **error)
{
	struct mad *mad = g_new0(struct mad, 1);
	struct options *options = slot_take(&context->options);

	mad->context = context;
	mad->vendor = vendor;
	mad->actor = actor_new(context->rt, "mad");
	mad->targets = g_hash_table_new_full(target_hash, target_equal, NULL, g_free);
	mad->timeout_ms = options->transaction_timeout;
	mad->retries = options->transaction_retries;
	mad->forms[SMP_LID] = (struct form_state){.name = "LID", .pause = PROBE_PAUSE_FIRST};
	mad->forms[SMP_MIXED] = (struct form_state){.name = "mixed", .pause = PROBE_PAUSE_FIRST};
	init_slots(mad);
	window_init(&mad->window, window_max(mad, options));
	event_subscribe(&context->bus, EVENT_OPTIONS_CHANGED, mad->actor, on_options_changed, mad);
	options_unref(options);
	if (!bind_classes(mad, error)) {
		mad_free(mad);
		return NULL;
	}
	return mad;
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
	actor_stop(mad->actor);
}

static void drop_request(struct mad_request *request)
{
	if (request->message.drop)
		request->message.drop(&request->message);
	else
		g_free(request);
}

void mad_free(struct mad *mad)
{
	GHashTableIter iter;
	struct target *target;

	for (uint32_t i = 0; i < mad->n_slots; i++) {
		timer_stop(&mad->slots[i].timer);
		if (mad->slots[i].request)
			drop_request(mad->slots[i].request);
	}
	g_hash_table_iter_init(&iter, mad->targets);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&target))
		while (target->first)
			drop_request(target_dequeue(target));
	g_hash_table_unref(mad->targets);
	actor_free(mad->actor);
	g_free(mad->slots);
	g_free(mad);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GMP transactions. A request waits in the queue of its LID; LIDs with something to send and fewer
 * than ASKS_A_LID in flight are in a ring and are served in turn while ASKS_IN_FLIGHT allows.
 *
 *	queue --> out --- answer -------------------> done
 *	           ^ \--- no answer in time --> out again, with twice the timeout, or done
 *	           |  \-- BUSY, refused -----> paused
 *	           +------------------------------+
 */
#include "mad/ask.h"

#include <string.h>

#include "mad/mad_private.h"
#include "mad/rtt.h"

#define ASKS_IN_FLIGHT 256
#define ASKS_A_LID 2
#define ASK_WAIT_MAX_MS 10000 /* unless its first timeout is longer */
#define REFUSALS_MAX 8
#define DEVICE_BUSY_PAUSE_MS 1

struct peer {
	uint16_t lid;
	unsigned int in_flight;
	bool in_ring;
	GQueue waiting; /* struct mad_ask */
};

/* A request in flight. */
struct asking {
	struct tid_slot slot; /* first */
	struct mad_ask *ask;  /* NULL: unused */
	struct peer *peer;
	unsigned int tries, refusals;
	bool paused; /* no try is in flight */
	bool cancelled;
};

struct asks {
	GHashTable *peers; /* struct peer by LID */
	GQueue ring;	   /* struct peer */
	struct asking slots[ASKS_IN_FLIGHT];
	struct tid_slot *free_slots;
	struct rtt rtt; /* of requests in a hurry */
};

struct ask_cancel {
	struct message message;
	struct mad *mad;
	const void *client;
	uint64_t serial;
};

/* ---- queues ---- */

static void ring_add(struct asks *asks, struct peer *peer)
{
	if (peer->in_ring || g_queue_is_empty(&peer->waiting) || peer->in_flight >= ASKS_A_LID)
		return;
	peer->in_ring = true;
	g_queue_push_tail(&asks->ring, peer);
}

static void free_if_empty(struct asks *asks, struct peer *peer)
{
	if (!peer->in_ring && !peer->in_flight && g_queue_is_empty(&peer->waiting))
		g_hash_table_remove(asks->peers, GUINT_TO_POINTER(peer->lid));
}

/* The next LID in turn that has something to send; NULL: none. */
static struct peer *next_peer(struct asks *asks)
{
	struct peer *peer;

	while ((peer = g_queue_pop_head(&asks->ring))) {
		peer->in_ring = false;
		if (!g_queue_is_empty(&peer->waiting))
			return peer;
		free_if_empty(asks, peer); /* its requests were cancelled */
	}
	return NULL;
}

static void enqueue(struct asks *asks, struct mad_ask *ask)
{
	struct peer *peer = g_hash_table_lookup(asks->peers, GUINT_TO_POINTER(ask->to.lid));

	if (!peer) {
		peer = g_new0(struct peer, 1);
		peer->lid = ask->to.lid;
		g_hash_table_insert(asks->peers, GUINT_TO_POINTER(peer->lid), peer);
	}
	ask->link = (GList){.data = ask};
	g_queue_push_tail_link(&peer->waiting, &ask->link);
	ring_add(asks, peer);
}

/* ---- completion ---- */

static void run_done(struct message *message)
{
	struct mad_ask *ask = (struct mad_ask *)message;

	ask->done(ask);
}

static void hand_back(struct mad_ask *ask, enum mad_result result)
{
	ask->result = result;
	ask->message.run = run_done;
	actor_post(ask->owner, &ask->message);
}

static void finish(struct asking *asking, enum mad_result result)
{
	struct asks *asks = asking->slot.mad->asks;
	struct peer *peer = asking->peer;

	hand_back(asking->ask, result);
	asking->ask = NULL;
	tid_release(&asking->slot.mad->tids, &asks->free_slots, &asking->slot);
	peer->in_flight--;
	ring_add(asks, peer);
	free_if_empty(asks, peer);
}

/* ---- tries ---- */

static unsigned int wait_ms(const struct asking *asking)
{
	const struct mad_ask *ask = asking->ask;
	uint64_t wait = ask->timeout_ms;
	uint64_t limit = MAX(wait, ASK_WAIT_MAX_MS);

	if (ask->hurry)
		return asking->tries < ask->retries ? rtt_wait_ms(&asking->slot.mad->asks->rtt,
								  asking->tries, ask->timeout_ms)
						    : ask->timeout_ms;
	wait <<= MIN(asking->tries, 16);
	return MIN(wait, limit);
}

static void encode(const struct mad_ask *ask, uint32_t tid, uint8_t wire[IBA_MAD_BYTES])
{
	const struct iba_mad_header header = {
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = ask->mgmt_class,
		.class_version = ask->class_version,
		.method = ask->method,
		.transaction_id = tid,
		.attribute_id = ask->attribute,
		.attribute_modifier = ask->modifier,
	};

	wire_encode(&iba_mad_header_type, &header, wire);
	memcpy(wire + iba_mad_header_bytes, ask->data, sizeof(ask->data));
}

static void pause_for(struct asking *asking, unsigned int ms)
{
	asking->paused = true;
	timer_start(&asking->slot.timer, ms * NS_PER_MS);
}

static void transmit(struct asking *asking)
{
	struct mad_ask *ask = asking->ask;
	unsigned int wait = wait_ms(asking);
	uint8_t wire[IBA_MAD_BYTES];

	encode(ask, tid_next(&asking->slot.mad->tids, &asking->slot), wire);
	/* The device still accepts a late answer while the next try is in flight. */
	if (!vendor_send(asking->slot.mad->vendor, &ask->to, wire, sizeof(wire), 2 * wait)) {
		pause_for(asking, DEVICE_BUSY_PAUSE_MS);
		return;
	}
	asking->paused = false;
	tid_tried(&asking->slot, actor_now(asking->slot.mad->actor));
	ask->sent++;
	timer_start(&asking->slot.timer, wait * NS_PER_MS);
}

/* A try failed. False: it was the last. */
static bool may_try_again(struct asking *asking)
{
	return ++asking->tries <= asking->ask->retries && !asking->cancelled;
}

static void try_lost(struct asking *asking)
{
	if (may_try_again(asking))
		transmit(asking);
	else
		finish(asking, asking->cancelled ? MAD_CANCELLED : MAD_TIMEOUT);
}

static void try_refused(struct asking *asking)
{
	asking->ask->sent--;
	if (asking->cancelled)
		finish(asking, MAD_CANCELLED);
	else if (++asking->refusals > REFUSALS_MAX)
		finish(asking, MAD_TIMEOUT);
	else
		pause_for(asking, wait_ms(asking));
}

/* ---- the window ---- */

static void pump(struct mad *mad)
{
	struct asks *asks = mad->asks;
	struct peer *peer;

	while (asks->free_slots && (peer = next_peer(asks))) {
		struct asking *asking = (struct asking *)tid_take(&asks->free_slots);

		asking->ask = g_queue_pop_head_link(&peer->waiting)->data;
		asking->peer = peer;
		asking->tries = asking->refusals = 0;
		asking->cancelled = false;
		peer->in_flight++;
		ring_add(asks, peer);
		transmit(asking);
	}
}

static void on_due(struct timer *timer)
{
	struct asking *asking = (struct asking *)timer;
	struct mad *mad = asking->slot.mad;

	if (asking->paused)
		transmit(asking);
	else
		try_lost(asking);
	pump(mad);
}

/* ---- results from the vendor layer ---- */

/* 13.4.5: the response to a Set is a GetResp. */
static uint8_t response_of(uint8_t method)
{
	return method == IBA_METHOD_SET ? IBA_METHOD_GET_RESP : method | IBA_METHOD_RESPONSE;
}

static bool is_redirection(const struct iba_mad_header *header)
{
	return header->status & IBA_STATUS_REDIRECT &&
	       header->attribute_id == IBA_ATTR_CLASS_PORT_INFO;
}

static bool is_answer(const struct mad_ask *ask, const struct vendor_mad *received,
		      const struct iba_mad_header *header)
{
	return received->remote.lid == ask->to.lid && header->mgmt_class == ask->mgmt_class &&
	       header->method == response_of(ask->method) &&
	       (header->attribute_id == ask->attribute || is_redirection(header));
}

static void learn(struct asking *asking, unsigned int n)
{
	struct mad *mad = asking->slot.mad;

	if (asking->ask->hurry)
		rtt_sample_of_many(&mad->asks->rtt,
				   actor_now(mad->actor) - tid_sent_ns(&asking->slot, n));
}

static bool on_answer(struct tid_slot *slot, unsigned int n, const struct vendor_mad *received)
{
	struct asking *asking = (struct asking *)slot;
	struct mad_ask *ask = asking->ask;
	struct mad *mad = slot->mad;
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, received->data, &header);
	if (!is_answer(ask, received, &header))
		return false;
	learn(asking, n);
	if (header.status & IBA_STATUS_BUSY && !asking->paused && may_try_again(asking)) {
		pause_for(asking, wait_ms(asking));
		return true;
	}
	if (header.status & IBA_STATUS_BUSY && asking->paused)
		return true; /* it belongs to an earlier try: the pause continues */
	ask->status = header.status;
	ask->answered = header.attribute_id;
	ask->length = received->length - iba_mad_header_bytes;
	memset(ask->data, 0, sizeof(ask->data));
	memcpy(ask->data, received->data + iba_mad_header_bytes,
	       MIN(ask->length, sizeof(ask->data)));
	finish(asking, ask->status ? MAD_STATUS : MAD_OK);
	pump(mad);
	return true;
}

static void on_returned(struct tid_slot *slot, const struct vendor_mad *returned)
{
	struct asking *asking = (struct asking *)slot;
	struct mad *mad = slot->mad;

	if (asking->paused || returned->data[1] != asking->ask->mgmt_class)
		return;
	if (returned->status == VENDOR_FAILED)
		try_refused(asking);
	else
		try_lost(asking);
	pump(mad);
}

/* ---- messages ---- */

static void run_ask(struct message *message)
{
	struct mad_ask *ask = (struct mad_ask *)message;
	struct mad *mad = ask->mad;
	g_autoptr(GError) error = NULL;

	if (!mad_bind(mad, ask->mgmt_class, false, &error)) {
		log_error(mad->context->log, "%s", error->message);
		hand_back(ask, MAD_TIMEOUT);
		return;
	}
	if (!ask->timeout_ms)
		ask->timeout_ms = mad->timeout_ms;
	enqueue(mad->asks, ask);
	pump(mad);
}

void mad_ask(struct mad *mad, struct mad_ask *ask)
{
	ask->mad = mad;
	ask->sent = 0;
	ask->status = 0;
	ask->length = 0;
	ask->message.run = run_ask;
	actor_post(mad->actor, &ask->message);
}

static bool is_meant(const struct ask_cancel *cancel, const struct mad_ask *ask)
{
	return ask->client == cancel->client && ask->serial <= cancel->serial;
}

static void cancel_waiting(struct peer *peer, const struct ask_cancel *cancel)
{
	for (GList *item = peer->waiting.head, *next; item; item = next) {
		next = item->next;
		if (!is_meant(cancel, item->data))
			continue;
		g_queue_unlink(&peer->waiting, item);
		hand_back(item->data, MAD_CANCELLED);
	}
}

static void run_cancel(struct message *message)
{
	struct ask_cancel *cancel = (struct ask_cancel *)message;
	struct asks *asks = cancel->mad->asks;
	GHashTableIter iter;
	void *peer;

	g_hash_table_iter_init(&iter, asks->peers);
	while (g_hash_table_iter_next(&iter, NULL, &peer))
		cancel_waiting(peer, cancel);
	for (unsigned int i = 0; i < ASKS_IN_FLIGHT; i++) {
		struct asking *asking = &asks->slots[i];

		if (!asking->ask || !is_meant(cancel, asking->ask))
			continue;
		asking->cancelled = true;
		if (asking->paused)
			finish(asking, MAD_CANCELLED);
	}
	pump(cancel->mad); /* removes LIDs without requests from the ring */
	g_free(cancel);
}

void mad_ask_cancel(struct mad *mad, const void *client, uint64_t serial)
{
	struct ask_cancel *cancel = g_new0(struct ask_cancel, 1);

	cancel->message.run = run_cancel;
	cancel->mad = mad;
	cancel->client = client;
	cancel->serial = serial;
	actor_post(mad->actor, &cancel->message);
}

/* ---- life ---- */

static const struct tid_user user = {.answer = on_answer, .returned = on_returned};

void ask_init(struct mad *mad)
{
	struct asks *asks = g_new0(struct asks, 1);

	mad->asks = asks;
	asks->peers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_queue_init(&asks->ring);
	for (unsigned int i = 0; i < ASKS_IN_FLIGHT; i++) {
		tid_add(&asks->slots[i].slot, mad, mad->actor, &user, on_due);
		tid_release(&mad->tids, &asks->free_slots, &asks->slots[i].slot);
	}
}

static void drop(struct mad_ask *ask)
{
	if (ask->message.drop)
		ask->message.drop(&ask->message);
	else
		g_free(ask);
}

void ask_clear(struct mad *mad)
{
	struct asks *asks = mad->asks;
	GHashTableIter iter;
	void *value;

	for (unsigned int i = 0; i < ASKS_IN_FLIGHT; i++)
		if (asks->slots[i].ask)
			drop(asks->slots[i].ask);
	g_hash_table_iter_init(&iter, asks->peers);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct peer *peer = value;

		while (!g_queue_is_empty(&peer->waiting))
			drop(g_queue_pop_head_link(&peer->waiting)->data);
	}
	g_hash_table_unref(asks->peers);
	g_queue_clear(&asks->ring);
	g_free(asks);
}

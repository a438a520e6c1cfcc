// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See transfers.h. */
#include "libvendor/transfers.h"

#include <pthread.h>

#include "complib/bucket.h"
#include "complib/hash.h"
#include "libvendor/admission.h"
#include "libvendor/rmpp.h"

/*
 * A segment is answered within microseconds, so a lost packet is noticed soon; a receiver that
 * returns within WAIT_NS + ... + WAIT_MAX_NS * n, 13 s in all, still gets its message.
 */
#define WAIT_NS (200 * NS_PER_MS)
#define WAIT_MAX_NS (2 * NS_PER_S)
#define RETRIES 8
/* Time limit for a receiver that acknowledges, but slowly. */
#define TOTAL_NS (60 * NS_PER_S)
#define OCTETS_PER_S (1 << 20)

#define WINDOW 64
#define EXPIRE_NS (10 * NS_PER_S)	 /* for a request without new packets */
#define REQUEST_TOTAL_NS (30 * NS_PER_S) /* for a request that arrives slowly */
#define REQUEST_MAX (64 << 10)		 /* octets: a GetMulti with 255 SGIDs and DGIDs has 8 K */
#define REQUESTS_A_LID 4		 /* reassembled at a time */
#define REQUESTS_MAX 256		 /* reassembled at a time in all */
#define FINISHED_MAX 256		 /* that still answer repeated packets */
#define STOPS_PER_SECOND 1000		 /* for requests without room, */
#define STOPS_BURST 1000		 /* so that a flood does not cause a flood of ours */
#define QUEUED_MAX 80			 /* packets per transfer: a little more than a window */
#define TURN_SEGMENTS 16		 /* of one transfer */
#define PUMP_SEGMENTS 64		 /* before other messages of the actor */
#define PAUSE_NS NS_PER_MS		 /* if the device takes no more */
#define KERNEL_WAIT_NS (2 * NS_PER_S)	 /* for an ACK */
#define KERNEL_KEEPS_NS (KERNEL_WAIT_NS * (VENDOR_RMPP_RETRIES + 1))

#define TID_AT 8
#define METHOD_AT 3

struct transfer_key {
	uint64_t tid;
	uint16_t lid;
	bool sends;
};

struct transfer {
	struct transfer_key key; /* first */
	struct transfers *transfers;
	unsigned int queued; /* packets waiting for the actor; under the lock */
	struct vendor_address remote;
	/* For sending: */
	struct rmpp_send *send;
	struct vendor_message *message;
	bool in_turns;
	/* For receiving: */
	struct rmpp_receive *receive; /* NULL until the actor sees the first packet */
	struct admission *place;      /* until the request is complete */
	bool finished;
	GList link; /* in turns or in finished */
};

/* A message sent by the kernel. */
struct kept {
	struct vendor_message *message;
	uint64_t until_ns;
};

struct transfers {
	struct vendor *vendor;
	struct vendor_client client;
	struct actor *actor;
	struct timer timer; /* for a pause, or for kept */
	struct message pump;
	bool pumping;	 /* its message has been posted */
	GQueue turns;	 /* struct transfer: those that may send */
	GQueue finished; /* struct transfer: requests, oldest first */
	GQueue kept;	 /* struct kept, in the order of their times */

	pthread_mutex_t lock; /* for the fields below, shared with the receiver thread */
	GHashTable *table;    /* struct transfer by key */
	GHashTable *sources;  /* by LID: requests being reassembled */
	unsigned int n_receiving;
	struct bucket stops;
	unsigned int users; /* the port, and messages to the actor */
	bool closed;
};

struct packet {
	struct message message;
	struct transfers *transfers;
	struct vendor_mad *mad;
	struct transfer_key key;
};

static guint key_hash(gconstpointer data)
{
	const struct transfer_key *key = data;
	uint64_t mix = hash_spread(key->tid ^ key->tid >> 32);

	return (guint)(mix >> 32) * 31 + key->lid * 2 + key->sends;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct transfer_key *x = a, *y = b;

	return x->tid == y->tid && x->lid == y->lid && x->sends == y->sends;
}

static struct transfer_key key_of(uint16_t lid, const uint8_t *mad, bool sends)
{
	struct transfer_key key = {.lid = lid, .sends = sends};

	for (unsigned int i = 0; i < sizeof(key.tid); i++)
		key.tid = key.tid << 8 | mad[TID_AT + i];
	return key;
}

/* ---- the object ---- */

/* Under the lock, which it releases. */
static void leave(struct transfers *transfers)
{
	bool last = --transfers->users == 0;

	pthread_mutex_unlock(&transfers->lock);
	if (!last)
		return;
	g_hash_table_unref(transfers->table);
	g_hash_table_unref(transfers->sources);
	pthread_mutex_destroy(&transfers->lock);
	g_free(transfers);
}

void transfers_free(struct transfers *transfers)
{
	if (!transfers)
		return;
	transfers_close(transfers);
	pthread_mutex_lock(&transfers->lock);
	leave(transfers);
}

/* ---- the end of a transfer ---- */

static unsigned int receiving_of(const struct transfers *transfers, uint16_t lid)
{
	return GPOINTER_TO_UINT(
		g_hash_table_lookup(transfers->sources, GUINT_TO_POINTER((guint)lid)));
}

/* Under the lock. */
static void count_receiving(struct transfers *transfers, uint16_t lid, int more)
{
	unsigned int n = receiving_of(transfers, lid) + (unsigned int)more;
	void *key = GUINT_TO_POINTER((guint)lid);

	transfers->n_receiving += (unsigned int)more;
	if (n)
		g_hash_table_insert(transfers->sources, key, GUINT_TO_POINTER(n));
	else
		g_hash_table_remove(transfers->sources, key);
}

/* It is not in the table any more. */
static void transfer_free(struct transfer *transfer)
{
	struct transfers *transfers = transfer->transfers;

	if (transfer->in_turns)
		g_queue_unlink(&transfers->turns, &transfer->link);
	if (transfer->finished)
		g_queue_unlink(&transfers->finished, &transfer->link);
	if (transfer->place)
		admission_leave(transfer->place, transfer->key.lid);
	g_clear_pointer(&transfer->send, rmpp_send_free);
	g_clear_pointer(&transfer->receive, rmpp_receive_free);
	g_free(transfer);
}

static void transfer_end(struct transfer *transfer)
{
	struct transfers *transfers = transfer->transfers;

	pthread_mutex_lock(&transfers->lock);
	g_hash_table_remove(transfers->table, &transfer->key);
	if (!transfer->key.sends && !transfer->finished)
		count_receiving(transfers, transfer->key.lid, -1);
	pthread_mutex_unlock(&transfers->lock);
	transfer_free(transfer);
}

static void message_end(struct vendor_message *message, enum vendor_end end)
{
	g_clear_pointer(&message->data, g_free);
	g_clear_pointer(&message->request, vendor_mad_free);
	message->done(message, end);
}

/* ---- sending: segments ---- */

static bool transmit(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	struct transfer *transfer = arg;

	return vendor_send(transfer->transfers->vendor, &transfer->remote, mad, IBA_MAD_BYTES, 0);
}

static unsigned int transmit_many(void *arg, const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n)
{
	struct transfer *transfer = arg;

	return vendor_send_many(transfer->transfers->vendor, &transfer->remote, mads, n);
}

static void pump_post(struct transfers *transfers)
{
	if (transfers->pumping || timer_running(&transfers->timer) || !transfers->turns.length)
		return;
	transfers->pumping = true;
	pthread_mutex_lock(&transfers->lock);
	transfers->users++;
	pthread_mutex_unlock(&transfers->lock);
	actor_post(transfers->actor, &transfers->pump);
}

static void turns_add(struct transfer *transfer, bool first)
{
	GQueue *turns = &transfer->transfers->turns;

	transfer->in_turns = true;
	transfer->link = (GList){.data = transfer};
	if (first)
		g_queue_push_head_link(turns, &transfer->link);
	else
		g_queue_push_tail_link(turns, &transfer->link);
}

static void send_ready(void *arg)
{
	struct transfer *transfer = arg;

	turns_add(transfer, false);
	pump_post(transfer->transfers);
}

/* False: the device takes no more now. */
static bool take_turn(struct transfers *transfers)
{
	struct transfer *transfer = g_queue_pop_head_link(&transfers->turns)->data;

	transfer->in_turns = false;
	switch (rmpp_send_some(transfer->send, TURN_SEGMENTS)) {
	case RMPP_SENT_MORE:
		turns_add(transfer, false);
		return true;
	case RMPP_SENT_STUCK:
		turns_add(transfer, true);
		return false;
	default:
		return true; /* the transfer may be freed */
	}
}

static void pump(struct transfers *transfers)
{
	for (unsigned int i = 0; i < PUMP_SEGMENTS / TURN_SEGMENTS && transfers->turns.length; i++)
		if (!take_turn(transfers)) {
			timer_start(&transfers->timer, PAUSE_NS);
			return;
		}
	pump_post(transfers);
}

static void pump_drop(struct message *message)
{
	struct transfers *transfers = container_of(message, struct transfers, pump);

	pthread_mutex_lock(&transfers->lock);
	leave(transfers);
}

static void pump_run(struct message *message)
{
	struct transfers *transfers = container_of(message, struct transfers, pump);

	transfers->pumping = false;
	pump(transfers);
	pump_drop(message);
}

/* ---- sending: messages ---- */

static void send_done(void *arg, enum rmpp_end end)
{
	static const enum vendor_end ends[] = {
		[RMPP_DELIVERED] = VENDOR_DELIVERED,
		[RMPP_STOPPED] = VENDOR_STOPPED,
		[RMPP_SILENT] = VENDOR_SILENT,
	};
	struct transfer *transfer = arg;
	struct vendor_message *message = transfer->message;

	transfer_end(transfer);
	message_end(message, ends[end]);
}

/* False: an equal transfer is in progress. */
static bool table_add(struct transfer *transfer)
{
	struct transfers *transfers = transfer->transfers;
	bool fresh;

	pthread_mutex_lock(&transfers->lock);
	fresh = !g_hash_table_contains(transfers->table, &transfer->key);
	if (fresh)
		g_hash_table_insert(transfers->table, &transfer->key, transfer);
	pthread_mutex_unlock(&transfers->lock);
	return fresh;
}

static void send_in_segments(struct transfers *transfers, struct vendor_message *message)
{
	const struct rmpp_config config = {
		.actor = transfers->actor,
		.wait_ns = WAIT_NS,
		.wait_max_ns = WAIT_MAX_NS,
		.total_ns = TOTAL_NS + message->length * NS_PER_S / OCTETS_PER_S,
		.retries = RETRIES,
		.ready = send_ready,
		.transmit_many = transfers->vendor->ops->send_many ? transmit_many : NULL,
	};
	struct transfer *transfer = g_new0(struct transfer, 1);

	transfer->key = key_of(message->to.lid, message->data, true);
	transfer->transfers = transfers;
	transfer->remote = message->to;
	transfer->message = message;
	if (!table_add(transfer)) {
		transfer_free(transfer);
		message_end(message, VENDOR_REPEATED);
		return;
	}
	transfer->send = rmpp_send_new(&config, message->data, message->length, transmit, send_done,
				       transfer);
	rmpp_send_start(transfer->send);
}

/* ---- sending: by the kernel ---- */

static void kept_end(struct transfers *transfers, enum vendor_end end)
{
	struct kept *kept = g_queue_pop_head(&transfers->kept);

	message_end(kept->message, end);
	g_free(kept);
}

static void kept_expire(struct transfers *transfers)
{
	uint64_t now = actor_now(transfers->actor);
	const struct kept *kept;

	while ((kept = g_queue_peek_head(&transfers->kept)) && kept->until_ns <= now)
		kept_end(transfers, VENDOR_DELIVERED);
	if (kept && !timer_running(&transfers->timer))
		timer_start(&transfers->timer, kept->until_ns - now);
}

static void send_by_kernel(struct transfers *transfers, struct vendor_message *message)
{
	struct kept *kept;

	if (!vendor_send(transfers->vendor, &message->to, message->data, message->length, 0)) {
		message_end(message, VENDOR_DROPPED);
		return;
	}
	/*
	 * The kernel has a copy. Places are too few to keep for messages perhaps acknowledged long
	 * ago.
	 */
	g_clear_pointer(&message->data, g_free);
	g_clear_pointer(&message->request, vendor_mad_free);
	kept = g_new0(struct kept, 1);
	kept->message = message;
	kept->until_ns = actor_now(transfers->actor) + KERNEL_KEEPS_NS;
	g_queue_push_tail(&transfers->kept, kept);
	kept_expire(transfers);
}

static void timer_fired(struct timer *timer)
{
	struct transfers *transfers = container_of(timer, struct transfers, timer);

	if (transfers->vendor->rmpp == VENDOR_RMPP_KERNEL)
		kept_expire(transfers);
	else
		pump_post(transfers);
}

void transfers_send(struct transfers *transfers, struct vendor_message *message)
{
	if (transfers->vendor->rmpp == VENDOR_RMPP_KERNEL)
		send_by_kernel(transfers, message);
	else
		send_in_segments(transfers, message);
}

/* ---- receiving, on the actor ---- */

static void receive_expired(void *arg)
{
	transfer_end(arg);
}

static struct rmpp_receive *receive_new(struct transfer *transfer)
{
	const struct rmpp_config config = {
		.actor = transfer->transfers->actor,
		.expire_ns = EXPIRE_NS,
		.total_ns = REQUEST_TOTAL_NS,
		.window = WINDOW,
		.message_max = REQUEST_MAX,
	};

	return rmpp_receive_new(&config, transmit, receive_expired, transfer);
}

/* The request is complete; the transfer stays, as its sender may have missed the last ACK. */
static void received(struct transfer *transfer)
{
	struct transfers *transfers = transfer->transfers;
	size_t length;
	const uint8_t *message = rmpp_receive_message(transfer->receive, &length);
	struct vendor_mad *mad = vendor_mad_new(transfers->vendor, message, length);

	mad->remote = transfer->remote;
	mad->admission = g_steal_pointer(&transfer->place);
	rmpp_receive_forget(transfer->receive);
	pthread_mutex_lock(&transfers->lock);
	count_receiving(transfers, transfer->key.lid, -1);
	pthread_mutex_unlock(&transfers->lock);
	transfer->finished = true;
	transfer->link = (GList){.data = transfer};
	g_queue_push_tail_link(&transfers->finished, &transfer->link);
	if (transfers->finished.length > FINISHED_MAX)
		transfer_end(g_queue_peek_head(&transfers->finished));
	vendor_mad_hand_on(mad, &transfers->client);
}

static void handle(struct transfer *transfer, const struct vendor_mad *mad)
{
	if (transfer->key.sends) {
		rmpp_send_handle(transfer->send, mad->data);
		return;
	}
	if (!transfer->receive)
		transfer->receive = receive_new(transfer);
	switch (rmpp_receive_handle(transfer->receive, mad->data)) {
	case RMPP_COMPLETE:
		received(transfer);
		break;
	case RMPP_ENDED:
		transfer_end(transfer);
		break;
	default:
		break;
	}
}

static void packet_drop(struct message *message)
{
	struct packet *packet = (struct packet *)message;
	struct transfers *transfers = packet->transfers;

	vendor_mad_free(packet->mad);
	g_free(packet);
	pthread_mutex_lock(&transfers->lock);
	leave(transfers);
}

static void packet_run(struct message *message)
{
	struct packet *packet = (struct packet *)message;
	struct transfers *transfers = packet->transfers;
	struct transfer *transfer;

	pthread_mutex_lock(&transfers->lock);
	transfer = g_hash_table_lookup(transfers->table, &packet->key);
	if (transfer && transfer->queued)
		transfer->queued--;
	pthread_mutex_unlock(&transfers->lock);
	if (transfer) /* else it has ended meanwhile */
		handle(transfer, packet->mad);
	packet_drop(message);
}

/* ---- receiving, on the receiver thread ---- */

static bool is_response(const struct vendor_mad *mad)
{
	return mad->data[METHOD_AT] & IBA_METHOD_RESPONSE;
}

/* Posts mad to the actor. True: there is such a transfer, and mad was taken over. */
static bool offer(struct transfers *transfers, struct vendor_mad *mad, bool sends)
{
	const struct transfer_key key = key_of(mad->remote.lid, mad->data, sends);
	struct packet *packet = NULL;
	struct transfer *transfer;

	pthread_mutex_lock(&transfers->lock);
	transfer = g_hash_table_lookup(transfers->table, &key);
	if (transfer && transfer->queued < QUEUED_MAX) {
		transfer->queued++;
		transfers->users++;
		packet = g_new0(struct packet, 1);
	}
	pthread_mutex_unlock(&transfers->lock);
	if (!transfer)
		return false;
	if (!packet) {
		vendor_mad_free(mad);
		return true;
	}
	packet->message.run = packet_run;
	packet->message.drop = packet_drop;
	packet->transfers = transfers;
	packet->mad = mad;
	packet->key = key;
	actor_post(transfers->actor, &packet->message);
	return true;
}

static bool has_room(struct transfers *transfers, uint16_t lid)
{
	bool room;

	pthread_mutex_lock(&transfers->lock);
	room = !transfers->closed && transfers->n_receiving < REQUESTS_MAX &&
	       receiving_of(transfers, lid) < REQUESTS_A_LID;
	pthread_mutex_unlock(&transfers->lock);
	return room;
}

/* Sends one STOP for the first packet of each request, which is repeated until it is answered. */
static void refuse(struct transfers *transfers, const struct vendor_mad *mad)
{
	uint8_t stop[IBA_MAD_BYTES];
	bool passes;

	if (!(mad->data[RMPP_AT_FLAGS] & IBA_RMPP_FIRST))
		return;
	pthread_mutex_lock(&transfers->lock);
	passes = !transfers->closed && bucket_take(&transfers->stops, actor_now(transfers->actor));
	pthread_mutex_unlock(&transfers->lock);
	if (!passes)
		return;
	rmpp_refuse(stop, mad->data);
	vendor_send(transfers->vendor, &mad->remote, stop, sizeof(stop), 0);
}

/* Handles the first packet of a request. False: there is no room for it. */
static bool receive_begin(struct transfers *transfers, struct vendor_mad *mad)
{
	struct admission *admission = atomic_load(&transfers->vendor->admissions[mad->data[1]]);
	struct transfer *transfer;

	if (!has_room(transfers, mad->remote.lid)) {
		refuse(transfers, mad);
		return false;
	}
	if (admission && !admission_enter(admission, mad))
		return false;
	transfer = g_new0(struct transfer, 1);
	transfer->key = key_of(mad->remote.lid, mad->data, false);
	transfer->transfers = transfers;
	transfer->remote = mad->remote;
	transfer->place = g_steal_pointer(&mad->admission);
	pthread_mutex_lock(&transfers->lock);
	g_hash_table_insert(transfers->table, &transfer->key, transfer);
	count_receiving(transfers, transfer->key.lid, 1);
	pthread_mutex_unlock(&transfers->lock);
	return true;
}

/* True: mad was taken over. */
static bool take(struct transfers *transfers, struct vendor_mad *mad)
{
	switch (mad->data[RMPP_AT_TYPE]) {
	case IBA_RMPP_ACK:
		return offer(transfers, mad, true);
	case IBA_RMPP_STOP:
	case IBA_RMPP_ABORT: /* may be meant for either end */
		return offer(transfers, mad, true) || offer(transfers, mad, false);
	case IBA_RMPP_DATA:
		return offer(transfers, mad, false) ||
		       (receive_begin(transfers, mad) && offer(transfers, mad, false));
	default:
		return false;
	}
}

/* Whether a client repeats a request whose answer is in progress. */
static bool is_repeat(struct transfers *transfers, const struct vendor_mad *mad)
{
	const struct transfer_key key = key_of(mad->remote.lid, mad->data, true);
	bool found;

	pthread_mutex_lock(&transfers->lock);
	found = g_hash_table_contains(transfers->table, &key);
	pthread_mutex_unlock(&transfers->lock);
	return found;
}

static void drop(struct transfers *transfers, struct vendor_mad *mad, enum vendor_dropped what)
{
	struct admission *admission = atomic_load(&transfers->vendor->admissions[mad->data[1]]);

	if (admission)
		admission_dropped(admission, what);
	vendor_mad_free(mad);
}

bool transfers_take(struct transfers *transfers, struct vendor_mad *mad)
{
	if (transfers->vendor->rmpp != VENDOR_RMPP_OWN || mad->status != VENDOR_RECEIVED ||
	    mad->length != IBA_MAD_BYTES || mad->data[1] != IBA_CLASS_SUBN_ADM)
		return false;
	if (rmpp_is_active(mad->data)) {
		/* Packets of a server's transfers never have the R bit (IBA 13.6.2.2). */
		if (is_response(mad) || !take(transfers, mad))
			drop(transfers, mad, VENDOR_DROPPED_STRAY);
		return true;
	}
	if (is_response(mad) || !is_repeat(transfers, mad))
		return false;
	drop(transfers, mad, VENDOR_DROPPED_REPEAT);
	return true;
}

/* ---- life ---- */

struct transfers *transfers_new(struct vendor *vendor, const struct vendor_client *client)
{
	struct transfers *transfers = g_new0(struct transfers, 1);

	transfers->vendor = vendor;
	transfers->client = *client;
	transfers->actor = client->segments ? client->segments : client->actor;
	timer_init(&transfers->timer, transfers->actor, timer_fired);
	transfers->pump.run = pump_run;
	transfers->pump.drop = pump_drop;
	pthread_mutex_init(&transfers->lock, NULL);
	bucket_init(&transfers->stops, STOPS_PER_SECOND, STOPS_BURST);
	transfers->table = g_hash_table_new(key_hash, key_equal);
	transfers->sources = g_hash_table_new(NULL, NULL);
	transfers->users = 1;
	return transfers;
}

static void close_transfer(struct transfer *transfer)
{
	struct vendor_message *message = transfer->message;

	transfer_end(transfer);
	if (message)
		message_end(message, VENDOR_DROPPED);
}

void transfers_close(struct transfers *transfers)
{
	g_autoptr(GList) all = NULL;

	if (!transfers)
		return;
	pthread_mutex_lock(&transfers->lock);
	transfers->closed = true;
	all = g_hash_table_get_values(transfers->table);
	pthread_mutex_unlock(&transfers->lock);
	for (const GList *item = all; item; item = item->next)
		close_transfer(item->data);
	while (transfers->kept.length)
		kept_end(transfers, VENDOR_DROPPED);
	timer_stop(&transfers->timer);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The master's end. For each other SM it keeps how much that SM has; one piece at a time is in
 * flight to it, so that pieces cannot overtake each other and no SM is flooded.
 *
 *	        no answer, not followed: again later
 *	       +--------+
 *	       v        |        everything             changes since then, or a heartbeat
 *	    HELLO ------+---> UPDATE ... UPDATE ---> IN STEP ---> UPDATE ... ---+
 *	       ^                 |                      ^-----------------------+
 *	       +-----------------+ no answer, "send all"
 *
 * What a standby changed while it was master too is fetched between HELLO and UPDATE. A standby
 * that had everything and is MASTER by now deposes this SM.
 *
 * Changes made during a transfer are sent with the next one, with their state at that time: however
 * much changes, a standby is sent no more than the table has.
 *
 * A standby that has everything is sent this SM's settings, and sends its own (AGREE, accord.c),
 * between transfers, which have priority.
 *
 * Waits are answered when all standbys in step have what was put before them, or after a time
 * without those that do not have it; these are then behind until their transfer has finished.
 */
#include <string.h>

#include "ha/ha_private.h"

#define HELLO_TIMEOUT_MS 100
#define HELLO_RETRIES 1
#define UPDATE_TIMEOUT_MS 10 /* a second try still fits into REPLICATOR_PATIENCE_NS */
#define UPDATE_RETRIES 3
#define AGAIN_FIRST_NS (100 * NS_PER_MS)
#define AGAIN_MAX_NS (16 * NS_PER_S)
#define AGAIN_VERSION_NS (60 * NS_PER_S)
#define AGAIN_SOON_NS (2 * NS_PER_S) /* at most, if it has the key but is not a standby yet */
#define PEERS_MAX 256 /* one costs little before it has proved that it has the key */

struct peer {
	struct timer timer; /* first: the next HELLO, or heartbeat */
	struct leader *leader;
	struct replicator_peer who;
	enum replication_state state;
	uint64_t asked; /* number of the request in flight; 0: none */
	bool greeted;	/* nonce is valid */
	uint64_t nonce;
	bool whole;	      /* it must be sent everything */
	bool beat;	      /* a heartbeat is due */
	GHashTable *dirty;    /* keys changed since the last transfer began */
	GByteArray *stream;   /* of the transfer; NULL: none */
	struct frame frame;   /* of the piece in flight */
	size_t sent;	      /* octets sent, with that piece */
	uint64_t serial;      /* up to which it has everything */
	bool was_in_step; /* since this SM is MASTER: serial is valid */
	bool had_all;	 /* when this SM was cut off */
	uint64_t met_ns; /* when it was last asked because of its HELLO; 0: never */
	uint64_t held_serial; /* of the text that it held as master and that is newer */
	GString *held;	      /* the part fetched so far; NULL: none */
	unsigned int failures;
	uint8_t minor;	 /* of its version */
	uint64_t states; /* the digest of its settings, as it last sent it; 0: none */
	bool may_agree;	 /* once per heartbeat, to limit the load */
	struct {
		char *mine; /* statement sent to it; NULL: none now */
		size_t length;
		GString *theirs;
		uint64_t transfer;
		uint32_t piece;
		bool all_theirs;	       /* all of theirs has arrived */
		uint64_t digest, their_digest; /* at the start of the exchange */
	} agree;
	uint64_t agreed, they_agreed; /* the digests last compared; 0: none */
	struct accord accord;
};

struct leader {
	struct replicator *replicator;
	uint64_t epoch, serial, transfers, requests;
	struct replica *table;
	GPtrArray *peers; /* struct peer */
	GQueue waits;	  /* struct replicator_wait, by serial */
	struct timer patience;
	uint64_t deposed_by; /* an SM that was in step is master now; 0: none */
	bool ended;
	bool full;	  /* the table had no room: it is incomplete */
	uint64_t fetched; /* serial of the last fetched text */
};

struct request {
	struct mad_ask ask; /* first */
	struct leader *leader;
	uint64_t number;
};

static void pump(struct peer *peer);

/* ---- waits ---- */

static void run_wait_done(struct message *message)
{
	struct replicator_wait *wait = (struct replicator_wait *)message;

	wait->done(wait, wait->kept);
}

static void end_wait(struct replicator_wait *wait, bool kept)
{
	wait->kept = kept;
	wait->message.run = run_wait_done;
	actor_post(wait->owner, &wait->message);
}

/* Of peers that this SM replicates to, or did, the one that lacks most. */
static uint64_t lag_of(const struct leader *leader)
{
	uint64_t most = 0;

	for (guint i = 0; i < leader->peers->len; i++) {
		const struct peer *peer = leader->peers->pdata[i];

		if (peer->greeted || peer->was_in_step)
			most = MAX(most,
				   leader->serial - (peer->was_in_step ? peer->serial : 0));
	}
	return most;
}

static void count_lag(const struct leader *leader)
{
	counter_set(&leader->replicator->context->counters, replication_lag_updates,
		    lag_of(leader));
}

/* The serial up to which all peers in step have everything. */
static uint64_t serial_of_all(const struct leader *leader)
{
	uint64_t serial = leader->serial;

	for (guint i = 0; i < leader->peers->len; i++) {
		const struct peer *peer = leader->peers->pdata[i];

		if (peer->state == REPLICATION_IN_STEP)
			serial = MIN(serial, peer->serial);
	}
	return serial;
}

static bool is_deposed(const struct leader *leader)
{
	return leader->deposed_by || leader->ended;
}

static void end_waits(struct leader *leader)
{
	uint64_t serial = serial_of_all(leader);
	struct replicator_wait *wait;

	while ((wait = g_queue_peek_head(&leader->waits)) &&
	       (is_deposed(leader) || wait->serial <= serial))
		end_wait(g_queue_pop_head(&leader->waits), !is_deposed(leader));
	timer_stop(&leader->patience);
	if (wait)
		timer_start(&leader->patience,
			    wait->deadline_ns -
				    MIN(wait->deadline_ns, actor_now(leader->replicator->actor)));
}

void leader_wait(struct leader *leader, struct replicator_wait *wait)
{
	wait->serial = leader->serial;
	wait->deadline_ns = actor_now(leader->replicator->actor) + REPLICATOR_PATIENCE_NS;
	g_queue_push_tail(&leader->waits, wait);
	end_waits(leader);
}

/* ---- state of a peer ---- */

static void set_state(struct peer *peer, enum replication_state state)
{
	struct replicator *r = peer->leader->replicator;
	bool loud = state == REPLICATION_OTHER_VERSION || state == REPLICATION_TOO_LARGE;

	if (peer->state == state)
		return;
	if (loud || state == REPLICATION_IN_STEP || peer->state == REPLICATION_IN_STEP)
		log_at(r->log, loud ? LOG_ERROR : LOG_INFO,
		       "replication: SM 0x%016" G_GINT64_MODIFIER "x %s%s", peer->who.guid,
		       replication_state_text(state),
		       state == REPLICATION_OTHER_VERSION
			       ? " (this one: " G_STRINGIFY(FRAME_MAJOR) ")"
			       : "");
	peer->state = state;
	ha_tell_status(r);
}

static void on_patience(struct timer *timer)
{
	struct leader *leader = container_of(timer, struct leader, patience);
	const struct replicator_wait *wait = g_queue_peek_head(&leader->waits);

	for (guint i = 0; wait && i < leader->peers->len; i++) {
		struct peer *peer = leader->peers->pdata[i];

		if (peer->state == REPLICATION_IN_STEP && peer->serial < wait->serial) {
			counter_inc(&leader->replicator->context->counters, replication_late);
			set_state(peer, REPLICATION_BEHIND);
		}
	}
	end_waits(leader);
}

static void drop_held(struct peer *peer)
{
	if (peer->held)
		g_string_free(peer->held, TRUE);
	peer->held = NULL;
}

static void drop_agree(struct peer *peer)
{
	if (peer->agree.theirs)
		g_string_free(peer->agree.theirs, TRUE);
	g_free(peer->agree.mine);
	memset(&peer->agree, 0, sizeof(peer->agree));
}

/* Starts again with HELLO, later. */
static void fail(struct peer *peer, enum replication_state state)
{
	uint64_t delay = AGAIN_FIRST_NS << MIN(peer->failures, 10u);

	delay = MIN(delay, state == REPLICATION_NOT_STANDBY ? AGAIN_SOON_NS : AGAIN_MAX_NS);
	if (state == REPLICATION_OTHER_VERSION)
		delay = AGAIN_VERSION_NS;
	peer->failures++;
	peer->greeted = false;
	peer->whole = true;
	g_clear_pointer(&peer->stream, g_byte_array_unref);
	drop_held(peer);
	drop_agree(peer);
	peer->agreed = peer->they_agreed = 0;
	if (state != REPLICATION_BEHIND)
		accord_set(&peer->accord, AGREEMENT_UNKNOWN);
	g_hash_table_remove_all(peer->dirty);
	set_state(peer, state);
	timer_start(&peer->timer, delay);
	end_waits(peer->leader);
}

/* ---- requests ---- */

static struct peer *find(const struct leader *leader, uint64_t guid)
{
	for (guint i = 0; i < leader->peers->len; i++) {
		struct peer *peer = leader->peers->pdata[i];

		if (peer->who.guid == guid)
			return peer;
	}
	return NULL;
}

static struct peer *peer_of(const struct request *request)
{
	for (guint i = 0; i < request->leader->peers->len; i++) {
		struct peer *peer = request->leader->peers->pdata[i];

		if (peer->asked == request->number)
			return peer;
	}
	return NULL;
}

/* It has everything that clients were told. */
static bool has_all(const struct peer *peer)
{
	return peer->state == REPLICATION_IN_STEP ||
	       (peer->was_in_step && peer->serial == peer->leader->serial);
}

/* The peer is MASTER: if it has everything this SM has, it has more by now. */
static void depose(const struct peer *peer)
{
	struct leader *leader = peer->leader;
	struct replicator *r = leader->replicator;

	if (leader->deposed_by || !has_all(peer))
		return;
	log_info(r->log,
		 "replication: SM 0x%016" G_GINT64_MODIFIER "x, which had everything, is MASTER "
		 "now",
		 peer->who.guid);
	leader->deposed_by = peer->who.guid;
	ha_tell_status(r);
	event_emit(&r->context->bus, EVENT_SWEEP_WANTED, SWEEP_LIGHT);
}

static void greeted(struct peer *peer, const struct frame *answer)
{
	if (answer->status == FRAME_IS_MASTER)
		depose(peer);
	if (answer->status == FRAME_NOT_FOLLOWED || answer->status == FRAME_IS_MASTER) {
		fail(peer, REPLICATION_NOT_STANDBY);
		return;
	}
	peer->greeted = true;
	peer->nonce = answer->nonce;
	peer->whole = true;
	peer->held_serial = answer->from;
	if (answer->from > MAX(peer->leader->replicator->held_serial, peer->leader->fetched))
		peer->held = g_string_new(NULL);
	set_state(peer, REPLICATION_BEHIND);
}

/* The owner of the text checks it and reports errors. */
static void fetched(struct peer *peer, const struct frame *answer)
{
	struct replicator *r = peer->leader->replicator;

	if (answer->status != FRAME_OK || answer->piece != peer->frame.piece ||
	    peer->held->len + answer->length > ha_octets_max(r)) {
		log_error(r->log,
			  "replication: the changes that SM 0x%016" G_GINT64_MODIFIER
			  "x made as MASTER could not be fetched",
			  peer->who.guid);
		drop_held(peer);
		return;
	}
	g_string_append_len(peer->held, (const char *)answer->content, answer->length);
	if (!(answer->flags & FRAME_LAST))
		return;
	if (peer->held_serial > peer->leader->fetched) {
		slot_publish(&r->context->later_partitions,
			     g_bytes_new(peer->held->str, peer->held->len));
		event_emit(&r->context->bus, EVENT_PARTITIONS_FETCHED, peer->who.guid);
		peer->leader->fetched = peer->held_serial;
	}
	drop_held(peer);
}

static void transferred(struct peer *peer)
{
	g_clear_pointer(&peer->stream, g_byte_array_unref);
	peer->serial = peer->frame.to;
	peer->was_in_step = true;
	peer->failures = 0;
	peer->may_agree = true;
	set_state(peer, REPLICATION_IN_STEP);
	count_lag(peer->leader);
	if (!peer->minor && peer->accord.is.state != AGREEMENT_OLD) {
		accord_set(&peer->accord, AGREEMENT_OLD);
		ha_tell_status(peer->leader->replicator);
	}
	timer_start(&peer->timer, HA_BEAT_NS);
	end_waits(peer->leader);
}

static void updated(struct peer *peer, const struct frame *answer)
{
	switch (answer->status) {
	case FRAME_OK:
		if (peer->frame.flags & FRAME_LAST)
			transferred(peer);
		break;
	case FRAME_IS_MASTER:
		depose(peer);
		fail(peer, REPLICATION_NOT_STANDBY);
		break;
	case FRAME_NOT_FOLLOWED:
		fail(peer, REPLICATION_NOT_STANDBY);
		break;
	case FRAME_TOO_LARGE:
		fail(peer, REPLICATION_TOO_LARGE);
		break;
	default:
		fail(peer, REPLICATION_BEHIND);
	}
}

static void end_agree(struct peer *peer, bool understood)
{
	struct replicator *r = peer->leader->replicator;

	peer->agreed = peer->agree.digest;
	peer->they_agreed = peer->agree.their_digest;
	accord_compare(&peer->accord, r, peer->who.guid, peer->agree.theirs->str,
		       understood ? peer->agree.theirs->len : 0);
	drop_agree(peer);
}

static void agreed(struct peer *peer, const struct frame *answer)
{
	GString *theirs = peer->agree.theirs;

	if (answer->status == FRAME_TOO_LARGE) {
		end_agree(peer, false);
	} else if (answer->status != FRAME_OK) {
		updated(peer, answer);
	} else if (answer->transfer != peer->agree.transfer || answer->piece != peer->agree.piece) {
		fail(peer, REPLICATION_SILENT);
	} else {
		if (!peer->agree.all_theirs)
			g_string_append_len(theirs, (const char *)answer->content, answer->length);
		peer->agree.all_theirs |= (answer->flags & FRAME_LAST) != 0;
		peer->agree.piece++;
		if (peer->agree.piece > AGREEMENT_MAX / FRAME_CONTENT)
			end_agree(peer, false);
		else if (peer->agree.all_theirs && peer->frame.flags & FRAME_LAST)
			end_agree(peer, true);
	}
	if (peer->greeted && !timer_running(&peer->timer))
		timer_start(&peer->timer, HA_BEAT_NS);
}

static void on_frame(struct peer *peer, const struct frame *answer)
{
	if (peer->frame.op == FRAME_HELLO || peer->frame.op == FRAME_UPDATE) {
		peer->minor = answer->minor;
		peer->states = accord_get_digest(answer);
	}
	if (answer->op != FRAME_ANSWER || answer->sender != peer->who.guid ||
	    answer->epoch != peer->leader->epoch)
		fail(peer, REPLICATION_SILENT);
	else if (peer->frame.op == FRAME_HELLO)
		greeted(peer, answer);
	else if (peer->frame.op == FRAME_FETCH)
		fetched(peer, answer);
	else if (peer->frame.op == FRAME_AGREE)
		agreed(peer, answer);
	else
		updated(peer, answer);
}

static void on_answer(struct mad_ask *ask)
{
	struct request *request = (struct request *)ask;
	struct peer *peer = peer_of(request);
	enum frame_verdict verdict = FRAME_FOREIGN;
	struct frame answer;

	if (peer && ask->result == MAD_OK)
		verdict = frame_decode(&answer, peer->leader->replicator->key, ask->data,
				       MIN(ask->length, sizeof(ask->data)));
	g_free(request);
	if (!peer)
		return;
	peer->asked = 0;
	if (verdict == FRAME_GOOD)
		on_frame(peer, &answer);
	else
		fail(peer,
		     verdict == FRAME_STRANGE ? REPLICATION_OTHER_VERSION : REPLICATION_SILENT);
	pump(peer);
}

/* Sends peer->frame. */
static void ask(struct peer *peer)
{
	struct leader *leader = peer->leader;
	struct replicator *r = leader->replicator;
	struct options *options = slot_take(&r->context->options);
	struct request *request = g_new0(struct request, 1);
	bool hello = peer->frame.op == FRAME_HELLO;

	request->leader = leader;
	request->number = peer->asked = ++leader->requests;
	request->ask = (struct mad_ask){
		.to = {.lid = peer->who.lid,
		       .sl = options->sm_sl,
		       .qpn = IBA_QP1,
		       .qkey = IBA_QP1_Q_KEY},
		.mgmt_class = VENDOR_REPLICATION_CLASS,
		.class_version = 1,
		.method = IBA_METHOD_SET,
		.attribute = VENDOR_REPLICATION_ATTRIBUTE,
		.retries = hello ? HELLO_RETRIES : UPDATE_RETRIES,
		.timeout_ms = hello ? HELLO_TIMEOUT_MS : UPDATE_TIMEOUT_MS,
		.owner = r->actor,
		.done = on_answer,
	};
	options_unref(options);
	frame_encode(&peer->frame, r->key, request->ask.data);
	mad_ask(r->mad, &request->ask);
}

static void hello(struct peer *peer)
{
	peer->frame = ha_frame(peer->leader->replicator, FRAME_HELLO);
	peer->frame.epoch = peer->leader->epoch;
	peer->frame.to = peer->leader->serial;
	ask(peer);
}

/* ---- transfers ---- */

static void begin_transfer(struct peer *peer)
{
	struct leader *leader = peer->leader;

	peer->frame = ha_frame(leader->replicator, FRAME_UPDATE);
	peer->frame.epoch = leader->epoch;
	peer->frame.nonce = peer->nonce;
	peer->frame.transfer = ++leader->transfers;
	peer->frame.from = peer->serial;
	peer->frame.to = leader->serial;
	peer->frame.flags = peer->whole ? FRAME_WHOLE : 0;
	peer->frame.piece = UINT32_MAX; /* before the first */
	peer->stream = peer->whole ? replica_write_all(leader->table)
				   : replica_write(leader->table, peer->dirty);
	peer->frame.total = peer->stream->len;
	peer->sent = 0;
	peer->whole = peer->beat = false;
	g_hash_table_remove_all(peer->dirty);
	counter_inc(&leader->replicator->context->counters, replication_updates);
}

static void send_piece(struct peer *peer)
{
	size_t left = peer->stream->len - peer->sent;

	peer->frame.piece++;
	peer->frame.length = (uint16_t)MIN(left, FRAME_CONTENT);
	memcpy(peer->frame.content, peer->stream->data + peer->sent, peer->frame.length);
	peer->sent += peer->frame.length;
	if (peer->sent == peer->stream->len)
		peer->frame.flags |= FRAME_LAST;
	ask(peer);
}

static void fetch(struct peer *peer)
{
	peer->frame = ha_frame(peer->leader->replicator, FRAME_FETCH);
	peer->frame.epoch = peer->leader->epoch;
	peer->frame.from = peer->held_serial;
	peer->frame.piece = (uint32_t)(peer->held->len / FRAME_CONTENT);
	ask(peer);
}

/* Whether one of the two has settings other than those compared. */
static bool is_agreement_old(const struct peer *peer)
{
	uint64_t digest = ha_statement(peer->leader->replicator)->digest;

	return digest && peer->states &&
	       (peer->agreed != digest || peer->they_agreed != peer->states);
}

static void begin_agree(struct peer *peer)
{
	const struct statement *own = ha_statement(peer->leader->replicator);

	peer->agree.mine = g_strdup(own->text);
	peer->agree.length = own->length;
	peer->agree.digest = own->digest;
	peer->agree.their_digest = peer->states;
	peer->agree.theirs = g_string_new(NULL);
	peer->agree.transfer = ++peer->leader->transfers;
}

/* Sends the next piece, which may be empty but brings a piece of the peer's in return. */
static void send_agree(struct peer *peer)
{
	size_t at = MIN((size_t)peer->agree.piece * FRAME_CONTENT, peer->agree.length);

	peer->frame = ha_frame(peer->leader->replicator, FRAME_AGREE);
	peer->frame.epoch = peer->leader->epoch;
	peer->frame.nonce = peer->nonce;
	peer->frame.transfer = peer->agree.transfer;
	peer->frame.piece = peer->agree.piece;
	peer->frame.total = (uint32_t)peer->agree.length;
	peer->frame.length = (uint16_t)MIN(peer->agree.length - at, FRAME_CONTENT);
	memcpy(peer->frame.content, peer->agree.mine + at, peer->frame.length);
	if (at + peer->frame.length == peer->agree.length)
		peer->frame.flags = FRAME_LAST;
	ask(peer);
}

/* Compares settings while there is nothing to replicate. */
static void agree(struct peer *peer)
{
	if (!peer->agree.mine && peer->may_agree && is_agreement_old(peer))
		begin_agree(peer);
	peer->may_agree = false;
	if (peer->agree.mine)
		send_agree(peer);
}

static void pump(struct peer *peer)
{
	if (peer->asked || !peer->greeted || peer->leader->full)
		return;
	if (peer->held) {
		fetch(peer);
		return;
	}
	if (!peer->stream) {
		if (!peer->whole && !peer->beat && !g_hash_table_size(peer->dirty)) {
			agree(peer);
			return;
		}
		begin_transfer(peer);
	}
	send_piece(peer);
}

static void on_timer(struct timer *timer)
{
	struct peer *peer = (struct peer *)timer;

	if (peer->asked)
		return; /* its result starts the timer again */
	if (!peer->greeted) {
		hello(peer);
		return;
	}
	peer->beat = true;
	pump(peer);
}

void leader_met_master(struct leader *leader, uint64_t guid)
{
	struct peer *peer = find(leader, guid);
	uint64_t now = actor_now(leader->replicator->actor);

	if (!peer || peer->asked || leader->deposed_by || !has_all(peer) ||
	    (peer->met_ns && now - peer->met_ns < AGAIN_SOON_NS))
		return;
	peer->met_ns = now; /* its HELLO may itself be such a question */
	leader_ask_again(leader, guid);
	peer->beat = peer->greeted;
	pump(peer);
}

void leader_stays(struct leader *leader)
{
	leader->deposed_by = 0;
	ha_tell_status(leader->replicator);
}

void leader_cut_off(struct leader *leader)
{
	for (guint i = 0; i < leader->peers->len; i++) {
		struct peer *peer = leader->peers->pdata[i];

		peer->had_all = has_all(peer);
	}
	ha_tell_status(leader->replicator);
}

void leader_ask_again(struct leader *leader, uint64_t guid)
{
	struct peer *peer = find(leader, guid);

	if (!peer || peer->greeted || peer->state == REPLICATION_NO_KEY)
		return;
	peer->failures = 0;
	timer_start(&peer->timer, 0);
}

/* ---- peers ---- */

static struct peer *peer_new(struct leader *leader, const struct replicator_peer *who)
{
	struct peer *peer = g_new0(struct peer, 1);

	timer_init(&peer->timer, leader->replicator->actor, on_timer);
	peer->leader = leader;
	peer->who = *who;
	peer->dirty = replica_keys_new();
	peer->state = leader->replicator->key ? REPLICATION_ASKED : REPLICATION_NO_KEY;
	if (leader->replicator->key)
		timer_start(&peer->timer, 0);
	return peer;
}

static void peer_free(gpointer data)
{
	struct peer *peer = data;

	timer_stop(&peer->timer);
	g_hash_table_unref(peer->dirty);
	g_clear_pointer(&peer->stream, g_byte_array_unref);
	drop_held(peer);
	drop_agree(peer);
	accord_clear(&peer->accord);
	g_free(peer);
}

static bool is_listed(const GArray *peers, uint64_t guid)
{
	for (guint i = 0; i < peers->len; i++)
		if (g_array_index(peers, struct replicator_peer, i).guid == guid)
			return true;
	return false;
}

void leader_set_peers(struct leader *leader, const GArray *peers)
{
	guint before = leader->peers->len, gone = 0, added = 0;

	for (guint i = leader->peers->len; i-- > 0;)
		if (!is_listed(peers, ((struct peer *)leader->peers->pdata[i])->who.guid)) {
			g_ptr_array_remove_index(leader->peers, i);
			gone++;
		}
	for (guint i = 0; i < peers->len; i++) {
		const struct replicator_peer *who =
			&g_array_index(peers, struct replicator_peer, i);
		struct peer *known = find(leader, who->guid);

		if (known) {
			known->who.lid = who->lid;
		} else if (who->lid && leader->peers->len < PEERS_MAX) {
			g_ptr_array_add(leader->peers, peer_new(leader, who));
			added++;
		}
	}
	if (gone || added || before != leader->peers->len)
		ha_tell_status(leader->replicator);
	end_waits(leader);
}

unsigned int leader_peers(const struct leader *leader)
{
	return leader->peers->len;
}

void leader_tell(const struct leader *leader, struct replication_status *status)
{
	count_lag(leader);
	status->n = leader->peers->len;
	status->deposed_by = leader->deposed_by;
	for (guint i = 0; i < leader->peers->len; i++) {
		const struct peer *peer = leader->peers->pdata[i];

		status->peers[i].guid = peer->who.guid;
		status->peers[i].had_all = peer->had_all;
		status->peers[i].state = leader->full ? REPLICATION_TOO_LARGE : peer->state;
		status->peers[i].agreement = accord_tell(&peer->accord);
	}
}

/* ---- the table ---- */

/* The limit is reached: an incomplete table is useless. */
static void overflow(struct leader *leader)
{
	if (leader->full)
		return;
	leader->full = true;
	log_error(leader->replicator->log,
		  "replication: nothing is replicated, as it would take more memory than "
		  "replication_max_memory");
	for (guint i = 0; i < leader->peers->len; i++)
		fail(leader->peers->pdata[i], REPLICATION_TOO_LARGE);
}

void leader_put(struct leader *leader, struct replica_entry *entry)
{
	struct replica_entry *key =
		replica_entry_new(entry->section, entry->octets, entry->key_length, NULL, 0);
	enum replica_put put = replica_put(leader->table, entry);

	if (put == REPLICA_NO_ROOM)
		overflow(leader);
	if (put == REPLICA_CHANGED)
		leader->serial++;
	ha_count(leader->replicator, leader->table);
	for (guint i = 0; put == REPLICA_CHANGED && i < leader->peers->len; i++) {
		struct peer *peer = leader->peers->pdata[i];

		if (!peer->greeted || peer->whole)
			continue;
		g_hash_table_add(peer->dirty, replica_entry_new(key->section, key->octets,
								key->key_length, NULL, 0));
		pump(peer);
	}
	count_lag(leader);
	g_free(key);
}

struct replacing {
	GHashTable *new; /* struct replica_entry, of the section */
	GPtrArray *gone; /* removals */
};

static void note_if_gone(void *arg, const struct replica_entry *entry)
{
	struct replacing *replacing = arg;

	if (!g_hash_table_contains(replacing->new, entry))
		g_ptr_array_add(replacing->gone, replica_entry_new(entry->section, entry->octets,
								   entry->key_length, NULL, 0));
}

void leader_replace(struct leader *leader, uint8_t section, GPtrArray *entries)
{
	struct replacing replacing = {replica_keys_new(), g_ptr_array_new()};

	for (guint i = 0; i < entries->len; i++) {
		const struct replica_entry *entry = entries->pdata[i];

		g_hash_table_add(replacing.new, replica_entry_new(section, entry->octets,
								  entry->key_length, NULL, 0));
	}
	replica_each(leader->table, section, note_if_gone, &replacing);
	for (guint i = 0; i < replacing.gone->len; i++)
		leader_put(leader, replacing.gone->pdata[i]);
	for (guint i = 0; i < entries->len; i++)
		leader_put(leader, entries->pdata[i]);
	g_hash_table_unref(replacing.new);
	g_ptr_array_unref(replacing.gone);
}

/* ---- life ---- */

void leader_begin(struct leader *leader)
{
	replica_unref(leader->table);
	leader->table = replica_new(ha_octets_max(leader->replicator));
	leader->epoch = ha_random(leader->replicator);
	leader->serial = leader->fetched = 0;
	leader->ended = leader->full = false;
	ha_count(leader->replicator, leader->table);
}

void leader_end(struct leader *leader)
{
	g_ptr_array_set_size(leader->peers, 0);
	leader->ended = true;
	leader->deposed_by = 0;
	end_waits(leader);
	g_clear_pointer(&leader->table, replica_unref);
	ha_count(leader->replicator, NULL);
}

struct leader *leader_new(struct replicator *replicator)
{
	struct leader *leader = g_new0(struct leader, 1);

	leader->replicator = replicator;
	leader->peers = g_ptr_array_new_with_free_func(peer_free);
	g_queue_init(&leader->waits);
	timer_init(&leader->patience, replicator->actor, on_patience);
	return leader;
}

void leader_free(struct leader *leader)
{
	struct replicator_wait *wait;

	while ((wait = g_queue_pop_head(&leader->waits)))
		wait->message.drop(&wait->message);
	timer_stop(&leader->patience);
	g_ptr_array_unref(leader->peers);
	replica_unref(leader->table);
	g_free(leader);
}

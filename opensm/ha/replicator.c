// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replication between SMs.
 *
 * Transport: MADs of a vendor class, GMPs from the master's port to the standbys'. They need no
 * second network and no configured addresses; where they do not get through, the subnet is split
 * and each part has its own master. The master finds standbys by their SMInfo.
 *
 *	sm, sa --- put, replace, wait ---> leader.c: the table, and the state of each standby
 *	                                      |  mad_ask(), a piece (frame.c) at a time
 *	                                      v
 *	                                   follower.c: the last complete replica
 *	sm <---- replicator_lead() ------------+	at the takeover
 *
 * Exact after a crash: a client is answered when the standbys in step have what the answer
 * promises. If they were not in step, clients are asked to register again: sm/.
 *
 * Security: nothing happens without the key that the SMs share (frame.c), and recorded messages are
 * useless later (follower.c). All sizes are bounded by replication_max_memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "complib/random.h"
#include "ha/ha_private.h"

struct call {
	struct message message;
	struct replicator *replicator;
	void (*run)(struct call *call);
	uint64_t number;
	void *object;
};

uint64_t ha_random(struct replicator *r)
{
	uint64_t number = 0;

	if (runtime_mode(r->context->rt) == RUNTIME_VIRTUAL) {
		number = random_below(&r->random, UINT32_MAX);
		return number << 32 | random_below(&r->random, UINT32_MAX);
	}
	while (getrandom(&number, sizeof(number), 0) != sizeof(number))
		if (errno != EINTR)
			g_error("no random numbers: %s", g_strerror(errno));
	return number;
}

struct frame ha_frame(const struct replicator *r, uint8_t op)
{
	return (struct frame){
		.major = FRAME_MAJOR, .minor = FRAME_MINOR, .op = op, .sender = r->port_guid};
}

size_t ha_octets_max(const struct replicator *r)
{
	struct options *options = slot_take(&r->context->options);
	size_t octets = (size_t)options->replication_max_memory << 20;

	options_unref(options);
	return octets;
}

/* ---- status ---- */

void ha_count(struct replicator *r, const struct replica *replica)
{
	atomic_store(&r->context->counters.replication_octets,
		     replica ? replica_octets(replica) : 0);
}

const char *replication_state_text(enum replication_state state)
{
	static const char *const texts[] = {
		[REPLICATION_NO_KEY] = "receives nothing: there is no replication_key_file",
		[REPLICATION_ASKED] = "is asked",
		[REPLICATION_SILENT] = "does not replicate, or has a different key",
		[REPLICATION_NOT_STANDBY] = "is not a standby of this SM",
		[REPLICATION_OTHER_VERSION] = "uses another version of replication",
		[REPLICATION_TOO_LARGE] = "receives nothing: more than replication_max_memory",
		[REPLICATION_BEHIND] = "is behind",
		[REPLICATION_IN_STEP] = "has everything",
	};

	return texts[state];
}

struct replication_status *replication_status_ref(struct replication_status *status)
{
	ref_get(&status->ref);
	return status;
}

void replication_status_unref(struct replication_status *status)
{
	if (!status || !ref_put(&status->ref))
		return;
	g_clear_pointer(&status->with_followed.differences, g_ptr_array_unref);
	for (unsigned int i = 0; i < status->n; i++)
		g_clear_pointer(&status->peers[i].agreement.differences, g_ptr_array_unref);
	g_free(status);
}

void ha_tell_status(struct replicator *r)
{
	struct replication_status *status =
		g_malloc0(sizeof(*status) + leader_peers(r->leader) * sizeof(status->peers[0]));

	ref_init(&status->ref);
	status->has_key = r->key != NULL;
	follower_tell(r->follower, status);
	leader_tell(r->leader, status);
	slot_publish(&r->context->replication, status);
}

/* ---- what arrives ---- */

static void tell_forged(struct replicator *r, const struct vendor_mad *mad)
{
	unsigned int held_back;

	counter_inc(&r->context->counters, replication_refused);
	if (log_limit_pass(&r->forged_log, actor_now(r->actor), 2, 60 * NS_PER_S, &held_back))
		log_error(r->log,
			  "replication: a message from LID 0x%04x was not made with the key of "
			  "this SM's replication_key_file: ignored (%u similar lines suppressed)",
			  mad->remote.lid, held_back);
}

static void reply(struct replicator *r, struct vendor_mad *mad, const struct frame *answer)
{
	uint8_t *wire = g_memdup2(mad->data, IBA_MAD_BYTES);
	struct iba_mad_header header;

	wire_decode(&iba_mad_header_type, wire, &header);
	header.method = IBA_METHOD_GET_RESP;
	wire_encode(&iba_mad_header_type, &header, wire);
	frame_encode(answer, r->key, wire + iba_mad_header_bytes);
	mad_reply(r->mad, mad, wire, IBA_MAD_BYTES, NULL);
}

static void serve(struct replicator *r, struct vendor_mad *mad, const struct frame *frame,
		  enum frame_verdict verdict)
{
	struct frame answer = ha_frame(r, FRAME_ANSWER);

	if (verdict == FRAME_STRANGE) {
		answer.status = FRAME_OTHER_VERSION;
		log_verbose(r->log,
			    "replication: SM 0x%016" G_GINT64_MODIFIER "x uses version %u, this "
			    "SM uses version %u",
			    frame->sender, frame->major, FRAME_MAJOR);
	} else if (r->role == HA_FOLLOWS) {
		follower_receive(r->follower, frame, &answer);
	} else {
		answer.epoch = frame->epoch;
		answer.status = r->role == HA_LEADS ? FRAME_IS_MASTER : FRAME_NOT_FOLLOWED;
		if (r->role == HA_LEADS && frame->op == FRAME_HELLO)
			leader_met_master(r->leader, frame->sender);
	}
	reply(r, mad, &answer);
}

static void receive(void *arg, struct vendor_mad *mad)
{
	struct replicator *r = arg;
	enum frame_verdict verdict = FRAME_FOREIGN;
	struct frame frame;

	if (mad->status == VENDOR_RECEIVED && mad->length == IBA_MAD_BYTES &&
	    mad->data[3] == IBA_METHOD_SET)
		verdict = frame_decode(&frame, r->key, mad->data + iba_mad_header_bytes,
				       IBA_MAD_BYTES - iba_mad_header_bytes);
	if (verdict == FRAME_FORGED)
		tell_forged(r, mad);
	if (verdict == FRAME_GOOD || verdict == FRAME_STRANGE)
		serve(r, mad, &frame, verdict);
	else
		vendor_mad_free(mad);
}

/* ---- calls ---- */

static void run_call(struct message *message)
{
	struct call *call = (struct call *)message;

	call->run(call);
	g_free(call);
}

static void post(struct replicator *r, void (*run)(struct call *call), uint64_t number,
		 void *object, void (*drop)(struct message *message))
{
	struct call *call = g_new0(struct call, 1);

	call->message.run = run_call;
	call->message.drop = drop;
	call->replicator = r;
	call->run = run;
	call->number = number;
	call->object = object;
	actor_post(r->actor, &call->message);
}

static void set_role(struct replicator *r, enum ha_role role)
{
	if (r->role == HA_LEADS && role != HA_LEADS)
		leader_end(r->leader);
	r->deposed = role == HA_FOLLOWS && (r->deposed || r->role == HA_LEADS);
	r->role = role;
}

static void run_follow(struct call *call)
{
	struct replicator *r = call->replicator;

	set_role(r, call->number ? HA_FOLLOWS : HA_RESTS);
	follower_follow(r->follower, call->number);
	ha_tell_status(r);
}

void replicator_follow(struct replicator *r, uint64_t guid)
{
	if (r)
		post(r, run_follow, guid, NULL, NULL);
}

static void run_lead_done(struct message *message)
{
	struct replicator_lead *lead = (struct replicator_lead *)message;

	lead->done(lead);
}

static void run_lead(struct message *message)
{
	struct replicator_lead *lead = (struct replicator_lead *)message;
	struct replicator *r = lead->replicator;

	follower_end(r->follower, lead);
	set_role(r, HA_LEADS);
	leader_begin(r->leader);
	ha_tell_status(r);
	lead->message.run = run_lead_done;
	actor_post(lead->owner, &lead->message);
}

void replicator_lead(struct replicator *r, struct replicator_lead *lead)
{
	lead->replicator = r;
	lead->message.run = run_lead;
	actor_post(r->actor, &lead->message);
}

static void drop_peers(struct message *message)
{
	g_array_unref(((struct call *)message)->object);
	g_free(message);
}

static void run_set_peers(struct call *call)
{
	if (call->replicator->role == HA_LEADS)
		leader_set_peers(call->replicator->leader, call->object);
	g_array_unref(call->object);
}

void replicator_set_peers(struct replicator *r, GArray *peers)
{
	if (r)
		post(r, run_set_peers, 0, peers, drop_peers);
	else
		g_array_unref(peers);
}

static void run_cut_off(struct call *call)
{
	if (call->replicator->role == HA_LEADS)
		leader_cut_off(call->replicator->leader);
}

void replicator_cut_off(struct replicator *r)
{
	if (replicator_is_on(r))
		post(r, run_cut_off, 0, NULL, NULL);
}

static void run_stay(struct call *call)
{
	if (call->replicator->role == HA_LEADS)
		leader_stays(call->replicator->leader);
}

void replicator_stay(struct replicator *r)
{
	if (replicator_is_on(r))
		post(r, run_stay, 0, NULL, NULL);
}

static void run_ask_again(struct call *call)
{
	if (call->replicator->role == HA_LEADS)
		leader_ask_again(call->replicator->leader, call->number);
}

void replicator_ask_again(struct replicator *r, uint64_t guid)
{
	if (replicator_is_on(r))
		post(r, run_ask_again, guid, NULL, NULL);
}

static void drop_octets(struct message *message)
{
	g_free(((struct call *)message)->object);
	g_free(message);
}

static void run_put(struct call *call)
{
	if (call->replicator->role == HA_LEADS)
		leader_put(call->replicator->leader, call->object);
	else
		g_free(call->object);
}

void replicator_put(struct replicator *r, struct replica_entry *entry)
{
	if (replicator_is_on(r))
		post(r, run_put, 0, entry, drop_octets);
	else
		g_free(entry);
}

static void free_entries(GPtrArray *entries)
{
	g_ptr_array_set_free_func(entries, g_free);
	g_ptr_array_unref(entries);
}

static void drop_entries(struct message *message)
{
	free_entries(((struct call *)message)->object);
	g_free(message);
}

static void run_replace(struct call *call)
{
	struct replicator *r = call->replicator;

	if (r->role != HA_LEADS) {
		free_entries(call->object);
		return;
	}
	leader_replace(r->leader, (uint8_t)call->number, call->object);
	g_ptr_array_unref(call->object);
}

void replicator_replace(struct replicator *r, uint8_t section, GPtrArray *entries)
{
	if (replicator_is_on(r))
		post(r, run_replace, section, entries, drop_entries);
	else
		free_entries(entries);
}

static void run_hold(struct call *call)
{
	struct replicator *r = call->replicator;

	g_free(r->held);
	r->held = call->object;
	r->held_serial = call->number;
}

void replicator_hold(struct replicator *r, uint64_t serial, const char *text)
{
	if (replicator_is_on(r))
		post(r, run_hold, serial, g_strdup(text), drop_octets);
}

static void run_wait_refused(struct message *message)
{
	struct replicator_wait *wait = (struct replicator_wait *)message;

	wait->done(wait, false);
}

static void run_wait(struct message *message)
{
	struct replicator_wait *wait = (struct replicator_wait *)message;
	struct replicator *r = wait->replicator;

	if (r->role == HA_LEADS) {
		leader_wait(r->leader, wait);
		return;
	}
	wait->message.run = run_wait_refused;
	actor_post(wait->owner, &wait->message);
}

void replicator_wait(struct replicator *r, struct replicator_wait *wait)
{
	wait->replicator = r;
	wait->message.run = run_wait;
	actor_post(r->actor, &wait->message);
}

/* ---- life ---- */

bool replicator_is_on(const struct replicator *r)
{
	return r && r->key;
}

struct replicator *replicator_new(struct context *context, struct mad *mad, uint64_t port_guid,
				  const char *key)
{
	struct replicator *r = g_new0(struct replicator, 1);
	struct vendor_client client = {.arg = r, .receive = receive};

	r->context = context;
	r->log = context->log;
	r->mad = mad;
	r->port_guid = port_guid;
	r->key = g_strdup(key);
	r->actor = actor_new(context->rt, "ha");
	if (runtime_mode(context->rt) == RUNTIME_VIRTUAL)
		r->random = runtime_seed(context->rt) ^ port_guid;
	r->leader = leader_new(r);
	r->follower = follower_new(r);
	client.actor = r->actor;
	if (key)
		mad_serve(mad, VENDOR_REPLICATION_CLASS, &client);
	ha_tell_status(r);
	return r;
}

void replicator_start(struct replicator *r)
{
	actor_start(r->actor);
}

void replicator_attach(struct replicator *r, GMainContext *loop)
{
	actor_attach(r->actor, loop);
}

void replicator_stop(struct replicator *r)
{
	actor_stop(r->actor);
}

void replicator_free(struct replicator *r)
{
	if (!r)
		return;
	leader_free(r->leader);
	actor_free(r->actor);
	follower_free(r->follower);
	g_free(r->held);
	ha_statement_clear(r);
	if (r->key)
		explicit_bzero(r->key, strlen(r->key));
	g_free(r->key);
	g_free(r);
}

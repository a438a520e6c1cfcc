// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The master's side, with a standby made by hand on a simulated fabric. */
#include <check.h>
#include <string.h>

#include "ha/ha_private.h"
#include "tests/run_suite.h"
#include "tests/unit/sim_net.h"

#define KEY "0123456789abcdef"

static struct net *net;
static struct context context;
static struct vendor *vendor; /* of the master */
static struct mad *mad;
static struct replicator *r;
static GString *text; /* of the log */

/* The standby: its answers, and what it was sent. */
static struct {
	struct vendor *vendor;
	uint64_t guid;
	uint16_t lid;
	bool silent;
	bool is_master; /* itself */
	enum { RIGHT, OTHER_SENDER, OTHER_EPOCH, NO_ANSWER } wrong; /* of answers */
	uint8_t major, status; /* of answers to updates */
	const char *key;
	const char *text; /* that it had as master, of serial 2 */
	enum { COMPLETE, OTHER_PIECE, WITHOUT_END } telling; /* its answer to the fetch */
	bool is_old;					     /* of a version without AGREE */
	uint64_t states; /* digest of its values in effect; 0: it reports none */
	bool restless;	 /* which differs each time */
	const char *has; /* the text of these values */
	enum { ORDERLY, OTHER_TRANSFER, OTHER_AGREE_PIECE, ENDLESS, REFUSING } agreeing;
	GString *heard; /* the master's values, as last received */
	unsigned int hellos, updates, wholes, fetches, agrees;
	uint64_t epoch, to;
	unsigned int said, answers; /* to its messages */
	struct frame last_answer;
} standby;

static unsigned int kept, not_kept, sweeps_wanted;
static unsigned int too_early; /* of those kept: the standby did not have it yet */
static uint64_t kept_ns;

static void get_options(void *object)
{
	options_ref(object);
}

static void put_options(void *object)
{
	options_unref(object);
}

static void get_status(void *object)
{
	replication_status_ref(object);
}

static void put_status(void *object)
{
	replication_status_unref(object);
}

static void count(const struct frame *frame)
{
	/* One piece at a time: none is sent after the last. */
	ck_assert(frame->op != FRAME_UPDATE || !frame->piece || frame->length);
	standby.hellos += frame->op == FRAME_HELLO;
	standby.updates += frame->op == FRAME_UPDATE;
	standby.fetches += frame->op == FRAME_FETCH;
	standby.agrees += frame->op == FRAME_AGREE;
	standby.epoch = frame->epoch;
	standby.wholes += frame->flags & FRAME_WHOLE && frame->flags & FRAME_LAST;
	if (frame->op == FRAME_UPDATE && frame->flags & FRAME_LAST)
		standby.to = frame->to;
}

static void say(const char *key, uint8_t major, uint8_t method)
{
	const struct vendor_address to = {
		.lid = net_lid(sim_find_name(net->sim, "host-5")),
		.qpn = IBA_QP1,
		.qkey = IBA_QP1_Q_KEY,
	};
	const struct frame frame = {
		.major = major, .op = FRAME_HELLO, .sender = standby.guid, .epoch = 815};
	uint8_t wire[IBA_MAD_BYTES] = {IBA_BASE_VERSION, VENDOR_REPLICATION_CLASS, 1, method};

	wire[15] = (uint8_t)++standby.said; /* of the TransactionID */
	frame_encode(&frame, key, wire + iba_mad_header_bytes);
	vendor_send(standby.vendor, &to, wire, sizeof(wire), 100);
}

/* Sent by the standby, or by an attacker who recorded it when that one was master. */
static void say_hello(void)
{
	say(KEY, FRAME_MAJOR, IBA_METHOD_SET);
}

static void take_answer(struct vendor_mad *answer)
{
	standby.answers++;
	frame_decode(&standby.last_answer, KEY, answer->data + iba_mad_header_bytes, MAD_ASK_DATA);
	vendor_mad_free(answer);
}

static uint8_t status_of(const struct frame *frame)
{
	if (standby.is_master)
		return FRAME_IS_MASTER;
	return frame->op == FRAME_UPDATE ? standby.status : FRAME_OK;
}

static void tell_text(const struct frame *frame, struct frame *answer)
{
	size_t length = strlen(standby.text), at = frame->piece * FRAME_CONTENT % length;

	answer->piece += standby.telling == OTHER_PIECE;
	answer->length = (uint16_t)MIN(length - at, FRAME_CONTENT);
	memcpy(answer->content, standby.text + at, answer->length);
	if (at + answer->length == length && standby.telling != WITHOUT_END)
		answer->flags = FRAME_LAST;
}

static void tell_agree(const struct frame *frame, struct frame *answer)
{
	size_t length = strlen(standby.has), at = MIN(frame->piece * FRAME_CONTENT, length);

	if (!frame->piece)
		g_string_truncate(standby.heard, 0);
	g_string_append_len(standby.heard, (const char *)frame->content, frame->length);
	answer->transfer += standby.agreeing == OTHER_TRANSFER;
	answer->piece += standby.agreeing == OTHER_AGREE_PIECE;
	answer->length = (uint16_t)MIN(length - at, FRAME_CONTENT);
	memcpy(answer->content, standby.has + at, answer->length);
	answer->flags =
		standby.agreeing != ENDLESS && at + answer->length == length ? FRAME_LAST : 0;
	if (standby.agreeing == REFUSING)
		answer->status = FRAME_TOO_LARGE;
}

static void tell_states(struct frame *answer)
{
	uint64_t states = GUINT64_TO_BE(standby.states);

	standby.states += standby.restless;
	memcpy(answer->content, &states, sizeof(states));
	answer->length = standby.states ? sizeof(states) : 0;
}

static void on_request(void *arg, struct vendor_mad *request)
{
	struct frame frame, answer;

	(void)arg;
	if (request->status != VENDOR_RECEIVED) {
		vendor_mad_free(request);
		return;
	}
	if (request->data[3] != IBA_METHOD_SET) {
		take_answer(request);
		return;
	}
	ck_assert_int_eq(
		frame_decode(&frame, KEY, request->data + iba_mad_header_bytes, MAD_ASK_DATA),
		FRAME_GOOD);
	count(&frame);
	answer = frame;
	answer.op = standby.wrong == NO_ANSWER ? FRAME_UPDATE : FRAME_ANSWER;
	answer.sender = standby.guid + (standby.wrong == OTHER_SENDER);
	answer.epoch += standby.wrong == OTHER_EPOCH;
	answer.major = standby.major;
	answer.status = status_of(&frame);
	answer.nonce = 4711;
	answer.length = 0;
	answer.from = standby.text ? 2 : 0;
	answer.minor = standby.is_old ? 0 : FRAME_MINOR;
	if (frame.op == FRAME_FETCH)
		tell_text(&frame, &answer);
	else if (frame.op == FRAME_AGREE)
		tell_agree(&frame, &answer);
	else if (!standby.is_old)
		tell_states(&answer);
	frame_encode(&answer, standby.key, request->data + iba_mad_header_bytes);
	request->data[3] = IBA_METHOD_GET_RESP;
	if (!standby.silent)
		vendor_send(standby.vendor, &request->remote, request->data, IBA_MAD_BYTES, 0);
	vendor_mad_free(request);
}

static void open_standby(const char *name)
{
	struct vendor_client client = {.actor = net->actor, .receive = on_request};
	unsigned int node = sim_find_name(net->sim, name);

	memset(&standby, 0, sizeof(standby));
	standby.guid = sim_port_guid(net->sim, node, 1);
	standby.lid = net_lid(node);
	standby.major = FRAME_MAJOR;
	standby.key = KEY;
	standby.heard = g_string_new(NULL);
	standby.vendor = sim_open(net->sim, standby.guid, NULL);
	ck_assert(vendor_bind(standby.vendor, VENDOR_REPLICATION_CLASS, true, &client, NULL));
}

static void on_lead(struct replicator_lead *lead)
{
	replica_unref(lead->replica);
}

/* There are n other SMs, the standby is the first. */
static void set_peers(unsigned int n, uint16_t lid)
{
	struct replicator_peer peer = {standby.guid, lid};
	GArray *peers = g_array_new(FALSE, FALSE, sizeof(peer));

	for (unsigned int i = 0; i < n; i++, peer.guid++)
		g_array_append_val(peers, peer);
	replicator_set_peers(r, peers);
}

static void lead(void)
{
	static struct replicator_lead lead;

	lead = (struct replicator_lead){.owner = net->actor, .done = on_lead};
	replicator_lead(r, &lead);
	set_peers(1, standby.lid);
}

static void get_bytes(void *object)
{
	g_bytes_ref(object);
}

static void put_bytes(void *object)
{
	g_bytes_unref(object);
}

static void on_sweep_wanted(void *arg, uint64_t kind)
{
	(void)arg;
	(void)kind;
	sweeps_wanted++;
}

static void setup(void)
{
	unsigned int here;

	net = net_new("fattree:4", NULL);
	net_bring_up(net);
	here = sim_find_name(net->sim, "host-5");
	memset(&context, 0, sizeof(context));
	kept = not_kept = too_early = sweeps_wanted = 0;
	text = g_string_new(NULL);
	context.rt = net->rt;
	context.log = log_new_capture(text);
	slot_init(&context.options, get_options, put_options);
	slot_init(&context.replication, get_status, put_status);
	slot_init(&context.later_partitions, get_bytes, put_bytes);
	agreed_slot_init(&context.agreed);
	event_bus_init(&context.bus);
	event_subscribe(&context.bus, EVENT_SWEEP_WANTED, net->actor, on_sweep_wanted, NULL);
	slot_publish(&context.options, options_new());
	vendor = sim_open(net->sim, sim_port_guid(net->sim, here, 1), NULL);
	mad = mad_new(&context, vendor, NULL);
	r = replicator_new(&context, mad, vendor_port_guid(vendor), KEY);
	mad_start(mad);
	replicator_start(r);
	open_standby("host-9");
	lead();
}

static void teardown(void)
{
	vendor_close(standby.vendor);
	replicator_stop(r);
	vendor_close(vendor);
	mad_stop(mad);
	mad_free(mad);
	replicator_free(r);
	log_free(context.log);
	net_free(net);
	slot_clear(&context.options);
	slot_clear(&context.replication);
	slot_clear(&context.later_partitions);
	slot_clear(&context.agreed);
	g_string_free(standby.heard, TRUE);
	event_bus_clear(&context.bus);
	g_string_free(text, TRUE);
}

static void have_little_memory(void)
{
	struct options *options = options_new();

	options->replication_max_memory = 1;
	slot_publish(&context.options, options);
}

static void put(unsigned int number)
{
	uint8_t key[] = {(uint8_t)(number >> 8), (uint8_t)number};

	replicator_put(r, replica_entry_new(9, key, sizeof(key), "value", 6));
}

static void on_wait(struct replicator_wait *wait, bool ok)
{
	kept += ok;
	too_early += ok && wait->serial > standby.to;
	not_kept += !ok;
	kept_ns = runtime_now(net->rt);
	g_free(wait);
}

static void wait_for_it(void)
{
	struct replicator_wait *wait = g_new0(struct replicator_wait, 1);

	wait->owner = net->actor;
	wait->done = on_wait;
	replicator_wait(r, wait);
}

static enum replication_state state(void)
{
	struct replication_status *status = slot_take(&context.replication);
	enum replication_state state;

	ck_assert_uint_eq(status->n, 1);
	ck_assert_uint_eq(status->peers[0].guid, standby.guid);
	state = status->peers[0].state;
	replication_status_unref(status);
	return state;
}

static unsigned int n_peers(void)
{
	struct replication_status *status = slot_take(&context.replication);
	unsigned int n = status->n;

	replication_status_unref(status);
	return n;
}

static bool is_deposed(void)
{
	struct replication_status *status = slot_take(&context.replication);
	bool deposed = status->deposed_by == standby.guid;

	replication_status_unref(status);
	return deposed;
}

static bool had_all(void)
{
	struct replication_status *status = slot_take(&context.replication);
	bool all = status->n == 1 && status->peers[0].had_all;

	replication_status_unref(status);
	return all;
}

/* Everything once, then changes; a wait ends when they have arrived. Then keep-alives. */
START_TEST(everything_then_changes)
{
	unsigned int updates;

	for (unsigned int i = 0; i < 100; i++)
		put(i);
	net_run_ms(net, 500);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_uint_eq(standby.hellos, 1);
	ck_assert_uint_eq(standby.wholes, 1);
	ck_assert_uint_eq(standby.to, 100);
	updates = standby.updates;
	put(100);
	put(100); /* no change */
	wait_for_it();
	net_run_ms(net, 2);
	ck_assert_uint_eq(kept, 1);
	ck_assert_uint_eq(standby.to, 101);
	ck_assert_uint_eq(standby.updates, updates + 1);
	net_run_ms(net, 10000);
	ck_assert_uint_ge(standby.updates, updates + 10);
	ck_assert_uint_le(standby.updates, updates + 12);
	ck_assert_uint_eq(standby.wholes, 1);
}
END_TEST

/* Changes during a transfer go with the next one, and are waited for that long. */
START_TEST(changes_during_transfers)
{
	net_run_ms(net, 500);
	for (unsigned int i = 0; i < 200; i++) {
		put(i);
		wait_for_it();
	}
	net_run_ms(net, 20);
	ck_assert_uint_eq(kept, 200);
	ck_assert_uint_eq(too_early, 0);
	ck_assert_uint_eq(standby.to, 200);
	ck_assert_uint_eq(standby.wholes, 1);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
}
END_TEST

/* A standby that does not answer is waited for 50 ms, once; and gets everything when it is back. */
START_TEST(patience)
{
	uint64_t start;

	net_run_ms(net, 500);
	standby.silent = true;
	start = runtime_now(net->rt);
	for (unsigned int i = 0; i < 5; i++) {
		put(i);
		wait_for_it();
	}
	net_run_ms(net, 51);
	ck_assert_uint_eq(kept, 5);
	ck_assert_uint_eq(kept_ns - start, REPLICATOR_PATIENCE_NS);
	ck_assert_uint_eq(counter_get(&context.counters, replication_late), 1);
	ck_assert_int_eq(state(), REPLICATION_BEHIND);
	wait_for_it();
	net_run_ms(net, 1);
	ck_assert_uint_eq(kept, 6);
	net_run_ms(net, 3000);
	ck_assert_int_eq(state(), REPLICATION_SILENT);
	ck_assert_uint_eq(counter_get(&context.counters, replication_lag_updates), 5);
	standby.silent = false;
	net_run_ms(net, 17000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_uint_eq(counter_get(&context.counters, replication_lag_updates), 0);
	ck_assert_uint_eq(standby.wholes, 2);
	ck_assert_uint_eq(standby.to, 5);
}
END_TEST

/* Nothing is promised that the present master does not know of. */
START_TEST(it_is_master_itself)
{
	net_run_ms(net, 500);
	standby.status = FRAME_IS_MASTER;
	put(1);
	wait_for_it();
	net_run_ms(net, 2);
	ck_assert_uint_eq(not_kept, 1);
	ck_assert_int_eq(state(), REPLICATION_NOT_STANDBY);
	wait_for_it();
	net_run_ms(net, 2);
	ck_assert_uint_eq(not_kept, 2);
}
END_TEST

/* Whether everything put so far counts as kept. */
static bool is_kept(void)
{
	unsigned int before = kept;

	wait_for_it();
	net_run_ms(net, 2);
	return kept > before;
}

/*
 * The present MASTER deposes this one if it had everything, though it was silent for a while; not
 * if it missed a change, nor if it never had anything. Then this one looks for it at once.
 */
START_TEST(who_deposes)
{
	const bool deposes = _i == 0, was_in_step = _i != 2;

	standby.is_master = !was_in_step;
	net_run_ms(net, 500);
	standby.silent = was_in_step;
	net_run_ms(net, 3000);
	if (_i == 1)
		put(1);
	standby.is_master = true;
	standby.silent = false;
	net_run_ms(net, 17000);
	ck_assert_int_eq(state(), REPLICATION_NOT_STANDBY);
	ck_assert(is_deposed() == deposes);
	ck_assert_uint_eq(sweeps_wanted, deposes);
	ck_assert(is_kept() == !deposes);
	replicator_stay(r);
	net_run_ms(net, 1);
	ck_assert(!is_deposed());
	net_run_ms(net, 3000); /* it is asked again, and is still MASTER */
	ck_assert(is_deposed() == deposes);
}
END_TEST

/* What counts is what a standby had when the port went down, each time that it does. */
START_TEST(had_all_when_cut_off)
{
	net_run_ms(net, 500);
	ck_assert(!had_all());
	replicator_cut_off(r);
	net_run_ms(net, 1);
	ck_assert(had_all());
	standby.silent = true;
	put(1);
	net_run_ms(net, 3000);
	ck_assert(had_all());
	replicator_cut_off(r);
	net_run_ms(net, 1);
	ck_assert(!had_all());
}
END_TEST

/*
 * A standby that was master once sent HELLO then, and an attacker recorded it and sends it again
 * and again: the standby is asked, but seldom, and clients are answered as before.
 */
START_TEST(hello_of_before)
{
	unsigned int updates;

	net_run_ms(net, 500);
	updates = standby.updates;
	for (unsigned int i = 0; i < 100; i++) {
		say_hello();
		net_run_ms(net, 2);
		put(i);
		ck_assert(is_kept());
	}
	ck_assert_uint_eq(standby.to, 100);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_uint_eq(standby.updates, updates + 100 + 1);
	ck_assert_uint_eq(standby.hellos, 1);
}
END_TEST

/*
 * Two masters ignore each other, as with different SM_Keys, though one had everything: this one
 * does not answer each HELLO with one of its own, so that they do not ask each other without end.
 */
START_TEST(two_masters_meet)
{
	net_run_ms(net, 500);
	standby.is_master = true;
	for (unsigned int i = 0; i < 1000; i++) {
		say_hello();
		net_run_ms(net, 10);
		replicator_stay(r); /* as after each sweep that finds no successor */
	}
	ck_assert_uint_ge(standby.hellos, 5);
	ck_assert_uint_le(standby.hellos, 50);
	ck_assert(is_kept());
}
END_TEST

/* It follows another SM before the standby has everything: nothing is promised any more. */
START_TEST(follows_meanwhile)
{
	uint64_t epoch;

	net_run_ms(net, 500);
	epoch = standby.epoch;
	standby.silent = true;
	put(1);
	wait_for_it();
	replicator_follow(r, standby.guid);
	net_run_ms(net, 100);
	ck_assert_uint_eq(not_kept, 1);
	standby.silent = false;
	lead();
	net_run_ms(net, 500);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_uint_eq(standby.to, 0);
	ck_assert_uint_ne(standby.epoch, epoch);
}
END_TEST

/* A standby that is gone is not waited for; one whose LID changed is found. */
START_TEST(peers_change)
{
	net_run_ms(net, 500);
	standby.silent = true;
	put(1);
	wait_for_it();
	set_peers(0, 0);
	net_run_ms(net, 5);
	ck_assert_uint_eq(kept, 1);
	set_peers(1, 0);
	net_run_ms(net, 5);
	ck_assert_uint_eq(n_peers(), 0); /* its place is unknown */
	standby.silent = false;
	set_peers(1, standby.lid + 1);
	net_run_ms(net, 500);
	ck_assert_int_eq(state(), REPLICATION_SILENT);
	set_peers(1, standby.lid);
	net_run_ms(net, 2000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	set_peers(1000, standby.lid);
	net_run_ms(net, 5);
	ck_assert_uint_eq(n_peers(), 256);
}
END_TEST

static void check_answered(unsigned int answers, enum frame_status status)
{
	net_run_ms(net, 5);
	ck_assert_uint_eq(standby.answers, answers);
	ck_assert_uint_eq(standby.last_answer.status, status);
}

/* A peer with the key is told this SM's role; one without is told nothing, which is logged. */
START_TEST(answers)
{
	net_run_ms(net, 500);
	say_hello();
	check_answered(1, FRAME_IS_MASTER);
	ck_assert_uint_eq(standby.last_answer.epoch, 815);
	say(KEY, FRAME_MAJOR + 1, IBA_METHOD_SET);
	check_answered(2, FRAME_OTHER_VERSION);
	say("another", FRAME_MAJOR, IBA_METHOD_SET);
	say(KEY, FRAME_MAJOR, IBA_METHOD_GET);
	check_answered(2, FRAME_OTHER_VERSION);
	ck_assert_uint_eq(counter_get(&context.counters, replication_refused), 1);
	ck_assert_ptr_nonnull(strstr(text->str, "was not made with the key"));
	replicator_follow(r, 0);
	say_hello();
	check_answered(3, FRAME_NOT_FOLLOWED);
}
END_TEST

/* Not even with the key: malformed answers, of another SM, or to a former role of this one. */
START_TEST(wrong_answers)
{
	standby.wrong = OTHER_SENDER + (unsigned int)_i;
	net_run_ms(net, 5000);
	ck_assert_int_eq(state(), REPLICATION_SILENT);
	ck_assert_uint_eq(standby.updates, 0);
}
END_TEST

static const struct {
	uint8_t status;
	enum replication_state state;
} refusals[] = {{FRAME_NOT_FOLLOWED, REPLICATION_NOT_STANDBY},
		{FRAME_TOO_LARGE, REPLICATION_TOO_LARGE},
		{FRAME_SEND_ALL, REPLICATION_BEHIND}};

START_TEST(refused)
{
	standby.status = refusals[_i].status;
	net_run_ms(net, 3000);
	ck_assert_int_eq(state(), refusals[_i].state);
	ck_assert_uint_gt(standby.hellos, 1);
}
END_TEST

/*
 * A text that the standby had as master is fetched once, in pieces, if it is whole and this one has
 * none as recent; then the standby gets everything.
 */
START_TEST(text_is_fetched)
{
	g_autofree char *held = g_strnfill(3 * FRAME_CONTENT + 5, 'p');
	GBytes *bytes;

	have_little_memory();
	if (_i == 3)
		replicator_hold(r, 2, "as new");
	standby.text = held;
	standby.telling = _i < 3 ? (unsigned int)_i : COMPLETE;
	net_run_ms(net, 30000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	bytes = slot_take(&context.later_partitions);
	ck_assert((bytes != NULL) == (_i == 0));
	if (bytes) {
		ck_assert_uint_eq(g_bytes_get_size(bytes), strlen(held));
		g_bytes_unref(bytes);
	}
	if (_i != 2)
		ck_assert_uint_eq(standby.fetches, _i == 0 ? 4 : _i == 1);
	standby.silent = true;
	net_run_ms(net, 5000);
	standby.silent = false;
	net_run_ms(net, 17000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	if (_i == 0)
		ck_assert_uint_eq(standby.fetches, 4);
}
END_TEST

START_TEST(other_version)
{
	g_autofree char *line = g_strdup_printf("SM 0x%016" G_GINT64_MODIFIER
						"x uses another version of replication",
						standby.guid);

	standby.major = FRAME_MAJOR + 1;
	net_run_ms(net, 30000);
	ck_assert_int_eq(state(), REPLICATION_OTHER_VERSION);
	ck_assert_ptr_nonnull(strstr(text->str, line));
	ck_assert_uint_eq(standby.hellos, 1);
	standby.major = FRAME_MAJOR; /* it was replaced */
	net_run_ms(net, 31000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
}
END_TEST

START_TEST(forged_answers)
{
	standby.key = "another";
	put(1);
	wait_for_it();
	net_run_ms(net, 5000);
	ck_assert_int_eq(state(), REPLICATION_SILENT);
	ck_assert_uint_eq(standby.updates, 0);
	ck_assert_uint_eq(kept, 1); /* there is no standby */
}
END_TEST

/* "Send all" again and again is obeyed at growing intervals. */
START_TEST(never_content)
{
	standby.status = FRAME_SEND_ALL;
	net_run_ms(net, 60000);
	ck_assert_int_eq(state(), REPLICATION_BEHIND);
	ck_assert_uint_ge(standby.hellos, 5);
	ck_assert_uint_le(standby.hellos, 14);
}
END_TEST

/* More than replication_max_memory: nothing is sent, and it is logged. */
START_TEST(too_much)
{
	char *value = g_strnfill(4000, 'x');
	unsigned int updates;

	have_little_memory();
	lead();
	for (unsigned int i = 0; i < 300; i++) {
		uint8_t key[] = {(uint8_t)(i >> 8), (uint8_t)i};

		replicator_put(r, replica_entry_new(9, key, sizeof(key), value, 4000));
	}
	net_run_ms(net, 5000);
	ck_assert_int_eq(state(), REPLICATION_TOO_LARGE);
	ck_assert_ptr_nonnull(strstr(text->str, "replication_max_memory"));
	updates = standby.updates;
	put(1);
	net_run_ms(net, 30000);
	ck_assert_uint_eq(standby.updates, updates); /* a part would be useless */
	g_free(value);
}
END_TEST

/* ---- values in effect of both ---- */

static char *no_file(const void *arg, enum option_id id)
{
	(void)arg;
	(void)id;
	return g_strdup("");
}

/* Default options with this lmc. */
static struct agreed *agreed_with(const char *lmc)
{
	struct options *defaults = options_new();
	struct options *options = options_copy_with(defaults, OPTION_lmc, lmc, NULL);
	struct agreed *agreed = agreed_new(options, no_file, NULL);

	options_unref(options);
	options_unref(defaults);
	return agreed;
}

static enum agreement agreement(void)
{
	struct replication_status *status = slot_take(&context.replication);
	enum agreement agreement = status->peers[0].agreement.state;

	replication_status_unref(status);
	return agreement;
}

static unsigned int lines_with(const char *what)
{
	unsigned int n = 0;

	for (const char *at = text->str; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Both are reported once, and again after a change. */
START_TEST(what_is_in_effect_is_compared)
{
	struct agreed *other = agreed_with("2");
	g_autofree char *theirs = agreement_text(other, KEY);
	g_autofree char *ours = NULL;
	unsigned int agrees;

	slot_publish(&context.agreed, agreed_with("0"));
	ours = agreement_text(r->context->agreed.object, KEY);
	standby.has = theirs;
	standby.states = 1;
	net_run_ms(net, 3000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_int_eq(agreement(), AGREEMENT_DIFFERS);
	ck_assert_str_eq(standby.heard->str, ours);
	ck_assert_uint_eq(lines_with("differs from this one, so"), 1);
	agrees = standby.agrees;
	net_run_ms(net, 30000);
	ck_assert_uint_eq(standby.agrees, agrees);
	slot_publish(&context.agreed, agreed_ref(other)); /* on SIGHUP */
	net_run_ms(net, 3000);
	ck_assert_int_eq(agreement(), AGREEMENT_SAME);
	ck_assert_uint_eq(lines_with("no longer differs"), 1);
	standby.has = ours;
	standby.states = 2;
	net_run_ms(net, 3000);
	ck_assert_int_eq(agreement(), AGREEMENT_DIFFERS);
	ck_assert_uint_eq(lines_with("differs from this one, so"), 2);
	standby.silent = true;
	net_run_ms(net, 5000);
	ck_assert_int_eq(agreement(), AGREEMENT_UNKNOWN);
	standby.silent = false;
	net_run_ms(net, 17000);
	ck_assert_int_eq(agreement(), AGREEMENT_DIFFERS);
	ck_assert_uint_eq(lines_with("differs from this one, so"), 2);
	agreed_unref(other);
}
END_TEST

START_TEST(an_older_version_does_not_tell)
{
	slot_publish(&context.agreed, agreed_with("0"));
	standby.is_old = true;
	net_run_ms(net, 3000);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_int_eq(agreement(), AGREEMENT_OLD);
	ck_assert_uint_eq(standby.agrees, 0);
}
END_TEST

/* Whatever the other one answers, replication continues, and neither is kept busy. */
START_TEST(wrong_agreements)
{
	static const struct {
		unsigned int agreeing;
		const char *has;
		enum replication_state state;
		enum agreement agreement;
	} cases[] = {
		{OTHER_TRANSFER, "lmc 0123456789abcdef 0\n", REPLICATION_SILENT, AGREEMENT_UNKNOWN},
		{OTHER_AGREE_PIECE, "lmc 0123456789abcdef 0\n", REPLICATION_SILENT,
		 AGREEMENT_UNKNOWN},
		{ENDLESS, "lmc 0123456789abcdef 0\n", REPLICATION_IN_STEP, AGREEMENT_UNREADABLE},
		{REFUSING, "lmc 0123456789abcdef 0\n", REPLICATION_IN_STEP, AGREEMENT_UNREADABLE},
		{ORDERLY, "", REPLICATION_IN_STEP, AGREEMENT_UNREADABLE},
		{ORDERLY, "no such text", REPLICATION_IN_STEP, AGREEMENT_UNREADABLE},
	};

	slot_publish(&context.agreed, agreed_with("0"));
	standby.agreeing = cases[_i].agreeing;
	standby.has = cases[_i].has;
	standby.states = 1;
	net_run_ms(net, 1500);
	for (unsigned int i = 0; i < 20 && state() != cases[_i].state; i++)
		net_run_ms(net, 1000);
	ck_assert_int_eq(state(), cases[_i].state);
	ck_assert_int_eq(agreement(), cases[_i].agreement);
	ck_assert_uint_le(standby.agrees, 2 * AGREEMENT_MAX / FRAME_CONTENT);
	standby.agrees = 0;
	standby.restless = true;
	net_run_ms(net, 10000);
	ck_assert_uint_le(standby.agrees, 11 * (AGREEMENT_MAX / FRAME_CONTENT + 1));
}
END_TEST

/* Clients do not wait for it: their data goes first. */
START_TEST(what_clients_say_goes_first)
{
	slot_publish(&context.agreed, agreed_with("0"));
	standby.has = "lmc 0123456789abcdef 0\n";
	standby.states = 1;
	standby.restless = true;
	standby.agreeing = ENDLESS;
	net_run_ms(net, 500);
	for (unsigned int i = 0; i < 100; i++) {
		put(i);
		wait_for_it();
		net_run_ms(net, 37);
	}
	ck_assert_uint_eq(kept, 100);
	ck_assert_uint_eq(too_early, 0);
	ck_assert_int_eq(state(), REPLICATION_IN_STEP);
	ck_assert_uint_gt(standby.agrees, 0);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("replicator");
	TCase *tcase = tcase_create("master");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, everything_then_changes);
	tcase_add_test(tcase, changes_during_transfers);
	tcase_add_test(tcase, patience);
	tcase_add_test(tcase, it_is_master_itself);
	tcase_add_loop_test(tcase, who_deposes, 0, 3);
	tcase_add_test(tcase, had_all_when_cut_off);
	tcase_add_test(tcase, hello_of_before);
	tcase_add_test(tcase, two_masters_meet);
	tcase_add_test(tcase, follows_meanwhile);
	tcase_add_test(tcase, peers_change);
	tcase_add_test(tcase, answers);
	tcase_add_loop_test(tcase, wrong_answers, 0, 3);
	tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(refusals));
	tcase_add_loop_test(tcase, text_is_fetched, 0, 4);
	tcase_add_test(tcase, other_version);
	tcase_add_test(tcase, forged_answers);
	tcase_add_test(tcase, never_content);
	tcase_add_test(tcase, too_much);
	tcase_add_test(tcase, what_is_in_effect_is_compared);
	tcase_add_test(tcase, an_older_version_does_not_tell);
	tcase_add_loop_test(tcase, wrong_agreements, 0, 6);
	tcase_add_test(tcase, what_clients_say_goes_first);
	suite_add_tcase(suite, tcase);
	return suite;
}

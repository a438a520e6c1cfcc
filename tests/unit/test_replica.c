// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The replicated data, the frames that carry it, and the standby's side, driven frame by frame. */
#include <check.h>
#include <string.h>

#include "ha/ha_private.h"
#include "tests/run_suite.h"
#include "vendor/vendor.h"

#define ROOM (1 << 20)
#define KEY "0123456789abcdef"
#define MASTER 0x1111

/* ---- the table ---- */

static void put(struct replica *replica, unsigned int key, const char *value)
{
	uint8_t octets[] = {(uint8_t)(key >> 8), (uint8_t)key};

	replica_put(replica, replica_entry_new(200, octets, sizeof(octets), value,
					       value ? strlen(value) + 1 : 0));
}

static const char *get(const struct replica *replica, unsigned int key)
{
	uint8_t octets[] = {(uint8_t)(key >> 8), (uint8_t)key};
	struct replica_entry *entry = replica_entry_new(200, octets, sizeof(octets), NULL, 0);
	const struct replica_entry *found = replica_find(replica, entry);

	g_free(entry);
	return found ? (const char *)replica_value(found) : NULL;
}

/* An unknown section is kept as it is. */
START_TEST(everything_and_changes)
{
	struct replica *a = replica_new(ROOM), *b = replica_new(ROOM);
	GHashTable *keys = replica_keys_new();
	const char *wrong;
	GByteArray *stream;

	for (unsigned int i = 0; i < 1000; i++)
		put(a, i, "value");
	stream = replica_write_all(a);
	ck_assert(replica_apply(b, stream->data, stream->len, &wrong));
	g_byte_array_unref(stream);
	ck_assert_uint_eq(replica_size(b), 1000);
	ck_assert_uint_eq(replica_octets(a), replica_octets(b));
	put(a, 7, "another");
	put(a, 8, NULL);
	put(a, 2000, "new");
	for (unsigned int key = 7; key <= 2000; key = key == 8 ? 2000 : key + 1) {
		uint8_t octets[] = {(uint8_t)(key >> 8), (uint8_t)key};

		g_hash_table_add(keys, replica_entry_new(200, octets, 2, NULL, 0));
	}
	stream = replica_write(a, keys);
	ck_assert(replica_apply(b, stream->data, stream->len, &wrong));
	ck_assert_str_eq(get(b, 7), "another");
	ck_assert_ptr_null(get(b, 8));
	ck_assert_str_eq(get(b, 2000), "new");
	ck_assert_uint_eq(replica_size(b), 1000);
	g_byte_array_unref(stream);
	g_hash_table_unref(keys);
	replica_unref(a);
	replica_unref(b);
}
END_TEST

/* A stream that is cut, or has an octet changed, leaves everything as it was. */
START_TEST(all_or_nothing)
{
	struct replica *a = replica_new(ROOM), *b = replica_new(ROOM);
	GByteArray *stream, *before, *after;
	const char *wrong;

	put(b, 1, "old");
	put(b, 9, "stays");
	before = replica_write_all(b);
	put(a, 1, "new");
	put(a, 2, "more");
	stream = replica_write_all(a); /* its digest is not that of both together */
	for (unsigned int i = 0; i <= stream->len; i++) {
		ck_assert(!replica_apply(b, stream->data, i, &wrong));
		ck_assert_ptr_nonnull(wrong);
		after = replica_write_all(b);
		ck_assert_uint_eq(after->len, before->len);
		ck_assert_mem_eq(after->data, before->data, 8); /* the digest */
		ck_assert_str_eq(get(b, 1), "old");
		ck_assert_ptr_null(get(b, 2));
		g_byte_array_unref(after);
	}
	g_byte_array_unref(stream);
	g_byte_array_unref(before);
	replica_unref(a);
	replica_unref(b);
}
END_TEST

START_TEST(has_a_bound)
{
	struct replica *a = replica_new(ROOM), *b = replica_new(1000);
	GByteArray *stream;
	const char *wrong;
	uint8_t octet = 1;

	for (unsigned int i = 0; i < 100; i++)
		put(a, i, "value");
	stream = replica_write_all(a);
	ck_assert(!replica_apply(b, stream->data, stream->len, &wrong));
	ck_assert_uint_eq(replica_size(b), 0);
	ck_assert_uint_eq(replica_octets(b), 0);
	ck_assert_ptr_nonnull(strstr(wrong, "replication_max_memory"));
	while (replica_octets(b) < 900)
		put(b, octet++, "x");
	ck_assert_int_eq(replica_put(b, replica_entry_new(200, &octet, 1, KEY, sizeof(KEY))),
			 REPLICA_NO_ROOM);
	g_byte_array_unref(stream);
	replica_unref(a);
	replica_unref(b);
}
END_TEST

/* ---- frames ---- */

static struct frame some_frame(void)
{
	struct frame frame = {.major = FRAME_MAJOR,
			      .minor = 9,
			      .op = FRAME_UPDATE,
			      .sender = MASTER,
			      .epoch = 2,
			      .nonce = 3,
			      .transfer = 4,
			      .from = 5,
			      .to = 6,
			      .piece = 7,
			      .total = 8,
			      .flags = FRAME_LAST,
			      .length = 4};

	memcpy(frame.content, "abcd", 4);
	return frame;
}

START_TEST(frames_are_authentic)
{
	struct frame in = some_frame(), out = {0};
	uint8_t data[FRAME_AT + FRAME_BYTES];

	frame_encode(&in, KEY, data);
	ck_assert_int_eq(frame_decode(&out, KEY, data, sizeof(data)), FRAME_GOOD);
	ck_assert_mem_eq(&in, &out, sizeof(in));
	ck_assert_int_eq(frame_decode(&out, KEY, data, sizeof(data) - 1), FRAME_FOREIGN);
	ck_assert_int_eq(frame_decode(&out, "another", data, sizeof(data)), FRAME_FORGED);
	for (unsigned int bit = 0; bit < FRAME_BYTES * 8; bit++) {
		data[FRAME_AT + bit / 8] ^= 1 << bit % 8;
		ck_assert_int_eq(frame_decode(&out, KEY, data, sizeof(data)), FRAME_FORGED);
		data[FRAME_AT + bit / 8] ^= 1 << bit % 8;
	}
	data[13] ^= 1; /* of the OUI */
	ck_assert_int_eq(frame_decode(&out, KEY, data, sizeof(data)), FRAME_FOREIGN);
}
END_TEST

START_TEST(other_versions)
{
	struct frame in = some_frame(), out;
	uint8_t data[FRAME_AT + FRAME_BYTES];

	in.major = FRAME_MAJOR + 1;
	frame_encode(&in, KEY, data);
	ck_assert_int_eq(frame_decode(&out, KEY, data, sizeof(data)), FRAME_STRANGE);
	ck_assert_uint_eq(out.major, FRAME_MAJOR + 1);
	ck_assert_uint_eq(out.sender, MASTER);
	in.major = FRAME_MAJOR;
	in.length = FRAME_CONTENT + 1;
	frame_encode(&in, KEY, data);
	ck_assert_int_eq(frame_decode(&out, KEY, data, sizeof(data)), FRAME_STRANGE);
}
END_TEST

/* ---- a standby ---- */

static struct context context;
static struct replicator *r;
static struct replica *table; /* of the master */
static struct frame next;     /* the next one that the master sends */
static struct frame answer;
static GArray *recorded; /* struct frame */

static void get_object(void *object)
{
	options_ref(object);
}

static void put_object(void *object)
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

static void setup(void)
{
	context = (struct context){.rt = runtime_new(RUNTIME_VIRTUAL), .log = log_new_null()};
	slot_init(&context.options, get_object, put_object);
	slot_init(&context.replication, get_status, put_status);
	slot_publish(&context.options, options_new());
	r = replicator_new(&context, NULL, 0x2222, NULL);
	r->role = HA_FOLLOWS;
	follower_follow(r->follower, MASTER);
	table = replica_new(ROOM);
	recorded = g_array_new(FALSE, FALSE, sizeof(struct frame));
	next = (struct frame){.major = FRAME_MAJOR, .sender = MASTER, .epoch = 77};
}

static void teardown(void)
{
	replica_unref(table);
	g_array_unref(recorded);
	replicator_free(r);
	slot_clear(&context.options);
	slot_clear(&context.replication);
	log_free(context.log);
	runtime_free(context.rt);
}

static unsigned int send(const struct frame *frame)
{
	answer = (struct frame){0};
	follower_receive(r->follower, frame, &answer);
	return answer.status;
}

static void hello(void)
{
	next.op = FRAME_HELLO;
	ck_assert_uint_eq(send(&next), FRAME_OK);
	next.nonce = answer.nonce;
}

/* Sends this many pieces of a full transfer, all if there are fewer; the status of the last. */
static unsigned int send_all(unsigned int pieces)
{
	GByteArray *stream = replica_write_all(table);
	unsigned int status = FRAME_OK, at = 0;

	next.op = FRAME_UPDATE;
	next.flags = FRAME_WHOLE;
	next.transfer++;
	next.total = stream->len;
	for (next.piece = 0; at < stream->len && next.piece < pieces; next.piece++) {
		next.length = (uint16_t)MIN(stream->len - at, FRAME_CONTENT);
		memcpy(next.content, stream->data + at, next.length);
		at += next.length;
		if (at == stream->len)
			next.flags |= FRAME_LAST;
		g_array_append_val(recorded, next);
		status = send(&next);
	}
	g_byte_array_unref(stream);
	return status;
}

static struct replicator_lead take(uint64_t fresh_ns)
{
	struct replicator_lead lead = {.fresh_ns = fresh_ns};

	follower_end(r->follower, &lead);
	return lead;
}

static void expect_taken(bool vouched, const char *value)
{
	struct replicator_lead lead = take(NS_PER_S);

	ck_assert_int_eq(lead.vouched, vouched);
	ck_assert_ptr_nonnull(lead.replica);
	ck_assert_str_eq(get(lead.replica, 1), value);
	ck_assert_uint_eq(lead.of, MASTER);
	replica_unref(lead.replica);
}

static void fill(const char *value)
{
	for (unsigned int i = 0; i < 50; i++)
		put(table, i, value);
	next.from = next.to;
	next.to += 50;
}

static void up_to(const char *value)
{
	hello();
	fill(value);
	ck_assert_uint_eq(send_all(1000), FRAME_OK);
}

START_TEST(takes_what_is_whole)
{
	up_to("one");
	expect_taken(true, "one");
}
END_TEST

START_TEST(half_sent_leaves_the_last_whole_one)
{
	up_to("one");
	fill("two");
	ck_assert_uint_eq(send_all(3), FRAME_OK);
	expect_taken(true, "one");
}
END_TEST

START_TEST(nothing_at_all)
{
	struct replicator_lead lead;

	hello();
	fill("one");
	send_all(3);
	lead = take(NS_PER_S);
	ck_assert_ptr_null(lead.replica);
	ck_assert(!lead.vouched);
}
END_TEST

/* A change that does not follow the present state. */
START_TEST(gap)
{
	up_to("one");
	next.transfer++;
	next.piece = 0;
	next.flags = FRAME_LAST;
	next.from = next.to + 1;
	next.to = next.from + 1;
	ck_assert_uint_eq(send(&next), FRAME_SEND_ALL);
	expect_taken(false, "one");
}
END_TEST

START_TEST(bad_digest)
{
	uint64_t nothing = 0;

	up_to("one");
	next.transfer++;
	next.piece = 0;
	next.flags = FRAME_LAST;
	next.from = next.to;
	next.to++;
	next.length = next.total = sizeof(nothing);
	memcpy(next.content, &nothing, sizeof(nothing));
	ck_assert_uint_eq(send(&next), FRAME_SEND_ALL);
	expect_taken(false, "one");
}
END_TEST

/* A repeated piece changes nothing, a missing one is requested. */
START_TEST(pieces)
{
	GByteArray *stream;

	hello();
	fill("one");
	stream = replica_write_all(table);
	next.op = FRAME_UPDATE;
	next.flags = FRAME_WHOLE;
	next.transfer++;
	next.total = stream->len;
	next.length = FRAME_CONTENT;
	memcpy(next.content, stream->data, FRAME_CONTENT);
	ck_assert_uint_eq(send(&next), FRAME_OK);
	ck_assert_uint_eq(send(&next), FRAME_OK);
	next.piece = 2;
	ck_assert_uint_eq(send(&next), FRAME_SEND_ALL);
	next.piece = 1;
	ck_assert_uint_eq(send(&next), FRAME_SEND_ALL); /* that transfer is over */
	ck_assert_uint_eq(send_all(1000), FRAME_OK);
	expect_taken(true, "one");
	g_byte_array_unref(stream);
}
END_TEST

static void say_all_again(void)
{
	for (guint i = 0; i < recorded->len; i++)
		send(&g_array_index(recorded, struct frame, i));
}

/* Recorded frames: in the same session, after another master, after the same one restarted. */
START_TEST(replays)
{
	struct frame old_hello;
	guint old;

	up_to("one");
	old_hello = next;
	old_hello.op = FRAME_HELLO;
	if (_i == 0) {
		fill("two");
		ck_assert_uint_eq(send_all(1000), FRAME_OK);
		g_array_set_size(recorded, 5);
		say_all_again();
		expect_taken(true, "two");
		return;
	}
	next.epoch++;
	next.transfer = 0;
	hello();
	fill("two");
	old = recorded->len;
	ck_assert_uint_eq(send_all(1000), FRAME_OK);
	g_array_set_size(recorded, old);
	send(&old_hello);
	say_all_again();
	hello(); /* the session continues */
	fill("three");
	ck_assert_uint_eq(send_all(1000), FRAME_OK);
	expect_taken(true, "three");
}
END_TEST

START_TEST(strangers)
{
	up_to("one");
	next.sender = 0x3333; /* has the key, but is not followed */
	fill("two");
	ck_assert_uint_eq(send_all(1000), FRAME_NOT_FOLLOWED);
	next.op = FRAME_HELLO;
	ck_assert_uint_eq(send(&next), FRAME_NOT_FOLLOWED);
	expect_taken(true, "one");
	ck_assert_uint_eq(send(&next), FRAME_NOT_FOLLOWED); /* it follows no SM */
}
END_TEST

/* Another master before everything had arrived: the data is that of the previous one. */
START_TEST(another_master)
{
	struct replicator_lead lead;

	up_to("one");
	follower_follow(r->follower, 0x4444);
	lead = take(NS_PER_S);
	ck_assert(!lead.vouched);
	ck_assert_uint_eq(lead.of, MASTER);
	replica_unref(lead.replica);
}
END_TEST

static void nothing_to_do(struct timer *timer)
{
	(void)timer;
}

START_TEST(old_or_behind)
{
	struct replicator_lead lead;
	struct timer timer;

	up_to("one");
	if (_i) { /* it is told of more than it has */
		next.to++;
		hello();
	} else {
		timer_init(&timer, r->actor, nothing_to_do);
		timer_start(&timer, 2 * NS_PER_S);
		runtime_run(context.rt, NULL, NULL, UINT64_MAX);
	}
	lead = take(NS_PER_S);
	ck_assert(!lead.vouched);
	replica_unref(lead.replica);
}
END_TEST

/* Data that this SM had as master is sent to the SM it follows, and to no other, piece by piece. */
START_TEST(fetched_by_the_master)
{
	g_autofree char *text = g_strnfill(3 * FRAME_CONTENT, 'x');
	g_autoptr(GString) told = g_string_new(NULL);
	struct frame fetch = next;

	fetch.op = FRAME_FETCH;
	ck_assert_uint_eq(send(&fetch), FRAME_SEND_ALL); /* there is none */
	for (unsigned int i = 0; i < strlen(text); i++)
		text[i] += i % 7;
	r->held = g_strdup(text);
	r->held_serial = 9;
	hello();
	ck_assert_uint_eq(answer.from, 9);
	ck_assert_uint_eq(send(&fetch), FRAME_SEND_ALL);
	for (fetch.from = 9; fetch.piece < 3; fetch.piece++) {
		ck_assert_uint_eq(send(&fetch), FRAME_OK);
		ck_assert_uint_eq(answer.piece, fetch.piece);
		ck_assert_int_eq(answer.flags, fetch.piece == 2 ? FRAME_LAST : 0);
		g_string_append_len(told, (const char *)answer.content, answer.length);
	}
	ck_assert_str_eq(told->str, text);
	ck_assert_uint_eq(send(&fetch), FRAME_SEND_ALL); /* there is no more */
	fetch.piece = UINT32_MAX;
	ck_assert_uint_eq(send(&fetch), FRAME_SEND_ALL);
	fetch.piece = 0;
	fetch.sender++;
	ck_assert_uint_eq(send(&fetch), FRAME_NOT_FOLLOWED);
	ck_assert_uint_eq(answer.length, 0);
}
END_TEST

START_TEST(too_large)
{
	hello();
	fill("one");
	next.op = FRAME_UPDATE;
	next.flags = FRAME_WHOLE;
	next.transfer++;
	next.total = UINT32_MAX;
	next.length = FRAME_CONTENT;
	ck_assert_uint_eq(send(&next), FRAME_TOO_LARGE);
	next.piece = 1;
	ck_assert_uint_eq(send(&next), FRAME_SEND_ALL);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("replica");
	TCase *values = tcase_create("values"), *standby = tcase_create("standby");

	tcase_add_test(values, everything_and_changes);
	tcase_add_test(values, all_or_nothing);
	tcase_add_test(values, has_a_bound);
	tcase_add_test(values, frames_are_authentic);
	tcase_add_test(values, other_versions);
	suite_add_tcase(suite, values);
	tcase_add_checked_fixture(standby, setup, teardown);
	tcase_add_test(standby, takes_what_is_whole);
	tcase_add_test(standby, half_sent_leaves_the_last_whole_one);
	tcase_add_test(standby, nothing_at_all);
	tcase_add_test(standby, gap);
	tcase_add_test(standby, bad_digest);
	tcase_add_test(standby, pieces);
	tcase_add_loop_test(standby, replays, 0, 2);
	tcase_add_test(standby, strangers);
	tcase_add_test(standby, another_master);
	tcase_add_loop_test(standby, old_or_behind, 0, 2);
	tcase_add_test(standby, fetched_by_the_master);
	tcase_add_test(standby, too_large);
	suite_add_tcase(suite, standby);
	return suite;
}

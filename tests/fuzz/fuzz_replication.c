// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replication, from senders with and without the key: streams, frames, and entries adopted by the
 * SA.
 *
 * The first octet of the input chooses: entries of a replica that the SA adopts; a stream on top of
 * a replica, which is accepted as a whole or changes nothing; frames to a standby, of which only
 * those made with the key and a current nonce reach its replica; or the options that another SM
 * reports.
 */
#include "ha/ha_private.h"
#include "sa/report/replicate.h"
#include "tests/fuzz/fuzz.h"

#define ROOM (1 << 16)
#define KEY "0123456789abcdef"
#define MASTER 0x1111
#define SECTION_OF_FUZZ 77

struct bed {
	struct context context;
};

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

static void add_seed(GPtrArray *seeds, uint8_t what, const GByteArray *octets)
{
	GByteArray *seed = g_byte_array_new();

	g_byte_array_append(seed, &what, 1);
	g_byte_array_append(seed, octets->data, octets->len);
	g_ptr_array_add(seeds, g_byte_array_free_to_bytes(seed));
}

static void put_text(struct replica *replica, uint8_t section, const char *key, const char *value)
{
	replica_put(replica,
		    replica_entry_new(section, key, strlen(key), value, value ? strlen(value) : 0));
}

/* A group with a member, in the form that the SA writes. */
static void put_group(struct replica *replica)
{
	const uint8_t key[24] = {
		0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0,
		0xFF, 0xFF, 0xFF, 0xFF, 0,    0,    0, 0, 0, 0, 0, 5}; /* MGID, member */
	const uint8_t member[] = {1, 0};
	const struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12401BFFFF0000), UINT32_MAX}, .mlid = 0xC001, .scope = 2};
	uint8_t value[61] = {0};

	wire_encode(&iba_mc_member_record_type, &record, value);
	replica_put(replica, replica_entry_new(REPLICA_GROUPS, key, 16, value, sizeof(value)));
	replica_put(replica, replica_entry_new(REPLICA_MEMBERS, key, 24, member, 2));
}

static void *setup(GPtrArray *seeds)
{
	static const char statement[] = "lmc 0123456789abcdef 2\nm_key fedcba9876543210\n";
	struct replica *replica = replica_new(ROOM);
	struct bed *bed = g_new0(struct bed, 1);
	GByteArray *stream;

	bed->context.rt = runtime_new(RUNTIME_VIRTUAL);
	bed->context.log = log_new_null();
	slot_init(&bed->context.options, get_options, put_options);
	slot_init(&bed->context.replication, get_status, put_status);
	slot_publish(&bed->context.options, options_new());
	put_text(replica, SECTION_OF_FUZZ, "one", "1");
	put_group(replica);
	stream = replica_write_all(replica);
	for (uint8_t what = 0; what < 4; what++)
		add_seed(seeds, what, stream);
	g_byte_array_set_size(stream, 0);
	g_byte_array_append(stream, (const guint8 *)statement, sizeof(statement) - 1);
	add_seed(seeds, 4, stream);
	g_byte_array_unref(stream);
	replica_unref(replica);
	return bed;
}

/* ---- entries ---- */

static bool check_group(const struct sa_group *group, void *arg)
{
	(void)arg;
	fuzz_expect(iba_gid_is_multicast(group->record.mgid));
	fuzz_expect(group->record.mlid >= IBA_LID_MCAST_FIRST &&
		    group->record.mlid <= IBA_LID_MCAST_LAST);
	return true;
}

static void adopt(struct fuzz_bytes *bytes)
{
	struct replica *replica = replica_new(ROOM);
	struct sa_registries registries = sa_registries_new(0);

	while (bytes->left) {
		uint8_t head[3], octets[256 + 64];

		fuzz_take(bytes, head, sizeof(head));
		head[1] = MIN(head[1], 64);
		/* enough octets that each section may have a valid entry */
		fuzz_take(bytes, octets, head[1] + head[2]);
		replica_put(replica, replica_entry_new(REPLICA_GROUPS + head[0] % 5, octets,
						       head[1], octets + head[1], head[2]));
	}
	fuzz_expect(sa_replicate_adopt(&registries, replica, 1) <= replica_size(replica));
	sa_store_each(registries.groups, check_group, NULL);
	sa_store_clear(registries.groups);
	sa_registries_free(&registries);
	replica_unref(replica);
}

/* ---- streams ---- */

static void apply(struct fuzz_bytes *bytes)
{
	struct replica *replica = replica_new(ROOM);
	GByteArray *before, *after;
	const char *wrong = NULL;

	put_text(replica, SECTION_OF_FUZZ, "one", "1");
	put_text(replica, SECTION_OF_FUZZ, "two", "2");
	before = replica_write_all(replica);
	if (!replica_apply(replica, bytes->at, bytes->left, &wrong)) {
		after = replica_write_all(replica);
		fuzz_expect(wrong && after->len == before->len);
		fuzz_expect(!memcmp(after->data, before->data, sizeof(uint64_t)));
		g_byte_array_unref(after);
	}
	fuzz_expect(replica_octets(replica) <= ROOM);
	g_byte_array_unref(before);
	replica_unref(replica);
}

/* ---- frames ---- */

static void send(struct replicator *r, const struct frame *frame, struct frame *answer)
{
	uint8_t data[FRAME_AT + FRAME_BYTES];
	struct frame decoded;

	frame_encode(frame, KEY, data);
	*answer = (struct frame){0};
	switch (frame_decode(&decoded, KEY, data, sizeof(data))) {
	case FRAME_GOOD:
		follower_receive(r->follower, &decoded, answer);
		break;
	default:
		fuzz_expect(frame->major != FRAME_MAJOR || frame->length > FRAME_CONTENT);
	}
}

/* Mostly a frame that could be sent next, so that it has an effect. */
static void next_frame(struct fuzz_bytes *bytes, struct frame *frame)
{
	uint8_t what = fuzz_octet(bytes);

	frame->op = what & 1 ? FRAME_UPDATE : what & 8 ? FRAME_AGREE : FRAME_HELLO;
	frame->piece = what & 2 ? frame->piece + 1 : 0;
	frame->transfer += !(what & 2);
	frame->flags = what >> 2 & 3;
	if (what & 0x10)
		frame->epoch = fuzz_octet(bytes) % 3;
	if (what & 0x20)
		frame->to = fuzz_octet(bytes);
	if (what & 0x40)
		frame->total = fuzz_octet(bytes);
	if (what & 0x80)
		frame->major = 1 + fuzz_octet(bytes) % 2;
	frame->length = fuzz_octet(bytes) % (FRAME_CONTENT + 8);
	fuzz_take(bytes, frame->content, MIN(frame->length, FRAME_CONTENT));
	frame->from = frame->to;
}

static char *no_file(const void *arg, enum option_id id)
{
	(void)arg;
	(void)id;
	return g_strdup("");
}

/* The options that another SM reports; these frames are made with the key. */
static void compare(struct bed *bed, struct fuzz_bytes *bytes)
{
	struct options *options = slot_take(&bed->context.options);
	struct agreed *own = agreed_new(options, no_file, NULL);
	unsigned int compared;
	GPtrArray *differences =
		agreement_compare(own, KEY, (const char *)bytes->at, bytes->left, &compared);

	fuzz_expect(!differences || (compared && compared <= own->n));
	fuzz_expect(!differences || differences->len <= compared);
	if (differences) {
		g_free(agreement_tell(differences));
		g_ptr_array_unref(differences);
	}
	agreed_unref(own);
	options_unref(options);
}

static void follow(struct bed *bed, struct fuzz_bytes *bytes, bool knows_nonce)
{
	struct replicator *r = replicator_new(&bed->context, NULL, 0x2222, NULL);
	struct frame frame = {.major = FRAME_MAJOR, .sender = MASTER, .nonce = 1}, answer;
	struct replicator_lead lead = {.fresh_ns = NS_PER_S};

	follower_follow(r->follower, MASTER);
	while (bytes->left) {
		next_frame(bytes, &frame);
		send(r, &frame, &answer);
		if (knows_nonce && answer.nonce)
			frame.nonce = answer.nonce;
	}
	follower_end(r->follower, &lead);
	fuzz_expect(knows_nonce || !lead.replica);
	fuzz_expect(!lead.vouched || lead.replica);
	replica_unref(lead.replica);
	replicator_free(r);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	uint8_t what = fuzz_octet(&bytes);
	struct frame frame;

	fuzz_expect(frame_decode(&frame, KEY, data, size) != FRAME_GOOD);
	switch (what % 5) {
	case 4:
		compare(state, &bytes);
		break;
	case 0:
		adopt(&bytes);
		break;
	case 1:
		apply(&bytes);
		break;
	default:
		follow(state, &bytes, what % 5 == 2);
	}
}

static void teardown(void *state)
{
	struct bed *bed = state;

	slot_clear(&bed->context.options);
	slot_clear(&bed->context.replication);
	log_free(bed->context.log);
	runtime_free(bed->context.rt);
	g_free(bed);
}

const struct fuzz_target fuzz_target = {
	.name = "replication",
	.max_size = 1 << 12,
	.runs = 20000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

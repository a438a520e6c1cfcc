// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Both ends of an RMPP transfer and a wire between them that the input controls: it delivers,
 * loses, repeats, reorders, alters and invents packets and lets time pass. A transfer ends; what
 * the sender regards as delivered was received, and, if no packet was altered or invented,
 * unchanged.
 *
 * The input: two octets of the message's length, then one for each step and what it needs.
 */
#include "libvendor/rmpp.h"
#include "tests/fuzz/fuzz.h"

#define MESSAGE_MAX 4096
#define STEPS_MAX 64
#define PACKETS_MAX 256 /* on the wire */
#define ACK_NS NS_PER_MS

struct packet {
	bool to_receiver;
	uint8_t mad[IBA_MAD_BYTES];
};

struct wire {
	struct runtime *rt;
	struct actor *actor;
	struct rmpp_config config;
	GQueue packets; /* struct packet */
	struct rmpp_send *send;
	struct rmpp_receive *receive; /* NULL: not yet, or no longer */
	bool forged, done, delivered, complete;
	size_t headers; /* of the class */
	size_t length;
	uint8_t message[IBA_MAD_BYTES + MESSAGE_MAX];
};

static void put(struct wire *wire, bool to_receiver, const uint8_t *mad)
{
	struct packet *packet = g_new(struct packet, 1);

	packet->to_receiver = to_receiver;
	memcpy(packet->mad, mad, sizeof(packet->mad));
	g_queue_push_tail(&wire->packets, packet);
}

static bool from_sender(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	put(arg, true, mad);
	return true;
}

static bool from_receiver(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	put(arg, false, mad);
	return true;
}

static void send_done(void *arg, enum rmpp_end end)
{
	struct wire *wire = arg;

	fuzz_expect(!wire->done);
	wire->done = true;
	wire->delivered = end == RMPP_DELIVERED;
}

static void receive_end(void *arg)
{
	struct wire *wire = arg;

	g_clear_pointer(&wire->receive, rmpp_receive_free);
}

static void check_message(struct wire *wire)
{
	size_t length;
	const uint8_t *message = rmpp_receive_message(wire->receive, &length);

	fuzz_expect(length >= wire->headers);
	wire->complete = true;
	if (wire->forged)
		return;
	fuzz_expect(length == wire->length);
	fuzz_expect(memcmp(message, wire->message, 24) == 0);
	fuzz_expect(memcmp(message + wire->headers, wire->message + wire->headers,
			   length - wire->headers) == 0);
}

static void to_receiver(struct wire *wire, const uint8_t *mad)
{
	if (!wire->receive)
		wire->receive = rmpp_receive_new(&wire->config, from_receiver, receive_end, wire);
	switch (rmpp_receive_handle(wire->receive, mad)) {
	case RMPP_COMPLETE:
		check_message(wire);
		break;
	case RMPP_ENDED:
		receive_end(wire);
		break;
	default:
		break;
	}
}

static void deliver(struct wire *wire)
{
	g_autofree struct packet *packet = g_queue_pop_head(&wire->packets);

	if (!packet)
		return;
	if (packet->to_receiver)
		to_receiver(wire, packet->mad);
	else if (!wire->done)
		rmpp_send_handle(wire->send, packet->mad);
}

static void pass_time(struct wire *wire, uint64_t ns)
{
	runtime_run(wire->rt, NULL, NULL, runtime_now(wire->rt) + ns);
}

/* Changes one octet of the first packet, mostly in its headers. */
static void alter(struct wire *wire, struct fuzz_bytes *bytes)
{
	struct packet *packet = g_queue_peek_head(&wire->packets);
	uint8_t at = fuzz_octet(bytes), value = fuzz_octet(bytes);

	if (!packet)
		return;
	packet->mad[at] = value;
	wire->forged = true;
}

static void invent(struct wire *wire, struct fuzz_bytes *bytes)
{
	uint8_t mad[IBA_MAD_BYTES] = {1, wire->message[1], 2, IBA_METHOD_GET_TABLE};
	bool to_receiver = fuzz_octet(bytes) & 1;

	fuzz_take(bytes, mad + RMPP_AT_VERSION, 12);
	put(wire, to_receiver, mad);
	wire->forged = true;
}

static void step(struct wire *wire, struct fuzz_bytes *bytes)
{
	struct packet *packet = g_queue_peek_head(&wire->packets);

	switch (fuzz_octet(bytes) % 8) {
	default:
		deliver(wire);
		break;
	case 1: /* lost */
		g_free(g_queue_pop_head(&wire->packets));
		break;
	case 2: /* twice */
		if (packet)
			put(wire, packet->to_receiver, packet->mad);
		break;
	case 3: /* late */
		if (packet)
			g_queue_push_tail(&wire->packets, g_queue_pop_head(&wire->packets));
		break;
	case 4:
		pass_time(wire, fuzz_octet(bytes) * (ACK_NS / 16));
		break;
	case 5:
		alter(wire, bytes);
		break;
	case 6:
		invent(wire, bytes);
		break;
	}
}

static void make_message(struct wire *wire, struct fuzz_bytes *bytes)
{
	static const uint8_t classes[] = {IBA_CLASS_SUBN_ADM, IBA_CLASS_DEV_MGT, RMPP_CLASS_BIS,
					  IBA_CLASS_VENDOR_OUI_FIRST};
	size_t high = fuzz_octet(bytes), low = fuzz_octet(bytes);

	wire->headers = rmpp_headers(classes[high >> 6]);
	wire->length = wire->headers + (high << 8 | low) % MESSAGE_MAX;
	memset(wire->message, 0, wire->headers);
	wire->message[0] = 1;
	wire->message[1] = classes[high >> 6];
	wire->message[3] = IBA_METHOD_GET_TABLE;
	wire->message[RMPP_AT_FLAGS] = IBA_RMPP_ACTIVE;
	for (size_t i = wire->headers; i < wire->length; i++)
		wire->message[i] = i * 7 + (i >> 8);
}

static void finish(struct wire *wire)
{
	unsigned int left = 4 * PACKETS_MAX + 4 * STEPS_MAX;

	while (!wire->done) {
		fuzz_expect(left-- > 0);
		if (wire->packets.length)
			deliver(wire);
		else
			pass_time(wire, ACK_NS);
	}
	fuzz_expect(wire->forged || !wire->delivered || wire->complete);
}

static void *setup(GPtrArray *seeds)
{
	static const char whole[] = {2, 0}, lost[] = {2, 0, 1, 0, 1, 0, 2, 0, 3, 4, 32, 1, 1};
	static const char bad[] = {2, 0, 0, 0, 5, 25, 3, 0, 6, 0, 1, 2, 1};
	struct wire *wire = g_new0(struct wire, 1);

	g_ptr_array_add(seeds, g_bytes_new(whole, sizeof(whole)));
	g_ptr_array_add(seeds, g_bytes_new(lost, sizeof(lost)));
	g_ptr_array_add(seeds, g_bytes_new(bad, sizeof(bad)));
	wire->rt = runtime_new(RUNTIME_VIRTUAL);
	wire->actor = actor_new(wire->rt, "wire");
	wire->config = (struct rmpp_config){
		.actor = wire->actor,
		.wait_ns = ACK_NS,
		.wait_max_ns = ACK_NS,
		.expire_ns = ACK_NS,
		.retries = 3,
		.window = 4,
		.message_max = MESSAGE_MAX + IBA_MAD_BYTES,
	};
	g_queue_init(&wire->packets);
	return wire;
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct wire *wire = state;
	struct fuzz_bytes bytes = {data, size};

	wire->forged = wire->done = wire->delivered = wire->complete = false;
	make_message(wire, &bytes);
	wire->send = rmpp_send_new(&wire->config, wire->message, wire->length, from_sender,
				   send_done, wire);
	rmpp_send_start(wire->send);
	for (unsigned int i = 0; i < STEPS_MAX && bytes.left; i++)
		if (wire->packets.length < PACKETS_MAX)
			step(wire, &bytes);
		else
			deliver(wire);
	finish(wire);
	rmpp_send_free(wire->send);
	receive_end(wire);
	g_queue_clear_full(&wire->packets, g_free);
}

static void teardown(void *state)
{
	struct wire *wire = state;

	actor_stop(wire->actor);
	actor_free(wire->actor);
	runtime_free(wire->rt);
	g_free(wire);
}

const struct fuzz_target fuzz_target = {
	.name = "rmpp",
	.max_size = 512,
	.runs = 10000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

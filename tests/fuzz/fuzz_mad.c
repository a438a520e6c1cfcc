// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Any MADs of any length delivered to the MAD layer while requests are outstanding: answers,
 * timeouts, unknown transactions. Each request completes exactly once, whatever arrives.
 *
 * The input: how many requests, then an octet for each step and what it needs.
 */
#include "core/options.h"
#include "mad/mad.h"
#include "tests/fuzz/fuzz.h"
#include "vendor/vendor_private.h"

#define REQUESTS_MAX 16
#define STEPS_MAX 48
#define SENT_MAX 64
#define TIMEOUT_MS 200

struct port {
	struct vendor base;
	struct vendor_client clients[256];
	struct context context;
	struct log *log;
	struct actor *owner;
	struct mad *mad;
	bool busy; /* accepts no MAD */
	unsigned int waiting; /* requests not done */
	unsigned int n_sent;
	uint8_t sent[SENT_MAX][IBA_MAD_BYTES]; /* the last ones */
};

static bool port_bind(struct vendor *vendor, uint8_t mgmt_class, bool manager,
		      const struct vendor_client *client, GError **error)
{
	(void)manager;
	(void)error;
	((struct port *)vendor)->clients[mgmt_class] = *client;
	return true;
}

static bool port_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		      size_t length, unsigned int timeout_ms)
{
	struct port *port = (struct port *)vendor;

	(void)to;
	(void)timeout_ms;
	fuzz_expect(length == IBA_MAD_BYTES);
	if (port->busy)
		return false;
	memcpy(port->sent[port->n_sent++ % SENT_MAX], data, length);
	return true;
}

static void port_close(struct vendor *vendor)
{
	(void)vendor;
}

static const struct vendor_ops ops = {.bind = port_bind, .send = port_send, .close = port_close};

static void on_done(struct mad_request *request)
{
	struct port *port = request->arg;

	fuzz_expect(port->waiting > 0);
	fuzz_expect(request->result == MAD_STATUS || request->status == 0);
	port->waiting--;
	g_free(request);
}

static void serve(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	vendor_mad_free(mad);
}

static void send_request(struct port *port, uint8_t how)
{
	struct mad_request *request = g_new0(struct mad_request, 1);

	request->target = how % 3;
	request->route.hops = how % 5;
	for (uint8_t i = 1; i <= request->route.hops; i++)
		request->route.path[i] = i;
	request->route.lid = how & 0x20 ? 5 : 0;
	request->route.via = how & 0x40 ? 6 : 0;
	request->route.via_hops = 1 + how % 2;
	request->method = how & 0x80 ? IBA_METHOD_SET : IBA_METHOD_GET;
	request->attribute = IBA_ATTR_PORT_INFO;
	request->modifier = 3;
	request->owner = port->owner;
	request->done = on_done;
	request->arg = port;
	port->waiting++;
	mad_send(port->mad, request);
}

static void pass_time(struct port *port, uint64_t ns)
{
	runtime_run(port->context.rt, NULL, NULL, runtime_now(port->context.rt) + ns);
}

static void hand_up(struct port *port, const uint8_t *data, size_t length,
		    enum vendor_status status)
{
	struct vendor_mad *mad = vendor_mad_new(&port->base, data, length);

	mad->status = status;
	/* Every class goes to the client bound to SMPs: the back end knows which are meant. */
	vendor_mad_post(mad, &port->clients[IBA_CLASS_SUBN_LID]);
	pass_time(port, 0);
}

/* The answer to one that was sent, some octets changed. */
static void answer(struct port *port, struct fuzz_bytes *bytes)
{
	uint8_t which = fuzz_octet(bytes), changes = fuzz_octet(bytes);
	uint8_t mad[IBA_MAD_BYTES];
	size_t length = sizeof(mad);

	if (!port->n_sent)
		return;
	memcpy(mad, port->sent[which % MIN(port->n_sent, SENT_MAX)], sizeof(mad));
	mad[3] = IBA_METHOD_GET_RESP;
	mad[4] = mad[1] == IBA_CLASS_SUBN_DIRECTED ? 0x80 : 0;
	for (unsigned int i = 0; i < changes % 8; i++) {
		uint8_t at = fuzz_octet(bytes);

		mad[at] = fuzz_octet(bytes);
	}
	if (changes & 0x80)
		length = fuzz_octet(bytes);
	hand_up(port, mad, length, VENDOR_RECEIVED);
}

static void give_back(struct port *port, struct fuzz_bytes *bytes, enum vendor_status status)
{
	uint8_t which = fuzz_octet(bytes), octets = fuzz_octet(bytes);

	if (port->n_sent)
		hand_up(port, port->sent[which % MIN(port->n_sent, SENT_MAX)],
			MAX(octets, iba_mad_header_bytes), status);
}

static void hand_up_stranger(struct port *port, struct fuzz_bytes *bytes)
{
	size_t length = fuzz_octet(bytes) + (size_t)fuzz_octet(bytes);
	g_autofree uint8_t *mad = g_malloc0(length + 1);

	fuzz_take(bytes, mad, MIN(length, 64));
	hand_up(port, mad, length, VENDOR_RECEIVED);
}

static void step(struct port *port, struct fuzz_bytes *bytes)
{
	uint8_t kind = fuzz_octet(bytes);

	switch (kind % 8) {
	case 0:
		if (port->waiting < REQUESTS_MAX)
			send_request(port, fuzz_octet(bytes));
		break;
	case 1:
		pass_time(port, (uint64_t)kind * NS_PER_MS);
		break;
	case 2:
		give_back(port, bytes, VENDOR_TIMED_OUT);
		break;
	case 3:
		give_back(port, bytes, VENDOR_FAILED);
		break;
	case 4:
		hand_up_stranger(port, bytes);
		break;
	case 5:
		port->busy = kind & 0x80;
		break;
	default:
		answer(port, bytes);
	}
	pass_time(port, 0);
}

static void add_seed(GPtrArray *seeds, const uint8_t *input, size_t size)
{
	g_ptr_array_add(seeds, g_bytes_new(input, size));
}

static void *setup(GPtrArray *seeds)
{
	static const uint8_t answered[] = {3, 0x20, 0x41, 0x82, 6, 0, 0, 6, 1, 0, 6, 2, 0};
	static const uint8_t changed[] = {1, 0, 6, 0, 1, 15, 9, 6, 0, 2, 5, 4, 3, 0x81, 6, 0, 0};
	static const uint8_t lost[] = {1, 0, 0xF9, 2, 0, 24, 3, 0, 24, 5, 4, 20, 0, 1, 3};
	struct port *port = g_new0(struct port, 1);
	struct options *options = options_new();

	add_seed(seeds, answered, sizeof(answered));
	add_seed(seeds, changed, sizeof(changed));
	add_seed(seeds, lost, sizeof(lost));
	options->transaction_timeout = TIMEOUT_MS;
	options->transaction_retries = 2;
	port->base.ops = &ops;
	port->base.max_outstanding = 8;
	port->log = port->context.log = log_new_null();
	port->context.rt = runtime_new(RUNTIME_VIRTUAL);
	options_slot_init(&port->context.options);
	event_bus_init(&port->context.bus);
	slot_publish(&port->context.options, options);
	port->owner = actor_new(port->context.rt, "owner");
	return port;
}

static void make(struct port *port)
{
	struct vendor_client client = {.actor = port->owner, .arg = port, .receive = serve};

	port->busy = false;
	port->waiting = port->n_sent = 0;
	port->mad = mad_new(&port->context, &port->base, NULL);
	mad_serve(port->mad, IBA_CLASS_SUBN_ADM, &client);
	mad_serve(port->mad, IBA_CLASS_SUBN_LID, &client);
	mad_start(port->mad);
	mad_set_own_lid(port->mad, 7, 0);
}

static void run(void *state, const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data, size};
	struct port *port = state;

	make(port);
	for (unsigned int n = fuzz_octet(&bytes) % REQUESTS_MAX; n > 0; n--)
		send_request(port, fuzz_octet(&bytes));
	pass_time(port, 0);
	for (unsigned int i = 0; i < STEPS_MAX && bytes.left; i++)
		step(port, &bytes);
	port->busy = false;
	pass_time(port, 1000 * TIMEOUT_MS * NS_PER_MS);
	fuzz_expect(port->waiting == 0);
	mad_stop(port->mad);
	mad_free(port->mad);
	for (unsigned int i = 0; i < G_N_ELEMENTS(port->base.admissions); i++)
		vendor_serve(&port->base, (uint8_t)i, NULL, NULL);
	event_bus_clear(&port->context.bus);
	event_bus_init(&port->context.bus);
}

static void teardown(void *state)
{
	struct port *port = state;

	actor_stop(port->owner);
	actor_free(port->owner);
	slot_clear(&port->context.options);
	event_bus_clear(&port->context.bus);
	runtime_free(port->context.rt);
	log_free(port->log);
	g_free(port);
}

const struct fuzz_target fuzz_target = {
	.name = "mad",
	.max_size = 512,
	.runs = 3000,
	.setup = setup,
	.run = run,
	.teardown = teardown,
};

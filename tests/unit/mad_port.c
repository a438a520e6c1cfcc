// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See mad_port.h. */
#include <check.h>
#include <string.h>

#include "mad/mad_private.h"
#include "tests/unit/mad_port.h"

struct runtime *rt;
static struct log *logger;
struct context context;
struct port port;
struct options *options;
struct mad *mad;
struct actor *owner;
static struct timer tick;
unsigned int done_ok, done_status, done_timeout, done_cancelled;
unsigned int never_sent; /* of requests that were not answered */
unsigned int done_dead, done_fell_back;

static bool port_bind(struct vendor *vendor, uint8_t mgmt_class, bool manager,
		      const struct vendor_client *client, GError **error)
{
	(void)vendor;
	(void)error;
	ck_assert(manager == !context.gets_only || mgmt_class == IBA_CLASS_PERF);
	port.clients[mgmt_class] = *client;
	return true;
}

static bool port_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		      size_t length, unsigned int timeout_ms)
{
	struct sent sent = {.to = *to, .when = runtime_now(rt), .timeout_ms = timeout_ms};

	(void)vendor;
	if (port.busy) {
		port.busy--;
		return false;
	}
	memcpy(sent.data, data, MIN(length, sizeof(sent.data)));
	g_array_append_val(port.sent, sent);
	return true;
}

static void port_close(struct vendor *vendor)
{
	(void)vendor;
}

static const struct vendor_ops ops = {.bind = port_bind, .send = port_send, .close = port_close};

static void get_options(void *object)
{
	options_ref(object);
}

static void put_options(void *object)
{
	options_unref(object);
}

static void on_tick(struct timer *timer)
{
	(void)timer;
}

void setup(void)
{
	memset(&context, 0, sizeof(context));
	memset(&port, 0, sizeof(port));
	done_ok = done_status = done_timeout = done_cancelled = never_sent = done_dead = 0;
	done_fell_back = 0;
	rt = runtime_new(RUNTIME_VIRTUAL);
	logger = log_new_null();
	context.rt = rt;
	context.log = logger;
	slot_init(&context.options, get_options, put_options);
	event_bus_init(&context.bus);
	options = options_new();
	options->transaction_timeout = TIMEOUT_MS;
	options->transaction_retries = 3;
	options->max_wire_smps = 0;
	slot_publish(&context.options, options_ref(options));
	port.base.ops = &ops;
	port.base.max_outstanding = 1000;
	port.sent = g_array_new(FALSE, FALSE, sizeof(struct sent));
	owner = actor_new(rt, "owner");
	timer_init(&tick, owner, on_tick);
	mad = NULL;
}

void start(void)
{
	mad = mad_new(&context, &port.base, NULL);
	ck_assert_ptr_nonnull(mad);
	mad_start(mad);
}

void teardown(void)
{
	actor_stop(owner);
	if (mad) {
		mad_stop(mad);
		mad_free(mad);
	}
	actor_free(owner);
	for (unsigned int i = 0; i < G_N_ELEMENTS(port.base.admissions); i++)
		vendor_serve(&port.base, (uint8_t)i, NULL, NULL);
	slot_clear(&context.options);
	event_bus_clear(&context.bus);
	options_unref(options);
	g_array_unref(port.sent);
	log_free(logger);
	runtime_free(rt);
}

/* ---- requests ---- */

static void on_done(struct mad_request *request)
{
	struct tracked *tracked = (struct tracked *)request;

	done_ok += request->result == MAD_OK;
	done_status += request->result == MAD_STATUS;
	done_timeout += request->result == MAD_TIMEOUT;
	done_cancelled += request->result == MAD_CANCELLED;
	never_sent += !request->sent;
	done_dead += request->dead;
	done_fell_back += request->fell_back;
	if (tracked->order)
		g_array_append_val(tracked->order, tracked->number);
	g_free(tracked);
}

struct tracked *make(uint64_t target, uint8_t hops)
{
	struct tracked *tracked = g_new0(struct tracked, 1);

	tracked->mad.target = target;
	tracked->mad.route.hops = hops;
	for (uint8_t i = 1; i <= hops; i++)
		tracked->mad.route.path[i] = 10 + i;
	tracked->mad.method = IBA_METHOD_GET;
	tracked->mad.attribute = IBA_ATTR_PORT_INFO;
	tracked->mad.modifier = 3;
	tracked->mad.owner = owner;
	tracked->mad.done = on_done;
	return tracked;
}

/* Time stands still in an idle runtime, hence the timer. */
void run_ms(uint64_t ms)
{
	if (ms)
		timer_start(&tick, ms * NS_PER_MS);
	runtime_run(rt, NULL, NULL, runtime_now(rt) + ms * NS_PER_MS);
}

void send_one(uint64_t target, uint8_t hops)
{
	mad_send(mad, &make(target, hops)->mad);
	run_ms(0);
}

void expect_nothing_left(void)
{
	ck_assert_uint_eq(count(smp_waiting), 0);
	ck_assert_uint_eq(count(smp_on_wire), 0);
	ck_assert_uint_eq(mad->on_wire, 0);
	ck_assert_uint_eq(g_hash_table_size(mad->targets), 0);
	ck_assert_uint_eq(g_hash_table_size(mad->tids.tries), 0);
}

const struct sent *sent_at(unsigned int i)
{
	ck_assert_uint_lt(i, port.sent->len);
	return &g_array_index(port.sent, struct sent, i);
}

uint32_t tid_of(const struct sent *sent)
{
	const uint8_t *tid = sent->data + 12;

	return (uint32_t)tid[0] << 24 | tid[1] << 16 | tid[2] << 8 | tid[3];
}

void deliver(struct vendor_mad *received)
{
	vendor_mad_post(received, &port.clients[received->data[1]]);
	run_ms(0);
}

void answer_from(const struct sent *sent, uint16_t lid, unsigned int at, uint8_t value)
{
	struct vendor_mad *received = vendor_mad_new(&port.base, sent->data, IBA_MAD_BYTES);

	received->remote.lid = lid;
	received->data[3] = IBA_METHOD_GET_RESP;
	if (received->data[1] == IBA_CLASS_SUBN_DIRECTED)
		received->data[4] = 0x80; /* the D bit */
	received->data[8] = 0x12;	  /* high half of the TID: the back end's */
	received->data[64] = 0x5A;
	received->data[at] = value;
	deliver(received);
}

void answer_changed(const struct sent *sent, unsigned int at, uint8_t value)
{
	answer_from(sent, sent->to.lid, at, value);
}

void answer(const struct sent *sent)
{
	answer_changed(sent, 65, 0);
}

void report(const struct sent *sent, enum vendor_status status)
{
	struct vendor_mad *received = vendor_mad_new(&port.base, sent->data, 24);

	received->status = status;
	deliver(received);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The reliable multi-packet protocol (IBA 13.6).
 *
 * The sender may send up to the NewWindowLast that the receiver announced with its last ACK; at the
 * start that is segment 1. If no ACK arrives in time it goes back to the first unacknowledged
 * segment. The receiver keeps segments of its window in any order, and acknowledges when the window
 * is full, at the end, and when the sender repeats a segment that it has.
 *
 *	sender:    sending --- window full, all sent ---> waiting for an ACK
 *	              ^                                     |   |
 *	              +--- ACK with room; time is up -------+   +--- ACK of the last: delivered
 *	                                                        +--- STOP, ABORT: stopped
 *	                                                        +--- no try left, or no time: silent
 *
 * Both are plain state machines: packets go out through transmit, which may directly call the other
 * end and from there this one again. So the state is updated before a packet is sent, and the
 * sender's loop is not entered twice.
 */
#include <string.h>

#include "libvendor/rmpp.h"

#define FIXED_HEADERS (RMPP_AT_DATA2 + 4) /* MAD and RMPP header */

static uint32_t read32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

static void write32(uint8_t *at, uint32_t value)
{
	at[0] = value >> 24;
	at[1] = value >> 16;
	at[2] = value >> 8;
	at[3] = value;
}

static void set_rmpp(uint8_t *mad, uint8_t type, uint8_t flags, uint32_t segment, uint32_t data2)
{
	mad[RMPP_AT_VERSION] = IBA_RMPP_VERSION;
	mad[RMPP_AT_TYPE] = type;
	mad[RMPP_AT_FLAGS] = (mad[RMPP_AT_FLAGS] & 0xF8) | flags;
	mad[RMPP_AT_STATUS] = IBA_RMPP_NORMAL;
	write32(mad + RMPP_AT_SEGMENT, segment);
	write32(mad + RMPP_AT_DATA2, data2);
}

/* ---- sending ---- */

struct rmpp_send {
	struct timer timer;
	struct rmpp_config config;
	rmpp_transmit_fn *transmit;
	void (*done)(void *arg, enum rmpp_end end);
	void *arg;
	const uint8_t *message;
	size_t length;
	uint32_t segments, next, acked, window_last;
	uint32_t sent;	      /* highest segment, in any try */
	unsigned int headers; /* octets, for this class */
	unsigned int retries; /* left */
	uint64_t wait_ns;     /* for this try */
	uint64_t end_ns;      /* deadline of the transfer; UINT64_MAX: none */
	bool in_loop, over;
	bool ready; /* the caller was told that segments may be sent */
	enum rmpp_end end;
};

/* PayloadLength includes the class header of a segment. */
static void make_segment(const struct rmpp_send *send, uint32_t number, uint8_t mad[IBA_MAD_BYTES])
{
	unsigned int room = IBA_MAD_BYTES - send->headers;
	unsigned int class_header = send->headers - FIXED_HEADERS;
	size_t at = send->headers + (size_t)(number - 1) * room;
	size_t octets = MIN(send->length - at, room);
	uint8_t flags = IBA_RMPP_ACTIVE;
	uint32_t payload = 0;

	memcpy(mad, send->message, send->headers);
	memcpy(mad + send->headers, send->message + at, octets);
	memset(mad + send->headers + octets, 0, room - octets);
	if (number == 1) {
		flags |= IBA_RMPP_FIRST;
		payload = send->segments * class_header + (send->length - send->headers);
	}
	if (number == send->segments) {
		flags |= IBA_RMPP_LAST;
		payload = class_header + octets;
	}
	set_rmpp(mad, IBA_RMPP_DATA, flags, number, payload);
}

/* Sends up to n of the next segments at once; how many were taken. */
static unsigned int send_segments(struct rmpp_send *send, uint32_t first, unsigned int n)
{
	uint8_t mads[RMPP_MANY][IBA_MAD_BYTES];

	for (unsigned int i = 0; i < n; i++)
		make_segment(send, first + i, mads[i]);
	if (send->config.transmit_many)
		return send->config.transmit_many(send->arg, mads, n);
	return send->transmit(send->arg, mads[0]);
}

static bool may_send(const struct rmpp_send *send)
{
	return !send->over && send->next <= MIN(send->window_last, send->segments);
}

static void send_end(struct rmpp_send *send, enum rmpp_end end)
{
	send->over = true;
	send->end = end;
}

/* Waits for the receiver; or reports the end, after which the transfer may be freed. */
static void send_settle(struct rmpp_send *send)
{
	uint64_t now;

	if (send->over) {
		timer_stop(&send->timer);
		send->done(send->arg, send->end);
		return;
	}
	now = actor_now(send->config.actor);
	timer_start(&send->timer, MIN(send->wait_ns, send->end_ns - MIN(now, send->end_ns)));
}

/* How many segments the next call to the device carries. */
static unsigned int batch_of(const struct rmpp_send *send, unsigned int n)
{
	uint32_t left = MIN(send->window_last, send->segments) - send->next + 1;

	return send->config.transmit_many ? MIN(MIN(left, n), RMPP_MANY) : 1;
}

enum rmpp_sent rmpp_send_some(struct rmpp_send *send, unsigned int n)
{
	enum rmpp_sent sent = RMPP_SENT_ALL;

	if (send->in_loop)
		return RMPP_SENT_ALL;
	send->in_loop = true;
	while (may_send(send) && sent == RMPP_SENT_ALL) {
		uint32_t first = send->next, sent_before = send->sent;
		unsigned int batch = batch_of(send, n), taken;

		if (!n) {
			sent = RMPP_SENT_MORE;
			break;
		}
		send->next += batch; /* first, as an ACK may arrive during transmit */
		send->sent = MAX(send->sent, send->next - 1);
		taken = send_segments(send, first, batch);
		n -= taken;
		if (taken < batch) {
			send->next = first + taken;
			send->sent = MAX(sent_before, send->next - 1);
			sent = RMPP_SENT_STUCK;
		}
	}
	send->in_loop = false;
	if (send->over)
		sent = RMPP_SENT_ALL;
	send->ready = sent != RMPP_SENT_ALL;
	send_settle(send);
	return sent;
}

/* Something changed: sends, or reports that it could. */
static void send_on(struct rmpp_send *send)
{
	if (!send->config.ready) {
		rmpp_send_some(send, G_MAXUINT);
		return;
	}
	if (may_send(send) && !send->ready) {
		send->ready = true;
		send->config.ready(send->arg);
	}
	send_settle(send);
}

static void send_abort(struct rmpp_send *send, uint8_t status, enum rmpp_end end)
{
	bool in_loop = send->in_loop;
	uint8_t mad[IBA_MAD_BYTES] = {0};

	send_end(send, end);
	memcpy(mad, send->message, send->headers);
	set_rmpp(mad, IBA_RMPP_ABORT, IBA_RMPP_ACTIVE, 0, 0);
	mad[RMPP_AT_STATUS] = status;
	send->in_loop = true;
	send->transmit(send->arg, mad);
	send->in_loop = in_loop;
}

static void send_fire(struct timer *timer)
{
	struct rmpp_send *send = (struct rmpp_send *)timer;

	if (actor_now(send->config.actor) >= send->end_ns) {
		send_abort(send, IBA_RMPP_TOO_LONG, RMPP_SILENT);
	} else if (!send->retries) {
		send_abort(send, IBA_RMPP_TOO_MANY_RETRIES, RMPP_SILENT);
	} else {
		send->retries--;
		send->wait_ns = MIN(2 * send->wait_ns, send->config.wait_max_ns);
		send->next = send->acked + 1;
	}
	send_on(send);
}

struct rmpp_send *rmpp_send_new(const struct rmpp_config *config, const uint8_t *message,
				size_t length, rmpp_transmit_fn *transmit,
				void (*done)(void *arg, enum rmpp_end end), void *arg)
{
	struct rmpp_send *send = g_new0(struct rmpp_send, 1);
	unsigned int headers = rmpp_class(message[1]) ? rmpp_headers(message[1]) : RMPP_HEADERS;
	unsigned int room = IBA_MAD_BYTES - headers;

	g_assert(length >= headers);
	send->config = *config;
	send->transmit = transmit;
	send->done = done;
	send->arg = arg;
	send->headers = headers;
	send->segments = MAX(1, (length - headers + room - 1) / room);
	send->next = send->window_last = 1;
	send->retries = config->retries;
	send->wait_ns = config->wait_ns;
	send->end_ns = config->total_ns ? actor_now(config->actor) + config->total_ns : UINT64_MAX;
	send->message = message;
	send->length = length;
	timer_init(&send->timer, config->actor, send_fire);
	return send;
}

void rmpp_send_start(struct rmpp_send *send)
{
	send_on(send);
}

/* 13.6.3.3: an old ACK has no effect; an impossible one ends the transfer. */
static void send_acked(struct rmpp_send *send, uint32_t segment, uint32_t window_last)
{
	if (segment < send->acked)
		return;
	if (segment > send->sent) {
		send_abort(send, IBA_RMPP_SEGMENT_TOO_BIG, RMPP_STOPPED);
		return;
	}
	if (window_last < segment) {
		send_abort(send, IBA_RMPP_WINDOW_TOO_SMALL, RMPP_STOPPED);
		return;
	}
	if (segment > send->acked) {
		send->retries = send->config.retries;
		send->wait_ns = send->config.wait_ns;
	}
	send->acked = segment;
	send->next = MAX(send->next, segment + 1);
	send->window_last = MAX(send->window_last, window_last);
	if (send->acked == send->segments)
		send_end(send, RMPP_DELIVERED);
}

void rmpp_send_handle(struct rmpp_send *send, const uint8_t mad[IBA_MAD_BYTES])
{
	if (send->over)
		return;
	switch (mad[RMPP_AT_TYPE]) {
	case IBA_RMPP_ACK:
		send_acked(send, read32(mad + RMPP_AT_SEGMENT), read32(mad + RMPP_AT_DATA2));
		break;
	case IBA_RMPP_STOP:
	case IBA_RMPP_ABORT:
		send_end(send, RMPP_STOPPED);
		break;
	default:
		return;
	}
	if (!send->in_loop)
		send_on(send);
}

void rmpp_send_free(struct rmpp_send *send)
{
	timer_stop(&send->timer);
	g_free(send);
}

/* ---- receiving ---- */

struct rmpp_receive {
	struct timer timer;
	struct rmpp_config config;
	rmpp_transmit_fn *transmit;
	void (*expired)(void *arg);
	void *arg;
	uint64_t end_ns; /* deadline of the transfer; UINT64_MAX: none */
	GByteArray *message;
	GByteArray *have;  /* one octet per segment */
	uint32_t expected; /* first missing segment */
	uint32_t window_last;
	uint32_t last;		    /* number of the last segment; 0: unknown */
	uint32_t last_data;	    /* octets of data in that */
	unsigned int headers, room; /* octets of headers and data per segment of its class */
	bool complete, ended;
};

static void receive_fire(struct timer *timer)
{
	struct rmpp_receive *receive = (struct rmpp_receive *)timer;

	receive->expired(receive->arg);
}

struct rmpp_receive *rmpp_receive_new(const struct rmpp_config *config, rmpp_transmit_fn *transmit,
				      void (*expired)(void *arg), void *arg)
{
	struct rmpp_receive *receive = g_new0(struct rmpp_receive, 1);

	receive->config = *config;
	receive->transmit = transmit;
	receive->expired = expired;
	receive->arg = arg;
	receive->message = g_byte_array_new();
	receive->have = g_byte_array_new();
	receive->expected = 1;
	receive->window_last = config->window;
	receive->end_ns =
		config->total_ns ? actor_now(config->actor) + config->total_ns : UINT64_MAX;
	receive->headers = RMPP_HEADERS;
	receive->room = RMPP_DATA;
	timer_init(&receive->timer, config->actor, receive_fire);
	return receive;
}

/* A packet back to the sender: inverts the R bit of the method (13.6.2.2). */
static void make_reply(uint8_t out[IBA_MAD_BYTES], const uint8_t *mad, unsigned int headers,
		       uint8_t type, uint8_t status)
{
	memset(out, 0, IBA_MAD_BYTES);
	memcpy(out, mad, headers);
	out[3] ^= IBA_METHOD_RESPONSE;
	set_rmpp(out, type, IBA_RMPP_ACTIVE, 0, 0);
	out[RMPP_AT_STATUS] = status;
}

/* Exhausted resources cause a STOP, all other refusals an ABORT (13.6.2.1). */
static void make_refusal(uint8_t out[IBA_MAD_BYTES], const uint8_t *mad, unsigned int headers,
			 uint8_t status)
{
	make_reply(out, mad, headers,
		   status == IBA_RMPP_RESOURCES_EXHAUSTED ? IBA_RMPP_STOP : IBA_RMPP_ABORT, status);
}

void rmpp_refuse(uint8_t out[IBA_MAD_BYTES], const uint8_t mad[IBA_MAD_BYTES])
{
	unsigned int headers = rmpp_class(mad[1]) ? rmpp_headers(mad[1]) : RMPP_HEADERS;

	make_refusal(out, mad, headers, IBA_RMPP_RESOURCES_EXHAUSTED);
}

static void acknowledge(struct rmpp_receive *receive, const uint8_t *mad, uint32_t segment)
{
	uint8_t out[IBA_MAD_BYTES];

	make_reply(out, mad, receive->headers, IBA_RMPP_ACK, IBA_RMPP_NORMAL);
	write32(out + RMPP_AT_SEGMENT, segment);
	write32(out + RMPP_AT_DATA2, receive->window_last);
	receive->transmit(receive->arg, out);
}

static enum rmpp_progress refuse(struct rmpp_receive *receive, const uint8_t *mad, uint8_t status)
{
	uint8_t out[IBA_MAD_BYTES];

	receive->ended = true;
	make_refusal(out, mad, receive->headers, status);
	receive->transmit(receive->arg, out);
	return RMPP_ENDED;
}

/* Status of an unacceptable DATA packet, or IBA_RMPP_NORMAL. */
static uint8_t check_data(const struct rmpp_receive *receive, const uint8_t *mad)
{
	uint32_t number = read32(mad + RMPP_AT_SEGMENT);
	uint32_t payload = read32(mad + RMPP_AT_DATA2);
	uint32_t class_header = receive->headers - FIXED_HEADERS;
	uint8_t flags = mad[RMPP_AT_FLAGS];

	if (mad[RMPP_AT_VERSION] != IBA_RMPP_VERSION)
		return IBA_RMPP_UNSUP_VERSION;
	if (!number || (number == 1) != !!(flags & IBA_RMPP_FIRST))
		return IBA_RMPP_BAD_FIRST_SEGMENT;
	if (flags & IBA_RMPP_LAST &&
	    (payload < class_header || payload > class_header + receive->room))
		return IBA_RMPP_BAD_LAST_LENGTH;
	if (receive->last &&
	    (number > receive->last || (number == receive->last) != !!(flags & IBA_RMPP_LAST)))
		return IBA_RMPP_BAD_LAST_LENGTH;
	return IBA_RMPP_NORMAL;
}

static void store(struct rmpp_receive *receive, const uint8_t *mad, uint32_t number)
{
	size_t at = receive->headers + (size_t)(number - 1) * receive->room;
	unsigned int room = receive->have->len;

	if (number > room) {
		g_byte_array_set_size(receive->have, number);
		memset(receive->have->data + room, 0, number - room);
		g_byte_array_set_size(receive->message, at + receive->room);
	}
	receive->have->data[number - 1] = 1;
	memcpy(receive->message->data + at, mad + receive->headers, receive->room);
	if (number == 1)
		memcpy(receive->message->data, mad, receive->headers);
	if (mad[RMPP_AT_FLAGS] & IBA_RMPP_LAST) {
		receive->last = number;
		receive->last_data =
			read32(mad + RMPP_AT_DATA2) - (receive->headers - FIXED_HEADERS);
	}
	while (receive->expected <= receive->have->len &&
	       receive->have->data[receive->expected - 1])
		receive->expected++;
}

static enum rmpp_progress receive_data(struct rmpp_receive *receive, const uint8_t *mad)
{
	uint32_t number = read32(mad + RMPP_AT_SEGMENT), got = receive->expected - 1;
	uint8_t status = check_data(receive, mad);
	bool completed = false, full;

	if (status)
		return refuse(receive, mad, status);
	if (number > receive->window_last)
		return RMPP_MORE; /* the sender will repeat it */
	if (number > receive->config.message_max / receive->room)
		return refuse(receive, mad, IBA_RMPP_RESOURCES_EXHAUSTED);
	if (!receive->complete && number > got) {
		store(receive, mad, number);
		got = receive->expected - 1;
		completed = receive->last && got == receive->last;
		receive->complete = completed;
		full = completed || got == receive->window_last || got == 1;
	} else {
		full = number == got; /* the sender missed our ACK */
	}
	if (full) {
		receive->window_last = MAX(receive->window_last, got + receive->config.window);
		acknowledge(receive, mad, got);
	}
	return completed ? RMPP_COMPLETE : RMPP_MORE;
}

enum rmpp_progress rmpp_receive_handle(struct rmpp_receive *receive,
				       const uint8_t mad[IBA_MAD_BYTES])
{
	uint64_t now = actor_now(receive->config.actor);

	if (receive->ended)
		return RMPP_MORE;
	timer_start(&receive->timer,
		    MIN(receive->config.expire_ns, receive->end_ns - MIN(now, receive->end_ns)));
	if (!receive->have->len && rmpp_class(mad[1])) { /* all packets have the same class */
		receive->headers = rmpp_headers(mad[1]);
		receive->room = IBA_MAD_BYTES - receive->headers;
	}
	switch (mad[RMPP_AT_TYPE]) {
	case IBA_RMPP_DATA:
		return receive_data(receive, mad);
	case IBA_RMPP_STOP:
	case IBA_RMPP_ABORT:
		if (receive->complete)
			return RMPP_MORE;
		receive->ended = true;
		return RMPP_ENDED;
	default:
		return refuse(receive, mad, IBA_RMPP_BAD_TYPE);
	}
}

const uint8_t *rmpp_receive_message(const struct rmpp_receive *receive, size_t *length)
{
	g_assert(receive->complete);
	*length =
		receive->headers + (size_t)(receive->last - 1) * receive->room + receive->last_data;
	return receive->message->data;
}

void rmpp_receive_forget(struct rmpp_receive *receive)
{
	g_assert(receive->complete);
	g_byte_array_free(receive->message, TRUE);
	receive->message = g_byte_array_new();
}

void rmpp_receive_free(struct rmpp_receive *receive)
{
	timer_stop(&receive->timer);
	g_byte_array_free(receive->message, TRUE);
	g_byte_array_free(receive->have, TRUE);
	g_free(receive);
}

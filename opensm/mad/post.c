// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs that are sent once without expecting an answer: responses and unsolicited MADs. */
#include <string.h>

#include "mad/mad_private.h"

struct outgoing {
	struct vendor_message out; /* first: how it goes out in segments */
	struct message message;
	struct mad *mad;
	struct mad_held held;
};

static struct outgoing *outgoing_of(struct message *message)
{
	return container_of(message, struct outgoing, message);
}

static void outgoing_free(struct outgoing *outgoing, enum vendor_end end)
{
	if (outgoing->held.give_back)
		outgoing->held.give_back(&outgoing->held, outgoing->out.to.lid, end);
	vendor_mad_free(outgoing->out.request);
	g_free(outgoing->out.data);
	g_free(outgoing);
}

static void transfer_ended(struct vendor_message *message, enum vendor_end end)
{
	struct outgoing *outgoing = (struct outgoing *)message;
	struct counters *counters = &outgoing->mad->context->counters;

	if (end == VENDOR_SILENT)
		counter_inc(counters, rmpp_unacknowledged);
	else if (end == VENDOR_STOPPED)
		counter_inc(counters, rmpp_stopped);
	else if (end == VENDOR_REPEATED)
		counter_inc(counters, rmpp_repeated);
	else if (end == VENDOR_DROPPED)
		counter_inc(counters, mad_replies_dropped);
	outgoing_free(outgoing, end);
}

/* A full device drops it: the requester's own retry repairs that. */
static bool send_mad(struct mad *mad, const struct vendor_address *to, const uint8_t *data,
		     size_t length)
{
	bool sent;

	if (mad->context->gets_only) /* a dry run sends no responses and no notices */
		return false;
	trim_count(mad);
	sent = vendor_send(mad->vendor, to, data, length, 0);
	if (!sent)
		counter_inc(&mad->context->counters, mad_replies_dropped);
	else if (data[1] != IBA_CLASS_SUBN_ADM)
		counter_inc(&mad->context->counters, smp_unicasts);
	return sent;
}

static void run_outgoing(struct message *message)
{
	struct outgoing *outgoing = outgoing_of(message);
	struct vendor_message *out = &outgoing->out;
	struct mad *mad = outgoing->mad;
	bool sent;

	if (vendor_is_message(out->data, out->length) && !mad->context->gets_only) {
		trim_count(mad);
		vendor_send_message(mad->vendor, out);
		return;
	}
	sent = send_mad(mad, &out->to, out->data, out->length);
	outgoing_free(outgoing, sent ? VENDOR_DELIVERED : VENDOR_DROPPED);
}

static void drop_outgoing(struct message *message)
{
	outgoing_free(outgoing_of(message), VENDOR_DROPPED);
}

static struct outgoing *outgoing_new(struct mad *mad, const struct vendor_address *to,
				     uint8_t *data, size_t length)
{
	struct outgoing *outgoing = g_new0(struct outgoing, 1);

	outgoing->message.run = run_outgoing;
	outgoing->message.drop = drop_outgoing;
	outgoing->mad = mad;
	outgoing->out.to = *to;
	outgoing->out.data = data;
	outgoing->out.length = length;
	outgoing->out.done = transfer_ended;
	return outgoing;
}

/* Messages in segments and what a pool answers: the SA's, and not on the thread of SMPs. */
static void post_segments(struct mad *mad, struct outgoing *outgoing)
{
	actor_post(mad->segments, &outgoing->message);
}

void mad_post(struct mad *mad, const struct vendor_address *to, uint8_t *data, size_t length)
{
	actor_post(mad->actor, &outgoing_new(mad, to, data, length)->message);
}

void mad_reply_from_pool(struct mad *mad, struct vendor_mad *to, uint8_t *data, size_t length,
			 const struct mad_held *held)
{
	struct outgoing *outgoing = outgoing_new(mad, &to->remote, data, length);

	outgoing->out.request = to;
	if (held)
		outgoing->held = *held;
	post_segments(mad, outgoing);
}

void mad_reply(struct mad *mad, struct vendor_mad *to, uint8_t *data, size_t length,
	       const struct mad_held *held)
{
	if (vendor_is_message(data, length) || (held && held->give_back)) {
		mad_reply_from_pool(mad, to, data, length, held);
		return;
	}
	send_mad(mad, &to->remote, data, length);
	vendor_mad_free(to);
	g_free(data);
}

void mad_reply_smp(struct mad *mad, struct vendor_mad *to, const struct iba_smp *smp)
{
	uint8_t *wire = g_memdup2(to->data, IBA_MAD_BYTES);
	struct iba_dr_smp directed;

	if (smp->header.mgmt_class == IBA_CLASS_SUBN_DIRECTED) {
		wire_decode(&iba_dr_smp_type, to->data, &directed);
		directed.method = smp->header.method;
		directed.m_key = smp->m_key;
		directed.direction = 1;
		directed.status = smp->header.status;
		memcpy(directed.data, smp->data, sizeof(directed.data));
		wire_encode(&iba_dr_smp_type, &directed, wire);
	} else {
		wire_encode(&iba_smp_type, smp, wire);
	}
	mad_reply(mad, to, wire, IBA_MAD_BYTES, NULL);
}

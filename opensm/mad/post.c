// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What is sent once and expects no answer: responses, and MADs that nobody asked for. */
#include <string.h>

#include "mad/mad_private.h"

struct outgoing {
	struct message message;
	struct mad *mad;
	atomic_size_t *held; /* counts n_held octets of data; may be NULL */
	size_t n_held;
	struct vendor_address to;
	uint8_t *data;
	size_t length;
};

static void outgoing_free(struct outgoing *outgoing)
{
	g_free(outgoing->data);
	if (outgoing->held)
		atomic_fetch_sub(outgoing->held, outgoing->n_held);
	g_free(outgoing);
}

static void run_outgoing(struct message *message)
{
	struct outgoing *outgoing = (struct outgoing *)message;

	/* A device that takes no more drops it: the requester's own retry comes to the rescue. */
	if (!vendor_send(outgoing->mad->vendor, &outgoing->to, outgoing->data, outgoing->length, 0))
		counter_inc(&outgoing->mad->context->counters, mad_replies_dropped);
	else if (outgoing->data[1] != IBA_CLASS_SUBN_ADM)
		counter_inc(&outgoing->mad->context->counters, smp_unicasts);
	outgoing_free(outgoing);
}

static void drop_outgoing(struct message *message)
{
	outgoing_free((struct outgoing *)message);
}

static void post(struct mad *mad, const struct vendor_address *to, uint8_t *data, size_t length,
		 atomic_size_t *held, size_t n)
{
	struct outgoing *outgoing = g_new0(struct outgoing, 1);

	outgoing->message.run = run_outgoing;
	outgoing->message.drop = drop_outgoing;
	outgoing->mad = mad;
	outgoing->to = *to;
	outgoing->data = data;
	outgoing->length = length;
	outgoing->held = held;
	outgoing->n_held = n;
	actor_post(mad->actor, &outgoing->message);
}

void mad_post(struct mad *mad, const struct vendor_address *to, uint8_t *data, size_t length)
{
	post(mad, to, data, length, NULL, 0);
}

void mad_reply(struct mad *mad, const struct vendor_mad *to, uint8_t *data, size_t length)
{
	mad_post(mad, &to->remote, data, length);
}

void mad_reply_smp(struct mad *mad, const struct vendor_mad *to, const struct iba_smp *smp)
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
	mad_reply(mad, to, wire, IBA_MAD_BYTES);
}

void mad_reply_held(struct mad *mad, const struct vendor_mad *to, uint8_t *data, size_t length,
		    atomic_size_t *held, size_t n)
{
	post(mad, &to->remote, data, length, held, n);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP transfers of agents, which send and receive whole messages; each segment is a packet of the
 * fabric that can be lost.
 *
 * A transfer of an agent is found by TransactionID, class, remote LID and direction. To receive a
 * response in segments the agent must have a waiting request. For a request sent in segments the
 * timeout starts when the last segment was acknowledged.
 *
 * Times are the kernel's: a sender waits for an ACK as long as for a response, but at most two
 * seconds, and makes as many retries without progress as its client requested.
 */
#include <errno.h>
#include <string.h>

#include "libvendor/sim/agent.h"

#define ACK_MS_MAX 2000
#define FORGET_NS (10 * NS_PER_S) /* for a receiver, after the last packet */
#define WINDOW 64
#define MESSAGE_MAX (128U << 20)

struct transfer {
	struct agent *agent;
	struct vendor_address remote;
	uint64_t tid;
	uint8_t mgmt_class;
	bool asks;		/* a response is expected */
	struct rmpp_send *send; /* sending, or else: */
	struct rmpp_receive *receive;
	uint8_t *message;	       /* to be sent */
	uint8_t header[IBA_MAD_BYTES]; /* of message, to be returned on failure */
};

static unsigned int transfer_hash(const void *key)
{
	const struct transfer *transfer = key;
	uint64_t tid = transfer->tid;

	return (unsigned int)(tid ^ tid >> 32) * 31 + transfer->remote.lid;
}

static gboolean transfer_equal(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;

	return x->tid == y->tid && x->mgmt_class == y->mgmt_class &&
	       x->remote.lid == y->remote.lid && !x->send == !y->send;
}

static void transfer_free(void *data)
{
	struct transfer *transfer = data;

	g_clear_pointer(&transfer->send, rmpp_send_free);
	g_clear_pointer(&transfer->receive, rmpp_receive_free);
	g_free(transfer->message);
	g_free(transfer);
}

static void transfer_end(struct transfer *transfer)
{
	g_hash_table_remove(transfer->agent->transfers, transfer);
}

static bool transmit(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	struct transfer *transfer = arg;

	agent_send_packet(transfer->agent, &transfer->remote, mad, IBA_MAD_BYTES);
	return true;
}

/* ---- sending ---- */

static void send_failed(struct transfer *transfer, struct sim_pending *pending)
{
	struct agent *agent = transfer->agent;

	if (pending)
		agent_pending_end(pending);
	else if (transfer->asks)
		return; /* the response arrived before the last ACK */
	agent->receive(agent->arg, VENDOR_TIMED_OUT, &transfer->remote, transfer->header,
		       IBA_MAD_BYTES);
}

static void send_done(void *arg, enum rmpp_end end)
{
	struct transfer *transfer = arg;
	struct sim_pending *pending =
		transfer->asks ? agent_pending(transfer->agent, transfer->header) : NULL;

	if (end != RMPP_DELIVERED)
		send_failed(transfer, pending);
	else if (pending)
		agent_pending_wait(pending);
	transfer_end(transfer);
}

static unsigned int ack_ms(const struct agent_send *send)
{
	return send->timeout_ms ? MIN(send->timeout_ms, ACK_MS_MAX) : ACK_MS_MAX;
}

int agent_rmpp_send(struct agent *agent, const struct agent_send *send)
{
	const struct rmpp_config config = {
		.actor = agent->sim->actor,
		.wait_ns = ack_ms(send) * NS_PER_MS,
		.wait_max_ns = ack_ms(send) * NS_PER_MS,
		.retries = send->retries,
	};
	struct transfer *transfer = g_new0(struct transfer, 1);
	const uint8_t *message = send->data;

	transfer->agent = agent;
	transfer->remote = send->to;
	transfer->tid = sim_read64(message + SIM_MAD_TID);
	transfer->mgmt_class = message[SIM_MAD_CLASS];
	transfer->asks =
		!(message[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE) && agent_pending(agent, message);
	memcpy(transfer->header, message, MIN(send->length, sizeof(transfer->header)));
	transfer->message = g_memdup2(message, send->length);
	transfer->send = rmpp_send_new(&config, transfer->message, send->length, transmit,
				       send_done, transfer);
	if (g_hash_table_contains(agent->transfers, transfer)) {
		transfer_free(transfer);
		return -EINVAL;
	}
	g_hash_table_add(agent->transfers, transfer);
	rmpp_send_start(transfer->send);
	return 0;
}

/* ---- receiving ---- */

static void receive_expired(void *arg)
{
	transfer_end(arg);
}

static struct transfer *find_transfer(const struct agent *agent, const struct sim_packet *packet,
				      bool sending)
{
	struct transfer key = {
		.remote = {.lid = packet->slid},
		.tid = sim_read64(packet->data + SIM_MAD_TID),
		.mgmt_class = packet->data[SIM_MAD_CLASS],
		/* Only whether it is NULL matters. */
		.send = sending ? (struct rmpp_send *)packet : NULL,
	};

	return g_hash_table_lookup(agent->transfers, &key);
}

static struct transfer *receive_new(struct agent *agent, const struct sim_packet *packet)
{
	const struct rmpp_config config = {
		.actor = agent->sim->actor,
		.expire_ns = FORGET_NS,
		.window = WINDOW,
		.message_max = MESSAGE_MAX,
	};
	struct transfer *transfer = g_new0(struct transfer, 1);

	transfer->agent = agent;
	transfer->remote = agent_remote(packet);
	transfer->tid = sim_read64(packet->data + SIM_MAD_TID);
	transfer->mgmt_class = packet->data[SIM_MAD_CLASS];
	transfer->receive = rmpp_receive_new(&config, transmit, receive_expired, transfer);
	g_hash_table_add(agent->transfers, transfer);
	return transfer;
}

static void received(struct transfer *transfer)
{
	struct agent *agent = transfer->agent;
	size_t length;
	const uint8_t *message = rmpp_receive_message(transfer->receive, &length);

	if (message[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE) {
		struct sim_pending *pending = agent_pending(agent, message);

		if (!pending)
			return; /* it arrived too late */
		agent_pending_end(pending);
	}
	agent_hand_over(agent, &transfer->remote, message, length);
}

static bool receive_packet(struct agent *agent, const struct sim_packet *packet)
{
	struct transfer *transfer = find_transfer(agent, packet, false);

	if (!transfer) {
		if (packet->data[RMPP_AT_TYPE] != IBA_RMPP_DATA ||
		    (packet->data[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE &&
		     !agent_pending(agent, packet->data)))
			return false;
		transfer = receive_new(agent, packet);
	}
	switch (rmpp_receive_handle(transfer->receive, packet->data)) {
	case RMPP_COMPLETE:
		received(transfer);
		break;
	case RMPP_ENDED:
		transfer_end(transfer);
		break;
	default:
		break;
	}
	return true;
}

static bool send_packet(struct agent *agent, const struct sim_packet *packet)
{
	struct transfer *transfer = find_transfer(agent, packet, true);

	if (transfer)
		rmpp_send_handle(transfer->send, packet->data);
	return transfer != NULL;
}

bool agent_rmpp_packet(struct agent *agent, const struct sim_packet *packet)
{
	switch (packet->data[RMPP_AT_TYPE]) {
	case IBA_RMPP_DATA:
		return receive_packet(agent, packet);
	case IBA_RMPP_ACK:
		return send_packet(agent, packet);
	default: /* STOP and ABORT may be meant for either end */
		return send_packet(agent, packet) || receive_packet(agent, packet);
	}
}

void agent_rmpp_init(struct agent *agent)
{
	agent->transfers =
		g_hash_table_new_full(transfer_hash, transfer_equal, transfer_free, NULL);
}

void agent_rmpp_clear(struct agent *agent)
{
	g_hash_table_destroy(agent->transfers);
}

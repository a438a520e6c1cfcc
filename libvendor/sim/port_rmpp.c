// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP transfers of vendor ports: class SubnAdm sends and receives whole messages, each segment of
 * which is a packet of the fabric that can get lost.
 *
 * A transfer is found by TransactionID, remote LID and direction. One that receives a response
 * belongs to the client that asked, one that receives a request to the manager of the class.
 */
#include <string.h>

#include "libvendor/sim/port.h"

#define ACK_NS (500 * NS_PER_MS)
#define RETRIES 8
#define WINDOW 64

struct transfer {
	struct sim_vendor *vendor;
	struct vendor_address remote;
	uint64_t tid;
	struct rmpp_send *send; /* or */
	struct rmpp_receive *receive;
	uint8_t header[IBA_MAD_BYTES]; /* of what is sent, to be handed back on failure */
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

	return x->tid == y->tid && x->remote.lid == y->remote.lid && !x->send == !y->send;
}

static void transfer_free(void *data)
{
	struct transfer *transfer = data;

	g_clear_pointer(&transfer->send, rmpp_send_free);
	g_clear_pointer(&transfer->receive, rmpp_receive_free);
	g_free(transfer);
}

static void transfer_end(struct transfer *transfer)
{
	g_hash_table_remove(transfer->vendor->transfers, transfer);
}

static struct rmpp_config config_of(const struct sim_vendor *vendor)
{
	return (struct rmpp_config){
		.actor = vendor->sim->actor,
		.ack_ns = ACK_NS,
		.retries = RETRIES,
		.window = WINDOW,
	};
}

static void transmit(void *arg, const uint8_t mad[IBA_MAD_BYTES])
{
	struct transfer *transfer = arg;

	port_send_packet(transfer->vendor, &transfer->remote, mad);
}

/* ---- sending ---- */

static void send_done(void *arg, bool delivered)
{
	struct transfer *transfer = arg;

	if (!delivered)
		port_give_back(transfer->vendor, transfer->header, sizeof(transfer->header),
			       &transfer->remote, VENDOR_TIMED_OUT);
	transfer_end(transfer);
}

void port_rmpp_send(struct sim_vendor *vendor, const struct vendor_address *to,
		    const uint8_t *message, size_t length)
{
	struct rmpp_config config = config_of(vendor);
	struct transfer *transfer = g_new0(struct transfer, 1);

	transfer->vendor = vendor;
	transfer->remote = *to;
	transfer->tid = sim_read64(message + SIM_MAD_TID);
	memcpy(transfer->header, message, MIN(length, sizeof(transfer->header)));
	transfer->send = rmpp_send_new(&config, message, length, transmit, send_done, transfer);
	if (g_hash_table_contains(vendor->transfers, transfer)) {
		port_give_back(vendor, transfer->header, sizeof(transfer->header), to,
			       VENDOR_FAILED);
		transfer_free(transfer);
		return;
	}
	g_hash_table_add(vendor->transfers, transfer);
	rmpp_send_start(transfer->send);
}

/* ---- receiving ---- */

static void receive_expired(void *arg)
{
	transfer_end(arg);
}

static struct transfer *find_transfer(struct sim_vendor *vendor, const struct sim_packet *packet,
				      bool sending)
{
	struct transfer key = {
		.remote = {.lid = packet->slid},
		.tid = sim_read64(packet->data + SIM_MAD_TID),
		/* Only whether it is NULL counts. */
		.send = sending ? (struct rmpp_send *)packet : NULL,
	};

	return g_hash_table_lookup(vendor->transfers, &key);
}

/* Who receives the message that begins with this packet; NULL: nobody. */
static struct sim_vendor *receiver(struct sim_port *port, const struct sim_packet *packet)
{
	struct sim_pending *pending;

	if (!(packet->data[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE))
		return port_manager(port, packet->data[SIM_MAD_CLASS]);
	pending = port_pending(port, packet->sim, packet->data);
	return pending ? pending->vendor : NULL;
}

static struct transfer *receive_new(struct sim_vendor *vendor, const struct sim_packet *packet)
{
	struct rmpp_config config = config_of(vendor);
	struct transfer *transfer = g_new0(struct transfer, 1);

	transfer->vendor = vendor;
	transfer->remote = port_remote(packet);
	transfer->tid = sim_read64(packet->data + SIM_MAD_TID);
	transfer->receive = rmpp_receive_new(&config, transmit, receive_expired, transfer);
	g_hash_table_add(vendor->transfers, transfer);
	return transfer;
}

static void received(struct transfer *transfer)
{
	struct sim_vendor *vendor = transfer->vendor;
	size_t length;
	const uint8_t *message = rmpp_receive_message(transfer->receive, &length);
	const struct binding *binding = port_binding(vendor, message[SIM_MAD_CLASS]);

	if (message[SIM_MAD_METHOD] & IBA_METHOD_RESPONSE) {
		struct sim_pending *pending = port_pending(vendor->port, vendor->sim, message);

		if (!pending)
			return; /* it came too late */
		port_pending_end(pending);
	}
	port_hand_over(vendor, binding, &transfer->remote, message, length);
}

static bool receive_packet(struct sim_port *port, struct sim_packet *packet)
{
	struct transfer *transfer = NULL;
	struct sim_vendor *vendor;

	for (GSList *item = port->vendors; item && !transfer; item = item->next)
		transfer = find_transfer(item->data, packet, false);
	if (!transfer) {
		vendor = receiver(port, packet);
		if (!vendor || packet->data[RMPP_AT_TYPE] != IBA_RMPP_DATA)
			return false;
		transfer = receive_new(vendor, packet);
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

static bool send_packet(struct sim_port *port, struct sim_packet *packet)
{
	struct transfer *transfer = NULL;

	for (GSList *item = port->vendors; item && !transfer; item = item->next)
		transfer = find_transfer(item->data, packet, true);
	if (transfer)
		rmpp_send_handle(transfer->send, packet->data);
	return transfer != NULL;
}

bool sim_client_rmpp(struct sim_port *port, struct sim_packet *packet)
{
	switch (packet->data[RMPP_AT_TYPE]) {
	case IBA_RMPP_DATA:
		return receive_packet(port, packet);
	case IBA_RMPP_ACK:
		return send_packet(port, packet);
	default: /* STOP and ABORT may be for either */
		return send_packet(port, packet) || receive_packet(port, packet);
	}
}

void port_rmpp_init(struct sim_vendor *vendor)
{
	vendor->transfers =
		g_hash_table_new_full(transfer_hash, transfer_equal, transfer_free, NULL);
}

void port_rmpp_clear(struct sim_vendor *vendor)
{
	g_hash_table_destroy(vendor->transfers);
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared by the back ends of the vendor layer: dispatch to the back end that opened the port, and
 * the MADs handed to clients. This library lies below the back ends, and knows them only through
 * struct vendor_ops.
 */
#include <stdatomic.h>
#include <string.h>

#include "admission.h"
#include "capture_private.h"
#include "frames.h"
#include "transfers.h"
#include "vendor/vendor_private.h"

#define CLASS_AT 1 /* octets of the MAD header */
#define METHOD_AT 3

GQuark vendor_error_quark(void)
{
	return g_quark_from_static_string("vendor-error");
}

bool vendor_bind(struct vendor *vendor, uint8_t mgmt_class, bool manager,
		 const struct vendor_client *client, GError **error)
{
	bool with_transfers = manager && mgmt_class == IBA_CLASS_SUBN_ADM &&
			      vendor->rmpp != VENDOR_RMPP_NONE && !vendor->transfers;

	if (with_transfers) /* before anything arrives */
		vendor->transfers = transfers_new(vendor, client);
	if (vendor->ops->bind(vendor, mgmt_class, manager, client, error))
		return true;
	if (with_transfers)
		transfers_free(atomic_exchange(&vendor->transfers, NULL));
	return false;
}

void vendor_use_kernel_rmpp(struct vendor *vendor)
{
	if (vendor->rmpp == VENDOR_RMPP_OWN)
		vendor->rmpp = VENDOR_RMPP_KERNEL;
}

void vendor_serve(struct vendor *vendor, uint8_t mgmt_class, const struct vendor_client *client,
		  const struct vendor_shares *shares)
{
	struct admission *new = client ? admission_new(client, shares) : NULL;

	admission_close(atomic_exchange(&vendor->admissions[mgmt_class], new));
}

void vendor_log_frames(struct vendor *vendor, struct log *log)
{
	vendor->log = log;
}

bool vendor_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		 size_t length, unsigned int timeout_ms)
{
	uint64_t number = 0;

	frames_log(vendor->log, "sent", to, data, length); /* before any answer to it */
	if (vendor->tap)
		number = tap_sending(vendor->tap, to, data, length);
	if (vendor->ops->send(vendor, to, data, length, timeout_ms))
		return true;
	frames_log(vendor->log, "not sent, as the device does not accept more MADs:", to, data,
		   length);
	if (vendor->tap)
		tap_refused(vendor->tap, number);
	return false;
}

/* With a tap or a log of frames each is told of on its own, in the order of the wire. */
unsigned int vendor_send_many(struct vendor *vendor, const struct vendor_address *to,
			      const uint8_t (*mads)[IBA_MAD_BYTES], unsigned int n)
{
	unsigned int taken = 0;

	if (!vendor->tap && !frames_are_logged(vendor->log))
		return vendor->ops->send_many(vendor, to, mads, n);
	while (taken < n && vendor_send(vendor, to, mads[taken], IBA_MAD_BYTES, 0))
		taken++;
	return taken;
}

void vendor_send_message(struct vendor *vendor, struct vendor_message *message)
{
	struct transfers *transfers = vendor->transfers;
	bool sent;

	g_assert(vendor_is_message(message->data, message->length));
	if (transfers) {
		transfers_send(transfers, message);
		return;
	}
	sent = vendor_send(vendor, &message->to, message->data, message->length, 0);
	g_clear_pointer(&message->data, g_free);
	g_clear_pointer(&message->request, vendor_mad_free);
	message->done(message, sent ? VENDOR_DELIVERED : VENDOR_DROPPED);
}

bool vendor_set_is_sm(struct vendor *vendor, bool on, GError **error)
{
	return vendor->ops->set_is_sm(vendor, on, error);
}

uint64_t vendor_port_guid(const struct vendor *vendor)
{
	return vendor->port_guid;
}

const char *vendor_name(const struct vendor *vendor)
{
	return atomic_load(&vendor->name);
}

void vendor_set_name(struct vendor *vendor, const char *format, ...)
{
	g_autofree char *name = NULL;
	va_list arguments;

	va_start(arguments, format);
	name = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	atomic_store(&vendor->name, g_intern_string(name));
}

unsigned int vendor_max_outstanding(const struct vendor *vendor)
{
	return vendor->max_outstanding;
}

void vendor_close(struct vendor *vendor)
{
	struct admission *admissions[G_N_ELEMENTS(vendor->admissions)];
	struct vendor_watch *watch;
	struct transfers *transfers;
	struct tap *tap;

	if (!vendor)
		return;
	tap = vendor->tap;
	watch = vendor->watch;
	transfers = vendor->transfers;
	for (unsigned int i = 0; i < G_N_ELEMENTS(admissions); i++)
		admissions[i] = atomic_load(&vendor->admissions[i]);
	transfers_close(transfers); /* sends its last packets while the port is open */
	vendor->ops->close(vendor);
	vendor_unwatch(watch);
	transfers_free(transfers); /* the back end posts nothing any more */
	for (unsigned int i = 0; i < G_N_ELEMENTS(admissions); i++)
		admission_close(admissions[i]);
	tap_free(tap);
}

struct vendor_mad *vendor_mad_new(struct vendor *vendor, const uint8_t *data, size_t length)
{
	struct vendor_mad *mad = g_malloc(sizeof(*mad) + length);

	memset(mad, 0, sizeof(*mad));
	mad->vendor = vendor;
	mad->length = length;
	if (data)
		memcpy(mad->data, data, length);
	return mad;
}

void vendor_mad_free(struct vendor_mad *mad)
{
	if (mad && mad->admission)
		admission_leave(mad->admission, mad->remote.lid);
	g_free(mad);
}

static void mad_run(struct message *message)
{
	struct vendor_mad *mad = (struct vendor_mad *)message;

	mad->client.receive(mad->client.arg, mad);
}

static void mad_drop(struct message *message)
{
	vendor_mad_free((struct vendor_mad *)message);
}

/* Admission for an unsolicited MAD; NULL: it goes to the client that bound the class. */
static struct admission *admission_for(const struct vendor_mad *mad)
{
	if (mad->status != VENDOR_RECEIVED || mad->length < iba_mad_header_bytes ||
	    mad->data[METHOD_AT] & IBA_METHOD_RESPONSE)
		return NULL;
	return atomic_load(&mad->vendor->admissions[mad->data[CLASS_AT]]);
}

static void log_arrival(const struct vendor_mad *mad)
{
	static const char *const events[] = {
		[VENDOR_RECEIVED] = "received",
		[VENDOR_TIMED_OUT] = "no answer to",
		[VENDOR_FAILED] = "the device refused",
	};

	frames_log(mad->vendor->log, events[mad->status], &mad->remote, mad->data, mad->length);
}

/* Handles a MAD from the back end; true: it need not be posted. */
static bool arrive(struct vendor_mad *mad)
{
	struct transfers *transfers = mad->vendor->transfers;
	struct admission *admission = admission_for(mad);

	log_arrival(mad);
	if (mad->status == VENDOR_RECEIVED && mad->vendor->tap)
		tap_received(mad->vendor->tap, mad);
	if (transfers && transfers_take(transfers, mad))
		return true;
	if (!admission)
		return false;
	if (admission_enter(admission, mad))
		admission_queue(mad);
	else
		vendor_mad_free(mad);
	return true;
}

void vendor_mad_hand_on(struct vendor_mad *mad, const struct vendor_client *client)
{
	mad->client = *client;
	mad->message.run = mad_run;
	mad->message.drop = mad_drop;
	if (mad->admission)
		admission_queue(mad);
	else
		actor_post(client->actor, &mad->message);
}

void vendor_mad_post(struct vendor_mad *mad, const struct vendor_client *client)
{
	bool fresh = !mad->message.run; /* from the back end, not passed on by a client */

	mad->client = *client;
	mad->message.run = mad_run;
	mad->message.drop = mad_drop;
	if (!fresh || !arrive(mad))
		actor_post(client->actor, &mad->message);
}

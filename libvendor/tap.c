// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The tap of a vendor port: copies its MADs, with both ends of each packet, into a capture.
 *
 * The vendor layer knows only the remote end of a MAD. The near end is learnt from traffic: answers
 * of this port's own SMA (directed route of no hops, or LID-routed from the port's LID) to Get or
 * Set of PortInfo and P_KeyTable show its LID, GID prefix and P_Keys.
 *
 * Used by senders and by the back end's receiver, under a lock.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "capture_private.h"
#include "vendor/vendor_private.h"

#define P_KEYS 128 /* indices that are remembered */
#define P_KEYS_A_BLOCK 32
#define NS_PER_S UINT64_C(1000000000)

struct tap {
	struct capture *capture;
	uint64_t port_guid;
	pthread_mutex_t lock; /* for the fields below */
	uint16_t lid;
	uint8_t lmc;
	uint64_t gid_prefix;
	uint16_t p_keys[P_KEYS];
};

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- what the tap learns about its port ---- */

static bool is_own_answer(const struct tap *tap, const struct vendor_mad *mad,
			  const struct iba_dr_smp *smp)
{
	if (smp->method != IBA_METHOD_GET_RESP || smp->status != 0)
		return false;
	if (smp->mgmt_class == IBA_CLASS_SUBN_DIRECTED)
		return smp->hop_count == 0 && smp->dr_slid == IBA_LID_PERMISSIVE &&
		       smp->dr_dlid == IBA_LID_PERMISSIVE;
	return mad->remote.lid == tap->lid;
}

static void learn_port(struct tap *tap, const struct iba_dr_smp *smp)
{
	uint8_t port = smp->attribute_modifier & 0xFF;
	struct iba_port_info info;

	wire_decode(&iba_port_info_type, smp->data, &info);
	if (port != 0 && port != info.local_port_num)
		return; /* another port of the CA */
	tap->lid = info.lid;
	tap->lmc = info.lmc;
	tap->gid_prefix = info.gid_prefix;
}

static void learn_p_keys(struct tap *tap, const struct iba_dr_smp *smp)
{
	unsigned int first = (smp->attribute_modifier & 0xFFFF) * P_KEYS_A_BLOCK;
	struct iba_p_key_table table;

	wire_decode(&iba_p_key_table_type, smp->data, &table);
	for (unsigned int i = 0; i < P_KEYS_A_BLOCK && first + i < P_KEYS; i++)
		tap->p_keys[first + i] = table.p_key[i];
}

static void learn(struct tap *tap, const struct vendor_mad *mad)
{
	struct iba_dr_smp smp;

	if (mad->length < IBA_MAD_BYTES || !iba_class_is_smp(mad->data[1]))
		return;
	wire_decode(&iba_dr_smp_type, mad->data, &smp);
	if (!is_own_answer(tap, mad, &smp))
		return;
	if (smp.attribute_id == IBA_ATTR_PORT_INFO)
		learn_port(tap, &smp);
	else if (smp.attribute_id == IBA_ATTR_P_KEY_TABLE && smp.attribute_modifier >> 16 == 0)
		learn_p_keys(tap, &smp);
}

/* ---- packets ---- */

/* Addresses of a sent packet; swap_ends makes them those of a received one. */
static struct capture_address near_end(const struct tap *tap, const struct vendor_address *remote,
				       const uint8_t *data)
{
	struct capture_address address = {.sl = remote->sl, .dlid = remote->lid};
	bool smp = iba_class_is_smp(data[1]);

	address.slid = tap->lid | (remote->path_bits & ((1U << tap->lmc) - 1));
	if (remote->lid == IBA_LID_PERMISSIVE)
		address.slid = IBA_LID_PERMISSIVE;
	address.src_qp = smp ? IBA_QP0 : IBA_QP1;
	address.dest_qp = smp ? IBA_QP0 : remote->qpn;
	address.q_key = smp ? 0 : remote->qkey ? remote->qkey : IBA_QP1_Q_KEY;
	address.p_key = remote->p_key_index < P_KEYS ? tap->p_keys[remote->p_key_index] : 0;
	address.has_grh = remote->has_grh;
	address.hop_limit = remote->hop_limit;
	address.traffic_class = remote->traffic_class;
	address.flow_label = remote->flow_label;
	address.sgid = (struct iba_gid){tap->gid_prefix, tap->port_guid};
	address.dgid = remote->gid;
	return address;
}

static void swap_ends(struct capture_address *address)
{
	const struct capture_address was = *address;

	address->slid = was.dlid;
	address->dlid = was.slid;
	address->src_qp = was.dest_qp;
	address->dest_qp = was.src_qp;
	address->sgid = was.dgid;
	address->dgid = was.sgid;
}

uint64_t tap_sending(struct tap *tap, const struct vendor_address *to, const uint8_t *data,
		     size_t length)
{
	struct capture_address address;
	uint64_t number;

	g_assert(length >= iba_mad_header_bytes);
	pthread_mutex_lock(&tap->lock);
	address = near_end(tap, to, data);
	number = capture_write(tap->capture, realtime_ns(), &address, data, length);
	pthread_mutex_unlock(&tap->lock);
	return number;
}

void tap_refused(struct tap *tap, uint64_t number)
{
	capture_retract(tap->capture, number);
}

void tap_received(struct tap *tap, const struct vendor_mad *mad)
{
	struct capture_address address;

	if (mad->length < iba_mad_header_bytes)
		return; /* not sent on the wire */
	pthread_mutex_lock(&tap->lock);
	learn(tap, mad);
	address = near_end(tap, &mad->remote, mad->data);
	swap_ends(&address);
	capture_write(tap->capture, realtime_ns(), &address, mad->data, mad->length);
	pthread_mutex_unlock(&tap->lock);
}

void tap_free(struct tap *tap)
{
	if (!tap)
		return;
	capture_free(tap->capture);
	pthread_mutex_destroy(&tap->lock);
	g_free(tap);
}

bool vendor_capture(struct vendor *vendor, const char *file, struct log *log, GError **error)
{
	struct capture *capture = capture_new(file, log, error);
	struct tap *tap;

	g_assert(!vendor->tap);
	if (!capture)
		return false;
	tap = g_new0(struct tap, 1);
	tap->capture = capture;
	tap->port_guid = vendor->port_guid;
	tap->gid_prefix = IBA_DEFAULT_GID_PREFIX;
	tap->p_keys[0] = IBA_P_KEY_DEFAULT_FULL;
	pthread_mutex_init(&tap->lock, NULL);
	vendor->tap = tap;
	return true;
}

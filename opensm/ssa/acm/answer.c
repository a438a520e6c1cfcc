// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests, and the one answer that each gets:
 *
 *	request > address_query(), path_query()	what is asked, as a query of the SA
 *		> look()			out of the snapshot
 *		    found, none > respond()
 *		    ask > ask_sa() > on_sa() > respond()
 *
 * A request by address is a query for the path from the first GID of the port to the GID that the
 * snapshot has for the address, in the P_Key of the endpoint; path entries of the request beside
 * it, which say what the path is for, are part of that query.
 */
#include <string.h>

#include "ssa/acm/acm_private.h"

#define SA_CLASS 3
#define SA_CLASS_VERSION 2
#define METHOD_GET 1
#define ATTRIBUTE_PATH_RECORD 0x35
#define P_KEY_BASE 0x7FFF
#define FLAGS_BOTH_WAYS (IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL)
#define FLAGS_ONE_WAY (IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_OUTBOUND)

/* A request that waits for the SA. */
struct pending {
	struct endpoint *endpoint;
	uint64_t id;
	struct acm_msg msg;
};

/* The entries of a message, which may be written if the message may. */
static struct acm_ep_addr_data *entry(const struct acm_msg *msg, unsigned int i)
{
	return (struct acm_ep_addr_data *)msg->data + i;
}

/* ---- answers ---- */

/* record: with ACM_STATUS_SUCCESS, the path as the SA sends it. */
static void respond(struct endpoint *endpoint, const struct acm_msg *request, uint64_t id,
		    uint8_t status, const struct ibv_path_record *record)
{
	struct acm_msg msg = {.hdr = request->hdr};

	msg.hdr.opcode |= ACM_OP_ACK;
	msg.hdr.status = status;
	msg.hdr.length = ACM_MSG_HDR_LENGTH;
	memset(msg.hdr.data, 0, sizeof(msg.hdr.data));
	if (status == ACM_STATUS_SUCCESS) {
		struct acm_ep_addr_data *path = entry(&msg, 0);

		msg.hdr.length += ACM_MSG_EP_LENGTH;
		path->flags = record->reversible_numpath & IBV_PATH_RECORD_REVERSIBLE
				      ? FLAGS_BOTH_WAYS
				      : FLAGS_ONE_WAY;
		path->type = ACM_EP_INFO_PATH;
		path->info.path = *record;
	}
	if (status == ACM_STATUS_SUCCESS && request->hdr.src_out) {
		msg.hdr.length += ACM_MSG_EP_LENGTH;
		*entry(&msg, 1) = *entry(request, request->hdr.src_index);
	}
	/* For the service as a whole ibacm counts requests, and the answers to them itself. */
	if (status == ACM_STATUS_ENODATA)
		endpoint_count(endpoint, ACM_CNTR_NODATA);
	else if (status != ACM_STATUS_SUCCESS)
		endpoint_count(endpoint, ACM_CNTR_ERROR);
	acm_resolve_response(id, &msg);
}

/* ---- the SA ---- */

static bool send_query(struct pending *pending, const struct ibv_path_record *record,
		       void (*on_answer)(struct acm_sa_mad *mad))
{
	struct acm_sa_mad *mad = acm_alloc_sa_mad(pending->endpoint->endpoint, pending, on_answer);
	struct ibv_path_record asked = *record;

	if (!mad)
		return false;
	mad->sa_mad.mad_hdr.base_version = 1;
	mad->sa_mad.mad_hdr.mgmt_class = SA_CLASS;
	mad->sa_mad.mad_hdr.class_version = SA_CLASS_VERSION;
	mad->sa_mad.mad_hdr.method = METHOD_GET;
	mad->sa_mad.mad_hdr.tid = htobe64(pending->id & UINT32_MAX);
	mad->sa_mad.mad_hdr.attr_id = htobe16(ATTRIBUTE_PATH_RECORD);
	mad->sa_mad.comp_mask = acm_path_comp_mask(&asked);
	memcpy(mad->sa_mad.data, record, sizeof(*record));
	endpoint_count_all(pending->endpoint, ACM_CNTR_ROUTE_QUERY);
	if (acm_send_sa_mad(mad) == 0)
		return true;
	acm_free_sa_mad(mad);
	return false;
}

static struct pending *pending_new(struct endpoint *endpoint, const struct acm_msg *msg,
				   uint64_t id)
{
	struct pending *pending = g_new(struct pending, 1);

	pending->endpoint = endpoint;
	ref_get(&endpoint->ref);
	pending->msg = *msg;
	pending->id = id;
	return pending;
}

static void pending_free(struct pending *pending)
{
	endpoint_unref(pending->endpoint);
	g_free(pending);
}

static struct ibv_path_record record_of(const struct acm_sa_mad *mad)
{
	struct ibv_path_record record;

	memcpy(&record, mad->sa_mad.data, sizeof(record));
	return record;
}

static void on_sa(struct acm_sa_mad *mad)
{
	struct pending *pending = mad->context;
	struct ibv_path_record record = record_of(mad);
	uint8_t status = mad->umad.status	      ? ACM_STATUS_ETIMEDOUT
			 : mad->sa_mad.mad_hdr.status ? ACM_STATUS_ENODATA
						      : ACM_STATUS_SUCCESS;

	respond(pending->endpoint, &pending->msg, pending->id, status, &record);
	acm_free_sa_mad(mad);
	pending_free(pending);
}

static void ask_sa(struct endpoint *endpoint, const struct acm_msg *msg, uint64_t id,
		   const struct ibv_path_record *record)
{
	struct pending *pending = pending_new(endpoint, msg, id);

	if (send_query(pending, record, on_sa))
		return;
	respond(endpoint, msg, id, ACM_STATUS_ENODATA, NULL);
	pending_free(pending);
}

/* ---- a request as a query ---- */

static unsigned int n_entries(const struct acm_msg *msg)
{
	unsigned int octets = MIN(msg->hdr.length, (uint16_t)sizeof(*msg));

	return octets > ACM_MSG_HDR_LENGTH ? (octets - ACM_MSG_HDR_LENGTH) / ACM_MSG_EP_LENGTH : 0;
}

/* The row for an address that is reached through this P_Key, of n rows; NULL: none. */
static const struct ssa_address_rest *fitting(const void *first, size_t size, size_t offset,
					      uint32_t n, uint16_t p_key)
{
	for (uint32_t i = 0; first && i < n; i++) {
		const struct ssa_address_rest *rest =
			(const void *)((const uint8_t *)first + i * size + offset);
		uint16_t own = ssa_16(rest->p_key);

		if (!own || (own & P_KEY_BASE) == (p_key & P_KEY_BASE))
			return rest;
	}
	return NULL;
}

static const struct ssa_address_rest *find_address(const struct ssa_snapshot *snapshot,
						   const struct acm_ep_addr_data *data,
						   uint16_t p_key)
{
	char name[ACM_MAX_ADDRESS + 1] = {0};
	const void *first;
	uint32_t n = 0;

	switch (data->type) {
	case ACM_EP_INFO_NAME:
		memcpy(name, data->info.name, ACM_MAX_ADDRESS);
		first = ssa_look_named(snapshot, name, &n);
		return fitting(first, sizeof(struct ssa_name), offsetof(struct ssa_name, rest), n,
			       p_key);
	case ACM_EP_INFO_ADDRESS_IP:
		first = ssa_look_ipv4(snapshot, data->info.addr, &n);
		return fitting(first, sizeof(struct ssa_ipv4), offsetof(struct ssa_ipv4, rest), n,
			       p_key);
	case ACM_EP_INFO_ADDRESS_IP6:
		first = ssa_look_ipv6(snapshot, data->info.addr, &n);
		return fitting(first, sizeof(struct ssa_ipv6), offsetof(struct ssa_ipv6, rest), n,
			       p_key);
	default:
		return NULL;
	}
}

/* The query for the path to an address; a status other than success: there is none. */
static uint8_t address_query(struct endpoint *endpoint, const struct ssa_snapshot *snapshot,
			     const struct acm_msg *msg, struct ibv_path_record *record)
{
	const struct acm_ep_addr_data *to = entry(msg, msg->hdr.dst_index);
	uint16_t p_key = endpoint->endpoint->pkey;
	const struct ssa_address_rest *rest;

	if (msg->hdr.dst_index >= n_entries(msg))
		return ACM_STATUS_EINVAL;
	rest = find_address(snapshot, to, p_key);
	if (!rest)
		return ACM_STATUS_EDESTADDR;
	memset(record, 0, sizeof(*record));
	for (unsigned int i = 0; i < n_entries(msg); i++)
		if (entry(msg, i)->type == ACM_EP_INFO_PATH)
			*record = entry(msg, i)->info.path;
	record->sgid = endpoint->gid;
	memcpy(&record->dgid, rest->gid, sizeof(rest->gid));
	record->slid = record->dlid = 0;
	if (!record->pkey)
		record->pkey = htobe16(p_key);
	record->reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1;
	endpoint_count_all(endpoint, ACM_CNTR_ADDR_CACHE);
	return ACM_STATUS_SUCCESS;
}

/* As the client asks; a path without a source begins at the port. */
static void path_query(const struct endpoint *endpoint, const struct acm_msg *msg,
		       struct ibv_path_record *record)
{
	*record = entry(msg, 0)->info.path;
	if (!record->slid && ib_any_gid(&record->sgid))
		record->sgid = endpoint->gid;
}

/* ---- the snapshot ---- */

static enum ssa_look look(const struct ssa_snapshot *snapshot, uint32_t endport,
			  struct ibv_path_record *record, const char **why)
{
	uint64_t mask = be64toh(acm_path_comp_mask(record));
	struct iba_path_record wanted, found;
	enum ssa_look result;

	wire_decode(&iba_path_record_type, (const uint8_t *)record, &wanted);
	result = ssa_look_path(snapshot, endport, &wanted, mask, &found, why);
	if (result != SSA_LOOK_FOUND)
		return result;
	memset(record, 0, sizeof(*record));
	wire_encode(&iba_path_record_type, &found, (uint8_t *)record);
	return result;
}

static void resolve_in(struct endpoint *endpoint, const struct ssa_snapshot *snapshot,
		       uint32_t endport, const struct acm_msg *msg, uint64_t id)
{
	bool by_path = entry(msg, 0)->type == ACM_EP_INFO_PATH;
	struct ibv_path_record record, found;
	uint8_t status = ACM_STATUS_SUCCESS;
	enum ssa_look result;
	const char *why = "";

	if (by_path)
		path_query(endpoint, msg, &record);
	else
		status = address_query(endpoint, snapshot, msg, &record);
	if (status != ACM_STATUS_SUCCESS) {
		respond(endpoint, msg, id, status, NULL);
		return;
	}
	found = record;
	result = look(snapshot, endport, &found, &why);
	if (result == SSA_LOOK_ASK) {
		acm_write(2, "ssa: the SA is asked: %s\n", why);
		ask_sa(endpoint, msg, id, &record);
		return;
	}
	endpoint_count_all(endpoint, ACM_CNTR_ROUTE_CACHE);
	if (result == SSA_LOOK_NONE)
		acm_write(2, "ssa: no path: %s\n", why);
	respond(endpoint, msg, id,
		result == SSA_LOOK_FOUND ? ACM_STATUS_SUCCESS : ACM_STATUS_ENODATA, &found);
}

void answer_resolve(struct endpoint *endpoint, const struct acm_msg *msg, uint64_t id)
{
	struct ibv_path_record record;
	struct ssa_snapshot *snapshot;
	const char *why;
	uint32_t endport;

	endpoint_count(endpoint, ACM_CNTR_RESOLVE);
	if (!n_entries(msg)) {
		respond(endpoint, msg, id, ACM_STATUS_EINVAL, NULL);
		return;
	}
	snapshot = sources_take(endpoint->sources, &endpoint->gid, &endport, &why);
	if (snapshot) {
		resolve_in(endpoint, snapshot, endport, msg, id);
		ssa_snapshot_unref(snapshot);
		return;
	}
	acm_write(2, "ssa: the SA is asked: %s\n", why);
	if (entry(msg, 0)->type == ACM_EP_INFO_PATH) {
		path_query(endpoint, msg, &record);
		ask_sa(endpoint, msg, id, &record);
	} else {
		respond(endpoint, msg, id, ACM_STATUS_ENODATA, NULL); /* it knows no addresses */
	}
}

/* ---- queries for the SA itself ---- */

static void on_relayed(struct acm_sa_mad *mad)
{
	struct pending *pending = mad->context;

	pending->msg.hdr.opcode |= ACM_OP_ACK;
	/* Class statuses of the SA are in the upper octet of the MAD's. */
	pending->msg.hdr.status = mad->umad.status
					  ? ACM_STATUS_ETIMEDOUT
					  : (uint8_t)(be16toh(mad->sa_mad.mad_hdr.status) >> 8);
	if (!mad->umad.status)
		entry(&pending->msg, 0)->info.path = record_of(mad);
	if (pending->msg.hdr.status)
		endpoint_count_all(pending->endpoint, ACM_CNTR_ERROR);
	acm_query_response(pending->id, &pending->msg);
	acm_free_sa_mad(mad);
	pending_free(pending);
}

void answer_query(struct endpoint *endpoint, const struct acm_msg *msg, uint64_t id)
{
	struct pending *pending = pending_new(endpoint, msg, id);
	bool by_path = n_entries(msg) && entry(msg, 0)->type == ACM_EP_INFO_PATH;

	if (by_path && send_query(pending, &entry(msg, 0)->info.path, on_relayed))
		return;
	pending->msg.hdr.opcode |= ACM_OP_ACK;
	pending->msg.hdr.status = by_path ? ACM_STATUS_ENODATA : ACM_STATUS_EINVAL;
	endpoint_count_all(endpoint, ACM_CNTR_ERROR);
	acm_query_response(id, &pending->msg);
	pending_free(pending);
}

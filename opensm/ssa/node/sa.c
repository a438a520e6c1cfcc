// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ssa/node/sa.h"

#include <errno.h>
#include <infiniband/umad.h>
#include <string.h>

#include "ssa/store/store.h"

#define RMPP_HEADER_OFFSET 24
#define SA_HEADER_OFFSET 36
#define REPLY_OCTETS (256 << 10) /* the largest answer that is taken */
#define TIMEOUT_MS 1000
#define RETRIES 3

struct ssa_sa {
	int port, agent;
	uint16_t lid; /* of the SM */
	struct iba_gid gid;
	uint32_t tid;
	void *umad;
};

void ssa_sa_close(struct ssa_sa *sa)
{
	if (!sa)
		return;
	if (sa->port >= 0)
		umad_close_port(sa->port);
	g_free(sa->umad);
	g_free(sa);
}

struct ssa_sa *ssa_sa_open(GError **error)
{
	struct ssa_sa *sa;
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
			    "the SA: this host has no InfiniBand port that this process may see");
		return NULL;
	}
	sa = g_new0(struct ssa_sa, 1);
	sa->agent = -1;
	sa->lid = (uint16_t)port.sm_lid;
	sa->gid =
		(struct iba_gid){GUINT64_FROM_BE(port.gid_prefix), GUINT64_FROM_BE(port.port_guid)};
	sa->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (sa->port >= 0)
		sa->agent =
			umad_register(sa->port, IBA_CLASS_SUBN_ADM, IBA_SA_CLASS_VERSION, 1, NULL);
	if (sa->agent >= 0) {
		sa->umad = g_malloc0(umad_size() + REPLY_OCTETS);
		return sa;
	}
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
		    "the SA: the port cannot be opened: %s", g_strerror(errno));
	ssa_sa_close(sa);
	return NULL;
}

struct iba_gid ssa_sa_gid(const struct ssa_sa *sa)
{
	return sa->gid;
}

static bool send_request(struct ssa_sa *sa, const struct ssa_sa_request *request)
{
	const struct iba_mad_header header = {.base_version = IBA_BASE_VERSION,
					      .mgmt_class = IBA_CLASS_SUBN_ADM,
					      .class_version = IBA_SA_CLASS_VERSION,
					      .method = request->method,
					      .transaction_id = ++sa->tid,
					      .attribute_id = request->attribute};
	const struct iba_rmpp_header rmpp = {.rmpp_version = IBA_RMPP_VERSION};
	const struct iba_sa_header query = {.component_mask = request->mask};
	uint8_t *mad = umad_get_mad(sa->umad);

	memset(mad, 0, IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, mad);
	wire_encode(&iba_rmpp_header_type, &rmpp, mad + RMPP_HEADER_OFFSET);
	wire_encode(&iba_sa_header_type, &query, mad + SA_HEADER_OFFSET);
	wire_encode(request->type, request->record, mad + IBA_SA_DATA_OFFSET);
	umad_set_addr(sa->umad, sa->lid, 1, 0, IBA_QP1_Q_KEY);
	return umad_send(sa->port, sa->agent, sa->umad, IBA_MAD_BYTES, TIMEOUT_MS, RETRIES) == 0;
}

int ssa_sa_ask(struct ssa_sa *sa, const struct ssa_sa_request *request,
	       struct ssa_sa_answer *answer)
{
	const uint8_t *mad = umad_get_mad(sa->umad);
	struct iba_mad_header header;
	struct iba_sa_header found;
	int length;

	if (!send_request(sa, request))
		return -1;
	do {
		length = REPLY_OCTETS;
		if (umad_recv(sa->port, sa->umad, &length, TIMEOUT_MS * (RETRIES + 2)) < 0)
			return -1;
		wire_decode(&iba_mad_header_type, mad, &header);
	} while ((uint32_t)header.transaction_id != sa->tid);
	if (umad_status(sa->umad) != 0 || !(header.method & IBA_METHOD_RESPONSE) ||
	    length < IBA_SA_DATA_OFFSET || length > REPLY_OCTETS)
		return -1;
	wire_decode(&iba_sa_header_type, mad + SA_HEADER_OFFSET, &found);
	answer->data = mad + IBA_SA_DATA_OFFSET;
	answer->length = (size_t)length - IBA_SA_DATA_OFFSET;
	answer->stride = found.attribute_offset * (size_t)8;
	return header.status;
}

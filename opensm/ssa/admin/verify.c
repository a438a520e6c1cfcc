// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ssadmin verify: the answers of the snapshot beside those of the SA, for a sample of ports. */
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

#include "iba/iba.h"
#include "ssa/admin/admin.h"

#define RMPP_HEADER_OFFSET 24
#define SA_HEADER_OFFSET 36
#define TIMEOUT_MS 1000
#define RETRIES 3
#define SHOWN_MAX 10

struct sa {
	int port, agent;
	uint16_t lid;
	uint64_t guid; /* of the port */
	uint32_t tid;
	void *umad;
};

struct result {
	uint32_t same, asked, differ, silent;
};

/* ---- the SA ---- */

static void sa_close(struct sa *sa)
{
	if (sa->port >= 0)
		umad_close_port(sa->port);
	g_free(sa->umad);
}

static bool sa_open(struct sa *sa, GError **error)
{
	umad_port_t port;

	*sa = (struct sa){.port = -1, .agent = -1};
	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0) {
		g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
			    "verify: this host has no InfiniBand port");
		return false;
	}
	sa->lid = port.sm_lid;
	sa->guid = GUINT64_FROM_BE(port.port_guid);
	sa->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (sa->port >= 0)
		sa->agent =
			umad_register(sa->port, IBA_CLASS_SUBN_ADM, IBA_SA_CLASS_VERSION, 0, NULL);
	sa->umad = g_malloc0(umad_size() + IBA_MAD_BYTES);
	if (sa->agent >= 0)
		return true;
	g_set_error(error, SSA_STORE_ERROR, SSA_STORE_ERROR_GONE,
		    "verify: the port cannot be opened: %s", g_strerror(errno));
	return false;
}

static bool send_query(struct sa *sa, const struct iba_path_record *wanted, uint64_t mask)
{
	const struct iba_mad_header header = {.base_version = IBA_BASE_VERSION,
					      .mgmt_class = IBA_CLASS_SUBN_ADM,
					      .class_version = IBA_SA_CLASS_VERSION,
					      .method = IBA_METHOD_GET,
					      .transaction_id = ++sa->tid,
					      .attribute_id = IBA_ATTR_PATH_RECORD};
	const struct iba_rmpp_header rmpp = {.rmpp_version = IBA_RMPP_VERSION};
	const struct iba_sa_header query = {.component_mask = mask};
	uint8_t *mad = umad_get_mad(sa->umad);

	memset(mad, 0, IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, mad);
	wire_encode(&iba_rmpp_header_type, &rmpp, mad + RMPP_HEADER_OFFSET);
	wire_encode(&iba_sa_header_type, &query, mad + SA_HEADER_OFFSET);
	wire_encode(&iba_path_record_type, wanted, mad + IBA_SA_DATA_OFFSET);
	umad_set_addr(sa->umad, sa->lid, 1, 0, IBA_QP1_Q_KEY);
	return umad_send(sa->port, sa->agent, sa->umad, IBA_MAD_BYTES, TIMEOUT_MS, RETRIES) == 0;
}

/* The status, and with 0 the octets of the record; negative: no answer. */
static int ask(struct sa *sa, const struct iba_path_record *wanted, uint64_t mask,
	       uint8_t octets[iba_path_record_bytes])
{
	const uint8_t *mad = umad_get_mad(sa->umad);
	struct iba_mad_header header;
	int length;

	if (!send_query(sa, wanted, mask))
		return -1;
	do {
		length = IBA_MAD_BYTES;
		if (umad_recv(sa->port, sa->umad, &length, TIMEOUT_MS * (RETRIES + 2)) < 0)
			return -1;
		wire_decode(&iba_mad_header_type, mad, &header);
	} while ((uint32_t)header.transaction_id != sa->tid);
	if (umad_status(sa->umad) != 0 || header.method != IBA_METHOD_GET_RESP)
		return -1;
	memcpy(octets, mad + IBA_SA_DATA_OFFSET, iba_path_record_bytes);
	return header.status;
}

/* ---- the sample ---- */

/* Both answer with that record, or both with none. */
static void compare(struct sa *sa, const struct ssa_snapshot *snapshot, uint32_t from, uint32_t to,
		    struct result *result)
{
	uint8_t own[iba_path_record_bytes] = {0}, octets[iba_path_record_bytes];
	struct iba_path_record wanted, record;
	uint64_t mask;
	const char *why = NULL;
	enum ssa_look look = admin_look_up(snapshot, from, to, &wanted, &mask, &record, &why);
	int status;

	if (look == SSA_LOOK_ASK) {
		result->asked++;
		return;
	}
	status = ask(sa, &wanted, mask, octets);
	if (status < 0) {
		result->silent++;
		return;
	}
	if (look == SSA_LOOK_FOUND)
		wire_encode(&iba_path_record_type, &record, own);
	if ((status == 0) == (look == SSA_LOOK_FOUND) &&
	    (status || !memcmp(own, octets, sizeof(own)))) {
		result->same++;
		return;
	}
	if (result->differ++ < SHOWN_MAX)
		fprintf(stderr, "ssadmin: %s: %s here, %s at the SA\n", ssa_look_name(snapshot, to),
			look == SSA_LOOK_FOUND ? "a path" : "no path",
			status			 ? "none"
			: look == SSA_LOOK_FOUND ? "another one"
						 : "one");
}

/* Ports at equal distances, which are other ones for other counts. */
static void sample(struct sa *sa, const struct ssa_snapshot *snapshot, uint32_t from,
		   uint32_t count, struct result *result)
{
	uint32_t n = snapshot->n_endports;

	count = MIN(count, n);
	for (uint32_t i = 0; i < count; i++)
		compare(sa, snapshot, from, (uint32_t)((uint64_t)i * n / count), result);
}

static void tell(const struct admin *admin, const struct ssa_snapshot *snapshot,
		 const struct result *result)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();

	if (!admin->json) {
		printf("term %" G_GUINT64_FORMAT ", epoch %" G_GUINT64_FORMAT
		       ": %u answers as those of the SA, %u differ, %u are left to the SA, "
		       "%u without an answer of the SA\n",
		       snapshot->term, snapshot->epoch, result->same, result->differ, result->asked,
		       result->silent);
		return;
	}
	json_builder_begin_object(builder);
	admin_add_number(builder, "term", snapshot->term);
	admin_add_number(builder, "epoch", snapshot->epoch);
	admin_add_number(builder, "same", result->same);
	admin_add_number(builder, "differ", result->differ);
	admin_add_number(builder, "asked", result->asked);
	admin_add_number(builder, "silent", result->silent);
	json_builder_end_object(builder);
	admin_print(builder);
}

static enum admin_status verify(const struct admin *admin, struct sa *sa,
				const struct ssa_snapshot *snapshot)
{
	struct result result = {0};
	uint32_t from = ssa_look_guid(snapshot, sa->guid);

	if (from == SSA_NONE) {
		fprintf(stderr,
			"ssadmin: verify: the snapshot has no port 0x%016" G_GINT64_MODIFIER
			"x, which is that of this host\n",
			sa->guid);
		return ADMIN_NO;
	}
	sample(sa, snapshot, from, admin->count, &result);
	tell(admin, snapshot, &result);
	if (result.differ)
		return ADMIN_NO;
	return result.silent ? ADMIN_UNREACHABLE : ADMIN_DONE;
}

enum admin_status admin_verify(const struct admin *admin)
{
	GError *error = NULL;
	struct ssa_snapshot *snapshot = admin_snapshot(admin, &error);
	enum admin_status status;
	struct sa sa = {.port = -1};

	if (!snapshot || !sa_open(&sa, &error))
		status = admin_fail(ADMIN_UNREACHABLE, error);
	else
		status = verify(admin, &sa, snapshot);
	sa_close(&sa);
	ssa_snapshot_unref(snapshot);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A client of any subnet manager, over libibumad, for tests/bench/reports.py.
 *
 *	report_client listen DELAY_MS
 *	report_client flap GROUPS
 *
 * listen: subscribes to traps 64 and 65, prints a line for each new Report (trap, GUID), and
 * answers it after DELAY_MS. Reports are told apart by their TransactionID.
 * flap: creates GROUPS multicast groups and leaves them, again and again, for ever.
 */
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <iba/iba.h>

#include "complib/hash.h"

#define RMPP_HEADER_OFFSET 24
#define SA_HEADER_OFFSET 36
#define TIMEOUT_MS 500
#define TRIES 20
#define CM(name) IBA_COMPONENT(mc_member_record, name)

struct client {
	int port, agent;
	uint16_t sm_lid;
	uint64_t prefix, guid;
	uint32_t tid;
	void *umad;
};

static int complain(const char *what)
{
	fprintf(stderr, "report_client: %s\n", what);
	return 1;
}

static bool open_port(struct client *client)
{
	long methods[16 / sizeof(long)] = {0};
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return false;
	client->sm_lid = port.sm_lid;
	client->prefix = GUINT64_FROM_BE(port.gid_prefix);
	client->guid = GUINT64_FROM_BE(port.port_guid);
	client->port = umad_open_port(port.ca_name, port.portnum);
	umad_release_port(&port);
	if (client->port < 0)
		return false;
	methods[0] = 1L << IBA_METHOD_REPORT;
	client->agent = umad_register(client->port, IBA_CLASS_SUBN_ADM, 2, 0, methods);
	client->umad = g_malloc0(umad_size() + IBA_MAD_BYTES);
	return client->agent >= 0;
}

static void send_request(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask,
			 const struct wire_type *type, const void *record)
{
	const struct iba_mad_header header = {
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = IBA_SA_CLASS_VERSION,
		.method = method,
		.transaction_id = client->tid,
		.attribute_id = attribute,
	};
	const struct iba_rmpp_header rmpp = {.rmpp_version = IBA_RMPP_VERSION};
	const struct iba_sa_header sa = {.component_mask = mask};
	uint8_t *mad = umad_get_mad(client->umad);

	memset(client->umad, 0, umad_size() + IBA_MAD_BYTES);
	wire_encode(&iba_mad_header_type, &header, mad);
	wire_encode(&iba_rmpp_header_type, &rmpp, mad + RMPP_HEADER_OFFSET);
	wire_encode(&iba_sa_header_type, &sa, mad + SA_HEADER_OFFSET);
	wire_encode(type, record, mad + IBA_SA_DATA_OFFSET);
	umad_set_addr(client->umad, client->sm_lid, 1, 0, IBA_QP1_Q_KEY);
	umad_send(client->port, client->agent, client->umad, IBA_MAD_BYTES, TIMEOUT_MS, 0);
}

/* The next MAD, in umad; false: none in that time (negative: wait for ever). */
static bool receive(const struct client *client, int timeout_ms, struct iba_mad_header *header)
{
	int length = IBA_MAD_BYTES;

	if (umad_recv(client->port, client->umad, &length, timeout_ms) < 0)
		return false;
	wire_decode(&iba_mad_header_type, umad_get_mad(client->umad), header);
	return true;
}

/* The status of the answer; -1: none came. */
static int ask(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask,
	       const struct wire_type *type, const void *record)
{
	struct iba_mad_header header;

	client->tid++;
	for (unsigned int i = 0; i < TRIES; i++) {
		send_request(client, method, attribute, mask, type, record);
		while (receive(client, 2 * TIMEOUT_MS, &header)) {
			if ((uint32_t)header.transaction_id != client->tid)
				continue;
			if (umad_status(client->umad) || header.status == IBA_STATUS_BUSY)
				break;
			return header.status;
		}
	}
	return -1;
}

static int subscribe(struct client *client, uint16_t trap_number)
{
	const struct iba_inform_info info = {.lid_range_begin = IBA_LID_PERMISSIVE,
					     .is_generic = 1,
					     .subscribe = 1,
					     .type = 0xFFFF,
					     .trap_number = trap_number,
					     .producer_type = 0xFFFFFF};

	return ask(client, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info);
}

static void answer_report(const struct client *client)
{
	uint8_t *mad = umad_get_mad(client->umad);
	const ib_mad_addr_t *from = umad_get_mad_addr(client->umad);

	mad[3] = IBA_METHOD_REPORT_RESP;
	umad_set_addr(client->umad, GUINT16_FROM_BE(from->lid), 1, 0, IBA_QP1_Q_KEY);
	umad_send(client->port, client->agent, client->umad, IBA_MAD_BYTES, 0, 0);
}

static int listen_for_ever(struct client *client, unsigned int delay_ms)
{
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(hash_uint64, g_int64_equal, g_free, NULL);
	struct iba_mad_header header;
	struct iba_sa_notice notice;
	struct iba_trap_gid about;

	if (subscribe(client, IBA_TRAP_GID_IN_SERVICE) ||
	    subscribe(client, IBA_TRAP_GID_OUT_OF_SERVICE))
		return complain("cannot subscribe");
	printf("subscribed\n");
	fflush(stdout);
	while (receive(client, -1, &header)) {
		if (header.method != IBA_METHOD_REPORT)
			continue;
		wire_decode(&iba_sa_notice_type,
			    (uint8_t *)umad_get_mad(client->umad) + IBA_SA_DATA_OFFSET, &notice);
		wire_decode(&iba_trap_gid_type, notice.notice.data_details, &about);
		if (g_hash_table_add(seen, g_memdup2(&header.transaction_id, 8)))
			printf("%u 0x%016" PRIx64 "\n", notice.notice.trap_number, about.gid.guid);
		fflush(stdout);
		g_usleep(delay_ms * 1000UL);
		answer_report(client);
	}
	return 0;
}

static int flap_for_ever(struct client *client, unsigned int n_groups)
{
	struct iba_mc_member_record record = {.mgid.prefix = UINT64_C(0xFF12A01C00000000),
					      .port_gid = {client->prefix, client->guid},
					      .p_key = 0xFFFF,
					      .join_state = IBA_JOIN_FULL_MEMBER};
	const uint64_t member = CM(mgid) | CM(port_gid) | CM(join_state);
	const uint64_t create =
		member | CM(p_key) | CM(q_key) | CM(t_class) | CM(flow_label) | CM(sl);

	for (uint64_t n = 0;; n++) {
		bool joins = n / n_groups % 2 == 0;

		record.mgid.guid = n % n_groups + 1;
		if (ask(client, joins ? IBA_METHOD_SET : IBA_METHOD_DELETE,
			IBA_ATTR_MC_MEMBER_RECORD, joins ? create : member,
			&iba_mc_member_record_type, &record) < 0)
			return complain("the SA does not answer");
	}
}

int main(int argc, char **argv)
{
	struct client client = {0};
	unsigned int number = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;

	if (argc != 3)
		return complain("expected listen DELAY_MS or flap GROUPS");
	if (!open_port(&client))
		return complain("cannot open a port");
	if (strcmp(argv[1], "listen") == 0)
		return listen_for_ever(&client, number);
	return number ? flap_for_ever(&client, number) : complain("expected a number of groups");
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One request at a time; virtual time runs until it is answered. */
#include "client.h"

#include <string.h>

#define TIMEOUT_MS 500
#define TRIES 10

struct client {
	struct scenario *s;
	unsigned int node;
	struct actor *actor;
	struct vendor *vendor;
	struct vendor_mad *answer;
	uint32_t tid;
	uint64_t sm_key;
	uint16_t p_key_index;
	bool deaf;	 /* does not answer Reports */
	GArray *reports; /* struct iba_sa_notice: received and not yet fetched */
};

/* Answers each Report, also one that is repeated. */
static void take_report(struct client *client, struct vendor_mad *mad)
{
	struct iba_sa_mad report;
	struct iba_sa_notice notice;
	uint8_t wire[IBA_MAD_BYTES];

	wire_decode(&iba_sa_mad_type, mad->data, &report);
	wire_decode(&iba_sa_notice_type, report.data, &notice);
	g_array_append_val(client->reports, notice);
	report.header.method = IBA_METHOD_REPORT_RESP;
	wire_encode(&iba_sa_mad_type, &report, wire);
	if (!client->deaf)
		vendor_send(client->vendor, &mad->remote, wire, sizeof(wire), 0);
	vendor_mad_free(mad);
}

static void receive(void *arg, struct vendor_mad *mad)
{
	struct client *client = arg;

	if (mad->status == VENDOR_RECEIVED && mad->data[3] == IBA_METHOD_REPORT) {
		take_report(client, mad);
		return;
	}
	vendor_mad_free(client->answer);
	client->answer = mad;
}

static struct client *new_client(struct scenario *s, unsigned int node, bool hears_reports)
{
	struct client *client = g_new0(struct client, 1);
	struct vendor_client receiver = {.arg = client, .receive = receive};
	g_autoptr(GError) error = NULL;

	client->s = s;
	client->node = node;
	client->reports = g_array_new(FALSE, FALSE, sizeof(struct iba_sa_notice));
	client->actor = receiver.actor = actor_new(s->rt, "client");
	client->vendor = sim_open(s->sim, sim_port_guid(s->sim, node, 1), &error);
	if (!client->vendor ||
	    !vendor_bind(client->vendor, IBA_CLASS_SUBN_ADM, hears_reports, &receiver, &error))
		g_error("%s", error->message);
	return client;
}

struct client *client_new(struct scenario *s, unsigned int node)
{
	return new_client(s, node, false);
}

struct client *client_new_subscriber(struct scenario *s, unsigned int node)
{
	return new_client(s, node, true);
}

void client_set_deaf(struct client *client, bool deaf)
{
	client->deaf = deaf;
}

int client_inform(struct client *client, struct iba_inform_info info)
{
	return client_ask(client, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type,
			  &info);
}

bool client_report(struct client *client, struct iba_sa_notice *notice)
{
	if (!client->reports->len)
		return false;
	*notice = g_array_index(client->reports, struct iba_sa_notice, 0);
	g_array_remove_index(client->reports, 0);
	return true;
}

void client_free(struct client *client)
{
	vendor_close(client->vendor);
	actor_free(client->actor);
	vendor_mad_free(client->answer);
	g_array_unref(client->reports);
	g_free(client);
}

uint64_t client_guid(const struct client *client)
{
	return vendor_port_guid(client->vendor);
}

struct iba_gid client_gid(const struct client *client)
{
	return (struct iba_gid){IBA_DEFAULT_GID_PREFIX, client_guid(client)};
}

void client_trust(struct client *client, uint64_t sm_key)
{
	client->sm_key = sm_key;
}

void client_set_p_key_index(struct client *client, uint16_t index)
{
	client->p_key_index = index;
}

static bool has_answer(void *arg)
{
	return ((struct client *)arg)->answer != NULL;
}

static struct vendor_address sa_of(const struct client *client)
{
	struct vendor_address sa = scenario_sa(client->s, client->node);

	sa.p_key_index = client->p_key_index;
	return sa;
}

static void post_request(struct client *client, struct iba_sa_mad *request)
{
	const struct vendor_address to = sa_of(client);
	uint8_t wire[IBA_MAD_BYTES];

	request->header.transaction_id = ++client->tid;
	wire_encode(&iba_sa_mad_type, request, wire);
	g_clear_pointer(&client->answer, vendor_mad_free);
	vendor_send(client->vendor, &to, wire, sizeof(wire), TIMEOUT_MS);
}

static void send_request(struct client *client, struct iba_sa_mad *request)
{
	post_request(client, request);
	runtime_run(client->s->rt, has_answer, client,
		    runtime_now(client->s->rt) + 2 * TIMEOUT_MS * NS_PER_MS);
}

static struct iba_sa_mad make_request(const struct client *client, uint8_t method,
				      uint16_t attribute, uint64_t mask)
{
	return (struct iba_sa_mad){
		.header =
			{
				.base_version = IBA_BASE_VERSION,
				.mgmt_class = IBA_CLASS_SUBN_ADM,
				.class_version = IBA_SA_CLASS_VERSION,
				.method = method,
				.attribute_id = attribute,
			},
		.rmpp.rmpp_version = 1,
		.sa.component_mask = mask,
		.sa.sm_key = client->sm_key,
	};
}

/* A short table is less than a MAD. */
static void decode_answer(const struct vendor_mad *mad, struct iba_sa_mad *answer)
{
	uint8_t wire[IBA_MAD_BYTES] = {0};

	memcpy(wire, mad->data, MIN(mad->length, sizeof(wire)));
	wire_decode(&iba_sa_mad_type, wire, answer);
}

/* Until there is an answer other than BUSY; false: there was none. */
static bool ask_patiently(struct client *client, struct iba_sa_mad *request,
			  struct iba_sa_mad *answer)
{
	for (int i = 0; i < TRIES; i++) {
		send_request(client, request);
		if (!client->answer || client->answer->status != VENDOR_RECEIVED)
			continue;
		decode_answer(client->answer, answer);
		if (answer->header.status != IBA_STATUS_BUSY)
			return true;
		scenario_run_ms(client->s, TIMEOUT_MS);
	}
	return false;
}

int client_ask(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask,
	       const struct wire_type *type, void *record)
{
	struct iba_sa_mad mad = make_request(client, method, attribute, mask), answer;

	wire_encode(type, record, mad.data);
	if (!ask_patiently(client, &mad, &answer))
		return -1;
	if (!answer.header.status)
		wire_decode(type, answer.data, record);
	return answer.header.status;
}

/* Records of the last answer. */
static GByteArray *decode_table(const struct client *client, const struct iba_sa_mad *answer,
				const struct wire_type *type, unsigned int *n)
{
	size_t stride = answer->sa.attribute_offset * 8u;
	size_t bytes = client->answer->length - IBA_SA_DATA_OFFSET;
	GByteArray *records;

	*n = stride ? (unsigned int)(bytes / stride) : 0;
	records = g_byte_array_sized_new((guint)(*n * type->size));
	g_byte_array_set_size(records, (guint)(*n * type->size));
	for (unsigned int i = 0; i < *n; i++)
		wire_decode(type, client->answer->data + IBA_SA_DATA_OFFSET + i * stride,
			    records->data + i * type->size);
	return records;
}

GByteArray *client_table(struct client *client, uint16_t attribute, uint64_t mask,
			 const struct wire_type *type, const void *record, unsigned int *n)
{
	struct iba_sa_mad mad = make_request(client, IBA_METHOD_GET_TABLE, attribute, mask), answer;

	wire_encode(type, record, mad.data);
	*n = 0;
	if (!ask_patiently(client, &mad, &answer) || answer.header.status)
		return NULL;
	return decode_table(client, &answer, type, n);
}

GByteArray *client_ask_long(struct client *client, uint8_t method, uint16_t attribute,
			    uint64_t mask, const GByteArray *data, const struct wire_type *type,
			    unsigned int *n)
{
	struct iba_sa_mad mad = make_request(client, method, attribute, mask), answer;
	const struct vendor_address to = sa_of(client);
	g_autoptr(GByteArray) message = g_byte_array_new();

	mad.rmpp.rmpp_type = IBA_RMPP_DATA;
	mad.rmpp.rmpp_flags = IBA_RMPP_ACTIVE;
	for (int i = 0; i < TRIES; i++) {
		mad.header.transaction_id = ++client->tid;
		g_byte_array_set_size(message, IBA_MAD_BYTES);
		wire_encode(&iba_sa_mad_type, &mad, message->data);
		g_byte_array_set_size(message, IBA_SA_DATA_OFFSET);
		g_byte_array_append(message, data->data, data->len);
		g_clear_pointer(&client->answer, vendor_mad_free);
		vendor_send(client->vendor, &to, message->data, message->len, TIMEOUT_MS);
		runtime_run(client->s->rt, has_answer, client,
			    runtime_now(client->s->rt) + 4 * TIMEOUT_MS * NS_PER_MS);
		if (!client->answer || client->answer->status != VENDOR_RECEIVED)
			continue;
		decode_answer(client->answer, &answer);
		return answer.header.status ? NULL : decode_table(client, &answer, type, n);
	}
	return NULL;
}

int client_path(struct client *client, uint64_t guid, struct iba_path_record *path)
{
	*path = (struct iba_path_record){
		.sgid = client_gid(client),
		.dgid = {IBA_DEFAULT_GID_PREFIX, guid},
		.numb_path = 1,
	};
	return client_ask(client, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
			  IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid) |
				  IBA_COMPONENT(path_record, numb_path),
			  &iba_path_record_type, path);
}

#define BROADCAST_Q_KEY 0x0B1B
#define MEMBER_MASK                                                                                \
	(IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |       \
	 IBA_COMPONENT(mc_member_record, join_state))

static struct iba_mc_member_record broadcast_member(const struct client *client)
{
	return (struct iba_mc_member_record){
		.mgid = {UINT64_C(0xFF12401BFFFF0000), UINT32_MAX},
		.port_gid = client_gid(client),
		.join_state = 1,
	};
}

static int broadcast(struct client *client, uint8_t method, uint16_t *mlid)
{
	struct iba_mc_member_record record = broadcast_member(client);
	int status = client_ask(client, method, IBA_ATTR_MC_MEMBER_RECORD, MEMBER_MASK,
				&iba_mc_member_record_type, &record);

	*mlid = record.mlid;
	return status;
}

int client_join_broadcast(struct client *client, uint16_t *mlid)
{
	return broadcast(client, IBA_METHOD_SET, mlid);
}

int client_leave_broadcast(struct client *client)
{
	uint16_t mlid;

	return broadcast(client, IBA_METHOD_DELETE, &mlid);
}

int client_member(struct client *client, uint8_t method, struct iba_gid mgid, uint64_t guid,
		  uint16_t *mlid)
{
	struct iba_mc_member_record record = {
		.mgid = mgid,
		.port_gid = {IBA_DEFAULT_GID_PREFIX, guid},
		.q_key = BROADCAST_Q_KEY,
		.p_key = 0xFFFF,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	uint64_t mask = MEMBER_MASK;
	int status;

	if (method == IBA_METHOD_SET)
		mask |= IBA_COMPONENT(mc_member_record, p_key) |
			IBA_COMPONENT(mc_member_record, q_key) |
			IBA_COMPONENT(mc_member_record, t_class) |
			IBA_COMPONENT(mc_member_record, flow_label) |
			IBA_COMPONENT(mc_member_record, sl);
	status = client_ask(client, method, IBA_ATTR_MC_MEMBER_RECORD, mask,
			    &iba_mc_member_record_type, &record);
	*mlid = record.mlid;
	return status;
}

void client_send_member(struct client *client, bool join)
{
	struct iba_mc_member_record record = broadcast_member(client);
	struct iba_sa_mad mad = make_request(client, join ? IBA_METHOD_SET : IBA_METHOD_DELETE,
					     IBA_ATTR_MC_MEMBER_RECORD, MEMBER_MASK);

	wire_encode(&iba_mc_member_record_type, &record, mad.data);
	post_request(client, &mad);
}

int client_answer(const struct client *client)
{
	struct iba_sa_mad answer;

	if (!client->answer || client->answer->status != VENDOR_RECEIVED)
		return -1;
	decode_answer(client->answer, &answer);
	return answer.header.status;
}

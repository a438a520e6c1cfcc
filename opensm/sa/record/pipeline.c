// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The pipeline: from the octets of a request to the octets of its answer, the same for every
 * attribute (IBA 15.4).
 *
 * A query passes the stages below in order; the first that returns a status other than OK settles
 * it. Otherwise the record's function runs and offers candidates; those that match the requested
 * components, and that the requester may see, are encoded straight into the answer. At the end the
 * rule on the number of records decides between answer and error.
 *
 * Everything here is a function of the query, the subnet and, for registries, their contents: no
 * clock, no log, no counter. A query is used by one thread at a time; read-only ones may begin on
 * the sa actor and run in the pool.
 *
 * Every request is answered, whatever is wrong with it, except MADs that are not requests and
 * requests with a wrong SM_Key, as in osmtest and the classic daemon: a sender that guesses keys
 * learns nothing.
 */
#include <string.h>

#include "sa/admit/held.h"
#include "sa/sa_private.h"

#define MAD_HEADER_BYTES iba_mad_header_bytes
#define RMPP_HEADER_OFFSET 24
#define SA_HEADER_OFFSET 36

/* ---- methods: 15.2.2 ---- */

static const struct method {
	uint8_t method, response;
	bool table; /* any number of records, by RMPP */
} methods[] = {
	{IBA_METHOD_GET, IBA_METHOD_GET_RESP, false},
	{IBA_METHOD_GET_TABLE, IBA_METHOD_GET_TABLE_RESP, true},
	{IBA_METHOD_SET, IBA_METHOD_GET_RESP, false},
	{IBA_METHOD_DELETE, IBA_METHOD_DELETE_RESP, false},
	{IBA_METHOD_GET_MULTI, IBA_METHOD_GET_MULTI_RESP, true},
	{IBA_METHOD_GET_TRACE_TABLE, IBA_METHOD_GET_TABLE_RESP, true},
};

/* NULL: not a method of SA requests. */
static const struct method *find_method(uint8_t method)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(methods); i++)
		if (methods[i].method == method)
			return &methods[i];
	return NULL;
}

/* ---- building the answer ---- */

/* Counts octets of tables, so that those being sent are bounded. */
static bool reply_hold(struct sa_query *query, size_t more)
{
	struct sa_reply *reply = &query->reply;

	if (!query->held)
		return true;
	if (!sa_held_take(query->held, query->from.address->lid, reply->held, more))
		return false;
	reply->held += more;
	return true;
}

static void reply_release(struct sa_query *query, size_t less)
{
	if (!less)
		return;
	query->reply.held -= less;
	sa_held_give(query->held, query->from.address->lid, query->reply.held, less);
}

static void reply_begin(struct sa_reply *reply)
{
	reply->room = IBA_MAD_BYTES;
	reply->data = g_malloc0(reply->room);
	reply->length = IBA_SA_DATA_OFFSET;
}

/* False: too many octets are being sent. */
static bool reply_reserve(struct sa_query *query, size_t more)
{
	struct sa_reply *reply = &query->reply;
	size_t room;

	if (!reply->data) {
		if (sa_is_table(query) && !reply_hold(query, IBA_MAD_BYTES))
			return false;
		reply_begin(reply);
	}
	if (reply->length + more <= reply->room)
		return true;
	room = MAX(MIN(2 * reply->room, SA_MAX_REPLY), reply->length + more);
	if (!reply_hold(query, room - reply->room))
		return false;
	reply->data = g_realloc(reply->data, room);
	reply->room = room;
	return true;
}

static size_t stride_of(const struct sa_query *query)
{
	return (wire_bytes(query->row->tells) + 7) & ~(size_t)7;
}

bool sa_put(struct sa_query *query, const void *record)
{
	struct sa_reply *reply = &query->reply;
	size_t bytes = wire_bytes(query->row->tells), stride = stride_of(query);

	if (!reply_reserve(query, stride)) {
		query->status = IBA_STATUS_BUSY;
		return false;
	}
	wire_encode(query->row->tells, record, reply->data + reply->length);
	memset(reply->data + reply->length + bytes, 0, stride - bytes);
	reply->length += stride;
	reply->n_records++;
	return true;
}

/* ---- candidates ---- */

bool sa_is_table(const struct sa_query *query)
{
	const struct method *method = find_method(query->header.method);

	return method && method->table;
}

bool sa_prefix_is_local(const struct sa_query *query, uint64_t prefix)
{
	return prefix == query->subnet->options->subnet_prefix || prefix == IBA_DEFAULT_GID_PREFIX;
}

uint32_t sa_port_by_guid(const struct sa_query *query, uint64_t guid)
{
	return alias_guids_port(query->view->aliases, query->subnet->fabric, guid);
}

bool sa_may_reach(const struct sa_query *query, uint32_t endport)
{
	const struct partitions *partitions = query->subnet->partitions;

	if (query->from.privileged || endport == FABRIC_NONE || endport == query->from.port)
		return true;
	return partitions_shared(partitions, query->from.port, endport) != 0;
}

bool sa_may_see(const struct sa_query *query, uint32_t endport)
{
	return query->from.reduced ? endport == FABRIC_NONE || endport == query->from.port
				   : sa_may_reach(query, endport);
}

bool sa_is_of_partition(const struct sa_query *query, uint16_t p_key)
{
	return query->from.privileged ||
	       partitions_member(query->subnet->partitions, query->from.port, p_key);
}

bool sa_has_quota(struct sa_query *query, unsigned int has, unsigned int max)
{
	query->over_quota = query->from.reduced && max && has >= max;
	return !query->over_quota;
}

bool sa_offer(struct sa_query *query, const void *candidate, uint32_t endport)
{
	const struct sa_row *row = query->row;

	if (query->mask && row->asks == row->tells &&
	    !wire_match(row->tells, &query->wanted, candidate, query->mask))
		return true;
	if (!sa_may_see(query, endport)) {
		query->hides |= query->from.reduced;
		return true;
	}
	query->n_found++;
	if (query->header.method == IBA_METHOD_GET && query->n_found > 1)
		return false;
	if (query->reply.length + stride_of(query) > SA_MAX_REPLY) {
		query->status = IBA_SA_NO_RESOURCES;
		return false;
	}
	return sa_put(query, candidate);
}

bool sa_room_for(const struct sa_query *query, uint64_t n)
{
	if (query->header.method == IBA_METHOD_GET)
		return true;
	return n <= (SA_MAX_REPLY - IBA_SA_DATA_OFFSET) / stride_of(query);
}

/* ---- stages ---- */

static uint16_t check_version(struct sa_query *query)
{
	if (query->header.base_version != IBA_BASE_VERSION ||
	    query->header.class_version != IBA_SA_CLASS_VERSION)
		return IBA_STATUS_UNSUP_VERSION;
	return IBA_STATUS_OK;
}

static uint16_t find_row(struct sa_query *query)
{
	if (!find_method(query->header.method))
		return IBA_STATUS_UNSUP_METHOD;
	query->row = sa_row_find(query->header.attribute_id, query->header.method);
	return query->row ? IBA_STATUS_OK : IBA_STATUS_UNSUP_METHOD_ATTR;
}

static uint16_t check_length(struct sa_query *query)
{
	if (query->length < IBA_SA_DATA_OFFSET + wire_bytes(query->row->asks))
		return IBA_SA_REQ_INVALID;
	wire_decode(&iba_rmpp_header_type, query->data + RMPP_HEADER_OFFSET, &query->rmpp);
	wire_decode(&iba_sa_header_type, query->data + SA_HEADER_OFFSET, &query->sa);
	return IBA_STATUS_OK;
}

/* Requests by RMPP were reassembled by the layer below. */
static uint16_t check_rmpp(struct sa_query *query)
{
	if (!(query->rmpp.rmpp_flags & IBA_RMPP_ACTIVE))
		return IBA_STATUS_OK;
	if (query->rmpp.rmpp_version != IBA_RMPP_VERSION || query->rmpp.rmpp_type != IBA_RMPP_DATA)
		return IBA_SA_REQ_INVALID;
	return IBA_STATUS_OK;
}

static uint16_t check_state(struct sa_query *query)
{
	query->early = !query->subnet;
	return query->subnet ? IBA_STATUS_OK : IBA_STATUS_BUSY;
}

static uint16_t check_key(struct sa_query *query)
{
	query->wrong_key =
		query->sa.sm_key != 0 && query->sa.sm_key != query->subnet->options->sa_key;
	return query->wrong_key ? IBA_SA_DENIED : IBA_STATUS_OK;
}

/*
 * A port that came up after the last sweep is asked to try again: the next sweep will know it. A
 * GRH may say less about the port than the LID does, but must not name another port that the
 * requester may see.
 */
static uint16_t find_requester(struct sa_query *query)
{
	const struct fabric *fabric = query->subnet->fabric;
	const struct vendor_address *address = query->from.address;
	uint32_t by_lid = fabric_port_by_lid(fabric, address->lid), by_gid = FABRIC_NONE;

	if (address->has_grh && sa_prefix_is_local(query, address->gid.prefix))
		by_gid = sa_port_by_guid(query, address->gid.guid);
	query->from.port = by_lid != FABRIC_NONE ? by_lid : by_gid;
	if (by_gid != FABRIC_NONE && by_gid != query->from.port && sa_may_reach(query, by_gid))
		return IBA_SA_INVALID_GID;
	query->early = query->from.port == FABRIC_NONE && !(query->row->flags & SA_ANYBODY);
	return query->early ? IBA_STATUS_BUSY : IBA_STATUS_OK;
}

static bool is_on_sm_node(const struct sa_query *query)
{
	const struct fabric *fabric = query->subnet->fabric;
	uint32_t own = fabric_port_by_guid(fabric, query->subnet->sm_guid);

	return own != FABRIC_NONE && query->from.port != FABRIC_NONE &&
	       fabric->ports[own].node == fabric->ports[query->from.port].node;
}

/*
 * The default SM_Key proves nothing about its sender. Tools may use it to look from any node, as
 * they always could; secret data requires the SM's node, or a key of the site, and with
 * sa_enhanced_trust_model so does all data.
 */
static uint16_t check_trust(struct sa_query *query)
{
	bool is_known = options_sa_key_is_known(query->subnet->options);

	bool has_key = query->sa.sm_key != 0;

	query->from.vouched = has_key && (!is_known || is_on_sm_node(query));
	query->from.trusted = query->subnet->options->sa_enhanced_trust_model
				      ? query->from.vouched
				      : has_key;
	query->from.privileged = has_key && !is_known;
	query->from.reduced =
		!query->from.trusted && query->subnet->options->sa_enhanced_trust_model;
	if (((query->row->flags & SA_TRUSTED) && !query->from.trusted) ||
	    ((query->row->flags & SA_NOT_REDUCED) && query->from.reduced))
		return IBA_SA_DENIED;
	return IBA_STATUS_OK;
}

/*
 * A requester must be a member of the partition that it asks with. Index 0 is for requests without
 * a partition, which any port may send. If the SM's port did not have the P_Key when the subnet was
 * published, nothing is known about it: the port accepted the request, so it is served.
 */
static uint16_t check_partition(struct sa_query *query)
{
	const struct subnet *subnet = query->subnet;
	uint16_t index = query->from.address->p_key_index, p_key = 0;

	if (!index || query->from.privileged || query->from.port == FABRIC_NONE)
		return IBA_STATUS_OK;
	if (subnet->sm_p_keys && index < subnet->sm_p_keys->len)
		p_key = g_array_index(subnet->sm_p_keys, uint16_t, index);
	if (!P_KEY_BASE(p_key) || partitions_member(subnet->partitions, query->from.port, p_key))
		return IBA_STATUS_OK;
	return IBA_SA_DENIED;
}

static uint16_t decode_components(struct sa_query *query)
{
	wire_decode(query->row->asks, query->data + IBA_SA_DATA_OFFSET, &query->wanted);
	query->mask = query->sa.component_mask;
	return IBA_STATUS_OK;
}

typedef uint16_t stage_fn(struct sa_query *query);

static stage_fn *const stages[] = {
	check_version, find_row,       check_length, check_rmpp,      check_state,
	check_key,     find_requester, check_trust,  check_partition, decode_components,
};

/* ---- from request to answer ---- */

/* No answer is expected to an answer, or to a TrapRepress. */
static bool expects_answer(uint8_t method)
{
	return !(method & IBA_METHOD_RESPONSE) && method != IBA_METHOD_TRAP_REPRESS;
}

bool sa_query_begin(struct sa_query *query, const struct subnet_view *view,
		    const struct vendor_address *from, const uint8_t *data, size_t length)
{
	query->wrong_key = false;
	if (length < MAD_HEADER_BYTES)
		return false;
	wire_decode(&iba_mad_header_type, data, &query->header);
	if (!expects_answer(query->header.method))
		return false;
	query->view = view;
	query->subnet = view ? view->subnet : NULL;
	query->registries = NULL;
	query->store = NULL;
	query->data = data;
	query->length = length;
	query->row = NULL;
	query->rmpp = (struct iba_rmpp_header){0};
	query->sa = (struct iba_sa_header){0};
	query->from = (struct sa_requester){.address = from, .port = FABRIC_NONE};
	query->inventory = NULL;
	query->now = 0;
	query->held = NULL;
	query->waits = false;
	query->early = false;
	query->want = 0;
	memset(query->until, 0, sizeof(query->until));
	query->until_ns = 0;
	query->n_found = 0;
	query->n_refused = 0;
	query->over_quota = false;
	query->reason = NULL;
	query->why[0] = '\0';
	query->hides = false;
	query->status = IBA_STATUS_OK;
	query->reply = (struct sa_reply){0};
	for (unsigned int i = 0; i < G_N_ELEMENTS(stages); i++) {
		query->status = stages[i](query);
		if (query->status != IBA_STATUS_OK)
			break;
	}
	return !query->wrong_key;
}

enum sa_place sa_query_place(const struct sa_query *query)
{
	return query->status == IBA_STATUS_OK ? query->row->place(query) : SA_AT_ONCE;
}

void sa_query_run(struct sa_query *query, const struct sa_registries *registries)
{
	uint16_t status;

	if (query->status != IBA_STATUS_OK)
		return;
	query->registries = registries;
	query->store = registries ? registries->groups : NULL;
	status = query->row->run(query);
	if (query->status == IBA_STATUS_OK)
		query->status = status;
}

/* IBA 15.4.1: a Get has exactly one record; a table may be empty. */
static void apply_count_policy(struct sa_query *query)
{
	if (query->status != IBA_STATUS_OK || query->header.method != IBA_METHOD_GET)
		return;
	if (query->n_found == 0)
		query->status = IBA_SA_NO_RECORDS;
	else if (query->n_found > 1)
		query->status = IBA_SA_TOO_MANY_RECORDS;
}

void sa_query_clear(struct sa_query *query)
{
	struct sa_reply *reply = &query->reply;

	reply_release(query, reply->held);
	g_free(reply->data);
	*reply = (struct sa_reply){0};
}

/* An error answer is the request with another header. */
static void reply_echo_request(struct sa_query *query)
{
	struct sa_reply *reply = &query->reply;
	size_t length = MIN(query->length, IBA_MAD_BYTES);

	sa_query_clear(query);
	reply_begin(reply);
	memcpy(reply->data, query->data, length);
	reply->length = IBA_MAD_BYTES;
}

/*
 * RMPP as the vendor layer, which sends it, expects it: Active marks data to be segmented. The
 * other fields are those of the first segment, which carries the length of the whole; each segment
 * has its own SA header (IBA 13.6.2.2).
 */
static void fill_rmpp(struct iba_rmpp_header *rmpp, size_t data_bytes)
{
	size_t segments = MAX(1, (data_bytes + IBA_SA_DATA_BYTES - 1) / IBA_SA_DATA_BYTES);
	uint8_t last = segments == 1 ? IBA_RMPP_LAST : 0;

	*rmpp = (struct iba_rmpp_header){
		.rmpp_version = IBA_RMPP_VERSION,
		.rmpp_type = IBA_RMPP_DATA,
		.resp_time = 0x1F, /* not given */
		.rmpp_flags = IBA_RMPP_ACTIVE | IBA_RMPP_FIRST | last,
		.segment_number = 1,
		.data2 = data_bytes + segments * iba_sa_header_bytes,
	};
}

static void encode_headers(struct sa_query *query, uint16_t stride)
{
	const struct method *method = find_method(query->header.method);
	uint8_t *data = query->reply.data;

	query->header.method =
		method ? method->response : query->header.method | IBA_METHOD_RESPONSE;
	if (query->row && query->row->told)
		query->header.attribute_id = query->row->told;
	query->header.status = query->status;
	query->sa.sm_key = 0; /* C15-0.1.5 */
	query->sa.attribute_offset = query->reply.n_records ? stride / 8 : 0;
	wire_encode(&iba_mad_header_type, &query->header, data);
	wire_encode(&iba_rmpp_header_type, &query->rmpp, data + RMPP_HEADER_OFFSET);
	wire_encode(&iba_sa_header_type, &query->sa, data + SA_HEADER_OFFSET);
}

/* Gives back octets that a long answer reserved but did not use. */
static void reply_trim(struct sa_query *query)
{
	struct sa_reply *reply = &query->reply;
	size_t room = MAX(reply->length, IBA_MAD_BYTES);

	if (room >= reply->room)
		return;
	reply->data = g_realloc(reply->data, room);
	reply_release(query, MIN(reply->held, reply->room - room));
	reply->room = room;
}

uint8_t *sa_query_finish(struct sa_query *query, size_t *length)
{
	struct sa_reply *reply = &query->reply;
	bool table = sa_is_table(query);

	apply_count_policy(query);
	query->rmpp = (struct iba_rmpp_header){.rmpp_version = IBA_RMPP_VERSION};
	if (query->status != IBA_STATUS_OK) {
		reply_echo_request(query);
	} else {
		if (!reply->data)
			reply_begin(reply);
		if (table)
			fill_rmpp(&query->rmpp, reply->length - IBA_SA_DATA_OFFSET);
		else
			reply->length = IBA_MAD_BYTES;
	}
	encode_headers(query, query->row ? stride_of(query) : 0);
	reply_trim(query);
	*length = reply->length;
	return reply->data;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Common to all SA requests: status rules, headers, malformed octets; and fabric records. */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

static struct subnet *subnet;
static struct sa_store *store;

static void setup(void)
{
	subnet = make_subnet("fattree:4", 1, 5);
	store = sa_store_new(0);
}

static void teardown(void)
{
	sa_store_free(store);
	subnet_unref(subnet);
}

static struct ask ask_for(uint16_t attribute, uint8_t method)
{
	return (struct ask){
		.subnet = subnet,
		.store = store,
		.from = endport(subnet, 0, true),
		.attribute = attribute,
		.method = method,
	};
}

static uint16_t status_of(const struct ask *ask)
{
	struct told told = tell(ask);
	uint16_t status = told.header.status;

	if (status != IBA_STATUS_OK)
		ck_assert_uint_eq(told.length, IBA_MAD_BYTES);
	told_clear(&told);
	return status;
}

/* ---- status rules ---- */

static const struct rule {
	const char *what;
	uint16_t attribute;
	uint8_t method;
	uint16_t status;
	uint8_t answer; /* method */
} rules[] = {
	{"Get ClassPortInfo", IBA_ATTR_CLASS_PORT_INFO, 0x01, 0, 0x81},
	{"table of ClassPortInfo", IBA_ATTR_CLASS_PORT_INFO, 0x12, 0x0C, 0x92},
	{"Get one of many", IBA_ATTR_NODE_RECORD, 0x01, 0x0400, 0x81},
	{"table of nodes", IBA_ATTR_NODE_RECORD, 0x12, 0, 0x92},
	{"Set of a read-only record", IBA_ATTR_NODE_RECORD, 0x02, 0x0C, 0x81},
	{"Delete of a read-only record", IBA_ATTR_NODE_RECORD, 0x15, 0x0C, 0x95},
	{"unknown attribute", 0x7777, 0x01, 0x0C, 0x81},
	{"unknown attribute, Set", 0x7777, 0x02, 0x0C, 0x81},
	{"GetTraceTable of nodes", IBA_ATTR_NODE_RECORD, 0x13, 0x0C, 0x92},
	{"GetMulti of nodes", IBA_ATTR_NODE_RECORD, 0x14, 0x0C, 0x94},
	{"Send", IBA_ATTR_NODE_RECORD, 0x03, 0x08, 0x83},
	{"Trap", IBA_ATTR_NOTICE, 0x05, 0x08, 0x85},
	{"a method nobody defined", IBA_ATTR_NODE_RECORD, 0x42, 0x08, 0xC2},
	{"P_Keys without trust", IBA_ATTR_P_KEY_TABLE_RECORD, 0x12, 0x0700, 0x92},
	{"join without components", IBA_ATTR_MC_MEMBER_RECORD, 0x02, 0x0600, 0x81},
	{"no group", IBA_ATTR_MC_MEMBER_RECORD, 0x01, 0x0300, 0x81},
	{"table of no groups", IBA_ATTR_MC_MEMBER_RECORD, 0x12, 0, 0x92},
};

START_TEST(test_rules)
{
	const struct rule *rule = &rules[_i];
	struct ask ask = ask_for(rule->attribute, rule->method);
	struct told told = tell(&ask);

	ck_assert_msg(told.header.status == rule->status, "%s: status 0x%x", rule->what,
		      told.header.status);
	ck_assert_msg(told.header.method == rule->answer, "%s: method 0x%x", rule->what,
		      told.header.method);
	told_clear(&told);
}
END_TEST

START_TEST(test_versions)
{
	struct ask ask = ask_for(IBA_ATTR_CLASS_PORT_INFO, IBA_METHOD_GET);
	uint8_t octets[IBA_MAD_BYTES];

	for (unsigned int at = 0; at < 3; at += 2)
		for (unsigned int version = 0; version < 256; version++) {
			struct told told;

			ask_encode(&ask, octets);
			if (octets[at] == version)
				continue;
			octets[at] = version;
			told = tell_octets(&ask, octets, sizeof(octets));
			ck_assert_uint_eq(told.header.status, IBA_STATUS_UNSUP_VERSION);
			ck_assert_uint_eq(told.header.method, IBA_METHOD_GET_RESP);
			told_clear(&told);
		}
}
END_TEST

START_TEST(test_no_subnet_is_busy)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);

	ask.subnet = NULL;
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_BUSY);
	ask.attribute = IBA_ATTR_CLASS_PORT_INFO;
	ask.method = IBA_METHOD_GET;
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_BUSY);
	ask.attribute = 0x7777; /* a hopeless request is answered at once */
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_UNSUP_METHOD_ATTR);
}
END_TEST

START_TEST(test_keys)
{
	struct ask ask = ask_for(IBA_ATTR_P_KEY_TABLE_RECORD, IBA_METHOD_GET_TABLE);
	uint8_t octets[IBA_MAD_BYTES];
	struct told told;

	ask.sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
	ask.sm_key = 0;
	ck_assert_uint_eq(status_of(&ask), IBA_SA_DENIED);
	ask.attribute = IBA_ATTR_NODE_RECORD;
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
	ask.sm_key = TEST_SA_KEY + 1; /* a guessed key gets no answer */
	ask_encode(&ask, octets);
	told = tell_octets(&ask, octets, sizeof(octets));
	ck_assert(!told.answered);
}
END_TEST

START_TEST(test_unknown_requester)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	struct vendor_address from = {.qpn = 1, .lid = 0xBFFF, .has_grh = true};
	uint8_t octets[IBA_MAD_BYTES];
	struct subnet_view *view = subnet_view_new(subnet_ref(subnet));
	struct sa_query query;

	ask.from = FABRIC_NONE;
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_BUSY);
	ask.attribute = IBA_ATTR_CLASS_PORT_INFO;
	ask.method = IBA_METHOD_GET;
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
	/* known only by its GID */
	ask.attribute = IBA_ATTR_NODE_RECORD;
	ask_encode(&ask, octets);
	from.gid.prefix = subnet->options->subnet_prefix;
	from.gid.guid = subnet->fabric->ports[endport(subnet, 3, true)].guid;
	ck_assert(sa_query_begin(&query, view, &from, octets, sizeof(octets)));
	ck_assert_uint_eq(query.from.port, endport(subnet, 3, true));
	/* a LID and a GID of two ports */
	from.lid = subnet->fabric->ports[endport(subnet, 2, true)].lid;
	ck_assert(sa_query_begin(&query, view, &from, octets, sizeof(octets)));
	ck_assert_uint_eq(query.status, IBA_SA_INVALID_GID);
	from.lid = 0xBFFF;
	from.gid.prefix++;
	ck_assert(sa_query_begin(&query, view, &from, octets, sizeof(octets)));
	ck_assert_uint_eq(query.status, IBA_STATUS_BUSY);
	subnet_view_unref(view);
}
END_TEST

START_TEST(test_answers_are_not_answered)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET);
	uint8_t octets[IBA_MAD_BYTES];

	for (unsigned int method = 0; method < 256; method++) {
		struct told told;

		ask.method = method;
		ask_encode(&ask, octets);
		told = tell_octets(&ask, octets, sizeof(octets));
		ck_assert_int_eq(told.answered,
				 !(method & 0x80) && method != IBA_METHOD_TRAP_REPRESS);
		told_clear(&told);
	}
}
END_TEST

/* ---- where a query runs ---- */

#define P(name) IBA_COMPONENT(path_record, name)
static const struct iba_gid group_gid = {UINT64_C(0xFF12A01C00000000), 1}, port_gid = {1, 1};

/* Long queries do not keep others waiting: not their requester, nor the pool for small tables. */
static const struct {
	uint16_t attribute;
	uint8_t method;
	uint64_t mask;
	bool to_group;
	uint16_t dlid;
	enum sa_place place;
} places[] = {
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(sgid) | P(dgid), false, 0, SA_AT_ONCE},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(slid) | P(dlid), false, 1, SA_AT_ONCE},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(sgid), false, 0, SA_IN_POOL},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(slid), false, 0, SA_IN_POOL},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(dgid), false, 0, SA_IN_POOL},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(dlid), false, 0, SA_IN_POOL},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, 0, false, 0, SA_SLOWLY},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET_TABLE, P(numb_path), false, 0, SA_SLOWLY},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET_TABLE, P(sgid) | P(dgid), false, 0, SA_IN_POOL},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET_TABLE, P(dgid), true, 0, SA_AT_REGISTRIES},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(dlid), false, 0xC000, SA_AT_REGISTRIES},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, P(sgid) | P(dgid) | P(dlid), false, 0xC000,
	 SA_AT_ONCE},
	{IBA_ATTR_PATH_RECORD, IBA_METHOD_GET, 0, true, 0xC000, SA_SLOWLY},
	{IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE, 0, false, 0, SA_IN_POOL},
	{IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE, 1, false, 0, SA_AT_ONCE},
	{IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD, IBA_METHOD_GET_TABLE, 0, false, 0, SA_SLOWLY},
	{IBA_ATTR_MULTICAST_FORWARDING_TABLE_RECORD, IBA_METHOD_GET_TABLE, 1, false, 0, SA_IN_POOL},
	{IBA_ATTR_GUID_INFO_RECORD, IBA_METHOD_GET_TABLE, 1, false, 0, SA_IN_POOL},
	{IBA_ATTR_CLASS_PORT_INFO, IBA_METHOD_GET, 0, false, 0, SA_AT_ONCE},
	{IBA_ATTR_MC_MEMBER_RECORD, IBA_METHOD_GET_TABLE, 0, false, 0, SA_AT_REGISTRIES},
	{IBA_ATTR_P_KEY_TABLE_RECORD, IBA_METHOD_GET_TABLE, 0, false, 0, SA_AT_ONCE},
};

START_TEST(test_places)
{
	const struct iba_path_record path = {.dgid = places[_i].to_group ? group_gid : port_gid,
					     .dlid = places[_i].dlid};
	struct ask ask = ask_for(places[_i].attribute, places[_i].method);
	struct subnet_view *view = subnet_view_new(subnet_ref(subnet));
	const struct vendor_address from = {.lid = subnet->fabric->ports[ask.from].lid};
	uint8_t octets[IBA_MAD_BYTES];
	struct sa_query query;

	ask.mask = places[_i].mask;
	if (places[_i].attribute == IBA_ATTR_PATH_RECORD) {
		ask.type = &iba_path_record_type;
		ask.record = &path;
	}
	ask_encode(&ask, octets);
	ck_assert(sa_query_begin(&query, view, &from, octets, sizeof(octets)));
	ck_assert_int_eq(sa_query_place(&query), places[_i].place);
	subnet_view_unref(view);
}
END_TEST

/* ---- malformed ---- */

START_TEST(test_every_length)
{
	unsigned int n;
	const struct sa_row *all = sa_rows(&n);

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int length = 0; length <= IBA_MAD_BYTES; length++) {
			struct ask ask = ask_for(all[i].attribute, all[i].method);
			uint8_t octets[IBA_MAD_BYTES];
			uint8_t *exact; /* so that a sanitizer sees every read beyond the end */
			struct told told;
			bool whole = length >= IBA_SA_DATA_OFFSET + wire_bytes(all[i].asks);

			ask_encode(&ask, octets);
			exact = g_malloc(MAX(length, 1));
			memcpy(exact, octets, length);
			told = tell_octets(&ask, exact, length);
			ck_assert_int_eq(told.answered, length >= 24);
			if (length >= 24 && !whole)
				ck_assert_uint_eq(told.header.status, IBA_SA_REQ_INVALID);
			if (whole && all[i].method != IBA_METHOD_SET)
				ck_assert_uint_ne(told.header.status, IBA_SA_REQ_INVALID);
			told_clear(&told);
			g_free(exact);
		}
}
END_TEST

/* Random octets after a good common header: an answer of a legal length, and no crash. */
START_TEST(test_garbage)
{
	uint64_t state = 1 + _i;
	unsigned int n;
	const struct sa_row *all = sa_rows(&n);

	for (unsigned int round = 0; round < 2000; round++) {
		const struct sa_row *row = &all[make_number(&state, n)];
		struct ask ask = ask_for(row->attribute, row->method);
		uint8_t octets[IBA_MAD_BYTES];
		struct told told;

		ask_encode(&ask, octets);
		for (unsigned int i = 24; i < sizeof(octets); i++)
			octets[i] = make_number(&state, 256);
		memset(octets + 36, 0, 8); /* the key */
		if (!make_number(&state, 4)) {
			octets[42] = TEST_SA_KEY >> 8;
			octets[43] = TEST_SA_KEY & 0xFF;
		}
		if (make_number(&state, 2))
			octets[26] = 0; /* RMPP flags */
		told = tell_octets(&ask, octets, sizeof(octets));
		ck_assert(told.answered);
		ck_assert(told.length == IBA_MAD_BYTES ||
			  told.header.method == IBA_METHOD_GET_TABLE_RESP ||
			  told.header.method == IBA_METHOD_GET_MULTI_RESP);
		told_clear(&told);
	}
}
END_TEST

START_TEST(test_rmpp_requests)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	static const struct {
		uint8_t version, type, flags;
		uint16_t status;
	} cases[] = {
		{0, 0, 0, 0},
		{1, 1, IBA_RMPP_ACTIVE | IBA_RMPP_FIRST | IBA_RMPP_LAST, 0},
		{2, 1, IBA_RMPP_ACTIVE, IBA_SA_REQ_INVALID},
		{1, 2, IBA_RMPP_ACTIVE, IBA_SA_REQ_INVALID},
		{1, 4, IBA_RMPP_ACTIVE, IBA_SA_REQ_INVALID},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct iba_rmpp_header rmpp = {
			.rmpp_version = cases[i].version,
			.rmpp_type = cases[i].type,
			.rmpp_flags = cases[i].flags,
		};
		uint8_t octets[IBA_MAD_BYTES];
		struct told told;

		ask_encode(&ask, octets);
		wire_encode(&iba_rmpp_header_type, &rmpp, octets + 24);
		told = tell_octets(&ask, octets, sizeof(octets));
		ck_assert_uint_eq(told.header.status, cases[i].status);
		told_clear(&told);
	}
}
END_TEST

/* ---- headers of tables ---- */

START_TEST(test_table_headers)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	struct told told = tell(&ask);
	size_t data = told.length - IBA_SA_DATA_OFFSET, segments = (data + 199) / 200;
	struct iba_node_record wanted = {.lid = 0xBFFE};

	ck_assert_uint_eq(told.sa.attribute_offset, 112 / 8); /* 108 octets */
	ck_assert_uint_eq(told.n, n_endports(subnet));
	ck_assert_uint_eq(told.rmpp.rmpp_version, 1);
	ck_assert_uint_eq(told.rmpp.rmpp_type, IBA_RMPP_DATA);
	ck_assert_uint_eq(told.rmpp.rmpp_flags, IBA_RMPP_ACTIVE | IBA_RMPP_FIRST);
	ck_assert_uint_eq(told.rmpp.segment_number, 1);
	ck_assert_uint_eq(told.rmpp.data2, data + 20 * segments);
	told_clear(&told);
	/* an empty table is one segment without data */
	ask.mask = IBA_COMPONENT(node_record, lid);
	ask.type = &iba_node_record_type;
	ask.record = &wanted;
	told = tell(&ask);
	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	ck_assert_uint_eq(told.length, IBA_SA_DATA_OFFSET);
	ck_assert_uint_eq(told.sa.attribute_offset, 0);
	ck_assert_uint_eq(told.rmpp.rmpp_flags, IBA_RMPP_ACTIVE | IBA_RMPP_FIRST | IBA_RMPP_LAST);
	ck_assert_uint_eq(told.rmpp.data2, 20);
	told_clear(&told);
}
END_TEST

/* A table of nodes in the room that earlier data leaves; the memory was used before. */
static uint16_t run_behind(size_t length, size_t room, struct sa_query *query)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	const struct vendor_address from = {.lid = subnet->fabric->ports[ask.from].lid};
	struct subnet_view *view = subnet_view_new(subnet_ref(subnet));
	uint8_t octets[IBA_MAD_BYTES];

	ask_encode(&ask, octets);
	ck_assert(sa_query_begin(query, view, &from, octets, sizeof(octets)));
	query->reply = (struct sa_reply){.data = g_malloc(room), .length = length, .room = room};
	memset(query->reply.data + length, 0xFF, room - length);
	sa_query_run(query, NULL);
	subnet_view_unref(view);
	return query->status;
}

/* Records are padded to whole words of eight octets, with zeros. */
START_TEST(test_padding)
{
	const size_t bytes = iba_node_record_bytes, stride = (bytes + 7) / 8 * 8;
	struct sa_query query;

	ck_assert_uint_eq(run_behind(IBA_SA_DATA_OFFSET, 1 << 16, &query), IBA_STATUS_OK);
	ck_assert_uint_eq(query.reply.length, IBA_SA_DATA_OFFSET + n_endports(subnet) * stride);
	for (size_t at = IBA_SA_DATA_OFFSET; at < query.reply.length; at += stride)
		for (size_t i = bytes; i < stride; i++)
			ck_assert_uint_eq(query.reply.data[at + i], 0);
	sa_query_clear(&query);
}
END_TEST

/* An answer may be this long, and no octet longer. */
START_TEST(test_longest_answer)
{
	const size_t bytes = n_endports(subnet) * ((iba_node_record_bytes + 7) / 8 * 8);
	struct sa_query query;

	ck_assert_uint_eq(run_behind(SA_MAX_REPLY - bytes + _i, SA_MAX_REPLY, &query),
			  _i ? IBA_SA_NO_RESOURCES : IBA_STATUS_OK);
	sa_query_clear(&query);
}
END_TEST

/* ---- partitions: the P_Key of the SM's port that a request used ---- */

/* Row n % 3 is host n's. */
static const uint16_t p_key_rows[][4] = {{0x7FFF, 0x8011}, {0x7FFF, 0x0012}, {0xFFFF}};
static const uint16_t own_p_keys[] = {0xFFFF, 0x8011, 0, 0x8012, 0x7FFF};

static const struct by_partition {
	unsigned int who;
	uint16_t index;
	uint64_t sm_key;
	uint16_t status;
} by_partition[] = {
	{0, 0, 0, IBA_STATUS_OK},
	{0, 1, 0, IBA_STATUS_OK},
	{0, 3, 0, IBA_SA_DENIED},
	{0, 3, TEST_SA_KEY, IBA_STATUS_OK},
	{0, 3, KNOWN_SA_KEY, IBA_SA_DENIED},
	{0, 1, KNOWN_SA_KEY, IBA_STATUS_OK},
	{1, 1, 0, IBA_SA_DENIED},
	{1, 3, 0, IBA_STATUS_OK}, /* a limited member */
	{2, 1, 0, IBA_SA_DENIED},
	{2, 4, 0, IBA_STATUS_OK}, /* the default partition, at another index than 0 */
	{2, 2, 0, IBA_STATUS_OK}, /* the entry is empty */
	{2, 5, 0, IBA_STATUS_OK}, /* nor beyond the table */
	{2, 0xFFFF, 0, IBA_STATUS_OK},
};

START_TEST(test_partitions)
{
	const struct by_partition *row = &by_partition[_i];
	struct ask ask;

	subnet = with_partitions(subnet, p_key_rows, 3, NULL, 0);
	ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	subnet->sm_p_keys = g_array_new(FALSE, FALSE, sizeof(uint16_t));
	g_array_append_vals(subnet->sm_p_keys, own_p_keys, G_N_ELEMENTS(own_p_keys));
	ask.from = endport(subnet, row->who, false);
	ask.p_key_index = row->index;
	ask.sm_key = row->sm_key;
	if (row->sm_key)
		subnet->options->sa_key = row->sm_key;
	ck_assert_uint_eq(status_of(&ask), row->status);
	g_clear_pointer(&subnet->sm_p_keys, g_array_unref); /* it is unknown */
	if (row->index && !row->sm_key)
		ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
}
END_TEST

/* ---- records of the fabric ---- */

START_TEST(test_class_port_info)
{
	struct ask ask = ask_for(IBA_ATTR_CLASS_PORT_INFO, IBA_METHOD_GET);
	struct iba_class_port_info info;
	struct qos_policy *policy;
	struct told told;

	ask.mask = UINT64_MAX; /* it has no components */
	told = tell(&ask);
	told_record(&told, &iba_class_port_info_type, 0, &info);
	ck_assert_uint_eq(info.base_version, 1);
	ck_assert_uint_eq(info.class_version, 2);
	ck_assert(info.capability_mask & IBA_SA_CAP_UD_MULTICAST);
	ck_assert(info.capability_mask & IBA_SA_CAP_MULTI_PATH);
	ck_assert(info.capability_mask2 & IBA_SA_CAP2_ADDITIONAL_GUIDS);
	ck_assert(info.capability_mask2 & IBA_SA_CAP2_LINK_WIDTH_2X);
	ck_assert(info.capability_mask2 & IBA_SA_CAP2_LINK_SPEED_HDR);
	ck_assert(!(info.capability_mask2 & IBA_SA_CAP2_QOS)); /* there is no policy */
	told_clear(&told);
	policy = qos_policy_load(NULL, NULL);
	subnet->options->qos = true;
	subnet->qos = qos_paths_make(policy, subnet->options, subnet->fabric, subnet->partitions);
	qos_policy_unref(policy);
	subnet->options->disable_multicast = true;
	told = tell(&ask);
	told_record(&told, &iba_class_port_info_type, 0, &info);
	ck_assert(info.capability_mask2 & IBA_SA_CAP2_QOS);
	ck_assert(!(info.capability_mask & IBA_SA_CAP_UD_MULTICAST));
	told_clear(&told);
}
END_TEST

/* How long an answer may take: as an SMP, or held until its promises are fulfilled. */
static const struct {
	uint32_t transaction_ms, join_ms, alias_ms;
	uint8_t code; /* 4.096 us * 2^code */
} times[] = {
	{200, 0, 0, 16}, /* 0.2 s: up to 0.268; also in the classic daemon */
	{200, 0, 500, 17},   {200, 300, 0, 17}, {1000, 0, 500, 18},    {200, 60000, 0, 24},
	{200, 0, 60000, 24}, {1, 0, 0, 8},	{INT32_MAX, 0, 0, 31}, /* 24 days; 5 bits: 2.4 h */
};

START_TEST(test_response_time)
{
	struct ask ask = ask_for(IBA_ATTR_CLASS_PORT_INFO, IBA_METHOD_GET);
	struct iba_class_port_info info;
	struct told told;

	subnet->options->transaction_timeout = times[_i].transaction_ms;
	subnet->options->join_answer_timeout = times[_i].join_ms;
	subnet->options->alias_answer_timeout = times[_i].alias_ms;
	told = tell(&ask);
	told_record(&told, &iba_class_port_info_type, 0, &info);
	ck_assert_uint_eq(info.resp_time_value, times[_i].code);
	told_clear(&told);
}
END_TEST

/* Each single component of NodeRecord selects exactly the endports with that value. */
START_TEST(test_node_components)
{
	const struct fabric *f = subnet->fabric;
	uint32_t port = endport(subnet, 5, true);
	const struct fabric_node *node = &f->nodes[f->ports[port].node];
	struct iba_node_record wanted = {.lid = f->ports[port].lid, .node_info = node->info}, got;
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET);
	struct told told;

	wanted.node_info.port_guid = f->ports[port].guid;
	memcpy(wanted.node_description.node_string, node->description, 64);
	ask.type = &iba_node_record_type;
	ask.record = &wanted;
	ask.mask = IBA_COMPONENT(node_record, lid);
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
	wanted.lid++; /* the other LID of that port */
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
	ask.mask = IBA_COMPONENT_NESTED(node_record, node_info, port_guid);
	told = tell(&ask);
	told_record(&told, &iba_node_record_type, 0, &got);
	ck_assert_uint_eq(got.lid, f->ports[port].lid);
	ck_assert(got.node_info.node_guid == node->guid);
	ck_assert_uint_eq(got.node_info.local_port_num, f->ports[port].num);
	told_clear(&told);
	ask.mask = IBA_COMPONENT_NESTED(node_record, node_description, node_string);
	ck_assert_uint_eq(status_of(&ask), IBA_STATUS_OK);
	wanted.node_description.node_string[0] ^= 1;
	ck_assert_uint_eq(status_of(&ask), IBA_SA_NO_RECORDS);
	ask.mask = IBA_COMPONENT_NESTED(node_record, node_info, node_type);
	ck_assert_uint_eq(status_of(&ask), IBA_SA_TOO_MANY_RECORDS);
	wanted.node_info.node_type = IBA_NODE_ROUTER;
	ck_assert_uint_eq(status_of(&ask), IBA_SA_NO_RECORDS);
}
END_TEST

static unsigned int count_of(const struct ask *ask)
{
	struct told told = tell(ask);
	unsigned int n = told.n;

	ck_assert_uint_eq(told.header.status, IBA_STATUS_OK);
	told_clear(&told);
	return n;
}

START_TEST(test_port_info)
{
	struct fabric *f = subnet->fabric;
	uint32_t host = endport(subnet, 2, true), sw = f->nodes[f->switches[1].node].first_port;
	struct iba_port_info_record wanted = {.endport_lid = f->ports[host].lid + 1}, got;
	struct ask ask = ask_for(IBA_ATTR_PORT_INFO_RECORD, IBA_METHOD_GET_TABLE);
	struct told told;

	f->ports[host].info.m_key = 0x1234;
	f->ports[host].info.capability_mask = 0x0F0;
	ask.type = &iba_port_info_record_type;
	ask.record = &wanted;
	ask.mask = IBA_COMPONENT(port_info_record, endport_lid);
	for (unsigned int i = 0; i < 3; i++) {
		bool privileged = i == 1;

		ask.sm_key = i ? TEST_SA_KEY : 0;
		if (i == 2)
			ask.sm_key = subnet->options->sa_key = KNOWN_SA_KEY;
		told = tell(&ask);
		ck_assert_uint_eq(told.n, 1);
		told_record(&told, &iba_port_info_record_type, 0, &got);
		ck_assert_uint_eq(got.endport_lid, f->ports[host].lid);
		ck_assert_uint_eq(got.port_num, f->ports[host].num);
		ck_assert(got.port_info.m_key == (privileged ? 0x1234 : 0));
		told_clear(&told);
	}
	wanted.endport_lid = f->ports[sw].lid;
	ck_assert_uint_eq(count_of(&ask), f->nodes[f->ports[sw].node].num_ports + 1u);
	ask.mask |= IBA_COMPONENT(port_info_record, port_num);
	wanted.port_num = 3;
	ck_assert_uint_eq(count_of(&ask), 1);
	ask.mask = IBA_COMPONENT_NESTED(port_info_record, port_info, capability_mask);
	wanted.port_info.capability_mask = 0x050;
	ck_assert_uint_eq(count_of(&ask), 0);
	ask.modifier = 0x80000000;
	ck_assert_uint_eq(count_of(&ask), 1);
	wanted.port_info.capability_mask = 0x150;
	ck_assert_uint_eq(count_of(&ask), 0);
	f->ports[host].info.capability_mask2 = 0x00F0;
	ask.mask = IBA_COMPONENT_NESTED(port_info_record, port_info, capability_mask2);
	wanted.port_info.capability_mask2 = 0x0050;
	ck_assert_uint_eq(count_of(&ask), 0); /* the modifier is for the other mask */
	ask.modifier = 0x40000000;
	ck_assert_uint_eq(count_of(&ask), 1);
	wanted.port_info.capability_mask2 = 0x0150;
	ck_assert_uint_eq(count_of(&ask), 0);
	ask.mask = 0;
	ask.modifier = 0xC0000000; /* of no component */
	ck_assert_uint_gt(count_of(&ask), 1);
	ask.mask = IBA_COMPONENT(port_info_record, endport_lid);
	f->ports[host].known = false; /* not reported yet */
	wanted.endport_lid = f->ports[host].lid;
	ck_assert_uint_eq(count_of(&ask), 0);
}
END_TEST

/* If the first node is a switch: a LID means the ports of its owner, no LID all ports. */
START_TEST(test_first_is_switch)
{
	struct iba_port_info_record wanted = {.endport_lid = 0xBFFE};
	struct ask ask = ask_for(IBA_ATTR_PORT_INFO_RECORD, IBA_METHOD_GET_TABLE);
	const struct fabric *f;
	unsigned int ports = 0;

	subnet_unref(subnet);
	subnet = make_subnet("random:4:2:0:7", 0, 0);
	f = subnet->fabric;
	ck_assert(fabric_is_switch(f, f->ports[0].node));
	ask.subnet = subnet;
	ask.from = endport(subnet, 0, false);
	ask.type = &iba_port_info_record_type;
	ask.record = &wanted;
	for (uint32_t i = 0; i < f->n_ports; i++)
		ports += f->ports[i].known && f->ports[fabric_endport_of(f, i)].lid;
	ck_assert_uint_eq(count_of(&ask), ports);
	ask.mask = IBA_COMPONENT(port_info_record, endport_lid);
	ck_assert_uint_eq(count_of(&ask), 0); /* unassigned */
	wanted.endport_lid = f->ports[f->nodes[f->switches[0].node].first_port].lid;
	ck_assert_uint_eq(count_of(&ask), f->nodes[f->switches[0].node].num_ports + 1u);
}
END_TEST

START_TEST(test_switch_info)
{
	struct ask ask = ask_for(IBA_ATTR_SWITCH_INFO_RECORD, IBA_METHOD_GET_TABLE);
	const struct fabric *f = subnet->fabric;
	struct iba_switch_info_record wanted = {.lid = f->ports[endport(subnet, 0, true)].lid}, got;
	struct told told;

	ck_assert_uint_eq(count_of(&ask), f->n_switches);
	ask.type = &iba_switch_info_record_type;
	ask.record = &wanted;
	ask.mask = IBA_COMPONENT(switch_info_record, lid);
	ck_assert_uint_eq(count_of(&ask), 0); /* that is a host */
	wanted.lid = f->ports[f->nodes[f->switches[0].node].first_port].lid;
	f->switches[0].info.linear_fdb_top = 77;
	told = tell(&ask);
	ck_assert_uint_eq(told.n, 1);
	told_record(&told, &iba_switch_info_record_type, 0, &got);
	ck_assert_uint_eq(got.lid, wanted.lid);
	ck_assert_uint_eq(got.switch_info.linear_fdb_top, 77);
	told_clear(&told);
}
END_TEST

START_TEST(test_links)
{
	struct ask ask = ask_for(IBA_ATTR_LINK_RECORD, IBA_METHOD_GET_TABLE);
	struct fabric *f = subnet->fabric;
	uint32_t host = endport(subnet, 4, true), leaf_port = f->ports[host].peer;
	struct iba_link_record wanted = {.from_lid = f->ports[host].lid + 1}, got;
	struct told told;

	ck_assert_uint_eq(count_of(&ask), 2 * f->n_links);
	ask.type = &iba_link_record_type;
	ask.record = &wanted;
	ask.mask = IBA_COMPONENT(link_record, from_lid);
	told = tell(&ask);
	ck_assert_uint_eq(told.n, 1);
	told_record(&told, &iba_link_record_type, 0, &got);
	ck_assert_uint_eq(got.from_lid, f->ports[host].lid);
	ck_assert_uint_eq(got.to_port, f->ports[leaf_port].num);
	told_clear(&told);
	wanted.to_lid =
		f->ports[host].lid + 1; /* all that lead to it, whatever comes before them */
	ask.mask = IBA_COMPONENT(link_record, to_lid);
	ck_assert_uint_eq(count_of(&ask), 1);
	wanted.to_lid = 0xBFFE; /* unassigned */
	ck_assert_uint_eq(count_of(&ask), 0);
	wanted = (struct iba_link_record){
		.from_lid = got.to_lid, .from_port = got.to_port, .to_lid = got.from_lid + 1};
	ask.mask = 0xF & ~IBA_COMPONENT(link_record, to_port);
	ck_assert_uint_eq(count_of(&ask), 1);
	f->ports[host].rate = f->ports[leaf_port].rate = 0; /* the link goes down */
	ck_assert_uint_eq(count_of(&ask), 0);
	ask.mask = 0;
	ck_assert_uint_eq(count_of(&ask), 2 * f->n_links - 2);
	host = endport(subnet, 5, true); /* one without a LID has no link that could be reported */
	f->ports[host].lid = 0;
	ck_assert_uint_eq(count_of(&ask), 2 * f->n_links - 4);
}
END_TEST

START_TEST(test_forwarding_table)
{
	struct ask ask = ask_for(IBA_ATTR_LINEAR_FORWARDING_TABLE_RECORD, IBA_METHOD_GET_TABLE);
	const struct fabric *f = subnet->fabric;
	struct iba_linear_forwarding_table_record got;
	struct told told = tell(&ask);

	ck_assert_uint_eq(told.n, f->n_switches * subnet->routing->n_blocks);
	for (unsigned int i = 0; i < told.n; i++) {
		uint32_t port, sw;

		told_record(&told, &iba_linear_forwarding_table_record_type, i, &got);
		port = fabric_port_by_lid(f, got.lid);
		sw = f->nodes[f->ports[port].node].sw;
		for (unsigned int j = 0; j < 64; j++)
			ck_assert_uint_eq(got.linear_forwarding_table.port[j],
					  subnet->routing->lft[sw][got.block_num * 64 + j]);
	}
	told_clear(&told);
}
END_TEST

/* A host has none, whatever is next to it. */
START_TEST(test_forwarding_table_of_hosts)
{
	struct iba_linear_forwarding_table_record wanted = {0};
	struct ask ask = ask_for(IBA_ATTR_LINEAR_FORWARDING_TABLE_RECORD, IBA_METHOD_GET_TABLE);

	ask.type = &iba_linear_forwarding_table_record_type;
	ask.record = &wanted;
	ask.mask = IBA_COMPONENT(linear_forwarding_table_record, lid);
	for (unsigned int i = 0; i < 16; i++) {
		wanted.lid = subnet->fabric->ports[endport(subnet, i, true)].lid;
		ck_assert_uint_eq(count_of(&ask), 0);
	}
}
END_TEST

/* One block of each switch; a block that no switch has gives no record. */
START_TEST(test_one_block)
{
	struct ask ask = ask_for(IBA_ATTR_LINEAR_FORWARDING_TABLE_RECORD, IBA_METHOD_GET_TABLE);
	struct iba_linear_forwarding_table_record wanted = {0}, got;
	uint32_t n_blocks = subnet->routing->n_blocks;

	ask.type = &iba_linear_forwarding_table_record_type;
	ask.record = &wanted;
	ask.mask = IBA_COMPONENT(linear_forwarding_table_record, block_num);
	for (; wanted.block_num <= n_blocks; wanted.block_num++) {
		struct told told = tell(&ask);

		ck_assert_uint_eq(told.n,
				  wanted.block_num < n_blocks ? subnet->fabric->n_switches : 0);
		for (unsigned int i = 0; i < told.n; i++) {
			told_record(&told, &iba_linear_forwarding_table_record_type, i, &got);
			ck_assert_uint_eq(got.block_num, wanted.block_num);
		}
		told_clear(&told);
	}
}
END_TEST

/* Each endport is listed by its own number, which is 0 for a switch. */
START_TEST(test_all_nodes)
{
	struct ask ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	const struct fabric *f = subnet->fabric;
	struct iba_node_record got;
	struct told told;

	for (uint32_t i = 0; i < f->n_nodes; i++) /* of the port that a sweep found it by */
		((struct fabric_node *)&f->nodes[i])->info.local_port_num = 3;
	told = tell(&ask);
	ck_assert_uint_eq(told.n, n_endports(subnet));
	for (unsigned int i = 0; i < told.n; i++) {
		const struct fabric_port *port;

		told_record(&told, &iba_node_record_type, i, &got);
		port = &f->ports[fabric_port_by_lid(f, got.lid)];
		ck_assert_uint_eq(got.node_info.port_guid, port->guid);
		ck_assert_uint_eq(got.node_info.local_port_num, port->num);
		ck_assert_str_eq((const char *)got.node_description.node_string,
				 f->nodes[port->node].description);
	}
	told_clear(&told);
}
END_TEST

static const uint16_t two_worlds[][4] = {{0x8001}, {0x8002}, {0x8001, 0x8002}};

/* A requester without a common partition does not see a port, unless by an operator's key. */
START_TEST(test_partitions_hide)
{
	struct ask ask;
	unsigned int seen = 0, all;

	subnet = with_partitions(subnet, two_worlds, 3, NULL, 0);
	all = n_endports(subnet);
	ask = ask_for(IBA_ATTR_NODE_RECORD, IBA_METHOD_GET_TABLE);
	for (unsigned int i = 0; i < all; i++)
		seen += partitions_shared(subnet->partitions, ask.from,
					  endport(subnet, i, false)) != 0;
	ck_assert_uint_lt(seen, all);
	ck_assert_uint_gt(seen, 0);
	ck_assert_uint_eq(count_of(&ask), seen);
	ask.sm_key = TEST_SA_KEY;
	ck_assert_uint_eq(count_of(&ask), all);
	ask.sm_key = subnet->options->sa_key = KNOWN_SA_KEY;
	ck_assert_uint_eq(count_of(&ask), seen);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_pipeline");
	TCase *tcase = tcase_create("pipeline");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_rules, 0, G_N_ELEMENTS(rules));
	tcase_add_loop_test(tcase, test_places, 0, G_N_ELEMENTS(places));
	tcase_add_test(tcase, test_versions);
	tcase_add_test(tcase, test_no_subnet_is_busy);
	tcase_add_test(tcase, test_keys);
	tcase_add_test(tcase, test_unknown_requester);
	tcase_add_test(tcase, test_answers_are_not_answered);
	tcase_add_test(tcase, test_every_length);
	tcase_add_loop_test(tcase, test_garbage, 0, 4);
	tcase_add_test(tcase, test_rmpp_requests);
	tcase_add_test(tcase, test_table_headers);
	tcase_add_test(tcase, test_padding);
	tcase_add_loop_test(tcase, test_longest_answer, 0, 2);
	tcase_add_loop_test(tcase, test_partitions, 0, G_N_ELEMENTS(by_partition));
	tcase_add_test(tcase, test_class_port_info);
	tcase_add_loop_test(tcase, test_response_time, 0, G_N_ELEMENTS(times));
	tcase_add_test(tcase, test_node_components);
	tcase_add_test(tcase, test_port_info);
	tcase_add_test(tcase, test_first_is_switch);
	tcase_add_test(tcase, test_switch_info);
	tcase_add_test(tcase, test_links);
	tcase_add_test(tcase, test_one_block);
	tcase_add_test(tcase, test_all_nodes);
	tcase_add_test(tcase, test_forwarding_table);
	tcase_add_test(tcase, test_forwarding_table_of_hosts);
	tcase_add_test(tcase, test_partitions_hide);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}

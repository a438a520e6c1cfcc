// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs in the log: what a line shows of each kind, and what it never shows. */
#include <check.h>
#include <string.h>

#include "iba/attributes.h"
#include "libvendor/frames.h"
#include "tests/run_suite.h"
#include "vendor/vendor_private.h"

#define SECRET UINT64_C(0x5EC2E75EC2E75EC2)
#define TID UINT64_C(0x12345678)
#define TID_TEXT " TID 0x0000000012345678"

static const struct vendor_address directed = {.lid = IBA_LID_PERMISSIVE};
static const struct vendor_address host = {.lid = 7, .qpn = 1};
static GString *text;
static struct log *logger;
static uint8_t wire[2048];

static void setup(void)
{
	text = g_string_new(NULL);
	logger = log_new_capture(text);
	log_set_flags(logger, LOG_FRAMES);
	memset(wire, 0, sizeof(wire));
}

static void teardown(void)
{
	log_free(logger);
	g_string_free(text, TRUE);
}

/* The text of the only line that was written since the last call. */
static const char *line(void)
{
	static char *last;
	char *begin = strstr(text->str, "-> ");

	g_free(last);
	ck_assert_ptr_nonnull(begin);
	ck_assert_ptr_null(strstr(begin + 1, "-> "));
	last = g_strdup(g_strchomp(begin + 3));
	g_string_truncate(text, 0);
	return last;
}

static void encode_smp(uint8_t mgmt_class, uint8_t method, uint16_t attribute, uint64_t m_key)
{
	const struct iba_dr_smp smp = {
		.base_version = 1,
		.mgmt_class = mgmt_class,
		.method = method,
		.direction = mgmt_class == IBA_CLASS_SUBN_DIRECTED && method & IBA_METHOD_RESPONSE,
		.transaction_id = TID,
		.attribute_id = attribute,
		.attribute_modifier = 3,
		.m_key = m_key,
		.hop_count = 2,
		.initial_path = {0, 1, 34},
	};

	wire_encode(&iba_dr_smp_type, &smp, wire);
}

static void encode_sa(uint8_t method, uint16_t attribute, const struct iba_rmpp_header *rmpp)
{
	const struct iba_sa_mad mad = {
		.header = {.base_version = 1,
			   .mgmt_class = IBA_CLASS_SUBN_ADM,
			   .method = method,
			   .transaction_id = TID,
			   .attribute_id = attribute},
		.rmpp = *rmpp,
		.sa = {.sm_key = SECRET, .component_mask = 0x18},
	};

	wire_encode(&iba_sa_mad_type, &mad, wire);
}

START_TEST(test_smp)
{
	const struct iba_node_info info = {.node_type = 2, .node_guid = 0x1234};

	encode_smp(IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	frames_log(logger, "sent", &directed, wire, IBA_MAD_BYTES);
	ck_assert_str_eq(line(), "sent SubnDirected Get(NodeInfo) 0x3 path 0,1,34" TID_TEXT);
	encode_smp(IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET_RESP, IBA_ATTR_NODE_INFO, 0);
	wire_encode(&iba_node_info_type, &info, wire + IBA_SMP_DATA_OFFSET);
	frames_log(logger, "received", &directed, wire, IBA_MAD_BYTES);
	ck_assert_str_eq(line(), "received SubnDirected GetResp(NodeInfo) 0x3 path 0,1,34" TID_TEXT
				 " status 0x0000: node_type=2 node_guid=0x0000000000001234");
	frames_log(logger, "received", &host, wire, IBA_MAD_BYTES); /* a mixed route */
	ck_assert_ptr_nonnull(strstr(line(), " 0x3 LID 7 path 0,1,34 TID "));
	encode_smp(IBA_CLASS_SUBN_LID, IBA_METHOD_SET, IBA_ATTR_LINEAR_FORWARDING_TABLE, SECRET);
	wire[IBA_SMP_DATA_OFFSET + 1] = 9;
	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_prefix(line(), "sent SubnLid Set(LinearForwardingTable) 0x3 LID 7"
					   TID_TEXT " M_Key set: port=0 9 0 "));
}
END_TEST

/* An impossible path is shown as far as there is room for it in a MAD. */
START_TEST(test_long_path)
{
	unsigned int hops = 0;

	encode_smp(IBA_CLASS_SUBN_DIRECTED, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	wire[7] = 0xFF;
	frames_log(logger, "received", &directed, wire, IBA_MAD_BYTES);
	for (const char *c = line(); *c; c++)
		hops += *c == ',';
	ck_assert_uint_eq(hops, 63);
}
END_TEST

START_TEST(test_unknown)
{
	encode_smp(0x4E, 0x33, 0x7777, 0);
	frames_log(logger, "received", &host, wire, IBA_MAD_BYTES);
	ck_assert_str_eq(line(),
			 "received class 0x4e method 0x33(0x7777) 0x3 LID 7 QP 1" TID_TEXT);
}
END_TEST

START_TEST(test_sa)
{
	const struct iba_path_record path = {.dgid = {0xFE80ULL << 48, 0x99}, .numb_path = 1};
	struct vendor_address global = host;

	encode_sa(IBA_METHOD_GET_TABLE, IBA_ATTR_PATH_RECORD, &(struct iba_rmpp_header){0});
	wire_encode(&iba_path_record_type, &path, wire + IBA_SA_DATA_OFFSET);
	global.has_grh = true;
	global.gid = path.dgid;
	frames_log(logger, "received", &global, wire, IBA_MAD_BYTES);
	ck_assert_str_eq(line(), "received SubnAdm GetTable(PathRecord) 0x0 LID 7 QP 1 "
				 "GID fe80::99" TID_TEXT " SM_Key set components 0x18: "
				 "dgid=fe80::99 numb_path=1");
}
END_TEST

START_TEST(test_rmpp)
{
	struct iba_rmpp_header rmpp = {.rmpp_type = IBA_RMPP_DATA,
				       .rmpp_flags = IBA_RMPP_ACTIVE | IBA_RMPP_FIRST,
				       .segment_number = 1,
				       .data2 = 900};

	encode_sa(IBA_METHOD_GET_TABLE_RESP, IBA_ATTR_NODE_RECORD, &rmpp);
	wire[IBA_SA_DATA_OFFSET + 1] = 5;
	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert_ptr_nonnull(strstr(line(), " status 0x0000 SM_Key set components 0x18 "
					     "RMPP DATA 1 First payload 900: lid=5"));
	frames_log(logger, "sent", &host, wire, 800);
	ck_assert_ptr_nonnull(strstr(line(), " RMPP message of 744 octets: lid=5"));
	rmpp.segment_number = 2;
	rmpp.rmpp_flags = IBA_RMPP_ACTIVE | IBA_RMPP_LAST;
	encode_sa(IBA_METHOD_GET_TABLE_RESP, IBA_ATTR_NODE_RECORD, &rmpp);
	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_suffix(line(), " RMPP DATA 2 Last payload 900"));
	rmpp.rmpp_type = IBA_RMPP_ACK;
	encode_sa(IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, &rmpp);
	frames_log(logger, "received", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_suffix(line(), " RMPP ACK 2 window to 900"));
	rmpp.rmpp_type = IBA_RMPP_ABORT;
	rmpp.rmpp_status = IBA_RMPP_UNSPECIFIED;
	encode_sa(IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, &rmpp);
	frames_log(logger, "received", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_suffix(line(), " RMPP ABORT status 127"));
}
END_TEST

START_TEST(test_notice)
{
	struct iba_trap_switch details = {.lid = 77};
	struct iba_notice notice = {.is_generic = 1, .trap_number = IBA_TRAP_LINK_STATE_CHANGE};

	wire_encode(&iba_trap_switch_type, &details, notice.data_details);
	encode_smp(IBA_CLASS_SUBN_LID, IBA_METHOD_TRAP, IBA_ATTR_NOTICE, 0);
	wire_encode(&iba_notice_type, &notice, wire + IBA_SMP_DATA_OFFSET);
	frames_log(logger, "received", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_suffix(line(), ": is_generic=1 trap_number=128 lid=77"));
	notice.is_generic = 0;
	wire_encode(&iba_notice_type, &notice, wire + IBA_SMP_DATA_OFFSET);
	frames_log(logger, "received", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_suffix(line(), ": trap_number=128"));
}
END_TEST

/* ---- keys ---- */

/* A MAD with the secret wherever there is room: in the header, and all over its data. */
static void fill(const struct iba_attribute *row, uint8_t method)
{
	unsigned int offset = iba_attribute_offset(row->mgmt_class, row->attribute);
	struct iba_mad_header header = {.mgmt_class = row->mgmt_class,
					.method = method,
					.attribute_id = row->attribute};
	uint64_t secret = GUINT64_TO_BE(SECRET);

	memset(wire, 0, sizeof(wire));
	for (unsigned int at = iba_mad_header_bytes; at + 8 <= offset; at += 8)
		if (row->mgmt_class != IBA_CLASS_SUBN_ADM)
			memcpy(wire + at, &secret, 8);
	if (row->mgmt_class == IBA_CLASS_SUBN_ADM)
		memcpy(wire + iba_mad_header_bytes + iba_rmpp_header_bytes, &secret, 8);
	wire_encode(&iba_mad_header_type, &header, wire);
}

static bool is_key(const struct wire_field *field)
{
	static const char *const keys[] = {"m_key", "sm_key", "service_key", "cc_key", "b_key",
					   NULL};

	return g_strv_contains(keys, field->name);
}

/* Its keys; those of embedded types are behind the nested type's offset. */
static void set_keys(const struct wire_type *type, uint8_t *out)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		const struct wire_field *field = &type->fields[i];

		if (field->kind == WIRE_NEST && field->count == 1)
			set_keys(field->nested, out + field->offset);
		for (unsigned int n = 0; is_key(field) && n < field->count; n++)
			wire_set_value(field, out, n, SECRET >> (field->count > 1 ? 56 : 0));
	}
}

static void expect_no_secret(const struct iba_attribute *row)
{
	g_autofree char *decimal = g_strdup_printf("%" G_GUINT64_FORMAT, SECRET);

	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert_ptr_null(strstr(text->str, decimal));
	g_string_ascii_down(text);
	if (strstr(text->str, "5ec2") || strstr(text->str, "5e5e"))
		ck_abort_msg("attribute 0x%04x: %s", row->attribute, text->str);
	ck_assert_uint_gt(text->len, 0);
	g_string_truncate(text, 0);
}

START_TEST(test_keys)
{
	for (const struct iba_attribute *row = iba_attributes; row->type; row++) {
		unsigned int offset = iba_attribute_offset(row->mgmt_class, row->attribute);
		g_autofree uint8_t *content = g_malloc0(row->type->size);

		set_keys(row->type, content);
		for (unsigned int method = IBA_METHOD_GET; method <= IBA_METHOD_GET_RESP;
		     method += IBA_METHOD_RESPONSE) {
			fill(row, (uint8_t)method);
			wire_encode(row->type, content, wire + offset);
			expect_no_secret(row);
		}
	}
}
END_TEST

/* Whatever the trap: no details are shown of unknown Notices. */
START_TEST(test_keys_of_notices)
{
	const struct iba_attribute *row = iba_attribute_find(IBA_CLASS_SUBN_LID, IBA_ATTR_NOTICE);
	struct iba_trap_m_key details = {.m_key = SECRET};
	struct iba_notice notice = {.is_generic = 1, .trap_number = IBA_TRAP_BAD_M_KEY};

	wire_encode(&iba_trap_m_key_type, &details, notice.data_details);
	for (unsigned int i = 0; i < 4; i++) {
		notice.is_generic = i % 2;
		notice.trap_number = i < 2 ? IBA_TRAP_BAD_M_KEY : 1000;
		fill(row, IBA_METHOD_TRAP);
		wire_encode(&iba_notice_type, &notice, wire + IBA_SMP_DATA_OFFSET);
		expect_no_secret(row);
	}
}
END_TEST

/* ---- when ---- */

static bool busy;

static bool fake_send(struct vendor *vendor, const struct vendor_address *to, const uint8_t *data,
		      size_t length, unsigned int timeout_ms)
{
	(void)vendor, (void)to, (void)data, (void)length, (void)timeout_ms;
	return !busy;
}

static const struct vendor_ops fake_ops = {.send = fake_send};

static void take(void *arg, struct vendor_mad *mad)
{
	(void)arg;
	vendor_mad_free(mad);
}

static void receive(struct vendor *vendor, struct actor *actor, enum vendor_status status)
{
	const struct vendor_client client = {.actor = actor, .receive = take};
	struct vendor_mad *mad = vendor_mad_new(vendor, wire, 24);

	mad->status = status;
	mad->remote = host;
	vendor_mad_post(mad, &client);
}

START_TEST(test_port)
{
	struct runtime *rt = runtime_new(RUNTIME_VIRTUAL);
	struct actor *actor = actor_new(rt, "client");
	struct vendor vendor = {.ops = &fake_ops};

	vendor_log_frames(&vendor, logger);
	encode_smp(IBA_CLASS_SUBN_LID, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	vendor_send(&vendor, &host, wire, IBA_MAD_BYTES, 0);
	ck_assert(g_str_has_prefix(line(), "sent SubnLid Get(NodeInfo)"));
	busy = true;
	vendor_send(&vendor, &host, wire, IBA_MAD_BYTES, 0);
	ck_assert_ptr_nonnull(
		strstr(text->str, "not sent, as the device does not accept more MADs: SubnLid"));
	g_string_truncate(text, 0);
	receive(&vendor, actor, VENDOR_RECEIVED);
	ck_assert(g_str_has_prefix(line(), "received SubnLid Get(NodeInfo) 0x3 LID 7"));
	receive(&vendor, actor, VENDOR_TIMED_OUT);
	ck_assert(g_str_has_prefix(line(), "no answer to SubnLid Get(NodeInfo)"));
	receive(&vendor, actor, VENDOR_FAILED);
	ck_assert(g_str_has_prefix(line(), "the device refused SubnLid Get(NodeInfo)"));
	actor_free(actor);
	runtime_free(rt);
}
END_TEST

START_TEST(test_flags)
{
	encode_smp(IBA_CLASS_SUBN_LID, IBA_METHOD_GET, IBA_ATTR_NODE_INFO, 0);
	log_set_flags(logger, 0xFF & ~LOG_FRAMES);
	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert_str_eq(text->str, "");
	log_set_module_flags(logger, "frames.c", LOG_FRAMES);
	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert(g_str_has_prefix(line(), "sent "));
	log_set_flags(logger, 0xFF);
	log_set_module_flags(logger, "frames.c", 0);
	frames_log(logger, "sent", &host, wire, IBA_MAD_BYTES);
	ck_assert_str_eq(text->str, "");
}
END_TEST

/* However short it is. */
START_TEST(test_lengths)
{
	static const uint8_t classes[] = {IBA_CLASS_SUBN_LID, IBA_CLASS_SUBN_DIRECTED,
					  IBA_CLASS_SUBN_ADM, IBA_CLASS_PERF};

	for (unsigned int i = 0; i < G_N_ELEMENTS(classes); i++) {
		encode_smp(classes[i], IBA_METHOD_GET, IBA_ATTR_NOTICE, 0);
		wire[7] = 0xFF; /* hops */
		wire[26] = IBA_RMPP_ACTIVE;
		for (size_t length = 0; length <= 2 * IBA_MAD_BYTES; length++) {
			g_autofree uint8_t *exact = g_memdup2(wire, length);

			frames_log(logger, "received", &host, exact, length);
			ck_assert((text->len > 0) == (length >= iba_mad_header_bytes));
			g_string_truncate(text, 0);
		}
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("frames");
	TCase *tcase = tcase_create("frames");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_smp);
	tcase_add_test(tcase, test_long_path);
	tcase_add_test(tcase, test_unknown);
	tcase_add_test(tcase, test_sa);
	tcase_add_test(tcase, test_rmpp);
	tcase_add_test(tcase, test_notice);
	tcase_add_test(tcase, test_keys);
	tcase_add_test(tcase, test_keys_of_notices);
	tcase_add_test(tcase, test_port);
	tcase_add_test(tcase, test_flags);
	tcase_add_test(tcase, test_lengths);
	suite_add_tcase(suite, tcase);
	return suite;
}

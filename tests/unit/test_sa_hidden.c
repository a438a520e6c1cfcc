// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a requester may not know of must look as if it did not exist: for each attribute and method,
 * a port, group or service of a partition that the requester is not in is asked for, then one that
 * does not exist, and the answers are compared octet by octet, except for the values asked for.
 */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define ABSENT_GUID UINT64_C(0x00DEAD0000BEEF01)
#define ABSENT_LID 0xBF00
#define OWN_P_KEY 0x8011
#define HIDDEN_P_KEY 0x8012
#define ABSENT_P_KEY 0x8777
#define MGID_PREFIX UINT64_C(0xFF12A01C00000000)
#define CM(name) IBA_COMPONENT(mc_member_record, name)
#define CREATE                                                                                     \
	(CM(mgid) | CM(port_gid) | CM(q_key) | CM(t_class) | CM(p_key) | CM(flow_label) | CM(sl) | \
	 CM(join_state))

static struct subnet *subnet;
static struct sa_registries all;
static struct inventory_maker *maker;
static struct inventory *inventory; /* nothing was read yet */
static uint64_t sm_key;
static uint32_t asker, visible, hidden, hidden_switch; /* endports */

/* Endports alternate between the two partitions. */
static const uint16_t rows[][4] = {{OWN_P_KEY, 0}, {HIDDEN_P_KEY, 0}};
static const struct partition partitions[] = {
	{.name = (char *)"own", .p_key = OWN_P_KEY & 0x7FFF},
	{.name = (char *)"hidden", .p_key = HIDDEN_P_KEY & 0x7FFF},
};

static const struct fabric_port *port(uint32_t index)
{
	return &subnet->fabric->ports[index];
}

static struct iba_gid gid_of(uint64_t guid)
{
	return (struct iba_gid){subnet->options->subnet_prefix, guid};
}

/* An answer, and the request. */
struct heard {
	struct told told;
	uint8_t asked[IBA_MAD_BYTES];
};

static struct heard say(uint32_t from, uint8_t method, uint16_t attribute, uint64_t mask,
			const struct wire_type *type, const void *record)
{
	struct ask ask = {
		.subnet = subnet,
		.store = all.groups,
		.registries = &all,
		.inventory = inventory,
		.from = from,
		.sm_key = sm_key,
		.method = method,
		.attribute = attribute,
		.mask = mask,
		.type = type,
		.record = record,
	};
	struct heard heard = {.told = {0}};

	ask_encode(&ask, heard.asked);
	heard.told = tell_octets(&ask, heard.asked, sizeof(heard.asked));
	return heard;
}

static int status_of(uint32_t from, uint8_t method, uint16_t attribute, uint64_t mask,
		     const struct wire_type *type, const void *record)
{
	struct heard heard = say(from, method, attribute, mask, type, record);
	int status = heard.told.header.status;

	told_clear(&heard.told);
	return status;
}

static struct iba_mc_member_record group_record(uint32_t who, uint16_t p_key, uint64_t number)
{
	return (struct iba_mc_member_record){
		.mgid = {MGID_PREFIX, number},
		.port_gid = gid_of(port(who)->guid),
		.q_key = 0x55,
		.p_key = p_key,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
}

/* What the port of the other partition has made: group 2, service 2, a subscription. */
static void make_hidden(void)
{
	struct iba_mc_member_record group = group_record(hidden, HIDDEN_P_KEY, 2);
	struct iba_service_record service = {.service_id = 2,
					     .service_gid = gid_of(port(hidden)->guid),
					     .service_p_key = HIDDEN_P_KEY};
	struct iba_inform_info info = {.lid_range_begin = IBA_LID_PERMISSIVE,
				       .is_generic = 1,
				       .subscribe = 1,
				       .type = 0xFFFF,
				       .trap_number = IBA_TRAP_GID_IN_SERVICE,
				       .producer_type = 0xFFFFFF};

	ck_assert_int_eq(status_of(hidden, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD, CREATE,
				   &iba_mc_member_record_type, &group),
			 0);
	ck_assert_int_eq(status_of(hidden, IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD, 0x7,
				   &iba_service_record_type, &service),
			 0);
	ck_assert_int_eq(status_of(hidden, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0,
				   &iba_inform_info_type, &info),
			 0);
}

static void setup(void)
{
	subnet = with_partitions(make_subnet("fattree:4", 0, 0), rows, 2, partitions, 2);
	all = sa_registries_new(0);
	sa_store_follow(all.groups, subnet, 0);
	maker = inventory_maker_new();
	inventory = inventory_publish(maker);
	sm_key = 0;
	asker = visible = hidden = hidden_switch = FABRIC_NONE;
	for (unsigned int i = 0; i < n_endports(subnet); i++) {
		uint32_t endport_i = endport(subnet, i, false);
		bool is_switch = fabric_is_switch(subnet->fabric, port(endport_i)->node);

		if (i % 2 && is_switch)
			hidden_switch = endport_i;
		else if (i % 2)
			hidden = endport_i;
		else if (!is_switch) {
			visible = asker;
			asker = endport_i;
		}
	}
	make_hidden();
}

static void teardown(void)
{
	sa_registries_free(&all);
	inventory_unref(inventory);
	inventory_maker_free(maker);
	subnet_unref(subnet);
}

/* ---- one question twice ---- */

/* The subject of the request: once a hidden one, once one that does not exist. */
struct target {
	uint16_t lid, switch_lid, p_key, mlid;
	uint64_t guid, number; /* of a port; of a group or service */
};

static const struct target *target; /* that is put into the records */

static struct iba_gid target_gid(void)
{
	return gid_of(target->guid);
}

typedef void fill_fn(union sa_any *record);

static void fill_lid(union sa_any *record) /* all records have it first */
{
	record->node.lid = target->lid;
}

static void fill_switch_lid(union sa_any *record)
{
	record->node.lid = target->switch_lid;
}

static void fill_guid(union sa_any *record)
{
	record->node.node_info.port_guid = target->guid;
}

static void fill_port_info(union sa_any *record)
{
	record->port_info.endport_lid = target->lid;
}

static void fill_link_from(union sa_any *record)
{
	record->link.from_lid = target->lid;
}

static void fill_link_to(union sa_any *record)
{
	record->link.to_lid = target->lid;
}

static void fill_guid_info(union sa_any *record)
{
	record->guid_info.lid = target->lid;
	record->guid_info.guid_info.guid[1] = 7;
}

static void fill_path_dgid(union sa_any *record)
{
	record->path.sgid = gid_of(port(asker)->guid);
	record->path.dgid = target_gid();
	record->path.numb_path = 1;
}

static void fill_path_sgid(union sa_any *record)
{
	record->path.sgid = target_gid();
	record->path.dgid = gid_of(port(asker)->guid);
	record->path.numb_path = 1;
}

static void fill_path_dlid(union sa_any *record)
{
	record->path.slid = port(asker)->lid;
	record->path.dlid = target->lid;
	record->path.numb_path = 1;
}

static void fill_path_p_key(union sa_any *record)
{
	record->path.sgid = gid_of(port(asker)->guid);
	record->path.p_key = target->p_key;
	record->path.numb_path = 1;
}

static void fill_path_mgid(union sa_any *record)
{
	record->path.sgid = gid_of(port(asker)->guid);
	record->path.dgid = (struct iba_gid){MGID_PREFIX, target->number};
	record->path.numb_path = 1;
}

static void fill_path_mlid(union sa_any *record)
{
	record->path.slid = port(asker)->lid;
	record->path.dlid = target->mlid;
	record->path.numb_path = 1;
}

static void fill_member_mgid(union sa_any *record)
{
	record->member.mgid = (struct iba_gid){MGID_PREFIX, target->number};
}

static void fill_member_mlid(union sa_any *record)
{
	record->member.mlid = target->mlid;
}

static void fill_member_p_key(union sa_any *record)
{
	record->member.p_key = target->p_key;
}

static void fill_member_gid(union sa_any *record)
{
	record->member.port_gid = target_gid();
}

static void fill_join(union sa_any *record)
{
	record->member = group_record(asker, target->p_key, target->number);
}

/* A group of that P_Key, which does not exist. */
static void fill_create(union sa_any *record)
{
	record->member = group_record(asker, target->p_key, 99);
}

/* By proxy, for that port. */
static void fill_proxy(union sa_any *record)
{
	record->member = group_record(asker, OWN_P_KEY, 98);
	record->member.port_gid = target_gid();
	record->member.proxy_join = 1;
}

/* A port that it may see, into that group. */
static void fill_join_for(union sa_any *record)
{
	record->member = group_record(visible, target->p_key, target->number);
	record->member.proxy_join = 1;
}

static void fill_service_id(union sa_any *record)
{
	record->service.service_id = target->number;
}

static void fill_service_gid(union sa_any *record)
{
	record->service.service_gid = target_gid();
}

static void fill_service_p_key(union sa_any *record)
{
	record->service.service_p_key = target->p_key;
}

static void fill_serve(union sa_any *record)
{
	record->service = (struct iba_service_record){.service_id = target->number,
						      .service_gid = gid_of(port(asker)->guid),
						      .service_p_key = target->p_key};
}

static void fill_serve_for(union sa_any *record)
{
	record->service = (struct iba_service_record){
		.service_id = 77, .service_gid = target_gid(), .service_p_key = OWN_P_KEY};
}

static void fill_unserve(union sa_any *record)
{
	record->service = (struct iba_service_record){.service_id = target->number,
						      .service_gid = target_gid(),
						      .service_p_key = target->p_key};
}

static void fill_inform(union sa_any *record)
{
	record->inform_info = (struct iba_inform_info){.gid = target_gid(),
						       .is_generic = 1,
						       .subscribe = 1,
						       .type = 0xFFFF,
						       .trap_number = IBA_TRAP_GID_IN_SERVICE,
						       .producer_type = 0xFFFFFF};
}

static void fill_inform_range(union sa_any *record)
{
	fill_inform(record);
	record->inform_info.gid = (struct iba_gid){0};
	record->inform_info.lid_range_begin = record->inform_info.lid_range_end = target->lid;
}

static void fill_subscription(union sa_any *record)
{
	record->subscription.subscriber_gid = target_gid();
}

#define C(type, name) IBA_COMPONENT(type, name)
#define PATH(name) IBA_COMPONENT(path_record, name)
#define SERVICE(name) IBA_COMPONENT(service_record, name)
#define READ(attribute, type, mask, fill)                                                          \
	{#attribute " " #fill, IBA_METHOD_GET,                                                     \
	 IBA_ATTR_##attribute, mask,                                                               \
	 &iba_##type##_type,   fill},                                                              \
	{                                                                                          \
#attribute " table " #fill, IBA_METHOD_GET_TABLE, IBA_ATTR_##attribute, mask,      \
			&iba_##type##_type, fill                                                   \
	}
#define DO(method, attribute, type, mask, fill)                                                    \
	{                                                                                          \
#method " " #attribute " " #fill, IBA_METHOD_##method, IBA_ATTR_##attribute, mask, \
			&iba_##type##_type, fill                                                   \
	}

static const struct question {
	const char *name;
	uint8_t method;
	uint16_t attribute;
	uint64_t mask;
	const struct wire_type *type;
	fill_fn *fill;
} questions[] = {
	READ(NODE_RECORD, node_record, C(node_record, lid), fill_lid),
	READ(NODE_RECORD, node_record, C(node_record, lid), fill_switch_lid),
	READ(NODE_RECORD, node_record, C(node_info, port_guid), fill_guid),
	READ(PORT_INFO_RECORD, port_info_record, 1, fill_port_info),
	READ(SWITCH_INFO_RECORD, switch_info_record, 1, fill_switch_lid),
	READ(LINEAR_FORWARDING_TABLE_RECORD, linear_forwarding_table_record, 1, fill_switch_lid),
	READ(MULTICAST_FORWARDING_TABLE_RECORD, multicast_forwarding_table_record, 1,
	     fill_switch_lid),
	READ(SL_TO_VL_TABLE_RECORD, sl_to_vl_table_record, 1, fill_lid),
	READ(VL_ARBITRATION_TABLE_RECORD, vl_arbitration_table_record, 1, fill_lid),
	READ(GUID_INFO_RECORD, guid_info_record, 1, fill_guid_info),
	READ(SM_INFO_RECORD, sm_info_record, 1, fill_lid),
	READ(P_KEY_TABLE_RECORD, p_key_table_record, 1, fill_lid),
	READ(LINK_RECORD, link_record, C(link_record, from_lid), fill_link_from),
	READ(LINK_RECORD, link_record, C(link_record, to_lid), fill_link_to),
	READ(PATH_RECORD, path_record, PATH(sgid) | PATH(dgid) | PATH(numb_path), fill_path_dgid),
	READ(PATH_RECORD, path_record, PATH(sgid) | PATH(dgid) | PATH(numb_path), fill_path_sgid),
	READ(PATH_RECORD, path_record, PATH(slid) | PATH(dlid) | PATH(numb_path), fill_path_dlid),
	READ(PATH_RECORD, path_record, PATH(sgid) | PATH(p_key) | PATH(numb_path), fill_path_p_key),
	READ(PATH_RECORD, path_record, PATH(sgid) | PATH(dgid) | PATH(numb_path), fill_path_mgid),
	READ(PATH_RECORD, path_record, PATH(slid) | PATH(dlid) | PATH(numb_path), fill_path_mlid),
	DO(GET_TRACE_TABLE, TRACE_RECORD, path_record, PATH(sgid) | PATH(dgid), fill_path_dgid),
	DO(GET_TRACE_TABLE, TRACE_RECORD, path_record, PATH(sgid) | PATH(dgid), fill_path_sgid),
	READ(MC_MEMBER_RECORD, mc_member_record, CM(mgid), fill_member_mgid),
	READ(MC_MEMBER_RECORD, mc_member_record, CM(mlid), fill_member_mlid),
	READ(MC_MEMBER_RECORD, mc_member_record, CM(p_key), fill_member_p_key),
	READ(MC_MEMBER_RECORD, mc_member_record, CM(port_gid), fill_member_gid),
	DO(SET, MC_MEMBER_RECORD, mc_member_record, CREATE, fill_join),
	DO(SET, MC_MEMBER_RECORD, mc_member_record, CREATE, fill_create),
	DO(SET, MC_MEMBER_RECORD, mc_member_record, CREATE | CM(proxy_join), fill_proxy),
	DO(SET, MC_MEMBER_RECORD, mc_member_record, CM(mgid) | CM(port_gid) | CM(join_state),
	   fill_join),
	DO(DELETE, MC_MEMBER_RECORD, mc_member_record, CM(mgid) | CM(port_gid) | CM(join_state),
	   fill_join),
	DO(DELETE, MC_MEMBER_RECORD, mc_member_record, CM(mgid) | CM(port_gid) | CM(join_state),
	   fill_proxy),
	DO(SET, MC_MEMBER_RECORD, mc_member_record, CREATE | CM(proxy_join), fill_join_for),
	DO(SET, MC_MEMBER_RECORD, mc_member_record,
	   CM(mgid) | CM(port_gid) | CM(join_state) | CM(proxy_join), fill_join_for),
	DO(DELETE, MC_MEMBER_RECORD, mc_member_record, CM(mgid) | CM(port_gid) | CM(join_state),
	   fill_join_for),
	READ(SERVICE_RECORD, service_record, SERVICE(service_id), fill_service_id),
	READ(SERVICE_RECORD, service_record, SERVICE(service_gid), fill_service_gid),
	READ(SERVICE_RECORD, service_record, SERVICE(service_p_key), fill_service_p_key),
	DO(SET, SERVICE_RECORD, service_record, 7, fill_serve),
	DO(SET, SERVICE_RECORD, service_record, 7, fill_serve_for),
	DO(DELETE, SERVICE_RECORD, service_record, 7, fill_unserve),
	DO(SET, INFORM_INFO, inform_info, 0, fill_inform),
	READ(INFORM_INFO_RECORD, inform_info_record, C(inform_info_record, subscriber_gid),
	     fill_subscription),
	DO(SET, GUID_INFO_RECORD, guid_info_record, 0x23, fill_guid_info),
	DO(DELETE, GUID_INFO_RECORD, guid_info_record, 0x23, fill_guid_info),
};

static struct heard ask_for_target(const struct question *question, const struct target *what)
{
	union sa_any record = {0};

	target = what;
	question->fill(&record);
	return say(asker, question->method, question->attribute, question->mask, question->type,
		   &record);
}

/* Octets that differ where the two requests are equal. */
static unsigned int differences(const struct heard *a, const struct heard *b)
{
	unsigned int n = 0;

	for (size_t i = 0; i < MIN(a->told.length, b->told.length); i++)
		n += a->told.data[i] != b->told.data[i] &&
		     (i >= IBA_MAD_BYTES || a->asked[i] == b->asked[i]);
	return n;
}

static void compare_answers(const char *what, struct heard *a, struct heard *b)
{
	const struct told *x = &a->told, *y = &b->told;

	ck_assert_msg(x->answered == y->answered, "%s: one is answered", what);
	ck_assert_msg(x->waits == y->waits, "%s: one waits", what);
	ck_assert_msg(x->header.status == y->header.status,
		      "%s: status 0x%04x of what is hidden, 0x%04x of what is not there", what,
		      x->header.status, y->header.status);
	ck_assert_msg(x->length == y->length && x->n == y->n, "%s: %u and %u records", what, x->n,
		      y->n);
	ck_assert_msg(!differences(a, b), "%s: %u octets differ", what, differences(a, b));
	told_clear(&a->told);
	told_clear(&b->told);
}

static void compare(const struct question *question)
{
	const struct target there = {
		.lid = port(hidden)->lid,
		.switch_lid = port(hidden_switch)->lid,
		.p_key = HIDDEN_P_KEY,
		.mlid = sa_store_find(all.groups, (struct iba_gid){MGID_PREFIX, 2})->record.mlid,
		.guid = port(hidden)->guid,
		.number = 2};
	const struct target absent = {.lid = ABSENT_LID,
				      .switch_lid = ABSENT_LID,
				      .p_key = ABSENT_P_KEY,
				      .mlid = 0xC777,
				      .guid = ABSENT_GUID,
				      .number = 777};
	struct heard a = ask_for_target(question, &there), b = ask_for_target(question, &absent);

	compare_answers(question->name, &a, &b);
}

START_TEST(test_hidden)
{
	compare(&questions[_i]);
}
END_TEST

/* Nor is it shown with the well-known key. */
START_TEST(test_hidden_by_known_key)
{
	sm_key = ((struct options *)subnet->options)->sa_key = KNOWN_SA_KEY;
	compare(&questions[_i]);
}
END_TEST

/* The request has its GIDs after the fixed part. */
static struct heard ask_multi(uint64_t guid, bool is_source)
{
	const struct iba_multi_path_record record = {
		.numb_path = 1, .sgid_count = 1, .dgid_count = 1};
	struct ask ask = {
		.subnet = subnet,
		.from = asker,
		.method = IBA_METHOD_GET_MULTI,
		.attribute = IBA_ATTR_MULTI_PATH_RECORD,
		.mask = C(multi_path_record, sgid_count) | C(multi_path_record, dgid_count) |
			C(multi_path_record, numb_path),
		.type = &iba_multi_path_record_type,
		.record = &record,
	};
	const struct iba_gid own = gid_of(port(asker)->guid), other = gid_of(guid);
	struct heard heard = {.told = {0}};

	ask_encode(&ask, heard.asked);
	wire_encode(&iba_gid_type, is_source ? &other : &own, heard.asked + 80);
	wire_encode(&iba_gid_type, is_source ? &own : &other, heard.asked + 96);
	heard.told = tell_octets(&ask, heard.asked, sizeof(heard.asked));
	return heard;
}

START_TEST(test_multi_path)
{
	struct heard a = ask_multi(port(hidden)->guid, _i), b = ask_multi(ABSENT_GUID, _i);

	compare_answers("MultiPathRecord", &a, &b);
}
END_TEST

/*
 * A GRH that names another port than the LID is refused, as the sender may be answered only if it
 * may know of that port.
 */
static struct heard ask_with_grh(uint64_t guid)
{
	struct ask ask = {
		.subnet = subnet,
		.registries = &all,
		.store = all.groups,
		.from = asker,
		.grh_guid = guid,
		.method = IBA_METHOD_GET_TABLE,
		.attribute = IBA_ATTR_NODE_RECORD,
		.type = &iba_node_record_type,
		.record = &(struct iba_node_record){0},
	};
	struct heard heard = {.told = {0}};

	ask_encode(&ask, heard.asked);
	heard.told = tell_octets(&ask, heard.asked, sizeof(heard.asked));
	return heard;
}

START_TEST(test_grh)
{
	struct heard a = ask_with_grh(port(hidden)->guid), b = ask_with_grh(ABSENT_GUID);
	struct heard c = ask_with_grh(port(visible)->guid);

	ck_assert_uint_eq(c.told.header.status, IBA_SA_INVALID_GID);
	told_clear(&c.told);
	compare_answers("GRH", &a, &b);
}
END_TEST

/* A range of LIDs names nothing: it is accepted, whatever exists. */
START_TEST(test_lid_range)
{
	const struct question question = DO(SET, INFORM_INFO, inform_info, 0, fill_inform_range);

	compare(&question);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_hidden");
	TCase *tcase = tcase_create("hidden");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_hidden, 0, G_N_ELEMENTS(questions));
	tcase_add_loop_test(tcase, test_hidden_by_known_key, 0, G_N_ELEMENTS(questions));
	tcase_add_test(tcase, test_lid_range);
	tcase_add_loop_test(tcase, test_multi_path, 0, 2);
	tcase_add_test(tcase, test_grh);
	suite_add_tcase(suite, tcase);
	return suite;
}

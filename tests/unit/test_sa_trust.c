// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* sa_enhanced_trust_model: a client without the key sees only itself, and has quotas. */
#include <check.h>
#include <string.h>

#include "complib/actor.h"
#include "sa/admit/rate.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_make.h"

#define CM(name) IBA_COMPONENT(mc_member_record, name)
#define CS(name) IBA_COMPONENT(service_record, name)
#define CP(name) IBA_COMPONENT(path_record, name)

static struct subnet *subnet;
static struct options *options;
static struct sa_registries all;
static uint64_t sm_key;

static void setup(void)
{
	subnet = make_subnet("fattree:4", 0, 0);
	options = (struct options *)subnet->options;
	options->sa_enhanced_trust_model = true;
	all = sa_registries_new(0);
	sm_key = 0;
}

static void teardown(void)
{
	sa_registries_free(&all);
	subnet_unref(subnet);
}

static const struct fabric_port *host(unsigned int n)
{
	return &subnet->fabric->ports[endport(subnet, n, true)];
}

static struct iba_gid gid_of(unsigned int n)
{
	return (struct iba_gid){IBA_DEFAULT_GID_PREFIX, host(n)->guid};
}

/* Host 0 sends a request; returns the status, and the number of records. */
static int ask(uint8_t method, uint16_t attribute, uint64_t mask, const struct wire_type *type,
	       const void *record, unsigned int *n)
{
	struct ask ask = {
		.subnet = subnet,
		.store = all.groups,
		.registries = &all,
		.from = endport(subnet, 0, true),
		.sm_key = sm_key,
		.method = method,
		.attribute = attribute,
		.mask = mask,
		.type = type,
		.record = record,
	};
	struct told told = tell(&ask);
	int status = told.header.status;

	*n = told.n;
	told_clear(&told);
	return status;
}

static unsigned int count(uint16_t attribute, uint64_t mask, const struct wire_type *type,
			  const void *record)
{
	unsigned int n;

	ck_assert_int_eq(ask(IBA_METHOD_GET_TABLE, attribute, mask, type, record, &n),
			 IBA_STATUS_OK);
	return n;
}

/* Of records of ports only its own, with the key or without the model all. */
START_TEST(test_records)
{
	static const struct {
		uint16_t attribute;
		const struct wire_type *type;
		unsigned int own;
	} cases[] = {
		{IBA_ATTR_NODE_RECORD, &iba_node_record_type, 1},
		{IBA_ATTR_PORT_INFO_RECORD, &iba_port_info_record_type, 1},
		{IBA_ATTR_LINK_RECORD, &iba_link_record_type, 0}, /* its other end is a switch */
		{IBA_ATTR_SWITCH_INFO_RECORD, &iba_switch_info_record_type, 0},
		{IBA_ATTR_LINEAR_FORWARDING_TABLE_RECORD, &iba_linear_forwarding_table_record_type,
		 0},
	};
	const union sa_any none = {0};

	for (unsigned int i = 0; i < G_N_ELEMENTS(cases); i++) {
		sm_key = 0;
		ck_assert_uint_eq(count(cases[i].attribute, 0, cases[i].type, &none), cases[i].own);
		sm_key = TEST_SA_KEY;
		ck_assert_uint_gt(count(cases[i].attribute, 0, cases[i].type, &none), 10);
		options->sa_enhanced_trust_model = false;
		sm_key = 0;
		ck_assert_uint_gt(count(cases[i].attribute, 0, cases[i].type, &none), 10);
		options->sa_enhanced_trust_model = true;
	}
}
END_TEST

/* From itself to ports in a common partition; not from others, not all, no trace. */
START_TEST(test_paths)
{
	struct iba_path_record path = {.sgid = gid_of(0), .dgid = gid_of(5), .numb_path = 1};
	const uint64_t pair = CP(sgid) | CP(dgid);
	unsigned int n, hosts = 0;

	for (uint32_t i = 0; i < subnet->fabric->n_ports; i++)
		hosts += fabric_is_endport(subnet->fabric, i) && subnet->fabric->ports[i].lid;
	ck_assert_int_eq(
		ask(IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, pair, &iba_path_record_type, &path, &n),
		IBA_STATUS_OK);
	ck_assert_uint_eq(
		count(IBA_ATTR_PATH_RECORD, CP(sgid) | CP(numb_path), &iba_path_record_type, &path),
		hosts);
	ck_assert_uint_eq(count(IBA_ATTR_PATH_RECORD, CP(numb_path), &iba_path_record_type, &path),
			  hosts); /* those from itself */
	ck_assert_int_eq(ask(IBA_METHOD_GET_TRACE_TABLE, IBA_ATTR_TRACE_RECORD, pair,
			     &iba_path_record_type, &path, &n),
			 IBA_SA_DENIED);
	path.sgid = gid_of(5);
	path.dgid = gid_of(0);
	ck_assert_int_eq(
		ask(IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, pair, &iba_path_record_type, &path, &n),
		IBA_SA_NO_RECORDS);
	sm_key = TEST_SA_KEY;
	ck_assert_int_eq(
		ask(IBA_METHOD_GET, IBA_ATTR_PATH_RECORD, pair, &iba_path_record_type, &path, &n),
		IBA_STATUS_OK);
}
END_TEST

static int join(unsigned int who, uint64_t number, bool proxy)
{
	const struct iba_mc_member_record record = {
		.mgid = {UINT64_C(0xFF12ABCD00000000), number},
		.port_gid = gid_of(who),
		.p_key = 0xFFFF,
		.join_state = IBA_JOIN_FULL_MEMBER,
		.proxy_join = proxy,
	};
	unsigned int n;

	return ask(IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD,
		   CM(mgid) | CM(port_gid) | CM(join_state) | CM(q_key) | CM(t_class) | CM(p_key) |
			   CM(flow_label) | CM(sl) | CM(proxy_join),
		   &iba_mc_member_record_type, &record, &n);
}

static int serve(uint64_t id)
{
	const struct iba_service_record record = {.service_id = id, .service_gid = gid_of(0)};
	unsigned int n;

	return ask(IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD, CS(service_id) | CS(service_gid),
		   &iba_service_record_type, &record, &n);
}

static int subscribe(uint16_t trap)
{
	const struct iba_inform_info info = {.lid_range_begin = IBA_LID_PERMISSIVE,
					     .is_generic = 1,
					     .subscribe = 1,
					     .type = 0xFFFF,
					     .trap_number = trap,
					     .producer_type = 0xFFFFFF};
	unsigned int n;

	return ask(IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info, &n);
}

/* A repeated request does not count; the key, 0 and another model lift the limits. */
START_TEST(test_quotas)
{
	options->sa_etm_max_num_mcgs = options->sa_etm_max_num_srvcs = 3;
	options->sa_etm_max_num_event_subs = 3;
	for (unsigned int i = 0; i < 6; i++) {
		int want = i < 3 ? IBA_STATUS_OK : IBA_SA_NO_RESOURCES;

		ck_assert_int_eq(join(0, i + 1, false), want);
		ck_assert_int_eq(serve(i + 1), want);
		ck_assert_int_eq(subscribe((uint16_t)(64 + i % 4 + i / 4 * 64)), want);
	}
	ck_assert_int_eq(join(0, 1, false), IBA_STATUS_OK);
	ck_assert_int_eq(serve(1), IBA_STATUS_OK);
	ck_assert_int_eq(subscribe(64), IBA_STATUS_OK);
	options->sa_etm_max_num_mcgs = options->sa_etm_max_num_srvcs = 0;
	options->sa_etm_max_num_event_subs = 0;
	ck_assert_int_eq(join(0, 4, false), IBA_STATUS_OK);
	ck_assert_int_eq(serve(4), IBA_STATUS_OK);
	ck_assert_int_eq(subscribe(67), IBA_STATUS_OK);
	options->sa_etm_max_num_mcgs = 1;
	sm_key = TEST_SA_KEY;
	ck_assert_int_eq(join(0, 5, false), IBA_STATUS_OK);
	sm_key = 0;
	options->sa_enhanced_trust_model = false;
	ck_assert_int_eq(join(0, 6, false), IBA_STATUS_OK);
}
END_TEST

START_TEST(test_what_is_allowed)
{
	struct iba_guid_info_record record = {.lid = host(0)->lid, .guid_info.guid = {[1] = 7}};
	const uint64_t mask = 0x23; /* LID, BlockNum, GID1 */
	unsigned int n;

	((struct fabric_port *)host(0))->info.guid_cap = 8;
	ck_assert_int_eq(join(1, 1, true), IBA_SA_DENIED);
	options->sa_etm_allow_untrusted_proxy_requests = true;
	ck_assert_int_eq(join(1, 1, true), IBA_STATUS_OK);
	ck_assert_int_eq(ask(IBA_METHOD_SET, IBA_ATTR_GUID_INFO_RECORD, mask,
			     &iba_guid_info_record_type, &record, &n),
			 IBA_SA_DENIED);
	options->sa_etm_allow_untrusted_guidinfo_rec = true;
	ck_assert_int_eq(ask(IBA_METHOD_SET, IBA_ATTR_GUID_INFO_RECORD, mask,
			     &iba_guid_info_record_type, &record, &n),
			 IBA_STATUS_OK);
}
END_TEST

/*
 * The well-known key gives access to secret traps only on the SM's node; where trust is enhanced it
 * gives no other access either.
 */
START_TEST(test_known_key)
{
	static const uint16_t secrets[] = {IBA_TRAP_BAD_M_KEY, IBA_TRAP_BAD_P_KEY,
					   IBA_TRAP_BAD_Q_KEY, IBA_TRAP_SWITCH_BAD_P_KEY};
	const union sa_any none = {0};
	bool enhanced = _i;
	unsigned int n;

	options->sa_key = KNOWN_SA_KEY;
	options->sa_enhanced_trust_model = enhanced;
	sm_key = KNOWN_SA_KEY;
	subnet->sm_guid = host(1)->guid;
	ck_assert_int_eq(ask(IBA_METHOD_GET_TABLE, IBA_ATTR_P_KEY_TABLE_RECORD, 0,
			     &iba_p_key_table_record_type, &none, &n),
			 enhanced ? IBA_SA_DENIED : IBA_STATUS_OK);
	for (unsigned int i = 0; i < G_N_ELEMENTS(secrets); i++)
		ck_assert_int_eq(subscribe(secrets[i]), IBA_SA_DENIED);
	subnet->sm_guid = host(0)->guid;
	for (unsigned int i = 0; i < G_N_ELEMENTS(secrets); i++)
		ck_assert_int_eq(subscribe(secrets[i]), IBA_STATUS_OK);
	ck_assert_int_eq(ask(IBA_METHOD_GET_TABLE, IBA_ATTR_P_KEY_TABLE_RECORD, 0,
			     &iba_p_key_table_record_type, &none, &n),
			 IBA_STATUS_OK);
	sm_key = 0;
	ck_assert_int_eq(subscribe(IBA_TRAP_BAD_M_KEY), IBA_SA_DENIED);
}
END_TEST

/* A burst, and ten times as many a second; others have their own. */
START_TEST(test_rate)
{
	struct sa_rate *rate = sa_rate_new();
	unsigned int passed = 0;

	for (unsigned int i = 0; i < 1000; i++)
		ck_assert(sa_rate_pass(rate, 7, 0, NS_PER_S));
	for (unsigned int i = 0; i < 1000; i++)
		passed += sa_rate_pass(rate, 7, 20, NS_PER_S);
	ck_assert_uint_eq(passed, 20);
	ck_assert(sa_rate_pass(rate, 8, 20, NS_PER_S));
	for (unsigned int i = 0; i < 10000; i++)
		passed += sa_rate_pass(rate, 7, 20, NS_PER_S + i * NS_PER_MS / 10);
	ck_assert_uint_ge(passed, 20 + 199);
	ck_assert_uint_le(passed, 20 + 201);
	for (unsigned int i = 0; i < 30; i++) /* another limit starts from scratch */
		ck_assert(sa_rate_pass(rate, 7, 30, 2 * NS_PER_S));
	ck_assert(!sa_rate_pass(rate, 7, 30, 2 * NS_PER_S));
	sa_rate_free(rate);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_trust");
	TCase *tcase = tcase_create("trust");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_records);
	tcase_add_test(tcase, test_paths);
	tcase_add_test(tcase, test_quotas);
	tcase_add_test(tcase, test_what_is_allowed);
	tcase_add_loop_test(tcase, test_known_key, 0, 2);
	tcase_add_test(tcase, test_rate);
	suite_add_tcase(suite, tcase);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repeated Sets, octet by octet, after what they made is gone: what a request removed stays
 * removed, what was lost otherwise is made again.
 */
#include <check.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/test_sa_net.h"

#define SECOND NS_PER_S
#define M(name) IBA_COMPONENT(mc_member_record, name)
#define S(name) IBA_COMPONENT(service_record, name)

static struct net net;

static void begin(void)
{
	net_start(&net, RUNTIME_VIRTUAL, "fattree:4");
}

static void bring_up(void)
{
	net_run_daemon(&net);
	ck_assert(net_wait_up(&net));
}

static void end(void)
{
	net_stop(&net);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void run_ms(uint64_t ms)
{
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + ms * NS_PER_MS);
}

static bool answered(void *arg)
{
	(void)arg;
	return net.answer != NULL;
}

/* The status of request number n of the client; after success record gets the answer. */
static uint16_t ask(unsigned int n, uint8_t method, uint16_t attribute, uint64_t mask,
		    const struct wire_type *type, void *record)
{
	struct iba_mad_header header;

	net.n_asked = n - 1;
	net_ask(&net, method, attribute, mask, type, record);
	ck_assert(runtime_run(net.rt, answered, NULL, runtime_now(net.rt) + 2 * SECOND));
	ck_assert_int_eq(net.answer->status, VENDOR_RECEIVED);
	wire_decode(&iba_mad_header_type, net.answer->data, &header);
	if (header.status == IBA_STATUS_OK)
		wire_decode(type, net.answer->data + IBA_SA_DATA_OFFSET, record);
	vendor_mad_free(g_steal_pointer(&net.answer));
	return header.status;
}

static uint64_t n_repeated(void)
{
	return counter_get(&net.context.counters, sa_repeated);
}

static struct iba_gid own_gid(void)
{
	return (struct iba_gid){IBA_DEFAULT_GID_PREFIX, net.client_guid};
}

static uint16_t service(unsigned int n, uint8_t method)
{
	struct iba_service_record record = {
		.service_id = 7, .service_gid = own_gid(), .service_lease = 2};
	uint64_t mask = S(service_id) | S(service_gid);

	return ask(n, method, IBA_ATTR_SERVICE_RECORD,
		   method == IBA_METHOD_SET ? mask | S(service_lease) : mask,
		   &iba_service_record_type, &record);
}

/* A group of that MGID, which is made or left; zeros: one whose MGID the SA assigns. */
static uint16_t member(unsigned int n, uint8_t method, struct iba_gid *mgid)
{
	struct iba_mc_member_record record = {
		.mgid = *mgid,
		.port_gid = own_gid(),
		.p_key = 0xFFFF,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	uint64_t mask = M(mgid) | M(port_gid) | M(join_state);
	uint16_t status;

	if (method == IBA_METHOD_SET)
		mask |= M(q_key) | M(t_class) | M(p_key) | M(flow_label) | M(sl);
	status = ask(n, method, IBA_ATTR_MC_MEMBER_RECORD, mask, &iba_mc_member_record_type,
		     &record);
	*mgid = record.mgid;
	return status;
}

static uint16_t subscribe(unsigned int n)
{
	struct iba_inform_info info = {.lid_range_begin = IBA_LID_PERMISSIVE, .subscribe = 1};

	return ask(n, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info);
}

START_TEST(test_lease_is_over)
{
	begin();
	bring_up();
	ck_assert_uint_eq(service(100, IBA_METHOD_SET), IBA_STATUS_OK);
	run_ms(4000);
	ck_assert_uint_eq(service(101, IBA_METHOD_GET), IBA_SA_NO_RECORDS);
	ck_assert_uint_eq(service(100, IBA_METHOD_SET), IBA_STATUS_OK);
	ck_assert_uint_eq(service(102, IBA_METHOD_GET), IBA_STATUS_OK);
	ck_assert_uint_eq(n_repeated(), 0);
	ck_assert_uint_eq(service(100, IBA_METHOD_SET), IBA_STATUS_OK); /* a copy */
	ck_assert_uint_eq(n_repeated(), 1);
	end();
}
END_TEST

/* Publishes the subnet again: all ports except the SM's have that P_Key. */
static void set_p_key(uint16_t p_key)
{
	struct subnet *before = slot_take(&net.context.subnet), *after;
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(struct partition_key));
	struct partitions *partitions;

	for (uint32_t i = 0; i < before->fabric->n_ports; i++) {
		struct partition_key key = {i, p_key};

		if (fabric_is_endport(before->fabric, i))
			g_array_append_val(keys, key);
	}
	partitions = partitions_of_keys(before->fabric->n_ports, keys);
	after = subnet_new(before->fabric, before->routing, partitions, before->options);
	after->sm_lid = before->sm_lid;
	after->generation = before->generation + 1;
	slot_publish(&net.context.subnet, after);
	event_emit(&net.context.bus, EVENT_SUBNET_PUBLISHED, before->generation + 1);
	partitions_unref(partitions);
	subnet_unref(before);
	run_ms(100);
}

/* Groups end with the P_Key of their members, also those of an MGID assigned by the SA. */
START_TEST(test_p_key_is_gone)
{
	struct iba_gid named = {UINT64_C(0xFF1200000000ABCD), 1}, made = {0}, other = {0};

	begin();
	bring_up();
	ck_assert_uint_eq(member(100, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &made), IBA_STATUS_OK);
	set_p_key(0x8001);
	ck_assert_uint_eq(member(100, IBA_METHOD_SET, &named), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &other), IBA_SA_REQ_INVALID);
	ck_assert_uint_eq(n_repeated(), 0);
	set_p_key(0xFFFF);
	ck_assert_uint_eq(member(102, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(member(103, IBA_METHOD_SET, &other), IBA_STATUS_OK);
	ck_assert(!iba_gid_equal(made, other));
	end();
}
END_TEST

/* A late copy does not bring back what its sender removed. */
START_TEST(test_taken_away_by_request)
{
	struct iba_gid named = {UINT64_C(0xFF1200000000ABCD), 1}, made = {0}, none = {0};
	struct mc_groups *groups;

	begin();
	bring_up();
	ck_assert_uint_eq(member(100, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &made), IBA_STATUS_OK);
	ck_assert_uint_eq(member(102, IBA_METHOD_DELETE, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(member(103, IBA_METHOD_DELETE, &made), IBA_STATUS_OK);
	ck_assert_uint_eq(member(100, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &none), IBA_STATUS_OK);
	ck_assert(iba_gid_equal(made, none));
	ck_assert_uint_eq(n_repeated(), 2);
	run_ms(100);
	groups = slot_take(&net.context.groups);
	ck_assert_uint_eq(groups->n, 1); /* the broadcast group */
	mc_groups_unref(groups);
	end();
}
END_TEST

static void set_port(uint64_t guid, bool up)
{
	ck_assert(sim_link_set(net.sim, (unsigned int)sim_find_guid(net.sim, guid), 1, up));
	run_ms(3000);
}

/* A port that was away joins and subscribes again, with the same numbers after a restart. */
START_TEST(test_port_was_away)
{
	struct iba_gid named = {UINT64_C(0xFF1200000000ABCD), 1};
	struct options *options;

	begin();
	options = slot_take(&net.context.options);
	options->drop_event_subscriptions = true;
	options_unref(options);
	bring_up();
	ck_assert_uint_eq(subscribe(100), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(subscribe(100), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(n_repeated(), 2);
	set_port(net.client_guid, false);
	set_port(net.client_guid, true);
	ck_assert_uint_eq(subscribe(100), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(n_repeated(), 2);
	ck_assert_uint_eq(subscribe(100), IBA_STATUS_OK);
	ck_assert_uint_eq(member(101, IBA_METHOD_SET, &named), IBA_STATUS_OK);
	ck_assert_uint_eq(n_repeated(), 4);
	end();
}
END_TEST

/* The client's, by request number n. */
static uint64_t set_alias(unsigned int n, uint64_t guid)
{
	struct subnet *subnet = slot_take(&net.context.subnet);
	uint32_t port = fabric_port_by_guid(subnet->fabric, net.client_guid);
	struct iba_guid_info_record record = {.lid = subnet->fabric->ports[port].lid,
					      .guid_info.guid = {[1] = guid}};

	subnet_unref(subnet);
	ck_assert_uint_eq(ask(n, IBA_METHOD_SET, IBA_ATTR_GUID_INFO_RECORD,
			      IBA_COMPONENT(guid_info_record, lid) |
				      IBA_COMPONENT(guid_info_record, block_num) | 1u << 5,
			      &iba_guid_info_record_type, &record),
			  IBA_STATUS_OK);
	return record.guid_info.guid[1];
}

/*
 * The GUID of an absent port is kept for it. One that never existed may be used, until its port
 * comes.
 */
START_TEST(test_owner_of_alias_is_back)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct log *log = log_new_capture(text);
	unsigned int node;
	uint64_t owner, late;

	begin();
	node = (unsigned int)sim_find_name(net.sim, "host-7");
	late = sim_port_guid(net.sim, node, 1);
	sim_link_set(net.sim, node, 1, false);
	bring_up();
	net.context.log = log;
	owner = sim_port_guid(net.sim, (unsigned int)sim_find_name(net.sim, "host-5"), 1);
	ck_assert_uint_eq(set_alias(100, owner), 0);
	set_port(owner, false);
	ck_assert_uint_eq(set_alias(101, owner), 0);
	set_port(owner, true);
	ck_assert(set_alias(102, late) == late);
	node = (unsigned int)sim_find_guid(net.sim, net.client_guid);
	ck_assert(sim_alias_guid(net.sim, node, 1, 1) == late);
	set_port(late, true);
	ck_assert(sim_alias_guid(net.sim, node, 1, 1) == 0);
	ck_assert_uint_eq(set_alias(102, late), 0);
	ck_assert_uint_eq(n_repeated(), 0);
	ck_assert_ptr_nonnull(strstr(text->str, "it is the GUID of a port: host-7"));
	ck_assert_ptr_null(strstr(strstr(text->str, "loses alias") + 1, "loses alias"));
	net.context.log = net.log;
	end();
	log_free(log);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_effect");
	TCase *tcase = tcase_create("effect");

	tcase_add_test(tcase, test_lease_is_over);
	tcase_add_test(tcase, test_p_key_is_gone);
	tcase_add_test(tcase, test_taken_away_by_request);
	tcase_add_test(tcase, test_port_was_away);
	tcase_add_test(tcase, test_owner_of_alias_is_back);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SA behind a real MAD layer, on a simulated fabric that a subnet manager set up: requests
 * travel as packets, and groups reach the sweep.
 */
#include <check.h>
#include <string.h>

#include "complib/memory.h"
#include "sa/admit/park.h"
#include "sa/groups/store.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/test_sa_net.h"

#define SHARE 1024 /* of one source: mad.c */
#define SECOND NS_PER_S

/* ---- requests over the wire ---- */

static bool answered(void *arg)
{
	return ((struct net *)arg)->answer != NULL;
}

/* Waits for the answer to the last request; returns its status. */
static uint16_t status_of_answer(struct net *net)
{
	struct iba_mad_header header;

	ck_assert(runtime_run(net->rt, answered, net, runtime_now(net->rt) + 2 * SECOND));
	ck_assert_int_eq(net->answer->status, VENDOR_RECEIVED);
	wire_decode(&iba_mad_header_type, net->answer->data, &header);
	return header.status;
}

static void forget_answer(struct net *net)
{
	vendor_mad_free(g_steal_pointer(&net->answer));
}

static void bring_up(struct net *net)
{
	net_start(net, RUNTIME_VIRTUAL, "fattree:4");
	net_run_daemon(net);
	ck_assert(net_wait_up(net));
}

static struct iba_gid gid_of(uint64_t guid)
{
	return (struct iba_gid){IBA_DEFAULT_GID_PREFIX, guid};
}

START_TEST(test_path_over_the_wire)
{
	struct iba_path_record record;
	struct net net;

	bring_up(&net);
	record = (struct iba_path_record){
		.sgid = gid_of(net.client_guid),
		.dgid = gid_of(vendor_port_guid(net.sm_port)),
	};
	net_ask(&net, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
		IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid),
		&iba_path_record_type, &record);
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
	wire_decode(&iba_path_record_type, net.answer->data + IBA_SA_DATA_OFFSET, &record);
	ck_assert_uint_eq(record.dlid, net.sm_lid);
	ck_assert_uint_ne(record.slid, 0);
	ck_assert_uint_eq(record.reversible, 1);
	ck_assert_uint_ne(record.mtu, 0);
	ck_assert_uint_ne(record.rate, 0);
	net_stop(&net);
}
END_TEST

/* More than one MAD, answered by the pool: whole, or the first segment if nothing reassembles. */
START_TEST(test_table_over_the_wire)
{
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;
	size_t bytes, segments;
	struct net net;

	bring_up(&net);
	net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
	wire_decode(&iba_rmpp_header_type, net.answer->data + 24, &rmpp);
	wire_decode(&iba_sa_header_type, net.answer->data + 36, &sa);
	bytes = sim_nodes(net.sim) * 8u * sa.attribute_offset;
	segments = (bytes + IBA_SA_DATA_BYTES - 1) / IBA_SA_DATA_BYTES;
	ck_assert(rmpp.rmpp_flags & IBA_RMPP_ACTIVE);
	if (net.answer->length == IBA_MAD_BYTES)
		ck_assert_uint_eq(rmpp.data2, bytes + 20 * segments);
	else
		ck_assert_uint_eq(net.answer->length, IBA_SA_DATA_OFFSET + bytes);
	net_stop(&net);
}
END_TEST

/* A join reaches the published groups and raises the event; leaving undoes it. */
START_TEST(test_groups_are_published)
{
	struct iba_mc_member_record record;
	struct mc_groups *groups;
	struct net net;
	uint64_t mask = IBA_COMPONENT(mc_member_record, mgid) |
			IBA_COMPONENT(mc_member_record, port_gid) |
			IBA_COMPONENT(mc_member_record, join_state);

	bring_up(&net);
	groups = slot_take(&net.context.groups);
	ck_assert_ptr_nonnull(groups);
	ck_assert_uint_eq(groups->n, 1); /* the broadcast group of the default partition */
	ck_assert_uint_eq(groups->blocks[0]->groups[0]->n_ports, 0);
	record = (struct iba_mc_member_record){
		.mgid = groups->blocks[0]->groups[0]->mgid,
		.port_gid = gid_of(net.client_guid),
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	mc_groups_unref(groups);
	for (unsigned int joined = 1; joined < 2; joined--) {
		uint8_t method = joined ? IBA_METHOD_SET : IBA_METHOD_DELETE;

		net_ask(&net, method, IBA_ATTR_MC_MEMBER_RECORD, mask, &iba_mc_member_record_type,
			&record);
		ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
		forget_answer(&net);
		runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + SECOND / 50);
		groups = slot_take(&net.context.groups);
		ck_assert_uint_eq(groups->blocks[0]->groups[0]->n_ports, joined);
		mc_groups_unref(groups);
	}
	net_stop(&net);
}
END_TEST

static bool never(void *arg)
{
	(void)arg;
	return false;
}

/* A group whose MGID the SA assigns. */
static struct iba_gid make_a_group(struct net *net)
{
	const uint64_t mask =
		IBA_COMPONENT(mc_member_record, mgid) | IBA_COMPONENT(mc_member_record, port_gid) |
		IBA_COMPONENT(mc_member_record, q_key) | IBA_COMPONENT(mc_member_record, t_class) |
		IBA_COMPONENT(mc_member_record, p_key) |
		IBA_COMPONENT(mc_member_record, flow_label) | IBA_COMPONENT(mc_member_record, sl) |
		IBA_COMPONENT(mc_member_record, join_state);
	struct iba_mc_member_record record = {
		.port_gid = gid_of(net->client_guid),
		.p_key = 0xFFFF,
		.join_state = IBA_JOIN_FULL_MEMBER,
	};

	net_ask(net, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD, mask, &iba_mc_member_record_type,
		&record);
	ck_assert_uint_eq(status_of_answer(net), IBA_STATUS_OK);
	wire_decode(&iba_mc_member_record_type, net->answer->data + IBA_SA_DATA_OFFSET, &record);
	forget_answer(net);
	return record.mgid;
}

/* A repeated Set with its TransactionID makes nothing new, until it is forgotten. */
START_TEST(test_repeated_sets)
{
	struct iba_gid first, again;
	struct net net;

	bring_up(&net);
	first = make_a_group(&net);
	net.n_asked--;
	again = make_a_group(&net);
	ck_assert(iba_gid_equal(first, again));
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 1);
	again = make_a_group(&net); /* another TransactionID */
	ck_assert(!iba_gid_equal(first, again));
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SA_HOLD_PASSED_NS);
	net.n_asked = 0; /* that was about another group */
	ck_assert(iba_gid_equal(first, make_a_group(&net)));
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 2);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SA_HOLD_NS);
	ck_assert(!iba_gid_equal(again, make_a_group(&net)));
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 2);
	net_stop(&net);
}
END_TEST

/* SwitchInfoRecords show the MulticastFDBTop that switches hold, which is this one. */
static void check_mfdb_tops(struct net *net, uint16_t top)
{
	for (unsigned int i = 0; i < sim_nodes(net->sim); i++) {
		struct iba_switch_info_record record;
		struct sim_node_view view;

		sim_node_view(net->sim, i, &view);
		if (view.type != IBA_NODE_SWITCH)
			continue;
		record.lid = sim_port_info(net->sim, i, 0)->lid;
		net_ask(net, IBA_METHOD_GET, IBA_ATTR_SWITCH_INFO_RECORD,
			IBA_COMPONENT(switch_info_record, lid), &iba_switch_info_record_type,
			&record);
		ck_assert_uint_eq(status_of_answer(net), IBA_STATUS_OK);
		wire_decode(&iba_switch_info_record_type, net->answer->data + IBA_SA_DATA_OFFSET,
			    &record);
		forget_answer(net);
		ck_assert_uint_eq(view.switch_info->multicast_fdb_top, top);
		ck_assert_uint_eq(record.switch_info.multicast_fdb_top, top);
	}
}

/* Groups set MulticastFDBTop after the subnet was published, and without a full sweep. */
START_TEST(test_mfdb_tops)
{
	struct net net;

	bring_up(&net);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND);
	check_mfdb_tops(&net, 0xC000);
	make_a_group(&net);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND);
	check_mfdb_tops(&net, 0xC001);
	net_stop(&net);
}
END_TEST

/* Joins the broadcast group as request number n of the client, or leaves it; the status. */
static uint16_t be_member(struct net *net, unsigned int n, bool member)
{
	const uint64_t mask = IBA_COMPONENT(mc_member_record, mgid) |
			      IBA_COMPONENT(mc_member_record, port_gid) |
			      IBA_COMPONENT(mc_member_record, join_state);
	struct mc_groups *groups = slot_take(&net->context.groups);
	const struct iba_mc_member_record record = {
		.mgid = groups->blocks[0]->groups[0]->mgid,
		.port_gid = gid_of(net->client_guid),
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	uint16_t status;

	mc_groups_unref(groups);
	net->n_asked = n;
	net_ask(net, member ? IBA_METHOD_SET : IBA_METHOD_DELETE, IBA_ATTR_MC_MEMBER_RECORD, mask,
		&iba_mc_member_record_type, &record);
	status = status_of_answer(net);
	forget_answer(net);
	runtime_run(net->rt, never, NULL, runtime_now(net->rt) + SECOND / 50);
	return status;
}

static uint32_t count_members(struct net *net)
{
	struct mc_groups *groups = slot_take(&net->context.groups);
	uint32_t n = groups->blocks[0]->groups[0]->n_ports;

	mc_groups_unref(groups);
	return n;
}

/* A client that restarts its TransactionIDs is taken at its word. */
START_TEST(test_same_request_after_another)
{
	struct net net;

	bring_up(&net);
	for (unsigned int round = 0; round < 3; round++) {
		ck_assert_uint_eq(be_member(&net, 100, true), IBA_STATUS_OK);
		ck_assert_uint_eq(count_members(&net), 1);
		ck_assert_uint_eq(be_member(&net, 101, false), IBA_STATUS_OK);
		ck_assert_uint_eq(count_members(&net), 0);
		runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SA_HOLD_PASSED_NS);
	}
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 0);
	ck_assert_uint_eq(be_member(&net, 101, false), IBA_STATUS_OK); /* that is a copy */
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 1);
	ck_assert_uint_eq(be_member(&net, 102, true), IBA_STATUS_OK);
	ck_assert_uint_eq(be_member(&net, 103, false), IBA_STATUS_OK);
	ck_assert_uint_eq(be_member(&net, 104, true), IBA_STATUS_OK);
	ck_assert_uint_eq(be_member(&net, 103, false), IBA_STATUS_OK); /* a late copy */
	ck_assert_uint_eq(count_members(&net), 1);
	net_stop(&net);
}
END_TEST

/* A client that uses one TransactionID for all is taken at its word, however soon. */
START_TEST(test_one_tid_for_all)
{
	struct net net;

	bring_up(&net);
	for (unsigned int round = 0; round < 3; round++) {
		ck_assert_uint_eq(be_member(&net, 100, true), IBA_STATUS_OK);
		ck_assert_uint_eq(count_members(&net), 1);
		ck_assert_uint_eq(be_member(&net, 100, false), IBA_STATUS_OK);
		ck_assert_uint_eq(count_members(&net), 0);
	}
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 0);
	ck_assert_uint_eq(be_member(&net, 100, false), IBA_STATUS_OK); /* that is a copy */
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 1);
	net_stop(&net);
}
END_TEST

/* As above with subscriptions, which need not name a GID. */
START_TEST(test_same_subscription_after_another)
{
	struct iba_inform_info info = {.lid_range_begin = IBA_LID_PERMISSIVE};
	struct net net;

	bring_up(&net);
	for (unsigned int i = 0; i < 6; i++) {
		net.n_asked = 100 + i % 2;
		info.subscribe = i % 2 == 0;
		net_ask(&net, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type,
			&info);
		ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
		forget_answer(&net);
		if (i % 2)
			runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SA_HOLD_PASSED_NS);
	}
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_repeated), 0);
	net_stop(&net);
}
END_TEST

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* A Set without components. */
static void ask_badly(struct net *net, unsigned int times)
{
	const struct iba_mc_member_record record = {0};

	for (unsigned int i = 0; i < times; i++) {
		net_ask(net, IBA_METHOD_SET, IBA_ATTR_MC_MEMBER_RECORD, 0,
			&iba_mc_member_record_type, &record);
		ck_assert_uint_eq(status_of_answer(net), IBA_SA_INSUFFICIENT_COMPONENTS);
		forget_answer(net);
	}
}

static void ask_no_service(struct net *net)
{
	const struct iba_service_record record = {0};

	net_ask(net, IBA_METHOD_SET, IBA_ATTR_SERVICE_RECORD, 0, &iba_service_record_type, &record);
	ck_assert_uint_ne(status_of_answer(net), IBA_STATUS_OK);
	forget_answer(net);
}

/*
 * Refused joins are logged with the reason, other refusals only with log_flags 0x04, ten at a time,
 * and then one a second.
 */
START_TEST(test_refusals_are_told)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct log *log = log_new_capture(text);
	struct net net;

	bring_up(&net);
	net.context.log = log;
	ask_no_service(&net);
	ck_assert_uint_eq(count(text->str, "SA: refused"), 0);
	ask_badly(&net, 1);
	ck_assert_uint_eq(count(text->str, "SA: refused LID "), 1);
	ck_assert_uint_eq(count(text->str,
				") as a member of multicast group ::: its component mask "
				"0x0 lacks MGID, PortGID, JoinState; "),
			  1);
	log_set_flags(log, LOG_ERROR | LOG_INFO | LOG_VERBOSE);
	net_ask_path(&net); /* a good one */
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
	forget_answer(&net);
	ck_assert_uint_eq(count(text->str, "SA: refused"), 1);
	ask_no_service(&net);
	ck_assert_uint_eq(count(text->str, "SA: refused method 0x2 of attribute 0x31 from LID "),
			  1);
	ask_badly(&net, 13);
	ck_assert_uint_eq(count(text->str, " (host-15"), 10);
	ck_assert_uint_eq(count(text->str, "status 0x0600 (0 similar lines suppressed)"), 10);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND);
	ask_badly(&net, 2);
	ck_assert_uint_eq(count(text->str, "(5 similar lines suppressed)"), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_errors), 18);
	net.context.log = net.log;
	net_stop(&net);
	log_free(log);
}
END_TEST

#define S(name) IBA_COMPONENT(service_record, name)

static uint16_t ask_service(struct net *net, uint8_t method, uint64_t id, uint32_t lease)
{
	struct iba_service_record record = {
		.service_id = id, .service_gid = gid_of(net->client_guid), .service_lease = lease};
	uint64_t mask = S(service_id) | S(service_gid);
	uint16_t status;

	net_ask(net, method, IBA_ATTR_SERVICE_RECORD,
		method == IBA_METHOD_SET ? mask | S(service_lease) : mask, &iba_service_record_type,
		&record);
	status = status_of_answer(net);
	forget_answer(net);
	return status;
}

/* Leases end by themselves, in their order, whatever was registered or renewed in between. */
START_TEST(test_leases_end)
{
	struct net net;
	uint64_t start;

	bring_up(&net);
	start = runtime_now(net.rt);
	ck_assert_uint_eq(ask_service(&net, IBA_METHOD_SET, 1, 20), IBA_STATUS_OK);
	ck_assert_uint_eq(ask_service(&net, IBA_METHOD_SET, 2, 10), IBA_STATUS_OK);
	ck_assert_uint_eq(ask_service(&net, IBA_METHOD_SET, 3, 30), IBA_STATUS_OK);
	for (unsigned int ended = 0; ended < 3; ended++) {
		static const uint64_t order[] = {2, 1, 3};

		runtime_run(net.rt, never, NULL, start + (10 * ended + 9) * SECOND);
		ck_assert_uint_eq(ask_service(&net, IBA_METHOD_GET, order[ended], 0),
				  IBA_STATUS_OK);
		runtime_run(net.rt, never, NULL, start + (10 * ended + 11) * SECOND);
		ck_assert_uint_eq(ask_service(&net, IBA_METHOD_GET, order[ended], 0),
				  IBA_SA_NO_RECORDS);
	}
	net_stop(&net);
}
END_TEST

/* More than sa_rate_threshold in a tenth of a second is dropped, and counted. */
START_TEST(test_rate)
{
	struct subnet *subnet;
	struct net net;

	bring_up(&net);
	subnet = slot_take(&net.context.subnet);
	((struct options *)subnet->options)->sa_rate_threshold = 5;
	for (unsigned int i = 0; i < 20; i++)
		net_ask_path(&net);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), 5);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_rate_dropped), 15);
	subnet_unref(subnet);
	net_stop(&net);
}
END_TEST

/* Answers are counted by kind: quotas, too little room, other errors. */
START_TEST(test_counters)
{
	struct options *options;
	struct subnet *subnet;
	struct net net;

	bring_up(&net);
	ck_assert_uint_eq(ask_service(&net, IBA_METHOD_SET, 1, 20), IBA_STATUS_OK);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_errors), 0);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_too_large), 0);
	ck_assert_uint_eq(ask_service(&net, IBA_METHOD_GET, 2, 0), IBA_SA_NO_RECORDS);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_errors), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_too_large), 0);
	subnet = slot_take(&net.context.subnet);
	options = (struct options *)subnet->options;
	options->sa_enhanced_trust_model = true;
	options->sa_etm_max_num_srvcs = 1;
	ck_assert_uint_eq(ask_service(&net, IBA_METHOD_SET, 2, 20), IBA_SA_NO_RESOURCES);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_errors), 2);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_too_large), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_quota_refused), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_reduced), 0);
	net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_reduced), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), 4);
	subnet_unref(subnet);
	net_stop(&net);
}
END_TEST

/* A NodeRecord query; its answer is not awaited. */
static void send_header(struct net *net, uint8_t method, uint64_t sm_key)
{
	const struct vendor_address to = {.lid = net->sm_lid, .qpn = 1, .qkey = IBA_QP1_Q_KEY};
	const struct iba_mad_header header = {
		.base_version = IBA_BASE_VERSION,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = IBA_SA_CLASS_VERSION,
		.method = method,
		.attribute_id = IBA_ATTR_NODE_RECORD,
	};
	const struct iba_sa_header sa = {.sm_key = sm_key};
	uint8_t octets[IBA_MAD_BYTES] = {0};

	wire_encode(&iba_mad_header_type, &header, octets);
	wire_encode(&iba_sa_header_type, &sa, octets + 36);
	ck_assert(vendor_send(net->client_port, &to, octets, sizeof(octets), 0));
	runtime_run(net->rt, never, NULL, runtime_now(net->rt) + SECOND / 50);
}

/* A guessed key gets no answer, and is counted separately, as are MADs that are not requests. */
START_TEST(test_not_answered)
{
	struct net net;

	bring_up(&net);
	for (unsigned int i = 1; i <= 3; i++) {
		send_header(&net, IBA_METHOD_GET_TABLE, 0xBAD);
		ck_assert_uint_eq(counter_get(&net.context.counters, sa_wrong_keys), i);
		ck_assert_uint_eq(counter_get(&net.context.counters, sa_malformed), i - 1);
		send_header(&net, IBA_METHOD_TRAP_REPRESS, 0);
		ck_assert_uint_eq(counter_get(&net.context.counters, sa_wrong_keys), i);
		ck_assert_uint_eq(counter_get(&net.context.counters, sa_malformed), i);
	}
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), 0);
	net_stop(&net);
}
END_TEST

/* Ports tell clients where the SA is; one that is only standby does not answer. */
START_TEST(test_standby_is_silent)
{
	struct net net;

	bring_up(&net);
	atomic_store(&net.context.sm_state, IBA_SM_STANDBY);
	event_emit(&net.context.bus, EVENT_SM_STATE, IBA_SM_STANDBY);
	net_ask(&net, IBA_METHOD_GET, IBA_ATTR_CLASS_PORT_INFO, 0, NULL, NULL);
	ck_assert(runtime_run(net.rt, answered, &net, runtime_now(net.rt) + 2 * SECOND));
	ck_assert_int_eq(net.answer->status, VENDOR_TIMED_OUT);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_resting), 1);
	net_stop(&net);
}
END_TEST

/* More tables at once than a source may request: refused ones are counted. */
START_TEST(test_overload)
{
	const unsigned int n = 4000;
	struct net net;

	bring_up(&net);
	for (unsigned int i = 0; i < n; i++)
		net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_LINK_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 5 * SECOND);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_received), SHARE);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), SHARE);
	ck_assert_uint_eq(counter_get(&net.context.counters, mad_refused), n - SHARE);
	net_stop(&net);
}
END_TEST

/*
 * Tables that have to be read, requested during a sweep: a bounded number waits, the others are
 * BUSY at once, and those that waited are answered after it.
 */
START_TEST(test_waiting_is_bounded)
{
	const unsigned int n = SHARE + 100;
	struct net net;

	bring_up(&net);
	event_emit(&net.context.bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	for (unsigned int i = 0; i < n; i++)
		net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_GUID_INFO_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 5 * SECOND);
	ck_assert_uint_eq(net.n_answers, n);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_waited), SHARE);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_expired), 0);
	ck_assert_uint_eq(counter_get(&net.context.counters, mad_refused), 100);
	ck_assert_uint_gt(counter_get(&net.context.counters, tables_read), 0);
	net_stop(&net);
}
END_TEST

/* No sweep ends: a waiting request gets BUSY when its time is up. */
START_TEST(test_waiting_ends)
{
	struct net net;

	bring_up(&net);
	sm_stop(net.sm);
	net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_GUID_INFO_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + SA_PARK_NS / 2);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), 0);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + SA_PARK_NS);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_busy), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_expired), 1);
	net_stop(&net);
}
END_TEST

static void publish_subnet(struct net *net, struct subnet *subnet)
{
	slot_publish(&net->context.subnet, subnet);
	event_emit(&net->context.bus, EVENT_SUBNET_PUBLISHED, 0);
	runtime_run(net->rt, never, NULL, runtime_now(net->rt) + NS_PER_MS);
}

/* A request before the SM's first publication is not refused. */
START_TEST(test_early)
{
	struct subnet *subnet;
	struct net net;

	bring_up(&net);
	subnet = slot_take(&net.context.subnet);
	publish_subnet(&net, NULL);
	net_ask_path(&net);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND / 10);
	ck_assert_uint_eq(net.n_answers, 0);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_waited), 1);
	publish_subnet(&net, subnet_ref(subnet));
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
	forget_answer(&net);
	publish_subnet(&net, NULL);
	net_ask_path(&net);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 2 * SA_PARK_NS);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_busy), 1);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_expired), 1);
	subnet_unref(subnet);
	net_stop(&net);
}
END_TEST

/* As above without answers: where the source has its share, and where the time is up. */
START_TEST(test_silent_when_busy)
{
	const unsigned int n = SHARE + 100;
	struct options *options = options_new();
	struct net net;

	bring_up(&net);
	options->sa_busy_response = false;
	slot_publish(&net.context.options, options);
	event_emit(&net.context.bus, EVENT_OPTIONS_CHANGED, 0);
	sm_stop(net.sm);
	for (unsigned int i = 0; i < n; i++)
		net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_GUID_INFO_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 2 * SA_PARK_NS);
	ck_assert_uint_eq(counter_get(&net.context.counters, mad_refused), 100);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_expired), SHARE);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_unanswered), SHARE);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_busy), 0);
	ck_assert(!net.answer || net.answer->status == VENDOR_TIMED_OUT);
	net_stop(&net);
}
END_TEST

static atomic_uint n_trims;

/* Replaces complib's. */
void memory_trim(void)
{
	atomic_fetch_add(&n_trims, 1);
}

static bool was_busy(void *arg)
{
	return counter_get(&((struct net *)arg)->context.counters, sa_busy) != 0;
}

/* After a BUSY answer the heap is trimmed, a few times. */
START_TEST(test_trim)
{
	static const unsigned int at_s[] = {4, 8, 16, 32, 64};
	struct net net;

	atomic_store(&n_trims, 0); /* tests before it may share its process */
	bring_up(&net);
	publish_subnet(&net, NULL);
	net_ask_path(&net);
	ck_assert(runtime_run(net.rt, was_busy, &net, runtime_now(net.rt) + 2 * SA_PARK_NS));
	ck_assert_uint_eq(atomic_load(&n_trims), 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(at_s); i++) {
		runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + at_s[i] * SECOND);
		ck_assert_uint_eq(atomic_load(&n_trims), i + 1);
	}
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 600 * SECOND);
	ck_assert_uint_eq(atomic_load(&n_trims), G_N_ELEMENTS(at_s));
	net_stop(&net);
}
END_TEST

/* One after the other, so that none is refused. */
static void ask_paths(struct net *net, unsigned int n)
{
	while (n--) {
		net_ask_path(net);
		runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + NS_PER_MS);
	}
}

/* Without a flood it is trimmed when many MADs arrive, and once more after the last. */
START_TEST(test_trim_after_many)
{
	struct net net;

	atomic_store(&n_trims, 0);
	bring_up(&net);
	ask_paths(&net, 3000);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 40 * SECOND);
	ck_assert_uint_eq(atomic_load(&n_trims), 0);
	ask_paths(&net, 3000);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 40 * SECOND);
	ck_assert_uint_eq(atomic_load(&n_trims), 1);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 600 * SECOND);
	ck_assert_uint_eq(atomic_load(&n_trims), 2);
	net_stop(&net);
}
END_TEST

/* Whether the end of a sweep writes the database; then the file is removed. */
static bool dumps(struct net *net, const char *file)
{
	bool there;

	event_emit(&net->context.bus, EVENT_SWEEP_DONE, 0);
	runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + SECOND / 50);
	there = g_file_test(file, G_FILE_TEST_EXISTS);
	g_remove(file);
	return there;
}

static void set_dump(struct net *net, const char *directory, bool dump)
{
	struct options *options = options_new();

	options->sa_db_dump = dump;
	g_free(options->dump_files_dir);
	options->dump_files_dir = g_strdup(directory);
	slot_publish(&net->context.options, options);
	event_emit(&net->context.bus, EVENT_OPTIONS_CHANGED, 0);
}

/* On request, the database is a file after each sweep that follows a change. */
START_TEST(test_dump)
{
	g_autofree char *directory = g_dir_make_tmp("opensm-sa-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "opensm-sa.dump", NULL);
	struct net net;

	bring_up(&net);
	make_a_group(&net);
	set_dump(&net, directory, false);
	ck_assert(!dumps(&net, file));
	set_dump(&net, directory, true);
	ck_assert(dumps(&net, file));
	ck_assert(!dumps(&net, file));
	make_a_group(&net);
	ck_assert(dumps(&net, file));
	make_a_group(&net);
	event_emit(&net.context.bus, EVENT_SM_STATE, IBA_SM_STANDBY);
	ck_assert(!dumps(&net, file));
	net_stop(&net);
	directory_remove(directory);
}
END_TEST

static void ask_ok(struct net *net, uint8_t method, uint16_t attribute, uint64_t mask,
		   const struct wire_type *type, const void *record)
{
	net_ask(net, method, attribute, mask, type, record);
	ck_assert_uint_eq(status_of_answer(net), IBA_STATUS_OK);
	forget_answer(net);
}

static uint16_t lid_of_client(struct net *net)
{
	struct subnet *subnet = slot_take(&net->context.subnet);
	uint16_t lid =
		subnet->fabric->ports[fabric_port_by_guid(subnet->fabric, net->client_guid)].lid;

	subnet_unref(subnet);
	return lid;
}

static void set_alias(struct net *net, uint8_t method)
{
	const struct iba_guid_info_record alias = {
		.lid = lid_of_client(net),
		.guid_info.guid = {[1] = 7},
	};

	ask_ok(net, method, IBA_ATTR_GUID_INFO_RECORD,
	       IBA_COMPONENT(guid_info_record, lid) | IBA_COMPONENT(guid_info_record, block_num) |
		       UINT64_C(1) << 5,
	       &iba_guid_info_record_type, &alias);
}

/* A change of any registry counts: services, subscriptions, alias GUIDs, members alone. */
START_TEST(test_dump_of_each)
{
	g_autofree char *directory = g_dir_make_tmp("opensm-sa-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "opensm-sa.dump", NULL);
	struct iba_inform_info info = {.lid_range_begin = IBA_LID_PERMISSIVE, .subscribe = 1};
	const struct iba_mc_member_record member = {
		.mgid = partition_broadcast_mgid(0xFFFF, IBA_SCOPE_LINK_LOCAL),
		.port_gid = {IBA_DEFAULT_GID_PREFIX, 0},
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	struct iba_mc_member_record own;
	struct net net;

	bring_up(&net);
	set_dump(&net, directory, true);
	dumps(&net, file);
	ck_assert(!dumps(&net, file));
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t method = i ? IBA_METHOD_DELETE : IBA_METHOD_SET;

		ck_assert_uint_eq(ask_service(&net, method, 1, 100), IBA_STATUS_OK);
		ck_assert(dumps(&net, file));
		info.subscribe = !i;
		ask_ok(&net, IBA_METHOD_SET, IBA_ATTR_INFORM_INFO, 0, &iba_inform_info_type, &info);
		ck_assert(dumps(&net, file));
		own = member;
		own.port_gid.guid = net.client_guid;
		ask_ok(&net, method, IBA_ATTR_MC_MEMBER_RECORD,
		       IBA_COMPONENT(mc_member_record, mgid) |
			       IBA_COMPONENT(mc_member_record, port_gid) |
			       IBA_COMPONENT(mc_member_record, join_state),
		       &iba_mc_member_record_type, &own);
		ck_assert(dumps(&net, file));
		set_alias(&net, method);
		ck_assert(dumps(&net, file));
	}
	net_stop(&net);
	directory_remove(directory);
}
END_TEST

/* Nothing is programmed any more once another is master. */
START_TEST(test_nothing_left)
{
	struct alias_guids *aliases;
	struct mc_groups *groups;
	struct net net;

	bring_up(&net);
	set_alias(&net, IBA_METHOD_SET);
	for (unsigned int i = 0; i < 2; i++) {
		aliases = slot_take(&net.context.aliases);
		groups = slot_take(&net.context.groups);
		ck_assert(i ? !aliases && !groups : aliases && groups);
		alias_guids_unref(aliases);
		mc_groups_unref(groups);
		event_emit(&net.context.bus, EVENT_SM_STATE, IBA_SM_STANDBY);
		runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND / 50);
	}
	net_stop(&net);
}
END_TEST

struct seen {
	struct sm_progress last;
	unsigned int n, finished, failed;
	uint64_t ns;
};

static void on_progress(void *arg, const struct sm_progress *progress)
{
	struct seen *seen = arg;

	seen->last = *progress;
	seen->n++;
	seen->finished += progress->finished;
	seen->failed += progress->finished && progress->errors;
	seen->ns += progress->step_ns;
	ck_assert(!progress->active || progress->finished);
}

/* The progress of a sweep is published, and the state of the subnet at its end. */
START_TEST(test_progress)
{
	struct seen seen = {0};
	uint64_t start;
	struct net net;

	bring_up(&net);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + SECOND);
	sm_set_progress(net.sm, on_progress, &seen);
	start = runtime_now(net.rt);
	event_emit(&net.context.bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	runtime_run(net.rt, NULL, NULL, start + SECOND);
	ck_assert_uint_eq(seen.finished, 1);
	ck_assert_str_eq(seen.last.step, "IDLE");
	ck_assert_uint_ge(seen.n, 10);
	ck_assert_uint_eq(seen.last.switches, 20);
	ck_assert_uint_eq(seen.last.hosts, 16);
	ck_assert_uint_eq(seen.last.links, 48);
	ck_assert_uint_eq(seen.last.active, 2 * 48 + 20); /* including a switch's port 0 */
	ck_assert(!seen.last.errors);
	ck_assert_uint_lt(seen.ns, SECOND);
	net_stop(&net);
}
END_TEST

/* At first nothing is known of the subnet; a port without a cable does not count; errors do. */
START_TEST(test_progress_from_the_start)
{
	struct seen seen = {0};
	struct net net;
	int sm_node;

	net_start(&net, RUNTIME_VIRTUAL, "fattree:4");
	sm_node = sim_find_guid(net.sim, vendor_port_guid(net.sm_port));
	sm_set_progress(net.sm, on_progress, &seen);
	sim_link_set(net.sim, 0, 1, false);
	net_run_daemon(&net);
	ck_assert(net_wait_up(&net));
	ck_assert_uint_eq(seen.last.links, 47);
	ck_assert_uint_eq(seen.last.active, 2 * 47 + 20);
	ck_assert_uint_eq(seen.failed, 0);
	sim_link_set(net.sim, (unsigned int)sm_node, 1, false);
	event_emit(&net.context.bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 5 * SECOND);
	ck_assert_uint_ge(seen.failed, 1);
	net_stop(&net);
}
END_TEST

/* Queries in progress when everything stops: nothing leaks, nothing is accessed too late. */
START_TEST(test_stop_in_the_middle)
{
	struct net net;

	bring_up(&net);
	for (unsigned int i = 0; i < 100; i++)
		net_ask(&net, IBA_METHOD_GET_TABLE,
			i % 2 ? IBA_ATTR_NODE_RECORD : IBA_ATTR_GUID_INFO_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + _i * 500);
	net_stop(&net);
}
END_TEST

static bool answers(void *arg)
{
	return counter_get(&((struct net *)arg)->context.counters, sa_answered) != 0;
}

/* As above with queries that wait for their turn: they were parked and come all at once. */
START_TEST(test_stop_with_waiting)
{
	struct subnet *subnet;
	struct net net;

	bring_up(&net);
	subnet = slot_take(&net.context.subnet);
	publish_subnet(&net, NULL);
	for (unsigned int i = 0; i < 50; i++)
		net_ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, never, NULL, runtime_now(net.rt) + SECOND / 10);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_waited), 50);
	slot_publish(&net.context.subnet, subnet_ref(subnet));
	event_emit(&net.context.bus, EVENT_SUBNET_PUBLISHED, 0);
	ck_assert(runtime_run(net.rt, answers, &net, runtime_now(net.rt) + SECOND));
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), 1);
	net_stop(&net);
	ck_assert_uint_eq(atomic_load(&subnet->ref.count), 1);
	subnet_unref(subnet);
}
END_TEST

/* ---- threads ---- */

/* Paths, tables by the pool, joins and leaves, all mixed. */
static void mixed_question(struct net *net, unsigned int number)
{
	struct iba_mc_member_record record = {
		.mgid = partition_broadcast_mgid(0xFFFF, IBA_SCOPE_LINK_LOCAL),
		.port_gid = gid_of(net->client_guid),
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	uint64_t mask = IBA_COMPONENT(mc_member_record, mgid) |
			IBA_COMPONENT(mc_member_record, port_gid) |
			IBA_COMPONENT(mc_member_record, join_state);

	switch (number % 8) {
	case 0:
		net_ask(net, number % 16 ? IBA_METHOD_DELETE : IBA_METHOD_SET,
			IBA_ATTR_MC_MEMBER_RECORD, mask, &iba_mc_member_record_type, &record);
		break;
	case 1:
		net_ask(net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
		break;
	case 2:
		net_ask(net, IBA_METHOD_GET_TABLE, IBA_ATTR_PATH_RECORD, 0, NULL, NULL);
		break;
	case 3:
		net_ask(net, IBA_METHOD_GET_TABLE, IBA_ATTR_VL_ARBITRATION_TABLE_RECORD, 0, NULL,
			NULL);
		break;
	default:
		net_ask_path(net);
	}
}

/* While sweeps publish new subnets under the queries. */
START_TEST(test_threads)
{
	struct net net;

	net_start(&net, RUNTIME_REAL, "fattree:4");
	net_run_daemon(&net);
	ck_assert(net_wait_up(&net));
	for (unsigned int i = 0; i < 20; i++)
		event_emit(&net.context.bus, EVENT_SWEEP_WANTED, SWEEP_HEAVY);
	ck_assert(net_pump(&net, 2000, 16, mixed_question));
	ck_assert_uint_eq(atomic_load(&net.n_lost), 0);
	net_stop(&net);
}
END_TEST

/* ---- requests that wait ---- */

#define WAIT_MS 50

static void limit_waiting(struct net *net, unsigned int max_msg_fifo_timeout)
{
	struct options *options = options_new();

	options->max_msg_fifo_timeout = max_msg_fifo_timeout;
	slot_publish(&net->context.options, options);
}

/* The SA runs when the test lets it. */
static void start_slow(struct net *net, unsigned int max_msg_fifo_timeout)
{
	net_start(net, RUNTIME_REAL, "fattree:4");
	limit_waiting(net, max_msg_fifo_timeout);
	net->sa_loop = g_main_context_new();
	net->timeout_ms = 100;
	net_run_daemon(net);
	ck_assert(net_wait_up(net));
	while (g_main_context_iteration(net->sa_loop, FALSE))
		;
}

static void stop_slow(struct net *net)
{
	GMainContext *loop = net->sa_loop;

	net_stop(net);
	g_main_context_unref(loop);
}

static uint64_t stale(const struct net *net)
{
	return counter_get(&net->context.counters, sa_stale);
}

static void ask_path(struct net *net, unsigned int number)
{
	(void)number;
	net_ask_path(net);
}

static void ask_nodes(struct net *net, unsigned int number)
{
	(void)number;
	net_ask(net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
}

/* In a busy SA: a request that has waited too long is not answered, the next one is. */
START_TEST(test_stale_request)
{
	bool drops = _i == 0;
	struct net net;

	start_slow(&net, drops ? WAIT_MS : 0);
	ck_assert(net_pump(&net, 1, 1, ask_path)); /* the client gives up after 100 ms */
	ck_assert_uint_eq(atomic_load(&net.n_lost), 1);
	while (!stale(&net) && !counter_get(&net.context.counters, sa_answered))
		g_main_context_iteration(net.sa_loop, TRUE);
	ck_assert_uint_eq(stale(&net), drops);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), !drops);
	stop_slow(&net);
}
END_TEST

static void sleep_run(struct message *message)
{
	g_usleep(3000 * WAIT_MS);
	g_free(message);
}

/* As above in the pool, both threads of which are busy. */
START_TEST(test_stale_in_the_pool)
{
	struct net net;

	net_start(&net, RUNTIME_REAL, "fattree:4");
	limit_waiting(&net, WAIT_MS);
	net_run_daemon(&net);
	ck_assert(net_wait_up(&net));
	for (unsigned int i = 0; i < 2; i++) {
		struct message *message = g_new0(struct message, 1);

		message->run = sleep_run;
		pool_post(net.context.pool, message);
	}
	net.timeout_ms = 10 * WAIT_MS;
	ck_assert(net_pump(&net, 1, 1, ask_nodes));
	ck_assert_uint_eq(stale(&net), 1);
	ck_assert_uint_eq(atomic_load(&net.n_lost), 1);
	net_stop(&net);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("sa_server");
	TCase *tcase = tcase_create("server");

	tcase_add_test(tcase, test_path_over_the_wire);
	tcase_add_test(tcase, test_table_over_the_wire);
	tcase_add_test(tcase, test_groups_are_published);
	tcase_add_test(tcase, test_repeated_sets);
	tcase_add_test(tcase, test_mfdb_tops);
	tcase_add_test(tcase, test_same_request_after_another);
	tcase_add_test(tcase, test_one_tid_for_all);
	tcase_add_test(tcase, test_same_subscription_after_another);
	tcase_add_test(tcase, test_refusals_are_told);
	tcase_add_test(tcase, test_leases_end);
	tcase_add_test(tcase, test_rate);
	tcase_add_test(tcase, test_counters);
	tcase_add_test(tcase, test_not_answered);
	tcase_add_test(tcase, test_standby_is_silent);
	tcase_add_test(tcase, test_overload);
	tcase_add_test(tcase, test_waiting_is_bounded);
	tcase_add_test(tcase, test_dump);
	tcase_add_test(tcase, test_dump_of_each);
	tcase_add_test(tcase, test_nothing_left);
	tcase_add_test(tcase, test_progress);
	tcase_add_test(tcase, test_progress_from_the_start);
	tcase_add_test(tcase, test_waiting_ends);
	tcase_add_test(tcase, test_early);
	tcase_add_test(tcase, test_silent_when_busy);
	tcase_add_test(tcase, test_trim);
	tcase_add_test(tcase, test_trim_after_many);
	tcase_add_loop_test(tcase, test_stop_in_the_middle, 0, 12);
	tcase_add_test(tcase, test_stop_with_waiting);
	tcase_add_test(tcase, test_threads);
	tcase_add_loop_test(tcase, test_stale_request, 0, 2);
	tcase_add_test(tcase, test_stale_in_the_pool);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	return suite;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The SA behind a real MAD layer, on a simulated fabric that a subnet manager set up: requests
 * travel as packets, and groups get to where the sweep finds them.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mad/mad.h"
#include "policy/groups.h"
#include "sa/sa.h"
#include "sa/sa_private.h"
#include "sm/sm.h"
#include "vendor/sim.h"

#define SECOND NS_PER_S

struct net {
	struct runtime *rt;
	struct log *log;
	struct sim *sim;
	struct context context;
	struct vendor *sm_port, *client_port;
	struct mad *mad;
	struct sm *sm;
	struct sa *sa;
	struct actor *client;
	uint64_t client_guid;
	struct vendor_mad *answer; /* the last one */
	unsigned int n_answers, n_asked;
};

static void get_options(void *object)
{
	options_ref(object);
}

static void put_options(void *object)
{
	options_unref(object);
}

static void get_subnet(void *object)
{
	subnet_ref(object);
}

static void put_subnet(void *object)
{
	subnet_unref(object);
}

static void get_groups(void *object)
{
	mc_groups_ref(object);
}

static void put_groups(void *object)
{
	mc_groups_unref(object);
}

static void take_answer(void *arg, struct vendor_mad *mad)
{
	struct net *net = arg;

	if (net->answer)
		vendor_mad_free(net->answer);
	net->answer = mad;
	net->n_answers++;
}

static void context_init(struct net *net)
{
	struct context *context = &net->context;

	context->rt = net->rt;
	context->log = net->log;
	event_bus_init(&context->bus);
	slot_init(&context->options, get_options, put_options);
	slot_init(&context->subnet, get_subnet, put_subnet);
	slot_init(&context->groups, get_groups, put_groups);
	slot_publish(&context->options, options_new());
	atomic_init(&context->sm_state, IBA_SM_NOT_ACTIVE);
	context->pool = pool_new(net->rt, "pool", 2);
}

static uint64_t last_host_guid(struct sim *sim)
{
	uint64_t guid = 0;

	for (unsigned int i = 0; i < sim_nodes(sim); i++) {
		struct sim_node_view view;

		sim_node_view(sim, i, &view);
		if (view.type == IBA_NODE_CA)
			guid = sim_port_guid(sim, i, 1);
	}
	return guid;
}

static void net_start(struct net *net)
{
	struct topology *topology = topology_load("fattree:4", NULL);
	struct vendor_client client = {.arg = net, .receive = take_answer};
	struct sim_config config;

	*net = (struct net){.rt = runtime_new(RUNTIME_VIRTUAL), .log = log_new_null()};
	sim_config_default(&config);
	net->sim = sim_new(net->rt, net->log, topology, &config);
	topology_free(topology);
	net->client_guid = last_host_guid(net->sim);
	context_init(net);
	net->sm_port = sim_open(net->sim, 0, NULL);
	net->client_port = sim_open(net->sim, net->client_guid, NULL);
	ck_assert(net->sm_port && net->client_port);
	net->mad = mad_new(&net->context, net->sm_port, NULL);
	ck_assert_ptr_nonnull(net->mad);
	net->sm = sm_new(&net->context, net->mad, net->sm_port);
	net->sa = sa_new(&net->context, net->mad);
	client.actor = net->client = actor_new(net->rt, "client");
	ck_assert(vendor_bind(net->client_port, IBA_CLASS_SUBN_ADM, false, &client, NULL));
}

static void net_run_daemon(struct net *net)
{
	sim_start(net->sim);
	actor_start(net->client);
	mad_start(net->mad);
	sa_start(net->sa);
	sm_start(net->sm);
}

static void net_stop(struct net *net)
{
	sm_stop(net->sm);
	sa_stop(net->sa);
	mad_stop(net->mad);
	vendor_close(net->sm_port);
	vendor_close(net->client_port);
	pool_free(net->context.pool);
	if (net->answer)
		vendor_mad_free(net->answer);
	mad_free(net->mad);
	sm_free(net->sm);
	sa_free(net->sa);
	actor_free(net->client);
	slot_clear(&net->context.groups);
	slot_clear(&net->context.subnet);
	slot_clear(&net->context.options);
	event_bus_clear(&net->context.bus);
	sim_free(net->sim);
	log_free(net->log);
	runtime_free(net->rt);
}

/* ---- asking over the wire ---- */

static uint16_t sm_lid(const struct net *net)
{
	const struct iba_port_info *info =
		sim_port_info(net->sim, sim_find_guid(net->sim, vendor_port_guid(net->sm_port)), 1);

	return info->lid;
}

static void ask(struct net *net, uint8_t method, uint16_t attribute, uint64_t mask,
		const struct wire_type *type, const void *record)
{
	struct vendor_address to = {.lid = sm_lid(net), .qpn = 1, .qkey = IBA_QP1_Q_KEY};
	struct iba_mad_header header = {
		.base_version = 1,
		.mgmt_class = IBA_CLASS_SUBN_ADM,
		.class_version = 2,
		.method = method,
		.transaction_id = ++net->n_asked,
		.attribute_id = attribute,
	};
	struct iba_sa_header sa = {.component_mask = mask};
	uint8_t octets[IBA_MAD_BYTES] = {0};

	wire_encode(&iba_mad_header_type, &header, octets);
	wire_encode(&iba_sa_header_type, &sa, octets + 36);
	if (type)
		wire_encode(type, record, octets + IBA_SA_DATA_OFFSET);
	ck_assert(vendor_send(net->client_port, &to, octets, sizeof(octets), 1000));
}

static bool answered(void *arg)
{
	return ((struct net *)arg)->answer != NULL;
}

/* Waits for the answer to the last question; its status. */
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

static bool subnet_up(void *arg)
{
	struct net *net = arg;
	struct subnet *subnet = slot_take(&net->context.subnet);

	if (!subnet)
		return false;
	subnet_unref(subnet);
	return true;
}

static void bring_up(struct net *net)
{
	net_start(net);
	net_run_daemon(net);
	ck_assert(runtime_run(net->rt, subnet_up, net, 60 * SECOND));
	runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + SECOND / 100);
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
	ask(&net, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
	    IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid),
	    &iba_path_record_type, &record);
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
	wire_decode(&iba_path_record_type, net.answer->data + IBA_SA_DATA_OFFSET, &record);
	ck_assert_uint_eq(record.dlid, sm_lid(&net));
	ck_assert_uint_ne(record.slid, 0);
	ck_assert_uint_eq(record.reversible, 1);
	ck_assert_uint_ne(record.mtu, 0);
	ck_assert_uint_ne(record.rate, 0);
	net_stop(&net);
}
END_TEST

/* More than one MAD, answered by the pool: whole, or its first segment where nobody reassembles. */
START_TEST(test_table_over_the_wire)
{
	struct iba_rmpp_header rmpp;
	struct iba_sa_header sa;
	size_t bytes, segments;
	struct net net;

	bring_up(&net);
	ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
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

/* A join reaches the published groups and raises the event; leaving takes it back. */
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
	ck_assert_uint_eq(groups->groups[0].n_ports, 0);
	record = (struct iba_mc_member_record){
		.mgid = groups->groups[0].mgid,
		.port_gid = gid_of(net.client_guid),
		.join_state = IBA_JOIN_FULL_MEMBER,
	};
	mc_groups_unref(groups);
	for (unsigned int joined = 1; joined < 2; joined--) {
		ask(&net, joined ? IBA_METHOD_SET : IBA_METHOD_DELETE, IBA_ATTR_MC_MEMBER_RECORD,
		    mask, &iba_mc_member_record_type, &record);
		ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_OK);
		forget_answer(&net);
		runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + SECOND / 50);
		groups = slot_take(&net.context.groups);
		ck_assert_uint_eq(groups->groups[0].n_ports, joined);
		mc_groups_unref(groups);
	}
	net_stop(&net);
}
END_TEST

/* Without a master there is nothing to tell, but an answer. */
START_TEST(test_standby_is_busy)
{
	struct net net;

	bring_up(&net);
	atomic_store(&net.context.sm_state, IBA_SM_STANDBY);
	event_emit(&net.context.bus, EVENT_SM_STATE, IBA_SM_STANDBY);
	ask(&net, IBA_METHOD_GET, IBA_ATTR_CLASS_PORT_INFO, 0, NULL, NULL);
	ck_assert_uint_eq(status_of_answer(&net), IBA_STATUS_BUSY);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_busy), 1);
	net_stop(&net);
}
END_TEST

/* More tables at once than the pool may hold: each gets an answer, some BUSY, none is lost. */
START_TEST(test_overload)
{
	const unsigned int n = SA_MAX_IN_POOL + 500;
	struct net net;

	bring_up(&net);
	for (unsigned int i = 0; i < n; i++)
		ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_LINK_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + 5 * SECOND);
	ck_assert_uint_eq(net.n_answers, n);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_received), n);
	ck_assert_uint_eq(counter_get(&net.context.counters, sa_answered), n);
	ck_assert_uint_gt(counter_get(&net.context.counters, sa_busy), 0);
	net_stop(&net);
}
END_TEST

/* Queries on their way when everything stops: nothing leaks, nothing is touched too late. */
START_TEST(test_stop_in_the_middle)
{
	struct net net;

	bring_up(&net);
	for (unsigned int i = 0; i < 100; i++)
		ask(&net, IBA_METHOD_GET_TABLE, IBA_ATTR_NODE_RECORD, 0, NULL, NULL);
	runtime_run(net.rt, NULL, NULL, runtime_now(net.rt) + _i * 500);
	net_stop(&net);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sa_server");
	TCase *tcase = tcase_create("server");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, test_path_over_the_wire);
	tcase_add_test(tcase, test_table_over_the_wire);
	tcase_add_test(tcase, test_groups_are_published);
	tcase_add_test(tcase, test_standby_is_busy);
	tcase_add_test(tcase, test_overload);
	tcase_add_loop_test(tcase, test_stop_in_the_middle, 0, 12);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

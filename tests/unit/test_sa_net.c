// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/test_sa_net.h"

#include "policy/files/ports_policy.h"
#include "policy/partition/partition_file.h"
#include "policy/qos/qos_file.h"
#include "route/graph/watch.h"
#include "sm/election/peers.h"
#include "subnet/refused_joins.h"
#include "subnet/subscriptions.h"
#include "subnet/trees.h"

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

static void get_traps(void *object)
{
	traps_ref(object);
}

static void put_traps(void *object)
{
	traps_unref(object);
}

static void get_aliases(void *object)
{
	alias_guids_ref(object);
}

static void put_aliases(void *object)
{
	alias_guids_unref(object);
}

static void get_groups(void *object)
{
	mc_groups_ref(object);
}

static void put_groups(void *object)
{
	mc_groups_unref(object);
}

static void get_trees(void *object)
{
	mc_trees_ref(object);
}

static void put_trees(void *object)
{
	mc_trees_unref(object);
}

static void get_watch(void *object)
{
	route_watch_ref(object);
}

static void put_watch(void *object)
{
	route_watch_unref(object);
}

static void get_refused_joins(void *object)
{
	refused_joins_ref(object);
}

static void put_refused_joins(void *object)
{
	refused_joins_unref(object);
}

static void get_inventory(void *object)
{
	inventory_ref(object);
}

static void put_inventory(void *object)
{
	inventory_unref(object);
}

static void get_unhealthy(void *object)
{
	unhealthy_ports_ref(object);
}

static void put_unhealthy(void *object)
{
	unhealthy_ports_unref(object);
}

static void get_partition_rules(void *object)
{
	partition_rules_ref(object);
}

static void put_partition_rules(void *object)
{
	partition_rules_unref(object);
}

static void get_ports_policy(void *object)
{
	ports_policy_ref(object);
}

static void put_ports_policy(void *object)
{
	ports_policy_unref(object);
}

static void get_qos_policy(void *object)
{
	qos_policy_ref(object);
}

static void put_qos_policy(void *object)
{
	qos_policy_unref(object);
}

static void get_peers(void *object)
{
	peers_ref(object);
}

static void put_peers(void *object)
{
	peers_unref(object);
}

static void get_subscriptions(void *object)
{
	subscriptions_ref(object);
}

static void put_subscriptions(void *object)
{
	subscriptions_unref(object);
}

static void take_answer(void *arg, struct vendor_mad *mad)
{
	struct net *net = arg;

	if (net->answer)
		vendor_mad_free(net->answer);
	net->answer = mad;
	net->n_answers++;
	if (!net->question)
		return;
	if (mad->status != VENDOR_RECEIVED)
		atomic_fetch_add(&net->n_lost, 1);
	if (net->n_asked < net->goal)
		net->question(net, net->n_asked);
	atomic_fetch_add(&net->n_done, 1);
}

static void context_init(struct net *net)
{
	struct context *context = &net->context;

	context->rt = net->rt;
	context->log = net->log;
	event_bus_init(&context->bus);
	slot_init(&context->options, get_options, put_options);
	slot_init(&context->subnet, get_subnet, put_subnet);
	slot_init(&context->traps, get_traps, put_traps);
	slot_init(&context->groups, get_groups, put_groups);
	slot_init(&context->refused_joins, get_refused_joins, put_refused_joins);
	slot_init(&context->aliases, get_aliases, put_aliases);
	slot_init(&context->trees, get_trees, put_trees);
	slot_init(&context->route_watch, get_watch, put_watch);
	slot_init(&context->inventory, get_inventory, put_inventory);
	slot_init(&context->peers, get_peers, put_peers);
	slot_init(&context->subscriptions, get_subscriptions, put_subscriptions);
	slot_init(&context->unhealthy_ports, get_unhealthy, put_unhealthy);
	slot_init(&context->partition_rules, get_partition_rules, put_partition_rules);
	slot_init(&context->ports_policy, get_ports_policy, put_ports_policy);
	slot_init(&context->qos_policy, get_qos_policy, put_qos_policy);
	slot_publish(&context->options, options_new());
	slot_publish(&context->partition_rules, partition_rules_load(NULL, NULL));
	slot_publish(&context->ports_policy, ports_policy_parse("", "", 0, NULL));
	slot_publish(&context->qos_policy, qos_policy_load(NULL, NULL));
	atomic_init(&context->sm_state, IBA_SM_NOT_ACTIVE);
	context->pool_threads = 2;
	context->pool = pool_new(net->rt, "pool", 2);
	context->slow = pool_new(net->rt, "slow", 1);
	context->routes = pool_new_background(net->rt, "routes", 1);
	context->files = pool_new_background(net->rt, "files", 1);
}

/* Before the simulation runs. */
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

void net_start(struct net *net, enum runtime_mode mode, const char *spec)
{
	struct topology *topology = topology_load(spec, NULL);
	struct vendor_client client = {.arg = net, .receive = take_answer};
	struct sim_config config;

	*net = (struct net){.rt = runtime_new(mode), .log = log_new_null()};
	sim_config_default(&config);
	net->sim = sim_new(net->rt, net->log, topology, &config);
	topology_free(topology);
	net->client_guid = last_host_guid(net->sim);
	context_init(net);
	net->sm_port = sim_open(net->sim, 0, NULL);
	net->client_port = sim_open(net->sim, net->client_guid, NULL);
	g_assert(net->sm_port && net->client_port);
	net->mad = mad_new(&net->context, net->sm_port, NULL);
	g_assert(net->mad);
	net->sm = sm_new(&net->context, net->mad, net->sm_port);
	net->sa = sa_new(&net->context, net->mad);
	client.actor = net->client = actor_new(net->rt, "client");
	if (!vendor_bind(net->client_port, IBA_CLASS_SUBN_ADM, false, &client, NULL))
		g_error("the client cannot bind");
}

void net_run_daemon(struct net *net)
{
	sim_start(net->sim);
	actor_start(net->client);
	mad_start(net->mad);
	if (net->sa_loop)
		sa_attach(net->sa, net->sa_loop);
	else
		sa_start(net->sa);
	sm_start(net->sm);
}

void net_stop(struct net *net)
{
	sm_stop(net->sm);
	sa_stop(net->sa);
	mad_stop(net->mad);
	vendor_close(net->sm_port);
	vendor_close(net->client_port);
	pool_free(net->context.pool);
	pool_free(net->context.slow);
	pool_free(net->context.routes);
	pool_free(net->context.files);
	if (net->answer)
		vendor_mad_free(net->answer);
	mad_free(net->mad);
	sm_free(net->sm);
	sa_free(net->sa);
	actor_free(net->client);
	slot_clear(&net->context.peers);
	slot_clear(&net->context.subscriptions);
	slot_clear(&net->context.unhealthy_ports);
	slot_clear(&net->context.inventory);
	slot_clear(&net->context.groups);
	slot_clear(&net->context.refused_joins);
	slot_clear(&net->context.aliases);
	slot_clear(&net->context.traps);
	slot_clear(&net->context.trees);
	slot_clear(&net->context.route_watch);
	slot_clear(&net->context.subnet);
	slot_clear(&net->context.options);
	slot_clear(&net->context.partition_rules);
	slot_clear(&net->context.ports_policy);
	slot_clear(&net->context.qos_policy);
	event_bus_clear(&net->context.bus);
	sim_free(net->sim);
	log_free(net->log);
	runtime_free(net->rt);
}

/* ---- the client ---- */

static bool subnet_up(void *arg)
{
	struct net *net = arg;
	struct subnet *subnet = slot_take(&net->context.subnet);

	if (!subnet)
		return false;
	net->sm_lid = subnet->sm_lid;
	subnet_unref(subnet);
	return true;
}

bool net_wait_up(struct net *net)
{
	if (runtime_mode(net->rt) == RUNTIME_VIRTUAL) {
		if (!runtime_run(net->rt, subnet_up, net, 60 * NS_PER_S))
			return false;
		runtime_run(net->rt, NULL, NULL, runtime_now(net->rt) + NS_PER_S / 100);
		return true;
	}
	for (unsigned int i = 0; i < 6000 && !subnet_up(net); i++)
		g_usleep(10000);
	g_usleep(20000); /* until the SA has seen it too */
	return subnet_up(net);
}

void net_ask(struct net *net, uint8_t method, uint16_t attribute, uint64_t mask,
		const struct wire_type *type, const void *record)
{
	struct vendor_address to = {.lid = net->sm_lid, .qpn = 1, .qkey = IBA_QP1_Q_KEY};
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
	unsigned int timeout_ms = net->timeout_ms;

	/* On threads of a busy machine an answer may take its time. */
	if (!timeout_ms)
		timeout_ms = runtime_mode(net->rt) == RUNTIME_VIRTUAL ? 1000 : 30000;
	wire_encode(&iba_mad_header_type, &header, octets);
	wire_encode(&iba_sa_header_type, &sa, octets + 36);
	if (type)
		wire_encode(type, record, octets + IBA_SA_DATA_OFFSET);
	if (!vendor_send(net->client_port, &to, octets, sizeof(octets), timeout_ms))
		g_error("the simulation takes no packet");
}

void net_ask_path(struct net *net)
{
	struct iba_path_record record = {
		.sgid = {IBA_DEFAULT_GID_PREFIX, net->client_guid},
		.dgid = {IBA_DEFAULT_GID_PREFIX, vendor_port_guid(net->sm_port)},
	};

	net_ask(net, IBA_METHOD_GET, IBA_ATTR_PATH_RECORD,
		IBA_COMPONENT(path_record, sgid) | IBA_COMPONENT(path_record, dgid),
		&iba_path_record_type, &record);
}

struct pump {
	struct message message;
	struct net *net;
	unsigned int outstanding;
};

static void pump_run(struct message *message)
{
	struct pump *pump = (struct pump *)message;
	struct net *net = pump->net;

	while (net->n_asked < MIN(pump->outstanding, net->goal))
		net->question(net, net->n_asked);
	g_free(pump);
}

bool net_pump(struct net *net, unsigned int count, unsigned int outstanding,
	      void (*question)(struct net *net, unsigned int number))
{
	struct pump *pump = g_new0(struct pump, 1);

	pump->message.run = pump_run;
	pump->net = net;
	pump->outstanding = outstanding;
	net->question = question;
	net->goal = count;
	actor_post(net->client, &pump->message);
	for (unsigned int i = 0; i < 60000 && atomic_load(&net->n_done) < count; i++)
		g_usleep(1000);
	return atomic_load(&net->n_done) == count;
}

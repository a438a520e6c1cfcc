// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Belief against hardware. Between sweeps, what is known of tables and ports is read back and
 * compared. Differences are logged, counted, and corrected by a sweep.
 *
 * Read back are: after a while, the target of each Set of which some tries got no answer, as one
 * may have been in flight, and have arrived after something newer; all that is known of one node
 * after the other, when the operator requests it (console command audit, option audit_nodes), or
 * after a cable between switches was found to be moved; and all nodes when one of these differed,
 * for then another SM may have written.
 */
#include <string.h>

#include "sm/discover/discover.h"
#include "sm/health/health.h"
#include "sm/read/read.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"

#define OUTSTANDING_MAX 8
#define QUEUE_MAX 65536		   /* Sets in doubt: more are not read back */
#define LATE_NS (1500 * NS_PER_MS) /* no try arrives later: LifeTimeValue is 1 s */

/* The contents of one SMP. */
struct item {
	uint64_t guid;
	uint64_t due_ns;
	uint32_t block;
	uint16_t attribute;
	uint8_t port;
};

struct audit {
	struct sm *sm;
	GQueue doubted; /* struct item by due_ns: Sets with unanswered tries */
	GQueue wanted;	/* struct item: for the operator's audit */
	unsigned int out;
	GPtrArray *nodes; /* held: nodes left for the operator's audit, in reverse order */
	uint32_t left;	  /* nodes left in the running operator's audit */
	uint32_t next;	  /* index in the walk of the node where the next one begins */
	uint64_t compared, differed; /* counters at its start */
	struct timer timer;
};

static void advance(struct sm *sm);

/* ---- what is read ---- */

static void add(GQueue *items, const struct builder_node *node, uint8_t port, uint16_t attribute,
		uint32_t block, uint64_t due_ns)
{
	struct item *item = g_new(struct item, 1);

	*item = (struct item){node->guid, due_ns, block, attribute, port};
	g_queue_push_tail(items, item);
}

void audit_set(const struct sm_request *request)
{
	struct sm *sm = request->sm;
	unsigned int answered = request->mad.result == MAD_OK || request->mad.result == MAD_STATUS;

	if (request->tries <= answered || !request->node->builder ||
	    sm->audit->doubted.length >= QUEUE_MAX)
		return;
	add(&sm->audit->doubted, request->node, request->port ? request->port->num : 0,
	    request->mad.attribute, request->block, actor_now(sm->actor) + LATE_NS);
	if (!timer_running(&sm->audit->timer))
		timer_start(&sm->audit->timer, LATE_NS);
}

static void add_table(struct audit *audit, struct builder_node *node, uint8_t port,
		      uint16_t attribute)
{
	const struct trust_table *table = sm_table(node, port, attribute);

	for (uint32_t block = 0; block < trust_n_blocks(table); block++)
		if (trust_get(node, table, block, sm_table_type(attribute)->size))
			add(&audit->wanted, node, port, attribute, block, 0);
}

static void add_node(struct audit *audit, struct builder_node *node)
{
	if (builder_is_switch(node))
		add(&audit->wanted, node, 0, IBA_ATTR_SWITCH_INFO, 0, 0);
	add_table(audit, node, 0, IBA_ATTR_LINEAR_FORWARDING_TABLE);
	add_table(audit, node, 0, IBA_ATTR_MULTICAST_FORWARDING_TABLE);
	for (unsigned int num = 0; num <= node->info.num_ports; num++) {
		add_table(audit, node, (uint8_t)num, IBA_ATTR_P_KEY_TABLE);
		add_table(audit, node, (uint8_t)num, IBA_ATTR_GUID_INFO);
		add_table(audit, node, (uint8_t)num, IBA_ATTR_SL_TO_VL_TABLE);
		add_table(audit, node, (uint8_t)num, IBA_ATTR_VL_ARBITRATION_TABLE);
		if (!node->ports[num].known)
			continue;
		add(&audit->wanted, node, (uint8_t)num, IBA_ATTR_PORT_INFO, 0, 0);
		if (node->ports[num].guid) /* nothing else shows which port has it */
			add(&audit->wanted, node, (uint8_t)num, IBA_ATTR_NODE_INFO, 0, 0);
	}
}

/* ---- comparing ---- */

static void differs(struct sm *sm, struct builder_node *node, const struct item *item)
{
	char name[SM_NAME_SIZE];

	counter_inc(&sm->context->counters, audit_differed);
	log_error(sm->log,
		  "%s port %u, block %u: its %s differs from what was set; it is being "
		  "corrected",
		  sm_node_name(node, name, sizeof(name)), item->port, item->block,
		  iba_name(IBA_SET_ATTR, item->attribute));
	builder_touch(node);
	health_differs(sm, node);
	if (!sm->audit->left) /* if another SM has written one node, there may be more */
		audit_all_soon(sm);
}

/* No SM wrote that: it is not an error, and no evidence about other ports. */
static void link_differs(struct sm *sm, struct builder_node *node, const struct item *item)
{
	char name[SM_NAME_SIZE];

	counter_inc(&sm->context->counters, audit_differed);
	log_info(sm->log,
		 "%s port %u: its link state differs from what is known; it is read "
		 "again",
		 sm_node_name(node, name, sizeof(name)), item->port);
	builder_touch(node);
	sweep_look_at(sm, node);
}

/* On the wire, without values that change by themselves. */
static void settled_part(const struct iba_port_info *info, uint8_t wire[IBA_SMP_DATA_BYTES])
{
	struct iba_port_info part = *info;

	part.m_key_violations = part.p_key_violations = part.q_key_violations = 0;
	part.client_reregister = 0;
	part.diag_code = 0;
	part.link_round_trip_latency = 0;
	part.local_port_num = 0; /* the port it was queried through */
	memset(wire, 0, IBA_SMP_DATA_BYTES);
	wire_encode(&iba_port_info_type, &part, wire);
}

/* Whether the port differs only in what a link changes by itself, and traps report. */
static bool is_other_link(const struct iba_port_info *now, const struct iba_port_info *known)
{
	struct iba_port_info before = *known;
	uint8_t is[IBA_SMP_DATA_BYTES], was[IBA_SMP_DATA_BYTES];

	before.port_state = now->port_state;
	before.port_physical_state = now->port_physical_state;
	before.link_width_active = now->link_width_active;
	before.link_speed_active = now->link_speed_active;
	before.link_speed_ext_active = now->link_speed_ext_active;
	before.link_speed_ext_active2 = now->link_speed_ext_active2;
	settled_part(now, is);
	settled_part(&before, was);
	return !memcmp(is, was, sizeof(is));
}

static void compare_port(struct sm_request *request, const struct item *item)
{
	struct builder_port *port = request->port;
	uint8_t is[IBA_SMP_DATA_BYTES], known[IBA_SMP_DATA_BYTES];
	struct iba_port_info now;

	wire_decode(&iba_port_info_type, request->mad.data, &now);
	settled_part(&now, is);
	settled_part(&port->info, known);
	if (!port->known || !memcmp(is, known, sizeof(is)))
		return;
	port->read = 0;
	builder_mark(request->node); /* in any case: it is read again */
	if (is_other_link(&now, &port->info))
		link_differs(request->sm, request->node, item);
	else
		differs(request->sm, request->node, item);
}

static void compare_switch(struct sm_request *request, const struct item *item)
{
	const struct iba_switch_info *known = &request->node->switch_info;
	struct iba_switch_info now;

	wire_decode(&iba_switch_info_type, request->mad.data, &now);
	if (now.port_state_change) /* by itself, or the Set that cleared it was lost */
		sweep_look_at(request->sm, request->node);
	if (now.linear_fdb_top == known->linear_fdb_top &&
	    now.multicast_fdb_top == known->multicast_fdb_top &&
	    now.life_time_value == known->life_time_value)
		return;
	builder_mark(request->node);
	differs(request->sm, request->node, item);
}

static void compare_node(const struct sm_request *request, const struct item *item)
{
	if (!identity_is_same(request))
		differs(request->sm, request->node, item);
}

static void compare_block(struct sm_request *request, const struct item *item)
{
	const struct wire_type *type = sm_table_type(item->attribute);
	struct builder_node *node = request->node;
	struct trust_table *table = sm_table(node, item->port, item->attribute);
	const void *known = trust_get(node, table, item->block, type->size);
	_Alignas(uint64_t) uint8_t now[IBA_SMP_DATA_BYTES];

	wire_decode(type, request->mad.data, now);
	if (!known || request->epoch != node->epoch || wire_equal(type, known, now))
		return;
	trust_set(node, node->epoch, table, item->block, type->size, now);
	builder_reach_changed(node->builder);
	differs(request->sm, node, item);
	if (builder_is_switch(node) && health_relapses(request->sm, node) &&
	    (item->attribute == IBA_ATTR_LINEAR_FORWARDING_TABLE ||
	     item->attribute == IBA_ATTR_MULTICAST_FORWARDING_TABLE))
		health_block_refused(request->sm, node, item->attribute, item->block,
				     "its tables keep changing to other values");
}

static void on_read(struct sm_request *request)
{
	struct sm *sm = request->sm;
	struct item *item = request->owned;

	sm->audit->out--;
	if (!request->node->builder || !sm_request_ok(request)) {
		; /* sweeps handle nodes that are silent, or gone */
	} else if (sweep_runs(sm) || request->serial != sm->sweep.serial) {
		g_queue_push_tail(&sm->audit->wanted, item); /* it may have been written since */
		request->owned = NULL;
	} else {
		counter_inc(&sm->context->counters, audit_compared);
		if (item->attribute == IBA_ATTR_PORT_INFO)
			compare_port(request, item);
		else if (item->attribute == IBA_ATTR_SWITCH_INFO)
			compare_switch(request, item);
		else if (item->attribute == IBA_ATTR_NODE_INFO)
			compare_node(request, item);
		else
			compare_block(request, item);
	}
	advance(sm);
}

static uint32_t modifier_of(const struct builder_node *node, const struct item *item)
{
	switch (item->attribute) {
	case IBA_ATTR_PORT_INFO:
		return item->port | (node->ports[item->port].info.link_speed_ext_supported
					     ? IBA_PORT_INFO_MOD_EXTENDED_SPEEDS
					     : 0);
	case IBA_ATTR_P_KEY_TABLE:
		return p_keys_modifier(&node->ports[item->port], item->block);
	case IBA_ATTR_MULTICAST_FORWARDING_TABLE:
		return sm_mft_modifier(node->info.num_ports, item->block);
	case IBA_ATTR_SL_TO_VL_TABLE:
	case IBA_ATTR_VL_ARBITRATION_TABLE:
		return qos_modifier(&node->ports[item->port], item->attribute, item->block);
	default:
		return item->block;
	}
}

/* A port of a channel adapter without a link cannot be queried: another port would answer. */
static bool can_be_asked(const struct builder_node *node, uint8_t port)
{
	return port <= node->info.num_ports && (builder_is_switch(node) || node->ports[port].known);
}

/* Takes ownership of the item. */
static void read_back(struct sm *sm, struct item *item)
{
	struct builder_node *node = builder_find(sm->builder, item->guid);
	struct sm_request *request;

	if (!node || !can_be_asked(node, item->port)) {
		g_free(item);
		return;
	}
	request = sm_request_port(sm, &node->ports[item->port], IBA_METHOD_GET, item->attribute,
				  modifier_of(node, item));
	request->sender = REQUEST_OUTSIDE_SWEEP;
	request->serial = sm->sweep.serial;
	request->owned = item;
	request->done = on_read;
	sm->audit->out++;
	sm_request_send(request);
}

/* ---- when ---- */

/* The operator's audit advances to the next node; false if there is none. */
static bool next_node(struct audit *audit)
{
	struct builder_node *node;

	if (!audit->nodes->len)
		return false;
	node = audit->nodes->pdata[audit->nodes->len - 1];
	g_ptr_array_set_size(audit->nodes, (gint)audit->nodes->len - 1);
	if (node->builder)
		add_node(audit, node);
	builder_release(node);
	return true;
}

static void tell_end(struct audit *audit)
{
	const struct counters *counters = &audit->sm->context->counters;

	audit->left = 0;
	log_info(audit->sm->log,
		 "audit: %" G_GUINT64_FORMAT
		 " blocks and ports compared with the devices, %" G_GUINT64_FORMAT " differed",
		 counter_get(counters, audit_compared) - audit->compared,
		 counter_get(counters, audit_differed) - audit->differed);
}

/* The next item to be read; NULL if there is none now. */
static struct item *take_item(struct audit *audit, uint64_t now)
{
	const struct item *doubted = g_queue_peek_head(&audit->doubted);

	if (doubted && doubted->due_ns <= now)
		return g_queue_pop_head(&audit->doubted);
	while (!audit->wanted.length && next_node(audit))
		;
	return g_queue_pop_head(&audit->wanted);
}

static void advance(struct sm *sm)
{
	struct audit *audit = sm->audit;
	uint64_t now = actor_now(sm->actor);
	const struct item *doubted;
	struct item *item;

	if (sweep_runs(sm) || !sm->schedule.discovered)
		return;
	while (audit->out < OUTSTANDING_MAX && (item = take_item(audit, now)))
		read_back(sm, item);
	if (audit->left && !audit->out)
		tell_end(audit);
	doubted = g_queue_peek_head(&audit->doubted);
	if (doubted && !audit->out)
		timer_start(&audit->timer, doubted->due_ns - MIN(doubted->due_ns, now));
}

static void on_timer(struct timer *timer)
{
	advance(container_of(timer, struct audit, timer)->sm);
}

void audit_sweep_ended(struct sm *sm)
{
	/* Without its port the SM knows of no cable to any node: then the audit has to wait. */
	if (sm->schedule.audit_all && !sm->audit->left && sm->schedule.discovered) {
		sm->schedule.audit_all = false;
		audit_want(sm, 0);
	} else if (sm->sweep.kind == SWEEP_KIND_LIGHT && sm->options->audit_nodes &&
		   !sm->audit->left)
		audit_want(sm, sm->options->audit_nodes);
	else
		timer_start(&sm->audit->timer, 0);
}

void audit_want(struct sm *sm, uint32_t nodes)
{
	struct audit *audit = sm->audit;
	g_autoptr(GPtrArray) order = NULL;

	if (!audit->left) {
		audit->compared = counter_get(&sm->context->counters, audit_compared);
		audit->differed = counter_get(&sm->context->counters, audit_differed);
	}
	if (!sm->builder->sm_port)
		return;
	order = builder_order(sm->builder);
	audit->left = MIN(nodes ? nodes : order->len, order->len);
	for (uint32_t i = audit->left; i-- > 0;) {
		struct builder_node *node = order->pdata[(audit->next + i) % order->len];

		builder_hold(node);
		g_ptr_array_add(audit->nodes, node);
	}
	audit->next = (audit->next + audit->left) % order->len;
	timer_start(&audit->timer, 0);
}

/* ---- life ---- */

struct audit *audit_new(struct sm *sm)
{
	struct audit *audit = g_new0(struct audit, 1);

	audit->sm = sm;
	audit->nodes = g_ptr_array_new();
	g_queue_init(&audit->doubted);
	g_queue_init(&audit->wanted);
	timer_init(&audit->timer, sm->actor, on_timer);
	return audit;
}

void audit_free(struct audit *audit)
{
	for (guint i = 0; i < audit->nodes->len; i++)
		builder_release(audit->nodes->pdata[i]);
	g_ptr_array_unref(audit->nodes);
	g_queue_clear_full(&audit->doubted, g_free);
	g_queue_clear_full(&audit->wanted, g_free);
	g_free(audit);
}

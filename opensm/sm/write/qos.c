// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SLtoVLMappingTables and VLArbitrationTables: as qos.c of policy derives them from the options and
 * qos_setup.c from the scopes in qos-policy.conf, compared with what the ports hold. Without the
 * option qos they are left alone, unless routes need lanes: then they are as without any of these.
 * The needs of routes take precedence.
 *
 * Tables outlive the SM that wrote them. With QoS off those of a node that an SM is known to have
 * written are read: if one leads an SL to a lane that its link no longer has, or drops one that
 * hosts use, all of the node's tables are set to the built-in ones. Known are the tables that this
 * SM wrote, and those of a port that was in use with more lanes than it should have now. Tables
 * that no SM has written are not read: a fabric that comes up costs no SMP for it.
 *
 *	FRESH    QoS is on, routes need lanes, or a link should have fewer --> WRITTEN
 *	WRITTEN  QoS is off: all rows are right --> CHECKED; one is wrong --> RESET
 *	CHECKED  the same as FRESH; one is wrong --> RESET
 *	RESET    QoS is on, or routes need lanes --> WRITTEN
 *	any      the node was reset --> FRESH
 *
 * The tables of a port are read when they are unknown, but only one block of each if that one is
 * not as it should be: then all is written. A switch has an SLtoVLMappingTable for each pair of an
 * input and an output port; those of ports without a cable are left alone. With use_optimized_slvl,
 * values that are the same for all inputs, or all ports, are sent in one SMP to switches that
 * support it.
 */
#include <string.h>

#include "policy/qos/qos_lanes.h"
#include "route/value/lanes.h"
#include "sm/discover/discover.h"
#include "sm/sm_private.h"
#include "sm/smp/smp.h"
#include "sm/write/write_private.h"

#define SL_TO_VL_BYTES sizeof(struct iba_sl_to_vl_table)
#define VL_ARB_BYTES sizeof(struct iba_vl_arbitration_table)
/* Modifier of the SMP that sets all rows of all ports. */
#define WHOLE_SWITCH (IBA_SL_TO_VL_MOD_ALL_INPUT | IBA_SL_TO_VL_MOD_ALL_OUTPUT)
#define SMPS_PER_VISIT 64 /* approximately: then there is room for as many switches as the window */

/* What is known of the QoS tables of all nodes. */
struct vl_tables {
	bool known;	     /* some node has tables that an SM wrote */
	bool had_lanes;	     /* SL2VL tables were set for lanes of routes */
	bool lanes_left;     /* reachable switches may still have lanes of other routes */
	uint16_t told_sls;   /* bitmask of the SLs given to hosts while QoS is off */
	unsigned int resets; /* nodes whose tables were reset since that was logged */
};

struct vl_tables *vl_tables_new(void)
{
	return g_new0(struct vl_tables, 1);
}

void vl_tables_free(struct vl_tables *tables)
{
	g_free(tables);
}

bool vl_tables_are_known(const struct sm *sm)
{
	return sm->settings->vl_tables->known;
}

/* What a port should hold. */
struct want {
	struct builder_port *port;
	struct qos_tables tables;
	unsigned int vls;
	struct qos_place place;
	uint32_t to; /* the port in the fabric; FABRIC_NONE: not in it */
	bool even;   /* rows of all inputs are the same */
	const struct routing *routing;	    /* it may need lanes */
	struct iba_sl_to_vl_table sl_to_vl; /* then these */
};

/* Rounds of the step: the first blocks are read, then the others, then differences are written. */
enum round {
	READ_FIRST,
	READ_REST,
	WRITE,
};

/* ---- the tables of a port ---- */

/* Data passes through the port. */
static bool carries_data(const struct builder_port *port)
{
	if (builder_is_switch(port->node) && !port->num)
		return port->known && port->node->switch_info.enhanced_port0;
	return port->known && port->peer && builder_link_is_up(port);
}

static bool has_sl_to_vl(const struct builder_port *port)
{
	const struct builder_port *endport =
		builder_is_switch(port->node) ? &port->node->ports[0] : port;

	return qos_has_sl_to_vl(&port->info, &endport->info);
}

static unsigned int arb_cap(const struct builder_port *port, unsigned int block)
{
	return block < 2 ? port->info.vl_arbitration_low_cap : port->info.vl_arbitration_high_cap;
}

static bool has_arb_block(const struct builder_port *port, unsigned int block)
{
	return arb_cap(port, block) > block % 2 * QOS_PER_BLOCK;
}

/* Input ports with a table for that output, or just one. */
static unsigned int inputs_of(const struct builder_port *port)
{
	return builder_is_switch(port->node) ? port->node->info.num_ports : 0;
}

static bool is_input(const struct builder_port *port, unsigned int in)
{
	return !builder_is_switch(port->node) || !in || carries_data(&port->node->ports[in]);
}

/* ---- tables left from an earlier SM ---- */

static bool has_lanes(const struct sm *sm)
{
	uint8_t demand[QOS_SLS];

	return routing_sl_to_vl(sm->routing, demand) != 0;
}

/* Resets the tables of all nodes. */
static bool sets_tables(const struct sm *sm)
{
	return sm->options->qos || sm->settings->vl_tables->had_lanes || has_lanes(sm);
}

static bool is_set_up(const struct sm *sm, const struct builder_node *node)
{
	return sets_tables(sm) || node->vl_tables == VL_TABLES_RESET;
}

/* The node was reset, or is new: no master has assigned it a LID. */
static bool is_cold(const struct builder_node *node)
{
	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (node->ports[num].known && node->ports[num].info.lid)
			return false;
	return true;
}

/* Its link may have gone down since: a node that had a LID when found had a master. */
static bool was_in_use(const struct builder_port *port)
{
	const struct builder_port *endport =
		builder_is_switch(port->node) ? &port->node->ports[0] : port;

	return port->info.port_state > IBA_PORT_INIT ||
	       (endport->info.lid && port->node->vl_tables != VL_TABLES_FRESH);
}

static bool loses_lanes(const struct sm *sm, const struct builder_node *node)
{
	for (unsigned int num = 0; num <= node->info.num_ports; num++) {
		const struct builder_port *port = &node->ports[num];

		if (carries_data(port) && was_in_use(port) &&
		    port_operational_vls(sm, port) < port->info.operational_vls)
			return true;
	}
	return false;
}

void qos_note_lanes(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = sweep_nodes(sm);

	for (guint i = 0; i < nodes->len; i++) {
		struct builder_node *node = nodes->pdata[i];

		if (is_cold(node))
			node->vl_tables = VL_TABLES_FRESH;
		if (node->vl_tables >= VL_TABLES_WRITTEN)
			continue;
		if (loses_lanes(sm, node)) {
			node->vl_tables = VL_TABLES_WRITTEN;
			sm->settings->vl_tables->known = true;
		} else if (node->vl_tables == VL_TABLES_UNSEEN) {
			node->vl_tables = VL_TABLES_FRESH;
		}
	}
}

/* ---- reading ---- */

static void on_read(struct sm_request *request)
{
	if (!sm_block_read(request) && !sm_request_is_late(request))
		sm_request_failed(request);
}

static void read_block(struct sm *sm, struct builder_port *port, uint16_t attribute, uint32_t block)
{
	struct sm_request *request;

	if (trust_get(port->node, sm_table(port->node, port->num, attribute), block,
		      sm_table_type(attribute)->size))
		return;
	request = sm_request_port(sm, port, IBA_METHOD_GET, attribute,
				  qos_modifier(port, attribute, block));
	request->block = block;
	request->belief = true;
	request->done = on_read;
	sm_request_send(request);
}

/* ---- comparing ---- */

static void make_row(const struct want *want, unsigned int in, struct iba_sl_to_vl_table *row)
{
	bool is_switch = builder_is_switch(want->port->node);
	uint32_t from = is_switch ? want->to - want->port->num + in : want->to;
	uint8_t vl[QOS_SLS];

	qos_setup_row(&want->place, &want->tables, want->vls, from, want->to, row);
	qos_merge(row,
		  qos_lanes(want->place.fabric, want->routing, from, want->to, want->vls, vl), vl);
}

static bool row_differs(const struct want *want, unsigned int in)
{
	const struct builder_port *port = want->port;
	const void *is = trust_get(port->node, &port->sl_to_vl, in, SL_TO_VL_BYTES);
	struct iba_sl_to_vl_table row = want->sl_to_vl;

	if (is && !want->even)
		make_row(want, in, &row);
	return !is || memcmp(is, &row, SL_TO_VL_BYTES);
}

static bool rows_differ(const struct want *want)
{
	for (unsigned int in = 0; in <= inputs_of(want->port); in++)
		if (is_input(want->port, in) && row_differs(want, in))
			return true;
	return false;
}

static bool arb_differs(const struct want *want, unsigned int block,
			struct iba_vl_arbitration_table *table)
{
	const struct builder_port *port = want->port;
	const void *is = trust_get(port->node, &port->vl_arb, block, VL_ARB_BYTES);

	qos_arbitration(&want->tables, want->vls, block, arb_cap(port, block), table);
	return !is || memcmp(is, table, VL_ARB_BYTES);
}

/* ---- a port ---- */

static bool claims_optimized(const struct sm *sm, const struct builder_node *node)
{
	return sm->options->use_optimized_slvl && builder_is_switch(node) &&
	       node->switch_info.optimized_sl_to_vl_mapping_programming;
}

static bool is_optimized(const struct sm *sm, const struct want *want)
{
	const struct builder_node *node = want->port->node;

	return claims_optimized(sm, node) && !node->sl_to_vl_singly && want->port->num &&
	       want->even && has_sl_to_vl(want->port);
}

static void read_rows(struct sm *sm, struct builder_port *port, bool rest)
{
	if (!rest)
		read_block(sm, port, IBA_ATTR_SL_TO_VL_TABLE, 0);
	for (unsigned int in = 1; rest && in <= inputs_of(port); in++)
		if (is_input(port, in))
			read_block(sm, port, IBA_ATTR_SL_TO_VL_TABLE, in);
}

static void reserve_tables(struct builder_port *port)
{
	if (has_sl_to_vl(port))
		trust_reserve(&port->sl_to_vl, inputs_of(port) + 1, SL_TO_VL_BYTES);
	trust_reserve(&port->vl_arb, QOS_ARB_BLOCKS, VL_ARB_BYTES);
}

/*
 * Reads the first block of each of its tables; the others if that is as it should be. Tables that
 * one SMP can set are not read before.
 */
static void read_port(struct sm *sm, const struct want *want, bool rest)
{
	struct builder_port *port = want->port;
	struct iba_vl_arbitration_table table;

	if (has_sl_to_vl(port) && !is_optimized(sm, want) && !(rest && row_differs(want, 0)))
		read_rows(sm, port, rest);
	if (!rest && has_arb_block(port, 0))
		read_block(sm, port, IBA_ATTR_VL_ARBITRATION_TABLE, 0);
	for (unsigned int block = 1; rest && block < QOS_ARB_BLOCKS; block++)
		if (has_arb_block(port, block) && !arb_differs(want, 0, &table))
			read_block(sm, port, IBA_ATTR_VL_ARBITRATION_TABLE, block);
}

static void write_rows(struct sm *sm, const struct want *want)
{
	struct builder_port *port = want->port;

	for (unsigned int in = 0; in <= inputs_of(port); in++) {
		struct iba_sl_to_vl_table row = want->sl_to_vl;
		struct sm_request *request;

		if (!is_input(port, in) || !row_differs(want, in))
			continue;
		if (!want->even)
			make_row(want, in, &row);
		request = sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_SL_TO_VL_TABLE,
					  qos_modifier(port, IBA_ATTR_SL_TO_VL_TABLE, in));
		wire_encode(&iba_sl_to_vl_table_type, &row, request->mad.data);
		request->block = in;
		sm->sweep.qos_set = true;
		sm_block_send(request);
	}
}

static void write_arbitration(struct sm *sm, const struct want *want)
{
	struct builder_port *port = want->port;
	struct iba_vl_arbitration_table table;

	for (unsigned int block = 0; block < QOS_ARB_BLOCKS; block++) {
		struct sm_request *request;

		if (!has_arb_block(port, block) || !arb_differs(want, block, &table))
			continue;
		request = sm_request_port(sm, port, IBA_METHOD_SET, IBA_ATTR_VL_ARBITRATION_TABLE,
					  qos_modifier(port, IBA_ATTR_VL_ARBITRATION_TABLE, block));
		wire_encode(&iba_vl_arbitration_table_type, &table, request->mad.data);
		request->block = block;
		sm->sweep.qos_set = true;
		sm_block_send(request);
	}
}

/* ---- what a node should hold ---- */

static void want_tables(const struct sm *sm, struct want *want)
{
	struct iba_port_info info;

	port_wanted(sm, want->port, &info);
	qos_setup_port(&want->place, want->to, &want->tables);
	want->vls = qos_vls(&want->tables, info.operational_vls);
	want->routing = sm->routing;
	want->even = qos_setup_is_even(&want->place, want->to) && !routing_has_turns(sm->routing);
	make_row(want, 0, &want->sl_to_vl);
}

/* What a port should hold; false if it carries no data, or the node does not have it. */
static bool want_of(const struct sm *sm, struct builder_node *node, unsigned int num,
		    struct want *want)
{
	uint32_t index = fabric_node_by_guid(sm->fabric, node->guid);

	if (index == FABRIC_NONE || num > node->info.num_ports || !carries_data(&node->ports[num]))
		return false;
	*want = (struct want){
		.port = &node->ports[num],
		.place = {sm->qos, sm->fabric},
		.to = fabric_port_of(sm->fabric, index, (uint8_t)num),
	};
	want_tables(sm, want);
	return true;
}

/* What all its ports should hold; g_array_unref it. */
static GArray *wants_of(const struct sm *sm, struct builder_node *node)
{
	GArray *wants = g_array_new(FALSE, FALSE, sizeof(struct want));
	struct want want;

	for (unsigned int num = 0; num <= node->info.num_ports; num++)
		if (want_of(sm, node, num, &want))
			g_array_append_val(wants, want);
	return wants;
}

/* ---- all inputs, or all ports, of a switch in one SMP ---- */

/*
 * It does not get such a Set again; this sweep sets its values singly. For the other ports that has
 * begun.
 */
static void go_on_singly(const struct sm_request *request)
{
	struct builder_node *node = request->node;
	char name[SM_NAME_SIZE];
	g_autoptr(GArray) wants = NULL;

	if (node->sl_to_vl_singly)
		return;
	node->sl_to_vl_singly = true;
	log_error(request->sm->log,
		  "%s claims to support optimized SL2VL programming but %s (modifier 0x%x, "
		  "status 0x%04x): its SL2VL tables are written one by one",
		  sm_node_name(node, name, sizeof(name)),
		  sm_request_ok(request) ? "answers with different rows" : "refuses it",
		  request->mad.modifier, request->mad.status);
	wants = wants_of(request->sm, node);
	for (guint i = 0; i < wants->len; i++) {
		const struct want *want = &g_array_index(wants, struct want, i);

		if (want->port->num && want->even && has_sl_to_vl(want->port))
			write_rows(request->sm, want);
	}
}

static bool is_refused(const struct sm_request *request)
{
	if (sm_request_ok(request))
		return !sm_request_echoed(request);
	return request->mad.result == MAD_STATUS && !(request->mad.status & IBA_STATUS_BUSY);
}

/* In the switch ports that an SMP was for, every row is this now. */
static void on_rows_written(struct sm_request *request)
{
	struct builder_node *node = request->node;
	uint32_t modifier = request->mad.modifier;
	bool all = modifier & IBA_SL_TO_VL_MOD_ALL_OUTPUT;
	struct iba_sl_to_vl_table table;

	if (is_refused(request)) {
		if (!sm_request_is_late(request))
			go_on_singly(request);
		return;
	}
	if (!sm_request_ok(request)) {
		if (!sm_request_is_late(request))
			sm_request_failed(request);
		return;
	}
	wire_decode(&iba_sl_to_vl_table_type, request->mad.data, &table);
	for (unsigned int out = 1; out <= node->info.num_ports; out++) {
		struct builder_port *port = &node->ports[out];

		for (unsigned int in = 0; in < trust_n_blocks(&port->sl_to_vl); in++)
			if (all || out == (modifier & 0xFF))
				trust_set(node, request->epoch, &port->sl_to_vl, in, SL_TO_VL_BYTES,
					  &table);
	}
}

static void write_all_rows(struct sm *sm, const struct want *want, uint32_t modifier)
{
	struct builder_node *node = want->port->node;
	struct sm_request *request =
		sm_request_new(sm, node, IBA_METHOD_SET, IBA_ATTR_SL_TO_VL_TABLE, modifier);

	wire_encode(&iba_sl_to_vl_table_type, &want->sl_to_vl, request->mad.data);
	request->belief = true;
	request->mad.takes_long = !(WHOLE_SWITCH & ~modifier);
	sm->sweep.qos_set = true;
	request->done = on_rows_written;
	sm_request_send(request);
}

/* ---- a node ---- */

/* Whether one SMP can set all external ports. */
static bool is_the_same(const GArray *wants)
{
	const struct want *first = NULL;

	for (guint i = 0; i < wants->len; i++) {
		const struct want *want = &g_array_index(wants, struct want, i);

		if (!want->port->num)
			continue;
		if (!want->even)
			return false;
		if (first && memcmp(&first->sl_to_vl, &want->sl_to_vl, SL_TO_VL_BYTES))
			return false;
		first = first ? first : want;
	}
	return true;
}

static void write_optimized(struct sm *sm, struct builder_node *node)
{
	g_autoptr(GArray) wants = wants_of(sm, node);
	bool same = is_the_same(wants);

	for (guint i = 0; i < wants->len; i++) {
		const struct want *want = &g_array_index(wants, struct want, i);

		if (!is_optimized(sm, want) || !rows_differ(want))
			continue;
		write_all_rows(sm, want,
			       IBA_SL_TO_VL_MOD_ALL_INPUT |
				       (same ? IBA_SL_TO_VL_MOD_ALL_OUTPUT : want->port->num));
		if (same)
			break;
	}
}

static void write_port(struct sm *sm, const struct want *want)
{
	if (has_sl_to_vl(want->port) && !is_optimized(sm, want))
		write_rows(sm, want);
	write_arbitration(sm, want);
}

static bool is_row_known(const struct builder_port *port, unsigned int in)
{
	return trust_get(port->node, &port->sl_to_vl, in, SL_TO_VL_BYTES) != NULL;
}

/* Bits of the SLs that the SA returns to queries that do not specify one, while QoS is off. */
static uint16_t told_sls(const struct sm *sm)
{
	uint16_t sls = 1u | 1u << sm->options->sm_sl; /* SL 0: then used by all partitions */
	struct mc_cursor cursor = {0};
	const struct mc_group *group;

	while ((group = mc_groups_next(sm->groups, &cursor)))
		sls |= 1u << group->sl;
	return sls;
}

/* Wrong values of a row. */
struct fault {
	uint16_t told; /* SLs that hosts use: wrong if dropped */
	bool late;     /* not read yet */
};

/* It has some SL on a lane that the link does not have. */
static bool is_row_wrong(const struct want *want, unsigned int in, const struct fault *fault)
{
	const struct builder_port *port = want->port;
	const struct iba_sl_to_vl_table *is =
		trust_get(port->node, &port->sl_to_vl, in, SL_TO_VL_BYTES);

	for (unsigned int sl = 0; is && sl < QOS_SLS; sl++)
		if (is->vl[sl] >= want->vls && (is->vl[sl] != QOS_DROP || fault->told >> sl & 1))
			return true;
	return !is && fault->late;
}

static bool is_any_wrong(const GArray *wants, const struct fault *fault)
{
	for (guint i = 0; i < wants->len; i++) {
		const struct want *want = &g_array_index(wants, struct want, i);

		for (unsigned int in = 0; in <= inputs_of(want->port); in++)
			if (has_sl_to_vl(want->port) && is_input(want->port, in) &&
			    is_row_wrong(want, in, fault))
				return true;
	}
	return false;
}

/*
 * QoS is off, and an SM has written the node's tables: rows are read until one is wrong. A row that
 * is still missing when tables are written counts as wrong. Once all were right they are not read
 * again, even if other knowledge of the node is in doubt.
 */
static void check_node(struct sm *sm, struct builder_node *node)
{
	g_autoptr(GArray) wants = wants_of(sm, node);
	bool reads = node->vl_tables == VL_TABLES_WRITTEN, last = sm->sweep.round == WRITE;
	struct fault fault = {.told = sm->settings->vl_tables->told_sls, .late = reads && last};

	if (is_any_wrong(wants, &fault)) {
		node->vl_tables = VL_TABLES_RESET;
		sm->settings->vl_tables->resets++;
	} else if (last) {
		node->vl_tables = VL_TABLES_CHECKED;
	}
}

/* ---- the step ---- */

static void do_node(struct sm *sm, void *item)
{
	struct builder_node *node = item;

	if (sets_tables(sm))
		node->vl_tables = VL_TABLES_WRITTEN;
	else if (node->vl_tables >= VL_TABLES_CHECKED && node->vl_tables != VL_TABLES_RESET)
		check_node(sm, node);
}

static void do_port(struct sm *sm, struct builder_node *node, unsigned int num)
{
	bool set_up = is_set_up(sm, node), rest = sm->sweep.round == READ_REST;
	struct want want;

	if (!want_of(sm, node, num, &want))
		return;
	reserve_tables(want.port);
	if (set_up && sm->sweep.round == WRITE)
		write_port(sm, &want);
	else if (set_up)
		read_port(sm, &want, rest);
	else if (has_sl_to_vl(want.port) && (!rest || is_row_known(want.port, 0)))
		read_rows(sm, want.port, rest);
}

/* Until it is known what it should be, it stays. */
uint8_t qos_high_limit(const struct sm *sm, const struct builder_port *port)
{
	struct qos_place place = {sm->qos, sm->fabric};
	struct qos_tables tables;
	uint32_t node;

	if (!sm->options->qos || !sm->qos || sm->qos->shape != sm->fabric->shape ||
	    !carries_data(port))
		return port->info.vl_high_limit;
	node = fabric_node_by_guid(sm->fabric, port->node->guid);
	if (node == FABRIC_NONE)
		return port->info.vl_high_limit;
	qos_setup_port(&place, fabric_port_of(sm->fabric, node, port->num), &tables);
	return tables.high_limit;
}

static void tell_resets(struct sm *sm, void *item)
{
	(void)item;
	if (sm->settings->vl_tables->resets)
		log_info(sm->log,
			 "QoS is off: the SL2VL tables of %u node(s) map SLs to VLs that their "
			 "links do not have, and are set to the defaults",
			 sm->settings->vl_tables->resets);
	sm->settings->vl_tables->resets = 0;
}

/*
 * Number of visits over which its ports are distributed: each has a row for each input. Links that
 * go down meanwhile do not change it, or ports would be skipped. Just one if few SMPs are enough,
 * before it is known whether go_on_singly() has to send more.
 */
static uint32_t visits_to(const struct sm *sm, const struct builder_node *node)
{
	uint32_t n = node->info.num_ports + 1u;

	return claims_optimized(sm, node) ? 1 : n * n / SMPS_PER_VISIT + 1;
}

static void do_ports(struct sm *sm, void *item)
{
	struct builder_node *node = item;
	bool set_up = is_set_up(sm, node);
	uint32_t visits;

	if (!set_up && node->vl_tables != VL_TABLES_WRITTEN)
		return;
	if (!sm->sweep.part && set_up && sm->sweep.round == WRITE && claims_optimized(sm, node))
		write_optimized(sm, node);
	visits = visits_to(sm, node);
	for (uint32_t num = sm->sweep.part; sm->sweep.part < visits && num <= node->info.num_ports;
	     num += visits)
		do_port(sm, node, num);
}

static uint32_t most_visits(const struct sm *sm, const GPtrArray *nodes)
{
	uint32_t most = 1;

	for (guint i = 0; i < nodes->len; i++)
		most = MAX(most, visits_to(sm, nodes->pdata[i]));
	return most;
}

static void run_round(struct sm *sm, GPtrArray *nodes)
{
	sweep_walk(sm, g_ptr_array_ref(nodes), 1, do_node);
	if (sm->sweep.round == WRITE)
		sweep_walk(sm, NULL, 1, tell_resets);
	sweep_walk(sm, g_ptr_array_ref(nodes), most_visits(sm, nodes), do_ports);
}

enum step_result step_qos(struct sm *sm)
{
	g_autoptr(GPtrArray) nodes = NULL;

	if (!sm->qos)
		return STEP_NEXT;
	sm->settings->vl_tables->told_sls = told_sls(sm);
	sm->settings->vl_tables->known |= sets_tables(sm);
	/* unchanged switches may need lanes now, or no longer */
	sm->settings->vl_tables->lanes_left |= has_lanes(sm);
	sm->settings->vl_tables->had_lanes |= sm->settings->vl_tables->lanes_left;
	nodes = sm->settings->vl_tables->lanes_left ? builder_order(sm->builder) : sweep_nodes(sm);
	run_round(sm, nodes);
	return sm->sweep.round < WRITE ? STEP_AGAIN : STEP_NEXT;
}

void qos_settled(struct sm *sm)
{
	sm->settings->vl_tables->lanes_left = has_lanes(sm);
}

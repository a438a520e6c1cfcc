// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance management agent of every node (IBA 16.1): ClassPortInfo, redirection, and the
 * attributes that are sets of counters. pma.def has these, samples.c the sampling, counts.c what
 * is counted.
 *
 * An agent can do what its node was given (sim_agent.def). That is a property of its firmware,
 * which outlives a restart; its counters do not.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define ALL_PORTS 0xFF
#define NONE UINT16_MAX
#define SECOND 64 /* bits from here on are those of CounterSelect2 */
#define AT(type, field) offsetof(struct iba_##type, field)

/* A field: its place in the host struct, its counter, its bit, what the agent needs for it. */
struct row {
	uint16_t offset, counter;
	uint32_t needs;
	uint8_t bit;
};

#define PM_ATTRIBUTE(type, id, needs, select2, op_code) static const struct row type##_rows[] = {
#define PM_COUNTER(type, field, counter, bit, needs)                                               \
	{AT(type, field), SIM_COUNT_##counter, needs, bit},
#define PM_END                                                                                     \
	}                                                                                          \
	;
#include "libvendor/sim/pma.def"

static const struct attribute {
	uint16_t id;
	uint32_t needs;
	const struct wire_type *type;
	const struct row *rows;
	unsigned int n_rows;
	uint16_t port_select, select, select2, op_code; /* offsets; NONE: it has no such field */
} attributes[] = {
#define PM_ATTRIBUTE(type, id, needs, select2, op_code)                                            \
	{IBA_ATTR_##id,                                                                            \
	 needs,                                                                                    \
	 &iba_##type##_type,                                                                       \
	 type##_rows,                                                                              \
	 G_N_ELEMENTS(type##_rows),                                                                \
	 AT(type, port_select),                                                                    \
	 AT(type, counter_select),                                                                 \
	 select2,                                                                                  \
	 op_code},
#define PM_COUNTER(type, field, counter, bit, needs)
#define PM_END
#include "libvendor/sim/pma.def"
};

union any {
#define PM_ATTRIBUTE(type, id, needs, select2, op_code) struct iba_##type type;
#define PM_COUNTER(type, field, counter, bit, needs)
#define PM_END
#include "libvendor/sim/pma.def"
};

/* ---- registers and fields ---- */

/* OpCodes of the packets that the simulator has: UD SEND Only of MADs, RC RDMA WRITE Only. */
static const uint8_t op_codes[SIM_OPS] = {[SIM_OP_MAD] = 0x64, [SIM_OP_FLOW] = 0x0A};

/* A request for an attribute of counters. */
struct query {
	const struct attribute *attribute;
	struct sim_node *node;
	unsigned int first, last; /* ports */
	unsigned int op;	  /* SIM_OPS: packets with the OpCode do not exist */
	bool set;
	union any host;
};

/* Fields are in the order of rows but for a few, so the search begins at the one before. */
static const struct wire_field *field_at(const struct wire_type *type, uint16_t offset,
					 unsigned int *hint)
{
	for (unsigned int i = 0; i < type->n_fields; i++) {
		unsigned int at = (*hint + i) % type->n_fields;

		if (type->fields[at].offset != offset)
			continue;
		*hint = at;
		return &type->fields[at];
	}
	g_assert_not_reached();
}

static uint64_t host_value(const struct query *query, uint16_t offset)
{
	unsigned int hint = 0;

	return offset == NONE ? 0
			      : wire_value(field_at(query->attribute->type, offset, &hint),
					   &query->host, 0);
}

static bool is_data(unsigned int counter)
{
	return counter <= SIM_COUNT_PORT_RCV_PKTS;
}

static bool is_narrow(const struct query *query, unsigned int counter)
{
	return query->attribute->id == IBA_ATTR_PORT_COUNTERS &&
	       !(query->node->pma & SIM_PMA_ONE_REGISTER && is_data(counter));
}

static uint64_t shown(const struct query *query, unsigned int port, unsigned int counter,
		      uint64_t greatest)
{
	const struct sim_count *count = sim_count_of(&query->node->ports[port], counter);
	uint64_t value = is_narrow(query, counter) ? count->narrow : count->wide;

	if (query->node->pma & SIM_PMA_BACKWARDS)
		return greatest / 2 > value ? greatest / 2 - value : 0;
	return value;
}

static void set_value(const struct query *query, unsigned int port, unsigned int counter,
		      uint64_t value)
{
	struct sim_port *at = &query->node->ports[port];
	struct sim_count *count;

	if (!value && sim_count_of(at, counter)->all == 0)
		return; /* it needs no memory to be 0 */
	count = sim_count_at(at, counter);
	if (is_narrow(query, counter))
		count->narrow = value;
	else
		count->wide = value;
}

/* Sets a field in all ports, or fills it with the sum over them. */
static void serve_field(struct query *query, const struct row *row, const struct wire_field *field,
			uint64_t select)
{
	uint64_t greatest = UINT64_MAX >> (64 - field->width);
	bool exists = !(row->needs & ~query->node->pma) && query->op < SIM_OPS;

	for (unsigned int i = 0; i < field->count; i++) {
		unsigned int counter = row->counter + i;
		uint64_t sum = 0, wanted = wire_value(field, &query->host, i);

		if (query->attribute->op_code != NONE)
			counter += query->op * field->count;
		for (unsigned int port = query->first; exists && port <= query->last; port++) {
			if (query->set && select >> (row->bit % SECOND + i) & 1)
				set_value(query, port, counter, wanted);
			sum = sim_sum(sum, shown(query, port, counter, greatest));
		}
		wire_set_value(field, &query->host, i, MIN(sum, greatest));
	}
}

static bool find_ports(struct query *query)
{
	const struct sim_node *node = query->node;

	query->first = query->last = (unsigned int)host_value(query, query->attribute->port_select);
	if (query->first == ALL_PORTS && node->pma & SIM_PMA_ALL_PORTS) {
		query->first = 1;
		query->last = node->num_ports;
	}
	if (!query->first)
		return node->sw && node->pma & SIM_PMA_PORT0;
	return query->last <= node->num_ports;
}

static void find_op(struct query *query)
{
	uint64_t code = host_value(query, query->attribute->op_code);

	query->op = 0;
	if (query->attribute->op_code != NONE)
		while (query->op < SIM_OPS && op_codes[query->op] != code)
			query->op++;
}

static uint16_t serve_counters(struct sim *sim, struct sim_node *node,
			       const struct attribute *attribute, bool set, uint8_t *data)
{
	struct query query = {.attribute = attribute, .node = node, .set = set};
	uint64_t select[2];
	unsigned int hint = 0;

	if (attribute->needs & ~node->pma)
		return IBA_STATUS_UNSUP_METHOD_ATTR;
	wire_decode(attribute->type, data, &query.host);
	if (!find_ports(&query))
		return IBA_STATUS_INVALID_FIELD;
	find_op(&query);
	for (unsigned int port = query.first; sim->traffic && port <= query.last; port++)
		sim_traffic_settle(sim, &node->ports[port]);
	select[0] = host_value(&query, attribute->select);
	select[1] = host_value(&query, attribute->select2);
	for (unsigned int i = 0; i < attribute->n_rows; i++) {
		const struct row *row = &attribute->rows[i];

		serve_field(&query, row, field_at(attribute->type, row->offset, &hint),
			    select[row->bit / SECOND]);
	}
	if (node->pma & SIM_PMA_WRONG_PORT) {
		hint = 0;
		wire_set_value(field_at(attribute->type, attribute->port_select, &hint),
			       &query.host, 0, query.first + 1);
	}
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(attribute->type, &query.host, data);
	return IBA_STATUS_OK;
}

/* ---- ClassPortInfo and redirection ---- */

static uint16_t class_port_info(const struct sim_node *node, const struct sim_redirect *to,
				uint8_t *data)
{
	static const struct {
		uint32_t ability;
		uint16_t mask, mask2;
	} bits[] = {
		{SIM_PMA_ALL_PORTS, IBA_PM_CAP_ALL_PORT_SELECT, 0},
		{SIM_PMA_XMIT_WAIT, IBA_PM_CAP_XMIT_WAIT, 0},
		{SIM_PMA_QP1_DROPPED, IBA_PM_CAP_QP1_DROP, 0},
		{SIM_PMA_RS_FEC, IBA_PM_CAP_RS_FEC_MODE, 0},
		{SIM_PMA_EXTENDED | SIM_PMA_IETF, IBA_PM_CAP_EXTENDED_WIDTH, 0},
		{SIM_PMA_EXTENDED | SIM_PMA_ADDITIONAL, 0, IBA_PM_CAP2_ADDITIONAL_EXTENDED},
	};
	struct iba_class_port_info info = {
		.base_version = IBA_BASE_VERSION,
		.class_version = IBA_PERF_CLASS_VERSION,
		.resp_time_value = SIM_RESP_TIME_VALUE,
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(bits); i++) {
		if (bits[i].ability & ~node->pma)
			continue;
		info.capability_mask |= bits[i].mask;
		info.capability_mask2 |= bits[i].mask2;
	}
	if (node->pma & SIM_PMA_EXTENDED && !(node->pma & SIM_PMA_IETF))
		info.capability_mask |= IBA_PM_CAP_EXTENDED_WIDTH_NO_IETF;
	if (to) {
		info.redirect_gid = to->gid;
		info.redirect_sl = to->sl;
		info.redirect_lid = to->lid;
		info.redirect_p_key = to->p_key;
		info.redirect_qp = to->qp;
		info.redirect_q_key = to->q_key;
	}
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(&iba_class_port_info_type, &info, data);
	return IBA_STATUS_OK;
}

/* Whether the packet went where the agent of the node redirects to. */
static bool leads_here(const struct sim_redirect *to, const struct sim_packet *packet)
{
	const struct sim_port *end = sim_end_port(packet->node, packet->port);
	bool here = to->lid ? to->lid == packet->dlid : to->gid.guid == end->guid;

	return here && to->qp == packet->dest_qp && to->q_key == packet->q_key;
}

struct sim_node *sim_pma_behind(const struct sim_packet *packet)
{
	const struct sim *sim = packet->sim;

	for (unsigned int i = 0; sim->n_redirects && i < sim->n_nodes; i++)
		if (sim->nodes[i].redirect && leads_here(sim->nodes[i].redirect, packet))
			return &sim->nodes[i];
	return NULL;
}

/* The node whose counters are asked for: another one if its agent redirects to a QP here. */
static struct sim_node *asked_node(const struct sim_packet *packet)
{
	struct sim_node *behind = packet->dest_qp == IBA_QP1 ? NULL : sim_pma_behind(packet);

	return behind ? behind : packet->node;
}

static bool is_redirected(const struct sim_node *node, const struct sim_packet *packet)
{
	return node->redirect && !leads_here(node->redirect, packet);
}

/* ---- dispatch ---- */

static uint16_t serve(struct sim_packet *packet, struct sim_node *node)
{
	uint8_t *data = packet->data + IBA_PM_DATA_OFFSET;
	uint16_t id = sim_read16(packet->data + SIM_MAD_ATTRIBUTE);
	bool set = packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET;

	if (packet->data[SIM_MAD_CLASS_VERSION] != IBA_PERF_CLASS_VERSION)
		return IBA_STATUS_UNSUP_VERSION;
	if (node->pma_status)
		return node->pma_status;
	if (is_redirected(node, packet)) {
		sim_write16(packet->data + SIM_MAD_ATTRIBUTE, IBA_ATTR_CLASS_PORT_INFO);
		class_port_info(node, node->redirect, data);
		return IBA_STATUS_REDIRECT;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(attributes); i++)
		if (attributes[i].id == id)
			return serve_counters(packet->sim, node, &attributes[i], set, data);
	if (id == IBA_ATTR_CLASS_PORT_INFO && !set)
		return class_port_info(node, NULL, data);
	if (id == IBA_ATTR_PORT_SAMPLES_CONTROL && node->pma & SIM_PMA_MUTE_SAMPLES)
		return SIM_GSA_SILENT;
	return sim_samples(packet->sim, node, id, set, data);
}

uint16_t sim_pma(struct sim_packet *packet)
{
	struct sim_node *node = asked_node(packet);
	uint16_t status;

	if (node->pma & SIM_PMA_SILENT)
		return SIM_GSA_SILENT;
	status = serve(packet, node);
	if (node->pma & SIM_PMA_GARBAGE)
		status = sim_draw(packet->sim) >> 50 | 0x4000; /* never 0 */
	return status;
}

/* ---- what the agent can do ---- */

uint32_t sim_pma_default(uint8_t node_type)
{
	return SIM_PMA_EXTENDED | SIM_PMA_IETF | SIM_PMA_ADDITIONAL | SIM_PMA_XMIT_WAIT |
	       SIM_PMA_QP1_DROPPED | SIM_PMA_DETAILS | SIM_PMA_SPEEDS | SIM_PMA_RS_FEC |
	       (node_type == IBA_NODE_SWITCH ? SIM_PMA_ALL_PORTS : 0);
}

uint32_t sim_pma_abilities(const struct sim *sim, unsigned int node)
{
	return sim_node_at(sim, node)->pma;
}

void sim_pma_set(struct sim *sim, unsigned int index, uint32_t abilities)
{
	struct sim_node *node = sim_node_at(sim, index);

	sim_changes(sim);
	node->pma = abilities;
	if (node->sw)
		node->sw->info.enhanced_port0 = (abilities & SIM_PMA_PORT0) != 0;
}

void sim_pma_set_type(struct sim *sim, uint8_t node_type, uint32_t abilities)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].type == node_type)
			sim_pma_set(sim, i, abilities);
}

void sim_pma_set_status(struct sim *sim, unsigned int node, uint16_t status)
{
	sim_node_at(sim, node)->pma_status = status;
}

void sim_pma_redirect(struct sim *sim, unsigned int index, const struct sim_redirect *to)
{
	struct sim_node *node = sim_node_at(sim, index);

	sim->n_redirects -= node->redirect != NULL;
	g_clear_pointer(&node->redirect, g_free);
	if (to)
		node->redirect = g_memdup2(to, sizeof(*to));
	sim->n_redirects += to != NULL;
}

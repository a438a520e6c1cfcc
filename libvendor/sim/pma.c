// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance management agent of every node (IBA 16.1), and the counters that it reports.
 *
 * A port gets its counters when it first counts. They have 64 bits and never stop; each attribute
 * shows as many bits as it has and stops at its maximum. PortCounters is cleared independently of
 * PortCountersExtended: it shows the difference to the values when it was cleared. Lanes and VLs
 * are not distinguished: counters of single lanes stay 0.
 *
 * Sampling (PortSamplesControl) runs on a timer of the sim's actor, with ticks of a microsecond.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define PM_SAMPLES 15
#define ALL_PORTS 0xFF

struct sim_samples {
	struct timer timer;
	struct sim_port *port;
	struct iba_port_samples_control control;
	uint64_t start[PM_SAMPLES], result[PM_SAMPLES];
};

const char *const sim_port_counter_names[SIM_PORT_COUNTERS] = {
#define SIM_COUNTER(name, text) [SIM_COUNT_##name] = text,
#include <vendor/sim_counter.def>
};

/* ---- counting ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void sim_count(struct sim_port *port, enum sim_port_counter which, uint64_t amount)
{
	struct sim_counts *counts = sim_counts(port);

	counts->now[which] = add(counts->now[which], amount);
}

void sim_counts_clear(struct sim_port *port)
{
	g_clear_pointer(&port->counts, g_free);
}

bool sim_port_count(struct sim *sim, unsigned int node, unsigned int port,
		    enum sim_port_counter which, uint64_t amount)
{
	struct sim_node *at = sim_node_at(sim, node);

	if (port < 1 || port > at->num_ports || which >= SIM_PORT_COUNTERS)
		return false;
	sim_count(&at->ports[port], which, amount);
	return true;
}

static uint64_t value_of(const struct sim_port *port, unsigned int which)
{
	return port->counts ? port->counts->now[which] : 0;
}

uint64_t sim_port_counter(const struct sim *sim, unsigned int node, unsigned int port,
			  enum sim_port_counter which)
{
	g_assert(which < SIM_PORT_COUNTERS);
	return value_of(sim_port_at(sim, node, port), which);
}

/* ---- attributes that are sets of counters ---- */

/* A component: its place in the host struct, and its bit in CounterSelect. */
struct row {
	uint16_t offset, counter;
	uint8_t select, bit; /* number of the attribute's mask, and the bit in it */
};

struct table {
	uint16_t id;
	const struct wire_type *type;
	const struct row *rows;
	uint16_t n_rows;
	uint16_t port_select;
	struct {
		uint16_t offset, size;
	} select[2];
	bool based; /* shows the difference to base */
};

#define ROW(type, field, counter, select, bit)                                                     \
	{                                                                                          \
		offsetof(struct iba_##type, field), SIM_COUNT_##counter, select, bit               \
	}

static const struct row port_counters_rows[] = {
#define R(field, counter, bit) ROW(port_counters, field, counter, 0, bit)
	R(symbol_error_counter, SYMBOL_ERROR, 0),
	R(link_error_recovery_counter, LINK_ERROR_RECOVERY, 1),
	R(link_downed_counter, LINK_DOWNED, 2),
	R(port_rcv_errors, PORT_RCV_ERRORS, 3),
	R(port_rcv_remote_physical_errors, PORT_RCV_REMOTE_PHYSICAL_ERRORS, 4),
	R(port_rcv_switch_relay_errors, PORT_RCV_SWITCH_RELAY_ERRORS, 5),
	R(port_xmit_discards, PORT_XMIT_DISCARDS, 6),
	R(port_xmit_constraint_errors, PORT_XMIT_CONSTRAINT_ERRORS, 7),
	R(port_rcv_constraint_errors, PORT_RCV_CONSTRAINT_ERRORS, 8),
	R(local_link_integrity_errors, LOCAL_LINK_INTEGRITY_ERRORS, 9),
	R(excessive_buffer_overrun_errors, EXCESSIVE_BUFFER_OVERRUN_ERRORS, 10),
	R(vl15_dropped, VL15_DROPPED, 11),
	R(port_xmit_data, PORT_XMIT_DATA, 12),
	R(port_rcv_data, PORT_RCV_DATA, 13),
	R(port_xmit_pkts, PORT_XMIT_PKTS, 14),
	R(port_rcv_pkts, PORT_RCV_PKTS, 15),
	ROW(port_counters, port_xmit_wait, PORT_XMIT_WAIT, 1, 0),
	ROW(port_counters, qp1_dropped, QP1_DROPPED, 1, 1),
#undef R
};

static const struct row extended_rows[] = {
#define R(field, counter, select, bit) ROW(port_counters_extended, field, counter, select, bit)
	R(port_xmit_data, PORT_XMIT_DATA, 0, 0),
	R(port_rcv_data, PORT_RCV_DATA, 0, 1),
	R(port_xmit_pkts, PORT_XMIT_PKTS, 0, 2),
	R(port_rcv_pkts, PORT_RCV_PKTS, 0, 3),
	R(port_unicast_xmit_pkts, PORT_UNICAST_XMIT_PKTS, 0, 4),
	R(port_unicast_rcv_pkts, PORT_UNICAST_RCV_PKTS, 0, 5),
	R(port_multicast_xmit_pkts, PORT_MULTICAST_XMIT_PKTS, 0, 6),
	R(port_multicast_rcv_pkts, PORT_MULTICAST_RCV_PKTS, 0, 7),
	R(symbol_error_counter, SYMBOL_ERROR, 1, 0),
	R(link_error_recovery_counter, LINK_ERROR_RECOVERY, 1, 1),
	R(link_downed_counter, LINK_DOWNED, 1, 2),
	R(port_rcv_errors, PORT_RCV_ERRORS, 1, 3),
	R(port_rcv_remote_physical_errors, PORT_RCV_REMOTE_PHYSICAL_ERRORS, 1, 4),
	R(port_rcv_switch_relay_errors, PORT_RCV_SWITCH_RELAY_ERRORS, 1, 5),
	R(port_xmit_discards, PORT_XMIT_DISCARDS, 1, 6),
	R(port_xmit_constraint_errors, PORT_XMIT_CONSTRAINT_ERRORS, 1, 7),
	R(port_rcv_constraint_errors, PORT_RCV_CONSTRAINT_ERRORS, 1, 8),
	R(local_link_integrity_errors, LOCAL_LINK_INTEGRITY_ERRORS, 1, 9),
	R(excessive_buffer_overrun_errors, EXCESSIVE_BUFFER_OVERRUN_ERRORS, 1, 10),
	R(vl15_dropped, VL15_DROPPED, 1, 11),
	R(port_xmit_wait, PORT_XMIT_WAIT, 1, 12),
	R(qp1_dropped, QP1_DROPPED, 1, 13),
#undef R
};

static const struct row rcv_error_rows[] = {
#define R(field, counter, bit) ROW(port_rcv_error_details, field, counter, 0, bit)
	R(port_local_physical_errors, PORT_LOCAL_PHYSICAL_ERRORS, 0),
	R(port_malformed_packet_errors, PORT_MALFORMED_PACKET_ERRORS, 1),
	R(port_buffer_overrun_errors, PORT_BUFFER_OVERRUN_ERRORS, 2),
	R(port_dlid_mapping_errors, PORT_DLID_MAPPING_ERRORS, 3),
	R(port_vl_mapping_errors, PORT_VL_MAPPING_ERRORS, 4),
	R(port_looping_errors, PORT_LOOPING_ERRORS, 5),
#undef R
};

static const struct row xmit_discard_rows[] = {
#define R(field, counter, bit) ROW(port_xmit_discard_details, field, counter, 0, bit)
	R(port_inactive_discards, PORT_INACTIVE_DISCARDS, 0),
	R(port_neighbor_mtu_discards, PORT_NEIGHBOR_MTU_DISCARDS, 1),
	R(port_sw_lifetime_limit_discards, PORT_SW_LIFETIME_LIMIT_DISCARDS, 2),
	R(port_sw_hoq_lifetime_limit_discards, PORT_SW_HOQ_LIFETIME_LIMIT_DISCARDS, 3),
#undef R
};

static const struct row speeds_rows[] = {
#define R(field, counter, bit) ROW(port_extended_speeds_counters, field, counter, 0, bit)
	R(sync_header_error_counter, SYNC_HEADER_ERROR, 0),
	R(unknown_block_counter, UNKNOWN_BLOCK, 1),
	R(port_fec_correctable_block_ctr, PORT_FEC_CORRECTABLE_BLOCK, 38),
	R(port_fec_uncorrectable_block_ctr, PORT_FEC_UNCORRECTABLE_BLOCK, 39),
	R(port_fec_corrected_symbol_ctr, PORT_FEC_CORRECTED_SYMBOL, 40),
#undef R
};

#define SELECT(type, field)                                                                        \
	{                                                                                          \
		offsetof(struct iba_##type, field), sizeof(((struct iba_##type *)NULL)->field)     \
	}
#define TABLE(id, type, rows)                                                                      \
	id, &iba_##type##_type, rows, G_N_ELEMENTS(rows), offsetof(struct iba_##type, port_select)

static const struct table tables[] = {
	{TABLE(IBA_ATTR_PORT_COUNTERS, port_counters, port_counters_rows),
	 {SELECT(port_counters, counter_select), SELECT(port_counters, counter_select2)},
	 true},
	{TABLE(IBA_ATTR_PORT_COUNTERS_EXTENDED, port_counters_extended, extended_rows),
	 {SELECT(port_counters_extended, counter_select),
	  SELECT(port_counters_extended, counter_select2)},
	 false},
	{TABLE(IBA_ATTR_PORT_RCV_ERROR_DETAILS, port_rcv_error_details, rcv_error_rows),
	 {SELECT(port_rcv_error_details, counter_select)},
	 false},
	{TABLE(IBA_ATTR_PORT_XMIT_DISCARD_DETAILS, port_xmit_discard_details, xmit_discard_rows),
	 {SELECT(port_xmit_discard_details, counter_select)},
	 false},
	{TABLE(IBA_ATTR_PORT_EXTENDED_SPEEDS_COUNTERS, port_extended_speeds_counters, speeds_rows),
	 {SELECT(port_extended_speeds_counters, counter_select)},
	 false},
};

static const struct wire_field *field_at(const struct wire_type *type, uint16_t offset)
{
	for (unsigned int i = 0; i < type->n_fields; i++)
		if (type->fields[i].offset == offset)
			return &type->fields[i];
	g_assert_not_reached();
}

static uint64_t load(const void *host, uint16_t offset, uint16_t size)
{
	const uint8_t *at = (const uint8_t *)host + offset;

	switch (size) {
	case 1:
		return *at;
	case 2:
		return *(const uint16_t *)(const void *)at;
	case 4:
		return *(const uint32_t *)(const void *)at;
	default:
		return *(const uint64_t *)(const void *)at;
	}
}

static void store(void *host, uint16_t offset, uint16_t size, uint64_t value)
{
	uint8_t *at = (uint8_t *)host + offset;

	switch (size) {
	case 1:
		*at = value;
		break;
	case 2:
		*(uint16_t *)(void *)at = value;
		break;
	case 4:
		*(uint32_t *)(void *)at = value;
		break;
	default:
		*(uint64_t *)(void *)at = value;
	}
}

static uint64_t shown(const struct table *table, const struct sim_port *port, unsigned int counter)
{
	if (!port->counts)
		return 0;
	return port->counts->now[counter] - (table->based ? port->counts->base[counter] : 0);
}

static void set_value(const struct table *table, struct sim_port *port, unsigned int counter,
		      uint64_t value)
{
	struct sim_counts *counts;
	uint64_t difference;

	if (!port->counts && !value)
		return;
	counts = sim_counts(port);
	difference = counts->now[counter] - counts->base[counter];
	if (!table->based)
		counts->now[counter] = value; /* the value shown by PortCounters stays */
	else
		difference = value;
	counts->base[counter] = counts->now[counter] - difference;
}

static void set_port(const struct table *table, struct sim_port *port, const void *wanted)
{
	for (unsigned int i = 0; i < table->n_rows; i++) {
		const struct row *row = &table->rows[i];
		uint64_t select = load(wanted, table->select[row->select].offset,
				       table->select[row->select].size);

		if (select >> row->bit & 1)
			set_value(table, port, row->counter,
				  load(wanted, row->offset,
				       field_at(table->type, row->offset)->size));
	}
}

/* The sums over the ports first to last. */
static void fill(const struct table *table, const struct sim_node *node, unsigned int first,
		 unsigned int last, void *host)
{
	for (unsigned int i = 0; i < table->n_rows; i++) {
		const struct row *row = &table->rows[i];
		const struct wire_field *field = field_at(table->type, row->offset);
		uint64_t greatest = UINT64_MAX >> (64 - field->width), sum = 0;

		for (unsigned int port = first; port <= last; port++)
			sum = add(sum, shown(table, &node->ports[port], row->counter));
		store(host, row->offset, field->size, MIN(sum, greatest));
	}
}

union any {
	struct iba_port_counters counters;
	struct iba_port_counters_extended extended;
	struct iba_port_rcv_error_details rcv_errors;
	struct iba_port_xmit_discard_details xmit_discards;
	struct iba_port_extended_speeds_counters speeds;
};

static uint16_t serve_table(const struct table *table, struct sim_node *node, bool set,
			    uint8_t *data)
{
	union any host;
	unsigned int first, last;

	wire_decode(table->type, data, &host);
	first = last = (unsigned int)load(&host, table->port_select, 1);
	if (first == ALL_PORTS && node->sw) {
		first = 1;
		last = node->num_ports;
	}
	if (first < 1 || last > node->num_ports)
		return IBA_STATUS_INVALID_FIELD;
	for (unsigned int port = first; set && port <= last; port++)
		set_port(table, &node->ports[port], &host);
	fill(table, node, first, last, &host);
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(table->type, &host, data);
	return IBA_STATUS_OK;
}

/* ---- sampling: 16.1.3.2 to 16.1.3.4 ---- */

enum sample_status {
	SAMPLE_DONE,
	SAMPLE_WAITING, /* for SampleStart */
	SAMPLE_RUNNING, /* for SampleInterval */
};

#define TICK_NS 1000

/* CounterSelect codes that can be sampled: those of every agent. */
static const uint8_t sampled[] = {
	[1] = SIM_COUNT_PORT_XMIT_DATA, [2] = SIM_COUNT_PORT_RCV_DATA,
	[3] = SIM_COUNT_PORT_XMIT_PKTS, [4] = SIM_COUNT_PORT_RCV_PKTS,
	[5] = SIM_COUNT_PORT_XMIT_WAIT,
};

static uint64_t sample(const struct sim_samples *samples, unsigned int i)
{
	uint16_t select = samples->control.counter_select[i];

	return select && select < G_N_ELEMENTS(sampled) ? value_of(samples->port, sampled[select])
							: 0;
}

static void samples_fire(struct timer *timer)
{
	struct sim_samples *samples = (struct sim_samples *)timer;
	struct iba_port_samples_control *control = &samples->control;

	for (unsigned int i = 0; i < PM_SAMPLES; i++) {
		if (control->sample_status == SAMPLE_WAITING)
			samples->start[i] = sample(samples, i);
		else
			samples->result[i] = sample(samples, i) - samples->start[i];
	}
	if (control->sample_status == SAMPLE_WAITING) {
		control->sample_status = SAMPLE_RUNNING;
		timer_start(timer, (uint64_t)control->sample_interval * TICK_NS);
	} else {
		control->sample_status = SAMPLE_DONE;
	}
}

static struct sim_samples *samples_of(struct sim *sim, struct sim_node *node)
{
	if (!node->samples) {
		node->samples = g_new0(struct sim_samples, 1);
		timer_init(&node->samples->timer, sim->actor, samples_fire);
		node->samples->port = &node->ports[1];
		node->samples->control.port_select = 1;
	}
	return node->samples;
}

void sim_samples_clear(struct sim_node *node)
{
	if (node->samples)
		timer_stop(&node->samples->timer);
	g_clear_pointer(&node->samples, g_free);
}

/* A Set during sampling is ignored. */
static uint16_t samples_set(struct sim_samples *samples, struct sim_node *node,
			    const struct iba_port_samples_control *wanted)
{
	struct iba_port_samples_control *control = &samples->control;

	if (wanted->port_select < 1 || wanted->port_select > node->num_ports)
		return IBA_STATUS_INVALID_FIELD;
	if (control->sample_status != SAMPLE_DONE)
		return IBA_STATUS_OK;
	*control = *wanted;
	control->sample_status = SAMPLE_WAITING;
	samples->port = &node->ports[wanted->port_select];
	memset(samples->result, 0, sizeof(samples->result));
	timer_start(&samples->timer, (uint64_t)control->sample_start * TICK_NS);
	return IBA_STATUS_OK;
}

static uint16_t samples_control(struct sim_packet *packet, bool set, uint8_t *data)
{
	struct sim_samples *samples = samples_of(packet->sim, packet->node);
	struct iba_port_samples_control control;
	uint16_t status = IBA_STATUS_OK;

	wire_decode(&iba_port_samples_control_type, data, &control);
	if (set)
		status = samples_set(samples, packet->node, &control);
	if (status)
		return status;
	control = samples->control;
	control.counter_width = 4; /* 32 bits */
	control.counter_mask0 = 1;
	control.counter_masks1_to9 = 0x1249249; /* 1 in each of 9 times 3 bits */
	control.counter_masks10_to14 = 0x1249;
	control.sample_mechanisms = 0;
	control.option_mask = control.vendor_mask = control.samples_only_option_mask = 0;
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(&iba_port_samples_control_type, &control, data);
	return IBA_STATUS_OK;
}

static uint16_t samples_result(struct sim_packet *packet, uint8_t *data)
{
	const struct sim_samples *samples = samples_of(packet->sim, packet->node);
	struct iba_port_samples_result result = {
		.tag = samples->control.tag,
		.sample_status = samples->control.sample_status,
	};

	for (unsigned int i = 0; i < PM_SAMPLES; i++)
		result.counter[i] = MIN(samples->result[i], UINT32_MAX);
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(&iba_port_samples_result_type, &result, data);
	return IBA_STATUS_OK;
}

/* ---- dispatch ---- */

static uint16_t class_port_info(const struct sim_node *node, uint8_t *data)
{
	const struct iba_class_port_info info = {
		.base_version = IBA_BASE_VERSION,
		.class_version = IBA_PERF_CLASS_VERSION,
		.capability_mask = (node->sw ? IBA_PM_CAP_ALL_PORT_SELECT : 0) |
				   IBA_PM_CAP_EXTENDED_WIDTH | IBA_PM_CAP_XMIT_WAIT |
				   IBA_PM_CAP_QP1_DROP,
		.capability_mask2 = IBA_PM_CAP2_ADDITIONAL_EXTENDED,
		.resp_time_value = SIM_RESP_TIME_VALUE,
	};

	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(&iba_class_port_info_type, &info, data);
	return IBA_STATUS_OK;
}

uint16_t sim_pma(struct sim_packet *packet)
{
	uint8_t *data = packet->data + IBA_PM_DATA_OFFSET;
	uint16_t id = sim_read16(packet->data + SIM_MAD_ATTRIBUTE);
	bool set = packet->data[SIM_MAD_METHOD] == IBA_METHOD_SET;

	if (packet->data[SIM_MAD_CLASS_VERSION] != IBA_PERF_CLASS_VERSION)
		return IBA_STATUS_UNSUP_VERSION;
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		if (tables[i].id == id)
			return serve_table(&tables[i], packet->node, set, data);
	if (id == IBA_ATTR_PORT_SAMPLES_CONTROL)
		return samples_control(packet, set, data);
	if (id == IBA_ATTR_PORT_SAMPLES_RESULT && !set)
		return samples_result(packet, data);
	if (id == IBA_ATTR_CLASS_PORT_INFO && !set)
		return class_port_info(packet->node, data);
	return IBA_STATUS_UNSUP_METHOD_ATTR;
}

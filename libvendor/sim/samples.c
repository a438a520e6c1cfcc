// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sampling by the performance management agent (IBA 16.1.3.2 to 16.1.3.4, 16.1.4.12): one
 * mechanism a node, on a timer of the sim's actor.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

#define PM_SAMPLES 15
#define SYMBOL_NS 4 /* at the lane rate of SDR, the unit of Tick */

enum sample_status {
	SAMPLE_DONE,
	SAMPLE_WAITING, /* for SampleStart */
	SAMPLE_RUNNING, /* for SampleInterval */
};

struct sim_samples {
	struct timer timer;
	struct sim *sim;
	struct sim_node *node;
	struct iba_port_samples_control control;
	uint64_t start[PM_SAMPLES], result[PM_SAMPLES];
};

/* CounterSelect codes that can be sampled, and what the agent needs for them. */
static const struct {
	uint16_t select, counter, n;
	uint32_t needs;
} sampled[] = {
	{0x0001, SIM_COUNT_PORT_XMIT_DATA, 1, 0},
	{0x0002, SIM_COUNT_PORT_RCV_DATA, 1, 0},
	{0x0003, SIM_COUNT_PORT_XMIT_PKTS, 1, 0},
	{0x0004, SIM_COUNT_PORT_RCV_PKTS, 1, 0},
	{0x0005, SIM_COUNT_PORT_XMIT_WAIT, 1, SIM_PMA_XMIT_WAIT},
	{0x4005, SIM_COUNT_PORT_LOCAL_PHYSICAL_ERRORS, 6, SIM_PMA_DETAILS},
	{0x400B, SIM_COUNT_PORT_INACTIVE_DISCARDS, 4, SIM_PMA_DETAILS},
	{0x4011, SIM_COUNT_PORT_XMIT_FLOW_PKTS, 2, SIM_PMA_OPTIONAL},
};

static uint64_t sample(const struct sim_samples *samples, unsigned int i)
{
	const struct sim_node *node = samples->node;
	struct sim_port *port = &node->ports[samples->control.port_select];
	uint16_t select = samples->control.counter_select[i];

	for (unsigned int row = 0; row < G_N_ELEMENTS(sampled); row++)
		if (select >= sampled[row].select &&
		    select < sampled[row].select + sampled[row].n &&
		    !(sampled[row].needs & ~node->pma))
			return sim_count_of(port,
					    sampled[row].counter + select - sampled[row].select)
				->wide;
	return 0;
}

unsigned int sim_pma_tick(const struct sim_node *node)
{
	return node->pma & SIM_PMA_LANE_TICKS ? 31 : 7;
}

static void start(struct sim_samples *samples, uint32_t ticks)
{
	uint64_t tick_ns = (sim_pma_tick(samples->node) + 1) * SYMBOL_NS;

	timer_start(&samples->timer, ticks * tick_ns);
}

static void samples_fire(struct timer *timer)
{
	struct sim_samples *samples = (struct sim_samples *)timer;
	struct iba_port_samples_control *control = &samples->control;

	if (samples->sim->traffic)
		sim_traffic_settle(samples->sim, &samples->node->ports[control->port_select]);
	for (unsigned int i = 0; i < PM_SAMPLES; i++) {
		uint64_t now = sample(samples, i);

		/* A client may have cleared the counter since the start. */
		if (control->sample_status == SAMPLE_WAITING)
			samples->start[i] = now;
		else
			samples->result[i] = now - MIN(now, samples->start[i]);
	}
	if (control->sample_status == SAMPLE_WAITING) {
		control->sample_status = SAMPLE_RUNNING;
		start(samples, control->sample_interval);
	} else {
		control->sample_status = SAMPLE_DONE;
	}
}

static struct sim_samples *samples_of(struct sim *sim, struct sim_node *node)
{
	if (!node->samples) {
		node->samples = g_new0(struct sim_samples, 1);
		timer_init(&node->samples->timer, sim->actor, samples_fire);
		node->samples->sim = sim;
		node->samples->node = node;
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
static uint16_t samples_set(struct sim_samples *samples,
			    const struct iba_port_samples_control *wanted)
{
	struct iba_port_samples_control *control = &samples->control;

	if (wanted->port_select < 1 || wanted->port_select > samples->node->num_ports)
		return IBA_STATUS_INVALID_FIELD;
	if (control->sample_status != SAMPLE_DONE)
		return IBA_STATUS_OK;
	*control = *wanted;
	control->sample_status = SAMPLE_WAITING;
	memset(samples->result, 0, sizeof(samples->result));
	start(samples, control->sample_start);
	return IBA_STATUS_OK;
}

/* Which optional attributes there are: 16.1.3.2. */
static uint64_t option_mask(const struct sim_node *node)
{
	const uint64_t details = UINT64_C(0x3FF) << 6;				/* 6 to 15 */
	const uint64_t optional = UINT64_C(0xFF) << 16 | UINT64_C(0x1FF) << 48; /* to 23, 56 */

	return (node->pma & SIM_PMA_DETAILS ? details : 0) |
	       (node->pma & SIM_PMA_OPTIONAL ? optional : 0);
}

static uint16_t samples_control(struct sim_samples *samples, bool set, uint8_t *data)
{
	struct iba_port_samples_control control;
	uint16_t status = IBA_STATUS_OK;

	wire_decode(&iba_port_samples_control_type, data, &control);
	if (set)
		status = samples_set(samples, &control);
	if (status)
		return status;
	control = samples->control;
	control.tick = (uint8_t)sim_pma_tick(samples->node);
	control.counter_width = 4; /* 32 bits */
	control.counter_mask0 = 1;
	control.counter_masks1_to9 = 0x1249249; /* 1 in each of 9 times 3 bits */
	control.counter_masks10_to14 = 0x1249;
	control.sample_mechanisms = 0;
	control.option_mask = option_mask(samples->node);
	control.vendor_mask = control.samples_only_option_mask = 0;
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(&iba_port_samples_control_type, &control, data);
	return IBA_STATUS_OK;
}

static uint16_t samples_result(const struct sim_samples *samples, uint8_t *data)
{
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

static uint16_t samples_result_extended(const struct sim_samples *samples, uint8_t *data)
{
	struct iba_port_samples_result_extended result = {
		.tag = samples->control.tag,
		.sample_status = samples->control.sample_status,
		.extended_width = 2, /* 64 bits */
	};

	memcpy(result.counter, samples->result, sizeof(result.counter));
	memset(data, 0, IBA_PM_DATA_BYTES);
	wire_encode(&iba_port_samples_result_extended_type, &result, data);
	return IBA_STATUS_OK;
}

uint16_t sim_samples(struct sim *sim, struct sim_node *node, uint16_t attribute, bool set,
		     uint8_t *data)
{
	if (attribute == IBA_ATTR_PORT_SAMPLES_CONTROL)
		return samples_control(samples_of(sim, node), set, data);
	if (attribute == IBA_ATTR_PORT_SAMPLES_RESULT && !set)
		return samples_result(samples_of(sim, node), data);
	if (attribute == IBA_ATTR_PORT_SAMPLES_RESULT_EXTENDED && !set &&
	    node->pma & SIM_PMA_OPTIONAL)
		return samples_result_extended(samples_of(sim, node), data);
	return IBA_STATUS_UNSUP_METHOD_ATTR;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What ports count.
 *
 * A port gets its counters when it first counts, those of lanes, VLs and SLs when one of them
 * first counts. Each has the true count, which nothing clears, and the two registers of its agent.
 * Registers have 64 bits; an attribute shows as many bits as its field has, and its maximum above.
 */
#include <string.h>

#include "libvendor/sim/sim_private.h"

static const struct {
	const char *text;
	unsigned int first, n;
} names[] = {
#define SIM_COUNTER(name, text, n) {text, SIM_COUNT_##name, n},
#include <vendor/sim_counter.def>
};

/* ---- names ---- */

char *sim_counter_name(enum sim_port_counter which)
{
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		if (which >= names[i].first + names[i].n)
			continue;
		return names[i].n == 1
			       ? g_strdup(names[i].text)
			       : g_strdup_printf("%s[%u]", names[i].text, which - names[i].first);
	}
	return g_strdup("?");
}

bool sim_find_counter(const char *text, enum sim_port_counter *which)
{
	for (unsigned int i = 0; i < SIM_PORT_COUNTERS; i++) {
		g_autofree char *name = sim_counter_name(i);

		if (g_ascii_strcasecmp(name, text) != 0)
			continue;
		*which = i;
		return true;
	}
	return false;
}

/* ---- counting ---- */

struct sim_count *sim_count_at(struct sim_port *port, enum sim_port_counter which)
{
	if (which < SIM_COUNT_DETAILS)
		return &sim_counts(port)[which];
	if (!port->details)
		port->details = g_new0(struct sim_count, SIM_PORT_COUNTERS - SIM_COUNT_DETAILS);
	return &port->details[which - SIM_COUNT_DETAILS];
}

const struct sim_count *sim_count_of(const struct sim_port *port, enum sim_port_counter which)
{
	static const struct sim_count none;

	if (which < SIM_COUNT_DETAILS)
		return port->counts ? &port->counts[which] : &none;
	return port->details ? &port->details[which - SIM_COUNT_DETAILS] : &none;
}

void sim_count(struct sim_port *port, enum sim_port_counter which, uint64_t amount)
{
	if (amount)
		sim_count_add(sim_count_at(port, which), amount);
}

void sim_count_lanes(struct sim_port *port, const struct sim_lanes *lanes, bool sent)
{
	unsigned int op = lanes->op;

	if (sent) {
		sim_count(port, SIM_COUNT_SL_XMIT_DATA + lanes->sl, lanes->words);
		return;
	}
	sim_count(port, SIM_COUNT_SL_RCV_DATA + lanes->sl, lanes->words);
	sim_count(port, SIM_COUNT_OP_RCV_PKTS + op, lanes->packets);
	sim_count(port, SIM_COUNT_OP_RCV_DATA + op, lanes->words);
	sim_count(port, SIM_COUNT_VL_OP_PACKETS + op * SIM_VLS + lanes->vl, lanes->packets);
	sim_count(port, SIM_COUNT_VL_OP_DATA + op * SIM_VLS + lanes->vl, lanes->words);
}

static void reset(struct sim_count *counts, unsigned int n)
{
	for (unsigned int i = 0; counts && i < n; i++)
		counts[i].narrow = counts[i].wide = 0;
}

void sim_counts_reset(struct sim_port *port)
{
	reset(port->counts, SIM_COUNT_DETAILS);
	reset(port->details, SIM_PORT_COUNTERS - SIM_COUNT_DETAILS);
}

void sim_counts_free(struct sim_port *port)
{
	g_clear_pointer(&port->counts, g_free);
	g_clear_pointer(&port->details, g_free);
}

/* ---- for tests and the console ---- */

bool sim_port_count(struct sim *sim, unsigned int node, unsigned int port,
		    enum sim_port_counter which, uint64_t amount)
{
	struct sim_node *at = sim_node_at(sim, node);

	if (port < 1 || port > at->num_ports || which >= SIM_PORT_COUNTERS)
		return false;
	sim_count(&at->ports[port], which, amount);
	return true;
}

static const struct sim_count *read_counter(struct sim *sim, const struct sim_port *port,
					    enum sim_port_counter which)
{
	g_assert(which < SIM_PORT_COUNTERS);
	if (sim->traffic)
		sim_traffic_settle(sim, port);
	return sim_count_of(port, which);
}

uint64_t sim_port_counter(const struct sim *sim, unsigned int node, unsigned int number,
			  enum sim_port_counter which)
{
	return read_counter((struct sim *)sim, sim_port_at(sim, node, number), which)->wide;
}

uint64_t sim_true_count(const struct sim *sim, unsigned int node, unsigned int number,
			enum sim_port_counter which)
{
	return read_counter((struct sim *)sim, sim_port_at(sim, node, number), which)->all;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/image/query.h"
#include "perf/judge/cause.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "iba/constants.h"
#include "perf/judge/perf_rules.h"

#define HOPS_MAX 16
#define TRAINING_SYMBOL_ERRORS 100 /* at most, each time that a link comes up */

const char *perf_cause_word(enum perf_cause_kind kind)
{
	static const char *const words[PERF_CAUSES] = {
		[PERF_CAUSE_CABLE] = "cable",
		[PERF_CAUSE_UPSTREAM] = "upstream",
		[PERF_CAUSE_CONGESTION] = "congestion",
		[PERF_CAUSE_FLAP] = "flap",
		[PERF_CAUSE_MTU] = "mtu",
		[PERF_CAUSE_ROUTING] = "routing",
		[PERF_CAUSE_PARTITION] = "partition",
		[PERF_CAUSE_MADS] = "mads",
		[PERF_CAUSE_SENDER] = "sender",
	};

	return words[kind];
}

char *perf_port_name(const struct perf_layout *layout, uint32_t row)
{
	const struct perf_node *node = perf_layout_node_of(layout, row);

	return g_strdup_printf("port %u of '%s' (0x%016" PRIx64 ")", layout->places[row].port,
			       node->name ? node->name : "", node->guid);
}

static struct perf_cause cause(enum perf_cause_kind kind, const char *text)
{
	return (struct perf_cause){kind, PERF_NONE, g_strdup(text)};
}

/* Another port is at fault, whose name replaces %s in the text. */
static struct perf_cause cause_at(const struct perf_growth *growth, enum perf_cause_kind kind,
				  uint32_t row, const char *text)
{
	g_autofree char *name = perf_port_name(growth->new->layout, row);
	g_auto(GStrv) parts = g_strsplit(text, "%s", 2);

	return (struct perf_cause){kind, row, g_strconcat(parts[0], name, parts[1], NULL)};
}

static uint32_t peer_of(const struct perf_growth *growth, uint32_t row)
{
	return growth->new->layout->places[row].peer;
}

static bool is_switch(const struct perf_growth *growth, uint32_t row)
{
	return perf_layout_node_of(growth->new->layout, row)->type == IBA_NODE_SWITCH;
}

/* ---- errors of a receiver ---- */

/* Errors that arise on the cable that ends at this port. Malformed packets come from its sender. */
static uint64_t own_errors(const struct perf_growth *growth, uint32_t row)
{
	static const unsigned int details[] = {PERF_DETAIL_LOCAL_PHYSICAL, PERF_DETAIL_SYNC_HEADER,
					       PERF_DETAIL_UNKNOWN_BLOCK,
					       PERF_DETAIL_FEC_UNCORRECTABLE};
	uint64_t sum = perf_growth_by(growth, row, PERF_LINK_INTEGRITY_ERRORS) +
		       perf_growth_by(growth, row, PERF_LINK_ERROR_RECOVERIES) +
		       perf_growth_by(growth, row, PERF_RCV_ERRORS);

	if (!growth->new->layout->places[row].fec) /* else those were corrected */
		sum += perf_growth_by(growth, row, PERF_SYMBOL_ERRORS);
	for (unsigned int i = 0; i < G_N_ELEMENTS(details); i++)
		sum += perf_growth_detail_by(growth, row, details[i]);
	return sum;
}

static bool is_known(const struct perf_growth *growth, uint32_t row)
{
	return perf_growth_old_row(growth, row) != PERF_NONE &&
	       growth->new->flags[row] & PERF_READ && !(growth->new->flags[row] & PERF_BASELINE);
}

/* Which end of the cable receives errors. */
static struct perf_cause of_cable(const struct perf_growth *growth, uint32_t row)
{
	uint32_t peer = peer_of(growth, row);

	if (peer == PERF_NONE)
		return cause(PERF_CAUSE_CABLE, "this receiver sees errors; the other end of its "
					       "cable is unknown");
	if (!is_known(growth, peer))
		return cause_at(growth, PERF_CAUSE_CABLE, peer,
				"this receiver sees errors; the counters of the other end, %s, are "
				"unknown");
	if (own_errors(growth, peer))
		return cause_at(growth, PERF_CAUSE_CABLE, peer,
				"the receivers of both ends see errors, the other one is %s: "
				"probably the cable");
	return cause_at(growth, PERF_CAUSE_CABLE, peer,
			"only this end receives errors: the cable, or the transmitter of %s");
}

static struct perf_cause of_rcv_errors(const struct perf_growth *growth, uint32_t row)
{
	uint64_t physical = perf_growth_detail_by(growth, row, PERF_DETAIL_LOCAL_PHYSICAL);
	uint64_t malformed = perf_growth_detail_by(growth, row, PERF_DETAIL_MALFORMED);
	uint64_t overrun = perf_growth_detail_by(growth, row, PERF_DETAIL_BUFFER_OVERRUN);
	uint64_t looping = perf_growth_detail_by(growth, row, PERF_DETAIL_LOOPING);
	uint32_t peer = peer_of(growth, row);

	if (looping && looping >= MAX(physical, MAX(malformed, overrun)))
		return cause(PERF_CAUSE_ROUTING,
			     "packets go back to the port from which they came: the forwarding "
			     "tables contain a loop");
	if (malformed > MAX(physical, overrun))
		return peer == PERF_NONE
			       ? cause(PERF_CAUSE_SENDER, "its neighbour sends malformed packets")
			       : cause_at(growth, PERF_CAUSE_SENDER, peer,
					  "%s sends malformed packets");
	if (overrun > physical)
		return cause(PERF_CAUSE_SENDER, "its buffers overflow: its neighbour does not keep "
						"to the credits that it was given");
	return of_cable(growth, row);
}

/* ---- damaged packets from further back ---- */

/* The port of a switch that counted most of what `errors` counts; PERF_NONE: none did. */
static uint32_t worst_port(const struct perf_growth *growth, uint32_t entry,
			   uint64_t (*errors)(const struct perf_growth *growth, uint32_t row))
{
	const struct perf_node *node = perf_layout_node_of(growth->new->layout, entry);
	uint32_t worst = PERF_NONE, n = node->num_ports - node->first_port + 1u;
	uint64_t most = 0;

	for (uint32_t row = node->first_row; row < node->first_row + n; row++) {
		uint64_t here = row == entry ? 0 : errors(growth, row);

		if (here > most) {
			most = here;
			worst = row;
		}
	}
	return worst;
}

static uint64_t remote_errors(const struct perf_growth *growth, uint32_t row)
{
	return perf_growth_by(growth, row, PERF_RCV_REMOTE_PHYSICAL_ERRORS);
}

/*
 * A switch forwards a packet while it still arrives, and marks its end if it was damaged: the first
 * port on its way that received it counted an error of its own, all others a remote one.
 */
static struct perf_cause of_remote(const struct perf_growth *growth, uint32_t row)
{
	uint32_t peer, found;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		peer = peer_of(growth, row);
		if (peer == PERF_NONE)
			break;
		if (!is_switch(growth, peer))
			return cause_at(growth, PERF_CAUSE_SENDER, peer,
					"the damaged packets come from %s itself");
		found = worst_port(growth, peer, own_errors);
		if (found != PERF_NONE)
			return cause_at(growth, PERF_CAUSE_UPSTREAM, found,
					"the packets were damaged on their way to %s");
		row = worst_port(growth, peer, remote_errors);
		if (row == PERF_NONE)
			break;
	}
	return cause(PERF_CAUSE_UPSTREAM,
		     "the packets were damaged further back; no port upstream shows where");
}

/* ---- packets that are lost, or wait ---- */

static uint64_t waiting(const struct perf_growth *growth, uint32_t row)
{
	return perf_growth_by(growth, row, PERF_XMIT_WAIT);
}

/*
 * Follows the waiting towards its receiver: a port waits because the switch behind it cannot pass
 * on what it has, as its own ports wait.
 */
static uint32_t congested(const struct perf_growth *growth, uint32_t row)
{
	uint64_t least = waiting(growth, row) / 4;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		uint32_t peer = peer_of(growth, row), next;

		if (peer == PERF_NONE || !is_switch(growth, peer))
			return row;
		next = worst_port(growth, peer, waiting);
		if (next == PERF_NONE || waiting(growth, next) < least)
			return row;
		row = next;
	}
	return PERF_NONE; /* in a circle */
}

static uint64_t sent(const struct perf_growth *growth, uint32_t row)
{
	return perf_growth_by(growth, row, PERF_XMIT_DATA);
}

/* Whether the port sent about as much as its link carries: then it need not wait for that. */
static bool is_full(const struct perf_growth *growth, uint32_t row)
{
	double rate = perf_payload_rate(growth->new->layout->places[row].rate);
	uint64_t delta, dt_ns;

	return rate > 0 && perf_growth_counter(growth, row, PERF_XMIT_DATA, &delta, &dt_ns) &&
	       (double)delta * 32 * 1e9 >= 0.8 * rate * (double)dt_ns;
}

/* The full port of the switch to which a port that waits sends; PERF_NONE: it has none. */
static uint32_t bottleneck(const struct perf_growth *growth, uint32_t row)
{
	uint32_t peer = peer_of(growth, row), busiest = PERF_NONE;

	if (peer != PERF_NONE && is_switch(growth, peer))
		busiest = worst_port(growth, peer, sent);
	return busiest != PERF_NONE && is_full(growth, busiest) ? busiest : PERF_NONE;
}

static struct perf_cause of_waiting(const struct perf_growth *growth, uint32_t row)
{
	uint32_t last = congested(growth, row), full;

	if (last == PERF_NONE)
		return cause(PERF_CAUSE_CONGESTION, "ports wait for each other: a circle of "
						    "congested links, perhaps a credit loop");
	full = bottleneck(growth, last);
	if (full != PERF_NONE)
		return cause_at(growth, PERF_CAUSE_CONGESTION, full,
				"more is sent to %s than its link carries");
	if (last != row)
		return cause_at(growth, PERF_CAUSE_CONGESTION, last,
				"congestion that begins at %s");
	if (peer_of(growth, row) != PERF_NONE && !is_switch(growth, peer_of(growth, row)))
		return cause_at(growth, PERF_CAUSE_CONGESTION, peer_of(growth, row),
				"%s does not take packets as fast as they come");
	return cause(PERF_CAUSE_CONGESTION, "more packets are sent to this port than its link "
					    "carries");
}

static struct perf_cause of_discards(const struct perf_growth *growth, uint32_t row)
{
	uint64_t inactive = perf_growth_detail_by(growth, row, PERF_DETAIL_INACTIVE);
	uint64_t mtu = perf_growth_detail_by(growth, row, PERF_DETAIL_NEIGHBOR_MTU);
	uint64_t late = perf_growth_detail_by(growth, row, PERF_DETAIL_SW_LIFETIME) +
			perf_growth_detail_by(growth, row, PERF_DETAIL_SW_HOQ_LIFETIME);
	uint64_t most = MAX(inactive, MAX(mtu, late));

	if (most && mtu == most)
		return cause(PERF_CAUSE_MTU,
			     "packets are larger than the MTU of the neighbour: the "
			     "MTU of a partition or path is wrong");
	if (most && late == most)
		return cause(PERF_CAUSE_CONGESTION, "packets waited longer than their lifetime: "
						    "congestion or a credit loop downstream");
	if (most || perf_growth_by(growth, row, PERF_LINK_DOWNED))
		return cause(PERF_CAUSE_FLAP, "the link was down while packets waited for it");
	if (waiting(growth, row))
		return of_waiting(growth, row);
	return cause(PERF_CAUSE_UNKNOWN, NULL);
}

static struct perf_cause of_relay(const struct perf_growth *growth, uint32_t row)
{
	uint64_t looping = perf_growth_detail_by(growth, row, PERF_DETAIL_LOOPING);
	uint64_t vl = perf_growth_detail_by(growth, row, PERF_DETAIL_VL_MAPPING);
	uint64_t dlid = perf_growth_detail_by(growth, row, PERF_DETAIL_DLID_MAPPING);

	if (looping)
		return cause(PERF_CAUSE_ROUTING,
			     "packets go back to the port from which they came: the forwarding "
			     "tables contain a loop");
	if (vl > dlid)
		return cause(PERF_CAUSE_ROUTING, "packets have an SL that the SL2VL table drops");
	return cause(PERF_CAUSE_ROUTING, "packets go to LIDs without a route; a few of them are "
					 "normal while hosts leave, and for multicast");
}

static struct perf_cause of_link(const struct perf_growth *growth, uint32_t row)
{
	uint32_t peer = peer_of(growth, row);

	if (peer == PERF_NONE)
		return cause(PERF_CAUSE_FLAP, "the link went down, and neither this SM nor a "
					      "restart explains it");
	return cause_at(growth, PERF_CAUSE_FLAP, peer,
			"the link to %s went down, and neither this SM nor a restart explains it");
}

/* Whether the errors of the link layer are few enough to come from its going down and up. */
static bool is_training(const struct perf_growth *growth, uint32_t row)
{
	uint64_t downs = perf_growth_by(growth, row, PERF_LINK_DOWNED);

	return downs && perf_growth_by(growth, row, PERF_LINK_ERROR_RECOVERIES) <= downs &&
	       perf_growth_by(growth, row, PERF_SYMBOL_ERRORS) <= downs * TRAINING_SYMBOL_ERRORS;
}

static struct perf_cause of_training(const struct perf_growth *growth, uint32_t row)
{
	uint32_t peer = peer_of(growth, row);

	if (peer == PERF_NONE)
		return cause(PERF_CAUSE_FLAP,
			     "the link went down, and such errors are normal while it trains");
	return cause_at(growth, PERF_CAUSE_FLAP, peer,
			"the link to %s went down, and such errors are normal while it trains");
}

/* ---- the table ---- */

static struct perf_cause of_counter(const struct perf_growth *growth, uint32_t row,
				    unsigned int counter)
{
	switch (counter) {
	case PERF_SYMBOL_ERRORS:
	case PERF_LINK_ERROR_RECOVERIES:
		return is_training(growth, row) ? of_training(growth, row) : of_cable(growth, row);
	case PERF_LINK_INTEGRITY_ERRORS:
		return of_cable(growth, row);
	case PERF_LINK_DOWNED:
		return of_link(growth, row);
	case PERF_RCV_ERRORS:
		return of_rcv_errors(growth, row);
	case PERF_RCV_REMOTE_PHYSICAL_ERRORS:
		return of_remote(growth, row);
	case PERF_RCV_SWITCH_RELAY_ERRORS:
		return of_relay(growth, row);
	case PERF_XMIT_DISCARDS:
		return of_discards(growth, row);
	case PERF_XMIT_CONSTRAINT_ERRORS:
	case PERF_RCV_CONSTRAINT_ERRORS:
		return cause(PERF_CAUSE_PARTITION, "the partition check refused packets, or the "
						   "filter of raw packets");
	case PERF_BUFFER_OVERRUN_ERRORS:
		return cause(PERF_CAUSE_SENDER, "its neighbour does not keep to the credits that "
						"it was given");
	case PERF_VL15_DROPPED:
		return cause(PERF_CAUSE_MADS, "SMPs arrive faster than the device takes them; a "
					      "lower max_wire_smps sends fewer at once");
	case PERF_QP1_DROPPED:
		return cause(PERF_CAUSE_MADS, "MADs arrive faster than the device takes them");
	case PERF_XMIT_WAIT:
		return of_waiting(growth, row);
	default:
		return cause(PERF_CAUSE_UNKNOWN, NULL);
	}
}

static struct perf_cause of_detail(const struct perf_growth *growth, uint32_t row,
				   unsigned int detail)
{
	switch (detail) {
	case PERF_DETAIL_DLID_MAPPING:
	case PERF_DETAIL_VL_MAPPING:
	case PERF_DETAIL_LOOPING:
		return of_relay(growth, row);
	case PERF_DETAIL_MALFORMED:
	case PERF_DETAIL_BUFFER_OVERRUN:
		return of_rcv_errors(growth, row);
	case PERF_DETAIL_INACTIVE:
	case PERF_DETAIL_NEIGHBOR_MTU:
	case PERF_DETAIL_SW_LIFETIME:
	case PERF_DETAIL_SW_HOQ_LIFETIME:
		return of_discards(growth, row);
	default:
		return of_cable(growth, row);
	}
}

struct perf_cause perf_cause_find(const struct perf_growth *growth, uint32_t row,
				  unsigned int value)
{
	if (value < PERF_VALUE_DETAILS)
		return of_counter(growth, row, value);
	switch (value) {
	case PERF_VALUE_XMIT_WAIT_SHARE:
		return of_waiting(growth, row);
	case PERF_VALUE_UTILISATION:
		return cause(PERF_CAUSE_UNKNOWN, NULL);
	case PERF_VALUE_RAW_BER:
		return of_cable(growth, row);
	default:
		return of_detail(growth, row, value - PERF_VALUE_DETAILS);
	}
}

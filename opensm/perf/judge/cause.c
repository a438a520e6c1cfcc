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
	return (struct perf_cause){.kind = kind, .text = g_strdup(text)};
}

/* Another port is at fault, whose name replaces %s in the text. */
static struct perf_cause cause_far(enum perf_cause_kind kind, struct perf_far far, const char *text)
{
	g_autofree char *name = perf_port_name(far.layout, far.row);
	g_auto(GStrv) parts = g_strsplit(text, "%s", 2);

	return (struct perf_cause){.kind = kind,
				   .guid = perf_layout_node_of(far.layout, far.row)->guid,
				   .port = far.layout->places[far.row].port,
				   .text = g_strconcat(parts[0], name, parts[1], NULL)};
}

static struct perf_cause cause_at(const struct perf_evidence *e, enum perf_cause_kind kind,
				  uint32_t row, const char *text)
{
	return cause_far(kind, (struct perf_far){e->last->new->layout, row}, text);
}

static uint32_t peer_of(const struct perf_evidence *e, uint32_t row)
{
	return e->last->new->layout->places[row].peer;
}

static bool is_switch(const struct perf_evidence *e, uint32_t row)
{
	return perf_layout_node_of(e->last->new->layout, row)->type == IBA_NODE_SWITCH;
}

/* Also of a link that is down now. */
static struct perf_far far_of(const struct perf_evidence *e, uint32_t row)
{
	return perf_images_far(e->images, e->last->new->layout, row);
}

/* ---- what was counted ---- */

/* In the window; if its begin and end cannot be compared, in the last sweep. */
static bool growth_of(const struct perf_evidence *e, uint32_t row, unsigned int counter,
		      uint64_t *delta, uint64_t *dt_ns)
{
	return perf_growth_counter(e->window, row, counter, delta, dt_ns) ||
	       perf_growth_counter(e->last, row, counter, delta, dt_ns);
}

static uint64_t grew(const struct perf_evidence *e, uint32_t row, unsigned int counter)
{
	uint64_t delta, dt_ns;

	return growth_of(e, row, counter, &delta, &dt_ns) ? delta : 0;
}

static uint64_t grew_detail(const struct perf_evidence *e, uint32_t row, unsigned int detail)
{
	uint64_t delta, dt_ns;

	return perf_growth_detail(e->window, row, detail, &delta, &dt_ns) ||
			       perf_growth_detail(e->last, row, detail, &delta, &dt_ns)
		       ? delta
		       : 0;
}

/* ---- errors of a receiver ---- */

/* Errors that arise on the cable that ends at a port. Malformed packets come from its sender. */
static const unsigned int receiver_errors[] = {
	PERF_LINK_INTEGRITY_ERRORS,
	PERF_LINK_ERROR_RECOVERIES,
	PERF_RCV_ERRORS,
	PERF_SYMBOL_ERRORS,
	PERF_VALUE_DETAILS + PERF_DETAIL_LOCAL_PHYSICAL,
	PERF_VALUE_DETAILS + PERF_DETAIL_SYNC_HEADER,
	PERF_VALUE_DETAILS + PERF_DETAIL_UNKNOWN_BLOCK,
	PERF_VALUE_DETAILS + PERF_DETAIL_FEC_UNCORRECTABLE,
};

/* FEC corrects symbol errors. */
static bool is_own_error(const struct perf_evidence *e, uint32_t row, unsigned int value)
{
	return value != PERF_SYMBOL_ERRORS || !e->last->new->layout->places[row].fec;
}

static uint64_t own_errors(const struct perf_evidence *e, uint32_t row)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < G_N_ELEMENTS(receiver_errors); i++) {
		unsigned int value = receiver_errors[i];

		if (is_own_error(e, row, value))
			sum += value < PERF_VALUE_DETAILS
				       ? grew(e, row, value)
				       : grew_detail(e, row, value - PERF_VALUE_DETAILS);
	}
	return sum;
}

/* Rules may remember errors from before the first image. */
static bool has_own_errors(const struct perf_evidence *e, uint32_t row)
{
	if (own_errors(e, row))
		return true;
	for (unsigned int i = 0; e->counted && i < G_N_ELEMENTS(receiver_errors); i++)
		if (is_own_error(e, row, receiver_errors[i]) &&
		    e->counted(e->judge, row, receiver_errors[i]))
			return true;
	return false;
}

static bool is_known(const struct perf_evidence *e, uint32_t row)
{
	return perf_growth_old_row(e->last, row) != PERF_NONE &&
	       e->last->new->flags[row] & PERF_READ && !(e->last->new->flags[row] & PERF_BASELINE);
}

/* Which end of the cable receives errors. */
static struct perf_cause of_cable(const struct perf_evidence *e, uint32_t row)
{
	uint32_t peer = peer_of(e, row);
	struct perf_far far = far_of(e, row);

	if (far.row == PERF_NONE)
		return cause(PERF_CAUSE_CABLE, "this receiver sees errors; the other end of its "
					       "cable is unknown");
	if (peer != PERF_NONE && has_own_errors(e, peer))
		return cause_at(e, PERF_CAUSE_CABLE, peer,
				"the receivers of both ends see errors, the other one is %s: "
				"probably the cable");
	if (peer == PERF_NONE || !is_known(e, peer))
		return cause_far(PERF_CAUSE_CABLE, far,
				 "this receiver sees errors; the counters of the other end, %s, "
				 "are unknown");
	return cause_at(e, PERF_CAUSE_CABLE, peer,
			"only this end receives errors: the cable, or the transmitter of %s");
}

static struct perf_cause of_rcv_errors(const struct perf_evidence *e, uint32_t row)
{
	uint64_t physical = grew_detail(e, row, PERF_DETAIL_LOCAL_PHYSICAL);
	uint64_t malformed = grew_detail(e, row, PERF_DETAIL_MALFORMED);
	uint64_t overrun = grew_detail(e, row, PERF_DETAIL_BUFFER_OVERRUN);
	uint64_t looping = grew_detail(e, row, PERF_DETAIL_LOOPING);
	uint32_t peer = peer_of(e, row);

	if (looping && looping >= MAX(physical, MAX(malformed, overrun)))
		return cause(PERF_CAUSE_ROUTING,
			     "packets go back to the port from which they came: the forwarding "
			     "tables contain a loop");
	if (malformed > MAX(physical, overrun))
		return peer == PERF_NONE
			       ? cause(PERF_CAUSE_SENDER, "its neighbour sends malformed packets")
			       : cause_at(e, PERF_CAUSE_SENDER, peer, "%s sends malformed packets");
	if (overrun > physical)
		return cause(PERF_CAUSE_SENDER, "its buffers overflow: its neighbour does not keep "
						"to the credits that it was given");
	return of_cable(e, row);
}

/* ---- damaged packets from further back ---- */

/* The port of a switch that counted most of what `errors` counts; PERF_NONE: none did. */
static uint32_t worst_port(const struct perf_evidence *e, uint32_t entry,
			   uint64_t (*errors)(const struct perf_evidence *e, uint32_t row))
{
	const struct perf_node *node = perf_layout_node_of(e->last->new->layout, entry);
	uint32_t worst = PERF_NONE, n = node->num_ports - node->first_port + 1u;
	uint64_t most = 0;

	for (uint32_t row = node->first_row; row < node->first_row + n; row++) {
		uint64_t here = row == entry ? 0 : errors(e, row);

		if (here > most) {
			most = here;
			worst = row;
		}
	}
	return worst;
}

static uint64_t remote_errors(const struct perf_evidence *e, uint32_t row)
{
	return grew(e, row, PERF_RCV_REMOTE_PHYSICAL_ERRORS);
}

/*
 * A switch forwards a packet while it still arrives, and marks its end if it was damaged: the first
 * port on its way that received it counted an error of its own, all others a remote one.
 */
static struct perf_cause of_remote(const struct perf_evidence *e, uint32_t row)
{
	uint32_t peer, found;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		peer = peer_of(e, row);
		if (peer == PERF_NONE)
			break;
		if (!is_switch(e, peer))
			return cause_at(e, PERF_CAUSE_SENDER, peer,
					"the damaged packets come from %s itself");
		found = worst_port(e, peer, own_errors);
		if (found != PERF_NONE)
			return cause_at(e, PERF_CAUSE_UPSTREAM, found,
					"the packets were damaged on their way to %s");
		row = worst_port(e, peer, remote_errors);
		if (row == PERF_NONE)
			break;
	}
	return cause(PERF_CAUSE_UPSTREAM,
		     "the packets were damaged further back; no port upstream shows where");
}

/* ---- packets that are lost, or wait ---- */

static uint64_t waiting(const struct perf_evidence *e, uint32_t row)
{
	return grew(e, row, PERF_XMIT_WAIT);
}

/*
 * Follows the waiting towards its receiver: a port waits because the switch behind it cannot pass
 * on what it has, as its own ports wait.
 */
static uint32_t congested(const struct perf_evidence *e, uint32_t row)
{
	uint64_t least = waiting(e, row) / 4;

	for (unsigned int hops = 0; hops < HOPS_MAX; hops++) {
		uint32_t peer = peer_of(e, row), next;

		if (peer == PERF_NONE || !is_switch(e, peer))
			return row;
		next = worst_port(e, peer, waiting);
		if (next == PERF_NONE || waiting(e, next) < least)
			return row;
		row = next;
	}
	return PERF_NONE; /* in a circle */
}

static uint64_t sent(const struct perf_evidence *e, uint32_t row)
{
	return grew(e, row, PERF_XMIT_DATA);
}

/* Whether the port sent about as much as its link carries: then it need not wait for that. */
static bool is_full(const struct perf_evidence *e, uint32_t row)
{
	double rate = perf_payload_rate(e->last->new->layout->places[row].rate);
	uint64_t delta, dt_ns;

	return rate > 0 && growth_of(e, row, PERF_XMIT_DATA, &delta, &dt_ns) &&
	       (double)delta * 32 * 1e9 >= 0.8 * rate * (double)dt_ns;
}

/* The full port of the switch to which a port that waits sends; PERF_NONE: it has none. */
static uint32_t bottleneck(const struct perf_evidence *e, uint32_t row)
{
	uint32_t peer = peer_of(e, row), busiest = PERF_NONE;

	if (peer != PERF_NONE && is_switch(e, peer))
		busiest = worst_port(e, peer, sent);
	return busiest != PERF_NONE && is_full(e, busiest) ? busiest : PERF_NONE;
}

static struct perf_cause of_waiting(const struct perf_evidence *e, uint32_t row)
{
	uint32_t last = congested(e, row), full;

	if (last == PERF_NONE)
		return cause(PERF_CAUSE_CONGESTION, "ports wait for each other: a circle of "
						    "congested links, perhaps a credit loop");
	full = bottleneck(e, last);
	if (full != PERF_NONE)
		return cause_at(e, PERF_CAUSE_CONGESTION, full,
				"more is sent to %s than its link carries");
	if (last != row)
		return cause_at(e, PERF_CAUSE_CONGESTION, last, "congestion that begins at %s");
	if (peer_of(e, row) != PERF_NONE && !is_switch(e, peer_of(e, row)))
		return cause_at(e, PERF_CAUSE_CONGESTION, peer_of(e, row),
				"%s does not take packets as fast as they come");
	return cause(PERF_CAUSE_CONGESTION, "more packets are sent to this port than its link "
					    "carries");
}

static struct perf_cause of_discards(const struct perf_evidence *e, uint32_t row)
{
	uint64_t inactive = grew_detail(e, row, PERF_DETAIL_INACTIVE);
	uint64_t mtu = grew_detail(e, row, PERF_DETAIL_NEIGHBOR_MTU);
	uint64_t late = grew_detail(e, row, PERF_DETAIL_SW_LIFETIME) +
			grew_detail(e, row, PERF_DETAIL_SW_HOQ_LIFETIME);
	uint64_t most = MAX(inactive, MAX(mtu, late));

	if (most && mtu == most)
		return cause(PERF_CAUSE_MTU,
			     "packets are larger than the MTU of the neighbour: the "
			     "MTU of a partition or path is wrong");
	if (most && late == most)
		return cause(PERF_CAUSE_CONGESTION, "packets waited longer than their lifetime: "
						    "congestion or a credit loop downstream");
	if (most || grew(e, row, PERF_LINK_DOWNED))
		return cause(PERF_CAUSE_FLAP, "the link was down while packets waited for it");
	if (waiting(e, row))
		return of_waiting(e, row);
	return cause(PERF_CAUSE_UNKNOWN, NULL);
}

static struct perf_cause of_relay(const struct perf_evidence *e, uint32_t row)
{
	uint64_t looping = grew_detail(e, row, PERF_DETAIL_LOOPING);
	uint64_t vl = grew_detail(e, row, PERF_DETAIL_VL_MAPPING);
	uint64_t dlid = grew_detail(e, row, PERF_DETAIL_DLID_MAPPING);

	if (looping)
		return cause(PERF_CAUSE_ROUTING,
			     "packets go back to the port from which they came: the forwarding "
			     "tables contain a loop");
	if (vl > dlid)
		return cause(PERF_CAUSE_ROUTING, "packets have an SL that the SL2VL table drops");
	return cause(PERF_CAUSE_ROUTING, "packets go to LIDs without a route; a few of them are "
					 "normal while hosts leave, and for multicast");
}

static struct perf_cause of_link(const struct perf_evidence *e, uint32_t row)
{
	struct perf_far far = far_of(e, row);

	if (far.row == PERF_NONE)
		return cause(PERF_CAUSE_FLAP, "the link went down, and neither this SM nor a "
					      "restart explains it");
	return cause_far(PERF_CAUSE_FLAP, far,
			 "the link to %s went down, and neither this SM nor a restart explains it");
}

/* Whether the errors of the link layer are few enough to come from its going down and up. */
static bool is_training(const struct perf_evidence *e, uint32_t row)
{
	uint64_t downs = grew(e, row, PERF_LINK_DOWNED);

	return downs && grew(e, row, PERF_LINK_ERROR_RECOVERIES) <= downs &&
	       grew(e, row, PERF_SYMBOL_ERRORS) <= downs * TRAINING_SYMBOL_ERRORS;
}

static struct perf_cause of_training(const struct perf_evidence *e, uint32_t row)
{
	struct perf_far far = far_of(e, row);

	if (far.row == PERF_NONE)
		return cause(PERF_CAUSE_FLAP,
			     "the link went down, and such errors are normal while it trains");
	return cause_far(PERF_CAUSE_FLAP, far,
			 "the link to %s went down, and such errors are normal while it trains");
}

/* ---- the table ---- */

static struct perf_cause of_counter(const struct perf_evidence *e, uint32_t row,
				    unsigned int counter)
{
	switch (counter) {
	case PERF_SYMBOL_ERRORS:
	case PERF_LINK_ERROR_RECOVERIES:
		return is_training(e, row) ? of_training(e, row) : of_cable(e, row);
	case PERF_LINK_INTEGRITY_ERRORS:
		return of_cable(e, row);
	case PERF_LINK_DOWNED:
		return of_link(e, row);
	case PERF_RCV_ERRORS:
		return of_rcv_errors(e, row);
	case PERF_RCV_REMOTE_PHYSICAL_ERRORS:
		return of_remote(e, row);
	case PERF_RCV_SWITCH_RELAY_ERRORS:
		return of_relay(e, row);
	case PERF_XMIT_DISCARDS:
		return of_discards(e, row);
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
		return of_waiting(e, row);
	default:
		return cause(PERF_CAUSE_UNKNOWN, NULL);
	}
}

static struct perf_cause of_detail(const struct perf_evidence *e, uint32_t row, unsigned int detail)
{
	switch (detail) {
	case PERF_DETAIL_DLID_MAPPING:
	case PERF_DETAIL_VL_MAPPING:
	case PERF_DETAIL_LOOPING:
		return of_relay(e, row);
	case PERF_DETAIL_MALFORMED:
	case PERF_DETAIL_BUFFER_OVERRUN:
		return of_rcv_errors(e, row);
	case PERF_DETAIL_INACTIVE:
	case PERF_DETAIL_NEIGHBOR_MTU:
	case PERF_DETAIL_SW_LIFETIME:
	case PERF_DETAIL_SW_HOQ_LIFETIME:
		return of_discards(e, row);
	default:
		return of_cable(e, row);
	}
}

struct perf_cause perf_cause_find(const struct perf_evidence *e, uint32_t row, unsigned int value)
{
	if (value < PERF_VALUE_DETAILS)
		return of_counter(e, row, value);
	switch (value) {
	case PERF_VALUE_XMIT_WAIT_SHARE:
		return of_waiting(e, row);
	case PERF_VALUE_UTILISATION:
		return cause(PERF_CAUSE_UNKNOWN, NULL);
	case PERF_VALUE_RAW_BER:
		return of_cable(e, row);
	default:
		return of_detail(e, row, value - PERF_VALUE_DETAILS);
	}
}

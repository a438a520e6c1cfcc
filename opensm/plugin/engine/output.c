// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * From what a plug-in wrote to a routing. It may write whatever it likes, even while this reads: so
 * each table is copied first, and then only the copy is looked at. What must be true of every
 * routing is checked here; whether packets arrive, and whether they can block each other, is found
 * out by the verifier as for all engines. Only the promise of shortest paths is not its subject, so
 * that is checked here too.
 */
#include <string.h>

#include "plugin/base/route_sections.h"
#include "plugin/engine/exchange.h"
#include "route/graph/order.h"
#include "route/value/lanes.h"

#define UNKNOWN UINT16_MAX

struct taking {
	const struct block *block;
	const struct fabric *fabric;
	const struct route_graph *graph;
	unsigned int vls;
	struct route_output_head head; /* a copy */
	struct routing *routing;
	uint16_t sls;  /* bits of those in use */
	bool has_none; /* some switches have no SL between them */
	GError **error;
};

static void *section(const struct block *block, unsigned int number)
{
	uint64_t n;

	return block_section(block, number, 1, &n, NULL);
}

/* Ports squared, of all switches. */
static uint64_t count_turns(const struct fabric *fabric)
{
	uint64_t n = 0;

	for (uint32_t sw = 0; sw < fabric->n_switches; sw++) {
		uint64_t width = fabric->nodes[fabric->switches[sw].node].num_ports + 1u;

		n += width * width;
	}
	return n;
}

bool exchange_output(struct block *block, const struct fabric *fabric,
		     const struct route_input *input, GError **error)
{
	unsigned int vls = route_data_vls(fabric, input);
	size_t n = fabric->n_switches, stride = exchange_stride(fabric);
	struct block_plan plan = {0};
	struct route_output_head *head;

	block_want(&plan, ROUTE_OUT_HEAD, sizeof(*head), 1);
	block_want(&plan, ROUTE_OUT_LFT, 1, n * stride);
	block_want(&plan, ROUTE_OUT_SL, 1, n * n);
	block_want(&plan, ROUTE_OUT_TURNS, sizeof(uint64_t), count_turns(fabric));
	block_want(&plan, ROUTE_OUT_ORDER, sizeof(uint32_t), n);
	if (!block_new(block, "opensm-route-output", &plan, error))
		return false;
	head = section(block, ROUTE_OUT_HEAD);
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		head->vl[sl] = sl < vls ? (uint8_t)sl : 0;
	memset(section(block, ROUTE_OUT_LFT), ROUTE_NO_PORT, n * stride);
	return true;
}

void exchange_cancel(const struct block *output)
{
	struct route_output_head *head = section(output, ROUTE_OUT_HEAD);

	__atomic_store_n(&head->cancelled, 1, __ATOMIC_RELAXED);
}

static char *printable(const char *text, size_t size)
{
	char *valid = g_utf8_make_valid(text, (gssize)strnlen(text, size));

	for (char *c = valid; *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = ' ';
	return g_strstrip(valid);
}

char *exchange_note(const struct block *output)
{
	const struct route_output_head *head = section(output, ROUTE_OUT_HEAD);
	char copy[sizeof(head->note)];

	memcpy(copy, head->note, sizeof(copy));
	return printable(copy, sizeof(copy));
}

G_GNUC_PRINTF(2, 3)
static bool refuse(struct taking *taking, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_propagate_error(taking->error,
			  g_error_new_valist(ROUTE_ERROR, ROUTE_ERROR_INPUT, format, args));
	va_end(args);
	return false;
}

static const char *name_of(const struct taking *taking, uint32_t sw, char *buffer)
{
	return fabric_node_name(taking->fabric, taking->fabric->switches[sw].node, buffer,
				FABRIC_NAME_SIZE);
}

static unsigned int n_ports(const struct taking *taking, uint32_t sw)
{
	return taking->fabric->nodes[taking->fabric->switches[sw].node].num_ports;
}

/* ---- forwarding tables ---- */

/* Entries of LIDs that no port has are not used. */
static bool take_row(struct taking *taking, uint32_t sw)
{
	const struct fabric *fabric = taking->fabric;
	uint8_t *row = taking->routing->lft[sw];
	char name[FABRIC_NAME_SIZE];

	for (uint32_t lid = 0; lid < exchange_stride(fabric); lid++) {
		if (fabric_port_by_lid(fabric, lid) == FABRIC_NONE)
			row[lid] = ROUTE_NO_PORT;
		else if (row[lid] != ROUTE_NO_PORT && row[lid] > n_ports(taking, sw))
			return refuse(taking,
				      "the entry of %s for LID %u is port %u, but it has %u ports",
				      name_of(taking, sw, name), lid, row[lid],
				      n_ports(taking, sw));
	}
	return true;
}

static bool take_rows(struct taking *taking)
{
	const uint8_t *rows = section(taking->block, ROUTE_OUT_LFT);
	size_t stride = exchange_stride(taking->fabric);

	for (uint32_t sw = 0; sw < taking->fabric->n_switches; sw++) {
		memcpy(taking->routing->lft[sw], rows + sw * stride, stride);
		if (!take_row(taking, sw))
			return false;
	}
	return true;
}

/* ---- lanes ---- */

static bool take_sls(struct taking *taking, struct route_lanes *lanes)
{
	size_t n = taking->fabric->n_switches;
	char one[FABRIC_NAME_SIZE], other[FABRIC_NAME_SIZE];

	if (!taking->head.has_sls) {
		memset(lanes->sl, 0, n * n);
		taking->sls = 1;
		return true;
	}
	memcpy(lanes->sl, section(taking->block, ROUTE_OUT_SL), n * n);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b <= a; b++) {
			uint8_t sl = route_lanes_sl(lanes, a, b),
				back = route_lanes_sl(lanes, b, a);

			if (sl != back)
				return refuse(
					taking,
					"paths from %s to %s have SL %u, and those back SL %u",
					name_of(taking, a, one), name_of(taking, b, other), sl,
					back);
			if (sl >= ROUTE_SLS && sl != ROUTE_NO_SL)
				return refuse(taking, "SL %u between %s and %s, expected 0..15", sl,
					      name_of(taking, a, one), name_of(taking, b, other));
			if (sl < ROUTE_SLS)
				taking->sls |= 1u << sl;
			else
				taking->has_none = true;
		}
	return true;
}

static bool take_vls(struct taking *taking, struct route_lanes *lanes)
{
	uint8_t any = 0;

	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++) {
		uint8_t vl = taking->head.has_sls ? taking->head.vl[sl] : 0;

		if (!(taking->sls >> sl & 1) || lanes->turns)
			vl = vl < taking->vls ? vl : any;
		if (vl >= taking->vls)
			return refuse(taking, "SL %u is on VL %u, but there are only %u VLs", sl,
				      vl, taking->vls);
		lanes->vl[sl] = vl;
	}
	return true;
}

/* Of the SLs in use; nothing else is kept of a row. */
static bool take_turn(struct taking *taking, uint32_t sw, unsigned int in, unsigned int out,
		      uint64_t *row)
{
	uint64_t kept = 0;
	char name[FABRIC_NAME_SIZE];

	if (out && route_switch_across(taking->fabric,
				       fabric_switch_port(taking->fabric, sw, (uint8_t)out)) !=
			   FABRIC_NONE)
		for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
			if (taking->sls >> sl & 1)
				kept |= *row & UINT64_C(0xF) << 4 * sl;
	*row = kept;
	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
		if ((kept >> 4 * sl & 0xF) >= taking->vls)
			return refuse(taking,
				      "%s sends SL %u from port %u to port %u on VL %u, but there "
				      "are only %u VLs",
				      name_of(taking, sw, name), sl, in, out,
				      (unsigned int)(kept >> 4 * sl & 0xF), taking->vls);
	return true;
}

static bool take_turns(struct taking *taking, struct route_lanes *lanes)
{
	struct route_turns *turns;

	if (!taking->head.has_turns)
		return true;
	lanes->turns = turns = route_turns_new(taking->fabric);
	memcpy(turns->rows, section(taking->block, ROUTE_OUT_TURNS),
	       count_turns(taking->fabric) * sizeof(*turns->rows));
	for (uint32_t sw = 0; sw < taking->fabric->n_switches; sw++)
		for (unsigned int in = 0; in < turns->width[sw]; in++)
			for (unsigned int out = 0; out < turns->width[sw]; out++)
				if (!take_turn(taking, sw, in, out,
					       &turns->rows[turns->first[sw] +
							    (size_t)in * turns->width[sw] + out]))
					return false;
	return true;
}

/* Packets to and from the SM have the SL of their path. */
static void describe_lanes(const struct taking *taking, struct route_lanes *lanes)
{
	unsigned int first = taking->sls ? __builtin_ctz(taking->sls) : 0;
	unsigned int last = taking->sls ? 31 - __builtin_clz(taking->sls) : 0;

	lanes->first = lanes->sm_sl = (uint8_t)first;
	lanes->n = (uint8_t)(last - first + 1);
	lanes->sls = taking->sls;
	lanes->sm_by_path = true;
	for (unsigned int sl = first; sl <= last; sl++)
		if (!(taking->sls >> sl & 1))
			lanes->vl[sl] = lanes->vl[first];
}

static bool take_lanes(struct taking *taking)
{
	struct route_lanes *lanes;

	if (!taking->head.has_sls && !taking->head.has_turns)
		return true;
	lanes = route_lanes_new(taking->fabric->n_switches, 0);
	taking->routing->lanes = lanes;
	if (!take_sls(taking, lanes) || !take_turns(taking, lanes) || !take_vls(taking, lanes))
		return false;
	describe_lanes(taking, lanes);
	if (taking->sls == 1 && !taking->has_none && !lanes->vl[0] && !lanes->turns) {
		taking->routing->lanes = NULL; /* as without any */
		route_lanes_free(lanes);
	}
	return true;
}

/* ---- the order of switches ---- */

static bool take_order(struct taking *taking)
{
	uint32_t n = taking->fabric->n_switches;
	g_autofree bool *taken = g_new0(bool, n + 1);
	char name[FABRIC_NAME_SIZE];
	uint32_t *order;

	if (!taking->head.has_order)
		return true;
	taking->routing->order = order = g_new(uint32_t, n + 1);
	memcpy(order, section(taking->block, ROUTE_OUT_ORDER), n * sizeof(*order));
	for (uint32_t sw = 0; sw < n; sw++) {
		if (order[sw] >= n)
			return refuse(taking, "the place of %s in the order is %u, expected 0..%u",
				      name_of(taking, sw, name), order[sw], n - 1);
		if (taken[order[sw]])
			return refuse(taking, "the place of %s in the order, %u, is taken",
				      name_of(taking, sw, name), order[sw]);
		taken[order[sw]] = true;
	}
	return true;
}

/* ---- the length of paths ---- */

struct walk {
	uint16_t *hops;	   /* [switch]: to the LID; UNKNOWN: not known yet, or it does not arrive */
	uint32_t *visited; /* [switch]: the LID for which it was visited */
	uint32_t *path;
};

/* Hops from a switch to a LID; UNKNOWN if packets do not arrive. */
static uint16_t walk_from(const struct taking *taking, struct walk *walk, uint32_t sw, uint16_t lid,
			  uint32_t leaf)
{
	const struct routing *routing = taking->routing;
	uint32_t n = 0;
	uint16_t hops;

	while (sw != leaf && walk->visited[sw] != lid) {
		uint8_t out = routing->lft[sw][lid];
		uint32_t next = FABRIC_NONE;

		walk->visited[sw] = lid;
		walk->hops[sw] = UNKNOWN;
		walk->path[n++] = sw;
		if (out != ROUTE_NO_PORT && out)
			next = route_switch_across(taking->fabric,
						   fabric_switch_port(taking->fabric, sw, out));
		if (next == FABRIC_NONE)
			break;
		sw = next;
	}
	hops = sw == leaf ? 0 : walk->hops[sw];
	while (n && hops != UNKNOWN)
		walk->hops[walk->path[--n]] = ++hops;
	return hops;
}

/* Refuses a promise that is not kept between hosts; one not kept between switches is dropped. */
static bool check_lid(struct taking *taking, struct walk *walk, const uint8_t *best, uint16_t lid,
		      uint32_t leaf, bool is_host)
{
	const struct route_graph *graph = taking->graph;
	struct routing *routing = taking->routing;
	char name[FABRIC_NAME_SIZE];

	for (uint32_t sw = 0; sw < graph->n; sw++) {
		uint16_t hops = walk_from(taking, walk, sw, lid, leaf);
		uint8_t least = best[(size_t)sw * graph->n + leaf];

		if (hops == UNKNOWN)
			continue;
		routing->max_hops = MAX(routing->max_hops, hops);
		if (!(routing->promises & ROUTE_SHORTEST) || hops <= least)
			continue;
		if (is_host && route_has_hosts(graph, sw))
			return refuse(taking,
				      "it promises shortest paths, but that from %s to LID %u has "
				      "%u hops, and %u are enough",
				      name_of(taking, sw, name), lid, hops, least);
		if (!routing->order)
			routing->promises &= ~ROUTE_SHORTEST;
	}
	return true;
}

static bool check_lids(struct taking *taking, struct walk *walk, const uint8_t *best)
{
	uint8_t exit;

	for (uint32_t lid = 1; lid <= taking->fabric->max_lid; lid++) {
		uint32_t leaf = route_leaf_of(taking->fabric, (uint16_t)lid, &exit);

		if (leaf != FABRIC_NONE &&
		    !check_lid(taking, walk, best, (uint16_t)lid, leaf, exit != 0))
			return false;
	}
	return true;
}

static bool measure(struct taking *taking)
{
	const struct route_order any = {.graph = taking->graph};
	g_autofree uint8_t *best = route_hops_or_error(&any, NULL, taking->error);
	uint32_t n = taking->graph->n;
	struct walk walk;
	bool good;

	if (!best)
		return false;
	walk = (struct walk){g_new(uint16_t, n + 1), g_new0(uint32_t, n + 1),
			     g_new(uint32_t, n + 1)};
	good = check_lids(taking, &walk, best);
	g_free(walk.hops);
	g_free(walk.visited);
	g_free(walk.path);
	return good;
}

/* ---- the whole ---- */

static bool take_all(struct taking *taking)
{
	g_autofree char *note = printable(taking->head.note, sizeof(taking->head.note));

	if (!take_rows(taking) || !take_lanes(taking) || !take_order(taking) || !measure(taking))
		return false;
	if (*note)
		routing_note(taking->routing, "%s", note);
	return true;
}

struct routing *exchange_take(const struct block *output, const struct route_engine *engine,
			      const struct fabric *fabric, const struct route_input *input,
			      GError **error)
{
	struct route_graph *graph = route_graph_new(fabric);
	struct taking taking = {
		.block = output,
		.fabric = fabric,
		.graph = graph,
		.vls = route_data_vls(fabric, input),
		.error = error,
	};
	unsigned int promises = 0;

	graph->threads = input->threads;
	memcpy(&taking.head, section(output, ROUTE_OUT_HEAD), sizeof(taking.head));
	if (taking.head.promises & OSM_ROUTE_DEADLOCK_FREE)
		promises |= ROUTE_DEADLOCK_FREE;
	if (taking.head.promises & OSM_ROUTE_SHORTEST)
		promises |= ROUTE_SHORTEST;
	taking.routing = routing_new(fabric, engine, promises);
	if (!take_all(&taking))
		g_clear_pointer(&taking.routing, routing_unref);
	route_graph_free(graph);
	return taking.routing;
}

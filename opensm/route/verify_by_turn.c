// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Credit loops of tables whose packets change lanes on their way: one graph of (port, VL) for all
 * lanes. Whatever may come in where a path begins is followed, on each SL that it may have: that of
 * its path either way, any level of QoS, and that of the SM. If multicast keeps to a trunk, what it
 * does there counts too, on SL 0 of each level.
 */
#include "route/bits.h"
#include "route/lanes.h"
#include "route/verify.h"

#define OUTS (256 * ROUTE_SLS) /* a port and a lane of the next switch */
#define NOWHERE UINT32_MAX

struct wants {
	uint64_t word[OUTS / 64];
};

struct turn_check {
	struct verify *verify;
	const struct route_lanes *lanes;
	struct wants **wants; /* [channel * 16 + VL]: NULL: nothing is sent there */
	uint64_t *passed; /* [channel * 16 + SL]: lanes in bits 0 - 15 for the LID above these */
};

/* A packet on its way: where it is, by which port it came, and what it holds (or NOWHERE). */
struct packet {
	uint32_t sw, held;
	uint8_t in, sl;
};

/* ---- the graph ---- */

/* Moves it on by a port; false if it was there before. mark: of whom it is, in bits 16 - 63. */
static bool move(struct turn_check *check, struct packet *packet, uint8_t out, uint64_t mark)
{
	uint32_t channel = check->verify->first[packet->sw] + out;
	uint8_t vl = route_lanes_vl(check->lanes, packet->sw, packet->in, out, packet->sl);
	uint64_t *passed = &check->passed[(size_t)channel * ROUTE_SLS + packet->sl];
	uint32_t node = channel * ROUTE_SLS + vl, bit = out * ROUTE_SLS + vl;
	bool again;

	if (packet->held != NOWHERE)
		bits_put(check->wants[packet->held]->word, bit, true);
	if (!check->wants[node])
		check->wants[node] = g_new0(struct wants, 1);
	if (*passed >> 16 != mark)
		*passed = mark << 16;
	again = *passed >> vl & 1;
	*passed |= UINT64_C(1) << vl;
	packet->sw = verify_cross(check->verify, packet->sw, out, &packet->in);
	packet->held = node;
	return !again;
}

/* ---- paths ---- */

static void follow(struct turn_check *check, struct packet packet, uint16_t lid)
{
	const struct verify *verify = check->verify;

	for (;;) {
		uint8_t out = routing_port(verify->routing, packet.sw, lid);

		if (verify_across(verify, packet.sw, out) == FABRIC_NONE ||
		    !move(check, &packet, out, lid))
			return;
	}
}

/* Whether packets may begin at this port: of the switch itself, or of a host. */
static bool is_entry(const struct verify *verify, uint32_t sw, uint32_t channel)
{
	uint8_t num = channel - verify->first[sw];
	uint32_t port = fabric_switch_port(verify->fabric, sw, num);

	return !num || (verify->to[channel] == FABRIC_NONE &&
			verify->fabric->ports[port].peer != FABRIC_NONE);
}

/* By each port at which packets may begin. */
static void follow_from(struct turn_check *check, uint32_t from, uint16_t lid, uint8_t sl)
{
	const struct verify *verify = check->verify;

	for (uint32_t c = verify->first[from]; c < verify->first[from + 1]; c++)
		if (is_entry(verify, from, c))
			follow(check, (struct packet){from, NOWHERE, c - verify->first[from], sl},
			       lid);
}

/* SLs of packets between two switches, as bits. */
static uint16_t sls_of(const struct turn_check *check, uint32_t from, uint32_t to)
{
	const struct route_lanes *lanes = check->lanes;
	uint32_t sm = check->verify->graph->sm_switch;
	uint16_t bits = 0;

	for (unsigned int sl = 0; sl < ROUTE_SLS; sl++) {
		uint8_t plain = sl & ~lanes->levels;

		if (plain == route_lanes_sl(lanes, from, to) ||
		    plain == route_lanes_sl(lanes, to, from) ||
		    (sl == lanes->sm_sl && !lanes->sm_by_path && (from == sm || to == sm)))
			bits |= 1u << sl;
	}
	return bits;
}

static void follow_lid(struct turn_check *check, uint16_t lid)
{
	const struct fabric *fabric = check->verify->fabric;
	uint8_t exit;
	uint32_t to = route_leaf_of(fabric, lid, &exit);

	for (uint32_t from = 0; to != FABRIC_NONE && from < fabric->n_switches; from++) {
		uint16_t bits = sls_of(check, from, to);

		if (!exit && !route_is_source(check->verify->graph, from))
			continue;
		for (; bits; bits &= bits - 1)
			follow_from(check, from, lid, __builtin_ctz(bits));
	}
}

/* ---- multicast on a trunk ---- */

static void flood(struct turn_check *check, struct packet start)
{
	const struct verify *verify = check->verify;
	GArray *stack = g_array_new(FALSE, FALSE, sizeof(struct packet));

	g_array_append_val(stack, start);
	while (stack->len) {
		struct packet packet = g_array_index(stack, struct packet, stack->len - 1);
		uint32_t width = verify->first[packet.sw + 1] - verify->first[packet.sw];

		g_array_set_size(stack, stack->len - 1);
		for (uint32_t out = 1; out < width; out++) {
			struct packet next = packet;

			if (out != packet.in && verify_is_trunk(verify, packet.sw, out) &&
			    move(check, &next, out, FABRIC_LIDS))
				g_array_append_val(stack, next);
		}
	}
	g_array_unref(stack);
}

static void flood_all(struct turn_check *check)
{
	const struct verify *verify = check->verify;

	for (uint32_t sw = 0; verify->routing->trunk && sw < verify->graph->n; sw++)
		for (uint32_t c = verify->first[sw]; c < verify->first[sw + 1]; c++)
			for (unsigned int sl = 0; sl < ROUTE_SLS; sl++)
				if (is_entry(verify, sw, c) && !(check->lanes->bare >> sl & 1))
					flood(check, (struct packet){sw, NOWHERE,
								     c - verify->first[sw], sl});
}

/* ---- the whole ---- */

static uint32_t next_node(const void *graph, uint32_t node, uint32_t *bit)
{
	const struct turn_check *check = graph;
	const struct verify *verify = check->verify;

	if (!check->wants[node])
		return DEPENDENCY_NONE;
	*bit = bits_next(check->wants[node]->word, *bit, OUTS);
	if (*bit == OUTS)
		return DEPENDENCY_NONE;
	return verify->first[verify->to[node / ROUTE_SLS]] * ROUTE_SLS + (*bit)++;
}

GArray *verify_by_turn(struct verify *verify, uint16_t *vls)
{
	size_t n = (size_t)verify->first[verify->graph->n] * ROUTE_SLS;
	struct turn_check check = {.verify = verify, .lanes = verify->routing->lanes};
	GArray *cycle;

	check.wants = g_new0(struct wants *, n + 1);
	check.passed = g_new0(uint64_t, n + 1);
	for (uint32_t lid = 1; lid < FABRIC_LIDS; lid++)
		follow_lid(&check, lid);
	flood_all(&check);
	cycle = dependency_search(verify->graph->n, verify->first, ROUTE_SLS, &check, next_node);
	for (size_t i = 0; i < n; i++) {
		*vls |= (check.wants[i] != NULL) << i % ROUTE_SLS;
		g_free(check.wants[i]);
	}
	g_free(check.wants);
	g_free(check.passed);
	return cycle;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Walks through the tables, one LID after the other, for what was not shown to be right at once. */
#include <string.h>

#include "route/verify.h"

enum { STATE_NEW, STATE_ON_PATH, STATE_REACHED, STATE_DISCARDED, STATE_HOLE, STATE_LOOP };

struct walk {
	struct verify *verify;
	uint16_t lid;
	struct verify_owner owner;
	uint8_t *state; /* [switch] */
	uint16_t *depth;
	uint32_t *path;
};

/* ---- witness ---- */

void verify_add_hop(const struct verify *verify, GString *text, uint32_t sw, uint8_t num)
{
	const struct fabric *fabric = verify->fabric;
	uint32_t node = fabric->switches[sw].node;
	char name[FABRIC_NAME_SIZE];

	if (num <= fabric->nodes[node].num_ports) {
		g_string_append(text, fabric_port_name(fabric, fabric_port_of(fabric, node, num),
						       name, sizeof(name)));
		return;
	}
	/* Its port is none of this switch. */
	g_string_append_printf(text, "%s entry 0x%02x",
			       fabric_node_name(fabric, node, name, sizeof(name)), num);
}

/* Uses up the states. */
static void add_witness(struct walk *walk, uint32_t sw, const char *what)
{
	const struct verify *verify = walk->verify;
	GString *text = g_string_new(NULL);

	g_string_printf(text, "LID %u: %s: ", walk->lid, what);
	memset(walk->state, STATE_NEW, verify->graph->n);
	for (unsigned int i = 0; i < VERIFY_WITNESS_HOPS && sw != FABRIC_NONE; i++) {
		uint8_t num = routing_port(verify->routing, sw, walk->lid);

		if (i)
			g_string_append(text, " -> ");
		verify_add_hop(verify, text, sw, num);
		if (walk->state[sw] != STATE_NEW)
			break;
		walk->state[sw] = STATE_ON_PATH;
		sw = verify_across(verify, sw, num);
	}
	verify->verdict->witness = g_string_free(text, FALSE);
}

/* ---- one LID ---- */

/* Walks from sw to a switch whose fate is known and gives the fate to all on the way. */
static void walk_from(struct walk *walk, uint32_t sw)
{
	uint32_t n = 0, depth = 0;
	uint8_t state;

	for (;;) {
		uint8_t num = routing_port(walk->verify->routing, sw, walk->lid);

		if (walk->state[sw] != STATE_NEW) {
			state = walk->state[sw] == STATE_ON_PATH ? STATE_LOOP : walk->state[sw];
			depth = walk->depth[sw] + 1u;
			break;
		}
		walk->state[sw] = STATE_ON_PATH;
		walk->path[n++] = sw;
		if (verify_is_above_cap(walk->verify, sw, walk->lid)) {
			state = STATE_HOLE;
			break;
		}
		if (sw == walk->owner.sw && num == walk->owner.exit) {
			state = STATE_REACHED;
			break;
		}
		sw = verify_across(walk->verify, sw, num);
		if (sw == FABRIC_NONE) {
			state = num == ROUTE_NO_PORT ? STATE_DISCARDED : STATE_HOLE;
			break;
		}
	}
	while (n--) {
		walk->state[walk->path[n]] = state;
		walk->depth[walk->path[n]] = MIN(depth, UINT16_MAX);
		depth++;
	}
}

/* Whether a pair may stay without a path: it is for management, but not by the subnet manager. */
static bool may_discard(const struct walk *walk, uint32_t sw)
{
	const struct verify *verify = walk->verify;

	if (sw == verify->graph->sm_switch || walk->owner.sw == verify->graph->sm_switch)
		return false;
	return verify->routing->promises & ROUTE_DEADLOCK_FREE &&
	       (!route_has_hosts(verify->graph, sw) || !walk->owner.exit);
}

/* Whether cables lead from a switch to the leaf of a LID, by switches that hold it. */
static bool is_joined(const struct verify *verify, uint32_t sw, uint32_t leaf, uint32_t lid)
{
	return verify->part[sw] == verify->part[leaf] && !verify_is_above_cap(verify, leaf, lid);
}

/* Whether the fate of a packet from sw breaks what the tables must do. */
static bool is_wrong(struct walk *walk, uint32_t sw)
{
	uint8_t state = walk->state[sw];

	if (state == STATE_REACHED || state == STATE_LOOP)
		return state == STATE_LOOP;
	if (!is_joined(walk->verify, sw, walk->owner.sw, walk->lid))
		return false;
	if (state == STATE_HOLE || !may_discard(walk, sw))
		return true;
	walk->verify->verdict->discarded++;
	return false;
}

static void walk_lid(struct walk *walk)
{
	struct route_verdict *verdict = walk->verify->verdict;
	const char *what = NULL;
	uint32_t where = 0;

	memset(walk->state, STATE_NEW, walk->verify->graph->n);
	for (uint32_t sw = 0; sw < walk->verify->graph->n; sw++) {
		if (walk->state[sw] == STATE_NEW)
			walk_from(walk, sw);
		if (walk->state[sw] == STATE_LOOP)
			verdict->loop_free = false;
		if (walk->state[sw] == STATE_REACHED)
			verdict->max_hops = MAX(verdict->max_hops, walk->depth[sw]);
		if (!is_wrong(walk, sw))
			continue;
		verdict->complete = false;
		if (!what) {
			what = walk->state[sw] == STATE_LOOP ? "loop" : "not delivered";
			where = sw;
		}
	}
	if (what && !verdict->witness)
		add_witness(walk, where, what);
}

/* ---- all ---- */

/* Owned LIDs are counted for all switches; those with a leaf in another part need no path. */
static void count_paths(struct verify *verify)
{
	for (uint32_t lid = 1; lid < verify->n_lids; lid++) {
		uint32_t leaf = verify->owners[lid].sw;

		if (leaf == FABRIC_NONE)
			continue;
		verify_mark_parts(verify, lid);
		if (verify->whole) {
			verify->verdict->paths += verify->graph->n;
			continue;
		}
		for (uint32_t sw = 0; sw < verify->graph->n; sw++) {
			if (is_joined(verify, sw, leaf, lid))
				verify->verdict->paths++;
			else
				verify->verdict->cut = true;
		}
	}
}

void verify_walk(struct verify *verify)
{
	struct walk walk = { .verify = verify };
	uint32_t n = verify->graph->n;

	count_paths(verify);
	walk.state = g_malloc(n + 1);
	walk.depth = g_new0(uint16_t, n + 1);
	walk.path = g_new(uint32_t, n + 1);
	for (uint32_t lid = 1; lid < verify->n_lids; lid++) {
		if (!verify_is_suspect(verify, lid) || verify->owners[lid].sw == FABRIC_NONE)
			continue;
		verify_mark_parts(verify, lid);
		walk.lid = lid;
		walk.owner = verify->owners[lid];
		walk_lid(&walk);
	}
	g_free(walk.state);
	g_free(walk.depth);
	g_free(walk.path);
}

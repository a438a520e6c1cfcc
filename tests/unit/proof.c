// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See proof.h. Headers of opensm/route must not be included here. */
#include "tests/unit/proof.h"

#include <glib.h>
#include <string.h>

#include "iba/codes.h"

/* ---- the net ---- */

static void read_switch(struct proof_net *net, const struct fabric *fabric, uint32_t sw)
{
	const struct fabric_node *node = &fabric->nodes[fabric->switches[sw].node];

	net->cap[sw] = fabric->switches[sw].info.linear_fdb_cap;
	if (!net->cap[sw] || net->cap[sw] >= net->n_lids)
		net->cap[sw] = FABRIC_LIDS;
	for (unsigned int num = 0; num < 256; num++) {
		uint32_t at = sw * 256 + num;
		const struct fabric_port *port;

		net->across[at] = PROOF_NONE;
		if (num > node->num_ports)
			continue;
		port = &fabric->ports[node->first_port + num];
		net->vls[at] = MAX(iba_vls_count(port->info.vl_cap), 1);
		if (!num || port->peer == FABRIC_NONE)
			continue;
		net->across[at] = fabric->nodes[fabric->ports[port->peer].node].sw;
		if (net->across[at] != PROOF_NONE)
			net->cables[net->n_cables++] = at;
		net->entrance[at] = fabric->ports[port->peer].num;
	}
}

static void read_lid(struct proof_net *net, const struct fabric *fabric, uint32_t lid)
{
	uint32_t owner = fabric->lid_port[lid], peer;

	net->home[lid] = PROOF_NONE;
	if (owner == FABRIC_NONE)
		return;
	peer = fabric->ports[owner].peer;
	net->of_host[lid] = fabric->nodes[fabric->ports[owner].node].sw == FABRIC_NONE;
	if (!net->of_host[lid]) {
		net->home[lid] = fabric->nodes[fabric->ports[owner].node].sw;
	} else if (peer != FABRIC_NONE) {
		net->home[lid] = fabric->nodes[fabric->ports[peer].node].sw;
		net->exit[lid] = fabric->ports[peer].num;
	}
	if (net->of_host[lid] && net->home[lid] != PROOF_NONE)
		net->hosts[net->home[lid]] = true;
}

static uint32_t sm_of(const struct fabric *fabric)
{
	const struct fabric_port *port;

	if (fabric->sm_port == FABRIC_NONE)
		return PROOF_NONE;
	port = &fabric->ports[fabric->sm_port];
	if (fabric->nodes[port->node].sw != FABRIC_NONE)
		return fabric->nodes[port->node].sw;
	return port->peer == FABRIC_NONE ? PROOF_NONE
					 : fabric->nodes[fabric->ports[port->peer].node].sw;
}

struct proof_net *proof_net_new(const struct fabric *fabric)
{
	struct proof_net *net = g_new0(struct proof_net, 1);

	net->n = fabric->n_switches;
	net->n_lids = fabric->max_lid + 1u;
	net->across = g_new(uint32_t, net->n * 256 + 1);
	net->cables = g_new(uint32_t, net->n * 256 + 1);
	net->entrance = g_new0(uint8_t, net->n * 256 + 1);
	net->vls = g_new0(uint8_t, net->n * 256 + 1);
	net->cap = g_new(uint32_t, net->n + 1);
	net->home = g_new(uint32_t, net->n_lids);
	net->exit = g_new0(uint8_t, net->n_lids);
	net->of_host = g_new0(bool, net->n_lids);
	net->hosts = g_new0(bool, net->n + 1);
	net->sm = sm_of(fabric);
	for (uint32_t sw = 0; sw < net->n; sw++)
		read_switch(net, fabric, sw);
	for (uint32_t lid = 0; lid < net->n_lids; lid++)
		read_lid(net, fabric, lid);
	return net;
}

void proof_net_free(struct proof_net *net)
{
	g_free(net->across);
	g_free(net->cables);
	g_free(net->entrance);
	g_free(net->vls);
	g_free(net->cap);
	g_free(net->home);
	g_free(net->exit);
	g_free(net->of_host);
	g_free(net->hosts);
	g_free(net);
}

/* ---- what waits for what ---- */

/* Channels are cables between switches, in both directions, on each VL. */
struct waits {
	const struct proof_net *net;
	uint32_t n, n_words;
	uint32_t *number; /* [switch * 256 + port]: of its VL 0, or PROOF_NONE */
	uint64_t *matrix; /* [first * n_words]: bits of the channels that it waits for */
	uint16_t used;	  /* VLs */
};

static void waits_init(struct waits *waits, const struct proof_net *net, bool lanes)
{
	*waits = (struct waits){.net = net};
	waits->number = g_new(uint32_t, net->n * 256 + 1);
	memset(waits->number, 0xFF, net->n * 256 * sizeof(*waits->number));
	for (uint32_t i = 0; i < net->n_cables; i++, waits->n += lanes ? 16 : 1)
		waits->number[net->cables[i]] = waits->n;
	waits->n_words = waits->n / 64 + 1;
	waits->matrix = g_new0(uint64_t, (size_t)waits->n * waits->n_words + 1);
}

static void waits_clear(struct waits *waits)
{
	g_free(waits->number);
	g_free(waits->matrix);
}

static void wait_for(struct waits *waits, uint32_t first, uint32_t second)
{
	waits->matrix[(size_t)first * waits->n_words + second / 64] |= UINT64_C(1) << second % 64;
}

/* Removes channels that wait for no remaining one; true if none is left. */
static bool is_acyclic(const struct waits *waits)
{
	g_autofree uint64_t *left = g_new0(uint64_t, waits->n_words);
	uint32_t n_left = waits->n, before;

	for (uint32_t i = 0; i < waits->n; i++)
		left[i / 64] |= UINT64_C(1) << i % 64;
	do {
		before = n_left;
		for (uint32_t i = waits->n; i-- > 0;) {
			const uint64_t *row = waits->matrix + (size_t)i * waits->n_words;
			bool blocked = false;

			if (!(left[i / 64] >> i % 64 & 1))
				continue;
			for (uint32_t w = 0; w < waits->n_words && !blocked; w++)
				blocked = row[w] & left[w];
			if (blocked)
				continue;
			left[i / 64] &= ~(UINT64_C(1) << i % 64);
			n_left--;
		}
	} while (n_left && n_left < before);
	return !n_left;
}

/* ---- packets ---- */

static uint8_t port_of(const struct proof_case *what, uint32_t sw, uint32_t lid)
{
	return lid < what->net->cap[sw] ? what->lft[sw][lid] : PROOF_DISCARD;
}

static uint8_t vl_of(const struct proof_case *what, uint32_t sw, uint8_t in, uint8_t out,
		     unsigned int sl)
{
	return what->lanes ? what->lanes->vl(what->lanes, sw, in, out, sl) : 0;
}

static uint16_t sls_of(const struct proof_case *what, uint32_t from, uint32_t to)
{
	return what->lanes ? what->lanes->sls(what->lanes, what->net, from, to) : 1;
}

/* Notes the channels that a packet entering at a switch holds and waits for. */
static void follow(const struct proof_case *what, struct waits *waits, uint32_t sw, uint32_t lid,
		   unsigned int sl)
{
	uint32_t last = PROOF_NONE;
	uint8_t in = 0;

	for (uint32_t hops = 0; hops <= what->net->n; hops++) {
		uint8_t out = port_of(what, sw, lid), vl;
		uint32_t at = sw * 256 + out, channel;

		if (waits->number[at] == PROOF_NONE)
			return;
		vl = vl_of(what, sw, in, out, sl);
		waits->used |= 1u << vl;
		channel = waits->number[at] + vl;
		if (last != PROOF_NONE)
			wait_for(waits, last, channel);
		last = channel;
		in = what->net->entrance[at];
		sw = what->net->across[at];
	}
}

enum fate { ARRIVED, DISCARDED, LOST, LOOPS };

static enum fate fate_of(const struct proof_case *what, uint32_t sw, uint32_t lid)
{
	const struct proof_net *net = what->net;

	for (uint32_t hops = 0; hops <= net->n; hops++) {
		uint8_t out = port_of(what, sw, lid);

		if (sw == net->home[lid] && out == net->exit[lid] && lid < net->cap[sw])
			return ARRIVED;
		if (net->across[sw * 256 + out] == PROOF_NONE)
			return out == PROOF_DISCARD && lid < net->cap[sw] ? DISCARDED : LOST;
		sw = net->across[sw * 256 + out];
	}
	return LOOPS;
}

bool proof_arrives(const struct proof_case *what, uint32_t sw, uint32_t lid)
{
	return fate_of(what, sw, lid) == ARRIVED;
}

/* [switch]: cables lead from there to the owner, through switches that can hold the LID. */
static void find_joined(const struct proof_net *net, uint32_t lid, bool *joined)
{
	bool more = true;

	memset(joined, 0, net->n);
	joined[net->home[lid]] = lid < net->cap[net->home[lid]];
	while (more) {
		more = false;
		for (uint32_t i = 0; i < net->n_cables; i++) {
			uint32_t sw = net->cables[i] / 256, to = net->across[net->cables[i]];

			if (joined[sw] || !joined[to] || lid >= net->cap[sw])
				continue;
			joined[sw] = more = true;
		}
	}
}

static void judge_lid(const struct proof_case *what, uint32_t lid, struct proof_verdict *verdict)
{
	const struct proof_net *net = what->net;
	g_autofree bool *joined = g_new(bool, net->n + 1);

	find_joined(net, lid, joined);
	for (uint32_t sw = 0; sw < net->n; sw++) {
		enum fate fate = fate_of(what, sw, lid);
		bool excused = what->excused && fate == DISCARDED && sw != net->sm &&
			       net->home[lid] != net->sm && !(net->hosts[sw] && net->of_host[lid]);

		if (fate == LOOPS)
			verdict->loop_free = verdict->complete = false;
		else if (fate != ARRIVED && joined[sw] && !excused)
			verdict->complete = false;
		if (what->lanes && net->hosts[sw] && joined[sw] && net->hosts[net->home[lid]] &&
		    !(what->idle && what->idle[sw * net->n + net->home[lid]]) &&
		    !what->lanes->has_path(what->lanes, sw, net->home[lid]))
			verdict->complete = false;
	}
}

static void follow_all(const struct proof_case *what, struct waits *waits, bool hosts_only)
{
	const struct proof_net *net = what->net;

	for (uint32_t lid = 1; lid < net->n_lids; lid++)
		for (uint32_t sw = 0; net->home[lid] != PROOF_NONE && sw < net->n; sw++) {
			uint16_t sls = sls_of(what, sw, net->home[lid]);

			if (hosts_only ? !net->of_host[lid] || !net->hosts[sw]
				       : !net->of_host[lid] && !net->hosts[sw] && sw != net->sm)
				continue;
			for (; sls; sls &= sls - 1)
				follow(what, waits, sw, lid, __builtin_ctz(sls));
		}
}

static bool have_lanes(const struct proof_net *net, uint16_t used)
{
	for (uint32_t i = 0; i < net->n_cables; i++)
		if (used >> net->vls[net->cables[i]])
			return false;
	return true;
}

/* A packet that came through a cable of the tree leaves through all others. */
static void add_tree(struct waits *waits, const struct proof_tree *tree)
{
	const struct proof_net *net = waits->net;

	for (uint32_t i = 0; i < net->n_cables; i++) {
		uint32_t at = net->cables[i], to = net->across[at] * 256;

		if (!tree->exits[at])
			continue;
		for (unsigned int out = 1; out < 256; out++)
			if (tree->exits[to + out] && waits->number[to + out] != PROOF_NONE &&
			    out != net->entrance[at])
				wait_for(waits, waits->number[at] + tree->vl,
					 waits->number[to + out] + tree->vl);
	}
}

struct proof_verdict proof_judge(const struct proof_case *what, const struct proof_tree *trees,
				 uint32_t n_trees)
{
	struct proof_verdict verdict = {.complete = true, .loop_free = true};
	struct waits waits;

	for (uint32_t lid = 1; lid < what->net->n_lids; lid++)
		if (what->net->home[lid] != PROOF_NONE)
			judge_lid(what, lid, &verdict);
	waits_init(&waits, what->net, what->lanes);
	follow_all(what, &waits, true);
	verdict.hosts_acyclic = is_acyclic(&waits);
	follow_all(what, &waits, false);
	verdict.acyclic = is_acyclic(&waits);
	if (what->lanes && !have_lanes(what->net, waits.used))
		verdict.complete = false;
	for (uint32_t i = 0; i < n_trees; i++)
		add_tree(&waits, &trees[i]);
	verdict.trees_acyclic = is_acyclic(&waits);
	waits_clear(&waits);
	return verdict;
}

/* ---- mixtures ---- */

struct mix {
	const struct proof_net *net;
	struct proof_case side[2];
	uint32_t lid;
	uint8_t *state; /* [switch] */
};

static uint32_t next(const struct mix *mix, unsigned int side, uint32_t sw)
{
	return mix->net->across[sw * 256 + port_of(&mix->side[side], sw, mix->lid)];
}

/* Depth first: 1 on the way, 2 done. True if a packet may return to a switch. */
static bool comes_round(const struct mix *mix, uint32_t sw)
{
	bool round = false;

	mix->state[sw] = 1;
	for (unsigned int side = 0; side < 2 && !round; side++) {
		uint32_t to = next(mix, side, sw);

		if (to != PROOF_NONE)
			round = mix->state[to] == 1 || (!mix->state[to] && comes_round(mix, to));
	}
	mix->state[sw] = 2;
	return round;
}

static bool may_loop(const struct mix *mix)
{
	bool loops = false;

	memset(mix->state, 0, mix->net->n);
	for (uint32_t sw = 0; sw < mix->net->n && !loops; sw++)
		loops = !mix->state[sw] && comes_round(mix, sw);
	return loops;
}

/* Whether a packet may end elsewhere than at its owner; state: 1 visited. */
static bool may_fail(const struct mix *mix, uint32_t sw)
{
	const struct proof_net *net = mix->net;

	mix->state[sw] = 1;
	for (unsigned int side = 0; side < 2; side++) {
		uint32_t to = next(mix, side, sw);

		if (to == PROOF_NONE &&
		    (sw != net->home[mix->lid] ||
		     port_of(&mix->side[side], sw, mix->lid) != net->exit[mix->lid]))
			return true;
		if (to != PROOF_NONE && !mix->state[to] && may_fail(mix, to))
			return true;
	}
	return false;
}

static bool loops_alone(const struct proof_case *what, uint32_t lid)
{
	bool loops = false;

	for (uint32_t sw = 0; sw < what->net->n; sw++)
		loops |= fate_of(what, sw, lid) == LOOPS;
	return loops;
}

/* Packets on an SL that enter at a switch, by either entry of each. state: their entry ports. */
static void mix_from(const struct mix *mix, struct waits *waits, bool *met, uint32_t sw, uint8_t in,
		     uint32_t last, unsigned int sl)
{
	for (unsigned int side = 0; side < 2; side++) {
		uint8_t out = port_of(&mix->side[side], sw, mix->lid);
		uint32_t at = sw * 256 + out, channel;

		if (waits->number[at] == PROOF_NONE)
			continue;
		channel = waits->number[at] + vl_of(&mix->side[0], sw, in, out, sl);
		if (last != PROOF_NONE)
			wait_for(waits, last, channel);
		if (met[channel])
			continue;
		met[channel] = true;
		mix_from(mix, waits, met, mix->net->across[at], mix->net->entrance[at], channel,
			 sl);
	}
}

static void mix_waits(const struct mix *mix, struct waits *waits)
{
	const struct proof_net *net = mix->net;
	g_autofree bool *met = g_new(bool, waits->n + 1);

	for (unsigned int sl = 0; sl < 16; sl++) {
		memset(met, 0, waits->n);
		for (uint32_t sw = 0; sw < net->n; sw++)
			if ((net->of_host[mix->lid] || net->hosts[sw] || sw == net->sm) &&
			    sls_of(&mix->side[0], sw, net->home[mix->lid]) >> sl & 1)
				mix_from(mix, waits, met, sw, 0, PROOF_NONE, sl);
	}
}

static bool drops(const struct mix *mix, const uint8_t *const *first, const uint8_t *const *last)
{
	struct proof_case begins = mix->side[0], ends = mix->side[0];

	begins.lft = first;
	ends.lft = last;
	for (uint32_t sw = 0; sw < mix->net->n; sw++) {
		if (fate_of(&begins, sw, mix->lid) != ARRIVED ||
		    fate_of(&ends, sw, mix->lid) != ARRIVED)
			continue;
		memset(mix->state, 0, mix->net->n);
		if (may_fail(mix, sw))
			return true;
	}
	return false;
}

struct proof_mixture proof_mix(const struct proof_case *before, const uint8_t *const *after,
			       const uint8_t *const *first, const uint8_t *const *last,
			       const bool *excepted)
{
	struct proof_mixture mixture = {0};
	struct mix mix = {.net = before->net, .side = {*before, *before}};
	struct waits waits;

	mix.side[1].lft = after;
	mix.state = g_new0(uint8_t, mix.net->n + 1);
	waits_init(&waits, mix.net, before->lanes);
	for (mix.lid = 1; mix.lid < mix.net->n_lids; mix.lid++) {
		bool owned = mix.net->home[mix.lid] != PROOF_NONE;

		if (owned)
			mix_waits(&mix, &waits);
		if (may_loop(&mix) && !loops_alone(&mix.side[0], mix.lid) &&
		    !loops_alone(&mix.side[1], mix.lid))
			mixture.loops++;
		else if (owned && !excepted[mix.lid])
			mixture.drops += drops(&mix, first, last);
	}
	mixture.acyclic = is_acyclic(&waits);
	waits_clear(&waits);
	g_free(mix.state);
	return mixture;
}

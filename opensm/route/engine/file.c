// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine file: forwarding tables made elsewhere, or hop counts that say which ports may be chosen.
 * Whatever the files leave open is filled as minhop does.
 *
 * Switches are found by their node GUID, destinations by port GUID if the file has it, so LIDs may
 * have changed since; the offset within the LIDs of a port (LMC) stays. Switches and ports that are
 * not in the subnet now are ignored: they may come back. So may cables: an entry for a port that
 * leads nowhere, or to another device's port, counts as open, and so do entries of other switches
 * that lead there and find no other path. A port that a switch does not have is an error, since the
 * file is then about another switch. All other faults, such as entries that loop, are left to the
 * verifier: this engine itself promises nothing.
 *
 * With hop counts, the ports with the fewest hops to a switch are used, and each LID there takes
 * the one of these that has the fewest LIDs so far. If none of them leads to a switch now, the
 * entry is open.
 *
 * Open entries are filled by minhop, the filler, as long as that works. But paths of the file may
 * differ: the filler may send a packet on to a switch that the file makes send it back. For LIDs
 * where this happens, distances follow the entries of the file: a switch with an entry is one hop
 * farther than the switch to which the entry leads, and one without takes the nearest of its
 * neighbours. So every entry leads nearer, and there is no loop.
 *
 * Where a cable is gone, or a host has moved, forwarding the packets that arrive there would be a
 * detour, in a tree one that goes down and up again, which can close a credit loop. So entries that
 * lead there are overruled: those from which packets arrive by the file alone stay, all others of
 * the LID are those of the filler. There is no loop: a packet is on a path of the filler until it
 * reaches a switch from which it arrives by the file.
 */
#include <inttypes.h>
#include <string.h>

#include "route/fill/shortest.h"
#include "route/graph/graph.h"

/* Counts that are reported to the operator unless 0. */
enum count {
	OPEN_SWITCHES, /* in the subnet, but not in lfts */
	OPEN_LIDS,
	DEAD_ENTRIES, /* in lfts */
	DEAD_ROWS,    /* in hops */
	OVERRULED,
	AROUND,
	GONE_SWITCHES, /* in a file, but not in the subnet */
	GONE_LIDS,
	COUNTS
};

static const char *const told[COUNTS] = {
	[OPEN_SWITCHES] = "switches that are missing in it and are filled by minhop",
	[OPEN_LIDS] = "entries that are missing in it and are filled by minhop",
	[DEAD_ENTRIES] = "entries for ports that lead nowhere or to another host, filled by minhop",
	[DEAD_ROWS] = "rows of hops without a usable port, filled by minhop",
	[OVERRULED] = "entries overruled, as they led to such entries",
	[AROUND] = "entries filled to agree with those of the file, not by minhop",
	[GONE_SWITCHES] = "switches that are not in the subnet",
	[GONE_LIDS] = "entries for LIDs or ports that are not in the subnet",
};

enum state { UNKNOWN, ON_THE_WAY, ARRIVES, FAILS };

struct load {
	const struct fabric *fabric;
	const struct route_input *input;
	struct route_graph *graph;
	struct routing *said;	/* entries of the files */
	struct routing *filler; /* entries of minhop */
	struct routing *routing;
	bool dead[FABRIC_LIDS]; /* some entry of the LID leads nowhere */
	uint32_t known;		/* switches in a file and in the subnet */
	uint32_t switches, entries; /* taken from lfts */
	uint32_t rows;		    /* taken from hops */
	uint64_t count[COUNTS];
	uint8_t *state;	 /* [switch]: enum state of a packet sent from there */
	uint32_t *level; /* [switch]: hops, by the file */
	uint32_t *queue; /* switches */
	uint32_t *used;	 /* [link]: LIDs that were moved to it to fit the file */
};

/* The switch that an entry leads to; FABRIC_NONE if it leads to none. */
static uint32_t next_switch(const struct fabric *fabric, uint32_t sw, uint8_t port)
{
	if (!port || port > fabric->nodes[fabric->switches[sw].node].num_ports)
		return FABRIC_NONE;
	return route_switch_across(fabric, fabric_switch_port(fabric, sw, port));
}

/* False and error if a switch does not have this port. */
static bool has_port(const struct load *load, uint32_t sw, unsigned int port, const char *what,
		     const char *file, uint32_t line, GError **error)
{
	const struct fabric_node *node = &load->fabric->nodes[load->fabric->switches[sw].node];

	if (port <= node->num_ports)
		return true;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
		    "%s:%u: %s %u, but switch 0x%016" PRIx64 " has ports 0 to %u", file, line, what,
		    port, node->guid, node->num_ports);
	return false;
}

/* The present LID; 0 if its owner is not in the subnet. */
static uint16_t lid_now(const struct fabric *fabric, uint64_t guid, uint16_t lid)
{
	uint32_t port = guid ? fabric_port_by_guid(fabric, guid) : fabric_port_by_lid(fabric, lid);

	if (port == FABRIC_NONE || !fabric->ports[port].lid)
		return 0;
	if (!guid)
		return lid;
	return fabric->ports[port].lid + (lid & ((1u << fabric->ports[port].lmc) - 1));
}

/* The switch that rows of a file describe, if it is in the subnet. */
static uint32_t find_switch(struct load *load, uint64_t guid)
{
	uint32_t sw = route_switch_by_guid(load->fabric, guid);

	load->count[GONE_SWITCHES] += sw == FABRIC_NONE;
	load->known += sw != FABRIC_NONE;
	return sw;
}

/* ---- hop counts ---- */

/* Lists the ports with the fewest hops that lead to a switch now; returns their number. */
static unsigned int best_ports(const struct load *load, const struct route_hops_row *row,
			       uint32_t sw, uint8_t ports[256])
{
	const uint8_t *hops = load->input->hops.hops + row->first;
	uint8_t best = ROUTE_FAR;
	unsigned int n = 0;

	for (unsigned int num = 1; num < row->n; num++)
		best = MIN(best, hops[num]);
	for (unsigned int num = 1; num < row->n && best != ROUTE_FAR; num++)
		if (hops[num] == best && next_switch(load->fabric, sw, num) != FABRIC_NONE)
			ports[n++] = num;
	return n;
}

static void choose(struct load *load, uint32_t sw, uint16_t lid, const uint8_t *ports,
		   unsigned int n, uint32_t used[256])
{
	uint8_t best = ports[0];

	if (!n) {
		load->dead[lid] = true;
		return;
	}
	for (unsigned int i = 1; i < n; i++)
		if (used[ports[i]] < used[best])
			best = ports[i];
	used[best]++;
	load->said->lft[sw][lid] = best;
}

static void apply_row(struct load *load, const struct route_hops_row *row, uint32_t sw,
		      uint32_t used[256])
{
	const struct fabric *fabric = load->fabric;
	const struct route_graph *graph = load->graph;
	uint16_t lid = lid_now(fabric, row->guid, row->lid);
	uint32_t to = lid ? fabric->nodes[fabric->ports[fabric->lid_port[lid]].node].sw
			  : FABRIC_NONE;
	unsigned int n;
	uint8_t ports[256];

	load->count[GONE_LIDS] += to == FABRIC_NONE;
	if (to == FABRIC_NONE || to == sw)
		return;
	n = best_ports(load, row, sw, ports);
	load->count[DEAD_ROWS] += !n;
	load->rows += n != 0;
	for (uint32_t t = graph->first_target[to]; t < graph->first_target[to + 1]; t++)
		choose(load, sw, graph->targets[t].lid, ports, n, used);
	for (unsigned int i = 0; i < route_n_own(graph, to); i++)
		choose(load, sw, graph->own_lid[to] + i, ports, n, used);
}

static bool apply_hops(struct load *load, GError **error)
{
	const struct route_hops_rows *hops = &load->input->hops;
	uint32_t used[256], sw = FABRIC_NONE;

	for (uint32_t i = 0; i < hops->n; i++) {
		const struct route_hops_row *row = &hops->rows[i];

		if (!row->n) { /* starts the rows of another switch */
			memset(used, 0, sizeof(used));
			sw = find_switch(load, row->sw);
		} else if (sw != FABRIC_NONE) {
			if (!has_port(load, sw, row->n - 1u, "hops by ports up to", hops->file,
				      row->line, error))
				return false;
			apply_row(load, row, sw, used);
		}
	}
	return true;
}

/* ---- forwarding tables ---- */

/* Whether a packet sent by this port reaches a switch, or the port with the LID. */
static bool leads_on(const struct fabric *fabric, uint32_t sw, uint8_t port, uint16_t lid)
{
	uint32_t there = fabric_switch_port(fabric, sw, port);
	uint32_t next = next_switch(fabric, sw, port);

	if (port)
		there = fabric->ports[there].peer;
	return there == fabric_port_by_lid(fabric, lid) || (next != FABRIC_NONE && next != sw);
}

static void apply_entry(struct load *load, uint32_t sw, uint16_t lid, uint8_t port)
{
	if (leads_on(load->fabric, sw, port, lid)) {
		load->said->lft[sw][lid] = port;
		load->entries++;
	} else {
		load->dead[lid] = true;
		load->count[DEAD_ENTRIES]++;
	}
}

/* The entries of one switch. */
static bool apply_lft(struct load *load, const struct route_lft *lft, uint32_t sw, GError **error)
{
	const struct route_lfts *lfts = &load->input->lfts;
	g_autofree bool *seen = g_new0(bool, FABRIC_LIDS);

	for (uint32_t i = lft->first; i < lft->first + lft->n; i++) {
		const struct route_lft_entry *entry = &lfts->entries[i];
		uint16_t lid = lid_now(load->fabric, entry->guid, entry->lid);

		if (!has_port(load, sw, entry->port, "port", lfts->file, entry->line, error))
			return false;
		load->count[GONE_LIDS] += !lid;
		if (lid && !seen[lid])
			apply_entry(load, sw, lid, entry->port);
		seen[lid] = true;
	}
	for (uint32_t lid = 1; lid <= load->fabric->max_lid; lid++)
		load->count[OPEN_LIDS] += !seen[lid] && load->fabric->lid_port[lid] != FABRIC_NONE;
	return true;
}

static bool apply_lfts(struct load *load, GError **error)
{
	const struct route_lfts *lfts = &load->input->lfts;

	for (uint32_t i = 0; i < lfts->n; i++) {
		uint32_t sw = find_switch(load, lfts->lfts[i].guid);

		if (sw == FABRIC_NONE)
			continue;
		if (!apply_lft(load, &lfts->lfts[i], sw, error))
			return false;
		load->switches++;
	}
	load->count[OPEN_SWITCHES] = load->fabric->n_switches - load->switches;
	return true;
}

/* ---- open entries ---- */

static bool is_said(const struct load *load, uint32_t sw, uint16_t lid)
{
	return load->said->lft[sw][lid] != ROUTE_NO_PORT;
}

/* Whether some switches have an entry for the LID from the file, and others have none. */
static bool is_mixed(const struct load *load, uint16_t lid)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < load->graph->n; sw++)
		n += is_said(load, sw, lid);
	return n && n < load->graph->n;
}

/* The next switch of a LID. */
static uint32_t next_of(const struct load *load, uint32_t sw, uint16_t lid)
{
	return next_switch(load->fabric, sw, load->routing->lft[sw][lid]);
}

/* Follows the entries from a switch to one at which the fate of the packet is known. */
static enum state follow(struct load *load, uint32_t sw, uint16_t lid)
{
	enum state end;
	uint32_t n = 0;

	while (sw != FABRIC_NONE && load->state[sw] == UNKNOWN) {
		load->state[sw] = ON_THE_WAY;
		load->queue[n++] = sw;
		sw = next_of(load, sw, lid);
	}
	end = sw != FABRIC_NONE && load->state[sw] == ARRIVES ? ARRIVES : FAILS;
	while (n)
		load->state[load->queue[--n]] = end;
	return end;
}

/* Finds for each switch whether packets arrive; if by_file, by entries of the file alone. */
static bool all_arrive(struct load *load, uint32_t leaf, uint16_t lid, bool by_file)
{
	bool good = true;

	memset(load->state, UNKNOWN, load->graph->n);
	for (uint32_t sw = 0; by_file && sw < load->graph->n; sw++)
		if (!is_said(load, sw, lid))
			load->state[sw] = FAILS;
	load->state[leaf] = ARRIVES;
	for (uint32_t sw = 0; sw < load->graph->n; sw++)
		if (load->state[sw] == UNKNOWN)
			good = follow(load, sw, lid) == ARRIVES && good;
	return good;
}

/* Hops to the leaf, following entries of the file where there are any. */
static void find_levels(struct load *load, uint32_t leaf, uint16_t lid)
{
	const struct route_graph *graph = load->graph;
	uint32_t n = 0;

	memset(load->level, 0xFF, graph->n * sizeof(*load->level));
	load->level[leaf] = 0;
	load->queue[n++] = leaf;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = load->queue[i];

		route_each_edge(graph, to, edge) {
			uint32_t sw = edge->to;

			if (load->level[sw] != FABRIC_NONE ||
			    (is_said(load, sw, lid) && next_of(load, sw, lid) != to))
				continue;
			load->level[sw] = load->level[to] + 1;
			load->queue[n++] = sw;
		}
	}
}

/* Sets an open entry to the nearest neighbour, by the least used cable. */
static void lead_nearer(struct load *load, uint32_t sw, uint16_t lid)
{
	const struct route_graph *graph = load->graph;
	uint32_t next = next_of(load, sw, lid), best = FABRIC_NONE;

	if (next != FABRIC_NONE && load->level[next] + 1 == load->level[sw])
		return;
	route_each_edge(graph, sw, edge) {
		if (load->level[edge->to] + 1 != load->level[sw])
			continue;
		for (uint32_t k = edge->first_link; k < edge->first_link + edge->n_links; k++)
			if (best == FABRIC_NONE || load->used[k] < load->used[best])
				best = k;
	}
	load->used[best]++;
	load->routing->lft[sw][lid] = graph->links[best];
	load->count[AROUND]++;
}

/* Uses the filler's entries for packets that do not arrive by the file alone. */
static void overrule(struct load *load, uint32_t leaf, uint16_t lid)
{
	load->routing->lft[leaf][lid] = load->filler->lft[leaf][lid];
	all_arrive(load, leaf, lid, true);
	for (uint32_t sw = 0; sw < load->graph->n; sw++) {
		uint8_t port = load->filler->lft[sw][lid];

		if (load->state[sw] == ARRIVES || load->routing->lft[sw][lid] == port)
			continue;
		load->routing->lft[sw][lid] = port;
		load->count[OVERRULED]++;
	}
}

static void fill_lid(struct load *load, uint32_t leaf, uint16_t lid)
{
	if (load->dead[lid]) {
		overrule(load, leaf, lid);
		return;
	}
	if (all_arrive(load, leaf, lid, false))
		return;
	find_levels(load, leaf, lid);
	for (uint32_t sw = 0; sw < load->graph->n; sw++)
		if (sw != leaf && load->level[sw] != FABRIC_NONE && !is_said(load, sw, lid))
			lead_nearer(load, sw, lid);
}

/*
 * Uses entries of the files, else of the filler; but open entries change if some switch would not
 * reach a LID that it can reach. Entries of the files that loop among themselves stay wrong.
 */
static void fill_gaps(struct load *load)
{
	uint8_t exit;

	for (uint32_t sw = 0; sw < load->graph->n; sw++)
		for (uint32_t lid = 0; lid <= load->said->top; lid++)
			load->routing->lft[sw][lid] = is_said(load, sw, lid)
							      ? load->said->lft[sw][lid]
							      : load->filler->lft[sw][lid];
	for (uint32_t lid = 1; lid <= load->said->top; lid++) {
		uint32_t leaf = route_leaf_of(load->fabric, lid, &exit);

		if (leaf != FABRIC_NONE && is_mixed(load, lid))
			fill_lid(load, leaf, lid);
	}
}

/* ---- the engine ---- */

static char *make_note(const struct load *load)
{
	const struct route_input *input = load->input;
	GString *text = g_string_new(NULL);

	if (input->lfts.file)
		g_string_append_printf(text, "%s: %u entries of %u switches", input->lfts.file,
				       load->entries, load->switches);
	if (input->hops.file)
		g_string_append_printf(text, "%s%s: %u rows of hops", text->len ? "; " : "",
				       input->hops.file, load->rows);
	for (enum count i = 0; i < COUNTS; i++)
		if (load->count[i])
			g_string_append_printf(text, ", %" PRIu64 " %s", load->count[i], told[i]);
	if (load->filler->note)
		g_string_append_printf(text, "; %s", load->filler->note);
	return g_string_free(text, FALSE);
}

static bool apply(struct load *load, GError **error)
{
	const struct route_input *input = load->input;

	if (input->hops.file && !apply_hops(load, error))
		return false;
	if (input->lfts.file && !apply_lfts(load, error))
		return false;
	if (load->known || !load->fabric->n_switches)
		return true;
	/* files of another subnet: the routes would only seem to follow them */
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
		    "%s: none of its switches is in the subnet",
		    input->lfts.file ? input->lfts.file : input->hops.file);
	return false;
}

static void fill(struct load *load)
{
	struct route_verdict verdict;

	fill_gaps(load);
	route_verify_by(load->fabric, load->routing, load->input, &verdict);
	load->routing->max_hops = verdict.max_hops;
	route_verdict_clear(&verdict);
	load->routing->note = make_note(load);
}

static struct load *load_new(const struct route_engine *engine, const struct fabric *fabric,
			     const struct route_input *input, struct routing *filler)
{
	struct load *load = g_new0(struct load, 1);
	uint32_t n = fabric->n_switches;

	load->fabric = fabric;
	load->input = input;
	load->graph = route_graph_new(fabric);
	load->said = routing_new(fabric, engine, engine->promises);
	load->filler = filler;
	load->routing = routing_new(fabric, engine, engine->promises);
	load->state = g_malloc(n + 1);
	load->level = g_new(uint32_t, n + 1);
	load->queue = g_new(uint32_t, n + 1);
	load->used = g_new0(uint32_t, load->graph->n_links + 1);
	return load;
}

static void load_free(struct load *load)
{
	route_graph_free(load->graph);
	routing_unref(load->said);
	routing_unref(load->filler);
	routing_unref(load->routing);
	g_free(load->state);
	g_free(load->level);
	g_free(load->queue);
	g_free(load->used);
	g_free(load);
}

static struct routing *file_compute(const struct route_engine *engine, const struct fabric *fabric,
				    const struct route_input *input, GError **error)
{
	struct routing *filler, *routing = NULL;
	struct load *load;

	if (!input->lfts.file && !input->hops.file) {
		g_set_error_literal(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
				    "neither lfts_file nor lid_matrix_dump_file is set");
		return NULL;
	}
	filler = route_by_hops(&route_engine_minhop, fabric, input, NULL, error);
	if (!filler)
		return NULL;
	load = load_new(engine, fabric, input, filler);
	if (apply(load, error)) {
		fill(load);
		routing = g_steal_pointer(&load->routing);
	}
	load_free(load);
	return routing;
}

const struct route_engine route_engine_file = {
	.name = "file",
	.summary = "forwarding tables or hop counts from files, gaps filled as by minhop",
	.compute = file_compute,
	.need = { .in_trees = 3, .elsewhere = 3 },
};

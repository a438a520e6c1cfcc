// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine file: forwarding tables that somebody else made, or hop counts that say which ports may be
 * chosen. Whatever the files leave open is as minhop has it; or as updn has it, if the files no
 * longer fit to the fabric, the fill of minhop has a credit loop, and that of updn has none: then
 * the result promises so, and may leave out what updn leaves out to that end. All LIDs of switches
 * are by updn then, as its detours to them go together with each other, but not with others.
 *
 * Switches are found by their node GUID, destinations by port GUID where the file has it, so LIDs
 * may have moved since; the offset within the LIDs of a port (LMC) stays. Switches and ports that
 * are not in the subnet now are passed over: they may come back. So may cables: an entry for a port
 * that leads nowhere, or to somebody else's port, counts as open (file_fill.c makes all that are
 * open fit), and so do those of other switches that lead there and find no other way. A port that
 * a switch does not have is an error, since the file is then about another switch. All else, as
 * entries that loop, is for the verifier: of itself this engine promises nothing.
 *
 * Of hop counts the ports with the fewest hops to a switch count, and each LID there takes of these
 * the one that has the fewest LIDs so far. If none of them leads to a switch now the entry is open.
 */
#include <inttypes.h>
#include <string.h>

#include "route/file_fill.h"
#include "route/shortest.h"

struct load {
	const struct fabric *fabric;
	const struct route_input *input;
	struct routing *routing;
	const struct routing *filler;
	bool hosts_only; /* LIDs of switches are by the filler */
	bool right, acyclic; /* the result */
	struct route_fixed fixed;
	bool dead[FABRIC_LIDS]; /* some entry of the LID leads nowhere */
	uint32_t switches, entries;	   /* taken from lfts */
	uint32_t rows;			   /* taken from hops */
	uint32_t known;			   /* switches in a file and in the subnet */
	uint32_t gone_switches, gone_lids; /* in a file, but not in the subnet */
	uint32_t no_port;		   /* rows of hops without a port that can be used */
	uint32_t open_switches, open_lids; /* in the subnet, but not in lfts */
	uint32_t dead_entries;		   /* of lfts, that lead nowhere */
	uint32_t left_out;		   /* of lfts, for LIDs of switches */
	struct route_fill_tally tally;
};

static uint8_t ports_of(const struct fabric *fabric, uint32_t sw)
{
	return fabric->nodes[fabric->switches[sw].node].num_ports;
}

/* The LID of today; 0 if its owner is not there. */
static uint16_t lid_now(const struct fabric *fabric, uint64_t guid, uint16_t lid)
{
	uint32_t port = guid ? fabric_port_by_guid(fabric, guid) : fabric_port_by_lid(fabric, lid);

	if (port == FABRIC_NONE || !fabric->ports[port].lid)
		return 0;
	if (!guid)
		return lid;
	return fabric->ports[port].lid + (lid & ((1u << fabric->ports[port].lmc) - 1));
}

/* ---- hop counts ---- */

/* Lists the ports with the fewest hops that lead to a switch now; returns how many. */
static unsigned int best_ports(const struct load *load, const struct route_hops_row *row,
			       uint32_t sw, uint8_t ports[256])
{
	const uint8_t *hops = load->input->hops.hops + row->first;
	uint8_t best = ROUTE_FAR;
	unsigned int n = 0;

	for (unsigned int num = 1; num < row->n; num++)
		best = MIN(best, hops[num]);
	for (unsigned int num = 1; num < row->n && best != ROUTE_FAR; num++)
		if (hops[num] == best && route_next_switch(load->fabric, sw, num) != FABRIC_NONE)
			ports[n++] = num;
	return n;
}

static bool is_for_filler(const struct load *load, uint16_t lid)
{
	const struct fabric *fabric = load->fabric;

	return load->hosts_only &&
	       fabric_is_switch(fabric, fabric->ports[fabric_port_by_lid(fabric, lid)].node);
}

static void choose(struct load *load, uint32_t sw, uint16_t lid, const uint8_t *ports,
		   unsigned int n, uint32_t used[256])
{
	uint8_t best = ports[0];

	if (is_for_filler(load, lid))
		return;
	if (!n) {
		load->dead[lid] = true;
		return;
	}
	for (unsigned int i = 1; i < n; i++)
		if (used[ports[i]] < used[best])
			best = ports[i];
	used[best]++;
	load->routing->lft[sw][lid] = best;
	route_fix(&load->fixed, sw, lid);
}

/* False and error if the row has more ports than the switch. */
static bool apply_row(struct load *load, const struct route_graph *graph,
		      const struct route_hops_row *row, uint32_t sw, uint32_t used[256],
		      GError **error)
{
	const struct fabric *fabric = load->fabric;
	uint16_t lid = lid_now(fabric, row->guid, row->lid);
	uint32_t to = FABRIC_NONE;
	unsigned int n;
	uint8_t ports[256];

	if (row->n > ports_of(fabric, sw) + 1u) {
		g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
			    "%s:%u: hops by ports up to %u, but switch 0x%016" PRIx64
			    " has ports 0 to %u",
			    load->input->hops.file, row->line, row->n - 1u, row->sw,
			    ports_of(fabric, sw));
		return false;
	}
	if (lid)
		to = fabric->nodes[fabric->ports[fabric->lid_port[lid]].node].sw;
	load->gone_lids += to == FABRIC_NONE;
	if (to == FABRIC_NONE || to == sw)
		return true;
	n = best_ports(load, row, sw, ports);
	load->no_port += !n;
	load->rows += n != 0;
	for (uint32_t t = graph->first_target[to]; t < graph->first_target[to + 1]; t++)
		choose(load, sw, graph->targets[t].lid, ports, n, used);
	for (unsigned int i = 0; i < route_n_own(graph, to); i++)
		choose(load, sw, graph->own_lid[to] + i, ports, n, used);
	return true;
}

static bool apply_hops(struct load *load, GError **error)
{
	const struct route_hops_rows *hops = &load->input->hops;
	struct route_graph *graph = route_graph_new(load->fabric);
	uint32_t used[256], sw = FABRIC_NONE;
	bool good = true;

	for (uint32_t i = 0; i < hops->n && good; i++) {
		const struct route_hops_row *row = &hops->rows[i];

		if (!row->n) { /* begins the rows of another switch */
			memset(used, 0, sizeof(used));
			sw = route_switch_by_guid(load->fabric, row->sw);
			load->gone_switches += sw == FABRIC_NONE;
			load->known += sw != FABRIC_NONE;
		} else if (sw != FABRIC_NONE) {
			good = apply_row(load, graph, row, sw, used, error);
		}
	}
	route_graph_free(graph);
	return good;
}

/* ---- forwarding tables ---- */

static uint32_t count_lids(const struct fabric *fabric)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= fabric->max_lid; lid++)
		n += fabric->lid_port[lid] != FABRIC_NONE;
	return n;
}

/* Whether a packet that is sent so meets a switch, or the port that it is for. */
static bool leads_on(const struct fabric *fabric, uint32_t sw, uint8_t port, uint16_t lid)
{
	uint32_t own = fabric_port_by_lid(fabric, lid);
	uint32_t there = fabric_switch_port(fabric, sw, port);
	uint32_t next = route_next_switch(fabric, sw, port);

	if (port)
		there = fabric->ports[there].peer;
	return there == own || (next != FABRIC_NONE && next != sw);
}

static void apply_entry(struct load *load, uint32_t sw, uint16_t lid, uint8_t port)
{
	if (is_for_filler(load, lid)) {
		load->left_out++;
	} else if (leads_on(load->fabric, sw, port, lid)) {
		load->routing->lft[sw][lid] = port;
		route_fix(&load->fixed, sw, lid);
		load->entries++;
	} else {
		load->dead[lid] = true;
		load->dead_entries++;
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

		if (entry->port > ports_of(load->fabric, sw)) {
			g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
				    "%s:%u: port %u, but switch 0x%016" PRIx64 " has ports 0 to %u",
				    lfts->file, entry->line, entry->port, lft->guid,
				    ports_of(load->fabric, sw));
			return false;
		}
		load->gone_lids += !lid;
		if (!lid || seen[lid])
			continue;
		seen[lid] = true;
		apply_entry(load, sw, lid, entry->port);
		load->open_lids--;
	}
	return true;
}

static bool apply_lfts(struct load *load, GError **error)
{
	const struct route_lfts *lfts = &load->input->lfts;
	uint32_t n_lids = count_lids(load->fabric);

	for (uint32_t i = 0; i < lfts->n; i++) {
		uint32_t sw = route_switch_by_guid(load->fabric, lfts->lfts[i].guid);

		load->gone_switches += sw == FABRIC_NONE;
		if (sw == FABRIC_NONE)
			continue;
		load->open_lids += n_lids;
		if (!apply_lft(load, &lfts->lfts[i], sw, error))
			return false;
		load->switches++;
		load->known++;
	}
	load->open_switches = load->fabric->n_switches - load->switches;
	return true;
}

/* ---- the engine ---- */

static void add_note(GString *text, uint64_t n, const char *what, const char *by)
{
	if (n)
		g_string_append_printf(text, ", %" PRIu64 " %s%s", n, what, by);
}

static char *make_note(const struct load *load)
{
	const struct route_input *input = load->input;
	const char *filler = load->filler->engine;
	GString *text = g_string_new(NULL);

	if (input->lfts.file)
		g_string_append_printf(text, "%s: %u entries of %u switches", input->lfts.file,
				       load->entries, load->switches);
	if (input->hops.file)
		g_string_append_printf(text, "%s%s: %u rows of hops", text->len ? "; " : "",
				       input->hops.file, load->rows);
	add_note(text, load->open_switches, "switches that are not in it and are filled by ",
		 filler);
	add_note(text, load->open_lids, "entries that it lacks and are filled by ", filler);
	add_note(text, load->dead_entries,
		 "entries for ports that lead nowhere or to another host, filled by ", filler);
	add_note(text, load->no_port, "rows of hops without a usable port, filled by ", filler);
	add_note(text, load->tally.overruled, "entries overruled, as they led to such ones", "");
	add_note(text, load->left_out,
		 "entries for LIDs of switches left out, which else closed a credit loop; by ",
		 filler);
	add_note(text, load->tally.around,
		 "entries filled so that they go along with those of the file, not by ", filler);
	add_note(text, load->gone_switches, "switches that are not in the subnet", "");
	add_note(text, load->gone_lids, "entries for LIDs or ports that are not in the subnet",
		 "");
	if (load->filler->note)
		g_string_append_printf(text, "; %s", load->filler->note);
	return g_string_free(text, FALSE);
}

/* Files of another subnet: routes that have nothing of them would only look like theirs. */
static bool is_of_another(const struct load *load, GError **error)
{
	const struct route_input *input = load->input;

	if (load->known || !load->fabric->n_switches)
		return false;
	g_set_error(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
		    "%s: none of its switches is in the subnet",
		    input->lfts.file ? input->lfts.file : input->hops.file);
	return true;
}

static bool apply(struct load *load, GError **error)
{
	struct routing *routing = load->routing;
	struct route_verdict verdict;

	for (uint32_t sw = 0; sw < routing->n_switches; sw++)
		memcpy(routing->lft[sw], load->filler->lft[sw], routing->top + 1u);
	if (load->input->hops.file && !apply_hops(load, error))
		return false;
	if (load->input->lfts.file && !apply_lfts(load, error))
		return false;
	if (is_of_another(load, error))
		return false;
	load->tally = route_file_fill(load->fabric, &load->fixed, load->dead, load->filler,
				      routing);
	load->right = route_verify_by(load->fabric, routing, load->input, &verdict);
	load->acyclic = verdict.acyclic;
	routing->max_hops = verdict.max_hops;
	route_verdict_clear(&verdict);
	routing->note = make_note(load);
	return true;
}

/* How a fill turned out. */
struct outcome {
	bool dead; /* some entries of the files are */
	bool good; /* right, and without a credit loop */
};

static struct routing *fill_by(const struct routing *filler, bool hosts_only,
			       const struct fabric *fabric, const struct route_input *input,
			       struct outcome *outcome, GError **error)
{
	struct load *load = g_new0(struct load, 1);
	struct routing *routing = routing_new(fabric, route_engine_file.name,
					      hosts_only ? filler->promises
							 : route_engine_file.promises);

	load->fabric = fabric;
	load->input = input;
	load->routing = routing;
	load->filler = filler;
	load->hosts_only = hosts_only;
	route_fixed_init(&load->fixed, routing);
	if (!apply(load, error))
		g_clear_pointer(&routing, routing_unref);
	outcome->dead = load->dead_entries || load->no_port;
	outcome->good = load->right && load->acyclic;
	route_fixed_clear(&load->fixed);
	g_free(load);
	return routing;
}

static struct routing *file_compute(const struct fabric *fabric, const struct route_input *input,
				    GError **error)
{
	struct routing *minhop, *updn, *routing, *other = NULL;
	struct outcome outcome;

	if (!input->lfts.file && !input->hops.file) {
		g_set_error_literal(error, ROUTE_ERROR, ROUTE_ERROR_INPUT,
				    "neither lfts_file nor lid_matrix_dump_file is set");
		return NULL;
	}
	minhop = route_engine_minhop.compute(fabric, input, error);
	if (!minhop)
		return NULL;
	routing = fill_by(minhop, false, fabric, input, &outcome, error);
	updn = routing && outcome.dead && !outcome.good
		       ? route_engine_updn.compute(fabric, input, NULL)
		       : NULL;
	if (updn)
		other = fill_by(updn, true, fabric, input, &outcome, NULL);
	if (other && outcome.good) {
		routing_unref(routing);
		routing = g_steal_pointer(&other);
	}
	routing_unref(other);
	routing_unref(updn);
	routing_unref(minhop);
	return routing;
}

const struct route_engine route_engine_file = {
	.name = "file",
	.summary = "forwarding tables or hop counts from files, gaps filled as by minhop",
	.compute = file_compute,
};

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "perf/read/report.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

#include "iba/constants.h"

enum kind { KIND_SILENT, KIND_REFUSED, KIND_CLEARED_ERRORS, KIND_CLEARED_DATA, KIND_GREW };

struct line {
	double badness;
	uint64_t amount;
	uint32_t row;
	uint8_t kind, counter;
};

struct report {
	struct log *log;
	const struct options *options;
	const struct perf_images *before; /* NULL: there are none */
	const struct perf_image *old, *new;
	uint32_t *old_row;  /* by row of new; PERF_NONE: it is not in old */
	GArray *lines;	    /* of struct line: at least the worst perfmgr_log_lines of them */
	uint64_t n;	    /* of all lines */
	uint32_t recovered; /* agents that answer again */
};

/* Growth by this much in a sweep is about as bad for each counter. */
static const double as_bad[PERF_COUNTERS] = {
	[PERF_SYMBOL_ERRORS] = 200,
	[PERF_LINK_ERROR_RECOVERIES] = 1,
	[PERF_LINK_DOWNED] = 1,
	[PERF_RCV_ERRORS] = 5,
	[PERF_RCV_REMOTE_PHYSICAL_ERRORS] = 5,
	[PERF_RCV_SWITCH_RELAY_ERRORS] = 9999,
	[PERF_XMIT_DISCARDS] = 200,
	[PERF_XMIT_CONSTRAINT_ERRORS] = 200,
	[PERF_RCV_CONSTRAINT_ERRORS] = 200,
	[PERF_LINK_INTEGRITY_ERRORS] = 1,
	[PERF_BUFFER_OVERRUN_ERRORS] = 1,
	[PERF_VL15_DROPPED] = 50,
	[PERF_XMIT_WAIT] = 65535,
};

/* ---- the worst lines ---- */

/* Of equally bad ones, the first by row and counter. */
static gint compare_lines(gconstpointer a, gconstpointer b)
{
	const struct line *x = a, *y = b;

	if (x->badness != y->badness)
		return x->badness > y->badness ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (int)x->counter - (int)y->counter;
}

static void keep_worst(struct report *report)
{
	g_array_sort(report->lines, compare_lines);
	if (report->lines->len > report->options->perfmgr_log_lines)
		g_array_set_size(report->lines, report->options->perfmgr_log_lines);
}

static void add(struct report *report, const struct line *line)
{
	report->n++;
	g_array_append_vals(report->lines, line, 1);
	if (report->lines->len >= 2 * report->options->perfmgr_log_lines + 64)
		keep_worst(report);
}

/* ---- which row was which ---- */

/* Nodes are in the order of their GUIDs in both layouts. */
static void match_rows(struct report *report)
{
	const struct perf_layout *old = report->old->layout, *new = report->new->layout;
	uint32_t at = 0;

	for (uint32_t i = 0; i < new->n_nodes; i++) {
		const struct perf_node *node = &new->nodes[i], *was;

		while (at < old->n_nodes && old->nodes[at].guid < node->guid)
			at++;
		if (at == old->n_nodes || old->nodes[at].guid != node->guid)
			continue;
		was = &old->nodes[at];
		for (unsigned int port = MAX(node->first_port, was->first_port);
		     port <= MIN(node->num_ports, was->num_ports); port++)
			report->old_row[node->first_row + port - node->first_port] =
				was->first_row + port - was->first_port;
	}
}

static void find_old_rows(struct report *report)
{
	uint32_t n = report->new->layout->n_rows;

	report->old_row = g_new(uint32_t, n + 1);
	memset(report->old_row, 0xFF, n * sizeof(*report->old_row));
	if (report->old && report->old->layout == report->new->layout)
		for (uint32_t row = 0; row < n; row++)
			report->old_row[row] = row;
	else if (report->old)
		match_rows(report);
}

/* ---- counters ---- */

/* Whether both images have a reading to compare. */
static bool is_comparable(const struct report *report, uint32_t row)
{
	uint16_t flags = report->new->flags[row];
	uint32_t was = report->old_row[row];

	return flags & PERF_READ && !(flags & PERF_BASELINE) && was != PERF_NONE &&
	       report->old->flags[was] & PERF_EVER;
}

/* Totals that the operator has set to 0 count from there. */
static uint64_t growth(const struct report *report, int counter, uint32_t row)
{
	uint64_t was = report->old->total[counter][report->old_row[row]];
	uint64_t now = report->new->total[counter][row];

	return now < was ? now : now - was;
}

static void find_growth(struct report *report, int counter, uint64_t least)
{
	for (uint32_t row = 0; row < report->new->layout->n_rows; row++) {
		uint64_t amount;

		if (!report->new->total[counter][row] || !is_comparable(report, row))
			continue;
		amount = growth(report, counter, row);
		if (amount >= least)
			add(report, &(struct line){.badness = (double)amount / as_bad[counter],
						   .amount = amount,
						   .row = row,
						   .kind = KIND_GREW,
						   .counter = (uint8_t)counter});
	}
}

static void find_all_growth(struct report *report)
{
	const struct options *options = report->options;

	for (int i = 0; i < PERF_COUNTERS; i++) {
		if (!perf_counter_info[i].number)
			continue;
		if (perf_counter_info[i].kind == PERF_WAIT && options->perfmgr_xmit_wait_log)
			find_growth(report, i, MAX(options->perfmgr_xmit_wait_threshold, 1));
		else if (perf_counter_info[i].kind == PERF_ERROR && options->perfmgr_log_errors)
			find_growth(report, i, 1);
	}
}

/* Worse than some growth, as it is not known what grew before. */
static void find_cleared(struct report *report)
{
	for (uint32_t row = 0; row < report->new->layout->n_rows; row++) {
		uint16_t flags = report->new->flags[row];

		if (!(flags & PERF_RESET) || flags & PERF_RESTARTED)
			continue;
		if (flags & PERF_RESET_ERRORS)
			add(report,
			    &(struct line){.badness = 2, .row = row, .kind = KIND_CLEARED_ERRORS});
		if (flags & PERF_RESET_DATA)
			add(report,
			    &(struct line){.badness = 1, .row = row, .kind = KIND_CLEARED_DATA});
	}
}

/* ---- agents ---- */

enum agent_state { AGENT_ANSWERS, AGENT_SILENT, AGENT_REFUSES };

static enum agent_state state_by(uint16_t flags)
{
	return flags & PERF_SILENT    ? AGENT_SILENT
	       : flags & PERF_REFUSED ? AGENT_REFUSES
				      : AGENT_ANSWERS;
}

/* The worst of its rows, in either image; *row gets the first such row of the new one. */
static enum agent_state agent_state(const struct report *report, bool old, uint32_t first,
				    uint32_t n, uint32_t *row)
{
	enum agent_state state = AGENT_ANSWERS;

	for (uint32_t i = first; i < first + n; i++) {
		uint32_t at = old ? report->old_row[i] : i;
		enum agent_state one = at == PERF_NONE ? AGENT_ANSWERS
						       : state_by(old ? report->old->flags[at]
								      : report->new->flags[at]);

		if (state == AGENT_ANSWERS && one != AGENT_ANSWERS) {
			state = one;
			*row = i;
		}
	}
	return state;
}

static bool has_read(const struct report *report, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		if (report->new->flags[i] & PERF_READ)
			return true;
	return false;
}

static void compare_agent(struct report *report, uint32_t first, uint32_t n)
{
	uint32_t row = first, ignored = first;
	enum agent_state was = agent_state(report, true, first, n, &ignored);
	enum agent_state is = agent_state(report, false, first, n, &row);
	const struct perf_node *node = perf_layout_node_of(report->new->layout, first);

	if (is == was)
		return;
	if (is != AGENT_ANSWERS)
		add(report,
		    &(struct line){.badness = is == AGENT_SILENT ? 1e18 : 1e17,
				   .row = row,
				   .kind = is == AGENT_SILENT ? KIND_SILENT : KIND_REFUSED});
	else if (has_read(report, first, n) &&
		 report->recovered++ < report->options->perfmgr_log_lines)
		log_info(report->log,
			 "PerfMgr: the agent of %s (0x%" PRIx64 ") port %u LID %u answers again",
			 node->name, node->guid, report->new->layout->places[first].port,
			 report->new->layout->places[first].lid);
}

/* A switch has one agent for all its ports, other nodes have one a port. */
static void compare_agents(struct report *report)
{
	const struct perf_layout *layout = report->new->layout;

	for (uint32_t i = 0; i < layout->n_nodes; i++) {
		const struct perf_node *node = &layout->nodes[i];
		uint32_t n = node->num_ports + 1u - node->first_port;

		if (node->num_ports < node->first_port)
			continue;
		if (node->type == IBA_NODE_SWITCH)
			compare_agent(report, node->first_row, n);
		else
			for (uint32_t k = 0; k < n; k++)
				compare_agent(report, node->first_row + k, 1);
	}
	if (report->recovered > report->options->perfmgr_log_lines)
		log_info(report->log, "PerfMgr: %u agents answer again", report->recovered);
}

/* ---- the lines ---- */

static void write_growth(const struct report *report, const struct line *line,
			 const struct perf_node *node, const struct perf_place *place)
{
	const struct perf_counter_info *info = &perf_counter_info[line->counter];
	struct perf_far far = perf_images_far(report->before, report->new->layout, line->row);
	g_autoptr(GString) peer = g_string_new(NULL);

	if (info->kind != PERF_WAIT && far.row != PERF_NONE)
		g_string_printf(peer, " connected to \"%s\" (NodeGUID: 0x%" PRIx64 ") : port %u",
				perf_layout_node_of(far.layout, far.row)->name,
				perf_layout_node_of(far.layout, far.row)->guid,
				far.layout->places[far.row].port);
	log_error(report->log,
		  "%s: %s : %" PRIu64 " : node \"%s\" (NodeGUID: 0x%" PRIx64 ") : port %u%s",
		  info->number, info->kind == PERF_WAIT ? "XmitWait" : info->iba, line->amount,
		  node->name, node->guid, place->port, peer->str);
}

static void write_line(const struct report *report, const struct line *line)
{
	const struct perf_place *place = &report->new->layout->places[line->row];
	const struct perf_node *node = perf_layout_node_of(report->new->layout, line->row);

	switch ((enum kind)line->kind) {
	case KIND_SILENT:
	case KIND_REFUSED:
		log_error(report->log, "5402: %s (0x%" PRIx64 ") port %u LID %u: its agent %s",
			  node->name, node->guid, place->port, place->lid,
			  line->kind == KIND_SILENT ? "does not answer"
						    : "answers with errors only");
		break;
	case KIND_CLEARED_ERRORS:
		log_error(report->log,
			  "540A: Detected an out of band error clear on %s (0x%" PRIx64 ") port %u",
			  node->name, node->guid, place->port);
		break;
	case KIND_CLEARED_DATA:
		log_error(report->log,
			  "540B: Detected an out of band data counter clear on node %s (0x%" PRIx64
			  ") port %u",
			  node->name, node->guid, place->port);
		break;
	case KIND_GREW:
		write_growth(report, line, node, place);
		break;
	}
}

static void write_lines(struct report *report)
{
	keep_worst(report);
	for (guint i = 0; i < report->lines->len; i++)
		write_line(report, &g_array_index(report->lines, struct line, i));
	if (report->n > report->lines->len)
		log_error(report->log,
			  "PerfMgr: %" PRIu64 " more lines of this sweep are not written: "
			  "perfmgr_log_lines is %u; \"perfmgr print_errors\" shows the counters",
			  report->n - report->lines->len, report->options->perfmgr_log_lines);
}

static void write_own_clears(const struct report *report)
{
	const struct perf_layout *layout = report->new->layout;

	if (!log_wants(report->log, LOG_VERBOSE, __FILE__))
		return;
	for (uint32_t row = 0; row < layout->n_rows; row++)
		if (report->new->flags[row] & PERF_CLEARED)
			log_verbose(report->log,
				    "PerfMgr: Counter overflow: %s (0x%" PRIx64 ") port %u; "
				    "clearing counters",
				    perf_layout_node_of(layout, row)->name,
				    perf_layout_node_of(layout, row)->guid,
				    layout->places[row].port);
}

void perf_report_sweep(struct log *log, const struct options *options,
		       const struct perf_images *before, const struct perf_image *new)
{
	struct report report = {.log = log,
				.options = options,
				.before = before,
				.old = perf_images_last(before),
				.new = new};

	report.lines = g_array_new(FALSE, FALSE, sizeof(struct line));
	find_old_rows(&report);
	compare_agents(&report);
	find_cleared(&report);
	find_all_growth(&report);
	write_lines(&report);
	write_own_clears(&report);
	g_array_free(report.lines, TRUE);
	g_free(report.old_row);
}

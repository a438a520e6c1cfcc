// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counters of ports, from the last image. A port that its last sweep did not read has no samples: a
 * series that ends says so, an unchanged value does not. Labels are the GUID of the node
 * and the number of the port; names are only in the infos, so that a new name ends no series.
 */
#include <string.h>

#include "ctl/metrics/metrics.h"
#include "iba/constants.h"

#define LABELS_SIZE 40 /* guid="0x0123456789abcdef",port="255" */

struct selection {
	struct metrics_text *text;
	const struct perf_image *image;
	const struct perf_layout *layout;
	enum metrics_level level;
	bool *bad;		     /* [row]: chosen, read, and has counted an error */
	bool *chosen;		     /* [row]: by the filters */
	bool *nodes;		     /* [node]: has a row of which something is told */
	char (*labels)[LABELS_SIZE]; /* [row] */
};

/* ---- filters ---- */

/* The finalizer of splitmix64: GUIDs of a fabric differ in few bits. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool wants_node(const struct metrics_request *request, uint64_t guid)
{
	if (request->shards && mix(guid) % request->shards != request->shard - 1)
		return false;
	for (guint i = 0; i < request->guids->len; i++)
		if (g_array_index(request->guids, uint64_t, i) == guid)
			return true;
	return !request->guids->len;
}

/* A rule for that group; false: there is none. */
static bool find_group(const struct perf_rules *rules, const char *name, struct perf_rule *rule)
{
	for (unsigned int i = 0; rules && i < rules->n_groups; i++)
		if (!strcmp(rules->groups[i].name, name)) {
			*rule = (struct perf_rule){.scope = PERF_SCOPE_GROUP, .group = (uint16_t)i};
			return true;
		}
	return false;
}

static void choose(struct selection *s, const struct metrics_request *request,
		   const struct perf_rules *rules, const struct perf_rule *group)
{
	for (uint32_t i = 0; i < s->layout->n_nodes; i++) {
		const struct perf_node *node = &s->layout->nodes[i];
		bool wanted = wants_node(request, node->guid);

		for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
			uint32_t row = node->first_row + port - node->first_port;

			s->chosen[row] = wanted && perf_in_scope(s->layout, row, request->scope) &&
					 (!group || perf_rule_covers(rules, group, s->layout, row));
		}
	}
}

/* ---- which rows ---- */

static bool was_read(const struct perf_image *image, uint32_t row)
{
	return image->flags[row] & PERF_READ && image->flags[row] & PERF_EVER;
}

static bool has_errors(const struct perf_image *image, uint32_t row)
{
	for (unsigned int i = 0; i < PERF_COUNTERS; i++)
		if (perf_counter_info[i].kind == PERF_ERROR && image->have[row] >> i & 1 &&
		    image->total[i][row])
			return true;
	return false;
}

static enum metric_side side_of(const struct selection *s, uint32_t row)
{
	return perf_layout_node_of(s->layout, row)->type == IBA_NODE_SWITCH ? METRIC_SWITCH
									    : METRIC_HCA;
}

static bool is_traffic(unsigned int column)
{
	return column == PERF_XMIT_DATA || column == PERF_RCV_DATA || column == PERF_XMIT_PKTS ||
	       column == PERF_RCV_PKTS || column == PERF_XMIT_WAIT;
}

static bool is_error(unsigned int column)
{
	return column >= PERF_COUNTERS || perf_counter_info[column].kind == PERF_ERROR;
}

/* Whether this counter of the row is told at this level. */
static bool tells(const struct selection *s, uint32_t row, unsigned int column)
{
	if (!s->chosen[row] || !was_read(s->image, row))
		return false;
	if (s->level == METRICS_ALL || (s->bad[row] && is_error(column)))
		return true;
	return s->level == METRICS_TRAFFIC && side_of(s, row) == METRIC_SWITCH &&
	       is_traffic(column);
}

/* Whether any counter of the row is. */
static bool tells_any(const struct selection *s, uint32_t row)
{
	return tells(s, row, PERF_XMIT_DATA) || tells(s, row, PERF_SYMBOL_ERRORS);
}

static void note_rows(struct selection *s)
{
	for (uint32_t row = 0; row < s->layout->n_rows; row++) {
		const struct perf_place *place = &s->layout->places[row];
		const struct perf_node *node = &s->layout->nodes[place->node];

		if (!s->chosen[row])
			continue;
		s->bad[row] = was_read(s->image, row) && has_errors(s->image, row);
		if (!tells_any(s, row))
			continue;
		s->nodes[place->node] = true;
		g_snprintf(s->labels[row], LABELS_SIZE,
			   "guid=\"0x%016" G_GINT64_MODIFIER "x\",port=\"%u\"", node->guid,
			   place->port);
	}
}

/* ---- counters ---- */

static bool value_of(const struct selection *s, uint32_t row, unsigned int column, uint64_t *value)
{
	const struct perf_detail_row *details;

	if (column < PERF_COUNTERS) {
		*value = s->image->total[column][row];
		if (perf_counter_info[column].kind == PERF_DATA)
			*value = *value > UINT64_MAX / 4 ? UINT64_MAX : *value * 4;
		return s->image->have[row] >> column & 1;
	}
	details = perf_image_details(s->image, row);
	column -= PERF_COUNTERS;
	if (!details || !(details->have >> column & 1))
		return false;
	*value = details->total[column];
	return true;
}

/* Before the first sample of a family, which is left out without one. */
static void begin_once(const struct selection *s, const struct metric *metric, bool *begun)
{
	if (!*begun)
		metrics_family(s->text, metric);
	*begun = true;
}

static void write_counter(const struct selection *s, const struct metric_port *port,
			  enum metric_side side)
{
	const struct metric *metric = &port->side[side];
	bool begun = false;
	uint64_t value;

	for (uint32_t row = 0; row < s->layout->n_rows; row++) {
		if (!s->chosen[row] || side_of(s, row) != side || !tells(s, row, port->column) ||
		    !value_of(s, row, port->column, &value))
			continue;
		begin_once(s, metric, &begun);
		metrics_number(s->text, metric, s->labels[row], value);
	}
}

static bool is_at_least(const struct selection *s, uint32_t row, unsigned int column)
{
	const struct perf_detail_row *details;

	if (column < PERF_COUNTERS)
		return s->image->at_least[row] >> column & 1;
	details = perf_image_details(s->image, row);
	return details && details->at_least >> (column - PERF_COUNTERS) & 1;
}

/* Only of counters that are told. */
static void write_at_least(const struct selection *s)
{
	const struct metric *metric = &metrics[METRIC_AT_LEAST];
	g_autoptr(GString) labels = g_string_new(NULL);
	bool begun = false;
	uint64_t value;

	for (uint32_t row = 0; row < s->layout->n_rows; row++)
		for (unsigned int i = 0; tells_any(s, row) && i < n_metrics_port; i++) {
			unsigned int column = metrics_port[i].column;
			const char *name = metrics_port[i].side[METRIC_SWITCH].name;

			if (!is_at_least(s, row, column) || !tells(s, row, column) ||
			    !value_of(s, row, column, &value))
				continue;
			begin_once(s, metric, &begun);
			g_string_assign(labels, s->labels[row]);
			metrics_label(labels, "counter", name + strlen("infiniband_switch_port_"));
			metrics_number(s->text, metric, labels->str, 1);
		}
}

/* ---- what ports and nodes are ---- */

static void write_switch_rates(const struct selection *s, const struct metric *metric, bool raw)
{
	bool begun = false;

	for (uint32_t row = 0; row < s->layout->n_rows; row++) {
		const struct perf_place *place = &s->layout->places[row];
		double rate = raw ? perf_wire_rate(place->rate, place->lanes)
				  : perf_payload_rate(place->rate);

		if (!tells_any(s, row) || side_of(s, row) != METRIC_SWITCH || !(rate > 0))
			continue;
		begin_once(s, metric, &begun);
		metrics_real(s->text, metric, s->labels[row], rate / 8);
	}
}

/* Its label is only the node. */
static void write_host_rates(const struct selection *s, const struct metric *metric, bool raw)
{
	g_autoptr(GString) labels = g_string_new(NULL);
	bool begun = false;

	for (uint32_t i = 0; i < s->layout->n_nodes; i++) {
		const struct perf_node *node = &s->layout->nodes[i];
		double most = 0;

		if (!s->nodes[i] || node->type == IBA_NODE_SWITCH)
			continue;
		for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
			const struct perf_place *place =
				&s->layout->places[node->first_row + port - node->first_port];
			double rate = raw ? perf_wire_rate(place->rate, place->lanes)
					  : perf_payload_rate(place->rate);

			most = MAX(most, rate);
		}
		if (!(most > 0))
			continue;
		begin_once(s, metric, &begun);
		g_string_truncate(labels, 0);
		metrics_label_guid(labels, "guid", node->guid);
		metrics_real(s->text, metric, labels->str, most / 8);
	}
}

static bool is_on_side(const struct perf_node *node, enum metric_side side)
{
	return (node->type == IBA_NODE_SWITCH) == (side == METRIC_SWITCH);
}

static const char *const side_words[METRIC_SIDES] = {"switch", "hca"};

static void write_nodes(const struct selection *s, enum metric_side side)
{
	const struct metric *metric = &metrics_node[side][METRIC_NODE_NODE];
	g_autoptr(GString) labels = g_string_new(NULL);
	bool begun = false;

	for (uint32_t i = 0; i < s->layout->n_nodes; i++) {
		const struct perf_node *node = &s->layout->nodes[i];

		if (!s->nodes[i] || !is_on_side(node, side))
			continue;
		begin_once(s, metric, &begun);
		g_string_truncate(labels, 0);
		metrics_label_guid(labels, "guid", node->guid);
		metrics_label(labels, side_words[side], node->name);
		metrics_label_number(labels, "lid", s->layout->places[node->first_row].lid);
		metrics_number(s->text, metric, labels->str, 1);
	}
}

static void write_uplinks(const struct selection *s, enum metric_side side)
{
	const struct metric *metric = &metrics_node[side][METRIC_NODE_UPLINK];
	g_autoptr(GString) labels = g_string_new(NULL);
	bool begun = false;

	for (uint32_t row = 0; row < s->layout->n_rows; row++) {
		const struct perf_place *place = &s->layout->places[row], *peer;
		const struct perf_node *node = &s->layout->nodes[place->node], *uplink;

		if (!is_on_side(node, side) || place->peer == PERF_NONE || !tells_any(s, row))
			continue;
		peer = &s->layout->places[place->peer];
		uplink = &s->layout->nodes[peer->node];
		begin_once(s, metric, &begun);
		g_string_assign(labels, s->labels[row]);
		metrics_label(labels, side_words[side], node->name);
		metrics_label(labels, "uplink", uplink->name);
		metrics_label_guid(labels, "uplink_guid", uplink->guid);
		metrics_label(labels, "uplink_type", uplink->type == IBA_NODE_SWITCH ? "SW" : "CA");
		metrics_label_number(labels, "uplink_port", peer->port);
		metrics_label_number(labels, "uplink_lid", peer->lid);
		metrics_number(s->text, metric, labels->str, 1);
	}
}

/* ---- agents ---- */

static bool agent_has(const struct selection *s, const struct perf_node *node, unsigned int flag)
{
	for (unsigned int port = node->first_port; port <= node->num_ports; port++) {
		uint32_t row = node->first_row + port - node->first_port;

		if (s->chosen[row] && s->image->flags[row] & flag)
			return true;
	}
	return false;
}

static bool has_chosen(const struct selection *s, const struct perf_node *node)
{
	for (unsigned int port = node->first_port; port <= node->num_ports; port++)
		if (s->chosen[node->first_row + port - node->first_port])
			return true;
	return false;
}

/* With METRICS_ERRORS only those that have one. Returns the number of those. */
static unsigned int write_agents(const struct selection *s, enum metric_side side,
				 enum metric_node_id id, unsigned int flag)
{
	const struct metric *metric = &metrics_node[side][id];
	g_autoptr(GString) labels = g_string_new(NULL);
	unsigned int n = 0;
	bool begun = false;

	for (uint32_t i = 0; i < s->layout->n_nodes; i++) {
		const struct perf_node *node = &s->layout->nodes[i];
		bool is = agent_has(s, node, flag);

		if (!is_on_side(node, side) || !has_chosen(s, node))
			continue;
		n += is;
		if (!is && (s->level < METRICS_TRAFFIC ||
			    (s->level < METRICS_ALL && side != METRIC_SWITCH)))
			continue;
		begin_once(s, metric, &begun);
		g_string_truncate(labels, 0);
		metrics_label_guid(labels, "guid", node->guid);
		metrics_label(labels, "collector", side_words[side]);
		metrics_number(s->text, metric, labels->str, is);
	}
	return n;
}

/* A family with a sample for switches and one for hosts. */
static void write_collectors(const struct selection *s, enum metric_id id,
			     const double values[METRIC_SIDES])
{
	g_autoptr(GString) labels = g_string_new(NULL);

	metrics_family(s->text, &metrics[id]);
	for (unsigned int side = 0; side < METRIC_SIDES; side++) {
		g_string_truncate(labels, 0);
		metrics_label(labels, "collector", side_words[side]);
		metrics_real(s->text, &metrics[id], labels->str, values[side]);
	}
}

static void write_sweep(const struct selection *s)
{
	double ended = (double)s->image->ended_us / 1e6;
	double took = (double)(s->image->ended_ns - s->image->began_ns) / 1e9;
	double errors[METRIC_SIDES], timeouts[METRIC_SIDES];

	for (unsigned int side = 0; side < METRIC_SIDES; side++) {
		errors[side] = write_agents(s, side, METRIC_NODE_ERROR, PERF_REFUSED);
		timeouts[side] = write_agents(s, side, METRIC_NODE_TIMEOUT, PERF_SILENT);
	}
	write_collectors(s, METRIC_COLLECT_ERRORS, errors);
	write_collectors(s, METRIC_COLLECT_TIMEOUTS, timeouts);
	write_collectors(s, METRIC_COLLECT_TIME, (const double[]){ended, ended});
	write_collectors(s, METRIC_COLLECT_TOOK, (const double[]){took, took});
}

/* ---- all ---- */

static void write_all(struct selection *s)
{
	note_rows(s);
	for (unsigned int side = 0; side < METRIC_SIDES; side++) {
		write_nodes(s, side);
		write_uplinks(s, side);
		for (unsigned int i = 0; i < n_metrics_port; i++)
			write_counter(s, &metrics_port[i], side);
	}
	write_switch_rates(s, &metrics[METRIC_SWITCH_RATE], false);
	write_switch_rates(s, &metrics[METRIC_SWITCH_RAW_RATE], true);
	write_host_rates(s, &metrics[METRIC_HCA_RATE], false);
	write_host_rates(s, &metrics[METRIC_HCA_RAW_RATE], true);
	write_at_least(s);
	write_sweep(s);
}

bool metrics_write_ports(struct metrics_text *text, const struct metrics_request *request,
			 const struct perf_image *image, const struct perf_rules *rules, char **why)
{
	struct selection s = {.text = text, .image = image, .level = request->level};
	struct perf_rule group = {0};

	if (request->group && !find_group(rules, request->group, &group)) {
		*why = g_strdup_printf("group=%s: perfmgr_rules_file has no such group",
				       request->group);
		return false;
	}
	if (!image)
		return true;
	s.layout = image->layout;
	s.bad = g_new0(bool, s.layout->n_rows + 1);
	s.chosen = g_new0(bool, s.layout->n_rows + 1);
	s.nodes = g_new0(bool, s.layout->n_nodes + 1);
	s.labels = g_malloc0_n(s.layout->n_rows + 1, LABELS_SIZE);
	choose(&s, request, rules, request->group ? &group : NULL);
	write_all(&s);
	g_free(s.bad);
	g_free(s.chosen);
	g_free(s.nodes);
	g_free(s.labels);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Puts the tables together: the one of the subnet, and the order of the others. */
#include "ssa/core/make.h"

#include "policy/qos/qos_paths.h"
#include "route/value/lanes.h"
#include "ssa/core/addresses.h"
#include "subnet/path.h"

void ssa_made_put(struct ssa_made *made, enum ssa_table_id id, void *data, uint64_t rows,
		  uint32_t row_size)
{
	struct ssa_rows *at = &made->rows[id];

	*at = (struct ssa_rows){
		.bytes = g_bytes_new_take(data, rows * row_size),
		.row_size = row_size,
		.rows = rows,
	};
	ssa_rows_hash(at);
}

static uint32_t rule_flags(const struct qos_paths *qos)
{
	uint32_t flags = 0;

	for (guint i = 0; qos && i < qos->policy->rules->len; i++) {
		const struct qos_rule *rule = qos->policy->rules->pdata[i];

		if (rule->services->len)
			flags |= SSA_RULES_BY_SERVICE;
		if (rule->classes->len)
			flags |= SSA_RULES_BY_CLASS;
	}
	return flags;
}

static void fill_lanes(const struct routing *routing, struct ssa_subnet *row)
{
	const struct route_lanes *lanes = routing->lanes;

	row->lanes = SSA_LANES_FREE;
	if (!lanes)
		return;
	row->lanes = lanes->sl ? SSA_LANES_PAIRS : SSA_LANES_ONE;
	row->lane = lanes->sl ? 0 : lanes->first;
	row->lane_levels = lanes->levels;
}

static void make_subnet_row(const struct ssa_source *source, const struct ssa_index *index,
			    struct ssa_made *made)
{
	const struct subnet_view *view = source->view;
	const struct subnet *subnet = view->subnet;
	struct ssa_subnet *row = g_new0(struct ssa_subnet, 1);
	uint32_t flags = rule_flags(subnet->qos) | (index->class ? 0 : SSA_NO_VERDICTS);

	row->prefix = GUINT64_TO_LE(subnet->options->subnet_prefix);
	row->flags = GUINT32_TO_LE(flags);
	row->n_classes = GUINT32_TO_LE(index->n_classes);
	row->max_lid = GUINT16_TO_LE(subnet->fabric->max_lid);
	row->dropped_sls = GUINT16_TO_LE(subnet->qos ? subnet->qos->dropped : 0);
	row->hop_limit = POLICY_HOP_LIMIT;
	fill_lanes(subnet->routing, row);
	for (unsigned int rank = 0; rank <= view->n_rates; rank++)
		row->rank_rate[rank] = view->rate[rank];
	made->prefix = subnet->options->subnet_prefix;
	ssa_made_put(made, SSA_SUBNET, row, 1, sizeof(*row));
}

static void put_rows(struct ssa_made *made, enum ssa_table_id id, const GArray *rows)
{
	size_t size = g_array_get_element_size((GArray *)rows);

	ssa_made_put(made, id, g_memdup2(rows->data, rows->len * size), rows->len, (uint32_t)size);
}

static void make_addresses(const struct ssa_addresses *addresses, struct ssa_made *made)
{
	put_rows(made, SSA_NAMES, addresses->names);
	put_rows(made, SSA_IPV4, addresses->ipv4);
	put_rows(made, SSA_IPV6, addresses->ipv6);
}

static void index_clear(struct ssa_index *index)
{
	g_free(index->endport);
	g_free(index->place);
	g_free(index->sw);
	g_free(index->sw_place);
	g_free(index->row);
	g_free(index->class);
	g_clear_pointer(&index->class_of_one, g_array_unref);
}

void ssa_make(const struct ssa_source *source, struct ssa_made *made)
{
	struct ssa_index index = {0};

	ssa_make_ports(source, &index, made);
	ssa_make_verdicts(source, &index, made);
	ssa_make_ways(source, &index, made);
	ssa_make_lanes(source, &index, made);
	make_subnet_row(source, &index, made);
	if (source->addresses)
		make_addresses(source->addresses, made);
	index_clear(&index);
}

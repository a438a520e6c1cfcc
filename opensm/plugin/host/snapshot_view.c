// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "plugin/host/snapshot_view.h"

#include <unistd.h>

#include "plugin/base/block.h"
#include "plugin/base/snapshot_sections.h"

struct view {
	struct osm_snapshot snapshot;
	struct block block;
};

/* False: the section is missing, or too large for a list. */
static bool take(const struct block *block, enum snapshot_section section, uint32_t least,
		 struct osm_list *list)
{
	uint64_t n;

	list->first = block_section(block, section, least, &n, &list->size);
	list->n = (uint32_t)n;
	return list->first && n <= UINT32_MAX;
}

static bool take_lists(struct view *view)
{
	struct osm_snapshot *snapshot = &view->snapshot;
	const struct {
		enum snapshot_section section;
		uint32_t least;
		struct osm_list *list;
	} lists[] = {
		{SNAPSHOT_NODES, sizeof(struct osm_node), &snapshot->nodes},
		{SNAPSHOT_PORTS, sizeof(struct osm_port), &snapshot->ports},
		{SNAPSHOT_SWITCHES, sizeof(struct osm_switch), &snapshot->switches},
		{SNAPSHOT_P_KEYS, sizeof(uint16_t), &snapshot->p_keys},
		{SNAPSHOT_PARTITIONS, sizeof(struct osm_partition), &snapshot->partitions},
		{SNAPSHOT_PARTITION_MEMBERS, sizeof(struct osm_member),
		 &snapshot->partition_members},
		{SNAPSHOT_GROUPS, sizeof(struct osm_group), &snapshot->groups},
		{SNAPSHOT_GROUP_MEMBERS, sizeof(struct osm_member), &snapshot->group_members},
		{SNAPSHOT_COUNTER_ROWS, sizeof(struct osm_counters), &snapshot->counter_rows},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(lists); i++)
		if (!take(&view->block, lists[i].section, lists[i].least, lists[i].list))
			return false;
	return true;
}

/* The texts end with a NUL, and there is an endport or none for each LID. */
static bool take_head(struct view *view)
{
	struct osm_snapshot *snapshot = &view->snapshot;
	uint64_t n, n_texts, n_lids, n_lfts;
	const struct snapshot_head *head =
		block_section(&view->block, SNAPSHOT_HEAD, sizeof(*head), &n, NULL);

	snapshot->names = block_section(&view->block, SNAPSHOT_TEXTS, 1, &n_texts, NULL);
	snapshot->of_lid =
		block_section(&view->block, SNAPSHOT_OF_LID, sizeof(uint32_t), &n_lids, NULL);
	snapshot->lfts = block_section(&view->block, SNAPSHOT_LFTS, 1, &n_lfts, NULL);
	if (!head || !n || !snapshot->names || !n_texts || !snapshot->of_lid || !snapshot->lfts)
		return false;
	if (!(head->parts & OSM_PART_LFTS))
		snapshot->lfts = NULL;
	snapshot->size = sizeof(*snapshot);
	snapshot->parts = head->parts;
	snapshot->generation = head->generation;
	snapshot->counters = head->counters;
	snapshot->counters_ns = head->counters_ns;
	snapshot->made_us = head->made_us;
	snapshot->subnet_prefix = head->subnet_prefix;
	snapshot->sm_port = head->sm_port;
	snapshot->sm_state = head->sm_state;
	snapshot->max_lid = head->max_lid;
	snapshot->engine = snapshot->names + head->engine;
	return head->max_lid < n_lids && head->engine < n_texts && !snapshot->names[n_texts - 1];
}

const struct osm_snapshot *snapshot_view_new(int file, GError **error)
{
	struct view *view = g_new0(struct view, 1);

	if (!block_map(&view->block, file, false, error)) {
		g_free(view);
		return NULL;
	}
	/* The mapping stays; a plug-in may keep many snapshots, and its descriptors are few. */
	close(view->block.file);
	view->block.file = -1;
	if (!take_head(view) || !take_lists(view)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "the block is not a snapshot of the subnet");
		snapshot_view_free(&view->snapshot);
		return NULL;
	}
	return &view->snapshot;
}

void snapshot_view_free(const struct osm_snapshot *snapshot)
{
	struct view *view;

	if (!snapshot)
		return;
	view = (struct view *)snapshot; /* its first member */
	block_clear(&view->block);
	g_free(view);
}

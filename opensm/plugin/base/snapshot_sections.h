// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a block (base/block.h) with a snapshot has: made by ctl/plugin/snapshot.c, read by
 * host/snapshot_view.c. Its sections are the lists of struct osm_snapshot; a section of a part that
 * the snapshot lacks is empty.
 */
#ifndef PLUGIN_BASE_SNAPSHOT_SECTIONS_H
#define PLUGIN_BASE_SNAPSHOT_SECTIONS_H

#include <stdint.h>

enum snapshot_section {
	SNAPSHOT_HEAD,		    /* one struct snapshot_head */
	SNAPSHOT_TEXTS,		    /* char; the first is "" */
	SNAPSHOT_NODES,		    /* struct osm_node */
	SNAPSHOT_PORTS,		    /* struct osm_port */
	SNAPSHOT_SWITCHES,	    /* struct osm_switch */
	SNAPSHOT_OF_LID,	    /* uint32_t, max_lid + 1 */
	SNAPSHOT_LFTS,		    /* uint8_t, a row for each switch */
	SNAPSHOT_P_KEYS,	    /* uint16_t */
	SNAPSHOT_PARTITIONS,	    /* struct osm_partition */
	SNAPSHOT_PARTITION_MEMBERS, /* struct osm_member */
	SNAPSHOT_GROUPS,	    /* struct osm_group */
	SNAPSHOT_GROUP_MEMBERS,	    /* struct osm_member */
	SNAPSHOT_COUNTER_ROWS,	    /* struct osm_counters */
	SNAPSHOT_SECTIONS
};

/* The members of struct osm_snapshot that are neither lists nor pointers. */
struct snapshot_head {
	uint32_t parts;
	uint32_t engine; /* in texts */
	uint64_t generation;
	uint64_t counters, counters_ns;
	int64_t made_us;
	uint64_t subnet_prefix;
	uint32_t sm_port, sm_state;
	uint32_t max_lid;
	uint32_t reserved;
};

#endif

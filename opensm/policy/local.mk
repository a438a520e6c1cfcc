# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libpolicy.a
libpolicy_a_SOURCES = \
	opensm/policy/files/guid_file.c opensm/policy/files/guid_file.h \
	opensm/policy/files/in_effect.c opensm/policy/files/in_effect.h \
	opensm/policy/files/lft_file.c opensm/policy/files/lft_file.h \
	opensm/policy/files/port_conditions.def \
	opensm/policy/files/ports_policy.c opensm/policy/files/ports_policy.h \
	opensm/policy/files/prefix_routes.c opensm/policy/files/prefix_routes.h \
	opensm/policy/files/route_files.c opensm/policy/files/route_files.h \
	opensm/policy/files/ties.c opensm/policy/files/ties.h \
	opensm/policy/files/torus_file.c opensm/policy/files/torus_file.h \
	opensm/policy/files/unknown_guids.c opensm/policy/files/unknown_guids.h \
	opensm/policy/keys/key_ring.c opensm/policy/keys/key_ring.h \
	opensm/policy/names/node_name_map.c opensm/policy/names/node_name_map.h \
	opensm/policy/partition/demand.c opensm/policy/partition/demand.h \
	opensm/policy/partition/groups.c opensm/policy/partition/groups.h \
	opensm/policy/partition/partition.c opensm/policy/partition/partition.h \
	opensm/policy/partition/partition_changes.c opensm/policy/partition/partition_changes.h \
	opensm/policy/partition/partition_file.c opensm/policy/partition/partition_file.h \
	opensm/policy/partition/partition_memory.c opensm/policy/partition/partition_memory.h \
	opensm/policy/partition/partition_rules.c \
	opensm/policy/partition/partition_sources.c opensm/policy/partition/partition_sources.h \
	opensm/policy/qos/qos.c opensm/policy/qos/qos.h \
	opensm/policy/qos/qos_file.c opensm/policy/qos/qos_file.h \
	opensm/policy/qos/qos_file_private.h \
	opensm/policy/qos/qos_keywords.c \
	opensm/policy/qos/qos_lanes.c opensm/policy/qos/qos_lanes.h \
	opensm/policy/qos/qos_paths.c opensm/policy/qos/qos_paths.h \
	opensm/policy/qos/qos_policy.c \
	opensm/policy/qos/qos_setup.c opensm/policy/qos/qos_setup.h \
	opensm/policy/qos/qos_ulps.c

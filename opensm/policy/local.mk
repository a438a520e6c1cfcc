# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libpolicy.a
libpolicy_a_SOURCES = \
	opensm/policy/aliases.c opensm/policy/aliases.h \
	opensm/policy/demand.c opensm/policy/demand.h \
	opensm/policy/ties.c opensm/policy/ties.h \
	opensm/policy/groups.c opensm/policy/groups.h \
	opensm/policy/inventory.c opensm/policy/inventory.h opensm/policy/inventory_private.h \
	opensm/policy/inventory_maker.c \
	opensm/policy/in_effect.c opensm/policy/in_effect.h \
	opensm/policy/guid_file.c opensm/policy/guid_file.h \
	opensm/policy/lft_file.c opensm/policy/lft_file.h \
	opensm/policy/partition.c opensm/policy/partition.h \
	opensm/policy/partition_changes.c opensm/policy/partition_changes.h \
	opensm/policy/partition_file.c opensm/policy/partition_file.h \
	opensm/policy/partition_rules.c \
	opensm/policy/partition_memory.c opensm/policy/partition_memory.h \
	opensm/policy/partition_sources.c opensm/policy/partition_sources.h \
	opensm/policy/path.c opensm/policy/path.h \
	opensm/policy/prefix_routes.c opensm/policy/prefix_routes.h \
	opensm/policy/qos.c opensm/policy/qos.h \
	opensm/policy/qos_file.c opensm/policy/qos_file.h opensm/policy/qos_file_private.h \
	opensm/policy/qos_keywords.c opensm/policy/qos_policy.c opensm/policy/qos_ulps.c \
	opensm/policy/qos_lanes.c opensm/policy/qos_lanes.h \
	opensm/policy/qos_paths.c opensm/policy/qos_paths.h \
	opensm/policy/qos_setup.c opensm/policy/qos_setup.h \
	opensm/policy/port_conditions.def \
	opensm/policy/ports_policy.c opensm/policy/ports_policy.h \
	opensm/policy/refused_joins.c opensm/policy/refused_joins.h \
	opensm/policy/route_files.c opensm/policy/route_files.h \
	opensm/policy/small_tables.c opensm/policy/small_tables.h \
	opensm/policy/torus_file.c opensm/policy/torus_file.h \
	opensm/policy/trees.c opensm/policy/trees.h \
	opensm/policy/unknown_guids.c opensm/policy/unknown_guids.h \
	opensm/policy/subscriptions.c opensm/policy/subscriptions.h \
	opensm/policy/subnet.c opensm/policy/subnet.h

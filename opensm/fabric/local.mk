# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libfabric.a
libfabric_a_SOURCES = \
	opensm/fabric/builder.c opensm/fabric/builder.h \
	opensm/fabric/cable_end.c opensm/fabric/cable_end.h \
	opensm/fabric/cable_end.def \
	opensm/fabric/changes.c opensm/fabric/changes.h \
	opensm/fabric/fabric.h opensm/fabric/fabric_private.h \
	opensm/fabric/freeze.c \
	opensm/fabric/from_topology.c opensm/fabric/from_topology.h \
	opensm/fabric/link_quality.c opensm/fabric/link_quality.h \
	opensm/fabric/lookup.c \
	opensm/fabric/node_names.c opensm/fabric/node_names.h \
	opensm/fabric/node_table.c opensm/fabric/node_table.h \
	opensm/fabric/trust.c opensm/fabric/trust.h

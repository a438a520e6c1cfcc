# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libsubnet.a
libsubnet_a_SOURCES = \
	opensm/subnet/aliases.c opensm/subnet/aliases.h \
	opensm/subnet/inventory.c opensm/subnet/inventory.h \
	opensm/subnet/inventory_maker.c \
	opensm/subnet/inventory_private.h \
	opensm/subnet/perf_alarms.c opensm/subnet/perf_alarms.h \
	opensm/subnet/path.c opensm/subnet/path.h \
	opensm/subnet/path_sls.c opensm/subnet/path_sls.h \
	opensm/subnet/refused_joins.c opensm/subnet/refused_joins.h \
	opensm/subnet/small_tables.c opensm/subnet/small_tables.h \
	opensm/subnet/subnet.c opensm/subnet/subnet.h \
	opensm/subnet/subscriptions.c opensm/subnet/subscriptions.h \
	opensm/subnet/trees.c opensm/subnet/trees.h \
	opensm/subnet/view.c opensm/subnet/view.h

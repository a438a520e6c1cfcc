# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libroute.a
libroute_a_SOURCES = \
	opensm/route/acyclic.c opensm/route/acyclic.h \
	opensm/route/ancestor.c \
	opensm/route/balance.c \
	opensm/route/batches.c opensm/route/batches.h \
	opensm/route/bits.h \
	opensm/route/change.c opensm/route/change.h \
	opensm/route/channels.c opensm/route/channels.h \
	opensm/route/columns.c opensm/route/columns.h \
	opensm/route/demand.c opensm/route/demand.h \
	opensm/route/dependency.c \
	opensm/route/dfsssp.c \
	opensm/route/dor.c \
	opensm/route/engine.h \
	opensm/route/fdb_cap.c opensm/route/fdb_cap.h \
	opensm/route/fixed.c opensm/route/fixed.h \
	opensm/route/file.c \
	opensm/route/fingerprint.c \
	opensm/route/flows.c opensm/route/flows.h \
	opensm/route/ftree.c \
	opensm/route/graph.c opensm/route/graph.h \
	opensm/route/hoplanes.c \
	opensm/route/hops.c \
	opensm/route/hosts_shortest.c opensm/route/hosts_shortest.h \
	opensm/route/lane_changes.c opensm/route/lane_changes.h \
	opensm/route/lanes.c opensm/route/lanes.h \
	opensm/route/lash.c \
	opensm/route/layered.c opensm/route/layered.h \
	opensm/route/layers.c \
	opensm/route/leaves.c opensm/route/leaves.h \
	opensm/route/mesh.c \
	opensm/route/minhop.c \
	opensm/route/multicast.c \
	opensm/route/multicast_verify.c \
	opensm/route/nue.c \
	opensm/route/orient.c opensm/route/orient.h \
	opensm/route/pairs.c \
	opensm/route/parallel.c opensm/route/parallel.h \
	opensm/route/preferences.c \
	opensm/route/rebalance.c \
	opensm/route/registry.c \
	opensm/route/repair.c \
	opensm/route/roots.c \
	opensm/route/routing.c \
	opensm/route/shortest.c opensm/route/shortest.h \
	opensm/route/single_top.c \
	opensm/route/spread.c \
	opensm/route/sticky.c \
	opensm/route/throttled.c opensm/route/throttled.h \
	opensm/route/torus.c \
	opensm/route/trace.h \
	opensm/route/transition.c opensm/route/transition.h \
	opensm/route/tree.c opensm/route/tree.h opensm/route/tree_fill.c \
	opensm/route/trunk.c \
	opensm/route/updn.c \
	opensm/route/verify.c opensm/route/verify.h \
	opensm/route/verify_lanes.c \
	opensm/route/verify_order.c \
	opensm/route/verify_walk.c \
	opensm/route/ties.c opensm/route/ties.h \
	opensm/route/weights.c

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libroute.a
libroute_a_SOURCES = \
	opensm/route/engine.h \
	opensm/route/inputs.def \
	opensm/route/memory.c opensm/route/memory.h \
	opensm/route/registry.c opensm/route/registry.h \
	opensm/route/engine/dfsssp.c \
	opensm/route/engine/dor.c \
	opensm/route/engine/file.c \
	opensm/route/engine/ftree.c \
	opensm/route/engine/hoplanes.c \
	opensm/route/engine/lash.c \
	opensm/route/engine/minhop.c \
	opensm/route/engine/nue.c \
	opensm/route/engine/torus.c \
	opensm/route/engine/updn.c \
	opensm/route/fill/balance.c \
	opensm/route/fill/batches.c opensm/route/fill/batches.h \
	opensm/route/fill/preferences.c \
	opensm/route/fill/relief.c opensm/route/fill/relief.h \
	opensm/route/fill/shortest.c opensm/route/fill/shortest.h \
	opensm/route/fill/spread.c \
	opensm/route/fill/ties.c opensm/route/fill/ties.h \
	opensm/route/fill/weights.c \
	opensm/route/graph/bits.h \
	opensm/route/graph/channels.c opensm/route/graph/channels.h \
	opensm/route/graph/columns.c opensm/route/graph/columns.h \
	opensm/route/graph/flows.c opensm/route/graph/flows.h \
	opensm/route/graph/graph.c opensm/route/graph/graph.h \
	opensm/route/graph/hops.c opensm/route/graph/order.h \
	opensm/route/graph/parallel.c opensm/route/graph/parallel.h \
	opensm/route/graph/plan.c opensm/route/graph/plan.h \
	opensm/route/graph/watch.c opensm/route/graph/watch.h \
	opensm/route/graph/wishes.c opensm/route/graph/wishes.h \
	opensm/route/layers/acyclic.c opensm/route/layers/acyclic.h \
	opensm/route/layers/lane_channels.c opensm/route/layers/lane_channels.h \
	opensm/route/layers/grow.c opensm/route/layers/grow.h \
	opensm/route/layers/layered.c opensm/route/layers/layered.h \
	opensm/route/layers/layers.c \
	opensm/route/layers/pairs.c \
	opensm/route/layers/trunk.c \
	opensm/route/multicast/multicast.c \
	opensm/route/multicast/multicast_held.c opensm/route/multicast/multicast_held.h \
	opensm/route/multicast/multicast_verify.c \
	opensm/route/order/ancestor.c \
	opensm/route/order/hosts_shortest.c opensm/route/order/hosts_shortest.h \
	opensm/route/order/leaves.c opensm/route/order/leaves.h \
	opensm/route/order/mesh.c \
	opensm/route/order/orient.c opensm/route/order/orient.h \
	opensm/route/order/roots.c \
	opensm/route/order/single_top.c \
	opensm/route/order/tree.c opensm/route/order/tree.h \
	opensm/route/order/tree_fill.c \
	opensm/route/proof/dependency.c \
	opensm/route/proof/verify.c opensm/route/proof/verify.h \
	opensm/route/proof/verify_lanes.c \
	opensm/route/proof/verify_order.c \
	opensm/route/proof/verify_walk.c \
	opensm/route/renew/change.c opensm/route/renew/change.h \
	opensm/route/renew/keep_lanes.c opensm/route/renew/keeper.h \
	opensm/route/renew/keep_layers.c \
	opensm/route/renew/keep_trunk.c \
	opensm/route/renew/keep_sls.c \
	opensm/route/renew/rebalance.c \
	opensm/route/renew/renew.c opensm/route/renew/renew.h \
	opensm/route/renew/repair.c \
	opensm/route/renew/sticky.c \
	opensm/route/renew/thresholds.def \
	opensm/route/transition/change_plan.c opensm/route/transition/change_plan.h \
	opensm/route/transition/fdb_cap.c opensm/route/transition/fdb_cap.h \
	opensm/route/transition/fixed.c opensm/route/transition/fixed.h \
	opensm/route/transition/lane_changes.c opensm/route/transition/lane_changes.h \
	opensm/route/transition/lane_mixtures.c \
	opensm/route/transition/transition.c opensm/route/transition/transition.h \
	opensm/route/value/base.h \
	opensm/route/value/fingerprint.c opensm/route/value/fingerprint.h \
	opensm/route/value/lanes.c opensm/route/value/lanes.h \
	opensm/route/value/routing.c \
	opensm/route/value/throttled.c opensm/route/value/throttled.h \
	opensm/route/value/told.c opensm/route/value/told.h

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB

include tests/unit/complib.mk
include tests/unit/sim.mk
include tests/unit/core.mk
include tests/unit/wire.mk
include tests/unit/fabric.mk
include tests/unit/route.mk
include tests/unit/routecheck.mk
include tests/unit/routeverify.mk
include tests/unit/ftree.mk
include tests/unit/route_rebalance.mk
include tests/unit/route_losses.mk
include tests/unit/sa.mk
include tests/unit/umad.mk
include tests/unit/smtest.mk
include tests/unit/ha.mk
include tests/unit/ctl.mk
include tests/unit/policy.mk
include tests/unit/preload.mk
include tests/unit/console.mk
include tests/unit/osmroute.mk
include tests/unit/osmsim.mk
include tests/unit/updown.mk
include tests/unit/route_top.mk
include tests/unit/trees.mk

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each kind of test describes itself; check_PROGRAMS and TESTS collect them.
TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

include tests/unit/local.mk
include tests/golden/local.mk
include tests/scenario/local.mk
include tests/interop/local.mk
include tests/style/local.mk
include tests/bench/local.mk

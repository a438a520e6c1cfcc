# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route_rebalance tests/unit/test_route_same
TESTS += tests/unit/test_route_rebalance tests/unit/test_route_same
tests_unit_test_route_rebalance_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_rebalance_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_route_same_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_same_LDADD = $(LIBS_ROUTECHECK)

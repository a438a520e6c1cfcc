# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route_top
TESTS += tests/unit/test_route_top
tests_unit_test_route_top_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_top_LDADD = $(LIBS_ROUTECHECK)

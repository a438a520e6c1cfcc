# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route_crown
TESTS += tests/unit/test_route_crown
tests_unit_test_route_crown_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_crown_LDADD = $(LIBS_ROUTECHECK)

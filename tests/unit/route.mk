# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route
TESTS += tests/unit/test_route
tests_unit_test_route_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_LDADD = $(LIBS_ROUTECHECK)

check_PROGRAMS += tests/unit/test_route_change
TESTS += tests/unit/test_route_change
tests_unit_test_route_change_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_change_LDADD = libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_kept
TESTS += tests/unit/test_route_kept
tests_unit_test_route_kept_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_kept_LDADD = $(LIBS_ROUTECHECK)

check_PROGRAMS += tests/unit/test_route_caps
TESTS += tests/unit/test_route_caps
tests_unit_test_route_caps_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_caps_LDADD = $(LIBS_ROUTECHECK)

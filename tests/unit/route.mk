# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The slow checker of forwarding tables and random fabrics of all kinds.
check_LIBRARIES += libroutecheck.a
libroutecheck_a_SOURCES = tests/unit/route_checker.c tests/unit/route_checker.h
libroutecheck_a_CFLAGS = $(TEST_CFLAGS)
LIBS_ROUTECHECK = libroutecheck.a libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route
TESTS += tests/unit/test_route
tests_unit_test_route_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_LDADD = $(LIBS_ROUTECHECK)

check_PROGRAMS += tests/unit/test_route_change
TESTS += tests/unit/test_route_change
tests_unit_test_route_change_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_change_LDADD = libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

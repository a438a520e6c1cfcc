# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The slow checker of forwarding tables and random fabrics of all kinds.
check_LIBRARIES += libroutecheck.a
libroutecheck_a_SOURCES = \
	tests/unit/route_checker.c tests/unit/route_checker.h \
	tests/unit/route_shapes.c tests/unit/route_shapes.h
libroutecheck_a_CFLAGS = $(TEST_CFLAGS)
LIBS_ROUTECHECK = libroutecheck.a libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_property
TESTS += tests/unit/test_route_property
tests_unit_test_route_property_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_property_LDADD = $(LIBS_ROUTECHECK)

# Long: tens of thousands of random fabrics. A failure names its seed.
SOAK_ROUTE = 1-30000
soak-route: tests/unit/test_route_property
	ROUTE_SEEDS=$(SOAK_ROUTE) tests/unit/test_route_property
.PHONY: soak-route

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route_updown
TESTS += tests/unit/test_route_updown
tests_unit_test_route_updown_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_updown_LDADD = $(LIBS_ROUTECHECK)

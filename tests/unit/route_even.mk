# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route_even
TESTS += tests/unit/test_route_even
tests_unit_test_route_even_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_even_LDADD = $(LIBS_ROUTECHECK)

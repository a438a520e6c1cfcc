# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route
TESTS += tests/unit/test_route
tests_unit_test_route_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_LDADD = libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

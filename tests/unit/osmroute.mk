# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_osmroute tests/unit/test_route_demand tests/unit/test_route_ties
TESTS += tests/unit/test_osmroute tests/unit/test_route_demand tests/unit/test_route_ties \
	tests/unit/test_osmroute_program.py
dist_check_SCRIPTS += tests/unit/test_osmroute_program.py
tests_unit_test_osmroute_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_osmroute_LDADD = libfabricmake.a $(LIBS_OSMROUTE) $(CHECK_LIBS)
tests_unit_test_route_demand_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_demand_LDADD = libfabricmake.a $(LIBS_OSMROUTE) $(CHECK_LIBS)
tests_unit_test_route_ties_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_ties_LDADD = libfabricmake.a $(LIBS_OSMROUTE) $(CHECK_LIBS)

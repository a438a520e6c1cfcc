# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_partition_file
TESTS += tests/unit/test_partition_file
tests_unit_test_partition_file_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_partition_file_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_partition_memory
TESTS += tests/unit/test_partition_memory
tests_unit_test_partition_memory_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_partition_memory_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_partition_changes
TESTS += tests/unit/test_partition_changes
tests_unit_test_partition_changes_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_partition_changes_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_files
TESTS += tests/unit/test_route_files
tests_unit_test_route_files_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_files_LDADD = $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_lft_file
TESTS += tests/unit/test_lft_file
tests_unit_test_lft_file_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_lft_file_LDADD = $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_preferences
TESTS += tests/unit/test_route_preferences
tests_unit_test_route_preferences_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_preferences_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_weights
TESTS += tests/unit/test_route_weights
tests_unit_test_route_weights_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_weights_LDADD = libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_file
TESTS += tests/unit/test_route_file
tests_unit_test_route_file_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_file_LDADD = libfabricmake.a $(LIBS_OPENSM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_inputs
TESTS += tests/unit/test_route_inputs
tests_unit_test_route_inputs_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_inputs_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_lmc
TESTS += tests/unit/test_route_lmc
tests_unit_test_route_lmc_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_lmc_LDADD = libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_qos
TESTS += tests/unit/test_qos
tests_unit_test_qos_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_qos_LDADD = $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_qos_setup
TESTS += tests/unit/test_qos_setup
tests_unit_test_qos_setup_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_qos_setup_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_qos_file
TESTS += tests/unit/test_qos_file
tests_unit_test_qos_file_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_qos_file_LDADD = $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_ports_policy
TESTS += tests/unit/test_ports_policy
tests_unit_test_ports_policy_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ports_policy_LDADD = $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_prefix_routes
TESTS += tests/unit/test_prefix_routes
tests_unit_test_prefix_routes_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_prefix_routes_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_torus
TESTS += tests/unit/test_route_torus
tests_unit_test_route_torus_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_torus_LDADD = $(LIBS_ROUTECHECK) $(LIBS_SUBNET) $(CHECK_LIBS)

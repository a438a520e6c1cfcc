# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The whole daemon on a simulated fabric.
check_LIBRARIES += libscenario.a
libscenario_a_SOURCES = \
	tests/scenario/client.c tests/scenario/client.h \
	tests/scenario/invariants.c \
	tests/scenario/scenario.c tests/scenario/scenario.h

scenario_tests = tests/scenario/seeds tests/scenario/test_bringup tests/scenario/test_faults \
	tests/scenario/test_options tests/scenario/test_routing tests/scenario/test_tables \
	tests/scenario/test_threads
check_PROGRAMS += $(scenario_tests)
TESTS += $(scenario_tests) tests/scenario/test_console.py tests/scenario/test_main.sh \
	tests/scenario/test_route_inputs.py
dist_check_SCRIPTS += tests/scenario/test_console.py tests/scenario/test_main.sh \
	tests/scenario/test_route_inputs.py
tests_scenario_test_bringup_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_bringup_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_faults_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_faults_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_options_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_options_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_routing_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_routing_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_tables_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_tables_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_threads_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_threads_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_seeds_LDADD = libscenario.a $(LIBS_OPENSM)

# Long: a thousand seeds, each run twice.
SOAK = 1 1000 fattree:8 0.05
soak: tests/scenario/seeds
	tests/scenario/seeds $(SOAK)
.PHONY: soak

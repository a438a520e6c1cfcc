# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
osmsim_tests = tests/unit/test_osmsim tests/unit/test_osmsim_agent tests/unit/test_osmsim_console
check_PROGRAMS += $(osmsim_tests)
TESTS += $(osmsim_tests) tests/unit/test_osmsim_program.py
dist_check_SCRIPTS += tests/unit/test_osmsim_program.py
osmsim_net = tests/unit/osmsim_net.c tests/unit/osmsim_net.h

tests_unit_test_osmsim_SOURCES = tests/unit/test_osmsim.c $(osmsim_net)
tests_unit_test_osmsim_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_osmsim_LDADD = libosmsim.a $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_osmsim_agent_SOURCES = tests/unit/test_osmsim_agent.c $(osmsim_net)
tests_unit_test_osmsim_agent_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_osmsim_agent_LDADD = libosmsim.a $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_osmsim_console_SOURCES = tests/unit/test_osmsim_console.c $(osmsim_net)
tests_unit_test_osmsim_console_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_osmsim_console_LDADD = libosmsim.a $(LIBS_SIM) $(CHECK_LIBS)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
sim_tests = tests/unit/test_topology tests/unit/test_sim tests/unit/test_sim_sma \
	tests/unit/test_sim_port tests/unit/test_sim_rmpp tests/unit/test_sim_fault \
	tests/unit/test_sim_violation \
	tests/unit/test_sim_pma \
	tests/unit/test_sim_cca
check_PROGRAMS += $(sim_tests)
TESTS += $(sim_tests)

tests_unit_test_topology_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_topology_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_SOURCES = tests/unit/test_sim.c tests/unit/sim_net.c tests/unit/sim_net.h
tests_unit_test_sim_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_sma_SOURCES = tests/unit/test_sim_sma.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_sma_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_sma_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_port_SOURCES = tests/unit/test_sim_port.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_port_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_port_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_rmpp_SOURCES = tests/unit/test_sim_rmpp.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_rmpp_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_rmpp_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_fault_SOURCES = tests/unit/test_sim_fault.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_fault_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_fault_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_violation_SOURCES = tests/unit/test_sim_violation.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_violation_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_violation_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_pma_SOURCES = tests/unit/test_sim_pma.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_pma_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_pma_LDADD = $(LIBS_SIM) $(CHECK_LIBS)
tests_unit_test_sim_cca_SOURCES = tests/unit/test_sim_cca.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_sim_cca_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_cca_LDADD = $(LIBS_SIM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_transfers
TESTS += tests/unit/test_transfers
tests_unit_test_transfers_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_transfers_LDADD = libvendor.a $(LIBS_IBA) $(CHECK_LIBS)

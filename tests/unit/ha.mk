# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_agreed tests/unit/test_replica tests/unit/test_replicator
TESTS += tests/unit/test_agreed tests/unit/test_replica tests/unit/test_replicator
tests_unit_test_agreed_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_agreed_LDADD = $(LIBS_HA) $(CHECK_LIBS)
tests_unit_test_replica_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_replica_LDADD = $(LIBS_HA) $(CHECK_LIBS)
tests_unit_test_replicator_SOURCES = tests/unit/test_replicator.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_replicator_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_replicator_LDADD = $(LIBS_HA) $(LIBS_SIM) $(CHECK_LIBS)

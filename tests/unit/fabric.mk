# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_LIBRARIES += libfabricmake.a
libfabricmake_a_SOURCES = tests/unit/fabric_make.c tests/unit/fabric_make.h

check_PROGRAMS += tests/unit/test_fabric
TESTS += tests/unit/test_fabric
tests_unit_test_fabric_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_fabric_LDADD = libfabricmake.a $(LIBS_FABRIC) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_cable_end
TESTS += tests/unit/test_cable_end
tests_unit_test_cable_end_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_cable_end_LDADD = $(LIBS_FABRIC) $(CHECK_LIBS)

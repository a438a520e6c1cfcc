# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_umad tests/unit/test_hca_lost
TESTS += tests/unit/test_umad tests/unit/test_hca_lost
tests_unit_test_umad_SOURCES = tests/unit/test_umad.c
tests_unit_test_umad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_umad_LDADD = $(LIBS_VENDOR) $(CHECK_LIBS)
tests_unit_test_hca_lost_SOURCES = tests/unit/test_hca_lost.c
tests_unit_test_hca_lost_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_hca_lost_LDADD = $(LIBS_VENDOR) $(CHECK_LIBS)

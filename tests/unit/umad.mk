# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_umad
TESTS += tests/unit/test_umad
tests_unit_test_umad_SOURCES = tests/unit/test_umad.c
tests_unit_test_umad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_umad_LDADD = $(LIBS_VENDOR) $(CHECK_LIBS)

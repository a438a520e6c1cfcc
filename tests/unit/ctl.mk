# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_ctl
TESTS += tests/unit/test_ctl
tests_unit_test_ctl_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ctl_LDADD = $(LIBS_OPENSM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_census
TESTS += tests/unit/test_census
tests_unit_test_census_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_census_LDADD = $(LIBS_OPENSM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_dump
TESTS += tests/unit/test_dump
tests_unit_test_dump_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_dump_LDADD = libfabricmake.a $(LIBS_OPENSM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_dry_run
TESTS += tests/unit/test_dry_run
tests_unit_test_dry_run_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_dry_run_LDADD = $(LIBS_OPENSM) $(CHECK_LIBS)

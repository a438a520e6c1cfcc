# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_ftree
TESTS += tests/unit/test_ftree
tests_unit_test_ftree_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ftree_LDADD = $(LIBS_ROUTECHECK)

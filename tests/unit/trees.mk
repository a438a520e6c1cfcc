# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_trees
TESTS += tests/unit/test_trees
tests_unit_test_trees_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_trees_LDADD = libroutecheck.a libfabricmake.a $(LIBS_SM) $(CHECK_LIBS)

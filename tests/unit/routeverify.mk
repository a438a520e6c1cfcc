# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The ways of the verifier, against each other and the slow checker.
check_PROGRAMS += tests/unit/test_route_verify
TESTS += tests/unit/test_route_verify
tests_unit_test_route_verify_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_verify_LDADD = $(LIBS_ROUTECHECK)

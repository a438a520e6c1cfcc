# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/unit/test_route_losses
TESTS += tests/unit/test_route_losses
tests_unit_test_route_losses_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_losses_LDADD = $(LIBS_ROUTECHECK)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The slow checker of forwarding tables and random fabrics of all kinds.
check_LIBRARIES += libroutecheck.a
libroutecheck_a_SOURCES = \
	tests/unit/route_checker.c tests/unit/route_checker.h \
	tests/unit/route_churn.c tests/unit/route_churn.h \
	tests/unit/route_shapes.c tests/unit/route_shapes.h
libroutecheck_a_CFLAGS = $(TEST_CFLAGS)
LIBS_ROUTECHECK = libroutecheck.a libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_route_property
TESTS += tests/unit/test_route_property
tests_unit_test_route_property_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_property_LDADD = $(LIBS_ROUTECHECK)

# A seed must mean the same fabric with another compiler.
check_PROGRAMS += tests/unit/test_seeds
TESTS += tests/unit/test_seeds
tests_unit_test_seeds_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_seeds_LDADD = $(LIBS_ROUTECHECK)

check_PROGRAMS += tests/unit/test_route_acyclic
TESTS += tests/unit/test_route_acyclic
tests_unit_test_route_acyclic_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_acyclic_LDADD = $(LIBS_ROUTECHECK)

check_PROGRAMS += tests/unit/test_route_repair
TESTS += tests/unit/test_route_repair
tests_unit_test_route_repair_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_repair_LDADD = $(LIBS_ROUTECHECK)

# An independent checker beside the verifier; "make proof" runs a million cases.
check_PROGRAMS += tests/unit/test_proof
TESTS += tests/unit/test_proof
tests_unit_test_proof_SOURCES = tests/unit/test_proof.c \
	tests/unit/proof.c tests/unit/proof.h tests/unit/proof_routing.c tests/unit/proof_routing.h
tests_unit_test_proof_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_proof_LDADD = $(LIBS_ROUTECHECK)

PROOF = 1-35000
proof: tests/unit/test_proof
	ROUTE_SEEDS=$(PROOF) tests/unit/test_proof
.PHONY: proof

# Long: tens of thousands of random fabrics, and sequences of repairs. A failure names its seed.
SOAK_ROUTE = 1-30000
SOAK_REPAIR = 1-4000
soak-route: tests/unit/test_route_property tests/unit/test_route_repair
	ROUTE_SEEDS=$(SOAK_ROUTE) tests/unit/test_route_property
	ROUTE_SEEDS=$(SOAK_REPAIR) tests/unit/test_route_repair
.PHONY: soak-route

# Packets in buffers: nets that the verifier calls free never stop; "make credits" runs 1,000 seeds.
check_PROGRAMS += tests/unit/test_credits
TESTS += tests/unit/test_credits
tests_unit_test_credits_SOURCES = \
	tests/unit/test_credits.c tests/unit/credits.c tests/unit/credits.h \
	tests/unit/proof.c tests/unit/proof.h tests/unit/proof_routing.c tests/unit/proof_routing.h
tests_unit_test_credits_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_credits_LDADD = $(LIBS_ROUTECHECK)

CREDIT_SEEDS = 1-1000
credits: tests/unit/test_credits
	ROUTE_SEEDS=$(CREDIT_SEEDS) tests/unit/test_credits
.PHONY: credits

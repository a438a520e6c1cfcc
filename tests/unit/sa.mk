# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_LIBRARIES += libsamake.a
libsamake_a_SOURCES = tests/unit/test_sa_make.c tests/unit/test_sa_make.h
libsamake_a_CFLAGS = $(TEST_CFLAGS)
LIBS_SAMAKE = libsamake.a libfabricmake.a $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_path
TESTS += tests/unit/test_sa_path
tests_unit_test_sa_path_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_path_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/bench/policy_cost
tests_bench_policy_cost_CFLAGS = $(TEST_CFLAGS)
tests_bench_policy_cost_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/bench/sa_paths
tests_bench_sa_paths_CFLAGS = $(TEST_CFLAGS)
tests_bench_sa_paths_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_pipeline
TESTS += tests/unit/test_sa_pipeline
tests_unit_test_sa_pipeline_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_pipeline_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_member
TESTS += tests/unit/test_sa_member
tests_unit_test_sa_member_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_member_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_bystanders
TESTS += tests/unit/test_sa_bystanders
tests_unit_test_sa_bystanders_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_bystanders_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_database
TESTS += tests/unit/test_sa_database
tests_unit_test_sa_database_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_database_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_service
TESTS += tests/unit/test_sa_service
tests_unit_test_sa_service_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_service_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_inform
TESTS += tests/unit/test_sa_inform
tests_unit_test_sa_inform_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_inform_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_limit tests/unit/test_sa_park
TESTS += tests/unit/test_sa_limit tests/unit/test_sa_park
tests_unit_test_sa_limit_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_limit_LDADD = $(LIBS_SA) $(CHECK_LIBS)
tests_unit_test_sa_park_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_park_LDADD = $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_mlids
TESTS += tests/unit/test_sa_mlids
tests_unit_test_sa_mlids_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_mlids_LDADD = $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_store tests/unit/test_sa_view
TESTS += tests/unit/test_sa_store tests/unit/test_sa_view
tests_unit_test_sa_store_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_store_LDADD = $(LIBS_SAMAKE)
tests_unit_test_sa_view_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTOPOLOGIES='"$(abs_srcdir)/tests/golden"'
tests_unit_test_sa_view_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_view_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_server
TESTS += tests/unit/test_sa_server
tests_unit_test_sa_server_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_server_LDADD = libsanet.a libsm.a $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_hold
TESTS += tests/unit/test_sa_hold
tests_unit_test_sa_hold_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_hold_LDADD = libsanet.a libsm.a $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_effect
TESTS += tests/unit/test_sa_effect
tests_unit_test_sa_effect_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_effect_LDADD = libsanet.a libsm.a $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_silent
TESTS += tests/unit/test_sa_silent
tests_unit_test_sa_silent_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_silent_LDADD = libsanet.a libsm.a $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_notices
TESTS += tests/unit/test_sa_notices
tests_unit_test_sa_notices_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_notices_LDADD = $(LIBS_SA) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sa_report
TESTS += tests/unit/test_sa_report
tests_unit_test_sa_report_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_report_LDADD = libsanet.a libsm.a $(LIBS_SA) $(CHECK_LIBS)

check_LIBRARIES += libsanet.a
libsanet_a_SOURCES = tests/unit/test_sa_net.c tests/unit/test_sa_net.h
check_PROGRAMS += tests/bench/sa_wire
tests_bench_sa_wire_LDADD = libsanet.a libsm.a $(LIBS_SA)

check_PROGRAMS += tests/bench/sa_tables
tests_bench_sa_tables_CFLAGS = $(TEST_CFLAGS)
tests_bench_sa_tables_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_tables
TESTS += tests/unit/test_sa_tables
tests_unit_test_sa_tables_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_tables_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_inventory
TESTS += tests/unit/test_inventory
tests_unit_test_inventory_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_inventory_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_policy_path
TESTS += tests/unit/test_policy_path
tests_unit_test_policy_path_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_policy_path_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_multi
TESTS += tests/unit/test_sa_multi
tests_unit_test_sa_multi_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_multi_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_turns
TESTS += tests/unit/test_sa_turns
tests_unit_test_sa_turns_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_turns_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_aliases
TESTS += tests/unit/test_sa_aliases
tests_unit_test_sa_aliases_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_aliases_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_hidden
TESTS += tests/unit/test_sa_hidden
tests_unit_test_sa_hidden_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_hidden_LDADD = $(LIBS_SAMAKE)

check_PROGRAMS += tests/unit/test_sa_trust
TESTS += tests/unit/test_sa_trust
tests_unit_test_sa_trust_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_trust_LDADD = $(LIBS_SAMAKE)

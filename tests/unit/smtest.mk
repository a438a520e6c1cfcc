# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_LIBRARIES += libproxy.a
libproxy_a_SOURCES = tests/unit/proxy.c tests/unit/proxy.h
libproxy_a_CFLAGS = $(TEST_CFLAGS)
LIBS_PROXY = libproxy.a $(LIBS_OPENSM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_hostile
TESTS += tests/unit/test_hostile
tests_unit_test_hostile_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTOPOLOGIES='"$(abs_srcdir)/tests/golden"'
tests_unit_test_hostile_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_hostile_LDADD = $(LIBS_PROXY)

check_PROGRAMS += tests/unit/test_mad tests/unit/test_mad_slow tests/unit/test_mad_target
TESTS += tests/unit/test_mad tests/unit/test_mad_slow tests/unit/test_mad_target
tests_unit_test_mad_SOURCES = tests/unit/test_mad.c tests/unit/mad_port.c tests/unit/mad_port.h
tests_unit_test_mad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_mad_LDADD = $(LIBS_MAD) $(CHECK_LIBS)
tests_unit_test_mad_target_SOURCES = tests/unit/test_mad_target.c tests/unit/mad_port.c \
	tests/unit/mad_port.h
tests_unit_test_mad_slow_SOURCES = tests/unit/test_mad_slow.c tests/unit/mad_port.c \
	tests/unit/mad_port.h
tests_unit_test_mad_slow_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_mad_slow_LDADD = $(LIBS_MAD) $(CHECK_LIBS)
tests_unit_test_mad_target_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_mad_target_LDADD = $(LIBS_MAD) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_mad_ask
TESTS += tests/unit/test_mad_ask
tests_unit_test_mad_ask_SOURCES = tests/unit/test_mad_ask.c tests/unit/sim_net.c \
	tests/unit/sim_net.h
tests_unit_test_mad_ask_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_mad_ask_LDADD = $(LIBS_MAD) $(LIBS_SIM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_plan tests/unit/test_guid2lid
TESTS += tests/unit/test_plan tests/unit/test_guid2lid
tests_unit_test_plan_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_plan_LDADD = $(LIBS_SM) $(CHECK_LIBS)
tests_unit_test_guid2lid_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_guid2lid_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_state_writer
TESTS += tests/unit/test_state_writer
tests_unit_test_state_writer_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_state_writer_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_sm_ability
TESTS += tests/unit/test_sm_ability
tests_unit_test_sm_ability_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sm_ability_LDADD = $(LIBS_SM) $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_sm_election
TESTS += tests/unit/test_sm_election
tests_unit_test_sm_election_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sm_election_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_lid
TESTS += tests/unit/test_lid
tests_unit_test_lid_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_lid_LDADD = libfabricmake.a $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_key_ring
TESTS += tests/unit/test_key_ring
tests_unit_test_key_ring_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_key_ring_LDADD = libfabricmake.a $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_path_sls
TESTS += tests/unit/test_path_sls
tests_unit_test_path_sls_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_path_sls_LDADD = libfabricmake.a $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_key_files
TESTS += tests/unit/test_key_files
tests_unit_test_key_files_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_key_files_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_keys
TESTS += tests/unit/test_keys
tests_unit_test_keys_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_keys_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_port_wanted
TESTS += tests/unit/test_port_wanted
tests_unit_test_port_wanted_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_port_wanted_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_policy
TESTS += tests/unit/test_policy
tests_unit_test_policy_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_policy_LDADD = libfabricmake.a $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_window
TESTS += tests/unit/test_window
tests_unit_test_window_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_window_LDADD = $(LIBS_MAD) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_unhealthy_ports
TESTS += tests/unit/test_unhealthy_ports
tests_unit_test_unhealthy_ports_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_unhealthy_ports_LDADD = $(LIBS_SM) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/test_walk
TESTS += tests/unit/test_walk
tests_unit_test_walk_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_walk_LDADD = $(LIBS_SM) $(CHECK_LIBS)

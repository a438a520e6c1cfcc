# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
complib_tests = tests/unit/test_actor tests/unit/test_aside \
	tests/unit/test_bucket tests/unit/test_file \
	tests/unit/test_handoff tests/unit/test_heap tests/unit/test_log \
	tests/unit/test_log_syslog tests/unit/test_range
check_PROGRAMS += $(complib_tests)
TESTS += $(complib_tests)

tests_unit_test_actor_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_actor_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_aside_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_aside_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_bucket_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_bucket_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_file_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_file_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_handoff_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_handoff_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_heap_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_heap_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_log_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_log_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_log_syslog_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_log_syslog_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
tests_unit_test_range_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_range_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)
